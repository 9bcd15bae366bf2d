//! What grows between two faces, and what sound they reflect, in words.

use lbm_dsl::prove::pair::{GROWS, LENGTHS};

use lbm_setup::faces::{Distances, Faces, Pair, Sound, WAVELENGTHS};
use lbm_setup::rates::Rates;
use lbm_setup::stability::vector;

/// Prints a line for each pair, distance and rule.
pub fn tell(found: &Faces, rates: &Rates) {
    let Faces { faces: [low, high], pairs, distances, sound, unknown } = found;
    println!("between two faces, `{low}` and `{high}`: a uniform stream, linearised with the rules at both");
    println!(
        "  columns of {} and {} cells, waves across; growth of the amplitude's logarithm in a step",
        LENGTHS[0], LENGTHS[1]
    );
    let first = pairs.first().map(|pair| &pair.rules);
    if pairs.iter().all(|pair| Some(&pair.rules) == first) {
        for pair in pairs {
            let Pair { rules: [low, high], rate, velocity, .. } = pair;
            println!("  {low}, {high}: {}{}: {}", stream(velocity), rates.at(*rate), verdict(pair));
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
    for Sound { face, rule, rate, velocity, reflected } in sound {
        let parts: Vec<String> = reflected.iter().map(|(_, part)| format!("{part:+.3}")).collect();
        println!("  {rule} at {face}, {}{}: {}", stream(velocity), rates.at(*rate), parts.join(", "));
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
