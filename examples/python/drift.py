# %% [markdown]
# # A stream that drifts
#
# Whether the price of electricity rises depends on demand, and how it does changes with the seasons. This
# makes such a stream: half-hours in which the label mostly stays what it was, and a rule that turns twice.

# %%
import numpy as np

import broadstream

rng = np.random.default_rng(1)
SAMPLES, TURNS = 6000, (2000, 4000)


def electricity_like():
    """Demand and transfer over half-hours, and whether the price is above what is usual."""
    time = np.arange(SAMPLES)
    demand = 0.5 + 0.3 * np.sin(2 * np.pi * time / 48) + rng.normal(0, 0.08, SAMPLES)
    transfer = np.convolve(rng.normal(0, 1, SAMPLES + 20), np.ones(21) / 21, "valid")
    sign = np.where((time >= TURNS[0]) & (time < TURNS[1]), -1.0, 1.0)
    rises = sign * (demand - 0.5) + 0.6 * transfer + rng.normal(0, 0.05, SAMPLES) > 0
    X = np.column_stack([time % 48 / 48, demand, transfer])
    return X, np.where(rises, "UP", "DOWN")


X, y = electricity_like()

# %% [markdown]
# One model remembers everything, one forgets at a fixed rate, and the default finds out how much of the past
# is worth remembering. All of them start from nothing and see each sample once.

# %%
size = dict(feature_groups=5, enhancement_nodes=300)
models = {
    "everything": broadstream.OnlineBLS(preset="single", **size),
    "forgetting 0.99": broadstream.OnlineBLS(preset="single", forgetting=0.99, **size),
    "default": broadstream.OnlineBLS(**size),
}
results = {}
for name, model in models.items():
    results[name] = broadstream.evaluate((X, y), model, metrics_window=300)
    print(f"{name:16} {results[name].accuracy:.3f}")

# %% [markdown]
# What of it is the model's own, and what would repeating the last label give?

# %%
print(f"{'the label before':16} {np.mean(y[1:] == y[:-1]):.3f}")

# %% [markdown]
# The default saw the drifts by itself, and began a regression anew after them.

# %%
result = results["default"]
print("began anew after", result.restarts)
assert results["default"].accuracy > results["everything"].accuracy

# %% [markdown]
# The same as a picture. In a notebook the figure shows by itself.

# %%
figure = result.plot()
figure.savefig("drift.png", dpi=100)
print("drift.png")
