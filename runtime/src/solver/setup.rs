//! From what a user says (sizes, rules and parameters by name) to what kernels take.

use lbm_bundle::{Boundary, Manifest, Param};

use std::sync::Arc;

use super::Adaptivity;
use super::error::StepError;
use super::fields::Fields;
use super::memory::Shared;
use super::prescribed::Item;
use super::statistics;
use crate::device::{Buffer, Device, DeviceError, Int, Real};
use crate::geometry::Face;
use crate::geometry::solid::{Motion, Solid};
use crate::kernels::layout::Layout;
use crate::kernels::{self, Prescribed, Statistics};
use crate::mesh::forest::{ForestError, Pool};
use crate::mesh::{self, Behind, Room, WallId};

/// A grid and what lies behind its faces.
#[derive(Clone)]
pub struct GridSpec {
    /// Cells along each axis, multiples of the block; 1 beyond the dimension.
    pub size: [usize; 3],
    /// Faces in the order of [`Face::ALL`]; those beyond the dimension are not looked at.
    pub faces: [FaceSpec; 6],
    /// Solids in the box.
    pub solids: Vec<Solid>,
    /// What varies at their surfaces, in the same order; nothing at those for which there is no entry.
    pub surfaces: Vec<Varying>,
    /// Walls at parts of faces, in the place of the face's own; where several are, the first.
    pub patches: Vec<Patch>,
    /// How they move, in the same order; those for which there is none stay.
    pub motions: Vec<Option<Motion>>,
    /// The formulas of what depends on time.
    pub prescribed: Option<Prescribed>,
    /// What is accumulated over time.
    pub statistics: Option<Statistics>,
}

impl GridSpec {
    /// A box that is periodic along every axis.
    pub fn periodic(size: [usize; 3]) -> Self {
        GridSpec {
            size,
            faces: std::array::from_fn(|_| FaceSpec::Periodic),
            solids: Vec::new(),
            surfaces: Vec::new(),
            patches: Vec::new(),
            motions: Vec::new(),
            prescribed: None,
            statistics: None,
        }
    }

    /// The same with a wall at a face.
    pub fn with_wall(mut self, face: Face, rule: &str, values: &[(&str, &[f64])]) -> Self {
        let values = values.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect();
        let (rule, varying) = (rule.to_string(), Varying::default());
        self.faces[face.index()] = FaceSpec::Wall(WallSpec { rule, values, varying });
        self
    }

    /// The same with another solid in it.
    pub fn with_solid(mut self, solid: Solid) -> Self {
        self.solids.push(solid);
        self
    }

    /// The same where the last solid moves.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.motions.resize(self.solids.len().saturating_sub(1), None);
        self.motions.push(Some(motion));
        self
    }
}

/// What lies behind a face.
#[derive(Clone)]
pub enum FaceSpec {
    /// The opposite end of the box.
    Periodic,
    /// A wall.
    Wall(WallSpec),
}

/// A number at each place of a face, `[x, y, z]` in cells of the coarsest level.
pub type Profile = Arc<dyn Fn([f64; 3]) -> f64 + Send + Sync>;

/// Which points of a face are meant, `[x, y, z]` in cells of the coarsest level.
pub type Region = Arc<dyn Fn([f64; 3]) -> bool + Send + Sync>;

/// A wall at a part of a face. It and the face have link-wise rules, because each link across the face gets a wall of its own.
#[derive(Clone)]
pub struct Patch {
    /// The face.
    pub face: Face,
    /// The places at which links cross the face that have this wall.
    pub region: Region,
    /// The wall.
    pub wall: WallSpec,
}

/// A boundary rule with its parameters.
#[derive(Clone)]
pub struct WallSpec {
    /// Name of the rule.
    pub rule: String,
    /// Its parameters by name, each with all its components.
    pub values: Vec<(String, Vec<f64>)>,
    /// What varies of them.
    pub varying: Varying,
}

/// Parameters of a boundary rule that are not the same everywhere and at all times, by name, each with all its components.
#[derive(Clone, Default)]
pub struct Varying {
    /// Those that vary along the face or over the surface, whatever other values they have.
    pub profiles: Vec<(String, Vec<Profile>)>,
    /// Those that depend on time, which `profiles` or other values have at its beginning: the number of the formula of each component in
    /// [`GridSpec::prescribed`].
    pub timed: Vec<(String, Vec<usize>)>,
}

/// A wall instance as kernels see it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    pub(super) rule: i32,
    pub(super) values: Vec<f64>,
}

/// Cells that an axis has at least where a rule of nodes is at one of its ends: the next cell inwards then touches neither.
const LEAST_BETWEEN_NODES: usize = 3;

/// The faces of a grid.
pub(super) struct Faces {
    /// What is behind each.
    pub(super) behind: [Behind; 6],
    /// The walls that they refer to.
    pub(super) instances: Vec<Instance>,
    /// What formulas give of those that are the same all along their faces.
    pub(super) items: Vec<Item>,
}

