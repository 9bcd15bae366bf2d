//! What is measured in a flow: kernels sum it up where it is, and a few numbers visit the host.

use std::ops::Range;

use lbm_bundle::{Populations, Role, SHARES};

use crate::device::{Buffer, Device, Int, Real};
use crate::geometry::Cell;
use crate::kernels;
use crate::kernels::layout::{CellId, Layout, SlotId};
use crate::solver::arrays::fields;
use crate::solver::arrays::params::Level;
use crate::solver::error::StepError;
use crate::solver::observe::{Conserved, Exchange, Exchanged, Look, Means, NotFinite, Sum};
use crate::solver::parts::Parts;
use crate::solver::parts::collect::{bytes_of, numbers_of};
use crate::solver::simulation::Simulation;
use crate::solver::step::timing::Timings;
use crate::solver::subdomain::Subdomain;

/// How a list of so many entries is cut, where what is found does not depend on how: the number of shares, and the entries of each.
fn shares(entries: usize) -> (usize, usize) {
    let per = entries.div_ceil(SHARES).max(1);
    (entries.div_ceil(per), per)
}

impl Simulation {
    /// Looks at the fields of the current step.
    pub fn look(&mut self) -> Result<Look, StepError> {
        let (not_finite, change) = self.parts.look(&self.stepper.levels)?;
        let dim = self.grid().dim() as u32;
        let has_velocity = self.manifest().fields.iter().any(|field| field.name == "u" && field.components == dim);
        let compares = self.monitor.reference.is_some() && has_velocity && not_finite.is_none();
        Ok(Look { not_finite, change: compares.then_some(change) })
    }

    /// Keeps the fields of the current step, on the device, for looks to come to compare with. Where the grid changes they follow: what is
    /// coarsened has the mean of its parts, what is refined lies on the plane through the coarser cell and those leaves of its level that
    /// are beside it. What refined blocks hold does not follow, and nothing reads it.
    pub fn keep(&mut self) -> Result<(), StepError> {
        self.sample()?;
        self.parts.iter_mut().try_for_each(Subdomain::keep)?;
        self.monitor.reference = Some(self.step());
        Ok(())
    }

    /// The step whose fields are kept.
    pub fn kept(&self) -> Option<u64> {
        self.monitor.reference
    }

    /// Mass, energy, enstrophy and the largest speed of the fluid at the current step; `None` where the fields have no velocity `u`. Sums are as those
    /// of [`Self::sums`]. Slopes are those of [`Velocity`](crate::solver::measure::velocity::Velocity) but where a cell beside a finer level reads off
    /// the plane through a coarser one that has a still coarser one beside it: there that plane has a one-sided slope.
    pub fn means(&mut self) -> Result<Option<Means>, StepError> {
        if self.manifest().kernel(Role::Means).is_none() {
            return Ok(None);
        }
        self.sample()?;
        self.parts.exchange_fields()?;
        self.parts.means().map(Some)
    }

    /// Mass and momentum of each set of populations in the fluid, in the order of the manifest; cells inside solids do not count. Volumes are counted in cells of the coarsest
    /// level. Sums are in double precision and carry their rounding errors along (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39), so
    /// they are as good as those in twice that precision, rounded once. Blocks are summed up by themselves and added in the order of their
    /// list: the same bits on any number of threads, and in any number of parts.
    pub fn sums(&self) -> Result<Vec<Conserved>, StepError> {
        let (manifest, dim) = (self.manifest(), self.grid().dim());
        let mut totals = vec![Sum::default(); manifest.populations.len() * (1 + dim)];
        self.parts.add_sums(&self.stepper.levels, &mut totals)?;
        let of = |(set, totals): (&Populations, &[Sum])| Conserved {
            name: set.name.clone(),
            mass: totals[0].value(),
            momentum: std::array::from_fn(|axis| totals.get(1 + axis).map_or(0.0, |sum| sum.value())),
        };
        Ok(manifest.populations.iter().zip(totals.chunks(1 + dim)).map(of).collect())
    }

