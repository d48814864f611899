//! The page in a browser: pointer, keys, search, tabs, menu, theme. Without Chromium these tests
//! are skipped.

#![cfg(unix)]

mod chrome;
#[path = "../fixture/mod.rs"]
mod fixture;
mod flame;
mod screenshots;

use std::path::{Path, PathBuf};

use chrome::Chrome;
use metaspy_blueprints::evolution::{By, Version, compare};
use metaspy_blueprints::graph::Call;
use metaspy_blueprints::scene::Border;
use metaspy_blueprints::view::{Channel, View, Viewed};
use metaspy_blueprints::{Graph, Kind, Options, Scene, emit, page, picture};

/// A browser that shows a page of this picture, and the others behind tabs.
fn browser(name: &str, graph: &Graph, kind: Kind) -> Option<(Chrome, PathBuf)> {
    opened(name, &page(kind, graph, &Options::default()).expect("it is drawn"))
}

fn opened(name: &str, page: &str) -> Option<(Chrome, PathBuf)> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser").join(name);
    std::fs::create_dir_all(&dir).expect("the directory is made");
    let Some(mut chrome) = Chrome::start(&dir.join("profile")) else {
        println!("SKIPPED: browser: {name} needs Chromium, which is not installed");
        return None;
    };
    let file = dir.join("page.html");
    std::fs::write(&file, page).expect("it is written");
    chrome.open(&file, "");
    Some((chrome, file))
}

/// A browser that shows a picture of its own: of two versions, or of objects.
fn browser_of(name: &str, graph: &Graph, scene: &Scene) -> Option<Chrome> {
    let page =
        emit::html(&[emit::Pictures { graph, scenes: vec![(scene.kind.word().into(), scene)] }]);
    opened(name, &page).map(|(chrome, _)| chrome)
}

