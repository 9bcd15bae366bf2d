//! Text to tokens.
//!
//! In: any text. After: it has no control characters but tabs and ends of lines, every token is one the grammar knows, brackets match, numbers are plain decimals, comments are gone,
//! and each token's `Span::byte_range` is its place in the text.
//!
//! proc_macro2 makes the tokens. Its tokeniser stops at the first thing it dislikes without saying where, and takes
//! `2x` for a number, so a scan of our own comes first and reports everything of that sort in one run. The scan blanks
//! comments and the byte order mark with spaces of the same length: offsets stay.

use std::str::FromStr;

use lbm_bundle::plain::{is_plain, unseen};
use num_bigint::BigInt;
use num_traits::Pow;
use proc_macro2::TokenStream;

use crate::diag::{Code, Diagnostic, Report};
use crate::expr::Rational;
use crate::source::{Source, Span};

/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 64;
/// Largest power of ten in a number.
const MAX_EXPONENT: i32 = 300;

/// The tokens of `source`.
pub fn lex(source: &Source) -> Result<TokenStream, Report> {
    let mut scan = Scan { source, report: Report::new(), brackets: Vec::new(), clean: String::new(), too_deep: false };
    scan.characters();
    scan.run();
    scan.report.propagate()?;
    TokenStream::from_str(&scan.clean).map_err(|error| {
        let range = error.span().byte_range();
        let span = Span::new(range.start, range.end);
        Diagnostic::new(Code::IllegalCharacter, source, span, error.to_string()).into()
    })
}

/// The exact value of a number that passed the scan.
pub fn number(text: &str) -> Rational {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(0)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = BigInt::from_str(&format!("{whole}{fraction}")).unwrap_or_default();
    let shift = exponent - fraction.len() as i32;
    let power = Pow::pow(BigInt::from(10), shift.unsigned_abs());
    if shift >= 0 { Rational::from_integer(digits * power) } else { Rational::new(digits, power) }
}

/// The comment that opens a text, a line each, without `//`.
pub fn opening_comment(source: &Source) -> Vec<String> {
    let text = source.text().trim_start_matches('\u{feff}');
    let comment = text.lines().skip_while(|line| line.trim().is_empty()).map_while(comment_line);
    comment.map(String::from).collect()
}

/// The comment on the line where `span` ends, behind it, without `//`; else the lines of comment directly above the line
/// where it starts, joined; else nothing.
pub fn comment_at(source: &Source, span: Span) -> String {
    let text = source.text();
    let rest = text[span.end..].lines().next().unwrap_or_default();
    if let Some((_, comment)) = rest.split_once("//") {
        return comment.trim_start_matches('/').trim().into();
    }
    comment_above(source, span)
}

/// The lines of comment directly above the line where `span` starts, joined by spaces.
pub fn comment_above(source: &Source, span: Span) -> String {
    let before = &source.text()[..span.start];
    let above = &before[..before.rfind('\n').map_or(0, |at| at + 1)];
    let mut lines: Vec<&str> = above.lines().rev().map_while(comment_line).collect();
    lines.reverse();
    lines.join(" ")
}

fn comment_line(line: &str) -> Option<&str> {
    line.trim().strip_prefix("//").map(|rest| rest.trim_start_matches('/').trim())
}

/// What to write for a character that looks like mathematics.
fn instead_of(c: char) -> Option<&'static str> {
    Some(match c {
        '²' => "write a power as `^2`",
        '³' => "write a power as `^3`",
        '⁰' | '¹' | '⁴'..='⁹' | '⁻' => "write a power with `^`",
        '₀'..='₉' => "write an index in brackets: `u[0]`",
        '·' | '⋅' | '∙' | '×' => "write a product as `*`, of vectors as `dot(a, b)`",
        '÷' => "write a quotient with `/`",
        '−' | '–' | '—' => "this is a dash; write minus as `-`",
        '←' | '→' | '⟵' | '⟶' => "write `<-`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '∑' => "write a sum as `sum(i: ...)`",
        '∏' => "write a product as `prod(a: ...)`",
        '√' => "write a root as `sqrt(...)`",
        '∂' | '∇' => "there are no derivatives: a method is local to a cell",
        '%' => "there is no remainder",
        '@' | '#' | '$' | '?' | '~' | '\\' => "it has no meaning in this language",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => "this is no plain space",
        _ if c.is_alphabetic() => "names have Latin letters without accents, Greek letters, digits and `_`",
        _ => return None,
    })
}

fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || (('\u{370}'..='\u{3ff}').contains(&c) && c.is_alphabetic())
}

/// Whether a name may have the character behind its first.
pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

struct Scan<'a> {
    source: &'a Source,
    report: Report,
    brackets: Vec<(char, Span)>,
    clean: String,
    too_deep: bool,
}

