//! All tests of this crate in one program: it is linked once, and a method that several of them need is compiled once. A module for each
//! file of this folder; `cargo test -p lbm-tests walls::` runs those of one.

mod absorbing;
mod across;
mod adapt;
mod adjoint;
mod agree;
mod arrays;
mod blocks;
mod case_ui;
mod checked;
mod compile;
mod convection;
mod coupling;
mod criteria;
mod divided;
mod divided_gradients;
mod drift;
mod editors;
mod examples;
mod faces;
#[path = "flows/main.rs"]
mod flows;
mod fluxes;
#[path = "forest/main.rs"]
mod forest;
mod free;
mod ghosts;
mod gradients;
mod half;
mod half_moments;
mod heat;
mod injection;
mod jump;
mod launch;
mod layers;
mod lengths;
mod levels;
mod macros;
mod means;
mod mirrors;
mod moments;
#[path = "moving/main.rs"]
mod moving;
mod names;
mod neighbours;
mod observables;
mod one_set;
mod order;
mod output;
mod padding;
mod parts;
mod patches;
mod places;
mod power_law;
mod prescribed;
mod probes;
mod recordings;
mod refined_gradients;
mod resume;
mod rounding;
mod scalar;
mod slides;
mod soa;
mod solids;
mod specs;
mod states;
mod statistics;
mod stored;
mod stream;
mod surfaces;
mod turbulence;
mod ui;
mod walls;

/// A file beside this one that no line above names would never run.
#[test]
fn every_file_of_tests_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let stems = entries.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned());
    let own = include_str!("all.rs");
    let missing: Vec<String> =
        stems.filter(|stem| stem != "all" && !own.lines().any(|line| line == format!("mod {stem};"))).collect();
    assert!(missing.is_empty(), "no `mod` for {missing:?}");
}
