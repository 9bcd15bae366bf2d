//! The forest of blocks on the device, changed at random, against one by definition.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use lbm_bundle::mesh::{Group, NONE, REFINED};
use lbm_codegen::mesh;
use lbm_runtime::device::{Buffer, Device};
use lbm_runtime::kernels::KernelError;
use lbm_runtime::mesh::forest::{Carry, Change, Forest, ForestError, LEVELS, Moves, Outcome, Pool};
use lbm_runtime::mesh::{Behind, Face, WallId};
use lbm_tests::compiled::Random;
use lbm_tests::flows::devices;
use lbm_tests::forest::{Block, Domain, Expected, Forest as Oracle, Room, There};

/// A box with a wall of its own behind each face of the axes that are not periodic.
fn domain(roots: &[usize], periodic: &[bool]) -> Domain {
    let dim = roots.len();
    let behind = |face: usize| match periodic.get(face / 2) {
        Some(false) => Behind::Wall(WallId(face as u32)),
        _ => Behind::Periodic,
    };
    Domain {
        dim,
        roots: std::array::from_fn(|axis| roots.get(axis).copied().unwrap_or(1)),
        faces: std::array::from_fn(behind),
    }
}

fn forest(device: &Device, domain: &Domain, pool: Pool) -> Result<Forest, ForestError> {
    let bundle = mesh::bundle(domain.dim as u32, device.target());
    Forest::new(device, &bundle, domain.roots, domain.faces, pool)
}

fn ints(buffer: &Buffer) -> Vec<i32> {
    buffer.read_ints(0..buffer.len()).expect("an array of integers")
}

/// All that a forest is made of.
#[derive(PartialEq, Eq, Debug)]
struct Copy(Vec<Vec<i32>>);

impl Copy {
    fn of(forest: &Forest) -> Copy {
        let tables = forest.tables();
        let all = [
            &tables.near,
            &tables.child,
            &tables.parent,
            &tables.level,
            &tables.place,
            &tables.slot,
            &tables.node,
            &tables.kind,
            &tables.neighbours,
            &tables.order,
            &tables.leaves,
            &tables.free_families,
            &tables.free_slots,
        ];
        Copy(all.into_iter().map(ints).collect())
    }
}

/// The block of each node in use.
fn blocks(forest: &Forest) -> HashMap<i32, Block> {
    let (order, level, place) =
        (ints(&forest.tables().order), ints(&forest.tables().level), ints(&forest.tables().place));
    let block = |node: &i32| {
        let at = *node as usize;
        let place = std::array::from_fn(|axis| i64::from(place[3 * at + axis]));
        (*node, Block { level: level[at] as u32, place })
    };
    order[..forest.levels().last().map_or(0, |level| level.nodes.end)].iter().map(block).collect()
}

