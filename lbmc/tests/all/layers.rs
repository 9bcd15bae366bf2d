//! What is written of walls under boundary layers, in channels whose friction follows from the force that drives them.

use std::path::Path;
use std::process::{Command, Output};

/// Half the width of the channel, viscosity, and stress of its walls.
const HALF: f64 = 12.0;
const VISCOSITY: f64 = 0.02;
const STRESS: f64 = 1e-4;

fn lbmc(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_lbmc")).args(arguments).current_dir(folder).output().expect("starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What a run of a case says, and how it ends.
fn run(folder: &Path, text: &str) -> Output {
    std::fs::write(folder.join("case.toml"), text).expect("written");
    let run = Command::new(env!("CARGO_BIN_EXE_lbmc")).args(["run", "case.toml"]).current_dir(folder).output();
    run.expect("starts")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A channel between y = 4 and 28, in a box that repeats, with walls of this rule, that starts near its steady state: a parabola that has the velocity `slip` at the height
/// `above` its walls.
fn channel(rule: &str, slip: f64, above: f64) -> String {
    let parabola = STRESS / HALF / (2.0 * VISCOSITY);
    let rise = (HALF - above).powi(2);
    format!(
        "spec = \"d2q9_guo\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [8, 8]\n[domain]\nsize = [32, 32]\n\
         [fluid]\nviscosity = {VISCOSITY}\nvelocity = 0.1\nlength = {HALF}\n[params]\nforce = [{force}, 0]\n[faces]\nothers = \"periodic\"\n\
         [[solids]]\nshape = \"box\"\nfrom = [-40, -4]\nto = [80, 4]\nrule = {rule}\n[start]\nvelocity = [\"if(abs(y - 16) < 12, {slip} + {parabola} * ({rise} - (y - 16)^2), 0)\", 0]\n\
         [stop]\nsteps = 10_000\n[output]\nsurfaces = 5_000\n[report]\ntwice = \"2 * y_plus_mean_1\"\nrange = \"y_plus_greatest_1 - y_plus_least_1\"\n",
        force = STRESS / HALF,
    )
}

fn columns(table: &str, names: [&str; 3]) -> Vec<[f64; 3]> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let at =
        names.map(|name| head.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}: {head:?}")));
    lines.map(|line| at.map(|at| line.split(',').nth(at).expect("a value").parse().expect("a number"))).collect()
}

/// Friction, its part across the channel and y+ of both walls at the end.
fn ends(folder: &Path) -> Vec<[f64; 3]> {
    columns(&read(&folder.join("surface_1_00010000.csv")), ["friction_x", "friction_y", "y_plus"])
}

/// The law u+ = 3, the same at all heights, has the stress (u / 3)^2 and, at the height y, y+ = sqrt(stress) y / viscosity.
#[test]
fn a_wall_that_slides_has_the_friction_of_its_law() {
    crate::in_turn!();
    let here = tempfile::tempdir().expect("a folder");
    let rule = "\"sliding_wall\"\nlayer = { law = \"3\", sample = 2.5 }";
    std::fs::write(here.path().join("slides.toml"), channel(rule, 3.0 * STRESS.sqrt(), 2.5)).expect("written");
    lbmc(here.path(), &["run", "slides.toml", "--out", "one"]);
    let found = ends(&here.path().join("one"));
    assert!(found.len() > 20, "{found:?}");
    for [along, across, y_plus] in found {
        assert!((along / STRESS - 1.0).abs() < 1e-3 && across.abs() < 1e-12, "{along} {across}");
        assert!((y_plus / (along.sqrt() * 2.5 / VISCOSITY) - 1.0).abs() < 1e-6, "{y_plus} of {along}");
    }
    let summary: serde_json::Value = serde_json::from_str(&read(&here.path().join("one/summary.json"))).expect("JSON");
    let of_law = &summary["y_plus"][0];
    assert_eq!((of_law["solid"].as_u64(), of_law["law"].as_bool()), (Some(1), Some(true)), "{of_law}");
    assert!((of_law["mean"].as_f64().expect("a mean") / 1.25 - 1.0).abs() < 1e-3, "{of_law}");

    // In three subdomains, and resumed in the middle.
    lbmc(here.path(), &["run", "slides.toml", "--out", "three", "--devices", "3"]);
    lbmc(here.path(), &["run", "slides.toml", "--out", "parts", "--set", "steps=5000", "--set", "output.restart=5000"]);
    lbmc(here.path(), &["run", "slides.toml", "--out", "parts", "--set", "output.restart=5000", "--resume"]);
    for folder in ["three", "parts"] {
        let [other, one] = [folder, "one"].map(|folder| read(&here.path().join(folder).join("surface_1_00010000.csv")));
        assert!(other == one, "{folder}");
    }
}

/// A wall that moves along itself, a belt, has the friction of the stream relative to it.
#[test]
fn a_wall_that_moves_along_itself_has_the_friction_of_what_passes_it() {
    const BELT: f64 = 0.02;
    let here = tempfile::tempdir().expect("a folder");
    let belt = |velocity: &str| {
        let rule = format!("\"sliding_wall\"\nlayer = {{ law = \"3\", sample = 2.5, velocity = [{velocity}, 0] }}");
        channel(&rule, 3.0 * STRESS.sqrt() + BELT, 2.5)
    };
    let place = format!("\"{BELT} * (1 + 0 * x)\"");
    std::fs::write(here.path().join("belt.toml"), belt(&place)).expect("written");
    lbmc(here.path(), &["run", "belt.toml", "--out", "one"]);
    for [along, _, y_plus] in ends(&here.path().join("one")) {
        assert!((along / STRESS - 1.0).abs() < 2e-3, "{along}");
        assert!((y_plus / (along.sqrt() * 2.5 / VISCOSITY) - 1.0).abs() < 1e-6, "{y_plus} of {along}");
    }
    let refused = run(here.path(), &belt("\"0.001 * t\""));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("C0408") && message.contains("the same at all times"), "{message}");
}

