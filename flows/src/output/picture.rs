//! Pictures of velocity (magnitude in colour, with evenly spaced streamlines), of vorticity (the signed component in
//! two dimensions, the magnitude in three) and of scalars. On a refined grid the block edges are drawn on top, unless
//! the case disables it. Both axes have the same scale; only a plane so elongated that it would be a mere line is
//! stretched, as the heading then states.

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;

use super::axes::{Area, PAPER};
use super::canvas::Canvas;
use super::colours::Map;
use super::heading::Heading;
use super::overlay::{block_edges, contour_lines, flow_lines, solids};
use super::plane::{Plane, length};
use super::scale::{self, Scale, bar_unit};
use super::section::View;
use crate::case::{Case, Contours, Dimension, Frames, Picture, Quantity, Slice};

/// Longer side of the field, in pixels.
const FIELD: f64 = 1000.0;
const MARGIN: Margins = Margins { left: 130.0, right: 215.0, top: 140.0, bottom: 105.0 };
/// Least extent of the field along both axes, in pixels.
const SHORTEST: f64 = 60.0;

struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Quantile of the vorticity that the colour range covers: at corners between walls it is unbounded.
const TOLD_APART: f64 = 0.995;
/// Least value of a logarithmic colour bar relative to the largest, unless the case specifies a range.
const DECADES: f64 = 1e-4;

/// What is drawn of a plane, and its size.
struct Sheet<'a> {
    view: View<'a>,
    /// Pixels along the longer side of the field.
    pixels: f64,
    /// Whether block edges are drawn.
    grid: bool,
    title: Option<&'a str>,
}

impl<'a> From<&'a Case> for Sheet<'a> {
    fn from(case: &'a Case) -> Sheet<'a> {
        Sheet { view: case.into(), pixels: FIELD, grid: case.output.grid, title: None }
    }
}

/// Draws the velocity of a snapshot; in three dimensions on a plane through it. `None` if the snapshot has none.
pub fn draw_velocity(case: &Case, snapshot: &Snapshot) -> Option<Canvas> {
    let plane = Plane::velocity(case.into(), snapshot)?;
    let fastest = plane.longest();
    let scale = Scale::linear(Map::sequential(), [0.0, fastest]);
    let (mut canvas, cells) = paint(&case.into(), snapshot, &plane, &scale, length);
    flow_lines(&mut canvas, &plane, &cells);
    solids(&mut canvas, case.into(), snapshot, &cells);
    frame(&mut canvas, case, &plane, &cells);
    let (unit, label) = if case.units.si {
        let scale = case.units.scale(Dimension::VELOCITY);
        let (size, prefix) = prefix(fastest * scale);
        (size / scale, format!("speed / ({prefix}m/s)"))
    } else if case.scales.velocity > 0.0 {
        (case.scales.velocity, "speed / U".to_string())
    } else {
        (1.0, "speed / (cells per step)".to_string())
    };
    scale.bar(&mut canvas, cells, [0.0, fastest], &[], (unit, &label));
    Some(canvas)
}

/// Draws the vorticity on the same plane: in two dimensions the component along z, positive for counter-clockwise
/// rotation; in three the magnitude.
pub fn draw_vorticity(case: &Case, snapshot: &Snapshot) -> Option<Canvas> {
    let plane = Plane::vorticity(case, snapshot)?;
    let most = plane.quantile(TOLD_APART);
    let (map, least, value): (_, _, fn([f64; 3]) -> f64) = match case.dim {
        2 => (Map::diverging(), -most, |vorticity| vorticity[2]),
        _ => (Map::sequential(), 0.0, length),
    };
    let scale = Scale::linear(map, [least, most]);
    let (mut canvas, cells) = paint(&case.into(), snapshot, &plane, &scale, value);
    solids(&mut canvas, case.into(), snapshot, &cells);
    frame(&mut canvas, case, &plane, &cells);
    let (unit, label) = if case.units.si {
        (case.units.step, "vorticity / (1/s)")
    } else if case.scales.velocity > 0.0 {
        (case.scales.velocity / case.scales.length, "vorticity / (U/L)")
    } else {
        (1.0, "vorticity / (1/step)")
    };
    scale.bar(&mut canvas, cells, plane.extremes(value), &[], (unit, label));
    Some(canvas)
}

