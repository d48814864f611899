//! `metaspy sample` from outside: its files, its JSON beside a program that prints, and bad input.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[cfg(feature = "demo")]
use metaspy_sampler::{Options, Profile, Target, sample};
use serde_json::Value;

use crate::schemas::assert_changes_are_noticed;
use crate::{ended, fixture, metaspy, text};

/// A program that prints a line and uses some processor time.
const BUSY: [&str; 4] =
    ["--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo printed"];

/// Runs it; `None`, said aloud, where the system does not permit sampling.
fn sampled(options: &[&str]) -> Option<(i32, String, String)> {
    let (code, out, error) = ended(&[&["sample"], options, &BUSY].concat());
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return None;
    }
    Some((code, out, error))
}

#[test]
fn the_report_follows_what_the_program_prints() {
    let Some((code, out, error)) = sampled(&["--top", "3"]) else { return };
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("printed\n"), "{out}");
    for part in ["sampling frequency", "% of total", "Methods", "Memory"] {
        assert!(out.contains(part), "{part} in {out}");
    }
}

#[test]
fn a_live_run_shows_its_last_seconds_and_ends_with_the_report() {
    let enough = fixture::directory().join("enough");
    let busy = format!("while [ ! -e '{}' ]; do :; done; echo printed", text(&enough));
    let mut command = metaspy(&["sample", "--live", "--", "sh", "-c", &busy]);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(run.stdout.take().expect("it is a pipe"))
        .lines()
        .map(|line| line.expect("text"));
    // The program goes on until its samples were shown.
    let Some(live) = lines.find(|line| line.contains("lost so far")) else {
        let error =
            std::io::read_to_string(run.stderr.take().expect("it is a pipe")).expect("text");
        assert!(
            !run.wait().expect("it ends").success()
                && error.contains("the kernel refuses to sample"),
            "{error}"
        );
        println!("SKIPPED: sampling: {error}");
        return;
    };
    std::fs::write(&enough, "").expect("it can be written");
    assert!(live.contains("samples in"), "{live}");
    assert!(lines.any(|line| line == "printed"), "the program prints at its end");
    let report = lines.collect::<String>();
    assert!(report.contains("% of total"), "{report}");
    assert!(run.wait().expect("it ends").success());
}

#[test]
fn json_on_standard_output_is_json_alone() {
    let Some((code, out, error)) = sampled(&["--json", "--rate", "2kHz"]) else { return };
    assert_eq!((code, error.contains("printed")), (0, true), "{error}");
    let report: Value = serde_json::from_str(&out).expect("standard output is JSON");
    assert_eq!((&report["format"], &report["requested_hz"]), (&1.into(), &2000.into()));
    assert_changes_are_noticed(&["metaspy", "sample", "--json"], &report);
    let samples = report["samples"].as_u64().expect("a number");
    let sections = report["sections"].as_array().expect("a list").iter();
    assert_eq!(
        sections.map(|section| section["samples"].as_u64().expect("a number")).sum::<u64>(),
        samples
    );
    for method in report["methods"].as_array().expect("a list") {
        assert!(method["self_ns"].as_u64() <= method["total_ns"].as_u64(), "{method}");
    }
}

#[test]
fn files_for_other_tools_have_the_same_samples() {
    let [stacks, speedscope, page] =
        ["stacks.txt", "run.json", "run.html"].map(|name| fixture::directory().join(name));
    let files = [
        "--collapsed",
        text(&stacks),
        "--speedscope",
        text(&speedscope),
        "--html",
        text(&page),
        "--json=/dev/null",
    ];
    let Some((code, _, error)) = sampled(&files) else { return };
    assert_eq!(code, 0, "{error}");
    let lines = std::fs::read_to_string(&stacks).expect("it was written");
    let of_lines: u64 =
        lines.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    let file: Value =
        serde_json::from_slice(&std::fs::read(&speedscope).expect("it was written")).expect("JSON");
    let profiles = file["profiles"].as_array().expect("a list").iter();
    let of_file: usize =
        profiles.map(|profile| profile["samples"].as_array().expect("a list").len()).sum();
    assert!(of_lines > 0 && of_lines == of_file as u64, "{of_lines} and {of_file}");
    let page = std::fs::read_to_string(&page).expect("it was written");
    let (_, data) = page.split_once("application/json\">").expect("the page has data");
    let data: Value = serde_json::from_str(data.split("</script>").next().expect("the data end"))
        .expect("it is JSON");
    let threads = data["stacks"][0]["lanes"].as_array().expect("a list").iter();
    let own = threads.flat_map(|thread| thread["own"][0].as_array().expect("a list"));
    assert_eq!(
        own.map(|own| own.as_u64().expect("a number")).sum::<u64>(),
        of_lines,
        "the page has all samples"
    );
}

