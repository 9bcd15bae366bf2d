//! What editors are given knows the language.

use std::collections::BTreeSet;

use lbm_dsl::parser;
use lbm_tests::root;

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
    let missing: Vec<&&str> = placed.iter().filter(|word| !words(&texts).contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
