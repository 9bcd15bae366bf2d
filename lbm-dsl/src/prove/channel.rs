//! Where a boundary rule puts the wall, by solving steady channel flows near rest.
//!
//! A column of cells along x across a channel, the same along the walls, both ends the rule. A flow along y is odd in `c_y`:
//! that half of the populations is the unknown, so density and what the walls do to it do not enter. With the derivatives of
//! collision and rule about rest the steady state is a linear system, solved directly; two flows are made:
//!
//! - linear between walls: Couette flow where the rule has a velocity, else flow driven in the middle cell alone;
//! - parabolic: Poiseuille flow, driven by the same force `a` in every cell, `w_i c_iy a / cs2` after the collision. The
//!   velocity of a cell is then its momentum plus half the force.
//!
//! Cells read of each other what they show in this flow, and beyond a wall what the rule says of the image, which is the cell before the wall.
//!
//! The wall is where the profile, continued from cells away from it, has the velocity of the wall. For half-way bounce-back
//! and Poiseuille flow, `H_eff^2 = H^2 + 16/3 L - 1` with `L = (1/s+ - 1/2) (1/s- - 1/2)` for the rates of even and odd
//! moments (Ginzburg & d'Humieres, Phys. Rev. E 68 (2003) 066614).

use nalgebra::{DMatrix, DVector};
use num_traits::ToPrimitive;

use crate::expr::{ExprId, Rational, Symbol};
use crate::lattice::{Dir, Lattice};
use crate::model::{Boundary, Model, Param, Rule};
use crate::prove::faces;
use crate::prove::linear::{self, Dual, NotLinear};

/// Cells across the channels.
pub const HEIGHTS: [usize; 3] = [9, 17, 33];
/// Distances below this are rounding.
const ROUNDING: f64 = 1e-8;
/// A wall further than this from the last cell is none.
const FAR: f64 = 3.0;

/// Where a rule puts the wall, in cells behind the centre of the last cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// For linear profiles, in the highest channel.
    pub linear: f64,
    /// For parabolic profiles, in each channel of [`HEIGHTS`].
    pub parabolic: [f64; 3],
}

impl Wall {
    /// Error of a parabolic profile against a linear one in the highest channel, times the cells across it.
    pub fn defect(&self) -> f64 {
        (self.parabolic[2] - self.linear) * HEIGHTS[2] as f64
    }

    /// Order in which the place of the wall converges, relative to the height; `None` if parabolic profiles are exact too.
    pub fn order(&self) -> Option<f64> {
        let errors = self.parabolic.map(|place| (place - self.linear).abs());
        (errors[2] > ROUNDING).then(|| {
            let cells = HEIGHTS[2] as f64 / HEIGHTS[1] as f64;
            (errors[1] / errors[2]).ln() / cells.ln() + 1.0
        })
    }
}

/// Why there is no place of the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWall {
    /// The rule sets something else: it has a parameter that is neither a velocity nor a number from a range.
    OtherMeaning,
    /// It does not hold the velocity along the wall.
    Slips,
    /// Velocities reach beyond the next cell.
    LongVelocities,
    /// The collision or the rule has no derivative at rest.
    NotLinear(NotLinear),
}

/// Shares of their ranges at which a rule's own numbers are tried.
const SHARES: [f64; 3] = [0.125, 0.375, 0.75];

/// Values at which the numbers of a rule that have a range are tried: `choices[choice][param]`, a single empty choice if it
/// has none.
pub fn choices(rule: &Boundary) -> Vec<Vec<Option<f64>>> {
    let at = |share: f64| -> Vec<Option<f64>> {
        let value = |param: &Param| {
            let (low, high) = param.range.as_ref().filter(|_| param.components == 1)?;
            Some(float(low) + share * (float(high) - float(low)))
        };
        rule.params.iter().map(value).collect()
    };
    let all: Vec<Vec<Option<f64>>> = SHARES.iter().map(|share| at(*share)).collect();
    if all[0].iter().any(Option::is_some) { all } else { vec![vec![None; rule.params.len()]] }
}

