//! Jobs: work that may take longer than a frame. A job runs on another thread, and its answer
//! changes the state.
//!
//! A job is data, so a test can run it in place. A new job replaces the previous job of the same
//! [`Slot`].

mod effects;
mod progress;

use std::sync::Arc;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::control::Change;
use metaspy_reader::{By, DetailLevel, EffectsIndex, Event, EventId, Filter, Page, Position, Scope, Store};
use metaspy_report::export::Progress as Share;
use metaspy_report::findings::{self, Config, Findings};
use metaspy_report::functions::{Functions, NoFunctions};
use metaspy_report::source_line;

pub use effects::{Effect, Effects, Reach};
pub use progress::Progress;

use super::config::browser::BrowserTab;
use super::reasons::{self, Path};
use super::state::arming;
use super::state::blueprint::BlueprintView;
use super::state::browser::{self, BrowserRow};
use super::state::event_list::Side;
use super::state::export::{self, Target};
use super::state::lanes::{self, Lanes, Part};
use super::state::pane::facets::{self, Facets};
use super::state::pane::object::{self, Object};
use super::state::pane::times::{self, Times};
use super::state::productions::Tree;
use super::state::structure::StructureView;
use super::state::tally::trend::{self, Trends};
use super::state::tally::{TallyKey, TallyView};
use super::state::types::{self, TypesRead};
use super::state::view::Count;

/// Number of slots that are scanned between two checks for a stop.
const STRIDE: usize = 1 << 18;
/// Number of events of the same subject that are listed before and after the selected event.
const AROUND: usize = 60;

/// Purpose of a job. A new job replaces the previous job for the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// More rows for the list of events.
    Rows,
    /// The next match of a search.
    Search,
    /// The contents of the right pane.
    Pane,
    /// The index of effects.
    Index,
    /// The table of a screen.
    Table,
    /// The change of a table's rows over time.
    Trend,
    /// The number of events that pass the filter.
    Count,
    /// A line of the source.
    Source,
    /// A file for another tool.
    Export,
    /// A request to the running process.
    Control,
    /// The recordings of several processes.
    Merge,
    /// The search for findings.
    Findings,
}

/// Piece of work.
#[derive(Clone)]
#[allow(missing_docs, reason = "the fields are the words of the sentence above them")]
pub enum Job {
    /// Continues the search for rows of the list.
    Rows { side: Side, from: Position, filter: Filter, want: usize },
    /// Finds the next or the previous event that passes the filter.
    Search { side: Side, from: Position, filter: Filter },
    /// Finds the effects of an event, as a tree.
    Effects { id: EventId, index: Option<Arc<EffectsIndex>>, reach: Reach },
    /// Finds the reasons of an event, and the path from another event to it.
    Reasons { id: EventId, from: Option<EventId> },
    /// Finds the reasons and the effects of an event.
    Neighbours { id: EventId, index: Option<Arc<EffectsIndex>>, reach: Reach },
    /// Finds the events of a subject around a given event.
    SameSubject { id: EventId, subject: Subject },
    /// Counts the facets of the events that pass the filter.
    Facets { filter: Filter },
    /// Reads the durations of the events that pass the filter.
    Times { filter: Filter },
    /// Reads the numbers of a subject.
    Object { id: EventId, subject: Subject },
    /// Builds the index of effects.
    Index,
    /// Reads a table of subjects or sites.
    Tally { table: Box<TallyView>, filter: Filter },
    /// Sorts the rows of a table of subjects or sites.
    Sort { table: Box<TallyView> },
    /// Finds the next row of a table of subjects or sites whose name contains a text.
    FindRow { table: Box<TallyView>, text: String, side: Side },
    /// Reads the change of rows over time in a table of subjects or sites.
    Trend { by: By, rows: Vec<TallyKey>, filter: Filter },
    /// Reads the lanes over time.
    Lanes { part: Part, columns: usize, filter: Filter },
    /// Reads a column of a browser.
    Browse { at: usize, tab: BrowserTab, filter: Filter },
    /// Does nothing, for a screen that reads its own data.
    Nothing,
    /// Counts the events that pass the filter.
    Count { filter: Filter },
    /// Reads the productions, their references and their counts.
    Productions { filter: Filter },
    /// Reads the structure of the program, and counts its calls.
    Structure { view: Box<StructureView>, filter: Filter },
    /// Reads the blueprint.
    Blueprint { view: Box<BlueprintView>, filter: Filter },
    /// Reads the types that arrived at methods.
    Types,
    /// Reads the functions with samples.
    Functions,
    /// Looks for findings in all events, with the settings of the project.
    Findings(Arc<Config>),
    /// Reads the first line of source of a site.
    Source { site: SiteId },
    /// Writes the events that pass the filter in the format of another tool.
    Export { filter: Filter, target: Target },
    /// Arms or disarms the sites and subjects that a filter selects.
    Control { change: Change, filter: Filter },
    /// Merges the current recordings of several processes again.
    Merge,
}

