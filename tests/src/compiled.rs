//! Shipped specs, compiled and run on the host.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lbm_bundle::variation::Variation;
use lbm_bundle::{Bundle, File, Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, Compiled, Plans};
use lbm_codegen::rounding::Rounding;
use lbm_dsl::Chosen;
use lbm_dsl::expr::Pop;
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Law, Model, Param, Populations};
use lbm_dsl::shipped::{self, Prelude};
use lbm_dsl::source::Source;
use lbm_runtime::device::Device;
use lbm_runtime::kernels::{self, KernelError, Program};
use num_traits::ToPrimitive;

/// Specs that are compiled for more architectures, real types and layouts than one: each way of writing kernels occurs in one of them. The
/// kernels of the others differ in arithmetic alone.
pub const EVERYWHERE: [&str; 5] = ["d2q9_bgk", "d2q9_scalar", "d3q19_bgk", "d3q27_cumulant", "d3q27_kbc"];

/// Names of the shipped specs.
pub fn specs() -> Vec<&'static str> {
    shipped::specs().map(|(name, _)| name).collect()
}

/// The model of a shipped spec.
pub fn model(spec: &str) -> Model {
    model_with(spec, "")
}

/// What tests need again and again, made once for each text.
struct Once<T>(Mutex<BTreeMap<String, Arc<OnceLock<T>>>>);

impl<T> Once<T> {
    const fn new() -> Self {
        Once(Mutex::new(BTreeMap::new()))
    }

    fn get<R>(&self, of: String, make: impl FnOnce() -> T, read: impl FnOnce(&T) -> R) -> R {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(of).or_default().clone();
        read(own.get_or_init(make))
    }
}

/// The model of a shipped spec with more statements behind its own.
pub fn model_with(spec: &str, more: &str) -> Model {
    static ALL: Once<Model> = Once::new();
    let make = || {
        let text = shipped::spec(spec).expect("a shipped spec");
        lbm_dsl::compile(&Source::new(&format!("{spec}.lbm"), &format!("{text}\n{more}")), &Prelude)
            .unwrap_or_else(|report| panic!("{spec}: {}", report.render(120)))
    };
    ALL.get(format!("{spec}\n{more}"), make, Model::clone)
}

/// The model of a shipped spec with more boundary rules of the prelude.
pub fn model_with_rules(spec: &str, rules: &[&str]) -> Model {
    model_with_all(spec, rules, None)
}

/// The model of a shipped spec with a coupling of the prelude.
pub fn model_with_coupling(spec: &str, coupling: &str) -> Model {
    model_with_all(spec, &[], Some(coupling))
}

/// The model of a shipped spec with more boundary rules and maybe a coupling of the prelude.
pub fn model_with_all(spec: &str, rules: &[&str], coupling: Option<&str>) -> Model {
    model_varied(spec, rules, coupling, &[])
}

/// The same with parameters that vary.
pub fn model_varied(spec: &str, rules: &[&str], coupling: Option<&str>, variations: &[Variation]) -> Model {
    static ALL: Once<Model> = Once::new();
    let make = || {
        let text = shipped::spec(spec).expect("a shipped spec");
        let source = Source::new(&format!("{spec}.lbm"), text);
        let chosen = Chosen { rules, coupling, criterion: None };
        lbm_dsl::compile_varied(&source, &Prelude, chosen, variations)
            .unwrap_or_else(|report| panic!("{spec}: {}", report.render(120)))
    };
    ALL.get(format!("{spec} {rules:?} {coupling:?} {variations:?}"), make, Model::clone)
}

/// A model, compiled for these options; what they do not change is made once.
pub fn emit(model: &Model, options: &Options) -> Compiled {
    with_plans(model, options.layout, |plans| plans.emit(options)).unwrap_or_else(|error| panic!("{error}"))
}

/// What is known of the errors of a method's collision in 32 bits.
pub fn rounding(model: &Model, params: &[(String, Vec<f64>)]) -> Rounding {
    let params: Vec<Vec<f64>> = params.iter().map(|(_, value)| value.clone()).collect();
    with_plans(model, Layout::Blocks, |plans| plans.rounding(&params))
}

