//! The tables and the pictures in a folder of results, which a run writes meanwhile. Links are not followed, and what a page names is
//! looked for among the names of files that are there.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lbm_runtime::file::Folder;
use serde::Serialize;

use super::ask::Refused;
use crate::case::is_plain;
use crate::page::plotted;

/// Bytes of a table and of a picture that are read, at most.
const TABLE: u64 = 1 << 25;
const PICTURE: u64 = 1 << 24;
/// Bytes of the beginning and of the end of a table in which its first and its last row are.
const PART: u64 = 1 << 14;
/// Fewest digits of the step in the name of a frame.
const DIGITS: usize = 8;

/// A folder of results.
#[derive(Debug)]
pub(super) struct Results(PathBuf);

/// A table that has rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct TableFile {
    pub(super) name: String,
    /// Its length: a table that has grown has another.
    pub(super) bytes: u64,
}

/// A picture, and the file that has its latest frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct PictureFile {
    pub(super) name: String,
    pub(super) file: String,
}

/// The name of a picture without the step of a frame: `speed` of `speed_00000100.png`.
fn stem(file: &str) -> &str {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match stem.rsplit_once('_') {
        Some((name, step)) if step.len() >= DIGITS && step.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => stem,
    }
}

/// The step of the last whole row of a table over time, which begins with comments and the names of its columns.
fn last_step(table: &mut (impl Read + Seek)) -> Option<u64> {
    let mut part = |from: SeekFrom| {
        let mut bytes = vec![];
        table.seek(from).ok()?;
        table.by_ref().take(PART).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let begin = part(SeekFrom::Start(0))?;
    let is_over_time =
        begin.lines().find(|line| !line.starts_with('#')).is_some_and(|names| names.starts_with("step,"));
    let end = part(SeekFrom::End(-(PART as i64))).unwrap_or(begin);
    let last = end.rsplit_once('\n')?.0.lines().next_back()?;
    is_over_time.then(|| last.split(',').next()?.parse().ok())?
}

impl Results {
    pub(super) fn new(folder: &Path) -> Results {
        Results(folder.to_path_buf())
    }

    /// The folder; before a run has made it there is none.
    fn open(&self) -> io::Result<Folder> {
        Folder::open(&self.0)
    }

    /// The names of files with an ending.
    fn names(&self, endings: &[&str]) -> Vec<String> {
        let all = self.open().and_then(|folder| folder.names()).unwrap_or_default();
        let is_one = |name: &String| is_plain(name) && endings.iter().any(|ending| name.ends_with(ending));
        all.into_iter().filter(is_one).collect()
    }

    /// The tables.
    pub(super) fn tables(&self) -> Vec<TableFile> {
        let length = |name: String| {
            let bytes = self.open().and_then(|folder| folder.read(&name)?.metadata()).ok()?.len();
            Some(TableFile { name, bytes })
        };
        self.names(&[".csv"]).into_iter().filter_map(length).collect()
    }

    /// The pictures with their latest frames. Pictures of tables are not among them.
    pub(super) fn pictures(&self) -> Vec<PictureFile> {
        let tables = self.names(&[".csv"]);
        let files = self.names(&[".png", ".gif"]);
        let shown = files.into_iter().filter(|file| !tables.contains(&file.replace(".png", ".csv")));
        // Names are sorted, so that of several frames the last one stays.
        let latest: BTreeMap<String, String> = shown.map(|file| (stem(&file).to_string(), file)).collect();
        latest.into_iter().map(|(name, file)| PictureFile { name, file }).collect()
    }

    /// The last step of which a table has a row.
    pub(super) fn step(&self) -> Option<u64> {
        let folder = self.open().ok()?;
        self.names(&[".csv"]).iter().filter_map(|name| last_step(&mut folder.read(name).ok()?)).max()
    }

    /// What a page plots of a table; `null` if it has nothing to plot yet.
    pub(super) fn table(&self, name: &str) -> Result<String, Refused> {
        let text = self.text(name, ".csv", TABLE)?;
        Ok(plotted(&text).map_or_else(|| "null".into(), |table| table.to_string()))
    }

    /// The text of a file with an ending.
    pub(super) fn text(&self, name: &str, ending: &str, most: u64) -> Result<String, Refused> {
        String::from_utf8(self.bytes(name, &[ending], most)?).map_err(|_| Refused::Unknown)
    }

    /// A picture.
    pub(super) fn picture(&self, name: &str) -> Result<Vec<u8>, Refused> {
        self.bytes(name, &[".png", ".gif"], PICTURE)
    }

    fn bytes(&self, name: &str, endings: &[&str], most: u64) -> Result<Vec<u8>, Refused> {
        if !self.names(endings).iter().any(|known| known == name) {
            return Err(Refused::Unknown);
        }
        self.open().and_then(|folder| folder.bytes(name, most)).map_err(|_| Refused::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_those_of_files_in_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("out");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("secret.csv"), "step,a\n0,1\n1,2\n").unwrap();
        std::fs::write(inner.join("a.csv"), "step,a\n0,1\n1,2\n").unwrap();
        std::os::unix::fs::symlink("../secret.csv", inner.join("link.csv")).unwrap();
        let results = Results::new(&inner);
        assert!(results.table("a.csv").unwrap().contains("lines"));
        for name in ["../secret.csv", "link.csv", "/etc/passwd", "", ".", "a.csv/", "./a.csv", "A.csv", "case.toml"] {
            assert_eq!(results.table(name), Err(Refused::Unknown), "{name}");
        }
        assert_eq!(results.tables().len(), 1);
    }

    #[test]
    fn the_step_of_a_run_is_that_of_the_last_whole_row_over_time() {
        let step = |text: &str| last_step(&mut io::Cursor::new(text.to_string()));
        assert_eq!(step("# a\nstep,time,a\n0,0,1\n20,1,2\n40,2"), Some(20));
        let long: String = (0..10_000).map(|row| format!("{row},0.5\n")).collect();
        assert_eq!(step(&format!("step,a\n{long}")), Some(9999));
        assert_eq!((step("x,u\n7,1\n"), step("step,time\n"), step("")), (None, None, None));
    }

    #[test]
    fn of_a_sequence_the_latest_frame_is_shown_and_pictures_of_tables_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["speed_00000100.png", "speed_00000200.png", "view.png", "forces.png", "forces.csv", "a_1.png"] {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        let found = Results::new(folder.path()).pictures();
        let files: Vec<(&str, &str)> = found.iter().map(|found| (&found.name[..], &found.file[..])).collect();
        assert_eq!(files, [("a_1", "a_1.png"), ("speed", "speed_00000200.png"), ("view", "view.png")]);
    }
}
