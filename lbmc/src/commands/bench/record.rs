//! What a suite has measured: the rows of FOLDER/SUITE.json.
//!
//! A row is kept by a later call if it is of the same program, device and compiler ([`Origin`]), command and texts. The file
//! holds a row for each name and device: what is measured again takes the place of what was there, and nothing else is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lbm_bundle::Real;
use lbm_bundle::input::{self, Limit};
use lbm_runtime::device::Device;
use lbm_runtime::program;
use lbm_runtime::solver::Adaptations;
use lbm_setup::files;
use miette::{IntoDiagnostic, Report, Result, miette};
use serde::{Deserialize, Serialize};

use super::peers::Peer;

/// What measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Version of lbmc.
    pub version: String,
    /// BLAKE3 of the program: compiler, runtime, templates and shipped texts are all in it.
    pub program: String,
    /// What runs the kernels.
    pub device: String,
    /// What compiles them for it: compiler, version, flags and processor.
    pub compiler: String,
}

impl Origin {
    /// This program on a device.
    pub fn new(device: &Device) -> Result<Origin> {
        let path = program::file().into_diagnostic()?;
        let program = input::bytes(&path, Limit { what: "this program", bytes: 1 << 30 });
        let program = program.map_err(|error| files::unreadable(&error))?;
        Ok(Origin {
            version: env!("CARGO_PKG_VERSION").to_string(),
            program: blake3::hash(&program).to_hex().to_string(),
            device: device.describe(),
            compiler: device.compiler(),
        })
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its name in the suite.
    pub name: String,
    /// The command that repeats it.
    pub command: String,
    /// BLAKE3 of the texts that are not in the program: a spec of the user's own and its modules, a surface. Empty without any.
    pub inputs: String,
    /// What measured it.
    #[serde(flatten)]
    pub origin: Origin,
    /// What came out.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What others reach.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub peers: Vec<Peer>,
}

/// What came out of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The speed of a kernel on a uniform periodic box.
    Kernel(Kernel),
    /// The speed of a flow.
    Flow(Flow),
    /// Errors of a flow whose solution is known.
    Accuracy(Accuracy),
    /// What something done beside the steps costs.
    Cost(Cost),
    /// What crosses refinement interfaces.
    Crossing(Crossing),
    /// Waves that leave through a face.
    Leaving(Leaving),
    /// The time of generating a method.
    Generation(Generation),
    /// Something published that is not repeated here.
    NotRepeated {
        /// Why.
        why: String,
    },
    /// It failed; a later call tries again.
    Failed {
        /// What happened.
        error: String,
        /// Code of the error, for `lbmc explain`, if it has one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<String>,
    },
}

impl Outcome {
    /// Of an error.
    pub fn failed(report: &Report) -> Outcome {
        Outcome::Failed { error: report.to_string(), code: report.code().map(|code| code.to_string()) }
    }

    /// Figures besides speed, by name.
    pub fn values(&self) -> Option<&BTreeMap<String, f64>> {
        match self {
            Outcome::Flow(flow) => Some(&flow.values),
            Outcome::Accuracy(accuracy) => Some(&accuracy.values),
            Outcome::Cost(cost) => Some(&cost.values),
            Outcome::Crossing(crossing) => Some(&crossing.values),
            Outcome::Leaving(leaving) => Some(&leaving.values),
            _ => None,
        }
    }

    /// Speed, if it is one.
    pub fn speed(&self) -> Option<&Speed> {
        match self {
            Outcome::Kernel(kernel) => Some(&kernel.speed),
            Outcome::Flow(flow) => Some(&flow.speed),
            _ => None,
        }
    }
}

/// Speed of cell updates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// The method.
    pub spec: String,
    /// Floating-point type.
    pub real: Real,
    /// Cells of a block along each axis.
    pub block: Vec<u32>,
    /// Cells along each axis, on the coarsest level.
    pub size: Vec<usize>,
    /// Leaf cells of each level at the end, the coarsest first.
    pub levels: Vec<usize>,
    /// Steps of the coarsest level that were timed.
    pub steps: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// Million leaf-cell updates a second; the median, where runs were timed repeatedly.
    pub mlups: f64,
    /// The slowest of repeated runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mlups_min: Option<f64>,
    /// The fastest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mlups_max: Option<f64>,
    /// Memory bandwidth in the same run: GB read and written per second by a device-to-device copy.
    pub memory_bandwidth_gb_per_s: f64,
    /// Populations read and written once per update, over that.
    pub fraction_of_bandwidth: f64,
    /// Bytes that the device holds, all included, per leaf cell.
    pub bytes_per_leaf_cell: f64,
    /// Bytes of each part when the grid was set up; fields for output are on the host.
    pub memory: BTreeMap<String, usize>,
    /// Seconds that generating the kernels took.
    pub generate_seconds: f64,
    /// Seconds until the first step was done, those for generating included. Compiled kernels are taken from the cache where they are
    /// there: with an empty folder in `LBMC_CACHE` this is the time of a cold start.
    pub first_step_seconds: f64,
}

