//! Planes whose velocity is recorded for other runs: one growing file each, to which every frame is written when it is due.

use lbm_runtime::solver::probe::Reading;

use super::output::{Data, Files, Output, Source, Taken};
use crate::case::{Case, Dimension, HEAD, Head, Recording};
use crate::output::recorded::{Recorded, SavedRows};
use crate::output::sink::OutputError;

#[derive(Debug)]
pub(super) struct Recordings<'a> {
    case: &'a Case,
    /// The steps of the first and the last frame of each file, once it has one.
    written: Vec<Option<[u64; 2]>>,
}

impl<'a> Recordings<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Recordings { case, written: vec![None; case.output.recordings.len()] }
    }

    /// The bytes of a frame; inside solids there is no velocity.
    fn frame(&self, recording: &Recording, readings: &[Reading]) -> Vec<u8> {
        let scale = if self.case.units.si { self.case.units.scale(Dimension::VELOCITY) } else { 1.0 };
        let components = recording.velocity..recording.velocity + recording.head.components;
        let values = readings.iter().flat_map(|reading| &reading.values[components.clone()]);
        let number = |value: &f64| if value.is_finite() { (value * scale) as f32 } else { 0.0 };
        values.flat_map(|value| number(value).to_le_bytes()).collect()
    }
}

impl Output for Recordings<'_> {
    fn takes(&self) -> Vec<Taken> {
        let recordings = self.case.output.recordings.iter().enumerate();
        recordings.map(|(number, recording)| Taken { source: Source::Plane(number), every: recording.every }).collect()
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        for (recording, written) in self.case.output.recordings.iter().zip(&mut self.written) {
            let name = recording.file_name();
            let saved = recorded.tables.get(&name).map(|saved| &saved.steps);
            let Some((first, last)) = saved.and_then(|steps| Some((*steps.first()?, *steps.last()?))) else { continue };
            let frames = (last - first) / recording.every + 1;
            let length = HEAD as u64 + frames * recording.head.frame_bytes() as u64;
            if files.sink.go_on(&name, &head(self.case, recording, first).bytes(), length)? {
                *written = Some([first, last]);
            } else {
                let notice = format!(
                    "`{name}` does not have the frames up to step {last}: the recording begins anew where the run goes on"
                );
                files.notices.push(notice);
            }
        }
        Ok(())
    }

    fn save(&self, recorded: &mut Recorded) {
        let saved = self.case.output.recordings.iter().zip(&self.written).filter_map(|(recording, written)| {
            let mut steps = written.as_ref()?.to_vec();
            steps.dedup();
            Some((recording.file_name(), SavedRows { steps, values: vec![] }))
        });
        recorded.tables.extend(saved);
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Plane(number, step, readings) = *data else { return Ok(()) };
        let recording = &self.case.output.recordings[number];
        let frame = self.frame(recording, readings);
        let name = recording.file_name();
        match self.written[number] {
            Some([_, last]) if step <= last => return Ok(()),
            Some([first, _]) => {
                files.sink.append(&name, &frame)?;
                self.written[number] = Some([first, step]);
            }
            None => {
                let head = head(self.case, recording, step);
                files.sink.begin_table(&name, |out| {
                    out.write_all(&head.bytes())?;
                    out.write_all(&frame)
                })?;
                self.written[number] = Some([step, step]);
            }
        }
        Ok(())
    }
}

/// The head of a file whose first frame is that of a step.
fn head(case: &Case, recording: &Recording, first: u64) -> Head {
    Head { first: first as f64 * case.units.scale(Dimension::TIME), ..recording.head }
}
