//! Kernels on a grid of blocks against a dense reference written here: every direction, several shapes of blocks, walls.
//!
//! The reference knows cells only: it pulls `f_i` from `x - c_i`, periodic or back from a wall half-way, and collides by
//! the interpreter of the spec.

use lbm_bundle::{Real, Role, Target};
use lbm_codegen::{eval::eval_ir, lower};
use lbm_dsl::expr::Symbol;
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::kernels::{Given, Program};
use lbm_tests::compiled::{self, Random, scalar};

const OMEGA: f64 = 1.25;
const LID: [f64; 3] = [0.03, -0.01, 0.02];

/// A box of blocks; with walls it is closed at y = 0 (at rest) and at the largest y (moving with `LID`).
struct Grid {
    blocks: [usize; 3],
    block: [usize; 3],
    dim: usize,
    walls: bool,
}

impl Grid {
    fn size(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.blocks[axis] * self.block[axis])
    }
    fn slots(&self) -> usize {
        self.blocks.iter().product()
    }
    fn cells(&self) -> usize {
        self.block.iter().product()
    }
    fn positions(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.size();
        (0..nx * ny * nz).map(move |at| [at % nx, at / nx % ny, at / nx / ny])
    }
    /// Slot and cell of a position. Slots are numbered backwards, so that no kernel can rely on their order.
    fn place(&self, at: [usize; 3]) -> (usize, usize) {
        let [b, r]: [[usize; 3]; 2] = [
            std::array::from_fn(|axis| at[axis] / self.block[axis]),
            std::array::from_fn(|axis| at[axis] % self.block[axis]),
        ];
        let slot = b[0] + self.blocks[0] * (b[1] + self.blocks[1] * b[2]);
        (self.slots() - 1 - slot, r[0] + self.block[0] * (r[1] + self.block[1] * r[2]))
    }
    fn neighbours(&self) -> Vec<i32> {
        let near = 3usize.pow(self.dim as u32);
        let mut table = vec![0; self.slots() * near];
        for at in self.positions().filter(|at| (0..3).all(|axis| at[axis] % self.block[axis] == 0)) {
            let (slot, _) = self.place(at);
            for entry in 0..near {
                let d = [entry % 3, entry / 3 % 3, if self.dim == 3 { entry / 9 } else { 1 }];
                let to: [i64; 3] =
                    std::array::from_fn(|axis| (at[axis] / self.block[axis]) as i64 + d[axis] as i64 - 1);
                table[slot * near + entry] = if self.walls && to[1] < 0 {
                    -1
                } else if self.walls && to[1] >= self.blocks[1] as i64 {
                    -2
                } else {
                    let wrapped =
                        |axis: usize| to[axis].rem_euclid(self.blocks[axis] as i64) as usize * self.block[axis];
                    self.place(std::array::from_fn(wrapped)).0 as i32
                };
            }
        }
        table
    }
}

/// One step of the reference on `f[position in the order of Grid::positions][direction]`.
fn reference(model: &Model, grid: &Grid, f: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (lattice, kernel, size) = (model.lattice(), lower::collide(model), grid.size());
    let index = |at: [i64; 3]| {
        let at: [usize; 3] = std::array::from_fn(|axis| at[axis].rem_euclid(size[axis] as i64) as usize);
        at[0] + size[0] * (at[1] + size[1] * at[2])
    };
    let step = |at: [usize; 3]| {
        let here = at.map(|coordinate| coordinate as i64);
        let incoming = |dir: Dir| {
            let c: [i64; 3] = std::array::from_fn(|axis| lattice.velocity(dir).get(axis).map_or(0, |c| i64::from(*c)));
            let from: [i64; 3] = std::array::from_fn(|axis| here[axis] - c[axis]);
            let outgoing = f[index(here)][lattice.opposite(dir).index()];
            if grid.walls && from[1] < 0 {
                outgoing
            } else if grid.walls && from[1] >= size[1] as i64 {
                let weight = num_traits::ToPrimitive::to_f64(lattice.weight(dir)).expect("finite");
                let along: f64 = (0..grid.dim).map(|axis| c[axis] as f64 * LID[axis]).sum();
                outgoing + 6.0 * weight * along
            } else {
                f[index(from)][dir.index()]
            }
        };
        let pulled: Vec<f64> = lattice.dirs().map(incoming).collect();
        eval_ir(&kernel, |symbol| match symbol {
            Symbol::Population(pop) => pulled[pop.index()],
            _ => OMEGA,
        })
    };
    grid.positions().map(step).collect()
}