impl Speed {
    /// Mean microseconds of a step of the coarsest level.
    pub fn microseconds(&self) -> f64 {
        1e6 * self.seconds / self.steps.max(1) as f64
    }
}

/// Speed of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// How fast.
    #[serde(flatten)]
    pub speed: Speed,
    /// Floating-point operations of an update, a fused multiply-add being two.
    pub flop_per_cell: u32,
    /// The same over the bytes that an update loads and stores.
    pub flop_per_byte: f64,
    /// Billion floating-point operations a second.
    pub gflop_per_s: f64,
    /// Change of the total mass over all timed runs, relative.
    pub mass_drift: f64,
    /// MLUPS with each block, where the best of several was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub blocks: BTreeMap<String, f64>,
}

/// Speed of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// How fast.
    #[serde(flatten)]
    pub speed: Speed,
    /// Microseconds of a step of the coarsest level, changes of the grid included.
    pub microseconds_per_coarse_step: f64,
    /// Share of the time that changes of the grid take.
    pub share_adapting: f64,
    /// Mean seconds of each phase in a step of the coarsest level, from a sample of steps.
    pub phases: BTreeMap<String, f64>,
    /// What changes of the grid have brought.
    pub adaptations: Option<Adaptations>,
    /// What came out of the flow, by name, where the row is about that.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, f64>,
}

/// Errors of a flow whose solution is known, as something shrinks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The method.
    pub spec: String,
    /// One for each computation.
    pub points: Vec<Point>,
    /// `order of QUANTITY PRECISION`: slope of the logarithm of the error over that of the velocity, by least squares;
    /// `least` and `most QUANTITY f32/f64`: ratio of the errors.
    pub values: BTreeMap<String, f64>,
}

/// A computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Cells along each axis.
    pub cells: usize,
    /// Relaxation time in steps: `1/omega`.
    pub tau: f64,
    /// Velocity of the flow in cells per step.
    pub velocity: f64,
    /// Steps.
    pub steps: u64,
    /// `QUANTITY PRECISION`: root of the sum of squared differences from the solution, over that of the solution.
    pub errors: BTreeMap<String, f64>,
}

/// What something done beside the steps costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The method.
    pub spec: String,
    /// Floating-point type.
    pub real: Real,
    /// Cells along each axis.
    pub size: Vec<usize>,
    /// Million cell updates a second without it.
    pub mlups: f64,
    /// `every N`: share of that speed that is lost where it is done every N steps.
    pub values: BTreeMap<String, f64>,
}

/// What a coupling makes of packets of waves that cross a refinement interface ([`lbm_setup::crossing`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The method.
    pub spec: String,
    /// The coupling.
    pub coupling: String,
    /// `entering` or `leaving` the fine grid, `N radii: noise`: what shear waves leave behind, in millionths of the packet's velocity;
    /// `reflected`: the part of a sound wave's amplitude, in thousandths.
    pub values: BTreeMap<String, f64>,
}

/// What a face sends back of packets of waves that leave through it ([`lbm_setup::crossing::leaving`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaving {
    /// The method.
    pub spec: String,
    /// The rule at the face.
    pub rule: String,
    /// Cells of the absorbing layer in front of it.
    pub layer: usize,
    /// `sound at N degrees`: the part of its amplitude; `vortex, N radii beyond`: the root of the energy of what the face adds, over that of the
    /// vortex.
    pub values: BTreeMap<String, f64>,
}

/// Time of generating kernels for both targets, without solids and couplings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The method.
    pub spec: String,
    /// Seconds on the wall.
    pub seconds: f64,
    /// Seconds of all processors together.
    pub processor_seconds: f64,
}

/// The content of FOLDER/SUITE.json.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Content {
    suite: String,
    rows: Vec<Record>,
}

