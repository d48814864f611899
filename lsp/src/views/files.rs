//! Heat of files for the editor's explorer. A file's value is the sum of its functions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use metaspy_report::text::{counted, grouped};
use serde::Serialize;

use crate::heat::{Classes, Heat};
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::uri;

/// Heat of a file.
#[derive(Debug, Serialize)]
pub struct FileHeat {
    /// Address of the file.
    pub uri: String,
    /// Class and level among all files.
    #[serde(flatten)]
    pub heat: Heat,
    /// Summary of the numbers in a single line.
    pub text: String,
}

/// Returns the heat of the recorded files, sorted by path.
pub fn of(snapshot: &Snapshot, settings: &Settings) -> Vec<FileHeat> {
    let mut all = Vec::new();
    // Means cannot be added up, so the total stands in for them.
    let metric = settings.metric.total();
    for model in &snapshot.models {
        let mut files: BTreeMap<&PathBuf, (f64, u64, u64)> = BTreeMap::new();
        let is_own =
            |file: &&PathBuf| snapshot.model_of(file).is_some_and(|own| std::ptr::eq(own, model));
        for file in model.files.keys().filter(is_own) {
            for numbers in model.numbers_of(file) {
                let (value, ran, functions) = files.entry(file).or_default();
                *value += metric.of(&numbers).unwrap_or(0.0);
                *ran += u64::from(numbers.calls > 0);
                *functions += 1;
            }
        }
        let classes = Classes::new(
            &files.values().map(|(value, ..)| *value).collect::<Vec<_>>(),
            settings.scale,
        );
        all.extend(files.into_iter().filter_map(|(file, (value, ran, functions))| {
            let text = format!(
                "{} · {} of {} ran",
                metric.write(value),
                grouped(ran),
                counted(functions, "function")
            );
            Some(FileHeat {
                uri: uri::of_path(file)?.as_str().to_owned(),
                heat: classes.heat(value),
                text,
            })
        }));
    }
    all
}
