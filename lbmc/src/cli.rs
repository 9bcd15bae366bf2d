//! The command line as types. Every option here has an effect; nothing is accepted and ignored.

mod bench;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lbm_bundle::{Layout, Real};

pub use bench::{Bench, BenchBlock, BenchTarget, Measurements, Suite, Suited, Uniform};

/// Compiles lattice Boltzmann methods to kernels and runs flows with them.
#[derive(Debug, Parser)]
#[command(name = "lbmc", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print results and errors only: no notes, no warnings, no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// Arguments, of which the first is the name of the program; ends the process where they are unusable, or where help is asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Cli {
    Cli::try_parse_from(arguments).unwrap_or_else(|mut error| {
        let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        if error.kind() == ErrorKind::UnknownArgument && !unknown.starts_with('-') && unknown.contains('=') {
            let tip = StyledStr::from(format!("values are set with `--set {unknown}`"));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
        error.exit()
    })
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a method of your own: a commented spec, and a case that runs it.
    New(New),
    /// Format specs.
    Fmt(Fmt),
    /// Explain an error or warning by its code, such as E0204.
    Explain(Explain),
    /// Generate the kernels of a method: CUDA, C, a header, Rust bindings, a manifest.
    Gen(Gen),
    /// Report what is proved about a method: conservation, viscosity, wall positions, linear stability.
    Check(Check),
    /// List the shipped methods, or boundary conditions.
    Specs(Specs),
    /// Apply the collision of a method to given populations.
    Eval(Eval),
    /// List the shipped cases: what each shows, and about how long it takes.
    Cases(Cases),
    /// Run a flow: a case file, or a shipped case.
    Run(Run),
    /// Serve a page that shows a run, from its folder: one that goes on or is over.
    Watch(Watch),
    /// Make one page of the results of a run: report.html, which opens in any browser.
    Report(Report),
    /// Measure the speed of kernels and of flows, beside that of other codes.
    Bench(Bench),
    /// Print the JSON schema of case files, with which editors complete and check keys.
    Schema,
    /// Run a language server for editors (LSP): diagnostics, completion, definitions, renaming.
    Lsp,
    /// Print a script with which a shell completes commands and options.
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands.
    Man(Man),
}

/// Arguments of `lbmc new`.
#[derive(Debug, Args)]
pub struct New {
    /// Name of the method: letters, digits and `_`. NAME.lbm and NAME.toml are written here.
    pub name: String,
}

/// Arguments of `lbmc fmt`.
#[derive(Debug, Args)]
pub struct Fmt {
    /// .lbm files, rewritten in place; `-` reads standard input and writes standard output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Write nothing; fail if a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `lbmc explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The code, as an error shows it; without one, all codes are listed.
    pub code: Option<String>,
}

/// Arguments of `lbmc gen`.
#[derive(Debug, Args)]
pub struct Gen {
    /// A .lbm file, or the name of a shipped method (`lbmc specs` lists them).
    pub spec: String,
    /// Language of the kernels.
    #[arg(long, value_enum, default_value = "all")]
    pub target: GenTarget,
    /// Floating-point type of populations and parameters.
    #[arg(long, value_enum, default_value = "f32")]
    pub real: RealArg,
    /// What is stored in each cell.
    #[arg(long, value_enum, default_value = "populations")]
    pub storage: StorageArg,
    /// Layout of the cells in memory.
    #[arg(long, value_enum, default_value = "blocks")]
    pub layout: LayoutArg,
    /// Cells of a block; by default 8x8 in two dimensions and 4x4x4 in three. For plain arrays, cells of a CUDA thread
    /// block; by default 128x2 or 128x2x1.
    #[arg(long, value_parser = parse_block)]
    pub block: Option<BlockArg>,
    /// Add a boundary condition of the prelude; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub boundary: Vec<String>,
    /// Also write kernels for blocks at refinement interfaces, with this coupling: `volumetric_shifted`.
    #[arg(long)]
    pub coupling: Option<String>,
    /// Also write kernels for blocks with solids, and for the force on solids.
    #[arg(long)]
    pub solids: bool,
    /// Also write the adjoint of a step, for gradients (docs/adjoint.md); with `--layout soa` its tangent, too.
    #[arg(long)]
    pub adjoint: bool,
    /// Folder for the files; it is created if it does not exist.
    #[arg(long, default_value = ".")]
    pub out: PathBuf,
    /// Also write a report: operation counts, bytes, compile times, and registers if nvcc is found.
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
}

