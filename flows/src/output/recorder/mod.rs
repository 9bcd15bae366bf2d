//! Writes the files of a run, each when it is due: rows and fields during the run, and the final output. After each
//! call all files in the folder are complete, and the recorder knows which ones it has written.
//!
//! Outputs are values in a list, each in a file of its own, which says what the output takes and when, how it
//! is resumed, and what it writes. The order of the list is that in which the files of a step are written.
//!
//! | module | content |
//! | --- | --- |
//! | `output` | what an output is, what it is made of, and where it writes |
//! | `fields`, `profiles`, `residual`, `series`, `forces`, `heat`, `probes`, `fluxes`, `recordings`, `statistics`, `gradient`, `surfaces`, `overview`, `drawings`, `films` | an output each |
//! | `list` | all outputs |
//! | `schedule` | when outputs are due, for the flow |
//! | `record` | the recorder, while a run goes on |
//! | `finish` | the end of a run, successful or not; the summary last |

mod drawings;
mod fields;
mod films;
mod finish;
mod fluxes;
mod forces;
mod gradient;
mod heat;
mod list;
mod output;
mod overview;
mod probes;
mod profiles;
mod record;
mod recordings;
mod residual;
mod schedule;
mod series;
mod statistics;
mod surfaces;

pub use output::{Data, Sampled, Source};
pub use record::Recorder;
pub use schedule::Schedule;
