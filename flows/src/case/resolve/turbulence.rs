//! Eddies that a face adds to its velocity, as formulas of place and time.
//!
//! In: the mean velocity in lattice units, the Reynolds stresses and the lengths of a case. After: the velocity of the face is
//! `u + a eps`, with the mean `u`, the lower triangular `a` for which `a a^T` is the matrix of stresses (Lund, Wu & Squires, J. Comput. Phys. 140 (1998) 233),
//! and independent [noise](lbm_bundle::formula::Noise) `eps` of variance 1 for each component, which moves with a constant velocity. These are sums over
//! eddies at random places with random signs (Jarrin, Benhamadouche, Laurence & Prosser, Int. J. Heat Fluid Flow 27 (2006) 585), but places follow from a hash
//! of the number of the eddy, so that none are stored.

use lbm_bundle::Formula;
use lbm_bundle::formula::{Function, Noise};

use super::resolver::{Grid, Resolver, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::{self, POSITIONS, TIME};
use crate::case::keys::turbulence::{RawFluctuation, RawTurbulence, STRESSES};
use crate::case::units::{Dimension, Units};
use crate::case::walls::Face;

/// The reach of an eddy over the length that a case gives, which is the integral of the correlation along an axis.
const REACH: f64 = 4.0 / 3.0;

/// Shortest length, in cells of the coarsest level.
const SHORTEST: f64 = 0.5;

/// What rounding may do to the determinants of stresses, over the products of their diagonal.
const ROUNDING: f64 = 1e-9;

/// A symmetric matrix or a lower triangular one: `[row][column]`.
type Matrix<T> = [[T; 3]; 3];

impl Resolver<'_> {
    /// The velocity of a face whose mean velocity is `mean`, in cells per step; `points` are where the face has values, in cells.
    pub(super) fn turbulent(
        &mut self,
        at: Face,
        raw: &Spanned<RawTurbulence>,
        mean: &[formula::Formula],
        points: &[[f64; 3]],
        (units, grid): (&Units, Grid),
    ) -> Option<Vec<formula::Formula>> {
        let velocity = self.carried(raw, mean, points, units)?;
        let stresses = match &raw.value.size {
            RawFluctuation::Stresses(given) => self.stresses(given, units, grid)?,
            RawFluctuation::Intensity(given) => self.isotropic(given, &velocity, points, grid)?,
        };
        self.are_covariances(&raw.span, &stresses, points)?;
        let (reaches, periods) = self.reaches(at, raw, grid)?;
        if vanish(&stresses, points) {
            let help = "leave it out, or give it an `intensity` or `stresses` that are not zero".to_string();
            let message = "`turbulence` has no effect where its fluctuations are zero";
            self.report.add::<()>(diag::NO_EFFECT, &raw.span, message, "has no effect", help);
            return Some(mean.to_vec());
        }
        let eddies: [Formula; 3] = std::array::from_fn(|component| {
            let of_face = 3 * (2 * at.axis as u32 + u32::from(at.high)) + component as u32;
            let seed = raw.value.seed.wrapping_mul(18).wrapping_add(of_face);
            let place =
                |axis: usize| if axis < self.dim { carried(axis, velocity[axis], reaches[axis]) } else { number(0.0) };
            Formula::Noise(Noise { seed, periods }, Box::new([0, 1, 2].map(place)))
        });
        let factors = factors(&stresses);
        let component = |(row, mean): (usize, &formula::Formula)| {
            let terms =
                factors[row].iter().zip(&eddies).map(|(factor, eddies)| product(factor.clone(), eddies.clone()));
            terms.fold(mean.get().clone(), sum).into()
        };
        Some(mean.iter().enumerate().map(component).collect())
    }

    /// The velocity with which eddies move: that of the case, or the mean over the face at the start.
    fn carried(
        &mut self,
        raw: &Spanned<RawTurbulence>,
        mean: &[formula::Formula],
        points: &[[f64; 3]],
        units: &Units,
    ) -> Option<[f64; 3]> {
        let mut velocity = [0.0; 3];
        match &raw.value.velocity {
            Some(given) if given.value.len() != self.dim => {
                self.wrong_dimension(&given.span, "`velocity`", given.value.len());
                return None;
            }
            Some(given) => {
                let scale = units.scale(Dimension::VELOCITY);
                velocity.iter_mut().zip(&given.value).for_each(|(along, given)| *along = given.value / scale);
            }
            None => {
                for (along, mean) in velocity.iter_mut().zip(mean) {
                    *along = points.iter().map(|point| mean.at(*point, 0.0)).sum::<f64>() / points.len() as f64;
                }
            }
        }
        if velocity.iter().any(|along| along.abs() > f64::EPSILON) {
            return Some(velocity);
        }
        let span = raw.value.velocity.as_ref().map_or(&raw.span, |given| &given.span);
        let message = match raw.value.velocity {
            Some(_) => "the eddies do not move: their velocity is zero",
            None => "the eddies do not move: the mean velocity of the face is zero",
        };
        let help = "say how fast they are carried along: `turbulence = { velocity = [...], ... }`".to_string();
        self.report.add(diag::BAD_VALUE, span, message, "at rest", help)
    }

    /// The stresses that a case gives, in lattice units; those that it does not give are zero.
    fn stresses(
        &mut self,
        given: &[(usize, Spanned<formula::Formula>)],
        units: &Units,
        grid: Grid,
    ) -> Option<Matrix<Formula>> {
        let mut stresses: Matrix<Formula> = std::array::from_fn(|_| std::array::from_fn(|_| number(0.0)));
        for (which, formula) in given {
            let (name, [row, column]) = STRESSES[*which];
            if column >= self.dim {
                let message = format!("{} has {} axes, and no stress `{name}`", self.manifest.main().lattice, self.dim);
                return self.report.add(diag::WRONG_DIMENSION, &formula.span, message, "no such axis", None);
            }
            let scaled = self.of_place(formula, grid)?.over(units.scale(Dimension::KINEMATIC_STRESS));
            stresses[row][column] = scaled.get().clone();
            stresses[column][row] = scaled.get().clone();
        }
        Some(stresses)
    }

    /// The stresses of fluctuations that are the same along each axis: some part of the velocity.
    fn isotropic(
        &mut self,
        given: &Spanned<formula::Formula>,
        velocity: &[f64; 3],
        points: &[[f64; 3]],
        grid: Grid,
    ) -> Option<Matrix<Formula>> {
        let intensity = self.of_place(given, grid)?;
        let part = |point: &&[f64; 3]| !(0.0..=1.0).contains(&intensity.at(**point, 0.0));
        if let Some(point) = points.iter().find(part) {
            let message = format!("`intensity` is {} at {}", short(intensity.at(*point, 0.0)), self.told(point));
            let help = "it is a part of the velocity, from 0 to 1: 0.05 for 5 %".to_string();
            return self.report.add(diag::BAD_VALUE, &given.span, message, "out of range", help);
        }
        let speed = velocity.iter().map(|along| along * along).sum::<f64>().sqrt();
        let square = intensity.times(speed).get().clone();
        let square = folded(Formula::apply(Function::Power, [square, number(2.0)]));
        let is_stress = |row: usize, column: usize| row == column && row < self.dim;
        Some(std::array::from_fn(|row| {
            std::array::from_fn(|column| if is_stress(row, column) { square.clone() } else { number(0.0) })
        }))
    }

    /// A formula of the place in cells.
    fn of_place(&mut self, given: &Spanned<formula::Formula>, Grid { size, cell }: Grid) -> Option<formula::Formula> {
        if let Some(name) = given.value.beyond(self.dim) {
            let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
            return self.report.add(diag::WRONG_DIMENSION, &given.span, message, "no such axis", None);
        }
        Some(given.value.on(size, cell))
    }

    /// Refuses stresses that no velocity has at one of these points.
    fn are_covariances(&mut self, span: &Span, stresses: &Matrix<Formula>, points: &[[f64; 3]]) -> Option<()> {
        let stresses =
            stresses.each_ref().map(|row| row.each_ref().map(|stress| formula::Formula::from(stress.clone())));
        let varies = stresses.iter().flatten().any(formula::Formula::varies_in_place);
        for point in points.iter().take(if varies { usize::MAX } else { 1 }) {
            let values = stresses.each_ref().map(|row| row.each_ref().map(|stress| stress.at(*point, 0.0)));
            let Some(fault) = fault(&values) else { continue };
            let place = self.told(point);
            let message = format!("the stresses at {place}, are those of no velocity: {fault}");
            let help =
                "squares such as `uu` are not negative, and a stress between two components, such as `uv`, is at \
                        most `sqrt(uu vv)`"
                    .to_string();
            return self.report.add(diag::BAD_VALUE, span, message, "no covariance", help);
        }
        Some(())
    }

    /// How far eddies reach along each axis, in cells, and how many lie along those that are periodic; 0 for others.
    fn reaches(
        &mut self,
        at: Face,
        raw: &Spanned<RawTurbulence>,
        Grid { size, cell }: Grid,
    ) -> Option<([f64; 3], [u32; 3])> {
        let given = &raw.value.length;
        if given.value.len() != 1 && given.value.len() != self.dim {
            self.wrong_dimension(&given.span, "`length`", given.value.len());
            return None;
        }
        let periodic = self.raw.periodic();
        let (mut reaches, mut periods) = ([1.0; 3], [0; 3]);
        for axis in 0..self.dim {
            let length = &given.value[if given.value.len() == 1 { 0 } else { axis }];
            let cells = length.value / cell;
            if cells < SHORTEST {
                let message = format!("`length` is {} cells, less than {SHORTEST}", short(cells));
                let help = "the grid does not resolve such eddies".to_string();
                return self.report.add(diag::BAD_VALUE, &length.span, message, "too short", help);
            }
            reaches[axis] = REACH * cells;
            if axis == at.axis || !periodic[axis] {
                continue;
            }
            let extent = size[axis] as f64;
            let count = (extent / reaches[axis]).round();
            if count < 2.0 {
                let axis = axis_name(axis);
                let message = format!(
                    "along {axis}, which is periodic, {extent} cells are too few for eddies of {} cells",
                    short(cells)
                );
                let help = format!("the length along {axis} is at most {} cells", short(extent / REACH / 1.5));
                return self.report.add(diag::BAD_VALUE, &length.span, message, "too long", help);
            }
            (reaches[axis], periods[axis]) = (extent / count, count as u32);
        }
        Some((reaches, periods))
    }

    fn told(&self, point: &[f64; 3]) -> String {
        let place: Vec<String> = point[..self.dim].iter().map(|at| short(*at)).collect();
        format!("({}), in cells", place.join(", "))
    }
}

