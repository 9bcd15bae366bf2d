//! A case as it was run, in a form that can be run again: for the folder of its results.
//!
//! Every override is in it, its name, and the names of the copies of what it reads: the spec, its modules, surfaces.

use std::collections::BTreeSet;

use super::diag::Span;
use super::image;
use super::raw::{RawCase, RawGiven, RawShape, RawStart};
use super::table::is_written;
use super::tree::{Entry, Kind, Table, Value};

/// Name of the case in the folder of its results.
pub const CASE: &str = "case.toml";

/// How such a case begins.
const HEADING: &str = "# A case as it was run, every `--set` applied: `lbmc run` makes its results again.\n";
/// How the line begins that lists what it reads.
const READS: &str = "# It reads: ";

/// A file that a run is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Its name in the folder of the results.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Whether a name is that of a file in the folder itself.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']) && !name.contains(char::is_control)
}

/// What stands at the top of a case that reads files of these names.
pub(crate) fn heading(reads: &[String]) -> String {
    format!("{HEADING}{READS}{}\n", reads.join(", "))
}

/// The case itself and the files that it reads, from its text, if it begins as such a case does.
pub(crate) fn listed_inputs(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let Some(rest) = text.strip_prefix(HEADING) else { return vec![] };
    let reads = rest.lines().next().and_then(|line| line.strip_prefix(READS)).unwrap_or_default();
    reads.split(", ").filter(|name| is_plain(name)).chain([CASE]).map(String::from).collect()
}

/// The names of the pictures and views that a case asks for, from its text, if it begins as a case in the folder of a run does.
pub(crate) fn listed_sequences(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let table = text.strip_prefix(HEADING).and_then(|rest| rest.parse::<toml::Table>().ok()).unwrap_or_default();
    let list = |key: &str| table.get(key).and_then(|list| list.as_array()).into_iter().flatten();
    let name = |picture: &toml::Value| {
        let name = picture.get("name").or(picture.get("field")).or(picture.get("isosurface"))?;
        name.as_str().map(String::from)
    };
    list("pictures").chain(list("views")).filter_map(name).filter(|name| is_plain(name)).collect()
}

impl RawCase {
    /// The files that make this case again: itself, and the tables and surfaces that it reads. `spec` is what its spec is called there, and
    /// `beside` the spec's file and its modules.
    pub fn inputs(&self, spec: &str, beside: Vec<InputFile>) -> Vec<InputFile> {
        let mut files = beside;
        let mut root = self.root.clone();
        let mut taken: BTreeSet<String> = files.iter().map(|file| file.name.clone()).chain([CASE.into()]).collect();
        if is_plain(self.title()) {
            put(&mut root, "name", Kind::Text(self.title().to_string()));
        }
        put(&mut root, "spec", Kind::Text(spec.to_string()));
        for (name, table) in &self.tables {
            taken.insert(name.clone());
            files.push(InputFile { name: name.clone(), bytes: table.bytes.clone() });
        }
        let solids = root.entries.iter_mut().find(|entry| entry.key == "solids").map(|entry| &mut entry.value.kind);
        let tables = if let Some(Kind::List(list)) = solids { &mut list[..] } else { &mut [] };
        for (solid, value) in self.solids.iter().zip(tables) {
            let (shape, Kind::Table(table)) = (&solid.value.shape, &mut value.kind) else { continue };
            let (RawShape::Stl { file, bytes, .. } | RawShape::Image { file, bytes, .. }) = shape else { continue };
            let name = match shape {
                // The voxels of pictures are in one file, which has two values.
                RawShape::Image { kind: image::Kind::Png, .. } => {
                    table.entries.retain(|entry| !["solid", "threshold"].contains(&&entry.key[..]));
                    file.value.replace('*', "stack") + ".nrrd"
                }
                _ => file.value.clone(),
            };
            put(table, "file", Kind::Text(copied(&mut files, &mut taken, &name, bytes)));
        }
        let start = root.entries.iter_mut().find(|entry| entry.key == "start").map(|entry| &mut entry.value.kind);
        let entries = if let Some(Kind::Table(table)) = start { &mut table.entries[..] } else { &mut [] };
        for RawStart { key, given, .. } in &self.start {
            let RawGiven::File { file, bytes, .. } = given else { continue };
            let Some(entry) = entries.iter_mut().find(|entry| entry.key == key.value) else { continue };
            let Kind::Table(table) = &mut entry.value.kind else { continue };
            put(table, "file", Kind::Text(copied(&mut files, &mut taken, &file.value, bytes)));
        }
        let reads: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let mut text = heading(&reads);
        write(&mut text, &root, "");
        files.insert(0, InputFile { name: CASE.to_string(), bytes: text.into_bytes() });
        files
    }
}

