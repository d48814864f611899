//! Text emitter for terminals: the same scene in lines. No line exceeds the width; the last lines
//! count the elements that were left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use metaspy_report::text::{
    clean, counted, cut, fit, grouped, pad_left, short, shorten_path, width, wrap,
};

use crate::graph::{Graph, Method};
use crate::scene::{EdgeKind, Fill, Kind, ListRow, Node, Scene};

/// Length of the bar of a method that takes all of the time, in cells.
const BAR: usize = 16;

/// Maximum number of rows shown of a list.
pub(crate) const LISTED: usize = 5;

/// Writes the picture in at most `rows` lines of `columns` columns, and the notes below it.
pub fn text(scene: &Scene, graph: &Graph, columns: usize, rows: usize) -> String {
    let mut lines = match scene.kind {
        Kind::Evolution if scene.edges.is_empty() && !scene.frames.is_empty() => {
            strip(scene, graph, rows)
        }
        Kind::Behavioural | Kind::Evolution | Kind::Calls | Kind::Grammar => {
            tree(scene, graph, columns, rows)
        }
        Kind::Domain => largest(scene, graph, rows),
        Kind::Structural => owners(graph, rows, own_time),
        Kind::Coverage => owners(graph, rows, missed),
    };
    lists(scene, graph, columns, &mut lines);
    lines.push(String::new());
    let words = legend(scene.kind)
        .filter(|_| graph.measured.is_none())
        .into_iter()
        .chain(scene.notes.iter().map(String::as_str));
    lines.extend(words.flat_map(|note| wrap(&clean(note), columns)));
    lines.iter().map(|line| cut(line, columns).trim_end().to_owned() + "\n").collect()
}

/// Appends the first rows of each list.
fn lists(scene: &Scene, graph: &Graph, columns: usize, lines: &mut Vec<String>) {
    // The lines of these pictures already come from their lists.
    for list in scene.lists.iter().filter(|_| !matches!(scene.kind, Kind::Coverage | Kind::Domain))
    {
        lines.push(String::new());
        lines.push(list.title.clone());
        for row in list.rows.iter().take(LISTED) {
            let method = row.node.and_then(|node| scene.nodes[node].methods.first());
            let name = method.map(|&method| name_of(graph, method) + ": ").unwrap_or_default();
            let rest = columns.saturating_sub(width(&row.text) + 4).max(8);
            lines.push(format!("  {}{}", shorten_path(&name, rest), clean(&row.text)));
        }
        if list.rows.len() > LISTED {
            lines.push(format!("  … {} more", list.rows.len() - LISTED));
        }
    }
}

/// Lists the subjects with the largest number.
fn largest(scene: &Scene, graph: &Graph, rows: usize) -> Vec<String> {
    let list = scene.lists.iter().take(1);
    let line = |(text, node): (&String, &Node)| {
        let name = node.methods.first().map_or_else(String::new, |&at| name_of(graph, at));
        format!("{} {name}  {}", pad_left(text, 12), node.tip[..2].join("  "))
    };
    let row = |row: &ListRow| Some(line((&row.text, &scene.nodes[row.node?])));
    list.flat_map(|list| {
        std::iter::once(list.title.clone()).chain(list.rows.iter().take(rows).filter_map(row))
    })
    .collect()
}

/// Writes a line for each method, with a letter for each version.
fn strip(scene: &Scene, graph: &Graph, rows: usize) -> Vec<String> {
    let heads =
        scene.frames.iter().map(|version| clean(&version.name)).collect::<Vec<_>>().join(" → ");
    let cells = scene.nodes.chunks(scene.frames.len());
    let hidden = cells.len().saturating_sub(rows);
    let line = |cells: &[Node]| {
        let letters: String = cells.iter().map(|cell| cell.fill.letter()).collect();
        let name = cells
            .first()
            .and_then(|cell| cell.methods.first())
            .map(|&method| name_of(graph, method));
        format!("{letters} {}", name.unwrap_or_default())
    };
    let more = (hidden > 0).then(|| format!("… {hidden} more"));
    std::iter::once(heads).chain(cells.take(rows).map(line)).chain(more).collect()
}

fn legend(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Behavioural => Some(
            "█ different values ▓ constant for each receiver ░ nothing or the receiver ▚ not comparable ▒ not recorded",
        ),
        Kind::Evolution => Some(
            "▲ slower or more ▽ faster or fewer; filled: its source has changed; + new · the same",
        ),
        Kind::Structural => {
            Some("own time and its share, calls; the height of a bar is the total time of a method")
        }
        Kind::Calls => Some("lines, calls; ░▒▓█ calls, · never ran"),
        Kind::Domain => None,
        Kind::Grammar => Some("matches; ░▒▓█ matches, ✗ never matched, · never entered"),
        Kind::Coverage => {
            Some("methods that ran, lines of those that did not; then the longest of these")
        }
    }
}

