//! Manifests from text, the version first: a manifest of another version may have other keys.

use std::fmt;

use serde::Deserialize;

use crate::{ABI, Manifest};

/// Why a text is no manifest for this program.
#[derive(Debug)]
pub enum ManifestError {
    /// It follows this other version of the contract.
    Abi {
        /// Name of its spec.
        spec: String,
        /// Version of the bundle.
        found: u32,
    },
    /// It is no manifest at all.
    Text(serde_json::Error),
}

impl fmt::Display for ManifestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abi { spec, found } => {
                write!(out, "the bundle of `{spec}` follows version {found} of the kernel interface, this program ")?;
                write!(out, "version {ABI}: generate the bundle again with the lbmc of this version")
            }
            Self::Text(error) => write!(out, "this is no manifest of a bundle: {error}"),
        }
    }
}

impl std::error::Error for ManifestError {}

/// What manifests of all versions have.
#[derive(Deserialize)]
struct Head {
    abi: u32,
    spec: String,
}

impl Manifest {
    /// Reads `<spec>.json`.
    pub fn from_json(text: &str) -> Result<Manifest, ManifestError> {
        let Head { abi, spec } = serde_json::from_str(text).map_err(ManifestError::Text)?;
        if abi != ABI {
            return Err(ManifestError::Abi { spec, found: abi });
        }
        serde_json::from_str(text).map_err(ManifestError::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_named_even_if_its_keys_are_unknown() {
        let error = Manifest::from_json(r#"{"abi": 77, "spec": "d2q9_mine", "novelty": []}"#).expect_err("not ours");
        let text = error.to_string();
        let ours = format!("version {ABI}");
        for part in ["d2q9_mine", "version 77", &ours, "generate the bundle again"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }

    #[test]
    fn what_is_no_manifest_is_said_to_be_none() {
        let text = format!(r#"{{"abi": {ABI}, "spec": "d2q9_mine"}}"#);
        assert!(Manifest::from_json(&text).expect_err("no keys").to_string().contains("target"));
    }
}
