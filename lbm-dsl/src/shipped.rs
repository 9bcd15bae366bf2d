//! The specs and prelude modules that come with the compiler.
//!
//! In: nothing. After: their texts are inside the program, so that a name is enough to find one from any folder.

use crate::ast::Item;
use crate::diag::{Code, Diagnostic, Report};
use crate::parser::parse;
use crate::source::{Source, Span};

/// Where `use module::name;` finds its modules.
pub trait Library {
    /// The module of that name, if there is one; `Err` says why one that is there cannot be read.
    fn module(&self, name: &str) -> Option<Result<Source, String>>;
    /// Names of all modules, for hints.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The boundary rules of a library's modules: module and rule.
pub fn rules(library: &dyn Library) -> Result<Vec<(String, String)>, Report> {
    items(library, |item| match item {
        Item::Boundary(def) => Some(&def.name.text),
        _ => None,
    })
}

/// The couplings of a library's modules: module and coupling, as with [`rules`].
pub fn couplings(library: &dyn Library) -> Result<Vec<(String, String)>, Report> {
    items(library, |item| match item {
        Item::Coupling(def) => Some(&def.name.text),
        _ => None,
    })
}

/// The criteria of a library's modules: module and criterion, as with [`rules`].
pub fn criteria(library: &dyn Library) -> Result<Vec<(String, String)>, Report> {
    items(library, |item| match item {
        Item::Criterion(def) => Some(&def.function.name.text),
        _ => None,
    })
}

fn items(library: &dyn Library, name: impl Fn(&Item) -> Option<&String>) -> Result<Vec<(String, String)>, Report> {
    let mut found = Vec::new();
    for module in library.names() {
        let source = match library.module(&module) {
            None => continue,
            Some(Ok(source)) => source,
            Some(Err(why)) => {
                let nowhere = Source::new(&format!("{module}.lbm"), "");
                return Err(Diagnostic::new(Code::UnknownModule, &nowhere, Span::default(), "").hint(why).into());
            }
        };
        found.extend(parse(&source)?.items.iter().filter_map(|item| Some((module.clone(), name(item)?.clone()))));
    }
    Ok(found)
}

/// Modules that a function finds beside a spec, then the shipped ones.
pub struct Beside<R>(pub R);

impl<R: Fn(&str) -> Option<Result<Source, String>>> Library for Beside<R> {
    fn module(&self, name: &str) -> Option<Result<Source, String>> {
        (self.0)(name).or_else(|| Prelude.module(name))
    }
    fn names(&self) -> Vec<String> {
        Prelude.names()
    }
}

/// The modules in `specs/prelude`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prelude;

impl Library for Prelude {
    fn module(&self, name: &str) -> Option<Result<Source, String>> {
        let (_, text) = PRELUDE.iter().find(|(module, _)| *module == name)?;
        Some(Ok(Source::new(&format!("prelude/{name}.lbm"), text)))
    }
    fn names(&self) -> Vec<String> {
        PRELUDE.iter().map(|(module, _)| module.to_string()).collect()
    }
}

macro_rules! texts {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../specs/", $folder, $name, ".lbm"))),)*]
    };
}

const SPECS: &[(&str, &str)] = texts!("":
    "d2q9_bgk" "d2q9_boussinesq" "d2q9_carreau_yasuda" "d2q9_central" "d2q9_guo" "d2q9_hybrid" "d2q9_kbc" "d2q9_mrt"
    "d2q9_phase_field" "d2q9_porous" "d2q9_power_law" "d2q9_power_law_state" "d2q9_recursive" "d2q9_scalar" "d2q9_shan_chen" "d2q9_trt"
    "d2q9_trt_bounded" "d2q9_two_fluids" "d3q15_bgk" "d3q19_bgk" "d3q19_guo" "d3q19_hybrid" "d3q19_mrt"
    "d3q19_mrt_raw" "d3q19_recursive" "d3q19_regularized" "d3q19_smagorinsky" "d3q19_trt" "d3q19_trt_bounded"
    "d3q19_trt_guo" "d3q19_trt_guo_bounded" "d3q19_vreman" "d3q19_wale" "d3q27_bgk" "d3q27_central"
    "d3q27_central_smagorinsky" "d3q27_cumulant" "d3q27_cumulant_rates" "d3q27_hybrid" "d3q27_k17" "d3q27_kbc"
    "d3q27_kbc_n2" "d3q27_kbc_n4" "d3q27_recursive" "d3q7_advection"
);
const PRELUDE: &[(&str, &str)] = texts!("prelude/": "couplings" "criteria" "cumulants" "equilibria" "forces" "lattices" "moments" "rates" "recursive" "stencils" "walls");

/// Every shipped spec: name without `.lbm`, and text.
pub fn specs() -> impl Iterator<Item = (&'static str, &'static str)> {
    SPECS.iter().copied()
}

/// Every module of the prelude: name and text.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    PRELUDE.iter().copied()
}

/// The text of a shipped spec, named with or without `.lbm`.
pub fn spec(name: &str) -> Option<&'static str> {
    let stem = name.strip_suffix(".lbm").unwrap_or(name);
    specs().find(|(spec, _)| *spec == stem).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(folder: &str) -> Vec<String> {
        let path = format!("{}/../specs/{folder}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut stems: Vec<String> = files.filter_map(|file| Some(file.strip_suffix(".lbm")?.to_string())).collect();
        stems.sort();
        stems
    }

    #[test]
    fn the_lists_are_the_folders() {
        assert_eq!(specs().map(|(name, _)| name).collect::<Vec<_>>(), stems(""));
        assert_eq!(Prelude.names(), stems("prelude"));
    }

    #[test]
    fn modules_beside_a_spec_come_first_and_keep_their_names() {
        let bgk = spec("d2q9_bgk").unwrap();
        let compiled = |own: &'static str, text: Result<&'static str, &'static str>| {
            let beside = |name: &str| {
                let source = |text| Source::new(&format!("here/{own}.lbm"), text);
                (name == own).then(|| text.map(source).map_err(String::from))
            };
            crate::fixture::compile(&Source::new("a.lbm", bgk), &Beside(beside))
        };
        let report = compiled("walls", Ok("boundary bounce_back {")).unwrap_err();
        assert_eq!(report.diagnostics()[0].source().name(), "here/walls.lbm");
        let report = compiled("walls", Err("can't read it")).unwrap_err();
        assert_eq!(
            (report.diagnostics()[0].code(), report.diagnostics()[0].label()),
            (Code::UnknownModule, "can't read it")
        );
        assert_eq!(report.diagnostics()[0].source().name(), "a.lbm");
        let (_, walls) = modules().find(|(name, _)| *name == "walls").unwrap();
        let hidden = compiled("walls", Ok(walls)).unwrap();
        assert_eq!(hidden.warnings().iter().map(|warning| warning.code()).collect::<Vec<_>>(), [Code::HidesShipped]);
        assert!(compiled("other", Ok(walls)).unwrap().warnings().is_empty());
    }

    #[test]
    fn the_ending_is_optional() {
        assert!(spec("d2q9_bgk").is_some());
        assert_eq!(spec("d2q9_bgk"), spec("d2q9_bgk.lbm"));
        assert_eq!(spec("d9q9"), None);
    }
}
