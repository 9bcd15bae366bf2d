//! What kernels on plain arrays take ([`Layout::Soa`](crate::Layout)): a box of the caller's arrays in the place of lists of slots.

use crate::Role;
use crate::args::{Declared, declared};

/// Arguments and indices that boxes of two axes do not have.
pub(crate) const BEYOND_TWO_AXES: [&str; 2] = ["nz", "stride_z"];

/// The bounds of the box, then the arrays.
macro_rules! of_box {
    ($($arrays:tt)*) => {
        declared! {
            nx: value Int "cells along x",
            ny: value Int "cells along y",
            nz: value Int "cells along z",
            stride_y: value Long "values from a cell to the next along y (along x it is 1)",
            stride_z: value Long "values from a cell to the next along z",
            stride_i: value Long "values from a direction (or component of the fields) to the next",
            $($arrays)*
            params: value Params "parameters of the method",
        }
    };
}

/// What the kernel of a role takes; nothing where there is none.
pub(crate) fn declared(role: Role) -> Vec<Declared> {
    match role {
        Role::Init => of_box! {
            fields: read Real [fields][nz][ny][nx] in lattice "macroscopic fields: {fields}",
            dst: write Real [q][nz][ny][nx] in lattice "initial populations",
        },
        Role::StreamCollide => of_box! {
            src: read Real [q][nz][ny][nx] in lattice "post-collision populations and a layer of ghost cells",
            dst: write Real [q][nz][ny][nx] in lattice "new post-collision populations",
        },
        Role::StreamCollideTangent => of_box! {
            src: read Real [q][nz][ny][nx] in lattice "post-collision populations and a layer of ghost cells",
            src_change: read Real [q][nz][ny][nx] in lattice "their changes, with a layer of ghost cells",
            dst_change: write Real [q][nz][ny][nx] in lattice "changes of the new post-collision populations",
            params_change: value Params "changes of the parameters",
        },
        Role::StreamCollideAdjoint => of_box! {
            src: read Real [q][nz][ny][nx] in lattice "post-collision populations and a layer of ghost cells",
            dst_adjoint: read Real [q][nz][ny][nx] "derivatives by the populations after the step",
            src_adjoint: write Real [q][nz][ny][nx] "derivatives by src, with a layer of ghost cells",
        },
        Role::StreamCollideAdjointParameters => of_box! {
            src: read Real [q][nz][ny][nx] in lattice "post-collision populations and a layer of ghost cells",
            dst_adjoint: read Real [q][nz][ny][nx] "derivatives by the populations after the step",
            src_adjoint: write Real [q][nz][ny][nx] "derivatives by src, with a layer of ghost cells",
            params_adjoint: write Real [members][nz][ny][nx]
                "derivatives by the parameters as each cell takes them, which are added to what is there: {members}",
        },
        Role::Macroscopic => of_box! {
            src: read Real [q][nz][ny][nx] in lattice "post-collision populations",
            fields: write Real [fields][nz][ny][nx] in lattice "macroscopic fields: {fields}",
        },
        Role::Collide => declared! {
            count: count Int "how many states there are",
            src: read Real [q][count] in lattice "populations before the collision",
            dst: write Real [q][count] in lattice "populations after the collision",
            params: value Params "parameters of the method",
        },
        _ => vec![],
    }
}
