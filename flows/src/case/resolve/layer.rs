//! The boundary layer above a surface against the method and the flow.

use lbm_bundle::{Param, Unit, slides};
use lbm_runtime::geometry::solid::Vector;

use super::resolver::{Grid, Resolver, short};
use crate::case::diag::{self, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::layer::RawLayer;
use crate::case::keys::params::RawParam;
use crate::case::layer::{LAWS, Layer, NAMES, SAMPLE};
use crate::case::units::{Dimension, Units};
use crate::case::words;

/// Least height at which it may apply: above the cells whose links the surface cuts.
const LOWEST: f64 = 1.0;

/// Values of y+ at which a law is looked at: from the first on, each larger by a factor, as many.
const HEIGHTS: (f64, f64, i32) = (0.01, 1.02, 1000);

/// Part by which a law may fall from one of these to the next: rounding.
const ROUNDING: f64 = 1e-12;

impl Resolver<'_> {
    /// Whether surfaces with a rule slide.
    fn slides(&self, rule: &Spanned<String>) -> bool {
        let boundary = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule.value);
        boundary.is_some_and(|boundary| slides::offsets_of(boundary, self.manifest.dim).is_some())
    }

    /// Warns of a layer above a solid no part of whose surface slides; `rules`: those of its parts.
    pub(super) fn needs_to_slide(&mut self, raw: &Spanned<RawLayer>, rules: &[&Spanned<String>]) {
        if rules.iter().any(|rule| self.slides(rule)) {
            return;
        }
        let names: Vec<String> = rules.iter().map(|rule| format!("`{}`", rule.value)).collect();
        let message = match &names[..] {
            [one] => format!("{one} does not slide: a law of the wall has no effect"),
            several => format!("{} do not slide: a law of the wall has no effect", several.join(" and ")),
        };
        let help = "take `rule = \"sliding_wall\"`".to_string();
        self.report.add::<()>(diag::NO_EFFECT, &raw.span, message, "has no effect", help);
    }

    /// The layer above a surface of a level, if its rule slides; `viscosity` is that of the fluid, if it is known, `near` are points on the surface.
    pub(super) fn layer(
        &mut self,
        rule: &Spanned<String>,
        raw: Option<&Spanned<RawLayer>>,
        moves: bool,
        (near, grid, level): (&[Vector], Grid, usize),
        (units, viscosity): (&Units, Option<f64>),
    ) -> Option<Option<Layer>> {
        if !self.slides(rule) {
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
            // What is wrong with the fluid has been said.
            if self.report.has_errors() {
                return None;
            }
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
            Some(given) => {
                let roughness = given.value / grid.cell;
                self.not_too_rough(&law, given, roughness * f64::from(1u32 << level) / sample)?;
                roughness
            }
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
        let mut before = 0.0;
        for (y, value) in values_of(&formula, 0.0) {
            if value.is_nan() || value <= 0.0 || value < before * (1.0 - ROUNDING) {
                let message = format!(
                    "a law of the wall is positive, and does not fall where `y_plus` grows: here it is {} at {}",
                    short(value),
                    short(y)
                );
                let help = "it has values of its own, without tables: `\"min(y_plus, 8.3*y_plus^(1/7))\"`".to_string();
                return self.report.add(diag::FORMULA, &given.span, message, "no law of the wall", help);
            }
            before = value;
        }
        Some(formula)
    }

    /// Refuses a roughness over which a law has no velocity at the height of the sample, both in cells of one level.
    fn not_too_rough(&mut self, law: &Formula, roughness: &Spanned<f64>, share: f64) -> Option<()> {
        let Some((y, value)) = values_of(law, share).find(|(_, value)| value.is_nan() || *value <= 0.0) else {
            return Some(());
        };
        let message = format!(
            "`roughness` is {} of the height at which the law of the wall applies: there u+ is {} at a y+ of {}",
            short(share),
            short(value),
            short(y)
        );
        let help =
            "less roughness, or a larger `sample`; equivalent grains are 30 times the roughness length".to_string();
        self.report.add(diag::BAD_VALUE, &roughness.span, message, "too rough", help)
    }
}

/// Values of a law at heights `y_plus`, where the roughness is a part of the height.
fn values_of(law: &Formula, share: f64) -> impl Iterator<Item = (f64, f64)> {
    let (first, factor, count) = HEIGHTS;
    (0..count).map(move |number| {
        let y = first * factor.powi(number);
        let named = |name: &str| Some(if name == NAMES[0] { y } else { share * y });
        (y, law.get().value(&named).unwrap_or(f64::NAN))
    })
}
