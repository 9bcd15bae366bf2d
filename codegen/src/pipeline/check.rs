//! What options a method can be compiled with.

use lbm_bundle::{Layout, Manifest, Real};
use lbm_dsl::expr::{DEEP, Expr, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, Stencil};
use lbm_dsl::model::{Model, Rule};
use num_traits::{ToPrimitive, Zero};

use super::error::CompileError;
use super::plans::Plans;
use crate::lower;
use crate::options::{MOST_CELLS, Options};

/// Refuses options that these plans have no kernels for.
pub fn options(plans: &Plans, options: &Options) -> Result<(), CompileError> {
    let model = plans.model;
    block(model, options)?;
    walls(model, options)?;
    coupling(model, options)?;
    solids(model, options)?;
    constants(plans, options.real)?;
    let soa = options.layout == Layout::Soa;
    if soa && options.real == Real::F16F32 {
        return Err(CompileError::Whole);
    }
    if plans.derivatives.is_some() && options.real == Real::F16F32 {
        return Err(CompileError::AdjointOfHalves);
    }
    let coupled = options.coupling.filter(|_| plans.derivatives.is_some()).map(|at| &model.couplings()[at]);
    if let Some(coupling) = coupled.filter(|coupling| lower::levels::shares(model, coupling).is_none()) {
        return Err(CompileError::AdjointOfCoupling(coupling.name().into()));
    }
    let has_ghosts = |coupling: &&Coupling| matches!(coupling.exchange(), Exchange::Ghosts { .. });
    let coupled = options.coupling.filter(|_| plans.in_place).map(|at| &model.couplings()[at]);
    if let Some(coupling) = coupled.filter(has_ghosts) {
        return Err(CompileError::InPlace(format!(
            "`{}` couples levels by ghosts, which read other cells",
            coupling.name()
        )));
    }
    match model.shown().first() {
        Some(shown) if soa => Err(CompileError::Neighbours(shown.name.clone())),
        _ => Ok(()),
    }
}

/// Refuses constants that a floating-point type would make infinite, zero or inexact beyond rounding.
fn constants(plans: &Plans, real: Real) -> Result<(), CompileError> {
    for kernel in plans.all() {
        let dag = kernel.plan.dag();
        let constants = dag.exprs().iter().filter_map(|(_, node)| match node {
            Expr::Const(value) => Some(value),
            _ => None,
        });
        if let Some(value) = constants.into_iter().find(|value| !holds(real, value)) {
            let text = match value.to_f64() {
                Some(near) if near.is_normal() => format!("{near:e}"),
                _ => "beyond 1e308, or as small".into(),
            };
            return Err(CompileError::Constant(dag.name().into(), text, real));
        }
    }
    Ok(())
}

/// Whether a number is zero, or its size in the range of normal numbers of a type.
fn holds(real: Real, value: &Rational) -> bool {
    let (least, most) = match real {
        Real::F32 | Real::F16F32 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        Real::F64 => (f64::MIN_POSITIVE, f64::MAX),
    };
    value.is_zero() || value.to_f64().is_some_and(|near| (least..=most).contains(&near.abs()))
}

/// Refuses velocities that reach beyond the neighbouring cell.
pub fn speeds(model: &Model) -> Result<(), CompileError> {
    let fast = model
        .pops()
        .map(|(_, set, dir)| set.lattice.velocity(dir))
        .find(|velocity| velocity.iter().any(|c| c.abs() > 1));
    fast.map_or(Ok(()), |velocity| Err(CompileError::Speed(velocity.to_vec())))
}

fn block(model: &Model, options: &Options) -> Result<(), CompileError> {
    let dim = model.lattice().dim();
    let cells = options.block.iter().try_fold(1u32, |cells, side| cells.checked_mul(*side));
    let flat = options.block[dim.min(3)..].iter().all(|side| *side == 1);
    match cells {
        Some(1..=MOST_CELLS) if flat && options.layout == Layout::Blocks => Ok(()),
        Some(1..=1024) if flat && options.block[2] <= 64 => Ok(()),
        _ if options.layout == Layout::Blocks => Err(CompileError::Block(options.block, dim)),
        _ => Err(CompileError::Tile(options.block, dim)),
    }
}

/// The fewest cells that the sides of blocks may have beside walls: cells that rules of nodes read lie in the block of the cell at the
/// wall, or are next to it where no solids are.
pub fn sides_at_walls(model: &Model, solids: bool) -> u32 {
    model.boundaries().iter().map(|boundary| depth(model, &boundary.rule, solids)).max().unwrap_or(1)
}

