//! The shipped velocity sets against a table of velocities and weights.

use std::collections::BTreeMap;
use std::str::FromStr;

use lbm_dsl::expr::Rational;
use lbm_dsl::lattice::{Dir, Lattice};
use lbm_dsl::shipped;
use lbm_dsl::source::Source;

fn lattice(name: &str) -> Lattice {
    let text = shipped::spec("d2q9_bgk").unwrap().replace("D2Q9", name);
    lbm_dsl::compile(&Source::new(name, &text), &shipped::Prelude).unwrap().lattice().clone()
}

#[test]
fn velocities_and_weights_are_those_of_the_table() {
    // Name and cs2: velocities, each with its weight.
    let mut table: BTreeMap<(&str, &str), BTreeMap<Vec<i32>, Rational>> = BTreeMap::new();
    for line in include_str!("lattices.csv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        let velocity = cells[1..4].iter().map(|c| c.parse().unwrap()).collect();
        table.entry((cells[0], cells[5])).or_default().insert(velocity, Rational::from_str(cells[4]).unwrap());
    }
    assert_eq!(table.len(), 6);
    for ((name, cs2), expected) in table {
        let lattice = lattice(name);
        let padded = |dir: Dir| [lattice.velocity(dir), &[0]].concat()[..3].to_vec();
        let found: BTreeMap<Vec<i32>, Rational> =
            lattice.dirs().map(|dir| (padded(dir), lattice.weight(dir).clone())).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(lattice.q(), found.len(), "{name}");
        assert_eq!(lattice.isotropy(), if found.len() < 9 { 3 } else { 5 }, "{name}");
        assert_eq!(*lattice.cs2(), Rational::from_str(cs2).unwrap(), "{name}");
    }
}

#[test]
fn directions_are_numbered_as_drawn() {
    // Rows from y = 1 down, x from -1; for D3Q27 the layers z = -1, 0, 1.
    let flat: [u8; 9] = [8, 3, 5, 2, 0, 1, 6, 4, 7];
    let layers: [u8; 27] =
        [24, 17, 21, 10, 6, 11, 20, 16, 25, 14, 3, 7, 2, 0, 1, 8, 4, 13, 26, 15, 19, 12, 5, 9, 22, 18, 23];
    for (name, drawn) in [("D2Q9", &flat[..]), ("D3Q27", &layers)] {
        let lattice = lattice(name);
        for (at, number) in drawn.iter().enumerate() {
            let at = at as i32;
            let velocity = [at % 3 - 1, 1 - at / 3 % 3, at / 9 - 1];
            assert_eq!(lattice.velocity(Dir(*number)), &velocity[..lattice.dim()], "{name} {number}");
        }
    }
    let lattice = lattice("D3Q19");
    assert!(lattice.dirs().skip(1).all(|dir| lattice.opposite(dir) == Dir(((dir.0 - 1) ^ 1) + 1)));
}
