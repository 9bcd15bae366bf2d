//! Probes against the domain, the solids and the method.

use lbm_runtime::geometry::solid::{Solid, Solids};

use super::resolver::{Resolver, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::keys::probes::{RawPoints, RawProbe};
use crate::case::keys::values::RawVector;
use crate::case::probes::{MOST_NUMBERS, MOST_OF_GRID, MOST_POINTS, Probe};
use crate::case::quantity::Quantity;
use crate::case::solids::SolidBody;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};
use crate::case::views::MOST_SEEDS;
use crate::case::words;

/// What a probe records unless it says more, as far as the method has it.
const DEFAULT: [&str; 2] = ["density", "velocity"];

impl Resolver<'_> {
    pub(super) fn probes(
        &mut self,
        size: [usize; 3],
        periodic: [bool; 3],
        units: &Units,
        bodies: &[SolidBody],
        stop: Stop,
    ) -> Option<Vec<Probe>> {
        let raw = self.raw;
        if raw.probes.is_empty() {
            return Some(vec![]);
        }
        // Those that move may come to a probe and leave it again.
        let still = bodies.iter().filter(|body| body.moves.is_none());
        let solids: Vec<Solid> = still.map(|body| body.solid.clone()).collect();
        let block = self.manifest.block.map(|side| side as usize);
        let solids = Solids::new(&solids, self.dim, size, block, periodic);
        let probes: Vec<_> = raw.probes.iter().map(|given| self.probe(given, size, units, &solids)).collect();
        let probes: Vec<Probe> = probes.into_iter().collect::<Option<_>>()?;
        let mut all = 0u64;
        for (given, probe) in raw.probes.iter().zip(&probes).filter(|(_, probe)| probe.grid.is_none()) {
            let rows = stop.steps / probe.every + 2;
            all = all.saturating_add(rows.saturating_mul(probe.numbers() as u64));
            if all > MOST_NUMBERS {
                let message = format!("the probes would record {all} numbers; a run has room for {MOST_NUMBERS}");
                let help = "raise `every`, or take fewer points, fields or steps".to_string();
                return self.report.add(diag::BAD_VALUE, &given.span, message, "too many", help);
            }
        }
        Some(probes)
    }

    fn probe(&mut self, given: &Spanned<RawProbe>, size: [usize; 3], units: &Units, solids: &Solids) -> Option<Probe> {
        let raw = &given.value;
        let points = match &raw.points {
            RawPoints::At(points) => self.listed(points, size, units, solids),
            RawPoints::Line { from, to, points } => self.line((from, to), points, size, units, solids),
            RawPoints::Grid { from, to, points } => self.grid((from, to), points, size, units),
        };
        let grid = match &raw.points {
            RawPoints::Grid { points, .. } => Some([0, 1, 2].map(|axis| points.value.get(axis).copied().unwrap_or(1))),
            _ => None,
        };
        let fields = match &raw.fields {
            Some(names) => self.quantities(names),
            None => Some(self.default_fields()),
        };
        let every = self.interval(&raw.every, units);
        Some(Probe { name: raw.name.value.clone(), points: points?, grid, fields: fields?, every: every? })
    }

    pub(super) fn default_fields(&self) -> Vec<Quantity> {
        let all = Quantity::all(self.manifest).into_iter();
        all.filter(|quantity| DEFAULT.contains(&quantity.name())).collect()
    }

    /// Fields by name, no component twice.
    pub(super) fn quantities(&mut self, names: &[Spanned<String>]) -> Option<Vec<Quantity>> {
        let mut found: Vec<Quantity> = vec![];
        for name in names {
            let known: Vec<String> = found.iter().flat_map(Quantity::columns).collect();
            let named = Quantity::named(self.manifest, &name.value);
            let named = if named.is_empty() { vec![self.quantity(name)?] } else { named };
            if let Some(column) = named.iter().flat_map(Quantity::columns).find(|column| known.contains(column)) {
                let message = format!("`{column}` is asked for twice");
                return self.report.add(diag::CONFLICT, &name.span, message, "once more", None);
            }
            found.extend(named);
        }
        Some(found)
    }

    /// A field by its name.
    pub(super) fn quantity(&mut self, name: &Spanned<String>) -> Option<Quantity> {
        let all: Vec<Quantity> = Quantity::all(self.manifest).into_iter().chain(self.own.iter().cloned()).collect();
        if let Some(found) = all.iter().find(|quantity| quantity.name() == name.value) {
            return Some(found.clone());
        }
        if self.raw.fields.iter().any(|field| field.name.value == name.value) {
            // What is wrong with it has been said.
            return None;
        }
        let message = format!("`{}` has no field `{}`", self.manifest.spec, name.value);
        let names: Vec<&str> = all.iter().map(Quantity::name).collect();
        let help = words::suggest(&name.value, &names);
        self.report.add(diag::UNKNOWN_WORD, &name.span, message, "unknown field", help)
    }

    fn listed(
        &mut self,
        points: &[RawVector],
        size: [usize; 3],
        units: &Units,
        solids: &Solids,
    ) -> Option<Vec<[f64; 3]>> {
        let span = points.get(MOST_POINTS).map_or(&points[0].span, |point| &point.span);
        self.not_too_many(points.len(), span)?;
        let mut found = vec![];
        for given in points {
            let point = self.point(given, size, units)?;
            if solids.at(point).is_some() {
                let message = "the point of a probe lies inside a solid".to_string();
                let help = "there is no flow: move it out of the solid".to_string();
                return self.report.add(diag::OUTSIDE, &given.span, message, "inside a solid", help);
            }
            found.push(point);
        }
        Some(found)
    }

    fn line(
        &mut self,
        (from, to): (&RawVector, &RawVector),
        points: &Spanned<f64>,
        size: [usize; 3],
        units: &Units,
        solids: &Solids,
    ) -> Option<Vec<[f64; 3]>> {
        let count = points.value as usize;
        self.not_too_many(count, &points.span)?;
        let (first, last) = (self.point(from, size, units)?, self.point(to, size, units)?);
        if first == last {
            let help = "for a single point write `at = [40, 32]`".to_string();
            return self.report.add(diag::BAD_VALUE, &to.span, "the line has no length", "the same point", help);
        }
        let point = |at: usize| -> [f64; 3] {
            let way = at as f64 / (count - 1) as f64;
            std::array::from_fn(|axis| (1.0 - way) * first[axis] + way * last[axis])
        };
        let found: Vec<[f64; 3]> = (0..count).map(point).collect();
        if found.iter().all(|point| solids.at(*point).is_some()) {
            let help = "there is no flow: a line may cross solids, but not lie inside".to_string();
            return self.report.add(diag::OUTSIDE, &from.span, "the line lies inside solids", "inside a solid", help);
        }
        Some(found)
    }

    /// Points of a rectangle or a box along the axes, x fastest.
    fn grid(
        &mut self,
        (from, to): (&RawVector, &RawVector),
        points: &Spanned<Vec<usize>>,
        size: [usize; 3],
        units: &Units,
    ) -> Option<Vec<[f64; 3]>> {
        if points.value.len() != self.dim {
            self.wrong_dimension(&points.span, "the numbers of points of a grid", points.value.len());
            return None;
        }
        let all = points.value.iter().try_fold(1usize, |all, along| all.checked_mul(*along));
        if all.is_none_or(|all| all > MOST_OF_GRID) {
            let message = format!("a grid of a probe has at most {MOST_OF_GRID} points");
            let help = "for fields of all cells there is `output.vtk`".to_string();
            return self.report.add(diag::BAD_VALUE, &points.span, message, "too many", help);
        }
        let (first, last) = (self.point(from, size, units)?, self.point(to, size, units)?);
        let counts = [0, 1, 2].map(|axis| points.value.get(axis).copied().unwrap_or(1));
        for axis in 0..self.dim {
            let wrong = match counts[axis] {
                1 => first[axis] != last[axis],
                _ => first[axis] >= last[axis],
            };
            if wrong {
                let name = axis_name(axis);
                let message = format!("{} points along {name} do not go from here to there", counts[axis]);
                let help =
                    "`from` is the lower corner and `to` the upper one; along an axis with one point they are the same"
                        .to_string();
                return self.report.add(diag::BAD_VALUE, &to.value[axis].span, message, "not the upper end", help);
            }
        }
        let place = |axis: usize, at: usize| match counts[axis] {
            1 => first[axis],
            count => {
                let way = at as f64 / (count - 1) as f64;
                (1.0 - way) * first[axis] + way * last[axis]
            }
        };
        let [nx, ny, nz] = counts;
        let point = |at: usize| [place(0, at % nx), place(1, at / nx % ny), place(2, at / (nx * ny))];
        Some((0..nx * ny * nz).map(point).collect())
    }

    /// Points through which streamlines go.
    pub(super) fn seeds(
        &mut self,
        given: &Spanned<RawPoints>,
        size: [usize; 3],
        units: &Units,
    ) -> Option<Vec<[f64; 3]>> {
        let block = self.manifest.block.map(|side| side as usize);
        let nothing = Solids::new(&[], self.dim, size, block, [false; 3]);
        let points = match &given.value {
            RawPoints::At(points) => self.listed(points, size, units, &nothing),
            RawPoints::Line { from, to, points } => self.line((from, to), points, size, units, &nothing),
            RawPoints::Grid { from, to, points } => self.grid((from, to), points, size, units),
        }?;
        if points.len() <= MOST_SEEDS {
            return Some(points);
        }
        let message = format!("a view has {} streamlines, and at most {MOST_SEEDS}", points.len());
        self.report.add(diag::BAD_VALUE, &given.span, message, "too many", "take fewer points".to_string())
    }

    fn not_too_many(&mut self, points: usize, span: &Span) -> Option<()> {
        if points <= MOST_POINTS {
            return Some(());
        }
        let message = format!("{points} points of a probe are more than {MOST_POINTS}");
        let help = "for fields of all cells there is `output.vtk`".to_string();
        self.report.add(diag::BAD_VALUE, span, message, "too many", help)
    }

    /// A point of the domain, in cells.
    fn point(&mut self, given: &RawVector, size: [usize; 3], units: &Units) -> Option<[f64; 3]> {
        if given.value.len() != self.dim {
            self.wrong_dimension(&given.span, "a point of a probe", given.value.len());
            return None;
        }
        let mut point = [0.0; 3];
        for (axis, at) in given.value.iter().enumerate() {
            let (place, cells) = (at.value / units.scale(Dimension::LENGTH), size[axis]);
            // A length over the size of a cell may be off by round-off.
            let near = 1e-9 * cells as f64;
            if !(-near..=cells as f64 + near).contains(&place) {
                let message =
                    format!("the point lies {} cells along {}, outside the domain", short(place), axis_name(axis));
                let help = format!("the domain has 0 to {cells} cells along {}", axis_name(axis));
                return self.report.add(diag::OUTSIDE, &at.span, message, "outside", help);
            }
            point[axis] = place.clamp(0.0, cells as f64);
        }
        Some(point)
    }
}
