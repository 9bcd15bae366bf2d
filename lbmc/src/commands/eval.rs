//! `lbmc eval`: a collision applied to given populations, by the execution the user names.

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::ir::KernelIr;
use lbm_codegen::options::Options;
use lbm_codegen::{lower, simplify};
use lbm_dsl::expr::{Exact, ExprId, Exprs, Number, Rational, Symbol};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::kernels::{self, Program};
use lbm_setup::files;
use lbm_setup::params::Params;
use lbm_setup::spec::{self, Spec};
use miette::{Result, miette};
use num_traits::ToPrimitive;

use crate::cli::{Eval, StorageArg, Via};
use crate::states::States;

/// Runs the command.
pub fn eval(args: &Eval) -> Result<()> {
    if args.via == Via::Exact && args.real.is_some() {
        return Err(miette!(code = "L0118", help = "leave --real out", "--via exact has no floating-point type"));
    }
    if args.storage == StorageArg::Moments && !matches!(args.via, Via::C | Via::Cuda | Via::Hip) {
        return Err(miette!(
            code = "L0118",
            help = "take --via c, cuda or hip",
            "--via exact, ir and dag store nothing"
        ));
    }
    let model = Spec::find(&args.spec)?.model()?;
    if let Some(state) = model.states().first() {
        return Err(miette!(
            code = "L0111",
            help = "take a method without states; `lbmc check` says what holds for any value of one",
            "{} has the state `{}`, and a file of populations has none",
            model.name(),
            state.name
        ));
    }
    let params = Params::parse(&model, &args.set)?;
    let (states, columns) = States::read(&args.input, &model)?;
    let real: Real = args.real.map_or(Real::F64, Real::from);
    let before = states.in_model_order(&columns);
    let after = match (args.via, real) {
        (Via::Exact, _) => exact(&model, &params, &before)?,
        (Via::Ir, Real::F32) => ir::<f32>(&model, &params, &before),
        (Via::Ir, Real::F64) => ir::<f64>(&model, &params, &before),
        (Via::Dag, Real::F32) => dag::<f32>(&model, &params, &before)?,
        (Via::Dag, Real::F64) => dag::<f64>(&model, &params, &before)?,
        (Via::Ir | Via::Dag, Real::F16F32) => {
            return Err(miette!(
                code = "L0118",
                help = "take --via c, cuda or hip, or --real f32",
                "f16/f32 is how kernels store populations: --via ir and --via dag store none"
            ));
        }
        (Via::C, _) => compiled(&model, &params, &before, Target::C, real, args.storage)?,
        (Via::Cuda, _) => compiled(&model, &params, &before, Target::Cuda, real, args.storage)?,
        (Via::Hip, _) => compiled(&model, &params, &before, Target::Hip, real, args.storage)?,
    };
    let finite = |state: &Vec<f64>| state.iter().position(|value| !value.is_finite());
    if let Some((at, pop)) = after.iter().enumerate().find_map(|(at, state)| Some((at, finite(state)?))) {
        let direction = model.pops().nth(pop).map(|(_, set, dir)| set.lattice.velocity(dir).to_vec());
        return Err(miette!(
            code = "L0112",
            help = "the populations may be those of no fluid, or beyond what the floating-point type holds: check their sum, or take --real f64",
            "state {at}: after the collision the population of direction {:?} is {}, not finite; nothing is written",
            direction.unwrap_or_default(),
            after[at][pop]
        ));
    }
    let text = serde_json::to_string(&states.with(&columns, &after)).expect("plain numbers have a text");
    files::write(&args.out, &(text + "\n"))
}

fn exact(model: &Model, params: &Params, before: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let given = |state: &[f64], symbol| -> Exact { Rational::from_float(given(params, state, symbol)) };
    let mut after = Vec::new();
    for (at, state) in before.iter().enumerate() {
        let values = model.exprs().eval(&model.collide().outputs, |symbol| given(state, symbol));
        let numbers: Option<Vec<f64>> = values.into_iter().map(|value| value?.to_f64()).collect();
        after.push(numbers.ok_or_else(|| {
            miette!(
                code = "L0112",
                help = "the populations may be those of no fluid: check that their sum is not zero",
                "state {at}: the collision divides by zero or takes a root that is not rational"
            )
        })?);
    }
    Ok(after)
}

/// The lowered collision.
fn lowered(model: &Model) -> KernelIr {
    lower::collide(model)
}

fn ir<F: Number + FloatCast>(model: &Model, params: &Params, before: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let kernel = lowered(model);
    let outputs: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    interpret::<F>(&kernel.exprs, &outputs, params, before)
}

fn dag<F: Number + FloatCast>(model: &Model, params: &Params, before: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let dag = simplify::simplify(&lowered(model)).map_err(|error| miette!(code = "L0108", "{error}"))?;
    let outputs: Vec<ExprId> = dag.outputs().iter().map(|output| output.value).collect();
    Ok(interpret::<F>(dag.exprs(), &outputs, params, before))
}

fn interpret<F: Number + FloatCast>(
    exprs: &Exprs,
    outputs: &[ExprId],
    params: &Params,
    before: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let one = |state: &Vec<f64>| {
        let values = exprs.eval(outputs, |symbol| F::from_f64(given(params, state, symbol)));
        values.into_iter().map(F::into_f64).collect()
    };
    before.iter().map(one).collect()
}

/// The compiled kernel, on the host or on the first GPU.
fn compiled(
    model: &Model,
    params: &Params,
    before: &[Vec<f64>],
    target: Target,
    real: Real,
    storage: StorageArg,
) -> Result<Vec<Vec<f64>>> {
    let block = Options::default_block(model.lattice().dim());
    let options = Options { target, real, layout: Layout::Blocks, block, coupling: None, solids: false };
    let bundle = spec::compile_stored(model, &options, storage == StorageArg::Moments)?;
    let device = if target.is_gpu() { Device::gpu(target, 0)? } else { Device::host(0)? };
    let program = Program::load(&device, &bundle)?;
    let (q, count) = (model.q(), before.len());
    let mut src = device.alloc_reals(real, q * count)?;
    let mut dst = device.alloc_reals(real, q * count)?;
    dst.poison()?;
    for direction in 0..q {
        let values: Vec<f64> = before.iter().map(|state| state[direction]).collect();
        src.write_reals(direction * count, &values)?;
    }
    let values: Vec<Vec<f64>> = model
        .params()
        .iter()
        .zip(0..)
        .map(|(of, param)| (0..of.components).map(|component| params.value(param, component as u8)).collect())
        .collect();
    let params = kernels::Params::new(&bundle.manifest, &values);
    program.launch(kernels::Collide { count, src: &src, dst: &mut dst, params: &params })?;
    let after = dst.read_reals(0..q * count)?;
    Ok((0..count).map(|state| (0..q).map(|direction| after[direction * count + state]).collect()).collect())
}

/// Value of an input of the collision.
fn given(params: &Params, state: &[f64], symbol: Symbol) -> f64 {
    match symbol {
        Symbol::Population(pop) => state[pop.index()],
        Symbol::Param { param, component } => params.value(param, component),
        _ => unreachable!("a collision reads populations and parameters"),
    }
}

/// Rounding to and from the floating-point type of an interpretation.
trait FloatCast {
    fn from_f64(value: f64) -> Self;
    fn into_f64(self) -> f64;
}

impl FloatCast for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn into_f64(self) -> f64 {
        self.into()
    }
}

impl FloatCast for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn into_f64(self) -> f64 {
        self
    }
}
