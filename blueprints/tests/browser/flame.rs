//! The flame page in a browser: its numbers, views, search, pointer and keys.

use std::cmp::Reverse;
use std::path::Path;

use metaspy_report::flame::{Call, Edge, FlamePage, InTime, Lane, Measure, Stacks, Tree, Unit};

use crate::chrome::Chrome;
use crate::is_true;

/// Stacks with their own times, and the thread that they are of.
const STACKS: [(usize, &str, u64); 7] = [
    (0, "app::main app::Shop::total app::Shop::price", 40_000_000),
    (0, "app::main app::Shop::total", 10_000_000),
    (0, "app::main app::Shop::discount app::Shop::price", 20_000_000),
    (0, "app::main", 5_000_000),
    (0, "app::main app::tree app::tree", 5_000_000),
    (1, "app::work app::Shop::price", 15_000_000),
    (1, "app::work </script><b>", 5_000_000),
];

fn stacks(page: &mut FlamePage, factor: u64) -> Stacks {
    let mut lanes = vec![
        Lane { name: "main".into(), ..Lane::default() },
        Lane { name: "worker".into(), ..Lane::default() },
    ];
    for (lane, stack, own) in STACKS {
        let path: Vec<usize> =
            stack.split(' ').map(|name| page.function(name, "src/main.rs:7", "app")).collect();
        // The price is what differs in an earlier recording.
        let own = if stack.ends_with("price") { own * factor } else { own };
        lanes[lane].tree.add(path, [own, 1, 0]);
    }
    let mut call = |start_ms: u64, took_ms: u64, name: &str| Call {
        start_ns: start_ms * 1_000_000,
        end_ns: Reverse((start_ms + took_ms) * 1_000_000),
        function: page.function(name, "src/main.rs:7", "app"),
    };
    let calls = vec![
        call(0, 80, "app::main"),
        call(5, 20, "app::Shop::discount"),
        call(30, 50, "app::Shop::total"),
    ];
    lanes[0].in_time = Some(InTime { calls });
    let calls = Measure { is_width: false, ..Measure::new("calls", Unit::Count) };
    let mut stacks = Stacks {
        name: "events".into(),
        about: "stored calls".into(),
        measures: vec![Measure::new("wall time", Unit::Ns), calls],
        lanes,
        ..Stacks::default()
    };
    stacks.add_up();
    stacks
}

/// Methods with their callers, one level up.
fn callers(page: &mut FlamePage) -> Stacks {
    let [main, total, price] = ["app::main", "app::Shop::total", "app::Shop::price"]
        .map(|name| page.function(name, "src/main.rs:7", "app"));
    let edge = |from, to, ns| Edge { from, to, total: [ns, 1, 0] };
    let edges = vec![
        edge(None, main, 80),
        edge(Some(main), total, 50),
        edge(Some(total), price, 40),
        edge(Some(main), price, 20),
    ];
    let mut tree = Tree::default();
    tree.add([main], [80, 1, 0]);
    let mut stacks = Stacks {
        name: "callers".into(),
        measures: vec![Measure { is_least: true, ..Measure::new("wall time", Unit::Ns) }],
        lanes: vec![Lane { tree, ..Lane::default() }],
        ..Stacks::default()
    };
    stacks.add_up();
    for (function, total) in [(total, 50), (price, 60)] {
        stacks.rows.entry(function).or_default().total[0] = total;
    }
    Stacks { edges: Some(edges), ..stacks }
}

/// A browser with a page.
fn shown(name: &str, page: &FlamePage) -> Option<Chrome> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flame").join(name);
    std::fs::create_dir_all(&dir).expect("the directory is made");
    let Some(mut chrome) = Chrome::start(&dir.join("profile")) else {
        println!("SKIPPED: browser: {name} needs Chromium, which is not installed");
        return None;
    };
    let file = dir.join("page.html");
    std::fs::write(&file, page.html()).expect("it is written");
    chrome.open(&file, "");
    Some(chrome)
}

/// A page of two threads, and of callers.
fn page() -> FlamePage {
    let mut page = FlamePage::new("a run");
    let stacks = stacks(&mut page, 1);
    page.stacks.push(stacks);
    let callers = callers(&mut page);
    page.stacks.push(callers);
    page
}

