//! In: a [`System`]. Out: the same with sums and products rescaled.
//!
//! Why: a variable may be any multiple of what it was if its users divide by the factor. The right factors turn most
//! constants into one: weights, `1/2`, `9/2` are absorbed where something is multiplied anyway. The factors of all
//! variables belong together, so this is a search: random steps that may lose a little at first and nothing at the end
//! (threshold accepting), their number and seed given, in integers, so that every machine takes the same ones.
//!
//! After: no more constants than before. An input that was rescaled is taken as it is where that saves one.

use std::collections::{BTreeMap, BTreeSet};

use lbm_dsl::expr::Rational;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use super::algebra::{Coef, Mono, Poly, Var};
use super::random::Random;
use super::system::{Def, System};

/// Prime factors that are told apart.
const BASES: usize = 8;

/// Largest prime that is looked for.
const LARGEST: u32 = 1000;

/// Weight of a distinct constant of a sum, which is what costs a multiplication.
const DISTINCT: i32 = 4;

/// Weight of a term with a constant: something, or no single step would lead out of a sum whose terms share theirs.
const TERM: i32 = 1;

/// Steps of the search for each variable that are enough.
const MOST_STEPS: usize = 400;

/// Rescales. `steps` is the most steps of the search, `seed` decides where they go.
pub(super) fn rescale(system: &mut System, steps: usize, seed: u64) {
    name_products(system);
    let mut search = Search::new(system);
    search.run(steps, seed);
    let scales = search.scales();
    apply(system, &scales);
    restore(system);
}

/// Makes every product that several sums share a variable, and every input of a product too: both can be rescaled.
fn name_products(system: &mut System) {
    let rows = system.rows();
    let uses = System::uses(&rows);
    let mut aliases: BTreeMap<Var, Var> = BTreeMap::new();
    let mut products: BTreeMap<Mono, Mono> = BTreeMap::new();
    for (mono, uses) in uses {
        let factors = system.algebra.factors(mono).to_vec();
        if system.algebra.degree(mono) < 2 {
            continue;
        }
        let mut renamed = Vec::new();
        for (var, power) in factors {
            let leaf = matches!(system.defs[var.index()], Def::Leaf(_));
            let alias = if leaf {
                *aliases.entry(var).or_insert_with(|| {
                    let sum = system.single(var, Coef::ONE);
                    system.push(Def::Sum(sum))
                })
            } else {
                var
            };
            renamed.push((alias, power));
        }
        let mut renamed = system.algebra.mono(renamed);
        if uses > 1 {
            let var = system.push(Def::Sum(Poly::from([(renamed, Coef::ONE)])));
            renamed = system.algebra.single(var);
        }
        products.insert(mono, renamed);
    }
    for (row, sum) in rows {
        let renamed = sum.into_iter().map(|(mono, coef)| (products.get(&mono).copied().unwrap_or(mono), coef));
        system.defs[row.index()] = Def::Sum(renamed.collect());
    }
}

/// Absolute value of a constant as exponents of its prime factors; what those do not cover stays apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Log {
    exponents: [i16; BASES],
    /// Number of the part with other factors; 0 is one.
    other: u32,
}

impl Log {
    fn add(mut self, other: &[i16; BASES], times: i16) -> Self {
        for (own, other) in self.exponents.iter_mut().zip(other) {
            *own += other * times;
        }
        self
    }
    fn is_one(&self) -> bool {
        *self == Log::default()
    }
}

struct Term {
    coef: Log,
    /// Free unless alone in its sum over a divisor: the empty product.
    free: bool,
    /// Positions in `Search::vars` with powers; what cannot be rescaled is left out.
    factors: Vec<(usize, i16)>,
}

struct Row {
    /// Position in `Search::vars`, unless the sum must keep its value.
    var: Option<usize>,
    terms: Vec<Term>,
}

struct Search {
    vars: Vec<Var>,
    bases: Vec<BigInt>,
    rows: Vec<Row>,
    /// Rows that a variable's factor appears in: its own and its users'.
    near: Vec<Vec<usize>>,
    scale: Vec<[i16; BASES]>,
    prices: Vec<i32>,
}

impl Search {
    fn new(system: &System) -> Self {
        let fixed = fixed(system);
        let sums = system.rows();
        let vars: Vec<Var> = sums.iter().map(|(var, _)| *var).filter(|var| !fixed.contains(var)).collect();
        let position: BTreeMap<Var, usize> = vars.iter().enumerate().map(|(at, var)| (*var, at)).collect();
        let mut logs = Logs { bases: Vec::new(), others: Vec::new() };
        let mut near = vec![Vec::new(); vars.len()];
        let mut rows: Vec<Row> = Vec::new();
        for (at, (var, sum)) in sums.iter().enumerate() {
            let own = position.get(var).copied();
            let mut all: BTreeSet<usize> = own.into_iter().collect();
            let mut terms = Vec::new();
            for (&mono, &coef) in sum {
                let factors = system.algebra.factors(mono);
                let quotient = sum.len() == 1 && matches!(factors, [(_, -1)]);
                let scaled = factors.iter().filter_map(|(var, power)| Some((*position.get(var)?, *power as i16)));
                let factors: Vec<(usize, i16)> = scaled.collect();
                all.extend(factors.iter().map(|(var, _)| *var));
                let coef = logs.log(system.algebra.value(coef));
                terms.push(Term { coef, free: mono == Mono::ONE || quotient, factors });
            }
            for var in all {
                near[var].push(at);
            }
            rows.push(Row { var: own, terms });
        }
        let scale = vec![[0; BASES]; vars.len()];
        let mut search = Self { bases: logs.bases, rows, near, scale, prices: Vec::new(), vars };
        search.prices = (0..search.rows.len()).map(|row| search.price(row)).collect();
        search
    }

