//! The domain decomposition: the subdomains of a flow and their communication.
//!
//! An undivided flow has one subdomain. In a divided flow, each subdomain has the tables of the whole grid and the data of its own blocks.
//! All subdomains run the same phases of a step, with halo exchanges between them ([`halo`](crate::solver::halo)). Nodes and slots have the
//! same numbers in all subdomains. Values are therefore read and set by slot, and sums follow the order of blocks in the lists, so results
//! do not depend on the number of subdomains.
//!
//! Subdomains may lie in several processes ([`Processes`]), the same number in each. Each process has its own subdomains and does all
//! operations on these. It gets data of others by collective calls, which all processes make in the same order, and from GPU to GPU through
//! [`windows`].

pub(crate) mod collect;
pub(crate) mod covered;
pub(crate) mod exchange;
pub(crate) mod migrate;
pub(crate) mod recordings;
pub(crate) mod routes;
pub(crate) mod windows;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::device::{Devices, Messages};
use crate::geometry::solid::Impulse;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{Partition, SubdomainId};
use crate::processes::Processes;
use crate::solver::decomposition::recordings::Recordings;
use crate::solver::decomposition::routes::Routes;
use crate::solver::decomposition::windows::Windows;
use crate::solver::error::StepError;
use crate::solver::halo::{Halo, Lane, transfer};
use crate::solver::observe::Accumulation;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{LaneId, LevelStep, Task};
use crate::solver::solids::sliding::ReadByPatch;
use crate::solver::subdomain::Subdomain;

/// All subdomains of a flow.
pub(crate) struct Subdomains {
    /// The subdomains of this process.
    pub(crate) here: Vec<Subdomain>,
    /// The devices of these.
    devices: Devices,
    /// Partition, halo and routes, if the flow is divided.
    pub(crate) division: Option<Division>,
    /// Accumulated exchange between solids and the fluid: one entry for each independent accumulation.
    pub(crate) exchanged: Vec<Accumulation>,
    /// Recorded steps of all subdomains.
    pub(crate) recordings: Recordings,
    /// What the fluid has given to free bodies in the last steps of their levels, by the numbers of their solids.
    pub(crate) impulses: BTreeMap<usize, Impulse>,
    /// The steps of levels whose exchange is still on the devices, in their order.
    pub(crate) left: Vec<LevelStep>,
    /// How many of these, the first, have been replayed: their exchange has been copied away, so that others may be replayed.
    pub(crate) replayed: usize,
}

/// The halo of all subdomains; a collective call.
pub(crate) fn halo_of(here: &[Subdomain], partition: &Partition, processes: &Processes) -> Result<Halo, StepError> {
    // Solids that move reach other blocks.
    let mut has_links = match here.iter().any(|subdomain| subdomain.bodies().is_some()) {
        true => vec![u8::from(here.iter().any(Subdomain::moves)); here[0].grid().slots()],
        false => vec![],
    };
    for bodies in here.iter().filter_map(Subdomain::bodies) {
        let rows = bodies.rows.read_ints(0..bodies.rows.len())?;
        rows.iter().zip(&mut has_links).for_each(|(row, has)| *has |= u8::from(*row >= 0));
    }
    for others in processes.allgather(&has_links) {
        others.iter().zip(&mut has_links).for_each(|(other, has)| *has |= other);
    }
    let has_links = |slot: SlotId| has_links.get(slot.index()).is_some_and(|has| *has != 0);
    let mut whole = vec![];
    if let Some(bodies) = here[0].bodies() {
        for ReadByPatch { own, read } in bodies.read_by_patches(here[0].grid())? {
            let mut by: Vec<SubdomainId> = own.iter().map(|slot| partition.owners()[slot.index()]).collect();
            by.sort_unstable();
            by.dedup();
            whole.extend(by.iter().flat_map(|by| read.iter().map(|slot| (*slot, *by))));
        }
    }
    Halo::new(here[0].program().manifest(), here[0].grid(), partition, has_links, &whole)
}

