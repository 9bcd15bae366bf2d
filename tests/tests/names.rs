//! Names of a spec live in a scope of their own: whatever they are, its kernels compile and compute the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use lbm_bundle::{Bundle, Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::model::Model;
use lbm_dsl::shipped::Prelude;
use lbm_dsl::source::Source;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::sample::sample;
use lbm_tests::{root, toolchain};

/// A flow with every kind of name and of kernel: `<what>` is the name of something.
const FLOW: &str = "
use lattices::D2Q9;
use equilibria::quadratic;
use forces::guo;
lattice D2Q9;

param <rate> in (0, 2);
param <factor> in (0, 2);
param <force>[a]: length / time^2;

fn <fn>[i](<fn density>, <fn velocity>[a]) = quadratic[i](<fn density>, <fn velocity>);

let <density>     = sum(i: f[i]);
let <momentum>[a] = sum(i: c[i, a] * f[i]);
let <push>[a]     = <factor> * <force>[a];
let <velocity>[a] = (<momentum>[a] + <push>[a] / 2) / <density>;
field <density>;
field <velocity>;

init f[i] <- <fn>[i](<density>, <velocity>) - guo[i](<velocity>, <push>) / 2;
collide {
    let <equilibrium>[i] = <fn>[i](<density>, <velocity>);
    f[i] <- f[i] + <rate> * (<equilibrium>[i] - f[i]) + (1 - <rate> / 2) * guo[i](<velocity>, <push>);
}

criterion <criterion>(<velocity>[a]) = sqrt(sum(a, b: gradient[a](<velocity>[b])^2));

boundary <link rule> {
    param <wall velocity>[a];
    param <wall factor>;
    let <wall term>[i] = 2 * w[i] * dot(c[i], <wall velocity>) / cs2;
    link f[i] <- f[opp(i)] + <wall factor> * <wall term>[i];
}
boundary <node rule> {
    param <node velocity>[a];
    param <node factor>;
    let <node term>[i] = 2 * w[i] * dot(c[i], <node velocity>) / cs2;
    node f[i if !known(i)] <- if known(opp(i)) then streamed[opp(i)] + <node factor> * <node term>[i] else inside[i];
}

stencil <slope> {
    space 1, x;
    derivative at 0;
    points -1, 1;
    points 0, 1;
    points -1, 0;
}
stencil <value> {
    space 1, x;
    value at 1/4;
    points 0, 1;
    points -1, 0;
}
coupling <packets> {
    rate <rate> <- 2 * <rate> / (4 - <rate>);
    let <shift>       = if kind == 1 then -1/4 else if kind == 2 then 1/4 else 0;
    let <place>[i, a] = position[a] + <shift> * c[i, a];
    packet f[i] <- f[i] + sum(a: <slope>[a](f[i]) * (<place>[i, a] - mean(<place>[i, a])));
}
coupling <ghosts> {
    rate <rate> <- 2 * <rate> / (4 - <rate>);
    ghosts 2;
    fine   f[i] <- <value>(equilibrium[i] + (4 - <rate>) / 4 * (f[i] - equilibrium[i]));
    coarse f[i] <- mean(equilibrium[i] + (f[i] - equilibrium[i]) * 4 / (4 - <rate>));
}
";

/// A scalar in a flow: populations with a name.
const SCALAR: &str = "
use lattices::{D2Q5, D2Q9};
use equilibria::{linear, quadratic};
lattice D2Q9;
populations <set> on D2Q5;

param <rate> in (0, 2);
param <scalar rate> in (0, 2);

let <density>     = sum(i: f[i]);
let <velocity>[a] = sum(i: c[i, a] * f[i]) / <density>;
let <scalar>      = sum(i in <set>: <set>[i]);
field <density>;
field <velocity>;
field <scalar>;

init {
    f[i] <- quadratic[i](<density>, <velocity>);
    <set>[i] <- linear[i](<scalar>, <velocity>);
}
collide {
    let <equilibrium>[i]          = quadratic[i](<density>, <velocity>);
    let <scalar equilibrium>[i in <set>] = linear[i](<scalar>, <velocity>);
    f[i] <- f[i] + <rate> * (<equilibrium>[i] - f[i]);
    <set>[i] <- <set>[i] + <scalar rate> * (<scalar equilibrium>[i] - <set>[i]);
}
boundary <link rule> {
    param <wall value>;
    link f[i] <- f[opp(i)];
    link <set>[i] <- 2 * w[i] * <wall value> - <set>[opp(i)];
}
";

