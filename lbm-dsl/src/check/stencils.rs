//! Stencils: weights from points and polynomials, in exact rationals.
//!
//! In: a definition. After: the weights of every point set are the only ones that are exact on the stated space; they keep
//! constants; a mean over children is that of their parent.

use std::collections::BTreeSet;

use num_traits::{One, ToPrimitive, Zero};

use crate::ast::{Binary, Expr, ExprKind, Item, Name, Points, StencilDef, StencilTarget, Unary};
use crate::check::lattices::constant;
use crate::check::program::{Def, ModuleId, Program};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::expr::Rational;
use crate::model::levels::{PointSet, Stencil, Target};
use crate::polynomial::{Polynomial, Solution, solve};
use crate::source::Source;

/// Most points of a set, sets of a stencil, and different points of all of them.
const MAX_POINTS: usize = 12;
/// Farthest sample, in cells. Blocks are smaller, and kernels that a stencil does not fit are refused.
const MAX_REACH: i64 = 64;
/// Highest power in a space.
const MAX_DEGREE: usize = 12;

type Built<T> = Result<T, Box<Diagnostic>>;

/// The stencils that the spec defines or chooses.
pub fn chosen(program: &Program) -> Result<Vec<Stencil>, Report> {
    let mut report = Report::new();
    let mut stencils = Vec::new();
    for item in program.spec() {
        let found = match item {
            Item::Stencil(def) => Ok((ModuleId::SPEC, def)),
            Item::StencilChoice(name) => find(program, ModuleId::SPEC, name),
            _ => continue,
        };
        let built = found.and_then(|(home, def)| build(&program.module(home).source, def));
        match built {
            Ok(stencil) => stencils.push(stencil),
            Err(fault) => report.push(*fault),
        }
    }
    report.propagate()?;
    Ok(stencils)
}

/// The stencil that `name` means in a module.
pub fn find<'p>(program: &'p Program, module: ModuleId, name: &Name) -> Built<(ModuleId, &'p StencilDef)> {
    let source = &program.module(module).source;
    match program.find(module, &name.text) {
        Some((home, Def::Stencil(def))) => Ok((home, def)),
        Some((_, other)) => {
            let label = format!("`{}` is {}, not a stencil", name.text, other.kind());
            Err(Box::new(Diagnostic::new(Code::NameKind, source, name.span, label)))
        }
        None => {
            let import = format!("import it: `use stencils::{};`", name.text);
            let hint = suggest::did_you_mean(&name.text, program.names(module), &import);
            let label = "there is no stencil of that name";
            Err(Box::new(Diagnostic::new(Code::Undefined, source, name.span, label).hint(hint)))
        }
    }
}

/// The stencil that `def` in `source` describes.
pub fn build(source: &Source, def: &StencilDef) -> Built<Stencil> {
    let space = def.space.iter().map(|expr| polynomial(source, expr)).collect::<Built<Vec<_>>>()?;
    let number = |expr: &Expr| constant(source, expr);
    let target = match &def.target {
        StencilTarget::Value(at) => Target::Value(number(at)?),
        StencilTarget::Derivative(at) => Target::Derivative(number(at)?),
        StencilTarget::Mean(low, high) => {
            let ends = (number(low)?, number(high)?);
            if ends.0 >= ends.1 {
                let span = low.span.to(high.span);
                return Err(Box::new(Diagnostic::new(Code::OutOfRange, source, span, "this interval is empty")));
            }
            Target::Mean(ends.0, ends.1)
        }
    };
    if def.sets.len() > MAX_POINTS {
        let label = format!("more than {MAX_POINTS} sets of points");
        return Err(Box::new(Diagnostic::new(Code::TooLarge, source, def.name.span, label)));
    }
    let sets = def.sets.iter().map(|points| point_set(source, def, &space, &target, points));
    let stencil =
        Stencil { name: def.name.text.clone(), sets: sets.collect::<Built<_>>()?, target, doc: def.doc.clone() };
    conserves(source, def, &stencil)?;
    Ok(stencil)
}

