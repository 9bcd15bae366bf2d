//! Three-dimensional views: isosurfaces of a field and streamlines, coloured by another field, with the solids and the
//! edges of the domain.
//!
//! Surfaces are generated and drawn a few tiles at a time and never stored.

use lbm_runtime::geometry::solid::Shape;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::axes::{Area, FAINT, INK, PAPER};
use super::camera::{Camera, box_corner};
use super::canvas::{Align, Canvas, Pixel};
use super::colours::{Colour, Map};
use super::derived::Derived;
use super::heading::Heading;
use super::hull::{Hull, Point, dot};
use super::isosurface::{Isosurface, Vertex};
use super::march::Tile;
use super::overlay::SOLID;
use super::picture::{axis, extent_unit};
use super::raster::{Facet, Raster};
use super::scale::{self, Scale, bar_unit};
use super::tubes::tubes;
use crate::case::{Case, View};

/// Margins around the image of the domain, in pixels.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 150.0;
const BOTTOM: f64 = 90.0;
/// Colours of an isosurface and of streamlines without a colouring field.
const PLAIN: Colour = [0.36, 0.58, 0.74];
const LINES: Colour = [0.86, 0.42, 0.22];
/// Radius of a streamline, as a part of the longer side of the image.
const THICKNESS: f64 = 0.0022;
/// Number of cells whose triangles are generated at a time.
const AT_ONCE: usize = 1 << 18;
/// Distance in pixels of axis labels from the edges.
const APART: f64 = 30.0;

/// Draws a view. `None` if its fields depend on the velocity and the snapshot has none.
pub(super) fn draw(case: &Case, snapshot: &Snapshot, view: &View) -> Option<Canvas> {
    let colour = match &view.colour {
        Some(colour) => Some(Derived::new(snapshot, colour)?),
        None => None,
    };
    let surface = match &view.isosurface {
        Some((field, value)) => {
            let derived = Derived::new(snapshot, field)?;
            Some(Isosurface::new(snapshot, &derived, colour.as_ref(), value * bar_unit(case, field).0))
        }
        None => None,
    };
    let lines = match view.seeds.is_empty() {
        true => vec![],
        false => {
            let solids = case.solids_at(snapshot.block(), snapshot.step, &snapshot.bodies);
            tubes(snapshot, &solids, &view.seeds, colour.as_ref())
        }
    };
    let tiles = Tiles::new(snapshot);
    let of_lines = lines.iter().flatten().map(|point| point.colour).fold([f64::MAX, f64::MIN], wider);
    let scale = view.colour.as_ref().map(|of| {
        let unit = bar_unit(case, of).0;
        let map = Map::of(view.colours);
        let found = || range(surface.as_ref(), &tiles, of_lines, view, unit);
        Scale::linear(map, view.range.map_or_else(found, |ends| ends.map(|end| end * unit)))
    });

    let camera = Camera::new(case.size, view.from, view.size as f64);
    let mut raster = Raster::new(camera.size[0] as usize, camera.size[1] as usize);
    tiles.each_of_solids(case, |triangles| {
        // Back faces of solids are not drawn, so that one can look through the near wall of a pipe.
        let facet = |points: &[Point; 3]| {
            let seen = dot(super::hull::normal(points.map(|point| point.at)), camera.axes[2]) > 0.0;
            seen.then(|| points.map(|point| camera.lit(point.at, point.normal, SOLID)))
        };
        raster.draw(&triangles.par_iter().filter_map(facet).collect::<Vec<Facet>>());
    });
    let coloured = |value: f64, plain: Colour| scale.as_ref().map_or(plain, |scale| scale.colour(value));
    let radius = THICKNESS * view.size as f64 / camera.scale;
    let part = |pair: &[super::tubes::Point]| {
        let ends = [pair[0], pair[1]].map(|point| (point.at, coloured(point.colour, LINES)));
        camera.tube(ends, radius).into_iter().flatten()
    };
    raster.draw(&lines.iter().flat_map(|line| line.windows(2).flat_map(part)).collect::<Vec<Facet>>());
    let mut shown = of_lines;
    tiles.each(
        |tile| surface.as_ref().map_or_else(Vec::new, |surface| surface.triangles(tile)),
        |triangles| {
            shown = extremes(shown, &triangles);
            let lit = |vertex: Vertex| camera.lit(vertex.at, vertex.slope, coloured(vertex.colour, PLAIN));
            raster.draw(&triangles.par_iter().map(|corners| corners.map(lit)).collect::<Vec<Facet>>());
        },
    );

    let [width, height] = camera.size;
    let what = view.isosurface.as_ref().map_or(", streamlines".to_string(), |(field, value)| {
        let (name, (_, symbol)) = (field.name().replace('_', " "), bar_unit(case, field));
        let unit = symbol.strip_prefix(&format!("{name} / ")).map_or(String::new(), |unit| format!(" {unit}"));
        format!(", {name} = {value}{unit}")
    });
    let heading = Heading::new(case, None, &what, snapshot);
    let across = (width + RIGHT).max(heading.width() + 0.5 * LEFT);
    let below = height.max(scale::LEAST_HEIGHT) + BOTTOM;
    let mut canvas = Canvas::new((LEFT + across) as usize, (TOP + below) as usize, PAPER);
    let (from, to) = ((LEFT, TOP), (LEFT + width, TOP + height));
    let edges = edges(&camera, case.size);
    let lines = |hidden: bool| -> Vec<Vec<Pixel>> {
        edges.iter().filter(|edge| edge.hidden == hidden).map(|edge| edge.ends.to_vec()).collect()
    };
    canvas.lines(lines(true), 1.4, FAINT, 0.7);
    canvas.lay(from, |x, y| raster.pixel(x, y), camera.size.map(|side| side as usize));
    canvas.lines(lines(false), 1.4, FAINT, 0.7);
    name_axes(&mut canvas, case, &edges, (LEFT + 0.5 * width, TOP + 0.5 * height));
    heading.draw(&mut canvas, LEFT);
    if let (Some(scale), Some(of)) = (scale, &view.colour) {
        let (unit, label) = bar_unit(case, of);
        let area = Area { from, to, x: (0.0, 1.0), y: (0.0, 1.0) };
        scale.bar(&mut canvas, area, shown, &[], (unit, &label));
    }
    Some(canvas)
}

