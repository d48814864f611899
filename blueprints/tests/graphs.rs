//! Graphs from the top down: the calls of a method with the patterns of coverage, and the
//! productions of a grammar.

#[path = "fixture/mod.rs"]
mod fixture;

use fixture::program;
use metaspy_blueprints::grammar::{Grammar, Production};
use metaspy_blueprints::graph::{Call, HookCost};
use metaspy_blueprints::scene::{Border, EdgeKind, Fill, Node, Rect};
use metaspy_blueprints::view::{Channel, Number, View, Viewed};
use metaspy_blueprints::{Graph, Kind, Options, emit, picture};
use metaspy_report::coverage::Pattern;
use metaspy_report::grammar::State;
use metaspy_report::program::Edge;
use roxmltree::Document;
use serde_json::json;

fn with_calls(mut graph: Graph, calls: &[(usize, usize)]) -> Graph {
    graph.calls =
        calls.iter().map(|&(from, to)| Call { from, to, count: 1, total_ns: 1 }).collect();
    graph
}

#[test]
fn calls_hang_below_the_caller_nearest_to_the_top_and_patterns_have_marks() {
    let mut graph = with_calls(program(6, 1), &[(0, 1), (1, 2), (2, 3), (0, 3), (3, 1), (3, 4)]);
    graph.methods.iter_mut().for_each(|method| method.executions = 7);
    graph.patterns = vec![(Pattern::MoreTests, vec![2]), (Pattern::WellTested, vec![5])];
    graph = graph.clone().below(&graph.methods[0].path).expect("it is a method");
    let scene =
        picture::draw(Kind::Calls, &graph, &Options::default()).expect("callers are recorded");
    let box_of = |method: usize| scene.nodes.iter().position(|node| node.methods == [method]);
    let parent = |method: usize| {
        let to = box_of(method)?;
        let edge = scene.edges.iter().find(|edge| edge.to == to && edge.kind == EdgeKind::Tree)?;
        scene.nodes[edge.from].methods.first().copied()
    };
    assert_eq!([0, 1, 2, 3, 4].map(parent), [None, Some(0), Some(1), Some(0), Some(3)]);
    assert_eq!(box_of(5), None, "it is not called from here");
    assert!(
        scene.notes.iter().any(|note| note == "1 method not called from here"),
        "{:?}",
        scene.notes
    );
    for node in &scene.nodes {
        let method = &graph.methods[node.methods[0]];
        assert!(
            (node.rect.h - (0.6 * f64::from(method.lines)).max(3.0)).abs() < 1e-6,
            "height is lines"
        );
    }
    assert_eq!(scene.nodes[box_of(2).expect("it is drawn")].mark, Some(Pattern::MoreTests));

    let svg = emit::svg(&scene, &graph);
    let document = Document::parse(&svg).expect("it is XML");
    let marks = document.descendants().filter(|node| node.has_tag_name("use"));
    let words: Vec<&str> = marks.filter_map(|node| node.attribute("href")).collect();
    assert_eq!(
        words,
        ["#m-more-tests", "#m-more-tests", "#m-well-tested"],
        "a box and two signs of the legend"
    );
    let [list] = &scene.lists[..] else {
        panic!("only what is drawn is listed: {:?}", scene.lists)
    };
    assert_eq!((list.rows.len(), list.rows[0].node), (1, box_of(2)));
}

#[test]
fn what_never_ran_hangs_below_the_method_whose_source_names_it() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("written.rs");
    let source =
        "fn top() {\n    middle();\n}\nfn middle() {\n    if rare() { seldom(twice(1)) }\n}\n";
    std::fs::write(&file, source).expect("it is written");
    let mut graph = with_calls(program(6, 2), &[(0, 1)]);
    let names = ["top", "middle", "rare", "seldom", "twice", "twice"];
    for (method, (name, (line, lines))) in graph.methods.iter_mut().zip(names.into_iter().zip([
        (1, 3),
        (4, 3),
        (20, 1),
        (21, 1),
        (22, 1),
        (23, 1),
    ])) {
        (method.name, method.path) = (name.into(), format!("app::{name}{line}"));
        (method.file, method.line, method.lines) = (file.display().to_string(), line, lines);
        method.executions = u64::from(line < 20);
    }
    let scene =
        picture::draw(Kind::Calls, &graph, &Options::default()).expect("callers are recorded");
    let drawn: Vec<usize> =
        scene.nodes.iter().flat_map(|node| node.methods.iter().copied()).collect();
    assert_eq!(drawn, [0, 1, 2, 3], "two methods have the name of the last two");
    assert_eq!(scene.nodes[2].fill, Fill::NeverRan);
    let svg = emit::svg(&scene, &graph);
    assert_eq!(svg.matches("class=\"e written\"").count(), 2, "{svg}");
}

