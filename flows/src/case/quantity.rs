//! Fields of a flow by their names, wherever output asks for them: those of the method, and what follows from them.

use lbm_bundle::Manifest;

use super::units::{Dimension, Units};

/// Suffixes of the components of a vector.
const AXES: [&str; 3] = ["x", "y", "z"];

/// A field of the flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    name: String,
    kind: Kind,
    dim: usize,
}

/// What a field is made of. Positions are those among the components of the method's fields.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Fields of the method as they are.
    Stored {
        first: usize,
        /// What the components are called.
        columns: Vec<String>,
        dimension: Dimension,
    },
    /// Magnitude of the velocity.
    Speed { first: usize },
    /// `cs2 (rho - 1)`.
    Pressure { density: usize, cs2: f64 },
    /// Curl of the velocity.
    Vorticity,
    /// Second invariant of the velocity gradient, positive where rotation prevails.
    QCriterion,
    /// Magnitude of the strain rate, `sqrt(2 S:S)`.
    StrainRate,
    /// Level of the cell.
    Level,
}

impl Quantity {
    /// All that a method has.
    pub fn all(manifest: &Manifest) -> Vec<Quantity> {
        let dim = manifest.dim as usize;
        let mut all = vec![];
        let mut add = |name: &str, kind: Kind| all.push(Quantity { name: name.to_string(), kind, dim });
        let mut first = 0;
        for field in &manifest.fields {
            let columns: Vec<String> = match field.components {
                1 => vec![field.name.clone()],
                components => (0..components as usize).map(|axis| format!("{}{}", field.name, AXES[axis])).collect(),
            };
            let stored = |columns: &[String], first: usize, dimension: Dimension| Kind::Stored {
                first,
                columns: columns.to_vec(),
                dimension,
            };
            match (&field.name[..], field.components) {
                ("rho", 1) => {
                    add("density", stored(&["density".to_string()], first, Dimension::DENSITY));
                    add("pressure", Kind::Pressure { density: first, cs2: manifest.main().cs2 });
                }
                ("u", components) if components == manifest.dim => {
                    add("velocity", stored(&columns, first, Dimension::VELOCITY));
                    for (axis, column) in columns.iter().enumerate() {
                        add(column, stored(std::slice::from_ref(column), first + axis, Dimension::VELOCITY));
                    }
                    add("speed", Kind::Speed { first });
                    add("vorticity", Kind::Vorticity);
                    add("q_criterion", Kind::QCriterion);
                    add("strain_rate", Kind::StrainRate);
                }
                (name, _) => add(name, stored(&columns, first, Dimension::NUMBER)),
            }
            first += field.components as usize;
        }
        add("level", Kind::Level);
        all
    }

    /// Its name in a case file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its components: `ux`, `uy` for the velocity.
    pub fn columns(&self) -> Vec<String> {
        match &self.kind {
            Kind::Stored { columns, .. } => columns.clone(),
            Kind::Vorticity if self.dim == 3 => AXES.map(|axis| format!("vorticity_{axis}")).to_vec(),
            _ => vec![self.name.clone()],
        }
    }

    /// Whether it is made of slopes of the velocity.
    pub fn needs_slopes(&self) -> bool {
        matches!(self.kind, Kind::Vorticity | Kind::QCriterion | Kind::StrainRate)
    }

    /// Whether it has one component, which may have either sign.
    pub fn is_signed(&self) -> bool {
        match &self.kind {
            Kind::Stored { columns, dimension, .. } => *dimension == Dimension::VELOCITY && columns.len() == 1,
            Kind::Pressure { .. } | Kind::QCriterion => true,
            Kind::Vorticity => self.dim == 2,
            _ => false,
        }
    }

    /// Whether the value that a picture shows is a magnitude, 0 at least.
    pub fn is_magnitude(&self) -> bool {
        self.columns().len() > 1 || matches!(self.kind, Kind::Speed { .. } | Kind::StrainRate)
    }

    /// Its unit in powers of the reference velocity and of the reference length, and how that is written; densities and pure numbers have
    /// none.
    pub fn reference(&self) -> ([i32; 2], &'static str) {
        match &self.kind {
            Kind::Stored { dimension, .. } if *dimension != Dimension::VELOCITY => ([0, 0], ""),
            Kind::Stored { .. } | Kind::Speed { .. } => ([1, 0], "U"),
            Kind::Pressure { .. } => ([2, 0], "ρU²"),
            Kind::Vorticity | Kind::StrainRate => ([1, -1], "(U/L)"),
            Kind::QCriterion => ([2, -2], "(U/L)²"),
            Kind::Level => ([0, 0], ""),
        }
    }

    /// A lattice unit of it in the units of the case.
    pub fn scale(&self, units: &Units) -> f64 {
        match &self.kind {
            Kind::Stored { dimension, .. } => units.scale(*dimension),
            Kind::Speed { .. } => units.scale(Dimension::VELOCITY),
            Kind::Pressure { .. } => units.density.unwrap_or(1.0) * units.scale(Dimension::VELOCITY).powi(2),
            Kind::Vorticity | Kind::StrainRate => 1.0 / units.step,
            Kind::QCriterion => 1.0 / units.step.powi(2),
            Kind::Level => 1.0,
        }
    }