/// The index of a subdomain among those of this process, if it is one of them.
fn local_index(here: &Range<usize>, id: SubdomainId) -> Option<usize> {
    here.contains(&id.index()).then(|| id.index() - here.start)
}

/// The routes between subdomains; a collective call. `numbers`: the subdomains of this process; every process has the same number of them.
pub(crate) fn routes_of(
    here: &[Subdomain],
    numbers: &Range<usize>,
    halo: &Halo,
    windows: &mut Option<Windows>,
    processes: &Processes,
) -> Result<Routes, StepError> {
    let locate = |id: SubdomainId| (id.index() / numbers.len(), local_index(numbers, id));
    let Some(all) = windows.take() else { return Routes::new(here, halo, locate, None) };
    let levels = 0..here[0].grid().levels().len();
    let most = 2 * halo.lanes().count() + levels.map(|level| halo.saved_of_level(level).len()).sum::<usize>();
    let mut messages = Messages::new(most, numbers.len() * processes.count());
    let routes = Routes::new(here, halo, locate, Some(&mut messages))?;
    *windows = Some(all.make_room(here, processes, messages.bytes())?);
    Ok(routes)
}

/// How a flow is divided.
pub(crate) struct Division {
    partition: Partition,
    halo: Halo,
    routes: Routes,
    /// Windows of the GPUs of several processes, if values go from GPU to GPU between them.
    windows: Option<Windows>,
    /// Why they do not, for the user.
    by_host: Option<String>,
    pub(crate) processes: Processes,
    /// The numbers of the subdomains of this process.
    here: Range<usize>,
}

impl Division {
    /// The lanes of the communication in a task that this process has to do with, in the order in which it sends and receives.
    pub(crate) fn lanes(&self, task: Task) -> Vec<LaneId> {
        let numbers = self.routes.lanes(task.level, task.phase == Phase::HaloSaved);
        numbers.into_iter().map(|number| LaneId { level: task.level, number }).collect()
    }

    /// Whether the processes send each other values through the host, in one exchange of all lanes.
    pub(crate) fn is_by_host(&self) -> bool {
        self.processes.are_several() && self.windows.is_none()
    }

    /// The subdomains that one of these lanes comes from and goes to.
    pub(crate) fn ends(&self, task: Task, lane: LaneId) -> (SubdomainId, SubdomainId) {
        let (saved, lanes) = (self.halo.saved_of_level(task.level), self.halo.of_level(task.level));
        match task.phase {
            Phase::HaloSaved => (saved[lane.number].from, saved[lane.number].to),
            _ => (lanes[lane.number].from, lanes[lane.number].to),
        }
    }

    /// The index of a subdomain among those of this process, if it is one of them.
    pub(crate) fn local_index(&self, id: SubdomainId) -> Option<usize> {
        local_index(&self.here, id)
    }

    /// The number of the first subdomain of this process.
    pub(crate) fn first(&self) -> usize {
        self.here.start
    }

    /// The process of a subdomain.
    fn process(&self, id: SubdomainId) -> usize {
        id.index() / self.here.len()
    }

    /// The subdomains of this process, in order.
    fn ids(&self) -> impl Iterator<Item = SubdomainId> + use<> {
        self.here.clone().map(SubdomainId::new)
    }
}

impl Subdomains {
    /// A flow in one subdomain.
    pub(crate) fn one(subdomain: Subdomain) -> Subdomains {
        let devices = Devices::new([subdomain.program().device()]);
        Subdomains {
            here: vec![subdomain],
            devices,
            division: None,
            exchanged: vec![],
            impulses: BTreeMap::new(),
            left: vec![],
            replayed: 0,
            recordings: Recordings::default(),
        }
    }

