//! Laws of couplings, and what is known of the stencils and couplings of a model.
//!
//! What a coupling conserves and leaves alone is tried like the laws of a collision: on random exact states.

use num_traits::{ToPrimitive, Zero};

use crate::diag::Code;
use crate::expr::{ExprId, LevelSymbol, Pop, Rational, Symbol};
use crate::model::levels::{Coupling, Exchange, PointSet, Stencil, Target, Transfer};
use crate::model::{Field, Formulas, Law, Model, Param, Populations};
use crate::prove::known::Known;
use crate::prove::laws::STATES;
use crate::prove::moments;
use crate::prove::random::Random;
use crate::prove::viscosity::{self, Carried, Transport};

/// Largest relative difference of two viscosities that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// A law that a coupling breaks.
pub struct Violation {
    /// Which law.
    pub code: Code,
    /// What is wrong.
    pub label: String,
    /// What to do.
    pub hint: String,
}

/// How what some populations carry spreads, and the moment that does it: both must be the same fluid's on both levels.
struct Spread<'m> {
    set: &'m Populations,
    transport: Transport,
    /// What the coefficient is called: `viscosity`.
    coefficient: String,
    /// What the moment is called: `shear stress`.
    moment: String,
    /// The factor of a velocity in the moment.
    factor: fn(&[i32]) -> i32,
}

/// Of a model; `among`: the same, if its collision reads values of the cells around, on which a viscosity depends.
fn spreads<'m>(model: &'m Model, among: Option<&Model>) -> Vec<Spread<'m>> {
    let of = |set: &'m Populations| match viscosity::carried(model, set) {
        Carried::Momentum(transport) => Spread {
            set,
            transport: among.filter(|_| set.first == 0).map_or(transport, viscosity::viscosity_among),
            coefficient: if set.first == 0 { "viscosity".into() } else { format!("viscosity of `{}`", set.name) },
            moment: if set.first == 0 { "shear stress".into() } else { format!("shear stress of `{}`", set.name) },
            factor: viscosity::shear,
        },
        Carried::Scalar(transport) => Spread {
            set,
            transport,
            coefficient: format!("diffusivity of the scalar of `{}`", set.name),
            moment: format!("flux of the scalar of `{}`", set.name),
            factor: viscosity::flux,
        },
    };
    model.populations().iter().map(of).collect()
}

/// What was tried on a coupling, and what failed.
#[derive(Default)]
pub struct Trial {
    /// The laws broken, each once.
    pub violations: Vec<Violation>,
    /// What holds, a sentence each.
    pub lines: Vec<String>,
}

/// A line for each set of points of each stencil, then some for each coupling.
pub fn lines(model: &Model) -> Vec<String> {
    let stencils = model.stencils().iter().flat_map(|stencil| stencil.sets().iter().map(|set| line(stencil, set)));
    let looks_across = !model.shown().is_empty() && !model.couplings().is_empty();
    let across = looks_across.then(|| {
        "what is read of cells of another level is that of a plane through a coarser cell, or the mean of finer cells: exact where it is linear \
         in space, of first order in time"
            .to_string()
    });
    stencils.chain(try_all(model).into_iter().flat_map(|trial| trial.lines)).chain(across).collect()
}

fn line(stencil: &Stencil, set: &PointSet) -> String {
    let what = stencil.target();
    let through = match set.degree() {
        0 => "constants".into(),
        1 => "x".into(),
        degree => format!("x^{degree}"),
    };
    let keeps = match stencil.target() {
        Target::Mean(..) => ", both children together have the mean of their parent",
        _ => "",
    };
    format!(
        "stencil {}: {what} from {}, weights {}: exact through {through}{keeps}; sum of |weights| {}",
        stencil.name(),
        set.points().iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
        set.weights().iter().map(Rational::to_string).collect::<Vec<_>>().join(", "),
        set.lebesgue()
    )
}

