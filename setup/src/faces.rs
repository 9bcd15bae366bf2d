//! Which boundary rules at two opposite faces leave a uniform stream stable, and how much sound each reflects.

use std::f64::consts::PI;

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::pair::{self, DISTANCE, End, Face, Growth, NoEnd, Place, Stream};
use lbm_dsl::prove::reflection::{self, towards};
use miette::{Result, miette};
use rayon::prelude::*;
use serde::Serialize;

use crate::rates::Rates;
use crate::spec::Spec;

/// Names of faces, both of each axis.
pub(crate) const NAMES: [[&str; 2]; 3] = [["left", "right"], ["bottom", "top"], ["back", "front"]];
/// Velocities through two faces that are tried where none is given, in cells per step.
const SPEEDS: [f64; 3] = [0.02, 0.05, 0.1];
/// The one of them that is tried for all pairs.
pub const SPEED: f64 = 0.05;
/// Wavelengths of sound, in cells.
pub const WAVELENGTHS: [f64; 4] = [8.0, 16.0, 32.0, 64.0];
/// Distances of a wall from the outermost cells that are tried, in cells.
const DISTANCES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.49, 0.51, 0.6, 0.7, 0.8, 0.9, 0.99];

/// What is asked about faces.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// All pairs of an inlet and an outlet.
    All,
    /// The rules at both faces of an axis, the lower one first.
    Pair {
        /// The axis.
        axis: usize,
        /// The rules.
        rules: [String; 2],
    },
}