    /// A flow in several subdomains, the same number in each process. `here`: those of this process, which have no inbox yet.
    pub(crate) fn several(
        mut here: Vec<Subdomain>,
        partition: Partition,
        processes: Processes,
    ) -> Result<Subdomains, StepError> {
        let devices = Devices::new(here.iter().map(|subdomain| subdomain.program().device()));
        let halo = halo_of(&here, &partition, &processes)?;
        let numbers = processes.number() * here.len()..(processes.number() + 1) * here.len();
        for lane in halo.lanes().filter(|lane| numbers.contains(&lane.to.index())) {
            here[lane.to.index() - numbers.start].make_room_for(&lane.fields)?;
        }
        let of_fields = Layout::fields(here[0].program().manifest());
        for family in
            transfer::families(here[0].grid(), &partition)?.iter().filter(|of| numbers.contains(&of.to.index()))
        {
            here[family.to.index() - numbers.start].make_room_for(&family.packing(of_fields))?;
        }
        here.iter_mut().try_for_each(Subdomain::seal)?;
        let (mut windows, by_host) = match processes.are_several().then(|| Windows::new(&here, &numbers, &processes)) {
            Some(Ok(windows)) => (Some(windows), None),
            Some(Err(reason)) => (None, reason),
            None => (None, None),
        };
        let routes = routes_of(&here, &numbers, &halo, &mut windows, &processes)?;
        let division =
            Division { partition: Partition::default(), halo, routes, windows, by_host, processes, here: numbers };
        let mut subdomains = Subdomains {
            here,
            devices,
            division: Some(division),
            exchanged: vec![],
            impulses: BTreeMap::new(),
            left: vec![],
            replayed: 0,
            recordings: Recordings::default(),
        };
        subdomains.set_partition(partition)?;
        subdomains.list_edges()?;
        subdomains.each_with_senders(Subdomain::make_inbox)?;
        Ok(subdomains)
    }

    /// The first subdomain of this process, for data that are the same in all.
    pub(crate) fn first(&self) -> &Subdomain {
        &self.here[0]
    }

    /// The devices of the subdomains of this process.
    pub(crate) fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Whether steps can be recorded: the halo exchange does not involve the host. The same in all processes.
    pub(crate) fn records(&self) -> bool {
        self.division.as_ref().is_none_or(|division| !division.is_by_host() && division.routes.are_direct())
    }

    /// Why values go through the host between the GPUs of several processes, if they do.
    pub(crate) fn why_by_host(&self) -> Option<&str> {
        self.division.as_ref()?.by_host.as_deref()
    }

    /// The least of the numbers that all processes pass; a collective call.
    pub(crate) fn least(&self, own: u64) -> u64 {
        self.processes().map_or(own, |processes| processes.min(own))
    }

    /// Number of subdomains in all processes.
    pub(crate) fn count(&self) -> usize {
        self.division.as_ref().map_or(1, |division| division.partition.subdomains().len())
    }

    /// The processes, if there are several.
    pub(crate) fn processes(&self) -> Option<&Processes> {
        self.division.as_ref().map(|division| &division.processes).filter(|processes| processes.are_several())
    }

    /// The process of a subdomain.
    pub(crate) fn process(&self, id: SubdomainId) -> usize {
        self.division.as_ref().map_or(0, |division| division.process(id))
    }

    /// The subdomains of this process, with their ids.
    pub(crate) fn with_ids(&self) -> impl Iterator<Item = (SubdomainId, &Subdomain)> {
        let first = self.division.as_ref().map_or(0, |division| division.here.start);
        (first..).map(SubdomainId::new).zip(&self.here)
    }

    /// A subdomain, if it is in this process.
    pub(crate) fn get(&self, id: SubdomainId) -> Option<&Subdomain> {
        match &self.division {
            None => self.here.get(id.index()),
            Some(division) => division.local_index(id).map(|index| &self.here[index]),
        }
    }

