//! Files are read and written in one way: by `metaspy_reader::files`, and by `metaspy_weave::plan`
//! for the files that weaving keeps for itself.
//!
//! A name from a recording, a command line or a directory of others may be that of anything.
//! `File::open` of a pipe waits for ever, `fs::read` of a device takes all memory, and `fs::write`
//! destroys an input, follows a link, and loses the earlier file on a full disk. So each plain call
//! is a fault, unless it is listed below with the reason why the file is the program's own.

use super::source::Source;

/// Calls that read whatever has a name.
const READS: &[&str] = &["fs::read(", "fs::read_to_string(", "File::open("];
/// Calls that write over whatever has a name.
const WRITES: &[&str] = &["fs::write(", "fs::copy(", "File::create("];
/// Directories of the kernel, whose files are what their names say.
const KERNEL: &[&str] = &["\"/proc/", "\"/sys/"];
/// Packages that no user runs.
const NO_PRODUCT: &[&str] = &["benches/", "examples/"];

/// Calls with another reason: the end of a path, a part of the line, the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "files/input.rs",
        "File::open(path)",
        "the one way to read: a pipe is wanted, and a device was refused",
    ),
    (
        "files/output.rs",
        "fs::copy(&place.partial, &place.path)",
        "the file is a mount point, so nothing can be renamed to it",
    ),
    ("platform/last_thread.rs", "task.path().join(", "a file of the kernel"),
    ("sampler/src/statistics.rs", "task.path().join(", "a file of the kernel"),
    ("linux/code_dumps.rs", "File::open(&path)", "a directory that was made a moment ago"),
    (
        "linux/code_dumps.rs",
        "File::open(entry.path())",
        "a directory of the user's own, for its lock",
    ),
    ("metaspy/private_directory.rs", "File::open(&path)", "a directory that was made a moment ago"),
    (
        "metaspy/private_directory.rs",
        "File::open(entry.path())",
        "a directory of the user's own, for its lock",
    ),
    ("crawler/run.rs", "terminal::KEYS", "the terminal"),
    ("metaspy/mod.rs", "crawler::KEYS", "the terminal"),
    (
        "cargo_metaspy/compiled.rs",
        "",
        "regular files of a target directory, into one that cargo writes next",
    ),
    (
        "wrapper/overlay.rs",
        "fs::copy(original, copy)",
        "the copy is in a directory that was made for it",
    ),
    (
        "scale/src/query/sealed_set.rs",
        "File::open(&path)",
        "the files of a sealed set, which are checked by their length and hash",
    ),
    ("scale/src/restore/", "", "the set's own directory, and the cache of restored recordings"),
    ("scale/src/seal/", "", "a directory that sealing made for itself"),
];

/// The faults, and the exceptions that match no line.
pub fn faults(sources: &[Source]) -> (Vec<String>, Vec<String>) {
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut faults = Vec::new();
    let of_users = |source: &&Source| {
        source.is_product() && !NO_PRODUCT.iter().any(|package| source.path.starts_with(package))
    };
    for source in sources.iter().filter(of_users) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (at, code) in source.code.lines().enumerate() {
            let line = lines[at];
            // The path, which stands in the next line if both are too long for one.
            let path = if line.ends_with('(') { lines.get(at + 1).unwrap_or(&"") } else { line };
            if !is_plain(code) || KERNEL.iter().any(|directory| path.contains(directory)) {
                continue;
            }
            let excepted = EXCEPTIONS
                .iter()
                .position(|(path, part, _)| is_at(&source.path, path) && line.contains(part));
            match excepted {
                Some(exception) => used[exception] = true,
                None => faults.push(format!("{}:{}: {}", source.path, at + 1, line.trim())),
            }
        }
    }
    let needless = EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used);
    (faults, needless.map(|((path, part, _), _)| format!("{path}: {part}")).collect())
}

/// True if a line has one of the calls, and not one of another type, as `OutputFile::create(`.
fn is_plain(code: &str) -> bool {
    let is_other =
        |before: &str| before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    READS
        .iter()
        .chain(WRITES)
        .any(|call| code.match_indices(call).any(|(at, _)| !is_other(&code[..at])))
}

/// True if a path ends with a file of the table, or begins with one of its folders.
fn is_at(path: &str, place: &str) -> bool {
    if place.ends_with('/') { path.starts_with(place) } else { path.ends_with(place) }
}

#[test]
fn a_plain_call_is_found_and_one_of_the_ways_is_not() {
    for line in
        ["let text = fs::read(path)?;", "std::fs::read_to_string(path)", "fs::File::create(path)"]
    {
        assert!(is_plain(line), "{line}");
    }
    for line in [
        "OutputFile::create(path)?",
        "OwnFile::create(path)",
        "files::read(path, 9)",
        "fs::read_dir(path)",
    ] {
        assert!(!is_plain(line), "{line}");
    }
}
