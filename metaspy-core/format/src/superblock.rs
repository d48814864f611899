//! The first page of a recording (the superblock): version, places of the tables, and counts.
//!
//! Each constant is the index of a word.

use serde::Serialize;

/// Bytes of the superblock.
pub const BYTES: usize = 4096;
/// The first word of every recording.
pub const MAGIC_WORD: u64 = u64::from_le_bytes(*b"METASPY\0");
/// Version of the layout. A reader refuses a newer major version, and reads every older one.
pub const MAJOR: u32 = 1;
/// Minor version. It adds parts that an older reader skips.
pub const MINOR: u32 = 8;
/// The first minor version in which folded calls count their time once
/// ([`nesting`](crate::nesting)).
pub const MINOR_NESTING: u32 = 6;

/// [`MAGIC_WORD`]. It is stored last when a recording is made.
pub const MAGIC: usize = 0;
/// Major version (high 32 bits) and minor version (low 32 bits).
pub const VERSION: usize = 1;
/// [`STATE_LIVE`] or [`STATE_CLOSED`].
pub const STATE: usize = 2;
/// Bytes of the whole recording with every block allocated.
pub const TOTAL_BYTES: usize = 3;
/// Places of the ring.
pub const BLOCKS: usize = 4;
/// Places with allocated memory.
pub const GROWN: usize = 5;
/// Places that were used at least once. They come first.
pub const FRESH: usize = 6;
/// The [`Policy`].
pub const POLICY: usize = 7;
/// The budget in bytes.
pub const BUDGET: usize = 8;
/// The number of the recording process.
pub const PID: usize = 9;
/// The beginning of the recording, in ns since 1970.
pub const STARTED_NS: usize = 10;
/// The [`Clock`].
pub const CLOCK: usize = 11;
/// Ticks per second, measured before the recording began.
pub const TICKS_PER_S: usize = 12;
/// The tick at the beginning of the recording.
pub const FIRST_TICK: usize = 13;
/// The tick of the collector's last round, or of the closing.
pub const LAST_TICK: usize = 14;
/// Start time of the process, in clock ticks since boot. It distinguishes processes with the same
/// number.
pub const PROCESS_START: usize = 15;

/// The calibration pairs. Here and below: byte offset, then bytes in the next word.
pub const CALIBRATION: usize = 16;
/// Chunk summaries ([`super::summary`]).
pub const SUMMARIES: usize = 18;
/// The fold's journal ([`journal`]). Empty since version 1.5.
pub const JOURNAL: usize = 20;
/// Lanes ([`lane`]).
pub const LANES: usize = 22;
/// The arena ([`super::arena`]).
pub const ARENA: usize = 24;
/// Pages of lanes ([`super::row::page`]).
pub const PAGES: usize = 26;
/// The fold table: rows ([`super::row`]), open addressing, capacity a power of two.
pub const TALLY: usize = 28;
/// The blocks.
pub const CHUNKS: usize = 30;
/// Pages of profile tables ([`super::profile`]). Empty in recordings before version 1.4.
pub const PROFILES: usize = 32;
/// Statements about subjects, two halves ([`super::arena`]). Empty in recordings before version
/// 1.5.
pub const STATEMENTS: usize = 34;
/// Records of folders ([`super::folder`]). Empty in recordings before version 1.5.
pub const FOLDERS: usize = 36;
/// Units of events that are kept ([`kept`]). Empty in recordings before version 1.8, and without
/// rules.
pub const KEPT: usize = 38;

