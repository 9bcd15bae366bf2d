//! At which key or value a place of a case's text lies, also while somebody writes it, and what may stand there.
//!
//! In: any text. After: what is not finished before the place keeps nothing behind it from being read: a heading ends every value, the end
//! of a line every inline table.

use std::ops::Range;

use super::pictures::Colours;
use super::schema::{self, LISTS};
use super::takes::Takes;

/// Most parts of a path, and most values within each other.
const MOST_PARTS: usize = 16;

/// A key of a case file where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAt {
    /// Its path from the top of the file; a last part `*` stands for a name that the case chooses.
    pub path: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its bytes.
    pub range: Range<usize>,
}

/// What may stand at a place of a case file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The bytes that it takes the place of.
    pub range: Range<usize>,
    /// The path of the key whose value stands there; none where a key stands.
    pub value_of: Option<String>,
    /// Whether it is between quotes, which are there.
    pub is_quoted: bool,
    /// Keys, or words, each with what it is.
    pub choices: Vec<Choice>,
}

/// A key or a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As written.
    pub text: String,
    /// What it is; nothing is said of words.
    pub doc: &'static str,
    /// Whether it is a string.
    pub is_text: bool,
}

/// The key at a byte of the text of a case file, if one stands there that is known.
pub fn key_at(text: &str, byte: usize) -> Option<KeyAt> {
    let Cursor { base, at, range } = Cursor::of(text, byte)?;
    if range.is_empty() || at != At::Key {
        return None;
    }
    let known = |path: &str| schema::all().find(|key| key.path == path);
    // Of what is in the value of a key, such as parameters of a boundary condition, that key tells.
    let mut key = known(&joined(&base, &text[range.clone()]));
    let mut outer = Some(base.as_str());
    while let (None, Some(path)) = (key, outer) {
        key = known(&joined(path, "*")).or_else(|| known(path));
        outer = path.rsplit_once('.').map(|(path, _)| path);
    }
    Some(KeyAt { path: key?.path, doc: key?.doc, range })
}

/// What may stand at a byte of the text of a case file.
pub fn choices(text: &str, byte: usize) -> Option<Choices> {
    let Cursor { base, at, range } = Cursor::of(text, byte)?;
    let choice = |text: &str, doc, is_text| Choice { text: text.into(), doc, is_text };
    let choices = match at {
        At::Heading { list } => headings(list),
        At::Key => {
            let takes = |(name, _): &(&'static str, Takes)| choice(name, "", false);
            let key = |name: &'static str| {
                let path = joined(&base, name);
                choice(name, schema::all().find(|key| key.path == path).map_or("", |key| key.doc), false)
            };
            let names = schema::keys_of(&base).into_iter().filter(|name| *name != "*");
            names.map(key).chain(tables(&base).into_iter().flatten().map(takes)).collect()
        }
        At::Value { .. } => {
            let mut words = vec![];
            taken(&base).into_iter().for_each(|takes| add_words(takes, &mut words));
            words
        }
    };
    let (value_of, is_quoted) = match at {
        At::Value { quoted } => (Some(base), quoted),
        _ => (None, false),
    };
    Some(Choices { range, value_of, is_quoted, choices })
}

fn joined(base: &str, name: &str) -> String {
    if base.is_empty() { name.into() } else { format!("{base}.{name}") }
}

/// Tables that have a heading: of those of lists, or of others.
fn headings(list: bool) -> Vec<Choice> {
    let mut names: Vec<&str> = schema::all().filter_map(|key| Some(key.path.rsplit_once('.')?.0)).collect();
    names.dedup();
    names.retain(|name| LISTS.contains(name) == list);
    names.into_iter().map(|name| Choice { text: name.into(), doc: "", is_text: false }).collect()
}

/// What a value may be that has a path: of the key, or of those in the table that it takes.
fn taken(path: &str) -> Vec<Takes> {
    let key = schema::all().find(|key| key.path == path);
    let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
    let open = || schema::all().find(|key| key.path == joined(outer, "*"));
    if let Some(key) = key.or_else(open) {
        return vec![key.takes];
    }
    if outer.is_empty() {
        return vec![];
    }
    let inner = tables(outer).into_iter().flatten().filter(|(name, _)| *name == last);
    inner.map(|(_, takes)| *takes).collect()
}

/// The keys of tables that a value may be that has a path.
fn tables(path: &str) -> Vec<&'static [(&'static str, Takes)]> {
    fn add(takes: Takes, tables: &mut Vec<&'static [(&'static str, Takes)]>) {
        match takes {
            Takes::Table(keys) | Takes::Open(keys) => tables.push(keys),
            Takes::List(of) => add(*of, tables),
            Takes::Either(choices) => choices.iter().for_each(|choice| add(*choice, tables)),
            _ => {}
        }
    }
    let mut found = vec![];
    taken(path).into_iter().for_each(|takes| add(takes, &mut found));
    found
}

