//! Mirrors that meet level jumps: a flow in a part of a symmetric box, between mirrors, is that in the whole box.

use std::collections::BTreeMap;

use lbm_bundle::{Bundle, Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Cell, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled::{self, Random};
use lbm_tests::sample::sample;

/// Blocks along each axis of the part between the mirrors.
const BLOCKS: usize = 3;

/// Which blocks of level 0 between the mirrors are refined, with all that is in them.
type Refines<'a> = &'a (dyn Fn([usize; 3]) -> bool + Sync);

/// A box: along the first axes there are mirrors, or it is twice as large and periodic; along the last there may be walls.
struct Symmetric<'a> {
    bundle: &'a Bundle,
    mirrored: usize,
    walls: bool,
    levels: usize,
    refines: Refines<'a>,
}

impl Symmetric<'_> {
    fn dim(&self) -> usize {
        self.bundle.manifest.dim as usize
    }

    /// Length of the part between the mirrors along each axis, in cells of the coarsest level.
    fn length(&self) -> f64 {
        (BLOCKS * self.bundle.manifest.block[0] as usize) as f64
    }

    /// The flow in the whole box or in the part, with noise in every population that is the same in all mirror images.
    fn start(&self, whole: bool) -> Simulation {
        let (dim, faces) = (self.dim(), &Face::ALL[..2 * self.dim()]);
        let part = BLOCKS * self.bundle.manifest.block[0] as usize;
        let size = std::array::from_fn(|axis| match axis < dim {
            true => part * if whole && axis < self.mirrored { 2 } else { 1 },
            false => 1,
        });
        let mut grid = GridSpec::periodic(size);
        for (at, face) in faces.iter().enumerate() {
            if at / 2 < self.mirrored && !whole {
                grid = grid.with_wall(*face, "free_slip", &[]);
            } else if self.walls && at / 2 == dim - 1 {
                grid = grid.with_wall(*face, "bounce_back", &[]);
            }
        }
        let refine = |block: Block| {
            // In blocks of level 0.
            let image =
                |at: usize| if at < BLOCKS << block.level { at } else { ((2 * BLOCKS) << block.level) - 1 - at };
            (self.refines)(block.place.map(|at| image(at) >> block.level))
        };
        let params = [("omega".to_string(), vec![1.7])];
        let device = Device::host(1).unwrap();
        let mut flow = Simulation::refined(&device, self.bundle, &grid, &params, self.levels, refine).unwrap();
        let directions = flow.manifest().directions.clone();
        flow.init_cells(|_, out| out[0] = 1.0).unwrap();
        flow.update_cells(|cell, populations| {
            let (centre, turned) = self.image(cell);
            for (population, direction) in populations.iter_mut().zip(&directions) {
                let c: [i32; 3] =
                    std::array::from_fn(|axis| if turned[axis] { -direction.c[axis] } else { direction.c[axis] });
                let numbers = key(centre).into_iter().chain(c.map(i64::from));
                let seed = numbers.fold(7u64, |seed, at| seed.wrapping_mul(1_000_003).wrapping_add(at as u64));
                let mut random = Random(seed);
                (0..4).for_each(|_| _ = random.draw());
                *population = direction.weight_value() * (1.0 + 0.1 * random.draw());
            }
        })
        .unwrap();
        flow
    }

    /// The place of a cell's image between the mirrors, and the axes along which it is turned.
    fn image(&self, cell: Cell) -> ([f64; 3], [bool; 3]) {
        let (length, centre) = (self.length(), cell.centre());
        let turned = std::array::from_fn(|axis| axis < self.mirrored && centre[axis] > length);
        (std::array::from_fn(|axis| if turned[axis] { 2.0 * length - centre[axis] } else { centre[axis] }), turned)
    }

    /// Largest difference between the part and the whole after some steps, and the change of mass in the part, relative.
    fn compare(&self, steps: u64) -> (f64, f64) {
        let [mut part, mut whole] = [false, true].map(|whole| self.start(whole));
        let before = part.mass().unwrap();
        part.run(steps).unwrap();
        whole.run(steps).unwrap();
        let mut expected = BTreeMap::new();
        whole
            .visit_populations(|cell, populations| _ = expected.insert(key(cell.centre()), populations.to_vec()))
            .unwrap();
        let (mut most, mut seen) = (0.0f64, 0);
        part.visit_populations(|cell, populations| {
            for (is, expected) in populations.iter().zip(&expected[&key(cell.centre())]) {
                most = if (is - expected).is_nan() { f64::INFINITY } else { most.max((is - expected).abs()) };
            }
            seen += 1;
        })
        .unwrap();
        assert_eq!(seen << self.mirrored, expected.len());
        (most, (part.mass().unwrap() / before - 1.0).abs())
    }
}