/// Tries every law on every coupling of a model, for any value of its states. Viscosities are those in a flow; all else is of uniform flows, if its
/// collision reads values of the cells around.
pub fn try_all(model: &Model) -> Vec<Trial> {
    if model.couplings().is_empty() {
        return Vec::new();
    }
    let shown: Vec<ExprId> = model.shown().iter().map(|shown| shown.value).collect();
    let conserved: Vec<ExprId> = model.conserved().iter().flat_map(|law| law.components.clone()).collect();
    let shows_changes = !moments::depend_on_no_more(model, &shown, &conserved);
    let alike = model.among_alike();
    let alike = &*alike.frozen();
    let spreads = spreads(alike, (!model.shown().is_empty()).then_some(model));
    let model = &*model.frozen();
    let tried = model.couplings().iter().map(|coupling| {
        let mut trial = try_coupling(model, &spreads, coupling);
        trial.violations.extend(shows_changes.then(shows_what_changes));
        trial
    });
    tried.collect()
}

/// Behind an interface shown values are computed from populations between two collisions, so they are made of what collisions conserve.
fn shows_what_changes() -> Violation {
    Violation {
        code: Code::Neighbour,
        label: "the method reads values of the cells around one that its collision changes, and those of another level are known as they are \
                before it or after it"
            .into(),
        hint: "read values that are made of what the collision conserves, as the density and the velocity are; or run it on one level: a case \
               without `[refinement]`"
            .into(),
    }
}

fn try_coupling(model: &Model, spreads: &[Spread], coupling: &Coupling) -> Trial {
    let mut trial = Trial::default();
    let name = coupling.name();
    spreads.iter().for_each(|spread| same_coefficient(model, spread, coupling, &mut trial));
    match coupling.exchange() {
        Exchange::Packets { values } => {
            conserved(model, values, &PACKETS, &mut trial);
            let order = match followed(model, values) {
                Some(Followed::SpaceAndTime) => {
                    "across a flat interface packets reproduce exactly a field that is linear in space and, by Euler's equations of \
                     a fluid near rest, in time: second order"
                }
                Some(Followed::Space) => {
                    "across a flat interface packets reproduce a field that is linear in space exactly, not its change in time: \
                     second order"
                }
                None => "packets do not reproduce a linear field: first order",
            };
            trial.lines.push(order.into());
        }
        Exchange::Ghosts { layers, stencil, fine, coarse } => {
            let lattices = model.populations().iter().map(|set| &set.lattice);
            let reach = lattices.flat_map(|lattice| lattice.dirs().flat_map(|dir| lattice.velocity(dir)));
            let reach = reach.map(|c| c.unsigned_abs() as usize).max().unwrap_or(0);
            if *layers < 2 * reach {
                trial.violations.push(Violation {
                    code: Code::GhostLayers,
                    label: format!("{layers} layers of ghosts, of which two fine steps invalidate {}", 2 * reach),
                    hint: "a fine step invalidates as many layers as its fastest population crosses".into(),
                });
            }
            ghosts(model, fine, coarse, &mut trial);
            spreads.iter().for_each(|spread| same_moment(model, spread, coupling, fine, &mut trial));
            trial.lines.push(overlap(&model.stencils()[*stencil]));
            trial.lines.push(format!(
                "does not conserve {}: in a coarse step, the populations that ghosts send across the interface differ \
                 from those of the covered coarse cells by the error of the interpolation",
                joined_quantities(model)
            ));
        }
    }
    let Transfer { refine, coarsen } = coupling.transfer();
    conserved(model, &refine.outputs, &CHILDREN, &mut trial);
    conserved(model, &coarsen.outputs, &PARENT, &mut trial);
    trial.lines.iter_mut().for_each(|line| *line = format!("coupling {name}: {line}"));
    trial
}

/// Where ghosts and means overlap, the two levels must have the same flow: children that the stencil fills must have the
/// mean of their cell. A difference of second order over an overlap of one cell is a stress of first order.
fn overlap(stencil: &Stencil) -> String {
    let set = &stencil.sets()[0];
    let squares = set.points().iter().zip(set.weights());
    let square: Rational = squares.map(|(point, weight)| weight * Rational::from_integer((point * point).into())).sum();
    let exact = format!("ghosts are exact for polynomials through degree {} along each axis", set.degree());
    match stencil.target() {
        Target::Value(_) if !square.is_zero() => {
            format!(
                "{exact}, but their mean over a cell is the cell's for straight lines only (x^2 gives {square}): first order"
            )
        }
        _ => format!("{exact}, and their mean over a cell is the cell's: second order"),
    }
}

