//! `repeated`, by answers: in a unit of work, calls with equal recorded arguments return equal
//! results.

use metaspy_format::facts::SelfKind;
use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, Outcome, ResolvedEvent};

use super::finding::NAMED;
use super::map::{BySite, HashMap, HashSet};
use super::question::{self, Values};
use super::repeated::KIND;
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Least number of calls of a site, and of repeated questions among its compared calls.
const CALLS: u64 = 20;
/// Maximum number of units of work of a site whose calls are compared, and of calls in each of
/// them.
const UNITS: usize = 16;
const CALLS_OF_UNIT: usize = 64;
/// Least share of examined calls whose values are recorded, in percent.
const KNOWN_PERCENT: u64 = 50;
/// Least share of compared calls that ask again, in percent.
const AGAIN_PERCENT: u64 = 50;
/// Largest share of questions that are answered otherwise the next time, in percent.
const OTHERWISE_PERCENT: u64 = 5;
/// Least share of the work for the calls that ask again, in percent.
const WORK_PERCENT: u64 = 10;
/// Least median of the calls that ask again, in nanoseconds. Remembering the answer costs time,
/// too.
const CALL_NS: u64 = 5_000;
/// A call that finds its answer takes less than the first one by at least this factor.
const KEPT: u64 = 4;
/// Least number of different questions with their answers, in percent of the questions of all
/// units. A function that each unit asks the same is a helper that works alike everywhere.
const OWN_PERCENT: u64 = 50;

/// Detector of questions that are asked again.
#[derive(Default)]
pub(super) struct RepeatedAnswers {
    sites: BySite<OfSite>,
    /// Begins and ends of the last calls with `&mut self` on each subject.
    changed: Changed,
    /// Number of changes and announcements so far.
    changes: u64,
}

/// Begins and ends of the last calls that change a subject.
type LastCalls = [(u64, u64); 3];

#[derive(Default)]
struct Changed {
    /// Index in `calls`, counted from 1, by the number of the subject.
    places: Vec<u32>,
    calls: Vec<LastCalls>,
    /// Calls on subjects without a number.
    beyond: HashMap<Subject, LastCalls>,
}

impl Changed {
    fn get(&self, subject: Subject, row: Option<u32>) -> Option<&LastCalls> {
        let Some(row) = row else { return self.beyond.get(&subject) };
        let place = *self.places.get(row as usize)? as usize;
        self.calls.get(place.wrapping_sub(1))
    }

    fn of(&mut self, subject: Subject, row: Option<u32>) -> &mut LastCalls {
        let Some(row) = row else { return self.beyond.entry(subject).or_default() };
        let row = row as usize;
        if self.places.len() <= row {
            self.places.resize(row + 1, 0);
        }
        if self.places[row] == 0 {
            self.calls.push(LastCalls::default());
            self.places[row] = self.calls.len() as u32;
        }
        &mut self.calls[self.places[row] as usize - 1]
    }
}

/// Calls of a site.
#[derive(Default)]
struct OfSite {
    /// True if the values of the first call are recorded and shown, and true if they are recorded
    /// and not shown.
    has_values: bool,
    is_hidden: bool,
    changes_subject: bool,
    calls: u64,
    ticks: u64,
    /// End of the last call, and its lane: a recursive call is a part of the call around it.
    end: u64,
    lane: Option<LaneId>,
    /// Every n-th unit of work is examined, where n doubles whenever there are too many.
    units: Vec<Unit>,
    stride: u64,
    seen: u64,
    /// Unit of the last call.
    last: Option<EventId>,
}

/// Calls of a site in a unit of work.
struct Unit {
    id: EventId,
    calls: Vec<Call>,
}

struct Call {
    id: EventId,
    subject: Option<Subject>,
    start: u64,
    span: u64,
    /// Begin of the last call that had changed the subject before this one.
    changed: u64,
    changes: u64,
}

