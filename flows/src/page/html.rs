//! Values of a summary as tables of a page.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use serde_json::{Map, Value};

use crate::output::vtk::attribute;

/// Deepest nesting that is written out.
const DEEPEST: usize = 4;

/// Columns that say what a row is about come first.
const FIRST: [&str; 6] = ["solid", "name", "face", "rule", "value", "mean"];

/// Text in which nothing has a meaning of its own.
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, line) in self.0.split('\n').enumerate() {
            let end = if at > 0 { "\n" } else { "" };
            write!(out, "{end}{}", attribute(&line.replace('\t', "    ")))?;
        }
        Ok(())
    }
}

/// A key as words: `first_step_seconds` is `first step seconds`.
pub fn words(key: &str) -> String {
    Escaped(&key.replace('_', " ").replace('.', ", ")).to_string()
}

/// A value as text: whole numbers in groups of three digits, others with six digits.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(is) => if *is { "yes" } else { "no" }.into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => grouped(whole),
            (_, Some(real)) => six_digits(real),
            _ => number.to_string(),
        },
        Value::Array(all) => all.iter().map(shown).collect::<Vec<_>>().join(" x "),
        Value::Object(of) => {
            of.iter().map(|(key, value)| format!("{key} {}", shown(value))).collect::<Vec<_>>().join(", ")
        }
    }
}

fn grouped(whole: i64) -> String {
    let digits = whole.unsigned_abs().to_string();
    let first = digits.len() % 3;
    let mut text = if whole < 0 { "-".to_string() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first && digits.len() > 4 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn six_digits(real: f64) -> String {
    let size = real.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{real:.5e}");
    }
    let before = if size < 1.0 { 0 } else { size.log10() as usize + 1 };
    let text = format!("{real:.*}", 6usize.saturating_sub(before).max(1));
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Tables of entries: one of plain values together, and one for each entry that is made of others.
pub fn tables<'a>(entries: impl Iterator<Item = (&'a str, &'a Value)>, units: &Map<String, Value>) -> String {
    let (mut plain, mut others) = (String::new(), String::new());
    for (key, value) in entries {
        match value {
            Value::Object(of) => {
                others += &titled(key, &pairs(flat(key, of), units));
            }
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                others += &titled(key, &rows_of(key, rows, units))
            }
            Value::Array(all) if all.is_empty() => {}
            Value::Null => {}
            value => plain += &pair(key, key, value, units),
        }
    }
    if !plain.is_empty() {
        plain = format!("<table class=\"pairs\">\n{plain}</table>\n");
    }
    plain + &others
}

fn titled(key: &str, table: &str) -> String {
    if table.is_empty() { String::new() } else { format!("<h3>{}</h3>\n{table}", words(key)) }
}

/// The values in an object, by their paths in it; `path`: that of the object in the summary.
fn flat(path: &str, of: &Map<String, Value>) -> Vec<(String, String, Value)> {
    fn add(found: &mut Vec<(String, String, Value)>, (path, name): (&str, &str), value: &Value, depth: usize) {
        match value {
            Value::Object(of) if depth < DEEPEST => of.iter().for_each(|(key, value)| {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                add(found, (&format!("{path}.{key}"), &name), value, depth + 1);
            }),
            Value::Null => {}
            value => found.push((path.to_string(), name.to_string(), value.clone())),
        }
    }
    let mut found = Vec::new();
    add(&mut found, (path, ""), &Value::Object(of.clone()), 0);
    found
}

/// The unit of a value by its path: its own, or that of what it is a part of.
fn unit(path: &str, units: &Map<String, Value>) -> Option<String> {
    let above = std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(above, _)| above));
    above.filter_map(|path| units.get(path)).map(shown).next().filter(|unit| unit != "1")
}

fn pair(path: &str, name: &str, value: &Value, units: &Map<String, Value>) -> String {
    let unit = unit(path, units).unwrap_or_default();
    format!("<tr><th>{}</th><td>{} {}</td></tr>\n", words(name), Escaped(&shown(value)), Escaped(&unit))
}

fn pairs(values: Vec<(String, String, Value)>, units: &Map<String, Value>) -> String {
    let (mut plain, mut lists) = (String::new(), String::new());
    for (path, name, value) in &values {
        match value {
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                lists += &titled(name, &rows_of(path, rows, units))
            }
            value => plain += &pair(path, name, value, units),
        }
    }
    format!("<table class=\"pairs\">\n{plain}</table>\n{lists}")
}

/// A table with a row for each object, and a column for each value that some of them have.
fn rows_of(path: &str, rows: &[Value], units: &Map<String, Value>) -> String {
    let rows: Vec<Vec<(String, String, Value)>> =
        rows.iter().filter_map(Value::as_object).map(|row| flat(path, row)).collect();
    let mut columns: Vec<(&String, &String)> = Vec::new();
    for (path, name, _) in rows.iter().flatten() {
        if !columns.iter().any(|(_, known)| *known == name) {
            columns.push((path, name));
        }
    }
    columns.sort_by_key(|(_, name)| FIRST.iter().position(|first| name == first).unwrap_or(FIRST.len()));
    let mut text = "<div class=\"wide\"><table>\n<tr>".to_string();
    for (path, name) in &columns {
        let unit = unit(path, units).map_or(String::new(), |unit| format!("<br><small>{}</small>", Escaped(&unit)));
        let _ = write!(text, "<th>{}{unit}</th>", words(name));
    }
    text += "</tr>\n";
    for row in &rows {
        let values: BTreeMap<&String, &Value> = row.iter().map(|(_, name, value)| (name, value)).collect();
        text += "<tr>";
        for (_, name) in &columns {
            let value = values.get(name).map(|value| shown(value)).unwrap_or_default();
            let _ = write!(text, "<td>{}</td>", Escaped(&value));
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_have_six_digits_and_whole_ones_all_of_theirs() {
        let texts = [
            json!(577_280),
            json!(1234),
            json!(-1_234_567),
            json!(3.225_612_3),
            json!(0.000_032_1),
            json!(53.6),
            json!(0.0),
        ];
        let texts: Vec<String> = texts.iter().map(shown).collect();
        assert_eq!(texts, ["577 280", "1234", "-1 234 567", "3.22561", "3.21000e-5", "53.6", "0"]);
        assert_eq!(shown(&json!([64, 32])), "64 x 32");
    }

    #[test]
    fn units_are_those_of_a_value_or_of_what_it_is_a_part_of() {
        let units = json!({"forces.area": "cells", "phases": "s", "mach": "1"});
        let units = units.as_object().unwrap();
        assert_eq!(unit("forces.area", units).as_deref(), Some("cells"));
        assert_eq!(unit("phases.adapt", units).as_deref(), Some("s"));
        assert_eq!(unit("mach", units), None);
    }
}
