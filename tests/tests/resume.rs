//! Restart files that somebody has made up, with hashes that fit: an error or a run, never a panic, and no more memory than
//! the flow needs.

#[path = "../../lbm-dsl/tests/texts/damage.rs"]
mod damage;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_bundle::{Bundle, Real, Target};
use lbm_flows::case::{Case, RawCase};
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::sink::RESTART;
use lbm_flows::restart::{Identity, Restart};
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;
use lbm_tests::sample::sample;
use serde_json::{Value, json};

const CASE: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
precision = "f64"
block = [4, 4]
[domain]
size = [16, 16]
[fluid]
re = 10
[faces]
left = "periodic"
right = "periodic"
top = { rule = "moving_wall", velocity = [0.1, 0] }
bottom = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [8, 8]
radius = 2
rule = "bounce_back"
[refinement]
finest = 1
boxes = [{ level = 1, from = [4, 4], to = [12, 12] }]
[stop]
steps = 7
steady = 1e-12
check_every = 4
[output]
directory = "unused"
profiles = false
picture = false
vtk = true
every = 2
series = 2
forces = 2
restart = 7
[[pictures]]
field = "speed"
size = 200
every = 4
[[probes]]
name = "p"
at = [[2, 2], [11, 8]]
fields = ["density", "vorticity"]
every = 3
[[statistics]]
name = "s"
of = ["mean", "stresses", "max"]
from = 2
every = 2
"#;

/// A flow that has been run, and its restart file.
struct Flow {
    case: Case,
    bundle: Bundle,
    criteria: CriteriaBundle,
    statistics: StatisticsBundle,
    identity: Identity,
    folder: tempfile::TempDir,
    head: Value,
    /// What follows the head and its hash, without the hash at the end.
    sections: Vec<u8>,
}

impl Flow {
    fn new() -> Flow {
        let model = compiled::model_with_all("d2q9_bgk", &["bounce_back", "moving_wall"], Some("volumetric_shifted"));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, [4, 4, 1]);
        let raw = RawCase::parse("flow.toml", CASE, &[]).expect("a case");
        let (case, _) = raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid");
        let folder = tempfile::tempdir().expect("a folder");
        let toolchain = Device::host(1).and_then(|host| host.toolchain()).expect("a compiler");
        let levels = case.refinement.as_ref().expect("a refined case").criteria(case.dim);
        let criteria = lbm_codegen::criteria::bundle(&bundle.manifest, &levels).expect("known variables");
        let statistics = lbm_codegen::statistics::bundle(&bundle.manifest, &case.accumulated()).expect("known names");
        let identity = Identity::new(&case, &bundle, Some(&criteria), toolchain);
        let mut flow =
            Flow { case, bundle, criteria, statistics, identity, folder, head: Value::Null, sections: vec![] };
        flow.run(None).expect("it runs");
        let whole = std::fs::read(flow.out().join(RESTART)).expect("a restart file");
        let head = 20 + u64::from_le_bytes(std::array::from_fn(|at| whole[12 + at])) as usize;
        flow.head = serde_json::from_slice(&whole[20..head]).expect("JSON");
        flow.sections = whole[head + 32..whole.len() - 32].to_vec();
        let again = flow.sealed(&flow.head, &flow.sections);
        flow.case.stop.steps = 9;
        flow.run(Some(&again)).expect("and a run goes on from it");
        flow
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn run(&self, resume: Option<&Path>) -> Result<(), String> {
        let device = Device::host(1).expect("the host");
        let control = Control { resume, ..Control::default() };
        let kernels = Kernels {
            method: &self.bundle,
            criteria: Some(&self.criteria),
            prescribed: None,
            statistics: Some(&self.statistics),
        };
        let placement = Placement::of(&self.case, &device).expect("its devices");
        let run = flow::run(&self.case, kernels, &placement, &self.out(), control, |_| ());
        run.map(drop).map_err(|error| error.to_string())
    }

    /// A restart file with this content and hashes that fit.
    fn sealed(&self, head: &Value, sections: &[u8]) -> PathBuf {
        self.sealed_text(head.to_string().as_bytes(), sections)
    }

    fn sealed_text(&self, head: &[u8], sections: &[u8]) -> PathBuf {
        let mut bytes = b"lbmc\r\n\x1a\n".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend(head);
        bytes.extend(blake3::hash(&bytes).as_bytes());
        bytes.extend(sections);
        bytes.extend(blake3::hash(sections).as_bytes());
        let path = self.folder.path().join("made_up");
        std::fs::write(&path, bytes).expect("written");
        path
    }

    /// Whether the head and the leaves are believed.
    fn opens(&self, path: &Path) -> Result<(), String> {
        let opened = Restart::open(path, &self.identity, &self.case, &self.bundle.manifest, false);
        opened.map(drop).map_err(|error| error.to_string())
    }

