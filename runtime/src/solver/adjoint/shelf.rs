//! States of a flow in a file: room for those that memory has no room for.
//!
//! Each state has a place of its own, with the populations of all blocks as they lie in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use crate::file;
use crate::kernels::layout::Layout;
use crate::solver::arrays::cells;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// A file with room for some states.
pub struct Shelf {
    file: File,
    states: u64,
}

impl Shelf {
    /// Room for so many states in a file, which grows as they are written.
    pub fn new(file: File, states: u64) -> Shelf {
        Shelf { file, states }
    }

    /// A file in a folder that is gone after its use.
    pub fn file(folder: &Path) -> Result<File, StepError> {
        file::scratch(folder).map_err(failed("kept"))
    }

    /// Bytes that a state takes.
    pub fn bytes(flow: &Simulation) -> Result<u64, StepError> {
        let sets = sets(flow);
        let bytes = |subdomain: &Subdomain| {
            let value = subdomain.fields().populations[0].value_bytes() as u64;
            Ok(spans(subdomain, &sets)?.iter().map(|(_, range)| range.len() as u64 * value).sum::<u64>())
        };
        flow.subdomains.here.iter().map(bytes).sum()
    }

    /// How many states there is room for.
    pub(super) fn states(&self) -> u64 {
        self.states
    }

    /// Writes the state of a flow to a place.
    pub(super) fn put(&mut self, flow: &Simulation, place: u64) -> Result<(), StepError> {
        let sets = sets(flow);
        self.seek(flow, place)?;
        for subdomain in &flow.subdomains.here {
            for (set, range) in spans(subdomain, &sets)? {
                let array = &subdomain.fields().populations[set.index()];
                let mut bytes = vec![0; range.len() * array.value_bytes()];
                array.read_raw(range.start, &mut bytes)?;
                self.file.write_all(&bytes).map_err(failed("written"))?;
            }
        }
        Ok(())
    }

    /// Gives the state at a place to its flow.
    pub(super) fn get(&mut self, flow: &mut Simulation, place: u64) -> Result<(), StepError> {
        let sets = sets(flow);
        self.seek(flow, place)?;
        for subdomain in flow.subdomains.iter_mut() {
            subdomain.forget_fields();
            for (set, range) in spans(subdomain, &sets)? {
                let array = subdomain.populations_mut(set);
                let mut bytes = vec![0; range.len() * array.value_bytes()];
                self.file.read_exact(&mut bytes).map_err(failed("read"))?;
                array.write_raw(range.start, &bytes)?;
            }
        }
        Ok(())
    }

    fn seek(&mut self, flow: &Simulation, place: u64) -> Result<(), StepError> {
        let at = place * Shelf::bytes(flow)?;
        self.file.seek(SeekFrom::Start(at)).map_err(failed("found")).map(|_| ())
    }
}

/// The current set of populations of each level.
fn sets(flow: &Simulation) -> Vec<PopulationSet> {
    flow.stepper.current()[..flow.grid().levels().len()].to_vec()
}

/// Where the populations of the blocks of a subdomain are, a few megabytes at a time.
fn spans(subdomain: &Subdomain, sets: &[PopulationSet]) -> Result<Vec<(PopulationSet, Range<usize>)>, StepError> {
    let (layout, leaves) = (Layout::populations(subdomain.program().manifest()), subdomain.own_leaves()?);
    let of_level = leaves.chunk_by(|one, next| one.block.level == next.block.level);
    let spans = of_level.flat_map(|leaves| {
        let set = sets[leaves[0].block.level];
        cells::runs(leaves).map(move |run| (set, cells::range(run, layout)))
    });
    Ok(spans.collect())
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> StepError {
    move |error| StepError::Shelf { what, error: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::fixture;
    use crate::solver::spec::GridSpec;

    #[test]
    fn a_full_disk_is_an_error_that_says_so() {
        let (device, grid) = (Device::host(1).expect("the host"), GridSpec::periodic([8, 8, 1]));
        let mut flow =
            Simulation::new(&device, &fixture::bundle(), &grid, &[("omega".into(), vec![1.0])]).expect("a flow");
        flow.init(|_, out| out[0] = 1.0).expect("cells");
        let full = File::options().read(true).write(true).open("/dev/full").expect("a device that is full");
        let error = Shelf::new(full, 1).put(&flow, 0).expect_err("it is full");
        assert!(error.to_string().contains("No space left"), "{error}");
    }
}
