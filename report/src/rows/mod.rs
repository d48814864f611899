//! The rows of a report: counts by site, subject, cause, type or package.

mod cpu;
mod doors;
mod entry_points;
pub mod json;
pub mod losses;
mod outcomes;
mod parts;
mod profiles;
mod silent;
mod sort;
pub mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy_probe::{SiteId, Subject};
use metaspy_reader as store;
use metaspy_reader::{Filter, Measure, RecordedKind, RecordedSite, Scope, Shares, Store, Totals};

use crate::cpu::CpuTotals;
use crate::program::{Ratio, Receivers, lost_values};
use crate::table::Top;
use crate::text::{counted, short_path};
use doors::MessageLoop;
use entry_points::EntryPoint;
use losses::Losses;
use profiles::Profiles;

pub use outcomes::{KnownOutcomes, Outcomes};
pub use profiles::Values;
pub use sort::Sort;

/// The kind of a report's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A domain object.
    Subject,
    /// A place in the code.
    Site,
    /// A domain object at a place in the code.
    SiteSubject,
    /// The site of the root cause.
    Cause,
    /// The site of the direct cause.
    Sender,
    /// The subject of the direct cause, at its site.
    SenderSubject,
    /// A type with its methods, a trait, or the free functions of a module.
    Type,
    /// A crate or a module, with all within it.
    Package,
}

impl By {
    /// All of them.
    pub const ALL: [By; 8] = [
        By::Subject,
        By::Site,
        By::SiteSubject,
        By::Cause,
        By::Sender,
        By::SenderSubject,
        By::Type,
        By::Package,
    ];

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            By::Subject => "subject",
            By::Site => "site",
            By::SiteSubject => "site,subject",
            By::Cause => "cause",
            By::Sender => "sender",
            By::SenderSubject => "cause,subject",
            By::Type => "type",
            By::Package => "package",
        }
    }

    /// A line of help.
    pub fn description(self) -> &'static str {
        match self {
            By::Subject => "A domain object",
            By::Site => "A place in the code",
            By::SiteSubject => "A domain object at a place in the code",
            By::Cause => "The site of the root cause",
            By::Sender => "The site of the direct cause: what sent or called",
            By::SenderSubject => "The domain object of the direct cause, at its site: who asked",
            By::Type => "A type with its methods, a trait, or the free functions of a module",
            By::Package => "A crate or a module, with all within it",
        }
    }

    /// Returns true if the rows are about causes, not about the calls themselves.
    pub fn is_of_causes(self) -> bool {
        matches!(self, By::Cause | By::Sender | By::SenderSubject)
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<By> {
        By::ALL.into_iter().find(|by| by.name() == name)
    }
}

/// The kind of the subjects that share the row of the others of their site.
const OTHERS: u16 = u16::MAX;

/// The counts of a recording, row by row.
pub struct Report {
    /// The kind of the rows.
    pub by: By,
    /// The number of emitted events, and where they went.
    pub totals: Totals,
    /// True if every count is exact.
    pub exact: bool,
    /// The files of a rotation that are not read: then no count is exact for the whole process.
    pub absent_files: Option<store::AbsentFiles>,
    /// True if some subjects of a site share a row. Rows that may lack calls are marked.
    pub has_others: bool,
    /// The shares of the rows, in percent.
    pub shares: Shares,
    /// True if a filter was applied. The effects of a call may not pass it, so a total is no part
    /// of the time of all rows.
    pub is_filtered: bool,
    /// Damage and missing files, as sentences.
    pub damage: Vec<String>,
    /// The rows, the most frequent first.
    pub rows: Vec<ReportRow>,
    /// The number of all rows, of which `rows` may be the first.
    pub row_count: usize,
    /// The number of sites or labelled subjects without calls, if they are not among the rows.
    pub never: usize,
    /// The calls that found no room as events, of the whole recording.
    pub losses: Losses,
    /// By the name of the method profiler, the values that found no room.
    pub lost_values: BTreeMap<String, u64>,
    /// Calls in several rows, because they have several root causes.
    pub shared: u64,
    /// By root cause, the functions that began without a recorded cause. Empty under a filter, and
    /// if calls were lost.
    pub entry_points: Vec<EntryPoint>,
    /// The loops that take messages. Empty before [`Report::find_doors`].
    pub message_loops: BTreeSet<MessageLoop>,
    /// Source files that were not searched for doors, because they cannot be read or have changed
    /// since the program was built.
    pub unsearched_files: BTreeSet<String>,
    /// Recordings of other processes beside this one.
    pub beside: Vec<String>,
    /// The samples of the recording, if it has any.
    pub cpu: Option<CpuTotals>,
    /// True if the method profilers with a column were chosen by their names.
    pub has_chosen_profiles: bool,
}

