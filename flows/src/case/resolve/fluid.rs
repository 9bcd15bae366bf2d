//! The fluid against the rates of the method, and how fast it moves.

use std::sync::Arc;

use lbm_bundle::variation::ABSORBING;
use lbm_bundle::{Manifest, Param, Populations};

use super::resolver::{Formulas, Grid, Resolver, Speed, Values, norm};
use crate::case::diag::{self, Diagnostic, Report, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::faces::RawFace;
use crate::case::keys::params::RawParam;
use crate::case::mixing::Mixing;
use crate::case::raw::RawCase;
use crate::case::resolved::{Case, MACH_ADVISED, Scales};
use crate::case::start::StartValue;
use crate::case::units::{Dimension, Units};
use crate::case::varied::{Number, Place, Varied};
use crate::case::walls::Face;
use crate::case::words;

/// Share of a rate's range, next to its upper limit, in which stability is doubtful.
const RATE_MARGIN: f64 = 0.01;

/// Up to how many times as many cells along each axis are advised.
const MOST_REFINED: f64 = 8.0;

impl<'a> Resolver<'a> {
    /// Speeds of the walls and of the start, in the units of the case, but for those that depend on time, and those of solids that
    /// depend on the place.
    pub(super) fn speeds(
        &self,
        faces: &[Option<Spanned<RawFace>>; 6],
        start: f64,
        Grid { size, cell }: Grid,
    ) -> Vec<Speed> {
        let dim = self.dim;
        let speed = |param: &RawParam, points: &mut dyn Iterator<Item = [f64; 3]>| {
            let formulas: Vec<Formula> = param.values.iter().map(|(value, _)| value.on(size, cell)).collect();
            let at = |point| norm(formulas.iter().map(|formula| formula.at(point, 0.0)));
            let varies = formulas.iter().any(Formula::varies_in_place);
            let value = points
                .take(if varies { usize::MAX } else { 1 })
                .map(at)
                .filter(|speed| speed.is_finite())
                .fold(0.0, f64::max);
            let stated = param.name.value == "velocity" && !formulas.iter().any(Formula::varies_in_time);
            stated.then(|| Speed { value, span: param.span.clone() })
        };
        let of_face = |(at, face): (usize, &Option<Spanned<RawFace>>)| -> Vec<Speed> {
            let at = Face { axis: at / 2, high: at % 2 == 1 };
            // Of patches those that are the same all over them: others demand a reference velocity.
            let same = |param: &&RawParam| !param.values.iter().any(|(value, _)| value.varies_in_place());
            let patches = face.iter().flat_map(|face| &face.value.patches).flat_map(|patch| &patch.face.params);
            let params = face.iter().flat_map(|face| &face.value.params).chain(patches.filter(same));
            params.filter_map(|param| speed(param, &mut crate::case::walls::points(size, dim, at, 0.0))).collect()
        };
        let walls = faces.iter().enumerate().take(2 * dim).flat_map(of_face);
        let surfaces = self.raw.solids.iter().flat_map(|solid| solid.value.surface.all()).flat_map(|face| &face.params);
        let surfaces = surfaces.filter(|param| !param.values.iter().any(|(value, _)| value.varies_in_place()));
        let walls = walls.chain(surfaces.filter_map(|param| speed(param, &mut [[0.0; 3]].into_iter())));
        let given = self.raw.start.iter().filter(|given| given.key.value == "velocity");
        walls.chain(given.map(|given| Speed { value: start, span: given.span.clone() })).collect()
    }

    pub(super) fn units(&mut self, cell: f64, reference: Option<&Speed>) -> Option<Units> {
        let Some(raw) = &self.raw.si else { return Some(Units::LATTICE) };
        let step = match (&raw.step, &raw.mach, reference) {
            (Some(step), ..) => step.value,
            (None, Some(mach), Some(speed)) => mach.value * self.manifest.main().cs2.sqrt() * cell / speed.value,
            (None, Some(mach), None) => {
                let message = "the Mach number needs a velocity, and nothing in this case moves";
                let help = "give the reference velocity: `[fluid] velocity = \"1 m/s\"`".to_string();
                return self.report.add(diag::MISSING_KEY, &mach.span, message, "sets the time step", help);
            }
            (None, None, _) => return None,
        };
        Some(Units { si: true, cell, step, density: raw.density.as_ref().map(|density| density.value) })
    }

    /// Values of the method's parameters, those that depend on time, and the scales that follow.
    pub(super) fn params(
        &mut self,
        units: &Units,
        velocity: f64,
        length: f64,
        grid: Grid,
    ) -> (Option<Values>, Formulas, Scales) {
        let cs2 = self.manifest.main().cs2;
        let mach = velocity / cs2.sqrt();
        let mut scales = Scales { velocity, length, viscosity: None, omega: None, re: None, mach };
        let varied = self.raw.varied.iter().map(|varied| &varied.variation.param[..]);
        let own = self.manifest.params.iter().filter(|param| self.raw.part(&param.name).is_none());
        let names: Vec<&str> = own.map(|param| &param.name[..]).chain(varied).collect();
        for param in self.raw.params.iter().filter(|param| !names.contains(&&param.name.value[..])) {
            let message = format!("{} has no parameter `{}`", self.manifest.spec, param.name.value);
            let help = words::suggest(&param.name.value, &names);
            self.report.add::<()>(diag::METHOD_PARAMETER, &param.name.span, message, "unknown parameter", help);
        }
        let rate = self.rate(units, velocity, length);
        let viscosity = self.viscosity(rate.as_ref(), units, velocity, length);
        let scalar = self.scalar_rate(units, viscosity);
        let asks = self.raw.fluid.diffusivity.is_some() || self.raw.fluid.prandtl.is_some();
        let (mut values, mut courses) = (vec![], vec![]);
        let mut sound = true;
        let is_given = |varied: &&Varied| varied.param.name != ABSORBING && varied.places != [Place::Mixing];
        for varied in self.raw.varied.iter().filter(is_given) {
            sound &= self.varied(varied, units, grid).is_some();
        }
        for param in &self.manifest.params {
            if let Some((varied, number)) = self.raw.part(&param.name) {
                let value = match number {
                    None => 1.0 / units.scale(varied.dimension),
                    Some(Number::Scale(dimension)) => units.scale(*dimension),
                    Some(Number::Course(formula)) => {
                        let formula = formula.in_steps(units.scale(Dimension::TIME));
                        courses.push((param.name.clone(), vec![formula.clone()]));
                        formula.at([0.0; 3], 0.0)
                    }
                };
                values.push((param.name.clone(), vec![value]));
                continue;
            }
            let is_rate = self.manifest.viscosity.rate.as_ref() == Some(&param.name);
            let of_scalar = rate_of_scalar(self.manifest).is_ok_and(|(_, name, _)| name == param.name);
            let given = self.given(&param.name);
            let set = if is_rate { &rate } else { &scalar };
            let found = match (given, set) {
                (Some(given), _) if !is_rate && given.values.iter().any(|(value, _)| value.varies_in_time()) => {
                    self.course(given, param, units, grid).map(|formulas| {
                        let start = formulas.iter().map(|formula| formula.at([0.0; 3], 0.0)).collect();
                        courses.push((param.name.clone(), formulas));
                        start
                    })
                }
                (Some(given), _) => self.values(given, param, units),
                (None, Some(rate)) if is_rate || of_scalar => {
                    self.in_range(rate.value, param, &rate.span).map(|()| vec![rate.value])
                }
                (None, _) if is_rate || asks && of_scalar => None,
                (None, _) if param.default.is_some() => self.default(param, &self.raw.top.spec.span),
                (None, _) => {
                    let message = format!("{} needs the parameter `{}`", self.manifest.spec, param.name);
                    let of_fluid = if of_scalar { "`[fluid] diffusivity = ...` or `prandtl = ...`, or " } else { "" };
                    let help = format!("{of_fluid}`[params] {} = ...`: {}", param.name, param.doc);
                    self.report.add(
                        diag::METHOD_PARAMETER,
                        &self.raw.top.spec.span,
                        message,
                        "parameter missing",
                        help.trim_end_matches(": ").to_string(),
                    )
                }
            };
            let Some(components) = found else {
                sound = false;
                continue;
            };
            if let (true, [omega]) = (is_rate, &components[..]) {
                scales.omega = Some(*omega);
                scales.viscosity = viscosity;
                scales.re = viscosity.map(|viscosity| velocity * length / viscosity).filter(|re| *re > 0.0);
            }
            values.push((param.name.clone(), components));
        }
        (sound.then_some(values), courses, scales)
    }

    /// Checks a parameter that varies: its unit, and where it depends on the position and the time alone, its values in cells all over the
    /// domain.
    fn varied(&mut self, varied: &Varied, units: &Units, grid: Grid) -> Option<()> {
        let scales = varied.numbers.iter().filter(|number| **number == Number::Scale(Dimension::DENSITY));
        if scales.count() > 0 && units.density.is_none() {
            return self.needs_density(&varied.raw.span);
        }
        let points: Vec<[f64; 3]> = if varied.reads_fields() { vec![] } else { spread(grid.size) };
        self.formulas(&varied.raw, &varied.param, units, grid, &points).map(|_| ())
    }

    /// What cells keep for parameters that vary, in the order of the method's fields.
    pub(super) fn places(&self, Grid { size, cell }: Grid, mixing: &Arc<Mixing>) -> Vec<StartValue> {
        let places = self.manifest.fields.iter().filter(|field| field.place);
        let on_grid = |place: &Place| match place {
            Place::Formula(formula) => StartValue::Formula(formula.on(size, cell)),
            Place::Mixing => StartValue::Mixing(mixing.clone()),
        };
        places.filter_map(|field| Some(on_grid(self.raw.place(&field.name)?.1))).collect()
    }

    /// A parameter of the method that depends on time.
    fn course(&mut self, given: &RawParam, param: &Param, units: &Units, grid: Grid) -> Option<Vec<Formula>> {
        if given.values.iter().any(|(value, _)| value.varies_in_place()) {
            let message = format!("`{}` is the same everywhere: a formula of the time `t` alone", param.name);
            return self.report.add(diag::CANNOT_VARY, &given.span, message, "varies with the place", None);
        }
        self.formulas(given, param, units, grid, &[[0.0; 3]])
    }

    /// The rate that sets the viscosity, from `[fluid]`, with the place of what it follows from.
    fn rate(&mut self, units: &Units, velocity: f64, length: f64) -> Option<Spanned<f64>> {
        let fluid = &self.raw.fluid;
        if fluid.varied().is_some() {
            return None;
        }
        let given = fluid.sets_rate();
        let Some(name) = &self.manifest.viscosity.rate else {
            let given = given?;
            let message = format!("no single parameter of {} sets its viscosity", self.manifest.spec);
            let help = format!("it is {}; set these in `[params]`", self.manifest.viscosity.formula);
            return self.report.add(diag::NO_SINGLE_RATE, &given.span, message, "sets the viscosity", help);
        };
        let direct = self.raw.params.iter().find(|param| param.name.value == *name);
        let given = match (given, direct) {
            (Some(given), None) => given,
            (None, Some(_)) => return None,
            (Some(_), Some(direct)) => {
                let message = format!("`{name}` follows from `[fluid]` already");
                let help = "keep one of the two".to_string();
                return self.report.add(diag::CONFLICT, &direct.name.span, message, "one too many", help);
            }
            (None, None) if let Some(rate) = self.manifest.params.iter().find(|param| param.name == *name)?.default => {
                return Some(Spanned { value: rate, span: self.raw.top.spec.span.clone() });
            }
            (None, None) => {
                let message = "`re`, `viscosity` or `omega` is missing: how viscous the fluid is";
                let help = "for example `[fluid] re = 100`".to_string();
                return self.report.add(diag::MISSING_KEY, &self.raw.fluid_span, message, "not given here", help);
            }
        };
        let viscosity = if fluid.re.is_some() {
            if velocity == 0.0 {
                let message = "the Reynolds number needs a velocity, and nothing in this case moves";
                let help = "give the reference velocity: `[fluid] velocity = ...`".to_string();
                return self.report.add(diag::MISSING_KEY, &given.span, message, "sets the viscosity", help);
            }
            velocity * length / given.value
        } else if fluid.number().is_some() {
            given.value / units.scale(Dimension::VISCOSITY)
        } else {
            return Some(given.clone());
        };
        Some(Spanned { value: 1.0 / (viscosity / self.manifest.main().cs2 + 0.5), span: given.span.clone() })
    }

    /// The parameters that the case leaves to the defaults of the method.
    pub(super) fn defaults(&self) -> Vec<String> {
        let fluid = &self.raw.fluid;
        let follows = |name: &str| match self.manifest.viscosity.rate.as_deref() {
            Some(rate) if rate == name => fluid.sets_rate().is_some(),
            _ => {
                let asks = fluid.diffusivity.is_some() || fluid.prandtl.is_some();
                asks && rate_of_scalar(self.manifest).is_ok_and(|(_, scalar, _)| scalar == name)
            }
        };
        let is_left = |name: &str| self.given(name).is_none() && self.raw.part(name).is_none() && !follows(name);
        let own = self.manifest.params.iter().filter(|param| param.default.is_some() && is_left(&param.name));
        own.map(|param| param.name.clone()).collect()
    }

    /// A parameter of the method that the case gives.
    fn given(&self, name: &str) -> Option<&'a RawParam> {
        self.raw.params.iter().find(|given| given.name.value == name)
    }

    /// The viscosity in cells and steps, where one rate sets it: that of `[fluid]`, or else one of `[params]`.
    fn viscosity(&self, rate: Option<&Spanned<f64>>, units: &Units, velocity: f64, length: f64) -> Option<f64> {
        let direct = || self.given(self.manifest.viscosity.rate.as_ref()?)?.values.first()?.0.constant();
        let omega = rate.map(|rate| rate.value).or_else(direct)?;
        let fluid = &self.raw.fluid;
        Some(match (&fluid.re, fluid.number()) {
            (Some(re), _) => velocity * length / re.value,
            (None, Some(nu)) => nu.value / units.scale(Dimension::VISCOSITY),
            _ => self.manifest.main().cs2 * (1.0 / omega - 0.5),
        })
    }

    /// The rate that sets the diffusivity of the scalar, from `[fluid]`, with the place of what it follows from.
    fn scalar_rate(&mut self, units: &Units, viscosity: Option<f64>) -> Option<Spanned<f64>> {
        let fluid = &self.raw.fluid;
        let given = fluid.diffusivity.as_ref().or(fluid.prandtl.as_ref())?;
        let (scalar, name, cs2) = match rate_of_scalar(self.manifest) {
            Ok(found) => found,
            Err((message, help)) => {
                return self.report.add(diag::NO_SINGLE_RATE, &given.span, message, "sets a diffusivity", help);
            }
        };
        let of_viscosity = self.manifest.viscosity.rate.as_deref() == Some(name);
        if let Some(taken) = self.given(name).map(|param| &param.name.span).or(of_viscosity.then_some(&given.span)) {
            let message = match of_viscosity {
                true => format!("`{name}` sets the viscosity and the diffusivity of `{scalar}` at once"),
                false => format!("`{name}` follows from `[fluid]` already"),
            };
            return self.report.add(diag::CONFLICT, taken, message, "one too many", "keep one of the two".to_string());
        }
        let diffusivity = match (&fluid.diffusivity, viscosity) {
            (Some(diffusivity), _) => diffusivity.value / units.scale(Dimension::VISCOSITY),
            (None, Some(viscosity)) => viscosity / given.value,
            (None, None) => {
                let message = "the Prandtl number needs a viscosity that is one number";
                let help = "give the diffusivity: `[fluid] diffusivity = ...`".to_string();
                return self.report.add(diag::MISSING_KEY, &given.span, message, "sets the diffusivity", help);
            }
        };
        Some(Spanned { value: 1.0 / (diffusivity / cs2 + 0.5), span: given.span.clone() })
    }

    pub(super) fn mach(&mut self, speeds: &[Speed], reference: Option<Speed>, units: &Units) {
        let Some(fastest) = reference.into_iter().chain(fastest(speeds)).max_by(|a, b| a.value.total_cmp(&b.value))
        else {
            return;
        };
        let mach = fastest.value / units.scale(Dimension::VELOCITY) / self.manifest.main().cs2.sqrt();
        let advised = 0.5 * MACH_ADVISED;
        let help = match &self.raw.si {
            None => format!("{:.2} cells per step is Mach {advised}", advised * self.manifest.main().cs2.sqrt()),
            Some(_) => format!("a time step of {:.3e} s gives Mach {advised}, or set `mach` itself", {
                units.step * advised / mach
            }),
        };
        let span = match self.raw.si.as_ref().and_then(|units| units.mach.as_ref()) {
            Some(mach) => &mach.span,
            None => &fastest.span,
        };
        if mach >= 1.0 {
            let message = format!("Mach {mach:.2}: faster than sound on this lattice");
            self.report.add::<()>(diag::SUPERSONIC, span, message, "too fast", help);
        } else if mach > MACH_ADVISED {
            let message = format!("Mach {mach:.2}: the fluid is compressible, an error of about Mach² = {:.0} %", {
                100.0 * mach * mach
            });
            self.report.add::<()>(diag::COMPRESSIBLE, span, message, "fast", help);
        }
    }
}

