//! The example runs and meets its own check.

use std::process::Command;

#[test]
fn the_vortices_decay_as_they_should() {
    let output = Command::new(env!("CARGO_BIN_EXE_lbm-example-rust-macro")).output().expect("cargo has built it");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    print!("{said}");
}
