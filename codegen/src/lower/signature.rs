//! In: a [`Model`] and [`Options`]. Out: the [`Manifest`]: signatures, layout, launch shapes.
//!
//! After: everything but the arithmetic is decided; the costs of the kernels are those handed in.

mod formula;
pub mod soa;

pub use formula::formula;

use std::ops::RangeInclusive;

use lbm_bundle as bundle;
use lbm_bundle::{ABI, Action, AtFace, Cost, Direction, Kernel, Layout, Manifest, Member, Real, Role, Sources, Target};
use lbm_dsl::expr::{Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, Rate};
use lbm_dsl::model::{Field, Model, Param, Populations, Rule};
use lbm_dsl::prove::moments::Moment;
use lbm_dsl::prove::{self, Findings, Transport, faces};
use num_traits::ToPrimitive;

use super::names::Namer;
use super::{claim_params, solids, word};
use crate::options::Options;

/// Threads of a CUDA thread block, where whole blocks of cells fit.
const THREADS: u32 = 256;

/// The same where a collision has more values alive at once than [`MOST_LIVE`] of 32 bits: registers of a processor are given to
/// whole thread blocks, and to large ones fewer of them.
const FEW_THREADS: u32 = 128;
const MOST_LIVE: usize = 80;

/// Threads of a chunk of which each reads here and there: as many as hide how long that takes.
const MANY_THREADS: u32 = 512;

/// Cells of blocks that a thread block may stream and collide in one pass if cells read what those around show: it has a thread for each.
/// Larger ones leave few registers for a thread.
const IN_ONE_PASS: RangeInclusive<u32> = 256..=512;

/// The same: how many times as many cells may lie around a block as in it. What these show is computed too. (f32, one H100: in blocks of 16 x 4 x 4
/// cells, 1.5 times as many, D3Q19 is faster in one pass than in two by 22 to 31 %; in 64 x 4 cells, .6 times as many, D2Q9 by 30 to 60 %.)
const MOST_AROUND: u32 = 2;

/// Threads that share what crosses an interface at a block, or at as many cells.
const INTERFACE_THREADS: u32 = 128;

/// Memory that the threads of a block may share without asking for more.
const SHARED_BYTES: u32 = 47 << 10;

