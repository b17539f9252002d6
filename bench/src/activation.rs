//! The activation of 1000 enhancement nodes, beside the standard library's tanh.

use std::hint::black_box;

use broadstream::Activation;
use serde::Serialize;

use crate::timing::{Key, Row, Schedule};

const NODES: usize = 1000;

#[derive(Serialize)]
pub(crate) struct ActivationTimes {
    pub(crate) microseconds: f64,
    pub(crate) library_microseconds: f64,
}

pub(crate) fn time(schedule: &Schedule) -> ActivationTimes {
    let xs: Vec<f64> = (0..NODES).map(|i| (i as f64 / NODES as f64 - 0.5) * 6.0).collect();
    let mut ours = vec![0.0; NODES];
    let mut library = vec![0.0; NODES];
    let mut rows = [
        Row::new(Key::Activation, 1, || {
            ours.copy_from_slice(black_box(&xs));
            Activation::Tanh.apply(&mut ours);
            black_box(&ours);
        }),
        Row::new(Key::LibraryActivation, 1, || {
            library.copy_from_slice(black_box(&xs));
            library.iter_mut().for_each(|x| *x = x.tanh());
            black_box(&library);
        }),
    ];
    let timings = schedule.interleave(&mut rows);
    ActivationTimes {
        microseconds: timings[0].min * 1e6,
        library_microseconds: timings[1].min * 1e6,
    }
}
