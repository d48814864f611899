//! Kinds of findings that a user defines in `metaspy.toml`, each by a condition on groups of
//! events.

use super::finding::NAMED;
use super::map::HashMap;
use super::own_kind::{GroupBy, PLACEHOLDERS};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding, FoundSite, OwnKind};
use crate::condition::{Operator, Quantity, unended};
use crate::text::{counted, grouped, time};
use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{By, EventId, LaneId, ResolvedEvent, Scope};

/// Maximum number of groups. Events of further groups are not judged.
const GROUPS_MAX: usize = 1 << 20;

/// Detector of a user's kind.
pub(super) struct Own {
    kind: OwnKind,
    groups: HashMap<Key, Group>,
    /// Number of events that pass the filter, by site.
    sites: HashMap<SiteId, u64>,
    /// Number of events in groups beyond the maximum.
    beyond: u64,
}

/// Key of a group. Fields that the kind does not group by are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    site: Option<SiteId>,
    subject: Option<Subject>,
    unit: Option<EventId>,
    cause: Option<EventId>,
}

/// Events of a group.
struct Group {
    count: u64,
    self_ticks: u64,
    /// Time in which a call of the group was open, added up over lanes.
    total_ticks: u64,
    max_ticks: u64,
    /// End of the last call in each lane. A call that begins before it is nested.
    ends: Vec<(LaneId, u64)>,
    first: EventId,
    site: SiteId,
    subject: Option<Subject>,
    unit: Option<SiteId>,
    cause: Option<SiteId>,
}

impl Own {
    /// Creates a detector of a kind.
    pub(super) fn new(kind: &OwnKind) -> Own {
        Own { kind: kind.clone(), groups: HashMap::default(), sites: HashMap::default(), beyond: 0 }
    }
}

