//! Velocity sets from their shells.
//!
//! In: a program. After: every set of populations has a [`Lattice`], as isotropic as it claims, and all have the same
//! axes.

use crate::ast::{Binary, Expr, ExprKind, Item, LatticeDef, Name, PopulationsDef, Unary};
use crate::check::program::{Def, ModuleId, Program};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::expr::Rational;
use crate::lattice::{Lattice, LatticeError};
use crate::model::Populations;
use crate::source::{Source, Span};
use num_traits::{Pow, ToPrimitive, Zero};

/// Most velocities of all sets together.
const MOST_VELOCITIES: usize = 255;

/// The sets of populations of the spec: `f` on the lattice that it chooses, then the further ones in order.
pub fn chosen(program: &Program) -> Result<Vec<Populations>, Report> {
    let source = &program.module(ModuleId::SPEC).source;
    let mut sets = vec![Populations { name: "f".into(), lattice: main(program)?, first: 0 }];
    for item in program.spec() {
        let Item::Populations(PopulationsDef { name, lattice }) = item else { continue };
        let (place, lattice) = (lattice.span, find(program, lattice)?);
        let first = sets.last().map_or(0, |set| set.range().end);
        if lattice.dim() != sets[0].lattice.dim() {
            let (one, other) = (&sets[0].lattice, &lattice);
            let label = format!("{} has {} axes, {} has {}", other.name(), other.dim(), one.name(), one.dim());
            return Err(Diagnostic::new(Code::PopulationsAxes, source, place, label).into());
        }
        sets.push(Populations { name: name.text.clone(), lattice, first });
        let count = sets.last().map_or(0, |set| set.range().end);
        if count > MOST_VELOCITIES {
            let label = format!("{count} velocities with those above");
            return Err(Diagnostic::new(Code::LatticeSize, source, place, label).into());
        }
    }
    Ok(sets)
}

/// A warning for each set of populations whose velocities reach beyond the next cell: there are no kernels for it.
pub fn long_velocities(program: &Program, populations: &[Populations]) -> Vec<Diagnostic> {
    let chosen = program.spec().iter().filter_map(|item| match item {
        Item::LatticeChoice(name) => Some((name, "f")),
        Item::Populations(def) => Some((&def.lattice, &def.name.text[..])),
        _ => None,
    });
    let warning = |(name, set): (&Name, &str)| {
        let lattice = &populations.iter().find(|populations| populations.name == set)?.lattice;
        let long = lattice.dirs().map(|dir| lattice.velocity(dir)).find(|c| c.iter().any(|c| c.abs() > 1))?;
        let long: Vec<String> = long.iter().map(i32::to_string).collect();
        let label = format!("its velocity ({}) reaches beyond the next cell", long.join(", "));
        Some(Diagnostic::new(Code::LongVelocity, &program.module(ModuleId::SPEC).source, name.span, label))
    };
    chosen.filter_map(warning).collect()
}

/// The lattice that the spec chooses.
fn main(program: &Program) -> Result<Lattice, Report> {
    let source = &program.module(ModuleId::SPEC).source;
    let mut choices = program.spec().iter().filter_map(|item| match item {
        Item::LatticeChoice(name) => Some(name),
        _ => None,
    });
    let Some(name) = choices.next() else {
        let start = Span::new(0, 0);
        return Err(Diagnostic::new(Code::NoLattice, source, start, "this spec chooses no velocity set").into());
    };
    if let Some(second) = choices.next() {
        let again = Diagnostic::new(Code::RepeatedPart, source, second.span, "a second velocity set");
        return Err(again.also(name.span, "the first one").into());
    }
    find(program, name)
}

/// The lattice of that name.
fn find(program: &Program, name: &Name) -> Result<Lattice, Report> {
    let source = &program.module(ModuleId::SPEC).source;
    match program.find(ModuleId::SPEC, &name.text) {
        Some((home, Def::Lattice(def))) => build(&program.module(home).source, def),
        Some((_, other)) => {
            let label = format!("this is {}, not a velocity set", other.kind());
            Err(Diagnostic::new(Code::NameKind, source, name.span, label).into())
        }
        None => {
            let names = program.names(ModuleId::SPEC);
            let hint = suggest::did_you_mean(&name.text, names, &format!("import it: `use lattices::{};`", name.text));
            let label = "there is no velocity set of that name";
            Err(Diagnostic::new(Code::Undefined, source, name.span, label).hint(hint).into())
        }
    }
}