/// FOLDER/SUITE.json.
pub struct Book {
    path: PathBuf,
    content: Content,
}

impl Book {
    /// The file in a folder, empty where it is not there yet. A file that is something else is refused: it is not ours to replace.
    pub fn open(folder: &Path, suite: &str) -> Result<Book> {
        let path = folder.join(format!("{suite}.json"));
        let limit = Limit { what: "a suite", bytes: 1 << 26 };
        let content = match input::text_if_there(&path, limit) {
            None => Content { suite: suite.to_string(), rows: vec![] },
            Some(text) => {
                let text = text.map_err(|error| files::unreadable(&error))?;
                let content: Option<Content> = serde_json::from_str(&text).ok();
                content.filter(|content| content.suite == suite).ok_or_else(|| {
                    miette!(
                        code = "L0117",
                        help = "choose another folder with `--out FOLDER`, or move the file away",
                        "`{}` does not have the rows of this suite",
                        path.display()
                    )
                })?
            }
        };
        Ok(Book { path, content })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The row that need not be measured again, if there is one.
    pub fn kept<'a>(&'a self, origin: &'a Origin, name: &str, command: &str, inputs: &str) -> Option<&'a Record> {
        self.of(origin).find(|row| {
            let same = row.name == name && row.command == command && row.inputs == inputs;
            same && !matches!(row.outcome, Outcome::Failed { .. })
        })
    }

    /// Rows of the same program on the same device.
    pub fn of<'a>(&'a self, origin: &'a Origin) -> impl Iterator<Item = &'a Record> {
        self.content.rows.iter().filter(move |row| row.origin == *origin)
    }

    /// Puts a row into the place of the one of that name and device, and writes the file.
    pub fn put(&mut self, row: Record) -> Result<()> {
        let rows = &mut self.content.rows;
        match rows.iter_mut().find(|old| old.name == row.name && old.origin.device == row.origin.device) {
            Some(old) => *old = row,
            None => rows.push(row),
        }
        let text = serde_json::to_string_pretty(&self.content).expect("plain data has a text");
        files::write(&self.path, text + "\n")
    }
}

/// BLAKE3 of texts; nothing of nothing.
pub fn digest(texts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut all = blake3::Hasher::new();
    for text in texts {
        all.update(&(text.len() as u64).to_le_bytes()).update(&text);
    }
    if all.count() == 0 { String::new() } else { all.finalize().to_hex().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str, device: &str, command: &str) -> Record {
        let text = |text: &str| text.to_string();
        let origin = Origin { version: text("1"), program: text(program), device: text(device), compiler: text("cc") };
        let outcome = Outcome::Generation(Generation { spec: text("a"), seconds: 1.0, processor_seconds: 2.0 });
        Record { name: text("a"), command: text(command), inputs: text(""), origin, outcome, peers: vec![] }
    }

    #[test]
    fn a_row_is_kept_by_the_same_program_device_command_and_texts_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path(), "host").unwrap();
        let old = row("p", "CPU", "lbmc a");
        book.put(old.clone()).unwrap();
        let book = Book::open(folder.path(), "host").unwrap();
        let kept = |row: &Record, inputs: &str| book.kept(&row.origin, &row.name, &row.command, inputs).is_some();
        assert!(kept(&old, ""));
        assert!(!kept(&old, "another spec"));
        for other in [row("q", "CPU", "lbmc a"), row("p", "GPU", "lbmc a"), row("p", "CPU", "lbmc a --gib 2")] {
            assert!(!kept(&other, ""), "{other:?}");
        }
    }

    #[test]
    fn rows_of_other_devices_stay_and_failures_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path(), "host").unwrap();
        book.put(row("p", "CPU", "lbmc a")).unwrap();
        let failed = Outcome::Failed { error: "no".into(), code: None };
        let gpu = Record { outcome: failed, ..row("p", "GPU", "lbmc a") };
        book.put(gpu.clone()).unwrap();
        book.put(row("q", "CPU", "lbmc a")).unwrap();
        let book = Book::open(folder.path(), "host").unwrap();
        assert_eq!(book.content.rows, [row("q", "CPU", "lbmc a"), gpu.clone()]);
        assert!(book.kept(&gpu.origin, "a", "lbmc a", "").is_none());
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        files::write(&folder.path().join("host.json"), "{\"mine\": 1}").unwrap();
        let error = Book::open(folder.path(), "host").err().expect("refused");
        assert!(error.to_string().contains("host.json"), "{error}");
    }
}
