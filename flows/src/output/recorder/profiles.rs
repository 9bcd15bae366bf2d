//! Profiles along the centre lines, and their deviation from published ones.

use super::output::{End, Files, Output};
use crate::case::Case;
use crate::output::plot;
use crate::output::profile::{self, Profile};
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

#[derive(Debug)]
pub(super) struct Profiles<'a>(pub(super) &'a Case);

impl Output for Profiles<'_> {
    fn ends_with_fields(&self) -> bool {
        self.0.output.profiles
    }

    fn finish(&mut self, end: End<'_>, files: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        let case = self.0;
        let Some(snapshot) = end.snapshot.filter(|_| self.ends_with_fields()) else { return Ok(()) };
        let profiles: Vec<Profile> = (0..case.dim).filter_map(|axis| Profile::new(case, snapshot, axis)).collect();
        for profile in &profiles {
            let name = format!("profile_{}.csv", ["x", "y", "z"][profile.axis]);
            files.write(&name, |out| profile.write(case, snapshot.step, out))?;
        }
        if let Some(reference) = &case.output.compare {
            summary.compared = profile::compare(&profiles, reference);
        }
        files.draw("profiles.png", &plot::draw(case, &profiles))
    }
}
