//! Code that was registered late. A machine with a buffered dump, such as V8, may write it to the
//! file only when it ends.

use crate::linux::collect::Collector;
use crate::samples::{CodeLocation, Stack};

impl Collector {
    /// Resolves sampled addresses whose code was in no dump at the time of the sample.
    pub(super) fn find_late(&mut self) {
        let samples = &mut self.samples;
        let is_open = |place: &CodeLocation| match *place {
            CodeLocation::Anonymous { pid, .. } => self.made.has(pid),
            _ => false,
        };
        let open: Vec<bool> = samples.addresses.iter().map(is_open).collect();
        let has_open = |stack: &Stack| stack.frames.iter().any(|&frame| open[frame as usize]);
        let open_stacks: Vec<bool> = samples.stacks.iter().map(has_open).collect();
        if !open_stacks.contains(&true) {
            return;
        }
        let mut made = std::mem::take(&mut self.made).again();
        for at in 0..samples.samples.len() {
            let (time_ns, stack) =
                (samples.samples[at].time_ns, samples.samples[at].stack as usize);
            if !open_stacks[stack] {
                continue;
            }
            let mut stack = samples.stacks[stack].clone();
            for frame in stack.frames.iter_mut().filter(|frame| open[**frame as usize]) {
                let CodeLocation::Anonymous { pid, address } = samples.addresses[*frame as usize]
                else {
                    continue;
                };
                if let Some(place) = made.place(&mut samples.made, pid, address, time_ns) {
                    *frame = *self.addresses.entry(place).or_insert_with(|| {
                        samples.addresses.push(place);
                        samples.addresses.len() as u32 - 1
                    });
                }
            }
            samples.samples[at].stack = *self.stacks.entry(stack).or_insert_with_key(|stack| {
                samples.stacks.push(stack.clone());
                samples.stacks.len() as u32 - 1
            });
        }
        // A stack without samples would be an empty row of a report.
        *samples = samples.part(&samples.samples);
    }
}
