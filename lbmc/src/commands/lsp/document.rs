//! A document of an editor: a method, a case, or neither.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lbm_bundle::plain::shown_line;
use lsp_server::RequestId;
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri};
use miette::{Severity, SourceSpan, miette};
use serde_json::Value;

use super::answers::{Answer, Asked, Question};
use super::found::{Found, look};
use super::place::{Encoding, Lines};

/// An open document.
pub struct Document {
    uri: Uri,
    text: Arc<str>,
    /// Whether the text is that of the file: then all is checked that a run checks, else what the text alone says.
    saved: bool,
    /// Changes with its text, and when it is saved; no two documents have the same.
    version: u64,
    state: State,
    /// Questions that wait for an answer.
    asked: VecDeque<(RequestId, Question)>,
}

/// How far a document was looked at.
enum State {
    /// It has to be, from that time on.
    New(Instant),
    /// A thread looks at it, or answers a question about it, since that time.
    Busy(Instant, Option<RequestId>),
    /// That is what was found.
    Known(Box<Found>),
}

/// What a thread does with a document, to be done elsewhere: it may take long.
pub struct Task {
    uri: Uri,
    version: u64,
    name: String,
    text: Arc<str>,
    saved: bool,
    about: Option<(RequestId, Question, Box<Found>)>,
}

/// What came of a task.
pub struct Done {
    uri: Uri,
    version: u64,
    found: Box<Found>,
    /// Whether its diagnostics were not told before.
    is_news: bool,
    /// The answer, where it was a question.
    answer: Option<(RequestId, Answer)>,
}

impl Done {
    /// The address of its document.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }
}

impl Task {
    /// Does it.
    pub fn done(self, encoding: Encoding) -> Done {
        let Task { uri, version, name, text, saved, about } = self;
        let work = AssertUnwindSafe(|| match about {
            None => (Box::new(look(&name, &text, saved)), true, None),
            Some((id, question, found)) => {
                let asked = Asked { uri: &uri, name: &name, text: &text, found: &found, encoding };
                let answer = asked.answer(&question);
                (found, false, Some((id, answer)))
            }
        });
        let (found, is_news, answer) = std::panic::catch_unwind(work).unwrap_or_else(|_| {
            let help = "this is a fault of lbmc: please report it, with the text";
            let fault = miette!(code = "L0120", help = help, "lbmc failed on this text");
            (Box::new(Found::Nothing(fault)), true, None)
        });
        Done { uri, version, found, is_news, answer }
    }
}

impl Document {
    /// A document that was opened.
    pub fn new(uri: Uri, text: String) -> Document {
        let state = State::New(Instant::now());
        Document { uri, text: text.into(), saved: true, version: version(), state, asked: VecDeque::new() }
    }

    /// Its address.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// It has another text now. These questions have no answer any more.
    pub fn change(&mut self, text: String) -> Vec<RequestId> {
        (self.text, self.saved) = (text.into(), false);
        self.forget()
    }

    /// It was saved, or another that it may use. These questions have no answer any more.
    pub fn saved(&mut self) -> Vec<RequestId> {
        self.saved = true;
        self.forget()
    }

    fn forget(&mut self) -> Vec<RequestId> {
        self.version = version();
        let busy = std::mem::replace(&mut self.state, State::New(Instant::now()));
        let answering = if let State::Busy(_, id) = busy { id } else { None };
        answering.into_iter().chain(self.asked.drain(..).map(|(id, _)| id)).collect()
    }

    /// Somebody asks something about it.
    pub fn ask(&mut self, id: RequestId, question: Question) {
        self.asked.push_back((id, question));
    }

    /// What has to be done with it next, if anything.
    pub fn task(&mut self) -> Option<Task> {
        let (since, about) = match &self.state {
            State::New(since) => (*since, None),
            State::Known(_) if !self.asked.is_empty() => (Instant::now(), self.asked.pop_front()),
            State::Known(_) | State::Busy(..) => return None,
        };
        let busy = State::Busy(since, about.as_ref().map(|(id, _)| id.clone()));
        let known = std::mem::replace(&mut self.state, busy);
        let about = match (known, about) {
            (State::Known(found), Some((id, question))) => Some((id, question, found)),
            _ => None,
        };
        let (text, name) = (self.text.clone(), self.name());
        Some(Task { uri: self.uri.clone(), version: self.version, name, text, saved: self.saved, about })
    }

    /// Since when it waits for a thread.
    pub fn since(&self) -> Option<Instant> {
        match self.state {
            State::New(since) | State::Busy(since, _) => Some(since),
            State::Known(_) => None,
        }
    }

    /// Takes what came of a task, unless its text has changed since then: diagnostics if they are news, and an answer.
    #[allow(clippy::type_complexity)]
    pub fn take(&mut self, done: Done, encoding: Encoding) -> (Option<Vec<Diagnostic>>, Option<(RequestId, Answer)>) {
        let (State::Busy(_, asked), true) = (&mut self.state, done.version == self.version) else {
            return (None, None);
        };
        // A question on which lbmc failed has an answer, too.
        let answer = done.answer.or(asked.take().map(|id| (id, Ok(Value::Null))));
        let told = done.is_news.then(|| self.told(&done.found, encoding));
        self.state = State::Known(done.found);
        (told, answer)
    }

    /// No thread has done its task in time: diagnostics that say so, and the questions that have no answer.
    pub fn give_up(&mut self, seconds: u64, encoding: Encoding) -> (Vec<Diagnostic>, Vec<RequestId>) {
        let help = "`lbmc check` of a method, or `lbmc run --dry-run` of a case, takes the time that it needs";
        let late = miette!(
            severity = Severity::Advice,
            code = "L0116",
            help = help,
            "this was not checked: it takes more than {seconds} s"
        );
        let questions = self.forget();
        let found = Found::Nothing(late);
        let told = self.told(&found, encoding);
        self.state = State::Known(Box::new(found));
        (told, questions)
    }

    fn told(&self, found: &Found, encoding: Encoding) -> Vec<Diagnostic> {
        let (name, lines) = (self.name(), Lines::new(&self.text, encoding));
        let own = Own { name: &name, uri: &self.uri, lines: &lines };
        let mut told = vec![];
        match found {
            Found::Method(reading) => {
                reading.diagnostics().iter().for_each(|diagnostic| own.tell(diagnostic, &mut told))
            }
            Found::Case(reports) => reports.iter().for_each(|report| own.tell(&**report, &mut told)),
            Found::Nothing(report) => own.tell(&**report, &mut told),
            Found::Other => {}
        }
        told
    }

    /// The path of its file; of a document that has none yet its address.
    fn name(&self) -> String {
        let file = self.uri.scheme().is_some_and(|scheme| scheme.eq_lowercase("file"));
        let path = self.uri.path().as_estr();
        let path = if file { path.decode().into_string().ok() } else { None };
        path.map_or(self.uri.to_string(), |path| path.into_owned())
    }
}

/// A version that there was not before.
fn version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
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