/// Result of a job.
pub enum Answer {
    /// Rows for one end of the list.
    Rows(Side, Page),
    /// The event that the search has found.
    Search(Option<Event>),
    /// The effects of an event.
    Effects(EventId, Effects),
    /// The reasons of an event.
    Reasons(EventId, Reasons),
    /// The reasons and the effects of an event.
    Neighbours(EventId, Reasons, Effects),
    /// Events of the same subject, oldest first.
    SameSubject(EventId, Vec<Event>),
    /// The facets of the events that pass the filter.
    Facets(Facets),
    /// The durations of the events that pass the filter.
    Times(Times),
    /// The numbers of the subject of an event.
    Object(EventId, Object),
    /// The index of effects.
    Index(Option<Arc<EffectsIndex>>),
    /// A table of subjects or sites.
    Tally(TallyView),
    /// A table of subjects or sites in another order.
    Sorted(TallyView),
    /// The row that was found in a table.
    FoundRow(By, Option<TallyKey>),
    /// The change of rows of a table over time.
    Trend(By, Trends),
    /// The lanes.
    Lanes(Lanes),
    /// Rows of a column of a browser, with the index and the filter of the column.
    Browsed(usize, String, Vec<BrowserRow>),
    /// The recordings of several processes, merged.
    Merged(Box<Store>),
    /// No result.
    Nothing,
    /// The productions.
    Productions(Tree),
    /// The structure of the program.
    Structure(StructureView),
    /// The blueprint.
    Blueprint(BlueprintView),
    /// The types that arrived at methods.
    Types(TypesRead),
    /// Functions with samples, or the reason why there are none.
    Functions(Result<Functions, NoFunctions>),
    /// What the recording states about its program.
    Findings(Findings),
    /// The first line of source of a site, if it can be read.
    Source(SiteId, Option<String>),
    /// A sentence about the sites that the process now observes, or about its refusal.
    Controlled(String),
    /// A sentence about an exported file, or about the failure.
    Exported(String),
    /// The number of events that pass the filter, including those that left the window.
    Count(Count),
}

/// Reasons of an event.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    /// Causes and links as a tree, depth first.
    pub tree: Vec<Effect>,
    /// True if there are more reasons than the tree shows.
    pub cut: bool,
    /// Path from another event, if it was requested.
    pub path: Option<Path>,
}

impl Job {
    /// Returns the purpose of the job.
    pub fn slot(&self) -> Slot {
        match self {
            Job::Rows { .. } => Slot::Rows,
            Job::Search { .. } => Slot::Search,
            Job::Effects { .. }
            | Job::Reasons { .. }
            | Job::Neighbours { .. }
            | Job::SameSubject { .. }
            | Job::Times { .. }
            | Job::Object { .. }
            | Job::Facets { .. } => Slot::Pane,
            Job::Index => Slot::Index,
            Job::Tally { .. }
            | Job::Sort { .. }
            | Job::Lanes { .. }
            | Job::Browse { .. }
            | Job::Nothing
            | Job::Productions { .. }
            | Job::Structure { .. }
            | Job::Blueprint { .. }
            | Job::Types
            | Job::Functions => Slot::Table,
            Job::FindRow { .. } => Slot::Search,
            Job::Trend { .. } => Slot::Trend,
            Job::Count { .. } => Slot::Count,
            Job::Source { .. } => Slot::Source,
            Job::Export { .. } => Slot::Export,
            Job::Control { .. } => Slot::Control,
            Job::Merge => Slot::Merge,
            Job::Findings(_) => Slot::Findings,
        }
    }

