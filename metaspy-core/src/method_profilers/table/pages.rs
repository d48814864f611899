//! Pages of the recording's area for tables. When the area is full, those of ended profilers are
//! used again.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::format::profile::page::{self, Content};
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::protocol::claim;
use crate::recorder::{self, Log};

/// The tables that ended last keep their pages: a hook may have read the address of a word, and not
/// written it yet.
const KEPT: usize = 8;
/// This part of the area is kept free by a new table, if tables have ended.
const FREE_SHARE: usize = 4;
/// The serial number of the log whose pages were freed last. Pages are freed by one thread at a
/// time.
static FREED_IN: Mutex<u64> = Mutex::new(0);

/// Takes a page for a run of words that begins with the word `first`; all of them are 0. `None` if
/// the area is full.
pub(super) fn take(
    log: &'static Log,
    content: Content,
    first: u64,
    words: usize,
) -> Option<&'static [AtomicU64]> {
    let area = log.profiles.area;
    let length = |words: u64| words.saturating_add(page::HEADER_WORDS as u64).saturating_mul(8);
    let new = claim(log.word(sb::PROFILES_USED), words as u64, length, |at: u64| {
        let end = usize::try_from(at.saturating_add(length(words as u64))).ok()?;
        log.profiles.reserve(end).then(|| &log.cells()[area.at + at as usize / 8 + page::WORDS])
    });
    let at = new.map(|at| area.at + at as usize / 8).or_else(|| used_again(log, words))?;
    let page = &log.cells()[at..];
    page[page::FIRST].store(first, Relaxed);
    // A reader that sees the content of the page sees its first word as well.
    page[page::CONTENT].store(content.pack(), Release);
    Some(&page[page::HEADER_WORDS..page::HEADER_WORDS + words])
}

/// Returns the place in the log of a free page with room for so many words, all of them 0. It never
/// waits and never allocates, because a hook may be taking the page.
#[cold]
fn used_again(log: &'static Log, words: usize) -> Option<usize> {
    places(log).find(|&at| {
        let page = &log.cells()[at..];
        page[page::WORDS].load(Relaxed) as usize >= words
            && page[page::STATE].compare_exchange(page::FREE, page::USED, AcqRel, Relaxed).is_ok()
    })
}

/// The table ended: nothing writes its pages any more.
pub(super) fn give_up(table: u32) {
    if let Some(log) = recorder::current() {
        let own = places(log)
            .filter(|&at| content(log, at).is_some_and(|content| content.table == table));
        own.for_each(|at| log.cells()[at + page::STATE].store(page::ENDED, Release));
    }
}

/// Frees pages of the tables that ended first, if the area is nearly full.
pub(super) fn make_room(log: &'static Log) {
    let mut freed_in = lock(&FREED_IN);
    let area = log.layout.profiles.len;
    let words = |at: &usize| log.cells()[at + page::WORDS].load(Relaxed) as usize;
    let state = |at: usize| log.cells()[at + page::STATE].load(Acquire);
    let unused = area.saturating_sub(log.word(sb::PROFILES_USED).load(Acquire) as usize / 8);
    let mut free: usize =
        places(log).filter(|&at| state(at) == page::FREE).map(|at| words(&at)).sum();
    if unused + free >= area / FREE_SHARE {
        return;
    }
    let ended = places(log).filter(|&at| state(at) == page::ENDED);
    let ended: BTreeSet<(u32, usize)> =
        ended.filter_map(|at| Some((content(log, at)?.table, at))).collect();
    let tables: BTreeSet<u32> = ended.iter().map(|(table, _)| *table).collect();
    for table in tables.iter().take(tables.len().saturating_sub(KEPT)) {
        if unused + free >= area / FREE_SHARE {
            return;
        }
        if std::mem::replace(&mut *freed_in, log.serial) != log.serial {
            log.note(
                "There is no room for the tables of all method profilers: those of ended ones give theirs to later ones, \
                 oldest first. Set METASPY_BUDGET to a larger size.",
            );
        }
        for (_, at) in ended.range((*table, 0)..=(*table, usize::MAX)) {
            let page = &log.cells()[*at..];
            // Readers leave out a page without a content.
            page[page::CONTENT].store(0, Release);
            page[page::HEADER_WORDS..][..words(at)].iter().for_each(|word| word.store(0, Release));
            page[page::STATE].store(page::FREE, Release);
            free += words(at);
        }
    }
}

/// Calls `each` with the content, the number of the first word and the words of every page in use.
pub(super) fn each(log: &'static Log, mut each: impl FnMut(Content, u64, &'static [AtomicU64])) {
    for at in places(log) {
        let page = &log.cells()[at..];
        if let Some(content) = content(log, at) {
            let words = page[page::WORDS].load(Relaxed) as usize;
            each(content, page[page::FIRST].load(Relaxed), &page[page::HEADER_WORDS..][..words]);
        }
    }
}

/// Returns the content of a page; `None` if the page is free, or not written yet.
fn content(log: &Log, at: usize) -> Option<Content> {
    Content::unpack(log.cells()[at + page::CONTENT].load(Acquire))
}

/// The places of all pages that were taken, in the log.
fn places(log: &'static Log) -> impl Iterator<Item = usize> {
    let area = log.layout.profiles;
    let used = log.word(sb::PROFILES_USED).load(Acquire) as usize / 8;
    let end = area.at + used.min(area.len);
    let mut at = area.at;
    std::iter::from_fn(move || {
        let place = (at + page::HEADER_WORDS < end).then_some(at)?;
        let words = log.cells()[at + page::WORDS].load(Relaxed) as usize;
        at += page::HEADER_WORDS + words;
        (words > 0 && at <= end).then_some(place)
    })
}
