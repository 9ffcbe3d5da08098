def f(a, /, b: int = 1, *c: *d, e, f=2, **g) -> h:
    return a, *b
async def f(): await x ** 2
lambda a, *, b=1, **c: (yield)
