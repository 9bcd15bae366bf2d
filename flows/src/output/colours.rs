//! Colour maps: those of matplotlib and ColorBrewer, and two constructed in Oklab (Ottosson, "A perceptual color space
//! for image processing", 2020).
//!
//! - [`Map::sequential`], for quantities with a minimum: from deep indigo over teal to pale yellow. The path is linear
//!   in lightness and hue, with as much chroma as the screen can display, and parametrized by arc length, so that equal
//!   steps look equal.
//! - [`Map::diverging`], for signed quantities: from blue over nearly white to red. Both ends are equally dark, and
//!   equal distances from the middle are equally light.

use crate::case::Colours;

/// A colour on the screen (sRGB), each channel 0 to 1.
pub(super) type Colour = [f32; 3];

/// The colours of a map from its lower end to its upper one, 8 bits a channel.
pub fn table(colours: Colours) -> Vec<[u8; 3]> {
    Map::of(colours).table.into_iter().map(|colour| colour.map(|channel| (255.0 * channel).round() as u8)).collect()
}

/// A colour map: a table of colours for values 0 to 1.
pub(super) struct Map {
    table: Vec<Colour>,
}

/// End points of the path: lightness, and hue in degrees.
const LIGHTNESS: (f64, f64) = (0.20, 0.93);
const HUE: (f64, f64) = (292.0, 102.0);
/// Largest chroma; higher values look garish and soon exceed the gamut of the screen.
const CHROMA: f64 = 0.15;
/// Number of intervals at which the path is sampled before it is reparametrized by arc length.
const SAMPLES: usize = 1024;
/// Half-width, in samples, of the window that smooths the chroma.
const SMOOTH: usize = 90;
const ENTRIES: usize = 256;

/// The diverging map: lightness in the middle and at the ends, chroma at the ends, and hues of the negative and the
/// positive arm.
const MIDDLE: f64 = 0.96;
const END: f64 = 0.40;
const END_CHROMA: f64 = 0.16;
const ARMS: [f64; 2] = [262.0, 28.0];

impl Map {
    /// The map of this name: two are constructed here, the others are those of colorous.
    pub(super) fn of(colours: Colours) -> Map {
        let (gradient, turned) = match colours {
            Colours::Sequential => return Map::sequential(),
            Colours::Diverging => return Map::diverging(),
            Colours::Viridis => (colorous::VIRIDIS, false),
            Colours::Inferno => (colorous::INFERNO, false),
            Colours::Magma => (colorous::MAGMA, false),
            Colours::Plasma => (colorous::PLASMA, false),
            Colours::Cividis => (colorous::CIVIDIS, false),
            Colours::Turbo => (colorous::TURBO, false),
            Colours::BlueRed => (colorous::RED_BLUE, true),
            Colours::PurpleGreen => (colorous::PURPLE_GREEN, false),
            Colours::BrownTeal => (colorous::BROWN_GREEN, false),
        };
        let colour = |entry: usize| {
            let place = entry as f64 / (ENTRIES - 1) as f64;
            let colorous::Color { r, g, b } = gradient.eval_continuous(if turned { 1.0 - place } else { place });
            [r, g, b].map(|channel| f32::from(channel) / 255.0)
        };
        Map { table: (0..ENTRIES).map(colour).collect() }
    }

    pub(super) fn diverging() -> Map {
        let table = (0..ENTRIES).map(|entry| {
            let place = 2.0 * entry as f64 / (ENTRIES - 1) as f64 - 1.0;
            let (arm, way) = (ARMS[usize::from(place > 0.0)].to_radians(), place.abs());
            let chroma = END_CHROMA * (way * std::f64::consts::FRAC_PI_2).sin();
            let colour = srgb([MIDDLE + way * (END - MIDDLE), chroma * arm.cos(), chroma * arm.sin()]);
            colour.map(|channel| channel.clamp(0.0, 1.0) as f32)
        });
        Map { table: table.collect() }
    }

    pub(super) fn sequential() -> Map {
        let path = path();
        let mut travelled = vec![0.0];
        for pair in path.windows(2) {
            travelled.push(travelled[travelled.len() - 1] + distance(pair[0], pair[1]));
        }
        let whole = travelled[SAMPLES];
        let table = (0..ENTRIES).map(|entry| {
            let goal = whole * entry as f64 / (ENTRIES - 1) as f64;
            let after = travelled.partition_point(|way| *way < goal).clamp(1, SAMPLES);
            let part = (goal - travelled[after - 1]) / (travelled[after] - travelled[after - 1]);
            let mix = |axis: usize| path[after - 1][axis] + part * (path[after][axis] - path[after - 1][axis]);
            srgb([mix(0), mix(1), mix(2)]).map(|channel| channel.clamp(0.0, 1.0) as f32)
        });
        Map { table: table.collect() }
    }

    /// The colour of a value. Values outside 0 to 1 are clamped; NaN has the colour of 0.
    pub(super) fn at(&self, value: f64) -> Colour {
        let value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        let position = value * (ENTRIES - 1) as f64;
        let below = position as usize;
        let (low, high) = (self.table[below], self.table[(below + 1).min(ENTRIES - 1)]);
        let part = (position - below as f64) as f32;
        std::array::from_fn(|channel| low[channel] + part * (high[channel] - low[channel]))
    }
}

