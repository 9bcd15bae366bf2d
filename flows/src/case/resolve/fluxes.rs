//! Planes of fluxes against the domain.

use super::resolver::{Resolver, axis_name, short};
use crate::case::diag::{self, Spanned};
use crate::case::fluxes::{FluxPlane, MOST_FLUX_NUMBERS, MOST_POINTS};
use crate::case::heat::Scalar;
use crate::case::keys::fluxes::RawFlux;
use crate::case::keys::values::RawVector;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};

impl Resolver<'_> {
    /// `finest` is the finest level that there may be.
    pub(super) fn fluxes(
        &mut self,
        size: [usize; 3],
        units: &Units,
        finest: usize,
        stop: Stop,
    ) -> Option<Vec<FluxPlane>> {
        let raw = self.raw;
        let all: Vec<_> = raw.fluxes.iter().map(|given| self.flux(given, size, units, finest)).collect();
        let all: Vec<FluxPlane> = all.into_iter().collect::<Option<_>>()?;
        let (mut points, mut numbers) = (0usize, 0u64);
        for (given, plane) in raw.fluxes.iter().zip(&all) {
            let of_plane = plane.parts.iter().try_fold(1usize, |all, parts| all.checked_mul(*parts));
            points = points.saturating_add(of_plane.unwrap_or(usize::MAX));
            if points > MOST_POINTS {
                let message = format!("the planes of fluxes have more than {MOST_POINTS} cells of the finest level");
                let help = "take parts of planes (`from`, `to`), or fewer".to_string();
                return self.report.add(diag::BAD_VALUE, &given.span, message, "too many", help);
            }
            let rows = stop.steps / plane.every + 2;
            numbers = numbers.saturating_add(rows.saturating_mul(2 * self.manifest.field_components() as u64 + 3));
            if numbers > MOST_FLUX_NUMBERS {
                let message =
                    format!("the fluxes would record {numbers} numbers; a run has room for {MOST_FLUX_NUMBERS}");
                let help = "raise `every`, or take fewer planes or steps".to_string();
                return self.report.add(diag::BAD_VALUE, &given.span, message, "too many", help);
            }
        }
        Some(all)
    }

    fn flux(&mut self, given: &Spanned<RawFlux>, size: [usize; 3], units: &Units, finest: usize) -> Option<FluxPlane> {
        let raw = &given.value;
        let names = self.manifest.component_names();
        let component = |name: &str| names.iter().position(|known| known == name);
        let Some(velocity) = component("ux") else {
            let message = format!("`{}` has no velocity `u`", self.manifest.spec);
            return self.report.add(diag::UNKNOWN_WORD, &given.span, message, "nothing flows", None);
        };
        let (normal, at, span) = match (&raw.face, &raw.plane) {
            (Some(face), _) => {
                let normal = face.value / 2;
                (normal, if face.value % 2 == 1 { size[normal] as f64 } else { 0.0 }, &face.span)
            }
            (None, Some(plane)) => {
                let at = plane.value.at.value / units.scale(Dimension::LENGTH);
                (plane.value.normal, at, &plane.value.at.span)
            }
            (None, None) => return None,
        };
        if normal >= self.dim {
            let message = "in two dimensions there is nothing along z";
            return self.report.add(diag::OUTSIDE, span, message, "no such axis", None);
        }
        let cells = size[normal] as f64;
        // A length over the size of a cell may be off by round-off.
        if !(-1e-9 * cells..=cells * (1.0 + 1e-9)).contains(&at) {
            let message = format!("the plane lies {} cells along {}, outside the domain", short(at), axis_name(normal));
            let help = format!("the domain has 0 to {cells} cells along {}", axis_name(normal));
            return self.report.add(diag::OUTSIDE, span, message, "outside", help);
        }
        let across: Vec<usize> = (0..self.dim).filter(|axis| *axis != normal).collect();
        let from = self.corner_of(&raw.from, &across, [0; 3], units)?;
        let to = self.corner_of(&raw.to, &across, size, units)?;
        let (mut corners, mut parts) = ([[0.0; 3]; 2], [1; 3]);
        for axis in 0..self.dim {
            let inside = |at: f64| at.clamp(0.0, size[axis] as f64);
            let [low, high] = if axis == normal { [at, at] } else { [from[axis], to[axis]] }.map(inside);
            (corners[0][axis], corners[1][axis]) = (low, high);
            if axis != normal {
                if high <= low {
                    let span = raw.to.as_ref().or(raw.from.as_ref()).map_or(&given.span, |corner| &corner.span);
                    let message = format!("the part of the plane is empty along {}", axis_name(axis));
                    let help = "`from` is the lower corner, `to` the upper one, inside the domain".to_string();
                    return self.report.add(diag::BAD_VALUE, span, message, "empty", help);
                }
                parts[axis] = ((high - low) * 2f64.powi(finest as i32)).ceil().max(1.0) as usize;
            }
        }
        let every = self.interval(&raw.every, units)?;
        let carried = Scalar::all(self.manifest);
        let diffuses = |scalar: &Scalar| scalar.component.is_some() && scalar.rate.is_some();
        let scalars =
            self.manifest.fields.iter().filter(|field| field.components == 1 && field.name != "rho" && !field.place);
        Some(FluxPlane {
            name: raw.name.value.clone(),
            normal,
            from: corners[0],
            to: corners[1],
            parts,
            density: component("rho"),
            velocity: velocity + normal,
            scalars: scalars.filter_map(|field| Some((field.name.clone(), component(&field.name)?))).collect(),
            diffusing: (0..carried.len()).filter(|at| diffuses(&carried[*at])).collect(),
            every,
        })
    }

    /// A corner of a rectangle from its places along the axes across the normal.
    fn corner_of(
        &mut self,
        given: &Option<RawVector>,
        across: &[usize],
        other: [usize; 3],
        units: &Units,
    ) -> Option<[f64; 3]> {
        let mut corner = other.map(|at| at as f64);
        let Some(given) = given else { return Some(corner) };
        if given.value.len() != across.len() {
            let axes: Vec<&str> = across.iter().map(|axis| axis_name(*axis)).collect();
            let numbers = if across.len() == 1 { "one number" } else { "two numbers" };
            let message = format!("a corner of a part of this plane is {numbers}, along {}", axes.join(" and "));
            let help = "the position along the normal is in `plane`".to_string();
            return self.report.add(diag::WRONG_DIMENSION, &given.span, message, "another number", help);
        }
        for (axis, at) in across.iter().zip(&given.value) {
            corner[*axis] = at.value / units.scale(Dimension::LENGTH);
        }
        Some(corner)
    }
}
