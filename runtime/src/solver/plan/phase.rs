//! The phases of a time step.

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

impl Phase {
    /// All phases in the order of a step.
    pub const ALL: [Phase; 20] = [
        Phase::StreamCollide,
        Phase::StreamCollideWalls,
        Phase::StreamCollideInterface,
        Phase::StreamCollideInterfaceWalls,
        Phase::StreamCollideSolid,
        Phase::StreamCollideHeld,
        Phase::Expose,
        Phase::Exchange,
        Phase::ToFine,
        Phase::ToFineWalls,
        Phase::ToCoarse,
        Phase::ToCoarseWalls,
        Phase::Restrict,
        Phase::Send,
        Phase::Prolong,
        Phase::Prescribe,
        Phase::Move,
        Phase::Tick,
        Phase::Halo,
        Phase::HaloSaved,
    ];

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

    /// Levels of whose blocks it reads those beside others, of the set that is current.
    pub(crate) fn reads_blocks_around(self, level: usize) -> std::ops::Range<usize> {
        match self {
            Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => level..level + 2,
            Phase::Move | Phase::Expose | Phase::Exchange => level..level + 1,
            _ if Phase::STREAMING.contains(&self) => level..level + 1,
            _ => level..level,
        }
    }

    /// Whether it reads what blocks of its level save for ghosts, those of other parts too.
    pub(crate) fn reads_saved(self) -> bool {
        matches!(self, Phase::Restrict | Phase::Prolong)
    }

    /// Whether it is what crosses between parts.
    pub(crate) fn crosses(self) -> bool {
        matches!(self, Phase::Halo | Phase::HaloSaved)
    }

    /// Name as in reports.
    pub fn name(self) -> &'static str {
        [
            "stream_collide",
            "stream_collide_walls",
            "stream_collide_interface",
            "stream_collide_interface_walls",
            "stream_collide_solid",
            "stream_collide_held",
            "expose",
            "exchange",
            "to_fine",
            "to_fine_walls",
            "to_coarse",
            "to_coarse_walls",
            "restrict",
            "send",
            "prolong",
            "prescribe",
            "move",
            "tick",
            "halo",
            "halo_saved",
        ][self as usize]
    }
}
