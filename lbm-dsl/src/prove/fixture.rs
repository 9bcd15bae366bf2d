//! A run of a method in a column of cells along x, the same everywhere across it: in 64 bits, as the text says, without anything linear.

use num_traits::ToPrimitive;

use crate::expr::{ExprId, Symbol};
use crate::model::{Boundary, Model, Rule};
use crate::prove::laws;

/// A column of a method in a uniform force along y.
pub struct Run<'m> {
    model: &'m Model,
    params: Vec<Vec<f64>>,
    force: f64,
    /// The rule of both ends and its position; periodic without one.
    walls: Option<(usize, &'m Boundary)>,
    /// Populations that have arrived in each cell.
    cells: Vec<Vec<f64>>,
    push: Vec<f64>,
}

impl<'m> Run<'m> {
    /// A frozen model that reads values of cells around; cells of density 1 with these velocities along y.
    pub fn new(model: &'m Model, params: &[Vec<f64>], walls: Option<&'m str>, velocities: &[f64], force: f64) -> Self {
        let push = laws::push(model, 1).iter().map(|share| share.to_f64().unwrap()).collect();
        let mut boundaries = model.boundaries.iter().enumerate();
        let walls = walls.map(|name| boundaries.find(|(_, boundary)| boundary.name == name).unwrap());
        let cell = |velocity: &f64| -> Vec<f64> {
            model.exprs.eval(&model.init.outputs, |symbol| match symbol {
                Symbol::Param { param, component } => params[usize::from(param)][usize::from(component)],
                Symbol::Field { field, .. } if model.fields[usize::from(field)].components.len() == 1 => 1.0,
                Symbol::Field { component: 1, .. } => *velocity,
                _ => 0.0,
            })
        };
        let cells = velocities.iter().map(cell).collect();
        Self { model, params: params.to_vec(), force, walls, cells, push }
    }

    /// Velocity along y of each cell.
    pub fn velocities(&self) -> Vec<f64> {
        let momentum = |cell: &Vec<f64>| {
            self.model.pops().map(|(pop, set, dir)| f64::from(set.lattice.velocity(dir)[1]) * cell[pop.index()]).sum()
        };
        self.cells.iter().map(momentum).map(|momentum: f64| momentum + self.force / 2.0).collect()
    }

    /// Some steps.
    pub fn run(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step());
    }

    fn step(&mut self) {
        let (model, count) = (self.model, self.cells.len());
        let around = model.around.as_ref().expect("a method that reads values of cells around");
        let eval = |roots: &[ExprId], cell: &[f64], seen: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            model.exprs.eval(roots, |symbol| match symbol {
                Symbol::Population(pop) => cell[pop.index()],
                Symbol::Param { param, component } => self.params[usize::from(param)][usize::from(component)],
                Symbol::Neighbour { shown, dir } => seen(shown.into(), dir.index()),
                _ => 0.0,
            })
        };
        let pushed = |cell: &[f64], share: f64| -> Vec<f64> {
            cell.iter().zip(&self.push).map(|(value, push)| value + share * self.force * push).collect()
        };
        let nothing = |_: usize, _: usize| f64::NAN;
        let shown: Vec<Vec<f64>> =
            self.cells.iter().map(|cell| eval(&around.shown, &pushed(cell, 0.5), &nothing)).collect();
        let beyond = |x: usize| {
            let (at, _) = self.walls.expect("a wall");
            eval(&around.beyond[at], &[], &|value, _| shown[x][value])
        };
        let there = |x: usize, shift: i32| match self.walls {
            None => Some((x as i32 + shift).rem_euclid(count as i32) as usize),
            Some(_) => x.checked_add_signed(shift as isize).filter(|there| *there < count),
        };
        let lattice = model.lattice();
        let collided = |x: usize| {
            let seen = |value: usize, dir: usize| {
                let shift = lattice.velocity(crate::lattice::Dir(dir as u8))[0];
                there(x, shift).map_or_else(|| beyond(x)[value], |there| shown[there][value])
            };
            pushed(&eval(&around.collide, &self.cells[x], &seen), 1.0)
        };
        let post: Vec<Vec<f64>> = (0..count).map(collided).collect();
        let arrived = |x: usize| -> Vec<f64> {
            let links = self.walls.map(|(_, boundary)| match &boundary.rule {
                Rule::Link(links) => eval(links, &post[x], &nothing),
                Rule::Node(_) => panic!("a rule of links"),
            });
            let from = |dir: crate::lattice::Dir| match there(x, -lattice.velocity(dir)[0]) {
                Some(from) => post[from][dir.index()],
                None => links.as_ref().expect("a wall")[dir.index()],
            };
            lattice.dirs().map(from).collect()
        };
        self.cells = (0..count).map(arrived).collect();
    }
}
