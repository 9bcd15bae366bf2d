//! A case file as written: every value has the right type and a unit of the right kind. What depends on the method is
//! left to `resolve`.

mod refinement;
mod solids;
mod values;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use lbm_bundle::Real;

use super::TargetChoice;
use super::address::Parameter;
use super::diag::{self, CaseError, Diagnostic, Report, Span, Spanned};
use super::formula::Formula;
use super::refinement::COUPLING;
use super::schema::{self, keys_of, suggest};
use super::tree::{self, Kind, Table, Value};
use super::units::Dimension;
use crate::solid::Surface;

/// A case file that makes sense by itself: the method it asks for can now be compiled, then see `RawCase::resolve`.
#[derive(Clone, Debug)]
pub struct RawCase {
    /// Where it was read.
    pub(super) name: String,
    title: Option<String>,
    /// All that is written in it, overrides applied.
    pub(super) root: Table,
    pub(super) spec: Spanned<String>,
    target: TargetChoice,
    real: Real,
    pub(super) block: Option<Spanned<Vec<u32>>>,
    pub(super) si: Option<RawUnits>,
    pub(super) size: Spanned<Vec<Spanned<f64>>>,
    pub(super) resolution: Option<Spanned<f64>>,
    pub(super) fluid: RawFluid,
    pub(super) params: Vec<RawParam>,
    pub(super) faces: RawFaces,
    pub(super) start: Vec<RawStart>,
    pub(super) solids: Vec<Spanned<RawSolid>>,
    pub(super) refinement: Option<RawRefinement>,
    pub(super) stop: RawStop,
    pub(super) output: RawOutput,
    /// What tells this flow from others, by key.
    pub(super) keys: BTreeMap<String, String>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// A field at the start, in m, kg, s or in lattice units.
#[derive(Clone, Debug)]
pub(super) struct RawStart {
    /// Its name in the file: `density`.
    pub(super) key: Spanned<String>,
    pub(super) components: Spanned<Vec<Spanned<Formula>>>,
}

/// `[units]` of a case in SI units.
#[derive(Clone, Debug)]
pub(super) struct RawUnits {
    pub(super) step: Option<Spanned<f64>>,
    pub(super) mach: Option<Spanned<f64>>,
    pub(super) density: Option<Spanned<f64>>,
}

/// `[fluid]`.
#[derive(Clone, Debug)]
pub(super) struct RawFluid {
    pub(super) span: Span,
    pub(super) re: Option<Spanned<f64>>,
    pub(super) viscosity: Option<Spanned<f64>>,
    pub(super) omega: Option<Spanned<f64>>,
    pub(super) velocity: Option<Spanned<f64>>,
    pub(super) length: Option<Spanned<f64>>,
}

/// A parameter of the method or of a boundary rule: a number or a list of them, each with the dimension of its unit. Along
/// faces they may be formulas of the place, all but constants of which have a unit that fits the parameter's name.
#[derive(Clone, Debug)]
pub(super) struct RawParam {
    pub(super) name: Spanned<String>,
    pub(super) span: Span,
    pub(super) values: Vec<(Formula, Dimension)>,
}

/// What a face is.
#[derive(Clone, Debug)]
pub(super) struct RawFace {
    pub(super) rule: Spanned<String>,
    pub(super) params: Vec<RawParam>,
}

/// `[faces]`.
#[derive(Clone, Debug)]
pub(super) struct RawFaces {
    pub(super) span: Span,
    /// In the order of `schema::FACES`, with the place of the name.
    pub(super) named: [Option<Spanned<RawFace>>; 6],
    pub(super) others: Option<Spanned<RawFace>>,
}

/// A solid.
#[derive(Clone, Debug)]
pub(super) struct RawSolid {
    pub(super) shape: RawShape,
    pub(super) surface: RawFace,
    pub(super) level: Option<Spanned<f64>>,
    /// With the dimension of its unit.
    pub(super) area: Option<Spanned<(f64, Dimension)>>,
    pub(super) shells: Vec<RawShell>,
}

/// What lies within a distance of a surface, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawShell {
    pub(super) level: Spanned<f64>,
    pub(super) within: f64,
}

/// A point or a vector, in m or in cells.
type RawVector = Spanned<Vec<Spanned<f64>>>;

