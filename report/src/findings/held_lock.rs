//! `held-lock`: the waits for a lock overlap the holds of one site, which keeps it for long.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::{BySite, HashMap};
use super::samples::Samples;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent, time};

/// Word of the kind.
const KIND: &str = "held-lock";
/// Least time of a wait that counts, in nanoseconds.
const WAIT_NS: u64 = 10_000;
/// Least number of waits that overlap holds of the site.
const WAITS: u64 = 10;
/// Least share of the recorded time that threads and tasks wait, in percent.
const WAITING_PERCENT: u64 = 5;
/// Least share of the waiting that overlaps holds of the site, in percent.
const OVERLAP_PERCENT: u64 = 60;
/// Least median of the holds, in nanoseconds. The holder of a lock that is released at once may
/// lose its processor.
const HOLD_NS: u64 = 20_000;
/// Largest share of the site's holds that overlap each other, in percent. A semaphore with
/// overlapping holds limits the work behind it on purpose.
const SHARED_PERCENT: u64 = 10;

/// Detector of locks that are held for too long.
#[derive(Default)]
pub(super) struct HeldLock {
    /// Sites of the holds and waits of each lock.
    pairs: Pairs,
    locks: HashMap<(SiteId, Option<Subject>), Lock>,
    found: HashMap<SiteId, Waits>,
}

/// Site of a lock's holds, by the site of the waits for the lock.
#[derive(Default)]
struct Pairs {
    hold_of_wait: BySite<SiteId>,
}

/// Waits and holds of a lock that may overlap later ones.
#[derive(Default)]
struct Lock {
    holds: Vec<Hold>,
    waits: Vec<Wait>,
}

struct Hold {
    /// Site of the call that took the lock.
    holder: Option<SiteId>,
    end: u64,
}

struct Wait {
    id: EventId,
    start: u64,
    end: u64,
    /// Overlap with the holds of each site.
    overlaps: Vec<(Option<SiteId>, u64)>,
}

/// Waits for the locks of a site.
#[derive(Default)]
struct Waits {
    waits: u64,
    ticks: u64,
    holders: HashMap<Option<SiteId>, Holder>,
    /// Number of waits for each lock.
    subjects: HashMap<Subject, u64>,
}

/// Site that holds a lock.
#[derive(Default)]
struct Holder {
    holds: Samples<u64>,
    /// Holds that begin during a hold of the same site.
    shared: u64,
    waits: u64,
    ticks: u64,
    events: Vec<EventId>,
}

impl Detector for HeldLock {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        let has_locks = context.store.sites().iter().any(|site| site.kind == SiteKind::Hold);
        let missing = "no lock is observed: use `metaspy::locks`, or name them in METASPY_OBSERVE";
        context.missing_events().or_else(|| (!has_locks).then(|| missing.to_owned()))
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        self.pairs = Pairs::of(context);
        let is_of_lock = |site: &SiteId| {
            context.site_kind(*site) == SiteKind::Hold
                || self.pairs.hold_of_wait.get(*site).is_some()
        };
        context.sites_with_events().filter(is_of_lock).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let end = it.start.saturating_add(it.span.unwrap_or(u64::MAX));
            if context.site_kind(it.site) == SiteKind::Hold {
                let lock = self.locks.entry((it.site, it.subject)).or_default();
                lock.forget(it.start, self.found.entry(it.site).or_default(), it.subject);
                let holder = event.cause.event().map(|cause| cause.site);
                let found =
                    self.found.entry(it.site).or_default().holders.entry(holder).or_default();
                found.holds.add(end - it.start);
                found.shared += u64::from(lock.holds.iter().any(|hold| hold.holder == holder));
                let hold = Hold { holder, end };
                lock.waits.iter_mut().for_each(|wait| wait.overlap(&hold, it.start));
                lock.holds.push(hold);
            } else if let Some(&hold_site) = self.pairs.hold_of_wait.get(it.site) {
                let lock = self.locks.entry((hold_site, it.subject)).or_default();
                let found = self.found.entry(hold_site).or_default();
                lock.forget(it.start, found, it.subject);
                if it.span.is_some_and(|span| context.ns(span) >= WAIT_NS) {
                    found.waits += 1;
                    found.ticks = found.ticks.saturating_add(end - it.start);
                    let mut wait = Wait { id: it.id, start: it.start, end, overlaps: Vec::new() };
                    lock.holds.iter().for_each(|hold| wait.overlap(hold, it.start));
                    lock.waits.push(wait);
                }
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        for ((site, subject), mut lock) in self.locks.drain() {
            lock.forget(u64::MAX, self.found.entry(site).or_default(), subject);
        }
        self.found.iter().filter_map(|(&site, waits)| finding(site, waits, context)).collect()
    }
}

