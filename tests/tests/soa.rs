//! Kernels on plain arrays: one step on random periodic boxes = the block kernels = the interpreter.
//!
//! `soa/driver.c` calls the compiled C kernels as another program would, with strides of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_codegen::{eval::eval_ir, ir::KernelIr, lower};
use lbm_dsl::expr::Symbol;
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::kernels::{self, Program};
use lbm_tests::compiled::{self, Random};
use lbm_tests::{root, toolchain};
use num_traits::ToPrimitive;

const OMEGA: f64 = 1.25;

/// Values `[component][cell]` of a periodic box; x runs fastest.
type Values = Vec<Vec<f64>>;

/// A box of cells.
#[derive(Clone, Copy)]
struct Box3([usize; 3]);

impl Box3 {
    fn cells(self) -> usize {
        self.0.iter().product()
    }

    /// The cell at `cell + by`, around the box.
    fn shifted(self, cell: usize, by: [i64; 3]) -> usize {
        let [nx, ny, nz] = self.0;
        let at = [cell % nx, cell / nx % ny, cell / nx / ny];
        let [x, y, z]: [usize; 3] =
            std::array::from_fn(|axis| (at[axis] as i64 + by[axis]).rem_euclid([nx, ny, nz][axis] as i64) as usize);
        x + nx * (y + ny * z)
    }
}

/// A spec with the driver of its kernels.
struct Subject {
    model: Model,
    driver: PathBuf,
}

impl Subject {
    fn new(folder: &Path, spec: &str) -> Subject {
        let model = compiled::model(spec);
        let options = Options {
            target: Target::C,
            real: Real::F64,
            layout: Layout::Soa,
            block: Options::TILE,
            coupling: None,
            solids: false,
        };
        let bundle = pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{error}")).bundle;
        for file in bundle.extras.iter().chain([&bundle.source]) {
            std::fs::write(folder.join(&file.name), &file.text).expect("a temporary file");
        }
        let driver = folder.join(format!("{spec}_driver"));
        let mut command = Command::new("gcc");
        command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&driver);
        command.arg(format!("-DSPEC={spec}")).arg(format!("-DDIM={}", bundle.manifest.dim));
        command.arg(format!("-DQ={}", bundle.manifest.q()));
        command.arg(format!("-DFIELDS={}", bundle.manifest.field_components()));
        command.arg("-include").arg(folder.join(format!("{spec}.h")));
        command.arg(root().join("tests/soa/driver.c")).arg(folder.join(&bundle.source.name)).arg("-lm");
        toolchain::run(command);
        Subject { model, driver }
    }

    /// A kernel on plain arrays.
    fn soa(&self, kernel: &str, size: Box3, input: &Values, outputs: usize) -> Values {
        let mut command = Command::new(&self.driver);
        command.arg(kernel).args(size.0.map(|extent| extent.to_string())).arg(OMEGA.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the driver starts");
        let bytes: Vec<u8> = input.iter().flatten().flat_map(|value| value.to_ne_bytes()).collect();
        child.stdin.take().expect("piped").write_all(&bytes).expect("the driver reads");
        let output = child.wait_with_output().expect("the driver ends");
        assert!(output.status.success(), "the driver failed");
        let values: Vec<f64> =
            output.stdout.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().expect("8"))).collect();
        assert_eq!(values.len(), outputs * size.cells());
        values.chunks_exact(size.cells()).map(<[f64]>::to_vec).collect()
    }

    /// The interpreter of a kernel, cell by cell; populations are pulled against the velocity if it streams.
    fn interpreter(&self, kernel: &KernelIr, streams: bool, size: Box3, input: &Values) -> Values {
        let velocities: Vec<&[i32]> = self.model.pops().map(|(_, set, dir)| set.lattice.velocity(dir)).collect();
        let mut first = 0;
        let first: Vec<usize> = (self.model.fields().iter())
            .map(|field| {
                first += field.components.len();
                first - field.components.len()
            })
            .collect();
        let mut output = vec![Vec::new(); kernel.outputs.len()];
        for cell in 0..size.cells() {
            let values = eval_ir(kernel, |symbol| match symbol {
                Symbol::Population(pop) if streams => {
                    let c = velocities[pop.index()];
                    let by = std::array::from_fn(|axis| -i64::from(c.get(axis).copied().unwrap_or(0)));
                    input[pop.index()][size.shifted(cell, by)]
                }
                Symbol::Population(pop) => input[pop.index()][cell],
                Symbol::Field { field, component } => input[first[usize::from(field)] + usize::from(component)][cell],
                _ => OMEGA,
            });
            for (component, value) in output.iter_mut().zip(values) {
                component.push(value);
            }
        }
        output
    }

    /// A step of the block kernel, in blocks of one cell: slot and cell are the same.
    fn blocks(&self, size: Box3, input: &Values) -> Values {
        let bundle = compiled::compile(&self.model, Target::C, Real::F64, [1, 1, 1]).bundle;
        let device = Device::host(1).expect("a host");
        let program = Program::load(&device, &bundle).unwrap_or_else(|error| panic!("{error}"));
        let (q, cells) = (input.len(), size.cells());
        let mut src = device.alloc_stored(Real::F64, q * cells).expect("memory");
        let rest: Vec<f64> = bundle.manifest.directions.iter().map(|direction| direction.rest_value()).collect();
        let stored = |cell: usize| input.iter().zip(&rest).map(move |(component, rest)| component[cell] - rest);
        let slots: Vec<f64> = (0..cells).flat_map(stored).collect();
        src.write_reals(0, &slots).expect("in range");
        let mut dst = device.alloc_stored(Real::F64, q * cells).expect("memory");
        let ids: Vec<i32> = (0..cells as i32).collect();
        let deep = bundle.manifest.dim == 3;
        let near = |cell| {
            (if deep { -1..=1 } else { 0..=0 }).flat_map(move |z| {
                (-1..=1).flat_map(move |y| (-1..=1).map(move |x| size.shifted(cell, [x, y, z]) as i32))
            })
        };
        let neighbours: Vec<i32> = (0..cells).flat_map(near).collect();
        let (ids, neighbours) = (device.ints(&ids).expect("memory"), device.ints(&neighbours).expect("memory"));
        let kernel = kernels::Gather {
            ids: ids.slice(0..cells),
            sources: kernels::Sources { neighbours: Some(&neighbours), ..Default::default() },
            action: kernels::Action::Collide { src: &src, dst: &mut dst },
            params: &kernels::Params::new(&bundle.manifest, &[vec![OMEGA]]),
        };
        program.launch(kernel).unwrap_or_else(|error| panic!("{error}"));
        let found = dst.read_reals(0..q * cells).expect("in range");
        (0..q).map(|dir| (0..cells).map(|cell| rest[dir] + found[cell * q + dir]).collect()).collect()
    }
}

