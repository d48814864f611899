use std::sync::atomic::AtomicUsize;

use super::*;
use crate::format::Policy;
use crate::recorder::cut_spans::CutSpans;

#[test]
fn events_without_room_for_a_row_are_counted_without_a_name() {
    let layout = Layout::new(1 << 20, Policy::KeepNewest);
    let slots: Slots = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0)));
    slots[0][header::SEQUENCE].store(layout.blocks, Relaxed);
    for number in [0, 1] {
        let cells: Vec<AtomicU64> =
            (0..layout.total_bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        let pages_room = AtomicUsize::new(layout.pages.bytes());
        let tables = Tables {
            cells: &cells,
            layout: &layout,
            cut_spans: &CutSpans::new(),
            pages_room: &pages_room,
        };
        let mut folder = Folder::new(&layout, number);
        assert!(folder.begin(tables));
        let mut pass = folder.pass(tables, &slots);
        let sites = 1 << 16;
        for site in 1..=sites {
            let who = Who { site, kind: 1, epoch: 1, meta: false, lost: false }.pack();
            folder.add(
                tables,
                &mut pass,
                1,
                (7, who),
                Addition { count: 1, ..Addition::default() },
            );
        }
        let unnamed = cells[sb::UNNAMED].load(Relaxed);
        assert!(unnamed > 0 && pass.folded > 0, "folder {number}");
        assert_eq!(pass.folded + unnamed, u64::from(sites), "folder {number}");
    }
}

#[test]
fn a_lane_folds_no_block_whose_events_would_be_counted_without_a_name() {
    let layout = Layout::new(1 << 20, Policy::KeepNewest);
    let slots: Slots = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0)));
    slots[0][header::SEQUENCE].store(layout.blocks, Relaxed);
    let lap = header::lap_byte(layout.blocks, layout.blocks);
    let events = BLOCK_SLOTS as u64 - 1;
    // Its first page is full after 48 subjects and 16 sites, and there is no room for another
    // one.
    let pages_room = AtomicUsize::new(4096 + 64);
    for (sites, subjects, is_sure) in
        [(1, events, true), (10, events, true), (100, 1, false), (60, events, false)]
    {
        let cells: Vec<AtomicU64> =
            (0..layout.total_bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        let tables = Tables {
            cells: &cells,
            layout: &layout,
            cut_spans: &CutSpans::new(),
            pages_room: &pages_room,
        };
        for (slot, number) in slots.iter().skip(1).zip(0..) {
            slot[0].store(
                slot::Commit { start: number, site: 1 + number as u32 % sites, lap }.pack(),
                Relaxed,
            );
            slot[2].store(number % subjects, Relaxed);
            slot[3].store(slot::ended(1, slot::flags(1, false)), Relaxed);
        }
        let mut folder = Folder::new(&layout, 1);
        assert!(folder.begin(tables));
        let block = slots.as_flattened();
        assert_eq!(folder.can_name(tables, block), is_sure, "{sites} sites, {subjects} subjects");
        folder.fold(tables, block);
        let unnamed = cells[sb::UNNAMED].load(Relaxed);
        assert_eq!((folder.folded() + unnamed, unnamed == 0), (events, is_sure), "{sites} sites");
    }
}

#[test]
fn a_row_that_takes_no_more_outcomes_is_followed_by_another_one() {
    let layout = Layout::new(1 << 20, Policy::KeepNewest);
    let cells: Vec<AtomicU64> = (0..layout.total_bytes() / 8).map(|_| AtomicU64::new(0)).collect();
    let pages_room = AtomicUsize::new(layout.pages.bytes());
    let tables = Tables {
        cells: &cells,
        layout: &layout,
        cut_spans: &CutSpans::new(),
        pages_room: &pages_room,
    };
    let slots: Slots = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0)));
    slots[0][header::SEQUENCE].store(layout.blocks, Relaxed);
    let who = Who { site: 1, kind: 1, epoch: 1, meta: false, lost: false }.pack();
    for number in [0, 1] {
        let mut folder = Folder::new(&layout, number);
        assert!(folder.begin(tables));
        let mut pass = folder.pass(tables, &slots);
        let outcome = |outcome| {
            let (failed_panicked, cancelled_running) = row::outcome_words(outcome);
            Addition { count: 1, failed_panicked, cancelled_running, ..Addition::default() }
        };
        folder.add(tables, &mut pass, 1, (7, who), outcome(Outcome::Failed));
        let first = folder.rows.find_or_make(tables, 7, who).expect("it was made");
        // As after 2^31 failed calls.
        cells[first + row::FAILED_PANICKED].store(1 << 31, Relaxed);
        for more in [Outcome::Failed, Outcome::Returned, Outcome::Panicked] {
            folder.add(tables, &mut pass, 1, (7, who), outcome(more));
        }
        let second = folder.rows.search(tables, 7, who).expect("it was made");
        let words = |row: usize| {
            [row::COUNT, row::FAILED_PANICKED].map(|word| cells[row + word].load(Relaxed))
        };
        assert_eq!(
            (words(first), words(second)),
            ([2, 1 << 31], [2, 1 << 32 | 1]),
            "folder {number}"
        );
    }
}
