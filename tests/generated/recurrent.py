"""Recurrent layers, next to what is mended. In: a Writer. Out: lines."""

from __future__ import annotations

from . import effects, guards
from . import expressions as e
from . import statements as s
from .writer import Writer

# All give as many columns as they take.
LAYERS = [
    "nn.GRU(4, 4)",
    "nn.LSTM(4, 4)",
    "nn.RNN(4, 4)",
    "nn.GRU(4, 2, bidirectional=True)",
    "nn.LSTM(4, 4, num_layers=2)",
    "nn.RNN(4, 4, nonlinearity='relu')",
]


def add_layer(w: Writer) -> bool:
    """Gives a module such a layer, now and then."""
    is_added = w.has_asides and w.aside.random() < 0.2
    if is_added:
        w.line(f"self.cell = {w.aside.choice(LAYERS)}")
    return is_added


def step(w: Writer) -> None:
    """A tensor goes through the layer, and something is done about what comes out."""
    w.use("module.recurrent")
    name, state = e.full_name(w), w.fresh("h")
    if w.chance(0.6):
        w.line(f"{name} = self.cell({e.full_name(w)})[0]")
    else:
        w.line(f"{name}, {state} = self.cell({e.full_name(w)})")
    if w.chance(0.7):
        w.pick([(2, effects.effect), (2, guards.guard), (2, s.branch), (1, s.mutate)])
