//! Blocks of values and assignments: `init`, `collide`, `boundary`.

use syn::Token;
use syn::parse::ParseStream;

use super::{Parsed, Parser, braces, brackets, parens, skip_statement};
use crate::ast::{Assign, Block, BoundaryDef, Component, Item, ParamDef, Target};
use crate::diag::Code;
use crate::lexer;
use crate::source::Span;

/// Words that only stand at the start of a statement of a block.
const STATEMENTS: &[&str] = &["let", "link", "param"];

impl Parser<'_> {
    pub(super) fn init(&mut self, input: ParseStream, keyword: Span) -> Parsed<Block> {
        if input.peek(syn::token::Brace) {
            return self.collide(input, keyword);
        }
        let assign = self.assign(input)?;
        Ok(Block { span: keyword, lets: Vec::new(), assigns: vec![assign] })
    }

    pub(super) fn collide(&mut self, input: ParseStream, keyword: Span) -> Parsed<Block> {
        let (block, _) = self.block(input, keyword, false)?;
        Ok(block)
    }

    pub(super) fn boundary(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.name(input)?;
        if !input.peek(syn::token::Brace) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::BoundaryChoice(name));
        }
        let doc = lexer::comment_above(self.source, keyword);
        let (block, params) = self.block(input, keyword, true)?;
        Ok(Item::Boundary(BoundaryDef { name, params, block, doc }))
    }

    /// `{ ... }`; a wall's block has parameters, and `link` before its assignments.
    fn block(&mut self, input: ParseStream, keyword: Span, wall: bool) -> Parsed<(Block, Vec<ParamDef>)> {
        let inner = self.take(braces(input))?;
        let mut block = Block { span: keyword, lets: Vec::new(), assigns: Vec::new() };
        let mut params = Vec::new();
        while !inner.is_empty() {
            if let Err(fault) = self.statement(&inner, wall, &mut block, &mut params) {
                self.report.push(*fault);
                skip_statement(&inner, STATEMENTS);
            }
        }
        Ok((block, params))
    }

    fn statement(
        &mut self,
        input: ParseStream,
        wall: bool,
        block: &mut Block,
        params: &mut Vec<ParamDef>,
    ) -> Parsed<()> {
        let start = self.here(input);
        match self.word(input).as_deref() {
            Some("let") => {
                let keyword = self.keyword(input, "let")?;
                block.lets.push(self.binding(input, keyword)?);
            }
            Some("param") if wall => {
                let keyword = self.keyword(input, "param")?;
                params.push(self.param(input, keyword)?);
            }
            Some("link") if wall => {
                self.keyword(input, "link")?;
                block.assigns.push(self.assign(input)?);
            }
            Some(_) if !wall && self.indexed(input) => block.assigns.push(self.assign(input)?),
            _ => {
                let expected = if wall { "`param`, `let` or `link f[i] <-`" } else { "`let` or `f[i] <-`" };
                return self.fault(Code::Syntax, start, format!("expected {expected}"));
            }
        }
        Ok(())
    }

    /// Whether a name with brackets comes next.
    fn indexed(&self, input: ParseStream) -> bool {
        let fork = input.fork();
        self.name(&fork).is_ok() && fork.peek(syn::token::Bracket)
    }

    /// `f[i] <- value;`
    pub(super) fn assign(&mut self, input: ParseStream) -> Parsed<Assign> {
        let populations = self.name(input)?;
        let start = populations.span;
        let (inner, span) = self.take(brackets(input))?;
        let target = if inner.peek(syn::token::Paren) {
            let (vector, _) = self.take(parens(&inner))?;
            let mut components = Vec::new();
            while !vector.is_empty() {
                components.push(self.component(&vector)?);
                if !vector.is_empty() {
                    self.take(vector.parse::<Token![,]>())?;
                }
            }
            Target::Velocity(components)
        } else {
            Target::Index(self.binder(&inner)?)
        };
        let filter = if self.at(&inner, "if") {
            self.keyword(&inner, "if")?;
            Some(self.expr(&inner)?)
        } else {
            None
        };
        if !inner.is_empty() {
            return self.fault(Code::Syntax, self.here(&inner), "expected `]`");
        }
        if !input.peek(Token![<-]) {
            return self.fault(Code::Syntax, self.here(input), "expected `<-`");
        }
        self.take(input.parse::<Token![<-]>())?;
        let value = self.expr(input)?;
        self.semicolon(input, start, value.span)?;
        Ok(Assign { populations, target, span: start.to(span), filter, value })
    }

    fn component(&mut self, input: ParseStream) -> Parsed<Component> {
        let fork = input.fork();
        let bound = self.name(&fork).is_ok() && self.at(&fork, "in");
        Ok(if bound { Component::Bound(self.binder(input)?) } else { Component::Fixed(self.expr(input)?) })
    }
}
