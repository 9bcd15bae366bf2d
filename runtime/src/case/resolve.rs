//! A case file meets its method: sizes against blocks, faces against rules, the fluid against rates.

use lbm_bundle::{Boundary, Manifest, Param, Real};

use super::diag::{self, CaseError, Diagnostic, Report, Span, Spanned};
use super::formula::Formula;
use super::read::{RawCase, RawFace, RawFluid, RawParam};
use super::units::{Dimension, Units};
use super::{
    Case, Face, MACH_ADVISED, Output, Reference, Scales, Start, StartField, Steady, Stop, Wall, reference, schema,
};

/// Steps between checks for steady flow, if the case does not say.
const CHECK_EVERY: f64 = 1000.0;
/// Share of a rate's range, next to its upper limit, in which stability is doubtful.
const RATE_MARGIN: f64 = 0.01;
/// How far, in cells, a length may be from a whole number of them.
const CELL_TOLERANCE: f64 = 1e-6;

impl RawCase {
    /// The case for the method that the manifest describes, and advice. `others` are boundary rules that the manifest does
    /// not list but would if the case had named them; they are told where a name is unknown.
    pub fn resolve(&self, manifest: &Manifest, others: &[String]) -> Result<(Case, Vec<Diagnostic>), CaseError> {
        let dim = manifest.dim as usize;
        let mut resolver = Resolver { raw: self, manifest, others, dim, report: Report::default() };
        let case = resolver.case();
        let (case, warnings) = resolver.report.finish(&self.name, case)?;
        Ok((case, self.warnings.iter().cloned().chain(warnings).collect()))
    }
}

/// Parameters by name, each with all its components.
type Values = Vec<(String, Vec<f64>)>;

/// A velocity that the case states, in its own units, with the place to point at.
struct Speed {
    value: f64,
    span: Span,
}

struct Resolver<'a> {
    raw: &'a RawCase,
    manifest: &'a Manifest,
    others: &'a [String],
    dim: usize,
    report: Report,
}

impl<'a> Resolver<'a> {
    fn case(&mut self) -> Option<Case> {
        let raw = self.raw;
        self.block();
        let domain = self.domain();
        let faces = self.faces();
        let (size, cell) = domain?;
        let start = self.start(size, cell);
        let speeds = self.speeds(&faces, start.as_ref().map_or(0.0, |(_, fastest)| *fastest));
        let reference = match &raw.fluid.velocity {
            Some(given) => Some(Speed { value: given.value, span: given.span.clone() }),
            None => fastest(&speeds),
        };
        let units = self.units(cell, reference.as_ref());
        let (periodic, walls) = self.walls(&faces, units.as_ref());
        let units = units?;

        let velocity = reference.as_ref().map_or(0.0, |speed| speed.value) / units.scale(Dimension::VELOCITY);
        let length = match &raw.fluid.length {
            Some(given) => given.value / units.scale(Dimension::LENGTH),
            None => size[0] as f64,
        };
        let (params, scales) = self.params(&units, velocity, length);
        self.mach(&speeds, reference, &units);
        let start = self.start_in_lattice(start.map(|(start, _)| start), &units);
        self.drive(&walls, start.as_ref(), params.as_ref());
        Some(Case {
            name: stem(&raw.name).to_string(),
            spec: raw.spec.value.clone(),
            target: raw.target(),
            real: raw.real(),
            dim: self.dim,
            size,
            block: self.manifest.block,
            periodic,
            walls,
            params: params?,
            start: start?,
            stop: self.stop(&units),
            output: self.output(scales.re),
            units,
            scales,
        })
    }

    fn block(&mut self) {
        let Some(block) = self.raw.block.as_ref().filter(|block| block.value.len() != self.dim) else { return };
        self.wrong_dimension(&block.span, "a block", block.value.len());
    }

    fn wrong_dimension(&mut self, span: &Span, what: &str, found: usize) {
        let message =
            format!("{what} has {found} components, but {} has {} axes", self.manifest.main().lattice, self.dim);
        let label = format!("{} expected", self.dim);
        self.report.add::<()>(diag::WRONG_DIMENSION, span, message, label, None);
    }

