//! What stands above a picture: which flow is shown, what of it, and when.

use lbm_runtime::solver::snapshot::Snapshot;

use super::axes::{FAINT, INK};
use super::canvas::{Align, Canvas};
use super::profile::{cells, real_name};
use crate::case::Case;

/// Heights of the two lines, in pixels, and where they stand.
const FIRST: f64 = 36.0;
const SECOND: f64 = 22.0;
const AT: [f64; 2] = [52.0, 92.0];
/// Most pixels that a picture is made wider for its heading; what is longer is cut off.
const WIDEST: f64 = 2000.0;
/// A step that few runs reach.
const LATE: u64 = 100_000_000;

/// Two lines above a picture.
pub(super) struct Heading {
    title: String,
    facts: String,
    /// The facts of a step with many digits: pictures of a film are all as wide, those after the run went on too.
    longest: String,
}

impl Heading {
    /// The flow and what is `shown` of it, or the title in the place of both; then what it was computed with, and when.
    pub(super) fn new(case: &Case, title: Option<&str>, shown: &str, snapshot: &Snapshot) -> Heading {
        let re = case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
        let time = |step: u64| match case.units.si {
            true => format!("{:.4} s", step as f64 * case.units.step),
            false => format!("step {}", thousands(step)),
        };
        let omega = case.scales.omega.map_or(String::new(), |omega| format!("  ·  ω = {omega:.4}"));
        let (spec, mach) = (&case.spec, case.scales.mach);
        let (cells, real) = (cells(case, " × "), real_name(case));
        let facts = |step: u64| format!("{spec}  ·  {cells}  ·  {real}{omega}  ·  Ma = {mach:.2}  ·  {}", time(step));
        Heading {
            title: title.map_or_else(|| format!("{}{re}{shown}", case.name), str::to_string),
            facts: facts(snapshot.step),
            longest: facts(snapshot.step.max(LATE)),
        }
    }

    /// Says one thing more.
    pub(super) fn add(&mut self, fact: &str) {
        for facts in [&mut self.facts, &mut self.longest] {
            *facts += &format!("  ·  {fact}");
        }
    }

    /// How wide a picture is in which it has room.
    pub(super) fn width(&self) -> f64 {
        Canvas::length(&self.title, FIRST).max(Canvas::length(&self.longest, SECOND)).min(WIDEST)
    }

    /// Draws it, from `left` on.
    pub(super) fn draw(&self, canvas: &mut Canvas, left: f64) {
        canvas.text((left, AT[0]), &self.title, FIRST, Align::Left, INK, false);
        canvas.text((left, AT[1]), &self.facts, SECOND, Align::Left, FAINT, false);
    }
}

/// Digits in groups of three.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("\u{2009}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(thousands(1234567), "1\u{2009}234\u{2009}567");
        assert_eq!(thousands(12), "12");
    }

    #[test]
    fn headings_of_all_steps_are_as_wide() {
        let (case, mut snapshot) = example::cavity(16);
        let mut width = |step: u64| {
            snapshot.step = step;
            Heading::new(&case, None, "", &snapshot).width()
        };
        assert_eq!(width(9), width(123_456));
    }

    #[test]
    fn a_title_stands_in_the_place_of_the_flow() {
        let (case, snapshot) = example::cavity(16);
        let own = Heading::new(&case, None, ", middle plane", &snapshot);
        let titled = Heading::new(&case, Some("Wake"), ", middle plane", &snapshot);
        assert!(own.title.starts_with(&case.name) && own.title.ends_with(", middle plane"));
        assert_eq!((titled.title.as_str(), titled.facts), ("Wake", own.facts));
    }
}
