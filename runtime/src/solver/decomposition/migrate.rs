//! Migration: blocks go from subdomain to subdomain, before the grid changes and when it is partitioned again.

use std::ops::Range;

use crate::device::{Buffer, Element, Packing};
use crate::kernels::layout::Layout;
use crate::mesh::{Partition, SubdomainId};
use crate::solver::arrays::pages;
use crate::solver::decomposition::recordings::Recordings;
use crate::solver::decomposition::{Division, Subdomains, halo_of, routes, routes_of};
use crate::solver::error::StepError;
use crate::solver::halo::transfer::{self, Reach, Transfer};
use crate::solver::plan::task::PopulationSet;
use crate::solver::subdomain::Subdomain;

impl Division {
    /// Sends packed values of an array between subdomains, inside this process and to others.
    fn send<'a, E: Element>(
        &self,
        all: &mut [Subdomain],
        lanes: impl Iterator<Item = (SubdomainId, SubdomainId, &'a Packing)>,
        array: impl Fn(&mut Subdomain) -> Option<&mut Buffer<E>>,
    ) -> Result<(), StepError> {
        let (mut sent, mut expected, mut coming) = (vec![], vec![], vec![]);
        for (from, to, packing) in lanes {
            match (self.local_index(from), self.local_index(to)) {
                (Some(from), Some(to)) => {
                    let [from, to] = all.get_disjoint_mut([from, to]).expect("two subdomains");
                    let (source, target) = (from.program().device().clone(), to.program().device().clone());
                    if let (Some(from), Some(to)) = (array(from), array(to)) {
                        routes::send(packing, (&source, from), (&target, to))?;
                    }
                }
                (Some(from), None) => {
                    let bytes = array(&mut all[from]).map_or(Ok(vec![]), |array| array.pack(packing))?;
                    sent.push((self.process(to), bytes));
                }
                (None, Some(to)) => {
                    let value = array(&mut all[to]).map_or(0, |array| array.value_bytes());
                    expected.push((self.process(from), packing.values() * value));
                    coming.push((to, packing));
                }
                (None, None) => {}
            }
        }
        let sent: Vec<(usize, &[u8])> = sent.iter().map(|(to, bytes)| (*to, &bytes[..])).collect();
        for ((to, packing), bytes) in coming.into_iter().zip(self.processes.exchanged(&sent, &expected)) {
            if let Some(array) = array(&mut all[to]) {
                array.unpack(packing, &bytes)?;
            }
        }
        Ok(())
    }
}

/// Packings, with the subdomains that their values come from and go to.
fn lanes(packed: &[(SubdomainId, SubdomainId, Packing)]) -> impl Iterator<Item = (SubdomainId, SubdomainId, &Packing)> {
    packed.iter().map(|(from, to, packing)| (*from, *to, packing))
}

