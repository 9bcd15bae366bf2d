//! Tables of formulas: `table("inflow.csv", t)`.

use lbm_bundle::formula::Points;
use lbm_bundle::plain::unseen;

use super::results::is_plain;

/// Most points of a table.
const MOST_POINTS: usize = 1000;

/// Longest name of a column, in bytes.
const LONGEST_NAME: usize = 40;

/// A table that has been read.
#[derive(Clone, Debug)]
pub(super) struct TableFile {
    /// What the file holds.
    pub(super) bytes: Vec<u8>,
    /// Its points, of which the first number rises.
    pub(super) points: Points,
}

impl TableFile {
    /// Reads a table; the error says what is wrong with the file.
    pub(super) fn read(file: &str, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<TableFile, String> {
        if !file.split('/').all(is_plain) {
            return Err("its name is not that of a file in the folder of the case, or below it".into());
        }
        let bytes = read(file)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is no text".to_string())?;
        if let Some((at, _)) = unseen(text).next() {
            return Err(format!(
                "it has a character that is not seen in line {}",
                1 + text[..at].matches('\n').count()
            ));
        }
        let points = points(text)?;
        Ok(TableFile { points: points.into(), bytes })
    }
}

/// Whether a line names columns, and says nothing else.
fn names_columns(line: &str) -> bool {
    let name = |name: &str| {
        let name = name.trim().trim_matches('"');
        let plain = |letter: char| letter.is_alphanumeric() || "_ -./^*()[]°%".contains(letter);
        name.len() <= LONGEST_NAME && name.starts_with(char::is_alphabetic) && name.chars().all(plain)
    };
    let separator = [',', ';', '\t'].into_iter().find(|separator| line.contains(*separator)).unwrap_or(' ');
    let mut names = line.split(separator).filter(|name| !name.trim().is_empty());
    names.clone().count() == 2 && names.all(name)
}

/// The points of a text: a line of names may come first.
fn points(text: &str) -> Result<Vec<[f64; 2]>, String> {
    let mut points: Vec<[f64; 2]> = vec![];
    let mut named = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let parts: Vec<&str> = line.split([',', ';', '\t', ' ']).filter(|part| !part.is_empty()).collect();
        let numbers: Option<Vec<f64>> = parts.iter().map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some([x, y]) if x.is_finite() && y.is_finite() => {
                if points.last().is_some_and(|last| last[0] >= *x) {
                    return Err(format!("in line {number} the first number does not rise"));
                }
                points.push([*x, *y]);
            }
            None if points.is_empty() && !named && names_columns(line) => named = true,
            _ => return Err(format!("line {number} is not two numbers")),
        }
        if points.len() > MOST_POINTS {
            return Err(format!("it has more than {MOST_POINTS} points"));
        }
    }
    if points.len() < 2 { Err("it has fewer than two points".into()) } else { Ok(points) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_two_numbers_are_points() {
        let text = "# measured\ntime [s], \"speed (m/s)\"\n0, 1e-3\n 0.5;2 # peak\n\n1\t-3\n";
        assert_eq!(points(text), Ok(vec![[0.0, 1e-3], [0.5, 2.0], [1.0, -3.0]]));
    }

    #[test]
    fn what_is_no_table_is_told_with_its_line() {
        for (text, part) in [
            ("0, 1", "fewer than two"),
            ("0, 1\n1", "line 2 is not"),
            ("0, 1\n1, inf", "line 2 is not"),
            ("a, b\nc, d", "line 2 is not"),
            ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGz4kPqTk0cQ3m me\n0, 1\n1, 2", "line 1 is not"),
            ("a, b, c\n0, 1\n1, 2", "line 1 is not"),
            ("=cmd|'/c calc', b\n0, 1\n1, 2", "line 1 is not"),
            ("0, 1\n0, 2", "line 2 the first number does not rise"),
            ("0, 1\n1, 2, 3", "line 2 is not"),
        ] {
            assert!(points(text).expect_err(text).contains(part), "{text}: {:?}", points(text));
        }
        let long: String = (0..1001).map(|at| format!("{at}, 0\n")).collect();
        assert!(points(&long).expect_err("too long").contains("more than 1000"));
        for name in ["../a.csv", "/etc/passwd", "a/../b.csv", "a//b.csv", ".hidden", "a/.hidden"] {
            assert!(TableFile::read(name, &|_| Ok(b"0 1\n1 2".to_vec())).is_err(), "{name}");
        }
        let error = TableFile::read("a/b.csv", &|_| Ok(b"0 1\n1 2 # \x1b[2J\n".to_vec())).expect_err("an escape");
        assert!(error.contains("not seen in line 2"), "{error}");
    }
}
