//! Fields and initial populations in terms of what grids store: populations after the collision.
//!
//! In: a model, and what forces add to its momentum. After: `sampled`, `observed` and the stored forms of what cells show read from populations after
//! the collision what the spec reads before it, and `started` is what `init` is after a collision.
//!
//! A force is a vector parameter, or a vector of the spec that a collision does not change, as buoyancy does not change the temperature, or
//! changes in proportion to the momentum, as the drag of a porous medium does.
//! Among what is conserved a force changes nothing but the momentum. So the populations before the collision are taken to
//! be those after it less `w c.F / cs2`; fields made of conserved quantities are then exact. Without forces both are the
//! same.

use std::cell::RefCell;

use crate::expr::{ExprId, Exprs, Pop, Rational, Symbol};
use crate::model::{Formulas, Model};
use crate::prove::laws::{self, Push, Trial};

/// Fills in `sampled` and `started`.
pub fn complete(model: &mut Model, trial: &Trial) {
    let after: Vec<ExprId> = (0..model.q()).map(|at| model.exprs.symbol(Symbol::Population(Pop(at as u16)))).collect();
    let acting = driven_before(model, trial, &after);
    let gains = gains(model, trial, acting, &after);
    let before: Vec<ExprId> = after.iter().zip(gains).map(|(after, gain)| model.exprs.minus(*after, gain)).collect();
    model.sampled = replaced(&mut model.exprs, &model.macroscopic, &before);
    model.observed = replaced(&mut model.exprs, &model.observed, &before);
    let shown = Formulas { lets: vec![], outputs: model.shown.iter().map(|shown| shown.value).collect() };
    let stored = replaced(&mut model.exprs, &shown, &before).outputs;
    for (shown, stored) in model.shown.iter_mut().zip(stored) {
        // A force that depends on the cells around acts on nothing but the momentum.
        if !model.exprs.symbols(&[stored]).any(|symbol| matches!(symbol, Symbol::Neighbour { .. })) {
            shown.stored = stored;
        }
    }

    model.started = model.init.clone();
    let init = model.init.outputs.clone();
    let acting = driven(model, trial, &init);
    let gains = self::gains(model, trial, acting, &init);
    for (output, gain) in model.started.outputs.iter_mut().zip(gains) {
        *output = model.exprs.plus(*output, gain);
    }
}

/// The vector that a collision of these populations adds to the momentum.
fn driven(model: &mut Model, trial: &Trial, populations: &[ExprId]) -> Vec<ExprId> {
    let vector = trial.driven.map(|at| model.vectors[at].components.clone());
    let formulas = Formulas { lets: vec![], outputs: vector.unwrap_or_default() };
    replaced(&mut model.exprs, &formulas, populations).outputs
}

/// The same from populations after the collision: [`laws::before`] says how. What depends on no momentum is the same.
fn driven_before(model: &mut Model, trial: &Trial, after: &[ExprId]) -> Vec<ExprId> {
    let mut vector = driven(model, trial, after);
    for (axis, now) in vector.iter_mut().enumerate() {
        let push = laws::push(model, axis);
        let pushed = after.iter().zip(push).map(|(after, push)| {
            let push = model.exprs.constant(push);
            model.exprs.plus(*after, push)
        });
        let pushed: Vec<ExprId> = pushed.collect();
        let more = driven(model, trial, &pushed)[axis];
        if more != *now {
            let exprs = RefCell::new(&mut model.exprs);
            let one = exprs.borrow_mut().int(1);
            let minus = |a, b| exprs.borrow_mut().minus(a, b);
            *now = laws::before(*now, more, minus, one, |a, b| exprs.borrow_mut().over(a, b));
        }
    }
    vector
}

/// What a collision adds to each population because of forces, `driven` among them, as far as the momentum goes: `w c.F / cs2`.
fn gains(model: &mut Model, trial: &Trial, driven: Vec<ExprId>, populations: &[ExprId]) -> Vec<ExprId> {
    let exprs = &mut model.exprs;
    let set = &model.populations[0];
    let mut forces = vec![exprs.int(0); set.lattice.dim()];
    forces.iter_mut().zip(driven).for_each(|(force, value)| *force = value);
    for (param, push) in &trial.pushes {
        let factor = match push {
            Some(Push::Force) => exprs.int(1),
            Some(Push::Acceleration) => {
                let zero = exprs.int(0);
                populations[set.range()].iter().fold(zero, |sum, population| exprs.plus(sum, *population))
            }
            Some(Push::Nothing) | None => continue,
        };
        for (axis, force) in forces.iter_mut().enumerate() {
            let value = exprs.symbol(Symbol::Param { param: *param as u16, component: axis as u8 });
            let value = exprs.times(factor, value);
            *force = exprs.plus(*force, value);
        }
    }
    let mut gains = vec![exprs.int(0); populations.len()];
    for dir in set.lattice.dirs() {
        let gain = &mut gains[set.pop(dir).index()];
        for (c, force) in set.lattice.velocity(dir).iter().zip(&forces) {
            let share = set.lattice.weight(dir) / set.lattice.cs2() * Rational::from_integer((*c).into());
            let share = exprs.constant(share);
            let part = exprs.times(share, *force);
            *gain = exprs.plus(*gain, part);
        }
    }
    gains
}

/// Formulas with other values for the populations.
pub(super) fn replaced(exprs: &mut Exprs, formulas: &Formulas, populations: &[ExprId]) -> Formulas {
    let new = exprs.clone().substitute(&formulas.outputs, exprs, |_, symbol| match symbol {
        Symbol::Population(pop) => Some(populations[pop.index()]),
        _ => None,
    });
    let to = |old: ExprId| new.get(old).unwrap_or(old);
    let mut formulas = formulas.clone();
    formulas.outputs.iter_mut().for_each(|output| *output = to(*output));
    formulas.lets.iter_mut().for_each(|item| item.value = to(item.value));
    formulas
}
