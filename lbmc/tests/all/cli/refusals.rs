//! Cases that `lbmc run` refuses, and what it says.

use std::path::Path;
use std::process::Command;

use super::{fails, folder, lbmc, root, works};

#[test]
fn a_bad_case_is_refused_before_anything_is_written() {
    let case = root().join("cases/cavity2d.toml");
    let here = folder();
    let run = |set: &[&str]| {
        let mut arguments = vec!["run", case.to_str().expect("text"), "--set", "target=cpu", "--out", "results"];
        set.iter().for_each(|setting| arguments.extend(["--set", setting]));
        fails(here.path(), &arguments)
    };
    assert!(run(&["rey=100"]).contains("re"));
    assert!(run(&["spec=d2q9_bkg"]).contains("no spec of that name"));
    assert!(run(&["block=[16,16]", "domain.size=[100,100]", "faces.others=periodic"]).contains("block size 16"));
    assert!(!here.path().join("results").exists());
    std::fs::write(here.path().join("results"), "in the way").expect("written");
    assert!(run(&[]).contains("results"));
}

#[test]
fn a_block_of_other_axes_than_the_method_is_the_only_error() {
    let here = folder();
    std::fs::write(
        here.path().join("flow.toml"),
        "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [32, 32]\n[fluid]\nviscosity = 0.02\n[faces]\nothers = \"periodic\"\n\
         [[solids]]\nshape = \"box\"\nfrom = [-40, -4]\nto = [80, 4]\nrule = \"sliding_wall\"\nlayer = { sample = 2.5 }\n\
         [stop]\nsteps = 1\n",
    )
    .expect("written");
    for (block, axes) in [("[8]", 1), ("[8, 8, 8]", 3)] {
        let said = fails(here.path(), &["run", "flow.toml", "--set", &format!("block={block}")]);
        assert!(said.contains("cannot run: 1 error") && said.contains("C0302"), "{said}");
        assert!(said.contains(&format!("a block has {axes} components, but D2Q9 has 2 axes")), "{said}");
    }
}

const BALL: &str = r#"
spec = "d3q19_bgk"
target = "cpu"
[domain]
size = [16, 16, 16]
[fluid]
omega = 1
[faces]
others = "periodic"
[[solids]]
shape = "stl"
file = "ball.stl"
rule = "bounce_back"
[stop]
steps = 1
[output]
directory = "out"
"#;

#[cfg(unix)]
#[test]
fn inputs_without_end_are_refused_with_a_reason() {
    let here = folder();
    let path = |name: &str| here.path().join(name);
    std::fs::write(path("flow.toml"), BALL).expect("written");
    std::fs::write(path("zero.toml"), BALL.replace("ball.stl", "/dev/zero")).expect("written");
    assert!(Command::new("mkfifo").args([path("pipe"), path("ball.stl")]).status().expect("mkfifo runs").success());
    let long = std::fs::File::create(path("long.toml")).expect("created");
    long.set_len(1 << 40).expect("a file with a hole");
    for (arguments, expected) in [
        (&["run", "/dev/zero"][..], "it is a device"),
        (&["run", "pipe"], "it is a named pipe"),
        (&["run", "long.toml"], "it has 1 TiB"),
        (&["run", "zero.toml"], "it is a device"),
        (&["run", "flow.toml"], "it is a named pipe"),
        (
            &["eval", "d2q9_bgk", "--set", "omega=1", "--in", "/dev/zero", "--out", "x.json", "--via", "exact"],
            "it is a device",
        ),
        (
            &["eval", "d2q9_bgk", "--set", "omega=1", "--in", "pipe", "--out", "x.json", "--via", "exact"],
            "it is a named pipe",
        ),
    ] {
        let words = fails(here.path(), arguments);
        assert!(words.contains(expected), "{arguments:?}: {words}");
    }
    let channel = BALL.split("[[solids]]").next().expect("a start").to_string() + "[stop]\nsteps = 1\n";
    std::fs::write(path("channel.toml"), channel).expect("written");
    let words = fails(here.path(), &["run", "channel.toml", "--resume", "pipe"]);
    assert!(words.contains("C0602") && words.contains("it is a named pipe"), "{words}");
}

#[test]
fn what_a_case_names_and_does_not_fit_its_method_is_its_own_fault() {
    let here = folder();
    let run = |spec: &str, face: &str| {
        let case = format!(
            "spec = \"{spec}\"\ntarget = \"cpu\"\n[domain]\nsize = [16, 16]\n[fluid]\nviscosity = 0.1\nvelocity = 0.05\n\
             [params]\nomega_g = 1.0\n[faces]\nleft = {face}\nothers = \"bounce_back\"\n[stop]\nsteps = 1\n"
        );
        std::fs::write(here.path().join("flow.toml"), case).expect("written");
        fails(here.path(), &["run", "flow.toml"])
    };
    let faces = [
        ("free_slip", "\"free_slip\""),
        ("equilibrium", "{ rule = \"equilibrium\", density = 1, velocity = [0.05, 0] }"),
    ];
    for (spec, (rule, face)) in ["d2q9_scalar", "d2q9_boussinesq"].into_iter().zip(faces) {
        let said = run(spec, face);
        assert!(said.contains("C0409") && said.contains("flow.toml"), "{said}");
        assert!(
            said.contains(&format!("`{rule}` does not fit the method `{spec}`")) && said.contains("`g` too"),
            "{said}"
        );
        assert!(!said.contains("E0"), "{said}");
    }
}

