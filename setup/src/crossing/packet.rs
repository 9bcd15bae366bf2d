//! Packets of waves: superpositions of discrete modes of a method in a periodic box.

use std::f64::consts::TAU;

use lbm_dsl::prove::modes::Modes;
use rayon::prelude::*;

/// Amplitudes below this part of the largest are left out.
const LEAST: f64 = 1e-10;

/// What a packet is made of.
#[derive(Clone, Copy, Debug)]
pub enum Waves {
    /// Shear waves: a vortex with a stream function whose spectrum is `(k R)^4 exp(-(k R)^2 / 2)`.
    Shear,
    /// Sound with this wave vector, in radians per coarse cell, under an envelope `exp(-r^2 / (2 R^2))`.
    Sound([f64; 2]),
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What it is made of.
    pub waves: Waves,
    /// Its radius R. All lengths are in cells of the coarse level.
    pub radius: f64,
    /// Where its centre is.
    pub centre: [f64; 2],
    /// Cells of the box along each axis.
    pub sides: [usize; 2],
    /// Velocity of the stream along x, in cells per step.
    pub stream: f64,
}

impl Packet {
    /// Its amplitude for a wave vector in radians per coarse cell, up to a factor.
    fn amplitude(&self, k: [f64; 2]) -> f64 {
        match self.waves {
            Waves::Shear => {
                let square = (k[0] * k[0] + k[1] * k[1]) * self.radius * self.radius;
                square * square * (-square / 2.0).exp()
            }
            Waves::Sound(wave) => {
                let apart = (k[0] - wave[0]).powi(2) + (k[1] - wave[1]).powi(2);
                (-0.5 * apart * self.radius * self.radius).exp()
            }
        }
    }

    /// The factor of a mode in a step by the equations of motion: it turns by `k.u`, with sound also by `k / sqrt(3)`, and decays by
    /// the viscosity; wave vectors and viscosity in cells and steps of the level.
    fn factor(&self, wave: [f64; 2], viscosity: f64) -> [f64; 2] {
        let k = wave[0].hypot(wave[1]);
        let sound = match self.waves {
            Waves::Shear => 0.0,
            Waves::Sound(_) => k / 3f64.sqrt(),
        };
        let (turned, decay) = (wave[0] * self.stream + sound, (-viscosity * k * k).exp());
        [decay * turned.cos(), -decay * turned.sin()]
    }

    /// Disturbances of the populations on a level whose cells are `width` coarse ones wide: `[population][x * cells + y]`, with
    /// `cells = sides[1] / width`. Their momentum has the norm `peak` where that is largest. None where a mode cannot be found.
    pub fn populations(
        &self,
        modes: &Modes,
        velocities: &[Vec<i32>],
        width: f64,
        viscosity: f64,
        peak: f64,
    ) -> Option<Vec<Vec<f64>>> {
        let cells = self.sides.map(|side| (side as f64 / width).round() as usize);
        let half = cells.map(|cells| cells as i64 / 2);
        let wave = |x: i64, y: i64| [TAU * x as f64 / cells[0] as f64, TAU * y as f64 / cells[1] as f64];
        let amplitude = |x: i64, y: i64| self.amplitude(wave(x, y).map(|k| k / width));
        let all = (1 - half[0]..half[0]).flat_map(|x| (1 - half[1]..half[1]).map(move |y| (x, y)));
        let largest = all.clone().map(|(x, y)| amplitude(x, y)).fold(0.0, f64::max);
        let chosen: Vec<(i64, i64)> =
            all.filter(|(x, y)| (*x, *y) != (0, 0) && amplitude(*x, *y) > LEAST * largest).collect();
        let found: Option<Vec<Vec<[f64; 2]>>> = chosen
            .par_iter()
            .map(|(x, y)| {
                let k = wave(*x, *y);
                let mode = modes.nearest(&k, self.factor(k, viscosity))?;
                let scale = self.scale(&mode, velocities, k, amplitude(*x, *y), width);
                let [x, y] = self.centre.map(|place| place / width);
                let there = times(scale, polar(-(k[0] * x + k[1] * y)));
                Some(mode.into_iter().map(|value| times(value, there)).collect())
            })
            .collect();
        let mut populations = superposed(&chosen, &found?, cells, velocities.len());
        let momentum = |at: usize| {
            let along = |axis: usize| -> f64 {
                velocities.iter().zip(&populations).map(|(c, values)| f64::from(c[axis]) * values[at]).sum()
            };
            along(0).hypot(along(1))
        };
        let most = (0..cells[0] * cells[1]).map(momentum).fold(0.0, f64::max);
        populations.iter_mut().flatten().for_each(|value| *value *= peak / most);
        Some(populations)
    }

