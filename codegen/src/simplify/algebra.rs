//! Interned coefficients and monomials, and sums of products over them.
//!
//! After: equal coefficients have equal ids, equal monomials too, so comparing terms is comparing integers. Monomials are
//! Laurent: an exponent may be negative, so that dividing is multiplying and `rho * (j / rho)` is `j`. Ids are handed out
//! in order of first use; nothing depends on addresses, nor on the order of hashes.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbm_dsl::expr::Rational;
use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// A value of a [`System`](super::system::System): an input, or something computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Var(pub(super) u32);

impl Var {
    /// Position in the system.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned rational.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Coef(u32);

impl Coef {
    pub(super) const ZERO: Coef = Coef(0);
    pub(super) const ONE: Coef = Coef(1);
    pub(super) const MINUS_ONE: Coef = Coef(2);

    /// Position in the algebra.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether multiplying by it is free.
    pub(super) fn is_unit(self) -> bool {
        self == Coef::ONE || self == Coef::MINUS_ONE
    }
}

/// An interned product of powers of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mono(u32);

impl Mono {
    /// The empty product.
    pub(super) const ONE: Mono = Mono(0);

    /// Position in the algebra.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A sum of products. No coefficient is zero.
pub(super) type Poly = BTreeMap<Mono, Coef>;

/// The interner.
#[derive(Clone, Debug)]
pub(super) struct Algebra {
    coefs: Vec<Arc<Rational>>,
    /// Those whose numerator and denominator have 64 bits, which is nearly all.
    small_coefs: FxHashMap<(i64, i64), Coef>,
    large_coefs: BTreeMap<Arc<Rational>, Coef>,
    coef_sums: FxHashMap<(Coef, Coef), Coef>,
    coef_products: FxHashMap<(Coef, Coef), Coef>,
    coef_quotients: FxHashMap<(Coef, Coef), Coef>,
    monos: Vec<Arc<[(Var, i32)]>>,
    /// For each monomial, a bit for each factor and its sign, which others may share: without a common bit, no common factor.
    masks: Vec<u64>,
    mono_index: FxHashMap<Arc<[(Var, i32)]>, Mono>,
    products: FxHashMap<(Mono, Mono), Mono>,
    quotients: FxHashMap<(Mono, Mono), Mono>,
    /// Largest common factors.
    shared: FxHashMap<(Mono, Mono), Mono>,
}

impl Algebra {
    pub(super) fn new() -> Self {
        let mut algebra = Self {
            coefs: Vec::new(),
            small_coefs: FxHashMap::default(),
            large_coefs: BTreeMap::new(),
            coef_sums: FxHashMap::default(),
            coef_products: FxHashMap::default(),
            coef_quotients: FxHashMap::default(),
            monos: Vec::new(),
            masks: Vec::new(),
            mono_index: FxHashMap::default(),
            products: FxHashMap::default(),
            quotients: FxHashMap::default(),
            shared: FxHashMap::default(),
        };
        algebra.coef(&Rational::zero());
        algebra.coef(&Rational::one());
        algebra.coef(&-Rational::one());
        algebra.mono(Vec::new());
        algebra
    }

    /// Interns a rational.
    pub(super) fn coef(&mut self, value: &Rational) -> Coef {
        let small = value.numer().to_i64().zip(value.denom().to_i64());
        let known = small.map_or_else(|| self.large_coefs.get(value), |small| self.small_coefs.get(&small));
        if let Some(&id) = known {
            return id;
        }
        let id = Coef(self.coefs.len() as u32);
        let value = Arc::new(value.clone());
        self.coefs.push(value.clone());
        match small {
            Some(small) => _ = self.small_coefs.insert(small, id),
            None => _ = self.large_coefs.insert(value, id),
        }
        id
    }

    /// The rational that `id` stands for.
    pub(super) fn value(&self, id: Coef) -> &Rational {
        &self.coefs[id.0 as usize]
    }

    pub(super) fn plus(&mut self, a: Coef, b: Coef) -> Coef {
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.coef_sums.get(&key) {
            return id;
        }
        let value = self.value(a) + self.value(b);
        let id = self.coef(&value);
        self.coef_sums.insert(key, id);
        id
    }