/// The current epoch.
pub const EPOCH: usize = 64;
/// Words of the arena in use (release).
pub const ARENA_USED: usize = 65;
/// Bytes of the pages area in use.
pub const PAGES_USED: usize = 66;
/// Rows of the fold table in use.
pub const TALLY_USED: usize = 67;
/// Lanes in use.
pub const LANES_USED: usize = 68;
/// Calibration pairs that were written. Pair `i` is at `i` modulo the capacity, but pair 0 is never
/// overwritten.
pub const CALIBRATION_USED: usize = 69;
/// Events that were folded into the tallies. Since version 1.5 only those in the fold table, as of
/// the collector's last round; the records of the folders have the exact number.
pub const FOLDED: usize = 70;
/// Hooks that found their own lane busy (signal handlers, allocators, formatters). Only these calls
/// are lost without site and subject.
pub const REENTRANT: usize = 71;
/// Calls that found neither a row nor a page. Only their number is known.
pub const UNNAMED: usize = 72;
/// Ticks before the base of their block. They count as 0.
pub const CLOCK_BEHIND: usize = 73;
/// Names, views, epochs and marks that found no room.
pub const ARENA_LOST: usize = 74;
/// Details that were cut or found no room.
pub const DETAILS_CUT: usize = 75;
/// Caught panics of handlers.
pub const HANDLER_PANICS: usize = 76;
/// Guards that ended out of order.
pub const OUT_OF_ORDER: usize = 77;
/// Marks (links, gaps, details, polls) that found no block.
pub const MARKS_LOST: usize = 78;
/// Number of the last fold of the journal that is applied. 0 since version 1.5.
pub const FOLD_DONE: usize = 79;
/// Running events that the collector moved out of the window.
pub const MOVED: usize = 80;
/// Ends that came after their event was moved. Their time and outcome are in the pages.
pub const LATE_ENDS: usize = 81;
/// Calls in rows of others, which stand for several subjects of a site.
pub const OTHERS: usize = 82;
/// Blocks in the window when the recording was closed. A reader finds at least the counts of this
/// word and the next two. 0 = the recording was not closed, or was closed by version 1.0.
pub const SEALED_BLOCKS: usize = 83;
/// Events in the window when the recording was closed.
pub const SEALED_EVENTS: usize = 84;
/// Calls in the pages of the lanes when the recording was closed.
pub const SEALED_COUNTED: usize = 85;
/// 1 + the exit status of the process, if its exit closed the recording and the system reports the
/// status; 0 = unknown.
pub const EXIT: usize = 86;
/// The random word that turns ids into spans ([`super::span`]). Its highest bit is set. 0 = the
/// recording is older than version 1.3.
pub const SPAN_WORD: usize = 87;
/// The random word of the traces that begin in this recording; not 0 from version 1.3 on.
pub const TRACE_WORD: usize = 88;
/// Malformed texts that were passed as `traceparent` and ignored.
pub const REMOTE_MALFORMED: usize = 89;
/// Bytes of the pages of profile tables in use.
pub const PROFILES_USED: usize = 90;
/// Values of profile tables that found no room, and whose table has no count of its own.
pub const PROFILES_LOST: usize = 91;

/// Number of times that the statements were moved to the other half (release). The newest half is
/// this modulo 2. A half changes only by additions while it is the newest.
pub const STATEMENTS_TURN: usize = 92;
/// Words of the first half of the statements in use (release). The word behind it is about the
/// second half.
pub const STATEMENTS_USED: usize = 93;
/// Statements that found no room, or wait for the collector to make room.
pub const STATEMENTS_LOST: usize = 95;
/// Rows of lanes that were freed, after they had been merged a turn before. If a call that was only
/// counted in one still runs, and fails, its failure may be counted in the row that takes the
/// place.
pub const ROWS_FREED: usize = 96;
/// Picoseconds between the two clocks of a timed call that does nothing, as the recorded process
/// measured them. Since version 1.7; 0 = not measured.
pub const HOOKS_WITHIN: usize = 97;
/// Picoseconds of the hooks of such a call in all; 0 = not measured.
pub const HOOKS_WHOLE: usize = 98;
/// Files of a rotation before this one. In several files that were read as one: those of them that
/// were not among these.
pub const EARLIER_FILES: usize = 99;
/// Picoseconds between the two clocks of a timed call that a hook takes beside [`HOOKS_WITHIN`] if
/// it sees the returned value. Since version 1.8; 0 = not measured.
pub const HOOKS_RETURNED: usize = 101;
/// 1 if the rotation went on in another file, which was not read together with this one. 2 in
/// several files that were read as one if that holds for none of them, and did for some before.
/// Else 0. Unless it is 0, calls that seem to run may have ended.
pub const FOLLOWED: usize = 100;
/// Rows of the table of kept units that were used so far.
pub const KEPT_USED: usize = 102;
/// Units that were kept and gave way to more surprising ones.
pub const KEPT_GONE: usize = 103;
/// Blocks that were folded before it was known whether they held events to keep.
pub const KEPT_UNSEEN: usize = 104;
/// How often an event of a unit is missing: its block was folded before, or the unit or the number
/// of running events is too large.
pub const KEPT_CUT: usize = 105;

