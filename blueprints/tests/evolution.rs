//! The encodings of an evolution, read back from the picture.

use metaspy_blueprints::evolution::{By, Change, Former, Version, compare};
use metaspy_blueprints::graph::{Call, Method, Owner, OwnerKind};
use metaspy_blueprints::scene::{Border, Fill};
use metaspy_blueprints::{Graph, Options, PictureError, Scene, emit, picture};
use metaspy_report::program::{Edge, Receivers};

/// A method: name, executions, total time in ms, hash of its source. Each is called by the one
/// before it.
type MethodCase = (&'static str, u64, u64, u32);

fn graph(rows: &[MethodCase]) -> Graph {
    let owner = Owner {
        module: "app".into(),
        name: "Scene".into(),
        kind: OwnerKind::Type,
        traits: Vec::new(),
    };
    let mut graph =
        Graph { owners: vec![owner], has_callers: true, exact: true, ..Graph::default() };
    for (at, &(name, executions, ms, fingerprint)) in rows.iter().enumerate() {
        graph.methods.push(Method {
            path: format!("app::Scene::{}", name.split('<').next().unwrap_or(name)),
            path_with_arguments: format!("app::Scene::{name}"),
            name: name.into(),
            owner: 0,
            file: "src/lib.rs".into(),
            line: 10 * at as u32 + 1,
            lines: 9,
            executions,
            total_ns: Some(ms * 1_000_000),
            self_ns: Some(1_000),
            receivers: Receivers { count: 1, ..Receivers::default() },
            fingerprint,
            ..Method::default()
        });
        if at > 0 {
            graph.calls.push(Call { from: 0, to: at, count: executions, total_ns: ms * 1_000_000 });
        }
    }
    graph.entries.push((0, Edge { count: 1, total_ns: graph.total(0), is_least: false }));
    graph
}

fn version(name: &str, runs: &[&[MethodCase]]) -> Version {
    Version { name: name.into(), runs: runs.iter().map(|rows| graph(rows)).collect() }
}

fn draw(old: &Version, new: &Version, by: By) -> (Scene, String) {
    let step = compare(old, new, by);
    let scene =
        picture::draw_evolution(&step, &Options::default()).expect("both have times and callers");
    let svg = emit::svg(&scene, &step.graph);
    (scene, svg)
}

/// The box of a method, by the end of its path.
fn fill(scene: &Scene, svg: &str, name: &str) -> String {
    let document = roxmltree::Document::parse(svg).expect("it is XML");
    let title = document.descendants().find(|node| {
        node.has_tag_name("title")
            && node
                .text()
                .is_some_and(|text| text.lines().next().is_some_and(|it| it.ends_with(name)))
    });
    let title = title.unwrap_or_else(|| panic!("{name} is drawn: {:?}", scene.notes));
    let boxes = title.parent().expect("it is in a group").children();
    boxes.filter_map(|it| it.attribute("class")).find(|it| it.starts_with("b ")).expect("a box")
        [2..]
        .to_owned()
}

#[test]
fn colours_are_changes_beyond_noise_and_frames_are_changed_source() {
    let old = version(
        "1",
        &[
            &[
                ("run", 1, 1_000, 1),
                ("slow", 4, 200, 2),
                ("noisy", 4, 100, 3),
                ("fixed", 4, 600, 4),
            ],
            &[
                ("run", 1, 1_010, 1),
                ("slow", 4, 210, 2),
                ("noisy", 4, 140, 3),
                ("fixed", 4, 610, 4),
            ],
        ],
    );
    let new = version(
        "2",
        &[
            &[
                ("run", 1, 990, 1),
                ("slow", 4, 300, 9),
                ("noisy", 4, 120, 3),
                ("fixed", 4, 100, 4),
                ("fresh", 4, 50, 5),
            ],
            &[
                ("run", 1, 1_020, 1),
                ("slow", 4, 290, 9),
                ("noisy", 4, 150, 3),
                ("fixed", 4, 110, 4),
                ("fresh", 4, 50, 5),
            ],
        ],
    );
    let (scene, svg) = draw(&old, &new, By::Time);
    let fills = ["run", "slow", "noisy", "fixed", "fresh"]
        .map(|name| fill(&scene, &svg, &format!("Scene::{name}")));
    assert_eq!(fills, ["same", "slower", "same", "faster-here", "new"]);
    let framed = scene.nodes.iter().filter(|node| node.border == Border::Changed).count();
    assert_eq!((framed, svg.matches("class=\"frame\"").count()), (1, 1));
    // The median of two runs is the lower one: 600 ms, and 100 now. The outline is as much taller
    // than the box.
    let fixed =
        scene.nodes.iter().find(|node| node.fill == Fill::FasterHere).expect("it became faster");
    let ghost = fixed.ghost.expect("it was taller");
    assert!((ghost / fixed.rect.h - 600.0 / 100.0).abs() < 0.01, "{ghost} and {}", fixed.rect.h);
    assert!(
        fixed.tip.iter().any(|line| line.starts_with("time 600 ms → 100 ms (-83 %)")),
        "{:?}",
        fixed.tip
    );
    assert!(
        scene.notes.iter().any(|note| note.contains("fewer than five runs")),
        "{:?}",
        scene.notes
    );
    let mut labels: Vec<&str> =
        scene.nodes.iter().filter_map(|node| Some(node.label.as_ref()?.text.as_str())).collect();
    labels.sort_unstable();
    let changes = [
        "Scene::fixed -83 %",
        "Scene::fresh new",
        "Scene::noisy",
        "Scene::run",
        "Scene::slow +45 %",
    ];
    assert_eq!(labels, changes);
}

#[test]
fn methods_of_one_path_are_matched_by_their_type_arguments() {
    let old =
        version("1", &[&[("run", 1, 10, 1), ("eq<str>", 1_000, 5, 2), ("eq<String>", 7, 4, 2)]]);
    let rows = [
        ("run", 1, 10, 1),
        ("eq<bool>", 3, 1, 2),
        ("eq<str>", 1_000, 5, 2),
        ("eq<String>", 8, 4, 2),
    ];
    let step = compare(&old, &version("2", &[&rows]), By::Calls);
    let changes: Vec<Change> = step.methods.iter().map(|method| method.change).collect();
    assert_eq!(changes, [Change::Same, Change::New, Change::Same, Change::More]);
    assert!(step.gone.is_empty() && step.idle.is_empty());
}

#[test]
fn executions_are_compared_exactly_and_a_rename_is_no_new_method() {
    let old = version(
        "1",
        &[&[
            ("run", 1, 10, 1),
            ("measure", 1_000, 5, 2),
            ("old_name", 7, 4, 3),
            ("gone", 3, 1, 4),
            ("idle", 2, 1, 6),
        ]],
    );
    // A method that is still there and does not run is not gone.
    let new = version(
        "2",
        &[&[("run", 1, 10, 1), ("measure", 1_032, 5, 2), ("new_name", 7, 4, 3), ("idle", 0, 0, 6)]],
    );
    let step = compare(&old, &new, By::Calls);
    let changes: Vec<Change> = step.methods.iter().map(|method| method.change).collect();
    assert_eq!(changes, [Change::Same, Change::More, Change::Same, Change::Same]);
    assert_eq!(step.methods[2].was.as_deref(), Some("app::Scene::old_name"));
    let former = |path: &str, executions| Former { path: path.into(), executions };
    assert_eq!(step.gone, [former("app::Scene::gone", 3)]);
    assert_eq!(step.idle, [former("app::Scene::idle", 2)]);
    let (scene, svg) = draw(&old, &new, By::Calls);
    assert_eq!(fill(&scene, &svg, "measure"), "slower-here");
    assert!(
        svg.contains("calls 1,000 → 1,032 (+3 %)") && svg.contains("was app::Scene::old_name"),
        "{svg}"
    );
    assert!(scene.notes[0].starts_with(
        "1 with more calls, 0 with fewer calls, 0 new, 1 gone, 1 did not run, 1 renamed"
    ));
    assert!(!svg.contains("Scene::idle"), "{svg}");
    let text = emit::text(&scene, &step.graph, 60, 20);
    assert!(text.contains("more calls\n  Scene::measure: 1,000 → 1,032 (+3 %)\n"), "{text}");
    assert!(text.contains("\ngone\n  app::Scene::gone: 3 calls\n"), "{text}");
    assert!(text.contains("\ndid not run\n  app::Scene::idle: 2 calls\n"), "{text}");
    assert!(text.contains("\nrenamed\n  app::Scene::old_name → app::Scene::new_name\n"), "{text}");
}

#[test]
fn objects_are_compared_where_both_versions_count_them() {
    let rows: &[MethodCase] = &[("run", 1, 10, 1), ("build", 4, 5, 2), ("parse", 4, 4, 3)];
    let counted = |objects: [Option<u64>; 3]| {
        let mut version = version("", &[rows]);
        version.runs[0]
            .methods
            .iter_mut()
            .zip(objects)
            .for_each(|(method, objects)| method.objects = objects);
        version
    };
    // A method without objects has no number.
    let (old, new) =
        (counted([None, Some(100), Some(50)]), counted([Some(2), Some(101), Some(20)]));
    let (scene, svg) = draw(&old, &new, By::Objects);
    let fills = ["run", "build", "parse"].map(|name| fill(&scene, &svg, &format!("Scene::{name}")));
    assert_eq!(fills, ["slower-here", "same", "faster-here"]);
    assert!(
        scene.notes[0].starts_with("1 with more objects, 1 with fewer objects, 0 new"),
        "{:?}",
        scene.notes
    );
    assert!(svg.contains("objects 50 → 20 (-60 %)"), "{svg}");
    let error = |old| {
        picture::draw_evolution(&compare(old, &new, By::Objects), &Options::default()).map(|_| ())
    };
    assert_eq!(error(&counted([None; 3])), Err(PictureError::NoObjects));
    let by_instructions =
        picture::draw_evolution(&compare(&old, &new, By::Instructions), &Options::default());
    assert_eq!(by_instructions.map(|_| ()), Err(PictureError::NoInstructions));
}

#[test]
fn objects_that_found_no_room_are_not_judged() {
    let counted = |objects: u64, has_more_objects| {
        let mut version = version("", &[&[("run", 1, 10, 1), ("build", 4, 5, 2)]]);
        version.runs[0].methods[0].objects = Some(objects);
        version.runs[0].methods[1] = Method {
            objects: Some(objects),
            has_more_objects,
            ..version.runs[0].methods[1].clone()
        };
        version
    };
    let step = compare(&counted(50, true), &counted(100, false), By::Objects);
    assert_eq!([step.methods[0].change, step.methods[1].change], [Change::More, Change::Same]);
    let (scene, svg) = draw(&counted(50, true), &counted(100, false), By::Objects);
    assert!(
        svg.contains("objects ≥50 → ≥100") && svg.contains("objects 50 → 100 (+100 %)"),
        "{svg}"
    );
    assert!(
        scene.notes.iter().any(|note| note.contains("1 method is not judged")),
        "{:?}",
        scene.notes
    );
}

#[test]
fn several_versions_are_a_row_for_each_method_and_a_column_for_each_version() {
    let versions = [
        version("1", &[&[("run", 1, 10, 1), ("measure", 10, 5, 2), ("stay", 3, 1, 3)]]),
        version(
            "2",
            &[&[("run", 1, 10, 1), ("measure", 30, 5, 9), ("stay", 3, 1, 3), ("late", 8, 1, 4)]],
        ),
        // It has the tokens of `measure`.
        version(
            "3",
            &[&[("run", 1, 10, 1), ("size", 15, 5, 9), ("stay", 3, 1, 3), ("late", 8, 1, 4)]],
        ),
    ];
    let steps: Vec<_> =
        versions.windows(2).map(|two| compare(&two[0], &two[1], By::Calls)).collect();
    let names = versions.map(|version| version.name);
    let scene = picture::draw_strip(&steps.iter().collect::<Vec<_>>(), &names, &Options::default())
        .expect("some changed");
    let graph = &steps[1].graph;
    let text = emit::text(&scene, graph, 100, 20);
    let rows: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(rows, ["1 → 2 → 3", "·▲▽ Scene::size", "·+· Scene::late"]);
    let svg = emit::svg(&scene, graph);
    let document = roxmltree::Document::parse(&svg).expect("it is XML");
    let boxes = document
        .descendants()
        .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("b ")));
    let place = |node: &roxmltree::Node<'_, '_>, side| {
        node.attribute(side).and_then(|at| at.parse::<f64>().ok())
    };
    let cells: Vec<_> = boxes.filter(|node| place(node, "width") == Some(58.0)).collect();
    assert_eq!(cells.len(), 6, "a cell for each version of each row");
    let column = |cell: usize| place(&cells[cell], "x");
    assert!((0..3).all(|cell| column(cell) == column(cell + 3)), "versions are below each other");
    assert!(column(0) < column(1) && column(1) < column(2), "the oldest is at the left");
    assert_eq!(
        scene.nodes.iter().filter(|node| node.border == Border::Changed).count(),
        1,
        "one step changed tokens"
    );

    let same = [version("1", &[&[("run", 1, 10, 1)]]), version("2", &[&[("run", 1, 10, 1)]])];
    let step = compare(&same[0], &same[1], By::Calls);
    assert!(picture::draw_strip(&[&step, &step], &names, &Options::default()).is_none());
}

