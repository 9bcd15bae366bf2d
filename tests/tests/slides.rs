//! Surfaces under boundary layers that cells do not resolve: channels that lie askew in the grid, whose walls slide by a law.

use std::sync::OnceLock;

use lbm_bundle::{Bundle, Real};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid, Surface, Vector};
use lbm_runtime::solver::{GridSpec, Prepared, Simulation, Velocity, WallLaw};
use lbm_tests::compiled;
use lbm_tests::flows::{bytes, restore};

const VISCOSITY: f64 = 0.02;

/// u+ of the law, the same at all heights: the stress is (u / 3)^2.
const PLUS: f64 = 3.0;

/// Height at which the law applies.
const SAMPLE: f64 = 2.5;

/// Half the width of the channels.
const HALF: f64 = 12.0;

/// The velocity at the height of the law.
const SLIP: f64 = 0.03;

fn bundle() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let rules = ["sliding_wall", "interpolated_bounce_back"];
        let model = compiled::model_with_all("d2q9_guo", &rules, None);
        compiled::compile_solids(&model, Device::host(1).unwrap().target(), Real::F64, [8, 8, 1])
    })
}

/// A periodic box with a channel along a direction.
#[derive(Clone)]
struct Channel {
    size: [usize; 3],
    /// Along the channel, and across it.
    along: [f64; 2],
    across: [f64; 2],
    /// From one channel to the next.
    period: f64,
    /// The velocity of the walls along the channel.
    carried: f64,
}

impl Channel {
    /// Along (a, b), in a box of which one side of a channel leads to the other.
    fn along([a, b]: [f64; 2], size: [usize; 2]) -> Channel {
        let length = a.hypot(b);
        let (along, across) = ([a / length, b / length], [-b / length, a / length]);
        Channel { size: [size[0], size[1], 1], along, across, period: size[1] as f64 * across[1], carried: 0.0 }
    }

    /// How far a point is from the wall, in the fluid.
    fn height(&self, at: [f64; 2]) -> f64 {
        let across = at[0] * self.across[0] + at[1] * self.across[1] - OFF;
        (across - self.period * (across / self.period).round()).abs() - 0.5 * self.thickness()
    }

    fn thickness(&self) -> f64 {
        self.period - 2.0 * HALF
    }

