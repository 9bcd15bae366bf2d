//! A sphere that falls in a box of oil, as it was measured.

use std::process::Command;

use crate::sample::sample;

/// The density of an oil in kg/m^3, its kinematic viscosity in mm^2/s, the velocity in an infinite fluid in m/s and the part of it that was
/// measured at most (ten Cate, Nieuwstad, Derksen & van den Akker, Phys. Fluids 14 (2002) 4012, tables 1 and 2, cases E1 to E4), the step
/// in ms, and a time in s at which the sphere is past that.
const OILS: [(f64, f64, f64, f64, f64, f64); 4] = [
    (970.0, 384.5, 0.038, 0.947, 1.2, 2.4),
    (965.0, 219.7, 0.060, 0.953, 0.8, 1.7),
    (962.0, 117.5, 0.091, 0.959, 0.6, 1.3),
    (960.0, 60.42, 0.128, 0.955, 0.4, 1.1),
];

#[test]
fn a_sphere_falls_at_four_reynolds_numbers_within_3_percent_of_the_measured_velocity() {
    for (density, viscosity, alone, measured, step, time) in sample(OILS) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = [
            "target=cpu".to_string(),
            format!("units.density={density} kg/m^3"),
            format!("fluid.viscosity={viscosity} mm^2/s"),
            format!("fluid.velocity={alone} m/s"),
            format!("units.step={step} ms"),
            format!("stop.time={time} s"),
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.args(["run", "sedimenting_sphere", "--out", "out"]).current_dir(folder.path());
        let output = command.args(settings.iter().flat_map(|value| ["--set", value])).output().expect("lbmc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(folder.path().join("out/forces.csv")).expect("forces");
        let mut rows = text.lines().filter(|line| !line.starts_with('#'));
        let at = rows.next().expect("names").split(',').position(|name| name == "vz").expect("a velocity");
        let falls: Vec<f64> = rows.map(|row| -row.split(',').nth(at).expect(row).parse::<f64>().expect(row)).collect();
        let largest = falls.iter().copied().fold(0.0, f64::max);
        let off = largest / (measured * alone) - 1.0;
        assert!(off.abs() < 0.03, "{density} kg/m^3: {largest} m/s, {:.1} % off", 100.0 * off);
        // It has passed the largest velocity, so this is no start that was cut off.
        assert!(falls.last().is_some_and(|last| *last < 0.999 * largest), "{density} kg/m^3: it still gains speed");
    }
}
