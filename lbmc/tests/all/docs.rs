//! Every page works as written: its commands run, in its order, on the files that it shows; what it quotes is true; its
//! links lead somewhere.
//!
//! What stands behind three backticks, after the language, says what a block is:
//!
//! | block | what the test does |
//! | --- | --- |
//! | `sh` | runs every line in a shell, which must succeed; lines that begin with `cargo` are left to `scripts/docs-commands.sh` |
//! | `text output` | is what the last command printed |
//! | `lbm NAME`, `toml NAME` | writes the block to a file of that name |
//! | `rust from PATH`, any language | stands in that file of the project, word for word |
//! | `python` | nothing: `python/tests/test_pages.py` runs it |
//! | `toml fragment`, any language | nothing: part of a file |
//! | `json` | an object a line |
//!
//! A page runs in a folder of its own, which holds links to `cases` and `specs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lbmc lies in the workspace").to_path_buf()
}

/// The README, the page about security and the pages in `docs/`.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("there are docs");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.expect("a readable entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(["README.md", "SECURITY.md"].map(|page| root().join(page)));
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A fenced block of a page.
struct Block {
    /// What stands behind the opening backticks.
    info: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut current: Option<Block> = None;
    for line in page.lines() {
        match &mut current {
            None => {
                current = line.strip_prefix("```").map(|info| Block { info: info.trim().into(), text: String::new() });
            }
            Some(_) if line == "```" => blocks.extend(current.take()),
            Some(block) => block.text += &format!("{line}\n"),
        }
    }
    assert!(current.is_none(), "a block is not closed");
    blocks
}

/// Command lines of a page.
fn commands(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter(|block| block.info == "sh").flat_map(|block| block.text.lines())
}

/// A shell that finds the program as users do who have installed it.
fn shell(line: &str, folder: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_lbmc")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(program.to_path_buf()).chain(std::env::split_paths(&path));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", std::env::join_paths(path).expect("a path"));
    command
}

/// Runs a page; how many commands it had.
fn run(page: &Path) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for link in ["cases", "specs"] {
        std::os::unix::fs::symlink(root().join(link), folder.path().join(link)).expect("a link");
    }
    let (mut ran, mut printed) = (0, String::new());
    let text = read(page);
    let page = page.file_name().unwrap_or_default().to_string_lossy();
    for block in blocks(&text) {
        let words: Vec<&str> = block.info.split_whitespace().collect();
        match words[..] {
            ["sh"] => {
                for line in block.text.lines().filter(|line| !line.starts_with("cargo ")) {
                    let output = shell(line, folder.path()).output().expect("a shell starts");
                    let errors = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{page}: {line}\n{errors}");
                    printed = String::from_utf8_lossy(&output.stdout).into_owned();
                    ran += 1;
                }
            }
            ["text", "output"] => assert_eq!(block.text, printed, "{page}: the command above prints something else"),
            [_, "from", path] => {
                let whole = read(&root().join(path));
                assert!(whole.contains(&block.text), "{page}: this does not stand in {path}:\n{}", block.text);
            }
            [_, "fragment"] | ["python"] | [] => {}
            ["lbm" | "toml", name] => std::fs::write(folder.path().join(name), &block.text).expect("a file"),
            ["text"] => {}
            ["json"] => block.text.lines().for_each(|line| {
                serde_json::from_str::<serde_json::Value>(line)
                    .unwrap_or_else(|error| panic!("{page}: {line}: {error}"));
            }),
            _ => panic!("{page}: what is a block `{}`?", block.info),
        }
    }
    ran
}

#[test]
fn every_page_works_as_written() {
    let ran: usize = pages().iter().map(|page| run(page)).sum();
    assert!(ran >= 5, "the pages show what lbmc does, but only {ran} commands were found");
}

