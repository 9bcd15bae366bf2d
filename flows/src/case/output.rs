//! What a run writes, and when.

use super::fluxes::FluxPlane;
use super::pictures::{Frames, Picture};
use super::probes::Probe;
use super::quantity::Quantity;
use super::recording::Recording;
use super::reference::Reference;
use super::report::Report;
use super::slice::Slice;
use super::solids::Surfaces;
use super::statistics::Statistics;
use super::views::View;
use super::vtk::Vtk;

/// What is written; by default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Folder, relative to where the command runs.
    pub directory: String,
    /// Centre lines as CSV.
    pub profiles: bool,
    /// A picture of the velocity.
    pub picture: bool,
    /// Plane of the pictures, if it is not the middle one normal to z.
    pub slice: Option<Slice>,
    /// Whether the edges of blocks are drawn over them, on a refined grid.
    pub grid: bool,
    /// Fields for ParaView at the end.
    pub vtk: Option<Vtk>,
    /// What these files have, if not the fields of the method.
    pub fields: Option<Vec<Quantity>>,
    /// And every so many steps.
    pub every: Option<u64>,
    /// Energy, enstrophy, dissipation and the like every so many steps.
    pub series: Option<u64>,
    /// A restart file every so many steps, and at the end.
    pub restart: Option<u64>,
    /// Steps between rows of the force on solids, if there are any.
    pub forces: Option<u64>,
    /// Steps between rows of the scalars that solids give to the fluid, if there are any.
    pub heat: Option<u64>,
    /// Pressure and friction on solids and on faces that are walls.
    pub surfaces: Option<Surfaces>,
    /// Published data to compare with.
    pub compare: Option<Reference>,
    /// Points at which fields are recorded.
    pub probes: Vec<Probe>,
    /// Pictures of fields by name.
    pub pictures: Vec<Picture>,
    /// Views of surfaces in three dimensions.
    pub views: Vec<View>,
    /// What is accumulated over time.
    pub statistics: Vec<Statistics>,
    /// Planes through which fluxes are measured.
    pub fluxes: Vec<FluxPlane>,
    /// Planes whose velocity is recorded.
    pub recordings: Vec<Recording>,
    /// The first step that means in time are of, if it is not chosen.
    pub average_from: Option<u64>,
    /// What follows from the results.
    pub report: Vec<Report>,
}

impl Output {
    /// The files of all pictures and views.
    pub fn frames(&self) -> impl Iterator<Item = &Frames> {
        self.pictures.iter().map(|picture| &picture.frames).chain(self.views.iter().map(|view| &view.frames))
    }
}
