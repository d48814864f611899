//! How many distinct objects the calls of each element were about.

use metaspy_core::Subject;
use metaspy_core::store::TallyRow;

use super::builder::Grown;

/// Counts them, for what is around a method as well: there an object counts once, whatever method it was asked.
pub fn count(grown: &mut Grown, rows: &[TallyRow]) {
    let mut known: Vec<(Subject, usize)> = Vec::with_capacity(rows.len());
    for row in rows {
        let Some((subject, place)) = row.subject.zip(row.site.and_then(|site| grown.place(site))) else { continue };
        match row.is_others() {
            true => {
                let mut at = Some(place);
                while let Some(element) = at.map(|at| &mut grown.elements[at]) {
                    element.receivers.is_least = true;
                    at = element.under;
                }
            }
            false => known.push((subject, place)),
        }
    }
    known.sort_unstable();
    // The last subject that each element was counted for, as its place among them + 1.
    let mut counted = vec![0; grown.elements.len()];
    let mut last = None;
    let mut number = 0;
    for (subject, place) in known {
        if last.replace(subject) != Some(subject) {
            number += 1;
        }
        let mut at = Some(place);
        // What is around one that was counted was counted, too.
        while let Some(place) = at.filter(|&place| counted[place] != number) {
            counted[place] = number;
            grown.elements[place].receivers.count += 1;
            at = grown.elements[place].under;
        }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_core::store::{Measure, RecordedSite};
    use metaspy_core::{KindId, SiteId, SiteKind};

    use super::*;

    /// What the receivers of each element are, for rows of site, kind and key.
    fn check(rows: &[(u32, u16, u64)], expected: &[(&str, u64, bool)]) {
        let mut grown = Grown::default();
        for (id, path) in [(1, "a::b::Scene::measure"), (2, "a::b::Scene::paint"), (3, "a::frame")] {
            let (kind, file, facts) = (SiteKind::Method, String::new(), String::new());
            let site = RecordedSite {
                id: SiteId(id),
                kind,
                path: path.into(),
                file,
                lines: (1, 1),
                skipped: None,
                module: 0,
                facts,
            };
            grown.method(&site, Measure::default());
        }
        let row = |&(site, kind, key): &(u32, u16, u64)| TallyRow {
            site: Some(SiteId(site)),
            subject: Some(Subject::new(KindId(kind), key)),
            measure: Measure::default(),
        };
        count(&mut grown, &rows.iter().map(row).collect::<Vec<_>>());
        let found = grown.elements.iter().filter(|it| it.receivers != Default::default());
        let found: Vec<_> = found.map(|it| (it.name.as_str(), it.receivers.count, it.receivers.is_least)).collect();
        assert_eq!(found, expected);
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
    fn where_some_found_no_row_there_may_be_more() {
        check(
            &[(3, 1, 5), (3, u16::MAX, 3), (9, 1, 7)],
            &[("a", 1, true), ("(functions)", 1, true), ("frame", 1, true)],
        );
    }
}
