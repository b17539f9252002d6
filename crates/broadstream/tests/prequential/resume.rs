//! Evaluations that are stopped and resumed, against those that never stopped.

use std::{
    io::{self, Cursor, Read},
    ops::ControlFlow,
};

use broadstream::{
    Classifier, Error, Evaluation, EvaluationState, Evaluator, Observer, OnlineBls, Outcome,
    PrequentialOptions, Progress,
    baselines::NoChange,
    metrics::Metrics,
    stream::{Stream, TableOptions, csv::CsvStream},
};

use super::{
    hedge, several, stagger,
    varied::{Predictions, Varied},
};

/// Predictions, and the number of samples that were skipped.
#[derive(Default)]
struct Watch {
    predictions: Predictions,
    passed: u64,
}

impl Observer for Watch {
    fn sample(&mut self, outcome: Outcome<'_>) {
        self.predictions.sample(outcome);
    }

    fn passed(&mut self, samples: u64) {
        self.passed = samples;
    }
}

/// A table whose categories and classes appear one after the other, and change their meaning.
fn table() -> Box<dyn Stream> {
    csv(table_text())
}

fn table_text() -> String {
    let mut text = String::from("size,colour,class\n");
    for i in 0..500_u32 {
        let colour = i * 7 % (2 + i / 60);
        let class = (colour + u32::from(i > 300)) % (2 + i / 100).min(4);
        let size = if i % 11 == 0 { "?".to_owned() } else { (i * 37 % 101).to_string() };
        text += &format!("{size},colour {colour},{class}\n");
    }
    text
}

fn csv(text: String) -> Box<dyn Stream> {
    let reader = Box::new(std::io::Cursor::new(text.into_bytes()));
    Box::new(CsvStream::new(reader, TableOptions::default()).unwrap())
}

/// Evaluates in one go, which is returned, and with a stop at every checkpoint, in blocks of
/// varying size.
fn assert_stops_change_nothing<M: Classifier + Clone>(
    stream: &dyn Fn() -> Box<dyn Stream>,
    new: impl Fn() -> M,
    options: &PrequentialOptions,
    checkpoint_every: u64,
) -> Evaluation {
    let mut expected = Predictions::default();
    let whole = Evaluator::new(options).unwrap();
    let whole = whole.run(&mut *stream(), &mut new(), &mut expected).unwrap();
    let (mut predictions, mut blocks) = (Vec::new(), [1, 100, 64, 7].into_iter().cycle());
    let mut options = || PrequentialOptions {
        block: blocks.next().unwrap(),
        checkpoint_every: Some(checkpoint_every),
        ..options.clone()
    };
    let (mut model, mut evaluator) = (new(), Evaluator::new(&options()).unwrap());
    let found = loop {
        let (mut stream, mut watch) = (stream(), Watch::default());
        let samples = evaluator.state().samples();
        let halt = evaluator.advance(&mut *stream, &mut model, &mut watch).unwrap();
        assert_eq!(watch.passed, samples);
        predictions.append(&mut watch.predictions.0);
        if halt != Progress::Checkpoint {
            break evaluator.finish(&model, stream.schema(), &mut ()).unwrap();
        }
        assert_eq!(predictions.len() as u64, evaluator.state().samples());
        // Only a copy of the model and the state are kept.
        model = model.clone();
        evaluator = Evaluator::resume(evaluator.state().clone(), &options()).unwrap();
    };
    assert!(predictions == expected.0, "every {checkpoint_every}");
    assert!(format!("{found:?}") == format!("{whole:?}"), "every {checkpoint_every}");
    whole
}

#[test]
fn stops_change_nothing() {
    let streams: [&dyn Fn() -> Box<dyn Stream>; 3] =
        [&|| Box::new(Varied::new()), &table, &|| Box::new(stagger().take(1300))];
    let (mut drifts, mut restarts) = (0, 0);
    for (i, stream) in streams.into_iter().enumerate() {
        for (delay, separate_times, every) in [(0, false, 100), (0, true, 333), (30, i == 1, 90)] {
            let (curve_every, metrics_window) = (Some(70), 150);
            let options = PrequentialOptions {
                curve_every,
                metrics_window,
                separate_times,
                delay,
                ..PrequentialOptions::default()
            };
            restarts +=
                assert_stops_change_nothing(stream, several, &options, every).restarts.len();
            drifts += assert_stops_change_nothing(stream, hedge, &options, every).drifts.len();
            let plain = PrequentialOptions { delay, ..PrequentialOptions::default() };
            assert_stops_change_nothing(stream, NoChange::new, &plain, every / 9);
        }
    }
    assert!(drifts > 0 && restarts > 0, "{drifts} drifts and {restarts} restarts");
}

/// An evaluation that was stopped after 100 samples.
fn stopped(stream: &mut dyn Stream) -> (NoChange, EvaluationState) {
    let options = PrequentialOptions { checkpoint_every: Some(100), ..Default::default() };
    let (mut model, mut evaluator) = (NoChange::new(), Evaluator::new(&options).unwrap());
    let halt = evaluator.advance(stream, &mut model, &mut ()).unwrap();
    assert_eq!(halt, Progress::Checkpoint);
    (model, evaluator.state().clone())
}

fn resume(
    stream: &mut dyn Stream,
    model: &mut dyn Classifier,
    state: EvaluationState,
    options: &PrequentialOptions,
) -> Result<Evaluation, Error> {
    Evaluator::resume(state, options)?.run(stream, model, &mut ())
}

fn refusal(
    stream: &mut dyn Stream,
    model: &mut dyn Classifier,
    options: &PrequentialOptions,
) -> String {
    resume(stream, model, stopped(&mut *table()).1, options).unwrap_err().to_string()
}

