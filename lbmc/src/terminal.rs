//! What is printed. Whoever reads it may go away at any time, as `head` does: that ends no command and costs no result.
//!
//! The macros `print`, `println` and `eprintln` of this crate are those below; those of the standard library panic when nobody
//! reads. On standard error every failure is passed over, for there is no place left to report it. Standard output that
//! is lost for another reason, such as a full disk, makes the command fail at its end.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::Mutex;

/// Prints to standard output.
macro_rules! print {
    ($($text:tt)*) => { $crate::terminal::out(format_args!($($text)*)) };
}

/// Prints a line to standard output.
macro_rules! println {
    ($($text:tt)*) => { $crate::terminal::out(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints a line to standard error.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::terminal::note(format_args!($($text)*)) };
}

/// Why standard output is incomplete, though somebody may read it.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Columns of the terminal that standard output goes to, if it does.
pub fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| width.into())
}

/// A name and what is said of it: in lines of that width, all but the first indented, or in one line.
pub fn entry(name: &str, text: &str, width: Option<usize>) -> String {
    let indent = " ".repeat(name.len().min(25));
    let whole = format!("{name}{text}");
    width
        .map_or(whole.clone(), |width| textwrap::fill(&whole, textwrap::Options::new(width).subsequent_indent(&indent)))
}

/// Prints to standard output.
pub fn out(text: Arguments<'_>) {
    note_loss(io::stdout().write_fmt(text));
}

/// Prints a line to standard error.
pub fn note(text: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// To be called last: whether all that was printed to standard output got there, if anybody reads it.
pub fn finish() -> io::Result<()> {
    note_loss(io::stdout().flush());
    LOST.lock().ok().and_then(|mut lost| lost.take()).map_or(Ok(()), Err)
}

fn note_loss(printed: io::Result<()>) {
    let Err(error) = printed else { return };
    // A pipe whose reader has gone, and a terminal that was closed.
    if error.kind() == ErrorKind::BrokenPipe || error.raw_os_error() == Some(libc::EIO) {
        return;
    }
    if let Ok(mut lost) = LOST.lock() {
        lost.get_or_insert(error);
    }
}
