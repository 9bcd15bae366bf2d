//! A text that parses, to lines of tokens with the spaces before them; comments are tokens too.

/// What a token is, as far as the spaces around it depend on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    /// A word of the grammar that stands before a formula.
    Keyword,
    Number,
    /// A minus or `!` that belongs to what follows.
    Sign,
    Comment,
    Other,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    /// Spaces before it.
    pub gap: usize,
    /// Fewest spaces before it.
    pub least: usize,
    /// Whether it is a brace of a list of names, which has no spaces inside.
    pub tight: bool,
}

/// The tokens that begin on a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Spaces before the first token.
    pub indent: usize,
    pub tokens: Vec<Token>,
}

/// Words behind which a formula begins; so it does behind the word that begins a statement.
const KEYWORDS: &[&str] = &["at", "else", "if", "in", "over", "then"];
/// Operators of more than one character, the longest first.
const LONG: &[&str] = &["..=", "..", "::", "<-", "<=", ">=", "==", "!=", "&&", "||"];
/// Columns that a tab moves on by.
const TAB: usize = 4;

impl Token {
    /// Whether an operand follows, so that a minus behind it is a sign.
    pub fn wants_operand(&self) -> bool {
        match self.kind {
            Kind::Name | Kind::Number => false,
            Kind::Keyword | Kind::Sign | Kind::Comment => true,
            Kind::Other => !matches!(self.text.as_str(), ")" | "]" | "}"),
        }
    }

    /// What it may be aligned with: `=` and `<-` with each other, numbers with numbers.
    fn class(&self) -> String {
        match (self.kind, self.text.as_str()) {
            (_, "<-") => "=".into(),
            (Kind::Number, _) => "0".into(),
            _ => self.text.clone(),
        }
    }
}

impl Line {
    /// Of every token, its class and the column where it ends.
    pub fn ends(&self) -> Vec<(String, usize)> {
        let mut column = self.indent;
        let end = |(at, token): (usize, &Token)| {
            column += if at == 0 { 0 } else { token.gap };
            column = match token.text.rsplit_once('\n') {
                Some((_, last)) => last.chars().count(),
                None => column + token.text.chars().count(),
            };
            (token.class(), column)
        };
        self.tokens.iter().enumerate().map(end).collect()
    }

    /// The line as text.
    pub fn text(&self) -> String {
        let mut text = " ".repeat(self.indent);
        for (at, token) in self.tokens.iter().enumerate() {
            text.push_str(&" ".repeat(if at == 0 { 0 } else { token.gap }));
            text.push_str(&token.text);
        }
        text
    }
}

/// The lines of a text.
pub fn lines(text: &str) -> Vec<Line> {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut lines = vec![Line::default()];
    let mut gap = 0;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '\n' => {
                lines.push(Line::default());
                gap = 0;
                1
            }
            '\t' => {
                gap += TAB;
                1
            }
            _ if c.is_whitespace() => {
                gap += 1;
                c.len_utf8()
            }
            _ => {
                let (kind, len) = token(rest);
                let last = lines.len() - 1;
                let line = &mut lines[last];
                if line.tokens.is_empty() {
                    line.indent = gap;
                }
                let text = rest[..len].trim_end().to_string();
                line.tokens.push(Token { kind, text, gap, least: 0, tight: false });
                gap = 0;
                len
            }
        };
        rest = &rest[len..];
    }
    lines
}

/// Kind and length of the token that a text begins with.
fn token(text: &str) -> (Kind, usize) {
    let c = text.chars().next().unwrap_or(' ');
    if text.starts_with("//") {
        return (Kind::Comment, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Kind::Comment, block_comment(text));
    }
    if c.is_ascii_digit() {
        return (Kind::Number, number(text));
    }
    if c.is_alphabetic() || c == '_' {
        let len = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let kind = if KEYWORDS.contains(&&text[..len]) { Kind::Keyword } else { Kind::Name };
        return (kind, len);
    }
    let long = LONG.iter().find(|long| text.starts_with(**long));
    (Kind::Other, long.map_or(c.len_utf8(), |long| long.len()))
}

/// Length of a comment with the comments inside it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut len) = (0, 0);
    while len < text.len() {
        let rest = &text[len..];
        let step = match rest.get(..2) {
            Some("/*") => {
                depth += 1;
                2
            }
            Some("*/") => {
                depth -= 1;
                2
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        len += step;
        if depth == 0 {
            break;
        }
    }
    len
}

/// Length of a number; a range `0..2` is none.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut len = digits(0);
    if bytes.get(len) == Some(&b'.') && digits(len + 1) > 0 {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + sign);
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}
