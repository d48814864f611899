//! The block protocol under Loom: every order in which threads, collector and readers can meet.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p metaspy-core --test loom --release`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;
use metaspy_core::format::slot::{ended, is_running, running};
use metaspy_core::protocol::{
    ReadyRing, Word, announce_summary, begin_step, begin_use, claim, claim_full, end_elsewhere,
    end_use, evict, is_unused, let_go, publish, read_stable, retract,
};

struct Cell(AtomicU64);

impl Cell {
    fn new(value: u64) -> Self {
        Cell(AtomicU64::new(value))
    }
}

impl Word for Cell {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    fn compare_exchange(&self, current: u64, new: u64) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }
    fn fence(order: Ordering) {
        fence(order);
    }
}

#[test]
fn an_end_is_either_in_its_slot_or_late_never_both_or_neither() {
    loom::model(|| {
        let slot = Arc::new(Cell::new(running(7, 3)));
        let ender = {
            let slot = slot.clone();
            thread::spawn(move || end_elsewhere(&*slot, running(7, 3), ended(40, 3)))
        };
        let evicted = evict(&*slot);
        let in_slot = ender.join().unwrap();
        // Folded as running and ended late, or folded with its end.
        assert_eq!(is_running(evicted), !in_slot);
        assert!(!is_running(slot.load(Ordering::Acquire)));
    });
}

#[test]
fn an_end_that_comes_after_reuse_leaves_the_stranger_alone() {
    loom::model(|| {
        let slot = Arc::new(Cell::new(running(7, 3)));
        let ender = {
            let slot = slot.clone();
            thread::spawn(move || end_elsewhere(&*slot, running(7, 3), ended(40, 3)))
        };
        let evicted = evict(&*slot);
        // The place goes round: another event with the same flags runs there, in another lap.
        slot.store(running(9, 3), Ordering::Release);
        let in_slot = ender.join().unwrap();
        assert_eq!(is_running(evicted), !in_slot);
        assert_eq!(slot.load(Ordering::Acquire), running(9, 3));
    });
}

#[test]
fn a_ready_block_is_taken_by_one_lane_only() {
    loom::model(|| {
        let cells: Box<[Cell]> = (0..2).map(|_| Cell::new(0)).collect();
        let ring = Arc::new(ReadyRing::new(Box::leak(cells), Cell::new(0), Cell::new(0)));
        assert!(ring.fill(11));
        let lanes: Vec<_> = (0..2)
            .map(|_| {
                let ring = ring.clone();
                thread::spawn(move || ring.take())
            })
            .collect();
        let more = [ring.fill(12), ring.fill(13)];
        let mut taken: Vec<u64> =
            lanes.into_iter().filter_map(|lane| lane.join().unwrap()).collect();
        taken.extend(std::iter::from_fn(|| ring.take()));
        taken.sort_unstable();
        let offered = [Some(11), more[0].then_some(12), more[1].then_some(13)];
        assert_eq!(taken, offered.into_iter().flatten().collect::<Vec<_>>());
    });
}

/// Two logs that follow each other: the number of the current one, and of each its users and its
/// calls.
struct Logs {
    current: Cell,
    users: [Cell; 2],
    calls: [Cell; 2],
}