/// Values for the symbols of a coupling.
#[derive(Clone)]
struct State {
    populations: Vec<Rational>,
    params: Vec<Vec<Rational>>,
    kinds: Vec<Rational>,
    slopes: Vec<Rational>,
    /// Number of the child at hand.
    child: usize,
}

impl State {
    fn random(model: &Model, random: &mut Random) -> Self {
        let whole = |value: i64| Rational::from_integer(value.into());
        let (children, dim) = (1 << model.lattice().dim(), model.lattice().dim());
        Self {
            populations: random.populations(model),
            params: random.params(&model.params),
            kinds: (0..children).map(|_| whole(random.whole(0, 2))).collect(),
            slopes: (0..model.q() * dim).map(|_| Rational::new(random.whole(-8, 8).into(), 64.into())).collect(),
            child: 0,
        }
    }

    /// Values of expressions; none where one is irrational, or too long.
    fn eval(&self, model: &Model, roots: &[ExprId]) -> Option<Vec<Rational>> {
        let dim = model.lattice().dim();
        let symbol = |symbol| -> Option<Rational> {
            match symbol {
                Symbol::Population(pop) => self.populations.get(pop.index()).cloned(),
                Symbol::Param { param, component } => {
                    self.params.get(usize::from(param))?.get(usize::from(component)).cloned()
                }
                Symbol::Level(LevelSymbol::Kind { child }) => self.kinds.get(usize::from(child)).cloned(),
                Symbol::Level(LevelSymbol::Position { axis }) => {
                    Some(Rational::new(if self.child >> axis & 1 == 1 { 1 } else { -1 }.into(), 4.into()))
                }
                Symbol::Level(LevelSymbol::Slope { axis, pop, .. }) => {
                    self.slopes.get(pop.index() * dim + usize::from(axis)).cloned()
                }
                _ => None,
            }
        };
        exact(model, roots, symbol)
    }

    /// Conserved quantities of some populations, with the same parameters.
    fn conserved(&self, model: &Model, populations: Vec<Rational>) -> Option<Vec<Rational>> {
        let state = State { populations, params: self.params.clone(), kinds: Vec::new(), slopes: Vec::new(), child: 0 };
        let roots: Vec<ExprId> = model.conserved().iter().flat_map(|law| law.components.clone()).collect();
        state.eval(model, &roots)
    }

    /// The equilibrium with the fields of these populations, and no slopes.
    fn equilibrium(&self, model: &Model) -> Option<Self> {
        let fields = self.eval(model, &model.macroscopic().outputs)?;
        self.with_fields(model, &fields)
    }

    /// The state at rest with these parameters: every scalar field is 1, every vector 0.
    fn rest(&self, model: &Model) -> Option<Self> {
        let value = |count: usize| Rational::from_integer(i32::from(count == 1).into());
        let of = |field: &Field| vec![value(field.components.len()); field.components.len()];
        self.with_fields(model, &model.fields().iter().flat_map(of).collect::<Vec<_>>())
    }

    /// The equilibrium with these components of the fields, and no slopes.
    fn with_fields(&self, model: &Model, fields: &[Rational]) -> Option<Self> {
        let mut first = vec![0];
        for field in model.fields() {
            first.push(first[first.len() - 1] + field.components.len());
        }
        let symbol = |symbol| -> Option<Rational> {
            match symbol {
                Symbol::Field { field, component } => {
                    fields.get(first[usize::from(field)] + usize::from(component)).cloned()
                }
                Symbol::Param { param, component } => {
                    self.params.get(usize::from(param))?.get(usize::from(component)).cloned()
                }
                _ => None,
            }
        };
        Some(Self {
            populations: exact(model, &model.init().outputs, symbol)?,
            params: self.params.clone(),
            kinds: self.kinds.clone(),
            slopes: vec![Rational::zero(); self.slopes.len()],
            child: 0,
        })
    }
}

