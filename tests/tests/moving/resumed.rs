//! Flows with bodies that move go on with the same bits.

use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Motion, Shell, Solid};
use lbm_runtime::geometry::{Block, Cell};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled::Random;
use lbm_tests::flows::{bytes, restore};

use super::{RULE, bundle, circle, following, omega, plate, solid};

#[test]
fn a_flow_that_is_resumed_has_the_same_bits_and_the_same_force() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let motion = Motion::new(|time| [6.0 * (0.02 * time).sin(), 3.0 * (0.013 * time).cos(), 0.0], 100);
    // The second solid stays, and the first comes near it.
    let grid = GridSpec::periodic([64, 64, 1])
        .with_solid(solid(circle(30.3, 20.9, 4.2), RULE, 1))
        .moving(motion)
        .with_solid(solid(circle(42.0, 21.0, 2.5), "interpolated_bounce_back", 1));
    let flow = || Simulation::refined(&device, &bundle, &grid, &omega(1.6), 2, |_: Block| false).unwrap();
    let start = |cell: Cell, out: &mut [f64]| out.copy_from_slice(&[1.0, 0.02 * cell.centre()[1].sin(), 0.0]);
    let mut whole = flow();
    whole.init_cells(start).unwrap();
    whole.run(37).unwrap();
    let at_half = bytes(&mut whole);
    whole.run(50).unwrap();
    let mut resumed = flow();
    restore(&mut resumed, 37, &at_half);
    assert_eq!(bytes(&mut resumed), at_half);
    resumed.run(50).unwrap();
    assert!(bytes(&mut resumed) == bytes(&mut whole), "other bits");
    assert_eq!(resumed.forces().unwrap(), whole.forces().unwrap());
    assert_eq!(resumed.snapshot().unwrap().solid, whole.snapshot().unwrap().solid);
    // Cells were covered and left.
    let mut begun = flow();
    begun.init_cells(start).unwrap();
    assert_ne!(begun.snapshot().unwrap().solid, whole.snapshot().unwrap().solid);
}

#[test]
fn moves_on_several_levels_are_known_in_advance_in_the_order_of_steps() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let swings = |along: [f64; 3]| Motion::new(move |time| along.map(|along| along * (0.05 * time).sin()), 100);
    let grid = GridSpec::periodic([96, 48, 1])
        .with_solid(solid(circle(24.3, 24.1, 4.2), RULE, 1))
        .moving(swings([3.0, 0.0, 0.0]))
        .with_solid(solid(circle(72.2, 23.7, 4.2), RULE, 2))
        .moving(swings([0.0, 3.0, 0.0]));
    let flow = || {
        let mut flow = Simulation::refined(&device, &bundle, &grid, &omega(1.6), 3, |_: Block| false).unwrap();
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
        flow
    };
    let (mut one_by_one, mut foreseen) = (flow(), flow());
    one_by_one.run(12).unwrap();
    // Two moves of the first in a step of the coarsest level, and four of the second.
    assert_eq!((0..2).map(|_| foreseen.run_foreseen(6).unwrap()).collect::<Vec<_>>(), [6 * (2 + 4); 2]);
    assert!(bytes(&mut foreseen) == bytes(&mut one_by_one), "other bits");
}

/// A step reads one set of links while its moves write the other.
#[test]
fn moves_go_beside_the_streaming_of_their_step_and_leave_the_same_bits() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let motion = |centre: [f64; 3], rate: f64| {
        let motion = Motion::new(|time| [3.0 * (0.05 * time).sin(), 2.0 * (0.07 * time).sin(), 0.0], 100);
        motion.turning(move |time| rate * time, [0.0, 0.0, 1.0], centre)
    };
    // One solid that moves, or two, on these levels.
    for levels in [vec![0], vec![1], vec![1, 2], vec![0, 1]] {
        let mut grid = GridSpec::periodic([96, 48, 1]);
        for (number, level) in levels.iter().enumerate() {
            let (x, y) = (24.3 + 48.0 * number as f64, 24.1);
            let shape = plate([x, y], [4.2, 1.7]);
            grid = grid.with_solid(solid(shape, RULE, *level)).moving(motion([x, y, 0.0], 0.04 + 0.01 * number as f64));
        }
        let flow = || {
            let count = levels.last().map_or(1, |level| level + 1);
            let mut flow = Simulation::refined(&device, &bundle, &grid, &omega(1.6), count, |_: Block| false).unwrap();
            flow.init(|_, out| out.copy_from_slice(&[1.0, 0.02, 0.0])).unwrap();
            flow
        };
        let mut in_order = flow();
        in_order.run(7).unwrap();
        let mut random = Random(5);
        let mut pick = |count: usize| ((random.draw() * 0.5 + 0.5) * count as f64) as usize % count;
        let choices: [(&str, &mut dyn FnMut(usize) -> usize); 3] =
            [("the last that may", &mut |count| count - 1), ("the first", &mut |_| 0), ("any", &mut pick)];
        for (name, choose) in choices {
            let mut other = flow();
            other.run_reordered(7, choose).unwrap();
            assert!(bytes(&mut other) == bytes(&mut in_order), "solids on levels {levels:?}: {name} goes first");
            assert_eq!(other.forces().unwrap(), in_order.forces().unwrap(), "solids on levels {levels:?}: {name}");
        }
        let passes = |steps| flow().run_reordered(steps, |_| 0).unwrap();
        if levels == [0] {
            // Cells stream, and those that the plate has left are filled.
            assert_eq!(passes(5) - passes(4), 2);
        }
    }
}

