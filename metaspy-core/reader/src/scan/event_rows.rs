//! Numbers of the subjects of resolved events, and of their pairs of site and subject.

use crate::ring::row_table::{Key, Table};
use crate::scan::resolved::ResolvedEvent;
use metaspy_format::row::OTHERS;
use metaspy_format::{high, join, low};
use metaspy_probe::{KindId, SiteId, Subject};

/// Numbers of pairs and of subjects, in the order of their first events.
pub(super) struct Rows {
    pairs: Table,
    subjects: Table,
    /// The last subject with its row: the next event is often on the same one.
    last: (Subject, Option<u32>),
}

impl Rows {
    pub fn new() -> Self {
        Rows { pairs: Table::new(), subjects: Table::new(), last: (Subject::NONE, None) }
    }

    /// Gives an event the numbers of its subject and of its pair.
    pub fn number(&mut self, event: &mut ResolvedEvent) {
        let subject = event.event.subject.unwrap_or(Subject::NONE);
        let site = event.event.site.0 + 1;
        event.row = row(&mut self.pairs, subject.key, join(site, subject.kind.0.into()));
        if event.event.subject.is_some() {
            if self.last.0 != subject {
                self.last =
                    (subject, row(&mut self.subjects, subject.key, join(0, subject.kind.0.into())));
            }
            event.subject_row = self.last.1;
        }
    }

    /// Returns the pairs by their numbers.
    pub fn into_pairs(self) -> Pairs {
        Pairs(self.pairs.into_keys())
    }
}

/// Pairs of site and subject by the numbers of their rows. There may be a million of them.
#[derive(Clone, Debug, Default)]
pub struct Pairs(Vec<Key>);

impl Pairs {
    /// Returns the pair of a row.
    pub fn get(&self, row: u32) -> Option<(SiteId, Option<Subject>)> {
        self.0.get(row as usize).map(pair)
    }

    /// Iterates over all pairs in the order of their rows.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, Option<Subject>)> {
        self.0.iter().map(pair)
    }
}

fn pair(key: &Key) -> (SiteId, Option<Subject>) {
    let subject = Subject::new(KindId(high(key.who) as u16), key.key);
    (SiteId(low(key.who).saturating_sub(1)), Some(subject).filter(|subject| !subject.is_none()))
}

fn row(table: &mut Table, key: u64, who: u64) -> Option<u32> {
    let others = Key { key: 0, who: join(0, OTHERS.into()) };
    let row = table.row(Key { key, who }, || others);
    (table.keys().get(row) != Some(&others)).then_some(row as u32)
}
