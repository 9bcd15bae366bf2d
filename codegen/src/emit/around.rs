//! What templates print of values which cells show to those around them.

use std::collections::BTreeSet;

use lbm_bundle::{Manifest, Role};
use lbm_dsl::expr::{Expr, Symbol};
use serde::Serialize;

use super::arithmetic::{formulas, idle};
use super::formula::{Language, Printer, real_name};
use super::method::Around;
use super::view::{Formulas, Pull, Value};
use super::walls::offsets;
use crate::ir::{Output, Plan};
use crate::lower::signature;

/// What cells show to those around them.
#[derive(Debug, Serialize)]
pub struct Neighbours {
    /// How many values a collision reads of its own cell and of those around.
    pub count: usize,
    /// What a cell shows, from its populations before a collision, and from those that are stored after it.
    pub expose: Exposed,
    pub expose_stored: Exposed,
    /// Of each value that is seen, where cells have it; then the direction that comes from there.
    pub shown: String,
    pub from: String,
    /// What walls have beyond them, and how their parameters are found.
    pub beyond: Vec<Beyond>,
    pub values: String,
    /// How many values a cell shows, and where it has the first.
    pub values_shown: usize,
    pub first: usize,
    /// GPU: the cells of a block and around it, if a kernel computes what these show.
    pub tile: Option<Tile>,
    /// The directions that something is seen from, and the opposite of each.
    pub ways: Vec<Sight>,
    pub from_ways: String,
    /// How many cells of a block those before each enter, and all of them.
    pub ends: String,
}

/// The cells of a block and of the layer around it, in the order of their coordinates.
#[derive(Debug, Serialize)]
pub struct Tile {
    /// The number of cells: of a row, of rows in a plane, of a plane, and of all.
    pub row: u32,
    pub rows: u32,
    pub plane: u32,
    pub cells: u32,
    /// Those cells of the layer whose values are read, as lines of a table, and how many they are.
    pub layer: Vec<String>,
    pub layer_cells: usize,
    /// The first cell of the block.
    pub first: u32,
    /// What arrives in a cell.
    pub arrivals: Vec<Arrival>,
}

/// A value that arrives in a cell of a tile, or that the cell has.
#[derive(Debug, Serialize)]
pub struct Arrival {
    /// Its number.
    pub at: usize,
    /// Terms of the position of the neighbour that it comes from, and of the index of the cell there.
    pub side: String,
    pub index: String,
}

/// What a cell shows, from its populations.
#[derive(Debug, Serialize)]
pub struct Exposed {
    /// Its values, with their places in memory.
    #[serde(flatten)]
    pub formulas: Formulas,
    /// Statements that keep compilers from complaining of parameters that it does not read.
    pub idle: Vec<String>,
}

/// A direction that something is seen from.
#[derive(Debug, Serialize)]
pub struct Sight {
    /// The number of what is seen of each shown value, -1 where that is not, as a row of a table.
    pub which: String,
    /// GPU: the slot of the neighbour, and the cell there.
    pub near: String,
    pub cell: String,
    /// GPU: how much further in a tile that cell is, ` + 3` or ` - 3`.
    pub further: String,
    /// What is seen.
    pub values: Vec<SeenValue>,
}

/// A value that is seen along a direction.
#[derive(Debug, Serialize)]
pub struct SeenValue {
    /// Its position behind all values of a cell.
    pub at: usize,
    /// Where cells have it, and its number among the values that they show.
    pub row: usize,
    pub shown: usize,
}

/// What a wall has beyond it of a value that is seen.
#[derive(Debug, Serialize)]
pub struct Beyond {
    /// The rule of the wall.
    pub code: i32,
    /// The value, as cells have it.
    pub shown: usize,
    /// Statements, of which the last returns it from `image`, what the image of the place has.
    pub lines: Vec<String>,
}

