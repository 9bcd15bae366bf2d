//! What a rule at a face does to sound and to vortices that come to it.
//!
//! Along the inward normal a disturbance of one frequency is a sum of modes `kappa^x`: as many of them decay inwards as populations enter, and
//! with the wave that comes in given, the rule's equations say how large they are. Modes are those of the method itself, to all orders, and only one of
//! those that decay is sound: the others are layers at the face.

use nalgebra::{Complex, DMatrix, DVector, SVD, Schur};
use num_traits::ToPrimitive;

use crate::expr::DEEP;
use crate::prove::ends::{End, Stream};

/// A number that is no factor of a mode.
const SHIFT: Complex<f64> = Complex::new(0.37, 0.61);
/// Factors that differ by less are the same.
const SAME: f64 = 1e-6;
/// Modes that decay to this within a cell are gone.
const GONE: f64 = 1e-9;

/// Sound that a face sends back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reflection {
    /// The amplitude of the density over that of the wave that came, at the wall: half-way between cells for rules of links, else on the outermost
    /// cells.
    pub part: [f64; 2],
    /// By what the amplitude of the wave that came and of the one that goes is multiplied from a cell to the next along its way.
    pub decay: [f64; 2],
}

impl Reflection {
    /// The size of the part.
    pub fn size(&self) -> f64 {
        self.part[0].hypot(self.part[1])
    }
}

/// A disturbance along the inward normal: `factor^x` times the populations of the first cell.
struct Mode {
    factor: Complex<f64>,
    populations: DVector<Complex<f64>>,
}

/// What comes to a face.
#[derive(Clone, Copy, PartialEq)]
enum Coming {
    Sound,
    Vortex,
}

/// What comes to a face and the disturbance of the pressure that goes from it, which `amplitude` times is sent back.
struct Found {
    coming: Mode,
    going: Mode,
    amplitude: Complex<f64>,
}

/// The part of sound that a face reflects. The wave vector points towards the face, in radians per cell. `None` where no mode is that sound, or the
/// collision reads values of cells around.
pub fn reflection(stream: &Stream, end: &End, wave: &[f64]) -> Option<Reflection> {
    let Found { coming, going, amplitude } = returned(stream, end, wave, Coming::Sound)?;
    let wall = wall(end);
    let density = |mode: &Mode| stream.density(&mode.populations) * mode.factor.powf(wall);
    let part = amplitude * density(&going) / density(&coming);
    let found = Reflection { part: [part.re, part.im], decay: [1.0 / coming.factor.norm(), going.factor.norm()] };
    part.re.is_finite().then_some(found)
}

/// What a face makes of vortices that the stream takes through it, a wave of shear in the plane of the normal and its wave vector: the velocity of the
/// potential flow that this adds at the face, over that of the vortices. Of slow streams it decays with the distance from the face. Where no velocity
/// normal to the face is possible, it is the square root of 2 times the sine of the angle to the normal; where no pressure is, nothing. `None` as for
/// [`reflection`], and where the stream takes nothing through the face.
pub fn of_vortices(stream: &Stream, end: &End, wave: &[f64]) -> Option<f64> {
    if stream.velocity()[end.face().axis] * wave[end.face().axis] <= 0.0 {
        return None;
    }
    let Found { coming, going, amplitude } = returned(stream, end, wave, Coming::Vortex)?;
    let wall = wall(end);
    let speed = |mode: &Mode| stream.momentum(&mode.populations) * mode.factor.norm().powf(wall);
    let part = amplitude.norm() * speed(&going) / speed(&coming);
    part.is_finite().then_some(part)
}

/// Where the wall is, in cells from the outermost ones.
fn wall(end: &End) -> f64 {
    if end.is_node() { 0.0 } else { -0.5 }
}

