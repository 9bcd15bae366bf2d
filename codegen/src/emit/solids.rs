//! What templates print of solids.

use lbm_bundle::cutting::{FORM, SHAPE_INTS, SHAPE_NUMBERS};
use lbm_bundle::{Boundary, Role, slides};
use lbm_dsl::expr::Symbol;
use serde::Serialize;

use super::arithmetic::reads;
use super::method::{Method, Wall};
use super::view::{Head, Kernel};
use super::walls::{LinkRule, Rule, is_distance, rule};
use crate::ir::Plan;

/// Kernels and rules of blocks with solids in them.
#[derive(Debug, Serialize)]
pub struct Solids {
    /// The force.
    pub force: Kernel,
    /// Cells that solids have left.
    pub refill: Kernel,
    /// Surfaces that slide, if there is a rule for them.
    pub slide: Option<Slide>,
    /// Functions of rules that differ from those at faces.
    pub own: Vec<Rule>,
    /// All rules.
    pub rules: Vec<LinkRule>,
    /// Whether some rule reads what arrives along the opposite direction.
    pub against: bool,
    /// Whether some rule reads the distance of the surface.
    pub distance: bool,
    /// How many directions carry the momentum of the flow.
    pub carriers: u32,
    /// Where directions begin in `form`; integers and numbers of a shape.
    pub form: usize,
    pub ints: usize,
    pub numbers: usize,
}

/// The kernel of surfaces that slide, and how it reads its arrays: see [`lbm_bundle::slides`].
#[derive(Debug, Serialize)]
pub struct Slide {
    /// The kernel.
    #[serde(flatten)]
    pub kernel: Kernel,
    /// Whole numbers of a cell beside a surface, numbers of it, of the shape and of the state of a patch, and of a law.
    pub entry: usize,
    pub beside: usize,
    pub shape: usize,
    pub state: usize,
    pub numbers: usize,
    /// Where a law begins, and its step.
    pub from: f64,
    pub step: f64,
    /// How fast a patch follows the density, and how fast it gives back mass.
    pub filter: f64,
    pub gain: f64,
}

/// The kernels of blocks with solids in them, and the rules of their surfaces; `kernel` gives the signature of a role.
pub fn view(method: &Method, kernel: impl Fn(Role) -> Kernel) -> Solids {
    let manifest = method.manifest;
    let (mut own, mut rules) = (Vec::new(), Vec::new());
    let (mut against, mut distance) = (false, false);
    for code in &manifest.solid_rules {
        let (boundary, plan) = of_code(method, *code);
        let takes_distance = boundary.params.iter().any(is_distance);
        let streamed = reads(plan, |symbol| matches!(symbol, Symbol::Streamed(_)));
        let differs = takes_distance || streamed;
        let rule = rule(manifest, plan, boundary, differs);
        rules.push(LinkRule { code: *code, function: rule.function.clone(), pass: called(&rule) });
        if differs {
            own.push(rule);
        }
        against |= streamed;
        distance |= takes_distance;
    }
    // Its functions take the parameters out of their struct, each those that it reads.
    let refill = kernel(Role::Refill);
    Solids {
        force: kernel(Role::Force),
        refill: Kernel { head: Head { unpack: Vec::new(), ..refill.head }, ..refill },
        slide: slides::offsets(manifest).map(|_| Slide {
            kernel: kernel(Role::Slide),
            entry: slides::ENTRY,
            beside: slides::beside(manifest.dim),
            shape: slides::shape(manifest.dim),
            state: slides::state(manifest.dim),
            numbers: slides::LAW_NUMBERS,
            from: slides::LAW_FROM,
            step: slides::LAW_STEP,
            filter: slides::FILTER,
            gain: slides::GAIN,
        }),
        own,
        rules,
        against,
        distance,
        carriers: manifest.main().count,
        form: FORM,
        ints: SHAPE_INTS,
        numbers: SHAPE_NUMBERS,
    }
}

fn of_code<'a>(method: &'a Method, code: i32) -> (&'a Boundary, &'a Plan) {
    let at = code as usize;
    let plan = match (&method.walls[at], &method.turned[at]) {
        (Wall::Link(plan), _) | (_, Some(plan)) => plan,
        (Wall::Node(_), None) => unreachable!("rules of solids are of links, or turned"),
    };
    (&method.manifest.boundaries[at], plan)
}

/// What is passed to a rule, each value found only where it is read.
fn called(rule: &Rule) -> String {
    let streamed = "against(direction, here, src, near, of_row)";
    let distance = "distances[direction * CELLS + cell]";
    rule.pass.replace("streamed", streamed).replace("distance", distance)
}
