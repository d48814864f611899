//! The encodings, read back from the pictures: heights, widths, greys, labels, and boxes that do
//! not overlap.

#[path = "fixture/mod.rs"]
mod fixture;

use fixture::program;
use metaspy_blueprints::graph::{Call, Method};
use metaspy_blueprints::scene::{EdgeKind, Fill, LabelPlace, Rect};
use metaspy_blueprints::{Graph, Kind, Options, Scene, emit, page, picture};
use metaspy_report::program::{Receivers, Returned};
use roxmltree::{Document, Node};

fn draw(kind: Kind, graph: &Graph) -> Scene {
    picture::draw(kind, graph, &Options::default()).expect("everything is recorded")
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).expect(name).parse().expect("it is a number")
}

/// The boxes of an SVG: class, x, y, width, height, and the first line of the title.
fn boxes(svg: &str) -> Vec<(String, [f64; 4], String)> {
    let document = Document::parse(svg).expect("it is XML");
    let boxes = document
        .descendants()
        .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("b ")));
    let boxes = boxes.filter_map(|rect| {
        let title = rect.parent()?.children().find(|node| node.has_tag_name("title"))?.text()?;
        let sides = ["x", "y", "width", "height"].map(|name| number(rect, name));
        Some((rect.attribute("class")?[2..].to_owned(), sides, title.lines().next()?.to_owned()))
    });
    boxes.collect()
}

fn method<'g>(graph: &'g Graph, title: &str) -> Option<&'g Method> {
    graph.methods.iter().find(|method| metaspy_report::text::clean(&method.path) == title)
}

#[test]
fn structural_heights_are_linear_in_time_and_greys_ascend_with_receivers() {
    let graph = program(500, 1);
    let whole = graph.ran().map(|at| graph.total(at)).max().expect("some ran") as f64;
    let boxes = boxes(&emit::svg(&draw(Kind::Structural, &graph), &graph));
    assert_eq!(boxes.len(), graph.ran().count());
    let mut greys = Vec::new();
    for (class, [_, _, w, h], title) in &boxes {
        let method = method(&graph, title).expect("each box is a method");
        let expected = (150.0 * method.total_ns.unwrap_or(0) as f64 / whole).max(3.0);
        assert!((h - expected).abs() <= 0.051, "{title}: {h} px, {expected} expected");
        let expected = 3.0 + 2.2 * ((method.executions + 1) as f64).log2();
        assert!((w - expected).abs() <= 0.051, "{title}: {w} px wide, {expected} expected");
        match class.strip_prefix('g') {
            Some(grey) => greys.push((method.receivers.count, grey.parse::<u8>().expect("a grey"))),
            None => assert!(class == "none" && method.receivers.count == 0, "{title}: {class}"),
        }
    }
    greys.sort_unstable();
    assert!(
        greys.is_sorted_by_key(|(_, grey)| *grey)
            && greys.last().is_some_and(|(_, grey)| *grey == 9),
        "{greys:?}"
    );
}

#[test]
fn boxes_overlap_nothing_and_lie_in_their_frames() {
    for kind in [Kind::Structural, Kind::Coverage] {
        let graph = program(700, 2);
        let scene = draw(kind, &graph);
        for (at, node) in scene.nodes.iter().enumerate() {
            let (a, inside) = (&node.rect, graph.methods[node.methods[0]].owner);
            let owner = &graph.owners[inside];
            let frame = scene
                .frames
                .iter()
                .find(|frame| frame.name == format!("{}::{}", owner.module, owner.name));
            let frame = &frame.expect("each owner has a frame").rect;
            assert!(
                a.x >= frame.x
                    && a.y >= frame.y
                    && a.right() <= frame.right() + 1e-6
                    && a.bottom() <= frame.bottom() + 1e-6
            );
            for other in &scene.nodes[at + 1..] {
                let b = &other.rect;
                assert!(
                    a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y,
                    "{a:?} {b:?}"
                );
            }
        }
        for frame in &scene.frames {
            let long = 5.5 * frame.size / 9.0 * frame.label.chars().count() as f64;
            assert!(3.0 + long <= frame.rect.w + 5.5, "{}: {}", frame.label, frame.rect.w);
            assert!(
                frame.rect.right() <= scene.size.0 + 1e-6
                    && frame.rect.bottom() <= scene.size.1 + 1e-6
            );
        }
    }
}

