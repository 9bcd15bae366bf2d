//! Commands about methods: specs, modules, `new`, `fmt`, `check`, `eval`, `gen`.

use std::process::Command;

use serde_json::{Value, json};

use super::{fails, folder, lbmc, read, root, works};

#[test]
fn gen_finds_a_shipped_spec_from_any_folder_without_a_word() {
    let here = folder();
    let output = lbmc(here.path(), &["gen", "d2q9_bgk.lbm", "--report", "report.json"]);
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("d2q9_bgk"));
    for ending in ["cu", "c", "h", "rs", "json"] {
        assert!(here.path().join(format!("d2q9_bgk.{ending}")).is_file(), "{ending}");
    }
    let report = read(&here.path().join("report.json"));
    let kernels = report["kernels"].as_array().expect("kernels");
    let collide = kernels.iter().find(|kernel| kernel["name"] == "collide").expect("collide");
    assert!(collide["simplified"]["flops"].as_u64() < collide["naive"]["flops"].as_u64());
    assert_eq!(collide["simplified"]["bytes"], json!(72));
}

#[test]
fn a_file_of_that_name_wins_and_takes_modules_from_its_own_folder() {
    let here = folder();
    let spec = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("shipped");
    let own = spec.replace("use equilibria::quadratic;", "use mine::quadratic;");
    std::fs::write(here.path().join("d2q9_bgk.lbm"), own).expect("written");
    let module = std::fs::read_to_string(root().join("specs/prelude/equilibria.lbm")).expect("shipped");
    std::fs::write(here.path().join("mine.lbm"), module).expect("written");
    let output = lbmc(here.path(), &["check", "d2q9_bgk.lbm"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "nothing shipped is used: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn check_tells_the_viscosity_and_specs_lists_every_spec() {
    let here = folder();
    for spec in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk", "d3q27_kbc", "d3q27_cumulant"] {
        assert!(works(here.path(), &["specs"]).lines().any(|line| line.starts_with(&format!("{spec} "))), "{spec}");
    }
    let text = works(here.path(), &["check", "d3q27_cumulant"]);
    assert!(
        text.contains("kinematic viscosity: 1/3*(1/omega - 1/2)") && text.contains("bulk viscosity: 1/9"),
        "{text}"
    );
}

#[test]
fn eval_keeps_the_order_of_directions_that_the_file_states() {
    let here = folder();
    let directions = [[1, 1], [0, -1], [-1, 0], [0, 0], [-1, 1], [1, 0], [1, -1], [0, 1], [-1, -1]];
    let turned: Vec<_> = directions.iter().rev().collect();
    let state = [0.03, 0.12, 0.11, 0.45, 0.028, 0.115, 0.027, 0.108, 0.029];
    let back: Vec<_> = state.iter().rev().collect();
    let write = |name: &str, value: Value| std::fs::write(here.path().join(name), value.to_string()).expect("written");
    write("a.json", json!({"directions": directions, "states": [state]}));
    write("b.json", json!({"directions": turned, "states": [back]}));
    let mut posts = vec![];
    for (via, given) in [("exact", "a.json"), ("exact", "b.json"), ("ir", "a.json"), ("dag", "a.json"), ("c", "a.json")]
    {
        works(
            here.path(),
            &["eval", "d2q9_bgk", "--set", "omega=1.7", "--in", given, "--out", "post.json", "--via", via],
        );
        let post = read(&here.path().join("post.json"));
        assert_eq!(post["directions"], read(&here.path().join(given))["directions"]);
        posts.push(serde_json::from_value::<Vec<Vec<f64>>>(post["states"].clone()).expect("numbers").remove(0));
    }
    posts[1].reverse();
    for (at, post) in posts.iter().enumerate() {
        for (a, b) in post.iter().zip(&posts[0]) {
            assert!((a - b).abs() <= 1e-14 * b.abs(), "{at}: {a} {b}");
        }
    }
}

#[test]
fn eval_refuses_what_it_cannot_use_and_says_what_it_knows() {
    let here = folder();
    std::fs::write(here.path().join("s.json"), r#"{"directions": [[0, 0], [2, 0]], "states": []}"#).expect("written");
    let eval = |set: &[&str]| {
        let mut arguments = vec!["eval", "d2q9_bgk", "--in", "s.json", "--out", "p.json", "--via", "ir"];
        set.iter().for_each(|setting| arguments.extend(["--set", setting]));
        fails(here.path(), &arguments)
    };
    assert!(eval(&[]).contains("omega is not set"));
    assert!(eval(&["omega=1", "omega=1"]).contains("omega is set twice"));
    assert!(eval(&["omega=2"]).contains("not between 0 and 2"));
    assert!(eval(&["tau=1"]).contains("there is no parameter `tau`"));
    assert!(eval(&["omega=fast"]).contains("no number"));
    assert!(eval(&["omega=1"]).contains("[2, 0] is no direction of d2q9_bgk"));
    assert!(fails(here.path(), &["check", "nothing"]).contains("shipped specs: d2q9_bgk"));
    assert!(fails(here.path(), &["gen", "d2q9_bgk", "--block", "4x4x4"]).contains("the block has 3"));
}

#[test]
fn what_is_not_finite_after_a_collision_is_an_error_and_nothing_is_written() {
    let here = folder();
    let directions = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];
    let states = json!({"directions": directions, "states": [vec![0.5; 9], vec![0.0; 9]]});
    std::fs::write(here.path().join("s.json"), states.to_string()).expect("written");
    let eval = ["eval", "d2q9_bgk", "--set", "omega=1", "--in", "s.json", "--out", "p.json", "--via", "ir"];
    let text = fails(here.path(), &eval);
    assert!(text.contains("state 1") && text.contains("not finite") && text.contains("[0, 0]"), "{text}");
    assert!(!here.path().join("p.json").exists());
    std::fs::write(here.path().join("s.json"), "{}").expect("written");
    assert!(fails(here.path(), &eval).contains(r#"{"directions": [[cx"#));
}

#[test]
fn kernels_on_plain_arrays_refuse_what_they_do_not_have() {
    let here = folder();
    for option in [&["--boundary", "moving_wall"][..], &["--coupling", "volumetric_shifted"], &["--solids"]] {
        let text = fails(here.path(), &[&["gen", "d2q9_bgk", "--layout", "soa"], option].concat());
        assert!(text.contains("plain arrays") && text.contains(option[0]), "{text}");
    }
    assert!(std::fs::read_dir(here.path()).expect("a folder").next().is_none(), "nothing is written");
}

#[test]
fn a_new_method_checks_is_formatted_and_runs() {
    let here = folder();
    let said = works(here.path(), &["new", "mine"]);
    assert!(said.contains("lbmc check mine.lbm") && said.contains("lbmc run mine.toml"), "{said}");
    works(here.path(), &["check", "mine.lbm"]);
    works(here.path(), &["fmt", "--check", "mine.lbm"]);
    works(here.path(), &["run", "mine.toml", "--set", "target=cpu", "--set", "steps=500"]);
    assert!(here.path().join("out/mine/summary.json").is_file());
    assert!(fails(here.path(), &["new", "mine"]).contains("`mine.lbm` is there already"));
    assert!(fails(here.path(), &["new", "../mine"]).contains("no name of a method"));
}

#[test]
fn fmt_rewrites_files_and_check_only_tells() {
    let here = folder();
    let path = here.path().join("a.lbm");
    std::fs::write(&path, "let  x=1 ;\n").expect("written");
    assert!(fails(here.path(), &["fmt", "--check", "a.lbm"]).contains("not in the house style: a.lbm"));
    assert!(works(here.path(), &["fmt", "a.lbm"]).contains("formatted a.lbm"));
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "let x = 1;\n");
    works(here.path(), &["fmt", "--check", "a.lbm"]);
    std::fs::write(&path, "let x = ;\n").expect("written");
    assert!(fails(here.path(), &["fmt", "a.lbm"]).contains("lbmc explain E0101"));
}

#[test]
fn a_module_beside_the_spec_is_warned_of_and_must_be_readable() {
    let here = folder();
    std::fs::copy(root().join("specs/d2q9_bgk.lbm"), here.path().join("a.lbm")).expect("copied");
    std::fs::copy(root().join("specs/prelude/walls.lbm"), here.path().join("walls.lbm")).expect("copied");
    for command in ["check", "gen"] {
        let output = lbmc(here.path(), &[command, "a.lbm"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let warned = said.contains("W0301") && said.contains("this is `walls.lbm`, and not the shipped module");
        assert!(output.status.success() && warned, "{command}: {said}");
    }
    std::fs::write(here.path().join("walls.lbm"), "boundary bounce_back {").expect("written");
    let text = fails(here.path(), &["check", "a.lbm"]);
    assert!(text.contains("[walls.lbm:1:22]") && !text.contains("prelude/"), "{text}");
    std::fs::write(here.path().join("walls.lbm"), [0xff, 0xfe]).expect("written");
    let text = fails(here.path(), &["check", "a.lbm"]);
    assert!(text.contains("E0305") && text.contains("byte 0 is no UTF-8 text"), "{text}");
    // Rules that only the case or the command line names come from there as well.
    let spec = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("shipped");
    let own: String = spec.lines().filter(|line| !line.contains("_wall")).map(|line| format!("{line}\n")).collect();
    std::fs::write(here.path().join("b.lbm"), own.replace("boundary bounce_back;", "")).expect("written");
    works(here.path(), &["check", "b.lbm"]);
    let text = fails(here.path(), &["check", "b.lbm", "--boundary", "bounce_back"]);
    assert!(text.contains("E0305") && text.contains("byte 0 is no UTF-8 text"), "{text}");
}

/// What a path leads to may have no end, or block: it is refused before it is read.
#[cfg(unix)]
#[test]
fn specs_and_modules_that_are_no_files_or_too_large_are_refused() {
    let here = folder();
    let spec = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("shipped");
    let pipe = |name: &str| {
        let made = Command::new("mkfifo").arg(here.path().join(name)).status().expect("mkfifo runs");
        assert!(made.success());
    };
    pipe("pipe.lbm");
    std::fs::create_dir(here.path().join("folder.lbm")).expect("created");
    let large = std::fs::File::create(here.path().join("large.lbm")).expect("created");
    large.set_len(90 << 20).expect("made large");
    for (name, why) in [
        ("/dev/zero", "it is a device, no regular file"),
        ("pipe.lbm", "it is a named pipe, no regular file"),
        ("folder.lbm", "it is a folder, no regular file"),
        ("large.lbm", "a spec may have 256 KiB, it has 90 MiB"),
    ] {
        for command in ["check", "gen", "fmt"] {
            let text = fails(here.path(), &[command, name]);
            assert!(text.contains(why), "{command} {name}: {text}");
        }
    }
    std::fs::write(here.path().join("a.lbm"), spec.replace("use equilibria::quadratic;", "use mine::quadratic;"))
        .expect("written");
    pipe("mine.lbm");
    let text = fails(here.path(), &["check", "a.lbm"]);
    assert!(text.contains("E0305") && text.contains("it is a named pipe"), "{text}");
}

#[test]
fn check_tells_viscosities_walls_and_where_stability_ends() {
    crate::in_turn!();
    let here = folder();
    let said = works(here.path(), &["check", "d2q9_bgk", "--stability", "--velocity", "0.1,0", "--set", "omega=1.9"]);
    for part in [
        "collision conserves momentum, for all populations and parameters",
        "through order 5 (5 claimed)",
        "kinematic viscosity: 1/3*(1/omega - 1/2)",
        "bulk viscosity: 1/3*(1/omega - 1/2)",
        "bounce_back: wall 1/2 of a cell outside the outermost cell centres for linear profiles; order 2.0",
        "u = (0.1, 0): stable",
        "stable for |u| <= 0.",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    assert!(!said.contains("C0509"), "{said}");
    let rates = ["--set", "omega=1.98", "--set", "omega_flux=0.02"];
    let said = works(here.path(), &[&["check", "d2q9_mrt", "--stability", "--velocity", "0.1,0"], &rates[..]].concat());
    assert!(
        said.contains("disturbances at refinement interfaces and open faces grow by") && said.contains("(C0509)"),
        "{said}"
    );
    assert!(!said.contains("16 bits"), "all moments are needed: {said}");
    works(here.path(), &["check", "d2q9_bgk", "--stability", "--plot", "stable.png"]);
    let said = works(here.path(), &["check", "d2q9_recursive", "--stability", "--set", "omega=1.9"]);
    assert!(said.contains("moments in 16 bits: at |u| = 0.05 the velocity has noise of "), "{said}");
    assert!(std::fs::read(here.path().join("stable.png")).expect("drawn").starts_with(b"\x89PNG"));
    let said = works(here.path(), &["check", "d2q9_bgk", "--boundary", "interpolated_bounce_back"]);
    assert!(said.contains("interpolated_bounce_back, distance = 0.25: wall 1/4 of a cell"), "{said}");
    assert!(fails(here.path(), &["check", "d2q9_bgk", "--boundary", "rubber"]).contains("zou_he_velocity"));
    assert!(fails(here.path(), &["check", "d3q27_kbc", "--stability"]).contains("no derivative at equilibrium"));
    assert!(fails(here.path(), &["check", "d2q9_bgk", "--stability", "--velocity", "0.1"]).contains("needs 2 numbers"));
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let here = folder();
    let [spec, link] = ["secret.lbm", "link.lbm"].map(|name| here.path().join(name));
    let text = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("a spec");
    std::fs::write(&spec, text.replace("    ", "\t")).expect("written");
    std::fs::set_permissions(&spec, std::fs::Permissions::from_mode(0o600)).expect("set");
    symlink("secret.lbm", &link).expect("a link");
    works(here.path(), &["fmt", "link.lbm"]);
    assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink(), "the link is one");
    assert_eq!(std::fs::read_to_string(&spec).expect("a spec"), text, "what it leads to is formatted");
    assert_eq!(std::fs::metadata(&spec).expect("there").permissions().mode() & 0o777, 0o600);
}

/// What `lbmc run` writes of a flow with the rate called `name`, in a spec of that file.
fn profile_with(name: &str, file: &str) -> String {
    let here = folder();
    let spec = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("shipped");
    std::fs::write(here.path().join(file), spec.replace("omega", name)).expect("written");
    let case = format!(
        "spec = {file:?}\ntarget = \"cpu\"\nblock = [8, 8]\n[domain]\nsize = [32, 32]\n[params]\n\"{name}\" = 1.5\n[faces]\nbottom = \
         \"bounce_back\"\ntop = {{ rule = \"moving_wall\", velocity = [0.05, 0] }}\nothers = \"periodic\"\n[start]\nvelocity = [\"0.02*sin(2*pi*y/ly)\", \
         0]\n[stop]\nsteps = 20\n[output]\ndirectory = \"out\"\nprofiles = true\n"
    );
    std::fs::write(here.path().join("flow.toml"), case).expect("written");
    works(here.path(), &["run", "flow.toml"]);
    let profile = std::fs::read_to_string(here.path().join("out/profile_y.csv")).expect("a profile");
    profile.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_parameter_and_a_spec_of_any_name_run_and_give_the_same_numbers() {
    let expected = profile_with("omega", "flow.lbm");
    for (name, file) in [("ω", "my-method.lbm"), ("start", "1x.lbm"), ("row", "a b.lbm"), ("neg", "sem.lbm")] {
        assert_eq!(profile_with(name, file), expected, "{name} in {file}");
    }
}

#[test]
fn gen_makes_an_identifier_of_any_file_name_and_says_which() {
    let here = folder();
    let spec = std::fs::read_to_string(root().join("specs/d2q9_bgk.lbm")).expect("shipped");
    for (file, name) in [
        ("my-method.lbm", "my_method"),
        ("1x.lbm", "lbm_1x"),
        ("a b.lbm", "a_b"),
        ("ω\n.lbm", "omega"),
        (".lbm", "lbm"),
    ] {
        std::fs::write(here.path().join(file), &spec).expect("written");
        let output = lbmc(here.path(), &["gen", file, "--layout", "soa"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(&format!("are called `{name}`")), "{said}");
        for ending in ["cu", "c", "h", "rs", "json"] {
            assert!(here.path().join(format!("{name}.{ending}")).is_file(), "{name}.{ending}");
        }
    }
    let output = lbmc(here.path(), &["gen", "d2q9_bgk"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("are called"));
}

#[test]
fn no_escape_sequence_of_a_spec_or_its_name_reaches_the_terminal() {
    let here = folder();
    let file = "a\u{1b}[2Jb.lbm";
    std::fs::write(here.path().join(file), "// Red: \u{1b}[31m\nlattice D2Q9;\u{9b}2J\n").expect("written");
    for command in [
        &["check", file][..],
        &["fmt", file],
        &["gen", file],
        &["check", "no\u{1b}[2J.lbm"],
        &["fmt", "no\u{1b}[2J.lbm"],
    ] {
        let output = lbmc(here.path(), command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).expect("text");
            assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text}");
        }
    }
}
