//! Writes the statements about subjects: labels, relations, ends. No hook calls it.
//!
//! Subjects come and go as long as the program runs. When the newest half has little room, the
//! collector copies the statements that are still needed to the other half.
//!
//! Two halves are used instead of a free list, because entries then stay in order, a reader checks
//! one word, and a kill leaves one whole half. The statements about an ended subject are needed
//! while an event of it is stored. To find this out, the blocks are searched.

use std::sync::atomic::Ordering;

use crate::format::arena::unpack_head;
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::arena::Draft;
use crate::recorder::log::Log;
use crate::recorder::needed_statements::needed_statements;

impl Log {
    /// Appends a statement. A statement without room waits in memory for the collector, in order.
    /// It counts as lost until then.
    pub(crate) fn append_statement(&self, draft: Draft) {
        let words = draft.finish();
        let mut waiting = lock(&self.statements.waiting);
        let is_there = waiting.is_empty() && self.write_statement(&words);
        let can_wait = waiting.len() + words.len() <= self.statements.halves[0].area.len;
        if !is_there {
            self.count(sb::STATEMENTS_LOST, 1);
            waiting.extend(words.iter().filter(|_| can_wait));
        }
        drop(waiting);
        let before = self.statements.stated.fetch_add(words.len() as u64, Ordering::Relaxed);
        if before < self.statements.next_turn.load(Ordering::Relaxed) && self.statements.is_due() {
            self.wake();
        }
        if !is_there && !can_wait {
            self.note_lost_statements();
        }
    }

    /// Writes a statement into the newest half. False if there is no room.
    fn write_statement(&self, words: &[u64]) -> bool {
        let half = (self.word(sb::STATEMENTS_TURN).load(Ordering::Relaxed) % 2) as usize;
        let stepped = &self.statements.halves[half];
        self.write_entry(stepped, sb::STATEMENTS_USED + half, stepped.area.bytes(), words)
    }

    /// Writes the statements that wait, as many as there is room for.
    fn write_waiting(&self, waiting: &mut Vec<u64>) {
        let mut rest = &waiting[..];
        while let Some(head) = rest.first() {
            let (entry, behind) = rest.split_at(unpack_head(*head).1);
            if !self.write_statement(entry) {
                break;
            }
            self.word(sb::STATEMENTS_LOST).fetch_sub(1, Ordering::Relaxed);
            rest = behind;
        }
        let written = waiting.len() - rest.len();
        waiting.drain(..written);
        if written == 0 && !waiting.is_empty() {
            self.note_lost_statements();
        }
    }

    /// Notes, once, that statements are missing.
    fn note_lost_statements(&self) {
        if !self.statements.has_noted.swap(true, Ordering::Relaxed) {
            self.note_loss(
                "There is no room for more labels, relations and ends: some are missing. Set METASPY_BUDGET to a larger size.",
            );
        }
    }

    /// Makes room if there is little. In a stopped log, writes all statements that wait. The caller
    /// holds the collector's lock.
    pub(super) fn make_room_for_statements(&self) {
        let waiting = || lock(&self.statements.waiting).len();
        if self.is_stopped() {
            let mut before = usize::MAX;
            while (1..before).contains(&waiting()) {
                before = waiting();
                self.turn_statements();
            }
        } else if self.statements.is_due() {
            self.turn_statements();
        }
    }

    /// Copies the needed statements to the other half, and adds those that wait.
    fn turn_statements(&self) {
        let turn = self.word(sb::STATEMENTS_TURN).load(Ordering::Relaxed);
        let old = (turn % 2) as usize;
        let new = ((turn + 1) % 2) as usize;
        let [from, to] = [old, new].map(|half| self.statements.halves[half].area);
        let words = from.of(self.region.words());
        let used = self.word(sb::STATEMENTS_USED + old).load(Ordering::Acquire) as usize;
        let mut end = 0;
        let cells = &self.cells()[to.at..to.at + to.len];
        let mut copy = |at: usize, length: usize| {
            let has_room = self.statements.halves[new].reserve((end + length) * 8);
            if has_room {
                (0..length).for_each(|word| {
                    cells[end + word].store(words.get(at + word), Ordering::Relaxed)
                });
                end += length;
            }
            has_room
        };
        let mut is_whole =
            needed_statements(self, words, used).into_iter().all(|(at, length)| copy(at, length));
        let mut waiting = lock(&self.statements.waiting);
        // The statements that were added meanwhile.
        let now = self.word(sb::STATEMENTS_USED + old).load(Ordering::Relaxed) as usize;
        is_whole &= copy(used, now - used);
        // A copy does not pay before an eighth of a half was stated again.
        let mut pause = ((to.len - end.min(to.len)) / 4).max(to.len / 8) as u64;
        if is_whole {
            self.word(sb::STATEMENTS_USED + new).store(end as u64, Ordering::Release);
            self.word(sb::STATEMENTS_TURN).store(turn + 1, Ordering::Release);
            let before = waiting.len();
            self.write_waiting(&mut waiting);
            // While some still wait, and a copy makes room, the next one is due.
            pause *= u64::from(waiting.is_empty() || waiting.len() == before);
        }
        self.statements
            .next_turn
            .store(self.statements.stated.load(Ordering::Relaxed) + pause, Ordering::Relaxed);
    }
}
