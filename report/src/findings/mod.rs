//! Findings: sentences about a program that are true of its recording, cost something, and name
//! their evidence.
//!
//! [`find`] passes the events of a recording once, in order of time, to all [`Detector`]s, and
//! ranks their findings. A kind of finding is one file with one detector. Each detector sees every
//! event of its sites, so no detector has to merge partial results. The result does not depend on
//! the number of processors, because they work on different detectors and resolve the next events
//! meanwhile. A survey counts the events of each site beforehand, so a detector can leave out sites
//! that cannot have a finding.

mod backlog;
mod baseline;
mod blocking_poll;
mod call_graph;
mod cold_cache;
mod cold_cache_type;
mod config;
mod context;
mod coverage;
mod detector;
mod explain;
mod failing_subject;
mod failing_unit;
mod finding;
mod gate;
mod growing_cost;
mod heard_twice;
mod held_lock;
mod hot_subject;
pub mod json;
mod last_calls;
mod lost_cause;
mod map;
mod mention;
mod n_plus_one;
mod neighbours;
mod never_ended;
mod of_recording;
mod one_lane;
mod open_calls;
mod own;
mod own_kind;
mod ping_pong;
mod polled_calls;
mod productions;
mod question;
mod rank;
mod recent;
mod repeated;
mod repeated_answers;
mod repeated_for_all;
mod repeats;
mod retried;
mod same_result;
mod samples;
pub mod sarif;
mod self_wake;
mod slow_because;
mod slow_kept;
#[cfg(test)]
mod testing;
pub mod text;
mod thrown_away;
mod types;
mod unheard;
mod without_reason;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use metaspy_probe::SiteId;
use metaspy_reader::{ResolvedEvent, Selector, Store, Totals, UnitRule, files};

pub use baseline::Baseline;
pub use config::{Accepted, Config, KindSettings};
pub use context::Context;
pub use detector::Detector;
pub use explain::explain;
pub use finding::{
    Certainty, Cost, Evidence, Finding, FoundSite, FoundSubject, FoundSubjects, State, Whole,
};
pub use gate::{Gate, Judgement};
pub use mention::mention;
pub use own_kind::OwnKind;

/// Name of the file with the settings of a project.
const SETTINGS: &str = "metaspy.toml";

/// Maximum number of events that a detector takes at once.
const CHUNK_EVENTS: usize = 128;

/// All findings of a recording.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The findings, the most expensive first. A finding that is implied by another follows it.
    pub found: Vec<Finding>,
    /// Kinds that were looked for, in alphabetical order.
    pub looked_for: Vec<String>,
    /// Kinds that the recording cannot show.
    pub not_looked_for: Vec<NotLookedFor>,
    /// Kinds that were looked for, although the recording can show only some of their findings.
    pub partly_looked_for: Vec<NotLookedFor>,
    /// Number of all calls, and how many of them are events.
    pub totals: Totals,
    /// Nanoseconds from the first to the last event.
    pub recorded_ns: u64,
    /// True if the findings were compared with a baseline.
    pub is_compared: bool,
}

/// Kind of findings that a recording cannot show, or can show only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLookedFor {
    /// Word of the kind.
    pub kind: String,
    /// Reason, with advice for the next recording.
    pub why: String,
}

impl Findings {
    /// Iterates over the findings that are worth a look.
    pub fn listed(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter().filter(|finding| finding.is_listed())
    }

    /// Returns the reasons why kinds could not be looked for, with the kinds of each.
    pub fn not_looked_for_by_reason(&self) -> Vec<(&str, Vec<&str>)> {
        by_reason(&self.not_looked_for)
    }

    /// Returns the reasons why the recording shows kinds only in part, with the kinds of each
    /// reason.
    pub fn partly_looked_for_by_reason(&self) -> Vec<(&str, Vec<&str>)> {
        by_reason(&self.partly_looked_for)
    }

    /// Returns the kinds that were looked for and have no finding, without the kinds that the
    /// recording shows only in part.
    pub fn found_nothing(&self) -> impl Iterator<Item = &str> {
        let found = self.found.iter().map(|finding| finding.kind.as_str());
        let named: HashSet<&str> =
            found.chain(self.partly_looked_for.iter().map(|it| it.kind.as_str())).collect();
        self.looked_for.iter().map(String::as_str).filter(move |kind| !named.contains(kind))
    }
}

