//! Resolves the user's description of faces (sizes, rules and parameters by name) to the arguments of kernels.

use lbm_bundle::Manifest;

use crate::geometry::Face;
use crate::mesh::forest::ForestError;
use crate::mesh::{Behind, GridError, WallId};
use crate::solver::arrays::prescribed::Item;
use crate::solver::arrays::walls::{Instance, find_rule, resolve};
use crate::solver::error::StepError;
use crate::solver::spec::{FaceSpec, GridSpec};

/// Least number of cells of an axis with a wet-node rule at one of its ends: so the next cell inwards touches neither end.
const LEAST_BETWEEN_NODES: usize = 3;

/// The faces of a grid.
pub(crate) struct Faces {
    /// What lies behind each face.
    pub(crate) behind: [Behind; 6],
    /// The walls that they refer to.
    pub(crate) instances: Vec<Instance>,
    /// The time-dependent values of walls that are uniform over their face.
    pub(crate) items: Vec<Item>,
}

/// Resolves the faces of a grid of `levels` levels.
pub(crate) fn faces(manifest: &Manifest, spec: &GridSpec, levels: usize) -> Result<Faces, StepError> {
    let (mut instances, mut items) = (vec![], vec![]);
    let mut behind = [Behind::Periodic; 6];
    for face in Face::ALL.into_iter().take(2 * manifest.dim as usize) {
        if let FaceSpec::Wall(wall) = &spec.faces[face.index()] {
            let rule = find_rule(manifest, face, &wall.rule)?;
            if levels > 1 && manifest.one_level_rules.contains(&rule.code) {
                return Err(StepError::OneLevelRule { face: face.name(), rule: rule.name.clone() });
            }
            let cells = spec.size[face.index() / 2];
            if rule.nodes && cells < LEAST_BETWEEN_NODES {
                return Err(StepError::Thin { face: face.name(), rule: rule.name.clone(), cells });
            }
            let (axis, block) = (face.index() / 2, manifest.block[face.index() / 2] as usize);
            // Links are cut at a face inside of blocks. What a cell reads of neighbours there is not that of cut links, and kernels that cut
            // links as solids move know of solids alone.
            let is_cut = !rule.nodes && manifest.solid_rules.contains(&rule.code) && manifest.shown.is_empty();
            let is_inside = face == Face::of_axis(axis)[1] && !cells.is_multiple_of(block);
            if is_inside && (!is_cut || spec.motions.iter().any(Option::is_some)) {
                let axis = ["x", "y", "z"][axis];
                return Err(ForestError::from(GridError::Size { axis, size: cells, block }).into());
            }
            let owner = format!("`{}` at {}", rule.name, face.name());
            // Values that vary are given link by link, so those of the face are unused.
            let varying =
                wall.varying.profiles.iter().map(|(name, profiles)| (name.clone(), vec![0.0; profiles.len()]));
            let values: Vec<_> = wall.values.iter().cloned().chain(varying).collect();
            let values = resolve(&owner, &rule.params, &values)?.into_iter().flatten().collect();
            if wall.varying.profiles.is_empty() {
                items.extend(Item::of_wall(spec, &wall.varying, rule, instances.len(), ([0.0; 3], None))?);
            }
            behind[face.index()] = Behind::Wall(WallId(instances.len() as u32));
            instances.push(Instance { rule: rule.code, values });
        }
    }
    Ok(Faces { behind, instances, items })
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic;

    use super::*;
    use crate::fixture::manifest;
    use crate::geometry::Face;

    fn help(error: &StepError) -> String {
        error.help().map(|help| help.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_unknown_rule_lists_those_there_are() {
        let spec = GridSpec::periodic([8, 8, 1]).with_wall(Face::YMax, "free_slip", &[]);
        let error = faces(&manifest(), &spec, 1).err().expect("no such rule");
        assert!(error.to_string().contains("y_max") && error.to_string().contains("`free_slip`"), "{error}");
        assert!(help(&error).contains("`bounce_back`, `moving_wall`"), "{}", help(&error));
    }

    #[test]
    fn a_wall_needs_all_its_parameters_with_all_components() {
        let at = |values: &[(&str, &[f64])]| {
            faces(&manifest(), &GridSpec::periodic([8, 8, 1]).with_wall(Face::XMin, "moving_wall", values), 1)
        };
        let missing = at(&[]).err().expect("no velocity");
        assert!(missing.to_string().contains("`velocity`"), "{missing}");
        let short = at(&[("velocity", &[0.1])]).err().expect("one component");
        assert!(short.to_string().contains("2 component(s), given: 1"), "{short}");
        let surplus = at(&[("velocity", &[0.1, 0.0]), ("speed", &[1.0])]).err().expect("no such parameter");
        assert!(surplus.to_string().contains("`speed`") && help(&surplus).contains("`velocity`"), "{surplus}");
        let Faces { behind, instances, .. } = at(&[("velocity", &[0.1, 0.2])]).unwrap();
        assert_eq!(behind[Face::XMin.index()], Behind::Wall(WallId(0)));
        assert_eq!(instances, [Instance { rule: 1, values: vec![0.1, 0.2] }]);
    }
}
