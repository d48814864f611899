//! The profile agrees with the work that was done, and every re-layout has its reason.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use metaspy::store::{By, Filter, Position, Scope, Store};
use metaspy::{Event, KindId, Profile, Recording, Subject};
use metaspy_layout_story::{Change, Counts, Limits, Page, profiler};
use taffy::NodeId;

/// Two changes in one frame, and what was seen of it.
struct Frame {
    /// The kind of the scene's subjects.
    kind: KindId,
    nodes: Vec<Node>,
    profile: Profile,
    counts: Counts,
    letter: NodeId,
    hovered: NodeId,
}

/// A node, as the scene has it.
struct Node {
    tag: String,
    owner: Option<NodeId>,
    parent: Option<NodeId>,
}

/// One frame for all tests: there is one recording per process.
fn frame() -> &'static Frame {
    static FRAME: OnceLock<Frame> = OnceLock::new();
    FRAME.get_or_init(|| {
        let html = "<div style='display: flex'><main><p>one</p><div></div><p>two</p><div></div></main></div>
            <table><tr><td>a<td>b</table>";
        let mut scene = Page::parse("test", html.as_bytes(), Limits::default()).unwrap().scene();
        scene.introduce();
        scene.relayout().unwrap();
        let paragraphs: Vec<_> = scene.ids().filter(|&id| &*scene[id].tag == "p").collect();
        let (letter, hovered) = (paragraphs[0], paragraphs[1]);

        Recording::memory().start().unwrap();
        let before = scene.counts();
        let installed = profiler().install().unwrap();
        scene.frame(&[Change::Type { node: letter, letter: 'x' }, Change::Hover { node: hovered }], 0.0).unwrap();
        let profile = installed.uninstall();
        let counts = scene.counts() - before;
        let node = |id| Node { tag: scene[id].tag.to_string(), owner: scene[id].owner, parent: scene[id].parent };
        let kind = scene.subject(scene.root()).kind;
        Frame { kind, nodes: scene.ids().map(node).collect(), profile, counts, letter, hovered }
    })
}

fn store() -> &'static Store {
    frame().profile.store()
}

fn subject(id: NodeId) -> Subject {
    Subject::new(frame().kind, id.into())
}

fn node(id: NodeId) -> &'static Node {
    &frame().nodes[usize::from(id)]
}

/// The events at a site, of one node or of all.
fn events(site: &str, node: Option<NodeId>) -> Vec<Event> {
    let mut filter: Filter = format!("site:Scene::{site}").parse().unwrap();
    if let Some(node) = node {
        filter = filter.and(Filter::subject(subject(node)));
    }
    store().forward(Position::Start, &filter, usize::MAX, usize::MAX).events
}

#[test]
fn the_profile_counts_layouts_and_changes() {
    let counts = frame().counts;
    let at = |site: &str| {
        let filter: Filter = format!("site:Scene::{site}").parse().unwrap();
        let rows = store().tally(By::Site, &Scope::matching(filter)).rows;
        rows.first().map_or((0, 0), |row| (row.measure.count, row.measure.failed))
    };
    assert_eq!(at("frame").0, 1);
    assert_eq!(at("change").0, counts.changes);
    assert_eq!(at("layout").0, counts.layouts);
    assert_eq!(at("needless").0, counts.needless);
    assert_eq!(at("measure").0, counts.measures);
    assert_eq!(at("recall_size"), (counts.size_requests, counts.size_requests - counts.size_hits));
    assert_eq!(
        at("recall_layout"),
        (counts.layout_requests, counts.layout_requests - counts.layout_hits)
    );
    assert_eq!(at("store"), (counts.stores, counts.forgotten));
    assert_eq!(at("paint").0, counts.painted);
    assert!(counts.needless > 0 && counts.forgotten > 0 && counts.layout_hits > 0, "{counts:?}");
}

#[test]
fn a_relayout_links_to_every_change_that_made_its_node_dirty() {
    let frame = frame();
    let change = |node| events("change", Some(node))[0].id;
    let links = |node| -> BTreeSet<_> {
        let layouts = events("layout", Some(node));
        assert!(!layouts.is_empty());
        layouts.iter().flat_map(|layout| store().links(layout.id)).collect()
    };
    let (letter, hover) = (change(frame.letter), change(frame.hovered));
    let main = node(frame.letter).parent.unwrap();
    assert_eq!(links(frame.letter), BTreeSet::from([letter]));
    assert_eq!(links(frame.hovered), BTreeSet::from([hover]));
    assert_eq!(links(main), BTreeSet::from([letter, hover]));
    assert_eq!(links(NodeId::new(0)), BTreeSet::from([letter, hover]));
}

#[test]
fn needless_relayouts_link_to_no_change() {
    let needless = events("needless", None);
    assert!(!needless.is_empty());
    for event in needless {
        let layout = event.cause.expect("it hangs under the re-layout");
        assert_eq!(store().links(layout), []);
        assert_eq!(store().event(layout).unwrap().subject, event.subject);
    }
}

#[test]
fn changes_and_relayouts_are_effects_of_their_frame() {
    let frame = events("frame", None)[0].id;
    assert!(events("change", None).iter().all(|change| change.cause == Some(frame)));
    let root = events("layout", Some(NodeId::new(0)));
    assert!(root.iter().all(|layout| layout.cause == Some(frame)));
}

#[test]
fn nodes_have_names_and_relations() {
    let letter = subject(frame().letter);
    assert_eq!(store().label(letter), Some(format!("#{} <p> \"one\"", letter.key).as_str()));
    let cells: Vec<_> =
        (0..frame().nodes.len()).map(NodeId::from).filter(|&id| node(id).tag == "td").collect();
    let related = |name: &str, from: NodeId, to: NodeId| {
        let relations = store().relations_of(subject(from));
        let is_it = relations
            .iter()
            .any(|it| it.name == name && it.from == subject(from) && it.to == subject(to));
        assert!(is_it, "{name}: {relations:?}");
    };
    related("owner", cells[0], node(cells[0]).owner.unwrap());
    related("cache", node(cells[0]).parent.unwrap(), cells[0]);
    related("sibling", cells[0], cells[1]);
    assert_eq!(node(node(cells[0]).owner.unwrap()).tag, "tr");
}
