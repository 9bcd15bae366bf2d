//! Two levels of a periodic box, advanced cell by cell as `lbm_dsl::model::levels` says, on the host in 64 bits.
//!
//! A reference, not a solver: every number that crosses the jump comes from the lowered kernels of the coupling and its
//! stencils. Those are linear but for the rescaling of ghosts, so their weights are found once and kept as sparse sums.

use std::collections::BTreeMap;
use std::rc::Rc;

use lbm_codegen::eval::eval_dag;
use lbm_codegen::ir::{Dag, KernelIr};
use lbm_codegen::lower::levels;
use lbm_codegen::simplify::simplify;
use lbm_dsl::expr::{Compare, LevelSymbol, Number, Pop, Rational, Symbol};
use lbm_dsl::function::Function;
use lbm_dsl::model::Model;
use lbm_dsl::model::levels::{Coupling, Exchange, PointSet, Target};
use num_traits::ToPrimitive;

use crate::compiled::Collision;

/// A cell of one level: its position along each axis.
type Place = [i64; 3];

/// Which coarse cells are refined.
#[derive(Clone)]
pub struct Patch {
    dim: usize,
    side: usize,
    refined: Vec<bool>,
}

impl Patch {
    /// A periodic box of `side` coarse cells along each axis, refined where `inside` says so for their positions.
    pub fn new(dim: usize, side: usize, inside: impl Fn(Place) -> bool) -> Self {
        let mut patch = Self { dim, side, refined: Vec::new() };
        patch.refined = (0..side.pow(dim as u32)).map(|at| inside(patch.place(at, 0))).collect();
        patch
    }

    fn side(&self, level: usize) -> usize {
        self.side << level
    }

    fn place(&self, at: usize, level: usize) -> Place {
        let side = self.side(level);
        std::array::from_fn(|axis| if axis < self.dim { (at / side.pow(axis as u32) % side) as i64 } else { 0 })
    }

    fn index(&self, place: Place, level: usize) -> usize {
        let side = self.side(level);
        (0..self.dim).map(|axis| place[axis].rem_euclid(side as i64) as usize * side.pow(axis as u32)).sum()
    }

    fn moved(&self, place: Place, by: &[i32], factor: i64) -> Place {
        std::array::from_fn(|axis| place[axis] + by.get(axis).map_or(0, |c| i64::from(*c) * factor))
    }

    /// The coarse cell around a fine position.
    fn parent(&self, fine: Place) -> Place {
        fine.map(|x| x.div_euclid(2))
    }

    fn is_refined(&self, coarse: Place) -> bool {
        self.refined[self.index(coarse, 0)]
    }

    fn is_fine(&self, fine: Place) -> bool {
        self.is_refined(self.parent(fine))
    }

    /// Fine position of a child of a coarse cell.
    fn child(&self, coarse: Place, child: usize) -> Place {
        std::array::from_fn(|axis| 2 * coarse[axis] + (child >> axis & 1) as i64)
    }

    fn child_number(&self, fine: Place) -> usize {
        (0..self.dim).map(|axis| (fine[axis].rem_euclid(2) as usize) << axis).sum()
    }

    /// Every place within `reach` cells along each axis, diagonals included.
    fn around(&self, place: Place, reach: i64) -> impl Iterator<Item = Place> + use<> {
        let (dim, width) = (self.dim, 2 * reach + 1);
        (0..width.pow(dim as u32)).map(move |at| {
            std::array::from_fn(
                |axis| {
                    if axis < dim { place[axis] + at / width.pow(axis as u32) % width - reach } else { 0 }
                },
            )
        })
    }
}

/// The cells of one level that have populations: `populations[pop * cells + cell]`.
pub struct Cells {
    level: usize,
    /// Their positions.
    places: Vec<Place>,
    number: Vec<Option<usize>>,
    /// How many of them count: they come first. Others are ghosts, or refined cells that hold a mean.
    own: usize,
    /// Their populations.
    pub populations: Vec<f64>,
}

