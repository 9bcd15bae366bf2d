//! The keys of a case file, and guesses at what a mistyped one was meant to be.

use super::takes::{
    BOXES, COUNT, DIRECTION, FACE, FORMULA, FROM, LEVEL, NAMED, PATCHES, PLANE, POINT, QUANTITY, SHELLS, START, STEPS,
    TEXT, Takes, VALUE,
};

/// A key as a path from the top of the file, what its values are, and what it is. A last part `*` stands for names that the case chooses: a
/// parameter or a field of the method, or a parameter of a boundary rule.
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) takes: Takes,
    pub(super) doc: &'static str,
}

const fn key(path: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { path, takes, doc }
}

/// Faces in the order x-, x+, y-, y+, z-, z+.
pub(super) const FACES: [&str; 6] = ["left", "right", "bottom", "top", "back", "front"];

/// Every key.
pub(super) const KEYS: &[Key] = &[
    key("name", TEXT, "name of the case, in titles; default: the name of its file"),
    key("spec", TEXT, "the method: the name of a shipped spec, or a path to a .lbm file"),
    key(
        "target",
        Takes::Word(&["auto", "cuda", "cpu", "checked"]),
        "auto, cuda, cpu, or checked: the CPU, each access of a kernel to memory checked, some 30 times slower",
    ),
    key(
        "devices",
        Takes::Either(&[COUNT, Takes::List(&LEVEL)]),
        "number of devices, or the numbers of GPUs: 2, [0, 1]; on the host, the number of subdomains",
    ),
    key(
        "precision",
        Takes::Word(&["f32", "f64", "f16/f32"]),
        "f32, f64, or f16/f32: stored in 16 bits, computed in 32",
    ),
    key(
        "storage",
        Takes::Word(&["populations", "moments", "auto"]),
        "populations, moments (from which populations follow), or auto: the faster one",
    ),
    key(
        "block",
        Takes::List(&COUNT),
        "cells of a block along each axis, divisors of those of the domain; default: chosen by domain, target and precision",
    ),
    key("units.system", Takes::Word(&["lattice", "si"]), "lattice or si; default: lattice"),
    key("units.step", QUANTITY, "length of a time step (SI)"),
    key("units.mach", QUANTITY, "Mach number that sets the time step (SI)"),
    key("units.density", QUANTITY, "density of the fluid at rest (SI)"),
    key("domain.size", POINT, "extent along each axis: cells, or lengths in SI"),
    key("domain.resolution", COUNT, "number of cells along x (SI)"),
    key("fluid.re", QUANTITY, "Reynolds number"),
    key("fluid.viscosity", QUANTITY, "kinematic viscosity: a number, or a formula of position, time and fields"),
    key("fluid.omega", QUANTITY, "relaxation rate that sets the viscosity"),
    key(
        "fluid.diffusivity",
        QUANTITY,
        "diffusivity of the temperature or other scalar that the method transports, or mobility of a phase: sets its relaxation rate",
    ),
    key(
        "fluid.prandtl",
        QUANTITY,
        "viscosity over the diffusivity of the scalar: the Prandtl number of a temperature, the Schmidt number of a concentration",
    ),
    key("fluid.velocity", QUANTITY, "reference velocity"),
    key("fluid.length", QUANTITY, "reference length"),
    key(
        "params.*",
        VALUE,
        "a parameter of the method: a number, or a formula of position, time and fields; the rate that sets the viscosity must be a number",
    ),
    key(
        "faces.left",
        FACE,
        "boundary condition at the lowest x; its parameters are numbers, or formulas of position and time; `patches` are parts of the \
         face with others",
    ),
    key("faces.right", FACE, "boundary condition at the highest x"),
    key("faces.bottom", FACE, "boundary condition at the lowest y"),
    key("faces.top", FACE, "boundary condition at the highest y"),
    key("faces.back", FACE, "boundary condition at the lowest z"),
    key("faces.front", FACE, "boundary condition at the highest z"),
    key("faces.others", FACE, "boundary condition at the faces not named"),
    key(
        "start.density",
        START,
        "density at the start: a number, a formula of position, or { file = \"rho.npy\" }; default: 1 (in SI: units.density)",
    ),
    key(
        "start.velocity",
        START,
        "velocity at the start: for each axis a number or a formula of position, or { file = \"u.npy\" }; default: 0",
    ),
    key(
        "start.*",
        START,
        "another field of the method at the start, by its name: a number, a formula of position or a file; default: 0",
    ),
    key(
        "solids.shape",
        Takes::Word(&["sphere", "box", "cylinder", "stl", "image"]),
        "shape of a solid, under `[[solids]]`: sphere, box, cylinder (in two dimensions a circle), stl or image",
    ),
    key(
        "solids.inverted",
        Takes::Truth,
        "whether everything outside the shape is solid, and the flow inside; default: false",
    ),
    key(
        "solids.centre",
        POINT,
        "centre of a sphere or cylinder; of an STL surface, where the middle of its extents is placed",
    ),
    key("solids.radius", QUANTITY, "radius of a sphere or cylinder"),
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
    key("solids.rule", TEXT, "boundary condition of the surface"),
    key("solids.level", LEVEL, "level of the cells at the surface; default: refinement.finest"),
    key("solids.shells", SHELLS, "minimum levels around the surface: [{ level = 1, within = 16 }]"),
    key(
        "solids.motion.displacement",
        Takes::List(&FORMULA),
        "displacement of a moving solid along each axis: formulas of the time, from which the velocity of its surface follows",
    ),
    key(
        "solids.motion.angle",
        FORMULA,
        "angle by which a solid turns, in radians, counter-clockwise: a formula of the time, from which the velocity of its surface follows",
    ),
    key("solids.motion.axis", DIRECTION, "direction of the axis of rotation, in three dimensions: [0, 0, 1], or \"z\""),
    key(
        "solids.motion.pivot",
        POINT,
        "point of the axis of rotation of the shape as given; it is displaced with the solid; default: the middle of the shape's extents",
    ),
    key(
        "solids.area",
        QUANTITY,
        "reference area of force coefficients (in two dimensions a length); default: the cross-section of a sphere; in three dimensions \
         the diameter of a cylinder times its length (without ends: that in the domain); else fluid.length, in three dimensions its \
         square",
    ),
    key(
        "solids.nusselt",
        Takes::Table(&[("difference", QUANTITY), ("area", QUANTITY)]),
        "reference values of the Nusselt number, with `output.heat`: { difference = 1, area = 63 }: difference of the scalar between \
         surface and fluid; area of the surface, in two dimensions a length (default: that of the shape, if it is known)",
    ),
    key("solids.*", VALUE, "a parameter of the boundary condition: a number, or a formula of position and time"),
    key(
        "refinement.finest",
        COUNT,
        "the finest level: its cells and time steps are those of level 0 divided by 2^finest",
    ),
    key("refinement.level", FORMULA, "target level: a formula of position"),
    key(
        "refinement.criterion",
        TEXT,
        "refinement criterion: vorticity, q, velocity_gradient, density_gradient, a criterion of the spec, or a formula \
         of fields, position and time",
    ),
    key(
        "refinement.threshold",
        FORMULA,
        "value of the criterion from which on the target level is the finest: a number, or a formula of the time",
    ),
    key("refinement.ratio", QUANTITY, "ratio of the thresholds of successive levels; default: 2"),
    key("refinement.hysteresis", QUANTITY, "fraction of its threshold below which a level is coarsened; default: 0.5"),
    key(
        "refinement.every",
        COUNT,
        "time steps of level 0 between changes of the grid, which follows the criterion and moving solids",
    ),
    key("refinement.pinned", BOXES, "boxes whose blocks do not change: { from = [0, 0], to = [16, 16] }"),
    key("refinement.coarsest", LEVEL, "the coarsest level that the grid may have; default: 0"),
    key(
        "refinement.memory",
        TEXT,
        "memory that the grid may take on each device: \"8 GiB\"; default: most of the device's memory",
    ),
    key("refinement.boxes", BOXES, "boxes with a target level: { level = 1, from = [0, 0], to = [16, 16] }"),
    key("refinement.coupling", TEXT, "coupling at refinement interfaces; default: volumetric_shifted"),
    key("stop.steps", COUNT, "number of time steps of level 0 after which the run ends at the latest"),
    key("stop.time", QUANTITY, "time at which the run ends at the latest"),
    key(
        "stop.steady",
        QUANTITY,
        "change of velocity between checks, divided by the reference velocity, below which the flow is steady and the run ends",
    ),
    key("stop.check_every", COUNT, "time steps between checks for steady flow; default: 1000"),
    key(
        "output.directory",
        TEXT,
        "folder for the results, below the one that the command runs in (`--out` may name any); default: out/NAME",
    ),
    key("output.profiles", Takes::Truth, "write profiles along the centre lines"),
    key("output.picture", Takes::Truth, "draw the velocity, the vorticity and scalars, at the end"),
    key(
        "output.slice",
        PLANE,
        "plane of the pictures in three dimensions: { normal = \"y\", at = 32 }; default: the middle plane normal to z",
    ),
    key("output.grid", Takes::Truth, "draw the edges of blocks over the pictures of a refined grid; default: true"),
    key(
        "output.vtk",
        Takes::Either(&[Takes::Truth, Takes::Word(&["amr", "unstructured"])]),
        "write fields for ParaView: true; for a refined grid also \"amr\" (default in three dimensions) or \"unstructured\" (default in two)",
    ),
    key(
        "output.fields",
        Takes::List(&TEXT),
        "fields in VTK files, by name: [\"velocity\", \"vorticity\"]; default: the fields of the method",
    ),
    key("output.every", STEPS, "time steps, or a time, between VTK files"),
    key(
        "output.series",
        STEPS,
        "time steps, or a time, between rows of energy, enstrophy, dissipation and other sums over the flow",
    ),
    key(
        "output.restart",
        STEPS,
        "interval between restart files (checkpoints), from which `--resume` continues: time steps, or a time; one more at the end",
    ),
    key("output.forces", STEPS, "time steps, or a time, between rows of the force on solids"),
    key(
        "output.heat",
        STEPS,
        "time steps, or a time, between rows of the heat, or other scalar, that solids give to the fluid",
    ),
    key(
        "output.surfaces",
        STEPS,
        "time steps, or a time, between files of pressure and friction on solids; one more at the end",
    ),
    key(
        "output.sections",
        Takes::List(&PLANE),
        "with `surfaces`, in three dimensions: planes [{ normal = \"y\", at = 32 }] that cut solids; pressure and friction along the \
         cuts are written as tables",
    ),
    key(
        "output.average_from",
        FROM,
        "first step, or a time, of the means of forces, heat, probes and fluxes in summary.json; default: chosen by the run",
    ),
    key("output.compare", TEXT, "published profiles, or a published series, to compare with"),
    key(
        "fields.*",
        FORMULA,
        "a field of your own, by its name: a formula of components of fields and of derivatives of the velocity, \"uy * temperature\"",
    ),
    key(
        "report.*",
        TEXT,
        "a number computed from the results, under `[report]`: a formula, `permeability = \"viscosity * mean_ux * porosity / forcex\"`; \
         it is printed and in summary.json",
    ),
    key(
        "probes.name",
        TEXT,
        "name of points at which fields are recorded, under `[[probes]]`; the file is `probe_NAME.csv`",
    ),
    key(
        "probes.at",
        Takes::List(&Takes::Either(&[QUANTITY, POINT])),
        "the points: [[40, 32], [60, 32]], or a single one: [40, 32]",
    ),
    key("probes.from", POINT, "first point of a line, or lower corner of a rectangle or a box; instead of `at`"),
    key("probes.to", POINT, "last point of a line, or upper corner of a rectangle or a box"),
    key(
        "probes.points",
        Takes::Either(&[COUNT, Takes::List(&COUNT)]),
        "number of points of a line, with both ends; of a rectangle or a box (files for ParaView) along each axis: [129, 65]",
    ),
    key("probes.fields", Takes::List(&TEXT), "fields that are recorded, by name; default: [\"density\", \"velocity\"]"),
    key("probes.every", STEPS, "time steps, or a time, between rows"),
    key(
        "pictures.field",
        TEXT,
        "field that a picture shows, by its name, under `[[pictures]]`; of a vector the magnitude",
    ),
    key(
        "pictures.statistics",
        TEXT,
        "name of the statistics of which the field is a result: `mean_velocity`, `rms_velocity`",
    ),
    key(
        "pictures.name",
        TEXT,
        "name of the file: `NAME.png`, with `every` `NAME_00001000.png`; default: the name of the field",
    ),
    key("pictures.title", TEXT, "title above the picture; default: the name of the case, and what is shown"),
    key(
        "pictures.range",
        POINT,
        "values at the ends of the colour bar, in its units: [-2, 2]; default: computed from the field",
    ),
    key(
        "pictures.scale",
        Takes::Word(&["linear", "log"]),
        "equal steps of colour are equal differences (linear) or equal ratios (log); default: linear",
    ),
    key(
        "pictures.colours",
        Takes::Colours,
        "colour map: sequential, diverging, viridis or another; default: diverging for a field with a sign, else sequential",
    ),
    key(
        "pictures.contours",
        Takes::Either(&[Takes::Whole(0), POINT]),
        "contour lines: their number between the ends of the colour bar, or their values: 9 or [0.5, 1]",
    ),
    key(
        "pictures.slice",
        PLANE,
        "plane of the picture in three dimensions: { normal = \"y\", at = 32 }; default: the middle plane normal to z",
    ),
    key(
        "pictures.from",
        POINT,
        "lower left corner of the part of the plane that is shown: [40, 20]; default: that of the domain",
    ),
    key(
        "pictures.to",
        POINT,
        "upper right corner of the part of the plane that is shown: [120, 48]; default: that of the domain",
    ),
    key("pictures.streamlines", Takes::Truth, "draw streamlines of the velocity over the field"),
    key("pictures.grid", Takes::Truth, "draw the edges of blocks over the picture of a refined grid; default: true"),
    key("pictures.size", COUNT, "pixels along the longer side of the field; default: 1000"),
    key("pictures.every", STEPS, "time steps, or a time, between pictures; default: one picture at the end"),
    key(
        "pictures.film",
        Takes::Either(&[Takes::Truth, COUNT]),
        "true, or pictures per second: with `every`, also a film of all pictures, `NAME.gif`",
    ),
    key(
        "views.isosurface",
        TEXT,
        "field of which a view shows an isosurface, by its name, under `[[views]]`; of a vector the magnitude",
    ),
    key("views.value", QUANTITY, "value on the isosurface, in the units of a colour bar, or in SI with its unit"),
    key("views.colour", TEXT, "field that colours the isosurface, by its name; default: a single colour"),
    key(
        "views.name",
        TEXT,
        "name of the file: `NAME.png`, with `every` `NAME_00001000.png`; default: the name of the field",
    ),
    key(
        "views.range",
        POINT,
        "values at the ends of the colour bar, in its units: [0, 1.5]; default: computed from the values on the isosurface",
    ),
    key(
        "views.colours",
        Takes::Colours,
        "colour map, as for pictures; default: diverging if the field that colours the isosurface has a sign, else sequential",
    ),
    key(
        "views.from",
        Takes::List(&Takes::Number),
        "view direction, from the flow to the viewer; default: [0.5, -1, 0.6]",
    ),
    key("views.size", COUNT, "pixels along the longer side of the domain as it is seen; default: 1000"),
    key("views.every", STEPS, "time steps, or a time, between views; default: one view at the end"),
    key(
        "views.film",
        Takes::Either(&[Takes::Truth, COUNT]),
        "true, or views per second: with `every`, also a film of all views, `NAME.gif`",
    ),
    key(
        "statistics.name",
        TEXT,
        "name of statistics over time in every cell, under `[[statistics]]`; the file is `statistics_NAME.vti`, for a refined grid in \
         the format of its fields",
    ),
    key("statistics.fields", NAMED, "fields that are sampled, by name; default: [\"density\", \"velocity\"]"),
    key(
        "statistics.of",
        Takes::List(&Takes::Word(&["mean", "rms", "stresses", "min", "max"])),
        "what is computed from the samples: mean, rms (of the fluctuation), stresses, min, max; default: [\"mean\", \"rms\"]",
    ),
    key("statistics.from", FROM, "first step that is sampled, or a time"),
    key("statistics.every", STEPS, "time steps, or a time, between samples"),
    key(
        "fluxes.name",
        TEXT,
        "name of a plane through which fluxes are measured, under `[[fluxes]]`, in the rows of `fluxes.csv`",
    ),
    key("fluxes.face", Takes::Word(&FACES), "a plane at an end of the domain: left, right, bottom, top, back or front"),
    key("fluxes.plane", PLANE, "a plane normal to an axis, instead of `face`: { normal = \"x\", at = 32 }"),
    key(
        "fluxes.from",
        POINT,
        "lower corner of a part of the plane, along the other axes in their order; default: that of the domain",
    ),
    key("fluxes.to", POINT, "upper corner of a part of the plane; default: that of the domain"),
    key("fluxes.every", STEPS, "time steps, or a time, between rows"),
];

