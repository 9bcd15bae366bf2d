//! `lbmc run`: a case file, from its text to its results.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use lbm_flows::case::StopReason;
use lbm_flows::flow::{self, Control, Kernels, Plan};
use lbm_flows::output::progress::{Show, Status};
use lbm_flows::output::sink::{Place, RESTART};
use lbm_flows::output::summary::{self, About};
use lbm_flows::page;
use lbm_flows::watch::{Desk, Show as Shown};
use lbm_runtime::processes::Processes;
use lbm_setup::cases::CaseFile;
use lbm_setup::ready::Ready;
use lbm_setup::{files, stability};
use miette::{Report, Result, miette};
use serde::Serialize;

use super::watch;
use crate::cli::Run;
use crate::interrupt;
use crate::notes;
use crate::status::{DONE, ENDED};

/// A line of `lbmc run --json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    /// How the run goes, about once a second and at every check for steady flow.
    Progress(&'a Status),
    /// How it ended: the last line.
    End {
        status: summary::Status,
        /// Why it ended, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// Steps done, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<u64>,
        /// Path of the summary, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<PathBuf>,
        /// Why it failed; standard error says more.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Code of that error, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

impl Event<'_> {
    fn print(&self) {
        println!("{}", serde_json::to_string(self).expect("plain data has a text"));
    }
}

/// How long a process waits for the first to say what is wrong, which is most often the same.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Runs the command in one of these processes.
pub fn run(args: &Run, processes: &Processes) -> Result<u8> {
    let result = perform(args, processes);
    if let (true, Err(report)) = (args.json && processes.is_first(), &result) {
        let (error, code) = (Some(report.to_string()), report.code().map(|code| code.to_string()));
        Event::End { status: summary::Status::Failed, stop: None, step: None, summary: None, error, code }.print();
    }
    match result {
        Err(report) if processes.are_several() => end_all(processes, &report),
        result => result,
    }
}

/// Says what is wrong, once, and ends all processes: others may wait for this one.
fn end_all(processes: &Processes, report: &Report) -> ! {
    if !processes.is_first() {
        thread::sleep(LAST_WORD);
        eprintln!("process {} of {}:", processes.number(), processes.count());
    }
    eprintln!("{report:?}");
    processes.abort(1)
}

fn perform(args: &Run, processes: &Processes) -> Result<u8> {
    let file = CaseFile::find(&args.case, notes::note)?;
    let mut overrides: Vec<(String, String)> = args.set.iter().map(|text| setting(text)).collect::<Result<_>>()?;
    overrides.extend(args.devices.iter().map(|text| ("devices".to_string(), devices(text))));
    let Ready { raw, spec, case, placement, gpus, method, criteria, prescribed, statistics, model, unstable } =
        Ready::in_processes(processes, &file, &overrides, args.out.is_none())?;
    let kernels = Kernels {
        method: &method,
        criteria: criteria.as_ref(),
        prescribed: prescribed.as_ref(),
        statistics: statistics.as_ref(),
    };
    if processes.are_several() {
        notes::note(&format!("{} processes, a part of the flow in each", processes.count()));
    }

    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(&case.output.directory));
    let place = match args.out.is_none() && raw.names_its_folder() {
        true => Place::OfCase(&folder),
        false => Place::Named(&folder),
    };
    let resume = args.resume.as_ref().map(|file| file.clone().unwrap_or_else(|| folder.join(RESTART)));
    let interrupted = interrupt::watch()?;
    if processes.are_several() {
        interrupt::watch_passed_on(&interrupted)?;
    }
    let inputs = raw.inputs(&spec.files());
    let report = |status: &Status| Event::Progress(status).print();
    let show = match (args.json, notes::quiet()) {
        _ if !processes.is_first() => Show::Nothing,
        (true, _) => Show::Each(&report),
        (false, true) => Show::Nothing,
        (false, false) => Show::Line,
    };
    let (resume, resume_anyway) = (resume.as_deref(), args.resume_anyway);
    let interrupted: &AtomicBool = &interrupted;
    let bandwidth = args.bandwidth;
    let (inputs, is_first) = (&inputs[..], processes.is_first());
    let known = || {
        let pairs = unstable.iter().map(|pair| format!("{} ({})", pair.sentence(), pair.help()));
        pairs.chain(stability::beyond(&model, &case)).collect()
    };
    let known: Option<&dyn Fn() -> Vec<String>> = Some(&known);
    let desk = Desk::default();
    let shown = args.watch.map(|_| &desk);
    let control =
        Control { resume, resume_anyway, inputs, interrupted: Some(interrupted), show, desk: shown, known, bandwidth };
    let placement = if gpus > 1 {
        let (chosen, why) = flow::devices::choose(&case, kernels, &placement, &control, gpus)?;
        notes::note(&why);
        chosen
    } else {
        placement
    };
    notes::note(&flow::header(&case, &method.manifest, &placement));
    if args.dry_run {
        let plan = Plan::new(&case, kernels, &placement, &control)?;
        let bandwidth = plan.bandwidth(&placement)?;
        if !is_first {
            return Ok(DONE);
        }
        print!("{}", plan.describe(&case, &method.manifest, bandwidth));
        if let Some(file) = &args.plot {
            match plan.picture(&case, &method.manifest) {
                Some(picture) => {
                    files::write(file, picture)?;
                    println!("drawn in {}", file.display());
                }
                None => {
                    notes::note(&format!("nothing is drawn in {}: the grid has no plane with cells", file.display()))
                }
            }
        }
        return Ok(DONE);
    }
    let server = args.watch.filter(|_| is_first).map(watch::listen).transpose()?;
    let perform = || {
        let done = flow::run(&case, kernels, &placement, place, control, notes::note);
        desk.close();
        done
    };
    let done = match server {
        Some(server) => {
            let about = About::new(&case, &method.manifest, placement.first(), placement.subdomains());
            let show = Shown::of_flow(&desk, &case, &method.manifest, &about, &folder);
            server.beside(&show, Some(interrupted), perform)
        }
        None => perform(),
    }?;
    let status = if done.stop.is_early() { ENDED } else { DONE };
    if !is_first {
        return Ok(status);
    }
    let has_page = (args.report || done.has_pictures()) && super::report::add_to(&folder);
    if args.json {
        let (stop, step, path) = (Some(done.stop), Some(done.steps), Some(folder.join("summary.json")));
        Event::End { status: done.status, stop, step, summary: path, error: None, code: None }.print();
        return Ok(status);
    }
    print!("{}", flow::describe(&done, &folder));
    if has_page {
        println!("{}: these results on one page", folder.join(page::NAME).display());
    }
    if done.stop.is_early() {
        println!("these are the results at step {}; go on with the same command and `--resume`", done.steps);
    }
    Ok(status)
}

/// A number of devices, or a list of their numbers, as a case file has it.
fn devices(text: &str) -> String {
    let is_list = text.contains(',') && !text.starts_with('[');
    if is_list { format!("[{text}]") } else { text.to_string() }
}

/// A key and its value; a key with `-` before it is taken out of the case, and has none.
fn setting(text: &str) -> Result<(String, String)> {
    let unset = text.starts_with('-').then_some((text, ""));
    let help = "write --set KEY=VALUE, for example --set re=100, or --set -KEY to take a key away";
    let nothing = || miette!(code = "L0118", help = help, "`{text}` sets nothing");
    let (key, value) = text.split_once('=').or(unset).ok_or_else(nothing)?;
    Ok((key.trim().to_string(), value.trim().to_string()))
}
