//! Damaged specs are models or diagnostics, never panics and never errors without a reason.

use lbm_dsl::shipped;
use lbm_dsl::source::Source;

/// Texts that a slip of the hand, or malice, may leave behind.
const STRAY: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "..",
    "..=",
    "<-",
    "=",
    "==",
    "<",
    "&&",
    "!",
    "^",
    "^64",
    "-",
    "*",
    "/ 0",
    "0",
    "08",
    "1e300",
    "99999999999999999999",
    "0.5",
    "i",
    "a",
    "u",
    "rho",
    "f",
    "f[i]",
    "c",
    "w",
    "(1, 0)",
    "(0, 0, 9)",
    "sum(i: ",
    "prod(a: u[a])",
    "if",
    "then",
    "else",
    "in",
    "in -9e9..9e9",
    "let",
    "fn",
    "param",
    "link",
    "init",
    "collide",
    "sqrt(",
    "opp(",
    "dot(u, u)",
    "delta(",
    "dim",
    "cs2",
    "²",
    "ρ",
    "//",
    "/*",
    "\"",
    "é",
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

/// Words, numbers, spaces and single characters.
fn pieces(text: &str) -> Vec<String> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else if c.is_whitespace() {
            2
        } else {
            3
        }
    };
    let mut pieces: Vec<String> = Vec::new();
    for c in text.chars() {
        match pieces.last_mut() {
            Some(last) if kind(c) != 3 && last.chars().all(|other| kind(other) == kind(c)) => last.push(c),
            _ => pieces.push(c.into()),
        }
    }
    pieces
}

fn damaged(pieces: &[String], random: &mut Random) -> String {
    let mut pieces = pieces.to_vec();
    for _ in 0..1 + random.below(2) {
        let (at, other) = (random.below(pieces.len()), random.below(pieces.len()));
        match random.below(5) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[other].clone()),
            2 => pieces.swap(at, other),
            3 => pieces[at] = format!(" {} ", STRAY[random.below(STRAY.len())]),
            _ => pieces.insert(at, format!(" {} ", STRAY[random.below(STRAY.len())])),
        }
    }
    pieces.concat()
}

#[test]
fn damage_is_reported() {
    let mut random = Random(1);
    let mut refused = 0;
    for (name, rounds) in [("d2q9_bgk", 600), ("d3q27_kbc", 60), ("d3q27_cumulant", 60)] {
        // Comments are no target.
        let text: Vec<&str> = shipped::spec(name).unwrap().lines().filter(|line| !line.starts_with("//")).collect();
        let pieces = pieces(&text.join("\n"));
        for _ in 0..rounds {
            let text = damaged(&pieces, &mut random);
            if let Err(report) = lbm_dsl::compile(&Source::new(name, &text), &shipped::Prelude) {
                refused += 1;
                assert!(!report.is_empty(), "an error without a reason for\n{text}");
                assert!(report.render(80).contains("E0"), "nothing is shown for\n{text}");
            }
        }
    }
    assert!(refused > 400, "only {refused} were refused");
}

#[test]
fn bombs_are_defused() {
    let bgk = shipped::spec("d2q9_bgk").unwrap();
    let tower = "let p0 = rho^64; let p1 = p0^64; let p2 = p1^64; let p3 = (1 + omega * p2)^64; let p4 = p3^64;";
    let bomb =
        bgk.replace("collide {", &format!("collide {{ {tower}")).replace("omega * (feq", "omega * p4 / p4 * (feq");
    let report = lbm_dsl::compile(&Source::new("bomb", &bomb), &shipped::Prelude).map(|_| ()).map_err(|e| e.render(80));
    assert!(report.is_err());
    let mut functions = "fn g0(x) = x + 1;\n".to_string();
    for at in 1..300 {
        functions.push_str(&format!("fn g{at}(x) = g{}(x) + g{}(x);\n", at - 1, at - 1));
    }
    let bomb = bgk.replace("omega * (feq", "omega * g299(1) * (feq") + &functions;
    let report = lbm_dsl::compile(&Source::new("bomb", &bomb), &shipped::Prelude).map(|_| ()).map_err(|e| e.render(80));
    assert!(report.is_err());
}
