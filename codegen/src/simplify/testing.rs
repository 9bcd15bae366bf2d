//! Kernels for the tests, written out as a spec would expand.

use lbm_dsl::expr::{ExprId, Exprs, Rational, Symbol};
use lbm_dsl::lattice::Dir;

use crate::ir::{KernelIr, Named, Output};

/// A rational.
pub(crate) fn ratio(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator.into(), denominator.into())
}

/// Velocities and weights of a lattice whose shells have `weights[number of non-zero components]`; zero leaves a shell
/// out.
fn lattice(dim: usize, weights: &[Rational]) -> Vec<(Vec<i64>, Rational)> {
    let mut all = vec![vec![]];
    for _ in 0..dim {
        all = all.iter().flat_map(|c: &Vec<i64>| [0, 1, -1].map(|v| [c.clone(), vec![v]].concat())).collect();
    }
    let with = all.into_iter().map(|c| {
        let shell = c.iter().filter(|v| **v != 0).count();
        let weight = weights.get(shell).cloned().unwrap_or(ratio(0, 1));
        (c, weight)
    });
    with.filter(|(_, weight)| *weight != ratio(0, 1)).collect()
}

/// A kernel in the making.
pub(crate) struct Spec {
    pub(crate) kernel: KernelIr,
    /// Velocities and weights.
    pub(crate) dirs: Vec<(Vec<i64>, Rational)>,
    dim: usize,
    f: Vec<ExprId>,
}

impl Spec {
    fn new(dim: usize, weights: &[Rational]) -> Self {
        let mut kernel =
            KernelIr { name: "collide".into(), exprs: Exprs::new(), lets: vec![], outputs: vec![], symbols: vec![] };
        let dirs = lattice(dim, weights);
        let mut f = vec![];
        for i in 0..dirs.len() {
            let symbol = Symbol::Population(Dir(i as u8));
            f.push(kernel.exprs.symbol(symbol));
            kernel.symbols.push((symbol, format!("f_{i}")));
        }
        kernel.symbols.push((Symbol::Param { param: 0, component: 0 }, "omega".into()));
        Self { kernel, dirs, dim, f }
    }

    fn name(&mut self, family: &str, index: String, value: ExprId) -> ExprId {
        let (name, family) = (format!("{family}{index}"), family.to_string());
        self.kernel.lets.push(Named { name, family, value, file: "test.lbm".into(), line: 1 });
        value
    }

    fn sum(&mut self, terms: impl IntoIterator<Item = ExprId>) -> ExprId {
        let mut total = self.kernel.exprs.int(0);
        for term in terms {
            total = self.kernel.exprs.plus(total, term);
        }
        total
    }

    fn scaled(&mut self, value: Rational, a: ExprId) -> ExprId {
        let value = self.kernel.exprs.constant(value);
        self.kernel.exprs.times(value, a)
    }

    fn weighted(&mut self, factor: impl Fn(&[i64]) -> i64, values: &[ExprId]) -> ExprId {
        let mut terms = vec![];
        for (i, value) in values.iter().enumerate() {
            let factor = factor(&self.dirs[i].0);
            if factor != 0 {
                let term = self.scaled(ratio(factor, 1), *value);
                terms.push(term);
            }
        }
        self.sum(terms)
    }

