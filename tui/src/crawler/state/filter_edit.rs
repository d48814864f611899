//! Editing of a filter's text: a term from a row replaces the term with the same key, and uses
//! short names.

use std::ops::Range;

use metaspy_probe::{SiteId, Subject, unqualified};
use metaspy_reader::{Filter, FilterError, RecordedLane, Selector, Store};
use metaspy_report::program::{Element, Key, Program};
use metaspy_report::text::short_type;

/// Replaces every term that has the same key as `term`. Terms that exclude elements stay.
pub(crate) fn with_term(filter: &Filter, term: &str) -> Result<Filter, FilterError> {
    let key = terms(term).first().and_then(|term| term.key);
    let kept = terms(filter.text())
        .into_iter()
        .filter(|term| term.excludes || term.key.is_none() || term.key != key);
    let line: Vec<&str> = kept.map(|term| term.text).chain([term]).collect();
    line.join(" ").parse()
}

/// Parses a line that a user typed. An unknown site is an error, but an unknown kind may still
/// appear.
pub fn checked(line: &str, store: &Store) -> Result<Filter, FilterError> {
    let filter: Filter = line.parse()?;
    match filter.check(store) {
        Ok(()) | Err(FilterError::NoSuchKind { .. }) => Ok(filter),
        Err(error) => Err(error),
    }
}

/// Returns the bytes of the first term that is wrong on its own; otherwise the whole line.
pub(crate) fn first_wrong_term(line: &str, is_right: impl Fn(&str) -> bool) -> Range<usize> {
    let wrong = terms(line).into_iter().find(|term| !is_right(term.text));
    wrong.map_or(0..line.len(), |term| {
        let from = term.text.as_ptr() as usize - line.as_ptr() as usize;
        from..from + term.text.len()
    })
}

/// Replaces `term` by a term that excludes its value: `-site:x`.
pub fn without(filter: &Filter, term: &str) -> Result<Filter, FilterError> {
    let excluded = format!("-{term}");
    let kept = terms(filter.text())
        .into_iter()
        .map(|term| term.text)
        .filter(|&text| text != term && text != excluded);
    let line: Vec<&str> = kept.chain([excluded.as_str()]).collect();
    line.join(" ").parse()
}

/// Returns the key of the first term that needs the event itself, so that it is unknown for calls
/// that left the window.
pub(crate) fn first_event_term(filter: &Filter) -> Option<&str> {
    const UNKNOWN: [&str; 4] = ["took", "cause", "lane", "level"];
    terms(filter.text()).into_iter().filter_map(|term| term.key).find(|key| UNKNOWN.contains(key))
}

/// Writes the term for a subject: `subject:Node:#5`. An ambiguous kind is written as its number.
pub(crate) fn subject_term(store: &Store, subject: Subject) -> String {
    let Subject { kind, key } = subject;
    let is_unambiguous = |name: &str| {
        let named = |of: &str| of == name || of.rsplit("::").next() == Some(name);
        let plain = !name.is_empty() && !name.contains('"') && name.parse::<u16>().is_err();
        plain && store.kinds().filter(|kind| named(&kind.name)).map(|kind| kind.id).eq([kind])
    };
    let name = store.kind(kind).map_or("", |kind| &kind.name);
    match [short_type(name), name].into_iter().find(|name| is_unambiguous(name)) {
        Some(name) => format!("subject:{}", quoted(&format!("{name}:#{key}"))),
        None => format!("subject:{}:#{key}", kind.0),
    }
}

/// Writes the term for a site, with as many of its last segments as are necessary to make it
/// unique.
pub(crate) fn site_term(store: &Store, site: SiteId) -> String {
    let path = &*unqualified(store.site_path(site));
    let is_unambiguous = |end: &str| {
        let ends_so = |path: &str| {
            path.strip_suffix(end).is_some_and(|at| at.is_empty() || at.ends_with("::"))
        };
        store.sites().iter().filter(|site| ends_so(&unqualified(&site.path))).count() == 1
    };
    let ends = path.rmatch_indices("::").map(|(at, _)| &path[at + 2..]);
    // These characters would turn the term into a pattern.
    let end =
        ends.filter(|end| !end.contains(['*', '<', '>', '"'])).find(|end| is_unambiguous(end));
    format!("site:{}", quoted(end.unwrap_or(path)))
}

