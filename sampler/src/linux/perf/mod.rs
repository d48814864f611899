//! Back end of perf events, with an event for each processor and thread. The records come through a
//! ring for each processor.
//!
//! The kernel takes samples by perf events on the software clock, per processor and inherited by
//! new threads. Timer signals are the fallback. With perf events the program contains nothing of
//! ours, no thread is missed, and a thousand threads need two rings on two processors. Process
//! timers run at no more than the kernel's own 250 Hz.

mod attributes;
pub mod record;
mod ring;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use perf_event_open_sys as sys;

use crate::error::SampleError;
use crate::linux::back_end::BackEnd;
use crate::options::{Options, Stacks};
use attributes::attributes;
use record::Record;
use ring::Ring;

pub use attributes::Begin;
pub(crate) use attributes::REGISTERS;

/// Maximum bytes of a ring, if the system has no limit.
const RING_BYTES: usize = 16 << 20;
/// Maximum bytes of all rings.
const RINGS_BYTES: usize = 256 << 20;
/// Maximum bytes of copied stack for a small ring, which users other than root get.
const SMALL_STACK_BYTES: u32 = 8 << 10;
/// Size below which a ring is small, in bytes.
const SMALL_RING: usize = 2 << 20;

/// Open events, with their rings.
pub struct Perf {
    /// Options in force. A small ring only has room for small copies of stacks.
    options: Options,
    /// False if the system forbids this user to sample the kernel.
    with_kernel: bool,
    processors: Vec<Processor>,
}

struct Processor {
    number: i32,
    ring: Ring,
    /// Events of the processor, of which the first has the ring.
    events: Vec<File>,
}

impl Perf {
    /// Opens an event for the calling thread, on each processor. Threads and processes that it
    /// starts inherit the events.
    pub(crate) fn open_for_children(options: &Options) -> Result<Perf, SampleError> {
        Perf::open(options, 0, Begin::AtExec)
    }

    /// Opens an event for a thread, on each processor.
    pub fn open(options: &Options, thread: u32, begin: Begin) -> Result<Perf, SampleError> {
        let perf = match Perf::open_with(options, thread, begin, true) {
            // Few users may sample the kernel.
            Err(SampleError::NotPermitted(_)) => Perf::open_with(options, thread, begin, false)?,
            other => other?,
        };
        // A small ring would be full after a few large copies.
        if !perf.is_small()
            || options.stacks != Stacks::Dwarf
            || options.stack_bytes <= SMALL_STACK_BYTES
        {
            return Ok(perf);
        }
        let options = Options { stack_bytes: SMALL_STACK_BYTES, ..options.clone() };
        let with_kernel = perf.with_kernel;
        drop(perf);
        Perf::open_with(&options, thread, begin, with_kernel)
    }

    fn open_with(
        options: &Options,
        thread: u32,
        begin: Begin,
        with_kernel: bool,
    ) -> Result<Perf, SampleError> {
        let mut perf = Perf { options: options.clone(), with_kernel, processors: Vec::new() };
        let processors = processors()?;
        let bytes = RING_BYTES.min(RINGS_BYTES / processors.len().max(1));
        for number in processors {
            let event = perf.event(thread, number, begin)?;
            let ring = Ring::map(&event, bytes).map_err(SampleError::Ring)?;
            perf.processors.push(Processor { number, ring, events: vec![event] });
        }
        if perf.processors.is_empty() { Err(SampleError::NoProcessor) } else { Ok(perf) }
    }

    fn is_small(&self) -> bool {
        self.processors.iter().any(|processor| processor.ring.size() < SMALL_RING)
    }

    /// Samples another thread. A thread that has ended meanwhile is not an error.
    pub fn add(&mut self, thread: u32) -> Result<(), SampleError> {
        for at in 0..self.processors.len() {
            let event = match self.event(thread, self.processors[at].number, Begin::Now) {
                Err(SampleError::Gone) => return Ok(()),
                other => other?,
            };
            let processor = &mut self.processors[at];
            // SAFETY: both descriptors are open; the call changes the destination of the kernel's
            // records, and no memory of this process.
            let done = unsafe {
                sys::ioctls::SET_OUTPUT(event.as_raw_fd(), processor.events[0].as_raw_fd())
            };
            if done != 0 {
                return Err(SampleError::Ring(io::Error::last_os_error()));
            }
            processor.events.push(event);
        }
        Ok(())
    }

    fn event(&self, thread: u32, processor: i32, begin: Begin) -> Result<File, SampleError> {
        let mut attr = attributes(&self.options, begin, self.with_kernel);
        let flags = std::ffi::c_ulong::from(sys::bindings::PERF_FLAG_FD_CLOEXEC);
        // SAFETY: the attributes are initialised, with their size, and live during the call.
        let descriptor =
            unsafe { sys::perf_event_open(&mut attr, thread as i32, processor, -1, flags) };
        if descriptor < 0 {
            return Err(SampleError::of_open(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new, and nothing else closes it.
        Ok(unsafe { File::from_raw_fd(descriptor) })
    }
}

impl BackEnd for Perf {
    fn name(&self) -> &'static str {
        crate::run::PERF
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn with_kernel(&self) -> bool {
        self.with_kernel
    }

    fn processor_ns(&self) -> Option<u64> {
        let events = self.processors.iter().flat_map(|processor| &processor.events);
        let count = |mut event: &File| {
            let mut bytes = [0; 8];
            event.read_exact(&mut bytes).map_or(0, |()| u64::from_ne_bytes(bytes))
        };
        Some(events.map(count).sum())
    }

    fn samples_that_fit(&self) -> u64 {
        let smallest =
            self.processors.iter().map(|processor| processor.ring.size()).min().unwrap_or(0) as u64;
        let stack = if self.options.stacks == Stacks::Dwarf {
            u64::from(self.options.stack_bytes)
        } else {
            0
        };
        smallest / (stack + 512)
    }

    fn attached(&self) -> u64 {
        1
    }

    fn untimed(&self) -> u64 {
        0
    }

    /// Reads the rings one after another.
    fn drain(&mut self, into: &mut Vec<Record>) {
        let stacks = self.options.stacks;
        let bytes = self.options.stack_bytes;
        for processor in &mut self.processors {
            processor.ring.drain(|raw| into.extend(record::parse(raw, stacks, bytes)));
        }
    }

    fn disable(&mut self) {
        for event in self.processors.iter().flat_map(|processor| &processor.events) {
            // SAFETY: the descriptor is open; the call changes no memory of this process.
            unsafe { sys::ioctls::DISABLE(event.as_raw_fd(), 0) };
        }
    }
}

/// Returns the numbers of the online processors.
fn processors() -> Result<Vec<i32>, SampleError> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")
        .map_err(|_| SampleError::NoProcessor)?;
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<i32>().ok()?..=last.parse::<i32>().ok()?)
    };
    Ok(text.trim().split(',').filter_map(range).flatten().collect())
}
