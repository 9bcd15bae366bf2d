//! What editors are given knows the language.

use std::collections::BTreeSet;

use lbm_dsl::parser;
use lbm_flows::case::{Diagnostic, RawCase, json_schema};
use lbm_tests::root;
use serde_json::Value;

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

/// What the schema says of a case: an error, or nothing.
fn judged(schema: &jsonschema::Validator, text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    let value: Value = serde_json::to_value(table).expect("TOML is JSON, but for dates");
    schema.iter_errors(&value).next().map(|error| format!("{}: {error}", error.instance_path()))
}

fn texts(folder: &str) -> Vec<(String, String)> {
    let entries =
        std::fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
    let cases = entries.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    cases.map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("text"))).collect()
}

#[test]
fn the_schema_of_cases_accepts_what_is_read() {
    let schema = jsonschema::validator_for(&json_schema()).expect("a schema");
    let all: Vec<(String, String)> = ["cases", "benchmarks", "tests/case_ui"].into_iter().flat_map(texts).collect();
    let read = all.iter().filter(|(name, text)| RawCase::parse(name, text, &[]).is_ok());
    let mut count = 0;
    for (name, text) in read {
        assert_eq!(judged(&schema, text), None, "{name}");
        count += 1;
    }
    assert!(count > 100, "{count} cases were read");
}

#[test]
fn the_schema_of_cases_refuses_keys_and_types_that_are_wrong() {
    let schema = jsonschema::validator_for(&json_schema()).expect("a schema");
    let code = |error: &Diagnostic| error.code().id;
    let mut count = 0;
    for (name, text) in texts("tests/case_ui") {
        let Err(error) = RawCase::parse(&name, &text, &[]) else { continue };
        // Solids have keys of the case's own: parameters of the boundary rule.
        let wrong = error.diagnostics().iter().any(|one| code(one) == "C0102") && !name.contains("c0102_solid");
        if wrong {
            assert!(judged(&schema, &text).is_some(), "{name}");
            count += 1;
        }
    }
    assert!(count > 5, "{count} cases have unknown keys");
    let cavity = std::fs::read_to_string(root().join("cases/cavity2d.toml")).expect("text");
    for (right, wrong) in [
        ("steps = 400_000", "steps = 0.5"),
        ("profiles = true", "profiles = 1"),
        ("target = \"auto\"", "target = \"gpu\""),
        ("size = [128, 128]", "size = 128"),
        ("check_every", "check_evry"),
    ] {
        assert!(cavity.contains(right), "{right}");
        assert!(judged(&schema, &cavity.replace(right, wrong)).is_some(), "{wrong}");
    }
}