/// Signatures and layout; `rest` is what populations are stored without, `moments` what is stored in their place if it is not empty, `live` how many values the
/// collision has alive at once, and `cost` gives each kernel's arithmetic (its loads, stores and bytes are counted here).
pub fn manifest(
    model: &Model,
    options: &Options,
    findings: &Findings,
    rest: &[Rational],
    moments: &[Moment],
    live: usize,
    cost: impl Fn(Role) -> Cost,
) -> Manifest {
    let velocity = |c: &[i32]| std::array::from_fn(|axis| c.get(axis).copied().unwrap_or(0));
    let directions = model.pops().map(|(pop, set, dir)| Direction {
        c: velocity(set.lattice.velocity(dir)),
        weight: set.lattice.weight(dir).to_string(),
        rest: rest[pop.index()].to_string(),
        opposite: set.pop(set.lattice.opposite(dir)).index() as u32,
    });
    let own = |at: usize| Direction { c: [0; 3], weight: "0".into(), rest: rest[at].to_string(), opposite: at as u32 };
    let directions = directions.chain((model.moving()..model.q()).map(own));
    let state = |state: &lbm_dsl::model::State| bundle::State {
        name: state.name.clone(),
        unit: state.unit.map(unit),
        doc: state.doc.clone(),
    };
    let populations = model.populations().iter().zip(&findings.diffusivities).map(|(set, found)| bundle::Populations {
        name: set.name.clone(),
        lattice: set.lattice.name().into(),
        cs2: set.lattice.cs2().to_f64().unwrap_or(f64::NAN),
        first: set.first as u32,
        count: set.lattice.q() as u32,
        field: sum_of(model, set),
        diffusivity: found.as_ref().map(transport),
    });
    let boundaries = model.boundaries().iter().zip(0..).map(|(rule, code)| bundle::Boundary {
        name: rule.name.clone(),
        code,
        nodes: matches!(rule.rule, Rule::Node(_)),
        at_face: match (
            solids::is_mirror(model, code as usize) || faces::lets_nothing_through(model, rule),
            faces::holds_velocity(model, rule),
        ) {
            (true, _) => AtFace::Slip,
            (false, true) => AtFace::Prescribed,
            (false, false) => AtFace::Unknown,
        },
        unit_density: faces::assumes_unit_density(model, rule),
        params: rule.params.iter().map(param).collect(),
        doc: rule.doc.clone(),
    });
    let fields = model.fields().iter();
    let components = |rule: &lbm_dsl::model::Boundary| rule.params.iter().map(|param| param.components as u32).sum();
    let rules_that = |matters: bool, is: &dyn Fn(usize) -> bool| {
        let all = 0..if matters { model.boundaries().len() } else { 0 };
        all.filter(|rule| is(*rule)).map(|rule| rule as i32).collect()
    };
    let observed = model.asked().iter().map(|found| bundle::Field {
        name: found.name.clone(),
        components: found.components.len() as u32,
        observed: true,
        place: false,
        unit: found.unit.map(unit),
    });
    let levels = options.coupling.is_some();
    let mut manifest = Manifest {
        abi: ABI,
        spec: word(model.name()),
        target: options.target,
        real: options.real,
        layout: options.layout,
        dim: model.lattice().dim() as u32,
        populations: populations.collect(),
        directions: directions.collect(),
        states: model.states().iter().map(state).collect(),
        shown: (model.shown().iter().enumerate())
            .map(|(at, shown)| bundle::Shown {
                name: shown.name.clone(),
                value: model.row(at).index() as u32,
                axis: shown.axis.map(|axis| axis as u32),
            })
            .collect(),
        seen: (model.seen().into_iter())
            .map(|(shown, dir)| bundle::Seen { shown: shown as u32, direction: dir.index() as u32 })
            .collect(),
        moments: moments.iter().map(stored).collect(),
        block: options.block,
        wall_stride: model.boundaries().iter().map(components).max().unwrap_or(0),
        params: model.params().iter().map(param).collect(),
        members: members(model.params()),
        fields: fields
            .map(|field| bundle::Field {
                place: field.place,
                ..bundle::Field::own(&field.name, field.components.len())
            })
            .chain(observed)
            .collect(),
        boundaries: boundaries.collect(),
        solid_rules: rules_that(options.solids, &|rule| solids::fits(model, rule)),
        mirror_rules: rules_that(options.solids || levels, &|rule| solids::is_mirror(model, rule)),
        one_level_rules: rules_that(levels, &|rule| {
            let half_mirror = solids::reads_mirror(model, rule) && !solids::is_mirror(model, rule);
            let scales = |param: &Param| param.unit.is_some_and(|unit| unit.length + unit.time != 0);
            half_mirror || model.boundaries()[rule].params.iter().any(scales)
        }),
        in_place_rules: vec![],
        in_place_face_rules: vec![],
        coupling: options.coupling.map(|at| coupling(model, &model.couplings()[at])),
        criteria: model.criteria().iter().map(|found| criterion(model, found)).collect(),
        kernels: Vec::new(),
        viscosity: transport(&findings.viscosity),
    };
    let has_walls = !manifest.boundaries.is_empty();
    // Those away from walls, and those beside them if there are rules.
    let gathering = |action, sources: Sources| {
        let all = [false, true].into_iter().filter(|walls| has_walls || !walls);
        all.filter_map(|walls| Role::of(action, Sources { walls, ..sources })).collect::<Vec<_>>()
    };
    let around = Sources { neighbours: true, ..Sources::default() };
    let mut roles = vec![Role::Init];
    roles.extend(gathering(Action::Collide, around));
    roles.extend(in_one_pass(&manifest).then_some(Role::ExposeStreamCollide));
    if !manifest.shown.is_empty() {
        roles.extend(gathering(Action::Expose, around));
        roles.extend((options.solids && has_walls).then_some(Role::ExposeSolid));
    }
    if let Some(coupling) = &manifest.coupling {
        let across = Sources { inbox: coupling.ghosts == 0, ghosts: coupling.ghosts > 0, ..around };
        roles.extend(gathering(Action::Collide, across));
        if coupling.ghosts > 0 {
            roles.extend([Role::Restrict, Role::Send, Role::Prolong, Role::Hold, Role::Keep]);
        } else {
            if !manifest.shown.is_empty() {
                roles.extend(gathering(Action::Expose, across));
                roles.extend([Role::ExposeStored, Role::ExposeAcross]);
            }
            roles.extend([Role::InterfaceMasks, Role::InterfaceCells, Role::ToFine, Role::ToCoarse]);
            if has_walls {
                roles.extend([Role::ToFineWalls, Role::ToCoarseWalls]);
            }
        }
        roles.extend([Role::Average, Role::Fill, Role::AverageFields, Role::FillFields]);
        roles.extend([Role::Relocate, Role::RelocateFields]);
    }
    if options.solids && has_walls {
        match &manifest.coupling {
            Some(coupling) if coupling.ghosts > 0 => roles.push(Role::StreamCollideGhostsSolid),
            Some(_) => {
                roles.push(Role::StreamCollideInterfaceSolid);
                roles.extend((!manifest.shown.is_empty()).then_some(Role::ExposeInterfaceSolid));
            }
            None => {}
        }
        roles.extend([Role::StreamCollideSolid, Role::Force, Role::Refill]);
        roles.extend(bundle::slides::offsets(&manifest).map(|_| Role::Slide));
    }
    roles.extend([Role::Macroscopic, Role::CheckFields, Role::Sums]);
    if velocity_at(&manifest).is_some() {
        roles.push(Role::Means);
    }
    roles.push(Role::Collide);
    let few = has_many_alive(options.real, live);
    let threads = |role| if few && collides(role) { FEW_THREADS } else { THREADS };
    let kernel = |role| kernel(&manifest, role, threads(role), cost(role));
    manifest.kernels = roles.into_iter().map(kernel).collect();
    match options.layout {
        Layout::Blocks => manifest,
        Layout::Soa => soa::manifest(manifest),
    }
}

