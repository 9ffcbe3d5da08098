"""Decisions about Python's objects: their attributes, identity and classes, and what leaves the compiled part."""

from graphmend._reporting.changes import as_dict, same_object
from graphmend._reporting.changes_classes import class_above, other_class, test_within, tested
from graphmend._reporting.changes_elsewhere import allow_slot
from graphmend._reporting.changes_outside import first_of, passed_in, read_above, read_once
from graphmend._reporting.changes_returned import function_by_caller, made_by_caller
from graphmend._reporting.changes_values import by_name, dict_itself, fill_argument, own_limit, shown_dict
from graphmend._reporting.decisions.decision import Decision
from graphmend._reporting.spot import attribute, call, call_of_class, comparison_of, made_class, of_kind

_NAME = (
    "write the attribute's name for `...`, or take it from a constant; a value under a name that is computed belongs "
    "into a dict"
)

DECISIONS = (
    Decision(
        "GB0035",
        "Data-dependent branching with non-constant __bool__",
        "what makes the object true in {it}, when its `__bool__` hangs on a tensor",
        "test the tensor itself, so that the branch can become `torch.where`, or let `__bool__` return what is known "
        "without values (a size, a flag)",
        tested,
        test_within,
    ),
    Decision(
        "GB0097",
        "Side effect on existing deque with limited maxlen",
        "whether the deque that is changed in {it} has to forget its oldest values by itself",
        "append after the compiled part, to what it returns; or keep the last values in one tensor (`torch.roll`), or "
        "in a deque that you shorten yourself",
        call("append", "appendleft"),
        own_limit,
    ),
    Decision(
        "GB0190",
        "getattr() with non-constant name argument",
        "which attribute {it} reads",
        _NAME,
        call("getattr"),
        fill_argument(1),
    ),
    Decision(
        "GB0194",
        "isinstance() called on user defined object with C extensions",
        "whether the type has to be asked for in {it}, of an object that is made in C",
        "ask before the compiled part and pass the answer in",
        call("isinstance"),
        first_of(read_above, passed_in),
    ),
    Decision(
        "GB0198",
        "mapping proxy affected by dictionary mutation",
        "whether {it} is to see what the same call has written into a dict before",
        "read from the mapping before the write, or read from the dict itself",
        shown_dict,
        dict_itself,
    ),
    Decision(
        "GB0254",
        "non-const setattr name on user-defined object",
        "which attribute {it} sets",
        _NAME,
        call("setattr"),
        fill_argument(1),
    ),
    Decision(
        "GB0256",
        "User-defined object with non-function __getattr__",
        "whether the object's `__getattr__`, which {it} runs, has to be something else than a Python function",
        "define `__getattr__` with `def` in its class, or read the attribute before the compiled part, once if it "
        "stays the same",
        attribute(),
        read_once,
    ),
    Decision(
        "GB0257",
        "TypedDict with optional keys",
        "whether {it} has to name the TypedDict, whose objects are plain dicts",
        "make a plain dict, and leave the type to an annotation; or split the class, so that all keys are required",
        call_of_class,
        as_dict,
    ),
    Decision(
        "GB0271",
        "Class attribute mutation when the __dict__ was already materialized",
        "whether {it} has to change the class after its `__dict__` was read",
        "read the attribute by its name in place of `__dict__`, or change the class before the compiled part",
        of_kind("Assign"),
        by_name,
    ),
    Decision(
        "GB1220",
        "Untraceable C tp_richcompare",
        "whether the comparison in {it}, which is made in C, gives the same for the same objects each time",
        "tell Dynamo that the class is safe if it does; else compare before the compiled part and pass the answer in",
        change=allow_slot,
    ),
    Decision(
        "GB1319",
        "Reconstruct user defined class without a source",
        "whether the class of what leaves the compiled part in {it} has to be made inside",
        "define the class at module level, or return its tensors and make the object outside",
        made_class,
        class_above,
    ),
    Decision(
        "GB2861",
        "Untraceable C tp_hash",
        "whether the hash that {it} needs, which is made in C, is the same for the same object each time",
        "tell Dynamo that the class is safe if it is; else use a key of Python's own (a number, a string, a tuple)",
        change=allow_slot,
    ),
    Decision(
        "GB3383",
        "Pydantic dataclass constructor",
        "whether what {it} gets has to be validated in the compiled part",
        "make the object before, once if it is always the same, or use a dataclass of the standard library inside",
        call_of_class,
        read_above,
    ),
    Decision(
        "GB4271",
        "__class__ assignment on user-defined object",
        "whether the object has to become one of another class by {it}",
        "make a new object of that class, or change the class before the compiled part",
        of_kind("Assign"),
        other_class,
    ),
    Decision(
        "GB4501",
        "Reconstruction of FakeIdVariable",
        "whether the number that `id` gives is needed behind {it}, where the graph breaks",
        "compare by `is`, or return the object and take its `id` outside of the compiled part",
        call("id"),
        made_by_caller,
    ),
    Decision(
        "GB4778",
        "nested function with non-constructible closure in output",
        "whether a function that closes over values of the graph has to be returned in {it}",
        "return the values, and make the function outside; or define it at module level, with the values as arguments",
        of_kind("Lambda"),
        function_by_caller,
    ),
    Decision(
        "GB5458",
        "Custom metaclass with __getattribute__",
        "whether reading {it} from the class has to run the metaclass's `__getattribute__`",
        "read it from the class before the compiled part, once if it stays the same, or give the metaclass a "
        "property for it",
        attribute(),
        read_once,
    ),
    Decision(
        "GB9316",
        "Comparison on compile-time-only id or hash value",
        "whether {it} asks for the same object or for an equal one",
        "`is` compares objects, `==` compares values; the numbers themselves are not the ones of eager",
        comparison_of("id", "hash"),
        same_object,
    ),
)