impl Scan<'_> {
    /// Reports what is no plain character, in comments too: readers of a text, and what is made of it, must see the same lines.
    fn characters(&mut self) {
        let source = self.source.clone();
        for (at, c) in unseen(source.text()) {
            let label = match c {
                '\r' => "a carriage return without a line feed behind it".into(),
                _ => format!("character U+{:04X}", c as u32),
            };
            self.fault(Code::ControlCharacter, Span::new(at, at + c.len_utf8()), label, "");
        }
    }

    fn run(&mut self) {
        let source = self.source.clone();
        let text = source.text();
        while self.clean.len() < text.len() {
            let at = self.clean.len();
            let rest = &text[at..];
            let taken = self.one(at, rest);
            let kept = match taken {
                Taken::Kept(len) => len,
                Taken::Blank(len) => {
                    self.clean.extend(rest[..len].chars().flat_map(|c| match c {
                        '\n' => "\n".chars(),
                        _ => "    "[..c.len_utf8()].chars(),
                    }));
                    continue;
                }
            };
            self.clean.push_str(&rest[..kept]);
        }
        for (open, span) in std::mem::take(&mut self.brackets) {
            self.fault(Code::Bracket, span, format!("`{open}` is never closed"), "");
        }
    }

    fn fault(&mut self, code: Code, span: Span, label: String, hint: &str) {
        let diagnostic = Diagnostic::new(code, self.source, span, label);
        self.report.push(if hint.is_empty() { diagnostic } else { diagnostic.hint(hint) });
    }

    fn one(&mut self, at: usize, rest: &str) -> Taken {
        let c = rest.chars().next().unwrap_or(' ');
        let next = rest[c.len_utf8()..].chars().next().unwrap_or(' ');
        let span = Span::new(at, at + c.len_utf8());
        match c {
            '\u{feff}' if at == 0 => Taken::Blank(c.len_utf8()),
            ' ' | '\n' | '\t' | '\r' => Taken::Kept(1),
            '/' if next == '/' => Taken::Blank(rest.find('\n').unwrap_or(rest.len())),
            '/' if next == '*' => self.block_comment(at, rest),
            '(' | '[' | '{' => {
                if self.brackets.len() == MAX_DEPTH && !self.too_deep {
                    self.too_deep = true;
                    self.fault(Code::Nesting, span, format!("more than {MAX_DEPTH} brackets are open"), "");
                }
                self.brackets.push((c, span));
                Taken::Kept(1)
            }
            ')' | ']' | '}' => {
                self.close(c, span);
                Taken::Kept(1)
            }
            '.' if next.is_ascii_digit() && !self.clean.ends_with('.') => {
                let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
                let span = Span::new(at, at + 1 + digits.len());
                let label = format!("`.{digits}` has no digit before its point");
                self.fault(Code::PartialNumber, span, label, &format!("write `0.{digits}`"));
                Taken::Blank(1 + digits.len())
            }
            ',' | ';' | ':' | '=' | '<' | '>' | '!' | '&' | '|' | '+' | '-' | '*' | '/' | '^' | '.' => Taken::Kept(1),
            '0'..='9' => self.number(at, rest),
            '\'' | '"' | '`' | '’' | '‘' | '“' | '”' => {
                self.fault(Code::Quote, span, format!("`{c}` has no meaning"), "");
                Taken::Blank(c.len_utf8())
            }
            _ if !is_plain(c) => Taken::Blank(c.len_utf8()),
            _ if starts_name(c) => Taken::Kept(rest.find(|c| !continues_name(c)).unwrap_or(rest.len())),
            _ => {
                let shown = if c.is_whitespace() { format!("character U+{:04X}", c as u32) } else { format!("`{c}`") };
                self.fault(
                    Code::IllegalCharacter,
                    span,
                    format!("{shown} has no meaning"),
                    instead_of(c).unwrap_or(""),
                );
                Taken::Blank(c.len_utf8())
            }
        }
    }

    fn block_comment(&mut self, at: usize, rest: &str) -> Taken {
        let mut depth = 0;
        let mut len = 0;
        while let Some(mark) = rest[len..].find(['*', '/']) {
            len += mark;
            if rest[len..].starts_with("/*") {
                depth += 1;
                len += 2;
            } else if rest[len..].starts_with("*/") {
                depth -= 1;
                len += 2;
            } else {
                len += 1;
            }
            if depth == 0 {
                return Taken::Blank(len);
            }
        }
        self.fault(Code::OpenComment, Span::new(at, at + 2), "this comment goes on to the end of the file".into(), "");
        Taken::Blank(rest.len())
    }

    fn close(&mut self, close: char, span: Span) {
        let open = match close {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        let Some(depth) = self.brackets.iter().rposition(|(other, _)| *other == open) else {
            self.fault(Code::Bracket, span, format!("`{close}` closes nothing"), "");
            return;
        };
        for (other, unclosed) in self.brackets.split_off(depth).split_off(1) {
            let label = format!("`{other}` is not closed");
            let diagnostic = Diagnostic::new(Code::Bracket, self.source, unclosed, label);
            self.report.push(diagnostic.also(span, format!("before this `{close}`")));
        }
    }

    fn number(&mut self, at: usize, rest: &str) -> Taken {
        let digits = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count();
        let byte = |at: usize| rest.as_bytes().get(at).copied().unwrap_or(b' ');
        let whole = digits(0);
        let mut len = whole;
        let mut bare_point = false;
        if byte(len) == b'.' && byte(len + 1) != b'.' {
            let fraction = digits(len + 1);
            bare_point = fraction == 0;
            len += 1 + fraction;
        }
        let mut exponent = 0;
        if matches!(byte(len), b'e' | b'E') {
            let sign = usize::from(matches!(byte(len + 1), b'+' | b'-'));
            let count = digits(len + 1 + sign);
            if count > 0 {
                exponent = rest[len + 1..len + 1 + sign + count].parse().unwrap_or(i32::MAX);
                len += 1 + sign + count;
            }
        }
        let suffix: usize = rest[len..].chars().take_while(|c| continues_name(*c)).map(char::len_utf8).sum();
        let span = Span::new(at, at + len + suffix);
        let text = &rest[..len + suffix];
        if suffix > 0 {
            let (number, name) = (&rest[..len], &rest[len..len + suffix]);
            let hint = format!("write a product with `*`: `{number} * {name}`");
            self.fault(Code::NumberSuffix, span, format!("`{name}` sticks to the number"), &hint);
        } else if bare_point {
            let hint = format!("write `{}`", text.replacen('.', ".0", 1));
            self.fault(Code::PartialNumber, span, format!("`{text}` has no digit behind its point"), &hint);
        } else if whole > 1 && rest.starts_with('0') {
            let hint = format!("write `{}`", text.trim_start_matches('0'));
            self.fault(Code::LeadingZero, span, format!("`{text}` starts with a zero"), &hint);
        } else if exponent.abs() > MAX_EXPONENT || len > 2 * MAX_EXPONENT as usize {
            self.fault(Code::NumberRange, span, "this number is too large or too small".into(), "");
        }
        Taken::Kept(len + suffix)
    }
}

