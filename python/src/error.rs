//! Diagnostics as exceptions; notes and warnings as log records and warnings.

use std::cell::RefCell;
use std::ffi::CString;

use lbm_setup::notes::Remark;
use miette::{GraphicalReportHandler, GraphicalTheme, Report, Severity, SourceCode};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;

create_exception!(lbmc, Error, PyException, "What is wrong with a method, a case or a flow, where, and what to do.");
create_exception!(lbmc, Advice, PyUserWarning, "What is remarkable about a method or a case.");

/// A place in a text.
#[pyclass(frozen, get_all, module = "lbmc")]
pub struct Label {
    /// What is said of it.
    text: Option<String>,
    /// Name of the text: a file, or what stands for one.
    source: Option<String>,
    /// Line, from 1.
    line: usize,
    /// Column, from 1, in characters.
    column: usize,
    /// Bytes before it.
    offset: usize,
    /// Bytes of it.
    length: usize,
}

#[pymethods]
impl Label {
    fn __repr__(&self) -> String {
        let source = self.source.as_deref().unwrap_or("?");
        format!("Label({source}:{}:{}: {})", self.line, self.column, self.text.as_deref().unwrap_or_default())
    }
}

/// One thing that is wrong.
#[pyclass(frozen, get_all, module = "lbmc")]
pub struct Diagnostic {
    /// Code that `lbmc explain` explains, such as `E0204`.
    code: Option<String>,
    /// `error`, `warning` or `advice`.
    severity: String,
    /// What is wrong.
    message: String,
    /// What to do.
    help: Option<String>,
    /// Where.
    labels: Vec<Py<Label>>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        format!("Diagnostic({}: {})", self.code.as_deref().unwrap_or(&self.severity), self.message)
    }
}

/// What is wrong, one by one: a report about several things has them below it.
fn flatten(
    py: Python<'_>,
    diagnostic: &dyn miette::Diagnostic,
    outer: Option<&dyn SourceCode>,
    out: &mut Vec<Py<Diagnostic>>,
) -> PyResult<()> {
    let source = diagnostic.source_code().or(outer);
    let before = out.len();
    for related in diagnostic.related().into_iter().flatten() {
        flatten(py, related, source, out)?;
    }
    if out.len() > before {
        return Ok(());
    }
    let mut labels = vec![];
    for span in diagnostic.labels().into_iter().flatten() {
        let read = source.and_then(|source| source.read_span(span.inner(), 0, 0).ok());
        labels.push(Py::new(
            py,
            Label {
                text: span.label().map(str::to_string),
                source: read.as_ref().and_then(|read| read.name().map(str::to_string)),
                line: read.as_ref().map_or(1, |read| read.line() + 1),
                column: read.as_ref().map_or(1, |read| read.column() + 1),
                offset: span.offset(),
                length: span.len(),
            },
        )?);
    }
    let severity = match diagnostic.severity() {
        None | Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Advice) => "advice",
    };
    let found = Diagnostic {
        code: diagnostic.code().map(|code| code.to_string()),
        severity: severity.to_string(),
        message: diagnostic.to_string(),
        help: diagnostic.help().map(|help| help.to_string()),
        labels,
    };
    out.push(Py::new(py, found)?);
    Ok(())
}

/// A report as a terminal shows it, without colours.
fn rendered(report: &Report) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    let mut text = String::new();
    match handler.render_report(&mut text, report.as_ref()) {
        Ok(()) => text,
        Err(_) => report.to_string(),
    }
}

/// A report as an exception.
pub fn raise(py: Python<'_>, report: &Report) -> PyErr {
    let attributed = || -> PyResult<PyErr> {
        let mut diagnostics = vec![];
        flatten(py, report.as_ref(), None, &mut diagnostics)?;
        let error = Error::new_err(rendered(report));
        let value = error.value(py);
        if let Some(first) = diagnostics.first() {
            let first = first.get();
            value.setattr("code", &first.code)?;
            value.setattr("message", &first.message)?;
            value.setattr("help", &first.help)?;
            value.setattr("span", first.labels.first().map(|label| label.clone_ref(py)))?;
        }
        value.setattr("diagnostics", diagnostics)?;
        Ok(error)
    };
    attributed().unwrap_or_else(|error| error)
}

/// What was heard and not yet told: whether it is a warning, and what it says.
type Heard = Vec<(bool, String)>;

thread_local! {
    static HEARD: RefCell<Heard> = const { RefCell::new(vec![]) };
}

/// Hears of notes and warnings, which come while the interpreter may be busy elsewhere.
fn hear(remark: Remark<'_>) {
    let said = match remark {
        Remark::Note(text) => (false, text.to_string()),
        Remark::Warning(report) => (true, rendered(&report)),
    };
    HEARD.with_borrow_mut(|heard| heard.push(said));
}

/// Tells what was heard: warnings as such, notes to the logger `lbmc`.
fn tell(py: Python<'_>) -> PyResult<()> {
    for (is_warning, text) in HEARD.take() {
        if is_warning {
            let text = CString::new(text.replace('\0', " "))?;
            PyErr::warn(py, py.get_type::<Advice>().as_any(), &text, 2)?;
        } else {
            let logger = py.import("logging")?.call_method1("getLogger", ("lbmc",))?;
            logger.call_method1("info", ("%s", text))?;
        }
    }
    Ok(())
}

/// Does what takes long without the lock of the interpreter, and tells what was heard.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Report> + Send) -> PyResult<T> {
    lbm_setup::notes::listen(hear);
    let result = py.detach(work);
    tell(py)?;
    result.map_err(|report| raise(py, &report))
}
