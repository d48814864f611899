//! Small recordings for the tests of detectors, with a manual clock.

use std::collections::HashMap;

use metaspy_format::arena::Entry;
use metaspy_format::detail::{self, DetailKind};
use metaspy_format::join;
use metaspy_format::slot::Mark;
use metaspy_format::superblock;
use metaspy_probe::{KindId, SiteKind, Subject};
use metaspy_reader::testing::{Draft, Writer};
use metaspy_reader::{EventId, Outcome, Store};

use super::{Config, Detector, Findings, find, find_by};

/// Recording under construction.
///
/// ```text
/// let mut run = Run::new();
/// for frame in 0..30 {
///     run.call("frame", None, |run| {
///         (0..9).for_each(|node| run.leaf("Scene::layout", node, 1_000));
///     });
/// }
/// assert_eq!(run.found(Repeated::default()), []);
/// ```
pub(super) struct Run {
    writer: Writer,
    sites: HashMap<String, u32>,
    /// Open calls around the next event, outermost first, by lane.
    open: HashMap<u32, Vec<EventId>>,
    lane: u32,
    /// Kind of the next subjects.
    kind: KindId,
    /// Nanoseconds since the beginning.
    pub(super) now: u64,
}

/// Kind of subjects with an identity.
const NODE: KindId = KindId(1);
/// Kind of the reasons why productions never matched.
const SHADOW: KindId = KindId(2);
/// Kind of subjects that only an address tells apart.
const PLACE: KindId = KindId(3);

impl Run {
    /// Creates an empty recording with room for half a million events.
    pub(super) fn new() -> Self {
        let writer = Writer::new(64);
        writer.entry(Entry::Kind, 1, &[0], &["page::Node", ""]);
        writer.entry(Entry::Kind, u32::from(PLACE.0), &[1], &["page::Cell", ""]);
        Run { writer, sites: HashMap::new(), open: HashMap::new(), lane: 0, kind: NODE, now: 1_000 }
    }

    /// Makes the next subjects places in memory.
    pub(super) fn at_places(&mut self) {
        self.kind = PLACE;
    }

    /// Names a function of a module with its facts, in the words of the weaver: `self=mut`.
    pub(super) fn function(&mut self, module: &str, path: &str, facts: &str) {
        let id = self.sites.len() as u32 + 1;
        self.sites.insert(path.to_owned(), id);
        let words = [join(SiteKind::Method as u32, 7), join(9, module.len() as u32)];
        self.writer.entry(Entry::Site, id, &words, &[path, "src/lib.rs", "", facts]);
    }

    /// Records an argument of an event.
    pub(super) fn argument(&mut self, event: EventId, name: &str, value: &str) {
        self.detail(event, DetailKind::Argument, name, value);
    }

    /// Records the value that an event returned.
    pub(super) fn returned(&mut self, event: EventId, value: &str) {
        self.detail(event, DetailKind::Return, "", value);
    }

    fn detail(&mut self, event: EventId, kind: DetailKind, name: &str, value: &str) {
        let mut bytes = detail::head(kind, false, name.len() as u8, value.len() as u16).to_vec();
        bytes.extend(name.bytes().chain(value.bytes()));
        self.writer.details(self.lane, self.now, event, &bytes);
    }

    /// Names a site of another kind than a method.
    pub(super) fn site(&mut self, path: &str, kind: SiteKind) {
        self.site_in("", path, kind);
    }

    /// Names a site of a module.
    pub(super) fn site_in(&mut self, module: &str, path: &str, kind: SiteKind) {
        let id = self.sites.len() as u32 + 1;
        self.sites.insert(path.to_owned(), id);
        self.writer.site_in(module, id, path, kind);
    }

    /// Calls a site on a subject while `body` runs.
    pub(super) fn call(
        &mut self,
        path: &str,
        node: impl Into<Option<u64>>,
        body: impl FnOnce(&mut Run),
    ) -> EventId {
        self.ended_call(path, node, Outcome::Returned, body)
    }

    /// Calls a site that ends with this outcome.
    pub(super) fn ended_call(
        &mut self,
        path: &str,
        node: impl Into<Option<u64>>,
        outcome: Outcome,
        body: impl FnOnce(&mut Run),
    ) -> EventId {
        let cause = self.open.get(&self.lane).and_then(|open| open.last().copied());
        let id = self.begin(path, node.into(), cause);
        let began = self.now;
        self.open.entry(self.lane).or_default().push(id);
        body(self);
        self.open.entry(self.lane).or_default().pop();
        self.writer.end(id, self.now - began, outcome);
        id
    }

    /// Calls a site. The call does not end.
    pub(super) fn running(&mut self, path: &str, node: impl Into<Option<u64>>) {
        self.begin(path, node.into(), None);
    }

