//! Streamlines of a volume: the curves through given points along which the velocity points.
//!
//! The velocity is interpolated as probes do, linearly along each axis, so that that of a body which turns, or of a uniform flow, is exact. A curve is
//! followed in both directions in steps of half a cell, the cells of the level that it is in, until it leaves the domain, comes to a solid or to
//! fluid at rest, or returns to its start; or for some lengths of the domain. Across a periodic face it goes on at the other side, as
//! another piece.

use lbm_runtime::geometry::solid::Solids;
use lbm_runtime::solver::at_points::AtPoints;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::derived::Derived;
use super::hull::dot;

/// Step along a curve, in cells of the level that it is in.
const STEP: f64 = 0.5;
/// Length in each direction at most, in sums of the sides of the domain.
const LONGEST: f64 = 4.0;
/// Points in each direction at most.
const MOST: usize = 10_000;
/// Speed, as a part of the largest one, below which the fluid is at rest.
const AT_REST: f64 = 1e-4;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// In cells of the coarsest level.
    pub(super) at: [f64; 3],
    /// Value of the colouring field; 0 without one.
    pub(super) colour: f64,
}

/// A velocity field that curves follow.
struct Tracer<'a> {
    snapshot: &'a Snapshot,
    points: AtPoints<'a>,
    velocity: Vec<&'a [f64]>,
    colour: Option<&'a Derived<'a>>,
    slowest: f64,
}

/// The pieces of the curves through these points, each of two points at least. Nothing if the snapshot has no velocity.
pub(super) fn tubes(
    snapshot: &Snapshot,
    solids: &Solids,
    seeds: &[[f64; 3]],
    colour: Option<&Derived<'_>>,
) -> Vec<Vec<Point>> {
    let Some(velocity) = snapshot.vector("u") else { return vec![] };
    let speed = |at: usize| velocity.iter().map(|component| component[at].powi(2)).sum::<f64>();
    let fastest = (0..velocity[0].len()).map(speed).filter(|speed| speed.is_finite()).fold(0.0, f64::max).sqrt();
    let points = AtPoints::new(snapshot, Some(solids));
    let tracer = Tracer { snapshot, points, velocity, colour, slowest: fastest * AT_REST };
    seeds.par_iter().flat_map_iter(|seed| tracer.curve(*seed)).collect()
}

