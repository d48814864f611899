//! Header of a report, V07 in the words of the paper's figure 7, and its trailer of process
//! statistics.

use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use metaspy_report::text::{clean, counted, grouped, time};

use crate::options::{Clock, Stacks};
use crate::profile::Profile;
use crate::run::{Ended, PERF};
use crate::text::percent;

/// Smallest share of the processor time that the samples must cover. Below it, the report has a
/// note.
const COVERED_PERCENT: u64 = 95;

/// Writes the header: the program, its time, the sampling, and the owners of the sampled code.
pub fn write(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let run = &profile.run;
    let program = run.target.first().map_or("", String::as_str);
    let size =
        std::fs::metadata(program).map_or(String::new(), |file| format!("  {}", bytes(file.len())));
    let ended = match run.ended {
        Ended::Exited(status) if status.success() => String::new(),
        Ended::Exited(status) => format!("  {status}"),
        Ended::Runs => "  still runs".into(),
        Ended::Unknown => "  has ended".into(),
    };
    let words: Vec<&str> = run.target.iter().map(String::as_str).collect();
    writeln!(
        out,
        "{}  {}{size}  process {}{ended}",
        clean(&words.join(" ")),
        date(profile),
        run.pid
    )?;
    let stacks = match run.options.stacks {
        Stacks::Dwarf => format!(
            "stacks by unwinding tables from {} of copy",
            bytes(run.options.stack_bytes.into())
        ),
        Stacks::FramePointers => "stacks by frame pointers".into(),
        Stacks::None => "without stacks".into(),
    };
    writeln!(
        out,
        "{:.3} seconds; {:.3} seconds of processor time; sampling frequency {:.0} Hz of {} Hz requested; {}, {stacks}",
        run.elapsed.as_secs_f64(),
        run.processor_ns as f64 / 1e9,
        run.achieved_hz(),
        grouped(run.options.rate_hz.into()),
        run.back_end,
    )?;
    let total = profile.total();
    let counts = run.samples.counts;
    let all = total + counts.lost;
    let threads = run.samples.threads.len() as u64;
    write!(
        out,
        "{} samples ({} in all, {} lost)  {} of total",
        grouped(total),
        grouped(all),
        grouped(counts.lost),
        percent(total, all)
    )?;
    writeln!(out, "  in {}", counted(threads, "thread"))?;
    for section in profile.sections() {
        let samples = grouped(section.samples);
        let name = section.category.name();
        writeln!(
            out,
            "{samples:>9} samples in {name:<16} {:>7} of total",
            percent(section.samples, total)
        )?;
    }
    notes(profile).iter().try_for_each(|note| writeln!(out, "note: {}", clean(note)))
}

/// Returns sentences about gaps in the report, each with the remedy.
pub fn notes(profile: &Profile) -> Vec<String> {
    let run = &profile.run;
    let doubts = profile.doubts();
    let mut notes = Vec::new();
    let total = profile.total();
    if total == 0 {
        notes.push(format!(
            "there are no samples: the program used {} of processor time. A higher rate finds more: --rate 10000",
            time(run.processor_ns)
        ));
    }
    notes.extend(run.refused.as_ref().map(|why| format!("timer signals took the samples: {why}")));
    let is_perf = run.back_end == PERF;
    if !is_perf
        && run.options.clock == Clock::Processor
        && run.achieved_hz() * 2.0 < f64::from(run.options.rate_hz)
    {
        notes.push(
            "the kernel looks at timers of the processor clock in its tick, so their rate has a limit; --clock wall has \
             none, and interrupts waits"
                .to_owned(),
        );
    }
    if run.untimed > 0 {
        notes.push(format!(
            "{} without samples: the signal is blocked there, or the system has no further timer",
            counted(run.untimed, "thread")
        ));
    }
    if is_perf && !run.with_kernel {
        notes.push(
            "time in the kernel is not sampled, as kernel.perf_event_paranoid demands: run as root, or set it to 1"
                .to_owned(),
        );
    } else if total > 0
        && run.options.clock == Clock::Processor
        && profile.ns(total) * 100 < run.processor_ns * COVERED_PERCENT
    {
        notes.push(format!(
            "the samples cover {} of the processor time: threads shorter than a period have none, nor has code of the \
             kernel that no timer interrupts",
            percent(profile.ns(total), run.processor_ns)
        ));
    }
    if doubts.cut > 0 {
        notes.push(format!(
            "{} of samples have a stack deeper than its copy, so their outermost callers are missing: --stack-size 64k",
            percent(doubts.cut, total)
        ));
    }
    if doubts.broken > 0 {
        notes.push(format!(
            "{} of samples have a frame whose caller is not known",
            percent(doubts.broken, total)
        ));
    }
    if doubts.unplaced > 0 {
        notes.push(format!(
            "{} of samples are where no code is known",
            percent(doubts.unplaced, total)
        ));
    }
    if run.samples.counts.throttled > 0 {
        notes.push(
            "the kernel made pauses, because samples took too long: choose a lower --rate"
                .to_owned(),
        );
    }
    if run.samples.counts.lost > 0 {
        notes.push(
            "samples were lost, because they were not read in time: choose a lower --rate or --stack-size".into(),
        );
    }
    notes.extend(profile.symbols.notes.iter().cloned());
    notes
}

/// Writes the trailer: memory and events, with their frequencies.
pub(crate) fn write_statistics(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let run = &profile.run;
    let of = &profile.run.statistics;
    let seconds = run.elapsed.as_secs_f64();
    let per_second = |count: u64| {
        format!("{} ({:.0} per second)", grouped(count), count as f64 / seconds.max(1e-9))
    };
    writeln!(out, "\nMemory  {} resident at most", bytes(of.resident_bytes))?;
    writeln!(
        out,
        "        {} page faults, {} of them read from a disk",
        per_second(of.minor_faults + of.major_faults),
        grouped(of.major_faults)
    )?;
    let user = time(of.user_us * 1000);
    let system = time(of.system_us * 1000);
    writeln!(out, "Time    {user} in the program, {system} in the kernel")?;
    writeln!(
        out,
        "Events  {} switches of process because a thread waited, {} because its time was over",
        per_second(of.voluntary_switches),
        per_second(of.involuntary_switches)
    )?;
    let more = run.samples.counts.processes;
    if more > 0 {
        writeln!(out, "        {} started", counted(more, "further process"))
    } else {
        Ok(())
    }
}

/// Formats a number of bytes in the largest fitting unit.
fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in ["KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "bytes" || value.fract() == 0.0 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// Formats the start of the run in UTC.
fn date(profile: &Profile) -> String {
    let s = profile.run.started_at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // The days of the civil calendar are counted from 1 March of year 0: Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms".
    let days = s / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", s / 3600 % 24, s / 60 % 60, s % 60)
}
