//! The forest of blocks on the device, changed at random, against one by definition.

mod contents;
mod tables;

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use contents::Contents;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::mesh::forest::{Bound, Forest, ForestError, LEVELS, Outcome, Pool};
use lbm_runtime::mesh::{Behind, WallId};
use lbm_tests::compiled::Random;
use lbm_tests::flows::devices;
use lbm_tests::forest::{Block, Domain, Expected, Forest as Oracle, Room};
use tables::{Copy, check, check_held, domain, forest, holding, set_targets};

/// Target levels of the leaves in a round: noise, a ball that moves, everything coarse, or everything fine.
fn targets(oracle: &Oracle, finest: u32, round: usize, random: &mut Random) -> BTreeMap<Block, u32> {
    let centre: [f64; 3] = std::array::from_fn(|_| random.draw());
    let level_of = |block: Block, random: &mut Random| match round % 8 {
        0 | 4 | 5 => {
            let change = (2.5 * random.draw() - 0.3) as i64;
            (i64::from(block.level) + change).clamp(0, i64::from(finest)) as u32
        }
        6 if round.is_multiple_of(3) => 0,
        6 => finest,
        _ => {
            let width = 2.0 / f64::from(1 << block.level);
            let away = (0..oracle.domain.dim).map(|axis| {
                let at = width * (block.place[axis] as f64 + 0.5) / oracle.domain.roots[axis] as f64 - 1.0;
                (at - centre[axis]).powi(2)
            });
            if away.sum::<f64>() < 0.15 { finest } else { 0 }
        }
    };
    oracle.leaves().into_iter().map(|leaf| (leaf, level_of(leaf, random))).collect()
}

/// Changes a forest at random, on the host with one and more threads and on a GPU if there is one, and compares.
fn rounds(domain: Domain, pool: Pool, finest: u32, count: usize) {
    let mut devices = devices();
    devices.push(Device::host(1).expect("a host"));
    let mut forests: Vec<Forest> =
        devices.iter().map(|device| forest(device, &domain, pool).expect("room for the roots")).collect();
    let mut holding = holding(&devices[0], &domain, pool).expect("room for the roots");
    let mut oracle = Oracle::new(domain);
    let mut contents = Contents::of(&forests[0], domain);
    let mut random = Random(domain.roots.iter().sum::<usize>() as u64 + count as u64);
    let mut sum = Outcome::default();
    for round in 0..count {
        // Now and then the range of levels is another one.
        let (coarsest, finest) = (u32::from(round % 40 > 33), finest - u32::from(round % 50 > 44));
        let mut targets = targets(&oracle, finest, round, &mut random);
        oracle.frozen = targets.keys().copied().filter(|_| random.draw() > 0.98).collect();
        forests.iter_mut().chain([&mut holding]).for_each(|forest| set_targets(forest, &targets, &oracle.frozen));
        targets.values_mut().for_each(|target| *target = (*target).clamp(coarsest, finest));
        let levels = coarsest as usize..=finest as usize;

        let expected = oracle.adapt(&targets, Room { families: pool.families, slots: pool.slots });
        let outcome = forests[0].adapt(levels.clone(), &mut contents).expect("a change");
        let Expected { asked, refined, coarsened } = expected;
        assert_eq!(outcome, Outcome { asked, refined, coarsened }, "round {round} in {domain:?}");
        contents.settle(&forests[0], &oracle);
        check(&forests[0], &oracle);
        assert!(oracle.is_balanced(), "round {round} in {domain:?}");
        if round.is_multiple_of(16) {
            assert!(oracle.is_balanced_by_pairs(), "round {round} in {domain:?}");
        }
        let first = Copy::of(&forests[0]);
        for (forest, device) in forests.iter_mut().zip(&devices).skip(1) {
            assert_eq!(forest.adapt(levels.clone(), &mut ()).expect("a change"), outcome);
            assert!(Copy::of(forest) == first, "round {round} in {domain:?} on {}", device.describe());
        }
        assert_eq!(holding.adapt(levels, &mut ()).expect("a change"), outcome);
        check_held(&holding, &oracle);
        if round.is_multiple_of(9) {
            reorder(&mut forests, &oracle, &mut contents);
            holding.reorder(&mut ()).expect("an order");
            check_held(&holding, &oracle);
        }
        sum.asked += outcome.asked;
        sum.refined += outcome.refined;
        sum.coarsened += outcome.coarsened;
    }
    assert_eq!((contents.averaged.iter().sum(), contents.filled), (sum.coarsened, sum.refined));
    assert!(sum.refined > count && sum.coarsened > count / 2, "too little has changed: {sum:?}");
    assert!(sum.refused() > 0, "memory has always sufficed");
}