    /// rho, j, u, feq.
    fn equilibrium(&mut self) -> Vec<ExprId> {
        let f = self.f.clone();
        let rho = self.weighted(|_| 1, &f);
        self.name("rho", String::new(), rho);
        let mut u = vec![];
        for a in 0..self.dim {
            let j = self.weighted(|c| c[a], &f);
            self.name("j", ["x", "y", "z"][a].into(), j);
            u.push(self.kernel.exprs.over(j, rho));
        }
        for (a, u) in u.iter().enumerate() {
            self.name("u", ["x", "y", "z"][a].into(), *u);
        }
        let mut feq = vec![];
        for i in 0..self.dirs.len() {
            let (c, w) = self.dirs[i].clone();
            let cu: Vec<ExprId> =
                (0..self.dim).filter(|a| c[*a] != 0).map(|a| self.scaled(ratio(c[a], 1), u[a])).collect();
            let cu = self.sum(cu);
            let uu: Vec<ExprId> = u.iter().map(|u| self.kernel.exprs.times(*u, *u)).collect();
            let uu = self.sum(uu);
            let square = self.kernel.exprs.times(cu, cu);
            let (one, cu) = (self.kernel.exprs.int(1), self.scaled(ratio(3, 1), cu));
            let (square, uu) = (self.scaled(ratio(9, 2), square), self.scaled(ratio(3, 2), uu));
            let bracket = self.sum([one, cu, square]);
            let bracket = self.kernel.exprs.minus(bracket, uu);
            let wrho = self.scaled(w, rho);
            let value = self.kernel.exprs.times(wrho, bracket);
            feq.push(self.name("feq", format!("_{i}"), value));
        }
        feq
    }

    fn omega(&mut self) -> ExprId {
        self.kernel.exprs.symbol(Symbol::Param { param: 0, component: 0 })
    }

    fn output(&mut self, value: ExprId) {
        let name = format!("post_{}", self.kernel.outputs.len());
        self.kernel.outputs.push(Output { name, value });
    }

    /// f + omega (feq - f)
    fn bgk(mut self) -> KernelIr {
        let feq = self.equilibrium();
        let omega = self.omega();
        for (i, feq) in feq.into_iter().enumerate() {
            let change = self.kernel.exprs.minus(feq, self.f[i]);
            let change = self.kernel.exprs.times(omega, change);
            let value = self.kernel.exprs.plus(self.f[i], change);
            self.output(value);
        }
        self.kernel
    }
}

/// BGK on D2Q9.
pub(crate) fn d2q9_bgk() -> KernelIr {
    Spec::new(2, &[ratio(4, 9), ratio(1, 9), ratio(1, 36)]).bgk()
}

/// BGK on D3Q19.
pub(crate) fn d3q19_bgk() -> KernelIr {
    Spec::new(3, &[ratio(1, 3), ratio(1, 18), ratio(1, 36)]).bgk()
}

/// BGK on D3Q27.
pub(crate) fn d3q27_bgk() -> KernelIr {
    Spec::new(3, &[ratio(8, 27), ratio(2, 27), ratio(1, 54), ratio(1, 216)]).bgk()
}

