type A = int
type B[T] = list[T]
type C[T, U: int, V: (int, str), *Ts, **P] = T
type
type = 1
type(x)
type.x
type[x]
type[x] = y
type: int
print(type, type == type)
type type = type
type match[case] = type
class D[T]: x: T
class E[T: (int, str)](F[T], metaclass=M): pass
def g[T](x: T, /, *y: *Ts, z: T = 1, **w: P) -> T: pass
async def h[*Ts, **P](): pass
@d
def i[T](): pass
