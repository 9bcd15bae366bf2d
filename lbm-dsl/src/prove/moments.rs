//! On how few moments of the populations a collision depends.
//!
//! A collision is `f* = G(M f)` with a constant matrix `M` of `k` rows; `k` is the smallest for which that is so. The derivatives of `f*`
//! at one state are combinations of the rows of `M`, so their rank there is at most `k`: states in a prime field, taken by chance, give a
//! lower bound, and rows that may be those of `M`. That there are no others is then proved: along every direction in
//! which all these moments stay what they are, so does `f*`, as an identity of formulas ([`super::unread`]).
//!
//! Functions that are no rational ones (roots, powers, choices) count as any function of their operands: what is proved holds for all of
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{Expr, ExprId, Exprs, Rational, Symbol};
use crate::function::Function;
use crate::model::{Formulas, Let, Model, Populations};
use crate::prove::budget::{self, Budget};
use crate::prove::residue::{Any, POINTS, Residue, Rows, chance};
use crate::prove::unread;

/// States in a row that must bring nothing new before the search for rows ends.
const STATES: usize = 2;
/// States at which the collision may divide by zero before it is given up.
const ATTEMPTS: u64 = 40;
/// States whose populations must come back from their moments.
const STATES_GIVEN_BACK: usize = 4;

/// A combination of the populations of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The powers of the velocity's components in it, and the position of the populations that it is of; `None` for one without a name.
    pub of: Option<(usize, Vec<u32>)>,
    /// Name: `rho`, `jx`, `pxy`; `pxx_pzz` is a difference of two.
    pub name: String,
    /// The share of each population.
    pub shares: Vec<Rational>,
}

impl Moment {
    /// Whether it is a component of momentum.
    pub fn is_momentum(&self) -> bool {
        self.of.as_ref().is_some_and(|(_, powers)| powers.iter().sum::<u32>() == 1)
    }

    /// The share of each population, as far as numbers of 64 bits are exact.
    pub fn share_values(&self) -> Vec<f64> {
        self.shares.iter().map(|share| share.to_f64().unwrap_or(f64::NAN)).collect()
    }
}

/// On how few moments a collision depends.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The moments, linearly independent; densities and momenta come first.
    pub moments: Vec<Moment>,
    /// How many populations there are.
    pub populations: usize,
    /// Whether it is proved that there are no others.
    pub proved: bool,
    /// Whether a proof was given up.
    pub gave_up: bool,
    /// The first value that needs more than density, momentum and second moments, with its line; `None` if populations themselves do.
    pub because: Option<(String, usize)>,
    /// Whether more than density, momentum and second moments is needed.
    pub higher: bool,
    /// Names of functions that count as any function of their operands.
    pub functions: Vec<&'static str>,
}

/// What is found out about a model without states; nothing where its collision has no value.
pub fn dependence(model: &Model) -> Option<Dependence> {
    let count = model.q();
    let rows = rows(model, &|_| false)?;
    let (known, base, budget) = (named(model), base(model), Budget::new());
    let (moments, proved) = match rows.rational() {
        Some(found) if rows.rank() < count => {
            let moments = basis(&found, &known, count);
            let proved = is_proved(model, &moments, &budget);
            (moments, proved)
        }
        // All of them: there can be no others.
        _ => (all(model), rows.rank() == count),
    };
    let beyond = |rows: &Rows| {
        let mut all = base.clone();
        let first = all.rank();
        rows.rational().into_iter().flatten().for_each(|row| _ = all.add(residues(&row)));
        all.rank() - first
    };
    let higher = beyond(&rows) > 0;
    let because = if higher { because(model, beyond(&rows), &beyond) } else { None };
    let (gave_up, functions) = (budget.is_exceeded(), model.exprs.functions(&model.collide.outputs));
    Some(Dependence { moments, populations: count, proved, gave_up, because, higher, functions })
}

