//! Parameters of the method that vary in space and with the fields of the flow, as a case gives them, against solutions.
//!
//! Errors are those of the velocity along a channel in the L2 norm over its cells, relative to the solution. As the cells become smaller the
//! velocity falls with them, at the same viscosity (diffusive scaling).

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn run(folder: &Path, case: &str, arguments: &[&str]) -> Output {
    std::fs::write(folder.join("flow.toml"), case).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", "flow.toml", "--set", "target=cpu"]).args(arguments).current_dir(folder);
    command.output().expect("lbmc starts")
}

/// What a run says on standard error, its words apart by one blank.
fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// A folder with the results of a case.
fn results(case: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(folder.path(), case, &["--out", "out"]);
    assert!(output.status.success(), "{}", words(&output));
    folder
}

/// The numbers of a file, line by line, without lines that have none.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter_map(|line| line.split(',').map(|word| word.trim().parse().ok()).collect());
    lines.collect()
}

/// What a probe `across` of so many points has at the end.
fn last(folder: &Path, points: usize) -> Vec<f64> {
    let rows = table(&folder.join("out/probe_across.csv"));
    rows[rows.len() - points..].iter().map(|row| row[row.len() - 1]).collect()
}

/// The relative error of what a probe `across` has at the end, one number at each centre of so many cells along y.
fn error(folder: &Path, cells: usize, expected: &dyn Fn(f64) -> f64) -> f64 {
    let found = last(folder, cells);
    let (mut error, mut norm) = (0.0, 0.0);
    for (at, found) in found.iter().enumerate() {
        let expected = expected(at as f64 + 0.5);
        error += (found - expected).powi(2);
        norm += expected.powi(2);
    }
    (error / norm).sqrt()
}

/// A channel of so many cells with a line of probes across it.
fn channel(cells: usize, spec: &str, fluid: &str, params: &str, more: &str) -> String {
    let (last, steps, every) = (cells as f64 - 0.5, 40 * cells * cells, 20 * cells * cells);
    format!(
        "spec = \"{spec}\"\nprecision = \"f64\"\n[domain]\nsize = [8, {cells}]\n[fluid]\nvelocity = 0.02\n{fluid}\n[params]\n{params}\n\
         [faces]\nleft = \"periodic\"\nright = \"periodic\"\nothers = \"bounce_back\"\n[stop]\nsteps = {steps}\n\
         [[probes]]\nname = \"across\"\nfrom = [4, 0.5]\nto = [4, {last}]\npoints = {cells}\nfields = [\"ux\"]\nevery = {every}\n{more}"
    )
}

fn second_order(errors: &[f64], bound: f64, what: &str) {
    println!("{what}: {errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.8..2.2).contains(&order), "{what}: order {order:.3}, errors {errors:?}");
    }
    assert!(errors[errors.len() - 1] < bound, "{what}: {errors:?}");
}

/// A channel of height 16 `scale`, its lower half porous: `nu u'' - drag u + force = 0` with the velocity and its slope the same on both sides
/// (Brinkman 1949, with the viscosity of the fluid in the medium).
struct Porous {
    scale: f64,
    /// Whether all of it is porous.
    whole: bool,
}

impl Porous {
    const VISCOSITY: f64 = 0.1;

    fn drag(&self) -> f64 {
        0.02 / self.scale.powi(2)
    }

    fn force(&self) -> f64 {
        1e-4 / self.scale.powi(3)
    }

    fn at(&self, y: f64) -> f64 {
        let (nu, drag, force, height) = (Self::VISCOSITY, self.drag(), self.force(), 16.0 * self.scale);
        let (depth, half) = ((nu / drag).sqrt(), height / 2.0);
        let far = force / drag;
        if self.whole {
            return far * (1.0 - ((y - half) / depth).cosh() / (half / depth).cosh());
        }
        // Below: far (1 - cosh(y / depth)) + b sinh(y / depth); above: c s - force s^2 / (2 nu), with s the distance from the upper wall.
        let (sinh, cosh) = ((half / depth).sinh(), (half / depth).cosh());
        let parabola = force * half * half / (2.0 * nu);
        // far (1 - cosh) + b sinh = c half - parabola;  (b cosh - far sinh) / depth = force half / nu - c
        let b = (half * (force * half / nu + far * sinh / depth) - parabola - far * (1.0 - cosh))
            / (sinh + half * cosh / depth);
        let c = force * half / nu - (b * cosh - far * sinh) / depth;
        if y < half {
            far * (1.0 - (y / depth).cosh()) + b * (y / depth).sinh()
        } else {
            let s = height - y;
            c * s - force * s * s / (2.0 * nu)
        }
    }