/// The same step by the compiled kernel; the blocks that `skip` names are not listed and must stay as they are.
fn kernel(model: &Model, grid: &Grid, f: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let block = grid.block.map(|side| side as u32);
    let bundle = compiled::compile(model, Target::C, Real::F64, block).bundle;
    let device = Device::host(2).expect("a host");
    let program = Program::load(&device, &bundle).unwrap_or_else(|error| panic!("{error}"));
    let (q, cells) = (model.lattice().q(), grid.cells());
    let offset = |at, dir: usize| {
        let (slot, cell) = grid.place(at);
        (slot * q + dir) * cells + cell
    };
    let mut values = vec![0.0; grid.slots() * q * cells];
    for (at, state) in grid.positions().zip(f) {
        for (dir, value) in state.iter().enumerate() {
            values[offset(at, dir)] = *value;
        }
    }
    let mut src = device.alloc(scalar(Real::F64), values.len()).expect("memory");
    src.write_reals(0, &values).expect("in range");
    let mut dst = device.alloc(scalar(Real::F64), values.len()).expect("memory");
    dst.poison().expect("writable");
    let ids: Vec<i32> = (0..grid.slots() as i32).collect();
    let ids = device.ints(&ids).expect("memory");
    let neighbours = device.ints(&grid.neighbours()).expect("memory");
    let code = |name: &str| {
        bundle.manifest.boundaries.iter().find(|rule| rule.name == name).expect("the spec has the rule").code
    };
    let rules = device.ints(&[code("bounce_back"), code("moving_wall")]).expect("memory");
    let mut wall_values = vec![0.0; 2 * grid.dim];
    wall_values[grid.dim..].copy_from_slice(&LID[..grid.dim]);
    let mut walls = device.alloc(scalar(Real::F64), wall_values.len()).expect("memory");
    walls.write_reals(0, &wall_values).expect("in range");
    let mut given = vec![
        ("ids", Given::Read(&ids)),
        ("count", Given::Int(grid.slots() as i32)),
        ("neighbours", Given::Read(&neighbours)),
        ("src", Given::Read(&src)),
        ("dst", Given::Write(&mut dst)),
        ("omega", Given::Real(OMEGA)),
    ];
    let mut role = Role::StreamCollide;
    if grid.walls {
        role = Role::StreamCollideWalls;
        given.extend([("wall_rules", Given::Read(&rules)), ("wall_values", Given::Read(&walls))]);
    }
    program.launch(role, grid.slots(), given).unwrap_or_else(|error| panic!("{error}"));
    let found = dst.read_reals(0..values.len()).expect("in range");
    grid.positions().map(|at| (0..q).map(|dir| found[offset(at, dir)]).collect()).collect()
}

fn compare(spec: &str, blocks: [usize; 3], block: [usize; 3], walls: bool) {
    let model = compiled::model(spec);
    let grid = Grid { blocks, block, dim: model.lattice().dim(), walls };
    let mut random = Random(7);
    let weight = |dir| num_traits::ToPrimitive::to_f64(model.lattice().weight(dir)).expect("finite");
    let state = |_| model.lattice().dirs().map(|dir| weight(dir) * (1.0 + 0.1 * random.draw())).collect();
    let f: Vec<Vec<f64>> = grid.positions().map(state).collect();
    let (expected, found) = (reference(&model, &grid, &f), kernel(&model, &grid, &f));
    for ((at, expected), found) in grid.positions().zip(&expected).zip(&found) {
        for (dir, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert!(
                (expected - found).abs() < 1e-14,
                "{spec}, blocks of {block:?}, walls: {walls}: f_{dir} at {at:?} is {found}, not {expected}"
            );
        }
    }
}

#[test]
fn blocks_stream_as_a_dense_box_does() {
    compare("d2q9_bgk", [3, 2, 1], [8, 8, 1], false);
    compare("d2q9_bgk", [2, 3, 1], [3, 5, 1], false);
    compare("d2q9_bgk", [5, 4, 1], [1, 1, 1], false);
    compare("d3q19_bgk", [2, 3, 2], [4, 4, 4], false);
    compare("d3q27_bgk", [2, 1, 3], [3, 4, 2], false);
    compare("d3q27_bgk", [1, 1, 1], [4, 4, 4], false);
}

#[test]
fn planes_gathered_in_several_slabs_stream_alike() {
    compare("d3q27_bgk", [1, 2, 1], [8, 8, 8], false);
    compare("d3q19_bgk", [1, 1, 2], [16, 16, 2], false);
}

#[test]
fn walls_return_what_their_rules_say() {
    compare("d2q9_bgk", [2, 2, 1], [8, 8, 1], true);
    compare("d2q9_bgk", [3, 1, 1], [3, 2, 1], true);
    compare("d2q9_bgk", [3, 2, 1], [1, 1, 1], true);
    compare("d3q19_bgk", [2, 2, 2], [4, 4, 4], true);
    compare("d3q27_bgk", [2, 3, 1], [2, 3, 4], true);
}
