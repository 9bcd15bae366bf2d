//! Parameters of the method that vary in space or with the fields of the flow.
//!
//! In: a case as written, with an absorbing layer, laws of the wall or without, and what is known of its method before it is compiled. Out: [`Variation`]s, with which it is compiled. After: each
//! formula is one of fields, of places, which are its largest parts that depend on the position alone, and of numbers, which are
//! its largest parts that depend on the time alone. So any formula of position, time and fields is one.

use lbm_bundle::formula::Function;
use lbm_bundle::slides;
use lbm_bundle::variation::{MIXING, VISCOSITY, Variation};
use lbm_bundle::{Field, Param, Unit};

use super::absorbing;
use super::diag::{self, CaseError, Report, Spanned};
use super::formula::{Formula, POSITIONS, TIME};
use super::keys::params::RawParam;
use super::raw::RawCase;
use super::units::Dimension;
use super::varied::{Number, Place, Varied};

/// Most places of a parameter: each is two numbers that each cell reads and writes in a step.
const MOST_PLACES: usize = 8;

/// What is known of a method before it is compiled.
#[derive(Clone, Debug)]
pub struct Method {
    /// What it is called.
    pub name: String,
    /// Number of axes.
    pub dim: usize,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The parameter that sets its viscosity, if it is one alone.
    pub rate: Option<String>,
}

impl RawCase {
    /// Whether it may have parameters that vary: [`Self::vary`] then has to be asked before the method is compiled.
    pub fn may_vary(&self) -> bool {
        let varies = self.absorbing.is_some() || self.fluid.varied().is_some() || self.params.iter().any(varies);
        varies || self.may_mix().is_some()
    }

    /// The first surface under a law of the wall, in a case that says nothing of the mixing length below it.
    fn may_mix(&self) -> Option<&Spanned<String>> {
        let rules = self.solids.iter().flat_map(|solid| solid.value.surface.all()).map(|face| &face.rule);
        rules.filter(|_| !self.gives(MIXING)).find(|rule| rule.value == slides::RULE)
    }

    /// Whether it says what a parameter of the method is.
    pub fn gives(&self, param: &str) -> bool {
        self.params.iter().any(|given| given.name.value == param)
    }

    /// The mixing length below laws of the wall, for a method that has one.
    fn mixing(&self, method: &Method) -> Option<Varied> {
        let rule = self.may_mix()?;
        let param = method.params.iter().find(|param| param.name == MIXING && param.components == 1)?;
        let place = format!("{MIXING}_{PLACE}_0");
        let variation = Variation {
            param: MIXING.into(),
            formulas: vec![lbm_bundle::Formula::name(&place)],
            places: vec![place],
            numbers: vec![],
            unit: None,
            viscosity: false,
        };
        let name = Spanned { value: MIXING.to_string(), span: rule.span.clone() };
        let raw = RawParam { name, span: rule.span.clone(), values: vec![] };
        let places = vec![Place::Mixing];
        Some(Varied { variation, param: param.clone(), raw, dimension: Dimension::NUMBER, places, numbers: vec![] })
    }

    /// The parameters that vary, for its method.
    pub fn vary(&mut self, method: &Method) -> Result<Vec<Variation>, CaseError> {
        let mut report = Report::default();
        let fields: Vec<&str> = method.fields.iter().map(|field| &field.name[..]).collect();
        let absorbing = self.absorbing.as_ref();
        let layer = absorbing.and_then(|absorbing| self.layer(absorbing, (method.dim, &fields), &mut report));
        let mut method = method.clone();
        method.params.extend(layer.as_ref().map(|_| absorbing::rate()));
        let varied: Vec<Varied> = self
            .params
            .iter()
            .chain(self.fluid.varied())
            .chain(layer.as_ref().map(|layer| &layer.rate))
            .filter_map(|raw| self.varied(raw, &method, &mut report))
            .chain(self.mixing(&method))
            .collect();
        report.finish(&self.name, Some(()))?;
        self.varied = varied;
        self.params.extend(layer.into_iter().flat_map(|layer| layer.far));
        Ok(self.varied.iter().map(|varied| varied.variation.clone()).collect())
    }

