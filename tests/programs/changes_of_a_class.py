"""What is changed of a class is read through its objects and its subclasses, some of which have their own."""

import abc

import torch

# Older ones compile what a class has as if it never changed.
TORCH = (2, 13)


class Base(abc.ABC):
    calls = 0
    largest = None


class Own(Base):
    calls = 100


class Other(Base):
    pass


class Model(torch.nn.Module):
    steps = 0

    def forward(self, x):
        Model.steps += 1
        return x * self.steps


BASE, OWN, OTHER, MODEL = Base(), Own(), Other(), Model()
GIVEN = Other()
GIVEN.calls = 7


def f(x):
    Base.calls += 1
    Base.largest = x.max()
    if x.sum() > 9:
        raise ValueError("large", OTHER.calls)
    print("calls", BASE.calls, OWN.calls, OTHER.calls, GIVEN.calls, Own.calls, Other.calls, OTHER.largest)
    setattr(Base, "calls", Other.calls + 1)  # noqa: B010
    return x * OTHER.calls * Other.calls, MODEL(x)


CALLS = [(torch.tensor(numbers),) for numbers in ([1.0, 2.0], [3.0, 1.0], [9.0, 1.0], [2.0, 1.0])]


def state():
    return Base.calls, Own.calls, Other.calls, Model.steps, Base.largest
