//! The language server over its protocol, as an editor speaks to it.

use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value, json};

use super::folder;

/// An editor that has started the server.
struct Editor {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: i32,
}

impl Editor {
    fn new(here: &Path, encodings: Value) -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.arg("lsp").current_dir(here).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("lbmc starts");
        let (to, from) = (server.stdin.take(), server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, to, from: BufReader::new(from), asked: 0 };
        let answer =
            editor.ask("initialize", json!({ "capabilities": { "general": { "positionEncodings": encodings } } }));
        let capabilities = answer.response_result.expect("it works")["capabilities"].clone();
        assert_eq!(capabilities["textDocumentSync"]["change"], 1);
        for provider in
            ["hover", "completion", "definition", "rename", "documentSymbol", "documentFormatting", "inlayHint"]
        {
            assert!(capabilities[format!("{provider}Provider")] != Value::Null, "{provider}: {capabilities}");
        }
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: Message) {
        message.write(self.to.as_mut().expect("it is open")).expect("the server reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification::new(method.into(), params).into());
    }

    fn next(&mut self) -> Message {
        Message::read(&mut self.from).expect("a message").expect("the server has not ended")
    }

    /// The answer to a request; what is said before it is not listened to.
    fn ask(&mut self, method: &str, params: Value) -> Response {
        self.asked += 1;
        let id = self.asked;
        self.send(Request::new(id.into(), method.into(), params).into());
        loop {
            if let Message::Response(response) = self.next() {
                assert_eq!(response.id, id.into());
                return response;
            }
        }
    }

    fn open(&mut self, path: &Path, text: &str) -> Value {
        let document = json!({ "uri": uri(path), "languageId": "lbm", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(path)
    }

    fn change(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": uri(path), "version": 2 });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// The next diagnostics of a document.
    fn diagnostics(&mut self, path: &Path) -> Value {
        loop {
            if let Message::Notification(notification) = self.next()
                && notification.method == "textDocument/publishDiagnostics"
                && notification.params["uri"] == json!(uri(path))
            {
                return notification.params["diagnostics"].clone();
            }
        }
    }

    /// What is told where `place` stands in the text, at its `|`.
    fn hover(&mut self, path: &Path, text: &str, place: &str) -> Value {
        self.ask_at("textDocument/hover", path, text, place).response_result.expect("it works")
    }

    fn ask_at(&mut self, method: &str, path: &Path, text: &str, place: &str) -> Response {
        self.ask(method, at(path, text, place))
    }

    /// The names that may stand there.
    fn proposed(&mut self, path: &Path, text: &str, place: &str) -> Vec<String> {
        let list = self.ask_at("textDocument/completion", path, text, place).response_result.expect("it works");
        let items = list.as_array().unwrap_or_else(|| panic!("{list}"));
        items.iter().map(|item| item["label"].as_str().expect("a name").to_string()).collect()
    }

    fn end(mut self) {
        assert!(self.ask("shutdown", Value::Null).response_result.is_ok());
        self.tell("exit", Value::Null);
        drop(self.to.take());
        assert!(self.server.wait().expect("it ends").success());
    }
}

/// The parameters of a question about the place where `place` stands in the text, at its `|`.
fn at(path: &Path, text: &str, place: &str) -> Value {
    let byte = text.find(&place.replace('|', "")).expect("it stands there") + place.find('|').expect("a mark");
    let line = text[..byte].matches('\n').count();
    let before = &text[text[..byte].rfind('\n').map_or(0, |at| at + 1)..byte];
    let position = json!({ "line": line, "character": before.encode_utf16().count() });
    json!({ "textDocument": { "uri": uri(path) }, "position": position })
}

/// A text after changes of the protocol, whose lines have one byte for each column.
fn changed(text: &str, edits: &Value) -> String {
    let byte = |at: &Value| {
        let (line, column) = (at["line"].as_u64().expect("a line"), at["character"].as_u64().expect("a column"));
        text.split_inclusive('\n').take(line as usize).map(str::len).sum::<usize>() + column as usize
    };
    let mut text_now = text.to_string();
    for edit in edits.as_array().expect("changes").iter().rev() {
        let range = byte(&edit["range"]["start"])..byte(&edit["range"]["end"]);
        text_now.replace_range(range, edit["newText"].as_str().expect("a text"));
    }
    text_now
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display()).replace(' ', "%20")
}

fn shipped(name: &str) -> String {
    std::fs::read_to_string(super::root().join(name)).expect("it is shipped")
}

#[test]
fn a_method_has_its_errors_at_their_places_until_they_are_mended() {
    let here = folder();
    let (path, text) = (here.path().join("my method.lbm"), shipped("specs/d2q9_bgk.lbm"));
    let mut editor = Editor::new(here.path(), json!(["utf-16"]));
    assert_eq!(editor.open(&path, &text), json!([]));
    // Greek letters are one unit in UTF-16 and two bytes.
    let wrong = text.replace("collide {", "collide { let βω = rhoo;");
    editor.change(&path, &wrong);
    let found = editor.diagnostics(&path);
    let first = found
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["code"] == "E0301")
        .unwrap_or_else(|| panic!("{found}"));
    let line = wrong.lines().position(|line| line.contains("rhoo")).expect("it is there");
    assert_eq!(
        first["range"]["start"],
        json!({ "line": line, "character": "collide { let βω = ".encode_utf16().count() })
    );
    assert!(
        first["message"].as_str().is_some_and(|text| text.contains("`rhoo`") && text.contains("did you mean `rho`?")),
        "{first}"
    );
    editor.change(&path, &text);
    assert_eq!(editor.diagnostics(&path), json!([]));
    editor.end();
}

#[test]
fn hovering_tells_types_and_the_viscosity() {
    let here = folder();
    let (path, text) = (here.path().join("a.lbm"), shipped("specs/d2q9_bgk.lbm"));
    let mut editor = Editor::new(here.path(), json!([]));
    editor.open(&path, &text);
    let omega = editor.hover(&path, &text, "param omega|");
    let told = omega["contents"]["value"].as_str().expect("text");
    assert!(
        told.contains("param omega in (0, 2)") && told.contains("sets the kinematic viscosity: 1/3*(1/omega - 1/2)"),
        "{told}"
    );
    let u = editor.hover(&path, &text, "field u|");
    assert!(u["contents"]["value"].as_str().is_some_and(|told| told.contains("a vector, over 2 axes")), "{u}");
    assert_eq!(editor.hover(&path, &text, "// |"), Value::Null);
    editor.end();
}

#[test]
fn a_method_is_completed_while_it_has_errors() {
    let here = folder();
    let (path, text) = (here.path().join("a.lbm"), shipped("specs/d2q9_bgk.lbm"));
    let mut editor = Editor::new(here.path(), json!([]));
    let broken = text.replace("let feq[i] = quadratic[i](rho, u);", "let feq[i] = quadratic[i](rh");
    assert_ne!(editor.open(&path, &broken), json!([]));
    let names = editor.proposed(&path, &broken, "let feq[i] = quadratic[i](rh|");
    assert!(["rho", "u", "omega", "exp"].iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
    let params = at(&path, &broken, "let feq[i] = quadratic[i](rh|");
    let list = editor.ask("textDocument/completion", params).response_result.expect("it works");
    let omega = list.as_array().expect("a list").iter().find(|item| item["label"] == "omega").expect("it is in scope");
    assert_eq!(omega["detail"], "param omega in (0, 2)");
    assert!(omega["documentation"]["value"].as_str().is_some_and(|told| told.contains("relaxation rate")), "{omega}");
    editor.change(&path, &text);
    assert!(editor.proposed(&path, &text, "use walls::{|").contains(&"zou_he_velocity".to_string()));
    editor.end();
}

#[test]
fn definitions_are_found_in_the_text_and_in_files_of_modules() {
    let here = folder();
    let (path, own) = (here.path().join("a.lbm"), here.path().join("part.lbm"));
    let text = shipped("specs/d2q9_bgk.lbm").replace("use equilibria::quadratic;", "use part::quadratic;");
    std::fs::write(&own, shipped("specs/prelude/equilibria.lbm")).expect("a folder");
    let mut editor = Editor::new(here.path(), json!([]));
    editor.open(&path, &text);
    let mut defined = |place: &str| {
        let found = editor.ask_at("textDocument/definition", &path, &text, place).response_result.expect("it works");
        let file = found["uri"].as_str().unwrap_or_else(|| panic!("{place}: {found}")).to_string();
        let file = file.strip_prefix("file://").expect("a file").to_string();
        let line = found["range"]["start"]["line"].as_u64().expect("a line");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|_| text.clone());
        (file, text.lines().nth(line as usize).unwrap_or_default().to_string())
    };
    let (file, line) = defined("field u|");
    assert!(file.ends_with("a.lbm") && line.starts_with("let u[a]"), "{file}: {line}");
    let (file, line) = defined("<- quadratic|");
    assert!(file == own.display().to_string() && line.starts_with("fn quadratic"), "{file}: {line}");
    let (file, line) = defined("boundary bounce|_back;");
    assert!(file.ends_with("walls.lbm") && line.starts_with("boundary bounce_back"), "{file}: {line}");
    editor.end();
}

#[test]
fn a_name_is_renamed_and_those_of_modules_are_not() {
    let here = folder();
    let (path, text) = (here.path().join("a.lbm"), shipped("specs/d2q9_bgk.lbm"));
    let mut editor = Editor::new(here.path(), json!([]));
    editor.open(&path, &text);
    let mut rename = |place: &str, new: &str| {
        let mut params = at(&path, &text, place);
        params["newName"] = json!(new);
        editor.ask("textDocument/rename", params).response_result
    };
    let edits = rename("param om|ega", "rate").expect("it can be");
    let renamed = changed(&text, &edits["changes"][&uri(&path)]);
    let is_left = renamed.lines().any(|line| line.split("//").next().is_some_and(|code| code.contains("omega")));
    assert!(!is_left && renamed.contains("param rate in (0, 2)"), "{renamed}");
    assert!(rename("<- quad|ratic", "other").expect_err("a module has it").message.contains("equilibria"));
    assert!(rename("param om|ega", "rho").expect_err("it is another").message.contains("something else"));
    let prepared = editor.ask_at("textDocument/prepareRename", &path, &text, "col|lide").response_result;
    assert!(prepared.expect_err("a keyword").message.contains("word of the language"));
    editor.end();
}

#[test]
fn symbols_hints_and_the_house_style_are_those_of_the_text() {
    let here = folder();
    let (path, text) = (here.path().join("a.lbm"), shipped("specs/d2q9_bgk.lbm"));
    let loose = text.replace("    let feq[i] =", "let feq[i]   =");
    assert_ne!(loose, text);
    let mut editor = Editor::new(here.path(), json!([]));
    editor.open(&path, &loose);
    let document = json!({ "uri": uri(&path) });
    let symbols = editor.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let symbols = symbols.response_result.expect("it works");
    let collide = symbols.as_array().expect("a list").iter().find(|symbol| symbol["name"] == "collide").expect("it is");
    assert_eq!(collide["children"][0]["name"], "feq");
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let edits = editor.ask("textDocument/formatting", json!({ "textDocument": document, "options": options }));
    assert_eq!(changed(&loose, &edits.response_result.expect("it works")), text);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
    let hints = editor.ask("textDocument/inlayHint", json!({ "textDocument": document, "range": whole }));
    let hints = hints.response_result.expect("it works");
    let labels: Vec<&str> =
        hints.as_array().expect("a list").iter().filter_map(|hint| hint["label"].as_str()).collect();
    assert_eq!(labels[0], "kinematic viscosity 1/3*(1/omega - 1/2)");
    let operations = labels.iter().find_map(|label| label.strip_suffix(" operations")).expect("those of a collision");
    assert!(operations.parse::<usize>().is_ok_and(|count| (50..1000).contains(&count)), "{operations}");
    let none = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let hints = editor.ask("textDocument/inlayHint", json!({ "textDocument": document, "range": none }));
    assert_eq!(hints.response_result.ok(), Some(json!([])));
    editor.end();
}

#[test]
fn keys_of_a_case_their_words_and_names_are_proposed() {
    let here = folder();
    let path = here.path().join("case.toml");
    let text = "spec = \"d2q9_bgk\"\ntarget = \n[domain]\nsi\n[faces]\ntop = { rule = \"mo";
    let mut editor = Editor::new(here.path(), json!(["utf-16"]));
    editor.open(&path, text);
    assert!(editor.proposed(&path, text, "[domain]\nsi|").contains(&"size".to_string()));
    assert!(editor.proposed(&path, text, "spec = \"d2|q9").contains(&"d3q27_cumulant".to_string()));
    assert!(editor.proposed(&path, text, "rule = \"mo|").contains(&"moving_wall".to_string()));
    let words = editor.ask_at("textDocument/completion", &path, text, "target = |").response_result.expect("it works");
    let word = words.as_array().expect("a list").iter().find(|item| item["label"] == "cpu").expect("a target");
    assert_eq!(word["textEdit"]["newText"], "\"cpu\"");
    editor.end();
}

#[test]
fn a_case_is_checked_as_it_is_written_and_as_a_run_does_when_it_is_saved() {
    let here = folder();
    let (path, text) = (here.path().join("case.toml"), shipped("cases/cavity2d.toml"));
    let text = text.replace("target = \"auto\"", "") + "\n";
    let mut editor = Editor::new(here.path(), json!(["utf-8"]));
    assert_eq!(editor.open(&path, &text), json!([]));
    // A key that no case has is wrong in itself.
    editor.change(&path, &text.replace("[stop]", "[stop]\nstaedy = 1"));
    let found = editor.diagnostics(&path);
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("`steady`")), "{found}");
    // A boundary condition that the method lacks is seen with the method.
    let walls = text.replace("\"bounce_back\"", "\"bounce_bakc\"");
    assert_ne!(walls, text);
    editor.change(&path, &walls);
    assert_eq!(editor.diagnostics(&path), json!([]));
    editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri(&path) } }));
    let found = editor.diagnostics(&path);
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("bounce_back")), "{found}");
    let key = editor.hover(&path, &walls, "[stop|]");
    assert_eq!(key, Value::Null);
    let key = editor.hover(&path, &walls, "velocity| =");
    assert!(key["contents"]["value"].as_str().is_some_and(|told| told.contains('`')), "{key}");
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri(&path) } }));
    assert_eq!(editor.diagnostics(&path), json!([]));
    editor.end();
}

