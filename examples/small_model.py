"""A small model with what usually breaks the graph: a print, a log line, a raise guard, a branch on a tensor's value.

python examples/small_model.py            # as it is: torch.compile breaks at each of them
graphmend run examples/small_model.py     # the same program, mended
"""

import logging

import torch

logging.basicConfig(format="%(levelname)s %(filename)s:%(lineno)d in %(funcName)s: %(message)s")
log = logging.getLogger("model")


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        hidden = torch.relu(self.first(x))
        if torch.isnan(hidden).any():
            raise ValueError(f"NaN in step {self.steps}")
        if hidden.mean() > 1:
            hidden = hidden / 10
        print(f"step {self.steps}: mean {hidden.mean().item():.4f}")
        if self.steps == 2:
            log.warning("step %d has shape %s", self.steps, tuple(hidden.shape))
        return self.second(hidden)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Model().eval(), backend="aot_eager")
    with torch.no_grad():
        for scale in (1.0, 2.0, 50.0):
            model(torch.full((4, 8), scale))
        try:
            model(torch.full((4, 8), float("nan")))
        except ValueError as error:
            print("ValueError:", error)
