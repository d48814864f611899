//! Behavioural evolution blueprint (*Execution profiling blueprints*, section 4.3): the tree of
//! both versions. Colour shows methods that became faster or slower, a frame shows changed source,
//! and a dashed outline shows the height before.
//!
//! The tree has the larger time of both versions for each method. In the tree of the newer version,
//! a method that became fast would vanish, and its callees would appear below others.

use metaspy_report::diff::{Change as Numbers, Sample};
use metaspy_report::text::{clean, counted, grouped, short, time};

use super::call_tree::{CallTree, Chains, Form, Item, call_tree};
use super::{Options, PictureError, hooks_note, widths};
use crate::emit::LISTED;
use crate::evolution::{By, Change, Comparison, Former, Step};
use crate::scene::{
    Border, Fill, Kind, Label, List, ListRow, Node, OUTSET, Rect, Scene, Sign, Stated,
    use_free_room,
};

/// Minimum height of a box, so that its colour is visible.
const LEAST: f64 = 7.0;
/// Share of new methods from which on a picture is hard to read.
const MANY_NEW: f64 = 0.3;

/// Draws the change between two versions.
///
/// # Errors
///
/// If the recordings lack times or callers, or if no method ran in both.
pub fn draw(step: &Step, options: &Options) -> Result<Scene, PictureError> {
    let is_common =
        |method: &Comparison| !method.executions.before.values().is_empty() && method.has_run();
    if !step.methods.iter().any(is_common) {
        return Err(PictureError::Strangers);
    }
    let is_known = |method: &Comparison| {
        let Numbers { before, after } = method.numbers(step.by);
        !before.values().is_empty() && !after.values().is_empty()
    };
    match step.by {
        By::Objects if !step.methods.iter().any(is_known) => return Err(PictureError::NoObjects),
        By::Instructions if !step.methods.iter().any(is_known) => {
            return Err(PictureError::NoInstructions);
        }
        _ => {}
    }
    let sign = |at: usize| percent(&step.methods[at], step.by);
    let form = Form {
        least: (LEAST, 6.0),
        chains: Chains::Drawn,
        outset: OUTSET,
        size: None,
        order: None,
        sign: &sign,
    };
    let tree = call_tree(&step.larger, options, &form)?;
    let CallTree {
        items,
        rects,
        labels,
        names,
        edges,
        size,
        total_ns,
        height,
        tallest_ns,
        mut notes,
        ..
    } = tree;
    let whole = (height / tallest_ns as f64, total_ns);
    let boxes = items.iter().zip(&rects).zip(labels);
    let mut nodes: Vec<Node> =
        boxes.map(|((item, &rect), label)| node(step, item, whole, rect, label)).collect();
    let size = use_free_room(&mut nodes, &edges, &names, size);
    notes.insert(0, summary(step));
    notes.push(judged(step));
    if step.by == By::Time && step.runs.0.min(step.runs.1) < 5 {
        notes.push("fewer than five runs a side: some changes may be chance".into());
    }
    notes.extend(below(step));
    notes.extend(unjudged(step));
    notes.extend(hooks_note(&step.graph));
    notes.extend(step.graph.notes.iter().cloned());
    if step.share_of_new() > MANY_NEW {
        let percent = (100.0 * step.share_of_new()).round();
        notes.push(format!(
            "{percent} % of the methods are new: versions this far apart are hard to compare"
        ));
    }
    if step.graph.methods.iter().all(|method| method.fingerprint == 0) {
        notes.push(
            "the source is not known: an older metaspy wove this, so no frame is drawn".into(),
        );
    }
    Ok(Scene {
        kind: Kind::Evolution,
        title: options.title.clone(),
        size,
        frames: Vec::new(),
        edges,
        legend: legend(step.by),
        findings: Stated::default(),
        lists: lists(step, &nodes),
        nodes,
        notes,
    })
}

/// Returns a note about the calls that numbers and lists cover, in a picture below a method.
fn below(step: &Step) -> Vec<String> {
    let Some(root) = step.graph.root else { return Vec::new() };
    let root = clean(&step.graph.methods[root].name);
    let mut notes = vec![format!(
        "calls, times, and what is new, gone or did not run are those within the calls of {root}: a method may run elsewhere"
    )];
    if let By::Objects | By::Instructions = step.by {
        notes.push(
            "objects and instructions are those of all calls of a method, also from elsewhere"
                .into(),
        );
    }
    notes
}

/// Returns a note about methods whose numbers are bounds.
fn unjudged(step: &Step) -> Option<String> {
    let bounds =
        step.methods.iter().filter(|method| method.has_run() && method.bounds.has(step.by)).count();
    let why = match step.by {
        By::Time | By::Calls => {
            "the numbers are upper bounds: METASPY_PROFILE=calls,contexts records exact ones"
        }
        By::Objects | By::Instructions => {
            "some found no room in a recording: set METASPY_BUDGET to a larger size"
        }
    };
    (bounds > 0).then(|| {
        format!("the change of {} is not judged, because {why}", counted(bounds as u64, "method"))
    })
}

