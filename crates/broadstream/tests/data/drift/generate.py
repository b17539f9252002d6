"""What River's ADWIN detects: writes cases.json, which the test of the detector reads.

Needs River 0.26.1:

    python generate.py > cases.json

A sequence is made of stretches, each a number of values between two bounds. Value k is drawn by the
k-th number u of `Numbers`, which is written down in a line so that the test can make it again: as
`low + (high - low) * u`, or in sequences of errors as 1 if u is below `high` and else 0.

Each case has the detector's delta, its stretches and, for each change, the number of values up to it
(from 1) and the width of the window that is left.
"""

import json

import river
from river.drift import ADWIN

ERRORS = {
    "no change": [(20_000, 0.2)],
    "worse": [(3_000, 0.1), (3_000, 0.3)],
    "better and worse": [(500, 0.5), (4_000, 0.1), (1_000, 0.9), (4_000, 0.1)],
    "a little worse": [(30_000, 0.11), (30_000, 0.14)],
    "never and always": [(700, 0.0), (700, 1.0), (700, 0.0)],
    "recurring": [(997, 0.05 + 0.3 * (i % 2)) for i in range(20)],
    "creeping": [(100, 0.1 + 0.004 * i) for i in range(100)],
}

VALUES = {
    "around zero": [(2_000, -1.0, 1.0), (2_000, -0.5, 1.5)],
    "far from zero": [(2_000, 1e6, 1e6 + 1), (2_000, 1e6 + 0.5, 1e6 + 1.5)],
    "wider": [(3_000, -1.0, 1.0), (3_000, -9.0, 9.0)],
    "tiny": [(1_000, 0.0, 1e-9), (1_000, 1e-9, 3e-9)],
    "huge": [(1_000, 0.0, 1e9), (1_000, 1e9, 3e9), (50, -1e9, 0.0)],
    "up and down": [(64, float(i % 3), float(i % 3) + 1) for i in range(60)],
}


class Numbers:
    """Uniform numbers in [0, 1): SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return ((z ^ (z >> 31)) >> 11) / 2**53


def case(name, delta, seed, errors, stretches):
    numbers, adwin, changes, k = Numbers(seed), ADWIN(delta=delta), [], 0
    for count, low, high in stretches:
        for _ in range(count):
            u = numbers.next()
            k += 1
            adwin.update(float(u < high) if errors else low + (high - low) * u)
            if adwin.drift_detected:
                changes.append([k, int(adwin.width)])
    return {
        "name": name,
        "delta": delta,
        "seed": seed,
        "errors": errors,
        "stretches": stretches,
        "changes": changes,
    }


def main():
    cases = []
    for seed, delta in enumerate([0.002, 0.05, 1e-6], 1):
        for name, stretches in ERRORS.items():
            stretches = [(count, 0.0, rate) for count, rate in stretches]
            cases.append(case(name, delta, seed, True, stretches))
        for name, stretches in VALUES.items():
            cases.append(case(name, delta, seed, False, stretches))
    print(f'{{"river": "{river.__version__}", "cases": [')
    print(",\n".join(json.dumps(case) for case in cases))
    print("]}")


if __name__ == "__main__":
    main()
