"""Decisions about what is compiled at all: marks, settings, limits, and what the program asks of Dynamo itself."""

from graphmend._reporting.changes import only_in_eager, remove_statement, setting
from graphmend._reporting.changes_elsewhere import listed, raise_limit, remove_disable
from graphmend._reporting.changes_outside import around_call, first_of, passed_in
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import asynchronous, call, call_of_function, definition

DECISIONS = (
    Decision(
        "GB0003",
        "Attempt to trace generator",
        "whether the values are needed one by one, or may all be computed before the first is used",
        "a generator is not compiled itself: compile a function that makes a list of it, or the function that does one "
        "step",
        definition,
        listed,
    ),
    Decision(
        "GB0025",
        "Call to `torch._dynamo.graph_break()`",
        "whether the graph is to end at {it}",
        "remove the call if the break was for a bug that is gone, or for debugging",
        call("graph_break"),
        remove_statement,
    ),
    Decision(
        "GB0030",
        "ComptimeContext graph break",
        "whether the graph is to end where {it} runs while the code is traced",
        "remove the call of `graph_break`; the rest of what you do at compile time can stay",
        call("graph_break"),
        remove_statement,
    ),
    Decision(
        "GB0039",
        "Dynamo recompile limit exceeded",
        "whether what changes from call to call deserves a graph for each of its values",
        "if it does, raise the limit; if it does not, keep a counter in a tensor, and mark a size that changes by "
        "`torch._dynamo.mark_dynamic`; `TORCH_LOGS=recompiles` names what changes",
        change=raise_limit,
    ),
    Decision(
        "GB0045",
        "Encountered tensor.is_inference() during tracing",
        "whether compiled code has to tell tensors of inference mode from others, as {it} does",
        "ask before the compiled part and pass the answer in, or let compiled code go the way of ordinary tensors",
        call("is_inference"),
        only_in_eager,
    ),
    Decision(
        "GB0046",
        "Encountered torch.is_inference_mode_enabled during tracing",
        "whether compiled code has to do something else in inference mode, as {it} asks",
        "ask before the compiled part and pass the answer in, or let compiled code go the way outside of that mode",
        call("is_inference_mode_enabled"),
        only_in_eager,
    ),
    Decision(
        "GB0082",
        "Missing bytecode handler",
        "whether the statement in {it} has to be in the compiled part",
        "Dynamo has no rule for this kind of statement (`async`, `await` and the like): await before or after, and "
        "compile the plain function that computes",
        asynchronous,
        first_of(around_call, passed_in),
    ),
    Decision(
        "GB0098",
        "Skip calling `torch.compiler.disable()`d function",
        "whether the function that {it} calls, and all that it calls, is to be compiled",
        "remove the mark `torch.compiler.disable` if the reason for it is gone, or call the function before or after "
        "the compiled part",
        call_of_function,
        remove_disable,
    ),
    Decision(
        "GB0099",
        "Skip inlining `torch.compiler.disable()`d function",
        "whether the body of the function that {it} calls is to be part of the graph",
        "remove the mark `torch.compiler.disable` if the reason for it is gone, or call the function before or after "
        "the compiled part",
        call_of_function,
        remove_disable,
    ),
    Decision(
        "GB4297",
        "Call to `torch._dynamo.skip_frame()`",
        "whether the function around {it} is to be compiled",
        "remove the call to have it compiled; a function that is never to be compiled is told so at its head, by "
        "`@torch.compiler.disable`",
        call("skip_frame"),
        remove_statement,
    ),
    Decision(
        "GB4636",
        "Call to `torch._dynamo.step_unsupported()`",
        "whether the rest of the function behind {it} is to be compiled",
        "remove the call; it gives up the rest of the function",
        call("step_unsupported"),
        remove_statement,
        also=("cannot resume from torch._dynamo.step_unsupported()",),
    ),
    Decision(
        "GB0083",
        "Module-level backwards hooks require compiled autograd.",
        "whether the backward pass is compiled too, which a module's backward hook needs",
        "let Dynamo compile the backward pass, or remove the module's backward hook; a hook on a tensor "
        "(`Tensor.register_hook`) is traced without",
        change=setting("compiled_autograd", "True"),
    ),
    Decision(
        "GB0043",
        "Encountered non-PT2-compliant op",
        "whether the operator that {it} calls is safe to compile although nobody has tested it so",
        "test it by `torch.library.opcheck` and define it with `tags=torch.Tag.pt2_compliant_tag`, or allow operators "
        "without the tag",
        change=setting("only_allow_pt2_compliant_ops", "False"),
    ),
)
