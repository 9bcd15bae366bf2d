//! Waves that cross refinement interfaces, on the host, against the figures of an independent code for two levels in two dimensions, and waves that
//! leave through faces, against the linear analysis.

use lbm_runtime::device::Device;
use lbm_setup::crossing::leaving::{Leaving, Side};
use lbm_setup::crossing::{Crossings, Way};
use lbm_setup::spec::Spec;

use crate::sample::sample;

/// Three digits are known.
fn close(what: &str, found: &[f64], due: &[f64]) {
    println!("{what}: {found:?}, due {due:?}");
    let agrees = found.iter().zip(due).all(|(found, due)| (found / due - 1.0).abs() < 0.01);
    assert!(agrees, "{what}: {found:?}, due {due:?}");
}

/// What shear waves leave behind at 0, 1.5 and 4 radii, in millionths, and the part of sound that is reflected. Packets that follow
/// the change in time leave less than half behind at last, and reflect half.
#[test]
fn couplings_have_the_noise_of_an_independent_code() {
    crate::in_turn!();
    let device = Device::host(1).unwrap();
    let mut crossings = Crossings::new(Spec::find("d2q9_bgk").unwrap()).unwrap();
    for (coupling, way, noise, reflected) in sample([
        ("volumetric_shifted", Way::Entering, [0.736, 1.340, 2.352], 1.57e-2),
        ("volumetric_timed", Way::Entering, [0.579, 0.871, 0.718], 8.66e-3),
        ("volumetric_timed", Way::Leaving, [0.562, 0.374, 0.436], 7.71e-3),
        ("volumetric_chen", Way::Entering, [1.796, 3.178, 5.164], 1.37e-2),
    ]) {
        let what = format!("{coupling}, {way:?}");
        close(&what, &crossings.shear(&device, coupling, way).unwrap(), &noise);
        close(&what, &[crossings.reflected(&device, coupling, way).unwrap()], &[reflected]);
    }
}

#[test]
fn methods_without_shear_waves_in_a_plane_are_refused() {
    for name in ["d3q19_bgk", "d3q7_advection"] {
        let error = Crossings::new(Spec::find(name).unwrap()).err().expect("it is refused").to_string();
        assert!(error.contains(name), "{error}");
        assert!(Leaving::new(Spec::find(name).unwrap()).is_err(), "{name}");
    }
}

/// By how much less, or more, a packet with waves of 32 cells fades that a face sends back, than one that goes on: its waves have the same frequency,
/// and the length that the stream of 0.05 makes of it. The amplitude of sound falls at the rate of `nu k^2`.
fn fades(side: Side) -> f64 {
    let (sound, stream, viscosity) = (1.0 / 3f64.sqrt(), 0.05, (1.0 / 1.9 - 0.5) / 3.0);
    let [comes, goes] = match side {
        Side::Outlet => [sound + stream, sound - stream],
        Side::Inlet => [sound - stream, sound + stream],
    };
    let (wave, way) = (std::f64::consts::TAU / 32.0, 3.0 * 48.0);
    (viscosity * wave.powi(2) * (1.0 - (comes / goes).powi(2)) * way / goes).exp()
}

/// The packet has waves around 32 cells, those of the table of `docs/faces.md`.
#[test]
fn faces_send_back_the_part_of_a_packet_that_the_analysis_says() {
    crate::in_turn!();
    let device = Device::host(1).unwrap();
    let mut leaving = Leaving::new(Spec::find("d2q9_bgk").unwrap()).unwrap();
    for (side, rule, expected) in [
        (Side::Inlet, "moving_wall", 0.84),
        (Side::Inlet, "equilibrium", 0.25),
        (Side::Outlet, "equilibrium", 0.29),
        (Side::Outlet, "anti_bounce_back", 1.0),
        (Side::Outlet, "characteristic_pressure", 0.02),
    ] {
        let found = leaving.sound(&device, side, rule, 0, 0).unwrap();
        let expected = expected * fades(side);
        assert!((found - expected).abs() < 0.015, "{rule} at {side:?}: {found}, {expected} by the analysis");
    }
    let behind = leaving.sound(&device, Side::Outlet, "anti_bounce_back", 40, 0).unwrap();
    assert!(behind < 0.02, "behind a layer: {behind}");
}
