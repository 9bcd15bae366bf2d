//! Kernels that are compiled with checks find what is planted in them, and nothing in those that the compiler writes.

use lbm_bundle::{Bundle, Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled::{self, Collision};

fn device() -> Device {
    Device::checked(2).unwrap()
}

fn bundle() -> Bundle {
    compiled::compile(&compiled::model("d2q9_trt"), Target::C, Real::F32, [8, 8, 1]).bundle
}

/// Its text with something else in the place of what is there once.
fn planted(text: &str, with: &str) -> Bundle {
    let mut bundle = bundle();
    assert_eq!(bundle.source.text.matches(text).count(), 1, "`{text}`");
    bundle.source.text = bundle.source.text.replace(text, with);
    bundle
}

/// What stops a flow between walls, in words.
fn found(bundle: &Bundle) -> String {
    let grid = GridSpec::periodic([32, 24, 1]).with_wall(Face::YMin, "bounce_back", &[]).with_wall(
        Face::YMax,
        "moving_wall",
        &[("velocity", &[0.05, 0.0])],
    );
    let params = [("omega".to_string(), vec![1.2]), ("magic".to_string(), vec![0.1875])];
    let run = || {
        let mut flow = Simulation::new(&device(), bundle, &grid, &params)?;
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.02, 0.0]))?;
        flow.run(4)?;
        flow.snapshot().map(|_| ())
    };
    run().err().map_or("nothing".to_string(), |error| error.to_string())
}

#[test]
fn nothing_is_found_in_what_the_compiler_writes() {
    assert_eq!(found(&bundle()), "nothing");
}

#[test]
fn a_wrong_index_is_found_with_kernel_array_and_place() {
    let text = found(&planted(
        "return (size_t)slot * (Q * PITCH) + (size_t)(direction * PITCH + cell);",
        "return (size_t)slot * (Q * PITCH) + (size_t)((direction + 1) * PITCH + cell);",
    ));
    assert!(text.contains("`d2q9_trt_init`") && text.contains("it writes value 6912 of `dst`"), "{text}");
    assert!(text.contains("which has 6912, 0 to 6911"), "{text}");
}

#[test]
fn a_missing_store_is_found_where_nothing_was_written() {
    let text = found(&planted("    store_line(dst + at(slot, 7, begin), after + 7 * LINE, past);\n", ""));
    assert!(text.contains("`d2q9_trt_stream_collide"), "{text}");
    assert!(text.contains("of `src`, which nothing has written"), "{text}");
}

#[test]
fn a_store_to_what_is_given_to_read_is_found() {
    let text = found(&planted(
        "    const int32_t slot = near[4];\n",
        "    const int32_t slot = near[4];\n    ((int32_t *)near)[0] = 0;\n",
    ));
    assert!(text.contains("of `neighbours`, which it is only given to read"), "{text}");
}

#[test]
fn an_index_outside_of_a_local_array_is_found_with_its_line() {
    let bundle = planted("UNROLL for (int i = 0; i < Q; ++i) dst", "UNROLL for (int i = 0; i <= Q; ++i) dst");
    let line = bundle.source.text.lines().position(|line| line.contains("i <= Q")).unwrap() + 1;
    let states = compiled::states(&compiled::model("d2q9_trt"), 4);
    let populations: Vec<f64> = (0..9).flat_map(|pop| states.iter().map(move |state| state[pop])).collect();
    let params = compiled::params(&compiled::model("d2q9_trt"), 1.2);
    let text = Collision::on(device(), &bundle).try_run(&params, &populations).unwrap_err().to_string();
    assert!(text.contains("index 9 is outside of an array of type `float [9]`"), "{text}");
    assert!(text.contains(&format!("in line {line} of")), "{text}");
}