impl Pairs {
    /// Finds the sites of all locks: a lock has the sites `NAME::hold` and `NAME::wait`.
    fn of(context: &Context<'_>) -> Pairs {
        let by_path: HashMap<&str, SiteId> =
            context.store.sites().iter().map(|site| (site.path.as_str(), site.id)).collect();
        let holds = context.store.sites().iter().filter(|site| site.kind == SiteKind::Hold);
        let pairs = holds.filter_map(|site| {
            let wait = format!("{}::wait", site.path.strip_suffix("::hold")?);
            Some((*by_path.get(wait.as_str())?, site.id))
        });
        let mut hold_of_wait = BySite::default();
        pairs.for_each(|(wait, hold)| *hold_of_wait.or_insert_with(wait, || hold) = hold);
        Pairs { hold_of_wait }
    }
}

impl Lock {
    /// Forgets the holds that ended before `now`, and settles the waits that did.
    fn forget(&mut self, now: u64, found: &mut Waits, subject: Option<Subject>) {
        self.holds.retain(|hold| hold.end > now);
        for wait in self.waits.extract_if(.., |wait| wait.end <= now) {
            let span = wait.end - wait.start;
            for (holder, ticks) in wait.overlaps {
                let holder = found.holders.entry(holder).or_default();
                holder.waits += 1;
                // Simultaneous holds block a wait only once.
                holder.ticks = holder.ticks.saturating_add(ticks.min(span));
                if holder.events.len() < NAMED {
                    holder.events.push(wait.id);
                }
            }
            if let Some(subject) = subject {
                *found.subjects.entry(subject).or_default() += 1;
            }
        }
    }
}

impl Wait {
    fn overlap(&mut self, hold: &Hold, from: u64) {
        let ticks = hold.end.min(self.end).saturating_sub(from.max(self.start));
        if ticks == 0 {
            return;
        }
        match self.overlaps.iter_mut().find(|(holder, _)| *holder == hold.holder) {
            Some((_, sum)) => *sum = sum.saturating_add(ticks),
            None => self.overlaps.push((hold.holder, ticks)),
        }
    }
}

