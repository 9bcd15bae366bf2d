//! The data of cells: initialized from fields, changed, and read.

pub(crate) mod places;
pub mod resident;
pub mod restore;
pub(crate) mod stress;

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use crate::geometry::{Block, Cell};
use crate::kernels::layout::Layout;
use crate::mesh::forest::{Leaf, Outcome};
use crate::solver::arrays::digits::Digits;
use crate::solver::arrays::{cells, fields};
use crate::solver::decomposition::collect::For;
use crate::solver::error::StepError;
use crate::solver::measure::gather;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::plan::task::PopulationSet;
use crate::solver::remesh;
use crate::solver::simulation::Simulation;

impl Simulation {
    /// Sets the fields of every cell and starts at step 0. `value(cell, out)` writes the components of all fields, in the order of the
    /// manifest (`rho, ux, uy, uz`), for the cell with its centre at `cell + 1/2` of its level.
    pub fn init(&mut self, value: impl Fn([usize; 3], &mut [f64]) + Sync) -> Result<(), StepError> {
        self.init_cells(|cell, out| value(cell.at, out))
    }

    /// The same for a grid of several levels.
    pub fn init_cells(&mut self, value: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        self.init_at(0, &value)
    }

    /// The same, starting at a step.
    fn init_at(&mut self, step: u64, value: &(impl Fn(Cell, &mut [f64]) + Sync)) -> Result<(), StepError> {
        let levels = self.stepper.levels.len();
        self.subdomains.iter_mut().try_for_each(|subdomain| subdomain.place_solids(levels, step as f64))?;
        self.fill_cells(value)?;
        let mut outcome = Outcome::default();
        for _ in remesh::first_passes(&self.adapter.range) {
            outcome = self.adapt()?;
            if !outcome.changed() {
                break;
            }
            self.fill_cells(value)?;
        }
        if outcome.changed() {
            self.monitor.notices.push(remesh::unsettled(&self.adapter.range, outcome));
        }
        self.stepper.step = step;
        Ok(())
    }

    fn fill_cells(&mut self, value: &(impl Fn(Cell, &mut [f64]) + Sync)) -> Result<(), StepError> {
        // Solid cells are at rest and do not change; their position-dependent parameters are set as in all cells. Cells beyond the domain are
        // solid too, and nothing is known of their positions.
        let places = self.manifest().fields.iter().flat_map(|field| vec![field.place; field.components as usize]);
        let names = fields::component_names(self.manifest());
        let rest: Vec<Option<f64>> =
            names.iter().zip(places).map(|(name, place)| (!place).then(|| f64::from(name == "rho"))).collect();
        let side = self.manifest().block.map(|side| side as usize);
        let (leaves, domain) = (self.grid().leaves()?, self.grid().domain());
        let solid: HashMap<Block, Vec<bool>> = self.cutters().map_or(HashMap::new(), |cutters| {
            let mask = |leaf: &Leaf| Some((leaf.block, cutters.solids.mask(leaf.block)?));
            leaves.par_iter().filter_map(mask).collect()
        });
        let is_solid = |Cell { level, at }: Cell| {
            let (place, [x, y, z]) =
                ([0, 1, 2].map(|axis| at[axis] / side[axis]), [0, 1, 2].map(|axis| at[axis] % side[axis]));
            solid.get(&Block { level, place }).is_some_and(|mask| mask[x + side[0] * (y + side[1] * z)])
        };
        let Simulation { subdomains, stepper, .. } = self;
        let value = |cell: Cell, out: &mut [f64]| {
            value(domain.nearest(cell), out);
            if !domain.contains(cell) || is_solid(cell) {
                out.iter_mut().zip(&rest).for_each(|(out, rest)| *out = rest.unwrap_or(*out));
            }
        };
        stepper.levels.iter_mut().for_each(|level| level.current = PopulationSet::First);
        subdomains.iter_mut().try_for_each(|subdomain| subdomain.fill(&stepper.levels, &value))?;
        subdomains.fill_covered(&stepper.current(), true)
    }

    /// Changes the current populations cell by cell: `change(cell, populations)`, full values, not differences from rest; or the moments
    /// stored in their place.
    pub fn update_cells(&mut self, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        let Simulation { subdomains, stepper, .. } = self;
        subdomains.iter_mut().try_for_each(|subdomain| subdomain.update(&stepper.levels, &change))
    }