/// The place of the wall of a rule. `params[param][component]` are those of the method, `own[param]` the rule's own numbers,
/// one of its [`choices`].
pub fn wall(model: &Model, rule: &Boundary, params: &[Vec<f64>], own: &[Option<f64>]) -> Result<Wall, NoWall> {
    if faces::lets_nothing_through(model, rule) {
        return Err(NoWall::Slips);
    }
    let velocity = |param: &Param| param.name == "velocity" && param.components > 1;
    let moves = rule.params.iter().any(velocity);
    if rule.params.iter().zip(own).any(|(param, own)| !velocity(param) && own.is_none()) {
        return Err(NoWall::OtherMeaning);
    }
    let lattice = model.lattice();
    if lattice.dirs().any(|dir| lattice.velocity(dir).iter().any(|c| c.abs() > 1)) {
        return Err(NoWall::LongVelocities);
    }
    if let Rule::Link(links) = &rule.rule
        && model.exprs.symbols(links).any(|symbol| matches!(symbol, Symbol::Mirrored(_)))
    {
        return Err(NoWall::Slips);
    }
    let column = Column::new(model, rule, params, own).map_err(NoWall::NotLinear)?;
    let linear = if moves { column.couette(HEIGHTS[2]) } else { column.driven_in_the_middle(HEIGHTS[2]) };
    let linear = linear.ok_or(NoWall::Slips)?;
    let mut parabolic = [0.0; 3];
    for (place, height) in parabolic.iter_mut().zip(HEIGHTS) {
        *place = column.poiseuille(height).ok_or(NoWall::Slips)?;
    }
    Ok(Wall { linear, parabolic })
}

/// The equations of a column, for the populations with `c_y > 0`; the others are minus their mirror images.
struct Column<'m> {
    lattice: &'m Lattice,
    /// Directions with `c_y > 0`.
    dirs: Vec<Dir>,
    /// For each of `dirs`, the place there of its mirror image across the channel.
    across: Vec<usize>,
    /// The collision: after it from before it.
    collision: DMatrix<f64>,
    /// What a cell shows to others, from before its collision: a row for each value.
    shown: DMatrix<f64>,
    /// The collision, from what the cells across show that lie at -1 and at 1: a column for each value.
    across_reads: [(i32, DMatrix<f64>); 2],
    /// The rule at the lower wall, whose inward normal is x.
    end: End,
}

/// What a rule makes of the populations of a cell at the lower wall, near rest: a row for each of [`Column::dirs`].
struct End {
    /// Whether the rule gives that population; else it is what has arrived.
    given: Vec<bool>,
    /// From what the cell has after its collision.
    own: DMatrix<f64>,
    /// From what has arrived in the cell.
    streamed: DMatrix<f64>,
    /// From what the next cell has before its collision.
    inside: DMatrix<f64>,
    /// For a wall that moves along y at velocity 1.
    moving: DVector<f64>,
    /// What a cell beyond the wall shows, from what its image shows, which is the cell before the wall: a row for each value.
    beyond: DMatrix<f64>,
    /// The same for a wall that moves along y at velocity 1.
    beyond_moving: DVector<f64>,
}