/// What a run of a channel with this layer says in which it is refused; nothing of one that runs.
fn refusal(folder: &Path, layer: &str) -> Option<String> {
    let rule = format!("\"sliding_wall\"\nlayer = {{ sample = 2.5, {layer} }}");
    let text = channel(&rule, 0.03, 2.5).replace("10_000", "2").replace("5_000", "2");
    let run = run(folder, &text);
    (!run.status.success()).then(|| String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn laws_that_fall_or_are_negative_anywhere_are_refused() {
    let here = tempfile::tempdir().expect("a folder");
    for (layer, of) in [
        ("law = \"if(y_plus < 30, y_plus, 2.44*ln(y_plus) + 5.2)\"", "here it is 13"),
        ("law = \"if(y_plus > 1.1, if(y_plus < 9, -5, 8), 7)\"", "here it is -5"),
        ("law = \"if(y_plus > 1.1, if(y_plus < 9, 0/0, 8), 7)\"", "here it is NaN"),
        ("law = \"table(\\\"law.csv\\\", y_plus)\"", "without tables"),
        ("law = \"y_plus + 1 - k_plus\", roughness = 5", "`roughness` is 2 of the height"),
        ("law = \"reichardt\", roughness = 200", "`roughness` is 80 of the height"),
    ] {
        let message = refusal(here.path(), layer).unwrap_or_else(|| panic!("{layer} runs"));
        let message = message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(message.contains(of), "{layer}: {message}");
    }
    for layer in ["law = \"reichardt\", roughness = 2", "law = \"werner_wengle\"", "law = \"3\""] {
        assert_eq!(refusal(here.path(), layer), None);
    }
}

/// Along the surface, everywhere finite and slower than sound; what leads through it has no effect.
#[test]
fn velocities_that_lead_through_a_surface_are_refused() {
    let here = tempfile::tempdir().expect("a folder");
    for (velocity, code) in [
        ("[0, 0.3]", "L0527"),
        ("[\"if(abs(x - 12.5) < 0.1, 0/(x - x), 0.02)\", 0]", "L0505"),
        ("[\"if(abs(x - 12.5) < 0.1, 5, 0.02)\", 0]", "L0505"),
    ] {
        let message = refusal(here.path(), &format!("velocity = {velocity}")).unwrap_or_default();
        assert!(message.contains(code) && message.contains("solid 1"), "{velocity}: {message}");
    }
    let tables = ["[0.02, 0]", "[0.02, 0.02]"].map(|velocity| {
        assert_eq!(refusal(here.path(), &format!("law = \"3\", velocity = {velocity}")), None);
        read(&here.path().join("out/case/surface_1_00000002.csv"))
    });
    assert!(tables[0] == tables[1]);
}

/// A solid of an STL file of which one part slides, whichever it is, has a law of the wall; a part has no law of its own.
#[test]
fn a_solid_has_a_law_of_the_wall_where_any_of_its_parts_slides() {
    let here = tempfile::tempdir().expect("a folder");
    let corners = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let facet = |[a, b, c]: [usize; 3]| {
        let at = |corner: usize| [0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { 12 } else { 4 });
        let line = |corner| format!("vertex {} {} {}\n", at(corner)[0], at(corner)[1], at(corner)[2]);
        format!("facet normal 0 0 0\nouter loop\n{}{}{}endloop\nendfacet\n", line(a), line(b), line(c))
    };
    let solid = |name: &str, sides: &[[usize; 4]]| {
        let facets: String = sides.iter().map(|[a, b, c, d]| facet([*a, *b, *c]) + &facet([*a, *c, *d])).collect();
        format!("solid {name}\n{facets}endsolid {name}\n")
    };
    std::fs::write(here.path().join("box.stl"), solid("rest", &corners[..5]) + &solid("lid", &corners[5..])).unwrap();
    let case = |rest: &str, lid: &str| {
        format!(
            "spec = \"d3q19_smagorinsky\"\ntarget = \"cpu\"\nprecision = \"f32\"\nblock = [4, 4, 4]\n[domain]\nsize = [16, 16, 16]\n\
             [fluid]\nviscosity = 1e-4\nvelocity = 0.05\nlength = 8\n[params]\nsmagorinsky = 0.1\n[faces]\nothers = \"periodic\"\n\
             [[solids]]\nshape = \"stl\"\nfile = \"box.stl\"\nrule = \"{rest}\"\nlayer = {{ sample = 2 }}\n\
             [[solids.patches]]\nsolid = \"lid\"\nrule = {lid}\n[start]\nvelocity = [0.05, 0, 0]\n[stop]\nsteps = 2\n[output]\nsurfaces = 2\n"
        )
    };
    let all_of = |text: String| {
        let run = run(here.path(), &text);
        [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
    };
    for [rest, lid] in [["sliding_wall", "bounce_back"], ["bounce_back", "sliding_wall"]] {
        let said = all_of(case(rest, &format!("\"{lid}\"")));
        assert!(!said.contains("C0109") && said.contains("y+ of the law of the wall"), "{said}");
    }
    let said = all_of(case("bounce_back", "\"interpolated_bounce_back\""));
    assert!(said.contains("C0109") && said.contains("`interpolated_bounce_back` do not slide"), "{said}");
    let said = all_of(case("sliding_wall", "\"sliding_wall\"\nlayer = { sample = 1 }"));
    assert!(said.contains("it takes that of its solid"), "{said}");
}

/// A block must reach as high as the law does, so that a sample is not taken lower than the case says.
#[test]
fn blocks_are_as_long_as_the_law_of_a_wall_is_high() {
    let here = tempfile::tempdir().expect("a folder");
    let text = channel("\"sliding_wall\"", 0.03, 3.5).replace("10_000", "1").replace("5_000", "1");
    let refused = run(here.path(), &text.replace("[8, 8]", "[8, 2]"));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && message.contains("applies 3.5 cells above the surface"), "{message}");
    // Chosen ones: the best of three axes of 24, 16 and 56 cells for the host are 1 cell thick.
    let text = LARGE_EDDIES.replace("STEPS", "2").replace("FROM", "0");
    std::fs::write(here.path().join("chosen.toml"), text).expect("written");
    lbmc(here.path(), &["run", "chosen.toml", "--out", "out"]);
    let summary: serde_json::Value = serde_json::from_str(&read(&here.path().join("out/summary.json"))).expect("JSON");
    let block: Vec<u64> =
        summary["block"].as_array().expect("a block").iter().filter_map(|side| side.as_u64()).collect();
    assert!(block.len() == 3 && block.iter().all(|side| *side >= 4), "{block:?}");
}

/// What cells show their neighbours beside a wall that slides follows from the velocity that it has in the step, so a flow that is resumed has the same forces.
#[test]
fn a_flow_of_large_eddies_along_walls_that_slide_is_resumed_with_the_same_bits() {
    let here = tempfile::tempdir().expect("a folder");
    let (before, _) = LARGE_EDDIES.split_once("[[recordings]]").expect("a recording");
    let text = before.replace("STEPS", "6") + "[output]\nforces = 1\nrestart = 3\n";
    std::fs::write(here.path().join("eddies.toml"), text).expect("written");
    lbmc(here.path(), &["run", "eddies.toml", "--out", "one"]);
    lbmc(here.path(), &["run", "eddies.toml", "--out", "three", "--devices", "3"]);
    lbmc(here.path(), &["run", "eddies.toml", "--out", "parts", "--set", "stop.steps=3"]);
    lbmc(here.path(), &["run", "eddies.toml", "--out", "parts", "--resume"]);
    let [one, three, parts] = ["one", "three", "parts"].map(|name| read(&here.path().join(name).join("forces.csv")));
    assert!(one.lines().filter(|line| line.starts_with("6,")).count() == 2, "{one}");
    assert!(one == three && one == parts, "{one}\n{three}\n{parts}");
}

/// Prandtl's mixing length rises with the height and ends above the law: on the floor, below its periodic image, and on a cylinder where its normal lies
/// along an axis, not where it lies askew.
#[test]
fn below_the_law_of_a_wall_cells_have_a_mixing_length() {
    const CASE: &str = r#"
spec = "d3q19_wale"
target = "cpu"
precision = "f64"
block = [8, 8, 8]
[domain]
size = [24, 8, 40]
[fluid]
viscosity = 1e-4
velocity = 0.05
length = 10
[params]
wale = 0.325
sigma = 0.95
force = [0, 0, 0]
[faces]
others = "periodic"
[[solids]]
shape = "box"
from = [-40, -40, -2]
to = [80, 80, 4]
rule = "sliding_wall"
[[solids]]
shape = "cylinder"
centre = [12, 4, 20]
axis = [0, 1, 0]
radius = 6
rule = "sliding_wall"
[start]
velocity = [0.05, 0, 0]
[stop]
steps = 1
[[probes]]
name = "floor"
from = [0.5, 4.5, 4.5]
to = [0.5, 4.5, 8.5]
points = 5
fields = ["mixing"]
every = 1
[[probes]]
name = "image"
from = [0.5, 4.5, 37.5]
to = [0.5, 4.5, 33.5]
points = 5
fields = ["mixing"]
every = 1
[[probes]]
name = "pole"
from = [12.5, 4.5, 26.5]
to = [12.5, 4.5, 30.5]
points = 5
fields = ["mixing"]
every = 1
[[probes]]
name = "askew"
from = [16.5, 4.5, 24.5]
to = [18.5, 4.5, 26.5]
points = 3
fields = ["mixing"]
every = 1
"#;
    let here = tempfile::tempdir().expect("a folder");
    std::fs::write(here.path().join("mixes.toml"), CASE).expect("written");
    lbmc(here.path(), &["run", "mixes.toml", "--out", "out"]);
    let found = |name: &str| {
        let table = read(&here.path().join(format!("out/probe_{name}.csv")));
        let last = columns(&table, ["step", "z", "mixing"]);
        let end = last.last().expect("rows")[0];
        last.into_iter().filter(|[step, ..]| *step == end).map(|[_, _, mixing]| mixing).collect::<Vec<f64>>()
    };
    let expected = |height: f64| 0.41 * height.min(0.6 * (4.0 - height)).max(0.0);
    let of_floor: Vec<f64> = [0.5, 1.5, 2.5, 3.5, 4.5].map(expected).into();
    for (name, expected) in [("floor", &of_floor), ("image", &of_floor)] {
        let apart =
            found(name).iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
        assert!(found(name).len() == 5 && apart < 1e-6, "{name}: {:?}, not {expected:?}", found(name));
    }
    let of_pole = found("pole");
    for (number, mixing) in of_pole.iter().enumerate() {
        let height = (0.5f64).hypot(6.5 + number as f64) - 6.0;
        assert!((mixing - expected(height)).abs() < 1e-6, "{number}: {of_pole:?}");
    }
    assert!(found("askew").len() == 3 && found("askew").iter().all(|mixing| *mixing == 0.0), "{:?}", found("askew"));

    // Without, there is no such field.
    let output = Command::new(env!("CARGO_BIN_EXE_lbmc"))
        .args(["run", "mixes.toml", "--out", "none", "--set", "params.mixing=0"])
        .current_dir(here.path())
        .output()
        .expect("starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("mixing"), "{message}");
}

/// A channel of 48 cells whose walls slide by a law, at Re 80 000: the rate of relaxation is .0008 less than 2.
const LARGE_EDDIES: &str = r#"
spec = "d3q19_wale"
target = "cpu"
precision = "f32"
[domain]
size = [24, 16, 56]
[fluid]
re = 40_000
velocity = 0.1155
length = 24
[params]
wale = 0.325
sigma = 0.95
force = [1.2e-6, 0, 0]
[faces]
front = "free_slip"
back = "free_slip"
others = "periodic"
[[solids]]
shape = "box"
from = [-10, -10, -10]
to = [40, 40, 4]
rule = "sliding_wall"
[[solids]]
shape = "box"
from = [-10, -10, 52]
to = [40, 40, 70]
rule = "sliding_wall"
[start]
velocity = [
    "0.132 * max(0, 1 - abs(z - 28) / 24)^(1/7) + 0.0385 * sin(4*pi*x/lx) * sin(6*pi*y/ly) * max(0, 1 - ((z - 28) / 24)^2)",
    "0.024 * sin(6*pi*x/lx + 4*pi*y/ly) * max(0, 1 - ((z - 28) / 24)^2)",
    "0.024 * cos(4*pi*x/lx) * sin(8*pi*y/ly) * max(0, 1 - ((z - 28) / 24)^2)",
]
[stop]
steps = STEPS
[[recordings]]
name = "plane"
plane = { normal = "x", at = 12.5 }
every = 1
from = FROM
"#;

/// Walls that slide with their own velocity alone turn round what is in the cells beside them, and with so little viscosity that goes on from step to
/// step: the velocity there was 2 to 13 m/s in turn, where the mean of the channel is 24, and the friction three times as large.
#[test]
fn cells_beside_walls_that_slide_do_not_alternate_between_steps() {
    let here = tempfile::tempdir().expect("a folder");
    std::fs::write(here.path().join("eddies.toml"), LARGE_EDDIES.replace("STEPS", "1500").replace("FROM", "1480"))
        .expect("written");
    lbmc(here.path(), &["run", "eddies.toml", "--out", "out"]);
    let bytes = std::fs::read(here.path().join("out/plane.lbmplane")).expect("a recording");
    let frame = 3 * 16 * 56;
    let numbers: Vec<f32> =
        bytes[64..].chunks_exact(4).map(|of| f32::from_le_bytes(of.try_into().expect("four"))).collect();
    let frames: Vec<&[f32]> = numbers.chunks_exact(frame).collect();
    assert!(frames.len() >= 20, "{}", frames.len());
    // The mean over the first and the second layer of cells, along the channel and off the wall, every other step.
    let mean = |first: usize, layer: usize, axis: usize| -> f64 {
        let of_frame =
            |frame: &&[f32]| (0..16).map(|y| f64::from(frame[3 * (16 * layer + y) + axis])).sum::<f64>() / 16.0;
        frames[first..20].iter().step_by(2).map(of_frame).sum::<f64>() / 10.0
    };
    for layer in [4, 5] {
        for axis in [0, 2] {
            let (even, odd) = (mean(0, layer, axis), mean(1, layer, axis));
            assert!((even - odd).abs() < 0.01 * 0.1155, "layer {layer}, axis {axis}: {even} {odd}");
        }
    }
}

/// The walls of the box itself, with the whole channel between them. Linear interpolation of the parabola makes the slope smaller by 3/16 of its
/// second derivative, 1.6 % here; the rest is where bounce-back with one rate puts the wall.
#[test]
fn walls_at_faces_have_the_friction_that_the_force_drives() {
    let here = tempfile::tempdir().expect("a folder");
    let parabola = STRESS / HALF / (2.0 * VISCOSITY);
    let case = format!(
        "spec = \"d2q9_guo\"\ntarget = \"cpu\"\nprecision = \"f64\"\n[domain]\nsize = [16, 24]\n[fluid]\nviscosity = {VISCOSITY}\nvelocity = 0.1\n\
         length = {HALF}\n[params]\nforce = [{}, 0]\n[faces]\nbottom = \"bounce_back\"\ntop = \"bounce_back\"\nothers = \"periodic\"\n[start]\n\
         velocity = [\"{parabola} * (144 - (y - 12)^2)\", 0]\n[stop]\nsteps = 100\n[output]\nsurfaces = 100\n[report]\nwall = \"y_plus_mean_top\"\n",
        STRESS / HALF
    );
    std::fs::write(here.path().join("walls.toml"), case).expect("written");
    lbmc(here.path(), &["run", "walls.toml", "--out", "out"]);
    let summary: serde_json::Value = serde_json::from_str(&read(&here.path().join("out/summary.json"))).expect("JSON");
    for (at, face) in ["bottom", "top"].iter().enumerate() {
        let table = read(&here.path().join(format!("out/face_{face}_00000100.csv")));
        let found = columns(&table, ["friction_x", "friction_y", "y_plus"]);
        assert_eq!(found.len(), 16);
        for [along, across, y_plus] in found {
            assert!((along / STRESS - 1.0).abs() < 0.03 && across.abs() < 1e-12, "{along} {across}");
            assert!((y_plus / (along.sqrt() * 0.5 / VISCOSITY) - 1.0).abs() < 1e-3, "{y_plus} of {along}");
        }
        let of_face = &summary["y_plus"][at];
        assert_eq!((of_face["face"].as_str(), of_face["solid"].as_u64()), (Some(*face), None));
    }
    assert_eq!(summary["report"][0]["value"], summary["y_plus"][1]["mean"]);
}

/// Without a law the friction is that of the slope, and y+ that of half a cell.
#[test]
fn a_wall_at_rest_has_the_y_plus_of_its_friction() {
    let here = tempfile::tempdir().expect("a folder");
    std::fs::write(here.path().join("rests.toml"), channel("\"bounce_back\"", 0.0, 0.0)).expect("written");
    lbmc(here.path(), &["run", "rests.toml", "--out", "out"]);
    let found = ends(&here.path().join("out"));
    assert!(found.len() > 20, "{found:?}");
    for [along, _, y_plus] in found {
        assert!((along / STRESS - 1.0).abs() < 0.05, "{along}");
        assert!((y_plus / (along.sqrt() * 0.5 / VISCOSITY) - 1.0).abs() < 1e-3, "{y_plus} of {along}");
    }
    let summary: serde_json::Value = serde_json::from_str(&read(&here.path().join("out/summary.json"))).expect("JSON");
    let of_wall = &summary["y_plus"][0];
    assert_eq!(of_wall["law"].as_bool(), Some(false));
    // Formulas of results know it.
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let [twice, range] = [0, 1].map(|at| number(&summary["report"][at]["value"]));
    assert_eq!(twice, 2.0 * number(&of_wall["mean"]));
    assert_eq!(range, number(&of_wall["greatest"]) - number(&of_wall["least"]));
}
