//! The tab with the chain of causes, nearest first, and with further causes.

use metaspy_core::store::{Origin, Remote};
use metaspy_core::{Event, Store};

use super::{Content, PaneRow};

/// Most causes that are shown.
const SHOWN: usize = 200;

/// The rows of the tab.
pub fn rows(store: &Store, event: &Event) -> Vec<PaneRow> {
    let mut rows = vec![PaneRow::plain(Content::Current(*event))];
    if let Some(gone) = super::evicted_note(store, event) {
        rows.push(gone);
        return rows;
    }
    let mut ancestors = store.causes(event.id);
    for (depth, cause) in ancestors.by_ref().take(SHOWN).enumerate() {
        rows.push(PaneRow { indent: format!("{}└ ", "  ".repeat(depth.min(8))), content: Content::Event(cause) });
    }
    let end = if rows.len() > SHOWN {
        Some("… and more causes".into())
    } else {
        origin(ancestors.origin(), rows.len() == 1)
    };
    rows.extend(end.map(|text| PaneRow::plain(Content::Note(text))));
    let links = store.links(event.id);
    if !links.is_empty() {
        rows.push(PaneRow::plain(Content::Blank));
        rows.push(PaneRow::plain(Content::Title(format!("further reasons (links)  {}", links.len()))));
        let linked = links.iter().take(SHOWN).map(|&id| match store.event(id) {
            Some(event) => Content::Event(event),
            None => Content::Note(format!("{id}: left the window")),
        });
        rows.extend(linked.map(PaneRow::plain));
    }
    rows
}

/// Why the chain of causes ends here.
pub(super) fn origin(origin: Origin, at_once: bool) -> Option<String> {
    match origin {
        Origin::Root if at_once => Some("a root: it has no recorded cause".into()),
        Origin::Root => None,
        Origin::Evicted(id) => Some(format!("cause {id} left the window")),
        Origin::Remote(remote) => Some(other_process(remote)),
        Origin::Loop(id) => Some(format!("damaged: the causes lead back to {id}")),
    }
}

/// The message for a cause in another process that no open recording has.
pub fn other_process(remote: Remote) -> String {
    format!("caused by span {:016x} of another process, which no open recording holds", remote.span)
}
