"""Which calls are traced as others: for each of Dynamo's types of breaks, the names to look for at its line.

A name alone stands for calls of it, as a function or as a method; `.name` is an attribute, `.name =` an assignment of
a constant to one, `.name = value` of anything, `with name` something that is entered, `out=` a call with that keyword,
`import` an import whose failure is dealt with, `for` what is gone through. What is traced in their stead is in
`marks_substitute`, which looks at the operands and makes the very call that stood there if they do not fit.
"""

from collections.abc import Iterable

CHECKS = ("_check", "_check_index", "_check_value", "_check_type", "_check_not_implemented")
RESHAPES = ("squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_")

NAMES: dict[str, tuple[str, ...]] = {
    "Attempted to a str() method implemented in C/C++": ("str",),
    "Attempted to call function marked as skipped": ("random", "mark_static_address"),
    "Attempted to call op with non-contiguous `out=` list of tensors": ("out=",),
    "Attempted to call op with non-contiguous `out=` tensor": ("out=",),
    "Attempted to call torch in-graph function on only torch.SymInt arguments": ("add", "sub", "mul", "div", "sqrt"),
    "Attempted to copy.deepcopy a tensor": ("deepcopy",),
    "Attempted to wrap a set with tensors": ("for",),
    "Can't convert torch._check*() message closure": CHECKS,
    "Can't extract message from torch._check*()": CHECKS,
    "Failed to mutate tensor data attribute": (".data = value",),
    "HOP: Non-nullified side effect": ("checkpoint",),
    "HOP: Unsafe side effect": ("checkpoint",),
    "Import failure": ("import",),
    "Inplace op on input tensor": RESHAPES,
    "Reconstruction failure": ("iter",),
    "Shape mismatch with out= list of tensor variants": ("out=",),
    "Shape mismatch with out= tensor variant": ("out=",),
    "Tensor.random_ op": ("random_",),
    "Tensor.uniform_ op called with `from` keyword": ("uniform_",),
    "Unexpected failure during itertools.groupby() iteration": ("groupby",),
    "Unsupported Tensor.resize_() call": ("resize_",),
    "Unsupported Tensor.resize_as_() call": ("resize_as_",),
    "Unsupported arguments for itertools.groupby": ("groupby",),
    "Unsupported function call (delayed)": RESHAPES,
    "Unsupported hasattr call": ("hasattr",),
    "Unsupported key type for itertools.groupby": ("groupby",),
    "Unsupported ndarray attribute access": (".dtype",),
    "Unsupported ndarray method call": ("tobytes",),
    "assert with non-string message": ("AssertionError",),
    "attempted to trace numpy function unsupported by PyTorch": ("isin",),
    "attempted to trace numpy.* function as a method": ("reduce",),
    "call_method on generator": ("close",),
    "getattr() on nn.Module with pending mutation": ("parameters", "named_parameters", "buffers", "named_buffers"),
    "logging.Logger method not supported for non-export cases": ("isEnabledFor", "getEffectiveLevel"),
    "missing tp_iter": ("for",),
    "namedtuple construction": ("namedtuple",),
    "setattr() on Tensor.requires_grad": (".requires_grad =",),
    "sort with non-constant keys": ("sorted", "sort"),
    "torch.* op returned non-Tensor": ("show",),
    "torch.compile call with > 1 args": ("compile",),
    "unsupported contextlib.* API": ("with closing",),
}

# Types that Dynamo reports where it has followed the call, in files that are not the user's.
_INSIDE = (
    "Attempted to copy.deepcopy a tensor",
    "HOP: Unsafe side effect",
    "logging.Logger method not supported for non-export cases",
    "torch.* op returned non-Tensor",
)


def names_for(gb_type: str) -> Iterable[str]:
    return NAMES.get(gb_type, ())


def is_inside(gb_type: str) -> bool:
    """Whether the call to be substituted is one that leads to the place of the break."""
    return gb_type in _INSIDE