/// Resolves the faces of a grid of so many levels.
pub(super) fn faces(manifest: &Manifest, spec: &GridSpec, levels: usize) -> Result<Faces, StepError> {
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
            let owner = format!("`{}` at {}", rule.name, face.name());
            // Where values vary, those of the face itself are of no use.
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

pub(super) fn find_rule<'a>(manifest: &'a Manifest, face: Face, name: &str) -> Result<&'a Boundary, StepError> {
    manifest.boundaries.iter().find(|rule| rule.name == name).ok_or_else(|| StepError::Rule {
        face: face.name(),
        rule: name.to_string(),
        known: list(manifest.boundaries.iter().map(|rule| rule.name.as_str())),
    })
}

pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// The values of `params` in their order, every one given once and valid.
pub(super) fn resolve(owner: &str, params: &[Param], given: &[(String, Vec<f64>)]) -> Result<Vec<Vec<f64>>, StepError> {
    let known = || list(params.iter().map(|param| param.name.as_str()));
    if let Some((name, _)) = given.iter().find(|(name, _)| !params.iter().any(|param| param.name == *name)) {
        return Err(StepError::SurplusParam { owner: owner.to_string(), name: name.clone(), known: known() });
    }
    params
        .iter()
        .map(|param| {
            let (_, values) =
                given.iter().rev().find(|(name, _)| *name == param.name).ok_or_else(|| StepError::MissingParam {
                    owner: owner.to_string(),
                    name: param.name.clone(),
                    doc: param.doc.clone(),
                    known: known(),
                })?;
            valid(owner, param, values)?;
            Ok(values.clone())
        })
        .collect()
}

fn valid(owner: &str, param: &Param, values: &[f64]) -> Result<(), StepError> {
    let (owner, name) = (owner.to_string(), param.name.clone());
    if values.len() != param.components as usize {
        return Err(StepError::Components { owner, name, wanted: param.components as usize, found: values.len() });
    }
    let (low, high) = param.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    match values.iter().find(|value| !(**value > low && **value < high)) {
        None => Ok(()),
        Some(value) => {
            let allowed = match param.range {
                Some((low, high)) => format!("between {low} and {high}"),
                None => "finite".to_string(),
            };
            Err(StepError::Range { owner, name, value: *value, allowed })
        }
    }
}

/// Room for the blocks of a grid: in the memory that it may take, and no more than its finest level could have, with the blocks
/// that are refined in a change, which go when it ends. Says what GPUs share: of a grid that follows the flow nothing, where one has room for
/// all, because moving memory makes changes slower.
pub(super) fn room(
    device: &Device,
    manifest: &Manifest,
    spec: &GridSpec,
    adaptivity: &Adaptivity,
) -> Result<(Room, Shared), StepError> {
    let size = spec.size;
    let dim = manifest.dim as usize;
    let roots: usize =
        mesh::roots(size, manifest.block.map(|side| side as usize)).map_err(ForestError::from)?.iter().product();
    let memory = memory_for(device, adaptivity);
    let kept = if adaptivity.keeps { Layout::fields(manifest).slot_len() * manifest.real.bytes() } else { 0 };
    let [accumulated, most_moved] = statistics::bytes_of_slot(manifest, spec.statistics.as_ref());
    let moved = if adaptivity.during.is_some() { most_moved } else { 0 };
    let [own, at_interfaces] = Fields::bytes_of_slot(manifest);
    let own = own + kept + accumulated + moved;
    let most = roots.saturating_mul(1usize.checked_shl((dim * adaptivity.levels.end()) as u32).unwrap_or(usize::MAX));
    let most = most.saturating_add(most >> dim).saturating_add(1 << dim);
    let within = |of_slot: usize| Pool::within(dim, roots, memory, of_slot, mesh::holds(manifest)).slots;
    let follows = adaptivity.during.is_some();
    // What refined blocks come to hold in a change is known to the device alone.
    let gpus = if follows && mesh::holds(manifest) { 1 } else { adaptivity.sharing };
    let (slots, shared) = slots_within(within, most, [own, at_interfaces], (gpus, follows));
    Ok((Room { most: slots, all: follows }, shared))
}

/// How many slots there are, `most` at most, where there is room for so many of so many bytes, and what GPUs share, as many as may do so: of the
/// bytes of a slot the first.
fn slots_within(
    within: impl Fn(usize) -> usize,
    most: usize,
    [own, of_all]: [usize; 2],
    (gpus, follows): (usize, bool),
) -> (usize, Shared) {
    let slots = |shared: Shared| within(shared.of(own, gpus) + of_all).min(most);
    let shared = match follows {
        false => Shared::Evenly,
        true if gpus > 1 && slots(Shared::No) < most => Shared::WithSpare,
        true => Shared::No,
    };
    (slots(shared), shared)
}

