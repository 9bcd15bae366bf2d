//! Fills what is different where moments are stored in the place of populations.
//!
//! CUDA: the threads of a block make the populations of its cells and of the layer of cells around it, one pair of opposite directions at
//! a time, in memory that they share, and each adds up the moments of what arrives in its cell. What several pairs need is computed
//! once, before the first: no thread holds all populations.

use std::collections::BTreeSet;

use lbm_bundle::{Manifest, Target};
use lbm_dsl::expr::{ExprId, Rational};
use num_traits::{One, Signed, Zero};

use super::arithmetic::formulas;
use super::formula::{Language, Printer};
use super::method::{Method, Moments as Plans};
use super::number::literal;
use super::view::{Arrival, Moments, Value};
use crate::ir::Plan;

/// Everything about moments.
pub fn view(method: &Method, plans: &Plans) -> Moments {
    let manifest = method.manifest;
    let staged = (manifest.target == Target::Cuda).then(|| staged(manifest, plans.populations));
    let (shared, body, arrivals) = staged.unwrap_or_default();
    let padded = padded(manifest);
    Moments {
        names: manifest.moments.iter().map(|moment| moment.name.as_str()).collect::<Vec<_>>().join(", "),
        sums: sums(manifest),
        populations: formulas(manifest, plans.populations),
        shared,
        body,
        rest: rest(manifest),
        arrivals,
        padded: padded.iter().product(),
        px: padded[0],
        py: padded[1],
        halo: halo(manifest),
    }
}

/// Cells of a block along each axis with the layer around it.
fn padded(manifest: &Manifest) -> [u32; 3] {
    std::array::from_fn(|axis| manifest.block[axis] + if axis < manifest.dim as usize { 2 } else { 0 })
}

/// Bytes of shared memory that a block of threads needs: two pairs of populations of the block and the layer around it.
pub fn shared_bytes(manifest: &Manifest) -> usize {
    4 * padded(manifest).iter().product::<u32>() as usize * manifest.real.bytes()
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

/// Values that several pairs need, the statements that compute them, and what each pair needs beside them.
fn staged(manifest: &Manifest, plan: &Plan) -> (Vec<String>, Vec<String>, Vec<Arrival>) {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let outputs = plan.dag().outputs();
    let pairs: Vec<[usize; 2]> = (0..manifest.q())
        .map(|at| [at, manifest.directions[at].opposite as usize])
        .filter(|[at, other]| at < other)
        .collect();
    let named: BTreeSet<ExprId> =
        plan.sections().iter().flat_map(|section| &section.statements).map(|statement| statement.value).collect();
    let of_output = |at: usize| -> BTreeSet<ExprId> {
        let own = outputs[at].value;
        printer.needs(own).into_iter().chain(named.contains(&own).then_some(own)).collect()
    };
    let of_pair: Vec<BTreeSet<ExprId>> =
        pairs.iter().map(|pair| pair.iter().flat_map(|at| of_output(*at)).collect()).collect();
    let resting = (0..manifest.q()).filter(|at| manifest.directions[*at].c == [0; 3]).flat_map(of_output);
    let mut shared: BTreeSet<ExprId> = resting.collect();
    for (at, own) in of_pair.iter().enumerate() {
        shared.extend(own.iter().filter(|id| of_pair[..at].iter().any(|other| other.contains(*id))));
    }
    // What is needed for these comes before the first pair too.
    let below: Vec<ExprId> = shared.iter().flat_map(|id| printer.needs(*id)).collect();
    shared.extend(below);
    let statements = |wanted: &dyn Fn(&ExprId) -> bool| -> Vec<String> {
        let all = plan.sections().iter().flat_map(|section| &section.statements);
        all.filter(|one| wanted(&one.value)).flat_map(|one| printer.statement(&one.name, one.value)).collect()
    };
    let all = plan.sections().iter().flat_map(|section| &section.statements);
    let names = all.filter(|one| shared.contains(&one.value)).map(|one| one.name.clone());
    let inputs = plan.dag().symbols().iter().map(|(_, name)| name.clone());
    let padded = padded(manifest).map(|side| side as i32);
    let arrival = |([at, other], needs): (&[usize; 2], &BTreeSet<ExprId>)| {
        let c = manifest.directions[*at].c;
        let half = |value: Rational| value / Rational::from_integer(2.into());
        let even = added(manifest, "even", |shares| half(&shares[*at] + &shares[*other]));
        let odd = added(manifest, "odd", |shares| half(&shares[*at] - &shares[*other]));
        Arrival {
            at: *at,
            other: *other,
            body: statements(&|id| needs.contains(id) && !shared.contains(id)),
            first: printer.operand(outputs[*at].value),
            second: printer.operand(outputs[*other].value),
            offset: c[0] + padded[0] * (c[1] + padded[1] * c[2]),
            has_odd: !odd.is_empty(),
            added: even.into_iter().chain(odd).collect(),
        }
    };
    let arrivals = pairs.iter().zip(&of_pair).map(arrival).collect();
    (inputs.chain(names).collect(), statements(&|id| shared.contains(id)), arrivals)
}

/// The cells around a block that send something into it: the neighbour, the cell there, and the place among all of these, as one number each
/// (`entry << 22 | cell << 12 | place`); by neighbour.
fn halo(manifest: &Manifest) -> Vec<String> {
    let (dim, block) = (manifest.dim as usize, manifest.block.map(|side| side as i32));
    let padded = padded(manifest).map(|side| side as i32);
    let mut cells = Vec::new();
    for place in 0..padded.iter().product::<i32>() {
        let at = [place % padded[0], place / padded[0] % padded[1], place / (padded[0] * padded[1])];
        let inside: [i32; 3] = std::array::from_fn(|axis| if axis < dim { at[axis] - 1 } else { 0 });
        let side: [i32; 3] =
            std::array::from_fn(|axis| i32::from(inside[axis] >= block[axis]) - i32::from(inside[axis] < 0));
        let sends = |c: &[i32; 3]| (0..3).all(|axis| side[axis] == 0 || side[axis] == -c[axis]);
        if side == [0; 3] || !manifest.directions.iter().any(|direction| sends(&direction.c)) {
            continue;
        }
        let entry = side[0] + 1 + 3 * (side[1] + 1) + if dim == 3 { 9 * (side[2] + 1) } else { 0 };
        let own: [i32; 3] = std::array::from_fn(|axis| inside[axis] - side[axis] * block[axis]);
        let cell = own[0] + block[0] * (own[1] + block[1] * own[2]);
        cells.push((entry << 22) | (cell << 12) | place);
    }
    cells.sort_unstable();
    cells.chunks(12).map(|line| line.iter().map(|code| format!("{code},")).collect::<Vec<_>>().join(" ")).collect()
}
