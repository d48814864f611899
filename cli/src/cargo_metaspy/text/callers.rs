//! `--callers`: who calls a function, and whom it calls.

use metaspy_core::Selector;

use crate::cargo_metaspy::results::{Edge, Ran};
use crate::cargo_metaspy::text::numbers::{duration, grouped};

/// Of all functions that a selector names.
pub fn lines(methods: &[Ran], selector: &str) -> Vec<String> {
    // That it is one was seen before anything was built.
    let Ok(names) = selector.parse::<Selector>() else { return Vec::new() };
    let found: Vec<&Ran> = methods.iter().filter(|ran| names.matches(&ran.method.path)).collect();
    if found.is_empty() {
        let nearest = names.nearest(methods.iter().map(|ran| ran.method.path.as_str()));
        let mean = if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(", ")) };
        return vec![format!("--callers: `{selector}` names no function of the programs{mean}")];
    }
    found.into_iter().flat_map(of).collect()
}

fn of(ran: &Ran) -> Vec<String> {
    let mut lines = vec![format!("{}: {} calls", ran.method.path, grouped(ran.count))];
    let callers =
        ran.callers.iter().map(|(path, edge)| edge_line("from", path.as_deref().unwrap_or("what has no hook"), edge));
    lines.extend(callers);
    lines.extend(ran.callees.iter().map(|(path, edge)| edge_line("to", path, edge)));
    lines
}

fn edge_line(way: &str, path: &str, Edge { count, total_ns }: &Edge) -> String {
    format!("{:>14} {:>10}  {way:<4} {path}", grouped(*count), duration(*total_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::tests::ran;

    #[test]
    fn callers_and_callees_are_named_and_a_mistake_is_answered() {
        let mut all = [ran("a", "Scene", "measure", 1_000)];
        all[0].callers = vec![
            (Some("a::main".into()), Edge { count: 999, total_ns: 5_000 }),
            (None, Edge { count: 1, total_ns: 7 }),
        ];
        all[0].callees = vec![("a::leaf".into(), Edge { count: 2, total_ns: 3 })];
        let text = lines(&all, "Scene::*").join("\n");
        assert_eq!(
            text,
            "a::Scene::measure: 1,000 calls\n           999    5.00 µs  from a::main\n             1       7 ns  from what has no hook\n             2       3 ns  to   a::leaf"
        );
        assert!(lines(&all, "mesure")[0].contains("did you mean a::Scene::measure?"), "{:?}", lines(&all, "mesure"));
    }
}
