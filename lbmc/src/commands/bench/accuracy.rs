//! Errors of flows whose solution is known, as their velocity and their cells shrink, in single and double precision.
//!
//! The error of a quantity `q` is the root of `sum (q - exact)^2 / sum exact^2`. Density and velocity are sums of populations, in double
//! precision: populations are stored as differences from rest, which say more of a density near 1 than a field in single precision
//! can hold.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Cell, Face};
use lbm_runtime::solver::{GridSpec, Prepared};
use lbm_setup::spec::{self, Spec};
use miette::{Result, miette};

use super::record::{Accuracy, Outcome, Point};
use super::row::Row;
use super::words::target_name;

/// Precisions that are compared.
const PRECISIONS: [Real; 2] = [Real::F32, Real::F64];

/// What is computed once in each precision.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Cells along each axis.
    pub cells: usize,
    /// Relaxation time in steps: `1/omega`.
    pub tau: f64,
    /// Velocity in cells per step.
    pub velocity: f64,
}

/// Density and velocity, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    density: f64,
    velocity: [f64; 3],
}

/// A flow whose solution is known.
pub struct Flow {
    /// Boundary rules besides those of the method.
    rules: &'static [&'static str],
    /// Its box and what is behind its faces, of so many axes.
    grid: fn(&Setting, usize) -> GridSpec,
    /// The solution: at a step, at a point in cells. The flow starts from it.
    exact: fn(&Setting, f64, [f64; 3]) -> State,
    /// Steps of a computation, so that all of a study end at the same physical time.
    steps: fn(&Setting) -> u64,
    /// Whether a cell counts.
    counts: fn(&Setting, Cell) -> bool,
    /// What is measured: `velocity`, `density`.
    quantities: &'static [&'static str],
}

/// A flow computed with several settings.
pub struct Study {
    /// The method: one with a rate `omega` alone.
    pub spec: &'static str,
    /// The flow.
    pub flow: &'static Flow,
    /// The settings; velocities fall.
    pub settings: &'static [Setting],
    /// Whether it takes long on a CPU.
    pub large: bool,
}

/// Kinematic viscosity in lattice units.
fn viscosity(setting: &Setting) -> f64 {
    (setting.tau - 0.5) / 3.0
}

/// A box that is periodic along all axes, or along all but those that walls are put at.
fn cube(setting: &Setting, dim: usize) -> GridSpec {
    GridSpec::periodic(std::array::from_fn(|axis| if axis < dim { setting.cells } else { 1 }))
}

/// Taylor-Green vortices in a plane: equation 13 of de Oliveira et al. (2019), with `cos(2y)` where its density has `sin(2y)`, which
/// does not balance the velocity. It ends when the velocity has fallen to 1/e.
pub const TAYLOR_GREEN: Flow = Flow {
    rules: &[],
    grid: cube,
    exact: |setting, step, [x, y, _]| {
        let wave = TAU / setting.cells as f64;
        let decay = (-2.0 * viscosity(setting) * wave * wave * step).exp();
        let (x, y, u) = (wave * x, wave * y, setting.velocity * decay);
        State {
            density: 1.0 - 0.75 * u * u * ((2.0 * x).cos() + (2.0 * y).cos()),
            velocity: [-u * x.cos() * y.sin(), u * x.sin() * y.cos(), 0.0],
        }
    },
    steps: |setting| {
        let wave = TAU / setting.cells as f64;
        (1.0 / (2.0 * viscosity(setting) * wave * wave)).round() as u64
    },
    counts: |_, _| true,
    quantities: &["velocity", "density"],
};

/// What the density falls by along parallel plates, for a mean velocity `velocity`: equation 10, without its sign. The cells at both ends
/// have the given densities in their middles.
fn fall(setting: &Setting) -> f64 {
    let cells = setting.cells as f64;
    12.0 * setting.velocity * (setting.tau - 0.5) * (cells - 1.0) / (cells * cells)
}

/// Flow between parallel plates from a given density to another: equation 10. Walls are between cells; the error is that in the plane
/// across the flow at half the length. It ends after half the time in which momentum diffuses from plate to plate.
pub const PARALLEL_PLATES: Flow = Flow {
    rules: &["zou_he_pressure"],
    grid: |setting, dim| {
        let [left, right, bottom, top] =
            [Face::of_axis(0)[0], Face::of_axis(0)[1], Face::of_axis(1)[0], Face::of_axis(1)[1]];
        cube(setting, dim)
            .with_wall(left, "zou_he_pressure", &[("density", &[1.0])])
            .with_wall(right, "zou_he_pressure", &[("density", &[1.0 - fall(setting)])])
            .with_wall(bottom, "bounce_back", &[])
            .with_wall(top, "bounce_back", &[])
    },
    exact: |setting, _, [x, y, _]| {
        let cells = setting.cells as f64;
        let across = y / cells;
        State {
            density: 1.0 - fall(setting) * (x - 0.5) / (cells - 1.0),
            velocity: [6.0 * setting.velocity * across * (1.0 - across), 0.0, 0.0],
        }
    },
    steps: |setting| (0.5 * (setting.cells * setting.cells) as f64 / viscosity(setting)).round() as u64,
    counts: |setting, cell| cell.at[0] == setting.cells / 2,
    quantities: &["velocity"],
};

