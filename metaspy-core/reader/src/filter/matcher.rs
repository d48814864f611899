//! Compiled filters. Names are replaced by numbers, so that a test of an event takes a few
//! instructions, and summaries exclude most chunks.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use crate::Store;
use crate::causes::reasons::{Reached, Reasons};
use crate::event::{EventId, Outcome};
use crate::filter::selector::Selector;
use crate::filter::{Compare, Condition, Filter, SubjectCondition};
use crate::measure::Measure;
use crate::names::RecordedSite;
use crate::platform::lock::lock;
use crate::ring::blocks::{Head, Ring, Slot};
use crate::ring::chunks::{Chunk, Summary};
use crate::ring::links::Links;
use crate::store::lanes::RecordedLane;
use metaspy_format::row::OTHERS;
use metaspy_format::slot::{self, ALL_OUTCOMES};
use metaspy_format::summary::bit;
use metaspy_probe::SiteId;
use metaspy_probe::Subject;

/// Compiled filter.
#[derive(Clone)]
pub struct Matcher {
    /// Tests in rising order of their cost, each with a flag for negation.
    pub(super) tests: Vec<(bool, Test)>,
    places: u64,
    /// Members of a view, if only their events match.
    members: Option<Members>,
    /// Sites whose calls are counted without their subjects.
    without_subjects: Sites,
}

#[derive(Clone)]
pub(super) enum Test {
    Site(Sites),
    Subject(HashSet<Subject>),
    Key(u64),
    Kind(HashSet<u16>),
    KindKey(HashSet<u16>, u64),
    /// Comparison with a number of ticks.
    Took(Compare, u64),
    Outcome(u8),
    Lane(HashSet<u32>),
    Level(Compare, u64),
    /// First and last level.
    Levels(u8, u8),
    Epoch(Compare, u64),
    Kept(bool),
    Text(Sites, HashSet<Subject>),
    /// Sites of causes, with the number of the walk in [`Memory`].
    Cause(Sites, usize),
    /// Test on the site or the subject of the direct cause.
    DirectCause(Box<Test>),
}

/// Set of sites.
#[derive(Clone)]
pub(super) struct Sites {
    bits: Vec<u64>,
    /// Bits of the sites in the filter of a summary.
    mask: u64,
}

impl Sites {
    fn of(store: &Store, wanted: impl Fn(&RecordedSite) -> bool) -> Self {
        let mut sites = Sites { bits: Vec::new(), mask: 0 };
        for site in store.sites().iter().filter(|site| wanted(site)) {
            let word = site.id.0 as usize / 64;
            let place = site.id.0 % 64;
            if sites.bits.len() <= word {
                sites.bits.resize(word + 1, 0);
            }
            sites.bits[word] |= 1 << place;
            sites.mask |= bit(site.id.0);
        }
        sites
    }

    fn selected(store: &Store, selector: &Selector) -> Self {
        Self::of(store, |site| selector.matches(&site.path))
    }

    #[inline]
    pub(super) fn contains(&self, site: u32) -> bool {
        let bit = 1 << (site % 64);
        self.bits.get(site as usize / 64).is_some_and(|word| word & bit != 0)
    }
}

/// Members of a view: sites, and subjects at them.
#[derive(Clone)]
pub struct Members(Arc<dyn Fn(SiteId, Option<Subject>) -> bool + Send + Sync>);

impl Members {
    /// Creates the set of members for which `belongs` is true.
    pub fn new(belongs: impl Fn(SiteId, Option<Subject>) -> bool + Send + Sync + 'static) -> Self {
        Members(Arc::new(belongs))
    }

