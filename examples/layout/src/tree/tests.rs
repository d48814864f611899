use taffy::NodeId;

use super::*;
use crate::changes::Change;
use crate::page::{Limits, Page};
use crate::script::Script;

fn scene(html: &str) -> Scene {
    let mut scene = Page::parse("test", html.as_bytes(), Limits::default()).unwrap().scene();
    scene.relayout().unwrap();
    scene
}

fn find(scene: &Scene, tag: &str) -> NodeId {
    scene.ids().find(|&id| &*scene[id].tag == tag).unwrap()
}

/// Where everything is that is part of the page, and how large.
fn places(scene: &Scene) -> Vec<(NodeId, taffy::Point<f32>, taffy::Size<f32>)> {
    let mut places = Vec::new();
    let mut open = vec![scene.root()];
    while let Some(id) = open.pop() {
        places.push((id, scene[id].place.location, scene[id].place.size));
        open.extend(&scene[id].children);
    }
    places
}

#[test]
fn boxes_stand_below_each_other_and_flex_items_beside() {
    let scene = scene(
        "<body style='margin: 0'><h1 style='height: 50px; margin: 0'>a</h1><ul style='display: flex; margin: 0; padding: 0'><li style='width: 70px'>b</li><dd style='margin: 0'>c</dd></ul>",
    );
    let place = |tag| scene[find(&scene, tag)].place.location;
    assert_eq!(place("ul"), taffy::Point { x: 0.0, y: 50.0 });
    assert_eq!(place("dd"), taffy::Point { x: 70.0, y: 0.0 });
}

#[test]
fn the_cells_of_a_column_are_equally_wide() {
    let scene = scene("<table><tr><td>long word<td>x<tr><td>a<td>y");
    let cells: Vec<_> =
        scene.ids().filter(|&id| &*scene[id].tag == "td").map(|id| scene[id].place).collect();
    assert_eq!(cells[0].size.width, cells[2].size.width);
    assert_eq!(cells[1].location.x, cells[3].location.x);
    assert_eq!(cells[0].location.y, cells[1].location.y);
    assert!(cells[2].location.y >= cells[0].size.height);
}

#[test]
fn a_node_remembers_every_change_that_made_it_dirty() {
    let mut scene = scene("<div><p>one</p><h1>two</h1></div>");
    let p = find(&scene, "p");
    let h1 = find(&scene, "h1");
    let div = find(&scene, "div");
    let first = Change::Type { node: p, letter: 'x' };
    let second = Change::Hover { node: h1 };
    scene.make(first);
    scene.make(second);
    let reasons = |id| scene.reasons(id).map(|cause| cause.change).collect::<Vec<_>>();
    assert_eq!(
        (reasons(p), reasons(h1), reasons(div)),
        (vec![first], vec![second], vec![first, second])
    );
    scene.relayout().unwrap();
    assert_eq!(scene.reasons(div).count(), 0);
}

#[test]
fn a_node_is_laid_out_for_a_change_at_it_below_it_above_it_or_beside_it() {
    let mut scene = scene("<div><p>one</p><h1>two</h1></div>");
    let p = find(&scene, "p");
    let h1 = find(&scene, "h1");
    let div = find(&scene, "div");
    scene.make(Change::Type { node: p, letter: 'x' });
    assert_eq!([p, div, h1].map(|id| scene.why(id, false)), [Why::Dirty, Why::Dirty, Why::Beside]);
    assert_eq!([p, div, h1].map(|id| scene.why(id, true)), [Why::Dirty, Why::Dirty, Why::Needless]);
    scene.make(Change::Resize { width: 500.0 });
    assert_eq!([p, div, h1].map(|id| scene.why(id, true)), [Why::Dirty, Why::Dirty, Why::Above]);
}

#[test]
fn a_section_that_is_shown_again_has_its_old_layout() {
    let mut scene = scene("<div style='display: flex'><p>one</p></div><h1>two</h1>");
    let div = find(&scene, "div");
    let before = places(&scene);
    scene.frame(&[Change::Toggle { node: div }], 0.0).unwrap();
    assert_eq!(scene[div].place.size.height, 0.0);
    scene.frame(&[Change::Toggle { node: div }], 0.0).unwrap();
    assert_eq!(places(&scene), before);
}

#[test]
fn removed_rows_are_reused() {
    let mut scene = scene("<table><tr><td>a<td>b</table><ul><li>c<li>d</ul>");
    let before = places(&scene);
    for list in ["table", "ul"].map(|tag| find(&scene, tag)) {
        let append = [Change::Append { node: list }; 3];
        let height = scene[list].place.size.height;
        scene.frame(&append, 0.0).unwrap();
        assert!(scene[list].place.size.height > height + 60.0);
        let nodes = scene.ids().count();
        scene.frame(&[Change::Trim { node: list }], 0.0).unwrap();
        assert_eq!(places(&scene), before);
        scene.frame(&append, 0.0).unwrap();
        assert_eq!(scene.ids().count(), nodes);
        scene.frame(&[Change::Trim { node: list }], 0.0).unwrap();
    }
}

#[test]
fn only_what_the_window_shows_is_painted() {
    let mut scene = scene(&"<p>line</p>".repeat(1000));
    let painted = scene.paint_window(0.0);
    assert!((15..40).contains(&painted.nodes), "{painted:?}");
    assert_ne!(scene.paint_window(500.0).sum, painted.sum);
    assert_eq!(scene.paint_window(1e9).nodes, 1);
}

#[test]
fn a_page_that_takes_too_long_is_abandoned() {
    let mut scene = scene("<p>one");
    scene.dirty_all();
    scene.work = 2;
    scene.compute();
    assert_eq!(scene.work, 0);
}

#[test]
fn an_incremental_layout_equals_a_full_layout() {
    for seed in 0..40 {
        let html = random_page(seed);
        let mut careful = scene(&html);
        let mut brute = scene(&html);
        let mut script = Script::new(&careful, seed);
        let mut same = Script::new(&brute, seed);
        for frame in 0..60 {
            careful.frame(&script.frame(&careful), 0.0).unwrap();
            same.frame(&brute).into_iter().for_each(|change| brute.make(change));
            brute.dirty_all();
            brute.relayout().unwrap();
            let differs =
                places(&careful).into_iter().zip(places(&brute)).find(|(one, other)| one != other);
            assert_eq!(differs, None, "seed {seed}, frame {frame}: {html}");
        }
    }
}

/// A page of boxes in boxes, of all displays.
fn random_page(seed: u64) -> String {
    const OPEN: [&str; 8] = [
        "<div>",
        "<div style='display: flex'>",
        "<div style='display: flex; flex-direction: column; align-items: center'>",
        "<div style='display: grid; grid-template-columns: 1fr auto'>",
        "<div style='margin: 1em; padding: 3px'>",
        "<ul><li>",
        "<table><tr><td>cell<td>",
        "<div style='width: 50%; min-height: 30px; position: relative'>",
    ];
    let mut dice = crate::script::Dice(seed);
    let mut page = String::from("<body>");
    for _ in 0..40 {
        match dice.roll() % 4 {
            0 => page.push_str(OPEN[(dice.roll() % 8) as usize]),
            1 => page.push_str(["</div>", "</ul>", "</table>"][(dice.roll() % 3) as usize]),
            2 => page.push_str(
                "<p>some words of a paragraph that is long enough to break at some width</p>",
            ),
            _ => page.push_str("<div></div> beside"),
        }
    }
    page + "<p>the end"
}
