//! Asynchronous copies of the macroscopic fields of a step to the host, while the flow goes on.

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::{Scalar, Staging};
use crate::geometry::Domain;
use crate::geometry::solid::Cutters;
use crate::kernels::layout::Layout;
use crate::mesh::SubdomainId;
use crate::mesh::forest::Leaf;
use crate::solver::error::StepError;
use crate::solver::measure::gather;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::simulation::Simulation;
use crate::solver::solids::layers::Layers;

/// Fields of a step, with their grid. Any thread may make a snapshot of them.
pub struct Capture(Fields);

enum Fields {
    /// A copy that may still be in progress.
    Copied(Box<Copied>),
    /// A finished snapshot: in several processes fields are gathered at once.
    There(Box<Snapshot>),
}

struct Copied {
    step: u64,
    manifest: Manifest,
    domain: Domain,
    leaves: Arc<[Leaf]>,
    cutters: Option<Arc<Cutters>>,
    layers: Option<Layers>,
    /// The slot whose values are the first of the copy.
    first: usize,
    staging: Staging,
}

impl Simulation {
    /// Starts a copy of the macroscopic fields of the current step; the flow may go on before it is complete. In several processes the
    /// first has the fields, and others have zeros.
    pub fn capture(&mut self, mut staging: Staging) -> Result<Capture, StepError> {
        if self.subdomains.processes().is_some() {
            return Ok(Capture(Fields::There(Box::new(self.snapshot()?))));
        }
        self.sample()?;
        let layout = Layout::fields(self.manifest());
        let leaves = self.grid().shared_leaves()?;
        let slots = || leaves.iter().map(|leaf| leaf.slot.index());
        let (first, end) = (slots().min().unwrap_or(0), slots().max().map_or(0, |last| last + 1));
        let array = |id: SubdomainId| self.subdomains.get(id).map(|subdomain| subdomain.fields().macroscopic.array());
        let values = |slots: Range<usize>| slots.start * layout.slot_len()..slots.end * layout.slot_len();
        let runs = self.subdomains.runs(first..end).into_iter();
        let copied: Vec<_> = runs.filter_map(|(id, slots)| Some((array(id)?, values(slots)))).collect();
        staging.copy(&copied)?;
        Ok(Capture(Fields::Copied(Box::new(Copied {
            step: self.step(),
            manifest: self.manifest().clone(),
            domain: self.grid().domain(),
            leaves,
            cutters: self.cutters().cloned(),
            layers: self.layers()?,
            first,
            staging,
        }))))
    }
}

impl Capture {
    /// The fields on the host, as [`Simulation::snapshot`] would have given them; waits for the copy. The memory of the copy is then
    /// free.
    pub fn snapshot(self) -> Result<Snapshot, StepError> {
        let Copied { step, manifest, domain, leaves, cutters, layers, first, staging } = match self.0 {
            Fields::Copied(copied) => *copied,
            Fields::There(snapshot) => return Ok(*snapshot),
        };
        let before = first * Layout::fields(&manifest).slot_len();
        let scalar = Scalar::computed(manifest.real);
        let read = |range: Range<usize>| staging.reals(scalar, range.start - before..range.end - before);
        let mut snapshot = gather::gather(read, gather::of_fields(&manifest), domain, &leaves, step)?;
        drop(staging);
        gather::mask_solid(&mut snapshot, &manifest, &leaves, cutters.as_deref());
        snapshot.layers = layers;
        Ok(snapshot)
    }
}
