//! What each phase of a step reads and writes: all that decides which phases of a recorded step run at the same time.
//!
//! Levels depend on each other only through the inbox: what a level sends to the next finer one needs nothing of what that one gets from
//! still finer ones, and a level streams while a finer one takes its second step. So four levels, which take fifteen steps of their
//! own in one of the coarsest, are done in sixteen passes that follow each other (a test, `order`, counts
//! them).
//!
//! Parts of a flow have places of their own. Blocks of a part at its edge have others than those inside, and what it gets of others has one
//! for each of them: so blocks inside stream while it is on its way, and it goes as soon as blocks at the edge have streamed.

use crate::device::{Accesses, Place};
use crate::mesh::forest::LEVELS;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Side, Task};

/// A part of the data that phases touch as a whole.
#[derive(Clone, Copy)]
enum Part {
    /// Populations of a level, in one of the two sets, of the blocks that a phase streams, at the edge of a part or inside.
    Populations { level: usize, set: usize, of: Phase, edge: bool },
    /// What a part has of another's populations of a level, in one of the two sets.
    Halo { level: usize, set: usize, from: usize },
    /// What enters the blocks of a level in a first or a second step, as one of the phases of an interface puts it there.
    Inbox { level: usize, second: bool, by: Phase },
    /// What the blocks of a level save for ghosts, by the phase that streams them, at the edge of a part or inside.
    Saved { level: usize, of: Phase, edge: bool },
    /// What a part has of what another's blocks of a level save.
    SavedHalo { level: usize, from: usize },
    /// Parameters of walls.
    Walls,
    /// The time of their formulas.
    Clock,
}

/// Kinds of places that a part has for itself on a level.
const KINDS: usize = 5;

/// Places that a part has for itself.
const OWN: usize = LEVELS * KINDS * 2 * Phase::ALL.len();

/// A part of a flow, by its number, of so many.
#[derive(Clone, Copy)]
pub(crate) struct OfPart {
    pub(crate) part: usize,
    pub(crate) parts: usize,
}

impl OfPart {
    fn place(self, of: Part) -> Place {
        let OfPart { part, parts } = self;
        let number = |kind: usize, level: usize, set: usize, phase: Phase| {
            part * OWN + ((level * KINDS + kind) * 2 + set) * Phase::ALL.len() + phase as usize
        };
        Place(match of {
            Part::Populations { level, set, of, edge: false } => number(0, level, set, of),
            Part::Inbox { level, second, by } => number(1, level, usize::from(second), by),
            Part::Saved { level, of, edge } => number(2, level, usize::from(edge), of),
            Part::Walls => number(3, 0, 0, Phase::Prescribe),
            Part::Clock => number(3, 0, 0, Phase::Tick),
            Part::Populations { level, set, of, edge: true } => number(4, level, set, of),
            Part::Halo { level, set, from } => parts * OWN + ((part * parts + from) * LEVELS + level) * 3 + set,
            Part::SavedHalo { level, from } => parts * OWN + ((part * parts + from) * LEVELS + level) * 3 + 2,
        } as u32)
    }

    fn places(self, of: Vec<Part>) -> Vec<Place> {
        of.into_iter().map(|of| self.place(of)).collect()
    }

    /// All others.
    fn others(self) -> impl Iterator<Item = usize> {
        (0..self.parts).filter(move |from| *from != self.part)
    }

    /// What the part has of all others.
    fn halo(self, level: usize, set: usize) -> impl Iterator<Item = Part> {
        self.others().map(move |from| Part::Halo { level, set, from })
    }

    /// What is saved for ghosts on a level, by its own blocks and by those of others.
    fn all_saved(self, level: usize) -> impl Iterator<Item = Part> {
        saved(level).chain(self.others().map(move |from| Part::SavedHalo { level, from }))
    }
}

/// Phases that stream blocks of their own. Those with solids belong to other phases as well, which stream them first.
const STREAMING: [Phase; 5] = [
    Phase::StreamCollide,
    Phase::StreamCollideWalls,
    Phase::StreamCollideInterface,
    Phase::StreamCollideInterfaceWalls,
    Phase::StreamCollideHeld,
];

/// Phases that do not read what walls are like.
const AWAY_FROM_WALLS: [Phase; 9] = [
    Phase::StreamCollide,
    Phase::StreamCollideInterface,
    Phase::ToFine,
    Phase::ToCoarse,
    Phase::Restrict,
    Phase::Send,
    Phase::Prolong,
    Phase::Prescribe,
    Phase::Tick,
];

fn populations(level: usize, set: usize) -> impl Iterator<Item = Part> {
    [false, true].into_iter().flat_map(move |edge| at(edge, level, set))
}

/// Those at the edge of a part, or inside.
fn at(edge: bool, level: usize, set: usize) -> impl Iterator<Item = Part> {
    STREAMING.into_iter().map(move |of| Part::Populations { level, set, of, edge })
}