/// The first component of the velocity `u` among those of the fields, if there is one.
pub fn velocity_at(manifest: &Manifest) -> Option<usize> {
    let at = manifest.fields.iter().position(|field| field.name == "u" && field.components == manifest.dim)?;
    Some(manifest.fields[..at].iter().map(|field| field.components as usize).sum())
}

fn unit(unit: lbm_dsl::unit::Unit) -> bundle::Unit {
    bundle::Unit { length: unit.length, time: unit.time }
}

fn criterion(model: &Model, criterion: &lbm_dsl::model::Criterion) -> bundle::Criterion {
    bundle::Criterion {
        name: criterion.name.clone(),
        doc: criterion.doc.clone(),
        formula: formula(model, criterion.formula),
        unit: unit(criterion.unit),
    }
}

fn coupling(model: &Model, coupling: &Coupling) -> bundle::Coupling {
    let rate = |rate: &Rate| bundle::Rate {
        param: model.params()[rate.param].name.clone(),
        finer: formula(model, rate.finer),
    };
    bundle::Coupling {
        name: coupling.name().into(),
        doc: coupling.doc().into(),
        rates: coupling.rates().iter().map(rate).collect(),
        ghosts: match coupling.exchange() {
            Exchange::Packets { .. } => 0,
            Exchange::Ghosts { layers, .. } => *layers as u32,
        },
        packets: None,
    }
}

fn transport(found: &Transport) -> bundle::Transport {
    bundle::Transport { formula: found.formula.clone(), rate: found.rate.clone() }
}

fn stored(moment: &Moment) -> bundle::Moment {
    bundle::Moment { name: moment.name.clone(), shares: moment.shares.iter().map(Rational::to_string).collect() }
}

/// The parameter that sets the viscosity of a method, if it is one alone.
pub fn rate(model: &Model) -> Option<String> {
    transport(&prove::findings(model).viscosity).rate
}

/// What a manifest says of a parameter.
pub fn param(param: &Param) -> bundle::Param {
    let float = |value: &Rational| value.to_f64().unwrap_or(f64::NAN);
    bundle::Param {
        name: param.name.clone(),
        components: param.components as u32,
        default: param.default.as_ref().map(float),
        range: param.range.as_ref().map(|(low, high)| (float(low), float(high))),
        unit: param.unit.map(unit),
        doc: param.doc.clone(),
    }
}

