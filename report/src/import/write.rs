//! Writing a profile into an empty recording.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use metaspy_format::arena::{Entry, head, push_text, site_words};
use metaspy_format::profile::{Column, Key, KeyKind, TableDef};
use metaspy_probe::SiteKind;
use metaspy_reader::Store;

use super::{Calls, Content, Imported, Samples};
use crate::append::{AppendedRow, Room, append};
use crate::cpu::{PROFILE, SAMPLES};
use crate::functions::tables::{FunctionRow, add_functions, number, sampled, table};
use crate::functions::{FRAMES, columns};
use crate::program::{CALLERS, INSTRUCTIONS, OWN_INSTRUCTIONS};

/// Numbers of the functions, frames and samples that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Functions.
    pub functions: usize,
    /// Different frames, or pairs of caller and callee.
    pub frames: usize,
    /// Samples, or instructions.
    pub all: u64,
}

impl Imported {
    /// Writes the profile into the closed recording at a path, which has nothing else.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, if the numbers cannot be added up, and if there is nothing to
    /// write.
    pub fn write(&self, path: &Path, source: &str) -> io::Result<Counts> {
        let store = Store::open(path).map_err(io::Error::other)?;
        let mut room = Room::of(&store);
        let mut names = Vec::new();
        let program = if self.program.is_empty() { source } else { &self.program };
        entry(
            &mut names,
            Entry::Program,
            0,
            &[],
            &[&serde_json::json!({ "name": program }).to_string()],
        );
        entry(
            &mut names,
            Entry::Note,
            0,
            &[],
            &[&format!("imported from {source}: {}", self.format.name())],
        );
        for note in &self.notes {
            entry(&mut names, Entry::Note, 0, &[], &[note]);
        }
        let counts = match &self.content {
            Content::Samples(samples) => samples.add_to(&store, &mut room)?,
            Content::Calls(calls) => calls.add_to(&mut room, &mut names)?,
        };
        append(path, &[], &names)?;
        room.write(path)?;
        Ok(counts)
    }
}

fn entry(to: &mut Vec<u64>, entry: Entry, a: u32, words: &[u64], texts: &[&str]) {
    let at = to.len();
    to.push(0);
    to.extend(words);
    texts.iter().for_each(|text| push_text(to, text));
    to[at] = head(entry, to.len() - at, a);
}

impl Samples {
    fn add_to(&self, store: &Store, room: &mut Room) -> io::Result<Counts> {
        let all = self.all().map_err(io::Error::other)?;
        if all == 0 {
            return Err(io::Error::other("it has no samples"));
        }
        let ticks = |samples: u64| {
            store.tick_at_ns(samples * self.period_ns).saturating_sub(store.tick_at_ns(0))
        };
        let def = TableDef {
            profile: PROFILE.to_owned(),
            key: KeyKind::Subject,
            columns: vec![Column::new(SAMPLES), Column::ticks(PROFILE)],
            ..TableDef::default()
        };
        room.add(def, &[(sampled(0), vec![all, ticks(all)])], 0)?;
        let (functions, frames) = self.numbers();
        let counts = self.counts();
        let mut order: Vec<usize> = (0..functions.len()).filter(|&at| counts[at].1 > 0).collect();
        order.sort_by_key(|&at| (Reverse(counts[at]), at));
        let row = |at: usize| {
            let (function, (own, total)) = (&self.functions[at], counts[at]);
            FunctionRow {
                number: functions[at],
                names: [&*function.name, &*function.file, &*function.owner, &*function.module],
                values: [own, ticks(own), total, ticks(total)],
            }
        };
        let kept = add_functions(order.into_iter().map(row), room)?;
        let row = |(at, frame): (usize, &super::samples::Frame)| -> AppendedRow {
            let caller = frame.caller.map_or(0, |caller| frames[caller]);
            (
                sampled(frames[at]),
                vec![caller, functions[frame.function], frame.line.into(), 0, 0, frame.own],
            )
        };
        let rows: Vec<AppendedRow> = self.frames.iter().enumerate().map(row).collect();
        let names = ["caller", "function", "line", "position", "inlined"].map(number);
        let of_frames: Vec<Column> = names.into_iter().chain([Column::new("samples")]).collect();
        debug_assert_eq!(of_frames.len(), columns::FRAMES);
        let added = room.add(table(FRAMES, of_frames), &rows, 0)?;
        Ok(Counts { functions: kept, frames: added, all })
    }
}

impl Calls {
    fn add_to(&self, room: &mut Room, names: &mut Vec<u64>) -> io::Result<Counts> {
        let all =
            self.functions.iter().fold(0_u64, |all, function| all.saturating_add(function.own));
        if all == 0 {
            return Err(io::Error::other("it has no instructions"));
        }
        for (number, function) in (1..).zip(&self.functions) {
            let module = function.name.rfind("::").map_or(0, |at| at as u32);
            let words = site_words(SiteKind::Method, (function.line, function.line), module);
            entry(names, Entry::Site, number, &words, &[&function.name, &function.file, "", ""]);
        }
        let def = |name: &str, key, columns| TableDef {
            profile: INSTRUCTIONS.to_owned(),
            name: name.to_owned(),
            key,
            columns,
            ..TableDef::default()
        };
        let own: Vec<u64> =
            std::iter::once(0).chain(self.functions.iter().map(|function| function.own)).collect();
        if !room.add_by_site(def("", KeyKind::Site, vec![Column::new(OWN_INSTRUCTIONS)]), &own)? {
            return Err(io::Error::other("it has more functions than a recording has room for"));
        }
        let mut edges: Vec<_> = self.edges.iter().collect();
        edges.sort_by_key(|&(pair, cost)| (Reverse(cost.instructions), *pair));
        let row = |(&(from, to), cost): (&(usize, usize), &super::callgrind::Cost)| -> AppendedRow {
            let key = Key { site: to as u32 + 1, second: from as u32 + 1, key: 0 };
            (key, vec![cost.calls, cost.instructions])
        };
        let rows: Vec<AppendedRow> = edges.into_iter().map(row).collect();
        let columns = vec![Column::new("calls"), Column::new(OWN_INSTRUCTIONS)];
        let frames = room.add(def(CALLERS, KeyKind::Caller, columns), &rows, 0)?;
        Ok(Counts { functions: self.functions.len(), frames, all })
    }
}
