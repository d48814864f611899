//! Tables of sampled functions in a recording, with their lines, their callers and the events that
//! they ran in.
//!
//! Three kinds of tables, bounded by the room of the recording, hold the functions, the tree of
//! their frames, and the samples of each frame by event. Functions and frames are numbered by
//! hashes of their content, so that a merge of recordings adds up the samples of several processes.
//! The columns are described in [`metaspy_report::functions`], which reads them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;

use metaspy_format::profile::{Column, Key, TableDef};
use metaspy_reader::EventId;
use metaspy_report::append::{AppendedRow, Room};
use metaspy_report::functions::tables::{
    FunctionRow, ROOM_PARTS, add_functions, hash_of, number, sampled, table,
};
use metaspy_report::functions::{EVENTS, FRAMES, columns};

use super::Recorded;
use crate::symbols::{Frame, FunctionId};

/// Frame in the tree of callers.
#[derive(Clone, Copy)]
struct Node {
    number: u64,
    caller: u64,
    frame: Frame,
    /// Range of positions in a code map, in place of lines.
    position: Option<u64>,
    is_inlined: bool,
    count: Count,
}

/// Self and total samples of a function or a frame.
#[derive(Clone, Copy, Default)]
struct Count {
    own: u64,
    total: u64,
}

/// Samples of a recording by function, frame and event.
#[derive(Default)]
struct Tree {
    functions: BTreeMap<FunctionId, Count>,
    nodes: Vec<Node>,
    /// Samples by innermost frame and event.
    events: HashMap<(u64, u32, Option<EventId>), u64>,
}

/// Adds the tables to the recording. Returns the number of functions.
pub fn add(recorded: &Recorded<'_>, room: &mut Room) -> io::Result<usize> {
    let tree = Tree::of(recorded);
    let functions = tree.add_functions(recorded, room)?;
    if functions == 0 {
        return Ok(0);
    }
    let (def, rows) = tree.frames(recorded);
    let kept = &rows[..rows.len().min(room.rows(columns::FRAMES) / ROOM_PARTS * (ROOM_PARTS - 1))];
    room.add(def, kept, (rows.len() - kept.len()) as u64)?;
    let mut rows = tree.events(recorded, |event| event);
    if rows.len() > room.rows(columns::EVENTS) {
        // Subjects are more important than single events.
        rows = tree.events(recorded, |_| None);
    }
    let columns = vec![
        number("frame"),
        number("subject"),
        number("event"),
        number("process"),
        Column::new("samples"),
    ];
    room.add(table(EVENTS, columns), &rows, 0)?;
    Ok(functions)
}

impl Tree {
    fn of(recorded: &Recorded<'_>) -> Tree {
        let mut by_stack: BTreeMap<u32, HashMap<(u32, Option<EventId>), u64>> = BTreeMap::new();
        for sample in recorded.samples() {
            *by_stack
                .entry(sample.stack)
                .or_default()
                .entry((sample.events, sample.event))
                .or_default() += 1;
        }
        let mut tree = Tree::default();
        let mut places: HashMap<u64, usize> = HashMap::new();
        let numbers: Vec<u64> = recorded.profile.symbols.functions.iter().map(hash_of).collect();
        for (stack, events) in by_stack {
            let count = events.values().sum();
            let Some(innermost) = tree.add_stack(recorded, stack, count, &numbers, &mut places)
            else {
                continue;
            };
            for ((list, event), samples) in events {
                *tree.events.entry((innermost, list, event)).or_default() += samples;
            }
        }
        tree.nodes.sort_by_key(|node| (Reverse(node.count.total), node.number));
        tree
    }

