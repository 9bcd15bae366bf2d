//! Questions of an editor about a document, and their answers.
//!
//! In: what was found of its text. After: an answer is that of the protocol, which is null where nothing is known; an error says why
//! something cannot be done that somebody asked for.

mod case;
mod method;

use lsp_types::request::{self, Request as _};
use lsp_types::{
    CompletionOptions, DocumentFormattingParams, DocumentSymbolParams, HoverProviderCapability, InlayHintParams, OneOf,
    Position, Range, RenameOptions, RenameParams, ServerCapabilities, TextDocumentPositionParams, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::found::Found;
use super::place::{Encoding, Lines};

/// What an editor asks.
#[derive(Debug)]
pub enum Question {
    /// What is known of a name, or a key.
    Hover(Position),
    /// What may stand there.
    Completion(Position),
    /// Where a name is defined.
    Definition(Position),
    /// Which name would be renamed.
    Renameable(Position),
    /// A name becomes another.
    Rename(Position, String),
    /// What a text defines.
    Symbols,
    /// The text in the house style.
    Format,
    /// What is shown within a text.
    Hints(Range),
}

/// The answer, or why there is none.
pub type Answer = Result<Value, String>;

/// What an editor may ask.
pub fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", ":", "[", "\""].map(String::from).to_vec()),
            ..Default::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..Default::default()
    }
}

impl Question {
    /// The question of a request, and about which document; nothing where the server answers no such request, or it does not say all.
    pub fn read(method: &str, params: Value) -> Option<Option<(Uri, Question)>> {
        let at = |params: TextDocumentPositionParams| (params.text_document.uri, params.position);
        let place = |question: fn(Position) -> Question| {
            let (uri, position) = at(read(params.clone())?);
            Some((uri, question(position)))
        };
        Some(match method {
            request::HoverRequest::METHOD => place(Question::Hover),
            request::Completion::METHOD => place(Question::Completion),
            request::GotoDefinition::METHOD => place(Question::Definition),
            request::PrepareRenameRequest::METHOD => place(Question::Renameable),
            request::Rename::METHOD => read(params).map(|params: RenameParams| {
                let (uri, position) = at(params.text_document_position);
                (uri, Question::Rename(position, params.new_name))
            }),
            request::DocumentSymbolRequest::METHOD => {
                read(params).map(|params: DocumentSymbolParams| (params.text_document.uri, Question::Symbols))
            }
            request::Formatting::METHOD => {
                read(params).map(|params: DocumentFormattingParams| (params.text_document.uri, Question::Format))
            }
            request::InlayHintRequest::METHOD => {
                read(params).map(|params: InlayHintParams| (params.text_document.uri, Question::Hints(params.range)))
            }
            _ => return None,
        })
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

/// A document that a question is about.
pub struct Asked<'a> {
    pub uri: &'a Uri,
    /// The path of its file.
    pub name: &'a str,
    pub text: &'a str,
    pub found: &'a Found,
    pub encoding: Encoding,
}

impl Asked<'_> {
    /// The answer to a question.
    pub fn answer(&self, question: &Question) -> Answer {
        let lines = Lines::new(self.text, self.encoding);
        match self.found {
            Found::Method(reading) => method::Method { asked: self, lines, reading }.answer(question),
            Found::Case(_) => Ok(case::answer(self.text, &lines, question)),
            Found::Other | Found::Nothing(_) => Ok(Value::Null),
        }
    }
}

/// What is known, as JSON.
fn told<T: serde::Serialize>(known: Option<T>) -> Value {
    known.and_then(|known| serde_json::to_value(known).ok()).unwrap_or_default()
}
