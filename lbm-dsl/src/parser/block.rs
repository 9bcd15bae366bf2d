//! Blocks of values and assignments: `init`, `collide`, `boundary`.

use syn::Token;
use syn::parse::ParseStream;

use super::{Parsed, Parser, braces, brackets, parens, skip_statement};
use crate::ast::{Assign, Beyond, Block, BoundaryDef, Component, Expr, Item, Name, Target};
use crate::diag::Code;
use crate::lexer;
use crate::source::Span;

/// Words that only stand at the start of a statement of a block.
const STATEMENTS: &[&str] = &["beyond", "let", "link", "node", "param"];

impl Parser<'_> {
    pub(super) fn init(&mut self, input: ParseStream, keyword: Span) -> Parsed<Block> {
        if input.peek(syn::token::Brace) {
            return self.collide(input, keyword);
        }
        let assign = self.assign(input)?;
        Ok(Block { span: keyword, lets: Vec::new(), assigns: vec![assign] })
    }

    pub(super) fn collide(&mut self, input: ParseStream, keyword: Span) -> Parsed<Block> {
        let mut block = Block { span: keyword, lets: Vec::new(), assigns: Vec::new() };
        self.statements(input, |this, inner| this.statement(inner, &mut block))?;
        Ok(block)
    }

    pub(super) fn boundary(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.name(input)?;
        if !input.peek(syn::token::Brace) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::BoundaryChoice(name));
        }
        let doc = lexer::comment_above(self.source, keyword);
        let block = Block { span: keyword, lets: Vec::new(), assigns: Vec::new() };
        let mut def = BoundaryDef { name, params: Vec::new(), block, node: false, beyond: Vec::new(), doc };
        self.statements(input, |this, inner| this.wall_statement(inner, &mut def))?;
        Ok(Item::Boundary(def))
    }

    /// `{ ... }`, going on behind what is wrong.
    fn statements(
        &mut self,
        input: ParseStream,
        mut each: impl FnMut(&mut Self, ParseStream) -> Parsed<()>,
    ) -> Parsed<()> {
        let inner = self.take(braces(input))?;
        while !inner.is_empty() {
            if let Err(fault) = each(self, &inner) {
                self.report.push(*fault);
                skip_statement(&inner, STATEMENTS);
            }
        }
        Ok(())
    }

    fn statement(&mut self, input: ParseStream, block: &mut Block) -> Parsed<()> {
        let start = self.here(input);
        match self.word(input).as_deref() {
            Some("let") => {
                let keyword = self.keyword(input, "let")?;
                block.lets.push(self.binding(input, keyword)?);
            }
            Some(_) if self.indexed(input) => block.assigns.push(self.assign(input)?),
            Some(_) if self.is_state(input) => {
                let populations = self.name(input)?;
                block.assigns.push(self.assigned(input, populations, Target::State, start, None)?);
            }
            _ => return self.fault(Code::Syntax, start, "expected `let` or `f[i] <-`"),
        }
        Ok(())
    }

    /// A statement of a boundary rule, which has parameters, and `link` or `node` before its assignments.
    fn wall_statement(&mut self, input: ParseStream, def: &mut BoundaryDef) -> Parsed<()> {
        let start = self.here(input);
        match self.word(input).as_deref() {
            Some("let") => {
                let keyword = self.keyword(input, "let")?;
                def.block.lets.push(self.binding(input, keyword)?);
            }
            Some("param") => {
                let keyword = self.keyword(input, "param")?;
                def.params.push(self.param(input, keyword)?);
            }
            Some(word @ ("link" | "node")) => {
                let node = word == "node";
                if !def.block.assigns.is_empty() && def.node != node {
                    return self.fault(Code::Syntax, start, "a boundary condition is link-wise or wet-node, not both");
                }
                def.node = node;
                self.keyword(input, word)?;
                def.block.assigns.push(self.assign(input)?);
            }
            Some("beyond") => {
                self.keyword(input, "beyond")?;
                def.beyond.push(self.beyond(input)?);
            }
            _ => {
                let expected = "expected `param`, `let`, `link f[i] <-`, `node f[i] <-` or `beyond`";
                return self.fault(Code::Syntax, start, expected);
            }
        }
        Ok(())
    }

    /// `u[a] <- value;`
    fn beyond(&mut self, input: ParseStream) -> Parsed<Beyond> {
        let name = self.name(input)?;
        let mut indices = Vec::new();
        if input.peek(syn::token::Bracket) {
            let (inner, _) = self.take(brackets(input))?;
            while !inner.is_empty() {
                indices.push(self.binder(&inner)?);
                if !inner.is_empty() {
                    self.take(inner.parse::<Token![,]>())?;
                }
            }
        }
        if !input.peek(Token![<-]) {
            return self.fault(Code::Syntax, self.here(input), "expected `<-`");
        }
        self.take(input.parse::<Token![<-]>())?;
        let value = self.expr(input)?;
        self.semicolon(input, name.span, value.span)?;
        Ok(Beyond { name, indices, value })
    }

    /// Whether a name with brackets comes next.
    fn indexed(&self, input: ParseStream) -> bool {
        let fork = input.fork();
        self.name(&fork).is_ok() && fork.peek(syn::token::Bracket)
    }

    /// Whether a name without brackets is assigned.
    fn is_state(&self, input: ParseStream) -> bool {
        let fork = input.fork();
        self.name(&fork).is_ok() && fork.peek(Token![<-])
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
        self.assigned(input, populations, target, start.to(span), filter)
    }

    /// `<- value;` behind what it is assigned to.
    fn assigned(
        &mut self,
        input: ParseStream,
        populations: Name,
        target: Target,
        span: Span,
        filter: Option<Expr>,
    ) -> Parsed<Assign> {
        if !input.peek(Token![<-]) {
            return self.fault(Code::Syntax, self.here(input), "expected `<-`");
        }
        self.take(input.parse::<Token![<-]>())?;
        let value = self.expr(input)?;
        self.semicolon(input, populations.span, value.span)?;
        Ok(Assign { populations, target, span, filter, value })
    }

    fn component(&mut self, input: ParseStream) -> Parsed<Component> {
        let fork = input.fork();
        let bound = self.name(&fork).is_ok() && self.at(&fork, "in");
        Ok(if bound { Component::Bound(self.binder(input)?) } else { Component::Fixed(self.expr(input)?) })
    }
}
