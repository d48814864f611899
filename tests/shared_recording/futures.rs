//! Async calls: one event from first poll to completion or drop.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::common::{check, sites, watch};
use metaspy::SiteKind;
use metaspy::prelude::*;

/// Pending once.
#[derive(Default)]
struct Yield(bool);

impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = poll(future.as_mut()) {
            return value;
        }
    }
}

struct Client(ObjectId);

#[observe(subject = self.0)]
impl Client {
    async fn get(&self, fails: bool) -> Result<u32, std::num::ParseIntError> {
        Yield::default().await;
        let n: u32 = if fails { "x" } else { "1" }.parse()?;
        self.inner().await;
        Ok(n)
    }
    async fn inner(&self) {
        Yield::default().await
    }
    fn boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = Option<u32>> + Send + 'a>> {
        Box::pin(async move {
            self.inner().await;
            None
        })
    }
    fn made(&self) -> impl Future<Output = u32> + 'static {
        async { 3 }
    }
    async fn waits(&self) {
        Yield::default().await
    }
    async fn breaks(&self) -> u32 {
        Yield::default().await;
        panic!("broken")
    }
}

#[test]
fn a_call_is_one_event_however_often_it_is_polled() {
    let client = Client(ObjectId::new());
    let seen = watch(methods("Client::get"), "Client::get", || {
        assert!(block_on(client.get(false)).is_ok() && block_on(client.get(true)).is_err());
    });
    assert_eq!(seen.text(), "get succeeded\nget failed\n");
    assert_eq!(seen.profile.store().polls(seen.events[0].id).map(|polls| polls.polls), Some(3));
    assert_eq!(seen.profile.count_of(&client.0), 2);
    assert!(sites("Client").iter().all(|site| site.kind == SiteKind::Async));
}

#[test]
fn awaited_calls_are_effects_and_calls_between_polls_are_not() {
    let client = Client(ObjectId::new());
    check(
        "Client::*",
        || {
            let mut first = pin!(client.get(false));
            assert!(poll(first.as_mut()).is_pending());
            block_on(client.made());
            assert!(poll(first.as_mut()).is_pending());
            assert!(poll(first.as_mut()).is_ready());
        },
        "get succeeded\nmade returned\n  inner returned\n",
    );
}

#[test]
fn the_event_of_a_boxed_future_is_its_run_and_not_its_creation() {
    let client = Client(ObjectId::new());
    check(
        "Client::boxed",
        || {
            drop(client.boxed());
            assert_eq!(block_on(client.boxed()), None);
        },
        "boxed failed\n",
    );
}

#[test]
fn a_call_that_is_dropped_is_cancelled_and_one_that_panics_panicked() {
    let client = Client(ObjectId::new());
    check(
        "Client::waits",
        || {
            assert!(poll(pin!(client.waits())).is_pending());
            drop(client.waits());
        },
        "waits cancelled\n",
    );
    check(
        "Client::breaks",
        || crate::common::panics(|| assert_eq!(block_on(client.breaks()), 0)),
        "breaks panicked\n",
    );
}

#[test]
fn an_observed_future_keeps_send_sync_and_unpin() {
    fn goes_anywhere<T: Send + Sync>(_: T) {}
    fn moves<T: Unpin>(_: T) {}
    let client = Client(ObjectId::new());
    goes_anywhere(client.get(true));
    goes_anywhere(client.made());
    #[observe]
    fn unpin() -> std::future::Ready<u32> {
        std::future::ready(1)
    }
    moves(unpin());
    fn survives_panics<T: std::panic::UnwindSafe>(_: T) {}
    #[observe(args(n), ret)]
    async fn unwinds(n: u32) -> u32 {
        Yield::default().await;
        n
    }
    survives_panics(unwinds(1));
    goes_anywhere(unwinds(1));
    std::thread::spawn(move || block_on(client.get(false)))
        .join()
        .expect("it does not panic")
        .expect("it parses");
}

