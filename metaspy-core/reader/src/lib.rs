#![doc = include_str!("../README.md")]

mod store;

mod open;

mod scan;

mod names;

pub mod event;

mod causes;

mod filter;

mod tally;

mod profiles;

mod verify;

mod hook_cost;
mod kept;
mod merge;
mod ratio;

pub mod control;

#[doc(hidden)]
pub mod files;

pub mod stream;

pub mod text;

pub mod units;

#[doc(hidden)]
pub mod platform;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

pub use store::Store;

pub use causes::chains::{Chain, ChainFrame, Chains};
pub use causes::effects::EffectsIndex;
pub use causes::links::Links;
pub use causes::remote::{LocalTrace, Remote, Sent};
pub use causes::{Ancestors, Origin};
pub use event::details::{EventMarks, Polls};
pub use event::rank::Rank;
pub use event::timeline::{Page, Position};
pub use event::{Event, EventId, LaneId, Outcome, ParseEventIdError};
pub use filter::matcher::Members;
pub use filter::selector::{self, Selector, SelectorError};
pub use filter::violations::Violations;
pub use filter::{Filter, FilterError, FilterTester};
pub use hook_cost::HookCost;
pub use kept::{Kept, KeptUnit};
pub use merge::{MergeError, Process};
pub use metaspy_format::detail::{Detail, DetailKind};
pub use names::program::{Program, RecordedView};
pub use names::relations::Relation;
pub use names::{RecordedEpoch, RecordedKind, RecordedSite};
pub use open::OpenError;
pub use open::absent_files::AbsentFiles;
pub use open::header::{EndState, Header};
pub use profiles::{
    Column, ColumnKind, KeyKind, Merge, Profile, ProfileRow, ProfileTable, RowKey, TypeKey, Value,
};
pub use ratio::Ratio;
pub use scan::current::{CurrentEvents, Enclosing};
pub use scan::event_rows::Pairs;
pub use scan::interrupt::interruptible;
pub use scan::lanes::RecordedLane;
pub use scan::losses::{Loss, Losses};
pub use scan::parts::{Conditions, Scan};
pub use scan::resolved::{Cause, Reason, ResolvedEvent, ResolvedScan, UnitOfWork, UnitRule};
pub use scan::survey::{SiteSurvey, Survey};
pub use tally::bounds::{CallBounds, Gaps};
pub use tally::first_rows::{FirstRows, RowOrder};
pub use tally::groups::{GroupTotal, SiteGroups};
pub use tally::measure::Measure;
pub use tally::shares::Shares;
pub use tally::totals::Totals;
pub use tally::{By, DetailLevel, NO_CAUSE, REMOTE_CAUSE, Scope, Tally, TallyRow};
pub use verify::Verification;

// These items are for the writer.
#[doc(hidden)]
pub use filter::matcher;
#[doc(hidden)]
pub use metaspy_format::layout::Layout;
#[doc(hidden)]
pub use open::closing_counts::ClosingCounts;
#[doc(hidden)]
pub use scan::blocks::{self, Ring};
