//! Velocity profiles along the centre lines of the domain, and their deviation from published ones.

use std::io::{self, Write};

use lbm_bundle::AtFace;
use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::csv;
use crate::case::{Case, Curve, Face, Reference};

const AXES: [&str; 3] = ["x", "y", "z"];
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// Velocity along a line through the centre of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Axis along which the line runs.
    pub axis: usize,
    /// In ascending order: the face, if its boundary rule prescribes the velocity there; the cell centres; the other
    /// face.
    pub points: Vec<Point>,
}

/// A point of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position relative to the extent of the domain along the axis, 0 to 1.
    pub position: f64,
    /// Velocity in units of the reference velocity (in lattice units if that is zero).
    pub velocity: [f64; 3],
}

/// Deviation of a profile from a published one, at the published points inside the domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Title of the publication.
    pub with: String,
    /// The profile: `u(y)`.
    pub profile: String,
    /// Root mean square of the differences, in reference velocities.
    pub rms: f64,
    /// Largest difference, in reference velocities.
    pub max: f64,
}

impl Profile {
    /// The centre line along an axis, if the snapshot has a velocity. At each place it has a cell of the finest level
    /// that touches the line there; coarser cells next to it are evaluated by [`Snapshot::read`]. If the line runs
    /// between cells, the adjacent cells are averaged.
    pub fn new(case: &Case, snapshot: &Snapshot, axis: usize) -> Option<Profile> {
        let parts = snapshot.vector("u")?;
        let of = |at: usize| -> [f64; 3] { std::array::from_fn(|axis| parts.get(axis).map_or(0.0, |part| part[at])) };
        let scale = if case.scales.velocity > 0.0 { case.scales.velocity } else { 1.0 };
        let finest = snapshot.finest();
        let wall = |high: bool| {
            // The velocity on a slip wall is not prescribed.
            let wall = case.wall(Face { axis, high }).filter(|wall| wall.at_face == AtFace::Prescribed)?;
            let mut point = case.size.map(|cells| 0.5 * cells as f64);
            point[axis] = if high { case.size[axis] as f64 } else { 0.0 };
            let velocity = wall.velocity_at(point, snapshot.step as f64, [0.0; 3])?;
            Some(Point { position: if high { 1.0 } else { 0.0 }, velocity: velocity.map(|value| value / scale) })
        };
        let mut points: Vec<Point> = wall(false).into_iter().collect();
        let (mut at, end) = (0, snapshot.size()[axis] << finest);
        while at < end {
            let touches = |cell: &Cell| snapshot.cover(*cell).is_some_and(|(_, cover)| cover == *cell);
            let beside = |level: usize| beside(snapshot, axis, Cell { level, at: [at >> (finest - level); 3] });
            let level = (1..=finest).rev().find(|level| beside(*level).iter().any(touches)).unwrap_or(0);
            let (mut sum, cells) = ([0.0; 3], beside(level));
            for cell in &cells {
                sum.iter_mut().zip(snapshot.read(*cell, &of)).for_each(|(sum, value)| *sum += value);
            }
            points.push(Point {
                position: ((at >> (finest - level)) as f64 + 0.5) / snapshot.size_of(level)[axis] as f64,
                velocity: sum.map(|sum| sum / cells.len() as f64 / scale),
            });
            at += 1 << (finest - level);
        }
        points.extend(wall(true));
        Some(Profile { axis, points })
    }

