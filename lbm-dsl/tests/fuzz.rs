//! No text makes the front end panic or run for long: damaged specs, random statements, tokens and bytes are models or
//! diagnostics; what parses is formatted without a change of meaning. The same texts every time.
//!
//! For hours: `LBMC_FUZZ_SECONDS=3600 cargo test --workspace --test fuzz -- --ignored --nocapture`.

// The compiler looks at neither clock nor files; these tests look at both.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lbm_dsl::source::Source;
use lbm_dsl::{format, lexer, shipped};
use proc_macro2::{TokenStream, TokenTree};
use texts::Random;

/// Longest that a processor may work on a text, built for development.
const LONG: Duration = Duration::from_secs(10);

/// How long a processor has worked for this thread; where the system does not tell, the time since `start`.
fn worked(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The tokens of a text one by one, whatever spaces are between them.
fn tokens(text: &str) -> Option<Vec<String>> {
    fn flat(stream: TokenStream, all: &mut Vec<String>) {
        for token in stream {
            match token {
                TokenTree::Group(group) => {
                    all.push(format!("{:?}", group.delimiter()));
                    flat(group.stream(), all);
                    all.push("end".into());
                }
                other => all.push(other.to_string()),
            }
        }
    }
    let mut all = Vec::new();
    flat(lexer::lex(&Source::new("fuzz.lbm", text)).ok()?, &mut all);
    Some(all)
}

/// Compiles and formats a text; whether it is a model.
fn try_out(text: &str) -> bool {
    let start = Instant::now();
    let before = worked(start);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let source = Source::new("fuzz.lbm", text);
        let model = lbm_dsl::compile(&source, &shipped::Prelude);
        if let Err(report) = &model {
            assert!(!report.is_empty(), "an error without a reason");
            assert!(report.render(80).contains("E0"), "nothing is shown");
        }
        if let Ok(once) = format::format(&source) {
            assert_eq!(tokens(&once), tokens(text), "formatting changes the tokens");
            let twice = format::format(&Source::new("fuzz.lbm", &once)).ok();
            assert_eq!(twice, Some(once), "formatting again changes something");
        }
        model.is_ok()
    }));
    let took = worked(start) - before;
    assert!(took < LONG, "{took:?} for\n{text}");
    outcome.unwrap_or_else(|_| panic!("the text was\n{text}\n{text:?}"))
}

/// A method that has what the prelude has of rules at walls, stencils and couplings in its own text, and uses all of it.
fn everything() -> String {
    let own = |module: &str| {
        let (_, text) = shipped::modules().find(|(name, _)| *name == module).expect("a shipped module");
        // What is beyond walls is of values that this method reads nowhere.
        let kept = |line: &&str| !line.starts_with("use ") && !line.starts_with("    beyond ");
        text.lines().filter(kept).map(|line| format!("{line}\n")).collect::<String>()
    };
    let bgk = shipped::spec("d2q9_bgk").unwrap().replace("use walls::{bounce_back, moving_wall};", "");
    let body = ["walls", "stencils", "couplings"].map(own).concat();
    // Couplings have a name `equilibrium` of their own.
    let body = body.replace("boundary equilibrium", "boundary at_equilibrium");
    let used = |kind: &'static str| {
        let head = move |line: &&str| line.starts_with(kind) && line.ends_with('{');
        body.lines().filter(head).map(|line| line.replace(" {", ";\n")).collect::<String>()
    };
    assert!(bgk.contains("boundary bounce_back;"));
    let bgk = bgk.replace("boundary bounce_back;", "").replace("boundary moving_wall;", "");
    format!("{bgk}\n{body}\n{}{}", used("boundary "), used("coupling "))
}

#[test]
fn everything_is_a_model() {
    let model = lbm_dsl::compile(&Source::new("everything.lbm", &everything()), &shipped::Prelude);
    model.unwrap_or_else(|report| panic!("{}", report.render(100)));
}

/// A text of the kind with that number.
fn text(kind: usize, random: &mut Random) -> String {
    match kind {
        0 => texts::bytes(random),
        1 => texts::tokens(random),
        2 => texts::statements(random),
        3 => texts::around(random),
        _ => {
            let mut all: Vec<String> = shipped::specs().map(|(_, text)| text.into()).collect();
            all.push(everything());
            texts::damaged(&texts::pieces(&all[random.below(all.len())]), random)
        }
    }
}

