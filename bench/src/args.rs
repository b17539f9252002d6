//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;

use crate::timing::Schedule;

/// Time broadstream's factor and compare it with the machine's limits and with alternatives
#[derive(Parser)]
#[command(name = "broadstream-bench", version, about)]
pub(crate) struct Arguments {
    /// Numbers of features to time [default: 300,1100,2100,5100; 300 if quick]
    #[arg(long, value_name = "M", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..))]
    orders: Vec<u16>,

    /// Measurements of each row [default: 9; 3 if quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,

    /// Seconds after which three measurements are enough for a slow row
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    budget: u16,

    /// A smoke test: is everything installed, and are all results right?
    #[arg(long)]
    pub(crate) quick: bool,

    /// A Python with numpy and scipy; without it the numpy and scipy rows are omitted
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,

    /// The broadstream command; without it the row of the whole program is omitted
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,

    /// The directory for results.json and results.md
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) output: PathBuf,
}

impl Arguments {
    pub(crate) fn orders(&self) -> Vec<usize> {
        match (self.orders.as_slice(), self.quick) {
            ([], false) => vec![300, 1100, 2100, 5100],
            ([], true) => vec![300],
            (orders, _) => orders.iter().map(|order| usize::from(*order)).collect(),
        }
    }

    pub(crate) fn schedule(&self) -> Schedule {
        let (rounds, milliseconds) = if self.quick { (3, 1) } else { (9, 20) };
        Schedule {
            rounds: self.rounds.map_or(rounds, usize::from),
            measurement: Duration::from_millis(milliseconds),
            budget: Duration::from_secs(self.budget.into()),
        }
    }
}
