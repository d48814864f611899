//! Relations: events of the same subject, effects of the same cause, and the relations of a
//! subject.

use std::collections::HashSet;

use metaspy_probe::Subject;
use metaspy_reader::{Event, Relation, Store};
use metaspy_report::text::grouped;

use super::row::{Content, PaneRow, indent};
use crate::crawler::state::name;

/// Relation from a subject to its owner.
const OWNER: &str = "owner";
/// Relation between subjects with the same owner.
const SIBLING: &str = "sibling";
/// Maximum number of rows of each sort.
const SHOWN: usize = 100;
/// Maximum number of owners in a chain.
const DEPTH: usize = 64;

/// Lists the events of the same subject, around the selected event.
pub(crate) fn same_subject(store: &Store, event: &Event, same: Option<&[Event]>) -> Vec<PaneRow> {
    let Some(subject) = event.subject else {
        return vec![PaneRow::plain(Content::Note("this event has no subject".into()))];
    };
    let title = Content::Title(name::subject(store, subject));
    let Some(same) = same else {
        return vec![
            PaneRow::plain(title),
            PaneRow::plain(Content::Note("reading its events …".into())),
        ];
    };
    let rows = same.iter().map(|other| {
        if other.id == event.id { Content::Current(*other) } else { Content::Event(*other) }
    });
    std::iter::once(title).chain(rows).map(PaneRow::plain).collect()
}

/// Lists the other effects of the event's cause.
pub fn siblings(store: &Store, event: &Event) -> Vec<PaneRow> {
    let Some(cause) = event.cause else {
        return vec![PaneRow::plain(Content::Note("a root: no cause, so no siblings".into()))];
    };
    let ids = store.effects(cause);
    let title = format!("effects of the same cause  {}", grouped(ids.len() as u64));
    let mut rows = vec![PaneRow::plain(Content::Title(title))];
    // The list is centred on the event, because there may be many effects.
    let at = ids.iter().position(|&id| id == event.id).unwrap_or(0);
    let from = at.saturating_sub(SHOWN / 2);
    let events = ids.iter().skip(from).take(SHOWN).filter_map(|&id| store.event(id));
    let row = |other: Event| {
        if other.id == event.id { Content::Current(other) } else { Content::Event(other) }
    };
    rows.extend(events.map(row).map(PaneRow::plain));
    rows.extend(more(ids.len()));
    rows
}

/// Lists the owners of a subject, its siblings, and every other relation.
pub fn of_subject(store: &Store, subject: Subject) -> Vec<PaneRow> {
    let relations = store.relations_of(subject);
    if relations.is_empty() {
        return vec![PaneRow::plain(Content::Note("the domain states no relation of it".into()))];
    }
    let mut rows = Vec::new();
    let mut section = |title: String, subjects: &mut dyn Iterator<Item = PaneRow>| {
        if !rows.is_empty() {
            rows.push(PaneRow::plain(Content::Blank));
        }
        rows.push(PaneRow::plain(Content::Title(title)));
        rows.extend(subjects);
    };
    let plain = |subject| PaneRow::plain(Content::Subject(subject));
    let owners = owners(store, subject);
    if !owners.is_empty() {
        // The outermost owner comes first, as in all trees.
        let chain = owners.iter().rev().chain([&subject]).enumerate();
        let row = |(depth, &owner): (usize, &Subject)| PaneRow {
            indent: indent(depth.min(8), std::iter::empty()),
            content: Content::Subject(owner),
        };
        section("owners".into(), &mut chain.map(row));
    }
    let named = named_without_owner(store, subject, &relations);
    for part in named.chunk_by(|a, b| a.0 == b.0) {
        let title = format!("{}  {}", part[0].0, grouped(part.len() as u64));
        section(
            title,
            &mut part.iter().take(SHOWN).map(|(_, other)| plain(*other)).chain(more(part.len())),
        );
    }
    let siblings = siblings_of(store, subject);
    if !siblings.is_empty() {
        let title = format!("siblings  {}", grouped(siblings.len() as u64));
        section(
            title,
            &mut siblings.iter().take(SHOWN).copied().map(plain).chain(more(siblings.len())),
        );
    }
    rows
}

/// Returns every relation of a subject, with a name that shows its direction.
pub fn named(store: &Store, subject: Subject) -> Vec<(String, Subject)> {
    let relations = store.relations_of(subject);
    let owner = relations.iter().filter(|it| it.name == OWNER && it.from == subject);
    let owner = owner.map(|it| (format!("{OWNER} →"), it.to));
    owner.chain(named_without_owner(store, subject, &relations)).collect()
}

/// Returns the relations of a subject except the relation to its owner. Relations that a profiler
/// names come first.
fn named_without_owner(
    store: &Store,
    subject: Subject,
    relations: &[Relation],
) -> Vec<(String, Subject)> {
    let mut named: Vec<(String, Subject)> = (relations.iter())
        .filter(|relation| {
            relation.name != SIBLING && !(relation.name == OWNER && relation.from == subject)
        })
        .map(|relation| {
            if relation.from == subject {
                (format!("{} →", relation.name), relation.to)
            } else {
                (format!("← {}", relation.name), relation.from)
            }
        })
        .collect();
    let chosen: HashSet<&str> =
        store.views().iter().flat_map(|view| &view.view.relations).map(String::as_str).collect();
    let is_chosen =
        |name: &str| chosen.contains(name.trim_start_matches("← ").trim_end_matches(" →"));
    named.sort_by(|a, b| is_chosen(&b.0).cmp(&is_chosen(&a.0)).then_with(|| a.cmp(b)));
    named
}

fn siblings_of(store: &Store, subject: Subject) -> Vec<Subject> {
    let mut seen = HashSet::from([subject]);
    let mut siblings = Vec::new();
    for relation in store.relations_of(subject) {
        let others = match relation.name.as_str() {
            SIBLING if relation.from == subject => vec![relation.to],
            SIBLING => vec![relation.from],
            OWNER if relation.from == subject => owned_by(store, relation.to),
            _ => continue,
        };
        siblings.extend(others.into_iter().filter(|&other| seen.insert(other)));
    }
    siblings.sort();
    siblings
}

fn owned_by(store: &Store, owner: Subject) -> Vec<Subject> {
    let relations = store.relations_of(owner).into_iter();
    relations
        .filter(|relation| relation.name == OWNER && relation.to == owner)
        .map(|relation| relation.from)
        .collect()
}

/// Returns the owner of a subject, the owner of that owner, and so on.
fn owners(store: &Store, subject: Subject) -> Vec<Subject> {
    let mut owners = Vec::new();
    let mut at = subject;
    while owners.len() < DEPTH {
        let relations = store.relations_of(at);
        let Some(owner) =
            relations.iter().find(|relation| relation.name == OWNER && relation.from == at)
        else {
            break;
        };
        if owner.to == subject || owners.contains(&owner.to) {
            break;
        }
        owners.push(owner.to);
        at = owner.to;
    }
    owners
}

fn more(count: usize) -> Option<PaneRow> {
    let more = count.checked_sub(SHOWN + 1)? + 1;
    Some(PaneRow::plain(Content::Note(format!("… and {} more", grouped(more as u64)))))
}
