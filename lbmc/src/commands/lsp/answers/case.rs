//! Answers about a case.

use lbm_dsl::shipped::{self, Prelude};
use lbm_flows::case::{self, Choice, Choices};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, Hover, HoverContents, MarkupContent,
    MarkupKind, TextEdit,
};
use serde_json::Value;

use super::{Question, told};
use crate::commands::lsp::place::Lines;

/// The answer to a question about a case.
pub fn answer(text: &str, lines: &Lines, question: &Question) -> Value {
    match question {
        Question::Hover(at) => told(lines.byte(*at).and_then(|byte| hover(text, lines, byte))),
        Question::Completion(at) => {
            told(lines.byte(*at).and_then(|byte| case::choices(text, byte)).map(|choices| proposals(choices, lines)))
        }
        _ => Value::Null,
    }
}

fn hover(text: &str, lines: &Lines, byte: usize) -> Option<Hover> {
    let key = case::key_at(text, byte)?;
    let value = format!("`{}`: {}", key.path, key.doc);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(lines.range(key.range)) })
}

fn proposals(choices: Choices, lines: &Lines) -> Vec<CompletionItem> {
    let (is_key, range) = (choices.value_of.is_none(), lines.range(choices.range));
    let names = choices.value_of.iter().flat_map(|path| names(path));
    let names = names.map(|(text, doc)| (Choice { text, doc: "", is_text: true }, doc));
    let choices_of_key = choices.choices.into_iter().map(|choice| {
        let doc = choice.doc.to_string();
        (choice, doc)
    });
    let one = |(choice, doc): (Choice, String)| {
        let text =
            if choice.is_text && !choices.is_quoted { format!("{:?}", choice.text) } else { choice.text.clone() };
        CompletionItem {
            label: choice.text,
            kind: Some(if is_key { CompletionItemKind::PROPERTY } else { CompletionItemKind::ENUM_MEMBER }),
            documentation: (!doc.is_empty()).then_some(Documentation::String(doc)),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
            ..Default::default()
        }
    };
    choices_of_key.chain(names).filter(|(choice, _)| !choices.is_quoted || choice.is_text).map(one).collect()
}

/// Names that a value may be which are those of methods and of what modules define, each with what it is.
fn names(path: &str) -> Vec<(String, String)> {
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    let defined = match key {
        "spec" if table.is_empty() => {
            let specs = shipped::specs();
            return specs.map(|(name, text)| (name.to_string(), lbm_setup::spec::summary(text))).collect();
        }
        "coupling" if table == "refinement" => shipped::couplings(&Prelude),
        "criterion" if table == "refinement" => shipped::criteria(&Prelude),
        "rule" => shipped::rules(&Prelude),
        _ if table == "faces" => shipped::rules(&Prelude),
        _ => return vec![],
    };
    let one = |(module, name)| (name, format!("of the module `{module}`"));
    defined.unwrap_or_default().into_iter().map(one).collect()
}
