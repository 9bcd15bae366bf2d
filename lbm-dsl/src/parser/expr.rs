//! Formulas: a Pratt parser.
//!
//! Binding, loosest first: `if then else`, `||`, `&&`, comparisons (which do not chain), `+ -`, `* /`, unary `- !`, `^` (to
//! the right).

use proc_macro2::Literal;
use syn::Token;
use syn::parse::ParseStream;

use super::{Parsed, Parser, brackets, parens, span_of};
use crate::ast::{Binary, Expr, ExprKind, Fold, Name, Unary};
use crate::diag::{Code, Diagnostic};
use crate::lexer;
use crate::source::Span;

/// Deepest tree; a chain `a + b + c` of n terms has depth n.
const MAX_DEPTH: usize = 250;

const LOOSEST: u8 = 0;
const COMPARISON: u8 = 3;
const SUM: u8 = 4;
const PREFIX: u8 = 6;

/// The operator at the head of `input` with its binding power.
fn operator(input: ParseStream) -> Option<(Binary, u8)> {
    Some(if input.peek(Token![||]) {
        (Binary::Or, 1)
    } else if input.peek(Token![&&]) {
        (Binary::And, 2)
    } else if input.peek(Token![==]) {
        (Binary::Equal, COMPARISON)
    } else if input.peek(Token![!=]) {
        (Binary::NotEqual, COMPARISON)
    } else if input.peek(Token![<=]) {
        (Binary::LessEqual, COMPARISON)
    } else if input.peek(Token![>=]) {
        (Binary::GreaterEqual, COMPARISON)
    } else if input.peek(Token![<]) {
        (Binary::Less, COMPARISON)
    } else if input.peek(Token![>]) {
        (Binary::Greater, COMPARISON)
    } else if input.peek(Token![+]) {
        (Binary::Add, SUM)
    } else if input.peek(Token![-]) {
        (Binary::Sub, SUM)
    } else if input.peek(Token![*]) {
        (Binary::Mul, 5)
    } else if input.peek(Token![/]) {
        (Binary::Div, 5)
    } else if input.peek(Token![^]) {
        (Binary::Power, 7)
    } else {
        return None;
    })
}

