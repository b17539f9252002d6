"""The types of the options of a model.

Written by ``python -m broadstream._options`` from the definitions of the library: do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

#: The configurations that options start from
Preset = Literal["default", "single", "paper", "paper-drift"]


class OptionValues(TypedDict, total=False):
    """The options of a model except its preset and seed; None leaves an option to the preset."""

    feature_groups: int | None
    """Groups of linear feature nodes. The default is 10. Example: ``feature_groups=20``.

    Values: int, at least 1.
    """

    feature_nodes: int | None
    """Nodes per feature group. The default is 10. Example: ``feature_nodes=20``.

    Values: int, at least 1.
    """

    enhancement_groups: int | None
    """Groups of non-linear enhancement nodes. The default is 1. Example: ``enhancement_groups=2``.

    Values: int, at least 1.
    """

    enhancement_nodes: int | Literal["auto"] | None
    """Nodes per enhancement group; with 'auto', each regression gets as many as pay, and nodes
    drawn from pairs of the first samples are tried beside random ones. The default is 'auto'.
    Example: ``enhancement_nodes=1000``.

    Values: int, at least 1, or 'auto'.
    """

    most_nodes: int | None
    """The largest number of enhancement nodes of a regression, where enhancement_nodes is 'auto'.
    The default is 2000. Example: ``most_nodes=4000``.

    Values: int, at least 1.
    """

    enhancement_source: Literal["inputs", "feature-nodes"] | None
    """What the enhancement nodes see. The default is 'inputs'. Example:
    ``enhancement_source='feature-nodes'``.

    ``'inputs'``: The inputs.
    ``'feature-nodes'``: The linear feature nodes.

    Values: 'inputs', 'feature-nodes'.
    """

    activation: Literal["tanh", "sigmoid", "relu"] | None
    """The non-linearity of the enhancement nodes. The default is 'tanh'. Example:
    ``activation='sigmoid'``.

    ``'tanh'``: The hyperbolic tangent.
    ``'sigmoid'``: The logistic function.
    ``'relu'``: max(x, 0).

    Values: 'tanh', 'sigmoid', 'relu'.
    """

    weight_scale: Literal["fan-in", "paper"] | None
    """The size of the random weights; 'paper' needs the enhancement source feature-nodes. The
    default is 'fan-in'. Example: ``weight_scale='paper'``.

    ``'fan-in'``: Unit variance divided by the number of a node's inputs.
    ``'paper'``: The interpretation of the paper that comes closest to its results.

    Values: 'fan-in', 'paper'.
    """

    inputs_per_sample: int | None
    """How many inputs are usually present in a sample, which determines the size of the first
    layer's weights; if left out, the number of the source's columns or of the first sample's
    inputs. Example: ``inputs_per_sample=1000``.

    Values: int, at least 1.
    """

    scaling: Literal["none", "min-max", "standard", "robust"] | Mapping[str, Any] | None
    """How numeric inputs are scaled. The default is 'robust'. Example: ``scaling='none'``.

    ``'none'``: The inputs as they are.
    ``'min-max'``: (x - min) / (max - min) of the samples so far.
    ``'standard'``: (x - mean) / standard deviation of the samples so far.
    ``'robust'``: The average of the standard scaling and the rank of x among the samples so
    far, both with variance 1: for outliers, heavy tails and nearly constant inputs.

    Values: 'none', 'min-max', 'standard', 'robust', or a dict with the parameters of one.
    """

    freeze_scaling_after: int | None
    """Freeze a running scaling after this many samples; if left out, it is never frozen. Example:
    ``freeze_scaling_after=1000``.

    Values: int, at least 2.
    """

    ridge: float | Literal["auto"] | None
    """How strongly the output weights are pulled towards zero; with 'auto', regressions with
    several ridges are combined. The default is 'auto'. Example: ``ridge=0.5``.

    Values: float, above 0, from 1e-100 to 1e100, or 'auto'.
    """

    forgetting: float | Literal["auto"] | None
    """The factor by which each new sample multiplies the weight of all earlier ones: 1 forgets
    nothing, 0.999 remembers about a thousand samples; with 'auto', regressions with several
    factors are combined. The default is 'auto'. Example: ``forgetting=0.999``.

    Values: float, in (0, 1], and at least 1e-6, or 'auto'.
    """

    window: int | None
    """Remember exactly this many samples: after every sample the model is the optimum of the last
    ones alone. Implies a forgetting of 1 and no label lags. Example: ``window=1000``.

    Values: int, at least 1.
    """

    refresh_every: int | None
    """Samples between two exact refreshes of a regression that forgets, where 1 is the paper's
    Algorithm 2; if left out, as many as leave a quarter of the ridge. Example:
    ``refresh_every=1000``.

    Values: int, at least 1.
    """

    correction_steps: int | None
    """Steps per sample that correct for the ridge fading between two refreshes: 2 to 4 steps come
    close to the paper's Algorithm 2. They need the preset single and one nested model. The
    default is 0. Example: ``correction_steps=1``.

    Values: int, at most 100.
    """

    nested_models: int | None
    """How many nested models, on fewer and fewer nodes, each regression has; 1 is the largest
    alone. The default is 5. Example: ``nested_models=10``.

    Values: int, at least 1.
    """

    stacking: bool | None
    """Whether a regression on the members' predictions and the last labels makes the final
    prediction, which is then calibrated; otherwise the members are averaged. The default is
    True. Example: ``stacking=False``.

    Values: bool.
    """

    label_lags: int | None
    """How many of the last labels are inputs of stacking, and of one or two regressions of their
    own; 0 without stacking or with a window. The default is 1. Example: ``label_lags=2``.

    Values: int, at most 100.
    """

    class_weight: Literal["none", "balanced", "auto"] | Mapping[Any, float] | None
    """How much a sample counts, by how rare its class is. The default is 'none'. Example:
    ``class_weight='balanced'``.

    ``'none'``: All samples count the same.
    ``'balanced'``: Rare classes count as much as frequent ones, at a cost in plain
    accuracy.
    ``'auto'``: A compromise: the square root of the balanced weight, at most 10.

    Values: 'none', 'balanced', 'auto'.
    """

    objective: Literal["accuracy", "balanced", "f1", "mcc"] | None
    """What decisions are made for; probabilities do not depend on it, and a saved model can change
    it. The default is 'accuracy'. Example: ``objective='balanced'``.

    ``'accuracy'``: The most probable class.
    ``'balanced'``: The class most probable in relation to how frequent it is.
    ``'f1'``: What has given the best macro F1 lately.
    ``'mcc'``: What has given the best Matthews correlation lately.

    Values: 'accuracy', 'balanced', 'f1', 'mcc'.
    """

    keep_weights: bool | None
    """Keep the output weights up to date, which makes predicting much faster and learning slower.
    The default is False. Example: ``keep_weights=True``.

    Values: bool.
    """

    threads: int | None
    """How many threads learn a block; the result does not depend on it. The default is 1. Example:
    ``threads=2``.

    Values: int, from 1 to 1024.
    """

    memory_limit: int | None
    """The largest amount of memory that the model may take. The default is 4294967296. Example:
    ``memory_limit=2147483648``.

    Values: int, bytes.
    """

    costs: Mapping[Any, Mapping[Any, float]] | None
    """For each true label a dictionary with the cost of each decision, by label; decisions are then made
    for the least expected cost. ``abstain`` in each of them is the cost of deciding nothing.
    """

    max_categories: int | None
    """The most inputs that the categories of a column may have. The first ones and the frequent ones have
    an input of their own, and rare ones share some. Example: ``max_categories=10_000``.
    """

    text: Sequence[str] | None
    """Columns of texts, whose words and sequences of characters become inputs. Example:
    ``text=["message"]``.
    """
