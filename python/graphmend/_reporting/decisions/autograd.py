"""Decisions about gradients: leaves, hooks, graphs that are used twice, and functions with a backward of their own."""

from graphmend._reporting.changes import (
    drop_keyword,
    is_leaf,
    remove_statement,
    set_keyword,
    setting,
    strip_method,
    unwrap_call,
    without_handle,
)
from graphmend._reporting.changes_classes import forward_as_function
from graphmend._reporting.changes_elsewhere import (
    detach_input,
    mark_static,
    name_backward,
    remove_jvp,
    retain_first_graph,
)
from graphmend._reporting.changes_gradients import by_apply, contiguous_hook, new_tensor, tensor_of_edge
from graphmend._reporting.changes_outside import after_backward, closure_before, first_of, passed_in
from graphmend._reporting.changes_values import context_in_place
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import attribute, call, in_function, is_method_call, keyword, method, of_kind
from graphmend._tree import Node

_HANDLE = (
    "drop the handle if nobody removes the hook; else register the hook before the compiled part, on a tensor that "
    "stays, and keep the handle there"
)
_PARAMETER = (
    "make it in `__init__` if it is to be trained; if it is only a value, leave the wrapper away (and add "
    "`.requires_grad_()` where its gradient is read)"
)
_LEAF = (
    "leave `requires_grad_` away if no gradient is read, or return `.detach()` of it; else call `requires_grad_` on "
    "what the compiled part takes"
)


def _wants_grad(node: Node) -> bool:
    there = keyword(node, "requires_grad") if node.kind == "Call" else None
    return there is not None and there.text.replace(" ", "") == "requires_grad=True"


