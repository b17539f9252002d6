//! When what is acknowledged is on the disk.

use std::{fmt, str::FromStr, time::Duration};

/// When what is acknowledged is on the disk. At every level it survives the end of the program, however that
/// comes; the levels differ in what a power failure may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before it is acknowledged: a power failure costs nothing. Requests that come at the same time share
    /// one wait for the disk.
    Always,
    /// At most this long after it was acknowledged.
    Every(Duration),
    /// Whenever the system gets around to it.
    Never,
}

impl FromStr for Durability {
    type Err = String;

    /// The level of a name: `always`, `every 50 ms` or `never`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use broadstream_serve::Durability;
    ///
    /// let level: Durability = "every 50 ms".parse()?;
    /// assert_eq!(level, Durability::Every(Duration::from_millis(50)));
    /// assert_eq!(level.to_string(), "every 50 ms");
    /// # Ok::<(), String>(())
    /// ```
    fn from_str(name: &str) -> Result<Self, String> {
        let milliseconds = || {
            let number = name.strip_prefix("every ")?.strip_suffix("ms")?.trim_end();
            number.parse().ok().filter(|milliseconds| (1..=60_000).contains(milliseconds))
        };
        match name {
            "always" => Ok(Durability::Always),
            "never" => Ok(Durability::Never),
            _ => {
                milliseconds().map(Duration::from_millis).map(Durability::Every).ok_or_else(|| {
                    let rule = "'always', 'never' or 'every N ms' with N from 1 to 60000";
                    format!("durability must be {rule}, got '{name}'")
                })
            }
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Durability::Always => f.write_str("always"),
            Durability::Every(duration) => write!(f, "every {} ms", duration.as_millis()),
            Durability::Never => f.write_str("never"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for name in ["always", "never", "every 1 ms", "every 60000 ms"] {
            assert_eq!(name.parse::<Durability>().unwrap().to_string(), name);
        }
        for bad in ["", "Always", "every", "every 0 ms", "every 60001 ms", "every -1 ms", "50 ms"] {
            let message = bad.parse::<Durability>().unwrap_err();
            assert!(message.ends_with(&format!("got '{bad}'")), "{message}");
        }
    }
}
