//! Values: ranks, indices, constants.

use super::Long;
use crate::diag::Code;

const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const FEQ: &str = "let feq[i] = quadratic[i](rho, u);";
const RHO: &str = "let rho  = sum(i: f[i]);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::NotScalar,
        instead: FEQ,
        text: "A vector or a family stands where one number is due, or the ranks of two sides differ. A product of \
               vectors says which one it is: `dot(a, b)`, or an index written out.",
        wrong: "let feq[i] = w[i] * rho * (1 + u * c[i] / cs2);",
        right: "let feq[i] = w[i] * rho * (1 + dot(u, c[i]) / cs2);",
    },
    Long {
        code: Code::IndexCount,
        instead: FEQ,
        text: "A family is given more or fewer indices than it has. An equilibrium has one for each direction: \
               `quadratic[i]`.",
        wrong: "let feq[i] = quadratic(rho, u);",
        right: FEQ,
    },
    Long {
        code: Code::IndexKind,
        instead: RHO,
        text: "An index of one kind stands where another is due: an axis for a direction, say. Directions are no numbers; \
               name one by its velocity, `f[(1, 0)]`.",
        wrong: "let rho = sum(a: f[a]);",
        right: "let rho = sum(i: f[i]);",
    },
    Long {
        code: Code::OutOfRange,
        instead: FEQ,
        text: "An index lies outside the range of its family. Axes are 0, 1 and, in three dimensions, 2. Formulas that \
               use `dot` and `sum(a: ...)` hold in both.",
        wrong: "let usq = u[0]^2 + u[1]^2 + u[2]^2;\n    \
                let feq[i] = w[i] * rho * (1 + 3 * dot(c[i], u) + 9/2 * dot(c[i], u)^2 - 3/2 * usq);",
        right: "let usq = dot(u, u);\n    \
                let feq[i] = w[i] * rho * (1 + 3 * dot(c[i], u) + 9/2 * dot(c[i], u)^2 - 3/2 * usq);",
    },
    Long {
        code: Code::NotConstant,
        instead: RHO,
        text: "Indices, ranges, weights and filters shape the formula, so they must be known when it is \
               written out; populations, fields and parameters are known only in the running kernel. A choice that \
               depends on those is `if ... then ... else`.",
        wrong: "let rho = sum(i if f[i] > 0: f[i]);",
        right: "let rho = sum(i if dot(c[i], c[i]) >= 0: f[i]);",
    },
    Long {
        code: Code::NotWhole,
        instead: COLLIDE,
        text: "Indices and the ends of ranges are whole numbers.",
        wrong: "let rate = omega / (1 + u[1/2]^2);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega / (1 + u[1]^2);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::Arguments,
        instead: FEQ,
        text: "A function is called with more or fewer arguments than it has.",
        wrong: "let feq[i] = quadratic[i](rho);",
        right: FEQ,
    },
    Long {
        code: Code::NotCondition,
        instead: COLLIDE,
        text: "A condition compares: a number is neither true nor false, and a comparison is no number.",
        wrong: "let rate = if rho then omega else 1;\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = if rho > 1/2 then omega else 1;\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::DivisionByZero,
        instead: COLLIDE,
        text: "Something is divided by a constant that is zero, whatever the flow. What vanishes only in some state is \
               reported as E0604.",
        wrong: "let rate = omega / (3 * cs2 - 1);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega / (3 * cs2);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::NoSuchVelocity,
        instead: COLLIDE,
        text: "A direction is named by a velocity that the velocity set does not have.",
        wrong: "let rate = omega * f[(2, 0)] / rho;\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega * f[(1, 0)] / rho;\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::TooLarge,
        instead: COLLIDE,
        text: "Written out, the formula is larger than any kernel could be: a range or an exponent is too long, or \
               functions that call functions multiply. Kernels of a few thousand operations are usual.",
        wrong: "let rate = omega / (1 + sum(x in 0..4000, y in 0..4000: (rho + x)^2 * (rho + y)^2));\n    \
                f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega / (1 + sum(x in 0..4, y in 0..4: (rho + x)^2 * (rho + y)^2));\n    \
                f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::OutOfDomain,
        instead: COLLIDE,
        text: "A function is given a constant for which it has no value: logarithms are of positive numbers, roots of numbers that \
               are not negative, `asin` and `acos` of numbers from -1 to 1.",
        wrong: "let rate = omega / (2 + ln(cs2 - 1));\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega / (2 + ln(1 - cs2));\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::Neighbour,
        instead: COLLIDE,
        text: "`neighbour[i](x)`, `gradient[a](x)` and `laplacian(x)` read what the cells around one have. A pass over all cells stores it before any \
               of them collides, so it is made of the populations of one cell: not of what others have. They are for values of the spec and for \
               collisions; initial populations, functions of walls and couplings of levels have no such pass. On a refined grid they are made of what \
               the collision conserves, as a density or a velocity is: those behind a refinement interface are computed between two \
               collisions. Such a method takes a coupling of packets, as `volumetric_shifted` is, not of ghosts.",
        wrong: "let rate = omega / (1 + laplacian(laplacian(rho))^2);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
        right: "let rate = omega / (1 + laplacian(rho)^2);\n    f[i] <- f[i] + rate * (feq[i] - f[i]);",
    },
    Long {
        code: Code::DefaultRange,
        instead: "param omega in (0, 2);",
        text: "A parameter takes its default where none is given, so the default is a value that could be given: one between the ends of the \
               interval.",
        wrong: "param omega = 2 in (0, 2);",
        right: "param omega = 1 in (0, 2);",
    },
];
