//! An event is 32 bytes, and its id is its place.
//!
//! ```text
//! word 0   start: 36 bits, ticks since the block's base | site: 20 bits | lap: 8 bits, never 0
//! word 1   cause: an event id; 0 = root
//! word 2   subject: the key
//! word 3   running: 1 | tag: 38 bits of the block's sequence   both with 25 bits: held 1, details 2, timed 1,
//!          ended:   0 | span: 38 bits of ticks                 level 2, outcome 3, the subject's kind 16
//! ```
//!
//! Word 0 is stored last (release): it commits the slot. Word 3 is the only one that changes later.
//! The bit *held* is for the writer alone: only the slot has the data to end the event. Site
//! numbers from [`FIRST_MARK`] up are not sites but [`Mark`]s: records that belong to an event.

use metaspy_probe::Outcome;

/// Bits of a start, in ticks since the block's base.
pub const START_BITS: u32 = 36;
/// Bits of a span, and of the tag in its place while the event runs.
pub const SPAN_BITS: u32 = 38;
/// Largest span that fits. An end mark has the true length of a longer one.
pub const SPAN_MAX: u64 = (1 << SPAN_BITS) - 1;
/// Largest start that fits. A lane that is idle for longer continues in its next block.
pub const START_MAX: u64 = (1 << START_BITS) - 1;
/// The first site number that is a [`Mark`].
pub const FIRST_MARK: u32 = 0xF_FFF0;

/// The id of a cause in an earlier file of a rotation. No event has it: readers find it as little
/// as one that has left the window.
pub const EARLIER: u64 = 1;

/// Word 0: start, site, and lap of the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Ticks since the block's base.
    pub start: u64,
    /// The site's number, or a mark's.
    pub site: u32,
    /// The lap of the place, 1 to 255.
    pub lap: u8,
}

impl Commit {
    /// The word that commits a slot.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        commit(stamp(self.start, self.lap as u64), self.site)
    }

    /// Unpacks a committed word.
    #[inline(always)]
    pub const fn unpack(word: u64) -> Self {
        Commit { start: start(word), site: site(word), lap: lap(word) }
    }
}

/// Word 0 without its site. The lap is 1 to 255.
#[inline(always)]
pub const fn stamp(start: u64, lap: u64) -> u64 {
    start << 28 | lap
}

/// Word 0 of a site at a time.
#[inline(always)]
pub const fn commit(stamp: u64, site: u32) -> u64 {
    stamp | (site as u64) << 8
}

/// The start in word 0 or in a stamp.
#[inline(always)]
pub const fn start(commit: u64) -> u64 {
    commit >> 28
}

/// The site in word 0, or the mark in its place.
#[inline(always)]
pub const fn site(commit: u64) -> u32 {
    (commit >> 8) as u32 & 0xF_FFFF
}

/// The lap in word 0; 0 = an empty slot.
#[inline(always)]
pub const fn lap(commit: u64) -> u8 {
    commit as u8
}

/// False if no slot with one of these commit words, combined with `|`, is a mark.
#[inline(always)]
pub const fn may_hold_marks(commits: u64) -> bool {
    site(commits) & FIRST_MARK == FIRST_MARK
}

/// The 25 bits of word 3 that running and ended events both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// The subject's kind; 0 = no subject.
    pub kind: u16,
    /// The outcome.
    pub outcome: Outcome,
    /// The meta level: 0 is the application.
    pub level: u8,
    /// True if start and span were measured.
    pub timed: bool,
    /// Bit 0: a detail mark follows at the start. Bit 1: marks were written at the end.
    pub details: u8,
}

impl Flags {
    /// The flags as the low 25 bits of word 3.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        self.kind as u64
            | (self.outcome as u64) << OUTCOME
            | (self.level as u64 & 3) << LEVEL
            | (self.timed as u64) << TIMED
            | (self.details as u64 & 3) << DETAILS
    }

    /// The low 25 bits of word 3 as flags.
    #[inline(always)]
    pub const fn unpack(word: u64) -> Self {
        Flags {
            kind: kind(word),
            outcome: outcome(word),
            level: level(word),
            timed: is_timed(word),
            details: details(word),
        }
    }
}

/// Bits of word 3 for [`Flags`].
pub const FLAG_BITS: u32 = 25;
/// The first bit of each flag. The kind has the lowest 16 bits.
const OUTCOME: u32 = 16;
const LEVEL: u32 = 19;
const TIMED: u32 = 21;
const DETAILS: u32 = 22;
const HELD: u64 = 1 << 24;
const RUNNING: u64 = 1 << 63;

/// Details were written when the event began.
pub const DETAILS_AT_START: u8 = 1;
/// Details or other marks were written when the event ended.
pub const DETAILS_AT_END: u8 = 2;

/// The flags of an event that begins at level 0, without details.
#[inline(always)]
pub const fn flags(kind: u16, timed: bool) -> u64 {
    kind as u64 | (timed as u64) << TIMED
}

/// The same flags, of an event that its slot has all of.
#[inline(always)]
pub const fn held(flags: u64) -> u64 {
    flags | HELD
}

