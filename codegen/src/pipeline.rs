//! In: a [`Model`] and [`Options`]. Out: a [`Bundle`] and a [`Report`] of what its kernels cost.
//!
//! Model ──[`plan`]──▶ [`Plans`] ──[`Plans::emit`]──▶ [`Compiled`]: the expensive half knows no options but the layout.
//!
//! After: the bundle is complete. Pure: files and clocks belong to the caller, who may watch the stages go by.

use std::fmt;

use lbm_bundle::{Bundle, Cost, File, Layout, Manifest, Real, Role, Target};
use lbm_dsl::expr::{DEEP, Expr, ExprId, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, PointSet, Stencil};
use lbm_dsl::model::{Boundary, Model, NodeForm, Param, Rule};
use lbm_dsl::prove::moments::{self, Moment, NotStored};
use lbm_dsl::prove::{self, Findings};
use num_traits::{ToPrimitive, Zero};
use rayon::prelude::*;
use serde::Serialize;

use crate::count::count;
use crate::emit::{self, Method, Wall};
use crate::ir::{KernelIr, Output, Plan};
use crate::lower::{self, signature, stored};
use crate::options::Options;
use crate::schedule::schedule;
use crate::simplify::{TooLarge, simplify, simplify_in_phases};

/// A step of [`plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Viscosity and diffusivities, for the manifest.
    Prove,
    /// Model to kernels.
    Lower,
    /// Fewer operations.
    Simplify,
    /// Order and names.
    Schedule,
}

/// Cost of one kernel or boundary rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// Name: that of a role, `stream_collide`, or `wall_<rule>`.
    pub name: String,
    /// As the spec says it.
    pub naive: Cost,
    /// After exact linear algebra, before the e-graph.
    pub algebra: Cost,
    /// After the e-graph, as emitted.
    pub simplified: Cost,
}

/// What the kernels of a bundle cost, per cell. A boundary rule's cost is that of all its directions together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the spec.
    pub spec: String,
    /// Target, as the options call it.
    pub target: lbm_bundle::Target,
    /// Real type.
    pub real: lbm_bundle::Real,
    /// Cells of a block.
    pub block: [u32; 3],
    /// Kernels, then boundary rules.
    pub kernels: Vec<KernelReport>,
}

/// A finished compile.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the runtime loads and `lbmc gen` writes.
    pub bundle: Bundle,
    /// What it costs.
    pub report: Report,
}

/// Why a valid model can't be compiled with these options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// A velocity reaches beyond the neighbouring cell.
    Speed(Vec<i32>),
    /// These cells are no block for a method of that dimension.
    Block([u32; 3], usize),
    /// These cells are no CUDA thread block for a method of that dimension.
    Tile([u32; 3], usize),
    /// A block with fewer cells along an axis than a boundary condition reads from the wall.
    Thin([u32; 3], String, u32),
    /// The stencil of this name samples cells so far away that this block is too small.
    Reach([u32; 3], String, u64),
    /// These cells are no block for the coupling of this name, whose sides have so many cells at least, and maybe an even number.
    InterfaceBlock([u32; 3], String, u32, bool),
    /// No boundary rule of the method of this name fits surfaces of solids.
    NoSolidRule(String),
    /// The kernel of this name has this constant, which the floating-point type does not hold.
    Constant(String, String, Real),
    /// Plain arrays hold whole populations, which are not stored in 16 bits.
    Whole,
    /// The method has this state, which is no difference from rest and is not stored in 16 bits.
    State(String),
    /// The method reads this value of neighbours, which plain arrays have not.
    Neighbours(String),
    /// Moments cannot be stored in the place of the populations of the method.
    NotStored(NotStored),
    /// Plain arrays hold populations.
    Plain,
    /// Threads of a GPU have not the memory to exchange populations of moments in blocks of these cells.
    Exchange([u32; 3], Target),
    /// Simplification gave up.
    Simplify(TooLarge),
}

