//! The tree of effects.

use metaspy_core::{Event, Store};

use super::{PaneRow, What, guide};
use crate::crawler::jobs::Effects;
use crate::text::{clean, grouped, last_segment};

/// The rows of the tab.
pub fn rows(store: &Store, event: &Event, effects: Option<&Effects>) -> Vec<PaneRow> {
    let Some(effects) = effects else {
        return vec![PaneRow::plain(What::Note("looking for its effects …".into()))];
    };
    if effects.tree.is_empty() {
        let text = if event.is_running() { "none so far: it still runs" } else { "none: nothing recorded came of it" };
        return vec![PaneRow::plain(What::Note(text.into())), beyond(effects)];
    }
    let mut rows = vec![
        PaneRow::plain(What::Title(format!("effects  {}", summary(store, effects)))),
        PaneRow::plain(What::Here(*event)),
    ];
    for (at, &(depth, event)) in effects.tree.iter().enumerate() {
        let following = effects.tree[at + 1..].iter().map(|&(depth, _)| depth + 1);
        rows.push(PaneRow { guide: guide(depth + 1, following), what: What::Event(event) });
    }
    if effects.cut {
        rows.push(PaneRow::plain(What::Note("… and more: go into one of them".into())));
    }
    rows.push(beyond(effects));
    rows
}

/// `9 (3 measure, 2 miss, …)`: the direct effects by site.
pub fn summary(store: &Store, effects: &Effects) -> String {
    let mut text = grouped(effects.direct as u64);
    if effects.by_site.is_empty() {
        return text;
    }
    let site = |&(site, count): &(_, usize)| format!("{count} {}", clean(last_segment(store.site_path(site))));
    let shown: Vec<String> = effects.by_site.iter().take(3).map(site).collect();
    let rest = if effects.by_site.len() > 3 { ", …" } else { "" };
    text.push_str(&format!(" ({}{rest})", shown.join(", ")));
    text
}

fn beyond(effects: &Effects) -> PaneRow {
    let text = if effects.whole { "" } else { "on its own lane; others are being looked up" };
    PaneRow::plain(if text.is_empty() { What::Blank } else { What::Note(text.into()) })
}
