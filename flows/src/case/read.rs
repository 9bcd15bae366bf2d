//! Reads a case file: the type of every value, the kind of its unit, and whether its key is known.

use std::collections::BTreeMap;

use lbm_bundle::plain::shown_line;

use super::address::Parameter;
use super::diag::{self, CaseError, Report};
use super::keys::absorbing::RawAbsorbing;
use super::keys::reader::Reader;
use super::keys::top::RawTop;
use super::overrides;
use super::raw::RawCase;
use super::schema::{self, keys_of};
use super::tree::{Kind, Table, Value};
use super::words::{nearest, suggest};

/// Keys at the top of the file that may change when a flow is resumed: all others tell it from other flows.
const NOT_OF_THE_FLOW: [&str; 18] = [
    "name",
    "spec",
    "target",
    "devices",
    "precision",
    "buffers",
    "block",
    "stop",
    "output",
    "fields",
    "probes",
    "pictures",
    "views",
    "statistics",
    "fluxes",
    "recordings",
    "report",
    "gradient",
];

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
        let root = overrides::parse(name, text, overrides, parameters, &mut report);
        let mut reader = Reader { report, si: false };
        let raw = if reader.report.has_errors() { None } else { reader.case(name, &root) };
        let (mut raw, warnings) = reader.report.finish(name, raw)?;
        raw.warnings = warnings;
        Ok(raw)
    }
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
        let absorbing = table(self, "absorbing");
        let start = table(self, "start");
        let refinement = table(self, "refinement");
        let stop = table(self, "stop");
        let output = table(self, "output");
        let fields = table(self, "fields");
        let report = table(self, "report");
        let gradient = table(self, "gradient");

        let span = &root.span;
        let si = self.units(&units, &units.span);
        let top = RawTop::read(self, root, span);
        let domain = self.domain(&domain);
        let fluid_span = fluid.span.clone();
        let fluid = self.fluid(&fluid, &fluid.span);
        let params = self.varying(&params.entries);
        let faces = self.faces(&faces);
        let absorbing = match root.get("absorbing") {
            Some(_) => Some(RawAbsorbing::read(self, &absorbing, &absorbing.span)?),
            None => None,
        };
        let start = start.entries.iter().filter_map(|entry| self.start(&start, entry)).collect();
        let solids = self.solids(root);
        let refinement =
            root.get("refinement").and_then(|_| self.refinement(&refinement, root.get("solids").map(|_| &solids[..])));
        let stop = self.stop(&stop, &stop.span);
        let output = self.output(&output, &output.span);
        let (probes, pictures, views) = (self.probes(root), self.pictures(root), self.views(root));
        let (statistics, fluxes, recordings) = (self.statistics(root), self.fluxes(root), self.recordings(root));
        let gradient = match root.get("gradient") {
            Some(_) => Some(self.gradient(&gradient)?),
            None => None,
        };
        let (fields, report) = (self.own_fields(&fields), self.report_formulas(&report));
        let output = output?;
        let averaged = !probes.is_empty() || !fluxes.is_empty() || output.forces.is_some() || output.heat.is_some();
        if let Some(from) = output.average_from.as_ref().filter(|_| !averaged) {
            let help =
                Some("means are made of `output.forces`, `output.heat`, `[[probes]]` and `[[fluxes]]`".to_string());
            self.no_effect(&from.span, "average_from", " where nothing is averaged", help);
        }
        Some(RawCase {
            name: name.to_string(),
            root: root.clone(),
            top: top?,
            may_take: 1,
            processes: 1,
            si,
            domain: domain?,
            fluid: fluid?,
            fluid_span,
            params,
            varied: vec![],
            faces,
            absorbing,
            start,
            solids,
            refinement,
            stop: stop?,
            output,
            fields,
            probes,
            pictures,
            views,
            statistics,
            fluxes,
            recordings,
            report,
            gradient,
            tables: BTreeMap::new(),
            keys: root.values(&NOT_OF_THE_FLOW),
            warnings: vec![],
        })
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
            let help = match (&elsewhere[..], nearest(&entry.key, known.iter().copied())) {
                ([other], None) => format!("it belongs to `{other}`"),
                _ => suggest(&entry.key, &known),
            };
            let message = format!("there is no key `{}` {place}", entry.key);
            self.report.add::<()>(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", help);
        }
    }
}
