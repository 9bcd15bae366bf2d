//! One page about a run: `report.html`, made of the files in its folder alone. Its style and its plots are also those of pages that show a run
//! while it goes on.
//!
//! In: the folder, whose files may be a stranger's: links in it are not followed. After: a page that needs no other file and loads nothing from
//! anywhere; text of the files is shown, never run.

mod html;
mod table;

use std::fmt::Write;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lbm_runtime::file::Folder;
use serde_json::{Map, Value};

use crate::output::sink::{OutputError, Sink};
use html::{Escaped, shown, tables, words};
use table::Table;

/// Bytes of one file of each kind that are read, at most.
const SUMMARY: u64 = 1 << 24;
const CASE: u64 = 1 << 20;
const TABLE: u64 = 1 << 25;
const PICTURE: u64 = 1 << 24;

/// Bytes of pictures that a page has at most.
const PICTURES: usize = 1 << 26;

/// Keys of a summary that the head of the page has, or that other parts show.
const ELSEWHERE: [&str; 8] = ["case", "status", "units", "files", "inputs", "code", "message", "help"];

/// Keys of results; those that remain say what was run, and on what.
const RESULTS: [&str; 12] = [
    "report",
    "compared",
    "decay",
    "forces",
    "heat",
    "fluxes",
    "planes",
    "probes",
    "observed",
    "statistics",
    "scalars",
    "residual",
];

/// Keys of the time and the memory that a run took.
const COSTS: [&str; 12] = [
    "seconds",
    "seconds_waiting_for_output",
    "first_step_seconds",
    "mlups",
    "memory_bandwidth_gb_per_s",
    "fraction_of_bandwidth",
    "phases",
    "memory",
    "device_bytes",
    "adaptations",
    "compiler",
    "version",
];

/// The style of pages.
pub const STYLE: &str = include_str!("page/style.css");

/// The function `plot(figure, table)` of pages, which draws a table that can be zoomed.
pub const PLOT: &str = include_str!("page/plot.js");

/// What `plot` draws of the text of a table, as JSON. Nothing if it has no line of two points.
pub fn plotted(text: &str) -> Option<Value> {
    Table::read(text)?.data()
}

/// A page, and what it lacks.
#[derive(Debug)]
pub struct Page {
    /// The page.
    pub html: String,
    /// Files of the run that are not on it, with the reason.
    pub left_out: Vec<String>,
}

/// Name of the page in the folder of a run.
pub const NAME: &str = "report.html";

/// Adds the page to the results of a run in a folder; returns the files that are not on it.
///
/// # Errors
///
/// As with [`page`], or if the page cannot be written: there is one that no run has written, for example.
pub fn add(folder: &Path) -> Result<Vec<String>, PageError> {
    let made = page(folder)?;
    Sink::add_to(folder)?.put(NAME, |out| out.write_all(made.html.as_bytes()))?;
    Ok(made.left_out)
}

/// The page of the run whose results are in a folder.
///
/// # Errors
///
/// If there is no summary, or if it is no JSON object. What else cannot be read is left out.
pub fn page(folder: &Path) -> Result<Page, PageError> {
    let folder = Folder::open(folder).map_err(PageError::Unread)?;
    let text = text(&folder, "summary.json", SUMMARY).map_err(PageError::Unread)?;
    let Ok(Value::Object(summary)) = serde_json::from_str(&text) else { return Err(PageError::NoSummary) };
    let case = self::text(&folder, "case.toml", CASE).unwrap_or_default();
    let mut page = Page { html: String::new(), left_out: Vec::new() };
    let (pictures, plots) = page.files(&folder, &names(&summary, "files"));
    let units = summary.get("units").and_then(Value::as_object).cloned().unwrap_or_default();
    let part = |keys: &[&str]| tables(keys.iter().filter_map(|key| Some((*key, summary.get(*key)?))), &units);
    let is_told = |key: &str| ELSEWHERE.contains(&key) || RESULTS.contains(&key) || COSTS.contains(&key);
    let rest: Vec<&str> = summary.keys().map(String::as_str).filter(|key| !is_told(key)).collect();
    let name = word(&summary, "case");
    let mut body = head(&summary);
    section(&mut body, "Results", &part(&RESULTS));
    section(&mut body, "Pictures", &pictures);
    section(&mut body, "Over time", &plots);
    section(&mut body, "What was run", &format!("{}{}", part(&rest), listing(&case)));
    section(&mut body, "Time and memory", &part(&COSTS));
    section(&mut body, "Files", &links(&summary));
    let (style, script) = (STYLE, format!("{PLOT}{}", include_str!("page/report.js")));
    page.html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}<script>\n{script}</script>\n</body>\n</html>\n",
        Escaped(&name)
    );
    Ok(page)
}

