//! A case file as written: every value has the right type and a unit of the right kind. What depends on the method is
//! left to `resolve`.

use lbm_bundle::Real;

use super::TargetChoice;
use super::diag::{self, CaseError, Diagnostic, Report, Span, Spanned};
use super::formula::{Formula, FormulaError};
use super::refinement::COUPLING;
use super::schema::{self, keys_of, suggest};
use super::tree::{self, Kind, Table, Value};
use super::units::{self, Dimension};

/// A case file that makes sense by itself: the method it asks for can now be compiled, then see `RawCase::resolve`.
#[derive(Clone, Debug)]
pub struct RawCase {
    pub(super) name: String,
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
    pub(super) refinement: Option<RawRefinement>,
    pub(super) stop: RawStop,
    pub(super) output: RawOutput,
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

/// A parameter of the method or of a boundary rule: a number or a list of them, each with the dimension of its unit.
#[derive(Clone, Debug)]
pub(super) struct RawParam {
    pub(super) name: Spanned<String>,
    pub(super) span: Span,
    pub(super) values: Vec<(f64, Dimension)>,
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

/// `[refinement]`.
#[derive(Clone, Debug)]
pub(super) struct RawRefinement {
    pub(super) span: Span,
    pub(super) finest: Spanned<f64>,
    pub(super) level: Option<Spanned<Formula>>,
    pub(super) boxes: Vec<Spanned<RawBox>>,
    pub(super) coupling: Option<Spanned<String>>,
}

/// A box of `[refinement]`, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawBox {
    pub(super) level: Spanned<f64>,
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

/// `[output]`.
#[derive(Clone, Debug)]
pub(super) struct RawOutput {
    pub(super) directory: Option<String>,
    pub(super) profiles: bool,
    pub(super) picture: bool,
    pub(super) vtk: bool,
    pub(super) every: Option<Spanned<f64>>,
    pub(super) series: Option<Spanned<f64>>,
    pub(super) compare: Option<Spanned<String>>,
}

impl RawCase {
    /// Reads the text of the file `name`, with overrides `(key, value)` as `--set key=value` gives them: a key is a path
    /// (`fluid.re`) or its last part where that is unique (`re`).
    pub fn parse(name: &str, text: &str, overrides: &[(String, String)]) -> Result<RawCase, CaseError> {
        let mut report = Report::default();
        let root = tree::parse(name, text, overrides, &mut report);
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

    /// Where to run.
    pub fn target(&self) -> TargetChoice {
        self.target
    }

    /// Precision.
    pub fn real(&self) -> Real {
        self.real
    }

    /// The boundary rules that its faces name, each once; `periodic` is none.
    pub fn rules(&self) -> Vec<&str> {
        let faces = self.faces.named.iter().flatten().chain(&self.faces.others);
        let mut rules: Vec<&str> = faces.map(|face| face.value.rule.value.as_str()).collect();
        rules.retain(|rule| *rule != "periodic");
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// The coupling that level jumps take, if the case is refined.
    pub fn coupling(&self) -> Option<&str> {
        let refinement = self.refinement.as_ref()?;
        Some(refinement.coupling.as_ref().map_or(COUPLING, |name| &name.value))
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

    /// Cells along x, rounded where they are no whole number, which [`Self::resolve`] refuses.
    pub fn cells_along_x(&self) -> usize {
        let resolution = self.resolution.as_ref().filter(|_| self.si.is_some()).map(|cells| cells.value);
        let cells = resolution.or_else(|| self.size.value.first().map(|size| size.value));
        cells.unwrap_or(0.0).round() as usize
    }

    /// The error that the method cannot be had, pointing at `spec` in the file.
    pub fn reject_spec(&self, message: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        report.add::<()>(diag::NO_SPEC, &self.spec.span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
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
        let refinement = root.get("refinement").and_then(|_| self.refinement(&refinement));
        let stop = self.stop(&stop);
        let output = self.output(&output);
        Some(RawCase {
            name: name.to_string(),
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
            refinement,
            stop,
            output,
            warnings: vec![],
        })
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
                    return self.missing(&entry.value.span, &key, "the boundary rule", help);
                }
                let rest: Vec<_> = inner.entries.iter().filter(|entry| entry.key != "rule").cloned().collect();
                RawFace { rule: self.text(inner, "rule")?, params: self.params(&rest) }
            }
            _ => {
                let help = String::from("a rule's name, or `{ rule = \"...\", ... }` with its parameters");
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
            let values: Vec<_> = list.iter().filter_map(|value| self.quantity(value, wanted)).collect();
            if values.len() == list.len() {
                let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
                params.push(RawParam { name, span: entry.value.span.clone(), values });
            }
        }
        params
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

    fn refinement(&mut self, table: &Table) -> Option<RawRefinement> {
        let finest = self.count(table, "finest");
        if table.get("finest").is_none() {
            let help = String::from("for example `finest = 2`, for cells of a quarter of the coarsest ones");
            self.missing::<()>(&table.span, "refinement.finest", "the finest level", help);
        }
        if table.get("level").is_none() && table.get("boxes").is_none() {
            let help =
                String::from("`level = \"2 - x / 8\"`, or `boxes = [{ level = 1, from = [0, 0], to = [16, 16] }]`");
            self.missing::<()>(&table.span, "refinement.level", "where to refine", help);
        }
        let level = table.get("level").and_then(|entry| {
            let value = self.formula(&entry.value, Dimension::NUMBER)?;
            Some(Spanned { value, span: entry.value.span.clone() })
        });
        let boxes = match table.get("boxes").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: Kind::List(list), .. }) => list.iter().filter_map(|value| self.refined(value)).collect(),
            Some(value) => {
                let help = String::from("write `boxes = [{ level = 1, from = [0, 0], to = [16, 16] }]`");
                return self.wrong_type(value, "a list", help);
            }
        };
        let coupling = self.text(table, "coupling");
        Some(RawRefinement { span: table.span.clone(), finest: finest?, level, boxes, coupling })
    }

