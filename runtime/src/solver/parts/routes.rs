//! The ways that values take between the devices of the parts of a flow.

use crate::device::{Buffer, Device, Element, Incoming, Outgoing, Packing, Route, Scalar};
use crate::processes::Processes;
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::subdomain::Subdomain;

/// What takes a lane's values from part to part.
enum Way {
    /// Both parts are in this process, at these places among its parts.
    Here { route: Route, from: usize, to: usize },
    /// The other part is in that process.
    Out { post: Outgoing, from: usize, process: usize },
    /// That process has the part that they come from.
    In { post: Incoming, to: usize, process: usize },
    /// Neither is in this process.
    Elsewhere,
}

/// Where parts are: the process that has one, and its place among the parts of this process if that is it.
pub(crate) trait Places: Fn(usize) -> (usize, Option<usize>) {}

impl<P: Fn(usize) -> (usize, Option<usize>)> Places for P {}

impl Way {
    fn new(
        here: &[Subdomain],
        places: &impl Places,
        (from, to): (usize, usize),
        packing: &Packing,
        scalar: Scalar,
    ) -> Result<Way, StepError> {
        let device = |part: usize| here[part].program.device();
        Ok(match (places(from), places(to)) {
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

/// The ways of a halo.
pub(crate) struct Routes {
    /// Those of populations `[level][lane]`.
    populations: Vec<Vec<Way>>,
    /// Those of fields, lane by lane of all levels.
    fields: Vec<Way>,
    /// Those of what is saved for ghosts `[level][lane]`.
    saved: Vec<Vec<Way>>,
    /// Of each level the set whose populations are on their way to other processes already.
    posted: Vec<Option<usize>>,
}

impl Routes {
    pub(crate) fn new(here: &[Subdomain], halo: &Halo, places: impl Places) -> Result<Routes, StepError> {
        let real = here[0].program.manifest().real;
        let levels = 0..here[0].grid.levels().len();
        let (stored, computed) = (Scalar::stored(real), Scalar::computed(real));
        let way = |ends, packing, scalar| Way::new(here, &places, ends, packing, scalar);
        let of_level = |level: usize| {
            let lanes = halo.of_level(level).iter();
            lanes.map(|lane| way((lane.from, lane.to), &lane.populations, stored)).collect()
        };
        let saved_of_level = |level: usize| {
            let lanes = halo.saved_of_level(level).iter();
            lanes.map(|lane| way((lane.from, lane.to), &lane.saved, computed)).collect()
        };
        let populations = levels.clone().map(of_level).collect::<Result<Vec<Vec<Way>>, StepError>>()?;
        let saved = levels.map(saved_of_level).collect::<Result<_, StepError>>()?;
        let fields = halo.lanes().map(|lane| way((lane.from, lane.to), &lane.fields, computed));
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Routes { posted: vec![None; populations.len()], populations, fields, saved })
    }

    /// Whether populations go from GPU to GPU on all of them, without the host.
    pub(crate) fn are_direct(&self) -> bool {
        let is_direct = |way: &Way| matches!(way, Way::Here { route, .. } if route.is_direct());
        self.populations.iter().chain(&self.saved).flatten().all(is_direct)
    }

    /// Gives a part the populations of a set that it reads of another's blocks, in a lane of a level between parts of this process.
    pub(crate) fn cross(
        &self,
        here: &mut [Subdomain],
        halo: &Halo,
        (level, lane): (usize, usize),
        set: usize,
    ) -> Result<(), StepError> {
        let packing = &halo.of_level(level)[lane].populations;
        self.populations[level][lane].cross(here, packing, |part| &mut part.fields.populations[set])
    }

    /// Gives a part what another's blocks save for ghosts, in a lane of a level between parts of this process.
    pub(crate) fn cross_saved(
        &self,
        here: &mut [Subdomain],
        halo: &Halo,
        (level, lane): (usize, usize),
    ) -> Result<(), StepError> {
        let packing = &halo.saved_of_level(level)[lane].saved;
        self.saved[level][lane].cross(here, packing, |part| &mut part.fields.saved)
    }

    /// Gives all parts what others' blocks save for ghosts, where parts are in several processes.
    pub(crate) fn exchange_saved(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        level: usize,
        processes: &Processes,
    ) -> Result<(), StepError> {
        for (way, lane) in self.saved[level].iter_mut().zip(halo.saved_of_level(level)) {
            way.pack(here, &lane.saved, |part| &mut part.fields.saved)?;
        }
        let packings = halo.saved_of_level(level).iter().map(|lane| &lane.saved);
        complete(&mut self.saved[level], packings, here, processes, |part| &mut part.fields.saved)
    }

    /// Begins to send other processes what they read of a level's blocks, as all launches so far leave them.
    pub(crate) fn post(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        level: usize,
        set: usize,
    ) -> Result<(), StepError> {
        for (way, lane) in self.populations[level].iter_mut().zip(halo.of_level(level)) {
            way.pack(here, &lane.populations, |part| &mut part.fields.populations[set])?;
        }
        self.posted[level] = Some(set);
        Ok(())
    }

    /// What was posted is old.
    pub(crate) fn forget(&mut self) {
        self.posted.iter_mut().for_each(|posted| *posted = None);
    }

    /// Gives all parts the populations of a set that they read of others' blocks of a level, where parts are in several processes.
    pub(crate) fn exchange(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        (level, set): (usize, usize),
        processes: &Processes,
    ) -> Result<(), StepError> {
        if self.posted[level] != Some(set) {
            self.post(here, halo, level, set)?;
        }
        self.posted[level] = None;
        let packings = halo.of_level(level).iter().map(|lane| &lane.populations);
        complete(&mut self.populations[level], packings, here, processes, |part| &mut part.fields.populations[set])
    }

    /// The same for their fields, in one process or several.
    pub(crate) fn exchange_fields(
        &mut self,
        here: &mut [Subdomain],
        halo: &Halo,
        processes: &Processes,
    ) -> Result<(), StepError> {
        for (way, lane) in self.fields.iter_mut().zip(halo.lanes()) {
            way.pack(here, &lane.fields, |part| &mut part.fields.macroscopic)?;
        }
        let packings = halo.lanes().map(|lane| &lane.fields);
        complete(&mut self.fields, packings, here, processes, |part| &mut part.fields.macroscopic)
    }
}

impl Way {
    /// Between parts of this process.
    fn cross<E: Element>(
        &self,
        here: &mut [Subdomain],
        packing: &Packing,
        array: impl Fn(&mut Subdomain) -> &mut Buffer<E>,
    ) -> Result<(), StepError> {
        let Way::Here { route, from, to } = self else { return Ok(()) };
        let [from, to] = here.get_disjoint_mut([*from, *to]).expect("two parts");
        Ok(route.send(packing, array(from), array(to))?)
    }

    /// What goes to another process.
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

/// Brings what was packed to where it belongs, and what crosses inside this process.
fn complete<'a, E: Element>(
    ways: &mut [Way],
    packings: impl Iterator<Item = &'a Packing> + Clone,
    here: &mut [Subdomain],
    processes: &Processes,
    array: impl Fn(&mut Subdomain) -> &mut Buffer<E>,
) -> Result<(), StepError> {
    ways.iter().zip(packings.clone()).try_for_each(|(way, packing)| way.cross(here, packing, &array))?;
    if !processes.are_several() {
        return Ok(());
    }
    let (mut sent, mut expected) = (vec![], vec![]);
    for way in &mut *ways {
        match way {
            Way::Out { post, process, .. } => sent.push((*process, post.bytes()?)),
            Way::In { post, process, .. } => expected.push((*process, post.room()?)),
            Way::Here { .. } | Way::Elsewhere => {}
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

/// Gives an array of a device values of one of another, once.
pub(crate) fn send<E: Element>(
    packing: &Packing,
    (from_device, from): (&Device, &Buffer<E>),
    (to_device, to): (&Device, &mut Buffer<E>),
) -> Result<(), StepError> {
    Ok(Route::new(from_device, to_device, packing, from.value_bytes())?.send(packing, from, to)?)
}
