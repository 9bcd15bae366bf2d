//! A lattice Boltzmann method that is known to be valid.
//!
//! In: what `check` accepts. After: indices are expanded, every formula is a node of one [`Exprs`], every name is unique
//! and as written, every output is defined, what `conserved` lists is conserved.
//!
//! Names: a component of `u[a]` is `ux`, `uy`, `uz`; of `pi[a,b]`, `pi_xy`; of `feq[i]`, `feq_7`; of a family over
//! ranges, `m_1_0_2`, a negative index written `n1`.

pub mod levels;

use std::borrow::Cow;
use std::ops::Range;

use crate::diag::Diagnostic;
use crate::expr::{ExprId, Exprs, LevelSymbol, Pop, Rational, Symbol};
use crate::lattice::{Dir, Lattice};
use crate::unit::Unit;

/// Populations that stream along the directions of one velocity set.
#[derive(Clone, Debug)]
pub struct Populations {
    /// Name: `f` for those of `lattice`, else as written.
    pub name: String,
    /// Velocity set.
    pub lattice: Lattice,
    /// Position of its first population among all of the model.
    pub first: usize,
}

impl Populations {
    /// The population of a direction.
    pub fn pop(&self, dir: Dir) -> Pop {
        Pop((self.first + dir.index()) as u16)
    }

    /// Positions among all populations of the model.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.lattice.q()
    }
}

/// A number that each cell has beside its populations, from step to step: the collision reads that of the last step and gives the
/// new one. It streams nowhere and crosses no refinement interface.
#[derive(Clone, Debug)]
pub struct State {
    /// Name as written.
    pub name: String,
    /// Open interval of the values for which its method is looked at, if the spec states one.
    pub range: Option<(Rational, Rational)>,
    /// What it is measured in, if the spec says so.
    pub unit: Option<Unit>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// A value that cells show to those around them: it is stored before any cell collides.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Name of the value, `rho` or `ux`; `shown_2` of one without a name.
    pub name: String,
    /// Its value from the populations before the collision.
    pub value: ExprId,
    /// The same from the populations after a collision, without what forces add in it.
    pub stored: ExprId,
    /// The axis along which it is a component of a vector, if it is one.
    pub axis: Option<usize>,
}

/// What a quantity that the collision conserves is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// The sum of the populations with that position in `Model::populations`.
    Sum(usize),
    /// The momentum of the first populations.
    Momentum,
    /// What the spec names in a `conserve`.
    Stated,
}

/// A quantity that the collision conserves.
#[derive(Clone, Debug)]
pub struct Conserved {
    /// What it is.
    pub law: Law,
    /// How the spec would write it: `phi`, `sum(i in g: g[i])`.
    pub name: String,
    /// Its components in terms of the populations.
    pub components: Vec<ExprId>,
}

/// A named value of a block of formulas.
#[derive(Clone, Debug)]
pub struct Let {
    /// Expanded name: `rho`, `ux`, `feq_7`.
    pub name: String,
    /// Name of the family as written: `rho`, `u`, `feq`.
    pub family: String,
    /// Its value.
    pub value: ExprId,
    /// Line of the spec (or of the file named by `file`) that defines it, from 1.
    pub line: usize,
    /// Name of the source file that defines it, without folder: the spec itself or a prelude file.
    pub file: String,
}

/// A run-time argument.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name as written.
    pub name: String,
    /// Number of components: 1 for a scalar, the dimension for a vector.
    pub components: usize,
    /// Value of each component where none is given, if the spec states one; in the interval.
    pub default: Option<Rational>,
    /// Open interval of allowed values, if the spec states one.
    pub range: Option<(Rational, Rational)>,
    /// What it is measured in, if the spec says so.
    pub unit: Option<Unit>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// A macroscopic field: an output of the `macroscopic` kernel and an input of `init`.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name as written.
    pub name: String,
    /// Its components in terms of the populations: 1 for a scalar, the dimension for a vector.
    pub components: Vec<ExprId>,
    /// Whether it is a number that cells keep as it is given, for a parameter that a case makes vary. There is a state of that name.
    pub place: bool,
}

