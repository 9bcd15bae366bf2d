//! The table of stable pairs of faces, and what a run says of a pair that is not.
//!
//! A part of the table is compared; `LBMC_FACES=all` compares all of it, and with `LBMC_UPDATE=1` it is written.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lbm_dsl::model::Model;
use lbm_dsl::prove::pair::{self, Face, Stream};
use lbm_setup::rates::Rates;
use lbm_setup::spec::Spec;

const METHODS: [&str; 8] = [
    "d2q9_bgk",
    "d2q9_trt",
    "d2q9_mrt",
    "d2q9_central",
    "d2q9_recursive",
    "d3q19_bgk",
    "d3q19_regularized",
    "d3q27_cumulant",
];
const INLETS: [&str; 5] =
    ["moving_wall", "equilibrium", "zou_he_velocity", "regularized_velocity", "characteristic_velocity"];
const OUTLETS: [&str; 7] = [
    "equilibrium",
    "anti_bounce_back",
    "zou_he_pressure",
    "regularized_pressure",
    "extrapolation_outflow",
    "convective_outflow",
    "characteristic_pressure",
];
const RATES: [f64; 6] = [1.7, 1.9, 1.95, 1.98, 1.99, 1.995];
/// One of so many entries is compared, of methods in the plane.
const SLICE: usize = 24;

fn is_stable(model: &Model, rules: [&str; 2], omega: f64) -> bool {
    let rates = Rates::new(model, Some("omega"), &[format!("omega={omega}")]).expect("a rate");
    let velocity: Vec<f64> = (0..model.lattice().dim()).map(|axis| if axis == 0 { 0.05 } else { 0.0 }).collect();
    let stream = Stream::new(model, &rates.params(omega), &velocity).expect("it has derivatives");
    let [low, high] = [0, 1].map(|at| {
        let rule = model.boundaries().iter().find(|rule| rule.name == rules[at]).expect("a rule of the prelude");
        let values = pair::values(model, rule, &velocity, |_| None).expect("values of a stream");
        stream.end(rule, &values, Face { axis: 0, high: at == 1 }).expect("it has derivatives")
    });
    !stream.worst([&low, &high]).grows()
}

/// What the table has for so many rates, from the least on, with which a pair is stable.
fn entry(stable: usize) -> String {
    stable.checked_sub(1).map_or("-".into(), |last| RATES[last].to_string())
}

#[test]
fn the_table_of_pairs_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faces.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let all = std::env::var("LBMC_FACES").is_ok_and(|value| value == "all");
    let update = std::env::var_os("LBMC_UPDATE").is_some();
    let mut models = BTreeMap::new();
    let mut model = |spec: &'static str| -> Model {
        let every = || Spec::find(spec).expect("it is shipped").with_every_rule().expect("it has all rules");
        models.entry(spec).or_insert_with(every).clone()
    };
    let (start, end) = ("<!-- written by the program: -->\n", "<!-- end -->\n");
    let from = page.find(start).expect("a mark") + start.len();
    let to = from + page[from..].find(end).expect("a second mark");
    if update && all {
        let mut table = format!("| inlet | outlet | {} |\n", METHODS.map(|method| format!("`{method}`")).join(" | "));
        table += &format!("| --- | --- |{}\n", " --- |".repeat(METHODS.len()));
        for inlet in INLETS {
            for outlet in OUTLETS {
                let stable = METHODS.map(|method| {
                    let model = model(method);
                    RATES.iter().take_while(|omega| is_stable(&model, [inlet, outlet], **omega)).count()
                });
                table += &format!("| `{inlet}` | `{outlet}` | {} |\n", stable.map(entry).join(" | "));
            }
        }
        std::fs::write(&path, format!("{}{table}{}", &page[..from], &page[to..])).expect("the page is written");
        return;
    }
    let rows: Vec<Vec<&str>> = page[from..to].lines().map(|row| row.split('|').map(str::trim).collect()).collect();
    let names: Vec<&str> = rows[0][3..rows[0].len() - 1].iter().map(|name| name.trim_matches('`')).collect();
    assert_eq!(names, METHODS, "LBMC_FACES=all LBMC_UPDATE=1 writes the table");
    assert_eq!(rows.len(), 2 + INLETS.len() * OUTLETS.len());
    let mut at = 0;
    for row in &rows[2..] {
        let rules = [row[1].trim_matches('`'), row[2].trim_matches('`')];
        for (method, found) in METHODS.into_iter().zip(&row[3..]) {
            at += usize::from(method.starts_with("d2"));
            if !(all || method.starts_with("d2") && at % SLICE == 7) {
                continue;
            }
            let stable = (0..=RATES.len()).find(|stable| entry(*stable) == **found).expect("a rate of the table");
            let model = model(method);
            if let Some(last) = stable.checked_sub(1) {
                assert!(is_stable(&model, rules, RATES[last]), "{method} {rules:?} at {}", RATES[last]);
            }
            if let Some(next) = RATES.get(stable) {
                assert!(!is_stable(&model, rules, *next), "{method} {rules:?} at {next}");
            }
        }
    }
}

