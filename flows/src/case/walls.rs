//! Faces of the domain, and walls at them.

use lbm_bundle::{AtFace, DISTANCE};

use super::formula::{Formula, POSITIONS};
use super::region::Region;

/// The rule that exchanges with cells the stress of a law of the wall, and the height in cells at which it takes the velocity.
const WALL_FUNCTION: (&str, f64) = ("wall_function", 3.5);
/// The rule whose wall is at a given distance from the cells.
const AT_DISTANCE: &str = "interpolated_bounce_back";

/// Names of faces in a case file: both of x, of y, of z.
pub(super) const FACES: [&str; 6] = ["left", "right", "bottom", "top", "back", "front"];

/// A face of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// Axis: 0 is x.
    pub axis: usize,
    /// Whether it is at the high end of the axis.
    pub high: bool,
}

impl Face {
    /// Its name in a case file: `left`, `right`, `bottom`, `top`, `back`, `front`.
    pub fn name(self) -> &'static str {
        FACES[2 * self.axis + usize::from(self.high)]
    }
}

/// A face with a wall rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Which face.
    pub face: Face,
    /// Name of the rule in the method.
    pub rule: String,
    /// Its parameters by name, with all their components, in lattice units.
    pub values: Vec<(String, Vec<f64>)>,
    /// Parameters that vary along it or in time, which `values` does not have: formulas of place, in cells, and time, in steps.
    pub formulas: Vec<(String, Vec<Formula>)>,
    /// What its parameters say of a velocity, in lattice units: that called `velocity`; zero for a rule without parameters;
    /// nothing for other rules, or where it varies. What the velocity at the face is, [`Wall::velocity_at`] says.
    pub velocity: Option<[f64; 3]>,
    /// What the rule says of the velocity at the face.
    pub at_face: AtFace,
    /// Parts of the face with walls of their own; where several are, the first counts.
    pub patches: Vec<Patch>,
}

/// A part of a face with a wall of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Which part.
    pub region: Region,
    /// What is there: a wall of the same face, without patches.
    pub wall: Wall,
}

impl Wall {
    /// Whether a parameter depends on time.
    pub fn varies_in_time(&self) -> bool {
        self.all().flat_map(|wall| &wall.formulas).flat_map(|(_, formulas)| formulas).any(Formula::varies_in_time)
    }

    /// The wall, and those of its patches.
    pub fn all(&self) -> impl Iterator<Item = &Wall> {
        std::iter::once(self).chain(self.patches.iter().map(|patch| &patch.wall))
    }

    /// Whether it is known to be at rest.
    pub fn rests(&self) -> bool {
        self.all().all(|wall| wall.velocity == Some([0.0; 3]))
    }

    /// The wall at a point of the face, in cells: that of a patch, if one is there.
    pub(crate) fn at(&self, point: [f64; 3]) -> &Wall {
        let patch = self.patches.iter().find(|patch| patch.region.contains(self.face.axis, point));
        patch.map_or(self, |patch| &patch.wall)
    }

    /// Velocity in lattice units at a point of the face, in cells, and a time, in steps, where the flow beside it has the velocity
    /// `beside`; `None` where the rule leaves it to the flow.
    pub fn velocity_at(&self, point: [f64; 3], time: f64, beside: [f64; 3]) -> Option<[f64; 3]> {
        let wall = self.at(point);
        match wall.at_face {
            AtFace::Unknown => None,
            AtFace::Prescribed => Some(wall.stated_velocity(point, time).unwrap_or_default()),
            AtFace::Slip => Some(std::array::from_fn(|axis| if axis == self.face.axis { 0.0 } else { beside[axis] })),
        }
    }

    /// The rule's parameter `velocity` at a point of the face and a time, if it has one: what the case wants there, which the flow need not
    /// have.
    pub fn stated_velocity(&self, point: [f64; 3], time: f64) -> Option<[f64; 3]> {
        self.stated(point, |formula| formula.at(point, time))
    }

    /// The same at the start, without eddies.
    pub fn mean_velocity(&self, point: [f64; 3]) -> Option<[f64; 3]> {
        self.stated(point, |formula| formula.without_noise_at(point, 0.0))
    }