fn by_reason(kinds: &[NotLookedFor]) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for NotLookedFor { kind, why } in kinds {
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, kinds)) => kinds.push(kind),
            None => reasons.push((why, vec![kind])),
        }
    }
    reasons
}

/// Returns a detector for each built-in kind.
pub fn detectors() -> Vec<Box<dyn Detector>> {
    vec![
        Box::new(backlog::Backlog::default()),
        Box::new(blocking_poll::BlockingPoll::default()),
        Box::new(cold_cache::ColdCache::default()),
        Box::new(cold_cache_type::ColdCacheType::default()),
        Box::new(productions::CUT_SHORT),
        Box::new(failing_subject::FailingSubject::default()),
        Box::new(failing_unit::FailingUnit::default()),
        Box::new(growing_cost::GrowingCost::default()),
        Box::new(heard_twice::HeardTwice::default()),
        Box::new(held_lock::HeldLock::default()),
        Box::new(hot_subject::HotSubject::default()),
        Box::new(lost_cause::LostCause::default()),
        Box::new(types::MEGAMORPHIC),
        Box::new(coverage::MORE_TESTS),
        Box::new(n_plus_one::NPlusOne::default()),
        Box::new(types::NEVER_ARRIVED),
        Box::new(never_ended::NeverEnded::default()),
        Box::new(productions::NEVER_MATCHED),
        Box::new(one_lane::OneLane::default()),
        Box::new(ping_pong::PingPong::default()),
        Box::new(repeated::Repeated::default()),
        Box::new(repeated_answers::RepeatedAnswers::default()),
        Box::new(repeated_for_all::RepeatedForAll::default()),
        Box::new(retried::Retried::default()),
        Box::new(same_result::SameResult::default()),
        Box::new(self_wake::SelfWake::default()),
        Box::new(productions::SHADOWED),
        Box::new(slow_because::SlowBecause::default()),
        Box::new(thrown_away::ThrownAway::default()),
        Box::new(unheard::Unheard::default()),
        Box::new(coverage::UNTESTED),
        Box::new(types::WIDE_PARAMETER),
        Box::new(without_reason::WithoutReason::default()),
    ]
}

/// Returns the words of the built-in kinds.
pub fn kinds() -> Vec<String> {
    let mut kinds: Vec<String> =
        detectors().iter().map(|detector| detector.kind().to_owned()).collect();
    kinds.dedup();
    kinds
}

/// Reads the settings of the project that a directory belongs to: its `metaspy.toml`, or the
/// nearest one above it. Without such a file, returns the default settings.
///
/// # Errors
///
/// Returns a sentence that names the file and its error.
pub fn settings_of_project(directory: &Path) -> Result<Config, String> {
    settings_file(directory).map_or_else(|| Ok(Config::default()), |file| settings_of(&file))
}

/// Returns the file with the settings of a project: `metaspy.toml` in the directory, or in the
/// nearest directory above it.
pub fn settings_file(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(SETTINGS)).find(|file| file.is_file())
}

/// Reads the settings of a file.
///
/// # Errors
///
/// As [`settings_of_project`].
pub fn settings_of(file: &Path) -> Result<Config, String> {
    let wrong = |error: String| format!("{}: {error}", file.display());
    let text = files::read_text(file)
        .map_err(|error| wrong(format!("{error}: name a file that can be read")))?;
    let kinds = kinds();
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    Config::parse(&text, &kinds).map_err(wrong)
}

/// Looks for all built-in kinds of findings, and for the kinds that the settings define.
///
/// ```no_run
/// use metaspy_reader::Store;
/// use metaspy_report::findings::{self, Config};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open("run.spy".as_ref())?;
/// for finding in findings::find(&store, &Config::default()).listed() {
///     println!("{}: {}", finding.kind, finding.title);
/// }
/// # Ok(())
/// # }
/// ```
pub fn find(store: &Store, config: &Config) -> Findings {
    find_by(store, config, all(config))
}

/// Looks for the same kinds as [`find`], and reports its progress. `goes_on` gets the number of
/// events that were read since its last call. If it returns false, the search stops without a
/// result.
pub fn find_watched(
    store: &Store,
    config: &Config,
    goes_on: &dyn Fn(usize) -> bool,
) -> Option<Findings> {
    search(store, config, all(config), goes_on)
}

