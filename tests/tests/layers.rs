//! Layers of a folder know only those below: no source imports a module above its own, so that no imports go in a circle.

use std::path::{Path, PathBuf};

/// Modules of folders, each of which may import those before it.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "lbm-dsl/src",
        &[
            "rational",
            "source",
            "unit",
            "function",
            "lattice",
            "expr",
            "derivative",
            "polynomial",
            "ast",
            "absorb",
            "vary",
            "diag",
            "lexer",
            "parser",
            "shipped",
            "model",
            "prove",
            "check",
            "compile",
            "format",
            "latex",
            "reading",
        ],
    ),
    (
        "lbm-dsl/src/prove",
        &[
            "budget",
            "known",
            "random",
            "residue",
            "poly",
            "ratio",
            "series",
            "laws",
            "unread",
            "moments",
            "viscosity",
            "levels",
            "linear",
            "stability",
            "modes",
            "edge",
            "inviscid",
            "noise",
            "faces",
            "channel",
            "ends",
            "step",
            "pair",
            "reflection",
        ],
    ),
    ("lbm-dsl/src/prove/moments", &["slopes", "basis", "dependence", "stored"]),
    (
        "lbm-dsl/src/check",
        &[
            "program",
            "names",
            "value",
            "naming",
            "arith",
            "lattices",
            "elaborate",
            "call",
            "stencils",
            "formulas",
            "stored",
            "build",
            "walls",
            "couplings",
            "criteria",
            "neighbours",
            "physics",
        ],
    ),
    ("runtime/src", &["program", "file", "processes", "geometry", "device", "kernels", "mesh", "solver"]),
    (
        "runtime/src/solver",
        &[
            "error",
            "observe",
            "spec",
            "plan",
            "arrays",
            "halo",
            "inbox",
            "solids",
            "subdomain",
            "decomposition",
            "step",
            "remesh",
            "simulation",
            "measure",
            "state",
            "adjoint",
            "setup",
            "sizes",
            "tests",
        ],
    ),
    ("runtime/src/solver/plan", &["phase", "task", "accesses"]),
    (
        "runtime/src/solver/arrays",
        &["walls", "params", "prescribed", "cells", "digits", "places", "pages", "fields", "statistics", "memory"],
    ),
    (
        "runtime/src/solver/solids",
        &["levels", "surfaces", "layers", "slides", "exchanges", "moving", "bodies", "sliding", "rows", "motion"],
    ),
    (
        "runtime/src/solver/measure",
        &["snapshot", "gather", "velocity", "stencil", "probe", "at_points", "monitor", "statistics", "capture"],
    ),
    ("flows/src", &["case", "output", "restart", "page", "watch", "flow"]),
    ("flows/src/page", &["html", "table"]),
    ("flows/src/watch", &["budget", "ask", "desk", "section", "surface", "folder", "show"]),
    (
        "flows/src/case",
        &[
            "diag",
            "explain",
            "words",
            "devices",
            "formula",
            "units",
            "results",
            "image",
            "table",
            "slice",
            "vtk",
            "region",
            "walls",
            "reference",
            "quantity",
            "refinement",
            "heat",
            "layer",
            "solids",
            "fluxes",
            "statistics",
            "probes",
            "pictures",
            "views",
            "report",
            "recording",
            "output",
            "saved",
            "samples",
            "mixing",
            "start",
            "sound",
            "density",
            "tree",
            "takes",
            "keys",
            "schema",
            "cursor",
            "address",
            "overrides",
            "stop",
            "gradient",
            "resolved",
            "bodies",
            "sources",
            "varied",
            "raw",
            "absorbing",
            "vary",
            "load",
            "record",
            "read",
            "resolve",
            "fuzz",
        ],
    ),
    (
        "flows/src/case/keys",
        &[
            "reader",
            "table",
            "given",
            "values",
            "lists",
            "top",
            "units",
            "domain",
            "params",
            "fluid",
            "recordings",
            "turbulence",
            "faces",
            "absorbing",
            "patches",
            "start",
            "stop",
            "shapes",
            "free",
            "layer",
            "solids",
            "refinement",
            "output",
            "fields",
            "report",
            "probes",
            "pictures",
            "views",
            "statistics",
            "fluxes",
            "gradient",
        ],
    ),
    (
        "flows/src/case/resolve",
        &[
            "resolver",
            "values",
            "fields",
            "domain",
            "recordings",
            "turbulence",
            "faces",
            "fluid",
            "free",
            "layer",
            "motion",
            "shapes",
            "solids",
            "thickness",
            "start",
            "refinement",
            "statistics",
            "probes",
            "fluxes",
            "pictures",
            "output",
            "report",
            "gradient",
            "results",
        ],
    ),
    (
        "flows/src/output",
        &[
            "bits",
            "csv",
            "error",
            "lock",
            "owned",
            "sink",
            "tables",
            "average",
            "colours",
            "canvas",
            "axes",
            "contours",
            "chart",
            "bars",
            "derived",
            "march",
            "hull",
            "isosurface",
            "tubes",
            "raster",
            "section",
            "plane",
            "streamlines",
            "overlay",
            "film",
            "flux",
            "profile",
            "flux_planes",
            "probes",
            "plot",
            "series",
            "heat",
            "forces",
            "settling",
            "mass",
            "heading",
            "scale",
            "picture",
            "camera",
            "views",
            "mesh",
            "gallery",
            "vtk",
            "surfaces",
            "summary",
            "report",
            "units",
            "progress",
            "derivatives",
            "recorded",
            "recorder",
        ],
    ),
    (
        "flows/src/output/recorder",
        &[
            "output",
            "fields",
            "profiles",
            "residual",
            "series",
            "forces",
            "heat",
            "probes",
            "fluxes",
            "recordings",
            "gradient",
            "statistics",
            "surfaces",
            "overview",
            "drawings",
            "films",
            "list",
            "schedule",
            "record",
            "finish",
        ],
    ),
    ("flows/src/restart", &["error", "identity", "course", "head", "check", "read", "write"]),
    (
        "flows/src/flow",
        &[
            "error",
            "control",
            "processes",
            "placement",
            "sound",
            "grid",
            "outbox",
            "watch",
            "mass",
            "setup",
            "backwards",
            "objective",
            "run",
            "gradient",
            "steady",
            "exchanges",
            "sway",
            "probes",
            "statistics",
            "blowup",
            "begin",
            "record",
            "visits",
            "advance",
            "end",
            "complete",
            "describe",
            "plan",
            "devices",
        ],
    ),
    (
        "setup/src",
        &[
            "files",
            "notes",
            "codes",
            "params",
            "cases",
            "rates",
            "spec",
            "walls",
            "stability",
            "alternatives",
            "asked",
            "faces",
            "unstable",
            "findings",
            "crossing",
            "ready",
        ],
    ),
    ("lbmc/src", &["status", "terminal", "interrupt", "notes", "cli", "nvcc", "states", "commands"]),
    (
        "lbmc/src/commands",
        &[
            "bench",
            "boundaries",
            "cases",
            "walls",
            "stability",
            "faces",
            "rounding",
            "check",
            "eval",
            "explain",
            "fmt",
            "gen",
            "lsp",
            "manual",
            "new",
            "report",
            "watch",
            "run",
            "schema",
            "specs",
        ],
    ),
    ("lbmc/src/commands/lsp", &["place", "transport", "found", "answers", "document"]),
    ("lbmc/src/commands/watch", &["pages", "request", "server"]),
    (
        "lbmc/src/commands/bench",
        &[
            "words",
            "peers",
            "record",
            "row",
            "plot",
            "table",
            "flows",
            "uniform",
            "accuracy",
            "cost",
            "couplings",
            "faces",
            "host",
            "papers",
        ],
    ),
    (
        "codegen/src",
        &[
            "options",
            "ir",
            "count",
            "eval",
            "lower",
            "simplify",
            "derive",
            "schedule",
            "relations",
            "emit",
            "mesh",
            "criteria",
            "prescribed",
            "statistics",
            "cutting",
            "range",
            "rounding",
            "pipeline",
        ],
    ),
    (
        "codegen/src/emit",
        &[
            "text",
            "number",
            "function",
            "formula",
            "double",
            "method",
            "target",
            "storage",
            "view",
            "render",
            "banner",
            "constants",
            "gather",
            "items",
            "arithmetic",
            "signature",
            "walls",
            "around",
            "solids",
            "moments",
            "packets",
            "interface",
            "transfer",
            "inbox",
            "ghosts",
            "adjoint",
            "layout",
            "mesh",
            "criteria",
            "prescribed",
            "statistics",
            "cutting",
            "rust",
            "soa",
            "header",
            "bindings",
        ],
    ),
];