impl RawCase {
    /// The warning that the rate which sets the viscosity is close to its limit, pointing at what it follows from; most collisions are unstable
    /// there.
    pub fn near_limit(&self, manifest: &Manifest, case: &Case) -> Option<Diagnostic> {
        let (omega, viscosity) = (case.scales.omega?, case.scales.viscosity?);
        let param = manifest.params.iter().find(|param| Some(&param.name) == manifest.viscosity.rate.as_ref())?;
        let (low, high) = param.range?;
        if omega <= high - RATE_MARGIN * (high - low) {
            return None;
        }
        let direct = self.params.iter().find(|given| given.name.value == param.name);
        let span = direct.map(|given| &given.span).or(self.fluid.sets_rate().map(|given| &given.span))?;
        let cs2 = manifest.main().cs2;
        let comfortable = high - 5.0 * RATE_MARGIN * (high - low);
        let finer = cs2 * (1.0 / comfortable - 0.5) / viscosity;
        // The rate of a finer level follows from its viscosity, in its cells and steps.
        let finest = self.refinement.as_ref().map_or(0, |refinement| refinement.finest.value as i32);
        let of_finest = 1.0 / (viscosity * 2f64.powi(finest) / cs2 + 0.5);
        let levels = match finest {
            0 => String::new(),
            finest => format!(" on level 0 ({of_finest:.5} on level {finest})"),
        };
        let message =
            format!("`{}` = {omega:.5}{levels} is close to its limit {high}: the run may become unstable", param.name);
        let method = if case.dim == 2 { "d2q9_kbc" } else { "d3q27_cumulant" };
        let other = format!("a collision for under-resolved flow, such as `{method}`, stays stable");
        let help = match &self.fluid.omega {
            Some(_) => format!("values up to {comfortable:.2} are safe in most flows; {other} beyond"),
            None if finer <= MOST_REFINED => {
                format!(
                    "with {finer:.1} times as many cells along each axis{} it is {comfortable:.2} at the same Reynolds and Mach \
                     number; or {other}",
                    if finest > 0 { " of level 0" } else { "" }
                )
            }
            None => format!("no grid of practical size resolves this flow: {other}, or lower the Reynolds number"),
        };
        Some(Report::single(diag::RATE_NEAR_LIMIT, span, message, "very little viscosity", help))
    }
}

