//! Where the plane of a picture lies, and what it cuts: solids, and edges of blocks.

use lbm_runtime::geometry::Block;
use lbm_runtime::geometry::solid::{BodyState, Solids};
use lbm_runtime::solver::snapshot::Snapshot;

use crate::case::{Case, Slice};

/// A case and a plane through it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) case: &'a Case,
    /// `None`: the middle plane normal to z.
    pub(super) slice: Option<Slice>,
    /// Corners of the visible section, along the axes of the plane in cells; `None`: the whole plane.
    pub(super) window: Option<[[f64; 2]; 2]>,
}

impl<'a> From<&'a Case> for View<'a> {
    /// The plane that the case specifies.
    fn from(case: &'a Case) -> View<'a> {
        View { case, slice: case.output.slice, window: None }
    }
}

/// Position of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// The axes in the plane: to the right and upwards.
    pub(super) axes: [usize; 2],
    /// The axis normal to the plane.
    pub(super) normal: usize,
    /// Position along the normal, in cells of the coarsest level.
    pub(super) at: f64,
}

impl Cut {
    pub(super) fn new(view: View<'_>) -> Cut {
        let (normal, at) = match view.slice {
            Some(slice) => (slice.normal, slice.at),
            None => (2, 0.5 * view.case.size[2] as f64),
        };
        Cut { axes: [[1, 2], [0, 2], [0, 1]][normal], normal, at }
    }
}

/// The solids of a case on the plane.
pub(super) struct Section {
    cut: Cut,
    dim: usize,
    solids: Solids,
}

impl Section {
    /// The solids at a step, with the states of the bodies that the fluid moves; `None` if the case has none.
    pub(super) fn new(view: View<'_>, (step, states): (u64, &[(usize, BodyState)])) -> Option<Section> {
        let case = view.case;
        let solids = || case.solids_at(case.block.map(|side| side as usize), step, states);
        (!case.solids.is_empty()).then(|| Section { cut: Cut::new(view), dim: case.dim, solids: solids() })
    }

    fn point(&self, x: f64, y: f64) -> [f64; 3] {
        let mut point = [self.cut.at; 3];
        (point[self.cut.axes[0]], point[self.cut.axes[1]]) = (x, y);
        std::array::from_fn(|axis| if axis < self.dim { point[axis] } else { 0.0 })
    }

    /// Whether a point of the plane, in cells of the coarsest level, lies in a solid.
    pub(super) fn contains(&self, x: f64, y: f64) -> bool {
        self.solids.at(self.point(x, y)).is_some()
    }

    /// Whether a rectangle lies entirely inside solids (`true`) or entirely outside (`false`); `None` if neither is
    /// certain.
    pub(super) fn fills(&self, low: [f64; 2], high: [f64; 2]) -> Option<bool> {
        self.solids.fills(self.point(low[0], low[1]), self.point(high[0], high[1]))
    }
}

/// An edge: its end points, in cells of the coarsest level.
type Edge = [[f64; 2]; 2];

/// The block edges in the plane of a refined grid: all edges between levels, and those between blocks of one level that
/// are at least `narrowest` wide.
pub(super) fn outlines(view: View<'_>, snapshot: &Snapshot, narrowest: f64) -> [Vec<Edge>; 2] {
    let cut = Cut::new(view);
    let [lowest, highest] = view.window.unwrap_or([[0.0; 2], cut.axes.map(|axis| view.case.size[axis] as f64)]);
    let side = snapshot.block();
    let crosses = |block: &&Block| {
        let width = 0.5f64.powi(block.level as i32) * side[cut.normal] as f64;
        let low = block.place[cut.normal] as f64 * width;
        let behind =
            block.place[cut.normal] + 1 == snapshot.size_of(block.level)[cut.normal].div_ceil(side[cut.normal]);
        (low..low + width).contains(&cut.at) || (behind && cut.at >= low + width)
    };
    let mut edges = [vec![], vec![]];
    for block in snapshot.blocks().iter().filter(crosses) {
        let cell = 0.5f64.powi(block.level as i32);
        let width = cut.axes.map(|axis| side[axis] as f64 * cell);
        let low: [f64; 2] = std::array::from_fn(|at| block.place[cut.axes[at]] as f64 * width[at]);
        for (along, across) in [(0, 1), (1, 0)] {
            for high in [false, true] {
                let mut next = *block;
                let count = snapshot.size_of(block.level)[cut.axes[across]].div_ceil(side[cut.axes[across]]);
                let place = &mut next.place[cut.axes[across]];
                let inside = if high { *place + 1 < count } else { *place > 0 };
                if !inside {
                    continue;
                }
                *place = if high { *place + 1 } else { *place - 1 };
                let alike = snapshot.find(next).is_some();
                if width[along].min(width[across]) < narrowest && alike {
                    continue;
                }
                let mut from = low;
                from[across] += if high { width[across] } else { 0.0 };
                let mut to = from;
                to[along] += width[along];
                let inside = |at: [f64; 2]| [0, 1].map(|axis| at[axis].clamp(lowest[axis], highest[axis]));
                let (from, to, across_from) = (inside(from), inside(to), from[across]);
                if from[along] < to[along] && from[across] == across_from {
                    edges[usize::from(alike)].push([from, to]);
                }
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::Domain;

    use super::*;
    use crate::output::fixture;

    #[test]
    fn blocks_are_outlined_and_where_they_are_narrow_only_jumps_are() {
        let (case, _) = fixture::cavity(16);
        let domain = Domain { dim: 2, size: [16, 16, 1], periodic: [false, false, true] };
        let snapshot = snapshots::refined(domain, |block| block.level == 0 && block.place == [1, 1, 0], &[]);
        // Inside the domain: 20 edges between coarse blocks and 4 between fine ones, each found from both sides; at the
        // refinement interface 4 edges of coarse blocks and 8 of fine ones.
        let [jumps, alike] = outlines((&case).into(), &snapshot, 0.0);
        assert_eq!((jumps.len(), alike.len()), (4 + 8, 2 * 20 + 2 * 4));
        let [wide_jumps, alike] = outlines((&case).into(), &snapshot, 100.0);
        assert_eq!((&wide_jumps, alike.len()), (&jumps, 0));
        let on_it =
            |[x, y]: [f64; 2]| (x == 4.0 || x == 8.0 || y == 4.0 || y == 8.0) && x.min(y) >= 4.0 && x.max(y) <= 8.0;
        assert!(jumps.into_iter().flatten().all(on_it));
    }

    #[test]
    fn a_section_says_what_lies_in_solids() {
        let (mut case, _) = fixture::cavity(32);
        fixture::put_cylinder(&mut case, [16.0, 16.0], 4.0);
        let section = Section::new((&case).into(), (0, &[])).unwrap();
        assert!(section.contains(13.0, 17.0) && !section.contains(12.0, 12.0));
        assert_eq!(section.fills([15.0, 15.0], [17.0, 17.0]), Some(true));
        assert_eq!(section.fills([1.0, 1.0], [2.0, 30.0]), Some(false));
        assert_eq!(section.fills([1.0, 1.0], [16.0, 16.0]), None);
    }
}
