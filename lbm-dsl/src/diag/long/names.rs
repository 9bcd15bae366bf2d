//! Names.

use super::Long;
use crate::diag::Code;

const IMPORT: &str = "use equilibria::quadratic;";
const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const RHO: &str = "let rho  = sum(i: f[i]);";
const U: &str = "let u[a] = j[a] / rho;";
const FEQ: &str = "let feq[i] = quadratic[i](rho, u);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::Undefined,
        instead: COLLIDE,
        text: "A formula uses a name that nothing defines: a slip of the hand, or an import that is missing.",
        wrong: "f[i] <- f[i] + omga * (feq[i] - f[i]);",
        right: COLLIDE,
    },
    Long {
        code: Code::Unused,
        instead: "param omega in (0, 2);",
        text: "Something is defined or imported and nothing uses it. In a formula from a paper that mostly means that a \
               term was forgotten, which no other check can see. Remove it, or begin its name with `_` to keep it.",
        wrong: "param omega in (0, 2);\nparam omega_bulk in (0, 2);",
        right: "param omega in (0, 2);",
    },
    Long {
        code: Code::Shadowed,
        instead: COLLIDE,
        text: "A name inside a block hides one outside. The language would know which is meant; a reader would not.",
        wrong: "let j = omega / 2;\n    f[i] <- f[i] + 2 * j * (feq[i] - f[i]);",
        right: "let beta = omega / 2;\n    f[i] <- f[i] + 2 * beta * (feq[i] - f[i]);",
    },
    Long {
        code: Code::Duplicate,
        instead: RHO,
        text: "A name is defined twice. Names are values, not variables: they never change, and their order in the file \
               has no meaning.",
        wrong: "let rho = sum(i: f[i]);\nlet rho = 1;",
        right: "let rho = sum(i: f[i]);",
    },
    Long {
        code: Code::UnknownModule,
        instead: IMPORT,
        text: "`use` names a module that is neither a file beside the spec nor one of the shipped prelude, or a file that is there \
               and cannot be read.",
        wrong: "use equilibrium::quadratic;",
        right: IMPORT,
    },
    Long {
        code: Code::UnknownImport,
        instead: IMPORT,
        text: "The module exists, but does not define that name.",
        wrong: "use equilibria::second_order;",
        right: IMPORT,
    },
    Long {
        code: Code::Recursion,
        instead: U,
        text: "A function calls itself, perhaps through others. Functions are written out wherever they are called, so a \
               circle would never end.",
        wrong: "fn ratio(x, y) = ratio(x, y);\nlet u[a] = ratio(j[a], rho);",
        right: "fn ratio(x, y) = x / y;\nlet u[a] = ratio(j[a], rho);",
    },
    Long {
        code: Code::NameKind,
        instead: FEQ,
        text: "The name exists, but stands for another kind of thing: a function where a value is due, or the other way \
               round.",
        wrong: "let feq[i] = rho * quadratic;",
        right: FEQ,
    },
    Long {
        code: Code::NotVisible,
        instead: U,
        text: "The name exists, but not here. A function sees its arguments, the lattice and other functions; a \
               boundary condition sees the populations and its own parameters. So both mean the same wherever they are \
               used.",
        wrong: "fn over_density(x) = x / rho;\nlet u[a] = over_density(j[a]);",
        right: "fn over_density(x, density) = x / density;\nlet u[a] = over_density(j[a], rho);",
    },
    Long {
        code: Code::Ambiguous,
        instead: "",
        text: "The velocity sets of a method differ in what the name stands for: each has a speed of sound of its own. Say \
               whose it is: `g.cs2`.",
        wrong: "use lattices::{D3Q7, D3Q19};

lattice D3Q19;
populations g on D3Q7;

param velocity[a];
param omega in (0, 2);

let rho = sum(i: f[i]);
let phi = sum(i in g: g[i]);

field rho;
field phi;

init {
    f[i] <- w[i] * rho;
    g[i] <- w[i] * phi;
}

collide {
    f[i] <- f[i];
    g[i] <- g[i] + omega * (w[i] * phi * (1 + dot(c[i], velocity) / cs2) - g[i]);
}",
        right: "use lattices::{D3Q7, D3Q19};

lattice D3Q19;
populations g on D3Q7;

param velocity[a];
param omega in (0, 2);

let rho = sum(i: f[i]);
let phi = sum(i in g: g[i]);

field rho;
field phi;

init {
    f[i] <- w[i] * rho;
    g[i] <- w[i] * phi;
}

collide {
    f[i] <- f[i];
    g[i] <- g[i] + omega * (w[i] * phi * (1 + dot(c[i], velocity) / g.cs2) - g[i]);
}",
    },
    Long {
        code: Code::HidesShipped,
        instead: IMPORT,
        text: "A file beside the spec has the name of a shipped module, and is used in its place, also by shipped modules that \
               import from it. That may be meant, to try another equilibrium or wall; or it is a copy that was forgotten.",
        wrong: "use equilibria::quadratic;      // with a file equilibria.lbm beside the spec",
        right: "use equilibria::quadratic;",
    },
];
