//! A stream between two faces: what grows in it because of the rules at both.
//!
//! A collision that amplifies nothing in a uniform flow may have growing disturbances between two faces, each of which is harmless beside another.
//! So here a column of cells along an axis, a rule at each end, has a step of its own, a linear map: the collision's derivative about a uniform
//! stream, streaming, and the derivatives of both rules. Across the column a disturbance is a wave. Steps are taken until the growth of what is left
//! settles. (Eigenvalues say less: in a stream the map is far from normal, and an iteration for them finds numbers near eigenvalues of a map nearby.)
//!
//! Where walls run along the stream, the cells are a box between two pairs of faces, and what happens where these meet is part of the map: then a
//! disturbance is a wave along the third axis, if there is one. Walls need not let the uniform stream pass: of their rules only the derivatives count.
//!
//! Gustafsson, Kreiss & Sundstrom, Math. Comput. 26 (1972) 649, have the theory for difference schemes and one end.

use std::f64::consts::PI;

use crate::model::Boundary;
use crate::prove::budget::Budget;
pub use crate::prove::ends::{DISTANCE, End, Face, NoEnd, Stream, values};
use crate::prove::step::{Sides, Step};

/// Cells between the faces, an even and an odd number: waves of two cells fit into one of them.
pub const LENGTHS: [usize; 2] = [16, 17];
/// Growth in a step, of the logarithm, from which on a pair counts as unstable: tenfold in 7700 steps. A disturbance that rises with the time alone,
/// as a density that nothing fixes may, has less than that at last.
pub const GROWS: f64 = 3e-4;
/// Cells along each side of a box between two pairs of faces.
pub const SIDE: usize = 12;
/// Wave numbers across the column in parts of pi: in the plane, and of both components in space.
const ACROSS: [&[f64]; 2] = [&[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0], &[0.0, 0.375, 0.75, 1.0]];
/// Steps after which the growth is looked at first; then after twice as many, up to the last.
const STEPS: [usize; 2] = [512, 65536];
/// Steps after which growth that is not far from none may count as settled.
const LONG: usize = 2048;
/// Growth that has settled: its change is so small, absolute where nothing grows, else relative.
const SETTLED: [f64; 2] = [5e-5, 0.03];
/// A rate so far from none that a few steps are enough to know it.
const CLEAR: f64 = 2e-3;
/// The disturbance that grows most, or decays most slowly.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Its amplitude grows by `exp(rate)` in a step.
    pub rate: f64,
    /// Wave vector across the column, radians per cell; zero along it.
    pub wave: Vec<f64>,
    /// Cells between two faces.
    pub cells: usize,
    /// The faces at which it sits, two where these meet; none where it fills the space between them.
    pub at: Vec<Face>,
}

impl Growth {
    /// The one that grows more.
    pub fn or(self, other: Growth) -> Growth {
        if other.rate > self.rate { other } else { self }
    }

    /// Whether it grows.
    pub fn grows(&self) -> bool {
        self.rate > GROWS
    }
}

/// A rule with its parameters.
pub type Given<'a> = (&'a Boundary, &'a [Vec<f64>]);

/// Two pairs of faces, and what happens where they meet.
pub struct Duct {
    ends: [[End; 2]; 2],
    /// Where two rules of nodes meet.
    edges: [[Option<End>; 2]; 2],
}

impl Duct {
    /// Whether the uniform stream passes both faces of the axis with that number, of two.
    pub fn passes(&self, number: usize) -> bool {
        self.ends[number].iter().all(End::passes)
    }

    fn sides(&self) -> Sides<'_> {
        Sides {
            ends: self.ends.each_ref().map(|ends| Some(ends.each_ref())),
            edges: self.edges.each_ref().map(|edges| edges.each_ref().map(Option::as_ref)),
        }
    }
}

/// Waves that are tried along the axis that is not among those of a duct; in the plane the one that is the same everywhere.
pub fn waves_along(dim: usize, axes: [usize; 2]) -> Vec<Vec<f64>> {
    match (0..dim).find(|axis| !axes.contains(axis)) {
        None => vec![vec![0.0; dim]],
        Some(axis) => {
            ACROSS[1].iter().map(|part| (0..dim).map(|at| if at == axis { PI * part } else { 0.0 }).collect()).collect()
        }
    }
}

