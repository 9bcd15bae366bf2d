//! The collisions of the shipped specs as kernels, with the counts that simplification reaches.

use lbm_dsl::expr::{Rational, Symbol};
use lbm_dsl::shipped::{Prelude, spec};
use lbm_dsl::source::Source;

use crate::ir::{KernelIr, Named, Output};

/// A kernel with what its tests need.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) ir: KernelIr,
    /// Weight of each direction.
    pub(crate) weights: Vec<Rational>,
    /// Flops and divisions that simplification reaches.
    pub(crate) flops: u32,
    pub(crate) divs: u32,
}

/// The collision of a shipped spec.
pub(crate) fn collision(name: &'static str, flops: u32, divs: u32) -> Kernel {
    let text = spec(name).expect("it is shipped");
    let source = Source::new(&format!("specs/{name}.lbm"), text);
    let model = lbm_dsl::compile(&source, &Prelude).expect("shipped specs are valid");
    let populations = model.pops().zip(model.pop_names()).map(|((pop, ..), name)| (Symbol::Population(pop), name));
    let mut symbols: Vec<(Symbol, String)> = populations.collect();
    for (at, param) in model.params().iter().enumerate() {
        symbols.push((Symbol::Param { param: at as u16, component: 0 }, param.name.clone()));
    }
    let lets = model.collide().lets.iter().map(|own| Named {
        name: own.name.clone(),
        family: own.family.clone(),
        value: own.value,
        file: own.file.clone(),
        line: own.line,
    });
    let outputs = model.collide().outputs.iter().zip(model.pops());
    let ir = KernelIr {
        name: "collide".into(),
        exprs: model.exprs().clone(),
        lets: lets.collect(),
        outputs: outputs
            .map(|(value, (pop, ..))| Output {
                name: format!("post_{}", pop.index()),
                value: *value,
                population: Some(pop),
            })
            .collect(),
        symbols,
    };
    Kernel { name, ir, weights: model.weights(), flops, divs }
}

/// Every shipped collision.
pub(crate) fn kernels() -> Vec<Kernel> {
    vec![
        collision("d2q9_bgk", 71, 1),
        collision("d3q19_bgk", 146, 1),
        collision("d3q19_mrt_raw", 175, 1),
        collision("d3q27_bgk", 203, 1),
        collision("d3q27_cumulant", 295, 1),
        collision("d3q27_kbc", 522, 31),
    ]
}
