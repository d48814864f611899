//! The heat of files, for the explorer: a file is the sum of its functions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use metaspy_report::text::{counted, grouped};
use serde::Serialize;

use crate::heat::{Classes, Heat, Metric};
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::uri;

/// The heat of a file.
#[derive(Debug, Serialize)]
pub struct FileHeat {
    /// Its address.
    pub uri: String,
    /// Its class and its level among all files.
    #[serde(flatten)]
    pub heat: Heat,
    /// Its numbers in one line.
    pub text: String,
}

/// The heat of the files that were recorded, by path.
pub fn of(snapshot: &Snapshot, settings: &Settings) -> Vec<FileHeat> {
    let mut all = Vec::new();
    // Averages do not add up.
    let metric = if settings.metric == Metric::TimePerCall { Metric::TotalTime } else { settings.metric };
    for model in &snapshot.models {
        let mut files: BTreeMap<&PathBuf, (u64, u64, u64)> = BTreeMap::new();
        let is_own = |file: &&PathBuf| snapshot.model_of(file).is_some_and(|own| std::ptr::eq(own, model));
        for file in model.files.keys().filter(is_own) {
            for numbers in model.numbers_of(file) {
                let (value, ran, functions) = files.entry(file).or_default();
                *value += metric.of(&numbers).unwrap_or(0);
                *ran += u64::from(numbers.calls > 0);
                *functions += 1;
            }
        }
        let classes = Classes::new(&files.values().map(|(value, ..)| *value).collect::<Vec<_>>(), settings.scale);
        all.extend(files.into_iter().filter_map(|(file, (value, ran, functions))| {
            let text = format!("{} · {} of {} ran", metric.write(value), grouped(ran), counted(functions, "function"));
            Some(FileHeat { uri: uri::of_path(file)?.as_str().to_owned(), heat: classes.heat(value), text })
        }));
    }
    all
}