impl End {
    fn new(
        model: &Model,
        rule: &Boundary,
        dirs: &[Dir],
        state: &[f64],
        numbers: &[Option<f64>],
    ) -> Result<Self, NotLinear> {
        let (lattice, q) = (model.lattice(), model.lattice().q());
        // The outputs of the rule, a row for every direction that it gives.
        let (given, outputs): (Vec<Dir>, Vec<ExprId>) = match &rule.rule {
            Rule::Link(links) => lattice.dirs().map(|dir| (dir, links[dir.index()])).unzip(),
            Rule::Node(forms) => (forms[0].dirs.clone(), forms[0].formulas.outputs.clone()),
        };
        let (streamed, inside, deep, speed) = (q, 2 * q, 3 * q, 4 * q);
        let own_of_wall = |param: u16, component: u8, moves: Dual| match (numbers[usize::from(param)], component) {
            (Some(value), _) => Dual::constant(value),
            (None, 1) => moves,
            (None, _) => Dual::constant(0.0),
        };
        let all = linear::derivatives(&model.exprs, &outputs, speed + 1, |symbol| {
            let variable = |value: f64, at: usize| Dual::variable(value, at, speed + 1);
            match symbol {
                Symbol::Population(pop) => variable(state[pop.index()], pop.index()),
                Symbol::Streamed(dir) => variable(state[dir.index()], streamed + dir.index()),
                Symbol::Inside(dir) => variable(state[dir.index()], inside + dir.index()),
                Symbol::Deep(dir) => variable(state[dir.index()], deep + dir.index()),
                Symbol::WallParam { param, component } => own_of_wall(param, component, variable(0.0, speed)),
                _ => Dual::constant(0.0),
            }
        })?;
        // At rest, which is where values are zero that have a direction; of others the disturbance is none.
        let at = model.boundaries.iter().position(|other| other.name == rule.name);
        let beyond = model.around.as_ref().zip(at).map_or(&[][..], |(around, at)| &around.beyond[at]);
        let values = beyond.len();
        let beyond = linear::derivatives(&model.exprs, beyond, values + 1, |symbol| match symbol {
            Symbol::Neighbour { shown, .. } => Dual::variable(0.0, shown.into(), values + 1),
            Symbol::WallParam { param, component } => {
                own_of_wall(param, component, Dual::variable(0.0, values, values + 1))
            }
            _ => Dual::constant(0.0),
        })?;
        let row = |dir: Dir| given.iter().position(|other| *other == dir);
        let part = |first: usize| {
            DMatrix::from_fn(dirs.len(), dirs.len(), |i, j| {
                let Some(row) = row(dirs[i]) else { return 0.0 };
                all[(row, first + dirs[j].index())] - all[(row, first + mirrored(lattice, dirs[j], 1).index())]
            })
        };
        let enters = |dir: Dir| lattice.velocity(dir)[0] > 0;
        let links = matches!(rule.rule, Rule::Link(_));
        Ok(Self {
            given: dirs.iter().map(|dir| if links { enters(*dir) } else { row(*dir).is_some() }).collect(),
            own: part(0),
            streamed: part(streamed),
            inside: part(inside),
            moving: DVector::from_fn(dirs.len(), |i, _| row(dirs[i]).map_or(0.0, |row| all[(row, speed)])),
            beyond_moving: beyond.column(values).into_owned(),
            beyond: beyond.columns(0, values).into_owned(),
        })
    }
}

impl<'m> Column<'m> {
    fn new(model: &'m Model, rule: &Boundary, params: &[Vec<f64>], own: &[Option<f64>]) -> Result<Self, NotLinear> {
        let lattice = model.lattice();
        let dirs: Vec<Dir> = lattice.dirs().filter(|dir| lattice.velocity(*dir)[1] > 0).collect();
        let rest = vec![0.0; lattice.dim()];
        let all = linear::collision(model, params, &rest)?;
        // Of states that are odd in `c_y`.
        let odd = |matrix: &DMatrix<f64>| {
            DMatrix::from_fn(matrix.nrows(), dirs.len(), |i, j| {
                matrix[(i, dirs[j].index())] - matrix[(i, mirrored(lattice, dirs[j], 1).index())]
            })
        };
        let places: Vec<usize> = dirs.iter().map(|dir| dir.index()).collect();
        let rows = |matrix: &DMatrix<f64>| matrix.select_rows(&places);
        let reads = |shift: i32| {
            let none = DMatrix::zeros(all.own.nrows(), all.shown.nrows());
            let there = all.around.iter().filter(|(velocity, _)| velocity[0] == shift);
            rows(&there.fold(none, |sum, (_, by)| sum + by))
        };
        let shown = odd(&all.shown);
        let collision = odd(&rows(&all.own)) + reads(0) * &shown;
        let across_reads = [-1, 1].map(|shift| (shift, reads(shift)));
        let state = linear::equilibrium(model, params, &rest)?;
        let end = End::new(model, rule, &dirs, &state, own)?;
        let image = |dir: &Dir| dirs.iter().position(|other| *other == mirrored(lattice, *dir, 0));
        let across = dirs.iter().enumerate().map(|(at, dir)| image(dir).unwrap_or(at)).collect();
        Ok(Self { lattice, dirs, across, collision, shown, across_reads, end })
    }