DECISIONS = (
    Decision(
        "GB0013",
        "Attempted to represent unregistered RemovableHandle",
        "whether the hook whose handle {it} uses has to go in the compiled part",
        "register and remove a hook in the same function, or remove it before or after the compiled part",
        lambda spot: spot.only(lambda node: is_method_call(node, "remove") and len(node.children) == 1),
        remove_statement,
    ),
    Decision(
        "GB0085",
        "Non-function or method in subclass of torch.autograd.Function",
        "what plain function the forward pass of {it} is",
        "write `forward` as a function with `def`, and let it call what it is made of (a `partial`, an object)",
        call("apply"),
        forward_as_function,
        also=("autograd.Function.apply: non-function or method forward",),
    ),
    Decision(
        "GB0100",
        "Storing Tensor hook handle in globals",
        "whether anybody removes the hook by the handle that {it} keeps in a global",
        _HANDLE,
        of_kind("Assign"),
        without_handle,
    ),
    Decision(
        "GB0101",
        "Storing Tensor hook handle in globals (inline call)",
        "whether anybody removes the hook by the handle that {it} keeps in a global of another module",
        _HANDLE,
        of_kind("Assign"),
        without_handle,
    ),
    Decision(
        "GB0104",
        "Tensor with grad_fn()",
        "whether {it} needs the node of autograd, or only whether there is one",
        "`is_leaf` says whether there is one; the node itself is read after the compiled part",
        attribute("grad_fn"),
        is_leaf,
    ),
    Decision(
        "GB0108",
        "Tensor.retain_grad() with AOTDispatcher",
        "whether the gradient that {it} keeps is read by anybody",
        "remove it if nobody reads that `.grad`; else return the tensor, and call `retain_grad` on it outside",
        call("retain_grad"),
        strip_method,
    ),
    Decision(
        "GB0138",
        "Unsupported autograd.Function context `save_for_backward`",
        "whether {it} has to save on a context that `apply` did not make",
        "call the function by `apply`, which makes the context, and not its `forward` with a context of your own",
        method("save_for_backward"),
        by_apply,
    ),
    Decision(
        "GB0139",
        "Unsupported autograd.Function context method",
        "whether the backward pass needs what {it} asks of the context",
        "remove it if it does not; else keep to `save_for_backward`, `mark_dirty`, `mark_non_differentiable` and "
        "attributes of `ctx`",
        method(),
        remove_statement,
    ),
    Decision(
        "GB0140",
        "Unsupported autograd.Function method",
        "whether the method that {it} calls belongs to the class or to an object of it",
        "mark it by `@staticmethod` or `@classmethod`, as nothing makes an object of the class",
        call(),
        mark_static,
    ),
    Decision(
        "GB0144",
        "Unsupported custom jvp",
        "whether derivatives in forward mode are taken of {it}",
        "remove `jvp` if only `backward` is used; else keep this call outside of the compiled part",
        call("apply"),
        remove_jvp,
    ),
    Decision(
        "GB0145",
        "Unsupported custom vjp",
        "whether the derivative of {it} has to be called `vjp`",
        "name it `backward`, which means the same and is traced",
        call("apply"),
        name_backward,
    ),
    Decision(
        "GB0165",
        "Unsupported torch._C._ImperativeEngine method",
        "whether the compiled part needs {it} of autograd's engine",
        "ask the engine outside of the compiled part, or in a hook; inside, only `queue_callback` is known",
        method(),
        first_of(remove_statement, passed_in),
    ),
    Decision(
        "GB0166",
        "Unsupported torch._C._ImperativeEngine.queue_callback()",
        "when what {it} queues is to run: after the backward pass, or after this call",
        "call it after `backward` in plain Python; to keep the queue, compile the backward pass as well "
        "(`torch._dynamo.config.compiled_autograd`) with `fullgraph=True`",
        method("queue_callback"),
        after_backward,
    ),
    Decision(
        "GB0209",
        "torch.autograd._unsafe_preserve_version_counter escaped from compiled region",
        "how far the tensor's version is to be kept in {it}",
        "make it in the `with` that uses it, with nothing that breaks inside, and do not return it",
        call("_unsafe_preserve_version_counter"),
        context_in_place,
    ),
    Decision(
        "GB0225",
        "Attempted to use tensor creation function with requires_grad=True",
        "whether the gradient of the tensor that {it} makes is read by anybody",
        "leave `requires_grad=True` away if not; else make the tensor before the compiled part and pass it in",
        lambda spot: spot.only(_wants_grad),
        drop_keyword("requires_grad"),
    ),
    Decision(
        "GB0227",
        "Attempted to use torch.nn.Parameter constructor with tensor subclass",
        "whether the subclass's tensor in {it} is a parameter to train, or only a value",
        _PARAMETER,
        call("Parameter"),
        unwrap_call,
    ),
    Decision(
        "GB0228",
        "`torch.nn.Parameter`: cannot convert to traceable tracable",
        "whether {it} is a parameter to train, although the part around it forbids to make one",
        _PARAMETER,
        call("Parameter"),
        unwrap_call,
    ),
    Decision(
        "GB0235",
        "`torch.nn.Parameter` with non-constant Tensor attributes",
        "what size the parameter of {it} has, whatever the input's size is",
        _PARAMETER,
        call("Parameter"),
        unwrap_call,
    ),
    Decision(
        "GB0244",
        "Attempted to use `torch.nn.Parameter()` with export",
        "whether {it} is a weight of the exported program, or a value that it computes",
        _PARAMETER,
        call("Parameter"),
        unwrap_call,
    ),
    Decision(
        "GB0264",
        "Attempted to use `torch.nn.Parameter()` constructor with Dynamo",
        "whether {it} is a parameter to train, or only a value",
        _PARAMETER,
        call("Parameter"),
        unwrap_call,
    ),
    Decision(
        "GB0358",
        "optimizer: pending mutation on parameter",
        "whether a parameter has to change in the same graph before {it}",
        "run what changes it (a closure, an in-place write) before, and compile the step of the optimizer by itself",
        method("step"),
        closure_before,
    ),
    Decision(
        "GB0372",
        "autograd.grad with external grad_fn",
        "whether the gradient of {it} is to flow on to what was computed before the compiled part",
        "detach the input if it is not; else call `autograd.grad` outside of the compiled part",
        call("grad"),
        detach_input,
    ),
    Decision(
        "GB0373",
        "autograd.grad with compiled autograd",
        "whether {it} or the whole backward pass is what is compiled",
        "switch compiled autograd off, or call `autograd.grad` outside of the compiled part",
        call("grad"),
        setting("compiled_autograd", "False"),
    ),
    Decision(
        "GB1381",
        "autograd.grad with already consumed grad_fn",
        "whether the same graph of autograd is gone through again by {it}",
        "keep it by `retain_graph=True` in the call before, or take all gradients in one call",
        call("grad"),
        retain_first_graph,
    ),
    Decision(
        "GB2019",
        "Unsupported autograd.Function context `mark_dirty`",
        "whether the input that {it} marks has to change in place, outside of `apply`",
        "call the function by `apply`, and not its `forward` with a context of your own; or leave the mark and the "
        "change in place away",
        method("mark_dirty"),
        first_of(by_apply, new_tensor),
    ),
    Decision(
        "GB2464",
        "autograd.Function.apply: mark_dirty input not returned",
        "whether {it} changes its input in place, or makes a new tensor",
        "return the input that `mark_dirty` names, or leave the mark and the change in place away",
        call("apply"),
        new_tensor,
    ),
    Decision(
        "GB4927",
        "autograd.grad consumed returned tensor's grad_fn",
        "whether somebody goes backward from a tensor whose graph {it} uses up, and that is returned",
        "keep the graph by `retain_graph=True` if so; else return `.detach()` of that tensor",
        call("grad"),
        set_keyword("retain_graph", "True"),
    ),
    Decision(
        "GB5748",
        "autograd.grad with external GradientEdge",
        "whether {it} has to start or end at an edge from outside of the compiled part",
        "pass the tensors themselves in, or call `autograd.grad` outside of the compiled part",
        call("grad"),
        tensor_of_edge,
    ),
    Decision(
        "GB7324",
        "returning intermediate with requires_grad_()",
        "whether somebody goes backward from what is returned to the leaf that {it} makes inside",
        _LEAF,
        in_function(method("requires_grad_"), lambda node: is_method_call(node, "requires_grad_")),
        strip_method,
    ),
    Decision(
        "GB7444",
        "register_hook with stride-dependent code",
        "whether the hook that {it} registers has to look at how the gradient lies in memory",
        "let the hook compute with values alone: `grad.contiguous()` in place of asking `is_contiguous()`",
        method("register_hook"),
        contiguous_hook,
    ),
    Decision(
        "GB8985",
        "requires_grad_() intermediate leaked as output",
        "whether somebody goes backward from what is returned to the leaf that {it} makes",
        _LEAF,
        method("requires_grad_"),
        strip_method,
    ),
)