fn add_words(takes: Takes, words: &mut Vec<Choice>) {
    let text = |word: &&str| Choice { text: word.to_string(), doc: "", is_text: true };
    match takes {
        Takes::Word(list) => words.extend(list.iter().map(text)),
        Takes::Colours => words.extend(Colours::ALL.iter().map(|(name, _)| text(name))),
        Takes::Truth => {
            words.extend(["true", "false"].map(|word| Choice { text: word.into(), doc: "", is_text: false }));
        }
        Takes::List(of) => add_words(*of, words),
        Takes::Either(choices) => choices.iter().for_each(|choice| add_words(*choice, words)),
        _ => {}
    }
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Heading { list: bool },
    Key,
    Value { quoted: bool },
}

/// A place in a text.
#[derive(Debug)]
struct Cursor {
    /// The path of the table of a key, or of the key of a value.
    base: String,
    at: At,
    /// The word there, or what is between quotes.
    range: Range<usize>,
}

/// A value that is a list or an inline table, and is not closed.
struct Open {
    is_list: bool,
    /// The table around it, and the parts of its key.
    table: String,
    key: Vec<String>,
}

/// What was read before a place.
#[derive(Default)]
struct Read {
    table: String,
    key: Vec<String>,
    /// Whether the `=` behind the key was passed.
    is_value: bool,
    open: Vec<Open>,
}

impl Read {
    fn path(&self) -> String {
        self.key.iter().fold(self.table.clone(), |path, part| joined(&path, part))
    }

    fn is_at_value(&self) -> bool {
        self.is_value || self.is_in_list()
    }

    fn is_in_list(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_list)
    }

    /// A key begins.
    fn begin(&mut self) {
        self.key.clear();
        self.is_value = false;
    }

    fn heading(&mut self, name: &str) {
        *self = Read { table: name.into(), ..Read::default() };
    }

    fn open(&mut self, is_list: bool) {
        let (table, key) = (self.table.clone(), self.key.clone());
        if !is_list {
            self.table = self.path();
            self.begin();
        }
        self.open.push(Open { is_list, table, key });
    }

    fn close(&mut self) {
        if let Some(Open { table, key, .. }) = self.open.pop() {
            (self.table, self.key, self.is_value) = (table, key, true);
        }
    }

    fn end_line(&mut self) {
        while self.open.last().is_some_and(|open| !open.is_list) {
            self.close();
        }
        if self.open.is_empty() {
            self.begin();
        }
    }
}

