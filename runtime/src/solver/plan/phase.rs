//! The phases of a time step, one row each: all properties of a phase that do not depend on a flow.

use std::ops::Range;

use lbm_bundle::mesh::Group;
use lbm_bundle::prescribed::PrescribedRole;
use lbm_bundle::{ArgType, Role};

use Items::{AtBoth, Cells, Covered, Cut, Leaves, Own};
use Kernels::{Method, Prescribed};
use ReadLevels::{All, Both, Level, Nothing};

/// A phase of a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Streams and collides blocks away from walls and refinement interfaces.
    StreamCollide,
    /// Streams and collides blocks at walls.
    StreamCollideWalls,
    /// Streams and collides blocks at refinement interfaces.
    StreamCollideInterface,
    /// Streams and collides blocks at refinement interfaces and walls.
    StreamCollideInterfaceWalls,
    /// Streams and collides blocks with solids, away from refinement interfaces.
    StreamCollideSolid,
    /// Streams and collides cells of covered blocks.
    StreamCollideHeld,
    /// Streams and collides blocks at refinement interfaces, covered ones too, with links that faces cut.
    StreamCollideInterfaceSolid,
    /// Computes the values that cells expose to their neighbours.
    Expose,
    /// Computes the values that coarse cells at interfaces expose to finer cells in the first of their steps.
    ExposeStored,
    /// Fills the inbox with values that cells of other levels expose.
    ExposeAcross,
    /// Sums the exchange between solids and the fluid.
    Exchange,
    /// Gives surfaces under boundary layers the velocities with which they slide.
    Slide,
    /// Fills the inbox of finer blocks with what coarse cells send.
    ToFine,
    /// Fills the inbox of fine blocks at walls with what enters from coarser blocks.
    ToFineWalls,
    /// In the only set of populations: the part of [`Phase::ToCoarse`] that the first step of the finer level replaces.
    ToCoarseBefore,
    /// The same of [`Phase::ToCoarseWalls`].
    ToCoarseWallsBefore,
    /// In the only set of populations: brings those of a level back that other levels read.
    BringBack,
    /// Fills the inbox of coarse blocks with what leaves fine cells.
    ToCoarse,
    /// Fills the inbox of coarse blocks at walls with what enters from finer blocks.
    ToCoarseWalls,
    /// Averages over finer cells, into covered blocks.
    Restrict,
    /// Computes the populations from which ghosts are interpolated.
    Send,
    /// Interpolates ghosts.
    Prolong,
    /// Evaluates the formulas of walls.
    Prescribe,
    /// Moves solids: cuts links again, and finds the cells that solids have left.
    Move,
    /// Fills the cells that solids have left.
    Refill,
    /// Advances the clock of the formulas of walls.
    Tick,
    /// Halo exchange between subdomains.
    Halo,
    /// Exchange of saved populations for ghosts between subdomains.
    HaloSaved,
}

/// What a phase launches: kernels of the method, of which a bundle has those that it needs, or a kernel that evaluates formulas of time.
enum Kernels {
    Method(&'static [Role]),
    Prescribed(PrescribedRole),
}

/// What a phase works on in each subdomain.
#[derive(Clone, Copy)]
pub(crate) enum Items {
    /// Leaves of its level in one group.
    Leaves(Group),
    /// Blocks at walls and refinement interfaces, of its level or of the next finer level.
    AtBoth { finer: bool },
    /// Blocks with cut links, away from refinement interfaces or at them.
    Cut { at_interfaces: bool },
    /// Covered blocks.
    Covered,
    /// Cells next to refined cells.
    Cells,
    /// Items that the phase lists itself, or none.
    Own,
}

/// The levels on which a phase reads neighbouring blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadLevels {
    Nothing,
    /// Its own level.
    Level,
    /// Its own level and the next finer one.
    Both,
    /// Its own level, and those beside it.
    All,
}