    fn refined(&mut self, value: &Value) -> Option<Spanned<RawBox>> {
        let example = "for example `{ level = 1, from = [0, 0], to = [16, 16] }`".to_string();
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        let known = ["level", "from", "to"];
        if let Some(entry) = table.entries.iter().find(|entry| !known.contains(&&entry.key[..])) {
            let message = format!("there is no key `{}` in a box", entry.key);
            return self.report.add(
                diag::UNKNOWN_KEY,
                &entry.span,
                message,
                "unknown key",
                suggest(&entry.key, &known),
            );
        }
        if let Some(key) = known.iter().find(|key| table.get(key).is_none()) {
            return self.missing(&value.span, key, "a box has a level and two corners", example);
        }
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let corner = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let (level, from, to) = (self.count(table, "level"), corner(self, "from"), corner(self, "to"));
        Some(Spanned { value: RawBox { level: level?, from: from?, to: to? }, span: value.span.clone() })
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
            directory: self.text(table, "directory").map(|text| text.value),
            profiles: self.truth(table, "profiles"),
            picture: self.truth(table, "picture"),
            vtk: self.truth(table, "vtk"),
            every: self.count(table, "every"),
            series: self.count(table, "series"),
            compare: self.text(table, "compare"),
        };
        if let (Some(entry), false) = (table.get("every"), output.vtk) {
            self.no_effect(&entry.span, "every", " without `vtk`", Some("add `vtk = true`".to_string()));
        }
        output
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
            let elsewhere = schema::resolve(&entry.key);
            let help = match (&elsewhere[..], schema::nearest(&entry.key, known.iter().copied())) {
                ([other], None) => format!("it belongs to `{other}`"),
                _ => suggest(&entry.key, &known),
            };
            let message = format!("there is no key `{}` {place}", entry.key);
            self.report.add::<()>(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", help);
        }
    }

    fn missing<T>(&mut self, span: &Span, key: &str, what: &str, help: String) -> Option<T> {
        let message = format!("`{key}` is missing: {what}");
        self.report.add(diag::MISSING_KEY, span, message, "not given here", help)
    }

    fn no_effect(&mut self, span: &Span, key: &str, when: &str, help: Option<String>) {
        let message = format!("`{key}` has no effect{when}");
        self.report.add::<()>(diag::NO_EFFECT, span, message, "has no effect", help);
    }

    fn wrong_type<T>(&mut self, value: &Value, wanted: &str, help: String) -> Option<T> {
        let found = value.kind.describe();
        let message = format!("expected {wanted}, found {found}");
        self.report.add(diag::WRONG_TYPE, &value.span, message, format!("this is {found}"), help)
    }

