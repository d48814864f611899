//! Live recordings by name: every command finds them by the names that `metaspy list` shows.

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
        assert!(
            code == Some(2) && out.contains(&format!("metaspy report {}", path.display())),
            "{out}"
        );
    }
    let (code, out) = ended(&["verify", "nobody"]);
    assert!(code == Some(2) && out.contains("no live recording with this name"), "{out}");
}

#[test]
fn a_live_recording_is_found_by_the_name_of_its_profiler() {
    let directory = empty("of-profiler");
    let path = directory.join("layout-4194999-7.spy");
    std::fs::copy(fixture::closed("of-profiler.spy", 3), &path).unwrap();
    let ended = |name: &str| {
        let output = metaspy(&["report", name]).env("METASPY_DIR", &directory).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    // `Profiler::new("page")` of the fixture; no file, program or process has this name.
    let (code, out) = ended("page");
    assert!(
        code == Some(0) && out.contains("page::Scene::measure") && out.contains("57 emitted"),
        "{out}"
    );
    // The crawler has the same title.
    assert!(out.starts_with("page  closed  "), "{out}");
    assert_eq!(ended("pages").0, Some(2));
}

/// A directory for live recordings, empty.
fn empty(name: &str) -> std::path::PathBuf {
    let directory = fixture::directory().join(name);
    std::fs::create_dir_all(&directory).expect("the test's directory can be written");
    directory
}

fn clean(directory: &std::path::Path) -> (Option<i32>, String) {
    let output = metaspy(&["clean"])
        .env("METASPY_DIR", directory)
        .output()
        .expect("the command can be started");
    (
        output.status.code(),
        String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints UTF-8"),
    )
}

#[test]
fn only_recordings_that_ended_are_removed() {
    let directory = empty("cleaned");
    let run = directory.join("holidays");
    std::fs::create_dir_all(&run).unwrap();
    let recording = fixture::closed("cleaned.spy", 3);
    let file = |name: &str| directory.join(name);
    std::fs::copy(&recording, file("layout-4194999-7.spy")).unwrap();
    std::fs::copy(&recording, file("written-4194998-7.spy")).unwrap();
    // Files of other content with the name of a recording, and with the name of a note.
    let photos = [
        file("photos-2024-12.spy"),
        run.join("photos-2023-12.spy"),
        file("removed.txt"),
        run.join("removed.txt"),
    ];
    for photo in &photos {
        std::fs::write(photo, "no recording").unwrap();
    }
    // A process of another PID namespace holds its lock, and its number is unknown here.
    let elsewhere = std::fs::File::open(file("written-4194998-7.spy")).unwrap();
    elsewhere.lock().expect("the file system has locks");
    let (code, out) = clean(&directory);
    assert_eq!((code, out.contains("1 recording removed")), (Some(0), true), "{out}");
    assert!(
        !file("layout-4194999-7.spy").exists() && file("written-4194998-7.spy").exists(),
        "{out}"
    );
    for photo in &photos {
        assert_eq!(std::fs::read_to_string(photo).expect("it is not ours"), "no recording");
    }
    drop(elsewhere);
    assert!(clean(&directory).1.contains("1 recording removed"));
    assert!(!file("written-4194998-7.spy").exists() && run.exists());
}

/// Every user can write to `/tmp`: it keeps its mode, and nothing is recorded or removed there.
#[test]
fn a_directory_of_all_users_is_refused_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let directory = empty("shared");
    let mode = || std::fs::metadata(&directory).unwrap().permissions().mode() & 0o7777;
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o1777)).unwrap();
    let path = directory.join("layout-4194999-7.spy");
    std::fs::copy(fixture::closed("shared.spy", 3), &path).unwrap();
    let (code, out) = clean(&directory);
    assert!(code == Some(2) && out.contains("every user can write there"), "{out}");
    assert!(path.exists());
    let mut story = metaspy(&["__story"]);
    let output =
        story.env("METASPY_RECORD", "live").env("METASPY_DIR", &directory).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("every user can write there"), "{error}");
    assert_eq!((mode(), std::fs::read_dir(&directory).unwrap().count()), (0o1777, 1));
    let listed = metaspy(&["list"]).env("METASPY_DIR", &directory).output().unwrap();
    assert!(
        String::from_utf8_lossy(&listed.stdout).contains("every user can write there"),
        "{listed:?}"
    );
    // Members of its group could replace recordings.
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o775)).unwrap();
    let (code, out) = clean(&directory);
    assert!(code == Some(2) && out.contains("its group can write there") && path.exists(), "{out}");
    let mut story = metaspy(&["__story"]);
    let output =
        story.env("METASPY_RECORD", "live").env("METASPY_DIR", &directory).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("its group can write there"), "{error}");
    assert_eq!((mode(), std::fs::read_dir(&directory).unwrap().count()), (0o775, 1));
    // A directory that others can only read is the user's own.
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((clean(&directory).0, mode()), (Some(0), 0o755));
}

#[test]
fn attach_takes_names_and_the_newest_of_several_is_opened() {
    let directory = empty("attached");
    let recording = fixture::closed("attached.spy", 3);
    let own = |pid: u32| directory.join(format!("dash-{pid}-7.spy"));
    for (pid, age) in [(4_194_999, 60), (4_194_998, 10)] {
        std::fs::copy(&recording, own(pid)).unwrap();
        let written = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        std::fs::File::options()
            .append(true)
            .open(own(pid))
            .unwrap()
            .set_modified(written)
            .unwrap();
    }
    let ended = |arguments: &[&str]| {
        let output = metaspy(arguments).env("METASPY_DIR", &directory).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    // Each gets as far as the terminal that is not there. A part of a name is enough.
    for name in ["dash", "da", "4194998"] {
        for command in ["attach", "open"] {
            let (code, out) = ended(&[command, name]);
            let newest = format!("metaspy report {}", own(4_194_998).display());
            assert!(code == Some(2) && out.contains(&newest), "{command} {name}: {out}");
            let lists =
                out.contains("this is the newest, of process 4194998; the others are 4194999");
            assert_eq!(lists, name != "4194998", "{command} {name}: {out}");
        }
    }
    for command in
        [&["report", "dash"][..], &["verify", "dash"], &["export", "dash", "--to", "csv"]]
    {
        let (code, out) = ended(command);
        assert!(code == Some(0) && out.contains("2 recordings match `dash`"), "{command:?}: {out}");
    }
    for command in ["attach", "open", "report", "stream"] {
        let (code, out) = ended(&[command, "dish"]);
        assert!(
            code == Some(2)
                && out
                    .contains("no live recording with this name; `metaspy list` shows them: dash"),
            "{out}"
        );
    }
    let (code, out) = ended(&["attach", "4194997"]);
    assert!(code == Some(2) && out.contains("process 4194997 does not exist"), "{out}");
}