    /// Adds a stack to the tree. Returns the number of its innermost frame.
    fn add_stack(
        &mut self,
        recorded: &Recorded<'_>,
        stack: u32,
        samples: u64,
        numbers: &[u64],
        places: &mut HashMap<u64, usize>,
    ) -> Option<u64> {
        let (of, symbols) =
            (&recorded.profile.run.samples.stacks[stack as usize], &recorded.profile.symbols);
        let mut caller = 0;
        let mut seen = Vec::new();
        for (above, &at) in of.frames.iter().enumerate().rev() {
            let resolved = &symbols.addresses[at as usize];
            let last = resolved.frames.len().saturating_sub(1);
            let own = if above == 0 { recorded.profile.own(&resolved.frames) } else { None };
            for (depth, &frame) in resolved.frames.iter().enumerate().skip(own.unwrap_or(0)).rev() {
                let position = resolved.range.map(|(from, _)| from);
                let is_inlined = depth < last;
                let number = hash_of(&(
                    caller,
                    numbers[frame.function as usize],
                    frame.line,
                    position,
                    is_inlined,
                ));
                let place = *places.entry(number).or_insert_with(|| {
                    self.nodes.push(Node {
                        number,
                        caller,
                        frame,
                        position,
                        is_inlined,
                        count: Count::default(),
                    });
                    self.nodes.len() - 1
                });
                if !seen.contains(&frame.function) {
                    seen.push(frame.function);
                    self.functions.entry(frame.function).or_default().total += samples;
                }
                self.nodes[place].count.total += samples;
                caller = number;
            }
        }
        let innermost = &mut self.nodes[*places.get(&caller)?];
        innermost.count.own += samples;
        self.functions.entry(innermost.frame.function).or_default().own += samples;
        Some(caller)
    }

    /// Adds the functions, those with the most samples first. Returns the number of functions.
    fn add_functions(&self, recorded: &Recorded<'_>, room: &mut Room) -> io::Result<usize> {
        let mut counts: Vec<(FunctionId, Count)> =
            self.functions.iter().map(|(&id, &count)| (id, count)).collect();
        counts.sort_by_key(|&(id, count)| (Reverse(count.own), Reverse(count.total), id));
        let row = |(id, count): (FunctionId, Count)| {
            let function = &recorded.profile.symbols.functions[id as usize];
            let file = function.file.as_deref().unwrap_or_default();
            FunctionRow {
                number: hash_of(function),
                names: [&*function.name, file, function.category.name(), &function.module],
                values: [
                    count.own,
                    recorded.ticks(count.own),
                    count.total,
                    recorded.ticks(count.total),
                ],
            }
        };
        add_functions(counts.into_iter().map(row), room)
    }

    fn frames(&self, recorded: &Recorded<'_>) -> (TableDef, Vec<AppendedRow>) {
        let functions = &recorded.profile.symbols.functions;
        let row = |node: &Node| {
            let position = node.position.map_or(0, |position| position.saturating_add(1));
            let function = hash_of(&functions[node.frame.function as usize]);
            let words = [
                node.caller,
                function,
                node.frame.line.into(),
                position,
                node.is_inlined.into(),
                node.count.own,
            ];
            (sampled(node.number), words.to_vec())
        };
        let columns = ["caller", "function", "line", "position", "inlined"].map(number);
        let columns = columns.into_iter().chain([Column::new("samples")]).collect();
        (table(FRAMES, columns), self.nodes.iter().map(row).collect())
    }

    /// Returns the samples by frame, subject and event, the most frequent first. Samples outside
    /// all events have no row.
    fn events(
        &self,
        recorded: &Recorded<'_>,
        kept: impl Fn(Option<EventId>) -> Option<EventId>,
    ) -> Vec<AppendedRow> {
        let process = recorded.store.header().pid.into();
        let mut counts: BTreeMap<(u64, Key, u64), u64> = BTreeMap::new();
        for (&(frame, list, event), count) in &self.events {
            let Some(key) = recorded.innermost(list) else { continue };
            *counts.entry((frame, key, kept(event).map_or(0, EventId::raw))).or_default() += count;
        }
        let mut rows: Vec<_> = counts.into_iter().collect();
        rows.sort_by_key(|&(of, samples)| (Reverse(samples), of));
        rows.into_iter()
            .map(|((frame, of, event), samples)| {
                let key = Key { key: hash_of(&(frame, of, event)), ..of };
                (key, vec![frame, of.key, event, process, samples])
            })
            .collect()
    }
}