impl Dependence {
    /// A sentence: how many, and which.
    pub fn sentence(&self) -> String {
        let (count, all) = (self.moments.len(), self.populations);
        let because = || match &self.because {
            Some((name, line)) => format!("because of `{name}` (line {line})"),
            None => "because populations enter it themselves".into(),
        };
        let start = "after collision the populations depend on";
        match (self.proved, count == all) {
            (true, true) if self.higher => format!("{start} {count} of {all} moments, {}", because()),
            (true, true) => format!("{start} {count} of {all} moments"),
            (true, false) => {
                let proof = match self.functions.is_empty() {
                    true => "proved".into(),
                    false => format!("proved, for any function in the place of {}", self.functions.join(", ")),
                };
                let because = if self.higher { format!(", {}", because()) } else { String::new() };
                format!("{start} {count} of {all} moments ({proof}): {}{because}", self.list())
            }
            (false, _) => {
                let why = if self.gave_up { format!(": {}", budget::gave_up()) } else { String::new() };
                format!("{start} {count} of {all} moments at least; that there are no others is not proved{why}")
            }
        }
    }

    /// The moments by their kinds: `rho, j, traceless second moments`.
    pub fn list(&self) -> String {
        let of = |set: usize, order: u32| {
            let is = |moment: &&Moment| {
                moment.of.as_ref().is_some_and(|(own, powers)| *own == set && powers.iter().sum::<u32>() == order)
            };
            self.moments.iter().filter(is).collect::<Vec<_>>()
        };
        let sets = self.moments.iter().filter_map(|moment| Some(moment.of.as_ref()?.0)).collect::<BTreeSet<_>>();
        let (mut kinds, mut left) = (Vec::new(), self.moments.len());
        for set in sets {
            let of_set = if set == 0 { String::new() } else { format!(" of population set {}", set + 1) };
            for (order, name) in [(0, "rho"), (1, "j"), (2, "second moments")] {
                let own = of(set, order);
                let traceless = if own.iter().any(|moment| moment.name.contains("_p")) { "traceless " } else { "" };
                if !own.is_empty() {
                    kinds.push(format!("{traceless}{name}{of_set}"));
                }
                left -= own.len();
            }
        }
        if left > 0 {
            kinds.push(format!("{left} of higher order"));
        }
        kinds.join(", ")
    }
}

/// Derivatives of populations after the collision by those before it, at states taken by chance. Values of which `is_fixed` says so count
/// as constants.
fn rows(model: &Model, is_fixed: &dyn Fn(ExprId) -> bool) -> Option<Rows> {
    let (mut rows, mut idle) = (Rows::default(), 0);
    for attempt in 0..ATTEMPTS {
        let Some(found) = slopes(model, &model.collide.outputs, attempt, is_fixed) else { continue };
        let before = rows.rank();
        found.into_iter().for_each(|row| _ = rows.add(row));
        idle = if rows.rank() > before { 0 } else { idle + 1 };
        if idle == STATES || rows.rank() == model.q() {
            return Some(rows);
        }
    }
    None
}

/// A value and its derivatives by the populations; none of them for a constant.
#[derive(Clone)]
struct Jet {
    value: Residue,
    slopes: Vec<Residue>,
}

impl Jet {
    /// `value`, with the slopes of these values times their factors.
    fn joined(value: Residue, parts: &[(&Jet, Residue)]) -> Jet {
        let mut slopes: Vec<Residue> = Vec::new();
        for (jet, factor) in parts.iter().filter(|(jet, _)| !jet.slopes.is_empty()) {
            slopes.resize(jet.slopes.len(), Residue::ZERO);
            slopes.iter_mut().zip(&jet.slopes).for_each(|(sum, slope)| *sum = sum.plus(slope.times(*factor)));
        }
        Jet { value, slopes }
    }
}

/// Whether values change with the populations through some quantities alone: at points of the prime field their derivatives are combinations of
/// those of the quantities. States keep their values.
pub(super) fn depend_on_no_more(model: &Model, values: &[ExprId], quantities: &[ExprId]) -> bool {
    let roots = [quantities, values].concat();
    (0..POINTS).all(|point| {
        let Some(rows) = slopes(model, &roots, point, &|_| false) else { return false };
        let (known, own) = rows.split_at(quantities.len());
        let mut space = Rows::default();
        known.iter().for_each(|row| _ = space.add(row.clone()));
        own.iter().all(|row| !space.add(row.clone()))
    })
}

