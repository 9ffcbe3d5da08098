"""The pytest plugin: the fixture `assert_no_graph_breaks`. torch is only imported by tests that ask for it."""

from collections.abc import Iterator
from typing import Any

import pytest

# Of a test whose own call has raised: why.
_FAILURE = pytest.StashKey[BaseException]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Keeps why a test failed; the report is made by pytest."""
    if call.when == "call" and call.excinfo is not None:
        item.stash[_FAILURE] = call.excinfo.value


@pytest.fixture
def assert_no_graph_breaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """No graph may break while the test runs; see `graphmend.assert_no_graph_breaks`."""
    from graphmend._checking.assertions import GraphBreakError
    from graphmend._checking.assertions import assert_no_graph_breaks as no_graph_breaks

    try:
        with no_graph_breaks():
            yield
    except GraphBreakError:
        # The block raises at its end what the test has caught; what has failed the test is told of already.
        if not isinstance(request.node.stash.get(_FAILURE, None), GraphBreakError):
            raise