fn is(chrome: &mut Chrome, expression: &str, expected: &str) {
    assert_eq!(chrome.evaluate(expression), expected, "{expression}");
}

/// The frames that are drawn, from top to bottom: `name total`.
const DRAWN: &str = "boxes.toSorted((a, b) => a.y - b.y || a.x - b.x).map(box => `${nameOf(box.node.f).replace('app::', '')} ${amount(box.node.total[state.k])}`).join(', ')";

#[test]
fn stacks_are_drawn_from_both_sides_around_a_function_by_thread_and_in_time() {
    let Some(mut chrome) = shown("views", &page()) else { return };
    let chrome = &mut chrome;
    is(
        chrome,
        DRAWN,
        "all 100 ms, main 80.0 ms, work 20.0 ms, Shop::total 50.0 ms, Shop::discount 20.0 ms, tree 5.00 ms, \
         Shop::price 15.0 ms, </script><b> 5.00 ms, Shop::price 40.0 ms, Shop::price 20.0 ms, tree 5.00 ms",
    );
    // Each row of the table is what reports print.
    is(
        chrome,
        "[...document.querySelectorAll('tbody tr')].slice(0, 2).map(row => [...row.children].map(cell => cell.textContent).join(' ')).join(', ')",
        "75.0 ms 75.0 ms app::Shop::price, 50.0 ms 10.0 ms app::Shop::total",
    );
    is(chrome, "$('where').textContent", "all: 100 ms wall time (100.0 %)");
    chrome.key("i");
    is(
        chrome,
        "tree.kids.slice(0, 1).flatMap(kid => [kid, ...kid.kids]).map(node => `${shortName(node.f)} ${amount(node.total[0])}`).join(', ')",
        "Shop::price 75.0 ms, Shop::total 40.0 ms, Shop::discount 20.0 ms, work 15.0 ms",
    );
    chrome.evaluate("document.querySelector('tbody tr').click()");
    is(
        chrome,
        DRAWN,
        "main 40.0 ms, main 20.0 ms, Shop::total 40.0 ms, Shop::discount 20.0 ms, work 15.0 ms, Shop::price 75.0 ms",
    );
    is_true(
        chrome,
        "decodeURIComponent(location.hash) === '#app::Shop::price' && state.view === 'sandwich'",
    );
    chrome.key("0");
    chrome.key("]");
    chrome.key("]");
    is(chrome, DRAWN, "all 20.0 ms, work 20.0 ms, Shop::price 15.0 ms, </script><b> 5.00 ms");
    chrome.key("[");
    chrome.key("o");
    is(chrome, DRAWN, "all 80.0 ms, main 80.0 ms, Shop::discount 20.0 ms, Shop::total 50.0 ms");
    chrome.key("f");
    is(chrome, DRAWN, "Shop::discount 20.0 ms, Shop::total 50.0 ms, main 80.0 ms, all 80.0 ms");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn a_click_enlarges_a_frame_keys_walk_and_search_states_a_share() {
    let Some(mut chrome) = shown("input", &page()) else { return };
    let chrome = &mut chrome;
    let place = chrome.evaluate(
        "(() => { const r = canvas.getBoundingClientRect(), b = boxes.find(b => nameOf(b.node.f) === 'app::Shop::total'); \
         return [r.x + b.x + b.w / 2, r.y + b.y + ROW / 2]; })()",
    );
    let place = (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"));
    chrome.point(place);
    is(
        chrome,
        "$('where').textContent",
        "app::Shop::total: 50.0 ms wall time (50.0 %), self 10.0 ms (10.0 %); 1 calls; src/main.rs:7",
    );
    chrome.click(place, "left");
    is(chrome, DRAWN, "all 100 ms, main 80.0 ms, Shop::total 50.0 ms, Shop::price 40.0 ms");
    is_true(
        chrome,
        "Math.abs(boxes.at(-1).w / boxes.at(-2).w - 0.8) < 0.001 && boxes.at(-2).w > 500",
    );
    chrome.point((5.0, 5.0));
    chrome.key("ArrowDown");
    is(chrome, "nameOf(state.here.f)", "app::Shop::price");
    chrome.key("ArrowUp");
    chrome.key("Escape");
    chrome.key("Escape");
    is_true(chrome, "state.zoom === null && boxes.length === 11");
    chrome.key("/");
    "price|tree".chars().for_each(|letter| chrome.key(&letter.to_string()));
    // The inner call of `tree` is a part of the outer one.
    is(chrome, "$('found').textContent", "80.0 % in 2 functions");
    chrome.key("Enter");
    chrome.key("n");
    is(chrome, "nameOf(state.here.f)", "app::Shop::price");
    chrome.key("s");
    is_true(chrome, "state.view === 'sandwich' && nameOf(state.f) === 'app::Shop::price'");
    chrome.key("0");
    is_true(chrome, "state.view === 'flame' && $('search').value === '' && !state.pattern");
    chrome.key("?");
    is_true(chrome, "!$('keys').hidden && $('keys').children.length === KEYS.length");
    chrome.key("t");
    is_true(chrome, "document.documentElement.dataset.theme === 'dark'");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn callers_one_level_up_have_a_sandwich_and_bounds_keep_their_sign() {
    let Some(mut chrome) = shown("callers", &page()) else { return };
    let chrome = &mut chrome;
    chrome.key("p");
    chrome.evaluate(
        "openSandwich([...rowsOf(state.set).keys()].find(f => nameOf(f) === 'app::Shop::price'))",
    );
    is(chrome, DRAWN, "Shop::total ≥40 ns, main ≥20 ns, Shop::price ≥60 ns");
    is_true(chrome, "$('footer').textContent.includes('≥: some are missing')");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn a_difference_is_coloured_by_the_change_of_each_frame() {
    let mut earlier = FlamePage::new("before");
    let before = stacks(&mut earlier, 2);
    earlier.stacks.push(before);
    let page = page().compared_with(&earlier);
    let Some(mut chrome) = shown("difference", &page) else { return };
    let chrome = &mut chrome;
    is_true(
        chrome,
        "state.set.difference && DATA.stacks.length === 1 && $('footer').textContent.includes('callers: ')",
    );
    is_true(
        chrome,
        "change(24, 2) === '×12' && change(19, 2) === '+850.0 %' && change(1, 2) === '−50.0 %'",
    );
    is_true(chrome, "document.querySelectorAll('tbody td:last-child wbr').length > 0");
    let price = "boxes.find(box => nameOf(box.node.f) === 'app::Shop::price' && box.node.parent.f === total).node";
    chrome.evaluate(
        "globalThis.total = DATA.functions.findIndex(([name]) => name === 'app::Shop::total')",
    );
    is_true(chrome, &format!("describe({price}).includes('before 80.0 ms: −50.0 %')"));
    // Blue is less, and what did not change is pale.
    is_true(chrome, &format!("partsOf(colour({price}))[2] > partsOf(colour({price}))[0] + 80"));
    is(chrome, "colour(boxes.find(box => nameOf(box.node.f) === 'app::tree').node)", "#eeeeee");
    chrome.key("o");
    is_true(
        chrome,
        "Math.abs(boxes.find(box => nameOf(box.node.f) === 'app::main').w / boxes[0].w - 140 / 175) < 0.001",
    );
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn rings_are_frames_around_their_callers_and_are_found_by_the_pointer() {
    let Some(mut chrome) = shown("rings", &page()) else { return };
    let chrome = &mut chrome;
    chrome.key("r");
    is_true(chrome, "state.view === 'rings' && boxes.length === 11 && $('way').disabled");
    // The middle of each frame, and a place beside all rings.
    let found = "boxes.filter(({ node, x, y, w }) => { const r = canvas.getBoundingClientRect(), angle = turn(x + w / 2), far = rings.ring * (y / ROW + .5); \
                 return at({ clientX: r.x + rings.middle + Math.cos(angle) * far, clientY: r.y + rings.middle + Math.sin(angle) * far }) !== node; }) \
                 .map(box => nameOf(box.node.f)).join(', ')";
    is(chrome, found, "");
    is_true(
        chrome,
        "(() => { const r = canvas.getBoundingClientRect(); return at({ clientX: r.x + 1, clientY: r.y + 1 }) === undefined; })()",
    );
    let place = chrome.evaluate(
        "(() => { const r = canvas.getBoundingClientRect(), b = boxes.find(b => nameOf(b.node.f) === 'app::Shop::total'), far = rings.ring * 2.5; \
         return [r.x + rings.middle + Math.cos(turn(b.x + b.w / 2)) * far, r.y + rings.middle + Math.sin(turn(b.x + b.w / 2)) * far]; })()",
    );
    chrome.click(
        (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number")),
        "left",
    );
    is_true(
        chrome,
        "nameOf(state.zoom.f) === 'app::Shop::total' && boxes.at(-1).w / rings.width > .79",
    );
    chrome.key("r");
    is_true(chrome, "state.view === 'flame'");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn labels_are_in_their_frames_and_differ_below_one_caller() {
    let mut page = FlamePage::new("labels");
    let mut tree = Tree::default();
    // Names that differ at their ends or in the middle alone, with shares down to 1 %.
    for at in 0..60 {
        let (module, own) = (at % 4, 10 + at as u64 % 5 * 40);
        let names = [
            format!("app::m{module}::Registry::get_plain_resource_{at}"),
            format!("app::m{module}::Registry::get"),
            format!("app::m{}::Registry::get", at % 7),
        ];
        tree.add(names.iter().map(|name| page.function(name, "src/lib.rs:1", "app")), [own, 1, 0]);
        tree.add(
            names.iter().rev().map(|name| page.function(name, "src/lib.rs:1", "app")),
            [own, 1, 0],
        );
    }
    let measures = vec![Measure::new("wall time", Unit::Ns)];
    let lanes = vec![Lane { tree, ..Lane::default() }];
    let mut stacks = Stacks { name: "contexts".into(), measures, lanes, ..Stacks::default() };
    stacks.add_up();
    page.stacks.push(stacks);
    let Some(mut chrome) = shown("labels", &page) else { return };
    let chrome = &mut chrome;
    for view in ["flame", "inverted"] {
        chrome.evaluate(&format!("choose({{ view: '{view}' }})"));
        is_true(chrome, "labels.length > 30 && labels.every(it => it.size >= 9)");
        let outside = "labels.filter(it => it.x < it.box || it.end > it.box + it.w).map(it => it.text).join(', ')";
        is(chrome, outside, "");
        let equal = "labels.filter((it, i) => labels.slice(0, i).some(other => other.node.parent === it.node.parent \
                     && other.text === it.text && other.node.f !== it.node.f)).map(it => it.text).join(', ')";
        is(chrome, equal, "");
        let unnamed = "boxes.filter(box => box.w >= .02 * canvas.clientWidth && !labels.some(it => it.node === box.node)) \
                       .map(box => nameOf(box.node.f)).join(', ')";
        is(chrome, unnamed, "");
    }
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

#[test]
fn a_large_page_is_bounded_and_states_what_is_folded() {
    let mut page = FlamePage::new("large");
    let mut tree = Tree::default();
    for at in 0..40_000 {
        let path = [at % 10, at % 200 + 10, at % 2_000 + 1_000, at + 10_000];
        let path = path.map(|name| {
            page.function(&format!("app::module::Type{name}::method"), "src/lib.rs:1", "app")
        });
        tree.add(path, [100 + at as u64 % 7, 1, 0]);
    }
    let mut stacks = Stacks {
        name: "contexts".into(),
        measures: vec![Measure::new("wall time", Unit::Ns)],
        lanes: vec![Lane { tree, ..Lane::default() }],
        ..Stacks::default()
    };
    stacks.add_up();
    let whole: u64 = stacks.rows.values().map(|row| row.own[0]).sum();
    page.stacks.push(stacks);
    let bytes = page.html().len();
    assert!(bytes < 4_000_000, "{bytes} bytes");
    let Some(mut chrome) = shown("large", &page) else { return };
    let chrome = &mut chrome;
    is_true(chrome, "$('footer').textContent.includes('smaller frames are folded')");
    assert_eq!(chrome.evaluate("tree.total[0]").as_u64(), Some(whole));
    let folded = "[...nodesOf(tree)].filter(node => node.f === FOLDED).reduce((sum, node) => sum + node.smaller, 0) === state.set.folded";
    is_true(chrome, folded);
    // The screen follows a key at once.
    let ms = "(() => { const start = performance.now(); choose({ view: 'inverted' }); return performance.now() - start; })()";
    let ms = chrome.evaluate(ms).as_f64().expect("a number");
    assert!(ms < 5_000.0, "{ms} ms");
    println!("40,000 stacks: {bytes} bytes, inverted in {ms:.0} ms");
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}
