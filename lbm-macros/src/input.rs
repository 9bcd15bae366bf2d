//! What stands between the braces of the macro: `pub mod NAME(f64) { ... }`, or a path in the place of the block.

use lbm_bundle::Real;
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

use crate::place::Fault;

/// The macro's input.
pub struct Input {
    /// Attributes and visibility, as written.
    pub head: TokenStream,
    /// Name of the module and the method.
    pub name: Ident,
    /// Type of the populations.
    pub real: Real,
    /// The method.
    pub spec: Text,
}

/// A method's text.
pub enum Text {
    /// Written in the program.
    Here(Group),
    /// In a file of this name.
    File(Literal),
}

const FORM: &str =
    "write `pub mod NAME(f64) { ... }` with a method between the braces, or `pub mod NAME(f64) = \"FILE.lbm\";`";

impl Input {
    /// Reads the macro's tokens.
    pub fn read(tokens: TokenStream) -> Result<Input, Vec<Fault>> {
        let mut tokens = tokens.into_iter();
        let mut at = Span::call_site();
        let mut next = || {
            let token = tokens.next();
            at = token.as_ref().map_or(at, TokenTree::span);
            (token, at)
        };
        let wrong = |at| vec![Fault::at(at, FORM)];

        let mut head = TokenStream::new();
        loop {
            match next() {
                (Some(TokenTree::Ident(word)), _) if word.to_string() == "mod" => break,
                (Some(token), _) => head.extend([token]),
                (None, at) => return Err(wrong(at)),
            }
        }
        let name = match next() {
            (Some(TokenTree::Ident(name)), _) => name,
            (_, at) => return Err(wrong(at)),
        };
        let real = match next() {
            (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Parenthesis => real(&group)?,
            (_, at) => return Err(wrong(at)),
        };
        let spec = match next() {
            (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Brace => Text::Here(group),
            (Some(TokenTree::Punct(punct)), _) if punct.as_char() == '=' => match next() {
                (Some(TokenTree::Literal(path)), _) => Text::File(path),
                (_, at) => return Err(wrong(at)),
            },
            (_, at) => return Err(wrong(at)),
        };
        let ends = matches!(spec, Text::File(_));
        match next() {
            (Some(TokenTree::Punct(punct)), _) if ends && punct.as_char() == ';' => {}
            (None, _) if !ends => {}
            (_, at) => return Err(wrong(at)),
        }
        match next() {
            (None, _) => Ok(Input { head, name, real, spec }),
            (Some(_), at) => Err(vec![Fault::at(at, "one method for each `lbm!`")]),
        }
    }
}

fn real(group: &Group) -> Result<Real, Vec<Fault>> {
    match group.stream().to_string().as_str() {
        "f32" => Ok(Real::F32),
        "f64" => Ok(Real::F64),
        _ => Err(vec![Fault::at(group.span(), "the type of the populations is `f32` or `f64`")]),
    }
}
