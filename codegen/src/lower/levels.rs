//! Kernels at the interface between two levels of refinement: slopes, couplings. `lbm_dsl::model::levels` has what
//! they mean and when they run.

use std::collections::BTreeSet;

use lbm_bundle as bundle;
use lbm_dsl::expr::{Expr, ExprId, Exprs, LevelSymbol, Pop, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, PointSet, Stencil, Target, Transfer};
use lbm_dsl::model::{Formulas, Model};
use num_traits::{Signed, ToPrimitive};

use super::{lower, lower_in, numbered};
use crate::ir::{KernelIr, Output};

/// Samples of what packets carry that are compared with sums of shares.
const SAMPLES: u32 = 8;

/// Every kernel of the stencils and couplings that the model chooses.
pub fn kernels(model: &Model) -> Vec<KernelIr> {
    let stencils = model.stencils().iter().flat_map(slopes);
    let couplings = model.couplings().iter().flat_map(|coupling| of_coupling(model, coupling));
    stencils.chain(couplings).collect()
}

fn of_coupling(model: &Model, coupling: &Coupling) -> Vec<KernelIr> {
    let crossing: Vec<KernelIr> = match coupling.exchange() {
        Exchange::Packets { values } => {
            let Packets { shared, packets } = all_packets(model, coupling, values);
            shared.into_iter().chain(packets).collect()
        }
        Exchange::Ghosts { .. } => rescaled(model, coupling).into_iter().flatten().collect(),
    };
    crossing.into_iter().chain(transfer(model, coupling)).collect()
}

/// The packets of a cell.
pub struct Packets {
    /// `shared_<coupling>`: what those of several populations are made of, `shared_0` and so on, if there is such.
    pub shared: Option<KernelIr>,
    /// For each population, its packets from that.
    pub packets: Vec<KernelIr>,
}

/// The packets of all populations, with what reads the slopes of several computed once. None for a coupling of ghosts.
pub fn packets(model: &Model, coupling: &Coupling) -> Option<Packets> {
    match coupling.exchange() {
        Exchange::Packets { values } => Some(all_packets(model, coupling, values)),
        Exchange::Ghosts { .. } => None,
    }
}

/// The packets of a population from populations and slopes alone. None for a coupling of ghosts.
pub fn packets_of(model: &Model, coupling: &Coupling, pop: usize) -> Option<KernelIr> {
    let Exchange::Packets { values } = coupling.exchange() else { return None };
    let children = 1usize << model.lattice().dim();
    packets_in(model, coupling, model.exprs(), &values[pop * children..(pop + 1) * children], pop)
}

fn all_packets(model: &Model, coupling: &Coupling, values: &[ExprId]) -> Packets {
    let children = 1usize << model.lattice().dim();
    let shared = shared(model.exprs(), values, children);
    let mut exprs = Exprs::new();
    let new =
        model.exprs().rewrite(values, &mut exprs, |to, id, node| match shared.iter().position(|other| *other == id) {
            Some(number) => to.symbol(Symbol::Level(LevelSymbol::Shared(number as u16))),
            None => to.add(node),
        });
    let packet = |pop: usize| {
        let values: Vec<ExprId> =
            values[pop * children..(pop + 1) * children].iter().map(|value| new[*value]).collect();
        packets_in(model, coupling, &exprs, &values, pop)
    };
    let packets = (0..model.q()).filter_map(packet).collect();
    let shared = (!shared.is_empty()).then(|| {
        let outputs = numbered("shared", shared.len());
        let formulas = Formulas { lets: Vec::new(), outputs: shared };
        lower(model, &format!("shared_{}", coupling.name()), &formulas, outputs, &[])
    });
    Packets { shared, packets }
}

/// What packets are made of. None of a coupling of ghosts, and of packets that are no sums of populations and slopes, each times a number to which
/// each packet of the cell adds by its kind.
pub fn shares(model: &Model, coupling: &Coupling) -> Option<bundle::Packets> {
    let Exchange::Packets { values } = coupling.exchange() else { return None };
    let children = 1usize << model.lattice().dim();
    let shares = values.chunks(children).map(|values| shares_of(model.exprs(), values)).collect::<Option<_>>()?;
    let set = |set: &PointSet| {
        let weights = set.weights().iter().map(|weight| weight.to_f64().unwrap_or(f64::NAN));
        set.points().iter().copied().zip(weights).collect()
    };
    let stencils = model.stencils().iter().map(|stencil| stencil.sets().iter().map(set).collect()).collect();
    Some(bundle::Packets { shares, stencils })
}

