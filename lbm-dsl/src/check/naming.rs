//! Names of the components of a family.
//!
//! After: every name is unique in its model, and begins with that of its family as written: `ux`, `pi_xy`, `feq_7`, `m_1_0_n1`.

use std::collections::BTreeSet;

use crate::check::value::Dim;

/// The name of the component of `family` at `position`, counted over all indices, the last fastest.
pub fn component(family: &str, dims: &[Dim], position: usize) -> String {
    let mut rest = position;
    let mut indices = Vec::new();
    for dim in dims.iter().rev() {
        indices.push((dim, dim.at(rest % dim.len())));
        rest /= dim.len();
    }
    indices.reverse();
    let mut name = family.to_string();
    if let [(Dim::Axes(_), axis)] = indices[..] {
        name.push(letter(axis));
        return name;
    }
    let mut after_axis = false;
    for (dim, value) in indices {
        if let Dim::Axes(_) = dim {
            if !after_axis {
                name.push('_');
            }
            name.push(letter(value));
            after_axis = true;
        } else {
            after_axis = false;
            let sign = if value < 0 { "n" } else { "" };
            name.push_str(&format!("_{sign}{}", value.abs()));
        }
    }
    name
}

fn letter(axis: i64) -> char {
    ['x', 'y', 'z'][axis as usize]
}

/// Names given so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: BTreeSet<String>,
}

impl Names {
    /// `name`, or `name_` and so on where it is used already.
    pub fn unique(&mut self, name: String) -> String {
        let mut name = name;
        while !self.used.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::value::{Dirs, LatticeId};

    #[test]
    fn components_are_named_by_their_indices() {
        let (axes, dirs, whole) =
            (Dim::Axes(3), Dim::Dirs(Dirs { lattice: LatticeId(0), count: 9 }), Dim::Whole(-1, 1));
        assert_eq!(component("u", &[axes], 2), "uz");
        assert_eq!(component("pi", &[axes, axes], 1), "pi_xy");
        assert_eq!(component("feq", &[dirs], 7), "feq_7");
        assert_eq!(component("q", &[dirs, axes], 4), "q_1_y");
        assert_eq!(component("m", &[whole, whole, whole], 26), "m_1_1_1");
        assert_eq!(component("m", &[whole, whole], 0), "m_n1_n1");
        assert_eq!(component("ρ", &[], 0), "ρ");
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::default();
        assert_eq!([names.unique("ux".into()), names.unique("ux".into())], ["ux", "ux_"]);
    }
}
