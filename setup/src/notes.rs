//! Notes and warnings: what a user should know beside errors. The program that uses this library says where they go.

use std::sync::OnceLock;

use miette::Report;

/// Something that a user should know.
pub enum Remark<'a> {
    /// A sentence.
    Note(&'a str),
    /// Advice, with its place.
    Warning(Report),
}

/// Who hears of them.
static LISTENER: OnceLock<fn(Remark<'_>)> = OnceLock::new();

/// Says who hears of notes and warnings: the first who asks to; before that, nobody.
pub fn listen(listener: fn(Remark<'_>)) {
    LISTENER.get_or_init(|| listener);
}

/// Something that a user should know.
pub fn note(text: &str) {
    if let Some(listener) = LISTENER.get() {
        listener(Remark::Note(text));
    }
}

/// Advice.
pub fn warning(report: Report) {
    if let Some(listener) = LISTENER.get() {
        listener(Remark::Warning(report));
    }
}
