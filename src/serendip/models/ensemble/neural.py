"""Neural networks as draws: small networks with randomised prior functions, calibrated together.

Member k is g_k + p_k (Osband, Aslanides and Cassirer 2018): p_k is a random network that never
changes, g_k is trained so that their sum meets the labels that member k sees,

    minimise  Σ_i (y_i − p_k(x_i) − g_k(x_i))² + λ Σ_j n_j (w_j − v_j)²,

with n_j the inputs of the layer of weight w_j, and v_j where it began: zero in the last layer. Far
from labels members differ as their priors do; these come in pairs of opposite sign, so that they
add nothing to the mean. Training starts afresh with every label. Each label is kept from
a quarter of the members, and these say how far the ensemble can be trusted (`posterior.py`). A draw
is a random combination of all members: so there are as many draws as one likes, mean and covariance
are those of the members, and nothing need be assumed of their last layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import number, whole_fields
from serendip.core.arrays import Array, Floats
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.progress import counted
from serendip.models.ensemble.calibration import Scale, Unseen
from serendip.models.ensemble.posterior import EnsemblePosterior, Fitted
from serendip.models.fitting import FITTING

_GRAIN = 2.0**-30
"""Predictions are told apart in such steps, so that the company a row keeps does not show."""
_ROWS = 1024
"""Rows predicted at once."""
_RATE = 0.02
"""Of Adam, at the start."""
_KEPT_BACK = 0.25
"""The share of members that do not see a label."""


@dataclass(frozen=True, slots=True)
class NeuralModel:
    """An ensemble of networks that needs no settings but the number of features.

    Attributes:
        n_members: K
        n_hidden: Units of each of two hidden layers.
        n_steps: Of Adam, on all labels at once.
        decay: λ, with labels in units of their spread.
    """

    n_features: int
    n_members: int = 32
    n_hidden: int = 32
    n_steps: int = 80
    decay: float = 0.03

    def __post_init__(self) -> None:
        for name, least in {"n_features": 1, "n_members": 8, "n_hidden": 2, "n_steps": 1}.items():
            whole_fields(self, least, name)
        if not number("decay", self.decay) > 0:
            raise InvalidInput(f"decay must be positive; got {self.decay}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> EnsemblePosterior:
        """The posterior given these observations, in their order."""
        return EnsemblePosterior.of(self, seen, rng)

    def fit(self, x: Floats, y: Floats, scale: Scale, rng: Generator) -> Fitted:
        """Networks trained side by side, and what they say of labels that they have not seen."""
        d, h = self.n_features, self.n_hidden
        unseen = rng.permuted(
            np.tile(np.arange(self.n_members) < _KEPT_BACK * self.n_members, (len(y), 1)), axis=1
        )
        blind = np.flatnonzero(unseen.all(axis=0))
        unseen[blind % len(y), blind] = False
        seen = ~unseen.T
        prior = Network.drawn((d, h, 1), self.n_members, rng).mirrored()
        start = Network.drawn((d, h, h, 1), self.n_members, rng)
        centres = seen @ y / seen.sum(axis=1)  # of what each member sees, and of nothing else
        targets = (y - centres[:, None]) / scale.spread - prior(x)
        trained = _trained(start, x, targets, seen, self.decay, self.n_steps)
        networks = Networks(prior, trained, centres, scale.spread)
        return networks, self.n_members, Unseen.of(networks.predictions(x), unseen)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """K networks of the same shape, with rectified units between layers."""

    weights: tuple[Floats, ...]
    """Each (K, inputs, outputs)."""
    biases: tuple[Floats, ...]
    """Each (K, 1, outputs)."""

    @classmethod
    def drawn(cls, sizes: Sequence[int], count: int, rng: Generator) -> "Network":
        """Random weights, under which values have mean square near 1 in every layer."""
        weights, biases = [], []
        for depth, (inputs, outputs) in enumerate(pairwise(sizes)):
            # A rectified unit passes on half of its mean square.
            gain = 1.0 if depth == 0 else 2.0
            weights.append(rng.normal(0.0, np.sqrt(gain / inputs), (count, inputs, outputs)))
            biases.append(rng.normal(0.0, 1.0 if depth == 0 else 0.0, (count, 1, outputs)))
        return cls(tuple(weights), tuple(biases))

    def mirrored(self) -> "Network":
        """The second half of the networks become the first, with the opposite sign."""
        half = len(self.weights[0]) // 2
        weights, biases = ([part.copy() for part in kind] for kind in (self.weights, self.biases))
        for part in (*weights, *biases):
            part[half : 2 * half] = part[:half]
        weights[-1][half : 2 * half] *= -1.0
        biases[-1][half : 2 * half] *= -1.0
        return Network(tuple(weights), tuple(biases))

    def __call__(self, x: Floats) -> Floats:
        """(K, b)"""
        values = np.matmul(x, self.weights[0]) + self.biases[0]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            values = np.matmul(np.maximum(values, 0.0, out=values), weights) + biases
        return np.asarray(values[:, :, 0])


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """The members: prior and trained networks added, in the unit of the labels."""

    prior: Network
    trained: Network
    centres: Floats
    """(K,) what the labels of each member were measured from."""
    spread: float
    """What they were measured in."""

    @property
    def grain(self) -> float:
        """A step, so that the company a row keeps does not show."""
        return _GRAIN * self.spread

    def predictions(self, x: Floats) -> Floats:
        """(b, K)"""
        found = np.empty((len(x), len(self.prior.weights[0])))
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            found[rows] = (self.prior(x[rows]) + self.trained(x[rows])).T
        return np.asarray(self.centres + np.rint(found / _GRAIN) * self.grain)

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        found = self.predictions(x)
        mean = found.mean(axis=1)
        return mean, found - mean[:, None]

    def reach(self, x: Floats) -> float:
        """By the largest sum of weights along any way through a network."""
        largest = np.abs(x).max(initial=0.0)
        total = sum(_largest(network, float(largest)) for network in (self.prior, self.trained))
        return 2.0 * float(np.abs(self.centres).max() + self.spread * total)


def _largest(network: Network, size: float) -> float:
    for weights, biases in zip(network.weights, network.biases, strict=True):
        size = float((np.abs(weights).sum(axis=1, keepdims=True) * size + np.abs(biases)).max())
    return size


def _trained(
    start: Network, x: Floats, targets: Floats, seen: Array, decay: float, n_steps: int
) -> Network:
    """The networks after some steps of Adam on all labels at once (Kingma and Ba 2015).

    Args:
        start: Where they begin, and what decay draws them to; last layers begin at zero.
        x: (t, d)
        targets: (K, t)
        seen: (K, t), which labels each of them sees.
        decay: λ
        n_steps: With a rate that falls to zero along a cosine.
    """
    torch = _torch()
    parts = [part for layer in zip(start.weights, start.biases, strict=True) for part in layer]
    shapes = [part.shape[1:] for part in parts]
    stops = np.cumsum([part[0].size for part in parts]).tolist()
    fan_in = np.repeat([weights.shape[1] for weights in start.weights], 2)
    pull = decay * np.repeat(fan_in, np.diff([0, *stops]))
    flat = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
    flat[:, stops[-3] :] = 0.0
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # networks this small only wait for each other
    try:
        inputs, wanted, mask, anchor, strength = (
            torch.as_tensor(part, dtype=torch.float32) for part in (x, targets, seen, flat, pull)
        )
        theta = anchor.clone().requires_grad_()
        optimiser = torch.optim.Adam([theta], lr=_RATE)
        for step in counted(FITTING, n_steps):
            optimiser.param_groups[0]["lr"] = _RATE * 0.5 * (1 + np.cos(np.pi * step / n_steps))
            optimiser.zero_grad()
            split = torch.tensor_split(theta, stops[:-1], dim=1)
            now = [part.view(-1, *shape) for part, shape in zip(split, shapes, strict=True)]
            values = torch.matmul(inputs, now[0]) + now[1]
            for weights, biases in zip(now[2::2], now[3::2], strict=True):
                values = torch.baddbmm(biases, torch.relu(values), weights)
            misfit = (mask * (values[:, :, 0] - wanted) ** 2).sum()
            (misfit + (strength * (theta - anchor) ** 2).sum()).backward()
            optimiser.step()
        found = theta.detach().numpy().astype(np.float64)
    finally:
        torch.set_num_threads(n_threads)
    split = np.split(found, stops[:-1], axis=1)
    ended = [part.reshape(-1, *shape) for part, shape in zip(split, shapes, strict=True)]
    return Network(tuple(ended[0::2]), tuple(ended[1::2]))


def _torch() -> Array:
    """By name, so that types are checked the same whether it is installed or not."""
    try:
        return import_module("torch")
    except ImportError:
        raise SerendipError(
            "The neural model needs PyTorch, which is not installed; "
            "run pip install 'serendip[neural]'."
        ) from None
