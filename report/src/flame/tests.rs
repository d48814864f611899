use serde_json::Value;

use super::*;

/// A page with one set of stacks in one lane: functions from the outermost on, and what the last
/// one costs.
fn page(stacks: &[(&str, u64)]) -> FlamePage {
    let mut page = FlamePage::new("a run");
    let mut tree = Tree::default();
    for (stack, cost) in stacks {
        let path: Vec<usize> =
            stack.split(' ').map(|name| page.function(name, "", "app")).collect();
        tree.add(path, [*cost, 1, 0]);
    }
    let calls = Measure { is_width: false, ..Measure::new("calls", Unit::Count) };
    let mut stacks = Stacks {
        name: "contexts".into(),
        measures: vec![Measure::new("wall time", Unit::Ns), calls],
        lanes: vec![Lane { tree, ..Lane::default() }],
        ..Stacks::default()
    };
    stacks.add_up();
    page.stacks.push(stacks);
    page
}

fn row(page: &FlamePage, name: &str) -> FunctionValues {
    let at = page.functions.iter().position(|function| function.name == name).expect("it is there");
    page.stacks[0].rows[&at]
}

fn data(page: &FlamePage) -> Value {
    let html = page.html();
    let (_, data) = html.split_once("application/json\">").expect("the page has data");
    serde_json::from_str(data.split("</script>").next().expect("the data end")).expect("it is JSON")
}

#[test]
fn a_recursive_function_counts_once_in_its_total() {
    let page = page(&[("main f f g", 5), ("main f", 3), ("main g f", 2), ("main", 1)]);
    assert_eq!((row(&page, "f").own[0], row(&page, "f").total[0]), (5, 10));
    assert_eq!((row(&page, "g").own[0], row(&page, "g").total[0]), (5, 7));
    assert_eq!((row(&page, "main").own[0], row(&page, "main").total[0]), (1, 11));
    assert!(page.stacks[0].rows.values().all(|row| row.own[0] <= row.total[0]));
}

#[test]
fn smaller_frames_are_folded_and_functions_keep_their_numbers() {
    let names: Vec<String> = (0..FRAMES + 500).map(|at| format!("main f{at}")).collect();
    let stacks: Vec<(&str, u64)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), if at < 500 { 1 } else { 10 }))
        .collect();
    let page = page(&stacks);
    let data = data(&page);
    let lane = &data["stacks"][0]["lanes"][0];
    let frames = lane["f"].as_array().expect("a list");
    // The root, its callee and the fold are drawn as well.
    assert_eq!((frames.len(), &data["stacks"][0]["folded"]), (FRAMES + 2, &Value::from(501)));
    let fold = frames.iter().position(|frame| frame == -2).expect("it is there");
    assert_eq!(lane["folded"][fold.to_string()], 501);
    let costs: u64 = lane["own"][0]
        .as_array()
        .expect("a list")
        .iter()
        .map(|own| own.as_u64().expect("a number"))
        .sum();
    assert_eq!(costs, 500 + 10 * FRAMES as u64);
    let rows = data["stacks"][0]["rows"].as_array().expect("a list");
    assert_eq!(rows.len(), FRAMES, "{}", data["stacks"][0]["hidden"]);
    assert_eq!(data["stacks"][0]["hidden"], 501);
    assert!(rows.iter().all(|row| row[2] == 10 || row[2].as_u64() == Some(costs)));
}

#[test]
fn two_recordings_are_one_tree_with_both_numbers() {
    let earlier = page(&[("main slow", 9), ("main gone", 4)]);
    let page = page(&[("main slow", 3), ("main new", 2)]).compared_with(&earlier);
    let numbers = |name| {
        let row = row(&page, name);
        (row.total[0], row.before.total[0])
    };
    let found = ["main", "slow", "new", "gone"].map(numbers);
    assert_eq!(found, [(5, 13), (3, 9), (2, 0), (0, 4)]);
    let lane = &data(&page)["stacks"][0]["lanes"][0];
    assert_eq!(
        (&lane["own"][0], &lane["before"][0]),
        (&serde_json::json!([0, 0, 3, 2, 0]), &serde_json::json!([0, 0, 9, 0, 4]))
    );
}

#[test]
fn sets_of_other_measures_are_not_compared() {
    let mut earlier = page(&[("main", 1)]);
    earlier.stacks[0].measures[0].is_least = true;
    let page = page(&[("main", 2)]).compared_with(&earlier);
    assert!(page.stacks.is_empty());
    assert_eq!(
        page.absent[0].sentence(),
        "contexts: not compared: this recording has wall time, calls, and the earlier one has wall time (≥), calls"
    );
}

#[test]
fn the_longest_calls_are_kept_in_the_order_of_time() {
    let mut longest = Longest::default();
    for at in 0..FRAMES as u64 + 10 {
        let length = if at < 10 { 1 } else { 5 };
        longest.add(
            0,
            Call { start_ns: at * 10, end_ns: std::cmp::Reverse(at * 10 + length), function: 0 },
        );
    }
    assert_eq!(longest.shorter, 10);
    let calls = &longest.by_lane(1)[0].calls;
    assert_eq!((calls.len(), calls[0].start_ns), (FRAMES, 100));
}

#[test]
fn the_text_has_shares_and_states_what_it_leaves_out() {
    let page = page(&[("main f", 980), ("main g", 20)]);
    let text = page.text(0.05, 30, 80).join("\n");
    assert!(text.contains("100.0 % ████████████████   1.00 µs         0 ns  main"), "{text}");
    assert!(text.contains(" 98.0 % ████████████████    980 ns       980 ns   f"), "{text}");
    assert!(text.contains("1 frame more: --top all --threshold 0 shows all"), "{text}");
}
