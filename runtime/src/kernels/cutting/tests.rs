//! Kernels find the links that the host finds, and the same whether surfaces are scanned or searched.

use std::collections::BTreeSet;
use std::sync::Arc;

use lbm_bundle::{Direction, Manifest};

use self::moves::{by_kernels, by_kernels_of};
use super::*;
use crate::fixture::manifest;
use crate::geometry::solid::{self, Cutters, Image, Motion, Padding, Shape, Solid, Solids, Surface, Turn, Voxels};

mod moves;

/// Cells of the box along each axis, and of a block.
const BOX: usize = 24;
const SIDE: usize = 8;

/// Room of a list of links near triangles.
const ROOM: usize = 1 << 12;

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

fn cutters(
    shapes: Vec<Shape>,
    motion: Option<Motion>,
    dim: usize,
    symmetry_planes: [bool; 6],
) -> (Cutters, Vec<Block>) {
    let along = |wide: usize| [0, 1, 2].map(|axis| if axis < dim { wide } else { 1 });
    let solid = |shape| Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
    let all: Vec<Solid> = shapes.into_iter().map(solid).collect();
    let motions = vec![motion; all.len()];
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
        let [one, next, below, across] = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| corner(i, j));
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
            Arc::new(Shape::Surface(ball.clone())).turned(&Turn::new([0.6, 0.0, 0.8], at, [0.0; 3], [at, 12.2, 11.9]))
        };
        // Surfaces that move are scanned.
        let moves = |places: &[f64], moves: bool| {
            let rest = Motion::new(|_| [0.0; 3], 10);
            let all = places.iter().map(|at| cutters(vec![place(*at)], moves.then(|| rest.clone()), 3, [false; 6]));
            all.unzip::<_, _, Vec<_>, Vec<_>>()
        };
        for places in [
            &[6.0, 6.1, 6.2, 6.3][..],
            &[6.0, 9.0, 12.0, 15.0],
            &[6.0, 15.0, 15.0, 15.0, 15.0, 6.0],
            &[15.0, 15.0, 15.0, 6.0, 15.0],
        ] {
            for scans in [false, true] {
                let (moves, blocks) = moves(places, scans);
                let count = check_moves(&method(3), &moves, &blocks[0], &format!("{around} {places:?} {scans}"));
                assert!(count > 1000, "{around} {places:?} {scans}: {count}");
            }
        }
    }
}

/// A box about the origin, of so many squares of two triangles along each axis.
fn slab(half: [f64; 3], count: [usize; 3]) -> Surface {
    let corner = |axis: usize, side: usize, at: [usize; 2]| {
        let mut found = [0.0; 3];
        found[axis] = (2.0 * side as f64 - 1.0) * half[axis];
        for (place, along) in at.into_iter().zip([(axis + 1) % 3, (axis + 2) % 3]) {
            found[along] = (2.0 * place as f64 / count[along] as f64 - 1.0) * half[along];
        }
        found
    };
    let square = |(axis, side, [i, j]): (usize, usize, [usize; 2])| {
        let [a, b, c, d] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(|at| corner(axis, side, at));
        if side == 1 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] }
    };
    let of_side = |axis: usize| {
        let (wide, high) = (count[(axis + 1) % 3], count[(axis + 2) % 3]);
        (0..2 * wide * high).map(move |at| (axis, at % 2, [at / 2 % wide, at / 2 / wide]))
    };
    Surface::new((0..3).flat_map(of_side).flat_map(square).collect())
}

#[test]
fn links_have_the_same_bits_whether_surfaces_are_scanned_or_searched() {
    let turned = |surface: Surface, to: [f64; 3], angle: f64| {
        Arc::new(Shape::Surface(surface)).turned(&Turn::new([0.6, 0.0, 0.8], angle, [0.0; 3], to))
    };
    let straight = |surface: Surface, to: [f64; 3]| Shape::Surface(surface).shifted(to);
    let (ball, plate) = (ball(5.1, 24), slab([7.0, 0.15, 5.5], [9, 1, 7]));
    let centre = [12.2, 11.7, 12.4];
    // Whose faces lie in planes of centres of cells.
    let block = straight(slab([4.0, 3.0, 2.0], [3, 2, 2]), [12.5, 11.5, 12.5]);
    let cases = [
        ("ball", vec![turned(ball.clone(), centre, 0.7)]),
        ("ball at an end", vec![turned(ball.clone(), [12.1, 23.2, 0.3], 0.7)]),
        ("ball at a wall", vec![turned(ball.clone(), [1.2, 11.7, 12.4], 0.7)]),
        ("plate", vec![turned(plate.clone(), centre, 0.7)]),
        ("plate along cells", vec![straight(plate.clone(), centre)]),
        ("plate across an end", vec![turned(plate.clone(), [12.2, 11.7, 23.1], 1.3)]),
        ("block", vec![block]),
        ("speck", vec![straight(slab([0.3, 0.2, 0.3], [1, 1, 1]), [12.0, 12.0, 12.0])]),
        ("two", vec![turned(ball.clone(), centre, 0.7), turned(plate.clone(), [12.0, 17.1, 12.4], 0.1)]),
        (
            "two of one",
            vec![turned(ball.clone(), [8.0, 11.7, 12.4], 0.7), turned(ball.clone(), [17.4, 13.0, 12.0], 0.1)],
        ),
        (
            "ball and sphere",
            vec![turned(ball.clone(), centre, 0.7), Shape::Sphere { centre: [12.0, 18.9, 12.1], radius: 3.1 }],
        ),
        (
            "ball and large triangles",
            vec![turned(ball.clone(), [8.0, 8.0, 8.0], 0.7), octahedron([15.0, 14.0, 15.0], 7.0)],
        ),
        ("outside of a ball", vec![Shape::Outside(Box::new(Shape::Surface(ball.clone()))).shifted(centre)]),
    ];
    let manifest = method(3);
    for (name, shapes) in cases {
        for mirror in [false, true] {
            let symmetry_planes = [false, false, mirror, mirror, false, false];
            let by = if mirror { [0.0, -11.6, 0.0] } else { [0.0; 3] };
            let shapes = shapes.iter().map(|shape| shape.shifted(by)).collect();
            let (cutters, blocks) = cutters(shapes, Some(Motion::new(|_| [0.0; 3], 10)), 3, symmetry_planes);
            let moves = [cutters];
            let mut count = 0;
            // With the links of one block cut there is not always a row for each cell.
            for own in [0..blocks.len(), 13..14, 4..5] {
                // Lists of one link are full.
                let of = |room| by_kernels_of(&manifest, &moves, &blocks, (None, own.clone(), room));
                let [scanned, twice, searched] = [Some(ROOM), Some(1), None].map(of);
                for (how, other) in [("lists are full", twice), ("searched", searched)] {
                    let what = format!("{name}, {mirror}, {own:?}, {how}");
                    assert_eq!(scanned.0, other.0, "{what}");
                    let mut distances = scanned.1.iter().zip(&other.1);
                    assert!(distances.all(|(one, other)| one.to_bits() == other.to_bits()), "{what}");
                }
                count += scanned.0.iter().filter(|link| **link > 0).count();
            }
            assert!(count > 3 || name == "speck", "{name}, {mirror}: {count}");
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
