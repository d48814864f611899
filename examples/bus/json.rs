//! The findings as one object.

use serde_json::{Value, json};

use crate::findings::{Announced, Findings, Repeated, Root, SpanSite};
use crate::options::Options;

pub fn of(findings: &Findings, options: &Options, receivers: u64) -> Value {
    let Findings { sent, received, missed, .. } = findings;
    json!({
        "publishes": options.publishes,
        "subscribers": options.subscribers,
        "sent": sent,
        "received": received,
        "lagged": missed,
        // What the server answered to each PUBLISH, added up.
        "receivers": receivers,
        "too_often": findings.repeated.iter().map(|repeated| repeated.too_often).sum::<u64>(),
        "repeated": findings.repeated.iter().map(repeated).collect::<Vec<_>>(),
        "announcements": findings.announcements.iter().map(|(path, it)| (path.clone(), announced(it))).collect::<Value>(),
        "spans": findings.spans.iter().map(span).collect::<Vec<_>>(),
        "missing_edges": findings.spans.iter().filter(|site| site.is_cut_off()).map(|site| &site.path).collect::<Vec<_>>(),
        "modules_cut_off": findings.modules_cut_off(),
        "roots_that_are_publishes": findings.roots.iter().filter(|root| root.is_publish).count(),
        "roots": findings.roots.iter().map(root).collect::<Vec<_>>(),
    })
}

fn repeated(repeated: &Repeated) -> Value {
    let Repeated { view, receipts, too_often, subscribed } = repeated;
    json!({ "view": view, "receipts": receipts, "too_often": too_often, "subscribed": subscribed })
}

fn announced(announced: &Announced) -> Value {
    let Announced { published, received, too_often, publishers } = announced;
    json!({ "published": published, "received": received, "too_often": too_often, "publishers": publishers })
}

fn span(site: &SpanSite) -> Value {
    let SpanSite { path, events, roots, under_publish, begin_with, under_each } = site;
    json!({
        "path": path, "events": events, "roots": roots, "under_publish": under_publish, "begin_with": begin_with,
        "under_each_root": under_each.iter().filter(|under| **under > 0).collect::<Vec<_>>(),
    })
}

fn root(root: &Root) -> Value {
    json!({
        "event": root.event.to_string(), "site": root.site, "is_publish": root.is_publish, "is_known": root.is_known,
    })
}
