# %% [markdown]
# # Merging models trained at different sites
#
# Three sites have data of their own customers and must not share it. Each site trains a model. Merging the
# models gives the model that one site with all customers would have trained: not an average of predictions,
# but the same weights.

# %%
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import broadstream

X, y = broadstream.generate("agrawal", samples=3000, seed=3).arrays()
y = np.array(y)
sites = np.array_split(np.arange(len(X)), 3)

# %% [markdown]
# All sites must scale the inputs in the same way. Here the first thousand rows, say public ones, determine
# the scaling, and every site gets a model with that scaling.

# %%
first = broadstream.OnlineBLS(preset="single", nested_models=1, enhancement_nodes=400)
first.fit_scaling(X[:1000])


def train(rows):
    """Train the model of one site. Threads run in parallel: learning releases the interpreter."""
    model = first.like()
    model.learn_many(X[rows], y[rows])
    return pickle.dumps(model)


with ThreadPoolExecutor() as pool:
    trained = [pickle.loads(sent) for sent in pool.map(train, sites)]
print([model.learned for model in trained], "samples learned at the three sites")

# %%
merged = trained[0]
for model in trained[1:]:
    merged.merge(model)

one = first.like()
one.learn_many(X, y)
difference = np.abs(merged.weights - one.weights).max()
print(f"merged model of {merged.learned} samples, weights within {difference:.0e} of one model's")
assert difference < 1e-9

# %% [markdown]
# A customer asks to be forgotten. Unlearning a sample is exact as well, and returns a certificate.

# %%
certificate = merged.unlearn_one(X[1500], y[1500])
rest = np.delete(np.arange(len(X)), 1500)
never = first.like()
never.learn_many(X[rest], y[rest])
difference = np.abs(merged.weights - never.weights).max()
print(
    f"{certificate.samples} sample unlearned, weights within {difference:.0e} of never having seen it"
)
assert difference < 1e-9 and certificate.error < 1e-9

# %% [markdown]
# Merging models for which it would not be exact is an error that states the reason.

# %%
forgetful = broadstream.OnlineBLS()
try:
    forgetful.merge(merged)
except ValueError as error:
    print("refused:", error)
