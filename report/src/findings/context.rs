//! Knowledge of the recording that all detectors share.

use std::sync::OnceLock;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::{KindId, SiteId, SiteKind, Subject, unqualified};
use metaspy_reader::{
    AllMarks, Event, EventId, Filter, Origin, Outcome, Pairs, Polls, Reason, ResolvedEvent, Store,
    Survey, Totals,
};

use super::finding::NAMED;
use super::map::{HashMap, HashSet};
use super::{Certainty, Config, FoundSite, FoundSubject, FoundSubjects};
use crate::program::Program;
use crate::rows::text::unrecorded;
use crate::text::{counted, grouped, short_path, short_path_of_trait};
use crate::types::Types;

/// Word in the facts of a function whose hook does not see the returned value.
const UNSEEN: &str = "unseen";

/// Recording of a search, with the facts that are known before its first event.
#[derive(Debug)]
pub struct Context<'s> {
    /// The recording.
    pub store: &'s Store,
    /// Settings of the search.
    pub config: &'s Config,
    /// Counts and times of the window.
    pub survey: &'s Survey,
    /// Number of all calls, and how many of them are events.
    pub totals: Totals,
    /// Pairs of site and subject, by the row of an event. Empty until the last event was read.
    pub pairs: Pairs,
    /// Facts that detectors ask about the site of each event, by the number of the site.
    sites: Vec<OfSite>,
    /// True if the recording is of tests.
    has_tests: bool,
    /// Kinds of sites with events.
    site_kinds: HashSet<SiteKind>,
    /// True for kinds of subjects that are places in memory, by number.
    places: Vec<bool>,
    /// Kinds of places that stand for one object each, known after the last event.
    lasting: OnceLock<HashSet<KindId>>,
    /// Program and types of the recording, which are read when a kind of finding needs them.
    program: OnceLock<Program>,
    types: OnceLock<Types>,
    /// Details and polls, if there are async calls.
    marks: Option<AllMarks<'s>>,
}

/// Facts about a site that detectors ask for at each event.
#[derive(Clone, Copy, Debug)]
struct OfSite {
    kind: SiteKind,
    /// True if a call that ends as failed has failed, and has not answered with a `None`.
    fails: bool,
    /// True if the path of the site says that its events are receipts.
    is_received: bool,
}

impl OfSite {
    /// Facts of a site that the recording does not name.
    const UNNAMED: OfSite = OfSite { kind: SiteKind::Method, fails: true, is_received: false };
}

/// Test that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OfTest {
    /// The event belongs to no test.
    None,
    /// The event is the event of this test, or caused by it.
    Test(EventId),
    /// The test is not known, because some causes of the event left the window.
    Unknown,
}

impl<'s> Context<'s> {
    pub(super) fn new(store: &'s Store, config: &'s Config, survey: &'s Survey) -> Self {
        let mut sites = Vec::new();
        let mut has_tests = false;
        for site in store.sites() {
            let at = site.id.0 as usize;
            sites.resize(sites.len().max(at + 1), OfSite::UNNAMED);
            sites[at] = OfSite {
                kind: site.kind,
                fails: site.kind != SiteKind::Production && site.failure() != "none",
                is_received: site.path.ends_with("::received"),
            };
            has_tests |= site.facts.split(' ').any(|word| word == "test");
        }
        let mut places = Vec::new();
        for kind in store.kinds().filter(|kind| kind.place) {
            let at = usize::from(kind.id.0);
            places.resize(places.len().max(at + 1), false);
            places[at] = true;
        }
        let mut context = Context {
            store,
            config,
            survey,
            totals: store.totals(),
            pairs: Pairs::default(),
            sites,
            has_tests,
            site_kinds: HashSet::default(),
            places,
            lasting: OnceLock::new(),
            program: OnceLock::new(),
            types: OnceLock::new(),
            marks: None,
        };
        context.site_kinds =
            context.sites_with_events().map(|site| context.site_kind(site)).collect();
        context.marks = context.site_kinds.contains(&SiteKind::Async).then(|| store.all_marks());
        context
    }

