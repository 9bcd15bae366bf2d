//! Flows on a GPU of AMD that is emulated: a HIP runtime and a hiprtc whose kernels run on the host (`tests/hip/`). What they compute is
//! compared with what kernels in C compute.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::sample::sample;

/// Blocks of all flows, so that both targets have the same.
const FLAT: &str = "block=[8,8]";
const DEEP: &str = "block=[4,4,4]";

/// The same, with as many cells as streaming and colliding in one pass takes.
const WIDE: &str = "block=[32,8]";
const LONG: &str = "block=[16,4,4]";

/// A cube with a finer middle.
const BOX: &str = "refinement.boxes=[{ level = 1, from = [4, 4, 4], to = [12, 12, 12] }]";

/// Cylinders at rest, one of them in a finer box, their forces and the mean of the flow around them.
const CYLINDER: &str = r#"
spec = "d2q9_bgk"
[domain]
size = [32, 16]
[fluid]
re = 10
[faces]
left = "periodic"
right = "periodic"
top = { rule = "moving_wall", velocity = [0.1, 0] }
bottom = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [8, 8]
radius = 2.3
rule = "interpolated_bounce_back"
[[solids]]
shape = "cylinder"
centre = [24, 8]
radius = 3.1
rule = "interpolated_bounce_back"
[refinement]
finest = 1
boxes = [{ level = 1, from = [4, 4], to = [16, 12] }]
[[statistics]]
name = "mean"
of = ["mean", "stresses", "max"]
from = 2
every = 1
[output]
directory = "unused"
forces = 1
"#;

/// Flows with every kind of kernel, with the bound of differences of velocities from those of kernels in C, over the reference velocity; `None`
/// where all bits are the same. Moments are added up in another order on a GPU, and where they are stored in 16 bits, chance rounds them.
const FLOWS: [(&str, &[&str], Option<f64>); 21] = [
    // steps backwards, beside walls and symmetry planes
    ("pipe_bend", &[FLAT, "faces.others=free_slip", "stop.steps=6", "gradient.states=2"], None),
    // links that a solid cuts which turns, on a grid that follows
    ("stirrer", &[FLAT, "refinement.every=4", "stop.steps=6", "output.forces=2"], None),
    // packets, criteria, the forest, and what moves when it changes
    ("cavity2d_adaptive", &[FLAT, "size=[32,32]", "refinement.finest=2", "refinement.every=8", "stop.steps=20"], None),
    // ghosts
    ("cavity2d_refined", &[FLAT, "size=[32,32]", "refinement.coupling=interpolated", "stop.steps=2"], None),
    // the same on three axes, packets first
    ("cavity3d", &[DEEP, "size=[16,16,16]", BOX, "refinement.finest=1", "stop.steps=3"], None),
    (
        "cavity3d",
        &[DEEP, "size=[16,16,16]", BOX, "refinement.finest=1", "refinement.coupling=interpolated", "stop.steps=3"],
        None,
    ),
    // solids at rest beside refinement interfaces, forces, and statistics
    ("cylinder.toml", &[FLAT, "stop.steps=6"], None),
    // solids that move
    ("stirrer", &[FLAT, "stop.steps=12"], None),
    // values of time at walls, with eddies
    (
        "womersley",
        &[FLAT, "faces.left.turbulence={ intensity = 0.1, length = 4, velocity = [0.1, 0] }", "stop.steps=6"],
        None,
    ),
    // values of neighbours, in one pass between blocks at walls, and statistics with slopes
    ("turbulent_channel", &[LONG, "size=[32,20,12]", "stop.steps=6", "statistics.from=2", "statistics.every=1"], None),
    // values of neighbours of other levels
    (
        "cavity2d_adaptive",
        &[FLAT, "spec=d2q9_hybrid", "sigma=0.98", "size=[32,32]", "refinement.finest=2", "stop.steps=4"],
        None,
    ),
    // the same in one pass where none is near, on a grid that follows
    (
        "cavity2d_adaptive",
        &[
            WIDE,
            "spec=d2q9_hybrid",
            "sigma=0.98",
            "size=[96,96]",
            "refinement.every=4",
            "refinement.finest=1",
            "stop.steps=10",
        ],
        None,
    ),
    // and beside a solid
    ("cylinder.toml", &[WIDE, "spec=d2q9_hybrid", "sigma=0.98", "size=[96,48]", "stop.steps=6"], None),
    // populations in 16 bits, two cells for each thread; on two GPUs, where a kernel packs and unpacks what crosses
    ("cavity2d", &[FLAT, "size=[32,32]", "precision=f16/f32", "devices=2", "stop.steps=6"], None),
    // the only set of populations, on two levels, and two cells for each thread; after odd numbers of steps
    ("cavity3d", &[DEEP, "size=[16,16,16]", BOX, "refinement.finest=1", "buffers=1", "stop.steps=3"], None),
    ("cavity2d", &[FLAT, "size=[32,32]", "precision=f16/f32", "buffers=1", "stop.steps=7"], None),
    // moments
    (
        "cavity3d",
        &[DEEP, "size=[16,16,16]", "spec=d3q19_regularized", "precision=f64", "storage=moments", "stop.steps=6"],
        Some(1e-13),
    ),
    (
        "cavity3d",
        &[
            DEEP,
            "size=[16,16,16]",
            BOX,
            "refinement.finest=1",
            "spec=d3q19_regularized",
            "precision=f64",
            "storage=moments",
            "stop.steps=3",
        ],
        Some(1e-13),
    ),
    (
        "cavity3d",
        &[DEEP, "size=[16,16,16]", "spec=d3q19_regularized", "precision=f16/f32", "storage=moments", "stop.steps=6"],
        Some(3e-3),
    ),
    // moments and states, which neighbours read
    (
        "cavity2d_adaptive",
        &[
            FLAT,
            "spec=d2q9_hybrid",
            "sigma=0.98",
            "size=[32,32]",
            "refinement.finest=2",
            "precision=f64",
            "storage=moments",
            "stop.steps=4",
        ],
        Some(1e-13),
    ),
    (
        "cavity2d",
        &[
            FLAT,
            "spec=d2q9_hybrid",
            "sigma=0.98",
            "size=[32,32]",
            "precision=f16/f32",
            "storage=moments",
            "stop.steps=6",
        ],
        Some(3e-3),
    ),
];