/// Lists of tables: a case has as many as it likes of each.
pub(super) const LISTS: [&str; 6] = ["solids", "probes", "pictures", "views", "statistics", "fluxes"];

/// The list of tables that a key belongs to, and the rest of its path.
pub(super) fn in_list(path: &str) -> Option<(&str, &str)> {
    path.split_once('.').filter(|(list, _)| LISTS.contains(list))
}

/// Every key of a case file and what it is, for help texts.
pub fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().map(|key| (key.path, key.doc))
}

/// Keys of which a case gives at most one.
pub(super) const EXCLUSIVE: &[&[&str]] = &[
    &["fluid.re", "fluid.viscosity", "fluid.omega"],
    &["fluid.diffusivity", "fluid.prandtl"],
    &["stop.steps", "stop.time"],
    &["units.step", "units.mach"],
];

/// The keys of the table `path` (empty for the top of the file), first parts only.
pub(super) fn keys_of(path: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = KEYS
        .iter()
        .filter_map(|key| match path {
            "" => key.path.split('.').next(),
            _ => key.path.strip_prefix(path)?.strip_prefix('.'),
        })
        .collect();
    names.dedup();
    names
}

/// Whether the table `path` holds names that the case chooses.
pub(super) fn is_open(path: &str) -> bool {
    keys_of(path).contains(&"*") || path.strip_prefix("faces.").is_some_and(is_face)
}