    fn coef(&self, row: &Row, term: &Term) -> Log {
        let mut log = term.coef;
        if let Some(var) = row.var {
            log = log.add(&self.scale[var], 1);
        }
        for &(var, power) in &term.factors {
            log = log.add(&self.scale[var], -power);
        }
        log
    }

    fn price(&self, row: usize) -> i32 {
        let row = &self.rows[row];
        let mut distinct: Vec<Log> = Vec::new();
        let mut price = 0;
        for term in row.terms.iter().filter(|term| !term.free) {
            let log = self.coef(row, term);
            if log.is_one() {
                continue;
            }
            price += TERM;
            if !distinct.contains(&log) {
                distinct.push(log);
                price += DISTINCT;
            }
        }
        price
    }

    fn run(&mut self, steps: usize, seed: u64) {
        if self.vars.is_empty() {
            return;
        }
        let steps = steps.min(MOST_STEPS * self.vars.len());
        let mut random = Random::new(seed);
        let mut total: i32 = self.prices.iter().sum();
        let mut best = (total, self.scale.clone());
        for step in 0..steps {
            // The allowance for a loss falls from two constants to none over the first three quarters.
            let allowance = 2 * DISTINCT * (3 * steps as i32 / 4 - step as i32).max(0) / (steps as i32);
            let var = random.below(self.vars.len());
            let group = if random.below(8) == 0 { self.joined(var) } else { vec![var] };
            let Some(factor) = self.factor(&group, &mut random) else { continue };
            let (loss, before) = self.shift(&group, &factor);
            if loss <= random.below(allowance as usize + 1) as i32 {
                total += loss;
                if total < best.0 {
                    best = (total, self.scale.clone());
                }
            } else {
                self.take_back(&group, &factor, before);
            }
        }
        self.scale = best.1;
    }

    /// The variables that hang together with one by terms without a constant.
    fn joined(&self, var: usize) -> Vec<usize> {
        let mut group = vec![var];
        let mut at = 0;
        while at < group.len() {
            for &row in &self.near[group[at]] {
                let row = &self.rows[row];
                let Some(own) = row.var else { continue };
                for term in &row.terms {
                    let [(other, 1)] = term.factors[..] else { continue };
                    if (own == group[at] || other == group[at]) && self.coef(row, term).is_one() {
                        for var in [own, other] {
                            if !group.contains(&var) {
                                group.push(var);
                            }
                        }
                    }
                }
            }
            at += 1;
        }
        group
    }

    /// A factor for the group that turns some constant next to it into one.
    fn factor(&self, group: &[usize], random: &mut Random) -> Option<[i16; BASES]> {
        let var = group[random.below(group.len())];
        // A sum of nothing has no terms, and what it is multiplied by may be in no row.
        let near = self.near[var].get(random.below(self.near[var].len().max(1)))?;
        let row = &self.rows[*near];
        let term = row.terms.get(random.below(row.terms.len().max(1)))?;
        let mut weight = i16::from(row.var.is_some_and(|own| group.contains(&own)));
        for (var, power) in &term.factors {
            if group.contains(var) {
                weight -= power;
            }
        }
        let log = self.coef(row, term);
        if weight.abs() != 1 || log.exponents == [0; BASES] {
            return None;
        }
        Some(log.exponents.map(|exponent| -exponent * weight))
    }

    /// Multiplies the group by the factor; the change of the price, and the prices of rows that there were.
    fn shift(&mut self, group: &[usize], factor: &[i16; BASES]) -> (i32, Vec<(usize, i32)>) {
        let mut rows: Vec<usize> = Vec::new();
        for &var in group {
            for (own, exponent) in self.scale[var].iter_mut().zip(factor) {
                *own += exponent;
            }
            rows.extend(&self.near[var]);
        }
        rows.sort_unstable();
        rows.dedup();
        let before: Vec<(usize, i32)> = rows.into_iter().map(|row| (row, self.prices[row])).collect();
        let mut change = 0;
        for &(row, old) in &before {
            let price = self.price(row);
            change += price - old;
            self.prices[row] = price;
        }
        (change, before)
    }

    /// Undoes a shift.
    fn take_back(&mut self, group: &[usize], factor: &[i16; BASES], before: Vec<(usize, i32)>) {
        for &var in group {
            for (own, exponent) in self.scale[var].iter_mut().zip(factor) {
                *own -= exponent;
            }
        }
        for (row, price) in before {
            self.prices[row] = price;
        }
    }