/// The treatment of events when the budget of a recording is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Policy {
    /// The oldest events are folded into the tallies: a flight recorder.
    #[default]
    KeepNewest = 0,
    /// No more events are stored; calls are still counted.
    KeepOldest = 1,
    /// The file grows up to the budget, as far as the disk has room. After that no more events are
    /// stored; calls are still counted.
    Grow = 2,
}

/// The clock of the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Clock {
    /// A test sets it.
    Manual = 0,
    /// The time stamp counter.
    Counter = 1,
    /// The monotonic clock. A tick is a nanosecond.
    Monotonic = 2,
}

/// The version as one word.
pub const fn version(major: u32, minor: u32) -> u64 {
    crate::join(minor, major)
}

/// The process records.
pub const STATE_LIVE: u64 = 1;
/// The recording was closed.
pub const STATE_CLOSED: u64 = 2;

/// A calibration pair: one instant on four clocks.
pub mod calibration {
    /// 64-bit words of a pair.
    pub const WORDS: usize = 4;
    /// The tick.
    pub const TICK: usize = 0;
    /// The monotonic clock, ns.
    pub const MONOTONIC_NS: usize = 1;
    /// Time since boot, with suspends, ns.
    pub const BOOT_NS: usize = 2;
    /// ns since 1970.
    pub const REAL_NS: usize = 3;
    /// Pairs that the table holds.
    pub const CAPACITY: usize = 4096;
}

/// The row of a lane.
pub mod lane {
    /// 64-bit words of a row.
    pub const WORDS: usize = 8;
    /// 0 free, 1 live, 2 its thread ended.
    pub const STATE: usize = 0;
    /// The number of the thread in the operating system.
    pub const THREAD: usize = 1;
    /// The first 32 bytes of the thread's name. The arena has the whole of a longer name.
    pub const NAME: usize = 2;
    /// Byte offset of the lane's newest page from the start of the recording; 0 = none.
    pub const PAGE: usize = 6;
    /// Events that found no block. The rows of the pages count them too.
    pub const LOST: usize = 7;
}

/// The row of a unit of kept events: an event that met a rule, with its causes, its effects and its
/// links.
pub mod kept {
    /// 64-bit words of a row.
    pub const WORDS: usize = 4;
    /// The event that met the rule; 0 = the row is free. Stored last.
    pub const EVENT: usize = 0;
    /// The number of the rule (low 32 bits), and how many events are kept for this one (high 32
    /// bits).
    pub const RULE_EVENTS: usize = 1;
    /// The span in ticks that it was longer than; 0 where the rule is not about lengths.
    pub const THRESHOLD: usize = 2;
    /// The tick at which it was found.
    pub const FOUND: usize = 3;
}

/// The journal of the fold, before version 1.5. After a kill a fold is either complete or not
/// begun.
pub mod journal {
    /// The number of the fold in the journal; 0 = none. Stored last.
    pub const COMMIT: usize = 0;
    /// The number of folded blocks. Their sequences follow the header.
    pub const BLOCKS: usize = 1;
    /// The number of rows. Each is its index in the fold table, then its new words. They follow the
    /// sequences.
    pub const ROWS: usize = 2;
    /// The value of [`super::FOLDED`] after this fold.
    pub const FOLDED: usize = 3;
    /// The value of [`super::TALLY_USED`] after this fold.
    pub const TALLY_USED: usize = 4;
    /// The value of [`super::MOVED`] after this fold.
    pub const MOVED: usize = 5;
    /// Words of the header.
    pub const HEADER_WORDS: usize = 8;
}
