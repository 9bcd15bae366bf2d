//! In: a [`System`]. Out: the same with shared two-term sums named and common factors pulled out.
//!
//! Why: all sums together are a matrix, rows times monomials; naming the two-term sum that saves most, again and again
//! (Paar's algorithm, with rational ratios), finds sums and differences of opposite directions, butterflies over signs,
//! partial sums of moments. A pair is also tried without its common factor, `a x + b x` as `(a + b) x`, which gives
//! Horner's form (the double-cube divisors of logic synthesis).
//!
//! After: no two-term sum occurs twice up to a factor, and no pull of a common factor saves anything.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// A two-term sum `first + ratio * second`.
type Divisor = (Mono, Mono, Coef);

/// Which of equally good divisors goes first: the larger.
type Rank = (u64, Reverse<Divisor>);

/// Where a divisor occurs: the row and its two terms, in the order of the divisor.
type Place = (Var, Mono, Mono);

/// What an addition or a multiplication weighs.
const OPERATION: i32 = 4;

/// What a multiplication by a constant weighs: less, since a multiply-add can absorb it and rescaling remove it.
const CONSTANT: i32 = 3;

/// Names two-term sums while that saves operations. `seed` decides between equally good ones; 0 takes the oldest.
pub(super) fn share_sums(system: &mut System, seed: u64) {
    let mut work = Work {
        uses: Vec::new(),
        rows: vec![None; system.defs.len()],
        pairs: FxHashMap::default(),
        queue: BinaryHeap::new(),
        asked: Vec::new(),
        seed,
        system,
    };
    for (row, sum) in work.system.rows() {
        sum.keys().for_each(|mono| work.used(*mono));
        work.rows[row.index()] = Some(sum);
    }
    for row in (0..work.rows.len() as u32).map(Var) {
        let terms: Vec<Term> = work.terms(row).collect();
        for (at, &term) in terms.iter().enumerate() {
            for &other in &terms[..at] {
                work.pair(row, other, term, true);
            }
        }
    }
    work.run();
    let Work { rows, system, .. } = work;
    for (def, sum) in system.defs.iter_mut().zip(rows) {
        if let Some(sum) = sum {
            *def = Def::Sum(sum);
        }
    }
}

/// A term of a row.
type Term = (Mono, Coef);

/// What is known of a divisor.
#[derive(Default)]
struct Pair {
    /// In ascending order; most divisors have one.
    places: SmallVec<[Place; 2]>,
    /// What naming it saves.
    value: Value,
}

/// What naming a divisor saves.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Value {
    /// Nothing: it is alone and has no common factor.
    #[default]
    Nothing,
    /// To be found out: its places changed.
    Asked,
    /// So much when it was last found out.
    Was(i32),
}

struct Work<'a> {
    system: &'a mut System,
    /// Sums by variable.
    rows: Vec<Option<Poly>>,
    /// Number of rows that have the monomial.
    uses: Vec<usize>,
    pairs: FxHashMap<Divisor, Pair>,
    /// Positive values that divisors have or had, best first.
    queue: BinaryHeap<(i32, Rank)>,
    /// Divisors whose places changed since values were last found out.
    asked: Vec<Rank>,
    seed: u64,
}

