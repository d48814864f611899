//! The last compiled filters of a recording.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use crate::Store;
use crate::filter::Filter;
use crate::filter::matcher::Matcher;
use crate::platform::lock::lock;

/// The last compiled filters. A screen that is drawn again does not compile them again.
#[derive(Default)]
pub struct Compiled(Mutex<Vec<(Key, Arc<Matcher>)>>);

/// The filter, the levels that match if it has no `level:` term, and the number of lanes at that time.
type Key = (Filter, RangeInclusive<u8>, u64);

/// Compiled filters in memory.
const KEPT: usize = 4;

impl Store {
    /// The filter, compiled for this recording. `levels` match if it has no `level:` term.
    pub fn compile(&self, filter: &Filter, levels: RangeInclusive<u8>) -> Arc<Matcher> {
        // The table of lanes can grow without any other change.
        let key = (filter.clone(), levels, self.header().lanes_used);
        let mut kept = lock(&self.compiled.0);
        if let Some((_, matcher)) = kept.iter().find(|(known, _)| *known == key) {
            return matcher.clone();
        }
        let matcher = Arc::new(Matcher::compile(self, filter, &key.1));
        kept.insert(0, (key, matcher.clone()));
        kept.truncate(KEPT);
        matcher
    }
}