#[test]
fn a_log_that_was_let_go_is_written_no_more_and_no_call_is_in_none() {
    loom::model(|| {
        let logs = [(); 2].map(|()| Cell::new(0));
        let logs = Arc::new(Logs {
            current: Cell::new(0),
            users: logs,
            calls: [(); 2].map(|()| Cell::new(0)),
        });
        let lane = {
            let logs = logs.clone();
            thread::spawn(move || {
                let mut log = logs.current.load(Ordering::Acquire);
                while !begin_use(&logs.users[log as usize], || {
                    logs.current.load(Ordering::Acquire) == log
                }) {
                    log = logs.current.load(Ordering::Acquire);
                }
                let calls = &logs.calls[log as usize];
                calls.store(calls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                end_use(&logs.users[log as usize]);
            })
        };
        logs.current.store(1, Ordering::Release);
        let calls_at_end = is_unused(&logs.users[0]).then(|| logs.calls[0].load(Ordering::Relaxed));
        lane.join().unwrap();
        let calls = [0, 1].map(|log: usize| logs.calls[log].load(Ordering::Relaxed));
        assert_eq!(calls[0] + calls[1], 1);
        assert!(calls_at_end.is_none_or(|at_end| at_end == calls[0]), "{calls_at_end:?} {calls:?}");
    });
}

#[test]
fn what_comes_late_is_in_the_log_before_it_was_let_go_or_in_the_next_one() {
    loom::model(|| {
        // Whether the first log is gone, and its users and calls.
        let first = Arc::new([(); 3].map(|()| Cell::new(0)));
        let late = {
            let first = first.clone();
            thread::spawn(move || {
                let [is_gone, users, calls] = &*first;
                let is_there = || is_gone.load(Ordering::SeqCst) == 0;
                let is_in_first = begin_use(users, is_there);
                if is_in_first {
                    calls.store(1, Ordering::Relaxed);
                    end_use(users);
                }
                is_in_first
            })
        };
        let [is_gone, users, calls] = &*first;
        let is_let_go = let_go(is_gone, || !is_unused(users));
        let calls_at_end = is_let_go.then(|| calls.load(Ordering::Relaxed));
        let is_in_first = late.join().unwrap();
        assert!(
            calls_at_end.is_none_or(|at_end| at_end == u64::from(is_in_first)),
            "{calls_at_end:?} {is_in_first}"
        );
    });
}

#[test]
fn what_a_reader_accepts_was_there_as_a_whole() {
    loom::model(|| {
        let block = Arc::new([Cell::new(1), Cell::new(100), Cell::new(100)]);
        let writer = {
            let block = block.clone();
            thread::spawn(move || {
                retract(&block[0]);
                publish(&block[0], 2);
                block[1].store(200, Ordering::Relaxed);
                block[2].store(200, Ordering::Release);
            })
        };
        let seen = read_stable(&block[0], |sequence| {
            let last = block[2].load(Ordering::Acquire);
            (sequence, block[1].load(Ordering::Relaxed), last)
        });
        match seen {
            Some((1, first, last)) => assert_eq!((first, last), (100, 100)),
            // The commit word comes last: who sees it sees the rest.
            Some((2, first, last)) => assert!(last == 100 || first == 200),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_piece_is_claimed_by_one_lane_only_and_read_with_its_size() {
    loom::model(|| {
        let area: Arc<(Cell, [Cell; 4])> = Arc::new((Cell::new(0), [0; 4].map(Cell::new)));
        let take = |area: &(Cell, [Cell; 4]), size: u64| {
            let first = |at: u64| (at + size <= 4).then(|| &area.1[at as usize]);
            claim(&area.0, size, |size| size, first)
        };
        let other = {
            let area = area.clone();
            thread::spawn(move || take(&area, 1))
        };
        // A reader that sees a piece sees its size.
        let own = take(&area, 2);
        let (mut at, used) = (0, area.0.load(Ordering::Acquire));
        while at < used {
            let size = area.1[at as usize].load(Ordering::Relaxed);
            assert!(size == 1 || size == 2, "{size} at {at} of {used}");
            at += size;
        }
        assert_eq!(at, used);
        let both = [own, other.join().unwrap()];
        assert!(both == [Some(0), Some(2)] || both == [Some(1), Some(0)], "{both:?}");
        assert_eq!(area.0.load(Ordering::Acquire), 3);
    });
}

/// A block of three events, the row that they are added to, and the record of the folder.
struct Fold {
    block: Cell,
    row: Cell,
    cursor: Cell,
    /// Two notes: the row as it was.
    notes: [[Cell; 1]; 2],
}

const EVENTS: u64 = 3;

impl Fold {
    fn new() -> Self {
        let cell = |value| Cell::new(value);
        Fold { block: cell(1), row: cell(0), cursor: cell(0), notes: [[cell(0)], [cell(0)]] }
    }

    /// Adds the events, as a folder does. The cursor is 1 + the events before, doubled, and the
    /// number of the note.
    fn fold(&self) {
        for event in 0..=EVENTS {
            let note = event as usize % 2;
            let row = self.row.load(Ordering::Relaxed);
            begin_step(&self.cursor, (1 + event) << 1 | note as u64, &self.notes[note], [row]);
            if event < EVENTS {
                self.row.store(row + 1, Ordering::Relaxed);
            }
        }
        retract(&self.block);
    }

    /// Folded and stored events. `None` if the cursor moved during the reading.
    fn read(&self) -> Option<(u64, u64)> {
        let cursor = self.cursor.load(Ordering::Acquire);
        let (folded, stored) = match cursor {
            0 => (self.row.load(Ordering::Relaxed), self.block.load(Ordering::Relaxed) * EVENTS),
            _ => {
                let before = (cursor >> 1) - 1;
                let noted = self.notes[cursor as usize % 2][0].load(Ordering::Relaxed);
                assert!(before <= EVENTS);
                let stored =
                    if self.block.load(Ordering::Relaxed) == 0 { 0 } else { EVENTS - before };
                (noted, stored)
            }
        };
        fence(Ordering::Acquire);
        (self.cursor.load(Ordering::Relaxed) == cursor).then_some((folded, stored))
    }
}

#[test]
fn an_event_in_the_middle_of_being_folded_is_counted_once() {
    loom::model(|| {
        let fold = Arc::new(Fold::new());
        let folder = {
            let fold = fold.clone();
            thread::spawn(move || fold.fold())
        };
        if let Some((folded, stored)) = fold.read() {
            assert_eq!(folded + stored, EVENTS);
        }
        folder.join().unwrap();
        assert_eq!(fold.read(), Some((EVENTS, 0)));
    });
}

/// Two events that are folded one by one out of a block that is kept for others, the row, and the
/// record of the folder.
struct FoldAround {
    /// 1 = an event, 0 = a mark.
    slots: [Cell; 2],
    row: Cell,
    cursor: Cell,
    notes: [[Cell; 1]; 2],
}

impl FoldAround {
    fn new() -> Self {
        let cell = |value| Cell::new(value);
        FoldAround {
            slots: [cell(1), cell(1)],
            row: cell(0),
            cursor: cell(0),
            notes: [[cell(0)], [cell(0)]],
        }
    }

    /// Moves each event into the row. The cursor is 1 + the event, doubled, and the number of the
    /// note.
    fn fold(&self) {
        for event in 0..=self.slots.len() {
            let (note, row) = (event % 2, self.row.load(Ordering::Relaxed));
            begin_step(
                &self.cursor,
                (1 + event as u64) << 1 | note as u64,
                &self.notes[note],
                [row],
            );
            if let Some(slot) = self.slots.get(event) {
                self.row.store(row + 1, Ordering::Relaxed);
                slot.store(0, Ordering::Release);
            }
        }
    }

    /// The cursor, and whether its event is a mark by now.
    fn state(&self) -> (u64, bool) {
        let cursor = self.cursor.load(Ordering::Acquire);
        let slot = (cursor >> 1).checked_sub(1).and_then(|event| self.slots.get(event as usize));
        (cursor, slot.is_none_or(|slot| slot.load(Ordering::Acquire) == 0))
    }

    /// Folded and stored events. `None` if something moved during the reading.
    fn read(&self) -> Option<(u64, u64)> {
        let (cursor, is_folded) = self.state();
        let row = if is_folded { &self.row } else { &self.notes[cursor as usize % 2][0] };
        let (folded, stored) = (
            row.load(Ordering::Relaxed),
            self.slots.iter().map(|slot| slot.load(Ordering::Relaxed)).sum(),
        );
        fence(Ordering::Acquire);
        (self.state() == (cursor, is_folded)).then_some((folded, stored))
    }
}

#[test]
fn an_event_that_leaves_a_kept_block_is_counted_once() {
    loom::model(|| {
        let fold = Arc::new(FoldAround::new());
        let folder = {
            let fold = fold.clone();
            thread::spawn(move || fold.fold())
        };
        if let Some((folded, stored)) = fold.read() {
            assert_eq!(folded + stored, 2);
        }
        folder.join().unwrap();
        assert_eq!(fold.read(), Some((2, 0)));
    });
}

const FULL: u64 = 2;
const FOLDING: u64 = 4;

#[test]
fn a_full_block_is_folded_by_one_thread_only() {
    loom::model(|| {
        let words = Arc::new((Cell::new(FULL), Cell::new(0), Cell::new(0)));
        let claim = |words: &(Cell, Cell, Cell)| {
            let (state, summarising, folds) = words;
            let is_claimed = claim_full(state, FULL, FOLDING, summarising, 1);
            if is_claimed {
                // Plain loads and stores: only one thread does this.
                folds.store(folds.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            is_claimed
        };
        let lane = {
            let words = words.clone();
            thread::spawn(move || claim(&words))
        };
        let own = claim(&words);
        assert!(own != lane.join().unwrap());
        assert_eq!(words.2.load(Ordering::Relaxed), 1);
    });
}

/// The summary of a chunk of one block: its stamp is not 0 only as long as the block holds its
/// events.
#[test]
fn no_summary_outlives_the_blocks_of_its_chunk() {
    loom::model(|| {
        let words = Arc::new([FULL, 0, 0, 1].map(Cell::new));
        let lane = {
            let words = words.clone();
            thread::spawn(move || {
                let [state, summarising, stamp, block] = &*words;
                if claim_full(state, FULL, FOLDING, summarising, 1) {
                    if stamp.load(Ordering::Relaxed) != 0 {
                        stamp.store(0, Ordering::Release);
                    }
                    retract(block);
                    true
                } else {
                    false
                }
            })
        };
        let [state, summarising, stamp, block] = &*words;
        announce_summary(summarising, 1);
        if state.load(Ordering::Acquire) == FULL {
            stamp.store(1, Ordering::Release);
        }
        summarising.store(0, Ordering::Release);
        let is_folded = lane.join().unwrap();
        assert_eq!(block.load(Ordering::Relaxed) == 0, is_folded);
        assert!(!is_folded || stamp.load(Ordering::Relaxed) == 0);
    });
}