#[test]
fn productions_are_sized_by_activations_and_filled_by_their_state() {
    let graph = with_calls(program(5, 3), &[(0, 1), (0, 2), (1, 3), (3, 0)]);
    let production = |matched, state, unused: Option<&str>, shadow: Option<&str>| Production {
        matched,
        state,
        unused: unused.map(str::to_owned),
        shadow: shadow.map(str::to_owned),
        inputs: (0, None),
    };
    let mut grammar = Grammar { graph, has_references: true, ..Grammar::default() };
    grammar.productions = vec![
        production(10, State::Matched, None, None),
        production(1_000_000, State::Matched, None, None),
        production(0, State::NeverMatched, None, Some("`float` matches where it would")),
        production(0, State::NeverEntered, None, None),
        production(0, State::NeverEntered, Some("nothing refers to it"), None),
    ];
    for (method, entered) in grammar.graph.methods.iter_mut().zip([10, 1_000_000, 5, 0, 0]) {
        method.executions = entered;
    }
    grammar.graph.root = Some(0);
    let scene =
        picture::draw_grammar(&grammar, &Options::default()).expect("there are productions");
    let fills: Vec<(Fill, f64, f64)> =
        scene.nodes.iter().map(|it| (it.fill, it.rect.w, it.rect.h)).collect();
    let log = |n: u64| ((n + 1) as f64).log2();
    for ((fill, w, h), (expected, entered, matched)) in fills.iter().zip([
        (Fill::Grey(2), 10, 10),
        (Fill::Grey(9), 1_000_000, 1_000_000),
        (Fill::Failed, 5, 0),
        (Fill::NeverRan, 0, 0),
    ]) {
        assert_eq!(*fill, expected);
        assert!(
            (w - 6.0 - 2.0 * log(entered)).abs() < 1e-6
                && (h - 8.0 - 1.5 * log(matched)).abs() < 1e-6
        );
    }
    assert!(
        scene.nodes[2].label.as_ref().is_some_and(|label| label.text.ends_with('⊘')),
        "{:?}",
        scene.nodes[2]
    );
    assert!(
        scene.nodes[2].tip.iter().any(|line| line.contains("`float`")),
        "{:?}",
        scene.nodes[2].tip
    );
    assert_eq!(scene.notes[0], "2 of 4 productions in use matched (50.0 %)");
    let text = emit::text(&scene, &grammar.graph, 100, 20);
    assert!(text.contains("✗") && text.contains("never matched, entered 5×"), "{text}");
}

#[test]
fn a_view_maps_numbers_of_subjects_to_sizes_and_greys() {
    let text = "title = \"needless\"\nsubjects = \"node\"\nbelow = \"owner\"\nwidth = { query = \"site:layout\" }\n\
                height = { value = \"total\" }\nfill = { value = \"count\", query = \"site:needless\" }\n";
    let view = View::parse(text).expect("it is a view");
    assert_eq!([view.width.words(), view.height.words()], ["count of site:layout", "total"]);
    let wrong = |text: &str| View::parse(text).expect_err("it is wrong").to_string();
    assert!(
        wrong("subjects = \"node\"\nwidht = {}").contains("line 2"),
        "{}",
        wrong("subjects = \"node\"\nwidht = {}")
    );
    assert!(View::new("node").fill(Channel::count("sight:a")).check().is_err());

    let graph = with_calls(program(4, 5), &[(0, 1), (0, 2), (2, 3)]);
    let numbers = vec![
        [0, 0, 0, 0, 0, 0, 0],
        [100, 4, 0, 0, 0, 0, 0],
        [25, 16, 3, 0, 0, 0, 0],
        [100, 1, 9, 0, 0, 0, 0],
    ];
    let viewed = Viewed { view, graph, numbers: numbers.clone() };
    let scene = picture::draw_domain(&viewed, &Options::default()).expect("there are subjects");
    let side = |n: u64, most: f64| 3.0 + 30.0 * (n as f64 / most).sqrt();
    for node in &scene.nodes {
        let [height, width, fill, ..] = numbers[node.methods[0]];
        assert!(
            (node.rect.h - side(height, 100.0)).abs() < 1e-6
                && (node.rect.w - side(width, 16.0)).abs() < 1e-6
        );
        assert!(
            node.tip.iter().any(|line| *line == format!("count of site:needless: {fill}")),
            "{:?}",
            node.tip
        );
        assert_eq!(node.fill == Fill::Grey(9), fill == 9, "{:?}", node.fill);
    }
    assert_eq!(
        (scene.nodes.len(), scene.frames.len()),
        (4, 2),
        "two subjects have others below them"
    );
    let first = scene.lists[0].rows[0].node.expect("it is drawn");
    assert_eq!(scene.nodes[first].methods, [3], "the list begins with the largest");
    assert!(emit::text(&scene, &viewed.graph, 100, 20).starts_with("count of site:needless\n"));
}

