//! First page of a recording as values.

use serde::Serialize;

use crate::open::absent_files::IS_FOLLOWED;
use metaspy_format::Policy;
use metaspy_format::superblock as sb;
use metaspy_format::{Words, high, low};

/// End state of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndState {
    /// The process still records.
    Live,
    /// The process closed the recording.
    Closed,
    /// The process is gone and did not close the recording.
    Killed,
    /// The recording was not closed, and the state of its process is unknown: the process is not in
    /// this PID namespace, and the file system has no locks.
    Unknown,
    /// The recording is a copy that was made during the writing. The copy does not change.
    Snapshot,
}

/// First page of a recording (the superblock) by value.
///
/// Each field has the name and the meaning of a word in [`metaspy_format::superblock`].
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "`format::superblock` documents each word")]
pub struct Header {
    pub major: u32,
    pub minor: u32,
    pub state: u64,
    pub total_bytes: u64,
    pub blocks: u64,
    pub grown: u64,
    pub fresh: u64,
    pub policy: Policy,
    pub budget: u64,
    pub pid: u32,
    pub started_ns: u64,
    pub clock: u64,
    pub ticks_per_s: u64,
    pub first_tick: u64,
    pub last_tick: u64,
    pub process_start: u64,
    pub epoch: u32,
    pub lanes_used: u64,
    pub tally_used: u64,
    pub folded: u64,
    pub reentrant: u64,
    pub unnamed: u64,
    pub clock_behind: u64,
    pub arena_lost: u64,
    pub details_cut: u64,
    pub handler_panics: u64,
    pub out_of_order: u64,
    pub marks_lost: u64,
    pub fold_done: u64,
    pub moved: u64,
    pub late_ends: u64,
    pub others: u64,
    pub remote_malformed: u64,
    pub profiles_lost: u64,
    pub statements_lost: u64,
    pub rows_freed: u64,
    pub earlier_files: u64,
    pub is_followed: bool,
    /// Exit status of the process. `None` if the recording was not closed by the exit of its
    /// process, or if the system does not report the status.
    pub exit: Option<u8>,
}

impl Header {
    /// Reads the first page.
    pub fn read(words: Words<'_>) -> Self {
        let word = |at| words.get(at);
        let version = word(sb::VERSION);
        Header {
            major: high(version),
            minor: low(version),
            state: words.acquire(sb::STATE),
            total_bytes: word(sb::TOTAL_BYTES),
            blocks: word(sb::BLOCKS),
            grown: word(sb::GROWN),
            fresh: words.acquire(sb::FRESH),
            policy: match word(sb::POLICY) {
                1 => Policy::KeepOldest,
                2 => Policy::Grow,
                _ => Policy::KeepNewest,
            },
            budget: word(sb::BUDGET),
            pid: word(sb::PID) as u32,
            started_ns: word(sb::STARTED_NS),
            clock: word(sb::CLOCK),
            ticks_per_s: word(sb::TICKS_PER_S),
            first_tick: word(sb::FIRST_TICK),
            last_tick: word(sb::LAST_TICK),
            process_start: word(sb::PROCESS_START),
            epoch: word(sb::EPOCH) as u32,
            lanes_used: word(sb::LANES_USED),
            tally_used: word(sb::TALLY_USED),
            folded: word(sb::FOLDED),
            reentrant: word(sb::REENTRANT),
            unnamed: word(sb::UNNAMED),
            clock_behind: word(sb::CLOCK_BEHIND),
            arena_lost: word(sb::ARENA_LOST),
            details_cut: word(sb::DETAILS_CUT),
            handler_panics: word(sb::HANDLER_PANICS),
            out_of_order: word(sb::OUT_OF_ORDER),
            marks_lost: word(sb::MARKS_LOST),
            fold_done: word(sb::FOLD_DONE),
            moved: word(sb::MOVED),
            late_ends: word(sb::LATE_ENDS),
            others: word(sb::OTHERS),
            remote_malformed: word(sb::REMOTE_MALFORMED),
            profiles_lost: word(sb::PROFILES_LOST),
            statements_lost: word(sb::STATEMENTS_LOST),
            rows_freed: word(sb::ROWS_FREED),
            earlier_files: word(sb::EARLIER_FILES),
            is_followed: word(sb::FOLLOWED) == IS_FOLLOWED,
            exit: word(sb::EXIT).checked_sub(1).map(|status| status as u8),
        }
    }
}
