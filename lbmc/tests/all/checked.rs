//! Kernels of flows with every kind of kernel, compiled with checks: none reaches beside its arrays, writes what it is given to read, or
//! reads what nothing has written.

use std::process::Command;

use crate::sample::sample;

/// Each with the kernels that it brings.
const FLOWS: [(&str, &[&str]); 12] = [
    // packets, criteria, the forest, and what moves when it changes
    ("cavity2d_adaptive", &["size=[32,32]", "refinement.finest=2", "stop.steps=70"]),
    // ghosts
    ("cavity2d_refined", &["size=[32,32]", "refinement.coupling=interpolated", "stop.steps=6"]),
    // solids at rest beside level jumps, and forces
    ("schaefer_turek_2d1", &["stop.steps=3"]),
    // solids that move
    ("stirrer", &["stop.steps=12"]),
    // a body that the fluid moves
    ("sedimenting_sphere", &["resolution=20", "units.step=4 ms", "precision=f64", "stop.time=40 ms"]),
    // values of time at walls
    ("womersley", &["stop.steps=6"]),
    // steps backwards, at walls and where values vary along them
    ("pipe_bend", &["stop.steps=6", "gradient.states=2"]),
    // values of neighbours, and statistics with slopes
    ("turbulent_channel", &["size=[16,16,16]", "stop.steps=6", "statistics.from=2", "statistics.every=1"]),
    // values of neighbours of other levels
    ("cavity2d_adaptive", &["spec=d2q9_hybrid", "sigma=0.98", "size=[32,32]", "refinement.finest=2", "stop.steps=36"]),
    // two lattices
    ("natural_convection", &["size=[32,32]", "stop.steps=6"]),
    // populations in 16 bits, and moments in 16 bits
    ("cavity2d", &["size=[32,32]", "precision=f16/f32", "stop.steps=6"]),
    (
        "cavity3d",
        &["size=[16,16,16]", "spec=d3q19_regularized", "storage=moments", "precision=f16/f32", "stop.steps=6"],
    ),
];

#[test]
fn no_kernel_reaches_beside_its_arrays() {
    for (case, set) in sample(FLOWS) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let set = set.iter().copied().chain(["target=checked"]).flat_map(|value| ["--set", value]);
        let run = Command::new(env!("CARGO_BIN_EXE_lbmc"))
            .args(["run", case, "--quiet", "--out"])
            .arg(folder.path().join("out"))
            .args(set)
            .output()
            .expect("it can be run");
        assert!(run.status.success(), "{case}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
