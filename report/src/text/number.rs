//! Numbers and sizes, written and read.

/// `8401204` as `8,401,204`.
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

/// `1 lane`, `2 lanes`: a number of things.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

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

/// `33.3 %`: a part of a whole; `–` for a part of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

/// `1000`, `1,000`, `1_000`, `1k`, `100M`, `1.5G`: decimal multiples.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let help = || format!("`{text}` is no number: write 1000, 10k, 100M or 1.5G");
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

/// `4096`, `256MiB`, `1.5GB`, `1TiB`: a size in bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let help = || format!("`{text}` is no size: write 256MiB, 1GiB, 1TiB or 500MB");
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

/// A number and what follows it.
pub(super) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_'))).unwrap_or(text.len());
    let digits: String = text[..end].chars().filter(|c| !matches!(c, ',' | '_')).collect();
    Some((digits.parse().ok()?, text[end..].trim_start()))
}

fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value < u64::MAX as f64).then(|| value.round() as u64)
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
    }

    #[test]
    fn numbers_and_sizes_are_read_as_people_write_them() {
        assert_eq!(parse_number("100M"), Ok(100_000_000));
        assert_eq!(parse_number("1_000"), Ok(1000));
        assert_eq!(parse_number("1.5k"), Ok(1500));
        assert_eq!(parse_size("256MiB"), Ok(256 << 20));
        assert_eq!(parse_size("4096"), Ok(4096));
        let sizes = ["1kB", "1KiB", "1 MB", "1GiB", "1TiB", "1.5tb"].map(|text| parse_size(text).unwrap_or(0));
        assert_eq!(sizes, [1000, 1 << 10, 1_000_000, 1 << 30, 1 << 40, 1_500_000_000_000]);
        for bad in ["", "many", "10X", "-1", "1e400M"] {
            assert!(parse_number(bad).is_err(), "{bad}");
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