    /// Visits the current populations of every cell: `each(cell, populations)`, full values, not differences from rest; or the moments
    /// stored in their place. Of several processes only the first visits them.
    pub fn visit_populations(&self, mut each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        let layout = Layout::populations(self.manifest());
        let (rest, digits) = (fields::rest(self.manifest()), Digits::of(self.manifest()));
        let mut whole = vec![0.0; rest.len()];
        for set in PopulationSet::BOTH {
            let current: Vec<bool> = self.stepper.levels.iter().map(|level| level.current == set).collect();
            if current.contains(&true) {
                let read = |range| {
                    self.subdomains
                        .read(layout, range, For::First, |subdomain| Some(&subdomain.fields().populations[set.index()]))
                };
                cells::visit(read, layout, self.grid(), |cell, stored| {
                    if current[cell.level] {
                        digits.read(stored, &mut whole);
                        whole.iter_mut().zip(&rest).for_each(|(whole, rest)| *whole += rest);
                        each(cell, &whole);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Visits the macroscopic fields of every cell at the current step: `each(cell, values)`, in the order of the manifest. Of several
    /// processes only the first visits them.
    pub fn visit_cells(&mut self, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        self.sample()?;
        let layout = Layout::fields(self.manifest());
        let read =
            |range| self.subdomains.read(layout, range, For::First, |subdomain| Some(&subdomain.fields().macroscopic));
        cells::visit(read, layout, self.grid(), each)
    }

    /// Sets the fields from a snapshot of the same domain, whose levels may differ, and starts at its step.
    pub fn init_fields(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let names = fields::component_names(self.manifest());
        if snapshot.size() != self.grid().size() {
            return Err(StepError::SnapshotSize { found: snapshot.size(), expected: self.grid().size() });
        }
        let data = names
            .iter()
            .map(|name| {
                let found = snapshot.get(name);
                found.ok_or_else(|| StepError::SnapshotComponent { name: name.clone(), known: names.join(", ") })
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.init_at(snapshot.step, &|cell: Cell, out: &mut [f64]| {
            for (out, data) in out.iter_mut().zip(&data) {
                [*out] = snapshot.read(cell, &|at| [data[at]]);
            }
        })
    }

    /// Computes the macroscopic fields of the current step.
    pub(crate) fn sample(&mut self) -> Result<(), StepError> {
        let Simulation { subdomains, stepper, .. } = self;
        subdomains.iter_mut().try_for_each(|subdomain| subdomain.sample(&stepper.levels))
    }

    /// Macroscopic fields of the current step. In several processes the first has them, and others have zeros.
    pub fn snapshot(&mut self) -> Result<Snapshot, StepError> {
        self.snapshot_for(For::First)
    }

    /// The same, gathered on the processes `to`.
    pub(crate) fn snapshot_for(&mut self, to: For) -> Result<Snapshot, StepError> {
        let (step, domain, leaves) = (self.step(), self.grid().domain(), self.grid().shared_leaves()?);
        let (cutters, layers) = (self.cutters().cloned(), self.layers()?);
        let Simulation { subdomains, stepper, .. } = self;
        let manifest = subdomains.first().program().manifest().clone();
        let layout = Layout::fields(&manifest);
        let slot_len = layout.slot_len();
        let (mut windows, mut first, mut end) = (subdomains.first().windows().into_iter(), 0, 0);
        let read = |range: Range<usize>| -> Result<Vec<f64>, StepError> {
            let (mut values, mut at) = (vec![], range.start);
            while at < range.end {
                if at >= end * slot_len
                    && let Some(next) = windows.find(|next| at < next.end * slot_len)
                {
                    subdomains.iter_mut().try_for_each(|subdomain| subdomain.sample_window(&stepper.levels, &next))?;
                    (first, end) = (next.start, next.end);
                }
                let window = at - first * slot_len..range.end.min(end * slot_len) - first * slot_len;
                at += window.len();
                let read = subdomains.read(layout, window, to, |subdomain| Some(&subdomain.fields().macroscopic))?;
                // Usually one window covers the whole range.
                if values.is_empty() { values = read } else { values.extend(read) }
            }
            Ok(values)
        };
        let mut snapshot = gather::gather(read, gather::of_fields(&manifest), domain, &leaves, step)?;
        gather::mask_solid(&mut snapshot, &manifest, &leaves, cutters.as_deref());
        snapshot.layers = layers;
        Ok(snapshot)
    }
}
