//! Fields of a flow by their names, wherever output asks for them: those of the method, and what follows from them.

use std::collections::BTreeMap;

use lbm_bundle::formula::Function;
use lbm_bundle::{Formula, Manifest, statistics};

use super::units::{Dimension, Units};

/// What is made of the samples of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The arithmetic mean.
    Mean,
    /// Root mean square of the fluctuation about the mean.
    Rms,
    /// Reynolds stresses: means of the products of the fluctuations of two components of the velocity.
    Stresses,
    /// The least value.
    Min,
    /// The greatest.
    Max,
}

impl Measure {
    /// All of them.
    pub(super) const ALL: [Measure; 5] = [Measure::Mean, Measure::Rms, Measure::Stresses, Measure::Min, Measure::Max];

    /// Its name in a case file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Measure::Mean => "mean",
            Measure::Rms => "rms",
            Measure::Stresses => "stresses",
            Measure::Min => "min",
            Measure::Max => "max",
        }
    }
}

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
        /// Whether the spec gives an observable no unit.
        unknown: bool,
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
    /// A formula of components of the method's fields, which are called `components`, and of slopes of the velocity, by their names, in
    /// lattice units.
    Formula { formula: Formula, components: Vec<String>, slopes: BTreeMap<String, [usize; 2]> },
    /// A result of the statistics of a field. Positions are those among the results.
    Statistic { first: usize, columns: Vec<String>, of: Box<Quantity>, form: Form },
}

/// How a result differs from its field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// A value that the field may have.
    Value,
    /// A root mean square.
    Rms,
    /// A product of two components, of which one may be negative if they are not the same.
    Product { mixed: bool },
}

impl Quantity {
    /// All that a method has.
    pub fn all(manifest: &Manifest) -> Vec<Quantity> {
        let dim = manifest.dim as usize;
        let mut all = vec![];
        let mut add = |name: &str, kind: Kind| all.push(Quantity { name: name.to_string(), kind, dim });
        let mut first = 0;
        for field in &manifest.fields {
            let columns = field.component_names(manifest.dim);
            let stored = |columns: &[String], first: usize, dimension: Dimension| Kind::Stored {
                first,
                columns: columns.to_vec(),
                dimension,
                unknown: field.observed && field.unit.is_none(),
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
                (name, components) => {
                    let unit = field.unit.unwrap_or_default();
                    let dimension = Dimension { m: unit.length, s: unit.time, ..Dimension::NUMBER };
                    if !field.is_tensor(manifest.dim) {
                        add(name, stored(&columns, first, dimension));
                    }
                    for (at, column) in columns.iter().enumerate().filter(|_| field.observed && components > 1) {
                        add(column, stored(std::slice::from_ref(column), first + at, dimension));
                    }
                }
            }
            first += field.components as usize;
        }
        add("level", Kind::Level);
        all
    }

    /// Those of a name: one, or the components of a symmetric tensor.
    pub fn named(manifest: &Manifest, name: &str) -> Vec<Quantity> {
        let tensor = manifest.fields.iter().find(|field| field.name == name && field.is_tensor(manifest.dim));
        let names = tensor.map_or(vec![name.to_string()], |field| field.component_names(manifest.dim));
        Quantity::all(manifest).into_iter().filter(|quantity| names.contains(&quantity.name)).collect()
    }

    /// The fields of the method as they are: what is written where nothing is asked for by name.
    pub fn of_method(manifest: &Manifest) -> Vec<Quantity> {
        let name = |field: &lbm_bundle::Field| match &field.name[..] {
            "rho" => "density".to_string(),
            "u" => "velocity".to_string(),
            name => name.to_string(),
        };
        let own: Vec<String> = manifest.fields.iter().filter(|field| field.is_own()).map(name).collect();
        Quantity::all(manifest).into_iter().filter(|quantity| own.contains(&quantity.name)).collect()
    }

    /// Its name in a case file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A formula of components of a method's fields and of [slopes](statistics::slopes) of the velocity, in lattice units.
    pub(super) fn of_formula(manifest: &Manifest, name: &str, formula: Formula) -> Quantity {
        let components = manifest.component_names();
        let slopes = statistics::slopes(manifest.dim as usize, &components);
        let kind = Kind::Formula { formula, components, slopes };
        Quantity { name: name.to_string(), kind, dim: manifest.dim as usize }
    }