fn with_plans<T>(model: &Model, layout: Layout, find: impl FnOnce(&Plans<'static>) -> T) -> T {
    static ALL: Once<Plans<'static>> = Once::new();
    let make = || {
        let model: &'static Model = Box::leak(Box::new(model.clone()));
        pipeline::plan(model, layout, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
    };
    ALL.get(format!("{layout:?} {model:?}"), make, find)
}

/// Whether a method is a flow: one that conserves momentum.
pub fn is_flow(model: &Model) -> bool {
    model.conserved().iter().any(|quantity| quantity.law == Law::Momentum)
}

/// Values for the parameters of a method, those of f32: a rate for a scalar, small components for a vector. Where the
/// rate is out of the range of a scalar, the value at the same place in its range as the rate is in 0 to 2.
pub fn params(model: &Model, rate: f64) -> Vec<(String, Vec<f64>)> {
    let value = |param: &Param| match param.components {
        1 => {
            let range = param.range.as_ref().and_then(|(low, high)| Some((low.to_f64()?, high.to_f64()?)));
            vec![f64::from(inside(range, rate) as f32)]
        }
        count => (0..count).map(|axis| f64::from([0.03f32, -0.02, 0.01][axis])).collect(),
    };
    model.params().iter().map(|param| (param.name.clone(), value(param))).collect()
}

/// A rate if it is in a range, else the value at the same place in the range as the rate is in 0 to 2.
pub fn inside(range: Option<(f64, f64)>, rate: f64) -> f64 {
    match range {
        Some((low, high)) if rate <= low || rate >= high => low + (high - low) * rate / 2.0,
        _ => rate,
    }
}

/// A model, compiled.
pub fn compile(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Compiled {
    emit(model, &Options { target, real, layout: Layout::Blocks, block, coupling: None, solids: false })
}

/// A model, compiled with moments in the place of populations; for solids, and for level jumps of its first coupling.
pub fn compile_moments(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    let coupling = (!model.couplings().is_empty()).then_some(0);
    let solids = !model.boundaries().is_empty();
    moments_with(model, &Options { target, real, layout: Layout::Blocks, block, coupling, solids })
}

/// The same for these options.
pub fn moments_with(model: &Model, options: &Options) -> Bundle {
    let plans = pipeline::plan(model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.in_moments());
    plans.and_then(|plans| plans.emit(options)).unwrap_or_else(|error| panic!("{error}")).bundle
}

/// A model, compiled with kernels for steps in the only set of populations; for solids, if it has boundary rules.
pub fn compile_in_place(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    in_place(model, None, target, real, block)
}

/// The same with kernels for level jumps of its first coupling.
pub fn compile_in_place_levels(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    in_place(model, Some(0), target, real, block)
}

fn in_place(model: &Model, coupling: Option<usize>, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    let solids = !model.boundaries().is_empty();
    let options = Options { target, real, layout: Layout::Blocks, block, coupling, solids };
    let plans = pipeline::plan(model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.in_place());
    plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{error}")).bundle
}

/// A model, compiled with kernels for level jumps of its first coupling.
pub fn compile_levels(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    let options = Options { target, real, layout: Layout::Blocks, block, coupling: Some(0), solids: false };
    emit(model, &options).bundle
}

/// A model, compiled with kernels for solids, and for level jumps of its first coupling if it has one.
pub fn compile_solids(model: &Model, target: Target, real: Real, block: [u32; 3]) -> Bundle {
    let coupling = (!model.couplings().is_empty()).then_some(0);
    let options = Options { target, real, layout: Layout::Blocks, block, coupling, solids: true };
    emit(model, &options).bundle
}

/// All files of a shipped spec for both targets, with the default block.
pub fn files(spec: &str, real: Real) -> Vec<File> {
    let model = model(spec);
    let block = Options::default_block(model.lattice().dim());
    pipeline::files(&[Target::Cuda, Target::C].map(|target| compile(&model, target, real, block).bundle))
}

/// Random numbers that are the same everywhere, in -1 to 1.
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// States near equilibrium: sums 1 and velocity 0 to some percent, a hundredth of noise. The values are those of f32,
/// so that both real types start from the same.
pub fn states(model: &Model, count: usize) -> Vec<Vec<f64>> {
    let mut random = Random(1);
    let mut state = || {
        let (rho, u) = (1.0 + 0.05 * random.draw(), [0; 3].map(|_| 0.05 * random.draw()));
        let population = |(_, set, dir): (Pop, &Populations, Dir)| {
            let lattice = &set.lattice;
            let cu: f64 = lattice.velocity(dir).iter().zip(u).map(|(c, u)| f64::from(*c) * u).sum();
            let weight = lattice.weight(dir).to_f64().expect("a finite weight");
            f64::from((weight * rho * (1.0 + 3.0 * cu) * (1.0 + 0.01 * random.draw())) as f32)
        };
        model.pops().map(population).chain(model.states().iter().map(|_| 0.125)).collect()
    };
    (0..count).map(|_| state()).collect()
}

/// The compiled `collide` of a bundle, on the host.
#[derive(Clone)]
pub struct Collision {
    program: Rc<Program>,
    device: Device,
}

impl Collision {
    /// Loads it.
    pub fn new(bundle: &Bundle) -> Self {
        Collision::on(Device::host(1).expect("a host"), bundle)
    }

    /// The same on a device.
    pub fn on(device: Device, bundle: &Bundle) -> Self {
        let program = Program::load(&device, bundle).unwrap_or_else(|error| panic!("{error}"));
        Self { program: program.into(), device }
    }

    /// Populations after collision; of both, `populations[pop * states + state]`.
    pub fn run(&self, params: &[(String, Vec<f64>)], populations: &[f64]) -> Vec<f64> {
        self.try_run(params, populations).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, where the launch may fail.
    pub fn try_run(&self, params: &[(String, Vec<f64>)], populations: &[f64]) -> Result<Vec<f64>, KernelError> {
        let manifest = self.program.manifest();
        let count = populations.len() / manifest.q();
        let mut src = self.device.alloc_reals(manifest.real, populations.len()).expect("memory");
        let mut dst = self.device.alloc_reals(manifest.real, populations.len()).expect("memory");
        src.write_reals(0, populations).expect("in range");
        let value = |name: &str| params.iter().find(|(given, _)| given == name).expect("a value for each").1.clone();
        let values: Vec<Vec<f64>> = manifest.params.iter().map(|param| value(&param.name)).collect();
        let params = kernels::Params::new(manifest, &values);
        let kernel = kernels::Collide { count, src: &src, dst: &mut dst, params: &params };
        self.program.launch(kernel)?;
        Ok(dst.read_reals(0..populations.len()).expect("in range"))
    }
}

/// The compiled `collide` of a bundle, applied to states on the host.
pub fn collide(bundle: &Bundle, params: &[(String, Vec<f64>)], states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (q, count) = (bundle.manifest.q(), states.len());
    let populations: Vec<f64> = (0..q).flat_map(|pop| states.iter().map(move |state| state[pop])).collect();
    let after = Collision::new(bundle).run(params, &populations);
    (0..count).map(|at| (0..q).map(|pop| after[pop * count + at]).collect()).collect()
}