/// A row of a report.
pub struct ReportRow {
    /// The path of a site, a type or a package, or the key of a subject.
    pub key: Key,
    /// The path of the site of a subject, if the rows are about both.
    pub site: Option<String>,
    /// The site, if the row is about one.
    pub site_id: Option<SiteId>,
    /// Its name: the label of the subject, or the last part of the path of the site.
    pub label: Option<String>,
    /// The word for calls of it that failed: `none` or `err` if they are those of one site with
    /// such a return type.
    pub failure: &'static str,
    /// The kind of the site or of the subject.
    pub kind: Option<String>,
    /// Counts and times.
    pub measure: Measure,
    /// The details of a type or a package.
    pub part: Option<Part>,
    /// The columns that method profilers declared.
    pub profiles: Values,
}

/// The details of a type or a package.
pub struct Part {
    /// True for a module, which is a part of its crate.
    pub is_module: bool,
    /// The methods and types, and how many of them ran.
    pub ratio: Ratio,
    /// False under a filter: the methods that it leaves out may have run, too.
    pub is_whole: bool,
    /// The distinct objects of its calls.
    pub receivers: Receivers,
    /// Lines of its methods.
    pub lines: u64,
    /// The complexity of its most complex method; `None` if nothing of it was woven.
    pub complexity: Option<u32>,
}

/// The item of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The path of a site, a type or a package. Free functions have the path of their module. Sites
    /// of one path have type arguments in theirs, or their file and line behind it.
    Site(String),
    /// The key of a subject.
    Subject(u64),
    /// No subject, or an item that is no longer known.
    None,
}

impl Report {
    /// Leaves the columns of these method profilers only. An error names those that the recording
    /// has.
    pub fn keep_profiles(&mut self, store: &Store, names: &[String]) -> Result<(), String> {
        let known: BTreeSet<String> =
            store.united_profiles().into_iter().map(|profile| profile.name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(*name)) {
            let known: Vec<String> = known.into_iter().collect();
            return Err(if known.is_empty() {
                format!("--profile {name}: no method profiler was installed in this run")
            } else {
                format!(
                    "--profile {name}: there is no such profiler in the recording; it has {}",
                    known.join(", ")
                )
            });
        }
        self.rows
            .iter_mut()
            .for_each(|row| row.profiles.retain(|profile, _| names.contains(profile)));
        self.has_chosen_profiles = true;
        Ok(())
    }

