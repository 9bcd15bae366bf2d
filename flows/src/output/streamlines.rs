//! Evenly spaced streamlines.
//!
//! After Jobard & Lefer, "Creating evenly-spaced streamlines of arbitrary density" (1997): new lines start at a fixed
//! distance from existing ones, and end where they come closer than a fraction of it. A line that returns to its start
//! is closed. Termination is guaranteed for any flow: a line that runs beside itself for long, for example to and fro
//! across a sink or around a small circle, is cut where that began; and the total number of points is limited by what
//! fits into the field.

/// A point in the units of the field.
type Point = (f64, f64);

/// Distance, in separations, at which a line ends.
const END: f64 = 0.55;
/// Least distance of a line from the edge of the field, in separations.
const EDGE: f64 = 0.3;
/// Distance from its start at which a returning line is closed, in separations.
const CLOSE: f64 = 0.45;
/// Step along a line, in separations.
const STEP: f64 = 0.04;
/// Length of the shortest line that is drawn, in separations.
const SHORTEST: f64 = 1.2;
/// Length of the most recent section of a line from which it need not keep its distance, and length for which it may
/// run beside itself while it returns to its start, in separations.
const RECENT: f64 = 3.0;
/// Limit for the points of all lines, relative to lines that fill the field at their least distance: a safeguard.
const MOST: f64 = 4.0;

/// Streamlines of a velocity field on `[0, extent]`, at least `END * separation` apart. Lines end where the speed is
/// below `slowest`.
pub(super) fn streamlines(
    extent: [f64; 2],
    velocity: impl Fn(f64, f64) -> (f64, f64),
    separation: f64,
    slowest: f64,
) -> Vec<Vec<Point>> {
    let fill = extent[0] / separation * (extent[1] / separation) / END;
    let most = (MOST * (fill + RECENT) / STEP) as usize;
    let tracer = Tracer { extent, velocity, separation, slowest, most };
    let (mut drawn, mut own) = (Points::new(extent, separation), Points::new(extent, separation));
    let mut points = 0;
    let mut lines: Vec<Vec<Point>> = vec![];
    let mut next = 0;
    let rows = (extent[1] / separation).ceil() as usize * 2;
    let columns = (extent[0] / separation).ceil() as usize * 2;
    // Seeds next to existing lines come first, so that lines run side by side; then the remaining places.
    let mut leftovers = (0..rows * columns).map(|at| {
        let (column, row) = (at % columns, rows - 1 - at / columns);
        ((column as f64 + 0.5) / columns as f64 * extent[0], (row as f64 + 0.5) / rows as f64 * extent[1])
    });
    loop {
        let mut found = vec![];
        if let Some(line) = lines.get(next) {
            next += 1;
            found = beside(line, separation);
        } else if let Some(seed) = leftovers.next() {
            found.push(seed);
        } else {
            return lines;
        }
        for seed in found {
            if !tracer.inside(seed) || drawn.any_within(seed, separation) {
                continue;
            }
            let line = tracer.line(seed, &drawn, &mut own);
            let length = (line.len() as f64) * STEP;
            if length >= SHORTEST {
                points += line.len();
                line.iter().for_each(|point| drawn.add(*point));
                lines.push(line);
            }
            if points > most {
                return lines;
            }
        }
    }
}

/// Points at the separation on both sides of a line.
fn beside(line: &[Point], separation: f64) -> Vec<Point> {
    let stride = (1.0 / STEP) as usize;
    let sides = line.windows(2).step_by(stride).flat_map(|pair| {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let scale = 1.001 * separation / dx.hypot(dy).max(f64::MIN_POSITIVE);
        [(pair[0].0 - dy * scale, pair[0].1 + dx * scale), (pair[0].0 + dy * scale, pair[0].1 - dx * scale)]
    });
    sides.collect()
}

struct Tracer<F> {
    extent: [f64; 2],
    velocity: F,
    separation: f64,
    slowest: f64,
    /// Largest number of points of a line.
    most: usize,
}

impl<F: Fn(f64, f64) -> (f64, f64)> Tracer<F> {
    fn inside(&self, (x, y): Point) -> bool {
        let edge = EDGE * self.separation;
        x > edge && y > edge && x < self.extent[0] - edge && y < self.extent[1] - edge
    }