/// What is between angle brackets in a text that names something: letters and blanks.
fn places(text: &str) -> BTreeSet<&str> {
    let inside = text.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    inside
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == ' '))
        .filter(|name| !name.is_empty())
        .collect()
}

/// The text with names in it.
fn filled(text: &str, names: &BTreeMap<&str, String>) -> String {
    names.iter().fold(text.to_string(), |text, (place, name)| text.replace(&format!("<{place}>"), name))
}

fn model(file: &str, text: &str, names: &BTreeMap<&str, String>) -> Result<Model, String> {
    lbm_dsl::compile(&Source::new(file, &filled(text, names)), &Prelude).map_err(|report| report.render(120))
}

/// Random numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    fn pick<'a>(&mut self, from: &'a [String]) -> &'a str {
        &from[self.below(from.len())]
    }
}

const KEYWORDS: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t class compl concept const consteval
    const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast enum explicit export
    extern false float for friend goto inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq
    private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using
    virtual void volatile wchar_t while xor xor_eq _Alignas _Atomic _Bool _Complex _Generic _Imaginary _Noreturn __func__
    as async await become box crate dyn final gen impl loop macro match mod move mut override priv pub ref self Self super
    trait type unsafe unsized use where yield union __device__ __global__ __shared__ __restrict__ __launch_bounds__
    I M_PI NAN NULL INFINITY EOF errno stdin min max linux unix i386 assert offsetof complex threadIdx blockIdx blockDim
    gridDim warpSize float4 int2 main printf atomicAdd __syncthreads start omega_ ux uy f_0 post_0 in_0 t0 v_0 own_0 core";

/// Names of every kind: words of the emitted text itself, macros of its headers, keywords, Greek letters, any.
fn pools() -> Vec<Vec<String>> {
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let words = |text: &str| -> BTreeSet<String> {
        let all = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        all.filter(is_name).map(String::from).collect()
    };
    let harmless = harmless(FLOW);
    let own = model("spec.lbm", FLOW, &harmless).expect("harmless names");
    let emitted = bundles(&own).into_iter().flat_map(|bundle| {
        bundle.extras.iter().chain([&bundle.source]).map(|file| file.text.clone()).collect::<Vec<_>>()
    });
    let emitted = words(&emitted.collect::<String>());

    let mut macros = Command::new("gcc");
    let headers =
        "#include <errno.h>\n#include <math.h>\n#include <complex.h>\n#include <stdint.h>\n#include <string.h>\n";
    macros
        .args(["-std=gnu11", "-march=native", "-dM", "-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = macros.spawn().expect("gcc starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), headers.as_bytes()).expect("gcc reads");
    let macros = child.wait_with_output().expect("gcc ends").stdout;
    let macros = String::from_utf8_lossy(&macros);
    let macros = macros.lines().filter_map(|line| line.split([' ', '(']).nth(1)).map(String::from);

    let mut random = Random(3);
    let letters: Vec<char> = "abcxyzABCXYZ_019αωρΩΞ_".chars().collect();
    let any = (0..400).map(|_| {
        let length = 1 + random.below(6);
        (0..length).map(|_| letters[random.below(letters.len())]).collect::<String>()
    });
    let greek = "αβγδεϵζηθϑικλμνξοπρϱσςτυφϕχψωΓΔΘΛΞΠΣΦΨΩ".chars().map(String::from);
    let pools: Vec<Vec<String>> = vec![
        emitted.into_iter().collect(),
        macros.collect(),
        KEYWORDS.split_whitespace().map(String::from).collect(),
        greek.collect(),
        any.collect(),
    ];
    let can_be_one = |name: &String| lbm_dsl::parse(&Source::new("a.lbm", &format!("param {name};"))).is_ok();
    pools.into_iter().map(|pool| pool.into_iter().filter(can_be_one).collect()).collect()
}

fn harmless(text: &str) -> BTreeMap<&str, String> {
    places(text).into_iter().map(|place| (place, format!("the_{}", place.replace(' ', "_")))).collect()
}