impl fmt::Display for CompileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speed(velocity) => write!(
                out,
                "there are no kernels for multi-speed velocity sets: the velocity {velocity:?} reaches beyond the next cell"
            ),
            Self::Block(block, dim) => {
                write!(
                    out,
                    "{block:?} is no block in {dim} dimensions: every side is at least 1 (exactly 1 beyond the"
                )?;
                write!(out, " dimension), and all cells together are at most {MOST_CELLS}")
            }
            Self::Tile(block, dim) => {
                write!(
                    out,
                    "{block:?} is no thread block of a GPU in {dim} dimensions: every side is at least 1 (exactly"
                )?;
                write!(out, " 1 beyond the dimension), along z at most 64, and all cells together are at most 1024")
            }
            Self::InterfaceBlock(block, coupling, least, even) => {
                let even = if *even { " even, and" } else { "" };
                write!(
                    out,
                    "{block:?} is no block for a flow on several levels with `{coupling}`: every side must be{even} at least {least}"
                )
            }
            Self::Thin(block, rule, least) => write!(
                out,
                "{block:?} is too small a block for the boundary condition `{rule}`: it reads cells so far from the wall that every side must be at least {least}"
            ),
            Self::Reach(block, stencil, least) => {
                write!(
                    out,
                    "{block:?} is too small a block for the stencil `{stencil}`: it samples cells so far away that"
                )?;
                write!(out, " every side must be at least {least}")
            }
            Self::NoSolidRule(spec) => {
                write!(out, "{spec} has no boundary rule for solids: add one of links, such as `boundary bounce_back;`")
            }
            Self::Constant(kernel, value, real) => {
                let [name, least, most] = match real {
                    Real::F32 | Real::F16F32 => ["f32", "1.2e-38", "3.4e38"],
                    Real::F64 => ["f64", "2.2e-308", "1.8e308"],
                };
                write!(out, "`{kernel}` has the constant {value}; sizes of numbers in {name} go from {least} to {most}")
            }
            Self::Whole => write!(
                out,
                "plain arrays hold whole populations, and f16/f32 stores differences: take f32 or f64, or blocks"
            ),
            Self::State(name) => write!(
                out,
                "f16/f32 stores what differs from rest, at most 2 in size and 11 bits of it, and `{name}` is a state: take f32 or f64"
            ),
            Self::Neighbours(name) => write!(
                out,
                "`{name}` is read of neighbours: kernels on plain arrays have no pass that stores it; take blocks"
            ),
            Self::NotStored(reason) => write!(out, "populations cannot be stored as moments: {reason}"),
            Self::Plain => write!(out, "plain arrays hold populations, not moments: take blocks"),
            Self::Exchange(block, target) => write!(
                out,
                "{block:?} is too large a block for moments on a GPU, which has 1024 threads and {} KiB for it: take {}",
                target.shared_bytes() >> 10,
                if target.shared_bytes() < Target::Cuda.shared_bytes() { "4x4x4" } else { "8x8x8" }
            ),
            Self::Simplify(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<TooLarge> for CompileError {
    fn from(error: TooLarge) -> Self {
        Self::Simplify(error)
    }
}

/// Cells of the largest block: their populations are indexed with 32 bits inside a slot.
const MOST_CELLS: u32 = 1 << 20;

/// One kernel before and after simplification.
struct Kernel {
    naive: Cost,
    simplified: Cost,
    plan: Plan,
}

/// What no option changes but the layout: the arithmetic of every kernel in its final order, and what is known of it. One is
/// enough for all targets, real types and blocks.
pub struct Plans<'m> {
    model: &'m Model,
    layout: Layout,
    /// What the populations are stored without, one after the other.
    rest: Vec<Rational>,
    findings: Findings,
    kernels: Vec<Kernel>,
    levels: Levels,
    /// What cells read of those around them, if they do.
    around: Option<Around>,
    /// For each boundary rule, that of nodes as one of links on surfaces of solids, if it fits.
    solids: Vec<Option<Kernel>>,
    /// Moments that are stored in the place of populations, if they are.
    moments: Option<InMoments>,
}

/// The arithmetic of what cells show to those around them.
struct Around {
    /// What a cell shows, from its populations.
    expose: Kernel,
    /// For each boundary rule, what is beyond the wall.
    beyond: Vec<Kernel>,
}