/// Writes the boxes with most time and their callers as a tree.
fn tree(scene: &Scene, graph: &Graph, columns: usize, rows: usize) -> Vec<String> {
    let mut caller = vec![None; scene.nodes.len()];
    let mut callees = vec![Vec::new(); scene.nodes.len()];
    for edge in scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Tree) {
        caller[edge.to] = Some(edge.from);
        callees[edge.from].push(edge.to);
    }
    // Boxes without times are already in order, the nearest to the top first.
    let is_timed = matches!(scene.kind, Kind::Behavioural | Kind::Evolution);
    let heaviest_first = |places: &mut Vec<usize>| {
        if is_timed {
            places.sort_by(|&a, &b| scene.nodes[b].share.total_cmp(&scene.nodes[a].share));
        }
    };
    callees.iter_mut().for_each(heaviest_first);
    let mut order: Vec<usize> = (0..scene.nodes.len()).collect();
    heaviest_first(&mut order);
    let mut is_shown = vec![false; scene.nodes.len()];
    let mut shown = 0;
    for at in order {
        let way: Vec<usize> = std::iter::successors(Some(at), |&at| caller[at])
            .take_while(|&at| !is_shown[at])
            .collect();
        if shown + way.len() > rows {
            break;
        }
        shown += way.len();
        way.iter().for_each(|&at| is_shown[at] = true);
    }
    let mut lines = Vec::new();
    let mut open: Vec<(usize, usize)> =
        (0..scene.nodes.len()).filter(|&at| caller[at].is_none()).map(|root| (root, 0)).collect();
    while let Some((at, depth)) = open.pop() {
        if !is_shown[at] {
            continue;
        }
        lines.push(line(scene.kind, &scene.nodes[at], graph, columns, depth));
        open.extend(callees[at].iter().rev().map(|&callee| (callee, depth + 1)));
    }
    if shown < scene.nodes.len() {
        lines.push(format!(
            "… {} more",
            counted((scene.nodes.len() - shown) as u64, "box").replace("boxs", "boxes")
        ));
    }
    lines
}

fn line(kind: Kind, node: &Node, graph: &Graph, columns: usize, depth: usize) -> String {
    let cells = ((node.share * BAR as f64).round() as usize).clamp(1, BAR);
    let bar: String = std::iter::repeat_n(node.fill.letter(), cells).collect();
    let lines = node.methods.first().map_or(0, |&at| graph.methods[at].lines);
    let (count, name) = match node.methods.first() {
        None => (
            String::new(),
            node.label.as_ref().map_or_else(String::new, |label| label.text.clone()),
        ),
        Some(&top) => {
            // A chain has the number of calls of its first method, and the name of the one with
            // most own time.
            let giver = node.name_giver().filter(|&giver| giver != top);
            let others = node.methods.len() - 1 - usize::from(giver.is_some());
            let more = if others > 0 { format!(" +{others}") } else { String::new() };
            let more = giver
                .map_or_else(String::new, |giver| format!(" … {}", name_of(graph, giver)))
                + &more;
            let sign = graph.calls_sign(top);
            (
                format!("{sign}{}{}", grouped(graph.methods[top].executions), graph.times_sign()),
                format!("{}{more}", name_of(graph, top)),
            )
        }
    };
    let branch = if depth == 0 { String::new() } else { "│ ".repeat(depth - 1) + "├ " };
    let count = pad_left(&count, 12);
    let sign = node.methods.first().map_or("", |&top| graph.time_sign(top));
    let share = pad_left(&format!("{sign}{:.1}%", node.share * 100.0), 6);
    let start = match kind {
        Kind::Calls => format!("{lines:>5} {} {count} {branch}", node.fill.letter()),
        Kind::Grammar => format!("{} {count} {branch}", node.fill.letter()),
        _ => format!("{share} {} {count} {branch}", fit(&bar, BAR)),
    };
    let room = |used: &str| columns.saturating_sub(width(used)).max(8);
    let line = format!("{start}{}", shorten_path(&name, room(&start)));
    match kind {
        Kind::Grammar => node.tip.iter().take(2).fold(line, |line, tip| line + "  " + &clean(tip)),
        _ => line,
    }
}

