//! All that a page may have of a run, by name: of one that goes on, and of the folder of one that is over or goes on elsewhere.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;
use serde_json::{Value, json};

use super::ask::{Answer, Ask, Refused};
use super::budget::Work;
use super::desk::{Desk, Phase};
use super::folder::Results;
use super::section;
use super::surface;
use crate::case::{Case, Colours, Dimension, Quantity, SUMMARY};
use crate::output::colours::table;
use crate::output::gallery;
use crate::output::summary::About;

/// How long a page waits for an answer of the flow before it asks again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a summary that are read, at most.
const SUMMARY_BYTES: u64 = 1 << 24;

/// What a page gets.
#[derive(Debug)]
pub enum Content {
    /// JSON.
    Json(String),
    /// Numbers behind a head.
    Numbers(Vec<u8>),
    /// A picture in the PNG or GIF format.
    Picture(Vec<u8>),
}

/// What a page may order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The flow waits.
    Pause,
    /// It goes on.
    Resume,
    /// The fields of this step are written.
    Fields,
    /// A restart file of this step is written.
    Restart,
}

/// What pages may have of a run.
#[derive(Debug)]
pub struct Show<'a> {
    results: Results,
    flow: Option<Flow<'a>>,
}

/// A flow that goes on.
#[derive(Debug)]
struct Flow<'a> {
    desk: &'a Desk,
    case: &'a Case,
    about: Value,
    /// The fields that may be shown.
    fields: Vec<Quantity>,
}

/// What is asked for, by the names of values.
pub type Values<'q> = BTreeMap<&'q str, String>;

impl<'a> Show<'a> {
    /// Of a flow that goes on and writes to a folder.
    pub fn of_flow(desk: &'a Desk, case: &'a Case, manifest: &Manifest, about: &About, folder: &Path) -> Show<'a> {
        let mut fields = Quantity::all(manifest);
        let output = &case.output;
        let own = output.pictures.iter().filter(|picture| picture.statistics.is_none()).map(|picture| &picture.field);
        let own = own.chain(output.probes.iter().flat_map(|probe| &probe.fields));
        for field in own.chain(output.views.iter().filter_map(|view| Some(&view.isosurface.as_ref()?.0))) {
            if !fields.iter().any(|known| known.name() == field.name()) {
                fields.push(field.clone());
            }
        }
        let about = serde_json::to_value(about).unwrap_or_default();
        Show { results: Results::new(folder), flow: Some(Flow { desk, case, about, fields }) }
    }

    /// Of a folder alone.
    pub fn of_folder(folder: &Path) -> Show<'static> {
        Show { results: Results::new(folder), flow: None }
    }

    /// What has a name, with the values that are asked for.
    pub fn get(&self, name: &str, values: &Values<'_>) -> Result<Content, Refused> {
        let value = |name: &str| values.get(name).map(String::as_str).unwrap_or_default();
        match name {
            "colours" => Ok(Content::Json(
                json!({"sequential": table(Colours::Sequential), "diverging": table(Colours::Diverging)}).to_string(),
            )),
            "state" => self.paid(|| Ok(Content::Json(self.state().to_string()))),
            "table" if self.is_busy() => Err(Refused::Busy),
            "table" => self.paid(|| Ok(Content::Json(self.results.table(value("name"))?))),
            "picture" => match &self.flow {
                Some(flow) => flow.picture(value("name")).map(Content::Picture),
                None => self.results.picture(value("name")).map(Content::Picture),
            },
            "section" => self.flow()?.section(values).map(Content::Numbers),
            "surface" => self.flow()?.surface(values).map(Content::Numbers),
            _ => Err(Refused::Unknown),
        }
    }

    /// Orders something of the flow.
    pub fn order(&self, order: Order) -> Result<(), Refused> {
        self.flow()?.desk.order(|orders| match order {
            Order::Pause => orders.pause = true,
            Order::Resume => orders.pause = false,
            Order::Fields => orders.fields = true,
            Order::Restart => orders.restart = true,
        })
    }

    fn flow(&self) -> Result<&Flow<'a>, Refused> {
        self.flow.as_ref().ok_or(Refused::Over)
    }

    /// Whether a flow needs all of the time now.
    fn is_busy(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| !flow.desk.allows(Work::Little))
    }

    /// Does something that takes time which the flow may need.
    fn paid<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        if let Some(flow) = &self.flow {
            flow.desk.pay(Work::Little, began.elapsed());
        }
        done
    }

    /// All that is known of the run now.
    fn state(&self) -> Value {
        let mut state = self.flow.as_ref().map_or_else(|| self.past(), Flow::state);
        state["tables"] = json!(self.results.tables());
        // A flow that is over has told of itself in the folder.
        if let (true, Some(summary)) = (state["phase"] == "over", self.summary()) {
            state["about"] = summary;
        }
        state
    }

    fn summary(&self) -> Option<Value> {
        let text = self.results.text(SUMMARY, ".json", SUMMARY_BYTES).ok()?;
        serde_json::from_str(&text).ok().filter(Value::is_object)
    }

    /// What a folder tells of its run.
    fn past(&self) -> Value {
        let phase = if self.summary().is_some() { "over" } else { "elsewhere" };
        let pictures: Vec<Value> =
            self.results.pictures().iter().map(|picture| json!({"name": picture.name, "file": picture.file})).collect();
        json!({"phase": phase, "step": self.results.step(), "pictures": pictures, "fields": [], "orders": false})
    }
}