    /// Counts.
    pub fn new(store: &Store, by: By, filter: &Filter, top: Top) -> Report {
        let tallied = match by {
            By::Subject => store::By::Subject,
            By::Site => store::By::Site,
            By::SiteSubject => store::By::SiteSubject,
            By::Cause => store::By::RootCause,
            By::Sender => store::By::Sender,
            By::SenderSubject => store::By::SenderSubject,
            By::Type | By::Package => return Report::of_parts(store, by, filter, top),
        };
        let tally = store.tally(tallied, &Scope { filter: filter.clone(), ..Scope::default() });
        let profiles = Profiles::read(store);
        let row = |row: &store::TallyRow| match by {
            By::Subject => subject_row(store, &profiles, row.subject, row.measure),
            By::SiteSubject => site_subject_row(store, &profiles, row),
            By::Cause => cause_row(store, &profiles, row, "root left the window"),
            By::Sender => cause_row(store, &profiles, row, "cause left the window"),
            By::SenderSubject => sender_subject_row(store, &profiles, row),
            _ => site_row(store, &profiles, row.site, row.measure),
        };
        let mut rows: Vec<ReportRow> = tally.rows.iter().map(row).collect();
        sort(&mut rows);
        // Under a filter, a site without matching events may have been called.
        let silent = if filter.is_all() {
            silent::rows(store, &profiles, by, &tally.rows)
        } else {
            Vec::new()
        };
        // Sites with values of profilers were not called, either.
        let is_never = |row: &&ReportRow| by != By::Subject || row.profiles.is_empty();
        let never = if top.is_all() { 0 } else { silent.iter().filter(is_never).count() };
        if top.is_all() {
            rows.extend(silent);
        }
        distinguish(store, &mut rows);
        let shares = tally.shares();
        let (has_others, shared) =
            (tally.rows.iter().any(store::TallyRow::is_others), tally.shared);
        let is_filtered = !filter.is_all();
        let lost_values = profiles.lost;
        let entry_points = if by == By::Cause && !is_filtered && entry_points::has_all_causes(store)
        {
            entry_points::read(store, tally.rows.iter().filter_map(|row| row.site))
        } else {
            Vec::new()
        };
        Report {
            entry_points,
            lost_values,
            shared,
            has_others,
            is_filtered,
            ..Report::of_rows(store, by, rows, tally.exact, shares, never)
        }
    }

    /// Searches the source of a report by root cause for the doors of its entry points and for loops
    /// that take messages. Files are found where the program was built, as the recording names
    /// them.
    pub fn find_doors(&mut self, store: &Store) {
        if self.by != By::Cause || self.is_filtered || !entry_points::has_all_causes(store) {
            return;
        }
        let sites: Vec<SiteId> = self.entry_points.iter().map(|entry| entry.id).collect();
        let searched = doors::search(store, &sites);
        for (entry_point, doors) in self.entry_points.iter_mut().zip(searched.doors) {
            entry_point.doors = doors;
        }
        self.message_loops = searched.message_loops;
        self.unsearched_files = searched.unsearched_files;
    }

    /// The first rows by subject, in memory that does not grow with the number of subjects. `None`
    /// if [`Report::new`] must count all rows: of other groupings, for other orders, and where
    /// subjects cannot be counted in parts.
    pub fn of_first(
        store: &Store,
        by: By,
        filter: &Filter,
        most: usize,
        sort: &Sort,
    ) -> Option<Report> {
        let tallied = match by {
            By::Subject => store::By::Subject,
            By::SiteSubject => store::By::SiteSubject,
            _ => return None,
        };
        let rank = sort.rank()?;
        let name = |row: &store::TallyRow| {
            row.subject.map(|subject| store.subject_text(subject)).unwrap_or_default()
        };
        let order = store::RowOrder { rank: &rank, name: &name };
        let mut labelled_rows = 0;
        let profiles = Profiles::read(store);
        let is_counted = |subject: Subject| !profiles.has_observed(subject);
        let scope = Scope { filter: filter.clone(), ..Scope::default() };
        let first = store.first_rows(tallied, &scope, most, &order, |row| {
            let labelled = row.subject.filter(|subject| store.label(*subject).is_some());
            labelled_rows += usize::from(labelled.is_some_and(is_counted));
        })?;
        let row = |row: &store::TallyRow| match by {
            By::SiteSubject => site_subject_row(store, &profiles, row),
            _ => subject_row(store, &profiles, row.subject, row.measure),
        };
        let rows = first.rows.iter().map(row).collect();
        let labelled = if by == By::Subject && filter.is_all() {
            store.labelled().filter(|(subject, _)| is_counted(*subject)).count()
        } else {
            0
        };
        let never = labelled.saturating_sub(labelled_rows);
        let report = Report::of_rows(store, by, rows, first.exact, first.shares, never);
        let is_filtered = !filter.is_all();
        Some(Report {
            row_count: first.row_count,
            lost_values: profiles.lost,
            is_filtered,
            ..report
        })
    }

