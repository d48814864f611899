//! Pages of real recordings in a browser. Without Chromium these tests are skipped.

use std::path::Path;

use crate::chrome::Chrome;
use crate::{ended, fixture, text};

/// Draws pages of a recording, and checks the labels of each of their pictures.
fn check(chrome: &mut Chrome, line: &[&str], page: &Path) {
    let (code, _, error) = ended(line);
    assert_eq!(code, 0, "{error}");
    chrome.open(page, "");
    for picture in 0..chrome.evaluate("PAGE.pictures.length").as_u64().expect("a number") {
        chrome.evaluate(&format!("show({picture})"));
        let faults = chrome.label_faults();
        assert!(faults.is_empty(), "{line:?}, {}: {faults:#?}", chrome.evaluate("P.kind"));
    }
    assert!(chrome.faults.is_empty(), "{line:?}: {:?}", chrome.faults);
}

#[test]
fn labels_of_a_program_and_of_a_grammar_can_be_read_and_a_finding_leads_to_its_boxes() {
    let directory = fixture::directory().join("pictures");
    std::fs::create_dir_all(directory.join("in")).expect("it can be created");
    let Some(mut chrome) = Chrome::start(&directory.join("profile")) else {
        println!("SKIPPED: pictures of real recordings need Chromium, which is not installed");
        return;
    };
    let path = |name: &str| directory.join(name).display().to_string();
    let page = directory.join("page.html");
    std::fs::write(
        path("list.pest"),
        "list = { SOI ~ value ~ (\",\" ~ value)* ~ EOI }\nvalue = { float | integer }\n\
        integer = @{ digit+ }\nfloat = @{ digit+ ~ \".\" ~ digit+ }\ndigit = { '0'..'9' }\n",
    )
    .expect("it can be written");
    std::fs::write(path("in/a.txt"), "1,2.5,12").expect("it can be written");
    let grammar =
        ["grammar", &path("list.pest"), "--rule", "list", &path("in"), "--blueprint", text(&page)];
    check(&mut chrome, &grammar, &page);
    let (code, _, error) = ended(&["demo", "--record", &path("demo.spy"), "--events", "250k"]);
    assert_eq!(code, 0, "{error}");
    check(
        &mut chrome,
        &["blueprint", "structural", &path("demo.spy"), "--html", text(&page)],
        &page,
    );
    // The demo lays out what did not change.
    chrome.evaluate("show(0); state(0)");
    let is_marked = "P.findings.first[0][4].every(at => boxes[at].classList.contains('on')) && P.findings.first[0][4].length";
    assert!(
        chrome.evaluate(is_marked).as_u64() > Some(0)
            && chrome.evaluate("!panel.hidden && svg.classList.contains('dim')") == true
    );
}