/// The path in Oklab, `SAMPLES + 1` points. The chroma follows the gamut of the screen smoothly: where the path runs
/// along a ridge of the gamut, a kink in chroma would look like a contour line.
fn path() -> Vec<[f64; 3]> {
    let most: Vec<f64> = (0..=SAMPLES).map(most_chroma).collect();
    let window = |at: usize| at.saturating_sub(SMOOTH)..(at + SMOOTH + 1).min(SAMPLES + 1);
    let least: Vec<f64> = (0..=SAMPLES).map(|at| most[window(at)].iter().copied().fold(CHROMA, f64::min)).collect();
    let mean = |at: usize| least[window(at)].iter().sum::<f64>() / window(at).len() as f64;
    (0..=SAMPLES).map(|at| point(at, mean(at))).collect()
}

fn point(at: usize, chroma: f64) -> [f64; 3] {
    let way = at as f64 / SAMPLES as f64;
    let lightness = LIGHTNESS.0 + way * (LIGHTNESS.1 - LIGHTNESS.0);
    let hue = (HUE.0 + way * (HUE.1 - HUE.0)).to_radians();
    [lightness, chroma * hue.cos(), chroma * hue.sin()]
}

/// The largest chroma up to `CHROMA` that the screen can display at a point of the path, by bisection.
fn most_chroma(at: usize) -> f64 {
    let (mut low, mut high) = (0.0, CHROMA);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let shown = srgb(point(at, middle)).iter().all(|channel| (0.0..=1.0).contains(channel));
        if shown { low = middle } else { high = middle }
    }
    low
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Converts Oklab to sRGB. Components lie outside 0 to 1 if the screen cannot display the colour.
fn srgb([l, a, b]: [f64; 3]) -> [f64; 3] {
    let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let medium = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let linear = [
        4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
        -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
        -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
    ];
    linear.map(|value| if value <= 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_white_is_white() {
        for channel in srgb([1.0, 0.0, 0.0]) {
            assert!((channel - 1.0).abs() < 1e-6, "{channel}");
        }
    }

    #[test]
    fn the_map_grows_lighter_in_even_steps() {
        let map = Map::sequential();
        // Luminance as an independent measure of lightness.
        let luminance = |value: f64| {
            let linear = map.at(value).map(|channel| f64::from(channel).powf(2.2));
            (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]).cbrt()
        };
        let steps: Vec<f64> =
            (0..20).map(|at| luminance((at + 1) as f64 / 20.0) - luminance(at as f64 / 20.0)).collect();
        let mean = steps.iter().sum::<f64>() / 20.0;
        assert!(steps.iter().all(|step| *step > 0.4 * mean && *step < 1.8 * mean), "{steps:?}");
    }

    #[test]
    fn signs_have_colours_of_their_own_and_equal_magnitudes_are_equally_light() {
        let map = Map::diverging();
        let lightness = |value: f64| {
            let linear = map.at(value).map(|channel| f64::from(channel).powf(2.2));
            (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]).cbrt()
        };
        for way in [0.05, 0.2, 0.35, 0.5] {
            let ([red, _, blue], [also_red, _, also_blue]) = (map.at(0.5 - way), map.at(0.5 + way));
            assert!(blue > red && also_red > also_blue, "{way}");
            assert!((lightness(0.5 - way) - lightness(0.5 + way)).abs() < 0.06, "{way}");
            assert!(lightness(0.5 - way) < lightness(0.5 - way + 0.04), "{way}");
        }
        let middle = map.at(0.5);
        assert!(middle.iter().all(|channel| *channel > 0.9), "{middle:?}");
    }

    #[test]
    fn values_outside_take_the_nearer_end() {
        let map = Map::sequential();
        assert_eq!(map.at(-1.0), map.at(0.0));
        assert_eq!(map.at(7.0), map.at(1.0));
        assert_eq!(map.at(f64::NAN), map.at(0.0));
    }

    #[test]
    fn every_name_has_a_map_of_its_own_with_the_ends_that_it_says() {
        let maps: Vec<Map> = Colours::ALL.iter().map(|(_, colours)| Map::of(*colours)).collect();
        for (at, map) in maps.iter().enumerate() {
            assert!(maps[..at].iter().all(|other| other.table != map.table), "{}", Colours::ALL[at].0);
        }
        let ends = |colours: Colours| [0.05, 0.95].map(|value| Map::of(colours).at(value));
        let [[red, _, blue], [also_red, _, also_blue]] = ends(Colours::BlueRed);
        assert!(blue > red && also_red > also_blue);
        let [[red, green, _], [also_red, also_green, _]] = ends(Colours::PurpleGreen);
        assert!(red > green && also_green > also_red);
        // Published end points of viridis: #440154 and #fde725.
        let of = |value: f64| Map::of(Colours::Viridis).at(value).map(|channel| (channel * 255.0).round() as i32);
        let near = |found: [i32; 3], expected: [i32; 3]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 2);
        assert!(near(of(0.0), [0x44, 0x01, 0x54]) && near(of(1.0), [0xfd, 0xe7, 0x25]), "{:?} {:?}", of(0.0), of(1.0));
    }
}
