//! Calls inside other calls: a row of a report counts the time in which at least one of its calls
//! was open, once.
//!
//! A call inside another call of the same row adds nothing to the row's time. Whether it is inside
//! one can be read from the lane, as long as the calls around it are stored. A lane that takes a
//! new block therefore writes the timed calls that are open
//! ([`Mark::Open`](crate::slot::Mark::Open)), so that a block alone shows which of its calls are
//! nested, whatever happened to the blocks before it, and the end of one of these calls beside the
//! events. Folders and readers follow the events of a block with a [`Nesting`]. The causes of later
//! events would not show that such a call has ended: they may be named.
//!
//! A lane writes up to 16 of these marks when it takes a block. The alternative is a bit that hooks
//! set when a call begins. For such a bit, a hook would have to know whether its site and its
//! subject are open, which takes more than one instruction at both ends; a block is taken once in
//! 127 events. The bit would also say nothing of types, and the blocks of a lane are folded in any
//! order.

/// Open calls that a block names at most.
pub const OPEN_MOST: usize = 16;
/// Open calls that a [`Nesting`] knows at most. It lives on the stack of whoever folds.
const DEPTH_MAX: usize = OPEN_MOST + 32;

/// A timed call that was open when its lane took a block. The outermost one is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCall {
    /// The event; 0 = no call, but the statement that some open calls have no mark.
    pub id: u64,
    /// The key of the subject.
    pub key: u64,
    /// The number of the site.
    pub site: u32,
    /// The kind of the subject.
    pub kind: u16,
    /// True if a [`Mark::End`](crate::slot::Mark::End) of the lane follows if it ends while the
    /// lane fills the block. In recordings of earlier versions, only causes of later events show
    /// that it has ended.
    pub is_end_marked: bool,
}

/// Open calls without a mark, because a block names [`OPEN_MOST`] at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unnamed {
    /// A call without a mark may be the only open one of its site.
    pub sites: bool,
    /// A call without a mark may be the only open one of its subject.
    pub subjects: bool,
}

const END_MARKED: u64 = 1 << 38;
const SITES_UNNAMED: u64 = 1 << 36;
const SUBJECTS_UNNAMED: u64 = 1 << 37;

impl OpenCall {
    /// Words 1 to 3 of its mark.
    pub const fn words(self) -> [u64; 3] {
        let is_end_marked = if self.is_end_marked { END_MARKED } else { 0 };
        [self.id, self.key, self.kind as u64 | (self.site as u64 & 0xF_FFFF) << 16 | is_end_marked]
    }

    /// Reads words 1 to 3 of a mark. `None`: it is an [`Unnamed`].
    pub const fn read(words: [u64; 3]) -> Option<Self> {
        let [id, key, last] = words;
        let (site, is_end_marked) = ((last >> 16) as u32 & 0xF_FFFF, last & END_MARKED != 0);
        let call = OpenCall { id, key, site, kind: last as u16, is_end_marked };
        if id == 0 { None } else { Some(call) }
    }
}

impl Unnamed {
    /// True if some open calls have no mark.
    pub const fn any(self) -> bool {
        self.sites || self.subjects
    }

    /// Words 1 to 3 of its mark.
    pub const fn words(self) -> [u64; 3] {
        let sites = if self.sites { SITES_UNNAMED } else { 0 };
        let subjects = if self.subjects { SUBJECTS_UNNAMED } else { 0 };
        [0, 0, sites | subjects]
    }

    /// Reads word 3 of a mark without an event.
    pub const fn read(last: u64) -> Self {
        Unnamed { sites: last & SITES_UNNAMED != 0, subjects: last & SUBJECTS_UNNAMED != 0 }
    }
}

/// The calls around a call, as far as rows are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// It is inside another call at its site.
    pub site: bool,
    /// It is inside another call on its subject.
    pub subject: bool,
    /// It is inside another call at its site on its subject.
    pub both: bool,
}

/// An open call.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The tick at which it ends, counted as the starts of the block; [`u64::MAX`] if unknown.
    end: u64,
    call: OpenCall,
}

/// The calls that are open at a place of a block.
#[derive(Debug)]
pub struct Nesting {
    levels: [Level; DEPTH_MAX],
    depth: usize,
    unnamed: Unnamed,
    /// A call inside the innermost one that there is room for was not entered.
    is_full: bool,
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting::new()
    }
}

impl Nesting {
    /// No open calls.
    pub const fn new() -> Self {
        let call = OpenCall { id: 0, key: 0, site: 0, kind: 0, is_end_marked: false };
        let level = Level { end: 0, call };
        let unnamed = Unnamed { sites: false, subjects: false };
        Nesting { levels: [level; DEPTH_MAX], depth: 0, unnamed, is_full: false }
    }

    /// Adds the words of a [`Mark::Open`](crate::slot::Mark::Open).
    pub fn add(&mut self, words: [u64; 3]) {
        match OpenCall::read(words) {
            Some(call) => self.enter(call, u64::MAX),
            None => self.unnamed = Unnamed::read(words[2]),
        }
    }

    /// Leaves all calls.
    #[inline]
    pub fn clear(&mut self) {
        self.depth = 0;
        self.unnamed = Unnamed::default();
    }

    /// True if no call is open.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Open calls that are not known here. They matter as long as one that is known is open.
    #[inline]
    pub fn unnamed(&self) -> Unnamed {
        let is_beyond = self.is_full && self.depth == DEPTH_MAX;
        let Unnamed { sites, subjects } =
            if self.depth == 0 { Unnamed::default() } else { self.unnamed };
        Unnamed { sites: sites || is_beyond, subjects: subjects || is_beyond }
    }

