//! What a user says of a flow: its box, what lies behind the faces, solids, and how the grid is refined.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::device::{Device, DeviceError, Devices};
use crate::geometry::solid::{Motion, Solid};
use crate::geometry::{Block, Face};
use crate::kernels::criteria::Criterion;
use crate::kernels::{Prescribed, Statistics};

/// A number at each time, in steps of the coarsest level.
pub type Course = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// Lower and upper corner of a box, in cells of the coarsest level.
pub(crate) type Corners = ([f64; 3], [f64; 3]);

/// How a grid is refined.
#[derive(Clone)]
pub struct Adaptivity {
    /// Levels that leaves may have.
    pub levels: RangeInclusive<usize>,
    /// What refines before the first step; it reads positions only.
    pub start: Criterion,
    /// Steps of the coarsest level between two changes of the grid, and what they follow besides solids that move; none for a grid that
    /// stays. With [`u64::MAX`] steps it changes when it is told alone.
    pub during: Option<(u64, Criterion)>,
    /// Boxes, in cells of the coarsest level, whose blocks stay as they are at the start: lower and upper corners.
    pub frozen: Vec<([f64; 3], [f64; 3])>,
    /// Bytes that the grid may take on each device, with all its data; none for as much as the device has.
    pub memory: Option<usize>,
    /// How many GPUs may share what lies in blocks, each of which has the tables of all: see [`Self::on`].
    pub sharing: usize,
    /// Whether there is to be room for [`Simulation::keep`] among these.
    pub keeps: bool,
}

impl Adaptivity {
    /// The same for the parts of a flow on these devices: its blocks may lie in the memory of all GPUs together, where these can do so.
    pub fn on(self, devices: &[Device]) -> Result<Adaptivity, DeviceError> {
        if devices.len() < 2 || !Devices::new(devices).share_memory()? {
            return Ok(self);
        }
        let memory = devices.iter().map(|device| memory_for(device, &self)).min();
        Ok(Adaptivity { memory, sharing: devices.len(), ..self })
    }
}

/// Whether a block of so many cells along each axis (1 beyond the dimension) overlaps a box whose blocks stay.
pub(crate) fn freezes(frozen: &[Corners], block: Block, cells: [usize; 3]) -> bool {
    frozen.iter().any(|(from, to)| block.overlaps(cells, from, to))
}

/// A grid and what lies behind its faces.
#[derive(Clone)]
pub struct GridSpec {
    /// Cells along each axis, multiples of the block; 1 beyond the dimension.
    pub size: [usize; 3],
    /// Faces in the order of [`Face::ALL`]; those beyond the dimension are not looked at.
    pub faces: [FaceSpec; 6],
    /// Solids in the box.
    pub solids: Vec<Solid>,
    /// What varies at their surfaces, in the same order; nothing at those for which there is no entry.
    pub surfaces: Vec<Varying>,
    /// Walls at parts of faces, in the place of the face's own; where several are, the first.
    pub patches: Vec<Patch>,
    /// How they move, in the same order; those for which there is none stay.
    pub motions: Vec<Option<Motion>>,
    /// The formulas of what depends on time.
    pub prescribed: Option<Prescribed>,
    /// What is accumulated over time.
    pub statistics: Option<Statistics>,
}

impl GridSpec {
    /// A box that is periodic along every axis.
    pub fn periodic(size: [usize; 3]) -> Self {
        GridSpec {
            size,
            faces: std::array::from_fn(|_| FaceSpec::Periodic),
            solids: Vec::new(),
            surfaces: Vec::new(),
            patches: Vec::new(),
            motions: Vec::new(),
            prescribed: None,
            statistics: None,
        }
    }

    /// The same with a wall at a face.
    pub fn with_wall(mut self, face: Face, rule: &str, values: &[(&str, &[f64])]) -> Self {
        let values = values.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect();
        let (rule, varying) = (rule.to_string(), Varying::default());
        self.faces[face.index()] = FaceSpec::Wall(WallSpec { rule, values, varying });
        self
    }

    /// The same with another solid in it.
    pub fn with_solid(mut self, solid: Solid) -> Self {
        self.solids.push(solid);
        self
    }

    /// The same where the last solid moves.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.motions.resize(self.solids.len().saturating_sub(1), None);
        self.motions.push(Some(motion));
        self
    }
}

/// What lies behind a face.
#[derive(Clone)]
pub enum FaceSpec {
    /// The opposite end of the box.
    Periodic,
    /// A wall.
    Wall(WallSpec),
}

/// A number at each place of a face, `[x, y, z]` in cells of the coarsest level.
pub type Profile = Arc<dyn Fn([f64; 3]) -> f64 + Send + Sync>;

/// Which points of a face are meant, `[x, y, z]` in cells of the coarsest level.
pub type Region = Arc<dyn Fn([f64; 3]) -> bool + Send + Sync>;

/// A wall at a part of a face. It and the face have link-wise rules, because each link across the face gets a wall of its own.
#[derive(Clone)]
pub struct Patch {
    /// The face.
    pub face: Face,
    /// The places at which links cross the face that have this wall.
    pub region: Region,
    /// The wall.
    pub wall: WallSpec,
}

/// A boundary rule with its parameters.
#[derive(Clone)]
pub struct WallSpec {
    /// Name of the rule.
    pub rule: String,
    /// Its parameters by name, each with all its components.
    pub values: Vec<(String, Vec<f64>)>,
    /// What varies of them.
    pub varying: Varying,
}

/// Parameters of a boundary rule that are not the same everywhere and at all times, by name, each with all its components.
#[derive(Clone, Default)]
pub struct Varying {
    /// Those that vary along the face or over the surface, whatever other values they have.
    pub profiles: Vec<(String, Vec<Profile>)>,
    /// Those that depend on time, which `profiles` or other values have at its beginning: the number of the formula of each component in
    /// [`GridSpec::prescribed`].
    pub timed: Vec<(String, Vec<usize>)>,
}

/// Bytes that a grid may take on a device.
pub(crate) fn memory_for(device: &Device, adaptivity: &Adaptivity) -> usize {
    match (adaptivity.memory, device.memory_available()) {
        (Some(memory), _) => memory,
        (None, Some(available)) => (SHARE_OF_MEMORY * available as f64) as usize,
        (None, None) => usize::MAX,
    }
}

/// Share of the memory available that a grid takes that may change, unless it is told.
pub const SHARE_OF_MEMORY: f64 = 0.8;