    /// Returns true if a subject at a site is a member. `None` for the row of others of a site,
    /// because its subjects are unknown.
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

/// Memory of a thread that tests events, which holds the reasons of these events.
pub struct Memory {
    walks: Vec<Reasons>,
    /// True if the direct cause of some event left the window.
    lost_causes: bool,
}

impl Memory {
    /// Returns true if a chain of reasons was not followed to its end, because it was too long or
    /// led out of the window.
    pub fn is_incomplete(&self) -> bool {
        self.lost_causes
            || self.walks.iter().any(|reasons| reasons.is_exhausted() || reasons.left_window())
    }
}

/// Direct cause of an event.
pub(crate) enum DirectCause {
    /// The event has no cause.
    None,
    /// The cause is in the window.
    Known(Slot),
    /// The cause is an event of another process.
    Remote,
    /// The cause has left the window.
    Left,
}

impl DirectCause {
    /// Finds the cause of the event in a slot.
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
            // Calls of metaspy itself and of its handlers match only if the filter has a `level:`
            // term.
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
        let is_needed = tests.iter().any(|(_, test)| test.may_select_a_subject(u32::MAX));
        let without_subjects = Sites::of(store, |site| is_needed && site.counts_without_subjects());
        Matcher { tests, places: store.ring().places(), members: None, without_subjects }
    }

    /// Restricts the filter to the members of a view.
    pub fn among(&self, members: Option<&Members>) -> Self {
        Matcher { members: members.cloned(), ..self.clone() }
    }

    /// Returns the levels that match, if there is no other condition.
    pub(crate) fn only_levels(&self) -> Option<RangeInclusive<u8>> {
        match self.tests[..] {
            _ if self.members.is_some() => None,
            [] => Some(0..=3),
            [(false, Test::Levels(first, last))] => Some(first..=last),
            _ => None,
        }
    }

    /// Creates a memory for one thread.
    pub fn memory(&self, store: &Store) -> Memory {
        let links = if self.follows_reasons() { store.all_links() } else { Links::none() };
        self.memory_with(&links)
    }

    /// Creates a memory for one thread. The links matter only if the filter follows reasons.
    pub(crate) fn memory_with(&self, links: &Arc<Links>) -> Memory {
        let causes = self.tests.iter().filter(|(_, test)| matches!(test, Test::Cause(..))).count();
        Memory {
            walks: (0..causes).map(|_| Reasons::new(self.places, links)).collect(),
            lost_causes: false,
        }
    }

    /// Returns true if a condition is about the reasons of events.
    pub(crate) fn follows_reasons(&self) -> bool {
        self.tests.iter().any(|(_, test)| matches!(test, Test::Cause(..)))
    }

    /// Returns false if no event of the chunk can match.
    pub(crate) fn wants_chunk(&self, chunk: &Chunk) -> bool {
        chunk.summary.is_none_or(|summary| self.wants_summary(&summary))
    }

    /// Returns false if no event of a chunk with this summary can match.
    pub(crate) fn wants_summary(&self, summary: &Summary) -> bool {
        summary.events != 0
            && self.tests.iter().all(|(negated, test)| {
                *negated
                    || match test {
                        Test::Site(sites) => summary.sites & sites.mask != 0,
                        Test::Text(sites, labelled) => {
                            summary.sites & sites.mask != 0 || !labelled.is_empty()
                        }
                        Test::Lane(lanes) => {
                            lanes.iter().any(|&lane| summary.lanes & bit(lane) != 0)
                        }
                        Test::Epoch(compare, epoch) => {
                            let (first, last) = summary.epochs;
                            match compare {
                                Compare::Less | Compare::AtMost => {
                                    compare.holds(first.into(), *epoch)
                                }
                                Compare::More | Compare::AtLeast => {
                                    compare.holds(last.into(), *epoch)
                                }
                                Compare::Equal => {
                                    (u64::from(first)..=u64::from(last)).contains(epoch)
                                }
                            }
                        }
                        _ => true,
                    }
            })
    }

    /// Returns false if no event of the block can match.
    pub(crate) fn wants_block(&self, head: &Head) -> bool {
        self.tests.iter().all(|(negated, test)| match test {
            Test::Lane(lanes) => lanes.contains(&head.lane) != *negated,
            Test::Epoch(compare, epoch) => compare.holds(head.epoch.into(), *epoch) != *negated,
            Test::Kept(wanted) => (*wanted == head.is_kept) != *negated,
            _ => true,
        })
    }