/// Draws a scalar on the same plane, from its minimum to its maximum.
pub fn draw_scalar(case: &Case, snapshot: &Snapshot, name: &str) -> Option<Canvas> {
    let (plane, least) = Plane::scalar(case, snapshot, name)?;
    let range = plane.longest();
    let scale = Scale::linear(Map::sequential(), [0.0, range]);
    let (mut canvas, cells) = paint(&case.into(), snapshot, &plane, &scale, length);
    solids(&mut canvas, case.into(), snapshot, &cells);
    frame(&mut canvas, case, &plane, &cells);
    let [least, most] = [least, least + range];
    Scale::linear(scale.map, [least, most]).bar(&mut canvas, cells, [least, most], &[], (1.0, name));
    Some(canvas)
}

/// Draws a picture that the case requests.
pub fn draw(case: &Case, snapshot: &Snapshot, picture: &Picture) -> Option<Canvas> {
    let view = View { case, slice: picture.slice, window: picture.window };
    let plane = Plane::field(view, snapshot, &picture.field)?;
    let (unit, label) = bar_unit(case, &picture.field);
    // If most of the plane is at rest, the range extends to the largest value; if all of it is, to one unit of the
    // colour bar.
    let most =
        || [plane.quantile(TOLD_APART), plane.longest(), unit].into_iter().find(|most| *most > 0.0).unwrap_or(unit);
    let value = |vector: [f64; 3]| vector[0];
    let [lowest, highest] = plane.extremes(value);
    let ends = match picture.range {
        Some(range) => range.map(|end| end * unit),
        None if picture.log => {
            let most = if highest > 0.0 { highest } else { unit };
            let least = plane.least_above(most * DECADES);
            [if least < most { least } else { most * DECADES }, most]
        }
        None if picture.field.is_signed() => [-most(), most()],
        None if picture.field.is_magnitude() => [0.0, most()],
        None if lowest == highest => [lowest, lowest + unit],
        None => [lowest, highest],
    };
    let scale = Scale { log: picture.log, ..Scale::linear(Map::of(picture.colours), ends) };
    let (grid, title) = (picture.grid, picture.title.as_deref());
    let sheet = Sheet { view, pixels: picture.size as f64, grid, title };
    let (mut canvas, cells) = paint(&sheet, snapshot, &plane, &scale, value);
    let levels = match &picture.contours {
        None => vec![],
        Some(Contours::Between(count)) => scale.between(*count),
        Some(Contours::At(values)) => values.iter().map(|value| value * unit).collect(),
    };
    contour_lines(&mut canvas, &plane, &cells, &levels);
    if let Some(velocity) = Plane::velocity(view, snapshot).filter(|_| picture.streamlines) {
        flow_lines(&mut canvas, &velocity, &cells);
    }
    solids(&mut canvas, view, snapshot, &cells);
    frame(&mut canvas, case, &plane, &cells);
    scale.bar(&mut canvas, cells, [lowest, highest], &levels, (unit, &label));
    Some(canvas)
}

/// Draws a grid without a flow: its levels, the edges of its blocks and the solids of the case, on the middle planes normal to each axis, one below the
/// other; in two dimensions on the plane of the flow.
pub fn draw_grid(case: &Case, manifest: &Manifest, grid: &Snapshot) -> Option<Canvas> {
    let level = Quantity::named(manifest, "level").pop()?;
    let of_plane = |slice: Option<Slice>| {
        let frames = Frames { name: "grid".into(), every: None, film: None };
        let title = Some(format!("{}: levels and solids", case.name));
        let range = Some([0.0, grid.finest().max(1) as f64]);
        draw(case, grid, &Picture { title, slice, range, ..Picture::of(level.clone(), frames) })
    };
    if case.dim == 2 {
        return of_plane(None);
    }
    // Through cells of the finest level: the middle itself may lie between two levels.
    let middle = |normal: usize| 0.5 * case.size[normal] as f64 - 0.5f64.powi(grid.finest() as i32 + 1);
    let planes = (0..3).map(|normal| of_plane(Some(Slice { normal, at: middle(normal) })));
    Some(Canvas::below_each_other(&planes.collect::<Option<Vec<_>>>()?, PAPER))
}

