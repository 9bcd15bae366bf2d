//! Which boundary rules at opposite faces leave a uniform stream stable, and what each does to sound and vortices.

use std::f64::consts::PI;

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::Transport;
use lbm_dsl::prove::budget::Budget;
use lbm_dsl::prove::pair::{self, DISTANCE, Duct, End, Face, Growth, NoEnd, SIDE, Stream};
use lbm_dsl::prove::reflection::{self, towards};
use miette::{Result, miette};
use rayon::prelude::*;
use serde::Serialize;

use crate::asked::{Asked, NAMES};
use crate::rates::Rates;

/// Velocities through two faces that are tried where none is given, in cells per step.
const SPEEDS: [f64; 3] = [0.02, 0.05, 0.1];
/// The one of them that is tried for all pairs.
pub const SPEED: f64 = 0.05;
/// Wavelengths of sound, in cells.
pub const WAVELENGTHS: [f64; 4] = [8.0, 16.0, 32.0, 64.0];
/// Angles of a wave to the normal of a face, in degrees, and the wavelength for which they are tried, in cells.
pub const ANGLES: [f64; 3] = [0.0, 30.0, 60.0];
/// See [`ANGLES`].
pub const WAVELENGTH: f64 = 32.0;
/// Distances of a wall from the outermost cells that are tried, in cells.
const DISTANCES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.49, 0.51, 0.6, 0.7, 0.8, 0.9, 0.99];

/// What was found about faces.
#[derive(Serialize)]
pub struct Faces {
    /// The faces, two of each axis.
    pub faces: Vec<&'static str>,
    /// Pairs of rules, or two of them, in the order of the faces.
    pub pairs: Vec<Pair>,
    /// Where rules have a distance of the wall, the distances at which disturbances grow.
    pub distances: Vec<Distances>,
    /// How much of sound rules reflect.
    pub sound: Vec<Sound>,
    /// Why nothing is known of others, a sentence each.
    pub unknown: Vec<String>,
}

/// What grows most between two faces, or four.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The rules.
    pub rules: Vec<String>,
    /// The value of the parameter that varies.
    pub rate: f64,
    /// The velocity of the stream, in cells per step: zero where one of the rules lets nothing through.
    pub velocity: Vec<f64>,
    /// Growth of the amplitude's logarithm in a step.
    pub growth: f64,
    /// Whether it does not grow.
    pub stable: bool,
    /// Wave vector across, in radians per cell.
    pub wave: Vec<f64>,
    /// Cells between the faces for which it grows so.
    pub cells: usize,
    /// The face at which it sits, or two where these meet; none where it fills the space between.
    pub at: Vec<&'static str>,
}

/// Distances of a wall.
#[derive(Serialize)]
pub struct Distances {
    /// The rules.
    pub rules: [String; 2],
    /// The value of the parameter that varies.
    pub rate: f64,
    /// Each distance that was tried, and the growth there.
    pub growth: Vec<(f64, f64)>,
}

/// What a rule does to sound and to vortices.
#[derive(Serialize)]
pub struct Sound {
    /// The face.
    pub face: &'static str,
    /// The rule.
    pub rule: String,
    /// The value of the parameter that varies.
    pub rate: f64,
    /// The velocity of the stream.
    pub velocity: Vec<f64>,
    /// For each wavelength in cells the part of the amplitude of the density that comes back at normal incidence: negative where its sign turns.
    pub reflected: Vec<(f64, f64)>,
    /// The same for each angle of [`ANGLES`].
    pub angles: Vec<(f64, f64)>,
    /// Where the stream leaves: for angles of vortices, the velocity of the flow that the face adds over theirs.
    pub vortices: Vec<(f64, f64)>,
}

/// What grows most between two faces, of all trials, at once; nothing where the budget does not reach, which is used up then.
pub(crate) fn worst_within(stream: &Stream, ends: [&End; 2], budget: &Budget) -> Option<Growth> {
    let trials = pair::trials(stream.velocity().len(), ends[0].face().axis);
    at_once(&trials, budget, |(cells, wave), part| stream.growth_within(ends, *cells, wave, part))
}

