//! What editors are given knows the language.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use lbm_dsl::parser;
use lbm_flows::case::{RawCase, json_schema};
use lbm_tests::root;
use lbm_tests::toolchain::have;
use serde_json::{Value, json};

/// Words that stand in a text of patterns, whatever they are part of.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect()
}

#[test]
fn the_grammar_for_highlighting_has_every_word_of_the_language() {
    let path = root().join("editors/vscode/syntaxes/lbm.tmLanguage.json");
    let text = std::fs::read_to_string(path).expect("it is there");
    let grammar: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rules = grammar["repository"].as_object().expect("rules");
    let pattern = |name: &str| rules[name].to_string().replace("\\\\b", " ").replace("\\\\s", " ");
    let [keywords, placed, builtins] = parser::words();
    for (rule, expected) in [("keyword", keywords), ("placed", placed), ("builtin", builtins)] {
        let pattern = pattern(rule);
        let missing: Vec<&&str> = expected.iter().filter(|word| !words(&pattern).contains(**word)).collect();
        assert!(missing.is_empty(), "{rule}: {missing:?}");
    }
    // No word is highlighted that is none.
    let list = rules["keyword"]["match"].as_str().expect("a pattern");
    let list = list.trim_start_matches("\\b(").trim_end_matches(")\\b");
    assert_eq!(list.split('|').collect::<Vec<_>>(), keywords);
}

/// Loads the extension with stand-ins for what the editor gives it, starts and ends it, and prints what it has done.
const START: &str = r#"
const done = [];
const given = {
  vscode: { workspace: { getConfiguration: (table) => ({ get: (key) => `value of ${table}.${key}` }) } },
  "vscode-languageclient/node": {
    LanguageClient: class {
      constructor(id, name, server, client) { done.push(server, client); }
      async start() { done.push("started"); }
      async stop() { done.push("stopped"); }
    },
  },
};
const Module = require("node:module");
const load = Module._load;
Module._load = (name, ...rest) => given[name] ?? load(name, ...rest);
const extension = require(process.argv[1]);
(async () => {
  await extension.activate();
  await extension.deactivate();
  console.log(JSON.stringify(done));
})();
"#;

#[test]
fn the_extension_starts_the_language_server_and_all_its_files_are_there() {
    let folder = root().join("editors/vscode");
    let text = std::fs::read_to_string(folder.join("package.json")).expect("it is there");
    let package: Value = serde_json::from_str(&text).expect("JSON");
    let contributes = &package["contributes"];
    let files = [&package["main"], &contributes["languages"][0]["configuration"], &contributes["grammars"][0]["path"]];
    for file in files {
        assert!(folder.join(file.as_str().expect("a path")).is_file(), "{file}");
    }
    let needs: Vec<&String> = package["dependencies"].as_object().expect("a table").keys().collect();
    assert_eq!(needs, ["vscode-languageclient"]);
    assert_eq!(package["activationEvents"], json!(["onLanguage:lbm", "onLanguage:toml"]));
    assert_eq!(contributes["configuration"]["properties"]["lbmc.path"]["default"], "lbmc");
    let mut probe = Command::new("node");
    probe.arg("--version");
    if !have(probe, "the extension of Visual Studio Code needs node") {
        return;
    }
    let mut node = Command::new("node");
    let said = node.args(["-e", START]).arg(folder.join("extension.js")).output().expect("node is there");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let done: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let documents = ["lbm", "toml"].map(|language| json!({ "scheme": "file", "language": language }));
    let server = json!({ "command": "value of lbmc.path", "args": ["lsp"] });
    assert_eq!(done, json!([server, { "documentSelector": documents }, "started", "stopped"]));
}

#[test]
fn words_that_are_keywords_at_their_places_stand_in_shipped_specs() {
    let texts: String = lbm_dsl::shipped::specs().chain(lbm_dsl::shipped::modules()).map(|(_, text)| text).collect();
    let texts: String =
        texts.lines().map(|line| line.split("//").next().unwrap_or_default().to_string() + "\n").collect();
    let [_, placed, _] = parser::words();
    // Every shipped method conserves something.
    let missing: Vec<&&str> = placed.iter().filter(|word| !words(&texts).contains(**word)).collect();
    assert_eq!(missing, [&"none"]);
}