    /// The symbol of its unit; empty in lattice units, and for pure numbers.
    pub fn symbol(&self, units: &Units) -> &'static str {
        match &self.kind {
            _ if !units.si => "",
            Kind::Stored { dimension, .. } => units.symbol(*dimension),
            Kind::Speed { .. } => units.symbol(Dimension::VELOCITY),
            Kind::Pressure { .. } if units.density.is_some() => "Pa",
            Kind::Pressure { .. } => "m²/s²",
            Kind::Vorticity | Kind::StrainRate => "1/s",
            Kind::QCriterion => "1/s²",
            Kind::Level => "",
        }
    }

    /// Its components in lattice units of the coarsest level, 0 beyond those that it has, where the components of the method's fields
    /// are `value`, the slopes of the velocity `gradient[axis][component]`, and the level of the cell `level`.
    pub fn at(&self, value: impl Fn(usize) -> f64, gradient: &[[f64; 3]; 3], level: usize) -> [f64; 3] {
        let sum = |term: &dyn Fn(usize, usize) -> f64| -> f64 {
            (0..3).map(|axis| (0..3).map(|component| term(axis, component)).sum::<f64>()).sum()
        };
        let one = |value: f64| [value, 0.0, 0.0];
        match &self.kind {
            Kind::Stored { first, columns, .. } => {
                std::array::from_fn(|at| if at < columns.len() { value(first + at) } else { 0.0 })
            }
            Kind::Speed { first } => one((0..self.dim).map(|axis| value(first + axis).powi(2)).sum::<f64>().sqrt()),
            Kind::Pressure { density, cs2 } => one(cs2 * (value(*density) - 1.0)),
            Kind::Vorticity => {
                let curl = |a: usize, b: usize| gradient[a][b] - gradient[b][a];
                if self.dim == 2 { one(curl(0, 1)) } else { [curl(1, 2), curl(2, 0), curl(0, 1)] }
            }
            Kind::QCriterion => one(-0.5 * sum(&|a, b| gradient[a][b] * gradient[b][a])),
            Kind::StrainRate => one((0.5 * sum(&|a, b| (gradient[a][b] + gradient[b][a]).powi(2))).sqrt()),
            Kind::Level => one(level as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbm_runtime::fixture::manifest;

    fn quantity(name: &str) -> Quantity {
        Quantity::all(&manifest()).into_iter().find(|quantity| quantity.name() == name).unwrap()
    }

    #[test]
    fn rotation_and_shear_have_the_invariants_of_the_books() {
        // u = (-w y, w x): vorticity 2 w, Q = w^2, no strain; u = (g y, 0): vorticity -g, Q = 0, strain rate g.
        let rotation = [[0.0, 0.3, 0.0], [-0.3, 0.0, 0.0], [0.0; 3]];
        let shear = [[0.0; 3], [0.2, 0.0, 0.0], [0.0; 3]];
        for (name, rotating, shearing) in
            [("vorticity", 0.6, -0.2), ("q_criterion", 0.09, 0.0), ("strain_rate", 0.0, 0.2)]
        {
            for (gradient, expected) in [(rotation, rotating), (shear, shearing)] {
                let [found, ..] = quantity(name).at(|_| f64::NAN, &gradient, 0);
                assert!((found - expected).abs() < 1e-15, "{name}: {found}");
            }
        }
        let fields = [1.03, 0.3, -0.4];
        let at = |name: &str| quantity(name).at(|at| fields[at], &[[0.0; 3]; 3], 2);
        assert!((at("pressure")[0] - 0.01).abs() < 1e-15 && (at("speed")[0] - 0.5).abs() < 1e-15);
        assert_eq!(
            (at("velocity"), at("uy")[0], at("density")[0], at("level")[0]),
            ([0.3, -0.4, 0.0], -0.4, 1.03, 2.0)
        );
    }

    #[test]
    fn units_are_those_of_the_case() {
        let mut units = Units { si: true, cell: 1e-3, step: 1e-2, density: Some(1000.0) };
        for (name, scale, symbol) in [
            ("pressure", 10.0, "Pa"),
            ("velocity", 0.1, "m/s"),
            ("vorticity", 100.0, "1/s"),
            ("q_criterion", 1e4, "1/s²"),
            ("density", 1000.0, "kg/m³"),
        ] {
            let found = quantity(name);
            assert!((found.scale(&units) / scale - 1.0).abs() < 1e-12 && found.symbol(&units) == symbol, "{name}");
        }
        units.density = None;
        assert_eq!(quantity("pressure").symbol(&units), "m²/s²");
        assert_eq!(
            (quantity("pressure").scale(&Units::LATTICE), quantity("pressure").symbol(&Units::LATTICE)),
            (1.0, "")
        );
    }
}