#[test]
fn a_case_writes_below_the_folder_unless_the_user_says_otherwise() {
    let here = folder();
    let inside = here.path().join("inside");
    std::fs::create_dir(&inside).expect("a folder");
    let case = BALL.replace("target = \"cpu\"", "target = \"cpu\"\nblock = [4, 4, 4]");
    let channel = case.split("[[solids]]").next().expect("a start").to_string() + "[stop]\nsteps = 1\n";
    for (at, outside) in ["../escaped", "a/../../escaped", "/tmp/lbmc-escaped"].iter().enumerate() {
        let text = format!("{channel}[output]\ndirectory = \"{outside}\"\n");
        std::fs::write(inside.join("flow.toml"), text).expect("written");
        let words = fails(&inside, &["run", "flow.toml"]);
        assert!(words.contains("C0107") && words.contains("leads out of the folder"), "{words}");
        works(&inside, &["run", "flow.toml", "--out", &format!("../named{at}")]);
        works(&inside, &["run", "flow.toml", "--set", &format!("output.directory=../set{at}")]);
        assert!(here.path().join(format!("named{at}")).is_dir() && here.path().join(format!("set{at}")).is_dir());
    }
    assert!(!here.path().join("escaped").exists() && !Path::new("/tmp/lbmc-escaped").exists());
}

#[test]
fn no_control_character_of_a_case_or_its_name_reaches_the_terminal() {
    let here = folder();
    let case = BALL.replace("target = \"cpu\"", "target = \"cpu\"\nblock = [4, 4, 4]");
    let channel = case.split("[[solids]]").next().expect("a start").to_string() + "[stop]\nsteps = 1\n";
    let header = "{'descr': '<i8\r\u{1b}[2J', 'fortran_order': False, 'shape': (1, 1)}\n";
    let numpy = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    std::fs::write(here.path().join("a.npy"), numpy).expect("written");
    let name = "x\u{1b}[31m\r\ny\u{202e}.toml";
    for (rest, expected) in [("[start]\ndensity = { file = \"a.npy\" }\n", false), ("[outputs]\n", false), ("", true)] {
        std::fs::write(here.path().join(name), format!("{channel}{rest}")).expect("written");
        let output = lbmc(here.path(), &["run", name]);
        assert_eq!(output.status.success(), expected);
        let words = [&output.stdout[..], &output.stderr].concat();
        let words = String::from_utf8(words).expect("text");
        assert!(!words.contains(['\u{1b}', '\r', '\u{202e}']), "{words:?}");
    }
    let out = here.path().join("out/x?[31m??y\u{fffd}");
    let fields = std::fs::read_to_string(out.join("summary.json")).expect("results");
    assert!(!fields.contains("\\u001b") && !fields.contains("\\r"), "{fields}");
}

#[test]
fn a_case_or_a_spec_that_is_not_there_is_guessed() {
    let here = folder();
    std::fs::create_dir(here.path().join("cases")).expect("created");
    for (arguments, hint) in [
        (["run", "cases/cavity2d.toml"], "`lbmc run cavity2d` runs the shipped case"),
        (["run", "cavity2"], "did you mean the shipped case `cavity2d`"),
        (["run", "my_flow.toml"], "`lbmc cases` lists the shipped cases"),
        (["run", "cases"], "name a case file in it"),
        (["run", "d2q9_trt"], "`lbmc run cavity2d --set spec=d2q9_trt`"),
        (["run", "mine.lbm"], "`lbmc run` takes a case"),
        (["cases", "cavty2d"], "did you mean `cavity2d`"),
        (["check", "d2q9_bkg"], "did you mean the shipped spec `d2q9_bgk`"),
        (["check", "specs/d2q9_bgk.lbm"], "the shipped spec of that name is `d2q9_bgk`"),
        (["gen", "cavity2d"], "`lbmc run cavity2d` runs it"),
        (["gen", "cases"], "it is a folder"),
    ] {
        let said = fails(here.path(), &arguments);
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
}

#[test]
fn a_grid_that_does_not_fit_is_refused_with_what_it_needs_and_what_fits() {
    let here = folder();
    let case = root().join("cases/cavity2d.toml").display().to_string();
    for size in ["[4194304, 4194304]", "[1048576, 1048576]"] {
        let error = fails(here.path(), &["run", &case, "--set", &format!("size={size}")]);
        assert!(error.contains("C0312") && error.contains("cells fit"), "{error}");
    }
    // With a solid, in three dimensions, which once was built before it was counted.
    let text = std::fs::read_to_string(root().join("cases/cavity3d.toml")).expect("shipped");
    let solid = "\n[[solids]]\nshape = \"sphere\"\ncentre = [100, 100, 100]\nradius = 9\nrule = \"bounce_back\"\n";
    std::fs::write(here.path().join("solid.toml"), text + solid).expect("written");
    let error = fails(here.path(), &["run", "solid.toml", "--set", "size=[65536, 65536, 65536]"]);
    assert!(error.contains("C0312"), "{error}");
    let error = fails(here.path(), &["run", "solid.toml", "--set", "size=[16384, 16384, 16384]"]);
    assert!(error.contains("the grid needs") && error.contains("TiB populations"), "{error}");
}

#[test]
fn of_many_errors_the_first_are_listed() {
    let here = folder();
    let keys: String = (0..4000).map(|at| format!("key{at} = 1\n")).collect();
    std::fs::write(here.path().join("flow.toml"), keys + BALL).expect("written");
    let words = fails(here.path(), &["run", "flow.toml"]);
    assert!(words.contains("cannot run: 4000 errors, of which the first 50 follow"), "{}", &words[..500]);
    assert!(words.contains("`key49`") && !words.contains("`key50`") && words.len() < 50_000, "{}", words.len());
}
