//! Which variants of a generator a stream goes through, and when it changes.
//!
//! 'variant' names a single one. 'variants' lists several, which follow one another, either after 'every'
//! that many samples or spread evenly over the stream; 'width' says how gradually. 'drift=recurring'
//! repeats the list until the stream ends.

use super::parameters::{Parameters, broken};
use crate::error::Error;

/// What variants a generator has.
#[derive(Clone, Copy)]
pub(super) enum Variants {
    /// 0, 1, … below the number.
    Some(u64),
    /// The same, and by default all of them in turn.
    AllInTurn(u64),
    /// Every number is a variant.
    Endless,
}

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Drift {
    variant: Option<u64>,
    variants: Option<Vec<u64>>,
    every: Option<u64>,
    width: Option<u64>,
    recurring: Option<bool>,
}

/// The variants of a stream in their order, and the samples where one follows another.
pub(super) struct Turns {
    pub(super) variants: Vec<u64>,
    pub(super) changes: Vec<u64>,
    pub(super) width: u64,
}

impl Drift {
    pub(super) fn take(parameters: &mut Parameters) -> Result<Self, Error> {
        let drift = Drift {
            variant: parameters.optional_number("variant")?,
            variants: parameters.optional("variants", "numbers as in 0-3-7", numbers)?,
            every: parameters.optional_number("every")?,
            width: parameters.optional_number("width")?,
            recurring: parameters.optional("drift", "once or recurring", |value| match value {
                "once" => Some(false),
                "recurring" => Some(true),
                _ => None,
            })?,
        };
        match (drift.variant, drift.first_given()) {
            (Some(_), Some(given)) => {
                let rule = format!("a variant does not drift, so it has no {given}");
                Err(broken(parameters.generator(), rule))
            }
            _ => Ok(drift),
        }
    }

    /// The order for a stream of that many samples.
    pub(super) fn turns(
        &self,
        name: &'static str,
        variants: Variants,
        samples: u64,
    ) -> Result<Turns, Error> {
        let drifts = self.first_given().is_some() || matches!(variants, Variants::AllInTurn(_));
        if self.variant.is_some() || !drifts {
            let variants = vec![self.variant.unwrap_or(0)];
            return Ok(Turns { variants, changes: Vec::new(), width: 1 });
        }
        let listed = match (&self.variants, variants) {
            (Some(listed), _) => listed.clone(),
            (None, Variants::Some(count) | Variants::AllInTurn(count)) => (0..count).collect(),
            (None, Variants::Endless) => {
                let rule = "its variants are endless, so a drift needs some, as in variants=0-3-7";
                return Err(broken(name, rule));
            }
        };
        let recurring = self.recurring == Some(true);
        let (variants, changes) = match self.every {
            Some(every) if recurring => self::recurring(name, &listed, every, samples)?,
            Some(every) => {
                check_every(name, every)?;
                let changes = (1..listed.len() as u64).map(|i| every.saturating_mul(i)).collect();
                (listed, changes)
            }
            None if recurring => {
                let rule = "a recurring drift needs every=N, the samples of a turn";
                return Err(broken(name, rule));
            }
            None => spread(name, listed, samples)?,
        };
        Ok(Turns { variants, changes, width: self.width.unwrap_or(1) })
    }

    /// The first parameter given that is about a change.
    fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("variants", self.variants.is_some()),
            ("every", self.every.is_some()),
            ("width", self.width.is_some()),
            ("drift", self.recurring.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(parameter, _)| parameter)
    }
}

/// The variants in their order, and the samples where they change.
type VariantsAndChanges = (Vec<u64>, Vec<u64>);

/// The list again and again, until it is as long as the stream.
fn recurring(
    name: &'static str,
    listed: &[u64],
    every: u64,
    samples: u64,
) -> Result<VariantsAndChanges, Error> {
    // The library's limit, checked before that many generators are created.
    const MOST_TURNS: u64 = 1000;
    check_every(name, every)?;
    let turns = samples.div_ceil(every).max(1);
    if turns > MOST_TURNS {
        let rule = format!("every must leave at most {MOST_TURNS} turns");
        return Err(broken(name, format!("{rule}, got {every} for {samples} samples")));
    }
    let variants = listed.iter().copied().cycle().take(turns as usize).collect();
    Ok((variants, (1..turns).map(|i| i * every).collect()))
}

