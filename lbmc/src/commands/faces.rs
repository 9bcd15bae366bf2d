//! What grows between two faces, and what sound they reflect, in words.

use lbm_bundle::plain::listed;
use lbm_dsl::prove::pair::{GROWS, LENGTHS, SIDE};

use lbm_setup::faces::{ANGLES, Distances, Faces, Pair, Sound, WAVELENGTH, WAVELENGTHS};
use lbm_setup::rates::Rates;
use lbm_setup::stability::vector;

/// Prints a line for each pair, distance and rule.
pub fn tell(found: &Faces, rates: &Rates) {
    let Faces { faces, pairs, distances, sound, unknown } = found;
    let names = faces.iter().map(|face| format!("`{face}`")).collect::<Vec<_>>();
    match &names[..] {
        [low, high] => {
            println!("between two faces, {low} and {high}: a uniform stream, linearised with the rules at both");
            println!(
                "  columns of {} and {} cells, waves across; growth of the amplitude's logarithm in a step",
                LENGTHS[0], LENGTHS[1]
            );
        }
        _ => {
            println!("between {}: a uniform stream, linearised with the rules at all", listed(names));
            println!(
                "  a box of {SIDE} x {SIDE} cells with its corners; growth of the amplitude's logarithm in a step"
            );
        }
    }
    let first = pairs.first().map(|pair| &pair.rules);
    if pairs.iter().all(|pair| Some(&pair.rules) == first) {
        for pair in pairs {
            let Pair { rules, rate, velocity, .. } = pair;
            println!("  {}: {}{}: {}", rules.join(", "), stream(velocity), rates.at(*rate), verdict(pair));
        }
    } else {
        all(pairs, rates);
    }
    for Distances { rules: [low, high], rate, growth } in distances {
        let grows: Vec<String> = growth
            .iter()
            .filter(|(_, growth)| *growth > GROWS)
            .map(|(distance, growth)| format!("{distance} ({growth:.1e})"))
            .collect();
        let (first, end) = (growth[0].0, growth[growth.len() - 1].0);
        let verdict = match grows.is_empty() {
            true => format!("stable for all of {} distances from {first} to {end}", growth.len()),
            false => format!("grows at the distances {}", grows.join(", ")),
        };
        println!("  {low}, {high}{}: {verdict}", rates.at(*rate));
    }
    if !sound.is_empty() {
        let lengths = WAVELENGTHS.map(|length| length.to_string());
        println!(
            "sound at normal incidence, the part of its amplitude that is reflected, for waves of {} cells",
            lengths.join(", ")
        );
    }
    for Sound { face, rule, rate, velocity, reflected, .. } in sound {
        println!("  {rule} at {face}, {}{}: {}", stream(velocity), rates.at(*rate), parts(reflected));
    }
    if !sound.is_empty() {
        println!("at angles of {} degrees to the normal, of waves of {WAVELENGTH} cells", numbers(&ANGLES));
    }
    for Sound { face, rule, angles, .. } in sound {
        println!("  {rule} at {face}: {}", parts(angles));
    }
    if sound.iter().any(|sound| !sound.vortices.is_empty()) {
        println!(
            "vortices that leave at angles of {} degrees: velocity of the flow that the face adds to theirs, over theirs",
            numbers(&ANGLES[1..])
        );
    }
    for Sound { face, rule, vortices, .. } in sound.iter().filter(|sound| !sound.vortices.is_empty()) {
        let parts: Vec<String> = vortices.iter().map(|(_, part)| format!("{part:.3}")).collect();
        println!("  {rule} at {face}: {}", parts.join(", "));
    }
    unknown.iter().for_each(|sentence| println!("  {sentence}"));
}

/// Prints a line for each pair, with all rates.
fn all(pairs: &[Pair], rates: &Rates) {
    println!("  u = {}, an inlet and an outlet", vector(&pairs[0].velocity));
    let of_first_rate = pairs.iter().take_while(|pair| pair.rate == pairs[0].rate);
    for Pair { rules, .. } in of_first_rate {
        let same = pairs.iter().filter(|pair| pair.rules == *rules);
        let found: Vec<String> = same.map(|pair| format!("{}{}", verdict(pair), rates.at(pair.rate))).collect();
        println!("  {}, {}: {}", rules[0], rules[1], found.join("; "));
    }
}

fn numbers(all: &[f64]) -> String {
    all.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn parts(found: &[(f64, f64)]) -> String {
    found.iter().map(|(_, part)| format!("{part:+.3}")).collect::<Vec<_>>().join(", ")
}

fn stream(velocity: &[f64]) -> String {
    match velocity.iter().all(|u| *u == 0.0) {
        true => "at rest".into(),
        false => format!("u = {}", vector(velocity)),
    }
}

fn verdict(pair: &Pair) -> String {
    match pair.stable {
        true => "stable".into(),
        false => format!("grows by {:.1e} ({})", pair.growth, pair.disturbance()),
    }
}