/// The tiles of a snapshot.
pub(super) struct Tiles<'a> {
    snapshot: &'a Snapshot,
    count: usize,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Tiles { snapshot, count: Tile::count(snapshot) }
    }

    /// Generates the content of each tile, a few tiles in parallel, and passes it on in order.
    pub(super) fn each<T: Send>(&self, make: impl Fn(&Tile) -> Vec<T> + Sync, mut take: impl FnMut(Vec<T>)) {
        let of_tile = Tile::new(self.snapshot, 0).cells().max(1);
        let at_once = (AT_ONCE / of_tile).max(1);
        for first in (0..self.count).step_by(at_once) {
            let tiles = (first..(first + at_once).min(self.count)).into_par_iter();
            take(tiles.flat_map_iter(|tile| make(&Tile::new(self.snapshot, tile))).collect());
        }
    }

    /// Generates the surfaces of the solids of a case, and passes them on.
    pub(super) fn each_of_solids(&self, case: &Case, take: impl FnMut(Vec<[Point; 3]>)) {
        if case.solids.is_empty() {
            return;
        }
        let snapshot = self.snapshot;
        let solids = case.solids_at(snapshot.block(), snapshot.step, &snapshot.bodies);
        let ends: Vec<bool> = case.solids.iter().map(|body| !matches!(body.solid.shape, Shape::Outside(_))).collect();
        let hull = Hull { snapshot, solids: &solids, ends: &ends, only: None };
        self.each(|tile| hull.triangles(tile), take);
    }
}

/// Range of the colouring field on the surface and the lines: symmetric about zero for signed fields, from zero for
/// magnitudes. If it is empty, it is extended to one unit.
fn range(surface: Option<&Isosurface<'_>>, tiles: &Tiles<'_>, of_lines: [f64; 2], view: &View, unit: f64) -> [f64; 2] {
    let mut ends = of_lines;
    if let Some(surface) = surface {
        tiles.each(|tile| surface.triangles(tile), |triangles| ends = extremes(ends, &triangles));
    }
    let [mut least, mut most] = ends;
    if least > most {
        (least, most) = (0.0, 0.0);
    }
    let of = view.colour.as_ref();
    if of.is_some_and(|of| of.is_signed()) {
        let far = most.max(-least);
        (least, most) = (-far, far);
    } else if of.is_some_and(|of| of.is_magnitude()) {
        least = 0.0;
    }
    if most > least { [least, most] } else { [least, least + unit] }
}

