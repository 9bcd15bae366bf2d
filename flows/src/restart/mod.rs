//! Restart files: all that a run needs to go on with the same bits as if it had never stopped.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `lbmc` and four bytes that a copy as text would change |
//! | 4 | version of the format |
//! | 8 | length of the head |
//! | | the head: JSON, see [`Head`] |
//! | 32 | BLAKE3 of all so far |
//! | | the sections that the head lists, one after the other |
//! | 32 | BLAKE3 of the sections |
//!
//! Numbers are little-endian. Sections: `leaves`, of each leaf its level and its place as four 32-bit integers;
//! `populations`, the current ones of each leaf in the same order, `[direction][cell]`, as they are on the device, and
//! then those that refined blocks hold, if they do; `checked`, if the head says so, the fields of leaves at the last check for
//! steady flow, in the same order, `[component][cell]`; `statistics NAME`, for each of [`Course::statistics`], accumulators of leaves in
//! 64 bits, in the same order, `[accumulator][cell]`. They come in this order; a reader skips sections behind them. Behind them is `fields`,
//! from which [other flows start](crate::case).
//!
//! The same bits come from the same machine code: the identity in the head has the compiler, its flags and the processor.
//!
//! A hash is no signature: whoever can write a file can write its hashes. A reader believes nothing that the file says of
//! sizes and counts before it has compared it with the flow (`check`).
//!
//! Populations are not compressed: of those of a cavity zstd saves 9 %, at a tenth of the speed of a disk. An addition to what
//! a run remembers is a field of [`Course`] with a default, or a section; a change that old readers would misread is a new
//! version.

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
/// Most bytes of the head: a million rows of series and forces, or all numbers that probes may record ([`crate::case::MOST_NUMBERS`]).
const LONGEST_HEAD: u64 = 256 << 20;
/// Differences that are listed one by one.
const LISTED: usize = 8;

/// Which flow it is: what must be the same when a run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    spec: String,
    target: Target,
    precision: Real,
    block: [u32; 3],
    /// BLAKE3 of the manifest and the sources of the kernels.
    kernels: String,
    /// What the case says of the flow.
    keys: BTreeMap<String, String>,
    /// What the kernels are compiled with; another toolchain gives the same flow, but not the same bits.
    #[serde(default)]
    toolchain: Toolchain,
}

impl Identity {
    /// Of a case, the kernels of its method and of its criteria, and what compiles them.
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

    /// How a flow now differs from the one that was saved, a sentence each. What the file says is shown as a terminal may show it,
    /// and not at any length.
    fn differences(&self, now: &Identity, program: &str) -> Vec<String> {
        let mut found = vec![];
        let mut compare = |what: &str, then: String, now: String| {
            if then != now {
                found.push(format!("{what} was {} and is {}", shown(&then), shown(&now)));
            }
        };
        let target = |target: Target| if target.is_gpu() { "the GPU" } else { "the CPU" };
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

    /// How the machine code differs from that of the flow that was saved, a sentence each.
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

/// What a file says, as a terminal may show it, and not at any length.
fn shown(text: &str) -> String {
    plain::shown(&text.chars().take(200).collect::<String>())
}

/// Not more sentences than somebody reads.
fn brief(mut found: Vec<String>) -> Vec<String> {
    if found.len() > LISTED {
        let more = found.split_off(LISTED).len();
        found.push(format!("and {more} more"));
    }
    found
}

/// What a run remembers besides its populations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Steps done.
    pub step: u64,
    /// Wall time of these steps, in seconds.
    pub seconds: Bits,
    /// Wall time for which the flow waited for output, in seconds.
    #[serde(default)]
    pub waited: Bits,
    /// Cell updates in these steps.
    pub updates: u64,
    /// What changes of the grid have brought.
    pub adaptations: Adaptations,
    /// Blocks that have changed since the data were put into order the last time.
    #[serde(default)]
    pub scattered: usize,
    /// Sums of all sets of populations at the start, by name.
    pub start: Vec<(String, Bits)>,
    /// Change of velocity at the last check for steady flow.
    pub residual: Option<Bits>,
    /// What has been written.
    pub recorded: Recorded,
    /// Sums over steps since the last rows of forces and of heat, where solids move.
    #[serde(default)]
    pub exchanged: Vec<SavedExchanges>,
    /// The statistics that have samples.
    #[serde(default)]
    pub statistics: Vec<SavedStatistics>,
}

/// What solids and the fluid have exchanged over some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedExchanges {
    /// How many.
    pub steps: u64,
    /// Sums over them of the force, the torque and what each set of populations gains, solid by solid.
    pub sums: Vec<Bits>,
}

impl SavedExchanges {
    /// Whether they are those of so many solids and sets of populations, over no more steps than a run has done.
    fn fits(&self, solids: usize, sets: usize, steps: u64) -> bool {
        self.steps <= steps && self.sums.len() == solids * (6 + sets)
    }
}

/// Which steps statistics have samples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// Statistics in a file. Their accumulators are a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedStatistics {
    name: String,
    /// What tells them from others of that name.
    definition: String,
    samples: u64,
    steps: Sampled,
}

impl SavedStatistics {
    /// The name of their section.
    fn section(&self) -> String {
        format!("statistics {}", self.name)
    }
}

/// What a file has of those statistics of a case that have samples.
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
    /// Step of the last check for steady flow, if it was another.
    checked: Option<u64>,
    /// What the section of fields has; files of before it have none.
    #[serde(default)]
    fields: Option<SavedFields>,
    sections: Vec<Section>,
}
