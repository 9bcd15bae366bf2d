//! Bodies that the fluid moves: their mass, what acts on them, and how they may move, in lattice units.

use lbm_runtime::geometry::solid::{FreeBody, Mass, Shape, Turning};

use super::resolver::Resolver;
use crate::case::diag::{self, Span, Spanned};
use crate::case::keys::free::{RawFree, RawQuantities, RawQuantity};
use crate::case::units::{Dimension, Units};

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

impl Resolver<'_> {
    /// A free body of a shape; `span` is that of its motion.
    pub(super) fn free(&mut self, raw: &RawFree, span: &Span, shape: &Shape, units: &Units) -> Option<FreeBody> {
        let Some(displaced) = shape.mass(self.dim) else {
            let message =
                "a body that the fluid moves has an end along each axis: this shape has none, so it has no mass";
            let help = matches!(shape, Shape::Cylinder { .. }).then(|| "give the cylinder a `length`".to_string());
            return self.report.add(diag::MOTION, span, message, "of a shape without end", help);
        };
        if let Some(word) = raw.hold.iter().find(|word| word.value == "z" && self.dim == 2) {
            let message = "in two dimensions nothing moves along z";
            return self.report.add(diag::WRONG_DIMENSION, &word.span, message, "has no effect", None);
        }
        let holds = |name: &str| raw.hold.iter().any(|word| word.value == name);
        let turning = self.turning(raw, holds("rotation"), units)?;
        let (mass, moments) = self.weights(raw, &displaced, &turning, units)?;
        let held = AXES.map(holds);
        let per_time = |kg: i32, s: i32| self.of_mass(0, kg, s);
        let (force, damper) = (per_time(1, -2), per_time(1, -1));
        let acceleration = Dimension { m: 1, s: -2, ..Dimension::NUMBER };
        let gravity = self.along(raw.gravity.as_ref(), "gravity", acceleration, units)?;
        let velocity = self.along(raw.velocity.as_ref(), "velocity", Dimension::VELOCITY, units)?;
        let stiffness = self.along(raw.stiffness.as_ref(), "stiffness", force, units)?;
        let damping = self.along(raw.damping.as_ref(), "damping", damper, units)?;
        for (key, given, values) in [
            ("stiffness", &raw.stiffness, stiffness),
            ("damping", &raw.damping, damping),
            ("gravity", &raw.gravity, gravity),
        ] {
            let Some(given) = given else { continue };
            if let Some(component) = given.value.iter().zip(values).find(|(_, value)| key != "gravity" && *value < 0.0)
            {
                let message = format!("`{key}` must not be negative");
                return self.report.add(diag::BAD_VALUE, &component.0.span, message, "negative", None);
            }
            if let Some(axis) = (0..self.dim).find(|axis| held[*axis] && values[*axis] != 0.0) {
                let message = format!("`{key}` has no effect along {}, where the body is held", AXES[axis]);
                return self.report.add(diag::MOTION, &given.value[axis].span, message, "has no effect", None);
            }
        }
        let rotation = match &raw.angular_velocity {
            None => [0.0; 3],
            Some(given) => self.angular_velocity(given, &turning, units)?,
        };
        let body = FreeBody::new(displaced, mass / displaced.volume, turning);
        Some(FreeBody { mass, moments, gravity, stiffness, damping, held, velocity, rotation, ..body })
    }

    /// The dimension `m^a kg^b s^c`, in two dimensions over a length.
    fn of_mass(&self, m: i32, kg: i32, s: i32) -> Dimension {
        Dimension { m: m + self.dim as i32 - 3, kg, s, ..Dimension::NUMBER }
    }

    /// How a body turns.
    fn turning(&mut self, raw: &RawFree, held: bool, units: &Units) -> Option<Turning> {
        let given = [
            ("axis", raw.axis.as_ref().map(|axis| &axis.span)),
            ("angular_velocity", raw.angular_velocity.as_ref().map(|given| &given.span)),
            ("inertia", raw.inertia.as_ref().map(|given| &given.span)),
            ("torsion_stiffness", raw.torsion_stiffness.as_ref().map(|given| &given.span)),
            ("torsion_damping", raw.torsion_damping.as_ref().map(|given| &given.span)),
        ];
        let first = |from: usize| given[from..].iter().find_map(|(key, span)| Some((*key, (*span)?.clone())));
        if let (true, Some((key, span))) = (held, first(0)) {
            let message = format!("`{key}` has no effect on a body that does not turn: `hold` has `rotation`");
            return self.report.add(diag::MOTION, &span, message, "has no effect", None);
        }
        if held {
            return Some(Turning::Held);
        }
        let axis = match &raw.axis {
            Some(axis) if self.dim == 2 => {
                let message = "in two dimensions a solid turns in the plane";
                return self.report.add(diag::WRONG_DIMENSION, &axis.span, message, "has no effect", None);
            }
            Some(axis) => self.direction(axis)?,
            None if self.dim == 2 => [0.0, 0.0, 1.0],
            None => {
                if let Some((key, span)) = first(2) {
                    let message = format!("`{key}` is about an axis, and this body turns about all");
                    let help = "give the axis: `axis = [0, 0, 1]`; it then turns about that alone".to_string();
                    return self.report.add(diag::MOTION, &span, message, "without `axis`", help);
                }
                return Some(Turning::Free);
            }
        };
        let (spring, damper) = (self.of_mass(2, 1, -2), self.of_mass(2, 1, -1));
        let stiffness = self.quantity_of_body(raw.torsion_stiffness.as_ref(), "torsion_stiffness", spring, units)?;
        let damping = self.quantity_of_body(raw.torsion_damping.as_ref(), "torsion_damping", damper, units)?;
        Some(Turning::About { axis, stiffness: stiffness.unwrap_or(0.0), damping: damping.unwrap_or(0.0) })
    }

    /// Mass and moments of inertia.
    fn weights(
        &mut self,
        raw: &RawFree,
        displaced: &Mass,
        turning: &Turning,
        units: &Units,
    ) -> Option<(f64, [f64; 3])> {
        let density = match (&raw.density, &raw.mass) {
            (Some(density), _) if density.value.1 == Dimension::NUMBER => density.value.0,
            (Some(_), _) => self.quantity_of_body(raw.density.as_ref(), "density", Dimension::DENSITY, units)??,
            (None, mass) => {
                self.quantity_of_body(mass.as_ref(), "mass", self.of_mass(0, 1, 0), units)?? / displaced.volume
            }
        };
        let own = displaced.moments.map(|moment| density * moment);
        let moments = match (&raw.inertia, turning) {
            (Some(_), Turning::About { axis, .. }) => {
                let given = self.quantity_of_body(raw.inertia.as_ref(), "inertia", self.of_mass(2, 1, 0), units)??;
                let along = |at: usize| (0..3).map(|row| displaced.axes[at][row] * axis[row]).sum::<f64>();
                let about: f64 = (0..3).map(|at| own[at] * along(at).powi(2)).sum();
                own.map(|moment| moment * given / about)
            }
            _ => own,
        };
        Some((density * displaced.volume, moments))
    }

    /// Angular velocity at the start.
    fn angular_velocity(&mut self, given: &RawQuantities, turning: &Turning, units: &Units) -> Option<[f64; 3]> {
        let rate = |resolver: &mut Self, of: &RawQuantity| {
            resolver.quantity_of_body(Some(of), "angular_velocity", Dimension::FREQUENCY, units)?
        };
        match (&given.value[..], turning) {
            ([one], Turning::About { axis, .. }) => {
                let value = rate(self, one)?;
                Some(axis.map(|along| along * value))
            }
            (all @ [_, _, _], Turning::Free) => {
                let values: Option<Vec<f64>> = all.iter().map(|of| rate(self, of)).collect();
                let values = values?;
                Some([values[0], values[1], values[2]])
            }
            (_, turning) => {
                let wanted = if *turning == Turning::Free { "a vector: it turns about all axes" } else { "a number" };
                let message = format!("the `angular_velocity` of this body is {wanted}");
                self.report.add(diag::WRONG_DIMENSION, &given.span, message, "not one", None)
            }
        }
    }

    /// A vector in lattice units, 0 if it is not given.
    fn along(
        &mut self,
        given: Option<&RawQuantities>,
        key: &str,
        wanted: Dimension,
        units: &Units,
    ) -> Option<[f64; 3]> {
        let Some(given) = given else { return Some([0.0; 3]) };
        if given.value.len() != self.dim {
            self.wrong_dimension(&given.span, &format!("`{key}`"), given.value.len());
            return None;
        }
        let mut all = [0.0; 3];
        for (along, value) in all.iter_mut().zip(&given.value) {
            *along = self.quantity_of_body(Some(value), key, wanted, units)??;
        }
        Some(all)
    }

    /// A quantity in lattice units, if it is given.
    fn quantity_of_body(
        &mut self,
        given: Option<&RawQuantity>,
        key: &str,
        wanted: Dimension,
        units: &Units,
    ) -> Option<Option<f64>> {
        let Some(Spanned { value: (value, dimension), span }) = given else { return Some(None) };
        if units.si && *value != 0.0 && *dimension != wanted {
            let message = format!("the unit of `{key}` is that of {wanted}");
            let help = format!("a plain number has no unit; write `{key} = \"1 {}\"`, or a unit of that kind", wanted);
            return self.report.add(diag::WRONG_UNIT, span, message, "of another kind", help);
        }
        if units.si && wanted.kg != 0 && units.density.is_none() {
            let message = format!("`{key}` needs the density of the fluid");
            let help = "give it: `[units] density = \"998 kg/m^3\"`".to_string();
            return self.report.add(diag::MISSING_KEY, span, message, "in kg", help);
        }
        Some(Some(value / units.scale(wanted)))
    }
}
