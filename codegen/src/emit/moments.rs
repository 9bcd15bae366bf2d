//! What templates print where moments are stored in the place of populations.
//!
//! CUDA: the threads of a block make the populations of its cells, and of the layer of cells around it those that enter the block. In memory
//! that they share each lies where it arrives, so that threads read what is their own; each adds up the moments of that.

use lbm_bundle::{HALF_DIGITS, Manifest, digits_of};
use lbm_dsl::expr::Rational;
use num_traits::{One, Signed, Zero};
use serde::Serialize;

use super::arithmetic::formulas;
use super::method::{Method, Moments as Plans};
use super::number::literal;
use super::view::{Formulas, Value};

/// Moments that are stored in the place of populations.
#[derive(Debug, Serialize)]
pub struct Moments {
    /// Their names.
    pub names: String,
    /// How many states lie behind them.
    pub states: usize,
    /// How many moments there are.
    pub count: usize,
    /// The constant that says so: `K` where there are no states.
    pub number: &'static str,
    /// `m[0] = f[0] + f[1];` for each, and for each state.
    pub sums: Vec<String>,
    /// Populations after a collision from moments after it.
    pub populations: Formulas,
    /// The same of each alone.
    pub each: Vec<Formulas>,
    /// CUDA: moments of 16 bits that lie side by side; none where each lies apart.
    pub groups: Vec<Group>,
    /// How many they are: `8, 2`.
    pub widths: String,
    /// Whether two moments of 16 bits are rounded into a word.
    pub paired: bool,
    /// Moments of 16 bits: the digits of each.
    pub digits: Vec<Digits>,
    /// Digits that some lend others.
    pub lent: Vec<Lent>,
    /// CUDA: populations that stay where they are, and what is added to the moments for them.
    pub rest: Vec<Value>,
    /// CUDA: pairs of opposite directions.
    pub arrivals: Vec<Arrival>,
    /// CUDA: how a cell of a block gives its populations to others of the block, a statement each.
    pub own: Vec<String>,
    /// CUDA: how cells around it do.
    pub around: Vec<Around>,
    /// Cells of a block with the layer around it.
    pub padded: u32,
    /// The same along x.
    pub px: u32,
    /// Along y.
    pub py: u32,
    /// Codes of the cells around a block.
    pub halo: Vec<String>,
}

/// Binary digits of a moment that is stored in 16 bits.
#[derive(Debug, Serialize)]
pub struct Digits {
    /// How many of 24 are left out.
    pub left: u32,
    /// How many of the last it lends.
    pub lends: u32,
    /// The bits that it keeps then.
    pub kept: String,
}

/// Digits that a moment lends another.
#[derive(Debug, Serialize)]
pub struct Lent {
    /// The one that has them more.
    pub to: usize,
    /// The one that has them less.
    pub from: usize,
    /// Ones, as many as they are.
    pub mask: u32,
    /// Where they are among those of a number of 32 bits.
    pub place: u32,
    /// CUDA: 16 where the one that has them less lies in the upper half of its word.
    pub half: u32,
}

/// CUDA: moments of a cell that lie side by side.
#[derive(Debug, Serialize)]
pub struct Group {
    /// The first.
    pub first: usize,
    /// The one behind the last.
    pub end: usize,
    /// How many they are.
    pub width: usize,
    /// The type in which they are loaded at once.
    pub word: &'static str,
    /// Its parts, two moments each.
    pub words: Vec<Word>,
}

/// CUDA: 32 bits of what is loaded at once.
#[derive(Debug, Serialize)]
pub struct Word {
    /// Which: `.x`; empty where there is one.
    pub part: &'static str,
    /// The first of its two moments.
    pub first: usize,
}

/// CUDA: a block from which populations enter the one at hand.
#[derive(Debug, Serialize)]
pub struct Around {
    /// Its number among the neighbours.
    pub entry: i32,
    /// How its cells give them, a statement each.
    pub gives: Vec<String>,
}

/// CUDA: a pair of opposite directions.
#[derive(Debug, Serialize)]
pub struct Arrival {
    /// The first direction.
    pub at: usize,
    /// The other.
    pub other: usize,
    /// Where what arrives of the first begins in memory that threads share.
    pub first: usize,
    /// Where that of the other does.
    pub second: usize,
    /// Whether what they differ by has a part in a moment.
    pub has_odd: bool,
    /// What is added to the moments for what arrives.
    pub added: Vec<String>,
}

