//! HTML emitter: a single file that opens from disk, with a policy that forbids every connection.

use metaspy_report::text::json_in_page;
use serde_json::{Value, json};

use super::json::Shown;
use super::palette::{COLOURS, style};
use super::{escaped, svg};
use crate::graph::Graph;
use crate::scene::Scene;

/// Style sheet of the page around the picture.
const STYLE: &str = include_str!("page/page.css");
/// Script of the page, in plain JavaScript.
const SCRIPT: &str = concat!(
    include_str!("page/data.js"),
    include_str!("page/draw.js"),
    include_str!("page/frames.js"),
    include_str!("page/focus.js"),
    include_str!("page/input.js")
);

/// Graph together with the pictures of it that a page contains.
pub struct Pictures<'p> {
    /// Graph that the scenes were drawn from.
    pub graph: &'p Graph,
    /// Pictures, each with the text of its tab.
    pub scenes: Vec<(String, &'p Scene)>,
}

/// Builds a page with pictures of one or more graphs. The first picture is selected when it opens.
pub fn html(pictures: &[Pictures<'_>]) -> String {
    let first = pictures.iter().find_map(|of| of.scenes.first());
    let title =
        first.map(|(_, scene)| format!("{} blueprint of {}", scene.kind.word(), scene.title));
    let title = escaped(&title.unwrap_or_default());
    let variables = |dark: bool| -> String {
        let colour = |&(name, on_light, on_dark): &(&str, &str, &str)| {
            format!("--{name}:{};", if dark { on_dark } else { on_light })
        };
        COLOURS.iter().map(colour).collect()
    };
    let light = variables(false);
    let dark = variables(true);
    let rules = style(|name| format!("var(--{name})"));
    // Every page contains the script, so comments and indentation are removed from it.
    let script: String = SCRIPT
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"))
        .fold(String::new(), |all, line| all + line + "\n");
    let data = json_in_page(&data(pictures).to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n:root{{{light}}}\n\
         @media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n:root[data-theme=dark]{{{dark}}}\n\
         @media print{{:root,:root[data-theme]{{{light}}}}}\n{rules}{STYLE}</style>\n</head>\n<body>\n\
         <header><nav id=\"tabs\" role=\"tablist\"></nav><h1 id=\"title\">{title}</h1><input id=\"search\" type=\"search\" placeholder=\"search  /\" aria-label=\"search methods\">\
         <output id=\"level\"></output><output id=\"found\"></output><button id=\"list\" title=\"lists (l)\">☰ lists</button><button id=\"fit\" title=\"fit (0)\">⤢ fit</button>\
         <button id=\"theme\" title=\"light or dark (t)\" aria-label=\"light or dark\">◐</button></header>\n<ol id=\"findings\" aria-label=\"findings\" hidden></ol>\n\
         <main><div id=\"view\" tabindex=\"0\" role=\"application\" aria-label=\"{title}\"></div><aside id=\"panel\" hidden></aside></main>\n\
         <div id=\"popup\" role=\"status\" aria-live=\"polite\" hidden></div><menu id=\"menu\" hidden></menu>\n<footer id=\"footer\"></footer>\n\
         <template id=\"defs\">{}</template>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{script}</script>\n</body>\n</html>\n",
        svg::DEFS,
    )
}

fn data(pictures: &[Pictures<'_>]) -> Value {
    let mut graphs = Vec::new();
    let mut all = Vec::new();
    for Pictures { graph, scenes } in pictures {
        let shown = Shown::new(graph, scenes.iter().map(|&(_, scene)| scene));
        for (tab, scene) in scenes {
            let mut picture = shown.picture(scene);
            picture.insert("tab".into(), tab.as_str().into());
            picture.insert("graph".into(), graphs.len().into());
            all.push(picture);
        }
        graphs.push(shown.graph(graph));
    }
    json!({ "graphs": graphs, "pictures": all })
}
