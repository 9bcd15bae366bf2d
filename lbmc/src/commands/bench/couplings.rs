//! The suite `couplings`: what refinement interfaces do to packets of waves that cross them, for each coupling of the prelude.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lbm_bundle::Target;
use lbm_dsl::shipped::{self, Prelude};
use lbm_runtime::device::Device;
use lbm_setup::crossing::{Crossings, DISTANCES, Way};
use lbm_setup::spec::Spec;
use miette::Result;

use super::record::{Crossing, Outcome};
use super::row::{self, Row};
use super::words::target_name;

/// The method whose rows are measured where none is named.
const METHOD: &str = "d2q9_bgk";

/// Rows of the methods that names begin with, or of one.
pub fn rows(names: &[String], target: Target) -> Result<Vec<Row>> {
    let all = methods(names).into_iter().map(|method| of(method, target)).collect::<Result<Vec<_>>>()?;
    row::select(all.into_iter().flatten().collect(), names)
}

/// Methods that names of rows begin with, or the usual one.
pub fn methods(names: &[String]) -> Vec<&str> {
    let mut methods: Vec<&str> = names.iter().filter_map(|name| name.split('-').next()).collect();
    methods.dedup();
    if methods.is_empty() { vec![METHOD] } else { methods }
}

/// Rows of a method: all couplings, beside the same uniform grids.
fn of(method: &str, target: Target) -> Result<Vec<Row>> {
    let crossings = Rc::new(RefCell::new(Crossings::new(Spec::find(method)?)?));
    let row = |coupling: String| {
        let name = format!("{method}-{coupling}");
        let (method, crossings) = (method.to_string(), crossings.clone());
        Row {
            command: format!("lbmc bench couplings {name} --target {}", target_name(target)),
            name,
            target,
            inputs: String::new(),
            lacks: None,
            measure: Box::new(move |device| measure(&mut crossings.borrow_mut(), device, &method, &coupling)),
        }
    };
    Ok(shipped::couplings(&Prelude)?.into_iter().map(|(_, coupling)| row(coupling)).collect())
}

fn measure(crossings: &mut Crossings, device: &Device, method: &str, coupling: &str) -> Result<Outcome> {
    let mut values = BTreeMap::new();
    for (way, name) in [(Way::Entering, "entering"), (Way::Leaving, "leaving")] {
        for (distance, noise) in DISTANCES.iter().zip(crossings.shear(device, coupling, way)?) {
            values.insert(format!("{name}, {distance} radii: noise"), noise);
        }
        values.insert(format!("{name}: reflected"), 1e3 * crossings.reflected(device, coupling, way)?);
    }
    Ok(Outcome::Crossing(Crossing { spec: method.to_string(), coupling: coupling.to_string(), values }))
}
