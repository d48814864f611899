//! Names of the methods of slices, arrays, tuples, pointers and other types that have no name of
//! their own.

use std::borrow::Cow;
use std::format;

/// Writes the name of a method of such a type as Rust does: `<[S] as Point>::nth` for
/// `[S]::Point::nth`. Other names stay as they are.
pub fn qualified(name: &str) -> Cow<'_, str> {
    let Some((ty, rest)) = name.split_once("::").filter(|(ty, _)| is_nameless(ty)) else {
        return name.into();
    };
    match end_of_segment(rest) {
        Some(end) => format!("<{ty} as {}>{}", &rest[..end], &rest[end..]).into(),
        None => format!("<{ty}>::{rest}").into(),
    }
}

/// Writes a qualified path in segments: `page::[S]::Point::nth` for `page::<[S] as Point>::nth`.
/// Other paths stay as they are.
pub fn unqualified(path: &str) -> Cow<'_, str> {
    let begin = if path.starts_with('<') { Some(0) } else { path.find("::<").map(|at| at + 2) };
    let Some(begin) = begin else { return path.into() };
    let within = &path[begin + 1..];
    let Some(end) = end_of_owner(within).filter(|&end| is_nameless(&within[..end])) else {
        return path.into();
    };
    let before = &path[..begin];
    let owner = &within[..end];
    let rest = &within[end + 1..];
    match owner.split_once(" as ") {
        Some((ty, of_trait)) => format!("{before}{ty}::{of_trait}{rest}").into(),
        None => format!("{before}{owner}{rest}").into(),
    }
}

fn is_nameless(ty: &str) -> bool {
    ty.split('<').next().is_some_and(|name| name.contains(['[', '(', '*', '!']))
}

/// The end of the first segment, unless it is the last one. Type arguments belong to their segment.
fn end_of_segment(path: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in path.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !path[..at].ends_with('-') => depth = depth.saturating_sub(1),
            ':' if depth == 0 && path[at..].starts_with("::") => return Some(at),
            _ => {}
        }
    }
    None
}

/// The place of the `>` that closes the `<` before this text.
fn end_of_owner(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_without_a_name_is_qualified_and_a_selector_has_segments() {
        for (segments, written) in [
            ("[S]::Point::nth", "<[S] as Point>::nth"),
            ("(S,[T])::Point::nth", "<(S,[T]) as Point>::nth"),
            ("[S]::PartialEq<a::B<u8>>::eq", "<[S] as PartialEq<a::B<u8>>>::eq"),
            (
                "fn(u8)->aB::Call<fn()->S>::call::inner",
                "<fn(u8)->aB as Call<fn()->S>>::call::inner",
            ),
            ("*constu8::read", "<*constu8>::read"),
        ] {
            assert_eq!(qualified(segments), written);
            assert_eq!(unqualified(written), segments);
            assert_eq!(
                unqualified(&format!("page::inner::{written}")),
                format!("page::inner::{segments}")
            );
        }
        let others = [
            "measure",
            "Scene::Layout::measure",
            "S<[u8]>::From<(A,B)>::from",
            "Scene::measure::{closure#0}",
        ];
        for other in others {
            assert_eq!((qualified(other), unqualified(other)), (other.into(), other.into()));
        }
        for open in ["a::<b>::c", "<Scene as Layout>::measure", "a::<[S] as Point", "::<", "<"] {
            assert_eq!(unqualified(open), open);
        }
    }
}
