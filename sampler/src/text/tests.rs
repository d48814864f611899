use super::*;
use crate::testing::{Sampled, profile};

fn text(sampled: &[Sampled], callers: bool) -> String {
    let mut out = Vec::new();
    write(&mut out, &profile(sampled), Layout { top: Top::Default, callers })
        .expect("memory has room");
    String::from_utf8(out).expect("a report is text")
}

#[test]
fn a_report_has_the_columns_of_the_paper() {
    let text = text(
        &[
            Sampled { count: 12, stack: "main:1 > foobarbaz:1" },
            Sampled { count: 1, stack: "main:1 > foobarbaz:26" },
            Sampled { count: 7, stack: "main:1 > foobarbaz:32" },
            Sampled { count: 1912, stack: "main:1 > elsewhere:5" },
        ],
        false,
    );
    let columns = |start: &str| -> Vec<String> {
        let line = text
            .lines()
            .find(|line| line.contains(start))
            .unwrap_or_else(|| panic!("{start} in\n{text}"));
        line.split_whitespace()
            .map(|word| word.trim_matches(['(', ')']).to_owned())
            .filter(|word| !word.is_empty())
            .collect()
    };
    assert!(text.contains("1,932 samples (1,932 in all, 0 lost)  100.00% of total"), "{text}");
    assert_eq!(columns(" foobarbaz "), ["1.04%", "1.04%", "foobarbaz", "20", "100.00%"]);
    assert_eq!(columns("main.rs:1 "), ["60.00%", "/src/main.rs:1", "12", "60.00%"]);
    assert_eq!(columns("main.rs:26 "), ["5.00%", "/src/main.rs:26", "1", "65.00%"]);
}

#[test]
fn methods_have_self_and_total_time_and_their_callers() {
    let text = text(
        &[Sampled { count: 3, stack: "main:1 > f:2" }, Sampled { count: 1, stack: "main:1" }],
        true,
    );
    let line = |name: &str| {
        text.lines()
            .find(|line| line.ends_with(name))
            .unwrap_or_else(|| panic!("{name} in\n{text}"))
    };
    let words = |name: &str| line(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("  from main"), ["3.00", "ms", "75.0", "from", "main"]);
    assert_eq!(words("  calls f"), ["3.00", "ms", "75.0", "calls", "f"]);
    let main = words("  main");
    assert_eq!(
        [0, 1, 2, 4, 5, 6].map(|at| &*main[at]),
        ["1.00", "ms", "25.0", "4.00", "ms", "100.0"]
    );
}

#[test]
fn a_run_without_samples_has_a_hint() {
    assert!(text(&[], false).contains("--rate 10000"));
}

#[test]
fn a_live_screen_has_the_methods_and_the_lines_of_the_hottest_function() {
    let sampled = [
        Sampled { count: 750, stack: "main:1 > hot:7" },
        Sampled { count: 250, stack: "main:1 > cold:9" },
    ];
    let mut out = Vec::new();
    write_live(&mut out, &profile(&sampled), Top::First(1)).expect("memory has room");
    let text = String::from_utf8(out).expect("a report is text");
    for part in [
        "the last 1.0 s: 1.00 processors busy",
        "1,000 samples in 1 thread, 0 lost",
        " 750 ms",
        "main.rs:7 ",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("cold") && text.contains("… and 1 more"), "{text}");
    let mut empty = Vec::new();
    write_live(&mut empty, &profile(&[]), Top::Default).expect("memory has room");
    assert!(String::from_utf8_lossy(&empty).contains("there are no samples yet"));
}