    /// Mass and momentum of the first populations, as [`Self::sums`].
    pub fn conserved(&self) -> Result<Conserved, StepError> {
        Ok(self.sums()?.swap_remove(0))
    }

    /// Mass of the first populations, as [`Self::sums`].
    pub fn mass(&self) -> Result<f64, StepError> {
        Ok(self.conserved()?.mass)
    }

    /// The force of the fluid on each solid in the step that comes next, in lattice units of the coarsest level, by the exchange of
    /// momentum along cut links (Ladd, J. Fluid Mech. 271 (1994) 285), relative to the velocity of solids that move (Wen, Zhang, Tu, Wang & Fang,
    /// J. Comput. Phys. 266 (2014) 161). The pressure counts from that of a fluid at rest of density 1.
    pub fn forces(&mut self) -> Result<Vec<[f64; 3]>, StepError> {
        Ok(self.exchanges()?.into_iter().map(|exchange| exchange.force).collect())
    }

    /// What each solid and the fluid exchange in the step that comes next, along cut links: the force, as [`Self::forces`], the torque on those
    /// that turn, and what each set of populations gains.
    pub fn exchanges(&mut self) -> Result<Vec<Exchange>, StepError> {
        let mut total = self.no_exchanges();
        let Simulation { parts, stepper, .. } = self;
        for subdomain in parts.iter_mut() {
            subdomain.set_clock(stepper.step)?;
        }
        parts.add_exchanges(&stepper.levels, &mut total)?;
        Ok(total)
    }

    fn no_exchanges(&self) -> Vec<Exchange> {
        vec![Exchange::none(self.manifest().populations.len()); self.solids()]
    }

    /// From now on sums up what solids and the fluid exchange over all steps, those of finer levels too, so many times beside each other. After some
    /// steps a device then waits until the host has a few numbers of each block with cut links; on a GPU steps are not recorded.
    pub fn sum_exchanges(&mut self, times: usize) {
        self.forget();
        self.parts.exchanged = vec![Exchanged { steps: 0, sums: self.no_exchanges() }; times];
    }

    /// The sums over steps.
    pub fn exchanged(&self) -> &[Exchanged] {
        &self.parts.exchanged
    }

    /// Goes on with sums that [`Self::exchanged`] gave.
    pub fn restore_exchanged(&mut self, exchanged: &[Exchanged]) {
        self.parts.exchanged = exchanged.to_vec();
    }

    /// What solids and the fluid have exchanged in a step, the mean of those since one of the sums was last taken; it begins anew. `None` where
    /// there were no steps, or nothing is summed up.
    pub fn take_exchanges(&mut self, number: usize) -> Option<Vec<Exchange>> {
        let none = self.no_exchanges();
        let Exchanged { steps, sums } = self.parts.exchanged.get_mut(number).filter(|of| of.steps > 0)?;
        let (count, mut mean) = (std::mem::take(steps) as f64, std::mem::replace(sums, none));
        mean.iter_mut().flat_map(Exchange::numbers_mut).for_each(|value| *value /= count);
        Some(mean)
    }

    /// Number of solids.
    pub fn solids(&self) -> usize {
        self.cutters().map_or(0, |cutters| cutters.solids.count())
    }

    /// Time spent so far.
    pub fn timings(&self) -> &Timings {
        &self.monitor.timings
    }

    /// Million cell updates per second, over all of [`run`](Self::run) so far; 0 before.
    pub fn mlups(&self) -> f64 {
        self.timings().updates_per_second() / 1e6
    }

    /// Share of a copy bandwidth (bytes per second) that `mlups` million cell updates per second are, counting every
    /// population read and written once.
    pub fn share_of_copy(&self, mlups: f64, bandwidth: f64) -> f64 {
        let bytes = 2 * self.manifest().values() * self.manifest().real.stored_bytes();
        mlups * 1e6 * bytes as f64 / bandwidth
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.monitor.notices
    }
}

