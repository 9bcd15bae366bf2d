//! Solids from files and parts of faces, run as users do: on one level, refined, on a grid that follows the flow, and resumed.

use std::path::Path;
use std::process::Command;

fn lbmc(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_lbmc")).args(arguments).current_dir(folder).output().expect("starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fields at the end of a run of a case, byte for byte.
fn fields(folder: &Path, case: &str, out: &str, more: &[&str]) -> Vec<u8> {
    let file = folder.join(format!("{out}.toml"));
    std::fs::write(&file, case).expect("written");
    let name = file.file_name().and_then(|name| name.to_str()).expect("text").to_string();
    lbmc(folder, &[&["run", &name, "--out", out][..], more].concat());
    let ends = ["fields_00000060.vti", "fields_00000060.vtu"].map(|name| folder.join(out).join(name));
    read(ends.iter().find(|path| path.exists()).expect("fields at the end"))
}

/// Two jets and an outlet at the left face of a closed box; `left` is what the face is.
fn jets(left: &str, refinement: &str) -> String {
    format!(
        "name = \"flow\"\nspec = \"d2q9_trt\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [32, 48]\n\
         [fluid]\nviscosity = 0.02\nvelocity = 0.03\nlength = 8\n[params]\nmagic = 0.25\n\
         [faces]\nleft = {left}\nothers = \"bounce_back\"\n{refinement}\
         [stop]\nsteps = 60\n[output]\nvtk = true\nrestart = 20\n"
    )
}

/// Parts of a face against formulas that say the same of the whole face.
#[test]
fn patches_are_what_a_formula_with_conditions_is() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    let patched = "{ rule = \"moving_wall\", velocity = [0, 0], patches = [\
        { rule = \"moving_wall\", velocity = [0.03, 0], box = { from = [0, 8], to = [0, 16] } },\
        { rule = \"moving_wall\", velocity = [\"-0.03 * min(t / 50, 1)\", 0], disc = { centre = [0, 36], radius = 4 } },\
        { rule = \"moving_wall\", velocity = [\"0.001 * y\", 0], where = \"(y > 20) * (y < 24) + (y > 34)\" }] }";
    let formula = "{ rule = \"moving_wall\", velocity = [\"\
        if((y >= 8) * (y < 16), 0.03, if(abs(y - 36) < 4, -0.03 * min(t / 50, 1), \
        if((y > 20) * (y < 24) + (y > 34), 0.001 * y, 0)))\", 0] }";
    let refined = "[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [0, 0], to = [12, 48] }]\n";
    let follows = "[refinement]\nfinest = 1\ncriterion = \"vorticity\"\nthreshold = 0.5\nevery = 8\n";
    for (name, refinement) in [("plain", ""), ("refined", refined), ("follows", follows)] {
        let one = fields(here.path(), &jets(patched, refinement), &format!("{name}_patched"), &[]);
        let other = fields(here.path(), &jets(formula, refinement), &format!("{name}_formula"), &[]);
        assert!(one == other, "{name}");
        // The same bits from a restart file on the way.
        let part = format!("{name}_part");
        std::fs::write(here.path().join("part.toml"), jets(patched, refinement)).expect("written");
        lbmc(here.path(), &["run", "part.toml", "--out", &part, "--set", "stop.steps=20", "--set", "vtk=false"]);
        let resumed = fields(here.path(), &jets(patched, refinement), &part, &["--resume"]);
        assert!(one == resumed, "{name} resumed");
    }
    let still = jets("{ rule = \"moving_wall\", velocity = [0, 0] }", "");
    assert!(fields(here.path(), &still, "still", &[]) != fields(here.path(), &jets(patched, ""), "jets", &[]));
}

