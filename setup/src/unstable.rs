//! Faces of a case between which disturbances grow, and what to do about them.

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::budget::Budget;
use lbm_dsl::prove::pair::{Duct, End, Face, Growth, Stream};
use lbm_flows::case::{Case, Wall};
use lbm_runtime::device::cache::{Cache, Key};
use miette::{MietteDiagnostic, Report, Severity};
use serde::{Deserialize, Serialize};

use crate::alternatives;
use crate::asked::NAMES;
use crate::faces::{between, end, is_passed, rule, told, worst_in_within, worst_within};
use crate::notes;
use crate::params;
use crate::spec::{Spec, program};
use crate::stability::vector;

/// Most products of the examination of a case, shared equally by the axes that have open faces.
const PRODUCTS: u64 = 20_000_000_000;

/// Faces of a case between which disturbances grow, or of which it is not known whether they do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unstable {
    /// Whether the examination was given up.
    gave_up: bool,
    sentence: String,
    /// Rules for one of the faces with which they do not, and a method with which these faces are stable.
    help: String,
}

impl Unstable {
    /// What is known, a sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// What to do.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Whether disturbances are known to grow.
    pub fn grows(&self) -> bool {
        !self.gave_up
    }

    /// A warning before a run.
    pub fn warning(&self) -> Report {
        let severity = if self.gave_up { Severity::Advice } else { Severity::Warning };
        let warning = MietteDiagnostic::new(self.sentence.clone()).with_code("C0702").with_severity(severity);
        Report::new(warning.with_help(self.help.clone()))
    }
}

/// A face of the question: its rule, and values of the rule's parameters.
#[derive(Clone, Debug)]
struct Side {
    face: Face,
    rule: String,
    values: Vec<(String, Vec<f64>)>,
}

/// What is asked: both faces of an axis in a stream, and those of each axis along which there are walls.
#[derive(Clone, Debug)]
struct Question {
    velocity: Vec<f64>,
    open: [Side; 2],
    beside: Vec<[Side; 2]>,
}

/// Faces of a case between which disturbances grow, with its rates on the coarsest level, the least viscous: pairs of which one is open, and where these
/// are stable, the same with walls along the stream. Nothing is known of collisions and rules that have no derivative, and of parameters that vary. What
/// takes more than [`PRODUCTS`] is given up.
/// What was found earlier is taken from the cache.
pub fn of_case(spec: &Spec, model: &Model, case: &Case) -> Vec<Unstable> {
    let mut cache = Cache::find();
    let found = of_case_with(&mut cache, spec, model, case, PRODUCTS);
    // What is wrong with the whole folder was said of the kernels.
    cache.notices.iter().filter(|_| cache.path("").is_some()).for_each(|notice| notes::note(notice));
    found
}

pub(crate) fn of_case_with(cache: &mut Cache, spec: &Spec, model: &Model, case: &Case, most: u64) -> Vec<Unstable> {
    let questions: Vec<Question> = (0..case.dim).filter_map(|axis| question(case, axis)).collect();
    let Some(params) = params::of_case(model, case).filter(|_| !questions.is_empty()) else { return vec![] };
    let name = program().map(|program| {
        let mut key = Key::new("faces");
        key.add(program);
        key.add(format!("{model:?}"));
        key.add(format!("{params:?} {questions:?} {most}"));
        key.file_name("json")
    });
    let earlier = name.as_ref().and_then(|name| cache.fetch(name));
    if let Some(found) = earlier.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return found;
    }
    let model = &*model.with_states();
    let part = most / questions.len() as u64;
    let answers = |question| answers(spec, model, &params, question, &Budget::of(part));
    let found: Vec<Unstable> = questions.iter().flat_map(answers).collect();
    if let Some(name) = name {
        cache.store(&name, &serde_json::to_vec(&found).expect("texts"));
    }
    found
}

/// What is asked about an axis: nothing unless there are two faces, one of which is open.
fn question(case: &Case, axis: usize) -> Option<Question> {
    let faces = |axis: usize| -> Option<[&Wall; 2]> {
        let walls: Vec<&Wall> = case.walls.iter().filter(|wall| wall.face.axis == axis).collect();
        walls.try_into().ok()
    };
    let open = faces(axis)?;
    if !open.iter().any(|wall| wall.may_be_open(case.size)) {
        return None;
    }
    // The velocity at the middle of the face that has one; else that of the case.
    let middle: [f64; 3] = case.size.map(|cells| 0.5 * cells as f64);
    let stated = open.iter().find_map(|wall| wall.mean_velocity(middle).filter(|u| u[axis] != 0.0));
    let velocity: Vec<f64> = match stated {
        Some(velocity) => velocity[..case.dim].to_vec(),
        None => (0..case.dim).map(|other| if other == axis { case.scales.velocity } else { 0.0 }).collect(),
    };
    let sides = |walls: [&Wall; 2]| {
        [0, 1].map(|at| Side {
            face: Face { axis: walls[at].face.axis, high: at == 1 },
            rule: walls[at].rule.clone(),
            values: walls[at].values.clone(),
        })
    };
    let beside = (0..case.dim).filter(|other| *other != axis).filter_map(|other| Some(sides(faces(other)?)));
    Some(Question { velocity, open: sides(open), beside: beside.collect() })
}

impl Side {
    fn own(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(value, _)| value == name)?.1.first().copied()
    }

    /// `left` and its rule.
    fn told(&self) -> String {
        format!("`{}` ({})", NAMES[self.face.axis][usize::from(self.face.high)], self.rule)
    }
}

