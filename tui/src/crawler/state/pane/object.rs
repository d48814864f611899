//! Tab about the subject of the event: its numbers, its owners, its siblings and every relation.
//! Another subject can be shown beside it.

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{By, Filter, Measure, Scope, Store};
use metaspy_report::text::{
    clean, duration, grouped, last_segment, pad_left, pad_right, short_path, shorten, width,
};

use super::relations;
use super::row::{Content, PaneRow};
use super::times::{self, Times, spark};
use crate::crawler::jobs::Progress;
use crate::crawler::state::name;

/// Maximum number of sites that are listed.
const SITES: usize = 12;

/// Numbers of a subject.
#[derive(Clone, Debug)]
pub struct Object {
    /// Subject that the numbers describe.
    pub subject: Subject,
    /// Calls by site, the most frequent first.
    sites: Vec<(SiteId, Measure)>,
    /// Calls at all sites together, without double time for calls inside another call.
    whole: Measure,
    exact: bool,
    times: Times,
}

impl Object {
    /// Returns the number of calls at all sites.
    fn calls(&self) -> u64 {
        self.whole.count
    }

    fn at(&self, site: SiteId) -> Option<&Measure> {
        self.sites.iter().find(|(of, _)| *of == site).map(|(_, measure)| measure)
    }
}

/// Reads the numbers of a subject.
pub fn read(store: &Store, subject: Subject, progress: &Progress) -> Option<Object> {
    let filter = Filter::subject(subject);
    let scope = Scope::matching(filter.clone());
    let tally = store.tally(By::SiteSubject, &scope);
    let sites = tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
    let whole =
        store.tally(By::Subject, &scope).rows.first().map_or(Measure::default(), |row| row.measure);
    let times = times::read(store, filter, progress)?;
    Some(Object { subject, sites, whole, exact: tally.exact, times })
}

/// Builds the rows of the tab, from the numbers of the subject and of the subject that it is
/// compared with.
pub fn rows(
    store: &Store,
    subject: Option<Subject>,
    parts: [Option<&Object>; 2],
    columns: usize,
) -> Vec<PaneRow> {
    let Some(subject) = subject else {
        return vec![PaneRow::plain(Content::Note("this event has no subject".into()))];
    };
    let [own, base] = parts;
    let mut rows = vec![PaneRow::plain(Content::Title(name::subject(store, subject)))];
    let mut fact = |name, value: String| rows.push(PaneRow::plain(Content::Fact(name, value)));
    if store.label(subject).is_some() {
        fact("is", name::kind_and_key(store, subject));
    }
    if let Some(kind) = store.kind(subject.kind).filter(|kind| kind.name.contains("::")) {
        fact("type", clean(&kind.name).into_owned());
    }
    if let Some(tick) = store.ended_at(subject) {
        fact("ended", super::detail::stamp(store.time_ns(tick)));
    }
    let base = base.filter(|base| base.subject != subject);
    match (own.filter(|own| own.subject == subject), base) {
        (None, _) => rows.push(PaneRow::plain(Content::Note("reading its numbers …".into()))),
        (Some(own), None) => {
            let sign = if own.exact { "" } else { "≥ " };
            fact("calls", format!("{sign}{}", grouped(own.calls())));
            rows.push(PaneRow::plain(Content::Spark(spark_of(own, columns))));
            for (site, measure) in own.sites.iter().take(SITES) {
                rows.push(PaneRow::plain(Content::Note(site_line(store, *site, measure, columns))));
            }
            rows.push(PaneRow::plain(Content::Note("= compares others with it".into())));
        }
        (Some(own), Some(base)) => comparison(store, own, base, columns, &mut rows),
    }
    rows.push(PaneRow::plain(Content::Blank));
    rows.extend(relations::of_subject(store, subject));
    rows
}

fn spark_of(object: &Object, columns: usize) -> String {
    spark(object.times.buckets(), columns.saturating_sub(2))
}

/// Formats the time in which at least one of the calls was open.
fn total(store: &Store, measure: &Measure) -> String {
    format!("{}{}", measure.total_sign(), duration(store.span_ns(measure.total_ticks)).trim_start())
}

/// Writes a line of a site: `Scene::measure          12    1.20 ms`.
fn site_line(store: &Store, site: SiteId, measure: &Measure, columns: usize) -> String {
    let time = match measure.timed {
        0 => String::new(),
        _ => total(store, measure),
    };
    let numbers =
        format!("{}{}  {:>7}", measure.sign(), pad_left(&grouped(measure.count), 7), time);
    let room = columns.saturating_sub(width(&numbers) + 3);
    format!(
        "{} {numbers}",
        pad_right(&shorten(&clean(short_path(store.site_path(site))), room), room)
    )
}

/// Builds the same rows for both subjects: base, own, and a bar towards the larger number.
fn comparison(store: &Store, own: &Object, base: &Object, columns: usize, rows: &mut Vec<PaneRow>) {
    let note = |text: String| PaneRow::plain(Content::Note(text));
    rows.push(PaneRow::plain(Content::Title(format!(
        "compared with {}",
        name::subject(store, base.subject)
    ))));
    let number = 9;
    let room = columns.saturating_sub(2 * number + 7).max(6);
    let head = [pad_right("calls at", room), pad_left("base", number), pad_left("here", number)];
    rows.push(note(head.join("")));
    let mut sites: Vec<SiteId> =
        own.sites.iter().chain(&base.sites).map(|(site, _)| *site).collect();
    sites.sort_unstable();
    sites.dedup();
    let count = |object: &Object, site| object.at(site).map_or(0, |measure| measure.count);
    sites.sort_by_key(|&site| std::cmp::Reverse(count(own, site).max(count(base, site))));
    for site in sites.into_iter().take(SITES) {
        let before = count(base, site);
        let here = count(own, site);
        let path = store.site_path(site);
        let path =
            Some(short_path(path)).filter(|path| width(path) < room).unwrap_or(last_segment(path));
        let name = pad_right(&shorten(&clean(path), room - 1), room);
        let numbers = [before, here].map(|count| pad_left(&grouped(count), number)).join("");
        rows.push(note(format!("{name}{numbers} {}", change(before, here))));
    }
    let times = [base, own].map(|object| pad_left(&total(store, &object.whole), number)).join("");
    rows.push(note(format!("{}{times}", pad_right("total time", room))));
    rows.push(note("over time: base, here".into()));
    rows.push(PaneRow::plain(Content::Spark(spark_of(base, columns))));
    rows.push(PaneRow::plain(Content::Spark(spark_of(own, columns))));
}

/// Draws a bar towards the greater number, with a cell for each doubling.
fn change(before: u64, here: u64) -> String {
    let less = before.min(here);
    let more = before.max(here);
    match (less, more) {
        _ if less == more => "=".into(),
        (0, _) => if here == 0 { "◀◀◀◀" } else { "▶▶▶▶" }.into(),
        _ => {
            let cells = ((more as f64 / less as f64).log2().ceil() as usize).clamp(1, 4);
            if here > before { "▶" } else { "◀" }.repeat(cells)
        }
    }
}