impl Cells {
    fn new(patch: &Patch, level: usize, q: usize, own: impl Fn(Place) -> bool, more: impl Fn(Place) -> bool) -> Self {
        let all: Vec<Place> = (0..patch.side(level).pow(patch.dim as u32)).map(|at| patch.place(at, level)).collect();
        let mut places: Vec<Place> = all.iter().copied().filter(|place| own(*place)).collect();
        let count = places.len();
        places.extend(all.iter().copied().filter(|place| !own(*place) && more(*place)));
        let mut number = vec![None; all.len()];
        for (at, place) in places.iter().enumerate() {
            number[patch.index(*place, level)] = Some(at);
        }
        let populations = vec![0.0; q * places.len()];
        Self { level, places, number, own: count, populations }
    }

    fn find(&self, patch: &Patch, place: Place) -> Option<usize> {
        self.number[patch.index(place, self.level)]
    }

    /// Sets the populations of every cell from its centre, in coarse cells.
    pub fn fill(&mut self, start: impl Fn([f64; 3]) -> Vec<f64>) {
        let width = 0.5f64.powi(self.level as i32);
        for (at, place) in self.places.iter().enumerate() {
            for (pop, value) in start(place.map(|x| (x as f64 + 0.5) * width)).into_iter().enumerate() {
                self.populations[pop * self.places.len() + at] = value;
            }
        }
    }

    /// The centre in coarse cells and the populations of every cell that counts.
    pub fn each(&self) -> impl Iterator<Item = ([f64; 3], Vec<f64>)> {
        self.all(&self.populations).take(self.own)
    }

    /// The same for every cell, with other populations of as many.
    fn all<'a>(&'a self, populations: &'a [f64]) -> impl Iterator<Item = ([f64; 3], Vec<f64>)> + 'a {
        let (width, count) = (0.5f64.powi(self.level as i32), self.places.len());
        (0..count).map(move |at| {
            let populations = populations.iter().skip(at).step_by(count).copied().collect();
            (self.places[at].map(|x| (x as f64 + 0.5) * width), populations)
        })
    }
}

/// Sums of values of one memory, for every population of every cell.
#[derive(Default)]
struct Sums {
    ends: Vec<usize>,
    terms: Vec<(usize, f64)>,
}

impl Sums {
    fn push(&mut self, terms: impl IntoIterator<Item = (usize, f64)>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
    }

    fn of(&self, memory: &[f64]) -> Vec<f64> {
        let mut start = 0;
        let sum = |end: &usize| {
            let terms = &self.terms[std::mem::replace(&mut start, *end)..*end];
            terms.iter().map(|(at, weight)| weight * memory[*at]).sum()
        };
        self.ends.iter().map(sum).collect()
    }
}

/// A kernel that is linear in its inputs, but for the kinds of packets.
struct Linear {
    dag: Dag,
}

impl Linear {
    fn new(kernel: &KernelIr) -> Self {
        Self { dag: simplify(kernel).unwrap_or_else(|error| panic!("{error}")) }
    }

    /// For each output, its inputs with their factors.
    fn factors(&self, kinds: &[u8]) -> Vec<Vec<(Symbol, f64)>> {
        let is_kind = |symbol: &Symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. }));
        let eval = |unit: Option<Symbol>| {
            eval_dag(&self.dag, |symbol| match symbol {
                Symbol::Level(LevelSymbol::Kind { child }) => f64::from(kinds[usize::from(child)]),
                other => f64::from(u8::from(Some(other) == unit)),
            })
        };
        assert!(eval(None).iter().all(|value| *value == 0.0), "`{}` has a constant part", self.dag.name());
        let mut factors = vec![Vec::new(); self.dag.outputs().len()];
        for (symbol, _) in self.dag.symbols().iter().filter(|(symbol, _)| !is_kind(symbol)) {
            for (output, factor) in eval(Some(*symbol)).into_iter().enumerate().filter(|(_, factor)| *factor != 0.0) {
                factors[output].push((*symbol, factor));
            }
        }
        factors
    }
}

/// A stencil: for each set of points, where they are and their factors.
struct Passes {
    sets: Vec<(Vec<i64>, Vec<f64>)>,
    derivative: bool,
}

