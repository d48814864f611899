//! The tools `causes` and `effects`: the connections of an event.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use metaspy_reader::{Event, EventId, Origin};
use metaspy_report::text::{counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::{EventOut, found, open_at};
use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::Call;
use crate::library::Opened;
use crate::session::{ITEMS, Session, missing};
use crate::watch::Watch;

/// Sites by which effects are counted in an answer.
const SITES: usize = 8;
/// Causes that a walk follows at most, so that no chain takes all memory.
const CHAIN: usize = 100_000;

/// Arguments of `causes` and `effects`.
#[derive(Deserialize, JsonSchema)]
pub struct OfInput {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// The id of the event, such as `77.3`
    id: String,
}

/// The causes of an event, the nearest first.
#[derive(Serialize, JsonSchema)]
pub struct CausesOutput {
    /// The event that was asked for.
    of: EventOut,
    causes: Vec<EventOut>,
    /// Number of all causes.
    total: u64,
    /// Number of causes that are not in this answer.
    left_out: u64,
    /// Goes on with the next causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Where the chain ends.
    ends: String,
    /// The command that shows a person the same.
    command: String,
}

/// Answers a call of `causes`.
pub fn causes(session: &Session, input: OfInput, call: &Call<'_>) -> Result<Answer, ToolError> {
    let opened = session.recordings.open(input.recording.as_deref())?;
    let store = &opened.store;
    let event = found(store, &input.id)?;
    let start = call.start()?;
    let mut chain = store.causes(event.id);
    let all: Vec<Event> = chain.by_ref().take(CHAIN).collect();
    let ends = if all.len() == CHAIN {
        format!("after {} causes, and goes on", grouped(CHAIN as u64))
    } else {
        end(chain.origin())
    };
    let causes: Vec<EventOut> = all
        .iter()
        .skip(start as usize)
        .take(ITEMS)
        .map(|event| EventOut::of(event, store))
        .collect();
    let lines = causes.iter().map(EventOut::line).collect();
    let of = EventOut::of(&event, store);
    let summary = format!(
        "{} of {}; the chain ends {ends}.",
        counted(all.len() as u64, "cause"),
        quoted(&of.site)
    );
    let command = open_at(&opened, event.id);
    let output =
        CausesOutput { of, causes, total: 0, left_out: 0, next_cursor: None, ends, command };
    Ok(Answer::new(summary, &output).with_list("causes", lines, start, all.len() as u64))
}

fn end(origin: Origin) -> String {
    match origin {
        Origin::Root => "at a root, which has no cause".to_owned(),
        Origin::Remote(remote) => {
            format!(
                "at a cause in another process, span {:016x}, whose recording is not open",
                remote.span
            )
        }
        Origin::Evicted(id) => {
            format!("at event {id}, which left the window or was never recorded")
        }
        Origin::Loop(id) => {
            format!("at event {id}, which is its own cause: the recording is damaged")
        }
    }
}

/// The direct effects of an event, the oldest first.
#[derive(Serialize, JsonSchema)]
pub struct EffectsOutput {
    /// The event that was asked for.
    of: EventOut,
    effects: Vec<EventOut>,
    /// Number of all effects.
    total: u64,
    /// Number of effects that are not in this answer.
    left_out: u64,
    /// Goes on with the next effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The effects by site, the most frequent first.
    by_site: Vec<SiteCount>,
    /// Sites that `by_site` leaves out.
    sites_left_out: u64,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

#[derive(Serialize, JsonSchema)]
struct SiteCount {
    site: String,
    effects: u64,
    /// Sum of their durations; an effect in another one is counted in both.
    took_ns: u64,
}

/// Answers a call of `effects`.
pub fn effects(session: &Session, input: OfInput, call: &Call<'_>) -> Result<Answer, ToolError> {
    let opened = session.recordings.open(input.recording.as_deref())?;
    let store = &opened.store;
    let event = found(store, &input.id)?;
    let start = call.start()?;
    let all = all_effects(&opened, event.id, call.watch)?;
    let mut sites: HashMap<_, (u64, u64)> = HashMap::new();
    for id in &all {
        // A live recording may have replaced it.
        let Some(effect) = store.event(*id) else { continue };
        let (effects, ticks) = sites.entry(effect.site).or_default();
        *effects += 1;
        *ticks += effect.span.unwrap_or(0);
    }
    call.watch.check()?;
    // Sites of one path are one.
    let mut by_path: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (site, (effects, ticks)) in sites {
        let of_path = by_path.entry(store.site_path(site).to_owned()).or_default();
        *of_path = (of_path.0 + effects, of_path.1 + ticks);
    }
    let site_count = by_path.len();
    let mut by_site: Vec<SiteCount> = by_path
        .into_iter()
        .map(|(site, (effects, ticks))| SiteCount { site, effects, took_ns: store.span_ns(ticks) })
        .collect();
    by_site.sort_by_key(|site| Reverse(site.effects));
    by_site.truncate(SITES);
    let shown = all.iter().skip(start as usize).take(ITEMS).filter_map(|id| store.event(*id));
    let effects: Vec<EventOut> = shown.map(|event| EventOut::of(&event, store)).collect();
    let lines = effects.iter().map(EventOut::line).collect();
    let of = EventOut::of(&event, store);
    let most = by_site.first().map_or(String::new(), |most| {
        format!(", most of them {} times {}", grouped(most.effects), quoted(&most.site))
    });
    let summary =
        format!("{} of {}{most}.", counted(all.len() as u64, "direct effect"), quoted(&of.site));
    let output = EffectsOutput {
        of,
        effects,
        total: 0,
        left_out: 0,
        next_cursor: None,
        sites_left_out: site_count.saturating_sub(by_site.len()) as u64,
        by_site,
        notes: missing(store),
        command: open_at(&opened, event.id),
    };
    Ok(Answer::new(summary, &output).with_list("effects", lines, start, all.len() as u64))
}

/// All direct effects, page by page: one page of the index is limited.
fn all_effects(opened: &Opened, id: EventId, watch: &Watch) -> Result<Vec<EventId>, ToolError> {
    const PAGE: usize = 1 << 16;
    opened.with_effects(watch, |index| {
        let mut all: Vec<EventId> = Vec::new();
        loop {
            let page = index.effects_after(id, all.last().copied(), PAGE);
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last || !watch.goes_on() {
                return all;
            }
        }
    })
}