    /// Makes the recording a file of a rotation that went on in another file.
    pub(super) fn goes_on_elsewhere(&mut self) {
        self.writer.set(superblock::FOLLOWED, 2);
    }

    /// Makes this number of earlier calls leave the window.
    pub(super) fn folded(&mut self, calls: u64) {
        self.writer.set(superblock::FOLDED, calls);
    }

    /// Ends the recording at this moment.
    pub(super) fn ends(&mut self) {
        self.writer.set(superblock::LAST_TICK, self.now);
    }

    /// Calls a site that takes `ns` nanoseconds and calls nothing.
    pub(super) fn leaf(&mut self, path: &str, node: impl Into<Option<u64>>, ns: u64) -> EventId {
        self.call(path, node, |run| run.work(ns))
    }

    /// Calls a site below a cause, in place of the call around it.
    pub(super) fn because(
        &mut self,
        cause: Option<EventId>,
        path: &str,
        node: impl Into<Option<u64>>,
        body: impl FnOnce(&mut Run),
    ) -> EventId {
        let id = self.begin(path, node.into(), cause);
        let began = self.now;
        self.open.entry(self.lane).or_default().push(id);
        body(self);
        self.open.entry(self.lane).or_default().pop();
        self.writer.end(id, self.now - began, Outcome::Returned);
        id
    }

    /// Calls an async site, which has `polls` polls and is busy for `busy_ns` nanoseconds.
    pub(super) fn polled(
        &mut self,
        path: &str,
        node: impl Into<Option<u64>>,
        outcome: Outcome,
        polls: u64,
        busy_ns: u64,
        body: impl FnOnce(&mut Run),
    ) -> EventId {
        let id = self.ended_call(path, node, outcome, body);
        self.writer.mark(self.lane, self.now, Mark::Polls, [id.raw(), busy_ns, polls]);
        id
    }

    /// States why a production never matched.
    pub(super) fn shadow(&mut self, production: &str, reason: &str) {
        self.writer.entry(Entry::Kind, u32::from(SHADOW.0), &[0], &["Shadow", ""]);
        self.writer.entry(
            Entry::Label,
            u32::from(SHADOW.0),
            &[self.sites[production].into()],
            &[reason],
        );
    }

    /// Ends a subject.
    pub(super) fn forget(&mut self, node: u64) {
        self.writer.entry(Entry::Ended, u32::from(NODE.0), &[node, self.now], &[]);
    }

    /// Emits an instant below a cause, or below the call around it if `cause` is `None`.
    pub(super) fn instant(
        &mut self,
        path: &str,
        node: impl Into<Option<u64>>,
        cause: Option<EventId>,
    ) -> EventId {
        let around = self.open.get(&self.lane).and_then(|open| open.last().copied());
        let id = self.begin(path, node.into(), cause.or(around));
        self.writer.end(id, 0, Outcome::Instant);
        id
    }

    /// Adds a further reason to an event.
    pub(super) fn link(&mut self, effect: EventId, reason: EventId) {
        self.writer.mark(self.lane, self.now, Mark::Link, [effect.raw(), reason.raw(), 0]);
    }

    /// Advances the clock.
    pub(super) fn work(&mut self, ns: u64) {
        self.now += ns;
    }

    /// Continues on the thread of a lane.
    pub(super) fn on(&mut self, lane: u32) {
        self.lane = lane;
    }

    /// Returns the recording.
    pub(super) fn store(&self) -> Store {
        self.writer.store()
    }

    /// Returns the findings with these settings, including the kinds that the user defines.
    pub(super) fn findings_of(self, config: &Config) -> Findings {
        find(&self.writer.store(), config)
    }

    /// Returns the findings of a detector.
    pub(super) fn findings(self, detector: impl Detector + 'static) -> Findings {
        find_by(&self.store(), &Config::default(), vec![Box::new(detector)])
    }

    /// Returns the titles of the findings of a detector, with the numbers of their evidence.
    pub(super) fn found(self, detector: impl Detector + 'static) -> Vec<String> {
        let findings = self.findings(detector);
        assert_eq!(findings.not_looked_for, []);
        let text = |numbers: &[(&str, u64)]| {
            numbers
                .iter()
                .map(|(name, number)| format!("{name}={number}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let found = findings.found.iter();
        found
            .map(|finding| format!("{}: {}", finding.title, text(&finding.evidence.numbers)))
            .collect()
    }

    fn begin(&mut self, path: &str, node: Option<u64>, cause: Option<EventId>) -> EventId {
        if !self.sites.contains_key(path) {
            self.site(path, SiteKind::Method);
        }
        let subject = node.map_or(Subject::NONE, |key| Subject::new(self.kind, key));
        let draft = Draft {
            lane: self.lane,
            site: self.sites[path],
            subject,
            start: self.now,
            span: None,
            cause,
            ..Draft::default()
        };
        self.writer.event(draft)
    }
}