    /// Runs the job. Returns `None` if it was stopped.
    pub fn run(self, store: &Store, progress: &Progress) -> Option<Answer> {
        progress.set(0, store.totals().stored);
        let answer = match self {
            Job::Rows { side, from, filter, want } => {
                Answer::Rows(side, scan(store, side, from, &filter, want, progress))
            }
            Job::Search { side, from, filter } => {
                Answer::Search(scan(store, side, from, &filter, 1, progress).events.first().copied())
            }
            Job::Effects { id, index, reach } => {
                Answer::Effects(id, Effects { reach, ..effects::read(store, id, index.as_deref(), progress) })
            }
            Job::Reasons { id, from } => {
                let (tree, cut) = reasons::tree(store, id, || !progress.is_stopped());
                let path = from.map(|from| reasons::path(store, from, id, || !progress.is_stopped()));
                Answer::Reasons(id, Reasons { tree, cut, path })
            }
            Job::Neighbours { id, index, reach } => {
                let (tree, cut) = reasons::tree(store, id, || !progress.is_stopped());
                let effects = Effects { reach, ..effects::read(store, id, index.as_deref(), progress) };
                Answer::Neighbours(id, Reasons { tree, cut, path: None }, effects)
            }
            Job::SameSubject { id, subject } => Answer::SameSubject(id, same_subject(store, id, subject, progress)),
            Job::Facets { filter } => Answer::Facets(facets::read(store, filter)),
            Job::Times { filter } => Answer::Times(times::read(store, filter, |tested| progress.goes_on(tested))?),
            Job::Object { id, subject } => {
                Answer::Object(id, object::read(store, subject, |tested| progress.goes_on(tested))?)
            }
            Job::Index => Answer::Index(index(store, progress).map(Arc::new)),
            Job::Tally { table, filter } => Answer::Tally(table.read(store, filter)),
            Job::Sort { table } => Answer::Sorted(table.sorted(store)),
            Job::FindRow { table, text, side } => {
                progress.set(0, table.listed().len() as u64);
                Answer::FoundRow(table.by, table.find_key(store, &text, side, |tested| progress.goes_on(tested)))
            }
            Job::Trend { by, rows, filter } => {
                Answer::Trend(by, trend::read(store, by, &rows, &filter, |tested| progress.goes_on(tested))?)
            }
            Job::Lanes { part, columns, filter } => {
                Answer::Lanes(lanes::read(store, part, columns, &filter, |tested| progress.goes_on(tested))?)
            }
            Job::Browse { at, tab, filter } => {
                let text = filter.text().to_owned();
                Answer::Browsed(at, text, browser::read(store, &tab, filter))
            }
            Job::Nothing => Answer::Nothing,
            Job::Productions { filter } => Answer::Productions(Tree::read(store, filter)),
            Job::Structure { view, filter } => Answer::Structure(view.read(store, &filter)),
            Job::Blueprint { view, filter } => Answer::Blueprint(view.read(store, &filter)),
            Job::Types => Answer::Types(types::read(store)),
            Job::Functions => Answer::Functions(Functions::read(store)),
            Job::Findings(config) => {
                Answer::Findings(findings::find_watched(store, &config, &|read| progress.goes_on(read))?)
            }
            Job::Export { filter, target } => {
                let all = store.totals().stored;
                let watch = |now: Share| {
                    progress.set((now.part * all as f64) as u64, all);
                    !progress.is_stopped()
                };
                let written = export::write(store, &filter, &target, &watch)?;
                Answer::Exported(written.unwrap_or_else(|error| error))
            }
            Job::Merge => Answer::Merged(Box::new(store.merged_again()?.ok()?)),
            Job::Control { change, filter } => Answer::Controlled(arming::request(store, change, &filter)),
            Job::Source { site } => Answer::Source(site, store.site(site).and_then(source_line::line)),
            Job::Count { filter } => {
                let scope = Scope { filter, detail: DetailLevel::Counts, ..Scope::default() };
                let tally = store.tally(By::Site, &scope);
                let events = tally.rows.iter().map(|row| row.measure.count).sum();
                Answer::Count(Count { events, exact: tally.exact })
            }
        };
        (!progress.is_stopped()).then_some(answer)
    }
}

fn scan(store: &Store, side: Side, from: Position, filter: &Filter, want: usize, progress: &Progress) -> Page {
    let mut found = Page { events: Vec::new(), more: Some(from), looked_at: 0 };
    while let (Some(at), true) = (found.more, found.events.len() < want && !progress.is_stopped()) {
        let missing = want - found.events.len();
        let mut page = match side {
            Side::Before => store.backward(at, filter, missing, STRIDE),
            Side::After => store.forward(at, filter, missing, STRIDE),
        };
        progress.add(page.looked_at);
        found.looked_at += page.looked_at;
        found.more = page.more;
        match side {
            Side::Before => {
                page.events.append(&mut found.events);
                found.events = page.events;
            }
            Side::After => found.events.append(&mut page.events),
        }
    }
    found
}

fn same_subject(store: &Store, id: EventId, subject: Subject, progress: &Progress) -> Vec<Event> {
    let filter = Filter::subject(subject);
    let mut events = scan(store, Side::Before, Position::Event(id), &filter, AROUND, progress).events;
    events.extend(store.event(id));
    events.extend(scan(store, Side::After, Position::Event(id), &filter, AROUND, progress).events);
    events
}

fn index(store: &Store, progress: &Progress) -> Option<EffectsIndex> {
    EffectsIndex::build(store, |done, of| {
        progress.set(done, of);
        !progress.is_stopped()
    })
}
