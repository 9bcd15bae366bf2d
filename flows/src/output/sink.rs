//! The folder that a run writes to, and owns while it does.
//!
//! After `Sink::create`, the folder exists, takes files, and no other run writes to it. After `Sink::begin`, it has no result of
//! an earlier run, and it has what this run is made from; files that no run has written are as they were. A file appears under its
//! name only when it is whole ([`lbm_runtime::file`]), so that an error leaves what was there before as it was; tables then grow by rows.
//!
//! What an earlier run has written is known by its name; the names that a method or a case chooses are listed in
//! `summary.json` (pictures of scalars, probes, statistics) and at the top of `case.toml` (the spec, its modules, surfaces).

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use lbm_bundle::input::{self, Limit};
use lbm_runtime::file;
use miette::Diagnostic;

use super::lock::Lock;
use crate::case::{CASE, InputFile, is_plain, listed_inputs, listed_sequences};

/// Name of the summary.
pub const SUMMARY: &str = "summary.json";

/// Name of the restart file.
pub const RESTART: &str = "restart.lbmc";

/// Results whose names are always the same.
const RESULTS: [&str; 16] = [
    SUMMARY,
    RESTART,
    "fields.pvd",
    "fields.vtkhdf.series",
    "profile_x.csv",
    "profile_y.csv",
    "profile_z.csv",
    "profiles.png",
    "series.csv",
    "series.png",
    "forces.csv",
    "forces.png",
    "fluxes.csv",
    "heat.csv",
    "velocity.png",
    "vorticity.png",
];

/// Whether a file of that name is a result.
fn is_result(name: &str) -> bool {
    let is_frame = |rest: &str| {
        let (step, ending) = rest.split_once('.').unwrap_or((rest, ""));
        let digits = step.len() >= 8 && step.bytes().all(|byte| byte.is_ascii_digit());
        digits && ["vti", "vtu", "vtkhdf"].contains(&ending)
    };
    let is_surface = |rest: &str| {
        let (body, rest) = rest.split_once('_').unwrap_or((rest, ""));
        let (step, ending) = rest.split_once('.').unwrap_or((rest, ""));
        let digits = |text: &str, least: usize| text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit());
        digits(body, 1) && digits(step, 8) && ["vtp", "csv"].contains(&ending)
    };
    let is_section = |rest: &str| {
        let parts: Vec<&str> = rest.split('_').collect();
        let digits = |text: &str, least: usize| text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit());
        matches!(parts[..], [body, plane, step] if digits(body, 1) && digits(plane, 1) && digits(step, 8))
    };
    RESULTS.contains(&name)
        || name.strip_prefix("fields_").is_some_and(is_frame)
        || name.strip_prefix("surface_").is_some_and(is_surface)
        || name.strip_prefix("section_").and_then(|rest| rest.strip_suffix(".csv")).is_some_and(is_section)
}

/// Whether a file of that name is a picture on the way of a run whose case asks for sequences of these names.
fn is_in_sequence(name: &str, sequences: &[String]) -> bool {
    let of = |sequence: &String| name.strip_prefix(&sequence[..])?.strip_prefix('_')?.strip_suffix(".png");
    let is_step = |step: &str| step.len() >= 8 && step.bytes().all(|byte| byte.is_ascii_digit());
    sequences.iter().filter_map(of).any(is_step)
}

