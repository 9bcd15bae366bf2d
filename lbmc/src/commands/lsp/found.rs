//! What a text is, and what is wrong with it.

use std::path::Path;

use lbm_bundle::input::Limit;
use lbm_dsl::reading::Reading;
use lbm_flows::case::RawCase;
use lbm_runtime::processes::Processes;
use lbm_setup::cases::CaseFile;
use lbm_setup::ready::Ready;
use lbm_setup::spec::Spec;
use miette::{Report, miette};

/// What a text is, and what is wrong with it.
pub enum Found {
    Method(Box<Reading>),
    Case(Vec<Report>),
    Other,
    /// It was not read.
    Nothing(Report),
}

/// What a text is that comes from the file `name`. If it is saved, all is checked that a run checks.
pub fn look(name: &str, text: &str, saved: bool) -> Found {
    let (method, case) = (name.ends_with(".lbm"), name.ends_with(".toml") && names_a_method(text));
    let limit = if method { Limit::SPEC } else { Limit::CASE };
    if (method || case) && text.len() as u64 > limit.bytes {
        let help = "a run refuses it, too: check that this is the file that was meant";
        let (what, bytes) = (limit.what, limit.bytes);
        return Found::Nothing(miette!(code = "L0106", help = help, "{what} may have {bytes} bytes"));
    }
    if method {
        return Found::Method(Box::new(Spec::written(Path::new(name), text).reading()));
    }
    if !case {
        return Found::Other;
    }
    Found::Case(match saved {
        true => match Ready::of(&Processes::default(), &CaseFile::written(Path::new(name), text), &[], true) {
            Ok((_, warnings)) => warnings.into_iter().map(Report::new).collect(),
            Err(report) => vec![report],
        },
        false => match RawCase::parse(name, text, &[]) {
            Ok(_) => vec![],
            Err(error) => vec![error.into()],
        },
    })
}

/// Whether TOML is a case, and not what other programs have in such files.
fn names_a_method(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("spec").is_some_and(|rest| rest.trim_start().starts_with('=')))
}
