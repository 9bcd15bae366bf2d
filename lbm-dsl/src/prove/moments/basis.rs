//! Moments of the populations, with their names, and bases of spaces of them.

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::Rational;
use crate::model::{Model, Populations};
use crate::prove::residue::{Residue, Rows};

/// A combination of the populations of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The powers of the velocity's components in it, and the position of the populations that it is of; `None` for one without a name.
    pub of: Option<(usize, Vec<u32>)>,
    /// Name: `rho`, `jx`, `pxy`; `pxx_pzz` is a difference of two.
    pub name: String,
    /// The share of each population.
    pub shares: Vec<Rational>,
}

impl Moment {
    /// Whether it is a component of momentum.
    pub fn is_momentum(&self) -> bool {
        self.of.as_ref().is_some_and(|(_, powers)| powers.iter().sum::<u32>() == 1)
    }

    /// The share of each population, as far as numbers of 64 bits are exact.
    pub fn share_values(&self) -> Vec<f64> {
        self.shares.iter().map(|share| share.to_f64().unwrap_or(f64::NAN)).collect()
    }
}

/// Its values in the prime field.
pub(super) fn residues(row: &[Rational]) -> Vec<Residue> {
    row.iter().map(|value| Residue::of(value).unwrap_or(Residue::ZERO)).collect()
}

/// Density, momentum and second moments of each set of populations.
pub(super) fn base(model: &Model) -> Rows {
    let mut rows = Rows::default();
    for moment in named(model) {
        if moment.of.as_ref().is_some_and(|(_, powers)| powers.iter().sum::<u32>() <= 2) {
            rows.add(residues(&moment.shares));
        }
    }
    rows
}

/// The moments of `c_x^p c_y^q c_z^r` with powers up to 2, by order, and differences of second ones.
pub(super) fn named(model: &Model) -> Vec<Moment> {
    let mut all = Vec::new();
    for (at, set) in model.populations().iter().enumerate() {
        let dim = set.lattice.dim();
        let mut powers: Vec<Vec<u32>> = (0..3_u32.pow(dim as u32))
            .map(|code| (0..dim).map(|axis| code / 3_u32.pow(axis as u32) % 3).collect())
            .collect();
        powers.sort_by_key(|powers| (powers.iter().sum::<u32>(), powers.iter().max().copied()));
        let second: Vec<Moment> = powers
            .iter()
            .filter(|powers| powers.contains(&2) && powers.iter().sum::<u32>() == 2)
            .map(|own| moment(model, at, set, own))
            .collect();
        for order in 0..=2 * dim as u32 {
            let own = powers.iter().filter(|powers| powers.iter().sum::<u32>() == order);
            all.extend(own.map(|own| moment(model, at, set, own)));
            if let (2, [others @ .., last]) = (order, &second[..]) {
                all.extend(others.iter().map(|other| other.minus(last)));
            }
        }
    }
    all
}

fn moment(model: &Model, at: usize, set: &Populations, powers: &[u32]) -> Moment {
    let mut shares = vec![Rational::zero(); model.moving()];
    for dir in set.lattice.dirs() {
        let velocity = set.lattice.velocity(dir);
        let share = powers.iter().zip(velocity).map(|(power, c)| c.pow(*power)).product::<i32>();
        shares[set.pop(dir).index()] = Rational::from_integer(share.into());
    }
    let axes: String = powers.iter().zip(["x", "y", "z"]).map(|(power, axis)| axis.repeat(*power as usize)).collect();
    let letter = match axes.len() {
        0 => "rho",
        1 => "j",
        2 => "p",
        _ => "m",
    };
    let of_set = if at == 0 { String::new() } else { set.name.clone() };
    Moment { of: Some((at, powers.to_vec())), name: format!("{letter}{axes}{of_set}"), shares }
}

impl Moment {
    fn minus(&self, other: &Moment) -> Moment {
        let shares = self.shares.iter().zip(&other.shares).map(|(own, other)| own - other).collect();
        Moment { of: self.of.clone(), name: format!("{}_{}", self.name, other.name), shares }
    }
}

/// All populations, each a moment of its own.
pub(super) fn all(model: &Model) -> Vec<Moment> {
    let unit =
        |at: usize| (0..model.moving()).map(|pop| if pop == at { Rational::one() } else { Rational::zero() }).collect();
    (0..model.moving()).map(|at| Moment { of: None, name: format!("f{at}"), shares: unit(at) }).collect()
}

/// A basis of the space of the rows: of moments with a name as far as it goes.
pub(super) fn basis(rows: &[Vec<Rational>], known: &[Moment], count: usize) -> Vec<Moment> {
    let space = {
        let mut space = Rows::default();
        rows.iter().for_each(|row| _ = space.add(residues(row)));
        space
    };
    let (mut taken, mut moments) = (Rows::default(), Vec::new());
    let within = |moment: &&Moment| !space.clone().add(residues(&moment.shares));
    let others =
        rows.iter().enumerate().map(|(at, row)| Moment { of: None, name: format!("n{at}"), shares: row.clone() });
    for moment in known.iter().filter(within).cloned().chain(others) {
        if taken.rank() < rows.len().min(count) && taken.add(residues(&moment.shares)) {
            moments.push(moment);
        }
    }
    moments
}

/// Populations that have given moments: for each moment what populations have of it, and combinations of populations that have none.
pub(super) fn section(moments: &[Moment], count: usize) -> (Vec<Vec<Rational>>, Vec<Vec<Rational>>) {
    let unit =
        |at: usize, of: usize| (0..of).map(move |other| if other == at { Rational::one() } else { Rational::zero() });
    let mut rows: Vec<Vec<Rational>> = Vec::new();
    for (at, moment) in moments.iter().enumerate() {
        rows.push(moment.shares.iter().cloned().chain(unit(at, moments.len())).collect());
    }
    let pivots = reduce(&mut rows, count);
    let mut section = vec![vec![Rational::zero(); count]; moments.len()];
    for (row, pivot) in rows.iter().zip(&pivots) {
        for (own, share) in section.iter_mut().zip(&row[count..]) {
            own[*pivot] = share.clone();
        }
    }
    let free = (0..count).filter(|column| !pivots.contains(column));
    let directions = free.map(|column| {
        let mut direction = vec![Rational::zero(); count];
        direction[column] = Rational::one();
        rows.iter().zip(&pivots).for_each(|(row, pivot)| direction[*pivot] = -row[column].clone());
        direction
    });
    (section, directions.collect())
}

/// Brings the first `columns` columns to reduced echelon form; the columns of the pivots, a row each.
fn reduce(rows: &mut [Vec<Rational>], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let at = pivots.len();
        let Some(found) = (at..rows.len()).find(|row| !rows[*row][column].is_zero()) else { continue };
        rows.swap(at, found);
        let lead = rows[at][column].clone();
        rows[at].iter_mut().for_each(|value| *value /= &lead);
        let pivot = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != at) {
            let factor = row[column].clone();
            row.iter_mut().zip(&pivot).for_each(|(value, by)| *value -= &factor * by);
        }
        pivots.push(column);
    }
    pivots
}
