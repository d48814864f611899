//! Back end for programs that contain metaspy, where the kernel does not permit perf events.
//!
//! Each thread has a timer, whose signal copies registers and the top of the stack into a ring.
//! This process reads the ring, and unwinds the stacks.

mod handler;
mod ring;
pub mod threads;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::SampleError;
use crate::linux::back_end::BackEnd;
use crate::linux::collect::process::{mapping, mappings};
use crate::linux::perf::REGISTERS;
use crate::linux::perf::record::{Map, RawSample, Record, What};
use crate::options::{Clock, Options, Stacks};
use handler::now_ns;
use ring::{Head, MAPPINGS, NAME, Ring, SAMPLE, Shape, Word};
use threads::Timers;

/// Number of slots in a ring.
const SLOTS: usize = 1024;
/// Minimum bytes of a slot. Names and mappings use slots, too.
const SLOT_BYTES: usize = 1024;
/// Time between two looks at the mappings of a process.
const LOOK: Duration = Duration::from_millis(100);

/// Unused rings. A ring is never unmapped, because a handler may still write to it.
static IDLE: Mutex<Vec<(Shape, &'static Ring)>> = Mutex::new(Vec::new());

/// Back end that reads a ring.
pub struct Timer {
    options: Options,
    shape: Shape,
    ring: &'static Ring,
    /// Timers of this process, if it samples itself.
    own: Option<Timers>,
    is_own: bool,
    lost: u64,
    /// Known mappings of each process.
    mapped: HashMap<u32, HashSet<(u64, u64)>>,
    looked: Instant,
}

impl Timer {
    /// Creates a ring for programs that are started with [`Timer::path`] in their environment.
    pub fn new(options: &Options) -> Result<Timer, SampleError> {
        let stack_bytes =
            if options.stacks == Stacks::None { 0 } else { options.stack_bytes as usize };
        let shape = Shape {
            slots: SLOTS,
            stack_bytes: stack_bytes.max(SLOT_BYTES),
            period_ns: options.period_ns(),
            is_wall: options.clock == Clock::Wall,
        };
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let ring = match idle.iter().position(|(of, _)| *of == shape) {
            Some(at) => idle.swap_remove(at).1,
            None => Box::leak(Box::new(Ring::new(shape).map_err(SampleError::Ring)?)),
        };
        [Word::IsStopped, Word::Attached, Word::Untimed]
            .into_iter()
            .for_each(|word| ring.set(word, 0));
        // A late signal may have left a sample in the ring.
        ring.drain(true, |_, _| ());
        let lost = ring.get(Word::Lost);
        let options = options.clone();
        Ok(Timer {
            options,
            shape,
            ring,
            own: None,
            is_own: false,
            lost,
            mapped: HashMap::new(),
            looked: Instant::now(),
        })
    }

    /// Samples this process itself.
    pub fn of_this_process(options: &Options) -> Result<Timer, SampleError> {
        let mut timer = Timer::new(options)?;
        timer.own = Some(Timers::start(timer.ring).map_err(SampleError::System)?);
        timer.is_own = true;
        Ok(timer)
    }

    /// Returns the path at which programs open the ring.
    pub fn path(&self) -> String {
        self.ring.path()
    }

    fn record(&self, head: Head, bytes: &[u8], into: &mut Vec<Record>) {
        let text = || String::from_utf8_lossy(bytes).into_owned();
        let Head { pid, tid, time_ns, .. } = head;
        let mut push = |what| into.push(Record { time_ns, what });
        match head.kind {
            SAMPLE => push(What::Sample(self.sample(head, bytes))),
            NAME => push(What::Name { pid, tid, name: text(), is_exec: false }),
            MAPPINGS => {
                let text = text();
                let (name, maps) = text.split_once('\n').unwrap_or_default();
                // Only the first part has the name of the process.
                if !name.is_empty() {
                    push(What::Name { pid, tid: pid, name: name.to_owned(), is_exec: true });
                }
                maps.lines()
                    .filter_map(|line| mapping(pid, line))
                    .for_each(|map| push(What::Map(map)));
            }
            _ => {}
        }
    }

    fn sample(&self, head: Head, stack: &[u8]) -> RawSample {
        let [ip, sp, fp] =
            [REGISTERS.len() - 1, REGISTERS.len() - 2, 0].map(|at| head.registers[at]);
        let is_cut = stack.len() >= self.shape.stack_bytes;
        let chain = match self.options.stacks {
            Stacks::FramePointers => chain(ip, sp, fp, stack),
            _ => Vec::new(),
        };
        let registers = (self.options.stacks == Stacks::Dwarf).then_some(head.registers);
        let pid = head.pid;
        let tid = head.tid;
        let cpu_ns = head.cpu_ns;
        let wall_ns = head.wall_ns;
        RawSample {
            pid,
            tid,
            ip,
            cpu_ns,
            wall_ns,
            kernel: Vec::new(),
            chain,
            registers,
            stack: stack.to_vec(),
            is_cut,
        }
    }

    /// Reports new mappings of a process: loaded libraries, generated code, recordings.
    fn look(&mut self, into: &mut Vec<Record>) {
        self.looked = Instant::now();
        let time_ns = now_ns(libc::CLOCK_MONOTONIC);
        for (&pid, mapped) in &mut self.mapped {
            let is_new = |map: &Map| mapped.insert((map.start, map.length));
            let new = mappings(pid)
                .into_iter()
                .filter(|map| map.is_code || map.path.extension().is_some_and(|of| of == "spy"))
                .filter(is_new);
            into.extend(new.map(|map| Record { time_ns, what: What::Map(map) }));
        }
    }
}

impl BackEnd for Timer {
    fn name(&self) -> &'static str {
        match self.options.clock {
            Clock::Processor => "timer signals on the processor clock",
            Clock::Wall => "timer signals on the wall clock",
        }
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn with_kernel(&self) -> bool {
        false
    }

    fn processor_ns(&self) -> Option<u64> {
        None
    }

    fn samples_that_fit(&self) -> u64 {
        SLOTS as u64
    }

    fn attached(&self) -> u64 {
        self.ring.get(Word::Attached)
    }

    fn untimed(&self) -> u64 {
        self.ring.get(Word::Untimed)
    }

    fn disable(&mut self) {
        self.ring.set(Word::IsStopped, 1);
        self.own = None;
    }

    fn drain(&mut self, into: &mut Vec<Record>) {
        let first = into.len();
        let is_stopped = self.ring.get(Word::IsStopped) != 0;
        self.ring.drain(is_stopped, |head, bytes| self.record(head, bytes, into));
        for record in &into[first..] {
            if let What::Sample(sample) = &record.what {
                self.mapped.entry(sample.pid).or_default();
            }
        }
        let lost = self.ring.get(Word::Lost);
        if lost > self.lost {
            let time_ns = now_ns(libc::CLOCK_MONOTONIC);
            into.push(Record { time_ns, what: What::Lost(lost - self.lost) });
            self.lost = lost;
        }
        if is_stopped || self.looked.elapsed() >= LOOK {
            self.look(into);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.disable();
        // Started programs may still write to their ring.
        if self.is_own {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push((self.shape, self.ring));
        }
    }
}

/// Follows the chain of frame pointers in a copy of a stack. Each points to the next, below the
/// return address.
fn chain(ip: u64, sp: u64, mut fp: u64, stack: &[u8]) -> Vec<u64> {
    let word = |at: u64| {
        let at = usize::try_from(at.checked_sub(sp)?).ok()?;
        Some(u64::from_ne_bytes(stack.get(at..at.checked_add(8)?)?.try_into().ok()?))
    };
    let mut chain = vec![ip];
    // The chain ends, because each frame must be above the last frame.
    while let Some((next, caller)) = word(fp).zip(word(fp.wrapping_add(8))) {
        if caller == 0 {
            break;
        }
        chain.push(caller);
        if next <= fp {
            break;
        }
        fp = next;
    }
    chain
}