/// What the test above leaves out is what the script runs, which continuous integration does in a fresh clone.
#[test]
fn commands_that_begin_with_cargo_are_those_of_the_script() {
    let listed = Command::new(root().join("scripts/docs-commands.sh")).arg("--list").output().expect("bash starts");
    let listed = String::from_utf8(listed.stdout).expect("text");
    let pages: Vec<Vec<Block>> = pages().iter().map(|page| blocks(&read(page))).collect();
    let left: BTreeSet<&str> =
        pages.iter().flat_map(|page| commands(page)).filter(|line| line.starts_with("cargo ")).collect();
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), left);
    for needed in ["cargo run --release -- run cases/cavity2d.toml", "cargo test --release --workspace"] {
        assert!(left.contains(needed), "{needed}");
    }
}

/// Targets of the links and pictures of a page: `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        // Code has no links.
        let words: String = if fenced { String::new() } else { line.split('`').step_by(2).collect() };
        let mut rest = words.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            links.extend(rest.find(')').map(|end| rest[..end].to_string()));
        }
    }
    links
}

/// The anchor of a heading: lower case, spaces to dashes, other signs dropped.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for link in links(&read(&page)) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            assert!(target.exists(), "{}: nothing at {link}", page.display());
            if !place.is_empty() {
                let text = read(&target);
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#')) == place);
                assert!(found, "{}: no heading for {link}", page.display());
            }
        }
    }
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let mut reached = vec![root().join("README.md")];
    let mut at = 0;
    while at < reached.len() {
        let page = reached[at].clone();
        for link in links(&read(&page)) {
            let target = page.with_file_name(link.split('#').next().unwrap_or_default());
            let target = target.canonicalize().unwrap_or(target);
            if target.extension().is_some_and(|extension| extension == "md") && !reached.contains(&target) {
                reached.push(target);
            }
        }
        at += 1;
    }
    for page in pages() {
        assert!(reached.contains(&page), "no link leads to {}", page.display());
    }
}

#[test]
fn the_readme_shows_a_whole_spec() {
    let spec = read(&root().join("specs/d3q19_bgk.lbm"));
    let whole = blocks(&read(&root().join("README.md"))).into_iter().any(|block| block.text == spec);
    assert!(whole, "copy specs/d3q19_bgk.lbm into the README");
}

#[test]
fn every_folder_that_the_readme_names_exists() {
    let text = read(&root().join("README.md"));
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

/// Code of a page: what stands between backticks outside of blocks.
fn code(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let lines = page.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced
    });
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(String::from).collect()
}

/// Names of the modules at the top of a crate.
fn modules(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let stem = |path: PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    entries
        .map(|entry| stem(entry.expect("a readable entry").path()))
        .filter(|name| name != "lib" && name != "main")
        .collect()
}

