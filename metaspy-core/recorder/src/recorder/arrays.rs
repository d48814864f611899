//! The arrays of a thread: pages of short rows for the subjects that it counts most, found without
//! a search.
//!
//! Keys that are small numbers are indices. Other keys are found in a bucket of four. A subject
//! without a place in either keeps its row in the thread's page of rows; its counts there are
//! added.
//!
//! A row takes 16 bytes. Arrays are used instead of one hash table with rows of 64 bytes, because a
//! fifth of its keys are not in the first place searched, and the processor cannot predict which.
//! Arrays are pages of the recording, so they survive a kill, and the next thread continues in
//! those of an ended one.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use crate::format::row::array::{self, BUCKET_WORDS, KEYS, Shape};
use crate::format::row::{self, FREED, ROW_WORDS, Who, page as head};
use crate::format::superblock as sb;
use crate::platform::lock::try_lock_soon;
use crate::platform::own_pages;
use crate::recorder::counter::Counter;
use crate::recorder::log::Log;

/// Rows of the smallest array by index.
const FEWEST_DENSE: usize = 16;
/// Up to this length, an array by index is made whatever keys there are.
const ANY_DENSE: usize = 1 << 10;
/// Rows of the largest one.
const MOST_DENSE: usize = 1 << 20;
/// Buckets of the smallest array.
const FEWEST_BUCKETS: usize = 16;
/// How much larger the next array of a subject's rows is than the one before, at most.
const GROWTH: usize = 4;
/// One row in this many must be used before an array by index grows further, judged by so many of
/// its rows.
const USED_SHARE: usize = 4;
const LOOKED_AT: usize = 64;
/// An array takes at most this part of the rest of the area.
const SHARE: usize = 4;
/// This part of the area is left to rows.
const KEPT: usize = 4;

/// A page that is an array.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    who: u64,
    /// Its place in the recording: the first word of its header.
    word: usize,
    pub shape: Shape,
    /// Of buckets: how many keys have a place.
    used: usize,
}

/// The arrays of a thread, older ones included, because a call that runs may still end in them.
/// Used by a busy lane only.
pub struct Arrays(AtomicPtr<List>);

/// Arrays of a thread at most.
const MOST: usize = 500;

struct List {
    used: usize,
    arrays: [MaybeUninit<Array>; MOST],
}

/// The owner of an array: a lane, and a site, kind and epoch.
#[derive(Clone, Copy)]
pub struct ArrayOwner<'l> {
    pub log: &'l Log,
    pub lane: u64,
    pub who: u64,
}

