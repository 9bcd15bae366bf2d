//! The outputs of a case.

use super::drawings::Drawings;
use super::fields::Fields;
use super::films::Films;
use super::fluxes::Fluxes;
use super::forces::Forces;
use super::gradient::Gradient;
use super::heat::Heat;
use super::output::Output;
use super::overview::Overview;
use super::probes::Probes;
use super::profiles::Profiles;
use super::recordings::Recordings;
use super::residual::Residual;
use super::series::Series;
use super::statistics::Statistics;
use super::surfaces::Surfaces;
use crate::case::Case;

/// All outputs, in the order in which they write.
pub(super) fn outputs(case: &Case) -> Vec<Box<dyn Output + '_>> {
    vec![
        Box::new(Fields::new(case)),
        Box::new(Profiles(case)),
        Box::new(Residual::new(case)),
        Box::new(Series::new(case)),
        Box::new(Forces::new(case)),
        Box::new(Heat::new(case)),
        Box::new(Probes::new(case)),
        Box::new(Fluxes::new(case)),
        Box::new(Recordings::new(case)),
        Box::new(Statistics::new(case)),
        Box::new(Gradient(case)),
        Box::new(Surfaces::new(case)),
        Box::new(Overview(case)),
        Box::new(Drawings(case)),
        Box::new(Films(case)),
    ]
}
