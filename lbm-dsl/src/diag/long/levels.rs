//! Stencils between levels.

use super::Long;
use crate::diag::Code;

const LAST: &str = "boundary moving_wall;";
const LINEAR: &str = "boundary moving_wall;

stencil linear {
    space 1, x;
    value at 1/4;
    points 0, 1;
}";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::Unisolvence,
        instead: LAST,
        text: "A stencil is the polynomial of its space through the samples. Some polynomial of this space vanishes at \
               all the points, so any multiple of it could be added and the weights are not determined. Take another \
               space or other points.",
        wrong: "boundary moving_wall;

stencil odd {
    space 1, x, x^3;
    value at 1/4;
    points -1, 0, 1;
}",
        right: "boundary moving_wall;

stencil parabola {
    space 1, x, x^2;
    value at 1/4;
    points -1, 0, 1;
}",
    },
    Long {
        code: Code::TooManyPoints,
        instead: LAST,
        text: "There are more samples than polynomials in the space, so no polynomial meets them all and the weights are a \
               matter of choice. Take as many points as polynomials.",
        wrong: "boundary moving_wall;

stencil line {
    space 1, x;
    value at 1/4;
    points -1, 0, 1;
}",
        right: LINEAR,
    },
    Long {
        code: Code::PartitionOfUnity,
        instead: LAST,
        text: "The weights do not sum to one: a uniform flow would change where it crosses to another level. A space \
               that contains the constant 1 prevents it.",
        wrong: "boundary moving_wall;

stencil through_zero {
    space x, x^2;
    value at 1/4;
    points -1, 1;
}",
        right: LINEAR,
    },
    Long {
        code: Code::NotConservative,
        instead: LAST,
        text: "The children that such a stencil fills have another mean than their parent, so refining a block would make or \
               lose mass and momentum. The child on the other side uses the mirror image: together they conserve where the \
               points are symmetric, or where the mirrored points are listed too.",
        wrong: "boundary moving_wall;

stencil lopsided {
    space 1, x;
    mean over (0, 1/2);
    points 0, 1;
}",
        right: "boundary moving_wall;

stencil balanced {
    space 1, x, x^2;
    mean over (0, 1/2);
    points -1, 0, 1;
}",
    },
];