/// Bytes that a grid may take on a device.
pub(super) fn memory_for(device: &Device, adaptivity: &Adaptivity) -> usize {
    match (adaptivity.memory, device.memory_available()) {
        (Some(memory), _) => memory,
        (None, Some(available)) => (SHARE_OF_MEMORY * available as f64) as usize,
        (None, None) => usize::MAX,
    }
}

/// Share of the memory available that a grid takes that may change, unless it is told.
pub const SHARE_OF_MEMORY: f64 = 0.8;

/// The parameters of the method on a level, in the order of the manifest.
#[derive(Clone)]
pub(super) struct Params {
    values: Vec<Vec<f64>>,
    packed: kernels::Params,
}

impl Params {
    pub(super) fn new(manifest: &Manifest, given: &[(String, Vec<f64>)]) -> Result<Self, StepError> {
        Ok(Params::of(manifest, resolve(&format!("`{}`", manifest.spec), &manifest.params, given)?))
    }

    fn of(manifest: &Manifest, values: Vec<Vec<f64>>) -> Self {
        Params { packed: kernels::Params::new(manifest, &values), values }
    }

    /// As kernels take them.
    pub(super) fn packed(&self) -> &kernels::Params {
        &self.packed
    }

    pub(super) fn set(&mut self, manifest: &Manifest, name: &str, values: &[f64]) -> Result<(), StepError> {
        let owner = format!("`{}`", manifest.spec);
        let at = manifest.params.iter().position(|param| param.name == name);
        let at = at.ok_or_else(|| StepError::SurplusParam {
            owner: owner.clone(),
            name: name.to_string(),
            known: list(manifest.params.iter().map(|param| param.name.as_str())),
        })?;
        valid(&owner, &manifest.params[at], values)?;
        self.values[at] = values.to_vec();
        self.packed = kernels::Params::new(manifest, &self.values);
        Ok(())
    }

    /// Those of so many levels, from those of the coarsest.
    pub(super) fn of_levels(self, manifest: &Manifest, levels: usize) -> Result<Vec<Params>, StepError> {
        let mut all = vec![self];
        while all.len() < levels {
            if manifest.coupling.is_none() {
                return Err(StepError::NoCoupling { spec: manifest.spec.clone() });
            }
            let values = manifest.finer(&all[all.len() - 1].values);
            for (param, values) in manifest.params.iter().zip(&values) {
                valid(&format!("`{}`", manifest.spec), param, values).map_err(|error| error.on_level(all.len()))?;
            }
            all.push(Params::of(manifest, values));
        }
        Ok(all)
    }
}

/// Wall instances on the device.
pub(super) struct Walls {
    pub(super) rules: Buffer<Int>,
    pub(super) values: Buffer<Real>,
}

impl Walls {
    pub(super) fn new(device: &Device, manifest: &Manifest, instances: &[Instance]) -> Result<Self, DeviceError> {
        let stride = manifest.wall_stride as usize;
        let rules: Vec<i32> = instances.iter().map(|instance| instance.rule).collect();
        let mut values = device.alloc_reals(manifest.real, instances.len() * stride)?;
        for (at, instance) in instances.iter().enumerate() {
            values.write_reals(at * stride, &instance.values)?;
        }
        Ok(Walls { rules: device.ints(&rules)?, values })
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic;

    use super::*;
    use crate::fixture::manifest;

    fn help(error: &StepError) -> String {
        error.help().map(|help| help.to_string()).unwrap_or_default()
    }

    #[test]
    fn gpus_share_the_blocks_of_a_grid_that_follows_the_flow_where_one_has_not_room_for_all() {
        let slots = |most: usize, gpus: usize, follows: bool| {
            slots_within(|of_slot| 1_000_000 / of_slot, most, [1000, 100], (gpus, follows))
        };
        assert_eq!([900, 910].map(|most| slots(most, 2, true).1), [Shared::No, Shared::WithSpare]);
        assert_eq!((slots(5000, 1, true), slots(900, 2, true).0), ((909, Shared::No), 900));
        let of_gpus = [2, 4, 8].map(|gpus| slots(5000, gpus, true).0);
        assert_eq!(of_gpus, [706, 403, 252].map(|of_slot| 1_000_000 / of_slot));
        assert_eq!(slots(5000, 2, false), (1_000_000 / 600, Shared::Evenly));
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

    #[test]
    fn parameters_of_the_method_are_checked_against_their_range() {
        let omega = |value: f64| Params::new(&manifest(), &[("omega".into(), vec![value])]);
        let manifest = manifest();
        assert_eq!(*omega(1.5).unwrap().packed(), kernels::Params::new(&manifest, &[vec![1.5]]));
        for wrong in [0.0, 2.0, f64::NAN] {
            let error = omega(wrong).err().expect("outside (0, 2)");
            assert_eq!(help(&error), "it must be between 0 and 2");
        }
    }
}
