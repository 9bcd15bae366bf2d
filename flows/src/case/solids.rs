//! Solids of a case.

use lbm_runtime::geometry::solid::{Motion, Solid, Solids};

use super::{Case, Formula, Quantity};

/// A solid, and what its coefficients refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidBody {
    /// Shape, rule of the surface and level, in cells of the coarsest level.
    pub solid: Solid,
    /// Parameters of the rule that vary over the surface or in time, which `solid` does not have: formulas of place, in cells, and time,
    /// in steps.
    pub formulas: Vec<(String, Vec<Formula>)>,
    /// Reference area of its coefficients, in two dimensions a length, in cells of the coarsest level.
    pub area: f64,
    /// If it moves, its displacement along each axis: formulas of the time, in steps, for lengths in cells.
    pub displacement: Option<Vec<Formula>>,
}

impl SolidBody {
    /// Its motion in a run of so many steps, if it moves.
    pub fn motion(&self, steps: u64) -> Option<Motion> {
        let formulas = self.displacement.clone()?;
        let at = move |axis: usize, time: f64| formulas.get(axis).map_or(0.0, |formula| formula.at([0.0; 3], time));
        Some(Motion::new(move |time| [0, 1, 2].map(|axis| at(axis, time)), steps))
    }
}

impl Case {
    /// Its solids where they are at a step, on a grid of blocks of so many cells.
    pub fn solids_at(&self, block: [usize; 3], step: u64) -> Solids {
        let bodies: Vec<Solid> = self.solids.iter().map(|body| body.solid.clone()).collect();
        let motions: Vec<_> = self.solids.iter().map(|body| body.motion(self.stop.steps)).collect();
        let solids = Solids::new(&bodies, self.dim, self.size, block, self.periodic);
        let mut solids = solids.moving(&bodies, &motions, false).expect("a way counts on refined grids only");
        bodies.iter().for_each(|solid| solids.set_time(solid.level, step as f64));
        solids
    }
}

/// What is written of the surfaces of solids: pressure and friction, by these fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Surfaces {
    /// Steps between files; there is one at the end, too.
    pub every: u64,
    /// That of the fluid.
    pub density: Quantity,
    /// That above a fluid at rest.
    pub pressure: Quantity,
    /// That of the fluid.
    pub velocity: Quantity,
}
