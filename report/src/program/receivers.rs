//! The number of distinct objects that the calls of each element were about.

use std::collections::HashMap;

use metaspy_core::store::TallyRow;
use metaspy_core::{KindId, SiteId, Subject};

use super::element::Element;

/// Counts the objects of a recording, for the elements around a method as well: an object counts once in each element.
///
/// An address does not identify an object for long, so the number of addresses is a lower bound.
pub fn count(
    elements: &mut [Element],
    places: &HashMap<SiteId, usize>,
    rows: &[TallyRow],
    is_place: impl Fn(KindId) -> bool,
) {
    let mut known: Vec<(Subject, usize)> = Vec::with_capacity(rows.len());
    for row in rows {
        let Some((subject, &place)) = row.subject.zip(row.site.and_then(|site| places.get(&site))) else { continue };
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
            elements[place].receivers.count += 1;
            at = elements[place].under;
        }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_core::store::Measure;

    use super::*;
    use crate::program::Builder;
    use crate::program::testing::site;

    /// An address.
    const PLACE: KindId = KindId(9);

    /// Checks the receivers of each element, for rows of site, kind and key.
    fn check(rows: &[(u32, u16, u64)], expected: &[(&str, u64, bool)]) {
        let mut builder = Builder::new();
        let mut places = HashMap::new();
        for (id, path) in [(1, "a::b::Scene::measure"), (2, "a::b::Scene::paint"), (3, "a::frame")] {
            let place = builder.add_site(&site(id, path), &Measure::default()).expect("it is a method");
            places.insert(SiteId(id), place);
        }
        let row = |&(site, kind, key): &(u32, u16, u64)| TallyRow {
            site: Some(SiteId(site)),
            subject: Some(Subject::new(KindId(kind), key)),
            measure: Measure::default(),
        };
        count(&mut builder.elements, &places, &rows.iter().map(row).collect::<Vec<_>>(), |kind| kind == PLACE);
        let found = builder.elements.iter().filter(|it| it.receivers != Default::default());
        let found: Vec<_> = found.map(|it| (it.name.as_str(), it.receivers.count, it.receivers.is_least)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_address_may_have_been_several_objects() {
        check(&[(3, 9, 5)], &[("a", 1, true), ("(functions)", 1, true), ("frame", 1, true)]);
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
        check(&[(3, 1, 5), (3, 2, 5)], &[("a", 2, false), ("(functions)", 2, false), ("frame", 2, false)]);
    }

    #[test]
    fn subjects_without_a_row_make_the_number_a_lower_bound() {
        check(
            &[(3, 1, 5), (3, u16::MAX, 3), (9, 1, 7)],
            &[("a", 1, true), ("(functions)", 1, true), ("frame", 1, true)],
        );
    }
}