/// What the packets of a population are made of.
fn shares_of(exprs: &Exprs, values: &[ExprId]) -> Option<Vec<Vec<bundle::Share>>> {
    let (exprs, new) = exprs.subgraph(values);
    let values: Vec<ExprId> = values.iter().map(|value| new[*value]).collect();
    let is_kind = |symbol: &Symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. }));
    let read: Vec<Symbol> = exprs.symbols(&values).filter(|symbol| !is_kind(symbol)).collect();
    let of_kinds = |kinds: &[u32], given: &dyn Fn(Symbol) -> f64| {
        exprs.eval::<f64>(&values, |symbol| match symbol {
            Symbol::Level(LevelSymbol::Kind { child }) => f64::from(kinds[usize::from(child)]),
            symbol => given(symbol),
        })
    };
    let mut shares = vec![vec![]; values.len()];
    for symbol in &read {
        let (population, slope) = match *symbol {
            Symbol::Population(pop) => (pop.index() as u32, None),
            Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) => {
                (pop.index() as u32, Some((stencil.into(), axis.into())))
            }
            _ => return None,
        };
        let alone = |kinds: &[u32]| of_kinds(kinds, &|other| if other == *symbol { 1.0 } else { 0.0 });
        let mut kinds = vec![0; values.len()];
        let factors = alone(&kinds);
        let mut more = vec![vec![]; values.len()];
        for (child, kind) in (0..values.len()).flat_map(|child| [(child, 1), (child, 2)]) {
            kinds[child] = kind;
            for (more, (value, factor)) in more.iter_mut().zip(alone(&kinds).into_iter().zip(&factors)) {
                more.extend((value != *factor).then(|| (child as u32, kind, value - factor)));
            }
            kinds[child] = 0;
        }
        for (shares, (factor, more)) in shares.iter_mut().zip(factors.into_iter().zip(more)) {
            if factor != 0.0 || !more.is_empty() {
                shares.push(bundle::Share { population, slope, factor, more });
            }
        }
    }
    // The sums are what packets carry, whatever their kinds are.
    let sums = (0..SAMPLES).all(|sample| {
        let number =
            |at: usize| ((at + 1) as f64 * 0.618_033_988_749_895 + f64::from(sample) * 0.754_877_666_246_693).fract();
        let kinds: Vec<u32> = (0..values.len()).map(|child| (3.0 * number(child)) as u32).collect();
        let given = |symbol: Symbol| read.iter().position(|other| *other == symbol).map_or(f64::NAN, number);
        let carried = of_kinds(&kinds, &given);
        carried.iter().zip(&shares).all(|(carried, shares)| {
            let of = |share: &bundle::Share| {
                let pop = Pop(share.population as u16);
                let symbol = match share.slope {
                    None => Symbol::Population(pop),
                    Some((stencil, axis)) => {
                        Symbol::Level(LevelSymbol::Slope { stencil: stencil as u8, axis: axis as u8, pop })
                    }
                };
                share.of(&kinds) * given(symbol)
            };
            (shares.iter().map(of).sum::<f64>() - carried).abs() < 1e-12
        })
    });
    sums.then_some(shares)
}

/// `packet_<coupling>_<population>`: what the `2^dim` packets of a population carry, `packet_0` and so on.
fn packets_in(model: &Model, coupling: &Coupling, exprs: &Exprs, values: &[ExprId], pop: usize) -> Option<KernelIr> {
    let (_, set, dir) = model.pops().nth(pop)?;
    let (exprs, outputs) = shared_kinds(exprs, values, set.lattice.velocity(dir));
    let name = format!("packet_{}_{}", coupling.name(), model.pop_names()[pop]);
    let formulas = Formulas { lets: Vec::new(), outputs };
    let kernel = lower_in(model, &exprs, &name, &formulas, numbered("packet", values.len()), &[]);
    Some(kernel.giving(std::iter::repeat(set.pop(dir))))
}

/// What is computed once in a cell: of the formulas that occur in the packets of several populations, read slopes and know nothing
/// of kinds, those that are not made of others of them and that do not occur in a larger one wherever they do.
fn shared(exprs: &Exprs, values: &[ExprId], children: usize) -> Vec<ExprId> {
    // For each node, in the packets of which populations it occurs.
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); exprs.len()];
    for (pop, values) in values.chunks(children).enumerate() {
        let needed = exprs.needed(values);
        of.iter_mut().zip(needed).filter(|(_, needed)| *needed).for_each(|(of, _)| of.push(pop));
    }
    let mut ends = vec![false; exprs.len()];
    values.iter().for_each(|value| ends[value.index()] = true);
    let kinds = depending(exprs, |symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. })));
    let slopes = depending(exprs, |symbol| matches!(symbol, Symbol::Level(LevelSymbol::Slope { .. })));
    let fits = |id: ExprId| of[id.index()].len() > 1 && slopes[id.index()] && !kinds[id.index()];
    for (id, node) in exprs.iter().filter(|(id, _)| !of[id.index()].is_empty()) {
        for operand in node.operands() {
            ends[operand.index()] |= !fits(id) || of[id.index()] != of[operand.index()];
        }
    }
    // Whether a node reads slopes but through what is shared.
    let (mut reads, mut found) = (vec![false; exprs.len()], Vec::new());
    for (id, node) in exprs.iter().filter(|(id, _)| slopes[id.index()] && !of[id.index()].is_empty()) {
        let is_symbol = matches!(node, Expr::Symbol(_));
        reads[id.index()] = is_symbol || node.operands().iter().any(|operand| reads[operand.index()]);
        if reads[id.index()] && !is_symbol && fits(id) && ends[id.index()] {
            found.push(id);
            reads[id.index()] = false;
        }
    }
    found
}

