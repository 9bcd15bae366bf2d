//! Changes of a forest: its module's page says in which order.

use std::ops::{Range, RangeInclusive};

use lbm_bundle::mesh::{CHANGES, CHUNK, KINDS, MeshRole, REFINED};

use super::{Forest, ForestError, LEVELS, Level, Tables};
use crate::device::Buffer;
use crate::kernels::{Given, KernelError, MeshProgram};

/// Length of what `rank` tells of classes: their begins on each level, and how many nodes have one.
pub(super) const BEGINS: usize = TOTAL + 1;

/// Position of that number.
const TOTAL: usize = LEVELS * KINDS;

/// Blocks whose data must follow a change of the forest.
pub struct Change<'a> {
    /// Slots of the coarse blocks, `count` of them.
    pub slots: &'a Buffer,
    /// How many.
    pub count: usize,
    /// `parts[slot * 2^dim + octant]`: slots of their children.
    pub parts: &'a Buffer,
    /// The forest at this moment.
    pub tables: &'a Tables,
}

/// What has data while a forest is about to change.
pub struct Held<'a> {
    /// Where each level is listed.
    pub levels: &'a [Level],
    /// The forest at this moment.
    pub tables: &'a Tables,
}

/// Blocks whose data move to other slots.
pub struct Moves<'a> {
    /// The slots that are filled: 0 to `count`.
    pub slots: &'a Buffer,
    /// How many: one for each leaf.
    pub count: usize,
    /// `from[slot]`: the slot where the data were.
    pub from: &'a Buffer,
    /// The slots of refined nodes that hold data, which stay where they are.
    pub held: &'a Buffer,
    /// How many: none where refined nodes hold no data.
    pub held_count: usize,
    /// `every[slot]` is that slot.
    pub every: &'a Buffer,
}