    /// The walls: slabs that reach beyond the box.
    fn walls(&self) -> Shape {
        let [lx, ly] = [self.size[0] as f64, self.size[1] as f64];
        let (reach, middle) = (2.0 * (lx + ly), [0.5 * lx, 0.5 * ly]);
        let own = middle[0] * self.across[0] + middle[1] * self.across[1];
        let mut triangles = vec![];
        for number in -4..=8 {
            let centre = OFF + f64::from(number) * self.period - own;
            let corner = |forth: f64, up: f64, z: f64| -> Vector {
                let (forth, up) = (forth * reach, centre + 0.5 * up * self.thickness());
                let on = |axis: usize| middle[axis] + forth * self.along[axis] + up * self.across[axis];
                [on(0), on(1), z]
            };
            let ends = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let [low, high] = [-1.0, self.size[2] as f64].map(|z| ends.map(|(forth, up)| corner(forth, up, z)));
            for (one, other) in [(1, 2), (2, 3)] {
                triangles.push([high[0], high[one], high[other]]);
                triangles.push([low[0], low[other], low[one]]);
            }
            for (one, other) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                triangles.push([low[one], low[other], high[other]]);
                triangles.push([low[one], high[other], high[one]]);
            }
        }
        Shape::Surface(Surface::new(triangles))
    }

    fn grid(&self, rule: &str) -> GridSpec {
        let solid = Solid { shape: self.walls(), rule: rule.into(), values: vec![], level: 0, shells: vec![] };
        let grid = GridSpec::periodic(self.size).with_solid(solid);
        let plus = std::sync::Arc::new(|_: f64, _: f64| PLUS);
        let own = [self.carried * self.along[0], self.carried * self.along[1], 0.0];
        let velocity = (self.carried != 0.0).then(|| std::sync::Arc::new(move |_| own) as Velocity);
        let law = WallLaw { plus, sample: SAMPLE, viscosity: VISCOSITY, roughness: 0.0, velocity };
        if rule == "sliding_wall" { grid.under(law) } else { grid }
    }

    /// The force on the fluid that the stress of the law balances at this velocity.
    fn force(&self) -> f64 {
        (SLIP / PLUS).powi(2) / HALF
    }

    /// The velocity along the channel at a height: a parabola above the height of the law.
    fn exact(&self, height: f64) -> f64 {
        let square = |height: f64| (HALF - height).powi(2);
        SLIP + self.force() / (2.0 * VISCOSITY) * (square(SAMPLE) - square(height))
    }

    fn params(&self) -> Vec<(String, Vec<f64>)> {
        let force = self.along.map(|along| along * self.force());
        vec![("omega".into(), vec![1.0 / (3.0 * VISCOSITY + 0.5)]), ("force".into(), force.to_vec())]
    }

    /// At its start, which is the solution.
    fn start(&self, rule: &str, parts: usize) -> Simulation {
        let (device, grid) = (Device::host(1).unwrap(), self.grid(rule));
        let prepared = Prepared::refined(&device, bundle(), &grid, 1, |_| false).unwrap();
        let prepared = prepared.in_subdomains(&vec![device.clone(); parts], bundle()).unwrap();
        let mut flow = prepared.simulation(&self.params()).unwrap();
        flow.init_cells(|cell, out| {
            let [x, y, _] = cell.centre();
            let speed = self.carried + self.exact(self.height([x, y]).clamp(0.0, HALF));
            out.copy_from_slice(&[1.0, speed * self.along[0], speed * self.along[1]]);
        })
        .unwrap();
        flow
    }

    /// The mean velocity along the channel above the height of the law, over the exact one.
    fn carried(&self, flow: &mut Simulation) -> f64 {
        let snapshot = flow.snapshot().unwrap();
        let velocity = snapshot.vector("u").unwrap();
        let (mut found, mut exact) = (0.0, 0.0);
        for (place, (x_part, y_part)) in velocity[0].iter().zip(velocity[1]).enumerate() {
            let [x, y, _] = snapshot.cell(place).centre();
            let height = self.height([x, y]);
            if height > SAMPLE + 1.0 {
                found += x_part * self.along[0] + y_part * self.along[1] - self.carried;
                exact += self.exact(height);
            }
        }
        found / exact
    }
}

/// Where the middle of a wall is, across it: nowhere in particular in the grid.
const OFF: f64 = 0.37;

/// Along (3, 1): walls have steps of three cells.
fn askew() -> Channel {
    Channel::along([3.0, 1.0], [96, 32])
}

#[test]
fn channels_askew_in_the_grid_carry_what_the_law_of_their_walls_says() {
    for channel in [Channel::along([1.0, 0.0], [32, 32]), askew(), Channel::along([1.0, 1.0], [48, 48])] {
        let mut flow = channel.start("sliding_wall", 1);
        flow.run(4000).unwrap();
        let (carried, along) = (channel.carried(&mut flow), channel.along);
        assert!((carried - 1.0).abs() < 0.03, "along {along:?}: {carried}");
    }
    // Walls at rest take more.
    let mut flow = askew().start("interpolated_bounce_back", 1);
    flow.run(4000).unwrap();
    assert!(askew().carried(&mut flow) < 0.8);
}

