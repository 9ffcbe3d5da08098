"""Each test of compiled code starts afresh: nothing compiled, nothing predicted, the same random numbers."""

from __future__ import annotations

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

    from graphmend._mending import speculate

    torch._dynamo.reset()
    speculate.sites.clear()
    vars(speculate.PREDICTIONS).clear()
    seed()
    yield
    torch._dynamo.reset()