/// The arithmetic of moments that are stored in the place of populations.
struct InMoments {
    moments: Vec<Moment>,
    /// Moments after a collision, from moments before it.
    relax: Kernel,
    /// Populations after a collision, from moments after it.
    populations: Kernel,
}

/// The arithmetic at refinement interfaces.
struct Levels {
    /// For each coupling of packets, what those of each population carry; nothing for one of ghosts.
    packets: Vec<Vec<Kernel>>,
    /// For each coupling of packets, what those of several populations are made of, if there is such.
    shared: Vec<Option<Kernel>>,
    /// For each coupling of ghosts, what is interpolated and what is averaged.
    rescaled: Vec<Option<[Kernel; 2]>>,
    /// For each coupling, what the children of a refined cell have, and what a cell has that takes the place of its children.
    transfer: Vec<[Kernel; 2]>,
    /// For each stencil, its sets of points if it gives a slope.
    stencils: Vec<Vec<Kernel>>,
}

/// Compiles a model.
pub fn compile(model: &Model, options: &Options) -> Result<Compiled, CompileError> {
    plan(model, options.layout, &mut |_| ())?.emit(options)
}

/// Plans the kernels of a model for a layout, and says when a stage is done, so that the caller can time it. In blocks,
/// populations are stored as differences from rest; arrays of others hold them whole.
pub fn plan<'m>(model: &'m Model, layout: Layout, done: &mut dyn FnMut(Stage)) -> Result<Plans<'m>, CompileError> {
    check_speeds(model)?;
    let findings = prove::findings(model);
    done(Stage::Prove);

    let rest = match layout {
        Layout::Blocks => stored::rest(model),
        Layout::Soa => vec![Rational::zero(); model.q()],
    };
    let form = Form { model, rest: &rest };
    let walls =
        (0..model.boundaries().len()).map(|rule| (lower::wall(model, rule), &model.boundaries()[rule].params[..]));
    let walls = walls.flat_map(|(kernels, params)| kernels.into_iter().map(move |kernel| (kernel, params)));
    let cells = [lower::collide(model), lower::init(model), lower::macroscopic(model)].map(|kernel| (kernel, &[][..]));
    let kernels: Vec<_> = cells.into_iter().chain(walls).collect();
    let kernels: Vec<_> = kernels.into_iter().map(|(kernel, params)| form.lowered(kernel, params)).collect();
    done(Stage::Lower);

    // The collision is what every step of every cell is made of.
    let simplified =
        |(at, (_, ir)): (usize, &(Cost, KernelIr))| if at == 0 { simplify_in_phases(ir) } else { simplify(ir) };
    let dags = kernels.par_iter().enumerate().map(simplified).collect::<Result<Vec<_>, _>>()?;
    done(Stage::Simplify);

    let kernels: Vec<Kernel> = kernels.iter().zip(dags).map(|((naive, _), dag)| scheduled(*naive, dag)).collect();
    let levels = levels(&form)?;
    let solids = (0..model.boundaries().len()).map(|rule| {
        let turned = lower::solids::turned(model, rule);
        turned.map(|kernel| form.finished(kernel, &model.boundaries()[rule].params)).transpose()
    });
    let solids = solids.collect::<Result<_, _>>()?;
    let rules = 0..model.boundaries().len();
    let around = (!model.shown().is_empty()).then(|| {
        let beyond = rules.map(|rule| form.finished(lower::beyond(model, rule), &model.boundaries()[rule].params));
        Ok::<_, CompileError>(Around {
            expose: form.finished(lower::expose(model), &[])?,
            beyond: beyond.collect::<Result<_, _>>()?,
        })
    });
    let around = around.transpose()?;
    done(Stage::Schedule);
    Ok(Plans { model, layout, findings, kernels, levels, solids, around, rest, moments: None })
}

/// What kernels are stated in.
struct Form<'a> {
    model: &'a Model,
    rest: &'a [Rational],
}

