//! Tables whose files grow during the run, so that the rows of a run that is killed are preserved.
//!
//! A file starts with comments and all rows so far; further rows are appended. A run resumed from a restart file writes
//! its files anew with the rows in the restart file. Rows of later steps, which the killed run had already written, are
//! then written again.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::sink::{OutputError, Sink};

/// Number of rows in the file of each table that this run has written.
#[derive(Debug, Default)]
pub(super) struct Tables(BTreeMap<String, usize>);

impl Tables {
    /// Appends missing rows to the file of a table. `write` writes the rows from a given number on; the first is
    /// preceded by comments.
    pub(super) fn grow(
        &mut self,
        sink: &mut Sink,
        name: &str,
        rows: usize,
        write: impl Fn(usize, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        match self.0.get(name) {
            // The comments are written together with the first row.
            None | Some(0) => sink.begin_table(name, |out| write(0, out))?,
            Some(there) if *there < rows => {
                let mut added = vec![];
                // Writing to memory does not fail.
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