impl Passes {
    fn all(model: &Model) -> Vec<Self> {
        let stencils = model.stencils().iter().map(|stencil| {
            let set = |set: &PointSet| {
                let weights = set.weights().iter().map(|weight| weight.to_f64().expect("a weight of a few digits"));
                (set.points().to_vec(), weights.collect())
            };
            let derivative = matches!(stencil.target(), Target::Derivative(_));
            Self { sets: stencil.sets().iter().map(set).collect(), derivative }
        });
        stencils.collect()
    }

    /// One pass along an axis at a place, from what `exists` gives for places; towards lower ones if `mirrored`.
    fn along(
        &self,
        axis: usize,
        place: Place,
        mirrored: bool,
        exists: &dyn Fn(Place) -> Option<Vec<(Place, f64)>>,
    ) -> Option<Vec<(Place, f64)>> {
        for (points, factors) in &self.sets {
            let sample = |point: &i64| {
                let mut at = place;
                at[axis] += if mirrored { -point } else { *point };
                exists(at)
            };
            if let Some(samples) = points.iter().map(sample).collect::<Option<Vec<_>>>() {
                let scaled = samples
                    .into_iter()
                    .zip(factors)
                    .flat_map(|(terms, factor)| terms.into_iter().map(move |(place, weight)| (place, weight * factor)));
                return Some(scaled.collect());
            }
        }
        if self.derivative { Some(Vec::new()) } else { exists(place) }
    }

    /// All passes to a child, x first.
    fn child(
        &self,
        axes: usize,
        place: Place,
        child: usize,
        exists: &dyn Fn(Place) -> bool,
    ) -> Option<Vec<(Place, f64)>> {
        if axes == 0 {
            return exists(place).then(|| vec![(place, 1.0)]);
        }
        let axis = axes - 1;
        self.along(axis, place, child >> axis & 1 == 0, &|at| self.child(axis, at, child, exists))
    }
}

/// Values of many cells at once.
#[derive(Clone)]
enum Batch {
    Same(f64),
    Each(Rc<[f64]>),
}

impl Batch {
    fn with(&self, other: &Self, op: impl Fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Batch::Same(a), Batch::Same(b)) => Batch::Same(op(*a, *b)),
            (Batch::Same(a), Batch::Each(b)) => Batch::Each(b.iter().map(|b| op(*a, *b)).collect()),
            (Batch::Each(a), Batch::Same(b)) => Batch::Each(a.iter().map(|a| op(*a, *b)).collect()),
            (Batch::Each(a), Batch::Each(b)) => Batch::Each(a.iter().zip(b.iter()).map(|(a, b)| op(*a, *b)).collect()),
        }
    }

    fn at(&self, cell: usize) -> f64 {
        match self {
            Batch::Same(value) => *value,
            Batch::Each(values) => values[cell],
        }
    }
}

