//! The block protocol under Loom: every order in which threads, collector and readers can meet.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p metaspy-core --test loom --release`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;
use metaspy_core::format::slot::{ended, is_running, running};
use metaspy_core::protocol::{ReadyRing, Word, claim, end_elsewhere, evict, publish, read_stable, retract};

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
        let ring = Arc::new(ReadyRing::new(cells, Cell::new(0), Cell::new(0)));
        assert!(ring.fill(11));
        let lanes: Vec<_> = (0..2)
            .map(|_| {
                let ring = ring.clone();
                thread::spawn(move || ring.take())
            })
            .collect();
        let more = [ring.fill(12), ring.fill(13)];
        let mut taken: Vec<u64> = lanes.into_iter().filter_map(|lane| lane.join().unwrap()).collect();
        taken.extend(std::iter::from_fn(|| ring.take()));
        taken.sort_unstable();
        let offered = [Some(11), more[0].then_some(12), more[1].then_some(13)];
        assert_eq!(taken, offered.into_iter().flatten().collect::<Vec<_>>());
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

/// Journal, row, block and the number of the fold that is done, as [`metaspy_core`]'s fold writes them.
#[test]
fn a_fold_is_counted_once_wherever_it_is_interrupted() {
    loom::model(|| {
        // One event in the window, none in the row.
        let [journal, row, block, done, staged] = [0, 0, 5, 0, 0].map(Cell::new);
        let words = Arc::new((journal, row, block, done, staged));
        let writer = {
            let words = words.clone();
            thread::spawn(move || {
                let (journal, row, block, done, staged) = &*words;
                staged.store(1, Ordering::Relaxed);
                journal.store(1, Ordering::Release);
                fence(Ordering::SeqCst);
                row.store(1, Ordering::Relaxed);
                retract(block);
                done.store(1, Ordering::Release);
            })
        };
        // A reader that finds nothing changed around it counts the event exactly once.
        let (journal, row, block, done, staged) = &*words;
        let before = (done.load(Ordering::Acquire), journal.load(Ordering::Acquire));
        let folded = if before.1 > before.0 { staged.load(Ordering::Relaxed) } else { row.load(Ordering::Relaxed) };
        let stored = u64::from(before.1 <= before.0 && block.load(Ordering::Relaxed) != 0);
        fence(Ordering::Acquire);
        let after = (done.load(Ordering::Relaxed), journal.load(Ordering::Relaxed));
        if before == after {
            assert_eq!(folded + stored, 1, "{before:?}");
        }
        writer.join().unwrap();
    });
}
