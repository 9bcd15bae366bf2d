//! `lbmc run`: a case file, from its text to its results.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lbm_bundle::Layout;
use lbm_bundle::input::Limit;
use lbm_codegen::options::Options;
use lbm_runtime::case::{RawCase, TargetChoice};
use lbm_runtime::device::Device;
use lbm_runtime::flow::{self, Control};
use lbm_runtime::layout::preferred_block;
use lbm_runtime::output::summary::StopReason;
use lbm_runtime::restart;
use miette::{Report, Result, miette};

use crate::cli::Run;
use crate::spec::{self, Spec};
use crate::{files, interrupt};

/// Runs the command.
pub fn run(args: &Run) -> Result<ExitCode> {
    let text = files::read(&args.case, Limit::CASE)?;
    let overrides: Vec<(String, String)> = args.set.iter().map(|text| setting(text)).collect::<Result<_>>()?;
    let mut raw = RawCase::parse(&args.case.display().to_string(), &text, &overrides)?;
    raw.load(|name| files::read_surface(&beside(&args.case, name)))?;
    if args.out.is_none() {
        raw.writes_below()?;
    }

    let device = match raw.target() {
        TargetChoice::Cpu => Device::host(0)?,
        TargetChoice::Cuda => Device::cuda(0)?,
        TargetChoice::Auto => {
            let (device, why) = Device::find()?;
            eprintln!("note: {why}");
            device
        }
    };
    let spec = Spec::find(&beside(&args.case, raw.spec()))
        .map_err(|error| Report::new(raw.reject_spec(&error.to_string(), error.help().map(|help| help.to_string()))))?;
    let model = spec.model_with(&raw.rules(), raw.coupling(), raw.criterion())?;
    let coupling = match raw.coupling() {
        None => None,
        Some(name) => Some(spec::coupling(&model, name).map_err(|error| {
            Report::new(raw.reject_coupling(&error.to_string(), error.help().map(|help| help.to_string())))
        })?),
    };
    let block = raw.block().unwrap_or_else(|| {
        let preferred = |cells| preferred_block(device.target(), model.lattice().dim(), raw.real(), cells);
        let (block, widest) = (preferred(Some(raw.cells_along_x())), preferred(None));
        if block != widest {
            let ([x, y, z], widest) = (block, widest[0]);
            eprintln!(
                "note: blocks of {x}x{y}x{z}, because x is not three or more times {widest} cells long, which is faster"
            );
        }
        block
    });
    let bundle = spec::compile(
        &model,
        &Options {
            target: device.target(),
            real: raw.real(),
            layout: Layout::Blocks,
            block,
            coupling,
            solids: raw.cuts_links(),
        },
    )?;
    let (case, warnings) = raw.resolve(&bundle.manifest, &spec.prelude_rules()?)?;
    for warning in warnings {
        eprintln!("{:?}", Report::new(warning));
    }

    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(&case.output.directory));
    let resume = args.resume.as_ref().map(|file| file.clone().unwrap_or_else(|| folder.join(restart::NAME)));
    let interrupted = interrupt::watch()?;
    let files = spec.files();
    let inputs = raw.inputs(&files[0].name.clone(), files);
    let (resume, resume_anyway) = (resume.as_deref(), args.resume_anyway);
    let control = Control { resume, resume_anyway, inputs: &inputs, interrupted: Some(&interrupted) };
    let summary = flow::run(&case, &bundle, &device, &folder, control, |notice| eprintln!("note: {notice}"))?;
    print!("{}", flow::describe(&summary, &folder));
    if summary.stop != StopReason::Interrupted {
        return Ok(ExitCode::SUCCESS);
    }
    println!("these are the results at step {}; go on with the same command and `--resume`", summary.steps);
    Ok(ExitCode::from(interrupt::STATUS))
}

fn setting(text: &str) -> Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| miette!(help = "write --set KEY=VALUE, for example --set re=100", "`{text}` sets nothing"))?;
    Ok((key.trim().to_string(), value.trim().to_string()))
}

/// A spec's path as seen from where the command runs: beside the case if it is there, else as the case has it.
fn beside(case: &Path, spec: &str) -> String {
    let path = case.parent().unwrap_or(Path::new("")).join(spec);
    if path.is_file() { path.display().to_string() } else { spec.to_string() }
}
