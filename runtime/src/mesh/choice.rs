//! The block size for a domain.

use lbm_bundle::{Real, Target};

use super::forest::MOST_ROOTS;

/// Bytes of a block's rows on the host, the fastest first: whole cache lines.
const ROW_BYTES: [usize; 4] = [512, 256, 128, 64];

/// Blocks of refined grids on every target, and of small domains on a GPU.
pub const SMALL_SQUARE: [u32; 3] = [8, 8, 1];
/// The same in three dimensions.
pub const SMALL_CUBE: [u32; 3] = [4, 4, 4];
/// Blocks of periodic boxes on a GPU, in three dimensions.
const LONG_ROWS: [u32; 3] = [64, 2, 2];

/// The block to use by default, for a domain of `cells` along x between walls; without, for one that is periodic along x and as long as it takes.
///
/// On a GPU small blocks cost little, and rows of 16 cells (of 64 in two dimensions) cost nothing. Fractions of the device-to-device copy
/// bandwidth on an H200: D3Q19 BGK reaches .92 and .95 in blocks of 4x4x4 (f32 and f64), .95 and .96 in 16x4x4; D3Q27 .90 and .92, .93
/// and .94; and D2Q9 .94 and .97 in 8x8, .95 and .98 in 64x4. Domains shorter than 16 such rows have small blocks, so that few of them
/// touch walls. Rows of 64 cells are faster still: in one run D3Q19 reaches .96 and .98 in 64x2x2 where it has .92 and .95 in 16x4x4, and D3Q27
/// .95 and .97 in place of .90 and .93.
///
/// On the host rows should fill cache lines, so that the part of a direction in a row is stored without gaps. They should also be long,
/// because each row reads a cache line of a neighbour for a single value: on two cores of an EPYC of the third generation D3Q27 BGK in
/// f32 reaches 43 MLUPS in blocks of 16x4x4, 56 in 32x4x4, 71 in 64x4x4 and 78 in 128x4x4. A domain gets the longest rows of which three
/// or more fill it exactly, so that not every block touches a wall; else the shortest.
pub fn preferred_block(target: Target, dim: usize, real: Real, cells: Option<usize>) -> [u32; 3] {
    let fits = |row: usize, least: usize| cells.is_none_or(|cells| cells.is_multiple_of(row) && cells >= least * row);
    let rows = ROW_BYTES.map(|bytes| bytes / real.stored_bytes());
    let row = rows.into_iter().find(|row| fits(*row, 3)).unwrap_or(rows[3]) as u32;
    match (target.is_gpu(), dim) {
        (false, 2) => [16, 16, 1],
        (false, _) => [row, 4, 4],
        (true, 2) if fits(64, 16) => [64, 4, 1],
        (true, 2) => SMALL_SQUARE,
        (true, _) if cells.is_none() => LONG_ROWS,
        (true, _) if fits(16, 16) => [16, 4, 4],
        (true, _) => SMALL_CUBE,
    }
}

/// A domain to be filled with blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The target of the kernels.
    pub target: Target,
    /// Floating-point type.
    pub real: Real,
    /// Number of axes.
    pub dim: usize,
    /// Cells of the coarsest level along each axis, 1 beyond the dimension.
    pub size: [usize; 3],
    /// Whether an axis is periodic.
    pub periodic: [bool; 3],
    /// Whether all that cells read of others is populations, and no solid stands among them: more of long blocks would touch it.
    pub plain: bool,
    /// Whether the last blocks along an axis may reach beyond the domain.
    pub pads: [bool; 3],
    /// The least number of cells along a side, for what walls read.
    pub least: u32,
    /// For a grid of several levels, the least number of cells along a side, and whether it must be even. Blocks are the unit of
    /// refinement, so they are then the same on every target.
    pub levels: Option<(u32, bool)>,
}

/// The block chosen for a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenBlock {
    /// Cells along each axis, 1 beyond the dimension.
    pub sides: [u32; 3],
    /// The best block if it divided the domain.
    pub usual: [u32; 3],
    /// Estimated speed per cell, relative to the usual block.
    pub speed: f64,
}