/// A case takes what a method takes; questions about others are answered meanwhile, and its diagnostics come.
#[test]
fn a_document_that_takes_long_keeps_no_other_waiting() {
    let here = folder();
    let (case, method) = (here.path().join("flow.toml"), here.path().join("own.lbm"));
    let spec = shipped("specs/d2q9_bgk.lbm");
    let mut editor = Editor::new(here.path(), json!([]));
    assert_eq!(editor.open(&method, &spec), json!([]));
    let text = shipped("cases/channel.toml");
    let document = json!({ "uri": uri(&case), "languageId": "toml", "version": 1, "text": text });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    assert!(editor.hover(&method, &spec, "let r|ho")["contents"]["value"].is_string());
    editor.change(&method, &spec.replace("field rho;", "field rho"));
    assert!(editor.diagnostics(&method)[0]["code"].is_string());
    editor.end();
}

#[test]
fn what_is_no_case_and_no_question_is_left_alone() {
    let here = folder();
    let path = here.path().join("Cargo.toml");
    let mut editor = Editor::new(here.path(), json!([]));
    assert_eq!(editor.open(&path, "[package]\nname = 1"), json!([]));
    assert_eq!(editor.hover(&path, "[package]\nname = 1", "na|me"), Value::Null);
    let params = json!({ "textDocument": { "uri": uri(&path) }, "position": { "line": 99, "character": 4 } });
    assert_eq!(editor.ask("textDocument/hover", params).response_result.ok(), Some(Value::Null));
    assert!(editor.ask("textDocument/hover", json!(7)).response_result.is_err());
    assert!(editor.ask("textDocument/rename", json!({})).response_result.is_err());
    assert!(editor.ask("textDocument/references", json!({})).response_result.is_err());
    editor.tell("textDocument/didOpen", json!("nothing"));
    editor.end();
}
