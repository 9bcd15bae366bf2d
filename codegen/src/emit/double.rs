//! Formulas of named values as C and CUDA in 64 bits: what is used several times is computed once and has a name.
//!
//! Nothing of a formula's text reaches the emitted one but its numbers, printed so that they read back as the same, and the functions of
//! [`library`]. Names become what the caller says.

use std::collections::BTreeMap;

use lbm_bundle::Formula;
use lbm_bundle::formula::{Function, Noise, Plane, Points, Recorded};
use serde::Serialize;

use super::formula::wrap;
use super::function::library;

/// A value. Operands come before what takes them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// The bits of a number.
    Number(u64),
    /// What the caller says for a name.
    Given(String),
    Apply(Function, Vec<Value>),
    /// The table of that number, which has so many points, at a value.
    Table(usize, usize, Value),
    /// Noise at a point.
    Noise(Noise, [Value; 3]),
    /// A component of the recording of that number at a place and a time.
    Recorded(usize, usize, [Value; 3]),
}

/// What formulas of a file read that is not in their text: the points of tables, which a function `table_at` reads, noise, which a function
/// `noise_at` computes, and recordings, each of which has a function that reads `frames`.
#[derive(Default)]
pub struct Tables {
    points: Vec<Points>,
    /// Whether any reads noise.
    pub noise: bool,
    /// Recordings in the order of their frames.
    pub recordings: Vec<Plane>,
}

/// A recording as the template has it.
#[derive(Serialize)]
pub struct Recording {
    first: usize,
    second: usize,
    around_first: u8,
    around_second: u8,
    components: usize,
    slots: usize,
    /// Number of the last frame, -1 where it begins again.
    last: i64,
    /// Where its frames begin.
    base: usize,
}

impl Tables {
    /// The number of a table; those of the same points have the same.
    fn number(&mut self, points: &Points) -> usize {
        self.points.iter().position(|known| known == points).unwrap_or_else(|| {
            self.points.push(points.clone());
            self.points.len() - 1
        })
    }

    /// The number of a recording.
    fn recording(&mut self, plane: &Plane) -> usize {
        self.recordings.iter().position(|known| known == plane).unwrap_or_else(|| {
            self.recordings.push(plane.clone());
            self.recordings.len() - 1
        })
    }

    /// What the template says of each recording.
    pub fn planes(&self) -> Vec<Recording> {
        let mut base = 0;
        let planes = self.recordings.iter().map(|plane| {
            let (shape, slots) = (plane.shape(), plane.slots());
            let [first, second] = shape.points;
            let [around_first, around_second] = shape.periodic.map(u8::from);
            let last = if shape.repeats { -1 } else { shape.frames as i64 - 1 };
            let components = shape.components;
            let recording = Recording { first, second, around_first, around_second, components, slots, last, base };
            base += slots * plane.length();
            recording
        });
        planes.collect()
    }

    /// The elements of each, in lines: `{0.0, 1.0}, {0.5, 2.0},`.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let element = |[x, y]: &[f64; 2]| format!("{{{}, {}}},", literal(*x).0, literal(*y).0);
        let line = |points: &[[f64; 2]]| points.iter().map(element).collect::<Vec<_>>().join(" ");
        self.points.iter().map(|points| points.chunks(4).map(line).collect()).collect()
    }
}

/// A value of a [`Doubles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(usize);

/// Values that formulas compute, no two the same.
#[derive(Default)]
pub struct Doubles {
    nodes: Vec<Node>,
    index: BTreeMap<Node, Value>,
    /// How often each is used.
    uses: Vec<usize>,
}

impl Doubles {
    /// Adds a formula, which is going to be used so often; `spell` says what stands for a name, or the name is the error.
    pub fn add(
        &mut self,
        formula: &Formula,
        uses: usize,
        spell: &dyn Fn(&str) -> Option<String>,
        tables: &mut Tables,
    ) -> Result<Value, String> {
        let value = self.node(&formula.with(&|_| None), spell, tables)?;
        self.uses[value.0] += uses;
        Ok(value)
    }