/// Reorders forests that are the same: the first slots go to the leaves along the curve, level by level, with their
/// data.
fn reorder(forests: &mut [Forest], oracle: &Oracle, contents: &mut Contents) {
    forests[0].reorder(contents).expect("an order");
    contents.settle(&forests[0], oracle);
    check(&forests[0], oracle);
    assert!(contents.of.iter().flatten().eq(oracle.leaves().iter()), "the leaves in order");
    let first = Copy::of(&forests[0]);
    for forest in &mut forests[1..] {
        forest.reorder(&mut ()).expect("an order");
        assert!(Copy::of(forest) == first);
    }
}

#[test]
fn random_changes_of_squares_leave_the_forest_of_the_definition() {
    lbm_tests::in_turn!();
    let pool = Pool { families: 90, slots: 260 };
    rounds(domain(&[3, 2], &[false, false]), pool, 4, 220);
    rounds(domain(&[5, 3], &[true, false]), pool, 3, 220);
    rounds(domain(&[1, 1], &[true, true]), pool, 5, 220);
}

#[test]
fn random_changes_of_cubes_leave_the_forest_of_the_definition() {
    lbm_tests::in_turn!();
    let pool = Pool { families: 60, slots: 330 };
    rounds(domain(&[1, 2, 3], &[false, true, false]), pool, 3, 150);
    rounds(domain(&[1, 1, 1], &[true, true, true]), pool, 4, 150);
    rounds(domain(&[2, 1, 1], &[false, false, false]), pool, 3, 150);
}

#[test]
fn a_corner_is_refined_to_the_tenth_level() {
    for roots in [&[3, 2][..], &[2, 1, 3]] {
        let domain = domain(roots, &vec![false; roots.len()]);
        let mut forest =
            forest(&Device::host(1).expect("a host"), &domain, Pool { families: 400, slots: 3000 }).expect("room");
        let mut oracle = Oracle::new(domain);
        for level in 0..9 {
            let corner = |leaf: &Block| leaf.place.iter().all(|at| *at == 0);
            let targets = oracle.leaves().into_iter().map(|leaf| (leaf, if corner(&leaf) { 9 } else { leaf.level }));
            let targets = targets.collect();
            set_targets(&mut forest, &targets, &HashSet::new());
            oracle.adapt(&targets, Room { families: 400, slots: 3000 });
            let outcome = forest.adapt(0..=9, &mut ()).expect("a change");
            assert!(outcome.refined > 0 && outcome.refused() == 0, "level {level}: {outcome:?}");
        }
        assert_eq!(forest.levels().len(), 10);
        check(&forest, &oracle);
        assert!(oracle.is_balanced_by_pairs());
        assert_eq!(forest.bytes(), forest.pool().bytes(domain.dim, oracle.levels()[0].len(), false));
    }
}