/// Random populations near rest.
fn random(model: &Model, size: Box3) -> Values {
    let mut random = Random(11);
    let weights = model.pops().map(|(_, set, dir)| set.lattice.weight(dir).to_f64().expect("finite"));
    weights.map(|weight| (0..size.cells()).map(|_| weight * (1.0 + 0.1 * random.draw())).collect()).collect()
}

/// The largest difference.
fn difference(a: &Values, b: &Values) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| if a.is_nan() { f64::INFINITY } else { (a - b).abs() }).fold(0.0, f64::max)
}

const SPECS: [(&str, &[[usize; 3]]); 3] = [
    ("d2q9_bgk", &[[9, 7, 1], [1, 3, 1], [33, 2, 1]]),
    ("d3q19_bgk", &[[7, 5, 3], [1, 2, 3], [16, 4, 4]]),
    ("d3q27_bgk", &[[5, 3, 7], [3, 1, 2]]),
];

#[test]
fn plain_arrays_stream_and_collide_as_blocks_and_the_interpreter_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (spec, sizes) in SPECS {
        let subject = Subject::new(folder.path(), spec);
        for size in sizes.iter().map(|size| Box3(*size)) {
            let input = random(&subject.model, size);
            let found = subject.soa("step", size, &input, input.len());
            let expected = subject.interpreter(&lower::collide(&subject.model), true, size, &input);
            let blocks = subject.blocks(size, &input);
            for (what, other) in [("interpreter", &expected), ("blocks", &blocks)] {
                let error = difference(&found, other);
                assert!(error < 1e-14, "{spec} on {:?}: {error:e} from {what}", size.0);
            }
        }
    }
}

#[test]
fn plain_arrays_become_fields_and_begin_from_fields() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (spec, sizes) in SPECS {
        let subject = Subject::new(folder.path(), spec);
        let size = Box3(sizes[0]);
        let input = random(&subject.model, size);
        let macroscopic = lower::macroscopic(&subject.model);
        let fields = subject.soa("macroscopic", size, &input, macroscopic.outputs.len());
        let error = difference(&fields, &subject.interpreter(&macroscopic, false, size, &input));
        assert!(error < 1e-14, "{spec}, macroscopic: {error:e}");
        let started = subject.soa("init", size, &fields, input.len());
        let error = difference(&started, &subject.interpreter(&lower::init(&subject.model), false, size, &fields));
        assert!(error < 1e-14, "{spec}, init: {error:e}");
    }
}
