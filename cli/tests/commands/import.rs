//! Profiles of other tools become recordings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{ended, fixture, text};

fn directory() -> PathBuf {
    let directory = fixture::directory().join("import");
    std::fs::create_dir_all(&directory).expect("it can be created");
    directory
}

/// Self and total samples of each function of a recording.
fn functions(recording: &Path) -> BTreeMap<String, (u64, u64)> {
    let (code, out, error) =
        ended(&["report", text(recording), "--functions", "--json", "--top", "all"]);
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&out).expect("it is JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut functions: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for of in report["functions"].as_array().expect("a list") {
        let counts = functions.entry(of["name"].as_str().expect("a name").to_owned()).or_default();
        counts.0 += number(&of["self_samples"]);
        counts.1 += number(&of["total_samples"]);
    }
    functions
}

#[test]
fn collapsed_stacks_open_in_reports_and_as_a_flame_graph() {
    let directory = directory();
    let [stacks, recording, page] =
        ["stacks.txt", "stacks.spy", "stacks.html"].map(|name| directory.join(name));
    std::fs::write(
        &stacks,
        "app::main;app::work;app::leaf 30\napp::main;app::work 10\napp::main 2\n",
    )
    .expect("it can be written");
    let import =
        |more: &[&str]| ended(&[&["import", text(&stacks), "-o", text(&recording)], more].concat());
    let (code, _, error) = import(&[]);
    assert!(code == 2 && error.contains("--period 1ms for samples at 1,000 Hz"), "{error}");
    assert!(!recording.exists(), "nothing is written");
    let (code, _, error) = import(&["--period", "2ms"]);
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("42 samples in 3 functions (collapsed stacks)"), "{error}");
    let expected = [("app::leaf", (30, 30)), ("app::main", (2, 42)), ("app::work", (10, 40))];
    assert_eq!(
        functions(&recording),
        expected.map(|(name, counts)| (name.to_owned(), counts)).into()
    );
    let (code, out, error) = ended(&["blueprint", "flame", text(&recording)]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains(" 95.2 % ███████████████    80.0 ms      20.0 ms   app::work"), "{out}");
    let (code, out, error) = ended(&["blueprint", "behavioural", text(&recording)]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains(" 42 main … work\n") && out.contains(" 30 ├ leaf\n"), "{out}");
    let boxes = directory.join("boxes.html");
    let (code, _, error) = ended(&[
        "blueprint",
        "structural",
        text(&recording),
        "--of",
        "samples",
        "--html",
        text(&boxes),
    ]);
    assert_eq!(code, 0, "{error}");
    let boxes = std::fs::read_to_string(&boxes).expect("it was written");
    assert!(
        boxes.contains(
            "\"measured\":{\"amount\":\"processor time\",\"count\":\"sample\",\"unit\":\"ns\"}"
        ),
        "its words"
    );
    assert!(boxes.contains("[\"work\",0,40,"), "its samples");
    let refused = |line: &[&str]| ended(&[&["blueprint"], line, &[text(&recording)]].concat()).2;
    assert!(
        refused(&["structural", "--of", "instructions"]).contains("import the output of callgrind")
    );
    assert!(refused(&["structural", "--of", "calls"]).contains("nothing ran that has a hook"));
    assert!(
        refused(&["coverage", "--of", "samples"])
            .contains("--of is for structural and behavioural")
    );
    assert_eq!(ended(&["verify", text(&recording)]).0, 0);
    assert!(
        ended(&["report", text(&recording)])
            .1
            .contains("it has samples and no events: --functions lists them")
    );
    // An earlier profile has half of the samples in a function.
    let earlier = directory.join("earlier.spy");
    std::fs::write(&stacks, "app::main;app::work 15\napp::main 2\n").expect("it can be written");
    let (code, _, error) =
        ended(&["import", text(&stacks), "--period", "2ms", "-o", text(&earlier)]);
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = ended(&[
        "blueprint",
        "flame",
        text(&recording),
        "--baseline",
        text(&earlier),
        "--html",
        text(&page),
    ]);
    assert_eq!(code, 0, "{error}");
    let page = std::fs::read_to_string(&page).expect("it was written");
    assert!(
        page.contains("\"difference\":true") && page.contains("app::leaf"),
        "the page has both recordings"
    );
}

#[test]
fn what_is_no_profile_is_an_error_and_leaves_the_output_as_it_was() {
    let directory = directory();
    let [input, output] = ["bad.txt", "kept.spy"].map(|name| directory.join(name));
    std::fs::write(&input, "a;b 1\nhello\n").expect("it can be written");
    std::fs::write(&output, "").expect("it can be written");
    let (code, out, error) =
        ended(&["import", text(&input), "--period", "1ms", "-o", text(&output)]);
    assert_eq!((code, &*out), (2, ""));
    assert!(error.contains("bad.txt: line 2 is no collapsed stack"), "{error}");
    assert_eq!(std::fs::read(&output).expect("it is there").len(), 0);
    // An output is never an input.
    std::fs::write(&input, "a;b 1\n").expect("it can be written");
    let (code, _, error) = ended(&["import", text(&input), "--period", "1ms", "-o", text(&input)]);
    assert_eq!((code, std::fs::read(&input).expect("it is there").len()), (2, 6), "{error}");
    for (content, part) in [
        (&b""[..], "the file is empty"),
        (b"\x1f\x8b\x08\x00", "cut or damaged: gzip"),
        (b"{", "it is cut"),
    ] {
        std::fs::write(&input, content).expect("it can be written");
        let (code, _, error) = ended(&["import", text(&input), "-o", text(&output)]);
        assert!(code == 2 && error.contains(part), "{error}");
    }
    let (code, _, error) = ended(&["import", text(&directory), "-o", text(&output)]);
    assert!(code == 2 && error.contains("cannot read"), "{error}");
}

