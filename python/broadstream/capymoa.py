"""The online broad learning system as a CapyMOA classifier.

>>> from capymoa.evaluation import prequential_evaluation
>>> from capymoa.stream.generator import SEA
>>> from broadstream.capymoa import OnlineBLS
>>> stream = SEA()
>>> learner = OnlineBLS(stream.get_schema(), preset="single")
>>> results = prequential_evaluation(stream, learner, max_instances=1000)
>>> results["cumulative"].accuracy() > 80
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from capymoa.base import Classifier
from capymoa.core import Instance, LabeledInstance
from capymoa.stream import Schema

from broadstream import _broadstream
from broadstream._options import explained

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from broadstream._option_values import OptionValues, Preset

__all__ = ["OnlineBLS"]


@explained
class OnlineBLS(Classifier):
    """Online broad learning system.

    Nominal attributes of the schema are categorical, and missing values are supported.

    Parameters
    ----------
    schema : Schema
        The schema of the stream, whose target must be nominal.
    random_seed : int, default=1
        The seed of the random features.
    preset : {"default", "single", "paper", "paper-drift"}, default="default"
        The configuration that the options start from.

    The other parameters are the options of :class:`broadstream.OnlineBLS`; None leaves them to the preset.

    """

    def __init__(
        self,
        schema: Schema,
        random_seed: int = 1,
        *,
        preset: Preset = "default",
        **options: Unpack[OptionValues],
    ) -> None:
        super().__init__(schema, random_seed)
        if not schema.is_classification():
            raise ValueError(
                "expected a schema whose target is nominal, got a schema for regression"
            )
        self.options: dict[str, Any] = {"preset": preset, **options}
        self.model = _broadstream.OnlineBLS(**self.options, seed=random_seed)
        self._attributes = _attributes(schema)
        self._all_numeric = all(values is None for _, values in self._attributes)

    def __str__(self) -> str:
        return "OnlineBLS"

    def cli_help(self) -> str:
        """Return the documentation of the options."""
        return _broadstream.OnlineBLS.__doc__ or ""

    def train(self, instance: LabeledInstance) -> None:
        """Learn an instance. An instance without a label is ignored."""
        if self.schema.is_y_index_in_range(instance.y_index):
            self.model.learn_one(self._sample(instance), int(instance.y_index))

    def predict_proba(self, instance: Instance) -> np.ndarray | None:
        """Return the probability of each class of the schema; None before any class was learned."""
        by_label = self.model.predict_proba_one(self._sample(instance))
        if not by_label:
            return None
        probabilities = np.zeros(self.schema.get_num_classes())
        probabilities[list(by_label)] = list(by_label.values())
        return probabilities

    def predict(self, instance: Instance) -> int | None:
        """Return the most likely class; None before any class was learned."""
        return self.model.predict_one(self._sample(instance))

    def _sample(self, instance: Instance) -> Any:
        if self._all_numeric:
            return np.asarray(instance.x, dtype=np.float64)
        return _row(self._attributes, instance)


def row_of(schema: Schema) -> Callable[[Instance], dict[str, Any]]:
    """Return a function that makes a dictionary of an instance of this schema."""
    attributes = _attributes(schema)
    return lambda instance: _row(attributes, instance)


def _row(attributes: list[tuple[str, list[str] | None]], instance: Instance) -> dict[str, Any]:
    return {
        name: value if values is None or np.isnan(value) else values[int(value)]
        for (name, values), value in zip(attributes, np.asarray(instance.x, dtype=np.float64))
    }


def _attributes(schema: Schema) -> list[tuple[str, list[str] | None]]:
    """Return the attributes in order, nominal ones with their values."""
    header = schema.get_moa_header()
    nominal = {str(name): values for name, values in schema.get_nominal_attributes().items()}
    names = [
        str(header.attribute(i).name())
        for i in range(header.numAttributes())
        if i != header.classIndex()
    ]
    return [(name, list(nominal[name]) if name in nominal else None) for name in names]