impl Form<'_> {
    /// A kernel of whole populations: what it costs, and the same of stored ones.
    fn lowered(&self, kernel: KernelIr, wall_params: &[Param]) -> (Cost, KernelIr) {
        let naive = count(&kernel.exprs, &values(&kernel.outputs));
        let whole = self.rest.iter().all(Zero::is_zero);
        (naive, if whole { kernel } else { stored::stored(kernel, self.model, self.rest, wall_params) })
    }

    fn finished(&self, kernel: KernelIr, wall_params: &[Param]) -> Result<Kernel, CompileError> {
        let (naive, ir) = self.lowered(kernel, wall_params);
        Ok(scheduled(naive, simplify(&ir)?))
    }

    /// The same for kernels without a boundary rule, side by side.
    fn all_finished(&self, kernels: impl IntoIterator<Item = KernelIr>) -> Result<Vec<Kernel>, CompileError> {
        let lowered: Vec<_> = kernels.into_iter().map(|kernel| self.lowered(kernel, &[])).collect();
        lowered.into_par_iter().map(|(naive, ir)| Ok(scheduled(naive, simplify(&ir)?))).collect()
    }
}

fn scheduled(naive: Cost, dag: crate::ir::Dag) -> Kernel {
    Kernel { naive, simplified: count(dag.exprs(), &values(dag.outputs())), plan: schedule(dag.trimmed()) }
}

fn levels(form: &Form<'_>) -> Result<Levels, CompileError> {
    let model = form.model;
    let crossing: Vec<_> = model.couplings().iter().map(|coupling| lower::levels::packets(model, coupling)).collect();
    let (mut packets, mut shared) = (Vec::new(), Vec::new());
    for found in crossing {
        let (own, of_all) = found.map_or_else(Default::default, |found| (found.packets, found.shared));
        packets.push(form.all_finished(own)?);
        shared.push(of_all.map(|kernel| form.finished(kernel, &[])).transpose()?);
    }
    // Weights of samples sum to one, or to zero for slopes: a stencil makes of stored values what it makes of whole ones, stored.
    let of_stencil = |stencil: &Stencil| form.all_finished(lower::levels::slopes(stencil));
    let both = |kernels: [KernelIr; 2]| {
        let both: Result<[Kernel; 2], _> = form.all_finished(kernels)?.try_into();
        Ok::<_, CompileError>(both.unwrap_or_else(|_| unreachable!("two of two")))
    };
    let rescaled = |coupling: &Coupling| lower::levels::rescaled(model, coupling).map(both).transpose();
    let transfer = |coupling: &Coupling| both(lower::levels::transfer(model, coupling));
    Ok(Levels {
        transfer: model.couplings().iter().map(transfer).collect::<Result<_, _>>()?,
        rescaled: model.couplings().iter().map(rescaled).collect::<Result<_, _>>()?,
        packets,
        shared,
        stencils: model.stencils().iter().map(of_stencil).collect::<Result<_, _>>()?,
    })
}

