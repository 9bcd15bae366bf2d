//! In: a [`Model`] and [`Options`]. Out: a [`Bundle`] and a [`Report`] of what its kernels cost.
//!
//! Model ──[`plan`]──▶ [`Plans`] ──[`Plans::emit`]──▶ [`Compiled`]: the expensive half knows no options but the layout.
//!
//! After: the bundle is complete. Pure: files and clocks belong to the caller, who may watch the stages go by.

mod check;
mod error;
mod method;
mod plans;
mod report;

use lbm_bundle::{Bundle, Cost, File, Layout, Manifest, Role};
use lbm_dsl::expr::Rational;
use lbm_dsl::model::Model;
use lbm_dsl::prove;
use num_traits::Zero;
use plans::{Form, Kernels};

pub use check::{is_link_wise, sides_at_walls, sides_on_levels};
pub use error::CompileError;
pub use plans::Plans;
pub use report::{KernelReport, Report};

use crate::emit;
use crate::lower::{self, in_place, signature, stored};
use crate::options::Options;
use crate::rounding::{Rounding, States, rounding};

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

/// A finished compile.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the runtime loads and `lbmc gen` writes.
    pub bundle: Bundle,
    /// What it costs.
    pub report: Report,
}

/// Compiles a model.
pub fn compile(model: &Model, options: &Options) -> Result<Compiled, CompileError> {
    plan(model, options.layout, &mut |_| ())?.emit(options)
}

/// Plans the kernels of a model for a layout, and says when a stage is done, so that the caller can time it.
pub fn plan<'m>(model: &'m Model, layout: Layout, done: &mut dyn FnMut(Stage)) -> Result<Plans<'m>, CompileError> {
    check::speeds(model)?;
    let findings = prove::findings(model);
    done(Stage::Prove);

    let rest = stored_without(model, layout);
    let form = Form { model, rest: &rest };
    let lowered = form.lowered_cells();
    done(Stage::Lower);

    let simplified = Kernels::simplified(&lowered)?;
    done(Stage::Simplify);

    let kernels = Kernels::scheduled(&lowered, simplified);
    let (levels, solids, around) = (form.levels()?, form.solids()?, form.around()?);
    done(Stage::Schedule);
    Ok(Plans {
        model,
        layout,
        findings,
        kernels,
        levels,
        solids,
        around,
        rest,
        moments: None,
        derivatives: None,
        in_place: false,
    })
}

/// What populations are stored without: in blocks they are differences from rest, arrays of others hold them whole.
fn stored_without(model: &Model, layout: Layout) -> Vec<Rational> {
    match layout {
        Layout::Blocks => stored::rest(model),
        Layout::Soa => vec![Rational::zero(); model.q()],
    }
}

impl Plans<'_> {
    /// Text and signatures for one set of options.
    ///
    /// # Panics
    /// If these options have another layout than the plans.
    pub fn emit(&self, options: &Options) -> Result<Compiled, CompileError> {
        assert_eq!(options.layout, self.layout, "kernels of one layout");
        check::options(self, options)?;
        let manifest = self.manifest(options);
        check::shared(&manifest)?;
        let as_written = |role| self.of_role(role).naive;
        let method = self.method(options, &manifest, &as_written);
        let (source, extras) = (emit::source(&method), emit::extras(&method));
        let report = report::report(&manifest, self);
        Ok(Compiled { bundle: Bundle { manifest, source, extras }, report })
    }

    /// What is known of the errors of the collision in 32 bits, for some values of all parameters: `params[param][component]`.
    pub fn rounding(&self, params: &[Vec<f64>]) -> Rounding {
        let states = States::new(self.model, &self.rest, params);
        rounding(&states, self.kernels.collide.plan.dag(), &lower::collide(self.model))
    }

    fn manifest(&self, options: &Options) -> Manifest {
        let moments = self.moments.as_ref().map_or(&[][..], |own| &own.moments);
        let live = self.of_role(Role::Collide).plan.live();
        let cost = |role: Role| if role.is_arithmetic() { self.of_role(role).simplified } else { Cost::default() };
        let mut manifest = signature::manifest(self.model, options, &self.findings, &self.rest, moments, live, cost);
        if let Some(derivatives) = &self.derivatives {
            if let (Some(known), Some(at)) = (&mut manifest.coupling, options.coupling) {
                known.packets = lower::levels::shares(self.model, &self.model.couplings()[at]);
            }
            manifest.kernels.extend(match self.layout {
                Layout::Blocks => signature::derivatives(&manifest, derivatives.is_in_proportion(), cost),
                Layout::Soa => signature::soa::derivatives(&manifest, cost),
            });
        }
        if self.in_place {
            let rules_that = |works: in_place::Works| {
                let all = (0..manifest.boundaries.len()).filter(|rule| in_place::works(self.model, *rule) == works);
                all.map(|rule| rule as i32).collect()
            };
            manifest.in_place_rules = rules_that(in_place::Works::Everywhere);
            manifest.in_place_face_rules = rules_that(in_place::Works::OnFaces);
            manifest.kernels.extend(signature::in_place(&manifest, live, cost));
        }
        manifest
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
