//! What all commands share: codes, `--set`, completions, `--quiet`, `--json`, errors of the system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{fails, folder, lbmc, root, works};

#[test]
fn every_code_is_listed_and_explained() {
    let here = folder();
    let list = works(here.path(), &["explain"]);
    let codes: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    assert!(codes.contains(&"E0204") && codes.contains(&"C0503"), "{list}");
    for code in ["E0204", "c0503"] {
        let text = works(here.path(), &["explain", code]);
        assert!(text.contains("\nwrong\n    ") && text.contains("\nright\n    "), "{text}");
    }
    for code in ["C0601", "C0602", "C0605", "C0606", "C0701", "C0801", "l0107"] {
        assert!(works(here.path(), &["explain", code]).lines().count() > 2, "{code}");
    }
    assert!(fails(here.path(), &["explain", "E9999"]).contains("there is no code `E9999`"));
}

/// Rust files of the program and its libraries, tests apart.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        match entry.is_dir() {
            true => sources(&entry, found),
            false if entry.extension().is_some_and(|ending| ending == "rs") => found.push(entry),
            false => {}
        }
    }
}

#[test]
fn every_diagnostic_has_a_code_that_is_explained() {
    let list = works(folder().path(), &["explain"]);
    let known: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let mut files = vec![];
    for part in ["bundle", "codegen", "flows", "lbm-dsl", "lbmc", "python", "runtime", "setup"] {
        sources(&root().join(part).join("src"), &mut files);
    }
    let (mut used, mut lost) = (0, vec![]);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let derived = text.contains("Error, Diagnostic)]");
        let mut starts: Vec<usize> = text.match_indices("miette!(").map(|(at, _)| at).collect();
        starts.extend(text.match_indices("#[error(").map(|(at, _)| at).filter(|_| derived));
        starts.sort_unstable();
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(text.len());
            let one = &text[*start..end];
            let code = one.find("code = \"").map(|at| at + 8).or(one.find("code(").map(|at| at + 5));
            let code = code.and_then(|at| one[at..].get(..5));
            match code.filter(|code| known.contains(code)) {
                Some(_) => used += 1,
                None if one.starts_with("#[error(transparent)]") => {}
                None => lost.push(format!("{}: {}", file.display(), one.lines().take(4).collect::<String>())),
            }
        }
    }
    assert!(lost.is_empty() && used > 100, "{used}, without a code: {lost:#?}");
}

/// Tables of codes: their rows are no messages.
const TABLES: [&str; 4] =
    ["setup/src/codes.rs", "flows/src/case/diag.rs", "flows/src/case/explain.rs", "lbm-dsl/src/diag"];

#[test]
fn codes_of_messages_and_codes_that_are_explained_are_the_same() {
    let list = works(folder().path(), &["explain"]);
    let known: BTreeSet<&str> =
        list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let mut files = vec![];
    for part in ["bundle", "codegen", "flows", "lbm-dsl", "lbmc", "python", "runtime", "setup"] {
        sources(&root().join(part).join("src"), &mut files);
    }
    files.retain(|file| !TABLES.iter().any(|table| file.starts_with(root().join(table))));
    let is_code = |word: &&str| {
        word.len() == 5 && word.starts_with(['C', 'E', 'L', 'W']) && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut shown = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let program = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code = program.lines().map(|line| line.split("//").next().unwrap_or_default());
        let words = code.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric()));
        shown.extend(words.filter(is_code).map(str::to_string));
    }
    let unknown: Vec<&String> = shown.iter().filter(|code| !known.contains(&code[..])).collect();
    assert!(unknown.is_empty(), "shown, and not explained: {unknown:?}");
    // Rows of cases and of specs have names in the sources, and a case in the tests of messages each.
    let named = lbm_flows::case::CODES
        .iter()
        .map(|code| code.id)
        .chain(lbm_dsl::diag::Code::ALL.iter().map(|code| code.code()));
    let named: BTreeSet<&str> = named.collect();
    assert!(named.is_subset(&known), "not explained: {:?}", named.difference(&known).collect::<Vec<_>>());
    let unused: Vec<&&str> = known.iter().filter(|code| !named.contains(**code) && !shown.contains(**code)).collect();
    assert!(unused.is_empty(), "explained, and never shown: {unused:?}");
}