/// Derivatives of `roots` by the populations at one state, unless one has no value there.
fn slopes(model: &Model, roots: &[ExprId], state: u64, is_fixed: &dyn Fn(ExprId) -> bool) -> Option<Vec<Vec<Residue>>> {
    let count = model.moving();
    let symbol = |symbol: Symbol| {
        let slopes = match symbol {
            Symbol::Population(pop) if pop.index() < count => {
                (0..count).map(|at| if at == pop.index() { Residue::ONE } else { Residue::ZERO }).collect()
            }
            _ => Vec::new(),
        };
        Jet { value: chance(state, symbol), slopes }
    };
    let row = |jet: Jet| if jet.slopes.is_empty() { vec![Residue::ZERO; count] } else { jet.slopes };
    Some(jets(&model.exprs, roots, &symbol, is_fixed)?.into_iter().map(row).collect())
}

/// Values of `roots` with their derivatives, unless there is a division by zero.
fn jets(
    exprs: &Exprs,
    roots: &[ExprId],
    symbol: &dyn Fn(Symbol) -> Jet,
    is_fixed: &dyn Fn(ExprId) -> bool,
) -> Option<Vec<Jet>> {
    let needed = exprs.needed(roots);
    let mut values: Vec<Option<Jet>> = vec![None; exprs.len()];
    for (id, node) in exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let operands = node.operands();
        let known: Vec<&Jet> =
            operands.iter().map(|id| values[id.index()].as_ref().expect("operands come first")).collect();
        let minus = Residue::ONE.negated();
        let mut value = match *node {
            Expr::Const(ref value) => Jet { value: Residue::of(value)?, slopes: Vec::new() },
            Expr::Symbol(given) => symbol(given),
            Expr::Neg(_) => Jet::joined(known[0].value.negated(), &[(known[0], minus)]),
            Expr::Again(_) => known[0].clone(),
            Expr::Add(..) => {
                let sum = known[0].value.plus(known[1].value);
                Jet::joined(sum, &[(known[0], Residue::ONE), (known[1], Residue::ONE)])
            }
            Expr::Sub(..) => {
                let difference = known[0].value.plus(known[1].value.negated());
                Jet::joined(difference, &[(known[0], Residue::ONE), (known[1], minus)])
            }
            Expr::Mul(..) | Expr::Fma(..) => {
                let (a, b) = (known[0], known[1]);
                let product = a.value.times(b.value);
                match known.get(2) {
                    Some(c) => Jet::joined(product.plus(c.value), &[(a, b.value), (b, a.value), (c, Residue::ONE)]),
                    None => Jet::joined(product, &[(a, b.value), (b, a.value)]),
                }
            }
            Expr::Div(..) => {
                let inverse = known[1].value.inverse()?;
                let quotient = known[0].value.times(inverse);
                Jet::joined(quotient, &[(known[0], inverse), (known[1], quotient.times(inverse).negated())])
            }
            Expr::Sqrt(_) | Expr::Call(..) | Expr::Select { .. } => {
                // Its derivatives are taken by chance, too.
                let any = match *node {
                    Expr::Call(function, _) => Any::Function(function),
                    Expr::Select { compare, .. } => Any::Choice(compare),
                    _ => Any::Function(Function::Sqrt),
                };
                let value = any.of(known.iter().map(|jet| Some(jet.value)));
                let parts: Vec<_> = known.iter().zip(1..).map(|(jet, at)| (*jet, value.mixed(at))).collect();
                Jet::joined(value, &parts)
            }
        };
        if is_fixed(id) {
            value.slopes.clear();
        }
        values[id.index()] = Some(value);
    }
    Some(roots.iter().map(|root| values[root.index()].clone().expect("roots are needed")).collect())
}

fn residues(row: &[Rational]) -> Vec<Residue> {
    row.iter().map(|value| Residue::of(value).unwrap_or(Residue::ZERO)).collect()
}

/// Density, momentum and second moments of each set of populations.
fn base(model: &Model) -> Rows {
    let mut rows = Rows::default();
    for moment in named(model) {
        if moment.of.as_ref().is_some_and(|(_, powers)| powers.iter().sum::<u32>() <= 2) {
            rows.add(residues(&moment.shares));
        }
    }
    rows
}

