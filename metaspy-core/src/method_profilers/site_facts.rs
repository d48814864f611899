//! The facts of a site.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::format::facts::Facts;
use crate::platform::lock::lock;
use crate::site::{SiteEntry, SiteId, SiteKind};

/// The facts of a site. They are made once and stay in memory, as the site does.
pub(super) fn facts_of(entry: &SiteEntry) -> &'static Facts {
    static FACTS: Mutex<Option<HashMap<SiteId, &'static Facts>>> = Mutex::new(None);
    let mut known = lock(&FACTS);
    known
        .get_or_insert_default()
        .entry(entry.id)
        .or_insert_with(|| Box::leak(Box::new(read_facts(entry))))
}

/// Reads the facts of a site. A site that was made at run time has those of its path.
fn read_facts(entry: &SiteEntry) -> Facts {
    let def = entry.site.def();
    let module = entry.site.module_path();
    let parse = |words: &str| Facts::parse(&module, def.name, def.file, def.lines, words);
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