    /// Cells along each axis, and the size of a cell in the units of the case.
    fn domain(&mut self) -> Option<([usize; 3], f64)> {
        let raw = self.raw;
        let given = &raw.size.value;
        if given.len() != self.dim {
            self.wrong_dimension(&raw.size.span, "`domain.size`", given.len());
            return None;
        }
        let cell = raw.resolution.as_ref().filter(|_| raw.si.is_some()).map_or(1.0, |n| given[0].value / n.value);
        let mut size = [1; 3];
        let mut sound = true;
        for (axis, extent) in given.iter().enumerate() {
            let cells = extent.value / cell;
            let whole = cells.round();
            if whole < 1.0 {
                let message = "a domain has at least one cell along each axis";
                self.report.add::<()>(diag::BAD_VALUE, &extent.span, message, "too small", None);
                sound = false;
            } else if (cells - whole).abs() > CELL_TOLERANCE {
                let help = match raw.si {
                    None => "in lattice units a size is a number of cells".to_string(),
                    Some(_) => format!("{} m is {whole} cells; or change `resolution`", short(whole * cell)),
                };
                let message = format!("{cells:.3} cells along {} is no whole number", axis_name(axis));
                self.report.add::<()>(diag::PARTIAL_CELL, &extent.span, message, "not a whole number of cells", help);
                sound = false;
            }
            size[axis] = whole.max(1.0) as usize;
        }
        sound &= self.whole_blocks(&size, sound);
        (sound && cell > 0.0).then_some((size, cell))
    }

    fn whole_blocks(&mut self, size: &[usize; 3], sound: bool) -> bool {
        let mut whole = true;
        for axis in (0..self.dim).filter(|_| sound) {
            let (cells, block) = (size[axis], self.manifest.block[axis] as usize);
            if cells.is_multiple_of(block) {
                continue;
            }
            whole = false;
            let below = cells / block * block;
            let mut help = match below {
                0 => format!("take {block} cells"),
                _ => format!("take {below} or {} cells", below + block),
            };
            let blocks: Vec<usize> = (0..self.dim).map(|axis| divisor(size[axis], self.manifest.block[axis])).collect();
            if blocks.iter().all(|cells| *cells > 2) {
                help += &format!(", or `block = {blocks:?}`");
            }
            let span = match &self.raw.resolution {
                Some(resolution) if axis == 0 && self.raw.si.is_some() => &resolution.span,
                _ => &self.raw.size.value[axis].span,
            };
            let message = format!("{cells} cells along {} are no whole number of blocks of {block}", axis_name(axis));
            let label = format!("not a multiple of {block}");
            self.report.add::<()>(diag::PARTIAL_BLOCK, span, message, label, help);
        }
        whole
    }

    /// What each face is, `None` where the case says nothing or the face does not exist.
    fn faces(&mut self) -> [Option<Spanned<RawFace>>; 6] {
        let raw = &self.raw.faces;
        for face in raw.named[2 * self.dim..].iter().flatten() {
            let name = &face.span.source.inner()[face.span.range.clone()];
            let message = format!("{} has {} axes and no face `{name}`", self.manifest.main().lattice, self.dim);
            let help = format!("its faces are {}", schema::list(schema::FACES[..2 * self.dim].iter().copied()));
            self.report.add::<()>(diag::WRONG_DIMENSION, &face.span, message, "no such face", help);
        }
        let named = raw.named[..2 * self.dim].iter().flatten().count();
        match &raw.others {
            Some(others) if named == 2 * self.dim => {
                let help = "every face has its own line".to_string();
                self.report.add::<()>(diag::NO_EFFECT, &others.span, "`others` has no effect", "has no effect", help);
            }
            None if named < 2 * self.dim => {
                let open = |face: &usize| raw.named[*face].is_none();
                let missing = (0..2 * self.dim).filter(open).map(|face| schema::FACES[face]);
                let message = format!("no boundary for {}", schema::list(missing).replace(" or ", " and "));
                let help = "give each face a rule, or all that are left one: `others = \"bounce_back\"`".to_string();
                self.report.add::<()>(diag::MISSING_KEY, &raw.span, message, "not given here", help);
            }
            _ => {}
        }
        std::array::from_fn(|face| {
            let face = raw.named.get(face).filter(|_| face < 2 * self.dim)?;
            face.clone().or_else(|| raw.others.clone())
        })
    }