/// What a jet brings in through one part of a face leaves through a pressure at another part of the same face.
#[test]
fn what_enters_through_one_patch_leaves_through_another() {
    let here = tempfile::tempdir().expect("a folder");
    let left = "{ rule = \"bounce_back\", patches = [\
        { rule = \"moving_wall\", velocity = [0.03, 0], where = \"abs(y - 12) < 4\" },\
        { rule = \"anti_bounce_back\", density = 1, where = \"abs(y - 36) < 4\" }] }";
    let probe = "[[probes]]\nname = \"in\"\nfrom = [0.5, 8.5]\nto = [0.5, 15.5]\npoints = 8\nfields = [\"density\", \"ux\"]\nevery = 6000\n\
                 [[probes]]\nname = \"out\"\nfrom = [0.5, 32.5]\nto = [0.5, 39.5]\npoints = 8\nfields = [\"density\", \"ux\"]\nevery = 6000\n";
    let case = jets(left, "").replace("steps = 60", "steps = 6000").replace("viscosity = 0.02", "viscosity = 0.1");
    std::fs::write(here.path().join("jets.toml"), case + probe).expect("written");
    lbmc(here.path(), &["run", "jets.toml", "--out", "jets"]);
    let through = |name: &str| -> f64 {
        let rows = String::from_utf8(read(&here.path().join(format!("jets/probe_{name}.csv")))).expect("text");
        let rows = rows.lines().filter(|row| row.starts_with("6000,"));
        let numbers =
            rows.map(|row| row.split(',').map(|value| value.trim().parse().unwrap_or(0.0)).collect::<Vec<f64>>());
        numbers.map(|row| row[row.len() - 2] * row[row.len() - 1]).sum()
    };
    let (inwards, outwards) = (through("in"), through("out"));
    println!("in {inwards}, out {outwards}");
    assert!(inwards > 0.2 && (outwards / inwards + 1.0).abs() < 0.005, "{inwards} {outwards}");
    // What a box lets in is its velocity times its area: of fluid at rest, to round-off.
    let left = "{ rule = \"bounce_back\", patches = [\
        { rule = \"moving_wall\", velocity = [0.03, 0], box = { from = [0, 8], to = [0, 16] } }] }";
    std::fs::write(here.path().join("one.toml"), jets(left, "").replace("steps = 60", "steps = 1")).expect("written");
    lbmc(here.path(), &["run", "one.toml", "--out", "one"]);
    let summary: serde_json::Value =
        serde_json::from_slice(&read(&here.path().join("one/summary.json"))).expect("JSON");
    let [start, end] = ["mass_start", "mass_end"].map(|name| summary[name].as_f64().expect("a mass"));
    assert!((end - start - 8.0 * 0.03).abs() < 1e-10, "{start} {end}");
}

#[test]
fn a_shipped_case_finds_its_image_in_any_folder_and_its_copy_runs_again() {
    let here = tempfile::tempdir().expect("a folder");
    let short = ["--set", "target=cpu", "--set", "stop.steps=60", "--set", "picture=false"];
    lbmc(here.path(), &[&["run", "porous_spheres", "--out", "first"], &short[..]].concat());
    let fields = |out: &str| read(&here.path().join(out).join("fields_00000060.vti"));
    assert!(read(&here.path().join("first/inputs/image_1.nrrd")).starts_with(b"NRRD0004"));
    lbmc(here.path(), &["run", "first/case.toml", "--out", "second"]);
    assert!(fields("first") == fields("second"));
    // A copy of the case in an empty folder has the image, too.
    let copy =
        Command::new(env!("CARGO_BIN_EXE_lbmc")).args(["cases", "porous_spheres"]).output().expect("starts").stdout;
    std::fs::write(here.path().join("mine.toml"), copy).expect("written");
    lbmc(here.path(), &[&["run", "mine.toml", "--out", "third"], &short[..]].concat());
    assert!(fields("first") == fields("third"));
}

