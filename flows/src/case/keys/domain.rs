//! `[domain]`.

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::Spanned;
use crate::case::takes::{COUNT, POINT};
use crate::case::tree::Table;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key("domain.size", POINT, "extent along each axis: cells, or lengths in SI"),
    key("domain.resolution", COUNT, "number of cells along x (SI)"),
];

/// `[domain]`, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawDomain {
    pub(in crate::case) size: Spanned<Vec<Spanned<f64>>>,
    pub(in crate::case) resolution: Option<Spanned<f64>>,
}

impl Reader {
    pub(in crate::case) fn domain(&mut self, table: &Table) -> Option<RawDomain> {
        let size = self.lengths(table, "size");
        if table.get("size").is_none() {
            let example = if self.si { "[\"10 mm\", \"10 mm\"]" } else { "[128, 128]" };
            let help = format!("`size = {example}`");
            self.missing::<()>(&table.span, "domain.size", "the extent along each axis", help);
        }
        let resolution = self.count(table, "resolution");
        if let Some(resolution) = resolution.as_ref().filter(|_| !self.si) {
            let help = Some("in lattice units `size` is the number of cells already".to_string());
            self.no_effect(&resolution.span, "resolution", "", help);
        } else if self.si && table.get("resolution").is_none() {
            let help = String::from("the number of cells along x: `resolution = 128`");
            self.missing::<()>(&table.span, "domain.resolution", "how fine the grid is", help);
        }
        Some(RawDomain { size: size?, resolution })
    }
}
