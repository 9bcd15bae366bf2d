//! Format of the entries of CSV tables.

use lbm_bundle::plain::shown_line;

/// The shortest text that reads back as the same number, with a power of ten if that is shorter.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// A name given by a user. Spreadsheet programs interpret some entries as formulas: such names are prefixed by a quote.
pub(super) fn name(name: &str) -> String {
    let name = shown_line(name);
    let name = if name.trim_start().starts_with(['=', '+', '-', '@']) { format!("'{name}") } else { name };
    match name.contains([',', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_to_the_last_bit() {
        let texts = [0.0, 1.0, -0.5, 1.0 + 1e-9, 1.234_567_890_123_456_6e-7, 1e22, f64::NAN].map(number);
        assert_eq!(texts, ["0", "1", "-0.5", "1.000000001", "1.2345678901234566e-7", "1e22", "NaN"]);
        for value in [1.0 / 3.0, 1.0 + f64::EPSILON, f64::MIN_POSITIVE, -f64::MAX, f64::from(0.1f32)] {
            assert_eq!(number(value).parse(), Ok(value));
        }
    }

    #[test]
    fn names_of_strangers_are_no_formulas() {
        for name in ["=1+1", "+1", "-1", "@x", " =1", "=HYPERLINK(\"http://a.b\", \"x\")"] {
            let cell = super::name(name);
            assert!(cell.trim_start_matches('"').starts_with('\''), "{cell}");
        }
        assert_eq!(super::name("a\r\nb\u{1b}"), "a??b?");
        assert_eq!(["left wing", "a, \"b\""].map(super::name), ["left wing", "\"a, \"\"b\"\"\""]);
    }
}
