//! CUDA text expects the launches that the signatures ask for: no test without a GPU would see a difference otherwise.

use lbm_bundle::{Layout, Manifest, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::{mesh, pipeline};
use lbm_tests::{compiled, root};

/// Whether a kernel's launch bound is this number of threads, and its thread blocks begin with this item times their number. Gives the
/// text of the kernel.
fn check<'a>(text: &'a str, symbol: &str, threads: u32, items: Option<u32>) -> &'a str {
    let at = text.find(&format!(")\n{symbol}(\n")).unwrap_or_else(|| panic!("there is no {symbol}"));
    let at = text[..at].rfind("__launch_bounds__(").expect("it has bounds");
    let bound = format!("__launch_bounds__({threads}");
    let behind =
        text[at..].strip_prefix(&bound).unwrap_or_else(|| panic!("{symbol} is not bounded by {threads} threads"));
    assert!(behind.starts_with(')') || behind.starts_with(", RESIDENT("), "bounds of {symbol}");
    let kernel = &text[at..];
    let kernel = &kernel[..kernel.find("\n}\n").expect("it ends")];
    let factor = |(at, found): (usize, &str)| {
        let behind = kernel[at + found.len()..].strip_prefix(" * ").unwrap_or("1;");
        behind[..behind.find(|c: char| !c.is_ascii_digit()).expect("a statement goes on")].parse().expect("a number")
    };
    // The number of a thread block in its pass: its own, or that of the place in the grid that it is given.
    let numbers = ["blockIdx.x", "place % gridDim.x"].into_iter().flat_map(|number| kernel.match_indices(number));
    let found: Vec<u32> = numbers.map(factor).collect();
    assert_eq!(found, Vec::from_iter(items), "items of a thread block of {symbol}");
    assert!(!kernel.contains("blockDim"), "{symbol} asks how it was launched");
    kernel
}

fn check_all(manifest: &Manifest, text: &str) {
    for kernel in &manifest.kernels {
        let body = check(text, &kernel.symbol, kernel.threads, Some(kernel.items_per_group));
        assert_eq!(body.contains("place / gridDim.x"), kernel.passes > 1, "passes of {}", kernel.symbol);
    }
}

#[test]
fn checked_in_kernels_expect_the_launches_of_their_manifests() {
    let read = |name: String| std::fs::read_to_string(root().join("generated").join(name)).expect("checked in");
    for spec in compiled::specs() {
        let manifest = Manifest::from_json(&read(format!("{spec}.json"))).expect("a manifest");
        check_all(&manifest, &read(format!("{spec}.cu")));
    }
}

/// With several blocks of cells for a thread block, with one, and with fewer threads than cells.
#[test]
fn kernels_of_level_jumps_and_solids_expect_the_launches_of_their_manifests() {
    for coupling in ["volumetric_shifted", "interpolated_means"] {
        let model = compiled::model_with_all("d2q9_bgk", &["free_slip", "zou_he_pressure"], Some(coupling));
        let plans = pipeline::plan(&model, Layout::Blocks, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        for (real, side) in [(Real::F32, 4), (Real::F64, 8), (Real::F32, 16), (Real::F64, 32)] {
            let (target, layout, block) = (Target::Cuda, Layout::Blocks, [side, side, 1]);
            let options = Options { target, real, layout, block, coupling: Some(0), solids: true };
            let bundle = plans.emit(&options).unwrap_or_else(|error| panic!("{error}")).bundle;
            check_all(&bundle.manifest, &bundle.source.text);
        }
    }
}

#[test]
fn mesh_kernels_expect_the_launches_of_their_manifests() {
    for dim in [2, 3] {
        let bundle = mesh::bundle(dim, Target::Cuda);
        for kernel in &bundle.manifest.kernels {
            check(&bundle.source.text, &kernel.symbol, kernel.threads, kernel.divisible.then_some(kernel.threads));
        }
    }
}