    /// Returns true if an event matches.
    #[inline]
    pub fn matches(&self, ring: Ring<'_>, head: &Head, slot: &Slot, memory: &mut Memory) -> bool {
        self.members
            .as_ref()
            .is_none_or(|members| members.holds(SiteId(slot.site), slot.subject()) == Some(true))
            && self.tests.iter().all(|(negated, test)| {
                let holds = match test {
                    Test::Took(compare, ticks) => {
                        slot.span().is_some_and(|span| compare.holds(span, *ticks))
                    }
                    Test::Outcome(bits) => {
                        let outcome = 1 << slot.outcome_bits();
                        bits & outcome != 0
                    }
                    Test::Lane(lanes) => lanes.contains(&head.lane),
                    Test::Kept(wanted) => *wanted == head.is_kept,
                    Test::Level(compare, level) => {
                        compare.holds(slot::level(slot.end).into(), *level)
                    }
                    Test::Levels(first, last) => (*first..=*last).contains(&slot::level(slot.end)),
                    Test::Cause(sites, walk) => {
                        let matching = Reached(|_: EventId, slot: &Slot| sites.contains(slot.site));
                        memory.walks[*walk].inherited(ring, head.id(slot.slot), slot, &matching)
                            == 1
                    }
                    Test::DirectCause(test) => match DirectCause::of(ring, slot) {
                        DirectCause::Known(cause) => {
                            test.of_row(cause.site, cause.subject(), 0, false) == Some(true)
                        }
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
                    | Test::Epoch(..) => {
                        test.of_row(slot.site, slot.subject(), head.epoch, false).unwrap_or(false)
                    }
                };
                holds != *negated
            })
    }

    /// Returns true if a row of a tally matches; `None` if a condition needs a value that a row
    /// does not have.
    pub(crate) fn matches_row(
        &self,
        site: u32,
        subject: Option<Subject>,
        epoch: u32,
        meta: bool,
    ) -> Option<bool> {
        let asks_for_outcomes = self.tests.iter().any(|(_, test)| matches!(test, Test::Outcome(_)));
        let holds = self.selects_in_row(site, subject, epoch, meta, None);
        if asks_for_outcomes && holds == Some(true) { None } else { holds }
    }

    /// Returns the outcomes that match, one bit each. A row counts its calls by outcome, so this
    /// condition selects calls within a row.
    pub fn outcomes(&self) -> u8 {
        self.tests.iter().fold(ALL_OUTCOMES, |outcomes, (negated, test)| match test {
            Test::Outcome(bits) if *negated => outcomes & !bits,
            Test::Outcome(bits) => outcomes & bits,
            _ => outcomes,
        })
    }

    /// Returns false if no event of this site matches.
    pub fn may_match_site(&self, site: u32) -> bool {
        self.tests.iter().all(|(negated, test)| match test {
            Test::Site(sites) => sites.contains(site) != *negated,
            _ => true,
        })
    }

    /// Returns true if a condition is about kept events.
    pub(crate) fn asks_for_kept(&self) -> bool {
        self.tests.iter().any(|(_, test)| matches!(test, Test::Kept(_)))
    }

    /// Returns true if a call that returned matches or not, depending on whether it failed. The
    /// words `outcome:returned` select calls of which that is not known.
    pub(crate) fn asks_for_failures(&self) -> bool {
        let outcomes = [Outcome::Returned, Outcome::Succeeded, Outcome::Failed];
        let wanted = outcomes.map(|outcome| slot::has_outcome(self.outcomes(), outcome));
        !matches!(wanted, [true, true, true] | [false, false, false] | [true, false, false])
    }

    /// Returns true if a condition is about causes, and this site is one of them.
    pub(crate) fn is_cause(&self, site: u32) -> bool {
        self.tests.iter().any(|(_, test)| match test {
            Test::Cause(sites, _) => sites.contains(site),
            // The subject of a cause without an event is unknown.
            Test::DirectCause(test) => {
                !matches!(&**test, Test::Site(sites) if !sites.contains(site))
            }
            _ => false,
        })
    }

    /// Returns true if the calls of the row that end in one of [`Matcher::outcomes`] match, as
    /// [`Matcher::matches_row`] does. The numbers of the row may decide a condition on its lengths.
    pub(crate) fn selects_in_row(
        &self,
        site: u32,
        subject: Option<Subject>,
        epoch: u32,
        meta: bool,
        calls: Option<&Measure>,
    ) -> Option<bool> {
        let belongs = self
            .members
            .as_ref()
            .map_or(Some(true), |members| members.holds(SiteId(site), subject));
        if belongs == Some(false) {
            return Some(false);
        }
        let mut known = belongs.is_some();
        // Hooks that take the time look at the object, too.
        let only_counts = calls.is_some_and(|calls| calls.timed == 0);
        let is_unseen = only_counts && subject.is_none() && self.without_subjects.contains(site);
        for (negated, test) in
            self.tests.iter().filter(|(_, test)| !matches!(test, Test::Outcome(_)))
        {
            let holds = match (test, calls) {
                (Test::Took(compare, ticks), Some(calls)) => of_longest(*compare, *ticks, calls),
                _ if is_unseen && test.may_select_a_subject(site) => None,
                _ => test.of_row(site, subject, epoch, meta),
            };
            match holds {
                // This row is excluded, regardless of the other conditions.
                Some(holds) if holds == *negated => return Some(false),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(true)
    }
}

impl Matcher {
    /// Returns true if the filter selects all calls at a site or none.
    pub(crate) fn selects_whole_sites(&self) -> bool {
        let is_of_site = |test: &Test| matches!(test, Test::Site(_) | Test::Levels(..));
        self.members.is_none() && self.tests.iter().all(|(_, test)| is_of_site(test))
    }

    /// Returns true if the filter selects all calls on a subject or none.
    pub(crate) fn selects_whole_subjects(&self) -> bool {
        let is_of_subject = |test: &Test| {
            matches!(
                test,
                Test::Subject(_)
                    | Test::Key(_)
                    | Test::Kind(_)
                    | Test::KindKey(..)
                    | Test::Levels(..)
            )
        };
        self.members.is_none() && self.tests.iter().all(|(_, test)| is_of_subject(test))
    }
}

impl Test {
    /// Compiles a condition. `walk` is the number of the next walk along reasons.
    fn new(store: &Store, condition: &Condition, walk: usize) -> Test {
        match condition {
            Condition::Site(selector) => Test::Site(Sites::selected(store, selector)),
            Condition::Cause(selector) => Test::Cause(Sites::selected(store, selector), walk),
            Condition::DirectCause(condition) => {
                Test::DirectCause(Box::new(Test::new(store, condition, walk)))
            }
            Condition::Subject(SubjectCondition::Key(key)) => Test::Key(*key),
            Condition::Subject(SubjectCondition::Address(key)) => {
                Test::KindKey(places(store), *key)
            }
            Condition::Subject(SubjectCondition::KindKey(kind, key)) => {
                Test::KindKey(kinds(store, kind), *key)
            }
            Condition::Subject(SubjectCondition::Exactly(subject)) => {
                Test::KindKey(HashSet::from([subject.kind.0]), subject.key)
            }
            Condition::Subject(SubjectCondition::Label(text)) => {
                Test::Subject(labelled(store, text))
            }
            Condition::Kind(kind) => Test::Kind(kinds(store, kind)),
            Condition::Took(compare, ns) => Test::Took(*compare, store.time().ticks(*ns)),
            Condition::Outcome(bits) => Test::Outcome(*bits),
            Condition::Lane(name) => Test::Lane(lanes(store, name)),
            Condition::Lanes(lanes) => Test::Lane(lanes.iter().cloned().flatten().collect()),
            Condition::Level(compare, level) => Test::Level(*compare, *level),
            Condition::Epoch(compare, epoch) => Test::Epoch(*compare, *epoch),
            Condition::Kept(wanted) => Test::Kept(*wanted),
            Condition::Text(text) => Test::Text(
                Sites::of(store, |site| site.path.to_lowercase().contains(text)),
                labelled(store, text),
            ),
        }
    }

    /// Returns true if the condition selects some subjects of a site, and not all of its calls.
    fn may_select_a_subject(&self, site: u32) -> bool {
        match self {
            Test::Key(_) => true,
            Test::Subject(subjects) => !subjects.is_empty(),
            Test::Kind(kinds) | Test::KindKey(kinds, _) => !kinds.is_empty(),
            Test::Text(sites, labelled) => !sites.contains(site) && !labelled.is_empty(),
            _ => false,
        }
    }

    /// Tests the values that events and rows both have.
    #[inline]
    fn of_row(&self, site: u32, subject: Option<Subject>, epoch: u32, meta: bool) -> Option<bool> {
        let is_others = subject.is_some_and(|subject| subject.kind.0 == OTHERS);
        Some(match self {
            // The subjects in the row of others are unknown.
            Test::Subject(..) | Test::Key(..) | Test::Kind(..) | Test::KindKey(..) if is_others => {
                return None;
            }
            Test::Text(sites, _) if is_others && !sites.contains(site) => return None,
            Test::Site(sites) => sites.contains(site),
            Test::Subject(subjects) => subject.is_some_and(|subject| subjects.contains(&subject)),
            Test::Key(key) => subject.is_some_and(|subject| subject.key == *key),
            Test::Kind(kinds) => subject.is_some_and(|subject| kinds.contains(&subject.kind.0)),
            Test::KindKey(kinds, key) => subject
                .is_some_and(|subject| subject.key == *key && kinds.contains(&subject.kind.0)),
            Test::Text(sites, labelled) => {
                sites.contains(site) || subject.is_some_and(|subject| labelled.contains(&subject))
            }
            Test::Epoch(compare, number) => compare.holds(epoch.into(), *number),
            // The events of a row are not stored.
            Test::Kept(wanted) => !wanted,
            // A row records only that a level is above the application's, without its number.
            Test::Levels(first, last) => {
                if meta {
                    *last > 0
                } else {
                    *first == 0
                }
            }
            Test::Level(compare, level) if !meta => compare.holds(0, *level),
            Test::Level(compare, level) => {
                match (1..=3).filter(|&of| compare.holds(of, *level)).count() {
                    0 => false,
                    3 => true,
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

/// Decides a condition on the length for all calls of a row, if the length of its longest call
/// suffices.
fn of_longest(compare: Compare, ticks: u64, calls: &Measure) -> Option<bool> {
    let is_longest_below = match compare {
        Compare::More | Compare::AtLeast => !compare.holds(calls.max_ticks, ticks),
        Compare::Less | Compare::AtMost => compare.holds(calls.max_ticks, ticks),
        Compare::Equal => calls.max_ticks < ticks,
    };
    // A row of late ends has times of calls that other rows count.
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
    labels
        .filter(|(_, label)| label.to_lowercase().contains(text))
        .map(|(&subject, _)| subject)
        .collect()
}

fn lanes(store: &Store, name: &str) -> HashSet<u32> {
    let number = name.trim_start_matches('#').parse().ok();
    let lanes = store.lanes().into_iter();
    // In a merged recording, the name of a thread without its process selects the threads of all
    // processes.
    let is_own = |lane: &RecordedLane| {
        let process = store.process_of(lane.id);
        process.is_some_and(|process| lane.name == format!("{}/{name}", process.label))
    };
    let is_named = |lane: &RecordedLane| lane.name == name || is_own(lane);
    lanes
        .filter(|lane| is_named(lane) || Some(lane.id.0) == number)
        .map(|lane| lane.id.0)
        .chain(number)
        .collect()
}

/// Most recently compiled filters. A screen that is drawn again does not compile them again.
#[derive(Default)]
struct Compiled(Mutex<Vec<(Key, Arc<Matcher>)>>);

/// Key of a compiled filter: the filter, the levels that match if it has no `level:` term, and the
/// number of lanes then.
type Key = (Filter, RangeInclusive<u8>, u64);

/// Number of compiled filters in memory.
const KEPT: usize = 16;

impl Store {
    /// Compiles the filter for this recording. `levels` match if it has no `level:` term.
    pub fn compile(&self, filter: &Filter, levels: RangeInclusive<u8>) -> Arc<Matcher> {
        // The table of lanes can grow without any other change.
        let key = (filter.clone(), levels, self.header().lanes_used);
        let mut kept = lock(&self.compiled.get::<Compiled>().0);
        if let Some((_, matcher)) = kept.iter().find(|(known, _)| *known == key) {
            return matcher.clone();
        }
        let matcher = Arc::new(Matcher::compile(self, filter, &key.1));
        kept.insert(0, (key, matcher.clone()));
        kept.truncate(KEPT);
        matcher
    }
}
