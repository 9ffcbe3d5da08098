"""What mended code calls, under the name `__graphmend__`.

In eager, `tracing()` is False and the user's own text runs, untouched. While Dynamo traces for one of our backends,
these functions are traced too: they put markers into the graph (see `lift`), or return False to say that the
statement must run as it stands, and so break the graph as it always did.
"""

from graphmend._mending.marks_post import (
    allclose,
    both,
    check,
    checks,
    compared,
    either,
    equal,
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
from graphmend._mending.marks_select import join, selects
from graphmend._mending.marks_substitute import attribute, function, imports, into, iterated, method, target
from graphmend._mending.marks_value import bounds, index, masked_select, nonzero, subscript, truth_of, value, where
from graphmend._torch.frames import skip_code


class Marks:
    """The namespace that mended code sees; a class, because Dynamo takes only callables from builtins."""

    tracing = staticmethod(tracing)
    checks = staticmethod(checks)
    posts = staticmethod(posts)
    post = staticmethod(post)
    talker = staticmethod(talker)
    check = staticmethod(check)
    middle = staticmethod(middle)
    number = staticmethod(number)
    real = staticmethod(real)
    compared = staticmethod(compared)
    truth = staticmethod(truth)
    equal = staticmethod(equal)
    allclose = staticmethod(allclose)
    negate = staticmethod(negate)
    either = staticmethod(either)
    both = staticmethod(both)
    selects = staticmethod(selects)
    join = staticmethod(join)
    value = staticmethod(value)
    truth_of = staticmethod(truth_of)
    index = staticmethod(index)
    bounds = staticmethod(bounds)
    masked_select = staticmethod(masked_select)
    nonzero = staticmethod(nonzero)
    subscript = staticmethod(subscript)
    where = staticmethod(where)
    method = staticmethod(method)
    function = staticmethod(function)
    attribute = staticmethod(attribute)
    target = staticmethod(target)
    into = staticmethod(into)
    imports = staticmethod(imports)
    iterated = staticmethod(iterated)


# Where a frame runs in eager because Dynamo has skipped it, these run in eager too: they are never frames of their own.
for _mark in vars(Marks).values():
    if isinstance(_mark, staticmethod):
        skip_code(_mark.__func__.__code__)