impl Parser<'_> {
    /// A whole formula.
    pub(super) fn expr(&mut self, input: ParseStream) -> Parsed<Expr> {
        self.binds(input, LOOSEST)
    }

    /// A formula without comparisons, as the ends of a range are.
    pub(super) fn sum_of_terms(&mut self, input: ParseStream) -> Parsed<Expr> {
        self.binds(input, SUM)
    }

    fn binds(&mut self, input: ParseStream, least: u8) -> Parsed<Expr> {
        let depth = self.depth;
        let result = self.chain(input, least);
        self.depth = depth;
        result
    }

    fn deeper(&mut self, input: ParseStream) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth = 0;
            return self.fault(Code::Nesting, self.here(input), format!("more than {MAX_DEPTH} operations deep"));
        }
        Ok(())
    }

    fn chain(&mut self, input: ParseStream, least: u8) -> Parsed<Expr> {
        self.deeper(input)?;
        let mut left = self.prefix(input, least)?;
        while let Some((op, power)) = operator(input) {
            if power < least {
                break;
            }
            self.deeper(input)?;
            if power == COMPARISON && matches!(&left.kind, ExprKind::Binary(inner, ..) if compares(*inner)) {
                let fault = Diagnostic::new(Code::Syntax, self.source, self.here(input), "comparisons do not chain");
                return Err(Box::new(fault.hint("join two of them with `&&`")));
            }
            for _ in 0..op_tokens(op) {
                self.take(input.parse::<proc_macro2::TokenTree>())?;
            }
            // A power's right side takes a sign and further powers; any other operator's takes what binds tighter.
            let right = self.binds(input, if op == Binary::Power { PREFIX } else { power + 1 })?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn prefix(&mut self, input: ParseStream, least: u8) -> Parsed<Expr> {
        let start = self.here(input);
        let sign = if input.peek(Token![-]) {
            Some(Unary::Minus)
        } else if input.peek(Token![!]) && !input.peek(Token![!=]) {
            Some(Unary::Not)
        } else {
            None
        };
        if let Some(op) = sign {
            self.take(input.parse::<proc_macro2::TokenTree>())?;
            let inner = self.binds(input, PREFIX)?;
            let span = start.to(inner.span);
            return Ok(Expr { kind: ExprKind::Unary(op, Box::new(inner)), span });
        }
        match self.word(input).as_deref() {
            Some("if") => self.choice(input, start, least),
            Some(word @ ("sum" | "prod")) => {
                let fold = if word == "sum" { Fold::Sum } else { Fold::Product };
                self.fold(input, start, fold)
            }
            Some(_) => self.named(input),
            None => self.atom(input, start),
        }
    }

    fn atom(&mut self, input: ParseStream, start: Span) -> Parsed<Expr> {
        if input.peek(syn::token::Paren) {
            let (inner, span) = self.take(parens(input))?;
            let mut parts = self.list(&inner)?;
            return match parts.len() {
                0 => self.fault(Code::Syntax, span, "expected a formula in these brackets"),
                1 => Ok(Expr { span, ..parts.remove(0) }),
                _ => Ok(Expr { kind: ExprKind::Vector(parts), span }),
            };
        }
        match input.parse::<Literal>() {
            Ok(literal) => {
                Ok(Expr { kind: ExprKind::Number(lexer::number(&literal.to_string())), span: span_of(literal.span()) })
            }
            Err(_) => self.fault(Code::Syntax, start, "expected a formula"),
        }
    }

    fn list(&mut self, input: ParseStream) -> Parsed<Vec<Expr>> {
        let mut parts = Vec::new();
        while !input.is_empty() {
            parts.push(self.expr(input)?);
            if !input.is_empty() {
                if !input.peek(Token![,]) {
                    return self.fault(
                        Code::Syntax,
                        self.here(input),
                        "expected an operator, `,` or the closing bracket",
                    );
                }
                self.take(input.parse::<Token![,]>())?;
            }
        }
        Ok(parts)
    }

    fn named(&mut self, input: ParseStream) -> Parsed<Expr> {
        let name: Name = self.name(input)?;
        let mut span = name.span;
        if input.peek(Token![.]) && !input.peek(Token![..]) {
            self.take(input.parse::<Token![.]>())?;
            if self.word(input).as_deref() != Some("cs2") {
                let label = format!("expected `cs2`; a sum over all directions is `sum(i: {0}[i])`", name.text);
                return self.fault(Code::Syntax, self.here(input), label);
            }
            let end = self.keyword(input, "cs2")?;
            return Ok(Expr { kind: ExprKind::Cs2(name), span: span.to(end) });
        }
        let mut indices = Vec::new();
        if input.peek(syn::token::Bracket) {
            let (inner, end) = self.take(brackets(input))?;
            indices = self.list(&inner)?;
            span = span.to(end);
            if indices.is_empty() {
                return self.fault(Code::Syntax, end, "expected an index in these brackets");
            }
        }
        let mut args = None;
        if input.peek(syn::token::Paren) {
            let (inner, end) = self.take(parens(input))?;
            args = Some(self.list(&inner)?);
            span = span.to(end);
        }
        Ok(Expr { kind: ExprKind::Name { name, indices, args }, span })
    }

    fn fold(&mut self, input: ParseStream, start: Span, fold: Fold) -> Parsed<Expr> {
        self.take(input.parse::<proc_macro2::TokenTree>())?;
        let (inner, end) = self.take(parens(input))?;
        let mut binders = vec![self.binder(&inner)?];
        while inner.peek(Token![,]) {
            self.take(inner.parse::<Token![,]>())?;
            binders.push(self.binder(&inner)?);
        }
        let filter = if self.at(&inner, "if") {
            self.keyword(&inner, "if")?;
            Some(Box::new(self.expr(&inner)?))
        } else {
            None
        };
        if !inner.peek(Token![:]) {
            return self.fault(Code::Syntax, self.here(&inner), "expected `:` and what is summed or multiplied");
        }
        self.take(inner.parse::<Token![:]>())?;
        let body = Box::new(self.expr(&inner)?);
        if !inner.is_empty() {
            return self.fault(Code::Syntax, self.here(&inner), "expected an operator or `)`");
        }
        Ok(Expr { kind: ExprKind::Fold { fold, binders, filter, body }, span: start.to(end) })
    }

    fn choice(&mut self, input: ParseStream, start: Span, least: u8) -> Parsed<Expr> {
        if least > LOOSEST {
            let fault = Diagnostic::new(Code::Syntax, self.source, start, "where does this `if` end?");
            return Err(Box::new(fault.hint("put it in brackets: `2 * (if c then x else y)`")));
        }
        self.keyword(input, "if")?;
        let condition = self.expr(input)?;
        if input.peek(Token![=]) {
            let fault = Diagnostic::new(Code::Syntax, self.source, self.here(input), "expected `then`");
            return Err(Box::new(fault.hint("compare with `==`")));
        }
        self.keyword(input, "then")?;
        let then = self.expr(input)?;
        self.keyword(input, "else")?;
        let otherwise = self.expr(input)?;
        let span = start.to(otherwise.span);
        Ok(Expr { kind: ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)), span })
    }
}

