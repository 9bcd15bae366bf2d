//! `lbmc lsp`: tells an editor what is wrong with methods and cases, and answers its questions about them, by the Language Server Protocol
//! 3.17 on standard input and output.
//!
//! In: what the editor says of its documents, each always as a whole. After: the diagnostics of every open document are those of its last
//! text. Documents are looked at when no further message waits, so that fast typing is not answered letter by letter: each by a thread of its
//! own, so that the next message is answered whatever a text takes. What takes longer than [`LIMIT`] is given up.

mod answers;
mod document;
mod found;
mod place;
mod transport;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, at, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as notice, Notification as _};
use lsp_types::{
    Diagnostic, InitializeParams, PositionEncodingKind, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
use miette::{Report, Result, miette};
use serde::de::DeserializeOwned;
use serde_json::Value;

use answers::Question;
use document::{Document, Done};
use place::Encoding;

/// How long a document may take. Its thread goes on beyond that, and nobody waits for it.
const LIMIT: Duration = Duration::from_secs(20);
/// Most threads at a time, those that nobody waits for among them.
const MOST_THREADS: usize = 4;
/// Stack of such a thread, in bytes: that of a program.
const STACK: usize = 8 << 20;

/// Runs the command, until the editor ends it.
pub fn lsp() -> Result<()> {
    let (connection, threads) = transport::stdio();
    serve(&connection)?;
    drop(connection);
    threads.join().map_err(failed)
}

fn failed(error: impl Display) -> Report {
    let help = "an editor starts `lbmc lsp` and speaks to it on standard input: docs/editors.md says how to set one up";
    miette!(code = "L0116", help = help, "what speaks to the language server does not keep to the protocol: {error}")
}

fn serve(connection: &Connection) -> Result<()> {
    let (id, params) = connection.initialize_start().map_err(failed)?;
    let params: InitializeParams = serde_json::from_value(params).map_err(failed)?;
    let encodings = params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
    let encoding = if encodings.contains(&PositionEncodingKind::UTF8) { Encoding::Utf8 } else { Encoding::Utf16 };
    let answer = serde_json::json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "lbmc", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(failed)?;
    let (sender, done) = unbounded();
    let mut server = Server { connection, encoding, documents: BTreeMap::new(), sender, threads: 0 };
    loop {
        let late = server.late().map_or_else(never, at);
        select! {
            recv(connection.receiver) -> message => match message {
                Ok(Message::Request(request)) => {
                    if connection.handle_shutdown(&request).map_err(failed)? {
                        return Ok(());
                    }
                    server.answer(request)?;
                }
                Ok(Message::Notification(notification)) => server.note(notification)?,
                Ok(Message::Response(_)) => {}
                Err(_) => return Ok(()),
            },
            recv(done) -> done => done.map_or(Ok(()), |done| server.take(done))?,
            recv(late) -> _ => server.give_up()?,
        }
        if connection.receiver.is_empty() {
            server.begin();
        }
    }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::Supported(true)),
        ..Default::default()
    };
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        ..answers::capabilities()
    }
}

struct Server<'a> {
    connection: &'a Connection,
    encoding: Encoding,
    /// Those that are open, by their addresses.
    documents: BTreeMap<String, Document>,
    /// Where threads say what they have found.
    sender: Sender<Done>,
    /// How many there are.
    threads: usize,
}

