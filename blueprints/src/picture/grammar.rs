//! Coverage of a grammar (MetaSpy's grammar profiler): productions as a graph, from the start rule
//! down. Size is activations, and colour is the state. Productions that never matched stand out,
//! with the alternative that takes their place.

use metaspy_report::grammar::State;
use metaspy_report::text::{clean, counted, grouped, percent, short};

use super::boxes::{Boxes, Form, boxes};
use super::stated::Marks;
use super::{LABELLED, Options, PictureError, grey, steps, width};
use crate::grammar::{Grammar, Production};
use crate::layout::spanning_tree::breadth_first;
use crate::scene::{Fill, Kind, Label, List, ListRow, Name, Node, Scene, Sign, use_free_room};

/// Maximum number of boxes.
const MOST: usize = 1_000;
/// Maximum number of letters of a label.
const LETTERS: usize = 32;

/// Draws the productions of a grammar.
///
/// # Errors
///
/// If the recording has no production, or no production was entered.
pub fn draw(grammar: &Grammar, options: &Options) -> Result<Scene, PictureError> {
    let graph = &grammar.graph;
    if graph.methods.is_empty() {
        return Err(PictureError::NoGrammar);
    }
    let tree = breadth_first(graph, graph.root.or(start(grammar)));
    let stated = Marks::new(graph, options.findings.as_ref());
    let name = |at: Option<usize>| match at {
        Some(at) => Name {
            marks: stated.of(&[at]),
            text: clean(&graph.methods[at].name).into_owned(),
            path: clean(&graph.methods[at].path).into_owned(),
            signs: if grammar.productions[at].shadow.is_some() {
                " ⊘".into()
            } else {
                String::new()
            },
        },
        None => Name { text: "(grammar)".into(), ..Name::default() },
    };
    let activations =
        graph.methods.iter().map(|method| method.executions).max().unwrap_or(0) as f64;
    let is_frequent = |at: usize| graph.methods[at].executions as f64 >= LABELLED * activations;
    let is_large = |at: Option<usize>| at.is_none_or(|at| stated.has(at) || is_frequent(at));
    let size = |at: Option<usize>| at.map_or((12.0, 12.0), |at| size(grammar, at));
    let form = Form { size: &size, name: &name, is_large: &is_large, letters: LETTERS };
    let (Boxes { methods, rects, edges, size, names, hidden }, labels) =
        boxes(graph, &tree, MOST, &form);
    let most = grammar.productions.iter().map(|production| production.matched).max().unwrap_or(0);
    let node = |((&at, &rect), label): ((&Option<usize>, &_), Label)| Node {
        rect,
        methods: at.into_iter().collect(),
        fill: at.map_or(Fill::Unknown, |at| fill(&grammar.productions[at], most)),
        share: at.map_or(1.0, |at| grammar.productions[at].matched as f64 / most.max(1) as f64),
        label: Some(label),
        tip: at.map_or_else(Vec::new, |at| tip(grammar, at)),
        ..Node::default()
    };
    let mut nodes: Vec<Node> = methods.iter().zip(&rects).zip(labels).map(node).collect();
    let size = use_free_room(&mut nodes, &edges, &names, size);
    let is_reached = |at: usize| tree.caller[at].is_some();
    let elsewhere = (0..graph.methods.len()).filter(|&at| !is_reached(at)).count();
    Ok(Scene {
        kind: Kind::Grammar,
        title: options.title.clone(),
        size,
        frames: Vec::new(),
        edges,
        legend: legend(most),
        findings: stated.stated(options.findings.as_ref(), &nodes),
        lists: lists(grammar, &nodes),
        nodes,
        notes: notes(grammar, hidden, elsewhere),
    })
}

/// Finds the start rule: the only production that was entered and that no other production refers
/// to.
fn start(grammar: &Grammar) -> Option<usize> {
    let mut is_named = vec![false; grammar.productions.len()];
    grammar
        .graph
        .calls
        .iter()
        .filter(|call| call.from != call.to)
        .for_each(|call| is_named[call.to] = true);
    let mut tops = (0..grammar.productions.len())
        .filter(|&at| grammar.graph.methods[at].executions > 0 && !is_named[at]);
    let first = tops.next()?;
    tops.next().is_none().then_some(first)
}

fn size(grammar: &Grammar, at: usize) -> (f64, f64) {
    let matched = grammar.productions[at].matched;
    (width(6.0, 2.0, grammar.graph.methods[at].executions), width(8.0, 1.5, matched))
}

fn fill(production: &Production, most: u64) -> Fill {
    match production.state {
        _ if production.unused.is_some() => Fill::Unknown,
        State::NeverEntered => Fill::NeverRan,
        State::NeverMatched => Fill::Failed,
        State::Matched => Fill::Grey(grey(production.matched, most).max(1)),
    }
}

