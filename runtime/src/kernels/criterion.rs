//! What says how finely a place should be resolved: programs that the kernel of wishes runs at every cell.

use std::collections::BTreeMap;

use lbm_bundle::wishes::{ABOVE, CONSTANT, FUNCTIONS, LEVEL, STACK, VARIABLE, WITHIN};

/// A program of [`lbm_bundle::wishes`], made in reverse Polish order: operands, then what takes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criterion {
    ops: Vec<i32>,
    constants: Vec<f64>,
    depth: usize,
    deepest: usize,
}

impl Criterion {
    /// Nothing wished.
    pub fn new() -> Criterion {
        Criterion::default()
    }

    fn op(&mut self, op: i32, argument: i32, takes: usize, leaves: usize) {
        self.ops.extend([op, argument]);
        self.depth = (self.depth + leaves).saturating_sub(takes);
        self.deepest = self.deepest.max(self.depth);
    }

    /// A number.
    pub fn constant(&mut self, value: f64) {
        let at = self.constants.len() as i32;
        self.constants.push(value);
        self.op(CONSTANT, at, 0, 1);
    }

    /// A variable by its number: the position of the cell's centre along an axis (0 to 2), its width (3), a field
    /// ([`lbm_bundle::wishes::field`]).
    pub fn variable(&mut self, number: i32) {
        self.op(VARIABLE, number, 0, 1);
    }

    /// A function of [`FUNCTIONS`] by its name; false if there is none.
    #[must_use]
    pub fn function(&mut self, name: &str) -> bool {
        let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else { return false };
        let takes = if function.op >= lbm_bundle::wishes::BINARY { 2 } else { 1 };
        self.op(function.op, 0, takes, 1);
        true
    }

    /// Wishes the level on the stack, rounded down.
    pub fn level(&mut self) {
        self.op(LEVEL, 0, 1, 0);
    }

    /// Wishes a level where what is on the stack is positive.
    pub fn within(&mut self, level: usize) {
        self.op(WITHIN, level as i32, 1, 0);
    }

    /// Wishes a level where what is on the stack reaches its threshold, those of levels 1, 2 and so on in `thresholds`, and gives
    /// a level up below `given_up` times its threshold.
    pub fn above(&mut self, thresholds: &[f64], given_up: f64) {
        let at = self.constants.len() as i32;
        self.constants.extend(thresholds);
        self.constants.extend(thresholds.iter().map(|threshold| given_up * threshold));
        self.op(ABOVE, at, 1, 0);
    }

    /// How much the part of a cell that is inside a box has at least along some axis, negative outside: for
    /// [`Criterion::within`]. The box is in cells of level 0.
    pub fn overlap(&mut self, from: &[f64], to: &[f64]) {
        for (axis, (from, to)) in from.iter().zip(to).enumerate() {
            // x + w/2 - from
            self.variable(axis as i32);
            self.half_width();
            self.known("+");
            self.constant(*from);
            self.known("-");
            // to - (x - w/2)
            self.constant(*to);
            self.variable(axis as i32);
            self.known("-");
            self.half_width();
            self.known("+");
            self.known("min");
            if axis > 0 {
                self.known("min");
            }
        }
    }

    fn half_width(&mut self) {
        self.variable(3);
        self.constant(0.5);
        self.known("*");
    }

    fn known(&mut self, name: &str) {
        let known = self.function(name);
        debug_assert!(known, "{name}");
    }

    /// Whether the kernel's stack is deep enough.
    pub fn fits(&self) -> bool {
        self.deepest <= STACK
    }

    /// Pairs of op and argument.
    pub fn ops(&self) -> &[i32] {
        &self.ops
    }

    /// Constants; one at least, so that there is an array to pass.
    pub fn constants(&self) -> Vec<f64> {
        if self.constants.is_empty() { vec![0.0] } else { self.constants.clone() }
    }
}

/// Numbers of the variables that a method's fields make, by name: `ux` the component, `dy_ux` its derivative along y.
pub fn variables(dim: usize, components: &[String]) -> BTreeMap<String, i32> {
    let of = |(at, name): (usize, &String)| {
        let derivative = move |axis: usize| {
            (format!("d{}_{name}", ["x", "y", "z"][axis]), lbm_bundle::wishes::field(dim, at, Some(axis)))
        };
        (0..dim).map(derivative).chain([(name.clone(), lbm_bundle::wishes::field(dim, at, None))]).collect::<Vec<_>>()
    };
    components.iter().enumerate().flat_map(of).collect()
}
