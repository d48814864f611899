//! Short distinct names of types.

use metaspy_report::text::percent;
use metaspy_report::types::{Arrived, short_name};

use crate::markdown::Text;

/// Maximum number of listed types.
const TYPES: usize = 5;

/// Adds types with their shares, the most frequent first: `Circle 66.7 %, Square 33.3 %`.
pub fn shares(mut text: Text, types: &[Arrived]) -> Text {
    let all: u64 = types.iter().map(|one| one.count).sum();
    let named = named(types);
    for (at, (name, count)) in named.iter().take(TYPES).enumerate() {
        text = text
            .words(if at > 0 { ", " } else { "" })
            .name(name)
            .words(&format!(" {}", percent(*count, all)));
    }
    if named.len() > TYPES {
        text = text.words(&format!(", {} more", named.len() - TYPES));
    }
    text
}

/// Returns short names of types that distinguish them.
///
/// A name is the last segment or the variant, with type arguments or with the whole path where that
/// is not enough. Types with the same path, which arrived behind different pointers, are merged.
pub fn named(types: &[Arrived]) -> Vec<(String, u64)> {
    let mut distinct: Vec<(&Arrived, u64)> = Vec::new();
    for one in types {
        match distinct.iter_mut().find(|(known, _)| known.text() == one.text()) {
            Some((_, count)) => *count += one.count,
            None => distinct.push((one, one.count)),
        }
    }
    distinct.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let is_shared = |name: &str, of: fn(&Arrived) -> String| {
        distinct.iter().filter(|(other, _)| of(other) == name).count() > 1
    };
    let name = |one: &Arrived| {
        let forms: [fn(&Arrived) -> String; 2] = [shortest, with_arguments];
        let found = forms
            .into_iter()
            .map(|form| (form, form(one)))
            .find(|(form, name)| !is_shared(name, *form));
        found.map_or_else(|| one.text(), |(_, name)| name)
    };
    distinct.iter().map(|(one, count)| (name(one), *count)).collect()
}

fn shortest(one: &Arrived) -> String {
    one.variant.clone().unwrap_or_else(|| short_name(&one.name).to_owned())
}

/// Returns the type without the paths of its names: `Vec<Circle>` for `alloc::vec::Vec<a::Circle>`.
fn with_arguments(one: &Arrived) -> String {
    let whole = one.text();
    // The variant is not a part of the type's path.
    let end = one.variant.as_ref().map_or(whole.len(), |variant| whole.len() - variant.len() - 2);
    let mut short = String::new();
    let mut begin = 0;
    let mut rest = &whole[..end];
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("::") && begin < short.len() {
            short.truncate(begin);
            rest = &rest[2..];
            continue;
        }
        short.push(letter);
        if !letter.is_alphanumeric() && letter != '_' {
            begin = short.len();
        }
        rest = &rest[letter.len_utf8()..];
    }
    short + &whole[end..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::Style;

    /// Checks types (name, variant, count).
    fn check(types: &[(&str, &str, u64)], expected: &str) {
        let arrived = |&(name, variant, count): &(&str, &str, u64)| Arrived {
            name: name.to_owned(),
            variant: Some(variant.to_owned()).filter(|variant| !variant.is_empty()),
            count,
            ..Arrived::default()
        };
        let types: Vec<Arrived> = types.iter().map(arrived).collect();
        assert_eq!(shares(Text::new(Style::Plain), &types).finish(), expected);
    }

    #[test]
    fn a_name_is_as_long_as_needed() {
        check(&[("a::Circle", "", 3), ("a::Square<u8>", "", 1)], "Circle 75.0 %, Square 25.0 %");
        check(
            &[("s::Arc<a::X>", "", 1), ("s::Arc<dyn b::Y>", "", 1)],
            "Arc<X> 50.0 %, Arc<dyn Y> 50.0 %",
        );
        check(&[("a::X", "", 1), ("b::X", "", 1)], "a::X 50.0 %, b::X 50.0 %");
        check(
            &[("o::Option<a::X>", "None", 1), ("o::Option<Y>", "None", 3)],
            "Option<Y>::None 75.0 %, Option<X>::None 25.0 %",
        );
        check(&[("(a::X, &[b::Y])", "", 1)], "(a::X, &[b::Y]) 100.0 %");
    }

    #[test]
    fn a_type_behind_different_pointers_is_one() {
        check(&[("a::X", "", 1), ("a::X", "", 1)], "X 100.0 %");
        let many: Vec<String> = (0..7).map(|number| format!("T{number}")).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), "", 1)).collect();
        check(&many, "T0 14.3 %, T1 14.3 %, T2 14.3 %, T3 14.3 %, T4 14.3 %, 2 more");
    }
}
