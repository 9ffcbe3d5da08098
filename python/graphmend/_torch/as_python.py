"""All that Dynamo does otherwise than Python, and that is put right while a frame with something mended is traced."""

import contextlib
from collections.abc import Iterator

from graphmend._torch.absent import absence_guarded
from graphmend._torch.assembled import code_assembled
from graphmend._torch.attributes import attributes_guarded
from graphmend._torch.caches import caches_asked
from graphmend._torch.classes import changes_of_classes_seen
from graphmend._torch.contained import contents_told
from graphmend._torch.deques import deques_bounded
from graphmend._torch.dropouts import dropouts_passed_on
from graphmend._torch.exact import numbers_compared
from graphmend._torch.extremes import extremes_compared
from graphmend._torch.formats import formats_kept
from graphmend._torch.functions import functions_found
from graphmend._torch.generators import generators_noted
from graphmend._torch.hooks import hooks_guarded
from graphmend._torch.keys import keys_compared
from graphmend._torch.one_tensor import changes_shared
from graphmend._torch.optimizers import groups_kept
from graphmend._torch.otherwise import left_as_in_python
from graphmend._torch.taken_apart import operators_whole

_PUT_RIGHT = (
    formats_kept,
    numbers_compared,
    extremes_compared,
    changes_of_classes_seen,
    functions_found,
    generators_noted,
    contents_told,
    deques_bounded,
    dropouts_passed_on,
    attributes_guarded,
    changes_shared,
    groups_kept,
    absence_guarded,
    keys_compared,
    left_as_in_python,
    code_assembled,
    hooks_guarded,
    operators_whole,
    caches_asked,
)


@contextlib.contextmanager
def as_python_does() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for each in _PUT_RIGHT:
            stack.enter_context(each())
        yield
