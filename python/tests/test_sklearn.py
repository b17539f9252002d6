"""The contract of scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from broadstream.sklearn import OnlineBLSClassifier

# Checks that scikit-learn itself skips, with the reasons.
SKIPPED = {
    # Runs only if the variable SCIPY_ARRAY_API is set, and concerns arrays of other libraries.
    "check_array_api_input",
}


@pytest.mark.parametrize(
    "model",
    [OnlineBLSClassifier(), OnlineBLSClassifier(enhancement_nodes=50, class_weight="balanced")],
)
def test_every_check_of_an_estimator_passes(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    failed = [
        f"{result['check_name']}: {result['exception']!r}"
        for result in results
        if result["status"] not in ("passed", "skipped")
    ]
    assert not failed
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= SKIPPED
    assert sum(result["status"] == "passed" for result in results) > 50


def test_partial_fit_in_any_batches_is_the_same_to_the_bit():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    whole = OnlineBLSClassifier(enhancement_nodes=50).partial_fit(X, y)
    for batch in (1, 7, 64):
        parts = OnlineBLSClassifier(enhancement_nodes=50)
        for start in range(0, len(X), batch):
            parts.partial_fit(X[start : start + batch], y[start : start + batch])
        assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_classes_may_come_late_and_in_any_order():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    order = np.random.default_rng(0).permutation(len(X))
    model = OnlineBLSClassifier(enhancement_nodes=50)
    # Virginica alone, then also setosa, then all of them.
    for known, rows in [
        (["virginica"], order[:20]),
        (["virginica", "setosa"], order[:50]),
        (None, order),
    ]:
        rows = rows if known is None else rows[np.isin(names[rows], known)]
        model.partial_fit(X[rows], names[rows])
        assert known is None or model.classes_.tolist() == sorted(known)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (150, 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert model.score(X, names) > 0.9


def test_classes_may_be_announced():
    X, y = load_iris(return_X_y=True)
    model = OnlineBLSClassifier(enhancement_nodes=50)
    order = np.random.default_rng(0).permutation(len(X))
    early = order[:60][y[order[:60]] < 2]
    model.partial_fit(X[early], y[early], classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    assert not model.predict_proba(X)[:, 2].any(), "a class competes only once it was seen"
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.partial_fit(X[order], y[order]).score(X, y) > 0.9
    assert OnlineBLSClassifier().fit(X, y).partial_fit(X, y, classes=[0, 1, 2]).score(X, y) > 0.9


@pytest.mark.parametrize("preset", ["single", "default"])
def test_fit_discards_what_was_learned_before(preset):
    X, y = make_classification(200, random_state=0)
    model = OnlineBLSClassifier(preset=preset, enhancement_nodes=50)
    first = model.fit(X, y).predict_proba(X)
    assert np.array_equal(model.fit(X, 1 - y).fit(X, y).predict_proba(X), first)


def test_a_weight_is_a_repetition_and_order_does_not_matter():
    X, y = make_classification(120, random_state=1)
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = OnlineBLSClassifier(enhancement_nodes=50).fit(X, y, weights)
    order = np.random.default_rng(3).permutation(np.repeat(np.arange(len(X)), weights))
    repeated = OnlineBLSClassifier(enhancement_nodes=50).fit(X[order], y[order])
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-9)


def test_class_weights_count():
    X, y = make_classification(600, weights=[0.95], flip_y=0.1, random_state=4)
    recall = {}
    for weight in (None, "balanced", "auto", {0: 1.0, 1: 30.0}):
        for fit in ("fit", "partial_fit"):
            model = OnlineBLSClassifier(enhancement_nodes=50, class_weight=weight)
            predicted = getattr(model, fit)(X, y).predict(X)
            recall[str(weight), fit] = np.mean(predicted[y == 1] == 1)
    for fit in ("fit", "partial_fit"):
        plain = recall["None", fit]
        assert recall["balanced", fit] > plain and recall["{0: 1.0, 1: 30.0}", fit] > plain
        assert recall["auto", fit] >= plain


def test_missing_values_are_absent_and_infinities_refused():
    X, y = load_iris(return_X_y=True)
    X[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    model = OnlineBLSClassifier().fit(X, y)
    assert model.score(X, y) > 0.85
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.full((1, 4), np.inf))
    before = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.partial_fit(X, np.where(y > 0, np.nan, 1.0))
    assert np.array_equal(model.predict_proba(X), before)


def test_it_works_with_the_rest_of_the_library():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), OnlineBLSClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        OnlineBLSClassifier(),
        {"ridge": [0.1, 10.0], "enhancement_nodes": np.array([100, 300])},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.85
    assert search.best_params_["enhancement_nodes"] == 300
    calibrated = CalibratedClassifierCV(OnlineBLSClassifier(enhancement_nodes=300), cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    copied = clone(search.best_estimator_)
    assert copied.get_params() == search.best_estimator_.get_params()
    assert not hasattr(copied, "model_")


def test_the_seed_is_that_of_scikit_learn():
    X, y = make_classification(200, random_state=0)

    def probabilities(state):
        return (
            OnlineBLSClassifier(enhancement_nodes=50, random_state=state).fit(X, y).predict_proba(X)
        )

    assert np.array_equal(probabilities(3), probabilities(3))
    assert not np.array_equal(probabilities(3), probabilities(4))
    states = [probabilities(np.random.RandomState(1)) for _ in range(2)]
    assert np.array_equal(*states)
    assert not np.array_equal(probabilities(None), probabilities(None)), "None draws a seed"


def test_the_display_shows_what_was_chosen():
    model = OnlineBLSClassifier(ridge=0.5)
    assert repr(model) == "OnlineBLSClassifier(ridge=0.5)"
    html = model._repr_html_()
    assert "OnlineBLSClassifier" in html and "ridge" in html and "0.5" in html
    X, y = load_iris(return_X_y=True)
    assert "fitted" in model.fit(X, y)._repr_html_()
