//! The four questions of the story, answered from a profile.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};

use metaspy::store::{By, EffectsIndex, Filter, Measure, Position, Scope, Store};
use metaspy::{EventId, Profile};
use taffy::NodeId;

use crate::tree::Scene;

/// Lines of each list.
const TOP: usize = 8;

/// The answers as text.
pub fn report(profile: &Profile, scene: &Scene) -> String {
    let mut text = String::new();
    let report = Report { store: profile.store(), scope: profile.scope(), scene };
    report.write(&mut text).expect("a string takes whatever is written");
    text
}

struct Report<'a> {
    store: &'a Store,
    scope: &'a Scope,
    scene: &'a Scene,
}

impl Report<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        let layouts = self.at("layout").count;
        let frames = self.at("frame").count;
        let changes = self.at("change").count;
        writeln!(out, "{frames} frames, {changes} changes, {layouts} re-layouts\n")?;
        self.too_often(out)?;
        self.cached(out)?;
        self.caused(out)?;
        self.needless(out, layouts)
    }

    fn too_often(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "Which nodes are laid out too often?\n")?;
        writeln!(out, "{:>9} {:>9}  node", "laid out", "needless")?;
        let needless: HashMap<NodeId, u64> = self.nodes_at("needless").into_iter().collect();
        for (node, count) in self.nodes_at("layout").into_iter().take(TOP) {
            let needless = needless.get(&node).unwrap_or(&0);
            writeln!(out, "{count:>9} {needless:>9}  {}", self.scene.label(node))?;
        }
        writeln!(out)
    }

    fn cached(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "How many measures hit the cache?\n")?;
        for (what, site) in
            [("sizes requested", "recall_size"), ("layouts requested", "recall_layout")]
        {
            let Measure { count, failed, .. } = self.at(site);
            let hits = count - failed;
            writeln!(
                out,
                "{count:>9} {what}, {hits} answered by the cache ({})",
                percent(hits, count)
            )?;
        }
        let stores = self.at("store");
        writeln!(out, "{:>9} results stored, {} of them not kept", stores.count, stores.failed)?;
        writeln!(out, "{:>9} texts measured\n", self.at("measure").count)
    }

    fn caused(&self, out: &mut String) -> fmt::Result {
        writeln!(
            out,
            "Which changes caused which re-layouts? The last ones that were recorded:\n"
        )?;
        let Some(effects) = EffectsIndex::build(self.store, |_, _| true) else { return Ok(()) };
        let changes = self.store.backward(Position::End, &site("change"), TOP, usize::MAX).events;
        for change in changes {
            let name =
                change.subject.map_or_else(String::new, |subject| self.store.subject_text(subject));
            let linked = effects.effects(change.id);
            let frame =
                change.cause.map_or_else(Measure::default, |frame| self.under(frame, "layout"));
            let mut names: Vec<String> =
                linked.iter().rev().filter_map(|&id| self.name(id)).collect();
            names.dedup();
            names.truncate(3);
            writeln!(
                out,
                "{:>9} re-layouts link to the change of {name}\n          out of {} in its frame: {} …",
                linked.len(),
                frame.count,
                names.join(", "),
            )?;
        }
        writeln!(out)
    }

    fn needless(&self, out: &mut String, layouts: u64) -> fmt::Result {
        writeln!(out, "Which re-layouts should not have happened?\n")?;
        let nodes = self.nodes_at("needless");
        let all: u64 = nodes.iter().map(|(_, count)| count).sum();
        writeln!(
            out,
            "{all:>9} of {layouts} ({}): nothing changed at, below or above the node, and the answer was known",
            percent(all, layouts)
        )?;
        let mut kinds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (node, count) in nodes {
            let (nodes, counts) = kinds.entry(self.kind(node)).or_default();
            *nodes += 1;
            *counts += count;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
        for (kind, (nodes, count)) in kinds.into_iter().take(TOP) {
            writeln!(out, "{count:>9} of {nodes} × {kind}")?;
        }
        Ok(())
    }

    /// Describes the box of a node.
    fn kind(&self, node: NodeId) -> String {
        let it = &self.scene[node];
        let height = it.place.size.height;
        match it.children.len() {
            0 if it.text().is_none() && height == 0.0 => {
                format!("<{}> that is empty and 0 px high", it.tag)
            }
            0 => format!("<{}>", it.tag),
            _ => format!("<{}> with boxes in it", it.tag),
        }
    }

    /// All calls at a site.
    fn at(&self, name: &str) -> Measure {
        let scope =
            Scope { filter: self.scope.filter.clone().and(site(name)), ..self.scope.clone() };
        self.store
            .tally(By::Site, &scope)
            .rows
            .first()
            .map_or_else(Measure::default, |row| row.measure)
    }

    /// The calls at a site that an event led to.
    fn under(&self, event: EventId, name: &str) -> Measure {
        let scope = Scope { filter: site(name), under: Some(event), ..Scope::default() };
        self.store
            .tally(By::Site, &scope)
            .rows
            .first()
            .map_or_else(Measure::default, |row| row.measure)
    }

    /// The nodes of this scene at a site, most calls first.
    fn nodes_at(&self, name: &str) -> Vec<(NodeId, u64)> {
        let scope =
            Scope { filter: self.scope.filter.clone().and(site(name)), ..self.scope.clone() };
        let kind = self.scene.subject(self.scene.root()).kind;
        let rows = self.store.tally(By::Subject, &scope).rows.into_iter();
        let ours = rows.filter_map(|row| {
            row.subject.filter(|of| of.kind == kind).map(|of| (of, row.measure.count))
        });
        let mut nodes: Vec<_> =
            ours.map(|(subject, count)| (NodeId::from(subject.key), count)).collect();
        nodes.sort_by_key(|&(node, count)| (std::cmp::Reverse(count), u64::from(node)));
        nodes
    }

    /// The subject of an event.
    fn name(&self, event: EventId) -> Option<String> {
        Some(self.store.subject_text(self.store.event(event)?.subject?))
    }
}

/// The filter of one site of the tree.
fn site(name: &str) -> Filter {
    format!("site:Scene::{name}").parse().expect("the name of a site makes a filter")
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}
