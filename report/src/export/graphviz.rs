//! Graphviz: the sites as nodes, and an edge from each site to those that its events caused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use metaspy_probe::SiteId;
use metaspy_reader::{By, Scope, Store};

use super::record::Names;
use super::{Exporter, Selection, Written, printable, short_name};
use crate::text::{grouped, time};

/// The language of Graphviz: <https://graphviz.org/doc/info/lang.html>.
#[derive(Clone, Copy, Debug)]
pub struct Graphviz;

/// From a site to a site; true for links. No site is a cause outside of the recording.
type Edge = (Option<SiteId>, SiteId, bool);

impl Exporter<Selection<'_>> for Graphviz {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let Selection { store, filter, .. } = *selection;
        let names = Names::read(store);
        let mut edges: BTreeMap<Edge, u64> = BTreeMap::new();
        let site = |id| store.site_of_reason(id);
        let events = selection.each(|event| {
            if let Some(cause) = event.cause {
                *edges.entry((site(cause), event.site, false)).or_default() += 1;
            }
            for link in names.links(event.id) {
                *edges.entry((site(link), event.site, true)).or_default() += 1;
            }
            Ok(())
        })?;
        writeln!(
            out,
            "digraph causes {{\n  label={}\n  node [shape=box]",
            quoted(&store.program().name)
        )?;
        let tally = store.tally(By::Site, &Scope::matching(filter.clone()));
        let mut nodes: BTreeMap<SiteId, String> = BTreeMap::new();
        for row in &tally.rows {
            let Some(site) = row.site else { continue };
            let mut label = format!(
                "{}\n{}{}",
                short_name(store.site_path(site)),
                row.measure.sign(),
                grouped(row.measure.count)
            );
            if let Some(own) = row.measure.self_ticks.filter(|_| row.measure.timed > 0) {
                let _ = write!(label, ", self {}", time(store.span_ns(own)));
            }
            nodes.insert(site, label);
        }
        // Causes that do not pass the filter have a name and no numbers.
        for (from, _, _) in edges.keys() {
            from.iter()
                .for_each(|site| _ = nodes.entry(*site).or_insert_with(|| name(store, *site)));
        }
        for (site, label) in &nodes {
            writeln!(
                out,
                "  s{} [label={}, tooltip={}]",
                site.0,
                quoted(label),
                quoted(store.site_path(*site))
            )?;
        }
        if edges.keys().any(|(from, _, _)| from.is_none()) {
            writeln!(out, "  outside [label=\"not in the recording\", style=dashed]")?;
        }
        for ((from, to, is_link), count) in &edges {
            let from = from.map_or_else(|| "outside".to_owned(), |site| format!("s{}", site.0));
            let style = if *is_link { ", style=dashed" } else { "" };
            writeln!(out, "  {from} -> s{} [label={}{style}]", to.0, quoted(&grouped(*count)))?;
        }
        writeln!(out, "}}")?;
        Ok(Written { events, notes: Vec::new() })
    }
}

fn name(store: &Store, site: SiteId) -> String {
    short_name(store.site_path(site)).to_owned()
}

/// A quoted string of the language. Lines are centred.
fn quoted(text: &str) -> String {
    let lines =
        text.split('\n').map(|line| printable(line).replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", lines.collect::<Vec<_>>().join("\\n"))
}
