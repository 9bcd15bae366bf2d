//! The pictures and views of a case by name, drawn at any step.

use lbm_runtime::solver::snapshot::Snapshot;

use super::canvas::Canvas;
use super::picture;
use super::views;
use crate::case::Case;

/// Pictures of the flow that a case has if it asks for pictures without saying which.
const OVERVIEW: [&str; 2] = ["velocity", "vorticity"];

/// The names of all that can be drawn of a flow: pictures of its fields, not of statistics, and views.
pub fn names(case: &Case) -> Vec<String> {
    let output = &case.output;
    let overview = OVERVIEW.into_iter().filter(|_| output.picture).map(str::to_string);
    let pictures = output.pictures.iter().filter(|picture| picture.statistics.is_none());
    let pictures = pictures.map(|picture| picture.frames.name.clone());
    overview.chain(pictures).chain(output.views.iter().map(|view| view.frames.name.clone())).collect()
}

/// Draws one of them; `None` if there is none of that name, or if it needs the velocity and the snapshot has none.
pub fn draw(case: &Case, snapshot: &Snapshot, name: &str) -> Option<Canvas> {
    let output = &case.output;
    let found = output.pictures.iter().find(|picture| picture.statistics.is_none() && picture.frames.name == name);
    if let Some(found) = found {
        return picture::draw(case, snapshot, found);
    }
    if let Some(view) = output.views.iter().find(|view| view.frames.name == name) {
        return views::draw(case, snapshot, view);
    }
    match name {
        "velocity" if output.picture => picture::draw_velocity(case, snapshot),
        "vorticity" if output.picture => picture::draw_vorticity(case, snapshot),
        _ => None,
    }
}
