//! Compiled filters. Names are replaced by numbers, so that a test of an event takes a few instructions, and summaries
//! exclude most chunks.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use crate::Store;
use crate::causes::links::Links;
use crate::causes::reasons::{Reached, Reasons};
use crate::event::EventId;
use crate::filter::selector::Selector;
use crate::filter::{Compare, Condition, Filter, SubjectCondition};
use crate::platform::lock::lock;
use crate::scan::blocks::{Head, Ring, Slot};
use crate::scan::chunks::{Chunk, Summary};
use crate::scan::lanes::RecordedLane;
use crate::tally::measure::Measure;
use metaspy_format::row::OTHERS;
use metaspy_format::slot::{self, ALL_OUTCOMES};
use metaspy_format::summary::bit;
use metaspy_probe::SiteId;
use metaspy_probe::Subject;

/// A compiled filter.
#[derive(Clone)]
pub struct Matcher {
    /// Cheap tests first.
    pub(super) tests: Vec<(bool, Test)>,
    places: u64,
    /// The members of a view, if only their events match.
    members: Option<Members>,
}

#[derive(Clone)]
pub(super) enum Test {
    Site(Sites),
    Subject(HashSet<Subject>),
    Key(u64),
    Kind(HashSet<u16>),
    KindKey(HashSet<u16>, u64),
    /// Ticks.
    Took(Compare, u64),
    Outcome(u8),
    Lane(HashSet<u32>),
    Level(Compare, u64),
    /// First and last.
    Levels(u8, u8),
    Epoch(Compare, u64),
    Text(Sites, HashSet<Subject>),
    /// With the number of its walk in [`Memory`].
    Cause(Sites, usize),
    /// On the site or the subject of the direct cause.
    DirectCause(Box<Test>),
}

/// A set of sites.
#[derive(Clone)]
pub(super) struct Sites {
    bits: Vec<u64>,
    /// The bits of the sites in the filter of a summary.
    mask: u64,
}

impl Sites {
    fn of(store: &Store, wanted: impl Fn(&str) -> bool) -> Self {
        let mut sites = Sites { bits: Vec::new(), mask: 0 };
        for site in store.sites().iter().filter(|site| wanted(&site.path)) {
            let (word, place) = (site.id.0 as usize / 64, site.id.0 % 64);
            if sites.bits.len() <= word {
                sites.bits.resize(word + 1, 0);
            }
            sites.bits[word] |= 1 << place;
            sites.mask |= bit(site.id.0);
        }
        sites
    }

    fn selected(store: &Store, selector: &Selector) -> Self {
        Self::of(store, |path| selector.matches(path))
    }

    #[inline]
    pub(super) fn contains(&self, site: u32) -> bool {
        let bit = 1 << (site % 64);
        self.bits.get(site as usize / 64).is_some_and(|word| word & bit != 0)
    }
}

/// The members of a view: sites, and subjects at them.
#[derive(Clone)]
pub struct Members(Arc<dyn Fn(SiteId, Option<Subject>) -> bool + Send + Sync>);

impl Members {
    /// The members for which `belongs` is true.
    pub fn new(belongs: impl Fn(SiteId, Option<Subject>) -> bool + Send + Sync + 'static) -> Self {
        Members(Arc::new(belongs))
    }

    /// True if a subject at a site is a member. `None` for the row of others of a site, because its subjects are
    /// unknown.
    #[inline]
    fn holds(&self, site: SiteId, subject: Option<Subject>) -> Option<bool> {
        match subject {
            Some(Subject { kind, .. }) if kind.0 == OTHERS => self.0(site, None).then_some(true),
            subject => Some(self.0(site, subject)),
        }
    }
}

impl std::fmt::Debug for Members {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Members(..)")
    }
}

/// The memory of a thread that tests events: the reasons of these events.
pub struct Memory {
    walks: Vec<Reasons>,
    /// True if the direct cause of some event left the window.
    lost_causes: bool,
}

