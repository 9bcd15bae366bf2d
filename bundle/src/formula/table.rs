//! Tables of files in formulas: straight lines between points.

use std::sync::Arc;

/// Points `[x, y]` of a table, of which x rises.
pub type Points = Arc<[[f64; 2]]>;

/// A table of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the file.
    pub file: String,
    /// Its points; none before the file is read.
    pub points: Points,
}

impl Table {
    /// Its value at `x`; `None` where it has no points.
    pub(super) fn at(&self, x: f64) -> Option<f64> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        let after = self.points.partition_point(|[at, _]| *at <= x);
        Some(match after {
            _ if x.is_nan() => x,
            0 => first[1],
            after if after == self.points.len() => last[1],
            after => {
                let ([from, low], [to, high]) = (self.points[after - 1], self.points[after]);
                // Rounded as `fma` does it, on all machines.
                ((high - low) / (to - from)).mul_add(x - from, low)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Formula;
    use super::*;

    fn formula(points: &[[f64; 2]]) -> Formula {
        let text: Formula = "2 * table(\"inflow.csv\", t - 1)".parse().expect("a formula");
        assert_eq!(text.to_string(), "2 * table(\"inflow.csv\", t - 1)");
        assert_eq!(text.tables().into_iter().collect::<Vec<_>>(), ["inflow.csv"]);
        assert_eq!(text.value(&|_| Some(0.5)), None, "it has not been read");
        text.with_tables(&|file| (file == "inflow.csv").then(|| Arc::from(points)))
    }

    #[test]
    fn a_table_is_straight_between_its_points_and_the_same_beyond_them() {
        let formula = formula(&[[0.0, 1.0], [2.0, 5.0], [3.0, 4.0]]);
        for (t, expected) in [(-7.0, 2.0), (1.0, 2.0), (2.0, 6.0), (3.0, 10.0), (3.5, 9.0), (4.0, 8.0), (99.0, 8.0)] {
            assert_eq!(formula.value(&|_| Some(t)), Some(expected), "{t}");
        }
        assert!(formula.value(&|_| Some(f64::NAN)).expect("a number").is_nan());
        assert_eq!(formula.with(&|_| Some(Formula::number(2.0))), Formula::number(6.0));
    }

    #[test]
    fn a_table_without_a_file_or_a_value_is_told() {
        for (text, part) in [
            ("table(t)", "that of a file"),
            ("table(\"a.csv\")", "read at a value"),
            ("table(\"a.csv, t)", "does not end"),
            ("table(\"\", t)", "does not end"),
            ("table(\"a.csv\", t", "not closed"),
            (&format!("{}t{}", "table(\"a.csv\", ".repeat(9), ")".repeat(9)), "more than 8 tables"),
        ] {
            let error = text.parse::<Formula>().expect_err(text);
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
    }
}
