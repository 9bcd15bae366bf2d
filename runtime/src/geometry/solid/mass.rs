//! Volume, centre and moments of inertia of shapes: by formula for spheres, ellipsoids, boxes and cylinders, from the triangles of a
//! surface by the divergence theorem, and voxel by voxel for an image. In two dimensions per cell of depth.

use std::f64::consts::PI;

use super::shape::Shape;
use super::vector::{Vector, cross, dot, minus, plus, times};

/// Sweeps of Jacobi's method, which needs fewer than ten.
const SWEEPS: usize = 50;

/// What a body of density 1 in the form of a shape has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// Volume; in two dimensions area.
    pub volume: f64,
    /// Centre of mass.
    pub centre: Vector,
    /// Principal axes, of length 1 and at right angles, right-handed.
    pub axes: [Vector; 3],
    /// Moments of inertia about these axes through the centre; in two dimensions the last, about z, alone has a meaning.
    pub moments: Vector,
}

/// Integrals over a shape: of 1, of the position, and of products of its components.
#[derive(Clone, Copy, Default)]
struct Integrals {
    volume: f64,
    first: Vector,
    second: [Vector; 3],
}

impl Integrals {
    fn add(&mut self, other: Integrals) {
        self.volume += other.volume;
        self.first = plus(self.first, other.first);
        self.second = [0, 1, 2].map(|row| plus(self.second[row], other.second[row]));
    }

    /// Of a box.
    fn of_box(low: Vector, high: Vector, dim: usize) -> Integrals {
        let side = [0, 1, 2].map(|axis| if axis < dim { high[axis] - low[axis] } else { 1.0 });
        let middle = [0, 1, 2].map(|axis| if axis < dim { 0.5 * (low[axis] + high[axis]) } else { 0.0 });
        let volume = side.iter().product::<f64>();
        let own = |axis: usize| if axis < dim { side[axis] * side[axis] / 12.0 } else { 0.0 };
        let entry = |row: usize, column: usize| {
            volume * (middle[row] * middle[column] + if row == column { own(row) } else { 0.0 })
        };
        let second = [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column)));
        Integrals { volume, first: times(volume, middle), second }
    }

    /// Of the signed simplex of the origin and some corners: 6 of these volumes are `scale`, in two dimensions 2 of these areas.
    fn of_simplex(corners: &[Vector], scale: f64) -> Integrals {
        // Integrals over simplices of n + 1 corners, of which the origin is one: V, V / (n + 1) sum x, and so on.
        let count = (corners.len() + 1) as f64;
        let volume = scale / (2..=corners.len()).product::<usize>() as f64;
        let sum = corners.iter().fold([0.0; 3], |sum, corner| plus(sum, *corner));
        let entry = |row: usize, column: usize| {
            let squares = corners.iter().map(|corner| corner[row] * corner[column]).sum::<f64>();
            volume / (count * (count + 1.0)) * (squares + sum[row] * sum[column])
        };
        let second = [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column)));
        Integrals { volume, first: times(volume / count, sum), second }
    }

    fn mass(self, dim: usize) -> Option<Mass> {
        if !(self.volume > 0.0 && self.volume.is_finite()) {
            return None;
        }
        let centre = times(1.0 / self.volume, self.first);
        let spread = |row: usize, column: usize| self.second[row][column] - self.volume * centre[row] * centre[column];
        let trace = (0..3).map(|axis| spread(axis, axis)).sum::<f64>();
        let entry = |row: usize, column: usize| if row == column { trace } else { 0.0 } - spread(row, column);
        let tensor = [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column)));
        // In two dimensions nothing turns but about z.
        let (moments, axes) = if dim == 2 { ([tensor[2][2]; 3], UNTURNED) } else { principal(tensor) };
        Some(Mass { volume: self.volume, centre, axes, moments })
    }
}

