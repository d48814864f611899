//! Actions that run when a subject ends, or when a value is gone.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::platform::lock::lock;
use crate::recorder::{self, Listener, Log, Module};
use crate::subject::Subject;

type Action = Box<dyn FnOnce() + Send>;

/// The condition that an action waits for.
enum End {
    /// The subject ends.
    Of(Subject),
    /// The condition holds. It is evaluated after each round of the collector.
    When(Box<dyn Fn() -> bool + Send>),
}

static WAITING: Mutex<Vec<(End, Action)>> = Mutex::new(Vec::new());
/// Their number. Most programs have none, and then the end of a subject takes no lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Runs `action` when the subject ends, on the thread that ends it.
pub fn when_ended(subject: Subject, action: impl FnOnce() + Send + 'static) {
    wait(End::Of(subject), Box::new(action));
}

/// Runs `action` on the collector's thread when `is_gone` has become true.
pub fn when_gone(
    is_gone: impl Fn() -> bool + Send + 'static,
    action: impl FnOnce() + Send + 'static,
) {
    recorder::listen(Module::Ends, &Ends);
    wait(End::When(Box::new(is_gone)), Box::new(action));
}

fn wait(end: End, action: Action) {
    let mut waiting = lock(&WAITING);
    waiting.push((end, action));
    COUNT.store(waiting.len(), Ordering::Release);
}

/// Runs the actions of a subject that ends.
pub(super) fn ended(subject: Subject) {
    run(|end| matches!(end, End::Of(of) if *of == subject));
}

/// Runs the actions whose condition holds.
struct Ends;

impl Listener for Ends {
    fn round_ended(&self, _: &Log) {
        run(|end| matches!(end, End::When(is_gone) if is_gone()));
    }
}

/// Runs actions outside of the lock. A panic in one is caught and counted.
fn run(is_due: impl Fn(&End) -> bool) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mut waiting = lock(&WAITING);
    let due: Vec<(End, Action)> = waiting.extract_if(.., |(end, _)| is_due(end)).collect();
    COUNT.store(waiting.len(), Ordering::Release);
    drop(waiting);
    for (_, action) in due {
        recorder::at_meta_level(action);
    }
}
