//! The parts of a flow: a subdomain each, and what they have to do with each other.
//!
//! A flow in one part is its subdomain. In several, each has the tables of the whole grid and the data of its own blocks; all do the same
//! phases of a step, and between them get what they read of others' blocks ([`halo`](super::halo)). Nodes and slots have the same numbers in
//! all of them, so what is read of a flow, set or summed up does not depend on the number of parts: it goes by slots, and by blocks in
//! the order of the lists.
//!
//! Parts may lie in several processes ([`Processes`]), as many in each. Each process has the subdomains of its own parts and does all
//! that is done to these; what it needs of others is sent, in calls that all processes make alike.

use std::ops::Range;

use rayon::prelude::*;

use super::StepError;
use super::accesses::{self, OfPart};
use super::edges::{Edges, Side};
use super::halo::Halo;
use super::inbox::{Inbox, Own};
use super::observe::Exchanged;
use super::room;
use super::routes::{self, Routes};
use super::step::{Level, Share, Task};
use super::subdomain::Subdomain;
use super::timing::Phase;
use super::transfer::{self, Reach, Transfer};
use crate::device::{Accesses, Buffer, Device, Devices, Element, Floating, Packing};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{Owned, Partition};
use crate::processes::Processes;

/// All parts of a flow.
pub(super) struct Parts {
    /// Those of this process.
    here: Vec<Subdomain>,
    /// What they are on.
    devices: Devices,
    /// Of a flow in several parts: which has what, and what each gets of the others.
    division: Option<Division>,
    /// What solids and the fluid have exchanged, as many times as it is summed up.
    pub(super) exchanged: Vec<Exchanged>,
    /// The levels whose steps have left more of it on the devices.
    pub(super) left: Vec<usize>,
}

/// What parts read of each other's blocks.
fn halo_of(here: &[Subdomain], partition: &Partition, processes: &Processes) -> Result<Halo, StepError> {
    // Solids that move come to other blocks.
    let mut has_links = match here.iter().any(|part| part.bodies.is_some()) {
        true => vec![u8::from(here.iter().any(Subdomain::moves)); here[0].grid.slots()],
        false => vec![],
    };
    for bodies in here.iter().filter_map(|part| part.bodies.as_ref()) {
        let rows = bodies.rows.read_ints(0..bodies.rows.len())?;
        rows.iter().zip(&mut has_links).for_each(|(row, has)| *has |= u8::from(*row >= 0));
    }
    for others in processes.share(&has_links) {
        others.iter().zip(&mut has_links).for_each(|(other, has)| *has |= other);
    }
    let has_links = |slot: SlotId| has_links.get(slot.index()).is_some_and(|has| *has != 0);
    Halo::new(here[0].program.manifest(), &here[0].grid, partition, has_links)
}

/// The place of a part among these, if it is one of them.
fn place(here: &Range<usize>, part: usize) -> Option<usize> {
    here.contains(&part).then(|| part - here.start)
}

/// The ways that values take between parts, of which these are in this process, as many as in each.
fn routes_of(here: &[Subdomain], numbers: &Range<usize>, halo: &Halo) -> Result<Routes, StepError> {
    Routes::new(here, halo, |part| (part / numbers.len(), place(numbers, part)))
}

/// How a flow is divided.
struct Division {
    partition: Partition,
    halo: Halo,
    routes: Routes,
    processes: Processes,
    /// The parts of this process.
    here: Range<usize>,
}

impl Division {
    /// How many lanes there are of what crosses in a task.
    fn lanes(&self, task: Task) -> usize {
        match task.phase {
            Phase::HaloSaved => self.halo.saved_of_level(task.level).len(),
            _ => self.halo.of_level(task.level).len(),
        }
    }