/// Minimum and maximum of the colouring field over `ends` and some triangles.
fn extremes(ends: [f64; 2], triangles: &[[Vertex; 3]]) -> [f64; 2] {
    triangles.iter().flatten().map(|vertex| vertex.colour).fold(ends, wider)
}

fn wider([least, most]: [f64; 2], value: f64) -> [f64; 2] {
    if value.is_finite() { [least.min(value), most.max(value)] } else { [least, most] }
}

/// An edge of the domain on a canvas.
struct Edge {
    axis: usize,
    ends: [Pixel; 2],
    /// Whether it lies behind everything in the domain.
    hidden: bool,
}

fn edges(camera: &Camera, size: [usize; 3]) -> Vec<Edge> {
    let corners = (0..8).map(|at| box_corner(size, at));
    let far = corners.enumerate().map(|(at, corner)| (dot(corner, camera.axes[2]), at));
    let (_, far) = far.fold((f64::MAX, 0), |far, corner| if corner.0 < far.0 { corner } else { far });
    let pixel = |at: usize| {
        let [x, y] = camera.place(box_corner(size, at));
        (LEFT + x, TOP + y)
    };
    let of_axis = |axis: usize| {
        let lower = (0..8usize).filter(move |at| at >> axis & 1 == 0);
        lower.map(move |at| (axis, at, at | 1 << axis))
    };
    let edge =
        |(axis, a, b): (usize, usize, usize)| Edge { axis, ends: [pixel(a), pixel(b)], hidden: a == far || b == far };
    (0..3).flat_map(of_axis).map(edge).collect()
}

