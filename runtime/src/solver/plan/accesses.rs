//! What each phase of a step reads and writes. This alone decides which phases of a recorded step may run at the same time.
//!
//! Levels depend on each other only through the exchange at refinement interfaces. A level sends to the next finer level without waiting
//! for what that level receives from still finer ones, and a level streams during the second step of the next finer level. Four levels take
//! fifteen level steps in one step of the coarsest level; the critical path of these has sixteen phases (a test, `order`, counts them).
//!
//! Each subdomain has its own [resources](Resource). Edge blocks and interior blocks are separate resources, and so is the copy of
//! the data of each other subdomain. Interior blocks therefore stream during the communication, and the communication begins as soon as the
//! edge blocks have streamed.

use crate::device::{Accesses, Resource};
use crate::mesh::SubdomainId;
use crate::mesh::forest::LEVELS;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{PopulationSet, Side, Task};

/// A part of the data that phases access as a whole.
#[derive(Clone, Copy)]
enum Data {
    /// Populations of a level, in one of the two sets, of the blocks that a phase streams: edge blocks or interior blocks of a subdomain.
    Populations { level: usize, set: PopulationSet, of: Phase, edge: bool },
    /// The copy that a subdomain has of another's populations of a level, in one of the two sets.
    Halo { level: usize, set: PopulationSet, from: usize },
    /// What enters the blocks of a level in a first or a second step, as written by one phase of the exchange at interfaces.
    Inbox { level: usize, second: bool, by: Phase },
    /// What the blocks of a level save for ghosts, by the phase that streams them: edge blocks or interior blocks of a subdomain.
    Saved { level: usize, of: Phase, edge: bool },
    /// The copy that a subdomain has of what another's blocks of a level save.
    SavedHalo { level: usize, from: usize },
    /// Parameters of walls.
    Walls,
    /// One of the two sets of cut links of a level, the parameters of the walls of its solids that move, and the cells that these have left.
    Links { level: usize, set: usize },
    /// What a move leaves for the next one.
    Moves,
    /// Surfaces under boundary layers.
    Slides,
    /// The clock of the formulas of walls.
    Clock,
    /// The only set of populations of a level, of which other levels read what its step replaces. Whoever reads that writes this, and whoever
    /// replaces it reads this.
    Replaced { level: usize },
    /// What goes to GPUs of other processes and comes from them, one after the other: a GPU that waits for another then never holds up what that
    /// one waits for.
    Messages,
}

/// Kinds of places that a subdomain has on each level, besides copies of others' data.
const KINDS: usize = 5;

/// Number of places that a subdomain has, besides copies of others' data.
const OWN: usize = LEVELS * KINDS * 2 * Phase::ALL.len();