/// The same in a box between two pairs of faces.
pub(crate) fn worst_in_within(stream: &Stream, duct: &Duct, axes: [usize; 2], budget: &Budget) -> Option<Growth> {
    let waves = pair::waves_along(stream.velocity().len(), axes);
    at_once(&waves, budget, |wave, part| stream.growth_in(duct, SIDE, wave, part))
}

/// What grows most of all trials, each with an equal part of a budget, so that it does not matter which comes first.
fn at_once<T: Sync>(
    trials: &[T],
    budget: &Budget,
    find: impl Fn(&T, &Budget) -> Option<Growth> + Sync,
) -> Option<Growth> {
    let most = budget.left() / trials.len().max(1) as u64;
    let one = |trial: &T| {
        let part = Budget::of(most);
        (find(trial, &part), part.spent())
    };
    let all: Vec<(Option<Growth>, u64)> = trials.par_iter().map(one).collect();
    budget.spend(all.iter().map(|(_, spent)| *spent as usize).sum())?;
    let found: Option<Vec<Growth>> = all.into_iter().map(|(found, _)| found).collect();
    if found.is_none() {
        budget.spend(usize::MAX);
    }
    found?.into_iter().reduce(Growth::or)
}

fn worst(stream: &Stream, ends: [&End; 2]) -> Growth {
    worst_within(stream, ends, &Budget::of(u64::MAX)).expect("a budget without end")
}

fn worst_in(stream: &Stream, duct: &Duct, axes: [usize; 2]) -> Growth {
    worst_in_within(stream, duct, axes, &Budget::of(u64::MAX)).expect("a budget without end")
}

pub(crate) fn rule<'m>(model: &'m Model, name: &str) -> Option<&'m Boundary> {
    model.boundaries().iter().find(|rule| rule.name == name)
}

/// A method with values of its parameters.
struct Method<'a> {
    model: &'a Model,
    rates: &'a Rates,
    viscosity: &'a Transport,
}

impl Method<'_> {
    /// What a rule asks for that the stream does not say: the viscosity of the fluid.
    fn own(&self, params: &[Vec<f64>], name: &str) -> Option<f64> {
        let at = |name: &str| self.model.params().iter().position(|param| param.name == name);
        let value = |name: &str| at(name).map_or(f64::NAN, |at| params[at][0]);
        (name == "viscosity").then(|| self.viscosity.at(value)).flatten()
    }

    fn rule(&self, name: &str) -> &Boundary {
        rule(self.model, name).expect("it was compiled with the method")
    }
}

/// Finds out about faces, with the states of a method, if it has some; `rates` has the values of parameters.
pub fn find(
    model: &Model,
    rates: &Rates,
    viscosity: &Transport,
    asked: &Asked,
    velocity: Option<&[f64]>,
) -> Result<Faces> {
    let model = &*model.with_states();
    let dim = model.lattice().dim();
    let axes = match asked {
        Asked::All => vec![0],
        Asked::Pair { axis, .. } => vec![*axis],
        Asked::Duct { axes, .. } => axes.to_vec(),
    };
    if axes.iter().any(|axis| *axis >= dim) || velocity.is_some_and(|velocity| velocity.len() != dim) {
        return Err(miette!(
            code = "L0203",
            help = format!("its faces are {}", NAMES[..dim].concat().join(", ")),
            "{} has {dim} dimensions",
            model.name()
        ));
    }
    let along = |axis: usize, speed: f64| (0..dim).map(|at| if at == axis { speed } else { 0.0 }).collect::<Vec<f64>>();
    let names = axes.iter().flat_map(|axis| NAMES[*axis]).collect();
    let mut faces = Faces { faces: names, pairs: vec![], distances: vec![], sound: vec![], unknown: vec![] };
    let method = Method { model, rates, viscosity };
    let streams = |axis: usize| match velocity {
        Some(velocity) => vec![velocity.to_vec()],
        None => SPEEDS.iter().map(|speed| along(axis, *speed)).collect(),
    };
    match asked {
        Asked::All => all(&method, velocity.map_or_else(|| along(0, SPEED), <[f64]>::to_vec), &mut faces)?,
        Asked::Pair { axis, rules } => one(&method, *axis, rules, &streams(*axis), &mut faces)?,
        Asked::Duct { axes, rules } => {
            let mut groups: Vec<Vec<Vec<f64>>> = axes.iter().map(|axis| streams(*axis)).collect();
            groups.dedup();
            duct(&method, *axes, rules, &groups, &mut faces)?;
        }
    }
    Ok(faces)
}

