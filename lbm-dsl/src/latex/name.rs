//! Names as LaTeX: `omega_odd` is \omega with a subscript, `feq` is f with a superscript, `g2` the second of some g.

/// Letters of which names may begin, as they are written, and as commands.
const GREEK: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Phi", "Psi", "Omega",
];

/// A name in its parts.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// What the rest stands at.
    pub base: String,
    /// Subscripts.
    pub below: Vec<String>,
    /// Superscripts.
    pub above: Vec<String>,
}

impl Symbol {
    /// All of it.
    pub fn text(&self) -> String {
        let part = |sign: &str, parts: &[String]| match parts {
            [] => String::new(),
            parts => format!("{sign}{{{}}}", parts.join(", ")),
        };
        format!("{}{}{}", self.base, part("^", &self.above), part("_", &self.below))
    }
}

/// A name of a text.
pub fn written(name: &str) -> Symbol {
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let (mut below, mut above) = (vec![], vec![]);
    let letters = first.trim_end_matches(|last: char| last.is_ascii_digit());
    let (base, digits) = if letters.is_empty() { (first, "") } else { first.split_at(letters.len()) };
    let base = match base.strip_suffix("eq") {
        Some(of) if of.chars().count() == 1 => {
            above.push("\\mathrm{eq}".into());
            of
        }
        _ => base,
    };
    if !digits.is_empty() {
        above.push(format!("({digits})"));
    }
    for word in words {
        if word == "eq" { above.push("\\mathrm{eq}".into()) } else { below.push(letter(word)) }
    }
    Symbol { base: letter(base), below, above }
}

/// A letter, a Greek one by its name, or an upright word.
fn letter(word: &str) -> String {
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only.is_ascii() => only.to_string(),
        (Some('α'), None) => "\\alpha".into(),
        (Some('β'), None) => "\\beta".into(),
        (Some('γ'), None) => "\\gamma".into(),
        _ if GREEK.contains(&word) => format!("\\{word}"),
        _ if word.chars().all(|c| c.is_ascii_digit()) => word.into(),
        _ => format!("\\mathrm{{{}}}", word.chars().map(ascii).collect::<String>()),
    }
}

/// A letter as it is, if LaTeX knows it without further packages, else its number.
fn ascii(letter: char) -> String {
    if letter.is_ascii_alphanumeric() { letter.into() } else { format!("u{:x}", u32::from(letter)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_scripts() {
        let text = |name: &str| written(name).text();
        assert_eq!(text("omega"), "\\omega");
        assert_eq!(text("omega_odd"), "\\omega_{\\mathrm{odd}}");
        assert_eq!(text("omega_10"), "\\omega_{10}");
        assert_eq!(text("feq"), "f^{\\mathrm{eq}}");
        assert_eq!(text("even_eq"), "\\mathrm{even}^{\\mathrm{eq}}");
        assert_eq!(text("g211"), "g^{(211)}");
        assert_eq!(text("_unused"), "\\mathrm{unused}");
        assert_eq!(text("é"), "\\mathrm{ue9}");
    }
}
