//! What a change of a divided grid costs on the host, for grids of several sizes: a measurement, which is not run with the tests.
//!
//! ```text
//! cargo test --release -p lbm-runtime --lib sizes -- --ignored --nocapture
//! ```
//!
//! It prints a line of JSON for each grid and number of parts, of which `benchmarks/host/grid-changes.json` has a copy. There are forests
//! and no populations. Times are the shortest of some changes, in ms. It takes 8 GB.

use std::collections::BTreeMap;
use std::time::Instant;

use lbm_bundle::{Direction, Manifest};

use super::halo::Halo;
use super::halo::transfer::{self, Reach};
use super::subdomain::streamed::Streamed;
use crate::device::Device;
use crate::fixture::manifest;
use crate::geometry::Block;
use crate::mesh::forest::Forest;
use crate::mesh::{Behind, Grid, Partition, Room, SubdomainId, WallId};

/// Levels of the grids.
const LEVELS: usize = 4;

/// Changes of each grid.
const CHANGES: usize = 4;

/// Roots along each axis of the grids, and slots that there is room for.
const GRIDS: [(usize, usize); 5] = [(4, 40_000), (9, 200_000), (16, 500_000), (28, 1_500_000), (88, 12_000_000)];

/// D3Q19 in blocks of 4x4x4 cells.
fn d3q19() -> Manifest {
    let manifest = manifest();
    let all = (0..27).map(|at| [at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1]);
    let directions = all.filter(|c| c.iter().map(|along| along * along).sum::<i32>() <= 2);
    let directions = directions.map(|c| Direction { c, ..manifest.directions[0].clone() }).collect();
    Manifest { dim: 3, block: [4, 4, 4], directions, ..manifest }
}

/// The level that a block is to have: refined at all walls of a cube, as `benchmarks/cavity3d_agal.toml` is, and along a sphere around a
/// centre.
fn target_level(roots: usize, block: Block, centre: f64) -> usize {
    let count = roots << block.level;
    let width = 1.0 / count as f64;
    let away = block.place.iter().map(|at| ((*at as f64 + 0.5) * width - centre).powi(2)).sum::<f64>().sqrt();
    let is_fine = (away - 0.3).abs() < width || block.place.iter().any(|at| *at == 0 || *at == count - 1);
    block.level + usize::from(is_fine && block.level + 1 < LEVELS)
}

/// One change of a forest; blocks that have changed, and how long it took.
fn change(forest: &mut Forest, roots: usize, centre: f64) -> (usize, f64) {
    forest.overrule(|block, _| target_level(roots, block, centre)).unwrap();
    let began = Instant::now();
    let outcome = forest.adapt(0..=LEVELS - 1, &mut ()).unwrap();
    (outcome.refined + outcome.coarsened, 1e3 * began.elapsed().as_secs_f64())
}

#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stdout)]
fn changes_of_large_grids() {
    let (device, manifest) = (Device::host(0).unwrap(), d3q19());
    for (roots, most) in GRIDS {
        let walls = std::array::from_fn(|face| Behind::Wall(WallId(face as u32)));
        let (room, size) = (Room { most, all: true }, [4 * roots; 3]);
        let set_up = |forest: &mut Forest| {
            while change(forest, roots, 0.5).0 > 0 {}
            Ok(0)
        };
        let (mut grid, _) = Grid::with_room(&device, &manifest, size, walls, room, set_up).unwrap();
        for parts in [2, 8] {
            let mut least: BTreeMap<&str, f64> = BTreeMap::new();
            let mut keep = |name, ms: f64| {
                let least = least.entry(name).or_insert(ms);
                *least = least.min(ms);
            };
            let (mut changed, mut crossing) = (0, 0);
            for number in 1..=CHANGES {
                let centre = 0.5 + 0.1 * number as f64 / (roots << LEVELS) as f64;
                let (of_forest, ms) = change(grid.forest_mut(), roots, centre);
                changed = changed.max(of_forest);
                keep("forest", ms);
                let mut began = Instant::now();
                let mut done = |name| {
                    keep(name, 1e3 * began.elapsed().as_secs_f64());
                    began = Instant::now();
                };
                grid.tree().unwrap();
                done("tree");
                let partition = Partition::new(&grid, parts).unwrap();
                done("partition");
                let halo = Halo::new(&manifest, &grid, &partition, |_| false, &[]).unwrap();
                done("halo");
                let owned = &partition.subdomains()[0];
                Streamed::new(&device, &grid, Some(owned), &[], halo.edge().clone()).unwrap();
                done("edges");
                let transfers = transfer::before_change(&grid, &partition).unwrap();
                done("before_change");
                Reach::new(SubdomainId::new(0), &partition, &transfers);
                done("reach");
                crossing = halo.lanes().map(|lane| lane.populations.places()).sum();
            }
            let (leaves, bytes) = (grid.leaf_count(), grid.forest().bytes());
            println!(
                "{{\"blocks\": {leaves}, \"room\": {most}, \"table_bytes\": {bytes}, \"parts\": {parts}, \"changed\": {changed}, \
                 \"crossing\": {crossing}, \"ms\": {{{}}}}}",
                least.iter().map(|(name, ms)| format!("\"{name}\": {ms:.2}")).collect::<Vec<_>>().join(", ")
            );
        }
    }
}
