//! What a run leaves behind: fields for ParaView, profiles, pictures, a summary, and a line that says how it goes.
//!
//! In: a case and snapshots. After: every file in the folder is whole, tables as far as the run has come; the summary
//! names them. A folder has the results of one
//! run: `case.toml` and what it reads, from which they can be made again, and a summary if the run has ended, well or not.
//!
//! | module | writes |
//! | --- | --- |
//! | `lock` | nothing: one run at a time in a folder |
//! | `owned` | `.lbmc.files`: which files of a folder runs have written |
//! | [`sink`] | nothing of its own: the folder, without what earlier runs have left, and files that appear only when they are whole |
//! | [`vtk`] | `fields_*.vti` and `fields.pvd`; refined, `fields_*.vtkhdf` and `fields.vtkhdf.series`, or `fields_*.vtu` |
//! | [`profile`] | `profile_x.csv`, ... and how far they are from published ones |
//! | [`picture`] | pictures of fields by name, also on the way; `velocity.png`: speed and streamlines; `vorticity.png`; `phi.png` and the like |
//! | `surfaces` | `surface_*.vtp`, `surface_*.csv`, `section_*.csv`: pressure and friction on solids |
//! | `film` | films of pictures or views: `NAME.gif` |
//! | `views` | views of surfaces in three dimensions: `march`, `isosurface` and `hull` make triangles, `raster` draws them |
//! | [`plot`] | `profiles.png`: profiles and published points |
//! | [`series`] | `series.csv`, `series.png`: energy, dissipation and the like over time, and how far from published ones |
//! | [`forces`] | `forces.csv`, `forces.png`: forces on solids over time, and what they are like in the end |
//! | [`heat`] | `heat.csv`: what solids give of a temperature or another scalar to the fluid over time |
//! | [`probes`] | `probe_*.csv`: fields at points over time; `probe_*.vti` on grids of points |
//! | [`derived`] | nothing: fields by name on all cells |
//! | [`flux`] | nothing of its own: what flows through open faces |
//! | [`mass`] | nothing: whether mass changes where nothing is open |
//! | [`flux_planes`] | `fluxes.csv`: what flows through planes over time |
//! | [`average`] | nothing: means in time, and how uncertain they are |
//! | [`report`] | nothing: what a case makes of its results |
//! | [`chart`], [`bars`] | nothing of their own: lines and points; bars |
//! | `tables`, `csv` | nothing of their own: rows of tables as they come; what their cells have |
//! | `recorder` | all of these files, each when it is due |
//! | `recorded` | nothing: what has been written so far, for a run that goes on |
//! | [`summary`], `units` | `summary.json`, and what its numbers are measured in |
//! | [`progress`] | the terminal |

pub mod average;
mod axes;
pub mod bars;
mod canvas;
pub mod chart;
mod colours;
mod contours;
mod csv;
pub mod derived;
#[cfg(test)]
mod example;
mod film;
pub mod flux;
pub mod flux_planes;
pub mod forces;
mod heading;
pub mod heat;
mod hull;
mod isosurface;
mod lock;
mod march;
pub mod mass;
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
pub mod series;
pub mod sink;
mod streamlines;
pub mod summary;
mod surfaces;
mod tables;
mod units;
mod views;
pub mod vtk;

pub use canvas::Canvas;
pub use recorded::{Bits, Recorded};
pub use recorder::Recorder;