/// Two pairs of rules in the first group of streams that the faces let pass; at rest where they let none.
fn duct(
    method: &Method,
    axes: [usize; 2],
    rules: &[[String; 2]; 2],
    groups: &[Vec<Vec<f64>>],
    faces: &mut Faces,
) -> Result<()> {
    let rest = [vec![vec![0.0; groups[0][0].len()]]];
    'rates: for rate in method.rates.values() {
        let params = method.rates.params(*rate);
        for group in groups.iter().chain(&rest) {
            for velocity in group {
                let stream = stream(method.model, &params, velocity)?;
                let given = rules.each_ref().map(|pair| pair.each_ref().map(|name| method.rule(name)));
                let found = match between(&stream, axes, given, |_, name| method.own(&params, name)) {
                    Ok(found) => found,
                    Err(why) => {
                        faces.unknown.push(why);
                        return Ok(());
                    }
                };
                if !is_passed(&stream, &found, axes) {
                    break;
                }
                faces.pairs.push(told(&worst_in(&stream, &found, axes), rules.concat(), *rate, &stream));
                if velocity == &group[group.len() - 1] {
                    continue 'rates;
                }
            }
        }
    }
    Ok(())
}

/// Whether a stream passes all faces through which it goes.
pub(crate) fn is_passed(stream: &Stream, duct: &Duct, axes: [usize; 2]) -> bool {
    (0..2).all(|number| stream.velocity()[axes[number]] == 0.0 || duct.passes(number))
}

/// Rules at both faces of two axes, or why nothing is known of them; `own` says what the rule with that number, in the order of the faces, asks for.
pub(crate) fn between(
    stream: &Stream,
    axes: [usize; 2],
    rules: [[&Boundary; 2]; 2],
    own: impl Fn(usize, &str) -> Option<f64>,
) -> std::result::Result<Duct, String> {
    let given: Vec<Vec<Vec<f64>>> = (rules.as_flattened().iter().enumerate())
        .map(|(at, rule)| values(stream, rule, |name| own(at, name)))
        .collect::<std::result::Result<_, _>>()?;
    let with = |pair: usize, side: usize| (rules[pair][side], &given[2 * pair + side][..]);
    let found = stream.duct(axes, [0, 1].map(|pair| [0, 1].map(|side| with(pair, side))));
    let names = rules.as_flattened().iter().map(|rule| format!("`{}`", rule.name)).collect::<Vec<_>>().join(", ");
    found.map_err(|why| format!("nothing is known of {names}: {why}"))
}

