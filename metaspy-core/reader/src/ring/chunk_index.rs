//! Index of sorted entries from the blocks of all chunks. Only chunks that changed are read again.

use std::sync::Arc;

use crate::parallel;
use crate::ring::blocks::Ring;

/// Maximum number of runs, before they are merged.
const RUNS_MAX: usize = 16;
/// Number of chunks that are read between two reports of progress.
const CHUNKS_PER_REPORT: usize = 512;

/// Entries of chunks. Clones are cheap.
#[derive(Clone)]
pub(crate) struct ChunkIndex<T> {
    /// Stamp that each chunk had when it was indexed; 0 = it had no summary, and the next update
    /// indexes it again.
    stamps: Vec<u64>,
    /// Sorted runs of entries from chunks that do not change.
    settled: Vec<Arc<Vec<T>>>,
    /// Entries from the other chunks.
    fresh: Arc<Vec<T>>,
}

/// Entries of the chunks that a thread scanned.
struct ScannedEntries<T> {
    settled: Vec<T>,
    fresh: Vec<T>,
}

impl<T: Copy + Ord + Send> ChunkIndex<T> {
    /// Creates an index of no chunks.
    pub fn new() -> Self {
        ChunkIndex { stamps: Vec::new(), settled: Vec::new(), fresh: Arc::default() }
    }

    /// Iterates over the sorted runs of entries. An entry can be in several runs.
    pub fn runs(&self) -> impl Iterator<Item = &[T]> {
        self.settled.iter().chain([&self.fresh]).map(|run| run.as_slice())
    }

    /// Returns the size of the index in bytes.
    pub fn bytes(&self) -> usize {
        self.runs().map(size_of_val).sum::<usize>() + size_of_val(self.stamps.as_slice())
    }

    /// Reads the chunks that changed. `entries` adds the entries of a chunk. `is_kept` is false for
    /// entries of events that left the window. Calls `progress` with the number of chunks read so
    /// far and the number of chunks to read. If `progress` returns false, or if the read is
    /// interrupted, the index stays as it was and the result is false.
    pub fn read_on(
        &mut self,
        ring: Ring<'_>,
        entries: impl Fn(u64, &mut Vec<T>) + Sync,
        is_kept: impl Fn(&T) -> bool,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> bool {
        let count = ring.chunk_count() as usize;
        self.stamps.resize(count, 0);
        let stamps: Vec<u64> = (0..count as u64)
            .map(|chunk| ring.summary(chunk).map_or(0, |summary| summary.stamp))
            .collect();
        let chunks: Vec<u64> = (0..count)
            .filter(|chunk| stamps[*chunk] == 0 || stamps[*chunk] != self.stamps[*chunk])
            .map(|chunk| chunk as u64)
            .collect();
        let mut all = ScannedEntries { settled: Vec::new(), fresh: Vec::new() };
        for (done, part) in chunks.chunks(CHUNKS_PER_REPORT).enumerate() {
            if !progress((done * CHUNKS_PER_REPORT) as u64, chunks.len() as u64) {
                return false;
            }
            let nothing = || ScannedEntries { settled: Vec::new(), fresh: Vec::new() };
            let read = parallel::each(
                part,
                parallel::threads_for(part.len()),
                nothing,
                |found, &chunk| {
                    entries(
                        chunk,
                        if stamps[chunk as usize] == 0 {
                            &mut found.fresh
                        } else {
                            &mut found.settled
                        },
                    );
                },
            );
            if parallel::is_interrupted() {
                return false;
            }
            for found in read {
                all.fresh.extend(found.fresh);
                all.settled.extend(found.settled);
            }
        }
        all.fresh.sort_unstable();
        self.fresh = Arc::new(all.fresh);
        self.stamps = stamps;
        self.add_run(all.settled, is_kept);
        progress(chunks.len() as u64, chunks.len() as u64)
    }

    fn add_run(&mut self, mut run: Vec<T>, is_kept: impl Fn(&T) -> bool) {
        if !run.is_empty() {
            run.sort_unstable();
            self.settled.push(Arc::new(run));
        }
        if self.settled.len() > RUNS_MAX {
            let runs = std::mem::take(&mut self.settled);
            let mut all: Vec<T> =
                runs.iter().flat_map(|run| run.iter().copied()).filter(is_kept).collect();
            all.sort_unstable();
            all.dedup();
            self.settled = vec![Arc::new(all)];
        }
    }
}