impl Server<'_> {
    fn send(&self, message: impl Into<Message>) -> Result<()> {
        self.connection.sender.send(message.into()).map_err(failed)
    }

    fn answer(&mut self, request: Request) -> Result<()> {
        let Request { id, method, params } = request;
        let refuse = |code: ErrorCode, what: String| Response::new_err(id.clone(), code as i32, what);
        let Some(asked) = Question::read(&method, params) else {
            return self.send(refuse(ErrorCode::MethodNotFound, format!("lbmc does not answer {method}")));
        };
        let Some((uri, question)) = asked else {
            return self.send(refuse(ErrorCode::InvalidParams, format!("{method} does not say about what")));
        };
        match self.documents.get_mut(uri.as_str()) {
            Some(document) => {
                document.ask(id, question);
                Ok(())
            }
            None => self.nothing(vec![id]),
        }
    }

    /// Answers questions that have no answer.
    fn nothing(&self, questions: Vec<RequestId>) -> Result<()> {
        questions.into_iter().try_for_each(|id| self.send(Response::new_ok(id, Value::Null)))
    }

    /// Takes note of what happens to a document; what is malformed, or about something else, changes nothing.
    fn note(&mut self, notification: Notification) -> Result<()> {
        let Notification { method, params } = notification;
        match &method[..] {
            notice::DidOpenTextDocument::METHOD => {
                if let Some(lsp_types::DidOpenTextDocumentParams { text_document: it }) = read(params) {
                    self.documents.insert(it.uri.to_string(), Document::new(it.uri, it.text));
                }
            }
            notice::DidChangeTextDocument::METHOD => {
                let params: Option<lsp_types::DidChangeTextDocumentParams> = read(params);
                let change = params.and_then(|mut it| Some((it.text_document.uri, it.content_changes.pop()?)));
                let Some((uri, change)) = change.filter(|(_, change)| change.range.is_none()) else { return Ok(()) };
                let document = self.documents.get_mut(uri.as_str());
                let questions = document.map(|document| document.change(change.text)).unwrap_or_default();
                return self.nothing(questions);
            }
            // Others may use it.
            notice::DidSaveTextDocument::METHOD => {
                let questions = self.documents.values_mut().flat_map(Document::saved).collect();
                return self.nothing(questions);
            }
            notice::DidCloseTextDocument::METHOD => {
                let params: Option<lsp_types::DidCloseTextDocumentParams> = read(params);
                if let Some(mut closed) = params.and_then(|it| self.documents.remove(it.text_document.uri.as_str())) {
                    self.nothing(closed.saved())?;
                    return self.publish(closed.uri(), vec![]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn publish(&self, uri: &Uri, diagnostics: Vec<Diagnostic>) -> Result<()> {
        let params = PublishDiagnosticsParams::new(uri.clone(), diagnostics, None);
        self.send(Notification::new(notice::PublishDiagnostics::METHOD.into(), params))
    }

    /// Begins what has to be done, as far as there are threads for it.
    fn begin(&mut self) {
        for document in self.documents.values_mut() {
            if self.threads == MOST_THREADS {
                return;
            }
            let Some(task) = document.task() else { continue };
            let (sender, encoding) = (self.sender.clone(), self.encoding);
            let work = move || drop(sender.send(task.done(encoding)));
            let thread = std::thread::Builder::new().name("look".into()).stack_size(STACK).spawn(work);
            // Without a thread it is given up when its time has passed.
            self.threads += usize::from(thread.is_ok());
        }
    }

    /// Takes what a thread has found, and tells it.
    fn take(&mut self, done: Done) -> Result<()> {
        self.threads -= 1;
        let Some(document) = self.documents.get_mut(done.uri().as_str()) else { return Ok(()) };
        let uri = done.uri().clone();
        let (told, answer) = document.take(done, self.encoding);
        if let Some(told) = told {
            self.publish(&uri, told)?;
        }
        answer.map_or(Ok(()), |(id, answer)| {
            self.send(match answer {
                Ok(known) => Response::new_ok(id, known),
                Err(why) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
            })
        })
    }

    /// When the next document has taken too long.
    fn late(&self) -> Option<Instant> {
        self.documents.values().filter_map(Document::since).min().map(|since| since + LIMIT)
    }

    /// Gives up documents that have taken too long.
    fn give_up(&mut self) -> Result<()> {
        let late = |document: &Document| document.since().is_some_and(|since| since.elapsed() >= LIMIT);
        let mut given_up = vec![];
        for document in self.documents.values_mut().filter(|document| late(document)) {
            given_up.push((document.uri().clone(), document.give_up(LIMIT.as_secs(), self.encoding)));
        }
        given_up.into_iter().try_for_each(|(uri, (told, questions))| {
            self.nothing(questions)?;
            self.publish(&uri, told)
        })
    }
}

/// What a message says, if it is of that kind.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
