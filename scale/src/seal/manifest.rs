//! [`Manifest`]: what a partition holds. A partition is complete when its manifest is there.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use datafusion::arrow::datatypes::Schema;
use object_store::path::{Path, PathPart};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sealed_file::SealedFile;
use crate::recordings::Recording;
use crate::tables::{self, SCHEMA_VERSION};

/// The name of the manifest in its partition.
pub const MANIFEST: &str = "sealed.json";
/// The name of the file, without a hash, that has all of a recording but its events.
pub const REST: &str = "rest.spy.zst";

/// Hexadecimal digits of the hash of a manifest.
const HASH_DIGITS: usize = 16;

/// The field with the checksum of the others.
const CHECKSUM: &str = "crc32_of_this";

/// The version of the layout: where the files are, and their names. Since version 2, names have the
/// hash of the content. Since version 3, each table has a directory of its own.
pub const LAYOUT_VERSION: u32 = 3;

/// The extension of the file of a table.
const TABLE: &str = ".parquet";

/// The layout of manifests that name none. Version 2 was written without its number at first.
fn first_layout() -> u32 {
    1
}

/// The content of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the layout.
    #[serde(default = "first_layout")]
    pub layout_version: u32,
    /// The version of the tables.
    pub schema_version: u32,
    /// The run.
    pub run: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub process: String,
    /// Events in the table `events`.
    pub events: u64,
    /// Bytes of the table `events`.
    pub bytes: u64,
    /// Bytes of the recording, if it can be restored; else 0.
    #[serde(default)]
    pub rest: u64,
    /// The tables.
    pub tables: Vec<String>,
    /// A checksum of the columns of each table: tables with equal ones have equal columns. Empty if
    /// an older metaspy sealed them: then the version of the tables stands for it.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// The files, by the name that they have without the hash of their content. Empty if an older
    /// metaspy sealed them: then these are their names.
    #[serde(default)]
    pub files: BTreeMap<String, SealedFile>,
    /// What was wrong with the recording.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// True if a part of the recording could not be read.
    #[serde(default)]
    pub is_damaged: bool,
    /// How much the recording had. `None` if an older metaspy sealed it.
    #[serde(default)]
    pub had: Option<Amounts>,
    /// The hash of the text that it was read from: two contents of a partition never have one.
    #[serde(skip)]
    pub hash: String,
}

/// How much a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Calls in all its counts.
    pub calls: u64,
    /// Events in its window.
    pub stored: u64,
}

impl Manifest {
    /// The manifest of a recording, with the names of its tables and without files.
    pub fn of(recording: &Recording) -> Self {
        let totals = recording.store.totals();
        let tables =
            tables::names(std::slice::from_ref(recording)).into_iter().map(|(name, _)| name);
        Manifest {
            layout_version: LAYOUT_VERSION,
            schema_version: SCHEMA_VERSION,
            run: recording.run.clone(),
            host: recording.host.clone(),
            process: recording.process.clone(),
            events: 0,
            bytes: 0,
            rest: 0,
            tables: tables.filter(|name| !tables::needs_recording(name)).collect(),
            columns: BTreeMap::new(),
            files: BTreeMap::new(),
            warnings: recording.warnings(),
            is_damaged: recording.is_damaged(),
            had: Some(Amounts { calls: totals.emitted, stored: totals.stored }),
            hash: String::new(),
        }
    }

