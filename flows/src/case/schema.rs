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
    key("name", TEXT, "what the case is called, in titles; else the name of its file"),
    key("spec", TEXT, "the method: a shipped spec's name, or a path to a .lbm file"),
    key("target", Takes::Word(&["auto", "cuda", "cpu"]), "auto, cuda or cpu"),
    key(
        "devices",
        Takes::Either(&[COUNT, Takes::List(&LEVEL)]),
        "how many devices, or the numbers of GPUs: 2, [0, 1]; on the host, parts that the flow is divided into",
    ),
    key(
        "precision",
        Takes::Word(&["f32", "f64", "f16/f32"]),
        "f32, f64, or f16/f32: stored in 16 bits, computed in 32",
    ),
    key(
        "storage",
        Takes::Word(&["populations", "moments", "auto"]),
        "populations, moments (those that populations follow from), or auto: what is faster",
    ),
    key("block", Takes::List(&COUNT), "cells of a block along each axis, which divide the domain; chosen if not given"),
    key("units.system", Takes::Word(&["lattice", "si"]), "lattice or si"),
    key("units.step", QUANTITY, "length of a time step (SI)"),
    key("units.mach", QUANTITY, "Mach number that sets the time step (SI)"),
    key("units.density", QUANTITY, "density of the fluid at rest (SI)"),
    key("domain.size", POINT, "extent along each axis: cells, or lengths in SI"),
    key("domain.resolution", COUNT, "cells along x (SI)"),
    key("fluid.re", QUANTITY, "Reynolds number"),
    key("fluid.viscosity", QUANTITY, "kinematic viscosity: a number, or a formula of position, time and fields"),
    key("fluid.omega", QUANTITY, "relaxation rate that sets the viscosity"),
    key(
        "fluid.diffusivity",
        QUANTITY,
        "diffusivity of the temperature or other scalar that the method carries, of a phase its mobility: sets its relaxation rate",
    ),
    key(
        "fluid.prandtl",
        QUANTITY,
        "Prandtl number, of a concentration the Schmidt number: viscosity over that diffusivity",
    ),
    key("fluid.velocity", QUANTITY, "reference velocity"),
    key("fluid.length", QUANTITY, "reference length"),
    key(
        "params.*",
        VALUE,
        "a parameter of the method: a number, or a formula of position, time and fields, but for the rate that sets the viscosity",
    ),
    key(
        "faces.left",
        FACE,
        "boundary at the lowest x: a boundary condition, its parameters numbers, or formulas of position and time, and `patches`: parts \
         of the face with others",
    ),
    key("faces.right", FACE, "boundary at the highest x"),
    key("faces.bottom", FACE, "boundary at the lowest y"),
    key("faces.top", FACE, "boundary at the highest y"),
    key("faces.back", FACE, "boundary at the lowest z"),
    key("faces.front", FACE, "boundary at the highest z"),
    key("faces.others", FACE, "boundary at the faces not named"),
    key("start.density", START, "density at the start: a number, a formula of position, or { file = \"rho.npy\" }"),
    key(
        "start.velocity",
        START,
        "velocity at the start: for each axis a number or a formula of position, or { file = \"u.npy\" }",
    ),
    key(
        "start.*",
        START,
        "any other field of the method at the start, by its name: a number, a formula of position or a file; else 0",
    ),
    key(
        "solids.shape",
        Takes::Word(&["sphere", "box", "cylinder", "stl", "image"]),
        "a solid, under `[[solids]]`: sphere, box, cylinder (in two dimensions a circle), stl or image",
    ),
    key(
        "solids.inverted",
        Takes::Truth,
        "whether the solid is all that lies outside the shape, and the flow inside: false unless given",
    ),
    key("solids.centre", POINT, "of a sphere or cylinder; of an STL, where the middle of its extents goes"),
    key("solids.radius", QUANTITY, "of a sphere or cylinder"),
    key("solids.axis", DIRECTION, "direction of a cylinder in three dimensions: [0, 0, 1], or \"z\""),
    key("solids.length", QUANTITY, "of a cylinder, from end to end; infinite if not given"),
    key("solids.from", POINT, "lower corner of a box, or of an image: the origin unless given"),
    key("solids.to", POINT, "upper corner of a box"),
    key(
        "solids.file",
        TEXT,
        "STL file, text or binary, or image (.nrrd, .raw, .png, slice_*.png), beside the case or relative to where the command runs",
    ),
    key(
        "solids.scale",
        QUANTITY,
        "what a unit of the STL file, or the width of a voxel, is: cells, or a length in SI; else one cell, or one metre",
    ),
    key("solids.rotate", POINT, "turns of an STL about x, then y, then z, in degrees"),
    key(
        "solids.voxels",
        Takes::List(&COUNT),
        "numbers of voxels of a .raw file along each axis, x fastest, a byte each",
    ),
    key(
        "solids.solid",
        Takes::Word(&["above", "below"]),
        "which voxels of an image are solid: above (the default) or below its threshold",
    ),
    key("solids.threshold", QUANTITY, "value that solid voxels are above or below; else the image has two values"),
    key(
        "solids.patches",
        PATCHES,
        "boundary conditions of the solids in an STL text file, by their names: [{ solid = \"lid\", rule = \"moving_wall\", ... }]",
    ),
    key(
        "solids.section",
        PLANE,
        "in two dimensions the plane that cuts the STL surface, turned but not yet scaled: { normal = \"z\", at = 0.1 }",
    ),
    key(
        "solids.close",
        QUANTITY,
        "extent of the largest hole of an STL surface that is closed: cells, or a length in SI",
    ),
    key("solids.rule", TEXT, "boundary condition of the surface"),
    key("solids.level", LEVEL, "level of the cells at the surface; else refinement.finest"),
    key("solids.shells", SHELLS, "least levels around the surface: [{ level = 1, within = 16 }]"),
    key(
        "solids.motion.displacement",
        Takes::List(&FORMULA),
        "how the solid moves: for each axis its displacement, a formula of the time; the velocity of its surface follows",
    ),
    key(
        "solids.motion.angle",
        FORMULA,
        "how the solid turns: an angle in radians, to the left, a formula of the time; the velocity of its surface follows",
    ),
    key(
        "solids.motion.axis",
        DIRECTION,
        "direction of the axis about which it turns, in three dimensions: [0, 0, 1], or \"z\"",
    ),
    key(
        "solids.motion.pivot",
        POINT,
        "a point of that axis, where the shape is given, which is displaced with the solid; else the middle of its extents",
    ),
    key(
        "solids.area",
        QUANTITY,
        "reference area of the force's coefficients (a length in two dimensions); else that of a sphere's cross-section, in three \
         dimensions a cylinder's diameter times its length (in the domain, where it has no ends), or \
         fluid.length to the power of the dimension less one",
    ),
    key(
        "solids.nusselt",
        Takes::Table(&[("difference", QUANTITY), ("area", QUANTITY)]),
        "what the Nusselt number of the surface refers to, with `output.heat`: { difference = 1, area = 63 }, of the scalar between the surface and \
         the fluid; the area (a length in two dimensions) is known of spheres, boxes, circles and STL surfaces",
    ),
    key("solids.*", VALUE, "a parameter of the boundary condition: a number, or a formula of position and time"),
    key("refinement.finest", COUNT, "the finest level: its cells and steps are the coarsest ones' over 2^finest"),
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
    key("refinement.ratio", QUANTITY, "ratio of the thresholds of two levels: 2 unless given"),
    key(
        "refinement.hysteresis",
        QUANTITY,
        "fraction of its threshold below which a level is coarsened: 0.5 unless given",
    ),
    key(
        "refinement.every",
        COUNT,
        "time steps of the coarsest level between two changes of the grid, which follows the criterion and solids that move",
    ),
    key("refinement.pinned", BOXES, "boxes whose blocks do not change: { from = [0, 0], to = [16, 16] }"),
    key("refinement.coarsest", LEVEL, "the coarsest level: 0 unless given"),
    key(
        "refinement.memory",
        TEXT,
        "memory that the grid may take on each device: \"8 GiB\"; else most of what that has",
    ),
    key("refinement.boxes", BOXES, "boxes with a target level: { level = 1, from = [0, 0], to = [16, 16] }"),
    key("refinement.coupling", TEXT, "coupling at refinement interfaces: volumetric_shifted (the default) or another"),
    key("stop.steps", COUNT, "most time steps of the coarsest level"),
    key("stop.time", QUANTITY, "longest time"),
    key(
        "stop.steady",
        QUANTITY,
        "change of velocity between checks, over the reference velocity, below which the flow counts as steady",
    ),
    key("stop.check_every", COUNT, "time steps between checks"),
    key(
        "output.directory",
        TEXT,
        "where files go: a folder below the one that the command runs in (`--out` may name any)",
    ),
    key("output.profiles", Takes::Truth, "write centre lines"),
    key("output.picture", Takes::Truth, "draw the velocity, the vorticity and scalars"),
    key(
        "output.slice",
        PLANE,
        "plane of the pictures in three dimensions: { normal = \"y\", at = 32 }; else the middle one normal to z",
    ),
    key("output.grid", Takes::Truth, "draw the edges of blocks over the pictures of a refined grid: true unless given"),
    key(
        "output.vtk",
        Takes::Either(&[Takes::Truth, Takes::Word(&["amr", "unstructured"])]),
        "write fields for ParaView: true, and of a refined grid \"amr\" (the default in 3-D) or \"unstructured\" (in 2-D)",
    ),
    key(
        "output.fields",
        Takes::List(&TEXT),
        "what VTK files have, by name: [\"velocity\", \"vorticity\"]; else the fields of the method",
    ),
    key("output.every", STEPS, "time steps between VTK files, or in SI units a time"),
    key("output.series", STEPS, "time steps, or a time, between rows of energy, enstrophy, dissipation and the like"),
    key(
        "output.restart",
        STEPS,
        "time steps, or a time, between files from which the run goes on (`--resume`); one more at the end",
    ),
    key("output.forces", STEPS, "time steps, or a time, between rows of the force on solids"),
    key(
        "output.heat",
        STEPS,
        "time steps, or a time, between rows of the temperature or other scalar that solids give to the fluid",
    ),
    key(
        "output.surfaces",
        STEPS,
        "time steps, or a time, between files of pressure and friction on solids; one more at the end",
    ),
    key(
        "output.sections",
        Takes::List(&PLANE),
        "with `surfaces`, in three dimensions: planes along whose curves on solids pressure and friction are written as tables: [{ normal = \"y\", at = 32 }]",
    ),
    key(
        "output.average_from",
        FROM,
        "the first step, or a time, of the means of forces, heat, probes and fluxes in summary.json; else it is chosen",
    ),
    key("output.compare", TEXT, "published profiles, or a published series, to compare with"),
    key(
        "fields.*",
        FORMULA,
        "a field of the case's own, by its name: a formula of components of fields and of slopes of the velocity, \"uy * temperature\"",
    ),
    key(
        "report.*",
        TEXT,
        "a number that follows from the results, under `[report]`: a formula of them, printed and in summary.json, \
         `permeability = \"viscosity * mean_ux * porosity / forcex\"`",
    ),
    key("probes.name", TEXT, "points at which fields are recorded, under `[[probes]]`: the file is `probe_NAME.csv`"),
    key("probes.at", Takes::List(&Takes::Either(&[QUANTITY, POINT])), "the points: [[40, 32], [60, 32]], or one"),
    key("probes.from", POINT, "first point of a line, or lowest of a rectangle or a box, in the place of `at`"),
    key("probes.to", POINT, "last point of a line, or highest of a rectangle or a box"),
    key(
        "probes.points",
        Takes::Either(&[COUNT, Takes::List(&COUNT)]),
        "number of points of a line, both ends among them; of a rectangle or a box one for each axis, for files for ParaView: [129, 65]",
    ),
    key("probes.fields", Takes::List(&TEXT), "what is recorded, by name; else [\"density\", \"velocity\"]"),
    key("probes.every", STEPS, "time steps, or in SI units a time, between rows"),
    key("pictures.field", TEXT, "a picture of a field by its name, under `[[pictures]]`; of vectors the magnitude"),
    key(
        "pictures.statistics",
        TEXT,
        "the name of the statistics that the field is a result of: `mean_velocity`, `rms_velocity`",
    ),
    key(
        "pictures.name",
        TEXT,
        "what its file is called: `NAME.png`, with `every` `NAME_00001000.png`; else as the field",
    ),
    key("pictures.title", TEXT, "what stands above it; else the name of the case, and what is shown of it"),
    key(
        "pictures.range",
        POINT,
        "values at the ends of the colour bar, in its units: [-2, 2]; else they follow from the field",
    ),
    key(
        "pictures.scale",
        Takes::Word(&["linear", "log"]),
        "whether equal steps of colours are equal differences (linear, the default) or equal ratios (log)",
    ),
    key(
        "pictures.colours",
        Takes::Colours,
        "the colour map: sequential, diverging, viridis or another; else as suits the field",
    ),
    key(
        "pictures.contours",
        Takes::Either(&[Takes::Whole(0), POINT]),
        "lines along which the field is constant: how many between the ends of the colour bar, or their values: 9 or [0.5, 1]",
    ),
    key(
        "pictures.slice",
        PLANE,
        "its plane in three dimensions: { normal = \"y\", at = 32 }; else the middle one normal to z",
    ),
    key(
        "pictures.from",
        POINT,
        "lower left corner of the part of the plane that is shown: [40, 20]; else that of the domain",
    ),
    key("pictures.to", POINT, "its upper right corner"),
    key("pictures.streamlines", Takes::Truth, "draw streamlines of the velocity over the field"),
    key("pictures.grid", Takes::Truth, "draw the edges of blocks over it on a refined grid: true unless given"),
    key("pictures.size", COUNT, "pixels along the longer side of the field: 1000 unless given"),
    key("pictures.every", STEPS, "time steps, or a time, between pictures; else there is one at the end"),
    key(
        "pictures.film",
        Takes::Either(&[Takes::Truth, COUNT]),
        "true, or pictures a second: with `every`, also one film of them all, `NAME.gif`",
    ),
    key(
        "views.isosurface",
        TEXT,
        "a view, under `[[views]]`, of the surface on which a field has a value: its name; of vectors the magnitude",
    ),
    key("views.value", QUANTITY, "the value on the surface, in the units of a colour bar or in SI with its unit"),
    key("views.colour", TEXT, "the field, by its name, that colours the surface; else it has one colour"),
    key("views.name", TEXT, "what its file is called: `NAME.png`, with `every` `NAME_00001000.png`; else as the field"),
    key(
        "views.range",
        POINT,
        "values at the ends of the colour bar, in its units: [0, 1.5]; else those on the surface",
    ),
    key(
        "views.colours",
        Takes::Colours,
        "the colour map, as of pictures; else as suits the field that colours the surface",
    ),
    key("views.from", Takes::List(&Takes::Number), "direction from which it is looked at: [0.5, -1, 0.6] unless given"),
    key("views.size", COUNT, "pixels along the longer side of what is seen of the domain: 1000 unless given"),
    key("views.every", STEPS, "time steps, or a time, between views; else there is one at the end"),
    key(
        "views.film",
        Takes::Either(&[Takes::Truth, COUNT]),
        "true, or views a second: with `every`, also one film of them all, `NAME.gif`",
    ),
    key(
        "statistics.name",
        TEXT,
        "statistics over time in every cell, under `[[statistics]]`: the file is `statistics_NAME.vti`, or as fields of a refined grid",
    ),
    key(
        "statistics.fields",
        NAMED,
        "the fields, by name; else \
         [\"density\", \"velocity\"]",
    ),
    key(
        "statistics.of",
        Takes::List(&Takes::Word(&["mean", "rms", "stresses", "min", "max"])),
        "what is made of them: mean, rms (of the fluctuation), stresses, min, max; else [\"mean\", \"rms\"]",
    ),
    key("statistics.from", FROM, "the first step that is sampled, or in SI units a time"),
    key("statistics.every", STEPS, "time steps, or a time, between samples"),
    key(
        "fluxes.name",
        TEXT,
        "what flows through a plane, under `[[fluxes]]`: what its rows in `fluxes.csv` are called",
    ),
    key(
        "fluxes.face",
        Takes::Word(&FACES),
        "the plane at an end of the domain: left, right, bottom, top, back or front",
    ),
    key("fluxes.plane", PLANE, "another plane: { normal = \"x\", at = 32 }"),
    key(
        "fluxes.from",
        POINT,
        "lower corner of a part of the plane, along the other axes in their order; else that of the domain",
    ),
    key("fluxes.to", POINT, "its upper corner"),
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
