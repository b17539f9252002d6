//! The report: ratios, as JSON for programs and as Markdown for people.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    activation::ActivationTimes,
    bounds::sweep_flops,
    ours::{BLOCK, STEPS, refresh_interval},
    program::Program,
    researcher::Researcher,
    timing::{Key, Timing},
};

#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) processor: String,
    pub(crate) versions: BTreeMap<String, String>,
    pub(crate) targets: usize,
    pub(crate) tables: Vec<Table>,
    pub(crate) activation: ActivationTimes,
    pub(crate) program: Option<Program>,
}

/// All rows of one order.
#[derive(Serialize)]
pub(crate) struct Table {
    pub(crate) order: usize,
    factor_bytes: u64,
    /// Of one core, in 10⁹ operations a second.
    peak_gflops: f64,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    group: Group,
    name: String,
    microseconds_min: f64,
    microseconds_median: f64,
    rounds: usize,
    /// In units of broadstream's sweep, one by one.
    times_sweep: Option<f64>,
    /// In units of the pass over the factor's memory.
    times_pass: Option<f64>,
    /// The sweep's 2m² operations, by this row's time, by the peak.
    percent_of_peak: Option<f64>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Group {
    Bound,
    Broadstream,
    Peer,
    Forgetting,
    Researcher,
}

/// What was measured at one order.
pub(crate) struct Measured {
    pub(crate) order: usize,
    pub(crate) factor_bytes: u64,
    pub(crate) peak_flops: f64,
    pub(crate) rows: Vec<(Key, Timing)>,
    pub(crate) researcher: Option<Researcher>,
}

impl Measured {
    pub(crate) fn table(&self) -> Table {
        let at_peak = sweep_flops(self.order) / self.peak_flops;
        let at_peak = Timing { min: at_peak, median: at_peak, rounds: 1 };
        let mut rows = vec![
            self.line(Group::Bound, "reading and writing the factor once", self.get(&Key::Pass)),
            self.line(Group::Bound, "the sweep's multiply-adds at peak", at_peak),
        ];
        for (key, timing) in &self.rows {
            let (group, name) = match key {
                Key::Pass | Key::Activation | Key::LibraryActivation | Key::Features => continue,
                Key::Sweep => (Group::Broadstream, "sweep, one by one".to_owned()),
                Key::Block(size) => (Group::Broadstream, format!("sweep, blocks of {size}")),
                Key::Threads(count) => {
                    (Group::Broadstream, format!("sweep, blocks of {BLOCK}, {count} threads"))
                }
                Key::Kept => (Group::Broadstream, "sweep, weights kept".to_owned()),
                Key::Predict => (Group::Broadstream, "predict only".to_owned()),
                Key::PredictKept => (Group::Broadstream, "predict only, weights kept".to_owned()),
                Key::GramAdd => (Group::Forgetting, format!("adding to P, blocks of {BLOCK}")),
                Key::Refactor => {
                    (Group::Forgetting, "one refresh from P + λI (per refresh)".to_owned())
                }
                Key::Corrected(steps) => {
                    let name = format!("sweep with {steps} correcting steps, one by one");
                    (Group::Forgetting, name)
                }
                Key::Peer(name) => (Group::Peer, name.clone()),
                Key::Literal(name) => (Group::Forgetting, name.clone()),
            };
            let mut line = self.line(group, &name, *timing);
            if matches!(key, Key::Sweep | Key::Block(_)) {
                line.times_pass = Some(timing.min / self.get(&Key::Pass).min);
                line.percent_of_peak = Some(100.0 * at_peak.min / timing.min);
            }
            rows.push(line);
            if *key == Key::Corrected(STEPS) {
                let interval = refresh_interval(self.order);
                let every = format!("a refresh every {interval} samples");
                let block = self.get(&Key::Block(BLOCK));
                let row = (format!("all in all: blocks of {BLOCK}, {every}"), block);
                let near_exact = format!("all in all: {STEPS} correcting steps, {every}");
                for (name, sweep) in [row, (near_exact, *timing)] {
                    let all = self.forgetting(sweep, interval);
                    rows.push(self.line(Group::Forgetting, &name, all));
                }
            }
        }
        // Stable, so that within a group rows keep the order in which they were measured.
        rows.sort_by_key(|line| line.group as u8);
        if let Some(researcher) = &self.researcher {
            for (name, timing) in &researcher.ways {
                let mut line = self.line(Group::Researcher, name, *timing);
                line.times_sweep = Some(timing.min / researcher.sweep.min);
                rows.push(line);
            }
        }
        let Measured { order, factor_bytes, peak_flops, .. } = *self;
        Table { order, factor_bytes, peak_gflops: peak_flops / 1e9, rows }
    }