/// Different names for everything that a text names.
fn hostile<'a>(text: &'a str, pools: &[Vec<String>], random: &mut Random) -> BTreeMap<&'a str, String> {
    let mut used = BTreeSet::new();
    let mut name = || loop {
        let pool = &pools[random.below(pools.len())];
        let name = random.pick(pool).to_string();
        if used.insert(name.clone()) {
            return name;
        }
    };
    places(text).into_iter().map(|place| (place, name())).collect()
}

/// All kernels of a model, for both targets: on blocks, with each of its couplings, and on plain arrays.
fn bundles(model: &Model) -> Vec<Bundle> {
    let plan = |layout| pipeline::plan(model, layout, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let [on_blocks, on_arrays] = [Layout::Blocks, Layout::Soa].map(plan);
    let couplings =
        if model.couplings().is_empty() { vec![None] } else { (0..model.couplings().len()).map(Some).collect() };
    let blocks = couplings.into_iter().map(|coupling| (Layout::Blocks, [8, 8, 1], coupling, true));
    let all = blocks.chain([(Layout::Soa, Options::TILE, None, false)]);
    let all = all.flat_map(|options| [Target::C, Target::Cuda].map(|target| (target, options)));
    let emit = |(target, (layout, block, coupling, solids))| {
        let options = Options { target, real: Real::F32, layout, block, coupling, solids };
        let plans = if layout == Layout::Blocks { &on_blocks } else { &on_arrays };
        plans.emit(&options).unwrap_or_else(|error| panic!("{error}")).bundle
    };
    all.map(emit).collect()
}

/// Files of a spec: unknown to its author, but known to the system's library, the compiler, or no identifier at all.
const FILES: [&str; 12] = [
    "sem.lbm",
    "pthread_attr.lbm",
    "__builtin_cpu.lbm",
    "stream_collide.lbm",
    "my-method.lbm",
    "1x.lbm",
    "a b.lbm",
    "méthode ω.lbm",
    "new\n#error line\n.lbm",
    ".lbm",
    "日本.lbm",
    "mesh_2d.lbm",
];

/// Whether compilers take the text of bundles.
struct Compilers {
    folder: tempfile::TempDir,
    cuda: Vec<std::path::PathBuf>,
    rust: String,
    count: usize,
}

impl Compilers {
    fn new() -> Self {
        let rust = "#![deny(warnings)]\n#![allow(dead_code)]\n".into();
        Self { folder: tempfile::tempdir().expect("a temporary folder"), cuda: Vec::new(), rust, count: 0 }
    }

    /// gcc at once; what other compilers are given is collected.
    fn give(&mut self, bundle: &Bundle) {
        let folder = self.folder.path().join(self.count.to_string());
        self.count += 1;
        std::fs::create_dir(&folder).expect("a folder");
        for file in bundle.extras.iter().chain([&bundle.source]) {
            std::fs::write(folder.join(&file.name), &file.text).expect("a file");
        }
        let source = folder.join(&bundle.source.name);
        if !bundle.manifest.target.is_gpu() {
            return toolchain::gcc_reads(&source);
        }
        self.cuda.push(source);
        let bindings = bundle.extras.iter().find(|file| file.name.ends_with(".rs")).expect("bindings");
        let path = folder.join(&bindings.name);
        self.rust += &format!("#[path = {:?}] pub mod m{};\n", path.display().to_string(), self.count);
    }

    /// rustc and NVRTC, the second with every fifth file: it takes some seconds for each, and a method has two or three of them.
    fn finish(self) {
        let library = self.folder.path().join("lib.rs");
        std::fs::write(&library, &self.rust).expect("a file");
        rustc(&library, self.folder.path());
        let Some(toolkit) = toolchain::cuda() else { return };
        let mut command = Command::new("python3");
        command.arg(root().join("scripts/nvrtc-check.py")).arg(toolkit).arg("90");
        command.args(self.cuda.iter().step_by(5));
        toolchain::run(command);
    }
}

fn rustc(library: &Path, folder: &Path) {
    let mut command = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into()));
    command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"]).arg(folder).arg(library);
    toolchain::run(command);
}

