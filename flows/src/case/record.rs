//! A case as it was run, in a form that can be run again: for the folder of its results.
//!
//! Every override is in it, its name, and the names of the copies of what it reads: the spec, its modules, tables, surfaces, images, fields.
//! Copies lie in a folder of their own under names that are chosen here, so that no case says what a file is called.

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::plain::shown_line;

use super::diag::Span;
use super::image;
use super::keys::faces::RawFace;
use super::keys::shapes::RawShape;
use super::keys::start::{RawGiven, RawStart};
use super::raw::RawCase;
use super::results::{CASE, INPUTS, is_plain};
use super::tree::{Entry, Kind, Table, Value};

/// How such a case begins.
const HEADING: &str = "# A case as it was run, every `--set` applied: `lbmc run` makes its results again.\n";

/// A file that a run is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Its name in the folder of the results.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Copies of what a case reads.
#[derive(Default)]
struct Copies {
    files: Vec<InputFile>,
    /// The name of each, without the folder.
    taken: BTreeSet<String>,
    /// What they are copies of, a line each.
    origins: String,
}

impl Copies {
    /// Adds a copy with the first free name of `kind` with a number; of files with the same content there is one. Returns what it is called.
    fn add(&mut self, kind: &str, ending: &str, of: &str, bytes: &[u8]) -> String {
        let same = |file: &&InputFile| file.bytes == bytes && file.name.ends_with(ending);
        if let Some(known) = self.files.iter().find(same) {
            return known.name.clone();
        }
        let numbered = (1..).map(|number| format!("{kind}_{number}.{ending}"));
        let name = numbered.into_iter().find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.put(&name, of, bytes)
    }

    /// Adds a copy with a name that is free.
    fn put(&mut self, name: &str, of: &str, bytes: &[u8]) -> String {
        let path = format!("{INPUTS}/{name}");
        if path != of && name != of {
            self.origins += &format!("# {path}: {}\n", shown_line(of));
        }
        self.taken.insert(name.to_string());
        self.files.push(InputFile { name: path.clone(), bytes: bytes.to_vec() });
        path
    }
}

/// What a method's file is called: its own name as far as that is letters and digits.
fn name_of_method(file: &str) -> String {
    let stem = file.strip_suffix(".lbm").unwrap_or(file);
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    stem.chars().map(plain).collect()
}

impl RawCase {
    /// The files that make this case again: itself, its method, and the tables, surfaces, images and fields that it reads. `method` has the file
    /// of the spec and then those of its modules.
    pub fn inputs(&self, method: &[InputFile]) -> Vec<InputFile> {
        let mut root = self.root.clone();
        let mut copies = Copies::default();
        if let [spec, modules @ ..] = method {
            // A spec finds modules by their names.
            let modules: Vec<&InputFile> = modules.iter().filter(|module| *module != spec).collect();
            copies.taken.extend(modules.iter().map(|module| module.name.clone()));
            let own = name_of_method(&spec.name);
            let mut names = std::iter::once(format!("{own}.lbm")).chain((2..).map(|at| format!("{own}_{at}.lbm")));
            let name = names.find(|name| !copies.taken.contains(name)).unwrap_or_default();
            put(&mut root, "spec", Kind::Text(copies.put(&name, &spec.name, &spec.bytes)));
            for module in modules {
                copies.put(&module.name, &module.name, &module.bytes);
            }
        }
        let tables =
            self.tables.iter().map(|(file, table)| (file.clone(), copies.add("table", "csv", file, &table.bytes)));
        let tables: BTreeMap<String, String> = tables.collect();
        root.entries.iter_mut().for_each(|entry| rename_tables(&mut entry.value.kind, &tables));
        let solids = root.entries.iter_mut().find(|entry| entry.key == "solids").map(|entry| &mut entry.value.kind);
        let list = if let Some(Kind::List(list)) = solids { &mut list[..] } else { &mut [] };
        for (solid, value) in self.solids.iter().zip(list) {
            let (shape, Kind::Table(table)) = (&solid.value.shape, &mut value.kind) else { continue };
            let name = match shape {
                RawShape::Stl { file, bytes, .. } => copies.add("surface", "stl", &file.value, bytes),
                RawShape::Image { file, bytes, kind, .. } => {
                    // The voxels of pictures are in one file, which has two values.
                    if *kind == image::Kind::Png {
                        table.entries.retain(|entry| !["solid", "threshold"].contains(&&entry.key[..]));
                    }
                    let ending = if *kind == image::Kind::Raw { "raw" } else { "nrrd" };
                    copies.add("image", ending, &file.value, bytes)
                }
                _ => continue,
            };
            put(table, "file", Kind::Text(name));
        }
        let start = root.entries.iter_mut().find(|entry| entry.key == "start").map(|entry| &mut entry.value.kind);
        let entries = if let Some(Kind::Table(table)) = start { &mut table.entries[..] } else { &mut [] };
        for RawStart { key, given, .. } in &self.start {
            let RawGiven::File { file, bytes, .. } = given else { continue };
            let Some(entry) = entries.iter_mut().find(|entry| entry.key == key.value) else { continue };
            let Kind::Table(table) = &mut entry.value.kind else { continue };
            let ending = ["npy", "vti", "vtu", "lbmc"].into_iter().find(|ending| file.value.ends_with(ending));
            put(table, "file", Kind::Text(copies.add("field", ending.unwrap_or("bin"), &file.value, bytes)));
        }
        let played = self.faces().flat_map(RawFace::all).filter_map(|face| face.played.as_ref());
        for file in played.map(|played| &played.value.file.value).collect::<BTreeSet<_>>() {
            copies.origins +=
                &format!("# It reads the recording `{}`, of which there is no copy here.\n", shown_line(file));
        }
        if is_plain(self.title()) {
            put(&mut root, "name", Kind::Text(self.title().to_string()));
        }
        let mut text = format!("{HEADING}{}", copies.origins);
        write(&mut text, &root, "");
        let case = InputFile { name: CASE.to_string(), bytes: text.into_bytes() };
        std::iter::once(case).chain(copies.files).collect()
    }
}