    /// A number in lattice units that is no field of the method, by its position among the components of a snapshot.
    pub(crate) fn plain(name: &str, at: usize, dim: usize) -> Quantity {
        let columns = vec![name.to_string()];
        let kind = Kind::Stored { first: at, columns, dimension: Dimension::NUMBER, unknown: true };
        Quantity { name: name.to_string(), kind, dim }
    }

    /// All that tells it from another: its name, and its formula if it is one of the case.
    pub fn definition(&self) -> String {
        match &self.kind {
            Kind::Formula { formula, .. } => format!("{} = {formula}", self.name),
            _ => self.name.clone(),
        }
    }

    /// A measure of its statistics, the first of whose components has a position among the results: `mean_velocity`.
    pub(super) fn statistic(&self, measure: Measure, first: usize) -> Quantity {
        let named = |name: &str| format!("{}_{name}", measure.name());
        let columns = self.columns().iter().map(|column| named(column)).collect();
        let form = if measure == Measure::Rms { Form::Rms } else { Form::Value };
        Quantity {
            name: named(&self.name),
            kind: Kind::Statistic { first, columns, of: Box::new(self.clone()), form },
            dim: self.dim,
        }
    }

    /// A component of the stresses of this vector, by its axes: `stress_xy`.
    pub(super) fn stress(&self, axes: &str, mixed: bool, first: usize) -> Quantity {
        let (name, of) = (format!("stress_{axes}"), Box::new(self.clone()));
        let kind = Kind::Statistic { first, columns: vec![name.clone()], of, form: Form::Product { mixed } };
        Quantity { name, kind, dim: self.dim }
    }

    /// Its components as formulas of those of the method's fields, which are called `components`, and of
    /// [slopes](lbm_bundle::statistics::slopes) of the velocity; `None` where it is made of more than that.
    pub(super) fn formulas(&self, components: &[String]) -> Option<Vec<Formula>> {
        let component = |at: usize| Formula::name(&components[at]);
        let apply = |function, a: Formula, b: Formula| Formula::apply(function, [a, b]);
        let slope = |axis: usize, of: usize| Formula::name(&format!("d{}_u{}", AXES[axis], AXES[of]));
        let sum = |term: &dyn Fn(usize, usize) -> Formula| {
            let mut terms = (0..self.dim).flat_map(|axis| (0..self.dim).map(move |of| (axis, of)));
            let first = terms.next().map_or(Formula::number(0.0), |(axis, of)| term(axis, of));
            terms.fold(first, |sum, (axis, of)| apply(Function::Add, sum, term(axis, of)))
        };
        match &self.kind {
            Kind::Stored { first, columns, .. } => Some((0..columns.len()).map(|at| component(first + at)).collect()),
            Kind::Speed { first } => {
                let square = |axis: usize| apply(Function::Multiply, component(first + axis), component(first + axis));
                let sum = (1..self.dim).fold(square(0), |sum, axis| apply(Function::Add, sum, square(axis)));
                Some(vec![Formula::apply(Function::Sqrt, [sum])])
            }
            Kind::Pressure { density, cs2 } => {
                let above = apply(Function::Subtract, component(*density), Formula::number(1.0));
                Some(vec![apply(Function::Multiply, Formula::number(*cs2), above)])
            }
            Kind::Formula { formula, .. } => Some(vec![formula.clone()]),
            Kind::Vorticity => {
                let curl = |a: usize, b: usize| apply(Function::Subtract, slope(a, b), slope(b, a));
                Some(if self.dim == 2 { vec![curl(0, 1)] } else { vec![curl(1, 2), curl(2, 0), curl(0, 1)] })
            }
            Kind::QCriterion => {
                let product = |a: usize, b: usize| apply(Function::Multiply, slope(a, b), slope(b, a));
                Some(vec![apply(Function::Multiply, Formula::number(-0.5), sum(&product))])
            }
            Kind::StrainRate => {
                let square = |a: usize, b: usize| {
                    let twice = apply(Function::Add, slope(a, b), slope(b, a));
                    apply(Function::Multiply, twice.clone(), twice)
                };
                let half = apply(Function::Multiply, Formula::number(0.5), sum(&square));
                Some(vec![Formula::apply(Function::Sqrt, [half])])
            }
            Kind::Level | Kind::Statistic { .. } => None,
        }
    }

    /// The names of its components: `ux`, `uy` for the velocity.
    pub fn columns(&self) -> Vec<String> {
        match &self.kind {
            Kind::Stored { columns, .. } | Kind::Statistic { columns, .. } => columns.clone(),
            Kind::Vorticity if self.dim == 3 => AXES.map(|axis| format!("vorticity_{axis}")).to_vec(),
            _ => vec![self.name.clone()],
        }
    }