    /// Writes the profile as CSV, with comments that describe it.
    pub fn write(&self, case: &Case, step: u64, out: &mut dyn Write) -> io::Result<()> {
        let axis = AXES[self.axis];
        let through: Vec<String> =
            (0..case.dim).filter(|other| *other != self.axis).map(|other| format!("{} = 1/2", AXES[other])).collect();
        let components = &COMPONENTS[..case.dim];
        let scales = &case.scales;
        writeln!(out, "# {}: velocity along {axis} through {}", case.name, through.join(", "))?;
        writeln!(out, "# {}, {}, step {step}, {}", case.spec, cells(case, " x "), real_name(case))?;
        if let Some(re) = scales.re {
            writeln!(out, "# Re = {re:.6}, reference velocity {} cells per step", scales.velocity)?;
        }
        let unit = if scales.velocity > 0.0 { "the reference velocity" } else { "cells per step" };
        writeln!(out, "# {axis}: over the extent of the domain; {}: in units of {unit}", components.join(", "))?;
        writeln!(out, "# rows: cell centres, and the faces whose rules prescribe the velocity")?;
        writeln!(out, "{axis},{}", components.join(","))?;
        for point in &self.points {
            write!(out, "{}", csv::number(point.position))?;
            for value in &point.velocity[..case.dim] {
                write!(out, ",{}", csv::number(*value))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// A component of the velocity at a position, by cubic interpolation between the four nearest points.
    pub fn at(&self, position: f64, component: usize) -> f64 {
        let count = self.points.len().min(4);
        let above = self.points.partition_point(|point| point.position < position);
        let first = above.saturating_sub(2).min(self.points.len() - count);
        let nodes = &self.points[first..first + count];
        let weight = |at: usize| -> f64 {
            let others = nodes.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, node)| (position - node.position) / (nodes[at].position - node.position)).product()
        };
        nodes.iter().enumerate().map(|(at, node)| weight(at) * node.velocity[component]).sum()
    }

    fn compare(&self, curve: &Curve, title: &str) -> Comparison {
        let inside = curve.points.iter().filter(|(position, _)| *position > 0.0 && *position < 1.0);
        let differences: Vec<f64> =
            inside.map(|(position, value)| (self.at(*position, curve.component) - value).abs()).collect();
        let squares: f64 = differences.iter().map(|difference| difference * difference).sum();
        Comparison {
            with: title.to_string(),
            profile: format!("{}({})", COMPONENTS[curve.component], AXES[curve.axis]),
            rms: (squares / differences.len() as f64).sqrt(),
            max: differences.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// The cells of a level that touch the centre line along an axis, at the position of a cell.
fn beside(snapshot: &Snapshot, axis: usize, cell: Cell) -> Vec<Cell> {
    let size = snapshot.size_of(cell.level);
    let mut cells = vec![cell];
    for other in (0..3).filter(|other| *other != axis).rev() {
        let middle = size[other] / 2;
        let places = if size[other] % 2 == 1 { middle..middle + 1 } else { middle - 1..middle + 1 };
        let at = |cell: Cell, place: usize| {
            let mut cell = cell;
            cell.at[other] = place;
            cell
        };
        cells = cells.iter().flat_map(|cell| places.clone().map(move |place| at(*cell, place))).collect();
    }
    cells
}

/// Deviations of profiles from published ones, if the reference has profiles.
pub fn compare(profiles: &[Profile], reference: &Reference) -> Vec<Comparison> {
    let Reference::Profiles { title, curves } = reference else { return vec![] };
    let pairs = curves.iter().filter_map(|curve| {
        let profile = profiles.iter().find(|profile| profile.axis == curve.axis)?;
        Some(profile.compare(curve, title))
    });
    pairs.collect()
}

/// `64 x 64 cells`, with the number of levels on refined grids.
pub(super) fn cells(case: &Case, times: &str) -> String {
    let size: Vec<String> = case.size[..case.dim].iter().map(usize::to_string).collect();
    let levels = match &case.refinement {
        None => String::new(),
        Some(refinement) => format!(" on the coarsest of {} levels", refinement.finest + 1),
    };
    format!("{} cells{levels}", size.join(times))
}

pub(super) fn real_name(case: &Case) -> &'static str {
    case.real.name()
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::{Block, Domain};

    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_profile_runs_from_wall_to_wall_through_the_middle() {
        let (case, snapshot) = fixture::cavity(16);
        let profile = Profile::new(&case, &snapshot, 1).unwrap();
        assert_eq!(profile.points.len(), 18);
        assert_eq!(profile.points[0], Point { position: 0.0, velocity: [0.0; 3] });
        assert_eq!(profile.points[17], Point { position: 1.0, velocity: [1.0, 0.0, 0.0] });
        let expected = fixture::velocity(0.5, 0.5 / 16.0);
        assert!((profile.points[1].velocity[0] - expected.0).abs() < 0.02, "{:?} {expected:?}", profile.points[1]);
    }

    #[test]
    fn a_profile_between_symmetry_planes_has_the_cells_only() {
        let (mut case, snapshot) = fixture::cavity(16);
        case.walls.iter_mut().for_each(|wall| (wall.at_face, wall.velocity) = (AtFace::Slip, Some([0.0; 3])));
        let profile = Profile::new(&case, &snapshot, 1).unwrap();
        assert_eq!(profile.points.len(), 16);
        assert!(profile.points[0].position > 0.0 && profile.points[15].position < 1.0);
    }

    #[test]
    fn a_profile_ends_with_what_a_face_prescribes_where_the_line_meets_it() {
        let (case, snapshot) = fixture::cavity_under(16, "[\"0.05 * x / lx\", 0]");
        let profile = Profile::new(&case, &snapshot, 1).unwrap();
        assert_eq!(profile.points[17].position, 1.0);
        assert!((profile.points[17].velocity[0] * case.scales.velocity - 0.025).abs() < 1e-15);
    }

    #[test]
    fn on_several_levels_a_profile_has_the_finest_cells_that_touch_the_line() {
        let (case, _) = fixture::cavity(16);
        let domain = Domain { dim: 2, size: [16, 16, 1], periodic: [false, false, true] };
        let refines = |block: Block| block.level == 0 && block.place == [1, 1, 0];
        let linear = |[x, y, _]: [f64; 3]| 0.1 * (x + y);
        let snapshot = snapshots::refined(domain, refines, &[("ux", &linear), ("uy", &|_| 0.0)]);
        let profile = Profile::new(&case, &snapshot, 0).unwrap();
        // Walls, 12 cells of level 0, and 8 of level 1 from x = 4 to 8, where the block below the line is refined.
        assert_eq!(profile.points.len(), 2 + 12 + 8);
        for Point { position, velocity } in &profile.points[1..21] {
            assert!((velocity[0] - (16.0 * position + 8.0)).abs() < 1e-12, "{position}: {velocity:?}");
        }
    }

    #[test]
    fn a_cubic_is_interpolated_exactly() {
        let cubic = |x: f64| 1.0 + x - 3.0 * x * x + 2.0 * x * x * x;
        let positions = [0.0, 0.05, 0.15, 0.4, 0.7, 1.0];
        let points = positions.map(|position| Point { position, velocity: [cubic(position), 0.0, 0.0] }).to_vec();
        let profile = Profile { axis: 0, points };
        for position in [0.0, 0.01, 0.3, 0.699, 0.9, 1.0] {
            assert!((profile.at(position, 0) - cubic(position)).abs() < 1e-14, "{position}");
        }
    }

    #[test]
    fn a_comparison_counts_interior_points_only() {
        let points = (0..=10).map(|at| Point { position: f64::from(at) / 10.0, velocity: [0.5, 0.0, 0.0] }).collect();
        let profile = Profile { axis: 1, points };
        let curve = Curve { axis: 1, component: 0, points: vec![(0.0, 9.0), (0.5, 0.6), (0.7, 0.5), (1.0, 9.0)] };
        let comparison = &compare(&[profile], &Reference::Profiles { title: "them", curves: vec![curve] })[0];
        assert!((comparison.max - 0.1).abs() < 1e-12);
        assert!((comparison.rms - 0.1 / 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(comparison.profile, "u(y)");
    }

    #[test]
    fn a_csv_says_what_it_is() {
        let (case, snapshot) = fixture::cavity(16);
        let mut text = vec![];
        Profile::new(&case, &snapshot, 0).unwrap().write(&case, 7, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("along x through y = 1/2"), "{text}");
        let mut rows = text.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.next(), Some("x,u,v"));
        assert_eq!(rows.next(), Some("0,0,0"));
        assert_eq!(rows.count(), 17);
    }
}
