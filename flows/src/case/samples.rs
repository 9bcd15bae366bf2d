//! Fields of files: numpy arrays (`.npy`), image data (`.vti`) and unstructured grids (`.vtu`) of VTK, and restart files (`.lbmc`).

mod cells;
mod numpy;
mod vtk;

use std::sync::Arc;

use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::snapshot::Snapshot;

use super::saved;

/// What is read of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Number of axes of the flow.
    pub(super) dim: usize,
    /// The array of VTK data, or the field of a restart file.
    pub(super) name: &'a str,
    /// Whether the case is in SI units.
    pub(super) si: bool,
    /// Most points that are accepted.
    pub(super) most: usize,
}

/// Values at places that fill the domain.
#[derive(Clone, PartialEq)]
pub struct Samples {
    /// Components of a value, as the file has them.
    components: usize,
    points: Points,
}

/// Where values are.
#[derive(Clone, PartialEq)]
enum Points {
    /// At the points of a regular grid.
    Regular {
        /// Points along each axis, 1 beyond the dimension.
        size: [usize; 3],
        /// Whether the outermost points lie on the faces of the domain; if not, half a distance of points inside.
        corners: bool,
        /// `values[((z * size[1] + y) * size[0] + x) * components + component]`
        values: Vec<f64>,
    },
    /// At the centres of the cells of several levels.
    Levels {
        /// The cells, and each component of the values.
        snapshot: Box<Snapshot>,
        /// The finest level.
        finest: usize,
    },
}

impl std::fmt::Debug for Samples {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.shape(3))
    }
}

/// Samples in a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The values.
    pub(super) samples: Arc<Samples>,
    /// Cells of the domain along each axis.
    pub(super) domain: [usize; 3],
    /// Whether each axis is periodic.
    pub(super) periodic: [bool; 3],
    /// What values are divided by.
    pub(super) scale: f64,
}

impl Placed {
    /// A component at a place in cells of level 0: linear between the points and on to the faces of the domain, or, along a periodic axis,
    /// linear between the last and the first. In a cell of several levels the points are those of its level: finer cells count with their
    /// mean, coarser ones with their slopes.
    pub fn at(&self, place: [f64; 3], component: usize) -> f64 {
        let value = match &self.samples.points {
            Points::Regular { size, corners, values } => self.between(place, *size, *corners, |[x, y, z]| {
                values[((z * size[1] + y) * size[0] + x) * self.samples.components + component]
            }),
            Points::Levels { snapshot, finest } => {
                let size = snapshot.size_of(*finest);
                let at = |axis: usize| (place[axis] * self.points_in_cell(size, axis)) as usize;
                let cell = Cell { level: *finest, at: std::array::from_fn(|axis| at(axis).min(size[axis] - 1)) };
                let level = snapshot.cover(cell).map_or(*finest, |(_, cell)| cell.level);
                let values = &snapshot.components[component].data;
                self.between(place, snapshot.size_of(level), false, |at| {
                    snapshot.read(Cell { level, at }, &|position| [values[position]])[0]
                })
            }
        };
        value / self.scale
    }

    /// Points of so many in the domain in a cell of level 0 along an axis.
    fn points_in_cell(&self, points: [usize; 3], axis: usize) -> f64 {
        points[axis] as f64 / self.domain[axis] as f64
    }

    /// The value at a place from those at the points of a regular grid.
    fn between(&self, place: [f64; 3], size: [usize; 3], corners: bool, value: impl Fn([usize; 3]) -> f64) -> f64 {
        let around: [[(usize, f64); 2]; 3] = std::array::from_fn(|axis| {
            let count = size[axis];
            if count == 1 {
                return [(0, 1.0), (0, 0.0)];
            }
            let along = |points: [usize; 3]| place[axis] * self.points_in_cell(points, axis);
            let at = if corners { along(size.map(|count| count.max(2) - 1)) } else { along(size) - 0.5 };
            let below = match self.periodic[axis] && !corners {
                true => at.floor(),
                false => at.floor().clamp(0.0, (count - 2) as f64),
            };
            let (point, part) = (|at: f64| at.rem_euclid(count as f64) as usize, at - below);
            [(point(below), 1.0 - part), (point(below + 1.0), part)]
        });
        let mut sum = 0.0;
        for (z, of_z) in around[2] {
            for (y, of_y) in around[1] {
                for (x, of_x) in around[0] {
                    let weight = of_x * of_y * of_z;
                    if weight != 0.0 {
                        sum += weight * value([x, y, z]);
                    }
                }
            }
        }
        sum
    }
}