#[test]
fn another_stream_is_refused() {
    let mut text = String::from("a,b,class\n");
    for i in 0..200 {
        text += &format!("{},u{},{}\n", i % 7, i % 3, i % 2);
    }
    let options = PrequentialOptions { checkpoint_every: Some(100), ..Default::default() };
    let (model, state) = stopped(&mut *csv(text.clone()));
    let go_on = |text: String| {
        let (mut model, state) = (model.clone(), state.clone());
        let found = resume(&mut *csv(text), &mut model, state, &options);
        found.map(|found| found.metrics.summary().samples).map_err(|error| error.to_string())
    };
    let lines: Vec<&str> = text.lines().collect();
    let with = |line: usize, other: &str| {
        let mut lines = lines.clone();
        lines[line] = other;
        lines.join("\n")
    };
    assert_eq!(go_on(text.clone()), Ok(200));
    assert_eq!(go_on(with(101, "9,u9,9")), Ok(200), "what was not evaluated may change");
    let differs = "this is not the stream that was evaluated: its first 100 samples, or the names \
                   of their inputs and labels, differ";
    let others = ["1.0000000000000002,u0,1", "1,u1,1", "1,u0,0", "1,u0,2", "?,u0,1"];
    assert_eq!(lines[100], "1,u0,1");
    for other in others {
        assert_eq!(go_on(with(100, other)), Err(differs.to_owned()), "{other}");
    }
    assert_eq!(go_on(with(0, "a,c,class")), Err(differs.to_owned()), "another name");
    assert_eq!(go_on(text.replace("u2", "u3")), Err(differs.to_owned()), "another category");
    assert_eq!(
        go_on(lines[..100].join("\n")),
        Err("this is not the stream that was evaluated: it ends after 99 samples, \
             but 100 were evaluated"
            .to_owned())
    );
    assert_eq!(go_on(lines[..101].join("\n")), Ok(100), "at its end it only ends once more");
}

#[test]
fn another_model_and_other_options_are_refused() {
    let options = PrequentialOptions::default();
    let (model, _) = stopped(&mut *table());
    let refused = refusal(&mut *table(), &mut NoChange::new(), &options);
    assert_eq!(
        refused,
        "model must be the one that was evaluated, as it was at the checkpoint, \
         got one with 0 inputs and 0 classes"
    );
    let with = |options: &PrequentialOptions| refusal(&mut *table(), &mut model.clone(), options);
    assert_eq!(
        with(&PrequentialOptions { metrics_window: 10, ..options.clone() }),
        "metrics_window must be the one that the evaluation started with, got 10 instead of 1000"
    );
    for (option, changed) in [
        ("curve_every", PrequentialOptions { curve_every: Some(9), ..options.clone() }),
        ("drift_confidence", PrequentialOptions { drift_confidence: 0.1, ..options.clone() }),
        ("separate_times", PrequentialOptions { separate_times: true, ..options.clone() }),
        ("delay", PrequentialOptions { delay: 1, ..options.clone() }),
        ("limit", PrequentialOptions { limit: Some(99), ..options.clone() }),
        ("checkpoint_every", PrequentialOptions { checkpoint_every: Some(0), ..options.clone() }),
    ] {
        let refused = with(&changed);
        assert!(refused.starts_with(&format!("{option} must be ")), "{refused}");
    }
    let limited = PrequentialOptions { limit: Some(100), ..options };
    let (mut model, state) = stopped(&mut *table());
    let found = resume(&mut *table(), &mut model, state, &limited).unwrap();
    assert_eq!(found.metrics.summary().samples, 100);
}

/// Stops after a number of samples.
struct StopAfter(u64);

impl Observer for StopAfter {
    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        match metrics.confusion().samples() < self.0 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// The table, which fails after some of its lines.
fn failing(lines: usize) -> Box<dyn Stream> {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(io::Error::other("stopped")),
                read => Ok(read),
            }
        }
    }
    let text: String = table_text().split_inclusive('\n').take(lines).collect();
    // The start of a line that does not end is not a row.
    let reader = Failing(Cursor::new((text + "5,col").into_bytes()));
    Box::new(CsvStream::new(Box::new(reader), TableOptions::default()).unwrap())
}

#[test]
fn an_evaluation_can_be_resumed_from_wherever_it_halted() {
    let options = PrequentialOptions {
        checkpoint_every: Some(100),
        curve_every: Some(70),
        delay: 9,
        block: 32,
        ..PrequentialOptions::default()
    };
    let mut whole = several();
    let expected =
        Evaluator::new(&options).unwrap().run(&mut *table(), &mut whole, &mut ()).unwrap();
    let go_on = |state: &EvaluationState, model: &mut OnlineBls| {
        let found = resume(&mut *table(), model, state.clone(), &options).unwrap();
        assert!(format!("{found:?}") == format!("{expected:?}"));
    };
    let (mut model, mut evaluator) = (several(), Evaluator::new(&options).unwrap());
    let mut advance = |stream: &mut dyn Stream| loop {
        match evaluator.advance(stream, &mut model, &mut StopAfter(215)).unwrap() {
            Progress::Checkpoint => {}
            halt => break halt,
        }
    };
    assert_eq!(advance(&mut *table()), Progress::Stopped);
    assert_eq!(evaluator.state().samples(), 242);
    go_on(evaluator.state(), &mut model);

    let (mut model, mut evaluator) = (several(), Evaluator::new(&options).unwrap());
    let mut stream = failing(151);
    let error = loop {
        match evaluator.advance(&mut *stream, &mut model, &mut ()) {
            Ok(halt) => assert_eq!(halt, Progress::Checkpoint),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().starts_with("line 152: "), "{error}");
    assert_eq!(evaluator.state().samples(), 150);
    go_on(evaluator.state(), &mut model);
}