#[test]
fn a_view_frames_orders_and_places_boxes_by_further_numbers() {
    let drawn = |view: View, numbers: Vec<[u64; 7]>| {
        let mut graph = program(numbers.len(), 5);
        graph.calls.clear();
        graph.entries = (0..numbers.len())
            .map(|at| (at, Edge { count: 1, total_ns: 0, is_least: false }))
            .collect();
        let viewed = Viewed { view, graph, numbers };
        picture::draw_domain(&viewed, &Options::default()).expect("there are subjects")
    };
    // The numbers are height, width, fill, border, order, x and y.
    let failed = View::new("node").border(Channel { value: Number::Failed, query: String::new() });
    let scene = drawn(failed, vec![[1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 2, 0, 0, 0]]);
    let framed = |node: &Node| (node.methods[0], node.border == Border::Changed);
    assert_eq!(scene.nodes.iter().map(framed).collect::<Vec<_>>(), [(0, false), (1, true)]);
    assert!(scene.nodes[1].tip.contains(&"failed: 2".to_owned()), "{:?}", scene.nodes[1].tip);
    assert!(
        scene.legend.iter().any(|sign| sign.text == "frame around a box: any of failed"),
        "{:?}",
        scene.legend
    );

    // Line by line, whatever their sizes are.
    let longest = View::new("node").order(Channel { value: Number::Longest, query: String::new() });
    let numbers = (0..30).map(|at| [at * 7 % 30, 1, 1, 0, at * 11 % 30, 0, 0]).collect::<Vec<_>>();
    let scene = drawn(longest, numbers.clone());
    let mut nodes: Vec<&Node> = scene.nodes.iter().collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(numbers[node.methods[0]][4]));
    let mut line_end = 0.0;
    for pair in nodes.windows(2) {
        let [before, after] = [pair[0].rect, pair[1].rect];
        line_end = f64::max(line_end, before.y + before.h);
        assert!(
            after.x >= before.x + before.w || after.y + after.h > line_end,
            "{before:?} {after:?}"
        );
    }

    let place = View::new("node").at(Channel::count(""), Channel::total(""));
    let scene = drawn(
        place,
        vec![[4, 4, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 50, 10], [1, 1, 1, 0, 0, 100, 40]],
    );
    let middle = |at: usize| {
        let node = scene.nodes.iter().find(|node| node.methods == [at]).expect("it is drawn");
        (node.rect.x + node.rect.w / 2.0, node.rect.y + node.rect.h / 2.0)
    };
    let [low, half, high] = [0, 1, 2].map(middle);
    assert!(
        (half.0 - (low.0 + high.0) / 2.0).abs() < 1e-6,
        "half of the largest number is in the middle"
    );
    assert!(
        (low.1 - half.1 - (low.1 - high.1) / 4.0).abs() < 1e-6,
        "a quarter is at a quarter of the height"
    );
    assert!(scene.frames.is_empty());

    let wrong = |view: View| view.check().expect_err("it is wrong").to_string();
    let alone = View { x: Some(Channel::count("")), ..View::new("node") };
    assert_eq!(wrong(alone), "a place needs both numbers: add `x` or `y`");
    let twice = View::new("node").below("owner").at(Channel::count(""), Channel::count(""));
    assert!(wrong(twice).contains("remove them, or `below`"));
}