    /// The parts that one of them goes from and to.
    fn ends(&self, task: Task, lane: usize) -> (usize, usize) {
        let (saved, lanes) = (self.halo.saved_of_level(task.level), self.halo.of_level(task.level));
        match task.phase {
            Phase::HaloSaved => (saved[lane].from, saved[lane].to),
            _ => (lanes[lane].from, lanes[lane].to),
        }
    }

    /// The place of a part among those of this process, if it is one.
    fn place(&self, part: usize) -> Option<usize> {
        place(&self.here, part)
    }

    /// The process that has a part.
    fn process(&self, part: usize) -> usize {
        part / self.here.len()
    }

    /// Sends packed values of an array from part to part.
    fn send<'a, E: Element>(
        &self,
        all: &mut [Subdomain],
        lanes: impl Iterator<Item = (usize, usize, &'a Packing)>,
        array: impl Fn(&mut Subdomain) -> Option<&mut Buffer<E>>,
    ) -> Result<(), StepError> {
        let (mut sent, mut expected, mut coming) = (vec![], vec![], vec![]);
        for (from, to, packing) in lanes {
            match (self.place(from), self.place(to)) {
                (Some(from), Some(to)) => {
                    let [from, to] = all.get_disjoint_mut([from, to]).expect("two parts");
                    let (source, target) = (from.program.device().clone(), to.program.device().clone());
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

/// Packed values, and the parts that they go from and to.
fn lanes(packed: &[(usize, usize, Packing)]) -> impl Iterator<Item = (usize, usize, &Packing)> {
    packed.iter().map(|(from, to, packing)| (*from, *to, packing))
}

/// For which processes something is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// The first.
    First,
    /// All.
    All,
}

/// Numbers that a thread copies at a time.
const PIECE: usize = 1 << 16;

/// The bytes of numbers.
pub(super) fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(numbers)];
    let pieces = bytes.par_chunks_mut(PIECE * size_of::<f64>()).zip(numbers.par_chunks(PIECE));
    pieces.for_each(|(bytes, numbers)| {
        bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_ne_bytes());
    });
    bytes
}

/// Sets numbers to those whose bytes these are.
fn set(numbers: &mut [f64], bytes: &[u8]) {
    let pieces = numbers.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE * size_of::<f64>()));
    pieces.for_each(|(numbers, bytes)| {
        numbers.iter_mut().zip(numbers_of(bytes)).for_each(|(number, found)| *number = found);
    });
}

/// The numbers whose bytes these are.
pub(super) fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes))
}

impl Parts {
    /// A flow in one part.
    pub(super) fn one(subdomain: Subdomain) -> Parts {
        let devices = Devices::new([subdomain.program.device()]);
        Parts { here: vec![subdomain], devices, division: None, exchanged: vec![], left: vec![] }
    }

    /// A flow in several, as many in each process, of which these are in this one; their inboxes are still to come.
    pub(super) fn several(
        mut here: Vec<Subdomain>,
        partition: Partition,
        processes: Processes,
    ) -> Result<Parts, StepError> {
        let devices = Devices::new(here.iter().map(|subdomain| subdomain.program.device()));
        let halo = halo_of(&here, &partition, &processes)?;
        let numbers = processes.number() * here.len()..(processes.number() + 1) * here.len();
        for lane in halo.lanes().filter(|lane| numbers.contains(&lane.to)) {
            here[lane.to - numbers.start].fields.make_room_for(&lane.populations, &lane.fields)?;
        }
        let layouts = [Layout::populations, Layout::fields].map(|of| of(here[0].program.manifest()));
        for family in transfer::families(&here[0].grid, &partition)?.iter().filter(|of| numbers.contains(&of.to)) {
            let [populations, fields] = layouts.map(|layout| family.packing(layout));
            here[family.to - numbers.start].fields.make_room_for(&populations, &fields)?;
        }
        here.iter_mut().try_for_each(|subdomain| subdomain.fields.seal())?;
        let routes = routes_of(&here, &numbers, &halo)?;
        let division = Division { partition: Partition::default(), halo, routes, processes, here: numbers };
        let mut parts = Parts { here, devices, division: Some(division), exchanged: vec![], left: vec![] };
        parts.set_partition(partition)?;
        parts.list_edges()?;
        parts.each_with_senders(|subdomain, own| {
            let Subdomain { program, of_rows, grid, walls, .. } = subdomain;
            subdomain.inbox = Inbox::new((program, of_rows), grid, walls, own)?;
            Ok(())
        })?;
        Ok(parts)
    }

