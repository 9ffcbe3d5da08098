lazy import a
lazy import a.b.c
lazy import a as b, c.d as e, f
lazy from a import b
lazy from a.b import c as d, e
lazy from . import a
lazy from .. import a
lazy from ... import a
lazy from .... import a
lazy from .a import b
lazy from ...a.b import (c, d as e,)
lazy from a import (
    b,
    c,
)
lazy import x; lazy from y import z; import w
lazy  import  spaced
lazy\
  import continued
lazy \
  from a \
  import b
lazy import lazy
lazy from lazy import lazy as lazy
lazy from __future__.x import y
lazy from .__future__ import y
lazy import __future__
if x:
    lazy import in_if
else:
    lazy from m import in_else
for i in r:
    lazy import in_for
while x:
    lazy import in_while
with x:
    lazy import in_with
match x:
    case 1:
        lazy import in_match
if x: lazy import one_line