/// The list once, each variant for its share of the samples.
fn spread(name: &'static str, listed: Vec<u64>, samples: u64) -> Result<VariantsAndChanges, Error> {
    let count = listed.len() as u64;
    if samples < count {
        let rule = format!("samples must be at least {count}, one for each variant");
        return Err(broken(name, format!("{rule}, got {samples}")));
    }
    // The product may need more than 64 bits; the quotient does not.
    let change = |i| (u128::from(samples) * u128::from(i) / u128::from(count)) as u64;
    let changes = (1..count).map(change).collect();
    Ok((listed, changes))
}

fn check_every(name: &'static str, every: u64) -> Result<(), Error> {
    match every {
        0 => Err(broken(name, "every must be at least 1, got 0")),
        _ => Ok(()),
    }
}

/// Numbers joined by hyphens; at least one.
fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split('-').map(|number| number.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(
        parameters: &str,
        variants: Variants,
        samples: u64,
    ) -> Result<(Vec<u64>, Vec<u64>), Error> {
        let mut parameters = Parameters::parse("stagger", parameters)?;
        let turns = Drift::take(&mut parameters)?.turns("stagger", variants, samples)?;
        Ok((turns.variants, turns.changes))
    }

    #[test]
    fn variants_follow_one_another() {
        let three = Variants::Some(3);
        for (parameters, variants, samples, expected) in [
            ("", three, 100, (vec![0], vec![])),
            ("variant=2", three, 100, (vec![2], vec![])),
            ("", Variants::AllInTurn(4), 4003, (vec![0, 1, 2, 3], vec![1000, 2001, 3002])),
            ("variant=7", Variants::Endless, 100, (vec![7], vec![])),
            ("variants=2-0", three, 101, (vec![2, 0], vec![50])),
            ("variants=2", three, 100, (vec![2], vec![])),
            ("width=9", three, 90, (vec![0, 1, 2], vec![30, 60])),
            ("every=10,drift=once", three, 1000, (vec![0, 1, 2], vec![10, 20])),
            ("variants=5-5-8,every=40", Variants::Endless, 10, (vec![5, 5, 8], vec![40, 80])),
            ("drift=recurring,every=10", three, 41, (vec![0, 1, 2, 0, 1], vec![10, 20, 30, 40])),
            ("drift=recurring,every=10", three, 40, (vec![0, 1, 2, 0], vec![10, 20, 30])),
            ("drift=recurring,every=10", three, 7, (vec![0], vec![])),
        ] {
            assert_eq!(turns(parameters, variants, samples).unwrap(), expected, "{parameters}");
        }
        let (_, changes) = turns("variants=0-1-2", three, u64::MAX).unwrap();
        assert_eq!(changes, [u64::MAX / 3, u64::MAX / 3 * 2]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let three = Variants::Some(3);
        for (parameters, variants, samples, expected) in [
            ("variant=1,width=5", three, 9, "a variant does not drift, so it has no width"),
            ("variant=1,variants=0-1", three, 9, "a variant does not drift, so it has no variants"),
            ("variants=0-x", three, 9, "variants: expected numbers as in 0-3-7, got '0-x'"),
            ("variants=", three, 9, "variants: expected numbers as in 0-3-7, got ''"),
            ("drift=often", three, 9, "drift: expected once or recurring, got 'often'"),
            ("every=0", three, 9, "every must be at least 1, got 0"),
            ("every=0,drift=recurring", three, 9, "every must be at least 1, got 0"),
            ("drift=recurring", three, 9, "a recurring drift needs every=N, the samples of a turn"),
            ("width=2", three, 2, "samples must be at least 3, one for each variant, got 2"),
            (
                "width=2",
                Variants::Endless,
                9,
                "its variants are endless, so a drift needs some, as in variants=0-3-7",
            ),
            (
                "every=9,drift=recurring",
                three,
                9001,
                "every must leave at most 1000 turns, got 9 for 9001 samples",
            ),
        ] {
            let error = turns(parameters, variants, samples).unwrap_err();
            assert_eq!(error.to_string(), format!("stagger: {expected}"), "{parameters}");
        }
    }
}