impl Tracer<'_> {
    /// The curve through a point, in pieces.
    fn curve(&self, seed: [f64; 3]) -> Vec<Vec<Point>> {
        let (mut pieces, is_closed) = self.half(seed, 1.0);
        if !is_closed {
            let (mut back, _) = self.half(seed, -1.0);
            // The pieces that begin at the seed are one.
            if let (Some(first), Some(other)) = (pieces.first_mut(), back.first_mut()) {
                other.reverse();
                other.pop();
                other.append(first);
                *first = std::mem::take(other);
            }
            pieces.extend(back.into_iter().skip(1));
        }
        pieces.retain(|piece| piece.len() > 1);
        pieces
    }

    /// The curve from a point forwards or backwards, in pieces, and whether it has returned to the point.
    fn half(&self, seed: [f64; 3], sign: f64) -> (Vec<Vec<Point>>, bool) {
        let mut pieces = vec![vec![]];
        let Some(start) = self.point(seed) else { return (pieces, false) };
        pieces[0].push(start);
        let size = self.snapshot.size().map(|side| side as f64);
        let longest = LONGEST * size.iter().sum::<f64>();
        let (mut at, mut length, mut before) = (seed, 0.0, 0.0);
        for _ in 0..MOST {
            let Some((next, step)) = self.step(at, sign) else { break };
            let (mut end, mut goes_on) = (next, next);
            // Where it leaves the domain it ends, or goes on at the other side.
            let beyond = |axis: usize| (next[axis] - next[axis].clamp(0.0, size[axis])).abs();
            let out = (0..3).max_by(|a, b| beyond(*a).total_cmp(&beyond(*b))).filter(|axis| beyond(*axis) > 0.0);
            if let Some(axis) = out {
                let part = 1.0 - beyond(axis) / (next[axis] - at[axis]).abs();
                end = [0, 1, 2].map(|axis| at[axis] + part * (next[axis] - at[axis]));
                goes_on = end;
                goes_on[axis] = if end[axis] > 0.5 * size[axis] { 0.0 } else { size[axis] };
            }
            let (Some(last), Some(first)) = (self.point(end), self.point(goes_on)) else { break };
            let last_piece = pieces.len() - 1;
            pieces[last_piece].push(last);
            length += step;
            let home = apart(goes_on, seed);
            // It has passed its start.
            if length > 3.0 * step && before < step && home > before {
                let piece = &mut pieces[last_piece];
                piece.pop();
                // The point before may have passed it, too.
                let is_beyond = |point: &mut Point| {
                    let [home, ahead] = [start.at, end].map(|to| [0, 1, 2].map(|axis| to[axis] - point.at[axis]));
                    dot(home, ahead) < 0.0
                };
                piece.pop_if(is_beyond);
                piece.push(start);
                return (pieces, true);
            }
            before = home;
            match out {
                Some(axis) if !self.snapshot.domain.periodic[axis] => break,
                Some(_) => pieces.push(vec![first]),
                None => {}
            }
            at = goes_on;
            if length > longest {
                break;
            }
        }
        (pieces, false)
    }

    /// The point half a cell further (fourth-order Runge-Kutta), and the length of the step; `None` in a solid or at rest.
    fn step(&self, at: [f64; 3], sign: f64) -> Option<([f64; 3], f64)> {
        let (level, _) = self.points.weights(at)?;
        let step = STEP * 0.5f64.powi(level as i32);
        let moved = |by: [f64; 3], part: f64| [0, 1, 2].map(|axis| at[axis] + part * by[axis]);
        let heading = |at: [f64; 3]| {
            let velocity = self.velocity_at(at)?;
            let speed = dot(velocity, velocity).sqrt();
            (speed > self.slowest).then(|| velocity.map(|part| sign * step * part / speed))
        };
        let a = heading(at)?;
        let b = heading(moved(a, 0.5))?;
        let c = heading(moved(b, 0.5))?;
        let d = heading(moved(c, 1.0))?;
        Some(([0, 1, 2].map(|axis| at[axis] + (a[axis] + 2.0 * (b[axis] + c[axis]) + d[axis]) / 6.0), step))
    }

    fn velocity_at(&self, at: [f64; 3]) -> Option<[f64; 3]> {
        let (_, weights) = self.points.weights(at)?;
        Some([0, 1, 2].map(|axis| weights.iter().map(|(cell, weight)| weight * self.velocity[axis][*cell]).sum()))
    }

    /// A point with its colour; `None` in a solid.
    fn point(&self, at: [f64; 3]) -> Option<Point> {
        let (_, weights) = self.points.weights(at)?;
        let of = |colour: &Derived<'_>| weights.iter().map(|(cell, weight)| weight * colour.shown(*cell)).sum();
        Some(Point { at, colour: self.colour.map_or(0.0, of) })
    }
}

