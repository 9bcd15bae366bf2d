//! `lbmc bench`: suites of measurements.
//!
//! ```text
//! uniform, flows, host ──▶ row ──measured──▶ record ──▶ FOLDER/SUITE.json
//! papers: flows, accuracy, cost ─┤   peers ────┘ ├────▶ table
//! couplings, faces ──────────────┘               │
//!                                                └────▶ plot ──▶ FOLDER/SUITE.png
//! ```
//!
//! A suite is a list of rows, each with the command that repeats it. Rows are measured one after the other, and the file is written
//! after each: a call that is interrupted, or told not to take longer, loses nothing, and the next one goes on.

mod accuracy;
mod cost;
mod couplings;
mod faces;
mod flows;
mod host;
mod papers;
mod peers;
mod plot;
mod record;
mod row;
mod table;
mod uniform;
mod words;

use std::sync::atomic::Ordering;
use std::time::Instant;

use lbm_bundle::Target;
use lbm_runtime::device::Device;
use lbm_setup::files;
use miette::Result;

use crate::cli::{Bench, BenchTarget, Measurements, Suite};
use crate::interrupt;
use crate::notes;
use crate::status::{DONE, ENDED, FAILED};
use record::{Book, Origin, Outcome, Record};
use row::Row;

/// Runs the command.
pub fn bench(args: &Bench) -> Result<u8> {
    match &args.suite {
        Suite::Uniform(uniform) => {
            let device = device(uniform.suited.target)?;
            let rows = uniform::rows(uniform, device.target())?;
            measure("uniform", &device, rows, &uniform.suited.measurements)
        }
        Suite::Host(measurements) => {
            let rows = row::select(host::rows()?, &measurements.names)?;
            measure("host", &device(Some(BenchTarget::Cpu))?, rows, measurements)
        }
        Suite::Refined(suited) => selected("refined", flows::refined, suited),
        Suite::Adaptive(suited) => selected("adaptive", flows::adaptive, suited),
        Suite::Couplings(suited) => {
            let device = device(suited.target)?;
            let rows = couplings::rows(&suited.measurements.names, device.target())?;
            measure("couplings", &device, rows, &suited.measurements)
        }
        Suite::Faces(suited) => {
            let device = device(suited.target)?;
            let rows = faces::rows(&suited.measurements.names, device.target())?;
            measure("faces", &device, rows, &suited.measurements)
        }
        Suite::Papers(suited) => selected("papers", papers::rows, suited),
    }
}

/// A suite whose rows have names of its own.
fn selected(suite: &str, rows: fn(Target) -> Vec<Row>, args: &crate::cli::Suited) -> Result<u8> {
    let device = device(args.target)?;
    let rows = row::select(rows(device.target()), &args.measurements.names)?;
    measure(suite, &device, rows, &args.measurements)
}

fn device(target: Option<BenchTarget>) -> Result<Device> {
    Ok(match target {
        Some(BenchTarget::Cpu) => Device::host(0)?,
        Some(BenchTarget::Cuda) => Device::gpu(Target::Cuda, 0)?,
        Some(BenchTarget::Hip) => Device::gpu(Target::Hip, 0)?,
        None => {
            let (device, why) = Device::find()?;
            notes::note(&why);
            device
        }
    })
}

/// Measures the rows that have not been measured yet.
fn measure(suite: &str, device: &Device, rows: Vec<Row>, args: &Measurements) -> Result<u8> {
    if args.list {
        for Row { name, command, lacks, .. } in &rows {
            let lacks = lacks.as_ref().map_or(String::new(), |why| format!("  ({why})"));
            println!("{name:<36} {}{lacks}", if command.is_empty() { "-" } else { command });
        }
        return Ok(DONE);
    }
    let began = Instant::now();
    let origin = Origin::new(device)?;
    files::create_folder(&args.out)?;
    let mut book = Book::open(&args.out, suite)?;
    let interrupted = interrupt::watch()?;
    println!("{suite}: lbmc {}, {}", origin.version, origin.device);
    println!("{}", table::head());
    let (mut left, mut failed) = (vec![], false);
    for Row { name, command, target, inputs, lacks, measure } in rows {
        if let Some(row) = book.kept(&origin, &name, &command, &inputs) {
            println!("{}", table::line(row, true));
            continue;
        }
        if let (Some(why), true) = (&lacks, args.names.is_empty()) {
            println!("{name:<36} left out: {why}");
            continue;
        }
        if interrupted.load(Ordering::Relaxed) || args.seconds.is_some_and(|most| began.elapsed().as_secs_f64() > most)
        {
            left.push(name);
            continue;
        }
        let outcome = measure(device).unwrap_or_else(|report| {
            eprintln!("{report:?}");
            failed = true;
            Outcome::failed(&report)
        });
        let peers = peers::beside(&name, target);
        let row = Record { name, command, inputs, origin: origin.clone(), outcome, peers };
        println!("{}", table::line(&row, false));
        book.put(row)?;
    }
    if !left.is_empty() {
        println!("left, for the same command to go on with: {}", left.join(", "));
    }
    let rows: Vec<&Record> = book.of(&origin).collect();
    let roofline = if suite == "uniform" { plot::roofline(&origin, &rows) } else { None };
    println!("{}", book.path().display());
    let own = plot::fractions(suite, &origin, &rows).or_else(|| plot::noise(&origin, &rows));
    for (name, plot) in [(suite, own), ("roofline", roofline)] {
        let Some(plot) = plot else { continue };
        let path = args.out.join(format!("{name}.png"));
        files::write(&path, plot)?;
        println!("{}", path.display());
    }
    Ok(match (interrupted.load(Ordering::Relaxed), failed) {
        (true, _) => ENDED,
        (false, true) => FAILED,
        (false, false) => DONE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_others_stands_beside_rows_that_exist() {
        let shipped = uniform::shipped(Target::Cuda).into_iter().chain(uniform::shipped(Target::C));
        let flows = [flows::refined(Target::Cuda), flows::adaptive(Target::Cuda), papers::rows(Target::Cuda)];
        let names: Vec<String> = shipped.chain(flows.into_iter().flatten()).map(|row| row.name).collect();
        for row in peers::entries().iter().flat_map(|entry| &entry.rows) {
            assert!(names.iter().any(|name| words::is_of(name, row)), "no row is called {row}");
        }
    }
}