    /// The factors found.
    fn scales(&self) -> BTreeMap<Var, Rational> {
        let values = self.scale.iter().map(|exponents| {
            let mut value = Rational::one();
            for (base, exponent) in self.bases.iter().zip(exponents) {
                value *= Rational::from_integer(base.clone()).pow(i32::from(*exponent));
            }
            value
        });
        self.vars.iter().copied().zip(values).filter(|(_, value)| !value.is_one()).collect()
    }
}

/// The prime factors met so far.
struct Logs {
    bases: Vec<BigInt>,
    others: Vec<Rational>,
}

impl Logs {
    fn log(&mut self, value: &Rational) -> Log {
        let mut log = Log::default();
        let (mut above, mut below) = (value.numer().abs(), value.denom().clone());
        for prime in 2..=LARGEST {
            if above.is_one() && below.is_one() {
                return log;
            }
            let prime = BigInt::from(prime);
            let count = divide_out(&mut above, &prime) - divide_out(&mut below, &prime);
            if count == 0 {
                continue;
            }
            let base = self.bases.iter().position(|base| *base == prime).unwrap_or_else(|| {
                self.bases.push(prime.clone());
                self.bases.len() - 1
            });
            if base < BASES {
                log.exponents[base] += count;
            } else {
                above *= prime.pow(u32::from(count.max(0).unsigned_abs()));
                below *= prime.pow(u32::from(count.min(0).unsigned_abs()));
            }
        }
        let rest = Rational::new(above, below);
        if !rest.is_one() {
            let known = self.others.iter().position(|other| *other == rest);
            log.other = 1 + known.unwrap_or_else(|| {
                self.others.push(rest);
                self.others.len() - 1
            }) as u32;
        }
        log
    }
}

/// Divides by `prime` as often as possible.
fn divide_out(value: &mut BigInt, prime: &BigInt) -> i16 {
    let mut count = 0;
    while !value.is_zero() && (&*value % prime).is_zero() {
        *value /= prime;
        count += 1;
    }
    count
}

/// Variables that must keep their value: outputs and operands of roots and choices.
fn fixed(system: &System) -> BTreeSet<Var> {
    let mut fixed: BTreeSet<Var> = system.outputs.iter().copied().collect();
    for var in system.order() {
        if matches!(system.defs[var.index()], Def::Sqrt(_) | Def::Select { .. }) {
            fixed.extend(system.operands(var));
        }
    }
    fixed
}

/// Takes inputs as they are, not rescaled, in the products where that saves a constant.
///
/// An input has one factor for all its products. Where some want another, both are used.
fn restore(system: &mut System) {
    let rows = system.rows();
    let uses = System::uses(&rows);
    let mut inputs: BTreeMap<Var, (Var, Rational)> = BTreeMap::new();
    for (var, sum) in &rows {
        if let Some((&mono, &coef)) = sum.first_key_value().filter(|_| sum.len() == 1)
            && let Some(input) = system.algebra.as_var(mono)
            && matches!(system.defs[input.index()], Def::Leaf(_))
        {
            inputs.insert(*var, (input, system.algebra.value(coef).clone()));
        }
    }
    for (row, mut sum) in rows {
        for mono in sum.keys().copied().collect::<Vec<_>>() {
            // A product that several sums share stays one.
            if uses[&mono] > 1 {
                continue;
            }
            for (var, power) in system.algebra.factors(mono).to_vec() {
                let Some((input, factor)) = inputs.get(&var) else { continue };
                let value = system.algebra.value(sum[&mono]) * factor.pow(power);
                let renamed = system.algebra.mono(vec![(*input, power), (var, -power)]);
                let (renamed, coef) = (system.algebra.times(mono, renamed), system.algebra.coef(&value));
                let mut other = sum.clone();
                other.remove(&mono);
                system.algebra.accumulate(&mut other, renamed, coef);
                if constants(system, &other) < constants(system, &sum) {
                    sum = other;
                    break;
                }
            }
        }
        system.defs[row.index()] = Def::Sum(sum);
    }
}

/// Distinct constants of a sum.
fn constants(system: &System, sum: &Poly) -> usize {
    let values = sum.iter().filter(|(mono, _)| **mono != Mono::ONE).map(|(_, coef)| system.algebra.value(*coef).abs());
    values.filter(|value| !value.is_one()).collect::<BTreeSet<_>>().len()
}

fn apply(system: &mut System, scales: &BTreeMap<Var, Rational>) {
    for (row, sum) in system.rows() {
        let own = scales.get(&row).cloned().unwrap_or_else(Rational::one);
        let mut scaled = Poly::new();
        for (mono, coef) in sum {
            let mut value = system.algebra.value(coef) * &own;
            for (var, power) in system.algebra.factors(mono) {
                if let Some(scale) = scales.get(var) {
                    value /= scale.pow(*power);
                }
            }
            scaled.insert(mono, system.algebra.coef(&value));
        }
        system.defs[row.index()] = Def::Sum(scaled);
    }
}
