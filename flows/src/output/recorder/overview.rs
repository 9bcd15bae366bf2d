//! Pictures of the velocity, the vorticity and scalars at the end.

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Broken, End, Files, Output};
use crate::case::Case;
use crate::output::picture;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

#[derive(Debug)]
pub(super) struct Overview<'a>(pub(super) &'a Case);

impl Overview<'_> {
    fn write(&self, snapshot: &Snapshot, manifest: &Manifest, files: &mut Files) -> Result<(), OutputError> {
        let case = self.0;
        if !case.output.picture {
            return Ok(());
        }
        let mut pictures = vec![
            ("velocity".to_string(), picture::draw_velocity(case, snapshot)),
            ("vorticity".to_string(), picture::draw_vorticity(case, snapshot)),
        ];
        // The density adds little to the velocity; all other scalars are shown.
        let scalars =
            (manifest.fields.iter()).filter(|field| field.components == 1 && field.name != "rho" && field.is_own());
        pictures.extend(scalars.map(|field| (field.name.clone(), picture::draw_scalar(case, snapshot, &field.name))));
        for (name, picture) in pictures {
            let Some(picture) = picture else { continue };
            files.draw(&format!("{name}.png"), &picture)?;
        }
        Ok(())
    }
}

impl Output for Overview<'_> {
    fn ends_with_fields(&self) -> bool {
        self.0.output.picture
    }

    fn finish(&mut self, end: End<'_>, files: &mut Files, _: &mut Summary) -> Result<(), OutputError> {
        end.snapshot.map_or(Ok(()), |snapshot| self.write(snapshot, end.manifest, files))
    }

    fn broken(&mut self, broken: Broken<'_>, files: &mut Files) -> Result<(), OutputError> {
        broken.snapshot.map_or(Ok(()), |snapshot| self.write(snapshot, broken.manifest, files))
    }
}