#[test]
fn a_full_pool_refuses_the_end_of_the_curve_on_the_finest_level_and_recovers() {
    let domain = domain(&[4, 4], &[true, true]);
    // Of 16 roots, five can become four leaves each: 16 + 5 * 3 = 31, and a slot stays free. While a leaf is refined,
    // its slot is needed.
    let pool = Pool { families: 20, slots: 16 + 5 * 4 + 1 };
    let mut forest = forest(&Device::host(1).expect("a host"), &domain, pool).expect("room for the roots");
    let mut oracle = Oracle::new(domain);
    let room = Room { families: pool.families, slots: pool.slots };
    let all =
        |oracle: &Oracle, level| oracle.leaves().into_iter().map(|leaf| (leaf, level)).collect::<BTreeMap<_, _>>();

    let targets = all(&oracle, 2);
    set_targets(&mut forest, &targets, &HashSet::new());
    let outcome = forest.adapt(0..=2, &mut ()).expect("a change");
    assert_eq!((outcome.asked, outcome.refined, outcome.refused()), (16, 5, 11));
    oracle.adapt(&targets, room);
    check(&forest, &oracle);
    let along_the_curve = &oracle.levels()[0];
    assert!(along_the_curve.iter().enumerate().all(|(at, root)| oracle.refined.contains(root) == (at < 5)));

    // Five slots are free again: one more root comes before all the finer leaves.
    let targets = all(&oracle, 2);
    set_targets(&mut forest, &targets, &HashSet::new());
    let outcome = forest.adapt(0..=2, &mut ()).expect("a change");
    assert_eq!((outcome.asked, outcome.refined), (31, 1));
    oracle.adapt(&targets, room);
    check(&forest, &oracle);
    assert_eq!(oracle.levels().len(), 2);

    // Three slots are free for the six that coarse leaves need: it takes two times.
    let targets = all(&oracle, 0);
    set_targets(&mut forest, &targets, &HashSet::new());
    let mut contents = Contents::of(&forest, domain);
    forest.adapt(0..=2, &mut contents).expect("a change");
    oracle.adapt(&targets, room);
    contents.settle(&forest, &oracle);
    check(&forest, &oracle);
    assert_eq!((forest.leaves(), contents.averaged), (16, vec![3, 3]));
}

#[test]
fn a_frozen_leaf_stays_and_so_does_what_would_need_it_refined() {
    let domain = domain(&[2, 1], &[false, false]);
    let pool = Pool { families: 50, slots: 100 };
    let mut forest = forest(&Device::host(1).expect("a host"), &domain, pool).expect("room");
    let mut oracle = Oracle::new(domain);
    let right = Block { level: 0, place: [1, 0, 0] };
    oracle.frozen.insert(right);
    let room = Room { families: pool.families, slots: pool.slots };
    // The target level is 3 everywhere, then 0 again.
    for round in 0..8 {
        let level = if round < 4 { 3 } else { 0 };
        let targets: BTreeMap<Block, u32> = oracle.leaves().into_iter().map(|leaf| (leaf, level)).collect();
        set_targets(&mut forest, &targets, &oracle.frozen);
        forest.adapt(0..=3, &mut ()).expect("a change");
        oracle.adapt(&targets, room);
        check(&forest, &oracle);
        if round == 3 {
            // Levels from left to right, in quarters of the left root; the third covers two.
            let finest = |quarter: i64| {
                let begins = |leaf: &Block| leaf.place[0] << 2 >> leaf.level == quarter;
                oracle.leaves().into_iter().filter(begins).map(|leaf| leaf.level).max()
            };
            assert_eq!([0, 1, 2, 4].map(finest), [Some(3), Some(2), Some(1), Some(0)]);
        }
    }
    assert_eq!(oracle.leaves().len(), 2);
}

