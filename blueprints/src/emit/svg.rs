//! SVG emitter: the scene at rest with its legend and notes, and a title for each box.

use std::fmt::Write;

use super::attributes::with_attributes;
use super::{escaped, lines, palette, px};
use crate::graph::Graph;
use crate::scene::{
    Border, Edge, EdgeKind, Fill, Frame, Kind, Label, LabelPlace, Node, OUTSET, Rect, SIZE, STATED,
    Scene, Sign, line,
};
use metaspy_report::coverage::Pattern;

/// Space around the picture, in pixels.
const MARGIN: f64 = 12.0;
/// Height of a line of notes.
const LINE: f64 = 14.0;
/// Maximum width of a letter in notes.
const LETTER: f64 = 5.6;
/// Font of labels.
const FONT: &str = "font-size=\"9\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\"";
/// Minimum width of the page, which the legend needs.
const LEAST: f64 = 640.0;

/// Draws a scene as an SVG document.
pub fn svg(scene: &Scene, graph: &Graph) -> String {
    let width = scene.size.0.max(LEAST);
    let (legend, legend_height) = legend(&scene.legend, width);
    let stated = scene.findings.first.len() as f64;
    let above = MARGIN + LINE * (1.5 + stated);
    let below = above + scene.size.1 + MARGIN;
    let notes_at = below + legend_height + LINE;
    let height = notes_at + LINE * scene.notes.len() as f64;
    let w = px(width + 2.0 * MARGIN);
    let h = px(height + MARGIN);
    let title = format!("{} blueprint of {}", scene.kind.word(), scene.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{w}\" height=\"{h}\" viewBox=\"{} 0 {w} {h}\" \
         role=\"img\" {FONT}>\n<title>{}</title>\n{DEFS}\n",
        px(-MARGIN),
        escaped(&title),
    );
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"0\" width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n<text y=\"{}\" font-size=\"12\">{}</text>",
        px(-MARGIN),
        palette::light("page"),
        px(MARGIN + 4.0),
        escaped(&title)
    );
    for ((mark, statement), line) in STATED.iter().zip(&scene.findings.first).zip(1..) {
        let _ = writeln!(
            out,
            "<text class=\"note\" y=\"{}\"><tspan class=\"k\">{mark}</tspan> {}: {}</text>",
            px(MARGIN + 4.0 + LINE * f64::from(line)),
            escaped(&statement.cost),
            escaped(&statement.title)
        );
    }
    let _ = writeln!(
        out,
        "<g class=\"{}\" transform=\"translate(0 {})\">",
        scene.kind.word(),
        px(above)
    );
    scene.frames.iter().for_each(|frame| out += &self::frame(frame));
    scene
        .edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Tree)
        .for_each(|edge| out += &self::edge(edge, &scene.nodes));
    scene.nodes.iter().for_each(|node| out += &self::node(scene.kind, node, graph));
    let _ = writeln!(
        out,
        "</g>\n<g class=\"legend\" transform=\"translate(0 {})\">\n{legend}</g>",
        px(below)
    );
    for (note, line) in scene.notes.iter().zip(0..) {
        let _ = writeln!(
            out,
            "<text class=\"note pale\" y=\"{}\">{}</text>",
            px(notes_at + LINE * f64::from(line)),
            escaped(note)
        );
    }
    with_attributes(&(out + "</svg>\n"), &palette::style(palette::light))
}

/// SVG definitions: the hatch of values that cannot be compared, the head of an arrow, and the
/// marks of the coverage patterns. Marks have a radius of 1 and differ in form, so that no mark
/// depends on its colour.
pub(crate) const DEFS: &str = "<defs><pattern id=\"hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 4L4 0\" \
     stroke=\"#a8a29a\" stroke-width=\".6\"/></pattern>\
     <marker id=\"arrow\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"3\" markerHeight=\"3\" orient=\"auto\">\
     <path class=\"head\" d=\"M0 0L6 3L0 6Z\"/></marker>\
     <polygon id=\"m-absent\" points=\"-1 -.5 -.5 -1 0 -.5 .5 -1 1 -.5 .5 0 1 .5 .5 1 0 .5 -.5 1 -1 .5 -.5 0\"/>\
     <polygon id=\"m-long-untested\" points=\"0 -1 1 .9 -1 .9\"/>\
     <polygon id=\"m-more-tests\" points=\"0 -1.15 1.15 0 0 1.15 -1.15 0\"/>\
     <circle id=\"m-well-tested\" r=\"1\"/>\
     <polygon id=\"m-very-well-tested\" points=\"-.9 -.9 .9 -.9 .9 .9 -.9 .9\"/></defs>";
/// Radius of a mark, in pixels.
const MARK: f64 = 2.6;

fn frame(frame: &Frame) -> String {
    let Frame { rect, label, name, kind, size, .. } = frame;
    let mark =
        frame.mark.map_or_else(String::new, |pattern| mark(pattern, (rect.right(), rect.y), MARK));
    format!(
        "<g><title>{}</title><rect class=\"f {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
         <text class=\"ft\" x=\"{}\" y=\"{}\"{}>{}</text>{mark}</g>\n",
        escaped(name),
        kind.class(),
        px(rect.x),
        px(rect.y),
        px(rect.w),
        px(rect.h),
        px(rect.x + 3.0),
        px(rect.y + size),
        font(*size),
        escaped(label),
    )
}

fn edge(edge: &Edge, nodes: &[Node]) -> String {
    let from = &nodes[edge.from].rect;
    let to = &nodes[edge.to].rect;
    let x = from.x + from.w / 2.0;
    let y = from.bottom();
    let to_y = to.y;
    let bend = nodes[edge.from].bend();
    let to_x = nodes[edge.to].entry(bend);
    let written = if nodes[edge.to].fill == Fill::NeverRan { " written" } else { "" };
    format!(
        "<path class=\"e{written}\" d=\"M{} {}V{}H{}V{}\"/>\n",
        px(x),
        px(y),
        px(bend),
        px(to_x),
        px(to_y)
    )
}