/// A pair of rules in streams of several velocities.
fn one(method: &Method, axis: usize, rules: &[String; 2], velocities: &[Vec<f64>], faces: &mut Faces) -> Result<()> {
    let rest = vec![0.0; velocities[0].len()];
    let Method { model, rates, .. } = method;
    let both = rules.each_ref().map(|name| method.rule(name));
    let ends = |stream: &Stream, params: &[Vec<f64>], distance: Option<f64>| -> std::result::Result<[End; 2], String> {
        let own = |name: &str| if name == DISTANCE { distance } else { method.own(params, name) };
        let [low, high] = [0, 1].map(|at| end(stream, both[at], Face { axis, high: at == 1 }, own));
        Ok([low?, high?])
    };
    if both.iter().any(|rule| rule.params.iter().any(|param| param.name == DISTANCE)) {
        for rate in rates.last() {
            let params = method.rates.params(rate);
            let mut growth = vec![];
            for distance in DISTANCES {
                let mut stream = stream(model, &params, &velocities[0])?;
                let mut found = ends(&stream, &params, Some(distance));
                if found.as_ref().is_ok_and(|ends| !passes(ends)) {
                    stream = self::stream(model, &params, &rest)?;
                    found = ends(&stream, &params, Some(distance));
                }
                match found {
                    Ok([low, high]) => growth.push((distance, worst(&stream, [&low, &high]).rate)),
                    Err(why) => {
                        faces.unknown.push(why);
                        return Ok(());
                    }
                }
            }
            faces.distances.push(Distances { rules: rules.clone(), rate, growth });
        }
        return Ok(());
    }
    'rates: for rate in rates.values() {
        let params = method.rates.params(*rate);
        for velocity in velocities {
            let mut stream = stream(model, &params, velocity)?;
            let mut found = ends(&stream, &params, None);
            let is_passed = found.as_ref().is_ok_and(passes);
            if !is_passed {
                stream = self::stream(model, &params, &rest)?;
                found = ends(&stream, &params, None);
            }
            let [low, high] = match found {
                Ok(ends) => ends,
                Err(why) => {
                    faces.unknown.push(why);
                    return Ok(());
                }
            };
            faces.pairs.push(told(&worst(&stream, [&low, &high]), rules.to_vec(), *rate, &stream));
            if !is_passed {
                continue 'rates;
            }
        }
    }
    let rate = middle(rates);
    let params = method.rates.params(rate);
    let stream = stream(model, &params, &faces.pairs[0].velocity)?;
    for (at, end) in ends(&stream, &params, None).iter().flatten().enumerate() {
        sound(&stream, end, &rules[at], rate, faces);
    }
    Ok(())
}

/// All pairs of inlets at the left and outlets at the right.
fn all(method: &Method, velocity: Vec<f64>, faces: &mut Faces) -> Result<()> {
    let Method { model, rates, .. } = method;
    for rate in rates.last() {
        let params = method.rates.params(rate);
        let stream = stream(model, &params, &velocity)?;
        let candidates = candidates(model, &stream, 0, |name| method.own(&params, name));
        let [inlets, outlets] = &candidates;
        let pairs = inlets.iter().flat_map(|inlet| outlets.iter().map(move |outlet| (inlet, outlet)));
        let found = pairs.collect::<Vec<_>>().into_par_iter().map(|((inlet, low), (outlet, high))| {
            told(&stream.worst([low, high]), vec![inlet.clone(), outlet.clone()], rate, &stream)
        });
        faces.pairs.extend(found.collect::<Vec<Pair>>());
    }
    let rate = middle(rates);
    let params = method.rates.params(rate);
    let stream = stream(model, &params, &velocity)?;
    for (name, end) in candidates(model, &stream, 0, |name| method.own(&params, name)).iter().flatten() {
        sound(&stream, end, name, rate, faces);
    }
    Ok(())
}

/// Names of the rules that let a stream pass, inlets and outlets; `own` is what they ask for that the stream does not say.
pub(crate) fn passing(
    model: &Model,
    params: &[Vec<f64>],
    own: impl Fn(&str) -> Option<f64>,
) -> Result<[Vec<String>; 2]> {
    let along: Vec<f64> = (0..model.lattice().dim()).map(|axis| if axis == 0 { SPEED } else { 0.0 }).collect();
    let stream = stream(model, params, &along)?;
    Ok(candidates(model, &stream, 0, own).map(|side| side.into_iter().map(|(name, _)| name).collect()))
}

/// Inlets at the lower face of an axis, which are given a velocity, and outlets at the upper one, which are not given a velocity alone.
fn candidates(
    model: &Model,
    stream: &Stream,
    axis: usize,
    own: impl Fn(&str) -> Option<f64>,
) -> [Vec<(String, End)>; 2] {
    let has = |rule: &Boundary, name: &str| rule.params.iter().any(|param| param.name == name);
    [false, true].map(|high| {
        let fits = |rule: &&Boundary| match high {
            false => has(rule, "velocity"),
            true => !has(rule, "velocity") || has(rule, "density"),
        };
        let rules = model.boundaries().iter().filter(fits);
        let ends = rules.filter_map(|rule| {
            let end = end(stream, rule, Face { axis, high }, &own).ok()?;
            end.passes().then(|| (rule.name.clone(), end))
        });
        ends.collect()
    })
}

