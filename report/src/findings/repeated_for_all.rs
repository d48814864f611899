//! `repeated`, for all subjects: in each unit of work a call runs on all subjects of a kind, while everything else concerns
//! few of them.

use metaspy_probe::{KindId, SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::recent::Recent;
use super::repeated::KIND;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Least number of subjects of a site.
const SUBJECTS: u64 = 20;
/// Least number of units of work.
const UNITS: u64 = 20;
/// Least share of the subjects that a unit concerns if it concerns all, in percent.
const ALL_PERCENT: u64 = 95;
/// Least share of units that concern all subjects, in percent.
const UNITS_PERCENT: u64 = 90;
/// Least share of these units in which something else concerns a subject, in percent. Without it, nothing shows that
/// changes are observed.
const CHANGED_PERCENT: u64 = 50;
/// Least number of calls that a call on the same subject asks for. They show that the calls can follow changes.
const DRIVEN: u64 = 20;
/// Largest share of subjects that anything else concerns, in percent.
const OTHERS_PERCENT: u64 = 10;
/// Maximum number of units of work at the same time.
const OPEN_UNITS: usize = 4096;
/// Maximum number of sites in a unit of work.
const SITES: usize = 32;
/// Maximum number of different counts of subjects in a unit. A site that always takes all of them has few.
const COUNTS: usize = 1024;

/// Detector of calls that always run for all subjects.
pub(super) struct RepeatedForAll {
    open: Recent<EventId, Vec<InUnit>>,
    /// Unit of work in which each row was last seen, by the number of the row.
    seen_in: Vec<Option<EventId>>,
    sites: HashMap<SiteId, OfSite>,
}

/// Calls of a site in a unit of work.
struct InUnit {
    site: SiteId,
    unit_site: SiteId,
    kind: KindId,
    subjects: u64,
    /// Subjects of the same kind that other sites concern outside of these calls.
    others: u64,
    /// End of the last call.
    end: u64,
    lane: LaneId,
}

/// Calls of a site in all units of work.
#[derive(Default)]
struct OfSite {
    units: u64,
    calls: u64,
    /// Calls that another call on the same subject asks for.
    driven: u64,
    self_ticks: u64,
    unit_site: Option<SiteId>,
    /// Units by their number of subjects.
    counts: HashMap<u64, Units>,
    events: Vec<EventId>,
}

#[derive(Clone, Copy, Default)]
struct Units {
    units: u64,
    others: u64,
    with_others: u64,
}

impl Default for RepeatedForAll {
    fn default() -> Self {
        RepeatedForAll { open: Recent::of(OPEN_UNITS), seen_in: Vec::new(), sites: HashMap::default() }
    }
}

impl Detector for RepeatedForAll {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // A lost call may be the change.
        context.missing_calls()
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        for event in events.iter().filter(|event| context.is_whole_since(event)) {
            self.add(event, context);
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let RepeatedForAll { open, mut sites, .. } = *self;
        open.into_entries().for_each(|(_, unit)| settle(&mut sites, unit));
        let mut subjects: HashMap<SiteId, u64> = HashMap::default();
        let is_known = |subject: Option<Subject>| subject.is_some_and(|subject| context.is_one_object(subject));
        for (site, _) in context.pairs.iter().filter(|(_, subject)| is_known(*subject)) {
            *subjects.entry(*site).or_default() += 1;
        }
        let all = |site: &SiteId| subjects.get(site).copied().unwrap_or(0);
        sites.iter().filter_map(|(site, of_site)| finding(*site, of_site, all(site), context)).collect()
    }
}

impl RepeatedForAll {
    fn add(&mut self, event: &ResolvedEvent, context: &Context<'_>) {
        let it = &event.event;
        let (Some(unit), Some(row), Some(subject)) = (event.unit, event.row, it.subject) else { return };
        if unit.id == it.id {
            return;
        }
        let at = row as usize;
        if self.seen_in.len() <= at {
            self.seen_in.resize(at + 1, None);
        }
        let is_first = self.seen_in[at] != Some(unit.id);
        self.seen_in[at] = Some(unit.id);
        if self.open.get_mut(&unit.id).is_none() {
            let forgotten = self.open.insert(unit.id, Vec::new());
            forgotten.into_iter().for_each(|(_, unit)| settle(&mut self.sites, unit));
        }
        let Some(sites) = self.open.get_mut(&unit.id) else { return };
        let mut before = 0;
        for other in sites.iter_mut().filter(|other| other.site != it.site && other.kind == subject.kind) {
            before += other.subjects;
            // What a call does to subjects is a part of the call.
            let is_inside = other.lane == it.lane && it.start < other.end;
            other.others += u64::from(is_first && !is_inside);
        }
        let end = it.start.saturating_add(it.span.unwrap_or(0));
        match sites.iter().position(|own| own.site == it.site && own.kind == subject.kind) {
            Some(at) => {
                let own = &mut sites[at];
                own.subjects += u64::from(is_first);
                own.end = own.end.max(end);
                own.lane = it.lane;
            }
            None if sites.len() < SITES => sites.push(InUnit {
                site: it.site,
                unit_site: unit.site,
                kind: subject.kind,
                subjects: 1,
                others: before,
                end,
                lane: it.lane,
            }),
            None => {}
        }
        if matches!(context.site_kind(it.site), SiteKind::Method | SiteKind::Async) {
            let of_site = self.sites.entry(it.site).or_default();
            of_site.calls += 1;
            let asker = event.cause.event().filter(|cause| cause.site != it.site).and_then(|cause| cause.subject);
            of_site.driven += u64::from(asker == Some(subject));
            of_site.self_ticks = of_site.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
            if of_site.events.len() < NAMED {
                of_site.events.push(it.id);
            }
        }
    }
}

/// Adds a unit of work that has ended.
fn settle(sites: &mut HashMap<SiteId, OfSite>, unit: Vec<InUnit>) {
    for of_unit in unit {
        let Some(of_site) = sites.get_mut(&of_unit.site) else { continue };
        of_site.units += 1;
        of_site.unit_site = Some(of_unit.unit_site);
        if of_site.counts.len() < COUNTS || of_site.counts.contains_key(&of_unit.subjects) {
            let units = of_site.counts.entry(of_unit.subjects).or_default();
            units.units += 1;
            units.others += of_unit.others;
            units.with_others += u64::from(of_unit.others > 0);
        }
    }
}

fn finding(site: SiteId, found: &OfSite, subjects: u64, context: &Context<'_>) -> Option<Finding> {
    if subjects < SUBJECTS || found.units < UNITS {
        return None;
    }
    let mut whole = Units::default();
    let mut concerned = 0;
    for (count, units) in found.counts.iter().filter(|(count, _)| **count * 100 >= subjects * ALL_PERCENT) {
        whole.units += units.units;
        whole.others += units.others;
        whole.with_others += units.with_others;
        concerned += count * units.units;
    }
    // Where changes ask for their own calls, these are units of their own.
    let units = found.units - if found.driven >= DRIVEN { found.counts.get(&1).map_or(0, |one| one.units) } else { 0 };
    let is_always = whole.units >= UNITS && whole.units * 100 >= units * UNITS_PERCENT;
    let is_driven = found.driven >= DRIVEN && found.driven * 100 <= found.calls * OTHERS_PERCENT;
    let is_changed = is_driven || whole.with_others * 100 >= whole.units * CHANGED_PERCENT;
    let is_little = whole.others * 100 <= concerned * OTHERS_PERCENT;
    if !is_always || !is_changed || !is_little {
        return None;
    }
    let (name, unit) = (context.name(site), context.name(found.unit_site?));
    let title = format!("{name} runs on every subject in each {unit}, while little else happens to them");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    finding.subjects.count = subjects;
    finding.cost = Cost::of_work(context.ns(found.self_ticks), found.calls);
    finding.evidence = Evidence {
        text: format!(
            "In {} of {} units of work `{unit}`, {name} runs on all of its {} subjects, on {} in all; everything else \
             in these units concerns {} subjects ({}).",
            grouped(whole.units),
            grouped(found.units),
            grouped(subjects),
            grouped(concerned),
            grouped(whole.others),
            percent(whole.others, concerned),
        ),
        numbers: vec![
            ("calls", found.calls),
            ("units", found.units),
            ("units_with_all", whole.units),
            ("subjects", subjects),
            ("otherwise_concerned", whole.others),
        ],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; how many calls a change needs is not recorded, and the cost is that of all of them"
            .to_owned(),
    );
    finding.needs = "the change as a reason of the calls that it needs, by a link (docs/announcements.md)".to_owned();
    finding.advice = format!("run {name} for the subjects that a change concerns, and keep the results of the others");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Edits one of 40 cells in each of 50 rounds and evaluates as many as `evaluated` says, with further work between.
    fn check(evaluated: u64, further: impl Fn(&mut Run), expected: &[&str]) {
        let mut run = Run::new();
        for round in 0..50 {
            run.call("sheet::edit", None, |run| {
                run.leaf("sheet::write", round % 10, 100);
                further(run);
                for cell in 0..evaluated {
                    run.call("sheet::evaluate", (round + cell) % 40, |run| {
                        run.leaf("sheet::parse", (round + cell) % 40, 100);
                    });
                }
            });
        }
        let run = run.found(RepeatedForAll::default());
        let own = run.iter().filter(|found| found.starts_with("evaluate")).collect::<Vec<_>>();
        assert_eq!(own, expected);
    }

    #[test]
    fn evaluating_all_for_each_edit_is_found() {
        let found = "evaluate runs on every subject in each edit, while little else happens to them: \
                     calls=2000 units=50 units_with_all=50 subjects=40 otherwise_concerned=50";
        check(40, |_| {}, &[found]);
    }

    /// Counts the letters of 40 folders at each of 100 ticks, and of one folder at each delivery.
    fn check_ticks(delivers: impl Fn(&mut Run, u64), expected: &[&str]) {
        let mut run = Run::new();
        for tick in 0..100 {
            if tick % 4 == 0 {
                delivers(&mut run, tick % 40);
            }
            run.call("mail::tick", None, |run| (0..40).for_each(|folder| _ = run.leaf("mail::count", folder, 100)));
        }
        assert_eq!(run.found(RepeatedForAll::default()), expected);
    }

    #[test]
    fn counting_all_at_each_tick_beside_the_deliveries_that_count_is_found() {
        let deliver = |run: &mut Run, folder| {
            _ = run.call("mail::deliver", folder, |run| _ = run.leaf("mail::count", folder, 100))
        };
        let found = "count runs on every subject in each tick, while little else happens to them: \
                     calls=4025 units=125 units_with_all=100 subjects=40 otherwise_concerned=0";
        check_ticks(deliver, &[found]);
        check_ticks(|run, folder| _ = run.leaf("mail::deliver", folder, 100), &[]);
    }

    #[test]
    fn evaluating_some_and_a_step_of_everything_are_silent() {
        check(9, |_| {}, &[]);
        check(40, |run| (0..40).for_each(|cell| _ = run.leaf("sheet::step", cell, 10)), &[]);
    }
}
