//! Removal of generic arguments from names, so that all instances of a function are a single row.

/// Removes generic arguments: `sort::<u8>` and `sort<u8>` become `sort`.
///
/// The type of a method remains: `<Vec<T> as Drop>::drop` becomes `<Vec as Drop>::drop`.
pub fn without_arguments(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    // Depth of brackets that are being removed.
    let mut depth = 0_usize;
    let mut before = ' ';
    for letter in name.chars() {
        let is_arrow = letter == '>' && matches!(before, '-' | '=');
        match letter {
            '<' if depth > 0 => depth += 1,
            // A bracket behind a name opens arguments; elsewhere it opens a type. C++ has operators
            // with these characters.
            '<' if is_behind_name(&plain) => {
                plain.truncate(plain.trim_end_matches("::").len());
                depth = 1;
            }
            '>' if depth > 0 && !is_arrow => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
        before = letter;
    }
    // A truncated name keeps its arguments.
    if depth == 0 { plain } else { name.to_owned() }
}

fn is_behind_name(plain: &str) -> bool {
    let name = plain.strip_suffix("::").unwrap_or(plain);
    let is_name =
        name.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '}'));
    is_name && !name.ends_with("operator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_have_one_name_and_types_of_methods_stay() {
        let cases = [
            ("core::slice::sort::<u8>", "core::slice::sort"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("<alloc::vec::Vec<T, A> as Drop>::drop", "<alloc::vec::Vec as Drop>::drop"),
            ("<u64>::wrapping_mul", "<u64>::wrapping_mul"),
            ("map::<u8, fn(u8) -> Vec<u8>>::{closure#0}", "map::{closure#0}"),
            ("app::run::{closure#0}::<Scene>", "app::run::{closure#0}"),
            ("operator<<", "operator<<"),
            ("std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back"),
            ("cut<Vec<u8", "cut<Vec<u8"),
            ("a->b", "a->b"),
        ];
        for (name, plain) in cases {
            assert_eq!(without_arguments(name), plain);
        }
    }
}
