//! The days of a service that is recorded all the time. Its clock is that of its recordings: each of
//! them names the moment at which it began.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use metaspy::prelude::*;
use metaspy_core::format::superblock::{PID, STARTED_NS};

use crate::fixture::{NodeId, directory, printed, rows_of, turn};
use crate::killed::{can_trace, run_until};
use crate::seal::{assert_has_what_is_named, files_of, partitions};
use crate::ship::{recordings, text};

/// Recordings of a day, as a service that rotates leaves them.
const OF_DAY: u64 = 2;
const DAY_NS: u64 = 24 * 3_600_000_000_000;
/// The day on which the clock is set back, by more than the time between two recordings.
const SET_BACK: u64 = 13;

/// How long the service runs.
struct Length {
    days: u64,
    /// The days that `--keep` names.
    kept: u64,
    /// The day on which the machine gets another name, after its recordings were sealed and before
    /// they were removed.
    renamed: u64,
}

const IN_FULL: Length = Length { days: 90, kept: 30, renamed: 81 };
const QUICK: Length = Length { days: 24, kept: 8, renamed: 21 };
/// System calls at which a shipper is killed, one each third day.
const KILLED_AT: [(&str, usize); 6] =
    [("write", 4), ("fsync", 3), ("rename", 2), ("rename", 9), ("unlink", 1), ("mkdir", 5)];

/// Records a few calls.
fn record(path: &Path) {
    let _turn = turn();
    let recording = Recording::file(path).budget(1 << 20).start().expect("there is room");
    let profiler =
        Profiler::new("soak").observe(methods("NodeId::*")).install().expect("they are observed");
    NodeId(0).frame();
    drop(profiler);
    recording.close();
}

/// The bytes of a recording that another process began at another time.
fn made(recording: &[u8], pid: u64, started_ns: u64) -> Vec<u8> {
    let mut bytes = recording.to_vec();
    bytes[PID * 8..][..4].copy_from_slice(&(pid as u32).to_le_bytes());
    bytes[STARTED_NS * 8..][..8].copy_from_slice(&started_ns.to_le_bytes());
    bytes
}

/// Runs a command on a machine of this name.
fn run_on(machine: &str, arguments: &[&str]) -> String {
    let script = format!("hostname {machine} && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--uts", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_metaspy-scale")]);
    let output = command.args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// Fails unless all recordings of a day were recognised.
fn assert_sealed_before(said: &str) {
    assert!(said.matches("already sealed").count() as u64 >= OF_DAY, "{said}");
}

/// True if processes can be traced here, and have a name of the machine of their own.
fn can_rename() -> bool {
    let renamed = Command::new("unshare").args(["--uts", "hostname", "soak"]).output();
    can_trace() && renamed.is_ok_and(|output| output.status.success())
}

#[test]
fn in_the_days_of_a_service_nothing_is_missed_or_sealed_twice_and_the_set_has_a_bound() {
    if !can_rename() {
        println!("SKIPPED: soak: no strace, or this user may not rename the machine for a process");
        return;
    }
    let Length { days, kept, renamed } = match std::env::var_os("METASPY_LONG") {
        Some(_) => IN_FULL,
        None => {
            println!("SKIPPED: soak-in-full: {} days; METASPY_LONG=1 runs 90", QUICK.days);
            QUICK
        }
    };
    let (dir, target) = (directory("soak"), directory("soak set"));
    let spy = dir.join("service.spy");
    record(&spy);
    let recording = fs::read(&spy).expect("it was recorded");
    fs::remove_file(spy).expect("it is ours");
    let (from, to) = (dir.display().to_string(), target.display().to_string());
    let keep = format!("{kept}d");
    let arguments = ["ship", &from, "--to", &to, "--once", "--keep", &keep];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let first_day = now.as_nanos() as u64 - days * DAY_NS;
    let own_name = fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let (mut kills, mut most_bytes, mut expected) = (0, 0, Vec::new());
    for day in 0..days {
        for part in 0..OF_DAY {
            let set_back = if day < SET_BACK { 0 } else { 3 * DAY_NS / 2 };
            let started = first_day + day * DAY_NS + part * DAY_NS / OF_DAY - set_back + part;
            // It is started again each ten days.
            let pid = 1_000 + day / 10;
            fs::write(
                dir.join(format!("service-{day}-{part}.spy")),
                made(&recording, pid, started),
            )
            .expect("there is room");
            expected.push((day, started));
        }
        let (call, at) = KILLED_AT[(day / 3) as usize % KILLED_AT.len()];
        if day == renamed {
            let seal = ["seal", &from, "--to", &to];
            printed(&seal);
            assert_sealed_before(&run_on("renamed", &seal));
        } else if day < renamed && day % 3 == 0 && !run_until(call, at, &arguments, &[]) {
            kills += 1;
            // Half of the days, the next ship follows the next day.
            if day % 2 == 0 {
                continue;
            }
        }
        let machine = if day < renamed { own_name.trim() } else { "renamed" };
        let said = run_on(machine, &arguments);
        if day == renamed {
            assert_sealed_before(&said);
        }
        assert_eq!(recordings(&dir), 0, "day {day}");
        assert_has_what_is_named(&target);
        let files = partitions(&target).into_iter().flat_map(|it| files_of(&it));
        let bytes: u64 = files.map(|file| file.metadata().expect("it is there").len()).sum();
        if day < kept {
            most_bytes = most_bytes.max(bytes);
        }
        // The clock was set back, and the former name of a machine keeps its partitions.
        let most_days = kept + 4 + day.saturating_sub(renamed);
        assert!(bytes <= most_bytes * most_days / kept, "day {day}: {bytes} of {most_bytes}");
    }
    assert!(kills > renamed / 5, "{kills} kills");
    let counts = rows_of("SELECT run, count(*) FROM recordings GROUP BY run", &target);
    let sealed: BTreeMap<&str, u64> = counts
        .iter()
        .map(|row| {
            let (run, count) = row.split_once(',').expect("two columns");
            (run, count.parse().expect("a number"))
        })
        .collect();
    assert!(sealed.values().all(|count| *count == 1), "{counts:?}");
    let under_first_name = expected.iter().filter(|(day, _)| *day < renamed);
    let newest = under_first_name.map(|(_, started)| *started).max().expect("it ran");
    let is_kept = |started: u64| started >= newest - kept * DAY_NS;
    let stay = expected.iter().filter(|(_, started)| is_kept(*started)).count();
    println!("{days} days, {kills} kills, {stay} of {} recordings stay", expected.len());
    assert_eq!(sealed.len(), stay, "{counts:?}");
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}
