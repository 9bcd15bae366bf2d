//! The arithmetic of a method's kernels, in its final order: what no option changes but the layout.

use lbm_bundle::{Cost, DISTANCE, Layout, Role};
use lbm_dsl::expr::{Expr, ExprId, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Stencil};
use lbm_dsl::model::{Boundary, Model, Param, Rule};
use lbm_dsl::prove::Findings;
use lbm_dsl::prove::moments::{self, Moment};
use num_traits::Zero;
use rayon::prelude::*;

use super::error::CompileError;
use crate::count::count;
use crate::derive;
use crate::ir::{Dag, KernelIr, Output, Plan};
use crate::lower::signature::{exposes, is_adjoint};
use crate::lower::{self, stored};
use crate::schedule::schedule;
use crate::simplify::{TooLarge, fuse, simplify, simplify_in_phases};

/// One kernel before and after simplification.
pub struct Kernel {
    /// Its cost as the spec says it.
    pub naive: Cost,
    /// Its cost as it is emitted.
    pub simplified: Cost,
    /// The arithmetic in its final order.
    pub plan: Plan,
}

/// The kernels of a cell, and those of boundary rules.
pub struct Kernels {
    pub collide: Kernel,
    pub init: Kernel,
    pub macroscopic: Kernel,
    /// A kernel for each rule of links, and one for each form of a rule of nodes, in the order of the rules.
    pub walls: Vec<Kernel>,
}

/// What no option changes but the layout: the arithmetic of every kernel in its final order, and what is known of it. One is
/// enough for all targets, real types and blocks.
pub struct Plans<'m> {
    pub(super) model: &'m Model,
    pub(super) layout: Layout,
    /// What the populations are stored without, one after the other.
    pub(super) rest: Vec<Rational>,
    pub(super) findings: Findings,
    pub(super) kernels: Kernels,
    pub(super) levels: Levels,
    /// What cells read of those around them, if they do.
    pub(super) around: Option<Around>,
    /// For each boundary rule, that of nodes as one of links on surfaces of solids, if it fits.
    pub(super) solids: Vec<Option<Kernel>>,
    /// Moments that are stored in the place of populations, if they are.
    pub(super) moments: Option<InMoments>,
    /// The derivatives of the collision, if they are wanted.
    pub(super) derivatives: Option<Derivatives>,
    /// Whether there are kernels for steps in the only set of populations.
    pub(super) in_place: bool,
}

/// The arithmetic of what cells show to those around them.
pub struct Around {
    /// What a cell shows, from its populations before a collision; from those after it.
    pub expose: Kernel,
    pub expose_stored: Kernel,
    /// For each boundary rule, what is beyond the wall.
    pub beyond: Vec<Kernel>,
}

/// The arithmetic of moments that are stored in the place of populations.
pub struct InMoments {
    /// Which.
    pub moments: Vec<Moment>,
    /// Moments after a collision, from moments before it.
    pub relax: Kernel,
    /// Populations after a collision, from moments after it.
    pub populations: Kernel,
}

/// The arithmetic of the derivatives of a collision.
pub struct Derivatives {
    pub tangent: Kernel,
    /// Derivatives by populations alone, and those by parameters with them.
    pub adjoint: Kernel,
    pub adjoint_parameters: Kernel,
    /// Derivatives by populations and by parameters, from those by fields.
    pub of_fields: Kernel,
    /// Of each boundary rule, for each direction: what is derived by, and derivatives by that. Nothing on plain arrays.
    pub links: Vec<Vec<OfLink>>,
}

impl Derivatives {
    /// Whether all that walls send is in proportion to populations, whatever the values of the wall: then derivatives depend on neither of the
    /// step.
    pub(super) fn is_in_proportion(&self) -> bool {
        let reads = |link: &OfLink| {
            let symbols = link.kernel.plan.dag().symbols();
            symbols.iter().any(|(symbol, _)| matches!(symbol, Symbol::Population(_) | Symbol::WallParam { .. }))
        };
        !self.links.iter().flatten().any(reads)
    }
}

/// The arithmetic of derivatives by all that a wall makes of something that it sends along a direction.
pub struct OfLink {
    /// Populations of the cell, and values of the wall.
    pub by: Vec<Symbol>,
    pub kernel: Kernel,
    /// The derivative by what arrives in the cell along the opposite direction, if the rule reads it.
    pub streamed: Option<Kernel>,
}

