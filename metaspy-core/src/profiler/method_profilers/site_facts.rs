//! The facts of a site.

use crate::format::facts::Facts;
use crate::site::{SiteEntry, SiteKind};

/// The facts of a site. A site that was made at run time has those of its path.
pub(super) fn facts_of(entry: &SiteEntry) -> Facts {
    let def = entry.site.def();
    let parse = |words: &str| Facts::parse(def.module, def.name, def.file, def.lines, words);
    let words = entry.site.facts();
    if !words.is_empty() {
        return parse(&words);
    }
    let is_async = if def.kind == SiteKind::Async { " async" } else { "" };
    match def.name.split("::").collect::<Vec<_>>()[..] {
        [owner, _] => parse(&format!("type={owner}{is_async}")),
        [owner, of_trait, _] => parse(&format!("type={owner} trait={of_trait}{is_async}")),
        _ => parse(is_async.trim_start()),
    }
}
