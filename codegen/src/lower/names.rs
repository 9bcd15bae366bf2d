//! Names that can be written in C, C++, CUDA and Rust.

use std::collections::BTreeSet;

/// Words that a value of a kernel can't have as its name: keywords of the targets and what the templates use.
const RESERVED: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
    wchar_t while xor xor_eq size_t int32_t ptrdiff_t
    abstract as async await become box crate dyn final fn gen impl in let loop macro match mod move mut override priv pub
    ref self Self super trait type unsafe unsized use where yield
    blockIdx blockDim gridDim threadIdx warpSize sqrt sqrtf memcpy
    ids count neighbours src dst fields wall_rules wall_values args
    nx ny nz stride_y stride_z stride_i
    f own near value direction item slot cell cells state x y z xm xp ym yp zm zp bxm bxp bym byp bzm bzp
    before after stride at gather gather_walls from_wall collide init macroscopic
    jump packet kind kinds place corner child level arrives find beyond around wall_adds from_coarser from_finer saved reached
    has v upwind refined block entry other part way near far first last sum current coarse fine start corners nodes children
    parents slots populations_0 populations_1 OPPOSITE DIM COARSER COARSE FINE WALL Jump Side Spot Cell
    look find entry_of wall_at side_of spot own_side coarser here step_of width way way_of straight Way crossed list listed late
    streamed inside mirrored meets folded reflect turned length upper of_nodes arrival node inward axes sign given VELOCITY NUMBER
    Q BX BY BZ CELLS NEAR FIELDS ITEMS STRIDE SLAB ROWS";

/// Name of a component of `base`, which has `count` of them: `rho`, `ux`, `uy`, `uz`.
pub fn component(base: &str, at: usize, count: usize) -> String {
    if count == 1 { base.into() } else { format!("{base}{}", ["x", "y", "z"][at]) }
}

/// Hands out each name once.
pub struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// Everything but the reserved words is free.
    pub fn new() -> Self {
        Self { taken: RESERVED.split_whitespace().map(String::from).collect() }
    }

    /// `wanted` if it is free, else with as many underscores behind it as it takes. Names that the compiler gives
    /// itself (`t0`, `t1`, ...), and those of rules (`wall_...`), are never free; letters beyond ASCII are spelled out.
    pub fn claim(&mut self, wanted: &str) -> String {
        let mut name = ascii(wanted);
        let own = |name: &str| {
            let digits = name.strip_prefix('t').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        while own(&name) || name.starts_with("wall_") || !self.taken.insert(name.clone()) {
            name = if name.starts_with("wall_") { format!("of_{name}") } else { name + "_" };
        }
        name
    }
}

/// Greek letters by their names, anything else beyond ASCII by its number.
fn ascii(name: &str) -> String {
    const GREEK: [&str; 25] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
        "xi", "omicron", "pi", "rho", "sigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    ];
    let mut out = String::new();
    for letter in name.chars() {
        match letter {
            'α'..='ω' => out += GREEK[letter as usize - 'α' as usize],
            'Α'..='Ω' => {
                let lower = GREEK[letter as usize - 'Α' as usize];
                out += &lower[..1].to_uppercase();
                out += &lower[1..];
            }
            _ if letter.is_ascii() => out.push(letter),
            _ => out += &format!("u{:x}", letter as u32),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_name_stays_where_it_is_free() {
        let mut namer = Namer::new();
        assert_eq!(namer.claim("rho"), "rho");
        assert_eq!(namer.claim("feq_7"), "feq_7");
    }

    #[test]
    fn keywords_taken_names_and_temporaries_are_dodged() {
        let mut namer = Namer::new();
        assert_eq!(namer.claim("delete"), "delete_");
        assert_eq!(namer.claim("restrict"), "restrict_");
        assert_eq!(namer.claim("src"), "src_");
        assert_eq!(namer.claim("t12"), "t12_");
        assert_eq!(namer.claim("tau"), "tau");
        assert_eq!(namer.claim("tau"), "tau_");
        assert_eq!(namer.claim("tau"), "tau__");
        assert_eq!(namer.claim("wall_rules"), "of_wall_rules");
    }

    #[test]
    fn greek_letters_are_spelled_out() {
        assert_eq!(Namer::new().claim("ρ_x"), "rho_x");
        assert_eq!(Namer::new().claim("Ω"), "Omega");
    }
}
