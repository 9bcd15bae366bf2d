use crate::device::Device;
use crate::fixture::bundle;
use crate::geometry::Face;
use crate::solver::error::StepError;
use crate::solver::measure::{probe, velocity};
use crate::solver::plan::phase::Phase;
use crate::solver::simulation::Simulation;
use crate::solver::spec::GridSpec;

fn omega(value: f64) -> Vec<(String, Vec<f64>)> {
    vec![("omega".into(), vec![value])]
}

fn cavity(device: &Device, size: usize) -> Simulation {
    let spec = GridSpec::periodic([size, size, 1])
        .with_wall(Face::XMin, "bounce_back", &[])
        .with_wall(Face::XMax, "bounce_back", &[])
        .with_wall(Face::YMin, "bounce_back", &[])
        .with_wall(Face::YMax, "moving_wall", &[("velocity", &[0.1, 0.0])]);
    let mut simulation = Simulation::new(device, &bundle(), &spec, &omega(1.2)).unwrap();
    simulation.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
    simulation
}

#[test]
fn the_start_is_what_was_set() {
    let device = Device::host(1).unwrap();
    let mut simulation = Simulation::new(&device, &bundle(), &GridSpec::periodic([16, 24, 1]), &omega(1.0)).unwrap();
    simulation.init(|at, out| out.copy_from_slice(&[1.0 + at[0] as f64 / 100.0, 0.01, at[1] as f64 / 1e3])).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    for (x, y) in [(0, 0), (15, 23), (7, 8)] {
        let at = snapshot.index(x, y, 0);
        let uy = snapshot.get("uy").unwrap()[at];
        assert!((snapshot.get("rho").unwrap()[at] - 1.0 - x as f64 / 100.0).abs() < 1e-14);
        assert!((uy - y as f64 / 1e3).abs() < 1e-14, "{uy}");
    }
}

#[test]
fn a_uniform_flow_in_a_periodic_box_stays() {
    let device = Device::host(1).unwrap();
    let mut simulation = Simulation::new(&device, &bundle(), &GridSpec::periodic([16, 16, 1]), &omega(1.7)).unwrap();
    simulation.init(|_, out| out.copy_from_slice(&[1.0, 0.05, -0.03])).unwrap();
    simulation.run(37).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(snapshot.step, 37);
    assert!(snapshot.get("ux").unwrap().iter().all(|ux| (ux - 0.05).abs() < 1e-14));
    assert!(snapshot.get("uy").unwrap().iter().all(|uy| (uy + 0.03).abs() < 1e-14));
}