    /// Speeds of the walls and of the start, in the units of the case.
    fn speeds(&self, faces: &[Option<Spanned<RawFace>>; 6], start: f64) -> Vec<Speed> {
        let walls = faces.iter().flatten().flat_map(|face| &face.value.params).filter_map(|param| {
            let value = norm(param.values.iter().map(|(value, _)| *value));
            (param.name.value == "velocity").then(|| Speed { value, span: param.span.clone() })
        });
        let given = self.raw.start.iter().filter(|given| given.key.value == "velocity");
        walls.chain(given.map(|given| Speed { value: start, span: given.components.span.clone() })).collect()
    }

    fn units(&mut self, cell: f64, reference: Option<&Speed>) -> Option<Units> {
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

    /// Periodic axes and walls; each face with its rule's parameters in lattice units.
    fn walls(&mut self, faces: &[Option<Spanned<RawFace>>; 6], units: Option<&Units>) -> ([bool; 3], Vec<Wall>) {
        let mut periodic = [true; 3];
        let mut walls = vec![];
        for axis in 0..self.dim {
            let pair = [&faces[2 * axis], &faces[2 * axis + 1]];
            let is_periodic = |face: &Spanned<RawFace>| face.value.rule.value == "periodic";
            periodic[axis] = pair.into_iter().all(|face| face.as_ref().is_some_and(is_periodic));
            for (side, face) in pair.into_iter().enumerate() {
                let Some(face) = face else { continue };
                if !is_periodic(face) {
                    walls.extend(self.wall(Face { axis, high: side == 1 }, face, units));
                    continue;
                }
                for param in &face.value.params {
                    self.surplus(param, "periodic", &[]);
                }
                if pair[1 - side].is_some() && !periodic[axis] {
                    let (here, there) = (schema::FACES[2 * axis + side], schema::FACES[2 * axis + 1 - side]);
                    let message = format!("`{here}` is periodic, but `{there}` opposite is not");
                    let help = format!("what leaves on one side enters on the other: make `{there}` periodic too");
                    self.report.add::<()>(diag::PERIODIC_PAIR, &face.value.rule.span, message, "periodic", help);
                }
            }
        }
        (periodic, walls)
    }

    fn wall(&mut self, at: Face, face: &Spanned<RawFace>, units: Option<&Units>) -> Option<Wall> {
        let RawFace { rule, params } = &face.value;
        let Some(boundary) = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule.value) else {
            let mut known: Vec<&str> = self.manifest.boundaries.iter().map(|boundary| &boundary.name[..]).collect();
            known.extend(
                self.others.iter().map(String::as_str).filter(|name| !known.contains(name)).collect::<Vec<_>>(),
            );
            known.push("periodic");
            let message = format!("{} has no boundary rule `{}`", self.manifest.spec, rule.value);
            let help = schema::suggest(&rule.value, &known);
            return self.report.add(diag::UNKNOWN_RULE, &rule.span, message, "unknown rule", help);
        };
        let known: Vec<&str> = boundary.params.iter().map(|param| &param.name[..]).collect();
        for param in params.iter().filter(|param| !known.contains(&&param.name.value[..])) {
            self.surplus(param, &boundary.name, &known);
        }
        let mut values = vec![];
        let mut sound = true;
        for wanted in &boundary.params {
            match params.iter().find(|param| param.name.value == wanted.name) {
                Some(param) => match self.values(param, wanted, units?) {
                    Some(lattice) => values.push((wanted.name.clone(), lattice)),
                    None => sound = false,
                },
                None => {
                    let message = format!("`{}` needs `{}`", boundary.name, wanted.name);
                    let help = rule_example(boundary);
                    self.report.add::<()>(diag::RULE_PARAMETER, &rule.span, message, "parameter missing", help);
                    sound = false;
                }
            }
        }
        let velocity = wall_velocity(&values);
        sound.then(|| Wall { face: at, rule: boundary.name.clone(), values, velocity })
    }

