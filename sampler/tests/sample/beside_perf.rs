//! The same run, sampled by us and by `perf record`: both find the same shares of functions.

use std::path::Path;
use std::process::Command;

use crate::common::{assert_near, build, command, profile_of, samples_of};
use metaspy_sampler::Options;

#[test]
fn perf_record_finds_the_same_shares_in_the_same_run() {
    if !Command::new("perf").arg("--version").output().is_ok_and(|it| it.status.success()) {
        println!("SKIPPED: perf: it is not installed");
        return;
    }
    let program = build("shares", &[]).display().to_string();
    let data =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("perf-{}.data", std::process::id()));
    let file = data.display().to_string();
    // We sample `perf`, which samples the program: the program is our descendant, too.
    let rate = ["-e", "cpu-clock", "-F", "997"];
    let mut words = vec!["record", "-q", "-o", &file];
    words.extend(rate);
    words.extend(["--", &program, "150"]);
    let Some(profile) = profile_of(&command("perf".as_ref(), &words), &Options::default()) else {
        return;
    };
    let script = Command::new("perf")
        .args(["script", "-i", &file, "-F", "ip,sym"])
        .output()
        .expect("perf runs");
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let script = String::from_utf8_lossy(&script.stdout);
    // Not every `perf` reads Rust's names, but each has the last segment in them.
    let of_perf = |name: &str| script.lines().filter(|line| line.contains(name)).count() as f64;
    let ours = |name: &str| samples_of(&profile, name) as f64;
    let (one, other) = ([ours("larger"), ours("smaller")], [of_perf("larger"), of_perf("smaller")]);
    let all = one[0] + one[1];
    println!("larger and smaller: {one:?} samples of ours, {other:?} of perf");
    assert!(all > 100.0 && other[0] + other[1] > 100.0, "ours {one:?}, perf {other:?}");
    // Both counts have an error, so the smaller one decides.
    let least = all.min(other[0] + other[1]) / 2.0;
    assert_near("larger", one[0] / all, other[0] / (other[0] + other[1]), least as u64);
    std::fs::remove_file(data).expect("the file is ours");
}
