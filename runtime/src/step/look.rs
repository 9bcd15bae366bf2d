//! Looks at a flow: kernels sum it up where it is, and a few numbers visit the host.

use lbm_bundle::{Populations, SHARES};

use super::{Kept, Simulation, StepError};
use crate::device::{Buffer, Device, Int, Real};
use crate::fields;
use crate::kernels;
use crate::layout::{CellId, Layout, SlotId};
use crate::mesh::Cell;
use crate::observe::{Conserved, Look, NotFinite, Sum};

/// How a list of so many entries is cut: the number of shares, and the entries of each.
pub(super) fn shares(entries: usize) -> (usize, usize) {
    let per = entries.div_ceil(SHARES).max(1);
    (entries.div_ceil(per), per)
}

impl Simulation {
    /// Looks at the fields of the current step.
    pub fn look(&mut self) -> Result<Look, StepError> {
        self.sample()?;
        let (leaves, leaf_count) = (&self.grid.tables().leaves, self.grid.leaf_count());
        let (count, per) = shares(leaf_count);
        let mut found = self.program.device().alloc_doubles(2 * count)?;
        let fields = &self.fields.macroscopic;
        self.program.launch(kernels::Look {
            shares: self.grid.forest().every().part(0..count),
            ids: leaves.part(0..leaf_count),
            per: per as i32,
            fields,
            before: self.kept.as_ref().map_or(fields, |kept| &kept.fields),
            compare: i32::from(self.kept.is_some()),
            found: &mut found,
        })?;
        let found = found.read_reals(0..2 * count)?;
        let (first, square) = found
            .chunks(2)
            .fold((f64::INFINITY, 0.0), |(first, square): (f64, f64), of| (first.min(of[0]), square.max(of[1])));
        let layout = Layout::fields(self.manifest());
        let not_finite = match first as usize {
            first if first < leaf_count * layout.slot_len() => Some(self.place(first)?),
            _ => None,
        };
        let dim = self.grid.dim() as u32;
        let has_velocity = self.manifest().fields.iter().any(|field| field.name == "u" && field.components == dim);
        let compares = self.kept.is_some() && has_velocity && not_finite.is_none();
        Ok(Look { not_finite, change: compares.then(|| square.sqrt()) })
    }

    /// The value at a place in the order of the leaves that kernels know.
    fn place(&self, place: usize) -> Result<NotFinite, StepError> {
        let (layout, tables) = (Layout::fields(self.manifest()), self.grid.tables());
        let (cell, component) = (place / layout.components(), place % layout.components());
        let (entry, cell) = (cell / layout.cells(), cell % layout.cells());
        let int = |table: &Buffer<Int>, at: i32| Ok::<_, StepError>(table.read_ints(at as usize..at as usize + 1)?[0]);
        let slot = SlotId(int(&tables.leaves, entry as i32)? as u32);
        let origin = self.grid.origin(self.grid.forest().block(slot)?);
        let inside = layout.position(CellId(cell as u32));
        let at = std::array::from_fn(|axis| origin.at[axis] + inside[axis]);
        let component = fields::component_names(self.manifest()).swap_remove(component);
        Ok(NotFinite { component, cell: Cell { at, ..origin } })
    }

    /// Keeps the fields of the current step, on the device, for looks to come to compare with. Where the grid changes they follow: what is
    /// coarsened has the mean of its parts, what is refined lies on the plane through the coarser cell and those leaves of its level that
    /// are beside it. What refined blocks hold does not follow, and nothing reads it.
    pub fn keep(&mut self) -> Result<(), StepError> {
        self.sample()?;
        let kept = match self.kept.take() {
            Some(kept) => kept.fields,
            None => room_to_keep(self.program.device(), &self.fields.macroscopic)?,
        };
        let fields = std::mem::replace(&mut self.fields.macroscopic, kept);
        self.kept = Some(Kept { fields, step: self.step });
        Ok(())
    }

    /// The step whose fields are kept.
    pub fn kept(&self) -> Option<u64> {
        self.kept.as_ref().map(|kept| kept.step)
    }

    /// Mass and momentum of each set of populations, in the order of the manifest; volumes are counted in cells of the coarsest
    /// level. Sums are in double precision and carry their rounding errors along (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39), so
    /// they are as good as those in twice that precision, rounded once; the same bits on any number of threads.
    pub fn sums(&self) -> Result<Vec<Conserved>, StepError> {
        let (manifest, dim) = (self.manifest(), self.grid.dim());
        let length = manifest.populations.len() * (1 + dim);
        let mut totals = vec![Sum::default(); length];
        for (at, (level, listed_level)) in self.levels.iter().zip(self.grid.levels()).enumerate() {
            let leaves = &listed_level.leaves;
            let (count, per) = shares(leaves.len());
            let mut sums = self.program.device().alloc_doubles(2 * length * count)?;
            self.program.launch(kernels::Sums {
                shares: self.grid.forest().every().part(0..count),
                ids: self.grid.tables().leaves.part(leaves.clone()),
                per: per as i32,
                src: &self.fields.populations[level.current],
                sums: &mut sums,
            })?;
            let volume = 0.5f64.powi((at * dim) as i32);
            for (entry, sum) in sums.read_reals(0..2 * length * count)?.chunks(2).enumerate() {
                totals[entry % length].merge(Sum::new(volume * sum[0], volume * sum[1]));
            }
        }
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
}

/// Another array of fields.
pub(super) fn room_to_keep(device: &Device, fields: &Buffer<Real>) -> Result<Buffer<Real>, StepError> {
    if device.memory_available().is_some_and(|available| fields.bytes() > available) {
        return Err(device.out_of_memory(fields.bytes()).into());
    }
    Ok(device.alloc_like(fields)?)
}
