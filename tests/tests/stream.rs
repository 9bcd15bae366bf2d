//! Kernels on a grid of blocks against a dense reference written here: every direction, several shapes of blocks, walls of
//! every rule of the prelude on every face, edge and corner.
//!
//! The reference knows cells only: it pulls `f_i` from `x - c_i`, periodic or off walls, and evaluates the collision and the
//! rules by the interpreter of the spec. Where it needs a population that has not arrived, it stops.

use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::eval::eval_ir;
use lbm_codegen::ir::KernelIr;
use lbm_codegen::lower;
use lbm_dsl::expr::{DEEP, Symbol};
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Model, Rule};
use lbm_dsl::shipped;
use lbm_runtime::device::Device;
use lbm_runtime::kernels::{self, Program};
use lbm_tests::compiled::{self, Random};
use lbm_tests::sample::sample;

const OMEGA: f64 = 1.25;
const LID: [f64; 3] = [0.03, -0.01, 0.02];

/// The rule of a face and its parameters, components one after the other.
#[derive(Clone, Debug)]
struct Wall {
    rule: String,
    values: Vec<f64>,
}

/// A box of blocks.
struct Grid {
    blocks: [usize; 3],
    block: [usize; 3],
    dim: usize,
    /// x-, x+, y-, y+, z-, z+; both faces of an axis or none, which is then periodic.
    faces: [Option<Wall>; 6],
}

impl Grid {
    fn size(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.blocks[axis] * self.block[axis])
    }
    fn slots(&self) -> usize {
        self.blocks.iter().product()
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
                let beyond = |axis: usize| match to[axis] {
                    low if low < 0 => Some(2 * axis),
                    high if high >= self.blocks[axis] as i64 => Some(2 * axis + 1),
                    _ => None,
                };
                let wall = (0..self.dim).filter_map(beyond).find(|face| self.faces[*face].is_some());
                table[slot * near + entry] = match wall {
                    Some(face) => -(face as i32 + 1),
                    None => {
                        let wrapped =
                            |axis: usize| to[axis].rem_euclid(self.blocks[axis] as i64) as usize * self.block[axis];
                        self.place(std::array::from_fn(wrapped)).0 as i32
                    }
                };
            }
        }
        table
    }
}

/// The reference: a model on a grid.
struct Reference<'a> {
    model: &'a Model,
    grid: &'a Grid,
    collide: KernelIr,
    /// Kernels of each rule of the model.
    rules: Vec<Vec<KernelIr>>,
    f: &'a [Vec<f64>],
}

impl<'a> Reference<'a> {
    fn new(model: &'a Model, grid: &'a Grid, f: &'a [Vec<f64>]) -> Self {
        let rules = (0..model.boundaries().len()).map(|rule| lower::wall(model, rule)).collect();
        Reference { model, grid, collide: lower::collide(model), rules, f }
    }

    fn velocity(&self, dir: Dir) -> [i64; 3] {
        let c = self.model.lattice().velocity(dir);
        std::array::from_fn(|axis| c.get(axis).map_or(0, |c| i64::from(*c)))
    }

    /// The direction with a velocity.
    fn find(&self, c: [i64; 3]) -> Dir {
        let c: Vec<i32> = c[..self.grid.dim].iter().map(|c| *c as i32).collect();
        self.model.lattice().find(&c).expect("the lattice is symmetric")
    }

    /// The populations of a cell; periodic axes wrap.
    fn at(&self, at: [i64; 3]) -> &[f64] {
        let size = self.grid.size();
        let at: [usize; 3] = std::array::from_fn(|axis| at[axis].rem_euclid(size[axis] as i64) as usize);
        &self.f[at[0] + size[0] * (at[1] + size[1] * at[2])]
    }

    /// The face of an axis that a coordinate lies behind, if there is a wall.
    fn behind(&self, axis: usize, coordinate: i64) -> Option<usize> {
        let high = coordinate >= self.grid.size()[axis] as i64;
        let face = 2 * axis + usize::from(high);
        ((coordinate < 0 || high) && self.grid.faces[face].is_some()).then_some(face)
    }

    /// The position of a face's rule in the model.
    fn rule(&self, face: usize) -> usize {
        let wall = self.grid.faces[face].as_ref().expect("a wall");
        self.model.boundaries().iter().position(|rule| rule.name == wall.rule).expect("the model has it")
    }

    fn is_node(&self, face: usize) -> bool {
        matches!(self.model.boundaries()[self.rule(face)].rule, Rule::Node(_))
    }

    /// The value of a parameter of a face's rule.
    fn value(&self, face: usize, param: u16, component: usize) -> f64 {
        let boundary = &self.model.boundaries()[self.rule(face)];
        let first: usize = boundary.params[..usize::from(param)].iter().map(|param| param.components).sum();
        self.grid.faces[face].as_ref().expect("a wall").values[first + component]
    }

