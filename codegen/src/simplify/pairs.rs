//! In: a [`System`]. Out: the same with shared two-term sums named and common factors pulled out.
//!
//! Why: all sums together are a matrix, rows times monomials; naming the two-term sum that saves most, again and again
//! (Paar's algorithm, with rational ratios), finds sums and differences of opposite directions, butterflies over signs,
//! partial sums of moments. A pair is also tried without its common factor, `a x + b x` as `(a + b) x`, which gives
//! Horner's form (the double-cube divisors of logic synthesis).
//!
//! After: no two-term sum occurs twice up to a factor, and no pull of a common factor saves anything.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// A two-term sum `first + ratio * second`.
type Divisor = (Mono, Mono, Coef);

/// Where a divisor occurs: the row and its two terms, in the order of the divisor.
type Place = (Var, Mono, Mono);

/// What an addition or a multiplication weighs.
const OPERATION: i32 = 4;

/// How the search resolves what the counts leave open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Weight of a multiplication by a constant, at most 4: cheaper than others since a multiply-add can absorb it and
    /// rescaling remove it.
    pub(super) constant: i32,
    /// Order of equally good divisors; 0 is the order of first use.
    pub(super) seed: u64,
}

/// Names two-term sums while that saves operations.
pub(super) fn share_sums(system: &mut System, choice: Choice) {
    let rows = system.rows();
    let mut work = Work {
        uses: System::uses(&rows),
        rows: rows.into_iter().collect(),
        places: BTreeMap::new(),
        values: BTreeMap::new(),
        choice,
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
    choice: Choice,
}

impl Work<'_> {
    fn run(&mut self) {
        loop {
            let seed = self.choice.seed;
            let best = self.values.iter().max_by_key(|(divisor, value)| (**value, order(**divisor, seed)));
            let Some((&divisor, &value)) = best else { return };
            if value <= 0 {
                return;
            }
            let now = self.value(divisor);
            if now == value {
                self.name(divisor);
            } else {
                self.values.insert(divisor, now);
            }
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
        if places.is_empty() {
            self.places.remove(&divisor);
            self.values.remove(&divisor);
        } else if places.len() > 1 || first != a {
            self.values.insert(divisor, i32::MAX);
        } else {
            self.values.remove(&divisor);
        }
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
        let constant = |coef: Coef| if coef.is_unit() { 0 } else { self.choice.constant };
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
        let places = self.disjoint(divisor);
        let var = self.system.push(Def::Sum(Poly::new()));
        let named = self.system.algebra.single(var);
        for (row, a, b) in places {
            let factor = self.system.algebra.over(a, first);
            let mono = self.system.algebra.times(factor, named);
            let coef = self.rows[&row][&a];
            self.remove(row, a);
            self.remove(row, b);
            self.insert(row, mono, coef);
        }
        self.rows.insert(var, Poly::new());
        self.insert(var, first, Coef::ONE);
        self.insert(var, second, ratio);
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

    fn insert(&mut self, row: Var, mono: Mono, coef: Coef) {
        let others: Vec<Mono> = self.rows[&row].keys().copied().collect();
        self.rows.get_mut(&row).expect("a row").insert(mono, coef);
        *self.uses.entry(mono).or_default() += 1;
        for other in others {
            self.pair(row, mono.min(other), mono.max(other), true);
        }
    }
}

/// Rank among equals: larger goes first.
fn order((first, second, ratio): Divisor, seed: u64) -> (u64, std::cmp::Reverse<Divisor>) {
    let mut mixed = 0;
    if seed != 0 {
        mixed = seed;
        for part in [first.index() as u64, second.index() as u64, ratio.index() as u64] {
            mixed = (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^= mixed >> 29;
        }
    }
    (mixed, std::cmp::Reverse((first, second, ratio)))
}