/// What grows between the open faces; else what grows with walls beside them.
fn answers(spec: &Spec, model: &Model, params: &[Vec<f64>], question: &Question, budget: &Budget) -> Vec<Unstable> {
    let velocity = &question.velocity;
    let Ok(stream) = Stream::new(model, params, velocity) else { return vec![] };
    let names = |sides: &[Side]| {
        let names: Vec<String> = sides.iter().map(Side::told).collect();
        let (last, others) = names.split_last().expect("there are faces");
        format!("between {} and {last}", others.join(", "))
    };
    let told = |sides: &[Side], found: &Growth| {
        let pair = told(found, sides.iter().map(|side| side.rule.clone()).collect(), f64::NAN, &stream);
        let sentence = format!(
            "{} disturbances of a stream of {} cells per step grow by {:.2} % a step: {}",
            names(sides),
            vector(velocity),
            100.0 * pair.growth.exp_m1(),
            pair.disturbance()
        );
        Unstable { gave_up: false, sentence, help: help(spec, model, params, velocity, sides, budget) }
    };
    let mut found = vec![];
    let all = std::iter::once(question.open.to_vec());
    for sides in all.chain(question.beside.iter().map(|walls| [&question.open[..], walls].concat())) {
        match growth(&stream, &sides, budget) {
            Some(growth) if growth.grows() => {
                found.push(told(&sides, &growth));
                if sides.len() == 2 {
                    break;
                }
            }
            None if budget.is_exceeded() => {
                let sentence = format!(
                    "whether disturbances grow {} was not found out: it takes more than {} products",
                    names(&sides),
                    budget.all()
                );
                let help = format!("`lbmc check {} --faces` has no such limit: see docs/faces.md", spec.name());
                found.push(Unstable { gave_up: true, sentence, help });
                break;
            }
            _ => {}
        }
    }
    found
}

/// What grows most between both faces of one axis or of two; nothing where that is not known, where the stream does not pass, or where the budget does
/// not reach.
fn growth(stream: &Stream, sides: &[Side], budget: &Budget) -> Option<Growth> {
    let model = stream.model();
    let rules: Vec<&Boundary> = sides.iter().map(|side| rule(model, &side.rule)).collect::<Option<_>>()?;
    if let [low, high] = sides {
        let ends = [(low, rules[0]), (high, rules[1])]
            .map(|(side, rule)| end(stream, rule, side.face, |name| side.own(name)).ok().filter(End::passes));
        let [Some(low), Some(high)] = &ends else { return None };
        return worst_within(stream, [low, high], budget);
    }
    // In the order of the axes, as where kernels have two rules.
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|at| (sides[*at].face.axis, sides[*at].face.high));
    let axes = [sides[order[0]].face.axis, sides[order[2]].face.axis];
    let pairs = [[rules[order[0]], rules[order[1]]], [rules[order[2]], rules[order[3]]]];
    let duct: Duct = between(stream, axes, pairs, |at, name| sides[order[at]].own(name)).ok()?;
    is_passed(stream, &duct, axes).then(|| worst_in_within(stream, &duct, axes, budget)).flatten()
}

/// What to do about two faces, or four, of which the first two are open: another rule at the outlet, else at the inlet, or another method.
fn help(spec: &Spec, model: &Model, params: &[Vec<f64>], velocity: &[f64], sides: &[Side], budget: &Budget) -> String {
    let axis = sides[0].face.axis;
    let is_turned = velocity[axis] < 0.0;
    let mut all = vec![];
    if let Some(every) = spec.with_every_rule() {
        let every = &*every.with_states();
        if let Ok(stream) = Stream::new(every, params, velocity) {
            // The face through which the stream leaves first.
            let order = [usize::from(!is_turned), usize::from(is_turned)];
            let one = order.into_iter().find_map(|at| {
                let stable = stable_rules(&stream, sides, at, budget);
                let names: Vec<String> = stable.iter().map(|name| format!("`{name}`")).collect();
                (!names.is_empty()).then(|| format!("at `{}` take {}", NAMES[axis][at], names.join(" or ")))
            });
            all.extend(one.map(|one| format!("{one}, with which they do not")));
        }
    }
    let names: Vec<&str> = sides.iter().map(|side| &side.rule[..]).collect();
    let other = alternatives::method(model, params, &names, |other, params| {
        let other = other.with_states();
        let stream = Stream::new(&other, params, velocity).ok()?;
        Some(!growth(&stream, sides, budget)?.grows())
    });
    all.extend(other.map(|method| format!("take the method `{method}`, with which these faces are stable")));
    all.push(format!("`lbmc check {} --faces all` has all pairs", spec.name()));
    all.join("; ")
}

/// The rules at one of two open faces with which the others are stable.
fn stable_rules(stream: &Stream, sides: &[Side], at: usize, budget: &Budget) -> Vec<String> {
    let face = sides[at].face;
    let is_inlet = (stream.velocity()[face.axis] > 0.0) != face.high;
    let has = |rule: &Boundary, name: &str| rule.params.iter().any(|param| param.name == name);
    let fits = |rule: &&Boundary| match is_inlet {
        true => has(rule, "velocity"),
        false => !has(rule, "velocity") || has(rule, "density"),
    };
    let candidates = stream.model().boundaries().iter().filter(fits).filter_map(|rule| {
        let mut others = sides.to_vec();
        others[at] = Side { face, rule: rule.name.clone(), values: vec![] };
        (!growth(stream, &others, budget)?.grows()).then(|| rule.name.clone())
    });
    candidates.collect()
}