    /// Reads the text of a manifest.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let mut fields: BTreeMap<String, Value> = serde_json::from_slice(text)?;
        if let Some(noted) = fields.remove(CHECKSUM)
            && noted != checksum(&fields)?
        {
            bail!("it differs from its checksum");
        }
        let mut manifest: Manifest = serde_json::from_value(serde_json::to_value(fields)?)?;
        manifest.hash = blake3::hash(text).to_hex()[..HASH_DIGITS].to_owned();
        Ok(manifest)
    }

    /// The text of the manifest, with a checksum of its own.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut fields: BTreeMap<String, Value> =
            serde_json::from_value(serde_json::to_value(self)?)?;
        fields.insert(CHECKSUM.to_owned(), checksum(&fields)?);
        Ok(serde_json::to_vec_pretty(&fields)?)
    }

    /// Notes the columns of a table.
    pub fn add_columns(&mut self, table: &str, columns: &Schema) {
        let texts = columns
            .fields()
            .iter()
            .map(|field| format!("{} {}\n", field.name(), field.data_type()));
        let checksum = format!("{:08x}", crc32fast::hash(texts.collect::<String>().as_bytes()));
        self.columns.insert(table.to_owned(), checksum);
    }

    /// What is equal for tables of this name with equal columns.
    pub fn columns_of(&self, table: &str) -> (u32, Option<&String>) {
        (self.schema_version, self.columns.get(table))
    }

    /// The path of a file in the set, by the name that the file has without a hash.
    pub fn path_of(&self, plain_name: &str) -> Path {
        let place = match plain_name.strip_suffix(TABLE) {
            Some(table) if self.layout_version >= 3 => self.place_of_table(table),
            _ => self.partition(),
        };
        place.join(self.files.get(plain_name).map_or(plain_name, |file| &file.name))
    }

    /// The place of a table since version 3 of the layout.
    pub fn place_of_table(&self, table: &str) -> Path {
        Path::from_iter([PathPart::from(table)].into_iter().chain(self.partition().parts()))
    }

    /// The names that the files of the tables have without a hash.
    pub fn table_files(&self) -> impl Iterator<Item = String> {
        self.tables.iter().map(|table| table_file(table))
    }

    /// True if both are of one recording, whatever the name of its host is: they have one run and
    /// process, as many events, and one hash of all that is no event.
    pub fn is_of_recording(&self, other: &Manifest) -> bool {
        let (Some(rest), Some(other_rest)) = (self.files.get(REST), other.files.get(REST)) else {
            return false;
        };
        rest.name == other_rest.name
            && (&self.run, &self.process) == (&other.run, &other.process)
            && (self.events, self.had) == (other.events, other.had)
    }

    /// Why this partition does not hold all of the recording with the other manifest. Both have one
    /// name.
    ///
    /// The partition can be of an export that was made while the recording grew, or of a damaged
    /// copy.
    pub fn lacks(&self, whole: &Manifest) -> Option<String> {
        if self.is_damaged && !whole.is_damaged {
            return Some("it was sealed from a damaged copy of this recording".to_owned());
        }
        let had = self.had?;
        let has = whole.had?;
        let lacks = |what, had, has| {
            (had < has).then(|| {
                format!("it was sealed from a part of this recording, with {had} of {has} {what}")
            })
        };
        lacks("calls", had.calls, has.calls).or_else(|| lacks("events", had.stored, has.stored))
    }

    /// The place of the partition. Slashes and other signs of a name are encoded, as engines
    /// expect: `host=a%2Fb`.
    pub fn partition(&self) -> Path {
        let part = |name: &str, value: &str| format!("{name}={value}");
        Path::from_iter([
            part("run", &self.run),
            part("host", &self.host),
            part("process", &self.process),
        ])
    }
}

/// The name that the file of a table has without a hash.
pub fn table_file(table: &str) -> String {
    format!("{table}{TABLE}")
}

/// True for the name of the file of a table.
pub fn is_table(file: &str) -> bool {
    file.ends_with(TABLE)
}

/// The checksum of fields.
fn checksum(fields: &BTreeMap<String, Value>) -> Result<Value> {
    Ok(format!("{:08x}", crc32fast::hash(&serde_json::to_vec(fields)?)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            layout_version: LAYOUT_VERSION,
            schema_version: 1,
            run: "20260131T235959.123456789Z".into(),
            host: "rack/7 ../x".into(),
            process: "app-1".into(),
            events: 0,
            bytes: 0,
            rest: 0,
            tables: Vec::new(),
            columns: BTreeMap::new(),
            files: BTreeMap::new(),
            warnings: Vec::new(),
            is_damaged: false,
            had: None,
            hash: String::new(),
        }
    }

    #[test]
    fn a_changed_digit_is_found() {
        let text =
            String::from_utf8(manifest().to_json().expect("it is JSON")).expect("it is text");
        let read = |text: &[u8]| Manifest {
            hash: String::new(),
            ..Manifest::from_json(text).expect("it is whole")
        };
        assert_eq!(read(text.as_bytes()), manifest());
        for (found, other) in
            [("\"events\": 0", "\"events\": 1"), ("app-1", "app-2"), ("false", "true")]
        {
            assert!(text.contains(found), "{text}");
            Manifest::from_json(text.replace(found, other).as_bytes()).expect_err("it has changed");
        }
        // Those of an older metaspy have no checksum.
        let older = serde_json::to_vec(&manifest()).expect("it is JSON");
        assert_eq!(read(&older), manifest());
    }

    #[test]
    fn names_with_slashes_stay_one_part_of_the_path() {
        let manifest = manifest();
        let path = manifest.partition();
        assert_eq!(path.parts().count(), 3, "{path}");
        assert!(path.as_ref().contains("host=rack%2F7"), "{path}");
    }
}
