//! HTML: one file that opens from disk. A policy in it forbids every connection.

use super::json::json;
use super::palette::{COLOURS, style};
use super::{escaped, svg};
use crate::graph::Graph;
use crate::scene::Scene;

/// The style of the page around the picture.
const STYLE: &str = include_str!("page/page.css");
/// What the page does: plain JavaScript.
const SCRIPT: &str = include_str!("page/page.js");

/// The page of a scene.
pub fn html(scene: &Scene, graph: &Graph) -> String {
    let title = escaped(&format!("{} blueprint of {}", scene.kind.word(), scene.title));
    let variables = |dark: bool| -> String {
        let colour = |&(name, on_light, on_dark): &(&str, &str, &str)| {
            format!("--{name}:{};", if dark { on_dark } else { on_light })
        };
        COLOURS.iter().map(colour).collect()
    };
    let (light, dark) = (variables(false), variables(true));
    let rules = style(|name| format!("var(--{name})"));
    // `</script>` in a name must not end the data.
    let data = json(scene, graph).to_string().replace("</", "<\\/");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n:root{{{light}}}\n\
         @media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n:root[data-theme=dark]{{{dark}}}\n\
         @media print{{:root,:root[data-theme]{{{light}}}}}\n{rules}{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1><input id=\"search\" type=\"search\" placeholder=\"search  /\" aria-label=\"search methods\">\
         <output id=\"found\"></output><button id=\"theme\" title=\"light or dark (t)\">◐</button><button id=\"fit\" title=\"fit (0)\">⤢</button>\
         <button id=\"list\" title=\"list (l)\">☰</button></header>\n\
         <main><div id=\"view\" tabindex=\"0\" role=\"application\" aria-label=\"{title}\"></div><aside id=\"panel\" hidden></aside></main>\n\
         <div id=\"popup\" role=\"status\" aria-live=\"polite\" hidden></div><menu id=\"menu\" hidden></menu>\n<footer id=\"footer\"></footer>\n\
         <template id=\"defs\">{}</template>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        svg::HATCH,
    )
}
