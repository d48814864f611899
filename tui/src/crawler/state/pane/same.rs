//! Events of the same subject, around the selected one.

use metaspy_core::{Event, Store};

use super::{PaneRow, What};
use crate::crawler::state::name;

/// The rows of the tab.
pub fn rows(store: &Store, event: &Event, same: Option<&[Event]>) -> Vec<PaneRow> {
    let Some(subject) = event.subject else {
        return vec![PaneRow::plain(What::Note("this event is about no subject".into()))];
    };
    let title = What::Title(name::subject(store, subject));
    let Some(same) = same else {
        return vec![PaneRow::plain(title), PaneRow::plain(What::Note("looking for its events …".into()))];
    };
    let event = |other: &Event| if other.id == event.id { What::Here(*other) } else { What::Event(*other) };
    let rows = same.iter().map(event);
    std::iter::once(title).chain(rows).map(PaneRow::plain).collect()
}
