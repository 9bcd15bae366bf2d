//! The boundary layer above a surface against the method and the flow.

use lbm_bundle::{Param, Unit, slides};
use lbm_runtime::geometry::solid::Vector;

use super::resolver::{Grid, Resolver};
use crate::case::diag::{self, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::layer::RawLayer;
use crate::case::keys::params::RawParam;
use crate::case::layer::{LAWS, Layer, NAMES, SAMPLE};
use crate::case::units::{Dimension, Units};
use crate::case::words;

/// Least height at which it may apply: above the cells whose links the surface cuts.
const LOWEST: f64 = 1.0;

/// Values of y+ at which a law is looked at.
const HEIGHTS: [f64; 6] = [0.1, 1.0, 10.0, 100.0, 1e4, 1e6];

impl Resolver<'_> {
    /// The layer above a surface whose rule slides; `viscosity` is that of the fluid, if it is known, `near` are points on the surface.
    pub(super) fn layer(
        &mut self,
        rule: &Spanned<String>,
        raw: Option<&Spanned<RawLayer>>,
        moves: bool,
        (near, grid): (&[Vector], Grid),
        (units, viscosity): (&Units, Option<f64>),
    ) -> Option<Option<Layer>> {
        let boundary = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule.value);
        let slides = boundary.is_some_and(|boundary| slides::offsets_of(boundary, self.manifest.dim).is_some());
        if !slides {
            let Some(raw) = raw else { return Some(None) };
            let message = format!("`{}` does not slide: a law of the wall has no effect", rule.value);
            let help = "take `rule = \"sliding_wall\"`".to_string();
            self.report.add::<()>(diag::NO_EFFECT, &raw.span, message, "has no effect", help);
            return Some(None);
        }
        if moves {
            let message = format!("`{}` is for surfaces at rest", rule.value);
            let help = "take `interpolated_moving_wall`".to_string();
            return self.report.add(diag::NOT_FOR_SOLIDS, &rule.span, message, "the solid moves", help);
        }
        let raw = raw.map(|raw| &raw.value);
        let given = raw.and_then(|raw| raw.viscosity.as_ref());
        if let Some(given) = given.filter(|given| given.value <= 0.0) {
            return self.report.add(diag::BAD_VALUE, &given.span, "`viscosity` must be positive", "not positive", None);
        }
        let given = given.map(|given| given.value / units.scale(Dimension::VISCOSITY));
        let Some(viscosity) = given.or(viscosity) else {
            let message = "a law of the wall needs a viscosity, and that of the fluid is not one number";
            let help = "say which: `layer = { viscosity = ... }`".to_string();
            return self.report.add(diag::MISSING_KEY, &rule.span, message, "of an unknown viscosity", help);
        };
        let given = raw.and_then(|raw| raw.law.as_ref());
        let law = self.law(given)?;
        let most = self.manifest.block[..self.dim].iter().copied().min().unwrap_or(1) as f64;
        let sample = match raw.and_then(|raw| raw.sample.as_ref()) {
            None if SAMPLE > most => {
                let message = format!(
                    "the law of the wall applies {SAMPLE} cells above the surface: a block has {most} along an axis"
                );
                let help = format!("blocks of {} cells or more, or `layer = {{ sample = ... }}`", SAMPLE.ceil());
                return self.report.add(diag::BAD_VALUE, &rule.span, message, "above blocks of few cells", help);
            }
            None => SAMPLE,
            Some(given) => {
                if !(LOWEST..=most).contains(&given.value) {
                    let message =
                        format!("`sample` lies between {LOWEST} and {most} cells: a block has {most} along an axis");
                    return self.report.add(diag::BAD_VALUE, &given.span, message, "out of range", None);
                }
                given.value
            }
        };
        let roughness = match raw.and_then(|raw| raw.roughness.as_ref()) {
            None => 0.0,
            Some(given) if given.value < 0.0 => {
                return self.report.add(
                    diag::BAD_VALUE,
                    &given.span,
                    "`roughness` must not be negative",
                    "negative",
                    None,
                );
            }
            Some(given) if !law.get().names().contains(NAMES[1]) => {
                let message = "`roughness` has no effect: the law does not read `k_plus`";
                let help = "take `law = \"reichardt\"`, or add the roughness to the formula".to_string();
                self.report.add::<()>(diag::NO_EFFECT, &given.span, message, "has no effect", help);
                0.0
            }
            Some(given) => given.value / grid.cell,
        };
        let velocity = match raw.and_then(|raw| raw.velocity.as_ref()) {
            None => vec![],
            Some(given) => self.along_itself(given, (near, grid), units)?,
        };
        Some(Some(Layer { law, sample, roughness, viscosity, velocity }))
    }

    /// The velocity of a surface along itself.
    fn along_itself(
        &mut self,
        given: &RawParam,
        (near, grid): (&[Vector], Grid),
        units: &Units,
    ) -> Option<Vec<Formula>> {
        let (components, unit) = (self.dim as u32, Some(Unit { length: 1, time: -1 }));
        let (name, doc) = (given.name.value.clone(), String::new());
        let wanted = Param { name, components, default: None, range: None, unit, doc };
        let velocity = self.formulas(given, &wanted, units, grid, near)?;
        if velocity.iter().any(Formula::varies_in_time) {
            let message = "the velocity of a surface under a law of the wall is the same at all times";
            return self.report.add(diag::CANNOT_VARY, &given.span, message, "a formula of time", None);
        }
        self.subsonic(given, &velocity, near, units)?;
        Some(velocity)
    }

    /// u+ of y+.
    fn law(&mut self, given: Option<&Spanned<Formula>>) -> Option<Formula> {
        let Some(given) = given else { return Formula::parse_with_names(LAWS[0].1).ok() };
        let formula = given.value.clone();
        if let Some(name) = formula.get().names().into_iter().find(|name| !NAMES.contains(name)) {
            let message = format!("a law of the wall is a formula of `y_plus` and `k_plus`: there is no `{name}`");
            let known: Vec<&str> = LAWS.iter().map(|(name, _)| *name).chain(NAMES).collect();
            return self.report.add(diag::FORMULA, &given.span, message, "unknown name", words::suggest(name, &known));
        }
        let at = |y: f64| formula.get().value(&|name| Some(if name == NAMES[0] { y } else { 0.0 })).unwrap_or(f64::NAN);
        let values = HEIGHTS.map(at);
        if !values.iter().all(|value| value.is_finite() && *value > 0.0) || !values.is_sorted() {
            let message = "a law of the wall is positive, and does not fall where `y_plus` grows";
            return self.report.add(diag::FORMULA, &given.span, message, "no law of the wall", None);
        }
        Some(formula)
    }
}
