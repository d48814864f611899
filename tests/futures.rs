//! Async calls: one event from first poll to completion or drop.
#![cfg(feature = "record")]

mod common;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use common::{check, sites, watch};
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
fn what_a_call_awaits_hangs_under_it_and_what_runs_in_between_does_not() {
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
fn a_boxed_future_is_observed_and_not_its_making() {
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
    check("Client::breaks", || common::panics(|| assert_eq!(block_on(client.breaks()), 0)), "breaks panicked\n");
}

#[test]
fn a_future_goes_where_it_went_before() {
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
    std::thread::spawn(move || block_on(client.get(false))).join().expect("it does not panic").expect("it parses");
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
fn other_attributes_may_stand_on_either_side() {
    use orders::{Both, Fetch, First, Second};
    check("First::Fetch::*", || assert_eq!(block_on(First.after(1)), Ok(2)), "after succeeded\n  before succeeded\n");
    check("Second::Fetch::*", || assert_eq!(block_on(Second.after(1)), Ok(2)), "after succeeded\n  before succeeded\n");
    check(
        "Both::*",
        || {
            assert_eq!(block_on(Both.outside(1)), Some(1));
            assert_eq!(block_on(Both.inside(1)), Some(1));
            assert_eq!(Both.outside_sync(4), None);
            assert_eq!(Both.inside_sync(4), Ok(5));
        },
        "outside succeeded\ninside succeeded\noutside_sync failed\ninside_sync succeeded\n",
    );
}
