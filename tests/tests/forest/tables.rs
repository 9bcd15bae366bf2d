//! Forests on a device, and what their tables should say.

use std::collections::{BTreeMap, HashMap, HashSet};

use lbm_bundle::mesh::{Group, NONE, REFINED};
use lbm_codegen::mesh;
use lbm_runtime::device::{Buffer, Device, Int};
use lbm_runtime::mesh::forest::{Forest, ForestError, Pool};
use lbm_runtime::mesh::{Behind, WallId};
use lbm_tests::forest::{Block, Domain, Forest as Oracle};

/// A box with a wall of its own behind each face of the axes that are not periodic.
pub fn domain(roots: &[usize], periodic: &[bool]) -> Domain {
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

/// A forest of roots.
pub fn forest(device: &Device, domain: &Domain, pool: Pool) -> Result<Forest, ForestError> {
    let bundle = mesh::bundle(domain.dim as u32, device.target());
    Forest::new(device, &bundle, domain.roots, domain.faces, pool, false)
}

/// The same where refined nodes hold data.
pub fn holding(device: &Device, domain: &Domain, pool: Pool) -> Result<Forest, ForestError> {
    let bundle = mesh::bundle(domain.dim as u32, device.target());
    Forest::new(device, &bundle, domain.roots, domain.faces, pool, true)
}

/// What an array of integers holds.
pub fn ints(buffer: &Buffer<Int>) -> Vec<i32> {
    buffer.read_ints(0..buffer.len()).expect("an array of integers")
}

/// All that a forest is made of.
#[derive(PartialEq, Eq, Debug)]
pub struct Copy(Vec<Vec<i32>>);

impl Copy {
    /// Reads it.
    pub fn of(forest: &Forest) -> Copy {
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
            &tables.rows,
            &tables.free_families,
            &tables.free_slots,
        ];
        Copy(all.into_iter().map(ints).collect())
    }
}

/// The block of each node in use.
pub fn blocks(forest: &Forest) -> HashMap<i32, Block> {
    let (order, level, place) =
        (ints(&forest.tables().order), ints(&forest.tables().level), ints(&forest.tables().place));
    let block = |node: &i32| {
        let at = *node as usize;
        let place = std::array::from_fn(|axis| i64::from(place[3 * at + axis]));
        (*node, Block { level: level[at] as u32, place })
    };
    order[..forest.levels().last().map_or(0, |level| level.nodes.end)].iter().map(block).collect()
}

/// Writes the target levels of leaves, and which of them are frozen.
pub fn set_targets(forest: &mut Forest, targets: &BTreeMap<Block, u32>, frozen: &HashSet<Block>) {
    let blocks = blocks(forest);
    let tables = forest.targets().1;
    let mut values = vec![0; tables.level.len()];
    let mut flags = vec![0; tables.level.len()];
    for (node, block) in &blocks {
        values[*node as usize] = targets.get(block).map_or(block.level, |target| *target) as i32;
        flags[*node as usize] = i32::from(frozen.contains(block));
    }
    tables.level.write_ints(0, &values).expect("a value for each node");
    tables.bound.write_ints(0, &flags).expect("a flag for each node");
}

