//! Couplings of levels, and what a grid follows.

use super::Long;
use crate::diag::Code;

const LAST: &str = "boundary moving_wall;";
const HOMOGENEOUS: &str = "boundary moving_wall;

coupling homogeneous {
    rate omega <- 2 * omega / (4 - omega);
    packet f[i] <- f[i];
}";
const INTERPOLATED: &str = "boundary moving_wall;

use stencils::linear;

coupling interpolated {
    rate omega <- 2 * omega / (4 - omega);
    let r = (4 - omega) / 4;
    ghosts 2;
    fine   f[i] <- linear(equilibrium[i] + r * (f[i] - equilibrium[i]));
    coarse f[i] <- mean(equilibrium[i] + (f[i] - equilibrium[i]) / r);
}";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::CouplingForm,
        instead: LAST,
        text: "A coupling is one of two kinds. Volumetric: each population of a coarse cell is a packet for each child, \
               and `packet` defines its value; packets that arrive are averaged without a formula. Interpolated: \
               `ghosts n;` is the number of layers of ghost cells on the fine level, `fine` fills them by interpolation \
               with a stencil, `coarse` averages the children of a coarse cell.",
        wrong: "boundary moving_wall;

coupling copied {
    ghosts 2;
    fine   f[i] <- f[i];
    coarse f[i] <- f[i];
}",
        right: INTERPOLATED,
    },
    Long {
        code: Code::CouplingConservation,
        instead: LAST,
        text: "The packets of a cell must have the mass and momentum of the cell; else both drift in every step at \
               every refinement interface. Where packets differ, subtract the mean of the difference.",
        wrong: "boundary moving_wall;

coupling leaking {
    rate omega <- 2 * omega / (4 - omega);
    packet f[i] <- f[i] * (1 + kind / 10);
}",
        right: HOMOGENEOUS,
    },
    Long {
        code: Code::CouplingConsistency,
        instead: LAST,
        text: "A uniform flow must cross a refinement interface unchanged: what is transferred must be the equilibrium \
               of the same density and velocity.",
        wrong: "boundary moving_wall;

coupling uneven {
    rate omega <- 2 * omega / (4 - omega);
    packet f[i] <- f[i] * (1 + kind - mean(kind));
}",
        right: HOMOGENEOUS,
    },
    Long {
        code: Code::LevelViscosity,
        instead: LAST,
        text: "Cells and steps of the finer level are half as large, so the same fluid has twice the viscosity in units of \
               that level. A rate that is the same on both levels makes another fluid of it.",
        wrong: "boundary moving_wall;

coupling same_rate {
    packet f[i] <- f[i];
}",
        right: HOMOGENEOUS,
    },
    Long {
        code: Code::LevelStress,
        instead: LAST,
        text: "The non-equilibrium part of a population before collision is the stress times the relaxation time in \
               steps of its level. Without rescaling, the stress differs on the two sides of a refinement interface. \
               Dupuis & Chopard, Phys. Rev. E 67 (2003) 066707, give the factor.",
        wrong: "boundary moving_wall;

use stencils::linear;

coupling not_rescaled {
    rate omega <- 2 * omega / (4 - omega);
    ghosts 2;
    fine   f[i] <- linear(f[i]);
    coarse f[i] <- mean(f[i]);
}",
        right: INTERPOLATED,
    },
    Long {
        code: Code::GhostLayers,
        instead: LAST,
        text: "Ghosts are filled once in a coarse step and take two fine steps. In each, populations enter from beyond \
               the outermost layer, where there are no values: as many layers become invalid as a population crosses \
               cells.",
        wrong: "boundary moving_wall;

use stencils::linear;

coupling thin {
    rate omega <- 2 * omega / (4 - omega);
    let r = (4 - omega) / 4;
    ghosts 1;
    fine   f[i] <- linear(equilibrium[i] + r * (f[i] - equilibrium[i]));
    coarse f[i] <- mean(equilibrium[i] + (f[i] - equilibrium[i]) / r);
}",
        right: INTERPOLATED,
    },
    Long {
        code: Code::CriterionForm,
        instead: LAST,
        text: "A criterion is a formula of the method's fields, which it takes by their names, and of their derivatives, \
               `gradient[a](u[b])`. Only what has the same unit is added, compared or chosen from: the velocity of `u`, a \
               length in the denominator of a gradient. A case then states its threshold in these units.",
        wrong: "boundary moving_wall;

criterion shear(u[a]) = gradient[1](u[0]) + u[0];",
        right: "boundary moving_wall;

criterion shear(u[a]) = gradient[1](u[0]) + gradient[0](u[1]);",
    },
];
