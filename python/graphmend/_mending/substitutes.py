"""Which calls are traced as others: for each of Dynamo's types of breaks, the names to look for at its line.

A name alone stands for calls of it, as a function or as a method; `.name` is an attribute, `.name =` an assignment to
one, `out= name` a call with such an output, `resized=` any whose output was just made, `raise name` an exception,
`with name` something that is entered, `import` a module that may be missing. What is traced in their stead is in
`marks_substitute`, which looks at the operands and makes the very call that stood there if they do not fit.
"""

from collections.abc import Iterable

# Elementwise functions whose results are exact, so that it does not matter how the output lies in memory.
EXACT = tuple(
    (
        "add sub mul div neg abs sqrt maximum minimum floor ceil round trunc clamp eq ne lt le gt ge "
        "logical_and logical_or logical_not logical_xor"
    ).split()
)
CHECKS = ("_check", "_check_index", "_check_value", "_check_type", "_check_not_implemented")

_NAMES: dict[str, tuple[str, ...]] = {
    "Attempted to a str() method implemented in C/C++": ("str",),
    "Attempted to call function marked as skipped": ("import_module",),
    "Attempted to call op with non-contiguous `out=` list of tensors": ("out= max", "out= min"),
    "Attempted to call op with non-contiguous `out=` tensor": tuple(f"out= {name}" for name in EXACT),
    "Attempted to call torch in-graph function on only torch.SymInt arguments": ("add", "sub", "mul", "div", "sqrt"),
    "Attempted to copy.deepcopy a tensor": ("deepcopy",),
    "Can't convert torch._check*() message closure": CHECKS,
    "Can't extract message from torch._check*()": CHECKS,
    "Failed to mutate tensor data attribute": (".data =",),
    "HOP: Non-nullified side effect": ("checkpoint",),
    "HOP: Unsafe side effect": ("checkpoint",),
    "Import failure": ("import",),
    "Shape mismatch with out= list of tensor variants": ("resized=",),
    "Shape mismatch with out= tensor variant": ("resized=",),
    "Tensor.random_ op": ("random_",),
    "Tensor.uniform_ op called with `from` keyword": ("uniform_",),
    "Unexpected failure during itertools.groupby() iteration": ("groupby",),
    "Unsupported Tensor.resize_() call": ("resize_",),
    "Unsupported Tensor.resize_as_() call": ("resize_as_",),
    "Unsupported arguments for itertools.groupby": ("groupby",),
    "Unsupported hasattr call": ("hasattr",),
    "Unsupported key type for itertools.groupby": ("groupby",),
    "Unsupported ndarray attribute access": (".dtype",),
    "Unsupported ndarray method call": ("tobytes",),
    "assert with non-string message": ("raise AssertionError",),
    "attempted to trace numpy function unsupported by PyTorch": ("isin",),
    "attempted to trace numpy.* function as a method": ("reduce", "outer"),
    "autograd.Function.apply: duplicate tensor input": ("apply",),
    "namedtuple construction": ("namedtuple",),
    "setattr() on Tensor.requires_grad": (".requires_grad =",),
    "sort with non-constant keys": ("sorted", "sort"),
    "torch.* op returned non-Tensor": ("show",),
    "torch.compile call with > 1 args": ("compile",),
    "unsupported contextlib.* API": ("with closing",),
}

# Types that Dynamo reports where it has followed the call, in files that are not the user's.
_INSIDE = ("Attempted to copy.deepcopy a tensor", "HOP: Unsafe side effect", "torch.* op returned non-Tensor")


_COMMON = ("Attempted to call torch in-graph function on only torch.SymInt arguments",)


def names_for(gb_type: str) -> Iterable[str]:
    return _NAMES.get(gb_type, ())


def is_inside(gb_type: str) -> bool:
    """Whether the call to be substituted is one that leads to the place of the break."""
    return gb_type in _INSIDE


def all_names() -> set[str]:
    """For where it is not known what breaks: without those that are too common to be looked at everywhere."""
    return {name for gb_type, names in _NAMES.items() if gb_type not in _COMMON for name in names}