/// The middle of a box.
fn middle(chrome: &mut Chrome, node: u64) -> (f64, f64) {
    let place = chrome.evaluate(&format!(
        "(() => {{ const r = boxes[{node}].firstElementChild.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
    ));
    (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"))
}

fn is_true(chrome: &mut Chrome, expression: &str) {
    assert_eq!(chrome.evaluate(expression), true, "{expression}");
}

#[test]
fn hover_describes_a_box_and_a_click_focuses_it() {
    let graph = fixture::program(300, 11);
    let Some((mut chrome, _)) = browser("pointer", &graph, Kind::Structural) else { return };
    let tallest = chrome.evaluate("byTime[0]").as_u64().expect("there are boxes");
    let place = middle(&mut chrome, tallest);
    chrome.point(place);
    is_true(&mut chrome, "!popup.hidden && popup.textContent === describe(byTime[0])");
    is_true(
        &mut chrome,
        "/\\d calls?/.test(popup.textContent) && popup.textContent.includes('total')",
    );
    is_true(
        &mut chrome,
        "svg.classList.contains('dim') && boxes[byTime[0]].classList.contains('here')",
    );
    is_true(
        &mut chrome,
        "all.querySelectorAll('.caller, .callee').length === new Set(neighbours(byTime[0]).flatMap(s => [...s])).size",
    );
    chrome.click(place, "left");
    is_true(&mut chrome, "focused === byTime[0] && !panel.hidden && location.hash.length > 1");
    is_true(&mut chrome, "panel.querySelector('h2').textContent === path(methodsOf(focused)[0])");
    chrome.point((700.0, 10.0));
    chrome.key("Escape");
    is_true(
        &mut chrome,
        "focused === null && panel.hidden && location.hash === '' && !svg.classList.contains('dim')",
    );
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn labels_can_be_read_and_overlap_nothing() {
    let graph = fixture::program(300, 18);
    let Some((mut chrome, _)) = browser("labels", &graph, Kind::Structural) else { return };
    for picture in 0..Kind::OF_A_RUN.len() {
        chrome.evaluate(&format!("show({picture})"));
        let faults = chrome.label_faults();
        assert!(faults.is_empty(), "{}: {faults:#?}", chrome.evaluate("P.kind"));
    }
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn labels_of_an_evolution_can_be_read_and_overlap_nothing() {
    let mut old = fixture::program(300, 18);
    let mut new = old.clone();
    for (at, method) in new.methods.iter_mut().enumerate().filter(|(at, _)| at % 3 == 0) {
        // Some have more calls and some fewer, some with another source.
        method.executions = method.executions * (at as u64 % 5) / 2;
        method.fingerprint += u32::from(at % 2 == 0);
    }
    // What did not run took no time, and called nothing.
    for graph in [&mut old, &mut new] {
        for method in graph.methods.iter_mut().filter(|method| method.executions == 0) {
            (method.total_ns, method.self_ns) = (Some(0), Some(0));
        }
        let has_run: Vec<bool> = graph.methods.iter().map(|method| method.executions > 0).collect();
        graph.calls.retain(|call| has_run[call.from] && has_run[call.to]);
    }
    labels_of_the_evolution_are_right("evolution", old, new, 5);
}

/// Opens the evolution of two graphs, of which more methods than `least` have changed, and reads
/// its labels.
fn labels_of_the_evolution_are_right(name: &str, old: Graph, new: Graph, least: usize) {
    let version = |graph: Graph| Version { name: String::new(), runs: vec![graph] };
    let step = compare(&version(old), &version(new), By::Calls);
    let scene = picture::draw_evolution(&step, &Options::default()).expect("methods ran in both");
    assert!(
        scene.nodes.iter().filter(|node| node.border == Border::Changed).count() > least,
        "frames are drawn"
    );
    let Some(mut chrome) = browser_of(name, &step.graph, &scene) else { return };
    let faults = chrome.label_faults();
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

/// A program whose methods have long names that differ in the middle, below `callers` callers of
/// one method, with `callees` callees each. All have enough time for a label.
fn crowded(callers: usize, callees: usize) -> Graph {
    let count = 1 + callers * (1 + callees);
    let mut graph = fixture::program(count, 20);
    graph.calls.clear();
    for at in 0..count {
        let level = if at == 0 {
            1
        } else if at <= callers {
            callers
        } else {
            callers * callees
        };
        let time = 1_000_000_000 / level as u64;
        let method = &mut graph.methods[at];
        method.name = format!("Type{}::get_plain_{at}_resource_of_the_page", at / 8);
        method.path = format!("app::{}", method.name);
        (method.total_ns, method.self_ns, method.executions) =
            (Some(time), Some(time / 10), 1 + at as u64);
        if at > 0 {
            let from = if at <= callers { 0 } else { 1 + (at - 1 - callers) / callees };
            graph.calls.push(Call { from, to: at, count: 1, total_ns: time });
        }
    }
    graph.entries[0].1.total_ns = 1_000_000_000;
    graph
}

#[test]
fn labels_of_crowded_trees_use_the_room_that_there_is() {
    for (callers, callees) in [(3, 2), (6, 6), (12, 2), (25, 1), (45, 4)] {
        let name = format!("crowded-{callers}-{callees}");
        let graph = crowded(callers, callees);
        let Some((mut chrome, _)) = browser(&name, &graph, Kind::Behavioural) else { return };
        for kind in ["behavioural", "calls"] {
            chrome.evaluate(&format!(
                "show(PAGE.pictures.findIndex(picture => picture.kind === '{kind}'))"
            ));
            let faults = chrome.label_faults();
            assert!(faults.is_empty(), "{name}: {kind}: {faults:#?}");
        }
        assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
        let mut new = graph.clone();
        for (at, method) in new.methods.iter_mut().enumerate() {
            method.executions += at as u64 % 3;
            method.fingerprint += u32::from(at % 2 == 0);
        }
        labels_of_the_evolution_are_right(&format!("{name}-evolution"), graph, new, 3);
    }
}

#[test]
fn labels_of_objects_can_be_read_and_overlap_nothing() {
    for count in [12, 3_000] {
        let mut graph = fixture::program(count, 18);
        graph.calls =
            (1..count).map(|at| Call { from: at / 6, to: at, count: 1, total_ns: 0 }).collect();
        graph.entries.truncate(1);
        // A few objects have nearly all of the time.
        let number =
            |at: usize| if at % (count / 6) == 5 { 1_000 * at as u64 } else { at as u64 % 3 };
        let numbers = (0..count)
            .map(|at| [number(at), at as u64 % 40, at as u64 % 7, u64::from(at % 5 == 0), 0, 0, 0])
            .collect();
        let viewed = Viewed { view: View::new("node"), graph, numbers };
        let scene = picture::draw_domain(&viewed, &Options::default()).expect("there are objects");
        let Some(mut chrome) = browser_of(&format!("objects-{count}"), &viewed.graph, &scene)
        else {
            return;
        };
        let faults = chrome.label_faults();
        assert!(faults.is_empty(), "{count}: {faults:#?}");
        is_true(
            &mut chrome,
            "P.nodes.filter(n => n[3] > 15 && /#|_/.test(n[6]?.beside ?? n[6]?.along ?? n[6]?.inside ?? n[6]?.upright)).length >= 2",
        );
        assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
    }
}

#[test]
fn names_of_objects_at_places_overlap_nothing() {
    let mut graph = fixture::program(60, 18);
    graph.calls.clear();
    graph.entries.truncate(0);
    let numbers =
        (0..60).map(|at| [at, at % 7, at % 5, at % 4 / 3, 0, at * 37 % 60, at * 17 % 60]).collect();
    let view = View::new("node")
        .at(Channel::count(""), Channel::total(""))
        .border(Channel::count("site:a"));
    let viewed = Viewed { view, graph, numbers };
    let scene = picture::draw_domain(&viewed, &Options::default()).expect("there are objects");
    assert!(
        scene.nodes.iter().filter(|node| node.label.is_some()).count() > 20,
        "most have room for a name"
    );
    let Some(mut chrome) = browser_of("places", &viewed.graph, &scene) else { return };
    let faults = chrome.label_faults();
    let faults: Vec<&String> =
        faults.iter().filter(|fault| !fault.contains("has no label")).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn search_counts_dims_and_leads_to_the_first() {
    let graph = fixture::program(300, 12);
    let Some((mut chrome, _)) = browser("search", &graph, Kind::Structural) else { return };
    chrome.key("/");
    for letter in "type1::".chars() {
        chrome.key(&letter.to_string());
    }
    is_true(&mut chrome, "search.value === 'type1::' && document.activeElement === search");
    let expected =
        "P.nodes.filter(n => n[5].some(m => path(m).toLowerCase().includes('type1::'))).length";
    is_true(
        &mut chrome,
        &format!("{expected} > 0 && $('found').textContent === {expected} + ' found'"),
    );
    is_true(&mut chrome, &format!("all.querySelectorAll('.n.on').length === {expected}"));
    chrome.key("Enter");
    is_true(
        &mut chrome,
        "short(methodsOf(focused)[0]).startsWith('Type1::') && search.value === ''",
    );
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn keys_walk_by_time_and_along_calls_and_turn_the_pictures() {
    let graph = fixture::program(300, 13);
    let Some((mut chrome, _)) = browser("keys", &graph, Kind::Behavioural) else { return };
    chrome.key("n");
    chrome.key("n");
    is_true(&mut chrome, "focused === byTime[1]");
    chrome.key("p");
    is_true(&mut chrome, "focused === byTime[0]");
    chrome.evaluate("focus(P.edges.find(e => !e[3] && methodsOf(e[0]).length)[0])");
    let caller = chrome.evaluate("focused");
    chrome.key("ArrowDown");
    is_true(&mut chrome, &format!("P.edges.some(e => e[0] === {caller} && e[1] === focused)"));
    // A method that ran is in all pictures.
    chrome.evaluate("focus(byTime.find(at => D.methods[methodsOf(at)[0]][RUNS] > 0))");
    let name = chrome.evaluate("path(methodsOf(focused)[0])");
    chrome.key("]");
    is_true(&mut chrome, "P.kind === 'structural' && document.title.startsWith('structural')");
    assert_eq!(chrome.evaluate("path(methodsOf(focused)[0])"), name, "the method stays in focus");
    chrome.key("[");
    is_true(&mut chrome, "P.kind === 'behavioural'");
    is_true(
        &mut chrome,
        "(() => { const z = zoom; dispatchEvent(new KeyboardEvent('keydown', { key: '+' })); return zoom > z; })()",
    );
    chrome.key("0");
    is_true(&mut chrome, "fitted");
    chrome.key("l");
    is_true(
        &mut chrome,
        "!panel.hidden && panel.querySelectorAll('tr[data-n]').length >= byTime.length",
    );
    chrome.key("t");
    is_true(&mut chrome, "document.documentElement.dataset.theme === 'dark'");
    // A printed page has the whole picture, whatever part of it is shown.
    for _ in 0..3 {
        chrome.key("+");
    }
    let is_whole = "(() => { const a = svg.getBoundingClientRect(), b = view.getBoundingClientRect(); \
                    return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom; })()";
    assert_eq!(chrome.evaluate(is_whole), false);
    chrome.call("Emulation.setEmulatedMedia", serde_json::json!({ "media": "print" }));
    is_true(&mut chrome, is_whole);
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn a_large_picture_begins_with_its_modules_and_leads_to_types_and_methods() {
    let graph = fixture::program(20_000, 15);
    let Some((mut chrome, _)) = browser("levels", &graph, Kind::Structural) else { return };
    is_true(
        &mut chrome,
        "level > 0 && all.classList.contains('coarse') && $('level').textContent.includes('own time')",
    );
    is_true(&mut chrome, "getComputedStyle(boxes[0]).display === 'none'");
    let first = chrome.evaluate("level").as_u64().expect("a level");
    let cover = "document.querySelector('.covers.open .cover')";
    let rect = chrome.evaluate(&format!(
        "(() => {{ const r = {cover}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
    ));
    chrome
        .click((rect[0].as_f64().expect("a number"), rect[1].as_f64().expect("a number")), "left");
    is_true(&mut chrome, &format!("level < {first}"));
    chrome.key("0");
    is_true(&mut chrome, &format!("level === {first}"));
    chrome.key("n");
    is_true(&mut chrome, "level === 0 && focused === byTime[0]");
    chrome.key("Escape");
    chrome.key("c");
    is_true(&mut chrome, "level === 1");
    // The bars are the own times of the types: their heights add up to all of it.
    is_true(
        &mut chrome,
        "(() => { const all = P.nodes.flatMap(n => n[5]).reduce((sum, m) => sum + D.methods[m][OWN], 0);          const types = P.frames.map((f, i) => TYPES.includes(f[4]) ? inFrame[i].reduce((sum, m) => sum + amountOf(m), 0) : 0);          return types.reduce((a, b) => a + b) === all; })()",
    );
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn a_type_leads_to_its_traits_and_a_trait_to_its_types() {
    let graph = fixture::program(300, 16);
    let Some((mut chrome, _)) = browser("traits", &graph, Kind::Structural) else { return };
    let place = |chrome: &mut Chrome, kind: &str, name: &str| {
        let place = chrome.evaluate(&format!(
            "(() => {{ const r = document.querySelectorAll('.fg')[P.frames.findIndex(f => f[4] === '{kind}' && f[5] === '{name}')]             .querySelector('.ft').getBoundingClientRect(); return [r.x + 2, r.y + r.height / 2]; }})()"
        ));
        (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"))
    };
    let type_ = place(&mut chrome, "type", "Type11");
    chrome.point(type_);
    is_true(&mut chrome, "popup.textContent.includes('implements: app::module_1::Type10, Debug')");
    is_true(&mut chrome, "document.querySelectorAll('#relations path.up').length === 1");
    let trait_ = place(&mut chrome, "trait", "Type10");
    chrome.point(trait_);
    is_true(&mut chrome, "popup.textContent.includes('2 implementors: Type11, Type12')");
    is_true(&mut chrome, "document.querySelectorAll('#relations path.down').length === 2");
    chrome.point((700.0, 10.0));
    is_true(&mut chrome, "$('relations').innerHTML === ''");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn the_menu_has_commands_and_an_address_opens_a_method() {
    let graph = fixture::program(300, 14);
    let Some((mut chrome, file)) = browser("menu", &graph, Kind::Structural) else { return };
    let tallest = chrome.evaluate("byTime[0]").as_u64().expect("there are boxes");
    let place = middle(&mut chrome, tallest);
    chrome.click(place, "right");
    is_true(
        &mut chrome,
        "!menu.hidden && menu.textContent.includes('copy: behavioural blueprint from here')",
    );
    is_true(
        &mut chrome,
        "[...menu.children].some(it => it.textContent === 'show it in the coverage picture')",
    );
    chrome.evaluate("[...menu.children].find(it => it.textContent === 'show it in the coverage picture').click()");
    is_true(&mut chrome, "P.kind === 'coverage' && menu.hidden && focused !== null");
    let name = chrome.evaluate("short(methodsOf(focused)[0])");
    let hash = chrome.evaluate("location.hash");
    chrome.open(&file, hash.as_str().expect("an address"));
    assert_eq!(chrome.evaluate("short(methodsOf(focused)[0])"), name);
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}