/// The shape of a solid, in m or in cells.
#[derive(Clone, Debug)]
pub(super) enum RawShape {
    Sphere {
        centre: RawVector,
        radius: Spanned<f64>,
    },
    Box {
        from: RawVector,
        to: RawVector,
    },
    Cylinder {
        centre: RawVector,
        radius: Spanned<f64>,
        axis: Option<RawVector>,
        length: Option<Spanned<f64>>,
    },
    Stl {
        file: Spanned<String>,
        /// What the file holds, once it is read.
        bytes: Vec<u8>,
        surface: Option<Surface>,
        scale: Option<Spanned<f64>>,
        centre: Option<RawVector>,
        rotate: Option<RawVector>,
    },
}

/// `[refinement]`.
#[derive(Clone, Debug)]
pub(super) struct RawRefinement {
    pub(super) span: Span,
    pub(super) finest: Spanned<f64>,
    pub(super) coarsest: Option<Spanned<f64>>,
    pub(super) level: Option<Spanned<Formula>>,
    pub(super) boxes: Vec<Spanned<RawBox>>,
    pub(super) coupling: Option<Spanned<String>>,
    pub(super) memory: Option<usize>,
    pub(super) follow: Option<RawFollow>,
}

/// What the grid of `[refinement]` follows.
#[derive(Clone, Debug)]
pub(super) struct RawFollow {
    pub(super) criterion: Spanned<String>,
    /// The same as a formula, which it is unless the method has a criterion of that name.
    pub(super) formula: Formula,
    pub(super) threshold: f64,
    pub(super) ratio: f64,
    pub(super) hysteresis: f64,
    pub(super) every: u64,
    pub(super) pinned: Vec<Spanned<RawBox>>,
}

/// A box of `[refinement]`, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawBox {
    /// None for a box of pinned blocks.
    pub(super) level: Option<Spanned<f64>>,
    pub(super) from: Spanned<Vec<Spanned<f64>>>,
    pub(super) to: Spanned<Vec<Spanned<f64>>>,
}

/// `[stop]`.
#[derive(Clone, Debug)]
pub(super) struct RawStop {
    pub(super) steps: Option<Spanned<f64>>,
    pub(super) time: Option<Spanned<f64>>,
    pub(super) steady: Option<f64>,
    pub(super) check_every: Option<Spanned<f64>>,
}

/// A plane for pictures, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawSlice {
    pub(super) normal: usize,
    pub(super) at: Spanned<f64>,
}

/// Whether and how fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawVtk {
    /// As suits the grid.
    Default,
    Amr,
    Unstructured,
}

/// `[output]`.
#[derive(Clone, Debug)]
pub(super) struct RawOutput {
    pub(super) directory: Option<Spanned<String>>,
    pub(super) profiles: bool,
    pub(super) picture: bool,
    pub(super) slice: Option<Spanned<RawSlice>>,
    pub(super) vtk: Option<Spanned<RawVtk>>,
    pub(super) every: Option<Spanned<f64>>,
    pub(super) series: Option<Spanned<f64>>,
    pub(super) restart: Option<Spanned<f64>>,
    pub(super) forces: Option<Spanned<f64>>,
    pub(super) compare: Option<Spanned<String>>,
}

impl RawCase {
    /// Reads the text of the file `name`, with overrides `(key, value)` as `--set key=value` gives them: a key is a path
    /// (`fluid.re`, `solids.0.radius`) or the end of one where that is unique (`re`).
    pub fn parse(name: &str, text: &str, overrides: &[(String, String)]) -> Result<RawCase, CaseError> {
        RawCase::parse_with(name, text, overrides, &|_| Some(vec![]))
    }

    /// As [`RawCase::parse`], where overrides may also name the method's parameters without `params.`: `parameters` gives those of
    /// the method that the case calls so, or `None` where it cannot be had. It is asked only where an override is no key.
    pub fn parse_with(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
        parameters: &dyn Fn(&str) -> Option<Vec<Parameter>>,
    ) -> Result<RawCase, CaseError> {
        let mut report = Report::default();
        let root = tree::parse(name, text, overrides, parameters, &mut report);
        let mut reader = Reader { report, si: false };
        let raw = if reader.report.has_errors() { None } else { reader.case(name, &root) };
        let (mut raw, warnings) = reader.report.finish(name, raw)?;
        raw.warnings = warnings;
        Ok(raw)
    }