/// A polynomial in `x`.
fn polynomial(source: &Source, expr: &Expr) -> Built<Polynomial> {
    let whole = |value: i64| Rational::from_integer(value.into());
    let built = match &expr.kind {
        ExprKind::Name { name, indices, args } if name.text == "x" && indices.is_empty() && args.is_none() => {
            Polynomial::power(1)
        }
        ExprKind::Unary(Unary::Minus, inner) => Polynomial::default().plus(&whole(-1), &polynomial(source, inner)?),
        ExprKind::Binary(Binary::Add, left, right) => {
            polynomial(source, left)?.plus(&whole(1), &polynomial(source, right)?)
        }
        ExprKind::Binary(Binary::Sub, left, right) => {
            polynomial(source, left)?.plus(&whole(-1), &polynomial(source, right)?)
        }
        ExprKind::Binary(Binary::Mul, left, right) => polynomial(source, left)?.times(&polynomial(source, right)?),
        ExprKind::Binary(Binary::Power, base, exponent) => {
            let base = polynomial(source, base)?;
            let power = constant(source, exponent)?;
            let power = if power.is_integer() { power.to_integer().to_usize() } else { None };
            let Some(power) = power.filter(|power| *power <= MAX_DEGREE) else {
                let label = format!("exponents are whole numbers from 0 to {MAX_DEGREE}");
                return Err(Box::new(Diagnostic::new(Code::NotWhole, source, exponent.span, label)));
            };
            (0..power).fold(Polynomial::power(0), |product, _| product.times(&base))
        }
        ExprKind::Name { name, .. } => {
            let label = format!("`{}` is not known here", name.text);
            let fault = Diagnostic::new(Code::Undefined, source, name.span, label);
            return Err(Box::new(fault.hint("a space has polynomials in `x`: `space 1, x, x^2;`")));
        }
        _ => Polynomial::new(vec![constant(source, expr)?]),
    };
    if built.degree() > MAX_DEGREE {
        let label = format!("this polynomial has a degree above {MAX_DEGREE}");
        return Err(Box::new(Diagnostic::new(Code::TooLarge, source, expr.span, label)));
    }
    Ok(built)
}

/// What a sample at `point` has of a polynomial.
fn sample(target: &Target, polynomial: &Polynomial, point: i64) -> Rational {
    let (point, half) = (Rational::from_integer(point.into()), Rational::new(1.into(), 2.into()));
    match target {
        Target::Mean(..) => polynomial.mean(&(&point - &half), &(point + half)),
        Target::Value(_) | Target::Derivative(_) => polynomial.at(&point),
    }
}

/// A place of a sample: the centre of a cell.
fn place(source: &Source, expr: &Expr) -> Built<i64> {
    let at = constant(source, expr)?;
    if !at.is_integer() {
        let fault = Diagnostic::new(Code::NotWhole, source, expr.span, format!("{at} lies between two cells"));
        return Err(Box::new(
            fault.hint("samples are values of cells: their places are whole numbers, `points -1, 0, 1;`"),
        ));
    }
    at.to_integer().to_i64().filter(|at| at.abs() <= MAX_REACH).ok_or_else(|| {
        let label = format!("samples are at most {MAX_REACH} cells away");
        Box::new(Diagnostic::new(Code::OutOfRange, source, expr.span, label))
    })
}

/// What the stencil is to give for a polynomial.
fn wanted(target: &Target, polynomial: &Polynomial) -> Rational {
    match target {
        Target::Value(at) => polynomial.at(at),
        Target::Derivative(at) => polynomial.derivative().at(at),
        Target::Mean(low, high) => polynomial.mean(low, high),
    }
}

