//! State at the start.

use std::sync::Arc;

use rayon::prelude::*;

use super::formula::Formula;
use super::mixing::Mixing;
use super::samples::Placed;

/// State at the start, in lattice units: formulas of the position of a cell's centre in cells, or what files have there.
///
/// Populations start in equilibrium at this state, with the viscous stress of the velocity's gradients (by central
/// differences) where the viscosity is known. A pressure that balances the velocity is the case's to give, as a density; else
/// sound waves start with the flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The fields of the method, in its order.
    pub fields: Vec<StartField>,
}

/// One field at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct StartField {
    /// Name as in the spec: `rho`.
    pub name: String,
    /// What each component is.
    pub components: Vec<StartValue>,
}

/// A component of a field at the start.
#[derive(Clone, PartialEq)]
pub enum StartValue {
    /// A formula of position.
    Formula(Formula),
    /// A component of what a file has.
    Sample(Placed, usize),
    /// The mixing length below laws of the wall.
    Mixing(Arc<Mixing>),
}

impl StartValue {
    /// Its value at a place, in cells of level 0.
    pub fn at(&self, place: [f64; 3]) -> f64 {
        match self {
            StartValue::Formula(formula) => formula.at(place, 0.0),
            StartValue::Sample(placed, component) => placed.at(place, *component),
            StartValue::Mixing(mixing) => mixing.at(place),
        }
    }

    /// Its value, if it is the same everywhere.
    pub(super) fn constant(&self) -> Option<f64> {
        match self {
            StartValue::Formula(formula) => formula.constant(),
            StartValue::Sample(..) | StartValue::Mixing(_) => None,
        }
    }

    /// The value over a divisor.
    pub(super) fn over(&self, divisor: f64) -> StartValue {
        match self {
            StartValue::Formula(formula) => StartValue::Formula(formula.over(divisor)),
            StartValue::Sample(placed, component) => {
                StartValue::Sample(Placed { scale: placed.scale * divisor, ..placed.clone() }, *component)
            }
            // In cells.
            StartValue::Mixing(_) => self.clone(),
        }
    }
}

impl std::fmt::Debug for StartValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartValue::Formula(formula) => formula.fmt(out),
            StartValue::Sample(placed, component) => write!(out, "component {component} of {:?}", placed.samples),
            StartValue::Mixing(_) => out.write_str("the mixing length below laws of the wall"),
        }
    }
}

/// What a start does on a grid.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Largest speed: length of the field `u`.
    pub(super) fastest: f64,
    /// For each field that has one, the first cell with a value that cannot be: its field, component and value.
    pub(super) wrong: Vec<Wrong>,
}

/// A value that cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wrong {
    pub(super) field: usize,
    pub(super) component: usize,
    pub(super) cell: [usize; 3],
    pub(super) value: f64,
}

impl Start {
    /// Fields of the cell with its centre at a place, all components in order.
    pub fn at(&self, centre: [f64; 3], out: &mut [f64]) {
        let values = self.fields.iter().flat_map(|field| &field.components);
        for (out, value) in out.iter_mut().zip(values) {
            *out = value.at(centre);
        }
    }

    /// The same with what cells keep for parameters that vary, which are the last fields.
    pub(super) fn with_places(mut self, places: &[StartValue]) -> Start {
        let first = self.fields.len() - places.len();
        self.fields[first..].iter_mut().zip(places).for_each(|(field, place)| field.components = vec![place.clone()]);
        self
    }

    /// Mean over a grid of a field with one component, if there is such a field.
    pub(super) fn mean(&self, field: &str, size: [usize; 3]) -> Option<f64> {
        let value = self.fields.iter().find(|known| known.name == field)?.components.first()?;
        if let Some(constant) = value.constant() {
            return Some(constant);
        }
        let [width, height, depth] = size;
        let row = |row: usize| -> f64 {
            let place = |x: usize| [x, row % height, row / height].map(|position| position as f64 + 0.5);
            (0..width).map(|x| value.at(place(x))).sum()
        };
        let rows: Vec<f64> = (0..height * depth).into_par_iter().map(row).collect();
        Some(rows.iter().sum::<f64>() / (width * height * depth) as f64)
    }

    /// Whether it is the same everywhere, but for mixing lengths.
    pub fn is_uniform(&self) -> bool {
        let mut values = self.fields.iter().flat_map(|field| &field.components);
        values.all(|value| matches!(value, StartValue::Mixing(_)) || value.constant().is_some())
    }

    pub(super) fn survey(&self, size: [usize; 3]) -> Survey {
        let [width, height, depth] = if self.is_uniform() { [1; 3] } else { size };
        let row = |row: usize| {
            let mut survey = Survey::default();
            for x in 0..width {
                survey.look(self, [x, row % height, row / height]);
            }
            survey
        };
        (0..height * depth).into_par_iter().map(row).reduce(Survey::default, Survey::then)
    }
}

impl Survey {
    fn look(&mut self, start: &Start, cell: [usize; 3]) {
        let centre = cell.map(|position| position as f64 + 0.5);
        for (at, field) in start.fields.iter().enumerate() {
            let mut square = 0.0;
            for (component, value) in field.components.iter().enumerate() {
                let value = value.at(centre);
                let sound = value.is_finite() && (field.name != "rho" || value > 0.0);
                if !sound && self.wrong.iter().all(|wrong| wrong.field != at) {
                    self.wrong.push(Wrong { field: at, component, cell, value });
                }
                square += value * value;
            }
            if field.name == "u" && square.is_finite() {
                self.fastest = self.fastest.max(square.sqrt());
            }
        }
    }

    fn then(mut self, next: Survey) -> Survey {
        self.fastest = self.fastest.max(next.fastest);
        let new = next.wrong.into_iter().filter(|wrong| self.wrong.iter().all(|known| known.field != wrong.field));
        let new: Vec<Wrong> = new.collect();
        self.wrong.extend(new);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(density: &str, ux: &str) -> Start {
        let formula = |text: &str| Formula::parse(text).expect("a formula").0.on([8, 4, 1], 1.0);
        let field = |name: &str, components: &[&str]| StartField {
            name: name.into(),
            components: components.iter().map(|text| StartValue::Formula(formula(text))).collect(),
        };
        Start { fields: vec![field("phi", &["z"]), field("u", &[ux, "0", "0.3"]), field("rho", &[density])] }
    }

    #[test]
    fn a_start_is_taken_at_cell_centres_in_the_order_of_the_method() {
        let mut out = [0.0; 5];
        start("1 + y", "x / lx").at([3.5, 1.5, 0.5], &mut out);
        assert_eq!(out, [0.5, 3.5 / 8.0, 0.0, 0.3, 2.5]);
    }

    #[test]
    fn a_survey_finds_the_fastest_cell_and_the_first_wrong_ones() {
        let survey = start("1", "0.4 * x / 7.5").survey([8, 4, 1]);
        assert!((survey.fastest - 0.5).abs() < 1e-15);
        assert_eq!(survey.wrong, []);
        let survey = start("y - 1.5", "sqrt(3 - x)").survey([8, 4, 1]);
        assert_eq!(survey.wrong.len(), 2);
        assert_eq!(survey.wrong[0], Wrong { field: 2, component: 0, cell: [0, 0, 0], value: -1.0 });
        let no_velocity = &survey.wrong[1];
        assert_eq!((no_velocity.field, no_velocity.component, no_velocity.cell), (1, 0, [3, 0, 0]));
    }
}