/// Pictures, films, probes and statistics that the summary in a folder lists. One that cannot be read lists nothing.
fn listed_results(folder: &Path) -> Vec<String> {
    let text = there(&folder.join(SUMMARY)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let files = summary["files"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
    let is_vtk = |name: &str| [".vti", ".vtu", ".vtkhdf"].iter().any(|ending| name.ends_with(ending));
    let of_a_run = |name: &&str| {
        let drawn = name.ends_with(".png") || name.ends_with(".gif");
        let probe = name.starts_with("probe_") && name.ends_with(".csv");
        drawn || probe || name.starts_with("statistics_") && is_vtk(name)
    };
    files.filter(|name| of_a_run(name) && is_plain(name)).map(String::from).collect()
}

/// The bytes of a file that may be anybody's, if it is one.
fn there(path: &Path) -> Option<Vec<u8>> {
    input::bytes(path, Limit { what: "a file of a run", ..Limit::SURFACE }).ok()
}

/// Why something could not be written.
#[derive(Debug)]
pub struct OutputError {
    path: PathBuf,
    what: &'static str,
    source: io::Error,
}

/// What a run may not do with a file that is not of a run.
const REPLACE: &str = "replace";

impl OutputError {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {} `{}`: {}", self.what, self.path.display(), self.source)
    }
}

// What the system says is in the message; as a source it would be printed twice.
impl std::error::Error for OutputError {}

impl Diagnostic for OutputError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("C0601"))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let advice = match self.source.kind() {
            ErrorKind::AlreadyExists if self.what == REPLACE => {
                "a run writes a file of that name, with other content, and this one is not of a run: choose another folder with \
                 `--out DIR`, or give it another name"
            }
            ErrorKind::PermissionDenied => "you may not write there: choose another folder with `--out DIR`",
            ErrorKind::ReadOnlyFilesystem => "the file system is read-only: choose another folder with `--out DIR`",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "the disk is full, or files may not be so long: make room, or choose another folder with `--out DIR`; older \
                 files are untouched, and from a restart file the run goes on with `--resume`"
            }
            ErrorKind::ResourceBusy => {
                "wait until that run has ended, end it, or choose another folder with `--out DIR`"
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                "a part of this path is a file, not a folder: choose another folder with `--out DIR`"
            }
            _ => "choose another folder with `--out DIR`",
        };
        Some(Box::new(advice))
    }
}

/// A folder that takes files.
#[derive(Debug)]
pub struct Sink {
    folder: PathBuf,
    files: Vec<String>,
    inputs: Vec<String>,
    _lock: Lock,
}

impl Sink {
    /// Creates the folder where it is missing, and makes sure that it takes files, and those of this run alone.
    pub fn create(folder: &Path) -> Result<Sink, OutputError> {
        let fail = |source| OutputError { path: folder.to_path_buf(), what: "write to", source };
        fs::create_dir_all(folder).map_err(fail)?;
        let lock = Lock::take(folder).map_err(fail)?;
        clear(folder).map_err(fail)?;
        Ok(Sink { folder: folder.to_path_buf(), files: vec![], inputs: vec![], _lock: lock })
    }

    /// Removes the results of earlier runs, but for those that `stay`, and writes what this run is made from. A file that no
    /// run has written is never touched; where one stands in the place of an input and differs from it, nothing is done.
    pub fn begin(&mut self, inputs: &[InputFile], stay: &[String]) -> Result<(), OutputError> {
        let path = |name: &str| self.folder.join(name);
        let fail = |what, name: &str| {
            let path = path(name);
            move |source| OutputError { path, what, source }
        };
        let case = there(&path(CASE)).unwrap_or_default();
        let (earlier, sequences) = (listed_inputs(&case), listed_sequences(&case));
        let same = |input: &InputFile| there(&path(&input.name)).is_some_and(|there| there == input.bytes);
        let foreign = |input: &&InputFile| {
            fs::symlink_metadata(path(&input.name)).is_ok() && !same(input) && !earlier.contains(&input.name)
        };
        if let Some(input) = inputs.iter().find(foreign) {
            let source = io::Error::new(ErrorKind::AlreadyExists, "it is not of a run");
            return Err(OutputError { path: path(&input.name), what: REPLACE, source });
        }
        let listed = listed_results(&self.folder);
        for entry in fs::read_dir(&self.folder).map_err(fail("read", ""))? {
            let entry = entry.map_err(fail("read", ""))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let of_a_run = is_result(&name)
                || listed.contains(&name)
                || earlier.contains(&name)
                || is_in_sequence(&name, &sequences);
            let stays = stay.contains(&name) || inputs.iter().any(|input| input.name == name);
            if of_a_run && !stays && entry.file_type().is_ok_and(|ty| !ty.is_dir()) {
                fs::remove_file(entry.path()).map_err(fail("remove", &name))?;
            }
        }
        for input in inputs.iter().filter(|input| !same(input)) {
            self.put(&input.name, |out| out.write_all(&input.bytes))?;
        }
        self.inputs = inputs.iter().map(|input| input.name.clone()).collect();
        Ok(())
    }

