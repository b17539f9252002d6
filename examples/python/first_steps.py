# %% [markdown]
# # First steps
#
# A model that learns one sample at a time: readings of a machine, and whether it is about to fail. Run this
# as a script, or cell by cell in an editor that supports `# %%`.

# %%
import random

import broadstream

random.seed(0)


def reading(hour):
    """Return the readings of one hour, and whether the machine then failed."""
    mode = random.choice(["eco", "full", "boost"])
    load = {"eco": 20, "full": 60, "boost": 90}[mode]
    temperature = 20 + 0.5 * load + random.gauss(0, 5)
    x = {"mode": mode, "temperature": temperature, "hour": hour % 24}
    if random.random() < 0.1:
        del x["temperature"]  # the sensor reported nothing
    y = "fails" if temperature > 60 and mode == "boost" else "runs"
    return x, y


# %% [markdown]
# Rows are dictionaries of numbers and strings; missing values are left out. Each sample is predicted before
# it is learned, so every prediction is about a new sample.

# %%
model = broadstream.OnlineBLS()
correct = 0
for hour in range(2000):
    x, y = reading(hour)
    correct += model.predict_one(x) == y
    model.learn_one(x, y)
print(f"{correct / 2000:.1%} of the predictions were correct")
print(f"inputs: {', '.join(model.inputs)}")

# %% [markdown]
# Probabilities, and the leverage, which measures how unlike the past a sample is:

# %%
for x in [
    {"mode": "boost", "temperature": 75.0, "hour": 3},
    {"mode": "eco", "temperature": 28.0, "hour": 3},
    {"mode": "reverse", "temperature": 900.0, "hour": 3},
]:
    probability = model.predict_proba_one(x)["fails"]
    print(f"{x['mode']:8} fails with {probability:.2f}, leverage {model.leverage_one(x):.3f}")

# %% [markdown]
# New labels and new inputs may appear at any time.

# %%
for hour in range(200):
    x, y = reading(hour)
    x["vibration"] = random.gauss(5 if hour % 4 == 0 else 1, 0.3)
    model.learn_one(x, "loose screw" if hour % 4 == 0 else y)
print(model.labels)
print(model.predict_one({"mode": "eco", "temperature": 30.0, "hour": 3, "vibration": 5.1}))

# %% [markdown]
# A model can be saved to a file, which the `broadstream` command reads too. A loaded model continues exactly,
# to the bit.

# %%
import io

file = io.BytesIO()
model.save(file)
again = broadstream.OnlineBLS.load(io.BytesIO(file.getvalue()))
x, y = reading(0)
model.learn_one(x, y)
again.learn_one(x, y)
assert again.predict_proba_one(x) == model.predict_proba_one(x)
print(f"saved in {len(file.getvalue()) / 1e6:.0f} MB: {again}")