    /// The error that a parameter depends on a field that is computed with it.
    pub fn reject_circular(&self, variation: &Variation, field: &str) -> CaseError {
        let mut report = Report::default();
        let own = self.varied.iter().find(|varied| varied.variation == *variation);
        let (span, name) = own.map_or((&self.top.spec.span, &variation.param), |own| (&own.raw.span, &own.param.name));
        let message = format!("`{name}` depends on `{field}`, which the method computes with it");
        let help = "take other fields, or a method that has this dependence: `d2q9_porous` has a drag in proportion to the velocity";
        report.add::<()>(diag::CIRCULAR, span, message, "depends on itself", help.to_string());
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    fn varied(&self, raw: &RawParam, method: &Method, report: &mut Report) -> Option<Varied> {
        let viscosity = self.fluid.varied().is_some_and(|varied| varied.span.range == raw.span.range);
        if !viscosity && !varies(raw) {
            return None;
        }
        let refuse = |report: &mut Report, message: String, help: &str| {
            report.add(diag::NOT_VARIED, &raw.span, message, "varies", help.to_string())
        };
        let param = if viscosity {
            let Some(rate) = &method.rate else {
                let message = format!("no single parameter of {} sets its viscosity", method.name);
                let help = "its parameters in `[params]` may vary".to_string();
                return report.add(diag::NO_SINGLE_RATE, &raw.span, message, "sets the viscosity", help);
            };
            let unit = Some(Unit { length: 2, time: -1 });
            let doc = "kinematic viscosity".to_string();
            let param = Param {
                name: VISCOSITY.into(),
                components: 1,
                default: None,
                range: Some((0.0, f64::INFINITY)),
                unit,
                doc,
            };
            let others = method.params.iter().filter(|param| param.name != *rate && param.unit.is_none());
            if let (Some(other), Some(_)) = (others.into_iter().next(), &self.refinement) {
                let message = format!(
                    "the viscosity varies on several levels, and nothing says what `{}` is on the finer ones: its rule takes `{rate}`",
                    other.name
                );
                return refuse(report, message, "take a method with a single rate, or one level");
            }
            param
        } else {
            let param = method.params.iter().find(|param| param.name == raw.name.value)?;
            if method.rate.as_ref() == Some(&param.name) {
                let message = format!("`{}` sets the viscosity, and does not vary by itself", param.name);
                return refuse(
                    report,
                    message,
                    "let the viscosity vary: `[fluid] viscosity = \"0.01 + 0.1 * x / lx\"`",
                );
            }
            if let (true, None, Some(_)) = (param.components > 1, param.unit, &self.refinement) {
                let message = format!("`{}` has no unit, so its value on finer levels is unknown", param.name);
                return refuse(
                    report,
                    message,
                    "declare its unit in the spec, such as `param force[a]: length / time^2;`",
                );
            }
            param.clone()
        };
        if raw.values.len() != param.components as usize {
            let message = format!("`{}` has {} components, not {}", param.name, param.components, raw.values.len());
            let label = format!("{} expected", param.components);
            return report.add(diag::COMPONENTS, &raw.span, message, label, None);
        }
        let mut parts = Parts {
            fields: &method.fields,
            dim: method.dim,
            si: self.si.is_some(),
            param: &param.name,
            places: vec![],
            numbers: vec![],
        };
        let mut formulas = vec![];
        for (formula, _) in &raw.values {
            if let Some(name) = formula.beyond(method.dim) {
                let message = format!("{} has {} axes, and no `{name}`", method.name, method.dim);
                return report.add(diag::WRONG_DIMENSION, &raw.span, message, "no such axis", None);
            }
            let known = |name: &str| Formula::knows(name) || parts.field(name).is_some();
            if let Some(error) = formula.unknown(&known) {
                let fields: Vec<String> =
                    method.fields.iter().flat_map(|field| field.component_names(method.dim as u32)).collect();
                let help = format!("{}; fields of the method: {}", error.help, fields.join(", "));
                return report.add(diag::FORMULA, &raw.span, error.message, error.label, help);
            }
            match parts.split(&formula.with_extents(&self.extents())) {
                Ok(formula) => formulas.push(formula),
                Err(Mixed) => {
                    let message = format!(
                        "a table or noise of `{}` is read at a value that depends on fields, or on place and time",
                        param.name
                    );
                    return refuse(
                        report,
                        message,
                        "these are read at values of the position alone, or of the time alone",
                    );
                }
            }
        }
        let Parts { places, numbers, .. } = parts;
        if places.len() > MOST_PLACES {
            let message = format!(
                "`{}` has {} parts that depend on the position alone, more than {MOST_PLACES}",
                param.name,
                places.len()
            );
            return refuse(
                report,
                message,
                "each is kept in every cell: put those beside each other that are multiplied or added",
            );
        }
        let dimension = raw.values.iter().map(|(_, dimension)| *dimension).find(|found| *found != Dimension::NUMBER);
        let dimension = dimension.unwrap_or_default();
        let scaled = dimension != Dimension::NUMBER || param.unit.is_some_and(|unit| unit.length + unit.time != 0);
        let name = |what: &str, count: usize| (0..count).map(|at| format!("{}_{what}_{at}", param.name)).collect();
        let variation = Variation {
            param: method.rate.clone().filter(|_| viscosity).unwrap_or(param.name.clone()),
            formulas,
            places: name(PLACE, places.len()),
            numbers: name(NUMBER, numbers.len()),
            unit: scaled.then(|| format!("{}_unit", param.name)),
            viscosity,
        };
        Some(Varied { variation, param, raw: raw.clone(), dimension, places, numbers })
    }

    /// Extents of the domain, in the units of the case.
    pub(super) fn extents(&self) -> [f64; 3] {
        std::array::from_fn(|axis| self.domain.size.value.get(axis).map_or(1.0, |size| size.value))
    }
}

const PLACE: &str = "place";
const NUMBER: &str = "number";

/// Whether a parameter of the method varies by more than the time.
fn varies(raw: &RawParam) -> bool {
    raw.values.iter().any(|(formula, _)| formula.varies_in_place() || formula.reads_fields())
}

/// What formulas are made of.
struct Parts<'a> {
    fields: &'a [Field],
    dim: usize,
    si: bool,
    param: &'a str,
    places: Vec<Place>,
    numbers: Vec<Number>,
}

