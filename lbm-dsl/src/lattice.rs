//! Velocity sets: directions, opposites, exact weights.
//!
//! In: directions and weights from a spec. After: the first direction is rest if there is one, every direction has an
//! opposite of the same weight, the weights sum to one. `Lattice::new` refuses anything else.
//!
//! A spec numbers the directions of a shell from the largest velocity down, each followed by its opposite. So the shipped
//! sets are numbered (x to the right, y up; weights and their source in `specs/prelude/lattices.lbm`):
//!
//! ```text
//! D2Q9              D3Q19 is D3Q27 without corners
//!
//! 8 3 5             z = -1          z = 0           z = 1
//!  \|/              24  17  21      14   3   7      26  15  19
//! 2-0-1             10   6  11       2   0   1      12   5   9
//!  /|\              20  16  25       8   4  13      22  18  23
//! 6 4 7
//! ```

use num_traits::{One, Zero};

use crate::rational::Rational;

/// A direction of a lattice: a position in its list of velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dir(pub u8);

impl Dir {
    /// Position in the list of velocities.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a set of velocities and weights is no lattice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatticeError {
    /// Weights sum to this, not to one.
    WeightSum(Rational),
    /// This velocity has no opposite.
    NoOpposite(Vec<i32>),
    /// This velocity and its opposite have different weights.
    UnevenWeights(Vec<i32>),
    /// This velocity occurs twice.
    Duplicate(Vec<i32>),
}

/// A velocity set in lattice units (cell size and time step are 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    name: String,
    dim: usize,
    cs2: Rational,
    velocities: Vec<Vec<i32>>,
    weights: Vec<Rational>,
    opposites: Vec<Dir>,
    isotropy: u32,
    claimed: Option<u32>,
}

impl Lattice {
    /// A lattice of `velocities[i][axis]` with `weights[i]` and squared speed of sound `cs2`; rest becomes the first.
    pub fn new(
        name: &str,
        cs2: Rational,
        velocities: Vec<Vec<i32>>,
        weights: Vec<Rational>,
    ) -> Result<Self, LatticeError> {
        let (rest, moving): (Vec<_>, Vec<_>) =
            velocities.into_iter().zip(weights).partition(|(velocity, _)| velocity.iter().all(|c| *c == 0));
        let (velocities, weights): (Vec<_>, Vec<_>) = rest.into_iter().chain(moving).unzip();
        let sum: Rational = weights.iter().sum();
        if !sum.is_one() {
            return Err(LatticeError::WeightSum(sum));
        }
        for (at, velocity) in velocities.iter().enumerate() {
            if velocities[..at].contains(velocity) {
                return Err(LatticeError::Duplicate(velocity.clone()));
            }
        }
        let mut opposites = Vec::new();
        for (velocity, weight) in velocities.iter().zip(&weights) {
            let reverse: Vec<i32> = velocity.iter().map(|c| -c).collect();
            let Some(at) = velocities.iter().position(|other| *other == reverse) else {
                return Err(LatticeError::NoOpposite(velocity.clone()));
            };
            if weights[at] != *weight {
                return Err(LatticeError::UnevenWeights(velocity.clone()));
            }
            opposites.push(Dir(at as u8));
        }
        let dim = velocities[0].len();
        let isotropy = isotropy(dim, &cs2, &velocities, &weights);
        Ok(Self { name: name.into(), dim, cs2, velocities, weights, opposites, isotropy, claimed: None })
    }

    /// Name, for example `D3Q19`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of axes.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of directions.
    pub fn q(&self) -> usize {
        self.velocities.len()
    }

    /// Squared speed of sound.
    pub fn cs2(&self) -> &Rational {
        &self.cs2
    }

    /// Every direction in order.
    pub fn dirs(&self) -> impl Iterator<Item = Dir> + use<> {
        (0..self.q() as u8).map(Dir)
    }

    /// Velocity of a direction, a component per axis.
    pub fn velocity(&self, dir: Dir) -> &[i32] {
        &self.velocities[dir.index()]
    }

