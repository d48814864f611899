//! The page: a template with the stacks as JSON in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::tree::{ROOT, sum};
use super::{FRAMES, FlamePage, FunctionValues, Lane, MEASURES, Stacks, Unit, Values};
use crate::text::json_in_page;

/// The page, with marks in place of style, data and scripts.
const PAGE: &str = include_str!("page/page.html");
const PARTS: [(&str, &str); 4] = [
    ("/*STYLE*/", include_str!("page/page.css")),
    ("/*TREES*/", include_str!("page/trees.js")),
    ("/*DRAWING*/", include_str!("page/drawing.js")),
    ("/*INPUT*/", include_str!("page/input.js")),
];
/// Mark of the data.
const DATA: &str = "/*DATA*/";

impl FlamePage {
    /// The page as one file.
    pub fn html(&self) -> String {
        let template =
            PARTS.iter().fold(PAGE.to_owned(), |page, (mark, part)| page.replacen(mark, part, 1));
        let data = json_in_page(&self.json().to_string());
        let (before, behind) = template.split_once(DATA).expect("the template has the mark");
        [before, &data, behind].concat()
    }

    /// Returns the data that the page draws.
    fn json(&self) -> Value {
        let kept: Vec<Kept> = self.stacks.iter().map(Kept::of).collect();
        let used: BTreeSet<usize> =
            kept.iter().flat_map(|kept| kept.functions.iter().copied()).collect();
        let numbers: HashMap<usize, usize> =
            used.iter().enumerate().map(|(number, &at)| (at, number)).collect();
        let mut groups: Vec<&str> = Vec::new();
        let mut lines = Map::new();
        let mut functions = Vec::new();
        for &at in &used {
            let function = &self.functions[at];
            let group =
                groups.iter().position(|group| *group == function.group).unwrap_or_else(|| {
                    groups.push(&function.group);
                    groups.len() - 1
                });
            if function.lines.len() > 1 {
                lines.insert(functions.len().to_string(), json!(function.lines));
            }
            functions.push(json!([function.name, function.place, group]));
        }
        let stacks =
            self.stacks.iter().zip(&kept).map(|(stacks, kept)| kept.json(stacks, &numbers));
        json!({
            "title": self.title,
            "functions": functions,
            "groups": groups,
            "lines": lines,
            "stacks": stacks.collect::<Vec<Value>>(),
            "absent": self.absent.iter().map(|absent| json!([absent.name, absent.why])).collect::<Vec<Value>>(),
        })
    }
}

/// The part of a set of stacks that a page keeps.
struct Kept {
    /// For each lane, which frames.
    frames: Vec<Vec<bool>>,
    rows: Vec<usize>,
    functions: BTreeSet<usize>,
    /// Frames and functions that are left out.
    folded: usize,
    hidden_rows: usize,
}

impl Kept {
    /// The largest frames and functions.
    fn of(stacks: &Stacks) -> Kept {
        let whole = stacks.whole();
        let before = stacks.lanes.iter().map(|lane| lane.tree.frames[0].before.total);
        let before = before.fold([0; MEASURES], sum);
        let share = |total: &Values, whole: &Values| {
            let widths = stacks.measures.iter().enumerate().filter(|(_, measure)| measure.is_width);
            widths.map(|(at, _)| total[at] as f64 / whole[at].max(1) as f64).fold(0.0, f64::max)
        };
        let mut shares: Vec<(f64, usize, usize)> = Vec::new();
        for (lane, of) in stacks.lanes.iter().enumerate() {
            shares.extend(of.tree.frames.iter().enumerate().skip(1).map(|(at, frame)| {
                (share(&frame.total, &whole).max(share(&frame.before.total, &before)), lane, at)
            }));
        }
        // A frame is no larger than its caller, which comes before it.
        shares.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let folded = shares.len().saturating_sub(FRAMES);
        shares.truncate(FRAMES);
        let mut frames: Vec<Vec<bool>> =
            stacks.lanes.iter().map(|lane| vec![false; lane.tree.frames.len()]).collect();
        frames.iter_mut().for_each(|lane| lane[0] = true);
        let mut functions = BTreeSet::new();
        for &(_, lane, at) in &shares {
            // Numbers of a damaged recording may be anything.
            let frame = &stacks.lanes[lane].tree.frames[at];
            frames[lane][at] = frames[lane][frame.caller];
            functions.insert(frame.function);
        }
        let mut rows: Vec<usize> = stacks.rows.keys().copied().collect();
        rows.sort_by_key(|at| {
            let row = &stacks.rows[at];
            std::cmp::Reverse((row.total.max(row.before.total), row.own))
        });
        let hidden_rows = rows.len().saturating_sub(FRAMES);
        rows.truncate(FRAMES);
        functions.extend(&rows);
        for lane in &stacks.lanes {
            functions.extend(
                lane.in_time.iter().flat_map(|in_time| &in_time.calls).map(|call| call.function),
            );
        }
        Kept { frames, rows, functions, folded, hidden_rows }
    }

