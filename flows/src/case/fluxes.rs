//! Planes through which a case measures what flows.

/// Most tables of a case.
pub(super) const MOST_FLUXES: usize = 64;
/// Most points of all planes.
pub(super) const MOST_POINTS: usize = 250_000;
/// Most numbers that all planes of a run record: restart files have them all.
pub const MOST_FLUX_NUMBERS: u64 = 1_000_000;

/// A part of a plane normal to an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct FluxPlane {
    /// Its name in the table of fluxes.
    pub name: String,
    /// The axis normal to it, along which a flux is positive.
    pub normal: usize,
    /// Its lower corner in cells of the coarsest level; along the normal the position of the plane.
    pub from: [f64; 3],
    /// Its upper corner; the same along the normal.
    pub to: [f64; 3],
    /// Squares that it is cut into along each axis, 1 along the normal and beyond the dimension.
    pub parts: [usize; 3],
    /// Position of the density among the components of the method's fields, if there is one.
    pub density: Option<usize>,
    /// The same of the velocity along the normal.
    pub velocity: usize,
    /// Scalar fields of the method with their positions among the components.
    pub scalars: Vec<(String, usize)>,
    /// Those of [`Case::scalars`](super::Case::scalars) that diffuse through it, by their number.
    pub diffusing: Vec<usize>,
    /// Steps between rows.
    pub every: u64,
}

impl FluxPlane {
    /// The middle of each part.
    pub fn points(&self) -> Vec<[f64; 3]> {
        let [nx, ny, nz] = self.parts;
        let point = |at: usize| -> [f64; 3] {
            let part = [at % nx, at / nx % ny, at / (nx * ny)];
            std::array::from_fn(|axis| {
                let way = (part[axis] as f64 + 0.5) / self.parts[axis] as f64;
                self.from[axis] + way * (self.to[axis] - self.from[axis])
            })
        };
        (0..nx * ny * nz).map(point).collect()
    }

    /// Area of a part, in cells^(dimension - 1).
    pub fn area_of_part(&self, dim: usize) -> f64 {
        let across = (0..dim).filter(|axis| *axis != self.normal);
        across.map(|axis| (self.to[axis] - self.from[axis]) / self.parts[axis] as f64).product()
    }
}
