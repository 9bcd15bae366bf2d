//! The boundary layer above the surface of a solid: laws of the wall.

use lbm_runtime::solver::WallLaw;
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
}

impl Layer {
    /// The law for the solver.
    pub fn law(&self) -> WallLaw {
        let law = self.law.get().clone();
        let plus = move |y: f64, k: f64| {
            let named =
                |name: &str| [y, k].into_iter().zip(NAMES).find(|(_, known)| *known == name).map(|(value, _)| value);
            law.value(&named).unwrap_or(f64::NAN)
        };
        let Layer { sample, roughness, viscosity, .. } = *self;
        WallLaw { plus: Arc::new(plus), sample, viscosity, roughness }
    }
}
