"""Training with a mended model: losses, gradients, parameters and statistics are those of eager, step by step."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, observe, same_program, seed

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


class Network(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU())
        self.dropout = torch.nn.Dropout(0.25)
        self.head = torch.nn.Linear(8, 2)
        self.steps = 0

    def forward(self, x: Any) -> Any:
        self.steps += 1
        y = self.body(x)
        print("step", self.steps, "mean", y.mean().item())
        if torch.isnan(y).any():
            raise ValueError("not a number", self.steps)
        if y.sum() < 0:
            raise ValueError("negative")
        return self.head(self.dropout(y))


def batches(sizes: list[int]) -> list[tuple[Any, Any]]:
    generator = torch.Generator().manual_seed(3)
    made = []
    for size in sizes:
        x = torch.randn(size, 4, generator=generator)
        made.append((x, (x.sum(1) > 0).long()))
    return made


def train(model: Any, owner: Any, optimizer: Any, data: list[tuple[Any, Any]]) -> list[Any]:
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    seed()
    return [observe(step, each, __file__, owner) for each in data]


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01),
}


@pytest.mark.parametrize(("backend", "name"), [("eager", "sgd"), ("aot_eager", "adamw")])
def test_several_steps(backend: str, name: str) -> None:
    original = Network()
    twin = copy.deepcopy(original)
    data = batches([6] * 4)
    # A step that fails, in the midst.
    data.insert(2, (torch.full((6, 4), float("nan")), data[0][1]))
    compiled = mended_compile(twin, backend=backend, fullgraph=True)
    expected = train(original, original, OPTIMIZERS[name](original.parameters()), data)
    seen = train(compiled, twin, OPTIMIZERS[name](compiled.parameters()), data)
    for i in range(len(data)):
        assert not differences(expected[i], seen[i], f"step {i}")
    assert compiled.report.whole and compiled.report.misses >= 1


def test_the_step_itself_is_compiled() -> None:
    def step(model: Any, x: Any, y: Any) -> Any:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        print("loss", loss.item())
        if torch.isnan(loss):
            raise ValueError("lost")
        loss.backward()
        return loss.detach()

    data = batches([6, 6, 6])
    original, twin = Network(), Network()
    twin.load_state_dict(original.state_dict())
    compiled = mended_compile(step, backend="eager")
    for x, y in data:
        seed()
        expected = observe(step, (original, x, y), __file__, original)
        seed()
        assert not differences(expected, observe(compiled, (twin, x, y), __file__, twin))


def test_train_and_eval_take_turns() -> None:
    original, twin = Network(), Network()
    twin.load_state_dict(original.state_dict())
    compiled = mended_compile(twin, backend="eager", fullgraph=True)
    for i, (x, _) in enumerate(batches([6] * 4)):
        for model in (original, compiled):
            model.train(i % 2 == 0)
        seed()
        expected = observe(original, (x,), __file__, original)
        seed()
        assert not differences(expected, observe(compiled, (x,), __file__, twin), f"call {i}")


def test_gradients_of_inputs_and_of_gradients() -> None:
    def curve(x: Any) -> Any:
        y = (x**3).sum()
        print("y", y.item())
        if y > 1000:
            raise ValueError("large")
        return y

    def twice(function: Any, x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(function(leaf), leaf, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), leaf)
        return first.detach(), second

    compiled = mended_compile(curve, backend="eager", fullgraph=True)
    for x in (torch.ones(3), torch.full((3,), 2.0), torch.full((3,), 20.0)):
        expected, seen = (observe(twice, (function, x), __file__) for function in (curve, compiled))
        assert not differences(expected, seen)


class Averages(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Changes its own parameters while it is used."""

    def __init__(self, hidden: bool) -> None:
        super().__init__()
        self.hidden = hidden
        self.linear = torch.nn.Linear(3, 3)
        self.mean = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        if self.hidden:
            self.mean.data.mul_(0.9)
        else:
            with torch.no_grad():
                self.mean.mul_(0.9).add_(y.mean(0) * 0.1)
        print("mean", self.mean.sum().item())
        if x.max() > 100:
            raise ValueError("large")
        return y * self.mean


@pytest.mark.parametrize("hidden", [False, True], ids=["no_grad", "data"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_parameters_that_the_model_changes_itself(backend: str, hidden: bool) -> None:
    # AOTAutograd, given all of it as one graph, has the gradient flow through what was written under no_grad: where its
    # backend asks for that, a break has to stay.
    original = Averages(hidden)
    twin = copy.deepcopy(original)
    compiled = mended_compile(twin, backend=backend)

    def step(model: Any, x: Any) -> Any:
        result = model(x)
        result.sum().backward()
        return result.detach()

    for x in (torch.ones(2, 3), torch.full((2, 3), 1000.0), torch.ones(2, 3)):
        expected = observe(lambda value: step(original, value), (x,), "", original)
        assert not differences(expected, observe(lambda value: step(compiled, value), (x,), "", twin))
    assert twin.mean.is_leaf and twin.mean.grad is not None


@pytest.mark.parametrize("dynamic", [None, True, False])
def test_shapes_that_change(dynamic: bool | None) -> None:
    data = [(x,) for x, _ in batches([6, 3, 9, 6, 2, 12])]
    compiled = same_program(Network(), data, __file__, dynamic=dynamic, fullgraph=True)
    assert compiled.report.whole
    if dynamic is not False:
        assert compiled.report.graphs <= 4


def test_marked_dynamic() -> None:
    def sizes(x: Any) -> Any:
        print("rows", x.shape[0], len(x), x.size(1))
        if x.sum() > 1000:
            raise ValueError("large", x.shape)
        return x.reshape(-1)[: x.shape[0]] * x.shape[1]

    calls = [(torch.ones(size, 3),) for size in (4, 5, 6, 7, 400)]
    for (x,) in calls:
        torch._dynamo.mark_dynamic(x, 0)
    expected = [observe(sizes, args, __file__) for args in calls]
    compiled = mended_compile(sizes, backend="eager", fullgraph=True)
    for i, args in enumerate(calls):
        assert not differences(expected[i], observe(compiled, args, __file__), f"call {i}")
    assert (compiled.report.graphs, compiled.report.misses) == (1, 1)
