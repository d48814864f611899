//! Which installations of a method profiler see the calls of others.
//!
//! Readers add up the counts of all installations of a profiler, and a call that two of them saw
//! must count once.

use std::sync::Arc;

use crate::format::profile::overlaps;
use crate::method_profilers::block::{self, Block};

/// The installations that have not ended, the oldest first.
pub(super) struct Spans(Vec<Span>);

struct Span {
    name: &'static str,
    installation: u32,
    /// `None` if it sees the calls of the whole process.
    block: Option<Arc<Block>>,
    /// The installations that see its calls, too, the innermost first.
    around: Vec<u32>,
    /// A bit for each of these that does not see all of its calls: the lowest for the innermost
    /// one.
    overlaps: u64,
}

/// The innermost installation that sees the calls of another one, too.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Within {
    pub installation: Option<u32>,
    /// A bit for each installation around that does not see all of the calls: the lowest for the
    /// innermost one.
    pub overlaps: u64,
}

impl Spans {
    pub const NONE: Spans = Spans(Vec::new());

    /// A profiler with this name is being installed by this thread.
    pub fn begin(&mut self, name: &'static str, installation: u32, block: Option<&Arc<Block>>) {
        let of_same = |span: &&Span| span.name == name && span.installation != installation;
        let is_block =
            |span: &&Span| block.is_some() && of_same(span) && span.is_around_this_thread();
        let is_whole = |span: &&Span| span.block.is_none() && of_same(span);
        let innermost = self.0.iter().rfind(is_block).or_else(|| self.0.iter().rfind(is_whole));
        let around: Vec<u32> = innermost.into_iter().flat_map(Span::with_around).collect();
        let overlaps = innermost.map_or(0, |span| overlaps::inside(span.overlaps));
        if block.is_none() {
            // Earlier calls of these blocks were not seen by this installation.
            let blocks = self.0.iter_mut().filter(|span| span.name == name && span.block.is_some());
            blocks.for_each(|span| span.come_late(installation, &around));
        }
        self.0.push(Span { name, installation, block: block.cloned(), around, overlaps });
    }

    /// An installation ends. Those within it that have not ended may see further calls.
    pub fn end(&mut self, installation: u32) {
        self.0.retain(|span| span.installation != installation);
        for span in &mut self.0 {
            if let Some(level) = span.around.iter().position(|around| *around == installation) {
                span.overlaps |= overlaps::at(level);
            }
        }
    }

    /// The installation that sees the calls of this one, too.
    pub fn of(&self, installation: u32) -> Within {
        let span = self.0.iter().find(|span| span.installation == installation);
        span.map_or(Within::default(), |span| Within {
            installation: span.around.first().copied(),
            overlaps: span.overlaps,
        })
    }
}

impl Span {
    /// True if it is installed around a block that this thread is in.
    fn is_around_this_thread(&self) -> bool {
        self.block.as_ref().is_some_and(|block| block.has(block::current_event()) == Some(true))
    }

    /// It and the installations around it.
    fn with_around(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.installation).chain(self.around.iter().copied())
    }

    /// An installation of the whole process begins after this block, within these.
    fn come_late(&mut self, installation: u32, around: &[u32]) {
        if let Some(level) =
            self.around.len().checked_sub(around.len()).filter(|at| self.around[*at..] == *around)
        {
            self.around.insert(level, installation);
            self.overlaps = overlaps::with_another(self.overlaps, level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_installation_is_within_the_earlier_one_and_overlaps_it_if_it_ends_later() {
        let mut spans = Spans::NONE;
        spans.begin("a", 1, None);
        spans.begin("b", 2, None);
        spans.begin("a", 3, None);
        spans.begin("a", 4, None);
        let of = |spans: &Spans, installation| {
            let Within { installation, overlaps } = spans.of(installation);
            (installation, overlaps)
        };
        assert_eq!(
            [1, 2, 3, 4].map(|at| of(&spans, at)),
            [(None, 0), (None, 0), (Some(1), 0), (Some(3), 0)]
        );
        spans.end(1);
        assert_eq!([3, 4].map(|at| of(&spans, at)), [(Some(1), 0b1), (Some(3), 0b10)]);
        spans.begin("a", 5, None);
        assert_eq!(of(&spans, 5), (Some(4), 0b100), "it began after the end of the first one");
    }

    #[test]
    fn an_installation_that_begins_after_a_block_sees_only_a_part_of_it() {
        let mut spans = Spans::NONE;
        spans.begin("a", 1, None);
        spans.begin("a", 2, Some(&Arc::new(Block::of_this_thread())));
        assert!(spans.of(2) == Within { installation: Some(1), overlaps: 0 });
        spans.begin("a", 3, None);
        assert!(spans.of(2) == Within { installation: Some(3), overlaps: 0b1 });
        assert!(spans.of(3) == Within { installation: Some(1), overlaps: 0 });
    }
}
