//! The end of a call is reported as it was.

use std::panic::catch_unwind;
use std::sync::Mutex;

use metaspy_core::Outcome;
use metaspy_core::method_profilers::{self, Call, CallEnd, MethodProfiler, MethodSpy};

use crate::{Pause, alone, block_on};

/// Remembers how calls of `rests` ended.
#[derive(Default)]
struct Ends(Mutex<Vec<Outcome>>);

impl MethodProfiler for Ends {
    const NAME: &'static str = "ends";
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn selects(&self, facts: &method_profilers::Facts) -> bool {
        facts.name == "rests"
    }

    fn after(&self, _: &MethodSpy<Self>, _: &Call<'_>, ended: &CallEnd<'_>) {
        self.0.lock().expect("no holder panicked").push(ended.outcome());
    }
}

async fn rests(fails: bool) -> u32 {
    metaspy_probe::polled_whole!("rests", 1, 1, "c=1 self=none async deep", [], [], [own any u32], {
        Pause(false).await;
        assert!(!fails, "as asked");
        7
    })
}

/// Waits for an async call when it is dropped.
struct Waits(bool);

impl Drop for Waits {
    fn drop(&mut self) {
        let _ = catch_unwind(|| block_on(rests(self.0)));
    }
}

#[test]
fn an_async_call_in_a_destructor_of_an_unwinding_thread_ends_as_it_does() {
    let _alone = alone();
    let spying = crate::install(Ends::default());
    for fails in [false, true] {
        drop(Waits(fails));
        let unwound = catch_unwind(|| {
            let _waits = Waits(fails);
            panic!("on purpose");
        });
        assert!(unwound.is_err());
    }
    let ended = std::mem::take(&mut *spying.profiler().0.lock().expect("no holder panicked"));
    drop(spying);
    assert_eq!(ended, [Outcome::Returned, Outcome::Returned, Outcome::Panicked, Outcome::Panicked]);
}
