//! Velocity sets.

use super::Long;
use crate::diag::Code;

const IMPORT: &str = "use lattices::D2Q9;";
const D2Q9: &str = "lattice D2Q9 {
    cs2 = 1/3;
    shell (0, 0): 4/9;
    shell (1, 0): 1/9;
    shell (1, 1): 1/36;
    isotropy 5;
}";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::NoLattice,
        instead: "lattice D2Q9;",
        text: "The velocity set says along which links populations travel and with which weights; without one no other \
               formula has a meaning. Importing or defining a set does not choose it.",
        wrong: "// `use lattices::D2Q9;` alone chooses nothing.",
        right: "lattice D2Q9;",
    },
    Long {
        code: Code::VelocityLength,
        instead: IMPORT,
        text: "Every velocity of a set has a component for each axis of the same space, two or three of them.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (0, 0): 4/9;\n    shell (1, 0, 0): 1/9;\n    shell (1, 1): 1/36;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::VelocityTwice,
        instead: IMPORT,
        text: "A velocity occurs twice. `shell (1, 0)` already stands for all permutations and signs: (1, 0), (-1, 0), \
               (0, 1) and (0, -1). One velocity has one population and one weight.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (0, 0): 4/9;\n    shell (1, 0): 1/9;\n    velocity (1, 0): 1/9;\n    \
                shell (1, 1): 1/36;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::WeightSum,
        instead: IMPORT,
        text: "At rest and at density 1 the populations are the weights, so weights that do not sum to one make or lose \
               mass. A weight is that of one velocity, not of its shell: four velocities of 1/9 sum to 4/9.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (0, 0): 4/9;\n    shell (1, 0): 4/9;\n    shell (1, 1): 1/9;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::NoOpposite,
        instead: IMPORT,
        text: "Some velocity has no reverse in the set. A fluid at rest would then have momentum, and a wall could not \
               send a population back where it came from.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    velocity (0, 0): 1/2;\n    velocity (1, 0): 1/4;\n    velocity (0, 1): 1/4;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::UnevenWeights,
        instead: IMPORT,
        text: "A velocity and its reverse have different weights: a fluid at rest would drift.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (0, 0): 4/9;\n    velocity (1, 0): 1/6;\n    velocity (-1, 0): 1/18;\n    \
                velocity (0, 1): 1/9;\n    velocity (0, -1): 1/9;\n    shell (1, 1): 1/36;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::Isotropy,
        instead: IMPORT,
        text: "The moments of the weights must be those of a Gaussian of variance cs2 through the order that the set \
               claims. Through order 5 the stress of a slow flow does not feel the axes of the lattice, which the \
               Navier-Stokes equations need; order 3 is enough for diffusion, order 7 for the heat flux. Weights, cs2 \
               or the claim are wrong.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (0, 0): 4/9;\n    shell (1, 0): 1/9;\n    shell (1, 1): 1/36;\n    \
                isotropy 7;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::LatticeSize,
        instead: IMPORT,
        text: "Directions are numbered in a byte, and a kernel holds all populations of a cell in registers: sets beyond \
               255 velocities are refused.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/3;\n    shell (1, 2, 3): 1/288;\n    shell (1, 2, 4): 1/288;\n    \
                shell (1, 2, 5): 1/288;\n    shell (1, 3, 4): 1/288;\n    shell (1, 3, 5): 1/288;\n    \
                shell (1, 4, 5): 1/288;\n}",
        right: D2Q9,
    },
    Long {
        code: Code::PopulationsAxes,
        instead: IMPORT,
        text: "All populations of a method live in the same cells, so their velocity sets have the same number of axes.",
        wrong: "use lattices::{D2Q9, D3Q7};\npopulations g on D3Q7;",
        right: IMPORT,
    },
    Long {
        code: Code::LongVelocity,
        instead: IMPORT,
        text: "The set has velocities of more than one cell in a step: a multi-speed set. `lbmc check` proves what it proves of others, but \
               kernels stream from the next cells alone, so there are none: `lbmc gen` and `lbmc run` refuse such a method.",
        wrong: "lattice D2Q9 {\n    cs2 = 1/2;\n    shell (0, 0): 3/8;\n    shell (1, 0): 1/12;\n    shell (1, 1): 1/16;\n    \
                shell (2, 0): 1/96;\n}",
        right: IMPORT,
    },
];