/// The same body as an image and as a box, on one level, refined, on a grid that follows the flow, and resumed.
#[test]
fn an_image_of_a_box_is_the_box() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    let voxels: Vec<u8> =
        (0..6 * 5).map(|at| u8::from((1..5).contains(&(at % 6)) && (1..4).contains(&(at / 6)))).collect();
    std::fs::write(here.path().join("body.raw"), voxels).expect("written");
    let case = |solid: &str, refinement: &str| {
        format!(
            "name = \"flow\"\nspec = \"d2q9_trt\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [40, 32]\n\
             [fluid]\nviscosity = 0.02\nvelocity = 0.05\nlength = 8\n[params]\nmagic = 0.25\n\
             [faces]\nleft = {{ rule = \"moving_wall\", velocity = [0.05, 0] }}\nright = {{ rule = \"anti_bounce_back\", density = 1 }}\n\
             others = \"periodic\"\n[[solids]]\n{solid}\nrule = \"interpolated_bounce_back\"\n{refinement}\
             [stop]\nsteps = 60\n[output]\nvtk = true\nrestart = 20\nforces = 10\n"
        )
    };
    let image = "shape = \"image\"\nfile = \"body.raw\"\nvoxels = [6, 5]\nscale = 2.6\nfrom = [9.75, 9.55]";
    let cuboid = "shape = \"box\"\nfrom = [12.35, 12.15]\nto = [22.75, 19.95]";
    let refined = "[refinement]\nfinest = 1\n";
    let follows = "[refinement]\nfinest = 1\ncriterion = \"vorticity\"\nthreshold = 0.5\nevery = 8\n";
    for (name, refinement) in [("plain", ""), ("refined", refined), ("follows", follows)] {
        let one = fields(here.path(), &case(image, refinement), &format!("{name}_image"), &[]);
        let other = fields(here.path(), &case(cuboid, refinement), &format!("{name}_box"), &[]);
        let drag = |out: &str| -> Vec<f64> {
            let rows = String::from_utf8(read(&here.path().join(format!("{name}_{out}/forces.csv")))).expect("text");
            let rows = rows.lines().filter(|row| row.starts_with(|first: char| first.is_ascii_digit()));
            rows.map(|row| row.split(',').nth(3).and_then(|value| value.trim().parse().ok()).expect("a force"))
                .collect()
        };
        let (of_image, of_box) = (drag("image"), drag("box"));
        assert!(of_image.len() >= 6 && of_image.iter().zip(&of_box).all(|(a, b)| (a - b).abs() < 1e-9), "{name}");
        assert_eq!(one.len(), other.len());
        let part = format!("{name}_part");
        std::fs::write(here.path().join("part.toml"), case(image, refinement)).expect("written");
        lbmc(here.path(), &["run", "part.toml", "--out", &part, "--set", "stop.steps=20", "--set", "vtk=false"]);
        let resumed = fields(here.path(), &case(image, refinement), &part, &["--resume"]);
        assert!(one == resumed, "{name} resumed");
    }
}

/// The force of a step jitters while the surface passes cells, and at some intervals samples of it always meet the same places of them.
#[test]
fn rows_of_the_force_on_a_body_that_moves_are_means_over_their_intervals() {
    let here = tempfile::tempdir().expect("a folder");
    let case = |every: usize| {
        format!(
            "spec = \"d2q9_central\"\ntarget = \"cpu\"\nprecision = \"f64\"\n[domain]\nsize = [64, 48]\n[fluid]\nre = 40\nvelocity = 0.04\nlength = 12\n\
             [faces]\nothers = \"periodic\"\n[[solids]]\nshape = \"cylinder\"\ncentre = [40.3, 24.2]\nradius = 6\nrule = \"moving_wall\"\n\
             motion = {{ displacement = [\"-0.04 * t\", 0] }}\n[stop]\nsteps = 260\n[output]\nforces = {every}\naverage_from = 1\n"
        )
    };
    let run = |every: usize| {
        let out = format!("every_{every}");
        std::fs::write(here.path().join("moves.toml"), case(every)).expect("written");
        lbmc(here.path(), &["run", "moves.toml", "--out", &out]);
        let summary: serde_json::Value =
            serde_json::from_slice(&read(&here.path().join(&out).join("summary.json"))).expect("JSON");
        let mean = summary["forces"][0]["drag"]["mean"].as_f64().expect("a mean");
        (forces(&here.path().join(out).join("forces.csv")), mean)
    };
    let (every, mean) = run(1);
    let (rows, of_rows) = run(25);
    // The last interval is shorter.
    assert_eq!((every.len(), rows.len()), (261, 12));
    for (at, row) in rows.iter().enumerate().skip(1) {
        let steps = 25 * (at - 1) + 1..=(25 * at).min(260);
        let count = steps.clone().count() as f64;
        let expected = steps.map(|step| every[step].1[0]).sum::<f64>() / count;
        assert!((row.1[0] / expected - 1.0).abs() < 1e-9, "row {at}: {row:?} {expected}");
    }
    assert!((of_rows / mean - 1.0).abs() < 1e-9, "{of_rows} {mean}");
}

