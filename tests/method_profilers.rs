//! A method profiler on observed functions: it sees their calls, outcomes and callers, woven or
//! not.
#![cfg(feature = "record")]

use std::future::Future;
use std::panic::catch_unwind;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use metaspy::method_profilers::{Call, CallEnd, Columns, Count, Data, MethodProfiler, MethodSpy};
use metaspy::prelude::*;

/// Writes a line for each call that ends.
struct Lines;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Ends(Count);

impl Data for Ends {
    fn new(columns: &mut Columns<'_>) -> Self {
        Ends(columns.sum("ends"))
    }
}

impl MethodProfiler for Lines {
    const NAME: &'static str = "lines";
    type Package = ();
    type Type = ();
    type Method = Ends;
    type Around = ();

    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        spy.data.0.add(1);
        let name = spy.facts.path().rsplit("::").next().unwrap_or_default().to_owned();
        let mut lines = LINES.lock().expect("no profiler panics");
        lines.push(format!(
            "{}{name} {}",
            "  ".repeat(call.depth() as usize),
            end.outcome().name()
        ));
    }
}

struct Shop;

#[observe]
impl Shop {
    fn sell(&self, price: u32) -> Result<u32, String> {
        let price = self.check(price)?;
        Ok(price + 1)
    }

    fn check(&self, price: u32) -> Result<u32, String> {
        assert!(price != 13, "unlucky");
        if price == 0 { Err("free".to_owned()) } else { Ok(price) }
    }
}

#[observe]
fn open() {}

#[observe]
fn countdown(from: u32) {
    if from > 0 {
        countdown(from - 1);
    }
}

#[derive(Default)]
struct Pause(bool);

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[observe]
async fn deliver() -> Option<u32> {
    Pause::default().await;
    open();
    Some(1)
}

/// What ends while the profiler is installed, and what does afterwards.
fn lines(run: impl FnOnce()) -> Vec<String> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let profiler = Profiler::new("test")
        .method_profiler(Lines)
        .install()
        .expect("there is room for a profiler");
    LINES.lock().expect("no profiler panics").clear();
    run();
    drop(profiler.uninstall());
    let seen = std::mem::take(&mut *LINES.lock().expect("no profiler panics"));
    open();
    assert!(
        LINES.lock().expect("no profiler panics").is_empty(),
        "an uninstalled profiler sees nothing"
    );
    seen
}

#[test]
fn every_way_out_of_an_observed_call_is_seen() {
    let seen = lines(|| {
        let _ = (Shop.sell(1), Shop.sell(0));
        let _ = catch_unwind(|| Shop.sell(13));
        open();
    });
    let expected = [
        "check succeeded",
        "sell succeeded",
        "check failed",
        "sell failed",
        "check panicked",
        "sell panicked",
        "open returned",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn recursion_is_seen_at_its_depth() {
    assert_eq!(
        lines(|| countdown(2)),
        ["    countdown returned", "  countdown returned", "countdown returned"]
    );
}

#[test]
fn an_async_call_ends_once_when_it_is_done_or_dropped() {
    let mut cx = Context::from_waker(Waker::noop());
    let seen = lines(|| {
        let mut done = pin!(deliver());
        while done.as_mut().poll(&mut cx).is_pending() {}
        let mut dropped = Box::pin(deliver());
        assert!(dropped.as_mut().poll(&mut cx).is_pending());
    });
    assert_eq!(seen, ["open returned", "deliver succeeded", "deliver cancelled"]);
}
