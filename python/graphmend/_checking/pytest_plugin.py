"""The pytest plugin: the fixture `assert_no_graph_breaks`. torch is only imported by tests that ask for it."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def assert_no_graph_breaks() -> Iterator[None]:
    """No graph may break while the test runs; see `graphmend.assert_no_graph_breaks`."""
    from graphmend._checking.assertions import assert_no_graph_breaks as no_graph_breaks

    with no_graph_breaks():
        yield
