//! Matrix of all versions: a row for each method that changed, a column for each version.
//! *Execution profiling blueprints*, section 7, lists it as future work.

use std::cmp::Reverse;
use std::collections::HashMap;

use metaspy_report::text::counted;

use super::Options;
use super::evolution::{border, colours, fill, judged, tip};
use crate::evolution::{Change, Comparison, Step};
use crate::scene::{
    Border, Fill, Frame, FrameKind, Kind, LETTER, Label, Node, Rect, SIZE, Scene, Sign, Stated,
    fit_end, fit_middle,
};

/// Minimum width and the height of a cell, with the space around it.
const CELL: (f64, f64) = (64.0, 18.0);
/// Maximum number of letters of a version.
const VERSION: usize = 24;
/// Space between cells, in pixels.
const SPACE: f64 = 6.0;
/// Height of the names of the versions.
const HEAD: f64 = 14.0;
/// Maximum number of rows.
const ROWS: usize = 60;
/// Maximum number of letters of a method's name.
const LETTERS: usize = 70;

/// Method in each step, the first step first; `None` where the newer version does not have it.
struct MethodSteps<'s> {
    method: usize,
    steps: Vec<Option<&'s Comparison>>,
}

/// Draws the steps between these versions, in order. The boxes are methods of the last step's
/// graph. Returns `None` if no method changed.
pub fn draw(steps: &[&Step], versions: &[String], options: &Options) -> Option<Scene> {
    let last = steps.last()?;
    let mut rows = rows(steps);
    rows.retain(|row| {
        row.steps.iter().flatten().any(|method| method.has_run() && method.change != Change::Same)
    });
    // Methods whose only change is that they are new come last.
    let apart = |method: &Comparison| match method.change {
        Change::More | Change::Less => (true, method.numbers(last.by).difference().unsigned_abs()),
        Change::New | Change::Same => (false, method.numbers(last.by).after.median().into()),
    };
    rows.sort_by_key(|row| Reverse(row.steps.iter().flatten().copied().map(apart).max()));
    let changed = rows.len();
    rows.truncate(ROWS);
    if rows.is_empty() {
        return None;
    }
    let longest = versions.iter().map(|name| name.chars().count().min(VERSION)).max().unwrap_or(0);
    let wide = CELL.0.max(LETTER * longest as f64 + 2.0 * SPACE);
    let nodes: Vec<Node> =
        rows.iter().zip(0..).flat_map(|(row, at)| cells(row, at, wide, last)).collect();
    let height = HEAD + CELL.1 * rows.len() as f64;
    let frames =
        versions.iter().zip(0..).map(|(name, at)| column(name, f64::from(at) * wide, wide, height));
    let mut notes = vec![judged(last)];
    notes.push("a method that the last version does not have is in the list of its step".into());
    if changed > ROWS {
        notes.push(format!(
            "{} with less change hidden",
            counted((changed - ROWS) as u64, "method")
        ));
    }
    Some(Scene {
        kind: Kind::Evolution,
        title: options.title.clone(),
        size: (wide * versions.len() as f64 + LETTER * LETTERS as f64 + 2.0 * SPACE, height),
        frames: frames.collect(),
        nodes,
        edges: Vec::new(),
        legend: colours(last.by)
            .into_iter()
            .chain([Sign::fill(Fill::NeverRan, "it does not run")])
            .collect(),
        findings: Stated::default(),
        lists: Vec::new(),
        notes,
    })
}

/// Collects the methods of the last step, each under the name that it had in each step.
fn rows<'s>(steps: &[&'s Step]) -> Vec<MethodSteps<'s>> {
    let places: Vec<HashMap<&str, usize>> = steps
        .iter()
        .map(|step| {
            step.graph.methods.iter().enumerate().map(|(at, method)| (&*method.path, at)).collect()
        })
        .collect();
    let Some(last) = steps.last() else { return Vec::new() };
    let row = |(method, of): (usize, &'s crate::graph::Method)| {
        let mut path = Some(&*of.path);
        let mut found: Vec<Option<&Comparison>> = steps
            .iter()
            .zip(&places)
            .rev()
            .map(|(step, places)| {
                let known = path.and_then(|path| places.get(path)).map(|&at| &step.methods[at]);
                path = known.and_then(|method| method.was.as_deref()).or(path);
                known
            })
            .collect();
        found.reverse();
        MethodSteps { method, steps: found }
    };
    last.graph.methods.iter().enumerate().map(row).collect()
}

/// Builds the cells of a row: the first version, and the change in each step.
fn cells(row: &MethodSteps<'_>, at: u32, wide: f64, last: &Step) -> Vec<Node> {
    let y = HEAD + CELL.1 * f64::from(at) + SPACE / 2.0;
    let cell = |column: usize, fill: Fill, border: Border, tip: Vec<String>| Node {
        rect: Rect { x: wide * column as f64 + SPACE / 2.0, y, w: wide - SPACE, h: CELL.1 - SPACE },
        methods: vec![row.method],
        fill,
        border,
        share: 1.0,
        tip,
        ..Node::default()
    };
    let ran_first =
        row.steps[0].is_some_and(|method| !method.executions.before.values().is_empty());
    let first =
        cell(0, if ran_first { Fill::Same } else { Fill::NeverRan }, Border::Thin, Vec::new());
    let further = row.steps.iter().enumerate().map(|(step, method)| {
        match method.filter(|method| method.has_run()) {
            Some(method) => cell(step + 1, fill(method), border(method), tip(method)),
            None => cell(
                step + 1,
                Fill::NeverRan,
                Border::Thin,
                vec!["it does not run in this version".into()],
            ),
        }
    });
    let mut cells: Vec<Node> = std::iter::once(first).chain(further).collect();
    let name = last.graph.methods[row.method].path.as_str();
    if let Some(end) = cells.last_mut() {
        end.label = Some(Label::beside(fit_end(name, LETTERS), SIZE));
    }
    cells
}

/// Builds the frame around the cells of a version.
fn column(name: &str, x: f64, w: f64, height: f64) -> Frame {
    let rect = Rect { x, y: 0.0, w, h: height };
    let letters = ((w - SPACE) / LETTER) as usize;
    Frame {
        rect,
        label: fit_middle(name, letters),
        size: SIZE,
        name: name.to_owned(),
        kind: FrameKind::Module,
        mark: None,
    }
}
