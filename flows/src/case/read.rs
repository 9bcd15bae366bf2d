//! Reads a case file: the type of every value, the kind of its unit, and whether its key is known.

mod fields;
mod fluxes;
mod patches;
mod pictures;
mod probes;
mod refinement;
mod report;
mod solids;
mod statistics;
mod values;

use lbm_bundle::plain::shown_line;
use lbm_bundle::{Real, Storage};
use lbm_runtime::mesh::MOST_PARTS as MOST_DEVICES;

use super::address::Parameter;
use std::collections::{BTreeMap, BTreeSet};

use super::diag::{self, CaseError, Report, Spanned};
use super::formula::Formula;
use super::raw::{
    RawCase, RawFace, RawFaces, RawFluid, RawGiven, RawOutput, RawParam, RawSlice, RawStart, RawStop, RawUnits, RawVtk,
};
use super::schema::{self, keys_of, suggest};
use super::tree::{self, Kind, Table, Value};
use super::units::Dimension;
use super::{Devices, TargetChoice};

/// Most planes that cut solids.
const MOST_SECTIONS: usize = 64;

impl RawCase {
    /// Reads the text of the file `name`, with overrides `(key, value)` as `--set key=value` gives them: a key is a path
    /// (`fluid.re`, `solids.0.radius`) or the end of one where that is unique (`re`). With `-` before it, and an empty value, the key is
    /// taken away.
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
        let name = &shown_line(name)[..];
        let mut report = Report::default();
        let root = tree::parse(name, text, overrides, parameters, &mut report);
        let mut reader = Reader { report, si: false };
        let raw = if reader.report.has_errors() { None } else { reader.case(name, &root) };
        let (mut raw, warnings) = reader.report.finish(name, raw)?;
        raw.warnings = warnings;
        Ok(raw)
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
        let fields = table(self, "fields");
        let report = table(self, "report");

