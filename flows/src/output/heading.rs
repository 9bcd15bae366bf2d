//! Heading of a picture: the flow, the field that it shows, and the time.

use lbm_runtime::solver::snapshot::Snapshot;

use super::axes::{FAINT, INK};
use super::canvas::{Align, Canvas};
use super::profile::{cells, real_name};
use crate::case::Case;

/// Heights of the two lines in pixels, and their baselines.
const FIRST: f64 = 36.0;
const SECOND: f64 = 22.0;
const AT: [f64; 2] = [52.0, 92.0];
/// Largest width in pixels to which a picture is extended for its heading; longer text is cut off.
const WIDEST: f64 = 2000.0;
/// A step that few runs reach.
const LATE: u64 = 100_000_000;

/// Two lines above a picture.
pub(super) struct Heading {
    title: String,
    facts: String,
    /// The second line for a step with many digits. It fixes the width of a picture, so that all pictures of a film
    /// have the same width, also after the run is resumed.
    longest: String,
}

impl Heading {
    /// First line: the flow and `shown`, the field, or else `title`. Second line: parameters of the computation, and
    /// the time.
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

    /// Appends a fact to the second line.
    pub(super) fn add(&mut self, fact: &str) {
        for facts in [&mut self.facts, &mut self.longest] {
            *facts += &format!("  ·  {fact}");
        }
    }

    /// Width of a picture that has room for the heading.
    pub(super) fn width(&self) -> f64 {
        Canvas::length(&self.title, FIRST).max(Canvas::length(&self.longest, SECOND)).min(WIDEST)
    }

    /// Draws it, starting at `left`.
    pub(super) fn draw(&self, canvas: &mut Canvas, left: f64) {
        canvas.text((left, AT[0]), &self.title, FIRST, Align::Left, INK, false);
        canvas.text((left, AT[1]), &self.facts, SECOND, Align::Left, FAINT, false);
    }
}

/// A number with its digits in groups of three.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("\u{2009}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(thousands(1234567), "1\u{2009}234\u{2009}567");
        assert_eq!(thousands(12), "12");
    }

    #[test]
    fn headings_of_all_steps_are_as_wide() {
        let (case, mut snapshot) = fixture::cavity(16);
        let mut width = |step: u64| {
            snapshot.step = step;
            Heading::new(&case, None, "", &snapshot).width()
        };
        assert_eq!(width(9), width(123_456));
    }

    #[test]
    fn a_title_stands_in_the_place_of_the_flow() {
        let (case, snapshot) = fixture::cavity(16);
        let own = Heading::new(&case, None, ", middle plane", &snapshot);
        let titled = Heading::new(&case, Some("Wake"), ", middle plane", &snapshot);
        assert!(own.title.starts_with(&case.name) && own.title.ends_with(", middle plane"));
        assert_eq!((titled.title.as_str(), titled.facts), ("Wake", own.facts));
    }
}
