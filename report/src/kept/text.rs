//! Kept units for people.

use metaspy_reader::Store;

use super::{Difference, KeptUnits, Unit, Work};
use crate::table::{Column, Table, Top};
use crate::text::{clean, counted, grouped, short_bytes, shorten, shorten_path, time};

/// Columns of a name at most.
const NAME: usize = 40;
/// Units by default.
const TOP: usize = 20;
/// Bytes of a block.
const BLOCK: u64 = metaspy_format::BLOCK_BYTES as u64;

/// Returns the units, with the rules and the events that are not kept, as lines.
pub fn text(store: &Store, kept: &KeptUnits, top: Top) -> Vec<String> {
    let all = &kept.kept;
    let of_rules: Vec<(usize, usize)> =
        (0..all.rules.len()).map(|rule| kept.units_of(rule)).collect();
    let units = counted(of_rules.iter().map(|(met, _)| *met as u64).sum(), "unit");
    let rules = counted(all.rules.len() as u64, "rule");
    let events = counted(all.events, "event");
    let blocks = counted(all.blocks, "block");
    let room = short_bytes(all.blocks * BLOCK);
    let first =
        format!("{units} of {rules}; {events} that left the window are kept, in {blocks} ({room})");
    let mut lines = vec![first, String::new()];
    let rules = [
        Column::numbers("units", of_rules.iter().map(|(met, _)| grouped(*met as u64))),
        Column::numbers("ordinary", of_rules.iter().map(|(_, ordinary)| grouped(*ordinary as u64))),
        Column::words("rule", all.rules.iter().map(|rule| clean(rule).into_owned())),
    ];
    lines.extend(Table::new(rules).lines());
    let shown = &kept.units[..top.limit(TOP).min(kept.units.len())];
    if !shown.is_empty() {
        lines.push(String::new());
        lines.extend(table(store, kept, shown).lines());
    }
    let more = kept.units.len() - shown.len();
    if more > 0 {
        lines.push(format!("… and {} more: --top N or --top all shows them", grouped(more as u64)));
    }
    lines.extend(kept.notes().into_iter().map(|note| format!("note: {note}")));
    lines
}

fn table(store: &Store, kept: &KeptUnits, units: &[Unit]) -> Table {
    let took =
        |unit: &Unit| unit.event.span.map_or(String::new(), |span| time(store.span_ns(span)));
    let why = |unit: &Unit| match unit.unit.threshold {
        0 => store.outcome_word(&unit.event).to_owned(),
        _ if unit.unit.is_ordinary => format!("{}, ordinary", store.outcome_word(&unit.event)),
        ticks => {
            format!("{}, over {}", store.outcome_word(&unit.event), time(store.span_ns(ticks)))
        }
    };
    let because = |unit: &Unit| {
        let Some(Difference { site, work, usual, .. }) = unit.difference else {
            return String::new();
        };
        let times =
            |calls: u64| if calls == 1 { String::new() } else { format!("{} × ", grouped(calls)) };
        let took = |work: Work| format!("{}{}", times(work.calls), time(store.span_ns(work.ticks)));
        let usually = if usual.calls == 0 { "none".to_owned() } else { took(usual) };
        let path = if site == unit.event.site {
            "itself".into()
        } else {
            shorten_path(store.site_path(site), NAME)
        };
        format!("{path} {}, usually {usually}", took(work))
    };
    let subject = |unit: &Unit| {
        unit.event.subject.map_or(String::new(), |subject| store.subject_text(subject))
    };
    Table::new([
        Column::numbers("at", units.iter().map(|unit| time(store.time_ns(unit.event.start)))),
        Column::words(
            "site",
            units.iter().map(|unit| shorten_path(store.site_path(unit.event.site), NAME)),
        ),
        Column::words("subject", units.iter().map(|unit| shorten(&subject(unit), NAME))),
        Column::numbers("took", units.iter().map(took)),
        Column::words("how", units.iter().map(why)),
        Column::words("because of", units.iter().map(because)),
        Column::numbers("events", units.iter().map(|unit| grouped(unit.unit.events.into()))),
        Column::words("event", units.iter().map(|unit| unit.event.id.to_string())),
        Column::words("rule", units.iter().map(|unit| shorten(kept.rule(unit), NAME))),
    ])
}