/// The moments of `c_x^p c_y^q c_z^r` with powers up to 2, by order, and differences of second ones.
fn named(model: &Model) -> Vec<Moment> {
    let mut all = Vec::new();
    for (at, set) in model.populations().iter().enumerate() {
        let dim = set.lattice.dim();
        let mut powers: Vec<Vec<u32>> = (0..3_u32.pow(dim as u32))
            .map(|code| (0..dim).map(|axis| code / 3_u32.pow(axis as u32) % 3).collect())
            .collect();
        powers.sort_by_key(|powers| (powers.iter().sum::<u32>(), powers.iter().max().copied()));
        let second: Vec<Moment> = powers
            .iter()
            .filter(|powers| powers.contains(&2) && powers.iter().sum::<u32>() == 2)
            .map(|own| moment(model, at, set, own))
            .collect();
        for order in 0..=2 * dim as u32 {
            let own = powers.iter().filter(|powers| powers.iter().sum::<u32>() == order);
            all.extend(own.map(|own| moment(model, at, set, own)));
            if let (2, [others @ .., last]) = (order, &second[..]) {
                all.extend(others.iter().map(|other| other.minus(last)));
            }
        }
    }
    all
}

fn moment(model: &Model, at: usize, set: &Populations, powers: &[u32]) -> Moment {
    let mut shares = vec![Rational::zero(); model.q()];
    for dir in set.lattice.dirs() {
        let velocity = set.lattice.velocity(dir);
        let share = powers.iter().zip(velocity).map(|(power, c)| c.pow(*power)).product::<i32>();
        shares[set.pop(dir).index()] = Rational::from_integer(share.into());
    }
    let axes: String = powers.iter().zip(["x", "y", "z"]).map(|(power, axis)| axis.repeat(*power as usize)).collect();
    let letter = match axes.len() {
        0 => "rho",
        1 => "j",
        2 => "p",
        _ => "m",
    };
    let of_set = if at == 0 { String::new() } else { set.name.clone() };
    Moment { of: Some((at, powers.to_vec())), name: format!("{letter}{axes}{of_set}"), shares }
}

impl Moment {
    fn minus(&self, other: &Moment) -> Moment {
        let shares = self.shares.iter().zip(&other.shares).map(|(own, other)| own - other).collect();
        Moment { of: self.of.clone(), name: format!("{}_{}", self.name, other.name), shares }
    }
}

/// All populations, each a moment of its own.
fn all(model: &Model) -> Vec<Moment> {
    let unit =
        |at: usize| (0..model.q()).map(|pop| if pop == at { Rational::one() } else { Rational::zero() }).collect();
    (0..model.q()).map(|at| Moment { of: None, name: format!("f{at}"), shares: unit(at) }).collect()
}

/// A basis of the space of the rows: of moments with a name as far as it goes.
fn basis(rows: &[Vec<Rational>], known: &[Moment], count: usize) -> Vec<Moment> {
    let space = {
        let mut space = Rows::default();
        rows.iter().for_each(|row| _ = space.add(residues(row)));
        space
    };
    let (mut taken, mut moments) = (Rows::default(), Vec::new());
    let within = |moment: &&Moment| !space.clone().add(residues(&moment.shares));
    let others =
        rows.iter().enumerate().map(|(at, row)| Moment { of: None, name: format!("n{at}"), shares: row.clone() });
    for moment in known.iter().filter(within).cloned().chain(others) {
        if taken.rank() < rows.len().min(count) && taken.add(residues(&moment.shares)) {
            moments.push(moment);
        }
    }
    moments
}

/// Populations that have given moments: for each moment what populations have of it, and combinations of populations that have none.
pub(super) fn section(moments: &[Moment], count: usize) -> (Vec<Vec<Rational>>, Vec<Vec<Rational>>) {
    let unit =
        |at: usize, of: usize| (0..of).map(move |other| if other == at { Rational::one() } else { Rational::zero() });
    let mut rows: Vec<Vec<Rational>> = Vec::new();
    for (at, moment) in moments.iter().enumerate() {
        rows.push(moment.shares.iter().cloned().chain(unit(at, moments.len())).collect());
    }
    let pivots = reduce(&mut rows, count);
    let mut section = vec![vec![Rational::zero(); count]; moments.len()];
    for (row, pivot) in rows.iter().zip(&pivots) {
        for (own, share) in section.iter_mut().zip(&row[count..]) {
            own[*pivot] = share.clone();
        }
    }
    let free = (0..count).filter(|column| !pivots.contains(column));
    let directions = free.map(|column| {
        let mut direction = vec![Rational::zero(); count];
        direction[column] = Rational::one();
        rows.iter().zip(&pivots).for_each(|(row, pivot)| direction[*pivot] = -row[column].clone());
        direction
    });
    (section, directions.collect())
}

