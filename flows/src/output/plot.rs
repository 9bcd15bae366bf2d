//! A plot of the velocity along the centre lines, with published points.

use super::canvas::Canvas;
use super::chart::{COLOURS, Chart, Curve, Panel, Style};
use super::profile::Profile;
use crate::case::{Case, Reference};

const AXES: [&str; 3] = ["x", "y", "z"];
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// Draws a panel for each profile.
pub fn draw(case: &Case, profiles: &[Profile]) -> Canvas {
    let re = case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
    let panels = profiles.iter().map(|profile| panel(case, profile)).collect();
    Chart { title: format!("{}{re}: centre lines", case.name), panels }.draw()
}

fn panel(case: &Case, profile: &Profile) -> Panel {
    let computed = (0..case.dim).map(|component| Curve {
        name: COMPONENTS[component].to_string(),
        colour: COLOURS[component],
        style: Style::Line,
        points: profile.points.iter().map(|point| (point.position, point.velocity[component])).collect(),
    });
    let (title, curves) = match &case.output.compare {
        Some(Reference::Profiles { title, curves }) => (*title, &curves[..]),
        _ => ("", &[][..]),
    };
    let published = curves.iter().filter(|curve| curve.axis == profile.axis).map(|curve| Curve {
        name: format!("{}, {title}", COMPONENTS[curve.component]),
        colour: COLOURS[curve.component],
        style: Style::Rings,
        points: curve.points.clone(),
    });
    let unit = if case.scales.velocity > 0.0 { "velocity / U" } else { "velocity / (cells per step)" };
    Panel {
        x: format!("{} / extent", AXES[profile.axis]),
        y: unit.to_string(),
        range: (0.0, 1.0),
        curves: computed.chain(published).collect(),
    }
}
