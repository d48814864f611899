use super::*;

fn parse(html: &str) -> Result<Page, PageError> {
    Page::parse("test", html.as_bytes(), Limits::default())
}

fn check_refused(html: &[u8], message: &str) {
    let error = Page::parse("test", html, Limits::default()).expect_err("the page is refused");
    assert!(error.to_string().contains(message), "{error}");
}

/// The tree as text: tags, and what is written, one node a line.
fn check(html: &str, expected: &str) {
    let scene = parse(html).unwrap().scene();
    let mut tree = String::new();
    let mut open = vec![(scene.root(), 0)];
    while let Some((id, depth)) = open.pop() {
        let label = scene.label(id);
        let (_, label) = label.split_once(' ').unwrap();
        tree.push_str(&format!("{}{label}\n", "  ".repeat(depth)));
        open.extend(scene[id].children.iter().rev().map(|&child| (child, depth + 1)));
    }
    assert_eq!(tree, expected, "{html}");
}

#[test]
fn the_shipped_page_is_large_and_within_the_limits() {
    let page = Page::shipped();
    assert_eq!(page.elements(), 13_521);
    assert_eq!(page.scene().ids().count(), 6_355);
}

#[test]
fn an_empty_page_is_refused() {
    check_refused(b"", "the page is empty");
    check_refused(b" \n\t ", "the page is empty");
}

#[test]
fn a_file_that_is_not_html_is_refused() {
    check_refused(b"just some words", "not HTML");
    check_refused(b"{\"json\": [1, 2, 3]}", "not HTML");
    check_refused(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR<p>", "not HTML");
    check_refused(b"<html><body><!-- nothing --></body></html>", "nothing can be seen");
}

#[test]
fn a_text_with_an_html_tag_is_accepted() {
    check("<!doctype html>just some words", "<html>\n  <body> \"just some words\"\n");
}

#[test]
fn a_page_of_50_mb_is_refused_before_it_is_parsed() {
    let html = b"<p>word</p>".repeat(50_000_000 / 11);
    check_refused(&html, "too large: 47.7 MiB, the limit is 8.0 MiB");
}

#[test]
fn a_large_file_is_refused_before_it_is_read() {
    let path = std::env::temp_dir().join(format!("layout-story-{}.html", std::process::id()));
    File::create(&path).unwrap().set_len(50_000_000).unwrap();
    let refused = Page::open(&path, Limits::default());
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(refused, Err(PageError::TooLarge { bytes: 50_000_000, .. })), "{refused:?}");
}

#[test]
fn a_missing_file_and_a_directory_are_unreadable() {
    for path in [Path::new("/nowhere/page.html"), &std::env::temp_dir()] {
        let error = Page::open(path, Limits::default()).expect_err("the page is refused");
        assert!(error.to_string().starts_with("cannot read"), "{error}");
    }
}

#[test]
fn elements_nested_10_000_deep_are_refused() {
    for tag in ["div", "span", "b", "ul><li", "table><tr><td"] {
        check_refused(
            format!("<{tag}>").repeat(10_000).as_bytes(),
            "nested too deep: the limit is 96",
        );
    }
}

#[test]
fn elements_nested_to_the_limit_are_laid_out() {
    // The parser adds the root and the body.
    let html = |levels| format!("{}x", "<div style='display: grid'>".repeat(levels));
    let lay_out = move || parse(&html(94)).unwrap().scene().relayout().unwrap();
    let stack = crate::run::STACK;
    std::thread::Builder::new().stack_size(stack).spawn(lay_out).unwrap().join().unwrap();
    assert!(matches!(parse(&html(95)), Err(PageError::TooDeep { .. })));
}

#[test]
fn too_many_elements_are_refused() {
    check_refused("<p>x".repeat(300_000).as_bytes(), "too many elements: the limit is 200000");
}

#[test]
fn adjacent_texts_of_different_styles_are_one_text() {
    check("<p>one <b>two</b> <code>three</code>", "<html>\n  <body>\n    <p> \"one two three\"\n");
}

#[test]
fn text_beside_boxes_gets_a_box() {
    check(
        "<div>before <p>inside</p> <i>after</i></div>",
        "<html>\n  <body>\n    <div>\n      <text> \"before\"\n      <p> \"inside\"\n      <text> \"after\"\n",
    );
}

#[test]
fn the_items_of_a_flex_row_are_boxes() {
    check(
        "<div style='display: flex'>one <b>two</b></div>",
        "<html>\n  <body>\n    <div>\n      <text> \"one\"\n      <b> \"two\"\n",
    );
}

#[test]
fn cells_are_laid_out_by_the_table_and_owned_by_the_row() {
    let scene = parse("<table><tr><td>a<td colspan=2>b<tr><td>c").unwrap().scene();
    let cells: Vec<_> = scene.ids().filter(|&id| &*scene[id].tag == "td").collect();
    let tag = |id: Option<taffy::NodeId>| &*scene[id.unwrap()].tag;
    assert_eq!(cells.len(), 3);
    for cell in cells {
        assert_eq!((tag(scene[cell].owner), tag(scene[cell].parent)), ("tr", "table"));
    }
    let table = scene.ids().find(|&id| &*scene[id].tag == "table").unwrap();
    assert_eq!(scene[table].style.grid_template_columns.len(), 3);
}

#[test]
fn closed_details_show_their_summary_only() {
    let mut scene =
        parse("<details><summary>more</summary><p>hidden</p></details>").unwrap().scene();
    scene.relayout().unwrap();
    let height =
        |tag| scene.ids().find(|&id| &*scene[id].tag == tag).map(|id| scene[id].place.size.height);
    assert_eq!((height("summary"), height("p")), (Some(23.0), Some(0.0)));
}

#[test]
fn scripts_and_hidden_elements_are_left_out() {
    check(
        "<p>seen</p><script>let x;</script><p hidden>gone</p><style>p {}</style>",
        "<html>\n  <body>\n    <p> \"seen\"\n",
    );
}
