//! Places in the program, and errors there.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A line of the program and a character of it, both from 1.
pub type Position = (usize, usize);

/// Something that is wrong, from one token to another.
pub struct Fault {
    first: Span,
    last: Span,
    message: String,
}

impl Fault {
    /// `message` at the tokens from `first` to `last`.
    pub fn between(first: Span, last: Span, message: impl Into<String>) -> Fault {
        Fault { first, last, message: message.into() }
    }

    /// `message` at one token.
    pub fn at(span: Span, message: impl Into<String>) -> Fault {
        Fault::between(span, span, message)
    }

    /// `::core::compile_error! { "..." }`, which the compiler shows at the places of its first and last token.
    pub fn tokens(self) -> TokenStream {
        let punct = |c, spacing, span| {
            let mut punct = Punct::new(c, spacing);
            punct.set_span(span);
            TokenTree::from(punct)
        };
        let mut text = Literal::string(&self.message);
        text.set_span(self.last);
        let mut braces = Group::new(Delimiter::Brace, TokenStream::from(TokenTree::from(text)));
        braces.set_span(self.last);
        TokenStream::from_iter([
            punct(':', Spacing::Joint, self.first),
            punct(':', Spacing::Alone, self.first),
            Ident::new("core", self.first).into(),
            punct(':', Spacing::Joint, self.first),
            punct(':', Spacing::Alone, self.first),
            Ident::new("compile_error", self.first).into(),
            punct('!', Spacing::Alone, self.last),
            braces.into(),
        ])
    }
}

/// The tokens of a text, brackets included, in order.
pub fn spans(tokens: TokenStream) -> Vec<Span> {
    let mut spans = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                spans.push(group.span_open());
                spans.extend(self::spans(group.stream()));
                spans.push(group.span_close());
            }
            token => spans.push(token.span()),
        }
    }
    spans
}

/// Where a span starts.
pub fn start(span: Span) -> Position {
    (span.start().line(), span.start().column())
}

/// The first and last of the tokens that reach into the places from `from` up to `to`; if none does, the next one.
pub fn reaching(spans: &[Span], from: Position, to: Position) -> Option<(Span, Span)> {
    let end = |span: Span| (span.end().line(), span.end().column());
    let mut inside = spans.iter().filter(|span| end(**span) > from && start(**span) < to);
    let next = || spans.iter().find(|span| start(**span) >= from).or(spans.last());
    let first = inside.next().or_else(next)?;
    Some((*first, *inside.next_back().unwrap_or(first)))
}
