"""The options of a model as keyword arguments and as parameters of estimators.

The library defines the options. This module adds signatures and documentation, and writes their types
into `_option_values.py` (``python -m broadstream._options``), where editors find them. River and
scikit-learn clone an estimator by reading the signature of its `__init__` and the attributes of the same
names, so the signatures are generated from the definitions.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from broadstream._broadstream import OnlineBLS, options, presets
from broadstream._option_values import OptionValues

__all__ = ["NAMES", "OptionValues", "Options", "document", "explained", "takes_options"]

# Without the seed, which has other names in other libraries.
# Costs go by label, so they belong to the model and not to its configuration.
NAMES = (
    *(option["name"] for option in options() if option["name"] != "seed"),
    "costs",
    "max_categories",
    "text",
)

COSTS = """costs : dict
    For each true label a dictionary with the cost of each decision, by label; decisions are then made
    for the least expected cost. ``abstain`` in each of them is the cost of deciding nothing."""

# How columns become inputs is not part of the configuration either.
COLUMNS = """max_categories : int, default=2000
    The most inputs that the categories of a column may have. The first ones and the frequent ones have
    an input of their own, and rare ones share some. Example: ``max_categories=10_000``.
text : list of str
    Columns of texts, whose words and sequences of characters become inputs. Example:
    ``text=["message"]``."""

# Where the docstring of an adapter continues with the options.
MARK = "The other parameters are the options of"

Class = TypeVar("Class", bound=type)


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
    named = [f"    ``{name!r}``: {text}." for name, text in presets().items()]
    preset = (
        "preset : str, default='default'\n    The configuration that the options start from.\n\n"
    )
    text = "Parameters\n----------\n" + preset + "\n".join(named) + "\n"
    text += "\n".join(_explained(option) for option in options())
    summary, examples, code = (model.__doc__ or "").partition("Examples\n--------\n")
    text += f"\n{COSTS}\n{COLUMNS}"
    model.__doc__ = f"{summary}{text}\n\n{examples}{code}"
    names = ["preset", "seed", *NAMES]
    parameters = _parameters(names, {})
    model.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]


def explained(adapter: Class) -> Class:
    """Add the options to the docstring of an estimator, in place of the line that refers to them."""
    own, mark, rest = (adapter.__doc__ or "").partition(MARK)
    paragraph, blank, rest = rest.partition("\n\n")
    documented = own.partition("Attributes\n")[0]
    missing = [
        o for o in options() if o["name"] in NAMES and f"    {o['name']} : " not in documented
    ]
    entries = [*(_explained(option) for option in missing), COSTS, COLUMNS]
    text = textwrap.indent("\n".join(entries), "    ").lstrip()
    if mark:
        adapter.__doc__ = f"{own}{mark}{paragraph}\n\n    {text}{blank}{rest}"
    return adapter


def _explained(option: dict[str, Any]) -> str:
    """Return the entry of an option in a docstring: name, values, meaning, default and an example."""
    default = _short(option["defaults"]["default"])
    given = "" if default is None else f" The default is {default!r}."
    example = f" Example: ``{option['name']}={option['example']!r}``."
    help_text = textwrap.fill(f"{option['help']}.{given}{example}", 92)
    lines = [f"{option['name']} : {option['values']}", textwrap.indent(help_text, "    ")]
    if option["choices"]:
        lines.append("")
    for name, meaning in option["choices"].items():
        lines.append(
            textwrap.fill(
                f"``{name!r}``: {meaning}.", 92, initial_indent="    ", subsequent_indent="    "
            )
        )
    return "\n".join(lines)


def _short(default: Any) -> Any:
    """Return the name alone of a value that has parameters."""
    return next(iter(default)) if isinstance(default, dict) else default


def _parameters(names: Any, defaults: dict[str, Any]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, kind, default=defaults.get(name)) for name in names]


def source() -> str:
    """Return the source of `_option_values.py`."""
    names = ", ".join(f'"{name}"' for name in presets())
    lines = [
        '"""The types of the options of a model.',
        "",
        "Written by ``python -m broadstream._options`` from the definitions of the library: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal, TypedDict",
        "",
        "#: The configurations that options start from",
        f"Preset = Literal[{names}]",
        "",
        "",
        "class OptionValues(TypedDict, total=False):",
        '    """The options of a model except its preset and seed; None leaves an option to the preset."""',
    ]
    for option in options():
        if option["name"] == "seed":
            continue
        kind = option["type"]
        # The estimator for scikit-learn takes weights by class too.
        kind += " | Mapping[Any, float]" if option["name"] == "class_weight" else ""
        lines += ["", f"    {option['name']}: {kind} | None"]
        _, _, text = _explained(option).partition("\n")
        text = f"{textwrap.dedent(text)}\n\nValues: {option['values']}."
        text = textwrap.indent(text, "    ").lstrip()
        lines.append(f'    """{text}"""' if "\n" not in text else f'    """{text}\n    """')
    text = textwrap.indent(textwrap.dedent(COSTS.partition("\n")[2]), "    ").lstrip()
    lines += ["", "    costs: Mapping[Any, Mapping[Any, float]] | None", f'    """{text}\n    """']
    for entry, kind in zip(re.split(r"\n(?=\w)", COLUMNS), ("int", "Sequence[str]")):
        name, _, text = entry.partition("\n")
        text = textwrap.indent(textwrap.dedent(text), "    ").lstrip()
        name = name.partition(" ")[0]
        lines += ["", f"    {name}: {kind} | None", f'    """{text}\n    """']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from pathlib import Path

    Path(__file__).with_name("_option_values.py").write_text(source(), encoding="utf-8")
