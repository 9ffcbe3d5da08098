with (a): pass
with (a, b): pass
with (a as b): pass
with (a as b, c as d): pass
with (a as b, c as d,): pass
with (a, b) as c: pass
with (a), (b): pass
with (a) as b, (c): pass
with (a, b), c: pass
with (a, *b): pass
with (yield_): pass
with (a := b): pass
with (a := b, c): pass
with (a as (b, c)): pass
with (a as b.c, d as e[f],): pass
with (a for a in b): pass
with (a)(b): pass
with (a).b as c: pass
async def f():
    async with (a as b, c,): pass
    with (yield): pass
    with (await a): pass
