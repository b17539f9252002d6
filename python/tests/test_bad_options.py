"""Invalid options are refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import broadstream

NAN, INF = float("nan"), float("inf")
HUGE = 10**400
WHOLE = "must be a whole number"
OPTIONS = [
    ("seed", -1, WHOLE),
    ("seed", 2**64, WHOLE),
    ("seed", 1.5, "1.5"),
    ("seed", True, WHOLE),
    ("seed", "a", '"a"'),
    ("seed", np.array([1, 2]), "size 1|seed"),
    ("ridge", 0, "got 0"),
    ("ridge", -1.0, "got -1"),
    ("ridge", NAN, "nan"),
    ("ridge", INF, "inf"),
    ("ridge", HUGE, "ridge must be"),
    ("ridge", "much", "much"),
    ("forgetting", 0, "got 0"),
    ("forgetting", 1.5, "got 1.5"),
    ("forgetting", [0.9], "forgetting must be"),
    ("window", 0, "at least 1"),
    ("window", -5, "-5"),
    ("window", 2.5, "2.5"),
    ("threads", 0, "from 1 to 1024"),
    ("threads", 10**9, "from 1 to 1024"),
    ("threads", 10**30, WHOLE),
    ("enhancement_nodes", 0, "at least 1"),
    ("enhancement_nodes", 10**12, "memory limit"),
    ("enhancement_nodes", 2**64, WHOLE),
    ("enhancement_nodes", HUGE, WHOLE),
    ("enhancement_nodes", "10", '"10"'),
    ("feature_groups", 2**59, "memory limit"),
    ("memory_limit", 1, "memory limit of 1 bytes"),
    ("memory_limit", -1, WHOLE),
    ("inputs_per_sample", 0, "at least 1"),
    ("freeze_scaling_after", 1, "at least 2"),
    ("refresh_every", 0, "left out while forgetting is 1"),
    ("nested_models", 0, "at least 1"),
    ("correction_steps", 2, "0 while forgetting is 1"),
    ("label_lags", 1, "0 without stacking"),
    ("scaling", "big", '"big"'),
    ("scaling", {"given": 1}, "scaling must be"),
    ("scaling", 5, "got 5"),
    ("activation", "step", "tanh"),
    ("activation", b"tanh", "tanh"),
    ("activation", "\ud800", "surrogates|activation"),
    ("weight_scale", 3, "fan-in"),
    ("enhancement_source", "labels", "feature-nodes"),
    ("stacking", 1, "true or false"),
    ("stacking", "yes", "true or false"),
    ("keep_weights", 0, "true or false"),
    ("class_weight", {0: 1}, "balanced"),
    ("preset", "best", "default, single, paper, paper-drift"),
    ("preset", 3, "default, single, paper, paper-drift"),
]


@pytest.mark.parametrize(("option", "value", "message"), OPTIONS, ids=lambda part: str(part)[:20])
def test_options_must_be_within_their_rules(option, value, message, new_model):
    with pytest.raises((ValueError, TypeError), match=message) as refused:
        new_model(**{option: value})
    if not any(word in message for word in ("memory", "size 1", "surrogates")):
        assert option in str(refused.value)


def test_unknown_options_are_refused(new_model):
    with pytest.raises(TypeError, match="'enhancement_node'"):
        new_model(enhancement_node=3)
    with pytest.raises(TypeError, match="positional"):
        broadstream.OnlineBLS("single")


def test_options_that_contradict_each_other_are_refused(new_model):
    with pytest.raises(ValueError, match="refresh_every must be at least 1, got 0"):
        new_model(refresh_every=0, forgetting=0.9)
    with pytest.raises(ValueError, match="correction_steps must be 0 unless nested_models is 1"):
        new_model(correction_steps=2, forgetting=0.9, nested_models=3)
    with pytest.raises(ValueError, match="window must be none unless forgetting is 1"):
        new_model(window=10, forgetting=0.9)
    with pytest.raises(ValueError, match="enhancement_source must be feature-nodes"):
        new_model(weight_scale="paper")


def test_memory_is_bounded_while_learning(new_model, no_trace):
    model = new_model(memory_limit=300_000)
    model.learn_one({"a": 1.0}, 0)
    with no_trace(model):
        with pytest.raises(ValueError, match="memory limit"):
            model.learn_many([{"a": 1.0}] * 2000, range(2000))
        with pytest.raises(ValueError, match="memory limit"):
            model.learn_many([{f"input {i}": 1.0} for i in range(2000)], [0] * 2000)
        with pytest.raises(ValueError, match="memory limit"):
            model.learn_one({f"input {i}": 1.0 for i in range(2000)}, 0)
    model.learn_one({"a": 1.0}, 1)
    assert model.labels == [0, 1]


@pytest.mark.parametrize(
    "scaling",
    ["scaling = {}; scaling['a'] = scaling", "for _ in range(100_000): scaling = {'a': scaling}"],
    ids=["contains itself", "deep"],
)
def test_options_without_end_are_refused(scaling):
    # In a process of its own, since a stack overflow ends it.
    program = (
        f"import broadstream\nscaling = {{}}\n{scaling}\nbroadstream.OnlineBLS(scaling=scaling)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "Error" in done.stderr.splitlines()[-1]