    /// What arrives at a cell; none if a rule of nodes has to say.
    fn arrival(&self, here: [i64; 3], dir: Dir) -> Option<f64> {
        let c = self.velocity(dir);
        let upwind: [i64; 3] = std::array::from_fn(|axis| here[axis] - c[axis]);
        let crossed: Vec<usize> = (0..self.grid.dim).filter_map(|axis| self.behind(axis, upwind[axis])).collect();
        let mirror = |face: &usize| self.grid.faces[*face].as_ref().is_some_and(|wall| wall.rule == "free_slip");
        if let Some(face) = crossed.iter().find(|face| !mirror(face)) {
            if crossed.iter().any(|face| self.is_node(*face)) {
                return None;
            }
            let rule = &self.rules[self.rule(*face)][0];
            let links = eval_ir(rule, |symbol| match symbol {
                Symbol::Population(pop) => self.at(here)[pop.index()],
                Symbol::WallParam { param, component } => self.value(*face, param, component.into()),
                other => panic!("a link has no {other:?}"),
            });
            return Some(links[dir.index()]);
        }
        // All that is crossed are mirrors: the way back from the mirror image.
        let (mut from, mut image) = (upwind, c);
        for face in crossed {
            from[face / 2] = here[face / 2];
            image[face / 2] = -c[face / 2];
        }
        Some(self.at(from)[self.find(image).index()])
    }

    /// All populations that a cell collides.
    fn incoming(&self, here: [i64; 3]) -> Vec<f64> {
        let lattice = self.model.lattice();
        let arrived: Vec<Option<f64>> = lattice.dirs().map(|dir| self.arrival(here, dir)).collect();
        let mut normal = [0i64; 3];
        let mut faces = Vec::new();
        for axis in 0..self.grid.dim {
            for step in [-1, 1] {
                if let Some(face) = self.behind(axis, here[axis] + step).filter(|face| self.is_node(*face)) {
                    normal[axis] = -step;
                    faces.push(face);
                }
            }
        }
        let Some(&owner) = faces.first() else {
            return arrived.into_iter().map(|f| f.expect("only rules of nodes leave something unknown")).collect();
        };
        let (walls, free): (Vec<usize>, Vec<usize>) = (0..self.grid.dim).partition(|axis| normal[*axis] != 0);
        let axes: Vec<usize> = walls.iter().chain(&free).copied().collect();
        let sign = |axis: usize| if normal[axis] < 0 { -1 } else { 1 };
        let turned = |dir: Dir| {
            let c = self.velocity(dir);
            let mut image = [0; 3];
            for (at, axis) in axes.iter().enumerate() {
                image[*axis] = sign(*axis) * c[at];
            }
            self.find(image)
        };
        let inwards = |cells: i64| std::array::from_fn(|axis| here[axis] + cells * normal[axis]);
        let Rule::Node(forms) = &self.model.boundaries()[self.rule(owner)].rule else { unreachable!() };
        let (form, kernel) = (&forms[walls.len() - 1], &self.rules[self.rule(owner)][walls.len() - 1]);
        let values = eval_ir(kernel, |symbol| match symbol {
            Symbol::Population(pop) => self.at(here)[turned(Dir(pop.index() as u8)).index()],
            Symbol::Streamed(dir) => arrived[turned(dir).index()].expect("it is known"),
            Symbol::Inside(dir) => self.arrival(inwards(1), turned(dir)).expect("all is known there"),
            Symbol::Deep(dir) => self.arrival(inwards(i64::from(DEEP)), turned(dir)).expect("all is known there"),
            Symbol::WallParam { param, component } => {
                let vector = self.model.boundaries()[self.rule(owner)].params[usize::from(param)].components > 1;
                let axis = axes[usize::from(component)];
                if vector { sign(axis) as f64 * self.value(owner, param, axis) } else { self.value(owner, param, 0) }
            }
            other => panic!("a node has no {other:?}"),
        });
        let mut all = arrived;
        for (dir, value) in form.dirs.iter().zip(values) {
            all[turned(*dir).index()] = Some(value);
        }
        all.into_iter().map(|f| f.expect("the rule defines what is unknown")).collect()
    }

    /// One step, by cells in the order of `Grid::positions`.
    fn step(&self) -> Vec<Vec<f64>> {
        let step = |at: [usize; 3]| {
            let incoming = self.incoming(at.map(|coordinate| coordinate as i64));
            eval_ir(&self.collide, |symbol| match symbol {
                Symbol::Population(pop) => incoming[pop.index()],
                _ => OMEGA,
            })
        };
        self.grid.positions().map(step).collect()
    }
}

