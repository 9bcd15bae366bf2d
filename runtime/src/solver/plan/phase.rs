//! The phases of a time step, a row each: what is known of a phase without a flow.

use std::ops::Range;

use lbm_bundle::mesh::Group;
use lbm_bundle::prescribed::PrescribedRole;
use lbm_bundle::{ArgType, Role};

use Around::{Both, Level, Nothing};
use Items::{AtBoth, Cells, Cut, Held, Leaves, Own};
use Kernels::{Method, Prescribed};

/// A part of a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Blocks away from walls.
    StreamCollide,
    /// Blocks that touch walls.
    StreamCollideWalls,
    /// Blocks beside coarser or finer ones.
    StreamCollideInterface,
    /// Blocks beside coarser or finer ones that touch walls.
    StreamCollideInterfaceWalls,
    /// Blocks with solids in them.
    StreamCollideSolid,
    /// Cells that refined blocks hold.
    StreamCollideHeld,
    /// What cells show to those around them.
    Expose,
    /// What solids and the fluid exchange.
    Exchange,
    /// What coarse blocks send to finer ones.
    ToFine,
    /// What enters fine blocks that touch walls, from coarser ones.
    ToFineWalls,
    /// What comes out of fine blocks into coarser ones.
    ToCoarse,
    /// What enters coarse blocks that touch walls, beside finer ones.
    ToCoarseWalls,
    /// Means over finer cells.
    Restrict,
    /// What is to be interpolated to ghosts.
    Send,
    /// Ghosts.
    Prolong,
    /// What formulas say of walls.
    Prescribe,
    /// Solids that move: links that are cut anew, cells that are filled.
    Move,
    /// The clock of these formulas.
    Tick,
    /// What parts of a flow read of each other's blocks.
    Halo,
    /// What they read of what these save for ghosts.
    HaloSaved,
}

/// What a phase launches: kernels of the method, of which a bundle has those that it needs, or a kernel of formulas of time.
enum Kernels {
    Method(&'static [Role]),
    Prescribed(PrescribedRole),
}

/// What a phase works on in each subdomain.
#[derive(Clone, Copy)]
pub(crate) enum Items {
    /// Leaves of its level, by what is around them.
    Leaves(Group),
    /// Those that touch walls and another level, of the level or of the next finer one.
    AtBoth { finer: bool },
    /// Blocks with cut links.
    Cut,
    /// Refined blocks that hold ghosts.
    Held,
    /// Cells beside refined ones.
    Cells,
    /// Items that it lists itself, or none.
    Own,
}

/// Of which levels a phase reads blocks beside others, as neighbours do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// Its own.
    Level,
    /// Its own and the next finer one.
    Both,
}