#[test]
fn a_target_that_cannot_be_sampled_is_an_error_with_a_hint() {
    let cases: [(&[&str], &str); 6] = [
        (&["sample"], "CMD"),
        (&["sample", "--rate", "1M", "--", "true"], "1kHz"),
        (&["sample", "--stack-size", "1G", "--", "true"], "64k"),
        (&["sample", "--seconds", "3", "--", "true"], "cannot be used"),
        (&["sample", "--pid", "4194304999"], "no process"),
        (
            &["sample", "--collapsed", "/no/such/directory/file", "--", "true"],
            "mkdir -p /no/such/directory",
        ),
    ];
    for (arguments, part) in cases {
        let (code, out, error) = ended(arguments);
        assert_eq!((code, &*out), (2, ""), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}

#[test]
fn a_program_that_fails_ends_the_command_with_1() {
    let (code, out, error) = ended(&["sample", "--", "sh", "-c", "exit 3"]);
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return;
    }
    assert_eq!(code, 1, "{error}");
    assert!(out.contains("exit status: 3"), "{out}");
}

#[test]
fn a_sampler_that_is_killed_leaves_nothing_behind_the_next_one() {
    let directory = fixture::directory();
    let left = || {
        std::fs::read_dir(&directory).expect("it is there").flatten().map(|entry| entry.file_name())
    };
    let of_samplers =
        || left().filter(|name| name.to_string_lossy().starts_with("metaspy-code-")).count();
    let mut command = metaspy(&["sample", "--", "sh", "-c", "echo begun; read line"]);
    command
        .env("TMPDIR", &directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut run = command.spawn().expect("it starts");
    let mut line = String::new();
    let out = run.stdout.take().expect("it is a pipe");
    BufReader::new(out).read_line(&mut line).expect("the program prints text");
    assert_eq!((&*line, of_samplers()), ("begun\n", 1));
    let input = run.stdin.take();
    run.kill().and_then(|()| run.wait()).expect("it still runs");
    // The program reads the end of its input now.
    drop(input);
    assert_eq!(of_samplers(), 1, "nobody could remove it");
    metaspy(&["sample", "--", "true"]).env("TMPDIR", &directory).output().expect("it starts");
    assert_eq!(of_samplers(), 0);
}

#[test]
fn a_process_of_another_user_is_the_reason_for_a_refusal() {
    use std::os::unix::process::CommandExt;
    let mut command =
        metaspy(&["sample", "--pid", &std::process::id().to_string(), "--seconds", "1"]);
    // Only root can become another user, and the program may be where nobody else can read it.
    let Ok(run) = command.uid(65_534).gid(65_534).output() else {
        return println!("SKIPPED: drop-privileges: only root can become another user");
    };
    let error = String::from_utf8_lossy(&run.stderr);
    if error.contains("no perf events") {
        return println!("SKIPPED: sampling: {error}");
    }
    assert!(run.status.code() == Some(2) && error.contains("belongs to another user"), "{error}");
    assert!(!error.contains("feature"), "{error}");
}

/// The layout story, recorded into a file, as a command line.
#[cfg(feature = "demo")]
fn story<'a>(file: &'a str, events: &'a str) -> [&'a str; 6] {
    [env!("CARGO_BIN_EXE_metaspy"), "demo", "--record", file, "--events", events]
}

#[cfg(feature = "demo")]
#[test]
fn a_sample_is_in_the_event_whose_method_is_on_its_stack() {
    let file = fixture::directory().join("sampled.spy");
    let words = story(text(&file), "100k").map(std::ffi::OsString::from).to_vec();
    let options = Options {
        rate_hz: 4_000,
        output: metaspy_sampler::options::Output::StandardError,
        ..Options::default()
    };
    let run = match sample(&Target::Command(words), &options, &Default::default()) {
        Ok(run) => run,
        Err(error) => return println!("SKIPPED: sampling: {error}"),
    };
    assert_eq!(run.recordings.len(), 1, "the recording is found by its mapping");
    let profile = Profile::new(run);
    let (mut within, mut agreeing) = (0, 0);
    for sample in &profile.run.samples.samples {
        let list = profile.run.samples.lists.get(sample.events as usize);
        let Some(&innermost) = list.and_then(|list| list.last()) else { continue };
        // `Scene::layout` is one of the functions on the stack, whatever else its type is called
        // there.
        let site = &profile.run.samples.events[innermost as usize].site;
        let method = site.rsplit("::").next().expect("a path has a last segment");
        let is_method =
            |id: u32| profile.symbols.functions[id as usize].name.contains(&format!("::{method}"));
        within += 1;
        agreeing += u64::from(profile.methods_of(sample.stack).any(is_method));
    }
    println!("{agreeing} of {within} samples in events have the event's method on their stack");
    assert!(within >= 50, "{within} of {} samples are in events", profile.total());
    // A sample between the beginning of a hook and the reading of its clock is in the event around
    // it.
    assert!(agreeing * 100 >= within * 95, "{agreeing} of {within}");
}

#[cfg(feature = "demo")]
const RATE_HZ: u32 = 4_000;

#[cfg(feature = "demo")]
#[test]
fn a_recording_has_the_samples_of_its_process() {
    let file = fixture::directory().join("with-samples.spy");
    let (code, _, error) = ended(
        &[
            &["sample", "--rate", &RATE_HZ.to_string(), "--json=/dev/null", "--"][..],
            &story(text(&file), "100k"),
        ]
        .concat(),
    );
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return;
    }
    assert!(code == 0 && error.contains("report") && error.contains("--cpu"), "{error}");
    let (code, out, error) = ended(&["verify", text(&file)]);
    assert_eq!(code, 0, "{out}{error}");
    for by in ["site", "subject", "site,subject"] {
        let (code, out, error) =
            ended(&["report", text(&file), "--by", by, "--cpu", "--top", "all", "--json"]);
        assert_eq!(code, 0, "{error}");
        let report: Value = serde_json::from_str(&out).expect("JSON");
        let samples = |row: &Value| row["profiles"]["cpu"]["samples"].as_u64().unwrap_or(0);
        let rows = report["rows"].as_array().expect("a list");
        let all = report["cpu_samples"].as_u64().expect("a number");
        let sum: u64 = rows.iter().map(samples).sum();
        assert!(0 < sum && sum <= all, "{by}: {sum} of {all}");
        assert!(
            rows.windows(2).all(|pair| samples(&pair[0]) >= samples(&pair[1])),
            "{by}: sorted by time"
        );
        assert!(
            rows[0]["cpu_percent"].as_f64() > Some(0.0)
                && rows[0]["cpu_error_percent"].as_f64() > Some(0.0)
        );
        if by == "subject" {
            samples_agree_with_self_times(rows);
        }
    }
    let (code, out, _) = ended(&["report", text(&file), "--by", "subject", "--cpu"]);
    assert!(
        code == 0
            && out.contains("cpu ")
            && out.contains("±")
            && out.contains("in no recorded event"),
        "{out}"
    );
    functions_are_in_the_recording(&file);
}

