//! `shadowed`, `never-matched` and `cut-short`: productions of a grammar that are tried and never
//! match, or match too little.

use metaspy_probe::{SiteKind, Subject};
use metaspy_reader::{By, Measure, RecordedSite, Scope};

use super::of_recording::OfRecording;
use super::{Certainty, Context, Cost, Evidence, Finding};
use crate::text::grouped;

/// Least number of tries of a production that never matches for an unknown reason.
const TRIES: u64 = 20;
/// Kind of the subjects whose labels state why a production never matched, by the number of its
/// site.
const SHADOW: &str = "Shadow";
/// Kind of the subjects whose labels state which alternatives of a production are cut short, by the
/// number of its site.
const CUT: &str = "Cut";
/// Kind of the productions of a grammar whose inputs can be parsed again.
const PRODUCTION: &str = "Production";

pub(super) const CUT_SHORT: OfRecording =
    OfRecording { kind: "cut-short", missing: missing_second_parse, find: cuts_short };

pub(super) const SHADOWED: OfRecording = OfRecording {
    kind: "shadowed",
    missing,
    find: |context| {
        let of = |(site, measure): (&RecordedSite, Measure)| {
            let reason = shadow(site, context)?;
            let mut finding = unmatched(SHADOWED.kind, site, measure, context);
            finding.title =
                format!("{} never matches, because another alternative comes first", site.path);
            finding.evidence.text = format!("{} {reason}", finding.evidence.text);
            finding.advice =
                "put the longer alternative first, or remove what it can never reach".to_owned();
            Some(finding)
        };
        never_matched(context).into_iter().filter_map(of).collect()
    },
};

pub(super) const NEVER_MATCHED: OfRecording = OfRecording {
    kind: "never-matched",
    missing,
    find: |context| {
        let tried = never_matched(context)
            .into_iter()
            .filter(|(site, measure)| measure.count >= TRIES && shadow(site, context).is_none());
        tried.map(|(site, measure)| unmatched(NEVER_MATCHED.kind, site, measure, context)).collect()
    },
};

fn missing(context: &Context<'_>) -> Option<String> {
    if !context.store.sites().iter().any(|site| site.kind == SiteKind::Production) {
        return Some("it has no productions: record the parser (docs/grammar.md)".to_owned());
    }
    // A missing activation may be the match.
    if context.totals.lost > 0 || context.totals.unnamed > 0 {
        return Some("activations were lost: record with a larger METASPY_BUDGET".to_owned());
    }
    let damage = context.store.missing().first().cloned();
    damage.or_else(|| {
        context
            .store
            .absent_files()
            .map(|absent| format!("{absent}: give all files of the process"))
    })
}

fn missing_second_parse(context: &Context<'_>) -> Option<String> {
    let is_of_grammar = context.store.kinds().any(|kind| kind.name == PRODUCTION);
    let unknown = "its rejected inputs were not parsed again: record with `metaspy grammar FILE --record run.spy`";
    missing(context).or_else(|| (!is_of_grammar).then(|| unknown.to_owned()))
}

/// Finds productions with an alternative that is cut short. A fix would have saved nothing in the
/// run, so the findings have no cost.
fn cuts_short(context: &Context<'_>) -> Vec<Finding> {
    let sites = context.store.sites().iter().filter(|site| site.kind == SiteKind::Production);
    let finding = |site: &RecordedSite| {
        let reason = reason(CUT, site, context)?;
        let title =
            format!("an alternative of {} takes too little, because it comes first", site.path);
        let mut finding = Finding::new(CUT_SHORT.kind, title, vec![context.site(site.id)]);
        finding.evidence = Evidence::new(reason, context.filter(site.id));
        finding.certainty = Certainty::Estimated(
            "the places are tried again; whether the inputs are meant to be rejected is not known"
                .to_owned(),
        );
        finding.advice = "put the longer alternative first".to_owned();
        Some(finding)
    };
    sites.filter_map(finding).collect()
}

/// Returns the productions that were tried and never matched.
fn never_matched<'s>(context: &Context<'s>) -> Vec<(&'s RecordedSite, Measure)> {
    let tally = context.store.tally(By::Site, &Scope::default());
    let rows =
        tally.rows.iter().filter_map(|row| Some((context.store.site(row.site?)?, row.measure)));
    let productions = rows.filter(|(site, _)| site.kind == SiteKind::Production);
    productions
        .filter(|(_, measure)| measure.count > 0 && measure.count == measure.failed)
        .collect()
}

/// Returns the sentence with the reason why a production never matched, if it was recorded.
fn shadow<'s>(site: &RecordedSite, context: &Context<'s>) -> Option<&'s str> {
    reason(SHADOW, site, context)
}

/// Returns the statement about a production in the label of its subject of this kind.
fn reason<'s>(kind: &str, site: &RecordedSite, context: &Context<'s>) -> Option<&'s str> {
    let kind = context.store.kinds().find(|known| known.name == kind)?.id;
    context.store.label(Subject::new(kind, site.id.0.into()))
}

fn unmatched(kind: &str, site: &RecordedSite, measure: Measure, context: &Context<'_>) -> Finding {
    let mut finding =
        Finding::new(kind, format!("{} never matches", site.path), vec![context.site(site.id)]);
    // A production that the input lacks is no fault of the grammar, so only a reason that lies in
    // the grammar has a cost.
    if kind == SHADOWED.kind {
        finding.cost = Cost::of_events(measure.count);
    }
    finding.evidence = Evidence {
        text: format!("It was tried {} times and failed each time.", grouped(measure.count)),
        numbers: vec![("tried", measure.count)],
        filter: context.filter(site.id),
        ..Evidence::default()
    };
    finding.advice =
        "add an input that it should match, or look for the alternative that takes its place"
            .to_owned();
    finding
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::super::{Config, find};
    use super::*;
    use metaspy_reader::Outcome::{Failed, Succeeded};

    /// Tries the production `integer` `tries` times, with `matches` matches, with or without a
    /// recorded reason.
    fn check(tries: u64, matches: u64, has_reason: bool, kinds: &[&str]) {
        let mut run = Run::new();
        run.site("integer", SiteKind::Production);
        for at in 0..tries {
            let outcome = if at < matches { Succeeded } else { Failed };
            run.ended_call("integer", None, outcome, |run| run.work(10));
        }
        if has_reason {
            run.shadow("integer", "`float` matches where it would.");
        }
        let found = find(&run.store(), &Config::default()).found;
        let found: Vec<&Finding> = found
            .iter()
            .filter(|it| [SHADOWED.kind, NEVER_MATCHED.kind].contains(&&*it.kind))
            .collect();
        assert_eq!(found.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>(), kinds);
        for finding in found {
            assert_eq!(
                finding.is_small,
                finding.kind == NEVER_MATCHED.kind,
                "a fault of the grammar alone has a cost"
            );
            assert!(
                finding.evidence.text.contains("float") == has_reason,
                "{}",
                finding.evidence.text
            );
        }
    }

    #[test]
    fn a_production_that_another_one_hides_is_shadowed() {
        check(3, 0, true, &["shadowed"]);
        check(30, 0, true, &["shadowed"]);
        check(30, 1, true, &[]);
    }

    #[test]
    fn a_production_that_inputs_lack_is_not_covered_and_has_no_cost() {
        check(20, 0, false, &["never-matched"]);
        check(19, 0, false, &[]);
        check(30, 30, false, &[]);
    }
}