    /// The factor by which a mode has its amplitude: shear waves have that stream function, sound that density.
    fn scale(
        &self,
        mode: &[[f64; 2]],
        velocities: &[Vec<i32>],
        wave: [f64; 2],
        amplitude: f64,
        width: f64,
    ) -> [f64; 2] {
        let sum = |factor: &dyn Fn(&[i32]) -> f64| {
            let parts = velocities.iter().zip(mode);
            parts.fold([0.0; 2], |sum, (c, f)| [sum[0] + factor(c) * f[0], sum[1] + factor(c) * f[1]])
        };
        let k = wave[0].hypot(wave[1]);
        let (due, has) = match self.waves {
            Waves::Shear => {
                let across = |c: &[i32]| (f64::from(c[0]) * wave[1] - f64::from(c[1]) * wave[0]) / k;
                ([0.0, amplitude * k / width], sum(&across))
            }
            Waves::Sound(_) => ([amplitude, 0.0], sum(&|_| 1.0)),
        };
        let square = has[0] * has[0] + has[1] * has[1];
        times(due, [has[0] / square, -has[1] / square])
    }
}

/// The real part of a sum of waves with these numbers along x and y, at the centres of cells.
fn superposed(chosen: &[(i64, i64)], found: &[Vec<[f64; 2]>], cells: [usize; 2], count: usize) -> Vec<Vec<f64>> {
    let turns = |number: i64, cells: usize| -> Vec<[f64; 2]> {
        (0..cells).map(|at| polar(TAU * number as f64 * (at as f64 + 0.5) / cells as f64)).collect()
    };
    // Along y first, for each wave number along x: those stand together.
    let groups: Vec<_> = {
        let mut rest = found;
        let chunks = chosen.chunk_by(|a, b| a.0 == b.0);
        chunks
            .map(|chunk| {
                let (own, others) = rest.split_at(chunk.len());
                rest = others;
                (chunk, own)
            })
            .collect()
    };
    // [population][y] of each group.
    let rows: Vec<_> = groups
        .par_iter()
        .map(|(chunk, own)| {
            let mut row = vec![vec![[0.0; 2]; cells[1]]; count];
            for ((_, y), mode) in chunk.iter().zip(own.iter()) {
                let turns = turns(*y, cells[1]);
                for (row, value) in row.iter_mut().zip(mode) {
                    for (sum, turn) in row.iter_mut().zip(&turns) {
                        let product = times(*value, *turn);
                        *sum = [sum[0] + product[0], sum[1] + product[1]];
                    }
                }
            }
            (turns(chunk[0].0, cells[0]), row)
        })
        .collect();
    let population = |number: usize| {
        let mut values = vec![0.0; cells[0] * cells[1]];
        for (turns, row) in &rows {
            for (column, turn) in values.chunks_mut(cells[1]).zip(turns) {
                for (value, part) in column.iter_mut().zip(&row[number]) {
                    *value += part[0] * turn[0] - part[1] * turn[1];
                }
            }
        }
        values
    };
    (0..count).into_par_iter().map(population).collect()
}

fn polar(angle: f64) -> [f64; 2] {
    [angle.cos(), angle.sin()]
}

fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}