    fn surplus(&mut self, param: &RawParam, rule: &str, known: &[&str]) {
        let message = format!("`{rule}` has no parameter `{}`", param.name.value);
        let help = if known.is_empty() { None } else { Some(schema::suggest(&param.name.value, known)) };
        self.report.add::<()>(diag::RULE_PARAMETER, &param.name.span, message, "unknown parameter", help);
    }

    /// A parameter's components in lattice units, checked against its shape and range.
    fn values(&mut self, param: &RawParam, wanted: &Param, units: &Units) -> Option<Vec<f64>> {
        if param.values.len() != wanted.components as usize {
            let (name, found) = (&wanted.name, param.values.len());
            let message = format!("`{name}` has {} components, not {found}", wanted.components);
            let label = format!("{} expected", wanted.components);
            return self.report.add(diag::COMPONENTS, &param.span, message, label, None);
        }
        let mut values = vec![];
        for (value, dimension) in &param.values {
            if dimension.kg != 0 && units.si && units.density.is_none() {
                return self.needs_density(&param.span);
            }
            let value = value / units.scale(*dimension);
            self.in_range(value, wanted, &param.span)?;
            values.push(value);
        }
        Some(values)
    }

    fn needs_density<T>(&mut self, span: &Span) -> Option<T> {
        let message = "the density of the fluid at rest is missing";
        let help = "this value is relative to it: `[units] density = \"998 kg/m^3\"`".to_string();
        self.report.add(diag::MISSING_KEY, span, message, "needs `units.density`", help)
    }

    /// Checks a parameter against the open interval that the method states, in the precision of the run.
    fn in_range(&mut self, value: f64, param: &Param, span: &Span) -> Option<()> {
        let Some((low, high)) = param.range else { return Some(()) };
        let single = self.raw.real() == Real::F32;
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

    /// Values of the method's parameters, and the scales that follow.
    fn params(&mut self, units: &Units, velocity: f64, length: f64) -> (Option<Values>, Scales) {
        let cs2 = self.manifest.main().cs2;
        let mach = velocity / cs2.sqrt();
        let mut scales = Scales { velocity, length, viscosity: None, omega: None, re: None, mach };
        let names: Vec<&str> = self.manifest.params.iter().map(|param| &param.name[..]).collect();
        for param in self.raw.params.iter().filter(|param| !names.contains(&&param.name.value[..])) {
            let message = format!("{} has no parameter `{}`", self.manifest.spec, param.name.value);
            let help = schema::suggest(&param.name.value, &names);
            self.report.add::<()>(diag::METHOD_PARAMETER, &param.name.span, message, "unknown parameter", help);
        }
        let rate = self.rate(units, velocity, length);
        let mut values = vec![];
        let mut sound = true;
        for param in &self.manifest.params {
            let is_rate = self.manifest.viscosity.rate.as_ref() == Some(&param.name);
            let given = self.raw.params.iter().find(|given| given.name.value == param.name);
            let found = match (given, &rate) {
                (Some(given), _) => self.values(given, param, units).map(|values| (values, given.span.clone())),
                (None, Some(rate)) if is_rate => {
                    self.in_range(rate.value, param, &rate.span).map(|()| (vec![rate.value], rate.span.clone()))
                }
                (None, _) if is_rate => None,
                (None, _) => {
                    let message = format!("{} needs the parameter `{}`", self.manifest.spec, param.name);
                    let help = format!("`[params] {} = ...`: {}", param.name, param.doc);
                    self.report.add(
                        diag::METHOD_PARAMETER,
                        &self.raw.spec.span,
                        message,
                        "parameter missing",
                        help.trim_end_matches(": ").to_string(),
                    )
                }
            };
            let Some((components, span)) = found else {
                sound = false;
                continue;
            };
            if let (true, [omega]) = (is_rate, &components[..]) {
                let viscosity = match &self.raw.fluid {
                    RawFluid { re: Some(re), .. } => velocity * length / re.value,
                    RawFluid { viscosity: Some(nu), .. } => nu.value / units.scale(Dimension::VISCOSITY),
                    _ => cs2 * (1.0 / omega - 0.5),
                };
                scales.omega = Some(*omega);
                scales.viscosity = Some(viscosity);
                scales.re = Some(velocity * length / viscosity).filter(|re| *re > 0.0);
                self.near_limit(*omega, viscosity, param, &span);
            }
            values.push((param.name.clone(), components));
        }
        (sound.then_some(values), scales)
    }

    /// The rate that sets the viscosity, from `[fluid]`, with the place of what it follows from.
    fn rate(&mut self, units: &Units, velocity: f64, length: f64) -> Option<Spanned<f64>> {
        let fluid = &self.raw.fluid;
        let given = fluid.re.as_ref().or(fluid.viscosity.as_ref()).or(fluid.omega.as_ref());
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
            (None, None) => {
                let message = "`re`, `viscosity` or `omega` is missing: how viscous the fluid is";
                let help = "for example `[fluid] re = 100`".to_string();
                return self.report.add(diag::MISSING_KEY, &fluid.span, message, "not given here", help);
            }
        };
        let viscosity = if fluid.re.is_some() {
            if velocity == 0.0 {
                let message = "the Reynolds number needs a velocity, and nothing in this case moves";
                let help = "give the reference velocity: `[fluid] velocity = ...`".to_string();
                return self.report.add(diag::MISSING_KEY, &given.span, message, "sets the viscosity", help);
            }
            velocity * length / given.value
        } else if fluid.viscosity.is_some() {
            given.value / units.scale(Dimension::VISCOSITY)
        } else {
            return Some(given.clone());
        };
        Some(Spanned { value: 1.0 / (viscosity / self.manifest.main().cs2 + 0.5), span: given.span.clone() })
    }

