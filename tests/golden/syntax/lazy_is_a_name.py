lazy = 1
lazy: int = 2
lazy += 3
lazy
lazy.attribute
lazy(1)
lazy[0]
lazy[0] = 1
lazy, other = 1, 2
lazy if lazy else lazy
lazy or lazy
lazy in lazy
lazy is not lazy
lazy - 1
lazy * 2
(lazy)
import lazy
from lazy import lazy
import lazy.lazy as lazy
from . import lazy
def lazy(lazy=lazy): return lazy
class lazy(lazy): lazy = lazy
for lazy in lazy: pass
with lazy as lazy: pass
lambda lazy: lazy
f(lazy=lazy)
del lazy
@lazy
def g(): pass
lazy; lazy
if lazy: lazy
