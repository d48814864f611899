//! Emitters, which draw a finished scene and never decide where a box goes.

mod attributes;
mod html;
mod json;
mod outline;
mod palette;
mod svg;
mod text;

pub use html::{Pictures, html};
pub use json::json;
pub use outline::{Line, lists, outline};
pub use svg::svg;
pub(crate) use text::LISTED;
pub(crate) use text::name_of;
pub use text::text;

use crate::graph::Graph;
use crate::scene::{Kind, Node};
use metaspy_report::text::{clean, counted, time};

/// Describes a box in lines: the popup of HTML, the title of SVG.
fn lines(kind: Kind, graph: &Graph, node: &Node) -> Vec<String> {
    let Some(&top) = node.methods.first() else { return vec!["the whole program".into()] };
    let method = &graph.methods[top];
    let mut lines = vec![clean(&method.path).into_owned()];
    lines.extend(node.tip.iter().map(|line| clean(line).into_owned()));
    lines.extend(node.mark.map(|pattern| pattern.title().to_owned()));
    if !kind.is_of_methods() {
        return lines;
    }
    let receivers = match graph.measured {
        None => format!(", {} receivers", method.receivers.with_places()),
        Some(_) => String::new(),
    };
    lines.push(format!(
        "{}{}{receivers}",
        graph.calls_sign(top),
        counted(method.executions, graph.count_word())
    ));
    if let Some(total) = method.total_ns {
        let own = method.self_ns.map_or_else(
            || "unknown".into(),
            |own| format!("{}{}", graph.own_sign(top), graph.amount(own)),
        );
        lines.push(format!("total {}{}, own {own}", graph.time_sign(top), graph.amount(total)));
        lines.extend((method.hooks_ns > 0).then(|| {
            format!(
                "recorded total {}, {} of it hooks",
                time(total + method.hooks_ns),
                time(method.hooks_ns)
            )
        }));
    }
    lines.extend(method.returns.map(|returned| format!("returns: {}", returned.word())));
    lines.extend((method.tests.count > 0).then(|| format!("in {} tests", method.tests)));
    if method.lines > 0 {
        lines.push(format!("{} lines, {}:{}", method.lines, clean(&method.file), method.line));
    }
    let more = node.methods[1..]
        .iter()
        .take(12)
        .map(|&at| format!("stands for {}", clean(&graph.methods[at].path)));
    lines.extend(more);
    lines
}

/// Formats a length with at most one decimal.
fn px(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Escapes a text for XML, and removes control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}
