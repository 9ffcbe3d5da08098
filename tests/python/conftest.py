"""Each test of compiled code starts afresh: nothing compiled, mended or predicted, the same random numbers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _fresh_dynamo(request: pytest.FixtureRequest) -> Iterator[None]:
    # A file that does without torch is tested without it, also where there is none.
    torch = getattr(request.module, "torch", None)
    if torch is None:
        yield
        return
    from compiled_calls import seed

    from graphmend._mending import mended_code, speculate

    # Generated programs put all that there is aside for their forks; looking for functions would bring it back, and
    # put it aside again, each time.
    gc.unfreeze()
    torch._dynamo.reset()
    mended_code.forget_all()
    speculate.sites.clear()
    vars(speculate.PREDICTIONS).clear()
    seed()
    yield
    torch._dynamo.reset()
