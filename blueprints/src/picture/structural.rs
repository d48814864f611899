//! Structural distribution blueprint (*Execution profiling blueprints*, section 4.1): height is
//! total time, width is executions, grey is the number of receivers.

use metaspy_report::text::{counted, grouped, percent};

use super::caching::{self, caching};
use super::named::{Form, Named, named};
use super::stated::Marks;
use super::{
    Options, PictureError, grey, height_word, hooks_note, own_grey, own_greys, steps, width, widths,
};
use crate::graph::Graph;
use crate::scene::{Fill, Kind, Label, LabelPlace, Node, Rect, Scene, Sign, line, text_width};

/// Height of a box that has all of the time.
const TALLEST: f64 = 150.0;
/// Minimum height of a box.
const LEAST: f64 = 3.0;
/// Minimum height at which the bar of own time is drawn.
const LEAST_OWN: f64 = 1.5;
/// Minimum and maximum length of the strip of the line with most samples.
const STRIP: (f64, f64) = (3.0, 14.0);
/// Minimum and maximum height of a strip.
const LEAST_STRIP: f64 = 2.0;
const STRIP_HEIGHT: f64 = 12.0;

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
    let (page, boxes) = named(graph, &sizes, &marks, &Form::default());
    let node = |Named { method: at, rect, label }: Named| {
        let method = &graph.methods[at];
        let fill = match method.receivers.magnitude() {
            // Samples know no receivers.
            _ if graph.measured.is_some() => own_grey(graph, at),
            0 => Fill::NoReceiver,
            count => Fill::Grey(grey(count, most)),
        };
        Node {
            rect,
            methods: vec![at],
            fill,
            share: graph.total(at) as f64 / whole as f64,
            own: own(rect.h, method.self_ns, method.total_ns),
            strips: strips(rect, &method.hot_lines, label.as_ref()),
            tip: hot_lines(&method.hot_lines),
            label,
            ..Node::default()
        }
    };
    let nodes: Vec<Node> = boxes.into_iter().map(node).collect();
    let low = nodes.iter().filter(|node| node.rect.h <= LEAST).count() as u64;
    let mut notes = vec![
        format!(
            "height is linear in {}, calls included: {TALLEST} px are {}",
            height_word(graph),
            graph.amount(whole)
        ),
        format!(
            "{} below {}, drawn at the least height of {LEAST} px",
            counted(low, "method"),
            graph.amount((whole as f64 * LEAST / TALLEST) as u64)
        ),
    ];
    notes.extend(hooks_note(graph));
    if graph.measured.is_none() {
        notes.push(format!(
            "methods that never ran are not drawn: {}",
            graph.methods.len() - sizes.len()
        ));
    }
    let candidates = caching(graph, &nodes);
    notes.extend(caching::notes(graph, candidates.is_some()));
    Ok(Scene {
        kind: Kind::Structural,
        title: String::new(),
        size: page.size,
        frames: page.frames,
        edges: Vec::new(),
        legend: legend(graph, most, whole),
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

/// Places the strips at the right side of a box: one for each sampled line, in the order of the
/// source, where the label leaves room.
fn strips(rect: Rect, lines: &[(u32, u64, String)], label: Option<&Label>) -> Vec<Rect> {
    let (above, below) = match label {
        Some(label) if label.place == LabelPlace::Inside => (line(label.size), 0.0),
        Some(label) if label.place == LabelPlace::Upright => {
            (0.0, text_width(&label.text, label.size))
        }
        _ => (0.0, 0.0),
    };
    let longest = (rect.w / 2.0 - 1.0).min(STRIP.1);
    let each = (rect.h - above - below) / lines.len() as f64;
    if longest < STRIP.0 || each < LEAST_STRIP || lines.len() < 2 {
        return Vec::new();
    }
    let most = lines.iter().map(|&(_, samples, _)| samples).max().unwrap_or(0).max(1);
    let strip = |(&(_, samples, _), at): (&(u32, u64, String), i32)| {
        let w = longest * samples as f64 / most as f64;
        Rect {
            x: rect.right() - w,
            y: rect.y + above + each * f64::from(at),
            w,
            h: (each * 0.8).min(STRIP_HEIGHT),
        }
    };
    lines.iter().zip(0..).map(strip).collect()
}

/// Writes the sampled lines of a method, with their shares of the samples in it.
fn hot_lines(lines: &[(u32, u64, String)]) -> Vec<String> {
    let all = lines.iter().fold(0_u64, |all, &(_, samples, _)| all.saturating_add(samples));
    let text = |(line, samples, source): &(u32, u64, String)| {
        format!("line {line}: {}, {} samples  {source}", percent(*samples, all), grouped(*samples))
    };
    lines.iter().filter(|_| lines.len() > 1).map(text).collect()
}

fn legend(graph: &Graph, most: u64, whole: u64) -> Vec<Sign> {
    let heights = [1.0, 0.3, 0.1].map(|share| {
        Sign::sized((8.0, TALLEST * share / 3.0), graph.amount((whole as f64 * share) as u64))
    });
    let mut shades = Vec::new();
    if graph.measured.is_some() {
        shades.extend(own_greys(graph));
    } else {
        shades.push(Sign::words(
            "grey: receivers, or their places where an address is all that identifies them",
        ));
        let shade = |n: u64| Sign::fill(Fill::Grey(grey(n, most)), &counted(n, "receiver"));
        shades.extend(steps(1, most).into_iter().map(shade));
        shades.push(Sign::fill(Fill::NoReceiver, "no receiver, or none that can be told apart"));
        shades.push(Sign::words("orange bar: own time"));
    }
    if graph.methods.iter().any(|method| method.hot_lines.len() > 1) {
        shades.push(Sign::words("strips at the right side: lines, as long as their samples"));
    }
    std::iter::once(Sign::words(format!("width: {}s", graph.count_word())))
        .chain(widths(3.0, 2.2))
        .chain(std::iter::once(Sign::words(format!(
            "height (here a third of it): {}",
            height_word(graph)
        ))))
        .chain(heights)
        .chain(shades)
        .collect()
}
