//! `metaspy verify`: reads a whole recording and lists its content, damage and gaps.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use metaspy_reader::EndState;
use metaspy_reader::Verification;
use metaspy_report::text::{clean, counted, grouped};

use crate::exit::Ended;
use crate::metaspy::live;
use crate::metaspy::progress::with_time;
use crate::options::JsonOption;

/// Verifies a file.
pub fn run(file: &Path, json: &JsonOption, out: &mut impl Write) -> Result<Ended> {
    let store = live::open_named(file)?;
    let found = with_time("verifying", || store.verify());
    json.write(
        out,
        |out| {
            serde_json::to_writer_pretty(&mut *out, &found)?;
            writeln!(out)
        },
        |out| write_text(out, &clean(&store.program().name), &found),
    )?;
    Ok(if found.is_sound() { Ended::Fine } else { Ended::Failed })
}

fn write_text(out: &mut impl Write, name: &str, found: &Verification) -> io::Result<()> {
    let state = match found.ended {
        EndState::Live => "it is being written",
        EndState::Closed => "closed in good order",
        EndState::Snapshot => "it was being written when this copy was made",
        _ => "its process was killed",
    };
    writeln!(out, "{name}: {state}")?;
    let totals = &found.totals;
    let mut line = |name: &str, count: u64, what: &str| {
        writeln!(out, "{name:>10} {:>17}  {what}", grouped(count))
    };
    line("emitted", totals.emitted, "calls, wherever they stand")?;
    line("events", found.events, "are stored: in the window, or kept by a rule")?;
    line("folded", totals.folded, "left the window, counted in the tallies")?;
    line("counted", totals.counted, "without an event, in tally mode")?;
    line("lost", totals.lost + totals.unnamed, "in place and time, not in number")?;
    line("running", found.running, "stored events that have not ended")?;
    line("marks", found.marks, "details, links and ends beside the events")?;
    line("blocks", found.blocks, "hold something")?;
    line("lanes", found.lanes, "with stored events")?;
    line("sites", found.sites, "are named")?;
    line("labels", found.labels, "name subjects")?;
    if found.pending_fold {
        writeln!(
            out,
            "a fold was under way when the process ended; it is counted as it should be"
        )?;
    }
    for text in &found.damaged {
        writeln!(out, "damaged: {}", clean(text))?;
    }
    if found.more_damaged > 0 {
        writeln!(out, "damaged: {}", counted(found.more_damaged, "further place"))?;
    }
    for text in &found.missing {
        writeln!(out, "missing: {}", clean(text))?;
    }
    if found.malformed_traceparents > 0 {
        writeln!(
            out,
            "note: {}",
            metaspy_report::rows::text::ignored(found.malformed_traceparents)
        )?;
    }
    if found.rows_freed > 0 {
        let rows = counted(found.rows_freed, "row");
        writeln!(
            out,
            "note: {rows} of counts were used again by later profilers: the failure of a call that was only counted, and \
             that ran meanwhile, may be counted at another site"
        )?;
    }
    for note in &found.notes {
        writeln!(out, "note: {}", clean(note))?;
    }
    if found.unused_cut > 0 {
        let bytes = counted(found.unused_cut, "byte");
        writeln!(out, "the file was cut by {bytes} behind its last block: no event stood there")?;
    }
    writeln!(
        out,
        "{}",
        if found.is_sound() { "sound" } else { "NOT SOUND: what could be read was read" }
    )?;
    Ok(())
}