impl Number for Batch {
    fn constant(value: &Rational) -> Self {
        Batch::Same(f64::constant(value))
    }
    fn neg(&self) -> Self {
        self.with(&Batch::Same(0.0), |a, _| -a)
    }
    fn add(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
    fn sub(&self, other: &Self) -> Self {
        self.with(other, |a, b| a - b)
    }
    fn mul(&self, other: &Self) -> Self {
        self.with(other, |a, b| a * b)
    }
    fn div(&self, other: &Self) -> Self {
        self.with(other, |a, b| a / b)
    }
    fn sqrt(&self) -> Self {
        self.with(&Batch::Same(0.0), |a, _| a.sqrt())
    }
    fn call(_: Function, _: &[Self]) -> Self {
        unreachable!("rescaling takes no functions")
    }
    fn select(_: Compare, _: &Self, _: &Self, _: &Self, _: &Self) -> Self {
        unreachable!("rescaling chooses nothing")
    }
}

/// A sum: what is read, and its weight.
type Terms = Vec<(Symbol, f64)>;

/// What happens at the jump. There is one of them, whatever its size.
#[expect(clippy::large_enum_variant)]
enum Jump {
    /// Sums over `[coarse | fine before | fine after the first step]`.
    Packets { first: Sums, coarse: Sums, second: Sums },
    Ghosts {
        /// `fine` and `coarse` of the coupling.
        rescale: [Dag; 2],
        /// Ghosts from rescaled coarse populations.
        fill: Sums,
        /// Streaming: `coarse` and `fine`, sums over their own level.
        stream: [Sums; 2],
        /// Refined cells that hold a mean, from rescaled fine populations.
        average: Sums,
    },
}

/// Two levels in the course of time.
pub struct TwoLevels {
    patch: Patch,
    q: usize,
    /// The coarse level.
    pub coarse: Cells,
    /// The fine level.
    pub fine: Cells,
    jump: Jump,
    collision: Collision,
    omega: [f64; 2],
}

impl TwoLevels {
    /// A method with the parameter `omega` alone and at least one coupling, which is used.
    pub fn new(model: &Model, collision: Collision, patch: Patch, omega: f64) -> Self {
        let coupling = &model.couplings()[0];
        let q = model.q();
        let [finer] = model.exprs().eval(&[coupling.rates()[0].finer], |_| omega)[..] else {
            unreachable!("one value")
        };
        let passes = Passes::all(model);
        let beside = |place: Place, of: bool| patch.around(place, 1).any(|near| patch.is_refined(near) == of);
        let (layers, ghosts) = match coupling.exchange() {
            Exchange::Packets { .. } => (0, false),
            Exchange::Ghosts { layers, .. } => (*layers as i64, true),
        };
        let near_fine = |place: Place| patch.around(place, layers).any(|near| patch.is_fine(near));
        let coarse = Cells::new(&patch, 0, q, |at| !patch.is_refined(at), |at| ghosts && beside(at, false));
        let fine = Cells::new(&patch, 1, q, |at| patch.is_fine(at), |at| ghosts && near_fine(at));
        let jump = if ghosts {
            ghost_jump(model, coupling, &patch, &coarse, &fine, &passes)
        } else {
            packet_jump(model, coupling, &patch, &coarse, &fine, &passes)
        };
        Self { patch, q, coarse, fine, jump, collision, omega: [omega, finer] }
    }

    /// The rates of both levels.
    pub fn omega(&self) -> [f64; 2] {
        self.omega
    }

    /// Whether populations are those before collision.
    pub fn before_collision(&self) -> bool {
        matches!(self.jump, Jump::Ghosts { .. })
    }

    /// Sums of `factor(population)` over all cells that count, weighted with their volumes in fine cells.
    pub fn total(&self, factor: impl Fn(usize) -> f64) -> f64 {
        let volumes = [(1u32 << self.patch.dim) as f64, 1.0];
        let of = |(cells, volume): (&Cells, f64)| {
            let sum =
                |populations: Vec<f64>| populations.iter().enumerate().map(|(pop, f)| factor(pop) * f).sum::<f64>();
            volume * cells.each().map(|(_, populations)| sum(populations)).sum::<f64>()
        };
        [&self.coarse, &self.fine].into_iter().zip(volumes).map(of).sum()
    }

    fn collide(&self, level: usize, populations: &[f64]) -> Vec<f64> {
        self.collision.run(&[("omega".into(), vec![self.omega[level]])], populations)
    }

    /// Of a coupling of ghosts, the centre in coarse cells and the populations after the collision that comes next, of all
    /// cells of both levels: ghosts with what they are given, and refined cells with their means, too.
    pub fn collided(&self) -> [Vec<([f64; 3], Vec<f64>)>; 2] {
        let Jump::Ghosts { rescale, fill, .. } = &self.jump else { panic!("a coupling of ghosts") };
        let fine = self.with_ghosts(&rescale[0], fill);
        let after = [self.collide(0, &self.coarse.populations), self.collide(1, &fine)];
        [(&self.coarse, &after[0]), (&self.fine, &after[1])].map(|(cells, after)| cells.all(after).collect())
    }

    /// The fine populations, those of ghosts as the coarse level gives them.
    fn with_ghosts(&self, rescale: &Dag, fill: &Sums) -> Vec<f64> {
        let sent = rescaled(rescale, self.q, &self.coarse.populations, self.omega[0]);
        let mut populations = self.fine.populations.clone();
        scatter(&mut populations, self.q, self.fine.own, &fill.of(&sent));
        populations
    }

