//! Keys of `[[solids]]` that say what shape a solid has.

use std::sync::Arc;

use lbm_runtime::geometry::solid::{Surface, Voxels};

use super::reader::Reader;
use super::table::{Key, key};
use super::values::RawVector;
use crate::case::diag::{self, Spanned};
use crate::case::image::{self, Kind};
use crate::case::takes::{COUNT, DIRECTION, PATCHES, PLANE, POINT, QUANTITY, TEXT, Takes};
use crate::case::tree::{self, Table, Value};
use crate::case::units::Dimension;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "solids.shape",
        Takes::Word(&["sphere", "box", "cylinder", "ellipsoid", "stl", "image"]),
        "shape of a solid, under `[[solids]]`: sphere, box, cylinder (in two dimensions a circle), ellipsoid (an ellipse), stl or image",
    ),
    key(
        "solids.inverted",
        Takes::Truth,
        "whether everything outside the shape is solid, and the flow inside; default: false",
    ),
    key(
        "solids.centre",
        POINT,
        "centre of a sphere, cylinder or ellipsoid; of an STL surface, where the middle of its extents is placed",
    ),
    key("solids.radius", QUANTITY, "radius of a sphere or cylinder"),
    key("solids.radii", POINT, "half of the axes of an ellipsoid, which are those of the grid"),
    key("solids.axis", DIRECTION, "direction of a cylinder in three dimensions: [0, 0, 1], or \"z\""),
    key("solids.length", QUANTITY, "length of a cylinder, from end to end; default: infinite"),
    key("solids.from", POINT, "lower corner of a box or an image; default for an image: the origin"),
    key("solids.to", POINT, "upper corner of a box"),
    key(
        "solids.file",
        TEXT,
        "STL file, text or binary, or image (.nrrd, .raw, .png, slice_*.png), beside the case or relative to the working directory",
    ),
    key(
        "solids.scale",
        QUANTITY,
        "length of a unit of the STL file, or width of a voxel: cells, or a length in SI; default: one cell, or in SI one metre",
    ),
    key("solids.rotate", POINT, "angles in degrees by which an STL surface is turned: about x, then y, then z"),
    key(
        "solids.voxels",
        Takes::List(&COUNT),
        "numbers of voxels of a .raw file along each axis; x varies fastest, one byte per voxel",
    ),
    key(
        "solids.solid",
        Takes::Word(&["above", "below"]),
        "which voxels of an image are solid: those above or below its threshold; default: above",
    ),
    key("solids.threshold", QUANTITY, "value above or below which voxels are solid; an image of two values needs none"),
    key(
        "solids.patches",
        PATCHES,
        "boundary conditions of named solids in an STL text file: [{ solid = \"lid\", rule = \"moving_wall\", ... }]",
    ),
    key(
        "solids.section",
        PLANE,
        "in two dimensions, the plane that cuts the STL surface, after `rotate` and before `scale`: { normal = \"z\", at = 0.1 }",
    ),
    key("solids.close", QUANTITY, "holes of an STL surface up to this extent are closed: cells, or a length in SI"),
];

/// Shapes and the keys that each has beyond those of every solid: first those that must be given.
pub(super) const SHAPES: [(&str, &[&str], &[&str]); 6] = [
    ("sphere", &["centre", "radius"], &[]),
    ("box", &["from", "to"], &[]),
    ("cylinder", &["centre", "radius"], &["axis", "length"]),
    ("ellipsoid", &["centre", "radii"], &[]),
    ("stl", &["file"], &["scale", "rotate", "centre", "section", "close", "patches"]),
    ("image", &["file"], &["from", "scale", "voxels", "solid", "threshold"]),
];

/// The shape of a solid, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawShape {
    Sphere {
        centre: RawVector,
        radius: Spanned<f64>,
    },
    Ellipsoid {
        centre: RawVector,
        radii: RawVector,
    },
    Box {
        from: RawVector,
        to: RawVector,
    },
    Cylinder {
        centre: RawVector,
        radius: Spanned<f64>,
        axis: Option<RawVector>,
        length: Option<Spanned<f64>>,
    },
    Stl {
        file: Spanned<String>,
        /// What the file holds, once it is read.
        bytes: Vec<u8>,
        surface: Option<Surface>,
        /// Names of the solids in the file, by the numbers of parts of the surface.
        names: Vec<String>,
        scale: Option<Spanned<f64>>,
        centre: Option<RawVector>,
        rotate: Option<RawVector>,
        section: Option<Spanned<RawSection>>,
        /// Extent of the largest hole that is closed.
        close: Option<Spanned<f64>>,
    },
    Image {
        file: Spanned<String>,
        kind: Kind,
        /// The files that a name with `*` stands for, once they are known.
        stack: Vec<String>,
        /// What the file holds, once it is read; of pictures their voxels as an NRRD file.
        bytes: Vec<u8>,
        voxels: Option<Arc<Voxels>>,
        /// How many voxels there are along each axis, of plain bytes.
        size: [usize; 3],
        from: Option<RawVector>,
        scale: Option<Spanned<f64>>,
        solid: image::Solid,
    },
}

/// A plane that cuts the surface of a file, in its units.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawSection {
    pub(in crate::case) normal: usize,
    pub(in crate::case) at: f64,
}