/// Adds a copy of a file, unless there is one; returns what it is called.
fn copied(files: &mut Vec<InputFile>, taken: &mut BTreeSet<String>, file: &str, bytes: &[u8]) -> String {
    let own = file.rsplit(['/', '\\']).next().unwrap_or(file).replace([',', '\n', '\r'], "_");
    if let Some(known) = files.iter().find(|known| known.bytes == bytes && known.name.ends_with(&own)) {
        return known.name.clone();
    }
    // The files that a run writes have other names.
    let own = if is_written(&own) { format!("input_{own}") } else { own };
    let numbered = (2..).map(|number| format!("{number}_{own}"));
    let name = std::iter::once(own.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(name.clone());
    files.push(InputFile { name: name.clone(), bytes: bytes.to_vec() });
    name
}

/// Sets a key of a table, before all others if it is new.
fn put(table: &mut Table, key: &str, kind: Kind) {
    match table.entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => entry.value.kind = kind,
        None => {
            let span: Span = table.span.clone();
            let value = Value { span: span.clone(), kind };
            table.entries.insert(0, Entry { key: key.to_string(), span, value });
        }
    }
}

/// Writes a table as TOML: its values, then the tables in it under headings of their own.
fn write(text: &mut String, table: &Table, path: &str) {
    let is_tables = |list: &[Value]| !list.is_empty() && list.iter().all(|value| matches!(value.kind, Kind::Table(_)));
    let below = |name: &str| if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
    for entry in &table.entries {
        match &entry.value.kind {
            Kind::Table(_) => {}
            Kind::List(list) if path.is_empty() && is_tables(list) => {}
            kind => *text += &format!("{} = {}\n", key(&entry.key), inline(kind)),
        }
    }
    for entry in &table.entries {
        match &entry.value.kind {
            // A table may be defined by a key with dots as well as by a heading; both are tables here.
            Kind::Table(inner) => {
                *text += &format!("\n[{}]\n", below(&entry.key));
                write(text, inner, &below(&entry.key));
            }
            Kind::List(list) if path.is_empty() && is_tables(list) => {
                for value in list {
                    let Kind::Table(inner) = &value.kind else { continue };
                    *text += &format!("\n[[{}]]\n", below(&entry.key));
                    write(text, inner, &below(&entry.key));
                }
            }
            _ => {}
        }
    }
}