fn apart(one: [f64; 3], other: [f64; 3]) -> f64 {
    let off = [0, 1, 2].map(|axis| one[axis] - other[axis]);
    dot(off, off).sqrt()
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots::{self, Field};
    use lbm_runtime::geometry::Domain;
    use lbm_runtime::geometry::solid::{Shape, Solid};

    use super::*;

    const SIZE: usize = 32;

    fn flow(periodic: bool, levels: bool, velocity: [&dyn Fn([f64; 3]) -> f64; 3]) -> Snapshot {
        let domain = Domain { dim: 3, size: [SIZE; 3], periodic: [periodic; 3] };
        let [ux, uy, uz] = velocity;
        let fields: [Field<'_>; 4] = [("rho", &|_| 1.0), ("ux", ux), ("uy", uy), ("uz", uz)];
        let refines = |block: lbm_runtime::geometry::Block| levels && block.level == 0 && block.place[0] >= 4;
        snapshots::refined(domain, refines, &fields)
    }

    fn none() -> Solids {
        Solids::new(&[], 3, [SIZE; 3], [4; 3], [false; 3])
    }

    #[test]
    fn around_a_body_that_turns_they_are_circles() {
        for levels in [false, true] {
            let turns = flow(false, levels, [&|[_, y, _]| 16.0 - y, &|[x, _, _]| x - 16.0, &|_| 0.0]);
            let pieces = tubes(&turns, &none(), &[[26.0, 16.0, 9.0], [16.0, 12.0, 20.0]], None);
            assert_eq!(pieces.len(), 2);
            for (piece, radius) in pieces.iter().zip([10.0, 4.0]) {
                assert_eq!(piece[0], piece[piece.len() - 1], "closed");
                let off = |point: &Point| ((point.at[0] - 16.0).hypot(point.at[1] - 16.0) - radius).abs();
                let error = piece.iter().map(off).fold(0.0, f64::max);
                // Of fourth order in the step over the radius.
                assert!(
                    error < 1e-4 && piece.iter().all(|point| (point.at[2] - piece[0].at[2]).abs() < 1e-12),
                    "{error}"
                );
                let length: f64 = piece.windows(2).map(|pair| apart(pair[0].at, pair[1].at)).sum();
                assert!((length / (std::f64::consts::TAU * radius) - 1.0).abs() < 5e-3, "once around: {length}");
            }
        }
    }

    #[test]
    fn in_a_uniform_flow_they_are_straight_from_face_to_face() {
        let uniform = flow(false, true, [&|_| 0.06, &|_| 0.03, &|_| 0.0]);
        let pieces = tubes(&uniform, &none(), &[[16.0, 16.0, 5.0]], None);
        let piece = &pieces[0];
        let (first, last) = (piece[0].at, piece[piece.len() - 1].at);
        assert!(pieces.len() == 1 && first[0].abs() < 1e-9 && (last[0] - 32.0).abs() < 1e-9, "{first:?} {last:?}");
        assert!(piece.iter().all(|point| (point.at[1] - (8.0 + 0.5 * point.at[0])).abs() < 1e-9));
    }

    #[test]
    fn across_a_periodic_face_they_go_on_until_they_are_home() {
        let uniform = flow(true, false, [&|_| 0.05, &|_| 0.0, &|_| 0.0]);
        let pieces = tubes(&uniform, &none(), &[[10.2, 16.0, 5.0]], None);
        let length = |piece: &Vec<Point>| apart(piece[0].at, piece[piece.len() - 1].at);
        let all: f64 = pieces.iter().map(length).sum();
        assert!(pieces.len() == 2 && (all - 32.0).abs() < 1e-9, "{all} in {} pieces", pieces.len());
    }

    #[test]
    fn at_a_solid_and_at_rest_they_end() {
        let uniform = flow(false, false, [&|_| 0.05, &|_| 0.0, &|_| 0.0]);
        let shape = Shape::Sphere { centre: [20.0, 16.0, 16.0], radius: 5.0 };
        let body = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[body], 3, [SIZE; 3], [4; 3], [false; 3]);
        let seeds = [[2.0, 16.0, 16.0], [20.0, 16.0, 16.0], [2.0, 4.0, 16.0]];
        let pieces = tubes(&uniform, &solids, &seeds, None);
        let ends: Vec<f64> = pieces.iter().map(|piece| piece[piece.len() - 1].at[0]).collect();
        assert!(ends.len() == 2 && (14.0..=15.0).contains(&ends[0]) && (ends[1] - 32.0).abs() < 1e-9, "{ends:?}");
        assert!(tubes(&flow(false, false, [&|_| 0.0; 3]), &none(), &seeds, None).is_empty());
    }
}
