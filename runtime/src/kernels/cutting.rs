//! Kernels that cut links at moving solids, and their launches: a struct for each row of [`lbm_bundle::cutting_kernels!`].

pub use lbm_bundle::cutting::UNCHANGED;
use lbm_bundle::cutting::{CutBundle, CutManifest, CutRole};
use lbm_bundle::{File, Real as Precision, Target, cutting_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use super::method::{AllShapes, NearShapes, Placed, Surfaces};
use crate::device::{Buffer, Device, Double, Int, Real, Slice};

macro_rules! of_cutting {
    ($($rows:tt)*) => { launches! { CutRole: $($rows)* } };
}

cutting_kernels!(of_cutting);

/// The checked-in kernels for a dimension and a real type.
fn bundle(dim: usize, target: Target, real: Precision) -> Result<CutBundle, KernelError> {
    macro_rules! generated {
        ($name:literal) => {
            include_str!(concat!("../../../generated/", $name))
        };
    }
    let (manifest, gpu, host) = match dim {
        2 => (generated!("cutting_2d.json"), generated!("cutting_2d.cu"), generated!("cutting_2d.c")),
        _ => (generated!("cutting_3d.json"), generated!("cutting_3d.cu"), generated!("cutting_3d.c")),
    };
    let wrong = |error: serde_json::Error| KernelError::Manifest { spec: "cutting".into(), reason: error.to_string() };
    let mut manifest: CutManifest = serde_json::from_str(manifest).map_err(wrong)?;
    manifest.target = target;
    let name = if real == Precision::F64 { "double" } else { "float" };
    let text = format!("#define REAL {name}\n{}", if target.is_gpu() { gpu } else { host });
    let source = File { name: format!("{}.{}", manifest.name, target.ending()), text };
    Ok(CutBundle { manifest, source })
}

impl Family for CutBundle {
    // Without FMA, so that all devices cut the same links.
    const FUSES: bool = false;

    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn made_for(&self) -> (u32, Target) {
        (self.manifest.abi, self.manifest.target)
    }

    fn source(&self) -> &File {
        &self.source
    }

    fn check(&self) -> Result<(), String> {
        match self.manifest.kernels.iter().map(|kernel| kernel.role).eq(CutRole::ALL.iter().copied()) {
            true => Ok(()),
            false => Err("not the kernels that cut links".into()),
        }
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(self.manifest.dim),
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: kernel.threads,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// The kernels that cut links, loaded on a device.
pub struct Cutting {
    loaded: Loaded<CutBundle>,
}

impl Cutting {
    /// Compiles and loads the kernels of a dimension for methods of a real type.
    pub fn load(device: &Device, dim: usize, real: Precision) -> Result<Self, KernelError> {
        Ok(Cutting { loaded: Loaded::new(device, &bundle(dim, device.target(), real)?)? })
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs a kernel over the cells in its list; does nothing if the list is empty.
    pub fn launch<'a>(&self, kernel: impl Launch<'a, Role = CutRole>) -> Result<(), KernelError> {
        let (role, arguments) = (kernel.role(), Arguments::of(kernel));
        if arguments.items() == 0 {
            return Ok(());
        }
        self.loaded.launch(role as usize, &arguments, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use lbm_bundle::cutting::{NEAR_LEAVES, NEAR_SHAPES, parts_of};
    use lbm_bundle::{Direction, Manifest};

    use super::*;
    use crate::fixture::manifest;
    use crate::geometry::Block;
    use crate::geometry::solid::{
        self, Cutters, Flat, Image, Motion, Padding, Rate, Shape, Solid, Solids, Surface, Turn, Voxels,
    };

    /// Cells of the box along each axis, and of a block.
    const BOX: usize = 24;
    const SIDE: usize = 8;

    /// A manifest with directions to all cells around a cell.
    fn method(dim: usize) -> Manifest {
        let count = 3i32.pow(dim as u32);
        let direction = |at: i32| {
            // The cell itself comes first.
            let code = match at {
                0 => count / 2,
                at if at <= count / 2 => at - 1,
                at => at,
            };
            let c = [code % 3 - 1, code / 3 % 3 - 1, if dim == 3 { code / 9 - 1 } else { 0 }];
            let opposite = if at == 0 { 0 } else { (count - at) as u32 };
            Direction { c, weight: "0".into(), rest: "0".into(), opposite }
        };
        let mut manifest = Manifest { dim: dim as u32, directions: (0..count).map(direction).collect(), ..manifest() };
        manifest.populations[0].count = count as u32;
        manifest.block = [SIDE as u32, SIDE as u32, if dim == 3 { SIDE as u32 } else { 1 }];
        manifest
    }

    /// The links and distances of all blocks after some moves, by kernels: `[block][direction][cell]`. Also the values of walls.
    fn by_kernels(
        manifest: &Manifest,
        moves: &[Cutters],
        blocks: &[Block],
        rate: Option<Rate>,
    ) -> (Vec<i32>, Vec<f64>, Vec<f64>) {
        let (dim, device) = (manifest.dim as usize, Device::host(1).unwrap());
        let (cells, q, stride) = (manifest.cells(), manifest.q(), manifest.wall_stride as usize);
        let solids = &moves[0].solids;
        let (flat, first) = (Flat::new(solids), moves[0].first + solids.count());
        let around = BOX / SIDE;
        let neighbour = |block: &Block, code: usize| {
            let mut number = 0;
            for axis in (0..dim).rev() {
                let at = block.place[axis] as i64 + (code / 3usize.pow(axis as u32) % 3) as i64 - 1;
                if axis == 0 && !(0..around as i64).contains(&at) {
                    return -1;
                }
                number = number * around + at.rem_euclid(around as i64) as usize;
            }
            number as i32
        };
        let near = 3usize.pow(dim as u32);
        let neighbours: Vec<i32> =
            blocks.iter().flat_map(|block| (0..near).map(move |code| neighbour(block, code))).collect();
        let place = |(at, block): (usize, &Block)| {
            let lowest = [0, 1, 2].map(|axis| (block.place[axis] * manifest.block[axis] as usize) as i32);
            [at as i32, at as i32, lowest[0], lowest[1], lowest[2]]
        };
        let ints = |values: &[i32]| device.ints(if values.is_empty() { &[0] } else { values }).unwrap();
        let doubles = |values: &[f64]| {
            let mut buffer = device.alloc_doubles(values.len().max(1)).unwrap();
            buffer.write_reals(0, values).unwrap();
            buffer
        };
        let all = blocks.len() * cells;
        let kernels = Cutting::load(&device, dim, Precision::F64).unwrap();
        let items = ints(&(0..(all * q) as i32).collect::<Vec<_>>());
        let form = ints(&moves[0].form(manifest, first));
        let places = ints(&blocks.iter().enumerate().flat_map(place).collect::<Vec<_>>());
        let (tree, meets, bits, columns) = (ints(&flat.tree), ints(&flat.meets), ints(&flat.bits), ints(&flat.columns));
        let (boxes, triangles) = (doubles(&flat.boxes), doubles(&flat.triangles));
        let rows = ints(&(0..blocks.len() as i32).collect::<Vec<_>>());
        let mut states = device.alloc_ints(all).unwrap();
        let mut links = device.alloc_ints(all * q).unwrap();
        let mut distances = device.alloc_reals(Precision::F64, all * q).unwrap();
        let walls = first + all * q;
        let (mut rules, mut owners) = (device.alloc_ints(walls).unwrap(), device.alloc_ints(walls).unwrap());
        let mut values = device.alloc_reals(Precision::F64, walls * stride).unwrap();
        let parts = blocks.len() * parts_of(manifest.block);
        let mut near_shapes = device.alloc_ints(parts * NEAR_SHAPES).unwrap();
        let mut near_leaves = device.alloc_ints(parts * NEAR_LEAVES).unwrap();
        let (mut near_counts, mut near_cells) = (device.alloc_ints(1).unwrap(), device.alloc_ints(all).unwrap());
        for cutters in moves {
            let shapes = flat.shapes(&cutters.solids, |_| rate.map(|rate| (0, rate)));
            let (kinds, numbers) = (ints(&shapes.kinds), doubles(&shapes.numbers));
            let placed = || Placed { form: &form, level: 0, places: &places };
            let all_shapes = || AllShapes { shapes: shapes.count() as i32, kinds: &kinds, numbers: &numbers };
            let surfaces = || Surfaces {
                tree: &tree,
                boxes: &boxes,
                triangles: &triangles,
                meets: &meets,
                bits: &bits,
                columns: &columns,
            };
            kernels
                .launch(List {
                    items: items.slice(0..parts),
                    first_part: 0,
                    placed: placed(),
                    solids: all_shapes(),
                    surfaces: surfaces(),
                    near_shapes: &mut near_shapes,
                    near_leaves: &mut near_leaves,
                    near_counts: &mut near_counts,
                })
                .unwrap();
            kernels
                .launch(Occupy {
                    items: items.slice(0..all),
                    placed: placed(),
                    near: NearShapes { near_shapes: &near_shapes, near_leaves: &near_leaves },
                    solids: all_shapes(),
                    surfaces: surfaces(),
                    own_from: 0,
                    own_to: blocks.len() as i32,
                    states: &mut states,
                    links: &mut links,
                    distances: &mut distances,
                    near_counts: &mut near_counts,
                    near_cells: &mut near_cells,
                })
                .unwrap();
            kernels
                .launch(Cut {
                    items: items.slice(0..7),
                    workers: 7,
                    own_from: 0,
                    placed: placed(),
                    near: NearShapes { near_shapes: &near_shapes, near_leaves: &near_leaves },
                    solids: all_shapes(),
                    surfaces: surfaces(),
                    neighbours: &ints(&neighbours),
                    rows: &rows,
                    near_counts: &near_counts,
                    near_cells: &near_cells,
                    states: &states,
                    links: &mut links,
                    distances: &mut distances,
                    wall_rules: &mut rules,
                    wall_values: &mut values,
                    owners: &mut owners,
                    beside: &mut device.alloc_ints(all * q).unwrap(),
                })
                .unwrap();
        }
        let values = values.read_reals(0..walls * stride).unwrap();
        (links.read_ints(0..all * q).unwrap(), distances.read_reals(0..all * q).unwrap(), values)
    }

    fn cutters(
        shapes: Vec<Shape>,
        motion: Option<Motion>,
        dim: usize,
        symmetry_planes: [bool; 6],
    ) -> (Cutters, Vec<Block>) {
        let along = |wide: usize| [0, 1, 2].map(|axis| if axis < dim { wide } else { 1 });
        let solid = |shape| Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let all: Vec<Solid> = shapes.into_iter().map(solid).collect();
        let mut motions = vec![None; all.len()];
        motions[0] = motion;
        let periodic = [false, !symmetry_planes[2], true];
        let mut solids = Solids::new(&all, dim, along(BOX), along(SIDE), periodic).moving(&all, &motions);
        solids.set_time(0, 7.0);
        let (no, varying_solids) = ([false; 6], BTreeSet::new());
        let count = BOX / SIDE;
        let blocks = (0..count.pow(dim as u32)).map(|at| [at % count, at / count % count, at / (count * count)]);
        (
            Cutters {
                solids,
                first: 3,
                padding: Padding::default(),
                varying: no,
                varying_solids,
                symmetry_planes,
                nodes: no,
                faces_at_interfaces: false,
            },
            blocks.map(|place| Block { level: 0, place }).collect(),
        )
    }

    /// Checks that kernels find the links that the host finds; returns how many there are.
    fn check(shapes: Vec<Shape>, motion: Option<Motion>, dim: usize, symmetry_planes: [bool; 6], what: &str) -> usize {
        let manifest = method(dim);
        let (cutters, blocks) = cutters(shapes, motion, dim, symmetry_planes);
        check_moves(&manifest, &[cutters], &blocks, what)
    }

    /// The same after some moves.
    fn check_moves(manifest: &Manifest, moves: &[Cutters], blocks: &[Block], what: &str) -> usize {
        let (links, distances, _) = by_kernels(manifest, moves, blocks, None);
        let cutters = moves.last().expect("moves");
        let length = manifest.q() * manifest.cells();
        let mut count = 0;
        for (at, block) in blocks.iter().enumerate() {
            let (links, distances) = (&links[at * length..][..length], &distances[at * length..][..length]);
            match cutters.cut(*block, &manifest.directions) {
                solid::Cut::Nothing => assert!(links.iter().all(|link| *link == 0), "{what}: {block:?}"),
                solid::Cut::All => assert!(links.iter().all(|link| *link == -1), "{what}: {block:?}"),
                solid::Cut::Some(row) => {
                    let other = (0..length).find(|at| links[*at] != row.links[*at]);
                    let of = |at: usize| (at / manifest.cells(), at % manifest.cells(), links[at], row.links[at]);
                    assert_eq!(other.map(of), None, "{what}: {block:?}");
                    let far = distances.iter().zip(&row.distances).map(|(one, other)| (one - other).abs());
                    assert!(far.fold(0.0, f64::max) < 1e-9, "{what}: {block:?}");
                    count += row.links.iter().filter(|link| **link > 0).count();
                }
            }
        }
        count
    }

    /// A body of eight triangles.
    fn octahedron(centre: [f64; 3], radius: f64) -> Shape {
        let corner = |axis: usize, sign: f64| {
            let mut at = centre;
            at[axis] += sign * radius;
            at
        };
        let face = |octant: usize| {
            let sign = |axis: usize| if octant >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let [x, y, z] = [0, 1, 2].map(|axis| corner(axis, sign(axis)));
            if octant.count_ones() % 2 == 1 { [x, y, z] } else { [y, x, z] }
        };
        Shape::Surface(Surface::new((0..8).map(face).collect()))
    }

    /// A sphere about the origin, with so many triangles around its axis and half of that along a meridian.
    fn ball(radius: f64, around: usize) -> Surface {
        let down = around / 2;
        let corner = |i: usize, j: usize| {
            let turn = std::f64::consts::TAU / around as f64;
            let (u, v) = ((i % around) as f64 * turn, j as f64 * turn);
            let out = if j == 0 || j == down { 0.0 } else { radius * v.sin() };
            [out * u.cos(), out * u.sin(), radius * v.cos()]
        };
        let faces = |at: usize| {
            let (i, j) = (at % around, at / around);
            let [one, next, below, across] =
                [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| corner(i, j));
            [[one, below, across], [one, across, next]]
        };
        Surface::new((0..around * down).flat_map(faces).collect())
    }

    #[test]
    fn kernels_cut_the_links_that_the_host_cuts() {
        let turn = |axis| Turn::new(axis, 0.7, [12.0, 11.0, 12.0], [12.3, 11.4, 12.1]);
        for (dim, axis) in [(2, [0.0, 0.0, 1.0]), (3, [0.6, 0.0, 0.8])] {
            let z = |at: f64| if dim == 3 { at } else { 0.0 };
            let deep = |at: f64| if dim == 3 { at } else { 30.0 };
            let centre = [12.2, 11.7, z(12.4)];
            let plate = Shape::Box { from: [4.0, 11.2, -deep(-4.0)], to: [20.0, 11.5, deep(20.0)] };
            let block = Shape::Box { from: [7.3, 8.2, -deep(-6.2)], to: [16.9, 13.7, deep(15.0)] };
            let radii = [6.3, 3.4, if dim == 3 { 4.7 } else { f64::INFINITY }];
            let ellipsoid = Shape::Ellipsoid { centre, radii };
            let mut all = (0..12 * 10 * 9).map(|at| (at % 12) * (at / 12 % 10) % 7 < 4 && at / 120 != 3);
            let fill = |piece: &mut [bool]| {
                piece.iter_mut().zip(&mut all).for_each(|(voxel, solid)| *voxel = solid);
                Ok::<_, std::convert::Infallible>(())
            };
            let voxels = Arc::new(Voxels::new([12, 10, if dim == 3 { 9 } else { 1 }], fill).unwrap());
            let image = || Shape::Image(Image::new(voxels.clone(), [5.1, 4.3, if dim == 3 { 6.2 } else { -0.6 }], 1.2));
            let shapes = vec![
                ("sphere", Shape::Sphere { centre, radius: 6.3 }),
                ("small sphere", Shape::Sphere { centre, radius: 0.6 }),
                ("cylinder", Shape::Cylinder { centre, axis: [0.0, 0.0, 1.0], radius: 4.2, length: None }),
                ("ellipsoid", ellipsoid.clone()),
                ("turned ellipsoid", Arc::new(ellipsoid).turned(&turn(axis))),
                ("outside", Shape::Outside(Box::new(Shape::Sphere { centre, radius: 8.1 }))),
                ("box", block.clone()),
                ("turned box", Arc::new(block).turned(&turn(axis))),
                ("turned plate", Arc::new(plate.clone()).turned(&turn(axis))),
                ("outside of a turned plate", Arc::new(Shape::Outside(Box::new(plate))).turned(&turn(axis))),
                ("image", image()),
                ("turned image", Arc::new(image()).turned(&turn(axis))),
                // Across the periodic axis.
                ("sphere at the end", Shape::Sphere { centre: [12.0, 23.1, z(23.6)], radius: 5.3 }),
                ("disc", Shape::Cylinder { centre, axis: [0.6, 0.8, 0.0], radius: 6.2, length: Some(1.1) }),
                ("surface", octahedron([12.2, 11.7, 12.4], 7.3)),
                ("turned surface", Arc::new(octahedron([12.2, 11.7, 12.4], 7.3)).turned(&turn(axis))),
            ];
            for (name, shape) in shapes {
                if dim == 2 && ["surface", "turned surface"].contains(&name) {
                    continue;
                }
                let count = check(vec![shape.clone()], None, dim, [false; 6], &format!("{name} in {dim}"));
                assert!(count > 3, "{name} in {dim}: {count}");
                let motion = Motion::new(|time| [0.1 * time, -0.07 * time, 0.0], 10);
                check(vec![shape.clone()], Some(motion), dim, [false; 6], &format!("{name} in {dim}, moved"));
                let other = Shape::Sphere { centre: [3.0, 4.0, z(5.0)], radius: 2.7 };
                check(vec![shape.clone(), other], None, dim, [false; 6], &format!("{name} in {dim} and a sphere"));
                // A symmetry plane through it.
                let lower = shape.shifted([0.0, -11.4, 0.0]);
                let symmetry_planes = [false, false, true, true, false, false];
                check(vec![lower], None, dim, symmetry_planes, &format!("{name} in {dim} at a symmetry plane"));
            }
        }
    }

    #[test]
    fn links_are_those_of_the_last_move_also_where_nothing_has_changed_for_some() {
        // Of the leaves of its tree more lie near a block than are listed, or fewer.
        for around in [120, 24] {
            let ball = ball(5.1, around);
            let place = |at: f64| {
                Arc::new(Shape::Surface(ball.clone())).turned(&Turn::new(
                    [0.6, 0.0, 0.8],
                    at,
                    [0.0; 3],
                    [at, 12.2, 11.9],
                ))
            };
            let moves = |places: &[f64]| {
                let all = places.iter().map(|at| cutters(vec![place(*at)], None, 3, [false; 6]));
                all.unzip::<_, _, Vec<_>, Vec<_>>()
            };
            for places in [
                &[6.0, 6.1, 6.2, 6.3][..],
                &[6.0, 9.0, 12.0, 15.0],
                &[6.0, 15.0, 15.0, 15.0, 15.0, 6.0],
                &[15.0, 15.0, 15.0, 6.0, 15.0],
            ] {
                let (moves, blocks) = moves(places);
                let count = check_moves(&method(3), &moves, &blocks[0], &format!("{around} {places:?}"));
                assert!(count > 1000, "{around} {places:?}: {count}");
            }
        }
    }

    #[test]
    fn a_link_that_meets_a_solid_that_rotates_has_a_wall_with_the_local_velocity() {
        let manifest = method(2);
        let pivot = [12.0, 11.0, 0.0];
        let motion = Motion::new(|_| [0.0; 3], 10).turning(|time| 0.1 * time, [0.0, 0.0, 1.0], pivot);
        let shape = Shape::Box { from: [6.0, 9.0, -9.0], to: [17.0, 12.0, 9.0] };
        let (cutters, blocks) = cutters(vec![shape], Some(motion.clone()), 2, [false; 6]);
        let rate = motion.rate(7.0, 8.0);
        let (links, distances, values) = by_kernels(&manifest, &[cutters], &blocks, Some(rate));
        let (cells, q) = (manifest.cells(), manifest.q());
        let mut count = 0;
        for (at, link) in links.iter().enumerate().filter(|(_, link)| **link > 0) {
            let (block, direction, cell) = (blocks[at / (q * cells)], &manifest.directions[at / cells % q], at % cells);
            assert_eq!(*link as usize, 4 + at + 1, "a wall of its own");
            let place = |axis: usize, inside: usize| (block.place[axis] * SIDE + inside) as f64 + 0.5;
            let arm = [place(0, cell % SIDE), place(1, cell / SIDE)];
            let arm = [0, 1].map(|axis| arm[axis] - distances[at] * f64::from(direction.c[axis]) - pivot[axis]);
            let velocity = &values[(*link as usize - 1) * manifest.wall_stride as usize..][..2];
            for (found, expected) in velocity.iter().zip([-0.1 * arm[1], 0.1 * arm[0]]) {
                assert!((found - expected).abs() < 1e-12, "{arm:?}: {velocity:?}");
            }
            count += 1;
        }
        assert!(count > 60, "{count}");
    }
}