    fn json(&self, stacks: &Stacks, numbers: &HashMap<usize, usize>) -> Value {
        let measures = stacks.measures.iter().map(|measure| {
            let (unit, ns) = match measure.unit {
                Unit::Count => ("count", 0),
                Unit::Ns => ("ns", 0),
                Unit::Bytes => ("bytes", 0),
                Unit::Samples(ns) => ("samples", ns),
            };
            json!({ "name": measure.name, "unit": unit, "ns": ns, "least": measure.is_least, "width": measure.is_width })
        });
        let row = |&at: &usize| {
            let row = &stacks.rows[&at];
            let mut values: Vec<u64> = vec![numbers[&at] as u64];
            let of = |values: &mut Vec<u64>, row: &FunctionValues, measure: usize| {
                values.extend([row.own[measure], row.total[measure]]);
                if stacks.is_difference {
                    values.extend([row.before.own[measure], row.before.total[measure]]);
                }
            };
            (0..stacks.measures.len()).for_each(|measure| of(&mut values, row, measure));
            values
        };
        let edges = stacks.edges.as_ref().map(|edges| {
            let known = edges.iter().filter(|edge| {
                numbers.contains_key(&edge.to)
                    && edge.from.is_none_or(|from| numbers.contains_key(&from))
            });
            known
                .map(|edge| {
                    let mut values =
                        vec![json!(edge.from.map(|from| numbers[&from])), json!(numbers[&edge.to])];
                    values.extend(
                        edge.total.iter().take(stacks.measures.len()).map(|value| json!(value)),
                    );
                    values
                })
                .collect::<Vec<_>>()
        });
        let lanes = stacks.lanes.iter().zip(&self.frames);
        json!({
            "name": stacks.name,
            "about": stacks.about,
            "measures": measures.collect::<Vec<Value>>(),
            "difference": stacks.is_difference,
            "lanes": lanes.map(|(lane, kept)| lane_json(stacks, lane, kept, numbers)).collect::<Vec<Value>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "edges": edges,
            "folded": self.folded,
            "hidden": self.hidden_rows,
            "notes": stacks.notes,
        })
    }
}

/// Frames of a lane in columns, each before those that it called.
#[derive(Default)]
struct Columns {
    depth: Vec<usize>,
    function: Vec<i64>,
    own: Vec<Values>,
    total: Vec<Values>,
    before_own: Vec<Values>,
    before_total: Vec<Values>,
    part: Vec<usize>,
    folded: BTreeMap<usize, u64>,
}

impl Columns {
    fn push(&mut self, depth: usize, function: i64, frame: &super::Frame) {
        self.depth.push(depth);
        self.function.push(function);
        self.own.push(frame.own);
        self.total.push(frame.total);
        self.before_own.push(frame.before.own);
        self.before_total.push(frame.before.total);
    }

    /// Returns the totals that are not the sum of the frames below, by place.
    fn exceptions(&self, measure: usize, own: &[Values], total: &[Values]) -> BTreeMap<usize, u64> {
        let mut sums: Vec<u64> = own.iter().map(|own| own[measure]).collect();
        let mut found = BTreeMap::new();
        let mut around: Vec<usize> = vec![0; self.depth.iter().max().map_or(0, |most| most + 1)];
        let callers: Vec<Option<usize>> = (self.depth.iter().enumerate())
            .map(|(at, &depth)| {
                around[depth] = at;
                depth.checked_sub(1).map(|above| around[above])
            })
            .collect();
        for at in (0..self.depth.len()).rev() {
            if sums[at] != total[at][measure] {
                found.insert(at, total[at][measure]);
            }
            if let Some(caller) = callers[at] {
                sums[caller] = sums[caller].saturating_add(total[at][measure]);
            }
        }
        found
    }
}

fn lane_json(
    stacks: &Stacks,
    lane: &Lane,
    kept: &[bool],
    numbers: &HashMap<usize, usize>,
) -> Value {
    let frames = &lane.tree.frames;
    let walk = lane.tree.walk();
    // Folded frames are one frame below the nearest caller that is drawn.
    let mut nearest = vec![0; frames.len()];
    let mut folds: HashMap<usize, (super::Frame, u64)> = HashMap::new();
    for &(at, _) in &walk {
        let frame = &frames[at];
        nearest[at] = if kept[at] { at } else { nearest[frame.caller] };
        if !kept[at] {
            let fold = folds.entry(nearest[at]).or_default();
            fold.1 += 1;
            if kept[frame.caller] {
                let to = &mut fold.0;
                let of = frame;
                to.total = sum(to.total, of.total);
                to.before.total = sum(to.before.total, of.before.total);
                (to.own, to.before.own) = (to.total, to.before.total);
            }
        }
    }
    let mut columns = Columns::default();
    for (at, depth) in walk.into_iter().filter(|&(at, _)| kept[at]) {
        let frame = &frames[at];
        if frame.is_part {
            columns.part.push(columns.depth.len());
        }
        columns.push(
            depth,
            if frame.function == ROOT { -1 } else { numbers[&frame.function] as i64 },
            frame,
        );
        if let Some((fold, count)) = folds.get(&at) {
            columns.folded.insert(columns.depth.len(), *count);
            columns.push(depth + 1, -2, fold);
        }
    }
    let measures = 0..stacks.measures.len();
    let column = |values: &[Values]| -> Vec<Vec<u64>> {
        measures
            .clone()
            .map(|measure| values.iter().map(|values| values[measure]).collect())
            .collect()
    };
    let exceptions = |own: &[Values], total: &[Values]| -> Vec<BTreeMap<usize, u64>> {
        measures.clone().map(|measure| columns.exceptions(measure, own, total)).collect()
    };
    let in_time = lane.in_time.as_ref().map(|in_time| {
        let call = |call: &super::Call| {
            (call.start_ns, call.end_ns.0.saturating_sub(call.start_ns), numbers[&call.function])
        };
        in_time.calls.iter().map(call).collect::<Vec<_>>()
    });
    let mut object = json!({
        "name": lane.name,
        "depth": columns.depth,
        "f": columns.function,
        "own": column(&columns.own),
        "total": exceptions(&columns.own, &columns.total),
        "part": columns.part,
        "folded": columns.folded,
        "calls": in_time,
    });
    if stacks.is_difference {
        object["before"] = json!(column(&columns.before_own));
        object["before_total"] = json!(exceptions(&columns.before_own, &columns.before_total));
    }
    object
}