/// For each expression, whether it depends on such a symbol.
fn depending(exprs: &Exprs, is: impl Fn(&Symbol) -> bool) -> Vec<bool> {
    let mut depends: Vec<bool> = Vec::with_capacity(exprs.len());
    for (_, node) in exprs.iter() {
        let own = matches!(node, Expr::Symbol(symbol) if is(symbol));
        depends.push(own || node.operands().iter().any(|operand| depends[operand.index()]));
    }
    depends
}

/// The same values with fewer kinds: packets that enter the same coarse cell in their first step are of one kind, for which that of
/// the first child stands.
fn shared_kinds(exprs: &Exprs, values: &[ExprId], velocity: &[i32]) -> (Exprs, Vec<ExprId>) {
    let crossed = velocity.iter().enumerate().fold(0u8, |bits, (axis, c)| bits | u8::from(*c != 0) << axis);
    let mut to = Exprs::new();
    let new = exprs.substitute(values, &mut to, |to, symbol| match symbol {
        Symbol::Level(LevelSymbol::Kind { child }) => {
            Some(to.symbol(Symbol::Level(LevelSymbol::Kind { child: child & crossed })))
        }
        _ => None,
    });
    (to, values.iter().map(|value| new[*value]).collect())
}

/// Positions of the stencils whose slopes such values read, ascending.
pub fn sampled(model: &Model, values: &[ExprId]) -> Vec<usize> {
    let stencil = |symbol| match symbol {
        Symbol::Level(LevelSymbol::Slope { stencil, .. }) => Some(stencil.into()),
        _ => None,
    };
    let all: BTreeSet<usize> = model.exprs().symbols(values).filter_map(stencil).collect();
    all.into_iter().collect()
}

/// `fine_<coupling>` or `coarse_<coupling>`: the populations of one cell that are interpolated to ghosts, or averaged.
fn sent(model: &Model, coupling: &Coupling, way: &str, formulas: &Formulas) -> KernelIr {
    let kernel = lower(model, &format!("{way}_{}", coupling.name()), formulas, numbered("sent", model.q()), &[]);
    kernel.giving(model.values())
}

/// `fine_<coupling>` and `coarse_<coupling>` of a coupling of ghosts.
pub fn rescaled(model: &Model, coupling: &Coupling) -> Option<[KernelIr; 2]> {
    let Exchange::Ghosts { fine, coarse, .. } = coupling.exchange() else { return None };
    Some([("fine", fine), ("coarse", coarse)].map(|(way, formulas)| sent(model, coupling, way, formulas)))
}

/// `refine_<coupling>`: the populations of a child of a cell, `child_0` and so on; and `coarsen_<coupling>`: those of the cell that
/// takes the place of its children, `parent_0` and so on.
pub fn transfer(model: &Model, coupling: &Coupling) -> [KernelIr; 2] {
    let Transfer { refine, coarsen } = coupling.transfer();
    [("refine", "child", refine), ("coarsen", "parent", coarsen)].map(|(what, made, formulas)| {
        let name = format!("{what}_{}", coupling.name());
        let kernel = lower(model, &name, formulas, numbered(made, model.q()), &[]);
        kernel.giving(model.values())
    })
}

/// `stencil_<name>_<set>` of a derivative, for each set of points: its value from samples that are numbered like them. None of other
/// stencils: what these give is summed up by weight.
pub fn slopes(stencil: &Stencil) -> Vec<KernelIr> {
    let slope = |(number, set): (usize, &PointSet)| {
        let mut exprs = Exprs::new();
        let symbol = |at: usize| Symbol::Level(LevelSymbol::Sample(at as u16));
        let terms: Vec<_> =
            set.weights().iter().enumerate().map(|(at, weight)| (weight.clone(), exprs.symbol(symbol(at)))).collect();
        let value = weighted(&mut exprs, &terms);
        KernelIr {
            name: format!("stencil_{}_{number}", stencil.name()),
            exprs,
            lets: Vec::new(),
            outputs: vec![Output { name: "out".into(), value, population: None }],
            symbols: (0..terms.len()).map(|at| (symbol(at), format!("v_{at}"))).collect(),
        }
    };
    match stencil.target() {
        Target::Derivative(_) => stencil.sets().iter().enumerate().map(slope).collect(),
        Target::Value(_) | Target::Mean(..) => Vec::new(),
    }
}

/// A sum of products with constants: those with positive constants first, so that none starts with a negation.
fn weighted(exprs: &mut Exprs, terms: &[(Rational, ExprId)]) -> ExprId {
    let (positive, negative): (Vec<_>, Vec<_>) = terms.iter().partition(|(weight, _)| weight.is_positive());
    let mut total = exprs.int(0);
    for (weight, value) in positive {
        let weight = exprs.constant(weight.clone());
        let product = exprs.times(weight, *value);
        total = exprs.plus(total, product);
    }
    for (weight, value) in negative {
        let size = exprs.constant(weight.abs());
        let product = exprs.times(size, *value);
        total = exprs.minus(total, product);
    }
    total
}