/// Looks for findings with these detectors, which may be detectors of the user.
pub fn find_by(store: &Store, config: &Config, detectors: Vec<Box<dyn Detector>>) -> Findings {
    let found = search(store, config, detectors, &|_| true);
    found.expect("a search stops only where its watcher stops it")
}

/// Returns the detectors of the built-in kinds and of the kinds that the settings define.
fn all(config: &Config) -> Vec<Box<dyn Detector>> {
    let own = config.own.iter().map(|kind| Box::new(own::Own::new(kind)) as Box<dyn Detector>);
    detectors().into_iter().chain(own).collect()
}

/// Detector at work, with its choice of sites.
struct Working {
    detector: Box<dyn Detector>,
    /// Index of its sites in the list of choices.
    choice: usize,
    /// Time that the detector has spent on its events so far.
    taken: Duration,
}

fn search(
    store: &Store,
    config: &Config,
    detectors: Vec<Box<dyn Detector>>,
    goes_on: &dyn Fn(usize) -> bool,
) -> Option<Findings> {
    let sites_of = |selector: &Selector| -> HashSet<SiteId> {
        store
            .sites()
            .iter()
            .filter(|site| selector.matches(&site.path))
            .map(|site| site.id)
            .collect()
    };
    let rule = config
        .unit
        .as_ref()
        .map_or(UnitRule::Outermost, |selector| UnitRule::Nearest(sites_of(selector)));
    let scan = store.resolved(&rule);
    let mut context = Context::new(store, config, scan.survey());
    let mut not_looked_for = Vec::new();
    let mut looked_for = Vec::new();
    let mut working: Vec<Working> = Vec::new();
    // Many detectors choose the same sites. The events of equal choices are selected once.
    let mut choices: Vec<Choice> = Vec::new();
    for mut detector in detectors {
        let kind = detector.kind().to_owned();
        if !config.wants(&kind) {
            continue;
        }
        match detector.missing(&context) {
            Some(why) => not_looked_for.push(NotLookedFor { kind, why }),
            None => {
                looked_for.push(kind);
                let chosen = Choice::of(detector.sites(&context), &context);
                let choice =
                    choices.iter().position(|choice| *choice == chosen).unwrap_or(choices.len());
                if choice == choices.len() {
                    choices.push(chosen);
                }
                working.push(Working { detector, choice, taken: Duration::ZERO });
            }
        }
    }
    if !working.is_empty() {
        let mut is_stopped = false;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        context.pairs = scan.read(|events| {
            pass(&mut working, &choices, events, &context, threads);
            is_stopped = !goes_on(events.len());
            !is_stopped
        });
        if is_stopped {
            return None;
        }
    }
    let missing_part = |detector: &dyn Detector| {
        let why = detector.missing_part(&context)?;
        Some(NotLookedFor { kind: detector.kind().to_owned(), why })
    };
    let mut partly_looked_for: Vec<_> =
        working.iter().filter_map(|working| missing_part(&*working.detector)).collect();
    let mut found: Vec<Finding> = Vec::new();
    let mut stated = HashSet::new();
    for Working { detector, .. } in working {
        // Several detectors may state one finding, each by its own evidence.
        let mut of_detector = detector.finish(&context);
        of_detector.retain(|finding| !stated.contains(&finding.computed_fingerprint()));
        stated.extend(of_detector.iter().map(Finding::computed_fingerprint));
        found.extend(of_detector);
    }
    // Several detectors may look for one kind.
    looked_for.sort();
    looked_for.dedup();
    not_looked_for.sort_by(|a, b| a.kind.cmp(&b.kind));
    not_looked_for.dedup();
    partly_looked_for.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.why.cmp(&b.why)));
    partly_looked_for.dedup();
    let recorded_ns = context.recorded_ns();
    Some(Findings {
        found: rank::ranked(found, &context),
        looked_for,
        not_looked_for,
        partly_looked_for,
        totals: context.totals,
        recorded_ns,
        is_compared: config.baseline.is_some(),
    })
}

/// Sites of a detector: true for each chosen site, by number.
#[derive(PartialEq, Eq)]
struct Choice(Vec<bool>);

