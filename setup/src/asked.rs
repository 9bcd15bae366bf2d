//! What is asked about faces, from the command line.

use lbm_dsl::model::Model;
use miette::{Result, miette};

use crate::spec::Spec;

/// Names of faces, both of each axis.
pub(crate) const NAMES: [[&str; 2]; 3] = [["left", "right"], ["bottom", "top"], ["back", "front"]];

/// What is asked about faces.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// All pairs of an inlet and an outlet.
    All,
    /// The rules at both faces of an axis, the lower one first.
    Pair {
        /// The axis.
        axis: usize,
        /// The rules.
        rules: [String; 2],
    },
    /// The rules at both faces of two axes.
    Duct {
        /// The axes, ascending.
        axes: [usize; 2],
        /// The rules of each, the lower face first.
        rules: [[String; 2]; 2],
    },
}

impl Asked {
    /// Reads `all`, or `FACE=RULE` for both faces of one axis or of two.
    pub fn parse(text: &str) -> Result<Asked> {
        if text.trim() == "all" {
            return Ok(Asked::All);
        }
        let wrong = |what: String| {
            miette!(
                code = "L0205",
                help = "write two opposite faces with a boundary condition each, for example `--faces \
                        left=moving_wall,right=anti_bounce_back`, or four with walls along the stream, or `--faces all`",
                "{what}"
            )
        };
        let mut rules: [[Option<String>; 2]; 3] = Default::default();
        for part in text.split(',') {
            let (face, rule) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` is not FACE=RULE")))?;
            let (face, rule) = (face.trim(), rule.trim());
            let place = NAMES
                .iter()
                .enumerate()
                .find_map(|(axis, names)| names.iter().position(|name| *name == face).map(|high| (axis, high)));
            let (axis, high) = place.ok_or_else(|| wrong(format!("there is no face `{face}`")))?;
            if rules[axis][high].replace(rule.to_string()).is_some() {
                return Err(wrong(format!("`{face}` is given two rules")));
            }
        }
        let mut pairs = vec![];
        for (axis, rules) in rules.into_iter().enumerate() {
            match rules {
                [Some(low), Some(high)] => pairs.push((axis, [low, high])),
                [None, None] => {}
                _ => return Err(wrong("`--faces` needs both faces of an axis".into())),
            }
        }
        match <[_; 2]>::try_from(pairs) {
            Ok([(one, first), (other, second)]) => Ok(Asked::Duct { axes: [one, other], rules: [first, second] }),
            Err(pairs) => match <[_; 1]>::try_from(pairs) {
                Ok([(axis, rules)]) => Ok(Asked::Pair { axis, rules }),
                Err(_) => Err(wrong("`--faces` takes the faces of two axes at most".into())),
            },
        }
    }

    /// The method with the rules that are asked about, and some more.
    pub fn model(&self, spec: &Spec, more: &[String]) -> Result<Model> {
        match self {
            Asked::Pair { rules, .. } => spec.model_with_all(&[&rules[..], more].concat(), None),
            Asked::Duct { rules, .. } => spec.model_with_all(&[&rules.concat()[..], more].concat(), None),
            // Methods of several sets of populations have rules of their own alone.
            Asked::All => spec.with_every_rule().map_or_else(|| spec.model_with_all(more, None), Ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_opposite_ones() {
        let pair = |axis, low: &str, high: &str| Asked::Pair { axis, rules: [low.into(), high.into()] };
        assert_eq!(Asked::parse("left=a,right=b").unwrap(), pair(0, "a", "b"));
        assert_eq!(Asked::parse("top=b, bottom=a").unwrap(), pair(1, "a", "b"));
        assert_eq!(Asked::parse("all").unwrap(), Asked::All);
        let rules = [["a".to_string(), "b".to_string()], ["c".to_string(), "d".to_string()]];
        assert_eq!(Asked::parse("top=d,left=a,bottom=c,right=b").unwrap(), Asked::Duct { axes: [0, 1], rules });
        let six = "left=a,right=a,bottom=a,top=a,back=a,front=a";
        for wrong in
            ["left=a", "left=a,top=b", "left=a,left=b", "left", "west=a,east=b", "", "left=a,right=a,top=b", six]
        {
            assert_eq!(Asked::parse(wrong).unwrap_err().code().unwrap().to_string(), "L0205", "{wrong}");
        }
    }
}