/// Values of expressions, if all are known and short.
fn exact(model: &Model, roots: &[ExprId], symbol: impl Fn(Symbol) -> Option<Rational>) -> Option<Vec<Rational>> {
    let known = |given: Symbol| symbol(given).map_or(Known::Undefined, Known::Value);
    let values = model.exprs().eval::<Known>(roots, known).into_iter();
    values.map(|value| if let Known::Value(value) = value { Some(value) } else { None }).collect()
}

/// How a conserved quantity is called.
fn quantities(model: &Model) -> Vec<String> {
    let name = |law: &crate::model::Conserved| match law.law {
        Law::Sum(0) => "mass".into(),
        Law::Momentum => "momentum".into(),
        Law::Sum(_) | Law::Stated => law.name.clone(),
    };
    model.conserved().iter().flat_map(|law| law.components.iter().map(move |_| name(law))).collect()
}

/// The conserved quantities in a row: `mass and momentum`.
fn joined_quantities(model: &Model) -> String {
    let mut names = quantities(model);
    names.dedup();
    names.join(" and ")
}

fn show(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() < 10 { text } else { format!("{:.6}", value.to_f64().unwrap_or(f64::NAN)) }
}

const UNKNOWN: &str = "is not known on exact states: irrational numbers occur, or long ones";
const LEAVES_ALONE: &str = "a uniform flow at equilibrium must pass unchanged";

/// How many values there are of each population.
enum Number {
    /// One for each child position, one after the other.
    Each,
    /// One that holds for all child positions.
    Any,
    /// One.
    One,
}

/// Populations that are made of those of a cell.
struct Made {
    /// In a sentence, with their verb.
    are: &'static str,
    /// In a sentence, one of them.
    one: &'static str,
    /// Of whom they have what is conserved.
    whose: &'static str,
    /// Which they are.
    number: Number,
    /// What to do where they do not conserve.
    hint: &'static str,
}

const PACKETS: Made = Made {
    are: "the packets of a cell have",
    one: "a packet has",
    whose: "its",
    number: Number::Each,
    hint: "what is added to one packet must be taken from others: subtract the `mean(...)` over them",
};

const CHILDREN: Made = Made {
    are: "the children of a refined cell have",
    one: "a child of a refined cell has",
    whose: "its",
    number: Number::Any,
    hint: "what `refine` adds to one child must be taken from others: subtract the `mean(...)` over them",
};

const PARENT: Made = Made {
    are: "a cell that takes the place of its children has",
    one: "a cell that takes the place of its children has",
    whose: "their",
    number: Number::One,
    hint: "what `coarsen` adds to one population must be taken from others",
};

/// What is made of the populations of a cell adds up to them, and is the same where the flow is uniform.
fn conserved(model: &Model, values: &[ExprId], made: &Made, trial: &mut Trial) {
    let mut random = Random::new();
    let children = 1usize << model.lattice().dim();
    let each = if matches!(made.number, Number::One) { 1 } else { children };
    let eval = |state: &State| match made.number {
        Number::Any => {
            let of = |child| State { child, ..state.clone() }.eval(model, values);
            let found = (0..children).map(of).collect::<Option<Vec<_>>>()?;
            Some((0..values.len()).flat_map(|pop| found.iter().map(move |child| child[pop].clone())).collect())
        }
        Number::Each | Number::One => state.eval(model, values),
    };
    let names = quantities(model);
    for _ in 0..STATES {
        let state = State::random(model, &mut random);
        let mean = |found: Vec<Rational>| -> Vec<Rational> {
            let share = Rational::new(1.into(), each.into());
            found.chunks(each).map(|of| of.iter().sum::<Rational>() * &share).collect()
        };
        let sums = eval(&state).and_then(|found| {
            let after = state.conserved(model, mean(found))?;
            Some((state.conserved(model, state.populations.clone())?, after))
        });
        let Some((before, after)) = sums else {
            trial.lines.push(format!("whether {} {} {} {UNKNOWN}", made.are, made.whose, joined_quantities(model)));
            return;
        };
        for ((name, before), after) in names.iter().zip(&before).zip(&after) {
            if before != after {
                let (found, due) = (show(after), show(before));
                trial.violations.push(Violation {
                    code: Code::CouplingConservation,
                    label: format!("{} {name} {found} in the place of {due} on a random state", made.are),
                    hint: made.hint.into(),
                });
                return;
            }
        }
        let uniform = state.equilibrium(model).and_then(|state| Some((eval(&state)?, state)));
        let Some((found, uniform)) = uniform else {
            trial.lines.push(format!("whether it leaves a uniform flow unchanged {UNKNOWN}"));
            return;
        };
        for (pop, found) in found.chunks(each).enumerate() {
            let due = &uniform.populations[pop];
            if let Some(found) = found.iter().find(|found| *found != due) {
                let (found, due, name) = (show(found), show(due), &model.pop_names()[pop]);
                trial.violations.push(Violation {
                    code: Code::CouplingConsistency,
                    label: format!("where {name} is {due} everywhere, {} {found}", made.one),
                    hint: LEAVES_ALONE.into(),
                });
                return;
            }
        }
    }
    trial.lines.push(format!(
        "{} {} {}, on {STATES} random exact states: conservative; a uniform equilibrium stays unchanged",
        made.are,
        made.whose,
        joined_quantities(model)
    ));
}