fn returned(stream: &Stream, end: &End, wave: &[f64], what: Coming) -> Option<Found> {
    if !stream.collision.around.is_empty() {
        return None;
    }
    let (axis, inward) = (end.face().axis, if end.face().high { -1.0 } else { 1.0 });
    let along: Vec<i32> = stream.velocities.iter().map(|c| c[axis] * inward as i32).collect();
    let of = |way: i32| -> Vec<usize> { (0..along.len()).filter(|pop| along[*pop] == way).collect() };
    let (plus, zero, minus) = (of(1), of(0), of(-1));
    let across = |velocity: &Vec<i32>| -> f64 {
        let all = velocity.iter().zip(wave).enumerate().filter(|(other, _)| *other != axis);
        all.map(|(_, (c, k))| f64::from(*c) * k).sum()
    };
    let turns: Vec<Complex<f64>> =
        stream.velocities.iter().map(|velocity| Complex::from_polar(1.0, -across(velocity))).collect();

    // Of sound in a stream (omega - u.k)^2 = cs2 k^2; vortices go with the stream.
    let cs2 = stream.cs2();
    let flow = stream.velocity();
    let square: f64 = wave.iter().map(|k| k * k).sum();
    let carried: f64 = flow.iter().zip(wave).map(|(u, k)| u * k).sum();
    let omega = if what == Coming::Sound { (cs2 * square).sqrt() + carried } else { carried };
    let normal = flow[axis] * inward;
    let along_faces: f64 = (0..wave.len()).filter(|other| *other != axis).map(|other| flow[other] * wave[other]).sum();
    let rest = omega - along_faces;
    let coming = wave[axis] * inward;
    // A root of that equation in the component along the normal: of sound that goes inwards, or that decays inwards.
    let discriminant = rest * rest - (cs2 - normal * normal) * (square - coming * coming);
    let root = Complex::from(discriminant).sqrt() * if discriminant > 0.0 { rest.signum() } else { 1.0 };
    let going = (root * cs2.sqrt() - normal * rest) / (cs2 - normal * normal);
    let z = Complex::from_polar(1.0, -omega);

    let collision = stream.collision.own.map(Complex::from);
    let block = |rows: &[usize], columns: &[usize]| collision.select_rows(rows).select_columns(columns);
    // What stays in the cell is what the others make of it.
    let mut staying = -block(&zero, &zero);
    zero.iter().enumerate().for_each(|(row, pop)| {
        staying.row_mut(row).iter_mut().for_each(|value| *value *= turns[*pop]);
        staying[(row, row)] += z;
    });
    let moving: Vec<usize> = plus.iter().chain(&minus).copied().collect();
    let mut pushed = block(&zero, &moving);
    zero.iter()
        .enumerate()
        .for_each(|(row, pop)| pushed.row_mut(row).iter_mut().for_each(|value| *value *= turns[*pop]));
    let stays = staying.lu().solve(&pushed)?;
    let mut sent = block(&moving, &moving) + block(&moving, &zero) * &stays;
    moving
        .iter()
        .enumerate()
        .for_each(|(row, pop)| sent.row_mut(row).iter_mut().for_each(|value| *value *= turns[*pop]));

    let (count, entering) = (moving.len(), plus.len());
    let side = |from_left: bool| {
        DMatrix::from_fn(count, count, |row, column| match (row < entering) == from_left {
            true => sent[(row, column)],
            false if row == column => z,
            false => Complex::from(0.0),
        })
    };
    let (left, right) = (side(true), side(false));
    let inverse = (&left - &right * SHIFT).lu().solve(&right)?;
    let values = Schur::try_new(inverse, f64::EPSILON, 10_000)?.eigenvalues()?;
    // Modes that decay at once have large factors, and are beyond the face.
    let factors: Vec<Complex<f64>> =
        values.iter().filter(|value| value.norm() > GONE).map(|value| SHIFT + value.inv()).collect();
    let mode = |factor: Complex<f64>, beside: usize| -> Option<Mode> {
        let svd = SVD::try_new(&left - &right * factor, false, true, f64::EPSILON, 10_000)?;
        let rows = svd.v_t?;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| svd.singular_values[*a].total_cmp(&svd.singular_values[*b]));
        let moved = rows.row(order[beside]).adjoint();
        let stayed = &stays * &moved;
        let mut populations = DVector::zeros(along.len());
        moving.iter().enumerate().for_each(|(at, pop)| populations[*pop] = moved[at]);
        zero.iter().enumerate().for_each(|(at, pop)| populations[*pop] = stayed[at]);
        Some(Mode { factor, populations })
    };
    let growing: Vec<Complex<f64>> = factors.iter().copied().filter(|factor| factor.norm() >= 1.0).collect();
    let decaying: Vec<Complex<f64>> = factors.iter().copied().filter(|factor| factor.norm() < 1.0).collect();
    if decaying.len() != entering {
        return None;
    }
    let by_distance = |to: Complex<f64>, of: &[Complex<f64>]| {
        let mut all = of.to_vec();
        all.sort_by(|a, b| (a - to).norm().total_cmp(&(b - to).norm()));
        all
    };
    // In space, vortices in the plane of the normal and the wave vector are even along the third axis; others as like have their velocity along it.
    let third = (0..wave.len()).find(|other| *other != axis && wave[*other] == 0.0).filter(|_| wave.len() > 2);
    let even = |mode: Mode| -> Option<Mode> {
        let Some(third) = third else { return Some(mode) };
        let image = |pop: usize| mode.populations[stream.mirrored(pop, third)];
        let sum = DVector::from_fn(along.len(), |pop, _| (mode.populations[pop] + image(pop)) * 0.5);
        (sum.norm() > 0.1 * mode.populations.norm()).then_some(Mode { factor: mode.factor, populations: sum })
    };
    let nearest = by_distance(Complex::from_polar(1.0, coming), &growing);
    let coming = nearest.iter().take(2).find_map(|factor| mode(*factor, 0).and_then(even))?;
    let going = *by_distance((Complex::<f64>::i() * going).exp(), &decaying).first()?;
    let place = decaying.iter().position(|factor| *factor == going)?;
    let modes: Vec<Mode> = decaying
        .iter()
        .enumerate()
        .map(|(at, factor)| {
            mode(*factor, decaying[..at].iter().filter(|other| (*other - factor).norm() < SAME).count())
        })
        .collect::<Option<_>>()?;

    // Unknown are the populations of the first cell and the amplitudes of the modes behind it.
    let q = along.len();
    let mut system = DMatrix::<Complex<f64>>::zeros(q + entering, q + entering);
    let mut given = DVector::<Complex<f64>>::zeros(q + entering);
    let back = z.inv();
    // For each population of a row: its factor, from the modes in the cell `depth` (before the collision, or after it).
    let posts: Vec<DVector<Complex<f64>>> = modes.iter().map(|mode| &collision * &mode.populations).collect();
    let coming_post = &collision * &coming.populations;
    let mut from_modes =
        |system: &mut DMatrix<Complex<f64>>, row: usize, pop: usize, depth: u32, post: bool, by: Complex<f64>| {
            for (at, mode) in modes.iter().enumerate() {
                let value = if post { posts[at][pop] } else { mode.populations[pop] };
                system[(row, q + at)] -= by * value * mode.factor.powu(depth);
            }
            let value = if post { coming_post[pop] } else { coming.populations[pop] };
            given[row] += by * value * coming.factor.powu(depth);
        };
    let from_cell = |system: &mut DMatrix<Complex<f64>>, row: usize, pop: usize, by: Complex<f64>| {
        for column in 0..q {
            system[(row, column)] -= by * collision[(pop, column)];
        }
    };
    for pop in 0..q {
        system[(pop, pop)] += Complex::from(1.0);
        match end.row(pop) {
            None if along[pop] == 0 => from_cell(&mut system, pop, pop, back * turns[pop]),
            None => from_modes(&mut system, pop, pop, 1, true, back * turns[pop]),
            Some(row) => {
                for from in 0..q {
                    let by = |matrix: &DMatrix<f64>| Complex::from(matrix[(row, from)]);
                    from_cell(&mut system, pop, from, back * by(&end.sent));
                    from_cell(&mut system, pop, end.image(stream, from), back * turns[from] * by(&end.mirrored));
                    match along[from] {
                        0 => from_cell(&mut system, pop, from, back * turns[from] * by(&end.streamed)),
                        -1 => from_modes(&mut system, pop, from, 1, true, back * turns[from] * by(&end.streamed)),
                        // Nothing reads what is not there yet.
                        _ => {}
                    }
                    from_modes(&mut system, pop, from, 1, false, by(&end.inside));
                    from_modes(&mut system, pop, from, DEEP, false, by(&end.deep));
                }
            }
        }
    }
    // What enters the second cell is what the first one sends.
    for (at, pop) in plus.iter().enumerate() {
        let row = q + at;
        from_modes(&mut system, row, *pop, 1, false, Complex::from(1.0));
        // Both sides have the same sign: what the cell sends, less what the modes have.
        for column in 0..q {
            system[(row, column)] += back * turns[*pop] * collision[(*pop, column)];
        }
    }
    let solution = system.lu().solve(&given)?;
    let going = modes.into_iter().nth(place)?;
    Some(Found { coming, going, amplitude: solution[q + place] })
}

