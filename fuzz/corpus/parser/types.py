type A = int
type B[T] = list[T]
type = 1
type(x)
type [y] = z
