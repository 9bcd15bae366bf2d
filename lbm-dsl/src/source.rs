//! A text with a name, and places in it.
//!
//! In: nothing. After: every [`Span`] of a stage is a byte range of the [`Source`] it came from, on character boundaries.

use std::sync::Arc;

use lbm_bundle::plain::{shown, shown_line, unseen};
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// A range of bytes of a [`Source`]; `end` is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span behind this one.
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }
}

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line from 1.
    pub line: usize,
    /// Character of the line from 1.
    pub column: usize,
}

/// A named text. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// The text as diagnostics show it: of the same length, but with signs in the place of what is unseen, so that no text moves a
    /// terminal's cursor.
    shown: Arc<str>,
}

impl Source {
    /// The text `text` of the file `name`, which may have folders in front.
    pub fn new(name: &str, text: &str) -> Self {
        let text: Arc<str> = text.into();
        let shown = if unseen(&text).next().is_none() { text.clone() } else { shown(&text).into() };
        Self { name: shown_line(name).into(), text, shown }
    }

    /// Name as given, with a sign in the place of each character that is not plain.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name without folders.
    pub fn file(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// Name without folders and without `.lbm`.
    pub fn stem(&self) -> &str {
        self.file().strip_suffix(".lbm").unwrap_or(self.file())
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text in `span`.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    /// Line and column of a byte.
    pub fn position(&self, offset: usize) -> Position {
        let before = &self.text[..offset.min(self.text.len())];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Position { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

/// Longest line that is shown whole, in bytes. Nobody reads longer ones, and miette cannot show the longest.
const LONG_LINE: usize = 1000;
/// Bytes shown of a longer line, before and behind a place.
const AROUND: usize = 40;

impl Source {
    /// What is shown around a byte of a long line: a piece of that line.
    fn around(&self, offset: usize) -> Box<dyn SpanContents<'_> + '_> {
        let Position { line, column } = self.position(offset);
        let text = &self.shown;
        let boundary = |at: usize| (at..).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let start = boundary(offset.saturating_sub(AROUND)).max(text[..offset].rfind('\n').map_or(0, |at| at + 1));
        let end = boundary((offset + AROUND).min(text.len()));
        let end = text[offset..end].find('\n').map_or(end, |at| offset + at);
        let column = column - 1 - text[start..offset].chars().count();
        let (data, span) = (&text.as_bytes()[start..end], (start, end - start).into());
        Box::new(MietteSpanContents::new_named(self.name.to_string(), data, span, line - 1, column, 1))
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.shown.read_span(span, before, after)?;
        if inner.data().split(|byte| *byte == b'\n').any(|line| line.len() > LONG_LINE) {
            return Ok(self.around(span.offset()));
        }
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.to_string(),
            inner.data(),
            *inner.span(),
            inner.line(),
            self.position(inner.span().offset()).column - 1,
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = Source::new("specs/a.lbm", "let ρ = 1;\nlet β = ρ;\n");
        let at = source.text().rfind('ρ').unwrap();
        assert_eq!(source.position(at), Position { line: 2, column: 9 });
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
    }

    #[test]
    fn what_is_unseen_is_shown_as_a_sign() {
        let source = Source::new("a\u{1b}[2J.lbm", "x\u{1b}[31m\u{9b}\u{202e}\ry\r\n");
        assert_eq!(source.name(), "a?[2J.lbm");
        assert_eq!(&*source.shown, "x?[31m¿\u{fffd}?y\r\n");
        assert_eq!(source.shown.len(), source.text().len());
    }

    #[test]
    fn names_lose_folder_and_ending() {
        let source = Source::new("specs/d2q9_bgk.lbm", "");
        assert_eq!((source.file(), source.stem()), ("d2q9_bgk.lbm", "d2q9_bgk"));
    }
}
