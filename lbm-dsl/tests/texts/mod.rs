//! Texts that are no specs, or nearly: damaged specs, random tokens, random statements, random bytes.

mod damage;

pub use damage::Random;

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
    "node",
    "init",
    "collide",
    "sqrt(",
    "ln(",
    "min(rho, ",
    "^0.3",
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

/// Words, numbers, spaces and single characters.
pub fn pieces(text: &str) -> Vec<String> {
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

/// The pieces with a few of them lost, doubled, swapped or replaced, joined.
pub fn damaged(pieces: &[String], random: &mut Random) -> String {
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

/// Up to 200 characters, one in eight beyond ASCII or a control character.
pub fn bytes(random: &mut Random) -> String {
    let len = random.below(200);
    let one = |random: &mut Random| match random.below(8) {
        0 => char::from_u32(random.below(0x2fff) as u32).unwrap_or('\u{fffd}'),
        _ => (b' ' + random.below(95) as u8) as char,
    };
    (0..len).map(|_| one(random)).collect()
}

/// Up to 80 words of the language in any order.
pub fn tokens(random: &mut Random) -> String {
    let len = random.below(80);
    let words: Vec<&str> = (0..len).map(|_| STRAY[random.below(STRAY.len())]).collect();
    words.join(" ")
}

/// A method in which a few statements are made by chance: right in syntax, mostly wrong in meaning.
pub fn statements(random: &mut Random) -> String {
    let mut text = String::from(
        "use lattices::D2Q9;\nuse equilibria::quadratic;\nlattice D2Q9;\nparam omega in (0, 2);\nlet rho = sum(i: f[i]);\n\
         let u[a] = sum(i: c[i, a] * f[i]) / rho;\nfield rho;\nfield u;\ninit f[i] <- quadratic[i](rho, u);\n",
    );
    for at in 0..random.below(4) {
        let index = ["", "[i]", "[a]", "[a, b]", "[x in -1..=1, y in 0..3]"][random.below(5)];
        match random.below(4) {
            0 => text += &format!("fn g{at}{index}(x, y) = {};\n", formula(random, 4)),
            _ => text += &format!("let v{at}{index} = {};\n", formula(random, 4)),
        }
    }
    text += "collide {\n";
    for at in 0..random.below(3) {
        text += &format!("    let t{at} = {};\n", formula(random, 5));
    }
    text += &format!("    f[i] <- {};\n}}\n", formula(random, 6));
    if random.below(3) == 0 {
        text += &format!("boundary wall {{ param p; link f[i] <- {}; }}\n", formula(random, 4));
    }
    text
}

/// A method whose boundary rules, stencils, couplings and criterion are made by chance: some are refused, the others go
/// to the end.
pub fn around(random: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[random.below(from.len())].to_string();
    let stencils = format!(
        "stencil slope {{ space 1, x; derivative at 0; points {}; points {}; }}\n\
         stencil child {{ space 1, x{}; {}; points {}; points {}; }}\n",
        pick(&["-1, 1", "-1, 1", "-2, 2", "-5, 5", "-1/2, 1/2", "0, 1e9"]),
        pick(&["0, 1", "-1, 0", "0, 3"]),
        pick(&["", "", ", x^2", ", x^3"]),
        pick(&["value at 1/4", "value at 1/4", "value at 1/2", "mean over (0, 1/2)", "derivative at 0"]),
        pick(&["0, 1", "-1, 1", "-1, 0, 1", "-9, 0, 9", "1/4, 1"]),
        pick(&["-1, 0", "0, 1, 2", "0, 1"]),
    );
    let rate = |random: &mut Random| {
        const RATES: &[&str] = &[
            "2 * omega / (4 - omega)",
            "2 * omega / (4 - omega)",
            "if omega < 1 then 2 * omega / (4 - omega) else omega / (2 - omega / 2)",
            "sqrt((2 * omega / (4 - omega))^2)",
            "f[(0, 0)]",
            "omega * sum(i: equilibrium[i])",
            "position[0]",
            "kind",
            "mean(omega)",
            "slope[0](f[(1, 0)])",
            "omega * cs2 * dim",
            "1e300",
        ];
        RATES[random.below(RATES.len())]
    };
    let packets = ["f[i]", "equilibrium[i]", "kind", "position[a]", "slope[a](f[i])", "mean(kind)", "omega", "w[i]"];
    let given = formula_of(&packets, random, 2);
    let own = ["0", "slope[0](f[i])", "slope[1](f[opp(i)])", "kind * (f[i] - equilibrium[i])", given.as_str()];
    let own = own[random.below(own.len())];
    let ratio = formula_of(&["omega", "1", "2", "4 - omega", "1/4", "f[i]", "rho"], random, 2);
    let ratios = ["(4 - omega) / 4", "(4 - omega) / 4", ratio.as_str()];
    let ratio = ratios[random.below(ratios.len())];
    let couplings = format!(
        "coupling packets {{ rate omega <- {}; let x = {own}; packet f[i] <- f[i] + x - mean(x); }}\n\
         coupling ghosts {{ rate omega <- {}; ghosts {}; let r = {ratio};\n\
         fine f[i] <- child(equilibrium[i] + r * (f[i] - equilibrium[i]));\n\
         coarse f[i] <- mean(equilibrium[i] + (f[i] - equilibrium[i]) / r); }}\n",
        rate(random),
        rate(random),
        ["2", "2", "3", "1", "40", "1/2"][random.below(6)],
    );
    let link =
        ["f[i]", "f[opp(i)]", "f[(1, 0)]", "mirrored[i]", "p", "distance", "w[i]", "c[i, a]", "dot(c[i], v)", "cs2"];
    let node = [
        "sent[opp(i)]",
        "streamed[opp(i)]",
        "inside[i]",
        "p",
        "distance",
        "w[i]",
        "n[a]",
        "dot(c[i], n)",
        "f[i]",
        "v[a]",
    ];
    let params = |random: &mut Random| {
        let distance = ["param distance in (0, 2);", "param distance[a];"][random.below(2)];
        format!("param p; {distance} param v[a];")
    };
    let (of_link, of_node) = (params(random), params(random));
    let criterion = formula_of(&["rho", "u[a]", "gradient[a](u[0])", "gradient[0](rho)", "omega", "2"], random, 3);
    let mut text = String::from(
        "use lattices::D2Q9;\nuse equilibria::quadratic;\nlattice D2Q9;\nparam omega in (0, 2);\nlet rho = sum(i: f[i]);\n\
         let u[a] = sum(i: c[i, a] * f[i]) / rho;\nfield rho;\nfield u;\ninit f[i] <- quadratic[i](rho, u);\n\
         collide { f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]); }\n",
    );
    let chosen = random.below(16);
    if chosen & 3 != 0 {
        text += &stencils;
    }
    if chosen & 3 == 1 {
        text += couplings.lines().next().unwrap_or_default();
    } else if chosen & 3 == 2 {
        text += &couplings.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    } else if chosen & 3 == 3 {
        text += &couplings;
    }
    if chosen & 4 != 0 {
        text += &format!("\nboundary by_link {{ {of_link} link f[i] <- {}; }}\n", formula_of(&link, random, 3));
        text +=
            &format!("boundary by_node {{ {of_node} node f[i if !known(i)] <- {}; }}\n", formula_of(&node, random, 3));
    }
    if chosen & 8 != 0 {
        text += &format!("criterion found(rho, u[a]) = {criterion};\n");
    }
    text
}

/// A formula of a depth.
fn formula(random: &mut Random, depth: usize) -> String {
    const LEAVES: &[&str] = &[
        "f[i]",
        "f[opp(i)]",
        "f[(1, 0)]",
        "w[i]",
        "c[i, a]",
        "c[i, 0]",
        "u[a]",
        "u[0]",
        "rho",
        "omega",
        "cs2",
        "dim",
        "x",
        "y",
        "1",
        "0",
        "2",
        "1/3",
        "0.5",
        "1e300",
        "v0",
        "v1[i]",
        "v2[a]",
        "t0",
        "t1",
        "g0(rho, 1)",
        "g1[i](u, rho)",
        "a",
        "i",
        "quadratic[i](rho, u)",
    ];
    formula_of(LEAVES, random, depth)
}

/// A formula of a depth that ends in these.
fn formula_of(leaves: &[&str], random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(4) == 0 {
        return leaves[random.below(leaves.len())].into();
    }
    let mut part = || formula_of(leaves, random, depth - 1);
    let (left, right) = (part(), part());
    let third = part();
    match random.below(16) {
        0 => format!("({left} + {right})"),
        1 => format!("({left} - {right})"),
        2 | 3 => format!("{left} * {right}"),
        4 => format!("({left}) / ({right})"),
        5 => format!("({left})^{}", random.below(70) as i64 - 4),
        6 => format!("sum(i: {left})"),
        7 => format!("sum(a, b if {left} <= {right}: {third})"),
        8 => format!("prod(x in -2..{}: {left})", random.below(40)),
        9 => format!("(if {left} > {right} && !({third} == 0) then {left} else {right})"),
        10 => format!("sqrt({left})"),
        11 => format!("dot({left}, {right})"),
        12 => format!("{}({left})", ["exp", "ln", "tanh", "acos", "abs"][random.below(5)]),
        13 => format!("{}({left}, {right})", ["min", "max", "atan2"][random.below(3)]),
        14 => format!("({left})^({right})"),
        _ => format!("-({left})"),
    }
}