    /// Leaves the calls that have ended before an event with this start. One whose end is not known
    /// stays.
    #[inline(always)]
    pub fn leave_before(&mut self, start: u64) {
        while self.depth > 0 && self.levels[self.depth - 1].end <= start {
            self.depth -= 1;
        }
    }

    /// Leaves a call that has ended.
    pub fn leave(&mut self, id: u64) {
        if let Some(at) = self.levels[..self.depth].iter().rposition(|level| level.call.id == id) {
            self.levels.copy_within(at + 1..self.depth, at);
            self.depth -= 1;
        }
    }

    /// The open calls with this site and this subject.
    pub fn around(&self, site: u32, kind: u16, key: u64) -> Around {
        let mut around = Around::default();
        for Level { call, .. } in self.levels[..self.depth].iter().rev() {
            let is_site = call.site == site;
            let is_subject = call.kind == kind && call.key == key;
            around.site |= is_site;
            around.subject |= is_subject;
            around.both |= is_site && is_subject;
        }
        around
    }

    /// Enters a call. One that nothing is inside need not be entered.
    #[inline(always)]
    pub fn enter(&mut self, call: OpenCall, end: u64) {
        let most = self.levels[..self.depth].last().map_or(u64::MAX, |top| top.end);
        if let Some(level) = self.levels.get_mut(self.depth) {
            // An inner call ends with the outer one at the latest, even if clocks of processors
            // differ.
            *level = Level { end: end.min(most), call };
            self.depth += 1;
            self.is_full = false;
        } else {
            self.is_full = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: u64, site: u32, key: u64) -> OpenCall {
        OpenCall { id, key, site, kind: 1, is_end_marked: true }
    }

    #[test]
    fn an_open_call_is_read_as_it_was_written() {
        for is_end_marked in [true, false] {
            let open =
                OpenCall { id: u64::MAX, key: 7, site: 0xF_FFEF, kind: u16::MAX, is_end_marked };
            assert_eq!(OpenCall::read(open.words()), Some(open));
        }
        for (sites, subjects) in [(true, false), (false, true), (true, true)] {
            let unnamed = Unnamed { sites, subjects };
            assert_eq!(
                (OpenCall::read(unnamed.words()), Unnamed::read(unnamed.words()[2])),
                (None, unnamed)
            );
        }
    }

    #[test]
    fn calls_are_around_until_they_end() {
        let mut nesting = Nesting::new();
        nesting.enter(call(128, 1, 5), 100);
        nesting.enter(call(129, 2, 5), 50);
        nesting.leave_before(20);
        assert_eq!(nesting.around(1, 1, 6), Around { site: true, subject: false, both: false });
        assert_eq!(nesting.around(1, 1, 5), Around { site: true, subject: true, both: true });
        assert_eq!(nesting.around(3, 1, 5), Around { site: false, subject: true, both: false });
        nesting.leave_before(50);
        assert!(nesting.around(1, 1, 9).site && !nesting.around(2, 1, 9).site);
        nesting.leave_before(100);
        assert!(nesting.is_empty());
    }

    #[test]
    fn a_call_of_an_earlier_block_is_open_until_its_end() {
        let mut nesting = Nesting::new();
        for (id, site) in [(130, 1), (200, 2), (300, 3)] {
            nesting.add(call(id, site, 1).words());
        }
        let mut check = |ended, open: [bool; 3]| {
            nesting.leave(ended);
            nesting.leave_before(1_000);
            assert_eq!(
                [1, 2, 3].map(|site| nesting.around(site, 0, 0).site),
                open,
                "after {ended}"
            );
        };
        check(7, [true; 3]);
        check(200, [true, false, true]);
        check(300, [true, false, false]);
        check(130, [false; 3]);
    }

    #[test]
    fn an_inner_call_ends_with_the_outer_one_at_the_latest() {
        let mut nesting = Nesting::new();
        nesting.enter(call(128, 1, 5), 100);
        nesting.enter(call(129, 2, 5), 500);
        nesting.leave_before(99);
        assert_eq!([1, 2].map(|site| nesting.around(site, 0, 0).site), [true, true]);
        nesting.leave_before(100);
        assert!(nesting.is_empty());
    }

    #[test]
    fn a_cleared_nesting_is_as_a_new_one() {
        let mut nesting = Nesting::new();
        nesting.add(call(130, 1, 1).words());
        nesting.add(Unnamed { sites: true, subjects: true }.words());
        assert!(!nesting.is_empty());
        nesting.clear();
        assert!(nesting.is_empty());
        nesting.enter(call(131, 2, 2), 9);
        assert_eq!(
            (nesting.unnamed(), nesting.around(1, 1, 1)),
            (Unnamed::default(), Around::default())
        );
    }

    #[test]
    fn a_full_nesting_takes_no_more() {
        let mut nesting = Nesting::new();
        for id in 1..1000 {
            nesting.enter(call(id, id as u32, 1), u64::MAX);
        }
        assert_eq!(
            (nesting.depth, nesting.unnamed()),
            (DEPTH_MAX, Unnamed { sites: true, subjects: true })
        );
        nesting.leave(3);
        assert_eq!((nesting.depth, nesting.unnamed()), (DEPTH_MAX - 1, Unnamed::default()));
    }

    #[test]
    fn a_mark_names_the_open_calls_without_a_mark() {
        for (sites, subjects) in [(false, false), (true, false), (false, true), (true, true)] {
            let unnamed = Unnamed { sites, subjects };
            assert_eq!(
                (OpenCall::read(unnamed.words()), Unnamed::read(unnamed.words()[2])),
                (None, unnamed)
            );
            assert_eq!(unnamed.any(), sites || subjects);
        }
    }
}
