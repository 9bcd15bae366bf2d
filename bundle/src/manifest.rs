//! Manifests of bundles.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::storage::MOST_SIDE_BY_SIDE;
use crate::{
    Boundary, Coupling, Criterion, Direction, Field, Kernel, Layout, Lent, Member, Moment, Param, Populations, Real,
    Role, Seen, Shown, State, Target, Transport, lent,
};

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name of the spec: `d3q19_bgk`.
    pub spec: String,
    /// Target.
    pub target: Target,
    /// Real type.
    pub real: Real,
    /// How cells lie in memory.
    pub layout: Layout,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// The sets of populations; the first is that of `lattice` in the spec.
    pub populations: Vec<Populations>,
    /// The direction of every population, one set after the other. Behind them comes one for each state: it goes nowhere.
    pub directions: Vec<Direction>,
    /// States, which are stored behind the populations as if they were some that stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// Values that neighbours read before the collision. Separate kernels store them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// The values that the collision reads from neighbours, by direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// Moments that are stored in place of populations, each as a difference from its value at rest; behind them the states. If empty, populations
    /// are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
    /// Cells of a block along each axis; 1 beyond the dimension. [`Layout::Soa`] has no blocks in memory: these are the
    /// cells of a CUDA thread block.
    pub block: [u32; 3],
    /// Number of values per wall instance in `wall_values`.
    pub wall_stride: u32,
    /// Parameters of the method.
    pub params: Vec<Param>,
    /// Members, in order, of the struct `<spec>_params`, which kernels take by value as their last argument. A method without parameters has no such
    /// struct and no such argument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// Macroscopic fields in the order of their components in `fields`.
    pub fields: Vec<Field>,
    /// Boundary rules.
    pub boundaries: Vec<Boundary>,
    /// Codes of the boundary rules that surfaces of solids can have, if the bundle has kernels for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solid_rules: Vec<i32>,
    /// Codes of the boundary rules that are symmetry planes, if the bundle has kernels for solids or refinement interfaces, which they mirror.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirror_rules: Vec<i32>,
    /// Codes of the boundary rules that work on one level only, if the bundle has kernels for several: they combine the mirrored population with
    /// others, or have a parameter that would differ between levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_level_rules: Vec<i32>,
    /// Codes of the boundary rules that work in the only set of populations, if the bundle has kernels for it: what a wall sends depends on what the
    /// cell has sent there and on what arrives in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_place_rules: Vec<i32>,
    /// Codes of those of nodes which do so on a face, but not where such faces meet: they read other cells there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_place_face_rules: Vec<i32>,
    /// The coupling at refinement interfaces, if the bundle has kernels for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<Coupling>,
    /// Refinement criteria that the spec defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
    /// Kinematic viscosity of the first populations as a function of the parameters.
    pub viscosity: Transport,
}

impl Manifest {
    /// The first populations, those of `lattice` in the spec.
    ///
    /// # Panics
    /// Where the manifest lists none: no such manifest is made, and no such bundle loads.
    pub fn main(&self) -> &Populations {
        &self.populations[0]
    }
    /// Number of populations of all sets, and of states.
    pub fn q(&self) -> usize {
        self.directions.len()
    }
    /// Number of values that are stored of a cell: its moments or its populations, and its states.
    pub fn values(&self) -> usize {
        if self.moments.is_empty() { self.q() } else { self.moments.len() }
    }
    /// The first of the values that are states; the others are what streams, or moments.
    pub fn first_state(&self) -> usize {
        self.values() - self.states.len()
    }
    /// The stored value that is the state at a position among the directions.
    pub fn value_of_state(&self, direction: usize) -> usize {
        direction + self.values() - self.q()
    }
    /// The first of the states, if there are some and each takes two rows: it has 32 bits where populations have 16.
    pub fn first_in_halves(&self) -> Option<usize> {
        (self.real == Real::F16F32 && !self.states.is_empty()).then(|| self.first_state())
    }
    /// The rows that a value of a cell is stored in. A row has a number of the stored type for each cell of a block. Of a state that takes two,
    /// the first has the upper half of its bits, the second the lower half.
    pub fn rows_of(&self, value: usize) -> Range<usize> {
        match self.first_in_halves().filter(|first| value >= *first) {
            Some(first) => 2 * value - first..2 * value - first + 2,
            None => value..value + 1,
        }
    }
    /// Number of rows of a block.
    pub fn rows(&self) -> usize {
        self.rows_of(self.values()).start
    }
    /// Values of the parameters on the next finer level, in their order: rates by the formulas of the coupling, others by their units. A parameter
    /// with neither is the same on all levels.
    pub fn finer(&self, values: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let named = |name: &str| Some(values[self.params.iter().position(|param| param.name == name)?][0]);
        let of_param = |(param, values): (&Param, &Vec<f64>)| {
            let rates = self.coupling.iter().flat_map(|coupling| &coupling.rates);
            match (rates.into_iter().find(|rate| rate.param == param.name), param.unit) {
                (Some(rate), _) => vec![rate.finer.value(&named).unwrap_or(f64::NAN)],
                (None, Some(unit)) => values.iter().map(|value| value * unit.finer()).collect(),
                (None, None) => values.clone(),
            }
        };
        self.params.iter().zip(values).map(of_param).collect()
    }
    /// Changes of the parameters on the next finer level, from values on the level at hand and their changes.
    pub fn finer_changes(&self, values: &[Vec<f64>], changes: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let at = |name: &str| self.params.iter().position(|param| param.name == name);
        let named = |name: &str| at(name).map(|at| [values[at][0], changes[at][0]]);
        let of_param = |(param, changes): (&Param, &Vec<f64>)| {
            let rates = self.coupling.iter().flat_map(|coupling| &coupling.rates);
            match (rates.into_iter().find(|rate| rate.param == param.name), param.unit) {
                (Some(rate), _) => vec![rate.finer.slope(&named).map_or(f64::NAN, |[_, change]| change)],
                (None, Some(unit)) => changes.iter().map(|change| change * unit.finer()).collect(),
                (None, None) => changes.clone(),
            }
        };
        self.params.iter().zip(changes).map(of_param).collect()
    }
    /// Cells of a block.
    pub fn cells(&self) -> usize {
        self.block.iter().map(|n| *n as usize).product()
    }