/// A value on a line.
fn inline(kind: &Kind) -> String {
    match kind {
        Kind::Text(text) => toml::Value::String(text.clone()).to_string(),
        Kind::Integer(number) => number.to_string(),
        // The shortest digits that are this number, and a point or an exponent, which make it no integer.
        Kind::Float(number) => format!("{number:?}"),
        Kind::Bool(truth) => truth.to_string(),
        // No key takes one.
        Kind::Date => String::from("\"a date\""),
        Kind::List(list) => {
            format!("[{}]", list.iter().map(|value| inline(&value.kind)).collect::<Vec<_>>().join(", "))
        }
        Kind::Table(table) => {
            let pair = |entry: &Entry| format!("{} = {}", key(&entry.key), inline(&entry.value.kind));
            format!("{{ {} }}", table.entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A key, in quotation marks where it needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { name.to_string() } else { toml::Value::String(name.to_string()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
spec = "methods/own.lbm"
block = [8, 8]
precision = "f64"
[domain]
size = [32, 16]
[fluid]
re = 100
[params]
magic = 1.0
[faces]
top.rule = "moving_wall"
top.velocity = ["0.1 * sin(2*pi*x/lx)", 1e-300]
others = "bounce_back"
[start]
density = "1 + 1e-3 * \"x\" \\ \t"
[stop]
steps = 10
[[solids]]
shape = "stl"
file = "a/body.stl"
rule = "bounce_back"
shells = [{ level = 1, within = 4 }]
[[solids]]
shape = "stl"
file = "b/body.stl"
rule = "bounce_back"
[[solids]]
shape = "stl"
file = "c/body.stl"
rule = { "odd key" = 1 }
"#;

    /// Every value of a table by its path.
    fn values(text: &str) -> std::collections::BTreeMap<String, String> {
        let mut report = super::super::diag::Report::default();
        let table = super::super::tree::parse("case.toml", text, &[], &|_| None, &mut report);
        report.finish("case.toml", Some(table)).expect("TOML").0.values(&[])
    }

    #[test]
    fn a_case_that_is_written_is_the_case_that_was_read() {
        let mut report = super::super::diag::Report::default();
        let table = super::super::tree::parse("case.toml", TEXT, &[], &|_| None, &mut report);
        let (table, _) = report.finish("case.toml", Some(table)).expect("TOML");
        let mut text = heading(&[]);
        write(&mut text, &table, "");
        assert_eq!(values(&text), values(TEXT), "{text}");
    }

    #[test]
    fn only_a_case_that_a_run_has_written_lists_what_it_reads() {
        let names = ["a.lbm".to_string(), "b.stl".to_string()];
        assert_eq!(listed_inputs(heading(&names).as_bytes()), ["a.lbm", "b.stl", CASE]);
        assert_eq!(listed_inputs(heading(&["../x".into(), "b".into()]).as_bytes()), ["b", CASE]);
        assert!(listed_inputs(TEXT.as_bytes()).is_empty());
    }

    #[test]
    fn overrides_and_copies_of_what_it_reads_are_in_it() {
        let text = TEXT.replace("{ \"odd key\" = 1 }", "\"bounce_back\"").replace("\\\"x\\\" \\\\ \\t", "x");
        let set = [("re".to_string(), "400".to_string()), ("spec".to_string(), "x/other.lbm".to_string())];
        let mut raw = RawCase::parse("cases/flow.toml", &text, &set).expect("valid");
        let stl = |name: &str| {
            // Two of the three are the same surface.
            let far = if name.starts_with('b') { "2" } else { "1" };
            let corner = ["0 0 0", "1 0 0", "0 1 0", &format!("0 0 {far}")].map(|corner| format!("vertex {corner}\n"));
            let [a, b, c, d] = &corner;
            let faces = [[a, c, b], [a, b, d], [b, c, d], [a, d, c]]
                .map(|[a, b, c]| format!("facet normal 0 0 0\nouter loop\n{a}{b}{c}endloop\nendfacet\n"));
            Ok(format!("solid s\n{}endsolid s\n", faces.concat()).into_bytes())
        };
        raw.load(stl).expect("surfaces");
        let files = raw.inputs("other.lbm", vec![InputFile { name: "other.lbm".into(), bytes: b"spec".to_vec() }]);
        let names: Vec<&str> = files.iter().map(|file| &file.name[..]).collect();
        assert_eq!(names, [CASE, "other.lbm", "body.stl", "2_body.stl"]);
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        let values = values(&text);
        assert_eq!((&values["name"][..], &values["fluid.re"][..]), ("\"flow\"", "400"), "{text}");
        assert_eq!(values["spec"], "\"other.lbm\"");
        assert_eq!(listed_inputs(text.as_bytes()), ["other.lbm", "body.stl", "2_body.stl", CASE]);
        let again = RawCase::parse("out/case.toml", &text, &[]).expect("valid");
        let surfaces: Vec<&str> = again
            .solids
            .iter()
            .filter_map(|solid| match &solid.value.shape {
                RawShape::Stl { file, .. } => Some(&file.value[..]),
                _ => None,
            })
            .collect();
        assert_eq!(surfaces, ["body.stl", "2_body.stl", "body.stl"]);
    }

    /// Two grey pictures of 2 x 2 pixels.
    fn picture(pixels: [u8; 4]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 2);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels)).expect("memory takes all");
        file
    }

    #[test]
    fn a_stack_of_pictures_is_copied_as_one_image() {
        let solids = &TEXT[TEXT.find("[[solids]]").expect("solids")..];
        let image = "[[solids]]\nshape = \"image\"\nfile = \"s/slice_*.png\"\nsolid = \"below\"\nthreshold = 100\nrule = \"bounce_back\"\n";
        let text = TEXT.replace(solids, image).replace("[32, 16]", "[32, 16, 8]").replace("\\\"x\\\" \\\\ \\t", "x");
        let voxels = |raw: &RawCase| match &raw.solids[0].value.shape {
            RawShape::Image { voxels, .. } => voxels.clone().expect("they were read"),
            other => panic!("{other:?}"),
        };
        let mut raw = RawCase::parse("flow.toml", &text, &[]).expect("valid");
        let names = ["s/slice_1.png", "s/slice_2.png"].map(String::from);
        raw.find_stacks(|pattern| (pattern == "s/slice_*.png").then(|| names.to_vec()).ok_or("none".into()))
            .expect("a stack");
        raw.load(|name| Ok(picture(if name == names[0] { [0, 99, 101, 255] } else { [255, 255, 255, 0] })))
            .expect("images");
        assert_eq!(voxels(&raw).solid().collect::<Vec<_>>(), [false, false, true, true, false, true, false, false]);
        let files = raw.inputs("own.lbm", vec![]);
        let [_, copy] = &files[..] else { panic!("{files:?}") };
        assert_eq!(copy.name, "slice_stack.png.nrrd");
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        let mut again = RawCase::parse("out/case.toml", &text, &[]).expect("valid");
        again.load(|name| if name == copy.name { Ok(copy.bytes.clone()) } else { Err(name.into()) }).expect("the copy");
        assert_eq!(voxels(&again), voxels(&raw));
    }
}
