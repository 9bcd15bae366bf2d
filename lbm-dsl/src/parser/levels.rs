//! Stencils and couplings between levels.

use syn::Token;
use syn::parse::ParseStream;

use super::{Parsed, Parser, braces, parens, skip_statement};
use crate::ast::{CouplingDef, Expr, Item, Points, Statement, StencilDef, StencilTarget};
use crate::diag::Code;
use crate::lexer;
use crate::source::Span;

/// Words that start a statement of a coupling.
const STATEMENTS: &[&str] = &["rate", "let", "packet", "ghosts", "fine", "coarse", "refine", "coarsen"];

impl Parser<'_> {
    pub(super) fn stencil(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.new_name(input)?;
        if !input.peek(syn::token::Brace) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::StencilChoice(name));
        }
        let doc = lexer::comment_above(self.source, keyword);
        let inner = self.take(braces(input))?;
        let (mut space, mut target, mut sets) = (None, None, Vec::new());
        while !inner.is_empty() {
            let start = self.here(&inner);
            let word = self.word(&inner).unwrap_or_default();
            match word.as_str() {
                "space" | "points" => {
                    self.keyword(&inner, &word)?;
                    let (list, span) = self.positions(&inner, start)?;
                    if word == "points" {
                        sets.push(Points { at: list, span });
                    } else if space.replace(list).is_some() {
                        return self.fault(Code::RepeatedPart, span, "a second `space`");
                    }
                }
                "value" | "derivative" | "mean" => {
                    self.keyword(&inner, &word)?;
                    let (found, last) = self.target(&inner, &word)?;
                    let span = self.semicolon(&inner, start, last)?;
                    if target.replace((found, span)).is_some() {
                        return self.fault(Code::RepeatedPart, span, "a stencil gives one thing");
                    }
                }
                _ => {
                    let label = "expected `space`, `points`, `value at`, `derivative at` or `mean over`";
                    return self.fault(Code::Syntax, start, label);
                }
            }
        }
        let Some(space) = space else {
            return self.fault(Code::MissingPart, name.span, "this stencil has no `space 1, x;`");
        };
        let Some((target, target_span)) = target else {
            return self.fault(Code::MissingPart, name.span, "this stencil has no `value at 1/4;`");
        };
        if sets.is_empty() {
            return self.fault(Code::MissingPart, name.span, "this stencil has no `points 0, 1;`");
        }
        Ok(Item::Stencil(StencilDef { name, space, target, target_span, sets, doc }))
    }

    /// Formulas up to `;`, and the span from `start` to there.
    fn positions(&mut self, input: ParseStream, start: Span) -> Parsed<(Vec<Expr>, Span)> {
        let mut list = vec![self.expr(input)?];
        while input.peek(Token![,]) {
            self.take(input.parse::<Token![,]>())?;
            list.push(self.expr(input)?);
        }
        let last = list.last().map_or(start, |expr| expr.span);
        let span = self.semicolon(input, start, last)?;
        Ok((list, span))
    }

    /// What stands behind `value`, `derivative` or `mean`, and where it ends.
    fn target(&mut self, input: ParseStream, word: &str) -> Parsed<(StencilTarget, Span)> {
        if word == "mean" {
            self.keyword(input, "over")?;
            let (inner, span) = self.take(parens(input))?;
            let low = self.expr(&inner)?;
            self.take(inner.parse::<Token![,]>())?;
            let high = self.expr(&inner)?;
            if !inner.is_empty() {
                return self.fault(Code::Syntax, self.here(&inner), "expected `)`: an interval has two ends");
            }
            return Ok((StencilTarget::Mean(low, high), span));
        }
        self.keyword(input, "at")?;
        let at = self.expr(input)?;
        let span = at.span;
        Ok((if word == "value" { StencilTarget::Value(at) } else { StencilTarget::Derivative(at) }, span))
    }

    pub(super) fn coupling(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.new_name(input)?;
        if !input.peek(syn::token::Brace) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::CouplingChoice(name));
        }
        let doc = lexer::comment_above(self.source, keyword);
        let inner = self.take(braces(input))?;
        let mut statements = Vec::new();
        while !inner.is_empty() {
            match self.crossing(&inner) {
                Ok(statement) => statements.push(statement),
                Err(fault) => {
                    self.report.push(*fault);
                    skip_statement(&inner, STATEMENTS);
                }
            }
        }
        Ok(Item::Coupling(CouplingDef { name, statements, doc }))
    }

    /// A statement of a coupling.
    fn crossing(&mut self, input: ParseStream) -> Parsed<Statement> {
        let start = self.here(input);
        let word = self.word(input).unwrap_or_default();
        if !STATEMENTS.contains(&word.as_str()) {
            let label = "expected `rate`, `let`, `packet`, `ghosts`, `fine`, `coarse`, `refine` or `coarsen`";
            return self.fault(Code::Syntax, start, label);
        }
        let keyword = self.keyword(input, &word)?;
        Ok(match word.as_str() {
            "rate" => {
                let name = self.new_name(input)?;
                self.take(input.parse::<Token![<-]>())?;
                let value = self.expr(input)?;
                self.semicolon(input, keyword, value.span)?;
                Statement::Rate(name, value)
            }
            "let" => Statement::Let(self.binding(input, keyword)?),
            "ghosts" => {
                let layers = self.expr(input)?;
                self.semicolon(input, keyword, layers.span)?;
                Statement::Ghosts(layers)
            }
            "packet" => Statement::Packet(self.assign(input)?),
            "fine" => Statement::Fine(self.assign(input)?),
            "coarse" => Statement::Coarse(self.assign(input)?),
            "refine" => Statement::Refine(self.assign(input)?),
            _ => Statement::Coarsen(self.assign(input)?),
        })
    }
}
