//! The state that the tools share, and the arguments that several of them have.

use std::path::PathBuf;

use metaspy_reader::{Filter, FilterError, Store, Totals};

use crate::answer::ToolError;
use crate::library::Library;
use crate::shell::Pattern;

/// Items of a list that are made for one answer, before it is cut to its size.
pub const ITEMS: usize = 400;

/// The state that the tools share.
pub struct Session {
    /// The recordings.
    pub recordings: Library,
    /// Commands that may run.
    pub allowed: Vec<Pattern>,
    /// The program that answers SQL, if it is there.
    pub engine: Option<PathBuf>,
}

/// Parses the filter of a call. Without one, every event passes.
pub(crate) fn filter_of(text: Option<&str>) -> Result<Filter, ToolError> {
    match text {
        Some(text) => text.parse().map_err(|error| ToolError::new(format!("filter: {error}"))),
        None => Ok(Filter::all()),
    }
}

/// Fails if a selector of the filter matches no site. An unknown kind of subjects is a note,
/// because kinds are known when a subject of theirs is met.
pub fn check(filter: &Filter, store: &Store, notes: &mut Vec<String>) -> Result<(), ToolError> {
    match filter.check(store) {
        Err(error @ FilterError::NoSuchKind { .. }) => notes.push(format!("filter: {error}")),
        // The sentence of this error is about the crawler.
        Err(FilterError::NoSuchSite { selector, nearest }) if nearest.is_empty() => {
            return Err(ToolError::new(format!(
                "filter: no site matches `{selector}`: the tool `rows` lists the sites"
            )));
        }
        checked => checked.map_err(|error| ToolError::new(format!("filter: {error}")))?,
    }
    Ok(())
}

/// Returns advice about a recording whose calls have no events, so that an agent does not look for
/// them.
pub fn only_counted(store: &Store) -> Option<String> {
    let Totals { stored, folded, counted, .. } = store.totals();
    (stored + folded == 0 && counted > 0).then(|| {
        "its calls were only counted: events, with their times and causes, are recorded with METASPY_MODE=full \
         (`METASPY_MODE=full cargo metaspy run`)"
            .to_owned()
    })
}

/// Returns sentences about the parts that a recording should hold and does not: an answer may lack
/// their events.
pub fn missing(store: &Store) -> Vec<String> {
    let absent = store.absent_files().map(|absent| absent.to_string());
    store.missing().iter().cloned().chain(absent).collect()
}