    /// Writes one file, whole or not at all, and lists it.
    pub fn write(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.put(name, content)?;
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_string());
        }
        Ok(())
    }

    /// Writes one file, whole or not at all.
    pub fn put(&self, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        let path = self.folder.join(name);
        file::replace(&path, content).map_err(|source| OutputError { path, what: "write", source })
    }

    /// Adds to the end of a file that this run has written. Where it fails, the file may end in the middle of what was to be added.
    pub fn append(&self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.folder.join(name);
        let file = fs::OpenOptions::new().append(true).open(&path);
        let added = file.and_then(|mut file| file.write_all(content));
        added.map_err(|source| OutputError { path, what: "write", source })
    }

    /// Lists files that an earlier part of this run has written, those that are there, before those of this part.
    pub fn list(&mut self, files: &[String]) {
        let earlier: Vec<String> = files.iter().filter(|name| self.has(name)).cloned().collect();
        let own = std::mem::take(&mut self.files);
        self.files = earlier;
        self.files.extend(own.into_iter().filter(|name| !files.contains(name)));
    }

    /// Whether the folder has a file of that name.
    pub fn has(&self, name: &str) -> bool {
        self.folder.join(name).is_file()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names of the files that this run is made from.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Names of the files written, in the order of their first writing.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

/// Removes what runs have left that were killed while they wrote.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if file::is_partial(&entry.file_name().to_string_lossy()) && !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_fails_half_way_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = Sink::create(&folder.path().join("a/b")).unwrap();
        sink.write("x.csv", |out| out.write_all(b"old")).unwrap();
        let error = sink
            .write("x.csv", |out| {
                out.write_all(&[0; 100_000])?;
                Err(io::Error::from(ErrorKind::StorageFull))
            })
            .unwrap_err();
        assert!(error.to_string().contains("x.csv"), "{error}");
        assert!(error.help().unwrap().to_string().contains("disk is full"));
        assert_eq!(names(sink.folder()), [".lbmc.lock", "x.csv"]);
        assert_eq!(fs::read(sink.folder().join("x.csv")).unwrap(), b"old");
        assert_eq!(sink.files(), ["x.csv"]);
    }

    fn input(name: &str, text: &str) -> InputFile {
        InputFile { name: name.into(), bytes: text.into() }
    }

    fn case(inputs: &[&str]) -> InputFile {
        let names: Vec<String> = inputs.iter().map(|name| name.to_string()).collect();
        input(CASE, &crate::case::heading(&names))
    }

    #[test]
    fn a_run_begins_without_results_of_another_and_with_all_files_that_are_not_results() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "{}").unwrap();
        let results = [
            "fields_00000010.vti",
            "fields.pvd",
            "velocity.png",
            "restart.lbmc",
            "surface_1_00000010.vtp",
            "surface_12_00000010.csv",
            "section_1_2_00000010.csv",
            ".fields_00000020.vtu.AbCdEf.partial",
        ];
        let foreign = [
            "notes.txt",
            "fields_of_gold.png",
            "fields_1.vti",
            "surface_area_00000010.csv",
            "section_of_a_00000010.csv",
            "fields_00000010.csv",
            "mine.toml",
            "probe_mine.csv",
            "b.png",
            ".notes.partial",
        ];
        results.iter().chain(&foreign).for_each(|name| put(name));
        put("phi.png");
        put("probe_wake.csv");
        let listed = r#"{"files": ["phi.png", "notes.txt", "../b.png", "probe_wake.csv"]}"#;
        fs::write(folder.path().join(SUMMARY), listed).unwrap();
        fs::create_dir(folder.path().join("series.csv")).unwrap();
        let mut sink = Sink::create(folder.path()).unwrap();
        sink.begin(&[], &["fields.pvd".into()]).unwrap();
        let mut expected: Vec<&str> = foreign.into_iter().chain(["fields.pvd", "series.csv", ".lbmc.lock"]).collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn pictures_on_the_way_of_a_run_that_was_killed_go() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "").unwrap();
        let foreign = ["wake_1.png", "photo_20260101.png", "wake_00000010.csv", "ux.png"];
        foreign.iter().for_each(|name| put(name));
        ["wake_00000010.png", "ux_123456789.png"].iter().for_each(|name| put(name));
        let tables = "[[pictures]]\nfield = \"vorticity\"\nname = \"wake\"\n[[pictures]]\nfield = \"ux\"\n";
        let text = crate::case::heading(&[]) + tables;
        fs::write(folder.path().join(CASE), text).unwrap();
        Sink::create(folder.path()).unwrap().begin(&[], &[]).unwrap();
        assert_eq!(names(folder.path()), ["photo_20260101.png", "ux.png", "wake_00000010.csv", "wake_1.png"]);
    }

    #[test]
    fn inputs_of_another_run_give_way_and_files_that_are_not_of_a_run_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let begin = |inputs: &[InputFile]| Sink::create(folder.path()).unwrap().begin(inputs, &[]);
        begin(&[case(&["a.lbm", "wing.stl"]), input("a.lbm", "old"), input("wing.stl", "old")]).unwrap();
        assert_eq!(names(folder.path()), ["a.lbm", CASE, "wing.stl"]);
        begin(&[case(&["a.lbm"]), input("a.lbm", "new")]).unwrap();
        assert_eq!(names(folder.path()), ["a.lbm", CASE]);
        assert_eq!(fs::read(folder.path().join("a.lbm")).unwrap(), b"new");
        // A spec beside the results that is the very one, and one that is another.
        fs::write(folder.path().join("mine.lbm"), "mine").unwrap();
        begin(&[case(&["a.lbm"]), input("a.lbm", "new"), input("mine.lbm", "mine")]).unwrap();
        let error = begin(&[case(&["mine.lbm"]), input("mine.lbm", "another")]).unwrap_err();
        assert!(
            error.path().ends_with("mine.lbm") && error.help().unwrap().to_string().contains("--out DIR"),
            "{error}"
        );
        assert_eq!(names(folder.path()), ["a.lbm", CASE, "mine.lbm"], "nothing is done");
    }

    #[test]
    fn a_case_that_was_written_by_hand_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CASE), "spec = \"d2q9_bgk\"").unwrap();
        let error = Sink::create(folder.path()).unwrap().begin(&[case(&[])], &[]).unwrap_err();
        assert!(error.to_string().contains(CASE), "{error}");
    }

    #[test]
    fn a_folder_below_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Sink::create(&path).unwrap_err();
            assert_eq!(error.path(), path);
            assert!(error.help().unwrap().to_string().contains("--out DIR"));
        }
    }

    #[test]
    fn a_folder_that_exists_is_used_and_left_clean() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), b"").unwrap();
        fs::write(folder.path().join(".velocity.png.AbCdEf.partial"), b"half").unwrap();
        Sink::create(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["mine"]);
    }

    #[test]
    fn a_second_run_is_told_to_wait() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Sink::create(folder.path()).unwrap();
        let error = Sink::create(folder.path()).unwrap_err();
        assert!(error.to_string().contains("another run writes to it (process"), "{error}");
        assert!(error.help().unwrap().to_string().contains("wait until that run has ended"));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_are_planted_in_the_folder_are_replaced_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let treasure = folder.path().join("treasure");
        fs::write(&treasure, b"gold").unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        for name in ["x.csv", ".x.csv.partial", ".lbmc.probe"] {
            std::os::unix::fs::symlink(&treasure, out.join(name)).unwrap();
        }
        let mut sink = Sink::create(&out).unwrap();
        sink.write("x.csv", |out| out.write_all(b"results")).unwrap();
        assert_eq!(fs::read(&treasure).unwrap(), b"gold");
        assert_eq!(fs::read(out.join("x.csv")).unwrap(), b"results");
    }
}