#[test]
fn any_name_compiles_in_every_language() {
    let pools = pools();
    assert!(pools.iter().all(|pool| pool.len() > 20), "{:?}", pools.iter().map(Vec::len).collect::<Vec<_>>());
    let mut random = Random(12);
    let named = |(at, file): (usize, &&str)| {
        let text = if at % 3 == 2 { SCALAR } else { FLOW };
        // A draw may hold a name that a spec gives nothing, such as that of an index.
        let mut draw = || model(file, text, &hostile(text, &pools, &mut random)).ok();
        (0..200).find_map(|_| draw()).expect("most names can be given")
    };
    // All are drawn, so that each is the same whatever others are taken.
    let models: Vec<Model> = FILES.iter().enumerate().map(named).collect();
    let mut compilers = Compilers::new();
    for model in sample(models) {
        bundles(&model).iter().for_each(|bundle| compilers.give(bundle));
    }
    compilers.finish();
}

/// A closed box with a rule of links and one of nodes, refined in a corner, after some steps: all populations.
fn flow(file: &str, names: &BTreeMap<&str, String>, coupling: usize) -> Vec<f64> {
    let model = model(file, FLOW, names).unwrap_or_else(|report| panic!("{report}"));
    let options = Options {
        target: Target::C,
        real: Real::F64,
        layout: Layout::Blocks,
        block: [8, 8, 1],
        coupling: Some(coupling),
        solids: false,
    };
    let bundle = pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{error}")).bundle;
    let named = |place: &str| names[place].clone();
    let wall = |velocity: &str, factor: &str| -> Vec<(String, Vec<f64>)> {
        vec![(named(velocity), vec![0.02, 0.01]), (named(factor), vec![0.5])]
    };
    let with = |grid: GridSpec, face, rule: &str, values: &[(String, Vec<f64>)]| {
        let values: Vec<(&str, &[f64])> = values.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
        grid.with_wall(face, &names[rule], &values)
    };
    let mut grid = GridSpec::periodic([32, 32, 1]);
    for face in [Face::XMin, Face::YMin] {
        grid = with(grid, face, "link rule", &wall("wall velocity", "wall factor"));
    }
    for face in [Face::XMax, Face::YMax] {
        grid = with(grid, face, "node rule", &wall("node velocity", "node factor"));
    }
    let params = [(named("rate"), vec![1.3]), (named("factor"), vec![1.1]), (named("force"), vec![1e-5, 2e-5])];
    let device = Device::host(1).expect("a host");
    let corner = |block: Block| block.place[0] < 2 && block.place[1] < 2;
    let mut simulation =
        Simulation::refined(&device, &bundle, &grid, &params, 2, corner).unwrap_or_else(|error| panic!("{error}"));
    let start = |at: [usize; 3], out: &mut [f64]| {
        out.copy_from_slice(&[1.0 + 0.01 * (at[0] as f64).sin(), 0.02, 0.01 * (at[1] as f64).cos()]);
    };
    simulation.init(start).expect("it starts");
    simulation.run(20).expect("it runs");
    let mut all = Vec::new();
    simulation.visit_populations(|_, populations| all.extend_from_slice(populations)).expect("they can be read");
    assert!(all.iter().all(|value| value.is_finite()) && all.iter().any(|value| *value != all[0]));
    all
}

/// Names that are, or once were, counters of loops, arguments, functions, macros and keywords where parameters are read.
const SHADOWS: [&str; 30] = [
    "row",
    "past",
    "omega_",
    "ω",
    "errno",
    "rows",
    "from_wall",
    "start",
    "neg",
    "I",
    "less",
    "ids",
    "count",
    "cell",
    "M_PI",
    "before",
    "self",
    "streamed",
    "value",
    "own",
    "direction",
    "to",
    "links",
    "sides",
    "first_covered",
    "child_slots",
    "at_interface",
    "restrict",
    "wall",
    "node_",
];

#[test]
fn hostile_names_leave_every_number_as_it_is() {
    assert!(places(FLOW).len() <= SHADOWS.len());
    let shadows = places(FLOW).into_iter().zip(SHADOWS).map(|(place, name)| (place, name.to_string())).collect();
    for coupling in [0, 1] {
        let expected = flow("flow.lbm", &harmless(FLOW), coupling);
        assert!(flow("sem.lbm", &shadows, coupling) == expected);
    }
}
