//! A row of a suite before it is measured.

use lbm_bundle::Target;
use lbm_flows::case::nearest;
use lbm_runtime::device::Device;
use miette::{Result, miette};

use super::record::Outcome;

/// Measures a row on a device.
pub type Measure = Box<dyn Fn(&Device) -> Result<Outcome>>;

/// A row.
pub struct Row {
    /// Its name, of parts with a `-` between them: `d3q19_bgk-f32-4x4x4`.
    pub name: String,
    /// The command that repeats it.
    pub command: String,
    /// What it runs on.
    pub target: Target,
    /// Hash of the texts that are not in the program ([`super::record::digest`]).
    pub inputs: String,
    /// Why it is left out unless it is named.
    pub lacks: Option<String>,
    /// Measures it.
    pub measure: Measure,
}

/// Whether a row has that name, or its name begins with that up to a `-`.
pub fn is_of(row: &str, name: &str) -> bool {
    row.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Rows that are named, in the order of the suite; all of them where no name is given.
pub fn select(rows: Vec<Row>, names: &[String]) -> Result<Vec<Row>> {
    for name in names {
        if !rows.iter().any(|row| is_of(&row.name, name)) {
            let parts = rows.iter().flat_map(|row| {
                let ends = row.name.match_indices('-').map(|(at, _)| &row.name[..at]);
                ends.chain([&row.name[..]])
            });
            let help = match nearest(name, parts) {
                Some(near) => format!("did you mean `{near}`? `--list` prints the rows"),
                None => "`--list` prints the rows".to_string(),
            };
            return Err(miette!(code = "L0117", help = help, "the suite has no row `{name}`"));
        }
    }
    let named = |row: &Row| names.is_empty() || names.iter().any(|name| is_of(&row.name, name));
    Ok(rows.into_iter().filter(named).collect())
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