impl Plans<'_> {
    /// The same with moments stored in the place of populations.
    pub fn in_moments(mut self) -> Result<Self, CompileError> {
        let stored = moments::stored(self.model).map_err(CompileError::NotStored)?;
        if self.layout == Layout::Soa {
            return Err(CompileError::Plain);
        }
        let more = lower::moments::rest(&stored.moments, &self.rest);
        let rest: Vec<Rational> = self.rest.iter().cloned().chain(more).collect();
        let form = Form { model: self.model, rest: &rest };
        let make = [lower::moments::relax, lower::moments::populations];
        let kernels = form.all_finished(make.map(|make| make(self.model, &stored)))?;
        let [relax, populations] = kernels.try_into().unwrap_or_else(|_| unreachable!("two of two"));
        self.moments = Some(InMoments { moments: stored.moments, relax, populations });
        Ok(self)
    }

    /// Text and signatures for one set of options.
    ///
    /// # Panics
    /// If these options have another layout than the plans.
    pub fn emit(&self, options: &Options) -> Result<Compiled, CompileError> {
        assert_eq!(options.layout, self.layout, "kernels of one layout");
        check_block(self.model, options)?;
        check_walls(self.model, options)?;
        check_coupling(self.model, options)?;
        check_solids(self.model, options)?;
        self.check_constants(options.real)?;
        if options.layout == Layout::Soa && options.real == Real::F16F32 {
            return Err(CompileError::Whole);
        }
        if let (Some(state), Real::F16F32) = (self.model.states().first(), options.real) {
            return Err(CompileError::State(state.name.clone()));
        }
        let [collide, init, macroscopic, walls @ ..] = &self.kernels[..] else {
            unreachable!("lower gives these kernels")
        };
        let collide = self.moments.as_ref().map_or(collide, |own| &own.relax);
        let moments = self.moments.as_ref().map_or(&[][..], |own| &own.moments);
        if let (Some(shown), Layout::Soa) = (self.model.shown().first(), options.layout) {
            return Err(CompileError::Neighbours(shown.name.clone()));
        }
        let of_role = |role| match (role, &self.around) {
            (Role::Expose | Role::ExposeWalls | Role::ExposeSolid, Some(around)) => &around.expose,
            (Role::Init, _) => init,
            (Role::Macroscopic, _) => macroscopic,
            _ => collide,
        };
        let as_emitted = |role: Role| if role.is_arithmetic() { of_role(role).simplified } else { Cost::default() };
        let manifest = signature::manifest(
            self.model,
            options,
            &self.findings,
            &self.rest,
            moments,
            collide.plan.live(),
            as_emitted,
        );
        check_shared(&manifest)?;
        let method = Method {
            manifest: &manifest,
            name: self.model.name(),
            summary: self.model.summary(),
            as_written: &|role| of_role(role).naive,
            collide: &collide.plan,
            moments: (self.moments.as_ref()).map(|own| emit::Moments { populations: &own.populations.plan }),
            init: &init.plan,
            macroscopic: &macroscopic.plan,
            walls: self.walls(walls),
            around: self.around.as_ref().map(|around| emit::Around {
                expose: &around.expose.plan,
                beyond: around.beyond.iter().map(|kernel| &kernel.plan).collect(),
            }),
            interface: options.coupling.map(|coupling| self.interface(coupling)),
            turned: self.solids.iter().map(|rule| rule.as_ref().map(|kernel| &kernel.plan)).collect(),
        };
        let (source, extras) = (emit::source(&method), emit::extras(&method));
        let report = report(&manifest, of_role, walls);
        Ok(Compiled { bundle: Bundle { manifest, source, extras }, report })
    }
}

/// The files of the bundles of one method: every kernel source, the header and the bindings once, and the manifest of
/// the first bundle as `<spec>.json` (those of the same method differ in the target alone).
pub fn files(bundles: &[Bundle]) -> Vec<File> {
    let mut files: Vec<File> = bundles.iter().map(|bundle| bundle.source.clone()).collect();
    if let Some(first) = bundles.first() {
        files.extend(first.extras.iter().cloned());
        let text = serde_json::to_string_pretty(&first.manifest).expect("a manifest is plain data") + "\n";
        files.push(File { name: format!("{}.json", first.manifest.spec), text });
    }
    files
}

