//! How many blocks a grid has room for.

use lbm_bundle::{Manifest, Role};

use crate::device::Device;
use crate::kernels::layout::Layout;
use crate::mesh::forest::{ForestError, Pool};
use crate::mesh::{self, Room};
use crate::solver::arrays::fields::{Fields, Sets};
use crate::solver::arrays::memory::Shared;
use crate::solver::arrays::statistics;
use crate::solver::error::StepError;
use crate::solver::spec::{Adaptivity, GridSpec, memory_for};

/// The number of blocks that fit into the memory that the grid may take, at most as many as the finest level could have, with the coarse
/// blocks that exist during an adaptation. Also returns how GPUs share the memory of blocks. On an adaptive grid they share nothing if
/// one GPU has room for all blocks, because remapping memory makes adaptations slower.
pub(crate) fn room(
    device: &Device,
    manifest: &Manifest,
    spec: &GridSpec,
    adaptivity: &Adaptivity,
) -> Result<(Room, Shared), StepError> {
    let dim = manifest.dim as usize;
    let block = manifest.block.map(|side| side as usize);
    let roots = mesh::roots(spec.size, block, spec.periodic_axes(dim)).map_err(ForestError::from)?;
    let roots: usize = roots.iter().product();
    let memory = memory_for(device, adaptivity);
    let kept = if adaptivity.keeps { Layout::fields(manifest).slot_len() * manifest.real.bytes() } else { 0 };
    let follows = adaptivity.during.is_some();
    let [accumulated, most_moved] = statistics::bytes_of_slot(manifest, spec.statistics.as_ref());
    let moved = if follows { most_moved } else { 0 };
    // With kernels in place, one set may be what remains.
    let may_be_one = !follows && manifest.kernel(Role::CollideOut).is_some();
    let [own, at_interfaces] = Fields::bytes_of_slot(manifest, if may_be_one { Sets::One } else { Sets::Two });
    let own = own + kept + accumulated + moved;
    let most = roots.saturating_mul(1usize.checked_shl((dim * adaptivity.levels.end()) as u32).unwrap_or(usize::MAX));
    let most = most.saturating_add(most >> dim).saturating_add(1 << dim);
    let within = |of_slot: usize| Pool::within(dim, roots, memory, of_slot, mesh::stores_covered(manifest)).slots;
    // Only the device knows which data covered blocks will have after an adaptation.
    let gpus = if follows && mesh::stores_covered(manifest) { 1 } else { adaptivity.sharing };
    let (slots, shared) = slots_within(within, most, [own, at_interfaces], (gpus, follows));
    Ok((Room { most: slots, all: follows }, shared))
}

/// The number of slots, at most `most`, given `within`, the number that fits for a size of slot, and how GPUs share memory. Of the bytes
/// of a slot only the first number, `own`, may be shared, by `gpus` GPUs.
pub(crate) fn slots_within(
    within: impl Fn(usize) -> usize,
    most: usize,
    [own, of_all]: [usize; 2],
    (gpus, follows): (usize, bool),
) -> (usize, Shared) {
    let slots = |shared: Shared| within(shared.of(own, gpus) + of_all).min(most);
    let shared = match follows {
        false => Shared::Evenly,
        true if gpus > 1 && slots(Shared::No) < most => Shared::WithSpare,
        true => Shared::No,
    };
    (slots(shared), shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_share_the_blocks_of_a_grid_that_follows_the_flow_where_one_has_not_room_for_all() {
        let slots = |most: usize, gpus: usize, follows: bool| {
            slots_within(|of_slot| 1_000_000 / of_slot, most, [1000, 100], (gpus, follows))
        };
        assert_eq!([900, 910].map(|most| slots(most, 2, true).1), [Shared::No, Shared::WithSpare]);
        assert_eq!((slots(5000, 1, true), slots(900, 2, true).0), ((909, Shared::No), 900));
        let of_gpus = [2, 4, 8].map(|gpus| slots(5000, gpus, true).0);
        assert_eq!(of_gpus, [706, 403, 252].map(|of_slot| 1_000_000 / of_slot));
        assert_eq!(slots(5000, 2, false), (1_000_000 / 600, Shared::Evenly));
    }
}