    fn of_parts(store: &Store, by: By, filter: &Filter, top: Top) -> Report {
        let (mut rows, exact) = parts::read(store, by, filter);
        sort(&mut rows);
        let apart = rows.iter().filter(|row| !row.is_contained());
        let shares = Shares::of(apart.map(|row| &row.measure));
        let before = rows.len();
        if !top.is_all() {
            rows.retain(|row| row.measure.count > 0);
        }
        let never = before - rows.len();
        let lost_values = lost_values(&store.united_profiles());
        let is_filtered = !filter.is_all();
        Report {
            lost_values,
            is_filtered,
            ..Report::of_rows(store, by, rows, exact, shares, never)
        }
    }

    fn of_rows(
        store: &Store,
        by: By,
        rows: Vec<ReportRow>,
        exact: bool,
        shares: Shares,
        never: usize,
    ) -> Report {
        let totals = store.totals();
        let damage = damage(store);
        let losses = if totals.lost > 0 { Losses::read(store) } else { Losses::default() };
        let absent_files = store.absent_files();
        let exact = totals.exact && exact && damage.is_empty() && absent_files.is_none();
        Report {
            by,
            exact,
            absent_files,
            has_others: false,
            is_filtered: false,
            shares,
            damage,
            totals,
            row_count: rows.len(),
            rows,
            never,
            losses,
            lost_values: BTreeMap::new(),
            shared: 0,
            entry_points: Vec::new(),
            message_loops: BTreeSet::new(),
            unsearched_files: BTreeSet::new(),
            beside: Vec::new(),
            cpu: Report::cpu_of(store, by),
            has_chosen_profiles: false,
        }
    }
}

/// Sentences about damaged and missing parts: a report is as exact as its recording. The parts of a
/// live recording move while they are read, so only missing parts are reported.
pub fn damage(store: &Store) -> Vec<String> {
    if store.is_live() {
        return store.missing().to_vec();
    }
    let found = store.verify();
    let mut damage = found.missing;
    damage.extend(found.damaged);
    if found.more_damaged > 0 {
        damage.push(counted(found.more_damaged, "further place"));
    }
    damage
}

/// The most frequent first.
fn sort(rows: &mut [ReportRow]) {
    rows.sort_by(|a, b| b.measure.count.cmp(&a.measure.count).then_with(|| a.label.cmp(&b.label)));
}

/// The path of a site as its row shows it.
fn path(store: &Store, site: SiteId) -> String {
    store
        .site(site)
        .map_or_else(|| store.site_path(site).to_owned(), RecordedSite::path_with_arguments)
}

/// Sites that still share a path, as functions in the bodies of two others may, are told apart by
/// their file and line.
fn distinguish(store: &Store, rows: &mut [ReportRow]) {
    let mut uses: HashMap<String, u32> = HashMap::new();
    let of_sites = |row: &ReportRow| row.site_id.and_then(|id| store.site(id));
    for row in rows.iter().filter(|row| of_sites(row).is_some()) {
        if let Key::Site(path) = &row.key {
            *uses.entry(path.clone()).or_default() += 1;
        }
    }
    for row in rows {
        let Some(site) = of_sites(row) else { continue };
        if let Key::Site(path) = &mut row.key
            && uses.get(path).is_some_and(|uses| *uses > 1)
        {
            *path = format!("{path}@{}:{}", site.file, site.lines.0);
        }
    }
}

fn site_row(
    store: &Store,
    profiles: &Profiles,
    site: Option<SiteId>,
    measure: Measure,
) -> ReportRow {
    let Some(id) = site else { return ReportRow::new(Key::None, measure) };
    let path = path(store, id);
    let label = Some(short_path(&path).to_owned());
    let kind = store.site(id).map(|site| site.kind.name().to_owned());
    ReportRow {
        site_id: site,
        label,
        kind,
        failure: failure(store, id),
        profiles: profiles.of_site(id),
        ..ReportRow::new(Key::Site(path), measure)
    }
}

