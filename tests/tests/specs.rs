//! The story of every shipped spec: what it says, what is known of it, what its kernels cost after each stage.

use std::fmt::Write;

use lbm_bundle::{Cost, Real, Target};
use lbm_codegen::lower;
use lbm_codegen::options::Options;
use lbm_dsl::prove;
use lbm_tests::{compiled, root};

fn story(spec: &str) -> Result<String, std::fmt::Error> {
    let model = compiled::model(spec);
    let mut out = String::new();
    for line in model.summary() {
        writeln!(out, "// {line}")?;
    }
    let lattice = model.lattice();
    writeln!(out, "\nlattice: {}, cs2 = {}", lattice.name(), lattice.cs2())?;
    for set in &model.populations()[1..] {
        writeln!(out, "populations {} on {}, cs2 = {}", set.name, set.lattice.name(), set.lattice.cs2())?;
    }
    for param in model.params() {
        let range = param.range.as_ref().map_or(String::new(), |(low, high)| format!(" in ({low}, {high})"));
        writeln!(out, "param {}{range}: {}", param.name, param.doc)?;
    }

    for kernel in lower::kernels(&model) {
        let mut families: Vec<(String, usize)> = Vec::new();
        for each in &kernel.lets {
            match families.last_mut() {
                Some((family, count)) if *family == each.family => *count += 1,
                _ => families.push((each.family.clone(), 1)),
            }
        }
        let lets: Vec<String> = families.iter().map(|(family, count)| format!("{family} x{count}")).collect();
        let inputs: Vec<&str> = kernel.symbols.iter().map(|(_, name)| name.as_str()).collect();
        writeln!(out, "\n{}", kernel.name)?;
        writeln!(out, "  in:   {}", inputs.join(" "))?;
        if !lets.is_empty() {
            writeln!(out, "  lets: {}", lets.join(", "))?;
        }
        let names: Vec<&str> = kernel.outputs.iter().map(|output| output.name.as_str()).collect();
        writeln!(out, "  out:  {}", names.join(" "))?;
    }

    let block = Options::default_block(lattice.dim());
    let report = compiled::compile(&model, Target::C, Real::F32, block).report;
    writeln!(out, "\noperations                    flop   add   mul   fma   div")?;
    for kernel in &report.kernels {
        let row = |stage: &str, cost: &Cost| {
            let Cost { flops, adds, muls, fmas, divs, .. } = cost;
            format!("  {stage:<26} {flops:>5} {adds:>5} {muls:>5} {fmas:>5} {divs:>5}")
        };
        writeln!(out, "{}", kernel.name)?;
        writeln!(out, "{}", row("as written", &kernel.naive))?;
        writeln!(out, "{}", row("after exact linear algebra", &kernel.algebra))?;
        writeln!(out, "{}", row("after the e-graph", &kernel.simplified))?;
    }

    let findings = prove::findings(&model);
    writeln!(out, "\nviscosity: {}", findings.viscosity.formula)?;
    for (set, found) in model.populations().iter().zip(&findings.diffusivities) {
        if let Some(found) = found {
            writeln!(out, "diffusivity of {}: {}", set.name, found.formula)?;
        }
    }
    for line in &findings.lines {
        writeln!(out, "{line}")?;
    }
    Ok(out)
}

#[test]
fn every_spec_tells_its_story() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots/spec"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for spec in compiled::specs() {
            insta::assert_snapshot!(spec, story(spec).expect("a string takes any text"));
        }
    });
}