    /// Whether it is made of slopes of the velocity.
    pub fn needs_slopes(&self) -> bool {
        match &self.kind {
            Kind::Vorticity | Kind::QCriterion | Kind::StrainRate => true,
            Kind::Formula { formula, slopes, .. } => formula.names().iter().any(|name| slopes.contains_key(*name)),
            _ => false,
        }
    }

    /// Whether it has one component, which may have either sign.
    pub fn is_signed(&self) -> bool {
        match &self.kind {
            Kind::Stored { columns, dimension, .. } => {
                let has_sign = matches!(*dimension, Dimension::VELOCITY | Dimension::KINEMATIC_STRESS);
                has_sign && columns.len() == 1
            }
            Kind::Pressure { .. } | Kind::QCriterion | Kind::Formula { .. } => true,
            Kind::Vorticity => self.dim == 2,
            Kind::Statistic { of, form: Form::Value, .. } => of.is_signed(),
            Kind::Statistic { form: Form::Product { mixed }, .. } => *mixed,
            _ => false,
        }
    }

    /// Whether the value that a picture shows is a magnitude, 0 at least.
    pub fn is_magnitude(&self) -> bool {
        let least_is_zero = match &self.kind {
            Kind::Speed { .. } | Kind::StrainRate => true,
            Kind::Statistic { of, form: Form::Value, .. } => of.is_magnitude(),
            Kind::Statistic { form, .. } => *form != Form::Product { mixed: true },
            _ => false,
        };
        self.columns().len() > 1 || least_is_zero
    }

    /// Its unit in powers of the reference velocity and of the reference length, and how that is written; densities and pure numbers have
    /// none.
    pub fn reference(&self) -> ([i32; 2], &'static str) {
        match &self.kind {
            Kind::Stored { dimension, .. } if *dimension == Dimension::KINEMATIC_STRESS => ([2, 0], "U²"),
            Kind::Stored { dimension, .. } if *dimension == Dimension::VISCOSITY => ([1, 1], "UL"),
            Kind::Stored { dimension, .. } if *dimension != Dimension::VELOCITY => ([0, 0], ""),
            Kind::Stored { .. } | Kind::Speed { .. } => ([1, 0], "U"),
            Kind::Pressure { .. } => ([2, 0], "ρU²"),
            Kind::Vorticity | Kind::StrainRate => ([1, -1], "(U/L)"),
            Kind::QCriterion => ([2, -2], "(U/L)²"),
            Kind::Level | Kind::Formula { .. } => ([0, 0], ""),
            Kind::Statistic { form: Form::Product { .. }, .. } => ([2, 0], "U²"),
            Kind::Statistic { of, .. } => of.reference(),
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
            Kind::Level | Kind::Formula { .. } => 1.0,
            Kind::Statistic { of, form: Form::Product { .. }, .. } => of.scale(units).powi(2),
            Kind::Statistic { of, .. } => of.scale(units),
        }
    }

    /// The dimension of its values in the units of the case, where it is known.
    pub(super) fn dimension(&self, units: &Units) -> Option<Dimension> {
        let with_density = |known: Dimension, over: Dimension| if units.density.is_some() { known } else { over };
        match &self.kind {
            Kind::Stored { unknown: true, .. } | Kind::Formula { .. } => None,
            Kind::Stored { dimension: Dimension::DENSITY, .. } => {
                Some(with_density(Dimension::DENSITY, Dimension::NUMBER))
            }
            Kind::Stored { dimension, .. } => Some(*dimension),
            Kind::Speed { .. } => Some(Dimension::VELOCITY),
            Kind::Pressure { .. } => Some(with_density(Dimension::PRESSURE, Dimension::KINEMATIC_STRESS)),
            Kind::Vorticity | Kind::StrainRate => Some(Dimension::FREQUENCY),
            Kind::QCriterion => Some(Dimension { s: -2, ..Dimension::NUMBER }),
            Kind::Level => Some(Dimension::NUMBER),
            Kind::Statistic { form: Form::Product { .. }, .. } => Some(Dimension::KINEMATIC_STRESS),
            Kind::Statistic { of, .. } => of.dimension(units),
        }
    }

