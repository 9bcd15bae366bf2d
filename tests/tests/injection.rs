//! What a spec says in words stays in comments, whatever it says, for every compiler that reads it.

use std::fmt::Write as _;
use std::process::Command;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::emit::text::Comment;
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::shipped::Prelude;
use lbm_dsl::source::Source;
use lbm_tests::compiled::Random;
use lbm_tests::sample::sample;
use lbm_tests::{root, toolchain};

/// What may end a line, join two, open or close a comment, a string or a template, or turn a text around.
const PARTS: [&str; 40] = [
    "\r",
    "\n",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "\u{1b}[31m",
    "\u{8}",
    "\u{7f}",
    "\u{9b}",
    "\u{202e}",
    "\u{2066}",
    "\u{2069}",
    "\u{200f}",
    "\u{feff}",
    "\t",
    "\\",
    "\\\\",
    "\\ ",
    "??/",
    "??",
    "?",
    "/",
    "*",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "\"#",
    "{{",
    "{%",
    "#}",
    "#error injected",
    " fn injected() {} ",
    "ω µ é 日",
    "\\u000a",
];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[((random.draw() + 1.0) / 2.0 * from.len() as f64) as usize % from.len()]
}

fn words(random: &mut Random, parts: &[&str]) -> String {
    (0..1 + (random.draw().abs() * 7.0) as usize).map(|_| pick(random, parts)).collect()
}

/// Runs rustc over a library, warnings as errors.
fn rustc(text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("lib.rs");
    std::fs::write(&library, text).expect("a file");
    let mut command = Command::new("rustc");
    command
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg(library);
    toolchain::run(command);
}

#[test]
fn a_comment_is_one_line_for_gcc_nvrtc_and_rustc() {
    let mut random = Random(5);
    let single = PARTS.iter().map(|part| part.to_string());
    let doubled = PARTS.iter().map(|part| format!("before{part}#error injected{part}"));
    let comments: Vec<Comment> = single
        .chain(doubled)
        .chain((0..600).map(|_| words(&mut random, &PARTS)))
        .map(|text| Comment::new(&text))
        .collect();
    let (mut c, mut cuda, mut rust) = (String::new(), String::new(), "#![deny(warnings)]\n".to_string());
    for (at, comment) in comments.iter().enumerate() {
        writeln!(c, "// {comment}\nint a{at};  //{comment}").expect("a string");
        writeln!(cuda, "// {comment}\n__device__ int a{at};  //{comment}").expect("a string");
        writeln!(rust, "/// {comment}\npub const A{at}: u32 = {at};  // {comment}").expect("a string");
    }
    let sum: Vec<String> = (0..comments.len()).map(|at| format!("a{at}")).collect();
    writeln!(cuda, "extern \"C\" __global__ void sum(int *out) {{ *out = {}; }}", sum.join(" + ")).expect("a string");
    rust += &format!("pub const ALL: [u32; {}] = [{}];\n", sum.len(), sum.join(", ").to_uppercase());

    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("comments.c");
    std::fs::write(&source, c).expect("a file");
    // Without comments, with everything that the oldest standards do to lines.
    let mut command = Command::new("gcc");
    command.args(["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-E", "-P"]).arg(&source);
    let left = String::from_utf8(toolchain::run(command).stdout).expect("text");
    let expected: Vec<String> = sum.iter().map(|name| format!("int {name};")).collect();
    assert_eq!(left.lines().collect::<Vec<_>>(), expected);
    rustc(&rust);

    let Some(toolkit) = toolchain::cuda() else { return };
    let source = folder.path().join("comments.cu");
    std::fs::write(&source, cuda).expect("a file");
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/nvrtc-check.py")).arg(toolkit).arg("90").arg(source);
    toolchain::run(command);
}

/// A method with words wherever a spec may have some; `@` stands for them.
const SPEC: &str = "// @
// @

use lattices::D2Q9;
use equilibria::quadratic;
lattice D2Q9;

