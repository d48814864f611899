//! The difference of two versions of a program, from their recordings: by site, subject, method,
//! type or package.
//!
//! Counts are exact, so a count that differs is a change. Times are noisy: with several recordings
//! of each version, a change has an interval, and only an interval without 1 is a change. Things
//! are matched by path, renamed functions by their source, and subjects by kind and key.
//!
//! ```no_run
//! use metaspy_reader::Store;
//! use metaspy_reader::Filter;
//! use metaspy_report::diff::{By, Diff, Side};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let read = |name: &str| -> Result<Side, Box<dyn std::error::Error>> {
//!     let recordings = [(name.to_owned(), Store::open(name.as_ref())?)];
//!     Ok(Side::read(&recordings, By::Method, &Filter::all()))
//! };
//! let diff = Diff::new(By::Method, &read("before.spy")?, &read("after.spy")?)?;
//! for row in diff.changed() {
//!     println!("{}: {} to {} calls", row.label, row.count.before.median(), row.count.after.median());
//! }
//! # Ok(())
//! # }
//! ```

pub mod gate;
mod json;
pub mod renamed;
pub mod sample;
pub mod side;
mod sort;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::rows;
use crate::text::counted;
pub use gate::{Gate, Judgement};
pub use json::json;
pub use sample::{Change, Ratio, Sample};
pub use side::{Identity, Side};
use side::{Numbers, Thing};
pub use sort::{Size, Sort};
pub use text::text;

/// The kinds of rows in a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A place in the code.
    #[default]
    Site,
    /// A domain object.
    Subject,
    /// A method or a function.
    Method,
    /// A type with its methods, a trait, or the free functions of a module.
    Type,
    /// A crate or a module, with all within it.
    Package,
}

impl By {
    /// All of them.
    pub const ALL: [By; 5] = [By::Site, By::Subject, By::Method, By::Type, By::Package];

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            By::Method => "method",
            by => by.rows().name(),
        }
    }

    /// A line of help.
    pub fn description(self) -> &'static str {
        match self {
            By::Method => "A method or a function",
            by => by.rows().description(),
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<By> {
        By::ALL.into_iter().find(|by| by.name() == name)
    }

    /// The rows of a report that it is read from.
    fn rows(self) -> rows::By {
        match self {
            By::Site | By::Method => rows::By::Site,
            By::Subject => rows::By::Subject,
            By::Type => rows::By::Type,
            By::Package => rows::By::Package,
        }
    }
}

/// The difference of two versions.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The kind of the rows.
    pub by: By,
    /// The number of recordings before, and after.
    pub recordings: (usize, usize),
    /// True if calls were timed in all recordings, so that times are compared.
    pub is_timed: bool,
    /// True if a part of the events is compared: a method without any of them may have run.
    pub is_filtered: bool,
    /// The rows. Those with the largest change of time are first, then those with the largest
    /// change of the count.
    pub rows: Vec<DiffRow>,
    /// The calls of all rows.
    pub count: Change,
    /// The self time of all rows, which contains each moment of a thread once; `None` if not all
    /// calls were timed, or if some left the window.
    pub self_ns: Option<Change>,
    /// Allocations and their bytes, if both versions recorded them.
    pub allocations: Option<(Change, Change)>,
    /// Sentences about numbers that cannot be compared, and about counts that are not exact.
    pub notes: Vec<String>,
    /// Recordings that may lack calls, beyond those that rows with a lower bound may lack.
    pub incomplete: Vec<String>,
    /// Recordings without any call.
    pub empty: Vec<String>,
}

/// A row of a comparison: a site, a subject or a part in both versions.
#[derive(Clone, Debug)]
pub struct DiffRow {
    /// Its identity.
    pub identity: Identity,
    /// Its name: a path, or the label of a subject.
    pub label: String,
    /// The kind of the site, the subject or the part.
    pub kind: String,
    /// The versions that have it.
    pub presence: Presence,
    /// Its path before, if it was renamed.
    pub was: Option<String>,
    /// True if the other version has this function without a hook, so that its calls there are
    /// unknown.
    pub is_unobserved_in_one: bool,
    /// Its calls.
    pub count: Change,
    /// True if no count is a lower bound.
    pub is_exact: bool,
    /// Its time with everything that it called; `None` if it was not timed in both versions.
    pub total_ns: Option<Change>,
    /// Its time without timed calls in it.
    pub self_ns: Option<Change>,
    /// True if the times lack some calls. Such times are shown, and are no change.
    pub is_partly_timed: bool,
    /// True if a total time is an upper bound. Such a time is shown with `≤`, and is no change.
    pub total_at_most: bool,
    /// True if some of the recordings with calls have a total time and others have none, or only an
    /// upper bound.
    pub lacks_total: bool,
    /// As `lacks_total`, of the self time: it is unknown where calls left the window.
    pub lacks_self: bool,
    /// Columns of method profilers, as `profiler.column`.
    pub columns: BTreeMap<String, Change>,
    /// The columns that are lower bounds.
    pub lower_bounds: BTreeSet<String>,
}