/// A table or noise is read at what is no value of a place or of a time.
struct Mixed;

impl Parts<'_> {
    /// The field of which a name is a component.
    fn field(&self, name: &str) -> Option<&Field> {
        let has = |field: &&Field| field.component_names(self.dim as u32).iter().any(|component| component == name);
        self.fields.iter().find(has)
    }

    /// A formula in terms of fields, places and numbers.
    fn split(&mut self, formula: &lbm_bundle::Formula) -> Result<lbm_bundle::Formula, Mixed> {
        let names = formula.names();
        let (in_place, in_time) = (names.iter().any(|name| POSITIONS.contains(name)), names.contains(TIME));
        let of_flow = names.iter().any(|name| self.field(name).is_some());
        match (in_place, in_time, of_flow) {
            (false, false, false) => Ok(formula.clone()),
            (true, false, false) => {
                let at = position(&mut self.places, Place::Formula(Formula::from(formula.clone())));
                Ok(self.name(PLACE, at))
            }
            (false, true, false) => {
                let at = position(&mut self.numbers, Number::Course(Formula::from(formula.clone())));
                Ok(self.name(NUMBER, at))
            }
            _ => match formula {
                lbm_bundle::Formula::Apply(function, operands) => {
                    let operands: Result<Vec<_>, Mixed> = operands.iter().map(|operand| self.split(operand)).collect();
                    Ok(lbm_bundle::Formula::Apply(*function, operands?))
                }
                lbm_bundle::Formula::Name(name) => Ok(self.of_field(name, formula)),
                lbm_bundle::Formula::Number(_)
                | lbm_bundle::Formula::Table(..)
                | lbm_bundle::Formula::Noise(..)
                | lbm_bundle::Formula::Recorded(..) => Err(Mixed),
            },
        }
    }

    /// A component of a field in the units of the case.
    fn of_field(&mut self, name: &str, formula: &lbm_bundle::Formula) -> lbm_bundle::Formula {
        let dimension = match self.field(name).map(|field| &field.name[..]) {
            Some("rho") => Dimension::DENSITY,
            Some("u") => Dimension::VELOCITY,
            _ => Dimension::NUMBER,
        };
        if !self.si || dimension == Dimension::NUMBER {
            return formula.clone();
        }
        let at = position(&mut self.numbers, Number::Scale(dimension));
        lbm_bundle::Formula::apply(Function::Multiply, [formula.clone(), self.name(NUMBER, at)])
    }

    fn name(&self, what: &str, at: usize) -> lbm_bundle::Formula {
        lbm_bundle::Formula::name(&format!("{}_{what}_{at}", self.param))
    }
}