impl Choice {
    fn of(sites: Vec<SiteId>, context: &Context<'_>) -> Choice {
        let mut chosen = vec![false; context.survey.sites.len()];
        for site in sites {
            // A site without events has no entry.
            chosen.get_mut(site.0 as usize).into_iter().for_each(|is_chosen| *is_chosen = true);
        }
        Choice(chosen)
    }

    fn has(&self, event: &ResolvedEvent) -> bool {
        self.0.get(event.event.site.0 as usize).is_some_and(|is_chosen| *is_chosen)
    }
}

/// Passes the events of their sites to all detectors, each on one of the threads.
fn pass(
    detectors: &mut [Working],
    choices: &[Choice],
    events: &[ResolvedEvent],
    context: &Context<'_>,
    threads: usize,
) {
    let has_sites = |detector: &&mut Working| choices[detector.choice].0.contains(&true);
    let mut by_time: Vec<&mut Working> = detectors.iter_mut().filter(has_sites).collect();
    by_time.sort_by_key(|detector| Reverse(detector.taken));
    // The slowest detectors come first. Each goes to the thread with the least work.
    let mut shares: Vec<(Duration, Vec<&mut Working>)> =
        (0..threads).map(|_| Default::default()).collect();
    for detector in by_time {
        let least = shares.iter_mut().min_by_key(|(taken, share)| (*taken, share.len()));
        let (taken, share) = least.expect("there is a thread");
        *taken += detector.taken;
        share.push(detector);
    }
    let read = |mut detectors: Vec<&mut Working>| {
        let mut began = Instant::now();
        let mut chosen: Vec<Vec<&ResolvedEvent>> = vec![Vec::new(); choices.len()];
        let mut is_chosen = vec![false; choices.len()];
        // Events that all detectors of a thread read in turn stay in the cache.
        for events in events.chunks(CHUNK_EVENTS) {
            chosen.iter_mut().for_each(Vec::clear);
            is_chosen.fill(false);
            for Working { detector, choice, taken } in
                detectors.iter_mut().map(|detector| &mut **detector)
            {
                let events_of_sites = &mut chosen[*choice];
                if !std::mem::replace(&mut is_chosen[*choice], true) {
                    events_of_sites
                        .extend(events.iter().filter(|event| choices[*choice].has(event)));
                }
                if events_of_sites.is_empty() {
                    continue;
                }
                detector.read(events_of_sites, context);
                let ended = Instant::now();
                *taken += ended - began;
                began = ended;
            }
        }
    };
    thread::scope(|scope| {
        let mut shares =
            shares.into_iter().map(|(_, share)| share).filter(|share| !share.is_empty());
        let own = shares.next();
        for others in shares {
            scope.spawn(move || read(others));
        }
        own.into_iter().for_each(read);
    });
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::testing::Run;
    use super::*;

    /// Detector of the calls of one function.
    struct OfFunction(u64);

    impl Detector for OfFunction {
        fn kind(&self) -> &str {
            "of-function"
        }

        fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
            context.sites_with_events().filter(|site| context.name(*site) == "work").collect()
        }

        fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
            assert!(events.iter().all(|event| context.name(event.event.site) == "work"));
            self.0 += events.len() as u64;
        }

        fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
            vec![Finding::new(self.kind(), self.0.to_string(), vec![context.site(SiteId(1))])]
        }
    }

    #[test]
    fn a_detector_gets_the_events_of_its_sites_only() {
        let mut run = Run::new();
        (0..500).for_each(|_| {
            run.leaf("page::work", None, 10);
            run.leaf("page::rest", None, 10);
        });
        assert_eq!(run.found(OfFunction(0)), ["500: "]);
    }

    #[test]
    fn a_search_tells_how_far_it_is_and_can_be_stopped() {
        let run = || {
            let mut run = Run::new();
            (0..500).for_each(|_| _ = run.leaf("page::work", None, 10));
            run.store()
        };
        let read = Cell::new(0);
        let count = |events| {
            read.set(read.get() + events);
            true
        };
        assert!(find_watched(&run(), &Config::default(), &count).is_some());
        assert_eq!(read.get(), 500);
        assert!(find_watched(&run(), &Config::default(), &|_| false).is_none());
    }
}
