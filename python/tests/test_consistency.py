"""The inputs, columns and labels of a model stay consistent after any call."""

import gc
import io
import os
import pickle
import subprocess
import sys
import threading
import weakref
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import broadstream
from broadstream import OnlineBLS, Stream, evaluate
from broadstream.sklearn import OnlineBLSClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = (X[:, 0] > 0).astype(int)


def single(**options):
    return OnlineBLS(preset="single", nested_models=1, enhancement_nodes=20, **options)


def survives(model):
    """Check that a model can be saved and loaded, and continues identically."""
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.learn_one({"entirely": 1.0, "new": 2.0}, "u")
    return again.inputs == model.inputs and np.array_equal(again.weights, model.weights)


def test_an_evaluation_in_which_nothing_was_learned():
    model = single()
    evaluate((X[:10], Y[:10]), model, delay=100)
    assert model.inputs == ["0", "1", "2"] and model.labels == []
    model.learn_one({"a": 1.0, "b": 2.0}, "u")
    assert model.inputs == ["0", "1", "2", "a", "b"]
    assert survives(model)


def test_an_evaluation_that_was_refused_in_its_first_row():
    model, rows = single(scaling="none"), X.copy()
    rows[0, 2] = 1e300
    with pytest.raises(ValueError, match="1e300"):
        evaluate((rows, Y), model)
    assert model.learned == 0
    assert survives(model)


def test_a_file_that_ends_in_a_fault(tmp_path):
    path = tmp_path / "late.csv"
    rows = "".join(f"{i},,{i % 7},{'pq'[i % 2]}\n" for i in range(1500))
    path.write_text("a,q,b,y\n" + rows + "1,5,text,p\n")
    model = single()
    with pytest.raises(ValueError, match="line 1502, column 'b'"):
        evaluate(path, model)
    assert model.learned == 1500
    assert survives(model)


def test_a_model_with_inputs_is_evaluated_by_its_own_columns(tmp_path):
    path = tmp_path / "ab.csv"
    path.write_text("b,a,y\n1,2,p\n2,1,q\n")
    model = single()
    model.fit_scaling([{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}])
    assert evaluate(path, model).samples == 2
    model.learn_one({"a": 1.0, "b": 1.5}, "p")
    assert model.inputs == ["a", "b"]


def test_merging_with_a_column_named_like_the_target():
    def model(**rows):
        made = single(scaling="none", inputs_per_sample=2)
        made.learn_one(rows, "p")
        return made

    merged = pickle.loads(pickle.dumps(model(x=1.0, y=2.0)))
    merged.merge(model(x=3.0, z=1.0))
    assert merged.inputs == ["x", "y", "z"]
    assert survives(merged)
    trained = single(scaling="none", inputs_per_sample=2)
    evaluate(([{"x": 1.0}, {"x": 2.0}], ["p", "q"]), trained)
    trained.merge(model(x=3.0, y=1.0))
    assert survives(trained)


def test_merging_a_target_with_an_input_is_refused_before_anything_changes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,p\n2,q\n")
    model = single(scaling="none", inputs_per_sample=1)
    evaluate(path, model)
    other = single(scaling="none", inputs_per_sample=1)
    other.learn_one({"y": 1.0}, "p")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="'y'"):
        model.merge(other)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="'y' is what the model predicts"):
        model.predict_one({"x": 1.0, "y": 2.0})


@pytest.mark.parametrize("weights", [[1.0] * 5, [1.0] * 101])
def test_lengths_are_checked_wherever_there_are_several(weights):
    model = single()
    with pytest.raises(ValueError, match="sample_weight must have 100 entries"):
        model.fit_scaling(X, weights)
    model.fit_scaling(X)
    model.learn_many(X, Y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="sample_weight must have 100 entries"):
        model.unlearn_many(X, Y, weights)
    with pytest.raises(ValueError, match="y must have 100 entries"):
        model.unlearn_many(X, Y[:3])
    assert pickle.dumps(model) == before