/// Most cells in a plane of a block, by the number of axes: the host gathers one plane at a time, on the stack.
const MOST_OF_PLANE: [usize; 2] = [1 << 14, 1 << 12];
/// Most cells of a block.
const MOST_OF_BLOCK: usize = 1 << 20;

impl Filled {
    /// The block that fills the domain: the usual one if it divides every axis, else the one of least cost, of those that divide all axes and
    /// those with usual sides that reach beyond the domain. On several levels the latter are taken where a divisor would be more than twice
    /// as long as the usual side. `None` if no block fits, as along periodic axes whose lengths are large primes on several levels.
    pub fn block(&self) -> Option<ChosenBlock> {
        let usual = match self.levels {
            Some(_) if self.dim == 2 => SMALL_SQUARE,
            Some(_) => SMALL_CUBE,
            None => self.rows(),
        };
        let (least, even) = self.levels.unwrap_or((1, false));
        let least = least.max(self.least);
        let serves = |axis: usize, side: usize| {
            let levels = axis >= self.dim || side >= least as usize && (!even || side.is_multiple_of(2));
            self.size[axis].div_ceil(side) <= MOST_ROOTS && levels
        };
        let fits = |axis: usize, side: usize| self.size[axis].is_multiple_of(side) && serves(axis, side);
        let cells = usual.map(|side| side as usize);
        if (0..3).all(|axis| fits(axis, cells[axis])) {
            return Some(ChosenBlock { sides: usual, usual, speed: 1.0 });
        }
        let most_of_plane = MOST_OF_PLANE[usize::from(self.dim == 3)];
        let sides = |axis: usize| -> Vec<usize> {
            let most = self.size[axis].min(MOST_OF_PLANE[0]);
            (1..=most).filter(|side| fits(axis, *side)).collect()
        };
        let cheapest = |[along_x, along_y, along_z]: [Vec<usize>; 3]| {
            let of_x = along_x.iter().flat_map(|x| along_y.iter().map(move |y| (*x, *y)));
            let planes = of_x.filter(|(x, y)| x * y <= most_of_plane);
            let all = planes.flat_map(|(x, y)| along_z.iter().map(move |z| [x, y, *z]));
            let all = all.filter(|sides| sides.iter().product::<usize>() <= MOST_OF_BLOCK);
            all.min_by(|a, b| self.cost(*a).total_cmp(&self.cost(*b)))
        };
        let dividing = cheapest([0, 1, 2].map(sides));
        let beyond = |axis: usize| match self.pads[axis] && serves(axis, cells[axis]) {
            true => vec![cells[axis]],
            false => sides(axis),
        };
        let padded = cheapest([0, 1, 2].map(beyond));
        let best = match (dividing, padded) {
            (Some(dividing), Some(padded)) => {
                let pays = match self.levels {
                    Some(_) => (0..3).any(|axis| dividing[axis] > 2 * cells[axis]),
                    None => self.cost(padded) < self.cost(dividing),
                };
                if pays { padded } else { dividing }
            }
            (dividing, padded) => dividing.or(padded)?,
        };
        // For comparison, a domain of about the same size that usual blocks fill.
        let near = Filled { size: [0, 1, 2].map(|axis| self.size[axis].div_ceil(cells[axis]) * cells[axis]), ..*self };
        let speed = (near.cost(cells) / self.cost(best)).min(1.0);
        Some(ChosenBlock { sides: best.map(|side| side as u32), usual, speed })
    }

    /// The best block of a grid of one level, if it divides the domain.
    fn rows(&self) -> [u32; 3] {
        let preferred = |cells| preferred_block(self.target, self.dim, self.real, cells);
        let long = preferred(None).map(|side| side as usize);
        let divides = (0..3).all(|axis| self.size[axis].is_multiple_of(long[axis]));
        let is_long_enough = (0..self.dim).all(|axis| long[axis] >= self.least as usize);
        let takes_long = self.target.is_gpu() && self.plain && self.periodic[0] && divides && is_long_enough;
        preferred((!takes_long).then_some(self.size[0]))
    }