/// A canvas with heading, on which a scalar function of the vectors is shown in colour; and its plot area.
fn paint(
    sheet: &Sheet<'_>,
    snapshot: &Snapshot,
    plane: &Plane,
    scale: &Scale,
    value: impl Fn([f64; 3]) -> f64,
) -> (Canvas, Area) {
    let Sheet { view, pixels: field, grid, title } = *sheet;
    let [low, high] = plane.window;
    let extent = [0, 1].map(|axis| high[axis] - low[axis]);
    let pixels = field / extent[0].max(extent[1]);
    let [width, height] = extent.map(|extent| (extent * pixels).max(SHORTEST).round());
    let mut heading = Heading::new(view.case, title, &plane_shown(view), snapshot);
    for (side, axis) in [width, height].into_iter().zip(0..) {
        let stretched = side / (extent[axis] * pixels);
        if stretched > 1.01 {
            heading.add(&format!("{} stretched by {stretched:.2}", self::axis(plane.axes[axis])));
        }
    }
    let below = (height + MARGIN.bottom).max(scale::LEAST_HEIGHT + 0.5 * MARGIN.bottom);
    let across = (width + MARGIN.right).max(heading.width() + 0.25 * MARGIN.left);
    let mut canvas = Canvas::new((MARGIN.left + across) as usize, (MARGIN.top + below) as usize, PAPER);
    let from = (MARGIN.left, MARGIN.top);
    let cells = Area { from, to: (from.0 + width, from.1 + height), x: (low[0], high[0]), y: (low[1], high[1]) };
    canvas.paint(cells.from, cells.to, |x, y| {
        let (x, y) = cells.point((x, y));
        scale.colour(value(plane.at(x, y)))
    });
    if grid && !snapshot.is_uniform() {
        block_edges(&mut canvas, view, snapshot, &cells);
    }
    heading.draw(&mut canvas, MARGIN.left);
    (canvas, cells)
}

fn frame(canvas: &mut Canvas, case: &Case, plane: &Plane, cells: &Area) {
    let (unit, name) = extent_unit(case, cells.x.1.max(cells.y.1));
    let of = |(low, high): (f64, f64)| (low / unit, high / unit);
    let area = Area { x: of(cells.x), y: of(cells.y), ..*cells };
    area.frame(canvas);
    let [right, up] = plane.axes.map(axis);
    area.label(canvas, &format!("{right} / {name}"), &format!("{up} / {name}"));
}

/// The unit for lengths up to `longest` cells: its size in cells, and its symbol.
pub(super) fn extent_unit(case: &Case, longest: f64) -> (f64, String) {
    match case.units.si {
        false => (case.scales.length, "L".to_string()),
        true => {
            let (size, prefix) = prefix(longest * case.units.cell);
            (size / case.units.cell, format!("{prefix}m"))
        }
    }
}

pub(super) fn axis(axis: usize) -> &'static str {
    ["x", "y", "z"][axis]
}

/// Position of the plane of a picture, in three dimensions.
fn plane_shown(view: View<'_>) -> String {
    let case = view.case;
    match view.slice {
        Some(slice) if case.units.si => {
            let (size, prefix) = prefix(slice.at * case.units.cell);
            format!(", {} = {:.4} {prefix}m", axis(slice.normal), slice.at * case.units.cell / size)
        }
        Some(slice) => format!(", {} = {:.4} L", axis(slice.normal), slice.at / case.scales.length),
        None if case.dim == 3 => ", middle plane".to_string(),
        None => String::new(),
    }
}

