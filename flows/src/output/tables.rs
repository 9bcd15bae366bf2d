//! Tables whose files grow while the run goes on, so that a run that is killed leaves its rows.
//!
//! A file begins with all rows that there are and the comments above them; further rows are added to its end. A run that goes on from a restart file
//! begins its files anew, with the rows that the restart file has: those of later steps, which were written before the run was killed, come again.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::sink::{OutputError, Sink};

/// How many rows the file of each table has that this run has written.
#[derive(Debug, Default)]
pub(super) struct Tables(BTreeMap<String, usize>);

/// Whether a file of that name is such a table.
pub(super) fn is_table(name: &str) -> bool {
    ["fluxes.csv", "forces.csv", "heat.csv", "series.csv"].contains(&name)
        || name.starts_with("probe_") && name.ends_with(".csv")
}

impl Tables {
    /// Adds to the file of a table what it does not have of its rows; `write` writes those from one on, the first after comments.
    pub(super) fn grow(
        &mut self,
        sink: &mut Sink,
        name: &str,
        rows: usize,
        write: impl Fn(usize, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        match self.0.get(name) {
            // What stands above the first row comes with it again.
            None | Some(0) => sink.begin_table(name, |out| write(0, out))?,
            Some(there) if *there < rows => {
                let mut added = vec![];
                // Memory takes all that is written.
                if write(*there, &mut added).is_ok() {
                    sink.append(name, &added)?;
                }
            }
            Some(_) => return Ok(()),
        }
        self.0.insert(name.to_string(), rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_begins_without_rows_has_one_heading() {
        let folder = tempfile::tempdir().unwrap();
        let (mut sink, mut tables) = (Sink::create(folder.path().into()).unwrap(), Tables::default());
        for rows in [0, 0, 2, 3] {
            let write = |from: usize, out: &mut dyn Write| {
                if from == 0 {
                    writeln!(out, "step")?;
                }
                (from..rows).try_for_each(|row| writeln!(out, "{row}"))
            };
            tables.grow(&mut sink, "forces.csv", rows, write).unwrap();
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("forces.csv")).unwrap(), "step\n0\n1\n2\n");
    }
}
