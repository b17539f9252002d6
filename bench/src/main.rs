//! Times the factor's sweep and compares it with the machine's limits, with other libraries at the
//! same work, and with what a researcher would run. Every row's result is checked before it is
//! timed.

mod activation;
mod args;
mod bounds;
mod guard;
mod ours;
mod peers;
mod program;
mod researcher;
mod samples;
mod table;
mod timing;

use std::{collections::BTreeMap, fs, hint::black_box};

use anyhow::{Context, Result};
use broadstream::factor::Factor;
use clap::Parser;

use crate::{
    args::Arguments,
    bounds::Pass,
    peers::{Eigen, Faer, FaerForm, FaerLiteral, Nalgebra, Peer, Qrupdate},
    samples::{Cursor, Samples},
    table::{Measured, Report},
    timing::{Key, Row},
};

/// The ridge λ of every regression here.
const RIDGE: f64 = 1.0;

/// The share of the past that a sample keeps, in the rows that forget.
const FORGETTING: f64 = 0.99;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut versions = BTreeMap::new();
    let mut tables = Vec::new();
    for order in arguments.orders() {
        let measured = measure(&arguments, order)
            .with_context(|| format!("nothing is reported: at {order} features"))?;
        if let Some(researcher) = &measured.researcher {
            versions.extend(researcher.versions.clone());
        }
        tables.push(measured.table());
    }
    let program = arguments.program.as_deref();
    let schedule = arguments.schedule();
    let program =
        program.map(|path| program::time(path, arguments.quick, &schedule)).transpose()?;
    let activation = activation::time(&schedule);
    if let Some((name, version)) = env!("BENCH_RUSTC").split_once(' ') {
        versions.insert(name.to_owned(), version.to_owned());
    }
    let processor = processor();
    let targets = samples::TARGETS;
    let report = Report { processor, versions, targets, tables, activation, program };
    let markdown = report.markdown();
    let json = serde_json::to_string_pretty(&report)? + "\n";
    for (name, text) in [("results.json", &json), ("results.md", &markdown)] {
        let path = arguments.output.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print!("{markdown}");
    Ok(())
}

fn measure(arguments: &Arguments, order: usize) -> Result<Measured> {
    eprintln!("{order} features: checking");
    let samples = Samples::new(order);
    guard::check_ours(&samples)?;
    let mut pass = Pass::new(order);
    let mut rows = vec![Row::new(Key::Pass, 1, move || pass.run())];
    rows.extend(ours::rows(&samples));
    for mut peer in peers(order) {
        guard::check_peer(&samples, &mut *peer)?;
        rows.push(peer_row(Key::Peer(peer.name()), &samples, peer));
    }
    // Without forgetting the literal method has the sweep's solution, which is how it is checked.
    guard::check_peer(&samples, &mut FaerLiteral::new(order, RIDGE, 1.0))?;
    let literal = FaerLiteral::new(order, RIDGE, FORGETTING);
    rows.push(peer_row(Key::Literal(literal.name()), &samples, Box::new(literal)));

    eprintln!("{order} features: timing");
    let schedule = arguments.schedule();
    let peak_flops = bounds::peak_flops();
    let timings = schedule.interleave(&mut rows);
    let peak_flops = peak_flops.max(bounds::peak_flops());
    let rows = rows.into_iter().map(|row| row.key).zip(timings).collect();
    let researcher = match &arguments.python {
        Some(python) if researcher::ORDERS.contains(&order) => {
            Some(researcher::time(python, &samples, &schedule)?)
        }
        _ => None,
    };
    Ok(Measured {
        order,
        factor_bytes: u64::try_from(Factor::bytes(order))?,
        peak_flops,
        rows,
        researcher,
    })
}

fn peers(order: usize) -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(Faer::new(FaerForm::Ldlt, order, RIDGE)),
        Box::new(Faer::new(FaerForm::Llt, order, RIDGE)),
        Box::new(Nalgebra::new(order, RIDGE)),
        Box::new(Eigen::new(order, RIDGE)),
        Box::new(Qrupdate::new(order, RIDGE)),
    ]
}

fn peer_row(key: Key, samples: &Samples, mut peer: Box<dyn Peer>) -> Row<'_> {
    let mut cursor = Cursor::default();
    let mut x = vec![0.0; samples.order()];
    Row::new(key, 1, move || {
        x.copy_from_slice(samples.right_hand_side());
        peer.learn_and_solve(samples.next(&mut cursor, 1).0, &mut x);
        black_box(&x);
    })
}

/// The processor's name, if the system provides it.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("a processor without a name", |(_, name)| name.trim()).to_owned()
}
