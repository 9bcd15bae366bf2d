//! Laws that a method must obey.

use super::Long;
use crate::diag::Code;

const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const INIT: &str = "init f[i] <- quadratic[i](rho, u);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::Mass,
        instead: COLLIDE,
        text: "The populations after collision do not sum to what they summed before. Particles that collide neither \
               appear nor vanish: the continuity equation is this sum. The law is decided in exact arithmetic, so a \
               defect is none of rounding. Mostly the equilibrium has another density than the \
               populations, or a weight is missing.",
        wrong: "f[i] <- f[i] + omega * (quadratic[i](1, u) - f[i]) + 0 * feq[i];",
        right: COLLIDE,
    },
    Long {
        code: Code::Momentum,
        instead: COLLIDE,
        text: "Collision changes the momentum sum(i: c[i, a] * f[i]), without any force. The Navier-Stokes equations are \
               the balance of this momentum; a defect acts like a force that nobody meant. Vector parameters count as \
               forces and are zero in this test.",
        wrong: "f[i] <- f[i] + omega * (w[i] * rho - f[i]) + 0 * feq[i];",
        right: COLLIDE,
    },
    Long {
        code: Code::InitFields,
        instead: INIT,
        text: "Populations that `init` makes from given fields have other fields: a flow would start with another density \
               or velocity than the case asks for. An equilibrium of the given density and velocity has both.",
        wrong: "init f[i] <- w[i] * rho;",
        right: INIT,
    },
    Long {
        code: Code::UndefinedValue,
        instead: COLLIDE,
        text: "Somewhere the collision divides by zero or takes the root of a negative number in a state that a flow \
               reaches: at rest, where velocity and all non-equilibrium parts vanish, or near it. One such cell is NaN, \
               and a few steps later the whole flow is. Define the value there.",
        wrong: "let rate = omega * u[0]^2 / dot(u, u);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = if dot(u, u) > 0 then omega * u[0]^2 / dot(u, u) else omega;\n    \
                f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::NotConserved,
        instead: "",
        text: "Every further set of populations transports a scalar, say a concentration: the sum of g is its amount. \
               The collision must conserve that sum, and whatever the spec states with `conserve`. An equilibrium with \
               the same sum does.",
        wrong: "use lattices::{D2Q5, D2Q9};

lattice D2Q9;
populations g on D2Q5;

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
    g[i] <- g[i] + omega * (w[i] * phi^2 - g[i]);
}",
        right: "use lattices::{D2Q5, D2Q9};

lattice D2Q9;
populations g on D2Q5;

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
    g[i] <- g[i] + omega * (w[i] * phi - g[i]);
}",
    },
    Long {
        code: Code::ForceUnit,
        instead: "",
        text: "The unit of a parameter says what it is on a finer level, where cells and steps are half as large. The \
               compiler finds that this one is added to the momentum of a cell in every step, so it is a force per \
               volume, or an acceleration: a length over the square of a time, with the density at rest for 1. With \
               another unit, the force would differ between levels.",
        wrong: "use lattices::D2Q9;
use equilibria::quadratic;
use forces::guo;

lattice D2Q9;

param omega in (0, 2);
param force[a]: length / time;

let rho  = sum(i: f[i]);
let u[a] = (sum(i: c[i, a] * f[i]) + force[a] / 2) / rho;

field rho;
field u;

init f[i] <- quadratic[i](rho, u) - guo[i](u, force) / 2;

collide {
    f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]) + (1 - omega / 2) * guo[i](u, force);
}",
        right: "use lattices::D2Q9;
use equilibria::quadratic;
use forces::guo;

lattice D2Q9;

param omega in (0, 2);
param force[a]: length / time^2;

let rho  = sum(i: f[i]);
let u[a] = (sum(i: c[i, a] * f[i]) + force[a] / 2) / rho;

field rho;
field u;

init f[i] <- quadratic[i](rho, u) - guo[i](u, force) / 2;

collide {
    f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]) + (1 - omega / 2) * guo[i](u, force);
}",
    },
];