impl Memory {
    /// True if a chain of reasons was not followed to its end: it took too long, or led out of the window.
    pub fn is_incomplete(&self) -> bool {
        self.lost_causes || self.walks.iter().any(|reasons| reasons.is_exhausted() || reasons.left_window())
    }
}

/// The direct cause of an event.
pub(crate) enum DirectCause {
    /// It has none.
    None,
    /// It is in the window.
    Known(Slot),
    /// It is an event of another process.
    Remote,
    /// It left the window.
    Left,
}

impl DirectCause {
    /// The cause of the event in a slot.
    pub fn of(ring: Ring<'_>, slot: &Slot) -> DirectCause {
        let Some(cause) = EventId::from_raw(slot.cause) else { return DirectCause::None };
        match ring.peek(cause) {
            Some((_, slot)) => DirectCause::Known(slot),
            None if ring.remote(cause).is_some() => DirectCause::Remote,
            None => DirectCause::Left,
        }
    }
}

impl Matcher {
    fn compile(store: &Store, filter: &Filter, levels: &RangeInclusive<u8>) -> Self {
        let mut causes = 0;
        let mut tests: Vec<(bool, Test)> = Vec::new();
        if !filter.mentions_level() {
            // Calls of metaspy itself and of its handlers match only if the filter has a `level:` term.
            tests.push((false, Test::Levels(*levels.start(), *levels.end())));
        }
        for term in &filter.terms {
            let test = Test::new(store, &term.condition, causes);
            causes += usize::from(matches!(test, Test::Cause(..)));
            tests.push((term.negated, test));
        }
        tests.sort_by_key(|(_, test)| match test {
            Test::Cause(..) => 2,
            Test::DirectCause(_) => 1,
            _ => 0,
        });
        Matcher { tests, places: store.ring().places(), members: None }
    }

    /// The same filter, restricted to the members of a view.
    pub fn among(&self, members: Option<&Members>) -> Self {
        Matcher { members: members.cloned(), ..self.clone() }
    }

    /// The levels that match, if there is no other condition.
    pub fn only_levels(&self) -> Option<RangeInclusive<u8>> {
        match self.tests[..] {
            _ if self.members.is_some() => None,
            [] => Some(0..=3),
            [(false, Test::Levels(first, last))] => Some(first..=last),
            _ => None,
        }
    }

    /// A memory for one thread.
    pub fn memory(&self, store: &Store) -> Memory {
        let links = if self.follows_reasons() { store.all_links() } else { Links::none() };
        self.memory_with(&links)
    }

    /// A memory for one thread. The links matter only if the filter follows reasons.
    pub(crate) fn memory_with(&self, links: &Arc<Links>) -> Memory {
        let causes = self.tests.iter().filter(|(_, test)| matches!(test, Test::Cause(..))).count();
        Memory { walks: (0..causes).map(|_| Reasons::new(self.places, links)).collect(), lost_causes: false }
    }

    /// True if a condition is about the reasons of events.
    pub(crate) fn follows_reasons(&self) -> bool {
        self.tests.iter().any(|(_, test)| matches!(test, Test::Cause(..)))
    }

    /// False if no event of the chunk can match.
    pub fn wants_chunk(&self, chunk: &Chunk) -> bool {
        chunk.summary.is_none_or(|summary| self.wants_summary(&summary))
    }

    /// False if no event of a chunk with this summary can match.
    pub fn wants_summary(&self, summary: &Summary) -> bool {
        summary.events != 0
            && self.tests.iter().all(|(negated, test)| {
                *negated
                    || match test {
                        Test::Site(sites) => summary.sites & sites.mask != 0,
                        Test::Text(sites, labelled) => summary.sites & sites.mask != 0 || !labelled.is_empty(),
                        Test::Lane(lanes) => lanes.iter().any(|&lane| summary.lanes & bit(lane) != 0),
                        Test::Epoch(compare, epoch) => {
                            let (first, last) = summary.epochs;
                            match compare {
                                Compare::Less | Compare::AtMost => compare.holds(first.into(), *epoch),
                                Compare::More | Compare::AtLeast => compare.holds(last.into(), *epoch),
                                Compare::Equal => (u64::from(first)..=u64::from(last)).contains(epoch),
                            }
                        }
                        _ => true,
                    }
            })
    }

