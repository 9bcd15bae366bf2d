//! Layers of a crate know only those below: no source imports a module above its own.

use std::path::{Path, PathBuf};

/// Top-level modules of crates, each of which may import those before it.
const LAYERS: [(&str, &[&str]); 2] = [
    ("runtime", &["file", "geometry", "device", "kernels", "mesh", "solver"]),
    ("flows", &["case", "output", "restart", "flow"]),
];

/// Modules that only tests import, and may import all.
const FIXTURE: &str = "fixture";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_path_buf()
}

/// All sources in a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    let of = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    };
    paths.into_iter().flat_map(of).filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// The module of a source: `[solver, step]` of `solver/step.rs`, none of `lib.rs`.
fn module(source: &Path) -> Vec<String> {
    let parts = source.with_extension("");
    let parts = parts.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "mod" && part != "lib" && part != "main").collect()
}

/// The top-level modules that a line of a module refers to, by `crate::` or by as many `super::` as lead out of the module.
fn imports(line: &str, module: &[String]) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    // Modules inside a file, as of tests, are a level deeper.
    let depth = module.len() + usize::from(line.starts_with(' '));
    // Several at once, `{mesh, solver}`, are no layer's name.
    let name = |text: &str| text.chars().take_while(|letter| !":;,() ".contains(*letter)).collect();
    let by_crate = code.split("crate::").skip(1).map(name);
    let out = "super::".repeat(depth);
    let by_super = code.split(&out).skip(1).map(name);
    by_crate.chain(by_super.filter(|name: &String| name != "super")).collect()
}

/// What is wrong with the imports of a crate, a line each.
fn upward(folder: &str, layers: &[&str]) -> Vec<String> {
    let source_folder = root().join(folder).join("src");
    let mut wrong = vec![];
    for path in sources(&source_folder) {
        let inside = path.strip_prefix(&source_folder).expect("it lies there");
        let module = module(inside);
        let Some(layer) = module.first().filter(|layer| *layer != FIXTURE) else { continue };
        let position = |name: &str| layers.iter().position(|layer| *layer == name);
        let own = position(layer).unwrap_or_else(|| panic!("{folder}: which layer is `{layer}`?"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (number, line) in text.lines().enumerate() {
            for name in imports(line, &module).into_iter().filter(|name| name != FIXTURE) {
                if position(&name).is_none_or(|imported| imported > own) {
                    let place = format!("{folder}/src/{}:{}", inside.display(), number + 1);
                    wrong.push(format!("{place}: `{layer}` imports `{name}`, which is no layer below it"));
                }
            }
        }
    }
    wrong
}

#[test]
fn no_layer_imports_one_above_it() {
    let wrong: Vec<String> = LAYERS.iter().flat_map(|(folder, layers)| upward(folder, layers)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_found_however_they_are_written() {
    let module = ["mesh".to_string(), "forest".to_string()];
    let found = |line: &str| imports(line, &module).join(" ");
    assert_eq!(found("use crate::solver::{Simulation, fields};"), "solver");
    assert_eq!(found("pub(crate) use crate::case::Case;"), "case");
    assert_eq!(found("    let face = crate::geometry::Face::ALL;"), "geometry");
    assert_eq!(found("use super::super::flow::run;"), "flow");
    assert_eq!(found("use super::roots; // not crate::solver"), "");
    assert_eq!(found("    use super::super::adapt;"), "");
    assert_eq!(found("use crate::{case, output};"), "{case");
}
