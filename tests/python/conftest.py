"""Each test of compiled code starts afresh: nothing compiled, mended or predicted, the same random numbers."""

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

    from graphmend._mending import mended_code, speculate

    torch._dynamo.reset()
    mended_code.forget_all()
    speculate.sites.clear()
    vars(speculate.PREDICTIONS).clear()
    seed()
    yield
    torch._dynamo.reset()
