"""Sparse matrices of scipy are the dense ones that they stand for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from broadstream import evaluate
from broadstream.sklearn import OnlineBLSClassifier

FORMATS = [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array, sp.bsr_array]


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 7)) < 0.3, rng.normal(size=(300, 7)), 0.0)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.fixture(autouse=True)
def never_densified(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the matrix was made dense")

    for kind in {*FORMATS, sp.csr_array, sp.csr_matrix}:
        for method in ("todense", "toarray"):
            monkeypatch.setattr(kind, method, refuse)


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("preset", ["single", "default"])
def test_rows_are_those_of_the_dense_matrix(preset, kind, dense, new_model, assert_same):
    X, y = dense
    model, expected = new_model(preset=preset), new_model(preset=preset)
    found = model.test_then_train(kind(X), y)
    for one, other in zip(found, expected.test_then_train(X, y)):
        assert one.tolist() == other.tolist()
    assert_same(model, expected, X)
    assert np.array_equal(model.predict_proba_many(kind(X)), expected.predict_proba_many(X))


def test_other_operations_take_them_too(dense, new_model):
    X, y = dense
    model, expected = (new_model(nested_models=1) for _ in range(2))
    for one, rows in ((model, sp.csr_array(X)), (expected, X)):
        one.fit_scaling(rows)
        one.learn_many(rows, y, np.arange(1.0, 301))
        one.unlearn_many(rows[:20], y[:20], np.arange(1.0, 21))
    assert np.array_equal(model.weights, expected.weights)
    result = evaluate((sp.csr_array(X), y), new_model())
    assert result.metrics == evaluate((X, y), new_model()).metrics


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", "u1"])
def test_numbers_of_other_types(dtype, dense, new_model):
    X = (dense[0] * 3).astype(dtype)
    model, expected = new_model(), new_model()
    model.learn_many(sp.csr_array(X), dense[1])
    expected.learn_many(X.astype(float), dense[1])
    assert np.array_equal(model.weights, expected.weights)


def test_nan_is_missing_and_zero_is_not(new_model):
    X = np.array([[np.nan, 1.0], [0.0, 2.0], [3.0, np.nan]])
    model, expected = new_model(), new_model()
    model.learn_many(sp.csr_array(X), [0, 1, 0])
    expected.learn_many(X, [0, 1, 0])
    assert np.array_equal(model.weights, expected.weights)


def test_entries_stored_twice_are_added(new_model):
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    model, expected = new_model(), new_model()
    model.learn_many(twice, [0, 1])
    expected.learn_many([[3.0, 0.0], [0.0, 5.0]], [0, 1])
    assert np.array_equal(model.weights, expected.weights)


def test_a_broken_matrix_is_refused(dense, trained, no_trace):
    broken = sp.csr_array(dense[0][:, :4])
    broken.indices[5] = 9
    with no_trace(trained), pytest.raises(ValueError, match="entry outside of its columns"):
        trained.predict_many(broken)


def test_one_row(dense, new_model, monkeypatch):
    monkeypatch.undo()
    model = new_model()
    model.learn_many(*dense)
    for x in (sp.csr_array(dense[0])[[3]], sp.csr_matrix(dense[0])[3], sp.coo_array(dense[0][3])):
        assert model.predict_proba_one(x) == model.predict_proba_one(dense[0][3])
    with pytest.raises(ValueError, match=r"one sample, got an array of shape \(300, 7\)"):
        model.predict_one(sp.csr_array(dense[0]))


def test_pipelines_of_scikit_learn_pass_them_on(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), 300), "b": rng.choice(list("xyz"), 300)})
    y = ((frame["a"] == "u") ^ (frame["b"] == "x")).to_numpy()
    sparse = make_pipeline(OneHotEncoder(), OnlineBLSClassifier(enhancement_nodes=50))
    assert sp.issparse(sparse[0].fit_transform(frame))
    assert cross_val_score(sparse, frame, y, cv=3, error_score="raise").mean() > 0.95
    monkeypatch.undo()
    dense = make_pipeline(
        OneHotEncoder(sparse_output=False), OnlineBLSClassifier(enhancement_nodes=50)
    )
    found, expected = (model.fit(frame, y).predict_proba(frame) for model in (sparse, dense))
    assert np.array_equal(found, expected)
    words = make_pipeline(CountVectorizer(), OnlineBLSClassifier(enhancement_nodes=50))
    texts = ["good fine", "bad poor", "good nice", "poor sad"] * 20
    assert words.fit(texts, ["+", "-"] * 40).score(texts, ["+", "-"] * 40) == 1


def test_features_without_a_value_stay_blank_in_sparse_matrices(monkeypatch):
    monkeypatch.undo()
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    empty = np.where([False, True, False], np.nan, X)
    model = OnlineBLSClassifier(enhancement_nodes=20).fit(sp.csr_array(empty), y)
    expected = OnlineBLSClassifier(enhancement_nodes=20).fit(empty, y)
    for rows in (X, empty):
        found = model.predict_proba(sp.csr_array(rows))
        assert np.array_equal(found, expected.predict_proba(rows))
