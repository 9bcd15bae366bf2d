//! `lbmc specs --boundaries`: the boundary rules of the prelude, a row of a table each. All of it follows from their text.

use lbm_codegen::count::count;
use lbm_codegen::{lower, simplify};
use lbm_dsl::expr::ExprId;
use lbm_dsl::model::{Boundary, Model, Param, Rule};
use lbm_dsl::prove::channel;
use lbm_dsl::shipped::{self, Prelude};
use lbm_setup::rates::Rates;
use lbm_setup::spec::Spec;
use lbm_setup::walls::SAME;
use miette::{Result, miette};

use crate::terminal;

/// Methods whose operations are counted.
const METHODS: [&str; 2] = ["d2q9_bgk", "d3q19_bgk"];
/// Begins the sentence of a comment that says what a rule at an inlet or outlet goes with.
const PAIRS: &str = "Goes with ";

/// Runs the command.
pub fn boundaries() -> Result<()> {
    let rules: Vec<String> = shipped::rules(&Prelude)?.into_iter().map(|(_, rule)| rule).collect();
    let names: Vec<&str> = rules.iter().map(String::as_str).collect();
    let model = |method: &str| Spec::find(method)?.model_with(&names, None, None, &[]);
    let models = METHODS.iter().map(|method| model(method)).collect::<Result<Vec<Model>>>()?;
    let lattices: Vec<&str> = models.iter().map(|model| model.lattice().name()).collect();
    let head = [
        "boundary condition".into(),
        "what it is for".into(),
        "parameters".into(),
        "kind".into(),
        "wall".into(),
        format!("operations, {}", lattices.join(" / ")),
        "combine with".into(),
    ];
    let mut rows = vec![head];
    for name in names {
        rows.push(row(name, &models)?);
    }
    tell(&rows);
    Ok(())
}

fn row(name: &str, models: &[Model]) -> Result<[String; 7]> {
    let place = |model: &Model| model.boundaries().iter().position(|rule| rule.name == name);
    let first = place(&models[0]).ok_or_else(|| miette!(code = "L0120", "`{name}` is lost"))?;
    let rule = &models[0].boundaries()[first];
    let (what, pairs) = rule.doc.split_once(PAIRS).unwrap_or((&rule.doc, ""));
    let mut operations = Vec::new();
    for model in models {
        let at = place(model).ok_or_else(|| miette!(code = "L0120", "`{name}` is lost"))?;
        operations.push(cost(model, at)?);
    }
    let (kind, unit) = match rule.rule {
        Rule::Link(_) => ("link-wise", "a link"),
        Rule::Node(_) => ("wet-node", "a cell"),
    };
    let params: Vec<String> = rule.params.iter().map(parameter).collect();
    Ok([
        format!("`{name}`"),
        what.trim().into(),
        params.join("; "),
        kind.into(),
        wall(&models[0], rule)?,
        format!("{} {unit}", operations.join(" / ")),
        pairs.trim().trim_end_matches('.').into(),
    ])
}

/// `velocity[a]`: of the wall, in cells per time step.
fn parameter(param: &Param) -> String {
    let index = if param.components > 1 { "[a]" } else { "" };
    let range = param.range.as_ref().map_or(String::new(), |(low, high)| format!(" in ({low}, {high})"));
    let default = param.default.as_ref().map_or(String::new(), |value| format!(" = {value}"));
    format!("`{}{index}{default}`{range}: {}", param.name, param.doc)
}

/// Operations of the rule at that position: of a link in the mean, or of a cell at a face.
fn cost(model: &Model, rule: usize) -> Result<String> {
    let kernel = &lower::wall(model, rule)[0];
    let dag = simplify::simplify(kernel).map_err(|error| miette!(code = "L0108", "{error}"))?;
    let outputs: Vec<ExprId> = dag.outputs().iter().map(|output| output.value).collect();
    let flops = count(dag.exprs(), &outputs).flops;
    let lattice = model.lattice();
    Ok(match model.boundaries()[rule].rule {
        Rule::Node(_) => flops.to_string(),
        Rule::Link(_) => {
            let moving = lattice.dirs().filter(|dir| lattice.velocity(*dir).iter().any(|c| *c != 0)).count();
            format!("{:.0}", f64::from(flops) / moving as f64)
        }
    })
}

/// Where the wall lies: computed for a rule that holds a velocity, else where rules of its kind lie.
fn wall(model: &Model, rule: &Boundary) -> Result<String> {
    let rates = Rates::new(model, None, &[])?;
    let (mut places, mut as_given) = (Vec::new(), true);
    for own in channel::choices(rule) {
        for rate in rates.few() {
            let Ok(wall) = channel::wall(model, rule, &rates.params(rate), &own) else { continue };
            as_given &= own.iter().flatten().all(|given| (given - wall.linear).abs() < SAME);
            places.push(wall.linear);
        }
    }
    let all_at = |place: f64| places.iter().all(|found| (found - place).abs() < SAME);
    let own = rule.params.iter().find(|param| param.range.is_some());
    Ok(match (&rule.rule, own) {
        (_, Some(own)) if as_given && !places.is_empty() => format!("at `{}`", own.name),
        (Rule::Link(_), _) if all_at(0.5) => "half-way".into(),
        (Rule::Node(_), _) if all_at(0.0) => "on the outermost cell centres".into(),
        _ => {
            let (low, high) =
                (places.iter().copied().fold(f64::MAX, f64::min), places.iter().copied().fold(f64::MIN, f64::max));
            format!("{low:.2} to {high:.2} cells outside the outermost cell centres")
        }
    })
}

/// Prints rows below a head: on a terminal as entries of its width, else as the table of a page.
pub(super) fn tell<const N: usize>(rows: &[[String; N]]) {
    match terminal::width() {
        Some(width) => print!("{}", entries(rows, width)),
        None => print!("{}", table(rows)),
    }
}

/// Each row as an entry: its first cell, and below it the others that are not empty, named by the head.
fn entries<const N: usize>(rows: &[[String; N]], width: usize) -> String {
    let mut text = String::new();
    for row in rows.iter().skip(1) {
        text += &format!("{}\n", row[0].trim_matches('`'));
        for (name, cell) in rows[0].iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
            text += &format!("{}\n", terminal::entry(&format!("  {name}: "), cell, Some(width)));
        }
    }
    text
}

/// Rows with their cells in line, as Markdown.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let line = |row: &[String; N]| {
        let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", width(column)));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule: [String; N] = std::array::from_fn(|column| "-".repeat(width(column)));
    rows[..1].iter().chain([&rule]).chain(&rows[1..]).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_no_wider_than_the_terminal() {
        let rows = [
            ["rule", "what it is for", "wall"],
            ["`a_wall`", &"a wall that moves along with the fluid ".repeat(9), ""],
        ];
        let text = entries(&rows.map(|row| row.map(String::from)), 72);
        assert!(
            text.lines().all(|line| line.len() <= 72) && text.starts_with("a_wall\n  what it is for: a wall"),
            "{text}"
        );
        assert!(!text.contains("wall:") && text.lines().count() > 5, "{text}");
    }
}
