#![doc = include_str!("../README.md")]

// The rooms, from the bottom up. None uses one above it.

#[doc(hidden)]
pub mod platform;

#[doc(hidden)]
pub mod files;

pub mod text;

pub mod units;

mod parallel;

pub mod event;

mod measure;

mod ring;

mod open;

mod names;

mod store;

mod ratio;

mod profiles;

mod hook_cost;

mod kept;

mod totals;

mod details;

mod causes;

mod scan;

mod filter;

mod tally;

mod timeline;

mod verify;

mod merge;

pub mod control;

pub mod stream;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

pub use store::Store;
pub use store::merged::Process;

pub use causes::effects::EffectsIndex;
pub use causes::remote::{LocalTrace, Remote};
pub use causes::{Ancestors, Origin};
pub use details::{AllMarks, EventMarks, Polls, Sent};
pub use event::{Event, EventId, LaneId, Outcome, ParseEventIdError};
pub use filter::matcher::Members;
pub use filter::selector::{self, Selector, SelectorError};
pub use filter::{Filter, FilterError, FilterTester};
pub use hook_cost::HookCost;
pub use kept::{Kept, KeptUnit};
pub use measure::Measure;
pub use merge::MergeError;
pub use metaspy_format::detail::{Detail, DetailKind};
pub use names::program::{Program, RecordedView};
pub use names::relations::Relation;
pub use names::{RecordedEpoch, RecordedKind, RecordedSite};
pub use open::OpenError;
pub use open::absent_files::AbsentFiles;
pub use open::header::{EndState, Header};
pub use parallel::interrupt::interruptible;
pub use profiles::{
    Column, ColumnKind, KeyKind, Merge, Profile, ProfileRow, ProfileTable, RowKey, TypeKey, Value,
};
pub use ratio::Ratio;
pub use ring::links::Links;
pub use scan::current::{CurrentEvents, Enclosing};
pub use scan::event_rows::Pairs;
pub use scan::losses::{Loss, Losses};
pub use scan::parts::{Conditions, Scan};
pub use scan::resolved::{Cause, Reason, ResolvedEvent, ResolvedScan, UnitOfWork, UnitRule};
pub use scan::survey::{SiteSurvey, Survey};
pub use store::lanes::RecordedLane;
pub use tally::bounds::{CallBounds, Gaps};
pub use tally::chains::{Chain, ChainFrame, Chains};
pub use tally::first_rows::{FirstRows, RowOrder};
pub use tally::groups::{GroupTotal, SiteGroups};
pub use tally::shares::Shares;
pub use tally::{By, DetailLevel, NO_CAUSE, REMOTE_CAUSE, Scope, Tally, TallyRow};
pub use timeline::rank::Rank;
pub use timeline::violations::Violations;
pub use timeline::{Page, Position};
pub use totals::Totals;
pub use verify::Verification;

// These items are for the writer.
#[doc(hidden)]
pub use filter::matcher;
#[doc(hidden)]
pub use metaspy_format::layout::Layout;
#[doc(hidden)]
pub use open::closing_counts::ClosingCounts;
#[doc(hidden)]
pub use ring::blocks::{self, Ring};