/// Everything about moments.
pub fn view(method: &Method, plans: &Plans) -> Moments {
    let manifest = method.manifest;
    let (padded, groups, count) = (padded(manifest), groups(manifest), manifest.first_state());
    Moments {
        states: manifest.states.len(),
        number: if manifest.states.is_empty() { "K" } else { "MOMENTS" },
        count,
        widths: groups.iter().map(|group| group.width.to_string()).collect::<Vec<_>>().join(", "),
        groups,
        paired: manifest.target.is_gpu(),
        digits: (0..count).map(|at| digits(manifest, at)).collect(),
        lent: manifest.lent().into_iter().map(lent).collect(),
        names: manifest.moments.iter().map(|moment| moment.name.as_str()).collect::<Vec<_>>().join(", "),
        sums: sums(manifest),
        populations: formulas(manifest, plans.populations),
        each: (0..manifest.q() - manifest.states.len())
            .map(|pop| formulas(manifest, &plans.populations.of_output(pop)))
            .collect(),
        rest: rest(manifest),
        arrivals: arrivals(manifest),
        own: gives(manifest, [0; 3]),
        around: sides(manifest)
            .into_iter()
            .map(|side| Around { entry: entry(manifest, side), gives: gives(manifest, side) })
            .collect(),
        padded: padded.iter().product(),
        px: padded[0],
        py: padded[1],
        halo: halo(manifest),
    }
}

/// Binary digits of a number of 32 bits.
const DIGITS: u32 = 24;

fn digits(manifest: &Manifest, at: usize) -> Digits {
    let lent = manifest.lent();
    let lends = lent.iter().find(|lent| lent.from == at).map_or(0, |lent| lent.digits);
    Digits { left: DIGITS - digits_of(&lent, at), lends, kept: format!("0x{:04x}", 0xffff_u32 << lends & 0xffff) }
}

fn lent(own: lbm_bundle::Lent) -> Lent {
    let half = if own.from % 2 == 1 { 16 } else { 0 };
    Lent {
        to: own.to,
        from: own.from,
        mask: (1 << own.digits) - 1,
        place: DIGITS - HALF_DIGITS - own.more + own.shift,
        half,
    }
}

/// Moments that lie side by side, if they do.
fn groups(manifest: &Manifest) -> Vec<Group> {
    let group = |(first, width): (usize, usize)| {
        let (word, parts): (_, &[_]) = match width {
            8 => ("uint4", &[".x", ".y", ".z", ".w"]),
            4 => ("uint2", &[".x", ".y"]),
            2 => ("unsigned", &[""]),
            _ => ("uint16_t", &[]),
        };
        let words = (first..).step_by(2).zip(parts).map(|(first, part)| Word { part, first }).collect();
        Group { first, end: first + width, width, word, words }
    };
    lbm_bundle::side_by_side(manifest.first_state()).filter(|_| manifest.is_side_by_side()).map(group).collect()
}

/// Cells of a block along each axis with the layer around it.
fn padded(manifest: &Manifest) -> [u32; 3] {
    std::array::from_fn(|axis| manifest.block[axis] + if axis < manifest.dim as usize { 2 } else { 0 })
}

/// `real name = share * f + ...;` for each moment.
fn sums(manifest: &Manifest) -> Vec<String> {
    let of = |(at, moment): (usize, &lbm_bundle::Moment)| {
        let mut text = String::new();
        for (pop, share) in shares(moment).iter().enumerate() {
            text += &term(share, &format!("f[{pop}]"), text.is_empty(), manifest);
        }
        format!("m[{at}] = {text};")
    };
    manifest.moments.iter().enumerate().map(of).collect()
}

fn shares(moment: &lbm_bundle::Moment) -> Vec<Rational> {
    moment.shares.iter().map(|share| share.parse().unwrap_or_else(|_| Rational::zero())).collect()
}

/// A term of a sum, with its sign: ` - 2 * f[3]`; nothing for a share of zero.
fn term(share: &Rational, value: &str, first: bool, manifest: &Manifest) -> String {
    if share.is_zero() {
        return String::new();
    }
    let sign = match (share.is_negative(), first) {
        (true, true) => "-",
        (true, false) => " - ",
        (false, true) => "",
        (false, false) => " + ",
    };
    let factor =
        if share.abs().is_one() { String::new() } else { format!("{} * ", literal(&share.abs(), manifest.real)) };
    format!("{sign}{factor}{value}")
}

/// `n_0 += d;` for each moment in which the value has a share.
fn added(manifest: &Manifest, value: &str, share: impl Fn(&[Rational]) -> Rational) -> Vec<String> {
    let line = |(at, moment): (usize, &lbm_bundle::Moment)| {
        let own = term(&share(&shares(moment)), value, false, manifest);
        (!own.is_empty()).then(|| format!("n_{at} = n_{at}{own};"))
    };
    manifest.moments.iter().enumerate().filter_map(line).collect()
}

/// What is added for populations that stay where they are.
fn rest(manifest: &Manifest) -> Vec<Value> {
    let resting = (0..manifest.q()).filter(|at| manifest.directions[*at].c == [0; 3]);
    resting.map(|at| Value { text: added(manifest, "own", |shares| shares[at].clone()).join(" "), at }).collect()
}