fn point_set(
    source: &Source,
    def: &StencilDef,
    space: &[Polynomial],
    target: &Target,
    points: &Points,
) -> Built<PointSet> {
    let fault = |code, label: String| Box::new(Diagnostic::new(code, source, points.span, label));
    let at = points.at.iter().map(|expr| place(source, expr)).collect::<Built<Vec<_>>>()?;
    if at.len() > MAX_POINTS {
        return Err(fault(Code::TooLarge, format!("more than {MAX_POINTS} points")));
    }
    // A polynomial of the space that no sample sees makes the weights impossible or arbitrary.
    let seen: Vec<Vec<Rational>> =
        at.iter().map(|point| space.iter().map(|p| sample(target, p, *point)).collect()).collect();
    if let Solution::Many(factors) = solve(&seen, &vec![Rational::zero(); at.len()], space.len()) {
        let unseen = space.iter().zip(&factors).fold(Polynomial::default(), |sum, (p, factor)| sum.plus(factor, p));
        if unseen.is_zero() {
            return Err(fault(Code::Unisolvence, "the polynomials of this stencil depend on each other".into()));
        }
        let unseen = unseen.primitive();
        let label = match target {
            Target::Mean(..) => format!("{unseen} has the mean 0 over the cell of each of them"),
            _ => format!("{unseen} vanishes at all of them"),
        };
        let space: Vec<String> = space.iter().map(Polynomial::to_string).collect();
        let hint = format!("the samples must determine every polynomial made of {}", space.join(", "));
        return Err(Box::new(fault(Code::Unisolvence, label).hint(hint)));
    }
    if at.len() > space.len() {
        return Err(fault(Code::TooManyPoints, format!("{} points, {} polynomials", at.len(), space.len())));
    }
    let rows: Vec<Vec<Rational>> =
        (0..space.len()).map(|p| seen.iter().map(|values| values[p].clone()).collect()).collect();
    let right: Vec<Rational> = space.iter().map(|p| wanted(target, p)).collect();
    let Solution::One(weights) = solve(&rows, &right, at.len()) else {
        return Err(fault(Code::Unisolvence, "no weights are exact for this space".into()));
    };
    let exact = |power: usize| {
        let monomial = Polynomial::power(power);
        let sum: Rational =
            at.iter().zip(&weights).map(|(point, weight)| sample(target, &monomial, *point) * weight).sum();
        sum == wanted(target, &monomial)
    };
    let Some(degree) = (0..=2 * MAX_POINTS).take_while(|power| exact(*power)).last() else {
        let sum: Rational = weights.iter().sum();
        let label = format!("its weights here sum to {sum}");
        return Err(Box::new(
            Diagnostic::new(Code::PartitionOfUnity, source, def.name.span, label)
                .also(points.span, "with these points")
                .hint("put the constant into its space: `space 1, x;`"),
        ));
    };
    Ok(PointSet { points: at, weights, degree })
}