    /// The line through a seed, in both directions. `own` is scratch memory for its points.
    fn line(&self, seed: Point, drawn: &Points, own: &mut Points) -> Vec<Point> {
        own.clear();
        let (mut line, closed) = self.half(seed, 1.0, drawn, own);
        if !closed {
            let (mut back, _) = self.half(seed, -1.0, drawn, own);
            back.reverse();
            back.pop();
            back.append(&mut line);
            line = back;
        }
        line
    }

    /// The line from a seed forwards or backwards, and whether it closed at the seed.
    fn half(&self, seed: Point, sign: f64, drawn: &Points, own: &mut Points) -> (Vec<Point>, bool) {
        let step = STEP * self.separation;
        let recent = (RECENT / STEP) as usize;
        let mut line = vec![seed];
        let mut at = seed;
        let mut home = 0.0;
        // Number of consecutive points, up to here, that lie next to older ones of the line.
        let mut beside = 0;
        while line.len() < self.most {
            let Some(next) = self.step(at, sign * step) else { break };
            if !self.inside(next) || drawn.any_within(next, END * self.separation) {
                break;
            }
            let nearer = (next.0 - seed.0).hypot(next.1 - seed.1);
            if line.len() > recent && home < CLOSE * self.separation && nearer >= home {
                close(&mut line);
                return (line, true);
            }
            home = nearer;
            beside = if own.any_within(next, END * self.separation) { beside + 1 } else { 0 };
            let comes_home = line.len() > recent && home <= 2.0 * self.separation && beside <= recent;
            if beside > 0 && !comes_home {
                line.truncate(line.len() + 1 - beside);
                break;
            }
            line.push(next);
            // A line keeps its distance from itself, except from its most recent section.
            if let Some(old) = line.len().checked_sub(recent) {
                own.add(line[old]);
            }
            at = next;
        }
        if sign > 0.0 {
            line.iter().for_each(|point| own.add(*point));
            own.forget_near(seed, 2.0 * self.separation);
        }
        (line, false)
    }

    /// One step of a given length along the flow (fourth-order Runge-Kutta).
    fn step(&self, (x, y): Point, length: f64) -> Option<Point> {
        let heading = |x: f64, y: f64| {
            let (u, v) = (self.velocity)(x, y);
            let speed = u.hypot(v);
            (speed > self.slowest).then(|| (u / speed * length, v / speed * length))
        };
        let a = heading(x, y)?;
        let b = heading(x + 0.5 * a.0, y + 0.5 * a.1)?;
        let c = heading(x + 0.5 * b.0, y + 0.5 * b.1)?;
        let d = heading(x + c.0, y + c.1)?;
        let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * (b + c) + d) / 6.0;
        Some((x + mean(a.0, b.0, c.0, d.0), y + mean(a.1, b.1, c.1, d.1)))
    }
}

/// Closes a line whose end is near its start. The gap, which is due to interpolation, is distributed over the line.
fn close(line: &mut [Point]) {
    let (start, end) = (line[0], line[line.len() - 1]);
    let count = (line.len() - 1) as f64;
    for (at, point) in line.iter_mut().enumerate() {
        let part = at as f64 / count;
        *point = (point.0 + part * (start.0 - end.0), point.1 + part * (start.1 - end.1));
    }
    let last = line.len() - 1;
    line[last] = start;
}

/// Points in bins as wide as the separation, for fast neighbour search.
struct Points {
    width: f64,
    columns: usize,
    rows: usize,
    bins: Vec<Vec<Point>>,
    /// Bins that have received points since the last clear.
    used: Vec<usize>,
}

impl Points {
    fn new(extent: [f64; 2], width: f64) -> Points {
        let (columns, rows) = ((extent[0] / width) as usize + 1, (extent[1] / width) as usize + 1);
        Points { width, columns, rows, bins: vec![vec![]; columns * rows], used: vec![] }
    }

    fn bin(&self, (x, y): Point) -> (usize, usize) {
        let place = |at: f64, count: usize| ((at / self.width).max(0.0) as usize).min(count - 1);
        (place(x, self.columns), place(y, self.rows))
    }

    fn add(&mut self, point: Point) {
        let (column, row) = self.bin(point);
        let at = row * self.columns + column;
        if self.bins[at].is_empty() {
            self.used.push(at);
        }
        self.bins[at].push(point);
    }

    fn clear(&mut self) {
        self.used.drain(..).for_each(|at| self.bins[at].clear());
    }

