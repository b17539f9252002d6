//! A client that streams a generator with drift through a service, so that its live page has something to show.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block,
    stream::{Stream, synth::NamedGenerator},
};
use broadstream_serve::Service;
use serde_json::{Map, Value, json};
use ureq::Agent;

use crate::output::{failure::note_error, printable::note};

/// The stream: its rule changes every 3 000 samples.
const STREAM: &str = "sea:drift=recurring,every=3000";

/// What the model is called, and how the inputs of the stream are.
const MODEL: &str = "demo";
const INPUTS: [&str; 3] = ["temperature", "pressure", "vibration"];

/// How many rows are predicted at a time, how often, and how many times later their labels are known.
const ROWS: usize = 8;
const EVERY: Duration = Duration::from_millis(100);
const DELAY: usize = 20;

/// Every so many rows come with their labels.
const WITH_LABEL: usize = 4;

/// Runs a service with a client until the program is asked to end.
pub(super) fn run(service: Service) -> Result<()> {
    if !service.wait_until_ready() {
        bail!("the models cannot be opened");
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let client = {
        let (address, is_over) = (service.address(), Arc::clone(&is_over));
        thread::spawn(move || {
            let client =
                Client { agent: Agent::new_with_defaults(), base: format!("http://{address}") };
            if let Err(error) = client.stream(&is_over)
                && !is_over.load(Ordering::Relaxed)
            {
                note_error(&error.context("the demonstration has ended"));
            }
        })
    };
    note(&format!("streaming {STREAM} through the model '{MODEL}'; end with Ctrl-C"));
    let waited = service.wait_for_signal().context("waiting for a signal");
    is_over.store(true, Ordering::Relaxed);
    let _ = client.join();
    service.stop();
    waited
}

struct Client {
    agent: Agent,
    base: String,
}

impl Client {
    /// Predicts rows, and sends their labels a little later.
    fn stream(&self, is_over: &AtomicBool) -> Result<()> {
        self.create()?;
        let mut stream = NamedGenerator::parse(STREAM)?.open()?.take(u64::MAX);
        let mut block = Block::new();
        // Predictions that wait for their labels: the ids, and the labels.
        let mut waiting: VecDeque<Vec<(String, String)>> = VecDeque::new();
        while !is_over.load(Ordering::Relaxed) {
            block.clear();
            stream.read_block(&mut block, ROWS + ROWS / WITH_LABEL)?;
            let label = |i: usize| stream.schema().labels()[block.class(i)].clone();
            let rows: Vec<Value> = (0..ROWS).map(|i| row(&block, i, None)).collect();
            let answer = self.post("predict", &json!({ "rows": rows }))?;
            let ids = answer["predictions"].as_array().into_iter().flatten();
            let ids = ids.filter_map(|prediction| prediction["id"].as_str().map(str::to_owned));
            waiting.push_back(ids.enumerate().map(|(i, id)| (id, label(i))).collect());
            let rows: Vec<Value> =
                (ROWS..block.len()).map(|i| row(&block, i, Some(label(i)))).collect();
            self.post("learn", &json!({ "rows": rows }))?;
            if waiting.len() > DELAY
                && let Some(labelled) = waiting.pop_front()
            {
                let labels = labelled.into_iter();
                let labels: Vec<Value> =
                    labels.map(|(id, label)| json!({ "id": id, "label": label })).collect();
                self.post("labels", &json!({ "labels": labels }))?;
            }
            thread::sleep(EVERY);
        }
        Ok(())
    }

    /// Makes the model unless it is there.
    fn create(&self) -> Result<()> {
        let url = format!("{}/v1/models/{MODEL}", self.base);
        match self.agent.put(&url).send_json(json!({ "target": "alarm" })) {
            Ok(_) | Err(ureq::Error::StatusCode(409)) => Ok(()),
            Err(error) => Err(error).context("the model could not be created"),
        }
    }

    fn post(&self, what: &str, body: &Value) -> Result<Value> {
        let url = format!("{}/v1/models/{MODEL}/{what}", self.base);
        let mut answer = self.agent.post(&url).send_json(body).context(what.to_owned())?;
        Ok(answer.body_mut().read_json()?)
    }
}

/// A sample as a row.
fn row(block: &Block, i: usize, label: Option<String>) -> Value {
    let values = INPUTS.iter().zip(block.sample(i).values());
    let mut row: Map<String, Value> =
        values.map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    if let Some(label) = label {
        row.insert("alarm".to_owned(), label.into());
    }
    row.into()
}
