//! Whether mass stays what it was, where nothing lets it in or out.
//!
//! A method conserves mass in its cells, and a wall on which populations are turned back gives as much as it takes. What is interpolated between cells, set at
//! the centres of cells or filled where a solid has been does so approximately: an error of a step is small, and that of many adds up.

use lbm_bundle::Manifest;

use crate::case::Case;

/// Change of mass, over that at the start, from which on the user is told.
const BOUND: f64 = 1e-3;

/// Whether mass can neither come in nor go out: all faces are periodic or closed, no solid has a density of its own, and the first set of populations has
/// the density as its sum.
pub fn is_closed(case: &Case, manifest: &Manifest) -> bool {
    let mut names = case.solids.iter().flat_map(|body| {
        body.solid.values.iter().map(|(name, _)| name).chain(body.formulas.iter().map(|(name, _)| name))
    });
    manifest.main().field.as_deref() == Some("rho")
        && !names.any(|name| name == "density")
        && case.walls.iter().all(|wall| case.is_closed(wall))
}

/// What the user should know of a change in so many steps, if it is large.
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
    use crate::output::example;

    #[test]
    fn a_box_is_closed_until_something_lets_mass_in() {
        let (mut case, _) = example::cavity(16);
        let mut manifest = example::manifest();
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