/// Says what happens to it, as its `Debug`.
struct Word(&'static str);

impl std::fmt::Debug for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

struct Desk;

#[observe]
impl Desk {
    #[observe(args(word, twice = 2 * n), ret)]
    async fn take(&self, word: Word, n: u32) -> Result<Word, std::num::ParseIntError> {
        Yield::default().await;
        let _: u32 = if n > 1 { "x" } else { "1" }.parse()?;
        let _ = word;
        Ok(Word("done"))
    }
    #[observe(args(word), ret, caller)]
    fn boxed(&self, word: Word) -> Pin<Box<dyn Future<Output = Option<usize>> + Send>> {
        Box::pin(async move {
            Yield::default().await;
            Some(word.0.len())
        })
    }
    #[observe(args(word), ret)]
    async fn shows_nothing(&self, word: Bomb) -> Bomb {
        word
    }
    #[observe(ret)]
    async fn listed(&self) -> impl Iterator<Item = u32> + std::fmt::Debug {
        0..3
    }
}

struct Bomb;

impl std::fmt::Debug for Bomb {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("unshowable")
    }
}

#[test]
fn arguments_and_return_values_are_recorded_on_request() {
    let seen = watch(methods("Desk::take").details(), "Desk::take", || {
        assert!(block_on(Desk.take(Word("one"), 1)).is_ok());
        assert!(block_on(Desk.take(Word("two"), 2)).is_err());
        // Never polled: no call.
        drop(Desk.take(Word("three"), 3));
        assert!(poll(pin!(Desk.take(Word("four"), 4))).is_pending());
    });
    assert_eq!(seen.text(), "take succeeded\ntake failed\ntake cancelled\n");
    assert_eq!(seen.details(0), ["word=one", "twice=2", "=Ok(done)"]);
    assert_eq!(
        seen.details(1),
        ["word=two", "twice=4", "=Err(ParseIntError { kind: InvalidDigit })"]
    );
    assert_eq!(seen.details(2), ["word=four", "twice=8"]);
}

#[test]
fn the_details_of_a_future_are_arguments_and_caller_of_its_creation() {
    let line = line!() + 2;
    let seen = watch(methods("Desk::boxed").details(), "Desk::boxed", || {
        assert_eq!(block_on(Desk.boxed(Word("one"))), Some(3));
    });
    assert_eq!(seen.details(0), ["word=one", &format!("caller={}:{line}:34", file!()), "=Some(3)"]);
}

#[test]
fn values_whose_debug_panics_are_marked() {
    let seen = watch(methods("Desk::*").details(), "Desk::*", || {
        crate::common::quietly(|| {
            let _ = block_on(Desk.shows_nothing(Bomb));
        });
        assert_eq!(block_on(Desk.listed()).count(), 3);
    });
    assert_eq!(seen.text(), "shows_nothing returned\nlisted returned\n");
    assert_eq!(seen.details(0), ["word= (its Debug panicked)", "= (its Debug panicked)"]);
    assert_eq!(seen.details(1), ["=0..3"]);
}

#[test]
fn no_details_are_recorded_without_a_request() {
    #[observe(args(bomb), ret)]
    async fn without_details(bomb: Bomb) -> Bomb {
        bomb
    }
    // A `Debug` that ran would panic loudly, and be counted.
    let seen = watch(methods("without_details"), "without_details", || {
        let _ = block_on(without_details(Bomb));
    });
    assert_eq!((seen.text(), seen.details(0)), ("without_details returned\n".into(), vec![]));
    let _ = block_on(without_details(Bomb));
}

mod orders {
    //! Other attributes, in either order.

    use metaspy::observe;

    pub struct Both;

    #[async_trait::async_trait]
    pub trait Fetch {
        async fn before(&self, n: u32) -> Result<u32, std::num::ParseIntError>;
        async fn after(&self, n: u32) -> Result<u32, std::num::ParseIntError>;
    }

