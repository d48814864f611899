//! `one-lane`: several threads run the same function, and one of them does nearly all of the work.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Cause, EventId, LaneId, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::HashMap;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{counted, grouped, percent, time};

/// Word of the kind.
const KIND: &str = "one-lane";
/// Least number of threads.
const THREADS: usize = 3;
/// Maximum number of events of a site that may be threads. More than that are tasks, and no team of
/// threads.
const THREADS_MAX: u64 = 1_000;
/// Least number of events of the busy thread.
const EVENTS: u64 = 100;
/// Least share of the busy thread in events and in self time, in percent.
const PERCENT: u64 = 80;
/// Least share of its time in which the busy thread works, in percent. A thread that waits for work
/// could take that of the others.
const WORKING_PERCENT: u64 = 50;
/// Least share of uneven teams among the teams of a site, in percent.
const TEAMS_PERCENT: u64 = 50;
/// Largest distance between the begins of threads of one team, in percent of the time of the busy
/// thread.
const BEGIN_PERCENT: u64 = 20;

/// Detector of threads that do not share their work.
#[derive(Default)]
pub(super) struct OneLane {
    /// Index of the thread that runs on each lane.
    running: HashMap<LaneId, usize>,
    threads: Vec<Thread>,
}

/// Teams of threads of one site.
#[derive(Default)]
struct Teams<'t> {
    /// Number of teams with enough work to share.
    all: u64,
    uneven: Vec<Uneven<'t>>,
}

/// Team of which one thread does nearly all of the work.
struct Uneven<'t> {
    busy: &'t Thread,
    threads: u64,
    events: u64,
    ticks: u64,
}

/// Thread whose whole time is one event.
struct Thread {
    id: EventId,
    site: SiteId,
    /// False for a function at the root of a thread that runs other functions as well.
    is_whole: bool,
    /// Event that spawned the thread.
    cause: Option<EventId>,
    start: u64,
    end: u64,
    events: u64,
    ticks: u64,
    /// Begin of the first event and end of the last one on the thread.
    first: u64,
    last: u64,
    /// Self ticks by site.
    sites: HashMap<SiteId, u64>,
    first_events: Vec<EventId>,
}

impl Detector for OneLane {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // Calls that are missing may be the work of the other threads.
        context.missing_calls()
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.sites_with_events().any(|site| {
            let numbers = context.survey.site(site);
            let is_spawned = numbers.roots >= THREADS as u64 || context.survey.lanes > 1;
            let is_kind = match context.site_kind(site) {
                SiteKind::Async => true,
                SiteKind::Method => is_spawned,
                _ => false,
            };
            is_kind && (THREADS as u64..=THREADS_MAX).contains(&numbers.events)
        }))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let running = self.running.get(&it.lane).map(|&at| &mut self.threads[at]);
            match running.filter(|thread| it.start < thread.end) {
                Some(thread) => thread.add(event, context),
                // Tasks begin on threads as well, but threads leave and enter them again. Only the
                // end of the recording shows this.
                None if is_thread(event, context) => {
                    let is_method = |site| context.site_kind(site) == SiteKind::Method;
                    let before = self.running.get(&it.lane).copied();
                    if let Some(before) = before.map(|at| &mut self.threads[at]) {
                        before.is_whole &= !is_method(before.site);
                    }
                    let Some(span) = it.span else { continue };
                    self.running.insert(it.lane, self.threads.len());
                    self.threads.push(Thread {
                        id: it.id,
                        site: it.site,
                        is_whole: before.is_none() || !is_method(it.site),
                        cause: match &event.cause {
                            Cause::Event(reason) => Some(reason.id),
                            Cause::Root | Cause::Remote | Cause::Left => None,
                        },
                        start: it.start,
                        end: it.start.saturating_add(span),
                        events: 0,
                        ticks: 0,
                        first: u64::MAX,
                        last: 0,
                        sites: HashMap::default(),
                        first_events: Vec::new(),
                    });
                }
                None => {}
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut teams: HashMap<(SiteId, Option<EventId>), Vec<&Thread>> = HashMap::default();
        for thread in self.threads.iter().filter(|thread| thread.is_whole) {
            teams.entry((thread.site, thread.cause)).or_default().push(thread);
        }
        let mut sites: HashMap<SiteId, Teams<'_>> = HashMap::default();
        for team in teams.values() {
            sites.entry(team[0].site).or_default().add(team, context);
        }
        sites.into_iter().filter_map(|(site, teams)| finding(site, teams, context)).collect()
    }
}

