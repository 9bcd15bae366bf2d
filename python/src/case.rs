//! Cases, made ready to run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lbm_bundle::Bundle;
use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::prescribed::PrescribedBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_flows::case::{Case as Resolved, InputFile, RawCase, json_schema};
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::progress::{Show, Status};
use lbm_flows::output::sink::{Place, RESTART};
use lbm_flows::page;
use lbm_setup::cases::{CaseFile, SHIPPED};
use lbm_setup::notes;
use lbm_setup::ready::Ready;
use miette::{IntoDiagnostic, Report, miette};
use pyo3::prelude::*;

use crate::error::{detached, raise};
use crate::simulation::Simulation;

/// A case with all that it is run with.
pub struct Prepared {
    raw: RawCase,
    pub case: Resolved,
    pub placement: Placement,
    pub method: Bundle,
    criteria: Option<CriteriaBundle>,
    prescribed: Option<PrescribedBundle>,
    statistics: Option<StatisticsBundle>,
    inputs: Vec<InputFile>,
}

impl Prepared {
    pub fn kernels(&self) -> Kernels<'_> {
        Kernels {
            method: &self.method,
            criteria: self.criteria.as_ref(),
            prescribed: self.prescribed.as_ref(),
            statistics: self.statistics.as_ref(),
        }
    }
}

/// A case, valid, with its kernels.
#[pyclass(frozen, module = "lbmc._lbmc")]
pub struct Case {
    prepared: Arc<Prepared>,
    text: String,
}

#[pymethods]
impl Case {
    /// From a file or a shipped case by its name; or from the JSON text of a dictionary.
    #[new]
    fn new(py: Python<'_>, given: String, is_json: bool, overrides: Vec<(String, String)>) -> PyResult<Case> {
        detached(py, || {
            let file = match is_json {
                true => {
                    let value: serde_json::Value = serde_json::from_str(&given).into_diagnostic()?;
                    let text = toml::to_string(&value)
                        .map_err(|error| miette!(code = "L0707", "the dictionary is no case: {error}"))?;
                    CaseFile::written(PathBuf::from("case.toml").as_path(), &text)
                }
                false => CaseFile::find(PathBuf::from(given).as_path(), notes::note)?,
            };
            let Ready { raw, spec, case, placement, method, criteria, prescribed, statistics, .. } =
                Ready::new(&file, &overrides, false)?;
            let inputs = raw.inputs(&spec.files());
            let prepared = Prepared { raw, case, placement, method, criteria, prescribed, statistics, inputs };
            Ok(Case { prepared: Arc::new(prepared), text: file.text })
        })
    }

    /// Its text, as a case file has it, without overrides.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// What is known of it, as JSON.
    fn describe(&self) -> String {
        let Prepared { case, placement, .. } = &*self.prepared;
        let scales = &case.scales;
        let found = serde_json::json!({
            "name": case.name,
            "spec": case.spec,
            "device": placement.first().describe(),
            "precision": case.real.name(),
            "size": case.size[..case.dim],
            "steps": case.stop.steps,
            "directory": case.output.directory,
            "parameters": case.params.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "defaults": case.defaults,
            "scales": {
                "velocity": scales.velocity, "length": scales.length, "viscosity": scales.viscosity, "omega": scales.omega,
                "re": scales.re, "mach": scales.mach,
            },
            "units": {
                "si": case.units.si, "cell": case.units.cell, "step": case.units.step, "density": case.units.density,
            },
        });
        found.to_string()
    }

    /// The case at its start.
    fn start(&self, py: Python<'_>) -> PyResult<Simulation> {
        let prepared = self.prepared.clone();
        detached(py, || {
            let flow = flow::start(&prepared.case, prepared.kernels(), &prepared.placement)?;
            flow.notices().iter().for_each(|text| notes::note(text));
            Ok(Simulation::new(flow, prepared))
        })
    }

    /// Runs it to its end, or on from its restart file; what it asks for is written into a folder. About once a second `progress` is given the
    /// status as JSON, and says whether the run ends there. Returns the summary as JSON.
    fn run(
        &self,
        py: Python<'_>,
        folder: Option<PathBuf>,
        resume: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let prepared = &*self.prepared;
        // A folder that the case names lies below the one that this runs in.
        let written = if folder.is_none() { prepared.raw.writes_below() } else { Ok(()) };
        written.map_err(|error| raise(py, &Report::new(error)))?;
        let of_case = folder.is_none() && prepared.raw.names_its_folder();
        let folder = folder.unwrap_or_else(|| PathBuf::from(&prepared.case.output.directory));
        let place = if of_case { Place::OfCase(&folder) } else { Place::Named(&folder) };
        let (interrupted, raised) = (AtomicBool::new(false), Mutex::new(None));
        let result = detached(py, || {
            let report = |status: &Status| {
                let text = serde_json::to_string(status).expect("plain data has a text");
                let told = Python::attach(|py| {
                    let ends = progress.as_ref().map(|function| function.call1(py, (text,))?.extract::<bool>(py));
                    py.check_signals()?;
                    ends.unwrap_or(Ok(false))
                });
                let ends = told.unwrap_or_else(|error| {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    true
                });
                if ends {
                    interrupted.store(true, Ordering::Relaxed);
                }
            };
            let restart = resume.then(|| folder.join(RESTART));
            let control = Control {
                resume: restart.as_deref(),
                inputs: &prepared.inputs,
                interrupted: Some(&interrupted),
                show: Show::Each(&report),
                ..Control::default()
            };
            let (case, placement) = (&prepared.case, &prepared.placement);
            let summary = flow::run(case, prepared.kernels(), placement, place, control, notes::note);
            let summary = summary.map_err(Report::new)?;
            if summary.has_pictures()
                && let Err(error) = page::add(&folder)
            {
                notes::note(&format!("no page of the results: {error}"));
            }
            Ok(serde_json::to_string(&summary).expect("plain data has a text"))
        });
        match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => result,
        }
    }
}

/// The shipped cases: name, what each shows, and how long it takes.
#[pyfunction]
pub fn cases() -> Vec<(String, String, String)> {
    SHIPPED.iter().map(|case| (case.name.into(), case.summary().into(), case.time().into())).collect()
}

/// The JSON schema of case files.
#[pyfunction]
pub fn schema() -> String {
    json_schema().to_string()
}