    fn node(
        &mut self,
        formula: &Formula,
        spell: &dyn Fn(&str) -> Option<String>,
        tables: &mut Tables,
    ) -> Result<Value, String> {
        let node = match formula {
            Formula::Number(value) => Node::Number(value.to_bits()),
            Formula::Name(name) => Node::Given(spell(name).ok_or_else(|| name.clone())?),
            Formula::Table(table, _) if table.points.is_empty() => Node::Number(f64::NAN.to_bits()),
            Formula::Table(table, at) => {
                Node::Table(tables.number(&table.points), table.points.len(), self.node(at, spell, tables)?)
            }
            Formula::Noise(noise, point) => {
                tables.noise = true;
                let [x, y, z] = &**point;
                let mut node = |formula: &Formula| self.node(formula, spell, tables);
                Node::Noise(*noise, [node(x)?, node(y)?, node(z)?])
            }
            Formula::Recorded(Recorded { plane, component }, point) => {
                let number = tables.recording(plane);
                let [first, second, time] = &**point;
                let mut node = |formula: &Formula| self.node(formula, spell, tables);
                Node::Recorded(number, *component, [node(first)?, node(second)?, node(time)?])
            }
            Formula::Apply(function, operands) => match formula.constant() {
                Some(value) => Node::Number(value.to_bits()),
                None => {
                    let operands = operands.iter().map(|operand| self.node(operand, spell, tables));
                    Node::Apply(*function, operands.collect::<Result<_, String>>()?)
                }
            },
        };
        if let Some(value) = self.index.get(&node) {
            return Ok(*value);
        }
        if let Node::Apply(function, operands) = &node {
            // A power may be written with its base and exponent several times.
            let times = if *function == Function::Power { 2 } else { 1 };
            operands.iter().for_each(|operand| self.uses[operand.0] += times);
        }
        match &node {
            Node::Table(_, _, at) => self.uses[at.0] += 1,
            Node::Noise(_, point) | Node::Recorded(_, _, point) => point.iter().for_each(|at| self.uses[at.0] += 1),
            _ => {}
        }
        let value = Value(self.nodes.len());
        self.nodes.push(node.clone());
        self.uses.push(0);
        self.index.insert(node, value);
        Ok(value)
    }

    fn is_named(&self, value: Value) -> bool {
        let node = &self.nodes[value.0];
        self.uses[value.0] > 1
            && matches!(node, Node::Apply(..) | Node::Table(..) | Node::Noise(..) | Node::Recorded(..))
    }

    /// Whether any value is that of a recording.
    pub fn reads_frames(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Recorded(..)))
    }

    /// Statements that compute what has a name, in lines.
    pub fn statements(&self) -> Vec<String> {
        let named = (0..self.nodes.len()).map(Value).filter(|value| self.is_named(*value));
        named.flat_map(|value| wrap(&format!("const double t{} = ", value.0), &(self.formula(value).0 + ";"))).collect()
    }

    /// A value where it is used.
    pub fn text(&self, value: Value) -> String {
        if self.is_named(value) { format!("t{}", value.0) } else { self.formula(value).0 }
    }

    /// The same as an operand, in parentheses if it needs them.
    pub fn operand(&self, value: Value) -> String {
        if self.is_named(value) {
            return self.text(value);
        }
        let (text, whole) = self.formula(value);
        if whole { text } else { format!("({text})") }
    }

    /// A value from its operands, and whether that can be an operand as it stands.
    fn formula(&self, value: Value) -> (String, bool) {
        match &self.nodes[value.0] {
            Node::Number(bits) => literal(f64::from_bits(*bits)),
            Node::Given(text) => (text.clone(), true),
            Node::Apply(function, operands) => call(*function, operands, self),
            Node::Table(number, count, at) => (format!("table_at(table_{number}, {count}, {})", self.text(*at)), true),
            Node::Noise(Noise { seed, periods: [x, y, z] }, point) => {
                let point = point.map(|at| self.text(at)).join(", ");
                (format!("noise_at({seed}u, {x}, {y}, {z}, {point})"), true)
            }
            Node::Recorded(number, component, point) => {
                let point = point.map(|at| self.text(at)).join(", ");
                (format!("recorded_{number}(frames, {component}, {point})"), true)
            }
        }
    }

    /// As [`Function::of`] does it: squares and reciprocals are rounded once.
    fn power(&self, base: Value, exponent: Value) -> (String, bool) {
        let (a, b) = (self.operand(base), self.operand(exponent));
        match self.nodes[exponent.0] {
            Node::Number(bits) if f64::from_bits(bits) == 2.0 => (format!("{a} * {a}"), false),
            Node::Number(bits) if f64::from_bits(bits) == -1.0 => (format!("1.0 / {a}"), false),
            Node::Number(_) => (format!("pow({a}, {b})"), true),
            _ => (format!("{b} == 2.0 ? {a} * {a} : {b} == -1.0 ? 1.0 / {a} : pow({a}, {b})"), false),
        }
    }
}

