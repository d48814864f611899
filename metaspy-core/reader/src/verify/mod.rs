//! Verification, which reads a whole recording and lists all damage and all missing parts.

mod empty_places;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Store;
use crate::event::Outcome;
use crate::open::closing_counts::ClosingCounts;
use crate::open::header::EndState;
use crate::open::missing;
use crate::parallel;
use crate::ring::blocks::{Block, Ring, Slot};
use crate::ring::folds::Folds;
use crate::totals::Totals;
use crate::units::counted;
use crate::verify::empty_places::EmptyPlaces;
use metaspy_format::row::COUNT;
use metaspy_format::slot;
use metaspy_format::superblock as sb;
use metaspy_format::{BLOCK_SLOTS, CHUNK_BLOCKS, header};
use metaspy_probe::SiteId;

/// Result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// End state of the recording.
    pub ended: EndState,
    /// Number of blocks with records.
    pub blocks: u64,
    /// Number of events in the window, by counting each.
    pub events: u64,
    /// Number of marks in the window.
    pub marks: u64,
    /// Number of events in the window that have not ended.
    pub running: u64,
    /// Number of lanes with events in the window.
    pub lanes: u64,
    /// Number of sites with a name.
    pub sites: u64,
    /// Number of subjects with a label.
    pub labels: u64,
    /// Number of all calls, and its parts.
    pub totals: Totals,
    /// True if a fold was in progress. Each of its events was counted once.
    pub pending_fold: bool,
    /// Contradictions, as sentences; at most a hundred.
    pub damaged: Vec<String>,
    /// Number of further contradictions.
    pub more_damaged: u64,
    /// Missing parts, as sentences.
    pub missing: Vec<String>,
    /// Number of missing bytes after the last used block. No event is missing.
    pub unused_cut: u64,
    /// Number of malformed texts that were passed as `traceparent`.
    pub malformed_traceparents: u64,
    /// Number of rows of counts that were freed. If a call that such a row counted was still
    /// running, its failure may be counted elsewhere.
    pub rows_freed: u64,
    /// Sentences from the recorder about tasks that failed, with the reasons.
    pub notes: Vec<String>,
}

impl Verification {
    /// Returns true if nothing is damaged and nothing is missing.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.missing.is_empty()
    }
}

/// Maximum number of contradictions with a sentence.
const DAMAGES: usize = 100;

/// Counts and damages of the chunks that a thread verified.
#[derive(Default)]
struct VerifiedChunks {
    blocks: u64,
    events: u64,
    marks: u64,
    running: u64,
    lanes: std::collections::BTreeSet<u32>,
    /// Number of events at sites without a name, by site.
    nameless: BTreeMap<u32, u64>,
    empty: EmptyPlaces,
    damages: Vec<(u64, String)>,
    more: u64,
}

impl VerifiedChunks {
    fn damage(&mut self, chunk: u64, text: impl FnOnce() -> String) {
        if self.damages.len() < DAMAGES {
            self.damages.push((chunk, text()));
        } else {
            self.more += 1;
        }
    }

    fn merge(&mut self, other: VerifiedChunks) {
        self.blocks += other.blocks;
        self.events += other.events;
        self.marks += other.marks;
        self.running += other.running;
        self.lanes.extend(other.lanes);
        for (site, events) in other.nameless {
            *self.nameless.entry(site).or_default() += events;
        }
        self.empty.merge(other.empty);
        self.damages.extend(other.damages);
        self.more += other.more;
    }
}

