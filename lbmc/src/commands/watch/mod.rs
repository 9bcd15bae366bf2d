//! `lbmc watch`, and `lbmc run --watch`: a page that shows a run.
//!
//! | module | job |
//! | --- | --- |
//! | `request` | a request, read within bounds; who may ask |
//! | `pages` | the page and its scripts |
//! | `server` | connections and answers |

mod pages;
mod request;
mod server;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use lbm_flows::watch::Show;
use miette::{Result, miette};

pub use server::Server;

use crate::cli::Watch;
use crate::interrupt;

/// How often the command looks whether it is to end.
const REST: Duration = Duration::from_millis(100);

/// A server whose address is printed.
pub fn listen(port: Option<u16>) -> Result<Server> {
    let help = "choose another port, or none for one that is free";
    let server = Server::listen(port).map_err(|error| {
        let at = port.map_or_else(String::new, |port| format!(" at port {port}"));
        miette!(code = "L0121", help = help, "no page can be served{at}: {error}")
    })?;
    eprintln!("watch this run at {}", server.url());
    Ok(server)
}

/// Runs the command.
pub fn watch(args: &Watch) -> Result<()> {
    if !args.folder.is_dir() {
        let help = "name the folder of a run, for example `lbmc watch out/cavity2d`";
        return Err(miette!(code = "L0106", help = help, "`{}` is no folder", args.folder.display()));
    }
    let interrupted = interrupt::watch()?;
    let server = listen(args.port)?;
    server.beside(&Show::of_folder(&args.folder), None, || {
        while !interrupted.load(Ordering::Relaxed) {
            thread::sleep(REST);
        }
    });
    Ok(())
}
