//! Messages on standard input and output, as the base protocol has them: a header with the length, then JSON.
//!
//! In: what an editor writes, with texts of strangers in it. After: no message takes more memory than it has bytes, up to a limit; one
//! that cannot be read changes nothing and ends nothing, as far as it can be told where the next one begins.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, Message};

/// Most bytes of a message: the texts of documents are shorter by far.
const MOST_BYTES: u64 = 1 << 26;
/// Most bytes of a line of a header.
const LONGEST_LINE: u64 = 1 << 12;
/// Most lines of a header.
const MOST_LINES: usize = 32;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits for both: until the editor has ended, and has been told all.
    pub fn join(self) -> io::Result<()> {
        let done = |thread: JoinHandle<io::Result<()>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the language server has failed")))
        };
        done(self.reader).and(done(self.writer))
    }
}

/// Speaks on standard input and output.
pub fn stdio() -> (Connection, Threads) {
    let (own, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let reader = thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = next(&mut input)? {
            let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
            if sender.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    });
    let writer = thread::spawn(move || {
        let mut output = io::stdout().lock();
        receiver.into_iter().try_for_each(|message| message.write(&mut output))
    });
    (own, Threads { reader, writer })
}

/// The next message that can be read, until there is none; the error is that of a header, behind which nothing can be found.
fn next(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    loop {
        let Some(length) = header(input)? else { return Ok(None) };
        let mut body = vec![];
        input.take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Ok(None);
        }
        match serde_json::from_str(&whole(&String::from_utf8_lossy(&body))) {
            Ok(message) => return Ok(Some(message)),
            Err(error) => eprintln!("lbmc lsp: a message is passed over: {error}"),
        }
    }
}

/// The length that a header says, or nothing at the end.
fn header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let mut length = None;
    for _ in 0..MOST_LINES {
        let mut line = vec![];
        input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\r\n").and_then(|line| std::str::from_utf8(line).ok()) else {
            return wrong("a line of a header does not end, or is no text".into());
        };
        if line.is_empty() {
            return match length {
                Some(length) if length <= MOST_BYTES => Ok(Some(length)),
                Some(length) => wrong(format!("a message of {length} bytes, of which it may have {MOST_BYTES}")),
                None => wrong("a header without a length".into()),
            };
        }
        let Some((name, value)) = line.split_once(':') else { return wrong("a line of a header is none".into()) };
        if name.eq_ignore_ascii_case("Content-Length") {
            match value.trim().parse() {
                Ok(number) => length = Some(number),
                Err(_) => return wrong("a length that is no number".into()),
            }
        }
    }
    wrong(format!("a header of more than {MOST_LINES} lines"))
}

/// JSON whose texts are UTF-8: halves of surrogate pairs, which texts of editors may have, become signs.
fn whole(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    let mut rest = json;
    let unit = |text: &str| text.strip_prefix("\\u").and_then(|text| u16::from_str_radix(text.get(..4)?, 16).ok());
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        written += before;
        // Of an escape that is not of four digits, as much as says which it is.
        let kept = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                written += "\\ufffd";
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        written += &escape[..kept];
        rest = &escape[kept..];
    }
    written + rest
}

#[cfg(test)]
#[path = "../../../../lbm-dsl/tests/texts/damage.rs"]
mod damage;

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn halves_of_pairs_become_signs_and_all_else_stays() {
        for (json, expected) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00\ud83dx""#, "\u{1f600}\u{fffd}x"),
            (r#""\\ud800\n\u00e9""#, "\\ud800\n\u{e9}"),
        ] {
            assert_eq!(serde_json::from_str::<String>(&whole(json)).expect(json), expected);
        }
        for broken in [r"\", r"\u", r"\ud8", r"\u12é4", r"\ud800\u", r"x\é"] {
            whole(broken);
        }
    }

    #[test]
    fn a_message_that_cannot_be_read_is_passed_over_and_the_next_one_is_not() {
        let asked = r#"{"jsonrpc":"2.0","method":"initialized","params":{"x":"\ud800"}}"#;
        let text = ["[1, 2", "{\"id\": 1}", "\"\u{0}\"", asked].map(framed).concat();
        let mut input = text.as_bytes();
        let message = next(&mut input).expect("headers are fine");
        assert!(matches!(message, Some(Message::Notification(it)) if it.params["x"] == "\u{fffd}"));
        assert!(matches!(next(&mut input), Ok(None)));
    }

    #[test]
    fn damaged_messages_are_messages_or_passed_over() {
        let text = "spec = \\\"d2q9_bgk\\\"\\n# \\u00e9 \\ud83d\\ude00";
        let open = format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"file:///a.toml","text":"{text}"}}}}}}"#
        );
        let hover =
            r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"position":{"line":0,"character":2}}}"#;
        let files = [[framed(&open), framed(hover)].concat().into_bytes(), hover.as_bytes().to_vec()];
        damage::read_damaged(&files, 5000, |bytes| {
            let mut input = bytes;
            while let Ok(Some(_)) = next(&mut input) {}
            whole(&String::from_utf8_lossy(bytes));
        });
    }

    #[test]
    fn lengths_are_not_believed() {
        for (text, part) in [
            ("Content-Length: 99999999999999\r\n\r\n{}".to_string(), "may have"),
            ("Content-Length: 99999999999999999999999\r\n\r\n".to_string(), "no number"),
            ("Content-Length: -1\r\n\r\n".to_string(), "no number"),
            ("x: y\r\n\r\n".to_string(), "without a length"),
            ("x".repeat(1 << 20), "does not end"),
            ("x: y\r\n".repeat(1000), "more than 32 lines"),
        ] {
            let error = next(&mut text.as_bytes()).expect_err("refused");
            assert!(error.to_string().contains(part), "{error}");
        }
        // What is cut off is the end.
        assert!(matches!(next(&mut &b"Content-Length: 60000000\r\n\r\n{}"[..]), Ok(None)));
    }
}