    /// Velocity of each cell in steady state: `force[cell]`, and the velocities of the lower and the upper wall.
    fn solve(&self, force: &[f64], walls: [f64; 2]) -> Option<Vec<f64>> {
        let (height, q) = (force.len(), self.dirs.len());
        let mut system = DMatrix::<f64>::identity(height * q, height * q);
        let mut given = DVector::<f64>::zeros(height * q);
        // Takes `factor` times what direction `i` of a cell has after its collision into a row.
        let pushes = DVector::from_fn(q, |i, _| self.push(self.dirs[i]));
        // What a cell shows beside that, as half of the force has acted.
        let shown_push = 0.5 * &self.shown * &pushes;
        let beyond_shown = &self.end.beyond * &self.shown;
        let beyond_push = &self.end.beyond * &shown_push;
        let after = |system: &mut DMatrix<f64>, given: &mut DVector<f64>, row, cell: usize, i: usize, factor: f64| {
            for j in 0..q {
                system[(row, cell * q + j)] -= factor * self.collision[(i, j)];
            }
            given[row] += factor * pushes[i] * force[cell];
            for (shift, reads) in &self.across_reads {
                let there = cell.checked_add_signed(*shift as isize).filter(|there| *there < height);
                for (value, read) in reads.row(i).iter().enumerate() {
                    let (source, shown, push) = match there {
                        Some(there) => (there, &self.shown, &shown_push),
                        None => (cell, &beyond_shown, &beyond_push),
                    };
                    for j in 0..q {
                        system[(row, source * q + j)] -= factor * read * shown[(value, j)];
                    }
                    given[row] += factor * read * push[value] * force[source];
                    if there.is_none() {
                        given[row] += factor * read * self.end.beyond_moving[value] * walls[usize::from(*shift > 0)];
                    }
                }
            }
        };
        let from = |cell: usize, i: usize| {
            let from = cell as i64 - i64::from(self.lattice.velocity(self.dirs[i])[0]);
            usize::try_from(from).ok().filter(|from| *from < height)
        };
        for cell in 0..height {
            // At the upper wall the rule is mirrored across the channel.
            let wall = match cell {
                0 => Some((0, cell + 1)),
                _ if cell == height - 1 => Some((1, cell - 1)),
                _ => None,
            };
            for i in 0..q {
                let row = cell * q + i;
                let image = |i: usize, side: usize| if side == 0 { i } else { self.across[i] };
                match wall.filter(|(side, _)| self.end.given[image(i, *side)]) {
                    None => after(&mut system, &mut given, row, from(cell, i)?, i, 1.0),
                    Some((side, inward)) => {
                        let line = image(i, side);
                        for j in 0..q {
                            let column = image(j, side);
                            after(&mut system, &mut given, row, cell, j, self.end.own[(line, column)]);
                            if let Some(source) = from(cell, j) {
                                after(&mut system, &mut given, row, source, j, self.end.streamed[(line, column)]);
                            }
                            system[(row, inward * q + j)] -= self.end.inside[(line, column)];
                        }
                        given[row] += self.end.moving[line] * walls[side];
                    }
                }
            }
        }
        let solution = system.lu().solve(&given)?;
        let momentum = |cell: usize| (0..q).map(|i| 2.0 * solution[cell * q + i]).sum::<f64>();
        let velocity: Vec<f64> = (0..height).map(|cell| momentum(cell) + 0.5 * force[cell]).collect();
        velocity.iter().all(|u| u.is_finite()).then_some(velocity)
    }

