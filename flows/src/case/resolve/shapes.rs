//! Shapes of solids in cells: surfaces of files, whose corners are welded and whose holes are closed on request, are turned, cut and placed.

use lbm_runtime::geometry::solid::{Hole, Image, Open, Shape, Surface, Vector, Welds};

use super::resolver::{Resolver, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::keys::shapes::RawShape;
use crate::case::keys::solids::RawSolid;

/// How far corners of a surface may be apart that are meant to be one, over its extent: much less than a cell.
const WELDED: f64 = 1e-5;

/// Beyond every domain, for extents that have no end.
pub(super) const FAR: f64 = f64::INFINITY;

impl Resolver<'_> {
    /// In cells of the coarsest level.
    pub(super) fn shape(&mut self, given: &Spanned<RawSolid>, cell: f64) -> Option<Shape> {
        let flat = self.dim == 2;
        let place = |resolver: &mut Self, what: &str, point: &Spanned<Vec<Spanned<f64>>>, rest: f64| {
            if point.value.len() != resolver.dim {
                resolver.wrong_dimension(&point.span, what, point.value.len());
                return None;
            }
            Some([0, 1, 2].map(|axis| point.value.get(axis).map_or(rest, |at| at.value / cell)))
        };
        match &given.value.shape {
            RawShape::Sphere { .. } | RawShape::Stl { section: None, .. } if flat => {
                let message = format!(
                    "{} has two axes: a solid is a `cylinder`, which is a circle, an `ellipsoid`, which is an ellipse, a `box`, an `image` or a section of an `stl`",
                    self.manifest.main().lattice
                );
                let help = matches!(given.value.shape, RawShape::Stl { .. })
                    .then(|| "say where it is cut: `section = { normal = \"z\", at = 0 }`".to_string());
                self.report.add(diag::WRONG_DIMENSION, &given.span, message, "has three axes", help)
            }
            RawShape::Stl { section: Some(section), .. } if !flat => {
                let message = "a surface is cut in two dimensions only";
                self.report.add(diag::WRONG_DIMENSION, &section.span, message, "has no effect on a body", None)
            }
            RawShape::Sphere { centre, radius } => {
                let centre = place(self, "`centre`", centre, 0.0)?;
                Some(Shape::Sphere { centre, radius: radius.value / cell })
            }
            RawShape::Ellipsoid { centre, radii } => {
                let (centre, half) = (place(self, "`centre`", centre, 0.0)?, place(self, "`radii`", radii, FAR)?);
                if let Some(axis) = (0..self.dim).find(|axis| half[*axis] <= 0.0) {
                    let message = format!("the radius along {} must be positive", axis_name(axis));
                    return self.report.add(diag::BAD_VALUE, &radii.value[axis].span, message, "not positive", None);
                }
                Some(Shape::Ellipsoid { centre, radii: half })
            }
            RawShape::Box { from, to } => {
                let (low, high) = (place(self, "`from`", from, -FAR)?, place(self, "`to`", to, FAR)?);
                if let Some(axis) = (0..self.dim).find(|axis| low[*axis] >= high[*axis]) {
                    let message = format!("along {} the box ends where it begins, or before", axis_name(axis));
                    return self.report.add(diag::BAD_VALUE, &to.span, message, "not beyond `from`", None);
                }
                Some(Shape::Box { from: low, to: high })
            }
            RawShape::Cylinder { centre, radius, axis, length } => {
                let centre = place(self, "`centre`", centre, 0.0)?;
                let extra = [axis.as_ref().map(|axis| &axis.span), length.as_ref().map(|length| &length.span)];
                if let (true, Some(span)) = (flat, extra.into_iter().flatten().next()) {
                    let message = "in two dimensions a cylinder is a circle";
                    return self.report.add(diag::WRONG_DIMENSION, span, message, "has no effect on a circle", None);
                }
                let axis = match axis {
                    None if flat => [0.0, 0.0, 1.0],
                    None => {
                        let message = "`axis` is missing: the direction of the cylinder";
                        let help = "for example `axis = [0, 0, 1]`".to_string();
                        return self.report.add(diag::MISSING_KEY, &given.span, message, "not given here", help);
                    }
                    Some(axis) => self.direction(axis)?,
                };
                let length = length.as_ref().map(|length| length.value / cell);
                Some(Shape::Cylinder { centre, axis, radius: radius.value / cell, length })
            }
            RawShape::Stl { file, surface, scale, centre, rotate, section, close, .. } => {
                let Some(surface) = surface else {
                    let message = format!("`{}` has not been read", file.value);
                    return self.report.add(diag::NO_SURFACE, &file.span, message, "cannot be read", None);
                };
                let scale = scale.as_ref().map_or(1.0, |scale| scale.value) / cell;
                let mut open = surface.open();
                let welded = open.and_then(|_| self.welded(&file.span, surface));
                let surface = welded.as_ref().unwrap_or(surface);
                let closed = close.as_ref().map(|most| self.without_holes(most, surface, most.value / cell / scale));
                let surface = closed.as_ref().unwrap_or(surface);
                if welded.is_some() || closed.is_some() {
                    open = surface.open();
                }
                let with_holes = open.map(|_| surface.with_holes());
                if let Some(open) = &open {
                    self.may_be_open(&given.value, file, open)?;
                }
                let surface = with_holes.as_ref().unwrap_or(surface);
                let turns = match rotate {
                    Some(turns) if turns.value.len() != 3 => {
                        self.wrong_dimension(&turns.span, "`rotate`", turns.value.len());
                        return None;
                    }
                    Some(turns) => [0, 1, 2].map(|axis| turns.value[axis].value.to_radians()),
                    None => [0.0; 3],
                };
                let turns = turns.map(f64::sin_cos);
                let turned = match section {
                    None => surface.map(|at| rotated(at.map(|at| at * scale), turns)),
                    Some(Spanned { value: plane, span }) => {
                        let turned = surface.map(|at| rotated(at, turns));
                        let Some(section) = turned.section(plane.normal, plane.at) else {
                            let (from, to) = turned.bounds();
                            let message = format!(
                                "the plane does not cut the surface, which goes from {} to {} along {}",
                                short(from[plane.normal]),
                                short(to[plane.normal]),
                                axis_name(plane.normal)
                            );
                            return self.report.add(diag::NO_SURFACE, span, message, "beside the surface", None);
                        };
                        section.map(|[x, y, z]| [x * scale, y * scale, z])
                    }
                };
                let (from, to) = turned.bounds();
                if turned.triangles() == 0 || from.iter().chain(&to).any(|at| !at.is_finite()) {
                    let extent =
                        if turned.triangles() == 0 { "smaller than any cell" } else { "larger than any domain" };
                    let message = format!("in the units of the domain the surface is {extent}");
                    let help = "`scale` is what a unit of the file is: cells, or a length in SI units".to_string();
                    return self.report.add(diag::NO_SURFACE, &file.span, message, "of no size", help);
                }
                let Some(centre) = centre else { return Some(Shape::Surface(turned)) };
                let centre = place(self, "`centre`", centre, 0.0)?;
                let (from, to) = Shape::Surface(turned.clone()).bounds();
                let by = [0, 1, 2].map(|axis| centre[axis] - 0.5 * (from[axis] + to[axis]));
                Some(Shape::Surface(turned).shifted(by))
            }
            RawShape::Image { file, voxels, from, scale, .. } => {
                let Some(voxels) = voxels else {
                    let message = format!("`{}` has not been read", file.value);
                    return self.report.add(diag::NO_IMAGE, &file.span, message, "cannot be read", None);
                };
                let [nx, ny, nz] = voxels.size();
                if flat != (nz == 1) {
                    let message = format!("the image has {nx} x {ny} x {nz} voxels, and the domain {} axes", self.dim);
                    let help = "a stack of pictures is named with a `*`, `slice_*.png`".to_string();
                    let help = (!flat).then_some(help);
                    return self.report.add(diag::WRONG_DIMENSION, &file.span, message, "of another dimension", help);
                }
                let width = scale.as_ref().map_or(1.0, |scale| scale.value) / cell;
                let from = match from {
                    Some(from) => place(self, "`from`", from, 0.0)?,
                    None => [0.0; 3],
                };
                let from = if flat { [from[0], from[1], -0.5 * width] } else { from };
                Some(Shape::Image(Image::new(voxels.clone(), from, width)))
            }
        }
    }

    /// An open surface with corners welded that nearly meet; says so. None where nothing is to be welded.
    fn welded(&mut self, span: &Span, surface: &Surface) -> Option<Surface> {
        let (from, to) = surface.bounds();
        let extent = (0..3).map(|axis| to[axis] - from[axis]).fold(0.0, f64::max);
        let (welded, found) = surface.weld(WELDED * extent);
        let Welds { corners, farthest, doubled, divided } = found;
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        };
        let moved = counted(corners, "corner is moved", "corners are moved")
            .map(|what| format!("{what} to another, by {} of the file's units at most", short(farthest)));
        let all = [
            moved,
            counted(doubled, "triangle is left out that is there twice", "triangles are left out that are there twice"),
            counted(
                divided,
                "triangle is divided at corners of others on its edge",
                "triangles are divided at corners of others on their edges",
            ),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() {
            return None;
        }
        let still = if welded.open().is_some() { ", and some are still open" } else { "" };
        let message = format!("edges of the surface are open, and are welded{still}: {}", all.join("; "));
        let help = format!(
            "what is nearer than {} of the file's units, 1e-5 of its extent, counts as one place; export it with shared corners to have none of this",
            short(WELDED * extent)
        );
        self.report.add::<()>(diag::WELDED, span, message, "does not quite meet", help);
        Some(welded)
    }

    /// The surface with holes closed that are at most so wide, in units of the file; says which.
    fn without_holes(&mut self, close: &Spanned<f64>, surface: &Surface, most: f64) -> Surface {
        /// Holes that are listed.
        const LISTED: usize = 20;
        let (closed, holes) = surface.close(most);
        if holes.is_empty() {
            let message = "`close` has no effect: the surface has no hole that is so narrow";
            self.report.add::<()>(diag::NO_EFFECT, &close.span, message, "has no effect", None);
            return closed;
        }
        let hole = |hole: &Hole| {
            let at = hole.at.map(short).join(", ");
            format!("{} edges around ({at}), {} wide", hole.edges, short(hole.extent))
        };
        let listed: Vec<String> = holes.iter().take(LISTED).map(hole).collect();
        let more = if holes.len() > LISTED { format!("; and {} more", holes.len() - LISTED) } else { String::new() };
        let plural = if holes.len() == 1 { "hole is" } else { "holes are" };
        let message = format!("{} {plural} closed, in units of the file: {}{more}", holes.len(), listed.join("; "));
        let help = "look whether the surface is meant to be whole there".to_string();
        self.report.add::<()>(diag::HOLES_CLOSED, &close.span, message, "closes holes", help);
        closed
    }

    /// Refuses a surface with holes that moves, or of which a section is used: rays count what is inside there.
    fn may_be_open(&mut self, given: &RawSolid, file: &Spanned<String>, open: &Open) -> Option<()> {
        let section = matches!(given.shape, RawShape::Stl { section: Some(_), .. });
        let what = match (section, &given.motion) {
            (true, _) => "a section of it is used",
            (_, Some(_)) => "it moves",
            _ => return Some(()),
        };
        let at = open.at.map(short).join(", ");
        let edges = if open.edges == 1 { "1 edge has".to_string() } else { format!("{} edges have", open.edges) };
        let message = format!(
            "the surface is not closed, and {what}: {edges} no triangle on one side, or one turned over; one is at ({at}) of the file"
        );
        let help = "close its holes and give all triangles outward normals; mesh editors call that making it manifold; `close = ...` \
                    closes holes up to that width"
            .to_string();
        self.report.add(diag::OPEN_SURFACE, &file.span, message, "not watertight", help)
    }

    /// A vector of length 1.
    pub(super) fn direction(&mut self, axis: &Spanned<Vec<Spanned<f64>>>) -> Option<Vector> {
        if axis.value.len() != 3 {
            self.wrong_dimension(&axis.span, "`axis`", axis.value.len());
            return None;
        }
        let norm = super::resolver::norm(axis.value.iter().map(|along| along.value));
        if norm == 0.0 {
            return self.report.add(diag::BAD_VALUE, &axis.span, "`axis` has no direction", "all zero", None);
        }
        Some([0, 1, 2].map(|at| axis.value[at].value / norm))
    }
}

/// A point turned about x, then y, then z, by angles with these sines and cosines.
fn rotated(at: Vector, turns: [(f64, f64); 3]) -> Vector {
    (0..3).fold(at, |at, axis| {
        let (one, other, (sine, cosine)) = ((axis + 1) % 3, (axis + 2) % 3, turns[axis]);
        let mut turned = at;
        turned[one] = cosine * at[one] - sine * at[other];
        turned[other] = sine * at[one] + cosine * at[other];
        turned
    })
}