    /// The method: the name of a shipped spec, or a path.
    pub fn spec(&self) -> &str {
        &self.spec.value
    }

    /// What it is called: by itself, else its file without folder and ending.
    pub(super) fn title(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| super::resolve::stem(&self.name))
    }

    /// Where to run.
    pub fn target(&self) -> TargetChoice {
        self.target
    }

    /// Precision.
    pub fn real(&self) -> Real {
        self.real
    }

    /// The boundary rules that its faces and solids name, each once; `periodic` is none.
    pub fn rules(&self) -> Vec<&str> {
        let surfaces = self.solids.iter().map(|solid| &solid.value.surface);
        let mut rules: Vec<&str> = self.faces().chain(surfaces).map(|face| face.rule.value.as_str()).collect();
        rules.retain(|rule| *rule != "periodic");
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Reads the files that it names. `read` gives the bytes of a file, or says why it has none.
    pub fn load(&mut self, read: impl Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), CaseError> {
        let mut report = Report::default();
        for solid in &mut self.solids {
            let RawShape::Stl { file, bytes: content, surface, .. } = &mut solid.value.shape else { continue };
            let bytes = read(&file.value);
            if let Ok(bytes) = &bytes {
                // A flow that goes on must be around the same surface, whatever its file is called.
                let content = blake3::hash(bytes).to_hex().to_string();
                self.keys.insert(format!("content of {}", file.value), content);
            }
            match bytes.and_then(|bytes| Ok((Surface::from_stl(&bytes)?, bytes))) {
                Ok((found, bytes)) => (*surface, *content) = (Some(found), bytes),
                Err(error) => {
                    let message = format!("`{}` is no surface: {error}", file.value);
                    let help = "an STL file, text or binary, beside the case or relative to where the command runs"
                        .to_string();
                    report.add::<()>(diag::NO_SURFACE, &file.span, message, "cannot be read", help);
                }
            }
        }
        report.finish(&self.name, Some(())).map(|_| ())
    }

    fn faces(&self) -> impl Iterator<Item = &RawFace> {
        self.faces.named.iter().flatten().chain(&self.faces.others).map(|face| &face.value)
    }

    /// Whether it needs kernels for links that are cut one by one: it has solids, or faces along which values vary.
    pub fn cuts_links(&self) -> bool {
        let varies = |param: &RawParam| param.values.iter().any(|(value, _)| value.constant().is_none());
        !self.solids.is_empty() || self.faces().any(|face| face.params.iter().any(varies))
    }

    /// The coupling that level jumps take, if the case is refined.
    pub fn coupling(&self) -> Option<&str> {
        let refinement = self.refinement.as_ref()?;
        Some(refinement.coupling.as_ref().map_or(COUPLING, |name| &name.value))
    }

    /// What the grid follows, if it changes: the name of a criterion, or a formula.
    pub fn criterion(&self) -> Option<&str> {
        Some(&self.refinement.as_ref()?.follow.as_ref()?.criterion.value)
    }

    /// The error that the coupling cannot be had, pointing at its name in the file.
    pub fn reject_coupling(&self, message: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        let named = self.refinement.as_ref().and_then(|refinement| refinement.coupling.as_ref());
        report.add::<()>(diag::UNKNOWN_WORD, &named.unwrap_or(&self.spec).span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// Cells of a block, if the case states them: 1 beyond the axes given.
    pub fn block(&self) -> Option<[u32; 3]> {
        self.block.as_ref().map(|block| std::array::from_fn(|axis| block.value.get(axis).copied().unwrap_or(1)))
    }

    /// Cells along each axis, 1 beyond those given, rounded where they are no whole number, which [`Self::resolve`] refuses.
    pub fn cells(&self) -> [usize; 3] {
        let size = &self.size.value;
        let along_x = size.first().map_or(1.0, |size| size.value);
        let cell = self.resolution.as_ref().filter(|_| self.si.is_some()).map_or(1.0, |cells| along_x / cells.value);
        std::array::from_fn(|axis| size.get(axis).map_or(1, |extent| (extent.value / cell).round().max(1.0) as usize))
    }

    /// Whether each axis is periodic, by what its faces say.
    pub fn periodic(&self) -> [bool; 3] {
        let is_periodic = |face: &Option<Spanned<RawFace>>| {
            let face = face.as_ref().or(self.faces.others.as_ref());
            face.is_none_or(|face| face.value.rule.value == "periodic")
        };
        std::array::from_fn(|axis| {
            is_periodic(&self.faces.named[2 * axis]) && is_periodic(&self.faces.named[2 * axis + 1])
        })
    }

    /// Refuses a folder for the results that the file, and not the user, puts elsewhere than below the one that the command runs in:
    /// whoever runs a case of somebody else decides where it writes.
    pub fn writes_below(&self) -> Result<(), CaseError> {
        let Some(directory) = &self.output.directory else { return Ok(()) };
        let mut parts = Path::new(&directory.value).components();
        let below = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if below || directory.span.source.name() != self.name {
            return Ok(());
        }
        let mut report = Report::default();
        let message = format!("`{}` leads out of the folder that the command runs in", directory.value);
        let help = format!("take a path below it, or give this one on the command line: `--out {}`", directory.value);
        report.add::<()>(diag::BAD_VALUE, &directory.span, message, "not below", help);
        report.finish::<()>(&self.name, None).map(|_| ())
    }

    /// The error that the method cannot be had, pointing at `spec` in the file.
    pub fn reject_spec(&self, message: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        report.add::<()>(diag::NO_SPEC, &self.spec.span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// The warning that disturbances at refinement interfaces grow by `exp(growth)` in a step of level 0, in a stream with that
    /// many cells per step, pointing at `spec` in the file. `bounded` is a shipped spec of the method with its rates bounded.
    pub fn unstable_levels(&self, growth: f64, speed: f64, bounded: Option<&str>) -> Diagnostic {
        let percent = 100.0 * growth.exp_m1();
        let message = format!(
            "with these rates, disturbances at refinement interfaces grow by {percent:.1} % a step of level 0 in a stream of \
             {speed:.3} cells per step"
        );
        let closer = match bounded {
            Some(spec) => format!("take `{spec}`, which bounds the rate of the odd moments"),
            None => "bring the relaxation rates closer to each other (`bounded_odd` of the module `rates` bounds that of the odd \
                     moments)"
                .to_string(),
        };
        let help =
            format!("{closer}, lower the velocity in cells per step, or take smaller cells; see docs/couplings.md");
        let mut report = Report::default();
        report.add::<()>(
            diag::UNSTABLE_LEVELS,
            &self.spec.span,
            message,
            "its linearised collision amplifies them",
            help,
        );
        let ((), mut warnings) = report.finish(&self.name, Some(())).expect("a warning is no error");
        warnings.remove(0)
    }
}

/// Reads values of the tree, noting what is wrong.
struct Reader {
    report: Report,
    si: bool,
}

impl Reader {
    fn case(&mut self, name: &str, root: &Table) -> Option<RawCase> {
        self.unknown_keys(root, "");
        let empty = Table { span: root.span.clone(), entries: vec![] };
        let table = |reader: &mut Self, key: &str| match root.get(key).map(|entry| &entry.value) {
            None => empty.clone(),
            Some(Value { kind: Kind::Table(table), .. }) => {
                reader.unknown_keys(table, key);
                table.clone()
            }
            Some(value) => {
                reader.wrong_type::<()>(value, "a table", format!("write `[{key}]` on a line of its own"));
                empty.clone()
            }
        };
        let units = table(self, "units");
        let domain = table(self, "domain");
        let fluid = table(self, "fluid");
        let params = table(self, "params");
        let faces = table(self, "faces");
        let start = table(self, "start");
        let refinement = table(self, "refinement");
        let stop = table(self, "stop");
        let output = table(self, "output");

        self.si = self.word(&units, "system", &["lattice", "si"]).is_some_and(|word| word.value == "si");
        let title = self.name(root);
        let spec = self.text(root, "spec");
        if root.get("spec").is_none() {
            let help = String::from("for example `spec = \"d2q9_bgk\"`; `lbmc specs` lists what is shipped");
            self.missing::<()>(&root.span, "spec", "the method to run", help);
        }
        let target = self.word(root, "target", &["auto", "cuda", "cpu"]);
        let precision = self.word(root, "precision", &["f32", "f64"]);
        let block = self.block(root);
        let si = self.units(&units);
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let size = self.vector(&domain, "size", |reader, value| Some(reader.quantity(value, Some(length))?.0));
        if domain.get("size").is_none() {
            let example = if self.si { "[\"10 mm\", \"10 mm\"]" } else { "[128, 128]" };
            self.missing::<()>(
                &domain.span,
                "domain.size",
                "the extent along each axis",
                format!("`size = {example}`"),
            );
        }
        let resolution = self.count(&domain, "resolution");
        if let Some(resolution) = resolution.as_ref().filter(|_| !self.si) {
            let help = Some("in lattice units `size` is the number of cells already".to_string());
            self.no_effect(&resolution.span, "resolution", "", help);
        } else if self.si && domain.get("resolution").is_none() {
            let help = String::from("the number of cells along x: `resolution = 128`");
            self.missing::<()>(&domain.span, "domain.resolution", "how fine the grid is", help);
        }
        let fluid = self.fluid(&fluid);
        let params = self.params(&params.entries);
        let faces = self.faces(&faces);
        let start = start.entries.iter().filter_map(|entry| self.start(&start, entry)).collect();
        let solids = self.solids(root);
        let refinement =
            root.get("refinement").and_then(|_| self.refinement(&refinement, root.get("solids").is_some()));
        let stop = self.stop(&stop);
        let output = self.output(&output);
        Some(RawCase {
            name: name.to_string(),
            title,
            root: root.clone(),
            spec: spec?,
            target: match target.as_ref().map(|word| &word.value[..]) {
                Some("cuda") => TargetChoice::Cuda,
                Some("cpu") => TargetChoice::Cpu,
                _ => TargetChoice::Auto,
            },
            real: if precision.is_some_and(|word| word.value == "f64") { Real::F64 } else { Real::F32 },
            block,
            si,
            size: size?,
            resolution,
            fluid,
            params,
            faces,
            start,
            solids,
            refinement,
            stop,
            output,
            keys: root.values(&["name", "spec", "target", "precision", "block", "stop", "output"]),
            warnings: vec![],
        })
    }

    /// What the case is called: a part of paths.
    fn name(&mut self, root: &Table) -> Option<String> {
        let name = self.text(root, "name")?;
        if super::is_plain(&name.value) {
            return Some(name.value);
        }
        let help = "results go to `out/NAME`: a name has no slashes, and no dot in front".to_string();
        self.report.add(diag::BAD_VALUE, &name.span, "a case cannot have this name", "not a name", help)
    }

    fn units(&mut self, table: &Table) -> Option<RawUnits> {
        if !self.si {
            for key in ["step", "mach", "density"] {
                if let Some(entry) = table.get(key) {
                    let help = Some("it belongs to `system = \"si\"`".to_string());
                    self.no_effect(&entry.span, key, " in lattice units", help);
                }
            }
            return None;
        }
        let units = RawUnits {
            step: self.positive(table, "step", Dimension::TIME),
            mach: self.positive(table, "mach", Dimension::NUMBER),
            density: self.positive(table, "density", Dimension::DENSITY),
        };
        self.exclusive(table, &["step", "mach"], true, "what sets the time step");
        Some(units)
    }

    fn fluid(&mut self, table: &Table) -> RawFluid {
        let fluid = RawFluid {
            span: table.span.clone(),
            re: self.positive(table, "re", Dimension::NUMBER),
            viscosity: self.positive(table, "viscosity", Dimension::VISCOSITY),
            omega: self.positive(table, "omega", Dimension::NUMBER),
            velocity: self.positive(table, "velocity", Dimension::VELOCITY),
            length: self.positive(table, "length", Dimension::LENGTH),
        };
        self.exclusive(table, &["re", "viscosity", "omega"], false, "");
        fluid
    }

    fn faces(&mut self, table: &Table) -> RawFaces {
        RawFaces {
            span: table.span.clone(),
            named: std::array::from_fn(|face| self.face(table, schema::FACES[face])),
            others: self.face(table, "others"),
        }
    }

    fn face(&mut self, table: &Table, name: &str) -> Option<Spanned<RawFace>> {
        let entry = table.get(name)?;
        let face = match &entry.value.kind {
            Kind::Text(rule) => {
                RawFace { rule: Spanned { value: rule.clone(), span: entry.value.span.clone() }, params: vec![] }
            }
            Kind::Table(inner) => {
                if inner.get("rule").is_none() {
                    let key = format!("faces.{name}.rule");
                    let help = String::from("for example `{ rule = \"moving_wall\", velocity = [0.1, 0] }`");
                    return self.missing(&entry.value.span, &key, "the boundary condition", help);
                }
                let rest: Vec<_> = inner.entries.iter().filter(|entry| entry.key != "rule").cloned().collect();
                RawFace { rule: self.text(inner, "rule")?, params: self.params(&rest) }
            }
            _ => {
                let help = String::from(
                    "the name of a boundary condition, or `{ rule = \"...\", ... }` with its \
                                         parameters",
                );
                return self.wrong_type(&entry.value, "a string or a table", help);
            }
        };
        Some(Spanned { value: face, span: entry.span.clone() })
    }

    /// Parameters whose dimension the case file's unit states; those called `velocity` and `density` are what they say.
    fn params(&mut self, entries: &[tree::Entry]) -> Vec<RawParam> {
        let mut params = vec![];
        for entry in entries {
            let wanted = match &entry.key[..] {
                "velocity" => Some(Dimension::VELOCITY),
                "density" => Some(Dimension::DENSITY),
                _ => None,
            };
            let list = match &entry.value.kind {
                Kind::List(list) => &list[..],
                _ => std::slice::from_ref(&entry.value),
            };
            let values: Vec<_> = list.iter().filter_map(|value| self.param(value, wanted)).collect();
            if values.len() == list.len() {
                let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
                params.push(RawParam { name, span: entry.value.span.clone(), values });
            }
        }
        params
    }

    /// A number with the dimension of its unit, or a formula of the place.
    fn param(&mut self, value: &Value, wanted: Option<Dimension>) -> Option<(Formula, Dimension)> {
        if let Kind::Text(text) = &value.kind {
            let parsed = Formula::parse(text);
            let varies = match &parsed {
                Ok((formula, _)) => formula.constant().is_none(),
                Err(_) => text.contains(['(', '*']),
            };
            if varies {
                let dimension = wanted.unwrap_or(Dimension::NUMBER);
                return Some((self.formula(value, dimension)?, dimension));
            }
        }
        let (value, dimension) = self.quantity(value, wanted)?;
        Some((Formula::number(value), dimension))
    }

    /// A field at the start; those called `velocity` and `density` are what they say, any other is a number.
    fn start(&mut self, table: &Table, entry: &tree::Entry) -> Option<RawStart> {
        let (key, span) = (&entry.key, &entry.value.span);
        let components = if key == "velocity" || matches!(entry.value.kind, Kind::List(_)) {
            let dimension = if key == "velocity" { Dimension::VELOCITY } else { Dimension::NUMBER };
            self.vector(table, key, |reader, value| reader.formula(value, dimension))?
        } else {
            let dimension = if key == "density" { Dimension::DENSITY } else { Dimension::NUMBER };
            let value = self.formula(&entry.value, dimension)?;
            Spanned { value: vec![Spanned { value, span: span.clone() }], span: span.clone() }
        };
        Some(RawStart { key: Spanned { value: key.clone(), span: entry.span.clone() }, components })
    }

    fn stop(&mut self, table: &Table) -> RawStop {
        let stop = RawStop {
            steps: self.count(table, "steps"),
            time: self.positive(table, "time", Dimension::TIME),
            steady: self.positive(table, "steady", Dimension::NUMBER).map(|value| value.value),
            check_every: self.count(table, "check_every"),
        };
        self.exclusive(table, &["steps", "time"], true, "when the run ends at the latest");
        if let (Some(entry), None) = (table.get("check_every"), table.get("steady")) {
            let help = Some("only `steady` checks anything".to_string());
            self.no_effect(&entry.span, "check_every", " without `steady`", help);
        }
        stop
    }

    fn output(&mut self, table: &Table) -> RawOutput {
        let output = RawOutput {
            directory: self.text(table, "directory"),
            profiles: self.truth(table, "profiles"),
            picture: self.truth(table, "picture"),
            slice: table.get("slice").and_then(|entry| self.slice(&entry.value)),
            vtk: self.vtk(table),
            every: self.count(table, "every"),
            series: self.count(table, "series"),
            restart: self.count(table, "restart"),
            forces: self.count(table, "forces"),
            compare: self.text(table, "compare"),
        };
        if let (Some(entry), false) = (table.get("every"), output.vtk.is_some()) {
            self.no_effect(&entry.span, "every", " without `vtk`", Some("add `vtk = true`".to_string()));
        }
        output
    }

    fn vtk(&mut self, table: &Table) -> Option<Spanned<RawVtk>> {
        let value = &table.get("vtk")?.value;
        let kind = match &value.kind {
            Kind::Bool(true) => RawVtk::Default,
            Kind::Text(_) => match &self.word(table, "vtk", &["amr", "unstructured"])?.value[..] {
                "amr" => RawVtk::Amr,
                _ => RawVtk::Unstructured,
            },
            _ => {
                return self
                    .truth(table, "vtk")
                    .then_some(Spanned { value: RawVtk::Default, span: value.span.clone() });
            }
        };
        Some(Spanned { value: kind, span: value.span.clone() })
    }

    fn slice(&mut self, value: &Value) -> Option<Spanned<RawSlice>> {
        let help = "for example `{ normal = \"y\", at = 32 }`".to_string();
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help) };
        self.only_keys(table, &["normal", "at"], "a slice")?;
        if let Some(key) = ["normal", "at"].iter().find(|key| table.get(key).is_none()) {
            return self.missing(&value.span, key, "a slice has a normal and a place", help);
        }
        let normal = self.word(table, "normal", &["x", "y", "z"])?;
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let entry = table.get("at")?;
        let at = Spanned { value: self.quantity(&entry.value, Some(length))?.0, span: entry.value.span.clone() };
        let normal = ["x", "y", "z"].iter().position(|axis| *axis == normal.value)?;
        Some(Spanned { value: RawSlice { normal, at }, span: value.span.clone() })
    }

    /// Nothing, and a report, where an inline table has another key.
    fn only_keys(&mut self, table: &Table, known: &[&str], what: &str) -> Option<()> {
        let Some(entry) = table.entries.iter().find(|entry| !known.contains(&&entry.key[..])) else { return Some(()) };
        let message = format!("there is no key `{}` in {what}", entry.key);
        self.report.add(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", suggest(&entry.key, known))
    }

    fn block(&mut self, root: &Table) -> Option<Spanned<Vec<u32>>> {
        let entry = root.get("block")?;
        let help = "for example `block = [8, 8]`, or `[4, 4, 4]` in three dimensions";
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list", help.to_string());
        };
        let mut block = vec![];
        for value in list {
            match &value.kind {
                Kind::Integer(cells @ 1..=64) => block.push(*cells as u32),
                Kind::Integer(_) => {
                    return self.report.add(
                        diag::BAD_VALUE,
                        &value.span,
                        "a block has 1 to 64 cells along an axis",
                        "out of range",
                        help.to_string(),
                    );
                }
                _ => return self.wrong_type(value, "an integer", help.to_string()),
            }
        }
        Some(Spanned { value: block, span: entry.value.span.clone() })
    }

    fn unknown_keys(&mut self, table: &Table, path: &str) {
        if schema::is_open(path) {
            return;
        }
        let known = keys_of(path);
        for entry in table.entries.iter().filter(|entry| !known.contains(&&entry.key[..])) {
            let place = if path.is_empty() { "at the top of a case".to_string() } else { format!("in `[{path}]`") };
            // A key that exists in another table has probably only slipped.
            let elsewhere = schema::paths_that_end_with(&entry.key);
            let help = match (&elsewhere[..], schema::nearest(&entry.key, known.iter().copied())) {
                ([other], None) => format!("it belongs to `{other}`"),
                _ => suggest(&entry.key, &known),
            };
            let message = format!("there is no key `{}` {place}", entry.key);
            self.report.add::<()>(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", help);
        }
    }
}