    /// What a force of 1 adds to a population.
    fn push(&self, dir: Dir) -> f64 {
        float(self.lattice.weight(dir)) * f64::from(self.lattice.velocity(dir)[1]) / float(self.lattice.cs2())
    }

    fn couette(&self, height: usize) -> Option<f64> {
        let u = self.solve(&vec![0.0; height], [0.0, 1.0])?;
        let (a, b) = (height / 4, height - 1 - height / 4);
        let slope = (u[b] - u[a]) / (b - a) as f64;
        let lower = u[a] / slope - a as f64;
        let upper = (1.0 - u[b]) / slope - (height - 1 - b) as f64;
        // Both walls are the same rule; where their places differ, it holds another velocity than it is given.
        near(lower).filter(|_| (lower - upper).abs() < ROUNDING)
    }

    fn driven_in_the_middle(&self, height: usize) -> Option<f64> {
        let mut force = vec![0.0; height];
        force[height / 2] = 1.0;
        let u = self.solve(&force, [0.0, 0.0])?;
        let (a, b) = (height / 8, 3 * height / 8);
        near(u[a] * (b - a) as f64 / (u[b] - u[a]) - a as f64)
    }

    fn poiseuille(&self, height: usize) -> Option<f64> {
        let u = self.solve(&vec![1.0; height], [0.0, 0.0])?;
        // The profile is even about the middle: u = top - curvature y^2.
        let middle = (height - 1) as f64 / 2.0;
        let (a, b) = (height / 4, height / 2);
        let (ya, yb) = (a as f64 - middle, b as f64 - middle);
        let curvature = (u[b] - u[a]) / (ya * ya - yb * yb);
        let top = u[a] + curvature * ya * ya;
        near((top / curvature).sqrt() - middle)
    }
}

/// The direction with the other sign along an axis.
fn mirrored(lattice: &Lattice, dir: Dir, axis: usize) -> Dir {
    let mut velocity = lattice.velocity(dir).to_vec();
    velocity[axis] = -velocity[axis];
    lattice.find(&velocity).unwrap_or(dir)
}