fn node(
    step: &Step,
    item: &Item,
    (scale, whole): (f64, u64),
    rect: Rect,
    label: Option<Label>,
) -> Node {
    let Some(&at) = item.methods.first() else {
        return Node { rect, fill: Fill::Same, share: 1.0, label, ..Node::default() };
    };
    let method = &step.methods[at];
    let old = method.time.before.median();
    let new = method.time.after.median();
    let now = LEAST.max(new as f64 * scale);
    let before = old as f64 * scale;
    Node {
        rect: Rect { h: now, ..rect },
        methods: item.methods.clone(),
        fill: fill(method),
        share: item.total_ns as f64 / whole.max(1) as f64,
        label,
        border: border(method),
        ghost: (before > now + 1.0).then_some(before),
        tip: tip(method),
        ..Node::default()
    }
}

/// Returns the colour of a change.
pub(super) fn fill(method: &Comparison) -> Fill {
    match (method.change, method.has_new_source) {
        (Change::Less, true) => Fill::Faster,
        (Change::Less, false) => Fill::FasterHere,
        (Change::More, true) => Fill::Slower,
        (Change::More, false) => Fill::SlowerHere,
        (Change::New, _) => Fill::New,
        (Change::Same, _) => Fill::Same,
    }
}

/// Returns the border of a method's box.
pub(super) fn border(method: &Comparison) -> Border {
    if method.has_new_source { Border::Changed } else { Border::Thin }
}

/// States the threshold from which a method counts as changed.
pub(super) fn judged(step: &Step) -> String {
    let least = |what: &str| {
        format!("changed: {what} differ by at least 2 % in all runs; times are not judged")
    };
    match step.by {
        By::Time => format!(
            "changed: the ranges of {} and {} do not overlap, and the medians differ by 5 % and by 0.2 % of the whole",
            counted(step.runs.0 as u64, "run"),
            counted(step.runs.1 as u64, "run")
        ),
        By::Calls => least("calls"),
        By::Objects => least("a method's own objects"),
        By::Instructions => least("a method's own instructions, with what is inlined into it,"),
    }
}

/// Describes a change, in lines.
pub(super) fn tip(method: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(method.was.as_ref().map(|was| format!("was {}", clean(was))));
    if method.change == Change::New {
        lines.push("new".into());
    }
    let quantities = [
        (By::Time, "time", "≤"),
        (By::Calls, "calls", "≤"),
        (By::Objects, "objects", "≥"),
        (By::Instructions, "own instructions", "≥"),
    ];
    for (by, what, sign) in quantities {
        let numbers = method.numbers(by);
        let text = if by == By::Time { time } else { grouped };
        let text = if method.bounds.has(by) {
            bounds(numbers, sign, text)
        } else {
            difference(numbers, text)
        };
        lines.extend(text.map(|text| format!("{what} {text}")));
    }
    lines.extend(method.has_new_source.then(|| "its source has changed".into()));
    lines
}

/// Formats the change of a method, if it is one: `+26 %`, or the numbers where there were none.
fn percent(method: &Comparison, by: By) -> Option<String> {
    let numbers = method.numbers(by);
    let old = numbers.before.median();
    match method.change {
        Change::More | Change::Less if old == 0 => {
            Some(format!("0 → {}", short(numbers.after.median())))
        }
        Change::More | Change::Less => {
            Some(format!("{:+.0} %", 100.0 * numbers.difference() as f64 / old as f64))
        }
        Change::New => Some("new".into()),
        Change::Same => None,
    }
}

/// Formats `108 ms → 136 ms (+26 %), 104 ms–110 ms and 133 ms–140 ms`; `None` if either version has
/// no value.
fn difference(numbers: &Numbers, text: impl Fn(u64) -> String) -> Option<String> {
    let Numbers { before, after } = numbers;
    if before.values().is_empty() || after.values().is_empty() {
        return None;
    }
    let old = before.median();
    let new = after.median();
    if !numbers.is_change() {
        return Some(format!("{} as before", text(new)));
    }
    let percent = 100.0 * numbers.difference() as f64 / old.max(1) as f64;
    let range = |sample: &Sample| format!("{}–{}", text(sample.range().0), text(sample.range().1));
    let ranges = if before.is_constant() && after.is_constant() {
        String::new()
    } else {
        format!(", {} and {}", range(before), range(after))
    };
    Some(format!("{} → {} ({percent:+.0} %){ranges}", text(old), text(new)))
}

/// Formats `≤108 ms → ≤136 ms`, without a difference, because bounds say nothing about it.
fn bounds(
    Numbers { before, after }: &Numbers,
    sign: &str,
    text: impl Fn(u64) -> String,
) -> Option<String> {
    let is_known = !before.values().is_empty() && !after.values().is_empty();
    is_known.then(|| format!("{sign}{} → {sign}{}", text(before.median()), text(after.median())))
}