    /// Iterates over the sites with events.
    pub(crate) fn sites_with_events(&self) -> impl Iterator<Item = SiteId> {
        let numbers = (0..).zip(&self.survey.sites);
        numbers.filter(|(_, site)| site.events > 0).map(|(number, _)| SiteId(number))
    }

    /// Returns the sites of this kind that have events.
    pub(super) fn sites_of(&self, kind: SiteKind) -> Vec<SiteId> {
        self.sites_with_events().filter(|site| self.site_kind(*site) == kind).collect()
    }

    /// Returns all sites with events if `condition` is true, and none otherwise.
    pub(super) fn all_sites_if(&self, condition: bool) -> Vec<SiteId> {
        self.sites_with_events().filter(|_| condition).collect()
    }

    /// Returns true if the source of a site's function calls functions that wait.
    pub(super) fn waits_in_source(&self, site: SiteId) -> bool {
        let site = self.store.site(site);
        site.is_some_and(|site| site.facts.split(' ').any(|word| word == "waits"))
    }

    /// Returns true if a site of this kind has events.
    pub(super) fn has_events_of(&self, kind: SiteKind) -> bool {
        self.site_kinds.contains(&kind)
    }

    /// Returns true if the subjects of a kind are places in memory: nothing but an address tells
    /// them apart.
    pub fn is_place(&self, kind: KindId) -> bool {
        self.places.get(usize::from(kind.0)).is_some_and(|is_place| *is_place)
    }

    /// Returns true if events on a subject are taken to be on one object, after the last event was
    /// read.
    ///
    /// Memory is used again, so a place has many objects in turn. Where no call of a kind takes
    /// `&mut self`, its objects are values, such as numbers and keys, which are copied from place
    /// to place and never change.
    pub(crate) fn is_one_object(&self, subject: Subject) -> bool {
        !self.is_place(subject.kind)
            || self.lasting.get_or_init(|| self.lasting_kinds()).contains(&subject.kind)
    }

    /// Returns the kinds of places for which some call takes `&mut self`.
    fn lasting_kinds(&self) -> HashSet<KindId> {
        let mut changes: HashMap<SiteId, bool> = HashMap::default();
        let mut kinds = HashSet::default();
        for (site, subject) in self.pairs.iter() {
            if let Some(Subject { kind, .. }) = subject
                && self.is_place(kind)
                && *changes.entry(site).or_insert_with(|| {
                    self.facts(site).is_some_and(|facts| facts.self_kind == SelfKind::Mut)
                })
            {
                kinds.insert(kind);
            }
        }
        kinds
    }

    /// Returns true if the recording is of tests.
    pub(super) fn has_tests(&self) -> bool {
        self.has_tests
    }

    /// Returns the test that an event belongs to. A test makes its own objects, so objects of two
    /// tests are not compared.
    pub(super) fn test_of(&self, id: EventId) -> OfTest {
        if !self.has_tests {
            return OfTest::None;
        }
        let mut causes = self.store.causes(id);
        let root = causes.by_ref().last().or_else(|| self.store.event(id));
        match (root, causes.origin()) {
            (Some(root), Origin::Root)
                if self.facts(root.site).is_some_and(|facts| facts.is_test) =>
            {
                OfTest::Test(root.id)
            }
            (Some(_), Origin::Root) => OfTest::None,
            _ => OfTest::Unknown,
        }
    }

    /// Returns true if some of these events are of a test, which chooses its inputs and makes
    /// failures happen.
    pub(super) fn are_of_tests(&self, events: &[EventId]) -> bool {
        events.iter().any(|id| self.test_of(*id) != OfTest::None)
    }