/// Returns the row of a cause by its site. Columns of method profilers are about the site itself,
/// not about its effects, and so is the word for its failures.
fn cause_row(store: &Store, profiles: &Profiles, row: &store::TallyRow, left: &str) -> ReportRow {
    let without_site = match row.site {
        None => left,
        Some(store::NO_CAUSE) => "no cause",
        Some(store::REMOTE_CAUSE) => "cause in another process",
        site => {
            let of_site = site_row(store, profiles, site, row.measure);
            return ReportRow { profiles: Values::new(), failure: "failed", ..of_site };
        }
    };
    ReportRow { label: Some(without_site.into()), ..ReportRow::new(Key::None, row.measure) }
}

fn sender_subject_row(store: &Store, profiles: &Profiles, row: &store::TallyRow) -> ReportRow {
    match row.site {
        Some(site) if ![store::NO_CAUSE, store::REMOTE_CAUSE].contains(&site) => {
            let site = Some(path(store, site));
            ReportRow {
                site,
                profiles: Values::new(),
                ..subject_row(store, profiles, row.subject, row.measure)
            }
        }
        _ => cause_row(store, profiles, row, "cause left the window"),
    }
}

fn subject_row(
    store: &Store,
    profiles: &Profiles,
    subject: Option<Subject>,
    measure: Measure,
) -> ReportRow {
    let Some(subject) = subject else {
        return ReportRow::new(Key::None, measure);
    };
    if subject.kind.0 == OTHERS {
        return ReportRow {
            label: Some("others".into()),
            kind: Some("others".into()),
            ..ReportRow::new(Key::None, measure)
        };
    }
    let kind = store.kind(subject.kind).map(RecordedKind::whole_name);
    let label = Some(store.subject_text(subject));
    let profiles = profiles.of_subject(subject);
    ReportRow { label, kind, profiles, ..ReportRow::new(Key::Subject(subject.key), measure) }
}

/// The word for calls of a site that failed.
fn failure(store: &Store, site: SiteId) -> &'static str {
    store.site(site).map_or("failed", |site| site.failure())
}

fn site_subject_row(store: &Store, profiles: &Profiles, row: &store::TallyRow) -> ReportRow {
    let site = row.site.map(|id| path(store, id));
    let values = row
        .site
        .zip(row.subject)
        .map_or_else(Values::new, |(site, subject)| profiles.of_both(site, subject));
    let failure = row.site.map_or("failed", |id| failure(store, id));
    ReportRow {
        site,
        failure,
        profiles: values,
        ..subject_row(store, profiles, row.subject, row.measure)
    }
}

impl ReportRow {
    /// A row without a name.
    fn new(key: Key, measure: Measure) -> ReportRow {
        ReportRow {
            key,
            site: None,
            site_id: None,
            label: None,
            failure: "failed",
            kind: None,
            measure,
            part: None,
            profiles: Values::new(),
        }
    }

    /// True if another row contains its calls: a crate contains its modules.
    pub(crate) fn is_contained(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.is_module)
    }

    /// The time in which at least one call was open, in ns; `None` if nothing was timed.
    pub fn total_ns(&self, store: &Store) -> Option<u64> {
        (self.measure.timed > 0).then(|| store.span_ns(self.measure.total_ticks))
    }

    /// The time of async calls from their first polls to their ends, in ns; `None` if none was
    /// timed.
    pub fn wall_ns(&self, store: &Store) -> Option<u64> {
        (self.measure.wall_ticks > 0).then(|| store.span_ns(self.measure.wall_ticks))
    }

    /// The time without called methods; `None` if nothing was timed, or if some calls left the
    /// window.
    pub fn self_ns(&self, store: &Store) -> Option<u64> {
        self.measure.self_ticks.filter(|_| self.measure.timed > 0).map(|ticks| store.span_ns(ticks))
    }

    /// The self time of the calls in the window: a lower bound of the self time if calls have left
    /// it.
    pub fn window_self_ns(&self, store: &Store) -> Option<u64> {
        let is_known = self.measure.self_ticks.is_some() || self.measure.window_self_ticks > 0;
        (self.measure.timed > 0 && is_known).then(|| store.span_ns(self.measure.window_self_ticks))
    }

    /// The longest call.
    pub fn max_ns(&self, store: &Store) -> Option<u64> {
        (self.measure.timed > 0).then(|| store.span_ns(self.measure.max_ticks))
    }
}