/// Compares everything that a forest says with the definition.
fn check(forest: &Forest, oracle: &Oracle) {
    let tables = forest.tables();
    let [near, child, parent, slot, node, kind] =
        [&tables.near, &tables.child, &tables.parent, &tables.slot, &tables.node, &tables.kind].map(ints);
    let [neighbours, order, leaves] = [&tables.neighbours, &tables.order, &tables.leaves].map(ints);
    let (parts, places) = (1 << oracle.domain.dim, 3usize.pow(oracle.domain.dim as u32));
    let named = blocks(forest);
    let numbers: HashMap<Block, i32> = named.iter().map(|(node, block)| (*block, *node)).collect();
    let slots: HashMap<Block, i32> = named
        .iter()
        .filter(|(_, block)| !oracle.refined.contains(block))
        .map(|(node, block)| (*block, slot[*node as usize]))
        .collect();

    let levels = oracle.levels();
    assert_eq!(forest.levels().len(), levels.len());
    let roots = levels[0].len() as i32;
    for (level, expected) in forest.levels().iter().zip(&levels) {
        let listed: Vec<Block> = order[level.nodes.clone()].iter().map(|node| named[node]).collect();
        assert_eq!(&listed, expected, "nodes of a level, along the curve");
        let mut groups: [Vec<i32>; 4] = Default::default();
        for block in expected {
            let number = numbers[block];
            let at = number as usize;
            let is_refined = oracle.refined.contains(block);
            assert_eq!(child[at] >= 0, is_refined);
            assert_eq!(slot[at] >= 0, !is_refined);
            assert_eq!(parent[at], if block.level == 0 { -1 } else { numbers[&block.parent()] });
            assert_eq!(number < roots, block.level == 0);
            assert_eq!(near[at * places..][..places], oracle.near(*block, &numbers), "near {block:?}");
            if is_refined {
                let children = oracle.domain.children(*block);
                let expected: Vec<i32> = (0..parts).map(|octant| child[at] + octant).collect();
                assert_eq!(children.iter().map(|child| numbers[child]).collect::<Vec<_>>(), expected);
                assert_eq!((child[at] - roots) % parts, 0);
                assert_eq!(kind[at], REFINED as i32);
                continue;
            }
            assert_eq!(node[slot[at] as usize], number);
            let own = &neighbours[slot[at] as usize * places..][..places];
            assert_eq!(own, oracle.near(*block, &slots), "neighbours of {block:?}");
            let (walls, jump) = (own.iter().any(|at| *at < 0 && *at != NONE), own.contains(&NONE));
            let group = match (walls, jump) {
                (false, false) => Group::Interior,
                (true, false) => Group::Walls,
                (false, true) => Group::Jump,
                (true, true) => Group::Both,
            };
            assert_eq!(kind[at], group.index() as i32);
            groups[group.index()].push(slot[at]);
        }
        for (group, expected) in Group::ALL.into_iter().zip(&groups) {
            assert_eq!(&leaves[level.group(group)], expected, "{group:?} leaves of a level, along the curve");
        }
        assert_eq!(leaves[level.leaves.clone()], groups.concat());
    }
    let told = forest.read_leaves().expect("the leaves");
    assert_eq!(told.len(), slots.len());
    for (leaf, listed) in told.iter().zip(&leaves) {
        let block = Block { level: leaf.level as u32, place: leaf.place.map(|at| at as i64) };
        assert_eq!((leaf.slot.0 as i32, slots.get(&block)), (*listed, Some(listed)));
    }

    let (free, pool) = (forest.free(), forest.pool());
    assert_eq!(free.slots + forest.leaves(), pool.slots);
    assert_eq!(free.families + oracle.refined.len(), pool.families);
    let used = slots.values().copied();
    let all: HashSet<i32> = ints(&tables.free_slots)[..free.slots].iter().copied().chain(used).collect();
    assert!(all.len() == pool.slots && all.iter().all(|slot| (0..pool.slots as i32).contains(slot)));
    let used = child.iter().filter(|child| **child >= 0).map(|child| (child - roots) / parts);
    let all: HashSet<i32> = ints(&tables.free_families)[..free.families].iter().copied().chain(used).collect();
    assert!(all.len() == pool.families && all.iter().all(|family| (0..pool.families as i32).contains(family)));
}

/// Moves nothing, but knows which block's data each slot has, and that kernels would find what they need.
struct Contents {
    domain: Domain,
    of: Vec<Option<Block>>,
    averaged: usize,
    filled: usize,
}

impl Contents {
    fn of(forest: &Forest, domain: Domain) -> Contents {
        let mut contents = Contents { domain, of: vec![None; forest.pool().slots], averaged: 0, filled: 0 };
        for (slot, node) in ints(&forest.tables().node).iter().enumerate() {
            contents.of[slot] = blocks(forest).get(node).copied();
        }
        contents
    }

    fn families(&self, change: &Change<'_>) -> Vec<(usize, Vec<usize>)> {
        let (slots, parts) = (ints(change.slots), ints(change.parts));
        let count = 1 << self.domain.dim;
        let family = |slot: &i32| {
            let parts = &parts[*slot as usize * count..][..count];
            (*slot as usize, parts.iter().map(|part| *part as usize).collect())
        };
        slots[..change.count].iter().map(family).collect()
    }

    /// After a change: the leaves' slots have the leaves' data, and the others are free.
    fn settle(&mut self, forest: &Forest, oracle: &Oracle) {
        let slot = ints(&forest.tables().slot);
        let mut kept = vec![None; self.of.len()];
        for (node, block) in blocks(forest).into_iter().filter(|(_, block)| !oracle.refined.contains(block)) {
            let slot = slot[node as usize] as usize;
            assert_eq!(self.of[slot], Some(block));
            kept[slot] = Some(block);
        }
        self.of = kept;
    }
}

impl Carry for Contents {
    fn average(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        self.averaged += change.count;
        for (slot, parts) in self.families(&change) {
            let children: Vec<Block> = parts.iter().map(|part| self.of[*part].take().expect("data")).collect();
            let block = children[0].parent();
            assert_eq!(children, self.domain.children(block));
            assert_eq!(self.of[slot].replace(block), None, "a slot for the coarse block");
        }
        Ok(())
    }