#[test]
fn far_versions_are_warned_of_and_strangers_are_refused() {
    let old = version("1", &[&[("run", 1, 10, 1)]]);
    let far = version("2", &[&[("run", 1, 10, 1), ("a", 1, 2, 0), ("b", 1, 2, 0)]]);
    let (scene, _) = draw(&old, &far, By::Calls);
    assert!(
        scene.notes.iter().any(|note| note.starts_with("67 % of the methods are new")),
        "{:?}",
        scene.notes
    );
    let stranger = version("3", &[&[("walk", 1, 10, 7)]]);
    let error = picture::draw_evolution(&compare(&old, &stranger, By::Calls), &Options::default())
        .map(|_| ());
    assert_eq!(error, Err(PictureError::Strangers));
    assert!(PictureError::Strangers.to_string().contains("record two versions of one program"));
}

/// A root with one callee of its own, one that another method calls as often, and one that it has
/// nothing to do with.
fn rooted(own: u64, from_root: u64, from_elsewhere: u64) -> Graph {
    let rows = [
        ("run", 1, 100, 1),
        ("layout", 1, 50, 2),
        ("measure", own, 20, 3),
        ("shared", from_root + from_elsewhere, 30, 4),
        ("paint", from_elsewhere, 10, 5),
    ];
    let mut graph = graph(&rows);
    let call = |from, to, count, ms: u64| Call { from, to, count, total_ns: ms * 1_000_000 };
    graph.calls = vec![
        call(0, 1, 1, 50),
        call(0, 4, from_elsewhere, 10),
        call(1, 2, own, 20),
        call(1, 3, from_root, 15),
        call(4, 3, from_elsewhere, 15),
    ];
    graph
}