/// The same step by the compiled kernel; the blocks that `skip` names are not listed and must stay as they are.
fn kernel(bundle: &Bundle, grid: &Grid, f: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let device = Device::host(2).expect("a host");
    let program = Program::load(&device, bundle).unwrap_or_else(|error| panic!("{error}"));
    let (q, pitch) = (bundle.manifest.q(), bundle.manifest.pitch());
    let offset = |at, dir: usize| {
        let (slot, cell) = grid.place(at);
        (slot * q + dir) * pitch + cell
    };
    let mut values = vec![0.0; grid.slots() * q * pitch];
    for (at, state) in grid.positions().zip(f) {
        for (dir, value) in state.iter().enumerate() {
            values[offset(at, dir)] = value - bundle.manifest.directions[dir].rest_value();
        }
    }
    let mut src = device.alloc_stored(Real::F64, values.len()).expect("memory");
    src.write_reals(0, &values).expect("in range");
    let mut dst = device.alloc_stored(Real::F64, values.len()).expect("memory");
    dst.poison().expect("writable");
    let ids: Vec<i32> = (0..grid.slots() as i32).collect();
    let ids = device.ints(&ids).expect("memory");
    let neighbours = device.ints(&grid.neighbours()).expect("memory");
    let code = |wall: &Wall| {
        bundle.manifest.boundaries.iter().find(|rule| rule.name == wall.rule).expect("the spec has the rule").code
    };
    let rules: Vec<i32> = grid.faces.iter().map(|wall| wall.as_ref().map_or(-1, code)).collect();
    let rules = device.ints(&rules).expect("memory");
    let stride = bundle.manifest.wall_stride as usize;
    let mut walls = device.alloc_reals(Real::F64, 6 * stride).expect("memory");
    for (face, wall) in grid.faces.iter().enumerate() {
        let values = wall.as_ref().map_or(&[][..], |wall| &wall.values);
        walls.write_reals(face * stride, values).expect("in range");
    }
    let (ids, neighbours) = (ids.slice(0..grid.slots()), &neighbours);
    let params = &kernels::Params::new(&bundle.manifest, &[vec![OMEGA]]);
    let walls = kernels::Walls { wall_rules: &rules, wall_values: &walls };
    let kernel = kernels::Gather {
        ids,
        sources: kernels::Sources {
            neighbours: Some(neighbours),
            walls: grid.faces.iter().any(Option::is_some).then_some(walls),
            ..Default::default()
        },
        action: kernels::Action::Collide { src: &src, dst: &mut dst },
        params,
    };
    program.launch(kernel).unwrap_or_else(|error| panic!("{error}"));
    let found = dst.read_reals(0..values.len()).expect("in range");
    let rest = |dir: usize| bundle.manifest.directions[dir].rest_value();
    grid.positions().map(|at| (0..q).map(|dir| rest(dir) + found[offset(at, dir)]).collect()).collect()
}

/// One step of both from a state that looks random.
fn compare(model: &Model, bundle: &Bundle, grid: &Grid, bound: f64) {
    let mut random = Random(7);
    let weight = |dir| num_traits::ToPrimitive::to_f64(model.lattice().weight(dir)).expect("finite");
    let state = |_| model.lattice().dirs().map(|dir| weight(dir) * (1.0 + 0.1 * random.draw())).collect();
    let f: Vec<Vec<f64>> = grid.positions().map(state).collect();
    let (expected, found) = (Reference::new(model, grid, &f).step(), kernel(bundle, grid, &f));
    for ((at, expected), found) in grid.positions().zip(&expected).zip(&found) {
        for (dir, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert!(
                (expected - found).abs() < bound,
                "{}, blocks of {:?}, walls: {:?}: f_{dir} at {at:?} is {found}, not {expected}",
                model.name(),
                grid.block,
                grid.faces
            );
        }
    }
}

/// The same for a shipped spec; with walls the box is closed at y = 0 (at rest) and at the largest y (moving with `LID`).
fn compare_shipped(spec: &str, blocks: [usize; 3], block: [usize; 3], walls: bool) {
    let model = compiled::model(spec);
    let dim = model.lattice().dim();
    let mut faces = [const { None }; 6];
    if walls {
        faces[2] = Some(Wall { rule: "bounce_back".into(), values: vec![] });
        faces[3] = Some(Wall { rule: "moving_wall".into(), values: LID[..dim].to_vec() });
    }
    let bundle = compiled::compile(&model, Target::C, Real::F64, block.map(|side| side as u32)).bundle;
    compare(&model, &bundle, &Grid { blocks, block, dim, faces }, 1e-14);
}

/// The model with all rules of the prelude that blocks with so many cells along their shortest side may have.
fn with_all_rules(spec: &str, shortest: usize) -> Model {
    let rules = shipped::rules(&shipped::Prelude).unwrap();
    let fits = |rule: &&str| *rule != "wall_function" || shortest > DEEP as usize;
    let rules: Vec<&str> = rules.iter().map(|(_, rule)| rule.as_str()).filter(fits).collect();
    compiled::model_with_rules(spec, &rules)
}