fn compares(op: Binary) -> bool {
    use Binary::*;
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

/// How many punctuation characters write the operator.
fn op_tokens(op: Binary) -> usize {
    use Binary::*;
    if matches!(op, Or | And | Equal | NotEqual | LessEqual | GreaterEqual) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Item;
    use crate::parser::parse;
    use crate::source::Source;

    /// The formula with every bracket written.
    fn show(expr: &Expr) -> String {
        let all = |parts: &[Expr]| parts.iter().map(show).collect::<Vec<_>>().join(",");
        match &expr.kind {
            ExprKind::Number(value) => value.to_string(),
            ExprKind::Name { name, indices, args } => {
                let indices = if indices.is_empty() { String::new() } else { format!("[{}]", all(indices)) };
                let args = args.as_ref().map_or(String::new(), |args| format!("({})", all(args)));
                format!("{}{indices}{args}", name.text)
            }
            ExprKind::Cs2(name) => format!("{}.cs2", name.text),
            ExprKind::Vector(parts) => format!("<{}>", all(parts)),
            ExprKind::Unary(op, a) => format!("({}{})", if *op == Unary::Minus { "-" } else { "!" }, show(a)),
            ExprKind::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
            ExprKind::Fold { fold, body, .. } => format!("{fold:?}{{{}}}", show(body)),
            ExprKind::If(c, a, b) => format!("(if {} then {} else {})", show(c), show(a), show(b)),
        }
    }

    fn formula(text: &str) -> String {
        match parse(&Source::new("t.lbm", &format!("let x = {text};"))) {
            Ok(ast) => match &ast.items[0] {
                Item::Let(item) => show(&item.value),
                _ => unreachable!(),
            },
            Err(report) => report.diagnostics()[0].label().into(),
        }
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, tree) in [
            ("-x^2", "(-(x Power 2))"),
            ("a - b - d", "((a Sub b) Sub d)"),
            ("a / b * d", "((a Div b) Mul d)"),
            ("x^-1^2", "(x Power (-(1 Power 2)))"),
            ("x^2^3", "(x Power (2 Power 3))"),
            ("1 + 2 * u[a]^2", "(1 Add (2 Mul (u[a] Power 2)))"),
            (
                "if a <-1 && b == 2 || !p then 1 else if b > 1 then 2 else 3 + 4",
                "(if (((a Less (-1)) And (b Equal 2)) Or (!p)) then 1 else (if (b Greater 1) then 2 else (3 Add 4)))",
            ),
            ("f[(x, 0, -z)]", "f[<x,0,(-z)>]"),
            ("q[i](rho, u)", "q[i](rho,u)"),
            ("g.cs2^2 / 2", "((g.cs2 Power 2) Div 2)"),
            ("sum(a, b if a <= b: a * b) * 2", "(Sum{(a Mul b)} Mul 2)"),
            ("prod(x in -1..=n + 1: x)", "Product{x}"),
        ] {
            assert_eq!(formula(text), tree, "{text}");
        }
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for (text, label) in [
            ("a < b < d", "comparisons do not chain"),
            ("2 * if a then b else d", "where does this `if` end?"),
            ("(1, 2", "`(` is never closed"),
            ("a b", "expected an operator or `;`"),
            ("sum(i f[i])", "expected `:` and what is summed or multiplied"),
        ] {
            assert_eq!(formula(text), label, "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        assert!(formula(&"-".repeat(400)).contains("operations deep"));
        assert!(formula(&format!("1{}", " + 1".repeat(400))).contains("operations deep"));
        assert!(!formula(&format!("1{}", " + 1".repeat(200))).contains("operations deep"));
    }
}