struct Row(Phase, &'static str, Items, ReadLevels, Kernels);

/// The phases, those of the exchange between levels behind those that stream: each with its name in reports, the items that it works on, the levels on which it reads neighbouring
/// blocks, and its kernels.
const ROWS: [Row; 28] = [
    Row(
        Phase::StreamCollide,
        "stream_collide",
        Leaves(Group::Interior),
        Level,
        Method(&[Role::StreamCollide, Role::ExposeStreamCollide, Role::CollideOut, Role::CollideBack]),
    ),
    Row(
        Phase::StreamCollideWalls,
        "stream_collide_walls",
        Leaves(Group::Walls),
        Level,
        Method(&[Role::StreamCollideWalls, Role::CollideOutWalls, Role::CollideBackWalls]),
    ),
    Row(
        Phase::StreamCollideInterface,
        "stream_collide_interface",
        Leaves(Group::Jump),
        Level,
        Method(&[
            Role::StreamCollideInterface,
            Role::StreamCollideGhosts,
            Role::CollideOutInterface,
            Role::CollideBackInterface,
        ]),
    ),
    Row(
        Phase::StreamCollideInterfaceWalls,
        "stream_collide_interface_walls",
        Leaves(Group::Both),
        Level,
        Method(&[
            Role::StreamCollideInterfaceWalls,
            Role::StreamCollideGhostsWalls,
            Role::CollideOutInterfaceWalls,
            Role::CollideBackInterfaceWalls,
        ]),
    ),
    Row(
        Phase::StreamCollideSolid,
        "stream_collide_solid",
        Cut { at_interfaces: false },
        Level,
        Method(&[Role::StreamCollideSolid, Role::CollideOutSolid, Role::CollideBackSolid]),
    ),
    Row(
        Phase::StreamCollideHeld,
        "stream_collide_held",
        Covered,
        Level,
        Method(&[Role::StreamCollideGhosts, Role::StreamCollideGhostsWalls]),
    ),
    Row(
        Phase::StreamCollideInterfaceSolid,
        "stream_collide_interface_solid",
        Cut { at_interfaces: true },
        Level,
        Method(&[
            Role::StreamCollideInterfaceSolid,
            Role::StreamCollideGhostsSolid,
            Role::CollideOutInterfaceSolid,
            Role::CollideBackInterfaceSolid,
        ]),
    ),
    Row(
        Phase::Expose,
        "expose",
        Own,
        Level,
        Method(&[
            Role::Expose,
            Role::ExposeWalls,
            Role::ExposeInterface,
            Role::ExposeInterfaceWalls,
            Role::ExposeSolid,
            Role::ExposeInterfaceSolid,
        ]),
    ),
    Row(Phase::ExposeStored, "expose_stored", Own, Nothing, Method(&[Role::ExposeStored])),
    Row(Phase::ExposeAcross, "expose_across", Own, All, Method(&[Role::ExposeAcross])),
    Row(Phase::Exchange, "exchange", Own, Level, Method(&[Role::Force])),
    Row(Phase::Slide, "slide", Own, Level, Method(&[Role::Slide])),
    Row(Phase::ToFine, "to_fine", Cells, Both, Method(&[Role::ToFine])),
    Row(Phase::ToFineWalls, "to_fine_walls", AtBoth { finer: true }, Both, Method(&[Role::ToFineWalls])),
    Row(Phase::ToCoarseBefore, "to_coarse_before", Cells, Both, Method(&[Role::ToCoarse])),
    Row(
        Phase::ToCoarseWallsBefore,
        "to_coarse_walls_before",
        AtBoth { finer: false },
        Both,
        Method(&[Role::ToCoarseWalls]),
    ),
    Row(Phase::BringBack, "bring_back", Own, Level, Method(&[Role::BringBack])),
    Row(Phase::ToCoarse, "to_coarse", Cells, Both, Method(&[Role::ToCoarse])),
    Row(Phase::ToCoarseWalls, "to_coarse_walls", AtBoth { finer: false }, Both, Method(&[Role::ToCoarseWalls])),
    Row(Phase::Restrict, "restrict", Own, Nothing, Method(&[Role::Restrict])),
    Row(Phase::Send, "send", Own, Nothing, Method(&[Role::Send])),
    Row(Phase::Prolong, "prolong", Own, Nothing, Method(&[Role::Prolong])),
    Row(Phase::Prescribe, "prescribe", Own, Nothing, Prescribed(PrescribedRole::Prescribe)),
    Row(Phase::Move, "move", Own, Nothing, Method(&[])),
    Row(Phase::Refill, "refill", Own, Level, Method(&[Role::Refill])),
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
            // The index of a row is the number of its phase.
            assert!(ROWS[at].0 as usize == at);
            all[at] = ROWS[at].0;
            at += 1;
        }
        all
    };

    /// The phases that fill the inbox before the first step of the next finer level, then in the only set of populations, and after that step.
    pub(crate) const TO_FINE: [Phase; 2] = [Phase::ToFine, Phase::ToFineWalls];
    pub(crate) const TO_COARSE_BEFORE: [Phase; 2] = [Phase::ToCoarseBefore, Phase::ToCoarseWallsBefore];
    pub(crate) const TO_COARSE: [Phase; 2] = [Phase::ToCoarse, Phase::ToCoarseWalls];

    /// The phases in which populations stream. The first four stream disjoint groups of leaves. The others stream some of these blocks
    /// again, or covered blocks.
    pub(crate) const STREAMING: [Phase; 7] = [
        Phase::StreamCollide,
        Phase::StreamCollideWalls,
        Phase::StreamCollideInterface,
        Phase::StreamCollideInterfaceWalls,
        Phase::StreamCollideSolid,
        Phase::StreamCollideHeld,
        Phase::StreamCollideInterfaceSolid,
    ];

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The items that it works on.
    pub(crate) fn items(self) -> Items {
        self.row().2
    }

    /// The levels on which it reads neighbouring blocks, in the current set of populations; the last may not exist.
    pub(crate) fn reads_blocks_around(self, level: usize) -> Range<usize> {
        match self.row().3 {
            Nothing => level..level,
            Level => level..level + 1,
            Both => level..level + 2,
            All => level.saturating_sub(1)..level + 2,
        }
    }

    /// The arrays that its kernels take, with their names.
    pub(crate) fn arrays(self) -> impl Iterator<Item = (&'static str, ArgType)> {
        let (method, prescribed) = match self.row().4 {
            Method(roles) => (roles, None),
            Prescribed(role) => (&[][..], Some(role)),
        };
        method.iter().flat_map(|role| role.arrays()).chain(prescribed.into_iter().flat_map(PrescribedRole::arrays))
    }

    /// Whether its blocks may be at walls.
    pub(crate) fn is_beside_walls(self) -> bool {
        use Phase::{StreamCollideHeld, StreamCollideInterfaceWalls, StreamCollideWalls};
        matches!(self, StreamCollideWalls | StreamCollideInterfaceWalls | StreamCollideHeld) || self.has_cut_links()
    }

    /// Whether its blocks have cut links.
    pub(crate) fn has_cut_links(self) -> bool {
        matches!(self.items(), Cut { .. })
    }

    /// Whether its blocks are at refinement interfaces.
    pub(crate) fn is_beside_levels(self) -> bool {
        use Phase::{
            StreamCollideHeld, StreamCollideInterface, StreamCollideInterfaceSolid, StreamCollideInterfaceWalls,
        };
        matches!(
            self,
            StreamCollideInterface | StreamCollideInterfaceWalls | StreamCollideInterfaceSolid | StreamCollideHeld
        )
    }

    /// Whether it reads saved populations of its level, including those of other subdomains.
    pub(crate) fn reads_saved(self) -> bool {
        matches!(self, Phase::Restrict | Phase::Prolong)
    }

    /// Whether it is communication between subdomains.
    pub(crate) fn crosses(self) -> bool {
        matches!(self, Phase::Halo | Phase::HaloSaved)
    }
}