impl Subdomains {
    /// Sends all subdomains the blocks that they need to compute the new data of their own blocks. Returns the reach of the subdomains of
    /// this process.
    pub(crate) fn get_before_change(&mut self, current: &[PopulationSet]) -> Result<Vec<Reach>, StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(vec![]) };
        let transfers = transfer::before_change(self.first().grid(), partition)?;
        self.transfer(&transfers, current)?;
        Ok(self.reaches(&transfers))
    }

    /// The reach of each subdomain of this process after these transfers; empty for an undivided flow.
    pub(crate) fn reaches(&self, got: &[Transfer]) -> Vec<Reach> {
        let Some(division) = &self.division else { return vec![] };
        division.ids().map(|id| Reach::new(id, &division.partition, got)).collect()
    }

    /// Sets the owners of blocks after the grid has changed.
    pub(crate) fn take_over(&mut self, reaches: Vec<Reach>) -> Result<(), StepError> {
        let Some(owner) = reaches.into_iter().next().map(Reach::owners) else { return Ok(()) };
        let partition = Partition::of_owners(self.first().grid(), self.count(), owner)?;
        self.set_partition(partition)
    }

    /// Partitions the grid again, into subdomains of about equal work. Blocks migrate to their new owners.
    pub(crate) fn divide_again(&mut self, current: &[PopulationSet]) -> Result<(), StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(()) };
        let grid = self.first().grid();
        let after = Partition::new(grid, self.count())?;
        let transfers = transfer::moved(grid, partition, &after)?;
        self.transfer(&transfers, current)?;
        self.set_partition(after)
    }

    /// Computes halo, routes and lists of edge blocks again, after blocks have changed or migrated.
    pub(crate) fn renew_halo(&mut self) -> Result<(), StepError> {
        // Recorded steps are of the old blocks and routes.
        self.recordings = Recordings::default();
        let Some(division) = &mut self.division else { return Ok(()) };
        let Division { partition, processes, here, windows, .. } = division;
        division.halo = halo_of(&self.here, partition, processes)?;
        division.routes = routes_of(&self.here, here, &division.halo, windows, processes)?;
        self.keep_to_halo()?;
        self.list_edges()
    }

    /// If memory is mapped and released during a run, keeps that of the own blocks and of the halo of each subdomain, and no more.
    fn keep_to_halo(&mut self) -> Result<(), StepError> {
        let Some(division) = &self.division else { return Ok(()) };
        if !self.here.iter().any(Subdomain::is_by_page) {
            return Ok(());
        }
        let of_fields = Layout::fields(self.here[0].program().manifest()).slot_len();
        let Division { partition, halo, .. } = division;
        let slots_of = |id: SubdomainId| {
            let mut needed: Vec<bool> = partition.owners().iter().map(|owner| *owner == id).collect();
            for lane in halo.lanes().filter(|lane| lane.to == id) {
                lane.fields.ranges().for_each(|range| needed[range.start / of_fields] = true);
            }
            pages::runs(needed.into_iter().enumerate().filter_map(|(slot, needed)| needed.then_some(slot)))
        };
        let mut slots: Vec<Vec<Range<usize>>> = division.ids().map(slots_of).collect();
        // Other devices may still write there.
        self.devices.meet()?;
        self.at_once(&mut slots, |subdomain, slots| {
            subdomain.arrays().only(slots)?;
            Ok(())
        })?;
        Ok(())
    }

    /// Sends populations of blocks to other subdomains, from the sets that are current.
    pub(crate) fn send_populations(
        &mut self,
        transfers: &[Transfer],
        current: &[PopulationSet],
    ) -> Result<(), StepError> {
        let layout = Layout::populations(self.first().program().manifest());
        let Some(division) = &self.division else { return Ok(()) };
        self.devices.meet()?;
        for set in PopulationSet::BOTH {
            let of_set = transfers.iter().filter(|transfer| current[transfer.level] == set);
            let packed: Vec<(SubdomainId, SubdomainId, Packing)> =
                of_set.map(|transfer| (transfer.from, transfer.to, transfer.packing(layout))).collect();
            division.send(&mut self.here, lanes(&packed), |subdomain| Some(subdomain.populations_mut(set)))?;
        }
        Ok(self.devices.meet()?)
    }

    /// Sends all data of blocks to other subdomains: current populations, reference fields and statistics.
    fn transfer(&mut self, transfers: &[Transfer], current: &[PopulationSet]) -> Result<(), StepError> {
        let manifest = self.first().program().manifest().clone();
        let Some(division) = &self.division else { return Ok(()) };
        self.devices.meet()?;
        for (id, subdomain) in division.ids().zip(&mut self.here).filter(|(_, subdomain)| subdomain.is_by_page()) {
            let coming = transfers.iter().filter(|transfer| transfer.to == id).flat_map(|transfer| &transfer.slots);
            subdomain.arrays().more(&pages::runs(coming.map(|slot| slot.index())))?;
        }
        self.send_populations(transfers, current)?;
        let Some(division) = &self.division else { return Ok(()) };
        let packed = |layout: Layout| -> Vec<(SubdomainId, SubdomainId, Packing)> {
            transfers.iter().map(|transfer| (transfer.from, transfer.to, transfer.packing(layout))).collect()
        };
        if self.here[0].reference().is_some() {
            let packed = packed(Layout::fields(&manifest));
            division.send(&mut self.here, lanes(&packed), Subdomain::reference_mut)?;
        }
        let statistics = self.here[0].statistics();
        let layouts = statistics.map_or(vec![], |all| {
            (0..all.values.len()).map(|number| all.layout(&manifest, number)).collect::<Vec<Layout>>()
        });
        for (number, layout) in layouts.into_iter().enumerate() {
            let packed = packed(layout);
            division.send(&mut self.here, lanes(&packed), |subdomain| subdomain.accumulators_mut(number))?;
        }
        Ok(self.devices.meet()?)
    }
}
