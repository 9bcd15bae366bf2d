//! Writing.

use std::io::{self, Write};

use lbm_bundle::Real;

use super::{CHECKED, Checked, Course, Head, Identity, LEAVES, MAGIC, POPULATIONS, Section, VERSION};
use crate::layout::Layout;
use crate::mesh::Block;
use crate::snapshot::Snapshot;
use crate::step::Simulation;

/// Values that are converted at a time.
const VALUES_AT_ONCE: usize = 1 << 16;

/// Hashes what passes.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hash: blake3::Hasher,
}

impl<'a> Hashed<'a> {
    fn new(out: &'a mut dyn Write) -> Hashed<'a> {
        Hashed { out, hash: blake3::Hasher::new() }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.out.write_all(bytes)
    }

    /// Writes the hash of what was written since the start, or since the last time.
    fn seal(&mut self) -> io::Result<()> {
        let hash = std::mem::take(&mut self.hash).finalize();
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

/// Writes the state of a flow; `checked` is the velocity at the last check for steady flow, if that was at another step.
pub fn write(
    out: &mut dyn Write,
    identity: &Identity,
    flow: &Simulation,
    course: Course,
    checked: Option<&Snapshot>,
) -> io::Result<()> {
    let manifest = flow.manifest();
    let leaves = flow.grid().leaves().map_err(io::Error::other)?;
    let velocity = checked.and_then(|snapshot| Some((snapshot, snapshot.vector("u")?)));
    let of_leaf = Layout::populations(manifest).slot_len() * manifest.real.bytes();
    let section = |name: &str, bytes: usize| Section { name: name.to_string(), bytes: bytes as u64 };
    let mut sections = vec![section(LEAVES, 16 * leaves.len()), section(POPULATIONS, of_leaf * leaves.len())];
    if let Some((snapshot, parts)) = &velocity {
        let values = parts.iter().map(|part| part.len()).sum::<usize>();
        sections.push(section(CHECKED, 16 * snapshot.blocks().len() + values * manifest.real.bytes()));
    }
    let head = Head {
        program: env!("CARGO_PKG_VERSION").to_string(),
        identity: identity.clone(),
        course,
        checked: velocity.as_ref().map(|(snapshot, parts)| Checked {
            step: snapshot.step,
            blocks: snapshot.blocks().len(),
            uniform: snapshot.is_uniform(),
            components: ["ux", "uy", "uz"][..parts.len()].iter().map(|name| name.to_string()).collect(),
        }),
        sections,
    };
    let head = serde_json::to_vec(&head)?;
    let mut out = Hashed::new(out);
    out.write(&MAGIC)?;
    out.write(&VERSION.to_le_bytes())?;
    out.write(&(head.len() as u64).to_le_bytes())?;
    out.write(&head)?;
    out.seal()?;
    out.blocks(leaves.iter().map(|leaf| leaf.block))?;
    flow.read_populations(|bytes| out.write(bytes))?;
    if let Some((snapshot, parts)) = velocity {
        out.blocks(snapshot.blocks().iter().copied())?;
        for values in parts.iter().flat_map(|part| part.chunks(VALUES_AT_ONCE)) {
            // They come from an array of this type, so nothing is lost.
            let bytes: Vec<u8> = match manifest.real {
                Real::F32 => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
                Real::F64 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            };
            out.write(&bytes)?;
        }
    }
    out.seal()
}