/// What cells show, and what is beyond walls; `pull` says from where a position is pulled.
pub fn view(manifest: &Manifest, plans: &Around, pull: impl Fn(usize) -> Pull) -> Neighbours {
    let row = |seen: &lbm_bundle::Seen| manifest.shown[seen.shown as usize].value.to_string();
    let from = |seen: &lbm_bundle::Seen| manifest.directions[seen.direction as usize].opposite.to_string();
    let beyond: Vec<Beyond> =
        plans.beyond.iter().enumerate().flat_map(|(code, plan)| beyond(manifest, code, plan)).collect();
    let reads_values = beyond.iter().flat_map(|rule| &rule.lines).any(|line| line.contains("value["));
    let directions: BTreeSet<u32> = manifest.seen.iter().map(|seen| seen.direction).collect();
    let opposite = |direction: &u32| manifest.directions[*direction as usize].opposite.to_string();
    Neighbours {
        values_shown: manifest.shown.len(),
        first: manifest.shown.first().map_or(0, |shown| shown.value as usize),
        from_ways: directions.iter().map(opposite).collect::<Vec<_>>().join(", "),
        ends: ends(manifest, &directions),
        tile: manifest.kernel(Role::ExposeStreamCollide).map(|_| tile(manifest, &directions)),
        ways: directions.iter().map(|direction| sight(manifest, *direction, &pull)).collect(),
        values: match reads_values {
            true => {
                let real = real_name(manifest.real);
                format!("const {real} *value = wall_values + (size_t)w * {};", manifest.wall_stride)
            }
            false => "(void)wall_values;".into(),
        },
        count: manifest.q() + manifest.seen.len(),
        expose: exposed(manifest, plans.expose),
        expose_stored: exposed(manifest, plans.expose_stored),
        shown: manifest.seen.iter().map(row).collect::<Vec<_>>().join(", "),
        from: manifest.seen.iter().map(from).collect::<Vec<_>>().join(", "),
        beyond,
    }
}

fn exposed(manifest: &Manifest, plan: &Plan) -> Exposed {
    let place = |output: &Output| output.population.expect("it is stored").index();
    let found = formulas(manifest, plan);
    let outputs = found.outputs.into_iter().zip(plan.dag().outputs());
    let outputs = outputs.map(|(value, output)| Value { at: place(output), ..value }).collect();
    Exposed { formulas: Formulas { outputs, ..found }, idle: idle(manifest, plan) }
}

/// How many cells of a block the directions before each enter, and all of them: what is seen along a direction is brought by the opposite one.
fn ends(manifest: &Manifest, directions: &BTreeSet<u32>) -> String {
    let inside = |c: [i32; 3]| -> u32 { (0..3).map(|axis| manifest.block[axis] - u32::from(c[axis] != 0)).product() };
    let entered = |direction: &u32| manifest.cells() - inside(manifest.directions[*direction as usize].c) as usize;
    let ends = directions.iter().scan(0, |end, direction| {
        *end += entered(direction);
        Some(*end)
    });
    [0].into_iter().chain(ends).map(|end| end.to_string()).collect::<Vec<_>>().join(", ")
}

/// The cells of a block and around it.
fn tile(manifest: &Manifest, directions: &BTreeSet<u32>) -> Tile {
    let sides = signature::tile(manifest);
    let layers: [u32; 3] = std::array::from_fn(|axis| (sides[axis] - manifest.block[axis]) / 2);
    let number = |at: [i32; 3]| -> u32 {
        let [x, y, z]: [u32; 3] = std::array::from_fn(|axis| (at[axis] + layers[axis] as i32) as u32);
        x + sides[0] * (y + sides[1] * z)
    };
    let inside = |at: [i32; 3]| (0..3).all(|axis| (0..manifest.block[axis] as i32).contains(&at[axis]));
    let mut layer = BTreeSet::new();
    for cell in 0..manifest.cells() as u32 {
        let [bx, by, _] = manifest.block;
        let own = [cell % bx, cell / bx % by, cell / bx / by];
        for direction in directions {
            let c = manifest.directions[*direction as usize].c;
            let seen = std::array::from_fn(|axis| own[axis] as i32 + c[axis]);
            layer.extend((!inside(seen)).then(|| number(seen)));
        }
    }
    let layer: Vec<String> = layer.iter().map(|cell| format!("{cell},")).collect();
    Tile {
        cells: sides.iter().product(),
        layer_cells: layer.len(),
        layer: layer.chunks(20).map(|line| line.join(" ")).collect(),
        first: number([0; 3]),
        arrivals: (0..manifest.shown[0].value as usize).map(|at| arrival(manifest, at)).collect(),
        row: sides[0],
        rows: sides[1],
        plane: sides[0] * sides[1],
    }
}