/// Whether nothing fluctuates at any of these points.
fn vanish(stresses: &Matrix<Formula>, points: &[[f64; 3]]) -> bool {
    let squares = [0, 1, 2].map(|axis| formula::Formula::from(stresses[axis][axis].clone()));
    points.iter().all(|point| squares.iter().all(|square| square.at(*point, 0.0) == 0.0))
}

fn number(value: f64) -> Formula {
    Formula::number(value)
}

/// The formula, as a number if it is one.
fn folded(formula: Formula) -> Formula {
    formula.constant().map_or(formula, number)
}

fn product(a: Formula, b: Formula) -> Formula {
    match a.constant() {
        Some(0.0) => number(0.0),
        _ => folded(Formula::apply(Function::Multiply, [a, b])),
    }
}

fn sum(a: Formula, b: Formula) -> Formula {
    match (a.constant(), b.constant()) {
        (_, Some(0.0)) => a,
        (Some(0.0), _) => b,
        _ => folded(Formula::apply(Function::Add, [a, b])),
    }
}

fn difference(a: Formula, b: Formula) -> Formula {
    folded(Formula::apply(Function::Subtract, [a, b]))
}

/// A coordinate of the pattern of eddies that moves along, over their reach.
fn carried(axis: usize, velocity: f64, reach: f64) -> Formula {
    let [place, time] = [POSITIONS[axis], TIME].map(Formula::name);
    let place = match velocity {
        0.0 => place,
        _ => Formula::apply(Function::Subtract, [place, product(number(velocity), time)]),
    };
    Formula::apply(Function::Divide, [place, number(reach)])
}

