//! Python's rows as a stream.

use std::collections::HashSet;

use broadstream::{Block, Error, Sample, Schema};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyIterator, PyList, PyTuple},
};

use crate::{
    columns::Columns,
    error::to_python,
    evaluation::Failure,
    foreign::Queue,
    labels::Labels,
    learner::Learner,
    rows::{self, Rows, encode_one, place},
    saved,
    stream::failed,
};

/// Rows and their labels, with the columns and labels of the model that learns them.
pub(crate) struct RowSource {
    content: Content,
    pub(crate) columns: Columns,
    pub(crate) labels: Labels,
    schema: Schema,
    texts: HashSet<String>,
    next: usize,
    failure: Failure,
}

enum Content {
    Rows {
        rows: Rows,
        y: Py<PyList>,
        weights: Option<Vec<f64>>,
    },
    /// Pairs of a row and a label, one after the other. A model of another library gets the rows as they are.
    Pairs {
        pairs: Py<PyIterator>,
        total: Option<u64>,
        queue: Option<Queue>,
    },
}

impl RowSource {
    /// Rows with their labels.
    pub(crate) fn rows(
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        failure: Failure,
    ) -> PyResult<Self> {
        let rows = Rows::of(x)?;
        let y = match y {
            Some(y) => rows::labels(y)?,
            None => PyList::empty(py),
        };
        rows.check_length("y", y.len())?;
        let weights = rows::weights(py, weights)?.map(|weights| weights.as_array().to_vec());
        if let Some(weights) = &weights {
            rows.check_length("sample_weight", weights.len())?;
        }
        Ok(RowSource::new(py, Content::Rows { rows, y: y.unbind(), weights }, failure))
    }

    /// Whatever an iterable returns, and how much that is, if it is known.
    pub(crate) fn pairs(
        pairs: &Bound<'_, PyAny>,
        total: Option<u64>,
        queue: Option<Queue>,
        failure: Failure,
    ) -> PyResult<Self> {
        let py = pairs.py();
        let pairs = pairs.try_iter()?.unbind();
        Ok(RowSource::new(py, Content::Pairs { pairs, total, queue }, failure))
    }

    fn new(py: Python<'_>, content: Content, failure: Failure) -> Self {
        RowSource {
            content,
            columns: Columns::new(py),
            labels: Labels::new(py),
            schema: Schema::new("y"),
            texts: HashSet::new(),
            next: 0,
            failure,
        }
    }

    /// Continues with the columns and labels of a model that has learned before.
    pub(crate) fn follow(&mut self, py: Python<'_>, learner: &Learner) -> PyResult<()> {
        self.columns = learner.columns.copy(py);
        self.labels = learner.labels.copy(py)?;
        for label in self.labels.iter(py) {
            self.schema.class_of(&saved::text(label, &mut self.texts)?);
        }
        self.declare_inputs();
        Ok(())
    }

    fn read(&mut self, py: Python<'_>, block: &mut Block, most: usize) -> PyResult<usize> {
        let before = self.next;
        let read = match self.content {
            Content::Rows { .. } => self.read_rows(py, block, most),
            Content::Pairs { .. } => self.read_pairs(py, block, most),
        };
        // Rows before an invalid one are learned, including the inputs that they added.
        self.declare_inputs();
        self.columns.settle();
        read?;
        Ok(self.next - before)
    }

    fn declare_inputs(&mut self) {
        for input in &self.columns.inputs()[self.schema.inputs().len()..] {
            self.schema.push_input(&input.name, input.kind);
        }
    }

    fn read_rows(&mut self, py: Python<'_>, block: &mut Block, most: usize) -> PyResult<()> {
        let RowSource { content, columns, labels, schema, texts, next, .. } = self;
        let Content::Rows { rows, y, weights } = content else { return Ok(()) };
        let (y, end) = (y.bind(py), rows.len().min(next.saturating_add(most)));
        rows.encode(py, columns, *next..end, |i, sample| {
            let class = class_of(&y.get_item(i)?, i, labels, schema, texts)?;
            push(block, sample, class, weights.as_ref().map_or(1.0, |weights| weights[i]), i)
        })?;
        *next = end;
        Ok(())
    }

    fn read_pairs(&mut self, py: Python<'_>, block: &mut Block, most: usize) -> PyResult<()> {
        let RowSource { content, columns, labels, schema, texts, next, .. } = self;
        let Content::Pairs { pairs, queue, .. } = content else { return Ok(()) };
        for _ in 0..most {
            let Some(pair) = pairs.bind(py).clone().next() else { break };
            let (x, y) = pair_of(&pair?, *next)?;
            let class = class_of(&y, *next, labels, schema, texts)?;
            match queue {
                Some(queue) => {
                    push(block, Sample::dense(&[]), class, 1.0, *next)?;
                    queue.add(x, y);
                }
                None => {
                    let row = rows::row(&x)?;
                    push(block, encode_one(columns, &row, place(*next))?, class, 1.0, *next)?;
                }
            }
            *next += 1;
        }
        Ok(())
    }
}

/// The row and the label of what an iterable returned.
fn pair_of<'py>(
    pair: &Bound<'py, PyAny>,
    row: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if let Ok(pair) = pair.cast::<PyTuple>()
        && pair.len() == 2
    {
        return Ok((pair.get_item(0)?, pair.get_item(1)?));
    }
    let found = pair.get_type().name()?.to_string();
    let place = place(row);
    Err(PyTypeError::new_err(format!("{place}: expected a pair (x, y), got {found}")))
}

fn class_of(
    y: &Bound<'_, PyAny>,
    row: usize,
    labels: &mut Labels,
    schema: &mut Schema,
    texts: &mut HashSet<String>,
) -> PyResult<usize> {
    let class = labels.class_of(y, place(row))?;
    if class == schema.labels().len() {
        schema.class_of(&saved::text(labels.label(y.py(), class).bind(y.py()), texts)?);
    }
    Ok(class)
}

fn push(
    block: &mut Block,
    sample: Sample<'_>,
    class: usize,
    weight: f64,
    row: usize,
) -> PyResult<()> {
    block.push(sample, class, weight).map_err(|source| {
        to_python(Error::Sample { sample: row as u64 + 1, reason: Box::new(source) })
    })
}

impl broadstream::stream::Stream for RowSource {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inputs_per_sample(&self) -> usize {
        self.columns.inputs().len()
    }

    fn remaining(&self) -> Option<u64> {
        match &self.content {
            Content::Rows { rows, .. } => Some((rows.len() - self.next) as u64),
            Content::Pairs { total, .. } => {
                total.map(|total| total.saturating_sub(self.next as u64))
            }
        }
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        Python::attach(|py| self.read(py, block, most)).map_err(|error| {
            self.failure.set(error);
            failed(self.next)
        })
    }
}