fn finding(site: SiteId, found: &Waits, context: &Context<'_>) -> Option<Finding> {
    let (&holder, most) =
        found.holders.iter().max_by_key(|(site, holder)| (holder.ticks, **site))?;
    let header = context.store.header();
    let recorded = header.last_tick.saturating_sub(header.first_tick);
    let is_rare = most.waits < WAITS || !is_share(found.ticks, recorded, WAITING_PERCENT);
    let is_elsewhere = !is_share(most.ticks, found.ticks, OVERLAP_PERCENT);
    let is_short = context.ns(most.holds.median()) < HOLD_NS;
    let is_shared = most.shared * 100 > most.holds.seen() * SHARED_PERCENT;
    if is_rare || is_elsewhere || is_short || is_shared {
        return None;
    }
    let path = context.store.site_path(site);
    let lock = path.strip_suffix("::hold").unwrap_or(path);
    let place = holder.map_or_else(
        || "outside of all observed calls".to_owned(),
        |it| format!("in {}", context.name(it)),
    );
    let title = format!("{lock} is held {place} while others wait for it");
    let sites = [Some(site), holder].into_iter().flatten().map(|site| context.site(site)).collect();
    let mut finding = Finding::new(KIND, title, sites);
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_waiting(context.ns(most.ticks), most.waits);
    finding.evidence = Evidence {
        text: format!(
            "{} waits of {} or more take {} in all. {} of that ({}) is during the {} holds {place}, half of which take {} or \
             more.",
            grouped(found.waits),
            time(WAIT_NS),
            time(context.ns(found.ticks)),
            time(context.ns(most.ticks)),
            percent(most.ticks, found.ticks),
            grouped(most.holds.seen()),
            time(context.ns(most.holds.median())),
        ),
        numbers: vec![("waits", most.waits), ("holds", most.holds.seen())],
        events: most.events.clone(),
        filter: format!("site:{lock}::wait took:>{}us", WAIT_NS / 1_000),
    };
    finding.certainty = context.counted("waits and holds are measured");
    finding.advice =
        format!("copy what is needed and release {lock} before the slow part, or split it");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// One thread holds a lock for `hold_us` of each 100 µs, in `holder`, and another one takes it
    /// for an instant.
    fn check(hold_us: u64, expected: &[&str]) {
        let mut run = Run::new();
        run.site("bank::Ledger::entries::wait", SiteKind::State);
        run.site("bank::Ledger::entries::hold", SiteKind::Hold);
        for round in 0..50 {
            let began = 1_000 + round * 100_000;
            run.on(0);
            run.now = began;
            run.call("bank::Ledger::export", None, |run| {
                run.leaf("bank::Ledger::entries::wait", 1, 50);
                run.leaf("bank::Ledger::entries::hold", 1, hold_us * 1_000);
            });
            run.on(1);
            run.now = began + 500;
            run.call("bank::Ledger::post", None, |run| {
                run.leaf(
                    "bank::Ledger::entries::wait",
                    1,
                    (hold_us * 1_000).saturating_sub(450).max(50),
                );
                run.leaf("bank::Ledger::entries::hold", 1, 200);
            });
        }
        assert_eq!(run.found(HeldLock::default()), expected);
    }

    #[test]
    fn a_lock_that_is_held_during_slow_work_is_found() {
        let title = "bank::Ledger::entries is held in Ledger::export while others wait for it";
        check(60, &[&format!("{title}: waits=50 holds=50")]);
    }

    #[test]
    fn a_lock_that_is_released_at_once_is_silent() {
        check(1, &[]);
    }

    #[test]
    fn a_holder_that_loses_its_processor_now_and_then_is_silent() {
        let mut run = Run::new();
        run.site("bank::total::wait", SiteKind::State);
        run.site("bank::total::hold", SiteKind::Hold);
        for round in 0..60 {
            let hold = if round % 4 == 0 { 4_000_000 } else { 300 };
            run.on(0);
            let began = run.now;
            run.call("bank::count", None, |run| _ = run.leaf("bank::total::hold", 1, hold));
            run.on(1);
            run.now = began + 10;
            run.call("bank::count", None, |run| _ = run.leaf("bank::total::wait", 1, hold));
        }
        assert_eq!(run.found(HeldLock::default()), [] as [&str; 0]);
    }

    #[test]
    fn a_semaphore_that_limits_work_is_silent() {
        let mut run = Run::new();
        run.site("bank::permits::wait", SiteKind::Async);
        run.site("bank::permits::hold", SiteKind::Hold);
        for round in 0..60 {
            for lane in 0..3 {
                run.on(lane);
                run.now = 1_000 + round * 1_000_000 + u64::from(lane);
                run.call("bank::load", None, |run| {
                    run.leaf("bank::permits::wait", 1, 900_000);
                    run.leaf("bank::permits::hold", 1, 900_000);
                });
            }
        }
        assert_eq!(run.found(HeldLock::default()), [] as [&str; 0]);
    }
}