fn node(kind: Kind, node: &Node, graph: &Graph) -> String {
    let rect = &node.rect;
    let mut out = format!(
        "<g><title>{}</title><rect class=\"b {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        escaped_lines(&lines(kind, graph, node)),
        node.fill.class(),
        px(rect.x),
        px(rect.y),
        px(rect.w),
        px(rect.h),
    );
    if let Some(ghost) = node.ghost {
        out += &outline("ghost", &Rect { h: ghost, ..*rect });
    }
    if node.border == Border::Changed {
        let wide = Rect { x: rect.x - 2.5, y: rect.y - 2.5, w: rect.w + 5.0, h: rect.h + 5.0 };
        out += &outline("frame", &wide);
    }
    if node.fill == Fill::New {
        let x = rect.x + rect.w / 2.0 - 3.0;
        let y = rect.y + rect.h.min(12.0) / 2.0 + 3.0;
        let _ = write!(out, "<text x=\"{}\" y=\"{}\">✚</text>", px(x), px(y));
    }
    if node.own > 0.0 {
        let y = rect.bottom() - node.own;
        let _ = write!(
            out,
            "<rect class=\"own\" x=\"{}\" y=\"{}\" width=\"2.5\" height=\"{}\"/>",
            px(rect.x),
            px(y),
            px(node.own)
        );
    }
    node.strips.iter().for_each(|strip| out += &outline("strip", strip));
    if let Some(pattern) = node.mark {
        let radius = MARK.min(rect.w / 2.0).min(rect.h / 2.0);
        out += &mark(
            pattern,
            (rect.x + rect.w / 2.0, rect.y + radius.max((rect.h / 2.0).min(4.0))),
            radius,
        );
    }
    if let Some(label) = &node.label {
        out += &self::label(label, node);
    }
    out + "</g>\n"
}

fn mark(pattern: Pattern, (x, y): (f64, f64), radius: f64) -> String {
    let word = pattern.word();
    format!(
        "<use xlink:href=\"#m-{word}\" class=\"m {word}\" transform=\"translate({} {}) scale({})\"/>",
        px(x),
        px(y),
        px(radius)
    )
}

fn outline(class: &str, rect: &Rect) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        px(rect.x),
        px(rect.y),
        px(rect.w),
        px(rect.h)
    )
}

fn label(label: &Label, node: &Node) -> String {
    let rect = &node.rect;
    let scale = label.size / SIZE;
    // The frame of changed source is around the box.
    let outset = if node.border == Border::Changed { OUTSET } else { 0.0 };
    let (x, y) = match label.place {
        LabelPlace::Beside => (
            rect.right() + 2.0 + outset,
            rect.y + node.height().min(line(label.size)) / 2.0 + 3.0 * scale,
        ),
        LabelPlace::Inside => (rect.x + 3.0, rect.y + 9.0 * scale),
        LabelPlace::Upright => (rect.x + rect.w / 2.0 + 3.0 * scale, rect.bottom() - 3.0),
        LabelPlace::Along => (rect.right() + 9.0 * scale, rect.bottom() - 2.0),
    };
    let turn = match label.place {
        LabelPlace::Upright | LabelPlace::Along => {
            format!(" transform=\"rotate(-90 {} {})\"", px(x), px(y))
        }
        LabelPlace::Beside | LabelPlace::Inside => String::new(),
    };
    let is_within = matches!(label.place, LabelPlace::Inside | LabelPlace::Upright);
    let dark = if node.fill.is_dark() && is_within { " class=\"dark\"" } else { "" };
    format!(
        "<text{dark} x=\"{}\" y=\"{}\"{}{turn}>{}</text>",
        px(x),
        px(y),
        font(label.size),
        with_marks(&label.text)
    )
}

/// Returns the attribute of letters of this size, if it is not the usual one.
fn font(size: f64) -> String {
    if size > SIZE { format!(" font-size=\"{}\"", px(size)) } else { String::new() }
}

/// Escapes a label, and gives the marks of findings in front of it their colour.
fn with_marks(text: &str) -> String {
    match text.trim_start_matches(STATED) {
        rest if rest.len() == text.len() => escaped(text),
        rest => format!(
            "<tspan class=\"k\">{}</tspan>{}",
            &text[..text.len() - rest.len()],
            escaped(rest)
        ),
    }
}

/// Escapes the lines of a title and joins them with line ends.
fn escaped_lines(lines: &[String]) -> String {
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n")
}

/// Draws the legend in rows, and returns it with its height.
fn legend(signs: &[Sign], width: f64) -> (String, f64) {
    let mut out = String::new();
    let mut x = 0.0;
    let mut y = 0.0;
    let mut row = LINE;
    for sign in signs {
        let (w, h) = sign.size.unwrap_or((0.0, 0.0));
        let space = w + 4.0 + LETTER * sign.text.chars().count() as f64 + 14.0;
        if x > 0.0 && x + space > width {
            (x, y, row) = (0.0, y + row + 4.0, LINE);
        }
        if let Some(pattern) = sign.mark {
            out += &mark(pattern, (x + w / 2.0, y + 5.0), MARK);
        } else if sign.size.is_some() {
            let class = sign.fill.class();
            let _ = write!(
                out,
                "<rect class=\"b {class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                px(x),
                px(y),
                px(w),
                px(h)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            px(x + w + 4.0),
            px(y + 9.0),
            escaped(&sign.text)
        );
        x += space;
        row = f64::max(row, h);
    }
    (out, y + row)
}