/// Where a target is compared with others, or looked up by name: what it is, how text is written for it, what a user asked for.
const ROOMS_OF_TARGETS: [&str; 3] = ["bundle/src/target.rs", "codegen/src/emit/target.rs", "lbmc/src/commands/gen.rs"];

/// Sources that ask for targets by what they can, not by their names.
const OF_ALL_TARGETS: [&str; 8] =
    ["bundle/src", "codegen/src", "runtime/src", "flows/src", "setup/src", "lbmc/src", "python/src", "lbm-macros/src"];

/// What targets have names of their own for, which kernels for all of them know by other names.
const WORDS_OF_TARGETS: [&str; 9] =
    ["cuda", "hip", "threadIdx", "blockIdx", "__sync", "__shared__", "__device__", "atomicAdd", "ballot"];

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

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The names that stand behind a path in a line. Several at once, `{mesh, solver}`, are no layer's name.
fn behind(path: &str, line: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|letter| !":;,() ".contains(*letter)).collect();
    code(line).split(path).skip(1).map(name).collect()
}

/// The modules of a folder that a line `depth` modules deep in it refers to: by the folder's path in the crate, `crate::emit::`, or by
/// as many `super::` as lead out of the module.
fn imports(line: &str, path: &str, depth: usize) -> Vec<String> {
    let by_super = behind(&"super::".repeat(depth), line).into_iter().filter(|name| name != "super");
    behind(path, line).into_iter().chain(by_super).collect()
}