/// Writes the term for an element of a program; `None` if no pattern selects exactly its methods.
pub(crate) fn element_term(store: &Store, program: &Program, at: usize) -> Option<String> {
    let element = program.elements.get(at)?;
    let path = match &element.key {
        Key::Method(of) => return Some(site_term(store, *of)),
        Key::Functions(_) => return None,
        Key::Package(path) | Key::Type(path) => path,
    };
    let within = format!("{path}::");
    let pattern: Selector =
        format!("{within}**").parse().ok().filter(|_| !path.contains(['*', '<', '>', '"']))?;
    // A pattern matches the end of a path, so it may also match in another crate.
    let mut meant = store.sites().iter().filter(|site| pattern.matches(&site.path));
    let is_own = meant.all(|site| unqualified(&site.path).starts_with(&within));
    // A method may be in a different module than its type, where the pattern does not match.
    let below = program.elements[at + 1..]
        .iter()
        .take_while(|other| other.under.is_some_and(|under| under >= at));
    let is_whole =
        below.filter_map(Element::site).all(|site| pattern.matches(store.site_path(site)));
    (is_own && is_whole).then(|| format!("site:{}", quoted(&pattern.to_string())))
}

/// Writes the term for a lane: the name of its thread, or its number if the name is ambiguous.
pub(crate) fn lane_term(store: &Store, lane: &RecordedLane) -> String {
    let only = store.lanes().iter().filter(|other| other.name == lane.name).count() == 1;
    let is_number = lane.name.trim_start_matches('#').parse::<u32>().is_ok();
    if only && !is_number && !lane.name.is_empty() && !lane.name.contains('"') {
        format!("lane:{}", quoted(&lane.name))
    } else {
        format!("lane:{}", lane.id.0)
    }
}

fn quoted(value: &str) -> String {
    if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value.to_owned() }
}

/// Term of a filter, as it was typed.
struct Term<'a> {
    excludes: bool,
    key: Option<&'a str>,
    text: &'a str,
}

/// Splits a filter into terms at spaces, but not between quotation marks.
fn terms(line: &str) -> Vec<Term<'_>> {
    let mut terms = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let excludes = rest.len() > 1 && rest.starts_with('-');
        let begin = usize::from(excludes);
        let key = rest[begin..].split_once(':').filter(|(name, behind)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase())
                && !behind.starts_with(':')
        });
        let key = key.map(|(name, _)| name);
        let value = begin + key.map_or(0, |name| name.len() + 1);
        let end = match rest[value..].strip_prefix('"') {
            Some(inside) => inside.find('"').map(|at| value + at + 2),
            None => rest[value..].find(char::is_whitespace).map(|at| value + at),
        };
        let end = end.unwrap_or(rest.len());
        terms.push(Term { excludes, key, text: &rest[..end] });
        rest = rest[end..].trim_start();
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &str, term: &str, expected: &str) {
        let filter: Filter = filter.parse().expect("a filter");
        assert_eq!(with_term(&filter, term).expect("a filter").text(), expected);
    }

    #[test]
    fn a_term_replaces_the_one_with_its_key() {
        check("", "subject:Node:#5", "subject:Node:#5");
        check("subject:Node:#5", "subject:Node:#5", "subject:Node:#5");
        check("subject:#1 took:>1ms word", "subject:Node:#5", "took:>1ms word subject:Node:#5");
        check(
            "site:a -site:b::c subject:\"the fox\"",
            "site:d",
            "-site:b::c subject:\"the fox\" site:d",
        );
    }

    #[test]
    fn the_first_wrong_term_is_found_by_its_place() {
        let wrong = |line: &str| {
            line[first_wrong_term(line, |term| term.parse::<Filter>().is_ok())].to_owned()
        };
        assert_eq!(wrong("site:a took:>1x outcome:bad"), "took:>1x");
        assert_eq!(wrong("site:a \"open"), "\"open");
    }

    #[test]
    fn an_excluded_term_takes_the_place_of_the_same_term() {
        let filter: Filter = "site:a took:>1ms".parse().expect("a filter");
        let without = without(&filter, "site:a").expect("a filter");
        assert_eq!(without.text(), "took:>1ms -site:a");
    }

    #[test]
    fn a_quoted_value_is_one_word() {
        check(
            "subject:\"site:x y\" \"site:z\"",
            "site:d",
            "subject:\"site:x y\" \"site:z\" site:d",
        );
    }

    #[test]
    fn terms_that_need_the_event_are_found() {
        let beyond = |text: &str| {
            text.parse::<Filter>().map(|filter| first_event_term(&filter).map(str::to_owned))
        };
        assert_eq!(beyond("site:x took:>1ms"), Ok(Some("took".into())));
        assert_eq!(beyond("site:x subject:#4 fox"), Ok(None));
        // The tallies contain the outcomes of all calls.
        assert_eq!(beyond("outcome:failed"), Ok(None));
        assert_eq!(beyond("outcome:failed took:>1ms"), Ok(Some("took".into())));
    }
}