    fn stated(&self, point: [f64; 3], value: impl Fn(&Formula) -> f64) -> Option<[f64; 3]> {
        let wall = self.at(point);
        if let Some((_, formulas)) = wall.formulas.iter().find(|(name, _)| name == "velocity") {
            return Some(std::array::from_fn(|axis| formulas.get(axis).map_or(0.0, &value)));
        }
        let (_, values) = wall.values.iter().find(|(name, _)| name == "velocity")?;
        Some(std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(0.0)))
    }

    /// Whether it is, somewhere on a face of a domain of so many cells, a wall whose friction is known.
    pub(crate) fn has_friction(&self, size: [usize; 3]) -> bool {
        let centre = size.map(|cells| 0.5 * cells as f64);
        self.all().any(|wall| wall.has_friction_at(centre))
    }

    /// Whether it is a wall between cells at a point of the face, to which the fluid sticks or along which it slides by a law.
    pub(crate) fn has_friction_at(&self, point: [f64; 3]) -> bool {
        let wall = self.at(point);
        let sticks = wall.at_face == AtFace::Prescribed || wall.rule == AT_DISTANCE;
        wall.rule == WALL_FUNCTION.0 || sticks && wall.is_closed_at(point)
    }

    /// How far the wall is from the centres of the outermost cells at a point of the face, in these cells.
    pub(crate) fn distance_at(&self, point: [f64; 3]) -> f64 {
        let wall = self.at(point);
        let given = wall.values.iter().find(|(name, _)| name == DISTANCE);
        given.and_then(|(_, values)| values.first().copied()).unwrap_or(0.5)
    }

    /// The height, in cells, at which the law of the wall takes the velocity at a point of the face, and the viscosity of the law, if the
    /// rule has one.
    pub(crate) fn law_at(&self, point: [f64; 3]) -> Option<(f64, f64)> {
        let wall = self.at(point);
        let viscosity = || wall.values.iter().find(|(name, _)| name == "viscosity")?.1.first().copied();
        (wall.rule == WALL_FUNCTION.0).then(|| (WALL_FUNCTION.1, viscosity().unwrap_or(f64::NAN)))
    }

    /// y+ that the wall would have on level 0, a formula of the velocity in cells at it: of half the width of a cell, with a law of the wall of
    /// the height at which it applies, and then the largest of the cells up to there. 0 elsewhere; nothing where friction is not known, or
    /// walls are not the same all over the face.
    pub(super) fn y_plus_of_level_0(&self, size: [usize; 3], velocity: &[&str], viscosity: f64) -> Option<String> {
        let Face { axis, high } = self.face;
        let centre = size.map(|cells| 0.5 * cells as f64);
        let own = if self.values.is_empty() { Some([0.0; 3]) } else { self.velocity };
        let own = if self.rule == WALL_FUNCTION.0 || self.rule == AT_DISTANCE { Some([0.0; 3]) } else { own };
        let own =
            own.filter(|_| self.patches.is_empty() && self.formulas.is_empty() && self.has_friction_at(centre))?;
        let inwards = match high {
            true => format!("({} - {})", size[axis], POSITIONS[axis]),
            false => POSITIONS[axis].to_string(),
        };
        let along = velocity.iter().enumerate().filter(|(other, _)| *other != axis);
        let squares: Vec<String> = along.map(|(other, name)| format!("({name} - {:e})^2", own[other])).collect();
        let speed = format!("sqrt({})", squares.join(" + "));
        Some(match self.law_at(centre) {
            None => {
                let height = format!("({inwards} + {:e} * width)", self.distance_at(centre) - 0.5);
                format!("if({inwards} < width, 0.5 * sqrt({speed} / ({viscosity:e} * {height})), 0)")
            }
            Some((sample, viscosity)) => {
                let reynolds = format!("({speed} * {inwards} / {viscosity:e})");
                let law = format!("max(sqrt({reynolds}), ({reynolds} / 8.3)^(7/8))");
                format!("if({inwards} < {:e} * width, {sample:e} * {law} / {inwards}, 0)", sample + 0.5)
            }
        })
    }

    /// Whether the rule may let something through somewhere, on a face of a domain of so many cells.
    pub fn may_be_open(&self, size: [usize; 3]) -> bool {
        let centre = size.map(|cells| 0.5 * cells as f64);
        !self.patches.is_empty() || !self.formulas.is_empty() || !self.is_closed_at(centre)
    }

    /// Whether the rule never lets anything through at a point of the face.
    pub fn is_closed_at(&self, point: [f64; 3]) -> bool {
        let changes = |(name, formulas): &(String, Vec<Formula>)| {
            name == "velocity" && formulas.get(self.face.axis).is_some_and(Formula::varies_in_time)
        };
        let wall = self.at(point);
        let changes = wall.formulas.iter().any(changes);
        let still = |velocity: [f64; 3]| !changes && velocity[self.face.axis] == 0.0;
        match wall.at_face {
            AtFace::Slip => true,
            AtFace::Prescribed => wall.stated_velocity(point, 0.0).is_none_or(still),
            // Rules of nodes that state a velocity, and walls at a distance.
            AtFace::Unknown => match wall.values.iter().any(|(name, _)| name == "density") {
                true => false,
                false => wall.stated_velocity(point, 0.0).is_some_and(still) || wall.rule == AT_DISTANCE,
            },
        }
    }
}

/// Points of a face, in cells: where cells of the coarsest level have their centres along it, at a depth in the domain.
pub(super) fn points(size: [usize; 3], dim: usize, face: Face, depth: f64) -> impl Iterator<Item = [f64; 3]> {
    let across = if face.high { size[face.axis] as f64 - depth } else { depth };
    let sides: [usize; 3] = std::array::from_fn(|axis| if axis == face.axis { 1 } else { size[axis] });
    (0..sides.iter().product()).map(move |at: usize| {
        let place = [at % sides[0], at / sides[0] % sides[1], at / (sides[0] * sides[1])];
        std::array::from_fn(|axis| match axis {
            axis if axis == face.axis => across,
            axis if axis < dim => place[axis] as f64 + 0.5,
            _ => 0.0,
        })
    })
}
