//! Fields at points while the flow goes on. Only the fields of blocks in the stencils of the points are computed and copied to the host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::SubdomainId;
use crate::mesh::forest::Leaf;
use crate::solver::arrays::fields;
use crate::solver::decomposition::collect::For;
use crate::solver::error::StepError;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::measure::stencil::{Interpolation, Stencil};
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::{ReadBlocks, Subdomain};

/// Points at which fields are read, with their stencils on the last known grid.
pub struct Probe {
    /// In cells of the coarsest level, from the lower corner of the domain.
    points: Vec<[f64; 3]>,
    /// Whether slopes are requested.
    slopes: bool,
    /// Components of the fields whose slopes are read besides those of the velocity.
    scalars: Vec<usize>,
    plan: Option<Plan>,
}

/// The fields at a point, in lattice units of the coarsest level. Inside a solid all values are NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Level of the leaf that contains the point.
    pub level: usize,
    /// The components of the fields in the order of the manifest.
    pub values: Vec<f64>,
    /// Slopes of the velocity `u`, index `[axis][component]`, per cell; 0 if they are not requested, or there is no velocity.
    pub gradient: [[f64; 3]; 3],
    /// Slopes of the requested scalars, index `[scalar][axis]`, per cell.
    pub slopes: Vec<[f64; 3]>,
}

/// The stencils of points on a grid.
struct Plan {
    leaves: Arc<[Leaf]>,
    /// For each subdomain of this process, the blocks that are read.
    lists: Vec<ReadBlocks>,
    /// The owner of each block that is read.
    owners: Vec<SubdomainId>,
    /// The stencil of each point, by position in the values of those blocks' first component; `None` inside a solid.
    points: Vec<Option<Stencil>>,
}

impl Probe {
    /// A probe at points in cells of the coarsest level from the lower corner of the domain; coordinates beyond the dimension are
    /// ignored.
    pub fn new(points: Vec<[f64; 3]>, slopes: bool) -> Probe {
        Probe { points, slopes, scalars: vec![], plan: None }
    }

    /// The same, with slopes of these components of the fields.
    pub fn with_slopes_of(self, scalars: Vec<usize>) -> Probe {
        Probe { slopes: self.slopes || !scalars.is_empty(), scalars, ..self }
    }
}

impl Simulation {
    /// The fields of the current step at the points of a probe, in their order; in all processes.
    pub fn probe(&mut self, probe: &mut Probe) -> Result<Vec<Reading>, StepError> {
        let leaves = self.grid().shared_leaves()?;
        let stays = |plan: &Plan| Arc::ptr_eq(&plan.leaves, &leaves) && !self.subdomains.first().moves();
        let plan = match probe.plan.take().filter(stays) {
            Some(plan) => plan,
            None => self.plan_probe(probe, leaves)?,
        };
        let layout = Layout::fields(self.manifest());
        let mut values = vec![0.0; plan.owners.len() * layout.slot_len()];
        for (subdomain, list) in self.subdomains.iter_mut().zip(&plan.lists) {
            subdomain.read_fields(&self.stepper.levels, list, &mut values)?;
        }
        let place = |at: usize| at * layout.slot_len()..(at + 1) * layout.slot_len();
        let places: Vec<_> = plan.owners.iter().enumerate().map(|(at, owner)| (*owner, place(at))).collect();
        self.subdomains.gather(&mut values, &places, For::All);
        let velocity = fields::component_names(self.manifest()).iter().position(|name| name == "ux");
        let dim = self.grid().dim();
        let of = |weights: &[(usize, f64)], component: usize| -> f64 {
            weights.iter().map(|(at, weight)| weight * values[at + component * layout.cells()]).sum()
        };
        let read = |stencil: &Option<Stencil>| match stencil {
            None => Reading {
                level: 0,
                values: vec![f64::NAN; layout.components()],
                gradient: [[f64::NAN; 3]; 3],
                slopes: vec![[f64::NAN; 3]; probe.scalars.len()],
            },
            Some(Stencil { level, value, slopes }) => {
                let slope = |axis: usize, component: usize| match velocity {
                    Some(first) if component < dim => of(&slopes[axis], first + component),
                    _ => 0.0,
                };
                Reading {
                    level: *level,
                    values: (0..layout.components()).map(|component| of(value, component)).collect(),
                    gradient: std::array::from_fn(|axis| std::array::from_fn(|component| slope(axis, component))),
                    slopes: (probe.scalars.iter())
                        .map(|scalar| std::array::from_fn(|axis| of(&slopes[axis], *scalar)))
                        .collect(),
                }
            }
        };
        let readings = plan.points.iter().map(read).collect();
        probe.plan = Some(plan);
        Ok(readings)
    }

    fn plan_probe(&self, probe: &Probe, leaves: Arc<[Leaf]>) -> Result<Plan, StepError> {
        let (layout, block) = (Layout::fields(self.manifest()), self.manifest().block.map(|side| side as usize));
        let blocks = leaves.iter().map(|leaf| leaf.block).collect();
        let blocks = Snapshot::new(self.step(), self.grid().domain(), block, blocks, vec![]);
        let interpolation = Interpolation { blocks: &blocks, solids: self.cutters().map(|cutters| &cutters.solids) };
        let mut points: Vec<Option<Stencil>> =
            probe.points.par_iter().map(|point| interpolation.stencil(*point, probe.slopes)).collect();

        let leaf = |position: usize| &leaves[position / layout.cells()];
        let weights = points.iter().flatten().flat_map(|stencil| stencil.slopes.iter().chain([&stencil.value]));
        let read: BTreeSet<(usize, SlotId)> =
            weights.flatten().map(|(position, _)| (leaf(*position).block.level, leaf(*position).slot)).collect();
        let places: BTreeMap<SlotId, usize> = read.iter().enumerate().map(|(at, (_, slot))| (*slot, at)).collect();
        // Positions among all leaves become positions among those that are read. The order does not change, nor do the last bits of sums.
        for stencil in points.iter_mut().flatten() {
            for (position, _) in stencil.slopes.iter_mut().chain([&mut stencil.value]).flatten() {
                *position = places[&leaf(*position).slot] * layout.slot_len() + *position % layout.cells();
            }
        }
        let read: Vec<(usize, SlotId)> = read.into_iter().collect();
        let levels = self.stepper.levels.len();
        let list = |(id, subdomain): (SubdomainId, &Subdomain)| {
            let numbered = read.iter().copied().zip(0..);
            let own: Vec<_> = numbered.filter(|((_, slot), _)| self.subdomains.owner(*slot) == id).collect();
            ReadBlocks::new(subdomain, &own, levels)
        };
        let lists = self.subdomains.with_ids().map(list).collect::<Result<_, StepError>>()?;
        let owners = read.iter().map(|(_, slot)| self.subdomains.owner(*slot)).collect();
        Ok(Plan { leaves, lists, owners, points })
    }
}
