//! The traits that the declared type of a parameter names.

/// Traits without methods, which leave open as much as no trait.
const MARKERS: [&str; 6] = ["Send", "Sync", "Sized", "Unpin", "UnwindSafe", "RefUnwindSafe"];

/// The paths of the traits behind the first `dyn` or `impl` of a type, without markers and
/// lifetimes.
pub(super) fn of(declared: &str) -> Vec<&str> {
    let at =
        ["dyn ", "impl "].iter().filter_map(|word| Some(declared.find(word)? + word.len())).min();
    let Some(rest) = at.map(|at| &declared[at..]) else { return Vec::new() };
    let mut depth = 0_i32;
    let mut last = ' ';
    let bounds = &rest[..rest
        .find(|letter| {
            let is_arrow = std::mem::replace(&mut last, letter) == '-';
            match letter {
                '<' | '(' | '[' => depth += 1,
                '>' if is_arrow => {}
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            depth < 0 || depth == 0 && letter == ','
        })
        .unwrap_or(rest.len())];
    // A `+` in type arguments is behind the name of a trait, and its parts are no names of woven
    // traits.
    let path =
        |bound: &'_ str| bound.trim().split(['<', '(', ' ']).next().unwrap_or_default().len();
    let paths = bounds.split('+').map(|bound| &bound.trim()[..path(bound)]);
    paths.filter(|path| !path.starts_with(['\'', '?']) && !MARKERS.contains(path)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_traits_of_a_declared_type_are_found() {
        let check = |declared: &str, expected: &str| {
            assert_eq!(super::of(declared).join(" "), expected, "{declared}")
        };
        check("&dyn Shape", "Shape");
        check("Option<Box<dyn a::Shape + Send + 'static>>", "a::Shape");
        check("impl IntoEdges + Visitable + ?Sized", "IntoEdges Visitable");
        check("&(dyn Conv<u64> + Send)", "Conv");
        check("impl Fn(u8) -> u8 + Clone", "Fn Clone");
        check("T", "");
    }
}
