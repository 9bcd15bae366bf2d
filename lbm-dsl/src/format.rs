//! A text to the same text in the house style.
//!
//! In: a text that parses. After: the same tokens and comments on the same lines; indentation, the spaces between tokens and
//! blank lines follow rules; formatting again changes nothing.
//!
//! The rules are few, and lines are the author's: a line is never broken or joined. A block is indented by four; a line that
//! goes on with a statement keeps its place relative to the statement's first line. Two tokens are apart by what their kinds
//! ask for. A wider gap is alignment, and stays, where the token behind it ends in the same column as its like on the line
//! above or below. The gap before a comment at the end of a line is the author's.

mod scan;

use crate::diag::Report;
use crate::parser;
use crate::source::Source;
use scan::{Kind, Line, Token};

/// Spaces of a level.
const INDENT: usize = 4;

/// The text in the house style; an error if it has syntax errors.
pub fn format(source: &Source) -> Result<String, Report> {
    parser::parse(source)?;
    let mut lines = scan::lines(source.text());
    space(&mut lines);
    indent(&mut lines);
    align(&mut lines);
    Ok(written(&lines))
}

/// Sets the least gap before each token but the first of a line.
fn space(lines: &mut [Line]) {
    let mut before: Option<Token> = None;
    let mut last: Option<Token> = None;
    let mut braces = Vec::new();
    for line in lines {
        for (at, token) in line.tokens.iter_mut().enumerate() {
            let unary = matches!(token.text.as_str(), "-" | "!") && last.as_ref().is_none_or(Token::wants_operand);
            if unary {
                token.kind = Kind::Sign;
            }
            let begins = last.as_ref().is_none_or(|last| matches!(last.text.as_str(), ";" | "{" | "}"));
            if begins && token.kind == Kind::Name {
                token.kind = Kind::Keyword;
            }
            match token.text.as_str() {
                "{" => {
                    token.tight = last.as_ref().is_some_and(|last| last.text == "::");
                    braces.push(token.tight);
                }
                "}" => token.tight = braces.pop().unwrap_or(false),
                _ => {}
            }
            if at > 0
                && let Some(before) = &before
            {
                token.least = gap(before, token);
            }
            before = Some(token.clone());
            if token.kind != Kind::Comment {
                last = Some(token.clone());
            }
        }
        fractions(line);
    }
}

/// Spaces between two tokens of a line.
fn gap(left: &Token, right: &Token) -> usize {
    if left.kind == Kind::Comment || right.kind == Kind::Comment {
        return 1;
    }
    let tight = match (left.text.as_str(), right.text.as_str()) {
        (_, "," | ";" | ":" | ")" | "]") | ("(" | "[", _) => true,
        (_, "." | ".." | "..=" | "::" | "^") | ("." | ".." | "..=" | "::" | "^", _) => true,
        ("{", _) => left.tight,
        (_, "}") => right.tight,
        (")" | "]", "(" | "[") => true,
        (_, "(") => left.kind == Kind::Name,
        (_, "[") => matches!(left.kind, Kind::Name | Kind::Keyword),
        _ => false,
    };
    usize::from(!tight && left.kind != Kind::Sign)
}

/// A quotient of two numbers stays as short as the author wrote it: `1/3`.
fn fractions(line: &mut Line) {
    for at in 2..line.tokens.len() {
        let [left, stroke, right] = &line.tokens[at - 2..=at] else { continue };
        let numbers = left.kind == Kind::Number && right.kind == Kind::Number;
        if numbers && stroke.text == "/" && stroke.gap == 0 && right.gap == 0 {
            line.tokens[at - 1].least = 0;
            line.tokens[at].least = 0;
        }
    }
}

/// Sets the indentation of each line.
fn indent(lines: &mut [Line]) {
    // Open brackets, and whether what stands directly inside is a list of statements or names.
    let mut open: Vec<bool> = Vec::new();
    let mut ended = true;
    let mut shift = 0isize;
    for line in lines.iter_mut().filter(|line| !line.tokens.is_empty()) {
        let closing = line.tokens[0].text == "}";
        let depth = open.iter().filter(|block| **block).count() - usize::from(closing && !open.is_empty());
        let own = line.indent as isize;
        let level = (INDENT * depth) as isize;
        line.indent = if ended || closing {
            shift = level - own;
            level
        } else {
            (own + shift).max(level + INDENT as isize)
        } as usize;
        for token in &line.tokens {
            match token.text.as_str() {
                _ if token.kind == Kind::Comment => continue,
                "{" => open.push(true),
                "(" | "[" => open.push(false),
                "}" | ")" | "]" => drop(open.pop()),
                _ => {}
            }
            let list = open.last().is_none_or(|block| *block);
            ended = list && matches!(token.text.as_str(), ";" | "{" | "}" | ",");
        }
    }
}