/// Labels one edge along each axis with the name of the axis and its length.
fn name_axes(canvas: &mut Canvas, case: &Case, edges: &[Edge], centre: Pixel) {
    let longest = case.size.iter().copied().max().unwrap_or(1) as f64;
    let (unit, symbol) = extent_unit(case, longest);
    for along in 0..3 {
        let middle = |edge: &&Edge| {
            let [a, b] = edge.ends;
            (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1))
        };
        // The lowest of the horizontal edges has free space below, the leftmost of the vertical ones on the left.
        let outwards = |edge: &&Edge| {
            let (x, y) = middle(edge);
            if along == 2 { -x } else { y }
        };
        let of_axis = edges.iter().filter(|edge| edge.axis == along);
        let Some(edge) = of_axis.max_by(|a, b| outwards(a).total_cmp(&outwards(b))) else { continue };
        let [a, b] = edge.ends;
        let (x, y) = middle(&edge);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let long = dx.hypot(dy);
        if long < APART {
            continue;
        }
        // Perpendicular to the edge, away from the centre.
        let side = if -dy * (x - centre.0) + dx * (y - centre.1) < 0.0 { -1.0 } else { 1.0 };
        let at = (x - side * dy / long * APART, y + side * dx / long * APART + 8.0);
        let extent = (case.size[along] as f64 / unit * 1e4).round() / 1e4;
        let text = format!("{}: {extent} {symbol}", axis(along));
        if along == 2 && dx.abs() < 0.2 * long {
            canvas.text((at.0 + 8.0, 0.5 * (a.1 + b.1)), &text, 22.0, Align::Centre, INK, true);
        } else {
            canvas.text(at, &text, 22.0, Align::Centre, INK, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::{manifest, snapshots};
    use lbm_runtime::geometry::Domain;
    use lbm_runtime::geometry::solid::Solid;

    use super::*;
    use crate::case::{Colours, Frames, Quantity, SolidBody};
    use crate::output::fixture;

    const SIZE: usize = 32;

    fn quantity(name: &str) -> Quantity {
        let mut manifest = manifest();
        manifest.dim = 3;
        manifest.fields.iter_mut().filter(|field| field.name == "u").for_each(|field| field.components = 3);
        Quantity::all(&manifest).into_iter().find(|field| field.name() == name).expect("a field")
    }

    fn case() -> Case {
        let (mut case, _) = fixture::cavity(SIZE);
        (case.dim, case.size, case.periodic) = (3, [SIZE; 3], [false; 3]);
        (case.scales.velocity, case.scales.length) = (0.0, SIZE as f64);
        case.walls.clear();
        case
    }

    /// Decreases with the distance from the centre: 0.5 at a distance of 9 cells.
    fn ball([x, y, z]: [f64; 3]) -> f64 {
        1.4 - 0.1 * [x - 16.0, y - 16.0, z - 16.0].iter().map(|off| off * off).sum::<f64>().sqrt()
    }

    fn snapshot(levels: bool) -> Snapshot {
        let domain = Domain { dim: 3, size: [SIZE; 3], periodic: [false; 3] };
        let fields: [snapshots::Field<'_>; 4] =
            [("rho", &|_| 1.0), ("ux", &ball), ("uy", &|[x, _, _]| x), ("uz", &|_| 0.0)];
        let refines = |block: lbm_runtime::geometry::Block| levels && block.level == 0 && block.place[0] >= 4;
        snapshots::refined(domain, refines, &fields)
    }

    fn view(colour: Option<&str>) -> View {
        View {
            frames: Frames { name: "ball".into(), every: None, film: None },
            isosurface: Some((quantity("ux"), 0.5)),
            seeds: vec![],
            colour: colour.map(quantity),
            range: Some([0.0, 32.0]),
            colours: Colours::Sequential,
            from: [0.0, -1.0, 0.0],
            size: 320,
        }
    }

    /// The colour of a pixel in a scene viewed along y.
    fn seen(canvas: &Canvas, x: f64, z: f64) -> Colour {
        canvas.pixel((LEFT + 10.0 * x) as usize, (TOP + 10.0 * (SIZE as f64 - z)) as usize)
    }

    #[test]
    fn a_ball_is_a_shaded_disc_where_it_is() {
        let canvas = draw(&case(), &snapshot(false), &view(None)).expect("a view");
        let is_paper = |colour: Colour| colour == PAPER;
        for at in 0..32 {
            let angle = f64::from(at) / 32.0 * std::f64::consts::TAU;
            let on = |radius: f64| seen(&canvas, 16.0 + radius * angle.cos(), 16.0 + radius * angle.sin());
            assert!(!is_paper(on(8.7)) && is_paper(on(9.3)), "{at}: {:?} {:?}", on(8.7), on(9.3));
        }
        // Blue of one hue, brightest on the side of the light and dark on the other.
        let light = |x: f64, z: f64| seen(&canvas, x, z)[2];
        assert!(light(13.0, 20.0) > 0.7 && light(21.0, 10.0) < 0.5 * light(13.0, 20.0), "{}", light(21.0, 10.0));
    }

    #[test]
    fn colours_are_those_of_the_other_field_and_their_bar() {
        let canvas = draw(&case(), &snapshot(false), &view(Some("uy"))).expect("a view");
        // The field is x; shading scales all channels equally.
        let map = Map::sequential();
        for x in [9.5, 13.0, 18.0, 22.0] {
            let (found, expected) = (seen(&canvas, x, 16.0), map.at(x / 32.0));
            let light = found[1] / expected[1];
            assert!((0..3).all(|channel| (found[channel] - light * expected[channel]).abs() < 0.03), "{x}: {found:?}");
        }
    }

    #[test]
    fn streamlines_are_where_the_flow_goes_and_behind_what_is_in_front() {
        let domain = Domain { dim: 3, size: [SIZE; 3], periodic: [false; 3] };
        let fields: [snapshots::Field<'_>; 4] = [
            ("rho", &|_| 1.0),
            ("ux", &|_| 0.1),
            ("uy", &|_| 0.0),
            ("uz", &|[x, ..]| 0.05 * f64::from(u8::from(x > 16.0))),
        ];
        let uniform = snapshots::refined(domain, |_| false, &fields);
        let lines = View { isosurface: None, seeds: vec![[2.0, 4.0, 9.95]], ..view(None) };
        let canvas = draw(&case(), &uniform, &lines).expect("a view");
        let is_line = |x: f64, z: f64| seen(&canvas, x, z) != PAPER;
        // Level up to the middle, then half as steep as it is long.
        assert!(is_line(8.0, 9.95) && is_line(28.0, 15.95) && !is_line(8.0, 11.0) && !is_line(28.0, 14.0));
        let mut with_ball = case();
        let shape = Shape::Sphere { centre: [8.0, 2.0, 10.0], radius: 1.5 };
        let solid = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let body = SolidBody {
            of: 0,
            part: None,
            formulas: vec![],
            solid,
            area: 1.0,
            nusselt: None,
            moves: None,
            layer: None,
        };
        with_ball.solids = vec![body];
        let hidden = draw(&with_ball, &uniform, &lines).expect("a view");
        let same = |x: f64| seen(&hidden, x, 9.95) == seen(&canvas, x, 9.95);
        assert!(!same(8.0) && same(12.0));
        let coloured = View { colour: Some(quantity("ux")), range: Some([0.0, 0.2]), ..lines };
        let middle = seen(&draw(&case(), &uniform, &coloured).expect("a view"), 8.0, 9.95);
        let (expected, light) = (Map::sequential().at(0.5), middle[1] / Map::sequential().at(0.5)[1]);
        assert!((0..3).all(|channel| (middle[channel] - light * expected[channel]).abs() < 0.05), "{middle:?}");
    }

    #[test]
    fn a_field_on_two_levels_has_the_view_of_one_level() {
        let (one, two) = (draw(&case(), &snapshot(false), &view(None)), draw(&case(), &snapshot(true), &view(None)));
        let (one, two) = (one.expect("a view"), two.expect("a view"));
        let mut differ = 0;
        for at in 0..320 * 320 {
            let (x, z) = ((at % 320) as f64 / 10.0, (at / 320) as f64 / 10.0);
            let (a, b) = (seen(&one, x, z), seen(&two, x, z));
            differ += usize::from(a.iter().zip(b).any(|(a, b)| (a - b).abs() > 0.06));
            let inside = (x - 16.0).hypot(z - 16.0) < 8.7;
            assert!(!inside || b != PAPER, "a hole at ({x}, {z})");
        }
        assert!(differ < 320 * 320 / 200, "{differ} pixels");
    }

    #[test]
    fn a_view_is_the_same_on_any_number_of_threads() {
        let image = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let of_speed = View { range: None, ..view(Some("speed")) };
            pool.install(|| draw(&case(), &snapshot(true), &of_speed).expect("a view").png())
        };
        assert!(image(1) == image(3));
    }

    #[test]
    fn a_solid_hides_what_is_behind_it_and_one_looks_through_the_near_wall_of_a_pipe() {
        let mut case = case();
        let body = |shape: Shape| {
            let solid = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
            SolidBody { of: 0, part: None, formulas: vec![], solid, area: 1.0, nusselt: None, moves: None, layer: None }
        };
        let is_grey = |colour: Colour| colour[0] == colour[1] && colour[1] == colour[2] && colour != PAPER;
        case.solids = vec![body(Shape::Sphere { centre: [16.0, 3.5, 16.0], radius: 3.0 })];
        let canvas = draw(&case, &snapshot(false), &view(None)).expect("a view");
        assert!(is_grey(seen(&canvas, 16.0, 16.0)) && !is_grey(seen(&canvas, 20.0, 16.0)));
        // A pipe along x with the ball inside.
        let pipe = Shape::Cylinder { centre: [16.0; 3], axis: [1.0, 0.0, 0.0], radius: 12.0, length: None };
        case.solids = vec![body(Shape::Outside(Box::new(pipe)))];
        let canvas = draw(&case, &snapshot(false), &view(None)).expect("a view");
        assert!(
            !is_grey(seen(&canvas, 16.0, 16.0))
                && is_grey(seen(&canvas, 4.0, 16.0))
                && seen(&canvas, 4.0, 30.0) == PAPER
        );
    }

    #[test]
    fn the_camera_sees_the_whole_domain_however_it_looks() {
        for from in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.6, -0.64, 0.48]] {
            let camera = Camera::new([8, 16, 4], from, 400.0);
            let places: Vec<[f64; 2]> = (0..8).map(|at| camera.place(box_corner([8, 16, 4], at))).collect();
            let inside = |place: &[f64; 2]| (0..2).all(|at| (-1e-9..=camera.size[at] + 1e-9).contains(&place[at]));
            assert!(places.iter().all(inside), "{from:?}: {places:?}");
            assert!((camera.size[0].max(camera.size[1]) - 400.0).abs() < 1.0);
            assert_eq!(edges(&camera, [8, 16, 4]).iter().filter(|edge| edge.hidden).count(), 3);
        }
    }
}