    /// The cost of a sample with forgetting: its sweep, its share of P, and its share of a refresh.
    fn forgetting(&self, sweep: Timing, interval: usize) -> Timing {
        sweep
            .plus(self.get(&Key::GramAdd), 1.0)
            .plus(self.get(&Key::Refactor), 1.0 / interval as f64)
    }

    fn get(&self, key: &Key) -> Timing {
        let found = self.rows.iter().find(|(other, _)| other == key);
        found.expect("the bounds and broadstream's own rows are always timed").1
    }

    fn line(&self, group: Group, name: &str, timing: Timing) -> Line {
        Line {
            group,
            name: name.to_owned(),
            microseconds_min: timing.min * 1e6,
            microseconds_median: timing.median * 1e6,
            rounds: timing.rounds,
            times_sweep: Some(timing.min / self.get(&Key::Sweep).min),
            times_pass: None,
            percent_of_peak: None,
        }
    }
}

impl Report {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# Benchmark\n\n{}, one thread. ", self.processor);
        let versions: Vec<String> =
            self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        text += &format!("{}.\n", versions.join(", "));
        text += "`README.md` says what the rows do and how to read the columns.\n";
        for table in &self.tables {
            text += &table.markdown(self.targets);
        }
        text += &self.activation.markdown();
        if let Some(program) = &self.program {
            text += &program.markdown();
        }
        text
    }
}

impl Table {
    fn markdown(&self, targets: usize) -> String {
        let mut text = format!(
            "\n## {} features, {targets} classes\n\nThe factor takes {:.1} MB, the core does {:.1} GF/s.\n\n",
            self.order,
            self.factor_bytes as f64 / 1e6,
            self.peak_gflops,
        );
        text += "| | µs per sample, min | median | ÷ sweep | ÷ pass | of peak |\n";
        text += "|---|--:|--:|--:|--:|--:|\n";
        let mut heading = "";
        for line in &self.rows {
            if line.group.heading() != heading {
                heading = line.group.heading();
                text += &format!("| *{heading}* | | | | | |\n");
            }
            let times = |ratio: Option<f64>| ratio.map_or(String::new(), three_digits);
            let percent = line.percent_of_peak.map(|percent| format!("{percent:.0} %"));
            text += &format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                line.name,
                three_digits(line.microseconds_min),
                three_digits(line.microseconds_median),
                times(line.times_sweep),
                times(line.times_pass),
                percent.unwrap_or_default(),
            );
        }
        text
    }
}

impl Group {
    fn heading(self) -> &'static str {
        match self {
            Group::Bound => "what the machine allows",
            Group::Broadstream => "broadstream",
            Group::Peer => "one rank-one update, one forward and one backward solve",
            Group::Forgetting => "forgetting 0.99",
            Group::Researcher => "what a researcher would run",
        }
    }
}

impl ActivationTimes {
    fn markdown(&self) -> String {
        format!(
            "\n## tanh\n\n1000 of broadstream's take {:.2} µs, 1000 of the standard library's {:.2} µs: \
             {:.1} times as long.\n",
            self.microseconds,
            self.library_microseconds,
            self.library_microseconds / self.microseconds,
        )
    }
}

impl Program {
    fn markdown(&self) -> String {
        format!(
            "\n## The whole program\n\n`{}`: {:.0} samples a second at best, {:.0} at the median of {} runs. \
             Of the best run {:.1} % was reading and {:.1} % the model; of the model, {:.0} % would be features \
             and {:.0} % sweeps by their times apart, and the rest is scaling, combining and moving data.\n",
            self.command,
            self.samples_per_second,
            self.samples_per_second_median,
            self.runs,
            self.reading_percent,
            self.test_then_train_percent,
            self.features_percent,
            self.sweep_percent,
        )
    }
}

/// Three significant digits, and all digits before the point.
fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
