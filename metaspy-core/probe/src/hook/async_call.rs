//! The future of a woven function that is async.
//!
//! It holds a number beside the future of the body, so that it is as much
//! `Send`, `Sync`, `Unpin` and `UnwindSafe` as that is.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::{Seen, Site, Value};

/// An async call, observed or not. Dropping it before it is done cancels it.
#[must_use = "dropping it ends the call"]
pub struct AsyncCall {
    site: &'static Site,
    /// The core's call; 0 if the call is not observed. A number, so that the future stays `Send`,
    /// `Sync` and `Unpin`.
    begun: usize,
}

impl AsyncCall {
    /// Begins a call at a site that is armed.
    pub fn start(site: &'static Site, seen: &Seen<'_>) -> Self {
        let begun =
            site.adapter().map_or(0, |adapter| (adapter.start)(site, seen).expose_provenance());
        AsyncCall { site, begun }
    }

    /// A call that is not observed.
    #[inline(always)]
    pub const fn unobserved(site: &'static Site) -> Self {
        AsyncCall { site, begun: 0 }
    }

    /// Records the return value.
    pub fn returned(&self, value: &Value<'_>) {
        if let (Some(adapter), 1..) = (self.site.adapter(), self.begun) {
            (adapter.returned_async)(self.begun(), value);
        }
    }

    fn begun(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.begun)
    }
}

impl Drop for AsyncCall {
    #[inline]
    fn drop(&mut self) {
        if let (Some(adapter), 1..) = (self.site.adapter(), self.begun) {
            (adapter.stop)(self.begun());
        }
    }
}

/// The body of an async function, and its call.
#[must_use = "futures do nothing unless polled"]
pub struct Polled<F, S> {
    // The future goes first: the drops of its values still belong to the call.
    future: F,
    call: AsyncCall,
    show: S,
}

impl<F: Future, S: Fn(&AsyncCall, &F::Output)> Polled<F, S> {
    /// Returns a body that runs as this call; `show` is given its output.
    #[inline(always)]
    pub const fn new(call: AsyncCall, future: F, show: S) -> Self {
        Polled { future, call, show }
    }
}

impl<F: Future, S: Fn(&AsyncCall, &F::Output)> Future for Polled<F, S> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned whenever this is, and nothing moves it out; the other fields
        // are not pinned.
        let (future, call, show) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &this.call, &this.show)
        };
        match call.site.adapter() {
            Some(adapter) if call.begun != 0 => {
                let mut once = Once { future, cx, show, call, answer: Poll::Pending };
                (adapter.poll)(call.begun(), poll_once::<F, S>, (&raw mut once).cast());
                once.answer
            }
            _ => future.poll(cx),
        }
    }
}

struct Once<'p, 'c, F: Future, S> {
    future: Pin<&'p mut F>,
    cx: &'p mut Context<'c>,
    show: &'p S,
    call: &'p AsyncCall,
    answer: Poll<F::Output>,
}

fn poll_once<F: Future, S: Fn(&AsyncCall, &F::Output)>(data: *mut u8) -> bool {
    // SAFETY: `poll` above hands it in, and waits.
    let once = unsafe { &mut *data.cast::<Once<'_, '_, F, S>>() };
    once.answer = once.future.as_mut().poll(once.cx);
    if let Poll::Ready(value) = &once.answer {
        (once.show)(once.call, value);
    }
    once.answer.is_ready()
}
