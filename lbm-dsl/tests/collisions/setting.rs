//! A shipped method with a state some way from equilibrium, and values for its parameters.

use std::collections::BTreeMap;

use lbm_dsl::expr::{Exact, Number, Rational, Symbol};
use lbm_dsl::model::Model;
use lbm_dsl::shipped;
use lbm_dsl::source::Source;

pub fn model(name: &str) -> Model {
    let source = Source::new(&format!("{name}.lbm"), shipped::spec(name).unwrap());
    lbm_dsl::compile(&source, &shipped::Prelude).unwrap()
}

pub fn ratio(above: i64, below: i64) -> Rational {
    Rational::new(above.into(), below.into())
}

pub fn whole(value: i64) -> Rational {
    Rational::from_integer(value.into())
}

/// Velocities with three components, weights, and a state some way from equilibrium.
pub struct Setting {
    pub model: Model,
    pub c: Vec<[i64; 3]>,
    pub w: Vec<Rational>,
    pub f: Vec<Rational>,
    /// Value of every parameter that has no other.
    pub omega: Rational,
    /// Values of other parameters by name, a component each.
    pub given: BTreeMap<String, Vec<Rational>>,
}

impl Setting {
    pub fn new(name: &str, seed: i64) -> Self {
        let model = model(name);
        let lattice = model.lattice();
        let component = |v: &[i32], axis: usize| v.get(axis).map_or(0, |c| i64::from(*c));
        let c: Vec<[i64; 3]> =
            lattice.dirs().map(|dir| [0, 1, 2].map(|axis| component(lattice.velocity(dir), axis))).collect();
        let w: Vec<Rational> = lattice.dirs().map(|dir| lattice.weight(dir).clone()).collect();
        let change = |at: usize| ratio((at as i64 * 37 + seed * 11) % 13 - 6, 40);
        let f = w.iter().enumerate().map(|(at, w)| w * (whole(1) + change(at))).collect();
        Setting { model, c, w, f, omega: ratio(17 + seed, 10), given: BTreeMap::new() }
    }

    /// The same with a value for a parameter.
    pub fn with(mut self, name: &str, values: &[Rational]) -> Self {
        assert!(self.model.params().iter().any(|param| param.name == name), "{} has no {name}", self.model.name());
        self.given.insert(name.into(), values.to_vec());
        self
    }

    fn param(&self, param: u16, component: u8) -> Rational {
        let values = self.given.get(&self.model.params()[usize::from(param)].name);
        values.map_or(&self.omega, |values| &values[usize::from(component)]).clone()
    }

    fn collide<N: Number>(&self) -> Vec<N> {
        let value = |symbol| match symbol {
            Symbol::Population(pop) => N::constant(&self.f[pop.index()]),
            Symbol::Param { param, component } => N::constant(&self.param(param, component)),
            _ => unreachable!("a collision has no such input"),
        };
        self.model.exprs().eval(&self.model.collide().outputs, value)
    }

    /// Populations after the collision.
    pub fn after(&self) -> Vec<Rational> {
        self.collide::<Exact>().into_iter().map(|value| value.expect("defined")).collect()
    }

    /// The same in 64 bits, for collisions with roots.
    pub fn rounded(&self) -> Vec<f64> {
        self.collide()
    }

    /// The fields of the method.
    pub fn fields(&self) -> Vec<Rational> {
        let value = |symbol| match symbol {
            Symbol::Population(pop) => Some(self.f[pop.index()].clone()),
            Symbol::Param { param, component } => Some(self.param(param, component)),
            _ => None,
        };
        let fields = self.model.exprs().eval::<Exact>(&self.model.macroscopic().outputs, value);
        fields.into_iter().map(|value| value.expect("defined")).collect()
    }

    /// The moment of `c_x^p c_y^q c_z^r`.
    pub fn moment(&self, f: &[Rational], powers: [u32; 3]) -> Rational {
        let weight = |c: &[i64; 3]| whole((0..3).map(|axis| c[axis].pow(powers[axis])).product());
        f.iter().zip(&self.c).map(|(f, c)| f * weight(c)).sum()
    }

    /// Populations that relax at the rate `omega` to the quadratic equilibrium.
    pub fn bgk(&self) -> Vec<Rational> {
        let pairs = self.f.iter().zip(self.equilibrium());
        pairs.map(|(f, feq)| f + &self.omega * (feq - f)).collect()
    }

    pub fn density(&self) -> Rational {
        self.f.iter().sum()
    }

    pub fn velocity(&self) -> [Rational; 3] {
        [0, 1, 2].map(|axis| {
            let momentum: Rational = self.f.iter().zip(&self.c).map(|(f, c)| f * whole(c[axis])).sum();
            momentum / self.density()
        })
    }

    /// The quadratic equilibrium.
    pub fn equilibrium(&self) -> Vec<Rational> {
        self.equilibrium_of(&self.density(), &self.velocity())
    }

    /// The quadratic equilibrium of a density and a velocity.
    pub fn equilibrium_of(&self, rho: &Rational, u: &[Rational; 3]) -> Vec<Rational> {
        let square: Rational = u.iter().map(|u| u * u).sum();
        let one = |(c, w): (&[i64; 3], &Rational)| {
            let along: Rational = c.iter().zip(u).map(|(c, u)| whole(*c) * u).sum();
            w * rho * (whole(1) + whole(3) * &along + ratio(9, 2) * &along * &along - ratio(3, 2) * &square)
        };
        self.c.iter().zip(&self.w).map(one).collect()
    }
}
