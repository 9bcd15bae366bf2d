//! What bodies that move may not do.

use lbm_runtime::device::Device;
use lbm_runtime::geometry::Block;
use lbm_runtime::geometry::solid::Motion;
use lbm_runtime::solver::{GridSpec, Simulation, StepError, Varying};

use super::{RULE, bundle, circle, omega, solid};

#[test]
fn a_way_out_of_the_fine_cells_and_a_rule_without_velocity_are_told() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let run = |rule: &str, steps: u64| -> Result<(), StepError> {
        let motion = Motion::new(|time| [0.1 * time, 0.0, 0.0], steps);
        let grid = GridSpec::periodic([64, 64, 1]).with_solid(solid(circle(20.3, 20.9, 4.2), rule, 1)).moving(motion);
        let mut flow = Simulation::refined(&device, &bundle, &grid, &omega(1.6), 2, |_: Block| false)?;
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0]))?;
        flow.run(200)
    };
    assert!(run(RULE, 200).is_ok());
    let error = run(RULE, 20).expect_err("the way goes on");
    assert!(error.to_string().contains("refinement interface"), "{error}");
    let error = run("interpolated_bounce_back", 200).expect_err("no velocity");
    assert!(error.to_string().contains("solid that moves"), "{error}");
}

#[test]
fn a_rule_that_depends_on_time_is_none_of_a_solid_that_turns() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, None);
    let motion = Motion::new(|_| [0.0; 3], 10).turning(|time| 0.01 * time, [0.0, 0.0, 1.0], [8.0, 8.0, 0.0]);
    let mut grid = GridSpec::periodic([16, 16, 1]).with_solid(solid(circle(8.0, 8.0, 3.0), RULE, 0)).moving(motion);
    grid.surfaces = vec![Varying { profiles: vec![], timed: vec![("velocity".to_string(), vec![0, 1])] }];
    let error = Simulation::new(&device, &bundle, &grid, &omega(1.6)).err().expect("refused");
    assert!(error.to_string().contains("solid that moves"), "{error}");
}