/// The versions that have a thing. A site that exists and was not called is in its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Both.
    Both,
    /// Only the version before.
    Before,
    /// Only the version after.
    After,
}

/// Why two versions cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffError {
    /// Nothing is in both: the names of the programs before and after.
    NothingInCommon(String, String),
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffError::NothingInCommon(before, after) => write!(
                f,
                "`{before}` and `{after}` have nothing in common: compare two recordings of one program, or group them \
                 by something that both have"
            ),
        }
    }
}

impl std::error::Error for DiffError {}

impl Diff {
    /// Compares two versions, which were read by the same grouping.
    pub fn new(by: By, before: &Side, after: &Side) -> Result<Diff, DiffError> {
        let is_shared = before.things.keys().any(|identity| after.has(identity));
        if !is_shared && !before.things.is_empty() && !after.things.is_empty() {
            return Err(DiffError::NothingInCommon(
                before.programs.join(", "),
                after.programs.join(", "),
            ));
        }
        let none = Thing::default();
        let recordings = (before.recordings, after.recordings);
        let mut rows: Vec<DiffRow> = Vec::new();
        let renamed = before.renamed(after);
        let is_renamed = |identity: &Identity| renamed.iter().any(|(gone, _)| *gone == identity);
        for (identity, thing) in before.things.iter().filter(|(identity, _)| !is_renamed(identity))
        {
            let presence = if after.has(identity) { Presence::Both } else { Presence::Before };
            let row = DiffRow::new(
                identity,
                presence,
                thing,
                after.things.get(identity).unwrap_or(&none),
                recordings,
            );
            rows.push(DiffRow { is_unobserved_in_one: after.is_unobserved(identity), ..row });
        }
        for (identity, thing) in
            after.things.iter().filter(|(it, _)| !before.things.contains_key(it))
        {
            let was = renamed
                .iter()
                .find(|(_, new)| *new == identity)
                .map(|(gone, _)| &before.things[*gone]);
            let is_in_both = was.is_some() || before.has(identity);
            let presence = if is_in_both { Presence::Both } else { Presence::After };
            let row = DiffRow::new(identity, presence, was.unwrap_or(&none), thing, recordings);
            let is_unobserved_in_one = before.is_unobserved(identity);
            rows.push(DiffRow {
                was: was.map(|was| was.label.clone()),
                is_unobserved_in_one,
                ..row
            });
        }
        let is_timed = before.is_timed && after.is_timed;
        let weight = |row: &DiffRow| {
            let time = row
                .self_ns
                .as_ref()
                .or(row.total_ns.as_ref())
                .map_or(0, |time| time.difference().abs());
            (std::cmp::Reverse(time), std::cmp::Reverse(row.count.difference().abs()))
        };
        rows.sort_by(|a, b| weight(a).cmp(&weight(b)).then_with(|| a.label.cmp(&b.label)));
        let sums = |of: &dyn Fn(&Numbers) -> u64| Change {
            before: before.sums(of),
            after: after.sums(of),
        };
        let allocations =
            (!before.allocations.is_empty() && !after.allocations.is_empty()).then(|| {
                let of = |of: fn(&(u64, u64)) -> u64| {
                    let sample = |side: &Side| Sample::new(side.allocations.iter().map(of));
                    Change { before: sample(before), after: sample(after) }
                };
                (of(|(count, _)| *count), of(|(_, bytes)| *bytes))
            });
        // A site whose events left the window has times, and no self time.
        let lacks_self = |numbers: &Numbers| {
            numbers.total_ns.is_some_and(|ns| ns > 0) && numbers.self_ns.is_none()
        };
        let things = before.things.values().chain(after.things.values());
        let is_whole = is_timed && !things.flat_map(|thing| &thing.numbers).any(lacks_self);
        let self_ns = is_whole.then(|| sums(&|numbers| numbers.self_ns.unwrap_or(0)));
        let count = sums(&|numbers| numbers.count);
        let mut notes = notes(before, after);
        let partly = rows.iter().filter(|row| row.is_partly_timed).count() as u64;
        if is_timed && partly > 0 {
            let rows = counted(partly, "row");
            notes.push(format!(
                "{rows} with `~`: times of a part of the calls, which are no change and not judged"
            ));
        }
        let is_filtered = before.is_filtered || after.is_filtered;
        let both =
            |of: fn(&Side) -> &Vec<String>| of(before).iter().chain(of(after)).cloned().collect();
        let incomplete = both(|side| &side.incomplete);
        let empty = both(|side| &side.empty);
        Ok(Diff {
            by,
            recordings,
            is_timed,
            is_filtered,
            rows,
            count,
            self_ns,
            allocations,
            notes,
            incomplete,
            empty,
        })
    }

    /// The rows with a change: another count, a time whose interval does not contain 1, or a thing
    /// of one version. With one recording of each version the noise is unknown, and each other time
    /// is a change.
    pub fn changed(&self) -> impl Iterator<Item = &DiffRow> {
        self.rows.iter().filter(|row| row.is_change())
    }