/// Brings the first `columns` columns to reduced echelon form; the columns of the pivots, a row each.
fn reduce(rows: &mut [Vec<Rational>], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let at = pivots.len();
        let Some(found) = (at..rows.len()).find(|row| !rows[*row][column].is_zero()) else { continue };
        rows.swap(at, found);
        let lead = rows[at][column].clone();
        rows[at].iter_mut().for_each(|value| *value /= &lead);
        let pivot = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != at) {
            let factor = row[column].clone();
            row.iter_mut().zip(&pivot).for_each(|(value, by)| *value -= &factor * by);
        }
        pivots.push(column);
    }
    pivots
}

fn is_proved(model: &Model, moments: &[Moment], budget: &Budget) -> bool {
    let (section, directions) = section(moments, model.q());
    unread::is_unread(model, &section, &directions, budget)
}

/// Which named value of the collision needs most of the `all` moments beyond second order: without what it hands on there are fewest,
/// and most of the others are left. The first of those that are equal in both.
fn because(model: &Model, all: usize, beyond: &dyn Fn(&Rows) -> usize) -> Option<(String, usize)> {
    let mut families: Vec<(&str, usize)> = Vec::new();
    for item in &model.collide.lets {
        if !families.iter().any(|(name, _)| *name == item.family) {
            families.push((&item.family, item.line));
        }
    }
    let mut best: Option<(usize, usize, (&str, usize))> = None;
    for family in families {
        let own: BTreeSet<ExprId> =
            model.collide.lets.iter().filter(|item| item.family == family.0).map(|item| item.value).collect();
        let Some(rows) = rows(model, &|id| own.contains(&id)) else { continue };
        let (left, rank) = (beyond(&rows), rows.rank());
        let better = best.is_none_or(|(least, most, _)| left < least || (left == least && rank > most));
        if left < all && better {
            best = Some((left, rank, family));
        }
    }
    best.map(|(_, _, (name, line))| (name.to_string(), line))
}

/// A collision of moments that are stored in the place of populations.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The moments.
    pub moments: Vec<Moment>,
    /// The graph of the formulas: `Symbol::Moment` is a moment by its position.
    pub exprs: Exprs,
    /// Every population after a collision, from the moments after it.
    pub populations: Formulas,
    /// Every moment after a collision, from the moments before it and parameters.
    pub relaxed: Formulas,
}

/// Why the populations of a method cannot be stored as moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// They depend on as many moments as there are populations, because of that value.
    All(usize, Option<String>),
    /// That they depend on no more than so many is not proved.
    NotProved(usize),
    /// Cells have states beside their populations.
    States,
    /// The collision has no value.
    NoValue,
    /// No formula was found that gives populations after a collision from so many moments after it, whatever the parameters are.
    NoFormula(usize),
}

impl fmt::Display for NotStored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(count, Some(name)) => {
                write!(
                    out,
                    "after a collision they depend on {count} moments, as many as there are, because of `{name}`"
                )
            }
            Self::All(count, None) => {
                write!(out, "after a collision they depend on {count} moments, as many as there are")
            }
            Self::NotProved(count) => write!(out, "that they depend on {count} moments and no others is not proved"),
            Self::States => write!(out, "cells have states beside their populations"),
            Self::NoValue => write!(out, "the collision has no value"),
            Self::NoFormula(count) => write!(
                out,
                "no formula was found that gives them from the {count} moments that they depend on, after the collision"
            ),
        }
    }
}

