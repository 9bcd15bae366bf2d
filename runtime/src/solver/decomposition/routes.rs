//! Routes: how values travel between the devices of subdomains: inside a process from device to device, between processes through the host, or,
//! where their GPUs have [windows](Windows), from GPU to GPU.

use crate::device::{
    Buffer, Device, Element, Incoming, Messages, Outgoing, Packing, Receiver, Route, Scalar, Sender, Window,
};
use crate::mesh::SubdomainId;
use crate::processes::Processes;
use crate::solver::decomposition::windows::Windows;
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::plan::task::{LaneId, PopulationSet};
use crate::solver::subdomain::Subdomain;

/// How the values of a lane travel from one subdomain to another.
enum Way {
    /// Both subdomains are in this process, with these indices.
    Here { route: Route, from: usize, to: usize },
    /// The receiver is in another process.
    Out { post: Outgoing, from: usize, process: usize },
    /// The sender is in another process.
    In { post: Incoming, to: usize, process: usize },
    /// The receiver is in another process, and has a window.
    Send { sender: Sender, from: usize, to: SubdomainId },
    /// The sender is in another process, and has a window.
    Receive { receiver: Receiver, from: SubdomainId, to: usize },
    /// Neither is in this process.
    Elsewhere,
}

/// The process of a subdomain, and its index among the subdomains of this process if it is one of them.
pub(crate) trait Locate: Fn(SubdomainId) -> (usize, Option<usize>) {}

impl<L: Fn(SubdomainId) -> (usize, Option<usize>)> Locate for L {}

impl Way {
    /// `messages`: if values go from window to window.
    fn new(
        here: &[Subdomain],
        locate: &impl Locate,
        (from, to): (SubdomainId, SubdomainId),
        (packing, scalar): (&Packing, Scalar),
        messages: Option<&mut Messages>,
    ) -> Result<Way, StepError> {
        let device = |index: usize| here[index].program().device();
        let (source, target) = (locate(from), locate(to));
        if let Some(messages) = messages.filter(|_| source.0 != target.0) {
            // All processes count all messages.
            let message = messages.push(to.index(), packing.values() * scalar.bytes());
            return Ok(match (source.1, target.1) {
                (Some(index), _) => {
                    Way::Send { sender: Sender::new(device(index), packing, scalar, message)?, from: index, to }
                }
                (_, Some(index)) => {
                    Way::Receive { receiver: Receiver::new(device(index), packing, scalar, message)?, from, to: index }
                }
                (None, None) => Way::Elsewhere,
            });
        }
        Ok(match (source, target) {
            ((_, Some(from)), (_, Some(to))) => {
                let route = Route::new(device(from), device(to), packing, scalar.bytes())?;
                Way::Here { route, from, to }
            }
            ((_, Some(from)), (process, None)) => {
                Way::Out { post: Outgoing::new(device(from), packing, scalar)?, from, process }
            }
            ((process, None), (_, Some(to))) => {
                Way::In { post: Incoming::new(device(to), packing, scalar)?, to, process }
            }
            ((_, None), (_, None)) => Way::Elsewhere,
        })
    }
}

/// The routes of a halo.
pub(crate) struct Routes {
    /// Routes of populations `[level][number]`.
    populations: Vec<Vec<Way>>,
    /// Routes of fields, lane by lane over all levels.
    fields: Vec<Way>,
    /// Routes of saved populations for ghosts `[level][number]`.
    saved: Vec<Vec<Way>>,
    /// For each level, the set whose populations are already in transit to other processes.
    posted: Vec<Option<PopulationSet>>,
}

