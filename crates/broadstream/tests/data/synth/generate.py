"""What River's generators yield: writes cases.json, which the tests of the generators read.

Needs River 0.26.1, on a Python before 3.12 (which adds up weights in another way):

    python generate.py > cases.json

Each case has the names of the inputs, the first five samples, and two fingerprints of the first
10 000. Both are the start of a SHA-256 digest over the samples, each the inputs as eight bytes and
the class as one, little-endian; `exact` takes the inputs as floats, `rounded` in whole millionths.

`arithmetic` tells the C library apart: generators that draw normal numbers have the bits of `exact`
only where logarithm, sine, cosine and power round as they did here.
"""

import hashlib
import json
import math
import random
import struct
import sys

import river
from river.datasets.synth import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    ConceptDriftStream,
    LEDDrift,
    Mixed,
    RandomRBF,
    RandomRBFDrift,
    RandomTree,
    Sine,
    Waveform,
)

SAMPLES = 10_000


def in_turn(concepts, changes, width, seed):
    """Concepts giving way to one another around the samples of `changes`."""
    if len(concepts) == 1:
        return concepts[0]
    rest = in_turn(concepts[1:], [c - changes[0] for c in changes[1:]], width, seed + 1)
    return ConceptDriftStream(concepts[0], rest, changes[0], width, seed)


def exp_without_overflow(x, exp=math.exp):
    """River stops with an overflow long before an abrupt change; here its probability is 0."""
    return exp(x) if x < 709.0 else math.inf


CASES = {
    "stagger 0": lambda: STAGGER(0, 42),
    "stagger 1": lambda: STAGGER(1, 7),
    "stagger 2": lambda: STAGGER(2, 2**40),
    "stagger 0 balanced": lambda: STAGGER(0, 42, True),
    "stagger 1 balanced": lambda: STAGGER(1, 42, True),
    "sine 0": lambda: Sine(0, 42),
    "sine 1": lambda: Sine(1, 7),
    "sine 2": lambda: Sine(2, 42),
    "sine 3": lambda: Sine(3, 42, has_noise=True),
    "sine 0 balanced": lambda: Sine(0, 42, True),
    "sine 2 balanced irrelevant": lambda: Sine(2, 42, True, True),
    "mixed 0": lambda: Mixed(0, 42),
    "mixed 1": lambda: Mixed(1, 7),
    "mixed 1 balanced": lambda: Mixed(1, 42, True),
    **{f"agrawal {v}": lambda v=v: Agrawal(v, 42) for v in range(10)},
    **{f"agrawal {v} balanced": lambda v=v: Agrawal(v, 7, True) for v in range(10)},
    "agrawal 2 perturbed": lambda: Agrawal(2, 42, perturbation=0.3),
    "agrawal 9 balanced perturbed": lambda: Agrawal(9, 3, True, 1.0),
    "led": lambda: LED(42),
    "led noise": lambda: LED(112, 0.28),
    "led noise irrelevant": lambda: LED(7, 0.1, True),
    "led 0": lambda: LEDDrift(7, 0.1, True, 0),
    "led 4": lambda: LEDDrift(112, 0.28, True, 4),
    "led 7": lambda: LEDDrift(42, 0.0, True, 7),
    "waveform": lambda: Waveform(42),
    "waveform irrelevant": lambda: Waveform(7, True),
    "random-rbf": lambda: RandomRBF(0, 42),
    "random-rbf 42": lambda: RandomRBF(42, 42, 4, 4, 20),
    "random-rbf one of each": lambda: RandomRBF(3, 4, 1, 1, 1),
    "random-rbf at rest": lambda: RandomRBFDrift(0, 42),
    "random-rbf drifting": lambda: RandomRBFDrift(42, 42, 4, 4, 20, 0.87, 10),
    "random-rbf all drifting": lambda: RandomRBFDrift(1, 2, 3, 5, 7, 0.001, 7),
    "random-tree": lambda: RandomTree(0, 42),
    "random-tree 42": lambda: RandomTree(42, 42, 2, 2, 2, 2, 6, 3, 0.15),
    "random-tree numeric": lambda: RandomTree(5, 6, 7, 3, 0, 5, 9, 2, 0.3),
    "random-tree categorical": lambda: RandomTree(5, 6, 3, 0, 6, 3, 5, 4, 0.5),
    "agrawal in turn": lambda: in_turn(
        [Agrawal(v, s) for v, s in [(0, 42), (3, 43), (7, 44)]], [3333, 6666], 500, 45
    ),
    "stagger recurring": lambda: in_turn(
        [STAGGER(i % 3, 42 + i) for i in range(5)], [2000, 4000, 6000, 8000], 1, 47
    ),
    "led in turn": lambda: in_turn(
        [LEDDrift(42 + i, 0.1, True, v) for i, v in enumerate([0, 3, 5, 7])],
        [2500, 5000, 7500],
        1000,
        46,
    ),
    "random-tree recurring": lambda: in_turn(
        [RandomTree(1 + i % 2, 42 + i) for i in range(3)], [4000, 8000], 50, 45
    ),
    "sea in turn": lambda: in_turn(
        [SEA(v, 0.1, s) for v, s in [(3, 42), (1, 43)]], [4000], 200, 44
    ),
}


def fingerprint(chunks):
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()[:16]


def describe(name, dataset):
    samples = [
        (list(map(str, x)), list(map(float, x.values())), int(y)) for x, y in dataset.take(SAMPLES)
    ]
    assert all(inputs == samples[0][0] for inputs, _, _ in samples), name
    return {
        "name": name,
        "inputs": samples[0][0],
        "first": [[*x, y] for _, x, y in samples[:5]],
        "exact": fingerprint(struct.pack(f"<{len(x)}dB", *x, y) for _, x, y in samples),
        "rounded": fingerprint(
            struct.pack(f"<{len(x)}qB", *[math.floor(v * 1e6 + 0.5) for v in x], y)
            for _, x, y in samples
        ),
    }


def arithmetic():
    numbers = random.Random(1)
    points = [numbers.random() for _ in range(SAMPLES)]
    return fingerprint(
        struct.pack("<4d", math.log(x), math.sin(6 * x), math.cos(6 * x), (5 * x) ** 0.5)
        for x in points
    )


def main():
    assert sys.version_info < (3, 12), "from Python 3.12 on sum() rounds in another way"
    math.exp = exp_without_overflow
    cases = [json.dumps(describe(name, make())) for name, make in CASES.items()]
    print(f'{{"river": "{river.__version__}", "arithmetic": "{arithmetic()}", "cases": [')
    print(",\n".join(cases))
    print("]}")


if __name__ == "__main__":
    main()