#[test]
fn coverage_shows_what_never_ran_and_heights_are_lines() {
    let graph = program(300, 3);
    let boxes = boxes(&emit::svg(&draw(Kind::Coverage, &graph), &graph));
    assert_eq!(boxes.len(), graph.methods.len());
    for (class, [_, _, _, h], title) in &boxes {
        let method = method(&graph, title).expect("each box is a method");
        assert_eq!(class == "never", method.executions == 0, "{title}");
        assert!((h - (0.9 * f64::from(method.lines)).max(3.0)).abs() <= 0.051, "{title}: {h}");
    }
}

#[test]
fn callers_are_above_their_callees_and_heights_are_parts_of_the_root() {
    let graph = program(400, 4);
    let scene = draw(Kind::Behavioural, &graph);
    let tallest =
        scene.nodes.iter().max_by(|a, b| a.share.total_cmp(&b.share)).expect("there are boxes");
    let height = tallest.rect.h / tallest.share;
    for node in &scene.nodes {
        assert!((node.rect.h - (height * node.share).max(3.0)).abs() < 1e-6);
    }
    let below = |edge: &metaspy_blueprints::scene::Edge| {
        scene.nodes[edge.to].rect.y >= scene.nodes[edge.from].rect.bottom()
    };
    let tree =
        scene.edges.iter().filter(|edge| edge.kind == metaspy_blueprints::scene::EdgeKind::Tree);
    assert!(
        tree.clone().all(below) && tree.count() + 1 == scene.nodes.len(),
        "each box but the root hangs below one other"
    );
    let hidden = scene.notes.iter().any(|note| note.contains("not drawn: less than 1.0 %"));
    assert!(hidden, "{:?}", scene.notes);
}

#[test]
fn names_break_neither_the_page_nor_the_text() {
    let graph = program(60, 5);
    for kind in Kind::OF_A_RUN {
        let scene = draw(kind, &graph);
        assert!(Document::parse(&emit::svg(&scene, &graph)).is_ok(), "{kind:?}");
        let html = page(kind, &graph, &Options::default()).expect("everything is recorded");
        let (_, data) = html.split_once("id=\"data\">").expect("there is data");
        let (data, script) = data.split_once("</script>").expect("the data ends");
        serde_json::from_str::<serde_json::Value>(data).expect("the data is whole");
        assert!(
            script.trim_start().starts_with("<script>") && !script.contains("alert(1)"),
            "{kind:?}"
        );
        for line in emit::text(&scene, &graph, 80, 20).lines() {
            assert!(
                metaspy_report::text::width(line) <= 80 && !line.contains('\u{202e}'),
                "{kind:?}: {line}"
            );
        }
    }
}