    pub(super) fn multiply(&mut self, a: Coef, b: Coef) -> Coef {
        if a == Coef::ONE {
            return b;
        }
        if b == Coef::ONE {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.coef_products.get(&key) {
            return id;
        }
        let value = self.value(a) * self.value(b);
        let id = self.coef(&value);
        self.coef_products.insert(key, id);
        id
    }

    /// `a / b`; `b` is not zero.
    pub(super) fn divide(&mut self, a: Coef, b: Coef) -> Coef {
        if b == Coef::ONE {
            return a;
        }
        if a == b {
            return Coef::ONE;
        }
        if let Some(&id) = self.coef_quotients.get(&(a, b)) {
            return id;
        }
        let value = self.value(a) / self.value(b);
        let id = self.coef(&value);
        self.coef_quotients.insert((a, b), id);
        id
    }

    /// Interns a product of powers.
    pub(super) fn mono(&mut self, mut factors: Vec<(Var, i32)>) -> Mono {
        factors.retain(|(_, power)| *power != 0);
        factors.sort();
        if let Some(&id) = self.mono_index.get(&factors[..]) {
            return id;
        }
        let id = Mono(self.monos.len() as u32);
        let bit = |(var, power): &(Var, i32)| 1 << ((2 * var.0 + u32::from(*power < 0)) % u64::BITS);
        self.masks.push(factors.iter().fold(0, |mask, factor| mask | bit(factor)));
        let factors: Arc<[(Var, i32)]> = factors.into();
        self.monos.push(factors.clone());
        self.mono_index.insert(factors, id);
        id
    }

    /// The product that is one variable.
    pub(super) fn single(&mut self, var: Var) -> Mono {
        self.mono(vec![(var, 1)])
    }

    /// Factors of a monomial with their exponents, by variable.
    pub(super) fn factors(&self, mono: Mono) -> &[(Var, i32)] {
        &self.monos[mono.index()]
    }

    /// The variable that the monomial is, if it is one.
    pub(super) fn as_var(&self, mono: Mono) -> Option<Var> {
        match self.factors(mono) {
            [(var, 1)] => Some(*var),
            _ => None,
        }
    }

    /// Number of factors, repeated ones counted.
    pub(super) fn degree(&self, mono: Mono) -> usize {
        self.factors(mono).iter().map(|(_, power)| power.unsigned_abs() as usize).sum()
    }

    pub(super) fn times(&mut self, a: Mono, b: Mono) -> Mono {
        if a == Mono::ONE {
            return b;
        }
        if b == Mono::ONE {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.products.get(&key) {
            return id;
        }
        let mut powers = self.factors(a).to_vec();
        for &(var, power) in self.factors(b) {
            match powers.binary_search_by_key(&var, |(other, _)| *other) {
                Ok(at) => powers[at].1 += power,
                Err(at) => powers.insert(at, (var, power)),
            }
        }
        let id = self.mono(powers);
        self.products.insert(key, id);
        id
    }

    /// `a^power`
    pub(super) fn raise(&mut self, a: Mono, power: i32) -> Mono {
        let factors = self.factors(a).iter().map(|(var, own)| (*var, own * power)).collect();
        self.mono(factors)
    }

    /// `a / b`
    pub(super) fn over(&mut self, a: Mono, b: Mono) -> Mono {
        if let Some(&id) = self.quotients.get(&(a, b)) {
            return id;
        }
        let inverse = self.raise(b, -1);
        let id = self.times(a, inverse);
        self.quotients.insert((a, b), id);
        id
    }

    /// The largest common factor: the powers that both have with the same sign.
    pub(super) fn common(&mut self, a: Mono, b: Mono) -> Mono {
        if self.masks[a.index()] & self.masks[b.index()] == 0 {
            return Mono::ONE;
        }
        if let Some(&id) = self.shared.get(&(a, b)) {
            return id;
        }
        let mut shared = Vec::new();
        let (left, right) = (self.factors(a), self.factors(b));
        for &(var, power) in left {
            let Ok(at) = right.binary_search_by_key(&var, |(other, _)| *other) else { continue };
            let other = right[at].1;
            if power.signum() == other.signum() {
                shared.push((var, power.signum() * power.abs().min(other.abs())));
            }
        }
        let id = if shared.is_empty() { Mono::ONE } else { self.mono(shared) };
        self.shared.insert((a, b), id);
        id
    }

    /// Adds `coef * mono` to a sum.
    pub(super) fn accumulate(&mut self, sum: &mut Poly, mono: Mono, coef: Coef) {
        let total = match sum.get(&mono) {
            Some(&old) => self.plus(old, coef),
            None => coef,
        };
        if total == Coef::ZERO {
            sum.remove(&mono);
        } else {
            sum.insert(mono, total);
        }
    }

    /// `a + scale * b`
    pub(super) fn add_scaled(&mut self, a: &Poly, b: &Poly, scale: Coef) -> Poly {
        let mut sum = a.clone();
        for (&mono, &coef) in b {
            let coef = self.multiply(coef, scale);
            self.accumulate(&mut sum, mono, coef);
        }
        sum
    }

    /// `a * b`, expanded.
    pub(super) fn expand(&mut self, a: &Poly, b: &Poly) -> Poly {
        let mut sum = Poly::new();
        for (&m, &c) in a {
            for (&n, &d) in b {
                let (mono, coef) = (self.times(m, n), self.multiply(c, d));
                self.accumulate(&mut sum, mono, coef);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_cancel() {
        let mut algebra = Algebra::new();
        let (rho, j) = (Var(0), Var(1));
        let u = algebra.mono(vec![(j, 1), (rho, -1)]);
        let m = algebra.single(rho);
        assert_eq!(algebra.times(u, m), algebra.single(j));
    }

    #[test]
    fn sums_drop_what_vanishes() {
        let mut algebra = Algebra::new();
        let m = algebra.single(Var(0));
        let mut sum = Poly::new();
        algebra.accumulate(&mut sum, m, Coef::ONE);
        algebra.accumulate(&mut sum, m, Coef::MINUS_ONE);
        assert!(sum.is_empty());
    }

    #[test]
    fn common_factors_have_one_sign() {
        let mut algebra = Algebra::new();
        let (x, y) = (Var(0), Var(1));
        let a = algebra.mono(vec![(x, 2), (y, -1)]);
        let b = algebra.mono(vec![(x, 1), (y, 1)]);
        let x = algebra.single(x);
        assert_eq!(algebra.common(a, b), x);
    }
}
