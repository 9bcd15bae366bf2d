//! In what a place of a text stands that somebody is writing, whose statement there has no end yet.
//!
//! In: any text. After: brackets and statements without an end keep nothing behind them from being read.

use crate::lexer::continues_name;
use crate::parser::ITEMS;
use crate::source::Span;

/// A name for what is not written yet.
const MISSING: &str = "x";

/// A place in a text.
pub struct Place<'a> {
    /// The first word of the statement at the top that has the place; none where such a statement begins.
    pub item: &'a str,
    /// Whether it is in the block of that statement.
    pub inside: bool,
    /// What the statement has before the word at the place.
    pub tokens: Vec<&'a str>,
    /// Brackets that it has opened.
    open: Vec<char>,
    /// The word at the place.
    word: Span,
}

impl<'a> Place<'a> {
    /// At a byte; nothing in comments and numbers.
    pub fn of(text: &'a str, offset: usize) -> Option<Place<'a>> {
        let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
        let letters = |letters: &mut dyn Iterator<Item = char>| -> usize {
            letters.take_while(|letter| continues_name(*letter)).map(char::len_utf8).sum()
        };
        let start = offset - letters(&mut text[..offset].chars().rev());
        let word = Span::new(start, offset + letters(&mut text[offset..].chars()));
        if text[start..].starts_with(|letter: char| letter.is_ascii_digit()) {
            return None;
        }
        let mut place = Place { item: "", inside: false, tokens: vec![], open: vec![], word };
        let mut at = 0;
        while at < start {
            let rest = &text[at..start];
            let letter = rest.chars().next()?;
            let len = match letter {
                '/' if rest.starts_with("//") => rest.find('\n')?,
                _ if letter.is_whitespace() => letter.len_utf8(),
                _ if continues_name(letter) => letters(&mut rest.chars()),
                ':' if rest.starts_with("::") => 2,
                _ => letter.len_utf8(),
            };
            if !letter.is_whitespace() && !rest.starts_with("//") {
                place.pass(&rest[..len]);
            }
            at += len;
        }
        Some(place)
    }

    /// Goes behind a token.
    fn pass(&mut self, token: &'a str) {
        match token {
            ";" => self.begin(),
            "{" if self.tokens.last() != Some(&"::") => {
                self.inside = true;
                self.begin();
            }
            "}" if self.open.last() != Some(&'}') => {
                self.inside = false;
                self.begin();
            }
            _ if ITEMS.contains(&token) => {
                if !matches!(token, "let" | "param") {
                    self.inside = false;
                }
                self.begin();
                if !self.inside {
                    self.item = token;
                }
                self.tokens.push(token);
            }
            _ => {
                match token {
                    "(" => self.open.push(')'),
                    "[" => self.open.push(']'),
                    "{" => self.open.push('}'),
                    ")" | "]" | "}" => drop(self.open.pop()),
                    _ => {}
                }
                self.tokens.push(token);
            }
        }
    }

    /// A statement begins.
    fn begin(&mut self) {
        self.tokens.clear();
        self.open.clear();
        if !self.inside {
            self.item = "";
        }
    }

    /// Whether the place is in no bracket of its statement.
    pub fn is_bare(&self) -> bool {
        self.open.is_empty()
    }

    /// The text, in which the statement ends behind the place.
    pub fn finished(&self, text: &str) -> String {
        let mut whole = text[..self.word.end].to_string();
        let mut end = self.word.end;
        if !self.tokens.is_empty() || self.word.start < self.word.end {
            if self.word.start == self.word.end {
                whole += MISSING;
            }
            whole.extend(self.open.iter().rev());
            whole.push(';');
            end += self.rest(&text[end..]);
        }
        whole += &text[end..];
        let letters = whole.lines().flat_map(|line| line.split("//").next().unwrap_or_default().chars());
        let depth = letters.fold(0usize, |depth, letter| match letter {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        });
        whole.push('\n');
        whole.extend(std::iter::repeat_n('}', depth));
        whole
    }

    /// The length of what the statement has behind the place.
    fn rest(&self, text: &str) -> usize {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let first = line.trim_start().split(|letter| !continues_name(letter)).next().unwrap_or_default();
            if at > 0 && ITEMS.contains(&first) {
                return at;
            }
            let code = line.split("//").next().unwrap_or_default();
            if let Some(end) = code.find(|letter| matches!(letter, ';' | '{' | '}') && !self.open.contains(&letter)) {
                return at + end + usize::from(code[end..].starts_with(';'));
            }
            at += line.len();
        }
        at
    }
}