    fn case(&self, more: &str) -> String {
        let cells = (16.0 * self.scale) as usize;
        let drag = if self.whole {
            format!("drag = {}", self.drag())
        } else {
            format!("drag = \"if(y < ly / 2, {}, 0)\"", self.drag())
        };
        let params = format!("{drag}\nforce = [{}, 0]", self.force());
        channel(cells, "d2q9_porous", &format!("viscosity = {}", Self::VISCOSITY), &params, more)
    }

    fn error(&self, more: &str) -> f64 {
        error(results(&self.case(more)).path(), (16.0 * self.scale) as usize, &|y| self.at(y))
    }
}

#[test]
fn a_porous_channel_has_the_velocity_of_darcy_and_brinkman() {
    crate::in_turn!();
    let errors = [1.0, 2.0, 4.0].map(|scale| Porous { scale, whole: true }.error(""));
    second_order(&errors, 1e-3, "porous");
}

#[test]
fn a_channel_that_is_porous_in_part_has_the_velocity_of_both_parts() {
    crate::in_turn!();
    let errors = [1.0, 2.0, 4.0].map(|scale| Porous { scale, whole: false }.error(""));
    second_order(&errors, 1e-3, "porous in part");
}

/// The lower half of the channel has cells of half the size.
#[test]
fn a_porous_channel_of_two_levels_has_the_velocity_of_both_parts() {
    crate::in_turn!();
    let error = |scale: f64| {
        let half = 8.0 * scale;
        let more = format!("[refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [0, 0], to = [8, {half}] }}]\n");
        Porous { scale, whole: false }.error(&more)
    };
    let errors = [2.0, 4.0].map(error);
    println!("two levels: {errors:?}");
    assert!(errors[1] < 2e-3 && errors[0] / errors[1] > 3.0, "{errors:?}");
}

/// Two layers of fluid of other viscosities in a channel that a force drives: parabolas with the same velocity and stress where they meet.
struct Layers {
    scale: f64,
}

impl Layers {
    const VISCOSITIES: [f64; 2] = [0.05, 0.2];

    fn force(&self) -> f64 {
        1e-4 / self.scale.powi(3)
    }

    fn at(&self, y: f64) -> f64 {
        let ([lower, upper], force, height) = (Self::VISCOSITIES, self.force(), 16.0 * self.scale);
        let half = height / 2.0;
        // Slope times viscosity at the walls: lower a + upper b = 2 force half, and the same velocity in the middle.
        let more = force * half * (1.0 / lower - 1.0 / upper) / 2.0;
        let b = (2.0 * force * half - lower * more) / (lower + upper);
        let a = b + more;
        let (slope, viscosity, from) = if y < half { (a, lower, y) } else { (b, upper, height - y) };
        slope * from - force * from * from / (2.0 * viscosity)
    }

    fn case(&self, more: &str) -> String {
        let cells = (16.0 * self.scale) as usize;
        let [lower, upper] = Self::VISCOSITIES;
        let fluid = format!("viscosity = \"if(y < ly / 2, {lower}, {upper})\"");
        channel(cells, "d2q9_guo", &fluid, &format!("force = [{}, 0]", self.force()), more)
    }

    fn error(&self, more: &str) -> f64 {
        error(results(&self.case(more)).path(), (16.0 * self.scale) as usize, &|y| self.at(y))
    }
}