    /// The subdomains of this process.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Subdomain> {
        self.here.iter_mut()
    }

    /// The owner of a slot.
    pub(crate) fn owner(&self, slot: SlotId) -> SubdomainId {
        self.division.as_ref().and_then(|division| division.partition.owner(slot)).unwrap_or(SubdomainId::new(0))
    }

    /// Splits a range of slots into runs with one owner each.
    pub(crate) fn runs(&self, slots: Range<usize>) -> Vec<(SubdomainId, Range<usize>)> {
        match &self.division {
            None => vec![(SubdomainId::new(0), slots)],
            Some(division) => division.partition.runs(slots),
        }
    }

    /// The partition, if the flow is divided.
    pub(crate) fn partition(&self) -> Option<&Partition> {
        self.division.as_ref().map(|division| &division.partition)
    }

    /// What subdomains send to each other of the blocks of a level.
    pub(crate) fn lanes(&self, level: usize) -> &[Lane] {
        self.division.as_ref().map_or(&[], |division| division.halo.of_level(level))
    }

    fn set_partition(&mut self, partition: Partition) -> Result<(), StepError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        for (subdomain, owned) in self.here.iter_mut().zip(&partition.subdomains()[division.here.clone()]) {
            subdomain.set_owned(owned)?;
        }
        division.partition = partition;
        Ok(())
    }

    /// Lists the edge blocks and interior blocks of each subdomain again.
    fn list_edges(&mut self) -> Result<(), StepError> {
        let Subdomains { here, devices, division: Some(Division { halo, .. }), .. } = self else { return Ok(()) };
        let tree = here[0].grid().tree()?;
        let mut each = vec![(); here.len()];
        at_once(here, devices, &mut each, |subdomain, ()| subdomain.list_edges(&tree, halo)).map(|_| ())
    }

    /// Calls `each` for every subdomain of this process, with the blocks of others that send populations into its own, level by level.
    pub(crate) fn each_with_senders(
        &mut self,
        each: impl Fn(&mut Subdomain, Option<&[Vec<SlotId>]>) -> Result<(), StepError> + Sync,
    ) -> Result<(), StepError> {
        let Subdomains { here, devices, division, .. } = self;
        let senders =
            |index: usize| division.as_ref().map(|of| of.halo.senders(SubdomainId::new(of.here.start + index)));
        let mut senders: Vec<_> = (0..here.len()).map(senders).collect();
        at_once(here, devices, &mut senders, |subdomain, senders| each(subdomain, *senders)).map(|_| ())
    }

    /// Number of subdomains in this process.
    pub(crate) fn here(&self) -> usize {
        self.here.len()
    }

    /// [`at_once`] for the subdomains of this process.
    pub(crate) fn at_once<T: Send, R: Send>(
        &mut self,
        things: &mut [T],
        each: impl Fn(&mut Subdomain, &mut T) -> Result<R, StepError> + Sync,
    ) -> Result<Vec<R>, StepError> {
        at_once(&mut self.here, &self.devices, things, each)
    }

    /// Sets to NaN what subdomains have in the slots of others' blocks, and what enters blocks: none of it may be read before the next
    /// exchange.
    pub(crate) fn poison(&mut self) -> Result<(), StepError> {
        let Some(division) = &self.division else { return Ok(()) };
        for (id, subdomain) in division.ids().zip(&mut self.here) {
            subdomain.poison(|slot| division.partition.owner(slot) == Some(id))?;
        }
        Ok(())
    }
}

/// Calls `each` for every subdomain of this process with one element of `things`. On GPUs the calls run concurrently: one GPU waits for the host
/// while others work.
fn at_once<T: Send, R: Send>(
    here: &mut [Subdomain],
    devices: &Devices,
    things: &mut [T],
    each: impl Fn(&mut Subdomain, &mut T) -> Result<R, StepError> + Sync,
) -> Result<Vec<R>, StepError> {
    let pairs = here.iter_mut().zip(things);
    if devices.first().ordinal().is_none() || pairs.len() == 1 {
        return pairs.map(|(subdomain, thing)| each(subdomain, thing)).collect();
    }
    let each = &each;
    std::thread::scope(|scope| {
        let all: Vec<_> = pairs.map(|(subdomain, thing)| scope.spawn(move || each(subdomain, thing))).collect();
        let joined = all.into_iter().map(|thread| thread.join());
        joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
