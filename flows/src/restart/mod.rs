//! Restart files: the complete state of a run, from which it resumes with the same bits as an uninterrupted run.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `lbmc` and four bytes that a copy as text would change |
//! | 4 | version of the format |
//! | 8 | length of the head |
//! | | the head: JSON, see [`Head`] |
//! | 32 | BLAKE3 of all preceding bytes |
//! | | the sections that the head lists, one after the other |
//! | 32 | BLAKE3 of the sections |
//!
//! Numbers are little-endian. The sections, in this order:
//!
//! - `leaves`: for each leaf its level and its position, as four 32-bit integers
//! - `populations`: the current populations of each leaf in the same order, `[direction][cell]`, in the format of the
//!   device; then those of refined blocks, if these store any
//! - `checked`, if the head declares it: the fields of all leaves at the last check for steady flow, in the same order,
//!   `[component][cell]`
//! - `statistics NAME`, for each of [`Course::statistics`]: 64-bit accumulators of all leaves in the same order,
//!   `[accumulator][cell]`
//! - `fields`, from which [other flows start](crate::case)
//!
//! A reader skips unknown sections after these.
//!
//! The same bits require the same machine code: the identity in the head includes the compiler, its flags and the
//! processor.
//!
//! Hashes are not signatures: anyone who can write a file can write its hashes. The reader therefore compares all sizes
//! and counts in the file with the flow before it uses them (`check`).
//!
//! Populations are not compressed: for a cavity zstd saves 9 %, at a tenth of the speed of a disk. An addition to the
//! state of a run is a field of [`Course`] with a default, or a section. A change that older readers would misread
//! requires a new version.

mod check;
mod error;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::{Bundle, Manifest, Real, Target, plain};
use serde::{Deserialize, Serialize};

pub use error::RestartError;
pub use read::Restart;
pub use write::write;

use lbm_runtime::device::Toolchain;
use lbm_runtime::solver::Adaptations;

use crate::case::saved::{FIELDS, FRONT, HASH, LEAVES, MAGIC, SavedFields, Section, VERSION};
use crate::case::{Case, Statistics};
use crate::output::{Bits, Recorded};

const POPULATIONS: &str = "populations";
const CHECKED: &str = "checked";
/// Largest head in bytes: a million rows of time series and forces, or all numbers that probes may record
/// ([`crate::case::MOST_NUMBERS`]).
const LONGEST_HEAD: u64 = 256 << 20;
/// Number of differences that are listed individually.
const LISTED: usize = 8;

/// Identity of a flow: everything that must be unchanged when a run is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    spec: String,
    target: Target,
    precision: Real,
    block: [u32; 3],
    /// BLAKE3 of the manifest and the kernel sources.
    kernels: String,
    /// Settings of the case that define the flow.
    keys: BTreeMap<String, String>,
    /// The toolchain that compiles the kernels. Another toolchain computes the same flow, but not the same bits.
    #[serde(default)]
    toolchain: Toolchain,
}

impl Identity {
    /// Identity of a case, with the kernels of its method and of its criteria, and their toolchain.
    pub fn new(case: &Case, bundle: &Bundle, criteria: Option<&CriteriaBundle>, toolchain: Toolchain) -> Identity {
        let Manifest { spec, target, real, block, .. } = &bundle.manifest;
        let manifest = serde_json::to_vec(&bundle.manifest).unwrap_or_default();
        let mut kernels = blake3::Hasher::new();
        kernels.update(&manifest).update(bundle.source.text.as_bytes());
        if let Some(criteria) = criteria {
            kernels.update(criteria.source.text.as_bytes());
        }
        let mut keys = case.keys.clone();
        let observed: Vec<&str> =
            bundle.manifest.fields.iter().filter(|field| field.observed).map(|field| &field.name[..]).collect();
        if !observed.is_empty() {
            keys.insert("observables".into(), observed.join(", "));
        }
        Identity {
            spec: spec.clone(),
            target: *target,
            precision: *real,
            block: *block,
            kernels: kernels.finalize().to_hex().to_string(),
            keys,
            toolchain,
        }
    }