/// The lattice that `def` in `source` describes.
pub fn build(source: &Source, def: &LatticeDef) -> Result<Lattice, Report> {
    let mut report = Report::new();
    let cs2 = constant(source, &def.cs2).map_err(|fault| report.push(*fault)).unwrap_or_default();
    let (mut velocities, mut weights, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    let dim = def.groups.first().map_or(0, |group| group.vector.len());
    for group in &def.groups {
        if group.vector.len() != dim || !(2..=3).contains(&dim) {
            let label = format!("{} components", group.vector.len());
            report.push(Diagnostic::new(Code::VelocityLength, source, group.span, label));
            continue;
        }
        let weight = constant(source, &group.weight).map_err(|fault| report.push(*fault)).unwrap_or_default();
        for velocity in if group.shell { shell(&group.vector) } else { vec![group.vector.clone()] } {
            if velocities.contains(&velocity) {
                let label = format!("{} is listed already", show(&velocity));
                report.push(Diagnostic::new(Code::VelocityTwice, source, group.span, label));
            }
            velocities.push(velocity);
            weights.push(weight.clone());
            spans.push(group.span.to(group.weight.span));
        }
    }
    if velocities.len() > MOST_VELOCITIES {
        let label = format!("{} velocities", velocities.len());
        report.push(Diagnostic::new(Code::LatticeSize, source, def.name.span, label));
    }
    report.propagate()?;
    let place =
        |velocity: &Vec<i32>| velocities.iter().position(|v| v == velocity).map_or(def.name.span, |at| spans[at]);
    let fault = |code, span, label: String| Report::from(Diagnostic::new(code, source, span, label));
    let lattice = Lattice::new(&def.name.text, cs2, velocities.clone(), weights).map_err(|error| match error {
        LatticeError::WeightSum(sum) => fault(
            Code::WeightSum,
            def.name.span,
            format!("the weights of these {} velocities sum to {sum}", velocities.len()),
        ),
        LatticeError::NoOpposite(velocity) => {
            fault(Code::NoOpposite, place(&velocity), format!("nothing runs against {}", show(&velocity)))
        }
        LatticeError::UnevenWeights(velocity) => {
            fault(Code::UnevenWeights, place(&velocity), format!("{} and its opposite differ", show(&velocity)))
        }
        LatticeError::Duplicate(velocity) => {
            fault(Code::VelocityTwice, place(&velocity), format!("{} is listed twice", show(&velocity)))
        }
    })?;
    if let Some((claimed, span)) = def.isotropy
        && claimed > lattice.isotropy()
    {
        let label = format!("moments are isotropic through order {}, not {claimed}", lattice.isotropy());
        let hint = "the moments of the weights must equal those of a Gaussian with variance `cs2`";
        return Err(Diagnostic::new(Code::Isotropy, source, span, label).hint(hint).into());
    }
    Ok(lattice.claiming(def.isotropy.map(|(order, _)| order)))
}

fn show(velocity: &[i32]) -> String {
    let parts: Vec<String> = velocity.iter().map(i32::to_string).collect();
    format!("({})", parts.join(", "))
}

/// All permutations and sign changes, each followed by its opposite, the largest first: for (1, 0) these are
/// (1, 0), (-1, 0), (0, 1), (0, -1).
fn shell(representative: &[i32]) -> Vec<Vec<i32>> {
    let mut all = vec![Vec::new()];
    let reach = representative.iter().map(|c| c.abs()).max().unwrap_or(0);
    for _ in representative {
        all = all
            .into_iter()
            .flat_map(|head: Vec<i32>| (-reach..=reach).rev().map(move |c| [head.as_slice(), &[c]].concat()))
            .collect();
    }
    let sorted = |vector: &[i32]| {
        let mut parts: Vec<i32> = vector.iter().map(|c| c.abs()).collect();
        parts.sort();
        parts
    };
    let wanted = sorted(representative);
    let positive = |vector: &Vec<i32>| vector.iter().find(|c| **c != 0).is_none_or(|c| *c > 0);
    let mut shell = Vec::new();
    for velocity in all.into_iter().filter(|velocity| sorted(velocity) == wanted && positive(velocity)) {
        let reverse: Vec<i32> = velocity.iter().map(|c| -c).collect();
        let rest = reverse == velocity;
        shell.push(velocity);
        if !rest {
            shell.push(reverse);
        }
    }
    shell
}

/// The value of a formula of numbers alone.
pub fn constant(source: &Source, expr: &Expr) -> Result<Rational, Box<Diagnostic>> {
    let fault = |code, label: &str| Box::new(Diagnostic::new(code, source, expr.span, label));
    match &expr.kind {
        ExprKind::Number(value) => Ok(value.clone()),
        ExprKind::Unary(Unary::Minus, inner) => Ok(-constant(source, inner)?),
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (constant(source, left)?, constant(source, right)?);
            match op {
                Binary::Add => Ok(left + right),
                Binary::Sub => Ok(left - right),
                Binary::Mul => Ok(left * right),
                Binary::Div if right.is_zero() => Err(fault(Code::DivisionByZero, "this divides by zero")),
                Binary::Div => Ok(left / right),
                Binary::Power => match right.is_integer().then(|| right.to_integer().to_i32()).flatten() {
                    Some(power) if power.abs() <= 64 && !(power < 0 && left.is_zero()) => Ok(Pow::pow(left, power)),
                    _ => Err(fault(Code::NotWhole, "exponents are whole numbers from -64 to 64")),
                },
                _ => Err(fault(Code::NotConstant, "a number is due here")),
            }
        }
        _ => Err(fault(Code::NotConstant, "a formula of numbers alone is due here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_has_every_permutation_and_sign_once() {
        for (vector, count) in
            [(vec![0, 0], 1), (vec![1, 0], 4), (vec![1, 1], 4), (vec![2, 1, 0], 24), (vec![1, 1, 1], 8)]
        {
            let shell = shell(&vector);
            let mut unique = shell.clone();
            unique.sort();
            unique.dedup();
            assert_eq!((shell.len(), unique.len()), (count, count), "{vector:?}");
        }
    }

    #[test]
    fn opposites_stand_side_by_side() {
        assert_eq!(shell(&[1, 0]), [[1, 0], [-1, 0], [0, 1], [0, -1]]);
        let shell = shell(&[1, 1, 0]);
        assert!(shell.chunks(2).all(|pair| pair[0].iter().zip(&pair[1]).all(|(a, b)| *a == -b)));
    }
}