/// Where a part is among others, which it joins.
fn position<T: PartialEq>(all: &mut Vec<T>, part: T) -> usize {
    all.iter().position(|known| *known == part).unwrap_or_else(|| {
        all.push(part);
        all.len() - 1
    })
}

impl RawCase {
    /// The parameter that has a place of that name, and what cells keep there.
    pub(super) fn place(&self, name: &str) -> Option<(&Varied, &Place)> {
        self.varied.iter().find_map(|varied| {
            let at = varied.variation.places.iter().position(|place| place == name)?;
            Some((varied, &varied.places[at]))
        })
    }

    /// The parameter that another one, of that name, belongs to: that of its unit, or one of its numbers.
    pub(super) fn part(&self, name: &str) -> Option<(&Varied, Option<&Number>)> {
        self.varied.iter().find_map(|varied| match varied.variation.unit.as_deref() == Some(name) {
            true => Some((varied, None)),
            false => {
                let at = varied.variation.numbers.iter().position(|number| number == name)?;
                Some((varied, Some(&varied.numbers[at])))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (String, Vec<String>, usize) {
        let fields = [Field::own("rho", 1), Field::own("u", 2)];
        let mut parts = Parts { fields: &fields, dim: 2, si: false, param: "p", places: vec![], numbers: vec![] };
        let formula: lbm_bundle::Formula = text.parse().expect("a formula");
        let formula = parts.split(&formula).map_or("mixed".to_string(), |formula| formula.to_string());
        let text = |place: &Place| match place {
            Place::Formula(formula) => format!("{formula:?}"),
            Place::Mixing => unreachable!("no formula has it"),
        };
        (formula, parts.places.iter().map(text).collect(), parts.numbers.len())
    }

    #[test]
    fn a_formula_is_split_into_its_largest_parts() {
        for (text, formula, places, numbers) in [
            ("1 + x^2", "p_place_0", &["1 + x^2"][..], 0),
            ("2 * t", "p_number_0", &[], 1),
            ("(x + y) * rho + sin(x + y)", "p_place_0 * rho + p_place_1", &["x + y", "sin(x + y)"], 0),
            ("exp(-(x - 2 * t)^2)", "exp(-(p_place_0 - p_number_0)^2)", &["x"], 1),
            ("if(y < 4, 1, ux)", "if(p_place_0, 1, ux)", &["y < 4"], 0),
            ("x * rho + x * ux", "p_place_0 * rho + p_place_0 * ux", &["x"], 0),
        ] {
            let found = split(text);
            assert_eq!(found.0, formula, "{text}");
            assert_eq!((found.1, found.2), (places.iter().map(ToString::to_string).collect(), numbers), "{text}");
        }
    }
}