impl Routes {
    /// `messages`: those that go from window to window, if processes have windows; none has a place yet.
    pub(crate) fn new(
        here: &[Subdomain],
        halo: &Halo,
        locate: impl Locate,
        mut messages: Option<&mut Messages>,
    ) -> Result<Routes, StepError> {
        let real = here[0].program().manifest().real;
        let levels = 0..here[0].grid().levels().len();
        let (stored, computed) = (Scalar::stored(real), Scalar::computed(real));
        let mut way = |ends, packing, scalar| Way::new(here, &locate, ends, (packing, scalar), messages.as_deref_mut());
        let mut populations: Vec<Vec<Way>> = vec![];
        for level in levels.clone() {
            let lanes = halo.of_level(level).iter();
            let ways = lanes.map(|lane| way((lane.from, lane.to), &lane.populations, stored));
            populations.push(ways.collect::<Result<_, _>>()?);
        }
        let mut saved: Vec<Vec<Way>> = vec![];
        for level in levels {
            let lanes = halo.saved_of_level(level).iter();
            let ways = lanes.map(|lane| way((lane.from, lane.to), &lane.saved, computed));
            saved.push(ways.collect::<Result<_, _>>()?);
        }
        let fields = halo.lanes().map(|lane| way((lane.from, lane.to), &lane.fields, computed));
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Routes { posted: vec![None; populations.len()], populations, fields, saved })
    }

    /// Whether populations go from GPU to GPU on all routes, without the host.
    pub(crate) fn are_direct(&self) -> bool {
        let is_direct = |way: &Way| match way {
            Way::Here { route, .. } => route.is_direct(),
            Way::Out { .. } | Way::In { .. } => false,
            Way::Send { .. } | Way::Receive { .. } | Way::Elsewhere => true,
        };
        self.populations.iter().chain(&self.saved).flatten().all(is_direct)
    }

    /// The numbers of lanes of a level that this process has to do with, those that it receives from others last.
    pub(crate) fn lanes(&self, level: usize, are_saved: bool) -> Vec<usize> {
        let ways = if are_saved { &self.saved[level] } else { &self.populations[level] };
        let here = |is_last: bool| {
            let is_meant = move |way: &Way| {
                !matches!(way, Way::Elsewhere) && matches!(way, Way::Receive { .. } | Way::In { .. }) == is_last
            };
            ways.iter().enumerate().filter(move |(_, way)| is_meant(way)).map(|(number, _)| number)
        };
        here(false).chain(here(true)).collect()
    }

    /// Sends populations of a set along a lane of a level inside this process, or from window to window.
    pub(crate) fn cross(
        &self,
        here: &mut [Subdomain],
        windows: &mut Option<Windows>,
        halo: &Halo,
        LaneId { level, number }: LaneId,
        set: PopulationSet,
    ) -> Result<(), StepError> {
        let packing = &halo.of_level(level)[number].populations;
        self.populations[level][number].cross(here, windows, packing, |subdomain| subdomain.populations_mut(set))
    }

    /// Sends saved populations for ghosts along a lane of a level inside this process, or from window to window.
    pub(crate) fn cross_saved(
        &self,
        here: &mut [Subdomain],
        windows: &mut Option<Windows>,
        halo: &Halo,
        LaneId { level, number }: LaneId,
    ) -> Result<(), StepError> {
        let packing = &halo.saved_of_level(level)[number].saved;
        self.saved[level][number].cross(here, windows, packing, Subdomain::saved_mut)
    }

    /// Exchanges saved populations for ghosts between all subdomains, in several processes.
    pub(crate) fn exchange_saved(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        level: usize,
        processes: &Processes,
    ) -> Result<(), StepError> {
        for (way, lane) in self.saved[level].iter_mut().zip(halo.saved_of_level(level)) {
            way.pack(here, &lane.saved, Subdomain::saved_mut)?;
        }
        let packings = halo.saved_of_level(level).iter().map(|lane| &lane.saved);
        complete(&mut self.saved[level], packings, here, &mut None, processes, Subdomain::saved_mut)
    }

    /// Begins to send the halo of a level to other processes, as it is after all launches so far.
    pub(crate) fn post(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        level: usize,
        set: PopulationSet,
    ) -> Result<(), StepError> {
        for (way, lane) in self.populations[level].iter_mut().zip(halo.of_level(level)) {
            way.pack(here, &lane.populations, |subdomain| subdomain.populations_mut(set))?;
        }
        self.posted[level] = Some(set);
        Ok(())
    }

    /// Discards what was posted, which is out of date.
    pub(crate) fn forget(&mut self) {
        self.posted.iter_mut().for_each(|posted| *posted = None);
    }

    /// Exchanges the halo of a level between all subdomains, for a set of populations, in several processes.
    pub(crate) fn exchange(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        level: usize,
        set: PopulationSet,
        processes: &Processes,
    ) -> Result<(), StepError> {
        if self.posted[level] != Some(set) {
            self.post(here, halo, level, set)?;
        }
        self.posted[level] = None;
        let packings = halo.of_level(level).iter().map(|lane| &lane.populations);
        let ways = &mut self.populations[level];
        complete(ways, packings, here, &mut None, processes, |subdomain| subdomain.populations_mut(set))
    }

    /// Exchanges the halo of the fields, in one process or several.
    pub(crate) fn exchange_fields(
        &mut self,
        here: &mut [Subdomain],
        windows: &mut Option<Windows>,
        halo: &Halo,
        processes: &Processes,
    ) -> Result<(), StepError> {
        for (way, lane) in self.fields.iter_mut().zip(halo.lanes()) {
            way.pack(here, &lane.fields, Subdomain::macroscopic_mut)?;
        }
        let packings = halo.lanes().map(|lane| &lane.fields);
        complete(&mut self.fields, packings, here, windows, processes, Subdomain::macroscopic_mut)
    }
}