/// Returns the words for more and less of the compared quantity.
fn words(by: By) -> (&'static str, &'static str) {
    match by {
        By::Time => ("slower", "faster"),
        By::Calls => ("more calls", "fewer calls"),
        By::Objects => ("more objects", "fewer objects"),
        By::Instructions => ("more instructions", "fewer instructions"),
    }
}

fn summary(step: &Step) -> String {
    let count = |change| step.methods.iter().filter(|method| method.change == change).count();
    let (more, less) = words(step.by);
    let with = if step.by == By::Time { "" } else { "with " };
    format!(
        "{} {with}{more}, {} {with}{less}, {} new, {} gone, {} did not run, {} renamed, {} with changed source",
        count(Change::More),
        count(Change::Less),
        count(Change::New),
        step.gone.len(),
        step.idle.len(),
        step.methods.iter().filter(|method| method.was.is_some()).count(),
        step.methods.iter().filter(|method| method.has_new_source && method.has_run()).count()
    )
}

/// Describes the change of a step in lines: the numbers of changed methods, then the first methods
/// of each list, by path.
pub fn findings(step: &Step) -> Vec<String> {
    let mut lines = vec![summary(step)];
    for list in lists(step, &[]) {
        lines.push(list.title);
        lines.extend(list.rows.iter().take(LISTED).map(|row| format!("  {}", row.text)));
        if list.rows.len() > LISTED {
            lines.push(format!("  … {} more", list.rows.len() - LISTED));
        }
    }
    lines
}

/// Lists the largest changes, and the methods without a box.
fn lists(step: &Step, nodes: &[Node]) -> Vec<List> {
    let mut place = vec![None; step.methods.len()];
    nodes
        .iter()
        .enumerate()
        .for_each(|(at, node)| node.methods.iter().for_each(|&method| place[method] = Some(at)));
    let apart = |method: &Comparison| method.numbers(step.by).difference().unsigned_abs();
    let changed = |change: Change, title: &str| {
        let mut found: Vec<usize> =
            (0..step.methods.len()).filter(|&at| step.methods[at].change == change).collect();
        found.sort_by_key(|&at| {
            std::cmp::Reverse((apart(&step.methods[at]), step.graph.methods[at].executions))
        });
        let row = |at: usize| {
            let method = &step.methods[at];
            let text = difference(
                method.numbers(step.by),
                if step.by == By::Time { time } else { grouped },
            );
            let text = text.unwrap_or_else(|| counted(step.graph.methods[at].executions, "call"));
            let source = if method.has_new_source { ", source changed" } else { "" };
            match place[at] {
                Some(node) => ListRow { node: Some(node), text: text + source },
                None => ListRow {
                    node: None,
                    text: format!("{}: {text}{source}", clean(&step.graph.methods[at].path)),
                },
            }
        };
        List { title: title.into(), rows: found.into_iter().map(row).collect() }
    };
    let (more, less) = words(step.by);
    let unplaced = |title: &str, texts: Vec<String>| List {
        title: title.into(),
        rows: texts.into_iter().map(|text| ListRow { node: None, text }).collect(),
    };
    let former = |of: &Former| format!("{}: {}", clean(&of.path), counted(of.executions, "call"));
    let renamed = step.methods.iter().zip(&step.graph.methods).filter_map(|(method, now)| {
        method.was.as_ref().map(|was| format!("{} → {}", clean(was), clean(&now.path)))
    });
    let all = [
        changed(Change::More, more),
        changed(Change::Less, less),
        changed(Change::New, "new"),
        unplaced("gone", step.gone.iter().map(former).collect()),
        unplaced("did not run", step.idle.iter().map(former).collect()),
        unplaced("renamed", renamed.collect()),
    ];
    all.into_iter().filter(|list| !list.rows.is_empty()).collect()
}

fn legend(by: By) -> Vec<Sign> {
    let marks = [
        Sign::words("dashed: the height before"),
        Sign::words("+26 %: the change; a box without one is the same within noise"),
        Sign::words("width: calls"),
    ];
    let sizes = widths(3.0, 3.0).chain([Sign::words("height: total time, wall clock")]);
    colours(by).into_iter().chain(marks).chain(sizes).collect()
}

/// Explains colours and frames, for the legend.
pub(super) fn colours(by: By) -> Vec<Sign> {
    let (more, less) = words(by);
    vec![
        Sign::words("colour: the change"),
        Sign::fill(Fill::Slower, &format!("{more}, source changed")),
        Sign::fill(Fill::SlowerHere, &format!("{more}, same source")),
        Sign::fill(Fill::Faster, &format!("{less}, source changed")),
        Sign::fill(Fill::FasterHere, &format!("{less}, same source")),
        Sign::fill(Fill::New, "✚ new"),
        Sign::fill(Fill::Same, "the same within noise"),
        Sign::words("frame: changed source"),
    ]
}
