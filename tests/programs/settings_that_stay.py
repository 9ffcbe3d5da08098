"""A setting of torch's is switched behind a guard; the call that raises does not switch it."""

import torch


def f(x, number, way):
    if number > 2:
        raise ValueError("much")
    if way == "deterministic":
        torch.use_deterministic_algorithms(True)
    elif way == "warnings":
        torch.set_warn_always(True)
    elif way == "type":
        torch.set_default_dtype(torch.float64)
    return x * 2


def and_then(call):
    """What a call does, then what it leaves behind, which is put back."""

    def called(*args):
        try:
            return call(*args)
        except ValueError as error:
            return str(error), settings()
        finally:
            torch.use_deterministic_algorithms(False)
            torch.set_warn_always(False)
            torch.set_default_dtype(torch.float32)

    return called


def settings():
    return torch.are_deterministic_algorithms_enabled(), torch.is_warn_always_enabled(), str(torch.get_default_dtype())


CALLS = [
    (torch.ones(2), torch.tensor(number), way)
    for way in ("deterministic", "warnings", "type")
    for number in (1.0, 3.0, 1.0)
]
