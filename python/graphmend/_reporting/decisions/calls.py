"""Decisions about what is called: opaque functions, contexts, generators, kernels, collectives."""

from graphmend._reporting.changes import grid_of_one, limited, wait_at_once
from graphmend._reporting.changes_outside import around_call, outside
from graphmend._reporting.changes_returned import made_by_caller
from graphmend._reporting.changes_values import by_grid, context_in_place, fill_object
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import call, call_of_function, is_call, keyword, loop, method, outer_call, started_kernel

_OPAQUE = (
    "if it only talks to the outside, declare it by `graphmend.effect` or the setting `effects`; if it computes on "
    "tensors, wrap it by `torch.library.custom_op`; else call it before or after the compiled part, and pass in what "
    "it gives"
)

DECISIONS = (
    Decision(
        "GB0055",
        "Failed to convert args/kwargs to proxy",
        "which tensors and numbers of the object that {it} passes the operator needs",
        "pass those in place of the object, for `...`; an operator takes tensors, numbers, and lists of them",
        outer_call,
        fill_object,
    ),
    Decision(
        "GB0142",
        "Unsupported context manager",
        "whether {it} has to be entered in the compiled part",
        "put the `with` around the call of the compiled part, or make the context manager by `contextlib` in Python, "
        "so that it can be traced",
        lambda spot: spot.only(lambda node: node.kind == "With" and node.line == spot.line),
        around_call,
    ),
    Decision(
        "GB0147",
        "Unsupported function call",
        "what the object that {it} calls is for: to compute, or to talk to the outside",
        _OPAQUE,
        call_of_function,
        outside,
    ),
    Decision(
        "GB0148",
        "Unsupported function call (delayed)",
        "whether {it} has to be called in the compiled part, although tracing it would change what it does",
        _OPAQUE,
        call_of_function,
        outside,
    ),
    Decision(
        "GB0172",
        "async_op=True for distributed collectives",
        "whether anything is to run between {it} and its `wait`",
        "leave `async_op=True` and the `wait` away: in a graph the compiler places the wait itself",
        lambda spot: spot.only(lambda node: is_call(node) and keyword(node, "async_op") is not None),
        wait_at_once,
    ),
    Decision(
        "GB0177",
        "can't handle functions not implemented in python ",
        "whether the method of C behind {it} has to be called in the compiled part",
        _OPAQUE,
        method(),
        outside,
    ),
    Decision(
        "GB0216",
        "unsupported grid type for triton hop check_grid",
        "how many programs of the kernel {it} starts along each axis",
        "give the grid as a tuple, or as a function that returns one",
        started_kernel,
        grid_of_one,
    ),
    Decision(
        "GB0279",
        "torch.fx.traceback.annotate escaped from compiled region",
        "which operations the note in {it} is for",
        "enter `annotate` in a `with` around them, with nothing that breaks inside, and do not keep it",
        call("annotate"),
        context_in_place,
    ),
    Decision(
        "GB0361",
        "triton kernel unsupported feature",
        "whether the kernel has to be started the way {it} does",
        "start it as `kernel[grid](arguments)` without hooks and other options, or wrap the start by "
        "`torch.library.triton_op`",
        call(),
        by_grid,
    ),
    Decision(
        "GB2533",
        "reconstructing @contextmanager object",
        "where the context of {it} is to be entered: inside of the compiled part, or by its caller",
        "enter it by `with` inside, or return what it is made of, and make it outside",
        call(),
        made_by_caller,
    ),
    Decision(
        "GB2549",
        "infinite generator detected",
        "how many values {it} takes from a generator that does not end",
        "take a number of them that is known, by `itertools.islice`, and write the number for `...`",
        loop,
        limited,
    ),
)