    pub struct First;
    pub struct Second;

    #[observe]
    #[async_trait::async_trait]
    impl Fetch for First {
        async fn before(&self, n: u32) -> Result<u32, std::num::ParseIntError> {
            super::Yield::default().await;
            let one: u32 = "1".parse()?;
            Ok(n + one)
        }
        async fn after(&self, n: u32) -> Result<u32, std::num::ParseIntError> {
            self.before(n).await
        }
    }

    #[async_trait::async_trait]
    #[observe]
    impl Fetch for Second {
        async fn before(&self, n: u32) -> Result<u32, std::num::ParseIntError> {
            super::Yield::default().await;
            let one: u32 = "1".parse()?;
            Ok(n + one)
        }
        async fn after(&self, n: u32) -> Result<u32, std::num::ParseIntError> {
            self.before(n).await
        }
    }

    #[async_trait::async_trait]
    pub trait Show {
        async fn show(&self, n: u32) -> Option<u32>;
    }

    #[observe]
    #[async_trait::async_trait]
    impl Show for First {
        #[observe(args(n), ret)]
        async fn show(&self, n: u32) -> Option<u32> {
            super::Yield::default().await;
            Some(n)
        }
    }

    #[async_trait::async_trait]
    #[observe(caller)]
    impl Show for Second {
        #[observe(args(n), ret)]
        async fn show(&self, n: u32) -> Option<u32> {
            super::Yield::default().await;
            Some(n)
        }
    }

    impl Both {
        #[observe]
        #[tracing::instrument(skip(self))]
        pub async fn outside(&self, n: u32) -> Option<u32> {
            super::Yield::default().await;
            Some(n)
        }
        #[tracing::instrument(skip(self))]
        #[observe]
        pub async fn inside(&self, n: u32) -> Option<u32> {
            super::Yield::default().await;
            Some(n)
        }
        #[observe]
        #[tracing::instrument(skip_all, ret)]
        pub fn outside_sync(&self, n: u32) -> Option<u32> {
            if n > 3 {
                return None;
            }
            Some(n)
        }
        #[tracing::instrument(skip_all, err)]
        #[observe]
        pub fn inside_sync(&self, n: u32) -> Result<u32, std::num::ParseIntError> {
            let one: u32 = "1".parse()?;
            Ok(n + one)
        }
    }
}

#[test]
fn other_attributes_may_come_before_or_after() {
    use orders::{Both, Fetch, First, Second};
    check(
        "First::Fetch::*",
        || assert_eq!(block_on(First.after(1)), Ok(2)),
        "after succeeded\n  before succeeded\n",
    );
    check(
        "Second::Fetch::*",
        || assert_eq!(block_on(Second.after(1)), Ok(2)),
        "after succeeded\n  before succeeded\n",
    );
    check(
        "orders::*",
        || {
            assert_eq!(block_on(Both.outside(1)), Some(1));
            assert_eq!(block_on(Both.inside(1)), Some(1));
            assert_eq!(Both.outside_sync(4), None);
            assert_eq!(Both.inside_sync(4), Ok(5));
        },
        "outside succeeded\ninside succeeded\noutside_sync failed\ninside_sync succeeded\n",
    );
}

#[test]
fn methods_of_async_trait_record_arguments_and_return_values() {
    use orders::{First, Second, Show};
    for (selector, seen) in ["First::Show::show", "Second::Show::show"].map(|selector| {
        let calls = methods(selector).details();
        let seen = watch(calls, selector, || match selector {
            "First::Show::show" => assert_eq!(block_on(First.show(1)), Some(1)),
            _ => assert_eq!(block_on(Second.show(1)), Some(1)),
        });
        (selector, seen)
    }) {
        let shown: Vec<String> =
            seen.details(0).into_iter().filter(|detail| !detail.starts_with("caller")).collect();
        assert_eq!(shown, ["n=1", "=Some(1)"], "{selector}");
    }
}