impl Detector for Own {
    fn kind(&self) -> &str {
        self.kind.name()
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // Missing calls could only raise the number that the condition compares.
        let missing =
            if self.is_of_more() { context.missing_events() } else { context.missing_calls() };
        let unknown =
            || self.kind.when.filter.check(context.store).err().map(|error| error.to_string());
        let undecided =
            || self.unended(context).filter(|unended| !self.is_of_more() || unended.may_not_match);
        missing.or_else(unknown).or_else(|| undecided().map(|unended| unended.text))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        let mut tester = self.kind.when.filter.tester(context.store);
        for event in events.iter().copied().filter(|event| tester.matches(&event.event)) {
            let key = self.key(event);
            *self.sites.entry(event.event.site).or_default() += 1;
            let has_room = self.groups.len() < GROUPS_MAX;
            match self.groups.get_mut(&key) {
                Some(group) => group.add(event),
                None if has_room => self
                    .groups
                    .entry(key)
                    .or_insert_with(|| Group::beginning_with(event))
                    .add(event),
                None => self.beyond += 1,
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut by_site: HashMap<Option<SiteId>, Vec<(&Key, &Group)>> = HashMap::default();
        for (key, group) in self.groups.iter().filter(|(_, group)| self.holds(group, context)) {
            by_site.entry(key.site).or_default().push((key, group));
        }
        let unended = if by_site.is_empty() { None } else { self.unended(context) };
        let mut findings: Vec<Finding> =
            by_site.into_iter().map(|(site, found)| self.finding(site, found, context)).collect();
        if let Some(Unended { text, .. }) = unended {
            findings
                .iter_mut()
                .for_each(|finding| finding.certainty = Certainty::AtLeast(text.clone()));
        }
        findings
    }
}

/// Calls whose outcome matters for the condition, and which still ran when a rotation went on in
/// another file.
struct Unended {
    /// True if some of these calls pass the filter while they run, and may not pass it with their
    /// later outcome.
    may_not_match: bool,
    text: String,
}

impl Own {
    /// Returns true if further calls would only strengthen the condition.
    fn is_of_more(&self) -> bool {
        matches!(self.kind.when.operator, Operator::More | Operator::AtLeast)
    }

    fn unended(&self, context: &Context<'_>) -> Option<Unended> {
        let filter = &self.kind.when.filter;
        let tally = context.store.tally(By::Site, &Scope::matching(filter.clone()));
        let bounds = context.store.call_bounds(filter, &tally);
        let calls = tally.rows.iter().map(|row| row.measure.count).fold(0, u64::saturating_add);
        Some(Unended { may_not_match: bounds.least < calls, text: unended(&bounds.gaps)? })
    }

    fn key(&self, event: &ResolvedEvent) -> Key {
        let is_by = |by: GroupBy| self.kind.by.contains(&by);
        Key {
            site: Some(event.event.site).filter(|_| is_by(GroupBy::Site)),
            subject: event.event.subject.filter(|_| is_by(GroupBy::Subject)),
            unit: event.unit.map(|unit| unit.id).filter(|_| is_by(GroupBy::Unit)),
            cause: event.cause.event().map(|cause| cause.id).filter(|_| is_by(GroupBy::Cause)),
        }
    }

    fn measured(&self, group: &Group, context: &Context<'_>) -> u64 {
        match self.kind.when.quantity {
            Quantity::Count => group.count,
            Quantity::Total => context.ns(group.total_ticks),
            Quantity::Max => context.ns(group.max_ticks),
            Quantity::SelfTime => context.ns(group.self_ticks),
        }
    }

    fn holds(&self, group: &Group, context: &Context<'_>) -> bool {
        self.kind.when.operator.holds(self.measured(group, context), self.kind.when.limit)
    }

    fn finding(
        &self,
        site: Option<SiteId>,
        mut found: Vec<(&Key, &Group)>,
        context: &Context<'_>,
    ) -> Finding {
        found.sort_by_key(|(key, group)| (std::cmp::Reverse(self.measured(group, context)), **key));
        let worst = found[0].1;
        let all = self.groups.keys().filter(|key| key.site == site).count();
        let mut subjects = HashMap::default();
        let mut events = 0;
        let mut self_ticks = 0_u64;
        for (_, group) in &found {
            if let Some(subject) = group.subject {
                *subjects.entry(subject).or_default() += group.count;
            }
            events += group.count;
            self_ticks = self_ticks.saturating_add(group.self_ticks);
        }
        let sites = site.map_or_else(|| self.sites.keys().copied().collect(), |site| vec![site]);
        let mut sites: Vec<FoundSite> = sites.into_iter().map(|site| context.site(site)).collect();
        // Sites are sorted by path, so that the fingerprint is the same in every run.
        sites.sort_by(|a, b| a.path.cmp(&b.path));
        let mut finding = Finding::new(self.kind.name(), self.title(worst, context), sites);
        finding.subjects = context.subjects(&subjects);
        finding.cost = Cost::of_work(context.ns(self_ticks), events);
        let holding = found.len() as u64;
        let groups = self.of_groups(all);
        finding.evidence = Evidence {
            text: format!(
                "`{}` holds for {} of {groups}; the first has {} and {}.",
                self.kind.when.text(),
                grouped(holding),
                counted(worst.count, "event"),
                time(context.ns(worst.total_ticks)),
            ),
            numbers: vec![
                ("groups_that_hold", holding),
                ("groups", all as u64),
                ("most_events", worst.count),
            ],
            events: found.iter().map(|(_, group)| group.first).take(NAMED).collect(),
            filter: self.filter(site, context),
        };
        finding.certainty = match self.beyond {
            0 => context.counted("counts exact"),
            beyond => Certainty::AtLeast(format!(
                "{} of further groups are not judged",
                counted(beyond, "event")
            )),
        };
        finding.advice.clone_from(&self.kind.advice);
        finding
    }

    /// Returns the number of groups in words: `12 groups by subject and unit`.
    fn of_groups(&self, count: usize) -> String {
        let words = self.kind.by.iter().map(|by| match by {
            GroupBy::Site => "site",
            GroupBy::Subject => "subject",
            GroupBy::Unit => "unit",
            GroupBy::Cause => "cause",
        });
        let by = words.collect::<Vec<_>>().join(" and ");
        format!("{} by {by}", counted(count as u64, "group"))
    }

    /// Returns the filter of the condition, with the filter of the site if other sites pass the
    /// condition, too.
    fn filter(&self, site: Option<SiteId>, context: &Context<'_>) -> String {
        let own = self.kind.when.filter.text();
        let site = site.filter(|_| self.sites.len() > 1 || own.is_empty());
        site.map_or_else(
            || own.to_owned(),
            |site| format!("{} {own}", context.filter(site)).trim_end().to_owned(),
        )
    }

    fn title(&self, worst: &Group, context: &Context<'_>) -> String {
        let name =
            |site: Option<SiteId>| site.map_or("no cause", |site| context.name(site)).to_owned();
        let subject = worst
            .subject
            .map_or_else(|| "no subject".to_owned(), |it| context.store.subject_text(it));
        let values = [
            context.name(worst.site).to_owned(),
            subject,
            name(worst.unit),
            name(worst.cause),
            grouped(worst.count),
            time(context.ns(worst.total_ticks)),
            time(context.ns(worst.self_ticks)),
        ];
        let mut title = String::new();
        let mut rest = self.kind.title.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (word, next) = after.split_once('}').unwrap_or((after, ""));
            title.push_str(before);
            title.extend(
                PLACEHOLDERS
                    .iter()
                    .zip(&values)
                    .filter(|(known, _)| **known == word)
                    .map(|(_, value)| value.as_str()),
            );
            rest = next;
        }
        title + rest
    }
}

impl Group {
    fn beginning_with(event: &ResolvedEvent) -> Group {
        Group {
            count: 0,
            self_ticks: 0,
            total_ticks: 0,
            max_ticks: 0,
            ends: Vec::new(),
            first: event.event.id,
            site: event.event.site,
            subject: event.event.subject,
            unit: event.unit.map(|unit| unit.site),
            cause: event.cause.event().map(|cause| cause.site),
        }
    }