/// A few steps of the wind around a building, on three levels.
#[test]
fn the_wind_around_a_building_begins() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    lbmc(
        here.path(),
        &["run", "building", "--set", "target=cpu", "--set", "stop.steps=20", "--set", "forces=5", "--out", "wind"],
    );
    let drag = forces(&here.path().join("wind/forces.csv"));
    let [begin, .., end] = &drag[..] else { panic!("{drag:?}") };
    assert!(end.1[0] > 0.0 && end.1[0] < 0.5 * begin.1[0], "the push of the first steps fades: {drag:?}");
}

/// A box as an STL text with a part of its own for each side: `x0`, `x1`, `y0`, ...
fn cuboid(low: [f64; 3], high: [f64; 3], without: &str) -> String {
    let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { high[axis] } else { low[axis] });
    let sides = [
        ("x0", [0, 4, 6, 2]),
        ("x1", [1, 3, 7, 5]),
        ("y0", [0, 1, 5, 4]),
        ("y1", [2, 6, 7, 3]),
        ("z0", [0, 2, 3, 1]),
        ("z1", [4, 5, 7, 6]),
    ];
    let facet = |corners: [usize; 3]| {
        let lines = corners.map(corner).map(|[x, y, z]| format!("vertex {x} {y} {z}\n"));
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", lines.concat())
    };
    let side = |(name, [a, b, c, d]): &(&str, [usize; 4])| {
        format!("solid {name}\n{}{}endsolid {name}\n", facet([*a, *b, *c]), facet([*a, *c, *d]))
    };
    sides.iter().filter(|(name, _)| *name != without).map(side).collect()
}

/// The force on a body at the times of a table, and that on each of its parts.
fn forces(path: &Path) -> Vec<(String, Vec<f64>)> {
    let rows = String::from_utf8(read(path)).expect("text");
    let has_parts = rows.contains("step,time,solid,part,");
    let rows = rows.lines().filter(|row| row.starts_with(|first: char| first.is_ascii_digit()));
    let row = |row: &str| -> (String, Vec<f64>) {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[2], "1");
        let first = 3 + usize::from(has_parts);
        let part = if has_parts { cells[3] } else { "" };
        let numbers = cells[first..first + 3].iter().map(|value| value.trim().parse().expect("a number"));
        (part.to_string(), numbers.collect())
    };
    rows.map(row).collect()
}