    fn any_within(&self, point: Point, distance: f64) -> bool {
        let (column, row) = self.bin(point);
        (row.saturating_sub(1)..(row + 2).min(self.rows)).any(|row| {
            (column.saturating_sub(1)..(column + 2).min(self.columns)).any(|column| {
                let bin = &self.bins[row * self.columns + column];
                bin.iter().any(|other| (other.0 - point.0).hypot(other.1 - point.1) < distance)
            })
        })
    }

    fn forget_near(&mut self, point: Point, distance: f64) {
        for at in &self.used {
            self.bins[*at].retain(|other| (other.0 - point.0).hypot(other.1 - point.1) >= distance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_uniform_flow_are_straight_and_evenly_spaced() {
        let lines = streamlines([10.0, 10.0], |_, _| (2.0, 0.0), 1.0, 1e-9);
        let mut heights: Vec<f64> = lines.iter().filter(|line| line.len() > 200).map(|line| line[0].1).collect();
        heights.sort_by(f64::total_cmp);
        assert!(heights.len() >= 8 && heights.len() <= 18, "{heights:?}");
        for line in &lines {
            assert!(line.iter().all(|point| (point.1 - line[0].1).abs() < 1e-9));
        }
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 0.54), "{heights:?}");
    }

    #[test]
    fn lines_of_a_vortex_are_closed_circles() {
        let lines = streamlines([10.0, 10.0], |x, y| (-(y - 5.0), x - 5.0), 0.5, 1e-9);
        let closed: Vec<_> = lines.iter().filter(|line| line[0] == line[line.len() - 1]).collect();
        assert!(closed.len() >= 5, "{}", closed.len());
        for line in closed {
            let radius = |point: &Point| (point.0 - 5.0).hypot(point.1 - 5.0);
            assert!(line.iter().all(|point| (radius(point) - radius(&line[0])).abs() < 0.01));
        }
    }

    #[test]
    fn a_slow_spiral_is_drawn_closed() {
        let lines =
            streamlines([10.0, 10.0], |x, y| (5.0 - y - 2e-3 * (x - 5.0), x - 5.0 - 2e-3 * (y - 5.0)), 0.5, 1e-9);
        let closed = lines.iter().filter(|line| line[0] == line[line.len() - 1]).count();
        assert!(closed >= 5, "{closed}");
    }

    /// The lines of a flow, and the number of their points relative to lines that fill the field.
    fn filled(flow: impl Fn(f64, f64) -> (f64, f64)) -> (Vec<Vec<Point>>, f64) {
        let lines = streamlines([20.0, 20.0], flow, 1.0, 1e-9);
        let points: usize = lines.iter().map(Vec::len).sum();
        (lines, points as f64 * STEP * END / (20.0 * 20.0))
    }

    #[test]
    fn lines_that_swing_across_a_sink_end_there() {
        // At y = 10.013 the flow converges from both sides: lines of any length would go to and fro in one bin.
        let (lines, filled) = filled(|x, y| (0.02 * (x - 10.0), 10.013 - y - 0.3 * (y - 10.013).signum()));
        assert!(lines.len() > 10 && filled < 1.0, "{} lines, {filled}", lines.len());
        let longest = lines.iter().map(Vec::len).max();
        assert!(longest < Some(2 * (20.0 / STEP) as usize), "{longest:?}");
    }

    #[test]
    fn a_line_that_goes_round_in_a_small_circle_ends() {
        // Every line converges to a limit cycle with a radius of a tenth of the separation.
        let flow = |x: f64, y: f64| {
            let (x, y) = (x - 10.0, y - 10.0);
            let inwards = 0.5 * (0.01 - x * x - y * y).max(-1.0);
            (inwards * x - y, inwards * y + x)
        };
        let (lines, filled) = filled(flow);
        assert!(!lines.is_empty() && filled < 1.0, "{} lines, {filled}", lines.len());
    }

    #[test]
    fn a_field_at_rest_has_no_lines() {
        assert!(streamlines([10.0, 10.0], |_, _| (0.0, 0.0), 1.0, 1e-9).is_empty());
    }

    #[test]
    fn lines_keep_their_distance() {
        let flow = |x: f64, y: f64| ((3.0 * y).sin() + 0.3, (2.0 * x).cos());
        let lines = streamlines([6.0, 6.0], flow, 0.3, 1e-9);
        for (at, line) in lines.iter().enumerate() {
            for other in &lines[..at] {
                for a in line {
                    let near = other.iter().map(|b| (a.0 - b.0).hypot(a.1 - b.1)).fold(f64::MAX, f64::min);
                    assert!(near >= END * 0.3 - 1e-9, "{near}");
                }
            }
        }
    }
}
