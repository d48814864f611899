//! The number of distinct objects that the calls of each element were about.

use std::collections::HashMap;

use metaspy_probe::{KindId, SiteId, Subject};
use metaspy_reader::TallyRow;

use super::element::{Element, Receivers};

/// Counts the objects of a recording, for the elements around a method as well: an object counts
/// once in each element.
///
/// An address does not identify an object: values move, and memory is used again. So places are
/// counted apart.
pub fn count(
    elements: &mut [Element],
    places: &HashMap<SiteId, usize>,
    rows: &[TallyRow],
    is_place: impl Fn(KindId) -> bool,
) {
    let mut known: Vec<(Subject, usize)> = Vec::with_capacity(rows.len());
    for row in rows {
        let Some((subject, &place)) = row.subject.zip(row.site.and_then(|site| places.get(&site)))
        else {
            continue;
        };
        if row.is_others() || is_place(subject.kind) {
            let mut at = Some(place);
            while let Some(element) = at.map(|at| &mut elements[at]) {
                element.receivers.is_least = true;
                at = element.under;
            }
        }
        if !row.is_others() {
            known.push((subject, place));
        }
    }
    known.sort_unstable();
    // The number of the last subject that each element was counted for.
    let mut counted = vec![0; elements.len()];
    let mut last = None;
    let mut number = 0;
    for (subject, place) in known {
        if last.replace(subject) != Some(subject) {
            number += 1;
        }
        let mut at = Some(place);
        // The elements around one that was counted were counted, too.
        while let Some(place) = at.filter(|&place| counted[place] != number) {
            counted[place] = number;
            let receivers = &mut elements[place].receivers;
            if is_place(subject.kind) {
                receivers.places += 1;
            } else {
                receivers.count += 1;
            }
            at = elements[place].under;
        }
    }
}

/// The receivers of the methods in an element, as far as they are known.
#[derive(Clone, Copy, Default)]
struct Within {
    /// The methods whose receivers were counted.
    methods: u32,
    /// The most receivers of a method, and the most places; lower bounds if those of any method are
    /// one, or unknown.
    most: Receivers,
    /// True if a profiler counted objects that the union lacks.
    is_apart: bool,
}

