//! Which inputs drift or go missing.

/// The most inputs that are watched: the first ones.
const MOST_INPUTS: usize = 1000;

/// How much a row counts among the recent ones.
const RATE: f64 = 1.0 / 500.0;

/// The mean of each input, of all rows and of recent ones, and how often it is present.
#[derive(Default)]
pub(crate) struct Inputs {
    inputs: Vec<Watched>,
    rows: u64,
}

#[derive(Clone, Copy, Default)]
struct Watched {
    count: f64,
    mean: f64,
    squares: f64,
    recent: f64,
    /// The share of recent rows with the input, as it was after the last of them, and which that was.
    present: f64,
    last: u64,
    first: u64,
}

/// An input that was watched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputView {
    pub(crate) input: usize,
    pub(crate) mean: f64,
    pub(crate) recent_mean: f64,
    /// How far the recent mean is from that of all rows, in standard deviations.
    pub(crate) shift: f64,
    /// The share of rows without it, of all since its first and of recent ones.
    pub(crate) missing: f64,
    pub(crate) recent_missing: f64,
}

impl Inputs {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: impl Iterator<Item = (usize, f64)>) {
        self.rows += 1;
        for (input, value) in row.take_while(|(input, _)| *input < MOST_INPUTS) {
            if self.inputs.len() <= input {
                self.inputs.resize(input + 1, Watched::default());
            }
            let watched = &mut self.inputs[input];
            if watched.count == 0.0 {
                (watched.first, watched.recent, watched.present) = (self.rows, value, 1.0);
            }
            watched.count += 1.0;
            let above = value - watched.mean;
            watched.mean += above / watched.count;
            watched.squares += above * (value - watched.mean);
            watched.recent += RATE.max(1.0 / watched.count) * (value - watched.recent);
            watched.present = watched.faded(self.rows) * (1.0 - RATE) + RATE;
            watched.last = self.rows;
        }
    }

    /// The inputs that have changed most, the one that has changed most first.
    pub(crate) fn most_changed(&self, most: usize) -> Vec<InputView> {
        let seen = self.inputs.iter().enumerate().filter(|(_, watched)| watched.count > 0.0);
        let mut views: Vec<InputView> = seen
            .map(|(input, watched)| {
                let spread = (watched.squares / watched.count).sqrt();
                let shift = watched.recent - watched.mean;
                let rows = (self.rows + 1 - watched.first) as f64;
                let faded = watched.faded(self.rows + 1);
                InputView {
                    input,
                    mean: watched.mean,
                    recent_mean: watched.recent,
                    shift: if spread > 0.0 { shift / spread } else { 0.0 },
                    missing: 1.0 - watched.count / rows,
                    recent_missing: 1.0 - faded,
                }
            })
            .collect();
        let change =
            |view: &InputView| view.shift.abs() + (view.recent_missing - view.missing).abs();
        views.sort_by(|a, b| change(b).total_cmp(&change(a)));
        views.truncate(most);
        views
    }
}

impl Watched {
    /// The share of recent rows with the input, before a row.
    fn faded(&self, row: u64) -> f64 {
        let without = (row - self.last).saturating_sub(1).min(1 << 20) as i32;
        self.present * (1.0 - RATE).powi(without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shifts_or_goes_missing_comes_first() {
        let mut inputs = Inputs::default();
        for i in 0..4000 {
            let (noise, late) = (f64::from(i % 7), i >= 3000);
            let row = [(0, noise), (1, if late { noise + 9.0 } else { noise }), (2, 1.0)];
            let present = row.into_iter().filter(|(input, _)| *input != 2 || !late);
            inputs.add(present);
        }
        let views = inputs.most_changed(2);
        assert_eq!(views.iter().map(|view| view.input).collect::<Vec<_>>(), [1, 2]);
        assert!(views[0].shift > 1.0, "{views:?}");
        assert!(views[1].recent_missing > 0.8, "{views:?}");
        assert!((views[1].missing - 0.25).abs() < 0.01, "{views:?}");
    }
}
