//! Check of mass conservation in domains without open boundaries.
//!
//! A method conserves mass in its cells, and walls that reflect populations are exactly conservative. Boundary
//! conditions that interpolate between cells, set values at cell centres, or fill cells that a solid has left conserve
//! mass only approximately: the error per step is small, but accumulates.

use lbm_bundle::Manifest;

use crate::case::Case;

/// Change relative to the initial mass above which the user is warned.
const BOUND: f64 = 1e-3;

/// Whether no mass can enter or leave: all faces are periodic or closed, no solid prescribes a density, no layer absorbs, and
/// the first set of populations sums to the density.
pub fn is_closed(case: &Case, manifest: &Manifest) -> bool {
    let mut names = case.solids.iter().flat_map(|body| {
        body.solid.values.iter().map(|(name, _)| name).chain(body.formulas.iter().map(|(name, _)| name))
    });
    manifest.main().field.as_deref() == Some("rho")
        && !case.absorbs()
        && !names.any(|name| name == "density")
        && case.walls.iter().all(|wall| case.is_closed(wall))
}

/// A warning about the change of mass over `steps` steps, if it is large.
pub fn warning(start: f64, end: f64, steps: u64) -> Option<String> {
    let change = end / start - 1.0;
    (change.abs() > BOUND && steps > 0).then(|| {
        format!(
            "mass has changed by {:+.3} % in {steps} steps, {:+.1e} of it in a step, and nothing is open: some boundary condition conserves it \
             approximately only, or what moves has a velocity against its own surface; `bounce_back` and walls that move along themselves \
             (`moving_wall`) conserve mass, and a face with a pressure (`anti_bounce_back`) holds it",
            100.0 * change,
            change / steps as f64
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_box_is_closed_until_something_lets_mass_in() {
        let (mut case, _) = fixture::cavity(16);
        let mut manifest = fixture::manifest();
        manifest.populations[0].field = Some("rho".into());
        assert!(is_closed(&case, &manifest));
        case.walls[0].values = vec![("velocity".into(), vec![0.01, 0.0])];
        assert!(!is_closed(&case, &manifest));
    }

    #[test]
    fn a_change_is_told_with_its_rate() {
        assert_eq!(warning(100.0, 100.05, 1000), None);
        let text = warning(1000.0, 966.0, 100_000).unwrap();
        assert!(text.starts_with("mass has changed by -3.400 % in 100000 steps, -3.4e-7 of it in a step"), "{text}");
    }
}
