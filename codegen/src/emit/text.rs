//! The one way of a spec's text into a file: as what a line of comment says.
//!
//! What a spec's author writes besides formulas (comments, the names in them, the name of its file) stands in comments of the
//! emitted text and nowhere else. A [`Comment`] is made by [`Comment::new`] alone, which leaves nothing in it that could end
//! the line of comment for a compiler, open or close another comment, or make the line look like something that it is not.
//! In code, names of a spec are identifiers of [`word`](crate::lower::word), and its numbers are printed by `number`.

use std::fmt;

use lbm_bundle::plain::is_plain;
use serde::Serialize;

/// What a line of comment says, without its `//`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Comment(String);

impl Comment {
    /// The text in one line, with a blank for each character that would end it or be unseen, blanks inside `/*`, `*/` and
    /// `??`, which begin comments and trigraphs, and a full stop behind a backslash at its end, which would join the next line.
    pub fn new(text: &str) -> Comment {
        let mut line = String::new();
        for c in text.chars().map(|c| if is_plain(c) { c } else { ' ' }) {
            if let ('/', '*') | ('*', '/') | ('?', '?') = (line.chars().next_back().unwrap_or(' '), c) {
                line.push(' ');
            }
            line.push(c);
        }
        line.truncate(line.trim_end().len());
        if line.ends_with('\\') {
            line.push('.');
        }
        Comment(line)
    }
}

impl fmt::Display for Comment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_comment_ends_its_line() {
        for (text, line) in [
            ("relaxation rate ω, `1/τ` \"of\" 5 µs", "relaxation rate ω, `1/τ` \"of\" 5 µs"),
            ("a\rb\nc\r\nd\u{b}e\u{c}f\u{85}g\u{2028}h\u{2029}i\0j", "a b c  d e f g h i j"),
            ("\u{1b}[31mred\u{202e}der\u{2066}\u{200f}", " [31mred der"),
            ("\tindented", " indented"),
            ("ends in \\", "ends in \\."),
            ("ends in \\ \t ", "ends in \\."),
            ("why??/", "why? ?/"),
            ("???", "? ? ?"),
            ("/* a */ /*/ **/", "/ * a * / / * / ** /"),
            (" leading blanks stay", " leading blanks stay"),
            ("", ""),
        ] {
            assert_eq!(Comment::new(text).to_string(), line, "{text:?}");
        }
    }
}
