//! Pictures, views, and films of them. After each call every picture that was due exists as a file, and each film has
//! all its existing pictures.

use std::path::PathBuf;

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;

use super::Recorder;
use crate::case::Frames;
use crate::output::canvas::Canvas;
use crate::output::sink::OutputError;
use crate::output::{film, picture, views};

impl Recorder<'_> {
    /// Draws the pictures and views that are due at a step during the run, and writes surface data if due.
    pub fn pictures_on_the_way(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        if self.case.output.wants_surfaces(snapshot.step) {
            self.surfaces(snapshot)?;
        }
        self.pictures(snapshot, |frames| frames.wants(snapshot.step))
    }

    /// Draws the pictures of the last step.
    pub(super) fn pictures_at_end(&mut self, snapshot: &Snapshot, manifest: &Manifest) -> Result<(), OutputError> {
        let case = self.case;
        if case.output.picture {
            let mut pictures = vec![
                ("velocity".to_string(), picture::draw_velocity(case, snapshot)),
                ("vorticity".to_string(), picture::draw_vorticity(case, snapshot)),
            ];
            // The density adds little to the velocity; all other scalars are shown.
            let scalars =
                (manifest.fields.iter()).filter(|field| field.components == 1 && field.name != "rho" && field.is_own());
            pictures
                .extend(scalars.map(|field| (field.name.clone(), picture::draw_scalar(case, snapshot, &field.name))));
            for (name, picture) in pictures {
                let Some(picture) = picture else { continue };
                let image = picture.png();
                self.sink.write(&format!("{name}.png"), |out| out.write_all(&image))?;
            }
        }
        self.pictures(snapshot, |_| true)
    }

    fn pictures(&mut self, snapshot: &Snapshot, wanted: impl Fn(&Frames) -> bool) -> Result<(), OutputError> {
        let case = self.case;
        let output = &case.output;
        let of_flow = output.pictures.iter().filter(|picture| picture.statistics.is_none());
        for picture in of_flow.filter(|picture| wanted(&picture.frames)) {
            self.draw(&picture.frames, snapshot.step, picture::draw(case, snapshot, picture))?;
        }
        for view in output.views.iter().filter(|view| wanted(&view.frames)) {
            self.draw(&view.frames, snapshot.step, views::draw(case, snapshot, view))?;
        }
        Ok(())
    }

    pub(super) fn draw(&mut self, frames: &Frames, step: u64, canvas: Option<Canvas>) -> Result<(), OutputError> {
        let Some(canvas) = canvas else { return Ok(()) };
        let image = canvas.png();
        self.sink.write(&frames.file_name(step), |out| out.write_all(&image))
    }

    /// Writes films of the existing pictures.
    pub(super) fn films(&mut self) -> Result<(), OutputError> {
        let frames: Vec<&Frames> = self.case.output.frames().collect();
        let films = frames.into_iter().filter_map(|frames| Some((frames, frames.every?, frames.film?)));
        for (frames, every, rate) in films {
            let files = self.sink.files().iter();
            let mut there: Vec<(u64, &String)> = files.filter_map(|name| Some((frames.step(name)?, name))).collect();
            there.sort();
            let is_there = |step: u64| there.binary_search_by_key(&step, |(step, _)| *step).is_ok();
            let mut missing = (1..=self.reached / every).filter(|at| !is_there(at * every)).count();
            let paths: Vec<PathBuf> = there.iter().map(|(_, name)| self.folder().join(name)).collect();
            if !paths.is_empty() {
                self.sink.write(&frames.film_name(), |out| {
                    missing += film::write(out, &paths, rate)?;
                    Ok(())
                })?;
            }
            if missing > 0 {
                let text = "are not in the folder, or of another size than the last, and so not in the film";
                self.notices.push(format!("{missing} pictures of `{}` {text}", frames.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Quantity;
    use crate::output::example;

    #[test]
    fn a_picture_at_the_end_makes_no_film() {
        let (mut case, snapshot) = example::cavity(16);
        let all = Quantity::all(&lbm_runtime::fixture::manifest());
        let field = all.into_iter().find(|field| field.name() == "speed").unwrap();
        let frames = Frames { name: "speed".into(), every: None, film: Some(20) };
        case.output.pictures = vec![crate::case::Picture::of(field, frames)];
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, example::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        recorder.reach(10);
        recorder.pictures(&snapshot, |_| true).unwrap();
        recorder.films().unwrap();
        assert_eq!(recorder.sink.files(), ["speed.png"]);
        assert!(recorder.notices().is_empty());
    }
}