#[test]
#[cfg(all(
    feature = "demo",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn a_sampled_run_is_the_same_in_all_formats_of_samples() {
    let directory = directory();
    let formats = [("pprof", None), ("firefox", None), ("collapsed", Some("1ms"))];
    let files =
        formats.map(|(name, _)| (format!("--{name}"), directory.join(name).display().to_string()));
    let recorded = directory.join("demo.spy");
    let program =
        [env!("CARGO_BIN_EXE_metaspy"), "demo", "--record", text(&recorded), "--events", "100k"];
    let mut line = vec!["sample", "--json=/dev/null"];
    files.iter().for_each(|(option, file)| line.extend([option.as_str(), file.as_str()]));
    line.push("--");
    line.extend(program);
    let (code, _, error) = ended(&line);
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return;
    }
    assert_eq!(code, 0, "{error}");
    let mut found = Vec::new();
    for ((name, period), (_, file)) in formats.into_iter().zip(&files) {
        let recording = directory.join(format!("{name}.spy"));
        let mut line = vec!["import", file, "-o", text(&recording)];
        line.extend(period.into_iter().flat_map(|period| ["--period", period]));
        let (code, _, error) = ended(&line);
        assert_eq!(code, 0, "{name}: {error}");
        found.push(functions(&recording));
    }
    assert!(found[0].len() > 50, "{} functions", found[0].len());
    // Formats name files differently, so functions of one name are one or several. A collapsed
    // stack has no `;` in a name.
    let own = |of: &BTreeMap<String, (u64, u64)>| -> BTreeMap<String, u64> {
        of.iter()
            .map(|(name, counts)| (name.replace(';', ":"), counts.0))
            .filter(|(_, own)| *own > 0)
            .collect()
    };
    for (other, (name, _)) in found.iter().zip(formats).skip(1) {
        let (expected, found) = (own(&found[0]), own(other));
        let differs = expected.iter().find(|(name, own)| found.get(*name) != Some(own));
        assert_eq!((differs, expected.len()), (None, found.len()), "pprof and {name}");
    }
}

#[test]
fn a_profile_of_perf_is_drawn_by_type_as_perf_printed_it() {
    let directory = directory();
    let [data, printed, recording] =
        ["perf.data", "perf.txt", "perf.spy"].map(|name| directory.join(name));
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock", "-F", "4000", "-g", "-o", text(&data), "--"]);
    perf.args([
        env!("CARGO_BIN_EXE_metaspy"),
        "demo",
        "--record",
        text(&directory.join("any.spy")),
        "--events",
        "20k",
    ]);
    let status = perf.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        println!("SKIPPED: perf: it is not installed, or the kernel refuses it");
        return;
    }
    let script =
        Command::new("perf").args(["script", "-i", text(&data)]).stderr(Stdio::null()).output();
    let script = script.expect("perf was here").stdout;
    std::fs::write(&printed, &script).expect("it can be written");
    let samples =
        String::from_utf8_lossy(&script).lines().filter(|line| line.contains("cpu-clock")).count();
    let (code, _, error) = ended(&["import", text(&printed), "-o", text(&recording)]);
    assert_eq!(code, 0, "{error}");
    assert!(
        error.replace(',', "").contains(&format!(": {samples} samples in ")),
        "{samples}: {error}"
    );
    let (code, out, error) = ended(&["blueprint", "structural", text(&recording)]);
    assert!(code == 0 && out.contains("total processor time"), "{error}{out}");
}

#[test]
fn the_instructions_of_callgrind_are_those_of_its_file() {
    let is_there = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !is_there.is_ok_and(|status| status.success()) {
        println!("SKIPPED: callgrind: valgrind is not installed");
        return;
    }
    let directory = directory();
    let [output, recording, page] =
        ["callgrind.out", "callgrind.spy", "callgrind.html"].map(|name| directory.join(name));
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", output.display()));
    let status = valgrind.args(["ls", "/"]).stdout(Stdio::null()).status();
    assert!(status.expect("it starts").success());
    let (code, _, error) = ended(&["import", text(&output), "-o", text(&recording)]);
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = ended(&["blueprint", "flame", text(&recording), "--html", text(&page)]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = ended(&["blueprint", "structural", text(&recording)]);
    assert!(code == 0 && out.contains("height is linear in total instructions"), "{error}{out}");
    let page = std::fs::read_to_string(&page).expect("it was written");
    let (_, data) = page.split_once("application/json\">").expect("the page has data");
    let data: Value = serde_json::from_str(data.split("</script>").next().expect("the data end"))
        .expect("it is JSON");
    let stacks = &data["stacks"][0];
    assert_eq!(stacks["name"], "instructions");
    let rows = stacks["rows"].as_array().expect("a list");
    let number = |row: &Value, at: usize| row[at].as_u64().expect("a number");
    let own: u64 = rows.iter().map(|row| number(row, 1)).sum();
    let written = std::fs::read_to_string(&output).expect("it was written");
    let totals =
        written.lines().find_map(|line| line.strip_prefix("totals:")).expect("it has totals");
    assert_eq!(totals.trim().parse(), Ok(own));
    assert!(
        rows.len() > 100 && rows.iter().all(|row| number(row, 1) <= number(row, 2)),
        "self is a part of total"
    );
}
