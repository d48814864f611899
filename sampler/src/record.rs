//! Samples in a recording: a table of processor time by site and subject.
//!
//! The table is declared and laid out as those of method profilers are ([`metaspy_format::profile`]), so every front end
//! shows it, and merged recordings add it up. It is appended when the process has ended: nobody else writes then, and the
//! counts of pages and names are stored last, so that a reader finds all of the table or nothing of it.

use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use metaspy_format::arena::{Entry, head, push_text};
use metaspy_format::profile::page::{self, Content, HEAD_WORDS, HEADER_WORDS, Kind};
use metaspy_format::profile::{Column, Key, KeyKind, ROWS_MAX, TableDef};
use metaspy_format::superblock as sb;
use metaspy_reader::{EndState, Store};
use metaspy_report::append::write_words;
use metaspy_report::rows::cpu::{PROFILE, SAMPLES};

use crate::run::Run;
use crate::samples::UNKNOWN;

/// Tables of method profilers are numbered from 0 up, those of samples from here up.
const FIRST_TABLE: u32 = 1 << 31;
/// The site of samples in no event.
const NO_SITE: u32 = 0;

/// What became of the samples of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The recording has them.
    Rows(usize),
    /// The process still writes the recording.
    StillWritten,
    /// No sample was taken in its process.
    NoSamples,
    /// The recording has no room: its budget was small.
    NoRoom,
}

/// Appends the samples of a run to each recording of its processes.
pub fn append(run: &Run) -> Vec<(&Path, io::Result<Appended>)> {
    let of = |(path, store): &'_ (std::path::PathBuf, Store)| append_to(run, path, store);
    run.recordings.iter().map(|recording| (recording.0.as_path(), of(recording))).collect()
}

fn append_to(run: &Run, path: &Path, store: &Store) -> io::Result<Appended> {
    if store.end_state() == EndState::Live {
        return Ok(Appended::StillWritten);
    }
    let rows = rows(run, path, store);
    if rows.is_empty() {
        return Ok(Appended::NoSamples);
    }
    let (ring, installation) = (store.ring(), store.profiles().len() as u32);
    let (words, layout) = (ring.words, ring.layout);
    let sample_ns = run.sample_ns();
    let ns = |samples: u64| samples.saturating_mul(sample_ns);
    let ticks = |samples: u64| store.tick_at_ns(ns(samples)).saturating_sub(store.tick_at_ns(0));
    let (arena_used, pages_used) = (words.acquire(sb::ARENA_USED) as usize, words.acquire(sb::PROFILES_USED) as usize);
    // Rows beyond the room are left out, the smallest first.
    let columns = 2;
    let room = (layout.profiles.len * 8).saturating_sub(pages_used) / 8;
    let fixed = 3 * HEADER_WORDS + HEAD_WORDS;
    let most = room.saturating_sub(fixed) / (Key::WORDS + columns);
    let kept = &rows[..rows.len().min(most).min(ROWS_MAX as usize)];
    if kept.is_empty() {
        return Ok(Appended::NoRoom);
    }
    let table = FIRST_TABLE + installation;
    let def = TableDef {
        profile: PROFILE.to_owned(),
        installation: FIRST_TABLE + installation,
        name: String::new(),
        key: KeyKind::Subject,
        columns: vec![Column::new(SAMPLES), Column::ticks(PROFILE)],
    };
    let mut entry = vec![0];
    push_text(&mut entry, &serde_json::to_string(&def)?);
    entry[0] = head(Entry::Table, entry.len(), table);
    if (arena_used + entry.len()) * 8 > layout.arena.len * 8 {
        return Ok(Appended::NoRoom);
    }
    let mut pages = Vec::new();
    let lost = rows[kept.len()..].len() as u64;
    add_page(&mut pages, Content { table, kind: Kind::Head }, &[&[lost], &[0; HEAD_WORDS - 1][..]].concat());
    let keys: Vec<u64> = kept.iter().flat_map(|(key, _)| [key.key, key.who()]).collect();
    add_page(&mut pages, Content { table, kind: Kind::Keys }, &keys);
    let values: Vec<u64> = kept.iter().flat_map(|&(_, samples)| [samples, ticks(samples)]).collect();
    add_page(&mut pages, Content { table, kind: Kind::Values }, &values);

    let file = OpenOptions::new().write(true).open(path)?;
    write_words(&file, layout.profiles.at * 8 + pages_used, &pages)?;
    write_words(&file, (layout.arena.at + arena_used) * 8, &entry)?;
    write_words(&file, sb::PROFILES_USED * 8, &[(pages_used + pages.len() * 8) as u64])?;
    write_words(&file, sb::ARENA_USED * 8, &[(arena_used + entry.len()) as u64])?;
    Ok(Appended::Rows(kept.len()))
}

/// A page with its header.
fn add_page(pages: &mut Vec<u64>, content: Content, words: &[u64]) {
    let mut header = [0; HEADER_WORDS];
    header[page::WORDS] = words.len() as u64;
    header[page::CONTENT] = content.pack();
    pages.extend(header);
    pages.extend(words);
}

/// Samples by site and subject of the innermost event, the most frequent first. Those in no event have no site.
fn rows(run: &Run, path: &Path, store: &Store) -> Vec<(Key, u64)> {
    let pid = store.header().pid;
    let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
    let mut keys: HashMap<u32, Key> = HashMap::new();
    for sample in &run.samples.samples {
        if run.samples.threads[sample.thread as usize].pid != pid {
            continue;
        }
        let key = *keys.entry(sample.events).or_insert_with(|| {
            let none = Key { site: NO_SITE, second: 0, key: 0 };
            let list = if sample.events == UNKNOWN { None } else { run.samples.lists.get(sample.events as usize) };
            let Some(&innermost) = list.and_then(|list| list.last()) else { return none };
            let of = run.samples.events[innermost as usize].of;
            if run.samples.recordings[of.recording as usize].1 != path {
                return none;
            }
            let subject = of.subject.map_or((0, 0), |subject| (u32::from(subject.kind.0), subject.key));
            Key { site: of.site.0, second: subject.0, key: subject.1 }
        });
        *counts.entry(key).or_default() += 1;
    }
    let mut rows: Vec<(Key, u64)> = counts.into_iter().collect();
    rows.sort_by_key(|&(key, samples)| (std::cmp::Reverse(samples), key));
    rows
}
