//! Calls of a thread in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::FRAMES;

/// Calls of a thread that nest, in the order of their starts.
#[derive(Clone, Debug, Default)]
pub struct InTime {
    /// The longest calls of all threads, as far as they are of this one.
    pub calls: Vec<Call>,
}

/// Call of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Start in nanoseconds, since the beginning of the recording.
    pub start_ns: u64,
    /// End.
    pub end_ns: Reverse<u64>,
    /// Index of the function.
    pub function: usize,
}

/// The longest calls of all lanes.
#[derive(Debug, Default)]
pub struct Longest {
    /// The shortest one is on top; of two calls, the later one.
    heap: BinaryHeap<(Reverse<u64>, u64, usize, Call)>,
    /// Calls that were not among the longest.
    pub shorter: u64,
}

impl Longest {
    /// Adds a call. Calls of a lane nest, and the outer of two equally long ones comes first.
    pub fn add(&mut self, lane: usize, call: Call) {
        let number = self.heap.len() as u64 + self.shorter;
        let length = call.end_ns.0.saturating_sub(call.start_ns);
        self.heap.push((Reverse(length), number, lane, call));
        if self.heap.len() > FRAMES {
            self.heap.pop();
            self.shorter += 1;
        }
    }

    /// The calls of each lane, in the order of time.
    pub fn by_lane(self, lanes: usize) -> Vec<InTime> {
        let mut by_lane = vec![InTime::default(); lanes];
        let mut all = self.heap.into_vec();
        all.sort_by_key(|&(_, number, _, call)| (call, number));
        all.into_iter().for_each(|(_, _, lane, call)| by_lane[lane].calls.push(call));
        by_lane
    }
}