#[test]
fn random_texts_are_models_or_diagnostics() {
    let mut random = Random(2);
    for (kind, rounds) in [(0, 2000), (1, 1000), (2, 300), (3, 300)] {
        let models = (0..rounds).filter(|_| try_out(&text(kind, &mut random))).count();
        assert!(models < rounds, "texts of kind {kind} are all models");
    }
}

/// As long as `LBMC_FUZZ_SECONDS` says, from a seed that `LBMC_FUZZ_SEED` gives.
#[test]
#[ignore = "as long as LBMC_FUZZ_SECONDS says"]
fn for_long() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let end = Duration::from_secs(number("LBMC_FUZZ_SECONDS", 60));
    let mut random = Random(number("LBMC_FUZZ_SEED", 1));
    let (start, mut tried, mut models) = (Instant::now(), 0u64, 0u64);
    while start.elapsed() < end {
        models += u64::from(try_out(&text(random.below(6), &mut random)));
        tried += 1;
    }
    println!("{tried} texts, {models} of them models, in {:?}", start.elapsed());
}

#[test]
fn damage_is_reported() {
    let mut random = Random(1);
    let mut refused = 0;
    let shipped = |name| shipped::spec(name).unwrap().to_string();
    let texts =
        [(shipped("d2q9_bgk"), 600), (shipped("d3q27_kbc"), 60), (shipped("d3q27_cumulant"), 60), (everything(), 60)];
    for (text, rounds) in texts {
        // Comments are no target.
        let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
        let pieces = texts::pieces(&text.join("\n"));
        refused += (0..rounds).filter(|_| !try_out(&texts::damaged(&pieces, &mut random))).count();
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

/// Every construct that repeats or nests, as far as the grammar lets it: each is refused, or compiled, in seconds.
#[test]
fn no_construct_runs_for_long() {
    let bgk = shipped::spec("d2q9_bgk").unwrap();
    let inside =
        |part: &str| bgk.replace("collide {", &format!("collide {{\n{part}")).replace("omega * (feq", "x * (feq");
    let nested =
        |open: &str, close: &str, count: usize| format!("let x = {}omega{};", open.repeat(count), close.repeat(count));
    let chain = |count: usize, step: &str| {
        let lets: String =
            (1..count).map(|at| format!("let y{at} = {};\n", step.replace('@', &format!("y{}", at - 1)))).collect();
        format!("let y0 = omega;\n{lets}let x = y{};", count - 1)
    };
    for text in [
        inside(&nested("(", ")", 60)),
        inside(&nested("-", "", 5000)),
        inside(&nested("sqrt(", ")", 60)),
        inside(&nested("sum(i: ", ")", 20)),
        inside(&nested("prod(x in 0..64: ", ")", 12)),
        inside(&nested("(if omega > 0 then ", " else 1)", 60)),
        inside(&format!("let x = omega{};", " + omega * rho".repeat(4000))),
        inside(&format!("let x = omega{};", "^2".repeat(200))),
        inside(&chain(400, "@ * @")),
        inside(&chain(400, "(@ + rho) / (@ - rho)")),
        inside(&chain(60, "sum(j: @ * f[j])")),
        inside("let big[p in 0..4096] = rho^64;\nlet x = omega * sum(p in 0..4096: big[p]);"),
        inside("let x = omega * sum(p in 0..60, q in 0..60, r in 0..60, s in 0..60 if p == q + r + s: rho);"),
        inside("let x = omega * 9^64^64;"),
        inside("let x = omega * 1e300 * 1e-300 * 1e300;"),
        bgk.replace("lattice D2Q9;", &format!("lattice D2Q9;\n{}", "// comment\n".repeat(100_000))),
        bgk.replace("lattice D2Q9;", &format!("lattice D2Q9;\n{}", "/* ".repeat(20_000))),
        bgk.replace("lattice D2Q9;", &format!("lattice D2Q9;\n{}", "param p in (0, 1);\n".repeat(2000))),
        format!("lattice L {{ cs2 = 1/3; {} }}\nlattice L;", "shell (8, 7, 6): 1/48;".repeat(50)),
        "(".repeat(100_000),
        "x".repeat(1_000_000),
        "1".repeat(1_000_000),
        ";".repeat(100_000),
    ] {
        try_out(&text);
    }
}