/// Moments in the place of populations.
///
/// Stored are those after a collision, `m* = M f*`. Where a collision leaves all of them as they are, as it does with a rate of zero, it
/// gives the populations that belong to them: so that is looked for, with a parameter or a named value set to 0 or 1, and what is found is
/// tried: `f*` of any collision must come back from `M f*`, at states in a prime field, where functions count as any function.
pub fn stored(model: &Model) -> Result<Stored, NotStored> {
    if !model.states().is_empty() || model.around.is_some() {
        return Err(NotStored::States);
    }
    let found = dependence(model).ok_or(NotStored::NoValue)?;
    let count = found.moments.len();
    if count == found.populations {
        return Err(NotStored::All(count, found.because.map(|(name, _)| name)));
    }
    if !found.proved {
        return Err(NotStored::NotProved(count));
    }
    let moments = found.moments;
    let (section, _) = section(&moments, model.q());
    let mut exprs = Exprs::new();
    let populations: Vec<ExprId> = (0..model.q())
        .map(|pop| {
            let shares: Vec<&Rational> = section.iter().map(|shares| &shares[pop]).collect();
            let symbols: Vec<ExprId> = (0..count).map(|at| exprs.symbol(Symbol::Moment(at as u16))).collect();
            sum(&mut exprs, &shares, &symbols)
        })
        .collect();
    let collided = |exprs: &mut Exprs, value: &dyn Fn(ExprId, Symbol) -> Option<Rational>| -> Formulas {
        let new = model.exprs.rewrite(&model.collide.outputs, exprs, |to, id, node| {
            let symbol = if let Expr::Symbol(symbol) = node { symbol } else { Symbol::Moment(u16::MAX) };
            match (value(id, symbol), symbol) {
                (Some(value), _) => to.constant(value),
                (None, Symbol::Population(pop)) => populations[pop.index()],
                _ => to.folded(node),
            }
        });
        let lets =
            model.collide.lets.iter().filter_map(|item| Some(Let { value: new.get(item.value)?, ..item.clone() }));
        Formulas { lets: lets.collect(), outputs: model.collide.outputs.iter().map(|output| new[*output]).collect() }
    };
    let after = collided(&mut exprs, &|_, _| None);
    let outputs: Vec<ExprId> = moments.iter().map(|moment| of_moment(&mut exprs, moment, &after.outputs)).collect();
    let relaxed = Formulas { outputs: linear(&mut exprs, &outputs), ..after };
    for choice in choices(model) {
        let vectors = |symbol: Symbol| match symbol {
            Symbol::Param { param, .. } => model.params[usize::from(param)].components > 1,
            _ => false,
        };
        let value = |id: ExprId, symbol: Symbol| match &choice {
            _ if vectors(symbol) => Some(Rational::zero()),
            Choice::Params => matches!(symbol, Symbol::Param { .. }).then(Rational::zero),
            Choice::Param(at, value) => {
                matches!(symbol, Symbol::Param { param, .. } if usize::from(param) == *at).then(|| value.clone())
            }
            Choice::Let(at, value) => (id == *at).then(|| value.clone()),
        };
        let populations = collided(&mut exprs, &value);
        if gives_back(model, &moments, &exprs, &populations.outputs) {
            return Ok(Stored { moments, exprs, populations, relaxed });
        }
    }
    Err(NotStored::NoFormula(count))
}

/// What is set to a number so that a collision leaves all moments that it depends on as they are.
enum Choice {
    /// All parameters to zero.
    Params,
    /// A scalar parameter.
    Param(usize, Rational),
    /// A named value.
    Let(ExprId, Rational),
}

fn choices(model: &Model) -> Vec<Choice> {
    let numbers = || [Rational::zero(), Rational::one()];
    let scalars = model.params.iter().enumerate().filter(|(_, param)| param.components == 1);
    let params = scalars.flat_map(|(at, _)| numbers().map(|value| Choice::Param(at, value)));
    let lets: BTreeSet<ExprId> = model.collide.lets.iter().map(|item| item.value).collect();
    let lets = lets.into_iter().flat_map(|at| numbers().map(|value| Choice::Let(at, value)));
    [Choice::Params].into_iter().chain(params).chain(lets).collect()
}

/// `sum(at: shares[at] * values[at])`
fn sum(exprs: &mut Exprs, shares: &[&Rational], values: &[ExprId]) -> ExprId {
    let zero = exprs.int(0);
    shares.iter().zip(values).filter(|(share, _)| !share.is_zero()).fold(zero, |sum, (share, value)| {
        let share = exprs.constant((*share).clone());
        let term = exprs.times(share, *value);
        exprs.plus(sum, term)
    })
}