/// Each node with much of the time has the same share of samples as of the self time of its events.
/// Samples are of processor time and events of the wall clock: the time that the thread waited for
/// a processor may all be that of one node.
#[cfg(feature = "demo")]
fn samples_agree_with_self_times(rows: &[Value]) {
    let self_ns = |row: &Value| row["self_ns"].as_f64().unwrap_or(0.0);
    let samples = |row: &Value| row["profiles"]["cpu"]["samples"].as_f64().unwrap_or(0.0);
    let nodes: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "node").collect();
    let all_ns: f64 = nodes.iter().map(|row| self_ns(row)).sum();
    let all_samples: f64 = nodes.iter().map(|row| samples(row)).sum();
    let running_ns = all_samples * 1e9 / f64::from(RATE_HZ);
    let waiting = (1.0 - running_ns / all_ns).max(0.0);
    println!(
        "{} nodes, {all_samples} samples, {waiting:.2} of the time without a processor",
        nodes.len()
    );
    let large: Vec<&&Value> = nodes.iter().filter(|row| self_ns(row) > 0.1 * all_ns).collect();
    assert!(!large.is_empty() && nodes.len() > 500, "{large:?} of {}", nodes.len());
    for row in large {
        let time = self_ns(row) / all_ns;
        let sampled = samples(row) / all_samples;
        let error = 3.3 * (time * (1.0 - time) / all_samples).sqrt();
        assert!(
            (time - sampled).abs() < 0.05 + waiting + error,
            "{time} of self time, {sampled} of samples"
        );
    }
}

