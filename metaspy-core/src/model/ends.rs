//! Actions that run when a subject ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::platform::lock::lock;
use crate::recorder;
use crate::subject::Subject;

type Action = Box<dyn FnOnce() + Send>;

static WAITING: Mutex<Vec<(Subject, Action)>> = Mutex::new(Vec::new());
/// Their number. Most programs have none, and then the end of a subject takes no lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Runs `action` when the subject ends, on the thread that ends it.
pub(crate) fn when_ended(subject: Subject, action: impl FnOnce() + Send + 'static) {
    let mut waiting = lock(&WAITING);
    waiting.push((subject, Box::new(action)));
    COUNT.store(waiting.len(), Ordering::Release);
}

/// Runs the actions of a subject that ends. A panic in one is caught and counted.
pub(super) fn ended(subject: Subject) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mut waiting = lock(&WAITING);
    let due: Vec<(Subject, Action)> = waiting.extract_if(.., |(of, _)| *of == subject).collect();
    COUNT.store(waiting.len(), Ordering::Release);
    drop(waiting);
    for (_, action) in due {
        recorder::at_meta_level(action);
    }
}
