"""Decisions about modules: recurrent ones, their attributes, and keys that are not known while tracing."""

from graphmend._reporting.changes import index_by_int, setting
from graphmend._reporting.changes_classes import getattr_as_function, plain_member, without_getattribute
from graphmend._reporting.changes_elsewhere import original_parameters
from graphmend._reporting.changes_outside import moved_before
from graphmend._reporting.changes_values import fill_unknown
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import attribute, method, of_kind

_KEY = (
    "write the key as a number or a name that is known while tracing; `int(…)` of a tensor is mended, "
    "or loop over all the modules and select by `torch.where`"
)

DECISIONS = (
    Decision(
        "GB0014",
        "Attempted to wrap RNN, GRU, or LSTM",
        "whether the recurrent module in {it} is to be compiled, step by step, which can take long",
        "let Dynamo trace it, or keep the module outside, where it runs as one operator",
        change=setting("allow_rnn", "True"),
    ),
    Decision(
        "GB0031",
        "Custom __getattribute__ in nn.Module attribute access",
        "whether reading an attribute in {it} has to run your own `__getattribute__`",
        "write a `@property` for the attributes that need it, and leave the others to `nn.Module`",
        attribute(),
        without_getattribute,
    ),
    Decision(
        "GB0053",
        "FSDP with use_orig_params=False",
        "whether FSDP shows the model's own parameters, or flat ones in their place",
        "wrap the model with `use_orig_params=True`; the names in a checkpoint of the optimizer change with it",
        change=original_parameters,
    ),
    Decision(
        "GB0121",
        "UnspecializedNNModuleVariable missing method",
        "whether {it} has to change the module itself in the compiled part",
        "call the module's own methods of `nn.Module` (registering, moving, applying) before the compiled part",
        method(),
        moved_before,
    ),
    Decision(
        "GB0153",
        "Unsupported key type for nn.Module.__getitem__",
        "which of its modules {it} takes, when the key is a tensor",
        _KEY,
        of_kind("Subscript"),
        index_by_int,
    ),
    Decision(
        "GB0161",
        "Unsupported nn.Module attribute type",
        "whether what {it} reads has to be a descriptor of the class",
        "make it a method, a property, a constant or a tensor of the module, or set it on the object in `__init__`",
        attribute(),
        plain_member,
    ),
    Decision(
        "GB0202",
        "non-const argument in nn.Module method",
        "whether the argument in {it} can be known while tracing",
        "call `parameters`, `named_modules` and the like with plain numbers, names and flags, one for `...`, or "
        "before the compiled part",
        method(),
        fill_unknown,
    ),
    Decision(
        "GB0211",
        "torch.nn.Module with a non-function custom __getattr__",
        "whether `__getattr__`, which {it} runs, has to be something else than a Python function",
        "define it with `def` in the class, and let it call the object or the function of C that it was",
        attribute(),
        getattr_as_function,
    ),
    Decision(
        "GB0281",
        "Invalid or non-const argument in nn.Module __getitem__",
        "what your module's own `__getitem__` gets in {it}: a number or a name",
        _KEY,
        of_kind("Subscript"),
        index_by_int,
    ),
)
