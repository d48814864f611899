//! Pages of the recording's area for tables: taken once, never given back.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::format::profile::page::{self, Content};
use crate::format::superblock as sb;
use crate::recorder::Log;
use crate::recorder::protocol::claim;

/// Takes a page for a run of words that begins with the word `first`; all of them are 0. `None` if the area is full.
pub(super) fn take(log: &'static Log, content: Content, first: u64, words: usize) -> Option<&'static [AtomicU64]> {
    let area = log.profiles.area;
    let length = |words: u64| words.saturating_add(page::HEADER_WORDS as u64).saturating_mul(8);
    let free = |at: u64| {
        let end = usize::try_from(at.saturating_add(length(words as u64))).ok()?;
        log.profiles.reserve(end).then(|| &log.cells()[area.at + at as usize / 8 + page::WORDS])
    };
    let at = claim(log.word(sb::PROFILES_USED), words as u64, length, free)?;
    let page = &log.cells()[area.at + at as usize / 8..];
    page[page::FIRST].store(first, Relaxed);
    // A reader that sees what the page holds sees its first word as well.
    page[page::CONTENT].store(content.pack(), Release);
    Some(&page[page::HEADER_WORDS..page::HEADER_WORDS + words])
}

/// Calls `each` with the content, the number of the first word and the words of every page in use.
pub(super) fn each(log: &'static Log, mut each: impl FnMut(Content, u64, &'static [AtomicU64])) {
    let area = log.layout.profiles;
    let used = log.word(sb::PROFILES_USED).load(std::sync::atomic::Ordering::Acquire) as usize / 8;
    let cells = &log.cells()[area.at..area.at + used.min(area.len)];
    let mut rest = cells;
    while rest.len() > page::HEADER_WORDS {
        let words = rest[page::WORDS].load(Relaxed) as usize;
        let (head, behind) = rest.split_at(page::HEADER_WORDS);
        if words == 0 || words > behind.len() {
            return;
        }
        if let Some(content) = Content::unpack(head[page::CONTENT].load(std::sync::atomic::Ordering::Acquire)) {
            each(content, head[page::FIRST].load(Relaxed), &behind[..words]);
        }
        rest = &behind[words..];
    }
}