fn saved(level: usize) -> impl Iterator<Item = Part> {
    let of_phase = move |of| [false, true].map(|edge| Part::Saved { level, of, edge });
    STREAMING.into_iter().flat_map(of_phase)
}

fn inbox(level: usize, second: bool, by: &[Phase]) -> impl Iterator<Item = Part> {
    by.iter().map(move |by| Part::Inbox { level, second, by: *by })
}

/// What crosses from a part to another in a task.
pub(crate) fn of_lane(task: Task, (from, to): (usize, usize), parts: usize) -> Accesses {
    let (level, set) = (task.level, task.current(task.level));
    let (reads, writes) = match task.phase {
        Phase::HaloSaved => (saved(level).collect(), Part::SavedHalo { level, from }),
        _ => (at(true, level, set).collect(), Part::Halo { level, set, from }),
    };
    Accesses {
        reads: OfPart { part: from, parts }.places(reads),
        writes: OfPart { part: to, parts }.places(vec![writes]),
        ahead: true,
    }
}

/// What a part does of a task on some of its blocks. `together`: the phase in which all blocks of the level stream, if they do in one.
pub(crate) fn of_part(task: Task, side: Side, together: Option<Phase>, of_part: OfPart) -> Accesses {
    let Task { phase, level, start, .. } = task;
    let (second, current, other) = (!start, |level| task.current(level), |level| 1 - task.current(level));
    let (mut reads, mut writes): (Vec<Part>, Vec<Part>) = (vec![], vec![]);
    if !AWAY_FROM_WALLS.contains(&phase) {
        reads.push(Part::Walls);
    }
    match phase {
        Phase::Prescribe => {
            reads.push(Part::Clock);
            writes.push(Part::Walls);
        }
        Phase::Move => {
            writes.push(Part::Walls);
            writes.extend(populations(level, current(level)));
        }
        // Rows beside those that it reads.
        Phase::Expose => writes.extend(populations(level, current(level))),
        Phase::Exchange => reads.extend(populations(level, current(level))),
        Phase::Tick => writes.push(Part::Clock),
        Phase::Halo | Phase::HaloSaved => unreachable!("what crosses is no work of a part"),
        Phase::ToFine | Phase::ToFineWalls => {
            reads.extend(populations(level, current(level)).chain(populations(level + 1, current(level + 1))));
            writes.extend(
                [false, true].into_iter().flat_map(|second| inbox(level + 1, second, &[phase]).collect::<Vec<_>>()),
            );
            if phase == Phase::ToFine {
                // Packets that meet no fine cell end in coarse ones.
                writes.extend(inbox(level, second, &[Phase::ToCoarse]));
            }
        }
        Phase::ToCoarse | Phase::ToCoarseWalls => {
            reads.extend(populations(level, current(level)));
            reads.extend(populations(level + 1, 0).chain(populations(level + 1, 1)));
            writes.extend(inbox(level, second, &[phase]));
        }
        Phase::Restrict => {
            writes.extend(saved(level - 1).chain(populations(level - 1, other(level - 1))));
            reads.extend(of_part.all_saved(level));
        }
        Phase::Send => writes.extend(saved(level)),
        Phase::Prolong => {
            reads.extend(of_part.all_saved(level));
            writes.extend(populations(level + 1, current(level + 1)));
        }
        _ => {
            reads.extend(populations(level, current(level)));
            reads.extend(match phase {
                Phase::StreamCollideInterface if together.is_none() => {
                    inbox(level, second, &[Phase::ToFine, Phase::ToCoarse]).collect()
                }
                Phase::StreamCollideInterface | Phase::StreamCollideInterfaceWalls => {
                    [&Phase::TO_FINE, &Phase::TO_COARSE].into_iter().flat_map(|by| inbox(level, second, by)).collect()
                }
                _ => vec![],
            });
            match phase {
                Phase::StreamCollideSolid => writes.extend(populations(level, other(level))),
                _ if together == Some(phase) => writes.extend(populations(level, other(level))),
                of => {
                    let sides: &[bool] = match side {
                        Side::All => &[false, true],
                        Side::Edge => &[true],
                        Side::Inside => &[false],
                    };
                    let set = other(level);
                    writes.extend(sides.iter().flat_map(|edge| {
                        let edge = *edge;
                        [Part::Populations { level, set, of, edge }, Part::Saved { level, of, edge }]
                    }));
                }
            }
        }
    }
    if side != Side::Inside {
        for of in phase.reads_blocks_around(level) {
            reads.extend(of_part.halo(of, current(of)));
            // What a finer level had before its step is in the other set.
            reads.extend((of > level).then(|| of_part.halo(of, other(of))).into_iter().flatten());
        }
    }
    Accesses { reads: of_part.places(reads), writes: of_part.places(writes), ahead: side == Side::Edge }
}