    /// Number of values between the populations of two successive directions of a block: its cells and, on the host, a cache line more if directions
    /// would be a multiple of 1 KiB apart. Their cells would then share cache sets and evict each other.
    pub fn pitch(&self) -> usize {
        self.pitch_of(self.target)
    }

    /// The same for kernels of another target.
    pub fn pitch_of(&self, target: Target) -> usize {
        let (bytes, line) = (self.cells() * self.real.stored_bytes(), 64 / self.real.stored_bytes());
        let apart = !target.is_gpu() && self.layout == Layout::Blocks && bytes.is_multiple_of(1024);
        self.cells() + if apart { line } else { 0 }
    }

    /// Whether the moments of a cell are contiguous in memory, in the groups of [`side_by_side`](crate::side_by_side): those of 16 bits on GPUs are,
    /// and a group is loaded at once. Otherwise, and for states, the values with the same index are contiguous, for all cells of a block.
    pub fn is_side_by_side(&self) -> bool {
        let half = self.real == Real::F16F32 && self.target.is_gpu();
        half && !self.moments.is_empty() && self.cells().is_multiple_of(MOST_SIDE_BY_SIDE)
    }

    /// The digits that moments of 16 bits [lend](lent) each other; none for values of other types.
    pub fn lent(&self) -> Vec<Lent> {
        if self.real != Real::F16F32 || self.moments.is_empty() {
            return vec![];
        }
        lent(self.moments[..self.first_state()].iter().map(|moment| moment.name.as_str()))
    }

    /// Length of the table of neighbours of a block at a refinement interface: their slots and inbox rows, and those of the blocks that refine them.
    pub fn around(&self) -> usize {
        2 * 3usize.pow(self.dim) * (1 + (1 << self.dim))
    }

    /// Length of a row of the inbox: the populations that may enter a block from outside, by direction and cell; then the values that its cells read
    /// there.
    pub fn inbox_row(&self) -> usize {
        let inside = |direction: &Direction| -> u32 {
            (0..3).map(|axis| self.block[axis] - u32::from(direction.c[axis] != 0)).product()
        };
        let seen = self.seen.iter().map(|seen| &self.directions[seen.direction as usize]);
        self.directions.iter().chain(seen).map(|direction| self.cells() - inside(direction) as usize).sum()
    }
    /// Components of all fields together.
    pub fn field_components(&self) -> usize {
        self.fields.iter().map(|field| field.components as usize).sum()
    }
    /// Components of the fields of the method, which come before those that are observed.
    pub fn own_components(&self) -> usize {
        self.fields.iter().filter(|field| !field.observed).map(|field| field.components as usize).sum()
    }
    /// Names of the components of all fields, in order: `rho`, `ux`, `uy`.
    pub fn component_names(&self) -> Vec<String> {
        self.fields.iter().flat_map(|field| field.component_names(self.dim)).collect()
    }
    /// Name of the struct of the method's parameters.
    pub fn params_struct(&self) -> String {
        format!("{}_params", self.spec)
    }
    /// The parameter that a member is a component of, by its position in `params`, and the component.
    pub fn param_of(&self, member: &Member) -> Option<(usize, usize)> {
        let at = self.params.iter().position(|param| param.name == member.param)?;
        (member.component < self.params[at].components).then_some((at, member.component as usize))
    }
    /// The kernel with that role.
    pub fn kernel(&self, role: Role) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.role == role)
    }
}