impl Plans<'_> {
    /// Refuses constants that a floating-point type would make infinite, zero or inexact beyond rounding.
    fn check_constants(&self, real: Real) -> Result<(), CompileError> {
        let Levels { packets, shared, rescaled, transfer, stencils } = &self.levels;
        let levels = packets.iter().chain(stencils).flatten().chain(rescaled.iter().flatten().flatten());
        let levels = levels.chain(transfer.iter().flatten()).chain(shared.iter().flatten());
        let moments = self.moments.iter().flat_map(|own| [&own.relax, &own.populations]);
        let moments = moments.chain(self.around.iter().flat_map(|around| around.beyond.iter().chain([&around.expose])));
        for kernel in self.kernels.iter().chain(levels).chain(self.solids.iter().flatten()).chain(moments) {
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

    /// What crosses refinement interfaces by the coupling of that position.
    fn interface<'a>(&'a self, coupling: usize) -> emit::Interface<'a> {
        let rescaled = match (self.model.couplings()[coupling].exchange(), &self.levels.rescaled[coupling]) {
            (Exchange::Ghosts { stencil, .. }, Some([fine, coarse])) => {
                Some(emit::Rescaled { stencil: *stencil, fine: &fine.plan, coarse: &coarse.plan })
            }
            _ => None,
        };
        let stencil = |(stencil, slopes): (&'a Stencil, &'a Vec<Kernel>)| {
            let set = |(at, set): (usize, &'a PointSet)| emit::PointSet {
                points: set.points(),
                weights: set.weights(),
                slope: slopes.get(at).map(|kernel| &kernel.plan),
            };
            let sets = stencil.sets().iter().enumerate().map(set).collect();
            emit::Stencil { name: stencil.name(), doc: stencil.doc(), sets }
        };
        emit::Interface {
            rescaled,
            packets: self.levels.packets[coupling].iter().map(|kernel| &kernel.plan).collect(),
            shared: self.levels.shared[coupling].as_ref().map(|kernel| &kernel.plan),
            stencils: self.model.stencils().iter().zip(&self.levels.stencils).map(stencil).collect(),
            transfer: self.levels.transfer[coupling].each_ref().map(|kernel| &kernel.plan),
        }
    }

    /// The kernels of the boundary rules, together with their rules.
    fn walls<'a>(&'a self, mut kernels: &'a [Kernel]) -> Vec<Wall<'a>> {
        let wall = |boundary: &'a Boundary| match &boundary.rule {
            Rule::Link(_) => {
                let [link, rest @ ..] = kernels else { unreachable!("lower gives a kernel for each rule of links") };
                kernels = rest;
                Wall::Link(&link.plan)
            }
            Rule::Node(forms) => {
                let (own, rest) = kernels.split_at(forms.len());
                kernels = rest;
                let form = |(form, kernel): (&NodeForm, &'a Kernel)| emit::NodeForm {
                    name: form.name(self.model.lattice().dim()),
                    walls: form.normals,
                    plan: &kernel.plan,
                };
                Wall::Node(forms.iter().zip(own).map(form).collect())
            }
        };
        self.model.boundaries().iter().map(wall).collect()
    }
}

/// Whether a number is zero, or its size in the range of normal numbers of a type.
fn holds(real: Real, value: &Rational) -> bool {
    let (least, most) = match real {
        Real::F32 | Real::F16F32 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        Real::F64 => (f64::MIN_POSITIVE, f64::MAX),
    };
    value.is_zero() || value.to_f64().is_some_and(|near| (least..=most).contains(&near.abs()))
}

fn values(outputs: &[Output]) -> Vec<ExprId> {
    outputs.iter().map(|output| output.value).collect()
}

fn check_speeds(model: &Model) -> Result<(), CompileError> {
    let fast = model
        .pops()
        .map(|(_, set, dir)| set.lattice.velocity(dir))
        .find(|velocity| velocity.iter().any(|c| c.abs() > 1));
    fast.map_or(Ok(()), |velocity| Err(CompileError::Speed(velocity.to_vec())))
}

