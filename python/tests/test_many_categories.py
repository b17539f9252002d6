"""Columns of many categories and of texts."""

import datetime

import pandas as pd
import pytest

from broadstream import OnlineBLS, Stream, evaluate
from broadstream.river import OnlineBLSClassifier

OPTIONS = {"preset": "single", "enhancement_nodes": 20}


def users(rows):
    for i in range(rows):
        user = f"often{i // 900}" if i % 3 == 0 else f"once{i}"
        yield {"n": i * 7 % 11, "user": user}, i % 2


def model(**options):
    return OnlineBLS(**OPTIONS, max_categories=30, **options)


def one_by_one(rows):
    learned = model()
    for x, y in rows:
        learned.predict_one(x)
        learned.learn_one(x, y)
    return learned


def test_a_column_has_a_bounded_number_of_inputs():
    learned = one_by_one(users(2000))
    inputs = [name for name in learned.inputs if name.startswith("user=")]
    assert len(inputs) <= 30
    assert {"user=often0", "user=often1", "user=often2"} <= set(inputs)
    shared = {name for name in inputs if name.startswith("user=other#")}
    assert len(shared) == 7


@pytest.mark.parametrize("rows", [50, 1999])
def test_every_way_to_learn_gives_the_same_model(rows):
    samples = list(users(rows))
    x, y = [x for x, _ in samples], [y for _, y in samples]
    expected = one_by_one(samples).predict_proba_many(x)
    for given in (x, pd.DataFrame(x)):
        together = model()
        together.learn_many(given, y)
        assert (together.predict_proba_many(x) == expected).all()
        tested = model()
        tested.test_then_train(given, y)
        assert (tested.predict_proba_many(x) == expected).all()
    evaluated = model()
    evaluate(samples, evaluated)
    assert (evaluated.predict_proba_many(x) == expected).all()


def test_a_batch_that_is_refused_does_not_count(tmp_path):
    samples = list(users(700))
    learned = one_by_one(samples)
    bad = [x for x, _ in users(300)] + [{"user": "x", "n": "no number"}]
    with pytest.raises(ValueError, match="no number"):
        learned.learn_many(bad, [0] * 301)
    learned.predict_many(bad[:-1])
    learned.save(tmp_path / "model.bsm")
    loaded = OnlineBLS.load(tmp_path / "model.bsm")
    expected = one_by_one(samples)
    for other in (learned, loaded, expected):
        other.learn_many(bad[:-1], [0, 1] * 150)
    assert learned.inputs == loaded.inputs == expected.inputs
    assert (learned.predict_proba_many(bad[:-1]) == expected.predict_proba_many(bad[:-1])).all()


def test_a_file_gives_what_its_rows_give(tmp_path):
    samples = list(users(1500))
    path = tmp_path / "users.csv"
    pd.DataFrame([x | {"y": y} for x, y in samples]).to_csv(path, index=False)
    whole = model()
    evaluate(Stream(path), whole)
    of_stream = model()
    for x, y in Stream(path):
        assert not x["user"].startswith("other#")
        of_stream.learn_one(x, y)
    assert whole.inputs == of_stream.inputs


def mails(rows):
    for i in range(rows):
        words = f"free prize {i}!" if i % 2 else f"meeting at {i % 24}:00"
        yield {"mail": f"{words} \x00 \u00fcber {i % 5}", "n": i % 3}, "spam" if i % 2 else "ham"


def test_texts_become_words():
    learned = OnlineBLS(**OPTIONS, text=["mail"])
    right = 0
    for x, y in mails(300):
        right += learned.predict_one(x) == y
        learned.learn_one(x, y)
    assert right > 290
    names = [name for name in learned.inputs if name != "n"]
    assert all(name.startswith("mail=text#") for name in names) and len(names) < 200
    assert learned.predict_one({"mail": "FREE PRIZES"}) == "spam"
    together = OnlineBLS(**OPTIONS, text=["mail"])
    frame = pd.DataFrame([x for x, _ in mails(300)])
    together.learn_many(frame, [y for _, y in mails(300)])
    assert (together.predict_proba_many(frame) == learned.predict_proba_many(frame)).all()


def test_the_options_are_those_of_estimators_too():
    river = OnlineBLSClassifier(**OPTIONS, text=["mail"], max_categories=5)
    for x, y in mails(20):
        river.learn_one(x, y)
    assert river.predict_one({"mail": "free prize", "n": 1}) == "spam"
    assert river._get_params()["max_categories"] == 5


def test_bad_options():
    with pytest.raises(TypeError, match="text must be a list of names of columns, got 'mail'"):
        OnlineBLS(text="mail")
    with pytest.raises(ValueError, match="max_categories must be at least 1, got 0"):
        OnlineBLS(max_categories=0)


def visits(rows):
    day = datetime.datetime(2024, 2, 26, 6, 30)
    for i in range(rows):
        moment = day + datetime.timedelta(hours=7 * i)
        yield moment, "closed" if moment.weekday() > 4 or moment.hour < 9 else "open"


def test_dates_mean_the_same_as_texts_and_as_objects(tmp_path):
    moments = [moment for moment, _ in visits(400)]
    labels = [label for _, label in visits(400)]
    texts = [moment.isoformat() for moment in moments]
    models = {name: OnlineBLS(**OPTIONS) for name in ("objects", "texts", "frame", "file")}
    for moment, text, label in zip(moments, texts, labels):
        models["objects"].learn_one({"when": moment}, label)
        models["texts"].learn_one({"when": text}, label)
    models["frame"].learn_many(pd.DataFrame({"when": moments}), labels)
    path = tmp_path / "visits.csv"
    pd.DataFrame({"when": texts, "y": labels}).to_csv(path, index=False)
    evaluate(Stream(path), models["file"])
    days = pd.DataFrame({"when": moments})
    expected = models["objects"].predict_proba_many(days)
    for name, learned in models.items():
        found = set(learned.inputs)
        assert {"when", "when.hour", "when.weekday=Monday"} <= found and len(found) == 9, name
        assert (abs(learned.predict_proba_many(days) - expected) < 1e-9).all(), name
    models["file"].save(tmp_path / "model.bsm")
    loaded = OnlineBLS.load(tmp_path / "model.bsm")
    assert loaded.predict_one({"when": texts[5]}) == loaded.predict_one({"when": moments[5]})
    cells = [x for x, _ in Stream(path)]
    assert set(cells[0]) == {"when", "when.hour", "when.weekday"}


def test_a_date_that_stops_being_one_is_refused():
    learned = OnlineBLS(**OPTIONS)
    learned.learn_one({"day": "2024-02-29"}, 0)
    with pytest.raises(
        ValueError, match="column 'day': expected a date such as 2024-02-29, found 'x'"
    ):
        learned.learn_one({"day": "x"}, 0)
