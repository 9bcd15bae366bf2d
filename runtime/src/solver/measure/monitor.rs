//! Measured quantities: kernels reduce them on the device, and only a few numbers are copied to the host.

use lbm_bundle::{Populations, Role};

use crate::solver::arrays::params::LevelState;
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::collect::{bytes_of, numbers_of};
use crate::solver::error::StepError;
use crate::solver::observe::{Accumulation, Conserved, Exchange, Exchanged, FieldCheck, Means, NotFinite, Sum};
use crate::solver::simulation::Simulation;
use crate::solver::step::timing::Timings;
use crate::solver::subdomain::Subdomain;

impl Simulation {
    /// Checks the fields of the current step for values that are not finite, and for their change since the reference.
    pub fn check_fields(&mut self) -> Result<FieldCheck, StepError> {
        let (not_finite, change) = self.subdomains.check_fields(&self.stepper.levels)?;
        let dim = self.grid().dim() as u32;
        let has_velocity = self.manifest().fields.iter().any(|field| field.name == "u" && field.components == dim);
        let compares = self.monitor.reference.is_some() && has_velocity && not_finite.is_none();
        Ok(FieldCheck { not_finite, change: compares.then_some(change) })
    }

    /// Stores the fields of the current step on the device, as the reference of later [`check_fields`](Self::check_fields)s. When the grid changes they
    /// are transferred: a coarsened cell gets the mean of its children, and refined cells lie on the plane through the coarse cell and
    /// the adjacent leaves of its level. Fields of covered blocks are not transferred, and nothing reads them.
    pub fn set_reference(&mut self) -> Result<(), StepError> {
        self.sample()?;
        self.subdomains.iter_mut().try_for_each(Subdomain::set_reference)?;
        self.monitor.reference = Some(self.step());
        Ok(())
    }

    /// The step of the reference fields.
    pub fn reference_step(&self) -> Option<u64> {
        self.monitor.reference
    }

    /// Mass, energy, enstrophy and the largest speed of the fluid at the current step; `None` if the fields have no velocity `u`. Sums
    /// are computed as in [`Self::sums`]. Slopes are those of [`Velocity`](crate::solver::measure::velocity::Velocity) with one
    /// exception: where the value beside a cell lies on the plane through a coarser cell that borders a still coarser one, the slope of
    /// that plane is one-sided.
    pub fn means(&mut self) -> Result<Option<Means>, StepError> {
        if self.manifest().kernel(Role::Means).is_none() {
            return Ok(None);
        }
        self.sample()?;
        self.subdomains.exchange_fields()?;
        self.subdomains.means().map(Some)
    }

    /// Mass and momentum of each set of populations in the fluid, in the order of the manifest; solid cells do not count. Volumes are in
    /// cells of the coarsest level. Sums are in double precision with compensated rounding errors (Neumaier, Z. Angew. Math. Mech. 54
    /// (1974) 39), so they are as accurate as sums in twice that precision, rounded once. Each block is summed on its own, and the blocks
    /// are added in the order of their list: the bits depend neither on the number of threads nor on the number of subdomains.
    pub fn sums(&self) -> Result<Vec<Conserved>, StepError> {
        let (manifest, dim) = (self.manifest(), self.grid().dim());
        let mut totals = vec![Sum::default(); manifest.populations.len() * (1 + dim)];
        self.subdomains.add_sums(&self.stepper.levels, &mut totals)?;
        let of = |(set, totals): (&Populations, &[Sum])| Conserved {
            name: set.name.clone(),
            mass: totals[0].value(),
            momentum: std::array::from_fn(|axis| totals.get(1 + axis).map_or(0.0, |sum| sum.value())),
        };
        Ok(manifest.populations.iter().zip(totals.chunks(1 + dim)).map(of).collect())
    }

    /// Mass and momentum of the first set of populations, as [`Self::sums`].
    pub fn conserved(&self) -> Result<Conserved, StepError> {
        Ok(self.sums()?.swap_remove(0))
    }

    /// Mass of the first set of populations, as [`Self::sums`].
    pub fn mass(&self) -> Result<f64, StepError> {
        Ok(self.conserved()?.mass)
    }

    /// The force of the fluid on each solid in the next step, in lattice units of the coarsest level, by momentum exchange along cut
    /// links (Ladd, J. Fluid Mech. 271 (1994) 285), relative to the velocity of moving solids (Wen, Zhang, Tu, Wang & Fang, J. Comput.
    /// Phys. 266 (2014) 161). The pressure is relative to that of a fluid at rest of density 1.
    pub fn forces(&mut self) -> Result<Vec<[f64; 3]>, StepError> {
        Ok(self.exchanges()?.into_iter().map(|exchange| exchange.force).collect())
    }