fn passes(ends: &[End; 2]) -> bool {
    ends.iter().all(End::passes)
}

fn stream<'m>(model: &'m Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Stream<'m>> {
    Stream::new(model, params, velocity).map_err(|why| {
        miette!(
            code = "L0202",
            help = "run a flow with these faces to test their stability",
            "the stability of faces cannot be computed: {why}"
        )
    })
}

/// A rule at a face, or why nothing is known of it.
pub(crate) fn end(
    stream: &Stream,
    rule: &Boundary,
    face: Face,
    own: impl Fn(&str) -> Option<f64>,
) -> std::result::Result<End, String> {
    let values = values(stream, rule, own)?;
    stream.end(rule, &values, face).map_err(|why: NoEnd| format!("nothing is known of `{}`: {why}", rule.name))
}

/// Values of a rule's parameters in a stream.
fn values(
    stream: &Stream,
    rule: &Boundary,
    own: impl Fn(&str) -> Option<f64>,
) -> std::result::Result<Vec<Vec<f64>>, String> {
    pair::values(stream.model(), rule, stream.velocity(), own)
        .ok_or_else(|| format!("nothing is known of `{}`, whose parameters say something else of a stream", rule.name))
}

pub(crate) fn told(growth: &Growth, rules: Vec<String>, rate: f64, stream: &Stream) -> Pair {
    Pair {
        rules,
        rate,
        velocity: stream.velocity().to_vec(),
        growth: growth.rate,
        stable: !growth.grows(),
        wave: growth.wave.clone(),
        cells: growth.cells,
        at: growth.at.iter().map(|face| NAMES[face.axis][usize::from(face.high)]).collect(),
    }
}

fn sound(stream: &Stream, end: &End, rule: &str, rate: f64, faces: &mut Faces) {
    let dim = stream.velocity().len();
    let part = |wavelength: f64, degrees: f64| {
        let found = reflection::reflection(stream, end, &towards(end, dim, wavelength, degrees))?;
        Some(found.size().copysign(found.part[0]))
    };
    let reflected: Option<Vec<(f64, f64)>> =
        WAVELENGTHS.iter().map(|length| Some((*length, part(*length, 0.0)?))).collect();
    let angles: Option<Vec<(f64, f64)>> =
        ANGLES.iter().map(|angle| Some((*angle, part(WAVELENGTH, *angle)?))).collect();
    let face = faces.faces[usize::from(end.face().high)];
    let (Some(reflected), Some(angles)) = (reflected, angles) else {
        faces.unknown.push(format!("what `{rule}` reflects of sound is not found for this method"));
        return;
    };
    // Those along the normal move nothing through the face.
    let vortices = ANGLES[1..].iter().filter_map(|angle| {
        Some((*angle, reflection::of_vortices(stream, end, &towards(end, dim, WAVELENGTH, *angle))?))
    });
    let (velocity, vortices) = (stream.velocity().to_vec(), vortices.collect());
    faces.sound.push(Sound { face, rule: rule.to_string(), rate, velocity, reflected, angles, vortices });
}

/// The rate for which reflections are told: they hardly depend on it.
fn middle(rates: &Rates) -> f64 {
    let values = rates.values();
    values[values.len() / 2]
}

impl Pair {
    /// What grows, in words: `a wave of 2.3 cells across, at right`.
    pub fn disturbance(&self) -> String {
        let k = self.wave.iter().map(|k| k * k).sum::<f64>().sqrt();
        let wave = match (k == 0.0, self.rules.len()) {
            (false, _) => format!("a wave of {:.1} cells across", 2.0 * PI / k),
            (true, 2) => "what is the same all across".to_string(),
            (true, _) if self.velocity.len() == 2 => "a disturbance".to_string(),
            (true, _) => "what is the same along the third axis".to_string(),
        };
        match &self.at[..] {
            [] if self.rules.len() == 2 => format!("{wave}, between both faces"),
            [] => format!("{wave}, between the faces"),
            [face] => format!("{wave}, at `{face}`"),
            faces => format!("{wave}, where `{}` meet", faces.join("` and `")),
        }
    }
}