fn key(centre: [f64; 3]) -> [i64; 3] {
    centre.map(|at| (at * 64.0).round() as i64)
}

fn bundle(spec: &str, coupling: &str) -> Bundle {
    let model = compiled::model_with_all(spec, &["free_slip"], Some(coupling));
    let block = if model.lattice().dim() == 2 { [8, 8, 1] } else { [4, 4, 4] };
    compiled::compile_levels(&model, Target::C, Real::F64, block)
}

#[test]
fn a_flow_between_mirrors_that_jumps_meet_is_that_of_the_whole_box() {
    lbm_tests::in_turn!();
    for coupling in ["volumetric", "volumetric_shifted"] {
        let bundle = bundle("d2q9_bgk", coupling);
        let shapes: [(&str, usize, Refines); 6] = [
            ("along a mirror", 2, &|[x, _, _]| x == 0),
            ("across the mirrors", 2, &|[_, y, _]| y == 1),
            ("in a corner", 2, &|[x, y, _]| x == 0 && y == 0),
            ("around a corner", 2, &|[x, y, _]| x + y > 0 && x < 2 && y < 2),
            ("on a side, off the corners", 2, &|[x, y, _]| x == 2 && y == 1),
            ("twice in a corner", 3, &|[x, y, _]| x == 2 && y == 2),
        ];
        for (name, levels, refines) in shapes {
            for (mirrored, walls) in [(1, false), (1, true), (2, false)] {
                let (difference, mass) = Symmetric { bundle: &bundle, mirrored, walls, levels, refines }.compare(12);
                println!("{coupling}, {name}, {mirrored} axes, walls {walls}: {difference:e} {mass:e}");
                assert!(difference < 1e-12, "{coupling}, {name}, {mirrored} axes, walls {walls}: {difference:e}");
                assert!(mass < 1e-13, "{coupling}, {name}, {mirrored} axes, walls {walls}: {mass:e}");
            }
        }
    }
}

#[test]
fn mirrors_meet_jumps_in_three_dimensions() {
    for (spec, mirrored, walls) in sample([("d3q19_bgk", 3, false), ("d3q27_bgk", 2, true)]) {
        let bundle = bundle(spec, "volumetric_shifted");
        // An L in the corner, so that edges of all kinds end at mirrors.
        let refines = |place: [usize; 3]| {
            place.iter().all(|at| *at < 2) && place.iter().sum::<usize>() < 3 && place[0] + place[1] > 0
        };
        let (difference, mass) =
            Symmetric { bundle: &bundle, mirrored, walls, levels: 2, refines: &refines }.compare(6);
        println!("{spec}: {difference:e} {mass:e}");
        assert!(difference < 1e-12 && mass < 1e-13, "{spec}: {difference:e} {mass:e}");
    }
}

/// Half of what comes back is that of a wall at rest: no image of the cells sends it.
#[test]
fn half_a_mirror_is_refused_where_levels_meet() {
    let more = "boundary half_slip { link f[i] <- (mirrored[i] + f[opp(i)]) / 2; }\n\
                use couplings::volumetric;\ncoupling volumetric;";
    let model = compiled::model_with("d2q9_bgk", more);
    let bundle = compiled::compile_levels(&model, Target::C, Real::F64, [8, 8, 1]);
    let grid = GridSpec::periodic([16, 16, 1]).with_wall(Face::YMin, "half_slip", &[]).with_wall(
        Face::YMax,
        "bounce_back",
        &[],
    );
    let params = [("omega".to_string(), vec![1.7])];
    let of_levels = |levels| {
        Simulation::refined(&Device::host(1).unwrap(), &bundle, &grid, &params, levels, |block| block.place[1] == 0)
    };
    assert!(of_levels(1).is_ok());
    let error = of_levels(2).err().expect("two levels").to_string();
    assert!(error.contains("y_min") && error.contains("`half_slip`"), "{error}");
}
