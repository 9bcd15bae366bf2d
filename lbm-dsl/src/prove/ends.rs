//! What rules make of disturbances of a uniform stream at faces, and where two of them meet.
//!
//! In: a method, a stream and rules. After: the derivatives of the collision and of each rule, in the frame of the box.

use std::fmt;

use nalgebra::DMatrix;
use num_traits::ToPrimitive;

use crate::expr::{ExprId, Symbol};
use crate::lattice::{Dir, Lattice};
use crate::model::{Boundary, Model, Param, Rule};
use crate::prove::linear::{self, Dual, Linear, NotLinear};

/// Part of the velocity by which what a rule brings into a uniform stream may be off, over the weight: those with other equilibria than the method's are
/// off by its third power.
const NEAR: f64 = 0.5;

/// The parameter of outflows: the speed of what leaves.
const SPEED: &str = "speed";

/// Length of a domain in cells, over which a face leads its mean to what is given, and what it is where it is not given.
const LENGTH: &str = "length";
const LONG: f64 = 1000.0;
/// The parameter of rules whose wall lies at any distance.
pub const DISTANCE: &str = "distance";

/// A face of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Face {
    /// The axis across which it lies.
    pub axis: usize,
    /// Whether it is the one at the end of the axis.
    pub high: bool,
}

/// Why nothing is known of a rule at a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// Velocities reach beyond the next cell.
    LongVelocities,
    /// The rule has no derivative there.
    NotLinear(NotLinear),
}

impl fmt::Display for NoEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEnd::LongVelocities => out.write_str("some velocities of the lattice reach beyond the next cell"),
            NoEnd::NotLinear(NotLinear::Rough) => out.write_str("the rule has no derivative in this stream"),
            NoEnd::NotLinear(why) => why.fmt(out),
        }
    }
}

/// A method about a uniform stream of density 1.
pub struct Stream<'m> {
    pub(super) model: &'m Model,
    params: Vec<Vec<f64>>,
    velocity: Vec<f64>,
    /// Of each value of a cell: of populations, then zeros of its states.
    pub(super) velocities: Vec<Vec<i32>>,
    /// To which set each population belongs.
    sets: Vec<usize>,
    state: Vec<f64>,
    pub(super) collision: Linear,
    /// What a cell shows to others.
    shown: Vec<f64>,
}

/// What a rule makes of disturbances at a face: a row for each population that it gives.
pub struct End {
    face: Face,
    /// Which values of a cell.
    gives: Vec<usize>,
    /// Whether what streams into the cell comes first.
    is_node: bool,
    /// From what the cell has after its collision.
    pub(super) sent: DMatrix<f64>,
    /// From what a mirror would send back.
    pub(super) mirrored: DMatrix<f64>,
    /// From what arrives in the cell, in the next one and [`DEEP`] cells away.
    pub(super) streamed: DMatrix<f64>,
    pub(super) inside: DMatrix<f64>,
    pub(super) deep: DMatrix<f64>,
    /// What a cell beyond the face shows, from what its image before the face shows.
    pub(super) beyond: DMatrix<f64>,
    /// Whether the uniform stream passes it unchanged.
    passes: bool,
}

impl End {
    /// Whether the uniform stream passes the face as if there were none.
    pub fn passes(&self) -> bool {
        self.passes
    }

    /// Which face.
    pub fn face(&self) -> Face {
        self.face
    }

    /// Whether it is a rule of nodes, whose wall lies on the outermost cells.
    pub(super) fn is_node(&self) -> bool {
        self.is_node
    }

    /// The row of a population that the rule gives.
    pub(super) fn row(&self, pop: usize) -> Option<usize> {
        self.gives.iter().position(|given| *given == pop)
    }

    /// The populations that it gives.
    pub(super) fn gives(&self) -> &[usize] {
        &self.gives
    }

    /// Whether it is a symmetry plane, which returns what has left the image of the cell.
    pub(super) fn is_mirror(&self) -> bool {
        self.mirrored.iter().any(|part| *part != 0.0)
    }

    /// The population whose mirror image that one is.
    pub(super) fn image(&self, stream: &Stream, pop: usize) -> usize {
        stream.mirrored(pop, self.face.axis)
    }
}