/// The arithmetic at refinement interfaces.
pub struct Levels {
    /// For each coupling of packets, what those of each population carry; nothing for one of ghosts.
    pub packets: Vec<Vec<Kernel>>,
    /// For each coupling of packets, what those of several populations are made of, if there is such.
    pub shared: Vec<Option<Kernel>>,
    /// For each coupling of ghosts, what is interpolated and what is averaged.
    pub rescaled: Vec<Option<[Kernel; 2]>>,
    /// For each coupling, what the children of a refined cell have, and what a cell has that takes the place of its children.
    pub transfer: Vec<[Kernel; 2]>,
    /// For each stencil, its sets of points if it gives a slope.
    pub stencils: Vec<Vec<Kernel>>,
}

/// What kernels are stated in.
pub struct Form<'a> {
    pub model: &'a Model,
    /// What populations are stored without.
    pub rest: &'a [Rational],
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
    pub fn all_finished(&self, kernels: impl IntoIterator<Item = KernelIr>) -> Result<Vec<Kernel>, CompileError> {
        let lowered: Vec<_> = kernels.into_iter().map(|kernel| self.lowered(kernel, &[])).collect();
        lowered.into_par_iter().map(|(naive, ir)| Ok(scheduled(naive, simplify(&ir)?))).collect()
    }

    /// What a step, a start and a look at a cell compute, and what boundary rules do, before simplification.
    pub fn lowered_cells(&self) -> Vec<(Cost, KernelIr)> {
        let model = self.model;
        let cells = [lower::collide(model), lower::init(model), lower::macroscopic(model)];
        let cells = cells.into_iter().map(|kernel| self.lowered(kernel, &[]));
        let walls = model.boundaries().iter().enumerate().flat_map(|(rule, boundary)| {
            lower::wall(model, rule).into_iter().map(|kernel| self.lowered(kernel, &boundary.params))
        });
        cells.chain(walls).collect()
    }

    /// For each boundary rule of nodes that fits, itself as one of links on surfaces of solids.
    pub fn solids(&self) -> Result<Vec<Option<Kernel>>, CompileError> {
        let boundaries = self.model.boundaries().iter().enumerate();
        let turned = boundaries.map(|(rule, boundary)| {
            let turned = lower::solids::turned(self.model, rule);
            turned.map(|kernel| self.finished(kernel, &boundary.params)).transpose()
        });
        turned.collect()
    }

    /// What cells show to those around them, if they do.
    pub fn around(&self) -> Result<Option<Around>, CompileError> {
        if self.model.shown().is_empty() {
            return Ok(None);
        }
        let boundaries = self.model.boundaries().iter().enumerate();
        let beyond =
            boundaries.map(|(rule, boundary)| self.finished(lower::beyond(self.model, rule), &boundary.params));
        let expose = self.finished(lower::expose(self.model), &[])?;
        let expose_stored = self.finished(lower::expose_stored(self.model), &[])?;
        Ok(Some(Around { expose, expose_stored, beyond: beyond.collect::<Result<_, _>>()? }))
    }

    /// What crosses interfaces of levels, by all couplings and stencils.
    pub fn levels(&self) -> Result<Levels, CompileError> {
        let model = self.model;
        let crossing: Vec<_> =
            model.couplings().iter().map(|coupling| lower::levels::packets(model, coupling)).collect();
        let (mut packets, mut shared) = (Vec::new(), Vec::new());
        for found in crossing {
            let (own, of_all) = found.map_or_else(Default::default, |found| (found.packets, found.shared));
            packets.push(self.all_finished(own)?);
            shared.push(of_all.map(|kernel| self.finished(kernel, &[])).transpose()?);
        }
        // Weights of samples sum to one, or to zero for slopes: a stencil makes of stored values what it makes of whole ones, stored.
        let of_stencil = |stencil: &Stencil| self.all_finished(lower::levels::slopes(stencil));
        let both = |kernels: [KernelIr; 2]| {
            let both: Result<[Kernel; 2], _> = self.all_finished(kernels)?.try_into();
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
}

impl Kernels {
    /// Simplifies what was lowered. The collision is what every step of every cell is made of.
    pub fn simplified(lowered: &[(Cost, KernelIr)]) -> Result<Vec<Dag>, TooLarge> {
        let simplified =
            |(at, (_, ir)): (usize, &(Cost, KernelIr))| if at == 0 { simplify_in_phases(ir) } else { simplify(ir) };
        lowered.par_iter().enumerate().map(simplified).collect()
    }

    /// Puts what was simplified into order.
    pub fn scheduled(lowered: &[(Cost, KernelIr)], dags: Vec<Dag>) -> Kernels {
        let mut all = lowered.iter().zip(dags).map(|((naive, _), dag)| scheduled(*naive, dag));
        let mut next = || all.next().expect("a kernel for each that was lowered");
        let (collide, init, macroscopic) = (next(), next(), next());
        Kernels { collide, init, macroscopic, walls: all.collect() }
    }
}

fn scheduled(naive: Cost, dag: Dag) -> Kernel {
    Kernel { naive, simplified: count(dag.exprs(), &values(dag.outputs())), plan: schedule(dag.trimmed()) }
}

/// A kernel that is made of a simplified one.
fn derived(kernel: KernelIr) -> Result<Kernel, CompileError> {
    let naive = count(&kernel.exprs, &values(&kernel.outputs));
    Ok(scheduled(naive, fuse(&kernel)?))
}

/// The components of all fields, observables that are asked for behind those of the method.
fn fields(model: &Model) -> Vec<Symbol> {
    let components = model.fields().iter().map(|field| field.components.len());
    let components = components.chain(model.asked().iter().map(|found| found.components.len()));
    let of_field = |(field, count): (u16, usize)| {
        (0..count).map(move |component| Symbol::Field { field, component: component as u8 })
    };
    (0..).zip(components).flat_map(of_field).collect()
}

fn values(outputs: &[Output]) -> Vec<ExprId> {
    outputs.iter().map(|output| output.value).collect()
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

    /// The same with the tangent and the adjoint of a step.
    pub fn with_adjoint(mut self) -> Result<Self, CompileError> {
        if let Some(shown) = self.model.shown().first() {
            return Err(CompileError::NoAdjoint(shown.name.clone()));
        }
        if self.moments.is_some() {
            return Err(CompileError::AdjointOfMoments);
        }
        // What a kernel in phases computes again, for want of registers, would be derived again.
        let collide = self.kernels.collide.plan.dag();
        let in_phases = collide.exprs().iter().any(|(_, node)| matches!(node, Expr::Again(_)));
        let form = Form { model: self.model, rest: &self.rest };
        let collide = if in_phases { &simplify(&form.lowered(lower::collide(self.model), &[]).1)? } else { collide };
        let params = lower::params(self.model);
        let links = match self.layout {
            Layout::Blocks => self.links_backwards()?,
            Layout::Soa => vec![],
        };
        self.derivatives = Some(Derivatives {
            tangent: derived(derive::tangent(collide))?,
            adjoint: derived(derive::adjoint(collide, &[]))?,
            adjoint_parameters: derived(derive::adjoint(collide, &params))?,
            of_fields: derived(derive::of_fields(
                self.kernels.macroscopic.plan.dag(),
                &fields(self.model),
                self.model.q(),
                &params,
            ))?,
            links,
        });
        Ok(self)
    }

    /// The same with kernels for steps in the only set of populations.
    pub fn in_place(mut self) -> Result<Self, CompileError> {
        if let Some(shown) = self.model.shown().first() {
            return Err(CompileError::InPlace(format!("cells read `{}` of their neighbours", shown.name)));
        }
        if self.moments.is_some() {
            return Err(CompileError::InPlace("moments are stored in the place of populations".into()));
        }
        if self.layout == Layout::Soa {
            return Err(CompileError::InPlace("it is compiled for plain arrays".into()));
        }
        self.in_place = true;
        Ok(self)
    }

    /// Of each boundary rule, for each direction, derivatives by what it makes of it; nothing of a mirror. A rule of nodes is taken as one of links on surfaces of
    /// solids, whose distance is that of the link.
    fn links_backwards(&self) -> Result<Vec<Vec<OfLink>>, CompileError> {
        let mut kernels = self.kernels.walls.iter();
        let of_rule = |(rule, (boundary, turned)): (usize, (&Boundary, &Option<Kernel>))| {
            let refused = || CompileError::AdjointOfRule(boundary.name.clone());
            let is_distance = |param: u16| boundary.params[usize::from(param)].name == DISTANCE;
            let (kernel, turned) = match &boundary.rule {
                Rule::Link(_) => (kernels.next(), false),
                Rule::Node(forms) => {
                    let _ = kernels.nth(forms.len().saturating_sub(1));
                    (turned.as_ref(), true)
                }
            };
            // What a mirror sends is of another cell, and is streamed.
            if lower::solids::is_mirror(self.model, rule) {
                return Ok(vec![]);
            }
            let local = |symbol: &(Symbol, String)| match symbol.0 {
                Symbol::Population(_) => true,
                Symbol::Streamed(_) => turned,
                Symbol::WallParam { param, .. } => turned || !is_distance(param),
                _ => false,
            };
            let dag = kernel.map(|kernel| kernel.plan.dag()).filter(|dag| dag.symbols().iter().all(local));
            let dag = dag.ok_or_else(refused)?;
            let streams = |symbol: Symbol| matches!(symbol, Symbol::Streamed(_));
            let own = |symbol: Symbol| match symbol {
                Symbol::WallParam { param, .. } => !is_distance(param),
                symbol => !streams(symbol),
            };
            let link = |at: usize| {
                let (by, kernel) = derive::of_link(dag, at, own);
                let (from, streamed) = derive::of_link(dag, at, streams);
                // Derivatives are taken without what arrives.
                let reads = |kernel: &KernelIr| kernel.symbols.iter().any(|(symbol, _)| streams(*symbol));
                if reads(&kernel) || reads(&streamed) {
                    return Err(refused());
                }
                let streamed = (!from.is_empty()).then(|| derived(streamed)).transpose()?;
                Ok(OfLink { by, kernel: derived(kernel)?, streamed })
            };
            (0..dag.outputs().len()).into_par_iter().map(link).collect::<Result<Vec<_>, CompileError>>()
        };
        self.model.boundaries().iter().zip(&self.solids).enumerate().map(of_rule).collect()
    }

    /// The kernel of a role.
    pub(super) fn of_role(&self, role: Role) -> &Kernel {
        match (role, &self.derivatives) {
            (Role::StreamCollideTangent, Some(own)) => return &own.tangent,
            (Role::StreamCollideAdjoint, Some(own)) => return &own.adjoint,
            (Role::StreamCollideAdjointParameters, Some(own)) => return &own.adjoint_parameters,
            (Role::MacroscopicAdjoint, Some(own)) => return &own.of_fields,
            (role, Some(own)) if is_adjoint(role) => return &own.adjoint_parameters,
            _ => {}
        }
        match (role, &self.around) {
            (Role::ExposeStored, Some(around)) => &around.expose_stored,
            (role, Some(around)) if exposes(role) => &around.expose,
            (Role::Init, _) => &self.kernels.init,
            (Role::Macroscopic, _) => &self.kernels.macroscopic,
            _ => self.moments.as_ref().map_or(&self.kernels.collide, |own| &own.relax),
        }
    }

    /// All kernels that may be emitted.
    pub(super) fn all(&self) -> impl Iterator<Item = &Kernel> {
        let Kernels { collide, init, macroscopic, walls } = &self.kernels;
        let Levels { packets, shared, rescaled, transfer, stencils } = &self.levels;
        let levels = packets.iter().chain(stencils).flatten().chain(rescaled.iter().flatten().flatten());
        let levels = levels.chain(transfer.iter().flatten()).chain(shared.iter().flatten());
        let moments = self.moments.iter().flat_map(|own| [&own.relax, &own.populations]);
        let moments = moments.chain(
            self.around.iter().flat_map(|around| around.beyond.iter().chain([&around.expose, &around.expose_stored])),
        );
        let cells = [collide, init, macroscopic].into_iter().chain(walls);
        let derivatives = self.derivatives.iter().flat_map(|own| {
            let links = own.links.iter().flatten().map(|link| &link.kernel);
            [&own.tangent, &own.adjoint, &own.adjoint_parameters, &own.of_fields].into_iter().chain(links)
        });
        cells.chain(levels).chain(self.solids.iter().flatten()).chain(moments).chain(derivatives)
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
        for name in ["d2q9_central", "d2q9_hybrid", "d3q19_recursive", "d3q27_cumulant", "d3q27_central"] {
            let source = Source::new(name, shipped::spec(name).expect("shipped"));
            let model = lbm_dsl::compile(&source, &Prelude).expect("valid");
            let found = stored(&model).expect("few moments");
            let kernels = [relax(&model, &found), populations(&model, &found)];
            let [simple, back] = kernels.each_ref().map(|kernel| simplify(kernel).expect("small"));
            let number = |value: &Rational| value.to_f64().expect("a number");
            let weights = model.weights();
            let near_rest = (0..).zip(&weights).map(|(pop, w)| number(w) * (1.0 + 0.1 * f64::sin(pop as f64)));
            let before: Vec<f64> = near_rest.chain((0..model.states().len()).map(|at| 0.1 * at as f64)).collect();
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
