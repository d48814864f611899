//! Chains of causes as stacks of names, for the formats of flame graphs.

use std::io;

use metaspy_reader::{ChainFrame, Chains, Store};

use super::Selection;

/// Reads the chains of causes of the selected events.
pub fn read(selection: &Selection<'_>) -> io::Result<Chains> {
    let mut result = Ok(());
    let chains = selection.store.chains(selection.filter, |done, all| {
        result = selection.report(done as f64 / all.max(1) as f64, done);
        result.is_ok()
    });
    result?;
    Ok(chains.unwrap_or_default())
}

/// The name of a part of a chain.
pub fn name(store: &Store, frame: ChainFrame) -> &str {
    match frame {
        ChainFrame::Site(site) => store.site_path(site),
        ChainFrame::Left => "(causes left the window)",
        ChainFrame::Deeper => "(longer chains)",
    }
}

/// Returns sentences about the causes that the stacks of these chains lack.
pub fn notes(chains: &Chains) -> Vec<String> {
    let mut notes = Vec::new();
    if !chains.exact {
        notes.push("some chains of causes were too long to follow; they are below `(causes left the window)`".into());
    }
    if chains.chains.iter().any(|chain| chain.frame == ChainFrame::Deeper) {
        notes.push("chains of more than 256 causes end in `(longer chains)`".into());
    }
    notes
}
