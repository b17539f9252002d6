# %% [markdown]
# # Models that were trained apart
#
# Three sites see their own customers and must not send them anywhere. Each trains a model; the models are
# merged, and the result is that of one model which had seen all customers: not an average of predictions, but
# the same weights.

# %%
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import broadstream

X, y = broadstream.generate("agrawal", samples=3000, seed=3).arrays()
y = np.array(y)
sites = np.array_split(np.arange(len(X)), 3)

# %% [markdown]
# What must be the same everywhere is the scaling of the inputs. Here a first thousand rows, say public ones,
# fix it, and every site gets a model like that one.

# %%
first = broadstream.OnlineBLS(preset="single", nested_models=1, enhancement_nodes=400)
first.fit_scaling(X[:1000])


def train(rows):
    """What a site does. Threads work at the same time: the interpreter is free while a model learns."""
    model = first.like()
    model.learn_many(X[rows], y[rows])
    return pickle.dumps(model)


with ThreadPoolExecutor() as pool:
    trained = [pickle.loads(sent) for sent in pool.map(train, sites)]
print([model.learned for model in trained], "samples learned apart")

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
# A customer asks to be forgotten. Taking a sample back is exact as well, and comes with a certificate.

# %%
certificate = merged.unlearn_one(X[1500], y[1500])
rest = np.delete(np.arange(len(X)), 1500)
never = first.like()
never.learn_many(X[rest], y[rest])
difference = np.abs(merged.weights - never.weights).max()
print(
    f"{certificate.samples} sample taken back, weights within {difference:.0e} of never having seen it"
)
assert difference < 1e-9 and certificate.residual_after < 1e-9

# %% [markdown]
# What cannot be exact is refused, with the reason.

# %%
forgetful = broadstream.OnlineBLS()
try:
    forgetful.merge(merged)
except ValueError as error:
    print("refused:", error)