impl Arrays {
    pub const fn none() -> Self {
        Arrays(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The list, if there is one. Only a busy lane may call this, and nothing that it calls
    /// meanwhile calls it again.
    #[expect(clippy::mut_from_ref, reason = "a busy lane is entered once")]
    fn list(&self) -> Option<&mut List> {
        // SAFETY: it is null, or memory of this thread alone, used only while its lane is busy.
        unsafe { self.0.load(Relaxed).as_mut() }
    }

    /// The known arrays.
    #[expect(clippy::mut_from_ref, reason = "a busy lane is entered once")]
    fn known(&self) -> &mut [Array] {
        let Some(List { used, arrays }) = self.list() else { return &mut [] };
        let known = &mut arrays[..*used];
        // SAFETY: `push` wrote as many.
        unsafe { &mut *(std::ptr::from_mut(known) as *mut [Array]) }
    }

    /// Adds an array. False: there is no room.
    fn push(&self, array: Array) -> bool {
        if self.0.load(Relaxed).is_null() {
            // Not from the program's allocator, which may be observed itself.
            self.0.store(own_pages::take(Layout::new::<List>()).cast(), Relaxed);
        }
        let Some(list) = self.list().filter(|list| list.used < MOST) else { return false };
        list.arrays[list.used].write(array);
        list.used += 1;
        true
    }

    /// Forgets the arrays for which `keeps` is false.
    pub fn retain(&self, mut keeps: impl FnMut(&Array) -> bool) {
        let known = self.known();
        let mut kept = 0;
        for at in 0..known.len() {
            if keeps(&known[at]) {
                known[kept] = known[at];
                kept += 1;
            }
        }
        if let Some(list) = self.list() {
            list.used = kept;
        }
    }

    /// The thread ends.
    pub fn give_up(&self) {
        let list = self.0.swap(std::ptr::null_mut(), Relaxed);
        if !list.is_null() {
            // SAFETY: `push` took it so, and no pointer to it is left.
            unsafe { own_pages::give_back(list.cast(), Layout::new::<List>()) };
        }
    }

    /// The largest array of these rows: by index, or of buckets.
    pub fn largest(&self, who: u64, is_dense: bool) -> Option<&mut Array> {
        let own = |array: &&mut Array| array.who == who && array.is_dense() == is_dense;
        self.known().iter_mut().filter(own).max_by_key(|array| array.size())
    }

    /// Makes a larger array by index, if the key suits one.
    pub(crate) fn grow_dense(&self, owner: ArrayOwner<'_>, key: u64) -> bool {
        let known = self.largest(owner.who, true);
        let (size, is_used) =
            known.map_or((0, true), |array| (array.size(), array.is_used(owner.log)));
        let most = if is_used { ANY_DENSE.max(size * GROWTH).min(MOST_DENSE) } else { ANY_DENSE };
        let length = usize::try_from(key)
            .ok()
            .and_then(|key| key.checked_add(1)?.checked_next_power_of_two());
        let length = length.map(|length| length.max(FEWEST_DENSE));
        length.is_some_and(|length| {
            length > size && length <= most && self.grow(owner, Shape::Dense(length))
        })
    }

    /// Makes a larger array of buckets, if half of the places in the one before are taken. Some
    /// buckets are full by then.
    pub(crate) fn grow_buckets(&self, owner: ArrayOwner<'_>) -> bool {
        let known = self.largest(owner.who, false);
        let (size, used) = known.map_or((0, 0), |array| (array.size(), array.used));
        used * 2 >= size * KEYS
            && self.grow(owner, Shape::Buckets((size * GROWTH).max(FEWEST_BUCKETS)))
    }

    /// An array of an ended thread that is as large, or a new one.
    fn grow(&self, owner: ArrayOwner<'_>, shape: Shape) -> bool {
        // Those of other epochs are full of calls that nothing adds to.
        self.retain(|own| own.is_of(Who::unpack(owner.who).epoch));
        if self.known().len() == MOST {
            return false;
        }
        let inherited = owner.log.inherit_array(owner.who, shape);
        let Some(array) = inherited.or_else(|| owner.log.new_array(owner, shape)) else {
            return false;
        };
        owner.log.cells()[array.word + head::LANE].store(owner.lane, Relaxed);
        self.push(array)
    }
}

impl Array {
    /// True if it is at this place of the recording.
    pub fn is_at(&self, word: usize) -> bool {
        self.word == word
    }

    /// True if its rows count calls of this epoch.
    pub fn is_of(&self, epoch: u32) -> bool {
        Who::began_in(self.who, epoch)
    }

    fn is_dense(self) -> bool {
        matches!(self.shape, Shape::Dense(_))
    }

    fn size(self) -> usize {
        match self.shape {
            Shape::Dense(size) | Shape::Buckets(size) => size,
        }
    }

    /// The words behind its header.
    fn words(self, log: &Log) -> &[AtomicU64] {
        let words = self.shape.units().map_or(0, |units| units * ROW_WORDS);
        &log.cells()[self.word + head::HEADER_WORDS..][..words]
    }

    /// The row of a key, in an array by index.
    pub fn row(self, log: &Log, key: u64) -> Option<Counter<'_>> {
        self.words(log).get(key as usize * array::WORDS..)?.first_chunk().map(Counter::new)
    }

    /// The address of its first row, of an array by index.
    pub fn first_row(self, log: &Log) -> *mut u8 {
        self.row(log, 0).map_or(std::ptr::null_mut(), Counter::marked)
    }

    /// How many keys have a row by index.
    pub fn length(self) -> u64 {
        if self.is_dense() { self.size() as u64 } else { 0 }
    }

    /// True if a good part of its rows by index count something; some of them are looked at.
    fn is_used(self, log: &Log) -> bool {
        let looked_at = self.size().min(LOOKED_AT);
        let counts = |at: &usize| {
            self.words(log)[at * (self.size() / looked_at) * array::WORDS].load(Relaxed) != 0
        };
        (0..looked_at).filter(counts).count() * USED_SHARE >= looked_at
    }

    /// Its buckets, if it has some.
    pub(super) fn buckets(self, log: &Log) -> Buckets {
        match self.shape {
            Shape::Dense(_) => Buckets::NONE,
            Shape::Buckets(count) => Buckets::new(self.words(log), count),
        }
    }

    /// Gives a key a place in its bucket. `None`: there is none left.
    pub fn insert<'l>(&mut self, log: &'l Log, key: u64) -> Option<Counter<'l>> {
        let Shape::Buckets(count) = self.shape else { return None };
        let bits = count.trailing_zeros();
        let who = self.who;
        let at = array::bucket(key, who, bits);
        let (keys, rows) = self.words(log)[at * BUCKET_WORDS..][..BUCKET_WORDS].split_at(KEYS);
        let place =
            keys.iter().position(|word| array::bucket(word.load(Relaxed), who, bits) != at)?;
        keys[place].store(key, Release);
        self.used += 1;
        rows[place * array::WORDS..].first_chunk().map(Counter::new)
    }
}

/// The buckets of an array, as a cell holds them: their address, and in its low bits the shift that
/// makes an index. Null if there are none.
#[derive(Clone, Copy)]
pub(crate) struct Buckets(pub *mut u8);

const SHIFT: usize = ROW_WORDS * 8 - 1;

impl Buckets {
    pub const NONE: Self = Buckets(std::ptr::null_mut());