/// Returns `Scene::measure`, or `measure` for a free function.
pub(crate) fn name_of(graph: &Graph, method: usize) -> String {
    let method = &graph.methods[method];
    let owner = &graph.owners[method.owner];
    let name = if owner.name == "fn" {
        method.name.clone()
    } else {
        format!("{}::{}", owner.name, method.name)
    };
    clean(&name).into_owned()
}

/// Sort key of a type, and the text after its name. Types with larger keys come first.
type Line = (u64, String);

/// Writes a line for each type, in descending order of the keys that `of` returns.
fn owners(
    graph: &Graph,
    rows: usize,
    of: impl Fn(&Graph, &[&Method]) -> Option<Line>,
) -> Vec<String> {
    let mut methods: BTreeMap<usize, Vec<&Method>> = BTreeMap::new();
    graph.methods.iter().for_each(|method| methods.entry(method.owner).or_default().push(method));
    let mut all: Vec<(u64, String, String)> = methods
        .iter()
        .filter_map(|(&at, methods)| {
            let owner = &graph.owners[at];
            let within =
                owner.module.split_once("::").map_or(owner.module.as_str(), |(_, rest)| rest);
            let name = clean(&format!("{within}::{}", owner.name)).into_owned();
            let (weight, line) = of(graph, methods)?;
            Some((weight, name, line))
        })
        .collect();
    all.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    let columns = all.iter().take(rows).map(|(_, name, _)| width(name)).max().unwrap_or(0).min(32);
    let mut lines: Vec<String> = all
        .iter()
        .take(rows)
        .map(|(_, name, line)| format!("{} {line}", fit(&end(name, columns), columns)))
        .collect();
    if all.len() > rows {
        lines.push(format!("… {} more", counted((all.len() - rows) as u64, "type")));
    }
    lines
}

/// Cuts a name at its start, because names differ at their end.
fn end(name: &str, columns: usize) -> String {
    crate::scene::fit_end(name, columns)
}

/// Writes own time, its share, calls, and a bar for each method by total time.
fn own_time(graph: &Graph, methods: &[&Method]) -> Option<Line> {
    let own: u64 = methods.iter().filter_map(|method| method.self_ns).sum();
    let runs: u64 = methods.iter().map(|method| method.executions).sum();
    let whole = graph.methods.iter().filter_map(|method| method.self_ns).sum::<u64>().max(1);
    let longest =
        graph.methods.iter().filter_map(|method| method.total_ns).max().unwrap_or(0).max(1);
    let most = graph.methods.iter().map(|method| method.executions).max().unwrap_or(0).max(1);
    let mut by_time: Vec<&&Method> =
        methods.iter().filter(|method| method.executions > 0).collect();
    by_time.sort_by_key(|method| Reverse(method.total_ns));
    let bar = |method: &&&Method| {
        let eighths =
            (8.0 * method.total_ns.unwrap_or(0) as f64 / longest as f64).ceil().clamp(1.0, 8.0);
        let cells = 1 + (3.0 * (method.executions as f64).ln_1p() / (most as f64).ln_1p()) as usize;
        let block = char::from_u32(0x2580 + eighths as u32).unwrap_or('█');
        std::iter::repeat_n(block, cells).collect::<String>()
    };
    let bars: Vec<String> = by_time.iter().take(12).map(bar).collect();
    let more = if by_time.len() > bars.len() {
        format!(" +{}", by_time.len() - bars.len())
    } else {
        String::new()
    };
    let line = format!(
        "{:>9} {:>5.1}% {:>9} {}{more}",
        graph.amount(own),
        100.0 * own as f64 / whole as f64,
        short(runs) + graph.times_sign(),
        bars.join(" ")
    );
    (runs > 0).then_some((own, line))
}

/// Counts methods that ran and lines of methods that did not, and names the longest of the latter.
fn missed(_: &Graph, methods: &[&Method]) -> Option<Line> {
    let ran = methods.iter().filter(|method| method.executions > 0).count();
    let mut never: Vec<&&Method> = methods.iter().filter(|method| method.executions == 0).collect();
    never.sort_by_key(|method| Reverse(method.lines));
    let lines: u64 = never.iter().map(|method| u64::from(method.lines)).sum();
    let names =
        never.iter().take(4).map(|method| format!("{} {}", clean(&method.name), method.lines));
    let more = if never.len() > 4 { ", …" } else { "" };
    let mark = if ran == 0 { Fill::NeverRan.letter() } else { ' ' };
    let ratio = format!("{ran}/{}", methods.len());
    Some((
        lines,
        format!("{mark}{ratio:>7} {lines:>6}  {}{more}", names.collect::<Vec<_>>().join(", ")),
    ))
}