/// What is added to the moments for the populations of each pair of opposite directions that arrive.
fn arrivals(manifest: &Manifest) -> Vec<Arrival> {
    let pairs =
        (0..manifest.q()).map(|at| (at, manifest.directions[at].opposite as usize)).filter(|(at, other)| at < other);
    let half = |value: Rational| value / Rational::from_integer(2.into());
    let arrival = |(at, other): (usize, usize)| {
        let even = added(manifest, "even", |shares| half(&shares[at] + &shares[other]));
        let odd = added(manifest, "odd", |shares| half(&shares[at] - &shares[other]));
        let place = |at: usize| moving(manifest).position(|moving| moving == at).unwrap_or(0) * manifest.cells();
        let (first, second) = (place(at), place(other));
        Arrival { at, other, first, second, has_odd: !odd.is_empty(), added: even.into_iter().chain(odd).collect() }
    };
    pairs.map(arrival).collect()
}

/// Populations that move.
fn moving(manifest: &Manifest) -> impl Iterator<Item = usize> {
    (0..manifest.q()).filter(|at| manifest.directions[*at].c != [0; 3])
}

/// Where a block lies from the one at hand: -1, 0 or 1 along each axis.
type Side = [i32; 3];

/// Whether populations of a direction come from there.
fn enters(side: Side, c: [i32; 3]) -> bool {
    (0..3).all(|axis| side[axis] == 0 || side[axis] == -c[axis])
}

/// The sides from which anything comes, those of faces before those of edges and corners.
fn sides(manifest: &Manifest) -> Vec<Side> {
    let along = |axis: usize| if axis < manifest.dim as usize { -1..=1 } else { 0..=0 };
    let all = along(2).flat_map(|z| along(1).flat_map(move |y| along(0).map(move |x| [x, y, z])));
    let sends = |side: &Side| *side != [0; 3] && manifest.directions.iter().any(|direction| enters(*side, direction.c));
    let mut sides: Vec<Side> = all.filter(sends).collect();
    sides.sort_by_key(|side| side.iter().map(|along| along.abs()).sum::<i32>());
    sides
}

/// The number of a side among the neighbours of a block.
fn entry(manifest: &Manifest, side: Side) -> i32 {
    (0..manifest.dim as usize).map(|axis| (side[axis] + 1) * 3i32.pow(axis as u32)).sum()
}

/// Statements by which a cell of a block gives its populations `f` to the cells of the block at hand in which they arrive: `cell` is its
/// number in its block, `inside` says where this goes on.
fn gives(manifest: &Manifest, side: Side) -> Vec<String> {
    let block = manifest.block.map(|along| along as i32);
    let stride = [1, block[0], block[0] * block[1]];
    let give = |(place, at): (usize, usize)| {
        let c = manifest.directions[at].c;
        if !enters(side, c) {
            return None;
        }
        let goes_on = |axis: usize| format!("inside & {}", (if c[axis] < 0 { 1 } else { 2 }) << (2 * axis));
        let along: Vec<String> = (0..3).filter(|axis| c[*axis] != 0 && side[*axis] == 0).map(goes_on).collect();
        let offset: i32 = (0..3).map(|axis| (c[axis] + side[axis] * block[axis]) * stride[axis]).sum();
        let first = place as i32 * manifest.cells() as i32 + offset;
        let sign = if first < 0 { '-' } else { '+' };
        let give = format!("arrived[cell {sign} {}] = f[{at}];", first.abs());
        Some(match &along[..] {
            [] => give,
            [one] => format!("if ({one}) {give}"),
            several => format!("if (({}) {give}", several.join(") && (") + ")"),
        })
    };
    moving(manifest).enumerate().filter_map(give).collect()
}

/// The cells around a block that send something into it, as one number each (`entry << 22 | cell << 12 | inside`): the neighbour, the cell
/// there, and whether there are cells of that neighbour below and above it along each axis, a bit each.
fn halo(manifest: &Manifest) -> Vec<String> {
    let [bx, by, bz] = manifest.block.map(|along| along as i32);
    let of_side = |side: Side| {
        let along = |axis: usize, length: i32| match side[axis] {
            -1 => length - 1..length,
            0 => 0..length,
            _ => 0..1,
        };
        let code = move |[x, y, z]: [i32; 3]| {
            let beside = |at: i32, length: i32| i32::from(at > 0) | i32::from(at < length - 1) << 1;
            let inside = beside(x, bx) | beside(y, by) << 2 | beside(z, bz) << 4;
            (entry(manifest, side) << 22) | (x + bx * (y + by * z)) << 12 | inside
        };
        let (xs, ys, zs) = (along(0, bx), along(1, by), along(2, bz));
        let cells = zs.flat_map(move |z| {
            ys.clone().flat_map({
                let xs = xs.clone();
                move |y| xs.clone().map(move |x| [x, y, z])
            })
        });
        cells.map(code).collect::<Vec<_>>()
    };
    let codes: Vec<i32> = sides(manifest).into_iter().flat_map(of_side).collect();
    codes.chunks(12).map(|line| line.iter().map(|code| format!("{code},")).collect::<Vec<_>>().join(" ")).collect()
}