/// What packets follow of a field that is linear.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// Its change in space.
    Space,
    /// That and its change in time.
    SpaceAndTime,
}

/// What packets that enter a fine cell through a flat face follow: whether they have the value of a linear field half a fine step from
/// it, where they started, less (in the first step) or more (in the second) half a fine step along their velocity; and whether they
/// have it at the time at which the path of the packet is there, half a fine step before that of the coarse population or after it.
fn followed(model: &Model, values: &[ExprId]) -> Option<Followed> {
    let dim = model.lattice().dim();
    let children = 1usize << dim;
    let quarter = Rational::new(1.into(), 4.into());
    let mut random = Random::new();
    let (mut spaced, mut timed) = (true, true);
    let carries: Vec<bool> = (model.populations().iter())
        .map(|set| matches!(viscosity::carried(model, set), Carried::Momentum(_)))
        .collect();
    for (pop, set, dir) in model.pops() {
        let velocity = set.lattice.velocity(dir);
        for face in (0..dim).filter(|axis| velocity[*axis].abs() == 1) {
            // The fine cells lie where the velocity points to, along this axis.
            let near = |child: usize| (child >> face & 1 == 1) == (velocity[face] > 0);
            let kinds = (0..children).map(|child| Rational::from_integer(if near(child) { 1 } else { 2 }.into()));
            let random = State::random(model, &mut random);
            let rest = random.rest(model)?;
            let state = State { kinds: kinds.collect(), slopes: random.slopes, ..rest };
            let own = &state.slopes[pop.index() * dim..][..dim];
            let rate = rate(model, &state.slopes, pop, &carries);
            let first = pop.index() * children;
            let found = state.eval(model, &values[first..first + children])?;
            for (child, found) in found.into_iter().enumerate() {
                let shift = if near(child) { -&quarter } else { quarter.clone() };
                let place = |axis: usize| {
                    let side = if child >> axis & 1 == 1 { quarter.clone() } else { -&quarter };
                    side + &shift * Rational::from_integer(velocity[axis].into())
                };
                let there: Rational = own.iter().enumerate().map(|(axis, slope)| slope * place(axis)).sum();
                let less = found - &state.populations[pop.index()] - there;
                spaced &= less.is_zero();
                timed &= less == &rate * &shift;
                if !spaced && !timed {
                    return None;
                }
            }
        }
    }
    Some(if timed { Followed::SpaceAndTime } else { Followed::Space })
}

/// The change of a population in a step, from the slopes of all of its set: that of the equilibrium of a fluid near rest by Euler's
/// equations, `w (drho + c.dj / cs2)` with `drho = -div j` and `dj = -div Pi`. Where no momentum is carried, as `carries` says of each set, `w drho`.
fn rate(model: &Model, slopes: &[Rational], pop: Pop, carries: &[bool]) -> Rational {
    let dim = model.lattice().dim();
    let Some((_, set, dir)) = model.pops().nth(pop.index()) else { return Rational::zero() };
    let whole = |value: i32| Rational::from_integer(value.into());
    let carries = model.populations().iter().zip(carries).any(|(own, carries)| own.first == set.first && *carries);
    let mut total = Rational::zero();
    for other in set.lattice.dirs() {
        let c = set.lattice.velocity(other);
        let along: i32 = c.iter().zip(set.lattice.velocity(dir)).map(|(a, b)| a * b).sum();
        let brings = if carries { whole(1) + whole(along) / set.lattice.cs2() } else { whole(1) };
        let first = set.pop(other).index() * dim;
        let change: Rational = (0..dim).map(|axis| whole(c[axis]) * &slopes[first + axis]).sum();
        total -= change * brings;
    }
    total * set.lattice.weight(dir)
}