impl Thread {
    fn add(&mut self, event: &ResolvedEvent, context: &Context<'_>) {
        let it = &event.event;
        if context.site_kind(it.site).is_entered() {
            return;
        }
        self.events += 1;
        self.first = self.first.min(it.start);
        self.last = self.last.max(it.start.saturating_add(it.span.unwrap_or(0)));
        if let Some(ticks) = event.self_ticks {
            self.ticks = self.ticks.saturating_add(ticks);
            *self.sites.entry(it.site).or_default() += ticks;
        }
        if self.first_events.len() < NAMED {
            self.first_events.push(it.id);
        }
    }
}

/// Returns true if an event may be a thread that an instrumented function spawned, or the outermost
/// function of a thread.
fn is_thread(event: &ResolvedEvent, context: &Context<'_>) -> bool {
    let site = event.event.site;
    let is_kind = match context.site_kind(site) {
        SiteKind::Async => true,
        SiteKind::Method => match &event.cause {
            Cause::Root => true,
            Cause::Event(spawner) => spawner.lane != event.event.lane,
            Cause::Remote | Cause::Left => false,
        },
        _ => false,
    };
    is_kind && context.survey.events_of(site) <= THREADS_MAX
}

impl<'t> Teams<'t> {
    fn add(&mut self, team: &[&'t Thread], context: &Context<'_>) {
        let Some(&busy) = team.iter().max_by_key(|thread| (thread.ticks, thread.id)) else {
            return;
        };
        let near = (busy.end - busy.start) / 100 * BEGIN_PERCENT;
        let threads: Vec<_> =
            team.iter().filter(|thread| thread.start.abs_diff(busy.start) <= near).collect();
        // A thread is never left, so nothing counts its polls.
        if threads.len() < THREADS || busy.events < EVENTS || context.store.polls(busy.id).is_some()
        {
            return;
        }
        self.all += 1;
        let events: u64 = threads.iter().map(|thread| thread.events).sum();
        let ticks = threads.iter().map(|thread| thread.ticks).fold(0, u64::saturating_add);
        let does_all =
            busy.events * 100 >= events * PERCENT && is_share(busy.ticks, ticks, PERCENT);
        let works = is_share(busy.ticks, busy.last.saturating_sub(busy.first), WORKING_PERCENT);
        if does_all && works {
            self.uneven.push(Uneven { busy, threads: threads.len() as u64, events, ticks });
        }
    }
}

fn finding(site: SiteId, mut teams: Teams<'_>, context: &Context<'_>) -> Option<Finding> {
    // Where most teams share their work, the other teams have little work.
    if !is_share(teams.uneven.len() as u64, teams.all, TEAMS_PERCENT) {
        return None;
    }
    teams.uneven.sort_by_key(|team| team.busy.id);
    let sum = |number: fn(&Uneven<'_>) -> u64| {
        teams.uneven.iter().map(number).fold(0, u64::saturating_add)
    };
    let mut works: HashMap<SiteId, u64> = HashMap::default();
    for (&work, ticks) in teams.uneven.iter().flat_map(|team| &team.busy.sites) {
        *works.entry(work).or_default() += ticks;
    }
    let (&work, _) = works.iter().max_by_key(|&(site, ticks)| (ticks, *site))?;
    let name = context.store.site_path(site);
    let work_name = context.name(work);
    let title = format!("One of the threads {name} does nearly all calls of {work_name}");
    let mut finding = Finding::new(KIND, title, vec![context.site(work), context.site(site)]);
    let ticks_for_others = sum(|team| team.busy.ticks - team.busy.ticks / team.threads);
    finding.cost = Cost::of_work(
        context.ns(ticks_for_others),
        sum(|team| team.busy.events - team.busy.events / team.threads),
    );
    let busy_events = sum(|team| team.busy.events);
    let events = sum(|team| team.events);
    let busy_ticks = sum(|team| team.busy.ticks);
    let ticks = sum(|team| team.ticks);
    let threads = sum(|team| team.threads);
    let (in_teams, one) = match teams.uneven.len() {
        1 => (String::new(), "One of them"),
        teams => (format!("In {teams} teams, "), "One of each team"),
    };
    finding.evidence = Evidence {
        text: format!(
            "{in_teams}{} are {name}. {one} has {} of their {} events ({}) and {} of their self time of {}.",
            counted(threads, "thread"),
            grouped(busy_events),
            grouped(events),
            percent(busy_events, events),
            time(context.ns(busy_ticks)),
            time(context.ns(ticks)),
        ),
        numbers: vec![("threads", threads), ("busy_events", busy_events), ("events", events)],
        events: teams
            .uneven
            .iter()
            .flat_map(|team| team.busy.first_events.iter().copied())
            .take(NAMED)
            .collect(),
        filter: context.filter(work),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; whether the calls could run side by side is not recorded".to_owned(),
    );
    finding.advice =
        "divide the work by its amount, or let the threads take it from one queue".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Four threads compile 600 files. `thread_of` returns the thread that compiles a file. `pause`
    /// is the time for which it waits for a file.
    fn check(thread_of: impl Fn(u64) -> u32, pause: u64, expected: &[&str]) {
        let mut run = Run::new();
        run.site("build::workers::thread", SiteKind::Async);
        for lane in 0..4 {
            run.on(lane);
            run.now = 1_000 + u64::from(lane);
            run.call("build::workers::thread", None, |run| {
                for file in (0..600).filter(|&file| thread_of(file) == lane) {
                    run.work(pause);
                    run.leaf("build::compile", file, 10_000);
                }
                run.now = 10_000_000;
            });
        }
        assert_eq!(run.found(OneLane::default()), expected);
    }

    #[test]
    fn one_thread_that_does_all_is_found() {
        let title = "One of the threads build::workers::thread does nearly all calls of compile";
        check(|_| 2, 100, &[&format!("{title}: threads=4 busy_events=600 events=600")]);
    }

    #[test]
    fn threads_that_are_started_again_and_again_are_one_finding() {
        let queries = |uneven: u64| {
            let mut run = Run::new();
            run.site("search::query::thread", SiteKind::Async);
            for query in 0..10 {
                run.call("search::query", None, |run| {
                    let query_id = run.leaf("search::plan", None, 10);
                    let began = run.now;
                    for lane in 1..4 {
                        run.on(lane);
                        run.now = began + u64::from(lane);
                        run.because(Some(query_id), "search::query::thread", None, |run| {
                            let of_lane = if query >= uneven {
                                200
                            } else if lane == 1 {
                                600
                            } else {
                                2
                            };
                            (0..of_lane).for_each(|it| _ = run.leaf("search::score", it, 10_000));
                            run.now = began + 6_100_000;
                        });
                    }
                    run.on(0);
                });
            }
            run.found(OneLane::default())
        };
        let title = "One of the threads search::query::thread does nearly all calls of score";
        assert_eq!(queries(10), [format!("{title}: threads=30 busy_events=6000 events=6040")]);
        assert_eq!(queries(4), [] as [&str; 0]);
    }

    #[test]
    fn threads_that_share_their_work_are_silent() {
        check(|file| (file % 4) as u32, 100, &[]);
    }

    #[test]
    fn functions_that_are_all_of_their_threads_are_a_team() {
        let check = |is_spawned: bool, before: bool, expected: usize| {
            let mut run = Run::new();
            let spawner = is_spawned.then(|| run.leaf("bakery::open", None, 10));
            for lane in 1..5 {
                run.on(lane);
                run.now = 1_000 + u64::from(lane);
                if before {
                    run.leaf("bakery::warm_up", None, 10);
                }
                run.because(spawner, "bakery::oven", None, |run| {
                    (0..if lane == 2 { 600 } else { 1 })
                        .for_each(|loaf| _ = run.leaf("bakery::bake", loaf, 10_000));
                    run.now = 10_000_000;
                });
            }
            assert_eq!(run.found(OneLane::default()).len(), expected);
        };
        check(false, false, 1);
        check(true, false, 1);
        check(true, true, 0);
    }

    #[test]
    fn a_pool_with_little_to_do_is_silent() {
        check(|_| 2, 200_000, &[]);
    }

    #[test]
    fn a_thread_beside_a_thread_of_another_kind_is_silent() {
        let mut run = Run::new();
        for (lane, path) in ["build::main::thread", "build::log::thread", "build::watch::thread"]
            .into_iter()
            .enumerate()
        {
            run.site(path, SiteKind::Async);
            run.on(lane as u32);
            run.now = 1_000;
            run.call(path, None, |run| {
                (0..if lane == 0 { 600 } else { 10 })
                    .for_each(|file| _ = run.leaf("build::compile", file, 10_000));
                run.now = 10_000_000;
            });
        }
        assert_eq!(run.found(OneLane::default()), [] as [&str; 0]);
    }
}
