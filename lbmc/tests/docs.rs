//! The README's commands work as written, in its own order, and what it quotes is true.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lbmc lies in the workspace").to_path_buf()
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("there is a README")
}

/// Lines of every block that opens with "```LANGUAGE".
fn blocks(text: &str, language: &str) -> Vec<String> {
    let open = format!("```{language}");
    let mut blocks = Vec::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        match &mut current {
            None if line == open => current = Some(String::new()),
            None => {}
            Some(_) if line == "```" => blocks.extend(current.take()),
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn every_command_of_the_readme_works() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut ran = 0;
    for block in blocks(&readme(), "sh") {
        for line in block.lines().filter(|line| !line.starts_with("cargo test")) {
            let arguments = line.strip_prefix("cargo run --release -- ").unwrap_or_else(|| panic!("run what? {line}"));
            let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
            command
                .args(arguments.split_whitespace().map(|word| match word.strip_prefix("out/") {
                    Some(rest) => out.path().join(rest).into_os_string(),
                    None => word.into(),
                }))
                .current_dir(root());
            if arguments.starts_with("run ") && !arguments.contains("--out") {
                command.arg("--out").arg(out.path().join("run"));
            }
            assert!(command.status().expect("lbmc starts").success(), "{line}");
            ran += 1;
        }
    }
    assert!(ran >= 5, "the README shows what lbmc does, but only {ran} commands were found");
}

#[test]
fn the_readme_quotes_the_spec_as_it_is() {
    let spec = std::fs::read_to_string(root().join("specs/d3q19_bgk.lbm")).expect("the spec is there");
    assert!(blocks(&readme(), "rust").contains(&spec), "copy specs/d3q19_bgk.lbm into the README");
}

#[test]
fn every_folder_that_the_readme_names_exists() {
    let text = readme();
    let folders = text.lines().filter_map(|line| line.strip_prefix("| `")).filter(|line| line.contains("/`"));
    let mut seen = 0;
    for row in folders {
        for name in row.split('|').next().unwrap_or_default().split('`').filter(|name| name.ends_with('/')) {
            assert!(root().join(name).is_dir(), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "the map of folders has {seen} entries");
}
