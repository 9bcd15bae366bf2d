//! Chooses the number of GPUs for a case that does not specify it.

use lbm_runtime::device::Devices;

use super::control::{Control, Kernels};
use super::error::FlowError;
use super::placement::Placement;
use super::plan::Plan;
use crate::case::Case;
use crate::output::summary::bytes_per_update;

/// Least bytes of populations that each GPU must read and write in a step of the finest level to make another GPU
/// worthwhile. On two H100 (`benchmarks/h100/several-gpus.json`) a step took 13 to 18 µs longer than half a step on
/// one, independent of size: with 16.8 million cells of D3Q27 in `f32`, two were 1.96 times as fast as one, and with
/// 7.1 million 1.88 times. An H100 takes about 150 µs for this many bytes, ten times the overhead.
const LEAST_BYTES: f64 = 400e6;

/// Number of GPUs worth using, out of `gpus`, for a flow that updates on average `cells` cells in a step of its finest
/// level, with `bytes_of_cell` bytes of memory traffic each; at least one.
pub fn worthwhile(gpus: usize, cells: usize, bytes_of_cell: f64) -> usize {
    ((cells as f64 * bytes_of_cell / LEAST_BYTES) as usize).clamp(1, gpus.max(1))
}

/// Where a case runs that does not specify the number of GPUs, out of `gpus`, and a sentence with the reason. `alone` is
/// the first GPU.
pub fn choose(
    case: &Case,
    kernels: Kernels<'_>,
    alone: &Placement,
    control: &Control<'_>,
    gpus: usize,
) -> Result<(Placement, String), FlowError> {
    let manifest = &kernels.method.manifest;
    let one = |why: &str| Ok((alone.clone(), format!("one GPU of {gpus} is used: {why}")));
    let anyway = format!("`--devices {gpus}` divides the flow all the same");
    if case.moves() || !case.courses.is_empty() {
        return one(&format!(
            "how fast several are where solids move or parameters depend on time is not known; {anyway}"
        ));
    }
    let cells = match &case.refinement {
        None => case.cells(),
        Some(_) => match Plan::new(case, kernels, alone, control) {
            Ok(plan) => plan.updates >> plan.levels.len().saturating_sub(1),
            // It may fit on several; the run itself checks that.
            Err(FlowError::Memory { .. } | FlowError::Refused { .. }) => usize::MAX,
            Err(error) => return Err(error),
        },
    };
    let bytes = bytes_per_update(manifest);
    let count = worthwhile(gpus, cells, bytes);
    if count == 1 {
        let least = (2.0 * LEAST_BYTES / bytes).ceil() / 1e6;
        let own = cells as f64 / 1e6;
        return one(&format!(
            "a step updates {own:.1} million cells, and two are worth it from {least:.1} million on; {anyway}"
        ));
    }
    let several = Placement::on_gpus(alone.first(), 1..count)?;
    let differ = several.devices().iter().any(|other| other.describe() != alone.first().describe());
    if differ || !Devices::new(several.devices()).reach_each_other()? {
        return one(&format!("they differ, or do not reach each other's memory; {anyway}"));
    }
    let share = if cells == usize::MAX {
        "the flow does not fit into the memory of one".to_string()
    } else {
        format!("a step updates {:.1} million cells on each", cells as f64 / count as f64 / 1e6)
    };
    Ok((several, format!("{count} GPUs of {gpus} are used: {share}; `--devices 1` takes one")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of D3Q27 in `f32`.
    const BYTES: f64 = 216.0;

    #[test]
    fn each_gpu_has_enough_to_do() {
        assert_eq!(worthwhile(2, 192 * 192 * 192, BYTES), 2, "measured: 1.88 times as fast");
        assert_eq!(worthwhile(8, 192 * 192 * 192, BYTES), 3);
        assert_eq!(worthwhile(8, 512 * 512 * 512, BYTES), 8);
        assert_eq!(worthwhile(2, 128 * 128 * 128, BYTES), 1);
        assert_eq!(worthwhile(4, usize::MAX, BYTES), 4);
    }

    #[test]
    fn there_is_always_one() {
        assert_eq!(
            (worthwhile(1, 512 * 512 * 512, BYTES), worthwhile(4, 0, BYTES), worthwhile(0, 1, BYTES)),
            (1, 1, 1)
        );
    }
}