#[test]
fn a_view_of_methods_changes_the_structural_and_the_behavioural_picture() {
    let text = "height = { value = \"self\" }\nwidth = { value = \"lines\" }\nborder = { value = \"failed\" }\n\
                order = { value = \"longest\" }\n";
    let view = View::parse_for_methods(text).expect("it is a view");
    let words = [&view.height, &view.width, &view.fill].map(Channel::words);
    assert_eq!(
        words,
        ["self", "lines", "receivers"],
        "what a view leaves out is that of the picture"
    );
    let absent = View::parse_for_methods("title = \"all\"").expect("it is a view");
    assert_eq!([absent.height.words(), absent.width.words()], ["total", "count"]);
    let wrong = |text: &str| View::parse_for_methods(text).expect_err("it is wrong").to_string();
    assert!(wrong("subjects = \"node\"").contains("or draw `domain`"));
    assert!(wrong("hight = {}").contains("line 1"));
    let of_subjects =
        View::parse("subjects = \"node\"\nfill = { value = \"tests\" }").expect_err("it is wrong");
    assert!(of_subjects.to_string().contains("numbers of methods"), "{of_subjects}");

    let mut graph = with_calls(program(6, 5), &[(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)]);
    for (method, at) in graph.methods.iter_mut().zip(1..) {
        (method.executions, method.total_ns, method.owner) = (1, Some(100), 0);
        method.self_ns = Some(at);
    }
    // The numbers are height, width, fill, border, order, x and y.
    let numbers: Vec<[u64; 7]> =
        (0..6).map(|at| [at * at, 4, at, at % 2, 10 - at, at, 2 * at]).collect();
    let viewed = Viewed { view, graph, numbers };
    let options = Options { threshold: 0.0, ..Options::default() };
    let side = |n: u64, most: f64| 3.0 + 30.0 * (n as f64 / most).sqrt();
    for kind in [Kind::Structural, Kind::Behavioural] {
        let scene = picture::draw_viewed(kind, &viewed, &options).expect("methods ran");
        let nodes: Vec<&Node> =
            scene.nodes.iter().filter(|node| !node.methods.is_empty()).collect();
        assert_eq!(nodes.len(), 6, "each method has its own box");
        for node in &nodes {
            let [height, width, fill, border, ..] = viewed.numbers[node.methods[0]];
            assert!(
                (node.rect.h - side(height, 25.0)).abs() < 1e-6
                    && (node.rect.w - side(width, 4.0)).abs() < 1e-6
            );
            assert_eq!(node.border == Border::Changed, border > 0);
            assert_eq!(node.fill == Fill::Grey(9), fill == 5, "{:?}", node.fill);
            assert!(node.tip.contains(&format!("receivers: {fill}")), "{:?}", node.tip);
        }
        let first = scene.lists[0].rows[0].node.expect("it is drawn");
        assert_eq!(scene.nodes[first].methods, [5], "the list begins with the largest grey");
        assert!(scene.legend.iter().any(|sign| sign.text == "order: longest, the largest first"));
    }
    // The numbers of order fall: callees begin at the left, and the methods of a type line by line.
    for (kind, methods) in [(Kind::Behavioural, 1..4), (Kind::Structural, 0..6)] {
        let scene = picture::draw_viewed(kind, &viewed, &options).expect("methods ran");
        let place = |method: usize| {
            scene.nodes.iter().find(|node| node.methods == [method]).expect("it is drawn").rect
        };
        let places: Vec<Rect> = methods.map(place).collect();
        let follows = |a: &Rect, b: &Rect| b.x >= a.right() || b.y >= a.bottom();
        assert!(places.is_sorted_by(follows), "{kind:?}: {places:?}");
    }

    let at_places = Viewed {
        view: View::default().at(Channel::count(""), Channel::total("")),
        ..viewed.clone()
    };
    let scene = picture::draw_viewed(Kind::Structural, &at_places, &options).expect("methods ran");
    let middle = |method: usize| {
        let rect =
            scene.nodes.iter().find(|node| node.methods == [method]).expect("it is drawn").rect;
        (rect.x + rect.w / 2.0, rect.y + rect.h / 2.0)
    };
    let [first, second, third] = [0, 1, 2].map(middle);
    assert!(
        (third.0 - second.0 - (second.0 - first.0)).abs() < 1e-6
            && second.1 < first.1
            && scene.frames.is_empty()
    );
    assert!(scene.nodes.iter().any(|node| node.label.is_some()), "there is room for names");
    let no_places = picture::draw_viewed(Kind::Behavioural, &at_places, &options)
        .expect_err("it has no places");
    assert!(no_places.to_string().contains("remove `x` and `y`"));
    let no_view =
        picture::draw_viewed(Kind::Coverage, &viewed, &options).expect_err("it has no view");
    assert!(no_view.to_string().starts_with("--view is for pictures of the program's own objects"));
}

