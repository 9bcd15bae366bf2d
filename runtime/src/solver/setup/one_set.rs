//! Flows that have one set of populations: which rules of walls they may have.

use lbm_bundle::{Manifest, Role};

use crate::geometry::Face;
use crate::solver::arrays::walls::Instance;
use crate::solver::error::StepError;
use crate::solver::spec::{FaceSpec, GridSpec};

/// Refuses what reads populations of cells around, which a step replaces. `instances`: the walls of the flow.
pub(crate) fn check(manifest: &Manifest, spec: &GridSpec, instances: &[Instance]) -> Result<(), StepError> {
    let refuse = |what: String| Err(StepError::OneSet { what });
    if manifest.kernel(Role::CollideOut).is_none() {
        return refuse("kernels that are made for two".into());
    }
    if spec.motions.iter().any(Option::is_some) {
        return refuse("solids that move".into());
    }
    if spec.laws.iter().any(Option::is_some) {
        return refuse("a law of the wall".into());
    }
    let of = |code: i32| manifest.boundaries.iter().find(|boundary| boundary.code == code);
    let is_listed = |codes: &[i32], code: &i32| codes.contains(code);
    let (everywhere, on_faces) = (&manifest.in_place_rules, &manifest.in_place_face_rules);
    let unfit = |instance: &&Instance| !is_listed(everywhere, &instance.rule) && !is_listed(on_faces, &instance.rule);
    if let Some(rule) = instances.iter().find(unfit).and_then(|instance| of(instance.rule)) {
        return refuse(format!("the boundary condition `{}`, which reads more than its cell keeps", rule.name));
    }
    // On surfaces of solids a rule of nodes reads what arrives from other cells, link by link.
    let on_solids = |rule: &str| manifest.boundaries.iter().find(|boundary| boundary.nodes && boundary.name == rule);
    if let Some(rule) = spec.solids.iter().find_map(|solid| on_solids(&solid.rule)) {
        return refuse(format!("the boundary condition `{}` on solids", rule.name));
    }
    // Where faces of nodes meet.
    let named = |face: &Face| match &spec.faces[face.index()] {
        FaceSpec::Wall(wall) => manifest.boundaries.iter().find(|boundary| boundary.name == wall.rule),
        FaceSpec::Periodic => None,
    };
    let faces = Face::ALL.into_iter().take(2 * manifest.dim as usize);
    let nodes: Vec<(Face, _)> =
        faces.filter_map(|face| Some((face, named(&face).filter(|rule| rule.nodes)?))).collect();
    let meeting = nodes.iter().find(|(face, rule)| {
        let axis = |face: &Face| face.index() / 2;
        is_listed(on_faces, &rule.code) && nodes.iter().any(|(other, _)| axis(other) != axis(face))
    });
    match meeting {
        Some((_, rule)) => refuse(format!("`{}` where faces of wet-node boundary conditions meet", rule.name)),
        None => Ok(()),
    }
}
