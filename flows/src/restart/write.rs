//! Writing of restart files.

use std::io::{self, Write};

use lbm_runtime::geometry::Block;
use lbm_runtime::solver::restore::{Content, State};
use lbm_runtime::solver::snapshot::Snapshot;

use super::course::Course;
use super::head::{CHECKED, Head, LONGEST_HEAD, POPULATIONS};
use super::identity::Identity;
use crate::case::Units;
use crate::case::saved::{self, FIELDS, LEAVES, MAGIC, SavedFields, Section, VERSION};

/// A writer that hashes and counts bytes.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hash: blake3::Hasher,
    /// Bytes since the start or the last hash.
    bytes: u64,
}

impl<'a> Hashed<'a> {
    fn new(out: &'a mut dyn Write) -> Hashed<'a> {
        Hashed { out, hash: blake3::Hasher::new(), bytes: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes the hash of everything since the start or the last hash.
    fn seal(&mut self) -> io::Result<()> {
        let hash = std::mem::take(&mut self.hash).finalize();
        self.bytes = 0;
        self.out.write_all(hash.as_bytes())
    }

    fn blocks(&mut self, blocks: impl Iterator<Item = Block>) -> io::Result<()> {
        for Block { level, place: [x, y, z] } in blocks {
            let numbers = [level, x, y, z].map(|number| (number as u32).to_le_bytes());
            self.write(numbers.as_flattened())?;
        }
        Ok(())
    }
}

/// Writes the state of a flow, and its fields at the same step, if given, in the units of its case.
pub fn write(
    out: &mut dyn Write,
    identity: &Identity,
    state: &State<'_>,
    fields: Option<&Snapshot>,
    units: &Units,
    course: Course,
) -> io::Result<()> {
    let (manifest, leaves, checked) = (state.manifest(), state.leaves(), state.reference_step);
    let section = |name: &str, bytes: usize| Section { name: name.to_string(), bytes: bytes as u64 };
    let populations = Content::Populations.bytes(manifest, state.stored_blocks());
    let mut sections = vec![section(LEAVES, 16 * leaves.len()), section(POPULATIONS, populations)];
    if checked.is_some() {
        sections.push(section(CHECKED, Content::Fields.bytes(manifest, leaves.len())));
    }
    let accumulators: Vec<usize> =
        state.statistics().filter(|(samples, _)| *samples > 0).map(|(_, accumulators)| accumulators).collect();
    for (of, accumulators) in course.statistics.iter().zip(&accumulators) {
        sections.push(section(&of.section(), Content::Statistic(*accumulators).bytes(manifest, leaves.len())));
    }
    let saved = fields.map(|fields| SavedFields::of(fields, manifest, units));
    if let (Some(fields), Some(saved)) = (fields, &saved) {
        let numbers = fields.blocks().len() * fields.block_cells() * saved.components().unwrap_or_default();
        sections.push(section(FIELDS, numbers * saved.real.bytes()));
    }
    let promised: u64 = sections.iter().map(|section| section.bytes).sum();
    let head = Head {
        program: env!("CARGO_PKG_VERSION").to_string(),
        identity: identity.clone(),
        course,
        checked,
        fields: saved,
        sections,
    };
    let head = serde_json::to_vec(&head)?;
    if head.len() as u64 > LONGEST_HEAD {
        let words =
            "there are too many rows of series and forces to go on from: raise `output.series` or `output.forces`";
        return Err(io::Error::other(words));
    }
    let mut out = Hashed::new(out);
    out.write(&MAGIC)?;
    out.write(&VERSION.to_le_bytes())?;
    out.write(&(head.len() as u64).to_le_bytes())?;
    out.write(&head)?;
    out.seal()?;
    out.blocks(leaves.iter().map(|leaf| leaf.block))?;
    state.read_populations(|bytes| out.write(bytes))?;
    if checked.is_some() {
        state.read_reference(|bytes| out.write(bytes))?;
    }
    let sampled = state.statistics().enumerate().filter(|(_, (samples, _))| *samples > 0);
    for (number, _) in sampled {
        state.read_statistic(number, |bytes| out.write(bytes))?;
    }
    if let Some(fields) = fields {
        saved::write(fields, manifest, |bytes| out.write(bytes))?;
    }
    // An unreadable file must not replace a valid one.
    if out.bytes != promised {
        let words = format!("its sections have {} bytes and its head says {promised}: a fault of lbmc", out.bytes);
        return Err(io::Error::other(words));
    }
    out.seal()
}
