//! Characters and syntax.

use super::Long;
use crate::diag::Code;

const COLLIDE: &str = "f[i] <- f[i] + omega * (feq[i] - f[i]);";
const RHO: &str = "let rho  = sum(i: f[i]);";

pub const TABLE: &[Long] = &[
    Long {
        code: Code::IllegalCharacter,
        instead: COLLIDE,
        text: "A character that the language does not use. Papers typeset products as dots, powers as raised digits and \
               sums as large sigmas; here they are written `*`, `^` and `sum(i: ...)`. Greek letters are fine in names.",
        wrong: "f[i] <- f[i] + omega · (feq[i] − f[i]);",
        right: COLLIDE,
    },
    Long {
        code: Code::Bracket,
        instead: COLLIDE,
        text: "A bracket is opened and never closed, or closed by one of another kind. What a formula groups would have \
               to be guessed, so nothing behind it is read.",
        wrong: "f[i] <- f[i] + omega * (feq[i] - f[i];",
        right: COLLIDE,
    },
    Long {
        code: Code::NumberSuffix,
        instead: COLLIDE,
        text: "Letters stick to a number. A paper writes 2x for a product; here every product has its `*`, because names \
               may have several letters and may end in digits.",
        wrong: "let beta = omega / 2;\n    f[i] <- f[i] + 2beta * (feq[i] - f[i]);",
        right: "let beta = omega / 2;\n    f[i] <- f[i] + 2 * beta * (feq[i] - f[i]);",
    },
    Long {
        code: Code::LeadingZero,
        instead: "param omega in (0, 2);",
        text: "A number begins with a zero that has no meaning. In some languages it would make the number octal, so it is \
               refused rather than read one way or the other.",
        wrong: "param omega in (0, 02);",
        right: "param omega in (0, 2);",
    },
    Long {
        code: Code::PartialNumber,
        instead: COLLIDE,
        text: "A decimal point has a digit on one side only. Numbers are exact: 0.5 is the fraction 1/2, and 1/3 is \
               better written as it is than as 0.333.",
        wrong: "let beta = .5 * omega;\n    f[i] <- f[i] + 2 * beta * (feq[i] - f[i]);",
        right: "let beta = 0.5 * omega;\n    f[i] <- f[i] + 2 * beta * (feq[i] - f[i]);",
    },
    Long {
        code: Code::NumberRange,
        instead: "let u[a] = j[a] / rho;",
        text: "A number has more than three hundred powers of ten. The compiler could hold it exactly, but no \
               floating-point number of a kernel can: it would be zero or infinite there.",
        wrong: "let u[a] = if rho > 1e-400 then j[a] / rho else 0;",
        right: "let u[a] = if rho > 1e-30 then j[a] / rho else 0;",
    },
    Long {
        code: Code::Quote,
        instead: COLLIDE,
        text: "A quotation mark. There are no strings, and a name has no primes: write `f_post` or `f_neq` where a paper \
               has a dash.",
        wrong: "let f'[i] = f[i] - feq[i];\n    f[i] <- f[i] - omega * f'[i];",
        right: "let f_neq[i] = f[i] - feq[i];\n    f[i] <- f[i] - omega * f_neq[i];",
    },
    Long {
        code: Code::OpenComment,
        instead: COLLIDE,
        text: "A comment that begins with `/*` swallows all that follows, because no `*/` ends it.",
        wrong: "f[i] <- f[i] + omega * (feq[i] - f[i]); /* BGK",
        right: "f[i] <- f[i] + omega * (feq[i] - f[i]); /* BGK */",
    },
    Long {
        code: Code::Nesting,
        instead: COLLIDE,
        text: "Brackets or operations are nested more deeply than a person can follow. Give names to parts with `let`: \
               that costs nothing, equal parts are computed once in any case.",
        wrong: "f[i] <- f[i] + (((((((((((((((((((((((((((((((((((((((((((((((\n        \
                    ((((((((((((((((((((((((((( omega * (feq[i] - f[i])\n        \
                    )))))))))))))))))))))))))))))))))))))))))))))))\n        )))))))))))))))))))))))))));",
        right: "let change[i] = omega * (feq[i] - f[i]);\n    f[i] <- f[i] + change[i];",
    },
    Long {
        code: Code::ControlCharacter,
        instead: RHO,
        text: "A character that is not seen: a carriage return without a line feed, a form feed, an escape, a mark that turns \
               the direction of the text. Programs disagree on which of them end a line, so that what a reader takes for a \
               comment may be something else to a compiler. They are refused everywhere, in comments too.",
        wrong: "let rho  = sum(i: f[i]);   // density\rof the fluid",
        right: "let rho  = sum(i: f[i]);   // density of the fluid",
    },
    Long {
        code: Code::Syntax,
        instead: COLLIDE,
        text: "Something else must stand at this place. Frequent slips: `=` where a population is defined (that is `<-`), \
               a missing `:` in `sum(i: ...)`, and an `if` without its `else` (a formula has a value in every case).",
        wrong: "f[i] = f[i] + omega * (feq[i] - f[i]);",
        right: COLLIDE,
    },
    Long {
        code: Code::Semicolon,
        instead: "field rho;\nfield u;",
        text: "A statement ends with `;`. Line ends have no meaning, so a long formula may run over several lines.",
        wrong: "field rho\nfield u;",
        right: "field rho;\nfield u;",
    },
    Long {
        code: Code::UnknownItem,
        instead: RHO,
        text: "A statement begins with a word that begins none. A method is made of `use`, `lattice`, `param`, `let`, \
               `fn`, `field`, `init`, `collide` and `boundary`.",
        wrong: "lte rho = sum(i: f[i]);",
        right: "let rho = sum(i: f[i]);",
    },
    Long {
        code: Code::IndexRange,
        instead: RHO,
        text: "What an index runs over is part of its name: i, j, k run over the directions of the velocity set and a, \
               b, g (or α, β, γ) over the axes of space. Any other index needs a range.",
        wrong: "let rho = sum(q: f[q]);",
        right: "let rho = sum(x in -1..=1, y in -1..=1: f[(x, y)]);",
    },
    Long {
        code: Code::Reserved,
        instead: COLLIDE,
        text: "Names such as f, c, w, cs2, opp and dot mean the same in every method, so that a reader who knows one can \
               read all. They cannot be given another meaning.",
        wrong: "let w = omega / 2;\n    f[i] <- f[i] + 2 * w * (feq[i] - f[i]);",
        right: "let beta = omega / 2;\n    f[i] <- f[i] + 2 * beta * (feq[i] - f[i]);",
    },
];
