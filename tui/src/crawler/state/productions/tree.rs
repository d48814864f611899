//! The productions as a tree: from the start rule down, in the order in which they refer to each other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metaspy_core::store::{By, Filter, Measure, Scope};
use metaspy_core::{SiteId, SiteKind, Store, Subject};

use crate::crawler::state::table::TableRow;

/// The kind of the subjects that stand for productions. Their keys are the numbers of their sites; the one with key 0
/// is the grammar, which refers to the rule that it starts with.
const KIND: &str = "Production";
/// How they are related.
const REFERS_TO: &str = "refers to";

/// The kind of the subjects whose labels say why a production never matched, by the number of its site.
const SHADOW: &str = "Shadow";

/// What was read of the productions.
pub struct Tree {
    /// A row for each branch.
    pub rows: Arc<Vec<TableRow>>,
    /// The tree from the start rule; then what it does not reach; at last what no run can reach.
    pub branches: Arc<Vec<Branch>>,
    /// What takes the place of productions that never matched.
    pub shadows: Arc<HashMap<SiteId, String>>,
    /// Whether every number is exact.
    pub exact: bool,
}

/// A place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The production.
    pub site: SiteId,
    /// The place in the tree of the branch that it hangs under.
    pub under: Option<usize>,
    /// Whether it is the last one there.
    pub is_last: bool,
    /// Whether the production stands further up already, with all that it refers to.
    pub again: bool,
}

impl Tree {
    /// Reads the productions, and counts the activations that pass the filter.
    pub fn read(store: &Store, filter: Filter) -> Self {
        let productions = store.sites().iter().filter(|site| site.kind == SiteKind::Production);
        let (skipped, in_use): (Vec<_>, Vec<_>) = productions.partition(|site| site.skipped.is_some());
        let in_use: Vec<SiteId> = in_use.iter().map(|site| site.id).collect();
        let kind = store.kinds().find(|kind| kind.name == KIND).map(|kind| kind.id);
        let mut branches = grow(&in_use, |production| {
            let Some(kind) = kind else { return Vec::new() };
            let subject = Subject::new(kind, production.map_or(0, |site| site.0.into()));
            let relations = store.relations_of(subject).into_iter();
            let relations = relations.filter(|it| it.name == REFERS_TO && it.from == subject && it.to.kind == kind);
            relations.filter_map(|it| u32::try_from(it.to.key).ok().map(SiteId)).collect()
        });
        branches.extend(skipped.iter().map(|site| Branch::root(site.id)));

        let tally = store.tally(By::Site, &Scope { filter, ..Scope::default() });
        let counted: HashMap<SiteId, Measure> =
            tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
        let row = |branch: &Branch| TableRow {
            site: Some(branch.site),
            subject: None,
            measure: counted.get(&branch.site).copied().unwrap_or_default(),
            delta: None,
        };
        let rows = Arc::new(branches.iter().map(row).collect());
        let shadow = store.kinds().find(|kind| kind.name == SHADOW).map(|kind| kind.id);
        let why = |branch: &Branch| {
            let label = store.label(Subject::new(shadow?, branch.site.0.into()))?;
            Some((branch.site, label.to_owned()))
        };
        let shadows = Arc::new(branches.iter().filter_map(why).collect());
        Tree { rows, branches: Arc::new(branches), shadows, exact: tally.exact }
    }
}

impl Branch {
    fn root(site: SiteId) -> Self {
        Branch { site, under: None, is_last: true, again: false }
    }

    /// The lines of the tree before its name, `│ └ `: so many levels at most, the innermost ones, and `…` for the others.
    pub fn guide(&self, tree: &[Branch], levels: usize) -> String {
        let mut lines = Vec::new();
        let mut branch = self;
        while let Some(under) = branch.under.filter(|_| lines.len() < levels) {
            lines.push(match (lines.is_empty(), branch.is_last) {
                (true, true) => "└ ",
                (true, false) => "├ ",
                (false, true) => "  ",
                (false, false) => "│ ",
            });
            branch = &tree[under];
        }
        if let (Some(outermost), true) = (lines.last_mut(), branch.under.is_some()) {
            *outermost = "… ";
        }
        lines.into_iter().rev().collect()
    }
}

/// Grows the tree over all productions in use, depth first. `refers_to` says what a production refers to, and for
/// `None` what the grammar starts with.
///
/// A production that is met again gets no children, so that recursion ends; one that is met never becomes a root.
fn grow(in_use: &[SiteId], refers_to: impl Fn(Option<SiteId>) -> Vec<SiteId>) -> Vec<Branch> {
    let known: HashSet<SiteId> = in_use.iter().copied().collect();
    let children = |of| refers_to(of).into_iter().filter(|site| known.contains(site)).collect::<Vec<_>>();
    let (mut tree, mut met) = (Vec::new(), HashSet::new());
    for root in children(None).into_iter().chain(in_use.iter().copied()) {
        if met.contains(&root) {
            continue;
        }
        let mut next = vec![Branch::root(root)];
        while let Some(mut branch) = next.pop() {
            branch.again = !met.insert(branch.site);
            if !branch.again {
                let (under, children) = (Some(tree.len()), children(Some(branch.site)));
                let last = children.len().saturating_sub(1);
                let hang = |(at, site)| Branch { site, under, is_last: at == last, again: false };
                next.extend(children.into_iter().enumerate().rev().map(hang));
            }
            tree.push(branch);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the tree of productions that are called by numbers: `0` before the colon is the grammar.
    fn check(in_use: &[u32], refers_to: &[(u32, &[u32])], expected: &str) {
        let in_use: Vec<SiteId> = in_use.iter().copied().map(SiteId).collect();
        let tree = grow(&in_use, |of| {
            let of = of.map_or(0, |site| site.0);
            refers_to
                .iter()
                .filter(|(from, _)| *from == of)
                .flat_map(|(_, to)| to.iter().copied().map(SiteId))
                .collect()
        });
        let line = |branch: &Branch| {
            let again = if branch.again { "↑" } else { "" };
            format!("{}{again}{}\n", branch.guide(&tree, 9), branch.site.0)
        };
        assert_eq!(tree.iter().map(line).collect::<String>(), expected);
    }

    #[test]
    fn without_relations_the_tree_is_flat() {
        check(&[3, 1, 2], &[], "3\n1\n2\n");
    }

    #[test]
    fn the_tree_begins_with_the_start_rule_and_ends_where_it_comes_back() {
        let refers_to: &[(u32, &[u32])] = &[(0, &[2]), (2, &[3, 4]), (3, &[2, 4]), (4, &[4])];
        check(&[1, 2, 3, 4], refers_to, "2\n├ 3\n│ ├ ↑2\n│ └ 4\n│   └ ↑4\n└ ↑4\n1\n");
    }

    #[test]
    fn what_is_not_in_use_is_passed_over() {
        check(&[1, 2], &[(0, &[9, 1]), (1, &[8, 2, 7])], "1\n└ 2\n");
    }

    #[test]
    fn no_depth_is_too_deep() {
        let in_use: Vec<SiteId> = (1..200_000).map(SiteId).collect();
        let tree = grow(&in_use, |of| vec![SiteId(of.map_or(1, |site| site.0 + 1))]);
        assert_eq!(tree.len(), in_use.len());
        assert_eq!(tree[3].guide(&tree, 3), "    └ ");
        assert_eq!(tree[tree.len() - 1].guide(&tree, 4), "…     └ ");
    }
}