    /// Returns the program of the recording.
    pub fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::read(self.store, &Filter::default()))
    }

    /// Returns the types that arrived.
    pub fn types(&self) -> &Types {
        self.types.get_or_init(|| Types::read([self.store]))
    }

    /// Returns the kind of a site; a method if the recording does not name the site.
    pub(crate) fn site_kind(&self, site: SiteId) -> SiteKind {
        self.of_site(site).kind
    }

    fn of_site(&self, site: SiteId) -> &OfSite {
        self.sites.get(site.0 as usize).unwrap_or(&OfSite::UNNAMED)
    }

    /// Returns a site as it is named in a finding.
    pub fn site(&self, id: SiteId) -> FoundSite {
        let known = self.store.site(id).map(FoundSite::of_site);
        known.unwrap_or_else(|| FoundSite { id, ..FoundSite::of_path(self.store.site_path(id)) })
    }

    /// Returns true if an event failed: it returned an `Err` or panicked. A `None` is an answer,
    /// and so is the end of an iterator. A parser tries productions that do not match.
    pub fn is_failure(&self, event: &ResolvedEvent) -> bool {
        match event.event.outcome {
            Outcome::Panicked => self.site_kind(event.event.site) != SiteKind::Production,
            Outcome::Failed => self.of_site(event.event.site).fails,
            _ => false,
        }
    }

    /// Returns the number of a site's events that failed, as [`Context::is_failure`] has it.
    pub(super) fn failures_of(&self, site: SiteId) -> u64 {
        let numbers = self.survey.site(site);
        let failed = if self.of_site(site).fails { numbers.failed } else { 0 };
        let panicked =
            if self.site_kind(site) == SiteKind::Production { 0 } else { numbers.panicked };
        failed + panicked
    }

    /// Returns the sending of a message, if an event is its receipt. The receipt of a channel is an
    /// instant, and that of a list of callbacks lasts as long as the callback.
    pub fn sending<'e>(&self, event: &'e ResolvedEvent) -> Option<&'e Reason> {
        let site = event.event.site;
        let OfSite { kind: SiteKind::Announcement, is_received, .. } = *self.of_site(site) else {
            return None;
        };
        let sending = event.cause.event().filter(|cause| cause.site != site)?;
        let is_announced = self.site_kind(sending.site) == SiteKind::Announcement;
        let is_receipt = event.event.outcome == Outcome::Instant || is_received;
        (is_announced && is_receipt).then_some(sending)
    }

    /// Returns the recorded facts about the function of a site.
    pub fn facts(&self, site: SiteId) -> Option<Facts> {
        self.store.site(site).and_then(|site| site.facts())
    }

    /// Returns the ticks for which an event keeps its thread busy. An async call keeps it busy in
    /// its polls only.
    pub fn busy_ticks(&self, event: &ResolvedEvent) -> u64 {
        match self.site_kind(event.event.site) {
            SiteKind::Async => self.polls(&event.event).map_or(0, |polls| polls.busy_ticks),
            _ => event.event.span.unwrap_or(0),
        }
    }

    /// Returns the polls of an async call, as [`Store::polls`] does, without a search for each. `None`
    /// for events of other kinds.
    pub fn polls(&self, event: &Event) -> Option<Polls> {
        self.marks.as_ref()?.polls(event)
    }

    /// Returns the type and the method of a site: `Scene::layout`. A method of a trait is named
    /// with its trait and the type that implements it: `Scene::Display::fmt`.
    pub fn name(&self, site: SiteId) -> &'s str {
        let path = self.store.site_path(site);
        let words = self.store.site(site).map_or("", |site| site.facts.as_str());
        let has = |key: &str| words.split(' ').any(|word| word.starts_with(key));
        if has("type=") && has("trait=") { short_path_of_trait(path) } else { short_path(path) }
    }

    /// Returns the filter that selects the events of a site.
    pub fn filter(&self, site: SiteId) -> String {
        format!("site:{}", unqualified(self.store.site_path(site)))
    }

    /// Converts a number of ticks to nanoseconds.
    pub fn ns(&self, ticks: u64) -> u64 {
        self.store.span_ns(ticks)
    }

    /// Returns the nanoseconds from the first to the last event.
    pub fn recorded_ns(&self) -> u64 {
        let header = self.store.header();
        self.ns(header.last_tick.saturating_sub(header.first_tick))
    }

    /// Returns subjects as they are named in a finding, those with the most events first.
    pub fn subjects(&self, events: &HashMap<Subject, u64>) -> FoundSubjects {
        let mut worst: Vec<(Subject, u64)> =
            events.iter().map(|(subject, events)| (*subject, *events)).collect();
        worst.sort_by_key(|&(subject, events)| (std::cmp::Reverse(events), subject));
        worst.truncate(NAMED);
        let mut kinds: Vec<_> = events.keys().map(|subject| subject.kind).collect();
        kinds.sort();
        kinds.dedup();
        let kind = match kinds[..] {
            [only] => {
                self.store.kind(only).map(|kind| kind.short_name().to_owned()).unwrap_or_default()
            }
            _ => String::new(),
        };
        let named = |(subject, events)| FoundSubject {
            subject,
            text: self.store.subject_text(subject),
            events,
        };
        FoundSubjects {
            kind,
            count: events.len() as u64,
            worst: worst.into_iter().map(named).collect(),
        }
    }

    /// Returns a sentence if the recording has no events.
    pub(crate) fn missing_events(&self) -> Option<String> {
        let missing = match self.totals.counted {
            0 => unrecorded(self.store),
            _ => {
                "its calls were only counted: record events with METASPY_MODE=full (`METASPY_MODE=full cargo metaspy run`)"
            }
        };
        (self.survey.events == 0).then(|| missing.to_owned())
    }

    /// Returns a sentence if calls are missing between events of the window. A finding that states
    /// that something did *not* happen needs all of them.
    pub fn missing_calls(&self) -> Option<String> {
        let Totals { counted: only_counted, lost, unnamed, .. } = self.totals;
        let missing = lost.saturating_add(unnamed);
        if missing > 0 {
            let lost = format!("{} found no room as events", counted(missing, "call"));
            return Some(format!("{lost}: record with a larger METASPY_BUDGET"));
        }
        let damage = self.store.missing().first().cloned();
        let only_counted = (only_counted > 0).then(|| {
            format!("{} were only counted: record them as events", counted(only_counted, "call"))
        });
        self.missing_events().or(damage).or(only_counted)
    }

    /// Returns a sentence if functions ran whose hooks do not see whether they failed.
    pub(super) fn missing_failures(&self) -> Option<String> {
        let missing =
            "whether functions that return `Result` failed is not recorded: weave with --returns";
        let mut sites = self.store.sites().iter();
        let is_unseen = sites.any(|site| {
            let is_said = site.facts.split(' ').any(|word| word == UNSEEN);
            is_said && site.failure() != "none" && self.survey.events_of(site.id) > 0
        });
        is_unseen.then(|| missing.to_owned())
    }

    /// Returns a sentence if most of the calls are no events of the window.
    pub(super) fn missing_window(&self) -> Option<String> {
        let Totals { stored, emitted, counted: only_counted, .. } = self.totals;
        let variable = if only_counted > emitted / 2 {
            "METASPY_MODE=full"
        } else {
            "a larger METASPY_BUDGET"
        };
        let part = format!("{} of {} calls are events", grouped(stored), grouped(emitted));
        (stored < emitted / 2).then(|| format!("{part}: record with {variable}"))
    }

    /// Returns true if no event that began at the same time as this one or later has left the
    /// window.
    pub(crate) fn is_whole_since(&self, event: &ResolvedEvent) -> bool {
        event.event.start >= self.survey.whole_from
    }

    /// Returns the certainty of exact counts. They are lower bounds if events left the window.
    pub fn counted(&self, reason: &str) -> Certainty {
        let Totals { stored, emitted, .. } = self.totals;
        if stored == emitted {
            return Certainty::Proved(reason.to_owned());
        }
        let part = format!("of {} calls, {} are events", grouped(emitted), grouped(stored));
        Certainty::AtLeast(format!("{reason}; {part}"))
    }
}
