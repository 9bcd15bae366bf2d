//! Transfer of populations, reference fields and statistics when the forest changes.

use std::ops::Range;

use crate::device::{Buffer, Device, Int, Real, Slice, Stored};
use crate::kernels::layout::Layout;
use crate::kernels::{self, KernelError, Program};
use crate::mesh::Grid;
use crate::mesh::forest::{Change, Moves, Remap};
use crate::solver::arrays::fields::Fields;
use crate::solver::arrays::pages::{self, Arrays};
use crate::solver::arrays::statistics::Statistics;
use crate::solver::halo::transfer::Reach;
use crate::solver::plan::task::PopulationSet;

/// The data to be transferred: the two sets of populations, reference fields and statistics.
pub(super) struct Populations<'a> {
    pub(super) program: &'a Program,
    pub(super) sets: &'a mut [Buffer<Stored>; 2],
    /// The current set of each level.
    pub(super) current: Vec<PopulationSet>,
    /// Reference fields.
    pub(super) reference: Option<&'a mut Buffer<Real>>,
    /// An array of the same shape that may be overwritten.
    pub(super) spare: &'a mut Buffer<Real>,
    /// Statistics over time.
    pub(super) statistics: Option<&'a mut Statistics>,
    /// The first slot of covered blocks and the number of roots, if covered blocks have data.
    pub(super) covered: Option<[usize; 2]>,
    /// For a subdomain: which blocks it owns and which data of others it has. It computes only what its own blocks need.
    pub(super) reach: Option<&'a mut Reach>,
}

impl<'a> Populations<'a> {
    /// The data of a grid, with these current sets on its levels.
    pub(super) fn new(
        program: &'a Program,
        grid: &Grid,
        fields: &'a mut Fields,
        (reference, statistics): (Option<&'a mut Buffer<Real>>, Option<&'a mut Statistics>),
        current: Vec<PopulationSet>,
        reach: Option<&'a mut Reach>,
    ) -> Self {
        let Fields { populations: sets, macroscopic: spare, .. } = fields;
        Populations { program, sets, current, reference, spare, statistics, covered: grid.covered(), reach }
    }

    /// Both sets, and which is current on each level.
    fn both_sets(&mut self) -> kernels::Sets<'_> {
        let sets = self.current.iter().enumerate().map(|(level, set)| (set.index() as i32) << level).sum();
        let [populations_0, populations_1] = &mut *self.sets;
        kernels::Sets { sets, populations_0, populations_1 }
    }

    /// Maps memory for these slots, for a subdomain whose memory follows its blocks.
    fn make_room(&mut self, slots: Option<&[i32]>) -> Result<(), KernelError> {
        let Some(slots) = slots.filter(|_| self.sets[0].array().is_by_page()) else { return Ok(()) };
        let Populations { program, sets, reference, spare, statistics, .. } = self;
        let fields = std::iter::once(&mut **spare).chain(reference.as_deref_mut());
        let statistics = statistics.iter_mut().flat_map(|statistics| statistics.arrays(program.manifest()));
        Ok(Arrays::new(program.manifest(), sets, fields, statistics).more(&of_ids(slots))?)
    }

    /// A list of these slots on the device.
    fn list(device: &Device, slots: Option<Vec<i32>>) -> Result<Option<Buffer<Int>>, KernelError> {
        Ok(slots.map(|slots| device.ints(&slots)).transpose()?)
    }

    /// Copies the populations of some slots from one set to the other: those of `ids` from the slots `from[slot]`.
    pub(super) fn relocate(
        &mut self,
        ids: Slice<'_, Int>,
        from: &Buffer<Int>,
        source: PopulationSet,
    ) -> Result<(), KernelError> {
        let [first, second] = &mut *self.sets;
        let (src, dst) = match source {
            PopulationSet::First => (&*first, second),
            PopulationSet::Second => (&*second, first),
        };
        self.program.launch(kernels::Relocate { ids, from, src, dst })
    }
}

/// Runs of consecutive slots.
fn of_ids(slots: &[i32]) -> Vec<Range<usize>> {
    pages::runs(slots.iter().map(|slot| *slot as usize))
}