/// The same values as sums of what is no sum, with factors: what cancels is gone.
fn linear(exprs: &mut Exprs, roots: &[ExprId]) -> Vec<ExprId> {
    let one = exprs.int(1);
    let needed = exprs.needed(roots);
    let mut sums: Vec<BTreeMap<ExprId, Rational>> = Vec::with_capacity(exprs.len());
    for (id, node) in exprs.iter() {
        let joined = |a: ExprId, b: Option<ExprId>, factors: [Rational; 2]| {
            let mut all = BTreeMap::new();
            for (part, factor) in [Some(a), b].into_iter().flatten().zip(factors) {
                for (atom, share) in &sums[part.index()] {
                    *all.entry(*atom).or_insert_with(Rational::zero) += share * &factor;
                }
            }
            all.retain(|_, share| !share.is_zero());
            all
        };
        let (plus, minus) = (Rational::one, || -Rational::one());
        let found = match *node {
            _ if !needed[id.index()] => BTreeMap::new(),
            Expr::Const(ref value) => BTreeMap::from([(one, value.clone())]),
            Expr::Neg(a) => joined(a, None, [minus(), plus()]),
            Expr::Add(a, b) => joined(a, Some(b), [plus(), plus()]),
            Expr::Sub(a, b) => joined(a, Some(b), [plus(), minus()]),
            Expr::Mul(a, b) => match (exprs.as_const(a), exprs.as_const(b)) {
                (Some(factor), _) => joined(b, None, [factor.clone(), plus()]),
                (_, Some(factor)) => joined(a, None, [factor.clone(), plus()]),
                _ => BTreeMap::from([(id, plus())]),
            },
            Expr::Div(a, b) => match exprs.as_const(b) {
                Some(divisor) if !divisor.is_zero() => joined(a, None, [divisor.recip(), plus()]),
                _ => BTreeMap::from([(id, plus())]),
            },
            _ => BTreeMap::from([(id, plus())]),
        };
        sums.push(found);
    }
    let mut write = |root: &ExprId| {
        let (atoms, shares): (Vec<ExprId>, Vec<&Rational>) = sums[root.index()].iter().unzip();
        sum(exprs, &shares, &atoms)
    };
    roots.iter().map(&mut write).collect()
}

fn of_moment(exprs: &mut Exprs, moment: &Moment, populations: &[ExprId]) -> ExprId {
    sum(exprs, &moment.shares.iter().collect::<Vec<_>>(), populations)
}

