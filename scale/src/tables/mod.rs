//! The tables of a recording. Every table has the columns `run`, `host` and `process` of its
//! recording first.
//!
//! `events` is read in place, block by block, and `findings` are searched for. All others are
//! small, and are made when a query names them.

mod causes;
pub mod columns;
pub mod events;
mod findings;
pub mod partitions;
mod profiles;
mod program;
mod tallies;

use std::sync::Arc;

use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::plan_err;
use datafusion::datasource::MemTable;
use datafusion::error::Result;

use crate::recordings::Recording;
use events::Events;

/// The version of the tables. Columns and tables may be added; every other change increases it.
///
/// Since version 2, the outcome of a failed call is `none` or `err` where its site returns an
/// `Option` or a `Result`, and the files of a sealed set have the hash of their content in their
/// names. Since version 3, the number of failures is null where hooks do not see what calls return.
/// Since version 4, a cause in another process is null.
pub const SCHEMA_VERSION: u32 = 4;

/// A table that is neither `events` nor `findings`: its name, its meaning, and how the rows of one
/// recording are made.
struct Small {
    name: &'static str,
    about: &'static str,
    rows: fn(&Recording) -> Result<RecordBatch>,
}

/// The name and the meaning of the table of events.
const EVENTS: (&str, &str) =
    ("events", "the events in the window, without calls of metaspy itself");

/// The name and the meaning of the table of findings, which sealed sets lack: a search needs the
/// recording.
const FINDINGS: (&str, &str) =
    ("findings", "what is wrong with the program, as metaspy findings states it");

const SMALL: &[Small] = &[
    Small {
        name: "recordings",
        about: "the recordings of the query, and how complete they are",
        rows: program::recordings,
    },
    Small {
        name: "sites",
        about: "the places in the code, also those that never ran",
        rows: program::sites,
    },
    Small { name: "lanes", about: "the threads", rows: program::lanes },
    Small {
        name: "subjects",
        about: "the subjects, with labels and exact counts",
        rows: tallies::subjects_of,
    },
    Small {
        name: "tallies",
        about: "exact counts, outcomes and times by site and subject",
        rows: tallies::tallies,
    },
    Small {
        name: "relations",
        about: "the edges of the model between subjects",
        rows: causes::relations,
    },
    Small {
        name: "links",
        about: "further reasons of events, beside their causes",
        rows: causes::links,
    },
];

/// True for a table that only recordings in place have.
pub fn needs_recording(name: &str) -> bool {
    name == FINDINGS.0
}

/// The names of the tables that these recordings have, each with its meaning.
pub fn names(recordings: &[Recording]) -> Vec<(String, String)> {
    let own = |(name, about): (&str, &str)| (name.to_owned(), about.to_owned());
    let small = SMALL.iter().map(|table| own((table.name, table.about)));
    let profiles = profiles::names(recordings).into_iter();
    [own(EVENTS), own(FINDINGS)].into_iter().chain(small).chain(profiles).collect()
}

/// The rows of one recording in a table that is neither `events` nor `findings`.
pub fn rows(recording: &Recording, name: &str) -> Result<RecordBatch> {
    match SMALL.iter().find(|table| table.name == name) {
        Some(table) => (table.rows)(recording),
        None => {
            let batches = profiles::batches(std::slice::from_ref(recording), name)?;
            let Some(first) = batches.first() else { return plan_err!("there is no table {name}") };
            Ok(concat_batches(&first.schema(), &batches)?)
        }
    }
}

/// The table with this name; `None` if there is none.
pub fn table(recordings: &Arc<[Recording]>, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    if name == EVENTS.0 {
        return Ok(Some(Arc::new(Events::new(recordings.clone()))));
    }
    if name == FINDINGS.0 {
        return findings::table(recordings);
    }
    let batches = match SMALL.iter().find(|table| table.name == name) {
        Some(table) => recordings.iter().map(table.rows).collect::<Result<Vec<_>>>()?,
        None => match profiles::batches(recordings, name)? {
            batches if batches.is_empty() => return Ok(None),
            batches => batches,
        },
    };
    let Some(first) = batches.first() else { return Ok(None) };
    let schema = first.schema();
    Ok(Some(Arc::new(MemTable::try_new(
        schema,
        batches.into_iter().map(|batch| vec![batch]).collect(),
    )?)))
}
