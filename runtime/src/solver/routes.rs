//! The ways that values take between the devices of the parts of a flow.

use super::StepError;
use super::halo::{Halo, Lane};
use super::subdomain::Subdomain;
use crate::device::{Buffer, Device, Element, Packing, Route};

/// The ways of a halo.
pub(super) struct Routes {
    /// Those of populations `[level][lane]`.
    populations: Vec<Vec<Route>>,
    /// Those of fields, lane by lane of all levels.
    fields: Vec<Route>,
}

impl Routes {
    pub(super) fn new(all: &[Subdomain], halo: &Halo) -> Result<Routes, StepError> {
        let device = |part: usize| all[part].program.device();
        let real = all[0].program.manifest().real;
        let route = |lane: &Lane, packing: &Packing, bytes: usize| {
            Route::new(device(lane.from), device(lane.to), packing, bytes)
        };
        let of_level = |level: usize| {
            let lanes = halo.of_level(level).iter();
            lanes.map(|lane| route(lane, &lane.populations, real.stored_bytes())).collect::<Result<Vec<_>, _>>()
        };
        let populations = (0..all[0].grid.levels().len()).map(of_level).collect::<Result<_, _>>()?;
        let fields = halo.lanes().map(|lane| route(lane, &lane.fields, real.bytes())).collect::<Result<_, _>>()?;
        Ok(Routes { populations, fields })
    }

    /// That of a lane of a level.
    pub(super) fn of_lane(&self, level: usize, lane: usize) -> &Route {
        &self.populations[level][lane]
    }

    /// Those of fields.
    pub(super) fn of_fields(&self) -> &[Route] {
        &self.fields
    }

    /// Whether populations go from GPU to GPU on all of them, without the host.
    pub(super) fn are_direct(&self) -> bool {
        self.populations.iter().flatten().all(Route::is_direct)
    }
}

/// Gives an array of a device values of one of another, once.
pub(super) fn send<E: Element>(
    packing: &Packing,
    (from_device, from): (&Device, &Buffer<E>),
    (to_device, to): (&Device, &mut Buffer<E>),
) -> Result<(), StepError> {
    Ok(Route::new(from_device, to_device, packing, from.value_bytes())?.send(packing, from, to)?)
}