/// Gives each method the number that a profiler counted, if it knows more than the tally. The
/// profiler counted the objects of each method alone. So the number of the elements around is a
/// lower bound, unless only one method has receivers.
pub fn complete(elements: &mut [Element]) {
    let mut within = vec![Within::default(); elements.len()];
    for at in 0..elements.len() {
        let Some(method) = &elements[at].method else { continue };
        let tallied = elements[at].receivers;
        let known = match method.profile.receivers {
            Some(profiled) if profiled.is_least && tallied.magnitude() >= profiled.magnitude() => {
                tallied
            }
            Some(profiled) => profiled,
            None => tallied,
        };
        elements[at].receivers = known;
        let is_unknown = elements[at].has_unknown_receivers();
        let mut around = elements[at].under;
        while let Some(place) = around {
            let all = &mut within[place];
            all.methods += u32::from(known.magnitude() > 0);
            all.is_apart |= known != tallied;
            all.most.count = all.most.count.max(known.count);
            all.most.places = all.most.places.max(known.places);
            all.most.is_least |= known.is_least || is_unknown;
            around = elements[place].under;
        }
    }
    for (element, all) in
        elements.iter_mut().zip(within).filter(|(element, _)| element.method.is_none())
    {
        let union = element.receivers;
        element.receivers = match all.methods {
            0 => union,
            1 => all.most,
            _ => Receivers {
                count: union.count.max(all.most.count),
                places: union.places.max(all.most.places),
                is_least: union.is_least || all.most.is_least || all.is_apart,
            },
        };
    }
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Measure;

    use super::*;
    use crate::program::testing::{self, site, woven};
    use crate::program::{Builder, Identity};

    /// An address.
    const PLACE: KindId = KindId(9);

    /// Checks the receivers of each element, for rows of site, kind and key.
    fn check(rows: &[(u32, u16, u64)], expected: &[(&str, u64, bool)]) {
        let mut builder = Builder::new();
        let mut places = HashMap::new();
        for (id, path) in [(1, "a::b::Scene::measure"), (2, "a::b::Scene::paint"), (3, "a::frame")]
        {
            let place =
                builder.add_site(&site(id, path), &Measure::default()).expect("it is a method");
            places.insert(SiteId(id), place);
        }
        let row = |&(site, kind, key): &(u32, u16, u64)| TallyRow {
            site: Some(SiteId(site)),
            subject: Some(Subject::new(KindId(kind), key)),
            measure: Measure::default(),
        };
        count(&mut builder.elements, &places, &rows.iter().map(row).collect::<Vec<_>>(), |kind| {
            kind == PLACE
        });
        let found = builder.elements.iter().filter(|it| it.receivers != Default::default());
        let found: Vec<_> =
            found.map(|it| (it.name.as_str(), it.receivers.count, it.receivers.is_least)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_address_is_no_object() {
        check(
            &[(3, 9, 5), (3, 9, 6)],
            &[("a", 0, true), ("(functions)", 0, true), ("frame", 0, true)],
        );
        // A known number beside it is a lower bound.
        check(
            &[(3, 9, 5), (3, 1, 5)],
            &[("a", 1, true), ("(functions)", 1, true), ("frame", 1, true)],
        );
        let moved = Receivers { is_least: true, places: 21, ..Receivers::default() };
        assert_eq!(
            (moved.to_string(), moved.with_places(), moved.magnitude()),
            ("n/a".into(), "n/a (21 places)".into(), 21)
        );
    }

    #[test]
    fn an_object_counts_once_in_whatever_is_around() {
        check(
            &[(1, 1, 5), (2, 1, 5), (1, 1, 6), (3, 1, 5)],
            &[
                ("a", 2, false),
                ("b", 2, false),
                ("Scene", 2, false),
                ("measure", 2, false),
                ("paint", 1, false),
                ("(functions)", 1, false),
                ("frame", 1, false),
            ],
        );
    }

    #[test]
    fn the_same_key_of_another_kind_is_another_object() {
        check(
            &[(3, 1, 5), (3, 2, 5)],
            &[("a", 2, false), ("(functions)", 2, false), ("frame", 2, false)],
        );
    }

    /// Checks the receivers of a module and its types, from those that a profiler counted of each
    /// method.
    fn check_profiled(methods: &[(&str, &str, u64)], expected: &[&str]) {
        let sites: Vec<_> =
            methods.iter().map(|(path, facts, _)| (woven("a", path, facts), 1)).collect();
        let mut builder = testing::builder(&sites);
        for (path, _, count) in methods.iter().filter(|(.., count)| *count > 0) {
            let method = Identity::new(&format!("a::{path}"), "src/lib.rs", 1);
            let profile = builder.profile(&method).expect("the method is there");
            profile.receivers = Some(Receivers { count: *count, ..Receivers::default() });
        }
        let program = builder.build();
        let parts = program.elements.iter().filter(|element| element.method.is_none());
        let found: Vec<_> =
            parts.map(|part| format!("{} {}", part.path_text(), part.receivers)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_object_that_a_profiler_saw_in_two_methods_is_no_second_object() {
        check_profiled(
            &[("Book::open", "type=Book self=ref", 22), ("Book::read", "type=Book self=ref", 20)],
            &["a ≥22", "a::Book ≥22"],
        );
    }

    #[test]
    fn one_method_with_receivers_has_those_of_its_type() {
        check_profiled(
            &[("Book::open", "type=Book self=ref", 22), ("Book::new", "type=Book", 0)],
            &["a 22", "a::Book 22"],
        );
    }

    #[test]
    fn receivers_that_cannot_be_distinguished_make_the_number_a_lower_bound() {
        check_profiled(
            &[("Book::open", "type=Book self=ref", 22), ("Book::burn", "type=Book self=value", 0)],
            &["a ≥22", "a::Book ≥22"],
        );
    }

    #[test]
    fn subjects_without_a_row_make_the_number_a_lower_bound() {
        check(
            &[(3, 1, 5), (3, u16::MAX, 3), (9, 1, 7)],
            &[("a", 1, true), ("(functions)", 1, true), ("frame", 1, true)],
        );
    }
}