/// Parts of a surface with the same boundary condition are the whole, and their forces add up to its force, in a run that was stopped, too; a hole
/// that is closed is as if it had not been there; and a part that moves drives a flow.
#[test]
fn parts_of_a_surface_have_boundary_conditions_and_forces_of_their_own() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| std::fs::write(here.path().join(name), text).expect("written");
    write("body.stl", cuboid([6.3, 5.7, 5.9], [10.6, 10.2, 10.4], ""));
    write("open.stl", cuboid([6.3, 5.7, 5.9], [10.6, 10.2, 10.4], "z1"));
    let case = |solid: &str, rest: &str| {
        format!(
            "name = \"flow\"\nspec = \"d3q19_trt\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4, 4]\n[domain]\nsize = [24, 16, 16]\n\
             [fluid]\nviscosity = 0.05\nvelocity = 0.05\nlength = 4\n[params]\nmagic = 0.25\n\
             [faces]\nleft = {{ rule = \"moving_wall\", velocity = [0.05, 0, 0] }}\nright = {{ rule = \"anti_bounce_back\", density = 1 }}\n\
             others = \"periodic\"\n[[solids]]\nshape = \"stl\"\n{solid}{rest}\
             [stop]\nsteps = 60\n[output]\nvtk = \"unstructured\"\nforces = 10\nrestart = 20\n"
        )
    };
    let rule = "rule = \"interpolated_bounce_back\"\n";
    let whole = format!("file = \"body.stl\"\n{rule}");
    let patches = "patches = [{ solid = \"x0\", rule = \"interpolated_bounce_back\" }, { solid = \"y1\", rule = \"interpolated_bounce_back\" }]\n";
    let refined = "[refinement]\nfinest = 1\n";
    for (name, rest) in [("plain", ""), ("refined", refined)] {
        let text = |solid: &str| match rest {
            "" => case(solid, rest).replace("\"unstructured\"", "true"),
            _ => case(solid, rest),
        };
        let run = |solid: &str, out: &str, more: &[&str]| {
            let out = format!("{name}_{out}");
            (fields(here.path(), &text(solid), &out, more), forces(&here.path().join(&out).join("forces.csv")))
        };
        let (one, all) = run(&whole, "whole", &[]);
        let parted = format!("{whole}{patches}");
        let (patched, parts) = run(&parted, "patched", &[]);
        assert!(one == patched, "{name}");
        assert_eq!(parts.len(), 4 * all.len());
        for (of_all, rows) in all.iter().zip(parts.chunks(4)) {
            assert_eq!(rows.iter().map(|(part, _)| &part[..]).collect::<Vec<_>>(), ["", "rest", "x0", "y1"]);
            for axis in 0..3 {
                let sum: f64 = rows[1..].iter().map(|(_, force)| force[axis]).sum();
                let most = 1e-6 * of_all.1[0].abs() + 1e-12;
                let of_whole = rows[0].1[axis];
                assert!(
                    (sum - of_whole).abs() < most && (of_whole - of_all.1[axis]).abs() < most,
                    "{of_all:?} {rows:?}"
                );
            }
        }
        // The front has most of the drag.
        let last = &parts[parts.len() - 4..];
        assert!(last[2].1[0] > 0.3 * all[all.len() - 1].1[0], "{last:?}");
        // The same rows from a restart file on the way.
        write("part.toml", text(&parted));
        let out = format!("{name}_part");
        lbmc(here.path(), &["run", "part.toml", "--out", &out, "--set", "stop.steps=20", "--set", "vtk=false"]);
        assert!(run(&parted, "part", &["--resume"]).1 == parts, "{name} resumed");
        let summary = serde_json::from_slice::<serde_json::Value>(&read(&here.path().join(&out).join("summary.json")));
        let means = summary.expect("JSON")["forces"].as_array().expect("forces").clone();
        assert_eq!(
            means.iter().map(|of| of["part"].as_str()).collect::<Vec<_>>(),
            [None, Some("rest"), Some("x0"), Some("y1")]
        );
        let drag = |at: usize| means[at]["drag"]["last"].as_f64().expect("a coefficient");
        assert!((drag(0) - drag(1) - drag(2) - drag(3)).abs() < 1e-9 * drag(0));
        let (_, closed) = run(&format!("file = \"open.stl\"\nclose = 5\n{rule}"), "closed", &[]);
        assert_eq!(closed.len(), all.len());
        assert!(closed.iter().zip(&all).all(|(one, other)| (one.1[0] - other.1[0]).abs() < 1e-9), "{name} closed");
    }
    let still = case(&whole, "").replace("[0.05, 0, 0]", "[0, 0, 0]").replace("\"unstructured\"", "true");
    let lid = "patches = [{ solid = \"z1\", rule = \"interpolated_moving_wall\", velocity = [0.02, 0, 0] }]\n";
    let moves = still.replace(rule, &format!("{rule}{lid}"));
    fields(here.path(), &moves, "lid", &[]);
    let of_lid = forces(&here.path().join("lid/forces.csv")).pop().expect("a row");
    assert!(of_lid.0 == "z1" && of_lid.1[0] < -1e-4, "the fluid holds the lid back: {of_lid:?}");
}

