"""What is made, and looked at, on the level of Dynamo's own variables while it traces.

A tensor that the frame has made is known to Dynamo alone: its memory is that of the fake tensor which stands for it,
and whoever refers to it in the program refers to its one variable.
"""

import functools
import inspect
import operator
from types import MemberDescriptorType, ModuleType
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables import ConstantVariable, ExceptionVariable, SymNodeVariable, TensorVariable
from torch._dynamo.variables.misc import PythonModuleVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.graphs import storage_of
from graphmend._torch.tensors import is_copied_as_it_lies, memory_of
from graphmend._torch.tracing import is_ours, on_variables

# Older versions of torch have no way to bring a variable up to date.
_CAN_CHANGE = hasattr(TensorVariable, "synchronize_attributes")


@on_variables
def assertion_error(translator: Any, *args: Any) -> Any:
    """`AssertionError(*args)`. Dynamo's own rule for it wants text."""
    return ExceptionVariable(AssertionError, [arg.realize() for arg in args], {})


@on_variables
def was_read(translator: Any, value: Any) -> Any:
    """Whether a value is a number that was read from a tensor, or the truth of one, which the trace does not know."""
    number = value.realize()
    return ConstantVariable.create(isinstance(number, SymNodeVariable) and bool(free_unbacked_symbols(number.sym_num)))


@on_variables
def traced_module(translator: Any) -> Any:
    """The name of the module whose function is traced."""
    while is_ours(translator.f_code.co_filename):
        translator = translator.parent
    return ConstantVariable.create(translator.f_globals.get("__name__", "__main__"))


@on_variables
def is_module(translator: Any, owner: Any, module: Any) -> Any:
    """Whether it is this module; Dynamo has one variable for a module, and guards it only where it met it first."""
    known, wanted = owner.realize(), module.realize()
    found = isinstance(known, PythonModuleVariable) and known.value is wanted.value
    if found and owner.source is not None:
        install_guard(owner.source.make_guard(GuardBuilder.MODULE_MATCH))
    return ConstantVariable.create(found)


@on_variables
def reads_plainly(translator: Any, owner: Any, name: Any) -> Any:
    """Whether reading an attribute of an object or a module runs no code of its own."""
    kind = owner.realize().python_type()
    base = torch.nn.Module if issubclass(kind, torch.nn.Module) else object
    is_plain = all(getattr(kind, each, None) is getattr(base, each, None) for each in _READING)
    found = inspect.getattr_static(kind, name.as_python_constant(), None)
    computes = hasattr(type(found), "__get__") and type(found) is not MemberDescriptorType
    return ConstantVariable.create(kind is ModuleType or (is_plain and not computes))


_READING = ("__getattr__", "__getattribute__")


@on_variables
def may_be_written(translator: Any, tensor: Any, *others: Any) -> Any:
    """Whether a tensor may be written while the others are read, without a difference to one that was made for it.

    "yes", "no", or "ask" where it is known outside: then its memory has to be looked at before the graph counts.
    """
    memory = storage_of(_node(tensor))
    if memory is None or any(storage_of(_node(each)) == memory for each in others) or _overlaps(_example(tensor)):
        return ConstantVariable.create("no")
    return ConstantVariable.create(_known_outside(translator, memory))


@on_variables
def is_whole(translator: Any, tensor: Any) -> Any:
    """Whether a tensor has its memory to itself, all of it, and nothing else: "yes", "no", or "ask" of an input."""
    example = _example(tensor)
    tensor = tensor.realize()
    if example is None or example.is_conj() or example.is_neg() or _has_attributes(translator, tensor):
        return ConstantVariable.create("no")
    if _node(tensor).op == "placeholder":
        return ConstantVariable.create("ask")
    known = _known_outside(translator, memory_of(example))
    return ConstantVariable.create("yes" if known == "yes" and fills_memory(example) else "no")