/// Values of a rule's parameters in a uniform stream of density 1: the velocity and the density are the stream's, others its `own`. A speed that is not
/// given is that of sound, a length is 1000 cells. `None` where another one is not given.
pub fn values(
    model: &Model,
    rule: &Boundary,
    velocity: &[f64],
    own: impl Fn(&str) -> Option<f64>,
) -> Option<Vec<Vec<f64>>> {
    let sound = model.lattice().cs2().to_f64().unwrap_or(f64::NAN).sqrt();
    let value = |param: &Param| match (&param.name[..], param.components) {
        ("velocity", count) if count == velocity.len() => Some(velocity.to_vec()),
        ("density", 1) => Some(vec![1.0]),
        (SPEED, 1) => Some(vec![own(SPEED).unwrap_or(sound)]),
        (LENGTH, 1) => Some(vec![own(LENGTH).unwrap_or(LONG)]),
        (name, 1) => own(name).map(|value| vec![value]),
        _ => None,
    };
    rule.params.iter().map(value).collect()
}

impl<'m> Stream<'m> {
    /// `params[param][component]`; velocity in cells per step.
    pub fn new(model: &'m Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Self, NotLinear> {
        let state = linear::equilibrium(model, params, velocity)?;
        let shown = model.around.as_ref().map_or(&[][..], |around| &around.shown);
        let shown = model.exprs.eval(shown, |symbol| match symbol {
            Symbol::Population(pop) => state[pop.index()],
            Symbol::Param { param, component } => params[usize::from(param)][usize::from(component)],
            _ => 0.0,
        });
        let still = vec![0; model.lattice().dim()];
        let moving = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec());
        let sets = model.populations().iter().enumerate().flat_map(|(at, set)| vec![at; set.lattice.q()]);
        Ok(Self {
            model,
            params: params.to_vec(),
            velocity: velocity.to_vec(),
            velocities: moving.chain(model.states().iter().map(|_| still.clone())).collect(),
            sets: sets.collect(),
            collision: linear::collision(model, params, velocity)?,
            state,
            shown,
        })
    }

    /// The method.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Its velocity.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// The population with the other velocity along an axis; a state is its own image.
    pub(super) fn mirrored(&self, value: usize, axis: usize) -> usize {
        let Some(set) = self.sets.get(value) else { return value };
        let mut velocity = self.velocities[value].clone();
        velocity[axis] = -velocity[axis];
        let is_it = |other: &usize| self.sets[*other] == *set && self.velocities[*other] == velocity;
        (0..self.sets.len()).find(is_it).unwrap_or(value)
    }

    /// The axis along which a shown value is a component of a vector.
    pub(super) fn axis_of_shown(&self, value: usize) -> Option<usize> {
        self.model.around.as_ref().and_then(|around| around.axes[value])
    }

    /// A rule at a face, its own parameters given: `values[param][component]`.
    pub fn end(&self, rule: &Boundary, values: &[Vec<f64>], face: Face) -> Result<End, NoEnd> {
        self.end_at(rule, values, &[face])
    }

    /// A rule at a face, or a rule of nodes where two faces meet, in the order of their axes.
    pub(super) fn end_at(&self, rule: &Boundary, values: &[Vec<f64>], faces: &[Face]) -> Result<End, NoEnd> {
        let face = faces[0];
        if self.velocities.iter().flatten().any(|c| c.abs() > 1) {
            return Err(NoEnd::LongVelocities);
        }
        let (model, lattice, q) = (self.model, self.model.lattice(), self.state.len());
        // Rules of nodes are written for faces whose inward normals are the first axes.
        let is_node = matches!(rule.rule, Rule::Node(_));
        let turn: Vec<usize> = (0..q).map(|at| if is_node { turned(lattice, at, faces) } else { at }).collect();
        let back = |pop: usize| turn.iter().position(|other| *other == pop).unwrap_or(pop);
        let inward = if face.high { -1 } else { 1 };
        let enters = |pop: &usize| self.velocities[*pop][face.axis] == inward;
        let (gives, outputs): (Vec<usize>, Vec<ExprId>) = match &rule.rule {
            Rule::Link(links) => (0..q).filter(enters).map(|pop| (pop, links[pop])).unzip(),
            Rule::Node(forms) => {
                let form = &forms[faces.len() - 1];
                form.dirs.iter().map(|dir| turn[dir.index()]).zip(form.formulas.outputs.iter().copied()).unzip()
            }
        };
        let own: Vec<Vec<f64>> = values
            .iter()
            .map(
                |value| {
                    if is_node && value.len() == lattice.dim() { turned_vector(value, faces) } else { value.clone() }
                },
            )
            .collect();
        let mirror = |pop: usize| self.mirrored(pop, face.axis);
        let (mirrors, streams, insides, deeps) = (q, 2 * q, 3 * q, 4 * q);
        let given = |symbol: Symbol, count: usize| {
            let of = |first: usize, pop: usize| Dual::variable(self.state[turn[pop]], first + pop, count);
            match symbol {
                Symbol::Population(pop) => of(0, pop.index()),
                Symbol::Mirrored(dir) => Dual::variable(self.state[mirror(dir.index())], mirrors + dir.index(), count),
                Symbol::Streamed(dir) => of(streams, dir.index()),
                Symbol::Inside(dir) => of(insides, dir.index()),
                Symbol::Deep(dir) => of(deeps, dir.index()),
                Symbol::WallParam { param, component } => {
                    Dual::constant(own[usize::from(param)][usize::from(component)])
                }
                Symbol::Param { param, component } => {
                    Dual::constant(self.params[usize::from(param)][usize::from(component)])
                }
                _ => Dual::constant(0.0),
            }
        };
        let count = 5 * q;
        let all = linear::derivatives(&model.exprs, &outputs, count, |symbol| given(symbol, count));
        let all = all.map_err(NoEnd::NotLinear)?;
        let values: Vec<Dual> = model.exprs.eval(&outputs, |symbol| given(symbol, count));
        let speed = self.velocity.iter().map(|u| u * u).sum::<f64>().sqrt();
        let weights: Vec<f64> = model.weights().iter().map(|weight| weight.to_f64().unwrap_or(f64::NAN)).collect();
        // What a face gives of a scalar is not what passes it.
        let is_kept = |(pop, value): (&usize, &Dual)| {
            self.sets.get(*pop).is_none_or(|set| *set > 0)
                || (value.value - self.state[*pop]).abs() <= NEAR * speed * weights[*pop] + 1e-9
        };
        let passes = gives.iter().zip(&values).all(is_kept);
        let part = |first: usize| DMatrix::from_fn(gives.len(), q, |row, pop| all[(row, first + back(pop))]);
        let at = model.boundaries.iter().position(|other| other.name == rule.name);
        let beyond = model.around.as_ref().zip(at).map_or(&[][..], |(around, at)| &around.beyond[at]);
        let shown = self.shown.len();
        let beyond = linear::derivatives(&model.exprs, beyond, shown, |symbol| match symbol {
            Symbol::Neighbour { shown: value, .. } => {
                Dual::variable(self.shown[usize::from(value)], value.into(), shown)
            }
            other => given(other, 0),
        });
        Ok(End {
            face,
            is_node,
            sent: part(0),
            mirrored: part(mirrors),
            streamed: part(streams),
            inside: part(insides),
            deep: part(deeps),
            beyond: beyond.map_err(NoEnd::NotLinear)?,
            gives,
            passes,
        })
    }
}

/// The population at these faces of one where inward normals are the first axes.
fn turned(lattice: &Lattice, pop: usize, faces: &[Face]) -> usize {
    if pop >= lattice.q() {
        return pop;
    }
    let velocity = lattice.velocity(Dir(pop as u8));
    let mut turned = vec![0; velocity.len()];
    frame(velocity.len(), faces).zip(velocity).for_each(|((axis, sign), c)| turned[axis] = sign * c);
    lattice.find(&turned).map_or(pop, Dir::index)
}

/// A vector at these faces, where inward normals are the first axes.
fn turned_vector(value: &[f64], faces: &[Face]) -> Vec<f64> {
    frame(value.len(), faces).map(|(axis, sign)| f64::from(sign) * value[axis]).collect()
}

/// Inward normals, then the other axes: each axis, and whether it is turned round.
fn frame(dim: usize, faces: &[Face]) -> impl Iterator<Item = (usize, i32)> {
    let normals = faces.iter().map(|face| (face.axis, if face.high { -1 } else { 1 }));
    normals.chain((0..dim).filter(|axis| faces.iter().all(|face| face.axis != *axis)).map(|axis| (axis, 1)))
}