impl Work<'_> {
    fn run(&mut self) {
        loop {
            self.answer();
            let Some((value, rank)) = self.queue.pop() else { return };
            let divisor = rank.1.0;
            if self.pairs.get(&divisor).is_none_or(|pair| pair.value != Value::Was(value)) {
                continue;
            }
            // It may have changed with how often its terms occur elsewhere.
            match self.value(divisor) {
                now if now == value => self.name(divisor),
                now => self.enter(rank, now),
            }
        }
    }

    /// Finds out what divisors save whose places changed, those of the highest rank first.
    fn answer(&mut self) {
        let mut asked = std::mem::take(&mut self.asked);
        asked.sort_unstable_by_key(|rank| Reverse(*rank));
        for rank in asked.drain(..) {
            let divisor = rank.1.0;
            if self.pairs.get(&divisor).is_some_and(|pair| pair.value == Value::Asked) {
                let value = self.value(divisor);
                self.enter(rank, value);
            }
        }
        self.asked = asked;
    }

    /// Notes what a divisor saves.
    fn enter(&mut self, rank: Rank, value: i32) {
        self.pairs.get_mut(&rank.1.0).expect("it has a value").value = Value::Was(value);
        if value > 0 {
            self.queue.push((value, rank));
        }
    }

    /// The sum of a row.
    fn row(&self, row: Var) -> &Poly {
        self.rows[row.index()].as_ref().expect("a row")
    }

    /// Terms of a row.
    fn terms(&self, row: Var) -> impl Iterator<Item = Term> {
        self.rows[row.index()].iter().flatten().map(|(mono, coef)| (*mono, *coef))
    }

    /// Counts one more row with the monomial.
    fn used(&mut self, mono: Mono) {
        if self.uses.len() <= mono.index() {
            self.uses.resize(mono.index() + 1, 0);
        }
        self.uses[mono.index()] += 1;
    }

    /// Enters (or removes) a pair of terms of a row, in ascending order, under its divisors.
    fn pair(&mut self, row: Var, a: Term, b: Term, enter: bool) {
        let common = self.system.algebra.common(a.0, b.0);
        self.place(row, a, b, a.0, b.0, enter);
        if common != Mono::ONE {
            let (first, second) = (self.system.algebra.over(a.0, common), self.system.algebra.over(b.0, common));
            self.place(row, a, b, first, second, enter);
        }
    }

    fn place(&mut self, row: Var, a: Term, b: Term, first: Mono, second: Mono, enter: bool) {
        let (a, b, first, second) = if first < second { (a, b, first, second) } else { (b, a, second, first) };
        let ratio = self.system.algebra.divide(b.1, a.1);
        let divisor = (first, second, ratio);
        let place = (row, a.0, b.0);
        let pair = self.pairs.entry(divisor).or_default();
        match (pair.places.binary_search(&place), enter) {
            (Err(at), true) => pair.places.insert(at, place),
            (Ok(at), false) => _ = pair.places.remove(at),
            _ => {}
        }
        // Alone and without a common factor it saves nothing; else what it saves is found out before the next is named.
        let worth = pair.places.len() > 1 || pair.places.iter().any(|(_, a, _)| *a != first);
        if worth && pair.value != Value::Asked {
            self.asked.push((mix(divisor, self.seed), Reverse(divisor)));
        }
        pair.value = if worth { Value::Asked } else { Value::Nothing };
        if pair.places.is_empty() {
            self.pairs.remove(&divisor);
        }
    }

    /// Places of a divisor that do not overlap.
    fn disjoint(&self, divisor: Divisor) -> SmallVec<[Place; 8]> {
        let mut disjoint: SmallVec<[Place; 8]> = SmallVec::new();
        for &(row, a, b) in &self.pairs[&divisor].places {
            // Those of a row lie together.
            let mut taken = disjoint.iter().rev().take_while(|place| place.0 == row);
            if taken.all(|&(_, c, d)| a != c && a != d && b != c && b != d) {
                disjoint.push((row, a, b));
            }
        }
        disjoint
    }

    /// What naming the divisor saves.
    fn value(&mut self, divisor: Divisor) -> i32 {
        let (first, second, ratio) = divisor;
        let constant = |coef: Coef| if coef.is_unit() { 0 } else { CONSTANT };
        let mut value = -OPERATION - constant(ratio);
        let (mut removed, mut pulled) = (SmallVec::<[Mono; 16]>::new(), SmallVec::<[Mono; 8]>::new());
        for (row, a, b) in self.disjoint(divisor) {
            value += OPERATION + constant(self.row(row)[&b]);
            removed.extend([a, b]);
            pulled.push(a);
        }
        let cost = |degree: usize| OPERATION * degree.saturating_sub(1) as i32;
        removed.sort_unstable();
        for alike in removed.chunk_by(|one, next| one == next) {
            let mono = alike[0];
            if alike.len() == self.uses[mono.index()] && mono != first && mono != second {
                value += cost(self.system.algebra.degree(mono));
            }
        }
        pulled.sort_unstable();
        pulled.dedup();
        // Products are new in this order; two are never the same over one.
        for mono in pulled {
            let factor = self.system.algebra.over(mono, first);
            value -= OPERATION * self.system.algebra.degree(factor) as i32;
        }
        for mono in [first, second] {
            if self.uses.get(mono.index()).is_none_or(|uses| *uses == 0) {
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
        let whole = places.iter().position(|&(row, a, _)| a == first && self.row(row).len() == 2);
        let (var, unit) = match whole {
            Some(at) => {
                let (row, a, _) = places.remove(at);
                (row, self.row(row)[&a])
            }
            None => {
                let var = self.system.push(Def::Sum(Poly::new()));
                self.rows.push(Some(Poly::new()));
                self.add(var, first, Coef::ONE);
                self.add(var, second, ratio);
                (var, Coef::ONE)
            }
        };
        let named = self.system.algebra.single(var);
        for (row, a, b) in places {
            let Some((&coef, &other)) = self.row(row).get(&a).zip(self.row(row).get(&b)) else { continue };
            if self.system.algebra.divide(other, coef) != ratio {
                continue;
            }
            let factor = self.system.algebra.over(a, first);
            let mono = self.system.algebra.times(factor, named);
            let coef = self.system.algebra.divide(coef, unit);
            self.remove(row, a);
            self.remove(row, b);
            self.add(row, mono, coef);
            if mono == named && self.row(row).len() == 1 {
                self.replace(row, var, coef);
            }
        }
    }

    /// Puts `factor * other` where `var`, which is that, is used.
    fn replace(&mut self, var: Var, other: Var, factor: Coef) {
        let mut users: Vec<(Var, Mono, i32)> = Vec::new();
        for row in (0..self.rows.len() as u32).map(Var) {
            for (mono, _) in self.terms(row) {
                let power = self.system.algebra.factors(mono).iter().find(|(own, _)| *own == var);
                users.extend(power.map(|(_, power)| (row, mono, *power)));
            }
        }
        for (row, mono, power) in users {
            let mut coef = self.row(row)[&mono];
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
        let term = (mono, self.row(row)[&mono]);
        let others: Vec<Term> = self.terms(row).filter(|other| other.0 != mono).collect();
        for other in others {
            self.pair(row, term.min(other), term.max(other), false);
        }
        self.rows[row.index()].as_mut().expect("a row").remove(&mono);
        self.uses[mono.index()] -= 1;
    }

    /// Adds a term to a row.
    fn add(&mut self, row: Var, mono: Mono, coef: Coef) {
        let mut coef = coef;
        if let Some(&old) = self.row(row).get(&mono) {
            self.remove(row, mono);
            coef = self.system.algebra.plus(old, coef);
        }
        if coef == Coef::ZERO {
            return;
        }
        let others: Vec<Term> = self.terms(row).collect();
        self.rows[row.index()].as_mut().expect("a row").insert(mono, coef);
        self.used(mono);
        let term = (mono, coef);
        for other in others {
            self.pair(row, term.min(other), term.max(other), true);
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