impl Way {
    /// Sends values between subdomains of this process, or from window to window.
    fn cross<E: Element>(
        &self,
        here: &mut [Subdomain],
        windows: &mut Option<Windows>,
        packing: &Packing,
        array: impl Fn(&mut Subdomain) -> &mut Buffer<E>,
    ) -> Result<(), StepError> {
        match self {
            Way::Here { route, from, to } => {
                let [from, to] = here.get_disjoint_mut([*from, *to]).expect("two subdomains");
                route.send(packing, array(from), array(to))?;
            }
            Way::Send { sender, from, to } => {
                let (own, other) = between(windows, *from, *to);
                sender.send(packing, array(&mut here[*from]), own, other)?;
            }
            Way::Receive { receiver, from, to } => {
                let (own, other) = between(windows, *to, *from);
                receiver.receive(packing, array(&mut here[*to]), own, other)?;
            }
            Way::Out { .. } | Way::In { .. } | Way::Elsewhere => {}
        }
        Ok(())
    }

    /// Packs values for another process.
    fn pack<E: Element>(
        &mut self,
        here: &mut [Subdomain],
        packing: &Packing,
        array: impl Fn(&mut Subdomain) -> &mut Buffer<E>,
    ) -> Result<(), StepError> {
        let Way::Out { post, from, .. } = self else { return Ok(()) };
        Ok(post.pack(packing, array(&mut here[*from]))?)
    }
}

/// The window of a subdomain of this process, by its index, and that of one in another process.
fn between(windows: &mut Option<Windows>, index: usize, other: SubdomainId) -> (&mut Window, &mut Window) {
    let found = windows.as_mut().and_then(|windows| windows.between(index, other));
    found.expect("routes go to windows that there are")
}

/// Completes an exchange: sends values inside this process, exchanges packed values with other processes and unpacks them.
fn complete<'a, E: Element>(
    ways: &mut [Way],
    packings: impl Iterator<Item = &'a Packing> + Clone,
    here: &mut [Subdomain],
    windows: &mut Option<Windows>,
    processes: &Processes,
    array: impl Fn(&mut Subdomain) -> &mut Buffer<E>,
) -> Result<(), StepError> {
    // What is received from windows waits for others, which wait for what this process sends.
    for is_last in [false, true] {
        let ways = ways.iter().zip(packings.clone());
        let mut ways = ways.filter(|(way, _)| matches!(way, Way::Receive { .. }) == is_last);
        ways.try_for_each(|(way, packing)| way.cross(here, windows, packing, &array))?;
    }
    if !processes.are_several() {
        return Ok(());
    }
    let (mut sent, mut expected) = (vec![], vec![]);
    for way in &mut *ways {
        match way {
            Way::Out { post, process, .. } => sent.push((*process, post.bytes()?)),
            Way::In { post, process, .. } => expected.push((*process, post.room()?)),
            Way::Here { .. } | Way::Send { .. } | Way::Receive { .. } | Way::Elsewhere => {}
        }
    }
    processes.exchange(&sent, &mut expected);
    for (way, packing) in ways.iter_mut().zip(packings) {
        if let Way::In { post, to, .. } = way {
            post.unpack(packing, array(&mut here[*to]))?;
        }
    }
    Ok(())
}

/// Sends values of an array to an array of another device, once.
pub(crate) fn send<E: Element>(
    packing: &Packing,
    (from_device, from): (&Device, &Buffer<E>),
    (to_device, to): (&Device, &mut Buffer<E>),
) -> Result<(), StepError> {
    Ok(Route::new(from_device, to_device, packing, from.value_bytes())?.send(packing, from, to)?)
}