/// Rescaling keeps what is conserved and leaves equilibrium alone; the way back undoes the way there.
fn ghosts(model: &Model, fine: &Formulas, coarse: &Formulas, trial: &mut Trial) {
    let mut random = Random::new();
    let names = quantities(model);
    let mut undone = true;
    for _ in 0..STATES {
        let state = State::random(model, &mut random);
        for (way, formulas) in [("fine", fine), ("coarse", coarse)] {
            let sums = state.eval(model, &formulas.outputs).and_then(|sent| {
                Some((state.conserved(model, state.populations.clone())?, state.conserved(model, sent)?))
            });
            let uniform =
                state.equilibrium(model).and_then(|state| Some((state.eval(model, &formulas.outputs)?, state)));
            let (Some((before, after)), Some((found, uniform))) = (sums, uniform) else {
                trial.lines.push(format!("whether it preserves mass and equilibrium of a cell {UNKNOWN}"));
                return;
            };
            for ((name, before), after) in names.iter().zip(&before).zip(&after) {
                if before != after {
                    let (found, due) = (show(after), show(before));
                    trial.violations.push(Violation {
                        code: Code::CouplingConservation,
                        label: format!("`{way}` makes {name} {found} of {due} on a random state"),
                        hint: "rescale the non-equilibrium alone: `equilibrium[i] + r * (f[i] - equilibrium[i])`"
                            .into(),
                    });
                    return;
                }
            }
            if let Some(pop) = (0..found.len()).find(|pop| found[*pop] != uniform.populations[*pop]) {
                let (found, due, name) = (show(&found[pop]), show(&uniform.populations[pop]), &model.pop_names()[pop]);
                trial.violations.push(Violation {
                    code: Code::CouplingConsistency,
                    label: format!("where {name} is {due} everywhere, `{way}` gives {found}"),
                    hint: LEAVES_ALONE.into(),
                });
                return;
            }
        }
        let back = state.eval(model, &fine.outputs).and_then(|populations| {
            let sent =
                State { populations, params: state.params.clone(), kinds: Vec::new(), slopes: Vec::new(), child: 0 };
            sent.eval(model, &coarse.outputs)
        });
        undone &= back.as_ref() == Some(&state.populations);
    }
    trial.lines.push(format!(
        "what is sent in each direction has the {} of its cell, and equilibrium passes unchanged, on {STATES} random exact \
         states",
        joined_quantities(model)
    ));
    let undone = if undone { "undoes" } else { "does not undo" };
    trial.lines.push(format!("in one cell, `coarse` {undone} `fine`, on {STATES} random exact states"));
}

/// The parameters of both levels for a random choice on the coarse one, by name, in 64 bits.
fn both_levels(model: &Model, coupling: &Coupling, random: &mut Random) -> Option<(State, [Vec<f64>; 2])> {
    let mut state = State::random(model, random);
    // A vector parameter is a force or the like; viscosity is that without it.
    for values in state.params.iter_mut().filter(|values| values.len() > 1) {
        values.iter_mut().for_each(|value| *value = Rational::zero());
    }
    let roots: Vec<ExprId> = coupling.rates().iter().map(|rate| rate.finer).collect();
    let finer = state.eval(model, &roots)?;
    let coarse: Vec<f64> = state.params.iter().map(|values| values[0].to_f64().unwrap_or(f64::NAN)).collect();
    // What has a unit is what that is on the finer level, where lengths and times are twice as many cells and steps.
    let scale = |param: &Param| param.unit.map_or(1.0, |unit| 2f64.powi(unit.length + unit.time));
    let mut fine: Vec<f64> = coarse.iter().zip(model.params()).map(|(value, param)| value * scale(param)).collect();
    for (rate, finer) in coupling.rates().iter().zip(finer) {
        fine[rate.param] = finer.to_f64()?;
    }
    Some((state, [coarse, fine]))
}

