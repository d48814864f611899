//! Proxy of a stream, whose items are events.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use metaspy_core::causality::{Because, Carried, because};
use metaspy_core::hook;
use metaspy_core::{EventId, Identify, Site, SiteKind, Subject};
use tokio_stream::Stream;

use crate::channels::kind::{ByClosure, ByItself, KindOf};
use crate::dynamic_sites;

/// Stream that makes an event of each item, and passes it on.
///
/// The site is that of the item's kind, `name::Kind`. The cause is the thread's current event, or
/// the event that the item carries ([`SpiedStream::caused_by`]). There is no subscription, so the
/// bus is not disturbed. The kind of each item is computed even if no site is armed.
///
/// ```
/// use metaspy::channels::SpiedStream;
/// use metaspy::prelude::*;
/// use tokio_stream::StreamExt;
///
/// let mut readings = SpiedStream::new("readings", tokio_stream::iter([Ok(3), Err("noise"), Ok(4)]));
/// let profiler = Profiler::new("readings").observe(proxied(readings.site("Ok"))).install()?;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// while let Some(reading) = readings.next().await {
///     println!("{reading:?}");
/// }
/// # });
/// assert_eq!(profiler.uninstall().counts().total(), 2);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
pub struct SpiedStream<S: Stream, K = ByItself<<S as Stream>::Item>> {
    stream: Pin<Box<S>>,
    name: &'static str,
    at: &'static Location<'static>,
    bus: Subject,
    kind: K,
    /// Sites by kind, as far as items had them.
    sites: HashMap<String, &'static Site>,
    hooks: ItemHooks<S::Item>,
    last: Option<EventId>,
}

/// Closures of the user that are called for each item.
struct ItemHooks<M> {
    subject: Option<Ask<M, Subject>>,
    cause: Option<Ask<M, Carried>>,
    gaps: Option<Gaps<M>>,
}

type Ask<M, R> = Box<dyn Fn(&M) -> R + Send + Sync>;

/// Detector of items that report missed items, with the site that counts these.
struct Gaps<M> {
    size: fn(&M) -> Option<u64>,
    missed: &'static Site,
}

/// Maximum number of kinds of a stream. All further kinds share the site `others`.
const KINDS_MAX: usize = 256;

impl<S: Stream<Item: 'static>> SpiedStream<S> {
    /// Wraps a stream under a name.
    #[track_caller]
    pub fn new(name: &str, stream: S) -> Self {
        let bus = crate::channels::named_bus::named_bus(name);
        let name = crate::interned::name(name);
        SpiedStream {
            stream: Box::pin(stream),
            name,
            at: Location::caller(),
            bus,
            kind: ByItself::new(),
            sites: HashMap::new(),
            hooks: ItemHooks { subject: None, cause: None, gaps: None },
            last: None,
        }
    }
}

impl<S: Stream, K> SpiedStream<S, K> {
    /// Sets the closure that finds the kind of an item.
    pub fn kind<F>(self, kind: F) -> SpiedStream<S, ByClosure<F>>
    where
        F: Fn(&S::Item) -> &str + Send + 'static,
    {
        let SpiedStream { stream, name, at, bus, hooks, last, .. } = self;
        SpiedStream {
            stream,
            name,
            at,
            bus,
            kind: ByClosure(kind),
            sites: HashMap::new(),
            hooks,
            last,
        }
    }

    /// Sets the closure that finds the subject of an item. The default is the stream.
    pub fn subject<I: Identify>(
        mut self,
        subject: impl Fn(&S::Item) -> I + Send + Sync + 'static,
    ) -> Self {
        self.hooks.subject = Some(Box::new(move |item| subject(item).identify()));
        self
    }

    /// Sets the closure that finds the cause of an item, such as the sending of a message. The
    /// cause of all other items is the thread's current event.
    pub fn caused_by(
        mut self,
        cause: impl Fn(&S::Item) -> Carried + Send + Sync + 'static,
    ) -> Self {
        self.hooks.cause = Some(Box::new(cause));
        self
    }

    /// Sets the function that finds items which only report how many others were missed.
    ///
    /// The missed items are counted at the site `missed`, with an event for each gap. The reporting
    /// items are passed on like all others.
    pub fn gaps(mut self, size: fn(&S::Item) -> Option<u64>) -> Self {
        self.hooks.gaps = Some(Gaps { size, missed: self.site("missed") });
        self
    }

    /// Registers the site of a kind, and returns it.
    pub fn site(&self, kind: &str) -> &'static Site {
        dynamic_sites::site(SiteKind::Announcement, self.name, kind.to_owned(), self.at)
    }

    /// Returns the event of the last item, if it was recorded.
    pub fn received(&self) -> Option<EventId> {
        self.last
    }

    /// Makes the last item the cause of this thread's work, until the guard is dropped. The guard
    /// does not live across an await.
    pub fn because(&self) -> Option<Because> {
        self.last.map(because)
    }

    /// Returns the wrapped stream.
    pub fn into_inner(self) -> Pin<Box<S>> {
        self.stream
    }
}

impl<S: Stream, K: KindOf<S::Item> + Unpin> Stream for SpiedStream<S, K> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let item = ready!(self.stream.as_mut().poll_next(context));
        self.last = item.as_ref().and_then(|item| self.record(item));
        Poll::Ready(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<S: Stream, K: KindOf<S::Item>> SpiedStream<S, K> {
    /// Makes an event of an item. The closures run at meta level.
    fn record(&mut self, item: &S::Item) -> Option<EventId> {
        let ItemHooks { subject, cause, gaps } = &self.hooks;
        let bus = self.bus;
        let subject = || subject.as_ref().map_or(bus, |subject| hook::subject(|| subject(item)));
        if let Some(gaps) = gaps
            && let Some(size) = hook::at_meta_level(|| (gaps.size)(item)).flatten()
        {
            return gaps
                .missed
                .is_armed()
                .then(|| hook::missed(gaps.missed, subject(), size))
                .flatten();
        }
        let kind = &self.kind;
        let sites = &mut self.sites;
        let site = hook::at_meta_level(|| {
            kind.with_kind(item, |kind| met(sites, self.name, kind, self.at))
        });
        let site = site.filter(|site| site.is_armed())?;
        let cause =
            cause.as_ref().and_then(|cause| hook::at_meta_level(|| cause(item).event()).flatten());
        hook::instant_with(site, subject(), cause, |reify| kind.show(item, reify))
    }
}

/// Returns the site of a kind, which is looked up once.
fn met(
    sites: &mut HashMap<String, &'static Site>,
    bus: &'static str,
    kind: &str,
    at: &'static Location<'static>,
) -> &'static Site {
    if let Some(site) = sites.get(kind) {
        return site;
    }
    if sites.len() >= KINDS_MAX {
        return dynamic_sites::site(SiteKind::Announcement, bus, "others".to_owned(), at);
    }
    let site = dynamic_sites::site(SiteKind::Announcement, bus, kind.to_owned(), at);
    sites.insert(kind.to_owned(), site);
    site
}

/// The identity is that of the bus.
impl<S: Stream, K> Identify for SpiedStream<S, K> {
    fn identify(&self) -> Subject {
        self.bus
    }
}

impl<S: Stream, K> fmt::Debug for SpiedStream<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpiedStream").field("name", &self.name).finish_non_exhaustive()
    }
}
