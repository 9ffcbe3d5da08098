"""What an adapter adds is changed on the way."""

import logging

import torch

SHOWN = []
ADDED = {"user": 1}
logger = logging.getLogger("program.adapter")
adapter = logging.LoggerAdapter(logger, ADDED)


class Handler(logging.Handler):
    def emit(self, record):
        SHOWN.append((record.user, record.getMessage()))


logger.addHandler(Handler())
logger.propagate = False


def state():
    return list(SHOWN)


def f(x):
    ADDED["user"] += 1
    adapter.warning("sum %s", x.sum())
    return x * 2


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]
