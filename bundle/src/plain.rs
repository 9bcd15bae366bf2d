//! Makes untrusted text safe for a terminal: it does not move the cursor, change colours or hide the text beside it.

/// Signs for characters that are not shown, of one, two and three bytes.
const SIGNS: [char; 3] = ['?', '¿', '\u{fffd}'];

/// Whether a character is seen as what it is, on the line where it stands: no control character, no end of a line and none that
/// changes the direction of the text around it.
pub fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !(c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Characters of a text that are neither plain nor a tab nor an end of a line, LF or CRLF, and where they are.
pub fn unseen(text: &str) -> impl Iterator<Item = (usize, char)> {
    let fine = |at: usize, c: char| match c {
        '\n' | '\t' => true,
        '\r' => text[at + 1..].starts_with('\n'),
        _ => is_plain(c),
    };
    text.char_indices().filter(move |(at, c)| !fine(*at, *c))
}

/// The text as a terminal may show it: of the same length, with signs in the place of what is unseen.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in unseen(text) {
        shown += &text[shown.len()..at];
        shown.push(SIGNS[c.len_utf8() - 1]);
    }
    let rest = shown.len();
    shown + &text[rest..]
}

/// The same for what stands in a line, such as the name of a file.
pub fn shown_line(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { SIGNS[c.len_utf8() - 1] }).collect()
}

/// Most names that a message lists.
const LISTED: usize = 40;

/// Names for a message, separated by commas: the first of them where there are many, and how many more.
pub fn listed(names: impl IntoIterator<Item = impl Into<String>>) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(LISTED).map(Into::into).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(listed(["a", "b"]), "a, b");
        let text = listed((0..300_000).map(|at| format!("name_{at}")));
        assert!(text.ends_with("name_39, and 299960 more") && text.len() < 500, "{text}");
    }

    #[test]
    fn what_is_unseen_is_shown_as_a_sign_of_the_same_length() {
        let text = "x\u{1b}[31m\u{9b}\u{202e}\ry\r\n";
        assert_eq!(shown(text), "x?[31m¿\u{fffd}?y\r\n");
        assert_eq!(shown(text).len(), text.len());
        assert_eq!(shown_line("a\nb"), "a?b");
    }
}
