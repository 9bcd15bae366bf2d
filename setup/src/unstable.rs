//! Pairs of opposite faces of a case between which disturbances grow, and what to do about them.

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::pair::{End, Face, Stream};
use lbm_flows::case::{Case, Wall};
use miette::{MietteDiagnostic, Report, Severity};

use crate::alternatives;
use crate::faces::{NAMES, Pair, end, rule, told, worst};
use crate::params;
use crate::spec::Spec;
use crate::stability::vector;

/// A pair of faces of a case between which disturbances grow.
pub struct Unstable {
    axis: usize,
    pair: Pair,
    /// Rules for one of the faces with which they do not, and a method with which this pair is stable.
    help: String,
}

impl Unstable {
    /// What is known, a sentence.
    pub fn sentence(&self) -> String {
        let [low, high] = NAMES[self.axis];
        let Pair { rules, velocity, growth, .. } = &self.pair;
        format!(
            "between `{low}` ({}) and `{high}` ({}) disturbances of a stream of {} cells per step grow by {:.2} % a step: {}",
            rules[0],
            rules[1],
            vector(velocity),
            100.0 * growth.exp_m1(),
            self.pair.disturbance()
        )
    }

    /// What to do.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// A warning before a run.
    pub fn warning(&self) -> Report {
        let warning = MietteDiagnostic::new(self.sentence()).with_code("C0702").with_severity(Severity::Warning);
        Report::new(warning.with_help(self.help.clone()))
    }
}

/// Pairs of opposite faces of a case between which disturbances grow, with its rates on the coarsest level, the least viscous. Nothing is known of
/// collisions and rules that have no derivative, and of methods whose cells have states.
pub fn of_case(spec: &Spec, model: &Model, case: &Case) -> Vec<Unstable> {
    let Some(params) = params::of_case(model, case) else { return vec![] };
    let model = &*model.frozen();
    (0..case.dim).filter_map(|axis| of_axis(spec, model, &params, case, axis)).collect()
}

fn of_axis(spec: &Spec, model: &Model, params: &[Vec<f64>], case: &Case, axis: usize) -> Option<Unstable> {
    let faces = [false, true].map(|high| Face { axis, high });
    let walls: Vec<&Wall> = case.walls.iter().filter(|wall| wall.face.axis == axis).collect();
    let &[low, high] = &walls[..] else { return None };
    if ![low, high].iter().any(|wall| wall.may_be_open(case.size)) {
        return None;
    }
    // The velocity at the middle of the face that has one; else that of the case.
    let middle: [f64; 3] = case.size.map(|cells| 0.5 * cells as f64);
    let stated = [low, high].iter().find_map(|wall| wall.stated_velocity(middle, 0.0).filter(|u| u[axis] != 0.0));
    let velocity: Vec<f64> = match stated {
        Some(velocity) => velocity[..case.dim].to_vec(),
        None => (0..case.dim).map(|other| if other == axis { case.scales.velocity } else { 0.0 }).collect(),
    };
    let stream = Stream::new(model, params, &velocity).ok()?;
    let own = |wall: &Wall, name: &str| {
        let (_, values) = wall.values.iter().find(|(value, _)| value == name)?;
        values.first().copied()
    };
    let ends = [low, high].into_iter().zip(faces).map(|(wall, face)| {
        end(&stream, model, rule(model, &wall.rule)?, face, |name| own(wall, name)).ok().filter(End::passes)
    });
    let ends: Vec<End> = ends.collect::<Option<_>>()?;
    let found = worst(&stream, [&ends[0], &ends[1]]);
    if !found.grows() {
        return None;
    }
    let rules = [low.rule.clone(), high.rule.clone()];
    let help = help(spec, model, params, &velocity, faces, &rules);
    Some(Unstable { axis, pair: told(&found, rules, f64::NAN, &stream, axis), help })
}

/// What to do about a pair: another rule at the outlet, else at the inlet, or another method.
fn help(
    spec: &Spec,
    model: &Model,
    params: &[Vec<f64>],
    velocity: &[f64],
    faces: [Face; 2],
    rules: &[String; 2],
) -> String {
    let axis = faces[0].axis;
    let is_turned = velocity[axis] < 0.0;
    let mut all = vec![];
    if let Some(every) = spec.with_every_rule() {
        let every = &*every.frozen();
        if let Ok(stream) = Stream::new(every, params, velocity) {
            // The face through which the stream leaves first.
            let sides = [usize::from(!is_turned), usize::from(is_turned)];
            let one = sides.into_iter().find_map(|at| {
                let stable = stable_rules(every, &stream, faces, rules, at);
                let names: Vec<String> = stable.iter().map(|name| format!("`{name}`")).collect();
                (!names.is_empty()).then(|| format!("at `{}` take {}", NAMES[axis][at], names.join(" or ")))
            });
            all.extend(one.map(|one| format!("{one}, with which they do not")));
        }
    }
    let names: Vec<&str> = rules.iter().map(String::as_str).collect();
    let other = alternatives::method(model, params, &names, |other, params| {
        let stream = Stream::new(other, params, velocity).ok()?;
        let [low, high] = [0, 1].map(|at| end(&stream, other, rule(other, &rules[at])?, faces[at], |_| None).ok());
        Some(!worst(&stream, [&low?, &high?]).grows())
    });
    all.extend(other.map(|method| format!("take the method `{method}`, with which this pair is stable")));
    all.push(format!("`lbmc check {} --faces all` has all pairs", spec.name()));
    all.join("; ")
}

/// The rules at one of two faces with which the one at the other is stable.
fn stable_rules(model: &Model, stream: &Stream, faces: [Face; 2], rules: &[String; 2], at: usize) -> Vec<String> {
    let other = |name: &str| end(stream, model, rule(model, name)?, faces[1 - at], |_| None).ok();
    let Some(fixed) = other(&rules[1 - at]) else { return vec![] };
    let is_inlet = (stream.velocity()[faces[at].axis] > 0.0) != faces[at].high;
    let has = |rule: &Boundary, name: &str| rule.params.iter().any(|param| param.name == name);
    let fits = |rule: &&Boundary| match is_inlet {
        true => has(rule, "velocity"),
        false => !has(rule, "velocity") || has(rule, "density"),
    };
    let candidates = model.boundaries().iter().filter(fits).filter_map(|rule| {
        let end = end(stream, model, rule, faces[at], |_| None).ok().filter(End::passes)?;
        let ends = if at == 0 { [&end, &fixed] } else { [&fixed, &end] };
        (!worst(stream, ends).grows()).then(|| rule.name.clone())
    });
    candidates.collect()
}