    /// False if no event of the block can match.
    pub fn wants_block(&self, head: &Head) -> bool {
        self.tests.iter().all(|(negated, test)| match test {
            Test::Lane(lanes) => lanes.contains(&head.lane) != *negated,
            Test::Epoch(compare, epoch) => compare.holds(head.epoch.into(), *epoch) != *negated,
            _ => true,
        })
    }

    /// True if an event matches.
    #[inline]
    pub fn matches(&self, ring: Ring<'_>, head: &Head, slot: &Slot, memory: &mut Memory) -> bool {
        let belongs = |members: &Members| members.holds(SiteId(slot.site), slot.subject()) == Some(true);
        self.members.as_ref().is_none_or(belongs)
            && self.tests.iter().all(|(negated, test)| {
                let holds = match test {
                    Test::Took(compare, ticks) => slot.span().is_some_and(|span| compare.holds(span, *ticks)),
                    Test::Outcome(bits) => {
                        let outcome = 1 << slot.outcome_bits();
                        bits & outcome != 0
                    }
                    Test::Lane(lanes) => lanes.contains(&head.lane),
                    Test::Level(compare, level) => compare.holds(slot::level(slot.end).into(), *level),
                    Test::Levels(first, last) => (*first..=*last).contains(&slot::level(slot.end)),
                    Test::Cause(sites, walk) => {
                        let matching = Reached(|_: EventId, slot: &Slot| sites.contains(slot.site));
                        memory.walks[*walk].inherited(ring, head.id(slot.slot), slot, &matching) == 1
                    }
                    Test::DirectCause(test) => match DirectCause::of(ring, slot) {
                        DirectCause::Known(cause) => test.of_row(cause.site, cause.subject(), 0, false) == Some(true),
                        DirectCause::None | DirectCause::Remote => false,
                        DirectCause::Left => {
                            memory.lost_causes = true;
                            false
                        }
                    },
                    Test::Subject(..)
                    | Test::Site(..)
                    | Test::Key(..)
                    | Test::Kind(..)
                    | Test::KindKey(..)
                    | Test::Text(..)
                    | Test::Epoch(..) => test.of_row(slot.site, slot.subject(), head.epoch, false).unwrap_or(false),
                };
                holds != *negated
            })
    }

    /// True if a row of a tally matches; `None` if a condition needs a value that a row does not have.
    pub fn matches_row(&self, site: u32, subject: Option<Subject>, epoch: u32, meta: bool) -> Option<bool> {
        let asks_for_outcomes = self.tests.iter().any(|(_, test)| matches!(test, Test::Outcome(_)));
        let holds = self.selects_in_row(site, subject, epoch, meta, None);
        if asks_for_outcomes && holds == Some(true) { None } else { holds }
    }

    /// The outcomes that match, one bit each. A row counts its calls by outcome, so this condition selects calls within a row.
    pub fn outcomes(&self) -> u8 {
        self.tests.iter().fold(ALL_OUTCOMES, |outcomes, (negated, test)| match test {
            Test::Outcome(bits) if *negated => outcomes & !bits,
            Test::Outcome(bits) => outcomes & bits,
            _ => outcomes,
        })
    }

    /// True if a condition is about causes, and this site is one of them.
    pub(crate) fn is_cause(&self, site: u32) -> bool {
        self.tests.iter().any(|(_, test)| match test {
            Test::Cause(sites, _) => sites.contains(site),
            // Nothing is known of the subject of a cause without an event.
            Test::DirectCause(test) => !matches!(&**test, Test::Site(sites) if !sites.contains(site)),
            _ => false,
        })
    }

