//! Shipped methods that are flows, ready to run.
//!
//! Loops over [`flows`] pick up a new spec by themselves: what a method needs beyond the rate of its viscosity gets a value
//! from [`params`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::options::Options;
use lbm_dsl::model::{Model, Param};
use lbm_dsl::prove::{self, Findings, Transport};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{FaceSpec, GridSpec, Profile, Simulation, StepError, Varying, WallSpec};
use num_traits::ToPrimitive;

use crate::compiled;

/// Devices to test on: the host, a thread for each test, and with the feature `cuda` a GPU.
pub fn devices() -> Vec<Device> {
    let mut all = vec![Device::host(1).expect("the host is a device")];
    if cfg!(feature = "cuda") {
        all.push(Device::cuda(0).expect("the feature `cuda` needs a GPU"));
    }
    all
}

/// A box with a wall at a face whose `velocity` is a function of the place, in cells of the coarsest level, along each axis.
pub fn varying_wall<const DIM: usize>(
    mut grid: GridSpec,
    face: Face,
    rule: &str,
    velocity: [fn([f64; 3]) -> f64; DIM],
) -> GridSpec {
    let profiles: Vec<Profile> = velocity.into_iter().map(|along| Arc::new(along) as Profile).collect();
    let varying = Varying { profiles: vec![("velocity".into(), profiles)], timed: vec![] };
    grid.faces[face.index()] = FaceSpec::Wall(WallSpec { rule: rule.into(), values: vec![], varying });
    grid
}

/// The bytes of all populations of a flow, as a restart file has them.
pub fn bytes(flow: &mut Simulation) -> Vec<u8> {
    let mut all = vec![];
    let each = |bytes: &[u8]| {
        all.extend_from_slice(bytes);
        Ok(())
    };
    flow.state().expect("leaves").read_populations(each).expect("bytes");
    all
}

/// Puts these populations into a flow at a step.
pub fn restore(flow: &mut Simulation, step: u64, all: &[u8]) {
    let mut next = all;
    flow.write_populations::<StepError>(step, |bytes| {
        let (now, later) = next.split_at(bytes.len());
        bytes.copy_from_slice(now);
        next = later;
        Ok(())
    })
    .expect("as many bytes");
}

