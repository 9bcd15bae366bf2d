//! What steps backwards read of the blocks of other subdomains: derivatives by what has arrived in these, and their populations.
//!
//! A step reads populations of blocks around; backwards, a block takes the derivatives by its populations from those blocks that read it, which are
//! the same. So whole blocks go along the lanes of the halo, from their owners to their readers.

use crate::device::{Buffer, Devices, Element, Packing, Route};
use crate::kernels::layout::Layout;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// The exchange of values of an array between subdomains.
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    devices: Devices,
}

/// From one subdomain to another.
struct Lane {
    from: usize,
    to: usize,
    packing: Packing,
    route: Route,
}

impl Lanes {
    /// Those of selections of values of `value_bytes` bytes, from one subdomain to another.
    pub(super) fn new(
        here: &[Subdomain],
        packings: impl IntoIterator<Item = (usize, usize, Packing)>,
        value_bytes: usize,
    ) -> Result<Lanes, StepError> {
        let device = |index: usize| here[index].program().device();
        let lane = |(from, to, packing)| {
            let route = Route::new(device(from), device(to), &packing, value_bytes)?;
            Ok(Lane { from, to, packing, route })
        };
        let lanes = packings.into_iter().map(lane).collect::<Result<Vec<_>, StepError>>()?;
        Ok(Lanes { lanes, devices: Devices::new((0..here.len()).map(device)) })
    }

    /// Those of the blocks of a level whose populations others read.
    pub(super) fn of_level(flow: &Simulation, level: usize) -> Result<Lanes, StepError> {
        let manifest = flow.manifest();
        let (layout, of_fields) = (Layout::populations(manifest), Layout::fields(manifest).slot_len());
        let lanes = flow.subdomains.lanes(level).iter().map(|lane| {
            let mut packing = Packing::new(vec![std::iter::once(0..layout.slot_len() as u32).collect()]);
            let slots = lane.fields.ranges().map(|range| range.start / of_fields);
            slots.for_each(|slot| packing.push(slot * layout.slot_len(), 0));
            (lane.from.index(), lane.to.index(), packing)
        });
        Lanes::new(&flow.subdomains.here, lanes, manifest.real.stored_bytes())
    }

    /// Sends values of an array that each subdomain has: `array` gives that of one.
    pub(super) fn exchange<T, E: Element>(
        &self,
        all: &mut [T],
        array: impl Fn(&mut T) -> &mut Buffer<E>,
    ) -> Result<(), StepError> {
        if self.lanes.is_empty() {
            return Ok(());
        }
        self.devices.meet()?;
        for Lane { from, to, packing, route } in &self.lanes {
            let [from, to] = all.get_disjoint_mut([*from, *to]).expect("two subdomains");
            route.send(packing, array(from), array(to))?;
        }
        Ok(self.devices.meet()?)
    }
}
