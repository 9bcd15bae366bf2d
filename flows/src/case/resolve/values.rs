//! Parameters in lattice units, against their shapes and ranges.

use lbm_bundle::{Param, Real, Unit};

use super::resolver::{Grid, Resolver, short};
use crate::case::diag::{self, Span};
use crate::case::formula::Formula;
use crate::case::keys::params::RawParam;
use crate::case::sound::Fastest;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};

/// Times after the first at which formulas of time are looked at, and points at each of them.
const TIMES: usize = 64;
const SAMPLED: usize = 4096;
/// Steps at which a velocity is compared with that of sound before the run; on the way there are others.
const MOST_TIMES: u64 = 1024;

impl Resolver<'_> {
    /// A parameter's components in lattice units, checked against its shape and range.
    pub(super) fn values(&mut self, param: &RawParam, wanted: &Param, units: &Units) -> Option<Vec<f64>> {
        self.components(param, wanted)?;
        let mut values = vec![];
        for (value, dimension) in &param.values {
            let Some(value) = value.constant() else {
                let message = format!("`{}` is a number here, the same everywhere and at all times", wanted.name);
                let help = "parameters at faces of the domain and of solids can vary, and those of the method but for the rate \
                     that sets the viscosity: `fluid.viscosity` may be a formula"
                    .to_string();
                return self.report.add(diag::CANNOT_VARY, &param.span, message, "a formula", help);
            };
            self.measured(param, wanted, units, (*dimension, value == 0.0))?;
            let value = value / units.scale(*dimension);
            self.in_range(value, wanted, &param.span)?;
            values.push(value);
        }
        Some(values)
    }

    /// The default of a parameter, if the spec states one, for each of its components.
    pub(super) fn default(&mut self, wanted: &Param, span: &Span) -> Option<Vec<f64>> {
        let value = wanted.default?;
        self.in_range(value, wanted, span)?;
        Some(vec![value; wanted.components as usize])
    }

    /// Formulas of a parameter's components in lattice units, on the grid, finite and within its range at all of these points; those of
    /// time at times from the beginning of the run to its end, so many points at a time as [`SAMPLED`] says.
    pub(super) fn formulas(
        &mut self,
        param: &RawParam,
        wanted: &Param,
        units: &Units,
        Grid { size, cell }: Grid,
        points: &[[f64; 3]],
    ) -> Option<Vec<Formula>> {
        let steps = Stop::new(&self.raw.stop, units).steps as f64;
        self.components(param, wanted)?;
        let mut formulas = vec![];
        for (value, dimension) in &param.values {
            if let Some(name) = value.beyond(self.dim) {
                let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
                return self.report.add(diag::WRONG_DIMENSION, &param.span, message, "no such axis", None);
            }
            self.measured(param, wanted, units, (*dimension, value.constant() == Some(0.0)))?;
            let formula = value.on(size, cell).in_steps(units.scale(Dimension::TIME)).over(units.scale(*dimension));
            let times = if formula.varies_in_time() { TIMES } else { 0 };
            for number in 0..=times {
                let time = steps * number as f64 / times.max(1) as f64;
                let apart = if number == 0 { 1 } else { points.len().div_ceil(SAMPLED).max(1) };
                for point in points.iter().step_by(apart) {
                    let value = formula.at(*point, time);
                    if !value.is_finite() {
                        let at: Vec<String> = point[..self.dim].iter().map(|at| short(*at)).collect();
                        let when = if times == 0 { String::new() } else { format!(" at step {}", short(time)) };
                        let message = format!("`{}` is not finite at ({}), in cells{when}", wanted.name, at.join(", "));
                        return self.report.add(diag::BAD_VALUE, &param.span, message, "not finite", None);
                    }
                    self.in_range(value, wanted, &param.span)?;
                }
            }
            formulas.push(formula);
        }
        Some(formulas)
    }

    /// Refuses a velocity that is faster than sound at one of these points at some time.
    pub(super) fn subsonic(
        &mut self,
        param: &RawParam,
        velocity: &[Formula],
        points: &[[f64; 3]],
        units: &Units,
    ) -> Option<()> {
        if param.name.value != "velocity" {
            return Some(());
        }
        let steps = Stop::new(&self.raw.stop, units).steps;
        let times = steps.clamp(1, MOST_TIMES);
        let times = (0..times).map(|number| (steps as f64 * number as f64 / times as f64).floor());
        let Some(Fastest { speed, at, time }) = Fastest::of(velocity, points, times) else { return Some(()) };
        let mach = speed / self.manifest.main().cs2.sqrt();
        if mach < 1.0 {
            return Some(());
        }
        let place: Vec<String> = at[..self.dim].iter().map(|at| short(*at)).collect();
        let place = if points.len() > 1 { format!(" at ({}), in cells,", place.join(", ")) } else { String::new() };
        let message = format!("Mach {mach:.2}{place} at step {}: faster than sound on this lattice", short(time));
        let help = "a tenth of a cell in a step is Mach 0.17".to_string();
        self.report.add(diag::SUPERSONIC, &param.span, message, "too fast", help)
    }

    /// Refuses another number of components than a parameter has.
    fn components(&mut self, param: &RawParam, wanted: &Param) -> Option<()> {
        let found = param.values.len();
        if found == wanted.components as usize {
            return Some(());
        }
        let message = format!("`{}` has {} components, not {found}", wanted.name, wanted.components);
        let label = format!("{} expected", wanted.components);
        self.report.add(diag::COMPONENTS, &param.span, message, label, None)
    }

    /// Refuses a value of another unit than a parameter has; zero needs none.
    fn measured(
        &mut self,
        param: &RawParam,
        wanted: &Param,
        units: &Units,
        (dimension, is_zero): (Dimension, bool),
    ) -> Option<()> {
        if dimension.kg != 0 && units.si && units.density.is_none() {
            return self.needs_density(&param.span);
        }
        // With the density of the fluid at rest for 1.
        let found = Unit { length: dimension.m + 3 * dimension.kg, time: dimension.s };
        let Some(unit) = wanted.unit.filter(|unit| units.si && !is_zero && *unit != found) else { return Some(()) };
        let message = format!("`{}` is measured in {}, or that times a density", wanted.name, symbol(unit));
        self.report.add(diag::WRONG_UNIT, &param.span, message, "another unit", None)
    }

    pub(super) fn needs_density<T>(&mut self, span: &Span) -> Option<T> {
        let message = "the density of the fluid at rest is missing";
        let help = "this value is relative to it: `[units] density = \"998 kg/m^3\"`".to_string();
        self.report.add(diag::MISSING_KEY, span, message, "needs `units.density`", help)
    }

    /// Checks a parameter against the open interval that the method states, in the precision of the run.
    pub(super) fn in_range(&mut self, value: f64, param: &Param, span: &Span) -> Option<()> {
        let Some((low, high)) = param.range else { return Some(()) };
        let single = self.raw.real().computed() == Real::F32;
        let rounded = if single { f64::from(value as f32) } else { value };
        if rounded > low && rounded < high {
            return Some(());
        }
        let (name, value) = (&param.name, short(value));
        let message = format!("`{name}` is {value}, outside the method's range ({low}, {high})");
        let help = (rounded == high || rounded == low).then(|| match single {
            true => format!("rounded to f32 it is {rounded}; a finer grid moves it away from its limit"),
            false => "the limits themselves are not allowed".to_string(),
        });
        self.report.add(diag::RATE_OUT_OF_RANGE, span, message, "out of range", help)
    }
}

/// A unit as a case has it: `m/s^2`.
fn symbol(unit: Unit) -> String {
    let power = |name: &str, by: i32| if by == 1 { name.to_string() } else { format!("{name}^{by}") };
    match (unit.length, unit.time) {
        (0, 0) => "a pure number".to_string(),
        (length, 0) => power("m", length),
        (0, time @ 1..) => power("s", time),
        (0, time) => format!("1/{}", power("s", -time)),
        (length, time @ 1..) => format!("{} {}", power("m", length), power("s", time)),
        (length, time) => format!("{}/{}", power("m", length), power("s", -time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_written_as_cases_have_them() {
        for (length, time, text) in
            [(1, -2, "m/s^2"), (0, -1, "1/s"), (2, 0, "m^2"), (1, 1, "m s"), (0, 2, "s^2"), (-1, 0, "m^-1")]
        {
            assert_eq!(symbol(Unit { length, time }), text);
        }
    }
}
