//! An absorbing layer as parameters of the method, which every method gets.
//!
//! In: `[absorbing]`. Out: the rate of the layer, a formula of the position, and the density and the velocity that it leads to.

use lbm_bundle::variation::{ABSORBING, FAR_DENSITY, FAR_VELOCITY};
use lbm_bundle::{Param, Unit};

use super::diag::{self, Report, Spanned};
use super::formula::{EXTENTS, Formula, POSITIONS};
use super::keys::absorbing::RawAbsorbing;
use super::keys::params::RawParam;
use super::raw::RawCase;
use super::units::Dimension;
use super::walls::FACES;

/// The sum over the cells of a layer of what is taken of a difference in a step. Sound is in each for 1.7 steps, on its way and back: of that along the
/// normal, 0.8 % comes back from a face that reflects it. With more, the layer itself reflects more of that at an angle.
const TAKEN: f64 = 1.4;

/// The rate rises with this power of the depth.
const POWER: i32 = 2;

/// The rate of a layer of `width` cells at a depth: 1 at the face, 0 at the inner edge.
pub fn rate_at(depth: f64, width: f64) -> f64 {
    most(width) * depth.max(0.0).powi(POWER)
}

/// The rate at the face.
fn most(width: f64) -> f64 {
    f64::from(POWER + 1) * TAKEN / width
}

/// Fewer cells take too much in a step, and reflect.
const FEWEST_CELLS: f64 = 8.0;

/// What a layer adds to the parameters of a method.
pub(super) struct Layer {
    /// Its rate.
    pub(super) rate: RawParam,
    /// What the flow is beyond it.
    pub(super) far: [RawParam; 2],
}

/// The parameter that is the rate of a layer.
pub(super) fn rate() -> Param {
    let doc = "rate of the absorbing layer".to_string();
    Param {
        name: ABSORBING.into(),
        components: 1,
        default: None,
        range: None,
        unit: Some(Unit { length: 0, time: -1 }),
        doc,
    }
}

impl RawCase {
    /// What its layer adds to the parameters of a method with so many axes and these fields.
    pub(super) fn layer(
        &self,
        of: &RawAbsorbing,
        (dim, fields): (usize, &[&str]),
        report: &mut Report,
    ) -> Option<Layer> {
        let missing = ["rho", "u"].iter().find(|name| !fields.contains(name));
        let further = fields.iter().find(|name| !["rho", "u"].contains(name));
        if let Some(field) = missing.or(further) {
            let why = if missing.is_some() { "has no" } else { "also has the" };
            let message = format!(
                "an absorbing layer leads to a density and a velocity far away, and the method {why} field `{field}`"
            );
            let help = "let the viscosity rise in front of the face instead: `fluid.viscosity = \"0.01 + 0.1 * max(0, x - 100) / 28\"`";
            return report.add(diag::NO_LAYER, &of.faces.span, message, "absorbs", help.to_string());
        }
        let periodic = self.periodic();
        let (extents, cells) = (self.extents(), self.cells());
        let width = of.width.value * cells[0] as f64 / extents[0];
        let mut depth: Option<String> = None;
        for Spanned { value: face, span } in &of.faces.value {
            let (axis, name) = (face / 2, FACES[*face]);
            if axis >= dim {
                let message = format!("the method has {dim} axes, and no face `{name}`");
                return report.add(diag::WRONG_DIMENSION, span, message, "no such face", None);
            }
            if periodic[axis] {
                let message = format!("`{name}` is periodic: nothing leaves there");
                return report.add(diag::NO_LAYER, span, message, "absorbs nothing that leaves", None);
            }
            if of.width.value >= extents[axis] {
                let message = format!("the layer at `{name}` is as wide as the domain");
                return report.add(diag::NO_LAYER, &of.width.span, message, "too wide", None);
            }
            let (at, end, width) = (POSITIONS[axis], EXTENTS[axis], of.width.value);
            let beside = if face % 2 == 0 { at.to_string() } else { format!("({end} - {at})") };
            let own = format!("1 - {beside} / {width:e}");
            depth = Some(depth.map_or(own.clone(), |depth| format!("max({depth}, {own})")));
        }
        if width < FEWEST_CELLS {
            let message = format!("the layer is {width:.1} cells wide, less than {FEWEST_CELLS}: it would reflect");
            return report.add(diag::NO_LAYER, &of.width.span, message, "too narrow", None);
        }
        let Some(depth) = depth else {
            let help = "for example `faces = [\"right\", \"top\"]`".to_string();
            return report.add(diag::MISSING_KEY, &of.faces.span, "`faces` is empty", "no face", help);
        };
        let text = format!("{:e} * max(0, {depth})^{POWER}", most(width));
        let rate = Formula::parse_with_names(&text).ok()?;
        let param = |name: &str, value: Vec<(Formula, Dimension)>| {
            let span = of.faces.span.clone();
            RawParam { name: Spanned { value: name.to_string(), span: span.clone() }, span, values: value }
        };
        let density =
            of.density.clone().unwrap_or_else(|| param(FAR_DENSITY, vec![(Formula::number(1.0), Dimension::NUMBER)]));
        let velocity = match &of.velocity {
            Some(velocity) => velocity.clone(),
            None => RawParam {
                name: Spanned { value: FAR_VELOCITY.into(), span: of.faces.span.clone() },
                ..self.far(of, report)?
            },
        };
        Some(Layer { rate: param(ABSORBING, vec![(rate, Dimension::NUMBER)]), far: [density, velocity] })
    }

    /// The velocity of the faces of a layer.
    fn far(&self, of: &RawAbsorbing, report: &mut Report) -> Option<RawParam> {
        let faces = of
            .faces
            .value
            .iter()
            .filter_map(|face| self.faces.named[face.value].as_ref().or(self.faces.others.as_ref()));
        let params = faces.flat_map(|face| face.value.params.iter().filter(|param| param.name.value == "velocity"));
        let all: Vec<&RawParam> = params.collect();
        let why = match &all[..] {
            [] => "no face of the layer has one",
            [first, ..] if first.values.iter().any(|(value, _)| value.varies_in_place()) => {
                "that of the face varies along it"
            }
            [first, rest @ ..] if rest.iter().all(|other| other.values == first.values) => {
                return Some((*first).clone());
            }
            _ => "those of the faces differ",
        };
        let message = format!("`absorbing.velocity` is missing: the velocity that the layer leads to; {why}");
        let help = "for example `velocity = [0.05, 0]`".to_string();
        report.add(diag::MISSING_KEY, &of.faces.span, message, "not given here", help)
    }
}
