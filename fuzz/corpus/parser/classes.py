@a.b
@c(d)
class E[T: (int, str) = int, *U, **V](F, metaclass=G, *h, **i):
    x: int = 1
    (y): str
    def m(self): ...