fn is_face(name: &str) -> bool {
    FACES.contains(&name) || name == "others"
}

/// Full paths of the keys whose last part is `key`.
pub(super) fn paths_that_end_with(key: &str) -> Vec<&'static str> {
    KEYS.iter().map(|known| known.path).filter(|path| path.rsplit('.').next() == Some(key)).collect()
}

/// The choice nearest to `word`, if it is near enough to be meant: few letters differ, and not all, or one begins with the other.
pub fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let rank = |choice: &str| {
        let letters = distance(&lower, &choice.to_lowercase());
        let begins = choice.starts_with(&lower) && lower.len() > 2 || lower.starts_with(choice) && choice.len() > 1;
        let near =
            letters <= 1 + word.len().min(choice.len()).saturating_sub(1) / 4 && letters < word.len().max(choice.len());
        (near || begins).then_some((!near, letters, choice.len().abs_diff(word.len())))
    };
    choices.into_iter().filter_map(|choice| Some((rank(choice)?, choice))).min().map(|(_, choice)| choice)
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swapped)
            };
        }
    }
    rows[a.len()][b.len()]
}

/// `a, b or c`, each in backticks.
pub(super) fn list<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = choices.into_iter().map(|choice| format!("`{choice}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// `did you mean ...?`, or the choices when none is near.
pub(super) fn suggest(word: &str, choices: &[&str]) -> String {
    match nearest(word, choices.iter().copied()) {
        Some(choice) => format!("did you mean `{choice}`?"),
        None => format!("known here: {}", list(choices.iter().copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("visocsity", ["velocity", "viscosity"]), Some("viscosity"));
        assert_eq!(nearest("Re", ["re"]), Some("re"));
        assert_eq!(nearest("visc", ["re", "viscosity"]), Some("viscosity"));
        assert_eq!(nearest("reynolds", ["resolution", "re"]), Some("re"));
        assert_eq!(nearest("mn", ["m", "mm"]), Some("mm"));
        assert_eq!(nearest("banana", ["re", "viscosity"]), None);
        assert_eq!((nearest("Q", ["g", "m"]), nearest("bulk", ["back"])), (None, None));
    }

    #[test]
    fn distance_counts_a_swap_once() {
        assert_eq!(distance("setps", "steps"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn every_key_is_documented_once() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(!key.doc.is_empty());
            assert!(KEYS[..at].iter().all(|other| other.path != key.path), "{}", key.path);
        }
    }
}