    /// The exchange between each solid and the fluid along cut links in the next step: the force, as [`Self::forces`], the torque on
    /// rotating solids, and the gain of each set of populations.
    pub fn exchanges(&mut self) -> Result<Vec<Exchange>, StepError> {
        let mut total = self.no_exchanges();
        let Simulation { subdomains, stepper, .. } = self;
        for subdomain in subdomains.iter_mut() {
            subdomain.set_clock(stepper.step)?;
        }
        subdomains.add_exchanges(&stepper.levels, &mut total)?;
        Ok(total)
    }

    fn no_exchanges(&self) -> Vec<Exchange> {
        vec![Exchange::none(self.manifest().populations.len()); self.solids()]
    }

    /// From now on accumulates the exchanges between solids and the fluid over all steps, those of finer levels too, in independent sums.
    /// Of each, a row of means is kept for [`take_rows`](Self::take_rows) at every step that its number of `rows` divides, if it has one: the flow need not
    /// stop there. After some steps a device waits until the host has read a few numbers per block with cut links.
    pub fn sum_exchanges(&mut self, rows: &[Option<u64>]) {
        self.forget();
        let none = Exchanged { steps: 0, sums: self.no_exchanges() };
        let of = |every: &Option<u64>| Accumulation { every: *every, since: none.clone(), rows: vec![] };
        self.subdomains.exchanged = rows.iter().map(of).collect();
    }

    /// The accumulated sums, each since its last row, or since it was taken.
    pub fn exchanged(&self) -> Vec<&Exchanged> {
        self.subdomains.exchanged.iter().map(|of| &of.since).collect()
    }

    /// Continues the sums that [`Self::exchanged`] gave.
    pub fn restore_exchanged(&mut self, exchanged: Vec<Exchanged>) {
        self.subdomains.exchanged.iter_mut().zip(exchanged).for_each(|(of, since)| of.since = since);
    }

    /// The rows of one of the sums that the steps since the last call have completed: the step at the end of each, and the mean exchange per step
    /// since the row before.
    pub fn take_rows(&mut self, number: usize) -> Vec<(u64, Vec<Exchange>)> {
        self.subdomains.exchanged.get_mut(number).map_or(vec![], |of| std::mem::take(&mut of.rows))
    }

    /// The mean exchange per step between solids and the fluid since the last row of one of the sums or since it was last taken, and resets that sum. `None` if there
    /// were no steps, or nothing is accumulated.
    pub fn take_exchanges(&mut self, number: usize) -> Option<Vec<Exchange>> {
        let since = &mut self.subdomains.exchanged.get_mut(number)?.since;
        (since.steps > 0).then(|| since.take_mean())
    }

    /// Number of solids.
    pub fn solids(&self) -> usize {
        self.cutters().map_or(0, |cutters| cutters.solids.count())
    }

    /// Timings so far.
    pub fn timings(&self) -> &Timings {
        &self.monitor.timings
    }

    /// Million cell updates per second (MLUPS), over all of [`run`](Self::run) so far; 0 before.
    pub fn mlups(&self) -> f64 {
        self.timings().updates_per_second() / 1e6
    }

    /// The fraction of a copy bandwidth (bytes per second) that `mlups` million cell updates per second use, if every population is read
    /// and written once.
    pub fn fraction_of_bandwidth(&self, mlups: f64, bandwidth: f64) -> f64 {
        let bytes = 2 * self.manifest().values() * self.manifest().real.stored_bytes();
        mlups * 1e6 * bytes as f64 / bandwidth
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.monitor.notices
    }
}

impl Subdomains {
    /// The first value of the fields that is not finite, and the largest change since the reference.
    fn check_fields(&mut self, levels: &[LevelState]) -> Result<(Option<NotFinite>, f64), StepError> {
        let mut largest = 0.0_f64;
        // The windows are the same in all subdomains.
        for window in self.first().windows() {
            let mut first = f64::INFINITY;
            for subdomain in self.iter_mut() {
                subdomain.sample_window(levels, &window)?;
                let (place, change) = subdomain.check_fields(&window)?;
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
        let (grid, manifest) = (self.first().grid(), self.first().program().manifest());
        let mut totals = [Sum::default(); 3];
        let mut fastest = 0.0_f64;
        for at in 0..grid.levels().len() {
            // Slopes are per cell of the level, so twice as large per cell of the next coarser level.
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
    fn add_sums(&self, levels: &[LevelState], totals: &mut [Sum]) -> Result<(), StepError> {
        let (grid, length) = (self.first().grid(), totals.len());
        for (at, level) in levels.iter().enumerate().take(grid.levels().len()) {
            let volume = 0.5f64.powi((at * grid.dim()) as i32);
            let sums = self.of_blocks(at, 2 * length, |subdomain, run| subdomain.sums(run, level.current, length))?;
            for (entry, sum) in sums.chunks(2).enumerate() {
                totals[entry % length].merge(Sum::new(volume * sum[0], volume * sum[1]));
            }
        }
        Ok(())
    }
}
