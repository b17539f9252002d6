"""Unlearning and merging are refused if the result would not be exact."""

from __future__ import annotations

import pytest


def test_scaling_is_fitted_only_before_learning(trained, no_trace, numbers):
    with no_trace(trained), pytest.raises(ValueError, match="scaling"):
        trained.fit_scaling(numbers[0])


def test_samples_never_learned_cannot_be_unlearned(frozen, numbers, no_trace):
    X, y = numbers
    with no_trace(frozen):
        with pytest.raises(ValueError, match="row 1: label 'never' was never learned"):
            frozen.unlearn_one(X[0], "never")
        with pytest.raises(ValueError, match="row 2: label 'never' was never learned"):
            frozen.unlearn_many(X[:2], [y[0], "never"])
        with pytest.raises(ValueError, match="input 'never' was never learned"):
            frozen.unlearn_one({"never": 1.0}, 0)
        with pytest.raises(ValueError, match="input 'never' was never learned"):
            frozen.unlearn_many([{"0": 1.0}, {"never": 1.0}], [0, 0])
        with pytest.raises(ValueError, match="cannot unlearn"):
            frozen.unlearn_one(X[0], y[0], 1e6)
        with pytest.raises(ValueError, match="was never learned"):
            frozen.correct_one(X[0], "never", 0)
        with pytest.raises(ValueError, match="input 'never' was never learned"):
            frozen.correct_one({"never": 1.0}, 0, 1)
        with pytest.raises(ValueError, match="the label is missing"):
            frozen.correct_one(X[0], y[0], None)
        with pytest.raises(ValueError, match="cannot unlearn"):
            frozen.correct_one(X[0], y[0], "new", 1e6)


@pytest.mark.parametrize(
    "options", [{}, {"forgetting": 0.99}, {"window": 50}, {"preset": "default"}], ids=str
)
def test_inexact_unlearning_is_refused(options, new_model, numbers, no_trace):
    X, y = numbers
    model = new_model(**options)
    model.learn_many(X, y)
    with no_trace(model):
        with pytest.raises(ValueError, match="cannot unlearn"):
            model.unlearn_one(X[0], y[0])
        with pytest.raises(ValueError, match="cannot correct"):
            model.correct_one(X[0], y[0], 1 - y[0])
        with pytest.raises(ValueError, match="cannot merge"):
            model.merge(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 1}, "different seed"),
        ({"enhancement_nodes": 30}, "enhancement nodes"),
        ({"feature_nodes": 4}, "feature nodes"),
        ({"ridge": 2.0}, "ridge"),
        ({"activation": "relu"}, "activation"),
        ({"forgetting": 0.9}, "cannot merge"),
    ],
    ids=str,
)
def test_models_that_differ_are_not_merged(options, message, new_model, numbers, no_trace):
    X, y = numbers
    one, other = new_model(nested_models=1), new_model(**{"nested_models": 1, **options})
    for model in (one, other):
        model.fit_scaling(X)
        model.learn_many(X[:50], y[:50])
    other.learn_one(X[0], "only there")
    with no_trace(one), no_trace(other), pytest.raises(ValueError, match=message):
        one.merge(other)


def test_models_of_other_scalings_are_not_merged(new_model, numbers, no_trace):
    X, y = numbers
    one, other = new_model(nested_models=1), new_model(nested_models=1)
    one.fit_scaling(X)
    other.fit_scaling(X * 2)
    one.learn_many(X[:50], y[:50])
    other.learn_many(X[:50], ["new"] * 50)
    with no_trace(one), pytest.raises(ValueError, match="scal"):
        one.merge(other)


def test_a_frozen_scaling_takes_no_input_that_it_has_not_seen(frozen, no_trace):
    with no_trace(frozen):
        with pytest.raises(ValueError, match="'never seen'"):
            frozen.learn_one({"never seen": 1.0}, 0)
        with pytest.raises(ValueError, match="'never seen'"):
            frozen.learn_many([{"0": 1.0, "never seen": 1.0}], ["new"])


def test_a_column_of_numbers_and_one_of_texts_are_not_merged(new_model, no_trace):
    one, other = (new_model(nested_models=1, scaling="none") for _ in range(2))
    one.learn_one({"a": 1.0}, 0)
    other.learn_one({"a": "text", "b": 1.0}, 1)
    with no_trace(one), pytest.raises(ValueError, match="'a'"):
        one.merge(other)


@pytest.mark.parametrize("other", [None, 1, "model", {}], ids=repr)
def test_only_models_are_merged(other, trained, no_trace):
    with no_trace(trained), pytest.raises(TypeError, match="OnlineBLS"):
        trained.merge(other)
