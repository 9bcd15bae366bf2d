//! Reads the files that a case names: tables of formulas, fields at the start, surfaces and images of solids.
//!
//! After: what they hold is in the case, and their content is among what tells its flow from others.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use lbm_bundle::input::Limit;
use lbm_bundle::plain::shown_line;
use lbm_runtime::geometry::solid::Surface;

use super::diag::{self, CaseError, Report, Spanned};
use super::image::{self, ImageError, Kind};
use super::keys::faces::RawFace;
use super::keys::params::RawParam;
use super::keys::shapes::RawShape;
use super::keys::solids::{RawMotion, RawSolid};
use super::keys::start::{RawGiven, RawStart};
use super::raw::RawCase;
use super::recording::RecordingFile;
use super::samples::{Asked, Samples};
use super::table::TableFile;

impl RawCase {
    /// Reads the files that it names. `read` gives the bytes of a file, or says why it has none.
    pub fn load(&mut self, read: impl Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), CaseError> {
        let mut report = Report::default();
        self.load_tables(&read, &mut report);
        self.load_start(&read, &mut report);
        self.load_images(&read, &mut report);
        for solid in &mut self.solids {
            let RawShape::Stl { file, bytes: content, surface, names, .. } = &mut solid.value.shape else { continue };
            let bytes = read(&file.value);
            if let Ok(bytes) = &bytes {
                // A flow that goes on must be around the same surface, whatever its file is called.
                know_content(&mut self.keys, &file.value, blake3::hash(bytes));
            }
            match bytes.and_then(|bytes| Ok((Surface::from_stl(&bytes)?, bytes))) {
                Ok(((found, solids), bytes)) => (*surface, *names, *content) = (Some(found), solids, bytes),
                Err(error) => {
                    let message = format!("`{}` is no surface: {}", file.value, shown_line(&error));
                    let help = "an STL file, text or binary, beside the case or relative to where the command runs"
                        .to_string();
                    report.add::<()>(diag::NO_SURFACE, &file.span, message, "cannot be read", help);
                }
            }
        }
        report.finish(&self.name, Some(())).map(|_| ())
    }

    /// Reads the fields of files at the start.
    fn load_start(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>, report: &mut Report) {
        let dim = self.domain.size.value.len();
        // A finer grid has 64 points in a cell of this one, and no file that may be read has more than the last of these numbers.
        let cells = self.cells().into_iter().fold(1, usize::saturating_mul);
        let most = cells.saturating_mul(64).clamp(1 << 20, 1 << 28);
        let si = self.si.is_some();
        for RawStart { key, given, .. } in &mut self.start {
            let RawGiven::File { file, array, bytes: content, samples } = given else { continue };
            let name = array.as_ref().map_or(&key.value, |array| &array.value);
            match read(&file.value).and_then(|bytes| Ok((Samples::read(&bytes, Asked { dim, name, si, most })?, bytes)))
            {
                Ok((found, bytes)) => {
                    know_content(&mut self.keys, &file.value, blake3::hash(&bytes));
                    (*samples, *content) = (Some(Arc::new(found)), bytes);
                }
                Err(error) => {
                    let message = format!("`{}` is no field: {}", file.value, shown_line(&error));
                    let help =
                        "a file beside the case: `numpy.save` of an array [y][x] or [y][x][component], in three \
                                dimensions with [z] before, image data or an unstructured grid of VTK, or a restart file"
                            .to_string();
                    report.add::<()>(diag::SAMPLES, &file.span, message, "cannot be read", help);
                }
            }
        }
    }

    /// Opens the recordings that faces take, of which frames are read when the flow needs them. `open` gives a file with its length in bytes, or
    /// says why there is none.
    pub fn open_recordings(&mut self, open: impl Fn(&str) -> Result<(File, u64), String>) -> Result<(), CaseError> {
        let mut report = Report::default();
        let faces = self.faces.named.iter_mut().flatten().chain(&mut self.faces.others);
        for played in faces.flat_map(|face| face.value.played_mut()) {
            let file = &played.file;
            match open(&file.value).and_then(|(opened, length)| RecordingFile::open(opened, length)) {
                Ok(opened) => {
                    // A flow that goes on must have the same recording.
                    know_content(&mut self.keys, &file.value, opened.hash);
                    played.opened = Some(Arc::new(opened));
                }
                Err(error) => {
                    let message = format!("`{}` is no recording: {}", file.value, shown_line(&error));
                    let help = "a file that `[[recordings]]` of another run has written, beside the case or relative to where the \
                                command runs"
                        .to_string();
                    report.add::<()>(diag::RECORDING, &file.span, message, "cannot be read", help);
                }
            }
        }
        report.finish(&self.name, Some(())).map(|_| ())
    }

    /// Finds the files of stacks of pictures, whose names have a `*`. `list` gives the names that a pattern stands for, in their order,
    /// or says why there are none.
    pub fn find_stacks(&mut self, list: impl Fn(&str) -> Result<Vec<String>, String>) -> Result<(), CaseError> {
        let mut report = Report::default();
        for solid in &mut self.solids {
            let RawShape::Image { file, stack, .. } = &mut solid.value.shape else { continue };
            if !file.value.contains('*') {
                continue;
            }
            match list(&file.value) {
                Ok(names) => *stack = names,
                Err(error) => {
                    let help = "pictures `slice_000.png`, `slice_001.png`, ... are `slice_*.png`".to_string();
                    report.add::<()>(diag::NO_IMAGE, &file.span, error, "no stack of pictures", help);
                }
            }
        }
        report.finish(&self.name, Some(())).map(|_| ())
    }