/// Reads a schema and values, prints what the schema says of each: an error, or null.
const JUDGE: &str = r#"
import json, sys, jsonschema
given = json.load(sys.stdin)
schema = jsonschema.Draft7Validator(given["schema"])
type(schema).check_schema(given["schema"])
errors = (next(schema.iter_errors(value), None) for value in given["values"])
json.dump([error and f"{error.json_path}: {error.message}" for error in errors], sys.stdout)
"#;

/// What the schema says of each case, an error or nothing; nothing at all where Python or its jsonschema is missing.
fn judged<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Vec<Option<String>>> {
    let mut probe = Command::new("python3");
    probe.args(["-c", "import jsonschema"]);
    if !have(probe, "the schema of cases needs python3 with jsonschema") {
        return None;
    }
    let value = |text: &str| -> Value {
        let table: toml::Table = text.parse().expect("TOML");
        serde_json::to_value(table).expect("TOML is JSON, but for dates")
    };
    let given = json!({ "schema": json_schema(), "values": texts.map(value).collect::<Vec<_>>() });
    let mut python = Command::new("python3");
    python.args(["-c", JUDGE]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = python.spawn().expect("python3 is there");
    running.stdin.take().expect("it is piped").write_all(given.to_string().as_bytes()).expect("it reads");
    let said = running.wait_with_output().expect("it ends");
    assert!(said.status.success(), "the judge fails");
    Some(serde_json::from_slice(&said.stdout).expect("a list"))
}

fn texts(folder: &str) -> Vec<(String, String)> {
    let entries =
        std::fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
    let cases = entries.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    cases.map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("text"))).collect()
}

#[test]
fn the_schema_of_cases_accepts_what_is_read() {
    let all: Vec<(String, String)> = ["cases", "benchmarks", "tests/case_ui"].into_iter().flat_map(texts).collect();
    let read: Vec<_> = all.iter().filter(|(name, text)| RawCase::parse(name, text, &[]).is_ok()).collect();
    assert!(read.len() > 100, "{} cases were read", read.len());
    let Some(said) = judged(read.iter().map(|(_, text)| text.as_str())) else { return };
    let refused: Vec<_> = read.iter().zip(&said).filter(|(_, said)| said.is_some()).collect();
    assert!(refused.is_empty(), "{:?}", refused.iter().map(|((name, _), said)| (name, said)).collect::<Vec<_>>());
}

#[test]
fn the_schema_of_cases_refuses_keys_and_types_that_are_wrong() {
    // Solids have keys of the case's own: parameters of the boundary rule.
    let is_wrong = |(name, text): &(String, String)| {
        let Err(error) = RawCase::parse(name, text, &[]) else { return false };
        error.diagnostics().iter().any(|one| one.code().id == "C0102") && !name.contains("c0102_solid")
    };
    let mut all: Vec<(String, String)> = texts("tests/case_ui").into_iter().filter(is_wrong).collect();
    all.retain(|(_, text)| text.parse::<toml::Table>().is_ok());
    assert!(all.len() > 5, "{} cases have unknown keys", all.len());
    let cavity = std::fs::read_to_string(root().join("cases/cavity2d.toml")).expect("text");
    for (right, wrong) in [
        ("steps = 400_000", "steps = 0.5"),
        ("profiles = true", "profiles = 1"),
        ("target = \"auto\"", "target = \"gpu\""),
        ("size = [128, 128]", "size = 128"),
        ("check_every", "check_evry"),
    ] {
        assert!(cavity.contains(right), "{right}");
        all.push((wrong.to_string(), cavity.replace(right, wrong)));
    }
    let Some(said) = judged(all.iter().map(|(_, text)| text.as_str())) else { return };
    let accepted: Vec<_> =
        all.iter().zip(&said).filter(|(_, said)| said.is_none()).map(|((name, _), _)| name).collect();
    assert!(accepted.is_empty(), "{accepted:?}");
}