/// What output can have beside the fields, if it is asked for.
#[derive(Clone, Debug)]
pub struct Observable {
    /// Name as written.
    pub name: String,
    /// Names of its components: `nu`; `qx`, `qy`; `tau_xx`, `tau_xy`, `tau_yy`.
    pub names: Vec<String>,
    /// What it is measured in, if the spec says so.
    pub unit: Option<Unit>,
    /// Its components in terms of the populations: 1 for a scalar, the dimension for a vector, those of a symmetric tensor once each.
    pub components: Vec<ExprId>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// Formulas with their named intermediate values.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    /// Named values in the order written; only those that the outputs need.
    pub lets: Vec<Let>,
    /// One value per output.
    pub outputs: Vec<ExprId>,
}

/// A boundary rule: what the populations are that no cell sends.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// Name, for example `bounce_back`.
    pub name: String,
    /// Its own parameters, set for each wall.
    pub params: Vec<Param>,
    /// What it does.
    pub rule: Rule,
    /// Of each value that cells show, what a cell beyond the wall has of it: from `Population`, which stands for what the image of that cell at the
    /// wall has, and `WallParam`.
    pub beyond: Vec<ExprId>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// The two kinds of boundary rules. In a step, links come first: where a wall of nodes meets one of links, what comes off
/// the links has arrived.
#[derive(Clone, Debug)]
pub enum Rule {
    /// `links[p]`: the population `p` that enters, for each link on its own. Symbols are `Population`, `Mirrored(p)` and
    /// `WallParam`.
    Link(Vec<ExprId>),
    /// A whole cell at once, on the first populations, which are the only ones: a form for one wall behind the cell, one for two at an edge, and so on, in that order. Symbols
    /// are `Population`, `Streamed`, `Inside`, `Deep` and `WallParam`.
    Node(Vec<NodeForm>),
}

/// A node rule in the frame of the walls that meet at a cell: their inward normals are the first axes.
#[derive(Clone, Debug)]
pub struct NodeForm {
    /// How many walls meet: the sum of their inward normals has that many ones in front, then zeros.
    pub normals: usize,
    /// The directions whose populations it gives, ascending: all that are unknown, and maybe others.
    pub dirs: Vec<Dir>,
    /// Their values, in the order of `dirs`.
    pub formulas: Formulas,
}

impl NodeForm {
    /// Whether the population of a velocity has arrived where `normals` walls meet: it enters through none of them.
    pub fn known(velocity: &[i32], normals: usize) -> bool {
        velocity[..normals].iter().all(|c| *c <= 0)
    }

    /// What it is called in `dim` dimensions: `face`, `edge` or `corner`.
    pub fn name(&self, dim: usize) -> &'static str {
        match self.normals {
            1 => "face",
            all if all == dim => "corner",
            _ => "edge",
        }
    }
}

