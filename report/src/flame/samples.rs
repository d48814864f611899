//! Samples of `metaspy sample` in a recording.

use std::collections::{BTreeMap, HashSet};

use metaspy_reader::Store;

use super::{FlamePage, FunctionValues, Lane, MEASURES, Measure, Stacks, Tree, Unit};
use crate::functions::{Functions, NoFunctions};
use crate::source_line::SourceFiles;
use crate::text::{clean, counted, shorten};

/// Most lines of a function.
const LINES: usize = 12;
/// Most columns of a line of source.
const COLUMNS: usize = 100;

/// Adds the samples of a recording.
pub fn add(page: &mut FlamePage, store: &Store) {
    let functions = match Functions::read(store) {
        Ok(functions) => functions,
        Err(NoFunctions::NoSamples) => {
            let why = "not recorded: METASPY_RECORD=run.spy metaspy sample -- PROGRAM";
            return page.lacks("samples", why);
        }
        Err(NoFunctions::NoRoom) => return page.lacks("samples", &NoFunctions::NoRoom.to_string()),
    };
    let mut places = Vec::new();
    let mut rows = BTreeMap::new();
    for function in &functions.all {
        let place = if function.file.is_empty() { &function.module } else { &function.file };
        let at = page.function(&function.name, place, &function.owner);
        places.push(at);
        let row: &mut FunctionValues = rows.entry(at).or_default();
        row.own[0] = row.own[0].saturating_add(function.self_samples);
        row.total[0] = row.total[0].saturating_add(function.total_samples);
    }
    let mut tree = Tree::default();
    let mut lines: BTreeMap<usize, BTreeMap<u32, u64>> = BTreeMap::new();
    for stack in functions.stacks() {
        let frames = stack
            .frames
            .iter()
            .rev()
            .filter_map(|&(number, line)| Some((functions.place(number)?, line)));
        let frames: Vec<(usize, u32)> = frames.map(|(at, line)| (places[at], line)).collect();
        tree.add(frames.iter().map(|&(at, _)| at), one(stack.samples));
        // A sample counts once, at the innermost line of a function.
        let mut seen = HashSet::new();
        for &(at, line) in frames.iter().rev() {
            if seen.insert(at) {
                let of_line = lines.entry(at).or_default().entry(line).or_default();
                *of_line = of_line.saturating_add(stack.samples);
            }
        }
    }
    // Samples without a frame are a part of the whole.
    let missing = functions.whole.samples.saturating_sub(tree.frames[0].total[0]);
    tree.frames[0].total[0] += missing;
    let mut sources = SourceFiles::default();
    for (at, lines) in lines {
        page.functions[at].lines = source_lines(lines, &page.functions[at].place, &mut sources);
    }
    let mut notes = Vec::new();
    if missing > 0 {
        notes.push(format!(
            "{} without a stack: none was taken, or it found no room",
            counted(missing, "sample")
        ));
    }
    let ns = functions.whole.ns.checked_div(functions.whole.samples).unwrap_or(0);
    page.stacks.push(Stacks {
        name: "samples".into(),
        about: "samples of all threads by stack, also of code without hooks; inlined functions are frames".into(),
        measures: vec![Measure::new("processor time", Unit::Samples(ns))],
        lanes: vec![Lane { tree, ..Lane::default() }],
        rows,
        notes,
        ..Stacks::default()
    });
}

fn one(samples: u64) -> [u64; MEASURES] {
    let mut values = [0; MEASURES];
    values[0] = samples;
    values
}

/// The lines with the most samples, in source order. One line says nothing.
pub fn source_lines(
    lines: BTreeMap<u32, u64>,
    file: &str,
    sources: &mut SourceFiles,
) -> Vec<(u32, u64, String)> {
    let mut lines: Vec<(u32, u64)> = lines.into_iter().filter(|&(line, _)| line > 0).collect();
    lines.sort_by_key(|&(line, samples)| (std::cmp::Reverse(samples), line));
    lines.truncate(LINES);
    lines.sort_unstable();
    let text = |line| shorten(&clean(sources.line(file, line).unwrap_or("").trim()), COLUMNS);
    let mut text = text;
    lines.into_iter().map(|(line, samples)| (line, samples, text(line))).collect()
}
