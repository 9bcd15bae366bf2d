//! Every diagnostic has a case in `ui/`, and every case its text in `snapshots/ui/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lbm_dsl::diag::{Code, Report};
use lbm_dsl::shipped::Beside;
use lbm_dsl::source::Source;

/// What is wrong with a case, or remarkable. Modules beside it are in a folder of its name.
fn faults(path: &Path) -> Report {
    let name = path.file_name().unwrap().to_string_lossy();
    let text = std::fs::read_to_string(path).unwrap();
    let beside = |module: &str| {
        let file = format!("{module}.lbm");
        let text = std::fs::read_to_string(path.with_extension("").join(&file)).ok()?;
        Some(Ok(Source::new(&file, &text)))
    };
    match lbm_dsl::compile(&Source::new(&name, &text), &Beside(beside)) {
        Ok(model) => model.warnings().into(),
        Err(report) => report,
    }
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    cases.sort();
    cases
}

/// `E0204` of `e0204_weight_sum.lbm`.
fn code(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy()[..5].to_uppercase()
}

#[test]
fn each_case_has_its_text() {
    for path in cases() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../snapshots/ui");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(&path);
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        settings.bind(|| insta::assert_snapshot!(stem, faults(&path).render(110)));
    }
}

#[test]
fn each_case_shows_the_code_of_its_name() {
    for path in cases() {
        let report = faults(&path);
        let shown: Vec<&str> = report.diagnostics().iter().map(|fault| fault.code().code()).collect();
        assert!(shown.contains(&code(&path).as_str()), "{} shows {shown:?}", path.display());
    }
}

#[test]
fn rows_and_cases_match() {
    let rows: BTreeSet<String> = Code::ALL.iter().map(|code| code.code().to_string()).collect();
    let cases: BTreeSet<String> = cases().iter().map(|path| code(path)).collect();
    assert_eq!(rows, cases);
}
