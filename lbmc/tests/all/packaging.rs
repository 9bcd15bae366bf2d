//! Recipes of images and packages ask for what the sources need, and do the same.

use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lbmc lies in the workspace").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What follows a text on its line, without quotes.
fn behind(text: &str, key: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(key));
    line.unwrap_or_else(|| panic!("no `{key}`")).trim().trim_matches('"').to_string()
}

/// Commands of a recipe in order, but for those that change the folder or remove files.
fn commands(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let parts =
        lines.flat_map(|line| line.trim_start_matches("RUN ").split(" && ").map(str::to_string).collect::<Vec<_>>());
    parts.filter(|part| part.starts_with("apt-get ") || part.starts_with("python3 ")).collect()
}

#[test]
fn images_have_the_compilers_and_commands_of_each_other() {
    let (container, apptainer) = (read("packaging/Containerfile"), read("packaging/lbmc.def"));
    let found = commands(&container);
    assert_eq!(found, commands(&apptainer));
    assert!(found.len() == 6 && found.iter().any(|line| line.contains("gcc")), "{found:?}");
    let images = |text: &str, key: &str| {
        let image = |line: &str| {
            line.trim().strip_prefix(key).map(|rest| rest.split(' ').next().unwrap_or_default().to_string())
        };
        text.lines().filter_map(image).collect::<Vec<_>>()
    };
    let of_both = images(&container, "FROM ");
    assert_eq!(of_both, images(&apptainer, "From: "));
    let rust = behind(&read("Cargo.toml"), "rust-version = ");
    assert!(of_both[0].contains(&format!("rust:{rust}-")), "{of_both:?} are not of Rust {rust}");
    // What is built on one system runs on the other.
    assert!(of_both.len() == 2 && of_both.iter().all(|image| image.ends_with("-slim-bookworm")), "{of_both:?}");
}

#[test]
fn the_conda_package_needs_what_the_python_package_needs() {
    let (recipe, python) = (read("packaging/conda/recipe.yaml"), read("python/pyproject.toml"));
    assert_eq!(behind(&recipe, "version: "), behind(&read("Cargo.toml"), "version = "));
    let needs = |text: &str, package: &str| {
        let at = text.find(package).unwrap_or_else(|| panic!("{package} is not there"));
        let rest = text[at + package.len()..].trim_start_matches([' ', '=', '"']);
        rest.split(['"', '\n']).next().unwrap_or_default().to_string()
    };
    for (here, there) in [("maturin ", "\"maturin"), ("numpy ", "\"numpy"), ("- python >", "requires-python = \">")] {
        assert_eq!(needs(&recipe, here), needs(&python, there), "{here}");
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(recipe.contains(&format!("- {file}\n")) && !read(file).is_empty());
    }
}