/// What `d2q9_bgk` at `omega` 1.9 reflects, of waves of 32 cells in a stream of 0.05: a row for each rule at an inlet and at an outlet.
#[test]
fn the_table_of_reflections_is_that_of_the_program() {
    crate::in_turn!();
    let output = Command::new(env!("CARGO_BIN_EXE_lbmc"))
        .args(["check", "d2q9_bgk", "--faces", "all", "--set", "omega=1.9", "--velocity", "0.05,0", "--json"])
        .output()
        .expect("lbmc starts");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let parts = |value: &serde_json::Value, signed: bool| -> Vec<String> {
        let part = |pair: &serde_json::Value| pair[1].as_f64().expect("a number");
        let all = value.as_array().expect("a list").iter().map(part);
        all.map(|part| if signed { format!("{part:+.2}") } else { format!("{part:.2}") }).collect()
    };
    let mut table = "| face | rule | sound at 0 | 30 | 60 degrees | vortices at 30 | 60 degrees |\n".to_string();
    table += "| --- | --- | --- | --- | --- | --- | --- |\n";
    for sound in found["faces"]["sound"].as_array().expect("rules") {
        let mut vortices = parts(&sound["vortices"], false);
        vortices.resize(2, "-".into());
        let face = if sound["face"] == "left" { "inlet" } else { "outlet" };
        let rule = sound["rule"].as_str().expect("a name");
        table +=
            &format!("| {face} | `{rule}` | {} |\n", [parts(&sound["angles"], true), vortices].concat().join(" | "));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faces.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let start = "<!-- written by the program: -->\n";
    let from = page.rfind(start).expect("a mark") + start.len();
    let to = from + page[from..].find("<!-- end -->\n").expect("a second mark");
    if std::env::var_os("LBMC_UPDATE").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..from], &page[to..])).expect("the page is written");
        return;
    }
    assert_eq!(&page[from..to], table, "LBMC_UPDATE=1 writes the table");
}

/// An empty box that blows up: it is warned about before the first step, with what is stable, and what ends it is named before the grid. What the warning
/// says to take runs. With two rates no rules of the prelude are stable there, but another method is.
#[test]
fn a_run_warns_of_faces_between_which_disturbances_grow() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = r#"
        spec = "d2q9_bgk"
        target = "cpu"
        precision = "f64"
        domain = { size = [48, 16] }
        fluid = { omega = 1.981, velocity = 0.05, length = 16 }
        start = { velocity = ["0.05*(1+1e-6*sin(2*pi*y/ly*7)*sin(x))", 0] }
        faces = { left = { rule = "moving_wall", velocity = [0.05, 0] }, right = { rule = "anti_bounce_back", density = 1 }, others = "periodic" }
        stop = { steps = 6000 }
        output = { profiles = false, picture = false }
    "#;
    std::fs::write(folder.path().join("box.toml"), case).expect("a case");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.current_dir(folder.path()).args(["run", "box.toml"]).args(more);
        let output = command.output().expect("lbmc starts");
        let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        (output.status.success(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (ends, said) = run(&[]);
    let (warning, error) = said.split_once("not finite").unwrap_or((&said, ""));
    for words in ["C0702", "`left` (moving_wall)", "`right` (anti_bounce_back)", "at `right` take `equilibrium`"] {
        assert!(warning.contains(words), "`{words}` is missing: {said}");
    }
    let (pair, rate) = (error.find("disturbances of a stream"), error.find("close to its limit"));
    assert!(!ends && pair.is_some() && pair < rate, "{said}");
    let (ends, said) = run(&["--set", "faces.right={rule=\"equilibrium\",density=1,velocity=[0.05,0]}"]);
    assert!(ends && !said.contains("C0702"), "{said}");

    let two_rates = ["--set", "spec=d2q9_trt", "--set", "params.magic=0.1875"];
    let (_, said) = run(&[&two_rates[..], &["--dry-run"]].concat());
    assert!(said.contains("C0702") && said.contains("take the method `d2q9_central`"), "{said}");
    let (ends, said) = run(&["--set", "spec=d2q9_central"]);
    assert!(ends && !said.contains("C0702"), "{said}");
}