#[test]
fn a_block_with_a_least_level_is_refined_and_becomes_that_coarse_again() {
    let domain = domain(&[2, 1], &[false, false]);
    let pool = Pool { families: 50, slots: 100 };
    let mut forest = forest(&Device::host(1).expect("a host"), &domain, pool).expect("room");
    let leaves = |forest: &Forest| {
        let mut leaves: Vec<_> = forest.read_leaves().expect("leaves").iter().map(|leaf| leaf.block).collect();
        leaves.sort();
        leaves
    };
    let all = |forest: &mut Forest, level: usize| {
        forest.overrule(|_, _| level).expect("target levels");
        forest.adapt(0..=3, &mut ()).expect("a change");
    };
    (0..2).for_each(|_| all(&mut forest, 2));
    let kept = |block: lbm_runtime::geometry::Block| block.level < 2 && block.place[0] == 0;
    // Said of what is refined, it holds for its parts when they go.
    forest.bind(|block| kept(block).then_some(Bound::LeastLevel)).expect("bounds");
    let mut last = Vec::new();
    for level in [0, 0, 0, 3, 3, 0, 0, 0, 0] {
        all(&mut forest, level);
        last = leaves(&forest);
    }
    let expected = [(0, [1, 0, 0]), (1, [0, 0, 0]), (1, [0, 1, 0]), (1, [1, 0, 0]), (1, [1, 1, 0])];
    let expected: Vec<_> = expected.map(|(level, place)| lbm_runtime::geometry::Block { level, place }).to_vec();
    assert_eq!(last, expected);
}

#[test]
fn a_change_brings_counts_to_the_host_and_nothing_else() {
    for device in devices() {
        let crossing = |roots: &[usize], slots: usize| {
            let domain = domain(roots, &[true; 2]);
            let count = roots.iter().product();
            let pool = Pool::with_slots(2, count, slots);
            let mut forest = forest(&device, &domain, pool).expect("room for the roots");
            let leaves = Oracle::new(domain).leaves();
            set_targets(&mut forest, &leaves.into_iter().map(|leaf| (leaf, 1)).collect(), &HashSet::new());
            let before = device.traffic();
            let outcome = forest.adapt(0..=1, &mut ()).expect("a change");
            assert_eq!(outcome.refined, count);
            device.traffic() - before
        };
        let [small, large] = [crossing(&[2, 1], 20), crossing(&[50, 20], 8000)];
        assert!(small == large && large < 1000, "{small} and {large} bytes");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let device = Device::host(1).expect("a host");
    let box_of = |roots: &[usize], periodic: &[bool], slots| {
        forest(&device, &domain(roots, periodic), Pool { families: 1, slots }).err().map(|error| error.to_string())
    };
    let full = box_of(&[2, 2], &[true, true], 4).expect("no free slot");
    assert!(full.contains("4 blocks") && full.contains("for 4 on the coarsest"), "{full}");
    let long = box_of(&[100_000, 1], &[true, true], 200_000).expect("too long");
    assert!(long.contains("100000 roots along x") && long.contains("65536"), "{long}");
    let empty = box_of(&[2, 0], &[true, true], 5).expect("no roots");
    assert!(empty.contains("0 roots along y"), "{empty}");
    let mut deep = domain(&[2, 2], &[true, true]);
    deep.roots[2] = 2;
    let deep = forest(&device, &deep, Pool { families: 1, slots: 9 }).err().expect("a square is flat");
    assert!(deep.to_string().contains("2 roots along z in 2 dimensions"), "{deep}");
    let mut half = domain(&[2, 2], &[true, true]);
    half.faces[Face::XMin.index()] = Behind::Wall(WallId(0));
    let half = forest(&device, &half, Pool { families: 1, slots: 5 }).err().expect("half periodic");
    assert!(half.to_string().contains("x_max is periodic"), "{half}");

    let mut forest =
        forest(&device, &domain(&[2, 2], &[true, true]), Pool { families: 1, slots: 5 }).expect("room for the roots");
    for levels in [0..=LEVELS, RangeInclusive::new(3, 2)] {
        let error = forest.adapt(levels, &mut ()).expect_err("no such levels");
        assert!(matches!(error, ForestError::Levels { .. }), "{error}");
    }
}