/// A coefficient in units of the level with these parameters, if it is known and positive.
fn coefficient(model: &Model, transport: &Transport, params: &[f64]) -> Option<f64> {
    let value =
        |name: &str| model.params().iter().position(|param| param.name == name).map_or(f64::NAN, |param| params[param]);
    transport.at(value).filter(|value| value.is_finite())
}

/// In units of its own cells and steps, a fluid on the finer level is twice as viscous, a scalar diffuses twice as fast.
fn same_coefficient(model: &Model, spread: &Spread, coupling: &Coupling, trial: &mut Trial) {
    let mut random = Random::new();
    let what = &spread.coefficient;
    for _ in 0..STATES {
        let found = both_levels(model, coupling, &mut random).and_then(|(_, [coarse, fine])| {
            Some((coefficient(model, &spread.transport, &coarse)?, coefficient(model, &spread.transport, &fine)?))
        });
        let Some((coarse, fine)) = found else {
            trial.lines.push(format!("whether both levels have the same {what} is not known"));
            return;
        };
        let ratio = fine / (2.0 * coarse);
        let agrees = (ratio - 1.0).abs() < ROUNDING;
        if !agrees {
            let rate = spread.transport.rate.as_deref().unwrap_or("omega");
            trial.violations.push(Violation {
                code: Code::LevelViscosity,
                label: format!("the {what} on the finer level is {ratio:.4} times that on the coarse one"),
                hint: format!(
                    "half the cell and half the step: `rate {rate} <- 2 * {rate} / (4 - {rate});` preserves cs2 \
                     (1/{rate} - 1/2)"
                ),
            });
            return;
        }
    }
    trial.lines.push(format!("both levels have the same {what}, for {STATES} random choices of the parameters"));
}

/// The non-equilibrium of a stress or a flux is proportional to time step over rate: `1/lambda = nu / cs2 + 1/2` in steps.
fn same_moment(model: &Model, spread: &Spread, coupling: &Coupling, fine: &Formulas, trial: &mut Trial) {
    let Spread { set, transport, moment, .. } = spread;
    let Some(cs2) = set.lattice.cs2().to_f64() else { return };
    let factors: Vec<i32> = set.lattice.dirs().map(|dir| (spread.factor)(set.lattice.velocity(dir))).collect();
    let of = |populations: &[Rational]| -> Rational {
        let terms = populations[set.range()].iter().zip(&factors);
        terms.map(|(population, factor)| population * Rational::from_integer((*factor).into())).sum()
    };
    let mut random = Random::new();
    for _ in 0..STATES {
        let found = both_levels(model, coupling, &mut random).and_then(|(state, [coarse, fine_params])| {
            let mut state = state.rest(model)?;
            for (population, factor) in state.populations[set.range()].iter_mut().zip(&factors) {
                *population *= Rational::new((64 + factor).into(), 64.into());
            }
            let sent = state.eval(model, &fine.outputs)?;
            let before = of(&state.populations);
            // Without diagonal velocities there is no shear stress.
            let scale = (!before.is_zero()).then(|| of(&sent) / before)?.to_f64()?;
            let time = |params: &[f64]| Some(coefficient(model, transport, params)? / cs2 + 0.5);
            Some((scale, time(&fine_params)? / (2.0 * time(&coarse)?)))
        });
        let Some((scale, due)) = found else {
            trial.lines.push(format!("whether both levels have the same {moment} is not known"));
            return;
        };
        let agrees = (scale / due - 1.0).abs() < ROUNDING;
        if !agrees {
            trial.violations.push(Violation {
                code: Code::LevelStress,
                label: format!(
                    "`fine` scales a {moment} by {scale:.4}; on the finer level the same {moment} is {due:.4} of it"
                ),
                hint: "Dupuis & Chopard: the non-equilibrium scales like step over rate, omega / (2 omega_finer)"
                    .into(),
            });
            return;
        }
    }
    trial.lines.push(format!("both levels have the same {moment}, for {STATES} random choices of the parameters"));
}
