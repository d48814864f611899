//! Files and streams whose reads and writes are events.
//!
//! [`SpiedIo`] wraps any reader or writer. [`fs`] has the functions of [`std::fs`]; the subject of
//! their events is the path.
//!
//! ```
//! use std::io::Read;
//!
//! use metaspy::io::SpiedIo;
//! use metaspy::prelude::*;
//!
//! let mut request = SpiedIo::new("request", &b"GET /"[..]);
//! let (text, profile) = Profiler::new("requests").observe(methods("request::*")).profile(|| {
//!     let mut text = String::new();
//!     request.read_to_string(&mut text).map(|_| text)
//! })?;
//! assert_eq!(text.unwrap(), "GET /");
//! assert!(profile.counts().by_site().at("request::read").is_some());
//! # Ok::<(), metaspy::InstallError>(())
//! ```

pub mod fs;
#[cfg(feature = "tokio")]
mod tokio;

use std::fmt::{self, Debug};
use std::io::{IoSlice, IoSliceMut, Read, Result, Seek, SeekFrom, Write};
use std::panic::Location;

use metaspy_core::{Identify, ObjectId, Outcome, Site, SiteKind, Subject, hook};

use crate::dynamic_sites;

/// Reader or writer whose operations are events, at the sites `name::read`, `name::write`,
/// `name::flush` and `name::seek`.
///
/// An error is a failed event. The number of bytes is the returned value, if details are recorded.
///
/// With the feature `tokio` it also wraps tokio's readers and writers, which additionally have
/// `name::shutdown`. Their events begin at the first poll and end when the operation is complete,
/// so they include the wait.
///
/// The subject is the stream. Put a buffer outside of it to observe the operations of the system,
/// or inside to observe those of the program.
pub struct SpiedIo<T> {
    inner: T,
    sites: Sites,
    about: About,
    #[cfg(feature = "tokio")]
    waiting: tokio::Waiting,
}

#[derive(Clone, Copy)]
struct Sites {
    read: &'static Site,
    write: &'static Site,
    flush: &'static Site,
    seek: &'static Site,
    #[cfg(feature = "tokio")]
    shutdown: &'static Site,
}

enum About {
    Itself(ObjectId),
    Other(Subject),
}

impl<T> SpiedIo<T> {
    /// Wraps a reader or a writer under a name.
    #[track_caller]
    pub fn new(name: &'static str, inner: T) -> Self {
        let at = Location::caller();
        let site = |what| dynamic_sites::site(SiteKind::State, "", format!("{name}::{what}"), at);
        let sites = Sites {
            read: site("read"),
            write: site("write"),
            flush: site("flush"),
            seek: site("seek"),
            #[cfg(feature = "tokio")]
            shutdown: site("shutdown"),
        };
        SpiedIo::of(inner, sites, About::Itself(ObjectId::of::<T>()))
    }

    fn of(inner: T, sites: Sites, about: About) -> Self {
        SpiedIo {
            inner,
            sites,
            about,
            #[cfg(feature = "tokio")]
            waiting: tokio::Waiting::default(),
        }
    }

    /// Makes `subject` the subject of the events.
    #[must_use = "the subject belongs to the stream that is returned"]
    pub fn about(mut self, subject: impl Identify) -> Self {
        self.about = About::Other(subject.identify());
        self
    }

    /// Returns the wrapped reader or writer.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns the wrapped reader or writer for changes. Reads and writes through it are not
    /// recorded.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the wrapped reader or writer, and ends its observation.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn run<R: Debug>(
        &mut self,
        site: &'static Site,
        run: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let subject = self.identify();
        record(site, || subject, || run(&mut self.inner))
    }
}

/// Records an operation. The subject is computed only if it is needed.
#[inline]
fn record<R: Debug>(
    site: &'static Site,
    subject: impl FnOnce() -> Subject,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    if !site.is_armed() {
        return run();
    }
    let mut call = hook::enter_with(site, subject(), |_| ());
    let result = run();
    if let Ok(value) = &result {
        call.returns(value);
    }
    call.done(if result.is_ok() { Outcome::Succeeded } else { Outcome::Failed });
    result
}

impl<T: Read> Read for SpiedIo<T> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.run(self.sites.read, |inner| inner.read(buffer))
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> Result<usize> {
        self.run(self.sites.read, |inner| inner.read_vectored(buffers))
    }
}

impl<T: Write> Write for SpiedIo<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.run(self.sites.write, |inner| inner.write(bytes))
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> Result<usize> {
        self.run(self.sites.write, |inner| inner.write_vectored(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.run(self.sites.flush, T::flush)
    }
}

impl<T: Seek> Seek for SpiedIo<T> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.run(self.sites.seek, |inner| inner.seek(to))
    }
}

impl<T> Identify for SpiedIo<T> {
    fn identify(&self) -> Subject {
        match &self.about {
            About::Itself(id) => id.identify(),
            About::Other(subject) => *subject,
        }
    }
}

impl<T: Debug> Debug for SpiedIo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