/// Arguments of `lbmc check`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("analysis").multiple(true)))]
pub struct Check {
    /// A .lbm file, or the name of a shipped method (`lbmc specs` lists them).
    pub spec: String,
    /// Value of a parameter, `omega=1.9`, or of a component of a vector, `gx=0.001`; may be repeated. Without it, several values of
    /// the rate that sets the viscosity are tried.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Add a boundary condition of the prelude; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub boundary: Vec<String>,
    /// Also report the limits of linear stability, by trying waves on a uniform flow (von Neumann).
    #[arg(long, group = "analysis")]
    pub stability: bool,
    /// Also report what grows in a stream between two opposite faces with these boundary conditions, and how much sound each reflects:
    /// `left=moving_wall,right=anti_bounce_back`; with walls along the stream, too: `...,bottom=bounce_back,top=free_slip`. `all` tries each inlet
    /// with each outlet.
    #[arg(long, group = "analysis", value_name = "FACE=RULE,FACE=RULE")]
    pub faces: Option<String>,
    /// Also report how far a step in 32 bits may be from the exact one: a bound, and what is measured.
    #[arg(long)]
    pub rounding: bool,
    /// Velocity of that flow in cells per step, `0.1,0,0`; it is also tried at refinement interfaces. Without it, several
    /// velocities are tried, along x or from one face to the other.
    #[arg(long, requires = "analysis", value_delimiter = ',', allow_negative_numbers = true, value_name = "UX,UY,..")]
    pub velocity: Option<Vec<f64>>,
    /// Draw the largest stable velocity as a function of the rate.
    #[arg(long, requires = "stability", value_name = "FILE.png")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object on one line (docs/cli.md describes it).
    #[arg(long)]
    pub json: bool,
    /// Print the equations of the method instead, as a LaTeX document: values of a cell, collision, initial populations and the functions
    /// that they call.
    #[arg(long, conflicts_with_all = ["json", "analysis", "rounding", "set", "boundary"])]
    pub latex: bool,
}

/// Arguments of `lbmc cases`.
#[derive(Debug, Args)]
pub struct Cases {
    /// Print the text of this case instead: `lbmc cases cavity2d > mine.toml` makes a copy to change.
    pub name: Option<String>,
    /// Print one JSON object per line: `name`, `summary`, `time`.
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}

/// Arguments of `lbmc report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The folder of a run, that is over or was interrupted.
    pub folder: PathBuf,
    /// The page; without it, report.html in the folder.
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

/// Arguments of `lbmc watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The folder of a run.
    pub folder: PathBuf,
    /// Port of the loopback address (127.0.0.1); by default a free one.
    #[arg(long)]
    pub port: Option<u16>,
}

/// Arguments of `lbmc completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell. For bash: `lbmc completions bash > ~/.local/share/bash-completion/completions/lbmc`.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `lbmc man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Write lbmc.1, and a page for each command, into this folder; without it, lbmc.1 is printed: `lbmc man | man -l -`.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Arguments of `lbmc specs`.
#[derive(Debug, Args)]
pub struct Specs {
    /// Print a table of the boundary conditions instead: what each is for, its parameters, where the wall lies, what it
    /// costs.
    #[arg(long)]
    pub boundaries: bool,
    /// Print a table of the moments on which the populations after a collision depend instead.
    #[arg(long, conflicts_with = "boundaries")]
    pub moments: bool,
    /// Print one JSON object per line: `name`, `summary`.
    #[arg(long, conflicts_with_all = ["boundaries", "moments"])]
    pub json: bool,
}

/// Arguments of `lbmc eval`.
#[derive(Debug, Args)]
pub struct Eval {
    /// A .lbm file, or the name of a shipped method (`lbmc specs` lists them).
    pub spec: String,
    /// Value of a parameter, `omega=1.7`, of a vector, `g=[0.001,0]`, or of a component, `gx=0.001`; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Populations: {"directions": [[cx,cy,cz],...], "states": [[f...],...]}, directions in any order.
    #[arg(long = "in", value_name = "STATES.json")]
    pub input: PathBuf,
    /// File for the populations after the collision, in the same form and order.
    #[arg(long, value_name = "POST.json")]
    pub out: PathBuf,
    /// What executes the collision.
    #[arg(long, value_enum)]
    pub via: Via,
    /// What kernels store in each cell; from moments, they compute the populations.
    #[arg(long, value_enum, default_value = "populations")]
    pub storage: StorageArg,
    /// Floating-point type (exact arithmetic has none).
    #[arg(long, value_enum)]
    pub real: Option<RealArg>,
}

