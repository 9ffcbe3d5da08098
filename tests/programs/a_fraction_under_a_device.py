"""A fraction that changes goes from one piece of a frame to the next, while there is a device by default."""

import torch


def f(x, fraction):
    with torch.device("cpu"):
        return pieces(x, fraction)


def pieces(x, fraction):
    torch._dynamo.graph_break()
    y = x + fraction
    rounded = round(fraction, 3)
    torch._dynamo.graph_break()
    print("%.3f" % rounded)
    return y, rounded


CALLS = [(torch.ones(3), each) for each in (0.31, 1.3104, 2.5, -0.0)]
