//! Rows of tallies, with the numbers of the merged recording.

use crate::merge::remap::Input;
use crate::ring::fold::RowWords;
use crate::ring::folds::Folds;
use metaspy_format::row::{self, Again, KEY, MAX, ROW_WORDS, TIMED, TOTAL, WHO, Who};

/// Rows of an input.
#[derive(Default)]
pub(super) struct Rows {
    /// Rows of events that left the window.
    pub folded: Vec<[u64; ROW_WORDS]>,
    /// Rows of the lanes' pages.
    pub pages: Vec<[u64; ROW_WORDS]>,
    /// True if the pages could be read to their end.
    pub whole: bool,
}

impl Rows {
    pub fn of(input: &Input, folds: &Folds) -> Rows {
        let ring = input.ring();
        let mut rows = Rows::default();
        let counts_once = input.store.counts_time_once();
        let add = |rows: &mut Vec<_>, row: RowWords| {
            if !counts_once {
                rows.extend(may_count_twice(&row).map(|row| renumbered(input, row)));
            }
            rows.push(renumbered(input, row));
        };
        ring.folded_rows(folds, |row| add(&mut rows.folded, row));
        let pages = &mut rows.pages;
        rows.whole = ring.page_rows(folds, |row| add(pages, row));
        rows
    }
}

/// Returns rows for a fact that an older recording does not state: the time of these calls may
/// count twice.
fn may_count_twice(row: &RowWords) -> impl Iterator<Item = RowWords> {
    let key = row.0[KEY];
    let who = row.0[WHO];
    let total = row.0[TOTAL];
    let is_timed = row.0[TIMED] != 0;
    [Again::MaybeInSite, Again::MaybeInSubject].into_iter().filter(move |_| is_timed).map(
        move |again| {
            let mut words = [0; ROW_WORDS];
            (words[KEY], words[WHO]) = again.row(key, who);
            words[TOTAL] = total;
            RowWords(words)
        },
    )
}

fn renumbered(input: &Input, row: RowWords) -> [u64; ROW_WORDS] {
    let who = row.who();
    let again = row.again();
    let mut words = row.0;
    words[WHO] = Who {
        site: if again.is_some() { who.site } else { input.site(who.site) },
        kind: input.kind(who.kind),
        epoch: row::epoch(input.epoch.wrapping_add(who.epoch)),
        ..who
    }
    .pack();
    if matches!(again, Some(Again::InSite | Again::MaybeInSite)) {
        words[KEY] = input.site(words[KEY] as u32).into();
    }
    words[TOTAL] = input.sum(words[TOTAL]);
    words[MAX] = input.sum(words[MAX]);
    words
}
