"""Every front end has the library's options, with the same names and defaults."""

from __future__ import annotations

import inspect

import pytest

import broadstream
from broadstream import _option_values, capymoa, river, sklearn
from broadstream._options import NAMES, OptionValues, source

DEFINED = {option["name"]: option for option in broadstream.options()}
# Costs go by label, and the others by column, so they belong to the model and not to its configuration.
OTHERS = ["costs", "max_categories", "text"]


def parameters(function):
    return inspect.signature(function).parameters


def test_types_and_signatures_name_every_option():
    assert set(OptionValues.__annotations__) == {*DEFINED, *OTHERS} - {"seed"}
    assert list(parameters(broadstream.OnlineBLS)) == ["preset", "seed", *NAMES]
    assert list(NAMES) == [*(name for name in DEFINED if name != "seed"), *OTHERS]


def test_the_documentation_says_what_each_option_means():
    text = " ".join(broadstream.OnlineBLS.__doc__.split())
    for option in DEFINED.values():
        assert f"{option['name']} : {option['values']} {option['help']}" in text
        for name, meaning in option["choices"].items():
            assert f"``{name!r}``: {meaning}." in text


@pytest.mark.parametrize(
    "adapter", [river.OnlineBLSClassifier, sklearn.OnlineBLSClassifier, capymoa.OnlineBLS]
)
def test_adapters_explain_every_option(adapter):
    text = " ".join(adapter.__doc__.split())
    for name in NAMES:
        assert text.count(f" {name} : ") == 1, name
    assert inspect.getdoc(adapter).count("\nExamples\n") == (adapter is not capymoa.OnlineBLS)


def test_types_are_written_from_the_definitions():
    """If this fails, run ``python -m broadstream._options`` and ``make format``."""
    assert source().split() == inspect.getsource(_option_values).split()


@pytest.mark.parametrize("option", DEFINED.values(), ids=lambda option: option["name"])
def test_examples_are_values_that_work(option):
    given, name = option["example"], option["name"]
    needed = {
        "correction_steps": {"preset": "single", "nested_models": 1, "forgetting": 0.99},
        "refresh_every": {"forgetting": 0.99},
        "label_lags": {"stacking": True},
        "weight_scale": {"enhancement_source": "feature-nodes"},
    }
    model = broadstream.OnlineBLS(**needed.get(name, {}), **{name: given})
    found = model.config[name]
    assert (found == given or given in found) and given != option["defaults"]["default"]


@pytest.mark.parametrize(
    ("estimator", "preset", "seed", "own"),
    [
        (river.OnlineBLSClassifier, "default", "seed", {}),
        (
            sklearn.OnlineBLSClassifier,
            "single",
            "random_state",
            {"scaling": "standard", "nested_models": 1, "shuffle": True, "warm_start": False},
        ),
    ],
    ids=["river", "sklearn"],
)
def test_estimators_have_every_option(estimator, preset, seed, own):
    found = {name: parameter.default for name, parameter in parameters(estimator).items()}
    assert found.pop("preset") == preset
    found.pop(seed)
    names = {*DEFINED, *own, *OTHERS} - {"seed"}
    assert found == {name: own.get(name) for name in names}
    with pytest.raises(TypeError, match="unexpected keyword argument 'ridges'"):
        estimator(ridges=1)


def test_capymoa_takes_the_options_of_a_model():
    own = list(parameters(capymoa.OnlineBLS))
    assert own == ["schema", "random_seed", "preset", "options"]


@pytest.mark.parametrize("preset", ["default", "single", "paper", "paper-drift"])
def test_without_options_a_model_is_its_preset(preset):
    config = broadstream.OnlineBLS(preset=preset).config
    assert config == {name: option["defaults"][preset] for name, option in DEFINED.items()}


def test_derived_defaults_follow_other_options():
    assert broadstream.OnlineBLS(preset="single", stacking=True).config["label_lags"] == 1
    assert broadstream.OnlineBLS(stacking=False).config["label_lags"] == 0
    windowed = broadstream.OnlineBLS(window=10).config
    assert (windowed["forgetting"], windowed["label_lags"]) == (1.0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refresh_every": 5}, "refresh_every must be left out while forgetting is 1"),
        (
            {"correction_steps": 2, "nested_models": 1},
            "correction_steps must be 0 while forgetting is 1",
        ),
        ({"freeze_scaling_after": 9, "scaling": "none"}, "unless the scaling is a running one"),
    ],
    ids=["refresh", "correction", "freeze"],
)
def test_options_without_effect_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        broadstream.OnlineBLS(preset="single", **options)
