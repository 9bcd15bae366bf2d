//! The long form of every row of the table of codes: what it means, why it matters, and how it looks wrong and right.
//!
//! An example is text that stands in `specs/d2q9_bgk.lbm` instead of the part named, or, if none is named, a whole spec: the
//! wrong one raises the code, the right one is a valid method (tests at the foot). A file for each family of codes.

mod couplings;
mod lattices;
mod levels;
mod names;
mod parts;
mod physics;
mod text;
mod values;

use super::Code;

/// The long form of a code.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    code: Code,
    /// The part of `specs/d2q9_bgk.lbm` that the examples replace; empty if they are whole specs.
    pub instead: &'static str,
    /// What it means and why it matters.
    pub text: &'static str,
    /// Text that raises it.
    pub wrong: &'static str,
    /// The same, mended.
    pub right: &'static str,
}

const TABLES: &[&[Long]] = &[
    text::TABLE,
    lattices::TABLE,
    names::TABLE,
    values::TABLE,
    parts::TABLE,
    physics::TABLE,
    levels::TABLE,
    couplings::TABLE,
];

impl Code {
    /// Its long form; every row has one.
    pub fn long(self) -> Option<&'static Long> {
        TABLES.iter().copied().flatten().find(|long| long.code == self)
    }

    /// The row with this code, `E0204`, in capitals or not.
    pub fn find(code: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|row| row.code().eq_ignore_ascii_case(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Report;
    use crate::fixture::shipped;
    use crate::source::Source;

    /// What is wrong with the plain method in which `text` stands instead of the part named, or with the whole.
    fn faults(long: &Long, text: &str) -> Report {
        let plain = shipped::spec("d2q9_bgk").unwrap();
        let spec = if long.instead.is_empty() {
            text.to_string()
        } else {
            assert_eq!(plain.matches(long.instead).count(), 1, "{:?} replaces {}", long.code, long.instead);
            plain.replace(long.instead, text)
        };
        // Beside the example of a hidden module stands a copy of that module.
        let copy = |name: &str| {
            let text = shipped::modules().find(|(module, _)| long.code == Code::HidesShipped && *module == name)?.1;
            Some(Ok(Source::new(&format!("{name}.lbm"), text)))
        };
        let beside = text.contains("beside the spec");
        let library = shipped::Beside(|name: &str| if beside { copy(name) } else { None });
        match crate::fixture::compile(&Source::new("example.lbm", &spec), &library) {
            Ok(model) => model.warnings().into(),
            Err(report) => report,
        }
    }

    #[test]
    fn every_code_has_one_long_form() {
        for code in Code::ALL {
            let count = TABLES.iter().copied().flatten().filter(|long| long.code == *code).count();
            assert_eq!(count, 1, "{} has {count} long forms", code.code());
        }
    }

    #[test]
    fn wrong_examples_raise_their_code() {
        for long in TABLES.iter().copied().flatten() {
            let report = faults(long, long.wrong);
            let raised = report.diagnostics().iter().any(|fault| fault.code() == long.code);
            assert!(raised, "{} is not raised\n{}", long.code.code(), report.render(100));
        }
    }

    #[test]
    fn right_examples_are_valid_methods() {
        for long in TABLES.iter().copied().flatten() {
            let report = faults(long, long.right);
            assert!(report.is_empty(), "{}\n{}", long.code.code(), report.render(100));
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(Code::find("e0204"), Some(Code::WeightSum));
        assert_eq!(Code::find("E9999"), None);
    }
}