/// Whether a kernel streams and collides cells.
fn collides(role: Role) -> bool {
    matches!(role.gathers(), Some((Action::Collide | Action::ExposeCollide, _)))
}

/// Whether a kernel stores what cells show to those around them.
pub fn exposes(role: Role) -> bool {
    role.gathers().is_some_and(|(action, _)| action == Action::Expose)
}

/// Whether a kernel collides backwards.
pub fn is_adjoint(role: Role) -> bool {
    role.gathers().is_some_and(|(action, _)| matches!(action, Action::CollideAdjoint | Action::StepAdjoint))
}

/// Kernels of the adjoint of a step on blocks. `in_proportion`: whether walls send in proportion to populations.
pub fn derivatives(manifest: &Manifest, in_proportion: bool, cost: impl Fn(Role) -> Cost) -> Vec<Kernel> {
    let mut roles = vec![Role::CollideAdjoint, Role::StepAdjoint, Role::StreamAdjoint];
    if !manifest.boundaries.is_empty() {
        roles.extend(in_proportion.then_some(Role::StepAdjointWalls));
        roles.extend([Role::CollideAdjointWalls, Role::StreamAdjointWalls]);
    }
    if manifest.kernel(Role::StreamCollideSolid).is_some() {
        roles.extend([Role::CollideAdjointSolid, Role::StreamAdjointSolid]);
    }
    if manifest.coupling.is_some() {
        roles.extend([Role::CollideAdjointInterface, Role::ReceiveAdjoint, Role::CrossAdjoint]);
        if !manifest.boundaries.is_empty() {
            roles.extend([Role::CollideAdjointInterfaceWalls, Role::ReturnAdjoint]);
        }
    }
    roles.push(Role::MacroscopicAdjoint);
    roles.into_iter().map(|role| kernel(manifest, role, FEW_THREADS, cost(role))).collect()
}

/// Kernels of steps in the only set of populations.
pub fn in_place(manifest: &Manifest, live: usize, cost: impl Fn(Role) -> Cost) -> Vec<Kernel> {
    let mut roles = vec![Role::CollideOut, Role::CollideBack, Role::BringBack];
    if !manifest.boundaries.is_empty() {
        roles.extend([Role::CollideOutWalls, Role::CollideBackWalls, Role::BringBackWalls]);
    }
    if manifest.kernel(Role::StreamCollideSolid).is_some() {
        roles.extend([Role::CollideOutSolid, Role::CollideBackSolid, Role::BringBackSolid]);
    }
    if manifest.coupling.is_some() {
        roles.extend([Role::CollideOutInterface, Role::CollideBackInterface, Role::BringBackInterface]);
        if !manifest.boundaries.is_empty() {
            use Role::{BringBackInterfaceWalls, CollideBackInterfaceWalls, CollideOutInterfaceWalls};
            roles.extend([CollideOutInterfaceWalls, CollideBackInterfaceWalls, BringBackInterfaceWalls]);
        }
        if manifest.kernel(Role::StreamCollideInterfaceSolid).is_some() {
            use Role::{BringBackInterfaceSolid, CollideBackInterfaceSolid, CollideOutInterfaceSolid};
            roles.extend([CollideOutInterfaceSolid, CollideBackInterfaceSolid, BringBackInterfaceSolid]);
        }
    }
    let threads = if has_many_alive(manifest.real, live) { FEW_THREADS } else { THREADS };
    roles.into_iter().map(|role| kernel(manifest, role, threads, cost(role))).collect()
}

/// Whether a collision has so many values alive at once that registers are few.
fn has_many_alive(real: Real, live: usize) -> bool {
    live * real.bytes() / 4 > MOST_LIVE
}