impl Samples {
    /// Reads a file; the error says what is wrong with it.
    pub(super) fn read(bytes: &[u8], asked: Asked<'_>) -> Result<Samples, String> {
        let samples = if bytes.starts_with(b"\x93NUMPY") {
            numpy::of_numpy(bytes, asked)?
        } else if bytes.starts_with(&saved::MAGIC) {
            cells::of_restart(bytes, asked)?
        } else if bytes.get(..1000).unwrap_or(bytes).windows(8).any(|window| window == b"<VTKFile") {
            vtk::of_vtk(bytes, asked)?
        } else if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Err(
                "HDF5 is not read: write fields with `output.vtk = \"unstructured\"`, or take the restart file".into(),
            );
        } else {
            return Err(
                "it is neither a numpy array (.npy), a file of VTK (.vti, .vtu) nor a restart file (.lbmc)".into()
            );
        };
        let wrong = match &samples.points {
            Points::Regular { values, .. } => values.iter().position(|value| !value.is_finite()),
            Points::Levels { snapshot, .. } => {
                snapshot.components.iter().flat_map(|component| &component.data).position(|value| !value.is_finite())
            }
        };
        match wrong {
            Some(at) => Err(format!("its number {at} is not finite")),
            None => Ok(samples),
        }
    }

    /// Whether they have so many components; image data in two dimensions may have a third one, which is not read.
    pub(super) fn fits(&self, components: usize) -> bool {
        self.components == components || self.components == 3 && components == 2
    }

    /// Whether its points are as far apart along all axes of a domain in so many dimensions.
    pub(super) fn fills(&self, domain: [usize; 3], dim: usize) -> bool {
        let between = |axis: usize| match &self.points {
            Points::Regular { size, corners, .. } => size[axis] - usize::from(*corners && size[axis] > 1),
            Points::Levels { snapshot, .. } => snapshot.size()[axis],
        };
        (0..dim).all(|axis| between(axis) as u128 * domain[0] as u128 == between(0) as u128 * domain[axis] as u128)
    }

    /// What it has, in words: `64 x 32 points of 2 components`.
    pub(super) fn shape(&self, dim: usize) -> String {
        let sides = |size: [usize; 3]| size[..dim].iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let points = match &self.points {
            Points::Regular { size, .. } => format!("{} points", sides(*size)),
            Points::Levels { snapshot, .. } => format!("{} coarse cells with finer ones", sides(snapshot.size())),
        };
        format!("{points} of {} component(s)", self.components)
    }
}

/// The number of points, if there are not too many.
fn points(size: [usize; 3], most: usize) -> Result<usize, String> {
    let count = size.iter().try_fold(1usize, |product, side| product.checked_mul(*side));
    match count {
        Some(0) => Err("it has no points".into()),
        Some(count) if count <= most => Ok(count),
        _ => Err(format!("it has more than {most} points, which no grid of this case needs")),
    }
}

/// The numbers of bytes, each `width` of them.
fn numbers(bytes: &[u8], width: usize, big_endian: bool) -> Vec<f64> {
    let number = |chunk: &[u8]| {
        let byte = |at: usize| chunk[if big_endian { chunk.len() - 1 - at } else { at }];
        match chunk.len() {
            4 => f64::from(f32::from_le_bytes(std::array::from_fn(byte))),
            _ => f64::from_le_bytes(std::array::from_fn(byte)),
        }
    };
    bytes.chunks_exact(width).map(number).collect()
}

