//! Kernels that gather what arrives in cells, each a product: an action with sources of values.
//!
//! A row of [`method_kernels!`](crate::method_kernels) with `gathers Action [source source]` is such a kernel; what it takes follows.

use crate::Role;
use crate::args::{Declared, declared};

/// What is done with that which arrives in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It collides.
    Collide,
    /// What cells show to those around them is stored beside their populations.
    Expose,
}

/// Where values come from; if from nowhere else, from the cell itself, where nothing streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Cells around.
    pub neighbours: bool,
    /// Walls of the domain.
    pub walls: bool,
    /// The inbox, which has what comes from other levels, of a coupling of packets.
    pub inbox: bool,
    /// Ghosts, which stand for cells of other levels; what streams in is kept for these.
    pub ghosts: bool,
    /// Links that solids cut.
    pub links: bool,
}

impl Role {
    /// The kernel that does this with what comes from there, if there is one.
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
        Action::Collide => declared! {
            src: read Stored [slot][rows][pitch] in lattice "post-collision populations",
            dst: write Stored [slot][rows][pitch] in lattice "new post-collision populations",
        },
        Action::Expose => declared! {
            populations: write Stored [slot][rows][pitch] in lattice "post-collision populations, and what cells show",
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
        (true, done),
        (true, declared! { params: value Params "parameters of the method", }),
    ];
    all.into_iter().filter(|(takes, _)| *takes).flat_map(|(_, lines)| lines).collect()
}
