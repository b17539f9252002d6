"""Writes cases.json: small streams with the metrics that scikit-learn and numpy give for them.

    python generate.py

needs scikit-learn 1.9 or newer (`replace_undefined_by` of `cohen_kappa_score`). The seed is fixed,
so a second run writes the same streams.

A case has, per sample, its class, the predicted class (null: nothing was predicted) and the
probabilities, which may be fewer than the classes: a model does not list a class that it never saw.
Probabilities are multiples of 1/64, so that JSON carries them exactly and each row sums to exactly 1.

How the cases speak to scikit-learn:
- "nothing predicted" becomes the label -1, which the metrics that average over classes leave out;
- classes missing from a row of probabilities get probability 0.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    cohen_kappa_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
    zero_one_loss,
)

SEED = 20250116
NOTHING = -1
PARTS = 64
BINS = 15


def main():
    # Classes that occur only in predictions, rows that list no class: intended here.
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(SEED)
    cases = [case(name, *stream) for name, stream in streams(rng)]
    document = {"scikit_learn": sklearn.__version__, "cases": cases}
    target = Path(__file__).with_name("cases.json")
    target.write_text(json.dumps(document, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")


def streams(rng):
    """Yields (name, (truth, predicted, probabilities)) for each case."""
    yield "binary", noisy(rng, 60, [0.6, 0.4], 0.8)
    yield "three classes", noisy(rng, 60, [0.3, 0.3, 0.4], 0.6)
    yield "seven imbalanced classes", noisy(rng, 150, [0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01], 0.7)

    truth, predicted, rows = noisy(rng, 40, [0.4, 0.3, 0.3], 0.7)
    yield "a class never predicted", (truth, np.where(predicted == 2, 0, predicted), rows)

    truth, predicted, rows = noisy(rng, 40, [0.3, 0.3, 0.2, 0.2], 0.5)
    yield "a class absent from the truth", (np.where(truth == 1, 3, truth), predicted, rows)

    truth, _, rows = noisy(rng, 30, [0.3, 0.3, 0.4], 1.0)
    yield "perfect", (truth, truth, rows)

    truth, _, rows = noisy(rng, 30, [0.3, 0.3, 0.4], 0.0)
    yield "all wrong", (truth, (truth + 1) % 3, rows)

    truth, predicted, rows = noisy(rng, 25, [0.5, 0.5], 0.6)
    yield "one class in the truth", (np.zeros_like(truth), predicted, rows)

    truth, _, rows = noisy(rng, 10, [0.5, 0.5], 1.0)
    yield "one class only", (np.zeros_like(truth), np.zeros_like(truth), rows)

    yield "classes appear one by one", growing(noisy(rng, 60, [0.3, 0.3, 0.2, 0.2], 0.7))


def noisy(rng, samples, frequencies, skill):
    """Predicts the truth with probability `skill` and a random class otherwise."""
    classes = len(frequencies)
    truth = rng.choice(classes, samples, p=frequencies)
    guess = rng.choice(classes, samples)
    predicted = np.where(rng.random(samples) < skill, truth, guess)
    rows = []
    for k in range(samples):
        favour = rng.dirichlet(np.full(classes, 0.3)) + 2 * rng.random() * (np.arange(classes) == predicted[k])
        rows.append(rng.multinomial(PARTS, favour / favour.sum()) / PARTS)
    return truth, predicted, rows


def growing(stream):
    """What a model can say that starts without classes and lists each from its first sample on."""
    truth, predicted, rows = stream
    # Classes are numbered in order of first appearance.
    order = list(dict.fromkeys(truth.tolist()))
    truth = np.array([order.index(t) for t in truth])
    predicted = np.array([order.index(p) for p in predicted])
    known = 0
    for k in range(len(truth)):
        rows[k] = rows[k][order][:known]
        # What was said of classes not known yet goes to the last one known.
        predicted[k] = min(predicted[k], known - 1) if known else NOTHING
        if known:
            rows[k][-1] += 1 - rows[k].sum()
        known = max(known, truth[k] + 1)
    return truth, predicted, rows


def case(name, truth, predicted, rows):
    columns = max(len(row) for row in rows)
    padded = np.array([np.pad(row, (0, columns - len(row))) for row in rows])
    prefix_bacc = [balanced_accuracy_score(truth[:k], predicted[:k]) for k in range(1, len(truth) + 1)]
    classes = sorted((set(truth.tolist()) | set(predicted.tolist())) - {NOTHING})
    columns_of = {"labels": list(range(columns))}
    per_class = precision_recall_fscore_support(truth, predicted, labels=classes, zero_division=0)
    return {
        "name": name,
        "truth": truth.tolist(),
        "predicted": [None if p == NOTHING else p for p in predicted.tolist()],
        "probabilities": [row.tolist() for row in rows],
        "oca": accuracy_score(truth, predicted),
        "oce": zero_one_loss(truth, predicted),
        "bacc": prefix_bacc[-1],
        "avrbacc": float(np.mean(prefix_bacc)),
        "f1": f1_score(truth, predicted, labels=classes, average="macro", zero_division=0),
        "mcc": matthews_corrcoef(truth, predicted),
        "kappa": cohen_kappa_score(truth, predicted, replace_undefined_by=0.0),
        "log_loss": log_loss(truth, padded, **columns_of),
        "brier": brier_score_loss(truth, padded, scale_by_half=False, **columns_of),
        "ece": calibration_error(truth, predicted, rows),
        "gmean": geometric_mean(truth, predicted),
        **moa_kappas(truth, predicted),
        **areas(truth, padded),
        "recall_at_alarms": recall_of_rarest(truth, padded),
        "ece_by_class": class_calibration_error(truth, rows),
        "coverage": float(np.mean(predicted != NOTHING)),
        "bacc_at": [[k, prefix_bacc[k - 1]] for k in (1, 2, 3, 5, 8, len(truth) // 2)],
        "classes": classes,
        "precision": per_class[0].tolist(),
        "recall": per_class[1].tolist(),
        "class_f1": per_class[2].tolist(),
        "support": per_class[3].astype(int).tolist(),
    }


def calibration_error(truth, predicted, rows):
    """The expected calibration error over the samples with a prediction; scikit-learn has none."""
    made = [k for k in range(len(truth)) if predicted[k] != NOTHING]
    confidence = np.array([rows[k][predicted[k]] for k in made])
    correct = (truth == predicted)[made]
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    apart = [abs(correct[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    return float(sum(apart))


def geometric_mean(truth, predicted):
    """The geometric mean of the recalls; imbalanced-learn has it, scikit-learn has not."""
    recalls = recall_score(truth, predicted, labels=sorted(set(truth.tolist())), average=None, zero_division=0)
    return float(np.prod(recalls) ** (1 / len(recalls)))


def moa_kappas(truth, predicted):
    """What `BasicClassificationPerformanceEvaluator` of MOA computes, statement by statement."""
    classes = max(truth.max(), predicted.max()) + 1
    column = np.zeros(classes)
    correct = no_change = majority = last_seen = 0
    for true, guess in zip(truth, predicted):
        correct += guess == true
        column[true] += 1
        no_change += last_seen == true
        majority += int(np.argmax(column)) == true
        last_seen = true
    beyond = lambda reference: 0.0 if reference == len(truth) else (correct - reference) / (len(truth) - reference)
    return {"kappa_m": float(beyond(majority)), "kappa_t": float(beyond(no_change))}


def areas(truth, padded):
    """The means over the classes for which scikit-learn defines the areas, one against all others."""
    columns = range(max(padded.shape[1], truth.max() + 1))
    p = lambda k: padded[:, k] if k < padded.shape[1] else np.zeros(len(truth))
    both = [k for k in columns if 0 < (truth == k).sum() < len(truth)]
    occurring = [k for k in columns if (truth == k).any()]
    auc = {k: float(roc_auc_score(truth == k, p(k))) for k in both}
    auprc = {k: float(average_precision_score(truth == k, p(k))) for k in occurring}
    mean = lambda values: float(np.mean(list(values.values()))) if values else 0.0
    return {
        "auc": mean(auc),
        "auprc": mean(auprc),
        "class_auc": [auc.get(k) for k in columns],
        "class_auprc": [auprc.get(k) for k in columns],
    }


def recall_of_rarest(truth, padded, rate=0.05):
    """The share of the rarest class among the samples with its highest probabilities, ties in proportion."""
    values, counts = np.unique(truth, return_counts=True)
    rarest = values[np.argmin(counts)]
    p = padded[:, rarest] if rarest < padded.shape[1] else np.zeros(len(truth))
    alarms = rate * len(truth)
    chance = [np.clip((alarms - (p > x).sum()) / (p == x).sum(), 0, 1) for x in p[truth == rarest]]
    return float(np.mean(chance))


def class_calibration_error(truth, rows):
    """The mean over classes of the calibration error of their probability, where the model listed the class."""
    errors = []
    for k in range(max(len(row) for row in rows)):
        listed = [i for i, row in enumerate(rows) if k < len(row)]
        confidence = np.array([rows[i][k] for i in listed])
        correct = truth[listed] == k
        bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
        of_bin = lambda b: abs(correct[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean()
        errors.append(sum(of_bin(b) for b in set(bins.tolist())))
    return float(np.mean(errors)) if errors else 0.0


if __name__ == "__main__":
    main()
