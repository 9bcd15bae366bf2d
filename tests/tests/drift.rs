//! `generated/` equals fresh output, byte for byte, and holds nothing else.

use std::collections::BTreeMap;

use lbm_bundle::Real;
use lbm_codegen::{cutting, mesh};
use lbm_tests::{compiled, root, update};

#[test]
fn generated_files_are_what_the_compiler_emits() {
    let folder = root().join("generated");
    let mut fresh: BTreeMap<String, String> = BTreeMap::new();
    for spec in compiled::specs() {
        fresh.extend(compiled::files(spec, Real::F32).into_iter().map(|file| (file.name, file.text)));
    }
    let of_dimension = |dim| mesh::files(dim).into_iter().chain(cutting::files(dim));
    fresh.extend([2, 3].into_iter().flat_map(of_dimension).map(|file| (file.name, file.text)));
    fresh.insert("lib.rs".into(), list_of_specs());
    if update() {
        for (name, text) in &fresh {
            std::fs::write(folder.join(name), text).expect("generated/ can be written");
        }
    }
    let mut drifted = Vec::new();
    for (name, text) in &fresh {
        if std::fs::read_to_string(folder.join(name)).ok().as_ref() != Some(text) {
            drifted.push(name.clone());
        }
    }
    for entry in std::fs::read_dir(&folder).expect("generated/ exists") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name != "Cargo.toml" && !fresh.contains_key(&name) {
            drifted.push(format!("{name} (no spec emits it: delete it)"));
        }
    }
    assert!(
        drifted.is_empty(),
        "generated/ differs from what the compiler emits now; look at the change with\n    \
         LBMC_UPDATE=1 cargo test -p lbm-tests drift:: && git diff generated\n\
         and check it in. Different: {}",
        drifted.join(", ")
    );
}

/// The crate's front page: a module per spec.
fn list_of_specs() -> String {
    let mut text = String::from(
        "//! The shipped kernels, checked in: CUDA, C, a C header, typed Rust launches and a manifest for each spec.\n\
         //!\n\
         //! Written by `LBMC_UPDATE=1 cargo test -p lbm-tests drift::`. The modules hold launches and layout; the\n\
         //! kernels beside them compile with any CUDA or C compiler, without lbmc.\n\
         #![allow(rustdoc::broken_intra_doc_links)]\n\n",
    );
    for spec in compiled::specs() {
        text += &format!("#[rustfmt::skip]\npub mod {spec};\n");
    }
    text
}
