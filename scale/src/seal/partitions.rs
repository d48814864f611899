//! [`Partitions`] of a set: those that can be read, and the others with the reason.

use std::fmt;

use anyhow::{Result, bail};
use object_store::path::Path;

use super::manifest::{LAYOUT_VERSION, Manifest};
use crate::tables::SCHEMA_VERSION;

/// The partitions of a set.
#[derive(Default)]
pub struct Partitions {
    /// Those with a manifest and all of its files.
    pub complete: Vec<Manifest>,
    /// The others: their seal has not ended, or a file is lost or cut.
    pub unreadable: Vec<Unreadable>,
}

/// A partition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its place in the set.
    pub partition: Path,
    /// Why, and what to do.
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.partition, self.why)
    }
}

/// What to do about a partition whose files are damaged.
pub(super) const REMEDY: &str =
    "copy it from a whole set, or remove its directory, and seal the recording again";

/// An error: a manifest is no JSON, or differs from its checksum.
#[derive(Debug)]
pub struct DamagedManifest(String);

impl fmt::Display for DamagedManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DamagedManifest {}

/// Reads a manifest.
pub(super) fn read(key: &Path, text: &[u8]) -> Result<Manifest> {
    let manifest = Manifest::from_json(text)
        .map_err(|error| DamagedManifest(format!("{key} is damaged: {error:#}: {REMEDY}")))?;
    let layout = manifest.layout_version;
    let schema = manifest.schema_version;
    for (what, found, known) in
        [("layout", layout, LAYOUT_VERSION), ("tables", schema, SCHEMA_VERSION)]
    {
        if found > known {
            bail!(
                "{key} has version {found} of the {what}, and this metaspy reads up to {known}: install a newer one"
            );
        }
    }
    Ok(manifest)
}
