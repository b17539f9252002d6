"""The options of a model as the parameters of an estimator.

River and scikit-learn clone an estimator by reading the signature of its `__init__` and the attributes of
the same names, so these classes list all options and keep them as they were given.
"""

from __future__ import annotations

from typing import Any

# The options of a model, but for its seed, which other libraries call by other names.
NAMES = (
    "preset",
    "feature_groups",
    "feature_nodes",
    "enhancement_groups",
    "enhancement_nodes",
    "enhancement_source",
    "activation",
    "weight_scale",
    "inputs_per_sample",
    "scaling",
    "freeze_scaling_after",
    "ridge",
    "forgetting",
    "window",
    "refresh_every",
    "correction_steps",
    "nested_models",
    "stacking",
    "label_lags",
    "class_weight",
    "keep_weights",
    "threads",
    "memory_limit",
)


class Options:
    """Keeps the options of a model as attributes."""

    def _keep_options(self, arguments: dict[str, Any]) -> None:
        """Takes over the arguments of `__init__`, which is where this is called."""
        for name, value in arguments.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _options(self) -> dict[str, Any]:
        """The options to make a model with."""
        return {name: getattr(self, name) for name in NAMES}
