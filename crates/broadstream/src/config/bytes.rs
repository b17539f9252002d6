//! Numbers of bytes as people write them.

/// Reads a number of bytes, with or without a unit. An error says what was expected.
///
/// ```
/// assert_eq!(broadstream::parse_bytes("4GiB"), Ok(4 << 30));
/// assert!(broadstream::parse_bytes("4 apples").is_err());
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, &'static str> {
    const RULE: &str = "a number of bytes, or one with KB, MB, GB, KiB, MiB or GiB";
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(RULE),
    };
    let number: u64 = number.parse().map_err(|_| RULE)?;
    number.checked_mul(factor).ok_or("less than 2^64 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("512"), Ok(512));
        assert_eq!(parse_bytes("4GiB"), Ok(4 << 30));
        assert_eq!(parse_bytes("3 mb"), Ok(3_000_000));
        assert!(parse_bytes("GB").is_err());
        assert!(parse_bytes("1e3").is_err());
        assert!(parse_bytes("99999999999999999999").is_err());
        assert!(parse_bytes("99999999999GiB").is_err());
    }
}
