//! Parts of a method.

use super::Long;
use crate::diag::Code;

const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const INIT: &str = "init f[i] <- quadratic[i](rho, u);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::MissingPart,
        instead: INIT,
        text: "A method has a velocity set, macroscopic fields, populations made from those fields (`init`) and a \
               collision. Without one of them there is nothing to start from, to look at or to run.",
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
        text: "A collision must say what becomes of every population. One that is left out would keep whatever the memory \
               holds; a population that does not change says so: `f[(0, 0)] <- f[(0, 0)];`.",
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
               populations are no fields; give out the components or the invariant that is wanted.",
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
];