/// A stencil for means must leave the mean of the two children of a cell at the value of the cell, whichever samples are
/// missing: else filling new children would make or lose mass.
fn conserves(source: &Source, def: &StencilDef, stencil: &Stencil) -> Built<()> {
    if !matches!(stencil.target, Target::Mean(..)) {
        return Ok(());
    }
    let sets = &stencil.sets;
    let mut all: BTreeSet<i64> = sets.iter().flat_map(|set| set.points.iter().flat_map(|at| [*at, -at])).collect();
    all.remove(&0);
    let all: Vec<i64> = all.into_iter().collect();
    if all.len() > MAX_POINTS {
        let label = format!("more than {MAX_POINTS} different points besides the cell itself, mirror images counted");
        return Err(Box::new(Diagnostic::new(Code::TooLarge, source, def.name.span, label)));
    }
    let mut pairs = BTreeSet::new();
    for exists in 0..1usize << all.len() {
        let has = |point: i64| {
            point == 0 || all.iter().position(|other| *other == point).is_some_and(|at| exists >> at & 1 == 1)
        };
        let upper = sets.iter().position(|set| set.points.iter().all(|point| has(*point)));
        let lower = sets.iter().position(|set| set.points.iter().all(|point| has(-point)));
        pairs.insert((upper, lower));
    }
    for (upper, lower) in pairs {
        let weight = |set: Option<usize>, point: i64| match set {
            Some(set) => {
                let set = &sets[set];
                let at = set.points.iter().position(|other| *other == point);
                at.map_or(Rational::zero(), |at| set.weights[at].clone())
            }
            None if point == 0 => Rational::one(),
            None => Rational::zero(),
        };
        let whole = |point: i64| {
            let due = Rational::from_integer(if point == 0 { 2 } else { 0 }.into());
            weight(upper, point) + weight(lower, -point) == due
        };
        if !all.iter().all(|point| whole(*point)) || !whole(0) {
            let place = upper.or(lower).map_or(def.target_span, |set| def.sets[set].span);
            let fault = Diagnostic::new(
                Code::NotConservative,
                source,
                place,
                "the children on both sides, the lower from its mirror image, have another mean than their parent",
            );
            return Err(Box::new(fault));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    fn built(body: &str) -> Result<Stencil, String> {
        let source = Source::new("t.lbm", &format!("stencil s {{ {body} }}"));
        let ast = parse(&source).map_err(|report| report.render(100))?;
        let Item::Stencil(def) = &ast.items[0] else { panic!("no stencil") };
        build(&source, def).map_err(|fault| format!("{} {}", fault.code().code(), fault.label()))
    }

    fn weights(stencil: &Stencil) -> Vec<String> {
        let show = |set: &PointSet| set.weights.iter().map(Rational::to_string).collect::<Vec<_>>().join(" ");
        stencil.sets.iter().map(show).collect()
    }

    /// Lagrange's weights at 1/4, worked out by hand.
    #[test]
    fn cubic_weights_are_those_of_lagrange() {
        let cubic = built("space 1, x, x^2, x^3; value at 1/4; points -1, 0, 1, 2;").unwrap();
        assert_eq!(weights(&cubic), ["-7/128 105/128 35/128 -5/128"]);
        assert_eq!((cubic.sets[0].degree, cubic.sets[0].lebesgue().to_string()), (3, "19/16".into()));
    }

    /// The slope of a parabola through three cell means.
    #[test]
    fn means_give_the_conservative_slope() {
        let text = "space 1, x, x^2; mean over (0, 1/2); points -1, 0, 1; points 0, 1, 2; points -2, -1, 0;";
        let stencil = built(text).unwrap();
        assert_eq!(weights(&stencil), ["-1/8 1 1/8", "5/8 1/2 -1/8", "1/8 -1/2 11/8"]);
    }

    #[test]
    fn a_central_difference_is_of_second_order() {
        let stencil = built("space 1, x; derivative at 0; points -1, 1; points 0, 1;").unwrap();
        assert_eq!(weights(&stencil), ["-1/2 1/2", "-1 1"]);
        assert_eq!(stencil.sets.iter().map(|set| set.degree).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn points_that_see_too_little_are_refused() {
        let refused = |body: &str| built(body).unwrap_err();
        let found = refused("space 1, x, x^2; value at 1/4; points -1, 0, 0;");
        assert_eq!(found, "E0701 x + x^2 vanishes at all of them");
        let found = refused("space 1, 2, x; value at 1/4; points -1, 0, 1;");
        assert_eq!(found, "E0701 the polynomials of this stencil depend on each other");
        assert_eq!(refused("space 1, x; value at 1/4; points -1, 0, 1;"), "E0702 3 points, 2 polynomials");
        assert_eq!(refused("space x, x^2; value at 1/4; points 1, 2;"), "E0703 its weights here sum to 11/32");
    }

    #[test]
    fn samples_between_cells_or_far_away_are_refused() {
        let refused = |points: &str| built(&format!("space 1, x; derivative at 0; points {points};")).unwrap_err();
        assert_eq!(refused("-1/2, 1/2"), "E0406 -1/2 lies between two cells");
        assert_eq!(refused("0, 1e-1"), "E0406 1/10 lies between two cells");
        assert_eq!(refused("-1, 65"), "E0404 samples are at most 64 cells away");
        assert_eq!(refused("-1, 1e30"), "E0404 samples are at most 64 cells away");
    }

    #[test]
    fn mass_is_kept_or_the_stencil_refused() {
        let lopsided = built("space 1, x; mean over (0, 1/2); points 0, 1;").unwrap_err();
        assert!(lopsided.starts_with("E0704"), "{lopsided}");
        let quarter = built("space 1, x, x^2; mean over (0, 1/4); points -1, 0, 1;").unwrap_err();
        assert!(quarter.starts_with("E0704"), "{quarter}");
    }
}
