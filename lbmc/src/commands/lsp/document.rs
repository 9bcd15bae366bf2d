//! A document of an editor: a method, a case, or neither.

use std::path::Path;

use lbm_bundle::input::Limit;
use lbm_bundle::plain::shown_line;
use lbm_dsl::reading::Reading;
use lbm_flows::case::{RawCase, key_at};
use lbm_runtime::processes::Processes;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Hover, HoverContents, Location, MarkupContent,
    MarkupKind, NumberOrString, Position, Uri,
};
use miette::{Report, Severity, SourceSpan, miette};

use super::place::{Encoding, Lines};
use crate::cases::CaseFile;
use crate::ready::Ready;
use crate::spec::Spec;

/// An open document.
pub struct Document {
    uri: Uri,
    text: String,
    /// Whether the text is that of the file: then all is checked that a run checks, else what the text alone says.
    saved: bool,
    /// What it is, once it was looked at.
    found: Option<Found>,
}

/// What a text is, and what is wrong with it.
enum Found {
    Method(Box<Reading>),
    Case(Vec<Report>),
    Other,
}

impl Document {
    /// A document that was opened.
    pub fn new(uri: Uri, text: String) -> Document {
        Document { uri, text, saved: true, found: None }
    }

    /// Its address.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// It has another text now.
    pub fn change(&mut self, text: String) {
        (self.text, self.saved, self.found) = (text, false, None);
    }

    /// It was saved, or another that it may use.
    pub fn saved(&mut self) {
        (self.saved, self.found) = (true, None);
    }

    /// Its diagnostics, unless they were told.
    pub fn news(&mut self, encoding: Encoding) -> Option<Vec<Diagnostic>> {
        if self.found.is_some() {
            return None;
        }
        let (name, lines) = (self.name(), Lines::new(&self.text, encoding));
        let own = Own { name: &name, uri: &self.uri, lines: &lines };
        let mut told = vec![];
        match self.found.insert(look(&name, &self.text, self.saved)) {
            Found::Method(reading) => {
                reading.diagnostics().iter().for_each(|diagnostic| own.tell(diagnostic, &mut told))
            }
            Found::Case(reports) => reports.iter().for_each(|report| own.tell(&**report, &mut told)),
            Found::Other => {}
        }
        Some(told)
    }

    /// What is known of what stands at a place.
    pub fn hover(&self, at: Position, encoding: Encoding) -> Option<Hover> {
        let lines = Lines::new(&self.text, encoding);
        let byte = lines.byte(at)?;
        let (range, text) = match self.found.as_ref()? {
            Found::Method(reading) => {
                let about = reading.about(byte)?;
                (
                    about.span.start..about.span.end,
                    format!("```lbm\n{}\n```\n\n{}", about.form, about.says.join("  \n")),
                )
            }
            Found::Case(_) => {
                let key = key_at(&self.text, byte)?;
                (key.range, format!("`{}`: {}", key.path, key.doc))
            }
            Found::Other => return None,
        };
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
        Some(Hover { contents, range: Some(lines.range(range)) })
    }

    /// The path of its file; of a document that has none yet its address.
    fn name(&self) -> String {
        let file = self.uri.scheme().is_some_and(|scheme| scheme.eq_lowercase("file"));
        let path = self.uri.path().as_estr();
        let path = if file { path.decode().into_string().ok() } else { None };
        path.map_or(self.uri.to_string(), |path| path.into_owned())
    }
}

/// What a text is that comes from the file `name`.
fn look(name: &str, text: &str, saved: bool) -> Found {
    let (method, case) = (name.ends_with(".lbm"), name.ends_with(".toml") && names_a_method(text));
    let limit = if method { Limit::SPEC } else { Limit::CASE };
    if (method || case) && text.len() as u64 > limit.bytes {
        let help = "a run refuses it, too: check that this is the file that was meant";
        return Found::Case(vec![miette!(help = help, "{} may have {} bytes", limit.what, limit.bytes)]);
    }
    if method {
        return Found::Method(Box::new(Spec::written(Path::new(name), text).reading()));
    }
    if !case {
        return Found::Other;
    }
    Found::Case(match saved {
        true => match Ready::of(&Processes::default(), &CaseFile::written(Path::new(name), text), &[], true) {
            Ok((_, warnings)) => warnings.into_iter().map(Report::new).collect(),
            Err(report) => vec![report],
        },
        false => match RawCase::parse(name, text, &[]) {
            Ok(_) => vec![],
            Err(error) => vec![error.into()],
        },
    })
}

/// Whether TOML is a case, and not what other programs have in such files.
fn names_a_method(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("spec").is_some_and(|rest| rest.trim_start().starts_with('=')))
}

/// The document that diagnostics are told for.
struct Own<'a> {
    name: &'a str,
    uri: &'a Uri,
    lines: &'a Lines,
}

impl Own<'_> {
    /// Tells a diagnostic, or those that it has come from.
    fn tell(&self, found: &dyn miette::Diagnostic, told: &mut Vec<Diagnostic>) {
        let mut parts = found.related().into_iter().flatten().peekable();
        if parts.peek().is_some() {
            parts.for_each(|part| self.tell(part, told));
            return;
        }
        let labels: Vec<_> = found.labels().into_iter().flatten().collect();
        let whose = labels.first().and_then(|label| file(found, label.inner()));
        let here = whose.as_deref().is_none_or(|name| name == shown_line(self.name));
        let range = |span: &SourceSpan| self.lines.range(span.offset()..span.offset() + span.len());
        let place = labels.first().filter(|_| here).map(|label| range(label.inner())).unwrap_or_default();
        let more = labels.iter().skip(1).filter(|_| here).map(|label| DiagnosticRelatedInformation {
            location: Location::new(self.uri.clone(), range(label.inner())),
            message: label.label().unwrap_or("here, too").to_string(),
        });
        let more: Vec<_> = more.collect();
        let mut message = found.to_string();
        if let Some(name) = whose.filter(|_| !here) {
            message = format!("in {name}: {message}");
        }
        let label = labels.first().and_then(|label| label.label()).filter(|label| !label.is_empty());
        label.into_iter().for_each(|label| message.push_str(&format!(": {label}")));
        found.help().into_iter().for_each(|help| message.push_str(&format!("\nhelp: {help}")));
        told.push(Diagnostic {
            range: place,
            severity: Some(match found.severity() {
                None | Some(Severity::Error) => DiagnosticSeverity::ERROR,
                Some(Severity::Warning) => DiagnosticSeverity::WARNING,
                Some(Severity::Advice) => DiagnosticSeverity::HINT,
            }),
            code: found.code().map(|code| NumberOrString::String(code.to_string())),
            source: Some("lbmc".into()),
            message,
            related_information: (!more.is_empty()).then_some(more),
            ..Default::default()
        });
    }
}

/// The name of the text that a diagnostic is about.
fn file(found: &dyn miette::Diagnostic, span: &SourceSpan) -> Option<String> {
    found.source_code()?.read_span(span, 0, 0).ok()?.name().map(String::from)
}