/// What is wrong with values that are no covariances.
fn fault(values: &Matrix<f64>) -> Option<String> {
    let name = |row: usize, column: usize| {
        STRESSES.iter().find(|(_, axes)| *axes == [row.min(column), row.max(column)]).map_or("", |(name, _)| name)
    };
    let told = |row: usize, column: usize| format!("`{}` is {}", name(row, column), short(values[row][column]));
    for (row, stresses) in values.iter().enumerate() {
        if let Some(column) = stresses.iter().position(|stress| !stress.is_finite()) {
            return Some(format!("`{}` is not finite", name(row, column)));
        }
        if stresses[row] < 0.0 {
            return Some(told(row, row));
        }
    }
    for (row, column) in [(1, 0), (2, 0), (2, 1)] {
        let most = values[row][row] * values[column][column];
        if values[row][column].powi(2) > most * (1.0 + ROUNDING) {
            return Some(format!(
                "{}, and sqrt({} {}) {}",
                told(row, column),
                name(column, column),
                name(row, row),
                short(most.sqrt())
            ));
        }
    }
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = values;
    let determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    (determinant < -ROUNDING * xx * yy * zz).then(|| "their determinant is negative".to_string())
}

/// The lower triangular factor of stresses (Cholesky): `rows[row][column]`. Where a component does not fluctuate, its factor is zero.
fn factors(stresses: &Matrix<Formula>) -> Matrix<Formula> {
    let mut factors: Matrix<Formula> = std::array::from_fn(|_| std::array::from_fn(|_| number(0.0)));
    for row in 0..3 {
        for column in 0..=row {
            let rest = (0..column).fold(stresses[row][column].clone(), |rest, before| {
                let both = product(factors[row][before].clone(), factors[column][before].clone());
                if both.constant() == Some(0.0) { rest } else { difference(rest, both) }
            });
            factors[row][column] = if row == column {
                let square = Formula::apply(Function::Max, [rest, number(0.0)]);
                folded(Formula::apply(Function::Sqrt, [square]))
            } else if rest.constant() == Some(0.0) {
                rest
            } else {
                let pivot = factors[column][column].clone();
                let quotient = Formula::apply(Function::Divide, [rest, pivot.clone()]);
                let is_there = Formula::apply(Function::Greater, [pivot, number(0.0)]);
                folded(Formula::apply(Function::If, [is_there, quotient, number(0.0)]))
            };
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas(values: Matrix<f64>) -> Matrix<Formula> {
        values.map(|row| row.map(number))
    }

    #[test]
    fn factors_times_their_transpose_are_the_stresses() {
        for stresses in [
            [[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 2.0]],
            [[4.0, -2.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 0.5]],
        ] {
            assert_eq!(fault(&stresses), None, "{stresses:?}");
            let factors =
                factors(&formulas(stresses)).map(|row| row.map(|factor| factor.constant().expect("a number")));
            for (row, column) in (0..9).map(|at| (at / 3, at % 3)) {
                let found: f64 = (0..3).map(|of| factors[row][of] * factors[column][of]).sum();
                assert!((found - stresses[row][column]).abs() < 1e-12, "{stresses:?} {factors:?}");
            }
        }
    }

    #[test]
    fn what_is_no_covariance_is_told() {
        for (stresses, part) in [
            ([[-1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]], "`uu` is -1"),
            ([[1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0], [0.0; 3]], "`vv` is not finite"),
            ([[1.0, 3.0, 0.0], [3.0, 4.0, 0.0], [0.0; 3]], "`uv` is 3, and sqrt(uu vv) 2"),
            ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]], "`vw` is 1"),
            ([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]], "determinant"),
        ] {
            assert!(fault(&stresses).is_some_and(|fault| fault.contains(part)), "{stresses:?}: {:?}", fault(&stresses));
        }
    }
}
