//! Diagnosis of a flow that blows up: where and when it began, and the likely cause.
//!
//! A check detects it some hundred steps late, when non-finite values are everywhere. The flow is therefore reset to
//! the last populations that were copied to the host while it was finite ([`Good`](super::watch::Good)), and advanced
//! step by step to the first step at which a cell is faster than sound or not finite. The worst cell at that step is
//! the origin. These steps write no output.

use std::time::Instant;

use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::StepError;
use lbm_runtime::solver::observe::NotFinite;
use lbm_runtime::solver::snapshot::Snapshot;

use super::error::{FlowError, of_level};
use super::run::Run;
use super::sound::sound;
use super::watch::Kept;
use crate::case::{Case, Dimension};
use crate::output::Recorder;

/// Largest distance, in cells, between the origin and a wall, solid or interface that is reported with it.
const NEAR: usize = 2;
/// Mach number above which compressibility errors may be the cause.
const FAST: f64 = 0.3;
/// Relaxation rate above which the viscosity is small for the collision operator.
const LITTLE_VISCOSITY: f64 = 1.95;
/// Seconds that the search for the origin may take.
const PATIENCE: f64 = 10.0;

/// Where and when a flow began to blow up.
struct Origin {
    step: u64,
    cell: Cell,
    /// Speed there, in cells per step; not finite if a value is not.
    speed: f64,
    near: Vec<Near>,
}

/// What is near the origin.
enum Near {
    /// A face of the domain: its name and boundary rule.
    Face(&'static str, String),
    /// A solid, and whether any solid moves.
    Solid { moves: bool },
    /// Cells of another level.
    Interface,
}

impl Near {
    fn describe(&self) -> String {
        match self {
            Near::Face(face, rule) => format!("`{face}` ({rule})"),
            Near::Solid { moves: false } => "the surface of a solid".into(),
            Near::Solid { moves: true } => "the surface of a solid, of which one moves".into(),
            Near::Interface => "a refinement interface".into(),
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Near::Face(..) => {
                "give the face another rule (docs/faces.md says which pairs are stable), or start nearer to what it prescribes"
            }
            Near::Solid { moves: false } => "refine the grid around the solid, or take another rule for its surface",
            Near::Solid { moves: true } => {
                "let the solid move by less than a tenth of a cell in a step, or refine the grid around it"
            }
            Near::Interface => "let the refined part reach further, or take another `refinement.coupling`",
        }
    }
}

impl<'a> Run<'a> {
    /// Writes the fields of a step that is not finite, and returns the error that describes the failure, with what is `known` of the case
    /// before anything else.
    pub(super) fn broken(
        mut self,
        place: NotFinite,
        recorder: &mut Option<Recorder<'a>>,
        known: Vec<String>,
    ) -> Result<FlowError, FlowError> {
        let (step, snapshot) = (self.flow.step(), self.fields_if_room(false)?);
        let folder = recorder.as_ref().map_or(String::new(), |recorder| recorder.folder().display().to_string());
        let kept = self.good.kept.take();
        if let Some(recorder) = recorder {
            recorder.broken(snapshot.as_ref(), kept.as_ref().map(|kept| &kept.fields), self.flow.manifest())?;
        }
        let left = self.left(&folder, snapshot.is_some(), kept.as_ref());
        drop(snapshot);
        let origin = match kept {
            Some(kept) => self.origin(kept, step)?,
            None => None,
        };
        let began = origin.as_ref().map_or(String::new(), |origin| origin.describe(self.case));
        Ok(FlowError::NotFinite {
            position: position(self.case, place.cell.centre()),
            place: Box::new(place),
            step,
            well: self.well,
            began,
            advice: format!("{}; {left}", advice(self.case, origin.as_ref(), known)),
        })
    }

    /// Message: the files that may help to find the cause.
    fn left(&self, folder: &str, fields: bool, kept: Option<&Kept>) -> String {
        let mut text = match fields {
            true => format!("in `{folder}` are the fields of that step"),
            false => "the host has not room for the fields of that step".to_string(),
        };
        if let Some(kept) = kept {
            text += &format!(", and those of step {}, when the flow was finite", kept.fields.step);
        }
        if let Some(step) = self.saved {
            text += &format!(
                "; `--resume` goes on from step {step}, where `--set output.every=10` and the like show more of what led to it"
            );
        }
        text
    }

