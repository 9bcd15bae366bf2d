//! Parameters of a method from `--set NAME=VALUE`.

use lbm_bundle::plain::listed;
use lbm_dsl::model::{Model, Param};
use lbm_flows::case::{Case, Parameter, nearest, parameter};
use miette::{Report, Result, miette};
use num_traits::ToPrimitive;

/// A value for every component of every parameter of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// `values[param][component]`.
    values: Vec<Vec<f64>>,
}

impl Params {
    /// Reads `NAME=VALUE` settings; each component must be set exactly once, inside its range. A parameter of which none is set has its default.
    pub fn parse(model: &Model, settings: &[String]) -> Result<Params> {
        let names = components(model);
        let fail = |name: &String| error(model, &names, format!("{name} is not set"));
        let take = |(param, components): (usize, Vec<Option<f64>>)| {
            if let (Some(default), true) = (default(&model.params()[param]), components.iter().all(Option::is_none)) {
                return Ok(vec![default; components.len()]);
            }
            let named = components.into_iter().zip(&names[param]);
            named.map(|(value, name)| value.ok_or_else(|| fail(name))).collect()
        };
        let values = Params::some(model, settings)?.into_iter().enumerate().map(take).collect::<Result<_>>()?;
        Ok(Params { values })
    }

    /// Reads settings of which some may be missing: `[param][component]`. They are addressed as `lbmc run` has them: `omega`,
    /// `params.omega`, a vector as `g=[0.1,0]`, or a component of it as `gx` or `g.0`.
    pub fn some(model: &Model, settings: &[String]) -> Result<Vec<Vec<Option<f64>>>> {
        let names = components(model);
        let known = parameters(model);
        let mut values: Vec<Vec<Option<f64>>> = names.iter().map(|components| vec![None; components.len()]).collect();
        let fail = |what: String| error(model, &names, what);
        for setting in settings {
            let (key, text) = setting.split_once('=').ok_or_else(|| fail(format!("`{setting}` is not NAME=VALUE")))?;
            let (key, text) = (key.trim(), text.trim());
            let (param, component) = parameter(&known, key).ok_or_else(|| no_such(model, &names, key))?;
            let list = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|_| component.is_none());
            let texts: Vec<&str> = list.map_or(vec![text], |list| list.split(',').map(str::trim).collect());
            let first = component.unwrap_or(0);
            let count = component.map_or(names[param].len(), |_| 1);
            if texts.len() != count {
                let each = names[param].join(", ");
                return Err(fail(format!("{key} has {count} components, {each}, but `{text}` has {}", texts.len())));
            }
            for (component, text) in (first..).zip(texts) {
                let name = &names[param][component];
                let value: f64 = text.parse().map_err(|_| fail(format!("`{text}`, given for {name}, is no number")))?;
                if !value.is_finite() {
                    return Err(fail(format!("{name} = {text} is not finite")));
                }
                if let Some((low, high)) = &model.params()[param].range {
                    let exact = num_rational::BigRational::from_float(value).expect("finite");
                    if exact <= *low || exact >= *high {
                        return Err(fail(format!("{name} = {text} is not between {low} and {high}")));
                    }
                }
                if values[param][component].replace(value).is_some() {
                    return Err(fail(format!("{name} is set twice")));
                }
            }
        }
        Ok(values)
    }

    /// Value of a component.
    pub fn value(&self, param: u16, component: u8) -> f64 {
        self.values[usize::from(param)][usize::from(component)]
    }
}

/// The default of a parameter, if the spec states one.
pub fn default(param: &Param) -> Option<f64> {
    param.default.as_ref().and_then(ToPrimitive::to_f64)
}

/// The parameters of a method in a case; `None` where they vary from cell to cell, or the case does not have them.
pub fn of_case(model: &Model, case: &Case) -> Option<Vec<Vec<f64>>> {
    let value = |name: &str| Some(case.params.iter().find(|(param, _)| *param == name)?.1.clone());
    if model.fields().iter().any(|field| field.place) {
        return None;
    }
    model.params().iter().map(|param| value(&param.name)).collect()
}

/// There is no parameter that `key` means: what was probably meant, or all there are.
fn no_such(model: &Model, names: &[Vec<String>], key: &str) -> Report {
    let what = format!("there is no parameter `{key}`");
    match nearest(key, names.iter().flatten().map(String::as_str)) {
        Some(near) => miette!(code = "L0107", help = format!("did you mean `{near}`?"), "{what}"),
        None => error(model, names, what),
    }
}

fn error(model: &Model, names: &[Vec<String>], what: String) -> Report {
    let known = if names.is_empty() { "none".into() } else { listed(names.concat()) };
    miette!(code = "L0107", help = format!("the parameters of {} are: {known}", model.name()), "{what}")
}

/// The parameters of a model, as `--set` may name them.
pub fn parameters(model: &Model) -> Vec<Parameter> {
    let parameter = |param: &Param| Parameter { name: param.name.clone(), components: param.components };
    model.params().iter().map(parameter).collect()
}

/// Name of every component of every parameter: `omega`, `gx`.
pub fn all_names(model: &Model) -> Vec<String> {
    components(model).concat()
}

fn components(model: &Model) -> Vec<Vec<String>> {
    model.params().iter().map(|param| names(&param.name, param.components)).collect()
}

/// Names of the components of a parameter: its own for a scalar, `gx`, `gy`, `gz` for a vector `g`.
fn names(name: &str, components: usize) -> Vec<String> {
    match components {
        1 => vec![name.to_string()],
        _ => ["x", "y", "z"][..components].iter().map(|axis| format!("{name}{axis}")).collect(),
    }
}
