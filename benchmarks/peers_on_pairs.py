"""What libraries for private gradients of single records do with a loss of pairs (``docs/results/peers-on-pairs.md``).

Run as ``python benchmarks/peers_on_pairs.py opacus PYTHON`` or ``... jax-privacy PYTHON``, with the Python of an
environment that holds that library (``pip install torch==2.13.0``, then ``opacus``; or ``jax jax-privacy``). Each
finding is a line.
"""

from __future__ import annotations

import subprocess
import sys

OPACUS = '''
import warnings
import opacus, torch
import torch.nn.functional as F
from opacus import GradSampleModule, PrivacyEngine

warnings.simplefilter("ignore")
torch.manual_seed(0)
CLIP, FEATURES = 0.1, 5
print(f"opacus {opacus.__version__}, torch {torch.__version__}")


def pair_loss(scores, y):
    """Mean logistic loss of all (positive, negative) pairs of a batch."""
    return F.softplus(-(scores[y == 1][:, None] - scores[y == 0][None, :])).mean()


def clipped_sum(X, y, w):
    """The sum of what is kept for each record, clipped: what noise for a sensitivity of CLIP is added to."""
    model = GradSampleModule(torch.nn.Linear(X.shape[1], 1, bias=False))
    model._module.weight.data.copy_(w)
    pair_loss(model(X)[:, 0], y).backward()
    each = model._module.weight.grad_sample[:, 0]
    return (each * torch.clamp(CLIP / each.norm(dim=1, keepdim=True).clamp_min(1e-30), max=1)).sum(0)


for n in (33, 257, 1025):  # rows of the unit ball, one of them replaced by its opposite
    X = F.normalize(torch.randn(FEATURES), dim=0).repeat(n, 1)
    other = X.clone()
    other[0] = -X[0]
    y = torch.ones(n, dtype=torch.long)
    y[0] = 0
    w = (10 * X[0])[None]
    moved = float((clipped_sum(X, y, w) - clipped_sum(other, y, w)).norm())
    print(f"batch of {n}: one record replaced moves the clipped sum by {moved:.2f}, {moved / (2 * CLIP):.0f} times 2C")

X, y = torch.randn(32, FEATURES), torch.arange(32) % 2
for mode in ("hooks", "ew", "functorch", "ghost"):
    model = torch.nn.Linear(FEATURES, 1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=16)
    loss = {"criterion": lambda scores, y: pair_loss(scores[:, 0], y)} if mode == "ghost" else {}
    engine = PrivacyEngine()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made = engine.make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=loader,
            noise_multiplier=1.0, max_grad_norm=1.0, grad_sample_mode=mode, **loss,
        )
        model, optimizer, loader = made[0], made[1], made[-1]
        for xb, yb in loader:
            optimizer.zero_grad()
            (made[2](model(xb), yb) if len(made) == 4 else pair_loss(model(xb)[:, 0], yb)).backward()
            optimizer.step()
    said = sum("pair" in str(one.message).lower() or "per-sample" in str(one.message).lower() for one in heard)
    spent = engine.get_epsilon(1e-5)
    print(f"mode {mode}: trains, reports epsilon = {spent:.2f} at delta = 1e-5; warnings of it: {said}")
'''

JAX = '''
import warnings
import jax, jax.numpy as jnp, numpy as np
import jax_privacy as jp

rng = np.random.default_rng(0)
X, y = rng.normal(size=(32, 5)).astype(np.float32), np.tile([0, 1], 16)
print(f"jax-privacy {jp.__version__}, jax {jax.__version__}")


def pair_loss(w, x, t):
    """Mean logistic loss of all (positive, negative) pairs of a batch."""
    scores = x @ w
    pairs = (t[:, None] == 1) & (t[None, :] == 0)
    return jnp.sum(jnp.where(pairs, jax.nn.softplus(scores[None, :] - scores[:, None]), 0.0)) / jnp.sum(pairs)


w = jnp.ones(5)
print(f"norm of the true gradient: {float(jnp.linalg.norm(jax.grad(pair_loss)(w, X, y))):.2f}")
for settings in ({}, {"nan_safe": False}):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        gradient = np.asarray(jp.clipped_grad(pair_loss, l2_clip_norm=1.0, batch_argnums=(1, 2), **settings)(w, X, y))
    heard = [str(one.message)[:60] for one in heard]
    print(f"clipped_grad {settings or 'by default'}: norm {np.linalg.norm(gradient):g}, warnings: {heard}")
'''

SCRIPTS = {"opacus": OPACUS, "jax-privacy": JAX}


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in SCRIPTS:
        sys.exit(__doc__)
    _, peer, python = sys.argv
    done = subprocess.run([python, "-W", "ignore", "-c", SCRIPTS[peer]], check=False, capture_output=True, text=True)
    print(done.stdout, end="")
    if done.returncode:
        sys.exit(f"{peer} did not run with {python}: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