/// What is wrong with the imports of a folder, a line each.
fn upward(folder: &str, layers: &[&str]) -> Vec<String> {
    let source_folder = root().join(folder);
    let inner = folder.split('/').skip(2).map(|part| format!("{part}::"));
    let path_of_folder: String = std::iter::once("crate::".to_string()).chain(inner).collect();
    let mut wrong = vec![];
    for path in sources(&source_folder) {
        let inside = path.strip_prefix(&source_folder).expect("it lies there");
        let module = module(inside);
        let Some(layer) = module.first().filter(|layer| *layer != FIXTURE) else { continue };
        let position = |name: &str| layers.iter().position(|layer| *layer == name);
        let own = position(layer).unwrap_or_else(|| panic!("{folder}: which layer is `{layer}`?"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Modules inside a file, as of tests, are a level deeper.
        let mut depth = module.len();
        for (number, line) in text.lines().enumerate() {
            match line {
                "}" => depth = module.len(),
                _ if line.split(' ').rev().nth(2) == Some("mod") && line.ends_with('{') => depth = module.len() + 1,
                _ => {}
            }
            for name in imports(line, &path_of_folder, depth).into_iter().filter(|name| name != FIXTURE) {
                if position(&name).is_none_or(|imported| imported > own) {
                    let place = format!("{folder}/{}:{}", inside.display(), number + 1);
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
fn what_emits_text_does_not_see_the_model() {
    let folder = root().join("codegen/src/emit");
    for path in sources(&folder) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let names = text.lines().flat_map(|line| behind("lbm_dsl::", line));
        let seen: Vec<String> = names.filter(|name| name == "model" || name.starts_with('{')).collect();
        assert!(seen.is_empty(), "{}: `lbm_dsl::{}`", path.display(), seen.join(", "));
    }
}

/// The templates in one of their folders.
fn templates(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("templates").join(folder)).expect("templates");
    entries.map(|entry| entry.expect("a readable entry").path()).collect()
}

/// Whether a line of a template asks what is stored of a cell.
fn asks_what_is_stored(line: &str) -> bool {
    let asks = line.split("{%").skip(1).filter_map(|tag| tag.split("%}").next());
    let mut asks = asks
        .map(|tag| tag.trim_start_matches(['-', ' ']))
        .filter(|tag| tag.starts_with("if ") || tag.starts_with("elif "));
    asks.any(|tag| {
        tag.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|word| word == "moments" || word == "half")
    })
}

#[test]
fn texts_for_all_do_not_ask_what_is_stored() {
    let mut wrong = vec![];
    for path in templates("shared") {
        let text = std::fs::read_to_string(&path).expect("a template");
        let asks = text.lines().enumerate().filter(|(_, line)| asks_what_is_stored(line));
        wrong.extend(asks.map(|(number, _)| format!("{}:{}", path.display(), number + 1)));
    }
    assert!(wrong.is_empty(), "what differs is in `templates/stored`:\n{}", wrong.join("\n"));
    assert!(
        asks_what_is_stored("{% if half -%}") && asks_what_is_stored("x {%- elif walls and moments %}y{% endif %}")
    );
    assert!(
        !asks_what_is_stored("    if (half) return moments;")
            && !asks_what_is_stored("{% for group in moments.groups %}")
    );
}

#[test]
fn imports_are_found_however_they_are_written() {
    let found = |line: &str| imports(line, "crate::", 2).join(" ");
    assert_eq!(found("use crate::solver::{Simulation, fields};"), "solver");
    assert_eq!(found("pub(crate) use crate::case::Case;"), "case");
    assert_eq!(found("    let face = crate::geometry::Face::ALL;"), "geometry");
    assert_eq!(found("use super::super::flow::run;"), "flow");
    assert_eq!(found("use super::roots; // not crate::solver"), "");
    assert_eq!(found("use crate::{case, output};"), "{case");
    assert_eq!(imports("    use super::super::adapt;", "crate::", 3).join(" "), "");
    assert_eq!(imports("    view: super::view::View,", "crate::emit::", 1).join(" "), "view");
    assert_eq!(imports("use crate::emit::layout::view;", "crate::emit::", 1).join(" "), "layout");
}

/// Whether a line compares a target with one of a name, or has an arm of a match for it.
fn asks_for_a_target(line: &str) -> bool {
    let line = code(line);
    let names = ["Target::Cuda", "Target::C", "Target::Hip"];
    let is_one = |text: &str| {
        let found = names.iter().filter_map(|name| text.strip_prefix(name));
        found.into_iter().any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    let compared = ["== ", "!= "].iter().any(|sign| line.split(sign).skip(1).any(is_one));
    compared || line.contains("=>") && is_one(line.trim_start_matches([' ', '(', '_', ',', '|']))
}

#[test]
fn targets_are_named_in_their_rooms_alone() {
    let mut wrong = vec![];
    for folder in OF_ALL_TARGETS {
        for path in sources(&root().join(folder)) {
            let place = path.strip_prefix(root()).expect("it lies there").display().to_string();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{place}: {error}"));
            let asks = text.lines().enumerate().filter(|(_, line)| asks_for_a_target(line));
            let asks = asks.filter(|_| !ROOMS_OF_TARGETS.contains(&&place[..]));
            wrong.extend(asks.map(|(number, _)| format!("{place}:{}", number + 1)));
        }
    }
    for path in ["shared", "stored"].into_iter().flat_map(templates) {
        let text = std::fs::read_to_string(&path).expect("a template");
        for (number, line) in text.lines().enumerate() {
            let words = code(line).split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            if words.into_iter().any(|word| WORDS_OF_TARGETS.iter().any(|of| word.starts_with(of))) {
                wrong.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "ask `Target` or `Dialect` for what differs:\n{}", wrong.join("\n"));
    assert!(asks_for_a_target("if device.target() == Target::Cuda {") && asks_for_a_target("    (_, Target::C) => 1,"));
}
