use super::*;
use crate::rows::By;

/// A tree of paths with calls: `a` or `a;b`.
fn tree(paths: &[(&str, u64)]) -> Contexts {
    let mut tree = Contexts::default();
    for (path, calls) in paths {
        let at = path.split(';').fold(0, |at, name| tree.child(at, name));
        tree.contexts[at].values = Values { calls: *calls, ..Values::default() };
    }
    tree.add_up();
    tree
}

fn lines(tree: &Contexts, shown: Shown) -> String {
    let lines = tree.walk(shown).into_iter().map(|(at, depth)| {
        let context = &tree.all()[at];
        format!(
            "{}{} {}/{}",
            " ".repeat(depth),
            context.name,
            context.values.calls,
            context.inclusive.calls
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

const PATHS: [(&str, u64); 5] = [("a", 1), ("a;b", 3), ("a;b;a", 2), ("a;b;a;c", 4), ("d", 20)];

#[test]
fn contexts_are_walked_by_weight_and_those_below_depth_and_threshold_are_left_out() {
    let tree = tree(&PATHS);
    assert_eq!(lines(&tree, Shown::default()), "d 20/20\na 1/10\n b 3/9\n  a 2/6\n   c 4/4");
    assert_eq!(lines(&tree, Shown { depth: Some(2), threshold: 0.0 }), "d 20/20\na 1/10\n b 3/9");
    assert_eq!(lines(&tree, Shown { depth: None, threshold: 50.0 }), "d 20/20");
}

#[test]
fn folded_recursion_keeps_all_calls() {
    let folded = tree(&PATHS).folded();
    assert_eq!(lines(&folded, Shown::default()), "d 20/20\na 3/10\n c 4/4\n b 3/3");
    let a = folded.all().iter().find(|context| context.name == "a").expect("it is there");
    assert_eq!(a.values.folded, 2);
}

#[test]
fn trees_of_two_processes_are_one() {
    let mut both = tree(&PATHS);
    both.merge(&tree(&[("a", 5), ("a;z", 1)]));
    assert_eq!(
        lines(&both, Shown::default()),
        "d 20/20\na 6/16\n b 3/9\n  a 2/6\n   c 4/4\n z 1/1"
    );
}

#[test]
fn bytes_belong_to_the_method_that_allocates_them_and_to_its_callers() {
    let paths = [
        ("x::A::f", 1),
        ("x::A::f;x::A::g", 1),
        ("x::A::f;y::B::h", 1),
        ("x::A::f;y::B::h;x::A::f", 1),
    ];
    let mut tree = tree(&paths);
    for (at, bytes) in [(1, 10), (2, 20), (3, 0), (4, 5)] {
        tree.contexts[at].values =
            Values { objects: u64::from(bytes > 0), bytes, ..tree.contexts[at].values };
    }
    tree.add_up();
    let rows = |by| -> Vec<(String, u64, u64)> {
        tree.allocated(by)
            .into_iter()
            .map(|row| (row.name, row.own.bytes, row.total_bytes))
            .collect()
    };
    assert_eq!(rows(By::Site), [("x::A::g".to_owned(), 20, 20), ("x::A::f".to_owned(), 15, 35)]);
    assert_eq!(rows(By::Type), [("x::A".to_owned(), 35, 35)]);
}

#[test]
fn calls_without_a_context_are_part_of_all_calls() {
    let mut tree = tree(&[("a", 1), ("b", 10)]);
    tree.contexts[1].values.cut = 89;
    tree.add_up();
    let weights: Vec<u64> = tree
        .walk(Shown::default())
        .iter()
        .map(|(at, _)| tree.all()[*at].weight(Weight::Calls))
        .collect();
    assert_eq!((tree.whole(), weights), (100, vec![90, 10]));
}
