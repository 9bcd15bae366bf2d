//! The suite `faces`: what boundary conditions at open faces send back of sound and of vortices that leave, with and without an absorbing layer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lbm_bundle::Target;
use lbm_runtime::device::Device;
use lbm_setup::crossing::leaving::{BEYOND, Leaving, Side};
use lbm_setup::faces::ANGLES;
use lbm_setup::spec::Spec;
use miette::Result;

use super::couplings::methods;
use super::record::{self, Outcome};
use super::row::{self, Row};
use super::words::target_name;

/// Rules behind a layer, and cells of the layer.
const BEHIND: [&str; 3] = ["equilibrium", "anti_bounce_back", "characteristic_pressure"];
/// See [`BEHIND`].
const LAYER: usize = 40;

/// Rows of the methods that names begin with, or of one.
pub fn rows(names: &[String], target: Target) -> Result<Vec<Row>> {
    let all = methods(names).into_iter().map(|method| of(method, target)).collect::<Result<Vec<_>>>()?;
    row::select(all.into_iter().flatten().collect(), names)
}

/// Rows of a method: all inlets, all outlets, and some of these behind a layer.
fn of(method: &str, target: Target) -> Result<Vec<Row>> {
    let leaving = Leaving::new(Spec::find(method)?)?;
    let [inlets, outlets] = leaving.rules()?;
    let plain =
        inlets.iter().map(|rule| (Side::Inlet, rule, 0)).chain(outlets.iter().map(|rule| (Side::Outlet, rule, 0)));
    let behind = outlets.iter().filter(|rule| BEHIND.contains(&&rule[..])).map(|rule| (Side::Outlet, rule, LAYER));
    let all: Vec<(Side, &String, usize)> = plain.chain(behind).collect();
    let leaving = Rc::new(RefCell::new(leaving));
    let row = |(side, rule, layer): (Side, &String, usize)| {
        let place = if side == Side::Inlet { "inlet" } else { "outlet" };
        let behind = if layer > 0 { format!("-layer{layer}") } else { String::new() };
        let name = format!("{method}-{place}-{rule}{behind}");
        let (method, rule, leaving) = (method.to_string(), rule.clone(), leaving.clone());
        Row {
            command: format!("lbmc bench faces {name} --target {}", target_name(target)),
            name,
            target,
            inputs: String::new(),
            lacks: None,
            measure: Box::new(move |device| {
                let values = measure(&mut leaving.borrow_mut(), device, side, &rule, layer)?;
                Ok(Outcome::Leaving(record::Leaving { spec: method.clone(), rule: rule.clone(), layer, values }))
            }),
        }
    };
    Ok(all.into_iter().map(row).collect())
}

fn measure(
    leaving: &mut Leaving,
    device: &Device,
    side: Side,
    rule: &str,
    layer: usize,
) -> Result<BTreeMap<String, f64>> {
    let mut values = BTreeMap::new();
    for (at, angle) in ANGLES.iter().enumerate() {
        values.insert(format!("sound at {angle} degrees"), leaving.sound(device, side, rule, layer, at)?);
    }
    if side == Side::Outlet {
        for (radii, part) in BEYOND.iter().zip(leaving.vortex(device, rule, layer)?) {
            values.insert(format!("vortex, {radii} radii beyond"), part);
        }
    }
    Ok(values)
}
