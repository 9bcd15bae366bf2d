//! Parts of a method.

use super::Long;
use crate::diag::Code;

const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const LAST: &str = "boundary moving_wall;";
const INIT: &str = "init f[i] <- quadratic[i](rho, u);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::MissingPart,
        instead: INIT,
        text: "A method has a velocity set, macroscopic fields, populations made from those fields (`init`) and a \
               collision. Without one of them a flow cannot be initialised, written or computed.",
        wrong: "// No `init`: which populations does a flow start with?",
        right: INIT,
    },
    Long {
        code: Code::RepeatedPart,
        instead: "lattice D2Q9;",
        text: "A part that a method has once is given twice. Two collisions are two methods, in two files.",
        wrong: "lattice D2Q9;\nlattice D2Q9;",
        right: "lattice D2Q9;",
    },
    Long {
        code: Code::OutputMissing,
        instead: COLLIDE,
        text: "A collision must define every population. One that is left out would have an arbitrary value; for one \
               that does not change write `f[(0, 0)] <- f[(0, 0)];`.",
        wrong: "f[i if c[i, 0] == 0] <- f[i] + omega * (feq[i] - f[i]);",
        right: COLLIDE,
    },
    Long {
        code: Code::OutputTwice,
        instead: COLLIDE,
        text: "Two statements define the same population. Statements have no order, so neither could win.",
        wrong: "f[i] <- f[i] + omega * (feq[i] - f[i]);\n    f[(0, 0)] <- feq[(0, 0)];",
        right: COLLIDE,
    },
    Long {
        code: Code::FieldRank,
        instead: "field u;",
        text: "A field is written to files and set at the start as a number or as a vector of each cell. Tensors and \
               populations are no fields; give out the components or the invariant that is wanted, or `observe` a symmetric tensor.",
        wrong: "field u;\nlet stress[a, b] = sum(i: c[i, a] * c[i, b] * f[i]);\nfield stress;",
        right: "field u;",
    },
    Long {
        code: Code::InitReads,
        instead: INIT,
        text: "`init` makes the first populations from the fields, so there are none yet that it could read, directly or \
               through a `let`. Inside it, the names of the fields are what is given.",
        wrong: "init f[i] <- quadratic[i](sum(k: f[k]), u);",
        right: INIT,
    },
    Long {
        code: Code::UnknownLeft,
        instead: LAST,
        text: "Behind a wall there is no cell, so some populations of the outermost cells arrive from nowhere: at a \
               face those with `dot(c[i], n) > 0`, where walls meet those that enter through any of them. A wet-node \
               boundary condition must define each of them, at faces, edges and corners; `known(i)` is true for those \
               that have arrived.",
        wrong: "boundary moving_wall;\nboundary face { node f[i if dot(c[i], n) == 1 && known(opp(i))] <- f[opp(i)]; }",
        right: "boundary moving_wall;\nboundary all { node f[i if !known(i)] <- sent[opp(i)]; }",
    },
    Long {
        code: Code::UnknownRead,
        instead: LAST,
        text: "A wet-node boundary condition reads `streamed[i]`, what has arrived in the cell in this step; where \
               nothing has arrived there is no value to read. Where walls meet, a population and its opposite may both \
               be unknown.",
        wrong: "boundary moving_wall;\nboundary back { node f[i if !known(i)] <- streamed[opp(i)]; }",
        right: "boundary moving_wall;\nboundary back { node f[i if !known(i)] <- if known(opp(i)) then streamed[opp(i)] else w[i]; }",
    },
    Long {
        code: Code::FrameAxis,
        instead: LAST,
        text: "A wet-node boundary condition is written once and rotated to each wall, so that the normals come first. \
               Its axis 0 is no axis of the domain; the normal is `n`, and axes along the wall are those with `n[a] == \
               0`.",
        wrong: "boundary moving_wall;\nboundary out { node f[i if c[i, 0] > 0 || !known(i)] <- inside[i]; }",
        right: "boundary moving_wall;\nboundary out { node f[i if dot(c[i], n) > 0 || !known(i)] <- inside[i]; }",
    },
    Long {
        code: Code::Symmetry,
        instead: "",
        text: "Wet-node boundary conditions and symmetry planes are rotated to walls of all orientations, which maps \
               velocities onto each other. A velocity set that differs between axes is not mapped onto itself.",
        wrong: "lattice D2X {\n    cs2 = 1/3;\n    velocity (0, 0): 4/9;\n    velocity (1, 0): 2/9;\n    velocity (-1, 0): 2/9;\n    \
                velocity (0, 1): 1/18;\n    velocity (0, -1): 1/18;\n}\nlattice D2X;\nlet rho = sum(i: f[i]);\nfield rho;\ninit f[i] <- \
                w[i] * rho;\ncollide { f[i] <- f[i]; }\nboundary slip { link f[i] <- mirrored[i]; }",
        right: "use lattices::D2Q9;\nlattice D2Q9;\nlet rho = sum(i: f[i]);\nfield rho;\ninit f[i] <- w[i] * rho;\n\
                collide { f[i] <- f[i]; }\nboundary slip { link f[i] <- mirrored[i]; }",
    },
    Long {
        code: Code::ObservableRank,
        instead: LAST,
        text: "Output has numbers, vectors and symmetric tensors, whose indices run over the axes. Of a tensor that is not symmetric \
               observe its symmetric part, and what is antisymmetric as a vector.",
        wrong: "boundary moving_wall;\nobserve m[a, b] = j[a] * (u[b] + b);",
        right: "boundary moving_wall;\nobserve m[a, b] = j[a] * u[b];",
    },
    Long {
        code: Code::BeyondWall,
        instead: LAST,
        text: "`beyond` says what a value is behind a wall that a method reads of the cells around, by `neighbour`, `gradient` or `laplacian`, from \
               what the image of that place before the wall has, and parameters of the wall. Here nothing reads it, or the formula needs more.",
        wrong: "boundary moving_wall;

boundary wall {
    link f[i] <- f[opp(i)];
    beyond rho <- 1;
}",
        right: "boundary moving_wall;

boundary wall {
    link f[i] <- f[opp(i)];
}",
    },
    Long {
        code: Code::StepBefore,
        instead: LAST,
        text: "A wet-node boundary condition is applied after streaming: the populations that have arrived are \
               `streamed`. `f` is the state of the cell after the last collision, before streaming, so a density made \
               from it lags a step behind. Where that is meant, as in half-way reflection, say `sent`.",
        wrong: "boundary moving_wall;

boundary wall {
    node f[i if !known(i)] <- f[opp(i)];
}",
        right: "boundary moving_wall;

boundary wall {
    node f[i if !known(i)] <- sent[opp(i)];
}",
    },
];
