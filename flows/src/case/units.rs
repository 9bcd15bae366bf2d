//! Units of measurement, and the scale between a case's units and lattice units.
//!
//! A unit is a product of powers of `m`, `kg`, `s` and names built on them: `m/s`, `mm^2/s`, `kg/m^3`, `cSt`.

/// Exponents of metre, kilogram and second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Exponent of the metre.
    pub m: i32,
    /// Exponent of the kilogram.
    pub kg: i32,
    /// Exponent of the second.
    pub s: i32,
}

impl Dimension {
    /// A pure number.
    pub const NUMBER: Dimension = Dimension { m: 0, kg: 0, s: 0 };
    /// m
    pub const LENGTH: Dimension = Dimension { m: 1, kg: 0, s: 0 };
    /// s
    pub const TIME: Dimension = Dimension { m: 0, kg: 0, s: 1 };
    /// m/s
    pub const VELOCITY: Dimension = Dimension { m: 1, kg: 0, s: -1 };
    /// m^2/s
    pub const VISCOSITY: Dimension = Dimension { m: 2, kg: 0, s: -1 };
    /// m^2/s^2, of a stress over the density
    pub const KINEMATIC_STRESS: Dimension = Dimension { m: 2, kg: 0, s: -2 };
    /// kg/m^3
    pub const DENSITY: Dimension = Dimension { m: -3, kg: 1, s: 0 };

    /// What a quantity of this dimension is called, with an article, and an example of it.
    pub(super) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Dimension::NUMBER => ("a pure number", "1"),
            Dimension::LENGTH => ("a length", "5 mm"),
            Dimension::TIME => ("a time", "0.5 s"),
            Dimension::VELOCITY => ("a velocity", "1.5 m/s"),
            Dimension::VISCOSITY => ("a kinematic viscosity", "1e-6 m^2/s"),
            Dimension::DENSITY => ("a density", "998 kg/m^3"),
            _ => ("another quantity", "1 kg m/s^2"),
        }
    }
}

/// Names of units with their dimension and their size in m, kg, s.
const NAMES: &[(&str, Dimension, f64)] = &[
    ("m", Dimension::LENGTH, 1.0),
    ("km", Dimension::LENGTH, 1e3),
    ("cm", Dimension::LENGTH, 1e-2),
    ("mm", Dimension::LENGTH, 1e-3),
    ("um", Dimension::LENGTH, 1e-6),
    ("µm", Dimension::LENGTH, 1e-6),
    ("s", Dimension::TIME, 1.0),
    ("ms", Dimension::TIME, 1e-3),
    ("us", Dimension::TIME, 1e-6),
    ("µs", Dimension::TIME, 1e-6),
    ("min", Dimension::TIME, 60.0),
    ("h", Dimension::TIME, 3600.0),
    ("kg", Dimension { m: 0, kg: 1, s: 0 }, 1.0),
    ("g", Dimension { m: 0, kg: 1, s: 0 }, 1e-3),
    ("Pa", Dimension { m: -1, kg: 1, s: -2 }, 1.0),
    ("kPa", Dimension { m: -1, kg: 1, s: -2 }, 1e3),
    ("St", Dimension::VISCOSITY, 1e-4),
    ("cSt", Dimension::VISCOSITY, 1e-6),
];

/// Names of the units that exist.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _, _)| *name)
}

/// A unit: its dimension and its size in m, kg, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) size: f64,
}

/// Parses `m/s`, `kg/m^3`, `m²/s`, `kg m/s^2`. On failure, the part that is no unit.
pub(super) fn parse(text: &str) -> Result<Unit, String> {
    let mut unit = Unit { dimension: Dimension::NUMBER, size: 1.0 };
    let mut sign = 1;
    let mut rest = text.trim();
    let mut expects = true;
    while !rest.is_empty() {
        let end = rest.find(['*', '·', '/', ' ']).unwrap_or(rest.len());
        let (factor, tail) = rest.split_at(end);
        if factor.is_empty() {
            let operator = tail.chars().next().expect("the rest is not empty");
            if operator != ' ' {
                if expects {
                    return Err(tail.to_string());
                }
                sign = if operator == '/' { -1 } else { 1 };
                expects = true;
            }
            rest = &tail[operator.len_utf8()..];
            continue;
        }
        let name = factor.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '^' | '-' | '²' | '³'));
        let power = match &factor[name.len()..] {
            "" => 1,
            "²" => 2,
            "³" => 3,
            digits => digits.trim_start_matches('^').parse().map_err(|_| factor.to_string())?,
        };
        if factor != "1" {
            let (_, dimension, size) =
                NAMES.iter().find(|(known, _, _)| *known == name).ok_or_else(|| name.to_string())?;
            let power = power * sign;
            unit.dimension.m += power * dimension.m;
            unit.dimension.kg += power * dimension.kg;
            unit.dimension.s += power * dimension.s;
            unit.size *= size.powi(power);
        }
        sign = 1;
        expects = false;
        rest = tail;
    }
    if expects { Err(text.trim().to_string()) } else { Ok(unit) }
}