/// Arguments of `lbmc run`.
#[derive(Debug, Args)]
pub struct Run {
    /// A case file (TOML), or the name of a shipped case (`lbmc cases` lists them).
    pub case: PathBuf,
    /// Override a value of the case: `re=100`, `faces.top.velocity=[0.05,0]`, `solids.0.radius=9`; a parameter of the
    /// method by its name, `magic=0.25`; `-output.forces` removes a key. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Number of devices, or the numbers of GPUs, `0,1`; by default as many GPUs as the flow keeps busy. On the host,
    /// the number of subdomains. The same as `--set devices=...`.
    #[arg(long, value_name = "N|LIST")]
    pub devices: Option<String>,
    /// Folder for the results, instead of the one that the case names.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Continue from a restart file: the one in the folder for the results, unless another is named. Of the case, only
    /// `name`, `devices`, `stop`, `output`, `fields`, `probes`, `pictures`, `views`, `statistics`, `fluxes`, `recordings`
    /// and `report` may have changed.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub resume: Option<Option<PathBuf>>,
    /// Continue even if the compiler, its flags or the processor have changed: the flow is the same, but not to the
    /// last bit.
    #[arg(long, requires = "resume")]
    pub resume_anyway: bool,
    /// Print progress and the end of the run as JSON objects, one per line (docs/cli.md describes them).
    #[arg(long, conflicts_with = "dry_run")]
    pub json: bool,
    /// Run nothing: print the cells of each level, the memory by use, relaxation rates, time steps and an estimate of
    /// the run time.
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// With `--dry-run`, draw the grid and what is solid: in three dimensions the middle planes normal to x, y and z, one below the other.
    #[arg(long, value_name = "FILE.png", requires = "dry_run")]
    pub plot: Option<PathBuf>,
    /// Make one page of the results at the end, report.html; without it, where the run has pictures.
    #[arg(long, conflicts_with = "dry_run")]
    pub report: bool,
    /// Serve a page that shows the flow while it goes on, at this port of the loopback address (127.0.0.1), or at a free one. Its
    /// address is printed once.
    #[arg(long, value_name = "PORT", num_args = 0..=1, conflicts_with = "dry_run")]
    pub watch: Option<Option<u16>>,
    /// Also measure the memory bandwidth of the device by a device-to-device copy, and report the fraction that the run
    /// reaches.
    #[arg(long)]
    pub bandwidth: bool,
}

/// Targets of `lbmc gen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GenTarget {
    /// CUDA C++.
    Cuda,
    /// C for the host.
    C,
    /// HIP C++ for AMD GPUs: compiled by our tests and run by an emulator, never on a GPU.
    Hip,
    /// CUDA C++ and C.
    All,
}

/// What is stored in each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StorageArg {
    /// The populations.
    Populations,
    /// The moments from which populations follow, for methods that need fewer moments than populations.
    Moments,
}

/// Memory layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Blocks of cells, for the runtime of lbmc.
    Blocks,
    /// Plain arrays [direction][z][y][x], for your own program.
    Soa,
}

impl From<LayoutArg> for Layout {
    fn from(layout: LayoutArg) -> Layout {
        match layout {
            LayoutArg::Blocks => Layout::Blocks,
            LayoutArg::Soa => Layout::Soa,
        }
    }
}

/// Executions of `lbmc eval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// The spec in exact rationals.
    Exact,
    /// The lowered arithmetic before simplification, interpreted.
    Ir,
    /// The simplified arithmetic, interpreted.
    Dag,
    /// The compiled C kernel.
    C,
    /// The compiled CUDA kernel.
    Cuda,
    /// The compiled HIP kernel.
    Hip,
}

/// Floating-point types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RealArg {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
    /// Populations or moments stored in 16 bits, computed in 32.
    #[value(name = "f16/f32")]
    F16F32,
}

impl From<RealArg> for Real {
    fn from(real: RealArg) -> Real {
        match real {
            RealArg::F32 => Real::F32,
            RealArg::F64 => Real::F64,
            RealArg::F16F32 => Real::F16F32,
        }
    }
}

/// Cells of a block along each axis, as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockArg(pub Vec<u32>);

fn parse_block(text: &str) -> Result<BlockArg, String> {
    let sides: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    match sides {
        Ok(sides) if (2..=3).contains(&sides.len()) && sides.iter().all(|side| (1..=256).contains(side)) => {
            Ok(BlockArg(sides))
        }
        _ => Err("a block is two or three sides from 1 to 256, like 8x8 or 4x4x4".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_block_has_two_or_three_positive_sides() {
        assert_eq!(parse_block("4x4x4"), Ok(BlockArg(vec![4, 4, 4])));
        assert_eq!(parse_block("8x16"), Ok(BlockArg(vec![8, 16])));
        for bad in ["", "4", "0x4", "4x4x4x4", "4x-1", "axb", "1000x4"] {
            assert!(parse_block(bad).is_err(), "{bad}");
        }
    }
}
