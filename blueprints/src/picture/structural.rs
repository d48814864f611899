//! Structural distribution blueprint (*Execution profiling blueprints*, section 4.1): height is
//! total time, width is executions, grey is the number of receivers.

use metaspy_report::text::{counted, time};

use super::caching::{self, caching};
use super::named::{Named, named};
use super::stated::Marks;
use super::{Options, PictureError, grey, hooks_note, width, widths};
use crate::graph::Graph;
use crate::scene::{Fill, Kind, Node, Scene, Sign};

/// Height of a box that has all of the time.
const TALLEST: f64 = 150.0;
/// Minimum height of a box.
const LEAST: f64 = 3.0;
/// Minimum height at which the bar of own time is drawn.
const LEAST_OWN: f64 = 1.5;

/// Draws the methods that ran.
pub fn draw(graph: &Graph, options: &Options) -> Result<Scene, PictureError> {
    if !graph.is_timed() {
        return Err(PictureError::NoTimes);
    }
    let whole = graph.ran().map(|at| graph.total(at)).max().unwrap_or(0).max(1);
    let height = |at: usize| LEAST.max(TALLEST * graph.total(at) as f64 / whole as f64);
    let size = |at: usize| (width(3.0, 2.2, graph.methods[at].executions), height(at));
    let sizes: Vec<(usize, (f64, f64))> = graph.ran().map(|at| (at, size(at))).collect();
    let most = graph.ran().map(|at| graph.methods[at].receivers.magnitude()).max().unwrap_or(0);
    let marks = Marks::new(graph, options.findings.as_ref());
    let (page, boxes) = named(graph, &sizes, &marks, |_| false);
    let node = |Named { method: at, rect, label }: Named| {
        let method = &graph.methods[at];
        let fill = match method.receivers.magnitude() {
            0 => Fill::NoReceiver,
            count => Fill::Grey(grey(count, most)),
        };
        Node {
            rect,
            methods: vec![at],
            fill,
            share: graph.total(at) as f64 / whole as f64,
            own: own(rect.h, method.self_ns, method.total_ns),
            label,
            ..Node::default()
        }
    };
    let nodes: Vec<Node> = boxes.into_iter().map(node).collect();
    let low = nodes.iter().filter(|node| node.rect.h <= LEAST).count() as u64;
    let mut notes = vec![
        format!("height is linear in total time by the wall clock, calls included: {TALLEST} px are {}", time(whole)),
        format!(
            "{} below {}, drawn at the least height of {LEAST} px",
            counted(low, "method"),
            time((whole as f64 * LEAST / TALLEST) as u64)
        ),
        hooks_note(graph),
        format!("methods that never ran are not drawn: {}", graph.methods.len() - sizes.len()),
    ];
    let candidates = caching(graph, &nodes);
    notes.extend(caching::notes(graph, candidates.is_some()));
    Ok(Scene {
        kind: Kind::Structural,
        title: String::new(),
        size: page.size,
        frames: page.frames,
        edges: Vec::new(),
        legend: legend(most, whole),
        findings: marks.stated(options.findings.as_ref(), &nodes),
        lists: candidates.into_iter().collect(),
        nodes,
        notes,
    })
}

/// Computes the height of the bar of own time; 0 where the bar would only hide the box.
pub(super) fn own(height: f64, own: Option<u64>, total: Option<u64>) -> f64 {
    let (Some(own), Some(total)) = (own, total) else { return 0.0 };
    let bar = height * own.min(total) as f64 / total.max(1) as f64;
    if height > LEAST && bar >= LEAST_OWN { bar } else { 0.0 }
}

fn legend(most: u64, whole: u64) -> Vec<Sign> {
    let heights =
        [1.0, 0.3, 0.1].map(|share| Sign::sized((8.0, TALLEST * share / 3.0), time((whole as f64 * share) as u64)));
    let greys = [1, most.isqrt(), most].map(|n| Sign::fill(Fill::Grey(grey(n, most)), &counted(n, "receiver")));
    let rest = [
        Sign::fill(Fill::NoReceiver, "no receiver, or none that can be told apart"),
        Sign::words("orange bar: own time"),
    ];
    std::iter::once(Sign::words("width: calls"))
        .chain(widths(3.0, 2.2))
        .chain(std::iter::once(Sign::words("height (here a third of it): total time, wall clock")))
        .chain(heights)
        .chain(std::iter::once(Sign::words(
            "grey: receivers, or their places where an address is all that identifies them",
        )))
        .chain(greys)
        .chain(rest)
        .collect()
}