/// The scale between lattice units and the units of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Whether the case is in SI units; if not, the three scales are 1.
    pub si: bool,
    /// Size of a cell, in metres.
    pub cell: f64,
    /// Length of a time step, in seconds.
    pub step: f64,
    /// Density of the fluid at rest, in kg/m^3, if known; if not, densities stay relative to it.
    pub density: Option<f64>,
}

impl Units {
    /// Lattice units: a cell, a time step and the density at rest are 1.
    pub const LATTICE: Units = Units { si: false, cell: 1.0, step: 1.0, density: None };

    /// What one lattice unit of a quantity is in the units of the case.
    pub fn scale(&self, dimension: Dimension) -> f64 {
        if dimension == Dimension::DENSITY {
            return self.density.unwrap_or(1.0);
        }
        let kilogram = self.density.map_or(1.0, |density| density * self.cell.powi(3));
        self.cell.powi(dimension.m) * self.step.powi(dimension.s) * kilogram.powi(dimension.kg)
    }

    /// What one lattice unit of a force is in the units of the case, and their name: in two dimensions of a force per length, and where
    /// the density of the fluid is not known, over that.
    pub fn force(&self, dim: usize) -> (f64, &'static str) {
        let name = match (self.si, self.density, dim) {
            (false, ..) => "lattice units of the coarsest level",
            (true, Some(_), 2) => "N/m",
            (true, Some(_), _) => "N",
            (true, None, 2) => "m³/s² (over the density of the fluid)",
            (true, None, _) => "m⁴/s² (over the density of the fluid)",
        };
        (self.density.unwrap_or(1.0) * self.cell.powi(dim as i32 + 1) / self.step.powi(2), name)
    }

    /// The symbol of a unit of length, velocity, ... for headings; empty in lattice units.
    pub fn symbol(&self, dimension: Dimension) -> String {
        match dimension {
            _ if !self.si => String::new(),
            Dimension::VELOCITY => "m/s".into(),
            Dimension::VISCOSITY => "m²/s".into(),
            Dimension::KINEMATIC_STRESS => "m²/s²".into(),
            Dimension::DENSITY if self.density.is_some() => "kg/m³".into(),
            Dimension { kg: 0, m, s } => {
                let power = |(name, power): (&str, i32)| match power {
                    0 => None,
                    1 => Some(name.to_string()),
                    _ => Some(format!("{name}^{power}")),
                };
                [("m", m), ("s", s)].into_iter().filter_map(power).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_multiply_and_divide() {
        for (text, dimension, size) in [
            ("m/s", Dimension::VELOCITY, 1.0),
            ("mm^2/s", Dimension::VISCOSITY, 1e-6),
            ("m²/s", Dimension::VISCOSITY, 1.0),
            ("m2/s", Dimension::VISCOSITY, 1.0),
            ("cSt", Dimension::VISCOSITY, 1e-6),
            ("kg m^-3", Dimension::DENSITY, 1.0),
            ("g / cm^3", Dimension::DENSITY, 1e3),
            ("1/s", Dimension { m: 0, kg: 0, s: -1 }, 1.0),
            ("km/h", Dimension::VELOCITY, 1.0 / 3.6),
            ("Pa*s", Dimension { m: -1, kg: 1, s: -1 }, 1.0),
        ] {
            let unit = parse(text).unwrap_or_else(|part| panic!("{text}: {part}"));
            assert_eq!(unit.dimension, dimension, "{text}");
            assert!((unit.size / size - 1.0).abs() < 1e-12, "{text}: {}", unit.size);
        }
    }

    #[test]
    fn the_part_that_is_no_unit_is_named() {
        assert_eq!(parse("m/sec"), Err("sec".to_string()));
        assert_eq!(parse("furlong"), Err("furlong".to_string()));
        assert_eq!(parse("m/"), Err("m/".to_string()));
        assert_eq!(parse("m//s"), Err("/s".to_string()));
        assert_eq!(parse(""), Err(String::new()));
    }

    #[test]
    fn scales_follow_the_dimension() {
        let units = Units { si: true, cell: 1e-3, step: 1e-2, density: Some(1000.0) };
        assert!((units.scale(Dimension::VELOCITY) - 0.1).abs() < 1e-15);
        assert!((units.scale(Dimension::VISCOSITY) - 1e-4).abs() < 1e-18);
        assert!((units.scale(Dimension::DENSITY) - 1000.0).abs() < 1e-9);
        assert_eq!(Units::LATTICE.scale(Dimension::VISCOSITY), 1.0);
        let force = units.scale(Dimension { m: 1, kg: 1, s: -2 });
        assert!((units.force(3).0 / force - 1.0).abs() < 1e-12 && units.force(3).1 == "N");
        assert_eq!(
            (Units::LATTICE.force(2).0, Units { density: None, ..units }.force(2).1.split(' ').next()),
            (1.0, Some("m³/s²"))
        );
    }
}