/// The flags of an event at this level, without kind, time and details.
#[inline(always)]
pub const fn flags_at_level(level: u8) -> u64 {
    (level as u64 & 3) << LEVEL
}

/// The details in [`Flags`]: were marks written at the start, and at the end?
#[inline(always)]
pub const fn details_at(start: bool, end: bool) -> u8 {
    start as u8 | (end as u8) << 1
}

/// The flags in word 3.
#[inline(always)]
pub const fn flags_of(word: u64) -> u64 {
    word & ((1 << FLAG_BITS) - 1)
}

/// The subject's kind in word 3 or in flags; 0 = no subject.
#[inline(always)]
pub const fn kind(word: u64) -> u16 {
    word as u16
}

/// The outcome's number in word 3 or in flags, 0 to 7.
#[inline(always)]
pub const fn outcome_bits(word: u64) -> u8 {
    (word >> OUTCOME) as u8 & 7
}

/// The outcome in word 3 or in flags.
#[inline(always)]
pub const fn outcome(word: u64) -> Outcome {
    Outcome::from_bits(outcome_bits(word))
}

/// Outcomes as a set, one bit each: all of them.
pub const ALL_OUTCOMES: u8 = u8::MAX;

/// True if an outcome is in a set.
#[inline(always)]
pub const fn has_outcome(outcomes: u8, outcome: Outcome) -> bool {
    outcomes >> outcome as u8 & 1 == 1
}

/// The meta level in word 3 or in flags. For several words combined with `|`: 0 if all levels are
/// 0.
#[inline(always)]
pub const fn level(word: u64) -> u8 {
    (word >> LEVEL) as u8 & 3
}

/// True if start and span were measured.
#[inline(always)]
pub const fn is_timed(word: u64) -> bool {
    word >> TIMED & 1 == 1
}

/// The details in word 3 or in flags: [`DETAILS_AT_START`], [`DETAILS_AT_END`].
#[inline(always)]
pub const fn details(word: u64) -> u8 {
    (word >> DETAILS) as u8 & 3
}

/// True if details or other marks were written when the event ended.
#[inline(always)]
pub const fn has_details_at_end(details: u8) -> bool {
    details & DETAILS_AT_END != 0
}

/// The details of word 3, at the bits of the flags.
#[inline(always)]
pub const fn details_of(word: u64) -> u64 {
    word & 3 << DETAILS
}

/// Kind, outcome, level and time of word 3 or flags. The details and all higher bits are 0.
#[inline(always)]
pub const fn without_details(word: u64) -> u64 {
    word & ((1 << DETAILS) - 1)
}

/// The same word 3 or flags with another outcome.
#[inline(always)]
pub const fn with_outcome(word: u64, outcome: Outcome) -> u64 {
    word & !(7 << OUTCOME) | (outcome as u64) << OUTCOME
}

/// The same word 3 or flags with another kind.
#[inline(always)]
pub const fn with_kind(word: u64, kind: u16) -> u64 {
    word & !(u16::MAX as u64) | kind as u64
}

/// The same word 3 or flags with further details.
#[inline(always)]
pub const fn with_details(word: u64, details: u8) -> u64 {
    word | (details as u64 & 3) << DETAILS
}

/// Word 3 of an event that has not ended, tagged with the sequence of its block.
#[inline(always)]
pub const fn running(sequence: u64, flags: u64) -> u64 {
    RUNNING | (sequence & SPAN_MAX) << FLAG_BITS | flags
}

/// Word 3 of an event that took `span` ticks. A longer span is cut at [`SPAN_MAX`].
#[inline(always)]
pub const fn ended(span: u64, flags: u64) -> u64 {
    (if span > SPAN_MAX { SPAN_MAX } else { span }) << FLAG_BITS | flags
}

/// Word 3 of an event that took `span` ticks, made of its word while it ran. The span fits, and
/// there were no details.
#[inline(always)]
pub const fn ended_as(running: u64, span: u64, outcome: Outcome) -> u64 {
    span << FLAG_BITS | without_details(running) | (outcome as u64) << OUTCOME
}

/// True if word 3 belongs to a running event in the block with this sequence, and its slot has all
/// of it.
#[inline(always)]
pub const fn is_held_in(word: u64, sequence: u64) -> bool {
    is_running_in(word, sequence) && word & HELD != 0
}

/// The same word 3 of an event that its slot does not have all of any more.
#[inline(always)]
pub const fn let_go(word: u64) -> u64 {
    word & !HELD
}

/// Word 3 of an event that was moved out of the window while it ran. It keeps only the kind of the
/// subject.
#[inline(always)]
pub const fn moved(word: u64) -> u64 {
    ended(0, with_outcome(kind(word) as u64, Outcome::Moved))
}

/// True if word 3 belongs to a running event in the block with this sequence.
#[inline(always)]
pub const fn is_running_in(word: u64, sequence: u64) -> bool {
    is_running(word) && span(word) == sequence & SPAN_MAX
}

/// True if word 3 belongs to a running event.
#[inline(always)]
pub const fn is_running(word: u64) -> bool {
    word & RUNNING != 0
}