struct Row(Phase, &'static str, Items, Around, Kernels);

/// The phases in the order of a step: each with its name in reports, what it works on, of which levels it reads blocks beside others, and its
/// kernels.
const ROWS: [Row; 20] = [
    Row(Phase::StreamCollide, "stream_collide", Leaves(Group::Interior), Level, Method(&[Role::StreamCollide])),
    Row(
        Phase::StreamCollideWalls,
        "stream_collide_walls",
        Leaves(Group::Walls),
        Level,
        Method(&[Role::StreamCollideWalls]),
    ),
    Row(
        Phase::StreamCollideInterface,
        "stream_collide_interface",
        Leaves(Group::Jump),
        Level,
        Method(&[Role::StreamCollideInterface, Role::StreamCollideGhosts]),
    ),
    Row(
        Phase::StreamCollideInterfaceWalls,
        "stream_collide_interface_walls",
        Leaves(Group::Both),
        Level,
        Method(&[Role::StreamCollideInterfaceWalls, Role::StreamCollideGhostsWalls]),
    ),
    Row(Phase::StreamCollideSolid, "stream_collide_solid", Cut, Level, Method(&[Role::StreamCollideSolid])),
    Row(
        Phase::StreamCollideHeld,
        "stream_collide_held",
        Held,
        Level,
        Method(&[Role::StreamCollideGhosts, Role::StreamCollideGhostsWalls]),
    ),
    Row(Phase::Expose, "expose", Own, Level, Method(&[Role::Expose, Role::ExposeWalls, Role::ExposeSolid])),
    Row(Phase::Exchange, "exchange", Own, Level, Method(&[Role::Force])),
    Row(Phase::ToFine, "to_fine", Cells, Both, Method(&[Role::ToFine])),
    Row(Phase::ToFineWalls, "to_fine_walls", AtBoth { finer: true }, Both, Method(&[Role::ToFineWalls])),
    Row(Phase::ToCoarse, "to_coarse", Cells, Both, Method(&[Role::ToCoarse])),
    Row(Phase::ToCoarseWalls, "to_coarse_walls", AtBoth { finer: false }, Both, Method(&[Role::ToCoarseWalls])),
    Row(Phase::Restrict, "restrict", Own, Nothing, Method(&[Role::Restrict])),
    Row(Phase::Send, "send", Own, Nothing, Method(&[Role::Send])),
    Row(Phase::Prolong, "prolong", Own, Nothing, Method(&[Role::Prolong])),
    Row(Phase::Prescribe, "prescribe", Own, Nothing, Prescribed(PrescribedRole::Prescribe)),
    Row(Phase::Move, "move", Own, Level, Method(&[Role::Refill])),
    Row(Phase::Tick, "tick", Own, Nothing, Prescribed(PrescribedRole::Tick)),
    Row(Phase::Halo, "halo", Own, Nothing, Method(&[])),
    Row(Phase::HaloSaved, "halo_saved", Own, Nothing, Method(&[])),
];

impl Phase {
    /// All phases in the order of a step.
    pub const ALL: [Phase; ROWS.len()] = {
        let mut all = [Phase::StreamCollide; ROWS.len()];
        let mut at = 0;
        while at < ROWS.len() {
            // A row is found by the number of its phase.
            assert!(ROWS[at].0 as usize == at);
            all[at] = ROWS[at].0;
            at += 1;
        }
        all
    };

    /// Those that fill the inbox before the first step of the next finer level, and after it.
    pub(crate) const TO_FINE: [Phase; 2] = [Phase::ToFine, Phase::ToFineWalls];
    pub(crate) const TO_COARSE: [Phase; 2] = [Phase::ToCoarse, Phase::ToCoarseWalls];

    /// Those in which populations stream: in leaves, each in blocks of its own; then again in some of these blocks, or in refined ones.
    pub(crate) const STREAMING: [Phase; 6] = [
        Phase::StreamCollide,
        Phase::StreamCollideWalls,
        Phase::StreamCollideInterface,
        Phase::StreamCollideInterfaceWalls,
        Phase::StreamCollideSolid,
        Phase::StreamCollideHeld,
    ];

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Name as in reports.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it works on.
    pub(crate) fn items(self) -> Items {
        self.row().2
    }

    /// Levels of whose blocks it reads those beside others, of the set that is current.
    pub(crate) fn reads_blocks_around(self, level: usize) -> Range<usize> {
        match self.row().3 {
            Nothing => level..level,
            Level => level..level + 1,
            Both => level..level + 2,
        }
    }

    /// The arrays that its kernels take, by their names.
    pub(crate) fn arrays(self) -> impl Iterator<Item = (&'static str, ArgType)> {
        let (method, prescribed) = match self.row().4 {
            Method(roles) => (roles, None),
            Prescribed(role) => (&[][..], Some(role)),
        };
        method.iter().flat_map(|role| role.arrays()).chain(prescribed.into_iter().flat_map(PrescribedRole::arrays))
    }

    /// Whether it reads what blocks of its level save for ghosts, those of other subdomains too.
    pub(crate) fn reads_saved(self) -> bool {
        matches!(self, Phase::Restrict | Phase::Prolong)
    }

    /// Whether it is what crosses between subdomains.
    pub(crate) fn crosses(self) -> bool {
        matches!(self, Phase::Halo | Phase::HaloSaved)
    }
}