def test_many_samples_are_unlearned_in_pieces():
    rows = RNG.normal(size=(700, 3))
    labels = (rows[:, 0] > 0).tolist()
    model = single()
    model.fit_scaling(rows)
    never = model.like()
    model.learn_many(rows, labels)
    certificate = model.unlearn_many(rows[200:], labels[200:])
    never.learn_many(rows[:200], labels[:200])
    assert certificate.samples == 500 and certificate.error < 1e-9
    assert np.allclose(model.weights, never.weights, rtol=0, atol=1e-9)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="sample 200"):
        model.unlearn_many(np.vstack([rows[:199], [[50.0, 50.0, 50.0]]]), labels[:200])
    assert pickle.dumps(model) == before, "nothing was taken back if the last one is refused"


def test_arrays_for_a_model_of_a_file_without_header(tmp_path):
    path = tmp_path / "plain.csv"
    rows = "".join(f"{a},{b},{'pq'[int(a > 0)]}\n" for a, b, _ in X)
    path.write_text(rows)
    model = single()
    stream = Stream(path, header=False)
    evaluate(stream, model)
    table, labels = stream.arrays()
    assert np.mean(model.predict_many(table) == np.array(labels)) > 0.9
    assert model.inputs == ["1", "2"]


def test_arrays_for_a_model_that_knows_names_are_refused():
    model = single()
    model.learn_one({"volts": 1.0, "watts": 2.0}, "on")
    for call in (
        model.predict_one,
        lambda x: model.learn_one(x, "on"),
        lambda x: model.predict_many([x]),
    ):
        with pytest.raises(ValueError, match="names such as 'volts'"):
            call([1.0, 2.0])