impl Store {
    /// Reads the whole recording and checks it.
    ///
    /// A live recording is checked only for rules that hold while it is being written.
    pub fn verify(&self) -> Verification {
        let ring = self.ring();
        let ended = self.end_state();
        let folds = ring.folds();
        let chunks: Vec<u64> = (0..ring.chunk_count()).collect();
        let found = parallel::each(
            &chunks,
            parallel::threads_for(chunks.len()),
            VerifiedChunks::default,
            |found, &chunk| {
                self.verify_chunk(chunk, ended == EndState::Live, &folds, found);
            },
        );
        let mut all = VerifiedChunks::default();
        found.into_iter().for_each(|found| all.merge(found));
        // If names found no room, a note of the recording states it.
        if self.header().arena_lost == 0 {
            for (site, events) in std::mem::take(&mut all.nameless) {
                all.damage(u64::MAX, || format!("site {site} has {events} events and no name"));
            }
        }
        // Damaged parts of the sources were not copied. They are listed with their source.
        for (process, store) in self.processes().iter().zip(self.sources()) {
            if store.end_state() != EndState::Live {
                let found = store.verify();
                let damaged = found
                    .damaged
                    .into_iter()
                    .map(|text| (u64::MAX, format!("{}: {text}", process.source)));
                all.damages.extend(damaged);
                all.more += found.more_damaged;
            }
        }
        let totals = self.totals();
        // Numbers from different moments need not add up.
        if ended != EndState::Live && self.is_settled() {
            self.verify_tables(&folds, &totals, &mut all);
            self.verify_amounts(&folds, &mut all);
        }
        all.damages.sort();
        let more = all.damages.len().saturating_sub(DAMAGES);
        all.damages.truncate(DAMAGES);
        Verification {
            ended,
            blocks: all.blocks,
            events: all.events,
            marks: all.marks,
            running: all.running,
            lanes: all.lanes.len() as u64,
            sites: self.sites().len() as u64,
            labels: self.names().labels.len() as u64,
            totals,
            pending_fold: folds.in_progress,
            damaged: all.damages.into_iter().map(|(_, text)| text).collect(),
            more_damaged: all.more + more as u64,
            missing: self.missing().to_vec(),
            unused_cut: missing::unused_cut(self.layout(), self.words()),
            malformed_traceparents: self.header().remote_malformed,
            rows_freed: self.header().rows_freed,
            notes: self.notes().to_vec(),
        }
    }

    fn verify_chunk(&self, chunk: u64, is_live: bool, folds: &Folds, found: &mut VerifiedChunks) {
        let ring = self.ring();
        let events = found.events;
        let marks = found.marks;
        let mut first = u64::MAX;
        let mut last = 0;
        let mut empty = EmptyPlaces::default();
        let mut block = Block::boxed();
        for place in ring.places_of(chunk) {
            let sequence = ring.block(place).acquire(header::SEQUENCE);
            if sequence == 0 {
                empty.add(place);
                continue;
            }
            if folds.first_stored(sequence) == BLOCK_SLOTS {
                continue;
            }
            if !ring.load_stored(place, folds, &mut block) {
                if !is_live {
                    found.damage(chunk, || {
                        format!("block {place}: its header has the sequence {sequence}, which is impossible there")
                    });
                }
                continue;
            }
            found.blocks += 1;
            found.lanes.insert(block.head.lane);
            found.marks += block.marks().count() as u64;
            first = first.min(block.head.base);
            if block.has_hole() && !is_live {
                found.damage(chunk, || {
                    format!("block {place}: events lie behind a gap and are not counted")
                });
            }
            for slot in block.events() {
                last = last.max(block.head.base.saturating_add(slot.start));
                self.verify_event(chunk, &block, &slot, found);
            }
        }
        let summary = ring
            .summary(chunk)
            .filter(|_| !is_live && !folds.touch(&ring.places_of(chunk), ring.layout.blocks));
        if let Some(summary) = summary {
            let events = found.events - events;
            let marks = found.marks - marks;
            let is_cut = ring.places_of(chunk).count() < CHUNK_BLOCKS;
            if u64::from(summary.events) != events && !is_cut {
                found.damage(chunk, || {
                    let counted = summary.events;
                    format!(
                        "chunk {chunk}: its summary counts {counted} events, and {events} are present{}",
                        empty.describe()
                    )
                });
            } else if u64::from(summary.marks) != marks && !is_cut {
                found.damage(chunk, || {
                    format!(
                        "chunk {chunk}: its summary counts {} marks, and {marks} are present",
                        summary.marks
                    )
                });
            } else if events != 0 && (summary.first > first || summary.last < last) {
                found.damage(chunk, || {
                    format!("chunk {chunk}: its events lie outside the time in its summary")
                });
            }
        }
        found.empty.merge(empty);
    }

