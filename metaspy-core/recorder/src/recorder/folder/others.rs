//! Folds the events of a block one by one, except those that are kept. The block stays in its
//! place.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::format::folder::{self, ALL, NOTE_WORDS};
use crate::format::header;
use crate::format::slot::{self, FIRST_MARK, Mark};
use crate::format::slot_set::SlotSet;
use crate::recorder::folder::{Folder, Pass, Slots};
use crate::recorder::tables::Tables;

impl Folder {
    /// Adds the events of a block to the rows, except those that are kept. The block stays, and the
    /// slots of the others become marks.
    pub(crate) fn fold_others(&mut self, tables: Tables<'_>, block: &[AtomicU64], kept: SlotSet) {
        let slots: &Slots = block.as_chunks().0.try_into().expect("a block has its size");
        self.merge_epochs(tables);
        let mut pass = Pass { single: folder::SINGLE, ..self.pass(tables, slots) };
        // Before the first event leaves, readers know that events may be missing.
        slots[0][header::LOST_BEFORE].fetch_or(header::KEPT, Release);
        let mut at = 1;
        while let Some(slot) = slots.get(at) {
            let commit = slot[0].load(Acquire);
            if slot::lap(commit) != pass.lap {
                break;
            }
            match slot::site(commit) {
                ..FIRST_MARK if kept.contains(at) => _ = pass.enter(at, slot[3].load(Acquire)),
                ..FIRST_MARK => {
                    self.fold_event(tables, &mut pass, at);
                    // From here on the row has the event.
                    slot[0].store(slot::folded_commit(commit), Release);
                    slot[1].store(slot::folded_word(slot::site(commit)), Release);
                }
                site => match Mark::from_site(site) {
                    Some(Mark::Folded) => _ = pass.enter(at, slot[3].load(Relaxed)),
                    Some(Mark::Detail) => {
                        at += slot::detail_slots(slot::start(commit) as usize) - 1
                    }
                    Some(Mark::Open) => pass.open(at),
                    Some(Mark::End) => self.leave(tables, &mut pass, at),
                    _ => {}
                },
            }
            at += 1;
        }
        pass.step(ALL, [0; NOTE_WORDS]);
        (self.note, self.folded) = (pass.note, pass.folded);
    }
}