impl Remap for Populations<'_> {
    fn average(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        let children = 1 << self.program.manifest().dim;
        let found = self.reach.as_mut().map(|reach| reach.average(&change, children)).transpose()?;
        self.make_room(found.as_deref())?;
        let listed = Self::list(self.program.device(), found)?;
        let change = change.of(listed.as_ref());
        if let Some(statistics) = &mut self.statistics {
            statistics.average(self.program.manifest(), &change)?;
        }
        let Change { slots, count, child_slots, tables } = change;
        if let Some(reference) = &mut self.reference {
            self.program.launch(kernels::AverageFields {
                ids: slots.slice(0..count),
                child_slots,
                fields: reference,
            })?;
        }
        self.program.launch(kernels::Average {
            ids: slots.slice(0..count),
            child_slots,
            nodes: &tables.node,
            levels: &tables.level,
            sets: self.both_sets(),
        })
    }

    fn fill(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        let children = 1 << self.program.manifest().dim;
        let found = self.reach.as_mut().map(|reach| reach.fill(&change, children)).transpose()?;
        let (found, fine) = found.unzip();
        self.make_room(fine.as_deref())?;
        let listed = Self::list(self.program.device(), found)?;
        let change = change.of(listed.as_ref());
        // Fields and accumulators of covered blocks belong to another step or another place.
        let covered = self.covered.map_or(i32::MAX, |[first, _]| first as i32);
        if let Some(statistics) = &mut self.statistics {
            statistics.fill(self.program.manifest(), &change, covered)?;
        }
        let Change { slots, count, child_slots, tables } = change;
        let neighbours = &tables.neighbours;
        if let Some(reference) = &mut self.reference {
            let ids = slots.slice(0..count);
            self.program.launch(kernels::FillFields {
                ids,
                neighbours,
                first_covered: covered,
                child_slots,
                fields: reference,
            })?;
        }
        self.program.launch(kernels::Fill {
            ids: slots.slice(0..count),
            neighbours,
            child_slots,
            nodes: &tables.node,
            levels: &tables.level,
            sets: self.both_sets(),
        })?;
        let Some([first, roots]) = self.covered else { return Ok(()) };
        self.program.launch(kernels::Keep {
            ids: slots.slice(0..count),
            nodes: &tables.node,
            levels: &tables.level,
            children: &tables.child,
            roots: roots as i32,
            first_covered: first as i32,
            sets: self.both_sets(),
        })
    }

    /// All levels must have the same current set; afterwards it is the other one.
    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError> {
        let found = self.reach.as_mut().map(|reach| reach.reorder(&moves)).transpose()?;
        let [listed, covered] = found.map_or([None, None], |found| found.map(Some));
        let slots = listed.iter().chain(&covered).flat_map(|slots| of_ids(slots)).collect::<Vec<_>>();
        let (listed, covered) =
            (Self::list(self.program.device(), listed)?, Self::list(self.program.device(), covered)?);
        let moves = moves.of(listed.as_ref());
        if let Some(statistics) = &mut self.statistics {
            statistics.reorder(self.program.device(), self.program.manifest(), &moves, &slots)?;
        }
        // The old content of the destination arrays is no longer needed.
        let source = self.current.first().copied().unwrap_or_default();
        let (mut room, manifest) = (Arrays::default(), self.program.manifest());
        room.add(&mut self.sets[source.other().index()], Layout::populations(manifest));
        room.add(self.spare, Layout::fields(manifest));
        room.only(&slots)?;
        if let Some(reference) = &mut self.reference {
            let ids = moves.slots.slice(0..moves.count);
            self.program.launch(kernels::RelocateFields { ids, from: moves.from, src: reference, dst: self.spare })?;
            std::mem::swap(&mut **reference, self.spare);
        }
        self.relocate(moves.slots.slice(0..moves.count), moves.from, source)?;
        let covered = covered
            .as_ref()
            .map_or(moves.covered.slice(0..moves.covered_count), |covered| covered.slice(0..covered.len()));
        self.relocate(covered, moves.every, source)
    }
}
