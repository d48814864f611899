//! Live recordings by name: every command knows them as `metaspy list` shows them.

use crate::{fixture, metaspy, text};

#[test]
fn a_listed_recording_is_found_by_name_and_by_process() {
    let directory = fixture::directory().join("listed");
    std::fs::create_dir_all(&directory).unwrap();
    // Its process is one that there cannot be.
    let path = directory.join("layout-4194999-7.spy");
    std::fs::copy(fixture::closed("listed.spy", 3), &path).unwrap();
    let ended = |arguments: &[&str]| {
        let output = metaspy(arguments).env("METASPY_DIR", &directory).output().unwrap();
        let both = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(both).unwrap())
    };
    for json in [&["list"][..], &["list", "--json"]] {
        let (code, out) = ended(json);
        assert!(code == Some(0) && out.contains(text(&path)), "{out}");
    }
    for name in ["layout", "4194999"] {
        for command in ["report", "verify"] {
            let (code, out) = ended(&[command, name]);
            assert_eq!(code, Some(0), "{command} {name}: {out}");
        }
        // It gets as far as the terminal that is not there.
        let (code, out) = ended(&["open", name]);
        assert!(code == Some(2) && out.contains(&format!("metaspy report {}", path.display())), "{out}");
    }
    let (code, out) = ended(&["verify", "nobody"]);
    assert!(code == Some(2) && out.contains("no live recording with this name"), "{out}");
}