fn depth(model: &Model, rule: &Rule, solids: bool) -> u32 {
    match rule {
        Rule::Node(forms) => {
            let reads =
                |is: fn(Symbol) -> bool| forms.iter().any(|form| model.exprs().symbols(&form.formulas.outputs).any(is));
            let inside = solids && reads(|symbol| matches!(symbol, Symbol::Inside(_)));
            let deep = reads(|symbol| matches!(symbol, Symbol::Deep(_)));
            if deep { DEEP + 1 } else { 1 + u32::from(inside) }
        }
        Rule::Link(_) => 1,
    }
}

fn walls(model: &Model, options: &Options) -> Result<(), CompileError> {
    let side = *options.block[..model.lattice().dim()].iter().min().expect("there are axes");
    let least = |rule: &Rule| depth(model, rule, options.solids);
    let thin = model.boundaries().iter().find(|boundary| side < least(&boundary.rule));
    match thin.filter(|_| options.layout == Layout::Blocks) {
        Some(boundary) => Err(CompileError::Thin(options.block, boundary.name.clone(), least(&boundary.rule))),
        None => Ok(()),
    }
}

/// Whether the links of a face with the boundary rule of that name may be cut, one by one: it is link-wise and no mirror.
pub fn is_link_wise(model: &Model, name: &str) -> bool {
    let found = model.boundaries().iter().position(|boundary| boundary.name == name);
    found.is_some_and(|at| matches!(model.boundaries()[at].rule, Rule::Link(_)) && lower::solids::fits(model, at))
}

/// What a packet carries is known within one coarse cell of the block that it comes from; with four cells a side all of
/// these lie in blocks that touch it, and 2:1 balance says what they are.
const LEAST_INTERFACE_SIDE: u32 = 4;

/// The sides that blocks of a method on several levels may have: the fewest cells, and whether their number must be even.
pub fn sides_on_levels(model: &Model, coupling: &Coupling) -> (u32, bool) {
    let (least, even) = match coupling.exchange() {
        // Ghosts and the cells beside them that are averaged lie in one half of a block, and a stencil of four points around a
        // coarse cell of them in the blocks that touch its own.
        Exchange::Ghosts { layers, .. } => (LEAST_INTERFACE_SIDE.max(2 * *layers as u32), true),
        Exchange::Packets { .. } => (LEAST_INTERFACE_SIDE, false),
    };
    let reach = reaches(model, coupling).map(|(_, reach)| u32::try_from(reach).unwrap_or(u32::MAX)).max();
    (least.max(reach.unwrap_or(0)), even)
}

/// The stencils of a coupling with the fewest cells of a side that they need: samples lie in blocks that touch the one of the cell
/// at hand. A packet may be that of a cell that touches the block: from there it is one cell less.
fn reaches<'a>(model: &'a Model, coupling: &'a Coupling) -> impl Iterator<Item = (&'a Stencil, u64)> {
    let (stencils, beyond) = match coupling.exchange() {
        Exchange::Packets { values } => (lower::levels::sampled(model, values), 1),
        Exchange::Ghosts { stencil, .. } => (vec![*stencil], 0),
    };
    let of_transfer = lower::levels::sampled(model, &coupling.transfer().refine.outputs).into_iter().map(|at| (at, 0));
    let all = stencils.into_iter().map(move |at| (at, beyond)).chain(of_transfer);
    all.map(|(at, beyond)| (&model.stencils()[at], model.stencils()[at].reach() + beyond))
}

/// Threads of a GPU exchange what they make of moments in memory that they share.
pub fn shared(manifest: &Manifest) -> Result<(), CompileError> {
    let exchanges = !manifest.moments.is_empty() && manifest.target.is_gpu();
    let fits = manifest.cells() <= 1024 && lower::signature::shared_bytes(manifest) <= manifest.target.shared_bytes();
    if exchanges && !fits { Err(CompileError::Exchange(manifest.block, manifest.target)) } else { Ok(()) }
}

fn coupling(model: &Model, options: &Options) -> Result<(), CompileError> {
    let Some(coupling) = options.coupling.map(|at| &model.couplings()[at]) else { return Ok(()) };
    if options.layout != Layout::Blocks {
        return Ok(());
    }
    let sides = &options.block[..model.lattice().dim()];
    let short = |(_, least): &(&Stencil, u64)| sides.iter().any(|side| u64::from(*side) < *least);
    if let Some((stencil, least)) = reaches(model, coupling).find(short) {
        return Err(CompileError::Reach(options.block, stencil.name().into(), least));
    }
    let (least, even) = sides_on_levels(model, coupling);
    match sides.iter().all(|side| *side >= least && (!even || side.is_multiple_of(2))) {
        true => Ok(()),
        false => Err(CompileError::InterfaceBlock(options.block, coupling.name().into(), least, even)),
    }
}

fn solids(model: &Model, options: &Options) -> Result<(), CompileError> {
    let fits = (0..model.boundaries().len()).any(|rule| lower::solids::fits(model, rule));
    if options.solids && !fits { Err(CompileError::NoSolidRule(model.name().into())) } else { Ok(()) }
}