    /// Checks that at most one of the keys is given, or exactly one.
    fn exclusive(&mut self, table: &Table, keys: &[&str], required: bool, what: &str) {
        let given: Vec<_> = keys.iter().filter_map(|key| table.get(key)).collect();
        match &given[..] {
            [] if required => {
                let choices = schema::list(keys.iter().copied());
                let message = format!("{choices} is missing: {what}");
                let help = format!("give one of them: {choices}");
                self.report.add::<()>(diag::MISSING_KEY, &table.span, message, "not given here", help);
            }
            [first, second, ..] => {
                let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
                let help = format!("keep one of {}", schema::list(keys.iter().copied()));
                self.report.add::<()>(diag::CONFLICT, &second.span, message, "one too many", help);
            }
            _ => {}
        }
    }

    fn text(&mut self, table: &Table, key: &str) -> Option<Spanned<String>> {
        let entry = table.get(key)?;
        match &entry.value.kind {
            Kind::Text(text) => Some(Spanned { value: text.clone(), span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a string", format!("write `{key} = \"...\"`")),
        }
    }

    fn word(&mut self, table: &Table, key: &str, choices: &[&str]) -> Option<Spanned<String>> {
        let word = self.text(table, key)?;
        if choices.contains(&&word.value[..]) {
            return Some(word);
        }
        let message = format!("`{}` is no choice for `{key}`", word.value);
        let help = format!("{key} is {}", schema::list(choices.iter().copied()));
        self.report.add(diag::UNKNOWN_WORD, &word.span, message, "unknown word", help)
    }

    fn truth(&mut self, table: &Table, key: &str) -> bool {
        match table.get(key).map(|entry| &entry.value) {
            None => false,
            Some(Value { kind: Kind::Bool(truth), .. }) => *truth,
            Some(value) => {
                self.wrong_type::<()>(value, "true or false", format!("write `{key} = true`"));
                false
            }
        }
    }

    /// A positive whole number without unit.
    fn count(&mut self, table: &Table, key: &str) -> Option<Spanned<f64>> {
        let entry = table.get(key)?;
        let span = entry.value.span.clone();
        match entry.value.kind {
            Kind::Integer(number @ 1..) => Some(Spanned { value: number as f64, span }),
            Kind::Integer(_) => {
                self.report.add(diag::BAD_VALUE, &span, format!("`{key}` must be positive"), "not positive", None)
            }
            _ => self.wrong_type(&entry.value, "an integer", format!("write `{key} = 1000`")),
        }
    }

    fn positive(&mut self, table: &Table, key: &str, dimension: Dimension) -> Option<Spanned<f64>> {
        let entry = table.get(key)?;
        let (value, _) = self.quantity(&entry.value, Some(dimension))?;
        if value > 0.0 {
            return Some(Spanned { value, span: entry.value.span.clone() });
        }
        let message = format!("`{key}` must be positive");
        self.report.add(diag::BAD_VALUE, &entry.value.span, message, "not positive", None)
    }

    fn vector<T>(
        &mut self,
        table: &Table,
        key: &str,
        component: impl Fn(&mut Self, &Value) -> Option<T>,
    ) -> Option<Spanned<Vec<Spanned<T>>>> {
        let entry = table.get(key)?;
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list", format!("one value for each axis: `{key} = [x, y]`"));
        };
        let components: Vec<_> = list
            .iter()
            .filter_map(|value| {
                let component = component(self, value)?;
                Some(Spanned { value: component, span: value.span.clone() })
            })
            .collect();
        let whole = components.len() == list.len();
        whole.then(|| Spanned { value: components, span: entry.value.span.clone() })
    }

    /// A number, or in SI units a string with a unit of the wanted dimension (any, if none is wanted), in m, kg, s. Zero
    /// needs no unit.
    fn quantity(&mut self, value: &Value, wanted: Option<Dimension>) -> Option<(f64, Dimension)> {
        let (what, example) = wanted.unwrap_or(Dimension::NUMBER).describe();
        let (number, unit) = match &value.kind {
            Kind::Integer(number) => (*number as f64, None),
            Kind::Float(number) => (*number, None),
            Kind::Text(text) => match split_number(text) {
                Some((number, unit)) => (number, Some(unit)),
                None => {
                    let help = match self.si {
                        true => format!("write a number and a unit, such as \"{example}\""),
                        false => "write a plain number".to_string(),
                    };
                    let message = format!("expected {what}, found a string that does not start with a number");
                    return self.report.add(diag::WRONG_TYPE, &value.span, message, "no number", help);
                }
            },
            _ => return self.wrong_type(value, what, format!("for example {example}")),
        };
        if !number.is_finite() {
            return self.report.add(diag::BAD_VALUE, &value.span, "not a finite number", "not finite", None);
        }
        let (size, dimension) = self.unit(&value.span, unit.unwrap_or(""), number == 0.0, wanted)?;
        Some((number * size, dimension))
    }

    /// A formula of position, or in SI units a string with a formula and a unit. A formula may be a number.
    fn formula(&mut self, value: &Value, wanted: Dimension) -> Option<Formula> {
        let Kind::Text(text) = &value.kind else {
            return Some(Formula::number(self.quantity(value, Some(wanted))?.0));
        };
        match Formula::parse(text) {
            Ok((formula, rest)) => {
                if !self.si && units::parse(rest).is_err() && !rest.is_empty() {
                    let at = text.len() - rest.len()..text.len();
                    let message = format!("expected an operator, found `{rest}`");
                    let help = "write `*` between factors".to_string();
                    let error = FormulaError { at, message, label: "the formula has ended", help };
                    return self.no_formula(value, text, error);
                }
                let (size, _) = self.unit(&value.span, rest, formula.constant() == Some(0.0), Some(wanted))?;
                Some(if size == 1.0 { formula } else { formula.times(size) })
            }
            Err(error) => self.no_formula(value, text, error),
        }
    }

    fn no_formula<T>(&mut self, value: &Value, text: &str, error: FormulaError) -> Option<T> {
        let mut span = value.span.clone();
        // Where the file has the text as it is, without escapes, the place is known to the letter.
        if let Some(from) = span.source.inner()[span.range.clone()].find(text) {
            let start = span.range.start + from;
            span.range = start + error.at.start..start + error.at.end;
        }
        self.report.add(diag::FORMULA, &span, error.message, error.label, error.help)
    }

    /// The size in m, kg, s and the dimension of the unit that stands behind a value; a value without one has the wanted
    /// dimension. Zero needs no unit.
    fn unit(&mut self, span: &Span, unit: &str, zero: bool, wanted: Option<Dimension>) -> Option<(f64, Dimension)> {
        let (what, example) = wanted.unwrap_or(Dimension::NUMBER).describe();
        if unit.is_empty() {
            let wanted = wanted.unwrap_or(Dimension::NUMBER);
            if !self.si || wanted == Dimension::NUMBER || zero {
                return Some((1.0, wanted));
            }
            let help = format!("write a string with its unit, such as \"{example}\"");
            return self.report.add(diag::MISSING_UNIT, span, format!("{what} needs a unit"), "no unit", help);
        }
        if !self.si {
            let message = "a case in lattice units has no units of measurement";
            let help = "write a plain number, or `[units] system = \"si\"` and units throughout".to_string();
            return self.report.add(diag::UNIT_IN_LATTICE, span, message, "has a unit", help);
        }
        let unit = match units::parse(unit) {
            Ok(unit) => unit,
            Err(part) => {
                let help = match schema::nearest(&part, units::names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("units are built from {}", schema::list(units::names())),
                };
                let message = format!("`{part}` is no unit");
                return self.report.add(diag::UNKNOWN_UNIT, span, message, "unknown unit", help);
            }
        };
        if let Some(wanted) = wanted.filter(|wanted| *wanted != unit.dimension) {
            let found = unit.dimension.describe().0;
            let help = match wanted {
                Dimension::NUMBER => "write a plain number".to_string(),
                _ => format!("{what} is written like \"{example}\""),
            };
            let message = format!("expected {what}, found {found}");
            return self.report.add(diag::WRONG_UNIT, span, message, format!("this is {found}"), help);
        }
        Some((unit.size, unit.dimension))
    }
}

/// `1.5e-3 m/s` into its number and its unit, which may be empty.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).rev();
    ends.filter(|end| text[..*end].ends_with(|last: char| last.is_ascii_digit() || last == '.'))
        .find_map(|end| Some((text[..end].replace('_', "").parse().ok()?, text[end..].trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_splits_into_number_and_unit() {
        assert_eq!(split_number("1.5e-3 m/s"), Some((1.5e-3, "m/s")));
        assert_eq!(split_number("10mm"), Some((10.0, "mm")));
        assert_eq!(split_number("-2 m^2/s"), Some((-2.0, "m^2/s")));
        assert_eq!(split_number("1_000 s"), Some((1000.0, "s")));
        assert_eq!(split_number("7"), Some((7.0, "")));
        assert_eq!(split_number("fast"), None);
        assert_eq!(split_number("m/s 3"), None);
    }
}