    /// Compares the present counts with those from the closing.
    fn verify_amounts(&self, folds: &Folds, found: &mut VerifiedChunks) {
        let words = self.words();
        let ring = self.ring();
        let taken = words.get(sb::FRESH).min(self.layout().blocks);
        let cut = taken - ring.places();
        let Some(sealed) = ClosingCounts::read(words) else {
            // If no fold has run, a place is empty only while a lane takes it.
            let lanes = words.get(sb::LANES_USED);
            if !ring.fold_state().has_begun() && found.empty.places > lanes {
                let empty = std::mem::take(&mut found.empty);
                found.damage(u64::MAX, || {
                    let are = if empty.places == 1 { "is" } else { "are" };
                    format!(
                        "{} of events {are} gone{}",
                        counted(empty.places, "block"),
                        empty.describe()
                    )
                });
            }
            return;
        };
        if found.blocks + cut < sealed.blocks {
            let blocks = found.blocks;
            let empty = std::mem::take(&mut found.empty);
            found.damage(u64::MAX, || {
                let closed = counted(sealed.blocks, "block");
                format!(
                    "the recording was closed with {closed}, and {blocks} are present{}",
                    empty.describe()
                )
            });
        } else if found.events < sealed.events && cut == 0 && found.damages.is_empty() {
            let closed = counted(sealed.events, "event");
            let events = found.events;
            found.damage(u64::MAX, || {
                format!("the recording was closed with {closed}, and {events} are present")
            });
        }
        let mut counted = 0_u64;
        ring.page_rows(folds, |row| counted = counted.wrapping_add(row.0[COUNT]));
        if counted < sealed.counted {
            let closed = crate::units::counted(sealed.counted, "call");
            found.damage(u64::MAX, || {
                format!("the tallies of the lanes counted {closed} when the recording was closed, now {counted}")
            });
        }
    }

    fn verify_event(&self, chunk: u64, block: &Block, slot: &Slot, found: &mut VerifiedChunks) {
        let id = block.head.id(slot.slot);
        found.events += 1;
        if slot::is_running(slot.end) {
            found.running += 1;
            if !slot::is_running_in(slot.end, block.head.sequence) {
                found.damage(chunk, || {
                    format!("event {id}: it runs under the tag of another block")
                });
            }
        } else if slot.outcome() == Outcome::Running {
            found.damage(chunk, || {
                format!("event {id}: it has neither an end nor the tag of a running event")
            });
        }
        if slot.cause == id.raw() {
            found.damage(chunk, || format!("event {id}: it is its own cause"));
        }
        if self.site(SiteId(slot.site)).is_none() {
            *found.nameless.entry(slot.site).or_default() += 1;
        }
    }

    fn verify_tables(&self, folds: &Folds, totals: &Totals, found: &mut VerifiedChunks) {
        let ring: Ring<'_> = self.ring();
        let words = self.words();
        let blocks = self.layout().blocks;
        if words.get(sb::FRESH) > words.get(sb::GROWN) || words.get(sb::GROWN) > blocks {
            found.damage(u64::MAX, || {
                "the first page: more blocks are in use than exist".to_owned()
            });
        }
        let mut counted = 0_u64;
        ring.folded_rows(folds, |row| counted = counted.wrapping_add(row.0[COUNT]));
        // If the table was full, some calls are counted without site and subject.
        let was_full = words.get(sb::OTHERS) != 0;
        if counted > totals.folded || (counted < totals.folded && !was_full) {
            found.damage(u64::MAX, || {
                format!(
                    "the tallies count {counted} folded events, and {} were folded",
                    totals.folded
                )
            });
        }
        if !ring.page_rows(folds, |_| {}) {
            found.damage(u64::MAX, || {
                "the tallies of the lanes cannot be read to their end".to_owned()
            });
        }
    }
}