/// Subject and arguments of a call.
type Asked = (Option<Subject>, Vec<(String, String)>);

/// Calls of a site that were compared.
#[derive(Default)]
struct Compared {
    examined: u64,
    compared: u64,
    again: u64,
    otherwise: u64,
    questions: u64,
    again_ticks: Samples<u64>,
    first_ticks: Samples<u64>,
    /// Different questions of all units, with their answers.
    known: HashSet<(Asked, String)>,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
}

impl Detector for RepeatedAnswers {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        context.missing_calls()
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        if context.survey.details == 0 {
            return Vec::new();
        }
        let kinds = [SiteKind::Method, SiteKind::Async, SiteKind::Change, SiteKind::Announcement];
        kinds.into_iter().flat_map(|kind| context.sites_of(kind)).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            self.add(event, context);
        }
    }

    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        let is_hidden = |of_site: &OfSite| {
            of_site.is_hidden && !of_site.changes_subject && of_site.is_costly(context)
        };
        let hidden = self.sites.iter().any(|(_, of_site)| is_hidden(of_site));
        hidden.then(question::not_shown).or_else(|| context.missing_window())
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let costly = self
            .sites
            .into_iter()
            .filter(|(_, of_site)| of_site.has_values && of_site.is_costly(context));
        costly.filter_map(|(site, of_site)| finding(site, &of_site, context)).collect()
    }
}

impl RepeatedAnswers {
    fn add(&mut self, event: &ResolvedEvent, context: &Context<'_>) {
        let it = &event.event;
        match context.site_kind(it.site) {
            SiteKind::Method | SiteKind::Async => {}
            SiteKind::Change | SiteKind::Announcement => {
                self.changes += 1;
                return;
            }
            _ => return,
        }
        let of_site = self.sites.or_insert_with(it.site, || OfSite {
            has_values: Values::of(it.id, context).is_some_and(|values| values.answer().is_some()),
            is_hidden: question::is_hidden(it.id, context),
            changes_subject: context
                .facts(it.site)
                .is_some_and(|facts| facts.self_kind == SelfKind::Mut),
            stride: 1,
            ..OfSite::default()
        });
        let Some(span) = it.span else { return };
        let end = it.start.saturating_add(span);
        let mut changed = 0;
        if let Some(subject) = it.subject {
            if of_site.changes_subject {
                let calls = self.changed.of(subject, event.subject_row);
                let [last, before, _] = *calls;
                *calls = [(it.start, end), last, before];
            } else if of_site.has_values
                && let Some(calls) = self.changed.get(subject, event.subject_row)
            {
                let ended = calls.iter().filter(|(_, end)| *end <= it.start);
                changed = ended.map(|(start, _)| *start).max().unwrap_or(0);
            }
        }
        let is_recorded = of_site.has_values || of_site.is_hidden;
        let Some(unit) = event.unit.filter(|unit| is_recorded && unit.id != it.id) else { return };
        let is_recursive = of_site.lane == Some(it.lane) && it.start < of_site.end;
        let has_answer = matches!(it.outcome, Outcome::Returned | Outcome::Succeeded);
        if is_recursive || !has_answer || !context.is_whole_since(event) {
            return;
        }
        of_site.lane = Some(it.lane);
        of_site.end = end;
        of_site.calls += 1;
        of_site.ticks = of_site.ticks.saturating_add(span);
        if !of_site.has_values {
            return;
        }
        let call = Call {
            id: it.id,
            subject: it.subject,
            start: it.start,
            span,
            changed,
            changes: self.changes,
        };
        of_site.examine(unit.id, call);
    }
}

impl OfSite {
    fn is_costly(&self, context: &Context<'_>) -> bool {
        self.calls >= CALLS && self.ticks >= context.survey.work_ticks / 100 * WORK_PERCENT
    }