#[test]
fn values_are_set_by_the_same_names_in_all_commands() {
    let here = folder();
    let small = ["--set", "target=cpu", "--set", "size=[16,16]", "--set", "block=[8,8]", "--set", "steps=2", "--quiet"];
    let run = |set: &[&str]| {
        let set = set.iter().flat_map(|setting| ["--set", setting]);
        let arguments: Vec<&str> = ["run", "cavity2d"].into_iter().chain(small).chain(set).collect();
        lbmc(here.path(), &arguments)
    };
    // A parameter that the case does not name, of a method that it does not name either.
    for magic in ["magic=0.25", "params.magic=0.25"] {
        let output = run(&[magic, "spec=d2q9_trt"]);
        assert!(output.status.success(), "{magic}: {}", String::from_utf8_lossy(&output.stderr));
        works(here.path(), &["check", "d2q9_trt", "--set", magic]);
    }
    for force in ["force=[1e-5,0]", "params.force=[1e-5, 0]", "forcex=1e-5", "force.0=1e-5"] {
        works(here.path(), &["check", "d2q9_guo", "--set", force]);
    }
    let words = |output: Output| {
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(words(run(&["magix=0.25", "spec=d2q9_trt"])).contains("did you mean `params.magic`?"));
    assert!(words(run(&["radius=9"])).contains("this case has no solids"));
    assert!(words(run(&["fluid.velocity=0.1", "velocity=0.05"])).contains("`faces.top.velocity`"));
    // Of several places the one that the case has; a key that is taken away takes no value.
    for set in [&["velocity=[0.05,0]"][..], &["-output.compare", "-steady", "-check_every"]] {
        let output = run(set);
        assert!(output.status.success(), "{set:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let case = std::fs::read_to_string(here.path().join("out/cavity2d/case.toml")).expect("written");
    assert!(!case.contains("compare") && !case.contains("steady"), "{case}");
    assert!(words(run(&["-compare=1"])).contains("without a value"));
    assert!(words(run(&["-output.forces"])).contains("the case does not have it"));
    assert!(words(run(&["magic=0.25", "spec=d2q9_ttr"])).contains("did you mean the shipped spec `d2q9_trt`?"));
    assert!(fails(here.path(), &["check", "d2q9_trt", "--set", "magix=1"]).contains("did you mean `magic`?"));
    assert!(fails(here.path(), &["check", "d2q9_guo", "--set", "force=[1]"]).contains("2 components, forcex, forcey"));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let here = folder();
    let help = works(here.path(), &["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(commands.len() > 9, "{help}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = works(here.path(), &["completions", shell]);
        assert!(commands.iter().all(|command| script.contains(command)) && script.contains("resume"), "{shell}");
    }
    assert!(works(here.path(), &["man"]).contains(".TH lbmc 1"));
    works(here.path(), &["man", "--out", "man1"]);
    for command in commands {
        let page = std::fs::read_to_string(here.path().join(format!("man1/lbmc-{command}.1"))).expect("a page");
        assert!(page.contains(&format!(".TH lbmc-{command} 1")) && page.contains("\\-\\-quiet"), "{page}");
    }
}

#[test]
fn quiet_leaves_results_and_errors() {
    let here = folder();
    let set = ["--set", "target=cpu", "--set", "size=[16,16]", "--set", "steps=2", "--set", "re=1e5"];
    let loud = lbmc(here.path(), &[&["run", "cavity2d"], &set[..]].concat());
    let said = String::from_utf8_lossy(&loud.stderr);
    assert!(loud.status.success() && said.contains("note: ") && said.contains("C0502"), "{said}");
    let quiet = lbmc(here.path(), &[&["--quiet", "run", "cavity2d"], &set[..]].concat());
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), "");
    assert!(quiet.status.success() && String::from_utf8_lossy(&quiet.stdout).contains("all steps are done"));
    assert!(fails(here.path(), &["run", "cavity2d", "-q", "--set", "rey=1"]).contains("did you mean `fluid.re`?"));
    // Warnings that stand beside an error.
    let wrong =
        [&["run", "cavity2d"], &set[..], &["--set", "start.density=-1", "--set", "fluid.velocity=0.3"]].concat();
    assert!(fails(here.path(), &wrong).contains("C0504"));
    let quiet = fails(here.path(), &[&["-q"], &wrong[..]].concat());
    assert!(quiet.contains("C0107") && !quiet.contains("C0504"), "{quiet}");
}

#[test]
fn json_is_an_object_a_line_and_nothing_else() {
    let here = folder();
    let lines = |output: &Output| -> Vec<Value> {
        let text = String::from_utf8(output.stdout.clone()).expect("text");
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
    };
    let run = |set: &[&str]| {
        let common = ["run", "channel", "--json", "--set", "target=cpu", "--out", "results"];
        lbmc(here.path(), &[&common[..], set].concat())
    };
    let output = run(&["--set", "steps=1000", "--set", "steady=1e-12"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let events = lines(&output);
    let checks: Vec<&Value> = events.iter().filter(|event| event["event"] == "progress").collect();
    assert!(checks.len() >= 2, "a check at step 500, one at 1000: {events:?}");
    let last = checks[checks.len() - 1];
    assert_eq!(
        (last["step"].as_u64(), last["steps"].as_u64(), last["time"].as_f64()),
        (Some(1000), Some(1000), Some(1000.0))
    );
    assert!(last["residual"].is_f64() && last["mlups"].is_number() && last.get("remaining").is_some(), "{last}");
    let end = events.last().expect("an end");
    let (status, summary) = ("completed", "results/summary.json");
    assert_eq!(*end, json!({"event": "end", "status": status, "stop": "steps", "step": 1000, "summary": summary}));
    assert!(here.path().join("results/summary.json").is_file());

    let output = run(&["--set", "rey=1"]);
    assert_eq!(output.status.code(), Some(1));
    let events = lines(&output);
    assert_eq!((&events[0]["event"], &events[0]["status"], events.len()), (&json!("end"), &json!("failed"), 1));
    assert!(events[0]["error"].as_str().is_some_and(|error| error.contains("cannot run")), "{events:?}");

    let check = lbmc(
        here.path(),
        &[
            "check",
            "d2q9_trt",
            "--json",
            "--stability",
            "--velocity",
            "0.1,0",
            "--set",
            "magic=0.25",
            "--set",
            "omega=1.9",
        ],
    );
    let told = lines(&check).remove(0);
    assert_eq!((&told["spec"], &told["viscosity"]["formula"]), (&json!("d2q9_trt"), &json!("1/3*(1/omega - 1/2)")));
    let wall = told["walls"].as_array().and_then(|walls| walls.iter().find(|wall| wall["rule"] == "bounce_back"));
    let distance = wall.expect("a wall")["distance"].as_array().expect("a range").iter().filter_map(Value::as_f64);
    assert!(distance.clone().count() == 2 && distance.clone().all(|at| (at - 0.5).abs() < 1e-6), "{wall:?}");
    assert_eq!(told["stability"]["at_velocity"][0]["stable"], json!(true));
    for list in ["cases", "specs"] {
        let all = lines(&lbmc(here.path(), &[list, "--json"]));
        assert!(
            all.len() > 9 && all.iter().all(|line| line["name"].is_string() && line["summary"].is_string()),
            "{all:?}"
        );
    }
}

#[test]
fn a_missing_compiler_and_a_place_that_cannot_be_written_say_what_to_do() {
    let here = folder();
    let small = ["run", "channel", "--set", "target=cpu", "--set", "steps=2"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    let output = command.args(small).env("CC", "/nonexistent").current_dir(here.path()).output().expect("lbmc starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("/nonexistent") && said.contains("CC"), "{said}");
    std::fs::write(here.path().join("taken"), "a file").expect("written");
    for place in ["taken", "taken/results", "/proc/results"] {
        let said = fails(here.path(), &[&small[..], &["--out", place]].concat());
        assert!(said.contains(place) && said.contains("help:"), "{said}");
        assert_eq!(said.matches("(os error").count(), 1, "the reason is said once: {said}");
    }
    let said = fails(here.path(), &[&small[..], &["--resume", "nothing.lbmc"]].concat());
    assert_eq!(said.matches("No such file").count(), 1, "the reason is said once: {said}");
    let said = fails(here.path(), &["check", "d2q9_bgk", "--boundary", "bounceback"]);
    assert!(said.contains("did you mean `bounce_back`?"), "{said}");
    for arguments in [["new", "/proc/x/mine"], ["fmt", "nothing.lbm"]] {
        assert!(fails(here.path(), &arguments).contains("help:"), "{arguments:?}");
    }
    // Refused by the command line itself, with status 2 and advice.
    for (arguments, advice) in [
        (&["runn", "cavity2d"][..], "'run'"),
        (&["run", "cavity2d", "--sett", "re=1"], "'--set'"),
        (&["run", "cavity2d", "re=100"], "--set re=100"),
        (&["run"], "<CASE>"),
        (&["run", "cavity2d", "--json", "--dry-run"], "cannot be used with"),
        (&["gen", "d2q9_bgk", "--real", "f16"], "f32, f64"),
    ] {
        let output = lbmc(here.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(advice), "{arguments:?}: {said}");
    }
}