impl Parts {
    /// The first value of the fields that is not finite, and the largest change since the reference.
    fn look(&mut self, levels: &[Level]) -> Result<(Option<NotFinite>, f64), StepError> {
        let mut largest = 0.0_f64;
        // The same in all parts.
        for window in self.first().windows() {
            let mut first = f64::INFINITY;
            for subdomain in self.iter_mut() {
                subdomain.sample_window(levels, &window)?;
                let (place, change) = subdomain.look(&window)?;
                largest = largest.max(change);
                first = place.map_or(first, |place| first.min(place as f64));
            }
            if let Some(processes) = self.processes() {
                for found in processes.allgather(&bytes_of(&[first, largest])) {
                    let [place, change] = numbers_of(&found).collect::<Vec<f64>>()[..] else { continue };
                    (first, largest) = (first.min(place), largest.max(change));
                }
            }
            if first.is_finite() {
                return Ok((Some(self.first().place(first as usize)?), largest.sqrt()));
            }
        }
        Ok((None, largest.sqrt()))
    }

    /// Means of the sampled fields.
    fn means(&self) -> Result<Means, StepError> {
        let (grid, manifest) = (&self.first().grid, self.first().program.manifest());
        let mut totals = [Sum::default(); 3];
        let mut fastest = 0.0_f64;
        for at in 0..grid.levels().len() {
            // A slope is per cell of the level: twice as large per cell of the next coarser one.
            let volume = 0.5f64.powi((at * grid.dim()) as i32);
            let factors = [volume, volume, volume * 4.0f64.powi(at as i32)];
            for of_block in self.of_blocks(at, 7, Subdomain::means)?.chunks(7) {
                for ((total, factor), sum) in totals.iter_mut().zip(factors).zip(of_block.chunks_exact(2)) {
                    total.merge(Sum::new(factor * sum[0], factor * sum[1]));
                }
                fastest = fastest.max(of_block[6]);
            }
        }
        let [mass, energy, enstrophy] = totals.map(Sum::value);
        let cells = grid.size().iter().product::<usize>() as f64;
        let has_density = manifest.fields.iter().any(|field| field.name == "rho" && field.components == 1);
        Ok(Means {
            mass: if has_density { mass } else { f64::NAN },
            energy: energy / cells,
            enstrophy: enstrophy / cells,
            fastest: fastest.sqrt(),
        })
    }

    /// Adds mass and momentum of each set of populations to `totals`.
    fn add_sums(&self, levels: &[Level], totals: &mut [Sum]) -> Result<(), StepError> {
        let (grid, length) = (&self.first().grid, totals.len());
        for (at, level) in levels.iter().enumerate().take(grid.levels().len()) {
            let volume = 0.5f64.powi((at * grid.dim()) as i32);
            let sums = self.of_blocks(at, 2 * length, |part, run| part.sums(run, level.current, length))?;
            for (entry, sum) in sums.chunks(2).enumerate() {
                totals[entry % length].merge(Sum::new(volume * sum[0], volume * sum[1]));
            }
        }
        Ok(())
    }
}

impl Subdomain {
    /// The first value of its fields in a window that is not finite, by its place in the order of all, and the square of the largest
    /// change since the reference.
    fn look(&self, window: &Range<usize>) -> Result<(Option<usize>, f64), StepError> {
        let slot_len = Layout::fields(self.program.manifest()).slot_len();
        let (fields, forest) = (&self.fields.macroscopic, self.grid.forest());
        let runs = if self.is_whole() { self.own_runs() } else { vec![window.clone()] };
        let mut largest = 0.0_f64;
        for run in runs {
            let (count, per) = shares(run.len());
            let mut found = self.program.device().alloc_doubles(2 * count)?;
            self.program.launch(kernels::Look {
                shares: forest.every().part(0..count),
                ids: self.listed().part(run.clone()),
                per: per as i32,
                first: window.start as i32,
                fields,
                before: self.reference.as_ref().unwrap_or(fields),
                compare: i32::from(self.reference.is_some()),
                found: &mut found,
            })?;
            let found = found.read_reals(0..2 * count)?;
            let first = found.chunks(2).fold(f64::INFINITY, |first, of| first.min(of[0])) as usize;
            largest = found.chunks(2).fold(largest, |largest, of| largest.max(of[1]));
            if first < run.len() * slot_len {
                return Ok((Some(run.start * slot_len + first), largest));
            }
        }
        Ok((None, largest))
    }