def test_a_numbered_column_may_be_left_out(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("0,1,2,3,y\n1,2,3,4,p\n4,3,2,1,q\n")
    model = single()
    evaluate(Stream(path, drop=["1"]), model)
    model.learn_one([1.0, 2.0, 3.0, 4.0], "p")
    assert len(model.predict_many([[1.0, 2.0, 3.0]])) == 1
    assert model.inputs == ["0", "2", "3"]


def test_correcting_with_no_weight_brings_no_label():
    model = single(scaling="none")
    model.learn_many([{"a": 1.0}, {"a": 2.0}], ["p", "q"])
    model.correct_one({"a": 1.0}, "p", "never", 0.0)
    assert model.labels == ["p", "q"]
    model.learn_one({"a": 3.0}, "r")
    assert model.labels == ["p", "q", "r"]


def test_fitting_the_scaling_needs_samples_and_a_new_model():
    model = single()
    for rows, weights in [(X[:0], None), (X, np.zeros(100))]:
        with pytest.raises(ValueError, match="no sample of positive weight"):
            model.fit_scaling(rows, weights)
    model.learn_many(X, Y)
    with pytest.raises(ValueError, match="has learned 100 samples"):
        model.fit_scaling(X[:0])
    freezing = single(freeze_scaling_after=10)
    freezing.fit_scaling(X)
    with pytest.raises(ValueError, match="it is frozen"):
        freezing.fit_scaling(X)


def test_options_that_contain_themselves_are_refused():
    scaling = {}
    scaling["given"] = scaling
    with pytest.raises(TypeError, match="nested"):
        OnlineBLS(scaling=scaling)


class Shrinking:
    """A number that removes keys from its own dictionary, or adds some, when converted."""

    def __init__(self, row, add):
        self.row, self.add = row, add

    def __float__(self):
        if self.add:
            self.row.update({f"more {i}": 1.0 for i in range(50)})
        else:
            self.row.clear()
        return 1.0


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize("met", [True, False])
def test_a_row_may_change_while_it_is_read(add, met):
    model = single()
    if met:
        model.learn_one({"a": 1.0, "b": 2.0}, 0)
    row = {}
    row["a"], row["b"] = Shrinking(row, add), 2.0
    model.learn_one(row, 0)
    assert model.inputs == ["a", "b"]


def test_the_order_of_a_dictionary_and_predictions_between_change_nothing():
    rows = [{"m": f"m{i % 7}", "a": f"a{i % 5}", "n": float(i)} for i in range(30)]
    models = [single() for _ in range(3)]
    for i, row in enumerate(rows):
        models[0].learn_one(row, i % 2)
        models[1].learn_one(dict(reversed(row.items())), i % 2)
        models[2].predict_one({"never": 1.0, **row})
        models[2].learn_one(row, i % 2)
    assert models[0].inputs == models[1].inputs == models[2].inputs
    assert np.array_equal(models[0].weights, models[1].weights)
    assert np.array_equal(models[0].weights, models[2].weights)


def test_keys_that_are_equal_are_not_the_same_name():
    model = single()
    for key in (1, 1.0, True):
        model.learn_one({key: 5.0}, "a")
    assert model.inputs == ["1", "1.0", "True"]


def test_masked_values_are_absent():
    mask = RNG.random(X.shape) < 0.2
    masked, missing = single(), single()
    masked.learn_many(np.ma.MaskedArray(X, mask), Y)
    missing.learn_many(np.where(mask, np.nan, X), Y)
    assert np.array_equal(masked.weights, missing.weights)
    with pytest.raises(TypeError, match="masked"):
        single().learn_many(X, Y, np.ma.MaskedArray(np.ones(100), mask[:, 0]))


def test_categories_are_called_alike_in_tables_and_rows():
    frame = pd.DataFrame({"c": pd.Categorical([1.0, 2.5]), "d": pd.Categorical([True, False])})
    rows = [{"c": "1", "d": "true"}, {"c": "2.5", "d": "false"}]
    table, by_row = single(), single()
    table.learn_many(frame, [0, 1])
    by_row.learn_many(rows, [0, 1])
    assert sorted(table.inputs) == sorted(by_row.inputs)


def test_rows_of_pandas_keep_their_names():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    model = single()
    model.learn_many([row for _, row in frame.iterrows()], [0, 1])
    assert model.inputs == ["a", "b"]


@pytest.mark.parametrize("label", [np.float32("nan"), np.datetime64("NaT"), float("nan"), None])
def test_missing_labels_are_refused(label):
    with pytest.raises(ValueError, match="the label is missing"):
        single().learn_one({"a": 1.0}, label)


def test_large_integers_stay_what_they_are():
    model = single()
    model.learn_many([[0.0], [1.0], [0.0], [1.0]], [2**63, -1, 2**63, -1])
    assert set(model.predict_many([[0.0], [1.0]]).tolist()) <= {2**63, -1}


def test_labels_that_came_too_late_are_in_the_result():
    result = evaluate((X[:4], ["a", "b", "a", "c"]), single(), delay=2)
    assert result.labels == ["a", "b", "c"] and result.confusion.shape == (3, 3)


def test_rows_before_a_fault_are_learned():
    model = single()
    rows = [{"a": float(i)} for i in range(40)]
    rows[20]["late"] = 1.0
    with pytest.raises(ValueError, match="row 32: the label is missing"):
        evaluate((rows, [i % 2 for i in range(31)] + [None] * 9), model)
    assert model.learned == 31 and model.inputs == ["a", "late"]


def test_a_stream_has_weights_of_its_own():
    with pytest.raises(ValueError, match="sample_weight belongs to the rows"):
        evaluate("sea:samples=10", single(), sample_weight=np.ones(10))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = "a,b,y\n" + "".join(f"{i},{-i},{'pq'[i % 2]}\n" for i in range(50))
    threading.Thread(target=path.write_text, args=(text,), daemon=True).start()
    assert evaluate(path, single()).samples == 50


def test_an_array_that_is_far_too_wide_is_refused_at_once():
    wide = np.broadcast_to(0.0, (1, 5_000_000))
    with pytest.raises(ValueError, match="more than the memory limit"):
        single(memory_limit=10**7).learn_many(wide, [0])


def test_a_label_for_each_sample_takes_no_table():
    rows, labels = np.zeros((3000, 1)), list(range(3000))
    model = OnlineBLS(preset="single", feature_groups=1, feature_nodes=1, enhancement_nodes=1)
    result = evaluate((rows, labels), model)
    assert len(result.labels) == 3000 and len(result.counts) <= 3000


def test_models_and_their_labels_are_collected_together():
    class Label:
        pass

    label, model = Label(), single()
    label.model = model
    model.learn_one({"a": 1.0}, label)
    gone = weakref.ref(label)
    del label, model
    gc.collect()
    assert gone() is None


def test_a_pickle_with_too_few_labels_is_refused():
    model = single()
    model.learn_many(X, Y)
    restore, (state, _, threads) = model.__reduce__()
    with pytest.raises(ValueError, match="the labels must be 2"):
        restore(state, [], threads)


def test_fractions_and_arrays_of_one_number_are_numbers():
    model = single()
    model.learn_one({"a": Fraction(1, 2), "b": np.array(1.5)}, 0)
    assert model.inputs == ["a", "b"]
    with pytest.raises(TypeError, match="column 'c'"):
        model.learn_one({"c": np.complex64(1j)}, 0)


class TestScikitLearn:
    """A refused fit leaves an estimator unchanged."""

    def fitted(self):
        return OnlineBLSClassifier(enhancement_nodes=20).fit(X, np.where(Y, "b", "a"))

    def test_fit(self):
        model = self.fitted()
        before = model.predict_proba(X), model.classes_
        with pytest.raises(ValueError, match="weight"):
            model.fit(X, np.array(list("uvwx") * 25), sample_weight=np.full(100, 1e200))
        assert np.array_equal(model.predict_proba(X), before[0])
        assert np.array_equal(model.classes_, before[1])

    def test_partial_fit(self):
        model = self.fitted()
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match="weight"):
            model.partial_fit(X[:2], ["y", "z"], sample_weight=[1e200, 1])
        assert pickle.dumps(model) == before

    def test_classes_that_were_announced_may_be_announced_again(self):
        model = OnlineBLSClassifier(enhancement_nodes=20)
        model.partial_fit(X, Y + 2 * (X[:, 1] > 0), classes=[0, 1])
        model.partial_fit(X, Y, classes=[0, 1])
        assert model.classes_.tolist() == [0, 1, 2, 3]

    def test_a_feature_that_was_always_missing(self):
        rows = X.copy()
        rows[:, 1] = np.nan
        model = OnlineBLSClassifier(enhancement_nodes=20).fit(rows, Y)
        assert np.array_equal(model.predict_proba(X), model.predict_proba(rows))
        assert np.array_equal(model.partial_fit(X, Y).predict(X), model.predict(rows))

    def test_predictions_have_the_type_of_the_classes(self):
        model = OnlineBLSClassifier(enhancement_nodes=20).fit(
            X, np.where(Y, "b", "a").astype(object)
        )
        assert model.predict(X).dtype == object