impl Page {
    /// Pictures and plots of files.
    fn files(&mut self, folder: &Folder, names: &[String]) -> (String, String) {
        let (mut pictures, mut plots, mut bytes) = (String::new(), String::new(), 0);
        for name in names.iter().filter(|name| is_plain(name)) {
            let done = match name.rsplit('.').next() {
                Some(kind @ ("png" | "gif")) => folder.bytes(name, PICTURE).map_err(|error| error.to_string()).and_then(|data| {
                    bytes += data.len();
                    if bytes > PICTURES {
                        return Err(format!("pictures have {} MiB at most on a page", PICTURES >> 20));
                    }
                    // Every plot of a table is drawn below, where it can be zoomed.
                    if names.contains(&name.replace(".png", ".csv")) {
                        return Ok(());
                    }
                    let data = BASE64_STANDARD.encode(data);
                    let name = Escaped(name);
                    let _ = writeln!(
                        pictures,
                        "<figure><img alt=\"{name}\" src=\"data:image/{kind};base64,{data}\"><figcaption>{name}</figcaption></figure>"
                    );
                    Ok(())
                }),
                Some("csv") => text(folder, name, TABLE).map_err(|error| error.to_string()).and_then(|text| {
                    let table = Table::read(&text).ok_or("it is no table of numbers with a first row of names")?;
                    plots += &table.plot(name);
                    Ok(())
                }),
                _ => Ok(()),
            };
            if let Err(reason) = done {
                self.left_out.push(format!("{name}: {reason}"));
            }
        }
        (pictures, plots)
    }
}

/// The name and the state of a run, and why it failed.
fn head(summary: &Map<String, Value>) -> String {
    let [name, status] = ["case", "status"].map(|key| word(summary, key));
    let mut head = format!(
        "<h1>{}</h1>\n<p class=\"status {}\">{}</p>\n",
        Escaped(&name),
        if status == "completed" { "done" } else { "early" },
        Escaped(&status)
    );
    for key in ["message", "help"] {
        let text = word(summary, key);
        if !text.is_empty() {
            let _ = writeln!(head, "<p>{}: {}</p>", words(key), Escaped(&text));
        }
    }
    head
}

fn section(body: &mut String, title: &str, content: &str) {
    if !content.is_empty() {
        let _ = write!(body, "<section>\n<h2>{title}</h2>\n{content}</section>\n");
    }
}

/// The case, and how its results are made again.
fn listing(case: &str) -> String {
    if case.is_empty() {
        return String::new();
    }
    format!(
        "<p>In the folder of this page, <code>lbmc run case.toml --out again</code> makes the same results.</p>\n\
         <details><summary>case.toml</summary><pre>{}</pre></details>\n",
        Escaped(case)
    )
}

/// Links to the files beside the page.
fn links(summary: &Map<String, Value>) -> String {
    let all = ["files", "inputs"].iter().flat_map(|key| names(summary, key)).filter(|name| is_inside(name));
    let items: Vec<String> = all.map(|name| format!("<li><a href=\"./{0}\">{0}</a></li>\n", Escaped(&name))).collect();
    if items.is_empty() { String::new() } else { format!("<ul class=\"files\">\n{}</ul>\n", items.concat()) }
}

/// The text of a file.
fn text(folder: &Folder, name: &str, most: u64) -> io::Result<String> {
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, format!("`{name}` is no UTF-8 text"));
    String::from_utf8(folder.bytes(name, most)?).map_err(no_text)
}

fn word(summary: &Map<String, Value>, key: &str) -> String {
    summary.get(key).map(shown).unwrap_or_default()
}

fn names(summary: &Map<String, Value>, key: &str) -> Vec<String> {
    let all = summary.get(key).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_string)).collect()
}

/// Whether a name is that of a file in the folder itself.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':'])
}