    fn fill(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        self.filled += change.count;
        let neighbours = ints(&change.tables.neighbours);
        let places = 3usize.pow(self.domain.dim as u32);
        let known: HashMap<Block, i32> =
            self.of.iter().enumerate().filter_map(|(slot, block)| Some(((*block)?, slot as i32))).collect();
        let families = self.families(&change);
        for (slot, _) in &families {
            let block = self.of[*slot].expect("data of the block");
            for (entry, offset) in neighbours[slot * places..][..places].iter().zip(self.domain.offsets()) {
                let expected = match self.domain.there(block, offset) {
                    There::Wall(wall) => wall,
                    There::Block(there) => known.get(&there).copied().unwrap_or(NONE),
                };
                assert_eq!(*entry, expected, "what has data around {block:?}");
            }
        }
        for (slot, parts) in families {
            let children = self.domain.children(self.of[slot].expect("data of the block"));
            for (part, child) in parts.into_iter().zip(children) {
                assert_eq!(self.of[part].replace(child), None, "a slot for a child");
            }
        }
        Ok(())
    }

    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError> {
        let (slots, from) = (ints(moves.slots), ints(moves.from));
        let none = vec![None; self.of.len()];
        let before = std::mem::replace(&mut self.of, none);
        for slot in &slots[..moves.count] {
            self.of[*slot as usize] = before[from[*slot as usize] as usize];
        }
        Ok(())
    }
}

/// Writes the wishes of leaves, and which of them are frozen.
fn wish(forest: &mut Forest, want: &BTreeMap<Block, u32>, frozen: &HashSet<Block>) {
    let blocks = blocks(forest);
    let wishes = forest.wishes().1;
    let mut values = vec![0; wishes.want.len()];
    let mut flags = vec![0; wishes.want.len()];
    for (node, block) in &blocks {
        values[*node as usize] = want.get(block).map_or(block.level, |want| *want) as i32;
        flags[*node as usize] = i32::from(frozen.contains(block));
    }
    wishes.want.write_ints(0, &values).expect("a value for each node");
    wishes.frozen.write_ints(0, &flags).expect("a flag for each node");
}

/// Wishes of the leaves in a round: noise, a ball that moves, everything coarse, or everything fine.
fn wishes(oracle: &Oracle, finest: u32, round: usize, random: &mut Random) -> BTreeMap<Block, u32> {
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
    let mut oracle = Oracle::new(domain);
    let mut contents = Contents::of(&forests[0], domain);
    let mut random = Random(domain.roots.iter().sum::<usize>() as u64 + count as u64);
    let mut sum = Outcome::default();
    for round in 0..count {
        let mut want = wishes(&oracle, finest, round, &mut random);
        let frozen: HashSet<Block> = want.keys().copied().filter(|_| random.draw() > 0.95).collect();
        forests.iter_mut().for_each(|forest| wish(forest, &want, &frozen));
        want.retain(|block, _| !frozen.contains(block));

        let expected = oracle.adapt(&want, Room { families: pool.families, slots: pool.slots });
        let outcome = forests[0].adapt(0..=finest as usize, &mut contents).expect("a change");
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
            assert_eq!(forest.adapt(0..=finest as usize, &mut ()).expect("a change"), outcome);
            assert!(Copy::of(forest) == first, "round {round} in {domain:?} on {}", device.describe());
        }
        if round.is_multiple_of(9) {
            reorder(&mut forests, &oracle, &mut contents);
        }
        sum.asked += outcome.asked;
        sum.refined += outcome.refined;
        sum.coarsened += outcome.coarsened;
    }
    assert_eq!((contents.averaged, contents.filled), (sum.coarsened, sum.refined));
    assert!(sum.refined > count && sum.coarsened > count / 2, "too little has changed: {sum:?}");
    assert!(sum.refused() > 0, "memory has always sufficed");
}

/// Reorders forests that are the same: the first slots go to the leaves along the curve, level by level, with their data.
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
    let pool = Pool { families: 90, slots: 260 };
    rounds(domain(&[3, 2], &[false, false]), pool, 4, 220);
    rounds(domain(&[5, 3], &[true, false]), pool, 3, 220);
    rounds(domain(&[1, 1], &[true, true]), pool, 5, 220);
}

#[test]
fn random_changes_of_cubes_leave_the_forest_of_the_definition() {
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
            forest(&Device::host(2).expect("a host"), &domain, Pool { families: 400, slots: 3000 }).expect("room");
        let mut oracle = Oracle::new(domain);
        for level in 0..9 {
            let corner = |leaf: &Block| leaf.place.iter().all(|at| *at == 0);
            let want = oracle.leaves().into_iter().map(|leaf| (leaf, if corner(&leaf) { 9 } else { leaf.level }));
            let want = want.collect();
            wish(&mut forest, &want, &HashSet::new());
            oracle.adapt(&want, Room { families: 400, slots: 3000 });
            let outcome = forest.adapt(0..=9, &mut ()).expect("a change");
            assert!(outcome.refined > 0 && outcome.refused() == 0, "level {level}: {outcome:?}");
        }
        assert_eq!(forest.levels().len(), 10);
        check(&forest, &oracle);
        assert!(oracle.is_balanced_by_pairs());
        assert_eq!(forest.bytes(), forest.pool().bytes(domain.dim, oracle.levels()[0].len()));
    }
}