    fn near_limit(&mut self, omega: f64, viscosity: f64, param: &Param, span: &Span) {
        let Some((low, high)) = param.range else { return };
        if omega <= high - RATE_MARGIN * (high - low) {
            return;
        }
        let comfortable = high - 5.0 * RATE_MARGIN * (high - low);
        let finer = self.manifest.main().cs2 * (1.0 / comfortable - 0.5) / viscosity;
        let message =
            format!("`{}` = {omega:.5} is close to its limit {high}: the run may become unstable", param.name);
        let help = match &self.raw.fluid.omega {
            None => {
                format!("a grid {finer:.1} times as fine has {comfortable:.2} at the same Reynolds and Mach number")
            }
            Some(_) => format!("values up to {comfortable:.2} are safe in most flows"),
        };
        self.report.add::<()>(diag::RATE_NEAR_LIMIT, span, message, "very little viscosity", help);
    }

    fn mach(&mut self, speeds: &[Speed], reference: Option<Speed>, units: &Units) {
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

    /// Warns of a flow that nothing drives: no wall, no force, and nothing at the start.
    fn drive(&mut self, walls: &[Wall], start: Option<&Start>, params: Option<&Values>) {
        let (Some(start), Some(params)) = (start, params) else { return };
        if self.report.has_errors() {
            return; // a wall that was not understood may be the one that moves
        }
        let rests = walls.iter().all(|wall| wall.velocity == Some([0.0; 3]))
            && start.is_uniform()
            && start.fields.iter().all(|field| {
                field.name != "u" || field.components.iter().all(|component| component.constant() == Some(0.0))
            })
            && params.iter().all(|(_, values)| values.len() == 1 || values.iter().all(|value| *value == 0.0));
        if rests {
            let message = "nothing moves: every wall is at rest, and so is the fluid at the start";
            let help = "give a wall or `[start]` a velocity".to_string();
            self.report.add::<()>(diag::NOTHING_MOVES, &self.raw.faces.span, message, "all at rest", help);
        }
    }

    /// The state at the start in the units of the case, checked on every cell, and its largest speed.
    fn start(&mut self, size: [usize; 3], cell: f64) -> Option<(Start, f64)> {
        let raw = self.raw;
        let keys: Vec<&str> = self.manifest.fields.iter().map(|field| start_key(&field.name)).collect();
        for given in &raw.start {
            let key = &given.key.value;
            if !keys.contains(&&key[..]) {
                let message = format!("{} has no field `{key}`", self.manifest.spec);
                let help = schema::suggest(key, &keys);
                return self.report.add(diag::UNKNOWN_KEY, &given.key.span, message, "unknown field", help);
            }
            for component in &given.components.value {
                if let Some(name) = component.value.beyond(self.dim) {
                    let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
                    return self.report.add(diag::WRONG_DIMENSION, &component.span, message, "no such axis", None);
                }
            }
        }
        let mut start = Start { fields: vec![] };
        for field in &self.manifest.fields {
            let count = field.components as usize;
            let components = match self.started(&field.name) {
                Some(given) if given.value.len() == count => {
                    given.value.iter().map(|component| component.value.on(size, cell)).collect()
                }
                Some(given) => {
                    let key = start_key(&field.name);
                    let message = format!("`{key}` has {count} components, not {}", given.value.len());
                    return self.report.add(diag::COMPONENTS, &given.span, message, format!("{count} expected"), None);
                }
                None => vec![Formula::number(if field.name == "rho" { 1.0 } else { 0.0 }); count],
            };
            start.fields.push(StartField { name: field.name.clone(), components });
        }
        let survey = start.survey(size);
        for wrong in &survey.wrong {
            let name = &start.fields[wrong.field].name;
            let Some(given) = self.started(name) else { continue };
            let place = match start.is_uniform() {
                true => String::new(),
                false => {
                    let cell = wrong.cell[..self.dim].iter().map(usize::to_string);
                    format!(" at cell ({})", cell.collect::<Vec<_>>().join(", "))
                }
            };
            let key = start_key(name);
            let (message, label) = if name == "rho" {
                (format!("the density must be positive, and is {}{place}", short(wrong.value)), "not positive")
            } else if given.value.len() > 1 {
                (format!("the {key} along {} is not finite{place}", axis_name(wrong.component)), "not finite")
            } else {
                (format!("`{key}` is not finite{place}"), "not finite")
            };
            self.report.add::<()>(diag::BAD_VALUE, &given.value[wrong.component].span, message, label, None);
        }
        survey.wrong.is_empty().then_some((start, survey.fastest))
    }

    /// What the case gives a field of the method at the start.
    fn started(&self, field: &str) -> Option<&'a Spanned<Vec<Spanned<Formula>>>> {
        let given = self.raw.start.iter().find(|given| given.key.value == start_key(field));
        given.map(|given| &given.components)
    }

