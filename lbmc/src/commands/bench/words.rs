//! Names of rows, and words of their commands.

use lbm_bundle::Target;

/// Whether a row has that name, or its name begins with that up to a `-`.
pub fn is_of(row: &str, name: &str) -> bool {
    row.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// `--target`, and the target of a case.
pub fn target_name(target: Target) -> &'static str {
    if target.is_gpu() { target.name() } else { "cpu" }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=,+:".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_a_row_or_all_that_begin_with_its_parts() {
        assert!(
            is_of("cavity512-d3q19_bgk-f32", "cavity512") && is_of("cavity512-d3q19_bgk-f32", "cavity512-d3q19_bgk")
        );
        assert!(is_of("cavity512", "cavity512"));
        assert!(!is_of("cavity512-d3q19_bgk-f32", "cavity5") && !is_of("cavity512", "cavity512-d3q19_bgk"));
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quoted("domain.size=[8,8]"), "'domain.size=[8,8]'");
        assert_eq!(quoted("--set"), "--set");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