#[test]
fn layers_of_other_viscosities_have_the_velocity_of_both() {
    let errors = [1.0, 2.0, 4.0].map(|scale| Layers { scale }.error(""));
    println!("layers: {errors:?}");
    second_order(&errors, 2e-3, "layers");
}

/// The upper half has cells of half the size: of the viscosity of each level follows the rate.
#[test]
fn layers_of_two_levels_have_the_velocity_of_both() {
    crate::in_turn!();
    let error = |scale: f64| {
        let (half, top) = (8.0 * scale, 16.0 * scale);
        let more =
            format!("[refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [0, {half}], to = [8, {top}] }}]\n");
        Layers { scale }.error(&more)
    };
    let errors = [2.0, 4.0].map(error);
    println!("layers on two levels: {errors:?}");
    assert!(errors[1] < 4e-3 && errors[0] / errors[1] > 3.0, "{errors:?}");
}

/// In SI units the same channel has the same velocity: a formula is in the units of the case, and so are fields in it.
#[test]
fn a_formula_is_in_the_units_of_the_case() {
    let lattice = "spec = \"d2q9_guo\"\nprecision = \"f64\"\n[domain]\nsize = [8, 16]\n[fluid]\nvelocity = 0.02\n\
                   viscosity = \"0.1 * (1 + 2 * y / ly)\"\n[params]\nforce = [\"1e-4 * rho * (1 + 0.5 * sin(2*pi*t/200))\", 0]\n\
                   [faces]\nleft = \"periodic\"\nright = \"periodic\"\nothers = \"bounce_back\"\n[stop]\nsteps = 500\n\
                   [[probes]]\nname = \"across\"\nfrom = [4, 0.5]\nto = [4, 15.5]\npoints = 16\nfields = [\"ux\"]\nevery = 250\n";
    // A cell is 1 mm and a step 0.1 s: a velocity of 1 is 10 mm/s, a viscosity of 1 is 10 mm^2/s, an acceleration of 1 is 100 mm/s^2.
    let si = "spec = \"d2q9_guo\"\nprecision = \"f64\"\n[units]\nsystem = \"si\"\nstep = \"0.1 s\"\ndensity = \"1000 kg/m^3\"\n[domain]\n\
              size = [\"8 mm\", \"16 mm\"]\nresolution = 8\n[fluid]\nvelocity = \"0.2 mm/s\"\n\
              viscosity = \"1 * (1 + 2 * y / ly) mm^2/s\"\n[params]\nforce = [\"1e-2 * (rho / 1000) * (1 + 0.5 * sin(2*pi*t/20)) mm/s^2\", 0]\n\
              [faces]\nleft = \"periodic\"\nright = \"periodic\"\nothers = \"bounce_back\"\n[stop]\nsteps = 500\n\
              [[probes]]\nname = \"across\"\nfrom = [\"4 mm\", \"0.5 mm\"]\nto = [\"4 mm\", \"15.5 mm\"]\npoints = 16\nfields = [\"ux\"]\nevery = 250\n";
    let [lattice, si] = [lattice, si].map(|case| last(results(case).path(), 16));
    for (lattice, si) in lattice.iter().zip(&si) {
        assert!((si / 0.01 - lattice).abs() < 1e-9 * lattice.abs(), "{lattice} {si}");
    }
}

/// Share of a pulse of sound, by its largest pressure at a point before and after, that comes back from an outlet of given pressure. A sponge
/// layer of 200 cells lies before the outlet; the pulse is 12 cells wide at 1/e of its pressure.
fn reflected(spec: &str, viscosity: &str, params: &str) -> f64 {
    let case = format!(
        "spec = \"{spec}\"\nprecision = \"f64\"\nblock = [40, 2]\n[domain]\nsize = [480, 2]\n[fluid]\nvelocity = 0.01\nviscosity = {viscosity}\n\
         [params]\n{params}\n[faces]\nleft = \"bounce_back\"\nright = {{ rule = \"anti_bounce_back\", density = 1 }}\nbottom = \"periodic\"\n\
         top = \"periodic\"\n[start]\ndensity = \"1 + 0.001 * exp(-((x - 100) / 12)^2)\"\n[stop]\nsteps = 1400\n\
         [[probes]]\nname = \"at\"\nat = [200, 1]\nfields = [\"density\"]\nevery = 1\n"
    );
    let rows = table(&results(&case).path().join("out/probe_at.csv"));
    let most = |from: f64, to: f64| {
        let rows = rows.iter().filter(|row| (from..to).contains(&row[0]));
        rows.map(|row| (row[row.len() - 1] - 1.0).abs()).fold(0.0, f64::max)
    };
    // By then the pulse that went to the left has come back from the wall, and passed.
    most(650.0, 1400.0) / most(0.0, 300.0)
}

