//! Screenshots. With `METASPY_SCREENSHOTS=DIR`, those that the documents show are written there,
//! from the pages that `examples/blueprints` draws.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metaspy_blueprints::Kind;

use crate::chrome::Chrome;
use crate::{browser, fixture};

/// The screenshots of the documents: name, page, picture, and the method in focus.
const SHOWN: [(&str, &str, &str, &str); 3] = [
    ("structural", "layout", "structural", ""),
    ("behavioural", "layout", "behavioural", "IntrinsicSizeMeasurer::minimum_contribution"),
    ("evolution", "deep_tree", "evolution", ""),
];

fn png(chrome: &mut Chrome) -> Vec<u8> {
    STANDARD.decode(chrome.screenshot()).expect("the browser writes base64")
}

#[test]
fn a_screenshot_has_the_size_of_the_window_and_the_colours_of_the_theme() {
    let graph = fixture::program(300, 17);
    let Some((mut chrome, _)) = browser("screenshots", &graph, Kind::Structural) else { return };
    let light = png(&mut chrome);
    let number = |at: usize| u32::from_be_bytes(light[at..at + 4].try_into().expect("four bytes"));
    assert!(light.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!((number(16), number(20)), (1440, 900));
    chrome.key("t");
    assert!(png(&mut chrome) != light, "the dark theme has other colours");
    if let Some(dir) = std::env::var_os("METASPY_SCREENSHOTS") {
        write(&mut chrome, Path::new(&dir));
    }
    assert!(chrome.faults.is_empty(), "{:?}", chrome.faults);
}

/// Writes the screenshots of the documents.
fn write(chrome: &mut Chrome, dir: &Path) {
    let pages =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/blueprints/target/pictures");
    let pages =
        pages.canonicalize().expect("the pages are drawn: see examples/blueprints/README.md");
    for (name, page, kind, method) in SHOWN {
        chrome.open(&pages.join(page).with_extension("html"), "");
        // A document has no path of the machine that it was written on.
        chrome.evaluate(
            "PAGE.pictures.forEach(picture => picture.title = picture.title.split('/').at(-1))",
        );
        chrome.evaluate(&format!(
            "show(PAGE.pictures.findIndex(picture => picture.kind === '{kind}'))"
        ));
        chrome.evaluate(&format!("'{method}' && find('{method}')"));
        assert_eq!(
            chrome.evaluate("focused !== null"),
            !method.is_empty(),
            "{method} is in the {kind} picture"
        );
        std::fs::write(dir.join(name).with_extension("png"), png(chrome))
            .expect("the directory is there");
    }
}