    /// Differences between the saved flow and the current one, one sentence each. Text from the file is shortened, and
    /// escaped for terminals.
    fn differences(&self, now: &Identity, program: &str) -> Vec<String> {
        let mut found = vec![];
        let mut compare = |what: &str, then: String, now: String| {
            if then != now {
                found.push(format!("{what} was {} and is {}", shown(&then), shown(&now)));
            }
        };
        let both = self.target.is_gpu() && now.target.is_gpu();
        let target = |target: Target| match target.is_gpu() {
            true if both => target.name(),
            true => "the GPU",
            false => "the CPU",
        };
        let given = |value: Option<&String>| value.map_or("not given".to_string(), String::clone);
        compare("the method", format!("`{}`", self.spec), format!("`{}`", now.spec));
        compare("`precision`", self.precision.name().into(), now.precision.name().into());
        compare("`target`", target(self.target).into(), target(now.target).into());
        compare("`block`", format!("{:?}", self.block), format!("{:?}", now.block));
        for key in self.keys.keys().chain(now.keys.keys()).collect::<BTreeSet<_>>() {
            compare(&format!("`{}`", shown(key)), given(self.keys.get(key)), given(now.keys.get(key)));
        }
        if found.is_empty() && self.kernels != now.kernels {
            let (spec, own, program) = (&now.spec, env!("CARGO_PKG_VERSION"), shown(program));
            found.push(format!(
                "the kernels of `{spec}` are others: its text or lbmc has changed (lbmc was {program} and is {own})"
            ));
        }
        brief(found)
    }

    /// Differences between the saved toolchain and the current one, one sentence each.
    fn other_toolchain(&self, now: &Identity) -> Vec<String> {
        let given = |value: Option<&String>| value.map_or("not known".to_string(), |value| shown(value));
        let names: BTreeSet<&String> = self.toolchain.keys().chain(now.toolchain.keys()).collect();
        let values = names.into_iter().map(|name| (name, self.toolchain.get(name), now.toolchain.get(name)));
        let differ = values.filter(|(_, then, now)| then != now);
        brief(
            differ
                .map(|(name, then, now)| format!("{} was {} and is {}", shown(name), given(then), given(now)))
                .collect(),
        )
    }
}

/// Text from a file, shortened, and escaped for terminals.
fn shown(text: &str) -> String {
    plain::shown(&text.chars().take(200).collect::<String>())
}

/// Limits the number of sentences.
fn brief(mut found: Vec<String>) -> Vec<String> {
    if found.len() > LISTED {
        let more = found.split_off(LISTED).len();
        found.push(format!("and {more} more"));
    }
    found
}

/// State of a run besides its populations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Completed steps.
    pub step: u64,
    /// Wall time of these steps, in seconds.
    pub seconds: Bits,
    /// Wall time spent waiting for output, in seconds.
    #[serde(default)]
    pub waited: Bits,
    /// Cell updates in these steps.
    pub updates: u64,
    /// Counts of grid adaptations.
    pub adaptations: Adaptations,
    /// Number of blocks that have changed since the data were last sorted.
    #[serde(default)]
    pub scattered: usize,
    /// Initial sum of each set of populations, by name.
    pub start: Vec<(String, Bits)>,
    /// Change of velocity at the last check for steady flow.
    pub residual: Option<Bits>,
    /// Output already written.
    pub recorded: Recorded,
    /// Sums over the steps since the last rows of forces and of heat, if solids move.
    #[serde(default)]
    pub exchanged: Vec<SavedExchanges>,
    /// The statistics that have samples.
    #[serde(default)]
    pub statistics: Vec<SavedStatistics>,
}

/// Exchange between solids and fluid, summed over some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedExchanges {
    /// Number of steps.
    pub steps: u64,
    /// For each solid, the sums of the force, of the torque, and of the gain of each set of populations.
    pub sums: Vec<Bits>,
}

impl SavedExchanges {
    /// Whether the sums are possible for this number of solids, of sets of populations and of completed steps.
    fn fits(&self, solids: usize, sets: usize, steps: u64) -> bool {
        self.steps <= steps && self.sums.len() == solids * (6 + sets)
    }
}

/// Range of the sampled steps of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// A statistic in a restart file. Its accumulators are a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedStatistics {
    name: String,
    /// Distinguishes it from other statistics of the same name.
    definition: String,
    samples: u64,
    steps: Sampled,
}

impl SavedStatistics {
    /// Name of its section.
    fn section(&self) -> String {
        format!("statistics {}", self.name)
    }
}

/// The entries for all statistics of a case that have samples.
pub fn saved(all: &[Statistics], sampled: &[Option<Sampled>], samples: &[u64]) -> Vec<SavedStatistics> {
    let with_samples = all.iter().zip(sampled).zip(samples).filter_map(|((of, sampled), samples)| {
        let (name, definition) = (of.name.clone(), of.definition());
        Some(SavedStatistics { name, definition, samples: *samples, steps: (*sampled)? })
    });
    with_samples.collect()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    /// Version of lbmc.
    program: String,
    identity: Identity,
    course: Course,
    /// Step of the last check for steady flow, if its fields are saved.
    checked: Option<u64>,
    /// Description of the section `fields`; absent in older files.
    #[serde(default)]
    fields: Option<SavedFields>,
    sections: Vec<Section>,
}