/// A function of operands in C and CUDA, and whether that can be an operand as it stands.
fn call(function: Function, operands: &[Value], values: &Doubles) -> (String, bool) {
    let operand = |at: usize| values.operand(operands[at]);
    let infix = |sign: &str| (format!("{} {sign} {}", operand(0), operand(1)), false);
    let truth = |sign: &str| (format!("{} ? 1.0 : 0.0", infix(sign).0), false);
    let named = |name: &str| {
        let texts: Vec<String> = operands.iter().map(|operand| values.text(*operand)).collect();
        (format!("{name}({})", texts.join(", ")), true)
    };
    match function {
        Function::Add => infix("+"),
        Function::Subtract => infix("-"),
        Function::Multiply => infix("*"),
        Function::Divide => infix("/"),
        Function::Negate => (format!("-{}", operand(0)), false),
        Function::Less => truth("<"),
        Function::LessEqual => truth("<="),
        Function::Greater => truth(">"),
        Function::GreaterEqual => truth(">="),
        Function::Equal => truth("=="),
        Function::NotEqual => truth("!="),
        Function::If => (format!("{} != 0.0 ? {} : {}", operand(0), operand(1), operand(2)), false),
        Function::Power => values.power(operands[0], operands[1]),
        function => named(library(function)),
    }
}

/// A number, and whether that can be an operand as it stands.
pub fn literal(value: f64) -> (String, bool) {
    if value.is_nan() {
        ("0.0 / 0.0".into(), false)
    } else if value.is_infinite() {
        (format!("{:?} / 0.0", value.signum()), false)
    } else {
        (format!("{value:?}"), value.is_sign_positive())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(formulas: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut doubles = Doubles::default();
        let spell = |name: &str| ["a", "b"].contains(&name).then(|| format!("given_{name}"));
        let mut add = |text: &&str| doubles.add(&text.parse().unwrap(), 1, &spell, &mut Tables::default()).unwrap();
        let values: Vec<Value> = formulas.iter().map(&mut add).collect();
        (doubles.statements(), values.into_iter().map(|value| doubles.text(value)).collect())
    }

    #[test]
    fn groups_stay_and_numbers_read_back() {
        for (formula, expected) in [
            ("a - (b - 1)", "given_a - (given_b - 1.0)"),
            ("a - b - 1", "(given_a - given_b) - 1.0"),
            ("-a * 1e-7", "(-given_a) * 1e-7"),
            ("2 * -0.1 * a", "(-0.2) * given_a"),
            ("a / -3", "given_a / (-3.0)"),
            ("if(a < b, 1, ln(a))", "(given_a < given_b ? 1.0 : 0.0) != 0.0 ? 1.0 : log(given_a)"),
            ("a^2 + a^-1", "(given_a * given_a) + (1.0 / given_a)"),
            ("sin(1) * 0", "0.0"),
            ("a + 1 / 0", "given_a + (1.0 / 0.0)"),
        ] {
            let (statements, texts) = printed(&[formula]);
            assert_eq!((statements, &texts[0][..]), (vec![], expected), "{formula}");
        }
    }

    #[test]
    fn what_is_used_twice_is_computed_once() {
        let (statements, texts) = printed(&["sqrt(a + b)", "(a + b)^2", "1 / (a * b)^2"]);
        assert_eq!(statements, ["const double t2 = given_a + given_b;", "const double t7 = given_a * given_b;"]);
        assert_eq!(texts, ["sqrt(t2)", "t2 * t2", "1.0 / (t7 * t7)"]);
    }

    #[test]
    fn a_table_is_data_that_is_read_at_a_value() {
        let text: Formula = "2 * table(\"f\", a) + table(\"f\", a + b) + table(\"g\", a)".parse().unwrap();
        let points = |rise: f64| (0..1000).map(|at| [f64::from(at), -rise * f64::from(at)]).collect::<Vec<_>>();
        let formula = text.with_tables(&|file| Some(points(if file == "f" { 0.5 } else { 1.5 }).into()));
        let (mut doubles, mut tables) = (Doubles::default(), Tables::default());
        let value = doubles.add(&formula, 1, &|name| Some(name.into()), &mut tables).unwrap();
        assert_eq!(
            doubles.text(value),
            "((2.0 * table_at(table_0, 1000, a)) + table_at(table_0, 1000, a + b)) + table_at(table_1, 1000, a)"
        );
        let lines = tables.lines();
        assert_eq!((lines.len(), lines[1].len()), (2, 250));
        assert_eq!(lines[1][0], "{0.0, -0.0}, {1.0, -1.5}, {2.0, -3.0}, {3.0, -4.5},");
    }

    #[test]
    fn noise_is_a_function_of_a_point() {
        let text: Formula = "noise(7, a + b, 0.5, b, 0, 6, 0)^2".parse().unwrap();
        let (mut doubles, mut tables) = (Doubles::default(), Tables::default());
        let value = doubles.add(&text, 1, &|name| Some(name.into()), &mut tables).unwrap();
        assert_eq!(doubles.statements(), ["const double t4 = noise_at(7u, 0, 6, 0, a + b, 0.5, b);"]);
        assert_eq!((doubles.text(value), tables.noise), ("t4 * t4".into(), true));
    }

    #[test]
    fn a_name_that_is_not_known_is_told() {
        assert_eq!(Doubles::default().add(&Formula::name("c"), 1, &|_| None, &mut Tables::default()), Err("c".into()));
    }
}
