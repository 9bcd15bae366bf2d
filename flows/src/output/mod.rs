//! Output of a run: fields for ParaView, profiles, pictures, a summary, and the progress line.
//!
//! In: a case and snapshots. After: every file in the folder is complete, tables up to the current step; the summary
//! lists them. A folder has the results of one run: `case.toml` and its input files, from which the results can be
//! reproduced, and a summary, once the run has ended successfully or not.
//!
//! | module | writes |
//! | --- | --- |
//! | `error` | nothing; why results could not be written |
//! | `lock` | nothing; ensures that only one run at a time writes to a folder |
//! | `owned` | `.lbmc.files`: list of the files in a folder that runs have written |
//! | [`sink`] | nothing of its own: the folder, cleared of earlier results, and files that appear only when they are complete |
//! | [`vtk`] | `fields_*.vti` and `fields.pvd`; on refined grids `fields_*.vtkhdf` and `fields.vtkhdf.series`, or `fields_*.vtu` |
//! | [`profile`] | `profile_x.csv`, ... and their deviation from published profiles |
//! | [`picture`] | pictures of fields by name; `velocity.png`: speed and streamlines; `vorticity.png`; scalars such as `phi.png`; `overlay`: lines and solids over the colours; `section`: what the plane cuts |
//! | `surfaces` | `surface_*.vtp`, `surface_*.csv`, `section_*.csv`, `face_*`: pressure and friction on solids and faces |
//! | `film` | films of pictures or views: `NAME.gif` |
//! | `views` | views of surfaces and streamlines in three dimensions: `march`, `isosurface` and `hull` make triangles, `tubes` follows the velocity, `raster` draws them |
//! | [`mesh`], [`gallery`] | nothing: triangles of surfaces; pictures and views by name, at any step |
//! | [`plot`] | `profiles.png`: profiles and published points |
//! | [`series`] | `series.csv`, `series.png`: time series of energy, dissipation and others, and their deviation from published ones |
//! | [`forces`], [`settling`] | `forces.csv`, `forces.png`: forces on solids over time, and their means |
//! | [`heat`] | `heat.csv`: release of a temperature or another scalar from solids to the fluid over time |
//! | [`probes`] | `probe_*.csv`: fields at points over time; `probe_*.vti` on grids of points |
//! | [`derived`] | nothing: fields by name on all cells |
//! | [`flux`] | nothing of its own: fluxes through open faces |
//! | [`mass`] | nothing: check of mass conservation in closed domains |
//! | [`flux_planes`] | `fluxes.csv`: fluxes through planes over time |
//! | [`average`] | nothing: time averages and their uncertainty |
//! | [`report`] | nothing: derived results of a case |
//! | [`chart`], [`bars`] | nothing of their own: line charts and bar charts |
//! | `tables`, `csv` | nothing of their own: growing tables; the format of their entries |
//! | `recorder` | all of these files, each when it is due |
//! | `recorded`, `bits` | nothing: list of the output already written, for a resumed run; its numbers |
//! | [`summary`], `units` | `summary.json`, and the units of its numbers |
//! | [`progress`] | the terminal |

pub mod average;
mod axes;
pub mod bars;
mod bits;
mod camera;
mod canvas;
pub mod chart;
pub mod colours;
mod contours;
mod csv;
mod derivatives;
pub mod derived;
mod error;
mod film;
#[cfg(test)]
pub(crate) mod fixture;
pub mod flux;
pub mod flux_planes;
pub mod forces;
pub mod gallery;
mod heading;
pub mod heat;
mod hull;
mod isosurface;
mod lock;
mod march;
pub mod mass;
pub mod mesh;
mod overlay;
mod owned;
pub mod picture;
mod plane;
pub mod plot;
pub mod probes;
pub mod profile;
pub mod progress;
mod raster;
mod recorded;
mod recorder;
pub mod report;
mod scale;
mod section;
pub mod series;
pub mod settling;
pub mod sink;
mod streamlines;
pub mod summary;
mod surfaces;
mod tables;
mod tubes;
mod units;
mod views;
pub mod vtk;

pub use bits::Bits;
pub use canvas::Canvas;
pub use derivatives::{Derivatives, DerivedProfile, Settled, Work};
pub use recorded::Recorded;
pub use recorder::{Data, Recorder, Sampled, Schedule, Source};