/// Whether these formulas of moments, which know no parameters, give back what any collision makes.
fn gives_back(model: &Model, moments: &[Moment], exprs: &Exprs, populations: &[ExprId]) -> bool {
    if exprs.symbols(populations).any(|symbol| !matches!(symbol, Symbol::Moment(_))) {
        return false;
    }
    let tries = (0..ATTEMPTS).filter_map(|state| {
        let after = model.exprs.eval::<Option<Residue>>(&model.collide.outputs, |symbol| Some(chance(state, symbol)));
        let after: Vec<Residue> = after.into_iter().collect::<Option<_>>()?;
        let of = |moment: &Moment| {
            let terms = residues(&moment.shares).into_iter().zip(&after).map(|(share, value)| share.times(*value));
            terms.fold(Residue::ZERO, Residue::plus)
        };
        let stored: Vec<Residue> = moments.iter().map(of).collect();
        let given = |symbol: Symbol| match symbol {
            Symbol::Moment(at) => Some(stored[usize::from(at)]),
            _ => Some(Residue::ZERO),
        };
        let back = exprs.eval::<Option<Residue>>(populations, given);
        Some(back.iter().zip(&after).all(|(back, after)| *back == Some(*after)))
    });
    let tries: Vec<bool> = tries.take(STATES_GIVEN_BACK).collect();
    tries.len() == STATES_GIVEN_BACK && tries.iter().all(|same| *same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn found(name: &str, text: &str) -> Dependence {
        let model = crate::fixture::compile(&Source::new(name, text), &shipped::Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(120)));
        dependence(&model.frozen()).expect("the collision has a value")
    }

    fn shipped(name: &str) -> String {
        found(name, shipped::spec(name).unwrap()).sentence()
    }

    #[test]
    fn shipped_methods_need_what_theory_says() {
        // What cells read of each other is not among the moments of one.
        let of_one = |text: &str| !["neighbour[", "gradient[", "laplacian("].iter().any(|word| text.contains(word));
        for (name, text) in shipped::specs().filter(|(_, text)| of_one(text)) {
            println!("{name}: {}", found(name, text).sentence());
        }
        let few = |name, which: &str| {
            let sentence = shipped(name);
            assert!(sentence.ends_with(&format!("moments (proved): {which}")), "{name}: {sentence}");
        };
        few("d3q27_cumulant", "rho, j, traceless second moments");
        few("d3q27_central", "rho, j, traceless second moments");
        few("d2q9_central", "rho, j, traceless second moments");
        few("d3q27_recursive", "rho, j, second moments");
        few("d3q19_regularized", "rho, j, second moments");
        for (name, count) in [("d3q19_bgk", 19), ("d2q9_trt", 9), ("d3q27_kbc", 27)] {
            let all = found(name, shipped::spec(name).unwrap());
            assert_eq!((all.moments.len(), all.populations, all.proved), (count, count, true), "{name}");
        }
        let eddies =
            "after collision the populations depend on 9 of 27 moments (proved, for any function in the place of sqrt)";
        assert!(shipped("d3q27_central_smagorinsky").starts_with(eddies));
    }

    /// Central moments of all orders, of which those above the second relax at the rate 1 written out: their differences cancel in
    /// formulas that divide by the density. With another rate they stay.
    #[test]
    fn moments_that_cancel_are_not_counted_and_those_that_stay_are_named() {
        let text = shipped::spec("d2q9_central").unwrap();
        let before = "let before[p in 0..=2, q in 0..=2] = sum(a in 0..=p, b in 0..=q: shift(p, a, -u[0]) * shift(q, b, -u[1]) * m[a, b]);\n    let k[";
        let text = text.replace("let k[", before);
        let with = |rate: &str| {
            let rest = format!("else {rate} * before[p, q];");
            let text = text
                .replace("then rho * cs2^2\n", &format!("then before[2, 2] + {rate} * (rho * cs2^2 - before[2, 2])\n"));
            let high = if rate == "high" { "param high in (0, 2);\nparam omega" } else { "param omega" };
            let text = text.replace("param omega", high);
            found("central", &text.replace("else 0;", &rest.replace(rate, &format!("(1 - {rate})"))))
        };
        let cancelled = with("1");
        assert!(cancelled.proved && !cancelled.higher);
        assert_eq!((cancelled.moments.len(), cancelled.list()), (5, "rho, j, traceless second moments".to_string()));
        let kept = with("high");
        assert!(kept.proved && kept.higher);
        assert_eq!((kept.moments.len(), kept.because.as_ref().map(|(name, _)| name.as_str())), (9, Some("before")));
    }

    /// The heat flux of the populations, and nothing else, is read beyond second moments.
    #[test]
    fn a_term_that_needs_more_is_named() {
        let text = shipped::spec("d3q27_recursive").unwrap();
        let heat = "let heat[a] = sum(i: dot(c[i], c[i]) * c[i, a] * f[i]);\n    let fneq[i]";
        let text = text.replace("let fneq[i]", heat).replace(
            "* fneq[i];",
            "* fneq[i] + w[i] * (c[i, 0]^2 - cs2) * (c[i, 1]^2 - cs2) * (c[i, 2]^2 - cs2) * dot(heat, u) / 1000;",
        );
        let found = found("hot", &text);
        assert_eq!((found.moments.len(), found.proved), (13, true), "{}", found.sentence());
        assert!(found.sentence().contains("3 of higher order, because of `heat` (line 2"), "{}", found.sentence());
    }

    /// A root of what would cancel is not taken apart.
    #[test]
    fn a_function_of_more_moments_counts_them() {
        let text = shipped::spec("d2q9_recursive").unwrap();
        let text = text.replace("(1 - omega) * fneq[i]", "(1 - omega + 0 * sqrt(1 + f[(1, 0)]^2)) * fneq[i]");
        assert_eq!(found("none", &text).moments.len(), 6);
        let text = text.replace("0 * sqrt", "omega / 100 * sqrt");
        assert_eq!((found("root", &text).moments.len(), found("root", &text).proved), (7, true));
    }

    #[test]
    fn populations_come_back_from_moments() {
        let stored = |name: &str| {
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
            super::stored(&model).map(|found| found.moments.len())
        };
        let few = [("d2q9_central", 5), ("d2q9_recursive", 6), ("d3q19_regularized", 10), ("d3q27_recursive", 10)];
        let nine = [("d3q27_cumulant", 9), ("d3q27_central", 9), ("d3q27_central_smagorinsky", 9)];
        for (name, count) in few.into_iter().chain(nine) {
            assert_eq!(stored(name), Ok(count), "{name}");
        }
        assert_eq!(stored("d3q19_bgk"), Err(NotStored::All(19, None)));
        assert_eq!(stored("d2q9_power_law_state"), Err(NotStored::States));
    }
}