    /// The symbol of its unit; empty in lattice units, and for pure numbers.
    pub fn symbol(&self, units: &Units) -> String {
        match &self.kind {
            _ if !units.si => String::new(),
            Kind::Stored { unknown: true, .. } | Kind::Formula { .. } => "lattice units".into(),
            Kind::Stored { dimension, .. } => units.symbol(*dimension),
            Kind::Speed { .. } => units.symbol(Dimension::VELOCITY),
            Kind::Pressure { .. } if units.density.is_some() => "Pa".into(),
            Kind::Pressure { .. } => units.symbol(Dimension::KINEMATIC_STRESS),
            Kind::Vorticity | Kind::StrainRate => "1/s".into(),
            Kind::QCriterion => "1/s²".into(),
            Kind::Level => String::new(),
            Kind::Statistic { form: Form::Product { .. }, .. } => "m²/s²".into(),
            Kind::Statistic { of, .. } => of.symbol(units),
        }
    }

    /// Its unit in words, also in lattice units: `cells/step`; `1` of pure numbers.
    pub fn unit(&self, units: &Units) -> String {
        let symbol = self.symbol(units);
        if units.si {
            return if symbol.is_empty() { "1".into() } else { symbol };
        }
        let unit = match &self.kind {
            Kind::Stored { dimension: Dimension::DENSITY, .. } => "density at rest",
            Kind::Stored { dimension: Dimension::VELOCITY, .. } | Kind::Speed { .. } => "cells/step",
            Kind::Pressure { .. } => "cells²/step² times the density at rest",
            Kind::Vorticity | Kind::StrainRate => "1/step",
            Kind::QCriterion => "1/step²",
            Kind::Statistic { form: Form::Product { .. }, .. } => "cells²/step²",
            Kind::Statistic { of, .. } => return of.unit(units),
            Kind::Formula { .. } => "lattice units",
            Kind::Stored { .. } | Kind::Level => "1",
        };
        unit.to_string()
    }

    /// Its components in lattice units of the coarsest level, 0 beyond those that it has, where the components of the method's fields
    /// are `value`, the slopes of the velocity `gradient[axis][component]`, and the level of the cell `level`.
    pub fn at(&self, value: impl Fn(usize) -> f64, gradient: &[[f64; 3]; 3], level: usize) -> [f64; 3] {
        let sum = |term: &dyn Fn(usize, usize) -> f64| -> f64 {
            (0..3).map(|axis| (0..3).map(|component| term(axis, component)).sum::<f64>()).sum()
        };
        let one = |value: f64| [value, 0.0, 0.0];
        match &self.kind {
            Kind::Stored { first, columns, .. } | Kind::Statistic { first, columns, .. } => {
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
            Kind::Formula { formula, components, slopes } => {
                let component = |name: &str| components.iter().position(|component| component == name).map(&value);
                let slope = |name: &str| slopes.get(name).map(|[axis, of]| gradient[*axis][*of]);
                one(formula.value(&|name| component(name).or_else(|| slope(name))).unwrap_or(f64::NAN))
            }
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
    fn a_formula_has_components_and_slopes_by_their_names() {
        let manifest = manifest();
        let of = |text: &str| Quantity::of_formula(&manifest, "own", text.parse().unwrap());
        let (curl, product) = (of("dx_uy - dy_ux"), of("rho * ux * uy"));
        assert_eq!((curl.needs_slopes(), product.needs_slopes()), (true, false));
        let gradient = [[0.0, 0.7, 0.0], [0.2, 0.0, 0.0], [0.0; 3]];
        let fields = [1.03, 0.3, -0.4];
        assert_eq!(curl.at(|_| f64::NAN, &gradient, 0), quantity("vorticity").at(|_| f64::NAN, &gradient, 0));
        assert_eq!(product.at(|at| fields[at], &[[f64::NAN; 3]; 3], 0)[0], 1.03 * 0.3 * -0.4);
        assert_ne!(curl.definition(), of("dx_uy + dy_ux").definition());
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
        let velocity = quantity("velocity");
        let (rms, stress) = (velocity.statistic(Measure::Rms, 0), velocity.stress("xy", true, 0));
        assert!((rms.scale(&units) / 0.1 - 1.0).abs() < 1e-12 && rms.symbol(&units) == "m/s");
        assert!((stress.scale(&units) / 0.01 - 1.0).abs() < 1e-12 && stress.symbol(&units) == "m²/s²");
        units.density = None;
        assert_eq!(quantity("pressure").symbol(&units), "m²/s²");
        assert_eq!(
            (quantity("pressure").scale(&Units::LATTICE), quantity("pressure").symbol(&Units::LATTICE)),
            (1.0, String::new())
        );
    }
}
