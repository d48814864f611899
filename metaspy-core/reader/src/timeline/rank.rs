//! Rank of a position among all events, estimated from summaries, for scroll bars and "1,204 of 8.4
//! M".

use crate::Store;
use crate::ring::chunks::Chunk;
use crate::ring::folds::Folds;
use crate::timeline::Position;

/// Rank of a position among all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Tick of the position.
    pub tick: u64,
    /// Estimated number of events in the window that began before the position.
    pub before: u64,
    /// Estimated number of events in the window.
    pub total: u64,
}

impl Store {
    /// Returns the rank of a position. It is exact at both ends of the window, and estimated
    /// between them.
    pub fn rank(&self, at: Position) -> Rank {
        let chunks = self.weighed();
        let total = chunks.iter().map(|chunk| chunk.events).sum();
        let tick = match at {
            Position::Start => chunks.iter().map(|chunk| chunk.first).min().unwrap_or(0),
            Position::End => return Rank { tick: self.newest_tick(), before: total, total },
            Position::At { tick } => tick,
            Position::Event(id) => self.ring().find(id).map_or(0, |event| event.start),
        };
        let before = chunks.iter().map(|chunk| chunk.before(tick)).sum();
        Rank { tick, before, total }
    }

    /// Returns the largest tick in the recording.
    fn newest_tick(&self) -> u64 {
        let last = self.header().last_tick;
        let chunks = self.ring().chunks();
        chunks
            .iter()
            .filter(|chunk| chunk.summary.is_some())
            .map(|chunk| chunk.last)
            .fold(last, u64::max)
    }

    /// Returns the chunks with their numbers of events. The blocks of a chunk without a summary are
    /// counted.
    fn weighed(&self) -> Vec<Weighed> {
        let ring = self.ring();
        let newest = self.newest_tick();
        let weigh = |chunk: Chunk| match chunk.summary {
            Some(summary) => {
                Weighed { first: chunk.first, last: chunk.last, events: summary.events.into() }
            }
            None => Weighed {
                first: chunk.first,
                last: newest.max(chunk.first),
                events: ring.count(chunk.index, &Folds::default()).events,
            },
        };
        ring.chunks().into_iter().map(weigh).collect()
    }
}

/// Number of events, assumed to be evenly spread over a time.
struct Weighed {
    first: u64,
    last: u64,
    events: u64,
}

impl Weighed {
    fn before(&self, tick: u64) -> u64 {
        match tick {
            tick if tick <= self.first => 0,
            tick if tick > self.last => self.events,
            tick => {
                let part = u128::from(self.events) * u128::from(tick - self.first);
                (part / u128::from((self.last - self.first).max(1))) as u64
            }
        }
    }
}
