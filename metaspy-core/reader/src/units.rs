//! Numbers, sizes and durations as users write them: on command lines, in filters and in
//! environment variables.

/// Parses a number with decimal multiples: `1000`, `1,000`, `1_000`, `1k`, `100M` or `1.5G`.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let help = || format!("`{text}` is not a number: write 1000, 10k, 100M or 1.5G");
    let (value, unit) = split(text).ok_or_else(help)?;
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        _ => return Err(help()),
    };
    whole(value * factor).ok_or_else(help)
}

/// Parses a size in bytes: `4096`, `256MiB`, `1.5GB` or `1TiB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let help = || format!("`{text}` is not a size: write 256MiB, 1GiB, 1TiB or 500MB");
    let (value, unit) = split(text).ok_or_else(help)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        _ => return Err(help()),
    };
    whole(value * factor as f64).ok_or_else(help)
}

/// Parses a duration in nanoseconds: `300ns`, `50us`, `50µs`, `1.5ms`, `2s` or `1min`. The unit is
/// required.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    let help = || format!("`{text}` is not a duration: write 500ns, 50us, 1.5ms, 2s, 1min or 1h");
    let (value, unit) = split(text).ok_or_else(help)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3_600e9,
        _ => return Err(help()),
    };
    whole(value * factor).ok_or_else(help)
}

/// Splits a text into a number and the unit after it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if !has_whole_groups(number) {
        return None;
    }
    let digits: String = number.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    Some((digits.parse().ok()?, unit.trim_start()))
}

/// Returns true if commas separate groups of three digits. Elsewhere `0,5` is a half, which must
/// not be read as 5.
fn has_whole_groups(number: &str) -> bool {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or("");
    let mut is_grouped = !part.contains(',');
    for group in groups {
        is_grouped &= !first.is_empty() && first.len() <= 3 && group.len() == 3;
    }
    is_grouped
}

fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value < u64::MAX as f64).then(|| value.round() as u64)
}

/// Formats `8401204` as `8,401,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of things: `1 lane`, `2 lanes`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_parsed_as_people_write_them() {
        let numbers = ["100M", "1_000", "1,000", "1.5k", "12,345,678.0"]
            .map(|text| parse_number(text).unwrap_or(0));
        assert_eq!(numbers, [100_000_000, 1000, 1000, 1500, 12_345_678]);
        let sizes = ["4096", "1kB", "1KiB", "256MiB", "1 MB", "1GiB", "1TiB", "1.5tb"]
            .map(|text| parse_size(text).unwrap_or(0));
        assert_eq!(
            sizes,
            [4096, 1000, 1 << 10, 256 << 20, 1_000_000, 1 << 30, 1 << 40, 1_500_000_000_000]
        );
        for bad in ["", "many", "10X", "-1", "1e400M", "1,9k", "0,5", ",500", "1000,000", "1.5,000"]
        {
            assert!(parse_number(bad).is_err(), "{bad}");
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_duration_has_a_unit() {
        let durations = ["300ns", "50us", "50µs", "1.5ms", "2 s", "1min", "1h"]
            .map(|text| parse_duration_ns(text).unwrap_or(0));
        assert_eq!(
            durations,
            [300, 50_000, 50_000, 1_500_000, 2_000_000_000, 60_000_000_000, 3_600_000_000_000]
        );
        assert!(["5", "1x", "fast", ""].iter().all(|bad| parse_duration_ns(bad).is_err()));
    }
}
