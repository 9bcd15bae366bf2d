//! The boundary layer above the surface of a solid: laws of the wall.

use lbm_runtime::solver::{Velocity, WallLaw};
use std::sync::Arc;

use super::formula::Formula;

/// Heights over `nu / u_t`, and those of roughness.
pub(super) const NAMES: [&str; 2] = ["y_plus", "k_plus"];

/// Height above a surface at which its law applies, in cells, if a case says nothing.
pub(super) const SAMPLE: f64 = 3.5;

/// Laws by name, u+ of y+. Reichardt, Z. Angew. Math. Mech. 31 (1951) 208, less what sand grains take (Colebrook's transition to Nikuradse's
/// fully rough walls, `u+ = 2.5 ln(y/k) + 8.5`); Werner & Wengle, Turbulent Shear Flows 8 (1993) 155.
pub(super) const LAWS: [(&str, &str); 2] = [
    (
        "reichardt",
        "2.5*ln(1 + 0.4*y_plus) + 7.8*(1 - exp(-y_plus/11) - y_plus/11*exp(-y_plus/3)) - 2.5*ln(1 + 0.3*k_plus)",
    ),
    ("werner_wengle", "min(y_plus, 8.3*y_plus^(1/7))"),
];

/// The boundary layer above a surface, in cells of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// u+, of `y_plus` and `k_plus`.
    pub law: Formula,
    /// Height at which it applies, in cells of the level of the surface.
    pub sample: f64,
    /// Height of the grains of its roughness.
    pub roughness: f64,
    /// Viscosity of the fluid.
    pub viscosity: f64,
    /// The velocity of the surface along itself, for each axis a formula of the position; none of a surface at rest.
    pub velocity: Vec<Formula>,
}

/// Von Karman's constant.
const KARMAN: f64 = 0.41;

/// The mixing length at a height below a law of the wall that applies at `sample`, all in cells: that of Prandtl, the constant of von Karman times
/// the height, in the outermost cells, whose eddies the grid has no room for; from three sevenths of the sample on it falls, and is 0 from
/// eight sevenths on. So eddies that cells resolve take over where the law is read (with more, these are damped, and the flow above is too
/// fast; with none, cells below the sample are too slow: `benchmarks/askew.py`).
pub(super) fn mixing_length(height: f64, sample: f64) -> f64 {
    KARMAN * height.min(0.6 * (highest(sample) - height)).max(0.0)
}

/// The height from which on there is no mixing length.
fn highest(sample: f64) -> f64 {
    8.0 / 7.0 * sample
}

impl Layer {
    /// Height from which on cells have no mixing length, in cells of the level of the surface.
    pub(super) fn highest(&self) -> f64 {
        highest(self.sample)
    }

    /// The law for the solver.
    pub fn law(&self) -> WallLaw {
        let law = self.law.get().clone();
        let plus = move |y: f64, k: f64| {
            let named =
                |name: &str| [y, k].into_iter().zip(NAMES).find(|(_, known)| *known == name).map(|(value, _)| value);
            law.value(&named).unwrap_or(f64::NAN)
        };
        let Layer { sample, roughness, viscosity, .. } = *self;
        let formulas = self.velocity.clone();
        let velocity = move |at: [f64; 3]| {
            let mut found = [0.0; 3];
            found.iter_mut().zip(&formulas).for_each(|(of, formula)| *of = formula.at(at, 0.0));
            found
        };
        let velocity = (!self.velocity.is_empty()).then(|| Arc::new(velocity) as Velocity);
        WallLaw { plus: Arc::new(plus), sample, viscosity, roughness, velocity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixing_length_rises_with_the_height_and_ends_above_the_sample() {
        for sample in [1.0, 2.5, 3.5, 7.0] {
            let at = |height: f64| mixing_length(height, sample);
            assert_eq!(at(0.0), 0.0);
            assert!((at(0.4 * sample) - 0.41 * 0.4 * sample).abs() < 1e-12);
            // Its greatest value, from both sides.
            assert!((at(3.0 / 7.0 * sample) - 0.41 * 3.0 / 7.0 * sample).abs() < 1e-12);
            assert!(at(sample) > 0.0 && at(sample) < 0.1 * sample);
            assert_eq!(at(8.0 / 7.0 * sample), 0.0);
            assert_eq!(at(2.0 * sample), 0.0);
        }
    }
}