/// A section of a cylinder through its axis and across it, against the box and the circle that it is.
#[test]
fn sections_of_a_surface_are_its_polygons() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    std::fs::write(here.path().join("body.stl"), cuboid([1.0, 2.0, 3.0], [5.16, 4.08, 9.0], "")).expect("written");
    let case = |solid: &str, rest: &str| {
        format!(
            "name = \"flow\"\nspec = \"d2q9_trt\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [40, 32]\n\
             [fluid]\nviscosity = 0.02\nvelocity = 0.05\nlength = 8\n[params]\nmagic = 0.25\n\
             [faces]\nleft = {{ rule = \"moving_wall\", velocity = [0.05, 0] }}\nright = {{ rule = \"anti_bounce_back\", density = 1 }}\n\
             others = \"periodic\"\n[[solids]]\n{solid}\nrule = \"interpolated_bounce_back\"\n{rest}\
             [stop]\nsteps = 60\n[output]\nvtk = true\nforces = 10\n"
        )
    };
    let stl = |section: &str| {
        format!("shape = \"stl\"\nfile = \"body.stl\"\nscale = 2.5\ncentre = [17.55, 16.05]\n{section}")
    };
    let refined = "[refinement]\nfinest = 1\n";
    for (name, rest) in [("plain", ""), ("refined", refined)] {
        for (axis, section, half) in [
            ("z", "section = { normal = \"z\", at = 4 }", [5.2, 2.6]),
            // Through the corners of the top, and turned.
            ("top", "section = { normal = \"z\", at = 9 }", [5.2, 2.6]),
            ("turned", "rotate = [0, 90, 0]\nsection = { normal = \"x\", at = 4 }", [2.6, 5.2]),
        ] {
            let out = format!("{name}_{axis}");
            fields(here.path(), &case(&stl(section), rest), &out, &[]);
            let [x, y] = half;
            let cuboid =
                format!("shape = \"box\"\nfrom = [{}, {}]\nto = [{}, {}]", 17.55 - x, 16.05 - y, 17.55 + x, 16.05 + y);
            fields(here.path(), &case(&cuboid, rest), &format!("{out}_box"), &[]);
            let last = |out: &str| {
                let rows = String::from_utf8(read(&here.path().join(out).join("forces.csv"))).expect("text");
                let row: Vec<f64> = rows
                    .lines()
                    .last()
                    .expect("rows")
                    .split(',')
                    .map(|value| value.parse().expect("a number"))
                    .collect();
                [row[3], row[4]]
            };
            let (cut, drawn) = (last(&out), last(&format!("{out}_box")));
            assert!((0..2).all(|axis| (cut[axis] - drawn[axis]).abs() < 1e-6), "{out}: {cut:?} {drawn:?}");
            assert!(drawn[0] > 1e-3, "{drawn:?}");
        }
    }
}

/// The shipped pipe against the parabola of Hagen and Poiseuille: the largest difference along a line through the middle, over the velocity there.
#[test]
fn a_pipe_of_triangles_has_the_parabola_of_hagen_and_poiseuille() {
    let here = tempfile::tempdir().expect("a folder");
    lbmc(here.path(), &["run", "pipe_stl", "--set", "target=cpu", "--out", "pipe"]);
    let rows = String::from_utf8(read(&here.path().join("pipe/profile_y.csv"))).expect("text");
    let rows = rows.lines().filter(|row| row.starts_with(|first: char| first.is_ascii_digit()));
    let difference = |row: &str| {
        let row: Vec<f64> = row.split(',').map(|value| value.trim().parse().expect("a number")).collect();
        // The line lies between two rows of cells, half a cell off the axis each.
        let square = (24.0 * row[0] - 12.0).powi(2) + 0.25;
        (row[1] - (1.0 - square / 100.0).max(0.0)).abs()
    };
    let worst = rows.map(difference).fold(0.0, f64::max);
    println!("{worst}");
    assert!(worst < 1.4e-3, "{worst}");
}