enum Taken {
    Kept(usize),
    Blank(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        match lex(&Source::new("t.lbm", text)) {
            Ok(_) => vec![],
            Err(report) => report.diagnostics().iter().map(|diagnostic| diagnostic.code().code()).collect(),
        }
    }

    #[test]
    fn every_trap_is_reported_in_one_run() {
        let text = "2x 08 1e400 .5 1.e3 f' u² a·b `q` \"s\" → 1e3f é";
        let found = codes(text);
        let expected = "E0003 E0004 E0006 E0005 E0005 E0007 E0001 E0001 E0007 E0007 E0007 E0007 E0001 E0003 E0001";
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn ranges_greek_and_comments_are_fine() {
        assert_eq!(
            codes("\u{feff}// é ' \"\nx in -1..=1 /* ² /* nested */ */ 0..3 ρ 0 0.5 1e-3 1.5E+2 /// doc"),
            [""; 0]
        );
    }

    #[test]
    fn control_characters_are_refused_in_comments_too() {
        for c in
            ['\r', '\u{b}', '\u{c}', '\u{1b}', '\0', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}']
        {
            for text in [format!("// a{c}b\nx"), format!("/* a{c}b */ x"), format!("x{c}y")] {
                assert_eq!(codes(&text), ["E0010"], "{text:?}");
            }
        }
        assert_eq!(codes("x\r\n\t// a\tb\r\n/* \r\n */"), [""; 0]);
    }

    #[test]
    fn brackets_are_matched_across_kinds() {
        assert_eq!(codes("( [ ) ]"), ["E0002", "E0002"]);
        assert_eq!(codes("{ ( }"), ["E0002"]);
        assert_eq!(codes("{"), ["E0002"]);
        assert!(codes(&"(".repeat(70)).contains(&"E0009"));
    }

    #[test]
    fn spans_survive_mark_and_comments() {
        let source = Source::new("t.lbm", "\u{feff}/* é */ ρ = 1");
        let token = lex(&source).unwrap().into_iter().next().unwrap();
        let range = token.span().byte_range();
        assert_eq!(&source.text()[range], "ρ");
    }

    #[test]
    fn numbers_are_exact() {
        for (text, value) in [("0.1", (1, 10)), ("1.5e2", (150, 1)), ("25E-3", (1, 40)), ("0", (0, 1))] {
            assert_eq!(number(text), Rational::new(value.0.into(), value.1.into()), "{text}");
        }
    }

    #[test]
    fn comments_document() {
        let source = Source::new("t.lbm", "// one\n// two\n\n// above\nparam a; // behind\nparam b;\n");
        let at = |text: &str| {
            let start = source.text().find(text).unwrap();
            comment_at(&source, Span::new(start, start + text.len()))
        };
        assert_eq!(opening_comment(&source), ["one", "two"]);
        assert_eq!((at("param a;").as_str(), at("param b;").as_str()), ("behind", ""));
        assert_eq!(comment_above(&source, Span::new(source.text().find("param a").unwrap(), 0)), "above");
    }
}
