//! Numbers, percentages and durations, as they are printed.
//!
//! The units of command lines, filters and environment variables are parsed in
//! [`metaspy_reader::units`].

pub use metaspy_reader::units::{counted, grouped, parse_duration_ns, parse_number, parse_size};

/// A number in at most seven columns: `9,999` as it is, then `8.4 M`.
pub fn short(number: u64) -> String {
    if number < 10_000 {
        return grouped(number);
    }
    let mut value = number as f64;
    let mut unit = "";
    // 999.95 would be written as 1000.0.
    for next in ["k", "M", "G", "T", "P", "E"] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// A number of bytes: `583 B`, `12.3 MB`.
pub fn short_bytes(number: u64) -> String {
    let number = short(number);
    let separator = if number.ends_with(|last: char| last.is_ascii_digit()) { " " } else { "" };
    format!("{number}{separator}B")
}

/// `33.3 %`: a part of a whole; `–` for a part of nothing. Something is never `0.0 %`, and not all
/// is never `100.0 %`.
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        _ if whole == 0 => "–".to_owned(),
        _ if part > 0 && share < 0.05 => "<0.1 %".to_owned(),
        _ if part < whole && share >= 99.95 => ">99.9 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

/// A duration alone, in three digits, with a unit that is always two columns: `61.2 µs`, ` 912 ns`,
/// `4.40  s`.
pub fn duration(ns: u64) -> String {
    if ns < 1000 {
        return format!("{ns:>4} ns");
    }
    let mut value = ns as f64 / 1000.0;
    let mut unit = "µs";
    for next in ["ms", " s"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:>4.0} {unit}"),
    }
}

/// A duration in three digits with its unit, without blanks around it: `61.2 µs`, `4.40 s`. Each
/// cell of a table has its own unit, so that a number means the same in every table.
pub fn time(ns: u64) -> String {
    duration(ns).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Hours, minutes and seconds: `00:03:41`.
pub fn clock(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 8_401_204].map(grouped), ["0", "999", "1,000", "8,401,204"]);
        assert_eq!(
            [9_999, 10_000, 999_949, 999_960, 8_401_204].map(short),
            ["9,999", "10.0 k", "999.9 k", "1.0 M", "8.4 M"]
        );
        assert_eq!(short(u64::MAX), "18.4 E");
        assert_eq!([583, 12_345_678].map(short_bytes), ["583 B", "12.3 MB"]);
    }

    #[test]
    fn a_share_is_nothing_or_all_only_if_it_is() {
        let shares = [(0, 0), (0, 9), (1, 3_000), (1, 1_000), (1, 2), (2_999, 3_000), (9, 9)];
        let texts = shares.map(|(part, whole)| percent(part, whole));
        assert_eq!(texts, ["–", "0.0 %", "<0.1 %", "0.1 %", "50.0 %", ">99.9 %", "100.0 %"]);
    }

    #[test]
    fn a_duration_takes_seven_columns() {
        let all =
            [0, 912, 2_004, 61_240, 912_000, 999_800, 1_810_000, 4_400_000_000, 360_000_000_000];
        let texts = all.map(duration);
        assert_eq!(
            texts,
            [
                "   0 ns", " 912 ns", "2.00 µs", "61.2 µs", " 912 µs", "1.00 ms", "1.81 ms",
                "4.40  s", " 360  s"
            ]
        );
        assert!(texts.iter().all(|t| t.chars().count() == 7));
        assert_eq!([912, 4_400_000_000].map(time), ["912 ns", "4.40 s"]);
    }
}
