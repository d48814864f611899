//! `repeated`, for all subjects: in each unit of work a call runs on all subjects of a kind, while
//! everything else concerns few of them.

use metaspy_probe::{KindId, SiteId, SiteKind};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{BySite, HashMap, HashSet};
use super::question::Values;
use super::recent::Recent;
use super::repeated::KIND;
use super::samples::Samples;
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
/// Least share of these units in which something else concerns a subject, in percent. Without it,
/// nothing shows that changes are observed.
const CHANGED_PERCENT: u64 = 50;
/// Least number of calls that another call on the same subject causes. They show that the calls can
/// follow changes.
const DRIVEN: u64 = 20;
/// Largest share of subjects that other sites concern, in percent.
const OTHERS_PERCENT: u64 = 10;
/// Least number of answers that are compared with the answers in the unit before, and least share
/// of equal answers, in percent.
const ANSWERS: u64 = 20;
const EQUAL_PERCENT: u64 = 90;
/// Least median of the self time of calls whose answers are compared, in nanoseconds. A look
/// whether there is something to do is no work.
const CALL_NS: u64 = 2_000;
/// Least share of the work for such calls, in percent.
const WORK_PERCENT: u64 = 5;
/// Maximum number of open units of work.
const OPEN_UNITS: usize = 4096;
/// Maximum number of sites in a unit of work.
const SITES: usize = 32;
/// Maximum number of different counts of subjects in a unit. A site that always takes all subjects
/// has few.
const COUNTS: usize = 1024;

/// Detector of calls that always run for all subjects.
pub(super) struct RepeatedForAll {
    open: Recent<EventId, Vec<InUnit>>,
    /// Unit of work of the last event, with its calls. They are not in `open` meanwhile.
    current: Option<(EventId, Vec<InUnit>)>,
    /// Unit of work in which each row was last seen, and its first call there, by the number of the
    /// row.
    seen_in: Vec<Option<(EventId, EventId)>>,
    sites: BySite<OfSite>,
    /// Number of sites that may still have a finding.
    left: usize,
}

/// Calls of a site in a unit of work.
struct InUnit {
    site: SiteId,
    unit_site: SiteId,
    kind: KindId,
    subjects: u64,
    /// Subjects of the same kind that each other site concerns outside of these calls.
    others: Vec<(SiteId, u64)>,
    /// End of the last call.
    end: u64,
    lane: LaneId,
    /// True if the site cannot have a finding.
    is_out: bool,
}

/// Calls of a site in all units of work.
#[derive(Default)]
struct OfSite {
    /// Number of events of the site in the recording.
    recorded: u64,
    /// True once the site cannot have a finding, whatever later units contain.
    is_out: bool,
    /// Number of subjects of the site so far.
    subjects: u64,
    /// Subjects in each of the units, added up.
    concerned: u64,
    units: u64,
    calls: u64,
    /// Calls that another call on the same subject causes.
    driven: u64,
    self_ticks: u64,
    unit_site: Option<SiteId>,
    /// Self times of the calls.
    self_times: Samples<u64>,
    /// Pairs of a call and the call on the same subject in the unit before.
    pairs: Samples<(EventId, EventId)>,
    /// Units by their number of subjects.
    counts: HashMap<u64, Units>,
    events: Vec<EventId>,
}

#[derive(Clone, Default)]
struct Units {
    units: u64,
    /// Units in which other sites concern subjects.
    with_others: u64,
    /// Subjects that other sites concern and units with such subjects, by site.
    others: HashMap<SiteId, Others>,
}

#[derive(Clone, Copy, Default)]
struct Others {
    subjects: u64,
    units: u64,
}

/// Units that concern all subjects of a site.
#[derive(Default)]
struct Whole {
    units: u64,
    with_others: u64,
    /// Subjects in all of these units.
    concerned: u64,
    others: HashMap<SiteId, Others>,
}