/// Compares everything that a forest says with the definition.
pub fn check(forest: &Forest, oracle: &Oracle) {
    let tables = forest.tables();
    let [near, child, parent, slot, node, kind] =
        [&tables.near, &tables.child, &tables.parent, &tables.slot, &tables.node, &tables.kind].map(ints);
    let [neighbours, order, leaves] = [&tables.neighbours, &tables.order, &tables.leaves].map(ints);
    let (octants, places) = (1 << oracle.domain.dim, 3usize.pow(oracle.domain.dim as u32));
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
                let expected: Vec<i32> = (0..octants).map(|octant| child[at] + octant).collect();
                assert_eq!(children.iter().map(|child| numbers[child]).collect::<Vec<_>>(), expected);
                assert_eq!((child[at] - roots) % octants, 0);
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
    let rows = ints(&tables.rows);
    let mut at_interfaces = 0;
    for block in oracle.leaves() {
        let at_interface = oracle.near(block, &slots).contains(&NONE);
        let expected = if at_interface { at_interfaces } else { -1 };
        assert_eq!(rows[slots[&block] as usize], expected, "place of {block:?} among those at refinement interfaces");
        at_interfaces += i32::from(at_interface);
    }
    assert_eq!(forest.interfaces() as i32, at_interfaces);
    let told = forest.read_leaves().expect("the leaves");
    assert_eq!(told.len(), slots.len());
    for (leaf, listed) in told.iter().zip(&oracle.leaves()) {
        let block = Block { level: leaf.block.level as u32, place: leaf.block.place.map(|at| at as i64) };
        assert_eq!((block, slots.get(&block)), (*listed, Some(&(leaf.slot.0 as i32))));
    }

    let (free, pool) = (forest.free(), forest.pool());
    assert_eq!(free.slots + forest.leaves(), pool.slots);
    assert_eq!(free.families + oracle.refined.len(), pool.families);
    let used = slots.values().copied();
    let all: HashSet<i32> = ints(&tables.free_slots)[..free.slots].iter().copied().chain(used).collect();
    assert!(all.len() == pool.slots && all.iter().all(|slot| (0..pool.slots as i32).contains(slot)));
    let used = child.iter().filter(|child| **child >= 0).map(|child| (child - roots) / octants);
    let all: HashSet<i32> = ints(&tables.free_families)[..free.families].iter().copied().chain(used).collect();
    assert!(all.len() == pool.families && all.iter().all(|family| (0..pool.families as i32).contains(family)));
}

/// Compares what a forest says of the data that refined nodes hold with the definition.
pub fn check_held(forest: &Forest, oracle: &Oracle) {
    let tables = forest.tables();
    let [child, slot, neighbours, sides] = [&tables.child, &tables.slot, &tables.neighbours, &tables.sides].map(ints);
    let [child_slots, uppers, rows, held] =
        [&tables.child_slots, &tables.uppers, &tables.rows, &tables.covered].map(ints);
    let (children, places) = (1 << oracle.domain.dim, 3usize.pow(oracle.domain.dim as u32));
    let numbers: HashMap<Block, i32> = blocks(forest).into_iter().map(|(node, block)| (block, node)).collect();
    let (roots, first) = (oracle.levels()[0].len() as i32, forest.pool().slots as i32);
    let slot_of = |block: &Block| match (child[numbers[block] as usize], slot[numbers[block] as usize]) {
        (-1, slot) => slot,
        (child, _) => first + (child - roots) / children as i32,
    };
    let slots: HashMap<Block, i32> = numbers.keys().map(|block| (*block, slot_of(block))).collect();
    let of_slots: HashMap<i32, Block> = slots.iter().map(|(block, slot)| (*slot, *block)).collect();
    assert_eq!(of_slots.len(), slots.len(), "no slot is shared");
    let mut listed = vec![];
    let mut kept = 0;
    for block in oracle.levels().into_iter().flatten() {
        let (own, is_refined) = (slots[&block] as usize, oracle.refined.contains(&block));
        let around = oracle.near(block, &slots);
        assert_eq!(neighbours[own * places..][..places], around, "neighbours of {block:?}");
        let refined = |slot: i32| slot >= 0 && oracle.refined.contains(&of_slots[&slot]);
        let side = |slot: i32| if is_refined { slot >= 0 && !refined(slot) } else { slot == NONE };
        let expected = (0..places).filter(|at| side(around[*at])).map(|at| 1 << at).sum::<i32>();
        assert_eq!(sides[own], expected, "where the level changes around {block:?}");
        let at_jump = expected != 0 || (!is_refined && around.iter().any(|slot| refined(*slot)));
        assert_eq!(
            rows[own],
            if at_jump { kept } else { -1 },
            "place of {block:?} among those at refinement interfaces"
        );
        kept += i32::from(at_jump);
        if block.level == 0 {
            assert_eq!(uppers[own], -1);
        }
        if is_refined {
            listed.push(own as i32);
            for (octant, part) in oracle.domain.children(block).iter().enumerate() {
                assert_eq!(child_slots[(own - first as usize) * children + octant], slots[part]);
                assert_eq!(uppers[slots[part] as usize], (own * children + octant) as i32);
            }
        }
    }
    assert_eq!(forest.interfaces() as i32, kept);
    assert_eq!(held[..listed.len()], listed, "refined nodes, along the curve");
    let told: Vec<i32> = forest.read_covered().expect("slots").into_iter().map(|(_, slot)| slot.0 as i32).collect();
    assert_eq!(told, listed);
}
