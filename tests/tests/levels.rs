//! What crosses a level jump: what is known of stencils and couplings, what their kernels cost, and that stencils do what
//! the spec says.

use std::fmt::Write;

use lbm_bundle::Cost;
use lbm_codegen::count::count;
use lbm_codegen::ir::KernelIr;
use lbm_codegen::lower::levels;
use lbm_codegen::simplify::simplify;
use lbm_dsl::expr::{ExprId, LevelSymbol, Rational, Symbol};
use lbm_dsl::model::Model;
use lbm_dsl::model::levels::Stencil;
use lbm_dsl::prove;
use lbm_tests::{compiled, root};
use num_traits::Pow;

const STENCILS: &str = "use stencils::{conservative, cubic, linear, slope};
stencil linear; stencil cubic; stencil conservative; stencil slope;";

const COUPLINGS: &str = "use couplings::{interpolated, interpolated_linear, interpolated_means, volumetric};
use couplings::{volumetric_chen, volumetric_shifted, volumetric_timed};
coupling volumetric; coupling volumetric_shifted; coupling volumetric_chen; coupling volumetric_timed;
coupling interpolated; coupling interpolated_linear; coupling interpolated_means;";

fn ratio(above: i64, below: i64) -> Rational {
    Rational::new(above.into(), below.into())
}

fn roots(kernel: &KernelIr) -> Vec<ExprId> {
    kernel.outputs.iter().map(|output| output.value).collect()
}

/// What a kernel is listed as: the packets of all populations together.
fn listed(kernel: &KernelIr) -> &str {
    if !kernel.name.starts_with("packet_") {
        return &kernel.name;
    }
    let population = kernel.name.rmatch_indices('_').nth(1).expect("a population ends the name");
    &kernel.name[..population.0]
}

fn story(model: &Model) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let about_levels = |line: &&String| line.starts_with("stencil") || line.starts_with("coupling");
    for line in prove::findings(model).lines.iter().filter(about_levels) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "\noperations              flop   add   mul   fma   div")?;
    for same in levels::kernels(model).chunk_by(|a, b| listed(a) == listed(b)) {
        let sum = |cost: fn(&KernelIr) -> Cost| {
            let add = |a: Cost, b: Cost| Cost {
                flops: a.flops + b.flops,
                adds: a.adds + b.adds,
                muls: a.muls + b.muls,
                fmas: a.fmas + b.fmas,
                divs: a.divs + b.divs,
                ..a
            };
            same.iter().map(cost).fold(Cost::default(), add)
        };
        let number = if same.len() > 1 { format!(", {} kernels", same.len()) } else { String::new() };
        let (inputs, outputs) = (same[0].symbols.len(), same[0].outputs.len());
        writeln!(out, "{}: {inputs} in, {outputs} out{number}", listed(&same[0]))?;
        let simplified = |kernel: &KernelIr| {
            let dag = simplify(kernel).expect("small kernels");
            let roots: Vec<ExprId> = dag.outputs().iter().map(|output| output.value).collect();
            count(dag.exprs(), &roots)
        };
        let written = |kernel: &KernelIr| count(&kernel.exprs, &roots(kernel));
        for (stage, cost) in [("as written", sum(written)), ("simplified", sum(simplified))] {
            let Cost { flops, adds, muls, fmas, divs, .. } = cost;
            writeln!(out, "  {stage:<20} {flops:>5} {adds:>5} {muls:>5} {fmas:>5} {divs:>5}")?;
        }
    }
    Ok(out)
}

#[test]
fn level_jumps_tell_their_story() {
    lbm_tests::in_turn!();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots/levels"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, spec, text) in [
            ("stencils_2d", "d2q9_bgk", STENCILS),
            ("stencils_3d", "d3q19_bgk", STENCILS),
            ("couplings_d2q9_bgk", "d2q9_bgk", COUPLINGS),
            ("couplings_d3q27_cumulant", "d3q27_cumulant", COUPLINGS),
        ] {
            let model = compiled::model_with(spec, text);
            insta::assert_snapshot!(name, story(&model).expect("a string takes any text"));
        }
    });
}

