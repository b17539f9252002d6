"""Labels of models that move between Python and the command line have one type."""

from __future__ import annotations

import pickle

import pytest

import broadstream
from broadstream import OnlineBLS, evaluate


@pytest.fixture
def from_file(tmp_path, new_model):
    """A model whose labels, 0 and 1, are texts of a file."""
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(40)))
    model = new_model()
    evaluate(path, model)
    assert model.labels == ["0", "1"]
    return model


def moved(model, tmp_path, labels=None):
    model.save(tmp_path / "model.bsm")
    return OnlineBLS.load(tmp_path / "model.bsm", labels=labels)


@pytest.mark.parametrize("label", [1, 7, 0.5, True, (1,)], ids=repr)
def test_labels_of_a_file_are_not_mixed_with_others(label, from_file, no_trace, tmp_path):
    for model in (from_file, moved(from_file, tmp_path), pickle.loads(pickle.dumps(from_file))):
        with no_trace(model):
            message = r"row 1: the labels of this model are of type str, such as '0'.*labels="
            with pytest.raises(TypeError, match=message):
                model.learn_one({"a": 1.0}, label)
            with pytest.raises(TypeError, match="row 2: the labels of this model"):
                model.learn_many([{"a": 1.0}] * 2, ["0", label])
        model.learn_one({"a": 1.0}, "2")
        assert model.labels == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("kind", "labels", "new"), [(int, [0, 1], 2), (float, [0.0, 1.0], 2.5), (str, ["0", "1"], "2")]
)
def test_labels_of_a_file_can_be_given_a_type(kind, labels, new, from_file, tmp_path, assert_same):
    model = moved(from_file, tmp_path, kind)
    assert model.labels == labels
    assert {type(label) for label in model.labels} == {kind}
    model.learn_one({"a": 1.0}, new)
    again = moved(model, tmp_path)
    assert again.labels == [*labels, new]
    assert {type(label) for label in again.labels} == {kind}
    assert_same(again, model, [{"a": 2.0}])


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([7, "7x"], int), (["007"], int), (["1_0"], int), (["yes", "no"], bool), (["x"], float)],
    ids=str,
)
def test_labels_that_are_not_of_a_type_are_refused(labels, kind, new_model, tmp_path):
    model = new_model()
    model.learn_many([{"a": float(i)} for i in range(len(labels))], labels)
    with pytest.raises(ValueError, match=f"is no {kind.__name__}.*labels=str"):
        moved(model, tmp_path, kind)
    assert moved(model, tmp_path, str).labels == [str(label) for label in labels]
    for wrong in (list, "int", 3):
        with pytest.raises(TypeError, match="labels must be str, int, float or bool"):
            moved(model, tmp_path, wrong)


@pytest.mark.parametrize(
    "labels", [[1, 0], [True, False], [0.5, 1.5], ["a", "b"], [1, "1"]], ids=str
)
def test_labels_of_python_come_back(labels, new_model, tmp_path):
    model = new_model()
    model.learn_many([{"a": float(i)} for i in range(2)], labels)
    again = moved(model, tmp_path)
    assert again.labels == labels
    assert [type(label) for label in again.labels] == [type(label) for label in labels]


def test_truth_values_survive_a_file(new_model, tmp_path):
    """What Python learned as truth values, a file may spell as it likes."""
    model = new_model()
    rows = [{"on": bool(i % 3), "n": float(i % 5)} for i in range(60)]
    model.learn_many(rows, [i % 2 for i in range(60)])
    path = tmp_path / "rows.csv"
    for no, yes in (("False", "True"), ("false", "true"), ("FALSE", "TRUE")):
        lines = [f"{[no, yes][row['on']]},{row['n']},v{i % 2}\n" for i, row in enumerate(rows)]
        path.write_text("on,n,y\n" + "".join(lines))
        read = [x for x, _ in broadstream.Stream(path)]
        assert read[0]["on"] in (no, 0.0)
        assert (model.predict_proba_many(read) == model.predict_proba_many(rows)).all()
    with pytest.raises(ValueError, match=r"'on': expected a number, found 'perhaps'.*as text"):
        model.predict_one({"on": "perhaps", "n": 1.0})