    fn start_in_lattice(&mut self, start: Option<Start>, units: &Units) -> Option<Start> {
        let mut start = start?;
        for field in &mut start.fields {
            let Some(given) = self.started(&field.name) else { continue };
            let scale = match &field.name[..] {
                "rho" if units.si && units.density.is_none() => return self.needs_density(&given.span),
                "rho" => units.scale(Dimension::DENSITY),
                "u" => units.scale(Dimension::VELOCITY),
                _ => 1.0,
            };
            for component in &mut field.components {
                *component = component.over(scale);
            }
        }
        Some(start)
    }

    fn stop(&mut self, units: &Units) -> Stop {
        let raw = &self.raw.stop;
        let steps = match (&raw.steps, &raw.time) {
            (Some(steps), _) => steps.value,
            (None, Some(time)) => (time.value / units.scale(Dimension::TIME)).ceil(),
            (None, None) => 0.0,
        };
        let check_every = raw.check_every.as_ref().map_or(CHECK_EVERY, |every| every.value) as u64;
        Stop { steps: steps as u64, steady: raw.steady.map(|tolerance| Steady { tolerance, check_every }) }
    }

    fn output(&mut self, re: Option<f64>) -> Output {
        let raw = &self.raw.output;
        Output {
            directory: raw.directory.clone().unwrap_or_else(|| format!("out/{}", stem(&self.raw.name))),
            profiles: raw.profiles,
            picture: raw.picture,
            vtk: raw.vtk,
            every: raw.every.as_ref().map(|every| every.value as u64),
            series: raw.series.as_ref().map(|every| every.value as u64),
            compare: raw.compare.as_ref().and_then(|name| self.compare(name, re)),
        }
    }

