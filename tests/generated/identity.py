"""Statements that ask which tensor it is after a branch has given one of two. In: a Writer. Out: lines.

A join that makes a new tensor of the two shows here.
"""

from __future__ import annotations

from . import effects
from . import expressions as e
from .writer import Writer

# What is asked of `{p}`, which is `{a}` or `{b}`; `{sum}` goes on.
_USES = {
    "is": "{sum} += 2.0 if {p} is {a} else 3.0",
    "is_not": 'if {p} is not {b}:\n    STATE["calls"] += 1',
    "shown": 'print("same", {p} is {a}, {p} is {b})',
    "id": "{sum} += [id({a}), id({b})].index(id({p}))",
    "id_key": 'STATE["seen"].append({{id({a}): 1, id({b}): 2}}[id({p})])',
    "key": "{sum} += {{{a}: 2.0, {b}: 0.5}}[{p}]",
    "set": "{sum} += len({{{a}, {p}}})",
    "in_set": 'print("in", {p} in {{{a}}})',
    "list": "{sum} += len([t for t in ({a}, {b}) if t is {p}])",
    "attribute": '{p}.tag = 4\n{sum} += getattr({a}, "tag", 1)',
    "told_attribute": '{p}.tag = "t"\nprint(hasattr({a}, "tag"), hasattr({b}, "tag"))',
    "memory": 'print("memory", {p}.data_ptr() == {a}.data_ptr())',
    "leaf": "{sum} += 2.0 if {p}.is_leaf else 1.0",
    "wants": "print({p}.requires_grad, {p}.is_leaf, {p}.grad_fn is None)",
    "hook": "if {p}.requires_grad:\n    {p}.register_hook(lambda g: g * 2.0)\n    {sum} = {sum} + {p}",
    "told_hook": 'if {p}.requires_grad:\n    {p}.register_hook(lambda g: print("hook", g.shape))',
}


def _pair(w: Writer) -> list[str]:
    """Two tensors; new ones where there are not enough."""
    names = w.random.sample(w.names("full"), min(2, len(w.names("full"))))
    while len(names) < 2 or w.chance(0.3):
        name = w.fresh("v")
        w.line(f"{name} = {e.pure_full(w)}")
        w.bind(name, "full")
        names.append(name)
    return names[-2:]


def identity(w: Writer) -> None:
    """A branch that gives one of two tensors, and uses of which one it was."""
    w.use("identity")
    a, b = _pair(w)
    p = w.fresh("p")
    with w.block(f"if {e.full_name(w)}.{w.choose(['sum()', 'mean()', 'max()'])} > {e.threshold(w)}:"):
        w.line(f"{p} = {a}")
    with w.block("else:"):
        w.line(f"{p} = {b}")
    if w.chance(0.25):
        effects.effect(w)
    total = w.fresh("t")
    w.line(f"{total} = 0")
    for use in w.random.sample(sorted(_USES), w.random.choice([1, 1, 2])):
        w.use(f"identity.{use}")
        w.line(_USES[use].format(p=p, a=a, b=b, sum=total))
    if w.chance(0.3):
        w.use("identity.changed")
        with w.block(f"if not {p}.requires_grad:"):
            w.line(f"{p}.add_(1.0)")
        w.line(f"{total} = {total} + {a}")
    name = e.full_name(w)
    w.line(f"{name} = {name} + {total}")