#[test]
fn a_full_pool_refuses_the_end_of_the_curve_on_the_finest_level_and_recovers() {
    let domain = domain(&[4, 4], &[true, true]);
    // Of 16 roots, five can become four leaves each: 16 + 5 * 3 = 31, and a slot stays free. While a leaf is refined, its
    // slot is needed.
    let pool = Pool { families: 20, slots: 16 + 5 * 4 + 1 };
    let mut forest = forest(&Device::host(2).expect("a host"), &domain, pool).expect("room for the roots");
    let mut oracle = Oracle::new(domain);
    let room = Room { families: pool.families, slots: pool.slots };
    let all =
        |oracle: &Oracle, level| oracle.leaves().into_iter().map(|leaf| (leaf, level)).collect::<BTreeMap<_, _>>();

    let want = all(&oracle, 2);
    wish(&mut forest, &want, &HashSet::new());
    let outcome = forest.adapt(0..=2, &mut ()).expect("a change");
    assert_eq!((outcome.asked, outcome.refined, outcome.refused()), (16, 5, 11));
    oracle.adapt(&want, room);
    check(&forest, &oracle);
    let along_the_curve = &oracle.levels()[0];
    assert!(along_the_curve.iter().enumerate().all(|(at, root)| oracle.refined.contains(root) == (at < 5)));

    // Five slots are free again: one more root comes before all the finer leaves.
    let want = all(&oracle, 2);
    wish(&mut forest, &want, &HashSet::new());
    let outcome = forest.adapt(0..=2, &mut ()).expect("a change");
    assert_eq!((outcome.asked, outcome.refined), (31, 1));
    oracle.adapt(&want, room);
    check(&forest, &oracle);
    assert_eq!(oracle.levels().len(), 2);

    for _ in 0..2 {
        let want = all(&oracle, 0);
        wish(&mut forest, &want, &HashSet::new());
        forest.adapt(0..=2, &mut ()).expect("a change");
        oracle.adapt(&want, room);
        check(&forest, &oracle);
    }
    assert_eq!(forest.leaves(), 16);
}

#[test]
fn a_frozen_leaf_is_refined_for_balance_only_and_its_children_stay_frozen() {
    let domain = domain(&[2, 1], &[false, false]);
    let pool = Pool { families: 50, slots: 100 };
    let mut forest = forest(&Device::host(1).expect("a host"), &domain, pool).expect("room");
    let mut oracle = Oracle::new(domain);
    let right = Block { level: 0, place: [1, 0, 0] };
    let frozen = HashSet::from([right]);
    let room = Room { families: pool.families, slots: pool.slots };
    // The left half wishes level 3, then level 0 again. The right half always wishes level 0, but is frozen; its flags are
    // not written a second time.
    let is_left = |leaf: &Block| leaf.place[0] < 1 << leaf.level;
    for round in 0..8 {
        let level = if round < 4 { 3 } else { 0 };
        let blocks = blocks(&forest);
        let wishes = forest.wishes().1;
        for (node, block) in &blocks {
            let value = if is_left(block) { level } else { 0 };
            wishes.want.write_ints(*node as usize, &[value]).expect("a node");
            if round == 0 && frozen.contains(block) {
                wishes.frozen.write_ints(*node as usize, &[1]).expect("a node");
            }
        }
        forest.adapt(0..=3, &mut ()).expect("a change");
        let wishing = oracle.leaves().into_iter().filter(is_left);
        oracle.adapt(&wishing.map(|leaf| (leaf, level as u32)).collect(), room);
        check(&forest, &oracle);
    }
    assert!(oracle.refined.contains(&right), "refined for balance, and kept");

    // Once none of its leaves is frozen it is coarsened, and its wishes count again, whatever was said before.
    for _ in 0..3 {
        let leaves = oracle.leaves();
        for (node, _) in blocks(&forest).iter().filter(|(_, block)| leaves.contains(block)) {
            forest.wishes().1.frozen.write_ints(*node as usize, &[0]).expect("a node");
        }
        forest.adapt(0..=0, &mut ()).expect("a change");
        oracle.adapt(&leaves.into_iter().map(|leaf| (leaf, 0)).collect(), room);
        check(&forest, &oracle);
        let frozen = ints(&forest.wishes().1.frozen);
        let leaves = blocks(&forest).into_iter().filter(|(_, block)| !oracle.refined.contains(block));
        assert!(leaves.into_iter().all(|(node, _)| frozen[node as usize] == 0));
    }
    assert_eq!(oracle.leaves().len(), 2);
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