fn check_block(model: &Model, options: &Options) -> Result<(), CompileError> {
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

/// Cells that rules of nodes read lie in the block of the cell at the wall, or are next to it where no solids are.
fn check_walls(model: &Model, options: &Options) -> Result<(), CompileError> {
    let side = *options.block[..model.lattice().dim()].iter().min().expect("there are axes");
    let least = |rule: &Rule| match rule {
        Rule::Node(forms) => {
            let reads =
                |is: fn(Symbol) -> bool| forms.iter().any(|form| model.exprs().symbols(&form.formulas.outputs).any(is));
            let inside = options.solids && reads(|symbol| matches!(symbol, Symbol::Inside(_)));
            let deep = reads(|symbol| matches!(symbol, Symbol::Deep(_)));
            if deep { DEEP + 1 } else { 1 + u32::from(inside) }
        }
        Rule::Link(_) => 1,
    };
    let thin = model.boundaries().iter().find(|boundary| side < least(&boundary.rule));
    match thin.filter(|_| options.layout == Layout::Blocks) {
        Some(boundary) => Err(CompileError::Thin(options.block, boundary.name.clone(), least(&boundary.rule))),
        None => Ok(()),
    }
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
fn check_shared(manifest: &Manifest) -> Result<(), CompileError> {
    let exchanges = !manifest.moments.is_empty() && manifest.target.is_gpu();
    let fits = manifest.cells() <= 1024 && lower::signature::shared_bytes(manifest) <= manifest.target.shared_bytes();
    if exchanges && !fits { Err(CompileError::Exchange(manifest.block, manifest.target)) } else { Ok(()) }
}

fn check_coupling(model: &Model, options: &Options) -> Result<(), CompileError> {
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

fn check_solids(model: &Model, options: &Options) -> Result<(), CompileError> {
    let fits = (0..model.boundaries().len()).any(|rule| lower::solids::fits(model, rule));
    if options.solids && !fits { Err(CompileError::NoSolidRule(model.name().into())) } else { Ok(()) }
}

fn report<'a>(manifest: &Manifest, of_role: impl Fn(Role) -> &'a Kernel, walls: &[Kernel]) -> Report {
    let of_cells = |kernel: &lbm_bundle::Kernel| {
        let Cost { loads, stores, bytes, .. } = kernel.cost;
        let own = of_role(kernel.role);
        KernelReport {
            name: kernel.role.name().into(),
            naive: Cost { loads, stores, bytes, ..own.naive },
            algebra: Cost { loads, stores, bytes, ..own.plan.dag().algebra() },
            simplified: kernel.cost,
        }
    };
    let of_wall = |wall: &Kernel| KernelReport {
        name: wall.plan.dag().name().into(),
        naive: wall.naive,
        algebra: wall.plan.dag().algebra(),
        simplified: wall.simplified,
    };
    Report {
        spec: manifest.spec.clone(),
        target: manifest.target,
        real: manifest.real,
        block: manifest.block,
        kernels: (manifest.kernels.iter().filter(|kernel| kernel.role.is_arithmetic()).map(of_cells))
            .chain(walls.iter().map(of_wall))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use lbm_dsl::expr::Symbol;
    use lbm_dsl::prove::moments::stored;
    use lbm_dsl::shipped::{self, Prelude};
    use lbm_dsl::source::Source;
    use num_traits::ToPrimitive;

    use super::*;
    use crate::eval::{eval_dag, eval_ir};
    use crate::lower::moments::{populations, relax};

    /// What a collision gives is what comes back from the moments that it gives, in every form of the two kernels.
    #[test]
    fn populations_come_back_from_moments_in_every_form() {
        for name in ["d2q9_central", "d3q19_recursive", "d3q27_cumulant", "d3q27_central"] {
            let source = Source::new(name, shipped::spec(name).expect("shipped"));
            let model = lbm_dsl::compile(&source, &Prelude).expect("valid");
            let found = stored(&model).expect("few moments");
            let kernels = [relax(&model, &found), populations(&model, &found)];
            let [simple, back] = kernels.each_ref().map(|kernel| simplify(kernel).expect("small"));
            let number = |value: &Rational| value.to_f64().expect("a number");
            let weights = model.weights();
            let before: Vec<f64> =
                (0..).zip(&weights).map(|(pop, w)| number(w) * (1.0 + 0.1 * f64::sin(pop as f64))).collect();
            let of = |values: &[f64], symbol: Symbol| match symbol {
                Symbol::Population(pop) => values[pop.index()],
                Symbol::Moment(number) => values[usize::from(number)],
                _ => 1.7,
            };
            let right = eval_ir::<f64>(&lower::collide(&model), |symbol| of(&before, symbol));
            let sums = |populations: &[f64]| -> Vec<f64> {
                let sum = |moment: &Moment| moment.shares.iter().zip(populations).map(|(s, f)| number(s) * f).sum();
                found.moments.iter().map(sum).collect()
            };
            let near = |found: &[f64], right: &[f64], what: &str| {
                let most = found.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(most < 1e-15, "{name}, {what}: {most:e}, {found:?}, {right:?}");
            };
            let (gathered, after) = (sums(&before), sums(&right));
            near(&eval_ir::<f64>(&kernels[0], |symbol| of(&gathered, symbol)), &after, "moments");
            near(&eval_ir::<f64>(&kernels[1], |symbol| of(&after, symbol)), &right, "populations");
            near(&eval_dag::<f64>(&simple, |symbol| of(&gathered, symbol)), &after, "moments, simplified");
            near(&eval_dag::<f64>(&back, |symbol| of(&after, symbol)), &right, "populations, simplified");
        }
    }
}
