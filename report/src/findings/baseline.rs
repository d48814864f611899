//! Findings that were known before: the JSON of an earlier search.

use std::collections::HashSet;

use serde::Deserialize;

/// Number of the format of the JSON. It changes if a key gets another meaning.
pub(super) const FORMAT: u64 = 1;

/// Fingerprints of an earlier search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(HashSet<String>);

#[derive(Deserialize)]
struct Document {
    format: u64,
    findings: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    fingerprint: String,
}

impl Baseline {
    /// Parses the output of `metaspy findings --json`.
    ///
    /// # Errors
    ///
    /// Returns a sentence that describes the error and names the command that writes a baseline.
    pub fn parse(json: &[u8]) -> Result<Baseline, String> {
        let advice = "write it with `metaspy findings RECORDING --json=FILE`";
        let document: Document = serde_json::from_slice(json)
            .map_err(|error| format!("it is no list of findings ({error}): {advice}"))?;
        if document.format != FORMAT {
            return Err(format!("its format {} is of another version: {advice}", document.format));
        }
        Ok(Baseline(document.findings.into_iter().map(|known| known.fingerprint).collect()))
    }

    /// Returns true if the earlier search found a finding with this fingerprint.
    pub fn knows(&self, fingerprint: &str) -> bool {
        self.0.contains(fingerprint)
    }
}
