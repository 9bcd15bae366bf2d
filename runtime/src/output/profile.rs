//! Profiles along the centre lines of the domain, and how far they are from published ones.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::case::{Case, Curve, Face, Reference};
use crate::snapshot::Snapshot;

const AXES: [&str; 3] = ["x", "y", "z"];
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// Velocity along the line through the middle of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Axis along which the line runs.
    pub axis: usize,
    /// From low to high: the wall if its velocity is known, the cell centres, the other wall.
    pub points: Vec<Point>,
}

/// A point of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position over the domain's extent along the axis, 0 to 1.
    pub position: f64,
    /// Velocity over the reference velocity (in lattice units where that is zero).
    pub velocity: [f64; 3],
}

/// How far a profile is from a published one, over the published points inside the domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Who published it.
    pub with: String,
    /// Which profile: `u(y)`.
    pub profile: String,
    /// Root mean square of the differences, in reference velocities.
    pub rms: f64,
    /// Largest difference, in reference velocities.
    pub max: f64,
}

impl Profile {
    /// The centre line along an axis, if the snapshot has a velocity. Where the line runs between cells, the mean of those
    /// beside it.
    pub fn new(case: &Case, snapshot: &Snapshot, axis: usize) -> Option<Profile> {
        let velocity = snapshot.vector("u")?;
        let scale = if case.scales.velocity > 0.0 { case.scales.velocity } else { 1.0 };
        let beside: Vec<Vec<usize>> = (0..3)
            .map(|other| {
                let size = snapshot.size[other];
                if size % 2 == 1 { vec![size / 2] } else { vec![size / 2 - 1, size / 2] }
            })
            .collect();
        let cells = (0..snapshot.size[axis]).map(|along| {
            let mut line = beside.clone();
            line[axis] = vec![along];
            let mut sum = [0.0; 3];
            for &z in &line[2] {
                for &y in &line[1] {
                    for &x in &line[0] {
                        for (sum, component) in sum.iter_mut().zip(&velocity) {
                            *sum += component[snapshot.index(x, y, z)];
                        }
                    }
                }
            }
            let count: usize = line.iter().map(Vec::len).product();
            Point {
                position: (along as f64 + 0.5) / snapshot.size[axis] as f64,
                velocity: sum.map(|sum| sum / count as f64 / scale),
            }
        });
        let wall = |high: bool| {
            let velocity = case.wall(Face { axis, high })?.velocity?;
            Some(Point { position: if high { 1.0 } else { 0.0 }, velocity: velocity.map(|value| value / scale) })
        };
        Some(Profile { axis, points: wall(false).into_iter().chain(cells).chain(wall(true)).collect() })
    }

    /// Writes the profile as CSV, with comments that say what it is.
    pub fn write(&self, case: &Case, step: u64, out: &mut dyn Write) -> io::Result<()> {
        let axis = AXES[self.axis];
        let through: Vec<String> =
            (0..case.dim).filter(|other| *other != self.axis).map(|other| format!("{} = 1/2", AXES[other])).collect();
        let components = &COMPONENTS[..case.dim];
        let (size, scales) = (&case.size[..case.dim], &case.scales);
        let size: Vec<String> = size.iter().map(usize::to_string).collect();
        writeln!(out, "# {}: velocity along {axis} through {}", case.name, through.join(", "))?;
        writeln!(out, "# {}, {} cells, step {step}, {}", case.spec, size.join(" x "), real_name(case))?;
        if let Some(re) = scales.re {
            writeln!(out, "# Re = {re:.6}, reference velocity {} cells per step", scales.velocity)?;
        }
        let unit = if scales.velocity > 0.0 { "the reference velocity" } else { "cells per step" };
        writeln!(out, "# {axis}: over the extent of the domain; {}: in units of {unit}", components.join(", "))?;
        writeln!(out, "# rows: cell centres, and the walls where their velocity is known")?;
        writeln!(out, "{axis},{}", components.join(","))?;
        for point in &self.points {
            write!(out, "{:.8}", point.position)?;
            for value in &point.velocity[..case.dim] {
                write!(out, ",{value:.8}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// A component of the velocity at a position, by the cubic through the four nearest points.
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

/// The differences between profiles and the published ones, if those are profiles.
pub fn compare(profiles: &[Profile], reference: &Reference) -> Vec<Comparison> {
    let Reference::Profiles { title, curves } = reference else { return vec![] };
    let pairs = curves.iter().filter_map(|curve| {
        let profile = profiles.iter().find(|profile| profile.axis == curve.axis)?;
        Some(profile.compare(curve, title))
    });
    pairs.collect()
}

pub(super) fn real_name(case: &Case) -> &'static str {
    match case.real {
        lbm_bundle::Real::F32 => "f32",
        lbm_bundle::Real::F64 => "f64",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn a_profile_runs_from_wall_to_wall_through_the_middle() {
        let (case, snapshot) = example::cavity(16);
        let profile = Profile::new(&case, &snapshot, 1).unwrap();
        assert_eq!(profile.points.len(), 18);
        assert_eq!(profile.points[0], Point { position: 0.0, velocity: [0.0; 3] });
        assert_eq!(profile.points[17], Point { position: 1.0, velocity: [1.0, 0.0, 0.0] });
        let expected = example::velocity(0.5, 0.5 / 16.0);
        assert!((profile.points[1].velocity[0] - expected.0).abs() < 0.02, "{:?} {expected:?}", profile.points[1]);
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
        let (case, snapshot) = example::cavity(16);
        let mut text = vec![];
        Profile::new(&case, &snapshot, 0).unwrap().write(&case, 7, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("along x through y = 1/2"), "{text}");
        let mut rows = text.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.next(), Some("x,u,v"));
        assert_eq!(rows.next(), Some("0.00000000,0.00000000,0.00000000"));
        assert_eq!(rows.count(), 17);
    }
}
