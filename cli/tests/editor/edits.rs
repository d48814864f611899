//! Positions while the file is edited.

use serde_json::json;

use crate::client::Client;
use crate::shapes::{SOURCE, recorded};

#[test]
fn numbers_follow_a_function_and_an_edited_function_is_marked() {
    let package = recorded("editor_edits", &[]);
    let mut client = Client::open(&package, json!({}));
    let mut lenses = |text: &str| {
        client.change_file(&package, text);
        client.lenses(&package)
    };

    let moved =
        format!("// One.\n\n{}", SOURCE.replace("    fn area", "    // The area.\n    fn area"));
    let found = lenses(&moved);
    assert!(
        found[0].0 == 14 && found[0].1.contains("7 calls") && !found[0].1.contains("earlier"),
        "{found:?}"
    );

    let edited = SOURCE.replace("a * b", "b * a");
    let found = lenses(&edited);
    assert!(
        found[3].1.ends_with("(of earlier code)") && found[0].1.contains("7 calls"),
        "{found:?}"
    );

    // A bracket is open: the functions around it keep their numbers.
    let broken = SOURCE.replace("self.0 *= by;", "self.0 *= (by;");
    let found = lenses(&broken);
    assert!(found.len() == 4 && found.iter().all(|(_, title)| title.contains("call")), "{found:?}");

    let renamed = SOURCE.replace("fn product", "fn quotient");
    assert_eq!(lenses(&renamed).len(), 4, "a function of another name has no numbers");
    for text in ["", "\"", "}}}} fn", "\u{feff}#!x\n\0"] {
        assert_eq!(lenses(text), [], "{text:?}");
    }
}

#[test]
fn columns_are_utf_16_units() {
    let package = recorded("editor_columns", &[]);
    let mut client = Client::open(&package, json!({}));
    let text = client.hover(&package, SOURCE, "/* 𝄞 */", "product");
    assert!(text.contains("`product`: 13 calls"), "{text}");
    let heat = client.about("metaspy/heat", &package);
    let product = &heat["functions"][3];
    // The sign is two units.
    assert_eq!(
        (&product["name"], &product["range"]["start"]),
        (&json!("product"), &json!({ "line": 26, "character": 12 }))
    );
    // Places that do not exist have no hover.
    for (line, character) in [(0, 9999), (9999, 0), (u32::MAX, u32::MAX)] {
        let uri = crate::client::uri(&package.dir.join("src/lib.rs"));
        let place = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        assert!(client.request("textDocument/hover", place).is_null());
    }
}