def fills_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor's elements are its memory, without gaps."""
    size = tensor.numel() * tensor.element_size()
    return (
        tensor.storage_offset() == 0
        and tensor.untyped_storage().nbytes() == size
        and not _overlaps(tensor)
        and is_copied_as_it_lies(tensor)
    )


@on_variables
def give_memory(translator: Any, tensor: Any, new: Any) -> Any:
    """Makes a tensor of the frame's own, which nothing has used, another one, for all that refer to it; or False."""
    tensor = tensor.realize()
    example, node = _example(tensor), _node(tensor)
    is_own = example is not None and tensor.source is None and not node.users
    if not is_own or not _CAN_CHANGE or _has_attributes(translator, tensor):
        return ConstantVariable.create(False)
    # What changes it in place gives it back, as a variable of its own.
    others = (each for each in translator.output.graph.nodes if each is not node)
    if any(each.meta.get("example_value") is example or _is_of_inference(each.target) for each in others):
        return ConstantVariable.create(False)
    _become(translator, tensor, new)
    return ConstantVariable.create(True)


@on_variables
def is_input(translator: Any, tensor: Any) -> Any:
    """Whether a tensor is an input of the graph as it came, known by this one variable, and without attributes."""
    tensor = tensor.realize()
    example, node = _example(tensor), _node(tensor)
    is_one = _CAN_CHANGE and example is not None and tensor.source is not None and node.op == "placeholder"
    others = (each for each in translator.output.graph.nodes if each is not node)
    known = is_one and any(each.meta.get("example_value") is example for each in others)
    return ConstantVariable.create(is_one and not known and not _has_attributes(translator, tensor))


@on_variables
def see_input_as(translator: Any, tensor: Any, view: Any) -> Any:
    """From here on, an input is a view of itself, for all that refer to it; it stays the object that came."""
    _become(translator, tensor.realize(), view)
    return ConstantVariable.create(None)


def _is_of_inference(target: object) -> bool:
    """Whether inference mode begins or ends here: a tensor is of the mode that it was made in, not of its data's."""
    return target in (torch.autograd.grad_mode._enter_inference_mode, torch.autograd.grad_mode._exit_inference_mode)


def _become(translator: Any, tensor: Any, new: Any) -> None:
    """A variable stands for another tensor of the graph from here on, and for the same object of the program."""
    # Dynamo goes by the fake tensor, and would not find it any more where it is a key or in a set.
    before = _example(tensor)
    if not hasattr(tensor, "_graphmend_key"):
        tensor._graphmend_key = before
        tensor.hash_impl = functools.partial(_hash_of, before)
    tensor.proxy = new.realize().proxy
    tensor.synchronize_attributes(translator)


def _hash_of(tensor: torch.Tensor, translator: Any) -> tuple[int, bool]:
    return id(tensor), True


def _node(variable: Any) -> Any:
    variable = variable.realize()
    return variable.proxy.node if isinstance(variable, TensorVariable) else None


def _example(variable: Any) -> Any:
    node = _node(variable)
    value = None if node is None else node.meta.get("example_value")
    return value if isinstance(value, torch.Tensor) else None


def _known_outside(translator: Any, memory: int) -> str:
    """ "yes" where memory was made by the graph; of others, "ask" if it is an input's."""
    kinds = {node.op for node in translator.output.graph.nodes if storage_of(node) == memory}
    return "no" if "get_attr" in kinds else "ask" if "placeholder" in kinds else "yes"


def _has_attributes(translator: Any, variable: Any) -> bool:
    """Whether the frame has set attributes of an object."""
    changed = translator.output.side_effects.store_attr_mutations
    return any(each is variable and changed[each] for each in changed)


def _overlaps(tensor: torch.Tensor) -> bool:
    """Whether two elements may lie at one place. Of sizes that are symbols, what is found is guarded."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True), key=operator.itemgetter(0)):
        if size > 1 and stride <= reach:
            return True
        reach += stride * (size - 1) if size > 1 else 0
    return False