/// Largest length of the difference of velocities, `max |u - u'|`, of flows on the same cells; NaN if one is.
pub fn velocity_change(one: &Snapshot, other: &Snapshot) -> f64 {
    let parts = |snapshot: &Snapshot| -> Vec<Vec<f64>> {
        snapshot.vector("u").expect("a velocity").into_iter().map(<[f64]>::to_vec).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let square = |at: usize| one.iter().zip(&other).map(|(one, other)| (one[at] - other[at]).powi(2)).sum::<f64>();
    (0..one[0].len())
        .map(square)
        .fold(0.0, |most: f64, square| if square > most || square.is_nan() { square } else { most })
        .sqrt()
}

/// A method with what is known of it.
pub struct Method {
    /// The model.
    pub model: Model,
    /// What was proved and found.
    pub findings: Findings,
}

/// Values computed once for all tests of a program, while others wait for them.
type Once<K, V> = Mutex<BTreeMap<K, Arc<OnceLock<Arc<V>>>>>;

fn once<K: Ord, V>(all: &Once<K, V>, key: K, make: impl FnOnce() -> V) -> Arc<V> {
    let place = all.lock().expect("nothing panics inside").entry(key).or_default().clone();
    place.get_or_init(|| Arc::new(make())).clone()
}

/// A shipped method.
pub fn method(spec: &'static str) -> Arc<Method> {
    static ALL: Once<&'static str, Method> = Mutex::new(BTreeMap::new());
    once(&ALL, spec, || {
        let model = compiled::model(spec);
        let findings = prove::findings(&model);
        Method { model, findings }
    })
}

/// The kernels of a shipped method, in default blocks.
pub fn bundle(spec: &'static str, target: Target, real: Real) -> Arc<Bundle> {
    bundle_in(spec, target, real, Options::default_block(dim(spec)))
}

/// A block one cell thick, in which flows that are the same all along z take the least time.
pub const FLAT: [u32; 3] = [8, 8, 1];

/// The kernels of a shipped method, in blocks of a size.
pub fn bundle_in(spec: &'static str, target: Target, real: Real, block: [u32; 3]) -> Arc<Bundle> {
    type Key = (&'static str, Target, Real, [u32; 3]);
    static ALL: Once<Key, Bundle> = Mutex::new(BTreeMap::new());
    once(&ALL, (spec, target, real, block), || compiled::compile(&compiled::model(spec), target, real, block).bundle)
}

/// Shipped methods that are flows of one viscosity, which the compiler tells; their first fields are `rho` and `u`. Those that read values of
/// neighbours, and run on one level, have tests of their own.
pub fn flows() -> Vec<&'static str> {
    let is_flow = |spec: &&'static str| compiled::is_flow(&compiled::model(spec));
    let is_newtonian = |spec: &&'static str| method(spec).findings.viscosity.at(|_| 1.0).is_some();
    let is_of_cells = |spec: &&'static str| compiled::model(spec).shown().is_empty();
    compiled::specs().into_iter().filter(is_flow).filter(is_newtonian).filter(is_of_cells).collect()
}

/// Number of axes of a shipped method.
pub fn dim(spec: &str) -> usize {
    compiled::model(spec).lattice().dim()
}

/// A size with 1 beyond the dimension of a method.
pub fn size(spec: &str, [x, y, z]: [usize; 3]) -> [usize; 3] {
    if dim(spec) == 2 { [x, y, 1] } else { [x, y, z] }
}

/// Values of all of a method's parameters: `omega` for the rate of the viscosity, or where a method cannot take it the rate
/// at the same place in its range; no force, the magic parameter 1/4, little of a subgrid model, the published limiter of
/// K17, and the rest in the middle of its range, which makes rates 1.
pub fn params(spec: &'static str, omega: f64) -> Vec<(String, Vec<f64>)> {
    let value = |param: &Param| {
        let range = param.range.as_ref().and_then(|(low, high)| Some((low.to_f64()?, high.to_f64()?)));
        match &param.name[..] {
            "omega" => compiled::inside(range, omega),
            "magic" => 0.25,
            "smagorinsky" => 0.1,
            "limiter" => 0.01,
            _ => range.map_or(0.0, |(low, high)| (low + high) / 2.0),
        }
    };
    method(spec).model.params().iter().map(|param| (param.name.clone(), vec![value(param); param.components])).collect()
}

/// Kinematic viscosity that the compiler tells.
pub fn viscosity(spec: &'static str, omega: f64) -> f64 {
    told(spec, omega, &method(spec).findings.viscosity)
}

/// Bulk viscosity over the density that the compiler tells.
pub fn bulk_viscosity(spec: &'static str, omega: f64) -> f64 {
    told(spec, omega, method(spec).findings.bulk.as_ref().expect("a flow has one"))
}

fn told(spec: &'static str, omega: f64, coefficient: &Transport) -> f64 {
    let params = params(spec, omega);
    let value = |name: &str| params.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, values)| values[0]);
    coefficient.at(value).unwrap_or_else(|| panic!("{spec}: {}", coefficient.formula))
}

/// A method on a grid, with the parameters of [`params`].
pub fn simulation(spec: &'static str, device: &Device, real: Real, grid: &GridSpec, omega: f64) -> Simulation {
    simulation_with(spec, device, real, grid, &params(spec, omega))
}

/// A method on a grid.
pub fn simulation_with(
    spec: &'static str,
    device: &Device,
    real: Real,
    grid: &GridSpec,
    params: &[(String, Vec<f64>)],
) -> Simulation {
    Simulation::new(device, &bundle(spec, device.target(), real), grid, params).expect("it can be set up")
}

/// A closed box whose lid at the end of the last axis moves along x.
pub fn cavity(spec: &str, cells: [usize; 3], lid: f64) -> GridSpec {
    let dim = dim(spec);
    let mut grid = GridSpec::periodic(size(spec, cells));
    for face in &Face::ALL[..2 * dim - 1] {
        grid = grid.with_wall(*face, "bounce_back", &[]);
    }
    grid.with_wall(Face::ALL[2 * dim - 1], "moving_wall", &[("velocity", &[lid, 0.0, 0.0][..dim])])
}

/// Density 1 and no velocity.
pub fn at_rest(_: [usize; 3], out: &mut [f64]) {
    out.fill(0.0);
    out[0] = 1.0;
}