/// True if word 3 belongs to an event at level 0 that returned, and maybe succeeded.
#[inline(always)]
pub const fn is_plain(word: u64) -> bool {
    // One instruction takes the bit at the number of outcome and level. A running event has outcome
    // 0.
    const PLAIN: u32 = 1 << Outcome::Returned as u8 | 1 << Outcome::Succeeded as u8;
    PLAIN >> ((word >> OUTCOME) as u32 & 31) & 1 != 0
}

/// The ticks of an ended event, or the tag of a running one.
#[inline(always)]
pub const fn span(word: u64) -> u64 {
    word >> FLAG_BITS & SPAN_MAX
}

/// The ticks of an ended event.
#[inline(always)]
pub const fn whole_span(ended: u64) -> u64 {
    ended >> FLAG_BITS
}

/// Records that are not events, but belong to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mark {
    /// The end of an event whose slot is too small for its span. Word 1: event. Word 2: span in
    /// ticks. Word 3: flags.
    End = 0xF_FFFF,
    /// Details. `start` is the length in bytes. Word 1: event. The bytes begin at word 2 and
    /// continue in the next slots ([`detail_slots`]).
    Detail = 0xF_FFFE,
    /// A further reason. Word 1: effect. Word 2: cause.
    Link = 0xF_FFFD,
    /// Announcements that a tap missed. Word 1: the event that reports them. Word 2: their number.
    Gap = 0xF_FFFC,
    /// The polls of an async call. Word 1: event. Word 2: busy ticks. Word 3: their number
    /// ([`polls`]).
    Polls = 0xF_FFFB,
    /// The event was sent to another process as a cause. Word 1: event. Word 2: its span. Word 3:
    /// the low half of its trace. The start is the time of the sending.
    Sent = 0xF_FFFA,
    /// A cause in another process. Word 1: the high half of the trace. Word 2: the span. Word 3:
    /// the low half of the trace. The effects of this cause have the id of this slot as their
    /// cause.
    Remote = 0xF_FFF9,
    /// A call that was open when its lane took this block ([`nesting`](crate::nesting)). Words 1 to
    /// 3: an [`OpenCall`](crate::nesting::OpenCall).
    Open = 0xF_FFF8,
    /// An event of a block that is kept for other events. It is counted in the tallies. Word 1: its
    /// site ([`folded_site`]). Word 2: the key of its subject. Word 3: its last word. The start is
    /// its own.
    Folded = 0xF_FFF7,
    /// An async call is polled from now on in another lane than that in which it began: what it
    /// causes there is inside its polls. Word 1: event.
    Polled = 0xF_FFF6,
}

/// The bit of word 3 of a [`Mark::Polls`] of a call that is apart.
const APART: u64 = 1 << 63;

/// Word 3 of a [`Mark::Polls`]: the number of polls. A call is apart that began outside of the
/// polls of its cause, as a spawned task does.
pub const fn polls(polls: u64, is_apart: bool) -> u64 {
    polls | if is_apart { APART } else { 0 }
}

/// The number of polls in word 3 of a [`Mark::Polls`], and whether the call is apart.
pub const fn polls_of(word: u64) -> (u64, bool) {
    (word & !APART, word & APART != 0)
}

impl Mark {
    /// The mark with this site number; `None` for a site.
    #[inline]
    pub const fn from_site(site: u32) -> Option<Self> {
        match site {
            0xF_FFFF => Some(Mark::End),
            0xF_FFFE => Some(Mark::Detail),
            0xF_FFFD => Some(Mark::Link),
            0xF_FFFC => Some(Mark::Gap),
            0xF_FFFB => Some(Mark::Polls),
            0xF_FFFA => Some(Mark::Sent),
            0xF_FFF9 => Some(Mark::Remote),
            0xF_FFF8 => Some(Mark::Open),
            0xF_FFF7 => Some(Mark::Folded),
            0xF_FFF6 => Some(Mark::Polled),
            _ => None,
        }
    }
}

/// The bit of word 1 of a [`Mark::Folded`] whose site is known. No event has such an id.
const HAS_SITE: u64 = 1 << 63;

/// Word 1 of a [`Mark::Folded`].
pub const fn folded_word(site: u32) -> u64 {
    HAS_SITE | site as u64
}

/// The site in word 1 of a [`Mark::Folded`]. `None` if the folder was killed before it wrote the
/// site.
pub const fn folded_site(word: u64) -> Option<u32> {
    if word & HAS_SITE != 0 { Some(word as u32) } else { None }
}

/// The commit word of an event as that of a [`Mark::Folded`].
#[inline(always)]
pub const fn folded_commit(event: u64) -> u64 {
    commit(stamp(start(event), lap(event) as u64), Mark::Folded as u32)
}

/// Largest details of an event in bytes.
pub const DETAIL_MAX: usize = 1024;
/// Bytes of a detail in its first slot.
const DETAIL_FIRST: usize = 16;

/// The number of slots for a detail of `bytes` bytes.
#[inline]
pub const fn detail_slots(bytes: usize) -> usize {
    1 + bytes.saturating_sub(DETAIL_FIRST).div_ceil(super::SLOT_BYTES)
}

#[cfg(test)]
mod tests;
