//! What each phase of a step reads and writes: all that decides which phases of a recorded step run at the same time.
//!
//! Levels depend on each other only through the inbox: what a level sends to the next finer one needs nothing of what that one gets from
//! still finer ones, and a level streams while a finer one takes its second step. So four levels, which take fifteen steps of their
//! own in one of the coarsest, are done in sixteen passes that follow each other (a test, `order`, counts
//! them).

use super::step::Task;
use super::subdomain::Subdomain;
use super::timing::Phase;
use crate::device::{Accesses, Place};

/// A part of the data that phases touch as a whole.
#[derive(Clone, Copy)]
enum Part {
    /// Populations of a level, in one of the two sets, of the blocks that a phase streams.
    Populations { level: usize, set: usize, of: Phase },
    /// What enters the blocks of a level in a first or a second step, as one of the phases of an interface puts it there.
    Inbox { level: usize, second: bool, by: Phase },
    /// What the blocks of a level save for ghosts, by the phase that streams them.
    Saved { level: usize, of: Phase },
    /// Parameters of walls.
    Walls,
    /// The time of their formulas.
    Clock,
}

impl Part {
    fn place(self) -> Place {
        let number = |kind: usize, level: usize, set: usize, phase: Phase| {
            Place(((level * 4 + kind) * 2 + set) as u32 * Phase::ALL.len() as u32 + phase as u32)
        };
        match self {
            Part::Populations { level, set, of } => number(0, level, set, of),
            Part::Inbox { level, second, by } => number(1, level, usize::from(second), by),
            Part::Saved { level, of } => number(2, level, 0, of),
            Part::Walls => number(3, 0, 0, Phase::Prescribe),
            Part::Clock => number(3, 0, 0, Phase::Tick),
        }
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
const AWAY_FROM_WALLS: [Phase; 10] = [
    Phase::StreamCollide,
    Phase::StreamCollideInterface,
    Phase::ToFine,
    Phase::ToCoarse,
    Phase::Restrict,
    Phase::Send,
    Phase::Prolong,
    Phase::Prescribe,
    Phase::Tick,
    Phase::Halo,
];

fn populations(level: usize, set: usize) -> impl Iterator<Item = Part> {
    STREAMING.into_iter().map(move |of| Part::Populations { level, set, of })
}

fn saved(level: usize) -> impl Iterator<Item = Part> {
    STREAMING.into_iter().map(move |of| Part::Saved { level, of })
}

fn inbox(level: usize, second: bool, by: &[Phase]) -> impl Iterator<Item = Part> {
    by.iter().map(move |by| Part::Inbox { level, second, by: *by })
}

impl Subdomain {
    /// What a task reads and writes.
    pub(super) fn accesses(&self, task: Task) -> Accesses {
        accesses(task, self.inbox.as_ref().and_then(|inbox| inbox.together(task.level)))
    }
}

/// `together`: the phase in which all blocks of the level stream, if they do in one.
fn accesses(task: Task, together: Option<Phase>) -> Accesses {
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
        Phase::Tick => writes.push(Part::Clock),
        Phase::Halo => writes.extend(populations(level, current(level))),
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
            reads.extend(saved(level));
        }
        Phase::Send => writes.extend(saved(level)),
        Phase::Prolong => {
            reads.extend(saved(level));
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
                of => writes.extend([Part::Populations { level, set: other(level), of }, Part::Saved { level, of }]),
            }
        }
    }
    let places = |parts: Vec<Part>| parts.into_iter().map(Part::place).collect();
    Accesses { reads: places(reads), writes: places(writes) }
}