impl Default for RepeatedForAll {
    fn default() -> Self {
        let open = Recent::of(OPEN_UNITS);
        RepeatedForAll {
            open,
            current: None,
            seen_in: Vec::new(),
            sites: BySite::default(),
            left: 0,
        }
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

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let calls =
            [SiteKind::Method, SiteKind::Async].into_iter().flat_map(|kind| context.sites_of(kind));
        for site in calls {
            let of_site = OfSite { recorded: context.survey.events_of(site), ..OfSite::default() };
            let is_out = of_site.cannot_be_found();
            self.left += usize::from(!is_out);
            self.sites.or_insert_with(site, || OfSite { is_out, ..of_site });
        }
        context.all_sites_if(self.left > 0)
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for event in events.iter().filter(|event| context.is_whole_since(event)) {
            if self.left > 0 {
                self.add(event);
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.leave();
        let RepeatedForAll { open, mut sites, .. } = *self;
        open.into_entries().for_each(|(_, mut unit)| _ = settle(&mut sites, &mut unit));
        let mut subjects: HashMap<SiteId, u64> = HashMap::default();
        let mut objects: HashMap<SiteId, u64> = HashMap::default();
        for (site, subject) in context.pairs.iter() {
            let Some(subject) = subject else { continue };
            *subjects.entry(site).or_default() += 1;
            *objects.entry(site).or_default() += u64::from(context.is_one_object(subject));
        }
        let all = |of: &HashMap<SiteId, u64>, site: &SiteId| of.get(site).copied().unwrap_or(0);
        let whole = |(site, of): (SiteId, &OfSite)| Some((site, of.whole(all(&subjects, &site))?));
        let left = sites.iter().filter(|(_, of)| !of.is_out);
        let whole: HashMap<SiteId, Whole> = left.filter_map(whole).collect();
        let found = whole.iter().filter_map(|(site, whole_units)| {
            let of_site = sites.get(*site)?;
            let are_objects = all(&objects, site) == all(&subjects, site);
            let is_little = of_site.is_little(whole_units, |_| true) && are_objects;
            // Where the answers stay the same, another pass over all subjects changed none of their
            // inputs.
            let is_in_vain = || of_site.is_little(whole_units, |other| !whole.contains_key(&other));
            let answers =
                (!is_little && is_in_vain()).then(|| of_site.equal_answers(context)).flatten();
            (is_little || answers.is_some()).then(|| {
                finding(*site, of_site, whole_units, answers, all(&subjects, site), context)
            })?
        });
        found.collect()
    }
}

impl RepeatedForAll {
    fn enter(&mut self, unit: EventId) {
        self.leave();
        let calls = match self.open.get_mut(&unit) {
            Some(calls) => std::mem::take(calls),
            None => {
                let forgotten = self.open.insert(unit, Vec::new());
                let mut room = forgotten.map(|(_, calls)| calls).unwrap_or_default();
                self.left -= settle(&mut self.sites, &mut room);
                room
            }
        };
        self.current = Some((unit, calls));
    }

    /// Puts the calls of the current unit back.
    fn leave(&mut self) {
        if let Some((unit, calls)) = self.current.take()
            && let Some(open) = self.open.get_mut(&unit)
        {
            *open = calls;
        }
    }

    fn add(&mut self, event: &ResolvedEvent) {
        let it = &event.event;
        let (Some(unit), Some(row), Some(subject)) = (event.unit, event.row, it.subject) else {
            return;
        };
        if unit.id == it.id {
            return;
        }
        let at = row as usize;
        if self.seen_in.len() <= at {
            self.seen_in.resize(at + 1, None);
        }
        let before = self.seen_in[at];
        let is_first = before.is_none_or(|(seen_in, _)| seen_in != unit.id);
        if is_first {
            self.seen_in[at] = Some((unit.id, it.id));
        }
        if self.current.as_ref().is_none_or(|(current, _)| *current != unit.id) {
            self.enter(unit.id);
        }
        let Some((_, sites)) = &mut self.current else { return };
        let mut of_site = self.sites.get_mut(it.site).filter(|of_site| !of_site.is_out);
        if is_first {
            // Effects of a call on subjects are a part of the call.
            let is_inside = |other: &InUnit| other.lane == it.lane && it.start < other.end;
            let others = sites
                .iter_mut()
                .filter(|other| other.site != it.site && other.kind == subject.kind);
            for other in others.filter(|other| !other.is_out && !is_inside(other)) {
                match other.others.iter_mut().find(|(site, _)| *site == it.site) {
                    Some((_, subjects)) => *subjects += 1,
                    None => other.others.push((it.site, 1)),
                }
            }
        }
        let end = it.start.saturating_add(it.span.unwrap_or(0));
        match sites.iter().position(|own| own.site == it.site && own.kind == subject.kind) {
            Some(at) => {
                let own = &mut sites[at];
                own.subjects += u64::from(is_first);
                own.end = own.end.max(end);
                own.lane = it.lane;
            }
            None if sites.len() < SITES => {
                let others = sites
                    .iter()
                    .filter(|other| other.site != it.site && other.kind == subject.kind);
                sites.push(InUnit {
                    site: it.site,
                    unit_site: unit.site,
                    kind: subject.kind,
                    subjects: 1,
                    others: others
                        .filter(|_| of_site.is_some())
                        .map(|other| (other.site, other.subjects))
                        .collect(),
                    end,
                    lane: it.lane,
                    is_out: of_site.is_none(),
                });
            }
            None => {}
        }
        if let Some(of_site) = &mut of_site {
            of_site.subjects += u64::from(before.is_none());
            of_site.calls += 1;
            let asker = event
                .cause
                .event()
                .filter(|cause| cause.site != it.site)
                .and_then(|cause| cause.subject);
            of_site.driven += u64::from(asker == Some(subject));
            of_site.self_ticks = of_site.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
            of_site.self_times.add(event.self_ticks.unwrap_or(0));
            if let Some((_, before)) = before.filter(|_| is_first) {
                of_site.pairs.add((it.id, before));
            }
            if of_site.events.len() < NAMED {
                of_site.events.push(it.id);
            }
        }
    }
}

/// Adds a unit of work that has ended. Returns the number of sites that cannot have a finding any
/// more.
fn settle(sites: &mut BySite<OfSite>, unit: &mut Vec<InUnit>) -> usize {
    let mut gone = 0;
    for of_unit in unit.drain(..) {
        let Some(of_site) = sites.get_mut(of_unit.site).filter(|of_site| !of_site.is_out) else {
            continue;
        };
        of_site.units += 1;
        of_site.concerned += of_unit.subjects;
        of_site.unit_site = Some(of_unit.unit_site);
        if of_site.counts.len() < COUNTS || of_site.counts.contains_key(&of_unit.subjects) {
            let units = of_site.counts.entry(of_unit.subjects).or_default();
            units.units += 1;
            units.with_others += u64::from(!of_unit.others.is_empty());
            for (site, subjects) in of_unit.others {
                let others = units.others.entry(site).or_default();
                others.subjects += subjects;
                others.units += 1;
            }
        }
        if of_site.units.is_multiple_of(UNITS) && of_site.cannot_be_found() {
            of_site.is_out = true;
            gone += 1;
        }
    }
    gone
}

impl OfSite {
    /// Returns true if too few of the units can concern all subjects, whatever later units contain.
    fn cannot_be_found(&self) -> bool {
        let least = (self.subjects.max(SUBJECTS) * ALL_PERCENT).div_ceil(100);
        let to_come = self.recorded.saturating_sub(self.concerned) / least;
        let units =
            self.counts.iter().filter(|(count, _)| **count >= least).map(|(_, units)| units.units);
        let most = to_come + units.sum::<u64>();
        // Units with a single subject may be the calls that changes ask for.
        let least_units = self.units - self.counts.get(&1).map_or(0, |one| one.units);
        most < UNITS || most * 100 < least_units * UNITS_PERCENT
    }

    /// Returns the units that concern all subjects, if most units do.
    fn whole(&self, subjects: u64) -> Option<Whole> {
        if subjects < SUBJECTS || self.units < UNITS {
            return None;
        }
        let mut whole = Whole::default();
        for (count, units) in
            self.counts.iter().filter(|(count, _)| **count * 100 >= subjects * ALL_PERCENT)
        {
            whole.units += units.units;
            whole.with_others += units.with_others;
            whole.concerned += count * units.units;
            for (site, others) in &units.others {
                let sum = whole.others.entry(*site).or_default();
                sum.subjects += others.subjects;
                sum.units += others.units;
            }
        }
        // Where changes ask for their own calls, these calls are units of their own.
        let driven =
            if self.driven >= DRIVEN { self.counts.get(&1).map_or(0, |one| one.units) } else { 0 };
        let is_always =
            whole.units >= UNITS && whole.units * 100 >= (self.units - driven) * UNITS_PERCENT;
        is_always.then_some(whole)
    }

    /// Returns true if some of the other sites concern subjects, and few of them.
    fn is_little(&self, whole: &Whole, is_meant: impl Fn(SiteId) -> bool) -> bool {
        let meant: Vec<&Others> = whole
            .others
            .iter()
            .filter(|(site, _)| is_meant(**site))
            .map(|(_, others)| others)
            .collect();
        let subjects: u64 = meant.iter().map(|others| others.subjects).sum();
        let with_others = if meant.len() == whole.others.len() {
            whole.with_others
        } else {
            // A lower bound: the largest number of units with one of these sites.
            meant.iter().map(|others| others.units).max().unwrap_or(0)
        };
        let is_driven = self.driven >= DRIVEN && self.driven * 100 <= self.calls * OTHERS_PERCENT;
        let is_changed = is_driven || with_others * 100 >= whole.units * CHANGED_PERCENT;
        is_changed && subjects * 100 <= whole.concerned * OTHERS_PERCENT
    }

    /// Compares the arguments and results of calls with the call on the same subject in the unit
    /// before. Returns the numbers of equal and of compared calls, if nearly all are equal and the
    /// calls take enough time.
    fn equal_answers(&self, context: &Context<'_>) -> Option<(u64, u64)> {
        let is_work = self.self_ticks >= context.survey.work_ticks / 100 * WORK_PERCENT;
        if !is_work || context.ns(self.self_times.median()) < CALL_NS {
            return None;
        }
        let mut answers = HashSet::default();
        let mut compared = 0;
        let mut equal = 0;
        for (again, before) in self.pairs.iter() {
            let Some((again, before)) = Values::of(again, context).zip(Values::of(before, context))
            else {
                continue;
            };
            let Some((answer, answer_before)) = again.answer().zip(before.answer()) else {
                continue;
            };
            compared += 1;
            equal += u64::from(answer == answer_before && again.arguments == before.arguments);
            answers.insert(answer.to_owned());
        }
        let is_equal =
            compared >= ANSWERS && equal * 100 >= compared * EQUAL_PERCENT && answers.len() > 1;
        is_equal.then_some((equal, compared))
    }
}

fn finding(
    site: SiteId,
    found: &OfSite,
    whole: &Whole,
    answers: Option<(u64, u64)>,
    subjects: u64,
    context: &Context<'_>,
) -> Option<Finding> {
    let others: u64 = whole.others.values().map(|others| others.subjects).sum();
    let name = context.name(site);
    let unit = context.name(found.unit_site?);
    let title = match answers {
        Some(_) => format!(
            "{name} runs on every subject in each {unit}, and returns what it returned before"
        ),
        None => format!(
            "{name} runs on every subject in each {unit}, while little else happens to them"
        ),
    };
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
            grouped(whole.concerned),
            grouped(others),
            percent(others, whole.concerned),
        ),
        numbers: vec![
            ("calls", found.calls),
            ("units", found.units),
            ("units_with_all", whole.units),
            ("subjects", subjects),
            ("otherwise_concerned", others),
        ],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; how many calls a change needs is not recorded, and the cost is that of all of them"
            .to_owned(),
    );
    if let Some((equal, compared)) = answers {
        let text = format!(
            " {} of {} compared calls return what they returned in the `{unit}` before.",
            grouped(equal),
            grouped(compared)
        );
        finding.evidence.text.push_str(&text);
        finding.evidence.numbers.extend([("compared_calls", compared), ("equal_answers", equal)]);
    }
    finding.needs =
        "the change as a reason of the calls that it needs, by a link (docs/announcements.md)"
            .to_owned();
    finding.advice = format!(
        "run {name} for the subjects that a change concerns, and keep the results of the others"
    );
    Some(finding)
}

#[cfg(test)]
mod tests;
