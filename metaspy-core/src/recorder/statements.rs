//! Writes the statements about subjects: labels, relations, ends. No hook calls it.
//!
//! Subjects come and go as long as the program runs. When the newest half has little room, the collector copies the
//! statements that are still needed to the other half.

use std::sync::atomic::Ordering;

use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::arena::Draft;
use crate::recorder::log::Log;
use crate::recorder::needed::needed;

impl Log {
    /// Appends a statement. A statement without room is left out and counted.
    pub(crate) fn append_statement(&self, draft: Draft) {
        let words = draft.finish();
        let is_there = {
            let _stating = lock(&self.statements.stating);
            let half = (self.word(sb::STATEMENTS_TURN).load(Ordering::Relaxed) % 2) as usize;
            let stepped = &self.statements.halves[half];
            self.write_entry(stepped, sb::STATEMENTS_USED + half, stepped.area.bytes(), &words)
        };
        let before = self.statements.stated.fetch_add(words.len() as u64, Ordering::Relaxed);
        if before < self.statements.next_turn.load(Ordering::Relaxed) && self.statements.is_due() {
            self.wake();
        }
        if !is_there && self.word(sb::STATEMENTS_LOST).fetch_add(1, Ordering::Relaxed) == 0 {
            self.note_loss(
                "There is no room for more labels, relations and ends: some are missing. Record with a larger budget.",
            );
        }
    }

    /// Copies the needed statements to the other half, if there is little room. Only the collector calls this.
    pub(super) fn turn_statements(&self) {
        if !self.statements.is_due() {
            return;
        }
        let turn = self.word(sb::STATEMENTS_TURN).load(Ordering::Relaxed);
        let (old, new) = ((turn % 2) as usize, ((turn + 1) % 2) as usize);
        let [from, to] = [old, new].map(|half| self.statements.halves[half].area);
        let words = from.of(self.region.words());
        let used = self.word(sb::STATEMENTS_USED + old).load(Ordering::Acquire) as usize;
        let mut end = 0;
        let cells = &self.cells()[to.at..to.at + to.len];
        let mut copy = |at: usize, length: usize| {
            let has_room = self.statements.halves[new].reserve((end + length) * 8);
            if has_room {
                (0..length).for_each(|word| cells[end + word].store(words.get(at + word), Ordering::Relaxed));
                end += length;
            }
            has_room
        };
        let mut is_whole = needed(self, words, used).into_iter().all(|(at, length)| copy(at, length));
        let _stating = lock(&self.statements.stating);
        // What was stated meanwhile.
        let now = self.word(sb::STATEMENTS_USED + old).load(Ordering::Relaxed) as usize;
        is_whole &= copy(used, now - used);
        // A copy does not pay before an eighth of a half was stated again.
        let pause = ((to.len - end.min(to.len)) / 2).max(to.len / 8) as u64;
        self.statements.next_turn.store(self.statements.stated.load(Ordering::Relaxed) + pause, Ordering::Relaxed);
        if is_whole {
            self.word(sb::STATEMENTS_USED + new).store(end as u64, Ordering::Release);
            self.word(sb::STATEMENTS_TURN).store(turn + 1, Ordering::Release);
        }
    }
}