fn is_bare(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn run(letters: impl Iterator<Item = char>, of: impl Fn(char) -> bool) -> usize {
    letters.take_while(|letter| of(*letter)).map(char::len_utf8).sum()
}

/// The name in a heading, and whether it is that of a list; nothing where a text does not begin with one.
fn heading(text: &str) -> Option<(&str, bool)> {
    let inner = text.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let list = inner.starts_with('[');
    let inner = inner.trim_start_matches('[').trim_start();
    let name = &inner[..run(inner.chars(), |letter| is_bare(letter) || letter == '.')];
    let first = name.chars().next().is_none_or(|letter| letter.is_ascii_alphabetic());
    let behind = inner[name.len()..].trim_start_matches([' ', '\t']);
    let ends = behind.is_empty()
        || behind.starts_with(['\n', '\r'])
        || behind.starts_with(']') && !behind.trim_start_matches(']').starts_with(',');
    (first && ends).then_some((name, list))
}

impl Cursor {
    /// At a byte; nothing in comments and in texts of several lines.
    fn of(text: &str, byte: usize) -> Option<Cursor> {
        let byte = (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
        let start = byte - run(text[..byte].chars().rev(), is_bare);
        let word = start..byte + run(text[byte..].chars(), is_bare);
        let mut read = Read::default();
        let (mut at, mut begins) = (0, true);
        while at < start {
            let rest = &text[at..];
            let line = || rest.find('\n').unwrap_or(rest.len());
            if begins
                && let Some((name, list)) = heading(rest).filter(|(name, _)| !name.is_empty() || read.open.is_empty())
            {
                let len = line();
                if start <= at + len {
                    let opened = text[at..start].rfind('[').map_or(start, |open| at + open + 1);
                    return Some(Cursor { base: String::new(), at: At::Heading { list }, range: opened..word.end });
                }
                read.heading(name);
                at += len;
                continue;
            }
            if read.key.len() > MOST_PARTS {
                return None;
            }
            let letter = rest.chars().next()?;
            begins = letter == '\n';
            let mut len = letter.len_utf8();
            match letter {
                '\n' => read.end_line(),
                '#' => {
                    len = line();
                    if byte <= at + len {
                        return None;
                    }
                }
                '"' | '\'' if rest[1..].starts_with(letter) && rest[2..].starts_with(letter) => {
                    let long = &rest[..3];
                    len = 3 + rest[3..].find(long).map_or(rest.len() - 3, |end| end + 3);
                }
                '"' | '\'' => {
                    let (end, is_closed) = closing(&rest[1..], letter);
                    let inner = at + 1..at + 1 + end;
                    len = 1 + end + usize::from(is_closed);
                    if byte <= inner.end {
                        let range = if is_closed { inner } else { inner.start..word.end };
                        return read.is_at_value().then(|| Cursor {
                            base: read.path(),
                            at: At::Value { quoted: true },
                            range,
                        });
                    }
                    if !read.is_value {
                        read.key.push(text[inner].into());
                    }
                }
                '=' => read.is_value = true,
                '[' | '{' if read.open.len() == MOST_PARTS => return None,
                '[' => read.open(true),
                '{' => read.open(false),
                ']' | '}' => read.close(),
                ',' if !read.is_in_list() => read.begin(),
                _ if is_bare(letter) => {
                    len = run(rest.chars(), is_bare);
                    if !read.is_value {
                        read.key.push(rest[..len].into());
                    }
                }
                _ => {}
            }
            at += len;
        }
        let base = read.path();
        let is_there = at == start && base.matches('.').count() < MOST_PARTS;
        let at = if read.is_at_value() { At::Value { quoted: false } } else { At::Key };
        is_there.then_some(Cursor { base, at, range: word })
    }
}

/// The bytes before the quote that closes a string, or before the end of the line, and whether it is closed.
fn closing(text: &str, quote: char) -> (usize, bool) {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == '\n' || letter == quote && !escaped {
            return (at, letter == quote);
        }
        escaped = letter == '\\' && quote == '"' && !escaped;
    }
    (text.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may stand at the `|` of a text.
    fn at(text: &str) -> Option<Choices> {
        choices(&text.replace('|', ""), text.find('|').expect("a mark"))
    }

    fn texts(text: &str) -> Vec<String> {
        let choices = at(text).unwrap_or_else(|| panic!("{text}")).choices;
        choices.into_iter().map(|choice| choice.text).collect()
    }

    #[test]
    fn keys_are_those_of_the_table_that_has_the_place() {
        for (text, has, lacks) in [
            ("|", "spec", "finest"),
            ("spec = 1\n[refinement]\nfinest = 2\n|", "boxes", "spec"),
            ("[refinement]\nboxes = [\n  { level = 1, fr| }", "from", "boxes"),
            ("[refinement]\nboxes = [{ level = \n[output]\n|", "vtk", "from"),
            ("[[solids]]\nshape = \"sphere\"\nmotion.|", "displacement", "shape"),
            ("[faces]\nleft = { rule = \"a, b\", turbulence = { int| } }", "intensity", "rule"),
            ("[faces.left]\n|", "turbulence", "right"),
            ("units.|", "system", "spec"),
            ("[st|", "stop", "probes"),
            ("[[pro|]]", "probes", "stop"),
        ] {
            let texts = texts(text);
            assert!(texts.iter().any(|text| text == has), "{text}: {texts:?}");
            assert!(texts.iter().all(|text| text != lacks), "{text}: {texts:?}");
        }
        assert!(
            at("st|").is_some_and(|found| found.choices.iter().any(|key| key.text == "storage" && !key.doc.is_empty()))
        );
    }

    #[test]
    fn values_are_the_words_of_their_key() {
        assert_eq!(texts("target = |"), ["auto", "cuda", "hip", "cpu", "checked"]);
        assert_eq!(texts("[output]\nvtk = \"a|\""), ["true", "false", "amr", "unstructured"]);
        assert_eq!(texts("[[statistics]]\nof = [\"mean\", \"|\"]")[..2], ["mean", "rms"]);
        let found = at("target = \"c|pu\" # a").expect("a value");
        assert_eq!((found.range, found.is_quoted, found.value_of), (10..13, true, Some("target".into())));
        let rule = at("[faces]\nleft = { rule = \"|").expect("a value");
        assert_eq!(rule.value_of.as_deref(), Some("faces.left.rule"));
        for nothing in ["# a |", "name = \"\"\"a |\"\"\""] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn keys_are_known_where_they_stand() {
        let text =
            "spec = \"a\"\n[faces]\nleft = { rule = \"moving_wall\", velocity = [1, 0] }\n[refinement]\nfinest = ";
        let path = |place: &str| key_at(text, text.find(place).expect("it is there")).map(|key| key.path);
        assert_eq!(
            ["spec", "left", "velocity", "finest"].map(path),
            [Some("spec"), Some("faces.left"), Some("faces.left"), Some("refinement.finest"),]
        );
        assert_eq!(["faces]", "moving_wall", "1, 0"].map(path), [None; 3]);
    }

    #[test]
    fn what_is_deep_or_long_takes_no_long_time() {
        let many = 1 << 19;
        for text in ["a={", "a.", "[", "\"a\",", "[a.", "a = [[\n", "'"].map(|part| part.repeat(many)) {
            choices(&text, text.len());
            key_at(&text, text.len() / 2);
        }
    }
}