    /// A coarse step and two fine ones.
    pub fn advance(&mut self) {
        let (q, count) = (self.q, self.fine.places.len());
        match &self.jump {
            Jump::Packets { first, coarse, second } => {
                let mut memory = [&self.coarse.populations[..], &self.fine.populations].concat();
                let half = self.collide(1, &first.of(&memory));
                memory.extend(half);
                let after = [self.collide(0, &coarse.of(&memory)), self.collide(1, &second.of(&memory))];
                [self.coarse.populations, self.fine.populations] = after;
            }
            Jump::Ghosts { rescale, fill, stream, average } => {
                let mut populations = self.with_ghosts(&rescale[0], fill);
                for _ in 0..2 {
                    populations = stream[1].of(&self.collide(1, &populations));
                }
                let means = average.of(&rescaled(&rescale[1], q, &populations, self.omega[0]));
                let mut coarse = stream[0].of(&self.collide(0, &self.coarse.populations));
                scatter(&mut coarse, q, self.coarse.own, &means);
                debug_assert_eq!(populations.len(), q * count);
                (self.coarse.populations, self.fine.populations) = (coarse, populations);
            }
        }
    }
}

/// Puts values, population by population, into the cells from `first` on.
fn scatter(populations: &mut [f64], q: usize, first: usize, values: &[f64]) {
    let (cells, count) = (populations.len() / q, values.len() / q);
    for pop in 0..q {
        populations[pop * cells + first..][..count].copy_from_slice(&values[pop * count..][..count]);
    }
}

/// A kernel of one cell on all cells.
fn rescaled(dag: &Dag, q: usize, populations: &[f64], omega: f64) -> Vec<f64> {
    let cells = populations.len() / q;
    let input = |symbol| match symbol {
        Symbol::Population(Pop(pop)) => Batch::Each(populations[usize::from(pop) * cells..][..cells].into()),
        Symbol::Param { .. } => Batch::Same(omega),
        other => unreachable!("{other:?} in a formula of one cell"),
    };
    eval_dag(dag, input).iter().flat_map(|value| (0..cells).map(|cell| value.at(cell))).collect()
}

fn packet_jump(
    model: &Model,
    coupling: &Coupling,
    patch: &Patch,
    coarse: &Cells,
    fine: &Cells,
    passes: &[Passes],
) -> Jump {
    let children = 1usize << patch.dim;
    let velocities: Vec<Vec<i32>> = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).collect();
    let kernels: Vec<Linear> = (0..model.q())
        .map(|pop| Linear::new(&levels::packets_of(model, coupling, pop).expect("a coupling of packets")))
        .collect();
    let mut known: BTreeMap<(usize, Vec<u8>), Vec<Terms>> = BTreeMap::new();
    let slope_exists = |at: Place| (!patch.is_refined(at)).then(|| vec![(at, 1.0)]);

    let [at_coarse, before, after] = [0, coarse.populations.len(), coarse.populations.len() + fine.populations.len()];
    let value = |start: usize, cells: &Cells, pop: usize, place: Place| {
        start + pop * cells.places.len() + cells.find(patch, place).expect("a cell with populations")
    };
    // The packet that started at a fine position in a coarse cell.
    let mut packet = |pop: usize, start: Place| -> Vec<(usize, f64)> {
        let cell = patch.parent(start);
        let kind = |child: usize| {
            let at = patch.child(cell, child);
            let enters = |steps: i64| patch.is_fine(patch.moved(at, &velocities[pop], steps));
            if enters(1) {
                1
            } else if enters(2) {
                2
            } else {
                0
            }
        };
        let kinds: Vec<u8> = (0..children).map(kind).collect();
        let factors = known.entry((pop, kinds)).or_insert_with_key(|(pop, kinds)| kernels[*pop].factors(kinds));
        let of_symbol = |(symbol, factor): &(Symbol, f64)| -> Vec<(usize, f64)> {
            match *symbol {
                Symbol::Population(of) => vec![(value(at_coarse, coarse, of.index(), cell), *factor)],
                Symbol::Level(LevelSymbol::Slope { stencil, axis, pop: of }) => {
                    let slope = passes[usize::from(stencil)].along(usize::from(axis), cell, false, &slope_exists);
                    let terms = slope.expect("a slope is zero where nothing is known").into_iter();
                    terms.map(|(at, weight)| (value(at_coarse, coarse, of.index(), at), weight * factor)).collect()
                }
                other => unreachable!("{other:?} in a packet"),
            }
        };
        factors[patch.child_number(start)].iter().flat_map(of_symbol).collect()
    };

