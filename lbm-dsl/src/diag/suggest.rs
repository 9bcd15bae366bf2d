//! Names that were probably meant.

/// The candidate nearest to `name`, if it is near: at most one edit for three letters.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let allowed = letters.div_ceil(3);
    // Names twice as long are further away than the candidate has letters.
    let candidates = candidates.into_iter().filter(|other| letters < 2 * other.chars().count());
    let near = candidates.map(|other| (distance(name, other), other));
    near.filter(|(distance, other)| *distance <= allowed && *distance < other.chars().count())
        .min()
        .map(|(_, other)| other)
}

/// The hint "did you mean `x`?", or `otherwise` where nothing is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    closest(name, candidates).map_or_else(|| otherwise.into(), |found| format!("did you mean `{found}`?"))
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other; case counts as nothing.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) =
        (from.to_lowercase().chars().collect(), to.to_lowercase().chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for (at, a) in from.iter().enumerate() {
        let mut row = vec![at + 1];
        for (other, b) in to.iter().enumerate() {
            let last = &rows[at];
            let mut best = (last[other] + usize::from(a != b)).min(last[other + 1] + 1).min(row[other] + 1);
            if at > 0 && other > 0 && from[at - 1] == *b && to[other - 1] == *a {
                best = best.min(rows[at - 1][other - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["omega", "rho", "quadratic", "bounce_back", "D2Q9"];
        for (slip, meant) in
            [("omgea", "omega"), ("Rho", "rho"), ("quadartic", "quadratic"), ("bounceback", "bounce_back")]
        {
            assert_eq!(closest(slip, names), Some(meant));
        }
        assert_eq!(closest("viscosity", names), None);
        assert_eq!(closest("x", ["y"]), None);
    }
}