    fn compare(&mut self, name: &Spanned<String>, re: Option<f64>) -> Option<Reference> {
        let names = reference::names();
        if !names.contains(&&name.value[..]) {
            let message = format!("there is no reference data `{}`", name.value);
            let help = schema::suggest(&name.value, &names);
            return self.report.add(diag::UNKNOWN_WORD, &name.span, message, "unknown word", help);
        }
        let found = re.and_then(|re| reference::find(&name.value, self.dim, re));
        if found.is_none() {
            let tables: Vec<String> =
                reference::reynolds_numbers(&name.value, self.dim).iter().map(|re| format!("Re {re}")).collect();
            let help = match tables.is_empty() {
                true => format!("it has no data in {} dimensions", self.dim),
                false => format!("it has {}", tables.join(", ")),
            };
            let message = match re {
                Some(re) => format!("`{}` has no data for Re {}", name.value, short(re)),
                None => format!("`{}` needs a Reynolds number to choose by", name.value),
            };
            return self.report.add(diag::NO_REFERENCE, &name.span, message, "nothing to compare with", help);
        }
        let (needs, given) = match &found {
            Some(Reference::Profiles { .. }) => ("profiles = true", self.raw.output.profiles),
            _ => ("series = 100", self.raw.output.series.is_some()),
        };
        if !given {
            let message = format!("`{}` is compared with what `{needs}` writes", name.value);
            let help = format!("add `{needs}`");
            return self.report.add(diag::NO_EFFECT, &name.span, message, "has no effect", help);
        }
        found
    }
}

/// The velocity of a wall: its parameter of that name, or rest where there are no parameters at all.
/// What `[start]` calls a field of the method.
fn start_key(field: &str) -> &str {
    match field {
        "rho" => "density",
        "u" => "velocity",
        other => other,
    }
}

fn wall_velocity(values: &[(String, Vec<f64>)]) -> Option<[f64; 3]> {
    if values.is_empty() {
        return Some([0.0; 3]);
    }
    let (_, components) = values.iter().find(|(name, _)| name == "velocity")?;
    Some(std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(0.0)))
}

/// How a rule with parameters is written.
fn rule_example(boundary: &Boundary) -> String {
    let params = boundary.params.iter().map(|param| match param.components {
        1 => format!("{} = ...", param.name),
        n => format!("{} = [{}]", param.name, vec!["..."; n as usize].join(", ")),
    });
    format!("write `{{ rule = \"{}\", {} }}`", boundary.name, params.collect::<Vec<_>>().join(", "))
}

fn fastest(speeds: &[Speed]) -> Option<Speed> {
    let fastest = speeds.iter().max_by(|a, b| a.value.total_cmp(&b.value)).filter(|speed| speed.value > 0.0)?;
    Some(Speed { value: fastest.value, span: fastest.span.clone() })
}

fn norm(components: impl Iterator<Item = f64>) -> f64 {
    components.map(|component| component * component).sum::<f64>().sqrt()
}

fn axis_name(axis: usize) -> &'static str {
    ["x", "y", "z"][axis]
}

/// The divisor of `cells` that is nearest to the block at hand, the smaller of two.
fn divisor(cells: usize, block: u32) -> usize {
    let block = block as usize;
    (1..=2 * block).filter(|n| cells.is_multiple_of(*n)).min_by_key(|n| n.abs_diff(block)).unwrap_or(1)
}

/// A number with six digits, without trailing zeros.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if (1e-4..1e6).contains(&rounded.abs()) || rounded == 0.0 { format!("{rounded}") } else { format!("{rounded:e}") }
}

fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".toml").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(100.00000000000004, "100"), (7.96875e-3, "0.00796875"), (1e-9, "1e-9"), (1.999999994, "2"), (0.0, "0")]
        {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn the_divisor_nearest_to_the_block_is_found() {
        assert_eq!(divisor(100, 8), 10);
        assert_eq!(divisor(60, 8), 6);
        assert_eq!(divisor(31, 4), 1);
    }

    #[test]
    fn the_name_of_a_case_is_its_file_s_stem() {
        assert_eq!(stem("cases/cavity2d.toml"), "cavity2d");
        assert_eq!(stem("a\\b.toml"), "b");
        assert_eq!(stem("plain"), "plain");
    }
}