    let (mut first, mut second, mut to_coarse) = (Sums::default(), Sums::default(), Sums::default());
    for (pop, c) in velocities.iter().enumerate() {
        for x in &fine.places {
            let [near, far] = [-1, -2].map(|steps| patch.moved(*x, c, steps));
            match patch.is_fine(near) {
                true => {
                    first.push([(value(before, fine, pop, near), 1.0)]);
                    second.push([(value(after, fine, pop, near), 1.0)]);
                }
                false => {
                    first.push(packet(pop, near));
                    second.push(if patch.is_fine(far) {
                        vec![(value(before, fine, pop, far), 1.0)]
                    } else {
                        packet(pop, far)
                    });
                }
            }
        }
        for cell in &coarse.places {
            let share = 1.0 / children as f64;
            let terms = (0..children).flat_map(|child| {
                let s = patch.child(*cell, child);
                let [near, far] = [-1, -2].map(|steps| patch.moved(s, c, steps));
                let arrives = if patch.is_fine(near) {
                    vec![(value(after, fine, pop, near), 1.0)]
                } else if patch.is_fine(far) {
                    vec![(value(before, fine, pop, far), 1.0)]
                } else {
                    packet(pop, far)
                };
                arrives.into_iter().map(move |(at, weight)| (at, share * weight))
            });
            to_coarse.push(terms.collect::<Vec<_>>());
        }
    }
    Jump::Packets { first, coarse: to_coarse, second }
}

fn ghost_jump(
    model: &Model,
    coupling: &Coupling,
    patch: &Patch,
    coarse: &Cells,
    fine: &Cells,
    passes: &[Passes],
) -> Jump {
    let Exchange::Ghosts { stencil, .. } = coupling.exchange() else { unreachable!("a coupling of ghosts") };
    let rescale =
        levels::rescaled(model, coupling).expect("a coupling of ghosts").map(|kernel| Linear::new(&kernel).dag);
    let velocities: Vec<Vec<i32>> = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).collect();
    let value =
        |cells: &Cells, pop: usize, place: Place| cells.find(patch, place).map(|at| pop * cells.places.len() + at);
    let has_values = |at: Place| coarse.find(patch, at).is_some();
    let children = 1usize << patch.dim;
    let (mut fill, mut average) = (Sums::default(), Sums::default());
    let mut stream = [Sums::default(), Sums::default()];
    let samples = |ghost: &Place| {
        let child = patch.child_number(*ghost);
        let terms = passes[*stencil].child(patch.dim, patch.parent(*ghost), child, &has_values);
        terms.expect("a ghost stands for a coarse cell")
    };
    let samples: Vec<Vec<(Place, f64)>> = fine.places[fine.own..].iter().map(samples).collect();
    for (pop, c) in velocities.iter().enumerate() {
        for terms in &samples {
            let of = |(at, weight): &(Place, f64)| (value(coarse, pop, *at).expect("it has values"), *weight);
            fill.push(terms.iter().map(of));
        }
        for (cells, sums) in [coarse, fine].into_iter().zip(&mut stream) {
            for place in &cells.places {
                // What comes from where nothing is, is never used: a ghost keeps its value.
                let from = value(cells, pop, patch.moved(*place, c, -1)).or(value(cells, pop, *place));
                sums.push(from.map(|at| (at, 1.0)));
            }
        }
        for cell in &coarse.places[coarse.own..] {
            average.push((0..children).map(|child| {
                (value(fine, pop, patch.child(*cell, child)).expect("a refined cell"), 1.0 / children as f64)
            }));
        }
    }
    Jump::Ghosts { rescale, fill, stream, average }
}
