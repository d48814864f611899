//! Implementations of tokio's readers and writers.

use std::fmt::Debug;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};

use metaspy_core::{Identify, Outcome, Site, Subject};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::attempt::Attempt;
use crate::io::SpiedIo;

/// Pending operations, at most one for each direction.
#[derive(Default)]
pub(super) struct Waiting {
    read: Option<Attempt>,
    write: Option<Attempt>,
}

/// Polls an operation, which is an event from its first poll on. Its result is the returned value.
fn polled<R: Debug>(
    waiting: &mut Option<Attempt>,
    site: &'static Site,
    subject: impl FnOnce() -> Subject,
    poll: impl FnOnce() -> Poll<Result<R>>,
) -> Poll<Result<R>> {
    if waiting.is_none() {
        if !site.is_armed() {
            return poll();
        }
        *waiting = Some(Attempt::begin(site, subject(), |_| ()));
    }
    let polled = poll();
    if let Poll::Ready(result) = &polled
        && let Some(mut attempt) = waiting.take()
    {
        if let Ok(value) = result {
            attempt.returns(value);
        }
        attempt.end(if result.is_ok() { Outcome::Succeeded } else { Outcome::Failed });
    }
    polled
}

impl<T> SpiedIo<T> {
    fn poll_writing<R: Debug>(
        &mut self,
        site: &'static Site,
        poll: impl FnOnce(Pin<&mut T>) -> Poll<Result<R>>,
    ) -> Poll<Result<R>>
    where
        T: Unpin,
    {
        let subject = self.identify();
        polled(&mut self.waiting.write, site, || subject, || poll(Pin::new(&mut self.inner)))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for SpiedIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        let subject = this.identify();
        let inner = Pin::new(&mut this.inner);
        let before = buffer.filled().len();
        let read = || {
            inner.poll_read(cx, buffer).map_ok(|()| buffer.filled().len().saturating_sub(before))
        };
        polled(&mut this.waiting.read, this.sites.read, || subject, read).map_ok(|_| ())
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for SpiedIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        this.poll_writing(this.sites.write, |inner| inner.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        this.poll_writing(this.sites.write, |inner| inner.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        this.poll_writing(this.sites.flush, |inner| inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        this.poll_writing(this.sites.shutdown, |inner| inner.poll_shutdown(cx))
    }
}