    /// What means are made of, for each block in a run of the list of leaves.
    fn means(&self, run: Range<usize>) -> Result<Vec<f64>, StepError> {
        let (tables, count) = (self.grid.tables(), run.len());
        let mut means = self.program.device().alloc_doubles(7 * count)?;
        let (rows, links, solids) = self.mask();
        self.program.launch(kernels::Means {
            shares: self.grid.forest().every().part(0..count),
            ids: tables.leaves.part(run),
            per: 1,
            nodes: &tables.node,
            near: &tables.near,
            children: &tables.child,
            parents: &tables.parent,
            slots: &tables.slot,
            fields: &self.fields.macroscopic,
            rows,
            links,
            solids,
            means: &mut means,
        })?;
        Ok(means.read_reals(0..7 * count)?)
    }

    /// So many sums of one set of populations, for each block in a run of the list of leaves.
    fn sums(&self, run: Range<usize>, set: usize, sums: usize) -> Result<Vec<f64>, StepError> {
        let count = run.len();
        let mut found = self.program.device().alloc_doubles(2 * sums * count)?;
        let (rows, links, solids) = self.mask();
        self.program.launch(kernels::Sums {
            shares: self.grid.forest().every().part(0..count),
            ids: self.grid.tables().leaves.part(run),
            per: 1,
            src: &self.fields.populations[set],
            rows,
            links,
            solids,
            sums: &mut found,
        })?;
        Ok(found.read_reals(0..2 * sums * count)?)
    }

    /// What says which cells are solid: rows of blocks, links, and whether there are any.
    fn mask(&self) -> (&Buffer<Int>, &Buffer<Int>, i32) {
        match &self.bodies {
            Some(bodies) => (&bodies.rows, &bodies.links, 1),
            None => (&self.grid.tables().leaves, &self.grid.tables().leaves, 0),
        }
    }

    /// The list of leaves in whose order it is looked at fields.
    fn listed(&self) -> &Buffer<Int> {
        if self.is_whole() { &self.grid.tables().leaves } else { self.grid.forest().every() }
    }

    /// The value at a place in that order.
    fn place(&self, place: usize) -> Result<NotFinite, StepError> {
        let layout = Layout::fields(self.program.manifest());
        let (cell, component) = (place / layout.components(), place % layout.components());
        let (entry, cell) = (cell / layout.cells(), cell % layout.cells());
        let slot = SlotId(self.listed().read_ints(entry..entry + 1)?[0] as u32);
        let origin = self.grid.origin(self.grid.forest().block(slot)?);
        let inside = layout.position(CellId(cell as u32));
        let at = std::array::from_fn(|axis| origin.at[axis] + inside[axis]);
        let component = fields::component_names(self.program.manifest()).swap_remove(component);
        Ok(NotFinite { component, cell: Cell { at, ..origin } })
    }

    /// Makes the sampled fields the reference.
    fn keep(&mut self) -> Result<(), StepError> {
        let room = match self.reference.take() {
            Some(fields) => fields,
            None => room_to_keep(self.program.device(), &self.fields.macroscopic)?,
        };
        self.reference = Some(std::mem::replace(&mut self.fields.macroscopic, room));
        self.sampled = false;
        Ok(())
    }
}

/// Another array of fields.
pub(crate) fn room_to_keep(device: &Device, fields: &Buffer<Real>) -> Result<Buffer<Real>, StepError> {
    if device.memory_available().is_some_and(|available| fields.own_bytes() > available) {
        return Err(device.out_of_memory(fields.own_bytes()).into());
    }
    Ok(device.alloc_like(fields)?)
}