/// What moves data when a forest changes. `()` moves none.
pub trait Carry {
    /// Before the first change: fills what refined nodes hold and nobody has needed so far.
    fn prepare(&mut self, held: Held<'_>) -> Result<(), KernelError>;

    /// Fills coarse blocks from their children, which go.
    fn average(&mut self, change: Change<'_>) -> Result<(), KernelError>;

    /// Fills new children from the coarse blocks, which go.
    fn fill(&mut self, change: Change<'_>) -> Result<(), KernelError>;

    /// Moves the data of all leaves at once, so that no slot is overwritten before it is read.
    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError>;
}

impl Carry for () {
    fn prepare(&mut self, _: Held<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn average(&mut self, _: Change<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn fill(&mut self, _: Change<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn reorder(&mut self, _: Moves<'_>) -> Result<(), KernelError> {
        Ok(())
    }
}

/// What a change has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Leaves that were to be refined, for their own wish or for balance.
    pub asked: usize,
    /// Leaves that were refined.
    pub refined: usize,
    /// Families that were taken away.
    pub coarsened: usize,
}

impl Outcome {
    /// Refinements that there was no room for.
    pub fn refused(&self) -> usize {
        self.asked - self.refined
    }

    /// Whether the forest is another than before.
    pub fn changed(&self) -> bool {
        self.refined + self.coarsened > 0
    }
}

/// Numbers of nodes that change, of each level.
struct Decision {
    /// Leaves to be refined, as far as there is room.
    refined: Vec<usize>,
    /// Nodes to lose their children.
    coarsened: Vec<usize>,
    outcome: Outcome,
}

/// What nodes are sorted by.
enum Class {
    /// What becomes of them.
    Mark,
    /// What they are.
    Kind,
    /// Whether they have a slot.
    Slot,
    /// Whether they are at refinement interfaces.
    Interface,
}

impl Forest {
    /// Changes the forest towards what its leaves wish, with leaves of these levels only; the data follow by `carry`.
    /// Each leaf changes by one level at most. After an error the forest is not to be used any more.
    pub fn adapt(&mut self, levels: RangeInclusive<usize>, carry: &mut impl Carry) -> Result<Outcome, ForestError> {
        let (coarsest, finest) = levels.into_inner();
        if coarsest > finest || finest >= LEVELS {
            return Err(ForestError::Levels { coarsest, finest });
        }
        let Decision { refined, coarsened, outcome } = self.decide(coarsest, finest)?;
        if !outcome.changed() {
            return Ok(outcome);
        }
        let nodes = self.levels.iter().map(|level| level.nodes.len()).chain([0]);
        let mut nodes: Vec<usize> = nodes.collect();
        for level in 0..refined.len() {
            nodes[level + 1] = nodes[level + 1] + refined[level] * self.parts() - coarsened[level] * self.parts();
        }
        nodes.truncate(nodes.iter().position(|count| *count == 0).unwrap_or(nodes.len()));

        carry.prepare(Held { levels: &self.levels, tables: &self.tables })?;
        self.coarsen(outcome.asked..outcome.asked + outcome.coarsened, carry)?;
        if outcome.coarsened > 0 && outcome.refined > 0 {
            for level in 0..self.levels.len() {
                self.link(self.levels[level].nodes.clone())?;
            }
            self.classify(0..self.nodes())?;
        }
        self.refine(outcome.refined, carry)?;
        self.renew(&nodes)?;
        Ok(outcome)
    }

    /// Gives the leaves the slots from 0 on in the order of the curve, level by level, after many changes have
    /// scattered them: kernels are faster where neighbours are near in memory.
    pub fn reorder(&mut self, carry: &mut impl Carry) -> Result<(), ForestError> {
        let (all, leaves) = (self.nodes(), self.leaves());
        self.rank(0..all, Class::Slot)?;
        let given = vec![
            ("ids", Given::Read(&self.tables.order)),
            ("count", Given::Int(all as i32)),
            ("rank", Given::Read(&self.work.rank)),
            ("slot", Given::Write(&mut self.tables.slot)),
            ("node", Given::Write(&mut self.tables.node)),
            ("from", Given::Write(&mut self.work.coarse)),
        ];
        self.program.launch(MeshRole::Arrange, all, given)?;
        let given = vec![
            ("unused", Given::ReadFrom(&self.work.every, leaves)),
            ("count", Given::Int(self.free.slots as i32)),
            ("all", Given::Int(self.pool.slots as i32)),
            ("node", Given::Write(&mut self.tables.node)),
            ("free_slots", Given::Write(&mut self.tables.free_slots)),
        ];
        self.program.launch(MeshRole::Clear, self.free.slots, given)?;
        carry.reorder(Moves {
            slots: &self.work.every,
            count: leaves,
            from: &self.work.coarse,
            held: &self.tables.held,
            held_count: if self.holds { all - leaves } else { 0 },
            every: &self.work.every,
        })?;
        let nodes: Vec<usize> = self.levels.iter().map(|level| level.nodes.len()).collect();
        self.renew(&nodes)
    }

    /// How many nodes are listed.
    fn nodes(&self) -> usize {
        self.levels.last().map_or(0, |level| level.nodes.end)
    }

    /// Marks nodes, ranks those that change and lists them.
    fn decide(&mut self, coarsest: usize, finest: usize) -> Result<Decision, ForestError> {
        let all = self.nodes();
        let given = vec![
            ("nodes", Given::Read(&self.tables.order)),
            ("count", Given::Int(all as i32)),
            ("level", Given::Read(&self.tables.level)),
            ("child", Given::Read(&self.tables.child)),
            ("want", Given::Read(&self.wishes.want)),
            ("bound", Given::Read(&self.wishes.bound)),
            ("coarsest", Given::Int(coarsest as i32)),
            ("finest", Given::Int(finest as i32)),
            ("mark", Given::Write(&mut self.work.mark)),
        ];
        self.program.launch(MeshRole::Mark, all, given)?;
        // A level yields to the next coarser one; what spreads or dissolves has consequences on that one.
        let parents = self.levels.len().saturating_sub(1);
        let upward = || (0..parents).rev();
        let levels = [
            (MeshRole::Yield, (0..parents).collect()),
            (MeshRole::Spread, upward().collect()),
            (MeshRole::Dissolve, upward().collect::<Vec<_>>()),
        ];
        for (role, levels) in levels {
            for level in levels.into_iter().map(|level| &self.levels[level]) {
                let given = vec![
                    ("nodes", Given::ReadFrom(&self.tables.order, level.nodes.start)),
                    ("count", Given::Int(level.nodes.len() as i32)),
                    ("near", Given::Read(&self.tables.near)),
                    ("child", Given::Read(&self.tables.child)),
                    ("mark", Given::Write(&mut self.work.mark)),
                ];
                self.program.launch(role, level.nodes.len(), given)?;
            }
        }
        self.rank(0..all, Class::Mark)?;
        let given = vec![
            ("nodes", Given::Read(&self.tables.order)),
            ("count", Given::Int(all as i32)),
            ("mark", Given::Read(&self.work.mark)),
            ("rank", Given::Read(&self.work.rank)),
            ("picked", Given::Write(&mut self.work.picked)),
        ];
        self.program.launch(MeshRole::Pick, all, given)?;

        let begins = self.begins()?;
        let counts = |class: usize| -> Vec<usize> {
            let end = if class + 1 < CHANGES { begins[class + 1] } else { begins[TOTAL] };
            let of_class = |level: usize| begins[level * CHANGES + class];
            let count = self.levels.len();
            (0..count)
                .map(|level| if level + 1 < count { of_class(level + 1) } else { end } - of_class(level))
                .collect()
        };
        let (asked, coarsened) = (counts(0), counts(1));
        let gone: usize = coarsened.iter().sum();
        // Each family that goes frees its slots and takes one.
        let slots = self.free.slots + gone * (self.parts() - 1);
        let mut room = (self.free.families + gone).min(slots.saturating_sub(1) / self.parts());
        let grant = |asked: &usize| {
            let granted = room.min(*asked);
            room -= granted;
            granted
        };
        let refined: Vec<usize> = asked.iter().map(grant).collect();
        let outcome =
            Outcome { asked: asked.iter().sum(), refined: refined.iter().sum(), coarsened: coarsened.iter().sum() };
        Ok(Decision { refined, coarsened, outcome })
    }

    /// Takes the children away from the nodes with these ranks, as many at a time as there are slots for.
    fn coarsen(&mut self, mut ranks: Range<usize>, carry: &mut impl Carry) -> Result<(), ForestError> {
        while !ranks.is_empty() {
            let count = ranks.len().min(self.free.slots);
            let given = vec![
                ("ids", Given::ReadFrom(&self.work.picked, ranks.start)),
                ("count", Given::Int(count as i32)),
                ("rank", Given::Read(&self.work.rank)),
                ("first", Given::Int(ranks.start as i32)),
                ("child", Given::Read(&self.tables.child)),
                ("slots", Given::Int(self.free.slots as i32)),
                ("free_slots", Given::Read(&self.tables.free_slots)),
                ("slot", Given::Write(&mut self.tables.slot)),
                ("node", Given::Write(&mut self.tables.node)),
                ("coarse", Given::Write(&mut self.work.coarse)),
                ("parts", Given::Write(&mut self.work.parts)),
            ];
            self.program.launch(MeshRole::Merge, count, given)?;
            self.free.slots -= count;
            carry.average(Change { slots: &self.work.coarse, count, parts: &self.work.parts, tables: &self.tables })?;
            let given = vec![
                ("ids", Given::ReadFrom(&self.work.picked, ranks.start)),
                ("count", Given::Int(count as i32)),
                ("rank", Given::Read(&self.work.rank)),
                ("first", Given::Int(ranks.start as i32)),
                ("roots", Given::Int(self.roots as i32)),
                ("families", Given::Int(self.free.families as i32)),
                ("slots", Given::Int(self.free.slots as i32)),
                ("child", Given::Write(&mut self.tables.child)),
                ("parent", Given::Write(&mut self.tables.parent)),
                ("slot", Given::Write(&mut self.tables.slot)),
                ("node", Given::Write(&mut self.tables.node)),
                ("free_families", Given::Write(&mut self.tables.free_families)),
                ("free_slots", Given::Write(&mut self.tables.free_slots)),
            ];
            self.program.launch(MeshRole::Drop, count, given)?;
            self.free.families += count;
            self.free.slots += count * self.parts();
            ranks.start += count;
        }
        Ok(())
    }

    /// Gives children to the leaves with ranks below `count`.
    fn refine(&mut self, count: usize, carry: &mut impl Carry) -> Result<(), ForestError> {
        if count == 0 {
            return Ok(());
        }
        let given = vec![
            ("ids", Given::Read(&self.work.picked)),
            ("count", Given::Int(count as i32)),
            ("rank", Given::Read(&self.work.rank)),
            ("roots", Given::Int(self.roots as i32)),
            ("families", Given::Int(self.free.families as i32)),
            ("slots", Given::Int(self.free.slots as i32)),
            ("free_families", Given::Read(&self.tables.free_families)),
            ("free_slots", Given::Read(&self.tables.free_slots)),
            ("child", Given::Write(&mut self.tables.child)),
            ("parent", Given::Write(&mut self.tables.parent)),
            ("level", Given::Write(&mut self.tables.level)),
            ("place", Given::Write(&mut self.tables.place)),
            ("slot", Given::Write(&mut self.tables.slot)),
            ("node", Given::Write(&mut self.tables.node)),
            ("bound", Given::Write(&mut self.wishes.bound)),
            ("coarse", Given::Write(&mut self.work.coarse)),
            ("parts", Given::Write(&mut self.work.parts)),
        ];
        self.program.launch(MeshRole::Split, count, given)?;
        self.free.families -= count;
        self.free.slots -= count * self.parts();
        self.least_free = self.least_free.min(self.free.slots);
        carry.fill(Change { slots: &self.work.coarse, count, parts: &self.work.parts, tables: &self.tables })?;
        let given = vec![
            ("ids", Given::Read(&self.work.picked)),
            ("count", Given::Int(count as i32)),
            ("rank", Given::Read(&self.work.rank)),
            ("slots", Given::Int(self.free.slots as i32)),
            ("slot", Given::Write(&mut self.tables.slot)),
            ("node", Given::Write(&mut self.tables.node)),
            ("free_slots", Given::Write(&mut self.tables.free_slots)),
        ];
        self.program.launch(MeshRole::Vacate, count, given)?;
        self.free.slots += count;
        Ok(())
    }

    /// Links, neighbours, kinds and lists, from the roots down; `nodes` says how many each level has.
    pub(super) fn renew(&mut self, nodes: &[usize]) -> Result<(), ForestError> {
        let mut levels: Vec<Level> = vec![];
        let (mut first, mut first_leaf, mut first_held) = (0, 0, 0);
        for (level, &count) in nodes.iter().enumerate() {
            let next = nodes.get(level + 1).copied().unwrap_or(0);
            let (listed, leaf_count) = (first..first + count, count - next / self.parts());
            self.classify(listed.clone())?;
            self.rank(listed.clone(), Class::Kind)?;
            let given = vec![
                ("positions", Given::ReadFrom(&self.work.every, first)),
                ("count", Given::Int(count as i32)),
                ("kind", Given::Read(&self.tables.kind)),
                ("rank", Given::Read(&self.work.rank)),
                ("child", Given::Read(&self.tables.child)),
                ("slot", Given::Read(&self.tables.slot)),
                ("first_leaf", Given::Int(first_leaf as i32)),
                ("leaf_count", Given::Int(leaf_count as i32)),
                ("first_held", Given::Int(first_held as i32)),
                ("first_next", Given::Int(listed.end as i32)),
                ("roots", Given::Int(self.roots as i32)),
                ("slots", Given::Int(self.pool.slots as i32)),
                ("leaves", Given::Write(&mut self.tables.leaves)),
                ("held", Given::Write(&mut self.tables.held)),
                ("order", Given::Write(&mut self.tables.order)),
            ];
            self.program.launch(MeshRole::Expand, count, given)?;
            self.link(listed.clone())?;
            let leaves = first_leaf..first_leaf + leaf_count;
            let held = first_held..first_held + count - leaf_count;
            (first, first_leaf, first_held) = (listed.end, leaves.end, held.end);
            levels.push(Level { nodes: listed, leaves, held, ..Level::default() });
        }
        let begins = self.begins()?;
        for (at, level) in levels.iter_mut().enumerate() {
            let begin = |group: usize| level.leaves.start + begins[at * KINDS + group];
            level.groups = std::array::from_fn(|group| begin(group)..begin(group + 1));
        }
        self.levels = levels;
        if self.holds {
            self.hold()?;
        }
        self.number_interfaces()
    }

    /// Slots and neighbours of what has data, where refined nodes have.
    fn hold(&mut self) -> Result<(), KernelError> {
        let all = self.nodes();
        let given = vec![
            ("nodes", Given::Read(&self.tables.order)),
            ("count", Given::Int(all as i32)),
            ("near", Given::Read(&self.tables.near)),
            ("child", Given::Read(&self.tables.child)),
            ("parent", Given::Read(&self.tables.parent)),
            ("slot", Given::Read(&self.tables.slot)),
            ("roots", Given::Int(self.roots as i32)),
            ("slots", Given::Int(self.pool.slots as i32)),
            ("data", Given::Write(&mut self.tables.data)),
            ("neighbours", Given::Write(&mut self.tables.neighbours)),
            ("sides", Given::Write(&mut self.tables.sides)),
            ("interface", Given::Write(&mut self.work.interface)),
            ("parts", Given::Write(&mut self.tables.parts)),
            ("uppers", Given::Write(&mut self.tables.uppers)),
        ];
        self.program.launch(MeshRole::Hold, all, given)
    }

    /// The places of slots among those at refinement interfaces.
    fn number_interfaces(&mut self) -> Result<(), ForestError> {
        let all = self.nodes();
        self.rank(0..all, Class::Interface)?;
        let given = vec![
            ("nodes", Given::Read(&self.tables.order)),
            ("count", Given::Int(all as i32)),
            ("slot", Given::Read(if self.holds { &self.tables.data } else { &self.tables.slot })),
            ("interface", Given::Read(&self.work.interface)),
            ("rank", Given::Read(&self.work.rank)),
            ("rows", Given::Write(&mut self.tables.rows)),
        ];
        self.program.launch(MeshRole::Number, all, given)?;
        self.interfaces = self.begins()?[TOTAL];
        Ok(())
    }

    /// What the children of listed nodes have near.
    fn link(&mut self, listed: Range<usize>) -> Result<(), KernelError> {
        let given = vec![
            ("nodes", Given::ReadFrom(&self.tables.order, listed.start)),
            ("count", Given::Int(listed.len() as i32)),
            ("near", Given::Write(&mut self.tables.near)),
            ("child", Given::Read(&self.tables.child)),
        ];
        self.program.launch(MeshRole::Link, listed.len(), given)
    }

    /// Neighbours of listed leaves, and kinds.
    fn classify(&mut self, listed: Range<usize>) -> Result<(), KernelError> {
        let given = vec![
            ("nodes", Given::ReadFrom(&self.tables.order, listed.start)),
            ("count", Given::Int(listed.len() as i32)),
            ("near", Given::Read(&self.tables.near)),
            ("child", Given::Read(&self.tables.child)),
            ("slot", Given::Read(&self.tables.slot)),
            ("neighbours", Given::Write(&mut self.tables.neighbours)),
            ("kind", Given::Write(&mut self.tables.kind)),
            ("interface", Given::Write(&mut self.work.interface)),
        ];
        self.program.launch(MeshRole::Classify, listed.len(), given)
    }

    /// The rank of each of the listed nodes that has a class, and where classes begin on each level.
    fn rank(&mut self, listed: Range<usize>, class: Class) -> Result<(), KernelError> {
        let (code, classes) = match class {
            Class::Mark => (&self.work.mark, CHANGES),
            Class::Kind => (&self.tables.kind, KINDS),
            Class::Slot => (&self.tables.slot, 1),
            Class::Interface => (&self.work.interface, 1),
        };
        let chunks = listed.len().div_ceil(CHUNK);
        let given = vec![
            ("chunks", Given::Read(&self.work.every)),
            ("count", Given::Int(chunks as i32)),
            ("order", Given::Read(&self.tables.order)),
            ("first", Given::Int(listed.start as i32)),
            ("size", Given::Int(listed.len() as i32)),
            ("code", Given::Read(code)),
            ("classes", Given::Int(classes as i32)),
            ("counts", Given::Write(&mut self.work.counts)),
        ];
        self.program.launch(MeshRole::Tally, chunks, given)?;
        scan(&self.program, &mut self.work.counts, chunks * classes, &mut self.work.begins, TOTAL)?;
        let given = vec![
            ("chunks", Given::Read(&self.work.every)),
            ("count", Given::Int(chunks as i32)),
            ("order", Given::Read(&self.tables.order)),
            ("first", Given::Int(listed.start as i32)),
            ("size", Given::Int(listed.len() as i32)),
            ("code", Given::Read(code)),
            ("classes", Given::Int(classes as i32)),
            ("counts", Given::Read(&self.work.counts)),
            ("level", Given::Read(&self.tables.level)),
            ("begins", Given::Write(&mut self.work.begins)),
            ("rank", Given::Write(&mut self.work.rank)),
        ];
        self.program.launch(MeshRole::Rank, chunks, given)
    }

    /// The sum of all before each of the first numbers of an array, in place; that of all is given back.
    pub fn scan(&mut self, counts: &mut Buffer, size: usize) -> Result<usize, ForestError> {
        scan(&self.program, counts, size, &mut self.work.begins, TOTAL)?;
        Ok(self.begins()?[TOTAL])
    }

    /// What `rank` has told of classes.
    fn begins(&self) -> Result<Vec<usize>, ForestError> {
        let begins = self.work.begins.read_ints(0..BEGINS)?;
        Ok(begins.into_iter().map(|at| at as usize).collect())
    }
}

/// Of an array of so many numbers, the sum of all before each, in place; that of all at a place of another array.
fn scan(
    program: &MeshProgram,
    counts: &mut Buffer,
    size: usize,
    begins: &mut Buffer,
    total: usize,
) -> Result<(), KernelError> {
    let given = vec![
        ("counts", Given::Write(counts)),
        ("size", Given::Int(size as i32)),
        ("begins", Given::Write(begins)),
        ("total", Given::Int(total as i32)),
    ];
    program.launch(MeshRole::Scan, 1, given)
}

const _: () = assert!(REFINED + 1 == KINDS && CHANGES <= KINDS);
