//! Walls that move as those of a fluid of density 1, in a flow of another density.

use lbm_bundle::Manifest;

use super::solids::SolidBody;
use super::walls::Wall;

/// How far from 1 a density is before it matters.
const MARGIN: f64 = 0.01;

/// What is to be said of the walls and solids of a flow of that mean density, where it starts or has drifted to, if anything: that the first
/// whose boundary condition is for a fluid of density 1 gives it too little or too much.
pub(crate) fn misfit(manifest: &Manifest, walls: &[Wall], solids: &[SolidBody], density: f64) -> Option<String> {
    if (density - 1.0).abs() <= MARGIN {
        return None;
    }
    let of_one = |rule: &str| manifest.boundaries.iter().any(|known| known.name == rule && known.unit_density);
    // At rest it gives nothing.
    let rests = |values: &[(String, Vec<f64>)]| {
        let mut velocities = values.iter().filter(|(name, _)| name == "velocity").peekable();
        velocities.peek().is_some() && velocities.flat_map(|(_, values)| values).all(|value| *value == 0.0)
    };
    let moves = |rule: &str, values: &[(String, Vec<f64>)]| of_one(rule) && !rests(values);
    let walls = walls.iter().flat_map(Wall::all).filter(|wall| moves(&wall.rule, &wall.values));
    let at_faces = walls.map(|wall| (&wall.rule[..], format!("at `{}`", wall.face.name())));
    let bodies = solids.iter().filter(|body| {
        let solid = &body.solid;
        of_one(&solid.rule) && (body.moves.is_some() || !body.formulas.is_empty() || !rests(&solid.values))
    });
    let of_solids = bodies.map(|body| (&body.solid.rule[..], format!("of solid {}", body.of + 1)));
    let (rule, place) = at_faces.chain(of_solids).next()?;
    let off = 100.0 * (1.0 / density - 1.0);
    let way = if off < 0.0 { "too small" } else { "too large" };
    Some(format!(
        "`{rule}` {place} is for a fluid of density 1, and the mean density is {density:.4}: the momentum that it gives the fluid is \
         {:.1} % {way}",
        off.abs()
    ))
}
