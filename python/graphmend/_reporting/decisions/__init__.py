"""The types of breaks that are the user's decision. In: Dynamo's type. Out: the `Decision`, if it is one."""

from graphmend._reporting.decisions import autograd, calls, compiler, modules, objects, tensors
from graphmend._reporting.decisions.decision import Decision

__all__ = ["DECISIONS", "Decision", "decision_for"]

DECISIONS: tuple[Decision, ...] = tuple(
    sorted(
        (each for group in (autograd, calls, compiler, modules, objects, tensors) for each in group.DECISIONS),
        key=lambda decision: decision.number,
    )
)

_BY_TYPE = {name: decision for decision in DECISIONS for name in (decision.gb_type, *decision.also)}


def decision_for(gb_type: str) -> Decision | None:
    return _BY_TYPE.get(gb_type)