/// The SI prefix for which a value is between 1 and 1000, if available.
fn prefix(value: f64) -> (f64, &'static str) {
    [(1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ")]
        .into_iter()
        .find(|(size, _)| value >= 0.999 * size)
        .unwrap_or((1.0, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Colours, Frames, Quantity};
    use crate::output::axes::INK;
    use crate::output::colours::Colour;
    use crate::output::fixture;
    use crate::output::overlay::SOLID;

    #[test]
    fn a_picture_has_the_size_of_its_field() {
        let (case, snapshot) = fixture::cavity(32);
        for draw in [draw_velocity, draw_vorticity] {
            let image = draw(&case, &snapshot).unwrap().png();
            let reader = png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap();
            let size = (reader.info().width, reader.info().height);
            let margins = (MARGIN.left + MARGIN.right, MARGIN.top + MARGIN.bottom);
            assert_eq!(size, ((1000.0 + margins.0) as u32, (1000.0 + margins.1) as u32));
        }
    }

    #[test]
    fn vorticity_in_a_plane_flow_has_the_colour_of_its_sign() {
        let (case, mut snapshot) = fixture::cavity(32);
        let colour = |snapshot: &Snapshot| {
            let canvas = draw_vorticity(&case, snapshot).unwrap();
            let pixel = |x: f64, y: f64| {
                let scale = FIELD / 32.0;
                canvas.pixel((MARGIN.left + x * scale) as usize, (MARGIN.top + (32.0 - y) * scale) as usize)
            };
            pixel(16.0, 31.0)
        };
        // Below a lid that moves to the right, the flow rotates clockwise.
        let [red, _, blue] = colour(&snapshot);
        assert!(blue > red + 0.1, "{red} {blue}");
        snapshot.components[1..].iter_mut().for_each(|part| part.data.iter_mut().for_each(|value| *value = -*value));
        let [red, _, blue] = colour(&snapshot);
        assert!(red > blue + 0.1, "{red} {blue}");
    }

    fn picture(name: &str, range: Option<[f64; 2]>, colours: Colours) -> Picture {
        let field = Quantity::all(&lbm_runtime::fixture::manifest()).into_iter().find(|field| field.name() == name);
        let field = field.expect("a field");
        let frames = Frames { name: name.into(), every: None, film: None };
        Picture { range, colours, size: 640, ..Picture::of(field, frames) }
    }

    #[test]
    fn a_picture_of_a_field_has_its_size_and_the_colours_of_its_range() {
        let (case, snapshot) = fixture::cavity(32);
        let colour = |canvas: &Canvas, x: f64, y: f64| {
            canvas.pixel((MARGIN.left + 20.0 * x) as usize, (MARGIN.top + 20.0 * (32.0 - y)) as usize)
        };
        let near = |found: Colour, expected: Colour| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02);
        let at = snapshot.index(16, 28, 0);
        let ux = snapshot.get("ux").unwrap()[at] / case.scales.velocity;
        for (range, colours, map) in [
            (Some([-1.0, 1.0]), Colours::Diverging, Map::diverging()),
            (Some([0.0, 2.0]), Colours::Sequential, Map::sequential()),
            (Some([-9.0, -8.0]), Colours::Sequential, Map::sequential()),
        ] {
            let [least, most] = range.unwrap();
            let canvas = draw(&case, &snapshot, &picture("ux", range, colours)).unwrap();
            let expected = map.at((ux - least) / (most - least));
            let found = colour(&canvas, 16.5, 28.5);
            assert!(near(found, expected), "{range:?}: {found:?} {expected:?}");
            let image = canvas.png();
            let reader = png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap();
            assert_eq!(f64::from(reader.info().width), 640.0 + MARGIN.left + MARGIN.right);
        }
        // Without a given range, zero is white for signed fields, and the minimum is darkest for unsigned ones.
        let mut level = snapshot.clone();
        level.components[1].data.fill(0.0);
        level.components[1].data[at] = 0.1;
        let canvas = draw(&case, &level, &picture("ux", None, Colours::Diverging)).unwrap();
        assert!(near(colour(&canvas, 5.5, 5.5), Map::diverging().at(0.5)));
        let canvas = draw(&case, &snapshot, &picture("speed", None, Colours::Sequential)).unwrap();
        assert!(near(colour(&canvas, 0.5, 0.5), Map::sequential().at(0.0)));
    }

    #[test]
    fn a_part_of_the_plane_fills_the_picture_and_streamlines_are_drawn_over_it() {
        let (case, snapshot) = fixture::cavity(32);
        let part =
            Picture { window: Some([[8.0, 16.0], [24.0, 32.0]]), ..picture("ux", Some([-1.0, 1.0]), Colours::Plasma) };
        let canvas = draw(&case, &snapshot, &part).unwrap();
        for (x, y) in [(10.5, 20.5), (16.5, 30.5), (22.5, 17.5)] {
            let at = snapshot.index(x as usize, y as usize, 0);
            let value = snapshot.get("ux").unwrap()[at] / case.scales.velocity;
            let found =
                canvas.pixel((MARGIN.left + 40.0 * (x - 8.0)) as usize, (MARGIN.top + 40.0 * (32.0 - y)) as usize);
            let expected = Map::of(Colours::Plasma).at(0.5 * (value + 1.0));
            assert!(
                found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02),
                "({x}, {y}): {found:?} {expected:?}"
            );
        }
        let with_lines = draw(&case, &snapshot, &Picture { streamlines: true, ..part }).unwrap();
        let differ = (0..640 * 640).filter(|at| {
            let (x, y) = (MARGIN.left as usize + at % 640, MARGIN.top as usize + at / 640);
            canvas.pixel(x, y) != with_lines.pixel(x, y)
        });
        assert!((20_000..200_000).contains(&differ.count()));
    }

    #[test]
    fn a_scalar_is_drawn_where_there_is_one() {
        let (case, snapshot) = fixture::cavity(16);
        assert!(draw_scalar(&case, &snapshot, "rho").is_some());
        assert!(draw_scalar(&case, &snapshot, "phi").is_none());
    }

    #[test]
    fn solids_are_filled_in_every_picture() {
        let (mut case, snapshot) = fixture::cavity(32);
        fixture::put_cylinder(&mut case, [16.0, 20.0], 5.0);
        let scalar = |case: &Case, snapshot: &Snapshot| draw_scalar(case, snapshot, "rho");
        for draw in [draw_velocity, draw_vorticity, scalar] {
            let canvas = draw(&case, &snapshot).unwrap();
            let pixel = |x: f64, y: f64| {
                let scale = FIELD / 32.0;
                canvas.pixel((MARGIN.left + x * scale) as usize, (MARGIN.top + (32.0 - y) * scale) as usize)
            };
            let is = |x: f64, y: f64, colour: Colour| pixel(x, y).iter().zip(colour).all(|(a, b)| (a - b).abs() < 1e-3);
            for (x, y) in [(16.0, 20.0), (12.0, 21.0), (16.0, 24.5)] {
                assert!(is(x, y, SOLID), "({x}, {y})");
            }
            assert!(is(21.0, 20.0, INK), "the outline");
            assert!(!is(22.0, 20.0, SOLID));
        }
    }

    #[test]
    fn a_grid_without_a_flow_shows_its_solids_on_planes_normal_to_all_axes() {
        let (mut case, snapshot) = fixture::cavity(32);
        fixture::put_cylinder(&mut case, [16.0, 20.0], 5.0);
        let grid = Snapshot::uniform(0, snapshot.domain, vec![]);
        let solid = |canvas: &Canvas, at: [f64; 2], top: f64| {
            let pixel = canvas.pixel((MARGIN.left + at[0]) as usize, (top + MARGIN.top + at[1]) as usize);
            pixel.iter().zip(SOLID).all(|(a, b)| (a - b).abs() < 1e-3)
        };
        let flat = draw_grid(&case, &fixture::manifest(), &grid).unwrap();
        let scale = FIELD / 32.0;
        assert!(solid(&flat, [16.0 * scale, 12.0 * scale], 0.0) && !solid(&flat, [16.0 * scale, 26.0 * scale], 0.0));
        let both = Canvas::below_each_other(&[flat, Canvas::new(3, 5, SOLID)], PAPER);
        let last = both.png().len();
        assert!(last > 0 && both.pixel(2, 1245) == both.pixel(2, 1246));
    }

    #[test]
    fn a_fluid_at_rest_is_drawn_without_lines() {
        let (mut case, mut snapshot) = fixture::cavity(16);
        snapshot.components[1].data.fill(0.0);
        snapshot.components[2].data.fill(0.0);
        case.walls.clear();
        assert!(draw_velocity(&case, &snapshot).is_some() && draw_vorticity(&case, &snapshot).is_some());
    }

    #[test]
    fn without_velocity_there_is_no_picture() {
        let (case, mut snapshot) = fixture::cavity(16);
        snapshot.components.truncate(1);
        assert!(draw_velocity(&case, &snapshot).is_none() && draw_vorticity(&case, &snapshot).is_none());
    }

    #[test]
    fn prefixes_fit() {
        assert_eq!(prefix(0.01), (1e-3, "m"));
        assert_eq!(prefix(2.0), (1.0, ""));
    }
}
