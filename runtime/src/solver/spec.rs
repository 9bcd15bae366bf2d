//! What a user specifies for a flow: its box, the boundary conditions of the faces, solids, and how the grid is refined.

use std::ops::RangeInclusive;
use std::sync::Arc;

use lbm_bundle::slides::{LAW_FROM, LAW_NUMBERS, LAW_STEP};

use crate::device::{Device, DeviceError, Devices};
use crate::geometry::solid::{Motion, Solid};
use crate::geometry::{Block, Face};
use crate::kernels::criteria::Criterion;
use crate::kernels::{Prescribed, Statistics};

/// A function of time, in steps of the coarsest level.
pub type Course = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// Lower and upper corner of a box, in cells of the coarsest level.
pub(crate) type Corners = ([f64; 3], [f64; 3]);

/// How a grid is refined.
#[derive(Clone)]
pub struct Adaptivity {
    /// Levels that leaves may have.
    pub levels: RangeInclusive<usize>,
    /// The criterion of the initial refinement; it reads positions only.
    pub start: Criterion,
    /// The interval of adaptations, in steps of the coarsest level, and the criterion that they follow besides moving solids; `None` for a
    /// fixed grid. With [`u64::MAX`] steps the grid changes [on request](crate::solver::Simulation::adapt_to) only.
    pub during: Option<(u64, Criterion)>,
    /// Boxes whose blocks are pinned: they keep their initial level. Lower and upper corners, in cells of the coarsest level.
    pub pinned: Vec<([f64; 3], [f64; 3])>,
    /// Memory for the grid and all its data on each device, in bytes; `None` for a share of the available memory ([`SHARE_OF_MEMORY`]).
    pub memory: Option<usize>,
    /// How many GPUs may share the data of blocks; each of them has the tables of all blocks. See [`Self::on`].
    pub sharing: usize,
    /// Whether these data include reference fields, for [`Simulation::set_reference`](crate::solver::Simulation::set_reference).
    pub keeps: bool,
}

impl Adaptivity {
    /// The same for a flow whose subdomains are on these devices: its blocks may be spread over the memory of all GPUs, if the devices
    /// support it.
    pub fn on(self, devices: &[Device]) -> Result<Adaptivity, DeviceError> {
        if devices.len() < 2 || !Devices::new(devices).share_memory()? {
            return Ok(self);
        }
        let memory = devices.iter().map(|device| memory_for(device, &self)).min();
        Ok(Adaptivity { memory, sharing: devices.len(), ..self })
    }
}

/// Whether a block overlaps a box of pinned blocks; `cells`: the cells of a block along each axis, 1 beyond the dimension.
pub(crate) fn pins(pinned: &[Corners], block: Block, cells: [usize; 3]) -> bool {
    pinned.iter().any(|(from, to)| block.overlaps(cells, from, to))
}

/// The box of a flow: its size, boundary conditions and solids, with the formulas and statistics that are compiled for it.
#[derive(Clone)]
pub struct GridSpec {
    /// Cells along each axis, 1 beyond the dimension. Along periodic axes they are multiples of the block size; along others the last blocks
    /// may reach beyond the domain if the boundary condition of the upper face allows it.
    pub size: [usize; 3],
    /// Faces in the order of [`Face::ALL`]; those beyond the dimension are ignored.
    pub faces: [FaceSpec; 6],
    /// Solids in the box.
    pub solids: Vec<Solid>,
    /// Parameters that vary over the surfaces of solids, in the same order as the solids; a solid without an entry has none.
    pub surfaces: Vec<Varying>,
    /// Walls on regions of faces, where they replace the wall of the face. Where several overlap, the first applies.
    pub patches: Vec<Patch>,
    /// Motions of the solids, in the same order; a solid without an entry is at rest.
    pub motions: Vec<Option<Motion>>,
    /// Laws of the wall, in the same order: those of surfaces whose rule slides, which are at rest.
    pub laws: Vec<Option<WallLaw>>,
    /// The kernels of the time-dependent formulas.
    pub prescribed: Option<Prescribed>,
    /// The statistics that are accumulated over time.
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
            laws: Vec::new(),
            prescribed: None,
            statistics: None,
        }
    }

    /// Whether each axis of so many is periodic; true beyond them.
    pub(crate) fn periodic_axes(&self, dim: usize) -> [bool; 3] {
        let is_periodic = |face: &Face| matches!(self.faces[face.index()], FaceSpec::Periodic);
        std::array::from_fn(|axis| axis >= dim || Face::of_axis(axis).iter().all(is_periodic))
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

    /// The same with a law of the wall at the last solid.
    pub fn under(mut self, law: WallLaw) -> Self {
        self.laws.resize(self.solids.len().saturating_sub(1), None);
        self.laws.push(Some(law));
        self
    }

    /// The same with a motion of the last solid.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.motions.resize(self.solids.len().saturating_sub(1), None);
        self.motions.push(Some(motion));
        self
    }
}