#[test]
fn what_is_missing_is_named_with_the_way_to_record_it() {
    let mut graph = program(20, 6);
    let error = |graph: &Graph, kind| {
        picture::draw(kind, graph, &Options::default()).expect_err("it cannot be drawn").to_string()
    };
    graph.has_callers = false;
    assert!(error(&graph, Kind::Behavioural).contains("METASPY_PROFILE=calls"));
    graph.methods.iter_mut().for_each(|method| method.total_ns = None);
    assert!(error(&graph, Kind::Structural).contains("--timed"));
    graph.methods.iter_mut().for_each(|method| method.executions = 0);
    assert!(error(&graph, Kind::Structural).contains("nothing ran"));
    assert!(error(&Graph::default(), Kind::Coverage).contains("no methods"));
    let error = program(20, 6).below("nowhere").expect_err("there is no such method");
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn a_deep_recursion_and_a_method_with_many_callers_are_drawn() {
    let mut graph = program(10_002, 7);
    graph.calls.clear();
    graph.calls.extend((1..10_001).map(|at| Call { from: at - 1, to: at, count: 1, total_ns: 1 }));
    graph.calls.extend((0..10_001).map(|from| Call { from, to: 10_001, count: 1, total_ns: 1 }));
    graph.calls.push(Call { from: 10_000, to: 0, count: 1, total_ns: 0 });
    graph.methods.iter_mut().for_each(|method| method.executions = 1);
    let options = Options { threshold: 0.0, ..Options::default() };
    let scene = picture::draw(Kind::Behavioural, &graph, &options).expect("it is drawn");
    assert_eq!(scene.nodes.iter().map(|node| node.methods.len()).sum::<usize>(), 10_002);
}

/// The room of a label in letters of one width.
fn room(node: &metaspy_blueprints::scene::Node) -> Option<Rect> {
    let label = node.label.as_ref()?;
    let (rect, scale) = (&node.rect, label.size / 9.0);
    let (long, line) = (5.5 * scale * label.text.chars().count() as f64, 9.0 * scale);
    let middle = rect.y + rect.h.min(11.0 * scale) / 2.0;
    Some(match label.place {
        LabelPlace::Inside => Rect { x: rect.x + 3.0, y: rect.y + 1.0, w: long, h: line },
        LabelPlace::Upright => Rect {
            x: rect.x + (rect.w - line) / 2.0,
            y: rect.bottom() - 3.0 - long,
            w: line,
            h: long,
        },
        LabelPlace::Along => {
            Rect { x: rect.right() + scale, y: rect.bottom() - 2.0 - long, w: line, h: long }
        }
        LabelPlace::Beside => {
            Rect { x: rect.right() + 2.0, y: middle - line / 2.0, w: long, h: line }
        }
    })
}

#[test]
fn labels_are_in_or_beside_their_boxes_and_overlap_nothing() {
    for kind in Kind::OF_A_RUN {
        let graph = program(700, 8);
        let scene = draw(kind, &graph);
        let meet = |a: &Rect, b: &Rect| {
            a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
        };
        let mut labelled = 0;
        for (at, node) in scene.nodes.iter().enumerate() {
            let Some(label) = room(node) else { continue };
            labelled += 1;
            assert!(
                label.right() <= scene.size.0 && label.bottom() <= scene.size.1 + 9.0,
                "{kind:?}: {node:?}"
            );
            let is_within = node
                .label
                .as_ref()
                .is_some_and(|it| matches!(it.place, LabelPlace::Inside | LabelPlace::Upright));
            let rect = &node.rect;
            if is_within {
                assert!(
                    label.x >= rect.x && label.right() <= rect.right() && label.y >= rect.y,
                    "{kind:?}: {node:?}"
                );
            }
            for (_, other) in scene.nodes.iter().enumerate().filter(|&(other, _)| other != at) {
                assert!(!meet(&label, &other.rect), "{kind:?}: {node:?} {other:?}");
                assert!(
                    room(other).is_none_or(|room| !meet(&label, &room)),
                    "{kind:?}: {node:?} {other:?}"
                );
            }
        }
        assert!(labelled > 5, "{kind:?}: {labelled} labels");
    }
}

#[test]
fn what_takes_time_has_a_name_of_its_own() {
    let mut graph = program(64, 8);
    // All names of a type are equal after they are cut.
    for (at, method) in graph.methods.iter_mut().enumerate() {
        (method.executions, method.total_ns) = (1, Some(1_000));
        method.name = format!("get_the_resource_that_{at:02}_has_the_longest_name_of_all_of_them");
        method.path = format!("app::{}", method.name);
    }
    graph.entries =
        vec![(0, metaspy_report::program::Edge { count: 1, total_ns: 1_000, is_least: false })];
    for kind in Kind::OF_A_RUN {
        let scene = draw(kind, &graph);
        let mut names: Vec<(usize, String)> = Vec::new();
        for node in &scene.nodes {
            let Some(method) = node.name_giver() else { continue };
            let label = node.label.as_ref().unwrap_or_else(|| panic!("{kind:?}: {node:?}"));
            let parent = scene.edges.iter().position(|edge| {
                edge.kind == EdgeKind::Tree && scene.nodes[edge.to].methods == node.methods
            });
            let parent =
                parent.map_or(graph.methods[method].owner, |edge| 1_000 + scene.edges[edge].from);
            names.push((parent, label.text.clone()));
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{kind:?}: {names:#?}");
    }
}

#[test]
fn a_chain_has_the_name_of_the_method_with_most_own_time() {
    let mut graph = program(4, 3);
    graph.calls =
        (1..4).map(|at| Call { from: at - 1, to: at, count: 1, total_ns: 1_000 }).collect();
    for (at, method) in graph.methods.iter_mut().enumerate() {
        (method.executions, method.total_ns, method.name) = (1, Some(1_000), format!("step_{at}"));
        method.self_ns = Some(if at == 2 { 997 } else { 1 });
    }
    let scene = draw(Kind::Behavioural, &graph);
    let [node] = &scene.nodes[..] else { panic!("{:?}", scene.nodes) };
    assert_eq!(node.label.as_ref().map(|label| label.text.as_str()), Some("Type0::step_2 +3"));
    assert!(emit::text(&scene, &graph, 80, 20).contains("Type0::step_0 … Type0::step_2 +2"));
    assert!(
        page(Kind::Behavioural, &graph, &Options::default())
            .expect("it is drawn")
            .contains("\"named\":2")
    );
}

#[test]
fn candidates_for_a_cache_are_ranked_by_the_time_to_save() {
    let mut graph = program(60, 9);
    graph.calls.clear();
    for (at, method) in graph.methods.iter_mut().enumerate() {
        (method.returns, method.executions) = (Some(Returned::Varies), 10);
        method.receivers = Receivers { count: 2, ..Receivers::default() };
        method.total_ns = Some(1_000 * (at as u64 + 1));
    }
    for constant in [10, 20, 30] {
        graph.methods[constant].returns = Some(Returned::Constant);
    }
    graph.methods[30].is_cache = true;
    graph.methods[40].returns = Some(Returned::NotComparable);
    let scene = draw(Kind::Structural, &graph);
    let [list] = &scene.lists[..] else { panic!("one list: {:?}", scene.lists) };
    let rows: Vec<_> = list
        .rows
        .iter()
        .map(|row| (scene.nodes[row.node.expect("it is drawn")].methods[0], row.text.as_str()))
        .collect();
    // Eight of ten calls repeat another: four fifths of 21 µs, and of 11 µs.
    assert_eq!(
        rows,
        [(20, "≤ 16.8 µs, 0 callers, 1 of 4 signs"), (10, "≤ 8.80 µs, 0 callers, 1 of 4 signs")]
    );
    // The notes name what tests them, and how the values of the other method are compared.
    let notes = scene.notes.join("\n");
    assert!(notes.contains("cargo metaspy test --weave 'METHOD' --by-test"), "{notes}");
    assert!(
        notes.contains("the values of 1 method cannot be compared: weave with `--trust SELECTOR`"),
        "{notes}"
    );
}

#[test]
fn a_callee_with_a_million_times_the_roots_time_has_its_part_below_the_root() {
    let mut graph = program(3, 15);
    graph.calls = vec![
        Call { from: 0, to: 1, count: 1, total_ns: 999 },
        Call { from: 2, to: 1, count: 1, total_ns: 999_999_001 },
    ];
    graph.entries.clear();
    for (method, (executions, total)) in
        graph.methods.iter_mut().zip([(1, 1_000), (2, 1_000_000_000), (1, 1_000_000_000)])
    {
        (method.total_ns, method.executions) = (Some(total), executions);
    }
    let below = graph.clone().below(&graph.methods[0].path).expect("it is a method");
    let scene = picture::draw(Kind::Behavioural, &below, &Options::default()).expect("it is drawn");
    assert!(scene.size.1 < 1_000.0, "{:?}", scene.size);
    assert!(scene.nodes.iter().all(|node| node.share <= 1.0), "{:?}", scene.nodes);
    assert_eq!((below.methods[1].executions, below.total(1), below.time_sign(1)), (1, 999, ""));
}

#[test]
fn without_returned_values_the_legend_names_how_to_record_them() {
    let mut graph = program(60, 16);
    graph.has_returns = false;
    graph.methods.iter_mut().for_each(|method| method.returns = None);
    let scene = draw(Kind::Behavioural, &graph);
    assert!(
        scene.nodes.iter().all(|node| node.fill == Fill::Unknown),
        "no colour states what is not known"
    );
    assert!(scene.lists.is_empty(), "nothing is a candidate for a cache: {:?}", scene.lists);
    assert!(emit::svg(&scene, &graph).contains("not recorded: record with --returns"));
}

#[test]
fn no_name_is_markup_of_a_page() {
    for name in ["<!--<script>", "</script>", "<b>"] {
        let mut graph = program(20, 1);
        graph
            .methods
            .iter_mut()
            .for_each(|method| method.path = format!("{name}::{}", method.path));
        let options = Options { title: name.to_owned(), ..Options::default() };
        for kind in [Kind::Structural, Kind::Calls] {
            let page = page(kind, &graph, &options).expect("everything is recorded");
            let (_, data) = page.split_once("id=\"data\">").expect("the page has data");
            let (data, _) = data.split_once("</script>\n<script>\n").expect("the data ends");
            assert!(!data.contains('<') && data.contains("\\u003c"), "{name}");
            let (head, _) = page.split_once("<style>").expect("the page has a style");
            assert!(!head.contains(name), "{head}");
        }
    }
}
