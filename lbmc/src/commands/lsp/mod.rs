//! `lbmc lsp`: tells an editor what is wrong with methods and cases, and what is known of the names in them, by the Language Server
//! Protocol 3.17 on standard input and output.
//!
//! In: what the editor says of its documents, each always as a whole. After: the diagnostics of every open document are those of its last
//! text. Documents are looked at when no further message waits, so that fast typing is not answered letter by letter.

mod document;
mod place;
mod transport;

use std::collections::BTreeMap;
use std::fmt::Display;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{self as notice, Notification as _};
use lsp_types::request::{HoverRequest, Request as _};
use lsp_types::{
    HoverParams, HoverProviderCapability, InitializeParams, PositionEncodingKind, PublishDiagnosticsParams,
    ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};
use miette::{Report, Result, miette};
use serde::de::DeserializeOwned;
use serde_json::Value;

use document::Document;
use place::Encoding;

/// Runs the command, until the editor ends it.
pub fn lsp() -> Result<()> {
    let (connection, threads) = transport::stdio();
    serve(&connection)?;
    drop(connection);
    threads.join().map_err(failed)
}

fn failed(error: impl Display) -> Report {
    let help = "an editor starts `lbmc lsp` and speaks to it on standard input: docs/editors.md says how to set one up";
    miette!(
        code = "lbmc::lsp",
        help = help,
        "what speaks to the language server does not keep to the protocol: {error}"
    )
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
    let mut server = Server { connection, encoding, documents: BTreeMap::new() };
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(failed)? {
                    return Ok(());
                }
                server.answer(request)?;
            }
            Message::Notification(notification) => server.note(notification)?,
            Message::Response(_) => {}
        }
        if connection.receiver.is_empty() {
            server.publish()?;
        }
    }
    Ok(())
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
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..Default::default()
    }
}

struct Server<'a> {
    connection: &'a Connection,
    encoding: Encoding,
    /// Those that are open, by their addresses.
    documents: BTreeMap<String, Document>,
}

impl Server<'_> {
    fn send(&self, message: impl Into<Message>) -> Result<()> {
        self.connection.sender.send(message.into()).map_err(failed)
    }

    fn answer(&mut self, request: Request) -> Result<()> {
        if request.method != HoverRequest::METHOD {
            let what = format!("lbmc does not answer {}", request.method);
            return self.send(Response::new_err(request.id, ErrorCode::MethodNotFound as i32, what));
        }
        let Some(params) = read::<HoverParams>(request.params) else {
            let what = "this is no place in a document".to_string();
            return self.send(Response::new_err(request.id, ErrorCode::InvalidParams as i32, what));
        };
        let at = params.text_document_position_params;
        let document = self.documents.get_mut(at.text_document.uri.as_str());
        let hover = document.and_then(|document| document.hover(at.position, self.encoding));
        self.send(Response::new_ok(request.id, hover))
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
                if let Some(document) = self.documents.get_mut(uri.as_str()) {
                    document.change(change.text);
                }
            }
            // Others may use it.
            notice::DidSaveTextDocument::METHOD => self.documents.values_mut().for_each(Document::saved),
            notice::DidCloseTextDocument::METHOD => {
                let params: Option<lsp_types::DidCloseTextDocumentParams> = read(params);
                if let Some(closed) = params.and_then(|it| self.documents.remove(it.text_document.uri.as_str())) {
                    let params = PublishDiagnosticsParams::new(closed.uri().clone(), vec![], None);
                    return self.send(Notification::new(notice::PublishDiagnostics::METHOD.into(), params));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends the diagnostics of documents that were looked at or must be.
    fn publish(&mut self) -> Result<()> {
        let mut found = vec![];
        for document in self.documents.values_mut() {
            if let Some(diagnostics) = document.news(self.encoding) {
                found.push(PublishDiagnosticsParams::new(document.uri().clone(), diagnostics, None));
            }
        }
        let notifications =
            found.into_iter().map(|params| Notification::new(notice::PublishDiagnostics::METHOD.into(), params));
        notifications.into_iter().try_for_each(|notification| self.send(notification))
    }
}

/// What a message says, if it is of that kind.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
