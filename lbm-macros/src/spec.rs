//! From a method's text to the module.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use lbm_bundle::input::{self, Limit};
use lbm_bundle::{Layout, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::diag::{Diagnostic, Report};
use lbm_dsl::shipped::Beside;
use lbm_dsl::source::Source;
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

use crate::input::{Input, Text};
use crate::place::{self, Fault};

/// The module that holds the kernels.
pub fn module(input: Input) -> Result<TokenStream, Vec<Fault>> {
    let Input { head, name, real, spec } = input;
    let file = format!("{name}.lbm");
    let (source, origin) = match spec {
        Text::Here(group) => (Source::new(&file, &text(&group)), Origin::Here(group)),
        Text::File(literal) => {
            let path = path(&literal)?;
            let text = input::text(&path, Limit::SPEC)
                .map_err(|error| vec![Fault::at(literal.span(), format!("{error}\nhelp: {FROM}"))])?;
            (Source::new(&file, &text), Origin::File(literal.span(), path))
        }
    };
    // Modules beside a method's file, then the prelude's.
    let read = RefCell::new(Vec::new());
    let library = Beside(|name: &str| {
        let path = origin.folder()?.join(format!("{name}.lbm"));
        let text = input::text_if_there(&path, Limit::SPEC)?;
        read.borrow_mut().push(path.clone());
        let source = |text: String| Source::new(&path.display().to_string(), &text);
        Some(text.map(source).map_err(|error| error.to_string()))
    });
    let model = lbm_dsl::compile(&source, &library).map_err(|report| origin.faults(&source, &report))?;
    let options = Options {
        target: Target::Cuda,
        real,
        layout: Layout::Soa,
        block: Options::TILE,
        coupling: None,
        solids: false,
    };
    let compiled =
        pipeline::compile(&model, &options).map_err(|error| vec![Fault::at(name.span(), error.to_string())])?;

    let bundle = compiled.bundle;
    let bindings = bundle.extras.iter().find(|file| file.name.ends_with(".rs")).expect("every bundle has bindings");
    let mut text = format!(
        "{}\n/// The kernels as CUDA C++, for NVRTC.\npub const CUDA: &str = {:?};\n",
        bindings.text, bundle.source.text
    );
    // The compiler comes back here when one of these files has changed.
    if let Origin::File(_, path) = &origin {
        read.borrow_mut().push(path.clone());
    }
    for path in read.take() {
        text += &format!("const _: &[u8] = include_bytes!({:?});\n", path.display().to_string());
    }
    // A macro warns of something by using what is deprecated because of it.
    for warning in model.warnings() {
        let note = origin.message(&source, warning);
        text += &format!("const _: () = {{\n#[deprecated(note = {note:?})]\nconst WARNING: () = ();\nWARNING\n}};\n");
    }
    let body: TokenStream = text.parse().expect("bindings are Rust");
    let allow: TokenStream =
        "#[allow(dead_code, clippy::all, rustdoc::broken_intra_doc_links)]".parse().expect("an attribute");
    let mut module = allow;
    module.extend(head);
    module.extend([
        TokenTree::from(Ident::new("mod", Span::call_site())),
        name.into(),
        Group::new(Delimiter::Brace, body).into(),
    ]);
    Ok(module)
}

/// What was written between the braces, comments included. Tokens that another macro has made have no text; their words
/// have to do.
fn text(group: &Group) -> String {
    match group.span().source_text() {
        Some(text) => text[1..text.len() - 1].to_string(),
        None => group.stream().to_string(),
    }
}

const FROM: &str = "the path of a method begins at the folder of Cargo.toml";

/// The file that a literal names, from the folder of the program's `Cargo.toml`.
fn path(literal: &Literal) -> Result<PathBuf, Vec<Fault>> {
    let text = literal.to_string();
    let name = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let name = name.filter(|name| !name.contains('\\'));
    let name = name.ok_or_else(|| vec![Fault::at(literal.span(), "the name of a file in quotes, without escapes")])?;
    Ok(PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join(name))
}

/// Where a text came from.
enum Origin {
    Here(Group),
    File(Span, PathBuf),
}

impl Origin {
    /// The folder of the method's file.
    fn folder(&self) -> Option<&Path> {
        match self {
            Origin::Here(_) => None,
            Origin::File(_, path) => path.parent(),
        }
    }

    /// What is remarkable, and where.
    fn message(&self, source: &Source, diagnostic: &Diagnostic) -> String {
        let at = diagnostic.source().position(diagnostic.span().start);
        let file = match self {
            Origin::File(_, path) if diagnostic.source().name() == source.name() => path.display().to_string(),
            _ => diagnostic.source().name().to_string(),
        };
        format!("{file}:{}:{}: {}", at.line, at.column, message(diagnostic))
    }

    /// What is wrong, at its place in the program.
    fn faults(&self, source: &Source, report: &Report) -> Vec<Fault> {
        match self {
            Origin::File(span, path) => {
                vec![Fault::at(*span, format!("{}\n{}", path.display(), report.render(100).trim_end()))]
            }
            Origin::Here(group) => {
                let spans = place::spans(group.stream());
                report.diagnostics().iter().map(|diagnostic| fault(group, &spans, source, diagnostic)).collect()
            }
        }
    }
}

/// Code, headline, label and hint.
fn message(diagnostic: &Diagnostic) -> String {
    let code = diagnostic.code();
    let mut message = format!("{}: {}", code.code(), code.message());
    if !diagnostic.label().is_empty() {
        message += &format!("\n{}", diagnostic.label());
    }
    if let Some(help) = miette::Diagnostic::help(diagnostic) {
        message += &format!("\nhelp: {help}");
    }
    message
}

fn fault(group: &Group, spans: &[Span], source: &Source, diagnostic: &Diagnostic) -> Fault {
    let message = message(diagnostic);
    if diagnostic.source().name() != source.name() {
        return Fault::at(group.span(), format!("{message}\nin module {}", diagnostic.source().name()));
    }
    // The text starts behind the opening brace.
    let (line, column) = place::start(group.span_open());
    let position = |offset| {
        let within = source.position(offset);
        (line + within.line - 1, if within.line == 1 { column + within.column } else { within.column })
    };
    let (from, to) = (position(diagnostic.span().start), position(diagnostic.span().end));
    let (first, last) = place::reaching(spans, from, to).unwrap_or((group.span_open(), group.span_close()));
    Fault::between(first, last, message)
}
