//! The command line of `lbmc bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{BlockArg, RealArg, StorageArg, parse_block};

/// Arguments of `lbmc bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure.
    #[command(subcommand)]
    pub suite: Suite,
}

/// A suite of measurements: a table, FOLDER/SUITE.json and FOLDER/SUITE.png.
#[derive(Debug, Subcommand)]
pub enum Suite {
    /// Kernels on a uniform periodic box, for methods or .lbm files; also draws FOLDER/roofline.png.
    Uniform(Uniform),
    /// Flows on statically refined grids.
    Refined(Suited),
    /// Flows on adaptive grids.
    Adaptive(Suited),
    /// Waves that cross refinement interfaces with each coupling, for d2q9_bgk or the methods that names begin with.
    Couplings(Suited),
    /// What faces send back of sound and vortices that leave, for d2q9_bgk or the methods that names begin with.
    Faces(Suited),
    /// Figures that papers have published, repeated where possible.
    Papers(Suited),
    /// Times on the CPU: kernels, flows, and the compiler itself.
    Host(Measurements),
}

/// Arguments of a suite that runs on a CPU or a GPU.
#[derive(Debug, Args)]
pub struct Suited {
    /// What runs the kernels; by default the GPU if there is one.
    #[arg(long, value_enum)]
    pub target: Option<BenchTarget>,
    #[command(flatten)]
    pub measurements: Measurements,
}

/// Arguments of every suite.
#[derive(Debug, Args)]
pub struct Measurements {
    /// Rows, or the beginnings of their names up to a `-`; by default all rows, on a CPU those that do not need a GPU.
    pub names: Vec<String>,
    /// Folder for SUITE.json and SUITE.png. Rows already there, of the same program, device and settings, are kept.
    #[arg(long, value_name = "FOLDER", default_value = "out/bench")]
    pub out: PathBuf,
    /// Start no row after this many seconds; the same command continues with the remaining rows.
    #[arg(long, value_name = "N", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Measure nothing: print the names of the rows, and the command of each.
    #[arg(long)]
    pub list: bool,
}

/// Arguments of `lbmc bench uniform`.
#[derive(Debug, Args)]
pub struct Uniform {
    #[command(flatten)]
    pub suited: Suited,
    /// Rows of every shipped method, not only of the five that are measured by default.
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Floating-point types.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f32,f64")]
    pub real: Vec<RealArg>,
    /// What is stored in each cell.
    #[arg(long, value_enum, default_value = "populations")]
    pub storage: StorageArg,
    /// Cells of a block, or `best` of several; by default the usual block of the target, and for `d3q19_bgk` also the
    /// best.
    #[arg(long, value_parser = parse_bench_block)]
    pub block: Option<BenchBlock>,
    /// Sets of populations, 1 or 2; `1,2` measures both on the same box.
    #[arg(long, value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub buffers: Vec<u8>,
    /// Memory for two sets of populations, which sets the size of the box.
    #[arg(long, default_value = "1", value_name = "GIB", value_parser = parse_gib)]
    pub gib: f64,
}

/// What runs the kernels of `lbmc bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchTarget {
    /// All cores of the host.
    Cpu,
    /// The first GPU of NVIDIA.
    Cuda,
    /// The first GPU of AMD.
    Hip,
}

/// Blocks that `lbmc bench uniform` measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BenchBlock {
    /// Of these sides.
    Of(BlockArg),
    /// That of several with which a kernel is fastest.
    Best,
}

fn parse_bench_block(text: &str) -> Result<BenchBlock, String> {
    if text == "best" { Ok(BenchBlock::Best) } else { parse_block(text).map(BenchBlock::Of) }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    seconds.ok_or_else(|| "seconds are a number, like 60, and not negative".into())
}

fn parse_gib(text: &str) -> Result<f64, String> {
    let gib = text.parse().ok().filter(|gib: &f64| gib.is_finite() && *gib > 0.0);
    gib.ok_or_else(|| "memory in GiB is a positive number, like 0.5 or 4".into())
}