fn arrival(manifest: &Manifest, at: usize) -> Arrival {
    let c = manifest.directions[at].c;
    let terms = |of: &str| {
        let along = |axis: usize| format!("{of}[{axis}][{}]", c[axis] + 1);
        (0..manifest.dim as usize).map(along).collect::<Vec<_>>().join(" + ")
    };
    Arrival { at, side: terms("side"), index: terms("index") }
}

/// What is seen along a direction.
fn sight(manifest: &Manifest, direction: u32, pull: impl Fn(usize) -> Pull) -> Sight {
    let number = |shown: usize| {
        manifest.seen.iter().position(|seen| (seen.shown as usize, seen.direction) == (shown, direction))
    };
    let all = 0..manifest.shown.len();
    let which = all.clone().map(|shown| number(shown).map_or("-1".into(), |number| number.to_string()));
    let of = |shown: usize| {
        let at = manifest.q() + number(shown)?;
        Some(SeenValue { at, row: manifest.shown[shown].value as usize, shown })
    };
    let values: Vec<SeenValue> = all.clone().filter_map(of).collect();
    let Pull { near, cell, .. } = pull(values[0].at);
    let [tx, ty, _] = signature::tile(manifest).map(|side| side as i32);
    let [cx, cy, cz] = manifest.directions[direction as usize].c;
    let steps = cx + tx * (cy + ty * cz);
    let further = format!("{} {}", if steps < 0 { "-" } else { "+" }, steps.abs());
    Sight { which: format!("{{{}}},", which.collect::<Vec<_>>().join(", ")), near, cell, further, values }
}

/// What is beyond walls with the rule of that code, where it is not what the image has.
fn beyond(manifest: &Manifest, code: usize, plan: &Plan) -> Vec<Beyond> {
    let boundary = &manifest.boundaries[code];
    let real = real_name(manifest.real);
    let offsets = offsets(boundary);
    let mirrors = boundary.at_face == lbm_bundle::AtFace::Slip;
    let of_value = |(shown, output): (&lbm_bundle::Shown, &Output)| {
        let at = shown.value as usize;
        if let Expr::Symbol(Symbol::Population(_)) = plan.dag().exprs().get(output.value) {
            // A mirror turns the normal component of a vector round.
            let axis = shown.axis.filter(|_| mirrors)?;
            let lines = vec![format!("return flipped >> {axis} & 1 ? -image : image;")];
            return Some(Beyond { code: code as i32, shown: at, lines });
        }
        let mut printer = Printer::new(plan, manifest.real, Language::C);
        let mut lines = Vec::new();
        let needed = plan.dag().exprs().needed(&[output.value]);
        for (symbol, name) in plan.dag().symbols() {
            let is_needed =
                plan.dag().exprs().iter().any(|(id, node)| needed[id.index()] && *node == Expr::Symbol(*symbol));
            match *symbol {
                _ if !is_needed => {}
                Symbol::Population(_) => printer.spell(*symbol, "image".into()),
                Symbol::WallParam { param, component } => {
                    let from = offsets[usize::from(param)] + u32::from(component);
                    lines.push(format!("const {real} {name} = value[{from}];"));
                }
                _ => {}
            }
        }
        printer.inline_below(output.value);
        for id in printer.needs(output.value) {
            lines.extend(printer.statement(&printer.operand(id), id));
        }
        lines.push(format!("return {};", printer.formula(output.value)));
        Some(Beyond { code: code as i32, shown: at, lines })
    };
    manifest.shown.iter().zip(plan.dag().outputs()).filter_map(of_value).collect()
}