/// Describes a production in lines.
fn tip(grammar: &Grammar, at: usize) -> Vec<String> {
    let production = &grammar.productions[at];
    let entered = grammar.graph.methods[at].executions;
    let mut lines = Vec::new();
    lines.push(match production.state {
        _ if production.unused.is_some() => {
            clean(production.unused.as_deref().unwrap_or_default()).into_owned()
        }
        State::NeverEntered => "never entered".into(),
        State::NeverMatched => format!("never matched, entered {}×", grouped(entered)),
        State::Matched => format!(
            "matched {}× of {} ({})",
            grouped(production.matched),
            grouped(entered),
            percent(production.matched, entered)
        ),
    });
    lines.extend(production.shadow.as_ref().map(|shadow| clean(shadow).into_owned()));
    if let (count, Some(input)) = &production.inputs {
        lines.push(format!(
            "in {}, the shortest parse is {}",
            counted(*count as u64, "input"),
            clean(input)
        ));
    }
    lines
}

fn lists(grammar: &Grammar, nodes: &[Node]) -> Vec<List> {
    let mut place = vec![None; grammar.productions.len()];
    nodes
        .iter()
        .enumerate()
        .for_each(|(at, node)| node.methods.iter().for_each(|&it| place[it] = Some(at)));
    let of_state = |state: State, title: &str| {
        let mut found: Vec<usize> = (0..grammar.productions.len())
            .filter(|&at| {
                grammar.productions[at].state == state && grammar.productions[at].unused.is_none()
            })
            .collect();
        found.sort_by_key(|&at| std::cmp::Reverse(grammar.graph.methods[at].executions));
        let row = |at: usize| {
            let entered = grammar.graph.methods[at].executions;
            let entered = (entered > 0).then(|| format!("entered {}×", grouped(entered)));
            let words: Vec<String> =
                entered.into_iter().chain(grammar.productions[at].shadow.clone()).collect();
            ListRow { node: place[at], text: words.join("; ") }
        };
        List { title: title.into(), rows: found.into_iter().map(row).collect() }
    };
    let cover = grammar.cover.iter().map(|(input, adds)| ListRow {
        node: None,
        text: format!("{}: {}", clean(input), counted(*adds as u64, "production")),
    });
    let cover = List {
        title: "these inputs cover all that matched; each adds".into(),
        rows: cover.collect(),
    };
    let all = [
        of_state(State::NeverMatched, "never matched"),
        of_state(State::NeverEntered, "never entered"),
        cover,
    ];
    all.into_iter().filter(|list| !list.rows.is_empty()).collect()
}

fn legend(most: u64) -> Vec<Sign> {
    let widths = [1, 1_000, 1_000_000].map(|n| Sign::sized((width(6.0, 2.0, n), 10.0), short(n)));
    let heights = [0, 1_000, 1_000_000].map(|n| Sign::sized((8.0, width(8.0, 1.5, n)), short(n)));
    let greys = steps(1, most).into_iter().map(|n| {
        Sign::fill(
            Fill::Grey(grey(n, most).max(1)),
            &counted(n, "match").replace("matchs", "matches"),
        )
    });
    let signs = [
        Sign::fill(Fill::Failed, "never matched"),
        Sign::fill(Fill::NeverRan, "never entered"),
        Sign::fill(Fill::Unknown, "no run can enter it"),
        Sign::words("⊘: another alternative matches in its place"),
        Sign::words("dashed line: never entered from there"),
    ];
    let mut legend = vec![Sign::words("width: activations")];
    legend.extend(widths);
    legend.push(Sign::words("height: matches"));
    legend.extend(heights);
    legend.extend(greys.into_iter().chain(signs));
    legend
}

fn notes(grammar: &Grammar, hidden: usize, elsewhere: usize) -> Vec<String> {
    let in_use = || grammar.productions.iter().filter(|production| production.unused.is_none());
    let matched = in_use().filter(|production| production.state == State::Matched).count() as u64;
    let mut notes = vec![
        format!(
            "{matched} of {} in use matched ({})",
            counted(in_use().count() as u64, "production"),
            percent(matched, in_use().count() as u64)
        ),
        "each production is drawn once, below the one nearest to the start rule that refers to it"
            .into(),
    ];
    if !grammar.has_references {
        notes.push(
            "references were not recorded: a line is a production that was tried within another"
                .into(),
        );
    }
    if !grammar.productions.iter().any(|production| production.shadow.is_some()) {
        notes.push(
            "no shadow was recorded: `metaspy grammar --record` states what takes the place of an alternative".into(),
        );
    }
    if hidden > 0 {
        notes.push(format!(
            "{} not drawn: --from PRODUCTION begins further down",
            counted(hidden as u64, "production")
        ));
    }
    if grammar.graph.root.is_some() {
        notes
            .push("numbers are those of the whole run: productions are used elsewhere, too".into());
    }
    if elsewhere > 0 {
        notes.push(format!("{} not reached from here", counted(elsewhere as u64, "production")));
    }
    if !grammar.graph.exact {
        notes.push("some counts are lower bounds: `metaspy verify` lists what was lost".into());
    }
    notes
}
