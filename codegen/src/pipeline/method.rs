//! What is printed: the plans of a method beside a manifest.

use lbm_bundle::{Manifest, Role};
use lbm_dsl::model::levels::{Exchange, PointSet, Stencil};
use lbm_dsl::model::{Boundary, NodeForm, Rule};

use super::plans::{Kernel, OfLink, Plans};
use crate::emit::{self, Method, Wall};
use crate::options::Options;

impl Plans<'_> {
    /// All of them that these options want.
    pub(super) fn method<'a>(
        &'a self,
        options: &Options,
        manifest: &'a Manifest,
        as_written: &'a dyn Fn(Role) -> lbm_bundle::Cost,
    ) -> Method<'a> {
        let moments = self.moments.as_ref();
        Method {
            manifest,
            name: self.model.name(),
            summary: self.model.summary(),
            as_written,
            collide: &self.of_role(Role::Collide).plan,
            moments: moments.map(|own| emit::Moments { populations: &own.populations.plan }),
            init: &self.kernels.init.plan,
            macroscopic: &self.kernels.macroscopic.plan,
            derivatives: self.derivatives.as_ref().map(|own| emit::Derivatives {
                tangent: &own.tangent.plan,
                adjoint: &own.adjoint.plan,
                adjoint_parameters: &own.adjoint_parameters.plan,
                of_fields: &own.of_fields.plan,
                links: own.links.iter().map(|rule| rule.iter().map(OfLink::view).collect()).collect(),
            }),
            walls: self.walls(&self.kernels.walls),
            around: self.around.as_ref().map(|around| emit::Around {
                expose: &around.expose.plan,
                expose_stored: &around.expose_stored.plan,
                beyond: around.beyond.iter().map(|kernel| &kernel.plan).collect(),
            }),
            interface: options.coupling.map(|coupling| self.interface(coupling)),
            turned: self.solids.iter().map(|rule| rule.as_ref().map(|kernel| &kernel.plan)).collect(),
        }
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

impl OfLink {
    fn view(&self) -> emit::OfLink<'_> {
        emit::OfLink {
            by: &self.by,
            plan: &self.kernel.plan,
            streamed: self.streamed.as_ref().map(|kernel| &kernel.plan),
        }
    }
}
