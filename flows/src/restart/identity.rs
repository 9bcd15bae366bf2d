//! What must be unchanged when a run is resumed.

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::{Bundle, Manifest, Real, Target, plain};
use lbm_runtime::device::Toolchain;
use serde::{Deserialize, Serialize};

use crate::case::Case;

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
    pub(super) fn differences(&self, now: &Identity, program: &str) -> Vec<String> {
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
    pub(super) fn other_toolchain(&self, now: &Identity) -> Vec<String> {
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
pub(super) fn shown(text: &str) -> String {
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
