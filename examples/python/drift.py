# %% [markdown]
# # A stream that drifts
#
# Whether the price of electricity rises depends on demand, and that dependence changes with the seasons. This
# example generates such a stream: half-hours whose label mostly stays the same, with a rule that is reversed
# twice.

# %%
import numpy as np

import broadstream

rng = np.random.default_rng(1)
SAMPLES, DRIFTS = 6000, (2000, 4000)


def electricity_like():
    """Return demand and transfer by half-hour, and whether the price is above the usual one."""
    time = np.arange(SAMPLES)
    demand = 0.5 + 0.3 * np.sin(2 * np.pi * time / 48) + rng.normal(0, 0.08, SAMPLES)
    transfer = np.convolve(rng.normal(0, 1, SAMPLES + 20), np.ones(21) / 21, "valid")
    sign = np.where((time >= DRIFTS[0]) & (time < DRIFTS[1]), -1.0, 1.0)
    rises = sign * (demand - 0.5) + 0.6 * transfer + rng.normal(0, 0.05, SAMPLES) > 0
    X = np.column_stack([time % 48 / 48, demand, transfer])
    return X, np.where(rises, "UP", "DOWN")


X, y = electricity_like()

# %% [markdown]
# One model remembers everything, one forgets at a fixed rate, and the default learns how much of the past is
# worth remembering. All of them start untrained and see each sample once.

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
# As a baseline: how often is the previous label right?

# %%
print(f"{'previous label':16} {np.mean(y[1:] == y[:-1]):.3f}")

# %% [markdown]
# The default model detected the drifts and restarted a regression after them.

# %%
result = results["default"]
print("restarts after drift:", result.restarts)
assert results["default"].accuracy > results["everything"].accuracy

# %% [markdown]
# The same as a figure. A notebook displays it automatically.

# %%
axes = result.plot()
axes.figure.savefig("drift.png", dpi=100)
print("drift.png")
