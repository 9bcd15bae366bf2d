//! The table of diagnostics: one row for each thing that can be wrong.
//!
//! A row has a code, a headline and the hint that is given where the place itself suggests none. Hundreds are families:
//! 00 characters, 01 syntax, 02 velocity sets, 03 names, 04 values, 05 parts of a method, 06 physics, 07 levels. `E` is an
//! error; `W` warns of a valid method. Every row has a case in `tests/ui`, every case a row.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $code:literal $message:literal $hint:literal;)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(
                #[doc = $message]
                $name,
            )*
        }

        impl Code {
            /// Every row.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code itself, `E0204`.
            pub fn code(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// Whether it warns of something in a valid method.
            pub fn is_warning(self) -> bool {
                self.code().starts_with('W')
            }

            /// The headline.
            pub fn message(self) -> &'static str {
                match self { $(Code::$name => $message,)* }
            }

            /// The hint that fits every case; empty if none does.
            pub fn hint(self) -> &'static str {
                match self { $(Code::$name => $hint,)* }
            }
        }
    };
}

codes! {
    IllegalCharacter "E0001" "character without a meaning" "";
    Bracket          "E0002" "brackets do not match" "";
    NumberSuffix     "E0003" "letters directly behind a number" "write a product with `*`: `2 * x`";
    LeadingZero      "E0004" "number with a leading zero" "";
    PartialNumber    "E0005" "number with a bare decimal point" "";
    NumberRange      "E0006" "exponent of a number out of range" "write at most three hundred powers of ten";
    Quote            "E0007" "quotation mark" "the language has no strings, and names have no primes: write `f_post` for f'";
    OpenComment      "E0008" "comment without an end" "close it with `*/`";
    Nesting          "E0009" "nested too deeply" "give names to parts of it with `let`";
    ControlCharacter "E0010" "control character" "a text has no control characters but tabs and ends of lines (LF, or CRLF)";

    Syntax           "E0101" "unexpected text" "";
    Semicolon        "E0102" "missing semicolon" "end the statement with `;`";
    UnknownItem      "E0103" "no such kind of statement" "";
    IndexRange       "E0104" "index variable without a range" "`i j k` run over directions and `a b g` over axes; any \
                                                               other index needs a range: `x in -1..=1`";
    Reserved         "E0105" "name with a fixed meaning" "choose another name";

    NoLattice        "E0201" "no velocity set" "choose one: `use lattices::D2Q9;` and `lattice D2Q9;`";
    VelocityLength   "E0202" "velocities of different dimension" "a velocity set has two or three axes, the same for all its velocities";
    VelocityTwice    "E0203" "velocity listed twice" "a shell lists all permutations and signs of its representative";
    WeightSum        "E0204" "weights do not sum to one" "count the velocities of each shell: weights are those of one velocity";
    NoOpposite       "E0205" "velocity without an opposite" "add the reversed velocity with the same weight, or use `shell`";
    UnevenWeights    "E0206" "opposite velocities with different weights" "give both the same weight";
    Isotropy         "E0207" "claimed isotropy is not reached" "";
    LatticeSize      "E0208" "too many velocities" "the velocity sets of a method have at most 255 velocities together";
    PopulationsAxes  "E0209" "populations in different dimensions" "the velocity sets of a method have the same number of axes";

    Undefined        "E0301" "undefined name" "";
    Unused           "E0302" "unused name" "";
    Shadowed         "E0303" "name hides another one" "choose another name";
    Duplicate        "E0304" "name defined twice" "";
    UnknownModule    "E0305" "module that cannot be loaded" "";
    UnknownImport    "E0306" "module without that name" "";
    Recursion        "E0307" "function that calls itself" "functions are expanded where they are called, so they must end";
    NameKind         "E0308" "name of another kind" "";
    NotVisible       "E0309" "name that cannot be seen here" "";
    Ambiguous        "E0310" "name with several meanings" "say whose it is: `f.cs2`";

    NotScalar        "E0401" "rank mistake" "";
    IndexCount       "E0402" "wrong number of indices" "";
    IndexKind        "E0403" "wrong kind of index" "";
    OutOfRange       "E0404" "index out of range" "";
    NotConstant      "E0405" "not a constant" "indices, ranges, weights and filters must be known when the formula is expanded";
    NotWhole         "E0406" "not a whole number" "";
    Arguments        "E0407" "wrong number of arguments" "";
    NotCondition     "E0408" "condition and number mixed up" "";
    DivisionByZero   "E0409" "division by zero" "";
    NoSuchVelocity   "E0410" "no such velocity" "";
    TooLarge         "E0411" "formula too large" "expanded formulas have a limit: shorten ranges and exponents";
    OutOfDomain      "E0412" "function outside of its domain" "";
    Neighbour        "E0413" "value of neighbours that is not known" "";
    DefaultRange     "E0414" "default outside of the interval" "intervals are open: a parameter has no value at their ends";

    MissingPart      "E0501" "method without a part" "";
    RepeatedPart     "E0502" "part of a method given twice" "";
    OutputMissing    "E0503" "population left undefined" "";
    OutputTwice      "E0504" "population defined twice" "";
    FieldRank        "E0505" "field that is neither scalar nor vector" "a field is a `let` without indices or with one axis: `u[a]`";
    InitReads        "E0506" "initial populations from populations" "`init` is given the fields and parameters only";
    UnknownLeft      "E0507" "boundary condition leaves an unknown population" "`node f[i if !known(i)] <- ...;` defines all of them";
    UnknownRead      "E0508" "boundary condition reads an unknown population" "only populations that arrive from the \
                                                                               fluid or from a link-wise wall exist: \
                                                                               test `known(i)`";
    FrameAxis        "E0509" "numbered axis in a boundary condition" "a wet-node boundary condition is written once for \
                                                                      walls of all orientations: use `n[a]`, `dot(c[i], \
                                                                      n)`, and `a` bound by a `let` or a `sum`";
    Symmetry         "E0510" "velocity set that is not the same along all axes" "a wet-node boundary condition is \
                                                                                 rotated to each wall, a symmetry plane \
                                                                                 reverses an axis: list whole shells of \
                                                                                 velocities";
    ObservableRank   "E0511" "observable that is no scalar, vector or symmetric tensor" "its indices run over axes: `observe s = ...;`, \
                                                                                        `observe q[a] = ...;`, `observe \
                                                                                        tau[a, b] = ...;`";
    BeyondWall       "E0512" "boundary condition for a value that no cell reads beyond it" "";

    Mass             "E0601" "collision does not conserve mass" "";
    Momentum         "E0602" "collision does not conserve momentum" "";
    InitFields       "E0603" "initial populations do not have the given fields" "";
    UndefinedValue   "E0604" "collision is undefined" "guard the division, root or logarithm: `if d > 0 then n / d else 0`";
    NotConserved     "E0605" "collision does not conserve what it must" "";
    ForceUnit        "E0606" "force with the unit of something else" "what a step adds to the momentum is measured in `length / time^2`";

    Unisolvence      "E0701" "sample points do not determine the weights" "";
    TooManyPoints    "E0702" "more sample points than polynomials" "weights are unique where there are as many points as polynomials in the space";
    PartitionOfUnity "E0703" "stencil does not reproduce constants" "";
    NotConservative  "E0704" "stencil does not conserve mass" "means over children need points that are their own mirror image, or come with it: `points 0, 1, 2; points -2, -1, 0;`";
    CouplingForm         "E0705" "coupling of an unknown form" "a coupling has `packet f[i] <- f[i];`, or `ghosts 2; fine f[i] <- linear(f[i]); coarse f[i] <- mean(f[i]);`";
    CouplingConservation "E0706" "coupling does not conserve" "";
    CouplingConsistency  "E0707" "coupling disturbs a uniform flow" "";
    LevelViscosity       "E0708" "levels differ in viscosity or diffusivity" "";
    LevelStress          "E0709" "levels differ in stress or flux" "";
    GhostLayers          "E0710" "too few ghosts" "";
    CriterionForm        "E0711" "criterion of an unknown form" "";

    LongVelocity "W0201" "no kernels for this velocity set" "take one whose velocities reach the next cell: D2Q9, D3Q15, D3Q19 or D3Q27";
    HidesShipped "W0301" "module that hides a shipped one" "give the file another name, unless it is meant to stand for the shipped module";
    StepBefore   "W0501" "populations of the step before" "what has arrived in this step is `streamed`; what the cell itself sent after the last collision is `sent`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_ascending() {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.code()).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
    }
}
