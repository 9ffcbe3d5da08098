"""Puts this folder on the path, so that tests share the modules in tests/oracle and tests/corpus."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
