//! Boundary rules: links and nodes.
//!
//! In: definitions whose names are in order. After: a link rule reads what the cell itself sends, or what a mirror would
//! return along the link; a node rule is expanded for a face, an edge and a corner, and in each defines every unknown
//! population and reads none.
//!
//! A node rule is expanded in the frame of the walls that meet at a cell: their inward normals are the first axes. Kernels
//! turn the frame to the walls at hand, which is possible only on lattices that look the same along all axes.

use crate::ast::{BoundaryDef, Item, Name};
use crate::check::build::Builder;
use crate::check::elaborate::{Elaborator, Eval};
use crate::check::formulas::formulas;
use crate::check::program::{Def, ModuleId};
use crate::check::value::{Dim, LatticeId, Tensor, Value};
use crate::diag::{Code, suggest};
use crate::expr::{ExprId, Symbol};
use crate::lattice::{Dir, Lattice};
use crate::model::{Boundary, NodeForm, Rule};
use crate::source::Span;

impl Builder<'_> {
    /// The boundary rules that the spec defines or chooses, and those chosen besides.
    pub(super) fn boundaries(&mut self) -> Vec<Boundary> {
        let mut boundaries = Vec::new();
        for item in self.work.program.spec() {
            let found = match item {
                Item::Boundary(def) => Some((ModuleId::SPEC, def)),
                Item::BoundaryChoice(name) => match self.work.program.find(ModuleId::SPEC, &name.text) {
                    Some((home, Def::Boundary(def))) => Some((home, def)),
                    Some((_, other)) => {
                        let label = format!("`{}` is {}, not a boundary condition", name.text, other.kind());
                        self.work.fault(Code::NameKind, name.span, label).ok()
                    }
                    None => {
                        let names = self.work.program.names(ModuleId::SPEC);
                        let otherwise = format!("import it: `use walls::{};`", name.text);
                        let hint = suggest::did_you_mean(&name.text, names, &otherwise);
                        self.work
                            .hinted(Code::Undefined, name.span, "there is no boundary condition of that name", hint)
                            .ok()
                    }
                },
                _ => None,
            };
            let Some((home, def)) = found else { continue };
            match item {
                Item::BoundaryChoice(name) if home != ModuleId::SPEC && one_set(&mut self.work, name).is_err() => {}
                _ => boundaries.extend(self.boundary_of(home, def)),
            }
        }
        for (home, def) in self.work.program.added() {
            let Def::Boundary(def) = def else { continue };
            // Nothing in the spec names it.
            let fits = self.work.inside(home, |work| one_set(work, &def.name));
            boundaries.extend(fits.and_then(|()| self.boundary_of(home, def)));
        }
        boundaries
    }

    fn boundary_of(&mut self, home: ModuleId, def: &BoundaryDef) -> Eval<Boundary> {
        let outer = std::mem::replace(&mut self.work.module, home);
        let boundary = self.boundary(def);
        self.work.module = outer;
        boundary
    }

    fn boundary(&mut self, def: &BoundaryDef) -> Eval<Boundary> {
        let outer_scope = std::mem::take(&mut self.work.scope);
        let outer_names = self.names.clone();
        self.populations(self.work.populations);
        let mut params = Vec::new();
        for param in &def.params {
            let at = params.len() as u16;
            params.push(self.param(param, &|component| Symbol::WallParam { param: at, component }));
        }
        let beyond = self.beyond(def, &outer_scope);
        let rule = if def.node { self.nodes(def).map(Rule::Node) } else { self.links(def).map(Rule::Link) };
        self.work.scope = outer_scope;
        self.names = outer_names;
        Ok(Boundary {
            name: def.name.text.clone(),
            params: params.into_iter().collect::<Eval<_>>()?,
            rule: rule?,
            beyond: beyond?,
            doc: def.doc.clone(),
        })
    }

    fn links(&mut self, def: &BoundaryDef) -> Eval<Vec<ExprId>> {
        self.given("mirrored", Symbol::Mirrored);
        let links = self.block(&def.block)?.outputs;
        if self.reads(&links, |symbol| matches!(symbol, Symbol::Mirrored(_))) {
            self.alone("`mirrored`", def)?;
            self.symmetric(def)?;
        }
        for (dir, link) in self.work.populations[0].lattice.dirs().zip(&links) {
            let other = self.reads(&[*link], |symbol| matches!(symbol, Symbol::Mirrored(other) if other != dir));
            if other {
                let label = "this reads `mirrored` of another direction than the one it defines";
                let hint = "a symmetry plane returns one population along each link: `mirrored[i]`";
                return self.work.hinted(Code::UnknownRead, span_of(def), label, hint);
            }
        }
        Ok(links)
    }

    /// Puts a family of symbols over the directions of `f` in scope.
    fn given(&mut self, name: &str, symbol: fn(Dir) -> Symbol) {
        let dirs = self.work.populations[0].lattice.dirs();
        let data = dirs.map(|dir| self.work.exprs.symbol(symbol(dir))).collect();
        let dims = vec![self.work.dirs(LatticeId(0))];
        self.work.scope.push((name.into(), Value::Tensor(Tensor { dims, data })));
    }

    /// Refuses what knows `f` alone where there are further populations.
    fn alone(&mut self, what: &str, def: &BoundaryDef) -> Eval<()> {
        let [_, other, ..] = self.work.populations else { return Ok(()) };
        let label = format!("{what} is of `f` alone, and this method has `{}` too", other.name);
        let hint = format!("write links of what leaves the cell: `link f[i] <- ...; link {}[i] <- ...;`", other.name);
        self.work.hinted(Code::OutputMissing, span_of(def), label, hint)
    }

    /// Refuses what is turned or mirrored on a lattice that is not the same along all axes.
    fn symmetric(&mut self, def: &BoundaryDef) -> Eval<()> {
        let lattice = &self.work.populations[0].lattice;
        if same_along_all_axes(lattice) {
            return Ok(());
        }
        let label = format!("{} changes when its axes are exchanged or reversed", lattice.name());
        self.work.fault(Code::Symmetry, def.name.span, label)
    }

    /// The forms of a node rule: face, edge, corner.
    fn nodes(&mut self, def: &BoundaryDef) -> Eval<Vec<NodeForm>> {
        self.alone("a wet-node boundary condition", def)?;
        self.symmetric(def)?;
        // Every form is looked at even if one is wrong; their faults are mostly the same and are reported once.
        let forms: Vec<Eval<NodeForm>> = (1..=self.work.axes()).map(|normals| self.node(def, normals)).collect();
        forms.into_iter().collect()
    }

    fn node(&mut self, def: &BoundaryDef, normals: usize) -> Eval<NodeForm> {
        let (scope, entries, names) = (self.work.scope.len(), self.entries.len(), self.names.clone());
        self.given("streamed", Symbol::Streamed);
        self.given("inside", Symbol::Inside);
        self.given("deep", Symbol::Deep);
        let set = &self.work.populations[0];
        let sent = set.lattice.dirs().map(|dir| self.work.exprs.symbol(Symbol::Population(set.pop(dir)))).collect();
        let dims = vec![self.work.dirs(LatticeId(0))];
        self.work.scope.push(("sent".into(), Value::Tensor(Tensor { dims, data: sent })));
        let dim = self.work.axes();
        let data = (0..dim).map(|axis| self.work.exprs.int(i64::from(axis < normals))).collect();
        self.work.scope.push(("n".into(), Value::Tensor(Tensor { dims: vec![Dim::Axes(dim)], data })));
        self.work.normals = Some(normals);
        let form = self.node_form(def, normals, entries);
        self.work.normals = None;
        self.work.scope.truncate(scope);
        self.entries.truncate(entries);
        self.names = names;
        form
    }

    fn node_form(&mut self, def: &BoundaryDef, normals: usize, entries: usize) -> Eval<NodeForm> {
        for item in &def.block.lets {
            self.binding(item);
        }
        let values = self.assigned(&def.block.assigns)?;
        let lattice = &self.work.populations[0].lattice;
        let unknown = |dir: Dir| !NodeForm::known(lattice.velocity(dir), normals);

        let place = match normals {
            1 => "at a wall".to_string(),
            2 => "where two walls meet".to_string(),
            _ => format!("where {normals} walls meet"),
        };
        let left: Vec<Dir> = lattice.dirs().filter(|dir| unknown(*dir) && values[dir.index()].is_none()).collect();
        if let Some(first) = left.first() {
            let velocity: Vec<String> = lattice.velocity(*first).iter().map(i32::to_string).collect();
            let rest = if left.len() > 1 { format!(" and {} more", left.len() - 1) } else { String::new() };
            let normal: Vec<&str> = (0..lattice.dim()).map(|axis| if axis < normals { "1" } else { "0" }).collect();
            let label = format!(
                "{place}, n = ({}), nothing defines the population of velocity ({}){rest}",
                normal.join(", "),
                velocity.join(", ")
            );
            return self.work.fault(Code::UnknownLeft, span_of(def), label);
        }

        let (dirs, outputs): (Vec<Dir>, Vec<ExprId>) =
            lattice.dirs().filter_map(|dir| Some((dir, values[dir.index()]?))).unzip();
        let not_there = |symbol| matches!(symbol, Symbol::Streamed(dir) if unknown(dir));
        if self.reads(&outputs, not_there) {
            let culprit = self.unknown_read(def, &not_there);
            let label = format!("{place}, this reads a population that nothing has brought yet");
            return self.work.fault(Code::UnknownRead, culprit, label);
        }
        Ok(NodeForm { normals, dirs, formulas: formulas(&self.work.exprs, &self.entries[entries..], &outputs) })
    }

    /// Where the first value that reads such a symbol is written.
    fn unknown_read(&self, def: &BoundaryDef, is: &dyn Fn(Symbol) -> bool) -> Span {
        let of_let = def.block.lets.iter().find(|item| {
            let value = self.work.scope.iter().rev().find(|(name, _)| *name == item.name.text).map(|(_, value)| value);
            match value {
                Some(Value::Number(id)) => self.reads(&[*id], is),
                Some(Value::Tensor(tensor)) => self.reads(&tensor.data, is),
                _ => false,
            }
        });
        of_let.map_or(span_of(def), |item| item.value.span)
    }

    pub(super) fn reads(&self, roots: &[ExprId], is: impl Fn(Symbol) -> bool) -> bool {
        self.work.exprs.symbols(roots).any(is)
    }
}

