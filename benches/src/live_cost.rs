//! A program that records live at 5 M events/s, for what a reader costs it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use metaspy::instrumenter::Arming;
use metaspy::{Mode, Recording, site};

use crate::arming::observe;
use crate::clock;
use crate::things::{self, Thing, batch};
use crate::workload::Workload;

/// Events per second.
const RATE: f64 = 5e6;
/// Events between two looks at the clock: a fifth of a millisecond.
const PIECE: u64 = 1_000;

/// The program's thread.
pub struct Program {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    events: AtomicU64,
}

/// What the program has done so far.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Its events.
    pub events: u64,
    cpu_ns: u64,
}

impl Done {
    /// ns of processor time an event.
    pub fn since(self, before: Done) -> f64 {
        (self.cpu_ns - before.cpu_ns) as f64 / (self.events - before.events).max(1) as f64
    }
}

impl Program {
    /// Starts it, with a recording of its own.
    pub fn start(path: &Path) -> Self {
        let recording = Recording::file(path).start().expect("the file can be made");
        let installed = observe(
            &[site!(Thing::by_dense).site(), site!(things::batch).site()],
            Arming::all(Mode::Full),
        );
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut workload = Workload::new(1_000, 1, Thing::new);
            let began = Instant::now();
            while !own.stop.load(Relaxed) {
                workload.run(PIECE, |run| batch(run), Thing::by_dense);
                own.events.store(workload.done(), Relaxed);
                let due = Duration::from_secs_f64(workload.done() as f64 / RATE);
                std::thread::sleep(due.saturating_sub(began.elapsed()));
            }
            drop(installed);
            recording.close();
        });
        Program { shared, thread }
    }

    /// What it has done so far. The processor time includes all threads of this process, because
    /// one of them collects.
    pub fn read(&self) -> Done {
        Done {
            events: self.shared.events.load(Relaxed),
            cpu_ns: clock::process_time().as_nanos() as u64,
        }
    }

    /// Ends it.
    pub fn stop(self) {
        self.shared.stop.store(true, Relaxed);
        self.thread.join().expect("the program does not fail");
    }
}
