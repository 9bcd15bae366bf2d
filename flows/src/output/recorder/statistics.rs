//! Statistics at the end of a run. After each call their file and their pictures exist, or a notice gives the reason.

use super::fields::{format_of, write_vtk};
use super::output::{Data, End, Files, Output, Sampled};
use crate::case::{Case, Picture};
use crate::output::picture;
use crate::output::sink::OutputError;
use crate::output::summary::{Accumulated, Summary};

#[derive(Debug)]
pub(super) struct Statistics<'a> {
    case: &'a Case,
    /// Those written so far.
    written: Vec<Accumulated>,
}

impl<'a> Statistics<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Statistics { case, written: vec![] }
    }

    /// Pictures of the statistics with this number.
    fn pictures(&self, number: usize) -> impl Iterator<Item = &'a Picture> {
        self.case.output.pictures.iter().filter(move |picture| picture.statistics == Some(number))
    }
}

impl Output for Statistics<'_> {
    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let case = self.case;
        match *data {
            Data::Statistics(Sampled { number, evaluated, samples, steps: [from_step, to_step] }) => {
                let (of, format) = (&case.output.statistics[number], format_of(case));
                let results = of.results();
                files.write(&of.file_name(format), |out| write_vtk(out, format, evaluated, Some(&results), case))?;
                for picture in self.pictures(number) {
                    if let Some(canvas) = picture::draw(case, evaluated, picture) {
                        files.draw(&picture.frames.file_name(evaluated.step), &canvas)?;
                    }
                }
                self.written.push(Accumulated { name: of.name.clone(), from_step, to_step, samples });
            }
            Data::NoSamples(number, step) => {
                let of = &case.output.statistics[number];
                let drawn = self.pictures(number);
                let pictures: String = drawn.map(|picture| format!(", no picture `{}`", picture.frames.name)).collect();
                files.notices.push(format!(
                    "there is no file of the statistics `{}`{pictures}: their first sample is of step {}, and the run has ended at step {step}; \
                     begin earlier (`statistics.from`), or let it go on longer (`stop`)",
                    of.name, of.from
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        summary.statistics = std::mem::take(&mut self.written);
        Ok(())
    }
}
