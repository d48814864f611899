//! Labels of merged processes, and sentences about their clocks.

use std::collections::{BTreeSet, HashMap};

use crate::Store;
use crate::merge::clock::{AlignedClock, Bounds, Crossing};
use crate::merge::{MergeError, Process};
use crate::open::header::{EndState, Header};
use metaspy_format::superblock as sb;

/// Refuses a recording that is given twice.
pub(super) fn check_apart(sources: &[(String, Store)]) -> Result<(), MergeError> {
    for (at, (second, later)) in sources.iter().enumerate() {
        let words = [sb::STARTED_NS, sb::FIRST_TICK, sb::SPAN_WORD, sb::BLOCKS];
        let is_one =
            |earlier: &Store| is_of_one_process(earlier, later) && have_same(earlier, later, words);
        if let Some((first, _)) = sources[..at].iter().find(|(_, earlier)| is_one(earlier)) {
            return Err(MergeError::Twice(first.clone(), second.clone()));
        }
    }
    Ok(())
}

/// Puts the recordings of one process beside each other, the earliest first.
pub(super) fn put_in_order(sources: &mut [(String, Store)]) {
    let first =
        |store: &Store| sources.iter().position(|(_, other)| is_of_one_process(other, store));
    let mut places: Vec<_> = sources
        .iter()
        .map(|(_, store)| (first(store), store.header().first_tick))
        .zip(0..)
        .collect();
    places.sort_unstable();
    let ordered: Vec<_> = places.into_iter().map(|(_, place)| sources[place].clone()).collect();
    sources.clone_from_slice(&ordered);
}

/// Returns true for two recordings of one process, such as those of a rotation, whose keys of
/// subjects have the same meaning.
pub(super) fn is_of_one_process(one: &Store, other: &Store) -> bool {
    let boots = [one, other].map(|store| &store.program().boot);
    let are_two_boots = boots.iter().all(|boot| !boot.is_empty()) && boots[0] != boots[1];
    !are_two_boots && have_same(one, other, [sb::PID, sb::PROCESS_START])
}

/// Counts the files of rotations that precede the given recordings, and returns whether further
/// files follow.
pub(super) fn absent_files(sources: &[Store]) -> (u64, bool) {
    let mut earlier = 0_u64;
    let mut has_later = false;
    for (at, first) in sources.iter().enumerate() {
        let is_first = !sources[..at].iter().any(|other| is_of_one_process(other, first));
        let rotated: Vec<Header> = sources[at..]
            .iter()
            .filter(|other| is_first && is_of_one_process(other, first))
            .map(Store::header)
            .filter(|header| header.earlier_files > 0 || header.is_followed)
            .collect();
        let numbers: BTreeSet<u64> = rotated.iter().map(|header| header.earlier_files).collect();
        if let Some(last) = rotated.iter().max_by_key(|header| header.earlier_files) {
            earlier = earlier
                .saturating_add((last.earlier_files + 1).saturating_sub(numbers.len() as u64));
            has_later |= last.is_followed;
        }
    }
    (earlier, has_later)
}

fn have_same<const N: usize>(one: &Store, other: &Store, words: [usize; N]) -> bool {
    words.into_iter().all(|word| one.words().get(word) == other.words().get(word))
}

/// Builds the labels of the processes, with numbers if several belong to the same program.
pub(super) fn processes(sources: &[(String, Store)]) -> Vec<Process> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (_, store) in sources {
        *names.entry(&store.program().name).or_default() += 1;
    }
    let mut labels: HashMap<String, usize> = HashMap::new();
    let process = |(source, store): &(String, Store)| {
        let name = store.program().name.clone();
        let pid = store.header().pid;
        let mut label = match names[name.as_str()] {
            1 if !name.is_empty() => name.clone(),
            _ => format!("{name} {pid}").trim_start().to_owned(),
        };
        // Two machines can have processes with the same number.
        let count = labels.entry(label.clone()).or_default();
        *count += 1;
        if *count > 1 {
            label = format!("{label} ({count})");
        }
        let source = source.clone();
        let ended = store.end_state();
        Process { label, name, pid, source, lanes: 0..0, ended, clock: 0, moved_ns: 0 }
    };
    sources.iter().map(process).collect()
}

/// Returns sentences for live recordings, which are snapshots.
pub(super) fn snapshots(processes: &[Process]) -> impl Iterator<Item = String> {
    let live = processes.iter().filter(|process| process.ended == EndState::Live);
    live.map(|process| format!("{}: it is being written; this is a snapshot of it", process.label))
}

/// Findings about the clocks.
pub(super) struct Clocks {
    pub sentences: Vec<String>,
    pub order_is_uncertain: bool,
}

/// Returns sentences about clocks that differ.
pub(super) fn clocks(
    processes: &[Process],
    placed: &[AlignedClock],
    bounds: &[Bounds],
    crossings: &[Crossing],
) -> Clocks {
    let labels = |domain: usize| {
        let of = processes
            .iter()
            .filter(|process| process.clock == domain)
            .map(|process| process.label.as_str());
        of.collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    for (domain, bounds) in bounds.iter().enumerate().skip(1) {
        let known = match (bounds.least, bounds.most) {
            (Some(least), Some(most)) if least > most => {
                format!(
                    ", as their clocks drift: something was received {} before it was sent",
                    length(least - most)
                )
            }
            (Some(least), Some(most)) => format!(" by up to {}", length(most - least)),
            (None, None) => ", as nothing that crosses between them is known".to_owned(),
            _ => ", as things cross between them in one direction only".to_owned(),
        };
        let moved = match bounds.moved {
            0 => String::new(),
            by => format!(
                " Their clocks disagree: {} was moved by {}{}, as nothing is received before it is sent.",
                labels(domain),
                if by < 0 { "-" } else { "+" },
                length(by)
            ),
        };
        sentences.push(format!(
            "{} has another clock than {}: the order of events across them is uncertain{known}.{moved}",
            labels(domain),
            labels(0)
        ));
    }
    // A message that is received before it is sent contradicts the assumption that both clocks are
    // the same.
    let early = crossings
        .iter()
        .filter(|crossing| placed[crossing.from].domain == placed[crossing.to].domain);
    let early = early.filter_map(|crossing| {
        let later = placed[crossing.to].line.ns(crossing.received)
            - placed[crossing.from].line.ns(crossing.sent);
        (later < 0).then_some((later, crossing))
    });
    let earliest = early.min_by_key(|(later, _)| *later);
    if let Some((by, Crossing { from, to, .. })) = earliest {
        sentences.push(format!(
            "the clocks of {} and {} disagree: something was received {} before it was sent, so their order is uncertain",
            processes[*from].label,
            processes[*to].label,
            length(by)
        ));
    }
    Clocks { order_is_uncertain: !sentences.is_empty(), sentences }
}

/// Formats a length of time without its sign.
fn length(ns: i128) -> String {
    let ns = ns.unsigned_abs();
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.3} s", ns as f64 / 1e9),
    }
}
