//! Films of pictures and views. After each call a film has all its pictures that exist.

use std::path::PathBuf;

use super::output::{Files, Output};
use crate::case::{Case, Frames};
use crate::output::film;
use crate::output::sink::OutputError;

#[derive(Debug)]
pub(super) struct Films<'a>(pub(super) &'a Case);

impl Output for Films<'_> {
    fn close(&mut self, reached: u64, files: &mut Files) -> Result<(), OutputError> {
        let films = self.0.output.frames().filter_map(|frames: &Frames| Some((frames, frames.every?, frames.film?)));
        for (frames, every, rate) in films {
            let names = files.sink.files().iter();
            let mut there: Vec<(u64, &String)> = names.filter_map(|name| Some((frames.step(name)?, name))).collect();
            there.sort();
            let is_there = |step: u64| there.binary_search_by_key(&step, |(step, _)| *step).is_ok();
            let mut missing = (1..=reached / every).filter(|at| !is_there(at * every)).count();
            let paths: Vec<PathBuf> = there.iter().map(|(_, name)| files.sink.folder().join(name)).collect();
            if !paths.is_empty() {
                files.write(&frames.film_name(), |out| {
                    missing += film::write(out, &paths, rate)?;
                    Ok(())
                })?;
            }
            if missing > 0 {
                let text = "are not in the folder, or of another size than the last, and so not in the film";
                files.notices.push(format!("{missing} pictures of `{}` {text}", frames.name));
            }
        }
        Ok(())
    }
}
