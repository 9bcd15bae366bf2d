//! The names of all files that a run of a case may write into its folder: what must not be there from somebody else, and none of which two
//! things may have.

use std::fmt;

/// Name of the case in the folder of its results.
pub const CASE: &str = "case.toml";

/// Name of the folder of the copies of what it reads.
pub const INPUTS: &str = "inputs";

/// Name of the summary.
pub const SUMMARY: &str = "summary.json";
/// Name of the restart file.
pub const RESTART: &str = "restart.lbmc";
/// Name of the list of the files that runs have written.
pub const LIST: &str = ".lbmc.files";

/// Whether a name is that of a file in the folder itself.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']) && !name.contains(char::is_control)
}

/// The name of a file, or those of a sequence of files: one for each step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultName {
    begin: String,
    end: String,
    /// Whether a step stands between the beginning and the end.
    steps: bool,
}

/// Fewest digits of a step in a name.
const DIGITS: usize = 8;

impl ResultName {
    /// The name of one file.
    pub fn one(name: impl Into<String>) -> ResultName {
        ResultName { begin: name.into(), end: String::new(), steps: false }
    }

    /// The names of a sequence: `BEGIN_00000100END`.
    pub fn sequence(begin: impl Into<String>, end: &str) -> ResultName {
        ResultName { begin: begin.into() + "_", end: end.into(), steps: true }
    }

    /// Whether a file of that name is the file, or one of them.
    pub fn is(&self, name: &str) -> bool {
        if !self.steps {
            return name == self.begin;
        }
        let step = name.strip_prefix(&self.begin[..]).and_then(|rest| rest.strip_suffix(&self.end[..]));
        step.is_some_and(|step| step.len() >= DIGITS && step.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Whether a file may have both names. File systems may not tell capitals from small letters.
    pub fn meets(&self, other: &ResultName) -> bool {
        let small = |name: &ResultName| ResultName {
            begin: name.begin.to_lowercase(),
            end: name.end.to_lowercase(),
            steps: name.steps,
        };
        match (small(self), small(other)) {
            // Between beginnings and ends there are digits alone, and a beginning ends with something else.
            (one, other) if one.steps == other.steps => one == other,
            (one, other) if one.steps => one.is(&other.begin),
            (one, other) => other.is(&one.begin),
        }
    }
}

impl fmt::Display for ResultName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = if self.steps { "STEP" } else { "" };
        write!(out, "{}{step}{}", self.begin, self.end)
    }
}

/// The names of all files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results(Vec<ResultName>);

impl Results {
    /// Those that every run writes.
    pub(super) fn of_all() -> Results {
        Results([CASE, SUMMARY, RESTART].map(ResultName::one).to_vec())
    }

    /// Adds a name, unless a file may have it already.
    pub(super) fn add(&mut self, name: ResultName) -> bool {
        let is_free = !self.0.iter().any(|known| known.meets(&name));
        if is_free {
            self.0.push(name);
        }
        is_free
    }

    /// Whether the run may write a file of that name.
    pub fn have(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.is(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_have_steps_and_meet_what_may_be_one_of_them() {
        let frames = ResultName::sequence("a", ".png");
        for name in ["a_00000002.png", "a_123456789.png"] {
            assert!(frames.is(name) && frames.meets(&ResultName::one(name)) && ResultName::one(name).meets(&frames));
        }
        for name in
            ["a.png", "a_1.png", "a_0000000x.png", "a_00000002.gif", "b_00000002.png", "a_00000001_00000002.png"]
        {
            assert!(!frames.is(name) && !frames.meets(&ResultName::one(name)), "{name}");
        }
        assert!(frames.meets(&ResultName::one("A_00000002.PNG")), "the same file on some file systems");
        assert!(!frames.meets(&ResultName::sequence("a_00000002", ".png")));
        assert!(frames.meets(&ResultName::sequence("A", ".png")));
    }
}
