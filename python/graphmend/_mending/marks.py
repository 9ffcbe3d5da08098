"""What mended code calls, under the name `__graphmend__`.

In eager, `tracing()` is False and the user's own text runs, untouched. While Dynamo traces for one of our backends,
these functions are traced too: they put markers into the graph (see `lift`), or return False to say that the
statement must run as it stands, and so break the graph as it always did.
"""

import sys
from types import CodeType, FunctionType

from graphmend._mending.marks_counted import counted
from graphmend._mending.marks_in_vain import is_plain
from graphmend._mending.marks_post import (
    allclose,
    asks,
    both,
    check,
    compared,
    either,
    equal,
    holds,
    middle,
    negate,
    number,
    post,
    posts,
    real,
    talker,
    tracing,
    truth,
)
from graphmend._mending.marks_select import join, may_select, selects
from graphmend._mending.marks_substitute import attribute, function, imports, into, iterated, method, target
from graphmend._mending.marks_value import (
    agrees,
    as_number,
    bounds,
    each,
    element,
    index,
    masked_select,
    nonzero,
    position,
    sized,
    subscript,
    truth_of,
    truth_value,
    value,
    where,
    whole,
    within,
)
from graphmend._torch.frames import skip_code


class Marks:
    """The namespace that mended code sees; a class, because Dynamo takes only callables from builtins."""

    tracing = staticmethod(tracing)
    asks = staticmethod(asks)
    posts = staticmethod(posts)
    post = staticmethod(post)
    talker = staticmethod(talker)
    check = staticmethod(check)
    middle = staticmethod(middle)
    number = staticmethod(number)
    real = staticmethod(real)
    whole = staticmethod(whole)
    as_number = staticmethod(as_number)
    counted = staticmethod(counted)
    compared = staticmethod(compared)
    truth = staticmethod(truth)
    equal = staticmethod(equal)
    holds = staticmethod(holds)
    allclose = staticmethod(allclose)
    negate = staticmethod(negate)
    either = staticmethod(either)
    both = staticmethod(both)
    may_select = staticmethod(may_select)
    is_plain = staticmethod(is_plain)
    selects = staticmethod(selects)
    join = staticmethod(join)
    value = staticmethod(value)
    truth_of = staticmethod(truth_of)
    index = staticmethod(index)
    bounds = staticmethod(bounds)
    truth_value = staticmethod(truth_value)
    agrees = staticmethod(agrees)
    within = staticmethod(within)
    each = staticmethod(each)
    element = staticmethod(element)
    masked_select = staticmethod(masked_select)
    nonzero = staticmethod(nonzero)
    position = staticmethod(position)
    sized = staticmethod(sized)
    subscript = staticmethod(subscript)
    where = staticmethod(where)
    method = staticmethod(method)
    function = staticmethod(function)
    attribute = staticmethod(attribute)
    target = staticmethod(target)
    into = staticmethod(into)
    imports = staticmethod(imports)
    iterated = staticmethod(iterated)


def _functions() -> list[FunctionType]:
    """Of this file, and of those beside it that it is made of."""
    modules = [module for name, module in sys.modules.copy().items() if name.startswith(__name__)]
    made = [(module.__name__, each) for module in modules for each in list(vars(module).values())]
    return [each for name, each in made if isinstance(each, FunctionType) and each.__module__ == name]


# Where a frame runs in eager because Dynamo has skipped it, these run in eager too, and so does what they call: in a
# frame of its own it would take itself for a part of the user's graph.
for _function in _functions():
    for _code in (_function.__code__, *_function.__code__.co_consts):
        if isinstance(_code, CodeType):
            skip_code(_code)