/// Every rule on all faces, then rules drawn for each face, so that links and nodes meet at edges and corners.
fn compare_rules(spec: &str, blocks: [usize; 3], block: [usize; 3], draws: usize) {
    let dim = if spec.starts_with("d2") { 2 } else { 3 };
    let model = with_all_rules(spec, block[..dim].iter().copied().min().expect("axes"));
    let bundle = compiled::compile(&model, Target::C, Real::F64, block.map(|side| side as u32)).bundle;
    let mut random = Random(3);
    let mut wall = |rule: usize| {
        let boundary = &model.boundaries()[rule];
        let mut value = |name: &str| match name {
            "density" => 1.0 + 0.05 * random.draw(),
            "distance" => 0.5 + 0.45 * random.draw(),
            "speed" => 0.5 + 0.1 * random.draw(),
            "length" => 50.0 + 10.0 * random.draw(),
            "viscosity" => 0.1 + 0.09 * random.draw(),
            _ => 0.05 * random.draw(),
        };
        let values = boundary
            .params
            .iter()
            .flat_map(|param| (0..param.components).map(|_| value(&param.name)).collect::<Vec<_>>());
        Wall { rule: boundary.name.clone(), values: values.collect() }
    };
    let mut choose = Random(5);
    let count = model.boundaries().len();
    for draw in 0..count + draws {
        let mut rule = || if draw < count { draw } else { (choose.draw().abs() * count as f64) as usize };
        let faces = std::array::from_fn(|face| (face < 2 * dim).then(|| wall(rule())));
        compare(&model, &bundle, &Grid { blocks, block, dim, faces }, 1e-13);
    }
}

#[test]
fn blocks_stream_as_a_dense_box_does() {
    compare_shipped("d2q9_bgk", [3, 2, 1], [8, 8, 1], false);
    compare_shipped("d2q9_bgk", [2, 3, 1], [3, 5, 1], false);
    compare_shipped("d2q9_bgk", [5, 4, 1], [1, 1, 1], false);
    compare_shipped("d3q19_bgk", [2, 3, 2], [4, 4, 4], false);
    compare_shipped("d3q27_bgk", [2, 1, 3], [3, 4, 2], false);
    compare_shipped("d3q27_bgk", [1, 1, 1], [4, 4, 4], false);
}

#[test]
fn blocks_gathered_in_several_slabs_stream_alike() {
    lbm_tests::in_turn!();
    compare_shipped("d3q27_bgk", [1, 2, 1], [8, 8, 8], false);
    compare_shipped("d3q19_bgk", [1, 1, 2], [16, 16, 2], false);
    compare_shipped("d3q27_bgk", [1, 2, 1], [4, 4, 16], false);
}

#[test]
fn rows_of_whole_cache_lines_stream_alike() {
    lbm_tests::in_turn!();
    compare_shipped("d2q9_bgk", [3, 2, 1], [16, 3, 1], false);
    compare_shipped("d3q19_bgk", [2, 2, 1], [24, 2, 3], false);
    compare_shipped("d3q27_bgk", [2, 1, 2], [16, 4, 4], false);
    compare_shipped("d3q27_bgk", [1, 2, 1], [8, 2, 1], false);
}

#[test]
fn walls_return_what_their_rules_say() {
    compare_shipped("d2q9_bgk", [2, 2, 1], [8, 8, 1], true);
    compare_shipped("d2q9_bgk", [3, 1, 1], [3, 2, 1], true);
    compare_shipped("d2q9_bgk", [3, 2, 1], [1, 1, 1], true);
    compare_shipped("d3q19_bgk", [2, 2, 2], [4, 4, 4], true);
    compare_shipped("d3q19_bgk", [2, 1, 2], [16, 3, 2], true);
    compare_shipped("d3q27_bgk", [2, 3, 1], [2, 3, 4], true);
}

#[test]
fn every_rule_does_what_its_text_says_on_faces_edges_and_corners() {
    for (spec, blocks, block, draws) in sample([
        ("d2q9_bgk", [2, 3, 1], [4, 3, 1], 40),
        ("d2q9_bgk", [1, 1, 1], [3, 3, 1], 10),
        ("d2q9_bgk", [2, 1, 1], [4, 5, 1], 20),
        ("d3q19_bgk", [2, 1, 2], [3, 4, 3], 20),
        ("d3q19_bgk", [2, 2, 1], [4, 4, 5], 20),
        ("d3q27_bgk", [1, 2, 1], [3, 3, 4], 10),
    ]) {
        compare_rules(spec, blocks, block, draws);
    }
}
