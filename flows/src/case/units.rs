//! Units of measurement, and the scale between a case's units and lattice units.
//!
//! A unit is a product of powers of `m`, `kg`, `s`, `K` and names built on them: `m/s`, `mm^2/s`, `kg/m^3`, `cSt`, `N/m^3`.

use std::borrow::Cow;
use std::fmt;

use super::words;

/// Highest power of a name in a unit.
const HIGHEST_POWER: i32 = 12;

/// Exponents of metre, kilogram, second and kelvin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Exponent of the metre.
    pub m: i32,
    /// Exponent of the kilogram.
    pub kg: i32,
    /// Exponent of the second.
    pub s: i32,
    /// Exponent of the kelvin, whose size is 1 in lattice units, too.
    pub k: i32,
}

/// The dimension `m^a kg^b s^c`.
const fn of(m: i32, kg: i32, s: i32) -> Dimension {
    Dimension { m, kg, s, k: 0 }
}

impl Dimension {
    /// A pure number.
    pub const NUMBER: Dimension = of(0, 0, 0);
    /// m
    pub const LENGTH: Dimension = of(1, 0, 0);
    /// s
    pub const TIME: Dimension = of(0, 0, 1);
    /// m/s
    pub const VELOCITY: Dimension = of(1, 0, -1);
    /// m^2/s, of a kinematic viscosity and of a diffusivity
    pub const VISCOSITY: Dimension = of(2, 0, -1);
    /// m^2/s^2, of a stress over the density
    pub const KINEMATIC_STRESS: Dimension = of(2, 0, -2);
    /// kg/m^3
    pub const DENSITY: Dimension = of(-3, 1, 0);
    /// K, of a scalar that may be a temperature: it may as well be a number.
    pub const TEMPERATURE: Dimension = Dimension { k: 1, ..of(0, 0, 0) };
    pub(super) const FREQUENCY: Dimension = of(0, 0, -1);
    const MASS: Dimension = of(0, 1, 0);
    const FORCE: Dimension = of(1, 1, -2);
    pub(super) const PRESSURE: Dimension = of(-1, 1, -2);
    const ENERGY: Dimension = of(2, 1, -2);
    const POWER: Dimension = of(2, 1, -3);
    const DYNAMIC_VISCOSITY: Dimension = of(-1, 1, -1);

    /// Whether a value of it has a unit in SI units, unless it is zero.
    pub(super) fn needs_unit(self) -> bool {
        !matches!(self, Dimension::NUMBER | Dimension::TEMPERATURE)
    }

    /// What a quantity of this dimension is called, with an article, and an example of it.
    pub(super) fn describe(self) -> (Cow<'static, str>, &'static str) {
        let (name, example) = match self {
            Dimension::NUMBER => ("a pure number", "1"),
            Dimension::LENGTH => ("a length", "5 mm"),
            Dimension::TIME => ("a time", "0.5 s"),
            Dimension::VELOCITY => ("a velocity", "1.5 m/s"),
            Dimension::VISCOSITY => ("a kinematic viscosity or a diffusivity", "1e-6 m^2/s"),
            Dimension::KINEMATIC_STRESS => ("a stress over the density", "0.1 m^2/s^2"),
            Dimension::DENSITY => ("a density", "998 kg/m^3"),
            Dimension::TEMPERATURE => ("a number or a temperature", "300 K"),
            Dimension::FREQUENCY => ("a frequency", "50 Hz"),
            Dimension::MASS => ("a mass", "1 kg"),
            Dimension::FORCE => ("a force", "1 N"),
            Dimension::PRESSURE => ("a pressure", "1 Pa"),
            Dimension::ENERGY => ("an energy", "1 J"),
            Dimension::POWER => ("a power", "1 W"),
            Dimension::DYNAMIC_VISCOSITY => ("a dynamic viscosity", "1 mPa s"),
            _ => return (format!("a quantity in {self}").into(), "1 kg m/s^2"),
        };
        (name.into(), example)
    }

