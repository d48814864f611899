//! Tab with the tree of effects.

use metaspy_reader::{Event, Store};
use metaspy_report::text::{counted, grouped, width};

use super::row::{Content, PaneRow, indent};
use crate::crawler::effects::{Effects, Reach};
use crate::crawler::state::name;

/// Builds the rows of the tab.
pub fn rows(
    store: &Store,
    event: &Event,
    effects: Option<&Effects>,
    columns: usize,
) -> Vec<PaneRow> {
    if let Some(gone) = super::row::evicted_note(store, event) {
        return vec![PaneRow::plain(Content::Current(*event)), gone];
    }
    let Some(effects) = effects else {
        return vec![PaneRow::plain(Content::Note("reading its effects …".into()))];
    };
    if effects.tree.is_empty() {
        let text = match effects.reach {
            Reach::OwnLane => "none on its own lane",
            _ if event.is_running() => "none yet: it still runs",
            Reach::LastReading => "none so far",
            Reach::Whole => "none: it caused no recorded event",
        };
        return vec![PaneRow::plain(Content::Note(text.into())), reach_note(effects)];
    }
    let mut rows = vec![
        PaneRow::plain(Content::Title(headline(store, effects, columns))),
        PaneRow::plain(Content::Current(*event)),
    ];
    // An event whose effects have no rows is followed by a row with their number.
    let mut below: Vec<(usize, Content, bool)> = Vec::new();
    for effect in &effects.tree {
        below.push((effect.depth + 1, Content::Event(effect.event), effect.is_link));
        below.extend(further(effect.further).map(|note| (effect.depth + 2, note, false)));
    }
    below.extend(further(effects.further).map(|note| (1, note, false)));
    let depths: Vec<usize> = below.iter().map(|(depth, ..)| *depth).collect();
    for (at, (depth, content, is_link)) in below.into_iter().enumerate() {
        let mut indent = indent(depth, depths[at + 1..].iter().copied());
        if is_link {
            indent.push_str("link ");
        }
        rows.push(PaneRow { indent, content });
    }
    rows.push(reach_note(effects));
    rows
}

fn further(count: usize) -> Option<Content> {
    (count > 0).then(|| Content::Note(format!("… {}", counted(count as u64, "further effect"))))
}

/// Writes the headline `9 effects: 3 measure, 2 miss, …`: as many sites as fit, each after its
/// number.
fn headline(store: &Store, effects: &Effects, columns: usize) -> String {
    let mut text = format!("{}{}", sign(effects), counted(effects.direct as u64, "effect"));
    let mut between = ": ";
    let sites = by_site(store, effects);
    for (at, site) in sites.iter().enumerate() {
        let rest = if at + 1 == sites.len() { "" } else { ", …" };
        // The row begins one column in.
        if width(&text) + width(between) + width(site) + width(rest) >= columns {
            return if at == 0 { text } else { text + ", …" };
        }
        text.push_str(between);
        text.push_str(site);
        between = ", ";
    }
    text
}

/// Writes `9 (3 measure, 2 miss, …)`: the direct effects by site.
pub fn summary(store: &Store, effects: &Effects) -> String {
    if effects.direct == 0 && effects.reach == Reach::OwnLane {
        return "0 on its own lane; → searches all".into();
    }
    let mut text = format!("{}{}", sign(effects), grouped(effects.direct as u64));
    if effects.by_site.is_empty() {
        return text;
    }
    let rest = if effects.by_site.len() > 3 { ", …" } else { "" };
    text.push_str(&format!(
        " ({}{rest})",
        by_site(store, effects)[..effects.by_site.len().min(3)].join(", ")
    ));
    text
}

fn by_site(store: &Store, effects: &Effects) -> Vec<String> {
    effects
        .by_site
        .iter()
        .map(|&(site, count)| format!("{} {}", grouped(count as u64), name::site(store, site)))
        .collect()
}

/// Returns the sign before a number of effects that may grow.
fn sign(effects: &Effects) -> &'static str {
    match effects.reach {
        Reach::Whole => "",
        // The sign would say nothing before a 0.
        _ if effects.direct == 0 => "",
        _ => "≥ ",
    }
}

fn reach_note(effects: &Effects) -> PaneRow {
    PaneRow::plain(match effects.reach {
        Reach::OwnLane => Content::Note("other lanes are being searched".into()),
        Reach::LastReading => Content::Note("as of the last reading of all lanes".into()),
        Reach::Whole => Content::Blank,
    })
}
