//! Sheets as they should be, and as they should not.

use icons::{Problem, Sheet};

/// The smallest sheet that is of use, as drawing programs write it.
const SMALL: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<!-- Drawn by hand -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
  <symbol id="left" viewBox="0 0 24 24">
    <title>Back &amp; away</title>
    <path d="M20 12H4"/>
  </symbol>
  <symbol id="right" viewBox="0 0 24 24">
    <title>Weiter — 次へ</title>
    <use xlink:href="#left" transform="scale(-1 1)"/>
  </symbol>
</svg>
"##;

fn sheet(text: &str) -> Sheet<'_> {
    Sheet::read(text).expect("it is XML")
}

/// Why a text is no sheet.
fn refused(text: &str) -> String {
    Sheet::read(text).err().expect("it is no XML").to_string()
}

/// A sheet of so many icons, each of which is the one before it, turned.
fn long(count: usize) -> String {
    let icon = |at: usize| match at {
        0 => "<symbol id='icon0'><path d='M0 0'/></symbol>\n".to_owned(),
        _ => format!("<symbol id='icon{at}'><use href='#icon{}' transform='rotate(9)'/></symbol>\n", at - 1),
    };
    let icons: String = (0..count).map(icon).collect();
    format!("<!-- Free to use -->\n<svg xmlns='http://www.w3.org/2000/svg'>\n{icons}</svg>")
}

#[test]
fn icons_are_found_by_their_names() {
    let small = sheet(SMALL);
    assert_eq!(small.names(), ["left", "right"]);
    assert_eq!(small.icon("right").and_then(|icon| icon.attribute("viewBox")), Some("0 0 24 24"));
    assert!(small.icon("up").is_none());
}

#[test]
fn titles_are_read_as_people_read_them() {
    let small = sheet(SMALL);
    assert_eq!(small.title("left"), Some("Back & away"));
    assert_eq!(small.title("right"), Some("Weiter — 次へ"));
}

#[test]
fn an_icon_may_have_no_title() {
    assert_eq!(sheet("<svg><symbol id='dot'/></svg>").title("dot"), None);
}

#[test]
fn a_good_sheet_has_no_problems() {
    assert_eq!(sheet(SMALL).problems(), []);
}

#[test]
fn a_link_to_nowhere_is_a_problem_at_its_line() {
    let broken = SMALL.replace("#left", "#up");
    assert_eq!(sheet(&broken).problems(), [Problem { line: 10, what: "there is no icon `up`".into() }]);
}

#[test]
fn a_path_without_an_outline_is_a_problem() {
    let broken = "<svg>\n  <symbol id='dot'>\n    <path/>\n  </symbol>\n</svg>";
    assert_eq!(sheet(broken).problems(), [Problem { line: 3, what: "a path without an outline".into() }]);
}

#[test]
fn every_icon_of_a_long_sheet_is_found() {
    let text = long(200);
    let sheet = sheet(&text);
    assert_eq!(sheet.names().len(), 200);
    assert!((0..200).all(|at| sheet.icon(&format!("icon{at}")).is_some()));
}

#[test]
fn a_long_sheet_is_linked_well() {
    assert_eq!(sheet(&long(200)).problems(), []);
}

#[test]
fn what_is_not_closed_is_refused() {
    assert_eq!(refused("<svg>\n  <symbol>\n</svg>"), "expected 'symbol' tag, not 'svg' at 3:1");
}

#[test]
fn an_attribute_that_stands_twice_is_refused() {
    assert_eq!(refused("<svg><symbol id='a' id='b'/></svg>"), "attribute 'id' at 1:21 is already defined");
}

#[test]
fn an_unknown_entity_is_refused() {
    assert_eq!(refused("<svg>&copy;</svg>"), "unknown entity reference 'copy' at 1:6");
}

#[test]
fn a_sheet_with_a_document_type_is_refused() {
    assert_eq!(refused("<!DOCTYPE svg><svg/>"), "XML with DTD detected");
}