const UNTURNED: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl Shape {
    /// What a body of density 1 in this form has; `None` if it has no end.
    pub fn mass(&self, dim: usize) -> Option<Mass> {
        match self {
            Shape::Sphere { centre, radius } => {
                let volume = 4.0 / 3.0 * PI * radius.powi(3);
                Some(Mass { volume, centre: *centre, axes: UNTURNED, moments: [0.4 * volume * radius * radius; 3] })
            }
            Shape::Ellipsoid { centre, radii: [a, b, c] } => {
                let (volume, part) = if dim == 2 { (PI * a * b, 0.25) } else { (4.0 / 3.0 * PI * a * b * c, 0.2) };
                let about = |one: &f64, other: &f64| part * volume * (one * one + other * other);
                let moments = if dim == 2 { [about(a, b); 3] } else { [about(b, c), about(a, c), about(a, b)] };
                Some(Mass { volume, centre: *centre, axes: UNTURNED, moments })
            }
            Shape::Box { from, to } => Integrals::of_box(*from, *to, dim).mass(dim),
            Shape::Cylinder { centre, radius, .. } if dim == 2 => {
                let volume = PI * radius * radius;
                let moments = [0.5 * volume * radius * radius; 3];
                Some(Mass { volume, centre: *centre, axes: UNTURNED, moments })
            }
            Shape::Cylinder { centre, axis, radius, length } => {
                let length = (*length)?;
                let volume = PI * radius * radius * length;
                let across = volume * (3.0 * radius * radius + length * length) / 12.0;
                let moments = [across, across, 0.5 * volume * radius * radius];
                Some(Mass { volume, centre: *centre, axes: around(*axis), moments })
            }
            Shape::Surface(surface) => {
                let mut all = Integrals::default();
                for (corners, _) in surface.parts() {
                    match dim {
                        3 => all.add(Integrals::of_simplex(corners, dot(corners[0], cross(corners[1], corners[2])))),
                        // Walls of a section: each side of the polygon has one triangle with two corners below.
                        _ => {
                            let low: Vec<Vector> = corners.iter().copied().filter(|corner| corner[2] < 0.0).collect();
                            let [one, other] = low[..] else { continue };
                            let flat = [one, other].map(|[x, y, _]| [x, y, 0.0]);
                            all.add(Integrals::of_simplex(&flat, cross(flat[0], flat[1])[2]));
                        }
                    }
                }
                if all.volume < 0.0 {
                    let second = all.second.map(|row| times(-1.0, row));
                    all = Integrals { volume: -all.volume, first: times(-1.0, all.first), second };
                }
                all.mass(dim)
            }
            Shape::Image(image) => {
                let (from, width) = image.place_in_space();
                let [columns, rows, _] = image.voxels().size();
                let mut all = Integrals::default();
                for (number, _) in image.voxels().solid().enumerate().filter(|(_, is_solid)| *is_solid) {
                    let place = [number % columns, number / columns % rows, number / (columns * rows)];
                    let low = [0, 1, 2].map(|axis| from[axis] + place[axis] as f64 * width);
                    all.add(Integrals::of_box(low, low.map(|at| at + width), dim));
                }
                all.mass(dim)
            }
            Shape::Outside(_) => None,
            Shape::Moved { shape, by } => shape.mass(dim).map(|mass| Mass { centre: plus(mass.centre, *by), ..mass }),
            Shape::Turned { shape, turn } => shape.mass(dim).map(|mass| Mass {
                centre: turn.forth(mass.centre),
                axes: mass.axes.map(|axis| turn.direction(axis)),
                ..mass
            }),
        }
    }
}

/// Axes at right angles, of which the last is given.
pub(super) fn around(axis: Vector) -> [Vector; 3] {
    let least = (0..3).min_by(|one, other| axis[*one].abs().total_cmp(&axis[*other].abs())).unwrap_or(0);
    let mut along = [0.0; 3];
    along[least] = 1.0;
    let across = minus(along, times(dot(along, axis), axis));
    let across = times(1.0 / dot(across, across).sqrt(), across);
    [across, cross(axis, across), axis]
}