/// Refuses a rule of another module, which knows `f` alone, where there are further populations.
fn one_set(work: &mut Elaborator, name: &Name) -> Eval<()> {
    let [_, other, ..] = work.populations else { return Ok(()) };
    let label =
        format!("`{}` is a boundary condition for `f` alone, and this method has `{}` too", name.text, other.name);
    let hint = format!(
        "write a boundary condition in the spec: `boundary NAME {{ link f[i] <- ...; link {}[i] <- ...; }}`",
        other.name
    );
    work.hinted(Code::OutputMissing, name.span, label, hint)
}

/// The first assignment of a rule.
fn span_of(def: &BoundaryDef) -> Span {
    def.block.assigns.first().map_or(def.name.span, |assign| assign.span.to(assign.value.span))
}

/// Whether exchanging two axes or reversing one maps the velocities, with their weights, onto themselves.
fn same_along_all_axes(lattice: &Lattice) -> bool {
    let maps = |turn: &dyn Fn(&mut Vec<i32>)| {
        lattice.dirs().all(|dir| {
            let mut velocity = lattice.velocity(dir).to_vec();
            turn(&mut velocity);
            lattice.find(&velocity).is_some_and(|image| lattice.weight(image) == lattice.weight(dir))
        })
    };
    // Neighbouring exchanges generate all of them, and with them one reversal generates the others.
    maps(&|velocity| velocity[0] = -velocity[0])
        && (1..lattice.dim()).all(|axis| maps(&|velocity| velocity.swap(axis - 1, axis)))
}