/// The wave vector of what comes to a face at an angle to its normal, in degrees, of a wavelength in cells.
pub fn towards(end: &End, dim: usize, wavelength: f64, degrees: f64) -> Vec<f64> {
    let mut wave = vec![0.0; dim];
    let axis = end.face().axis;
    let (sin, cos) = degrees.to_radians().sin_cos();
    let k = 2.0 * std::f64::consts::PI / wavelength;
    wave[axis] = if end.face().high { k * cos } else { -k * cos };
    wave[(axis + 1) % dim] = k * sin;
    wave
}

impl Stream<'_> {
    /// Of the first populations.
    fn density(&self, populations: &DVector<Complex<f64>>) -> Complex<f64> {
        populations.rows(0, self.model.lattice().q()).sum()
    }

    /// The size of that of the first populations.
    fn momentum(&self, populations: &DVector<Complex<f64>>) -> f64 {
        let (q, dim) = (self.model.lattice().q(), self.velocity().len());
        let along = |axis: usize| -> Complex<f64> {
            (0..q).map(|pop| populations[pop] * f64::from(self.velocities[pop][axis])).sum()
        };
        (0..dim).map(|axis| along(axis).norm_sqr()).sum::<f64>().sqrt()
    }

    fn cs2(&self) -> f64 {
        self.model.lattice().cs2().to_f64().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::prove::ends::{Face, values};
    use crate::shipped;
    use crate::source::Source;

    fn model(name: &str, rule: &str) -> Model {
        let source = Source::new(name, shipped::spec(name).unwrap());
        crate::fixture::compile_with(&source, &shipped::Prelude, &[rule], None, None).unwrap()
    }

    /// The part that a rule at the high end of an axis reflects, in a fluid at rest.
    fn of(name: &str, rule: &str, axis: usize, high: bool, wavelength: f64, degrees: f64) -> Reflection {
        let model = model(name, rule);
        let rest = vec![0.0; model.lattice().dim()];
        let stream = Stream::new(&model, &[vec![1.9]], &rest).unwrap();
        let rule = model.boundaries().iter().find(|other| other.name == rule).unwrap();
        let end = stream.end(rule, &values(&model, rule, &rest, |_| None).unwrap(), Face { axis, high }).unwrap();
        reflection(&stream, &end, &towards(&end, rest.len(), wavelength, degrees)).unwrap()
    }

    /// A wall sends all sound back, a pressure all with the other sign. Where the populations that enter are given, it is (1 - cs) / (1 + cs).
    #[test]
    fn long_waves_are_reflected_as_theory_says() {
        let cs = (1.0_f64 / 3.0).sqrt();
        let part = (1.0 - cs) / (1.0 + cs);
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
            for (rule, expected) in [
                ("bounce_back", 1.0),
                ("free_slip", 1.0),
                ("zou_he_velocity", 1.0),
                ("anti_bounce_back", -1.0),
                ("zou_he_pressure", -1.0),
                ("regularized_pressure", -1.0),
                ("equilibrium", part),
                ("extrapolation_outflow", -part),
                ("convective_outflow", 0.0),
                ("characteristic_pressure", 0.0),
                ("characteristic_velocity", 0.0),
            ] {
                let found = of(name, rule, 0, true, 200.0, 0.0);
                assert!((found.part[0] - expected).abs() < 0.03, "{name} {rule}: {found:?}");
                let other = of(name, rule, 1, false, 200.0, 0.0);
                let difference = (found.part[0] - other.part[0]).hypot(found.part[1] - other.part[1]);
                assert!(difference < 1e-9, "{name} {rule}: {found:?} {other:?}");
            }
        }
    }

    /// A velocity that is given and a pressure that is given send back everything at any angle, the latter with the other sign.
    #[test]
    fn walls_and_pressures_reflect_sound_at_any_angle() {
        for name in ["d2q9_bgk", "d3q19_bgk"] {
            for (rule, sign) in [("bounce_back", 1.0), ("zou_he_velocity", 1.0), ("anti_bounce_back", -1.0)] {
                for degrees in [30.0, 60.0] {
                    let found = of(name, rule, 0, true, 200.0, degrees);
                    let other = of(name, rule, 1, false, 200.0, degrees);
                    assert!((found.part[0] - sign).abs() < 0.1, "{name} {rule} {degrees}: {found:?}");
                    let difference = (found.part[0] - other.part[0]).hypot(found.part[1] - other.part[1]);
                    assert!(difference < 1e-9, "{name} {rule} {degrees}: {found:?} {other:?}");
                }
            }
        }
    }

    /// In an incompressible flow vortices add a potential flow at a face whose normal velocity is given, so that both together have none there, and
    /// nothing where the pressure is given.
    #[test]
    fn vortices_add_the_potential_flow_that_a_face_asks_for() {
        for name in ["d2q9_bgk", "d3q19_bgk"] {
            for (rule, part) in [("zou_he_velocity", 2f64.sqrt()), ("zou_he_pressure", 0.0), ("anti_bounce_back", 0.0)]
            {
                let model = model(name, rule);
                let velocity: Vec<f64> =
                    (0..model.lattice().dim()).map(|axis| if axis == 0 { 0.1 } else { 0.0 }).collect();
                let stream = Stream::new(&model, &[vec![1.9]], &velocity).unwrap();
                let rule = model.boundaries().iter().find(|other| other.name == rule).unwrap();
                let own = values(&model, rule, &velocity, |_| None).unwrap();
                let end = stream.end(rule, &own, Face { axis: 0, high: true }).unwrap();
                for degrees in [30.0_f64, 60.0] {
                    let found = of_vortices(&stream, &end, &towards(&end, velocity.len(), 256.0, degrees)).unwrap();
                    let expected = part * degrees.to_radians().sin();
                    assert!((found - expected).abs() < 0.05, "{name} {} {degrees}: {found}, not {expected}", rule.name);
                }
                let low = stream.end(rule, &own, Face { axis: 0, high: false }).unwrap();
                assert!(of_vortices(&stream, &low, &towards(&low, velocity.len(), 64.0, 30.0)).is_none());
            }
        }
    }

    /// Symmetry planes send back everything, whatever its wavelength and its angle: the wave that goes is the image of the one that came.
    #[test]
    fn a_symmetry_plane_is_a_mirror() {
        let model = model("d2q9_bgk", "free_slip");
        let stream = Stream::new(&model, &[vec![1.7]], &[0.0, 0.0]).unwrap();
        let rule = model.boundaries().iter().find(|other| other.name == "free_slip").unwrap();
        let end = stream.end(rule, &[], Face { axis: 0, high: true }).unwrap();
        for wave in [[0.3, 0.0], [0.3, 0.2], [0.1, 0.4], [0.8, 0.0]] {
            let found = reflection(&stream, &end, &wave).unwrap();
            assert!((found.part[0] - 1.0).abs() < 1e-9 && found.part[1].abs() < 1e-9, "{wave:?}: {found:?}");
        }
    }
}