impl Flow<'_> {
    fn state(&self) -> Value {
        let (case, (phase, status, pause)) = (self.case, self.desk.state());
        let field = |field: &Quantity| {
            json!({
                "name": field.name(),
                "unit": field.unit(&case.units),
                "signed": field.is_signed(),
                "magnitude": field.is_magnitude(),
            })
        };
        let length = case.units.scale(Dimension::LENGTH);
        let pictures: Vec<Value> =
            gallery::names(case).into_iter().map(|name| json!({"name": name, "file": name})).collect();
        json!({
            "about": self.about,
            "phase": phase,
            "pause": pause,
            "status": status,
            "steady": case.stop.steady.map(|steady| steady.tolerance),
            "dim": case.dim,
            "extent": case.size.map(|side| side as f64 * length),
            "length": if case.units.si { "m" } else { "cells" },
            "time": if case.units.si { "s" } else { "steps" },
            "levels": case.refinement.as_ref().map_or(0, |refinement| refinement.finest),
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
            "pictures": pictures,
            "orders": phase != Phase::Over,
        })
    }

    fn field(&self, name: Option<&String>) -> Result<&Quantity, Refused> {
        self.fields.iter().find(|field| Some(field.name()) == name.map(String::as_str)).ok_or(Refused::Unknown)
    }

    fn section(&self, values: &Values<'_>) -> Result<Vec<u8>, Refused> {
        let (case, field) = (self.case, self.field(values.get("field"))?);
        let normal = ["x", "y", "z"].iter().position(|axis| values.get("normal").is_some_and(|asked| asked == axis));
        let normal = normal.filter(|normal| case.dim == 3 || *normal == 2).ok_or(Refused::Number)?;
        let at = number(values, "at")?.filter(|at| (0.0..=1.0).contains(at)).ok_or(Refused::Number)?;
        let ask = Ask::Section { normal, at, slopes: field.needs_slopes() };
        let Answer::Section { step, readings } = self.desk.ask(ask, PATIENCE)? else { return Err(Refused::Busy) };
        let began = Instant::now();
        let bytes = section::bytes(case, field, (normal, at), step, &readings);
        self.desk.pay(Work::Little, began.elapsed());
        Ok(bytes)
    }

    fn fields(&self) -> Result<Arc<Snapshot>, Refused> {
        match self.desk.ask(Ask::Fields, PATIENCE)? {
            Answer::Fields(Some(fields)) => Ok(fields),
            Answer::Fields(None) => Err(Refused::Memory),
            Answer::Section { .. } => Err(Refused::Busy),
        }
    }

    fn surface(&self, values: &Values<'_>) -> Result<Vec<u8>, Refused> {
        let (field, colour) = (self.field(values.get("field"))?, self.field(values.get("colour"))?);
        let value = number(values, "value")?;
        if self.case.dim != 3 {
            return Err(Refused::Unknown);
        }
        let fields = self.fields()?;
        let began = Instant::now();
        let bytes = surface::bytes(self.case, &fields, (field, value), colour);
        self.desk.pay(Work::Much, began.elapsed());
        bytes
    }

    fn picture(&self, name: &str) -> Result<Vec<u8>, Refused> {
        if !gallery::names(self.case).iter().any(|known| known == name) {
            return Err(Refused::Unknown);
        }
        let fields = self.fields()?;
        let began = Instant::now();
        let picture = gallery::draw(self.case, &fields, name).map(|canvas| canvas.png());
        self.desk.pay(Work::Much, began.elapsed());
        picture.ok_or(Refused::Unknown)
    }
}

/// A finite number, if there is one of that name.
fn number(values: &Values<'_>, name: &str) -> Result<Option<f64>, Refused> {
    let number = |text: &String| text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(Refused::Number);
    values.get(name).map(number).transpose()
}
