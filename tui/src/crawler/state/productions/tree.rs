//! Productions as a tree: from the start rule down, in the order in which they refer to each other.

use std::collections::{HashMap, HashSet};

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{By, Filter, Measure, Scope, Store};

/// Kind of the subjects that stand for productions. Their keys are the numbers of their sites. Key
/// 0 is the grammar, which refers to the rule that it starts with.
const KIND: &str = "Production";
/// Relation of a production to the productions that it refers to.
const REFERS_TO: &str = "refers to";

/// Kind of the subjects whose labels state why a production never matched, by the number of its
/// site.
const SHADOW: &str = "Shadow";

/// Productions of a grammar, from the start rule down.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Productions that the start rule reaches, then those that it does not reach, and last those
    /// that no run can reach.
    pub productions: Vec<Production>,
    /// Alternatives that take the place of productions that never matched.
    pub shadows: HashMap<SiteId, String>,
    /// True if every number is exact.
    pub exact: bool,
    /// True if all activations are counted, not only those that pass a filter.
    pub is_complete: bool,
}

/// Production, at one place of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Production {
    /// Site of the production.
    pub site: SiteId,
    /// Number and outcomes of its activations.
    pub measure: Measure,
    /// Index of the production that refers to it.
    pub parent: Option<usize>,
    /// True if it is the last child of its parent.
    pub is_last: bool,
    /// True if it already occurs further up in the tree, with all its references.
    pub again: bool,
}

impl Tree {
    /// Reads the productions, and counts the activations that pass the filter.
    pub fn read(store: &Store, filter: Filter) -> Self {
        let is_complete = filter.is_all();
        let productions = store.sites().iter().filter(|site| site.kind == SiteKind::Production);
        let (skipped, in_use): (Vec<_>, Vec<_>) =
            productions.partition(|site| site.skipped.is_some());
        let in_use: Vec<SiteId> = in_use.iter().map(|site| site.id).collect();
        let kind = store.kinds().find(|kind| kind.name == KIND).map(|kind| kind.id);
        let mut productions = build(&in_use, |production| {
            let Some(kind) = kind else { return Vec::new() };
            let subject = Subject::new(kind, production.map_or(0, |site| site.0.into()));
            let relations = store.relations_of(subject).into_iter();
            let relations = relations
                .filter(|it| it.name == REFERS_TO && it.from == subject && it.to.kind == kind);
            relations.filter_map(|it| u32::try_from(it.to.key).ok().map(SiteId)).collect()
        });
        productions.extend(skipped.iter().map(|site| Production::new(site.id, None)));

        let tally = store.tally(By::Site, &Scope { filter, ..Scope::default() });
        let counted: HashMap<SiteId, Measure> =
            tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
        for production in &mut productions {
            production.measure = counted.get(&production.site).copied().unwrap_or_default();
        }
        let shadow = store.kinds().find(|kind| kind.name == SHADOW).map(|kind| kind.id);
        let why = |production: &Production| {
            let label = store.label(Subject::new(shadow?, production.site.0.into()))?;
            Some((production.site, label.to_owned()))
        };
        let shadows = productions.iter().filter_map(why).collect();
        Tree { productions, shadows, exact: tally.exact, is_complete }
    }
}

impl Production {
    fn new(site: SiteId, parent: Option<usize>) -> Self {
        Production { site, measure: Measure::default(), parent, is_last: true, again: false }
    }
}

/// Builds the tree of all productions in use, depth first. `refers_to` returns the references of a
/// production; `None` stands for the grammar, which refers to the start rule.
///
/// A production that was visited before gets no children, so that recursion ends, and never becomes
/// a root.
fn build(in_use: &[SiteId], refers_to: impl Fn(Option<SiteId>) -> Vec<SiteId>) -> Vec<Production> {
    let known: HashSet<SiteId> = in_use.iter().copied().collect();
    let children =
        |of| refers_to(of).into_iter().filter(|site| known.contains(site)).collect::<Vec<_>>();
    let mut tree = Vec::new();
    let mut visited = HashSet::new();
    for root in children(None).into_iter().chain(in_use.iter().copied()) {
        if visited.contains(&root) {
            continue;
        }
        let mut next = vec![Production::new(root, None)];
        while let Some(mut production) = next.pop() {
            production.again = !visited.insert(production.site);
            if !production.again {
                let parent = Some(tree.len());
                let children = children(Some(production.site));
                let last = children.len().saturating_sub(1);
                next.extend(children.into_iter().enumerate().rev().map(|(at, site)| Production {
                    is_last: at == last,
                    ..Production::new(site, parent)
                }));
            }
            tree.push(production);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(productions: Vec<Production>) -> Tree {
        Tree { productions, ..Tree::default() }
    }

    /// Draws the tree of productions with numbers as names: `0` before the colon is the grammar.
    fn check(in_use: &[u32], refers_to: &[(u32, &[u32])], expected: &str) {
        let in_use: Vec<SiteId> = in_use.iter().copied().map(SiteId).collect();
        let tree = tree(build(&in_use, |from| {
            let from = from.map_or(0, |site| site.0);
            let references = refers_to.iter().filter(|(other, _)| *other == from);
            references.flat_map(|(_, to)| to.iter().copied().map(SiteId)).collect()
        }));
        let line = |(at, production): (usize, &Production)| {
            let again = if production.again { "↑" } else { "" };
            format!("{}{again}{}\n", tree.lines(at, 9), production.site.0)
        };
        assert_eq!(tree.productions.iter().enumerate().map(line).collect::<String>(), expected);
    }

    #[test]
    fn without_relations_the_tree_is_flat() {
        check(&[3, 1, 2], &[], "3\n1\n2\n");
    }

    #[test]
    fn the_tree_begins_with_the_start_rule_and_ends_at_repeated_productions() {
        let refers_to: &[(u32, &[u32])] = &[(0, &[2]), (2, &[3, 4]), (3, &[2, 4]), (4, &[4])];
        check(&[1, 2, 3, 4], refers_to, "2\n├ 3\n│ ├ ↑2\n│ └ 4\n│   └ ↑4\n└ ↑4\n1\n");
    }

    #[test]
    fn productions_that_are_not_in_use_are_left_out() {
        check(&[1, 2], &[(0, &[9, 1]), (1, &[8, 2, 7])], "1\n└ 2\n");
    }

    #[test]
    fn no_depth_is_too_deep() {
        let in_use: Vec<SiteId> = (1..200_000).map(SiteId).collect();
        let tree = tree(build(&in_use, |from| vec![SiteId(from.map_or(1, |site| site.0 + 1))]));
        assert_eq!(tree.productions.len(), in_use.len());
        assert_eq!(tree.lines(3, 3), "    └ ");
        assert_eq!(tree.lines(tree.productions.len() - 1, 4), "…     └ ");
    }
}
