//! Names of a spec as identifiers of C, C++, CUDA and Rust.
//!
//! In emitted text a name of a spec ends with one underscore, and begins with a letter: `omega_`, `ux_`, `feq_7_`. Nothing
//! else in that text does: no keyword of a target, no macro of a header, no name of a template and none of the compiler's
//! own (`f_3`, `post_7`, `t0`). So no name of a spec meets one of these, whatever it is, and there is no list of names that
//! are taken.
//!
//! What is known outside of its file has other forms, with the same letters: the name of a method begins its kernels,
//! `d2q9_bgk_init`, and that of a boundary rule or stencil a function with a number, `bounce_back_link_0`.

use std::collections::BTreeSet;

/// Name of a component of `base`, which has `count` of them: `rho`, `ux`, `uy`, `uz`.
pub fn component(base: &str, at: usize, count: usize) -> String {
    if count == 1 { base.into() } else { format!("{base}{}", ["x", "y", "z"][at]) }
}

/// Hands out each identifier once.
#[derive(Default)]
pub struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// The identifier of a name: its word with an underscore behind it; a number between them where another name has the
    /// same word.
    pub fn claim(&mut self, name: &str) -> String {
        let word = word(name);
        let numbered = (2..).map(|number| format!("{word}_{number}_"));
        let free = std::iter::once(format!("{word}_")).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.expect("there is always a next number");
        self.taken.insert(free.clone());
        free
    }
}

/// A name in letters, digits and single underscores between them, the first of them a letter. Greek letters are spelled out,
/// other letters beyond ASCII are given by number, and what is no letter becomes an underscore.
pub fn word(name: &str) -> String {
    let mut spelled = String::new();
    for letter in name.chars() {
        match greek(letter) {
            Some(latin) => spelled += latin,
            None if letter.is_ascii_alphanumeric() => spelled.push(letter),
            None if letter.is_alphanumeric() => spelled += &format!("_u{:x}_", letter as u32),
            None => spelled.push('_'),
        }
    }
    let parts: Vec<&str> = spelled.split('_').filter(|part| !part.is_empty()).collect();
    let word = parts.join("_");
    match word.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => word,
        Some(_) => format!("lbm_{word}"),
        None => "lbm".into(),
    }
}

/// The Latin name of a Greek letter.
fn greek(letter: char) -> Option<&'static str> {
    Some(match letter {
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'ε' | 'ϵ' => "epsilon",
        'ζ' => "zeta",
        'η' => "eta",
        'θ' | 'ϑ' => "theta",
        'ι' => "iota",
        'κ' => "kappa",
        'λ' => "lambda",
        'μ' => "mu",
        'ν' => "nu",
        'ξ' => "xi",
        'ο' => "omicron",
        'π' => "pi",
        'ρ' | 'ϱ' => "rho",
        'σ' | 'ς' => "sigma",
        'τ' => "tau",
        'υ' => "upsilon",
        'φ' | 'ϕ' => "phi",
        'χ' => "chi",
        'ψ' => "psi",
        'ω' => "omega",
        'Γ' => "Gamma",
        'Δ' => "Delta",
        'Θ' => "Theta",
        'Λ' => "Lambda",
        'Ξ' => "Xi",
        'Π' => "Pi",
        'Σ' => "Sigma",
        'Φ' => "Phi",
        'Ψ' => "Psi",
        'Ω' => "Omega",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_letters_and_ends_with_an_underscore() {
        let mut namer = Namer::default();
        assert_eq!(
            ["rho", "feq_7", "delete", "src", "t12"].map(|name| namer.claim(name)),
            ["rho_", "feq_7_", "delete_", "src_", "t12_"]
        );
    }

    #[test]
    fn an_identifier_is_given_once() {
        let mut namer = Namer::default();
        let names = ["omega", "ω", "_omega", "omega_2", "omega__2_"];
        assert_eq!(names.map(|name| namer.claim(name)), ["omega_", "omega_2_", "omega_3_", "omega_2_2_", "omega_2_3_"]);
    }

    #[test]
    fn any_name_makes_a_word() {
        let names = ["ρ_x", "Ω", "my-method", "1x", "a b", "méthode", "日本", "__builtin_cpu", "a\nb", "", "_", "ℵ₀"];
        assert_eq!(
            names.map(word),
            [
                "rho_x",
                "Omega",
                "my_method",
                "lbm_1x",
                "a_b",
                "m_ue9_thode",
                "u65e5_u672c",
                "builtin_cpu",
                "a_b",
                "lbm",
                "lbm",
                "u2135_u2080"
            ]
        );
    }
}
