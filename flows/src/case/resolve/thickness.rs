//! Solids against the grid: whether they lie in the domain, are thick enough for its cells, and leave faces open.

use lbm_runtime::geometry::solid::{Enclosed, Hole, Image, Shape, Surface, Thickness};

use super::resolver::{Resolver, axis_name, short};
use super::shapes::FAR;
use crate::case::diag::{self, Span};
use crate::case::walls::Wall;

impl Resolver<'_> {
    pub(super) fn inside_domain(&mut self, span: &Span, shape: &Shape, size: [usize; 3]) -> Option<()> {
        let (from, to) = shape.bounds();
        let outside = (0..self.dim).find(|axis| to[*axis] <= 0.0 || from[*axis] >= size[*axis] as f64);
        let Some(axis) = outside else { return Some(()) };
        let message = format!(
            "no part of the solid is in the domain: along {} it goes from {} to {} cells, the domain from 0 to {}",
            axis_name(axis),
            short(from[axis]),
            short(to[axis]),
            size[axis]
        );
        self.report.add(diag::OUTSIDE, span, message, "outside", None)
    }

    /// Refuses what has no cell's centre inside, or none across its thinnest part.
    pub(super) fn thick_enough(&mut self, span: &Span, shape: &Shape, level: usize, size: [usize; 3]) -> Option<()> {
        let width = 0.5f64.powi(level as i32);
        if let Some(surface) = shape.surface() {
            self.enclosed(span, surface, level, width, size)?;
        }
        if let Shape::Surface(surface) = shape {
            return self.thick_surface(span, surface, level, width, size);
        }
        if let Shape::Image(image) = shape {
            return self.thick_voxels(span, image, level, width, size);
        }
        let thickness = shape.thickness().unwrap_or(FAR);
        if thickness >= width {
            return Some(());
        }
        let message = format!("the solid is {} cells thick on level {level}, less than one", short(thickness / width));
        let help = finer(thickness);
        self.report.add(diag::TOO_THIN, span, message, "too thin for the grid", help)
    }

    /// Refuses an image without a cell's centre in a solid voxel; says where voxels are smaller than cells.
    fn thick_voxels(&mut self, span: &Span, image: &Image, level: usize, width: f64, size: [usize; 3]) -> Option<()> {
        let enough = (1.0 / image.width()).log2().ceil();
        let help =
            (image.width() < width).then(|| format!("`[refinement] finest = {enough}` has cells as small as voxels"));
        if !image.has_centres(width, self.dim, size.map(|cells| cells as f64)) {
            let message = format!("no cell of level {level} has its centre in a solid voxel");
            return self.report.add(diag::TOO_THIN, span, message, "too small for the grid", help);
        }
        if image.width() < width {
            let message = format!(
                "voxels are smaller than cells: {} cells of level {level} wide; a cell is solid if that at its centre is",
                short(image.width() / width)
            );
            self.report.add::<()>(diag::THIN_PARTS, span, message, "finer than the grid", help);
        }
        Some(())
    }

    /// Refuses a surface without a cell's centre inside; where parts are that thin, or shells overlap, says where.
    fn thick_surface(
        &mut self,
        span: &Span,
        surface: &Surface,
        level: usize,
        width: f64,
        size: [usize; 3],
    ) -> Option<()> {
        let mut end = size.map(|cells| cells as f64);
        if self.dim == 2 {
            // One line of cells along z, at which a section is the same.
            end[2] = width;
        }
        let found = surface.lidded_over().thickness(width, end);
        let Thickness { cells, thin, thinnest, .. } = found;
        let is_asked = cells == 0 || found.overlaps.0 > 0;
        let doubled = if is_asked { surface.doubled() } else { 0 };
        if cells == 0 && doubled > 0 {
            let message = format!(
                "nothing is inside of the surface: {doubled} of its {} triangles are there twice and cancel each other",
                surface.triangles()
            );
            let help = "remove the copies: a sheet with two sides and nothing between them is no body".to_string();
            return self.report.add(diag::OPEN_SURFACE, span, message, "encloses nothing", help);
        }
        self.overlaps(span, &found, doubled, level);
        let (place, thickness) = match thinnest {
            Some((place, thickness)) => (place.map(short).join(", "), thickness),
            None if cells > 0 => return Some(()),
            None => {
                let message = format!("no cell of level {level} has its centre inside the solid");
                return self.report.add(diag::TOO_THIN, span, message, "too small for the grid", None);
            }
        };
        let parts = short(thickness / width);
        if cells == 0 {
            let message = format!(
                "no cell of level {level} has its centre inside the solid: at ({place}) it is {parts} cells thick"
            );
            let help = finer(thickness);
            return self.report.add(diag::TOO_THIN, span, message, "too thin for the grid", help);
        }
        let message = format!(
            "parts of the solid are thinner than a cell: along {thin} lines of cells of level {level} no centre is inside; the \
             thinnest is at ({place}), {parts} cells thick"
        );
        let help = "the flow sees walls there without cells between them: links are cut on both sides, by `bounce_back` half-way and by \
                    `interpolated_bounce_back` where the surface is"
            .to_string();
        self.report.add::<()>(diag::THIN_PARTS, span, message, "thin in parts", help);
        Some(())
    }

    /// Says of a surface with holes what is taken as its inside; refuses one that encloses nothing.
    fn enclosed(&mut self, span: &Span, surface: &Surface, level: usize, width: f64, size: [usize; 3]) -> Option<()> {
        let holes = surface.holes();
        let largest = holes.iter().max_by(|one, other| one.perimeter.total_cmp(&other.perimeter));
        let Some(Hole { at, edges, perimeter, .. }) = largest else { return Some(()) };
        let all: usize = holes.iter().map(|hole| hole.edges).sum();
        let count = if holes.len() == 1 { "a hole".to_string() } else { format!("{} holes", holes.len()) };
        let which = if holes.len() == 1 { "it" } else { "the largest" };
        let found = format!(
            "{count} with {all} open edges; {which} is around ({}) of the file, with {edges} edges, {} long together",
            at.map(short).join(", "),
            short(*perimeter)
        );
        let Enclosed { cells, unsure } = surface.enclosed(width, size.map(|cells| cells as f64));
        if cells == 0 {
            let message = format!(
                "the surface encloses nothing: the winding number around the centre of no cell of level {level} is above 1/2. It has {found}"
            );
            let help = "close its holes: in the program that made it, or up to a width with `close = ...`; normals of all triangles \
                        must point outwards"
                .to_string();
            return self.report.add(diag::OPEN_SURFACE, span, message, "encloses nothing", help);
        }
        let sure = match unsure {
            0 => "no cell is near 1/2".to_string(),
            1 => "1 cell has one between 1/4 and 3/4, and is decided so".to_string(),
            _ => format!("{unsure} cells have one between 1/4 and 3/4, and are decided so"),
        };
        let message = format!(
            "the surface is not closed, and is taken as it is: {found}. A point is inside where the winding number is above 1/2: {cells} cells \
             of level {level}; {sure}"
        );
        let help = "look whether the solid is what is meant, in a picture of the flow or with `output.surfaces`; `close = ...` closes holes up to a width".to_string();
        self.report.add::<()>(diag::WITH_HOLES, span, message, "has holes", help);
        Some(())
    }

    /// Says how it is decided what is inside, where shells overlap.
    fn overlaps(&mut self, span: &Span, found: &Thickness, doubled: usize, level: usize) {
        let (message, help) = match (found.overlaps, found.turned) {
            ((cells, Some(place)), _) => {
                let place = place.map(short).join(", ");
                let twice = if doubled > 0 { format!("; {doubled} triangles are there twice") } else { String::new() };
                let message = format!(
                    "shells of the surface overlap: {cells} cells of level {level} are inside of more than one, such as that at \
                     ({place}){twice}; what is inside of any is solid"
                );
                (message, "that is right for parts that were put together; normals of a cavity must point into it")
            }
            (_, [true, true]) => {
                let message =
                    "some shells of the surface have normals that point outwards, and others inwards; what is inside \
                               of any is solid, but not where one of each overlap"
                        .to_string();
                (message, "give all bodies outward normals; only those of a cavity point into it")
            }
            _ => return,
        };
        self.report.add::<()>(diag::OVERLAPS, span, message, "has several shells", help.to_string());
    }

    /// Refuses a solid that fills all cells at a face through which something flows.
    pub(super) fn covered_face(&mut self, span: &Span, shape: &Shape, size: [usize; 3], walls: &[Wall]) {
        for wall in walls.iter().filter(|wall| !wall.rests()) {
            if crate::case::walls::points(size, self.dim, wall.face, 0.5).all(|point| shape.contains(point)) {
                let name = wall.face.name();
                let message = format!("the solid covers the face `{name}`");
                let help = format!("nothing gets through `{}` there: move the solid or make it smaller", wall.rule);
                return self.report.add::<()>(diag::COVERED, span, message, "covers a face", help).unwrap_or_default();
            }
        }
    }
}

/// Levels that are advised at most.
const MOST_ADVISED: f64 = 8.0;

/// What to do about a thickness, in cells of the coarsest level, that is less than a cell.
fn finer(thickness: f64) -> String {
    let enough = (1.0 / thickness).log2().ceil();
    match enough <= MOST_ADVISED {
        true => format!("`[refinement] finest = {enough}` has cells that fit in there; or make it thicker"),
        false => "make it thicker: no practical grid has cells that small".to_string(),
    }
}