def test_a_model_that_is_named_by_its_configuration_can_be_made_of_it():
    for model in (
        OnlineBLS(),
        single(ridge=0.5, seed=7),
        OnlineBLS(preset="paper", forgetting=0.99),
        OnlineBLS(window=50, scaling={"standard": {"clip": 3.0}}),
    ):
        assert eval(repr(model), {"OnlineBLS": OnlineBLS}).config == model.config


def test_ctrl_c_discards_rows_that_were_not_reached(tmp_path):
    program = """
import os, signal, threading, time
import broadstream
model = broadstream.OnlineBLS(preset="single")
rows = [{"a": float(i), "c": f"c{i // 500}"} for i in range(20000)]
rows[-1]["q"] = "text"
labels = [i // 10000 for i in range(20000)]
threading.Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    model.learn_many(rows, labels)
except KeyboardInterrupt:
    assert 0 < model.learned < 20000, model.learned
    reached = {f"c=c{i // 500}" for i in range(model.learned)} | {"a"}
    assert set(model.inputs) == reached, (model.learned, model.inputs)
    model.learn_one({"q": 5.0}, "other")
    assert model.inputs[-1] == "q" and model.labels[-1] == "other"
    print("stopped")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "stopped\n", done.stderr


def test_saving_to_a_pipe_leaves_the_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    model, read = single(), []
    model.learn_many(X, Y)
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()))
    thread.start()
    model.save(path)
    thread.join()
    again = broadstream.OnlineBLS.load(io.BytesIO(read[0]))
    assert np.array_equal(again.weights, model.weights)
    assert not path.is_file()
