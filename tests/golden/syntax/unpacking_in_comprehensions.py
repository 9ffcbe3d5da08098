[*x for x in y]
[*x for x in y if x]
[*x for x in y for z in x if z if w]
[*f(x) for x in y]
[*x.y[z] for x in y]
[*x | z for x in y]
[*[x, 1] for x in y]
[*(x if x else z) for x in y]
[*(x or z) for x in y]
[*x for (x, *z) in y]
[*[*z for z in x] for x in y]
[x for x in [*z for z in y]]
{*x for x in y}
{*x for x in y if x}
{*(a, b) for a, b in y}
(*x for x in y)
(*x for x in y if x)
(*a if b else c for a in y)
(*a or b for a in y)
(*lambda: a for a in y)
((*x for x in y))
f(*x for x in y)
f(*x for x in y)(z)
f.g(*x for x in y).h
f(*a or b for a in y)
f((*x for x in y), 1)
f(*(x for x in y))
f(*[*x for x in y], **{**x for x in y})
{**d for d in ds}
{**d for d in ds if d}
{**d or e for d in ds}
{**d if d else e for d in ds}
{**f(d), **e} | {**d for d in ds}
{**{'a': d} for d in ds}
{**{**e for e in d} for d in ds}
{k: v for k, v in d}
async def g():
    [*x async for x in y]
    {*x async for x in y}
    {**x async for x in y}
    (*x async for x in y)
    [*await x for x in y]
x = [*x for x in y]
x = *[*x for x in y], *(*x for x in y)
a[[*x for x in y]]
[
    *x
    for x in y
]
for x in (*z for z in y): pass
