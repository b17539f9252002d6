"""Labels that arrive after their samples were predicted."""

from __future__ import annotations

import pytest

from broadstream import LateLabels


def test_a_label_is_learned_with_the_features_of_the_prediction(numbers, new_model):
    X, y = numbers
    model, expected = (new_model(preset="default") for _ in range(2))
    late = LateLabels(model, 10)
    # Learned at once, late labels change nothing.
    for x, label in zip(X[:100], y[:100].tolist()):
        found = late.predict_one(x)
        assert found.probabilities == expected.predict_proba_one(x)
        late.learn_one(found.ticket, label)
        expected.learn_one(x, label)
    assert (model.weights == expected.weights).all()
    assert model.labels == expected.labels and model.learned == 100
    # Learned later, the scaling of the time of the prediction counts.
    again = model.copy()
    found = late.predict_one(X[100])
    model.learn_many(X[101:200] * 5, y[101:200])
    again.learn_many(X[101:200] * 5, y[101:200])
    late.learn_one(found.ticket, 1)
    again.learn_one(X[100], 1)
    assert model.learned == again.learned == 200
    assert not (model.weights == again.weights).all()


def test_samples_wait_up_to_the_capacity(new_model):
    model = new_model()
    late = LateLabels(model, 2)
    tickets = [late.predict_one({"a": float(i)}).ticket for i in range(2)]
    third = late.predict_one({"a": 2.0})
    assert (third.evicted, late.waiting, late.evicted) == (tickets[0], 2, 1)
    with pytest.raises(ValueError, match=str(tickets[0])):
        late.learn_one(tickets[0], "x")
    assert model.labels == [], "a refused ticket leaves no label"
    assert late.discard(tickets[1]) and not late.discard(tickets[1])
    late.learn_one(third.ticket, "x", 2.0)
    assert (model.labels, model.learned, late.waiting) == (["x"], 1, 0)
    assert late.model is model
    assert (
        repr(late.predict_one({"a": 1.0})) == "LatePrediction(ticket=3, probabilities={'x': 1.0})"
    )


def test_inputs_of_a_waiting_sample_are_kept(new_model):
    model = new_model()
    late = LateLabels(model, 5)
    found = late.predict_one({"a": 1.0, "city": "Rome"})
    assert model.inputs == ["a", "city=Rome"]
    model.learn_one({"b": 1.0}, 0)
    late.learn_one(found.ticket, 1)
    assert model.labels == [0, 1]
    with pytest.raises(ValueError, match="column 'a'"):
        late.predict_one({"new": 1.0, "a": "no number"})
    assert model.inputs == ["a", "city=Rome", "b"], "a refused row leaves nothing"


@pytest.mark.parametrize("capacity", [-1, 1.5, "many"])
def test_a_capacity_is_a_whole_number(capacity, new_model):
    with pytest.raises((ValueError, TypeError)):
        LateLabels(new_model(), capacity)


def test_weights_are_checked(new_model):
    model = new_model()
    late = LateLabels(model, 5)
    ticket = late.predict_one({"a": 1.0}).ticket
    with pytest.raises(ValueError, match="-1"):
        late.learn_one(ticket, 0, -1.0)
    assert late.waiting == 1 and model.labels == []