/// The principal moments of a symmetric tensor, and their axes: Jacobi's method.
fn principal(mut tensor: [Vector; 3]) -> (Vector, [Vector; 3]) {
    let mut axes = UNTURNED;
    let scale = (0..3).map(|axis| tensor[axis][axis].abs()).fold(0.0, f64::max);
    for _ in 0..SWEEPS {
        let off = |tensor: &[Vector; 3], (p, q): (usize, usize)| tensor[p][q].abs();
        let pairs = [(0, 1), (0, 2), (1, 2)];
        if pairs.iter().all(|pair| off(&tensor, *pair) <= 1e-14 * scale) {
            break;
        }
        for (p, q) in pairs {
            if tensor[p][q] == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * tensor[p][q]).atan2(tensor[q][q] - tensor[p][p]);
            let (sine, cosine) = angle.sin_cos();
            let mix = |a: Vector, b: Vector| {
                (minus(times(cosine, a), times(sine, b)), plus(times(sine, a), times(cosine, b)))
            };
            (tensor[p], tensor[q]) = mix(tensor[p], tensor[q]);
            for row in &mut tensor {
                (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
            }
            (axes[p], axes[q]) = mix(axes[p], axes[q]);
        }
    }
    if dot(cross(axes[0], axes[1]), axes[2]) < 0.0 {
        axes[2] = times(-1.0, axes[2]);
    }
    ([tensor[0][0], tensor[1][1], tensor[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::image::{Image, Voxels};
    use super::super::surface::Surface;
    use super::super::surface::tests::{ball, cuboid};
    use super::super::turn::Turn;
    use super::*;

    fn close(one: f64, other: f64, part: f64) -> bool {
        (one - other).abs() <= part * other.abs()
    }

    /// Whether two bodies have the same volume, centre, and tensor of inertia.
    fn alike(one: &Mass, other: &Mass, part: f64) -> bool {
        let tensor = |mass: &Mass, row: usize, column: usize| {
            (0..3).map(|at| mass.moments[at] * mass.axes[at][row] * mass.axes[at][column]).sum::<f64>()
        };
        let scale = other.moments.iter().copied().fold(0.0, f64::max);
        let same = |at: usize| (tensor(one, at / 3, at % 3) - tensor(other, at / 3, at % 3)).abs() < part * scale;
        close(one.volume, other.volume, part)
            && (0..3).all(|axis| (one.centre[axis] - other.centre[axis]).abs() < part * 10.0)
            && (0..9).all(same)
    }

    #[test]
    fn the_surface_of_a_box_and_its_voxels_weigh_what_the_box_weighs() {
        let (from, to) = ([2.0, 3.0, 4.0], [9.0, 8.0, 6.0]);
        let block = Shape::Box { from, to };
        let surface = Shape::Surface(Surface::new(cuboid(from, to)));
        let solid = |at: usize| {
            let at = [at % 20, at / 20 % 20, at / 400];
            (0..3).all(|axis| (2.0 * from[axis]..2.0 * to[axis]).contains(&(at[axis] as f64)))
        };
        let voxels = Voxels::of([20, 20, 20], &mut (0..8000).map(solid));
        let image = Shape::Image(Image::new(Arc::new(voxels), [0.0; 3], 0.5));
        let whole = block.mass(3).unwrap();
        assert!(close(whole.volume, 70.0, 1e-14) && close(whole.moments[0], 70.0 * 29.0 / 12.0, 1e-13));
        assert!(alike(&surface.mass(3).unwrap(), &whole, 1e-12));
        assert!(alike(&image.mass(3).unwrap(), &whole, 1e-12));
        let turn = Turn::new([0.6, 0.0, 0.8], 0.7, [4.0; 3], [5.1, 6.0, 7.2]);
        let corners = Surface::new(cuboid(from, to)).map(|at| turn.forth(at));
        assert!(alike(
            &Shape::Surface(corners).mass(3).unwrap(),
            &Arc::new(block).turned(&turn).mass(3).unwrap(),
            1e-12
        ));
    }

    #[test]
    fn a_surface_near_a_sphere_and_its_section_weigh_about_as_much() {
        let surface = ball([5.0, 6.0, 7.0], 4.0, 5);
        let sphere = Shape::Sphere { centre: [5.0, 6.0, 7.0], radius: 4.0 };
        assert!(alike(&Shape::Surface(surface.clone()).mass(3).unwrap(), &sphere.mass(3).unwrap(), 1e-2));
        let section = Shape::Surface(surface.section(2, 7.1).unwrap()).mass(2).unwrap();
        let circle = Shape::Cylinder { centre: [5.0, 6.0, 0.0], axis: [0.0, 0.0, 1.0], radius: 4.0, length: None };
        let circle = circle.mass(2).unwrap();
        assert!(close(section.volume, circle.volume, 1e-2) && close(section.moments[2], circle.moments[2], 2e-2));
        assert!((section.centre[0] - 5.0).abs() < 1e-2 && (section.centre[1] - 6.0).abs() < 1e-2);
    }

    #[test]
    fn what_has_no_end_has_no_mass() {
        let pipe = Shape::Cylinder { centre: [0.0; 3], axis: [1.0, 0.0, 0.0], radius: 1.0, length: None };
        assert!(pipe.mass(3).is_none() && pipe.mass(2).is_some());
        assert!(Shape::Outside(Box::new(Shape::Sphere { centre: [0.0; 3], radius: 1.0 })).mass(3).is_none());
    }
}