/// Waves across a column along an axis.
fn waves(dim: usize, axis: usize) -> Vec<Vec<f64>> {
    let across: Vec<usize> = (0..dim).filter(|other| *other != axis).collect();
    let wave = |parts: &[f64]| {
        let mut wave = vec![0.0; dim];
        across.iter().zip(parts).for_each(|(axis, part)| wave[*axis] = PI * part);
        wave
    };
    let some = ACROSS[dim - 2];
    if dim == 2 {
        return some.iter().map(|part| wave(&[*part])).collect();
    }
    // The lattice is the same along both axes across.
    let all = some.iter().enumerate().flat_map(|(at, one)| some[..=at].iter().map(|other| [*one, *other]));
    all.map(|parts| wave(&parts)).collect()
}

/// Columns that are tried along an axis: their cells, and the wave across them. The odd number of cells goes with the longest and the shortest wave.
pub fn trials(dim: usize, axis: usize) -> Vec<(usize, Vec<f64>)> {
    let waves = waves(dim, axis);
    let odd = [&waves[0], &waves[waves.len() - 1]].map(|wave| (LENGTHS[1], wave.clone()));
    waves.iter().map(|wave| (LENGTHS[0], wave.clone())).chain(odd).collect()
}

impl Stream<'_> {
    /// Two pairs of faces across two axes, the lower face of each first: rules with their parameters, given. Rules of nodes that meet are those of the
    /// first axis.
    pub fn duct(&self, axes: [usize; 2], rules: [[Given<'_>; 2]; 2]) -> Result<Duct, NoEnd> {
        let face = |k: usize, side: usize| Face { axis: axes[k], high: side == 1 };
        let end = |k: usize, side: usize| self.end(rules[k][side].0, rules[k][side].1, face(k, side));
        let ends = [[end(0, 0)?, end(0, 1)?], [end(1, 0)?, end(1, 1)?]];
        let edge = |first: usize, second: usize| -> Result<Option<End>, NoEnd> {
            let (rule, values) = rules[0][first];
            let both = ends[0][first].is_node() && ends[1][second].is_node();
            both.then(|| self.end_at(rule, values, &[face(0, first), face(1, second)])).transpose()
        };
        let edges = [[edge(0, 0)?, edge(0, 1)?], [edge(1, 0)?, edge(1, 1)?]];
        Ok(Duct { ends, edges })
    }

    /// What grows most between two faces of an axis, the lower one first, of [`trials`].
    pub fn worst(&self, ends: [&End; 2]) -> Growth {
        let all = trials(self.velocity().len(), ends[0].face().axis);
        let all = all.iter().map(|(cells, wave)| self.growth(ends, *cells, wave));
        all.reduce(Growth::or).expect("there are trials")
    }

    /// What grows most in a column of so many cells between two faces of an axis, the lower one first, of what is a wave across it.
    pub fn growth(&self, ends: [&End; 2], cells: usize, wave: &[f64]) -> Growth {
        self.growth_within(ends, cells, wave, &Budget::of(u64::MAX)).expect("a budget without end")
    }

    /// The same with the products of a budget; nothing where they are too few.
    pub fn growth_within(&self, ends: [&End; 2], cells: usize, wave: &[f64], budget: &Budget) -> Option<Growth> {
        self.growth_between(&Sides { ends: [Some(ends), None], edges: [[None; 2]; 2] }, cells, wave, budget)
    }

    /// What grows most in a box of so many cells along both axes of a duct, of what is a wave along the other axis, with the products of a budget;
    /// nothing where they are too few.
    pub fn growth_in(&self, duct: &Duct, cells: usize, wave: &[f64], budget: &Budget) -> Option<Growth> {
        self.growth_between(&duct.sides(), cells, wave, budget)
    }

    fn growth_between(&self, sides: &Sides, cells: usize, wave: &[f64], budget: &Budget) -> Option<Growth> {
        let step = Step::new(self, sides, sides.ends.map(|ends| ends.map_or(1, |_| cells)), wave);
        let spend = |steps: usize| budget.spend(step.products() * steps);
        // Something that resembles no wave.
        let mut state: Vec<f64> = (0..step.size()).map(|at| ((at * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5).collect();
        let mut work = step.work();
        spend(STEPS[0])?;
        let mut rate = step.advance(&mut state, &mut work, STEPS[0]);
        let mut steps = STEPS[0];
        while steps < STEPS[1] {
            spend(steps)?;
            let before = std::mem::replace(&mut rate, step.advance(&mut state, &mut work, steps));
            steps *= 2;
            let change = (rate - before).abs();
            let is_settled = if rate > GROWS / 2.0 { change < SETTLED[1] * rate } else { change < SETTLED[0] };
            if rate < -CLEAR || is_settled && (rate > CLEAR || steps > LONG) {
                break;
            }
        }
        Some(Growth { rate, wave: wave.to_vec(), cells, at: step.beside_which(&state, sides) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::shipped;
    use crate::source::Source;
    use nalgebra::DMatrix;

    const LOW: Face = Face { axis: 0, high: false };
    const HIGH: Face = Face { axis: 0, high: true };

    fn model(name: &str, rules: &[&str]) -> Model {
        let source = Source::new(name, shipped::spec(name).unwrap());
        crate::fixture::compile_with(&source, &shipped::Prelude, rules, None, None).unwrap()
    }

    fn worst(name: &str, rules: [&str; 2], params: &[f64], speed: f64) -> Growth {
        let model = model(name, &rules);
        let mut velocity = vec![0.0; model.lattice().dim()];
        velocity[0] = speed;
        let params: Vec<Vec<f64>> = params.iter().map(|value| vec![*value]).collect();
        let stream = Stream::new(&model, &params, &velocity).unwrap();
        let end = |name: &str, face| {
            let rule = model.boundaries().iter().find(|rule| rule.name == name).unwrap();
            let end = stream.end(rule, &values(&model, rule, &velocity, |_| None).unwrap(), face).unwrap();
            assert!(end.passes(), "{name}");
            end
        };
        let ends = [end(rules[0], LOW), end(rules[1], HIGH)];
        stream.worst([&ends[0], &ends[1]])
    }

    /// Largest eigenvalues of the same columns, found with dense matrices: 2.07e-2 at 1.981.
    #[test]
    fn a_pair_of_stable_rules_grows_as_dense_matrices_say() {
        let pair = ["moving_wall", "anti_bounce_back"];
        let found = worst("d2q9_bgk", pair, &[1.981], 0.05);
        assert!((found.rate / 2.07e-2 - 1.0).abs() < 0.02, "{found:?}");
        assert!(found.grows() && found.at == [HIGH] && (found.wave[1] - 0.875 * PI).abs() < 1e-9, "{found:?}");
        for (name, omega) in [("d2q9_bgk", 1.95), ("d2q9_recursive", 1.981), ("d2q9_central", 1.981)] {
            let found = worst(name, pair, &[omega], 0.05);
            assert!(!found.grows(), "{name} {omega}: {found:?}");
        }
        let found = worst("d2q9_bgk", ["moving_wall", "equilibrium"], &[1.99], 0.05);
        assert!(!found.grows(), "{found:?}");
    }

    /// In a box between symmetry planes is what grows between the pair alone, of the waves that fit there; so it is whichever pair comes first, and with
    /// walls of nodes at the corners something else is found.
    #[test]
    fn symmetry_planes_add_nothing_to_a_pair() {
        let model = model("d2q9_bgk", &["moving_wall", "anti_bounce_back", "free_slip", "zou_he_velocity"]);
        let velocity = [0.05, 0.0];
        let stream = Stream::new(&model, &[vec![1.981]], &velocity).unwrap();
        let rule = |name: &str| model.boundaries().iter().find(|rule| rule.name == name).unwrap();
        let given = ["moving_wall", "anti_bounce_back", "free_slip", "zou_he_velocity"];
        let values = given.map(|name| values(&model, rule(name), &velocity, |_| None).unwrap());
        let of = |at: usize| (rule(given[at]), &values[at][..]);
        let ends = [stream.end(of(0).0, of(0).1, LOW).unwrap(), stream.end(of(1).0, of(1).1, HIGH).unwrap()];
        // Of `cos(k (y + 1/2))`, both waves are a part.
        let waves = (0..SIDE).map(|number| [0.0, PI * number as f64 / SIDE as f64]);
        let alone = waves.map(|wave| stream.growth([&ends[0], &ends[1]], SIDE, &wave)).reduce(Growth::or).unwrap();
        assert!(alone.grows(), "{alone:?}");
        let pair = [of(0), of(1)];
        let between = |walls: usize| stream.duct([0, 1], [pair, [of(walls), of(walls)]]).unwrap();
        let growth_in = |duct: &Duct| stream.growth_in(duct, SIDE, &[0.0; 2], &Budget::of(u64::MAX)).unwrap();
        let found = growth_in(&between(2));
        assert!((found.rate / alone.rate - 1.0).abs() < 1e-2 && found.at == [HIGH], "{found:?} {alone:?}");
        let turned = stream.duct([1, 0], [[of(2), of(2)], pair]).unwrap();
        let turned = growth_in(&turned);
        assert!((turned.rate / found.rate - 1.0).abs() < 1e-2 && turned.at == [HIGH], "{turned:?}");
        let other = growth_in(&between(3));
        assert!((other.rate / alone.rate - 1.0).abs() > 0.1, "{other:?}");
    }

    /// What a budget does not reach is not known, and costs no more than the budget.
    #[test]
    fn a_pair_takes_the_products_that_it_says_and_gives_up_with_fewer() {
        let model = model("d2q9_bgk", &["moving_wall", "anti_bounce_back"]);
        let velocity = [0.05, 0.0];
        let stream = Stream::new(&model, &[vec![1.981]], &velocity).unwrap();
        let end = |name: &str, face| {
            let rule = model.boundaries().iter().find(|rule| rule.name == name).unwrap();
            stream.end(rule, &values(&model, rule, &velocity, |_| None).unwrap(), face).unwrap()
        };
        let ends = [end("moving_wall", LOW), end("anti_bounce_back", HIGH)];
        let within = |most: u64| {
            let budget = Budget::of(most);
            let found = stream.growth_within([&ends[0], &ends[1]], 16, &[0.0, 0.875 * PI], &budget);
            (found, budget.spent(), budget.is_exceeded())
        };
        let (found, all, _) = within(u64::MAX);
        assert!(found.is_some() && all > 512 * 16 * 9 && all < 1_000_000_000, "{all}");
        assert_eq!(within(all), (found, all, false));
        assert_eq!(within(all - 1), (None, all - 1, true));
    }

    /// Steps settle to the growth that the whole matrix has, whatever the rules read.
    #[test]
    fn steps_find_the_largest_eigenvalue_of_the_matrix() {
        const CELLS: usize = 5;
        for rules in [
            ["moving_wall", "anti_bounce_back"],
            ["regularized_velocity", "convective_outflow"],
            ["zou_he_velocity", "extrapolation_outflow"],
            ["equilibrium", "zou_he_pressure"],
        ] {
            let model = model("d2q9_bgk", &rules);
            let velocity = [0.08, 0.0];
            let stream = Stream::new(&model, &[vec![1.97]], &velocity).unwrap();
            let end = |at: usize, face| {
                let rule = model.boundaries().iter().find(|rule| rule.name == rules[at]).unwrap();
                stream.end(rule, &values(&model, rule, &velocity, |_| None).unwrap(), face).unwrap()
            };
            let ends = [end(0, LOW), end(1, HIGH)];
            for part in [0.0, 0.3, 0.8] {
                let wave = [0.0, PI * part];
                let sides = Sides { ends: [Some([&ends[0], &ends[1]]), None], edges: [[None; 2]; 2] };
                let column = Step::new(&stream, &sides, [CELLS, 1], &wave);
                let size = 9 * CELLS;
                // Where the real part of a number is.
                let place = |at: usize| at / CELLS * 2 * CELLS + at % CELLS;
                let mut matrix = DMatrix::zeros(size, size);
                let mut work = column.work();
                for at in 0..size {
                    let mut state = vec![0.0; 2 * size];
                    state[place(at)] = 1.0;
                    column.step(&mut state, &mut work);
                    for row in 0..size {
                        matrix[(row, at)] = nalgebra::Complex::new(state[place(row)], state[place(row) + CELLS]);
                    }
                }
                let values = nalgebra::Schur::try_new(matrix, 1e-13, 100_000).unwrap().eigenvalues().unwrap();
                let most = values.iter().map(|value| value.norm()).fold(0.0, f64::max).ln();
                let found = stream.growth([&ends[0], &ends[1]], CELLS, &wave).rate;
                // What decays clearly is not followed to the end.
                let is_right = (found - most).abs() < 1e-4 + 0.03 * most.abs() || found.max(most) < -CLEAR;
                assert!(is_right, "{rules:?} {part}: {found}, not {most}");
            }
        }
    }
}
