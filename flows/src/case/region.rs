//! Parts of a face.

use super::formula::Formula;

/// Points of a face, in cells from the lower corner of the domain.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Those between two corners, the lower one's sides included, so that a point belongs to one of two boxes side by side.
    Box {
        /// The lower corner.
        from: [f64; 3],
        /// The upper corner.
        to: [f64; 3],
    },
    /// Those nearer to the centre than the radius.
    Disc {
        /// Its centre.
        centre: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// Those at which a formula is not 0.
    Where(Formula),
}

impl Region {
    /// Whether it has a point of a face that is normal to an axis.
    pub fn contains(&self, normal: usize, at: [f64; 3]) -> bool {
        let along = || (0..3).filter(move |axis| *axis != normal);
        match self {
            Region::Box { from, to } => along().all(|axis| from[axis] <= at[axis] && at[axis] < to[axis]),
            Region::Disc { centre, radius } => {
                along().map(|axis| (at[axis] - centre[axis]).powi(2)).sum::<f64>() < radius * radius
            }
            Region::Where(formula) => formula.at(at, 0.0) != 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_side_by_side_share_no_point_and_leave_none_out() {
        let boxes = [0.0, 4.0, 8.0].map(|low| Region::Box { from: [0.0, low, -1.0], to: [0.0, low + 4.0, 1.0] });
        for at in 0..24 {
            let point = [0.0, 0.5 * f64::from(at), 0.0];
            assert_eq!(boxes.iter().filter(|region| region.contains(0, point)).count(), 1, "{point:?}");
        }
        assert!(!boxes.iter().any(|region| region.contains(0, [0.0, 12.0, 0.0])));
    }

    #[test]
    fn a_disc_is_round_along_the_face_only() {
        let disc = Region::Disc { centre: [0.0, 5.0, 5.0], radius: 2.0 };
        assert!(disc.contains(0, [9.0, 6.4, 6.4]) && !disc.contains(0, [0.0, 6.5, 6.5]));
        assert!(!disc.contains(1, [0.0, 5.0, 7.0]));
    }
}
