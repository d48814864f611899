//! The read side on recordings that [`super::testing`] wrote.

mod events;
mod folds;
mod hostile;
mod open;
mod parts;
mod resolved;
mod roots;
mod self_time;
mod tally;
mod timeline;
mod totals;
mod units;
mod violations;

use crate::Store;
use crate::event::{EventId, Outcome};
use crate::testing::{Draft, Writer};
use metaspy_probe::{KindId, Subject};

fn node(key: u64) -> Subject {
    Subject::new(KindId(1), key)
}

/// Three sites and a kind, no events.
fn scene(chunks: u64) -> Writer {
    let writer = Writer::new(chunks);
    writer.site(1, "app::Scene::layout");
    writer.site(2, "app::Scene::measure");
    writer.site(3, "app::Bus::announce");
    writer.entry(metaspy_format::arena::Entry::Kind, 1, &[0], &["NodeId"]);
    writer
}

/// `events` calls in several lanes. Each lane nests its calls up to five deep. Every fifth call has
/// no subject.
fn busy(chunks: u64, lanes: u32, events: usize, seed: u64) -> (Writer, Vec<EventId>) {
    let mut writer = scene(chunks);
    let mut dice = seed | 1;
    let mut roll = move |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % sides
    };
    let mut clocks = vec![1_000_u64; lanes as usize];
    // Open calls of each lane: id and end.
    let mut open: Vec<Vec<(EventId, u64)>> = vec![Vec::new(); lanes as usize];
    let mut ids = Vec::with_capacity(events);
    for _ in 0..events {
        let lane = roll(lanes.into()) as usize;
        clocks[lane] += 1 + roll(20);
        let start = clocks[lane];
        open[lane].retain(|&(_, end)| end > start);
        let around = open[lane].last().copied();
        let longest = around.map_or(4_000, |(_, end)| (end - start) / 2);
        let span = if open[lane].len() < 5 { roll(longest.max(1)) } else { 0 };
        let id = writer.event(Draft {
            lane: lane as u32,
            site: 1 + roll(3) as u32,
            subject: if roll(5) == 0 { Subject::NONE } else { node(roll(50)) },
            start,
            span: Some(span),
            cause: around.map(|(id, _)| id),
            outcome: if roll(9) == 0 { Outcome::Failed } else { Outcome::Succeeded },
            ..Draft::default()
        });
        open[lane].push((id, start + span));
        ids.push(id);
    }
    (writer, ids)
}

/// Finds all events of a recording by looking at every slot.
fn every_event(store: &Store) -> Vec<crate::Event> {
    let ring = store.ring();
    let mut block = super::blocks::Block::boxed();
    let mut events = Vec::new();
    for place in 0..ring.places() {
        if ring.load(place, &mut block) {
            events.extend(block.events().map(|slot| block.head.event(&slot)));
        }
    }
    events
}