    /// Weight of a direction.
    pub fn weight(&self, dir: Dir) -> &Rational {
        &self.weights[dir.index()]
    }

    /// The direction with the reversed velocity.
    pub fn opposite(&self, dir: Dir) -> Dir {
        self.opposites[dir.index()]
    }

    /// The direction with this velocity.
    pub fn find(&self, velocity: &[i32]) -> Option<Dir> {
        self.dirs().find(|dir| self.velocity(*dir) == velocity)
    }

    /// Highest order through which all velocity moments equal those of a Gaussian with variance `cs2` (at most 7).
    pub fn isotropy(&self) -> u32 {
        self.isotropy
    }

    /// The order of isotropy that its definition claims.
    pub fn claimed(&self) -> Option<u32> {
        self.claimed
    }

    /// The same with a claimed order of isotropy.
    pub(crate) fn claiming(self, claimed: Option<u32>) -> Self {
        Self { claimed, ..self }
    }
}

fn isotropy(dim: usize, cs2: &Rational, velocities: &[Vec<i32>], weights: &[Rational]) -> u32 {
    let holds = |order: u32| {
        exponents(dim, order).into_iter().all(|powers| {
            let mut moment = Rational::zero();
            for (velocity, weight) in velocities.iter().zip(weights) {
                let product: i64 = velocity.iter().zip(&powers).map(|(c, p)| i64::from(*c).pow(*p)).product();
                moment += weight * Rational::from_integer(product.into());
            }
            moment == gaussian(cs2, &powers)
        })
    };
    (1..=7).take_while(|order| holds(*order)).last().unwrap_or(0)
}

/// All exponent tuples of `dim` axes that sum to `order`.
fn exponents(dim: usize, order: u32) -> Vec<Vec<u32>> {
    if dim == 1 {
        return vec![vec![order]];
    }
    (0..=order)
        .flat_map(|first| {
            exponents(dim - 1, order - first).into_iter().map(move |rest| {
                let mut all = vec![first];
                all.extend(rest);
                all
            })
        })
        .collect()
}

/// Moment of a centred Gaussian of variance `cs2`: the product over axes of `cs2^(p/2) (p-1)!!`, zero for odd `p`.
fn gaussian(cs2: &Rational, powers: &[u32]) -> Rational {
    let mut value = Rational::one();
    for &power in powers {
        if power % 2 == 1 {
            return Rational::zero();
        }
        for pair in 0..power / 2 {
            value *= cs2 * Rational::from_integer((2 * i64::from(pair) + 1).into());
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(above: i64, below: i64) -> Rational {
        Rational::new(above.into(), below.into())
    }

    #[test]
    fn rest_becomes_the_first() {
        let weights = vec![ratio(1, 6), ratio(2, 3), ratio(1, 6)];
        let lattice = Lattice::new("D1Q3", ratio(1, 3), vec![vec![1], vec![0], vec![-1]], weights).unwrap();
        assert_eq!(lattice.velocity(Dir(0)), [0]);
        assert_eq!((lattice.opposite(Dir(1)), lattice.find(&[-1])), (Dir(2), Some(Dir(2))));
        assert_eq!(lattice.isotropy(), 5);
    }

    #[test]
    fn what_is_no_lattice_is_refused() {
        let half = || vec![ratio(1, 2), ratio(1, 2)];
        let new = |velocities: Vec<Vec<i32>>, weights| Lattice::new("x", ratio(1, 3), velocities, weights).unwrap_err();
        assert_eq!(new(vec![vec![1], vec![0]], half()), LatticeError::NoOpposite(vec![1]));
        assert_eq!(new(vec![vec![1], vec![1]], half()), LatticeError::Duplicate(vec![1]));
        assert_eq!(new(vec![vec![1]], vec![ratio(1, 2)]), LatticeError::WeightSum(ratio(1, 2)));
        let uneven = vec![ratio(1, 4), ratio(3, 4)];
        assert_eq!(new(vec![vec![1], vec![-1]], uneven), LatticeError::UnevenWeights(vec![1]));
    }
}