/// Sets the gaps: alignment where a neighbour confirms it, else the least. Dropping one may undo another, so until none
/// is dropped.
fn align(lines: &mut [Line]) {
    for line in lines.iter_mut() {
        for token in &mut line.tokens {
            let kept = token.kind == Kind::Comment || token.least > 0;
            token.gap = if kept { token.gap.max(token.least) } else { token.least };
        }
    }
    loop {
        let ends: Vec<Vec<(String, usize)>> = lines.iter().map(Line::ends).collect();
        let mut dropped = false;
        for (at, line) in lines.iter_mut().enumerate() {
            let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let near: Vec<&(String, usize)> = neighbours.filter_map(|at| ends.get(at)).flatten().collect();
            for (token, end) in line.tokens.iter_mut().zip(&ends[at]).skip(1) {
                if token.gap > token.least && token.kind != Kind::Comment && !near.contains(&end) {
                    token.gap = token.least;
                    dropped = true;
                }
            }
        }
        if !dropped {
            return;
        }
    }
}

/// The lines as text: no blank line at either end, no two together.
fn written(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut blank = false;
    for line in lines {
        if line.tokens.is_empty() {
            blank = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            text.push('\n');
        }
        text.push_str(&line.text());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer;
    use crate::shipped;

    fn formatted(text: &str) -> String {
        format(&Source::new("t.lbm", text)).unwrap_or_else(|report| panic!("{}\n{text}", report.render(100)))
    }

    /// The tokens as the parser sees them.
    fn tokens(text: &str) -> String {
        lexer::lex(&Source::new("t.lbm", text)).unwrap().to_string()
    }

    #[test]
    fn spaces_follow_the_rules() {
        for (given, wanted) in [
            ("let x=-1+2*( 3-y[ a,b ] )^2 ;", "let x = -1 + 2 * (3 - y[a, b])^2;\n"),
            ("let x   = 1/3  +  a/ 2 - f . cs2;", "let x = 1/3 + a / 2 - f.cs2;\n"),
            ("lattice L{cs2=1/3;shell(-1,0):1/9;}", "lattice L { cs2 = 1/3; shell (-1, 0): 1/9; }\n"),
            (
                "stencil s{space 1,x;mean  over(0,1/2);points-1,0;}",
                "stencil s { space 1, x; mean over (0, 1/2); points -1, 0; }\n",
            ),
            ("use  walls :: { a,b } ;", "use walls::{a, b};\n"),
            (
                "let m[ x in -1 ..= 1 ]=sum( i if c[i,0]==-1 :f[ i ] );",
                "let m[x in -1..=1] = sum(i if c[i, 0] == -1: f[i]);\n",
            ),
            ("boundary w{link f[i]<-f[opp( i )];}", "boundary w { link f[i] <- f[opp(i)]; }\n"),
            ("let x = if(a>0)&& !(b<0) then 1 else-1;//why", "let x = if (a > 0) && !(b < 0) then 1 else -1; //why\n"),
        ] {
            assert_eq!(formatted(given), wanted);
        }
    }

    #[test]
    fn lines_are_indented_by_block_and_go_on_where_the_author_put_them() {
        let given = "\n\n\tcollide {\nlet x = 1\n      + 2;\n\n\n  // why\n  f[i] <-\nx;  \n }\n\n";
        let wanted = "collide {\n    let x = 1\n          + 2;\n\n    // why\n    f[i] <-\n        x;\n}\n";
        assert_eq!(formatted(given), wanted);
    }

    #[test]
    fn alignment_stays_where_a_neighbour_shares_it() {
        let kept = "let rho  = 1;\nlet j[a] = 2;\nlet xyz  = 3;\n";
        assert_eq!(formatted(kept), kept);
        assert_eq!(formatted("let rho   = 1;\nlet j[a] = 2;\n"), "let rho = 1;\nlet j[a] = 2;\n");
        let arrows = "collide {\n    let gx[a]  = 1;\n    f[a]      <- 2;\n}\n";
        assert_eq!(formatted(arrows), arrows);
    }

    #[test]
    fn comments_stay_as_they_are() {
        let text = "/* a  b\n   c */ let x = 1;   // d  e\n";
        assert_eq!(formatted(text), text);
    }

    #[test]
    fn shipped_texts_are_fixed_points() {
        for (name, text) in shipped::specs().chain(shipped::modules()) {
            assert_eq!(formatted(text), text, "{name}");
        }
    }

    /// Shipped texts with their spaces changed at random give the same tokens, and formatting them again changes nothing.
    #[test]
    fn tokens_stay_and_a_second_time_changes_nothing() {
        let mut state = 1u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for (name, text) in shipped::specs().chain(shipped::modules()) {
            for _ in 0..6 {
                let mut changed = String::new();
                for line in text.lines() {
                    let code = line.split("//").next().unwrap_or_default();
                    for c in code.chars() {
                        match (c, below(12)) {
                            (' ', 0) => changed.push_str("   "),
                            (' ', 1) => changed.push_str(" \t"),
                            ('(' | ',' | '+' | '*', 0) => changed.extend([' ', c, ' ', ' ']),
                            (';' | '{' | ',', 1) => changed.extend([c, '\n']),
                            _ => changed.push(c),
                        }
                    }
                    changed.push_str(&line[code.len()..]);
                    changed.push('\n');
                }
                let once = formatted(&changed);
                assert_eq!(tokens(&once), tokens(&changed), "{name}");
                assert_eq!(formatted(&once), once, "{name}");
                assert_eq!(once.matches("//").count(), changed.matches("//").count(), "{name}");
            }
        }
    }
}
