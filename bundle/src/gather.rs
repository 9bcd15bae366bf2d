//! Kernels that gather the populations which arrive in cells: each is an action combined with sources.
//!
//! A row of [`method_kernels!`](crate::method_kernels) with `gathers Action [source source]` is such a kernel; its arguments follow from these.

use crate::Role;
use crate::args::{Declared, declared};

/// What a kernel does with the populations that arrive in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It collides.
    Collide,
    /// It stores the values that neighbours read, beside the populations.
    Expose,
    /// It computes the values that neighbours read, of its cells and of those around them, and collides: in one pass.
    ExposeCollide,
    /// It makes derivatives of an objective by them, of derivatives by what they become.
    CollideAdjoint,
    /// The same, of derivatives by what arrives in cells in the next step: what cells become is what is read there.
    StepAdjoint,
    /// It collides in the only set of populations. What a cell sends along a direction is stored where what arrives along the opposite one was
    /// read, which no other cell reads or writes: each population then stands in the cell that it arrives in, as that of the opposite direction.
    CollideOut,
    /// It collides in the only set of populations, after [`Self::CollideOut`]: all that arrives stands in the cell itself, and what a cell sends
    /// stays there.
    CollideBack,
    /// Nothing collides: after [`Self::CollideOut`], populations are brought back to the cells that have sent them.
    BringBack,
}

impl Action {
    /// Whether it works in the only set of populations.
    pub fn is_in_place(self) -> bool {
        matches!(self, Action::CollideOut | Action::CollideBack | Action::BringBack)
    }
}

/// Where populations come from. Without a source they are those of the cell itself: nothing streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Neighbouring cells.
    pub neighbours: bool,
    /// Walls of the domain.
    pub walls: bool,
    /// The inbox, which has the populations from other levels, for couplings of packets.
    pub inbox: bool,
    /// Ghost cells, which stand for cells of other levels; the populations that stream in are saved for them.
    pub ghosts: bool,
    /// Links that solids cut.
    pub links: bool,
}

impl Role {
    /// The kernel with this action and these sources, if there is one.
    pub fn of(action: Action, sources: Sources) -> Option<Role> {
        Role::ALL.iter().copied().find(|role| role.gathers() == Some((action, sources)))
    }
}

/// What the kernel takes.
pub(crate) fn arguments(action: Action, sources: Sources) -> Vec<Declared> {
    let Sources { neighbours, walls, inbox, ghosts, links } = sources;
    let around = match (walls, inbox || ghosts) {
        (false, false) => declared! { neighbours: read Int [slot][near] "slots of the neighbours at {place}", },
        (true, false) => declared! {
            neighbours: read Int [slot][near] "slots of the neighbours at {place}, or -(w + 1) for wall w",
        },
        (false, true) => declared! {
            neighbours: read Int [slot][near] "slots of the neighbours at {place}, or the least integer",
        },
        (true, true) => declared! {
            neighbours: read Int [slot][near]
                "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
        },
    };
    let done = match action {
        Action::CollideOut | Action::CollideBack | Action::BringBack => declared! {
            set: write Stored [slot][rows][pitch] in lattice "post-collision populations, replaced by new ones",
        },
        Action::Collide | Action::ExposeCollide => declared! {
            src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
            dst: write Stored [slot][rows][pitch] in lattice "new post-collision populations",
        },
        Action::Expose => declared! {
            populations: write Stored [slot][rows][pitch] in lattice "post-collision populations, and what cells show",
        },
        Action::CollideAdjoint => declared! {
            src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
            adjoint: write Stored [slot][rows][pitch] "derivatives by what cells become, replaced by those by what arrives in them",
            by_members: write Double [slot][members][cells]
                "derivatives by the parameters as each cell takes them, which are added to what is there: {members}",
        },
        Action::StepAdjoint => declared! {
            src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
            arrived: read Stored [slot][rows][pitch] "derivatives by what arrives in cells in the next step",
            adjoint: write Stored [slot][rows][pitch] "derivatives by what arrives in cells",
            by_members: write Double [slot][members][cells]
                "derivatives by the parameters as each cell takes them, which are added to what is there: {members}",
        },
    };
    let all = [
        (true, declared! { ids: list Int [count] "slots to work on", }),
        (neighbours, around),
        (inbox, declared! { inbox: group Inbox, }),
        (ghosts, declared! { ghosts: group Ghosts, }),
        (walls, declared! { walls: group Walls, }),
        (links, declared! { links: group Links, }),
        (ghosts, declared! { saved: write Real [row][q][cells] in lattice "what is kept for other levels", }),
        (walls && action == Action::StepAdjoint, declared! { by_groups: group ByGroups, }),
        (true, done),
        (action != Action::BringBack, declared! { params: value Params "parameters of the method", }),
    ];
    all.into_iter().filter(|(takes, _)| *takes).flat_map(|(_, lines)| lines).collect()
}