    /// Finds the origin of a blow-up that was detected at step `found`. `None` if the flow cannot be reset to `kept`,
    /// if the search would take too long, or in several processes, which keep no populations.
    fn origin(&mut self, kept: Kept, found: u64) -> Result<Option<Origin>, FlowError> {
        let from = kept.fields.step;
        let steps = (found - from) as f64;
        let takes_long = steps > PATIENCE * self.flow.timings().steps_per_second();
        let leaves = self.flow.grid().leaves().map_err(StepError::from)?;
        if self.processes.are_several() || takes_long || !leaves.iter().map(|leaf| leaf.block).eq(kept.blocks) {
            return Ok(None);
        }
        self.flow.set_bodies(&kept.fields.bodies);
        self.flow.set_slips(&kept.slips)?;
        let mut rest = &kept.populations[..];
        self.flow.write_populations::<StepError>(from, |bytes| {
            let (now, later) = rest.split_at(bytes.len());
            bytes.copy_from_slice(now);
            rest = later;
            Ok(())
        })?;
        let began = Instant::now();
        while self.flow.step() < found && began.elapsed().as_secs_f64() < PATIENCE {
            self.flow.run(1)?;
            let not_finite = self.flow.check_fields()?.not_finite;
            let fastest = self.flow.means()?.map_or(0.0, |means| means.fastest);
            if not_finite.is_some() || !fastest.is_finite() || fastest > sound(&self.flow) {
                let worst = self.fields_if_room(false)?.and_then(|fields| Some((worst(&fields)?, fields)));
                return Ok(worst.map(|((at, speed), fields)| {
                    let cell = fields.cell(at);
                    Origin { step: self.flow.step(), cell, speed, near: near(self.case, &fields, cell) }
                }));
            }
        }
        Ok(None)
    }
}

impl Origin {
    /// Text for a message.
    fn describe(&self, case: &Case) -> String {
        let Origin { step, cell, speed, near } = self;
        let Cell { at: [x, y, z], level } = cell;
        let level = of_level(*level);
        let what = match speed.is_finite() {
            true => format!("faster than sound, {speed:.2} cells per step"),
            false => "not finite".to_string(),
        };
        let near: Vec<String> = near.iter().map(Near::describe).collect();
        let near = if near.is_empty() { String::new() } else { format!(", at {}", near.join(" and ")) };
        let position = position(case, cell.centre());
        format!("; it began by step {step} at cell ({x}, {y}, {z}){level}, {position}{near}, where it is {what}")
    }
}

/// A point given in cells of the coarsest level, as text in the units of the case.
fn position(case: &Case, point: [f64; 3]) -> String {
    let unit = if case.units.si { "m" } else { "cells" };
    let along = |axis: usize| format!("{:.6}", point[axis] * case.units.scale(Dimension::LENGTH));
    let point = (0..case.dim).map(along).collect::<Vec<_>>().join(", ");
    format!("{} = ({point}) {unit}", &["x, y", "x, y, z"][case.dim - 2])
}

/// Index of the worst fluid cell of a snapshot, and its speed: the first cell with a non-finite value, or else the
/// fastest one.
fn worst(fields: &Snapshot) -> Option<(usize, f64)> {
    let velocity = fields.vector("u")?;
    let cells = velocity[0].len();
    let is_fluid = |at: &usize| !fields.solid.get(*at).is_some_and(|solid| *solid);
    let speed = |at: usize| {
        let finite = fields.components.iter().all(|component| component.data[at].is_finite());
        let square: f64 = velocity.iter().map(|along| along[at] * along[at]).sum();
        if finite { square.sqrt() } else { f64::INFINITY }
    };
    let faster = |one: (usize, f64), next: (usize, f64)| if next.1 > one.1 { next } else { one };
    (0..cells).filter(is_fluid).map(|at| (at, speed(at))).reduce(faster)
}

/// Walls, solids and refinement interfaces near a cell.
fn near(case: &Case, fields: &Snapshot, cell: Cell) -> Vec<Near> {
    let size = fields.size_of(cell.level);
    let mut found = vec![];
    for wall in &case.walls {
        let (at, last) = (cell.at[wall.face.axis], size[wall.face.axis] - 1);
        if if wall.face.high { last - at } else { at } <= NEAR {
            found.push(Near::Face(wall.face.name(), wall.at(cell.centre()).rule.clone()));
        }
    }
    let (mut solid, mut interface) = (false, false);
    for axis in 0..case.dim {
        for high in [false, true] {
            let beside = std::iter::successors(Some(cell), |cell| fields.beside(*cell, axis, high)).skip(1).take(NEAR);
            for beside in beside {
                match fields.cover(beside) {
                    Some((at, other)) => {
                        solid |= fields.solid.get(at).is_some_and(|solid| *solid);
                        interface |= other.level != cell.level;
                    }
                    None => interface = true,
                }
            }
        }
    }
    if solid {
        found.push(Near::Solid { moves: case.solids.iter().any(|body| body.moves.is_some()) });
    }
    if interface {
        found.push(Near::Interface);
    }
    found
}

/// What is known of the case, then possible remedies, from the scales of the case and the surroundings of the origin.
fn advice(case: &Case, origin: Option<&Origin>, known: Vec<String>) -> String {
    let scales = &case.scales;
    let mut all = known;
    if scales.mach > FAST {
        all.push(format!("the Mach number is {:.2}: lower the velocity until it is below {FAST}", scales.mach));
    }
    if let Some(omega) = scales.omega.filter(|omega| *omega > LITTLE_VISCOSITY) {
        all.push(format!(
            "the rate {omega:.4} is close to its limit, 2: lower `re`, take more cells, or a collision that is stable with less viscosity"
        ));
    }
    for near in origin.iter().flat_map(|origin| &origin.near) {
        all.push(near.advice().to_string());
    }
    if all.is_empty() {
        let inside = "the grid is too coarse for what the flow does there, or its velocity too high: refine it, lower `re` or the velocity, or take a more \
                      stable collision";
        all.push(inside.to_string());
    }
    all.join("; ")
}