impl Study {
    /// Its row.
    pub fn row(&'static self, name: &str, target: Target) -> Row {
        let lacks = self.large && !target.is_gpu();
        Row {
            name: name.to_string(),
            command: format!("lbmc bench papers {name} --target {}", target_name(target)),
            target,
            inputs: String::new(),
            lacks: lacks.then(|| "takes minutes on a CPU: there only where it is named".to_string()),
            measure: Box::new(|device| self.measure(device)),
        }
    }

    fn measure(&self, device: &Device) -> Result<Outcome> {
        let mut points = vec![];
        for setting in self.settings {
            let mut errors = BTreeMap::new();
            for real in PRECISIONS {
                let found = errors_of(device, self.spec, self.flow, setting, real)?;
                errors.extend(found.map(|(quantity, error)| (format!("{quantity} {}", real.name()), error)));
            }
            let Setting { cells, tau, velocity } = *setting;
            points.push(Point { cells, tau, velocity, steps: (self.flow.steps)(setting), errors });
        }
        Ok(Outcome::Accuracy(Accuracy { spec: self.spec.to_string(), values: values(&points), points }))
    }
}

/// Orders and ratios of errors.
fn values(points: &[Point]) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    let names = points.first().into_iter().flat_map(|point| point.errors.keys());
    for name in names {
        let pairs: Vec<(f64, f64)> =
            points.iter().map(|point| (point.velocity.ln(), point.errors[name].ln())).collect();
        values.insert(format!("order of {name}"), slope(&pairs));
        let Some(quantity) = name.strip_suffix(" f32") else { continue };
        let ratios = points.iter().map(|point| point.errors[name] / point.errors[&format!("{quantity} f64")]);
        values.insert(format!("least {quantity} f32/f64"), ratios.clone().fold(f64::INFINITY, f64::min));
        values.insert(format!("most {quantity} f32/f64"), ratios.fold(0.0, f64::max));
    }
    values
}

/// Slope of the line through points, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let product: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    product / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Computes a flow and compares it with its solution.
fn errors_of(
    device: &Device,
    spec: &str,
    flow: &Flow,
    setting: &Setting,
    real: Real,
) -> Result<impl Iterator<Item = (&'static str, f64)>> {
    let model = Spec::find(spec)?.model_with(flow.rules, None, None, &[])?;
    let dim = model.lattice().dim();
    let options = Options {
        target: device.target(),
        real,
        layout: Layout::Blocks,
        block: Options::default_block(dim),
        coupling: None,
        solids: false,
    };
    let bundle = spec::compile(&model, &options)?;
    let grid = (flow.grid)(setting, dim);
    let prepared = Prepared::refined(device, &bundle, &grid, 1, |_| false)?;
    let mut simulation = prepared.simulation(&[("omega".to_string(), vec![1.0 / setting.tau])])?;
    simulation.init_cells(|cell, out| {
        let State { density, velocity } = (flow.exact)(setting, 0.0, cell.centre());
        out[0] = density;
        out[1..].copy_from_slice(&velocity[..dim]);
    })?;
    simulation.start_with_stress(viscosity(setting))?;
    let steps = (flow.steps)(setting);
    simulation.run(steps)?;

    let directions = bundle.manifest.directions[bundle.manifest.main().range()].to_vec();
    // Of density and velocity: squared differences from the solution, and squares of the solution.
    let mut sums = [(0.0, 0.0); 2];
    simulation.visit_populations(|cell, populations| {
        if !(flow.counts)(setting, cell) {
            return;
        }
        let exact = (flow.exact)(setting, steps as f64, cell.centre());
        let density: f64 = populations.iter().sum();
        let add = |(differences, squares): &mut (f64, f64), found: f64, exact: f64| {
            *differences += (found - exact).powi(2);
            *squares += exact * exact;
        };
        add(&mut sums[0], density, exact.density);
        for axis in 0..dim {
            let parts = std::iter::zip(&directions, populations);
            let momentum: f64 = parts.map(|(direction, population)| f64::from(direction.c[axis]) * population).sum();
            add(&mut sums[1], momentum / density, exact.velocity[axis]);
        }
    })?;
    let [density, velocity] = sums.map(|(differences, squares)| f64::sqrt(differences / squares));
    if !(density + velocity).is_finite() {
        return Err(miette!(code = "L0117", "{spec} at {setting:?} in {}: the flow is not finite", real.name()));
    }
    let all = [("density", density), ("velocity", velocity)];
    Ok(all.into_iter().filter(|(name, _)| flow.quantities.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: Setting = Setting { cells: 16, tau: 0.8, velocity: 0.05 };

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points: Vec<(f64, f64)> = [0.1f64, 0.05, 0.02].map(|x| (x.ln(), (3.0 * x * x).ln())).to_vec();
        assert!((slope(&points) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn solutions_have_the_velocity_that_the_setting_says() {
        // The mean of a parabola between walls, and the largest velocity of a vortex.
        let mean =
            (0..POINT.cells).map(|y| (PARALLEL_PLATES.exact)(&POINT, 0.0, [8.0, y as f64 + 0.5, 0.5]).velocity[0]);
        assert!((mean.sum::<f64>() / POINT.cells as f64 / POINT.velocity - 1.0).abs() < 5e-3);
        let at = |step| (TAYLOR_GREEN.exact)(&POINT, step, [0.0, 4.0, 0.5]).velocity[0];
        assert!((at(0.0) + POINT.velocity).abs() < 1e-15);
        let end = (TAYLOR_GREEN.steps)(&POINT) as f64;
        assert!((at(end) / at(0.0) - (-1f64).exp()).abs() < 0.01);
    }
}