    /// At least two, at the address of a page's rows.
    fn new(words: &[AtomicU64], count: usize) -> Self {
        let first = std::ptr::from_ref(words).cast::<u8>().cast_mut();
        debug_assert!(first.addr() & SHIFT == 0 && count > 1, "{first:?}, {count} buckets");
        Buckets(first.wrapping_add(64 - count.trailing_zeros() as usize))
    }

    /// The row of a key, if it has a place. The four keys are compared without a branch, because
    /// which one it is cannot be predicted.
    #[inline(always)]
    pub fn look(self, key: u64, who: u64) -> Option<Counter<'static>> {
        if self.0.is_null() {
            return None;
        }
        let at = row::product(key, who).wrapping_shr(self.0.addr() as u32) as usize;
        let buckets =
            self.0.map_addr(|address| address & !SHIFT).cast::<[AtomicU64; BUCKET_WORDS]>();
        // SAFETY: `new` received the words of as many buckets as the shift leaves bits of an index,
        // and pages are never unmapped.
        let (keys, rows) = unsafe { &*buckets.add(at) }.split_at(KEYS);
        let place = (1..KEYS).fold(0, |place, other| {
            std::hint::select_unpredictable(keys[other].load(Relaxed) == key, other, place)
        });
        if keys[place].load(Relaxed) != key {
            return None;
        }
        rows[place * array::WORDS..].first_chunk().map(Counter::new)
    }
}

impl Log {
    /// An array of an ended thread that is at least as large, as a page is inherited.
    fn inherit_array(&self, who: u64, shape: Shape) -> Option<Array> {
        let arrays = &mut try_lock_soon(&self.lanes)?.arrays;
        let wanted = Array { who, word: 0, shape, used: 0 };
        let at = arrays.iter().position(|array| {
            array.who == who
                && array.is_dense() == wanted.is_dense()
                && array.size() >= wanted.size()
        })?;
        Some(arrays.swap_remove(at))
    }

    /// A new array, unless the area is nearly full.
    fn new_array(&self, owner: ArrayOwner<'_>, shape: Shape) -> Option<Array> {
        let units = shape.units()?;
        let area = self.layout.pages.bytes();
        let left =
            (area - area / KEPT).checked_sub(self.word(sb::PAGES_USED).load(Acquire) as usize)?;
        if units * ROW_WORDS * 8 * SHARE > left {
            return None;
        }
        let word = self.tables().new_page(units)?;
        let head = &self.cells()[word..][..head::HEADER_WORDS];
        let array = Array { who: owner.who, word, shape, used: 0 };
        let (length, buckets) = match shape {
            Shape::Dense(length) => (length, 0),
            Shape::Buckets(count) => (0, count),
        };
        head[head::LENGTH].store(length as u64, Relaxed);
        head[head::BUCKETS].store(buckets as u64, Relaxed);
        head[head::WHO].store(owner.who, Release);
        if buckets > 0 {
            let bits = buckets.trailing_zeros();
            let words = array.words(self);
            let at = array::bucket(0, owner.who, bits);
            let free = array::free_key(at, owner.who, bits);
            words[at * BUCKET_WORDS..][..KEYS].iter().for_each(|key| key.store(free, Relaxed));
        }
        Some(array)
    }

    /// Whose counter this is: the key, the row's word, and the page. `None` if it is in another
    /// log.
    pub fn owner_of(&self, counter: Counter<'_>) -> Option<(u64, u64, usize)> {
        let cells = self.cells();
        let at =
            counter.marked().addr().checked_sub(std::ptr::from_ref(cells).cast::<u8>().addr())? / 8;
        let mut page = self.layout.pages.at;
        let end = page + self.word(sb::PAGES_USED).load(Acquire) as usize / 8;
        while page < end {
            let words = cells[page + head::ROWS].load(Acquire) as usize * ROW_WORDS;
            let first = page + head::HEADER_WORDS;
            if (first..first + words).contains(&at) {
                return self.owner_in(page, at - first).map(|(key, who)| (key, who, page));
            }
            page = first + words;
        }
        None
    }

    /// As [`Log::owner_of`], of the counter at this place of a page.
    fn owner_in(&self, page: usize, at: usize) -> Option<(u64, u64)> {
        let word = |word: usize| self.cells()[page + word].load(Relaxed);
        let rows = page + head::HEADER_WORDS;
        let Some(shape) = Shape::read(word(head::LENGTH), word(head::BUCKETS)) else {
            let row = &self.cells()[rows + at / ROW_WORDS * ROW_WORDS..][..ROW_WORDS];
            let key = row[row::KEY].load(Relaxed);
            let who = row[row::WHO].load(Relaxed);
            return (who != 0 && who != FREED).then_some((key, who));
        };
        let key = match shape.key_of(at)? {
            array::Key::Is(key) => key,
            array::Key::At(at) => self.cells()[rows + at].load(Relaxed),
        };
        Some((key, word(head::WHO)))
    }
}