    /// Must be refused, with these words.
    fn refused(&self, head: &Value, sections: &[u8], words: &str) {
        let error = self.run(Some(&self.sealed(head, sections))).expect_err(words);
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// Every place in a JSON text; of lists the first and the last entry.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    found.push(here.clone());
    match value {
        Value::Array(list) => {
            let ends = list.iter().enumerate().filter(|(at, _)| *at == 0 || at + 1 == list.len());
            ends.for_each(|(at, value)| places(value, format!("{here}/{at}"), found));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| places(value, format!("{here}/{}", key.replace('/', "~1")), found));
        }
        _ => {}
    }
}

/// What may stand anywhere instead.
fn replacements(value: &Value) -> Vec<Value> {
    let bits = |value: f64| json!(value.to_bits());
    let mut all = vec![Value::Null, json!(true), json!(-1), json!(0.5), json!(""), json!([]), json!({})];
    match value {
        Value::Number(_) => all.extend([
            json!(0),
            json!(1),
            json!(u64::MAX),
            json!(i64::MAX),
            json!(1u64 << 53),
            json!((1u64 << 53) - 1),
            json!(u32::MAX),
            bits(1.0),
            bits(-1.0),
            bits(f64::NAN),
            bits(f64::INFINITY),
            bits(f64::MAX),
            bits(-f64::MAX),
            bits(5e-324),
        ]),
        Value::String(_) => {
            all.extend([json!("../../x"), json!("/etc/passwd"), json!("\u{1b}[2J"), json!("x".repeat(100_000))])
        }
        Value::Array(list) => {
            let twice = list.iter().chain(list).cloned().collect();
            let many = list.iter().cycle().take(list.len() * 1000).cloned().collect();
            let less = list[..list.len().saturating_sub(1)].to_vec();
            let turned = list.iter().rev().cloned().collect();
            all.extend([twice, many, less, turned].map(Value::Array));
        }
        Value::Object(map) => {
            all.extend(map.keys().map(|key| {
                let mut less = map.clone();
                less.remove(key);
                Value::Object(less)
            }));
        }
        _ => {}
    }
    all
}

#[test]
fn a_made_up_head_is_refused_or_harmless() {
    let flow = Flow::new();
    let mut all = vec![];
    places(&flow.head, String::new(), &mut all);
    let (mut refused, mut open) = (0, vec![]);
    // Heads with what is taken at one place after the other; numbers and texts of all places at once, a head for each turn.
    let mut turns: Vec<Value> = vec![];
    for place in &all {
        let old = flow.head.pointer(place).expect("it is there").clone();
        let mut taken = 0;
        for new in replacements(&old).into_iter().filter(|new| *new != old) {
            let mut head = flow.head.clone();
            *head.pointer_mut(place).expect("it is there") = new.clone();
            let path = flow.sealed(&head, &flow.sections);
            match flow.opens(&path) {
                Err(error) => {
                    refused += 1;
                    assert!(error.len() < 2000 && !error.contains('\u{1b}'), "{place}: {error}");
                }
                Ok(()) if old.is_array() || old.is_object() => open.push(head),
                Ok(()) => {
                    if taken == turns.len() {
                        turns.push(flow.head.clone());
                    }
                    *turns[taken].pointer_mut(place).expect("it is there") = new;
                    taken += 1;
                }
            }
        }
    }
    let opened =
        open.len() + turns.iter().filter(|head| flow.opens(&flow.sealed(head, &flow.sections)).is_ok()).count();
    assert!(refused > 1000 && turns.len() > 5 && opened > 5, "{refused} {} {opened}", turns.len());
    // All are read; a run is a whole flow.
    for head in sample(open.iter().chain(&turns)) {
        let _ = flow.run(Some(&flow.sealed(head, &flow.sections)));
    }
}

#[test]
fn damaged_files_are_refused_and_their_sums_do_not_matter() {
    let flow = Flow::new();
    let head = flow.head.to_string().into_bytes();
    let whole = std::fs::read(flow.sealed(&flow.head, &flow.sections)).expect("a file");
    // As it is, which sums find out; and with sums that fit.
    damage::read_damaged(&[whole], 300, |bytes| {
        let path = flow.folder.path().join("damaged");
        std::fs::write(&path, bytes).expect("written");
        let _ = flow.opens(&path);
    });
    damage::read_damaged(&[head], 1000, |head| {
        if let Err(error) = flow.opens(&flow.sealed_text(head, &flow.sections)) {
            assert!(error.len() < 2000 && !error.contains('\u{1b}'), "{error}");
        }
    });
}

