use super::super::testing::Run;
use super::*;

/// Edits one of 40 cells in each of 50 rounds, and evaluates `evaluated` of them, with further work
/// in between.
fn check(evaluated: u64, further: impl Fn(&mut Run), expected: &[&str]) {
    let mut run = Run::new();
    for round in 0..50 {
        run.call("sheet::edit", None, |run| {
            run.leaf("sheet::write", round % 10, 100);
            further(run);
            for cell in 0..evaluated {
                run.call("sheet::evaluate", (round + cell) % 40, |run| {
                    run.leaf("sheet::parse", (round + cell) % 40, 100);
                });
            }
        });
    }
    let run = run.found(RepeatedForAll::default());
    let own = run.iter().filter(|found| found.starts_with("evaluate")).collect::<Vec<_>>();
    assert_eq!(own, expected);
}

#[test]
fn evaluating_all_for_each_edit_is_found() {
    let found = "evaluate runs on every subject in each edit, while little else happens to them: \
                 calls=2000 units=50 units_with_all=50 subjects=40 otherwise_concerned=50";
    check(40, |_| {}, &[found]);
}

#[test]
fn units_of_few_subjects_hide_no_later_ones_of_all() {
    let mut run = Run::new();
    for round in 0..300 {
        run.call("sheet::edit", None, |run| {
            run.leaf("sheet::write", round % 10, 100);
            let cells = if round < 20 { 2 } else { 40 };
            (0..cells).for_each(|cell| _ = run.leaf("sheet::evaluate", (round + cell) % 40, 100));
        });
    }
    let found = run.found(RepeatedForAll::default());
    assert!(
        found.len() == 1 && found[0].contains("units=300 units_with_all=280 subjects=40"),
        "{found:?}"
    );
}

/// Counts the letters of 40 folders at each of 100 ticks, and of one folder at each delivery.
fn check_ticks(delivers: impl Fn(&mut Run, u64), expected: &[&str]) {
    let mut run = Run::new();
    for tick in 0..100 {
        if tick % 4 == 0 {
            delivers(&mut run, tick % 40);
        }
        run.call("mail::tick", None, |run| {
            (0..40).for_each(|folder| _ = run.leaf("mail::count", folder, 100))
        });
    }
    assert_eq!(run.found(RepeatedForAll::default()), expected);
}

#[test]
fn counting_all_at_each_tick_beside_the_deliveries_that_count_is_found() {
    let deliver = |run: &mut Run, folder| {
        _ = run.call("mail::deliver", folder, |run| _ = run.leaf("mail::count", folder, 100))
    };
    let found = "count runs on every subject in each tick, while little else happens to them: \
                 calls=4025 units=125 units_with_all=100 subjects=40 otherwise_concerned=0";
    check_ticks(deliver, &[found]);
    check_ticks(|run, folder| _ = run.leaf("mail::deliver", folder, 100), &[]);
}

/// Renames one of 40 nodes in each of 50 frames, and lays out and paints all of them. `height`
/// returns the result of a layout by frame and node, and `ns` is the time of a layout.
fn check_layouts(height: impl Fn(u64, u64) -> u64, ns: u64, expected: usize) {
    let mut run = Run::new();
    run.function("page", "page::Node::layout", "type=Node self=ref");
    run.at_places();
    for frame in 0..50 {
        run.call("page::frame", None, |run| {
            run.leaf("page::Node::rename", frame % 40, 100);
            for node in 0..40 {
                let call = run.leaf("page::Node::layout", node, ns);
                run.returned(call, &height(frame, node).to_string());
            }
            (0..40).for_each(|node| _ = run.leaf("page::Node::paint", node, 100));
        });
    }
    let found = run.found(RepeatedForAll::default());
    let title =
        "Node::layout runs on every subject in each frame, and returns what it returned before: ";
    assert_eq!(
        found.iter().filter(|found| found.starts_with(title)).count(),
        found.len(),
        "{found:?}"
    );
    assert_eq!(found.len(), expected);
}

#[test]
fn layouts_that_return_the_same_in_each_frame_are_found_beside_the_paint_of_everything() {
    check_layouts(|_, node| node, 5_000, 1);
    check_layouts(|frame, node| frame + node, 5_000, 0);
    check_layouts(|_, _| 7, 5_000, 0);
    check_layouts(|_, node| node, 1_000, 0);
}

#[test]
fn evaluating_some_and_a_step_of_everything_are_silent() {
    check(9, |_| {}, &[]);
    check(40, |run| (0..40).for_each(|cell| _ = run.leaf("sheet::step", cell, 10)), &[]);
}
