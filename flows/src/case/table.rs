//! Tables of formulas: `table("inflow.csv", t)`.

use lbm_bundle::formula::Points;

use super::record::is_plain;

/// Most points of a table.
const MOST_POINTS: usize = 1000;

/// How names of files begin that a run writes.
const WRITTEN: [&str; 10] =
    ["case", "fields", "fluxes.", "forces", "heat.", "probe_", "profile", "restart", "series", "summary"];

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
        if !is_plain(file) || file.contains(',') {
            return Err("its name is not that of a file in the folder of the case".into());
        }
        // It is copied to the folder of the results.
        if is_written(file) {
            return Err("a run writes files of such names: call it something else".into());
        }
        let bytes = read(file)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is no text".to_string())?;
        let points = points(text)?;
        Ok(TableFile { points: points.into(), bytes })
    }
}

/// Whether a run may write a file of that name, or copies its spec to it.
pub(super) fn is_written(file: &str) -> bool {
    WRITTEN.iter().any(|name| file.starts_with(name)) || file.ends_with(".lbm")
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
            None if points.is_empty() && !named => named = true,
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
        let text = "# measured\ntime, speed\n0, 1e-3\n 0.5;2 # peak\n\n1\t-3\n";
        assert_eq!(points(text), Ok(vec![[0.0, 1e-3], [0.5, 2.0], [1.0, -3.0]]));
    }

    #[test]
    fn what_is_no_table_is_told_with_its_line() {
        for (text, part) in [
            ("0, 1", "fewer than two"),
            ("0, 1\n1", "line 2 is not"),
            ("0, 1\n1, inf", "line 2 is not"),
            ("a, b\nc, d", "line 2 is not"),
            ("0, 1\n0, 2", "line 2 the first number does not rise"),
            ("0, 1\n1, 2, 3", "line 2 is not"),
        ] {
            assert!(points(text).expect_err(text).contains(part), "{text}: {:?}", points(text));
        }
        let long: String = (0..1001).map(|at| format!("{at}, 0\n")).collect();
        assert!(points(&long).expect_err("too long").contains("more than 1000"));
        for name in ["../a.csv", "/etc/passwd", "a/b.csv", ".hidden", "a,b.csv", "case.toml", "series.csv", "own.lbm"] {
            assert!(TableFile::read(name, &|_| Ok(b"0 1\n1 2".to_vec())).is_err(), "{name}");
        }
    }
}
