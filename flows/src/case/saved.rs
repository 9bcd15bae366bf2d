//! Fields in restart files, from which other flows start.
//!
//! The section `fields` has the fields of the method at the step of the file, `[component][cell]`, little-endian: cells block by block in the
//! order of the section `leaves`, x fastest in a block, or, of a grid of one level, x fastest in the domain.

use std::io::{self, Write};

use lbm_bundle::{Manifest, Real};
use lbm_runtime::solver::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::units::{Dimension, Units};

/// What a restart file begins with.
pub(crate) const MAGIC: [u8; 8] = *b"lbmc\r\n\x1a\n";
/// The version of its format.
pub(crate) const VERSION: u32 = 3;
/// Bytes of magic, version and length of the head.
pub(crate) const FRONT: usize = 20;
/// Bytes of a hash.
pub(crate) const HASH: usize = 32;
/// The section that lists blocks.
pub(crate) const LEAVES: &str = "leaves";
/// The section of fields.
pub(crate) const FIELDS: &str = "fields";

/// A section behind the head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// What the section of fields has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedFields {
    /// Cells of level 0 along each axis that there is.
    pub(crate) size: Vec<usize>,
    /// Cells of a block along each axis, 1 beyond the dimension; none for a grid of one level.
    pub(crate) block: Option<[usize; 3]>,
    /// Type of the numbers.
    pub(crate) real: Real,
    /// What a lattice unit is, in SI units.
    pub(crate) si: Option<SavedUnits>,
    /// The fields.
    pub(crate) fields: Vec<SavedField>,
}

/// What a lattice unit is, in SI units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedUnits {
    pub(crate) velocity: f64,
    pub(crate) density: Option<f64>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedField {
    /// Its name in the method.
    pub(crate) name: String,
    pub(crate) components: usize,
}

impl SavedFields {
    /// Of a flow.
    pub(crate) fn of(snapshot: &Snapshot, manifest: &Manifest, units: &Units) -> SavedFields {
        let own = manifest.fields.iter().filter(|field| field.is_own());
        let (velocity, density) = (units.scale(Dimension::VELOCITY), units.density);
        SavedFields {
            size: snapshot.size()[..snapshot.dim()].to_vec(),
            block: (!snapshot.is_uniform()).then(|| snapshot.block()),
            real: manifest.real,
            si: units.si.then_some(SavedUnits { velocity, density }),
            fields: own
                .map(|field| SavedField { name: field.name.clone(), components: field.components as usize })
                .collect(),
        }
    }

    /// Components of all fields.
    pub(crate) fn components(&self) -> Option<usize> {
        self.fields.iter().try_fold(0usize, |sum, field| sum.checked_add(field.components))
    }
}

/// The bytes of the components of a snapshot that fields are saved of, a component each.
pub(crate) fn write(
    snapshot: &Snapshot,
    manifest: &Manifest,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let own = manifest.fields.iter().flat_map(|field| vec![field.is_own(); field.components as usize]);
    let mut bytes = vec![];
    for (component, _) in snapshot.components.iter().zip(own).filter(|(_, own)| *own) {
        for values in component.data.chunks(1 << 16) {
            bytes.clear();
            match manifest.real.bytes() {
                4 => values.iter().try_for_each(|value| bytes.write_all(&(*value as f32).to_le_bytes()))?,
                _ => values.iter().try_for_each(|value| bytes.write_all(&value.to_le_bytes()))?,
            }
            each(&bytes)?;
        }
    }
    Ok(())
}
