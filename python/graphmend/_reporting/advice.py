"""What a person can do about a place that is left. In: Dynamo's type of the break. Out: a sentence or two.

Types that are the user's own decision are in `decisions`; these are the others. Keyed on the words of Dynamo's
types, which change less than their numbers do.
"""

import re

# The first pattern that is found in the type decides.
_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"Tensor\.item\(\)|Tensor\.tolist\(\)|capture_scalar_outputs",
        (
            "Python needs the number, so the device must be asked for it: keep it as a 0-d tensor where only "
            "arithmetic follows, or read it outside of the compiled part; it is predicted where it can be known ahead "
            "and seldom changes, unless `speculate` is off"
        ),
    ),
    (
        r"Data-dependent branching with non-constant",
        "the object's `__bool__` depends on a tensor; test a tensor itself, outside of the compiled part",
    ),
    (
        r"[Dd]ata-dependent (branching|assertion)|Data dependent operator",
        (
            "the branch depends on a tensor's value: write it as `torch.where(condition, a, b)`, or as `torch.cond` "
            "where a side is costly; if only an error is raised there, raise it in a branch of its own"
        ),
    ),
    (
        r"Dynamic shape operator",
        (
            "the shape of the result depends on values: use a mask and `torch.where`, `masked_fill` or a masked sum in "
            "place of `x[mask]`, `nonzero` or `unique`, or `torch.nonzero_static` with a known size"
        ),
    ),
    (
        r"logging|Failed to trace builtin operator|reorder a debugging|repr\(\) on|str\(\) method",
        (
            "if the call only talks to the outside, make it a statement of its own, with values as arguments; a "
            "function of your own is declared by `graphmend.effect` or the setting `effects`"
        ),
    ),
    (
        r"marked as skipped|not implemented in python|Unsupported function call|Unsupported method call",
        (
            "Dynamo cannot look into this function: if it only talks to the outside, declare it by `graphmend.effect` "
            "or the setting `effects`; if it computes on tensors, wrap it by `torch.library.custom_op`; else call it "
            "before or after the compiled part"
        ),
    ),
    (
        r"fake tensors|FakeTensor|fake kernel|PT2-compliant|meta kernel",
        "the operator has no rule for the shape of its result; register one by `torch.library.register_fake`",
    ),
    (
        r"numpy|ndarray",
        "use the function of torch in place of the one of NumPy, or convert outside of the compiled part",
    ),
    (
        r"\.backward\(\)|autograd\.grad|grad_fn|retain_grad|requires_grad",
        "take the step of autograd out of the compiled part: compile the forward pass, and call `backward` after it",
    ),
    (r"autograd\.Function|custom [jv][jv]p", "keep `forward` and `backward` to tensor operations and plain arguments"),
    (r"NestedTensor|nested", "use nested tensors with `layout=torch.jagged`"),
    (r"out=", "assign the result, and copy it by `copy_` where the same tensor must hold it"),
    (
        r"[Rr]econstruct",
        "an object that is made in the compiled part is still in use where it breaks; make it outside, or after",
    ),
    (
        r"tensor data attribute|tensor attribute|resize_|Tensor\.set_|Inplace op on input",
        "write into the tensor by `copy_` under `torch.no_grad()`, or return a new one",
    ),
    (r"[Ss]parse", "Dynamo does not trace sparse tensors; keep that part outside of the compiled one"),
    (r"`random` decides", "draw the number by `torch.rand(())`, in the type that the result is to have"),
    (r"deepcopy", "copy outside of the compiled part, or `clone` the tensors that are needed"),
    (r"[Ii]mport", "import at the top of the module"),
    (
        r"[Cc]ontext ?[Mm]anager|contextlib|GenericContextWrapping|escaped from compiled region",
        (
            "something inside of the `with` breaks, or Dynamo does not know this context manager: mend what is inside, "
            "or put the `with` around the compiled part"
        ),
    ),
    (r"graph break in loop", "what breaks is inside of a loop; put the loop's body into a function of its own"),
    (r"hook", "register hooks before compiling, and keep their handles outside of the compiled part"),
    (r"[Gg]enerator", "make a list of it before the compiled part, or pass `torch.Generator`s in from outside"),
    (r"distributed|P2P|isend|async_op", "wait for the collective outside of the compiled part"),
    (r"triton", "call the kernel through `torch.library.triton_op`"),
    (
        r"subclass|__getattr|metaclass|__class__|setattr|getattr|hasattr|mapping ?proxy",
        "read what is needed into a local variable before the compiled part",
    ),
    (
        r"HOP|[Hh]igher.order|torch\.cond",
        "a branch of `cond`, `checkpoint` or the like must not change anything outside of it: return the new values",
    ),
)

GENERAL = (
    "call this before or after the compiled part, or mark a function that holds it by `torch.compiler.disable` so that "
    "the rest is captured"
)


# Where the reason why a place is left says more than the type.
_BY_REASON = {
    "it stands in a checkpointed function": (
        "return the value from the checkpointed function, and tell of it behind the call"
    ),
    "it is passed too often": (
        "compile the loop's body as a function of its own, or ask once behind the loop; unrolled, it would be one "
        "large graph for just so many rounds"
    ),
    "a checkpointed function draws random numbers": "compile with the backend `inductor` or `aot_eager`",
}


def advice_for(gb_type: str, message: str = "", reason: str = "") -> str:
    """What to do about a break of this type; Dynamo's longer message is looked at when the type says too little."""
    for beginning, advice in _BY_REASON.items():
        if reason.startswith(beginning):
            return advice
    for text in (gb_type, message):
        for pattern, advice in _ADVICE:
            if text and re.search(pattern, text):
                return advice
    return GENERAL