    /// What to do where a quantity of this dimension is wanted and one of another is found.
    pub(super) fn advice(self, found: Dimension) -> String {
        let (what, example) = self.describe();
        match (self, found) {
            (Dimension::NUMBER, _) => "write a plain number".to_string(),
            (Dimension::VISCOSITY, Dimension::DYNAMIC_VISCOSITY) => {
                format!("divide it by the density: {what} is written like \"{example}\"")
            }
            _ => format!("{what} is written like \"{example}\""),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = |(name, power): (&str, i32)| match power {
            0 => None,
            1 => Some(name.to_string()),
            _ => Some(format!("{name}^{power}")),
        };
        let powers = [("kg", self.kg), ("m", self.m), ("s", self.s), ("K", self.k)].into_iter().filter_map(power);
        out.write_str(&powers.collect::<Vec<_>>().join(" "))
    }
}

/// Names of units with their dimension and their size in m, kg, s, K.
const NAMES: &[(&str, Dimension, f64)] = &[
    ("m", Dimension::LENGTH, 1.0),
    ("km", Dimension::LENGTH, 1e3),
    ("cm", Dimension::LENGTH, 1e-2),
    ("mm", Dimension::LENGTH, 1e-3),
    ("um", Dimension::LENGTH, 1e-6),
    ("\u{b5}m", Dimension::LENGTH, 1e-6),
    ("nm", Dimension::LENGTH, 1e-9),
    ("in", Dimension::LENGTH, 0.0254),
    ("ft", Dimension::LENGTH, 0.3048),
    ("s", Dimension::TIME, 1.0),
    ("ms", Dimension::TIME, 1e-3),
    ("us", Dimension::TIME, 1e-6),
    ("\u{b5}s", Dimension::TIME, 1e-6),
    ("ns", Dimension::TIME, 1e-9),
    ("min", Dimension::TIME, 60.0),
    ("h", Dimension::TIME, 3600.0),
    ("Hz", Dimension::FREQUENCY, 1.0),
    ("kHz", Dimension::FREQUENCY, 1e3),
    ("kg", Dimension::MASS, 1.0),
    ("g", Dimension::MASS, 1e-3),
    ("mg", Dimension::MASS, 1e-6),
    ("N", Dimension::FORCE, 1.0),
    ("kN", Dimension::FORCE, 1e3),
    ("mN", Dimension::FORCE, 1e-3),
    ("Pa", Dimension::PRESSURE, 1.0),
    ("hPa", Dimension::PRESSURE, 1e2),
    ("kPa", Dimension::PRESSURE, 1e3),
    ("MPa", Dimension::PRESSURE, 1e6),
    ("mPa", Dimension::PRESSURE, 1e-3),
    ("bar", Dimension::PRESSURE, 1e5),
    ("mbar", Dimension::PRESSURE, 1e2),
    ("J", Dimension::ENERGY, 1.0),
    ("kJ", Dimension::ENERGY, 1e3),
    ("mJ", Dimension::ENERGY, 1e-3),
    ("W", Dimension::POWER, 1.0),
    ("kW", Dimension::POWER, 1e3),
    ("mW", Dimension::POWER, 1e-3),
    ("St", Dimension::VISCOSITY, 1e-4),
    ("cSt", Dimension::VISCOSITY, 1e-6),
    ("P", Dimension::DYNAMIC_VISCOSITY, 0.1),
    ("cP", Dimension::DYNAMIC_VISCOSITY, 1e-3),
    ("K", Dimension::TEMPERATURE, 1.0),
    ("mK", Dimension::TEMPERATURE, 1e-3),
];

/// What to do about a part of a unit that is none, where a quantity of a dimension is wanted.
pub(super) fn advice(part: &str, wanted: Option<Dimension>) -> String {
    if ["C", "degC", "°C", "Celsius", "celsius"].contains(&part) {
        return "temperatures are in kelvins: 20 °C are \"293.15 K\", and a difference of 1 °C is \"1 K\"".to_string();
    }
    let names = || NAMES.iter().map(|(name, _, _)| *name);
    let fitting = NAMES.iter().filter(|(_, dimension, _)| Some(*dimension) == wanted).map(|(name, _, _)| *name);
    match words::nearest(part, fitting).or_else(|| words::nearest(part, names())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("units are products of powers of {}", words::list(names())),
    }
}

/// A unit: its dimension and its size in m, kg, s, K.
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
            digits => {
                let power: Option<i32> = digits.trim_start_matches('^').parse().ok();
                power
                    .filter(|power| (-HIGHEST_POWER..=HIGHEST_POWER).contains(power))
                    .ok_or_else(|| factor.to_string())?
            }
        };
        // The sign for micro may be the Greek letter, too.
        let name = name.replace('\u{3bc}', "\u{b5}");
        if factor != "1" {
            let (_, dimension, size) = NAMES.iter().find(|(known, _, _)| *known == name).ok_or_else(|| name.clone())?;
            let power = power * sign;
            unit.dimension.m += power * dimension.m;
            unit.dimension.kg += power * dimension.kg;
            unit.dimension.s += power * dimension.s;
            unit.dimension.k += power * dimension.k;
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
            Dimension { kg: 0, k: 0, .. } => dimension.to_string(),
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
            ("1/s", Dimension::FREQUENCY, 1.0),
            ("km/h", Dimension::VELOCITY, 1.0 / 3.6),
            ("Pa*s", Dimension::DYNAMIC_VISCOSITY, 1.0),
            ("cP", Dimension::DYNAMIC_VISCOSITY, 1e-3),
            ("N s/m^2", Dimension::DYNAMIC_VISCOSITY, 1.0),
            ("N/m^2", Dimension::PRESSURE, 1.0),
            ("bar", Dimension::PRESSURE, 1e5),
            ("kJ", Dimension::ENERGY, 1e3),
            ("J/s", Dimension::POWER, 1.0),
            ("kN/m^3", of(-2, 1, -2), 1e3),
            ("in/s", Dimension::VELOCITY, 0.0254),
            ("m/s^2/K", Dimension { k: -1, ..of(1, 0, -2) }, 1.0),
            ("\u{3bc}m", Dimension::LENGTH, 1e-6),
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
        assert_eq!(parse("Pa^-2147483648"), Err("Pa^-2147483648".to_string()));
    }

    #[test]
    fn scales_follow_the_dimension() {
        let units = Units { si: true, cell: 1e-3, step: 1e-2, density: Some(1000.0) };
        assert!((units.scale(Dimension::VELOCITY) - 0.1).abs() < 1e-15);
        assert!((units.scale(Dimension::VISCOSITY) - 1e-4).abs() < 1e-18);
        assert!((units.scale(Dimension::DENSITY) - 1000.0).abs() < 1e-9);
        assert_eq!(Units::LATTICE.scale(Dimension::VISCOSITY), 1.0);
        let force = units.scale(Dimension::FORCE);
        assert!((units.force(3).0 / force - 1.0).abs() < 1e-12 && units.force(3).1 == "N");
        assert_eq!(
            (Units::LATTICE.force(2).0, Units { density: None, ..units }.force(2).1.split(' ').next()),
            (1.0, Some("m³/s²"))
        );
    }
}
