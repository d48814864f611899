//! Facts of the element under the cursor, below the tree.
//!
//! ```text
//! │ taffy::compute::Cache::Store::get                             pub fn(&self) │
//! │ src/compute/cache.rs:88–96  9 lines, complexity 4                           │
//! │ 40,000 calls, 3 failed   on 256 receivers   total 600 µs   self 400 µs      │
//! │ Cache implements Store   key: &dyn Key was Node 66.7 %, Leaf 33.3 %         │
//! └─────────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_format::facts::{Facts, SelfKind, Visibility};
use metaspy_probe::SiteKind;
use metaspy_reader::{RecordedSite, Store};
use metaspy_report::program::{Element, Of};
use metaspy_report::text::{
    counted, cut, duration, grouped, outcomes, shorten_file, shorten_path, width,
};

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;

/// Draws the facts.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let Some(element) = crawler.view.structure.current() else { return };
    let store = &crawler.store;
    let x = area.x + 1;
    let room = area.width.saturating_sub(2);
    let what = sort_or_signature(store, element);
    let took = (width(&what) as u16).min(room / 2);
    let path = shorten_path(element.path(store), room.saturating_sub(took + 2) as usize);
    canvas.text(x, area.y, room - took, &path, theme::STRONG);
    canvas.right(x + room, area.y, took, &what, theme::FAINT);
    let site = element.site().and_then(|site| store.site(site));
    let where_it_is = match site {
        Some(site) => source_and_size(site, element, room as usize),
        None => size(element),
    };
    let about = [traits(element), crawler.view.structure.types_of(element)];
    let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty()).collect();
    let lines = [where_it_is, counts(store, element), about.join("   ")];
    for (y, text) in (area.y + 1..area.y + area.height).zip(&lines) {
        let style = if y == area.y + 2 { theme::PLAIN } else { theme::FAINT };
        canvas.text(x, y, room, &cut(text, room as usize), style);
    }
}

/// Returns the sort of the element; for a method, its signature.
fn sort_or_signature(store: &Store, element: &Element) -> String {
    match &element.of {
        Of::Method(Some(facts)) => signature(facts),
        Of::Method(None) => {
            let kind = element
                .site()
                .and_then(|site| store.site(site))
                .map_or(SiteKind::Method, |site| site.kind);
            kind.name().into()
        }
        Of::Functions => "functions of the module".into(),
        Of::Type { is_unresolved: true, .. } => "type, definition not found".into(),
        _ => element.sort().into(),
    }
}

/// Writes the declaration in Rust syntax.
fn signature(facts: &Facts) -> String {
    let visibility = match facts.visibility {
        Visibility::Public => "pub ",
        Visibility::Restricted => "pub(…) ",
        Visibility::Private => "",
    };
    let is_async = if facts.is_async { "async " } else { "" };
    let sort = match (facts.is_closure, facts.is_test) {
        (true, _) => "closure",
        (_, true) => "test",
        _ => "fn",
    };
    let takes = match facts.self_kind {
        SelfKind::None => "",
        SelfKind::Ref => "(&self)",
        SelfKind::Mut => "(&mut self)",
        SelfKind::Value => "(self)",
        SelfKind::Other => "(self: …)",
    };
    format!("{visibility}{is_async}{sort}{takes}")
}

/// Describes the file, the lines and the size of a method.
fn source_and_size(site: &RecordedSite, element: &Element, room: usize) -> String {
    let complexity =
        element.complexity.map_or(String::new(), |paths| format!(", complexity {paths}"));
    let size = format!("{}{complexity}", counted(element.lines, "line"));
    let place = format!("{}:{}–{}", site.file, site.lines.0, site.lines.1);
    format!("{}  {size}", shorten_file(&place, room.saturating_sub(width(&size) + 2)))
}

/// Describes the size of a package, a type or a module.
fn size(element: &Element) -> String {
    let complexity =
        element.complexity.map_or(String::new(), |paths| format!(", complexity up to {paths}"));
    let never = match element.methods - element.ran {
        0 => String::new(),
        never => format!(", {} not called", grouped(never.into())),
    };
    format!(
        "{}{never}  {}{complexity}",
        counted(element.methods.into(), "method"),
        counted(element.lines, "line")
    )
}

/// Describes the number, outcomes and times of the calls.
fn counts(store: &Store, element: &Element) -> String {
    let measure = &element.measure;
    let failure =
        element.site().and_then(|site| store.site(site)).map_or("failed", |site| site.failure());
    let mut text = counted(measure.count, "call");
    text.push_str(&outcomes(measure, failure, ", "));
    let receivers = element.receivers;
    if element.has_unknown_receivers() {
        text.push_str(&format!("   {}", receivers.phrase()));
    } else if !receivers.is_unknown() || receivers.is_least {
        let sign = if receivers.is_least { "≥ " } else { "" };
        text.push_str(&format!("   on {sign}{}", counted(receivers.count, "receiver")));
    }
    let partly = measure.is_partly_timed();
    let longest = (measure.timed > 0).then_some(measure.max_ticks);
    let sign = |sign| if partly { sign } else { "" };
    let times = [
        ("total", element.total_ticks(), measure.total_sign()),
        ("self", element.self_ticks(), sign("~")),
        (if measure.wall_ticks > 0 { "max wall" } else { "max" }, longest, sign("≥")),
    ];
    for (word, ticks, sign) in times {
        let Some(ticks) = ticks else { continue };
        let space = if sign.is_empty() { "" } else { " " };
        text.push_str(&format!(
            "   {word} {sign}{space}{}",
            duration(store.span_ns(ticks)).trim_start()
        ));
    }
    text
}

/// Lists the traits that a type implements or a trait needs.
fn traits(element: &Element) -> String {
    match &element.of {
        Of::Type { traits, .. } if traits.is_empty() => String::new(),
        Of::Type { is_trait: true, traits, .. } => format!("needs {}", traits.join(", ")),
        Of::Type { traits, .. } => format!("implements {}", traits.join(", ")),
        Of::Method(Some(facts)) => match (&facts.of_type, &facts.of_trait) {
            (Some(of_type), Some(of_trait)) => format!("{of_type} implements {of_trait}"),
            (None, Some(of_trait)) => format!("a default method of {of_trait}"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}
