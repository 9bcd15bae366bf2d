//! What a method carries beside mass and momentum: a temperature, a concentration; and what solids give of it to the fluid.

use lbm_bundle::Manifest;

/// A scalar that populations of their own carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Name of the field, or of the populations where no field is their sum.
    pub name: String,
    /// Position of its populations in the manifest.
    pub set: usize,
    /// Position of the field among the components of the method's fields, if there is one.
    pub component: Option<usize>,
    /// The parameter `p` with which the diffusivity is `cs2 (1 / p - 1/2)`, and `cs2`; none where it follows from more than that.
    pub rate: Option<(String, f64)>,
}

impl Scalar {
    /// All that a method carries.
    pub(super) fn all(manifest: &Manifest) -> Vec<Scalar> {
        let names = manifest.component_names();
        let scalar = |(set, of): (usize, &lbm_bundle::Populations)| {
            let diffusivity = of.diffusivity.as_ref()?;
            Some(Scalar {
                name: of.field.as_ref().unwrap_or(&of.name).clone(),
                set,
                component: of.field.as_ref().and_then(|field| names.iter().position(|name| name == field)),
                rate: diffusivity.rate.clone().map(|rate| (rate, of.cs2)),
            })
        };
        manifest.populations.iter().enumerate().filter_map(scalar).collect()
    }
}

/// What the Nusselt number of a solid refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nusselt {
    /// Difference of the scalar between the surface and the fluid.
    pub difference: f64,
    /// Area of the whole surface, in units of cells of the coarsest level, in two dimensions a length.
    pub whole: f64,
    /// The same of the part at hand, where parts have boundary conditions of their own; none where it is not known.
    pub area: Option<f64>,
}