/// A subdomain by its index in this process, out of several.
#[derive(Clone, Copy)]
pub(crate) struct OfSubdomain {
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl OfSubdomain {
    fn resource(self, of: Data) -> Resource {
        let OfSubdomain { index, count } = self;
        let number = |kind: usize, level: usize, set: usize, phase: Phase| {
            index * OWN + ((level * KINDS + kind) * 2 + set) * Phase::ALL.len() + phase as usize
        };
        Resource(match of {
            Data::Populations { level, set, of, edge: false } => number(0, level, set.index(), of),
            Data::Inbox { level, second, by } => number(1, level, usize::from(second), by),
            Data::Saved { level, of, edge } => number(2, level, usize::from(edge), of),
            Data::Walls => number(3, 0, 0, Phase::Prescribe),
            Data::Links { level, set } => number(3, level, set, Phase::Move),
            Data::Moves => number(3, 0, 0, Phase::Refill),
            Data::Slides => number(3, 0, 0, Phase::Slide),
            Data::Clock => number(3, 0, 0, Phase::Tick),
            Data::Replaced { level } => number(3, level, 0, Phase::BringBack),
            Data::Messages => number(3, 0, 0, Phase::Halo),
            Data::Populations { level, set, of, edge: true } => number(4, level, set.index(), of),
            Data::Halo { level, set, from } => {
                count * OWN + ((index * count + from) * LEVELS + level) * 3 + set.index()
            }
            Data::SavedHalo { level, from } => count * OWN + ((index * count + from) * LEVELS + level) * 3 + 2,
        } as u32)
    }

    /// The numbers of places, each once: several kernels of a phase may access the same data.
    fn resources(self, of: Vec<Data>) -> Vec<Resource> {
        let mut places: Vec<Resource> = of.into_iter().map(|of| self.resource(of)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// All other subdomains.
    fn others(self) -> impl Iterator<Item = usize> {
        (0..self.count).filter(move |from| *from != self.index)
    }

    /// The copies of the populations of all other subdomains.
    fn halo(self, level: usize, set: PopulationSet) -> impl Iterator<Item = Data> {
        self.others().map(move |from| Data::Halo { level, set, from })
    }

    /// What is saved for ghosts on a level, by own blocks and by blocks of others.
    fn all_saved(self, level: usize) -> impl Iterator<Item = Data> {
        saved(level).chain(self.others().map(move |from| Data::SavedHalo { level, from }))
    }
}

/// How the blocks of a level of a subdomain stream.
#[derive(Clone, Copy)]
pub(crate) struct Streams {
    /// The phase in which all blocks of the level stream in one launch, if there is one.
    pub(crate) together: Option<Phase>,
    /// Whether blocks with solids stream in a phase of their own alone. If not, the phases of all blocks stream them first.
    pub(crate) apart: bool,
    /// Whether steps replace populations that other levels read.
    pub(crate) in_place: bool,
    /// Whether moves leave the links of this step as they are.
    pub(crate) alternates: bool,
}

/// Phases that stream disjoint sets of blocks.
const STREAMING: [Phase; 5] = [
    Phase::StreamCollide,
    Phase::StreamCollideWalls,
    Phase::StreamCollideInterface,
    Phase::StreamCollideInterfaceWalls,
    Phase::StreamCollideHeld,
];

fn populations(level: usize, set: PopulationSet) -> impl Iterator<Item = Data> {
    [false, true].into_iter().flat_map(move |edge| at(edge, level, set))
}

/// Populations of edge blocks, or of interior blocks.
fn at(edge: bool, level: usize, set: PopulationSet) -> impl Iterator<Item = Data> {
    let all = STREAMING.into_iter().chain([Phase::StreamCollideSolid]);
    all.map(move |of| Data::Populations { level, set, of, edge })
}

/// Populations of the blocks of one phase.
fn of_phase(of: Phase, level: usize, set: PopulationSet) -> impl Iterator<Item = Data> {
    [false, true].into_iter().map(move |edge| Data::Populations { level, set, of, edge })
}

fn saved(level: usize) -> impl Iterator<Item = Data> {
    let of_phase = move |of| [false, true].map(|edge| Data::Saved { level, of, edge });
    STREAMING.into_iter().flat_map(of_phase)
}

fn inbox(level: usize, second: bool, by: &[Phase]) -> impl Iterator<Item = Data> {
    by.iter().map(move |by| Data::Inbox { level, second, by: *by })
}

/// The accesses of one lane of a halo exchange. `is_here`: whether both subdomains are in this process.
pub(crate) fn of_lane(task: Task, (from, to): (SubdomainId, SubdomainId), count: usize, is_here: bool) -> Accesses {
    let (level, set) = (task.level, task.current(task.level));
    let (reads, writes) = match task.phase {
        Phase::HaloSaved => (saved(level).collect(), Data::SavedHalo { level, from: from.index() }),
        _ => (at(true, level, set).collect(), Data::Halo { level, set, from: from.index() }),
    };
    let messages = (!is_here).then(|| OfSubdomain { index: 0, count }.resource(Data::Messages));
    let writes = OfSubdomain { index: to.index(), count }.resource(writes);
    Accesses {
        reads: OfSubdomain { index: from.index(), count }.resources(reads),
        writes: std::iter::once(writes).chain(messages).collect(),
        ahead: true,
    }
}

/// The accesses of a subdomain in a task on some of its blocks.
pub(crate) fn of_subdomain(task: Task, side: Side, streams: Streams, subdomain: OfSubdomain) -> Accesses {
    let Task { phase, level, .. } = task;
    let current = |level: usize| task.current(level);
    let (mut reads, mut writes): (Vec<Data>, Vec<Data>) = (vec![], vec![]);
    for (name, ty) in phase.arrays() {
        let found = data(name, task, side, streams, subdomain);
        if ty.is_written() {
            writes.extend(found);
        } else {
            reads.extend(found);
        }
    }
    match phase {
        // Restriction averages what finer blocks have saved into what coarser blocks save.
        Phase::Restrict => reads.extend(subdomain.all_saved(level)),
        // Walls of single links take the values of those of their solids. Cells that solids leave are those of the shapes before.
        Phase::Move => {
            let [now, next] = [task.link_set(level), 1 - task.link_set(level)].map(|set| Data::Links { level, set });
            reads.extend([Data::Walls, now]);
            writes.extend([next, Data::Moves]);
            writes.extend((!streams.alternates).then_some(now));
        }
        // Cells beside those that are filled are anywhere.
        Phase::Refill => {
            let is_filled = |of: &Data| matches!(of, Data::Populations { of: Phase::StreamCollideSolid, .. });
            reads.extend(populations(level, current(level)).filter(|of| !is_filled(of)));
            reads.push(Data::Links { level, set: task.link_set(level) });
        }
        _ => {}
    }
    if streams.in_place {
        let exchanges = [Phase::TO_FINE, Phase::TO_COARSE_BEFORE, Phase::TO_COARSE].concat().contains(&phase);
        let beside = [level, level + 1].into_iter().filter(|level| *level < LEVELS);
        writes.extend(beside.filter(|_| exchanges).map(|level| Data::Replaced { level }));
        if Phase::STREAMING.contains(&phase) || phase == Phase::BringBack {
            reads.push(Data::Replaced { level });
        }
    }
    if side != Side::Inside {
        for of in phase.reads_blocks_around(level).filter(|of| *of < LEVELS) {
            reads.extend(subdomain.halo(of, current(of)));
            // The other set has the populations of a finer level from before its step.
            reads.extend((of > level).then(|| subdomain.halo(of, current(of).other())).into_iter().flatten());
        }
    }
    // Other subdomains wait for edge blocks, and solids that move wait for the blocks around them.
    let ahead = side == Side::Edge || OF_SOLIDS.contains(&phase);
    Accesses { reads: subdomain.resources(reads), writes: subdomain.resources(writes), ahead }
}

/// The phases of solids: few blocks, one after the other.
const OF_SOLIDS: [Phase; 4] = [Phase::Exchange, Phase::StreamCollideSolid, Phase::Move, Phase::Refill];

/// The data that an array of a kernel refers to in a task, by its name; nothing for tables, which are constant while the grid is.
fn data(name: &str, task: Task, side: Side, streams: Streams, subdomain: OfSubdomain) -> Vec<Data> {
    let (Task { phase, level, start, .. }, Streams { together, apart, .. }) = (task, streams);
    let (second, current, other) = (!start, |level| task.current(level), |level| task.current(level).other());
    let sides: &[bool] = match side {
        Side::All => &[false, true],
        Side::Edge => &[true],
        Side::Inside => &[false],
    };
    match (name, phase) {
        // The cells that solids have left are in blocks with solids.
        ("populations", Phase::Refill) => of_phase(Phase::StreamCollideSolid, level, current(level)).collect(),
        ("src" | "coarse" | "populations", _) => populations(level, current(level)).collect(),
        // Either before the first step of the finer level in this one, or after it.
        ("fine" | "after", _) => populations(level + 1, current(level + 1)).collect(),
        ("before", _) => populations(level + 1, other(level + 1)).collect(),
        // The levels beside one, of those that there may be.
        ("coarser", _) => populations(level.saturating_sub(1), current(level.saturating_sub(1))).collect(),
        ("own", _) => populations(level, current(level)).collect(),
        ("finer", _) if level + 1 < LEVELS => populations(level + 1, other(level + 1)).collect(),
        ("finer", _) => vec![],
        ("dst", Phase::Restrict) => populations(level - 1, other(level - 1)).collect(),
        ("dst", Phase::Prolong) => populations(level + 1, current(level + 1)).collect(),
        ("set", Phase::BringBack) => {
            [current(level), other(level)].into_iter().flat_map(|set| populations(level, set)).collect()
        }
        // In the only set of populations, each phase replaces in a step what no other reads. So phases depend on each other as with two sets.
        ("dst" | "set", Phase::StreamCollideSolid) if apart => of_phase(phase, level, other(level)).collect(),
        ("dst" | "set", of) if of.has_cut_links() => populations(level, other(level)).collect(),
        ("dst" | "set", of) if together == Some(of) => {
            STREAMING.into_iter().flat_map(|of| of_phase(of, level, other(level))).collect()
        }
        ("dst" | "set", of) => {
            sides.iter().map(|edge| Data::Populations { level, set: other(level), of, edge: *edge }).collect()
        }
        ("saved", Phase::Restrict) => saved(level - 1).collect(),
        ("saved", Phase::Send) => saved(level).collect(),
        ("saved", Phase::Prolong) => subdomain.all_saved(level).collect(),
        ("saved", of) if of.has_cut_links() => saved(level).collect(),
        ("saved", of) => sides.iter().map(|edge| Data::Saved { level, of, edge: *edge }).collect(),
        ("inbox", Phase::ToCoarseBefore) => inbox(level, second, &[Phase::ToCoarse]).collect(),
        ("inbox", Phase::ToCoarseWallsBefore) => inbox(level, second, &[Phase::ToCoarseWalls]).collect(),
        ("inbox", by) if by == Phase::ExposeAcross || Phase::TO_COARSE.contains(&by) => {
            inbox(level, second, &[by]).collect()
        }
        ("inbox", Phase::StreamCollideInterface) if together.is_none() => {
            inbox(level, second, &[Phase::ToFine, Phase::ToCoarse, Phase::ExposeAcross]).collect()
        }
        ("inbox", _) => [&Phase::TO_FINE[..], &Phase::TO_COARSE, &[Phase::ExposeAcross]]
            .iter()
            .flat_map(|by| inbox(level, second, by).collect::<Vec<_>>())
            .collect(),
        // Packets that meet no fine cell end in coarse cells.
        ("inbox_0", Phase::ToFine) => {
            inbox(level + 1, false, &[phase]).chain(inbox(level, second, &[Phase::ToCoarse])).collect()
        }
        ("inbox_0", _) => inbox(level + 1, false, &[phase]).collect(),
        ("inbox_1", _) => inbox(level + 1, true, &[phase]).collect(),
        ("wall_values" | "values", _) => vec![Data::Walls],
        ("slips", _) => vec![Data::Slides],
        ("links" | "distances" | "frames" | "numbers", _) => vec![Data::Links { level, set: task.link_set(level) }],
        ("clock", _) => vec![Data::Clock],
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::ArgType;

    use super::*;

    /// Values that the host passes to one task alone, or reads from it.
    const OF_ONE_TASK: [&str; 3] = ["exchanged", "velocities", "places"];
    /// Numbers that do not change.
    const CONSTANT: [&str; 4] = ["normals", "shapes", "laws", "weights"];

    #[test]
    fn arrays_of_numbers_are_data_that_tasks_depend_on() {
        for phase in Phase::ALL {
            let task = Task { phase, level: 1, start: false, step: 0, half: 0, sets: 0, link_sets: 0 };
            for (name, ty) in phase.arrays() {
                let is_table = matches!(ty, ArgType::Ints | ArgType::IntsOut);
                let streams = Streams { together: None, apart: true, in_place: false, alternates: true };
                let found = data(name, task, Side::All, streams, OfSubdomain { index: 0, count: 2 });
                assert!(
                    is_table || OF_ONE_TASK.contains(&name) || CONSTANT.contains(&name) || !found.is_empty(),
                    "{phase:?}: which data is `{name}`?"
                );
            }
        }
    }

    #[test]
    fn no_kernel_writes_a_table_in_a_step() {
        let tables = |phase: Phase| phase.arrays().filter(|(_, ty)| *ty == ArgType::IntsOut).count();
        assert_eq!(Phase::ALL.map(tables), [0; Phase::ALL.len()]);
    }
}