fn float(value: &Rational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// The place, unless it is far from any wall.
fn near(place: f64) -> Option<f64> {
    (place.abs() < FAR).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::fixture::Run;
    use crate::shipped;
    use crate::source::Source;

    fn places(name: &str, rule: &str, omega: f64) -> Wall {
        all_places(name, rule, omega).remove(0).1
    }

    /// For each choice of the rule's own numbers, the first of them and the wall.
    fn all_places(name: &str, rule: &str, omega: f64) -> Vec<(Option<f64>, Wall)> {
        let source = Source::new(name, shipped::spec(name).unwrap());
        let model = crate::fixture::compile_with(&source, &shipped::Prelude, &[rule], None, None).unwrap();
        let rule = model.boundaries().iter().find(|boundary| boundary.name == rule).unwrap();
        let place =
            |own: Vec<Option<f64>>| (own.first().copied().flatten(), wall(&model, rule, &[vec![omega]], &own).unwrap());
        choices(rule).into_iter().map(place).collect()
    }

    /// A run of a channel of a method that reads slopes of the velocity ends in the flow that the analysis finds, between walls behind which the
    /// velocity is turned around.
    #[test]
    fn channels_of_methods_that_read_values_of_cells_around_are_those_of_a_run() {
        let source = Source::new("x", shipped::spec("d2q9_hybrid").unwrap());
        let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
        let frozen = model.frozen();
        let rule = frozen.boundaries().iter().find(|boundary| boundary.name == "bounce_back").unwrap();
        let params = [vec![1.2], vec![0.5]];
        const CELLS: usize = 9;
        let force = 1e-9;
        let mut run = Run::new(&frozen, &params, Some("bounce_back"), &[0.0; CELLS], force);
        run.run(4000);
        let column = Column::new(&frozen, rule, &params, &[]).unwrap();
        let found = column.solve(&[1.0; CELLS], [0.0, 0.0]).unwrap();
        for (found, measured) in found.iter().zip(run.velocities()) {
            assert!((found * force / measured - 1.0).abs() < 1e-6, "{found}, measured {}", measured / force);
        }
        // With the slope of a fluid that stands still behind the wall it is another flow.
        let still = Column { end: End { beyond: 0.0 * &column.end.beyond, ..column.end }, ..column };
        let other = still.solve(&[1.0; CELLS], [0.0, 0.0]).unwrap();
        assert!((other[0] / found[0] - 1.0).abs() > 1e-3, "{} {}", other[0], found[0]);
        let place = wall(&frozen, rule, &params, &[]).unwrap();
        assert!((place.linear - 0.5).abs() < 0.1, "{place:?}");
    }

    #[test]
    fn walls_of_nodes_are_on_the_nodes() {
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
            for rule in ["zou_he_velocity", "regularized_velocity"] {
                for omega in [0.5, 1.9] {
                    let wall = places(name, rule, omega);
                    assert!(wall.linear.abs() < 1e-9, "{name} {rule} {omega}: {wall:?}");
                    let order = wall.order();
                    assert!(order.is_none_or(|order| order > 1.9), "{name} {rule} {omega}: {wall:?} {order:?}");
                }
            }
        }
    }

    #[test]
    fn interpolated_walls_are_where_they_are_told() {
        for name in ["d2q9_bgk", "d3q19_bgk"] {
            for omega in [0.5, 1.9] {
                for (distance, wall) in all_places(name, "interpolated_bounce_back", omega) {
                    let distance = distance.unwrap();
                    assert!((wall.linear - distance).abs() < 1e-9, "{name} {omega} {distance}: {wall:?}");
                    let order = wall.order().unwrap();
                    assert!((order - 2.0).abs() < 0.1, "{name} {omega} {distance}: {wall:?} {order}");
                }
            }
        }
    }

    #[test]
    fn half_way_walls_are_half_way_for_linear_profiles() {
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_cumulant"] {
            for rule in ["bounce_back", "moving_wall"] {
                for omega in [0.5, 1.9] {
                    let wall = places(name, rule, omega);
                    assert!((wall.linear - 0.5).abs() < 1e-9, "{name} {rule} {omega}: {wall:?}");
                }
            }
        }
    }

    /// Ginzburg & d'Humieres (2003); one rate s+ = s- = omega for BGK, so L = (1/omega - 1/2)^2.
    #[test]
    fn parabolic_profiles_of_bgk_end_where_theory_says() {
        for omega in [0.6, 1.0, 1.5, 1.9] {
            let wall = places("d2q9_bgk", "bounce_back", omega);
            let magic = (1.0 / omega - 0.5_f64).powi(2);
            for (place, height) in wall.parabolic.iter().zip(HEIGHTS) {
                let height = height as f64;
                let effective = (height * height + 16.0 / 3.0 * magic - 1.0).sqrt();
                assert!((place - 0.5 - (effective - height) / 2.0).abs() < 1e-9, "{omega}: {wall:?}");
            }
            let order = wall.order().unwrap();
            assert!((order - 2.0).abs() < 0.05, "{omega}: order {order}");
        }
    }

    #[test]
    fn the_magic_rate_makes_parabolas_exact() {
        // L = 3/16: 1/omega = 1/2 + sqrt(3)/4.
        let wall = places("d2q9_bgk", "moving_wall", 1.0 / (0.5 + 3.0_f64.sqrt() / 4.0));
        assert_eq!(wall.order(), None, "{wall:?}");
    }
}