#[test]
fn an_evolution_below_a_method_has_the_numbers_within_its_calls() {
    let version = |name: &str, graph: Graph| Version { name: name.into(), runs: vec![graph] };
    let old = version("1", rooted(4, 5, 100)).below("layout").expect("it is in the old version");
    let new = version("2", rooted(6, 5, 900)).below("layout").expect("it is in the new version");
    let step = compare(&old, &new, By::Calls);
    let of = |name: &str| {
        let at = step.graph.find(name).expect("it is there");
        (step.graph.methods[at].executions, step.methods[at].change)
    };
    // `shared` is called 5 times from here in both versions, and `paint` never.
    assert_eq!([of("run"), of("measure"), of("shared"), of("paint")].map(|(_, change)| change), {
        [Change::Same, Change::More, Change::Same, Change::Same]
    });
    assert_eq!([of("measure").0, of("shared").0, of("paint").0], [6, 5, 0]);
    let scene =
        picture::draw_evolution(&step, &Options::default()).expect("both have times and callers");
    assert_eq!(scene.nodes.iter().flat_map(|node| &node.methods).count(), 3, "{:?}", scene.nodes);
    assert!(
        scene.notes.iter().any(|note| note.contains("within the calls of layout")),
        "{:?}",
        scene.notes
    );
    let error =
        version("1", rooted(4, 5, 100)).below("missing").expect_err("no method has this name");
    assert!(error.starts_with("1: "), "{error}");
}

#[test]
fn what_is_only_an_upper_bound_below_a_method_is_not_judged() {
    let below = |from_elsewhere: u64| {
        let mut graph = rooted(4, 5, from_elsewhere);
        // What `paint` calls, `shared` calls as well: how often within `layout` is not known.
        graph.calls.push(Call { from: 3, to: 4, count: 1, total_ns: 1_000_000 });
        Version { name: "v".into(), runs: vec![graph] }.below("layout").expect("it is there")
    };
    let step = compare(&below(100), &below(900), By::Calls);
    let shared = step.graph.find("shared").expect("it is there");
    let method = &step.methods[shared];
    assert!(method.bounds.has(By::Calls) && method.change == Change::Same, "{method:?}");
    let scene =
        picture::draw_evolution(&step, &Options::default()).expect("both have times and callers");
    assert!(scene.notes.iter().any(|note| note.contains("is not judged")), "{:?}", scene.notes);
    let tips =
        scene.nodes.iter().filter(|node| node.methods == [shared]).flat_map(|node| &node.tip);
    assert!(tips.clone().any(|tip| tip.starts_with("calls ≤")), "{:?}", tips.collect::<Vec<_>>());
}