    fn examine(&mut self, unit: EventId, call: Call) {
        if let Some(known) = self.units.iter_mut().rev().find(|known| known.id == unit) {
            if known.calls.len() < CALLS_OF_UNIT {
                known.calls.push(call);
            }
            return;
        }
        if self.last.replace(unit) == Some(unit) {
            return;
        }
        if self.seen.is_multiple_of(self.stride) {
            if self.units.len() == UNITS {
                let mut at = 0;
                self.units.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride *= 2;
            }
            self.units.push(Unit { id: unit, calls: vec![call] });
        }
        self.seen += 1;
    }

    /// Compares the examined calls of each unit of work with each other.
    fn compared(&self, context: &Context<'_>) -> Compared {
        let mut found = Compared::default();
        for unit in &self.units {
            let mut answers: HashMap<Asked, (String, &Call)> = HashMap::default();
            for call in &unit.calls {
                found.examined += 1;
                let Some(values) = Values::of(call.id, context) else { continue };
                let Some(answer) = values.answer().map(str::to_owned) else { continue };
                found.compared += 1;
                let question = (call.subject, values.arguments);
                let Some((known, before)) = answers.get_mut(&question) else {
                    found.questions += 1;
                    found.first_ticks.add(call.span);
                    found.known.insert((question.clone(), answer.clone()));
                    answers.insert(question, (answer, call));
                    continue;
                };
                let has_reason = call.changes != before.changes || call.changed > before.start;
                if *known != answer {
                    found.otherwise += 1;
                } else if !has_reason {
                    found.again += 1;
                    found.again_ticks.add(call.span);
                    call.subject
                        .into_iter()
                        .for_each(|subject| *found.subjects.entry(subject).or_default() += 1);
                    if found.events.len() < NAMED {
                        found.events.push(call.id);
                    }
                }
                (*known, *before) = (answer, call);
            }
        }
        found
    }
}