/// Gives tables in formulas other names: what stands in quotation marks in a formula is the name of a table.
fn rename_tables(kind: &mut Kind, names: &BTreeMap<String, String>) {
    match kind {
        Kind::Text(text) if names.keys().any(|name| text.contains(&format!("\"{name}\""))) => {
            let quoted = |(at, part): (usize, &str)| match names.get(part) {
                Some(name) if at % 2 == 1 => name.clone(),
                _ => part.to_string(),
            };
            *text = text.split('"').enumerate().map(quoted).collect::<Vec<_>>().join("\"");
        }
        Kind::List(list) => list.iter_mut().for_each(|value| rename_tables(&mut value.kind, names)),
        Kind::Table(table) => table.entries.iter_mut().for_each(|entry| rename_tables(&mut entry.value.kind, names)),
        _ => {}
    }
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
        let mut report = crate::case::diag::Report::default();
        let table = crate::case::tree::parse("case.toml", text, &mut report).0;
        report.finish("case.toml", Some(table)).expect("TOML").0.values(&[])
    }

    #[test]
    fn a_case_that_is_written_is_the_case_that_was_read() {
        let mut report = crate::case::diag::Report::default();
        let table = crate::case::tree::parse("case.toml", TEXT, &mut report).0;
        let (table, _) = report.finish("case.toml", Some(table)).expect("TOML");
        let mut text = HEADING.to_string();
        write(&mut text, &table, "");
        assert_eq!(values(&text), values(TEXT), "{text}");
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
        let method = ["o-ther.lbm", "own.lbm"].map(|name| InputFile { name: name.into(), bytes: name.into() });
        let files = raw.inputs(&method);
        let names: Vec<&str> = files.iter().map(|file| &file.name[..]).collect();
        let copies = ["inputs/o_ther.lbm", "inputs/own.lbm", "inputs/surface_1.stl", "inputs/surface_2.stl"];
        assert_eq!((names[0], &names[1..]), (CASE, &copies[..]));
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        let values = values(&text);
        assert_eq!((&values["name"][..], &values["fluid.re"][..]), ("\"flow\"", "400"), "{text}");
        assert_eq!(values["spec"], "\"inputs/o_ther.lbm\"");
        // It says which is which; the module is called as it was.
        let origins: Vec<&str> = text.lines().skip(1).take_while(|line| line.starts_with("# ")).collect();
        let expected = [
            "# inputs/o_ther.lbm: o-ther.lbm",
            "# inputs/surface_1.stl: a/body.stl",
            "# inputs/surface_2.stl: b/body.stl",
        ];
        assert_eq!(origins, expected);
        let again = RawCase::parse("out/case.toml", &text, &[]).expect("valid");
        let surfaces: Vec<&str> = again
            .solids
            .iter()
            .filter_map(|solid| match &solid.value.shape {
                RawShape::Stl { file, .. } => Some(&file.value[..]),
                _ => None,
            })
            .collect();
        assert_eq!(surfaces, ["inputs/surface_1.stl", "inputs/surface_2.stl", "inputs/surface_1.stl"]);
    }

    #[test]
    fn copies_of_tables_have_other_names_and_formulas_read_them() {
        let text = TEXT
            .replace("0.1 * sin(2*pi*x/lx)", "0.1 * table(\\\"authorized_keys\\\", t) + 0*table(\\\"b/c.csv\\\",t)");
        let text = &text[..text.find("[[solids]]").expect("solids")].replace("\\\"x\\\" \\\\ \\t", "x");
        let mut raw = RawCase::parse("flow.toml", text, &[]).expect("valid");
        raw.load(|name| Ok(format!("# {name}\n0, 1\n1, 2\n").into_bytes())).expect("tables");
        let files = raw.inputs(&[]);
        let names: Vec<&str> = files.iter().map(|file| &file.name[..]).collect();
        assert_eq!(names, [CASE, "inputs/table_1.csv", "inputs/table_2.csv"]);
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        assert!(text.contains("# inputs/table_1.csv: authorized_keys\n"), "{text}");
        let mut again = RawCase::parse("out/case.toml", &text, &[]).expect("valid");
        let read = |name: &str| {
            let file = files.iter().find(|file| file.name == name).ok_or(name)?;
            Ok(file.bytes.clone())
        };
        again.load(read).expect("the copies");
        // Whatever files are called: the flow is the same.
        assert_eq!(again.keys, raw.keys);
        assert_eq!(again.inputs(&[]).len(), 3);
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
        let files = raw.inputs(&[]);
        let [_, copy] = &files[..] else { panic!("{files:?}") };
        assert_eq!(copy.name, "inputs/image_1.nrrd");
        let text = String::from_utf8(files[0].bytes.clone()).expect("text");
        let mut again = RawCase::parse("out/case.toml", &text, &[]).expect("valid");
        again.load(|name| if name == copy.name { Ok(copy.bytes.clone()) } else { Err(name.into()) }).expect("the copy");
        assert_eq!(voxels(&again), voxels(&raw));
    }
}