#[test]
fn a_flow_on_a_grid_that_follows_a_body_is_resumed_with_the_same_bits() {
    let device = Device::host(1).unwrap();
    for coupling in ["volumetric_shifted", "interpolated"] {
        let bundle = bundle("d2q9_bgk", &device, Some(coupling));
        let motion = Motion::new(|time| [0.09 * time, 3.0 * (0.013 * time).cos(), 0.0], 10);
        let shells = vec![Shell { level: 1, within: 6.0 }];
        let body = Solid { shells, ..solid(circle(30.3, 30.9, 4.2), RULE, 2) };
        let grid = GridSpec::periodic([64, 64, 1]).with_solid(body).moving(motion);
        let mut whole = following(&device, &bundle, &grid, &omega(1.6), (2, 16), None);
        whole.init_cells(|cell, out| out.copy_from_slice(&[1.0, 0.02 * cell.centre()[1].sin(), 0.0])).unwrap();
        // Between two changes of the grid.
        whole.run(53).unwrap();
        assert!(whole.adaptations().changes > 1);
        let at_half = bytes(&mut whole);
        let leaves: Vec<Block> = whole.state().unwrap().leaves().iter().map(|leaf| leaf.block).collect();
        let refined = |block: Block| {
            leaves.iter().any(|leaf| std::iter::successors(leaf.parent(), |block| block.parent()).any(|of| of == block))
        };
        let mut resumed = following(&device, &bundle, &grid, &omega(1.6), (2, 16), Some((&refined, 53)));
        resumed.restore_adaptations(whole.adaptations(), whole.scattered());
        restore(&mut resumed, 53, &at_half);
        whole.run(80).unwrap();
        resumed.run(80).unwrap();
        assert!(bytes(&mut resumed) == bytes(&mut whole), "{coupling}: other bits");
        assert_eq!(resumed.forces().unwrap(), whole.forces().unwrap());
    }
}

#[test]
fn a_plate_that_turns_and_moves_is_resumed_with_the_same_bits() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let motion = Motion::new(|time| [6.0 * (0.02 * time).sin(), 0.03 * time, 0.0], 100);
    // About a point beside it.
    let motion = motion.turning(|time| 0.8 * (0.03 * time).sin() + 0.004 * time, [0.0, 0.0, 1.0], [27.0, 22.5, 0.0]);
    let grid = GridSpec::periodic([64, 64, 1])
        .with_solid(solid(plate([30.3, 20.9], [6.2, 2.1]), RULE, 1))
        .moving(motion)
        .with_solid(solid(circle(45.0, 21.0, 2.5), "interpolated_bounce_back", 1));
    let flow = || Simulation::refined(&device, &bundle, &grid, &omega(1.6), 2, |_: Block| false).unwrap();
    let mut whole = flow();
    whole.init_cells(|cell, out| out.copy_from_slice(&[1.0, 0.02 * cell.centre()[1].sin(), 0.0])).unwrap();
    whole.run(37).unwrap();
    let at_half = bytes(&mut whole);
    whole.run(50).unwrap();
    let mut resumed = flow();
    restore(&mut resumed, 37, &at_half);
    resumed.run(50).unwrap();
    assert!(bytes(&mut resumed) == bytes(&mut whole), "other bits");
    let exchanges = whole.exchanges().unwrap();
    assert!(exchanges[0].torque[2] != 0.0 && exchanges[1].torque == [0.0; 3], "{exchanges:?}");
    assert_eq!(resumed.exchanges().unwrap(), exchanges);
}
