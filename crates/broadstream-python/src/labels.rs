//! The labels that a model has seen: any Python values that can be told apart.

use broadstream::stream::Place;
use pyo3::{
    PyTraverseError, PyVisit,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString},
};

/// Labels in order of first appearance: a class is a position in this list.
pub(crate) struct Labels {
    list: Vec<Py<PyAny>>,
    classes: Py<PyDict>,
    /// Whether all labels must have one type. Labels of a file are one column of it: if Python added the number
    /// 1 to its texts, '1' and 1 would be two classes.
    uniform: bool,
}

impl Labels {
    pub(crate) fn new(py: Python<'_>) -> Self {
        Labels { list: Vec::new(), classes: PyDict::new(py).unbind(), uniform: false }
    }

    /// The same labels, to which only labels of their type may be added.
    pub(crate) fn uniform(self) -> Self {
        Labels { uniform: true, ..self }
    }

    /// These labels, which must be distinct.
    pub(crate) fn of<'py>(
        py: Python<'py>,
        labels: impl IntoIterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let mut known = Labels::new(py);
        for (i, label) in labels.into_iter().enumerate() {
            if known.class_of(&label, Place::Row(i as u64 + 1))? != i {
                let message = format!("two labels are the same: {}", label.repr()?);
                return Err(PyValueError::new_err(message));
            }
        }
        Ok(known)
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let list = self.list.iter().map(|label| label.clone_ref(py)).collect();
        let classes = self.classes.bind(py).copy()?.unbind();
        Ok(Labels { list, classes, uniform: self.uniform })
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The first `count` labels. A model that is learning may have labels that it has not come to yet.
    pub(crate) fn list<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.list[..count.min(self.list.len())])
    }

    /// The label of a class.
    pub(crate) fn label(&self, py: Python<'_>, class: usize) -> Py<PyAny> {
        self.list[class].clone_ref(py)
    }

    pub(crate) fn iter<'a, 'py: 'a>(
        &'a self,
        py: Python<'py>,
    ) -> impl Iterator<Item = &'a Bound<'py, PyAny>> {
        self.list.iter().map(move |label| label.bind(py))
    }

    /// The class of a label, if it was seen before.
    pub(crate) fn find(&self, label: &Bound<'_, PyAny>, place: Place) -> PyResult<Option<usize>> {
        let class = self.classes.bind(label.py()).get_item(plain(label, place)?);
        let class = class.map_err(|error| at(place, label, &error))?;
        class.map(|class| class.extract()).transpose()
    }

    /// The class of a label, a new one if the label is new.
    pub(crate) fn class_of(&mut self, label: &Bound<'_, PyAny>, place: Place) -> PyResult<usize> {
        let py = label.py();
        let label = plain(label, place)?;
        let classes = self.classes.bind(py);
        if let Some(class) = classes.get_item(&label).map_err(|error| at(place, &label, &error))? {
            return class.extract();
        }
        self.check_type(&label, place)?;
        let class = self.list.len();
        classes.set_item(&label, class)?;
        self.list.push(label.unbind());
        Ok(class)
    }

    /// Refuses a new label of another type than the known ones, if all must have the same.
    fn check_type(&self, label: &Bound<'_, PyAny>, place: Place) -> PyResult<()> {
        let Some(known) = self.list.first().filter(|_| self.uniform) else { return Ok(()) };
        let (known, kind) = (known.bind(label.py()), label.get_type());
        if known.get_type().is(&kind) {
            return Ok(());
        }
        let message = format!(
            "{place}: the labels of this model are of type {}, such as {}, and {} is of type {}: convert \
             it, or load the model with labels={}",
            known.get_type().name()?,
            known.repr()?,
            label.repr()?,
            kind.name()?,
            kind.name()?,
        );
        Err(PyTypeError::new_err(message))
    }

    /// Forgets the labels beyond the first `keep`.
    pub(crate) fn truncate(&mut self, py: Python<'_>, keep: usize) -> PyResult<()> {
        while self.list.len() > keep {
            // Removes the last one without computing its hash, which could fail and leave the list and
            // the dictionary with different labels.
            self.classes.bind(py).call_method0("popitem")?;
            self.list.pop();
        }
        Ok(())
    }

    /// Shows the labels to Python's garbage collector.
    pub(crate) fn visit(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.classes)?;
        self.list.iter().try_for_each(|label| visit.call(label))
    }

    /// Releases all labels of a model that is no longer reachable.
    pub(crate) fn release(&mut self, py: Python<'_>) {
        self.classes.bind(py).clear();
        self.list.clear();
    }
}

/// A label as it is stored. A numpy scalar becomes a Python value, so that models do not depend on numpy's
/// types. None and NaN are refused.
fn plain<'py>(label: &Bound<'py, PyAny>, place: Place) -> PyResult<Bound<'py, PyAny>> {
    let own = label.cast_exact::<PyString>().is_ok()
        || label.cast_exact::<PyInt>().is_ok()
        || label.cast_exact::<PyBool>().is_ok();
    if own {
        return Ok(label.clone());
    }
    let missing = || PyValueError::new_err(format!("{place}: the label is missing"));
    if label.is_none() {
        return Err(missing());
    }
    if let Ok(number) = label.cast::<PyFloat>() {
        if number.value().is_nan() {
            return Err(missing());
        }
        return Ok(PyFloat::new(label.py(), number.value()).into_any());
    }
    let kind = label.get_type();
    let name = kind.name()?;
    match name.to_str()? {
        // numpy's text is a subclass of str.
        "str_" => return Ok(label.str()?.into_any()),
        // A date of numpy may have no counterpart in Python, and stays as it is.
        "datetime64" | "timedelta64" => {}
        _ => {
            let module = kind.getattr("__module__")?;
            let numpys = module.extract::<&str>().is_ok_and(|module| module == "numpy");
            if numpys && label.hasattr("item")? && !label.hasattr("__len__")? {
                return plain(&label.call_method0("item")?, place);
            }
        }
    }
    // A value that is not equal to itself is missing: NaN of any type, NaT, and NA of pandas.
    let missing_kind = matches!(name.to_str()?, "NAType" | "NaTType");
    if missing_kind || label.ne(label).unwrap_or(false) {
        return Err(missing());
    }
    Ok(label.clone())
}

/// The error for a label that cannot be looked up in a dictionary.
fn at(place: Place, label: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = label.py();
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(format!("{place}: a label must be hashable: {}", error.value(py)))
    } else {
        error.clone_ref(py)
    }
}