fn kernel(manifest: &Manifest, role: Role, threads: u32, arithmetic: Cost) -> Kernel {
    let [q, rows, components, members] =
        [manifest.q(), manifest.rows(), manifest.field_components(), manifest.members.len()].map(|count| count as u32);
    let shown = match (manifest.shown.first(), manifest.shown.last()) {
        (Some(first), Some(last)) => {
            let of = |shown: &bundle::Shown| manifest.rows_of(manifest.value_of_state(shown.value as usize));
            of(first).start as u32..of(last).end as u32
        }
        _ => 0..0,
    };
    let (loads, stores) = match role {
        Role::Init => (components, rows),
        Role::Macroscopic => (rows, components),
        Role::Force | Role::Sums | Role::Slide => (rows, 0),
        Role::StreamCollideTangent => (2 * rows, rows),
        Role::StreamCollideAdjoint => (2 * rows, rows),
        Role::StreamCollideAdjointParameters => (2 * rows + members, rows + members),
        Role::MacroscopicAdjoint => (2 * rows + components + members, rows + members),
        role if is_adjoint(role) => (2 * rows + members, rows + members),
        Role::Collide => (q, q),
        role if exposes(role) => (manifest.first_state() as u32, shown.end - shown.start),
        Role::CheckFields | Role::Means => (components, 0),
        Role::AverageFields | Role::FillFields | Role::RelocateFields => (components, components),
        // What is kept because it depends on cells around is given by each collision anew.
        role if collides(role) && !manifest.shown.is_empty() => (shown.end, rows),
        _ => (rows, rows),
    };
    let [computed, stored] = [manifest.real.bytes(), manifest.real.stored_bytes()].map(|bytes| bytes as u32);
    let [loaded, written] = match role {
        Role::Init => [computed, stored],
        Role::Macroscopic => [stored, computed],
        Role::CheckFields
        | Role::Means
        | Role::AverageFields
        | Role::FillFields
        | Role::RelocateFields
        | Role::Collide => [computed; 2],
        _ => [stored; 2],
    };
    let bytes = loads * loaded + stores * written;
    let (threads, items_per_group) = shape(manifest, role, threads);
    Kernel {
        role,
        symbol: format!("{}_{}", manifest.spec, role.name()),
        args: role.args(manifest),
        cost: Cost { loads, stores, bytes, ..arithmetic },
        threads,
        items_per_group,
        // A direction at a time: its code is what all threads run, and it is long.
        passes: if matches!(role, Role::ToFine | Role::ToCoarse) { q } else { 1 },
        shared: if exchanges(manifest, role) && manifest.target.is_gpu() { shared_bytes(manifest) as u32 } else { 0 },
    }
}

/// Name of the field that is the sum of a set of populations: the same at two states of numbers that have nothing to do with each other.
fn sum_of(model: &Model, set: &Populations) -> Option<String> {
    let number = |at: usize, seed: f64| 0.5 + ((at + 1) as f64 * seed).fract();
    let is_sum = |field: &&Field| match field.components[..] {
        [component] => [0.618_033_988_749_895, 0.414_213_562_373_095].into_iter().all(|seed| {
            let value = |symbol: Symbol| match symbol {
                Symbol::Population(pop) => number(pop.index(), seed),
                _ => number(model.q(), seed),
            };
            let sum: f64 = set.range().map(|at| number(at, seed)).sum();
            (model.exprs().eval::<f64>(&[component], value)[0] - sum).abs() < 1e-9 * sum
        }),
        _ => false,
    };
    model.fields().iter().find(is_sum).map(|field| field.name.clone())
}

/// The method's parameters as members of their struct, one per component.
fn members(params: &[Param]) -> Vec<Member> {
    let member = |((param, component), name): ((u16, u8), String)| {
        let param = &params[usize::from(param)];
        let axis = if param.components == 1 { "" } else { [", x", ", y", ", z"][usize::from(component)] };
        let range = param.range.as_ref().map_or(String::new(), |(low, high)| format!(" in ({low}, {high})"));
        let doc = if param.doc.is_empty() { "parameter of the method" } else { &param.doc };
        let default = param.default.as_ref().map_or(String::new(), |value| format!(", {value} unless given"));
        let doc = format!("{doc}{axis}{range}{default}, lattice units");
        Member { name, param: param.name.clone(), component: component.into(), doc }
    };
    claim_params(&mut Namer::default(), params).into_iter().map(member).collect()
}

/// CUDA: whether a thread takes two cells of a row, whose populations of 16 bits are loaded and stored as one word. Loads that are
/// under way are what hides the latency of memory, and they are as many whether they bring 16 bits or 32.
pub fn in_pairs(manifest: &Manifest, role: Role) -> bool {
    let blocks = manifest.layout == Layout::Blocks && manifest.real == Real::F16F32 && manifest.moments.is_empty();
    let fits = manifest.block[0].is_multiple_of(2) && manifest.cells() as u32 / 2 <= FEW_THREADS;
    // Words of two cells have halves of their states.
    blocks
        && manifest.states.is_empty()
        && fits
        && matches!(role, Role::StreamCollide | Role::CollideOut | Role::CollideBack)
}

