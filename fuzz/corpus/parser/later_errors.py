return 1
break
def f(a, a): nonlocal b
class C: yield
*a, *b = c
__debug__ = 1
x = [y := 1 for y in z]
from __future__ import no
