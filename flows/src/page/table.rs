//! Tables of numbers (CSV) as the data of a plot.

use std::fmt::Write;

use super::html::Escaped;

/// Points of a line, at most: of longer tables every so many rows are drawn.
const POINTS: usize = 2000;

/// Lines of a plot, at most.
const LINES: usize = 64;

/// The column by which the lines of others are told apart.
const OF_SOLIDS: &str = "solid";

/// Columns of numbers.
pub struct Table {
    names: Vec<String>,
    /// `rows[row][column]`; NaN where there is no number.
    rows: Vec<Vec<f64>>,
}

/// Values over a common one.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Table {
    /// A table whose first row, after comments, has the names of its columns. Nothing if it has none of two columns, or no rows.
    pub fn read(text: &str) -> Option<Table> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(entries);
        let names = lines.next()?;
        let number = |entry: &String| entry.parse().unwrap_or(f64::NAN);
        let rows: Vec<Vec<f64>> = lines.map(|row| row.iter().map(number).collect()).collect();
        let is_whole = !rows.is_empty() && rows.iter().all(|row| row.len() == names.len());
        (names.len() > 1 && is_whole).then_some(Table { names, rows })
    }

    /// The column of the horizontal axis: the time, else the first.
    fn axis(&self) -> usize {
        self.names.iter().position(|name| name == "time").unwrap_or(0)
    }

    /// A line for each other column, and for each solid where rows are of one.
    fn lines(&self) -> Vec<Line> {
        let (axis, solid) = (self.axis(), self.names.iter().position(|name| name == OF_SOLIDS));
        let mut solids: Vec<f64> = solid.map_or(vec![], |at| self.rows.iter().map(|row| row[at]).collect());
        solids.sort_by(f64::total_cmp);
        solids.dedup();
        let groups: Vec<Option<f64>> =
            if solids.is_empty() { vec![None] } else { solids.into_iter().map(Some).collect() };
        let is_line = |at: &usize| *at != axis && Some(*at) != solid && self.names[*at] != "step";
        let line = |(at, group): (usize, Option<f64>)| {
            let of_group = |row: &&Vec<f64>| group.is_none_or(|group| solid.is_some_and(|at| row[at] == group));
            let points: Vec<(f64, f64)> = self.rows.iter().filter(of_group).map(|row| (row[axis], row[at])).collect();
            let every = points.len().div_ceil(POINTS).max(1);
            let name = match group {
                Some(group) => format!("{}, solid {group}", self.names[at]),
                None => self.names[at].clone(),
            };
            Line {
                name,
                points: points.into_iter().step_by(every).filter(|(x, y)| x.is_finite() && y.is_finite()).collect(),
            }
        };
        let columns = (0..self.names.len()).filter(is_line);
        let all = columns.flat_map(|at| groups.iter().map(move |group| (at, *group)));
        all.map(line).filter(|line| line.points.len() > 1).take(LINES).collect()
    }

    /// What the program of a page draws: the name of the horizontal axis, and the lines. Nothing if no line has two points.
    pub fn data(&self) -> Option<serde_json::Value> {
        let lines = self.lines();
        let column = |points: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| points.iter().map(of).collect::<Vec<f64>>();
        let data: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::json!({"name": line.name, "x": column(&line.points, |at| at.0), "y": column(&line.points, |at| at.1)}))
            .collect();
        (!data.is_empty()).then(|| serde_json::json!({"axis": self.names[self.axis()], "lines": data}))
    }

    /// The plot of a file: its data, which the program of the page draws. Nothing if it has no line of two points.
    pub fn plot(&self, file: &str) -> String {
        let Some(data) = self.data() else { return String::new() };
        let mut text = String::new();
        // In a script, `<` could begin its end.
        let data = data.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        let _ = write!(
            text,
            "<figure class=\"plot\"><figcaption>{}</figcaption>\n<script type=\"application/json\">{data}</script>\n</figure>\n",
            Escaped(file)
        );
        text
    }
}

/// The entries of a row; those in quotes may have commas, and quotes that are doubled.
fn entries(row: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = all.last_mut().expect("there is one");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                last.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            letter => last.push(letter),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_solids_are_lines_of_each_over_time() {
        let table = Table::read("# a\nstep,time,solid,cd\n0,0,1,3\n0,0,2,5\n10,0.5,1,4\n10,0.5,2,6\n").unwrap();
        let lines = table.lines();
        let found: Vec<(&str, &[(f64, f64)])> = lines.iter().map(|line| (&line.name[..], &line.points[..])).collect();
        assert_eq!(
            found,
            [("cd, solid 1", &[(0.0, 3.0), (0.5, 4.0)][..]), ("cd, solid 2", &[(0.0, 5.0), (0.5, 6.0)][..])]
        );
    }

    #[test]
    fn long_tables_have_so_many_points_and_what_is_no_table_none() {
        let rows: String = (0..10_000).map(|at| format!("{at},{}\n", at * at)).collect();
        let table = Table::read(&format!("step,a\n{rows}")).unwrap();
        assert_eq!(table.lines()[0].points.len(), POINTS);
        assert!(Table::read("a,b\n1\n").is_none() && Table::read("").is_none() && Table::read("a,b\n").is_none());
        assert_eq!(entries("a,\"b, \"\"c\"\"\",d"), ["a", "b, \"c\"", "d"]);
    }
}
