//! Where linear stability ends, in words.

use std::f64::consts::PI;

use lbm_dsl::prove::edge;
use lbm_setup::rates::Rates;
use lbm_setup::stability::{AtRate, AtVelocity, SPEED, Stability, Wave, vector};

fn verdict(worst: &Wave) -> String {
    let wave: Vec<f64> = worst.wave.iter().map(|k| k / PI).collect();
    format!("waves k = pi {} grow by {:.1e}", vector(&wave), worst.growth)
}

/// Prints a line for each value of the rate.
pub fn tell(found: &Stability, rates: &Rates) {
    let Stability { waves, cells, at_velocity, direction, limits } = found;
    println!("linear stability of uniform flow (von Neumann)");
    println!(
        "  {waves} wave vectors, multiples of 2 pi/{cells} along each axis; growth of the amplitude's logarithm in a step"
    );
    for AtVelocity { rate, velocity, stable, worst, interface_growth } in at_velocity {
        let mut verdict = if *stable { "stable".into() } else { verdict(worst) };
        if *interface_growth > edge::GROWS {
            verdict += &format!(
                "; disturbances at refinement interfaces and open faces grow by {interface_growth:.1e} (C0509)"
            );
        }
        println!("  u = {}{}: {verdict}", vector(velocity), rates.at(*rate));
    }
    for AtRate { rate, stable_to, beyond, noise_in_16_bits } in limits {
        let (rate, verdict) = (rates.at(*rate), verdict(beyond));
        match stable_to {
            Some(speed) => {
                println!("  stable for |u| <= {speed:.2} along {}{rate}; beyond, {verdict}", vector(direction))
            }
            None => println!("  unstable at rest{rate}: {verdict}"),
        }
        if let Some(noise) = noise_in_16_bits {
            println!(
                "  moments in 16 bits{rate}: at |u| = {SPEED} the velocity has noise of {noise:.1e} of itself at most, in this box"
            );
        }
    }
}
