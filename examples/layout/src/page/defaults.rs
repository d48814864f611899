//! The defaults of a tag without a style of its own: the few rules of a browser's style sheet that
//! change sizes.

use taffy::prelude::{auto, length};
use taffy::{Display, Rect, Style};

use crate::text::Font;

/// How an element takes part in layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flow {
    /// Never shown.
    Hidden,
    /// Part of a line.
    Inline,
    /// Part of a line, one unbreakable box this wide.
    Atom(f32),
    /// A box below the one before.
    Block,
    /// A table: a grid whose items are the cells of all its rows.
    Table,
    /// Rows of a table, or one row: owns cells and has no box of its own.
    Rows,
    /// A cell of a table.
    Cell,
}

/// The flow of a tag.
pub(super) fn flow(tag: &str) -> Flow {
    match tag {
        "head" | "script" | "style" | "template" | "noscript" | "title" | "meta" | "link"
        | "base" | "source" | "track" | "param" | "col" | "colgroup" | "datalist" | "dialog"
        | "area" | "map" => Flow::Hidden,
        "img" | "svg" | "picture" => Flow::Atom(24.0),
        "input" | "select" | "meter" | "progress" => Flow::Atom(150.0),
        "video" | "iframe" | "object" | "embed" | "canvas" | "textarea" | "audio" => {
            Flow::Atom(300.0)
        }
        "table" => Flow::Table,
        "thead" | "tbody" | "tfoot" | "tr" => Flow::Rows,
        "td" | "th" => Flow::Cell,
        "html" | "body" | "div" | "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol"
        | "li" | "dl" | "dt" | "dd" | "pre" | "blockquote" | "hr" | "section" | "article"
        | "main" | "nav" | "aside" | "header" | "footer" | "figure" | "figcaption" | "details"
        | "summary" | "form" | "fieldset" | "legend" | "address" | "center" | "caption"
        | "menu" | "search" | "hgroup" | "optgroup" | "option" | "dir" | "listing" | "xmp" => {
            Flow::Block
        }
        _ => Flow::Inline,
    }
}

/// Returns the style of a tag that has a box. `font` is the inherited font, and is changed to the
/// one for its children.
pub(super) fn style(tag: &str, font: &mut Font) -> Style {
    let mut style = Style { display: Display::Block, ..Style::default() };
    font.size *= match tag {
        "h1" => 2.0,
        "h2" => 1.5,
        "h3" => 1.17,
        "h5" => 0.83,
        "h6" => 0.67,
        _ => 1.0,
    };
    face(tag, font);
    let em = font.size;
    match tag {
        "body" => style.margin = Rect::length(8.0),
        "h1" => style.margin = block_margin(0.67 * em),
        "h2" => style.margin = block_margin(0.83 * em),
        "h3" | "p" | "ul" | "ol" | "dl" | "pre" | "menu" => style.margin = block_margin(em),
        "h4" => style.margin = block_margin(1.33 * em),
        "h5" => style.margin = block_margin(1.67 * em),
        "h6" => style.margin = block_margin(2.33 * em),
        "blockquote" | "figure" => {
            style.margin = Rect { left: length(40.0), right: length(40.0), ..block_margin(em) };
        }
        "hr" => {
            style.margin = block_margin(0.5 * em);
            style.border = Rect::length(1.0);
        }
        "dd" => style.margin.left = length(40.0),
        "fieldset" => style.padding = Rect::length(8.0),
        "td" | "th" => style.padding = Rect::length(4.0),
        "table" => {
            style.display = Display::Grid;
            style.item_is_table = true;
        }
        "center" => style.margin = Rect { left: auto(), right: auto(), ..Rect::zero() },
        _ => {}
    }
    if matches!(tag, "ul" | "ol" | "menu") {
        style.padding.left = length(40.0);
    }
    style
}

/// Changes the font for the text of a tag, be it a box or part of a line.
pub(super) fn face(tag: &str, font: &mut Font) {
    match tag {
        "b" | "strong" | "th" | "dt" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => font.bold = true,
        "code" | "kbd" | "samp" | "tt" => font.mono = true,
        "pre" | "listing" | "xmp" => {
            font.mono = true;
            font.pre = true;
        }
        "small" | "sub" | "sup" => font.size *= 0.83,
        _ => {}
    }
}

fn block_margin(pixels: f32) -> Rect<taffy::LengthPercentageAuto> {
    Rect { left: length(0.0), right: length(0.0), top: length(pixels), bottom: length(pixels) }
}