/// What a grid may follow while it changes.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Name, for example `vorticity`.
    pub name: String,
    /// Its value in cells and steps of level 0, from components of the fields and their derivatives along the axes.
    pub formula: ExprId,
    /// Its unit.
    pub unit: Unit,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// What a collision reads of the cells around.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    /// Each value that a cell shows to others, from its populations.
    pub shown: Vec<ExprId>,
    /// Populations after the collision, from those before it and `Neighbour`.
    pub collide: Vec<ExprId>,
    /// Of each boundary rule what a cell beyond the wall has of each value: from `Neighbour`, which stands for what the image of that cell has, and
    /// `WallParam`.
    pub beyond: Vec<Vec<ExprId>>,
    /// Of each shown value the axis along which it is a component of a vector, if it is one.
    pub axes: Vec<Option<usize>>,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) summary: Vec<String>,
    pub(crate) populations: Vec<Populations>,
    pub(crate) states: Vec<State>,
    pub(crate) shown: Vec<Shown>,
    /// How many of the states the spec does not name.
    pub(crate) hidden: usize,
    /// Of a method that reads values of the cells around, where it stands for that among cells that are all like the one at hand: what it reads.
    pub(crate) around: Option<Around>,
    pub(crate) params: Vec<Param>,
    pub(crate) fields: Vec<Field>,
    pub(crate) conserved: Vec<Conserved>,
    /// Vectors that the spec names at its top, which may be forces.
    pub(crate) vectors: Vec<Field>,
    pub(crate) exprs: Exprs,
    pub(crate) macroscopic: Formulas,
    pub(crate) observables: Vec<Observable>,
    pub(crate) observed: Formulas,
    pub(crate) asked: usize,
    pub(crate) init: Formulas,
    pub(crate) collide: Formulas,
    /// Of each population what an absorbing layer makes of it before a collision; none without a layer.
    pub(crate) absorbed: Vec<ExprId>,
    pub(crate) sampled: Formulas,
    pub(crate) started: Formulas,
    pub(crate) boundaries: Vec<Boundary>,
    pub(crate) stencils: Vec<levels::Stencil>,
    pub(crate) couplings: Vec<levels::Coupling>,
    pub(crate) criteria: Vec<Criterion>,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Model {
    /// Name: the stem of the spec's file, for example `d3q27_kbc`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The comment that opens the spec, a line each, without `//`.
    pub fn summary(&self) -> &[String] {
        &self.summary
    }
    /// The sets of populations, at least one; those of `lattice` come first.
    pub fn populations(&self) -> &[Populations] {
        &self.populations
    }
    /// Velocity set of the first populations.
    pub fn lattice(&self) -> &Lattice {
        &self.populations[0].lattice
    }
    /// States: what cells have behind their populations. They are counted on from these, as a [`Pop`] each.
    pub fn states(&self) -> &[State] {
        &self.states
    }
    /// Values that cells show to those around them. Each is a state as well, of the position of [`Model::row`].
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }
    /// Where a cell has the shown value of that position.
    pub fn row(&self, shown: usize) -> Pop {
        Pop((self.q() - self.hidden + shown) as u16)
    }
    /// Whether it is one among cells that are all like the one at hand, where a method reads values of the cells around: what it has of these are
    /// its own.
    pub fn is_among_alike(&self) -> bool {
        self.around.is_some()
    }
    /// How many states the spec does not name: the last ones. They are the shown values, then what is kept because it depends on the cells around.
    pub fn hidden(&self) -> usize {
        self.hidden
    }
    /// What a collision reads of the cells around: the position of the shown value, and the direction, in ascending order.
    pub fn seen(&self) -> Vec<(usize, Dir)> {
        let seen = self.exprs.symbols(&self.collide.outputs).filter_map(|symbol| match symbol {
            Symbol::Neighbour { shown, dir } => Some((usize::from(shown), dir)),
            _ => None,
        });
        seen.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }
    /// Number of populations of all sets.
    pub fn moving(&self) -> usize {
        self.populations.iter().map(|set| set.lattice.q()).sum()
    }
    /// Number of values of a cell: populations of all sets, and states.
    pub fn q(&self) -> usize {
        self.moving() + self.states.len()
    }
    /// Every value of a cell in order: populations, then states.
    pub fn values(&self) -> impl Iterator<Item = Pop> + use<> {
        (0..self.q() as u16).map(Pop)
    }
    /// Every population in order, with its set and its direction there.
    pub fn pops(&self) -> impl Iterator<Item = (Pop, &Populations, Dir)> {
        self.populations.iter().flat_map(|set| set.lattice.dirs().map(move |dir| (set.pop(dir), set, dir)))
    }
    /// The weight of every population.
    pub fn weights(&self) -> Vec<Rational> {
        self.pops().map(|(_, set, dir)| set.lattice.weight(dir).clone()).collect()
    }
    /// The name of every population: `f_7`, `g_0`.
    pub fn pop_names(&self) -> Vec<String> {
        self.pops().map(|(_, set, dir)| format!("{}_{}", set.name, dir.index())).collect()
    }
    /// What the collision conserves.
    pub fn conserved(&self) -> &[Conserved] {
        &self.conserved
    }
    /// Run-time arguments.
    pub fn params(&self) -> &[Param] {
        &self.params
    }
    /// Macroscopic fields.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
    /// The graph that all formulas live in.
    pub fn exprs(&self) -> &Exprs {
        &self.exprs
    }
    /// Fields from populations: an output per component, in the order of `fields`.
    pub fn macroscopic(&self) -> &Formulas {
        &self.macroscopic
    }
    /// Populations from fields (symbols are `Field` and `Param`): an output per population.
    pub fn init(&self) -> &Formulas {
        &self.init
    }
    /// What output can have beside the fields.
    pub fn observables(&self) -> &[Observable] {
        &self.observables
    }
    /// The same method with those of its observables among what `sampled` gives, behind the fields, of which the name or one of the
    /// names of its components is among `asked`. They are there in cells and steps of the coarsest level.
    pub fn observing(&self, asked: &[&str]) -> Model {
        let mut model = self.clone();
        let is_asked = |found: &Observable| {
            asked.contains(&&*found.name) || found.names.iter().any(|name| asked.contains(&&**name))
        };
        let mut values = self.observed.outputs.iter();
        model.observables.clear();
        for found in &self.observables {
            let own: Vec<ExprId> = values.by_ref().take(found.components.len()).copied().collect();
            if !is_asked(found) {
                continue;
            }
            let finer = found.unit.map_or(0, |unit| unit.length + unit.time);
            let width = model.exprs.symbol(Symbol::Level(LevelSymbol::Width));
            for value in own {
                let scaled = (0..finer.abs()).fold(value, |value, _| match finer > 0 {
                    true => model.exprs.times(value, width),
                    false => model.exprs.over(value, width),
                });
                model.sampled.outputs.push(scaled);
            }
            model.observables.push(found.clone());
        }
        for item in &self.observed.lets {
            if !model.sampled.lets.iter().any(|known| known.name == item.name) {
                model.sampled.lets.push(item.clone());
            }
        }
        model.asked = model.observables.len();
        model
    }
    /// The observables among what `sampled` gives.
    pub fn asked(&self) -> &[Observable] {
        &self.observables[..self.asked]
    }
    /// Fields as `macroscopic` has them, from populations after the collision.
    pub fn sampled(&self) -> &Formulas {
        &self.sampled
    }
    /// Populations after the collision of those that `init` gives.
    pub fn started(&self) -> &Formulas {
        &self.started
    }
    /// The same method with parameters in the place of states: what is proved of it holds whatever they are. Behind the parameters of
    /// the method it has one for each state.
    ///
    /// Where a collision reads values of the cells around, these are those of the cell itself: what is proved is of uniform flows.
    pub fn frozen(&self) -> Cow<'_, Model> {
        if !self.shown.is_empty() {
            return Cow::Owned(self.alone().frozen().into_owned());
        }
        if self.states.is_empty() {
            return Cow::Borrowed(self);
        }
        let (moving, first) = (self.moving(), self.params.len());
        let mut model = self.clone();
        let default = || (Rational::from_integer(0.into()), Rational::from_integer(1.into()));
        model.params.extend(std::mem::take(&mut model.states).into_iter().map(|state| Param {
            name: state.name,
            components: 1,
            default: None,
            range: Some(state.range.unwrap_or_else(default)),
            unit: state.unit,
            doc: state.doc,
        }));
        for formulas in [&mut model.init, &mut model.collide, &mut model.started] {
            formulas.outputs.truncate(moving);
        }
        model.around.iter_mut().for_each(|around| around.collide.truncate(moving));
        for boundary in &mut model.boundaries {
            if let Rule::Link(links) = &mut boundary.rule {
                links.truncate(moving);
            }
        }
        model.couplings.iter_mut().for_each(|coupling| coupling.truncate(moving, 1 << self.lattice().dim()));
        let placed = |field: u16| {
            let field = self.fields.get(usize::from(field)).filter(|field| field.place)?;
            self.states.iter().position(|state| state.name == field.name)
        };
        let mut to = Exprs::new();
        let mut roots = model.roots_mut();
        let old: Vec<ExprId> = roots.iter().map(|root| **root).collect();
        let new = self.exprs.substitute(&old, &mut to, |to, symbol| {
            let state = match symbol {
                Symbol::Population(pop) => pop.index().checked_sub(moving),
                Symbol::Field { field, .. } => placed(field),
                _ => None,
            };
            state.map(|state| to.symbol(Symbol::Param { param: (first + state) as u16, component: 0 }))
        });
        roots.iter_mut().for_each(|root| **root = new[**root]);
        model.exprs = to;
        Cow::Owned(model)
    }
    /// The same method with its states, for what is found of small disturbances, of which those of the states are a part. Where a collision reads values of
    /// the cells around, the model says of which.
    pub fn with_states(&self) -> Cow<'_, Model> {
        if self.shown.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.alone()) }
    }
    /// The same method among cells that all have what the cell at hand has. It has no states but those that the spec names.
    fn alone(&self) -> Model {
        let mut model = self.clone();
        let own = self.q() - self.hidden;
        let beyond = self.boundaries.iter().map(|boundary| {
            let new = self.exprs.substitute(&boundary.beyond, &mut model.exprs, |to, symbol| match symbol {
                Symbol::Population(pop) => {
                    let shown = pop.index().checked_sub(own)? as u16;
                    Some(to.symbol(Symbol::Neighbour { shown, dir: Dir(0) }))
                }
                _ => None,
            });
            boundary.beyond.iter().map(|value| new[*value]).collect()
        });
        let beyond = beyond.collect();
        model.truncate(own);
        // What is kept is what the collision gives, from values of the cells around; these are from populations.
        model.replace(|symbol| match symbol {
            Symbol::Population(pop) => self.collide.outputs.get(pop.index()).filter(|_| pop.index() >= own).copied(),
            _ => None,
        });
        let axes = model.shown.iter().map(|shown| shown.axis).collect();
        let shown: Vec<ExprId> = std::mem::take(&mut model.shown).into_iter().map(|shown| shown.value).collect();
        let around = Around { axes, shown: shown.clone(), collide: model.collide.outputs.clone(), beyond };
        model.replace(|symbol| match symbol {
            Symbol::Neighbour { shown: at, .. } => Some(shown[usize::from(at)]),
            _ => None,
        });
        model.around = Some(around);
        model
    }
    /// The same method with parameters in the place of what its collision reads of the cells around, whatever that is: behind its own, one for each
    /// of [`Model::seen`]. Fields are those of a cell among others that are like it.
    pub(crate) fn among_others(&self) -> Cow<'_, Model> {
        let seen = self.seen();
        self.among(&seen, |shown, dir| seen.iter().position(|one| *one == (shown, dir)))
    }
    /// The same, where all cells around show the same: one parameter for each shown value.
    pub(crate) fn among_alike(&self) -> Cow<'_, Model> {
        let shown: Vec<usize> = (0..self.shown.len()).collect();
        self.among(&shown, |shown, _| Some(shown))
    }
    /// With so many parameters, of which `place` says which one stands for a shown value in a direction.
    fn among<T>(&self, each: &[T], place: impl Fn(usize, Dir) -> Option<usize>) -> Cow<'_, Model> {
        if self.shown.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut model = Model { around: None, ..self.alone() };
        let first = self.params.len();
        model.params.extend((0..each.len()).map(|at| Param {
            name: format!("around_{at}"),
            components: 1,
            default: None,
            range: Some((Rational::new(1.into(), 2.into()), Rational::from_integer(1.into()))),
            unit: None,
            doc: String::new(),
        }));
        let of_cell = model.q();
        let mut roots: Vec<ExprId> = self.collide.outputs[..of_cell].to_vec();
        roots.extend(self.vectors.iter().flat_map(|vector| &vector.components));
        let new = self.exprs.substitute(&roots, &mut model.exprs, |to, symbol| match symbol {
            // A vector that no collision reads may read more.
            Symbol::Neighbour { shown, dir } => Some(match place(usize::from(shown), dir) {
                Some(at) => to.symbol(Symbol::Param { param: (first + at) as u16, component: 0 }),
                None => to.int(0),
            }),
            _ => None,
        });
        let outputs = roots[..of_cell].iter().map(|root| new[*root]).collect();
        model.collide = Formulas { lets: Vec::new(), outputs };
        let mut components = roots[of_cell..].iter();
        for vector in &mut model.vectors {
            vector.components = components.by_ref().take(vector.components.len()).map(|root| new[*root]).collect();
        }
        Cow::Owned(model)
    }
    /// Leaves out the values of a cell from that position on.
    fn truncate(&mut self, values: usize) {
        self.states.truncate(values - self.moving());
        self.hidden = 0;
        for formulas in [&mut self.init, &mut self.collide, &mut self.started] {
            formulas.outputs.truncate(values);
        }
        let children = 1 << self.lattice().dim();
        self.couplings.iter_mut().for_each(|coupling| coupling.truncate(values, children));
        for boundary in &mut self.boundaries {
            boundary.beyond.clear();
            if let Rule::Link(links) = &mut boundary.rule {
                links.truncate(values);
            }
        }
    }
    /// Puts nodes of the graph in the place of symbols.
    fn replace(&mut self, value: impl Fn(Symbol) -> Option<ExprId>) {
        let exprs = self.exprs.clone();
        let mut to = exprs.clone();
        let mut roots = self.roots_mut();
        let old: Vec<ExprId> = roots.iter().map(|root| **root).collect();
        let new = exprs.substitute(&old, &mut to, |_, symbol| value(symbol));
        roots.iter_mut().for_each(|root| **root = new[**root]);
        self.exprs = to;
    }
    /// Every expression that it refers to.
    pub(crate) fn roots_mut(&mut self) -> Vec<&mut ExprId> {
        let mut roots: Vec<&mut ExprId> = self.fields.iter_mut().flat_map(|field| &mut field.components).collect();
        roots.extend(self.vectors.iter_mut().flat_map(|vector| &mut vector.components));
        roots.extend(self.observables.iter_mut().flat_map(|observable| &mut observable.components));
        roots.extend(self.conserved.iter_mut().flat_map(|quantity| &mut quantity.components));
        let mut blocks =
            vec![&mut self.macroscopic, &mut self.observed, &mut self.init, &mut self.collide, &mut self.sampled];
        blocks.push(&mut self.started);
        roots.extend(self.shown.iter_mut().flat_map(|shown| [&mut shown.value, &mut shown.stored]));
        let around = self.around.iter_mut();
        roots.extend(
            around.flat_map(|of| of.shown.iter_mut().chain(&mut of.collide).chain(of.beyond.iter_mut().flatten())),
        );
        for boundary in &mut self.boundaries {
            roots.extend(&mut boundary.beyond);
            match &mut boundary.rule {
                Rule::Link(links) => roots.extend(links),
                Rule::Node(forms) => blocks.extend(forms.iter_mut().map(|form| &mut form.formulas)),
            }
        }
        for formulas in blocks {
            roots.extend(&mut formulas.outputs);
            roots.extend(formulas.lets.iter_mut().map(|item| &mut item.value));
        }
        roots.extend(self.couplings.iter_mut().flat_map(levels::Coupling::roots_mut));
        roots.extend(&mut self.absorbed);
        roots.extend(self.criteria.iter_mut().map(|criterion| &mut criterion.formula));
        roots
    }
    /// Post-collision populations from populations: an output per population.
    pub fn collide(&self) -> &Formulas {
        &self.collide
    }
    /// What kernels compute in a collision, in a graph that begins with that of the model: it acts on what an absorbing layer makes of the
    /// populations. What is proved of the method is of [`Model::collide`].
    pub fn acting(&self) -> (Cow<'_, Exprs>, Cow<'_, Formulas>) {
        if self.absorbed.is_empty() {
            return (Cow::Borrowed(&self.exprs), Cow::Borrowed(&self.collide));
        }
        let (mut exprs, mut collide) = (self.exprs.clone(), self.collide.clone());
        let mut roots: Vec<&mut ExprId> = collide.outputs.iter_mut().collect();
        roots.extend(collide.lets.iter_mut().map(|item| &mut item.value));
        let old: Vec<ExprId> = roots.iter().map(|root| **root).collect();
        let new = self.exprs.substitute(&old, &mut exprs, |_, symbol| match symbol {
            Symbol::Population(pop) => self.absorbed.get(pop.index()).copied(),
            _ => None,
        });
        roots.into_iter().for_each(|root| *root = new[*root]);
        (Cow::Owned(exprs), Cow::Owned(collide))
    }
    /// Boundary rules.
    pub fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }
    /// Interpolation stencils: those that the spec chooses, then those that its couplings use.
    pub fn stencils(&self) -> &[levels::Stencil] {
        &self.stencils
    }
    /// Couplings of levels.
    pub fn couplings(&self) -> &[levels::Coupling] {
        &self.couplings
    }
    /// What a grid may follow.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }
    /// What is remarkable about its text, though it is valid.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}