    /// As [`Matcher::matches_row`], for the calls of the row that end in one of [`Matcher::outcomes`]. The numbers of the row
    /// may decide a condition on its lengths.
    pub fn selects_in_row(
        &self,
        site: u32,
        subject: Option<Subject>,
        epoch: u32,
        meta: bool,
        calls: Option<&Measure>,
    ) -> Option<bool> {
        let belongs = self.members.as_ref().map_or(Some(true), |members| members.holds(SiteId(site), subject));
        if belongs == Some(false) {
            return Some(false);
        }
        let mut known = belongs.is_some();
        for (negated, test) in self.tests.iter().filter(|(_, test)| !matches!(test, Test::Outcome(_))) {
            let holds = match (test, calls) {
                (Test::Took(compare, ticks), Some(calls)) => of_longest(*compare, *ticks, calls),
                _ => test.of_row(site, subject, epoch, meta),
            };
            match holds {
                // This row is excluded, whatever the other conditions are.
                Some(holds) if holds == *negated => return Some(false),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(true)
    }
}

impl Matcher {
    /// True if it selects all calls at a site or none.
    pub fn selects_whole_sites(&self) -> bool {
        let is_of_site = |test: &Test| matches!(test, Test::Site(_) | Test::Levels(..));
        self.members.is_none() && self.tests.iter().all(|(_, test)| is_of_site(test))
    }

    /// True if it selects all calls on a subject or none.
    pub fn selects_whole_subjects(&self) -> bool {
        let is_of_subject = |test: &Test| {
            matches!(test, Test::Subject(_) | Test::Key(_) | Test::Kind(_) | Test::KindKey(..) | Test::Levels(..))
        };
        self.members.is_none() && self.tests.iter().all(|(_, test)| is_of_subject(test))
    }
}

impl Test {
    /// The test of a condition. The next walk along reasons has this number.
    fn new(store: &Store, condition: &Condition, walk: usize) -> Test {
        match condition {
            Condition::Site(selector) => Test::Site(Sites::selected(store, selector)),
            Condition::Cause(selector) => Test::Cause(Sites::selected(store, selector), walk),
            Condition::DirectCause(condition) => Test::DirectCause(Box::new(Test::new(store, condition, walk))),
            Condition::Subject(SubjectCondition::Key(key)) => Test::Key(*key),
            Condition::Subject(SubjectCondition::Address(key)) => Test::KindKey(places(store), *key),
            Condition::Subject(SubjectCondition::KindKey(kind, key)) => Test::KindKey(kinds(store, kind), *key),
            Condition::Subject(SubjectCondition::Exactly(subject)) => {
                Test::KindKey(HashSet::from([subject.kind.0]), subject.key)
            }
            Condition::Subject(SubjectCondition::Label(text)) => Test::Subject(labelled(store, text)),
            Condition::Kind(kind) => Test::Kind(kinds(store, kind)),
            Condition::Took(compare, ns) => Test::Took(*compare, store.time().ticks(*ns)),
            Condition::Outcome(bits) => Test::Outcome(*bits),
            Condition::Lane(name) => Test::Lane(lanes(store, name)),
            Condition::Level(compare, level) => Test::Level(*compare, *level),
            Condition::Epoch(compare, epoch) => Test::Epoch(*compare, *epoch),
            Condition::Text(text) => {
                Test::Text(Sites::of(store, |path| path.to_lowercase().contains(text)), labelled(store, text))
            }
        }
    }

    /// The test on the values that events and rows both have.
    #[inline]
    fn of_row(&self, site: u32, subject: Option<Subject>, epoch: u32, meta: bool) -> Option<bool> {
        let is_others = subject.is_some_and(|subject| subject.kind.0 == OTHERS);
        Some(match self {
            // The subjects in the row of others are unknown.
            Test::Subject(..) | Test::Key(..) | Test::Kind(..) | Test::KindKey(..) if is_others => return None,
            Test::Text(sites, _) if is_others && !sites.contains(site) => return None,
            Test::Site(sites) => sites.contains(site),
            Test::Subject(subjects) => subject.is_some_and(|subject| subjects.contains(&subject)),
            Test::Key(key) => subject.is_some_and(|subject| subject.key == *key),
            Test::Kind(kinds) => subject.is_some_and(|subject| kinds.contains(&subject.kind.0)),
            Test::KindKey(kinds, key) => {
                subject.is_some_and(|subject| subject.key == *key && kinds.contains(&subject.kind.0))
            }
            Test::Text(sites, labelled) => {
                sites.contains(site) || subject.is_some_and(|subject| labelled.contains(&subject))
            }
            Test::Epoch(compare, number) => compare.holds(epoch.into(), *number),
            // A row records only that a level is above the application's, not which.
            Test::Levels(first, last) => {
                if meta {
                    *last > 0
                } else {
                    *first == 0
                }
            }
            Test::Level(compare, level) if !meta => compare.holds(0, *level),
            Test::Level(compare, level) => match (1..=3).filter(|&of| compare.holds(of, *level)).count() {
                0 => false,
                3 => true,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// True or false if a condition on the length holds, or fails, for all calls of a row, which follows from the longest one.
fn of_longest(compare: Compare, ticks: u64, calls: &Measure) -> Option<bool> {
    let is_longest_below = match compare {
        Compare::More | Compare::AtLeast => !compare.holds(calls.max_ticks, ticks),
        Compare::Less | Compare::AtMost => compare.holds(calls.max_ticks, ticks),
        Compare::Equal => calls.max_ticks < ticks,
    };
    // A row of late ends has times of calls that are counted elsewhere.
    let is_all_timed = calls.count > 0 && calls.timed == calls.count && calls.running == 0;
    (is_all_timed && is_longest_below).then_some(matches!(compare, Compare::Less | Compare::AtMost))
}

fn kinds(store: &Store, name: &str) -> HashSet<u16> {
    store.kinds().filter(|kind| kind.is_named(name)).map(|kind| kind.id.0).collect()
}

fn places(store: &Store) -> HashSet<u16> {
    store.names().kinds.values().filter(|kind| kind.place).map(|kind| kind.id.0).collect()
}

fn labelled(store: &Store, text: &str) -> HashSet<Subject> {
    let labels = store.names().labels.iter();
    labels.filter(|(_, label)| label.to_lowercase().contains(text)).map(|(&subject, _)| subject).collect()
}

fn lanes(store: &Store, name: &str) -> HashSet<u32> {
    let number = name.trim_start_matches('#').parse().ok();
    let lanes = store.lanes().into_iter();
    // In a merged recording a thread's own name selects the threads of all processes.
    let is_own = |lane: &RecordedLane| {
        let process = store.process_of(lane.id);
        process.is_some_and(|process| lane.name == format!("{}/{name}", process.label))
    };
    let is_named = |lane: &RecordedLane| lane.name == name || is_own(lane);
    lanes.filter(|lane| is_named(lane) || Some(lane.id.0) == number).map(|lane| lane.id.0).chain(number).collect()
}

/// The last compiled filters. A screen that is drawn again does not compile them again.
#[derive(Default)]
pub struct Compiled(Mutex<Vec<(Key, Arc<Matcher>)>>);

/// The filter, the levels that match if it has no `level:` term, and the number of lanes at that time.
type Key = (Filter, RangeInclusive<u8>, u64);

/// Compiled filters in memory.
const KEPT: usize = 4;

impl Store {
    /// The filter, compiled for this recording. `levels` match if it has no `level:` term.
    pub fn compile(&self, filter: &Filter, levels: RangeInclusive<u8>) -> Arc<Matcher> {
        // The table of lanes can grow without any other change.
        let key = (filter.clone(), levels, self.header().lanes_used);
        let mut kept = lock(&self.compiled.0);
        if let Some((_, matcher)) = kept.iter().find(|(known, _)| *known == key) {
            return matcher.clone();
        }
        let matcher = Arc::new(Matcher::compile(self, filter, &key.1));
        kept.insert(0, (key, matcher.clone()));
        kept.truncate(KEPT);
        matcher
    }
}
