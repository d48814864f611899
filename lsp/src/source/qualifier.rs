//! Qualifier of a call: a receiver, or a type, trait or module, as `Arc` in `Arc::new(…)`.

/// Maximum length of the type arguments before a call, in characters. Longer arguments are not
/// read.
const LONGEST: usize = 1_000;

/// Qualifier before the name of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier<'t> {
    /// A call without a qualifier.
    None,
    /// Receiver with a dot.
    Receiver,
    /// Type parameter, which may be any type.
    Parameter,
    /// Last name of a path, or the trait of `<T as Trait>`.
    Name(&'t str),
    /// Type without a name, such as `<[T]>`.
    Unknown,
}

impl Qualifier<'_> {
    /// Returns the qualifier of a call whose name follows this text.
    pub fn before(text: &str) -> Qualifier<'_> {
        let text = text.trim_end();
        let Some(path) = text.strip_suffix("::").map(str::trim_end) else {
            let is_method = text.ends_with('.') && !text.ends_with("..");
            return if is_method { Qualifier::Receiver } else { Qualifier::None };
        };
        let Some(path) = named(path) else { return Qualifier::Unknown };
        let letters =
            path.chars().rev().take_while(|&letter| letter.is_alphanumeric() || letter == '_');
        match path.len() - letters.map(char::len_utf8).sum::<usize>() {
            start if start == path.len() => Qualifier::Unknown,
            start => Qualifier::Name(&path[start..]),
        }
    }

    /// Returns true if the call may run the function with this path. Its type, its trait or a
    /// module around it must have the name.
    pub(crate) fn may_be_of(self, path: &str) -> bool {
        // The path ends with the type, the trait and the name of the function.
        let mut around = path.rsplit("::").skip(1);
        match self {
            Qualifier::None | Qualifier::Receiver | Qualifier::Parameter => true,
            Qualifier::Name("Self" | "self" | "super" | "crate") => true,
            Qualifier::Name(name) if name.starts_with(char::is_uppercase) => {
                around.take(2).any(|segment| segment == name)
            }
            Qualifier::Name(name) => around.any(|segment| segment == name),
            Qualifier::Unknown => false,
        }
    }
}

/// Removes the type arguments from the end of a path.
fn named(path: &str) -> Option<&str> {
    if !path.ends_with('>') {
        return Some(path);
    }
    let mut depth = 0_i32;
    let open = path.char_indices().rev().take(LONGEST).find_map(|(at, letter)| {
        depth += match letter {
            '>' if !path[..at].ends_with('-') => 1,
            '<' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    })?;
    let before = path[..open].trim_end();
    let before = before.strip_suffix("::").unwrap_or(before).trim_end();
    if before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
        return Some(before);
    }
    let (_, of_trait) =
        path[open..path.len() - 1].split_once(" as ").filter(|(_, of)| !of.contains(" as "))?;
    of_trait.split('<').next().map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qualifier_is_the_last_name_before_a_call() {
        let check = |text: &str, expected| assert_eq!(Qualifier::before(text), expected, "{text}");
        for text in ["f(", "0..", "= ", ""] {
            check(text, Qualifier::None);
        }
        check("f(a) . ", Qualifier::Receiver);
        check("= std::sync::Arc::", Qualifier::Name("Arc"));
        check("Vec::<fn(u8) -> u8>::", Qualifier::Name("Vec"));
        check("(<Circle as a::Shape<u8>>::", Qualifier::Name("Shape"));
        check("(<[u8]>::", Qualifier::Unknown);
        check("(<T as A<<U as B>::C>>::", Qualifier::Unknown);
    }

    #[test]
    fn a_call_is_of_its_type_its_trait_or_its_module() {
        let check = |name, path, expected| {
            assert_eq!(Qualifier::Name(name).may_be_of(path), expected, "{name} {path}")
        };
        for name in ["Circle", "Shape", "shapes", "Self", "crate"] {
            check(name, "kit::shapes::Circle::Shape::area", true);
        }
        check("Arc", "kit::Hold::new", false);
        check("Hold", "kit::Hold::new::inner::f", false);
        check("mem", "kit::swap", false);
    }
}
