"""What a tensor has not raises where it is read, though nobody wants its value; what was changed before stays so."""

import torch

SEEN = []


def f(x, wants):
    print(x.sum().item())
    y = x * 2
    try:
        y.missing
    except AttributeError as error:
        SEEN.append(str(error))
    if wants:
        SEEN.append("last")
        return y.missing
    return y, list(SEEN), hasattr(y, "missing"), getattr(y, "missing", 3)


CALLS = [(torch.ones(3), False), (torch.ones(3), True), (torch.ones(3), False)]
