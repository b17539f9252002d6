//! Dates and times as ISO 8601 writes them.
//!
//! These forms are read, and no others:
//!
//! - a date: `2024-02-29`
//! - a date and a time: `2024-02-29T17:03`, `2024-02-29 17:03:59` or `2024-02-29T17:03:59.123456`, on the clock of
//!   wherever the data come from
//! - a date and a time with a zone: the same followed by `Z`, `+02:00`, `+0200` or `+02`
//!
//! The three are different forms, and a column has one of them: a date without a time is not midnight. Years have
//! four digits. A fraction of a second may have any number of digits, of which six count.
//!
//! A moment is the days since 1970 with their fraction, which is what trends follow, the hour with its fraction,
//! and the weekday. The days are those of UTC; hour and weekday are what the clock on the wall showed. The Python
//! package makes the same of the dates of other libraries (`_moments.py`).

/// The forms of moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MomentForm {
    /// A date.
    Date,
    /// A date and a time without a zone.
    Local,
    /// A date and a time with a zone.
    Zoned,
}

/// A moment that a text spells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) form: MomentForm,
    /// The days since 1970.
    pub(super) days: f64,
    /// The hour of the day; `None` for a date.
    pub(super) hour: Option<f64>,
    pub(super) weekday: &'static str,
}

const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// What follows the name of a column of moments in the names of the columns of its parts: the hour, and the
/// weekday.
pub(super) const PARTS: [&str; 2] = [".hour", ".weekday"];

impl Moment {
    /// Reads a trimmed text; `None` if it is no moment.
    pub(super) fn read(text: &[u8]) -> Option<Moment> {
        let mut rest = text;
        let date = read_date(&mut rest)?;
        if rest.is_empty() {
            return Some(Moment::of(MomentForm::Date, date * DAY, date * DAY));
        }
        if !matches!(take(&mut rest)?, b'T' | b't' | b' ') {
            return None;
        }
        let wall = date * DAY + read_time(&mut rest)?;
        if rest.is_empty() {
            return Some(Moment::of(MomentForm::Local, wall, wall));
        }
        let offset = read_zone(rest)?;
        Some(Moment::of(MomentForm::Zoned, wall - offset, wall))
    }

    /// The moment that is so many seconds after 1970 began.
    pub(super) fn of_epoch(seconds: f64) -> Option<Moment> {
        // The years from 1 to 9999, as in texts.
        const FIRST: f64 = -62_135_596_800.0;
        const END: f64 = 253_402_300_800.0;
        if !(FIRST..END).contains(&seconds) {
            return None;
        }
        let microseconds = (seconds * 1e6).floor() as i64;
        Some(Moment::of(MomentForm::Zoned, microseconds, microseconds))
    }

    /// A moment in microseconds since 1970, and as the clock on the wall showed it.
    fn of(form: MomentForm, universal: i64, wall: i64) -> Moment {
        // The first of January 1970 was a Thursday.
        let weekday = WEEKDAYS[(wall.div_euclid(DAY) + 3).rem_euclid(7) as usize];
        let hour = wall.rem_euclid(DAY) as f64 / 3.6e9;
        let days = universal as f64 / DAY as f64;
        Moment { form, days, hour: (form != MomentForm::Date).then_some(hour), weekday }
    }
}

fn take(rest: &mut &[u8]) -> Option<u8> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(*first)
}

/// The number that the next digits spell.
fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (digits, others) = rest.split_at_checked(count)?;
    *rest = others;
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| 10 * number + i64::from(digit - b'0'))
    })
}

fn expect(rest: &mut &[u8], byte: u8) -> Option<()> {
    (take(rest)? == byte).then_some(())
}

