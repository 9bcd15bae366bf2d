//! Surfaces of solids, and faces along which values vary: the cutters of links, and the walls that cut links meet.

use lbm_bundle::slides::{SLIP, SOURCE, offsets_of};
use lbm_bundle::{Boundary, DISTANCE, Manifest, Param, Role};

use crate::geometry::Face;
use crate::geometry::solid::{Crossed, Crossing, Cutters, Padding, Solid, Solids, Tables};
use crate::mesh::{Behind, WallId};
use crate::solver::arrays::prescribed::Item;
use crate::solver::arrays::walls::{Instance, list, resolve};
use crate::solver::error::StepError;
use crate::solver::spec::{FaceSpec, GridSpec, Profile, Varying};

/// The parameter of a boundary rule that takes the velocity of a moving surface.
const VELOCITY: &str = "velocity";

/// The offset of the velocity of a moving solid's surface among the values of its wall. Refuses rules without such a parameter.
pub(crate) fn velocity_at(manifest: &Manifest, solid: &Solid) -> Result<usize, StepError> {
    let rule = surface_rule(manifest, solid)?;
    let is_velocity = |param: &&Param| param.name == VELOCITY && param.components == manifest.dim;
    match rule.params.iter().find(is_velocity) {
        None => Err(StepError::StillRule { rule: rule.name.clone() }),
        Some(_) => {
            let before = rule.params.iter().take_while(|param| param.name != VELOCITY);
            Ok(before.map(|param| param.components as usize).sum())
        }
    }
}

/// The cutters of a grid: its solids, the faces along which values vary, and those inside of blocks. `faces`: what lies behind each face;
/// `first`: the number of the wall of the first solid.
pub(crate) fn cutters(
    manifest: &Manifest,
    spec: &GridSpec,
    faces: [Behind; 6],
    first: usize,
) -> Result<Option<Cutters>, StepError> {
    let varies = |face: &FaceSpec| matches!(face, FaceSpec::Wall(wall) if !wall.varying.profiles.is_empty());
    let is_patched = |face: usize| spec.patches.iter().any(|patch| patch.face.index() == face);
    let varying: [bool; 6] =
        std::array::from_fn(|face| face < 2 * manifest.dim as usize && (varies(&spec.faces[face]) || is_patched(face)));
    let (dim, block) = (manifest.dim as usize, manifest.block.map(|side| side as usize));
    let walls = [0, 1, 2].map(|axis| match faces[2 * axis + 1] {
        Behind::Wall(WallId(wall)) if !spec.size[axis].is_multiple_of(block[axis]) => {
            Some((wall as usize, distance_of(&spec.faces[2 * axis + 1])))
        }
        _ => None,
    });
    if spec.solids.is_empty() && varying == [false; 6] && walls == [None; 3] {
        return Ok(None);
    }
    let periodic = spec.periodic_axes(dim);
    let rule_is = |face: usize, what: &dyn Fn(&Boundary) -> bool| match &spec.faces[face] {
        FaceSpec::Wall(wall) => {
            face < 2 * dim && manifest.boundaries.iter().any(|rule| rule.name == wall.rule && what(rule))
        }
        FaceSpec::Periodic => false,
    };
    let symmetry_planes = std::array::from_fn(|face| rule_is(face, &|rule| manifest.mirror_rules.contains(&rule.code)));
    let nodes = std::array::from_fn(|face| rule_is(face, &|rule| rule.nodes));
    let varying_solids = (0..spec.solids.len()).filter(|at| varying_of(spec, *at).is_some()).collect();
    let solids = Solids::new(&spec.solids, dim, spec.size, block, periodic).moving(&spec.solids, &spec.motions);
    let at_interfaces = [Role::StreamCollideInterfaceSolid, Role::StreamCollideGhostsSolid];
    let faces_at_interfaces = at_interfaces.into_iter().any(|role| manifest.kernel(role).is_some());
    let padding = Padding { walls, level: 0 };
    Ok(Some(Cutters { solids, first, padding, varying, varying_solids, symmetry_planes, nodes, faces_at_interfaces }))
}

/// The distance of the wall at a face from the cells there.
fn distance_of(face: &FaceSpec) -> f64 {
    let FaceSpec::Wall(wall) = face else { return 0.5 };
    let given = wall.values.iter().find(|(name, _)| name == DISTANCE);
    given.and_then(|(_, values)| values.first().copied()).unwrap_or(0.5)
}

/// The values that vary over the surface of a solid, if any.
fn varying_of(spec: &GridSpec, solid: usize) -> Option<&Varying> {
    spec.surfaces.get(solid).filter(|varying| !varying.profiles.is_empty())
}

