//! Names that still have a type parameter: the symbols of a generic implementation name it as the
//! source does.

/// True if a name has a type parameter, such as `a::G<T>` and `&T`. It then stands for several
/// types.
///
/// A type has a whole path, and only primitives and words of the language have none.
pub(super) fn has_parameter(name: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = name;
    let mut before = "";
    while let Some(at) = rest.find(is_of_word) {
        before = if at == 0 { before } else { &rest[..at] };
        let word = rest[at..].split(|letter: char| !is_of_word(letter)).next().unwrap_or_default();
        rest = &rest[at + word.len()..];
        let is_of_path = before.ends_with("::") || rest.starts_with("::");
        // Lifetimes, letters, names of associated types, and names of the compiler, such as
        // `{closure#0}`.
        let is_other =
            before.ends_with(['\'', '"', '{', '#']) || rest.trim_start().starts_with('=');
        if !is_of_path && !is_other && !is_known(word) {
            return true;
        }
    }
    false
}

/// True for a primitive, a number, and a word of the language.
fn is_known(word: &str) -> bool {
    const WORDS: [&str; 30] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f16", "f32", "f64", "f128", "bool", "char", "str", "dyn", "fn", "mut", "const", "as",
        "for", "impl", "unsafe", "extern", "true", "false",
    ];
    word.starts_with(|first: char| first.is_ascii_digit()) || WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::has_parameter;

    #[test]
    fn a_word_without_a_path_is_a_parameter() {
        for name in [
            "T",
            "&T",
            "gt::G<T>",
            "[T; 3]",
            "[u8; N]",
            "a::G<a::B, (u8, K)>",
            "<T as a::Tr>::Item",
            "&'a T",
        ] {
            assert!(has_parameter(name), "{name}");
        }
    }

    #[test]
    fn a_whole_type_has_none() {
        for name in [
            "u8",
            "&str",
            "&mut [u64; 9]",
            "gt::G<[u64; 9]>",
            "gt::G<gt::r#type::B, -4>",
            "a::G<'x', true>",
            "alloc::boxed::Box<dyn core::ops::function::Fn(&'a u8) -> bool + core::marker::Send>",
            "dyn core::iter::traits::iterator::Iterator<Item = u8>",
            "alloc::boxed::Box<dyn core::iter::Iterator<Item=u8>, alloc::alloc::Global>",
            "for<'a> unsafe extern \"C\" fn(&'a u8, ...) -> *const i8",
            "arr::main::{closure#0}::{closure_env#1}<u8>",
            "arr::main::{{closure}}::{{closure}}",
            "a::f::{impl#2}::{async_fn_env#0}",
            "()",
        ] {
            assert!(!has_parameter(name), "{name}");
        }
    }
}