impl Asked {
    /// Reads `all` or `left=RULE,right=RULE`.
    pub fn parse(text: &str) -> Result<Asked> {
        if text.trim() == "all" {
            return Ok(Asked::All);
        }
        let wrong = |what: String| {
            miette!(
                code = "L0205",
                help = "write two opposite faces with a boundary condition each, for example `--faces \
                        left=moving_wall,right=anti_bounce_back`, or `--faces all`",
                "{what}"
            )
        };
        let mut rules: [Option<String>; 2] = [None, None];
        let mut axes = vec![];
        for part in text.split(',') {
            let (face, rule) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` is not FACE=RULE")))?;
            let (face, rule) = (face.trim(), rule.trim());
            let place = NAMES
                .iter()
                .enumerate()
                .find_map(|(axis, names)| names.iter().position(|name| *name == face).map(|high| (axis, high)));
            let (axis, high) = place.ok_or_else(|| wrong(format!("there is no face `{face}`")))?;
            axes.push(axis);
            if rules[high].replace(rule.to_string()).is_some() {
                return Err(wrong(format!("`{face}` and a face like it are both given a rule")));
            }
        }
        match rules {
            [Some(low), Some(high)] if axes[0] == axes[1] => Ok(Asked::Pair { axis: axes[0], rules: [low, high] }),
            _ => Err(wrong("`--faces` needs two opposite faces".into())),
        }
    }

    /// The method with the rules that are asked about, and some more.
    pub fn model(&self, spec: &Spec, more: &[String]) -> Result<Model> {
        match self {
            Asked::Pair { rules, .. } => spec.model_with_all(&[&rules[..], more].concat(), None),
            // Methods of several sets of populations have rules of their own alone.
            Asked::All => spec.with_every_rule().map_or_else(|| spec.model_with_all(more, None), Ok),
        }
    }
}

/// What was found about faces.
#[derive(Serialize)]
pub struct Faces {
    /// The two faces.
    pub faces: [&'static str; 2],
    /// Pairs of rules, in the order of the faces.
    pub pairs: Vec<Pair>,
    /// Where rules have a distance of the wall, the distances at which disturbances grow.
    pub distances: Vec<Distances>,
    /// How much of sound rules reflect.
    pub sound: Vec<Sound>,
    /// Why nothing is known of others, a sentence each.
    pub unknown: Vec<String>,
}

/// What grows most between two faces.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The rules.
    pub rules: [String; 2],
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
    /// The face at which it sits; nothing where it fills the space between both.
    pub at: Option<&'static str>,
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

/// Sound that a rule reflects at normal incidence.
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
    /// For each wavelength in cells the part of the amplitude of the density that comes back: negative where its sign turns.
    pub reflected: Vec<(f64, f64)>,
}

/// What grows most between two faces, of all trials, at once.
pub(crate) fn worst(stream: &Stream, ends: [&End; 2]) -> Growth {
    let trials = pair::trials(stream.velocity().len(), ends[0].face().axis);
    let all: Vec<Growth> = trials.par_iter().map(|(cells, wave)| stream.growth(ends, *cells, wave)).collect();
    all.into_iter().reduce(Growth::or).expect("there are trials")
}

pub(crate) fn rule<'m>(model: &'m Model, name: &str) -> Option<&'m Boundary> {
    model.boundaries().iter().find(|rule| rule.name == name)
}

/// Finds out about faces; `rates` has the values of parameters.
pub fn find(model: &Model, rates: &Rates, asked: &Asked, velocity: Option<&[f64]>) -> Result<Faces> {
    let dim = model.lattice().dim();
    let axis = match asked {
        Asked::All => 0,
        Asked::Pair { axis, .. } => *axis,
    };
    if axis >= dim || velocity.is_some_and(|velocity| velocity.len() != dim) {
        return Err(miette!(
            code = "L0203",
            help = format!("its faces are {}", NAMES[..dim].concat().join(", ")),
            "{} has {dim} dimensions",
            model.name()
        ));
    }
    let along = |speed: &f64| (0..dim).map(|other| if other == axis { *speed } else { 0.0 }).collect::<Vec<f64>>();
    let mut faces = Faces { faces: NAMES[axis], pairs: vec![], distances: vec![], sound: vec![], unknown: vec![] };
    match asked {
        Asked::All => all(model, rates, velocity.map_or_else(|| along(&SPEED), <[f64]>::to_vec), &mut faces)?,
        Asked::Pair { rules, .. } => {
            let velocities =
                velocity.map_or_else(|| SPEEDS.iter().map(along).collect(), |velocity| vec![velocity.to_vec()]);
            one(model, rates, axis, rules, &velocities, &mut faces)?;
        }
    }
    Ok(faces)
}

/// A pair of rules in streams of several velocities.
fn one(
    model: &Model,
    rates: &Rates,
    axis: usize,
    rules: &[String; 2],
    velocities: &[Vec<f64>],
    faces: &mut Faces,
) -> Result<()> {
    let rest = vec![0.0; velocities[0].len()];
    let both =
        [rule(model, &rules[0]), rule(model, &rules[1])].map(|rule| rule.expect("it was compiled with the method"));
    let ends = |stream: &Stream, distance: Option<f64>| -> std::result::Result<[End; 2], String> {
        let [low, high] = [0, 1].map(|at| {
            end(stream, model, both[at], Face { axis, high: at == 1 }, |name| distance.filter(|_| name == DISTANCE))
        });
        Ok([low?, high?])
    };
    if both.iter().any(|rule| rule.params.iter().any(|param| param.name == DISTANCE)) {
        for rate in rates.last() {
            let params = rates.params(rate);
            let mut growth = vec![];
            for distance in DISTANCES {
                let mut stream = stream(model, &params, &velocities[0])?;
                let mut found = ends(&stream, Some(distance));
                if found.as_ref().is_ok_and(|ends| !passes(ends)) {
                    stream = self::stream(model, &params, &rest)?;
                    found = ends(&stream, Some(distance));
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
        let params = rates.params(*rate);
        for velocity in velocities {
            let mut stream = stream(model, &params, velocity)?;
            let mut found = ends(&stream, None);
            let is_passed = found.as_ref().is_ok_and(passes);
            if !is_passed {
                stream = self::stream(model, &params, &rest)?;
                found = ends(&stream, None);
            }
            let [low, high] = match found {
                Ok(ends) => ends,
                Err(why) => {
                    faces.unknown.push(why);
                    return Ok(());
                }
            };
            faces.pairs.push(told(&worst(&stream, [&low, &high]), rules.clone(), *rate, &stream, axis));
            if !is_passed {
                continue 'rates;
            }
        }
    }
    let rate = middle(rates);
    let stream = stream(model, &rates.params(rate), &faces.pairs[0].velocity)?;
    for (at, end) in ends(&stream, None).iter().flatten().enumerate() {
        sound(&stream, end, &rules[at], rate, faces);
    }
    Ok(())
}

/// All pairs of inlets at the left and outlets at the right.
fn all(model: &Model, rates: &Rates, velocity: Vec<f64>, faces: &mut Faces) -> Result<()> {
    for rate in rates.last() {
        let params = rates.params(rate);
        let stream = stream(model, &params, &velocity)?;
        let candidates = candidates(model, &stream, 0);
        let [inlets, outlets] = &candidates;
        let pairs = inlets.iter().flat_map(|inlet| outlets.iter().map(move |outlet| (inlet, outlet)));
        let found = pairs.collect::<Vec<_>>().into_par_iter().map(|((inlet, low), (outlet, high))| {
            told(&stream.worst([low, high]), [inlet.clone(), outlet.clone()], rate, &stream, 0)
        });
        faces.pairs.extend(found.collect::<Vec<Pair>>());
    }
    let rate = middle(rates);
    let stream = stream(model, &rates.params(rate), &velocity)?;
    for (name, end) in candidates(model, &stream, 0).iter().flatten() {
        sound(&stream, end, name, rate, faces);
    }
    Ok(())
}

/// Inlets at the lower face of an axis, which are given a velocity, and outlets at the upper one, which are not given a velocity alone.
fn candidates(model: &Model, stream: &Stream, axis: usize) -> [Vec<(String, End)>; 2] {
    let has = |rule: &Boundary, name: &str| rule.params.iter().any(|param| param.name == name);
    [false, true].map(|high| {
        let fits = |rule: &&Boundary| match high {
            false => has(rule, "velocity"),
            true => !has(rule, "velocity") || has(rule, "density"),
        };
        let rules = model.boundaries().iter().filter(fits);
        let ends = rules.filter_map(|rule| {
            let end = end(stream, model, rule, Face { axis, high }, |_| None).ok()?;
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
    model: &Model,
    rule: &Boundary,
    face: Face,
    own: impl Fn(&str) -> Option<f64>,
) -> std::result::Result<End, String> {
    let values = pair::values(model, rule, stream.velocity(), own).ok_or_else(|| {
        format!("nothing is known of `{}`, whose parameters say something else of a stream", rule.name)
    })?;
    stream.end(rule, &values, face).map_err(|why: NoEnd| format!("nothing is known of `{}`: {why}", rule.name))
}

pub(crate) fn told(growth: &Growth, rules: [String; 2], rate: f64, stream: &Stream, axis: usize) -> Pair {
    Pair {
        rules,
        rate,
        velocity: stream.velocity().to_vec(),
        growth: growth.rate,
        stable: !growth.grows(),
        wave: growth.wave.clone(),
        cells: growth.cells,
        at: place(growth.place, axis),
    }
}

/// The face at which a disturbance sits.
fn place(place: Place, axis: usize) -> Option<&'static str> {
    match place {
        Place::Low => Some(NAMES[axis][0]),
        Place::High => Some(NAMES[axis][1]),
        Place::Between => None,
    }
}

fn sound(stream: &Stream, end: &End, rule: &str, rate: f64, faces: &mut Faces) {
    let dim = stream.velocity().len();
    let part = |wavelength: f64| {
        let found = reflection::reflection(stream, end, &towards(end, dim, wavelength))?;
        Some((wavelength, found.size().copysign(found.part[0])))
    };
    let reflected: Option<Vec<(f64, f64)>> = WAVELENGTHS.iter().map(|wavelength| part(*wavelength)).collect();
    let face = faces.faces[usize::from(end.face().high)];
    match reflected {
        Some(reflected) => {
            let velocity = stream.velocity().to_vec();
            faces.sound.push(Sound { face, rule: rule.to_string(), rate, velocity, reflected });
        }
        None => faces.unknown.push(format!("what `{rule}` reflects of sound is not found for this method")),
    }
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
        let wave = match k == 0.0 {
            true => "what is the same all across".to_string(),
            false => format!("a wave of {:.1} cells across", 2.0 * PI / k),
        };
        match self.at {
            Some(face) => format!("{wave}, at `{face}`"),
            None => format!("{wave}, between both faces"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_two_opposite_ones() {
        let pair = |axis, low: &str, high: &str| Asked::Pair { axis, rules: [low.into(), high.into()] };
        assert_eq!(Asked::parse("left=a,right=b").unwrap(), pair(0, "a", "b"));
        assert_eq!(Asked::parse("top=b, bottom=a").unwrap(), pair(1, "a", "b"));
        assert_eq!(Asked::parse("all").unwrap(), Asked::All);
        for wrong in ["left=a", "left=a,top=b", "left=a,left=b", "left", "west=a,east=b", ""] {
            assert_eq!(Asked::parse(wrong).unwrap_err().code().unwrap().to_string(), "L0205", "{wrong}");
        }
    }
}
