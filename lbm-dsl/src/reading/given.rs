//! Names that the language gives.

use super::Entry;
use crate::function;

/// Where formulas have such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In all.
    Formulas,
    /// In those that see populations: of a method, of boundary conditions, of couplings.
    Populations,
    /// In those of a method.
    Methods,
    /// In boundary conditions.
    Walls,
    /// In couplings.
    Couplings,
    /// In criteria, and in those of a method.
    Around,
    /// As an index, which a formula has where it binds it.
    Bound,
}

/// What formulas have without a definition.
const GIVEN: &[(&str, Where, &str, &str)] = &[
    ("c", Where::Formulas, "c[i, a]", "component of the velocity of direction `i` along axis `a`, in cells per step"),
    ("cs2", Where::Formulas, "cs2", "square of the speed of sound; of other populations `g.cs2`"),
    ("delta", Where::Formulas, "delta(a, b)", "1 if the two indices are equal, else 0"),
    ("dim", Where::Formulas, "dim", "number of axes"),
    ("dot", Where::Formulas, "dot(u, v)", "scalar product of two vectors"),
    ("f", Where::Populations, "f[i]", "population of direction `i`; `f[(x, y, z)]` is that of a velocity"),
    (
        "known",
        Where::Walls,
        "known(i)",
        "whether population `i` comes from the fluid, decided when the formula is expanded (wet-node boundary conditions)",
    ),
    ("opp", Where::Formulas, "opp(i)", "direction opposite to `i`"),
    ("sqrt", Where::Formulas, "sqrt(a)", "square root"),
    ("w", Where::Formulas, "w[i]", "weight of direction `i`"),
    ("mirrored", Where::Walls, "mirrored[i]", "what a symmetry plane would send back (link-wise boundary conditions)"),
    ("streamed", Where::Walls, "streamed[i]", "population that has arrived (wet-node boundary conditions)"),
    (
        "inside",
        Where::Walls,
        "inside[i]",
        "population of the next cell along the inward normal (wet-node boundary conditions)",
    ),
    (
        "deep",
        Where::Walls,
        "deep[i]",
        "population of the cell three cells along the inward normal (wet-node boundary conditions)",
    ),
    (
        "sent",
        Where::Walls,
        "sent[i]",
        "what the cell itself had after the last collision (wet-node boundary conditions)",
    ),
    (
        "n",
        Where::Walls,
        "n[a]",
        "inward normal, at an edge or corner the sum of those that meet (wet-node boundary conditions)",
    ),
    ("mean", Where::Couplings, "mean(x)", "mean over the packets, or cells, of a coarse cell (couplings)"),
    ("kind", Where::Couplings, "kind", "how a packet travels (couplings)"),
    (
        "position",
        Where::Couplings,
        "position[a]",
        "from where a packet travels, or where a child lies, from the centre of the coarse cell (couplings)",
    ),
    ("equilibrium", Where::Couplings, "equilibrium[i]", "what `init` gives for the fields of the cell (couplings)"),
    (
        "gradient",
        Where::Around,
        "gradient[a](x)",
        "derivative along an axis, of a field or of a value of the cells around",
    ),
    ("laplacian", Where::Methods, "laplacian(x)", "sum of the second derivatives of a value of the cells around"),
    ("neighbour", Where::Methods, "neighbour[i](x)", "value of the next cell along direction `i`"),
    ("i", Where::Bound, "i", "index over the directions, as `j` and `k`"),
    ("a", Where::Bound, "a", "index over the axes, as `b` and `g`"),
];

/// What is known of a name that the language gives.
pub fn given(word: &str) -> Option<Entry> {
    let word = match word {
        "j" | "k" => "i",
        "b" | "g" | "α" | "β" | "γ" => "a",
        word => word,
    };
    if let Some((_, _, form, says)) = GIVEN.iter().find(|(known, ..)| *known == word) {
        return Some((form.to_string(), vec![says.to_string()]));
    }
    let function = function::called(word)?;
    let says = format!("function of numbers, for {}", function::domain(function));
    Some((format!("{word}({})", function.operands().join(", ")), vec![says]))
}

/// The names that the formulas of a statement at the top have, which begins with that word.
pub fn names(item: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    let seen = move |place: Where| match place {
        Where::Formulas => true,
        Where::Populations => !matches!(item, "fn" | "criterion" | "init"),
        Where::Methods => matches!(item, "let" | "observe" | "collide"),
        Where::Walls => item == "boundary",
        Where::Couplings => item == "coupling",
        Where::Around => matches!(item, "let" | "observe" | "collide" | "criterion"),
        Where::Bound => false,
    };
    let is_given = |name: &&str| GIVEN.iter().any(|(known, ..)| known == name);
    let given = GIVEN.iter().filter(move |(_, place, ..)| seen(*place)).map(|(name, ..)| *name);
    given.chain(function::names().filter(move |name| !is_given(name)))
}