    fn add(&mut self, event: &ResolvedEvent) {
        let it = &event.event;
        self.count += 1;
        self.self_ticks = self.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
        let Some(span) = it.span else { return };
        self.max_ticks = self.max_ticks.max(span);
        let end = it.start.saturating_add(span);
        let at = self.ends.iter().position(|(lane, _)| *lane == it.lane).unwrap_or_else(|| {
            self.ends.push((it.lane, 0));
            self.ends.len() - 1
        });
        let open_until = &mut self.ends[at].1;
        self.total_ticks =
            self.total_ticks.saturating_add(end.saturating_sub((*open_until).max(it.start)));
        *open_until = (*open_until).max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::super::{Certainty, Config, Findings};
    use metaspy_reader::Outcome;

    /// Records two requests. The first asks nine times for one row, and the second asks once for
    /// each of nine rows.
    fn run() -> Run {
        let mut run = Run::new();
        run.call("shop::request", 1, |run| {
            (0..9).for_each(|_| _ = run.leaf("shop::Database::query", 7, 1_000))
        });
        run.call("shop::request", 2, |run| {
            (0..9).for_each(|row| _ = run.leaf("shop::Database::query", row, 1_000));
            run.call("shop::Database::load", 3, |run| _ = run.leaf("shop::Database::load", 3, 500));
        });
        run
    }

    fn found(keys: &str) -> Findings {
        let text = format!("[[findings.own]]\nkind = \"own\"\n{keys}");
        let config = Config::parse(&text, &[]).expect("the settings of tests are right");
        run().findings_of(&Config { kinds: vec!["own".to_owned()], ..config })
    }

    fn check(keys: &str, expected: &[&str]) {
        let titles: Vec<String> =
            found(keys).found.into_iter().map(|finding| finding.title).collect();
        assert_eq!(titles, expected, "{keys}");
    }

    #[test]
    fn a_condition_is_judged_for_each_group() {
        let title = r#"title = "{cause} asks {site} {count} times for {subject}""#;
        let query =
            |by: &str, limit: u64| format!("{by}\nwhen = \"count(site:query) > {limit}\"\n{title}");
        check(&query("", 17), &["request asks Database::query 18 times for Node #7"]);
        check(&query("", 18), &[]);
        check(&query("by = [\"cause\"]", 8), &["request asks Database::query 9 times for Node #7"]);
        check(&query("by = [\"cause\"]", 9), &[]);
        check(
            &query("by = [\"cause\", \"subject\"]", 8),
            &["request asks Database::query 9 times for Node #7"],
        );
        check(
            &query("by = [\"subject\"]", 9),
            &["request asks Database::query 10 times for Node #7"],
        );
    }

    #[test]
    fn time_of_nested_calls_counts_once() {
        check(
            "when = \"total(site:load) >= 500ns\"\ntitle = \"{total} {self}\"",
            &["500 ns 500 ns"],
        );
        check("when = \"total(site:load) > 500ns\"\ntitle = \"{total}\"", &[]);
        check("when = \"max(site:request) > 9us\"\ntitle = \"slow\"", &["slow"]);
    }

    #[test]
    fn a_finding_has_subjects_and_the_filter_of_its_events() {
        let findings =
            found("by = [\"subject\"]\nwhen = \"count(site:Database::*) > 1\"\ntitle = \"often\"");
        let [finding] = &findings.found[..] else { panic!("{:?}", findings.found) };
        let sites: Vec<&str> = finding.sites.iter().map(|site| site.path.as_str()).collect();
        assert_eq!(sites, ["shop::Database::load", "shop::Database::query"]);
        assert_eq!(
            finding.evidence.numbers,
            [("groups_that_hold", 2), ("groups", 9), ("most_events", 10)]
        );
        assert_eq!(finding.evidence.filter, "site:Database::*");
        let by_site = found("when = \"count(site:Database::*) > 2\"\ntitle = \"often\"");
        assert_eq!(by_site.found[0].evidence.filter, "site:shop::Database::query site:Database::*");
    }

    #[test]
    fn calls_that_a_rotation_cut_off_are_not_taken_for_what_they_were_then() {
        let found = |when: &str| {
            let mut run = Run::new();
            for outcome in [Outcome::Panicked, Outcome::Panicked, Outcome::Returned] {
                run.ended_call("shop::request", 1, outcome, |run| run.work(1_000));
            }
            run.running("shop::request", 2);
            run.goes_on_elsewhere();
            let text = format!(
                "[[findings.own]]\nkind = \"own\"\nwhen = \"{when}\"\ntitle = \"{{count}} calls\""
            );
            let config = Config::parse(&text, &[]).expect("the settings of tests are right");
            let findings = run.findings_of(&Config { kinds: vec!["own".to_owned()], ..config });
            let found = findings.found.first().map(|finding| {
                (finding.title.clone(), matches!(finding.certainty, Certainty::AtLeast(_)))
            });
            (
                found,
                findings.not_looked_for.first().map_or(String::new(), |reason| reason.why.clone()),
            )
        };
        // The call that was cut off can only raise the count.
        assert_eq!(found("count(outcome:panicked) > 1").0, Some(("2 calls".to_owned(), true)));
        for when in [
            "count(-outcome:panicked) > 1",
            "count(outcome:panicked) < 3",
            "count(outcome:running) > 0",
        ] {
            let (found, why) = found(when);
            assert_eq!(found, None, "{when}");
            assert!(why.contains("how 1 call ended"), "{when}: {why}");
        }
        assert_eq!(found("count(site:request) > 3").0, Some(("4 calls".to_owned(), false)));
    }

    #[test]
    fn a_filter_that_fits_nothing_is_stated() {
        let findings = found("when = \"count(site:Database::qury) > 1\"\ntitle = \"often\"");
        assert!(
            findings.not_looked_for[0].why.contains("Database"),
            "{:?}",
            findings.not_looked_for
        );
    }

    #[test]
    fn a_kind_that_cannot_be_read_shows_what_to_write() {
        let check = |keys: &str, expected: &str| {
            let error =
                Config::parse(&format!("[[findings.own]]\n{keys}"), &[]).expect_err("it is wrong");
            assert!(error.contains(expected), "{error}");
        };
        let rest = "when = \"count(*) > 1\"\ntitle = \"often\"";
        check(&format!("kind = \"Two Words\"\n{rest}"), "write small letters");
        check(&format!("kind = \"own\"\nby = [\"thread\"]\n{rest}"), "unknown variant `thread`");
        check(
            "kind = \"own\"\nwhen = \"count(*)\"\ntitle = \"often\"",
            "own: `count(*)` is not a condition",
        );
        check(
            "kind = \"own\"\nwhen = \"count(*) > 1\"\ntitle = \"{node}\"",
            "there is no {node}: write one of {site}",
        );
    }
}
