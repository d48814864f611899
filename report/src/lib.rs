#![forbid(unsafe_code)]
//! The output of every front end of metaspy.
//!
//! A report starts with a recording and ends with text, JSON or a format of another tool. The
//! modules, in reading order:
//!
//! - [`program`]: the packages, types and methods of a recorded program, with their numbers.
//! - [`rows`]: one row per site, subject, cause, type or package.
//! - [`contexts`]: the tree of calling contexts.
//! - [`coverage`]: the part of a program that ran: the text of `cargo metaspy`.
//! - [`cpu`]: the processor time of samples.
//! - [`functions`]: functions by processor time, of recordings with samples.
//! - [`flame`]: stacks with their costs, as a page.
//! - [`import`]: profiles of other tools, which become recordings.
//! - [`types`]: the types that arrived at methods.
//! - [`findings`]: statements of a recording about its program.
//! - [`gate`]: the decision of a check.
//! - [`condition`] and [`expectation`]: checks that a report passes or fails.
//! - [`diff`]: the difference of two versions.
//! - [`grammar`]: the coverage of a grammar.
//! - [`export`]: the formats of other tools.
//! - [`table`] and [`text`]: tables, numbers, durations, and names that fit into columns.
//! - [`append`]: writes to recordings whose process has ended.
//! - [`runs`]: the runs that `cargo metaspy` keeps.
//! - [`source_line`]: the line of source where a site begins.

pub mod kept;
pub mod program;

pub mod contexts;
pub mod coverage;
pub mod cpu;
pub mod findings;
pub mod flame;
pub mod functions;
pub mod import;
pub mod rows;
pub mod types;

pub mod condition;
pub mod expectation;
pub mod gate;

pub mod diff;

pub mod grammar;

pub mod export;

pub mod append;
pub mod runs;

mod median;
pub mod source_line;
pub mod table;
pub mod text;