param omega in (0, 2);  // @

let rho  = sum(i: f[i]);  // @
let u[a] = sum(i: c[i, a] * f[i]) / rho;
field rho;
field u;
init f[i] <- quadratic[i](rho, u);
collide { f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]); }

// @
criterion speed(u[a]) = sqrt(dot(u, u));

// @
boundary bounce_back { link f[i] <- f[opp(i)]; }

// @
// @
boundary lid {
    param velocity[a];  // @
    link f[i] <- f[opp(i)] + 2 * w[i] * dot(c[i], velocity) / cs2;
}

// @
boundary outlet { node f[i if !known(i)] <- inside[i]; }

// @
stencil slope {
    space 1, x;
    derivative at 0;
    points -1, 1;
}

// @
coupling packets {
    rate omega <- 2 * omega / (4 - omega);
    packet f[i] <- f[i] + sum(a: slope[a](f[i]) * (position[a] - mean(position[a])));
}
";

/// The files of the spec for both targets and layouts.
fn emitted(file: &str, text: &str) -> Vec<lbm_bundle::File> {
    let model =
        lbm_dsl::compile(&Source::new(file, text), &Prelude).unwrap_or_else(|report| panic!("{}", report.render(120)));
    let layouts = [(Layout::Blocks, [8, 8, 1], Some(0), true), (Layout::Soa, Options::TILE, None, false)];
    let bundle = |(target, (layout, block, coupling, solids))| {
        let options = Options { target, real: Real::F32, layout, block, coupling, solids };
        pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{error}")).bundle
    };
    let all = layouts.into_iter().flat_map(|layout| [Target::C, Target::Cuda].map(|target| bundle((target, layout))));
    all.flat_map(|bundle| [bundle.source.clone()].into_iter().chain(bundle.extras)).collect()
}

/// Lines without their comments, as a compiler sees them that knows no end of a line but a line feed.
fn code(text: &str) -> Vec<String> {
    let line = |line: &str| line.split_once("//").map_or(line, |(code, _)| code).trim().to_string();
    text.lines().map(line).filter(|line| !line.is_empty()).collect()
}

#[test]
fn words_of_a_spec_change_nothing_but_comments() {
    let expected = emitted("spec.lbm", &SPEC.replace('@', "said"));
    let plain: Vec<&str> = PARTS.into_iter().filter(|part| part.chars().all(lbm_bundle::plain::is_plain)).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(8);
    let mut fill = || {
        let mut text = SPEC.to_string();
        while text.contains('@') {
            text = text.replacen('@', &words(&mut random, &plain), 1);
        }
        text
    };
    // All are drawn, so that each is the same whatever others are taken.
    let texts: Vec<String> = (0..24).map(|_| fill()).collect();
    for (round, text) in sample(texts.iter().enumerate()) {
        for (file, like) in emitted("spec.lbm", text).iter().zip(&expected) {
            assert!(!file.text.contains(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']), "{}", file.name);
            assert_eq!(code(&file.text), code(&like.text), "{}", file.name);
            let path = folder.path().join(&file.name);
            std::fs::write(&path, &file.text).expect("a file");
            if round % 8 == 0 && file.name.ends_with(".rs") {
                rustc(&format!("#![allow(dead_code)]\n#[path = {:?}] mod spec;\n", path.display().to_string()));
            }
        }
        toolchain::gcc_reads(&folder.path().join("spec.c"));
    }
}

#[test]
fn a_text_whose_comment_ends_early_for_a_compiler_is_refused() {
    for end in ["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        let text = SPEC.replacen(
            '@',
            &format!("said{end}__attribute__((constructor)) static void injected(void) {{}}{end}"),
            1,
        );
        let report = lbm_dsl::compile(&Source::new("spec.lbm", &text), &Prelude).expect_err("a control character");
        assert!(
            report.diagnostics().iter().all(|diagnostic| diagnostic.code().code() == "E0010"),
            "{}",
            report.render(120)
        );
    }
}