impl Reader {
    pub(super) fn shape(&mut self, table: &Table, name: &str) -> Option<RawShape> {
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let point = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let numbers = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(Dimension::NUMBER))?.0))
        };
        Some(match name {
            "sphere" => {
                let (centre, radius) = (point(self, "centre"), self.positive(table, "radius", length));
                RawShape::Sphere { centre: centre?, radius: radius? }
            }
            "ellipsoid" => {
                let (centre, radii) = (point(self, "centre"), point(self, "radii"));
                RawShape::Ellipsoid { centre: centre?, radii: radii? }
            }
            "box" => {
                let (from, to) = (point(self, "from"), point(self, "to"));
                RawShape::Box { from: from?, to: to? }
            }
            "cylinder" => {
                let (centre, radius) = (point(self, "centre"), self.positive(table, "radius", length));
                let axis = match table.get("axis") {
                    Some(entry) => Some(self.axis(&entry.value)?),
                    None => None,
                };
                let length = self.positive(table, "length", length);
                RawShape::Cylinder { centre: centre?, radius: radius?, axis, length }
            }
            "image" => return self.image(table, length),
            _ => {
                let (file, centre, rotate) = (self.text(table, "file"), point(self, "centre"), numbers(self, "rotate"));
                // What a unit of length of the file is.
                let scale = self.positive(table, "scale", length);
                let section = match table.get("section").map(|entry| &entry.value) {
                    Some(value) => Some(self.section(value)?),
                    None => None,
                };
                let close = self.positive(table, "close", length);
                RawShape::Stl {
                    file: file?,
                    bytes: vec![],
                    surface: None,
                    names: vec![],
                    scale,
                    centre,
                    rotate,
                    section,
                    close,
                }
            }
        })
    }

    /// A plane through the surface of a file.
    fn section(&mut self, value: &Value) -> Option<Spanned<RawSection>> {
        let example = "for example `section = { normal = \"z\", at = 0.1 }`".to_string();
        let tree::Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["normal", "at"], "a section")?;
        let Some(at) = table.get("at").filter(|_| table.get("normal").is_some()) else {
            let key = if table.get("at").is_some() { "normal" } else { "at" };
            return self.missing(&value.span, key, "a section has an axis and a place along it", example);
        };
        let normal = self.normal(table)?;
        let (at, _) = self.quantity(&at.value, Some(Dimension::NUMBER))?;
        Some(Spanned { value: RawSection { normal, at }, span: value.span.clone() })
    }

    fn image(&mut self, table: &Table, length: Dimension) -> Option<RawShape> {
        let file = self.text(table, "file")?;
        let Some(kind) = Kind::of(&file.value) else {
            let message =
                format!("`{}` is no image: its name ends neither in `.nrrd` nor in `.raw` or `.png`", file.value);
            return self.report.add(diag::NO_IMAGE, &file.span, message, "of another kind", None);
        };
        if file.value.contains('*') && kind != Kind::Png {
            let message = "a stack of files, with `*` in its name, is made of PNG files";
            return self.report.add(diag::NO_IMAGE, &file.span, message, "a file is named by its whole name", None);
        }
        let from = self.vector(table, "from", |reader, value| Some(reader.quantity(value, Some(length))?.0));
        let scale = self.positive(table, "scale", length);
        let size = self.image_size(table, kind);
        let number = |reader: &mut Self, value: &Value| Some(reader.quantity(value, Some(Dimension::NUMBER))?.0);
        let threshold = match table.get("threshold") {
            Some(entry) => Some(number(self, &entry.value)?),
            None => None,
        };
        let above = match table.get("solid") {
            Some(_) => self.word(table, "solid", &["above", "below"])?.value == "above",
            None => true,
        };
        let solid = match threshold {
            None => image::Solid::OfTwo { larger: above },
            Some(threshold) if above => image::Solid::Above(threshold),
            Some(threshold) => image::Solid::Below(threshold),
        };
        let (stack, bytes, voxels) = (vec![], vec![], None);
        Some(RawShape::Image { file, kind, stack, bytes, voxels, size: size?, from, scale, solid })
    }

    /// Numbers of voxels, of plain bytes.
    fn image_size(&mut self, table: &Table, kind: Kind) -> Option<[usize; 3]> {
        let Some(entry) = table.get("voxels") else {
            if kind != Kind::Raw {
                return Some([1; 3]);
            }
            let help = "for example `voxels = [64, 64, 64]`".to_string();
            return self.missing(
                &table.get("file")?.span,
                "voxels",
                "a `.raw` file does not say how many it has",
                help,
            );
        };
        if kind != Kind::Raw {
            let help = "a `.raw` file needs it: others say how many voxels they have".to_string();
            self.no_effect(&entry.span, "voxels", " here", Some(help));
            return Some([1; 3]);
        }
        let sizes = self.vector(table, "voxels", |reader, value| match value.kind {
            tree::Kind::Integer(size @ 1..) => Some(size as usize),
            _ => reader.wrong_type(value, "a number of voxels", "for example `voxels = [64, 64, 64]`".to_string()),
        })?;
        if !(2..=3).contains(&sizes.value.len()) {
            let message = "an image has two axes or three";
            return self.report.add(diag::WRONG_DIMENSION, &sizes.span, message, "needs two or three numbers", None);
        }
        Some([0, 1, 2].map(|axis| sizes.value.get(axis).map_or(1, |size| size.value)))
    }
}
