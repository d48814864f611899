//! Texts with stars in them.

/// `*` stands for any letters. Going back to the last star is enough.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, text, is_so) in
            [("a*a", "a", false), ("a*a", "aa", true), ("*b*", "abc", true), ("a*b*c", "acb", false)]
        {
            assert_eq!(glob(pattern, text), is_so, "{pattern} {text}");
        }
    }
}