fn finding(site: SiteId, of_site: &OfSite, context: &Context<'_>) -> Option<Finding> {
    let found = of_site.compared(context);
    let again_ticks = found.again_ticks.median();
    let first_ticks = found.first_ticks.median();
    let repeated = |number: u64| {
        (u128::from(number) * u128::from(found.again) / u128::from(found.examined)) as u64
    };
    let is_known = found.compared > 0 && found.compared * 100 >= found.examined * KNOWN_PERCENT;
    if !is_known || found.again < CALLS || found.again * 100 < found.compared * AGAIN_PERCENT {
        return None;
    }
    let is_otherwise = found.otherwise * 100 > found.again * OTHERWISE_PERCENT;
    let known = found.known.len();
    let is_telling = known > 1 && known as u64 * 100 >= found.questions * OWN_PERCENT;
    let is_kept = again_ticks * KEPT < first_ticks || context.ns(again_ticks) < CALL_NS;
    let is_cheap = repeated(of_site.ticks) < context.survey.work_ticks / 100 * WORK_PERCENT;
    // A test asks on purpose.
    if is_otherwise || !is_telling || is_kept || is_cheap || context.are_of_tests(&found.events) {
        return None;
    }
    let name = context.name(site);
    let unit =
        context.store.event(of_site.units.first()?.id).map(|event| context.name(event.site))?;
    let title = format!("{name} is asked the same again, and returns the same");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_work(context.ns(repeated(of_site.ticks)), repeated(of_site.calls));
    finding.evidence = Evidence {
        text: format!(
            "{} of {} compared calls ({}) have the receiver, the arguments and the result of an earlier call in the same \
             `{unit}`: {} different questions, in {} calls of {name} in all.",
            grouped(found.again),
            grouped(found.compared),
            percent(found.again, found.compared),
            grouped(found.questions),
            grouped(of_site.calls),
        ),
        numbers: vec![
            ("compared_calls", found.compared),
            ("repeated_calls", found.again),
            ("calls", of_site.calls),
        ],
        events: found.events,
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the values are recorded, and the cost is that of the compared calls' share; what else the call does is not known"
            .to_owned(),
    );
    finding.advice = format!("compute {name} once in each `{unit}`, or keep its result");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Normalises 30 matrices of 20 cells, and asks `Matrix::norm` for each of them, whose result
    /// is `norm` of the matrix and the cell. `between` comes between two cells.
    fn check(
        facts: &str,
        ns: u64,
        norm: impl Fn(u64, u64) -> String,
        between: Option<&str>,
        expected: &[&str],
    ) {
        let mut run = Run::new();
        run.function("lib", "lib::Matrix::norm", facts);
        run.function("lib", "lib::Matrix::set", "type=Matrix self=mut");
        run.at_places();
        for matrix in 0..30 {
            run.call("lib::normalise", None, |run| {
                for cell in 0..20 {
                    let call = run.leaf("lib::Matrix::norm", matrix, ns);
                    run.returned(call, &norm(matrix, cell));
                    between.into_iter().for_each(|path| _ = run.leaf(path, matrix, 10));
                }
            });
        }
        assert_eq!(run.found(RepeatedAnswers::default()), expected);
    }

    #[test]
    fn a_result_that_is_computed_again_for_each_item_is_found() {
        let found = "Matrix::norm is asked the same again, and returns the same: compared_calls=300 repeated_calls=285 calls=600";
        check("type=Matrix self=ref", 8_000, |matrix, _| format!("{matrix}.5"), None, &[found]);
        check(
            "type=Matrix self=ref",
            8_000,
            |matrix, _| format!("{matrix}.5"),
            Some("lib::Matrix::get"),
            &[found],
        );
    }

    #[test]
    fn other_results_trivial_ones_cheap_calls_and_changes_between_are_silent() {
        let same = |matrix, _| format!("{matrix}.5");
        check(
            "type=Matrix self=ref",
            8_000,
            |matrix, cell| format!("{}", matrix + cell),
            None,
            &[],
        );
        check("type=Matrix self=ref", 8_000, |_, _| "Ok(())".to_owned(), None, &[]);
        check("type=Matrix self=ref", 1_000, same, None, &[]);
        check("type=Matrix self=ref", 8_000, same, Some("lib::Matrix::set"), &[]);
    }

    #[test]
    fn arguments_that_differ_or_are_not_shown_are_silent() {
        for value in [None, Some("?")] {
            let mut run = Run::new();
            for day in 0..30_u64 {
                run.call("lib::report", None, |run| {
                    for row in 0..20 {
                        let call = run.leaf("lib::price", day, 8_000);
                        run.argument(call, "row", value.unwrap_or(&row.to_string()));
                        run.returned(call, &format!("{day}.5"));
                    }
                });
            }
            assert_eq!(run.found(RepeatedAnswers::default()), [] as [&str; 0]);
        }
    }

    #[test]
    fn a_helper_that_all_units_ask_the_same_is_silent() {
        let check = |seconds: fn(u64) -> u64, expected: usize| {
            let mut run = Run::new();
            for day in 0..30 {
                run.call("lib::report", None, |run| {
                    for _ in 0..20 {
                        let call = run.leaf("lib::wait", None, 8_000);
                        run.argument(call, "seconds", &seconds(day).to_string());
                        run.returned(call, &format!("{}", seconds(day) * 1_000));
                    }
                });
            }
            assert_eq!(run.found(RepeatedAnswers::default()).len(), expected);
        };
        check(|_| 7, 0);
        check(|day| day % 3, 0);
        check(|day| day, 1);
    }

    #[test]
    fn what_is_kept_is_silent() {
        let mut run = Run::new();
        for day in 0..30_u64 {
            run.call("lib::report", None, |run| {
                for row in 0..20 {
                    let call = run.leaf("lib::price", day, if row == 0 { 100_000 } else { 6_000 });
                    run.returned(call, &format!("{day}.5"));
                }
            });
        }
        assert_eq!(run.found(RepeatedAnswers::default()), [] as [&str; 0]);
    }
}
