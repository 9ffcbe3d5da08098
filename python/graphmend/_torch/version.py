"""Which torch this is: the probe that runs before anything is mended."""

import functools

import torch
import torch._dynamo
from torch._dynamo import guards

from graphmend._torch.breaks import tell_less
from graphmend._torch.frames import decode_by_file, go_by_own_code
from graphmend._torch.quiet_graphs import write_less

SUPPORTED = ((2, 11), (2, 13))


class TorchVersionError(RuntimeError):
    """The installed torch is not one that graphmend knows."""


def torch_version() -> tuple[int, ...]:
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


@functools.cache
def require_torch() -> None:
    """Raises unless this torch is one whose private parts are where this folder expects them."""
    version = torch_version()
    if not SUPPORTED[0] <= version <= SUPPORTED[1]:
        raise TorchVersionError(
            f"graphmend mends torch {'.'.join(map(str, SUPPORTED[0]))} to {'.'.join(map(str, SUPPORTED[1]))}; "
            f"this is torch {torch.__version__}"
        )
    needed = ((torch, "_TorchCompileWrapper"), (torch, "_TorchCompileInductorWrapper"), (guards, "get_framelocals_idx"))
    for module, name in needed:
        if not hasattr(module, name):
            raise TorchVersionError(f"torch {torch.__version__} has no {name}; graphmend cannot mend with it")
    tell_less()
    write_less()
    go_by_own_code()
    decode_by_file()