    /// Reads the images of solids.
    fn load_images(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>, report: &mut Report) {
        for solid in &mut self.solids {
            let RawShape::Image { file, kind, stack, bytes, voxels, size, solid, .. } = &mut solid.value.shape else {
                continue;
            };
            let names = if stack.is_empty() { std::slice::from_ref(&file.value) } else { &stack[..] };
            let mut files = Vec::new();
            let mut total = 0;
            let found = names.iter().try_for_each(|name| {
                let found = read(name)?;
                total += found.len() as u64;
                files.push(found);
                let most = Limit::SURFACE.bytes;
                if total > most { Err(format!("its files have more than {most} bytes")) } else { Ok(()) }
            });
            let found = found.map_err(ImageError::File).and_then(|()| image::read(*kind, &files, *size, *solid));
            match found {
                Ok(found) => {
                    // A flow that goes on must be around the same image, whatever its file is called.
                    let mut content = blake3::Hasher::new();
                    files.iter().for_each(|file| {
                        content.update(blake3::hash(file).as_bytes());
                    });
                    know_content(&mut self.keys, &file.value, content.finalize());
                    *bytes = if *kind == Kind::Png { image::nrrd(&found) } else { files.swap_remove(0) };
                    *voxels = Some(Arc::new(found));
                }
                Err(ImageError::File(error)) => {
                    let message = format!("`{}` is no image: {}", file.value, shown_line(&error));
                    let help = "an NRRD file (raw or gzip, integers of 8 or 16 bits), plain bytes (`.raw`) or PNG files, beside \
                                the case or relative to where the command runs"
                        .to_string();
                    report.add::<()>(diag::NO_IMAGE, &file.span, message, "cannot be read", help);
                }
                Err(ImageError::Values(error)) => {
                    let message = format!("`{}` does not say which voxels are solid: {error}", file.value);
                    let help =
                        "with `threshold = ...`, values above it are solid, or with `solid = \"below\"` those below it"
                            .to_string();
                    report.add::<()>(diag::SOLID_VOXELS, &file.span, message, "which are solid?", help);
                }
            }
        }
    }

    /// Reads the tables of formulas.
    fn load_tables(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>, report: &mut Report) {
        let faces = self.faces.named.iter_mut().flatten().chain(&mut self.faces.others);
        let (mut surfaces, mut motions, mut layers) = (vec![], vec![], vec![]);
        for Spanned { value: RawSolid { surface, motion, layer, .. }, .. } in &mut self.solids {
            surfaces.push(surface);
            layers.extend(layer.iter_mut().flat_map(|layer| &mut layer.value.velocity));
            for motion in motion.iter_mut().map(|motion| &mut motion.value) {
                let RawMotion::Given { displacement, turn } = motion else { continue };
                motions.extend(displacement.iter_mut().flat_map(|displacement| &mut displacement.value));
                motions.extend(turn.as_mut().map(|turn| &mut turn.angle));
            }
        }
        let of_faces = faces.map(|face| &mut face.value).chain(surfaces).flat_map(RawFace::formulas);
        let far = self.absorbing.iter_mut().flat_map(|layer| layer.velocity.iter_mut().chain(&mut layer.density));
        let own = self.params.iter_mut().chain(self.fluid.varied_mut()).chain(far).chain(layers);
        let params = of_faces.chain(own.flat_map(RawParam::formulas));
        let start = self.start.iter_mut().filter_map(|start| match &mut start.given {
            RawGiven::Formulas(formulas) => Some(formulas),
            RawGiven::File { .. } => None,
        });
        let start = start.flatten();
        let all = params.chain(start.chain(motions).map(|Spanned { value, span }| (&*span, value)));
        for (span, formula) in all {
            let files: Vec<String> = formula.tables().into_iter().map(String::from).collect();
            for file in files.iter().filter(|file| !self.tables.contains_key(*file)).collect::<Vec<_>>() {
                match TableFile::read(file, read) {
                    Ok(table) => {
                        // A flow that goes on must have the same table.
                        know_content(&mut self.keys, file, blake3::hash(&table.bytes));
                        self.tables.insert(file.clone(), table);
                    }
                    Err(error) => {
                        let message = format!("`{file}` is no table: {}", shown_line(&error));
                        let help = "a text beside the case: two numbers to a line, separated by a comma, of which the \
                                    first rises; `#` begins a comment"
                            .to_string();
                        report.add::<()>(diag::TABLE, span, message, "cannot be read", help);
                    }
                }
            }
            *formula = formula.with_tables(&|file| self.tables.get(file).map(|table| table.points.clone()));
        }
    }
}

/// A file is told from others by what it holds, whatever it is called: so values that name it have its hash in the place of the name.
fn know_content(keys: &mut BTreeMap<String, String>, file: &str, hash: blake3::Hash) {
    let content = hash.to_hex();
    for value in keys.values_mut() {
        // As a value of its own, and in a formula.
        for end in ["", "\\"] {
            *value = value.replace(&format!("\"{file}{end}\""), &format!("\"{content}{end}\""));
        }
    }
}
