//! Statistics of a case, sampled from its flow.

use super::error::FlowError;
use super::run::Run;
use crate::case::Statistics;
use crate::output::{self, Data, Recorder};
use crate::restart::Sampled;

impl<'a> Run<'a> {
    /// Adds the fields of this step to the statistics that sample it, unless they have already been added.
    pub(super) fn accumulate(&mut self) -> Result<(), FlowError> {
        let step = self.flow.step();
        let all = self.case.output.statistics.iter().zip(&self.sampled);
        let is_due = |(statistics, sampled): (&Statistics, &Option<Sampled>)| {
            statistics.wants(step) && sampled.is_none_or(|sampled| sampled.last < step)
        };
        let due: Vec<usize> = all.enumerate().filter(|(_, of)| is_due(*of)).map(|(number, _)| number).collect();
        self.flow.accumulate(&due)?;
        for number in due {
            let first = self.sampled[number].map_or(step, |sampled| sampled.first);
            self.sampled[number] = Some(Sampled { first, last: step });
        }
        Ok(())
    }

    /// Notices about statistics that start late because the restart file does not have them.
    pub(super) fn begin_late(&self) -> Vec<String> {
        let (step, all) = (self.flow.step(), self.case.output.statistics.iter().zip(&self.sampled));
        let late = all.filter(|(statistics, sampled)| sampled.is_none() && statistics.from < step);
        late.map(|(Statistics { name, .. }, _)| {
            format!("statistics `{name}` begin at step {step}: the restart file has none that are defined like them")
        })
        .collect()
    }

    /// Writes the statistics.
    pub(super) fn write_statistics(&self, recorder: &mut Option<Recorder<'a>>) -> Result<(), FlowError> {
        for (number, sampled) in self.sampled.iter().enumerate() {
            let Some(sampled) = sampled else {
                let none = Data::NoSamples(number, self.flow.step());
                recorder.as_mut().map_or(Ok(()), |recorder| recorder.record(none))?;
                continue;
            };
            if let (Some(accumulated), Some(recorder)) = (self.flow.accumulators(number)?, recorder.as_mut()) {
                let samples = self.flow.samples()[number];
                let evaluated = self.case.output.statistics[number].evaluate(accumulated, samples);
                let steps = [sampled.first, sampled.last];
                recorder.record(Data::Statistics(output::Sampled { number, evaluated: &evaluated, samples, steps }))?;
            }
        }
        Ok(())
    }
}
