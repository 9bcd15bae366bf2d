//! In: a [`System`]. Out: the same with shared two-term sums named and common factors pulled out.
//!
//! Why: all sums together are a matrix, rows times monomials; naming the two-term sum that saves most, again and again
//! (Paar's algorithm, with rational ratios), finds sums and differences of opposite directions, butterflies over signs,
//! partial sums of moments. A pair is also tried without its common factor, `a x + b x` as `(a + b) x`, which gives
//! Horner's form (the double-cube divisors of logic synthesis).
//!
//! After: no two-term sum occurs twice up to a factor, and no pull of a common factor saves anything.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// A two-term sum `first + ratio * second`.
type Divisor = (Mono, Mono, Coef);

/// Where a divisor occurs: the row and its two terms, in the order of the divisor.
type Place = (Var, Mono, Mono);

/// What an addition or a multiplication weighs.
const OPERATION: i32 = 4;

/// What a multiplication by a constant weighs: less, since a multiply-add can absorb it and rescaling remove it.
const CONSTANT: i32 = 3;

/// Names two-term sums while that saves operations. `seed` decides between equally good ones; 0 takes the oldest.
pub(super) fn share_sums(system: &mut System, seed: u64) {
    let rows = system.rows();
    let mut work = Work {
        uses: System::uses(&rows),
        rows: rows.into_iter().collect(),
        places: BTreeMap::new(),
        values: BTreeMap::new(),
        queue: BTreeSet::new(),
        seed,
        system,
    };
    let all: Vec<Var> = work.rows.keys().copied().collect();
    for row in all {
        let terms: Vec<Mono> = work.rows[&row].keys().copied().collect();
        for (at, &mono) in terms.iter().enumerate() {
            for &other in &terms[..at] {
                work.pair(row, other, mono, true);
            }
        }
    }
    work.run();
    let Work { rows, system, .. } = work;
    for (row, sum) in rows {
        system.defs[row.index()] = Def::Sum(sum);
    }
}

struct Work<'a> {
    system: &'a mut System,
    rows: BTreeMap<Var, Poly>,
    /// Number of rows that have the monomial.
    uses: BTreeMap<Mono, usize>,
    places: BTreeMap<Divisor, BTreeSet<Place>>,
    /// What naming a divisor saved when it was last asked.
    values: BTreeMap<Divisor, i32>,
    /// The same, best last.
    queue: BTreeSet<(i32, u64, Reverse<Divisor>)>,
    seed: u64,
}