    /// The cost per cell of the domain of such blocks, 1 at best: cells beyond it, data read per block besides its cells, cache lines at the
    /// ends of rows that are used in part, work beside walls, and idle processors if there are few blocks. A rough estimate to rank shapes:
    /// the cost of rows follows the figures of [`preferred_block`], the rest is judgement.
    fn cost(&self, sides: [usize; 3]) -> f64 {
        let blocks: [f64; 3] = [0, 1, 2].map(|axis| self.size[axis].div_ceil(sides[axis]) as f64);
        let padded: f64 =
            (0..3).map(|axis| self.size[axis].next_multiple_of(sides[axis]) as f64 / self.size[axis] as f64).product();
        let cells = sides.iter().product::<usize>() as f64;
        let interior = (0..self.dim)
            .filter(|axis| !self.periodic[*axis])
            .map(|axis| (1.0 - 2.0 / blocks[axis]).max(0.0))
            .product::<f64>();
        let host = !self.target.is_gpu() && self.levels.is_none();
        let (row, wall, busy) = if host { (8.0, 1.0, 8.0) } else { (1.0, 0.2, 256.0) };
        let neighbours = 3f64.powi(self.dim as i32);
        padded
            * (1.0 + neighbours / cells)
            * (1.0 + row / sides[0] as f64)
            * (1.0 + wall * (1.0 - interior))
            * (1.0 + busy / blocks.iter().product::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Filled = Filled {
        target: Target::C,
        real: Real::F32,
        dim: 2,
        size: [128, 128, 1],
        periodic: [false, false, true],
        plain: true,
        pads: [false; 3],
        least: 1,
        levels: None,
    };

    #[test]
    fn the_usual_block_is_taken_where_it_divides() {
        for target in [Target::C, Target::Cuda] {
            let filled = Filled { target, ..SQUARE };
            let usual = preferred_block(target, 2, Real::F32, Some(128));
            assert_eq!(filled.block(), Some(ChosenBlock { sides: usual, usual, speed: 1.0 }));
        }
    }

    #[test]
    fn every_size_of_one_level_has_a_block() {
        for target in [Target::C, Target::Cuda] {
            for size in
                [[41, 41, 1], [37, 53, 1], [1031, 7, 1], [16, 1031, 1], [1, 1, 1], [4099, 3, 1], [9973, 9973, 1]]
            {
                let chosen = Filled { target, size, ..SQUARE }.block();
                let chosen = chosen.unwrap_or_else(|| panic!("{size:?} has no block"));
                let cells: u32 = chosen.sides.iter().product();
                assert!(
                    (0..3).all(|axis| size[axis].is_multiple_of(chosen.sides[axis] as usize)),
                    "{size:?} {chosen:?}"
                );
                assert!(cells >= 3 || size == [1; 3], "{size:?} {chosen:?}");
                assert!(chosen.speed > 0.0 && chosen.speed <= 1.0, "{size:?} {chosen:?}");
            }
            let cube = Filled { target, dim: 3, size: [41; 3], ..SQUARE }.block().expect("a block");
            assert!((2..=1681).contains(&cube.sides.iter().product::<u32>()), "{cube:?}");
        }
    }

    #[test]
    fn sides_are_as_long_as_walls_ask() {
        let of = |least| Filled { dim: 3, size: [36, 24, 24], least, ..SQUARE }.block().expect("a block").sides;
        assert_eq!((of(1).iter().min(), of(4).iter().min()), (Some(&1), Some(&4)));
    }

    #[test]
    fn blocks_of_several_levels_are_the_same_on_all_targets() {
        for (size, levels) in [([64, 64, 1], (4, false)), ([45, 63, 1], (4, false)), ([52, 44, 1], (4, true))] {
            let of = |target| Filled { target, size, levels: Some(levels), ..SQUARE }.block();
            assert_eq!(of(Target::C), of(Target::Cuda));
            let sides = of(Target::C).expect("a block").sides;
            assert!(sides[..2].iter().all(|side| *side >= 4 && (!levels.1 || side.is_multiple_of(2))), "{sides:?}");
        }
        let odd = Filled { size: [45, 45, 1], levels: Some((4, true)), ..SQUARE };
        assert_eq!(odd.block(), None);
    }

    #[test]
    fn blocks_reach_beyond_the_domain_where_that_is_cheaper() {
        let of = |target, size, levels, pads| Filled { target, size, levels, pads, ..SQUARE }.block();
        let levels = Some((4, false));
        let sides = |chosen: Option<ChosenBlock>| chosen.map(|chosen| chosen.sides);
        for target in [Target::C, Target::Cuda] {
            assert_eq!(sides(of(target, [97, 53, 1], levels, [true, true, false])), Some(SMALL_SQUARE));
            assert_eq!(sides(of(target, [97, 53, 1], levels, [true, false, false])), Some([8, 53, 1]));
            assert_eq!(sides(of(target, [97, 53, 1], levels, [false; 3])), Some([97, 53, 1]));
            // Divisors that are not large are taken.
            assert_eq!(of(target, [100, 60, 1], levels, [true; 3]), of(target, [100, 60, 1], levels, [false; 3]));
        }
        // Rows that divide take fewer blocks on a host; a GPU has small ones.
        let on_gpu = of(Target::Cuda, [97, 53, 1], None, [true; 3]).expect("a block");
        let divides = of(Target::Cuda, [97, 53, 1], None, [false; 3]).expect("a block");
        assert!(on_gpu.sides == SMALL_SQUARE && on_gpu.speed > divides.speed, "{on_gpu:?} {divides:?}");
    }

    #[test]
    fn a_gpu_has_long_rows_in_large_domains_of_one_level() {
        let of = |dim, cells| preferred_block(Target::Cuda, dim, Real::F32, cells);
        assert_eq!(
            [of(3, Some(256)), of(3, Some(240)), of(3, Some(260)), of(3, None)],
            [[16, 4, 4], SMALL_CUBE, SMALL_CUBE, LONG_ROWS]
        );
        assert_eq!([of(2, Some(1024)), of(2, Some(960)), of(2, None)], [[64, 4, 1], SMALL_SQUARE, [64, 4, 1]]);
    }

    #[test]
    fn a_gpu_has_rows_of_64_cells_along_periodic_axes_without_solids() {
        let cuda = Filled { target: Target::Cuda, dim: 3, size: [128; 3], periodic: [true; 3], ..SQUARE };
        let sides = |filled: Filled| filled.block().expect("a block").sides;
        assert_eq!(sides(cuda), LONG_ROWS);
        assert_eq!(sides(Filled { periodic: [true, false, false], ..cuda }), LONG_ROWS);
        assert_eq!(sides(Filled { periodic: [false, true, true], ..cuda }), SMALL_CUBE);
        assert_eq!(sides(Filled { plain: false, ..cuda }), SMALL_CUBE);
        assert_eq!(sides(Filled { plain: false, size: [256; 3], ..cuda }), [16, 4, 4]);
        assert_eq!(sides(Filled { least: 4, ..cuda }), SMALL_CUBE);
        assert_eq!(sides(Filled { size: [96; 3], ..cuda }), SMALL_CUBE);
        assert_eq!(sides(Filled { levels: Some((4, false)), ..cuda }), SMALL_CUBE);
        assert_eq!(sides(Filled { target: Target::C, ..cuda }), [32, 4, 4]);
    }

    #[test]
    fn rows_on_the_host_are_the_longest_of_which_three_fill_the_domain() {
        let row = |real, cells| preferred_block(Target::C, 3, real, cells)[0];
        assert_eq!([row(Real::F32, None), row(Real::F64, None)], [128, 64]);
        assert_eq!([384, 192, 128, 96, 48, 100].map(|cells| row(Real::F32, Some(cells))), [128, 64, 32, 32, 16, 16]);
        assert_eq!([192, 96, 64, 48, 24].map(|cells| row(Real::F64, Some(cells))), [64, 32, 16, 16, 8]);
    }
}