/// The law is one of the velocity relative to the surface: walls that move with the stream carry as much more.
#[test]
fn walls_with_a_velocity_of_their_own_carry_what_those_at_rest_do() {
    for channel in [Channel::along([1.0, 0.0], [32, 32]), askew()] {
        let along = channel.along;
        let after = |carried: f64| {
            let channel = Channel { carried, ..channel.clone() };
            let mut flow = channel.start("sliding_wall", 1);
            flow.run(2000).unwrap();
            channel.carried(&mut flow)
        };
        let (at_rest, with, against) = (after(0.0), after(0.02), after(-0.02));
        assert!((with / at_rest - 1.0).abs() < 0.01, "along {along:?}: {with} {at_rest}");
        assert!((against / at_rest - 1.0).abs() < 0.01, "along {along:?}: {against} {at_rest}");
    }
}

#[test]
fn walls_that_slide_give_back_the_mass_that_links_add() {
    let mut flow = askew().start("sliding_wall", 1);
    let before = flow.sums().unwrap()[0].mass;
    flow.run(4000).unwrap();
    let change = flow.sums().unwrap()[0].mass / before - 1.0;
    assert!(change.abs() < 0.005, "{change}");
}

#[test]
fn a_flow_past_walls_that_slide_has_the_same_bits_in_parts() {
    let after = |parts: usize| {
        let mut flow = askew().start("sliding_wall", parts);
        assert_eq!(flow.subdomains(), parts);
        for _ in 0..5 {
            flow.poison().unwrap();
            flow.run(1).unwrap();
        }
        (bytes(&mut flow), flow.slips().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>())
    };
    let expected = after(1);
    for parts in 2..=5 {
        assert!(after(parts) == expected, "{parts} parts");
    }
}

#[test]
fn walls_that_slide_go_on_from_their_states() {
    let mut flow = askew().start("sliding_wall", 1);
    flow.run(7).unwrap();
    let (populations, states) = (bytes(&mut flow), flow.slips().unwrap());
    flow.run(4).unwrap();
    let mut other = askew().start("sliding_wall", 2);
    assert!(!other.set_slips(&states[1..]).unwrap());
    assert!(other.set_slips(&states).unwrap());
    restore(&mut other, 7, &populations);
    other.run(4).unwrap();
    assert!(bytes(&mut other) == bytes(&mut flow));
}

/// Streaks along a channel: a wall with one velocity for all of a patch would stop them within a few steps.
#[test]
fn streaks_as_wide_as_a_patch_go_on_along_walls_that_slide() {
    const WIDE: f64 = 8.0;
    let model = compiled::model_with_all("d3q19_guo", &["sliding_wall"], None);
    let bundle = compiled::compile_solids(&model, Device::host(1).unwrap().target(), Real::F64, [4, 8, 8]);
    let channel = Channel { size: [8, 32, 16], ..Channel::along([1.0, 0.0], [8, 32]) };
    let (device, grid) = (Device::host(1).unwrap(), channel.grid("sliding_wall"));
    let prepared = Prepared::refined(&device, &bundle, &grid, 1, |_| false).unwrap();
    let mut params = channel.params();
    params[1].1.push(0.0);
    let mut flow = prepared.simulation(&params).unwrap();
    let wave = |z: f64| (2.0 * std::f64::consts::PI * z / WIDE).sin();
    flow.init_cells(|cell, out| {
        let [_, _, z] = cell.centre();
        out.copy_from_slice(&[1.0, SLIP + 0.3 * SLIP * wave(z), 0.0, 0.0]);
    })
    .unwrap();
    flow.run(60).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let velocity = snapshot.vector("u").unwrap();
    let streaks = |low: f64, high: f64| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (place, along) in velocity[0].iter().enumerate() {
            let [x, y, z] = snapshot.cell(place).centre();
            if (low..high).contains(&channel.height([x, y])) {
                sum += along * wave(z);
                count += 1.0;
            }
        }
        sum / count
    };
    let (beside, middle) = (streaks(0.0, 1.0), streaks(9.0, HALF));
    assert!((0.8..1.2).contains(&(beside / middle)), "{beside} {middle}");
}
