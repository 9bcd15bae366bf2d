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
use rustc_hash::FxHashMap;

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
    search.apply(system);
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

/// Exponents of the prime factors, one for each 16 bits: their sum, each times 2^16 to its number. Adding them multiplies what they
/// stand for. They stay far below the 2^15 where two would become one.
type Exponents = i128;

/// Bits of an exponent.
const BITS: usize = 16;

/// Absolute value of a constant: its prime factors, and what those do not cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Log {
    exponents: Exponents,
    /// Number of the part with other factors; 0 is one.
    other: u32,
}

impl Log {
    fn is_one(&self) -> bool {
        *self == Log::default()
    }
}

struct Term {
    /// The constant, as the scales have it now.
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

/// A term: its row and its number there.
type Place = (usize, usize);

/// What depends on the scale of a variable.
#[derive(Clone, Default)]
struct Near {
    /// Rows that it appears in: its own and its users'.
    rows: Vec<usize>,
    /// Terms whose constant it changes, and as which power.
    terms: Vec<(Place, i16)>,
    /// Terms that are a multiple of one variable in the row of another, where it is one of the two.
    links: Vec<Place>,
}

struct Search {
    vars: Vec<Var>,
    bases: Vec<BigInt>,
    rows: Vec<Row>,
    /// By variable.
    near: Vec<Near>,
    scale: Vec<Exponents>,
    prices: Vec<i32>,
    /// The group at hand, and whether each variable is in it.
    group: Vec<usize>,
    grouped: Vec<bool>,
    /// The rows near the group, with the prices that they had before they were priced anew.
    before: Vec<(usize, i32)>,
    /// The constants of a row that were met.
    distinct: Vec<Log>,
}

impl Search {
    fn new(system: &System) -> Self {
        let fixed = fixed(system);
        let sums = system.rows();
        let vars: Vec<Var> = sums.iter().map(|(var, _)| *var).filter(|var| !fixed.contains(var)).collect();
        let position: BTreeMap<Var, usize> = vars.iter().enumerate().map(|(at, var)| (*var, at)).collect();
        let mut logs = Logs { bases: Vec::new(), others: Vec::new() };
        let mut known: FxHashMap<Coef, Log> = FxHashMap::default();
        let mut near = vec![Near::default(); vars.len()];
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
                let place = (at, terms.len());
                for (var, power) in own.map(|own| (own, 1)).into_iter().chain(factors.iter().map(|(v, p)| (*v, -p))) {
                    near[var].terms.push((place, power));
                }
                if let (Some(own), [(other, 1)]) = (own, &factors[..]) {
                    near[own].links.push(place);
                    near[*other].links.push(place);
                }
                all.extend(factors.iter().map(|(var, _)| *var));
                let coef = *known.entry(coef).or_insert_with(|| logs.log(system.algebra.value(coef)));
                terms.push(Term { coef, free: mono == Mono::ONE || quotient, factors });
            }
            for var in all {
                near[var].rows.push(at);
            }
            rows.push(Row { var: own, terms });
        }
        let mut search = Self {
            bases: logs.bases,
            prices: Vec::new(),
            scale: vec![0; vars.len()],
            group: Vec::new(),
            grouped: vec![false; vars.len()],
            before: Vec::new(),
            distinct: Vec::new(),
            rows,
            near,
            vars,
        };
        search.prices = (0..search.rows.len()).map(|row| search.price(row)).collect();
        search
    }

    fn price(&mut self, row: usize) -> i32 {
        self.distinct.clear();
        let mut price = 0;
        for term in self.rows[row].terms.iter().filter(|term| !term.free && !term.coef.is_one()) {
            price += TERM;
            if !self.distinct.contains(&term.coef) {
                self.distinct.push(term.coef);
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
            self.choose(&mut random);
            let Some(factor) = self.factor(&mut random) else { continue };
            self.shift(factor);
            let loss = self.reprice();
            if loss <= random.below(allowance as usize + 1) as i32 {
                total += loss;
                if total < best.0 {
                    best.0 = total;
                    best.1.clone_from(&self.scale);
                }
            } else {
                self.take_back(factor);
            }
        }
        self.scale = best.1;
    }

    /// Makes a group of a variable, mostly alone: else with those that hang together with it by terms without a constant.
    fn choose(&mut self, random: &mut Random) {
        for var in self.group.drain(..) {
            self.grouped[var] = false;
        }
        let var = random.below(self.vars.len());
        self.group.push(var);
        self.grouped[var] = true;
        if random.below(8) != 0 {
            return;
        }
        let mut at = 0;
        while at < self.group.len() {
            for &(row, term) in &self.near[self.group[at]].links {
                let row = &self.rows[row];
                let term = &row.terms[term];
                if !term.coef.is_one() {
                    continue;
                }
                for var in row.var.into_iter().chain(term.factors.iter().map(|(var, _)| *var)) {
                    if !std::mem::replace(&mut self.grouped[var], true) {
                        self.group.push(var);
                    }
                }
            }
            at += 1;
        }
    }

    /// A factor for the group that turns some constant next to it into one.
    fn factor(&self, random: &mut Random) -> Option<Exponents> {
        let var = self.group[random.below(self.group.len())];
        // A sum of nothing has no terms, and what it is multiplied by may be in no row.
        let rows = &self.near[var].rows;
        let row = &self.rows[*rows.get(random.below(rows.len().max(1)))?];
        let term = row.terms.get(random.below(row.terms.len().max(1)))?;
        let mut weight = i16::from(row.var.is_some_and(|own| self.grouped[own]));
        for (var, power) in &term.factors {
            if self.grouped[*var] {
                weight -= power;
            }
        }
        let exponents = term.coef.exponents;
        (weight.abs() == 1 && exponents != 0).then_some(-exponents * Exponents::from(weight))
    }

    /// Prices the rows near the group anew; by how much they became dearer.
    fn reprice(&mut self) -> i32 {
        self.before.clear();
        match self.group[..] {
            [var] => self.before.extend(self.near[var].rows.iter().map(|row| (*row, self.prices[*row]))),
            _ => {
                let rows = self.group.iter().flat_map(|var| &self.near[*var].rows);
                self.before.extend(rows.map(|row| (*row, self.prices[*row])));
                self.before.sort_unstable();
                self.before.dedup();
            }
        }
        let mut change = 0;
        for at in 0..self.before.len() {
            let (row, old) = self.before[at];
            self.prices[row] = self.price(row);
            change += self.prices[row] - old;
        }
        change
    }

    /// Multiplies the group by the factor.
    fn shift(&mut self, factor: Exponents) {
        for &var in &self.group {
            self.scale[var] += factor;
            for &((row, term), power) in &self.near[var].terms {
                self.rows[row].terms[term].coef.exponents += factor * Exponents::from(power);
            }
        }
    }

    /// Undoes the last shift.
    fn take_back(&mut self, factor: Exponents) {
        self.shift(-factor);
        for &(row, price) in &self.before {
            self.prices[row] = price;
        }
    }

    /// Multiplies the variables of the system by the factors found.
    fn apply(&self, system: &mut System) {
        let mut scales: Vec<Exponents> = vec![0; system.defs.len()];
        for (var, scale) in self.vars.iter().zip(&self.scale) {
            scales[var.index()] = *scale;
        }
        let mut made: FxHashMap<(Coef, Exponents), Coef> = FxHashMap::default();
        for (row, mut sum) in system.rows() {
            for (mono, coef) in &mut sum {
                let factors = system.algebra.factors(*mono).iter();
                let below: Exponents = factors.map(|(var, power)| scales[var.index()] * Exponents::from(*power)).sum();
                let exponents = scales[row.index()] - below;
                *coef = *made.entry((*coef, exponents)).or_insert_with(|| {
                    let value = system.algebra.value(*coef) * self.number(exponents);
                    system.algebra.coef(&value)
                });
            }
            system.defs[row.index()] = Def::Sum(sum);
        }
    }

    /// The number with these exponents.
    fn number(&self, mut exponents: Exponents) -> Rational {
        let mut value = Rational::one();
        for base in self.bases.iter().take(BASES) {
            let exponent = exponents as i16;
            value *= Rational::from_integer(base.clone()).pow(i32::from(exponent));
            exponents = (exponents - Exponents::from(exponent)) >> BITS;
        }
        value
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
                log.exponents += Exponents::from(count) << (BITS * base);
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

/// Variables that must keep their value: outputs and operands of roots, other functions and choices.
fn fixed(system: &System) -> BTreeSet<Var> {
    let mut fixed: BTreeSet<Var> = system.outputs.iter().copied().collect();
    for var in system.order() {
        if matches!(system.defs[var.index()], Def::Sqrt(_) | Def::Call(..) | Def::Select { .. }) {
            system.visit_operands(var, |operand| _ = fixed.insert(operand));
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
