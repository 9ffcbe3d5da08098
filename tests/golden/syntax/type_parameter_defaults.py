type A[T = int] = T
type B[T: int = bool] = T
type C[*Ts = *tuple[int, ...]] = Ts
type D[*Ts = Ts2] = Ts
type E[**P = [int, str]] = P
type F[**P = ...] = P
type G[T, U = T, *Ts = *A, **P = [T],] = T
class H[T = int, U: (int, str) = str]: pass
class I[T = int](J[T], k=T): pass
def k[T = int](x: T) -> T: return x
async def l[*Ts = *tuple[()]](*args: *Ts) -> None: ...
type M[T = lambda: 1] = T
type N[T = A if B else C] = T
type O[*Ts = *a | b] = T