#[test]
fn a_sponge_layer_keeps_sound_from_coming_back() {
    crate::in_turn!();
    let still = reflected("d2q9_bgk", "0.005", "");
    let viscous = reflected("d2q9_bgk", "\"0.005 + 3 * max(0, (x - 280) / 200)^2\"", "");
    let drags = reflected("d2q9_porous", "0.005", "drag = \"0.02 * max(0, (x - 280) / 200)^2\"\nforce = [0, 0]");
    println!("reflected: {still:.3}, viscous sponge {viscous:.3}, sponge that drags {drags:.3}");
    // All comes back but for what the viscosity of the fluid takes on the way: 0.939.
    assert!((0.93..0.95).contains(&still), "{still}");
    assert!(viscous < 0.25, "{viscous}");
    assert!(drags < 0.07, "{drags}");
}

/// A run that stops and goes on has the bits of one that does not, with places, fields and time in formulas, on a grid that changes.
#[test]
fn a_run_that_goes_on_has_the_same_bits() {
    let case = "spec = \"d2q9_porous\"\nprecision = \"f32\"\nblock = [8, 8]\n[domain]\nsize = [48, 32]\n[fluid]\nvelocity = 0.1\n\
                viscosity = \"0.02 + 0.002 * x * (1 + 0.1 * sin(t / 7)) * rho\"\n[params]\ndrag = \"0.01 * exp(-((x - 20)^2 + (y - 16)^2) / 40)\"\nforce = [0, 0]\n\
                [faces]\ntop = { rule = \"moving_wall\", velocity = [0.1, 0] }\nothers = \"bounce_back\"\n[stop]\nsteps = 60\n\
                [output]\nvtk = true\nfields = [\"velocity\", \"drag\", \"viscosity\"]\n";
    let adaptive = "[refinement]\nfinest = 2\ncriterion = \"vorticity\"\nthreshold = 4\nevery = 4\n";
    for more in ["", "[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [8, 8], to = [24, 24] }]\n", adaptive] {
        let case = format!("{case}{more}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = |arguments: &[&str]| {
            let output = run(folder.path(), &case, arguments);
            assert!(output.status.success(), "{}", words(&output));
        };
        run(&["--out", "whole"]);
        run(&["--out", "parts", "--set", "stop.steps=37", "--set", "output.restart=100"]);
        run(&["--out", "parts", "--resume"]);
        let fields = |out: &str| {
            let entries = std::fs::read_dir(folder.path().join(out)).expect("a folder");
            let paths = entries.map(|entry| entry.expect("an entry").path());
            let mut paths: Vec<_> =
                paths.filter(|path| path.extension().is_some_and(|end| end == "vti" || end == "vtu")).collect();
            paths.sort();
            paths.iter().map(|path| std::fs::read(path).expect("a file")).collect::<Vec<_>>()
        };
        let (whole, parts) = (fields("whole"), fields("parts"));
        assert!(!whole.is_empty() && whole == parts, "{more}");
    }
}

#[test]
fn a_formula_that_depends_on_itself_is_refused() {
    let case = channel(16, "d2q9_guo", "viscosity = 0.1", "force = [\"1e-6 - 0.01 * ux\", 0]", "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(folder.path(), &case, &[]);
    assert!(!output.status.success());
    for expected in ["C0123", "`force` depends on `u`", "d2q9_porous"] {
        assert!(words(&output).contains(expected), "{expected}: {}", words(&output));
    }
}
