//! The folder to which a run writes, with exclusive access.
//!
//! After `Sink::create` the folder exists and is writable, and no other run writes to it. After `Sink::begin` it has no
//! results of earlier runs, and it has the input files of this one. Files not written by a run are unchanged, and none
//! of them has a name that this run may need. A file appears under its name only when it is complete
//! ([`lbm_runtime::file`]), so that an error leaves the previous content intact. Tables then grow by rows.
//!
//! A list in the folder ([`owned`](super::owned)) has the files that runs have written; no others are replaced or removed.

mod resumed;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use lbm_runtime::file::{self, Folder};

pub use super::error::OutputError;
use super::error::Why;
use super::lock::{self, Lock};
use super::owned::{Owned, Stamper, in_inputs};
use crate::case::{INPUTS, InputFile, Results};
pub use crate::case::{RESTART, SUMMARY};

/// Files grow in pieces inside pages of this size, which the system writes completely or not at all, even in a run that is killed.
const PAGE: u64 = 4096;

/// Destination of results.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A folder named by the user: any folder; symbolic links in its path are followed.
    Named(&'a Path),
    /// The folder that the case names, below the current directory. Symbolic links in its path are not followed, and it
    /// may have only files written by runs.
    OfCase(&'a Path),
}

impl<'a> Place<'a> {
    /// The path.
    pub fn path(self) -> &'a Path {
        let (Place::Named(path) | Place::OfCase(path)) = self;
        path
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Place<'a> {
    fn from(path: &'a P) -> Place<'a> {
        Place::Named(path.as_ref())
    }
}

/// An open folder for results.
#[derive(Debug)]
pub struct Sink {
    folder: Folder,
    owned: Owned,
    /// Files that this run has written and may overwrite.
    own: BTreeSet<String>,
    /// Stamps of the growing tables.
    tables: BTreeMap<String, Stamper>,
    files: Vec<String>,
    inputs: Vec<String>,
    _lock: Lock,
}

/// Whether a file is the lock or an incomplete file.
fn is_aside(name: &str) -> bool {
    name == lock::NAME || file::is_partial(name)
}

impl Sink {
    /// Creates the folder if missing, and ensures that it is writable and used by this run only.
    pub fn create(place: Place<'_>) -> Result<Sink, OutputError> {
        let path = place.path().to_path_buf();
        let fail = |source| OutputError { path: path.clone(), why: Why::Io("write to", source) };
        let folder = match place {
            Place::Named(path) => Folder::create(path),
            Place::OfCase(path) => Folder::create_below(path),
        };
        let folder = folder.map_err(fail)?;
        let names = folder.names().map_err(fail)?;
        let is_of_runs = Owned::is_listed(&folder);
        let others: Vec<String> = names.iter().filter(|name| !is_aside(name)).cloned().collect();
        if matches!(place, Place::OfCase(_)) && !is_of_runs && !others.is_empty() {
            return Err(OutputError { path, why: Why::NotOfRuns(others) });
        }
        let lock = Lock::take(&folder).map_err(fail)?;
        // Incomplete files left by runs that were killed.
        if is_of_runs {
            let partial = names.iter().filter(|name| file::is_partial(name) && folder.has_file(name));
            partial.into_iter().try_for_each(|name| folder.remove(name)).map_err(fail)?;
        }
        let owned = Owned::read(&folder);
        let (own, tables, files, inputs) = Default::default();
        Ok(Sink { folder, owned, own, tables, files, inputs, _lock: lock })
    }

    /// Opens the folder of a run that is over, to add to its results; a later run removes what is added with the others.
    pub fn add_to(folder: &Path) -> Result<Sink, OutputError> {
        let mut sink = Sink::create(Place::Named(folder))?;
        let fail = |source| OutputError { path: folder.to_path_buf(), why: Why::Io("write to", source) };
        sink.owned.go_on().map_err(fail).map(|()| sink)
    }

    /// Removes the results of earlier runs, except those that `stay`, and writes the input files of this run. Files not
    /// written by a run are never touched; if one has a name that this run may need, nothing is changed.
    pub fn begin(&mut self, inputs: &[InputFile], results: &Results, stay: &[String]) -> Result<(), OutputError> {
        let path = self.folder.path().to_path_buf();
        let fail = |what| {
            let path = path.clone();
            move |source| OutputError { path, why: Why::Io(what, source) }
        };
        let is_input = |name: &str| inputs.iter().any(|input| input.name == name);
        let mut earlier = BTreeSet::new();
        for name in self.owned.names() {
            // The content of a file that stays is checked only if it is replaced.
            if stay.contains(&name) || self.owned.has(&name).map_err(fail("read"))? {
                earlier.insert(name);
            }
        }
        let mut there = self.folder.names().map_err(fail("read"))?;
        if self.folder.has_folder(INPUTS) {
            let names = self.folder.within(INPUTS).and_then(|inputs| inputs.names()).map_err(fail("read"))?;
            there.retain(|name| name != INPUTS);
            there.extend(names.into_iter().map(|name| format!("{INPUTS}/{name}")));
        }
        let is_needed = |name: &str| results.have(name) || is_input(name) || name == INPUTS;
        there.retain(|name| is_needed(name) && !earlier.contains(name));
        if !there.is_empty() {
            return Err(OutputError { path, why: Why::InTheWay(there) });
        }
        // Input files are replaced atomically and not removed first: the case may be the one in this folder.
        let gone: Vec<&String> = earlier.iter().filter(|name| !stay.contains(name) && !is_input(name)).collect();
        for name in &gone {
            self.remove(name).map_err(fail("remove files from"))?;
        }
        self.owned
            .begin(|name| earlier.contains(name) && !gone.iter().any(|gone| *gone == name))
            .map_err(fail("write to"))?;
        for input in inputs {
            self.put(&input.name, |out| out.write_all(&input.bytes))?;
        }
        self.inputs = inputs.iter().map(|input| input.name.clone()).collect();
        Ok(())
    }

    /// Removes a file written by a run; with the last input file also the folder of inputs.
    fn remove(&self, name: &str) -> io::Result<()> {
        let Some(inner) = in_inputs(name) else { return self.folder.remove(name) };
        let inputs = self.folder.within(INPUTS)?;
        inputs.remove(inner)?;
        if inputs.names()?.is_empty() { self.folder.remove_folder(INPUTS) } else { Ok(()) }
    }

    /// Writes a file, completely or not at all, and lists it.
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

    /// Writes a file, completely or not at all.
    pub fn put(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.place(name, content).map(|_| ())
    }

    /// Writes a file, and returns the state for stamps of its growing content.
    fn place(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Stamper, OutputError> {
        let path = self.folder.path().join(name);
        let fail = |source| OutputError { path: path.clone(), why: Why::Io("write", source) };
        let (folder, inner) = match in_inputs(name) {
            None => (self.folder.clone(), name),
            Some(inner) => (self.folder.within(INPUTS).map_err(fail)?, inner),
        };
        if !self.own.contains(name) && folder.has(inner) && !self.owned.has(name).map_err(fail)? {
            let path = self.folder.path().to_path_buf();
            return Err(OutputError { path, why: Why::InTheWay(vec![name.to_string()]) });
        }
        let mut stamper = Stamper::default();
        let written = folder.write(inner, |out| content(&mut Stamped { out, stamper: &mut stamper })).map_err(fail)?;
        self.owned.add(name, stamper.stamp(), true).map_err(fail)?;
        written.rename().map_err(fail)?;
        self.own.insert(name.to_string());
        Ok(stamper)
    }

    /// Writes and lists a file that will grow.
    pub fn begin_table(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let stamper = self.place(name, content)?;
        self.tables.insert(name.to_string(), stamper);
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_string());
        }
        Ok(())
    }

    /// Appends to a table that this run has begun. On failure nothing is appended.
    pub fn append(&mut self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.folder.path().join(name);
        let fail = |source| OutputError { path: path.clone(), why: Why::Io("write", source) };
        let mut table = self.tables.get(name).cloned().unwrap_or_default();
        let (before, mut rest) = (table.length(), content);
        let mut file = self.folder.append(name).map_err(fail)?;
        while !rest.is_empty() {
            let room = PAGE - table.length() % PAGE;
            let (now, later) = rest.split_at(rest.len().min(room as usize));
            table.add(now);
            let added = self.owned.add(name, table.stamp(), false).and_then(|()| file.write_all(now));
            if let Err(error) = added {
                file.set_len(before).ok();
                return Err(fail(error));
            }
            rest = later;
        }
        self.tables.insert(name.to_string(), table);
        Ok(())
    }

    /// Lists files that were written before the run was resumed and still exist, before those written since.
    pub fn list(&mut self, files: &[String]) {
        let earlier: Vec<String> = files.iter().filter(|name| self.has(name)).cloned().collect();
        let own = std::mem::take(&mut self.files);
        self.files = earlier;
        self.files.extend(own.into_iter().filter(|name| !files.contains(name)));
    }

    /// Whether the folder has a file of this name and a run has written one.
    pub fn has(&self, name: &str) -> bool {
        self.folder.has_file(name) && self.owned.lists(name)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Names of the input files of this run.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Names of the files written, in the order in which they were first written.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

/// A writer that stamps its content.
struct Stamped<'a> {
    out: &'a mut dyn Write,
    stamper: &'a mut Stamper,
}

impl Write for Stamped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.stamper.add(&bytes[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use miette::Diagnostic;

    use super::super::fixture;
    use super::*;
    use crate::case::{CASE, LIST};

    fn names(folder: &Path) -> Vec<String> {
        Folder::open(folder).unwrap().names().unwrap()
    }

    fn create(folder: &Path) -> Sink {
        Sink::create(folder.into()).unwrap()
    }

    fn input(name: &str, text: &str) -> InputFile {
        InputFile { name: name.into(), bytes: text.into() }
    }

    /// The file names of a cavity: pictures, profiles, fields.
    fn results() -> Results {
        fixture::cavity(8).0.results
    }

    /// A run in a folder that writes files of these names, and `inputs`.
    fn run(folder: &Path, inputs: &[InputFile], files: &[&str]) -> Result<(), OutputError> {
        let mut sink = Sink::create(folder.into())?;
        sink.begin(inputs, &results(), &[])?;
        files.iter().try_for_each(|name| sink.write(name, |out| out.write_all(name.as_bytes())))
    }

    #[test]
    fn a_file_that_fails_half_way_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = create(&folder.path().join("a/b"));
        sink.begin(&[], &results(), &[]).unwrap();
        sink.write("x.csv", |out| out.write_all(b"old")).unwrap();
        let error = sink
            .write("x.csv", |out| {
                out.write_all(&[0; 100_000])?;
                Err(io::Error::from(ErrorKind::StorageFull))
            })
            .unwrap_err();
        assert!(error.to_string().contains("x.csv"), "{error}");
        assert!(error.help().unwrap().to_string().contains("disk is full"));
        assert_eq!(names(sink.folder()), [LIST, lock::NAME, "x.csv"]);
        assert_eq!(fs::read(sink.folder().join("x.csv")).unwrap(), b"old");
        assert_eq!(sink.files(), ["x.csv"]);
    }

    #[test]
    fn a_run_begins_without_results_of_another_and_with_all_files_that_no_run_has_written() {
        let folder = tempfile::tempdir().unwrap();
        let foreign =
            ["notes.txt", "fields_of_gold.png", "probe_mine.csv", "b.png", ".notes.partial", "photo_00000010.png"];
        foreign.iter().for_each(|name| fs::write(folder.path().join(name), "{}").unwrap());
        let written = ["velocity.png", "wake_00000010.png", "probe_a_00000010.vti", "probe_a.pvd", "fields.pvd"];
        run(folder.path(), &[input(CASE, "a case"), input("inputs/a.lbm", "a spec")], &written).unwrap();
        fs::write(folder.path().join(".fields_00000020.vtu.AbCdEf.partial"), "half").unwrap();
        let mut sink = create(folder.path());
        sink.begin(&[input(CASE, "another")], &results(), &["fields.pvd".into(), "notes.txt".into()]).unwrap();
        sink.list(&["fields.pvd".into(), "notes.txt".into(), "velocity.png".into()]);
        assert_eq!(sink.files(), ["fields.pvd"], "those that are there and that a run has written");
        drop(sink);
        let mut expected: Vec<&str> = foreign.into_iter().chain(["fields.pvd", CASE, LIST]).collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        assert_eq!(fs::read(folder.path().join(CASE)).unwrap(), b"another");
    }

    #[test]
    fn files_in_the_place_of_results_are_named_before_anything_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "mine").unwrap();
        run(folder.path(), &[input(CASE, "a case")], &["velocity.png"]).unwrap();
        fs::create_dir_all(folder.path().join("inputs")).unwrap();
        let mine = ["profile_x.csv", "fields_00000100.vti", "inputs/table_1.csv", "summary.json"];
        mine.iter().for_each(|name| put(name));
        let before = names(folder.path());
        let again = || run(folder.path(), &[input(CASE, "new"), input("inputs/table_1.csv", "1 2")], &[]).unwrap_err();
        let error = again();
        mine.iter().for_each(|name| assert!(error.to_string().contains(&format!("`{name}`")), "{error}"));
        assert!(error.help().unwrap().to_string().contains("--out DIR"));
        assert_eq!(names(folder.path()), before);
        assert_eq!(fs::read(folder.path().join(CASE)).unwrap(), b"a case");
        // A file that a run has written and the user has changed since belongs to the user.
        mine.iter().for_each(|name| fs::remove_file(folder.path().join(name)).unwrap());
        put("velocity.png");
        assert!(again().to_string().contains("`velocity.png`, which no run has written, or which was changed"));
        fs::remove_file(folder.path().join("velocity.png")).unwrap();
        fs::create_dir(folder.path().join("velocity.png")).unwrap();
        assert!(again().to_string().contains("`velocity.png`"), "a folder is in the way too");
        fs::remove_dir(folder.path().join("velocity.png")).unwrap();
        run(folder.path(), &[input(CASE, "new")], &[]).unwrap();
    }

    #[test]
    fn a_list_that_somebody_has_made_up_gives_him_no_file_that_he_does_not_know() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
        run(folder.path(), &[], &["velocity.png"]).unwrap();
        let list = folder.path().join(LIST);
        let made_up = blake3::hash(b"something else").to_hex();
        let lines = format!("{made_up} 13 thesis.tex\n{made_up} 13 ../x\n{made_up} x thesis.tex\nnonsense\n");
        fs::write(&list, fs::read_to_string(&list).unwrap() + &lines).unwrap();
        run(folder.path(), &[], &[]).unwrap();
        assert_eq!(names(folder.path()), [LIST, "thesis.tex"]);
        // A file that describes a case is a case, whatever it claims to be made from.
        fs::write(folder.path().join(CASE), "# A case as it was run\n# It reads: thesis.tex\n").unwrap();
        assert!(run(folder.path(), &[], &[]).is_err());
        assert_eq!(names(folder.path()), [LIST, CASE, "thesis.tex"]);
    }

    #[test]
    fn of_a_run_that_was_killed_at_any_moment_all_files_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = create(folder.path());
        sink.begin(&[input(CASE, "a case")], &results(), &[]).unwrap();
        sink.write("velocity.png", |out| out.write_all(b"one")).unwrap();
        sink.begin_table("series.csv", |out| out.write_all(b"step\n")).unwrap();
        let list = || fs::read(folder.path().join(LIST)).unwrap();
        let one = list();
        sink.write("velocity.png", |out| out.write_all(b"another")).unwrap();
        let both = list();
        // Killed between line and file, and in the middle of the line.
        fs::write(folder.path().join("velocity.png"), "one").unwrap();
        for lines in [&both[..], &both[..both.len() - 3], &one] {
            fs::write(folder.path().join(LIST), lines).unwrap();
            assert!(Owned::read(&sink.folder).has("velocity.png").unwrap());
        }
        fs::write(folder.path().join("velocity.png"), "another").unwrap();
        fs::write(folder.path().join(LIST), &both).unwrap();
        assert!(Owned::read(&sink.folder).has("velocity.png").unwrap());
        // Rows, far more than the list has lines for, and one longer than a page.
        for row in 0..10_000 {
            sink.append("series.csv", format!("{row}\n").as_bytes()).unwrap();
        }
        sink.append("series.csv", &[b'x'; 10_000]).unwrap();
        assert!(Owned::read(&sink.folder).has("series.csv").unwrap());
        assert!(list().len() < 1_000_000, "{}", list().len());
        // At the end of a page of the file, where the system may stop.
        let table = fs::OpenOptions::new().write(true).open(folder.path().join("series.csv")).unwrap();
        let length = table.metadata().unwrap().len();
        table.set_len(length / PAGE * PAGE).unwrap();
        assert!(Owned::read(&sink.folder).has("series.csv").unwrap());
        table.set_len(length / PAGE * PAGE - 1).unwrap();
        assert!(!Owned::read(&sink.folder).has("series.csv").unwrap());
    }

    #[test]
    fn a_folder_below_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Sink::create(Place::Named(&path)).unwrap_err();
            assert_eq!(error.path(), path);
            assert!(error.help().unwrap().to_string().contains("--out DIR"));
        }
    }

    #[test]
    fn a_folder_that_a_case_names_is_new_or_of_runs() {
        let here = tempfile::Builder::new().tempdir_in(".").unwrap();
        let out = Path::new(here.path().file_name().unwrap()).join("out");
        Sink::create(Place::OfCase(&out)).unwrap();
        fs::write(out.join(lock::NAME), "process 1").unwrap();
        Sink::create(Place::OfCase(&out)).unwrap();
        fs::write(out.join("thesis.tex"), "years of work").unwrap();
        let error = Sink::create(Place::OfCase(&out)).unwrap_err();
        assert!(
            error.to_string().contains("which the case names") && error.to_string().contains("`thesis.tex`"),
            "{error}"
        );
        // The user may use this folder.
        run(&out, &[], &["velocity.png"]).unwrap();
        Sink::create(Place::OfCase(&out)).unwrap().begin(&[], &results(), &[]).unwrap();
        assert_eq!(names(&out), [LIST, "thesis.tex"]);
        std::os::unix::fs::symlink("out", here.path().join("link")).unwrap();
        let error = Sink::create(Place::OfCase(&out.with_file_name("link"))).unwrap_err();
        assert!(
            error.to_string().contains("symbolic link") && error.help().unwrap().to_string().contains("--out"),
            "{error}"
        );
        Sink::create(Place::Named(&out.with_file_name("link"))).unwrap();
    }

    #[test]
    fn a_second_run_is_told_to_wait() {
        let folder = tempfile::tempdir().unwrap();
        let _first = create(folder.path());
        let error = Sink::create(folder.path().into()).unwrap_err();
        assert!(error.to_string().contains("another run writes to it (process"), "{error}");
        assert!(error.help().unwrap().to_string().contains("wait until that run has ended"));
    }

    #[test]
    fn links_that_are_planted_in_the_folder_are_neither_followed_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let treasure = folder.path().join("treasure");
        fs::write(&treasure, b"gold").unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        for name in ["x.csv", ".x.csv.partial", "velocity.png"] {
            std::os::unix::fs::symlink(&treasure, out.join(name)).unwrap();
        }
        let mut sink = create(&out);
        assert!(sink.begin(&[], &results(), &[]).unwrap_err().to_string().contains("velocity.png"));
        // The same for a file name that was not expected.
        assert!(sink.write("x.csv", |out| out.write_all(b"results")).unwrap_err().to_string().contains("x.csv"));
        std::os::unix::fs::symlink(folder.path(), out.join("inputs")).unwrap();
        assert!(sink.put("inputs/treasure", |out| out.write_all(b"results")).is_err());
        assert_eq!(fs::read(&treasure).unwrap(), b"gold");
    }
}
