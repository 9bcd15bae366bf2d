//! Places in a text, as bytes and as the protocol has them.

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::{Position, PositionEncodingKind, Range};

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every editor knows.
    Utf16,
}

impl Encoding {
    /// Its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }
}

/// The lines of a text.
pub struct Lines {
    index: LineIndex,
    encoding: Encoding,
}

impl Lines {
    /// Of a text of less than 4 GiB.
    pub fn new(text: &str, encoding: Encoding) -> Lines {
        Lines { index: LineIndex::new(text), encoding }
    }

    /// The place of a byte; the end of the text for those behind it, and for those inside a character its first.
    pub fn position(&self, byte: usize) -> Position {
        let end = usize::from(self.index.len());
        let mut before = (0..=byte.min(end)).rev();
        let at = before.find_map(|byte| self.index.try_line_col(TextSize::try_from(byte).ok()?));
        let at = at.unwrap_or(LineCol { line: 0, col: 0 });
        match self.encoding {
            Encoding::Utf8 => Position::new(at.line, at.col),
            Encoding::Utf16 => {
                let wide = self.index.to_wide(WideEncoding::Utf16, at);
                wide.map_or(Position::new(at.line, 0), |wide| Position::new(wide.line, wide.col))
            }
        }
    }

    /// A range of bytes.
    pub fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// The byte at a place, if it is in the text.
    pub fn byte(&self, at: Position) -> Option<usize> {
        // A line has as many bytes as columns, or more.
        let line = self.index.line(at.line)?;
        if at.character > u32::from(line.len()) {
            return None;
        }
        let place = match self.encoding {
            Encoding::Utf8 => LineCol { line: at.line, col: at.character },
            Encoding::Utf16 => {
                self.index.to_utf8(WideEncoding::Utf16, WideLineCol { line: at.line, col: at.character })?
            }
        };
        let byte = usize::from(self.index.offset(place)?);
        (byte <= usize::from(self.index.len())).then_some(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_the_editor_counts() {
        let text = "a\nβ𝛽c";
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3)] {
            let lines = Lines::new(text, encoding);
            let byte = text.find('c').expect("it is there");
            assert_eq!(lines.position(byte), Position::new(1, column));
            assert_eq!(lines.byte(Position::new(1, column)), Some(byte));
        }
    }

    #[test]
    fn places_outside_of_the_text_are_none() {
        let lines = Lines::new("ab\nc", Encoding::Utf16);
        assert_eq!(lines.position(100), Position::new(1, 1));
        for (line, column) in [(2, 0), (u32::MAX, 0), (1, u32::MAX)] {
            assert_eq!(lines.byte(Position::new(line, column)), None);
        }
    }
}