/// The law of a wall under a turbulent boundary layer.
#[derive(Clone)]
pub struct WallLaw {
    /// u+ of y+ and of the height of roughness over `nu / u_t`; where y+ grows, u+ does not fall.
    pub plus: Arc<dyn Fn(f64, f64) -> f64 + Send + Sync>,
    /// Height at which the velocity is taken, in cells of the level of the surface.
    pub sample: f64,
    /// Viscosity of the fluid in cells of the coarsest level squared per step.
    pub viscosity: f64,
    /// Height of roughness in cells of the coarsest level.
    pub roughness: f64,
    /// The velocity of the surface along itself, if it is not at rest.
    pub velocity: Option<Velocity>,
}

/// A velocity in cells per step at a position in cells of the coarsest level.
pub type Velocity = Arc<dyn Fn([f64; 3]) -> [f64; 3] + Send + Sync>;

impl WallLaw {
    /// Logarithms of y+ over those of the Reynolds number of the height ([`lbm_bundle::slides`]), at the surface of a level.
    pub(crate) fn table(&self, level: usize) -> Vec<f64> {
        let rough = self.roughness * f64::from(1u32 << level) / self.sample;
        let of_number = |at: usize| {
            let wanted = LAW_FROM + LAW_STEP * at as f64;
            // u+ y+ grows with y+: bisection.
            let (mut low, mut high) = (-40.0, wanted.max(0.0) + 20.0);
            for _ in 0..80 {
                let middle = 0.5f64 * (low + high);
                let layer = middle.exp();
                let reynolds = layer * (self.plus)(layer, layer * rough).max(f64::MIN_POSITIVE);
                if reynolds.ln() < wanted { low = middle } else { high = middle }
            }
            low
        };
        (0..LAW_NUMBERS).map(of_number).collect()
    }
}

/// The boundary condition of a face.
#[derive(Clone)]
pub enum FaceSpec {
    /// Periodic: the opposite end of the box lies behind the face.
    Periodic,
    /// A wall.
    Wall(WallSpec),
}

/// A function of the position on a face, `[x, y, z]` in cells of the coarsest level.
pub type Profile = Arc<dyn Fn([f64; 3]) -> f64 + Send + Sync>;

/// A region of a face: whether it contains a point, `[x, y, z]` in cells of the coarsest level.
pub type Region = Arc<dyn Fn([f64; 3]) -> bool + Send + Sync>;

/// A wall on a region of a face. Both it and the wall of the face must have link-wise rules, because each link across the face has a wall
/// of its own.
#[derive(Clone)]
pub struct Patch {
    /// The face.
    pub face: Face,
    /// The region: a link has this wall if it crosses the face there.
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
    /// Those that vary in space or time.
    pub varying: Varying,
}

/// Parameters of a boundary rule that vary in space or time, by name, each with all its components.
#[derive(Clone, Default)]
pub struct Varying {
    /// Those that vary along the face or over the surface. They replace constant values.
    pub profiles: Vec<(String, Vec<Profile>)>,
    /// Those that depend on time: for each component, the number of its formula in [`GridSpec::prescribed`]. The initial values come from
    /// `profiles` or are the constant values.
    pub timed: Vec<(String, Vec<usize>)>,
}

/// Memory that a grid may use on a device, in bytes.
pub(crate) fn memory_for(device: &Device, adaptivity: &Adaptivity) -> usize {
    match (adaptivity.memory, device.memory_available()) {
        (Some(memory), _) => memory,
        (None, Some(available)) => (SHARE_OF_MEMORY * available as f64) as usize,
        (None, None) => usize::MAX,
    }
}

/// The share of the available memory that an adaptive grid uses by default.
pub const SHARE_OF_MEMORY: f64 = 0.8;
