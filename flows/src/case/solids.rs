//! Solids of a case.

use lbm_runtime::geometry::solid::{FreeBody, Motion, Solid};

use super::formula::Formula;
use super::heat::Nusselt;
use super::layer::Layer;
use super::quantity::Quantity;
use super::slice::Slice;

/// A solid, and what its coefficients refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidBody {
    /// Which of the case's solids it is, or is a part of, from 0.
    pub of: usize,
    /// Which part of its surface, where parts have boundary conditions of their own.
    pub part: Option<Part>,
    /// Shape, rule of the surface and level, in cells of the coarsest level.
    pub solid: Solid,
    /// Parameters of the rule that vary over the surface or in time, which `solid` does not have: formulas of place, in cells, and time,
    /// in steps.
    pub formulas: Vec<(String, Vec<Formula>)>,
    /// Reference area of its coefficients, in two dimensions a length, in cells of the coarsest level.
    pub area: f64,
    /// What its Nusselt number refers to.
    pub nusselt: Option<Nusselt>,
    /// How it moves, if it does.
    pub moves: Option<Moves>,
    /// The boundary layer above its surface, if cells do not resolve it.
    pub layer: Option<Layer>,
}

/// How a solid moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Moves {
    /// By formulas of the time, in steps, for lengths in cells.
    Given {
        /// Its displacement along each axis; none where it only turns.
        displacement: Vec<Formula>,
        /// How it turns, if it does.
        turn: Option<Turn>,
    },
    /// With the fluid.
    Free(Box<FreeBody>),
}

/// How a solid turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The angle in radians, a formula of the time in steps.
    pub angle: Formula,
    /// The axis, of length 1; along z in two dimensions.
    pub axis: [f64; 3],
    /// The point about which it turns, in cells, where its shape is given.
    pub pivot: [f64; 3],
}

impl Moves {
    /// Whether the solid turns.
    pub fn turns(&self) -> bool {
        match self {
            Moves::Given { turn, .. } => turn.is_some(),
            Moves::Free(body) => body.turns(),
        }
    }

    /// The motion in a run of so many steps.
    pub fn motion(&self, steps: u64) -> Motion {
        let (displacement, turn) = match self {
            Moves::Given { displacement, turn } => (displacement, turn),
            Moves::Free(body) => return Motion::free(**body, steps),
        };
        let formulas = displacement.clone();
        let at = move |axis: usize, time: f64| formulas.get(axis).map_or(0.0, |formula| formula.at([0.0; 3], time));
        let motion = Motion::new(move |time| [0, 1, 2].map(|axis| at(axis, time)), steps);
        match turn.clone() {
            None => motion,
            Some(Turn { angle, axis, pivot }) => motion.turning(move |time| angle.at([0.0; 3], time), axis, pivot),
        }
    }
}

/// A part of a solid's surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its number in `patches`, from 1; 0 for what no patch names.
    pub number: usize,
    /// Its name there; [`REST`] for what no patch names.
    pub name: String,
}

/// What the part of a surface is called that no patch names.
pub const REST: &str = "rest";

impl SolidBody {
    /// The body that the fluid moves, if it is one.
    pub fn free(&self) -> Option<&FreeBody> {
        match self.moves.as_ref()? {
            Moves::Given { .. } => None,
            Moves::Free(body) => Some(body),
        }
    }

    /// Its motion in a run of so many steps, if it moves.
    pub fn motion(&self, steps: u64) -> Option<Motion> {
        self.moves.as_ref().map(|moves| moves.motion(steps))
    }
}

/// What is written of the surfaces of solids: pressure and friction, by these fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Surfaces {
    /// Steps between files; there is one at the end, too.
    pub every: u64,
    /// In three dimensions planes; along the curves in which they cut bodies there are tables.
    pub sections: Vec<Slice>,
    /// That of the fluid.
    pub density: Quantity,
    /// That above a fluid at rest.
    pub pressure: Quantity,
    /// That of the fluid.
    pub velocity: Quantity,
}
