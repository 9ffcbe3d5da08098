with (a as b, c): pass
with (a), (b): pass
with (a, b) as c: pass
with (yield): pass
with (a for b in c): pass
with (): pass
with a() as (b, c), d as e[0]: pass