    /// The row of a site, method, type or package.
    pub fn of_path(&self, path: &str) -> Option<&DiffRow> {
        self.rows.iter().find(|row| matches!(&row.identity, Identity::Path(it) if it == path))
    }
}

impl DiffRow {
    fn new(
        identity: &Identity,
        presence: Presence,
        before: &Thing,
        after: &Thing,
        recordings: (usize, usize),
    ) -> DiffRow {
        let named = if after.numbers.is_empty() { before } else { after };
        let change = |of: &dyn Fn(&Numbers) -> Option<u64>| {
            let sample = |thing: &Thing| Sample::new(thing.numbers.iter().filter_map(of));
            Change { before: sample(before), after: sample(after) }
        };
        let both = |change: Change| {
            let has_values =
                !change.before.values().is_empty() && !change.after.values().is_empty();
            has_values.then_some(change)
        };
        let counts = |thing: &Thing, recordings: usize| {
            let absent = std::iter::repeat_n(0, recordings - thing.numbers.len());
            Sample::new(thing.numbers.iter().map(|numbers| numbers.count).chain(absent))
        };
        let all = || before.numbers.iter().chain(&after.numbers);
        // A method without calls took no time, where the other version was timed.
        let times = |of: &dyn Fn(&Numbers) -> Option<u64>| {
            let is_timed = all().any(|numbers| of(numbers).is_some());
            both(change(&|numbers: &Numbers| of(numbers).or((numbers.count == 0).then_some(0))))
                .filter(|_| is_timed)
        };
        let lacks = |of: &dyn Fn(&Numbers) -> Option<u64>| {
            let is_timed = all().any(|numbers| numbers.total_ns.is_some() || of(numbers).is_some());
            is_timed && all().any(|numbers| numbers.count > 0 && of(numbers).is_none())
        };
        let names = all().flat_map(|numbers| numbers.columns.keys());
        let columns = names.filter_map(|name| {
            Some((name.clone(), both(change(&|it| it.columns.get(name).copied()))?))
        });
        DiffRow {
            identity: identity.clone(),
            label: named.label.clone(),
            kind: named.kind.clone(),
            presence,
            was: None,
            is_unobserved_in_one: false,
            count: Change {
                before: counts(before, recordings.0),
                after: counts(after, recordings.1),
            },
            is_exact: all().all(|numbers| !numbers.at_least),
            total_ns: times(&|numbers| numbers.total_ns),
            self_ns: times(&|numbers| numbers.self_ns),
            is_partly_timed: all().any(|numbers| numbers.is_partly_timed),
            total_at_most: all().any(|numbers| numbers.total_at_most),
            lacks_total: lacks(&|numbers| numbers.total_ns)
                || all().any(|numbers| numbers.total_at_most),
            lacks_self: lacks(&|numbers| numbers.self_ns),
            columns: columns.collect(),
            lower_bounds: all().flat_map(|numbers| &numbers.lower_bounds).cloned().collect(),
        }
    }

    /// True if the versions differ by more than noise.
    pub fn is_change(&self) -> bool {
        let is_other = |change: &Change| {
            change.ratio().is_none_or(|ratio| ratio.least > 1.0 || ratio.most < 1.0)
                && change.is_change()
        };
        let total = self.total_ns.as_ref().filter(|_| !self.total_at_most);
        let times = total.into_iter().chain(&self.self_ns).filter(|_| !self.is_partly_timed);
        self.presence != Presence::Both
            || self.was.is_some()
            || is_other(&self.count)
            || times.chain(self.columns.values()).any(is_other)
    }
}

fn notes(before: &Side, after: &Side) -> Vec<String> {
    let mut notes: Vec<String> = before.doubts.iter().chain(&after.doubts).cloned().collect();
    if before.programs != after.programs {
        let before = before.programs.join(", ");
        let after = after.programs.join(", ");
        notes.push(format!("the programs have different names: `{before}` and `{after}`; what both have is compared"));
    }
    match (before.is_timed, after.is_timed) {
        (true, true) if before.recordings == 1 && after.recordings == 1 => {
            notes.push(
                "one recording each: the noise of the times is unknown; give several, as in A1,A2,A3 B1,B2,B3".into(),
            );
        }
        (true, true) => {
            let coverage = sample::coverage(before.recordings, after.recordings) * 100.0;
            let more = if coverage < sample::CONFIDENCE * 100.0 {
                "; four recordings each make it 95 %"
            } else {
                ""
            };
            notes.push(format!(
                "an interval contains the true change with a probability of {coverage:.0} %{more}"
            ));
        }
        (false, false) => {
            notes.push("no calls were timed, so counts are compared and times are not".into())
        }
        (is_timed, _) => {
            let side = if is_timed { "after" } else { "before" };
            notes.push(format!(
                "no calls were timed {side}, so counts are compared and times are not"
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