/// A box with 12 triangles as an STL text, corners moved by `apart` in each triangle otherwise, and some triangles twice.
fn box_stl(low: [f64; 3], high: [f64; 3], apart: f64, twice: usize) -> String {
    let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { high[axis] } else { low[axis] });
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut all: Vec<[usize; 3]> = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    all.extend_from_within(..twice);
    let mut text = String::from("solid body\n");
    for (number, corners) in all.into_iter().enumerate() {
        text += "facet normal 0 0 0\nouter loop\n";
        for at in corners {
            let by = |axis: usize| apart * ((7 * number + 3 * axis + at) % 5) as f64;
            let [x, y, z] = [0, 1, 2].map(|axis| corner(at)[axis] + by(axis));
            text += &format!("vertex {x:.9} {y:.9} {z:.9}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid body\n"
}

/// A slanted plate thinner than the diagonal of a cell between two densities, at rest and on a refined grid: they stay.
#[test]
fn a_slanted_plate_keeps_two_densities_apart() {
    let here = tempfile::tempdir().expect("a folder");
    for (name, thickness, more) in [
        ("one", 1.0, ""),
        ("thin", 0.6, ""),
        ("moves", 0.8, "motion = { displacement = [\"0.25 * (1 - cos(2*pi*t/600))\", 0] }\n"),
        ("refined", 0.4, "[refinement]\nfinest = 1\n"),
    ] {
        let stl = box_stl([-24.0, -0.5 * thickness, -1.0], [24.0, 0.5 * thickness, 1.0], 0.0, 0);
        std::fs::write(here.path().join("plate.stl"), stl).expect("written");
        let rule = if name == "moves" { "moving_wall" } else { "bounce_back" };
        let case = format!(
            "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\nprecision = \"f64\"\n[domain]\nsize = [24, 24]\n[fluid]\nviscosity = 0.1\nvelocity = 0.01\n\
             [faces]\nothers = \"bounce_back\"\n[start]\ndensity = \"if(y > x, 1.02, 1)\"\n[stop]\nsteps = 600\n\
             [[probes]]\nname = \"p\"\nat = [[4.5, 19.5], [19.5, 4.5]]\nfields = [\"density\"]\nevery = 600\n\
             [[solids]]\nshape = \"stl\"\nfile = \"plate.stl\"\nsection = {{ normal = \"z\", at = 0 }}\nrotate = [0, 0, 45]\n\
             centre = [12.1, 12]\nrule = \"{rule}\"\n{more}"
        );
        std::fs::write(here.path().join("plate.toml"), case).expect("written");
        lbmc(here.path(), &["run", "plate.toml", "--out", name]);
        let rows = String::from_utf8(read(&here.path().join(name).join("probe_p.csv"))).expect("text");
        let densities: Vec<f64> = (rows.lines().filter(|row| row.starts_with("600,")))
            .map(|row| row.rsplit(',').next().expect("a value").trim().parse().expect("a number"))
            .collect();
        let difference = densities[0] - densities[1];
        assert!((difference - 0.02).abs() < 0.004, "{name}: {densities:?}");
    }
}

/// Corners as far apart as those of files of other programs, and triangles twice: the same flow, and a warning that says what was done.
#[test]
fn a_surface_whose_corners_do_not_quite_meet_is_welded() {
    let here = tempfile::tempdir().expect("a folder");
    let case = "spec = \"d3q19_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [16, 16, 16]\n[fluid]\nviscosity = 0.1\nvelocity = 0.01\n\
                [faces]\nothers = \"periodic\"\n[start]\nvelocity = [0.01, 0, 0]\n[stop]\nsteps = 60\n[output]\nvtk = true\n\
                [[solids]]\nshape = \"stl\"\nfile = \"box.stl\"\nscale = 12\ncentre = [8, 8, 8]\nrule = \"bounce_back\"\n";
    let run = |apart: f64, twice: usize, out: &str| {
        let stl = box_stl([0.0; 3], [0.7, 0.6, 0.5], apart, twice);
        std::fs::write(here.path().join("box.stl"), stl).expect("written");
        fields(here.path(), case, out, &[])
    };
    assert!(run(0.0, 0, "whole") == run(5e-7, 3, "open"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    let said = command.args(["run", "open.toml", "--dry-run"]).current_dir(here.path()).output().expect("starts");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(["C0313", "25 corners", "3 triangles"].iter().all(|part| said.contains(part)), "{said}");
}