/// The scalar that a method carries, the parameter `p` that sets its diffusivity to `cs2 (1/p - 1/2)`, and `cs2`; else what is wrong
/// with that, and what to do.
fn rate_of_scalar(manifest: &Manifest) -> Result<(&str, &str, f64), (String, String)> {
    let scalars: Vec<&Populations> = manifest.populations.iter().filter(|of| of.diffusivity.is_some()).collect();
    let spec = &manifest.spec;
    match scalars[..] {
        [] => {
            Err((format!("`{spec}` carries no temperature or other scalar"), super::resolver::WITH_SCALARS.to_string()))
        }
        [of] => {
            let (name, diffusivity) = (of.field.as_ref().unwrap_or(&of.name), of.diffusivity.as_ref());
            match diffusivity.and_then(|diffusivity| diffusivity.rate.as_ref()) {
                Some(rate) => Ok((name, rate, of.cs2)),
                None => {
                    let formula = diffusivity.map_or("", |diffusivity| &diffusivity.formula);
                    let message = format!("no single parameter of {spec} sets the diffusivity of `{name}`");
                    Err((message, format!("it is {formula}; set these in `[params]`")))
                }
            }
        }
        _ => {
            let names = scalars.iter().map(|of| &of.field.as_ref().unwrap_or(&of.name)[..]);
            let message = format!("{spec} carries {} scalars, and this does not say of which it is", scalars.len());
            Err((message, format!("set the rates of {} in `[params]`", words::list(names))))
        }
    }
}

/// Centres of cells of level 0, of each axis so many at most that they are quickly looked at.
fn spread(size: [usize; 3]) -> Vec<[f64; 3]> {
    let most = if size[2] == 1 { 512 } else { 64 };
    let [width, height, depth] = size.map(|cells| cells.min(most));
    let at = |axis: usize, number: usize, count: usize| {
        let last = (size[axis] - 1) as f64;
        0.5 + (last * number as f64 / (count.max(2) - 1) as f64).round()
    };
    let rows = (0..height * depth).map(|row| (row % height, row / height));
    rows.flat_map(|(y, z)| (0..width).map(move |x| [at(0, x, width), at(1, y, height), at(2, z, depth)])).collect()
}

/// The fastest of them, unless none moves.
pub(super) fn fastest(speeds: &[Speed]) -> Option<Speed> {
    let fastest = speeds.iter().max_by(|a, b| a.value.total_cmp(&b.value)).filter(|speed| speed.value > 0.0)?;
    Some(Speed { value: fastest.value, span: fastest.span.clone() })
}