#[test]
fn a_lid_drives_the_cavity_and_mass_stays() {
    let device = Device::host(1).unwrap();
    let mut simulation = cavity(&device, 24);
    simulation.run(200).unwrap();
    let mass = simulation.mass().unwrap();
    assert!((mass - 576.0).abs() < 1e-10, "{mass}");
    let snapshot = simulation.snapshot().unwrap();
    let ux = snapshot.get("ux").unwrap();
    assert!(ux[snapshot.index(12, 23, 0)] > 0.05, "the fluid below the lid follows it");
    assert!(ux[snapshot.index(12, 12, 0)] < 0.0, "and returns in the middle");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads_or_on_how_runs_are_cut() {
    let mut one = cavity(&Device::host(1).unwrap(), 24);
    let mut three = cavity(&Device::host(3).unwrap(), 24);
    one.run(51).unwrap();
    [1, 17, 0, 33].into_iter().for_each(|steps| three.run(steps).unwrap());
    assert_eq!(one.snapshot().unwrap(), three.snapshot().unwrap());
    assert_eq!(three.timings().steps(), 51);
}

#[test]
fn a_run_goes_on_from_a_snapshot_at_its_step() {
    let device = Device::host(1).unwrap();
    let mut simulation = cavity(&device, 16);
    simulation.run(10).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    let mut other = cavity(&device, 16);
    other.init_fields(&snapshot).unwrap();
    assert_eq!(other.step(), 10);
    let again = other.snapshot().unwrap();
    for (one, other) in snapshot.components.iter().zip(&again.components) {
        assert!(one.data.iter().zip(&other.data).all(|(one, other)| (one - other).abs() < 1e-14), "{}", one.name);
    }
    let mut wrong = snapshot;
    wrong.domain.size = [8, 8, 1];
    assert!(matches!(other.init_fields(&wrong), Err(StepError::SnapshotSize { .. })));
}

#[test]
fn a_changed_parameter_acts_from_the_next_step() {
    let device = Device::host(1).unwrap();
    let mut changed = cavity(&device, 16);
    changed.set_param("omega", &[0.8]).unwrap();
    changed.run(20).unwrap();
    let mut unchanged = cavity(&device, 16);
    unchanged.run(20).unwrap();
    assert_ne!(changed.snapshot().unwrap(), unchanged.snapshot().unwrap());
    assert!(matches!(changed.set_param("tau", &[0.8]), Err(StepError::SurplusParam { .. })));
    assert!(matches!(changed.set_param("omega", &[2.5]), Err(StepError::Range { .. })));
}

#[test]
fn a_bundle_of_another_interface_layout_or_target_is_refused() {
    let device = Device::host(1).unwrap();
    let spec = GridSpec::periodic([8, 8, 1]);
    let mut newer = bundle();
    newer.manifest.abi += 1;
    let error = Simulation::new(&device, &newer, &spec, &omega(1.0)).err().expect("newer");
    let versions = [format!("version {}", lbm_bundle::ABI + 1), format!("version {}", lbm_bundle::ABI)];
    assert!(versions.iter().all(|version| error.to_string().contains(version)), "{error}");
    let mut plain = bundle();
    plain.manifest.layout = lbm_bundle::Layout::Soa;
    let error = Simulation::new(&device, &plain, &spec, &omega(1.0)).err().expect("plain arrays");
    assert!(error.to_string().contains("soa"), "{error}");
    let mut other = bundle();
    other.manifest.target = lbm_bundle::Target::Cuda;
    assert!(Simulation::new(&device, &other, &spec, &omega(1.0)).is_err());
}

#[test]
fn time_is_accounted_for() {
    let mut simulation = cavity(&Device::host(1).unwrap(), 16);
    assert_eq!(simulation.mlups(), 0.0);
    simulation.run(5).unwrap();
    let phases: f64 = Phase::ALL.iter().map(|phase| simulation.timings().phase(*phase)).sum();
    assert!(simulation.mlups() > 0.0 && phases > 0.0);
    // 9 populations read and written, 8 bytes each: 144 bytes a cell.
    assert!((simulation.fraction_of_bandwidth(100.0, 144e8) - 1.0).abs() < 1e-12);
}

#[test]
fn fields_that_are_computed_in_pieces_are_those_of_the_whole() {
    let device = Device::host(1).unwrap();
    let start = |flow: &mut Simulation| {
        flow.init(|[x, y, _], out| out.copy_from_slice(&[1.0, 0.001 * x as f64, 1e-4 * y as f64]))
    };
    let pieces = |flow: &mut Simulation| {
        let slot = crate::kernels::layout::Layout::fields(flow.manifest()).slot_len();
        *flow.subdomains.iter_mut().next().unwrap().macroscopic_mut() =
            device.alloc_reals(lbm_bundle::Real::F64, 4 * slot).unwrap();
        assert_eq!(flow.subdomains.first().windows(), [0..4, 4..8, 8..9]);
    };
    let (mut whole, mut other) = (cavity(&device, 24), cavity(&device, 24));
    pieces(&mut other);
    for flow in [&mut whole, &mut other] {
        start(flow).unwrap();
        flow.run(7).unwrap();
    }
    let read = |flow: &mut Simulation| {
        let points = (0..50).map(|at| [24.0 * at as f64 / 49.0, 20.0 - 0.4 * at as f64, 0.0]).collect();
        flow.probe(&mut probe::Probe::new(points, true)).unwrap()
    };
    assert_eq!(read(&mut whole), read(&mut other));
    assert_eq!(whole.snapshot().unwrap(), other.snapshot().unwrap());
    assert_eq!(whole.check_fields().unwrap(), other.check_fields().unwrap());
    // A value that is not finite is found in whichever piece it is.
    let breaks = |flow: &mut Simulation| {
        flow.update_cells(|cell, f| f[0] = if cell.at == [20, 13, 0] { f64::NAN } else { f[0] })
    };
    for flow in [&mut whole, &mut other] {
        breaks(flow).unwrap();
    }
    let found = other.check_fields().unwrap().not_finite.expect("one is not");
    assert_eq!(found.cell.at, [20, 13, 0]);
    assert_eq!(whole.check_fields().unwrap().not_finite, Some(found));
    // What needs all of them makes room for them.
    other.set_reference().unwrap();
    assert!(other.subdomains.first().is_whole());
}

#[test]
fn a_probe_at_a_cell_centre_reads_the_bits_of_a_snapshot_and_one_between_them_what_is_linear() {
    let device = Device::host(1).unwrap();
    let mut simulation = cavity(&device, 24);
    simulation.run(50).unwrap();
    let cells = [(0, 0), (7, 8), (8, 7), (23, 23), (12, 20)];
    let points = cells.iter().map(|(x, y)| [*x as f64 + 0.5, *y as f64 + 0.5, 0.0]).collect();
    let (mut centres, mut between) =
        (probe::Probe::new(points, true), probe::Probe::new(vec![[8.0, 8.25, 0.0]], false));
    // Before fields are known, and after.
    for _ in 0..2 {
        let (readings, read) = (simulation.probe(&mut centres).unwrap(), simulation.probe(&mut between).unwrap());
        let snapshot = simulation.snapshot().unwrap();
        let velocity = velocity::Velocity::new(&snapshot).unwrap();
        for ((x, y), reading) in cells.into_iter().zip(&readings) {
            let at = snapshot.index(x, y, 0);
            let expected: Vec<f64> = snapshot.components.iter().map(|component| component.data[at]).collect();
            assert_eq!(reading.values, expected, "({x}, {y})");
            let (found, gradient) = (reading.gradient, velocity.gradient(at));
            let slopes = (0..3).flat_map(|axis| (0..3).map(move |component| (axis, component)));
            for (axis, component) in slopes {
                assert!((found[axis][component] - gradient[axis][component]).abs() < 1e-15, "({x}, {y})");
            }
        }
        let ux = snapshot.get("ux").unwrap();
        let row = |y: usize| 0.5 * (ux[snapshot.index(7, y, 0)] + ux[snapshot.index(8, y, 0)]);
        assert!((read[0].values[1] - 0.25 * row(7) - 0.75 * row(8)).abs() < 1e-16);
        simulation.sample().unwrap();
    }
    simulation.run(3).unwrap();
    let again = simulation.probe(&mut centres).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(again[1].values[1], snapshot.get("ux").unwrap()[snapshot.index(7, 8, 0)]);
}
