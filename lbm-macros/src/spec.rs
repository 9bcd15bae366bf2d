//! From a method's text to the module.

use std::path::{Path, PathBuf};

use lbm_bundle::{Layout, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::diag::{Diagnostic, Report};
use lbm_dsl::shipped::{Library, Prelude};
use lbm_dsl::source::Source;
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

use crate::input::{Input, Text};
use crate::place::{self, Fault};

/// The module that holds the kernels.
pub fn module(input: Input) -> Result<TokenStream, Vec<Fault>> {
    let Input { head, name, real, spec } = input;
    let file = format!("{name}.lbm");
    let (source, library, origin) = match spec {
        Text::Here(group) => {
            let source = Source::new(&file, &text(&group));
            (source, Modules { folder: None }, Origin::Here(group))
        }
        Text::File(literal) => {
            let path = path(&literal)?;
            let text = std::fs::read_to_string(&path)
                .map_err(|error| vec![Fault::at(literal.span(), format!("{error}\nhelp: {FROM}"))])?;
            let folder = path.parent().map(Path::to_path_buf);
            (Source::new(&file, &text), Modules { folder }, Origin::File(literal.span(), path))
        }
    };
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
    if let Origin::File(_, path) = &origin {
        // The compiler looks at the file again when it has changed.
        text += &format!("const _: &str = include_str!({:?});\n", path.display().to_string());
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

/// Modules beside a method's file, then the prelude's.
struct Modules {
    folder: Option<PathBuf>,
}

impl Library for Modules {
    fn module(&self, name: &str) -> Option<String> {
        let own = self.folder.as_ref().map(|folder| folder.join(format!("{name}.lbm")));
        own.and_then(|path| std::fs::read_to_string(path).ok()).or_else(|| Prelude.module(name))
    }

    fn names(&self) -> Vec<String> {
        Prelude.names()
    }
}

/// Where a text came from.
enum Origin {
    Here(Group),
    File(Span, PathBuf),
}

impl Origin {
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

fn fault(group: &Group, spans: &[Span], source: &Source, diagnostic: &Diagnostic) -> Fault {
    let code = diagnostic.code();
    let mut message = format!("{}: {}", code.code(), code.message());
    if !diagnostic.label().is_empty() {
        message += &format!("\n{}", diagnostic.label());
    }
    if let Some(help) = miette::Diagnostic::help(diagnostic) {
        message += &format!("\nhelp: {help}");
    }
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