/// The days since 1970.
fn read_date(rest: &mut &[u8]) -> Option<i64> {
    let year = digits(rest, 4)?;
    expect(rest, b'-')?;
    let month = digits(rest, 2)?;
    expect(rest, b'-')?;
    let day = digits(rest, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=length).contains(&day) {
        return None;
    }
    // Counted in years that begin in March, so that the leap day is their last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// The microseconds since midnight.
fn read_time(rest: &mut &[u8]) -> Option<i64> {
    let hour = digits(rest, 2)?;
    expect(rest, b':')?;
    let minute = digits(rest, 2)?;
    let mut microseconds = 0;
    let mut second = 0;
    if rest.first() == Some(&b':') {
        take(rest)?;
        second = digits(rest, 2)?;
        if matches!(rest.first(), Some(b'.' | b',')) {
            take(rest)?;
            let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if length == 0 {
                return None;
            }
            for position in 0..length {
                let digit = digits(rest, 1)?;
                if position < 6 {
                    microseconds += digit * 10_i64.pow(5 - position as u32);
                }
            }
        }
    }
    let sound = hour < 24 && minute < 60 && second < 60;
    sound.then_some(((hour * 60 + minute) * 60 + second) * 1_000_000 + microseconds)
}

/// The microseconds by which a zone is ahead of UTC.
fn read_zone(mut rest: &[u8]) -> Option<i64> {
    let sign = match take(&mut rest)? {
        b'Z' | b'z' => return rest.is_empty().then_some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = digits(&mut rest, 2)?;
    if rest.first() == Some(&b':') {
        take(&mut rest)?;
        if rest.is_empty() {
            return None;
        }
    }
    let minutes = if rest.is_empty() { 0 } else { digits(&mut rest, 2)? };
    let sound = rest.is_empty() && hours < 24 && minutes < 60;
    sound.then_some(sign * (hours * 60 + minutes) * 60_000_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Moment> {
        Moment::read(text.as_bytes())
    }

    #[test]
    fn moments_are_what_a_calendar_says() {
        for (text, days, hour, weekday) in [
            ("1970-01-01", 0.0, None, "Thursday"),
            ("1969-12-31", -1.0, None, "Wednesday"),
            ("2000-02-29", 11_016.0, None, "Tuesday"),
            ("0001-01-01", -719_162.0, None, "Monday"),
            ("9999-12-31", 2_932_896.0, None, "Friday"),
            ("2024-02-29T18:00", 19_782.75, Some(18.0), "Thursday"),
            ("2024-02-29 18:00:00", 19_782.75, Some(18.0), "Thursday"),
            ("2024-02-29t18:00:00.000", 19_782.75, Some(18.0), "Thursday"),
            ("2024-02-29T18:00:00Z", 19_782.75, Some(18.0), "Thursday"),
            ("2024-03-01T00:00:00+06:00", 19_782.75, Some(0.0), "Friday"),
            ("2024-03-01T00:00:00+0600", 19_782.75, Some(0.0), "Friday"),
            ("2024-02-29T12:30:00.0-0530", 19_782.75, Some(12.5), "Thursday"),
            ("2024-02-29T13:00-05", 19_782.75, Some(13.0), "Thursday"),
            (
                "1969-12-31T23:59:59.999999999",
                -1.0 / 86_400e6,
                Some(86_399_999_999.0 / 3.6e9),
                "Wednesday",
            ),
        ] {
            let found = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.days, found.hour, found.weekday), (days, hour, weekday), "{text}");
        }
        assert_eq!(Moment::of_epoch(1_709_229_600.0), read("2024-02-29T18:00:00Z"));
        assert_eq!(Moment::of_epoch(-0.5).unwrap().weekday, "Wednesday");
        for seconds in [f64::NAN, f64::INFINITY, 1e12, -1e11] {
            assert_eq!(Moment::of_epoch(seconds), None);
        }
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "2024",
            "2024-02",
            "2024-02-30",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "0000-01-01",
            "24-01-01",
            "2024/01/01",
            "01-02-2024",
            "20240101",
            "2024-1-1",
            "2024-01-01T",
            "2024-01-01T1",
            "2024-01-01T24:00",
            "2024-01-01T12:60",
            "2024-01-01T12:00:60",
            "2024-01-01T12:00:",
            "2024-01-01T12:00:00.",
            "2024-01-01T12:00:00.5x",
            "2024-01-01T12:00+",
            "2024-01-01T12:00+1",
            "2024-01-01T12:00+01:",
            "2024-01-01T12:00+01:5",
            "2024-01-01T12:00+24:00",
            "2024-01-01T12:00Zz",
            "2024-01-01  12:00",
            "2024-01-01T12:00 UTC",
            "+2024-01-01",
            "2024-01-01x",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            Moment::read(&bytes);
        }

        #[test]
        fn days_follow_each_other(day in -719_000_i64..2_900_000) {
            let text = |day: i64| {
                // Civil from days, written independently of the reader: by counting months.
                let (mut year, mut left) = (1970_i64, day);
                let length = |year: i64| 365 + i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
                while left < 0 { year -= 1; left += length(year); }
                while left >= length(year) { left -= length(year); year += 1; }
                let february = length(year) - 337;
                let mut month = 1;
                for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
                    if left < days { break; }
                    left -= days;
                    month += 1;
                }
                format!("{year:04}-{month:02}-{:02}", left + 1)
            };
            prop_assert_eq!(read(&text(day)).map(|moment| moment.days), Some(day as f64));
        }
    }
}
