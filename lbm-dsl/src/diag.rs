//! What is wrong with a text, where, and what to do about it.
//!
//! A stage collects [`Diagnostic`]s in a [`Report`] and hands it back at its end, so that one run shows all of a stage's
//! errors. Rendering is miette's: file, line, caret and hint.

mod codes;
mod long;
pub(crate) mod suggest;

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};

pub use codes::Code;
pub use long::Long;

use crate::source::{Source, Span};

/// Most diagnostics that a report holds; the rest are counted. Nobody reads more, and a text of nothing but errors stays
/// quick to answer.
const MOST: usize = 100;

/// Longest label or hint, in characters: a name of a million letters is not repeated whole.
const LONGEST: usize = 1000;

/// A label or hint, shortened if nobody would read it.
fn clipped(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// One thing that is wrong at one place.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: Code,
    source: Source,
    span: Span,
    label: String,
    also: Vec<(Span, String)>,
    hint: Option<String>,
}

impl Diagnostic {
    /// `code` at `span` of `source`; `label` says at the caret what is wrong with just this place.
    pub fn new(code: Code, source: &Source, span: Span, label: impl Into<String>) -> Self {
        Self { code, source: source.clone(), span, label: clipped(label.into()), also: Vec::new(), hint: None }
    }

    /// Adds another place of the same source.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.also.push((span, clipped(label.into())));
        self
    }

    /// Replaces the hint of the code's row.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(clipped(hint.into()));
        self
    }

    /// What is wrong.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Text it speaks about.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Place in that text.
    pub fn span(&self) -> Span {
        self.span
    }

    /// What is wrong with just this place.
    pub fn label(&self) -> &str {
        &self.label
    }

    fn same_place(&self, other: &Diagnostic) -> bool {
        self.code == other.code && self.span == other.span && self.source.name() == other.source.name()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.code.message())
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.code.code()))
    }

    fn severity(&self) -> Option<Severity> {
        Some(if self.code.is_warning() { Severity::Warning } else { Severity::Error })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let hint = self.hint.as_deref().unwrap_or(self.code.hint());
        (!hint.is_empty()).then(|| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = |span: Span| (span.start, span.end - span.start);
        let main = LabeledSpan::new_primary_with_span(Some(self.label.clone()), place(self.span));
        let also =
            self.also.iter().map(move |(span, label)| LabeledSpan::new_with_span(Some(label.clone()), place(*span)));
        Some(Box::new(std::iter::once(main).chain(also)))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }
}

/// All that a stage found wrong.
#[derive(Clone, Debug, Default)]
pub struct Report {
    diagnostics: Vec<Diagnostic>,
    more: usize,
}

impl Report {
    /// An empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a diagnostic, unless the same place has the same one already. A full report only counts it.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() == MOST {
            self.more += 1;
        } else if !self.diagnostics.iter().any(|old| old.same_place(&diagnostic)) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The diagnostics in the order found.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Adds everything another stage found.
    pub fn merge(&mut self, other: Report) {
        other.diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
        self.more += other.more;
    }

    /// Ends a stage: `Err` with everything found, if anything was, in the order of the text.
    pub fn propagate(&mut self) -> Result<(), Report> {
        if self.is_empty() {
            return Ok(());
        }
        let mut files: Vec<String> = Vec::new();
        for diagnostic in &self.diagnostics {
            let name = diagnostic.source.name();
            if !files.iter().any(|file| file == name) {
                files.push(name.into());
            }
        }
        let file = |diagnostic: &Diagnostic| files.iter().position(|file| file == diagnostic.source.name());
        self.diagnostics.sort_by_key(|diagnostic| (file(diagnostic), diagnostic.span));
        Err(std::mem::take(self))
    }

    /// The report as text, without colours, at most `width` characters wide.
    pub fn render(&self, width: usize) -> String {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(width);
        let mut text = String::new();
        for (at, diagnostic) in self.diagnostics.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            if handler.render_report(&mut text, diagnostic).is_err() {
                text.push_str(&format!("{}: {}\n", diagnostic.code.code(), diagnostic.code.message()));
            }
        }
        if self.more > 0 {
            text.push_str(&format!("\nand {} more\n", self.more));
        }
        text
    }
}

impl From<Diagnostic> for Report {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], more: 0 }
    }
}

impl From<&[Diagnostic]> for Report {
    fn from(diagnostics: &[Diagnostic]) -> Self {
        let mut report = Report::new();
        diagnostics.iter().for_each(|diagnostic| report.push(diagnostic.clone()));
        report
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.diagnostics.first().map_or("", |first| first.source.name());
        match self.diagnostics.len() + self.more {
            1 => write!(out, "{file} has an error"),
            count => write!(out, "{file} has {count} errors"),
        }
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let first = self.diagnostics.first()?;
        let more = if self.more > 0 { format!("{} more are not shown; ", self.more) } else { String::new() };
        Some(Box::new(format!("{more}`lbmc explain {}` says more about a code", first.code.code())))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        Some(Box::new(self.diagnostics.iter().map(|diagnostic| diagnostic as &dyn miette::Diagnostic)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendering_shows_file_line_caret_and_hint() {
        let source = Source::new("a.lbm", "let x = 1;\nlet y = 2x;\n");
        let report = Report::from(Diagnostic::new(Code::NumberSuffix, &source, Span::new(19, 21), "`2x`"));
        let text = report.render(100);
        for part in ["E0003", "a.lbm:2:9", "let y = 2x;", "`2x`", "help:"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_place_is_reported_once() {
        let source = Source::new("a.lbm", "x");
        let mut report = Report::new();
        for label in ["one", "two"] {
            report.push(Diagnostic::new(Code::Undefined, &source, Span::new(0, 1), label));
        }
        assert_eq!(report.diagnostics().len(), 1);
        assert!(report.propagate().is_err());
    }

    #[test]
    fn a_full_report_counts_the_rest() {
        let source = Source::new("a.lbm", &"x".repeat(MOST + 7));
        let mut report = Report::new();
        (0..MOST + 7).for_each(|at| report.push(Diagnostic::new(Code::Undefined, &source, Span::new(at, at + 1), "x")));
        assert_eq!(report.diagnostics().len(), MOST);
        assert!(report.render(80).ends_with("and 7 more\n"));
        assert_eq!(report.to_string(), format!("a.lbm has {} errors", MOST + 7));
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let source = Source::new("a.lbm", &format!("{}é = 1", "ρ ".repeat(100_000)));
        let text = Report::from(Diagnostic::new(Code::IllegalCharacter, &source, Span::new(300_000, 300_002), "`é`"));
        let text = text.render(100);
        assert!(text.contains("a.lbm:1:200001") && text.contains("é = 1") && text.len() < 2000, "{text}");
    }
}
