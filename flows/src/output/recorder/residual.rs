//! The residual at every check for steady flow, as CSV and as a picture.

use std::io::{self, Write};

use super::output::{Data, Files, Output};
use crate::case::{Case, Steady};
use crate::output::bits::Bits;
use crate::output::chart::{COLOURS, Chart, Curve, Panel, Style};
use crate::output::csv;
use crate::output::profile::{cells, real_name};
use crate::output::recorded::{Recorded, SavedRows};
use crate::output::series::scales;
use crate::output::sink::OutputError;

/// Name of the table.
const TABLE: &str = "residual.csv";

#[derive(Debug)]
pub(super) struct Residual<'a> {
    case: &'a Case,
    /// Steps of checks, and the changes of velocity over the reference velocity.
    rows: Vec<(u64, f64)>,
}

impl<'a> Residual<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Residual { case, rows: vec![] }
    }

    fn time(&self, step: u64) -> f64 {
        let (u, l) = scales(self.case);
        step as f64 * u / l
    }

    fn grow(&self, steady: Steady, files: &mut Files) -> Result<(), OutputError> {
        files.grow(TABLE, self.rows.len(), |from, out| self.write(steady, from, out))
    }

    /// Writes the rows from a number on; the first is preceded by comments that describe them.
    fn write(&self, steady: Steady, from: usize, out: &mut dyn Write) -> io::Result<()> {
        if from == 0 {
            let case = self.case;
            let (u, l) = scales(case);
            writeln!(out, "# {}: {}, {}, {}", case.name, case.spec, cells(case, " x "), real_name(case))?;
            writeln!(out, "# L = {l} cells, U = {u} cells per step; time: over L/U")?;
            writeln!(
                out,
                "# residual: largest change of a velocity since the check before, over U; steady below {}",
                csv::number(steady.tolerance)
            )?;
            writeln!(out, "step,time,residual")?;
        }
        self.rows[from..].iter().try_for_each(|(step, residual)| {
            writeln!(out, "{step},{},{}", csv::number(self.time(*step)), csv::number(*residual))
        })
    }

    /// Draws the logarithm over time, with the tolerance.
    fn chart(&self, steady: Steady) -> Chart {
        let last = self.rows.last().map_or(0.0, |(step, _)| self.time(*step)).max(f64::MIN_POSITIVE);
        let points = self.rows.iter().map(|(step, residual)| (self.time(*step), residual.log10())).collect();
        let curve = |name: &str, at: usize, points: Vec<(f64, f64)>| Curve {
            name: name.into(),
            colour: COLOURS[at],
            style: Style::Line,
            points,
        };
        let tolerance = steady.tolerance.log10();
        let curves =
            vec![curve("residual", 0, points), curve("tolerance", 1, vec![(0.0, tolerance), (last, tolerance)])];
        let x = if self.case.scales.velocity > 0.0 { "t U / L" } else { "time / steps" };
        let panel = Panel { x: x.into(), y: "log10 of the residual".into(), range: (0.0, last), curves };
        let re = self.case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
        Chart { title: format!("{}{re}: residual", self.case.name), panels: vec![panel] }
    }
}

impl Output for Residual<'_> {
    fn grows(&self, name: &str) -> bool {
        name == TABLE
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        let saved = recorded.tables.get(TABLE).cloned().unwrap_or_default();
        self.rows = saved.steps.into_iter().zip(saved.values.into_iter().map(|value| value.0)).collect();
        self.case.stop.steady.map_or(Ok(()), |steady| self.grow(steady, files))
    }

    fn save(&self, recorded: &mut Recorded) {
        let (steps, values) = self.rows.iter().map(|(step, residual)| (*step, Bits(*residual))).unzip();
        recorded.tables.insert(TABLE.into(), SavedRows { steps, values });
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let (Data::Check(step, residual), Some(steady)) = (data, self.case.stop.steady) else { return Ok(()) };
        self.rows.push((*step, *residual));
        self.grow(steady, files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        let Some(steady) = self.case.stop.steady.filter(|_| !self.rows.is_empty()) else { return Ok(()) };
        self.grow(steady, files)?;
        files.draw("residual.png", &self.chart(steady).draw())
    }
}
