//! Sites of spans and events, with a site for each callsite.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use metaspy_core::site::register_dynamic;
use metaspy_core::{Kind, KindId, Site, SiteDef, SiteKind};
use tracing_core::{Level, Metadata};

use crate::lookup_cache::LookupCache;
use crate::spans::subject_fields;

/// Callsite of `tracing`, with the facts that are known before it runs.
pub(super) struct Callsite {
    pub site: &'static Site,
    /// Number of the field with the subject, and the subject's kind.
    pub subject: Option<(usize, KindId)>,
    pub role: EventRole,
}

/// Role of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventRole {
    /// A plain event, or a span.
    Plain,
    /// A record of `log` from any place, because `tracing-log` has a single callsite for each
    /// level.
    LogRecord,
    /// Possibly a function's return value, by `#[instrument(ret)]`.
    Return,
    /// Possibly a function's failure, by `#[instrument(err)]`.
    Error,
}

/// Returns the callsite with this metadata, which is registered the first time.
///
/// The key is the address of the metadata. Callsites themselves may share an address, because most
/// have no size.
#[inline]
pub(super) fn lookup(metadata: &'static Metadata<'static>) -> &'static Callsite {
    thread_local! {
        static KNOWN: LookupCache<usize, &'static Callsite, 256> = const { LookupCache::new() };
    }
    let address = std::ptr::from_ref(metadata).addr();
    KNOWN.with(|known| known.get(address, || register(metadata, address)))
}

#[cold]
fn register(metadata: &'static Metadata<'static>, address: usize) -> &'static Callsite {
    static ALL: RwLock<Option<HashMap<usize, &'static Callsite>>> = RwLock::new(None);
    let known = ALL
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|all| all.get(&address).copied());
    known.unwrap_or_else(|| {
        let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default()
            .entry(address)
            .or_insert_with(|| Box::leak(Box::new(Callsite::new(metadata))))
    })
}

impl Callsite {
    fn new(metadata: &'static Metadata<'static>) -> Self {
        let lines = metadata.line().map_or((0, 0), |line| (line, line));
        let site = register_dynamic(SiteDef {
            kind: SiteKind::Span,
            module: metadata.target(),
            name: name(metadata),
            file: metadata.file().unwrap_or(""),
            lines,
            skipped: None,
        });
        let own = metadata
            .fields()
            .iter()
            .find_map(|field| Some((field.index(), subject_kind(field.name())?)));
        let subject = own.or_else(|| subject_fields::chosen(metadata));
        Callsite { site, subject, role: EventRole::from_metadata(metadata) }
    }
}

impl EventRole {
    fn from_metadata(metadata: &Metadata<'_>) -> EventRole {
        let mut fields = metadata.fields().iter().map(|field| field.name());
        match (metadata.name(), metadata.is_event(), fields.next(), fields.next()) {
            ("log event", true, ..) if metadata.target() == "log" => EventRole::LogRecord,
            (_, true, Some("return"), None) => EventRole::Return,
            (_, true, Some("error"), None) => EventRole::Error,
            _ => EventRole::Plain,
        }
    }
}

/// Returns the name of a span or an event.
///
/// An event without a name is named by level and line, `info:42`, because its message is not known
/// before it is emitted.
fn name(metadata: &'static Metadata<'static>) -> &'static str {
    let is_made_up = metadata.is_event() && metadata.name().starts_with("event ");
    match (is_made_up, metadata.line()) {
        (true, Some(line)) => event_name(*metadata.level(), line).leak(),
        (true, None) => metadata.level().as_str(),
        (false, _) => metadata.name(),
    }
}

/// Formats the name of an event by its level and line.
pub(super) fn event_name(level: Level, line: u32) -> String {
    format!("{}:{line}", level.as_str().to_lowercase())
}

/// Returns the kind of the subject in a field. `subject` has the kind *subject*; `subject.NodeId`
/// has the kind of an `Identify` impl with this name.
fn subject_kind(field: &'static str) -> Option<KindId> {
    let kind = field.strip_prefix("subject")?;
    let name = if kind.is_empty() { "subject" } else { kind.strip_prefix('.')? };
    // A kind lives as long as its callsite, for the rest of the process.
    Some(Box::leak(Box::new(Kind::new(name))).id())
}