/// What a stencil gives along one axis at the upper child of a cell, or at the lower one.
fn child(stencil: &Stencil, upper: bool, sample: impl Fn(i64) -> Rational) -> Rational {
    let set = &stencil.sets()[0];
    let points = set.points().iter().map(|point| if upper { *point } else { -point });
    points.zip(set.weights()).map(|(point, weight)| sample(point) * weight).sum()
}

/// Children of polynomials are those polynomials at the children, through the stated power; the samples of a stencil for means are means.
#[test]
fn children_of_polynomials_are_exact() {
    let model = compiled::model_with("d3q19_bgk", STENCILS);
    let (half, quarter) = (ratio(1, 2), ratio(1, 4));
    for stencil in &model.stencils()[..3] {
        // The mean of x^power over the cell around a place, or its value there.
        let of = |place: &Rational, width: &Rational, power: i32| -> Rational {
            if stencil.name() != "conservative" {
                return Pow::pow(place, power);
            }
            let end = |side: Rational| Pow::pow(place + side, power + 1);
            (end(width * &half) - end(-width * &half)) / (width * ratio(i64::from(power) + 1, 1))
        };
        let exact = |power: i32| {
            [false, true].into_iter().all(|upper| {
                let place = if upper { quarter.clone() } else { -quarter.clone() };
                let found = child(stencil, upper, |point| of(&ratio(point, 1), &ratio(1, 1), power));
                found == of(&place, &half, power)
            })
        };
        let degree = stencil.sets()[0].degree() as i32;
        assert!((0..=degree).all(exact), "{} through x^{degree}", stencil.name());
        assert!(!exact(degree + 1), "{} beyond x^{degree}", stencil.name());
    }
}

/// On samples that are no polynomial at all.
#[test]
fn conservative_children_have_the_mean_of_their_parent() {
    let model = compiled::model_with("d2q9_bgk", STENCILS);
    let sample = |point: i64| ratio((point * 37 + 111) % 53, 7);
    let [lower, upper] = [false, true].map(|upper| child(&model.stencils()[2], upper, sample));
    assert_ne!(lower, upper);
    assert_eq!((lower + upper) * ratio(1, 2), sample(0));
}

/// Of what packets that follow the change in time need, density and momentum are computed once for a cell; a population's packets read
/// its own slopes beside that.
#[test]
fn what_packets_share_reads_slopes_once() {
    for (spec, shared, slopes) in [("d2q9_bgk", 3, 12), ("d3q19_bgk", 4, 30), ("d3q27_cumulant", 4, 54)] {
        let model = compiled::model_with_coupling(spec, "volumetric_timed");
        let packets = levels::packets(&model, &model.couplings()[0]).expect("a coupling of packets");
        let kernel = packets.shared.expect("packets share something");
        assert_eq!((kernel.outputs.len(), kernel.symbols.len()), (shared, slopes), "{spec}");
        for (at, packet) in packets.packets.iter().enumerate() {
            let foreign = packet.symbols.iter().filter(
                |(symbol, _)| matches!(symbol, Symbol::Level(LevelSymbol::Slope { pop, .. }) if pop.index() != at),
            );
            assert_eq!(foreign.count(), 0, "{}", packet.name);
        }
        let model = compiled::model_with_coupling(spec, "volumetric_shifted");
        assert!(levels::packets(&model, &model.couplings()[0]).expect("a coupling of packets").shared.is_none());
    }
}

/// By Euler's equations a fluid near rest changes in time; a scalar that a fluid carries does not change so.
#[test]
fn packets_that_follow_time_are_known_from_those_that_do_not() {
    for (spec, coupling, says) in [
        ("d2q9_bgk", "volumetric", "first order"),
        ("d2q9_bgk", "volumetric_chen", "first order"),
        ("d2q9_bgk", "volumetric_shifted", "linear in space exactly, not its change in time: second order"),
        ("d2q9_bgk", "volumetric_timed", "in time: second order"),
        ("d3q27_bgk", "volumetric_timed", "in time: second order"),
        ("d3q7_advection", "volumetric_shifted", "linear in space exactly, not its change in time: second order"),
        ("d3q7_advection", "volumetric_timed", "first order"),
    ] {
        let model = compiled::model_with_coupling(spec, coupling);
        let lines = prove::findings(&model).lines;
        assert!(lines.iter().any(|line| line.ends_with(says)), "{spec} {coupling}: {lines:?}");
    }
}
