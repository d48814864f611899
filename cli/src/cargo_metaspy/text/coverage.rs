//! What is covered: ratios, the patterns of SPY, and what always returns the same.

use crate::cargo_metaspy::results::{Example, Package, Ran, Ratio, Type, constants, patterns};
use crate::cargo_metaspy::text::numbers::percent;

/// Methods that are named of a type.
const NAMED: usize = 5;

/// Ratios of methods and types, by crate, and who shows which pattern: so many types of each, or all for 0.
pub fn lines(packages: &[Package<'_>], top: usize) -> Vec<String> {
    let mut lines: Vec<String> = packages.iter().filter_map(|package| ratio(&package.path, package.ratio())).collect();
    let types: Vec<&Type<'_>> = packages.iter().flat_map(Package::all_types).collect();
    if lines.len() > 1 {
        lines.extend(ratio("all", Ratio::of(types.iter().copied())));
    }
    for found in patterns(&types).into_iter().filter(|found| !found.examples.is_empty()) {
        lines.push(format!("{} ({})", found.pattern.meaning(), found.examples.len()));
        let shown = if top == 0 { found.examples.len() } else { top };
        lines.extend(found.examples.iter().take(shown).map(example));
        if found.examples.len() > shown {
            lines.push(format!("  … {} more; --top 0 shows all", found.examples.len() - shown));
        }
    }
    lines
}

fn ratio(name: &str, of: Ratio) -> Option<String> {
    let Ratio { methods, covered, types, covered_types } = of;
    (methods > 0).then(|| {
        let methods = format!("{covered} of {methods} methods ({})", percent(covered, methods));
        match types {
            0 => format!("{name}: covered {methods}"),
            _ => format!(
                "{name}: covered {methods}, {covered_types} of {types} types ({})",
                percent(covered_types, types)
            ),
        }
    })
}

fn example(example: &Example<'_, '_>) -> String {
    let Example { ty, methods } = example;
    let mut named: Vec<&Ran> = methods.clone();
    named.sort_by_key(|ran| std::cmp::Reverse(ran.method.lines));
    let name = |ran: &&Ran| {
        let lines = ran.method.lines;
        format!("{} ({lines})", ran.method.path.rsplit("::").next().unwrap_or_default())
    };
    let more = methods.len().saturating_sub(NAMED);
    let mut names: Vec<String> = named.iter().take(NAMED).map(name).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    format!("  {}: {}", ty.path(), names.join(", "))
}

/// Methods that always return the same value for each receiver, by crate; so many of each are named, or all for 0.
pub fn constant_lines(packages: &[Package<'_>], top: usize) -> Vec<String> {
    let all: Vec<_> = constants(packages).into_iter().filter(|of| of.asked > 0).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        "always return the same for each receiver, of those that ran and called twice at least".to_owned(),
        format!("{:>14} {:>9} {:>9} {:>16}  package", "constant", "of", "", "not comparable"),
    ];
    for of in all {
        let (found, asked) = (of.constant.len(), of.asked);
        let rate = percent(found, asked);
        lines.push(format!("{found:>14} {asked:>9} {rate:>9} {:>16}  {}", of.not_comparable, of.package));
        let shown = if top == 0 { found } else { top };
        lines.extend(of.constant.iter().take(shown).map(|ran| format!("{:>53}{}", "", ran.method.path)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::tests::ran;
    use crate::cargo_metaspy::results::{Returned, packages};

    #[test]
    fn ratios_and_patterns_are_said_where_there_are_any() {
        let mut all = vec![ran("a", "", "main", 1), ran("a", "Never", "one", 0), ran("a", "Never", "two", 0)];
        all[2].method.lines = 12;
        let text = lines(&packages(&all), 0);
        assert_eq!(
            text,
            [
                "a: covered 1 of 3 methods (33.3 %), 0 of 1 types (0.0 %)",
                "absent: nothing of it ran (1)",
                "  a::Never: two (12), one (1)",
                "long and untested: never ran, of the longest tenth (1)",
                "  a::Never: two (12)",
            ]
        );
    }

    #[test]
    fn what_always_returns_the_same_is_a_table() {
        let mut all = [ran("a", "", "same", 2), ran("a", "", "other", 2)];
        all.iter_mut().for_each(|ran| ran.told.calls = 2);
        all[0].told.returns = Some(Returned::Constant);
        let text = constant_lines(&packages(&all), 20);
        assert!(text[2].split_whitespace().eq(["1", "2", "50.0", "%", "0", "a"]), "{text:?}");
        assert!(text[3].trim() == "a::same" && text.len() == 4, "{text:?}");
        assert_eq!(constant_lines(&packages(&[ran("a", "", "once", 1)]), 20), [""; 0]);
    }
}