/// Whether a name is that of a file in the folder, or in one in it.
fn is_inside(name: &str) -> bool {
    name.split('/').all(is_plain)
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The summary cannot be read.
    #[error("`summary.json` cannot be read: {0}")]
    Unread(io::Error),
    /// It is not one.
    #[error("`summary.json` is no JSON object")]
    NoSummary,
    /// The page cannot be written.
    #[error(transparent)]
    Unwritten(#[from] OutputError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(summary: &str, files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("summary.json"), summary).unwrap();
        files.iter().for_each(|(name, bytes)| std::fs::write(folder.path().join(name), bytes).unwrap());
        folder
    }

    #[test]
    fn a_page_has_results_with_their_units_pictures_plots_and_the_case() {
        let summary = r#"{"case": "cylinder", "spec": "d2q9_trt", "status": "completed", "cells": 577280, "mlups": 53.6,
            "forces": [{"solid": 1, "drag": {"mean": 3.2256, "last": 3.1}}, {"solid": 2, "drag": {"mean": 0.5, "last": 0.4}}],
            "units": {"forces.drag": "1", "mlups": "10^6 cell updates/s"}, "inputs": ["case.toml", "inputs/a.lbm"],
            "files": ["forces.csv", "forces.png", "speed.png"]}"#;
        let csv = "# about\nstep,time,solid,cd\n0,0,1,3\n0,0,2,0.5\n50,1,1,3.2\n50,1,2,0.4\n";
        let files: [(&str, &[u8]); 4] = [
            ("forces.csv", csv.as_bytes()),
            ("forces.png", b"P"),
            ("speed.png", b"picture"),
            ("case.toml", b"re = 100\n"),
        ];
        let page = page(folder(summary, &files).path()).unwrap();
        assert!(page.left_out.is_empty(), "{:?}", page.left_out);
        let has = |text: &str| assert!(page.html.contains(text), "{text}\n{}", page.html);
        for text in ["<title>cylinder</title>", "3.2256", "10^6 cell updates/s", "re = 100", "577 280", "inputs/a.lbm"]
        {
            has(text);
        }
        has(&BASE64_STANDARD.encode(b"picture"));
        has("cd, solid 2");
        // The picture of a table that is drawn anyway.
        assert!(!page.html.contains("forces.png\" src"));
    }

    #[test]
    fn what_a_folder_has_is_shown_and_neither_run_nor_loaded() {
        let evil = r#"</script><script>alert(1)</script><img src=x onerror=alert(2)>"#;
        let quoted = serde_json::to_string(evil).unwrap();
        let summary = format!(
            r#"{{"case": {quoted}, "status": {quoted}, "message": {quoted}, "device": {quoted}, {quoted}: 1, "report": [{{{quoted}: {quoted}}}],
            "units": {{"device": {quoted}}}, "files": ["../x.png", "/etc/x.png", "http://a/x.csv", "a.csv", "b.png", {quoted}]}}"#
        );
        let csv = format!("step,\"{}\"\n0,1\n1,2\n", evil.replace('"', ""));
        let files: [(&str, &[u8]); 3] = [("a.csv", csv.as_bytes()), ("b.png", b"x"), ("case.toml", evil.as_bytes())];
        let page = page(folder(&summary, &files).path()).unwrap();
        assert_eq!(page.html.matches("<script").count(), 2, "the data of one plot, and the program\n{}", page.html);
        assert_eq!(page.html.matches("<img").count(), 1);
        for text in ["onerror=alert(2)>", "alert(1)</script>", "../x.png", "/etc/x", "http://a"] {
            assert!(!page.html.contains(text), "{text}");
        }
    }

    #[test]
    fn links_to_files_elsewhere_are_not_followed() {
        let elsewhere = folder("secret", &[]);
        let folder = folder(r#"{"case": "a", "files": ["b.png"]}"#, &[]);
        for name in ["b.png", "case.toml"] {
            std::os::unix::fs::symlink(elsewhere.path().join("summary.json"), folder.path().join(name)).unwrap();
        }
        let page = page(folder.path()).unwrap();
        assert!(page.left_out.len() == 1 && page.left_out[0].starts_with("b.png: "), "{:?}", page.left_out);
        assert!(!page.html.contains("secret") && !page.html.contains(&BASE64_STANDARD.encode("secret")));
    }

    #[test]
    fn a_folder_without_a_summary_has_no_page_and_files_that_are_gone_are_named() {
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(page(empty.path()), Err(PageError::Unread(_))));
        assert!(matches!(page(folder("[1]", &[]).path()), Err(PageError::NoSummary)));
        let page =
            page(folder(r#"{"case": "a", "files": ["gone.png", "words.csv"]}"#, &[("words.csv", b"a\nb\n")]).path())
                .unwrap();
        assert_eq!(page.left_out.len(), 2, "{:?}", page.left_out);
        assert!(page.left_out[0].starts_with("gone.png: "), "{:?}", page.left_out);
    }
}
