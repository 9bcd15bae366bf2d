//! Answers about a method, or a module.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lbm_codegen::count::count;
use lbm_dsl::format::format as formatted;
use lbm_dsl::reading::{Kind, Proposal, Reading, Symbol};
use lbm_dsl::shipped;
use lbm_dsl::source::{Source, Span};
use lbm_runtime::device::cache::Cache;
use lbm_setup::files;
use lbm_setup::spec::Spec;
use lsp_types::{
    CompletionItem, CompletionItemKind, DocumentSymbol, Documentation, Hover, HoverContents, InlayHint, InlayHintLabel,
    InlayHintTooltip, Location, MarkupContent, MarkupKind, Position, Range, SymbolKind, TextEdit, Uri, WorkspaceEdit,
};

use super::{Answer, Asked, Question, told};
use crate::commands::lsp::place::Lines;

/// A document that is a method.
pub struct Method<'a> {
    pub asked: &'a Asked<'a>,
    pub lines: Lines,
    pub reading: &'a Reading,
}

impl Method<'_> {
    /// The answer to a question.
    pub fn answer(&self, question: &Question) -> Answer {
        let byte = |at: &Position| self.lines.byte(*at);
        let refused = || "no name stands here".to_string();
        Ok(match question {
            Question::Hover(at) => told(byte(at).and_then(|byte| self.hover(byte))),
            Question::Completion(at) => told(byte(at).map(|byte| self.proposals(byte))),
            Question::Definition(at) => told(byte(at).and_then(|byte| self.definition(byte))),
            Question::Renameable(at) => {
                let span = self.reading.renameable(byte(at).ok_or_else(refused)?)?;
                told(Some(self.range(span)))
            }
            Question::Rename(at, name) => told(Some(self.rename(byte(at).ok_or_else(refused)?, name)?)),
            Question::Symbols => told(Some(self.symbols(&self.reading.symbols()))),
            Question::Format => told(self.format()),
            Question::Hints(range) => told(Some(self.hints(range))),
        })
    }

    fn range(&self, span: Span) -> Range {
        self.lines.range(span.start..span.end)
    }

    fn hover(&self, byte: usize) -> Option<Hover> {
        let about = self.reading.about(byte)?;
        let value = format!("```lbm\n{}\n```\n\n{}", about.form, about.says.join("  \n"));
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(self.range(about.span)) })
    }

    fn proposals(&self, byte: usize) -> Vec<CompletionItem> {
        let spec = Spec::written(Path::new(self.asked.name), self.asked.text);
        let one = |Proposal { name, kind, form, says }: Proposal| CompletionItem {
            label: name,
            kind: Some(item_kind(kind)),
            detail: (!form.is_empty()).then_some(form),
            documentation: (!says.is_empty()).then(|| {
                Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: says.join("  \n") })
            }),
            ..Default::default()
        };
        spec.proposals(self.reading, byte).into_iter().map(one).collect()
    }

    fn definition(&self, byte: usize) -> Option<Location> {
        let (source, span) = self.reading.definition(byte)?;
        if source == self.reading.source() {
            return Some(Location::new(self.asked.uri.clone(), self.range(span)));
        }
        let is_shipped = |name: &str| source.name() == format!("prelude/{name}.lbm");
        let is_shipped = shipped::modules().any(|(name, text)| text == source.text() && is_shipped(name));
        let path = if is_shipped { shipped_file(source)? } else { PathBuf::from(source.name()) };
        let lines = Lines::new(source.text(), self.asked.encoding);
        Some(Location::new(address(&path)?, lines.range(span.start..span.end)))
    }

    // The protocol's own type; the address is a key that does not change.
    #[allow(clippy::mutable_key_type)]
    fn rename(&self, byte: usize, name: &str) -> Result<WorkspaceEdit, String> {
        let spans = self.reading.rename(byte, name)?;
        let edits = spans.into_iter().map(|span| TextEdit::new(self.range(span), name.into())).collect();
        Ok(WorkspaceEdit::new(HashMap::from([(self.asked.uri.clone(), edits)])))
    }

    // A field of the protocol's type is deprecated, and has to be set.
    #[allow(deprecated)]
    fn symbols(&self, symbols: &[Symbol]) -> Vec<DocumentSymbol> {
        let one = |symbol: &Symbol| DocumentSymbol {
            name: symbol.name.clone(),
            detail: Some(symbol.form.clone()),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: self.range(symbol.span),
            selection_range: self.range(symbol.at),
            children: (!symbol.inside.is_empty()).then(|| self.symbols(&symbol.inside)),
        };
        symbols.iter().map(one).collect()
    }

    /// The text in the house style as one change; nothing where it has syntax errors, which diagnostics tell.
    fn format(&self) -> Option<Vec<TextEdit>> {
        let text = self.asked.text;
        let formatted = formatted(self.reading.source()).ok()?;
        let whole = self.lines.range(0..text.len());
        Some(if formatted == text { vec![] } else { vec![TextEdit::new(whole, formatted)] })
    }

    /// What rates set, and the operations of a collision.
    fn hints(&self, range: &Range) -> Vec<InlayHint> {
        let collision = self.reading.collision().zip(self.reading.model()).map(|(span, model)| {
            let flops = count(model.exprs(), &model.collide().outputs).flops;
            (
                span.end,
                format!("{flops} operations"),
                Some("as written, what is common counted once; kernels have fewer: `lbmc gen --report`"),
            )
        });
        let rates = self.reading.rates().into_iter().map(|(at, what)| (at, what, None));
        let one = |(at, what, more): (usize, String, Option<&str>)| InlayHint {
            position: self.lines.position(at),
            label: InlayHintLabel::String(what),
            kind: None,
            text_edits: None,
            tooltip: more.map(|more| InlayHintTooltip::String(more.into())),
            padding_left: Some(true),
            padding_right: Some(true),
            data: None,
        };
        let hints = rates.chain(collision).map(one);
        hints.filter(|hint| range.start <= hint.position && hint.position <= range.end).collect()
    }
}

/// A file with the text of a shipped module, which is part of the program, for the editor to show.
fn shipped_file(source: &Source) -> Option<PathBuf> {
    let folder = Cache::find().path("prelude")?;
    let path = folder.join(source.file());
    files::create_folder(&folder).and_then(|()| files::write(&path, source.text())).ok()?;
    Some(path)
}

/// The address of a file.
fn address(path: &Path) -> Option<Uri> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let letter = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path: String = path.to_str()?.bytes().map(letter).collect();
    format!("file://{path}").parse().ok()
}

fn item_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Keyword | Kind::Block => CompletionItemKind::KEYWORD,
        Kind::Module => CompletionItemKind::MODULE,
        Kind::Lattice => CompletionItemKind::STRUCT,
        Kind::Populations | Kind::State | Kind::Observable => CompletionItemKind::FIELD,
        Kind::Parameter => CompletionItemKind::CONSTANT,
        Kind::Value | Kind::Index => CompletionItemKind::VARIABLE,
        Kind::Function => CompletionItemKind::FUNCTION,
        Kind::Rule => CompletionItemKind::CLASS,
    }
}

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Keyword | Kind::Module => SymbolKind::MODULE,
        Kind::Block | Kind::Function => SymbolKind::FUNCTION,
        Kind::Lattice => SymbolKind::STRUCT,
        Kind::Populations | Kind::State | Kind::Observable => SymbolKind::FIELD,
        Kind::Parameter => SymbolKind::CONSTANT,
        Kind::Value | Kind::Index => SymbolKind::VARIABLE,
        Kind::Rule => SymbolKind::CLASS,
    }
}
