//! Where a boundary rule puts the wall, by solving steady channel flows near rest.
//!
//! A column of cells across a channel, the same along the walls, both ends the rule. A flow along x is odd in `c_x`: that half
//! of the populations is the unknown, so density and what the walls do to it do not enter. With the collision's derivative
//! about rest the steady state is a linear system, solved directly; two flows are made:
//!
//! - linear between walls: Couette flow where the rule has a velocity, else flow driven in the middle cell alone;
//! - parabolic: Poiseuille flow, driven by the same force `a` in every cell, `w_i c_ix a / cs2` after the collision. The
//!   velocity of a cell is then its momentum plus half the force.
//!
//! The wall is where the profile, continued from cells away from it, has the velocity of the wall. For half-way bounce-back
//! and Poiseuille flow, `H_eff^2 = H^2 + 16/3 L - 1` with `L = (1/s+ - 1/2) (1/s- - 1/2)` for the rates of even and odd
//! moments (Ginzburg & d'Humieres, Phys. Rev. E 68 (2003) 066614).

use nalgebra::{DMatrix, DVector};

use crate::expr::{Expr, ExprId, Symbol};
use crate::lattice::{Dir, Lattice};
use crate::model::{Boundary, Model, Rule};
use crate::prove::linear::{self, NotLinear};

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
    /// The rule sets something else: it has a parameter that is no velocity.
    OtherMeaning,
    /// It is a rule of nodes.
    Nodes,
    /// It does not hold the velocity along the wall.
    Slips,
    /// Velocities reach beyond the next cell.
    LongVelocities,
    /// The collision or the rule has no derivative at rest.
    NotLinear(NotLinear),
}

/// The place of the wall of a rule. `params[param][component]`.
pub fn wall(model: &Model, rule: &Boundary, params: &[Vec<f64>]) -> Result<Wall, NoWall> {
    let moves = rule.params.iter().any(|param| param.name == "velocity" && param.components > 1);
    if rule.params.len() > usize::from(moves) {
        return Err(NoWall::OtherMeaning);
    }
    let lattice = model.lattice();
    if lattice.dirs().any(|dir| lattice.velocity(dir).iter().any(|c| c.abs() > 1)) {
        return Err(NoWall::LongVelocities);
    }
    let links = match &rule.rule {
        Rule::Link(links) => links,
        Rule::Node(_) => return Err(NoWall::Nodes),
    };
    let needed = model.exprs.needed(links);
    let mirrors = |node: &Expr| matches!(node, Expr::Symbol(Symbol::Mirrored(_)));
    if model.exprs.iter().any(|(id, node)| needed[id.index()] && mirrors(node)) {
        return Err(NoWall::Slips);
    }
    let column = Column::new(model, links, params).map_err(NoWall::NotLinear)?;
    let linear = if moves { column.couette(HEIGHTS[2]) } else { column.driven_in_the_middle(HEIGHTS[2]) };
    let linear = linear.ok_or(NoWall::Slips)?;
    let mut parabolic = [0.0; 3];
    for (place, height) in parabolic.iter_mut().zip(HEIGHTS) {
        *place = column.poiseuille(height).ok_or(NoWall::Slips)?;
    }
    Ok(Wall { linear, parabolic })
}

/// The equations of a column, for the populations with `c_x > 0`; the others are minus their mirror images.
struct Column<'m> {
    lattice: &'m Lattice,
    /// Directions with `c_x > 0`.
    dirs: Vec<Dir>,
    /// The collision: after it from before it.
    collision: DMatrix<f64>,
    /// The rule: what enters, from what the cell has after its collision.
    rule: DMatrix<f64>,
    /// What enters for a wall that moves along x at velocity 1.
    moving: DVector<f64>,
}

impl<'m> Column<'m> {
    fn new(model: &'m Model, links: &[ExprId], params: &[Vec<f64>]) -> Result<Self, NotLinear> {
        let lattice = model.lattice();
        let dirs: Vec<Dir> = lattice.dirs().filter(|dir| lattice.velocity(*dir)[0] > 0).collect();
        let rest = vec![0.0; lattice.dim()];
        let odd = |all: DMatrix<f64>| {
            DMatrix::from_fn(dirs.len(), dirs.len(), |i, j| {
                let row = dirs[i].index();
                all[(row, dirs[j].index())] - all[(row, mirrored(lattice, dirs[j]).index())]
            })
        };
        let collision = odd(linear::collision(model, params, &rest)?);
        let state = linear::equilibrium(model, params, &rest)?;
        let wall = |speed: f64| {
            move |symbol: Symbol| match symbol {
                Symbol::WallParam { component: 0, .. } => speed,
                _ => 0.0,
            }
        };
        let derivatives = odd(linear::derivatives(model, links, &state, wall(0.0))?);
        let entering = |speed: f64| -> Vec<f64> {
            model.exprs.eval(links, |symbol| match symbol {
                Symbol::Population(pop) => state[pop.index()],
                other => wall(speed)(other),
            })
        };
        let (still, moved) = (entering(0.0), entering(1.0));
        let moving = DVector::from_iterator(dirs.len(), dirs.iter().map(|dir| moved[dir.index()] - still[dir.index()]));
        Ok(Self { lattice, dirs, collision, rule: derivatives, moving })
    }

    /// Velocity of each cell in steady state: `force[cell]`, and the velocities of the lower and the upper wall.
    fn solve(&self, force: &[f64], walls: [f64; 2]) -> Option<Vec<f64>> {
        let (height, q) = (force.len(), self.dirs.len());
        let mut system = DMatrix::<f64>::identity(height * q, height * q);
        let mut given = DVector::<f64>::zeros(height * q);
        for cell in 0..height {
            for (i, dir) in self.dirs.iter().enumerate() {
                let row = cell * q + i;
                let step = self.lattice.velocity(*dir)[1];
                let from = cell as i64 - i64::from(step);
                if (0..height as i64).contains(&from) {
                    let from = from as usize;
                    let block = self.collision.row(i);
                    for j in 0..q {
                        system[(row, from * q + j)] -= block[j];
                    }
                    given[row] += self.push(*dir) * force[from];
                } else {
                    // What enters comes of the cell's own populations after collision.
                    let block = self.rule.row(i) * &self.collision;
                    for j in 0..q {
                        system[(row, cell * q + j)] -= block[j];
                        given[row] += self.rule[(i, j)] * self.push(self.dirs[j]) * force[cell];
                    }
                    given[row] += self.moving[i] * walls[usize::from(from >= height as i64)];
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
        let number = |value: &crate::expr::Rational| num_traits::ToPrimitive::to_f64(value).unwrap_or(f64::NAN);
        number(self.lattice.weight(dir)) * f64::from(self.lattice.velocity(dir)[0]) / number(self.lattice.cs2())
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

/// The direction with the other sign along x.
fn mirrored(lattice: &Lattice, dir: Dir) -> Dir {
    let mut velocity = lattice.velocity(dir).to_vec();
    velocity[0] = -velocity[0];
    lattice.find(&velocity).unwrap_or(dir)
}

/// The place, unless it is far from any wall.
fn near(place: f64) -> Option<f64> {
    (place.abs() < FAR).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn places(name: &str, rule: &str, omega: f64) -> Wall {
        let model = crate::compile(&Source::new(name, shipped::spec(name).unwrap()), &shipped::Prelude).unwrap();
        let rule = model.boundaries().iter().find(|boundary| boundary.name == rule).unwrap();
        wall(&model, rule, &[vec![omega]]).unwrap()
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