/// Whether the threads of a block exchange populations that they make of moments: where they gather those of all of its cells.
fn exchanges(manifest: &Manifest, role: Role) -> bool {
    let whole = role.gathers().is_some_and(|(_, sources)| sources.neighbours && !sources.ghosts && !sources.links);
    whole && !manifest.moments.is_empty()
}

/// CUDA: bytes of memory in which threads exchange populations: those of a block that move.
pub fn shared_bytes(manifest: &Manifest) -> usize {
    let moving = manifest.directions.iter().filter(|direction| direction.c != [0; 3]).count();
    moving * manifest.cells() * manifest.real.bytes()
}

/// CUDA: cells of a block and of the layer around it; along the third axis a plane has no layer.
pub fn tile(manifest: &Manifest) -> [u32; 3] {
    std::array::from_fn(|axis| manifest.block[axis] + if axis < manifest.dim as usize { 2 } else { 0 })
}

/// CUDA: whether a kernel computes what cells of a block and of the layer around it show, and collides, in one pass. Cells of that layer read
/// populations of the neighbouring blocks, so these must be two cells wide.
fn in_one_pass(manifest: &Manifest) -> bool {
    let [bx, by, bz] = manifest.block;
    let wide = bx.min(by) >= 2 && (manifest.dim == 2 || bz >= 2);
    let cells = manifest.cells() as u32;
    let tile = tile(manifest).iter().product::<u32>();
    let bytes = tile as usize * manifest.shown.len() * manifest.real.bytes();
    let gpu = manifest.target.is_gpu() && manifest.layout == Layout::Blocks;
    let fits = IN_ONE_PASS.contains(&cells) && tile - cells < MOST_AROUND * cells && bytes <= SHARED_BYTES as usize;
    gpu && !manifest.shown.is_empty() && manifest.moments.is_empty() && wide && fits
}

/// CUDA: threads of a thread block, and items that it works on; `threads` where whole blocks of cells fit.
fn shape(manifest: &Manifest, role: Role, threads: u32) -> (u32, u32) {
    let cells = manifest.cells() as u32;
    let items = (threads / cells).max(1);
    match role {
        // A thread for each cell of a block, which share what they make of moments.
        _ if exchanges(manifest, role) => (cells, 1),
        Role::ExposeStreamCollide => (cells, 1),
        Role::Collide => (THREADS, THREADS),
        Role::Force | Role::CheckFields | Role::Sums | Role::Slide => (THREADS, 1),
        Role::Means => (MANY_THREADS, 1),
        // Threads that run in step. The host takes none of these figures: its manifest is that of CUDA.
        Role::InterfaceMasks | Role::InterfaceCells => (manifest.target.lanes().max(Target::Cuda.lanes()), 1),
        Role::ReceiveAdjoint | Role::CrossAdjoint | Role::ReturnAdjoint => (INTERFACE_THREADS, INTERFACE_THREADS),
        Role::ToFine | Role::ToCoarse | Role::Refill => (INTERFACE_THREADS, INTERFACE_THREADS),
        Role::ToFineWalls | Role::ToCoarseWalls | Role::ExposeAcross => (THREADS, 1),
        Role::StreamCollideSolid | Role::StreamCollideInterfaceSolid => {
            // What solids send back is kept for each thread, beside a list of it, in memory that thread blocks share.
            let bytes = manifest.q() as u32 * (manifest.real.bytes() as u32 + 4);
            let most = (SHARED_BYTES / bytes).min(INTERFACE_THREADS);
            (cells.div_ceil(cells.div_ceil(most)), 1)
        }
        _ if in_pairs(manifest, role) => {
            let items = (FEW_THREADS / (cells / 2)).max(1);
            (items * cells / 2, items)
        }
        _ if cells > THREADS => (threads, 1),
        _ if cells > threads => (cells, 1),
        _ => (items * cells, items),
    }
}
