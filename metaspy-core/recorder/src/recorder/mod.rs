//! One log per process: hooks write an event once, whoever is interested.
//!
//! `lane` is the hot path, one lane per thread; `collector` keeps blocks ready and folds old ones;
//! `tally_page` counts calls without events. A log is never unmapped: a guard on some stack may
//! still want to end its event in it.

mod apart;
mod arena;
mod arrays;
mod begin;
mod blocks;
mod boundaries;
mod busy;
mod cached_observers;
mod causes;
mod close;
mod collector;
mod collector_state;
mod count;
mod counted_outcome;
mod counter;
mod counter_cache;
mod cut_spans;
mod end;
mod entry_cells;
mod epoch;
mod fold;
mod fold_rows;
mod folder;
mod folders;
mod growing_area;
mod keep;
mod lane;
mod lane_rows;
mod lean;
mod let_go;
mod level;
mod listener;
mod live_events;
mod log;
mod merged_rows;
mod needed_statements;
mod next_epoch;
mod outliving_events;
mod own_file;
mod own_words;
#[cfg(target_os = "linux")]
mod pack;
mod patience;
mod populate;
mod profiler_state;
pub mod protocol;
mod spare_cells;
mod stale_summaries;
mod start;
mod start_error;
mod statement_halves;
mod statements;
mod summarise;
mod tables;
mod tally_page;

pub use apart::{Apart, apart};
pub use arena::Draft;
pub use begin::{
    About, Begun, COUNTED, LOST, begin, begin_at_once, begin_detailed, choose_timed,
    is_next_untimed, is_timed, mark, mark_at, point,
};
pub use boundaries::Boundary;
pub use busy::{Busy, Gate};
pub use cached_observers::{CACHED, CachedCell, CachedObservers};
pub use causes::is_under;
pub use collector::Lease;
pub use count::{
    count_at_once, count_entry, count_in_bucket, count_missed, show_settled, tally, tally_more,
};
pub use counted_outcome::count_outcome_in;
pub use counter::Counter;
pub use counter_cache::{Cells, Settled};
pub use end::{end, end_apart, end_marked, end_point};
pub use epoch::{EPOCH, epoch};
pub(crate) use keep::Rules;
pub use keep::{AddedRules, KeepError};
pub(crate) use lane::earlier_cause;
pub use lane::{
    Current, Lane, current_event, current_event_in, joined_lane, lane_level, own_lane, swap_current,
};
pub use lean::{begin_lean, end_lean, end_slowly as end_lean_slowly};
pub(crate) use let_go::let_go_before;
pub use level::Level;
pub use level::{at_meta_level, meta};
pub use listener::{Listener, Module, listen, sync_names};
pub use live_events::LiveEvent;
pub(crate) use log::has_file;
pub use log::{Log, Named, all, current};
pub use next_epoch::{next_boundary, next_epoch};
pub use patience::{Ran, with_patience};
pub use profiler_state::ProfilerState;
pub use start::watch_forks;
pub(crate) use start::{Backing, Spec, ensure, follow, is_full, start};
pub use start_error::StartError;
