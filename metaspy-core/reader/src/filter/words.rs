//! Tests on the words of a whole block, before it is copied.

use metaspy_format::{SLOT_WORDS, Words, slot};

use crate::filter::matcher::{Matcher, Test};
use crate::ring::blocks::{BLOCK_WORDS, Slot};

impl Matcher {
    /// Returns false if no event in a block with these words can match. Each condition on a single
    /// word of a slot is tested for all slots at once: the condition is chosen once for a block,
    /// and a block without a match is not copied.
    pub(crate) fn wants_words(&self, words: Words<'_>) -> bool {
        let is_whole = words.len() == BLOCK_WORDS;
        !is_whole || self.tests.iter().all(|(negated, test)| *negated || test.may_hold(words))
    }
}

impl Test {
    /// Returns false if no event in a whole block with these words can match.
    fn may_hold(&self, words: Words<'_>) -> bool {
        let slot = |end| Slot { slot: 0, start: 0, site: 0, cause: 0, key: 0, end };
        match self {
            Test::Took(compare, ticks) => {
                let (least, most) = compare.range(*ticks);
                any(words, 3, |end| {
                    slot(end).span().is_some_and(|span| least <= span && span <= most)
                })
            }
            Test::Outcome(bits) => any(words, 3, |end| {
                let outcome = 1 << slot(end).outcome_bits();
                bits & outcome != 0
            }),
            Test::Key(key) | Test::KindKey(_, key) => any(words, 2, |word| word == *key),
            Test::Site(sites) => any(words, 0, |commit| sites.contains(slot::site(commit))),
            _ => true,
        }
    }
}

/// Returns true if a word of some slot passes. Slots without an event may pass by chance.
#[inline(always)]
fn any(words: Words<'_>, word: usize, passes: impl Fn(u64) -> bool) -> bool {
    // The loop has no branch: a match is rare, and the loop then runs at the speed of memory.
    let passing =
        (SLOT_WORDS..BLOCK_WORDS).step_by(SLOT_WORDS).filter(|at| passes(words.get(at + word)));
    passing.count() != 0
}