/// The walls of the solids' surfaces, the first with the number `first`, and their values that formulas of time prescribe.
pub(crate) fn surfaces(
    manifest: &Manifest,
    spec: &GridSpec,
    first: usize,
) -> Result<(Vec<Instance>, Vec<Item>), StepError> {
    let (mut instances, mut items) = (vec![], vec![]);
    for (at, solid) in spec.solids.iter().enumerate() {
        let rule = surface_rule(manifest, solid)?;
        let varying = spec.surfaces.get(at).cloned().unwrap_or_default();
        // The velocity of a moving surface follows from its motion.
        let motion = spec.motions.get(at).and_then(Option::as_ref);
        if let Some(motion) = motion {
            velocity_at(manifest, solid)?;
            if !varying.profiles.is_empty() || motion.turns() && !varying.timed.is_empty() {
                return Err(StepError::StillRule { rule: rule.name.clone() });
            }
        }
        if varying.profiles.is_empty() {
            items.extend(Item::of_wall(spec, &varying, rule, first + at, ([0.0; 3], None))?);
        }
        // Values that vary are given link by link, so those of the whole surface are unused.
        let useless = varying.profiles.iter().map(|(name, profiles)| (name.clone(), vec![0.0; profiles.len()]));
        let followed = motion.map(|_| (VELOCITY.to_string(), vec![0.0; manifest.dim as usize]));
        // Those of a surface that slides are found step by step.
        let slides = offsets_of(rule, manifest.dim).is_some();
        let slides = [(SLIP, manifest.dim as usize), (SOURCE, 1)].into_iter().filter(|_| slides);
        let slides = slides.map(|(name, components)| (name.to_string(), vec![0.0; components]));
        instances.push(surface(rule, solid, useless.chain(followed).chain(slides))?);
    }
    Ok((instances, items))
}

/// The rule of a solid's surface.
pub(crate) fn surface_rule<'a>(manifest: &'a Manifest, solid: &Solid) -> Result<&'a Boundary, StepError> {
    let fitting = || manifest.boundaries.iter().filter(|rule| manifest.solid_rules.contains(&rule.code));
    fitting().find(|rule| rule.name == solid.rule).ok_or_else(|| StepError::SolidRule {
        rule: solid.rule.clone(),
        known: list(fitting().map(|rule| rule.name.as_str())),
    })
}

/// The wall of a solid's surface, with these values besides its own.
fn surface(
    rule: &Boundary,
    solid: &Solid,
    more: impl Iterator<Item = (String, Vec<f64>)>,
) -> Result<Instance, StepError> {
    let mut values: Vec<_> = solid.values.iter().cloned().chain(more).collect();
    if let Some(distance) = rule.params.iter().find(|param| param.name == DISTANCE) {
        // Placeholder: kernels read the distance of the link.
        values.push((distance.name.clone(), vec![0.5; distance.components as usize]));
    }
    let values = resolve(&format!("`{}` of a solid", rule.name), &rule.params, &values)?;
    Ok(Instance { rule: rule.code, values: values.into_iter().flatten().collect() })
}

/// Adds the walls of links that cross faces and surfaces along which values vary, and their values that formulas of time prescribe.
/// Returns the solid of each wall, those that existed before included, or -1.
pub(crate) fn crossings(
    manifest: &Manifest,
    spec: &GridSpec,
    (first, tables): (usize, &Tables),
    (instances, items): (&mut Vec<Instance>, &mut Vec<Item>),
) -> Result<Vec<i32>, StepError> {
    let mut owners = vec![-1; first];
    owners.extend(0..spec.solids.len() as i32);
    for Crossing { of, level, at } in &tables.crossings {
        let here = (*at, Some(*level));
        let given = |(name, profiles): &(String, Vec<Profile>)| {
            (name.clone(), profiles.iter().map(|profile| profile(*at)).collect::<Vec<f64>>())
        };
        match of {
            Crossed::Face(number) => {
                let (face, FaceSpec::Wall(wall)) = (Face::ALL[*number], &spec.faces[*number]) else {
                    unreachable!("a face that varies is a wall")
                };
                let patch = spec.patches.iter().find(|patch| patch.face == face && (patch.region)(*at));
                let wall = patch.map_or(wall, |patch| &patch.wall);
                let rule = crate::solver::arrays::walls::find_rule(manifest, face, &wall.rule)?;
                if !rule.nodes && !manifest.solid_rules.contains(&rule.code) {
                    return Err(StepError::VaryingRule { face: face.name(), rule: rule.name.clone() });
                }
                items.extend(Item::of_wall(spec, &wall.varying, rule, instances.len(), here)?);
                let values: Vec<_> =
                    wall.values.iter().cloned().chain(wall.varying.profiles.iter().map(given)).collect();
                let values = resolve(&format!("`{}` at {}", rule.name, face.name()), &rule.params, &values)?;
                instances.push(Instance { rule: rule.code, values: values.into_iter().flatten().collect() });
                owners.push(-1);
            }
            Crossed::Solid(number) => {
                let solid = &spec.solids[*number];
                let rule = surface_rule(manifest, solid)?;
                let varying = &spec.surfaces[*number];
                items.extend(Item::of_wall(spec, varying, rule, instances.len(), here)?);
                instances.push(surface(rule, solid, varying.profiles.iter().map(given))?);
                owners.push(*number as i32);
            }
        }
    }
    Ok(owners)
}
