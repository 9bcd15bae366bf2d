//! State of the fluid at the start.

use rayon::prelude::*;

use super::formula::Formula;

/// State of the fluid at the start, in lattice units, as formulas of the position of a cell's centre in cells.
///
/// Populations start in equilibrium at this state, so gradients of the velocity are not in them: the stress that belongs to
/// the gradients builds up within a few relaxation times, and leaves a ripple of the order of the Knudsen number behind. A
/// pressure that balances the velocity is the case's to give, as a density.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Density.
    pub density: Formula,
    /// Velocity, zero beyond the dimension.
    pub velocity: [Formula; 3],
}

/// What a start does on a grid.
pub(super) struct Survey {
    /// Largest speed.
    pub(super) fastest: f64,
    /// The first cell with a density that is not positive or not finite, and that density.
    pub(super) no_density: Option<([usize; 3], f64)>,
    /// The first cell with a velocity that is not finite, and the axis.
    pub(super) no_velocity: Option<([usize; 3], usize)>,
}

impl Start {
    /// Density and velocity of the cell with its centre at `cell + 1/2`: `rho, ux, uy` (and `uz`), as many as there is
    /// room for.
    pub fn at(&self, cell: [usize; 3], out: &mut [f64]) {
        let centre = cell.map(|position| position as f64 + 0.5);
        let formulas = std::iter::once(&self.density).chain(&self.velocity);
        for (out, formula) in out.iter_mut().zip(formulas) {
            *out = formula.at(centre);
        }
    }

    /// Whether it is the same everywhere.
    pub fn is_uniform(&self) -> bool {
        self.density.constant().is_some() && self.velocity.iter().all(|component| component.constant().is_some())
    }

    pub(super) fn survey(&self, size: [usize; 3]) -> Survey {
        let [width, height, depth] = if self.is_uniform() { [1; 3] } else { size };
        let row = |row: usize| {
            let mut survey = Survey::empty();
            for x in 0..width {
                survey.look(self, [x, row % height, row / height]);
            }
            survey
        };
        (0..height * depth).into_par_iter().map(row).reduce(Survey::empty, Survey::then)
    }
}

impl Survey {
    fn empty() -> Survey {
        Survey { fastest: 0.0, no_density: None, no_velocity: None }
    }

    fn look(&mut self, start: &Start, cell: [usize; 3]) {
        let mut state = [0.0; 4];
        start.at(cell, &mut state);
        let [density, velocity @ ..] = state;
        if !(density > 0.0 && density.is_finite()) {
            self.no_density.get_or_insert((cell, density));
        }
        match velocity.iter().position(|component| !component.is_finite()) {
            Some(axis) => _ = self.no_velocity.get_or_insert((cell, axis)),
            None => self.fastest = self.fastest.max(velocity.iter().map(|u| u * u).sum::<f64>().sqrt()),
        }
    }

    fn then(self, next: Survey) -> Survey {
        Survey {
            fastest: self.fastest.max(next.fastest),
            no_density: self.no_density.or(next.no_density),
            no_velocity: self.no_velocity.or(next.no_velocity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(density: &str, ux: &str) -> Start {
        let formula = |text: &str| Formula::parse(text).expect("a formula").0.on([8, 4, 1], 1.0);
        Start { density: formula(density), velocity: [formula(ux), formula("0"), formula("0.3")] }
    }

    #[test]
    fn a_start_is_taken_at_cell_centres() {
        let mut out = [0.0; 3];
        start("1 + y", "x / lx").at([3, 1, 0], &mut out);
        assert_eq!(out, [2.5, 3.5 / 8.0, 0.0]);
    }

    #[test]
    fn a_survey_finds_the_fastest_cell_and_the_first_wrong_ones() {
        let survey = start("1", "0.4 * x / 7.5").survey([8, 4, 1]);
        assert!((survey.fastest - 0.5).abs() < 1e-15);
        assert!(survey.no_density.is_none() && survey.no_velocity.is_none());
        let survey = start("y - 1.5", "sqrt(3 - x)").survey([8, 4, 1]);
        assert_eq!(survey.no_density, Some(([0, 0, 0], -1.0)));
        assert_eq!(survey.no_velocity, Some(([3, 0, 0], 0)));
    }
}
