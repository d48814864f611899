//! Collapsed stacks: a line for each chain of causes or calling context, `root;…;call weight`, as
//! `flamegraph.pl` and `inferno` read them.

use std::io::{self, Write};

use super::{Exporter, Selection, Written, printable, stacks};
use crate::contexts::{self, Contexts, notes};

/// Collapsed stacks: <https://github.com/brendangregg/FlameGraph>. The stack of a call is its chain
/// of causes.
#[derive(Clone, Copy, Debug)]
pub struct Collapsed(pub Weight);

/// The weight of a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Calls.
    Count,
    /// Self time in nanoseconds.
    SelfTime,
}

impl Exporter<Selection<'_>> for Collapsed {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let Selection { store, .. } = *selection;
        let chains = stacks::read(selection)?;
        for (at, chain) in chains.chains.iter().enumerate() {
            let weight = match self.0 {
                Weight::Count => chain.count,
                Weight::SelfTime => store.span_ns(chain.self_ticks),
            };
            if weight > 0 {
                let frames = chains
                    .frames(at)
                    .into_iter()
                    .map(|frame| frame_name(stacks::name(store, frame)));
                writeln!(out, "{} {weight}", frames.collect::<Vec<_>>().join(";"))?;
            }
        }
        let mut notes = stacks::notes(&chains);
        if self.0 == Weight::SelfTime && !chains.timed {
            notes.push(
                "no selected event was timed, so no chain has a weight; `collapsed` has the counts"
                    .into(),
            );
        }
        Ok(Written { events: chains.chains.iter().map(|chain| chain.count).sum(), notes })
    }
}

impl Exporter<Contexts> for Collapsed {
    fn export(&self, contexts: &Contexts, out: &mut dyn Write) -> io::Result<Written> {
        let mut written = Written { events: 0, notes: notes(contexts) };
        for (at, context) in contexts.all().iter().enumerate().skip(1) {
            let weight = match self.0 {
                Weight::Count => context.values.calls,
                Weight::SelfTime => context.values.self_ns,
            };
            written.events = written.events.saturating_add(context.values.calls);
            if weight > 0 {
                let frames: Vec<String> = contexts.path(at).into_iter().map(frame_name).collect();
                writeln!(out, "{} {weight}", frames.join(";"))?;
            }
        }
        if self.0 == Weight::SelfTime && contexts.weight() != contexts::Weight::Time {
            written.notes.push(
                "no call was timed, so no context has a weight; `contexts` has the counts".into(),
            );
        }
        Ok(written)
    }
}

/// The contexts of a recording; none if it has no tree.
pub(super) fn contexts_of(selection: &Selection<'_>) -> Contexts {
    Contexts::read(selection.store).unwrap_or_default()
}

/// A name without the separators of the format.
fn frame_name(name: &str) -> String {
    printable(name).replace(';', ":")
}
