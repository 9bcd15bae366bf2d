//! Sizes against blocks and memory.

use lbm_bundle::{Real, Role};
use lbm_runtime::device::Bytes;
use lbm_runtime::mesh::Blocks;
use lbm_runtime::mesh::forest::MOST_ROOTS;
use lbm_runtime::solver::fields::Sets;
use lbm_runtime::solver::memory::{Copies, Memory, Shared};

use super::resolver::{Grid, Resolver, axis_name, short};
use crate::case::devices::Buffers;
use crate::case::diag;

/// Blocks of all levels are numbered with 32 bits.
const MOST_BLOCKS: usize = i32::MAX as usize;

/// How far, in cells, a length may be from a whole number of them.
const CELL_TOLERANCE: f64 = 1e-6;

impl Resolver<'_> {
    pub(super) fn block(&mut self) {
        let Some(block) = self.raw.top.block.as_ref().filter(|block| block.value.len() != self.dim) else { return };
        self.wrong_dimension(&block.span, "a block", block.value.len());
    }

    /// Cells along each axis, and the size of a cell in the units of the case.
    pub(super) fn domain(&mut self) -> Option<Grid> {
        let raw = self.raw;
        let given = &raw.domain.size.value;
        if given.len() != self.dim {
            self.wrong_dimension(&raw.domain.size.span, "`domain.size`", given.len());
            return None;
        }
        let cell =
            raw.domain.resolution.as_ref().filter(|_| raw.si.is_some()).map_or(1.0, |n| given[0].value / n.value);
        let mut size = [1; 3];
        let mut sound = true;
        for (axis, extent) in given.iter().enumerate() {
            let cells = extent.value / cell;
            let whole = cells.round();
            if whole < 1.0 {
                let message = "a domain has at least one cell along each axis";
                self.report.add::<()>(diag::BAD_VALUE, &extent.span, message, "too small", None);
                sound = false;
            } else if (cells - whole).abs() > CELL_TOLERANCE {
                let help = match raw.si {
                    None => "in lattice units a size is a number of cells".to_string(),
                    Some(_) => format!("{} m is {whole} cells; or change `resolution`", short(whole * cell)),
                };
                let message = format!("{cells:.3} cells along {} is no whole number", axis_name(axis));
                self.report.add::<()>(diag::PARTIAL_CELL, &extent.span, message, "not a whole number of cells", help);
                sound = false;
            }
            size[axis] = whole.max(1.0) as usize;
        }
        sound &= self.whole_blocks(&size, sound);
        // Nothing else may look at cells one by one before.
        sound = sound && self.fits(size);
        (sound && cell > 0.0).then_some(Grid { size, cell })
    }

    /// Refuses a grid of which the coarsest level alone has too many blocks, or takes more memory than there is.
    fn fits(&mut self, size: [usize; 3]) -> bool {
        let manifest = self.manifest;
        let block = manifest.block.map(|side| side as usize);
        let roots: [usize; 3] = std::array::from_fn(|axis| size[axis].div_ceil(block[axis].max(1)));
        let blocks = roots.iter().fold(1usize, |all, along| all.saturating_mul(*along));
        let reference = self.raw.stop.steady.is_some();
        let parts = self.raw.top.devices.as_ref().map_or(self.raw.may_take, |devices| devices.value.count());
        // With "auto", one set is what remains.
        let may_be_one = self.raw.buffers() != Buffers::Two && manifest.kernel(Role::CollideOut).is_some();
        let memory = |blocks: usize| {
            let blocks = Blocks::uniform(self.dim, blocks);
            let memory = Memory::new(manifest, blocks, false, reference, Copies::default());
            let memory = if may_be_one { memory.with_sets(Sets::One) } else { memory };
            memory.in_subdomains(parts * self.raw.processes, Shared::Evenly)
        };
        let too_many = blocks >= MOST_BLOCKS || roots.iter().any(|along| *along > MOST_ROOTS);
        let lack = memory(blocks).lack(self.available);
        if lack.is_none() && !too_many {
            return true;
        }
        // More bytes than this may be more than are counted.
        let lack = lack.filter(|lack| lack.needed < usize::MAX / 2);
        let message = match lack {
            Some(lack) => format!("the grid needs {lack}"),
            None => format!(
                "the grid has more blocks than can be numbered: at most {MOST_ROOTS} along an axis, {MOST_BLOCKS} in all"
            ),
        };
        let counted = blocks.min(MOST_BLOCKS);
        let share = memory(counted).lack(self.available).map_or(1.0, |lack| lack.available as f64 / lack.needed as f64);
        let fitting = fitting(roots, counted as f64 * share);
        let largest: Vec<String> = (0..self.dim).map(|axis| (fitting[axis] * block[axis]).to_string()).collect();
        let parts: Vec<String> =
            memory(blocks).parts().into_iter().map(|(name, bytes)| format!("{} {name}", Bytes(bytes))).collect();
        let mut help = format!("about {} cells fit", largest.join(" x "));
        if manifest.real == Real::F64 {
            help += ", and more in f32";
        }
        if lack.is_some() {
            help += &format!("; needed are {}", parts.join(", "));
        }
        let span = match &self.raw.domain.resolution {
            Some(resolution) if self.raw.si.is_some() => &resolution.span,
            _ => &self.raw.domain.size.span,
        };
        self.report.add::<()>(diag::TOO_LARGE, span, message, "too large", help);
        false
    }

    /// Refuses sizes that no whole number of blocks fills, where the last blocks cannot reach beyond the domain.
    fn whole_blocks(&mut self, size: &[usize; 3], sound: bool) -> bool {
        let upper = self.raw.upper_faces();
        let mut whole = true;
        for axis in (0..self.dim).filter(|_| sound) {
            let (cells, block) = (size[axis], self.manifest.block[axis] as usize);
            let (rule, may) = upper[axis];
            if cells.is_multiple_of(block) || may && self.manifest.shown.is_empty() && self.is_link_wise(rule) {
                continue;
            }
            whole = false;
            let why = match rule {
                "periodic" => "a periodic axis has whole blocks".to_string(),
                _ if self.raw.moves() => "with solids that move all axes have whole blocks".to_string(),
                _ if self.raw.output.series.is_some() => {
                    "with `output.series`, whose enstrophy reads the cells beyond a face, all axes have whole blocks"
                        .to_string()
                }
                _ if !self.manifest.shown.is_empty() => {
                    format!("{} reads values of neighbours, so all axes have whole blocks", self.manifest.spec)
                }
                _ => format!("an axis with `{rule}` at its upper end has whole blocks"),
            };
            let below = cells / block * block;
            let mut help = match below {
                0 => format!("{why}: take {block} cells"),
                _ => format!("{why}: take {below} or {} cells", below + block),
            };
            let blocks: Vec<usize> = (0..self.dim).map(|axis| divisor(size[axis], self.manifest.block[axis])).collect();
            if blocks.iter().all(|cells| *cells > 2) {
                help += &format!(", or `block = {blocks:?}`");
            }
            if self.raw.top.block.is_some() {
                help += "; without `block`, one that fits is chosen";
            }
            let span = match &self.raw.domain.resolution {
                Some(resolution) if axis == 0 && self.raw.si.is_some() => &resolution.span,
                _ => &self.raw.domain.size.value[axis].span,
            };
            let message =
                format!("{cells} cells along {} are not a multiple of the block size {block}", axis_name(axis));
            let label = format!("not a multiple of {block}");
            self.report.add::<()>(diag::PARTIAL_BLOCK, span, message, label, help);
        }
        whole
    }
}

