//! What is cheap.

use lbm_bundle::Cost;

/// Weight of a division or a root against an addition: throughput of the target's units, roughly.
const SLOW: u32 = 8;

/// Price of a kernel: flops and instructions count alike, so that a multiply-add costs less than its parts and more than
/// one of them; divisions and roots weigh more.
pub(super) fn price(cost: &Cost) -> u32 {
    2 * (cost.adds + cost.muls) + 3 * cost.fmas + 2 * SLOW * (cost.divs + cost.sqrts)
}
