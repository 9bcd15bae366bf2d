//! Wrong methods and what the compiler then says, and where: each file of `ui` against its snapshot.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The macro, which lies beside this test: what was built last of that name.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("it has a path");
    let files = test.parent().expect("it is in a folder").read_dir().expect("which can be read");
    let is_macro = |name: &str| name.starts_with(&format!("{DLL_PREFIX}lbm_macros-")) && name.ends_with(DLL_SUFFIX);
    let found = files.flatten().filter(|file| is_macro(&file.file_name().to_string_lossy()));
    let newest = found.max_by_key(|file| file.metadata().and_then(|about| about.modified()).expect("it has a time"));
    newest.expect("the macro is built before its tests").path()
}

#[test]
fn wrong_methods_are_errors_at_their_own_places() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let made = tempfile::tempdir().unwrap();
    insta::with_settings!({ snapshot_path => "../../snapshots/macro", prepend_module_to_snapshot => false, omit_expression => true }, {
        let files = tests.join("ui").read_dir().unwrap().map(|file| file.unwrap().path());
        for file in files {
            let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
            rustc.args(["--edition=2024", "--emit=metadata", "--out-dir"]).arg(made.path());
            rustc.arg("--extern").arg(format!("lbm_macros={}", built().display()));
            let said = rustc.arg(file.strip_prefix(&tests).unwrap()).current_dir(&tests).output().unwrap();
            assert!(!said.status.success(), "{} is compiled", file.display());
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            insta::assert_snapshot!(name, String::from_utf8(said.stderr).unwrap());
        }
    });
}
