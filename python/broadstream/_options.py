"""The options of a model as keyword arguments and as parameters of estimators.

The library defines the options; this module adds types, signatures and documentation. River and
scikit-learn clone an estimator by reading the signature of its `__init__` and the attributes of the same
names, so the signatures are generated from the definitions.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from broadstream._broadstream import OnlineBLS, options


class OptionValues(TypedDict, total=False):
    """The options of a model except its preset and seed; None leaves an option to the preset."""

    feature_groups: int | None
    feature_nodes: int | None
    enhancement_groups: int | None
    enhancement_nodes: int | str | None
    most_nodes: int | None
    enhancement_source: str | None
    activation: str | None
    weight_scale: str | None
    inputs_per_sample: int | None
    scaling: str | Mapping[str, Any] | None
    freeze_scaling_after: int | None
    ridge: float | str | None
    forgetting: float | str | None
    window: int | None
    refresh_every: int | None
    correction_steps: int | None
    nested_models: int | None
    stacking: bool | None
    label_lags: int | None
    class_weight: str | Mapping[Any, float] | None
    objective: str | None
    costs: Mapping[Any, Mapping[Any, float]] | None
    keep_weights: bool | None
    threads: int | None
    memory_limit: int | None


# Without the seed, which has other names in other libraries.
# Costs go by label, so they belong to the model and not to its configuration.
NAMES = (*(option["name"] for option in options() if option["name"] != "seed"), "costs")

COSTS = """costs : dict
    For each true label a dictionary with the cost of each decision, by label; decisions are then made for the
    least expected cost. ``abstain`` in each of them is the cost of deciding nothing."""


def takes_options(**defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give an `__init__` that ends in ``**options`` a signature that names every option.

    `defaults` are the defaults other than None, which leaves an option to the preset.
    """

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(init)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        signature = signature.replace(parameters=own + _parameters(NAMES, defaults))
        init.__signature__ = signature  # type: ignore[attr-defined]
        return init

    return decorate


class Options:
    """A mixin that stores the options of a model as attributes."""

    def _keep_options(self, given: dict[str, Any]) -> None:
        """Store the arguments of an `__init__` decorated by `takes_options`, given as its `locals()`."""
        given = {name: value for name, value in given.items() if name not in ("self", "__class__")}
        given.update(given.pop("options"))
        parameters = inspect.signature(type(self).__init__).parameters
        for name in given:
            if name not in parameters:
                message = f"{type(self).__name__} got an unexpected keyword argument {name!r}"
                raise TypeError(message)
        for name, parameter in list(parameters.items())[1:]:
            setattr(self, name, given.get(name, parameter.default))

    def _options(self) -> dict[str, Any]:
        """Return the options as keyword arguments of `OnlineBLS`."""
        return {name: getattr(self, name) for name in ("preset", *NAMES)}


def document(model: type[OnlineBLS]) -> None:
    """Add the options to the docstring and the signature of the model class."""
    lines = []
    for option in options():
        default = option["defaults"]["default"]
        if isinstance(default, dict):
            default = next(iter(default))
        shown = "" if default is None else f" (default {default!r})"
        text = f"{option['name']} : {option['values']}\n"
        help_text = textwrap.fill(f"{option['help']}{shown}.", 96)
        lines.append(text + textwrap.indent(help_text, "    "))
    heading = "Parameters\n----------\npreset : 'default', 'single', 'paper', 'paper-drift'\n"
    preset = "    The configuration that the options below start from (default 'default').\n"
    summary, examples, code = (model.__doc__ or "").partition("Examples\n--------\n")
    model.__doc__ = f"{summary}{heading}{preset}" + "\n".join([*lines, COSTS]) + f"\n\n{examples}{code}"
    names = [*(option["name"] for option in options()), "costs"]
    parameters = _parameters(["preset", *names], {})
    model.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]


def _parameters(names: Any, defaults: dict[str, Any]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, kind, default=defaults.get(name)) for name in names]