impl Work<'_> {
    fn run(&mut self) {
        while let Some(&(value, _, Reverse(divisor))) = self.queue.last() {
            if value <= 0 {
                return;
            }
            let now = self.value(divisor);
            if now == value {
                self.name(divisor);
            } else {
                self.rank(divisor, Some(now));
            }
        }
    }

    /// Sets what naming a divisor saves, or forgets it.
    fn rank(&mut self, divisor: Divisor, value: Option<i32>) {
        let mixed = mix(divisor, self.seed);
        let old = match value {
            Some(value) => self.values.insert(divisor, value),
            None => self.values.remove(&divisor),
        };
        if let Some(old) = old {
            self.queue.remove(&(old, mixed, Reverse(divisor)));
        }
        if let Some(value) = value {
            self.queue.insert((value, mixed, Reverse(divisor)));
        }
    }

    /// Enters (or removes) the pair of terms of a row under its divisors.
    fn pair(&mut self, row: Var, a: Mono, b: Mono, enter: bool) {
        let common = self.system.algebra.common(a, b);
        self.place(row, a, b, a, b, enter);
        if common != Mono::ONE {
            let (first, second) = (self.system.algebra.over(a, common), self.system.algebra.over(b, common));
            self.place(row, a, b, first, second, enter);
        }
    }

    fn place(&mut self, row: Var, a: Mono, b: Mono, first: Mono, second: Mono, enter: bool) {
        let (a, b, first, second) = if first < second { (a, b, first, second) } else { (b, a, second, first) };
        let sum = &self.rows[&row];
        let ratio = self.system.algebra.divide(sum[&b], sum[&a]);
        let divisor = (first, second, ratio);
        let places = self.places.entry(divisor).or_default();
        if enter {
            places.insert((row, a, b));
        } else {
            places.remove(&(row, a, b));
        }
        // Alone and without a common factor it saves nothing; else what it saves is found out when it is best.
        let worth = places.len() > 1 || places.iter().any(|(_, a, _)| *a != first);
        if places.is_empty() {
            self.places.remove(&divisor);
        }
        self.rank(divisor, worth.then_some(i32::MAX));
    }

    /// Places of a divisor that do not overlap.
    fn disjoint(&self, divisor: Divisor) -> Vec<Place> {
        let mut taken = BTreeSet::new();
        let places = self.places[&divisor].iter().copied();
        places
            .filter(|&(row, a, b)| {
                !taken.contains(&(row, a)) && !taken.contains(&(row, b)) && {
                    taken.insert((row, a));
                    taken.insert((row, b))
                }
            })
            .collect()
    }

    /// What naming the divisor saves.
    fn value(&mut self, divisor: Divisor) -> i32 {
        let (first, second, ratio) = divisor;
        let constant = |coef: Coef| if coef.is_unit() { 0 } else { CONSTANT };
        let mut value = -OPERATION - constant(ratio);
        let mut removed: BTreeMap<Mono, usize> = BTreeMap::new();
        let mut pulled = BTreeSet::new();
        for (row, a, b) in self.disjoint(divisor) {
            value += OPERATION + constant(self.rows[&row][&b]);
            *removed.entry(a).or_default() += 1;
            *removed.entry(b).or_default() += 1;
            pulled.insert((a, first));
        }
        let cost = |degree: usize| OPERATION * degree.saturating_sub(1) as i32;
        for (mono, count) in removed {
            if count == self.uses[&mono] && mono != first && mono != second {
                value += cost(self.system.algebra.degree(mono));
            }
        }
        let mut factors = BTreeSet::new();
        for (a, first) in pulled {
            factors.insert(self.system.algebra.over(a, first));
        }
        for factor in factors {
            value -= OPERATION * self.system.algebra.degree(factor) as i32;
        }
        for mono in [first, second] {
            if !self.uses.contains_key(&mono) {
                value -= cost(self.system.algebra.degree(mono));
            }
        }
        value
    }

    /// Makes the divisor a variable and uses it in all its places.
    fn name(&mut self, divisor: Divisor) {
        let (first, second, ratio) = divisor;
        let mut places = self.disjoint(divisor);
        // A sum that is a multiple of the divisor names it already.
        let whole = places.iter().position(|&(row, a, _)| a == first && self.rows[&row].len() == 2);
        let (var, unit) = match whole {
            Some(at) => {
                let (row, a, _) = places.remove(at);
                (row, self.rows[&row][&a])
            }
            None => {
                let var = self.system.push(Def::Sum(Poly::new()));
                self.rows.insert(var, Poly::new());
                self.add(var, first, Coef::ONE);
                self.add(var, second, ratio);
                (var, Coef::ONE)
            }
        };
        let named = self.system.algebra.single(var);
        for (row, a, b) in places {
            let Some((&coef, &other)) = self.rows[&row].get(&a).zip(self.rows[&row].get(&b)) else { continue };
            if self.system.algebra.divide(other, coef) != ratio {
                continue;
            }
            let factor = self.system.algebra.over(a, first);
            let mono = self.system.algebra.times(factor, named);
            let coef = self.system.algebra.divide(coef, unit);
            self.remove(row, a);
            self.remove(row, b);
            self.add(row, mono, coef);
            if mono == named && self.rows[&row].len() == 1 {
                self.replace(row, var, coef);
            }
        }
    }

    /// Puts `factor * other` where `var`, which is that, is used.
    fn replace(&mut self, var: Var, other: Var, factor: Coef) {
        let mut users: Vec<(Var, Mono, i32)> = Vec::new();
        for (&row, sum) in &self.rows {
            for &mono in sum.keys() {
                let power = self.system.algebra.factors(mono).iter().find(|(own, _)| *own == var);
                users.extend(power.map(|(_, power)| (row, mono, *power)));
            }
        }
        for (row, mono, power) in users {
            let mut coef = self.rows[&row][&mono];
            for _ in 0..power.abs() {
                coef = match power {
                    ..0 => self.system.algebra.divide(coef, factor),
                    _ => self.system.algebra.multiply(coef, factor),
                };
            }
            let quotient = self.system.algebra.mono(vec![(other, power), (var, -power)]);
            let renamed = self.system.algebra.times(mono, quotient);
            self.remove(row, mono);
            self.add(row, renamed, coef);
        }
    }

    fn remove(&mut self, row: Var, mono: Mono) {
        let others: Vec<Mono> = self.rows[&row].keys().copied().filter(|other| *other != mono).collect();
        for other in others {
            self.pair(row, mono.min(other), mono.max(other), false);
        }
        self.rows.get_mut(&row).expect("a row").remove(&mono);
        let uses = self.uses.get_mut(&mono).expect("it was used");
        *uses -= 1;
        if *uses == 0 {
            self.uses.remove(&mono);
        }
    }

    /// Adds a term to a row.
    fn add(&mut self, row: Var, mono: Mono, coef: Coef) {
        let mut coef = coef;
        if let Some(&old) = self.rows[&row].get(&mono) {
            self.remove(row, mono);
            coef = self.system.algebra.plus(old, coef);
        }
        if coef == Coef::ZERO {
            return;
        }
        let others: Vec<Mono> = self.rows[&row].keys().copied().collect();
        self.rows.get_mut(&row).expect("a row").insert(mono, coef);
        *self.uses.entry(mono).or_default() += 1;
        for other in others {
            self.pair(row, mono.min(other), mono.max(other), true);
        }
    }
}

/// Rank among equals: larger goes first.
fn mix((first, second, ratio): Divisor, seed: u64) -> u64 {
    let mut mixed = seed;
    if seed != 0 {
        for part in [first.index() as u64, second.index() as u64, ratio.index() as u64] {
            mixed = (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^= mixed >> 29;
        }
    }
    mixed
}
