"""What a measurement ran on, in one line. In: the kernel's word. Out: processor, cores, load."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> str:
    """Call it before measuring: the load is that of now."""
    return f"{cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began"


def cpu_model() -> str:
    """The processor as the kernel names it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return f"{found[1]} ({platform.machine()})" if found else platform.machine()