/// Blocks along each axis of a grid of at most so many, in the proportions of another but for sides of less than a block, and of more blocks than can
/// be numbered.
fn fitting(roots: [usize; 3], mut most: f64) -> [usize; 3] {
    let mut sides = roots.map(|along| along.min(MOST_ROOTS) as f64);
    let mut axes = [0, 1, 2];
    axes.sort_by_key(|axis| roots[*axis]);
    for (at, axis) in axes.into_iter().enumerate() {
        let rest = &axes[at..];
        let share = most / rest.iter().map(|axis| sides[*axis]).product::<f64>();
        sides[axis] = (sides[axis] * share.min(1.0).powf(1.0 / rest.len() as f64)).max(1.0);
        most /= sides[axis];
    }
    sides.map(|along| along as usize)
}

/// The divisor of `cells` that is nearest to the block at hand, the smaller of two.
fn divisor(cells: usize, block: u32) -> usize {
    let block = block as usize;
    (1..=2 * block).filter(|n| cells.is_multiple_of(*n)).min_by_key(|n| n.abs_diff(block)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_that_fits_has_a_block_along_each_axis_and_no_more_than_can_be_numbered() {
        for (roots, most, sides) in [
            ([512, 512, 512], 1.1e6, [103, 103, 103]),
            ([400, 100, 1], 1e4, [200, 50, 1]),
            ([1 << 60, 1, 1], 1e9, [MOST_ROOTS, 1, 1]),
            ([1 << 40, 4, 1], 100.0, [100, 1, 1]),
            ([1 << 29, 1 << 29, 1], 1.1e6, [1048, 1048, 1]),
        ] {
            assert_eq!(fitting(roots, most), sides, "{roots:?}");
        }
    }

    #[test]
    fn the_divisor_nearest_to_the_block_is_found() {
        assert_eq!(divisor(100, 8), 10);
        assert_eq!(divisor(60, 8), 6);
        assert_eq!(divisor(31, 4), 1);
    }
}