/// The functions of recordings as JSON. What is known about each function adds up, unless something
/// found no room.
#[cfg(feature = "demo")]
fn functions_of(files: &[&std::path::Path]) -> Value {
    let words = [
        &["report"],
        &files.iter().map(|file| text(file)).collect::<Vec<_>>()[..],
        &["--functions", "--json"],
    ];
    let (code, out, error) = ended(&words.concat());
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let number = |of: &Value, name: &str| of[name].as_u64().expect("a number");
    let functions = report["functions"].as_array().expect("a list");
    let samples: u64 = functions.iter().map(|of| number(of, "self_samples")).sum();
    let has_room = number(&report, "lost") == 0;
    assert!(if has_room {
        samples == number(&report, "samples")
    } else {
        samples <= number(&report, "samples")
    });
    for function in functions {
        let parts = |list: &str, name: &str| -> u64 {
            function[list].as_array().expect("a list").iter().map(|part| number(part, name)).sum()
        };
        assert!(
            number(function, "self_samples") <= number(function, "total_samples"),
            "{function}"
        );
        if has_room {
            assert_eq!(
                parts("ranges", "self_samples"),
                number(function, "self_samples"),
                "{function}"
            );
            assert_eq!(
                parts("ranges", "total_samples"),
                number(function, "total_samples"),
                "{function}"
            );
            let within = parts("subjects", "total_samples") + number(function, "outside_samples");
            assert_eq!(within, number(function, "total_samples"), "{function}");
        }
    }
    report
}

/// The functions, their lines, and the events that the same recording has.
#[cfg(feature = "demo")]
fn functions_are_in_the_recording(file: &std::path::Path) {
    let report = functions_of(&[file]);
    assert_eq!(report["lost"], 0);
    let functions = report["functions"].as_array().expect("a list").iter();
    let events: usize =
        functions.map(|function| function["events"].as_array().expect("a list").len()).sum();
    assert!(events > 0, "samples fell in events");
    let store = metaspy_core::Store::open(file).expect("it is a recording");
    let functions = metaspy_report::functions::Functions::read(&store).expect("there are samples");
    let layout =
        functions.all.iter().find(|of| of.name.contains("::layout") && of.total_samples > 10);
    let details = functions.details(layout.expect("the story has layouts").number);
    let ids = details.events.iter();
    let known = ids.filter(|(id, _)| store.event(*id).is_some()).count();
    assert!(
        known > 0 && !details.callers.is_empty() && !details.subjects.is_empty(),
        "{details:?}"
    );
    let (code, out, _) = ended(&["report", text(file), "--functions"]);
    assert!(
        code == 0
            && out.contains(" self ")
            && !out.contains("self ms")
            && out.contains("±")
            && out.contains("for "),
        "{out}"
    );
}

#[cfg(feature = "demo")]
#[test]
fn functions_of_two_recordings_add_up_and_what_found_no_room_is_counted() {
    let record = |name: &str, budget: &str| {
        let file = fixture::directory().join(name);
        let words = ["sample", "--rate", "4000", "--json=/dev/null", "--"];
        let (code, _, error) =
            ended(&[&words[..], &story(text(&file), "50k"), &["--budget", budget]].concat());
        if code == 2 && error.contains("the kernel refuses to sample") {
            println!("SKIPPED: sampling: {error}");
            return None;
        }
        assert_eq!(code, 0, "{error}");
        Some(file)
    };
    let (Some(one), Some(other)) = (record("one.spy", "256MiB"), record("other.spy", "256MiB"))
    else {
        return;
    };
    let samples = |report: &Value| report["samples"].as_u64().expect("a number");
    let both = functions_of(&[&one, &other]);
    assert_eq!(samples(&both), samples(&functions_of(&[&one])) + samples(&functions_of(&[&other])));
    let open = |file: &std::path::Path| metaspy_core::Store::open(file).expect("it is a recording");
    let outside = |store| {
        metaspy_report::cpu::CpuTotals::read(&store).expect("it has samples").outside.samples
    };
    let sources = [&one, &other].map(|file| (text(file).to_owned(), open(file))).to_vec();
    let merged = metaspy_core::Store::merged(sources).expect("they are of the same program");
    assert!(outside(open(&one)) > 0);
    assert_eq!(outside(merged), outside(open(&one)) + outside(open(&other)));
    let Some(small) = record("small.spy", "1MiB") else { return };
    let report = functions_of(&[&small]);
    assert!(
        report["lost"].as_u64() > Some(0)
            && report["notes"][0].as_str().expect("a note").contains("METASPY_BUDGET")
    );
    let (code, out, error) = ended(&["verify", text(&small)]);
    assert_eq!(code, 0, "{out}{error}");
}

#[test]
fn a_recording_without_samples_names_the_way_to_take_them() {
    for option in ["--cpu", "--functions"] {
        let (code, _, error) =
            ended(&["report", text(&fixture::closed("no-samples.spy", 3)), option]);
        assert!(code == 2 && error.contains("metaspy sample"), "{error}");
    }
}
