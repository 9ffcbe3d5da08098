"""Where plain torch.compile 2.13 itself differs from eager. A mended program may do there what either of them does.

Each entry has a name, the reason, and a test that is as narrow as the reason allows (in the known_by files). judge.py
sees to it that plain torch.compile really gives the same value in the same place; but for entries that say `anywhere`,
or `shows_breaks` where breaks are left: those hang on what is in one graph, and plain has it in several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .compare import Difference
from .known_by_backends import (
    copied_input,
    copied_output,
    default_dtype,
    drawn_otherwise,
    functional_backward,
    hook_without_gradient,
    infinite_derivative,
    kept_and_changed,
    layout,
    layout_numbers,
    shared_inputs,
    uncached_cast,
    zero_gradient,
)
from .known_by_breaks import (
    compiled_caller,
    drawn_number,
    history,
    missing_attribute,
    raised_in_graph,
    resumed_frames,
    resumed_function,
    resumed_in_loop,
    resumed_stacklevel,
    scalar_array,
    shown_join,
    shown_views,
    unformatted_float,
    unguarded_default,
    warm_line,
    warned_again,
)
from .known_by_failing import (
    assert_message,
    captured_assert,
    exception_table,
    fails_on_float,
    from_call,
    hooked_view,
    iterated_views,
    lost_number,
    raised_class,
    traced_backward,
    traced_error,
    traced_text,
)
from .known_program import Program


@dataclass(frozen=True)
class Known:
    """One way in which Dynamo differs from eager."""

    name: str
    reason: str
    matches: Callable[[Difference, Program], bool]
    # It is how a graph break shows, so that it depends on where the breaks that are left are.
    shows_breaks: bool = False
    # It needs not be in the same place where plain torch.compile has it.
    anywhere: bool = False


KNOWN = [
    Known(
        "compiled-caller",
        "between a compiled function and its caller stand functions of torch, at which a stacklevel can point",
        compiled_caller,
        anywhere=True,
    ),
    Known(
        "history",
        "a tensor that is shown says grad_fn=<CompiledFunctionBackward> when it comes out of a graph that AOTAutograd"
        " compiled; <CopyBackwards> when it is an input that was changed in place and the changes were committed;"
        " <WhereBackward0> when a call before stored it and made it on two sides of a branch; <ApplyTemplateBackward>"
        " when a torch.autograd.Function made it, and before torch 2.12 when it got a hook",
        history,
        anywhere=True,
    ),
    Known(
        "shown-views",
        "a view of an input that the graph changes is a view of its copy, where an effect shows both: they share no"
        " memory",
        shown_views,
        anywhere=True,
    ),
    Known(
        "shown-join",
        "what comes of a joined branch is made in inference mode, where eager may pass on a tensor that was made"
        " outside of it",
        shown_join,
        anywhere=True,
    ),
    Known(
        "scalar-array",
        "one element of an array is a number of numpy's; in a graph it is an array without a dimension",
        scalar_array,
        anywhere=True,
    ),
    Known(
        "warned-again",
        "compiling changes the filters of warnings for a while, and Python then forgets which places have warned: with"
        " the filter `default`, a call after a compilation warns again",
        warned_again,
        anywhere=True,
    ),
    Known(
        "resume-frames",
        "after a graph break the rest of the function runs in functions named torch_dynamo_resume_in_…, and the frames"
        " that lead there have no columns",
        resumed_frames,
        shows_breaks=True,
    ),
    Known(
        "resume-function-name",
        "a log record made after a graph break has the resume function's name in funcName",
        resumed_function,
        shows_breaks=True,
    ),
    Known(
        "resume-stacklevel",
        "a resume function is called by the function it continues, so that stacklevel=2 points into the program again",
        resumed_stacklevel,
        shows_breaks=True,
    ),
    Known(
        "warm-line",
        "on Python 3.11, code that Dynamo made for a break gives from its eighth run on the first line of its function,"
        " or the line behind which it goes on, as the place of what it calls",
        warm_line,
        shows_breaks=True,
    ),
    Known(
        "resume-line",
        "a log record made in a loop that goes on behind a graph break has the line at which the loop was resumed",
        resumed_in_loop,
        shows_breaks=True,
    ),
    Known(
        "graph-frames",
        "what an operation of a graph raises comes from the first line of the function whose graph it is",
        raised_in_graph,
    ),
    Known(
        "captured-assert",
        "`assert` on a tensor is captured as an operation: it raises RuntimeError, from where the graph was called",
        from_call(captured_assert),
    ),
    Known(
        "formatted-float",
        "a float from `.item()` that changes between calls becomes symbolic, and formatting it in an f-string fails"
        " inside Dynamo; how, depends on where the breaks are",
        from_call(fails_on_float),
        shows_breaks=True,
    ),
    Known(
        "lost-number",
        "a number that may change is handed over at a break as a tensor that is not there",
        from_call(lost_number),
    ),
    Known(
        "exception-table",
        "Dynamo fails to make what comes after a break in front of some forms of nested `try`",
        from_call(exception_table),
    ),
    Known(
        "unformatted-float",
        "an f-string that is one field with such a float and a nested format is rebuilt as the float itself, wherever a"
        " break comes between the float and its use",
        unformatted_float,
        anywhere=True,
    ),
    Known(
        "unguarded-default",
        "before torch 2.13, `dict.setdefault` of a key that was not there when it was traced is replayed when it is",
        unguarded_default,
        anywhere=True,
    ),
    Known(
        "drawn-number",
        "a number that `random` draws is a float64 tensor in Dynamo's graph, and gives its type to what is computed of"
        " it and a tensor without dimensions",
        drawn_number,
    ),
    Known(
        "missing-attribute",
        "a method that an object other than a tensor does not have is looked up after a graph, and before the program's"
        " own changes of objects are written back",
        missing_attribute,
        anywhere=True,
    ),
    Known(
        "iterated-views",
        "a tensor is iterated over by `unbind`, whose views forbid that it is changed in place meanwhile; Dynamo takes"
        " the rows one by one, and lets it happen",
        from_call(iterated_views),
        anywhere=True,
    ),
    Known(
        "hooked-view",
        "before torch 2.13, a tensor that gets a hook inside of a graph leaves it as a view of a custom Function, and"
        " refuses to be changed in place",
        from_call(hooked_view),
        anywhere=True,
    ),
    Known(
        "assert-message",
        "an assert on a tensor whose message is a constant but no string becomes an operator that takes only strings",
        from_call(assert_message),
    ),
    Known(
        "traced-error",
        "an operation that raises is found while tracing with fake tensors, and arrives as TorchRuntimeError",
        from_call(traced_error),
        shows_breaks=True,
    ),
    Known(
        "traced-text",
        "before torch 2.13, a text that is put together from another and a number that may change fails while tracing",
        from_call(traced_text),
    ),
    Known(
        "traced-backward",
        "AOTAutograd traces a graph's backward when it compiles it, and fails where eager raises only when `backward`"
        " is called; what came before it depends on where the breaks are",
        from_call(traced_backward),
        shows_breaks=True,
    ),
    Known(
        "functional-backward",
        "in a graph that AOTAutograd compiled, what backward needs is kept as it was before it was changed in place;"
        " eager's backward raises then, and this one goes through",
        functional_backward,
        anywhere=True,
    ),
    Known(
        "hook-without-gradient",
        "a graph that AOTAutograd compiled is one function of autograd's, which calls the hooks of all its inputs and"
        " outputs: with None for one that takes no part in the loss. A break ahead of `register_hook` makes such an"
        " output, and none behind it such an input",
        hook_without_gradient,
        anywhere=True,
    ),
    Known(
        "copied-output",
        "a dropout that is off gives its input back; in a graph that AOTAutograd compiled it gives a copy",
        copied_output,
        anywhere=True,
    ),
    Known(
        "copied-input",
        "the same, where the copy is changed later and not the input",
        copied_input,
    ),
    Known(
        "zero-gradient",
        "a graph that AOTAutograd compiled has one backward for all its outputs: an input on which only those depend"
        " that take no part in it gets a gradient of zeros, where eager leaves None. Which outputs share a backward"
        " hangs on where the breaks are",
        zero_gradient,
        anywhere=True,
    ),
    Known(
        "infinite-derivative",
        "the same, where a derivative on the way is infinite: zero times that is NaN",
        infinite_derivative,
        anywhere=True,
    ),
    Known(
        "kept-and-changed",
        "the same: what only the derivatives of such outputs need is asked for as well, and may have been changed in"
        " place behind a break that stays. Backward raises then, in plain `torch.compile` too where it has them in one"
        " graph, and eager's does not",
        kept_and_changed,
        shows_breaks=True,
    ),
    Known(
        "shared-inputs",
        "AOTAutograd compiles for inputs that share their memory, one of which the graph changes; nothing guards that,"
        " and the graph is taken for inputs that do not",
        shared_inputs,
        anywhere=True,
    ),
    Known(
        "layout",
        "in a graph that AOTAutograd compiled, results are laid out as its decompositions have it, which hangs on all"
        " that is in the graph: the strides of a result, and of what is shown, may be others",
        layout,
        anywhere=True,
    ),
    Known(
        "layout-numbers",
        "the same, where a function is computed in vectors and their rest by other instructions, or a matrix that lies"
        " otherwise is multiplied: last digits differ",
        layout_numbers,
        anywhere=True,
    ),
    Known(
        "default-dtype",
        "`torch.set_default_dtype` inside of a graph is lost when AOTAutograd traces it; what is made under it has the"
        " dtype outside of the graph when that runs",
        default_dtype,
        anywhere=True,
    ),
    Known(
        "uncached-cast",
        "autocast casts a parameter once for all its uses, and their gradients are added in bfloat16; AOTAutograd"
        " traces without that cache, and they are added in float32",
        uncached_cast,
    ),
    Known(
        "drawn-otherwise",
        "Inductor compares numbers of float32 for `torch.bernoulli`, also where eager draws numbers of float64",
        drawn_otherwise,
    ),
    Known(
        "raised-class",
        "`raise SomeError` with a class and not an instance can fail inside Dynamo",
        from_call(raised_class),
    ),
    Known(
        "unmended",
        "where nothing is mended, plain torch.compile has the program as it is, with what it gets wrong",
        lambda difference, program: not program.is_mended,
    ),
]


class Explained:
    """The entries, applied to the differences of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def entries(self, difference: Difference) -> list[Known]:
        """The entries that may explain a difference."""
        return [known for known in KNOWN if known.matches(difference, self._program)]