/// It names every crate of the workspace, and their modules at the top; and the files that it names exist.
#[test]
fn the_page_on_architecture_is_a_map_of_the_project() {
    let code = code(&read(&root().join("docs/architecture.md")));
    let is_path = |name: &&String| name.contains('/') && !name.contains(['*', ' ', '<']);
    let paths: Vec<&String> = code.iter().filter(is_path).collect();
    assert!(paths.len() >= 60, "the page names {} files and folders", paths.len());
    for path in paths {
        assert!(root().join(path).exists(), "docs/architecture.md: there is no {path}");
    }
    let workspace = read(&root().join("Cargo.toml"));
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = [")).expect("a workspace");
    for member in members.split('"').skip(1).step_by(2) {
        assert!(code.contains(&format!("{member}/")), "docs/architecture.md does not name the crate in {member}/");
        // A program that shows how, and kernels, a module for each method.
        if !["examples/rust_macro", "generated"].contains(&member) {
            for module in modules(&root().join(member).join("src")) {
                assert!(
                    code.contains(&module),
                    "docs/architecture.md does not name the module `{module}` of {member}/"
                );
            }
        }
    }
}

/// Rows of its tables name files and tests in them: `| what | `lbmc/tests/all/cli.rs` `a_test`, `another` |`.
#[test]
fn every_promise_about_security_names_tests_that_exist() {
    let text = read(&root().join("SECURITY.md"));
    let rows =
        text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what |") && !line.contains("---"));
    let mut seen = 0;
    for row in rows {
        let (mut file, mut tests) = (None, 0);
        for name in row.rsplit('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2) {
            if name.ends_with(".rs") {
                file = Some(read(&root().join(name)));
            } else {
                let text = file.as_ref().unwrap_or_else(|| panic!("in which file? {row}"));
                let at =
                    text.find(&format!("fn {name}()")).unwrap_or_else(|| panic!("there is no test `{name}`: {row}"));
                assert!(text[..at].trim_end().ends_with("#[test]"), "`{name}` is no test: {row}");
                tests += 1;
            }
        }
        assert!(tests > 0, "no test holds this: {row}");
        seen += 1;
    }
    assert!(seen >= 10, "{seen} rows");
}

/// A page of which a part is written by the program: the part between two marks. With `LBMC_UPDATE=1` it is rewritten.
fn written_by_the_program(page: &str, fresh: &str) {
    let path = root().join("docs").join(page);
    let text = read(&path);
    let (start, end) = ("<!-- written by the program: -->\n", "<!-- end -->\n");
    let from = text.find(start).unwrap_or_else(|| panic!("{page} has no mark")) + start.len();
    let to = from + text[from..].find(end).unwrap_or_else(|| panic!("{page} has no second mark"));
    if std::env::var_os("LBMC_UPDATE").is_some() {
        std::fs::write(&path, format!("{}{fresh}{}", &text[..from], &text[to..])).expect("the page is written");
    } else {
        assert_eq!(&text[from..to], fresh, "{page} is out of date: run this test with LBMC_UPDATE=1");
    }
}

#[test]
fn the_reference_of_case_files_is_that_of_the_program() {
    let mut table = String::from("| key | what it is |\n| --- | --- |\n");
    for (key, doc) in lbm_flows::case::keys() {
        table += &format!("| `{key}` | {doc} |\n");
    }
    written_by_the_program("case.md", &table);
}

#[test]
fn the_table_of_boundary_conditions_is_that_of_the_program() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_lbmc")).args(["specs", "--boundaries"]).output().expect("lbmc starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).expect("text");
    for (_, rule) in lbm_dsl::shipped::rules(&lbm_dsl::shipped::Prelude).expect("the prelude parses") {
        let row = table.lines().find(|line| line.contains(&format!("`{rule}`"))).unwrap_or_else(|| panic!("{rule}"));
        assert!(!row.split('|').nth(2).unwrap_or_default().trim().is_empty(), "{rule} does not say what it is for");
    }
    written_by_the_program("boundaries.md", &table);
}

#[test]
fn the_table_of_moments_is_that_of_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_lbmc")).args(["specs", "--moments"]).output().expect("lbmc starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    written_by_the_program("moments.md", &String::from_utf8(output.stdout).expect("text"));
}

#[test]
fn the_reference_of_the_command_line_is_that_of_the_program() {
    let help = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lbmc")).args(arguments).output().expect("lbmc starts");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
    };
    let below = |text: &str| -> Vec<String> {
        let commands = text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        names.map(String::from).collect()
    };
    let overview = help(&["--help"]);
    assert!(below(&overview).len() >= 6, "{overview}");
    let mut text = format!("```text\n{overview}```\n");
    for name in below(&overview) {
        let page = help(&[&name, "--help"]);
        text += &format!("\n## lbmc {name}\n\n```text\n{page}```\n");
        for inner in below(&page) {
            text += &format!("\n### lbmc {name} {inner}\n\n```text\n{}```\n", help(&[&name, &inner, "--help"]));
        }
    }
    written_by_the_program("cli.md", &text);
}
