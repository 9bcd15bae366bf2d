//! The grid that a flow starts with.

use crate::device::Device;
use crate::kernels::Program;
use crate::mesh::forest::{Forest, ForestError, Outcome};
use crate::solver::remesh;
use crate::solver::setup::surroundings::Surroundings;
use crate::solver::spec::Adaptivity;
use crate::solver::subdomain::set_targets;

/// Refines a forest without data by a criterion of positions until nothing changes, and until the blocks at faces inside of blocks are on
/// one level; returns the outcome of the last pass.
pub(crate) fn set_up(
    device: &Device,
    program: &Program,
    forest: &mut Forest,
    adaptivity: &Adaptivity,
    surroundings: &mut Surroundings,
) -> Result<Outcome, ForestError> {
    loop {
        let outcome = settle(device, program, forest, adaptivity, surroundings)?;
        if outcome.refused() > 0 || !surroundings.raise_padding(&forest.read_leaves()?) {
            return Ok(outcome);
        }
    }
}

fn settle(
    device: &Device,
    program: &Program,
    forest: &mut Forest,
    adaptivity: &Adaptivity,
    surroundings: &Surroundings,
) -> Result<Outcome, ForestError> {
    let no_fields = device.alloc_reals(program.manifest().real, 1)?;
    let mut outcome = Outcome::default();
    for _ in remesh::first_passes(&adaptivity.levels) {
        let all = 0..forest.leaves();
        set_targets(&adaptivity.start, program, forest.targets(), (all, &no_fields), (*adaptivity.levels.end(), 0))?;
        if surroundings.cutters.is_some() {
            forest.overrule(|block, target| surroundings.level(block, target))?;
        }
        outcome = forest.adapt(adaptivity.levels.clone(), &mut ())?;
        if !outcome.changed() || outcome.refused() > 0 {
            break;
        }
    }
    Ok(outcome)
}