/// KBC-N1 on D3Q27.
pub(crate) fn d3q27_kbc() -> KernelIr {
    let mut spec = Spec::new(3, &[ratio(8, 27), ratio(2, 27), ratio(1, 54), ratio(1, 216)]);
    let feq = spec.equilibrium();
    let omega = spec.omega();
    let two = spec.kernel.exprs.int(2);
    let beta = spec.kernel.exprs.over(omega, two);
    spec.name("beta", String::new(), beta);
    let difference: Vec<ExprId> = (0..27).map(|i| spec.kernel.exprs.minus(spec.f[i], feq[i])).collect();
    let axes = ["x", "y", "z"];
    let mut pi = vec![];
    for a in 0..3 {
        for b in 0..3 {
            let value = spec.weighted(|c| c[a] * c[b], &difference);
            pi.push(spec.name("pi", format!("_{}{}", axes[a], axes[b]), value));
        }
    }
    let trace = spec.sum([pi[0], pi[4], pi[8]]);
    spec.name("trace", String::new(), trace);
    let mut dev = pi.clone();
    for a in 0..3 {
        let third = spec.scaled(ratio(1, 3), trace);
        dev[4 * a] = spec.kernel.exprs.minus(pi[4 * a], third);
        spec.name("dev", format!("_{}{}", axes[a], axes[a]), dev[4 * a]);
    }
    let share = |v: i64, p: usize| match p {
        0 => ratio(1 - v * v, 1),
        1 => ratio(v, 2),
        _ => ratio(3 * v * v, 2) - ratio(1, 1),
    };
    let mut ds = vec![];
    for i in 0..27 {
        let c = spec.dirs[i].0.clone();
        let mut terms = vec![];
        for a in 0..3 {
            for b in a..3 {
                let mut factor = ratio(1, 1);
                for (g, c) in c.iter().enumerate() {
                    factor *= share(*c, usize::from(g == a) + usize::from(g == b));
                }
                if factor != ratio(0, 1) {
                    let term = spec.scaled(factor, dev[3 * a + b]);
                    terms.push(term);
                }
            }
        }
        let value = spec.sum(terms);
        ds.push(spec.name("ds", format!("_{i}"), value));
    }
    let mut dh = vec![];
    for i in 0..27 {
        let value = spec.kernel.exprs.minus(difference[i], ds[i]);
        dh.push(spec.name("dh", format!("_{i}"), value));
    }
    let mut sums = vec![];
    for (name, left) in [("sh", &ds), ("hh", &dh)] {
        let mut terms = vec![];
        for i in 0..27 {
            let product = spec.kernel.exprs.times(left[i], dh[i]);
            let term = spec.kernel.exprs.over(product, feq[i]);
            terms.push(term);
        }
        let value = spec.sum(terms);
        sums.push(spec.name(name, String::new(), value));
    }
    let zero = spec.kernel.exprs.int(0);
    let quotient = spec.kernel.exprs.over(sums[0], sums[1]);
    let guarded = spec.kernel.exprs.add(lbm_dsl::expr::Expr::Select {
        compare: lbm_dsl::expr::Compare::Less,
        left: zero,
        right: sums[1],
        then: quotient,
        otherwise: zero,
    });
    let one = spec.kernel.exprs.int(1);
    let inverse = spec.kernel.exprs.over(one, beta);
    let factor = spec.kernel.exprs.minus(two, inverse);
    let factor = spec.kernel.exprs.times(factor, guarded);
    let gamma = spec.kernel.exprs.minus(inverse, factor);
    spec.name("gamma", String::new(), gamma);
    for i in 0..27 {
        let shear = spec.kernel.exprs.times(two, ds[i]);
        let rest = spec.kernel.exprs.times(gamma, dh[i]);
        let change = spec.kernel.exprs.plus(shear, rest);
        let change = spec.kernel.exprs.times(beta, change);
        let value = spec.kernel.exprs.minus(spec.f[i], change);
        spec.output(value);
    }
    spec.kernel
}

/// A kernel with what its tests need.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) ir: KernelIr,
    /// Weight of each direction.
    pub(crate) weights: Vec<Rational>,
    /// Flops that simplification reaches.
    pub(crate) flops: u32,
}

/// The kernels whose counts are pinned.
pub(crate) fn kernels() -> Vec<Kernel> {
    let d2q9 = [ratio(4, 9), ratio(1, 9), ratio(1, 36)];
    let d3q19 = [ratio(1, 3), ratio(1, 18), ratio(1, 36)];
    let d3q27 = [ratio(8, 27), ratio(2, 27), ratio(1, 54), ratio(1, 216)];
    let weights = |dim: usize, shells: &[Rational]| lattice(dim, shells).into_iter().map(|(_, w)| w).collect();
    vec![
        Kernel { name: "D2Q9 BGK", ir: d2q9_bgk(), weights: weights(2, &d2q9), flops: 80 },
        Kernel { name: "D3Q19 BGK", ir: d3q19_bgk(), weights: weights(3, &d3q19), flops: 165 },
        Kernel { name: "D3Q27 BGK", ir: d3q27_bgk(), weights: weights(3, &d3q27), flops: 240 },
        Kernel { name: "D3Q27 KBC", ir: d3q27_kbc(), weights: weights(3, &d3q27), flops: 600 },
    ]
}