/// Runs a command that has to succeed.
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let words = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{command:?}\n{words}");
    output
}

/// The folder with the sources of the emulator.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hip").canonicalize().expect("it lies in the repository")
}

/// The folder in whose folder `lib` the emulated libraries are, built once for all tests.
fn rocm() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rocm");
        fs::create_dir_all(folder.join("lib")).expect("a folder");
        for name in ["amdhip64", "hiprtc"] {
            succeeds(
                Command::new("c++")
                    .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
                    .arg(format!("-DHEADER=\"{}\"", sources().join("kernels.h").display()))
                    .arg(sources().join(format!("{name}.cpp")))
                    .arg("-o")
                    .arg(folder.join(format!("lib/lib{name}.so")))
                    .arg("-ldl"),
            );
        }
        folder
    })
}

/// Runs a case for a target in a folder, with kernels that fuse no operations and keep the signs of zeros, as those of the emulator do.
fn run(case: &str, settings: &[&str], target: &str, folder: &Path) {
    fs::write(folder.join("cylinder.toml"), CYLINDER).expect("written");
    let target = format!("target={target}");
    let settings = settings.iter().copied().chain([&target, "output.restart=1000"]).flat_map(|value| ["--set", value]);
    succeeds(
        Command::new(env!("CARGO_BIN_EXE_lbmc"))
            .args(["run", case, "--quiet", "--out", "out"])
            .args(settings)
            .current_dir(folder)
            .env("ROCM_PATH", rocm())
            .env_remove("HIP_PATH")
            .env("CC", "cc -O1 -ffp-contract=off -fsigned-zeros -ftrapping-math")
            .env("LBMC_CACHE", folder.join("cache")),
    );
}

/// What the restart file of a run has behind its head, which names the target.
fn saved(folder: &Path) -> Vec<u8> {
    let saved = fs::read(folder.join("out/restart.lbmc")).expect("a restart file");
    let head = u64::from_le_bytes(std::array::from_fn(|at| saved[12 + at]));
    saved[20 + head as usize + 32..].to_vec()
}

/// All numbers in the rows of forces of a run; none if it has no such file.
fn forces(folder: &Path) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("out/forces.csv")).unwrap_or_default();
    let rows = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    rows.flat_map(|row| row.split(',')).filter_map(|word| word.parse().ok()).collect()
}

/// Velocities along a line through the middle of a run, over the reference velocity.
fn profile(folder: &Path) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("out/profile_y.csv")).expect("a profile");
    let rows = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    rows.flat_map(|row| row.split(',').skip(1)).map(|word| word.parse().expect(word)).collect()
}

#[test]
fn flows_on_an_emulated_gpu_of_amd_are_those_of_the_host() {
    for (case, settings, bound) in sample(FLOWS) {
        let [host, gpu] = ["cpu", "hip"].map(|target| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            run(case, settings, target, folder.path());
            folder
        });
        // Threads add up forces in another order.
        let (of_host, of_gpu) = (forces(host.path()), forces(gpu.path()));
        let close = |(host, gpu): (&f64, &f64)| (host - gpu).abs() <= 1e-9 * host.abs().max(1.0);
        let alike = of_host.len() == of_gpu.len() && of_host.iter().zip(&of_gpu).all(close);
        assert!(alike, "{case} {settings:?}: {of_gpu:?} are not {of_host:?}");
        let Some(bound) = bound else {
            assert!(saved(host.path()) == saved(gpu.path()), "{case} {settings:?}: other bits");
            let gradient = |folder: &Path| fs::read(folder.join("out/gradient.vti")).ok();
            assert!(gradient(host.path()) == gradient(gpu.path()), "{case} {settings:?}: other derivatives");
            continue;
        };
        let (host, gpu) = (profile(host.path()), profile(gpu.path()));
        let fastest = host.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!(host.len() == gpu.len() && fastest > 0.9, "{case} {settings:?}: {host:?}");
        for (host, gpu) in host.iter().zip(&gpu) {
            assert!((host - gpu).abs() < bound, "{case} {settings:?}: {gpu} is not {host}");
        }
    }
}

/// Where threads do not all reach what they do together, the launch fails; shared memory that nothing has written is no number.
#[test]
fn the_emulator_finds_threads_that_do_not_work_together() {
    let (folder, libraries) = (tempfile::tempdir().expect("a temporary folder"), rocm().join("lib"));
    let program = folder.path().join("threads");
    succeeds(
        Command::new("c++")
            .args(["-std=c++17", "-O1", "-o"])
            .arg(&program)
            .arg(sources().join("threads.cpp"))
            .arg(format!("-L{}", libraries.display()))
            .args(["-lamdhip64", "-lhiprtc"])
            .arg(format!("-Wl,-rpath,{}", libraries.display())),
    );
    let output = succeeds(&mut Command::new(program));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "as expected\n");
}
