//! Lists of words, and guesses at what a mistyped one was meant to be.

/// The choice nearest to `word`, if it is near enough to be meant: few letters differ, and not all, or one begins with the other.
pub fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let count = lower.chars().count();
    let rank = |choice: &str| {
        let begins = choice.starts_with(&lower) && lower.len() > 2 || lower.starts_with(choice) && choice.len() > 1;
        // What is longer by more than what may differ is not near, however long it is; so far apart are also beginnings.
        let (most, apart) =
            (1 + word.len().min(choice.len()).saturating_sub(1) / 4, count.abs_diff(choice.chars().count()));
        let letters = if apart > most { apart } else { distance(&lower, &choice.to_lowercase()) };
        let near = letters <= most && letters < word.len().max(choice.len());
        (near || begins).then_some((!near, letters, choice.len().abs_diff(word.len())))
    };
    choices.into_iter().filter_map(|choice| Some((rank(choice)?, choice))).min().map(|(_, choice)| choice)
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swapped)
            };
        }
    }
    rows[a.len()][b.len()]
}

/// `a, b or c`, each in backticks.
pub(super) fn list<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = choices.into_iter().map(|choice| format!("`{choice}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// `did you mean ...?`, or the choices when none is near.
pub(super) fn suggest(word: &str, choices: &[&str]) -> String {
    match nearest(word, choices.iter().copied()) {
        Some(choice) => format!("did you mean `{choice}`?"),
        None => format!("known here: {}", list(choices.iter().copied())),
    }
}

/// A name as formulas have it: letters, digits and `_`.
pub fn plain(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("visocsity", ["velocity", "viscosity"]), Some("viscosity"));
        assert_eq!(nearest("Re", ["re"]), Some("re"));
        assert_eq!(nearest("visc", ["re", "viscosity"]), Some("viscosity"));
        assert_eq!(nearest("reynolds", ["resolution", "re"]), Some("re"));
        assert_eq!(nearest("mn", ["m", "mm"]), Some("mm"));
        assert_eq!(nearest("banana", ["re", "viscosity"]), None);
        assert_eq!((nearest("Q", ["g", "m"]), nearest("bulk", ["back"])), (None, None));
    }

    #[test]
    fn distance_counts_a_swap_once() {
        assert_eq!(distance("setps", "steps"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