#[test]
fn a_section_that_is_missing_or_one_too_many_is_refused() {
    let flow = Flow::new();
    let words = "a section is missing, or there is one too many";
    let sections = flow.head["sections"].as_array().expect("a list").clone();
    let bytes: Vec<usize> = sections.iter().map(|section| section["bytes"].as_u64().expect("bytes") as usize).collect();
    assert_eq!(bytes.len(), 5, "leaves, populations, checked, statistics, fields");
    for left_out in 0..5 {
        let mut head = flow.head.clone();
        head["sections"].as_array_mut().expect("a list").remove(left_out);
        let start: usize = bytes[..left_out].iter().sum();
        let rest = [&flow.sections[..start], &flow.sections[start + bytes[left_out]..]].concat();
        flow.refused(&head, &rest, words);
    }
    let mut twice = flow.head.clone();
    twice["sections"].as_array_mut().expect("a list").push(sections[1].clone());
    flow.refused(&twice, &flow.sections, words);
    // What a later version adds is skipped.
    let mut later = flow.head.clone();
    later["sections"].as_array_mut().expect("a list").push(json!({ "name": "later", "bytes": 5 }));
    let path = flow.sealed(&later, &[&flow.sections[..], b"later"].concat());
    flow.run(Some(&path)).expect("a section that is not known does not matter");
}

#[test]
fn leaves_that_do_not_fill_the_domain_once_are_refused() {
    lbm_tests::in_turn!();
    let flow = Flow::new();
    let count = flow.head["sections"][0]["bytes"].as_u64().expect("bytes") as usize / 16;
    for at in 0..4 * count {
        for new in [0, 1, 2, 31, 64, u32::MAX] {
            let mut sections = flow.sections.clone();
            let old = &mut sections[4 * at..4 * at + 4];
            if *old != u32::to_le_bytes(new) {
                old.copy_from_slice(&u32::to_le_bytes(new));
                flow.refused(&flow.head, &sections, "its blocks do not cover the domain");
            }
        }
    }
    // All blocks are there, in another order.
    let mut sections = flow.sections.clone();
    sections[..32].rotate_left(16);
    flow.refused(&flow.head, &sections, "its blocks do not cover the domain");
}

#[test]
fn populations_of_no_fluid_end_in_an_error() {
    lbm_tests::in_turn!();
    let flow = Flow::new();
    let count = flow.head["sections"][0]["bytes"].as_u64().expect("bytes") as usize;
    for pattern in [f64::NAN, f64::INFINITY, -f64::MAX, 5e-324, 1e300] {
        let mut sections = flow.sections.clone();
        sections[count..].as_chunks_mut::<8>().0.iter_mut().for_each(|value| *value = pattern.to_le_bytes());
        let _ = flow.run(Some(&flow.sealed(&flow.head, &sections)));
    }
}

#[test]
fn sizes_of_terabytes_are_refused_before_anything_is_allocated() {
    const HUGE: u64 = 4 << 40;
    let flow = Flow::new();
    let long = |path: &Path, bytes: u64| {
        OpenOptions::new().write(true).open(path).expect("it is there").set_len(bytes).expect("a file with a hole");
    };
    // A section that the file is long enough for.
    for (section, words) in [
        (0, "do not cover the domain"),
        (1, "its populations are not"),
        (2, "its fields are not"),
        (3, "its statistics are not"),
    ] {
        let mut head = flow.head.clone();
        let old = head["sections"][section]["bytes"].as_u64().expect("bytes");
        head["sections"][section]["bytes"] = json!(HUGE);
        let path = flow.sealed(&head, &flow.sections);
        long(&path, std::fs::metadata(&path).expect("it is there").len() + HUGE - old);
        let error = flow.run(Some(&path)).expect_err(words);
        assert!(error.contains(words), "{words}: {error}");
    }
    // A head that the file is long enough for.
    let path = flow.sealed(&flow.head, &flow.sections);
    let mut bytes = std::fs::read(&path).expect("readable");
    bytes[12..20].copy_from_slice(&HUGE.to_le_bytes());
    std::fs::write(&path, bytes).expect("written");
    long(&path, 2 * HUGE);
    let error = flow.run(Some(&path)).expect_err("a long head");
    assert!(error.contains("its head is longer than any that a run writes"), "{error}");
    // Sizes whose sum is too large for a number.
    let mut head = flow.head.clone();
    head["sections"].as_array_mut().expect("a list").push(json!({ "name": "later", "bytes": u64::MAX }));
    flow.refused(&head, &flow.sections, "instead of more than a file can have");
}

#[test]
fn heads_that_are_no_json_are_refused() {
    let flow = Flow::new();
    for head in ["", "{", "[[[", "\u{0}", "1e999999999", &"[".repeat(1_000_000), &"{\"a\":".repeat(1_000_000)] {
        let error = flow.run(Some(&flow.sealed_text(head.as_bytes(), &flow.sections))).expect_err("no JSON");
        assert!(error.contains("is broken") && error.len() < 1000, "{error}");
    }
}