#[test]
fn the_cost_of_hooks_is_subtracted_down_to_zero_and_named() {
    let mut graph = program(4, 1);
    // 0 calls 1, which calls 2 a thousand times; 2 and 3 call each other.
    let times =
        [(1, 100_000, 10_000), (1, 90_000, 30_000), (1_000, 60_000, 59_900), (10, 5_000, 100)];
    for (method, (executions, total, own)) in graph.methods.iter_mut().zip(times) {
        (method.executions, method.total_ns, method.self_ns) = (executions, Some(total), Some(own));
    }
    let call = |from, to, count, total_ns| Call { from, to, count, total_ns };
    graph.calls = vec![
        call(0, 1, 1, 90_000),
        call(1, 2, 1_000, 60_000),
        call(2, 3, 5, 5_000),
        call(3, 2, 5, 0),
    ];
    graph.entries.clear();
    let recorded: Vec<u64> =
        graph.methods.iter().map(|method| method.total_ns.unwrap_or(0)).collect();
    // The hook of 1 sees what it returns.
    graph.methods[1].shows_returned = true;
    graph.subtract_hooks(HookCost { within_ns: 20.0, whole_ns: 45.0, returned_ns: 7.0 });
    let own: Vec<_> = graph.methods.iter().map(|method| method.self_ns.unwrap_or(0)).collect();
    // 30,000 less 27 for its own call and 25 for each call that it makes; 59,900 less 20,000 and
    // 125; less than nothing is none.
    assert_eq!(own, [10_000 - 20 - 25, 30_000 - 27 - 25_000, 59_900 - 20_000 - 125, 0]);
    let total: Vec<u64> = (0..4).map(|at| graph.total(at)).collect();
    assert!(
        total[1].abs_diff(own[1] + graph.calls[1].total_ns) <= 1,
        "{total:?} {:?}",
        graph.calls
    );
    assert!(
        total[0].abs_diff(own[0] + total[1]) <= 1
            && own.iter().zip(&total).all(|(own, total)| own <= total)
    );
    let sums: Vec<u64> =
        graph.methods.iter().map(|method| method.total_ns.unwrap_or(0) + method.hooks_ns).collect();
    assert_eq!(sums, recorded);
    let scene =
        picture::draw(Kind::Structural, &graph, &Options::default()).expect("all is recorded");
    assert!(
        scene
            .notes
            .iter()
            .any(|note| note.contains("20 ns within each call, 45 ns in all, 7 ns more where")),
        "{:?}",
        scene.notes
    );
    let svg = emit::svg(&scene, &graph);
    assert!(svg.contains("recorded total") && svg.contains("of it hooks"), "{svg}");
    let json = emit::json(&scene, &graph);
    assert_eq!(json["methods"][0].as_array().map(Vec::len), Some(12));
    let stated = json!({
        "within_ns": 20.0, "whole_ns": 45.0, "returned_ns": 7.0, "from": "option", "is_subtracted": true,
    });
    assert_eq!(json["hook_cost"], stated);
}

#[test]
fn a_total_without_hooks_is_never_rounded_below_its_own_time() {
    let mut graph = program(4, 1);
    // The callee is nothing but hooks, so the caller keeps its own 14.5 of 100 ns.
    for (method, (executions, total, own)) in
        graph.methods.iter_mut().zip([(1, 100, 15), (200, 85, 85)])
    {
        (method.executions, method.total_ns, method.self_ns) = (executions, Some(total), Some(own));
    }
    graph.calls = vec![Call { from: 0, to: 1, count: 200, total_ns: 85 }];
    graph.subtract_hooks(HookCost { within_ns: 0.5, whole_ns: 0.5, returned_ns: 0.0 });
    assert_eq!((graph.methods[0].self_ns, graph.methods[0].total_ns), (Some(15), Some(15)));
}