        self.si = self.word(&units, "system", &["lattice", "si"]).is_some_and(|word| word.value == "si");
        let title = self.name(root);
        let spec = self.text(root, "spec");
        if root.get("spec").is_none() {
            let help = String::from("for example `spec = \"d2q9_bgk\"`; `lbmc specs` lists what is shipped");
            self.missing::<()>(&root.span, "spec", "the method to run", help);
        }
        let target = self.word(root, "target", &TargetChoice::WORDS.map(|(word, _)| word));
        let named = |word: &Spanned<String>| TargetChoice::WORDS.into_iter().find(|(known, _)| *known == word.value);
        let target = target.as_ref().and_then(named).map_or(TargetChoice::Auto, |(_, target)| target);
        let devices = self.devices(root, target.is_host());
        let precision = self.word(root, "precision", &Real::ALL.map(Real::name));
        let storage = self.word(root, "storage", &Storage::ALL.map(Storage::name));
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
        let params = self.varying(&params.entries);
        let faces = self.faces(&faces);
        let start = start.entries.iter().filter_map(|entry| self.start(&start, entry)).collect();
        let solids = self.solids(root);
        let refinement =
            root.get("refinement").and_then(|_| self.refinement(&refinement, root.get("solids").map(|_| &solids[..])));
        let stop = self.stop(&stop);
        let output = self.output(&output);
        let (probes, pictures, views) = (self.probes(root), self.pictures(root), self.views(root));
        let (statistics, fluxes) = (self.statistics(root), self.fluxes(root));
        let averaged = !probes.is_empty() || !fluxes.is_empty() || output.forces.is_some() || output.heat.is_some();
        if let Some(from) = output.average_from.as_ref().filter(|_| !averaged) {
            let help =
                Some("means are made of `output.forces`, `output.heat`, `[[probes]]` and `[[fluxes]]`".to_string());
            self.no_effect(&from.span, "average_from", " where nothing is averaged", help);
        }
        Some(RawCase {
            name: name.to_string(),
            title,
            root: root.clone(),
            spec: spec?,
            target,
            devices,
            may_take: 1,
            processes: 1,
            real: precision
                .and_then(|word| Real::ALL.into_iter().find(|real| real.name() == word.value))
                .unwrap_or(Real::F32),
            storage: storage.as_ref().and_then(|word| {
                let found = Storage::ALL.into_iter().find(|storage| storage.name() == word.value)?;
                Some(Spanned { value: found, span: word.span.clone() })
            }),
            block,
            si,
            size: size?,
            resolution,
            fluid,
            params,
            varied: vec![],
            faces,
            start,
            solids,
            refinement,
            stop,
            output,
            fields: self.own_fields(&fields),
            probes,
            pictures,
            views,
            statistics,
            fluxes,
            report: self.report_formulas(&report),
            tables: BTreeMap::new(),
            keys: root.values(&[
                "name",
                "spec",
                "target",
                "devices",
                "precision",
                "block",
                "stop",
                "output",
                "fields",
                "probes",
                "pictures",
                "views",
                "statistics",
                "fluxes",
                "report",
            ]),
            warnings: vec![],
        })
    }

    /// What a flow runs on: a number of devices, or on GPUs a list of their numbers.
    fn devices(&mut self, root: &Table, on_host: bool) -> Option<Spanned<Devices>> {
        let value = &root.get("devices")?.value;
        let help = || Some("write how many, `devices = 2`, or the numbers of GPUs, `devices = [0, 1]`".to_string());
        let number = |value: &Value| match value.kind {
            Kind::Integer(number) => usize::try_from(number).ok().filter(|number| *number <= MOST_DEVICES),
            _ => None,
        };
        let devices = match &value.kind {
            Kind::Integer(_) => number(value).filter(|count| *count > 0).map(Devices::Count),
            Kind::List(_) if on_host => {
                let help = Some("the host has no numbers: `devices = 2` divides the flow into two parts".to_string());
                let message = "a list of devices names GPUs, and `target` is the CPU";
                return self.report.add(diag::NO_DEVICES, &value.span, message, "not on the host", help);
            }
            Kind::List(values) => {
                let numbers: Option<Vec<usize>> = values.iter().map(number).collect();
                let once = |numbers: &Vec<usize>| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len();
                numbers.filter(|numbers| !numbers.is_empty() && once(numbers)).map(Devices::Gpus)
            }
            _ => {
                return self.wrong_type(value, "a number or a list of numbers", help().unwrap_or_default());
            }
        };
        match devices {
            Some(value_of) => Some(Spanned { value: value_of, span: value.span.clone() }),
            None => {
                let message = "no flow can run on these devices";
                self.report.add(diag::NO_DEVICES, &value.span, message, "not one or more devices, each once", help())
            }
        }
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
        let is_number = |value: &Value| match &value.kind {
            Kind::Text(text) => !Formula::parse_named(text).is_ok_and(|(formula, _)| formula.constant().is_none()),
            _ => true,
        };
        let of_viscosity = table.get("viscosity").filter(|entry| !is_number(&entry.value));
        let varied = of_viscosity.and_then(|entry| {
            let formula = self.named_formula(&entry.value, Some(Dimension::VISCOSITY))?;
            let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
            Some(RawParam { name, span: entry.value.span.clone(), values: vec![formula] })
        });
        let number = of_viscosity.is_none().then(|| self.positive(table, "viscosity", Dimension::VISCOSITY)).flatten();
        let fluid = RawFluid {
            span: table.span.clone(),
            re: self.positive(table, "re", Dimension::NUMBER),
            viscosity: number,
            varied,
            omega: self.positive(table, "omega", Dimension::NUMBER),
            diffusivity: self.positive(table, "diffusivity", Dimension::VISCOSITY),
            prandtl: self.positive(table, "prandtl", Dimension::NUMBER),
            velocity: self.positive(table, "velocity", Dimension::VELOCITY),
            length: self.positive(table, "length", Dimension::LENGTH),
        };
        self.exclusive(table, &["re", "viscosity", "omega"], false, "");
        self.exclusive(table, &["diffusivity", "prandtl"], false, "");
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
                let rule = Spanned { value: rule.clone(), span: entry.value.span.clone() };
                RawFace { rule, params: vec![], patches: vec![] }
            }
            Kind::Table(inner) => {
                if inner.get("rule").is_none() {
                    let key = format!("faces.{name}.rule");
                    let help = String::from("for example `{ rule = \"moving_wall\", velocity = [0.1, 0] }`");
                    return self.missing(&entry.value.span, &key, "the boundary condition", help);
                }
                let is_param = |key: &str| key != "rule" && key != "patches";
                let rest: Vec<_> = inner.entries.iter().filter(|entry| is_param(&entry.key)).cloned().collect();
                let (params, patches) = (self.params(&rest), self.patches(inner));
                RawFace { rule: self.text(inner, "rule")?, params, patches: patches? }
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
        self.components(entries, |reader, value, wanted| reader.timed_formula(value, wanted))
    }

    /// Parameters of the method, whose formulas may have names of fields.
    fn varying(&mut self, entries: &[tree::Entry]) -> Vec<RawParam> {
        self.components(entries, |reader, value, wanted| reader.named_formula(value, wanted))
    }

    fn components(
        &mut self,
        entries: &[tree::Entry],
        formula: impl Fn(&mut Self, &Value, Option<Dimension>) -> Option<(Formula, Dimension)>,
    ) -> Vec<RawParam> {
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
            let values: Vec<_> = list.iter().filter_map(|value| self.param(value, wanted, &formula)).collect();
            if values.len() == list.len() {
                let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
                params.push(RawParam { name, span: entry.value.span.clone(), values });
            }
        }
        params
    }

    /// A number with the dimension of its unit, or a formula.
    fn param(
        &mut self,
        value: &Value,
        wanted: Option<Dimension>,
        formula: &impl Fn(&mut Self, &Value, Option<Dimension>) -> Option<(Formula, Dimension)>,
    ) -> Option<(Formula, Dimension)> {
        if let Kind::Text(text) = &value.kind {
            let parsed = Formula::parse_named(text);
            let varies = match &parsed {
                Ok((formula, _)) => formula.constant().is_none(),
                Err(_) => text.contains(['(', '*']),
            };
            if varies {
                return formula(self, value, wanted);
            }
        }
        let (value, dimension) = self.quantity(value, wanted)?;
        Some((Formula::number(value), dimension))
    }

    /// A field at the start; those called `velocity` and `density` are what they say, any other is a number or a temperature.
    fn start(&mut self, table: &Table, entry: &tree::Entry) -> Option<RawStart> {
        let (key, span) = (&entry.key, &entry.value.span);
        let name = || Spanned { value: key.clone(), span: entry.span.clone() };
        if let Kind::Table(of_file) = &entry.value.kind {
            self.only_keys(of_file, &["file", "array"], "a field of a file")?;
            let Some(file) = self.text(of_file, "file") else {
                let help = format!("write `{key} = {{ file = \"{key}.npy\" }}`");
                return self.missing(span, "file", "the file that has the field", help);
            };
            let array = self.text(of_file, "array");
            let given = RawGiven::File { file, array, bytes: vec![], samples: None };
            return Some(RawStart { key: name(), span: span.clone(), given });
        }
        let components = if key == "velocity" || matches!(entry.value.kind, Kind::List(_)) {
            let dimension = if key == "velocity" { Dimension::VELOCITY } else { Dimension::TEMPERATURE };
            self.vector(table, key, |reader, value| reader.formula(value, dimension))?.value
        } else {
            let dimension = if key == "density" { Dimension::DENSITY } else { Dimension::TEMPERATURE };
            vec![Spanned { value: self.formula(&entry.value, dimension)?, span: span.clone() }]
        };
        Some(RawStart { key: name(), span: span.clone(), given: RawGiven::Formulas(components) })
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
            grid: self.choice(table, "grid"),
            vtk: self.vtk(table),
            fields: table
                .get("fields")
                .and_then(|entry| self.words(&entry.value, "fields = [\"velocity\", \"vorticity\"]")),
            every: self.interval(table, "every"),
            series: self.interval(table, "series"),
            restart: self.interval(table, "restart"),
            forces: self.interval(table, "forces"),
            heat: self.interval(table, "heat"),
            surfaces: self.interval(table, "surfaces"),
            sections: self.sections(table),
            compare: self.text(table, "compare"),
            average_from: self.interval(table, "average_from"),
        };
        for key in ["every", "fields"] {
            if let (Some(entry), false) = (table.get(key), output.vtk.is_some()) {
                self.no_effect(&entry.span, key, " without `vtk`", Some("add `vtk = true`".to_string()));
            }
        }
        if let (Some(entry), false) = (table.get("grid"), output.picture) {
            let help = "add `picture = true`; `[[pictures]]` have a `grid` each".to_string();
            self.no_effect(&entry.span, "grid", " without `picture`", Some(help));
        }
        output
    }

    /// Planes that cut solids.
    fn sections(&mut self, table: &Table) -> Vec<Spanned<RawSlice>> {
        let Some(entry) = table.get("sections") else { return vec![] };
        let help = "for example `sections = [{ normal = \"y\", at = 32 }]`".to_string();
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list of planes", help).unwrap_or_default();
        };
        if table.get("surfaces").is_none() {
            let help = Some("add `surfaces = 1000`".to_string());
            self.no_effect(&entry.span, "sections", " without `surfaces`", help);
        }
        if let Some(beyond) = list.get(MOST_SECTIONS) {
            let message = format!("{} sections are more than {MOST_SECTIONS}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        list.iter().take(MOST_SECTIONS).filter_map(|value| self.slice(value)).collect()
    }

    fn vtk(&mut self, table: &Table) -> Option<Spanned<RawVtk>> {
        let value = &table.get("vtk")?.value;
        let kind = match &value.kind {
            Kind::Bool(true) => RawVtk::Default,
            Kind::Text(text) => match &text[..] {
                "amr" => RawVtk::Amr,
                "unstructured" => RawVtk::Unstructured,
                _ => {
                    let message = format!("`{text}` is no choice for `vtk`");
                    let help = "vtk is `true`, and of a refined grid also `\"amr\"` or `\"unstructured\"`".to_string();
                    return self.report.add(diag::UNKNOWN_WORD, &value.span, message, "unknown word", help);
                }
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
        let normal = self.normal(table)?;
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let entry = table.get("at")?;
        let at = Spanned { value: self.quantity(&entry.value, Some(length))?.0, span: entry.value.span.clone() };
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
