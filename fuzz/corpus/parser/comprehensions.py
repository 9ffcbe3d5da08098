[a for b in c if d if e for f, in g]
{a: b async for c in d}
{*a for a in b}
{**a for a in b}
(a for b in c)
f(a for b in c)
[x := 1, *y]