/// That a file has less than it says.
fn early() -> String {
    "it ends too early".to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numpy(header: &str, values: &[f64]) -> Vec<u8> {
        let header = format!("{header}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    fn placed(samples: Samples, domain: [usize; 3], periodic: [bool; 3]) -> Placed {
        Placed { samples: Arc::new(samples), domain, periodic, scale: 1.0 }
    }

    #[test]
    fn arrays_of_both_orders_have_the_same_values() {
        let c = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 2), }";
        let fortran = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 2), }";
        // [y][x][component] is 100 y + 10 x + component.
        let of_c: Vec<f64> = (0..12).map(|at| f64::from(at / 6 * 100 + at / 2 % 3 * 10 + at % 2)).collect();
        let of_fortran: Vec<f64> = (0..12).map(|at| f64::from(at % 2 * 100 + at / 2 % 3 * 10 + at / 6)).collect();
        let read =
            |bytes: &[u8]| Samples::read(bytes, Asked { dim: 2, name: "u", si: false, most: 100 }).expect("an array");
        let samples = read(&numpy(c, &of_c));
        assert_eq!(samples, read(&numpy(fortran, &of_fortran)));
        assert!(samples.fits(2) && !samples.fits(1) && samples.fills([6, 4, 1], 2) && !samples.fills([3, 3, 1], 2));
        let placed = placed(samples, [6, 4, 1], [false; 3]);
        assert_eq!([0, 1].map(|component| placed.at([5.0, 3.0, 0.5], component)), [120.0, 121.0]);
        assert_eq!(placed.at([4.0, 2.0, 0.5], 0), 65.0);
    }

    #[test]
    fn beyond_the_outermost_points_lines_go_on_and_where_the_axis_is_periodic_the_other_end_follows() {
        let array = numpy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4)}", &[1.0, 2.0, 4.0, 8.0]);
        let read = || Samples::read(&array, Asked { dim: 2, name: "rho", si: false, most: 4 }).expect("an array");
        let at = |periodic: bool, x: f64| placed(read(), [4, 1, 1], [periodic, false, false]).at([x, 0.5, 0.5], 0);
        assert_eq!([0.5, 1.0, 3.5].map(|x| at(true, x)), [1.0, 1.5, 8.0]);
        assert_eq!([at(false, 0.25), at(false, 4.0), at(true, 0.25), at(true, 3.75)], [0.75, 10.0, 2.75, 6.25]);
    }

    #[test]
    fn what_is_no_field_is_told() {
        let header = |ty: &str, shape: &str| format!("{{'descr': '{ty}', 'fortran_order': False, 'shape': {shape}}}");
        for (bytes, part) in [
            (b"rho\n1.0".to_vec(), "neither"),
            (numpy(&header("<i8", "(1, 1)"), &[1.0]), "<i8"),
            (numpy(&header("<i8\r", "(1, 1)"), &[1.0]), "header is no text"),
            (numpy(&header("\u{1b}[2J", "(1, 1)"), &[1.0]), "header is no text"),
            ([&b"<VTKFile>"[..], &b"<a/>".repeat(200_000)[..], b"</VTKFile>"].concat(), "nodes limit"),
            (numpy(&header("<f8", "(1,)"), &[1.0]), "(ny, nx)"),
            (numpy(&header("<f8", "(4, 4)"), &[1.0]), "too early"),
            (numpy(&header("<f8", "(99999999999, 99999999999)"), &[1.0]), "more than"),
            (numpy(&header("<f8", "(0, 3)"), &[]), "no points"),
            (numpy(&header("<f8", "(1, 1, 4)"), &[1.0; 4]), "4 components"),
            (numpy(&header("<f8", "(1, 1)"), &[f64::NAN]), "not finite"),
            (b"<VTKFile type=\"PolyData\"></VTKFile>".to_vec(), "PolyData"),
        ] {
            let error = Samples::read(&bytes, Asked { dim: 2, name: "rho", si: false, most: 100 }).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }
}