    /// What is the same in all parts is read from the first.
    pub(super) fn first(&self) -> &Subdomain {
        &self.here[0]
    }

    /// The devices of all of them.
    pub(super) fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Whether steps can be recorded: what crosses does so without the host.
    pub(super) fn records(&self) -> bool {
        self.division.as_ref().is_none_or(|division| division.routes.are_direct())
    }

    /// The same, to be changed.
    pub(super) fn first_mut(&mut self) -> &mut Subdomain {
        &mut self.here[0]
    }

    /// How many there are, in all processes.
    pub(super) fn count(&self) -> usize {
        self.division.as_ref().map_or(1, |division| division.partition.parts().len())
    }

    /// The processes that parts are in, where they are several.
    pub(super) fn processes(&self) -> Option<&Processes> {
        self.division.as_ref().map(|division| &division.processes).filter(|processes| processes.are_several())
    }

    /// The process that has a part.
    pub(super) fn process(&self, part: usize) -> usize {
        self.division.as_ref().map_or(0, |division| division.process(part))
    }

    /// Those of this process, with their numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Subdomain)> {
        let first = self.division.as_ref().map_or(0, |division| division.here.start);
        (first..).zip(&self.here)
    }

    /// A part by its number, if this process has it.
    pub(super) fn part(&self, number: usize) -> Option<&Subdomain> {
        match &self.division {
            None => self.here.get(number),
            Some(division) => division.place(number).map(|place| &self.here[place]),
        }
    }

    /// Those of this process.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Subdomain> {
        self.here.iter_mut()
    }

    /// The part that has a slot.
    pub(super) fn owner(&self, slot: SlotId) -> usize {
        self.division.as_ref().and_then(|division| division.partition.owner(slot)).unwrap_or(0)
    }

    /// Slots in runs of those that one part has.
    pub(super) fn runs(&self, slots: Range<usize>) -> Vec<(usize, Range<usize>)> {
        match &self.division {
            None => vec![(0, slots)],
            Some(division) => division.partition.runs(slots),
        }
    }

    /// Whether a phase of a step of a level has anything to do in this process.
    pub(super) fn has(&self, phase: Phase, level: usize) -> bool {
        if phase == Phase::Exchange {
            // The same in all processes.
            return !self.exchanged.is_empty();
        }
        self.here.iter().any(|subdomain| subdomain.has(phase, level))
    }

    /// What devices have to do in a task: what crosses; or each part, where that matters with what others wait for first.
    pub(super) fn shares(&self, task: Task) -> Vec<Share> {
        let all = |side: Side| (0..self.here.len()).map(move |part| Share::Part(part, side));
        let apart = self.division.is_some()
            && Phase::STREAMING[..4].contains(&task.phase)
            && self.first().together(task.level) != Some(task.phase);
        match &self.division {
            Some(division) if task.phase.crosses() && division.processes.are_several() => vec![Share::Processes],
            Some(division) if task.phase.crosses() => (0..division.lanes(task)).map(Share::Lane).collect(),
            _ if apart => all(Side::Edge).chain(all(Side::Inside)).collect(),
            _ => all(Side::All).collect(),
        }
    }

    /// The device that does a share.
    pub(super) fn device(&self, task: Task, share: Share) -> &Device {
        let part = match (share, &self.division) {
            (Share::Part(part, _), _) => part,
            (Share::Lane(lane), Some(division)) => division.ends(task, lane).0,
            (Share::Lane(_), None) | (Share::Processes, _) => 0,
        };
        self.here[part].program.device()
    }

    /// A share of a phase of a step of a level.
    pub(super) fn run(&mut self, task: Task, share: Share, levels: &[Level], end: f64) -> Result<(), StepError> {
        match share {
            Share::Processes if task.phase == Phase::HaloSaved => self.exchange_saved(task.level),
            Share::Processes => self.exchange(task.level, levels[task.level].current),
            Share::Lane(lane) if task.phase == Phase::HaloSaved => self.cross_saved(task.level, lane),
            Share::Lane(lane) => self.cross(task.level, lane, levels[task.level].current),
            Share::Part(part, _) if task.phase == Phase::Move => {
                self.here[part].move_solids(task.level, end, Some(&levels[task.level]))
            }
            Share::Part(part, _) if task.phase == Phase::Exchange => {
                if part == 0 {
                    self.left.push(task.level);
                }
                self.here[part].leave_exchanges(task.level, &levels[task.level])
            }
            Share::Part(part, side) => self.here[part].run(task, side, levels),
        }
    }

    /// What a share of a task reads and writes.
    pub(super) fn accesses(&self, task: Task, share: Share) -> Accesses {
        let parts = self.here.len();
        match (share, &self.division) {
            (Share::Lane(lane), Some(division)) => accesses::of_lane(task, division.ends(task, lane), parts),
            // Nothing of it is recorded.
            (Share::Lane(_), None) | (Share::Processes, _) => Accesses::default(),
            (Share::Part(part, side), _) => {
                accesses::of_part(task, side, self.here[part].together(task.level), OfPart { part, parts })
            }
        }
    }

    /// Whether levels have anything to get from other parts.
    pub(super) fn exchanges(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.of_level(level).is_empty())
    }

    /// Whether parts read what others' blocks of a level save for ghosts.
    pub(super) fn exchanges_saved(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.saved_of_level(level).is_empty())
    }

    /// Gives all parts, in several processes, what they read of that.
    fn exchange_saved(&mut self, level: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        routes.exchange_saved(&mut self.here, halo, level, processes)
    }

    /// Gives it to a part, in a lane of a level.
    fn cross_saved(&mut self, level: usize, lane: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &self.division else { return Ok(()) };
        routes.cross_saved(&mut self.here, halo, (level, lane))
    }

    /// Gives all parts the populations of one set that they read of others' blocks of a level.
    pub(super) fn exchange(&mut self, level: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        if processes.are_several() {
            return routes.exchange(&mut self.here, halo, (level, set), processes);
        }
        let lanes = halo.of_level(level).len();
        self.devices.meet()?;
        (0..lanes).try_for_each(|lane| self.cross(level, lane, set))?;
        Ok(self.devices.meet()?)
    }

    /// Gives a part those that it reads of another's blocks, in a lane of a level.
    fn cross(&mut self, level: usize, lane: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &self.division else { return Ok(()) };
        routes.cross(&mut self.here, halo, (level, lane), set)
    }

    /// Whether what crosses may be on its way while blocks inside stream: parts are in several processes, and nothing but streaming changes
    /// populations.
    pub(super) fn posts(&self) -> bool {
        self.processes().is_some() && !self.first().moves() && !self.first().grid.forest().holds()
    }

    /// Begins to send what other processes read of a level's blocks, which has been written to a set of populations.
    pub(super) fn post(&mut self, level: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &mut self.division else { return Ok(()) };
        routes.post(&mut self.here, halo, level, set)
    }

    /// Populations may have changed since they were posted.
    pub(super) fn forget_posted(&mut self) {
        self.division.iter_mut().for_each(|division| division.routes.forget());
    }

    /// Gives all parts the fields that they read of others' blocks.
    pub(super) fn exchange_fields(&mut self) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        self.devices.meet()?;
        routes.exchange_fields(&mut self.here, halo, processes)?;
        Ok(self.devices.meet()?)
    }

    /// Which part has what, where there are several.
    pub(super) fn partition(&self) -> Option<&Partition> {
        self.division.as_ref().map(|division| &division.partition)
    }

    /// Gives all parts the target levels of each other's leaves.
    pub(super) fn gather_targets(&mut self) -> Result<(), StepError> {
        let Some(division) = &self.division else { return Ok(()) };
        let tree = self.here[0].grid.tree()?;
        let owner = division.partition.owners();
        let leaves: Vec<(usize, usize)> =
            tree.leaves().map(|(_, node, slot)| (owner[slot.index()].into(), node)).collect();
        let nodes = leaves.iter().map(|(_, node)| node + 1).max().unwrap_or(0);
        // Those of refined nodes mean nothing.
        let mut gathered = vec![0; nodes];
        for (number, subdomain) in division.here.clone().zip(&mut self.here) {
            let (_, targets) = subdomain.grid.targets();
            let targets = targets.level.read_ints(0..nodes)?;
            let of_part = leaves.iter().filter(|(part, _)| *part == number);
            of_part.for_each(|(_, node)| gathered[*node] = targets[*node]);
        }
        if division.processes.are_several() {
            let (mut places, mut begin) = (vec![], 0);
            for run in leaves.chunk_by(|a, b| a.0 == b.0) {
                places.push((run[0].0, begin..begin + run.len()));
                begin += run.len();
            }
            let mut found: Vec<f64> = leaves.iter().map(|(_, node)| f64::from(gathered[*node])).collect();
            self.gather(&mut found, &places, For::All);
            leaves.iter().zip(found).for_each(|((_, node), level)| gathered[*node] = level as i32);
        }
        for subdomain in &mut self.here {
            let (_, targets) = subdomain.grid.targets();
            targets.level.write_ints(0, &gathered)?;
        }
        Ok(())
    }

    /// Gives processes those numbers that others have: at the places of each part, in an order that is the same in all processes.
    pub(super) fn gather(&self, numbers: &mut [f64], places: &[(usize, Range<usize>)], to: For) {
        let Some(division) = self.division.as_ref().filter(|division| division.processes.are_several()) else { return };
        let is_here = |part: usize| division.place(part).is_some();
        let own: Vec<Vec<u8>> = (places.iter().filter(|(part, _)| is_here(*part)))
            .map(|(_, place)| bytes_of(&numbers[place.clone()]))
            .collect();
        let own = own.concat();
        let all = match to {
            For::All => division.processes.share(&own),
            For::First => division.processes.bring(&own).unwrap_or_default(),
        };
        let mut all: Vec<&[u8]> = all.iter().map(|bytes| &bytes[..]).collect();
        for (part, place) in places {
            if let Some(from) = all.get_mut(division.process(*part)) {
                let (bytes, later) = from.split_at(place.len() * size_of::<f64>());
                set(&mut numbers[place.clone()], bytes);
                *from = later;
            }
        }
    }

    /// Gives all parts what they need to compute what their blocks become, and says what they have then.
    pub(super) fn get_before_change(&mut self, current: &[usize]) -> Result<Vec<Reach>, StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(vec![]) };
        let transfers = transfer::before_change(&self.first().grid, partition)?;
        self.transfer(&transfers, current)?;
        Ok(self.reaches(&transfers))
    }

    /// What each of several parts has, with what it has got: those of this process.
    pub(super) fn reaches(&self, got: &[Transfer]) -> Vec<Reach> {
        let Some(Division { partition, here, .. }) = &self.division else { return vec![] };
        here.clone().map(|part| Reach::new(part, partition, got)).collect()
    }

    /// After the grid has changed: which part has what.
    pub(super) fn take_over(&mut self, reaches: Vec<Reach>) -> Result<(), StepError> {
        let Some(owner) = reaches.into_iter().next().map(Reach::owners) else { return Ok(()) };
        let partition = Partition::of_owners(&self.first().grid, self.count(), owner)?;
        self.set_partition(partition)
    }

    /// Divides the grid again, in parts of about the same work; blocks go where they belong then.
    pub(super) fn divide_again(&mut self, current: &[usize]) -> Result<(), StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(()) };
        let grid = &self.first().grid;
        let after = Partition::new(grid, self.count())?;
        let transfers = transfer::moved(grid, partition, &after)?;
        self.transfer(&transfers, current)?;
        self.set_partition(after)
    }

    fn set_partition(&mut self, partition: Partition) -> Result<(), StepError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        for (subdomain, owned) in self.here.iter_mut().zip(&partition.parts()[division.here.clone()]) {
            if let Some(bodies) = &mut subdomain.bodies {
                bodies.keep_own(owned)?;
            }
            subdomain.owned = Some(owned.clone());
            subdomain.sampled = false;
        }
        division.partition = partition;
        Ok(())
    }

    /// After blocks have changed or gone to other parts: what parts read of each other's.
    pub(super) fn renew_halo(&mut self) -> Result<(), StepError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        division.halo = halo_of(&self.here, &division.partition, &division.processes)?;
        division.routes = routes_of(&self.here, &division.here, &division.halo)?;
        self.keep_to_halo()?;
        self.list_edges()
    }

    /// Where memory comes and goes, each part has room for its own blocks and its halo, and no more.
    fn keep_to_halo(&mut self) -> Result<(), StepError> {
        let Some(Division { partition, halo, here, .. }) = &self.division else { return Ok(()) };
        if !self.here.iter().any(Subdomain::is_by_page) {
            return Ok(());
        }
        let of_fields = Layout::fields(self.here[0].program.manifest()).slot_len();
        let slots_of = |number: usize| {
            let mut needed: Vec<bool> = partition.owners().iter().map(|owner| usize::from(*owner) == number).collect();
            for lane in halo.lanes().filter(|lane| lane.to == number) {
                lane.fields.ranges().for_each(|range| needed[range.start / of_fields] = true);
            }
            room::runs(needed.into_iter().enumerate().filter_map(|(slot, needed)| needed.then_some(slot)))
        };
        let mut slots: Vec<Vec<Range<usize>>> = here.clone().map(slots_of).collect();
        // Others may still write there.
        self.devices.meet()?;
        self.at_once(&mut slots, |subdomain, slots| {
            subdomain.arrays().only(slots)?;
            Ok(())
        })?;
        Ok(())
    }

    /// Lists the blocks of each part anew: those at its edge, and those inside.
    fn list_edges(&mut self) -> Result<(), StepError> {
        let Some(Division { halo, .. }) = &self.division else { return Ok(()) };
        let tree = self.here[0].grid.tree()?;
        for subdomain in &mut self.here {
            subdomain.grid.know(&tree);
            if let Some(owned) = &subdomain.owned {
                subdomain.edges = Some(Edges::new(subdomain.program.device(), &subdomain.grid, owned, halo)?);
            }
        }
        Ok(())
    }

    /// Calls something for each part with what it has of the grid and which blocks of others send something into its own.
    pub(super) fn each_with_senders(
        &mut self,
        each: impl Fn(&mut Subdomain, Option<Own<'_>>) -> Result<(), StepError> + Sync,
    ) -> Result<(), StepError> {
        let division = self.division.take();
        let senders = |place: usize| division.as_ref().map(|of| of.halo.senders(of.here.start + place));
        let mut senders: Vec<_> = (0..self.here.len()).map(senders).collect();
        let done = self.at_once(&mut senders, |subdomain, senders| {
            let owned: Option<Owned> = subdomain.owned.clone();
            each(subdomain, owned.as_ref().zip(*senders))
        });
        drop(senders);
        self.division = division;
        done.map(|_| ())
    }

    /// How many parts this process has.
    pub(super) fn here(&self) -> usize {
        self.here.len()
    }

    /// Calls something for each part of this process with a thing of its own. GPUs do it at the same time: one waits for the host while
    /// others work.
    pub(super) fn at_once<T: Send, R: Send>(
        &mut self,
        things: &mut [T],
        each: impl Fn(&mut Subdomain, &mut T) -> Result<R, StepError> + Sync,
    ) -> Result<Vec<R>, StepError> {
        let pairs = self.here.iter_mut().zip(things);
        if self.devices.first().ordinal().is_none() || pairs.len() == 1 {
            return pairs.map(|(subdomain, thing)| each(subdomain, thing)).collect();
        }
        let each = &each;
        std::thread::scope(|scope| {
            let all: Vec<_> = pairs.map(|(subdomain, thing)| scope.spawn(move || each(subdomain, thing))).collect();
            let joined = all.into_iter().map(|thread| thread.join());
            joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    /// Gives parts the populations of blocks of others, of the sets that are current.
    pub(super) fn send_populations(&mut self, transfers: &[Transfer], current: &[usize]) -> Result<(), StepError> {
        let layout = Layout::populations(self.first().program.manifest());
        let Some(division) = &self.division else { return Ok(()) };
        self.devices.meet()?;
        for set in 0..2 {
            let of_set = transfers.iter().filter(|transfer| current[transfer.level] == set);
            let packed: Vec<(usize, usize, Packing)> =
                of_set.map(|transfer| (transfer.from, transfer.to, transfer.packing(layout))).collect();
            division.send(&mut self.here, lanes(&packed), |part| Some(&mut part.fields.populations[set]))?;
        }
        Ok(self.devices.meet()?)
    }

    /// Gives parts all data of blocks of others, populations of the sets that are current.
    fn transfer(&mut self, transfers: &[Transfer], current: &[usize]) -> Result<(), StepError> {
        let manifest = self.first().program.manifest().clone();
        let Some(division) = &self.division else { return Ok(()) };
        self.devices.meet()?;
        for (number, subdomain) in division.here.clone().zip(&mut self.here).filter(|(_, part)| part.is_by_page()) {
            let coming = transfers.iter().filter(|transfer| transfer.to == number).flat_map(|transfer| &transfer.slots);
            subdomain.arrays().more(&room::runs(coming.map(|slot| slot.index())))?;
        }
        self.send_populations(transfers, current)?;
        let Some(division) = &self.division else { return Ok(()) };
        let packed = |layout: Layout| -> Vec<(usize, usize, Packing)> {
            transfers.iter().map(|transfer| (transfer.from, transfer.to, transfer.packing(layout))).collect()
        };
        if self.here[0].reference.is_some() {
            let packed = packed(Layout::fields(&manifest));
            division.send(&mut self.here, lanes(&packed), |part| part.reference.as_mut())?;
        }
        let statistics = self.here[0].statistics.as_ref();
        let layouts = statistics.map_or(vec![], |all| {
            (0..all.values.len()).map(|number| all.layout(&manifest, number)).collect::<Vec<Layout>>()
        });
        for (number, layout) in layouts.into_iter().enumerate() {
            let packed = packed(layout);
            division
                .send(&mut self.here, lanes(&packed), |part| Some(&mut part.statistics.as_mut()?.values[number]))?;
        }
        Ok(self.devices.meet()?)
    }

    /// Values of an array of all slots in a range of them, each from the part that has it: whole slots of a layout. Nothing in processes
    /// that it is not for.
    pub(super) fn read<E: Floating>(
        &self,
        layout: Layout,
        range: Range<usize>,
        to: For,
        of: impl Fn(&Subdomain) -> Option<&Buffer<E>>,
    ) -> Result<Vec<f64>, StepError> {
        let length = layout.slot_len().max(1);
        if let (None, Some(buffer)) = (&self.division, of(&self.here[0])) {
            return Ok(buffer.read_reals(range)?);
        }
        let (mut values, mut places) = (Vec::with_capacity(range.len()), vec![]);
        for (part, slots) in self.runs(range.start / length..range.end / length) {
            let start = values.len();
            match self.part(part) {
                Some(part) => values.extend(match of(part) {
                    Some(buffer) => buffer.read_reals(slots.start * length..slots.end * length)?,
                    None => vec![],
                }),
                None => values.resize(start + slots.len() * length, 0.0),
            }
            places.push((part, start..values.len()));
        }
        self.gather(&mut values, &places, to);
        let is_meant = to == For::All || self.processes().is_none_or(Processes::is_first);
        Ok(if is_meant { values } else { vec![] })
    }

    /// Sets what some slots have in an array, in each of the part that has it if that is here, to bytes that lie as on the device.
    pub(super) fn write_raw<E: Element>(
        &mut self,
        layout: Layout,
        slots: Range<usize>,
        bytes: &[u8],
        of: impl Fn(&mut Subdomain) -> Option<&mut Buffer<E>>,
    ) -> Result<(), StepError> {
        let first = slots.start;
        for (part, run) in self.runs(slots) {
            let place = self.division.as_ref().map_or(Some(0), |division| division.place(part));
            if let Some(buffer) = place.and_then(|place| of(&mut self.here[place])) {
                let length = layout.slot_len() * buffer.value_bytes();
                let piece = &bytes[(run.start - first) * length..(run.end - first) * length];
                buffer.write_raw(run.start * layout.slot_len(), piece)?;
            }
        }
        Ok(())
    }

    /// What kernels give for each block in a list of a level, so many numbers, in the order of the list: `of(part, run)` gives those of
    /// a part for a run of the list. All processes get them.
    pub(super) fn of_blocks(
        &self,
        level: usize,
        numbers: usize,
        of: impl Fn(&Subdomain, Range<usize>) -> Result<Vec<f64>, StepError>,
    ) -> Result<Vec<f64>, StepError> {
        let listed = self.first().grid.levels()[level].leaves.clone();
        let mut all = vec![0.0; numbers * listed.len()];
        let place = |run: &Range<usize>| numbers * (run.start - listed.start)..numbers * (run.end - listed.start);
        for subdomain in &self.here {
            for run in subdomain.own_level(level).runs() {
                all[place(&run)].copy_from_slice(&of(subdomain, run)?);
            }
        }
        if let Some(Division { partition, .. }) = &self.division {
            let places_of = |owned: &Owned| -> Vec<(usize, Range<usize>)> {
                owned.levels[level].runs().iter().map(|run| (owned.number, place(run))).collect()
            };
            let places: Vec<_> = partition.parts().iter().flat_map(places_of).collect();
            self.gather(&mut all, &places, For::All);
        }
        Ok(all)
    }

    /// Sets to NaN what parts have in the place of others' blocks, and what enters blocks: nothing of it may be read before it is got anew.
    pub(super) fn poison(&mut self) -> Result<(), StepError> {
        let Some(Division { partition, here, .. }) = &self.division else { return Ok(()) };
        for (number, subdomain) in here.clone().zip(&mut self.here) {
            let manifest = subdomain.program.manifest().clone();
            let (populations, fields) = (Layout::populations(&manifest), Layout::fields(&manifest));
            for slot in (0..subdomain.grid.slots()).filter(|slot| partition.owner(SlotId(*slot as u32)) != Some(number))
            {
                let range = |layout: Layout| slot * layout.slot_len()..(slot + 1) * layout.slot_len();
                for set in &mut subdomain.fields.populations {
                    set.poison_part(range(populations))?;
                }
                for array in
                    [Some(&mut subdomain.fields.macroscopic), subdomain.reference.as_mut()].into_iter().flatten()
                {
                    array.poison_part(range(fields))?;
                }
            }
            if let Some(inbox) = &mut subdomain.inbox {
                inbox.poison()?;
            }
            subdomain.fields.saved.poison()?;
        }
        Ok(())
    }
}
